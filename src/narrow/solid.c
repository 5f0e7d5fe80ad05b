/* Parts by flooding through neighbours; the side of the material from the sign of each part's volume and the winding
 * number of the other parts around it, so that cavities, surfaces turned inside out and shells within shells come out
 * right. Material is where the winding number is not zero.
 */
#include "narrow/solid.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "exact/big.h"
#include "narrow/locate.h"

void solid_destroy(const graze_context *context, solid *s) {
  if (s == NULL) return;
  memory_release(context, s->part_of, s->triangle_count * sizeof *s->part_of);
  memory_release(context, s->listed, s->triangle_count * sizeof *s->listed);
  memory_release(context, s->parts, s->part_count * sizeof *s->parts);
  memory_release(context, s, sizeof *s);
}

/* ---- the fault of a mesh that is no solid ---- */

void solid_edge_middle(const graze_mesh *mesh, uint32_t triangle, int edge, double out[3]) {
  double c[9];
  mesh_corners(mesh, triangle, c);
  for (int k = 0; k < 3; k++) out[k] = 0.5 * c[3 * edge + k] + 0.5 * c[(3 * edge + 3) % 9 + k];
}

/* The same direction through both triangles: corner positions of the edge in order. */
static bool misoriented(const graze_mesh *mesh, uint32_t t, int edge, uint32_t other) {
  double c[9], d[9];
  mesh_corners(mesh, t, c);
  mesh_corners(mesh, other, d);
  const double *p = c + 3 * edge, *q = c + (3 * edge + 3) % 9;
  for (int e = 0; e < 9; e += 3) {
    const double *u = d + e, *v = d + (e + 3) % 9;
    if (p[0] == u[0] && p[1] == u[1] && p[2] == u[2] && q[0] == v[0] && q[1] == v[1] && q[2] == v[2]) return true;
  }
  return false;
}

static void find_fault(const graze_mesh *mesh, solid *s) {
  const mesh_header *h = mesh->header;
  s->fault = !h->adjacency              ? GRAZE_DOUBT_NO_ADJACENCY
             : h->open_edges > 0        ? GRAZE_DOUBT_OPEN
             : h->nonmanifold_edges > 0 ? GRAZE_DOUBT_NONMANIFOLD
             : !h->oriented             ? GRAZE_DOUBT_MISORIENTED
                                        : GRAZE_DOUBT_SELF_INTERSECTING;
  if (mesh->neighbours == NULL) return;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    if (mesh_degenerate(mesh, t)) continue;
    for (int e = 0; e < 3; e++) {
      uint32_t other = mesh->neighbours[3 * (size_t)t + (size_t)e];
      bool alone = s->fault == GRAZE_DOUBT_OPEN || s->fault == GRAZE_DOUBT_NONMANIFOLD;
      bool fault = alone ? other == NO_TRIANGLE : other != NO_TRIANGLE && misoriented(mesh, t, e, other);
      if (!fault) continue;
      solid_edge_middle(mesh, t, e, s->fault_point);
      return;
    }
  }
}

/* ---- parts ---- */

/* Lists the part of triangle `start` from place `end` on; returns where the list ends. */
static uint32_t flood(const graze_mesh *mesh, solid *s, uint32_t start, uint32_t part, uint32_t end) {
  uint32_t next = end;
  s->listed[end++] = start;
  s->part_of[start] = part;
  while (next < end) {
    uint32_t t = s->listed[next++];
    for (size_t e = 0; e < 3 && mesh->neighbours != NULL; e++) {
      uint32_t other = mesh->neighbours[3 * (size_t)t + e];
      if (other == NO_TRIANGLE || s->part_of[other] != NO_PART) continue;
      s->part_of[other] = part;
      s->listed[end++] = other;
    }
  }
  return end;
}

