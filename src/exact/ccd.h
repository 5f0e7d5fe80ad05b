/* Continuous collision of points that move straight: when do a vertex and a face, or two edges, first meet?
 *
 * Four points, each on a straight line from its place at t = 0 to that at t = 1. All sets are closed, and faces and
 * edges may be degenerate, for a moment or for ever. The features can meet only when the four points are coplanar,
 * which they are at the roots of a cubic. At a root the signs of quadratics decide: of orientations in a projection in
 * which the plane is not a line. Where the cubic vanishes identically a first contact is one of a vertex and an edge,
 * at a root of a quadratic; and where three points are always on a line, it is one of two points.
 */
#ifndef GRAZE_SRC_EXACT_CCD_H
#define GRAZE_SRC_EXACT_CCD_H

#include <stdbool.h>
#include <stddef.h>

#include "graze/motion.h"

/* Numbers of the exact stage: a megabyte, of which ordinary input touches little. */
typedef struct ccd_scratch ccd_scratch;
size_t gz_ccd_scratch_size(void);

/* Whether they meet for a t of [0, 1]; time[0] and time[1] are then the largest double not above the first such t and
 * the smallest not below it. Exact for all finite doubles: integers throughout. */
bool gz_ccd_exact(const graze_ccd_query *query, ccd_scratch *scratch, double time[2]);

/* Decides a query of finite numbers by the filter or else exactly, with scratch that is made when it is first needed;
 * to be released with gz_ccd_release. False: memory was refused. */
bool gz_ccd_decide(const graze_context *context, const graze_ccd_query *query, ccd_scratch **scratch,
                   graze_ccd_result *result);
void gz_ccd_release(const graze_context *context, ccd_scratch *scratch);

#endif
