/* Contacts of two bodies of which one is a compound: those of their parts. */
#ifndef GRAZE_SRC_RIGID_COMPOUNDS_H
#define GRAZE_SRC_RIGID_COMPOUNDS_H

#include "rigid/rigid.h"

static inline bool rigid_are_compound(const rigid_body *a, const rigid_body *b) {
  return a->part_count > 0 || b->part_count > 0;
}

/* As gz_rigid_find_patches; in the order of the parts, those without points last. Errors: MEMORY. O(p q) boxes of p and
 * q parts, and what the pairs cost whose boxes meet. */
graze_status gz_rigid_find_part_patches(const graze_rigid *world, const rigid_body *a, const rigid_body *b,
                                        double margin, double spare, const rigid_contact *old, uint32_t old_count,
                                        rigid_worker *worker);

/* Of patches no more than there is room for: the deepest, in their order. Returns how many. */
size_t gz_rigid_keep_deepest(rigid_contact *found, size_t count, size_t room);

#endif
