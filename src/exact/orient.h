/* Orientation predicates: the sign is right for every finite double.
 *
 * Ladder: a floating-point filter with a proved error bound; expansions (Shewchuk 1997), exact while no product can
 * underflow or overflow; integers of any length for the rest (subnormals, 1e300).
 */
#ifndef GRAZE_SRC_EXACT_ORIENT_H
#define GRAZE_SRC_EXACT_ORIENT_H

#include <stdbool.h>

#include "exact/wide.h"

/* Sign (-1, 0, 1) of det[b - a, c - a, d - a]: positive when a, b, c turn counterclockwise seen from d's side, that is
 * when d lies on the side to which (b - a) x (c - a) points. */
int gz_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Sign of the 2x2 determinant [b - a, c - a] of the projections that drop axis `axis` (the two others taken in cyclic
 * order: axis 2 leaves x, y). Positive: counterclockwise. */
int gz_orient2d(int axis, const double a[3], const double b[3], const double c[3]);

/* The same of vectors in pairs of doubles, by expansions: b - a, c - a and d - a; in two dimensions b - a and c - a.
 * Not `usable` where a part is not zero and beyond 2^-200 or 2^300. */
int gz_orient3d_pairs(const wide u[3], const wide v[3], const wide w[3], bool *usable);
int gz_orient2d_pairs(const wide u[2], const wide v[2], bool *usable);

/* The two last stages alone, for tests. */
int gz_orient3d_expansion(const double a[3], const double b[3], const double c[3], const double d[3], bool *usable);
int gz_orient3d_integer(const double a[3], const double b[3], const double c[3], const double d[3]);
int gz_orient2d_expansion(int axis, const double a[3], const double b[3], const double c[3], bool *usable);
int gz_orient2d_integer(int axis, const double a[3], const double b[3], const double c[3]);

#endif
