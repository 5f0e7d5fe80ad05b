/* Parts by flooding through neighbours. Those that are closed bound material: where the winding number of all of them
 * is not zero, and where those that face either way enclose by parity. Its side of each part follows from the sign of
 * the part's volume and the winding number of the others around it, so that cavities, surfaces turned inside out and
 * shells within shells come out right; where that does not tell (`entangled`), no side is used. What is not closed is a
 * surface.
 */
#include "narrow/solid.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "exact/big.h"
#include "narrow/locate.h"

void gz_solid_destroy(const graze_context *context, solid *s) {
  if (s == NULL) return;
  gz_memory_release(context, s->part_of, s->triangle_count * sizeof *s->part_of);
  gz_memory_release(context, s->listed, s->triangle_count * sizeof *s->listed);
  gz_memory_release(context, s->parts, s->part_count * sizeof *s->parts);
  gz_memory_release(context, s->nonmanifold, s->nonmanifold_room * sizeof *s->nonmanifold);
  gz_memory_release(context, s, sizeof *s);
}

static void destroy_kept(const graze_context *context, mesh_kept *kept) {
  gz_solid_destroy(context, (solid *)kept);
}

solid *gz_solid_kept(const graze_mesh *mesh) {
  return (solid *)atomic_load(&mesh->kept);
}