static graze_status find_parts(const graze_context *context, const graze_mesh *mesh, solid *s) {
  size_t bytes = (size_t)mesh->triangle_count * sizeof(uint32_t);
  s->listed = memory_alloc(context, bytes);
  s->part_of = memory_alloc(context, bytes);
  if (s->listed == NULL || s->part_of == NULL) return report_memory(context, 2 * bytes);
  memset(s->part_of, 0xff, bytes);
  uint32_t count = 0, end = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    if (s->part_of[t] == NO_PART && !mesh_degenerate(mesh, t)) end = flood(mesh, s, t, count++, end);
  }
  if (count == 0) return GRAZE_OK;
  s->parts = memory_alloc(context, count * sizeof *s->parts);
  if (s->parts == NULL) return report_memory(context, count * sizeof *s->parts);
  s->part_count = count;
  for (uint32_t p = 0, next = 0; p < count; p++) {
    solid_part *part = &s->parts[p];
    *part = (solid_part){.begin = next, .side = MATERIAL_BEHIND};
    while (next < end && s->part_of[s->listed[next]] == p) next++;
    part->end = next;
  }
  return GRAZE_OK;
}

/* ---- sides ---- */

/* Sum of |terms| and of terms of six times the volume below a part's triangles, seen from one of its corners. */
typedef struct volume_sum {
  double origin[3];
  double sum, size;
  uint64_t terms;
} volume_sum;

static void add_volume(volume_sum *v, const double c[9]) {
  double u[9];
  for (int k = 0; k < 9; k++) u[k] = c[k] - v->origin[k % 3];
  double term[3], size = 0;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    term[k] = (u[i] * u[3 + j] - u[j] * u[3 + i]) * u[6 + k];
    size += (fabs(u[i] * u[3 + j]) + fabs(u[j] * u[3 + i])) * fabs(u[6 + k]);
  }
  v->sum += term[0] + term[1] + term[2];
  v->size += size;
  v->terms++;
}

/* Exact, for what rounding leaves open. */
static int volume_sign_exact(const graze_mesh *mesh, const solid *s, uint32_t part) {
  big sum, x[9], p, q;
  big_from_double(&sum, 0);
  for (uint32_t i = s->parts[part].begin; i < s->parts[part].end; i++) {
    double c[9];
    mesh_corners(mesh, s->listed[i], c);
    for (int k = 0; k < 9; k++) big_from_double(&x[k], c[k]);
    for (int k = 0; k < 3; k++) {
      int u = (k + 1) % 3, v = (k + 2) % 3;
      big_mul(&p, &x[u], &x[3 + v]);
      big_mul(&q, &x[v], &x[3 + u]);
      big_sub(&p, &p, &q);
      big_mul(&p, &p, &x[6 + k]);
      big_add(&sum, &sum, &p);
    }
  }
  return sum.sign;
}

/* Each difference carries one rounding, each product two more, each sum one for every term before it. */
static int volume_sign(const graze_mesh *mesh, const solid *s, uint32_t part) {
  volume_sum v = {.terms = 0};
  for (uint32_t i = s->parts[part].begin; i < s->parts[part].end; i++) {
    double c[9];
    mesh_corners(mesh, s->listed[i], c);
    if (v.terms == 0) memcpy(v.origin, c, sizeof v.origin);
    add_volume(&v, c);
  }
  double bound = v.size * ((double)v.terms + 16) * 0x1p-52;
  if (v.size > 1e-200 && v.size < 1e200 && fabs(v.sum) > bound) return v.sum > 0 ? 1 : -1;
  return volume_sign_exact(mesh, s, part);
}

/* The winding number that all other parts have around this one: at a corner that is on none of them, as parts may share
 * corners. *known is false when there is no such corner. */
static graze_status winding_of_others(graze_query *rays, const side *here, const solid *s, uint32_t part, int *winding,
                                      bool *known) {
  const part_filter others = {s->part_of, part};
  *winding = 0;
  *known = s->part_count == 1;
  for (uint32_t i = s->parts[part].begin; i < s->parts[part].end && !*known; i++) {
    double corners[9];
    mesh_corners(here->mesh, s->listed[i], corners);
    for (int c = 0; c < 3 && !*known; c++) {
      location where;
      graze_status status = locate(rays, here, corners + 3 * c, here, &others, GRAZE_T0, &where, winding);
      if (status != GRAZE_OK) return status;
      *known = where == LOCATION_IN || where == LOCATION_OUT;
    }
  }
  return GRAZE_OK;
}

