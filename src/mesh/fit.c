/* Frames and boxes of the whole hierarchy.
 *
 * The tree is cut into units, subtrees of at most 512 triangles. A unit gathers its triangles once, relative to an
 * origin of its own, and fits every node in it from the triangles themselves (fit_kernels.c). The nodes above the units
 * get boxes along the mesh's axes around their children's: up there a fitted frame gains little. Units are independent
 * and done in parallel.
 */
#include "mesh/fit.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"

enum { AHEAD = 4 };

/* Box of a subtree in mesh coordinates. */
typedef struct subtree_box {
  double low[3], high[3];
} subtree_box;

typedef struct fitter {
  const graze_mesh *mesh;
  const tree_node *topology; /* NULL: the nodes have it */
  bvh_node *nodes;
  uint32_t *units; /* root nodes */
  subtree_box *boxes;
  uint32_t unit_count, node_count;
  fit_unit *scratch; /* one per task */
  uint32_t tasks;
  fit_node_function *fit_node;
  fit_areas_function *fit_areas;
} fitter;

/* The node with its topology in place: a node is written once, when its unit's turn has come. */
static inline bvh_node *open_node(const fitter *f, uint32_t index) {
  bvh_node *node = &f->nodes[index];
  if (f->topology == NULL) return node;
  const tree_node *from = &f->topology[index];
  memcpy(node->child, from->child, sizeof node->child);
  node->count = from->count;
  node->bottom = from->bottom;
  node->pad = 0;
  node->triangles = from->triangles;
  return node;
}

static void grow(subtree_box *box, const double p[3]) {
  for (int k = 0; k < 3; k++) {
    if (p[k] < box->low[k]) box->low[k] = p[k];
    if (p[k] > box->high[k]) box->high[k] = p[k];
  }
}

/* Four triangles' corners number c, relative to the origin, into the places of a node; the box of what was loaded
 * grows. */
static inline void four_floats(const graze_mesh *mesh, const uint32_t *const *triangle, int c, v4 origin,
                               float *const out[3], v4 *low, v4 *high) {
  v4 r[4];
  for (int i = 0; i < 4; i++) {
    /* Reads four bytes past the vertex: the block goes on behind the vertices. */
    r[i] = v4_load(mesh->vertices_float + 3 * (size_t)triangle[i][c]);
    *low = v4_min(*low, r[i]);
    *high = v4_max(*high, r[i]);
    r[i] = r[i] - origin;
  }
  v4_transpose(r);
  for (int k = 0; k < 3; k++) memcpy(out[k], &r[k], sizeof r[k]);
}

static void float_slots(const graze_mesh *mesh, const uint32_t *const *triangle, fit_unit *unit, subtree_box *box) {
  fit_eight *to = &unit->eight[unit->slots / NODE_WIDTH];
  v4 origin = {unit->origin[0], unit->origin[1], unit->origin[2], 0};
  v4 low = v4_load(mesh->vertices_float + 3 * (size_t)triangle[0][0]), high = low;
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < NODE_WIDTH; i += 4) {
      float *const out[3] = {to->corner[3 * c] + i, to->corner[3 * c + 1] + i, to->corner[3 * c + 2] + i};
      four_floats(mesh, triangle + i, c, origin, out, &low, &high);
    }
  }
  grow(box, (const double[3]){(double)low[0], (double)low[1], (double)low[2]});
  grow(box, (const double[3]){(double)high[0], (double)high[1], (double)high[2]});
}

static void double_slots(const graze_mesh *mesh, const uint32_t *const *triangle, fit_unit *unit, subtree_box *box) {
  fit_eight *to = &unit->eight[unit->slots / NODE_WIDTH];
  for (uint32_t i = 0; i < NODE_WIDTH; i++) {
    for (int c = 0; c < 3; c++) {
      const double *p = mesh->vertices_double + 3 * (size_t)triangle[i][c];
      grow(box, p);
      for (int k = 0; k < 3; k++) to->corner[3 * c + k][i] = (float)(p[k] - (double)unit->origin[k]);
    }
  }
}

