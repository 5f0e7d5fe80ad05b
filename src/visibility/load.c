/* From the caller's objects to what methods draw: posed boxes in doubles, the pairs of them that meet, and of objects
 * with pairs the triangles that a method asks for, as floats about the middle of them all. What is read is posed again
 * each time, for what meets nothing is most of a scene, and its triangles need no room. */
#include "visibility/load.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "geometry/pose.h"
#include "mesh/mesh.h"
#include "visibility/place.h"

enum { RUN = 4096 }; /* triangles that one thread poses at a time */

typedef struct posing_run {
  visibility_run triangles;
  bool finite;
  graze_box box;
} posing_run;

typedef struct posing {
  graze_visibility *v;
  posing_run *runs;
} posing;

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static graze_status wrong_arrays(const graze_visibility *v, uint32_t number, const char *what) {
  return gz_fail(v->context, GRAZE_ERROR_ARGUMENT, "object %" PRIu32 ": %s", number, what);
}

static graze_status take_arrays(const graze_visibility *v, uint32_t number, visibility_object *o) {
  const graze_mesh_def *d = v->def->objects[number].arrays;
  size_t packed = d->precision == GRAZE_DOUBLE ? 24 : 12;
  uint64_t count = d->indices || d->triangle_count ? d->triangle_count : d->vertex_count / 3;
  if ((unsigned)d->precision > GRAZE_DOUBLE) return wrong_arrays(v, number, "no such precision");
  if (d->vertex_stride != 0 && d->vertex_stride < packed) return wrong_arrays(v, number, "vertices overlap");
  if (!d->vertices && d->vertex_count > 0) return wrong_arrays(v, number, "vertices are missing");
  if (count > UINT32_MAX)
    return gz_fail(v->context, GRAZE_ERROR_LIMIT, "object %" PRIu32 ": more than 2^32 - 1 triangles", number);
  if (!d->indices && (d->vertex_count < 3 * count || (d->triangle_count == 0 && d->vertex_count % 3 != 0)))
    return gz_fail(v->context, GRAZE_ERROR_INDEX, "object %" PRIu32 ": the last triangle lacks vertices", number);
  *o = (visibility_object){.vertices = d->vertices,
                           .stride = d->vertex_stride ? d->vertex_stride : packed,
                           .indices = d->indices,
                           .count = (uint32_t)count,
                           .is_double = d->precision == GRAZE_DOUBLE};
  for (uint64_t i = 0; d->indices && i < 3 * count; i++) {
    if (d->indices[i] >= d->vertex_count)
      return gz_fail(v->context, GRAZE_ERROR_INDEX,
                     "object %" PRIu32 ", triangle %" PRIu64 ", corner %d: index %" PRIu32 " of %" PRIu64 " vertices",
                     number, i / 3, (int)(i % 3), d->indices[i], d->vertex_count);
  }
  return GRAZE_OK;
}

static void take_mesh(const graze_mesh *mesh, visibility_object *o) {
  *o = (visibility_object){
      .vertices = mesh->is_double ? (const char *)mesh->vertices_double : (const char *)mesh->vertices_float,
      .stride = mesh->is_double ? 24 : 12,
      .indices = mesh->triangles,
      .count = mesh->triangle_count,
      .is_double = mesh->is_double};
}

static graze_status take_objects(graze_visibility *v) {
  v->objects = gz_visibility_room(v, ROOM_OBJECTS, v->def->object_count, sizeof *v->objects, 0);
  if (!v->objects) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    const graze_visibility_object *asked = &v->def->objects[i];
    graze_status status = GRAZE_OK;
    if (asked->mesh)
      take_mesh(asked->mesh, &v->objects[i]);
    else if (asked->arrays)
      status = take_arrays(v, i, &v->objects[i]);
    else
      status = wrong_arrays(v, i, "neither a mesh nor arrays");
    if (status != GRAZE_OK) return status;
    bool moved = asked->pose && !graze_pose_is_identity(asked->pose);
    v->objects[i].pose = moved ? asked->pose : NULL;
  }
  return GRAZE_OK;
}

