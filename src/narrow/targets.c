/* Objects sorted along a curve, eight to a node, eight nodes to a node above; below that the hierarchies of the meshes.
 *
 * A line is taken into the frame of each mesh that it may meet. Its part that matters ends where the first meeting so
 * far is, so that of nodes which all may be met the one that is nearest along the way is opened first. */
#include "narrow/targets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "narrow/curve.h"
#include "narrow/locate.h"
#include "narrow/query.h"
#include "narrow/relate.h"

enum { LINES_PER_TASK = 256, LINES_AHEAD = 4 };

bool gz_target_before(const graze_target_hit *a, const graze_target_hit *b) {
  if (a->earliest != b->earliest) return a->earliest < b->earliest;
  if (a->latest != b->latest) return a->latest < b->latest;
  if (a->object != b->object) return a->object < b->object;
  return a->triangle < b->triangle;
}

/* ---- what stands where ----------------------------------------------------------------------------------------- */

static graze_status place_all(graze_targets *t, const graze_mesh *const *meshes, const graze_pose *poses) {
  const graze_query query = {.context = (graze_context *)(uintptr_t)t->context};
  for (uint32_t i = 0; i < t->count; i++) {
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, i);
    if (meshes[i] == NULL) {
      return gz_fail(t->context, GRAZE_ERROR_ARGUMENT, "targets: mesh %s is NULL", number);
    }
    graze_status status = gz_query_side(&query, meshes[i], poses ? &poses[i] : NULL, GRAZE_T1, number, &t->sides[i]);
    if (status != GRAZE_OK) return status;
  }
  return GRAZE_OK;
}

/* ---- the hierarchy above --------------------------------------------------------------------------------------- */

static float outward(double x) {
  return nextafterf((float)x, INFINITY);
}

/* In a frame of its own origin, with the world's axes. */
static void fit_node(bvh_node *node, const graze_box *boxes) {
  graze_box all = graze_box_empty();
  for (int i = 0; i < node->count; i++) graze_box_add_box(&all, &boxes[i]);
  for (int k = 0; k < 3; k++) {
    node->axis[4 * k] = 1;
    node->origin[k] = (float)(0.5 * all.min[k] + 0.5 * all.max[k]);
  }
  double reach = 0;
  for (int i = 0; i < NODE_WIDTH; i++) {
    for (int k = 0; k < 3; k++) {
      const double origin = (double)node->origin[k];
      node->half[k][i] = -INFINITY;
      if (i >= node->count) continue;
      const double low = boxes[i].min[k] - origin, high = boxes[i].max[k] - origin;
      const float center = (float)(0.5 * low + 0.5 * high);
      node->center[k][i] = center;
      node->half[k][i] = outward(larger(high - (double)center, (double)center - low) * (1 + 0x1p-40));
      reach = larger(reach, larger(fabs(low), fabs(high)));
    }
    if (i >= node->count) node->child[i] = UINT32_MAX;
  }
  node->reach = outward(reach * 2);
  node->aligned = 1;
}

/* Levels from the bottom up, `count` boxes in order; each level's boxes take the place of those below. */
static void build_levels(graze_targets *t, graze_box *boxes, const uint64_t *order, uint32_t count) {
  uint32_t below = 0;
  for (bool bottom = true; bottom || count > 1; bottom = false) {
    const uint32_t first = t->node_count;
    for (uint32_t i = 0; i < count; i += NODE_WIDTH) {
      bvh_node *node = &t->nodes[t->node_count++];
      graze_box all = graze_box_empty();
      memset(node, 0, sizeof *node);
      node->bottom = bottom;
      node->count = (uint8_t)(count - i < NODE_WIDTH ? count - i : NODE_WIDTH);
      for (uint32_t j = 0; j < node->count; j++) {
        node->child[j] = bottom ? (uint32_t)order[i + j] : below + i + j;
        graze_box_add_box(&all, &boxes[i + j]);
      }
      fit_node(node, boxes + i);
      boxes[i / NODE_WIDTH] = all;
    }
    below = first;
    count = (count + NODE_WIDTH - 1) / NODE_WIDTH;
  }
}

/* Scratch of building. */
typedef struct building {
  graze_box *boxes;  /* of the objects with triangles, */
  uint32_t *objects; /* which are these; */
  double *centers;   /* of their boxes */
  graze_box *sorted;
  uint64_t *keys, *scratch;
  uint32_t count;
} building;

