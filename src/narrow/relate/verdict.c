/* Step 6: the relation that the evidence stands for, and the words for it.
 *
 *     common   only a   only b   relation
 *     none     any      any      touch when the surfaces meet, else separate
 *     some     some     some     cross
 *     some     none     some     a_in_b
 *     some     some     none     b_in_a
 *     some     none     none     duplicate
 *
 * It is unknown for the first doubt that counts: that evidence is wrong, always; that some is lacking, unless all three
 * sets have some; what open parts may mean.
 */
#include "narrow/relate/steps.h"

const char *graze_relation_string(graze_relation relation) {
  static const char *const names[] = {"separate", "clearance", "touch",     "cross",
                                      "a_in_b",   "b_in_a",    "duplicate", "unknown"};
  return (unsigned)relation < sizeof names / sizeof names[0] ? names[relation] : "unknown";
}

const char *graze_doubt_string(graze_doubt why) {
  static const char *const texts[] = {
      "no doubt",
      "the mesh is open, and the other object may lie inside",
      "the mesh's triangles do not all face one way, and the other object may lie inside",
      "the mesh has edges of three or more triangles, so that its inside is not known",
      "the mesh was made without adjacency, so that its inside is not known",
      "the pose flattens the mesh, so that it has no inside",
      "the mesh intersects itself where the other object lies",
      "only contact was asked for",
      "every vertex of a part lies on the other surface",
      "it is a cylinder, and the other object, which is round too, is too near to touching it"};
  return (unsigned)why < sizeof texts / sizeof texts[0] ? texts[why] : "unknown doubt";
}

static graze_relation relation_of(unsigned sets, bool meet) {
  switch (sets) {
    case SET_COMMON:
      return GRAZE_DUPLICATE;
    case SET_COMMON | SET_ONLY_A:
      return GRAZE_B_IN_A;
    case SET_COMMON | SET_ONLY_B:
      return GRAZE_A_IN_B;
    case SETS_ALL:
      return GRAZE_CROSS;
    default:
      return meet ? GRAZE_TOUCH : GRAZE_SEPARATE;
  }
}

/* The doubt that counts, or NULL. */
static const doubt *doubt_of(const findings *f) {
  for (severity s = 0; s < SEVERITIES; s++) {
    bool settled = s == SEVERITY_LACKING && all_claimed(f);
    if (f->doubts[s].what != GRAZE_DOUBT_NONE && !settled) return &f->doubts[s];
  }
  return NULL;
}

graze_verdict gz_relate_verdict(const operands *o, const findings *f, bool meet) {
  graze_verdict v = {.relation = relation_of(sets_with(f, EVIDENCE_CLAIMED), meet)};
  const doubt *why = doubt_of(f);
  if (why == NULL) return v;
  v.relation = GRAZE_UNKNOWN;
  v.doubt = why->what;
  v.doubt_mesh = (uint8_t)why->whose;
  const side *place = &o->of[why->whose].place;
  double c[9], middle[3];
  mesh_corners(place->mesh, why->at.triangle, c);
  for (uint32_t k = 0; k < 3; k++) middle[k] = 0.5 * c[3 * why->at.edge + k] + 0.5 * c[(3 * why->at.edge + 3) % 9 + k];
  graze_pose_apply(&place->pose, middle, v.doubt_point);
  return v;
}