/* ---- posing ------------------------------------------------------------------------------------------------------ */

void gz_visibility_corners(const visibility_object *o, uint32_t triangle, double corners[9]) {
  for (uint64_t c = 0; c < 3; c++) {
    const uint64_t place = 3 * (uint64_t)triangle + c;
    const char *at = o->vertices + (o->indices ? o->indices[place] : place) * o->stride;
    double p[3];
    float f[3];
    if (o->is_double) {
      memcpy(p, at, sizeof p);
    } else {
      memcpy(f, at, sizeof f);
      for (int k = 0; k < 3; k++) p[k] = (double)f[k];
    }
    for (int k = 0; k < 3; k++) corners[3 * c + (uint64_t)k] = o->pose ? pose_row(o->pose, k, p) : p[k];
  }
}

static void bound_runs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  posing *p = argument;
  visibility_bound_kernel *bound = CPU_KERNEL_TO_AVX2(gz_visibility_bound);
  (void)worker;
  for (uint32_t r = begin; r < end; r++) p->runs[r].finite = bound(&p->runs[r].triangles, &p->runs[r].box);
}

/* Runs are whole blocks. */
_Static_assert(RUN % VISIBILITY_BLOCK == 0, "two threads would write one block");

static posing_run *list_runs(graze_visibility *v, uint32_t *number) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < v->def->object_count; i++) count += ((uint64_t)v->objects[i].count + RUN - 1) / RUN;
  posing_run *runs = gz_visibility_room(v, ROOM_RUNS, count, sizeof *runs, 0);
  if (!runs) return NULL;
  *number = 0;
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    const visibility_object *o = &v->objects[i];
    for (uint32_t first = 0; first < o->count;) {
      const uint32_t size = o->count - first < RUN ? o->count - first : RUN;
      runs[(*number)++] = (posing_run){.triangles = {o, first, first + size}};
      first += size;
    }
  }
  return runs;
}

static void bound_objects(graze_visibility *v, posing_run *runs, uint32_t count) {
  gz_parallel_for(v->context, count, 1, bound_runs, &(posing){v, runs});
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    v->objects[i].box = graze_box_empty();
    v->objects[i].judged = true;
  }
  for (uint32_t r = 0; r < count; r++) {
    visibility_object *o = &v->objects[runs[r].triangles.object - v->objects];
    graze_box_add_box(&o->box, &runs[r].box);
    o->judged = o->judged && runs[r].finite;
  }
  for (uint32_t i = 0; i < v->def->object_count; i++) v->result.unjudged += !v->objects[i].judged;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* What cannot be judged meets everything. */
static bool may_meet(const graze_visibility *v, uint32_t a, uint32_t b) {
  const visibility_object *x = &v->objects[a], *y = &v->objects[b];
  if (x->count == 0 || y->count == 0) return false;
  return !x->judged || !y->judged || graze_boxes_meet(&x->box, &y->box);
}

static bool add_pair(graze_visibility *v, uint32_t a, uint32_t b) {
  v->pairs = gz_visibility_room(v, ROOM_PAIRS, v->pair_count + 1, sizeof *v->pairs, v->pair_count);
  if (v->pairs) v->pairs[v->pair_count++] = (graze_box_pair){a < b ? a : b, a < b ? b : a};
  return v->pairs != NULL;
}

static graze_status take_pairs(graze_visibility *v) {
  for (uint64_t i = 0; i < v->def->pair_count; i++) {
    const graze_box_pair pair = v->def->pairs[i];
    if (pair.a >= pair.b || pair.b >= v->def->object_count)
      return gz_fail(v->context, GRAZE_ERROR_ARGUMENT, "pair %" PRIu64 ": there are no such two objects", i);
    if (may_meet(v, pair.a, pair.b) && !add_pair(v, pair.a, pair.b)) return GRAZE_ERROR_MEMORY;
  }
  return GRAZE_OK;
}

