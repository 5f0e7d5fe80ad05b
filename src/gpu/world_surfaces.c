/* Meshes in a world on a device: they go up with the state, each once, with a tree that is gone through without a
 * stack; where they are goes up with each question. kernels/meshlist.cl and meshpass.cl say what is computed. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "geometry/nearest.h"
#include "gpu/kernels/world.h"
#include "gpu/pairs.h"
#include "gpu/worlds.h"
#include "mesh/mesh.h"

enum { GROUP = 64, TRIANGLES_AT_ONCE = 4096 };

_Static_assert(IS_LINE == SHAPE_LINE && IS_SLIVER == SHAPE_SLIVER, "shapes of the host are those of the device");

static const char *list_module(const gpu_worlds *w) {
  return w->is_single ? "meshlist32" : "meshlist64";
}

static const char *pass_module(const gpu_worlds *w) {
  return w->is_single ? "meshpass32" : "meshpass64";
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

/* Whether no surface before has the same mesh. */
static bool is_first_of(const graze_world_question *q, uint32_t surface) {
  for (uint32_t i = 0; i < surface; i++) {
    if (q->surfaces[i].mesh == q->surfaces[surface].mesh) return false;
  }
  return true;
}

static graze_status put_triangles(graze_gpu *gpu, const gpu_worlds *w, const graze_mesh *mesh, uint64_t first) {
  const size_t bytes = TRIANGLE_FIELDS * sizeof(double);
  double *rows = gz_memory_alloc(gpu->context, TRIANGLES_AT_ONCE * bytes);
  graze_status status = rows != NULL ? GRAZE_OK : gz_fail_memory(gpu->context, TRIANGLES_AT_ONCE * bytes);
  for (uint32_t from = 0, some; from < mesh->triangle_count && status == GRAZE_OK; from += some) {
    some = mesh->triangle_count - from < TRIANGLES_AT_ONCE ? mesh->triangle_count - from : TRIANGLES_AT_ONCE;
    for (uint32_t i = 0; i < some; i++) {
      double *row = rows + TRIANGLE_FIELDS * (size_t)i;
      mesh_corners(mesh, from + i, row);
      row[TRIANGLE_SHAPE] = gz_triangle_normal(row, row + TRIANGLE_NORMAL);
    }
    status = gz_gpu_write(gpu, &w->triangles, (first + from) * bytes, rows, some * bytes);
  }
  if (rows != NULL) gz_memory_release(gpu->context, rows, TRIANGLES_AT_ONCE * bytes);
  return status;
}