/* From the winding numbers on either side. Of parts that cross each other none is within material whole: each bounds
 * something. */
static material material_of(int behind, int front, int turn, bool simple) {
  if (behind != 0 && front != 0 && simple) return MATERIAL_BOTH;
  if (behind != 0 && front != 0) return turn > 0 ? MATERIAL_BEHIND : MATERIAL_IN_FRONT;
  return front != 0 ? MATERIAL_IN_FRONT : MATERIAL_BEHIND;
}

static graze_status find_sides(graze_query *rays, const graze_mesh *mesh, solid *s) {
  const side here = {mesh, graze_pose_identity(), true};
  simplicity simple = SIMPLE_YES;
  for (uint32_t p = 0; p < s->part_count; p++) {
    s->parts[p].turn = volume_sign(mesh, s, p);
    s->closed &= s->parts[p].turn != 0; /* folded flat, or lobes that cancel: nothing says which side is inside */
  }
  if (!s->closed) return GRAZE_OK;
  graze_status status = s->part_count > 1 ? solid_simplicity(rays, mesh, s, &simple) : GRAZE_OK;
  for (uint32_t p = 0; p < s->part_count && status == GRAZE_OK && s->closed; p++) {
    bool known;
    int around, turn = s->parts[p].turn;
    status = winding_of_others(rays, &here, s, p, &around, &known);
    int within = around + turn;
    int behind = turn < 0 ? around : within, front = turn < 0 ? within : around;
    s->parts[p].side = material_of(behind, front, turn, simple == SIMPLE_YES);
    s->closed &= known;
  }
  return status;
}

graze_status solid_create(graze_query *rays, const graze_mesh *mesh, solid **made) {
  solid *s = memory_alloc(rays->context, sizeof *s);
  if (s == NULL) return report_memory(rays->context, sizeof *s);
  memset(s, 0, sizeof *s);
  s->triangle_count = mesh->triangle_count;
  s->closed = mesh->header->adjacency && mesh->header->closed && mesh->header->oriented;
  graze_status status = mesh->triangle_count > 0 ? find_parts(rays->context, mesh, s) : GRAZE_OK;
  if (status == GRAZE_OK && s->closed && s->part_count > 0) status = find_sides(rays, mesh, s);
  if (status != GRAZE_OK) {
    solid_destroy(rays->context, s);
    return status;
  }
  if (mesh->triangle_count > 0) solid_edge_middle(mesh, 0, 0, s->fault_point);
  if (!s->closed) find_fault(mesh, s);
  *made = s;
  return GRAZE_OK;
}

/* Of a mesh that meets itself in these pairs. Triangles of no area belong to no surface. */
static simplicity classify(solid *s, const graze_self_collision *self) {
  simplicity found = SIMPLE_YES;
  uint32_t worst = NO_TRIANGLE;
  for (uint64_t i = 0; i < self->self_pairs && found != SIMPLE_NO; i++) {
    uint32_t p = s->part_of[self->pairs[i].a], q = s->part_of[self->pairs[i].b];
    if (p == NO_PART || q == NO_PART) continue;
    if (found == SIMPLE_YES || p == q) worst = self->pairs[i].a;
    found = p == q ? SIMPLE_NO : SIMPLE_UNION;
  }
  for (uint32_t p = 1; p < s->part_count && found == SIMPLE_UNION; p++) {
    if (s->parts[p].turn != s->parts[0].turn) found = SIMPLE_NO;
  }
  atomic_store(&s->tangled, worst);
  return found;
}

graze_status solid_simplicity(graze_query *rays, const graze_mesh *mesh, solid *s, simplicity *out) {
  if (atomic_load(&s->simple) == SIMPLE_NOT_KNOWN) {
    graze_collide_options options = graze_default_collide_options();
    graze_self_collision self;
    graze_status status = graze_collide_self(rays, mesh, &options, &self);
    if (status != GRAZE_OK) return status;
    atomic_store(&s->simple, classify(s, &self));
  }
  *out = (simplicity)atomic_load(&s->simple);
  return GRAZE_OK;
}