/* Of those that can be judged; the others are added as pairs with all. */
static graze_status find_pairs(graze_visibility *v) {
  const uint32_t n = v->def->object_count;
  struct numbered {
    graze_box box;
    uint32_t object;
  } *boxes = gz_visibility_room(v, ROOM_BOXES, n, sizeof *boxes, 0);
  uint32_t count = 0;
  if (!boxes) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < n; i++) {
    if (v->objects[i].count > 0 && v->objects[i].judged) boxes[count++] = (struct numbered){v->objects[i].box, i};
  }
  const graze_box_array array = {.data = boxes, .stride = sizeof *boxes, .precision = GRAZE_DOUBLE};
  const graze_box_pair *found = NULL;
  uint64_t found_count = 0;
  graze_status status = graze_broadphase_find(v->broad, &array, count, false, &found, &found_count);
  if (status != GRAZE_OK) return status;
  v->pairs = gz_visibility_room(v, ROOM_PAIRS, found_count, sizeof *v->pairs, 0);
  if (!v->pairs) return GRAZE_ERROR_MEMORY;
  for (; v->pair_count < found_count; v->pair_count++)
    v->pairs[v->pair_count] =
        (graze_box_pair){boxes[found[v->pair_count].a].object, boxes[found[v->pair_count].b].object};
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < n && !v->objects[i].judged; j++) {
      bool once = i < j || v->objects[j].judged;
      if (i != j && once && may_meet(v, i, j) && !add_pair(v, i, j)) return GRAZE_ERROR_MEMORY;
    }
  }
  return GRAZE_OK;
}