static void bottom_slots(const graze_mesh *mesh, const bvh_node *node, fit_unit *unit, subtree_box *box) {
  const uint32_t *triangle[NODE_WIDTH];
  for (uint32_t i = 0; i < NODE_WIDTH; i++) {
    triangle[i] = mesh->triangles + 3 * (size_t)node->child[i < node->count ? i : 0];
  }
  if (mesh->is_double)
    double_slots(mesh, triangle, unit, box);
  else
    float_slots(mesh, triangle, unit, box);
  unit->slots += NODE_WIDTH;
}

/* A bottom node's triangles lie anywhere in memory: asks for the vertex numbers of a node some places on, and for the
 * vertices of a nearer one, whose numbers have come. */
__attribute__((always_inline)) static inline void prefetch_slots(const fitter *f, uint32_t index) {
  if (f->topology == NULL || index + 2 * AHEAD >= f->node_count) return;
  const tree_node *far = &f->topology[index + 2 * AHEAD], *near = &f->topology[index + AHEAD];
  for (uint32_t i = 0; far->bottom && i < far->count; i++) {
    __builtin_prefetch(f->mesh->triangles + 3 * (size_t)far->child[i]);
  }
  for (uint32_t i = 0; near->bottom && i < near->count; i++) {
    const uint32_t *v = f->mesh->triangles + 3 * (size_t)near->child[i];
    for (int c = 0; c < 3; c++) {
      size_t at = 3 * (size_t)v[c];
      __builtin_prefetch(f->mesh->is_double ? (const void *)(f->mesh->vertices_double + at)
                                            : f->mesh->vertices_float + at);
    }
  }
}

/* Gathers the subtree's triangles depth first. */
static void gather(const fitter *f, uint32_t index, fit_unit *unit, subtree_box *box) {
  const bvh_node *node = open_node(f, index);
  if (node->bottom) {
    prefetch_slots(f, index);
    bottom_slots(f->mesh, node, unit, box);
    return;
  }
  for (int c = 0; c < node->count; c++) gather(f, node->child[c], unit, box);
}

/* Repeated triangles must not weigh in the normals. */
static void clear_repeated(const fitter *f, uint32_t index, fit_unit *unit, uint32_t *slot) {
  const bvh_node *node = &f->nodes[index];
  if (!node->bottom) {
    for (int c = 0; c < node->count; c++) clear_repeated(f, node->child[c], unit, slot);
    return;
  }
  for (uint32_t i = node->count; i < NODE_WIDTH; i++) {
    for (int k = 0; k < 3; k++) unit->eight[*slot / NODE_WIDTH].area[k][i] = 0;
  }
  *slot += NODE_WIDTH;
}

static slot_range fit_subtree(const fitter *f, const fit_unit *unit, uint32_t index, uint32_t first) {
  bvh_node *node = &f->nodes[index];
  slot_range range = {.first = first, .end = first + NODE_WIDTH}, children[NODE_WIDTH] = {{0}};
  if (!node->bottom) {
    for (int c = 0; c < node->count; c++) {
      children[c] = fit_subtree(f, unit, node->child[c], first);
      first = children[c].end;
    }
    range.end = first;
  }
  f->fit_node(unit, node, &range, children);
  return range;
}

