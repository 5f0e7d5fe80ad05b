/* Operands of a relation: a solid and surfaces at a pose, made from a mesh. */
#include <math.h>

#include "base/context.h"
#include "exact/orient.h"
#include "geometry/pose.h"
#include "narrow/relate/steps.h"

/* The solid in the slot; made when it is empty. Several threads may ask at once: one's work is kept. */
static graze_status solid_of(graze_query *rays, const graze_mesh *mesh, _Atomic(solid *) *slot, solid **shape) {
  *shape = atomic_load(slot);
  if (*shape != NULL) return GRAZE_OK;
  solid *made = NULL;
  graze_status status = gz_solid_create(rays, mesh, &made);
  if (status != GRAZE_OK) return status;
  if (!atomic_compare_exchange_strong(slot, shape, made))
    gz_solid_destroy(rays->context, made);
  else
    *shape = made;
  return GRAZE_OK;
}

static int mirror(const graze_pose *pose) {
  const double zero[3] = {0, 0, 0};
  return gz_orient3d(zero, pose->m, pose->m + 4, pose->m + 8);
}

static graze_box find_open_box(const operand *o) {
  graze_box box;
  if (!o->invertible) return o->box;
  memcpy(box.min, o->shape->open_min, sizeof box.min);
  memcpy(box.max, o->shape->open_max, sizeof box.max);
  return o->place.identity || o->shape->first_fault == NO_PART ? box : graze_pose_box(&o->place.pose, &box);
}

/* Places for what is known of triangles: for each that meets, up to a number that caches hold. */
enum { FACTS_LEAST = 64, FACTS_MOST = 1 << 16 };

static graze_status make_facts(operand *o, graze_query *rays, int which, uint64_t count) {
  const uint64_t triangles = o->place.mesh->triangle_count, wanted = count < triangles ? count : triangles;
  uint32_t places = FACTS_LEAST;
  while (places < wanted && places < FACTS_MOST) places *= 2;
  const size_t bytes = places * sizeof *o->facts;
  if (!gz_buffer_reserve(rays->context, &rays->facts[which], bytes, 0)) return gz_fail_memory(rays->context, bytes);
  o->facts = rays->facts[which].data;
  o->facts_mask = places - 1;
  memset(o->facts, 0, bytes);
  return GRAZE_OK;
}

graze_status gz_operand_make(operand *o, graze_query *rays, int which, const relate_side *from, graze_open_rule rule,
                             uint64_t count) {
  buffer *met = &rays->met[which];
  solid *shape;
  graze_status status = solid_of(rays, from->place.mesh, from->slot, &shape);
  if (status != GRAZE_OK) return status;
  int sign = from->place.identity ? 1 : mirror(&from->place.pose);
  *o = (operand){.place = from->place,
                 .shape = shape,
                 .box = o->box,
                 .invertible = sign != 0,
                 .mirrored = sign < 0,
                 .strict = rule == GRAZE_OPEN_UNKNOWN,
                 .first_maybe_solid = NO_PART,
                 .ambiguous_edge = {NO_TRIANGLE, 0},
                 .first_distorted = NO_TRIANGLE,
                 .cached_triangle = NO_TRIANGLE};
  for (uint32_t p = 0; p < shape->part_count; p++) o->bounding += operand_bounds(o, p);
  o->open_box = find_open_box(o);
  if ((status = make_facts(o, rays, which, count)) != GRAZE_OK || shape->part_count == 0) return status;
  if (!gz_buffer_reserve(rays->context, met, shape->part_count, 0)) {
    return gz_fail_memory(rays->context, shape->part_count);
  }
  o->met = met->data;
  memset(o->met, 0, shape->part_count);
  return GRAZE_OK;
}

bool gz_operand_sticks_out(const operand *o, uint32_t part, const graze_box *box) {
  double c[9];
  for (uint32_t i = o->shape->parts[part].begin; i < o->shape->parts[part].end; i++) {
    gz_side_corners(&o->place, o->shape->listed[i], c);
    if (!in_box(box, c) || !in_box(box, c + 3) || !in_box(box, c + 6)) return true;
  }
  return false;
}