/* Sorted, each pair once. */
static graze_status order_pairs(graze_visibility *v) {
  uint64_t count = v->pair_count;
  uint64_t *keys = gz_visibility_room(v, ROOM_KEYS, 2 * count, sizeof *keys, 0);
  if (!keys) return GRAZE_ERROR_MEMORY;
  for (uint64_t i = 0; i < count; i++) keys[i] = (uint64_t)v->pairs[i].a << 32 | v->pairs[i].b;
  gz_sort_keys(keys, keys + count, count);
  v->pair_count = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (i > 0 && keys[i] == keys[i - 1]) continue;
    v->pairs[v->pair_count++] = (graze_box_pair){(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
  }
  return GRAZE_OK;
}

static graze_status pair_objects(graze_visibility *v) {
  for (uint32_t i = 0; i < v->def->object_count; i++) v->objects[i].paired = v->load_all;
  if (v->def->object_count == 1) {
    v->objects[0].paired = v->load_all || v->def->mode == GRAZE_VISIBILITY_QCULLIDE;
    return GRAZE_OK;
  }
  graze_status status = v->def->pairs ? take_pairs(v) : find_pairs(v);
  if (status == GRAZE_OK) status = order_pairs(v);
  for (uint64_t i = 0; i < v->pair_count; i++) {
    const uint32_t both[2] = {v->pairs[i].a, v->pairs[i].b};
    for (int k = 0; k < 2; k++) {
      visibility_object *o = &v->objects[both[k]];
      o->crowded = o->in_pair;
      o->in_pair = o->paired = true;
    }
  }
  v->result.box_pairs = v->pair_count;
  return status;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static bool is_numbered(const visibility_object *o) {
  return o->paired && o->judged;
}

/* Half the span of all that is drawn becomes at most 1. Smaller scenes than 2^-1000 are left as small as they are: then
 * everything is within the error of everything. */
static void choose_space(graze_visibility *v) {
  graze_box box = graze_box_empty();
  double half = 0;
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    if (is_numbered(&v->objects[i])) graze_box_add_box(&box, &v->objects[i].box);
  }
  for (int k = 0; k < 3; k++) {
    bool any = box.min[k] <= box.max[k];
    double *origin = &v->space.origin[k];
    *origin = any ? box.min[k] / 2 + box.max[k] / 2 : 0;
    if (any) half = fmax(half, fmax(box.max[k] - *origin, *origin - box.min[k]));
  }
  int exponent = -1000;
  if (half > 0) frexp(half, &exponent);
  v->space.unit = ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

static graze_status number_triangles(graze_visibility *v) {
  uint64_t triangles = 0, blocks = 0, most = 0;
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    visibility_object *o = &v->objects[i];
    if (o->count > most) most = o->count;
    if (!is_numbered(o)) continue;
    o->first = (uint32_t)triangles;
    o->first_block = (uint32_t)blocks;
    triangles += o->count;
    blocks += ((uint64_t)o->count + VISIBILITY_BLOCK - 1) / VISIBILITY_BLOCK;
  }
  if (triangles > UINT32_MAX) return gz_fail(v->context, GRAZE_ERROR_LIMIT, "more than 2^32 - 1 triangles to draw");
  v->triangle_count = (uint32_t)triangles;
  v->block_count = (uint32_t)blocks;
  v->blocks = gz_visibility_room(v, ROOM_BLOCKS, blocks, sizeof *v->blocks, 0);
  v->marks = gz_visibility_room(v, ROOM_MARKS, blocks, sizeof *v->marks, 0);
  v->ranks = gz_visibility_room(v, ROOM_RANKS, blocks, sizeof *v->ranks, 0);
  uint32_t *numbers = gz_visibility_room(v, ROOM_NUMBERS, most, sizeof *numbers, 0);
  if (!v->blocks || !v->marks || !v->ranks || !numbers) return GRAZE_ERROR_MEMORY;
  memset(v->marks, 0, (size_t)blocks * sizeof *v->marks);
  for (uint32_t i = 0; i < most; i++) numbers[i] = i;
  v->numbers = numbers;
  return GRAZE_OK;
}

static void box_runs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  posing *p = argument;
  const graze_visibility *v = p->v;
  visibility_block_kernel *box_blocks = CPU_KERNEL_TO_AVX2(gz_visibility_block);
  (void)worker;
  for (uint32_t r = begin; r < end; r++) {
    const visibility_run *run = &p->runs[r].triangles;
    const visibility_object *o = run->object;
    if (is_numbered(o) && (o->crowded || v->def->mode != GRAZE_VISIBILITY_CLOSE))
      box_blocks(run, &v->space, v->blocks + o->first_block + run->first / VISIBILITY_BLOCK);
  }
}

static void place_runs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  posing *p = argument;
  const graze_visibility *v = p->v;
  visibility_place_kernel *place = CPU_KERNEL_TO_AVX2(gz_visibility_place);
  (void)worker;
  for (uint32_t r = begin; r < end; r++) {
    const visibility_run *all = &p->runs[r].triangles;
    const visibility_object *o = all->object;
    for (visibility_run run = *all; is_numbered(o) && run.first < all->end; run.first += VISIBILITY_BLOCK) {
      const uint32_t block = o->first_block + run.first / VISIBILITY_BLOCK, rank = v->ranks[block];
      if (v->marks[block]) place(&run, &v->space, v->marks[block], v->corners + 9 * (size_t)rank, v->loaded + rank);
    }
  }
}

graze_status gz_visibility_place_marked(graze_visibility *v) {
  uint32_t count = 0;
  v->loaded_count = 0;
  for (uint32_t i = 0; i < v->block_count; i++) {
    v->ranks[i] = v->loaded_count;
    v->loaded_count += (uint32_t)__builtin_popcountll(v->marks[i]);
  }
  v->corners = gz_visibility_room(v, ROOM_CORNERS, 9 * (uint64_t)v->loaded_count, sizeof *v->corners, 0);
  v->loaded = gz_visibility_room(v, ROOM_LOADED, v->loaded_count, sizeof *v->loaded, 0);
  posing_run *runs = list_runs(v, &count);
  if (!v->corners || !v->loaded || !runs) return GRAZE_ERROR_MEMORY;
  gz_parallel_for(v->context, count, 1, place_runs, &(posing){v, runs});
  return GRAZE_OK;
}

