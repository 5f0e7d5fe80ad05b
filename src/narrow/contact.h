/* What the neighbourhood of a contact says about the three sets: the common part, only a, only b. */
#ifndef GRAZE_SRC_NARROW_CONTACT_H
#define GRAZE_SRC_NARROW_CONTACT_H

#include "narrow/solid.h"
#include "narrow/spots.h"

/* Sets that are known to have an interior. A surface counts as having what lies beside it: `common` when some of it
 * lies in the other's interior, `only` when some lies outside of the other. */
typedef enum claim { CLAIM_COMMON = 1, CLAIM_ONLY_A = 2, CLAIM_ONLY_B = 4, CLAIM_ALL = 7 } claim;

/* Beside those: surface goes through surface, which is sure whatever the solids are. */
enum { CLAIM_SURE = 8 };

/* Whether the image of a triangle can be judged; found out once for those met lately. */
enum { JUDGED = 64 };
typedef struct judged {
  uint32_t triangle;
  bool any; /* the place is in use */
  bool straight;
} judged;

/* One object of a relation: the solid of its closed parts, and surfaces. */
typedef struct body {
  side place;
  solid *shape;
  bool upright;          /* the pose is not singular: closed parts bound material */
  bool strict;           /* not those that may be cavities of open parts */
  bool mirrored;         /* the pose turns orientation round */
  uint32_t bounding;     /* number of parts that bound material here */
  uint8_t *met;          /* of each part: it meets the other's solid along a segment */
  bool pierces;          /* a surface of it is inside of the other's solid, or goes through another surface */
  uint32_t maybe;        /* the first surface that bounds a common part, were it a solid's boundary; or NO_PART */
  edge_place unclear;    /* met along an edge where several surfaces may go on, the first; triangle NO_TRIANGLE: none */
  uint32_t stands;       /* a: the triangle whose points stand in the set, or NO_TRIANGLE */
  uint32_t bent;         /* met where rounding has flattened or folded its image: a triangle, or NO_TRIANGLE */
  judged judged[JUDGED]; /* by the low bits of the triangle's number */
} body;

/* Whether a part bounds material of the body. */
static inline bool body_bounds(const body *b, uint32_t part) {
  return b->upright && part_bounds(&b->shape->parts[part], b->strict);
}

/* What the contact of triangle i of a and triangle j of b claims. `set` is scratch; it keeps triangle a->stands of a
 * from call to call, as pairs come sorted. Pairs that meet in a point only claim nothing: what lies there is seen
 * elsewhere. */
unsigned gz_contact_claims(spots *set, body *a, uint32_t i, body *b, uint32_t j);

#endif
