/* Cutting solid hulls, for what joins the fragments again. */
#ifndef GRAZE_SRC_CONVEX_CUT_H
#define GRAZE_SRC_CONVEX_CUT_H

#include "graze/convex.h"

/* Where edges are cut. FREE: anywhere between 3/8 and 5/8. EVEN: at sixteenths between these, so that the new corner
 * lies on its edge exactly as long as there are bits. */
typedef enum cut_places { CUT_FREE, CUT_EVEN } cut_places;

/* graze_hull_cut, of arguments that have been checked for NULL. */
graze_status gz_hull_cut(graze_context *context, const graze_hull *hull, uint32_t count, uint64_t seed,
                         cut_places places, graze_fragments **fragments);

#endif