void gz_visibility_mark_all(graze_visibility *v) {
  for (uint32_t i = 0; i < v->def->object_count; i++) {
    const visibility_object *o = &v->objects[i];
    for (uint32_t t = 0; is_numbered(o) && t < o->count; t += VISIBILITY_BLOCK)
      v->marks[o->first_block + t / VISIBILITY_BLOCK] =
          ~(uint64_t)0 >> (o->count - t < VISIBILITY_BLOCK ? VISIBILITY_BLOCK - (o->count - t) : 0);
  }
}

/* ---- triangles of one object ------------------------------------------------------------------------------------- */

static bool share_corner(const visibility_object *o, uint32_t a, uint32_t b) {
  double first[9], second[9];
  gz_visibility_corners(o, a, first);
  gz_visibility_corners(o, b, second);
  for (int i = 0; i < 9; i++) {
    const double *x = first + i / 3 * 3, *y = second + i % 3 * 3;
    if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) return true;
  }
  return false;
}

graze_status gz_visibility_pair_triangles(graze_visibility *v, const graze_box_pair **pairs, uint64_t *count) {
  const visibility_object *o = &v->objects[0];
  graze_box *boxes = gz_visibility_room(v, ROOM_BOXES, v->triangle_count, sizeof *boxes, 0);
  if (!boxes) return GRAZE_ERROR_MEMORY;
  for (uint32_t t = 0; t < v->triangle_count; t++) {
    double corners[9];
    boxes[t] = graze_box_empty();
    gz_visibility_corners(o, t, corners);
    for (int c = 0; c < 3; c++) graze_box_add_point(&boxes[t], corners + 3 * c);
  }
  const graze_box_array array = {.data = boxes, .precision = GRAZE_DOUBLE};
  const graze_box_pair *found = NULL;
  uint64_t found_count = 0;
  graze_status status = graze_broadphase_find(v->broad, &array, v->triangle_count, false, &found, &found_count);
  if (status != GRAZE_OK) return status;
  graze_box_pair *kept = gz_visibility_room(v, ROOM_PAIRS, found_count, sizeof *kept, 0);
  if (!kept) return GRAZE_ERROR_MEMORY;
  *count = 0;
  for (uint64_t i = 0; i < found_count; i++) {
    if (!share_corner(o, found[i].a, found[i].b)) kept[(*count)++] = found[i];
  }
  *pairs = kept;
  v->result.box_pairs = *count;
  return GRAZE_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static graze_status take_and_bound(graze_visibility *v, posing_run **runs, uint32_t *count) {
  graze_status status = take_objects(v);
  if (status != GRAZE_OK) return status;
  *runs = list_runs(v, count);
  if (!*runs) return GRAZE_ERROR_MEMORY;
  bound_objects(v, *runs, *count);
  return GRAZE_OK;
}

graze_status gz_visibility_take(graze_visibility *v) {
  uint32_t count = 0;
  posing_run *runs;
  return take_and_bound(v, &runs, &count);
}

graze_status gz_visibility_load(graze_visibility *v) {
  uint32_t count = 0;
  posing_run *runs;
  graze_status status = take_and_bound(v, &runs, &count);
  if (status == GRAZE_OK) status = pair_objects(v);
  if (status == GRAZE_OK) status = number_triangles(v);
  if (status != GRAZE_OK) return status;
  choose_space(v);
  gz_parallel_for(v->context, count, 1, box_runs, &(posing){v, runs});
  return GRAZE_OK;
}
