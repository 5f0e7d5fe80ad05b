/* Contacts of two bodies of which one is a mesh: several for a pair. */
#ifndef GRAZE_SRC_RIGID_PATCHES_H
#define GRAZE_SRC_RIGID_PATCHES_H

#include "rigid/rigid.h"

/* Whether the contacts of two are patches of surfaces. */
static inline bool rigid_are_meshed(const rigid_body *a, const rigid_body *b) {
  return a->shape == GRAZE_RIGID_MESH || (!b->is_wall && b->shape == GRAZE_RIGID_MESH);
}

/* Makes the surface of a body that is to meet a mesh, unless it is there. Errors: MEMORY. */
graze_status gz_rigid_need_surface(graze_rigid *world, rigid_body *body);

/* Appends the patches of a pair, at least one, which may have no points, to the worker's. `old`: those of the step
 * before, or one that says which bodies it is of; `margin` and `spare` as for gz_rigid_collide. Errors: MEMORY. */
graze_status gz_rigid_find_patches(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double margin,
                                   double spare, const rigid_contact *old, uint32_t old_count, rigid_worker *worker);

#endif
