/* The report of meshes that meet themselves. Its clashes are places: self pairs that share triangles, one after the
 * other, are one place. For the eye, the triangles of a place are divided into two sides so that the two of a pair are
 * on different ones, as far as that goes; each side is an object of its own, and the object of the mesh keeps what
 * belongs to no place. */
#include <math.h>
#include <string.h>

#include "check.h"

/* Triangles that pairs connect, as a forest of which each tree is a place: its root is the triangle with the lowest
 * number, and each triangle knows whether it is on the side of its parent. */
typedef struct self_places {
  graze_check *check;
  const graze_mesh *mesh;
  const graze_self_result *found;
  const char *name, *path;
  uint32_t triangle_count;
  uint32_t *parent;
  bool *other, *involved; /* not the parent's side; in some pair */
  uint32_t *places;       /* of roots: the number, from 1 on */
  uint32_t count;
} self_places;

/* The root; `*side` is turned if the triangle is on its other side. Halves the path. */
static uint32_t find_root(const self_places *p, uint32_t triangle, bool *side) {
  while (p->parent[triangle] != triangle) {
    uint32_t up = p->parent[triangle];
    p->other[triangle] ^= p->other[up];
    p->parent[triangle] = p->parent[up];
    *side ^= p->other[triangle];
    triangle = p->parent[triangle];
  }
  return triangle;
}

static void join(const self_places *p, uint32_t a, uint32_t b) {
  bool side_a = false, side_b = false;
  uint32_t root_a = find_root(p, a, &side_a), root_b = find_root(p, b, &side_b);
  p->involved[a] = p->involved[b] = true;
  if (root_a == root_b) return;
  uint32_t low = root_a < root_b ? root_a : root_b, high = root_a < root_b ? root_b : root_a;
  p->parent[high] = low;
  p->other[high] = side_a == side_b; /* the two of the pair come to stand on different sides */
}

static graze_status find_places(self_places *p) {
  p->triangle_count = graze_mesh_triangle_count(p->mesh);
  p->parent = gz_check_alloc(p->check, p->triangle_count, sizeof *p->parent);
  p->other = gz_check_alloc(p->check, p->triangle_count, sizeof *p->other);
  p->involved = gz_check_alloc(p->check, p->triangle_count, sizeof *p->involved);
  p->places = gz_check_alloc(p->check, p->triangle_count, sizeof *p->places);
  if (!p->parent || !p->other || !p->involved || !p->places) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < p->triangle_count; i++) p->parent[i] = i;
  for (uint64_t i = 0; i < p->found->self_pairs; i++) join(p, p->found->pairs[i].a, p->found->pairs[i].b);
  for (uint32_t i = 0; i < p->triangle_count; i++) {
    if (p->involved[i] && p->parent[i] == i) p->places[i] = ++p->count;
  }
  return GRAZE_OK;
}

