/* The steps from triangle pairs to a relation, and what passes between them.
 *
 *     step            looks at                                         gives
 *     meetings.c      triangles that meet                              claims
 *     parts.c         parts of a surface that the other does not cut   claims with their proof
 *     proof.c         claims that a self-intersection may have faked   their proof, or a doubt
 *     cells.c         the same, where corners do not prove them        all of the evidence anew
 *     open_parts.c    parts that are not closed                        doubts
 *     verdict.c       evidence and doubts                              the relation
 *
 * Evidence only grows, but where proof.c says otherwise. Of doubts the first of each severity is kept.
 */
#ifndef GRAZE_SRC_NARROW_RELATE_STEPS_H
#define GRAZE_SRC_NARROW_RELATE_STEPS_H

#include <string.h>

#include "narrow/locate.h"
#include "narrow/predicate_points.h"
#include "narrow/relate.h"

/* ---- evidence -------------------------------------------------------------------------------------------------- */

/* The three sets that a relation follows from: what the objects have in common, what only a has, what only b has. A
 * surface counts as having what lies beside it: `common` when some of it lies in the other's interior, `only` when some
 * lies outside of the other. Several sets are a sum of bits. */
enum { SET_COMMON = 1, SET_ONLY_A = 2, SET_ONLY_B = 4, SETS_ALL = 7, SETS = 3 };

/* Beside those bits: surface goes through surface, which is sure whatever the solids are. */
enum { SETS_SURE = 8 };

/* That a set has an interior. */
typedef enum evidence {
  EVIDENCE_NONE,
  EVIDENCE_CLAIMED, /* by the wedges next to a meeting, which are all of a solid there only if it is simple */
  EVIDENCE_PROVED
} evidence;

typedef enum severity {
  SEVERITY_WRONG,   /* evidence may be wrong */
  SEVERITY_LACKING, /* a part could not be placed: evidence may lack a set. None is lacking once there are all three */
  SEVERITY_MEANING, /* an open part may be meant as more than a surface */
  SEVERITIES
} severity;

typedef struct doubt {
  graze_doubt what;
  int whose; /* 0: a, 1: b is at fault, */
  edge_place at;
} doubt;

typedef struct findings {
  evidence of[SETS]; /* by bit */
  doubt doubts[SEVERITIES];
  bool surfaces_cross; /* surface goes through surface */
} findings;

static inline unsigned set_only(int which) {
  return which == 0 ? SET_ONLY_A : SET_ONLY_B;
}

static inline unsigned sets_with(const findings *f, evidence least) {
  unsigned sets = 0;
  for (int k = 0; k < SETS; k++) sets |= (unsigned)(f->of[k] >= least) << k;
  return sets;
}

static inline bool all_claimed(const findings *f) {
  return sets_with(f, EVIDENCE_CLAIMED) == SETS_ALL;
}

static inline void raise_evidence(findings *f, unsigned sets, evidence to) {
  for (int k = 0; k < SETS; k++) {
    if ((sets >> k & 1) != 0 && f->of[k] < to) f->of[k] = to;
  }
}