/* Of what has boxes in the nodes of its mesh, or else of triangles in a row. */
static uint64_t tree_rows(const graze_mesh *mesh) {
  return (uint64_t)mesh->node_count + mesh->triangle_count;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* At most x, and not subnormal: not every device has those. */
static float float_below(double x) {
  float low = (float)x;
  if ((double)low > x) low = nextafterf(low, -INFINITY);
  return low != 0 && fabsf(low) < FLT_MIN ? (low > 0 ? 0 : -FLT_MIN) : low;
}

/* The box, rounded outward, and what comes behind it. */
static void put_row(uint32_t *row, const graze_box *box, uint32_t skip, uint32_t triangle) {
  for (int k = 0; k < 3; k++) {
    row[k] = bits_of(float_below(box->min[k]));
    row[3 + k] = bits_of(-float_below(-box->max[k]));
  }
  row[NODE_SKIP] = skip;
  row[NODE_TRIANGLE] = triangle;
}

static graze_box triangle_box(const graze_mesh *mesh, uint32_t triangle) {
  graze_box box = graze_box_empty();
  double corners[9];
  mesh_corners(mesh, triangle, corners);
  for (int c = 0; c < 3; c++) graze_box_add_point(&box, corners + (size_t)3 * (size_t)c);
  return box;
}

static void put_triangle(uint32_t *rows, const graze_mesh *mesh, uint32_t at, uint32_t triangle) {
  const graze_box box = triangle_box(mesh, triangle);
  put_row(rows + NODE_FIELDS * (size_t)at, &box, at + 1, triangle);
}

/* What a node has below it. */
typedef struct below {
  graze_box box;
  uint32_t rows; /* of the tree, with its own */
} below;

/* Children stand behind their nodes. */
static void measure_nodes(const graze_mesh *mesh, below *all) {
  for (uint32_t n = mesh->node_count; n-- > 0;) {
    const bvh_node *node = &mesh->nodes[n];
    all[n] = (below){graze_box_empty(), 1};
    for (uint32_t i = 0; i < node->count; i++) {
      const uint32_t child = node->child[i];
      const graze_box box = node->bottom ? triangle_box(mesh, child) : all[child].box;
      graze_box_add_box(&all[n].box, &box);
      all[n].rows += node->bottom ? 1 : all[child].rows;
    }
  }
}

/* `at`: where a node's row is; known of the root, then of children when their node is reached. */
static void put_nodes(const graze_mesh *mesh, const below *all, uint32_t *at, uint32_t *rows) {
  at[0] = 0;
  for (uint32_t n = 0; n < mesh->node_count; n++) {
    const bvh_node *node = &mesh->nodes[n];
    uint32_t next = at[n] + 1;
    put_row(rows + NODE_FIELDS * (size_t)at[n], &all[n].box, at[n] + all[n].rows, NODE_INNER);
    for (uint32_t i = 0; i < node->count; i++) {
      const uint32_t child = node->child[i];
      if (node->bottom) {
        put_triangle(rows, mesh, next++, child);
      } else {
        at[child] = next;
        next += all[child].rows;
      }
    }
  }
}

static graze_status put_tree(graze_gpu *gpu, const gpu_worlds *w, const graze_mesh *mesh, uint64_t first) {
  const size_t row = NODE_FIELDS * sizeof(uint32_t), rows = tree_rows(mesh) * row,
               bytes = mesh->node_count * (sizeof(below) + sizeof(uint32_t)) + rows;
  if (bytes == 0) return GRAZE_OK;
  below *all = gz_memory_alloc(gpu->context, bytes);
  if (all == NULL) return gz_fail_memory(gpu->context, bytes);
  uint32_t *tree = (uint32_t *)(void *)(all + mesh->node_count), *at = tree + NODE_FIELDS * tree_rows(mesh);
  if (mesh->node_count > 0) {
    measure_nodes(mesh, all);
    put_nodes(mesh, all, at, tree);
  }
  for (uint32_t t = 0; t < mesh->triangle_count && mesh->node_count == 0; t++) put_triangle(tree, mesh, t, t);
  const graze_status status = gz_gpu_write(gpu, &w->tree, first * row, tree, rows);
  gz_memory_release(gpu->context, all, bytes);
  return status;
}

/* Meshes that differ, one behind the other. */
static graze_status put_meshes(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  uint64_t triangles = 0, rows = 0;
  for (uint32_t i = 0; i < q->surface_count; i++) {
    if (!is_first_of(q, i)) continue;
    triangles += q->surfaces[i].mesh->triangle_count;
    rows += tree_rows(q->surfaces[i].mesh);
  }
  if (rows >= UINT64_C(1) << 31) return GRAZE_ERROR_UNSUPPORTED;
  graze_status status = gz_gpu_reserve(gpu, &w->triangles, (triangles * TRIANGLE_FIELDS + 1) * sizeof(double));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->tree, (rows * NODE_FIELDS + 1) * sizeof(uint32_t));
  triangles = rows = 0;
  for (uint32_t i = 0; i < q->surface_count && status == GRAZE_OK; i++) {
    const graze_mesh *mesh = q->surfaces[i].mesh;
    if (!is_first_of(q, i)) continue;
    status = put_triangles(gpu, w, mesh, triangles);
    if (status == GRAZE_OK) status = put_tree(gpu, w, mesh, rows);
    triangles += mesh->triangle_count;
    rows += tree_rows(mesh);
  }
  return status;
}

/* ---- where they are ---------------------------------------------------------------------------------------------- */