static bool building_begin(const graze_context *context, uint32_t count, building *b) {
  b->boxes = gz_new(context, count, sizeof *b->boxes);
  b->objects = gz_new(context, count, sizeof *b->objects);
  b->centers = gz_new(context, count, 3 * sizeof *b->centers);
  b->sorted = gz_new(context, count, sizeof *b->sorted);
  b->keys = gz_new(context, count, sizeof *b->keys);
  b->scratch = gz_new(context, count, sizeof *b->scratch);
  return b->boxes && b->objects && b->centers && b->sorted && b->keys && b->scratch;
}

static void building_end(building *b) {
  gz_free(b->boxes);
  gz_free(b->objects);
  gz_free(b->centers);
  gz_free(b->sorted);
  gz_free(b->keys);
  gz_free(b->scratch);
}

/* The boxes of what has triangles, and of all. */
static void find_boxes(graze_targets *t, building *b) {
  t->box = graze_box_empty();
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->sides[i].mesh->triangle_count == 0) continue;
    const graze_box box = gz_side_box(&t->sides[i]);
    for (int k = 0; k < 3; k++) {
      t->magnitude = larger(t->magnitude, larger(fabs(box.min[k]), fabs(box.max[k])));
      b->centers[3 * (size_t)b->count + (size_t)k] = 0.5 * box.min[k] + 0.5 * box.max[k];
    }
    graze_box_add_box(&t->box, &box);
    b->objects[b->count] = i;
    b->boxes[b->count++] = box;
  }
}

/* Outside of this window floats cannot hold the boxes. */
static bool is_usable(double magnitude) {
  return magnitude > 0x1p-60 && magnitude < 0x1p58;
}

static graze_status build(graze_targets *t) {
  building b = {.count = 0};
  if (t->count == 0) return GRAZE_OK;
  bool good = building_begin(t->context, t->count, &b);
  if (good) {
    find_boxes(t, &b);
    t->nodes = gz_new(t->context, b.count + 1, sizeof *t->nodes); /* more than there will be */
    good = t->nodes != NULL;
  }
  if (good && b.count > 0 && is_usable(t->magnitude)) {
    gz_curve_order(b.centers, 3 * sizeof *b.centers, b.count, b.keys, b.scratch);
    for (uint32_t i = 0; i < b.count; i++) {
      const uint32_t place = (uint32_t)b.keys[i];
      b.sorted[i] = b.boxes[place];
      b.keys[i] = b.objects[place];
    }
    build_levels(t, b.sorted, b.keys, b.count);
  }
  building_end(&b);
  return good ? GRAZE_OK : gz_fail_memory(t->context, t->count * sizeof *t->nodes);
}

graze_status graze_targets_create(graze_context *context, uint32_t count, const graze_mesh *const *meshes,
                                  const graze_pose *poses, graze_targets **targets) {
  if (context == NULL || targets == NULL || (meshes == NULL && count > 0)) return gz_fail_null(context);
  graze_targets *t = gz_new_zeroed(context, 1, sizeof *t);
  if (t == NULL) return gz_fail_memory(context, sizeof *t);
  t->context = context;
  t->count = count;
  t->sides = gz_new(context, count, sizeof *t->sides);
  const unsigned saved = gz_fp_enter();
  graze_status status = t->sides != NULL ? place_all(t, meshes, poses) : gz_fail_memory(context, count * sizeof(side));
  if (status == GRAZE_OK) status = build(t);
  gz_fp_leave(saved);
  if (status == GRAZE_OK)
    *targets = t;
  else
    graze_targets_destroy(t);
  return status;
}

void graze_targets_destroy(graze_targets *targets) {
  if (targets == NULL) return;
  gz_free(targets->sides);
  gz_free(targets->nodes);
  gz_free(targets);
}

/* ---- views ----------------------------------------------------------------------------------------------------- */

/* Lines count as a mesh of four times their size, for the margins of the maps: from where one begins to the other side
 * of the targets it comes farther than either. */
