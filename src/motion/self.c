/* graze_ccd_self: pairs of triangles whose swept boxes meet, the features that they stand for, and each pair of these
 * decided. graze_ccd_meshes: the same of two meshes, put one behind the other. */
#include <math.h>
#include <stdatomic.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "exact/ccd.h"
#include "graze/broadphase.h"
#include "motion/features.h"

enum { PAIRS_PER_TASK = 1024 };

/* What the pairs of one kind come to. */
typedef struct tally {
  uint64_t count, hash;
  gz_array keys; /* of pairs, if they are listed */
} tally;

enum { TURNED = 2, TALLIES = 3 }; /* of two meshes: a vertex of the second and a face of the first */

typedef struct finder { /* of a worker */
  tally found[TALLIES]; /* by graze_ccd_kind, or TURNED */
  uint64_t candidates;
  double earliest, latest;
  ccd_scratch *scratch;
} finder;

typedef struct search {
  const graze_context *context;
  motion_features features;
  bool two;                            /* meshes: */
  uint32_t vertices, triangles, edges; /* of the first */
  bool list;
  finder *finders;
  uint32_t workers;
  const graze_box_pair *pairs;
  uint64_t pair_count;
  _Atomic bool refused; /* memory */
} search;

/* ---- one pair of features ------------------------------------------------------------------------------------- */

static bool take(search *s, finder *who, int kind, uint32_t a, uint32_t b, const graze_ccd_result *result) {
  tally *found = &who->found[kind];
  found->count++;
  found->hash += hash_pair(a, b);
  who->earliest = fmin(who->earliest, result->earliest);
  who->latest = fmin(who->latest, result->latest);
  if (!s->list) return true;
  if (!array_reserve(s->context, &found->keys, 1, sizeof(uint64_t))) return false;
  ((uint64_t *)found->keys.data)[found->keys.count++] = (uint64_t)a << 32 | b;
  return true;
}

/* Of the vertices in the order of a query; a and b name the pair. False: out of memory. */
static bool decide(search *s, finder *who, graze_ccd_kind kind, const uint32_t vertices[4], uint32_t a, uint32_t b) {
  const graze_ccd_mesh *motion = s->features.motion;
  const uint32_t *position = s->features.position;
  int slot = kind;
  if (s->two && kind == GRAZE_CCD_VERTEX_FACE) { /* numbers within their meshes */
    slot = a < s->vertices ? kind : TURNED;
    if (slot == TURNED) a -= s->vertices;
    if (slot != TURNED) b -= s->triangles;
  } else if (s->two) {
    b -= s->edges;
  }
  for (int i = 0; !s->two && i < (kind == GRAZE_CCD_VERTEX_FACE ? 1 : 2); i++) {
    for (int j = kind == GRAZE_CCD_VERTEX_FACE ? 1 : 2; j < 4; j++) {
      if (position[vertices[i]] == position[vertices[j]]) return true;
    }
  }
  graze_ccd_query query = {.kind = (uint8_t)kind};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      query.points[0][i][k] = motion->start[3 * (size_t)vertices[i] + (size_t)k];
      query.points[1][i][k] = motion->end[3 * (size_t)vertices[i] + (size_t)k];
    }
  }
  graze_ccd_result result;
  who->candidates++;
  if (!gz_ccd_decide(s->context, &query, &who->scratch, &result)) return false;
  return !result.hit || take(s, who, slot, a, b, &result);
}

/* ---- two triangles -------------------------------------------------------------------------------------------- */

/* The vertices that triangle t stands for, against triangle other. */
static bool decide_vertices(search *s, finder *who, uint32_t t, uint32_t other) {
  const motion_features *f = &s->features;
  const uint32_t *face = f->motion->triangles + 3 * (size_t)other;
  for (int i = 0; i < 3; i++) {
    if ((f->stands_for[t] >> i & 1) == 0) continue;
    const uint32_t vertices[4] = {f->motion->triangles[3 * (size_t)t + (size_t)i], face[0], face[1], face[2]};
    if (!do_boxes_meet(&f->vertex_boxes[vertices[0]], &f->boxes[other])) continue;
    if (!decide(s, who, GRAZE_CCD_VERTEX_FACE, vertices, vertices[0], other)) return false;
  }
  return true;
}