/* The rows of all surfaces. */
static void fill_rows(const graze_world_question *q, double *row) {
  uint64_t triangles = 0, tree = 0;
  for (uint32_t i = 0; i < q->surface_count; i++, row += SURFACE_FIELDS) {
    const graze_plain_surface *s = &q->surfaces[i];
    memcpy(row + SURFACE_POSITION, s->position, sizeof s->position);
    memcpy(row + SURFACE_VELOCITY, s->velocity, sizeof s->velocity);
    memcpy(row + SURFACE_SPIN, s->spin, sizeof s->spin);
    memcpy(row + SURFACE_ROTATION, s->rotation, sizeof s->rotation);
    memcpy(row + SURFACE_CENTER, s->center, sizeof s->center);
    memcpy(row + SURFACE_ORIENTATION, s->orientation, sizeof s->orientation);
    row[SURFACE_MATERIAL] = s->material;
    row[SURFACE_MOVES] = s->moves;
    row[SURFACE_REACH] = s->reach;
    row[SURFACE_TRIANGLES] = (double)triangles;
    row[SURFACE_TREE] = (double)tree;
    row[SURFACE_TREE_END] = (double)tree_rows(s->mesh);
    for (uint32_t j = 0; j < i; j++) { /* another one may have brought the mesh */
      if (q->surfaces[j].mesh != s->mesh) continue;
      memcpy(row + SURFACE_TRIANGLES, row - (i - j) * (size_t)SURFACE_FIELDS + SURFACE_TRIANGLES, 3 * sizeof *row);
      break;
    }
    if (!is_first_of(q, i)) continue;
    triangles += s->mesh->triangle_count;
    tree += tree_rows(s->mesh);
  }
}

/* How far a point of a surface goes in a step, at most. */
static double farthest_way(const graze_world_question *q) {
  double farthest = 0;
  for (uint32_t i = 0; i < q->surface_count; i++) {
    const graze_plain_surface *s = &q->surfaces[i];
    const double *v = s->velocity, *w = s->spin;
    if (!s->moves) continue;
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]),
                 spin = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    farthest = fmax(farthest, q->dt * (speed + spin * s->reach) * (1 + 1e-9));
  }
  return farthest;
}

size_t gz_gpu_world_surface_bytes(const graze_world_question *q) {
  return q->surface_count * SURFACE_FIELDS * sizeof(double);
}

graze_status gz_gpu_world_put_surfaces(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  const size_t bytes = gz_gpu_world_surface_bytes(q);
  w->is_driven = false;
  for (uint32_t i = 0; i < q->surface_count; i++) w->is_driven |= q->surfaces[i].moves;
  w->surface_pace = farthest_way(q);
  w->most_surface_way = 0.49 * q->surface_skin;
  if (q->surface_count == 0) return GRAZE_OK;
  if (!gz_buffer_reserve(gpu->context, &w->staging, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  fill_rows(q, w->staging.data);
  graze_status status = gz_gpu_reserve(gpu, &w->surfaces, bytes);
  return status != GRAZE_OK ? status : gz_gpu_write(gpu, &w->surfaces, 0, w->staging.data, bytes);
}

void gz_gpu_world_take_surfaces(const double *rows, graze_world_question *q) {
  for (uint32_t i = 0; i < q->surface_count; i++, rows += SURFACE_FIELDS) {
    memcpy(q->surfaces[i].position, rows + SURFACE_POSITION, sizeof q->surfaces[i].position);
    memcpy(q->surfaces[i].orientation, rows + SURFACE_ORIENTATION, sizeof q->surfaces[i].orientation);
  }
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

/* What contacts with surfaces remember, as that of a list that has no other entries, from which the first one gets it:
 * of which triangle they were is not asked. */
static graze_status put_memory(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q, const uint32_t *place) {
  const size_t n = q->balls, fields = FACET_KEPT_FIELDS(w->features), each = FACET_FIELDS * sizeof(uint32_t);
  const uint64_t first = gpu_world_first_of_surfaces(q);
  const size_t count = q->kept_count - first, bytes = count * (fields * sizeof(double) + each) + (n + 2) * 4;
  double *kept = gz_memory_alloc(gpu->context, bytes);
  if (kept == NULL) return gz_fail_memory(gpu->context, bytes);
  uint32_t *facets = (uint32_t *)(kept + count * fields), *start = facets + count * FACET_FIELDS, *at = start + 1;
  memset(facets, 0, count * each + (n + 2) * sizeof *start);
  for (size_t i = 0; i < count; i++) at[place[q->kept[first + i].number] + 1]++;
  for (size_t i = 0; i < n; i++) at[i + 1] += at[i];
  for (size_t i = 0; i < count; i++) {
    const graze_kept_contact *c = &q->kept[first + i];
    const uint32_t entry = at[place[c->number]]++;
    facets[FACET_FIELDS * (size_t)entry + FACET_SURFACE] = FACET_TOUCHES | c->partner;
    gz_gpu_world_pack_kept(w, c, kept + entry * fields);
    memcpy(kept + entry * fields + FACET_KEPT_NORMAL(w->features), c->normal, sizeof c->normal);
  }
  gpu_facets *to = &w->facets[w->facet_side];
  to->count = (uint32_t)count;
  graze_status status = gz_gpu_reserve(gpu, &to->start, (n + 1) * sizeof *start);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &to->entries, count * each + sizeof *facets);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &to->kept, (count * fields + 1) * sizeof *kept);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &to->start, 0, start, (n + 1) * sizeof *start);
  if (status == GRAZE_OK && count > 0) status = gz_gpu_write(gpu, &to->entries, 0, facets, count * each);
  if (status == GRAZE_OK && count > 0) status = gz_gpu_write(gpu, &to->kept, 0, kept, count * fields * sizeof *kept);
  gz_memory_release(gpu->context, kept, bytes);
  return status;
}

