/* What the neighbourhood of a contact says about the three sets: the common part, only a, only b. */
#ifndef GRAZE_SRC_NARROW_CONTACT_H
#define GRAZE_SRC_NARROW_CONTACT_H

#include "narrow/solid.h"
#include "narrow/spots.h"

/* Sets that are known to have an interior. A surface counts as having what lies beside it: `common` when some of it
 * lies in the other's interior, `only` when some lies outside of the other. */
typedef enum claim { CLAIM_COMMON = 1, CLAIM_ONLY_A = 2, CLAIM_ONLY_B = 4, CLAIM_ALL = 7 } claim;

/* Beside those: were the surfaces the boundaries of solids, as their triangles face, there would be a common part. */
enum { CLAIM_MAYBE_COMMON = 8 };

/* Whether the image of a triangle can be judged; found out once for those met lately. */
enum { JUDGED = 64 };
typedef struct judged {
  uint32_t triangle;
  bool any; /* the place is in use */
  bool straight;
} judged;

/* One object of a relation. */
typedef struct body {
  side place;
  solid *shape;
  bool closed;           /* a solid at this pose */
  bool mirrored;         /* the pose turns orientation round */
  graze_doubt fault;     /* of a body that is not closed */
  uint8_t *met;          /* of each part: it meets the other along a segment */
  bool unclear_edges;    /* met along an edge whose other triangles are not known */
  uint32_t stands;       /* a: the triangle whose points stand in the set, or NO_TRIANGLE */
  bool bent;             /* met where rounding has flattened or folded its image */
  judged judged[JUDGED]; /* by the low bits of the triangle's number */
} body;

/* What the contact of triangle i of a and triangle j of b claims. `set` is scratch; it keeps triangle a->stands of a
 * from call to call, as pairs come sorted. Pairs that meet in a point only claim nothing: what lies there is seen
 * elsewhere. */
unsigned contact_claims(spots *set, body *a, uint32_t i, body *b, uint32_t j);

#endif