static void fit_one(const fitter *f, uint32_t number, fit_unit *unit) {
  subtree_box *box = &f->boxes[number];
  *box = (subtree_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  const bvh_node *node = open_node(f, f->units[number]);
  while (!node->bottom) node = open_node(f, node->child[0]);
  double p[3];
  mesh_vertex(f->mesh, f->mesh->triangles[3 * (size_t)node->child[0]], p);
  for (int k = 0; k < 3; k++) unit->origin[k] = (float)p[k];
  unit->slots = 0;
  unit->aligned = f->mesh->header->volumes == GRAZE_VOLUMES_ALIGNED;
  gather(f, f->units[number], unit, box);
  if (!unit->aligned) {
    uint32_t slot = 0;
    f->fit_areas(unit);
    clear_repeated(f, f->units[number], unit, &slot);
  }
  fit_subtree(f, unit, f->units[number], 0);
}

static void fit_task(void *argument, uint32_t task) {
  const fitter *f = argument;
  uint32_t first = (uint32_t)((uint64_t)f->unit_count * task / f->tasks);
  uint32_t end = (uint32_t)((uint64_t)f->unit_count * (task + 1) / f->tasks);
  for (uint32_t k = first; k < end; k++) fit_one(f, k, &f->scratch[task]);
}

/* ---- cutting and joining ---- */

static bool is_unit(const bvh_node *node) {
  return node->bottom || node->triangles <= UNIT_TRIANGLES;
}

/* Lists the units below a node in depth-first order; a NULL list only counts. */
static uint32_t list_units(const fitter *f, uint32_t index, uint32_t *list, uint32_t n) {
  const bvh_node *node = open_node(f, index);
  if (is_unit(node)) {
    if (list != NULL) list[n] = index;
    return n + 1;
  }
  for (int c = 0; c < node->count; c++) n = list_units(f, node->child[c], list, n);
  return n;
}

static float down(double x) {
  return nextafterf((float)x, -INFINITY);
}

static float up(double x) {
  return nextafterf((float)x, INFINITY);
}

/* A node above the units: boxes along the axes around the children's. Returns its own; *unit counts units passed. */
static subtree_box join_above(const fitter *f, uint32_t index, uint32_t *unit) {
  bvh_node *node = &f->nodes[index];
  if (is_unit(node)) return f->boxes[(*unit)++];
  static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  subtree_box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}, child[NODE_WIDTH];
  for (int c = 0; c < node->count; c++) {
    child[c] = join_above(f, node->child[c], unit);
    grow(&all, child[c].low);
    grow(&all, child[c].high);
  }
  memcpy(node->axis, identity, sizeof identity);
  node->aligned = 1;
  double reach = 0, diagonal = 0;
  for (int k = 0; k < 3; k++) {
    node->origin[k] = (float)(0.5 * (all.low[k] + all.high[k]));
    double o = (double)node->origin[k], m = fmax(all.high[k] - o, o - all.low[k]);
    reach += m * m;
    diagonal += (all.high[k] - all.low[k]) * (all.high[k] - all.low[k]);
  }
  node->reach = up(sqrt(reach) * 1.000001) + 1e-37f;
  node->size = (float)(0.5 * sqrt(diagonal));
  float margin = 0x1p-22f * node->reach;
  for (int k = 0; k < 3; k++) {
    for (int c = 0; c < NODE_WIDTH; c++) {
      if (c < node->count) {
        float low = down(child[c].low[k] - (double)node->origin[k]),
              high = up(child[c].high[k] - (double)node->origin[k]);
        node->center[k][c] = 0.5f * low + 0.5f * high;
        node->half[k][c] = (0.5f * high - 0.5f * low) + margin;
      } else {
        node->center[k][c] = 0;
        node->half[k][c] = -INFINITY;
      }
    }
  }
  return all;
}

static graze_status run(fitter *f) {
  const graze_context *context = f->mesh->context;
  f->unit_count = list_units(f, 0, NULL, 0);
  uint32_t most = (uint32_t)gz_parallel_threads(context) * 8;
  f->tasks = gz_parallel_threads(context) == 1 || f->unit_count < 8 ? 1 : most < f->unit_count ? most : f->unit_count;
  size_t bytes = f->tasks * sizeof(fit_unit) + f->unit_count * (sizeof(subtree_box) + sizeof(uint32_t));
  char *memory = gz_memory_alloc(context, bytes);
  if (memory == NULL) return gz_fail_memory(context, bytes);
  f->scratch = (fit_unit *)memory;
  f->boxes = (subtree_box *)(memory + f->tasks * sizeof(fit_unit));
  f->units = (uint32_t *)(f->boxes + f->unit_count);
  list_units(f, 0, f->units, 0);
  gz_parallel_each(context, f->tasks, fit_task, f);
  uint32_t unit = 0;
  join_above(f, 0, &unit);
  gz_memory_release(context, memory, bytes);
  return GRAZE_OK;
}

graze_status gz_mesh_fit_tree(const graze_mesh *mesh, const tree_node *topology, bvh_node *nodes, uint32_t count) {
  if (count == 0) return GRAZE_OK;
  fitter f = {.mesh = mesh,
              .topology = topology,
              .nodes = nodes,
              .node_count = count,
              .fit_node = CPU_KERNEL_TO_AVX2(gz_fit_node),
              .fit_areas = CPU_KERNEL_TO_AVX2(gz_fit_areas)};
  return run(&f);
}