static bool open_view(const graze_context *context, const graze_targets *t, double magnitude, target_view *v) {
  mesh_header header = {.tree_usable = 1, .magnitude = 4 * larger(magnitude, t->magnitude)};
  const graze_mesh lines = {.header = &header};
  const side at_home = {&lines, graze_pose_identity(), true};
  *v = (target_view){.targets = t, .meets = gz_segment_boxes_best()};
  v->maps = gz_new(context, t->count, sizeof *v->maps);
  v->trees = gz_new(context, t->count, sizeof *v->trees);
  if (v->maps == NULL || v->trees == NULL) return false;
  for (uint32_t i = 0; i < t->count; i++) {
    job j = {.a = t->sides[i], .b = at_home};
    gz_job_map(&j);
    v->maps[i] = j.map;
    v->trees[i] = j.tree;
  }
  job world = {.a = at_home, .b = at_home};
  gz_job_map(&world);
  v->world = world.map;
  v->tree = world.tree && t->node_count > 0;
  return true;
}

static void close_view(target_view *v) {
  gz_free(v->maps);
  gz_free(v->trees);
}

/* ---- a line ---------------------------------------------------------------------------------------------------- */

/* The line in the frame of some nodes. */
typedef struct framed_line {
  mesh_map map; /* with the radius in its margin */
  double from[3], unit[3];
} framed_line;

static void frame_line(const target_search *s, const mesh_map *map, framed_line *f) {
  f->map = *map;
  if (s->radius > 0) f->map.absolute_margin += (float)smaller(s->radius / map->growth * (1 + 0x1p-20), 0x1p100);
  for (int k = 0; k < 3; k++) {
    const double *row = map->linear + 3 * k;
    f->from[k] = ((row[0] * s->from[0] + row[1] * s->from[1]) + row[2] * s->from[2]) + map->shift[k];
    f->unit[k] = (row[0] * s->unit[0] + row[1] * s->unit[1]) + row[2] * s->unit[2];
  }
}

static unsigned meeting(const target_search *s, const framed_line *f, const bvh_node *node) {
  double middle[3], half[3];
  for (int k = 0; k < 3; k++) {
    half[k] = f->unit[k] * (0.5 * s->end);
    middle[k] = f->from[k] + half[k];
  }
  return s->view->meets(node, middle, half, &f->map);
}

/* The set bits' children, that which lies first along the way in the last place. */
static int order_children(const framed_line *f, const bvh_node *node, unsigned bits, uint32_t out[NODE_WIDTH]) {
  float along[3], keys[NODE_WIDTH];
  int count = 0;
  for (int k = 0; k < 3; k++) {
    const float *a = node->axis + 3 * k;
    along[k] = a[0] * (float)f->unit[0] + a[1] * (float)f->unit[1] + a[2] * (float)f->unit[2];
  }
  for (; bits != 0; bits &= bits - 1) {
    const int i = __builtin_ctz(bits);
    const float key = along[0] * node->center[0][i] + along[1] * node->center[1][i] + along[2] * node->center[2][i];
    int at = count++;
    for (; at > 0 && keys[at - 1] < key; at--) {
      keys[at] = keys[at - 1];
      out[at] = out[at - 1];
    }
    keys[at] = key;
    out[at] = node->child[i];
  }
  return count;
}

/* The set bits' children onto a stack. */
static uint32_t push_children(const target_search *s, const framed_line *f, const bvh_node *node, unsigned bits,
                              uint32_t *stack, uint32_t depth) {
  if (s->ordered && (bits & (bits - 1)) != 0) return depth + (uint32_t)order_children(f, node, bits, stack + depth);
  for (; bits != 0; bits &= bits - 1) stack[depth++] = node->child[__builtin_ctz(bits)];
  return depth;
}

/* A bit longer than it is, which what is rounded may not shorten. */
static void set_end(target_search *s, double most) {
  s->most = most;
  s->end = smaller(s->end, most * s->scale * (1 + 0x1p-30));
}

static void visit(target_search *s, uint32_t triangle) {
  double corners[9];
  gz_side_corners(&s->view->targets->sides[s->object], triangle, corners);
  const double most = s->visit(s->user, s->object, triangle, corners);
  if (most < s->most) set_end(s, most);
}

static void search_tree(target_search *s) {
  const bvh_node *nodes = s->view->targets->sides[s->object].mesh->nodes;
  framed_line f;
  frame_line(s, &s->view->maps[s->object], &f);
  uint32_t depth = 1;
  s->stack[0] = 0;
  while (depth > 0) {
    const bvh_node *node = &nodes[s->stack[--depth]];
    const unsigned bits = meeting(s, &f, node);
    if (!node->bottom) {
      depth = push_children(s, &f, node, bits, s->stack, depth);
      continue;
    }
    for (unsigned b = bits; b != 0; b &= b - 1) visit(s, node->child[__builtin_ctz(b)]);
  }
}