static bool decide_edges(search *s, finder *who, uint32_t t, uint32_t other) {
  const motion_features *f = &s->features;
  for (int i = 0; i < 3; i++) {
    if ((f->stands_for[t] >> i & 8) == 0) continue;
    uint32_t a = f->triangle_edges[t][i];
    const swept_box *box = &f->edge_boxes[a];
    if (!do_boxes_meet(box, &f->boxes[other])) continue;
    for (int j = 0; j < 3; j++) {
      if ((f->stands_for[other] >> j & 8) == 0) continue;
      uint32_t b = f->triangle_edges[other][j], first = a < b ? a : b, second = a < b ? b : a;
      if (!do_boxes_meet(box, &f->edge_boxes[b])) continue;
      const uint32_t vertices[4] = {f->edges[first][0], f->edges[first][1], f->edges[second][0], f->edges[second][1]};
      if (!decide(s, who, GRAZE_CCD_EDGE_EDGE, vertices, first, second)) return false;
    }
  }
  return true;
}

static void decide_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  search *s = argument;
  finder *who = &s->finders[worker];
  uint64_t last = (uint64_t)end * PAIRS_PER_TASK < s->pair_count ? (uint64_t)end * PAIRS_PER_TASK : s->pair_count;
  for (uint64_t i = (uint64_t)begin * PAIRS_PER_TASK; i < last; i++) {
    const graze_box_pair *pair = &s->pairs[i];
    if (!decide_vertices(s, who, pair->a, pair->b) || !decide_vertices(s, who, pair->b, pair->a) ||
        !decide_edges(s, who, pair->a, pair->b)) {
      atomic_store(&s->refused, true);
      return;
    }
  }
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static graze_status check(const graze_context *context, const graze_ccd_mesh *motion) {
  for (size_t i = 0; i < 3 * (size_t)motion->vertex_count; i++) {
    if (isfinite(motion->start[i]) && isfinite(motion->end[i])) continue;
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "vertex %zu: a coordinate is not finite", i / 3);
  }
  for (size_t i = 0; i < 3 * (size_t)motion->triangle_count; i++) {
    if (motion->triangles[i] < motion->vertex_count) continue;
    return gz_fail(context, GRAZE_ERROR_INDEX, "triangle %zu: vertex %u of %u", i / 3, motion->triangles[i],
                   motion->vertex_count);
  }
  return GRAZE_OK;
}

/* Of two meshes: as proxies of two layers, which meet each other only. */
static graze_status find_across(search *s, graze_broadphase *broadphase, const graze_box_array *array) {
  const uint32_t count = s->features.motion->triangle_count;
  graze_broad_events events;
  uint8_t *layers = gz_new_zeroed(s->context, count, 1);
  if (layers == NULL) return gz_fail_memory(s->context, count);
  for (uint32_t i = s->triangles; i < count; i++) layers[i] = 1;
  graze_status status = graze_broadphase_set_layers_meet(broadphase, 0, 0, false);
  if (status == GRAZE_OK) status = graze_broadphase_set_layers_meet(broadphase, 1, 1, false);
  if (status == GRAZE_OK) status = graze_broadphase_add(broadphase, array, count, NULL, layers, NULL);
  if (status == GRAZE_OK) status = graze_broadphase_update(broadphase, &events);
  if (status == GRAZE_OK) status = graze_broadphase_pairs(broadphase, &s->pairs, &s->pair_count);
  gz_free(layers);
  return status;
}