/* Buffers that no list fills have room for one number, since kernels get them all: passes of any world the first two.
 */
static graze_status put_rooms(graze_gpu *gpu, gpu_worlds *w, bool all) {
  gpu_buffer *const rooms[] = {&w->facets[0].start,
                               &w->met,
                               &w->surfaces,
                               &w->triangles,
                               &w->tree,
                               &w->near,
                               &w->near_at,
                               &w->facets[0].entries,
                               &w->facets[1].entries,
                               &w->facets[0].kept,
                               &w->facets[1].kept,
                               &w->facets[1].start};
  graze_status status = GRAZE_OK;
  for (size_t i = 0; i < (all ? sizeof rooms / sizeof *rooms : 2) && status == GRAZE_OK; i++)
    status = gz_gpu_reserve(gpu, rooms[i], sizeof(double));
  return status;
}

graze_status gz_gpu_world_upload_surfaces(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  w->surface_count = q->surface_count;
  w->facet_side = w->near_count = 0;
  w->facets[0].count = w->facets[1].count = 0;
  w->surface_way = 0;
  graze_status status = put_rooms(gpu, w, q->surface_count > 0);
  if (status != GRAZE_OK || q->surface_count == 0) return status;
  status = put_meshes(gpu, w, q);
  if (status != GRAZE_OK || (w->features & FEATURE_REMEMBERS) == 0) return status;
  uint32_t *place = gz_memory_alloc(gpu->context, q->balls * sizeof *place);
  if (place == NULL) return gz_fail_memory(gpu->context, q->balls * sizeof *place);
  for (uint32_t i = 0; i < q->balls; i++) place[q->numbers[i]] = i;
  status = put_memory(gpu, w, q, place);
  gz_memory_release(gpu->context, place, q->balls * sizeof *place);
  return status;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* How many triangles are near each ball, and room for them. */
static graze_status count_facets(graze_gpu *gpu, gpu_worlds *w, gpu_facets *to) {
  uint32_t found[FOUND_FIELDS];
  uint64_t total = 0;
  const gpu_argument count[] = {GPU_BUFFER(&w->frame), GPU_BUFFER(&w->surfaces),      GPU_BUFFER(&w->triangles),
                                GPU_BUFFER(&w->tree),  GPU_BUFFER(&w->rows[w->side]), GPU_BUFFER(&to->start),
                                GPU_BUFFER(&w->found), GPU_VALUE(w->count),           GPU_VALUE(w->surface_count)};
  graze_status status = gz_gpu_reserve(gpu, &to->start, (w->count + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, list_module(w), "mesh_count", gpu_groups(w->count, GROUP), count, 9);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &w->scratch, &to->start, &to->start, w->count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &w->scratch, &total);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, found, &w->found, 0, sizeof found);
  if (status != GRAZE_OK) return status;
  if (found[FOUND_FAR] != 0 || total >= UINT64_C(1) << 28) return GRAZE_ERROR_UNSUPPORTED;
  to->count = (uint32_t)total;
  w->near_count = found[FOUND_NEAR];
  return GRAZE_OK;
}

