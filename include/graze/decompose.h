/* graze/decompose.h: a solid as convex parts, with a proved error.
 *
 * Parts hold the solid and stick out of it by no more than the error. They serve where shapes have to be convex, as the
 * parts of a compound (graze/rigid.h) or in other programs; Graze itself takes meshes as they are.
 */
#ifndef GRAZE_DECOMPOSE_H
#define GRAZE_DECOMPOSE_H

#include "graze/base.h"
#include "graze/convex.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_decompose_options {
  double error;        /* that is wanted, a length above 0; default 0: a hundredth of the diagonal of the mesh's box */
  uint32_t most_parts; /* at least 1; default 64 */
  bool rigid;          /* parts that graze_rigid_add_body takes: at most 256 corners and faces, of 32 corners each */
  uint32_t cookie;
} graze_decompose_options;

GRAZE_API graze_decompose_options graze_default_decompose_options(void);

/* For reading only. The boxes of parts along the axes have no inside in common, so parts have none either. */
typedef struct graze_decomposition {
  uint32_t count;
  const graze_hull *const *parts; /* [count], solid, in rising order of the lower corners of their boxes */
  const double *errors;           /* [count]: no point of the part is farther from the solid or its surface, proved */
  const double *volumes;          /* [count] */
  double error;                   /* the largest of them */
  bool reached;                   /* what was wanted of error and parts; false: most_parts are too few for it */
} graze_decomposition;

/* Parts of the solid that a closed mesh bounds (where its winding number is not 0). Together they hold it, but for
 * the rounding of corners where the surface was cut, and but for what has no volume. Of the ways to cut a piece along
 * the axes that one is taken after which the hulls are smallest; the worst piece is cut first; what need not have been
 * cut is joined. An error is proved by boxes that cover the part, small enough for the distance of their middles from
 * the solid to say enough. The same bytes for any number of threads and instruction set.
 *
 * About 40 hulls of all corners for each part and area / error^2 distances; growing with the number of parts. Errors:
 * ARGUMENT, NOT_FINITE (of the error), UNSUPPORTED (the mesh has no inside; the message says why), LIMIT (the error
 * wanted is below some 6000th of the square root of the solid's area), MEMORY. Release it with
 * graze_decomposition_destroy, which takes NULL too.
 *
 * Compare K. Mamou, F. Ghorbel, "A simple and efficient approach for 3D mesh approximate convex decomposition", 2009;
 * X. Wei, M. Liu, Z. Ling, H. Su, "Approximate convex decomposition for 3D meshes with collision-aware concavity and
 * tree search", 2022, whose errors are samples. */
GRAZE_API graze_status graze_mesh_decompose(graze_context *context, const graze_mesh *mesh,
                                            const graze_decompose_options *options,
                                            graze_decomposition **decomposition);
GRAZE_API void graze_decomposition_destroy(graze_decomposition *decomposition);

#ifdef __cplusplus
}
#endif
#endif