/* The part of a triangle: 0 for none, else 2 * place - 1 or 2 * place. */
static uint32_t part_of(const self_places *p, uint32_t triangle) {
  bool side = false;
  if (!p->involved[triangle]) return 0;
  uint32_t root = find_root(p, triangle, &side);
  return 2 * p->places[root] - 1 + side;
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

static graze_status add_part(self_places *p, const double *corners, uint64_t triangles, check_object *object) {
  graze_check *c = p->check;
  check_mesh *meshes = gz_check_grow(c, c->meshes, c->mesh_count, sizeof *meshes);
  if (meshes == NULL) return GRAZE_ERROR_MEMORY;
  c->meshes = meshes;
  check_mesh *m = &meshes[c->mesh_count];
  *m = (check_mesh){.check = c, .path = p->path};
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 3 * triangles;
  def.precision = GRAZE_DOUBLE;
  graze_status status = graze_mesh_create(c->context, &def, &m->mesh);
  if (status != GRAZE_OK) return status;
  object->mesh = c->mesh_count++;
  return gz_check_know(m, m->mesh, &m->facts);
}

/* Puts the corners of all triangles part by part; starts[k] .. starts[k + 1] - 1 are those of part k. */
static graze_status sort_triangles(const self_places *p, uint64_t **starts, double **corners) {
  uint32_t parts = 2 * p->count + 1;
  uint64_t *at = gz_check_alloc(p->check, parts, sizeof *at);
  *starts = gz_check_alloc(p->check, (uint64_t)parts + 1, sizeof **starts);
  *corners = gz_check_alloc(p->check, p->triangle_count, 9 * sizeof **corners);
  if (at == NULL || *starts == NULL || *corners == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < p->triangle_count; i++) (*starts)[part_of(p, i) + 1]++;
  for (uint32_t k = 0; k < parts; k++) {
    (*starts)[k + 1] += (*starts)[k];
    at[k] = (*starts)[k];
  }
  for (uint32_t i = 0; i < p->triangle_count; i++)
    graze_mesh_get_triangle(p->mesh, i, *corners + 9 * at[part_of(p, i)]++);
  return GRAZE_OK;
}

/* The sides become the last objects, two for each place; the mesh's own object gets the rest, if there is any. */
static graze_status add_objects(self_places *p, uint32_t own) {
  graze_check *c = p->check;
  uint64_t *starts;
  double *corners;
  graze_status status = sort_triangles(p, &starts, &corners);
  for (uint32_t k = 0; k < 2 * p->count + 1 && status == GRAZE_OK; k++) {
    check_object object = c->objects[own];
    uint64_t triangles = starts[k + 1] - starts[k];
    if (k == 0 && triangles == 0) continue;
    status = add_part(p, corners + 9 * starts[k], triangles, &object);
    if (status == GRAZE_OK && k > 0) {
      object.name = gz_check_print(c, "%s/place %u%s", p->name, (k + 1) / 2, k % 2 == 1 ? "a" : "b");
      check_object *objects = gz_check_grow(c, c->objects, c->object_count, sizeof *objects);
      if (object.name == NULL || objects == NULL) return GRAZE_ERROR_MEMORY;
      c->objects = objects;
      c->objects[c->object_count++] = object;
    } else if (status == GRAZE_OK) {
      c->objects[own] = object;
    }
  }
  return status;
}

/* ---- clashes ----------------------------------------------------------------------------------------------- */

typedef struct outline { /* of a place; it grows */
  double (*points)[3];
  uint32_t *starts;
  uint32_t point_count, count;
} outline;

static bool add_point(graze_check *c, outline *o, graze_box *box, const double point[3]) {
  double(*points)[3] = gz_check_grow(c, o->points, o->point_count, sizeof *points);
  if (points == NULL) return false;
  o->points = points;
  for (int k = 0; k < 3; k++) {
    box->min[k] = fmin(box->min[k], point[k]);
    box->max[k] = fmax(box->max[k], point[k]);
  }
  memcpy(points[o->point_count++], point, sizeof points[0]);
  return true;
}

/* What two triangles share: a segment, or around an area. */
static graze_status add_shared(const self_places *p, const graze_triangle_pair *pair, outline *o,
                               graze_report_clash *clash) {
  double a[9], b[9];
  graze_intersection shared;
  graze_check *c = p->check;
  graze_mesh_get_triangle(p->mesh, pair->a, a);
  graze_mesh_get_triangle(p->mesh, pair->b, b);
  graze_status status = graze_tritri_intersection(a, b, &shared);
  if (status != GRAZE_OK) return status;
  graze_counts *counts = &clash->counts;
  bool flat = shared.summary.degenerate != 0;
  counts->triangle_pairs++;
  counts->degenerate += flat;
  counts->points += !flat && shared.summary.kind == GRAZE_KIND_POINT;
  counts->segments += !flat && shared.summary.kind == GRAZE_KIND_SEGMENT;
  counts->areas += !flat && shared.summary.kind == GRAZE_KIND_AREA;
  counts->coplanar += shared.summary.coplanar;
  counts->hash += graze_pair_hash(pair->a, pair->b);
  if (o->count == 0) o->starts = gz_check_grow(c, NULL, 0, sizeof *o->starts);
  uint32_t *starts = o->starts != NULL ? gz_check_grow(c, o->starts, o->count + 1, sizeof *starts) : NULL;
  if (starts == NULL) return GRAZE_ERROR_MEMORY;
  o->starts = starts;
  for (uint32_t i = 0; i < shared.count + (shared.count > 2); i++) {
    if (!add_point(c, o, &clash->box, shared.points[i % shared.count])) return GRAZE_ERROR_MEMORY;
  }
  o->starts[++o->count] = o->point_count;
  return GRAZE_OK;
}

static graze_status fill_places(const self_places *p, uint32_t first_object, graze_report_clash *clashes) {
  outline *outlines = gz_check_alloc(p->check, p->count, sizeof *outlines);
  graze_status status = outlines != NULL ? GRAZE_OK : GRAZE_ERROR_MEMORY;
  for (uint32_t k = 0; k < p->count && status == GRAZE_OK; k++) {
    const graze_counts none = {0};
    clashes[k] = gz_check_plain_clash(first_object + 2 * k, first_object + 2 * k + 1, GRAZE_CROSS, &none);
    clashes[k].box = graze_box_empty();
  }
  for (uint64_t i = 0; i < p->found->self_pairs && status == GRAZE_OK; i++) {
    const graze_triangle_pair *pair = &p->found->pairs[i];
    uint32_t place = (part_of(p, pair->a) - 1) / 2;
    status = add_shared(p, pair, &outlines[place], &clashes[place]);
  }
  for (uint32_t k = 0; k < p->count && status == GRAZE_OK; k++) {
    const outline *o = &outlines[k];
    clashes[k].curve_points = (const double(*)[3])o->points;
    clashes[k].curve_starts = o->starts;
    clashes[k].curve_count = o->count;
    memcpy(clashes[k].point, o->points[o->point_count / 2], sizeof clashes[k].point);
  }
  return status;
}

/* ---- the call ---------------------------------------------------------------------------------------------- */

static graze_status take_mesh(graze_check *c, uint32_t i, const graze_self_result *found) {
  if (found->self_pairs == 0) return GRAZE_OK;
  const check_object own = c->objects[i];
  self_places p = {
      .check = c, .mesh = c->meshes[own.mesh].mesh, .found = found, .name = own.name, .path = c->meshes[own.mesh].path};
  uint32_t first = c->object_count, before = c->report.clash_count;
  graze_status status = find_places(&p);
  if (status == GRAZE_OK) status = add_objects(&p, i);
  if (status != GRAZE_OK) return status;
  graze_report_clash *clashes = gz_check_alloc(c, (uint64_t)before + p.count, sizeof *clashes);
  if (clashes == NULL) return GRAZE_ERROR_MEMORY;
  if (before > 0) memcpy(clashes, c->clashes, before * sizeof *clashes);
  c->clashes = clashes;
  c->report.clash_count = before + p.count;
  return fill_places(&p, first, clashes + before);
}

graze_status graze_check_take_self(graze_check *c, const graze_self_result *results) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  if (results == NULL || c->scene != NULL || c->ran)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: no results, or it has run already");
  uint32_t meshes = c->object_count;
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < meshes; i++) {
    if (results[i].self_pairs > 0 && results[i].pairs == NULL)
      return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: the self pairs of %s are not listed",
                     c->objects[i].name);
  }
  for (uint32_t i = 0; i < meshes && status == GRAZE_OK; i++) status = take_mesh(c, i, &results[i]);
  return status == GRAZE_OK ? gz_check_record_finish_self(c) : status;
}