static graze_status fill_facets(graze_gpu *gpu, gpu_worlds *w, gpu_facets *to) {
  const size_t kept = (w->features & FEATURE_REMEMBERS) != 0 ? FACET_KEPT_FIELDS(w->features) * sizeof(double) : 0;
  graze_status status = gz_gpu_reserve(gpu, &to->entries, to->count * FACET_FIELDS * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &to->kept, to->count * kept);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->met, to->count * MET_FIELDS * sizeof(double));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->near, w->near_count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->near_at, w->near_count * sizeof(double[3]));
  const gpu_argument fill[] = {GPU_BUFFER(&w->frame),    GPU_BUFFER(&w->surfaces),      GPU_BUFFER(&w->triangles),
                               GPU_BUFFER(&w->tree),     GPU_BUFFER(&w->rows[w->side]), GPU_BUFFER(&to->start),
                               GPU_BUFFER(&to->entries), GPU_BUFFER(&w->near),          GPU_BUFFER(&w->near_at),
                               GPU_BUFFER(&w->found),    GPU_VALUE(w->count),           GPU_VALUE(w->surface_count)};
  if (status != GRAZE_OK || to->count == 0) return status;
  return gz_gpu_run(gpu, list_module(w), "mesh_fill", gpu_groups(w->count, GROUP), fill, 12);
}

static graze_status carry_contacts(graze_gpu *gpu, gpu_worlds *w, const gpu_facets *from, const gpu_facets *to) {
  const gpu_argument carry[] = {
      GPU_BUFFER(&w->frame),         GPU_BUFFER(&w->laws),       GPU_BUFFER(&w->kinds),  GPU_BUFFER(&w->surfaces),
      GPU_BUFFER(&w->rows[w->side]), GPU_BUFFER(&w->facts),      GPU_BUFFER(&w->places), GPU_BUFFER(&from->start),
      GPU_BUFFER(&from->entries),    GPU_BUFFER(&from->kept),    GPU_BUFFER(&to->start), GPU_BUFFER(&to->entries),
      GPU_BUFFER(&to->kept),         GPU_BUFFER(&w->dissipated), GPU_BUFFER(&w->events), GPU_BUFFER(&w->event_count),
      GPU_VALUE(w->count),           GPU_VALUE(w->materials),    GPU_VALUE(w->features), GPU_VALUE(w->event_room)};
  return gz_gpu_run(gpu, list_module(w), "mesh_carry", gpu_groups(w->count, GROUP), carry, 20);
}

