/* graze/mass.h: mass, centre of mass and inertia of solids.
 *
 * Units are the caller's, as long as they agree. A tensor of inertia is six numbers, xx yy zz xy xz yz, the entries of
 * the symmetric matrix: xx is the integral of density (y^2 + z^2), xy that of -density x y.
 */
#ifndef GRAZE_MASS_H
#define GRAZE_MASS_H

#include "graze/base.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_mass {
  double volume;
  double mass;
  double center[3];  /* of mass */
  double inertia[6]; /* about the center, along the axes of the shape's own coordinates */
} graze_mass;

/* Of the volume of a closed mesh whose triangles face outward, filled evenly. Cavities are parts that face inward; what
 * several parts enclose counts as often. Each number is within 1e-15 of the largest of its kind, however far from the
 * origin the mesh stands and however thin it is: sums are those of pairs of doubles, about the middle of the mesh
 * (divergence theorem; Tonon 2004 for the moments of a tetrahedron). Errors: ARGUMENT (the density is not above 0),
 * UNSUPPORTED (the mesh has no inside; the message says why: open edges, edges of three or more triangles, triangles
 * that face either way, inside out, no volume), NOT_FINITE (a result is too large or too small). O(n), on all threads.
 */
GRAZE_API graze_status graze_mesh_get_mass(graze_context *context, const graze_mesh *mesh, double density,
                                           graze_mass *mass);

/* Of solids about the origin; a length l is along z, and a capsule's is that of its axis, without the caps. Errors:
 * ARGUMENT (a length that is not finite and above 0; l of a capsule may be 0). O(1). */
GRAZE_API graze_status graze_sphere_get_mass(graze_context *context, double radius, double density, graze_mass *mass);
GRAZE_API graze_status graze_box_get_mass(graze_context *context, const double edges[3], double density,
                                          graze_mass *mass);
GRAZE_API graze_status graze_capsule_get_mass(graze_context *context, double radius, double length, double density,
                                              graze_mass *mass);
GRAZE_API graze_status graze_cylinder_get_mass(graze_context *context, double radius, double length, double density,
                                               graze_mass *mass);

/* Adds what is at a pose, which must be rigid: compounds. `sum` may be all zero. Errors: ARGUMENT, POSE. */
GRAZE_API graze_status graze_mass_add(graze_context *context, graze_mass *sum, const graze_mass *part,
                                      const graze_pose *pose);

/* The moments about the principal axes, ascending, and these: axes[3 k] to axes[3 k + 2] is a unit vector, and the
 * three are right-handed. Jacobi's rotations, which need square roots only. False: no body can have this inertia, whose
 * moments are above 0 and of which none is more than the sum of the others, to 1e-9. */
GRAZE_API bool graze_inertia_find_axes(const double inertia[6], double moments[3], double axes[9]);

#ifdef __cplusplus
}
#endif
#endif