static void search_object(target_search *s, uint32_t object) {
  s->object = object;
  const uint32_t count = s->view->targets->sides[object].mesh->triangle_count;
  if (s->view->trees[object] && count > 0) {
    search_tree(s);
    return;
  }
  for (uint32_t t = 0; t < count; t++) visit(s, t);
}

/* Objects wait on the same stack as nodes, marked: a bottom node puts them there in their order. */
static void search_above(target_search *s) {
  const graze_targets *t = s->view->targets;
  framed_line f;
  frame_line(s, &s->view->world, &f);
  uint32_t depth = 1, objects[NODE_WIDTH];
  s->above[0] = t->node_count - 1;
  while (depth > 0) {
    const bvh_node *node = &t->nodes[s->above[--depth]];
    const unsigned bits = meeting(s, &f, node);
    if (!node->bottom) {
      depth = push_children(s, &f, node, bits, s->above, depth);
      continue;
    }
    for (uint32_t n = push_children(s, &f, node, bits, objects, 0); n > 0; n--) search_object(s, objects[n - 1]);
  }
}

/* From where it begins a line is out of the box of all targets, for good, once its fastest coordinate has come farther
 * than any of the box is. */
void gz_targets_search(target_search *s, const double from[3], const double way[3], double most, double radius) {
  const graze_targets *t = s->view->targets;
  double scale = 0, reach = 0;
  for (int k = 0; k < 3; k++) {
    s->from[k] = from[k];
    scale = larger(scale, fabs(way[k]));
    reach = larger(reach, larger(fabs(t->box.min[k] - from[k]), fabs(t->box.max[k] - from[k])));
  }
  s->scale = scale;
  s->radius = radius;
  s->end = (reach + radius) * (1 + 0x1p-20);
  for (int k = 0; k < 3; k++) s->unit[k] = scale > 0 ? way[k] / scale : 0;
  set_end(s, most);
  if (s->view->tree) {
    search_above(s);
    return;
  }
  for (uint32_t i = 0; i < t->count; i++) search_object(s, i);
}

/* ---- many lines ------------------------------------------------------------------------------------------------ */

typedef struct line_run {
  target_view view;
  target_search *searches; /* a worker's */
  const uint64_t *order;
  const double *beginnings, *ends;
  uint32_t count;
  target_body *body;
  void *user;
} line_run;

/* Lines are near each other in space, and so anywhere in memory. */
static void fetch(const line_run *r, uint64_t place) {
  if (place >= r->count) return;
  const size_t at = 3 * (size_t)(uint32_t)r->order[place];
  __builtin_prefetch(r->beginnings + at);
  if (r->ends != NULL) __builtin_prefetch(r->ends + at);
}

static void run_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const line_run *r = argument;
  target_search *s = &r->searches[index];
  const uint64_t last = (uint64_t)end * LINES_PER_TASK;
  s->view = &r->view;
  s->worker = index;
  for (uint64_t i = (uint64_t)begin * LINES_PER_TASK; i < last && i < r->count; i++) {
    fetch(r, i + LINES_AHEAD);
    r->body(r->user, s, (uint32_t)r->order[i]);
  }
}

graze_status gz_targets_run(const graze_context *context, const graze_targets *targets, double magnitude,
                            const double *beginnings, const double *ends, uint32_t count, target_body *body,
                            void *user) {
  line_run r = {.beginnings = beginnings, .ends = ends, .count = count, .body = body, .user = user};
  uint64_t *keys = gz_new(context, count, sizeof *keys), *scratch = gz_new(context, count, sizeof *scratch);
  r.searches = gz_new(context, gz_workers(context), sizeof *r.searches);
  bool good = keys != NULL && scratch != NULL && r.searches != NULL;
  good = good && open_view(context, targets, magnitude, &r.view);
  if (good) {
    gz_curve_order(ends != NULL ? ends : beginnings, 3 * sizeof *ends, count, keys, scratch);
    r.order = keys;
    gz_parallel_for(context, (uint32_t)(((uint64_t)count + LINES_PER_TASK - 1) / LINES_PER_TASK), 1, run_blocks, &r);
  }
  close_view(&r.view);
  gz_free(keys);
  gz_free(scratch);
  gz_free(r.searches);
  return good ? GRAZE_OK : gz_fail_memory(context, 2 * count * sizeof *keys);
}