static graze_status search_pairs(graze_context *context, search *s) {
  graze_broadphase *broadphase = NULL;
  graze_broadphase_def def = graze_default_broadphase_def();
  const swept_box *boxes = s->features.boxes;
  graze_box_array array = {.data = boxes, .precision = GRAZE_DOUBLE};
  graze_status status = graze_broadphase_create(context, &def, &broadphase);
  if (status == GRAZE_OK && s->two) {
    status = find_across(s, broadphase, &array);
  } else if (status == GRAZE_OK) {
    status =
        graze_broadphase_find(broadphase, &array, s->features.motion->triangle_count, true, &s->pairs, &s->pair_count);
  }
  if (status == GRAZE_OK && s->pair_count > (uint64_t)PAIRS_PER_TASK * UINT32_MAX) {
    status = gz_fail(context, GRAZE_ERROR_LIMIT, "too many pairs of triangles");
  }
  if (status == GRAZE_OK) {
    gz_parallel_for(context, (uint32_t)((s->pair_count + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK), 1, decide_range, s);
    if (atomic_load(&s->refused)) status = gz_fail_memory(context, gz_ccd_scratch_size());
  }
  graze_broadphase_destroy(broadphase);
  return status;
}

/* The pairs of all workers, sorted. */
static graze_status list_pairs(const search *s, int kind, uint64_t count, graze_feature_pair **pairs) {
  uint64_t *keys = gz_new(s->context, 2 * count, sizeof *keys);
  *pairs = gz_new(s->context, count, sizeof **pairs);
  if (keys == NULL || *pairs == NULL) {
    gz_free(keys);
    return gz_fail_memory(s->context, 2 * count * sizeof *keys);
  }
  size_t n = 0;
  for (uint32_t i = 0; i < s->workers; i++) {
    const gz_array *some = &s->finders[i].found[kind].keys;
    for (size_t k = 0; k < some->count; k++) keys[n++] = ((const uint64_t *)some->data)[k];
  }
  gz_sort_keys(keys, keys + count, count);
  for (size_t k = 0; k < count; k++) (*pairs)[k] = (graze_feature_pair){(uint32_t)(keys[k] >> 32), (uint32_t)keys[k]};
  gz_free(keys);
  return GRAZE_OK;
}

/* All workers' sums; the lists are still theirs. */
static graze_ccd_mesh_pairs add_up(const search *s) {
  graze_ccd_mesh_pairs sum = {.earliest = (double)INFINITY, .latest = (double)INFINITY};
  for (uint32_t i = 0; i < s->workers; i++) {
    const finder *who = &s->finders[i];
    sum.candidate_count += who->candidates;
    for (int k = 0; k < TALLIES; k++) {
      sum.counts[k] += who->found[k].count;
      sum.hashes[k] += who->found[k].hash;
    }
    sum.earliest = fmin(sum.earliest, who->earliest);
    sum.latest = fmin(sum.latest, who->latest);
  }
  if (!isfinite(sum.earliest)) sum.earliest = sum.latest = 0;
  return sum;
}

static graze_status gather(const search *s, graze_ccd_pairs *result) {
  const graze_ccd_mesh_pairs sum = add_up(s);
  *result = (graze_ccd_pairs){.edge_count = s->features.edge_count,
                              .candidate_count = sum.candidate_count,
                              .vertex_face_count = sum.counts[GRAZE_CCD_VERTEX_FACE],
                              .edge_edge_count = sum.counts[GRAZE_CCD_EDGE_EDGE],
                              .vertex_face_hash = sum.hashes[GRAZE_CCD_VERTEX_FACE],
                              .edge_edge_hash = sum.hashes[GRAZE_CCD_EDGE_EDGE],
                              .earliest = sum.earliest,
                              .latest = sum.latest};
  if (!s->list) return GRAZE_OK;
  graze_status status = list_pairs(s, GRAZE_CCD_VERTEX_FACE, result->vertex_face_count, &result->vertex_face_pairs);
  if (status != GRAZE_OK) return status;
  return list_pairs(s, GRAZE_CCD_EDGE_EDGE, result->edge_edge_count, &result->edge_edge_pairs);
}

static graze_status gather_two(const search *s, graze_ccd_mesh_pairs *result) {
  *result = add_up(s);
  result->edge_counts[0] = s->edges;
  result->edge_counts[1] = s->features.edge_count - s->edges;
  graze_status status = GRAZE_OK;
  for (int k = 0; k < TALLIES && s->list && status == GRAZE_OK; k++) {
    status = list_pairs(s, k, result->counts[k], &result->pairs[k]);
  }
  return status;
}

static graze_status search_open(search *s, const graze_ccd_mesh *motion) {
  s->finders = gz_new_zeroed(s->context, s->workers, sizeof *s->finders);
  if (s->finders == NULL) return gz_fail_memory(s->context, s->workers * sizeof *s->finders);
  for (uint32_t i = 0; i < s->workers; i++) s->finders[i].earliest = s->finders[i].latest = INFINITY;
  return gz_features_open(&s->features, s->context, motion);
}

static void search_close(search *s) {
  for (uint32_t i = 0; i < s->workers && s->finders != NULL; i++) {
    for (int k = 0; k < TALLIES; k++) gz_free(s->finders[i].found[k].keys.data);
    gz_ccd_release(s->context, s->finders[i].scratch);
  }
  gz_free(s->finders);
  gz_features_close(&s->features);
}

static bool has_arrays(const graze_ccd_mesh *motion) {
  return (motion->vertex_count == 0 || (motion->start != NULL && motion->end != NULL)) &&
         (motion->triangle_count == 0 || motion->triangles != NULL);
}

graze_status graze_ccd_self(graze_context *context, const graze_ccd_mesh *motion, bool list, graze_ccd_pairs *result) {
  if (result != NULL) *result = (graze_ccd_pairs){0};
  if (context == NULL || motion == NULL || result == NULL) return gz_fail_null(context);
  if (!has_arrays(motion)) return gz_fail_null(context);
  graze_status status = check(context, motion);
  if (status != GRAZE_OK) return status;
  search s = {.context = context, .list = list, .workers = gz_workers(context)};
  status = search_open(&s, motion);
  if (status == GRAZE_OK) status = search_pairs(context, &s);
  if (status == GRAZE_OK) status = gather(&s, result);
  search_close(&s);
  if (status != GRAZE_OK) graze_ccd_pairs_free(result);
  return status;
}

void graze_ccd_pairs_free(graze_ccd_pairs *result) {
  gz_free(result->vertex_face_pairs);
  gz_free(result->edge_edge_pairs);
  *result = (graze_ccd_pairs){0};
}

/* ---- two meshes ---- */

/* Both in one memory, the second's numbers behind the first's. gz_free(start) it. */
static graze_status join(const graze_context *context, const graze_ccd_mesh *a, const graze_ccd_mesh *b,
                         graze_ccd_mesh *both) {
  const size_t vertices = (size_t)a->vertex_count + b->vertex_count;
  const size_t triangles = (size_t)a->triangle_count + b->triangle_count, numbers = 3 * vertices;
  if (vertices >= UINT32_MAX || triangles >= UINT32_MAX) {
    return gz_fail(context, GRAZE_ERROR_LIMIT, "two meshes with 2^32 vertices or triangles");
  }
  const size_t bytes = 2 * numbers * sizeof(double) + 3 * triangles * sizeof(uint32_t);
  double *start = gz_new(context, bytes, 1);
  if (start == NULL) return gz_fail_memory(context, bytes);
  double *end = start + numbers;
  uint32_t *corners = (uint32_t *)(end + numbers);
  for (size_t i = 0; i < numbers; i++) {
    const size_t first = 3 * (size_t)a->vertex_count;
    start[i] = i < first ? a->start[i] : b->start[i - first];
    end[i] = i < first ? a->end[i] : b->end[i - first];
  }
  for (size_t i = 0; i < 3 * triangles; i++) {
    const size_t first = 3 * (size_t)a->triangle_count;
    corners[i] = i < first ? a->triangles[i] : b->triangles[i - first] + a->vertex_count;
  }
  *both = (graze_ccd_mesh){start, end, corners, (uint32_t)vertices, (uint32_t)triangles};
  return GRAZE_OK;
}

static graze_status search_two(graze_context *context, const graze_ccd_mesh *both, search *s,
                               graze_ccd_mesh_pairs *result) {
  graze_status status = search_open(s, both);
  while (status == GRAZE_OK && s->edges < s->features.edge_count && s->features.edges[s->edges][1] < s->vertices) {
    s->edges++;
  }
  if (status == GRAZE_OK) status = search_pairs(context, s);
  if (status == GRAZE_OK) status = gather_two(s, result);
  search_close(s);
  return status;
}

graze_status graze_ccd_meshes(graze_context *context, const graze_ccd_mesh *a, const graze_ccd_mesh *b, bool list,
                              graze_ccd_mesh_pairs *result) {
  if (result != NULL) *result = (graze_ccd_mesh_pairs){0};
  if (context == NULL || a == NULL || b == NULL || result == NULL || !has_arrays(a) || !has_arrays(b)) {
    return gz_fail_null(context);
  }
  graze_ccd_mesh both;
  graze_status status = check(context, a);
  if (status == GRAZE_OK) status = check(context, b);
  if (status == GRAZE_OK) status = join(context, a, b, &both);
  if (status != GRAZE_OK) return status;
  search s = {.context = context,
              .two = true,
              .vertices = a->vertex_count,
              .triangles = a->triangle_count,
              .list = list,
              .workers = gz_workers(context)};
  status = search_two(context, &both, &s, result);
  gz_free(both.start);
  if (status != GRAZE_OK) graze_ccd_mesh_pairs_free(result);
  return status;
}

void graze_ccd_mesh_pairs_free(graze_ccd_mesh_pairs *result) {
  for (int k = 0; k < TALLIES; k++) gz_free(result->pairs[k]);
  *result = (graze_ccd_mesh_pairs){0};
}