/* Where contacts remember, the list before is still there while the next one is made. */
graze_status gz_gpu_world_list_surfaces(graze_gpu *gpu, gpu_worlds *w) {
  const bool remembers = (w->features & FEATURE_REMEMBERS) != 0;
  const gpu_facets *from = &w->facets[w->facet_side];
  if (w->surface_count == 0) return GRAZE_OK;
  if (remembers) w->facet_side = 1 - w->facet_side;
  gpu_facets *to = &w->facets[w->facet_side];
  graze_status status = count_facets(gpu, w, to);
  if (status == GRAZE_OK) status = fill_facets(gpu, w, to);
  if (status == GRAZE_OK && remembers && from->count > 0) status = carry_contacts(gpu, w, from, to);
  w->surface_way = 0;
  return status;
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

graze_status gz_gpu_world_touch(graze_gpu *gpu, gpu_worlds *w, uint32_t from, uint32_t mode, uint32_t slot) {
  gpu_facets *f = &w->facets[w->facet_side];
  const gpu_argument touch[] = {
      GPU_BUFFER(&w->frame),     GPU_BUFFER(&w->laws),       GPU_BUFFER(&w->kinds),  GPU_BUFFER(&w->surfaces),
      GPU_BUFFER(&w->triangles), GPU_BUFFER(&w->rows[from]), GPU_BUFFER(&w->facts),  GPU_BUFFER(&f->start),
      GPU_BUFFER(&f->entries),   GPU_BUFFER(&f->kept),       GPU_BUFFER(&w->met),    GPU_BUFFER(&w->near),
      GPU_BUFFER(&w->near_at),   GPU_BUFFER(&w->flags),      GPU_BUFFER(&w->events), GPU_BUFFER(&w->event_count),
      GPU_VALUE(w->near_count),  GPU_VALUE(w->materials),    GPU_VALUE(w->features), GPU_VALUE(mode),
      GPU_VALUE(slot),           GPU_VALUE(w->event_room)};
  if (w->surface_count == 0 || w->near_count == 0) return GRAZE_OK;
  return gz_gpu_run(gpu, pass_module(w), "mesh_touch", gpu_groups(w->near_count, GROUP), touch, 22);
}

graze_status gz_gpu_world_drive(graze_gpu *gpu, gpu_worlds *w, uint32_t slot, bool always) {
  const uint32_t must = always;
  const gpu_argument drive[] = {GPU_BUFFER(&w->frame),       GPU_BUFFER(&w->surfaces), GPU_BUFFER(&w->flags),
                                GPU_VALUE(w->surface_count), GPU_VALUE(slot),          GPU_VALUE(must)};
  if (!w->is_driven) return GRAZE_OK;
  return gz_gpu_run(gpu, pass_module(w), "mesh_drive", gpu_groups(w->surface_count, GROUP), drive, 6);
}

/* ---- what comes down --------------------------------------------------------------------------------------------- */

/* Of all entries, in their order; those of a ball are side by side. */
static graze_status read_entries(graze_gpu *gpu, const gpu_worlds *w, const uint32_t *facts, void *memory,
                                 graze_kept_contact *to, uint64_t *count) {
  const gpu_facets *f = &w->facets[w->facet_side];
  const size_t fields = FACET_KEPT_FIELDS(w->features), n = w->count;
  double *kept = memory;
  uint32_t *start = (uint32_t *)(kept + f->count * fields), *entries = start + n + 1;
  graze_status status = gz_gpu_read(gpu, start, &f->start, 0, (n + 1) * sizeof *start);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, entries, &f->entries, 0, f->count * FACET_FIELDS * sizeof *entries);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, kept, &f->kept, 0, f->count * fields * sizeof *kept);
  for (uint32_t i = 0; i < n && status == GRAZE_OK; i++) {
    for (uint32_t e = start[i], order = 0, last = 0; e < start[i + 1]; e++) {
      const uint32_t surface = entries[FACET_FIELDS * (size_t)e + FACET_SURFACE];
      if ((surface & FACET_TOUCHES) == 0) continue;
      order = surface == last ? order + 1 : 0;
      last = surface;
      graze_kept_contact *c = &to[(*count)++];
      *c = (graze_kept_contact){.number = facts[FACTS * (size_t)i + FACT_NUMBER],
                                .partner = surface & ~FACET_TOUCHES,
                                .with = GRAZE_PARTNER_SURFACE,
                                .order = order};
      gz_gpu_world_unpack_kept(w, kept + e * fields, c);
      memcpy(c->normal, kept + e * fields + FACET_KEPT_NORMAL(w->features), sizeof c->normal);
    }
  }
  return status;
}

graze_status gz_gpu_world_read_surfaces(graze_gpu *gpu, gpu_worlds *w, uint64_t *count) {
  const gpu_facets *f = &w->facets[w->facet_side];
  const size_t before = *count * sizeof(graze_kept_contact), all = before + f->count * sizeof(graze_kept_contact),
               facts = FACTS * (size_t)w->count * sizeof(uint32_t),
               bytes = f->count * (FACET_KEPT_FIELDS(w->features) * sizeof(double) + FACET_FIELDS * 4) + facts +
                       (w->count + (size_t)1) * sizeof(uint32_t);
  if (w->surface_count == 0 || f->count == 0) return GRAZE_OK;
  if (!gz_buffer_reserve(gpu->context, &w->memory, all, before)) return gz_fail_memory(gpu->context, all);
  char *memory = gz_memory_alloc(gpu->context, bytes);
  if (memory == NULL) return gz_fail_memory(gpu->context, bytes);
  uint32_t *numbers = (uint32_t *)(void *)(memory + bytes - facts);
  graze_status status = gz_gpu_read(gpu, numbers, &w->facts, 0, facts);
  if (status == GRAZE_OK) status = read_entries(gpu, w, numbers, memory, w->memory.data, count);
  gz_memory_release(gpu->context, memory, bytes);
  return status;
}

void gz_gpu_world_release_surfaces(graze_gpu *gpu, gpu_worlds *w) {
  gpu_buffer *const all[] = {&w->surfaces,
                             &w->triangles,
                             &w->tree,
                             &w->met,
                             &w->near,
                             &w->near_at,
                             &w->facets[0].kept,
                             &w->facets[1].kept,
                             &w->facets[0].entries,
                             &w->facets[1].entries,
                             &w->facets[0].start,
                             &w->facets[1].start};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
}