static inline void add_doubt(findings *f, severity how, graze_doubt what, int whose, edge_place at) {
  if (f->doubts[how].what == GRAZE_DOUBT_NONE) f->doubts[how] = (doubt){what, whose, at};
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

/* A proper triangle seen along an axis that keeps its area, and which way it turns there. */
typedef struct flat_view {
  int16_t axis;
  int16_t turn; /* 0: not looked at */
} flat_view;

/* What has been found out about a triangle, each when it was first asked for. */
typedef enum fact { FACT_JUDGED = 1, FACT_STRAIGHT = 2, FACT_FLAT = 4, FACT_ANY = 8 } fact;
typedef struct triangle_facts {
  uint32_t triangle;
  uint8_t known; /* FACT_STRAIGHT: its image can be judged, which FACT_JUDGED says is known */
  uint8_t flat;  /* FACT_FLAT: across edge e, bit e, the surface plainly goes on in the triangle's own plane */
  flat_view view;
  uint8_t claims[2][3]; /* of edges against a half-space, which has its material where this one has it: [1] */
} triangle_facts;

/* In claims: these are known. */
enum { CLAIMS_KNOWN = 16 };

/* One object of a relation: the solid of its closed parts, and surfaces. */
typedef struct operand {
  side place;
  solid *shape;
  graze_box box;      /* in the world */
  graze_box open_box; /* around what is not closed; min > max: all is */
  bool invertible;    /* the pose is not singular: closed parts bound material */
  bool strict;        /* not those that may be cavities of open parts */
  bool mirrored;      /* the pose turns orientation round */
  uint32_t bounding;  /* number of parts that bound material here */

  /* What meetings have shown. */
  uint8_t *met;               /* of each part: it meets the other's solid along a segment */
  bool unplaced;              /* such a part of which a few corners do not tell where it lies */
  bool pierces;               /* a surface of it is inside of the other's solid, or goes through another surface */
  uint32_t first_maybe_solid; /* a surface that bounds a common part, were it a solid's boundary; or NO_PART */
  edge_place ambiguous_edge;  /* met along it, and several surfaces may go on there, the first; or NO_TRIANGLE */
  unsigned seen;              /* a: the sets that meetings have claimed */
  uint32_t first_distorted;   /* a triangle met where rounding has flattened or folded its image; or NO_TRIANGLE */

  /* Kept from meeting to meeting. */
  uint32_t cached_triangle; /* whose points are in the set, or NO_TRIANGLE */
  triangle_facts *facts;    /* of those met lately, by the low bits of their numbers */
  uint32_t facts_mask;
} operand;

typedef struct operands {
  graze_query *rays;
  graze_exactness exactness;
  operand of[2]; /* a, b */
} operands;

/* Whether a part bounds material of the operand. */
static inline bool operand_bounds(const operand *o, uint32_t part) {
  return o->invertible && part_bounds(&o->shape->parts[part], o->strict);
}

static inline bool has_surfaces(const operand *o) {
  return !o->invertible || o->shape->first_fault != NO_PART;
}

/* Of solid and surfaces: what its surfaces would add to its solid is not known. */
static inline bool is_mixed(const operand *o) {
  return has_surfaces(o) && o->bounding > 0;
}

static inline bool in_box(const graze_box *box, const double p[3]) {
  for (int k = 0; k < 3; k++) {
    if (!(p[k] >= box->min[k] && p[k] <= box->max[k])) return false;
  }
  return true;
}

/* The first edge of a part. */
static inline edge_place part_place(const operand *o, uint32_t part) {
  return (edge_place){o->shape->listed[o->shape->parts[part].begin], 0};
}

/* More meetings and parts tell nothing new. */
static inline bool seen_enough(const operands *o, const findings *f) {
  if (!all_claimed(f)) return false;
  for (int which = 0; which < 2; which++) {
    if (is_mixed(&o->of[which]) && !o->of[which].pierces) return false;
  }
  return true;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* operand.c: an operand whose box is known, of which `count` pairs of triangles meet; number `which` of the query. */
graze_status gz_operand_make(operand *o, graze_query *rays, int which, const relate_side *from, graze_open_rule rule,
                             uint64_t count);

/* A corner of the part is outside the box: that of T1, for which the other's box has room as for that of T2. */
bool gz_operand_sticks_out(const operand *o, uint32_t part, const graze_box *box);

/* meetings.c: the sets that the meeting of triangle i of a and triangle j of b claims, which meet as the code says, or
 * as it is to find out (TRITRI_OPEN). `set` is scratch; it keeps triangles a->cached_triangle of a and b's from call to
 * call. Pairs that meet in a point only claim nothing: what lies there is seen elsewhere. */
unsigned gz_meeting_claims(predicate_points *set, operand *a, uint32_t i, operand *b, uint32_t j, uint8_t code);
/* `codes`: as gz_query_codes has them. */
void gz_relate_meetings(operands *o, const graze_triangle_pair *pairs, const uint8_t *codes, uint64_t count,
                        findings *f);

/* parts.c */
graze_status gz_relate_parts(operands *o, findings *f);

/* Where a point of one operand lies in the other's solid. */
graze_status gz_operand_locate(const operands *o, int which, const double local[3], location *where);

/* proof.c */
graze_status gz_relate_proof(operands *o, const graze_triangle_pair *pairs, uint64_t count, findings *f);

/* That the solid of an operand that is not simple is not known: evidence may be wrong. */
void gz_relate_doubt_solid(const operand *o, int whose, findings *f);

/* cells.c: *sure: the evidence is complete now; else it is as it was. O(triangles) for each line that is looked at. */
graze_status gz_relate_cells(operands *o, const simplicity simple[2], const graze_triangle_pair *pairs, uint64_t count,
                             findings *f, bool *sure);

/* open_parts.c */
void gz_relate_open_parts(const operands *o, findings *f);
/* The same of what open parts of `which` may hold, where the other object lies in this box. */
void gz_relate_doubt_box(const operands *o, int which, const graze_box *held, findings *f);

/* verdict.c */
graze_verdict gz_relate_verdict(const operands *o, const findings *f, bool meet);

#endif