void gz_solid_keep(const graze_context *context, const graze_mesh *mesh, solid *s) {
  mesh_kept *none = NULL;
  if (s == NULL || &s->kept == atomic_load(&mesh->kept)) return;
  /* What is kept is no part of what a mesh is: others see it as it was. */
  graze_mesh *keeper = (graze_mesh *)(uintptr_t)mesh;
  s->kept.destroy = destroy_kept;
  if (mesh->context != context || !atomic_compare_exchange_strong(&keeper->kept, &none, &s->kept))
    gz_solid_destroy(context, s);
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
  s->listed = gz_memory_alloc(context, bytes);
  s->part_of = gz_memory_alloc(context, bytes);
  if (s->listed == NULL || s->part_of == NULL) return gz_fail_memory(context, 2 * bytes);
  memset(s->part_of, 0xff, bytes);
  uint32_t count = 0, end = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    if (s->part_of[t] == NO_PART && !mesh_degenerate(mesh, t)) end = flood(mesh, s, t, count++, end);
  }
  if (count == 0) return GRAZE_OK;
  s->parts = gz_memory_alloc(context, count * sizeof *s->parts);
  if (s->parts == NULL) return gz_fail_memory(context, count * sizeof *s->parts);
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
  gz_big_from_double(&sum, 0);
  for (uint32_t i = s->parts[part].begin; i < s->parts[part].end; i++) {
    double c[9];
    mesh_corners(mesh, s->listed[i], c);
    for (int k = 0; k < 9; k++) gz_big_from_double(&x[k], c[k]);
    for (int k = 0; k < 3; k++) {
      int u = (k + 1) % 3, v = (k + 2) % 3;
      gz_big_mul(&p, &x[u], &x[3 + v]);
      gz_big_mul(&q, &x[v], &x[3 + u]);
      gz_big_sub(&p, &p, &q);
      gz_big_mul(&p, &p, &x[6 + k]);
      gz_big_add(&sum, &sum, &p);
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

/* The winding number that all other closed parts have around this one: at a corner that is on none of them, as parts
 * may share corners. *known is false when there is no such corner. */
static graze_status winding_of_others(graze_query *rays, const side *here, const solid *s, uint32_t part, int *winding,
                                      bool *known) {
  const part_filter others = {.shape = s, .skip = part};
  *winding = 0;
  *known = s->closed_count == 1;
  for (uint32_t i = s->parts[part].begin; i < s->parts[part].end && !*known; i++) {
    double corners[9];
    mesh_corners(here->mesh, s->listed[i], corners);
    for (int c = 0; c < 3 && !*known; c++) {
      location where;
      graze_status status = gz_locate(rays, here, corners + 3 * c, here, &others, GRAZE_T0, &where, winding);
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

/* Whether there are closed parts besides those of the same walls. */
static bool has_others(const solid *s, uint8_t walls) {
  for (uint32_t p = 0; p < s->part_count; p++) {
    const solid_part *part = &s->parts[p];
    if (part->fault == GRAZE_DOUBT_NONE && (!part->parity || part->walls != walls)) return true;
  }
  return false;
}

static void find_readings(solid *s) {
  for (uint32_t p = 0; p < s->part_count && !s->two_readings; p++) {
    const solid_part *part = &s->parts[p];
    bool first = part->fault == GRAZE_DOUBT_NONE && part->parity;
    if (first && (part->walls == 63 || has_others(s, part->walls))) s->two_readings = true;
    if (first) return;
  }
}

static void find_turns(const graze_mesh *mesh, solid *s) {
  int first = 0;
  s->one_way = true;
  for (uint32_t p = 0; p < s->part_count; p++) {
    if (s->parts[p].fault != GRAZE_DOUBT_NONE) continue;
    s->closed_count++;
    if (s->entangled) continue;
    int turn = s->parts[p].turn = volume_sign(mesh, s, p);
    if (turn == 0) s->entangled = true; /* folded flat, or with lobes that cancel */
    if (first == 0) first = turn;
    s->one_way &= turn == first;
  }
  s->one_way &= !s->entangled;
  find_readings(s);
}

/* Where nothing tells the side of a part, that of none is used. */
static graze_status find_sides(graze_query *rays, const graze_mesh *mesh, solid *s) {
  const side here = {mesh, graze_pose_identity(), true};
  simplicity simple = SIMPLE_YES;
  graze_status status = s->closed_count > 1 && !s->entangled ? gz_solid_simplicity(rays, mesh, s, &simple) : GRAZE_OK;
  for (uint32_t p = 0; p < s->part_count && status == GRAZE_OK && !s->entangled; p++) {
    if (s->parts[p].fault != GRAZE_DOUBT_NONE) continue;
    int around, turn = s->parts[p].turn;
    bool known;
    status = winding_of_others(rays, &here, s, p, &around, &known);
    if (!known) s->entangled = true;
    int within = around + turn;
    int behind = turn < 0 ? around : within, front = turn < 0 ? within : around;
    s->parts[p].side = material_of(behind, front, turn, simple == SIMPLE_YES);
  }
  if (s->entangled) atomic_store(&s->simple, SIMPLE_NOT_KNOWN);
  return status;
}

/* ---- what is not closed ---- */

/* The box grows by a part, or (`grow` false) whether it holds the part. */
static bool part_box(const graze_mesh *mesh, solid *s, const solid_part *part, bool grow) {
  bool within = true;
  for (uint32_t i = part->begin; i < part->end && within; i++) {
    double c[9];
    mesh_corners(mesh, s->listed[i], c);
    for (int k = 0; k < 9 && within; k++) {
      double *low = &s->open_min[k % 3], *high = &s->open_max[k % 3];
      if (grow) {
        *low = fmin(*low, c[k]);
        *high = fmax(*high, c[k]);
      }
      within = c[k] >= *low && c[k] <= *high;
    }
  }
  return within;
}

static void find_open_box(const graze_mesh *mesh, solid *s) {
  for (int k = 0; k < 3; k++) {
    s->open_min[k] = INFINITY;
    s->open_max[k] = -INFINITY;
  }
  for (uint32_t p = s->part_count; p-- > 0;) {
    if (s->parts[p].fault == GRAZE_DOUBT_NONE) continue;
    part_box(mesh, s, &s->parts[p], true);
    s->first_fault = p;
  }
  for (uint32_t p = 0; p < s->part_count && s->first_fault != NO_PART; p++) {
    solid_part *part = &s->parts[p];
    part->in_open_box = part->fault == GRAZE_DOUBT_NONE && part_box(mesh, s, part, false);
  }
}

/* Parts, and which of them are closed. */
static graze_status make_parts(const graze_context *context, const graze_mesh *mesh, solid **made) {
  solid *s = gz_memory_alloc(context, sizeof *s);
  if (s == NULL) return gz_fail_memory(context, sizeof *s);
  memset(s, 0, sizeof *s);
  s->triangle_count = mesh->triangle_count;
  s->first_fault = NO_PART;
  s->shared_edge = NO_TRIANGLE;
  graze_status status = mesh->triangle_count > 0 ? find_parts(context, mesh, s) : GRAZE_OK;
  if (status == GRAZE_OK) status = gz_solid_examine_edges(context, mesh, s);
  if (status != GRAZE_OK)
    gz_solid_destroy(context, s);
  else
    *made = s;
  return status;
}

graze_status gz_solid_create_parts(const graze_context *context, const graze_mesh *mesh, solid **made) {
  graze_status status = make_parts(context, mesh, made);
  if (status == GRAZE_OK) find_open_box(mesh, *made);
  return status;
}

graze_status gz_solid_create(graze_query *rays, const graze_mesh *mesh, solid **made) {
  solid *s;
  graze_status status = make_parts(rays->context, mesh, &s);
  if (status != GRAZE_OK) return status;
  find_turns(mesh, s);
  status = find_sides(rays, mesh, s);
  if (status != GRAZE_OK) {
    gz_solid_destroy(rays->context, s);
    return status;
  }
  find_open_box(mesh, s);
  *made = s;
  return GRAZE_OK;
}

static graze_status count_rules(const graze_context *context, const graze_mesh *mesh, void *user) {
  graze_solid_facts *facts = user;
  solid *s;
  graze_status status = make_parts(context, mesh, &s);
  if (status != GRAZE_OK) return status;
  *facts = (graze_solid_facts){0};
  for (uint32_t p = 0; p < s->part_count; p++) {
    if (s->parts[p].fault != GRAZE_DOUBT_NONE)
      facts->surface_parts++;
    else if (s->parts[p].parity)
      facts->parity_parts++;
    else
      facts->winding_parts++;
  }
  gz_solid_destroy(context, s);
  return GRAZE_OK;
}

graze_status graze_mesh_get_solid(graze_context *context, const graze_mesh *mesh, graze_solid_facts *facts) {
  if (context == NULL || mesh == NULL || facts == NULL) return gz_fail_null(context);
  return count_rules(context, mesh, facts);
}

graze_status graze_mesh_measure_solid(graze_context *context, const graze_mesh_def *def, graze_mesh_facts *facts,
                                      graze_solid_facts *of_parts) {
  if (of_parts == NULL) return gz_fail_null(context);
  return gz_mesh_measure(context, def, facts, count_rules, of_parts);
}

/* Of a mesh that meets itself in these pairs. Only closed parts matter; triangles of no area belong to none. Parts that
 * share an edge meet as well, which is no self-intersection of the mesh. */
static simplicity classify(solid *s, const graze_self_result *self) {
  uint32_t worst = s->shared_edge;
  simplicity found = worst == NO_TRIANGLE ? SIMPLE_YES : SIMPLE_UNION;
  for (uint64_t i = 0; i < self->self_pairs && found != SIMPLE_NO; i++) {
    uint32_t p = s->part_of[self->pairs[i].a], q = s->part_of[self->pairs[i].b];
    if (p == NO_PART || q == NO_PART) continue;
    if (s->parts[p].fault != GRAZE_DOUBT_NONE || s->parts[q].fault != GRAZE_DOUBT_NONE) continue;
    if (found == SIMPLE_YES || p == q) worst = self->pairs[i].a;
    found = p == q ? SIMPLE_NO : SIMPLE_UNION;
  }
  int turn = 0;
  for (uint32_t p = 0; p < s->part_count && found == SIMPLE_UNION; p++) {
    if (s->parts[p].fault != GRAZE_DOUBT_NONE) continue;
    if (turn == 0) turn = s->parts[p].turn;
    if (s->parts[p].turn != turn) found = SIMPLE_PARTS;
  }
  atomic_store(&s->tangled, worst);
  return found;
}

graze_status gz_solid_simplicity(graze_query *rays, const graze_mesh *mesh, solid *s, simplicity *out) {
  if (s->entangled) {
    *out = SIMPLE_NO;
    return GRAZE_OK;
  }
  if (atomic_load(&s->simple) == SIMPLE_NOT_KNOWN) {
    graze_collide_options options = graze_default_collide_options();
    graze_self_result self;
    graze_status status = graze_collide_self(rays, mesh, &options, &self);
    if (status != GRAZE_OK) return status;
    atomic_store(&s->simple, classify(s, &self));
  }
  *out = (simplicity)atomic_load(&s->simple);
  return GRAZE_OK;
}
