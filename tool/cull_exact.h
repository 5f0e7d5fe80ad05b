/* cull_exact.h: what a cull has left, held against the exact answer. */
#ifndef TOOL_CULL_EXACT_H
#define TOOL_CULL_EXACT_H

#include "graze/report.h"
#include "graze/visibility.h"

typedef struct cull_exact {
  uint64_t missed_pairs;      /* of objects whose surfaces meet, that are not left */
  uint64_t missed_triangles;  /* over all pairs that meet: triangles that meet the other object and are not left */
  uint64_t superfluous_pairs; /* that are left and do not meet */
  uint64_t differing_pairs;   /* whose decided pairs of triangles are not those of the exact answer */
  double seconds;             /* that finding the exact answer took, with meshes that are baked */
} cull_exact;

/* The objects are those of the report, with meshes. `contacts`: NULL when nothing was decided. One object alone is held
 * against itself: then the only pair is its own. A failure ends the program. */
cull_exact cull_hold_against_exact(graze_context *context, const graze_report *all, const graze_visibility_result *left,
                                   const graze_visibility_contacts *contacts);

#endif
