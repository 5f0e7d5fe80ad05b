/* Step 3: which claims can be trusted.
 *
 * Claims are made from the wedge next to a meeting. That wedge is all of the solid there only when the mesh does not
 * intersect itself; and of a mesh that does, lobes may be turned inside out, so that material lies on the other side.
 *
 *     the meshes                                     claims that may be wrong
 *     both are simple                                none
 *     one is a union of simple parts that face       what only the other has: material is where a union claims it,
 *     one way                                        but what lies in front of a part may be another's material
 *     one has parts that face either way, or one     all of them
 *     that intersects itself
 *
 * The relation needs each claim to be right, or, where no common part is claimed, that there is none; that needs both
 * to be simple, as what touches one part from outside may lie in another. A claim is proved by a corner: one outside
 * the other's box or, as a ray places it, outside or inside the other's solid. What stays open is tried part by part,
 * and is then in doubt: evidence may be wrong.
 *
 * Where all claims may be wrong one may be lacking as well: of a part that lies flush in a cavity, which is one because
 * parts cancel there. It touches the other from one side only, else both would be claimed; any corner that is not on
 * the other tells, and all are tried.
 */
#include "narrow/relate/steps.h"

enum { WITNESSES_MOST = 64 };

static bool meets_solid(const operand *o) {
  return o->met != NULL && memchr(o->met, 1, o->shape->part_count) != NULL;
}

/* Claims that nothing proves. */
static unsigned unproved(const findings *f) {
  return sets_with(f, EVIDENCE_CLAIMED) & ~sets_with(f, EVIDENCE_PROVED);
}

static unsigned doubted_claims(const simplicity simple[2]) {
  if (simple[0] >= SIMPLE_PARTS || simple[1] >= SIMPLE_PARTS) return SETS_ALL;
  return (simple[1] == SIMPLE_UNION ? SET_ONLY_A : 0) | (simple[0] == SIMPLE_UNION ? SET_ONLY_B : 0);
}

static bool any_sticks_out(const operands *o, int which) {
  for (uint32_t p = 0; p < o->of[which].shape->part_count; p++) {
    if (gz_operand_sticks_out(&o->of[which], p, &o->of[1 - which].box)) return true;
  }
  return false;
}

/* Whether a corner of the operand lies on another of its closed parts. Parts that face opposite ways may cancel there,
 * so that there is no material. */
static graze_status on_others(const operands *o, int which, uint32_t triangle, const double local[3], bool *on) {
  const operand *own = &o->of[which];
  const part_filter others = {.shape = own->shape, .strict = own->strict, .skip = own->shape->part_of[triangle]};
  location where;
  int winding;
  graze_status status = gz_locate(o->rays, &own->place, local, &own->place, &others, o->exactness, &where, &winding);
  *on = where == LOCATION_ON || where == LOCATION_LOST;
  return status;
}

/* Proves the wanted sets by corners of the operand, a few of them. `cancels`: parts of it may face opposite ways. */
static graze_status prove_by_corners(const operands *o, int which, unsigned wanted, bool cancels, findings *f) {
  const graze_mesh *mesh = o->of[which].place.mesh;
  uint32_t step = mesh->triangle_count / WITNESSES_MOST + 1;
  for (uint32_t t = 0; t < mesh->triangle_count && (wanted & ~sets_with(f, EVIDENCE_PROVED)) != 0; t += step) {
    double corners[9];
    location where;
    bool on = false;
    if (mesh_degenerate(mesh, t)) continue;
    mesh_corners(mesh, t, corners);
    graze_status status = gz_operand_locate(o, which, corners, &where);
    if (status == GRAZE_OK && cancels) status = on_others(o, which, t, corners, &on);
    if (status != GRAZE_OK) return status;
    if (where == LOCATION_OUT && !on) raise_evidence(f, set_only(which), EVIDENCE_PROVED);
    if (where == LOCATION_IN && !on) raise_evidence(f, SET_COMMON, EVIDENCE_PROVED);
  }
  return GRAZE_OK;
}

static void prove_by_boxes(const operands *o, findings *f) {
  for (int which = 0; which < 2; which++) {
    if ((unproved(f) & set_only(which)) == 0 || !any_sticks_out(o, which)) continue;
    raise_evidence(f, set_only(which), EVIDENCE_PROVED);
  }
}

static graze_status find_simplicity(const operands *o, simplicity simple[2]) {
  graze_status status = GRAZE_OK;
  for (int which = 0; which < 2 && status == GRAZE_OK; which++) {
    const operand *own = &o->of[which];
    if (own->bounding > 0) status = gz_solid_simplicity(o->rays, own->place.mesh, own->shape, &simple[which]);
  }
  return status;
}

/* Proves what is open of the claims of a common part and of others; *sure: all of it. Where parts of a mesh cancel,
 * what was taken for a proof may lie where there is no material. */
static graze_status prove_by_all_corners(const operands *o, const simplicity simple[2], findings *f, bool *sure) {
  unsigned open = unproved(f) & doubted_claims(simple);
  graze_status status = GRAZE_OK;
  for (int which = 0; which < 2 && status == GRAZE_OK && open != 0; which++) {
    if (o->of[1 - which].bounding > 0) status = prove_by_corners(o, which, open, simple[which] == SIMPLE_PARTS, f);
  }
  *sure = (open & ~sets_with(f, EVIDENCE_PROVED)) == 0;
  return status;
}

static void demote_proofs(findings *f) {
  for (int k = 0; k < SETS; k++) {
    if (f->of[k] == EVIDENCE_PROVED) f->of[k] = EVIDENCE_CLAIMED;
  }
}

graze_status gz_relate_proof(operands *o, const graze_triangle_pair *pairs, uint64_t count, findings *f) {
  operand *a = &o->of[0], *b = &o->of[1];
  simplicity simple[2] = {SIMPLE_YES, SIMPLE_YES};
  bool common = f->of[0] != EVIDENCE_NONE, sure = false;
  bool lacking = !all_claimed(f) && (a->unplaced || b->unplaced);
  graze_status status = GRAZE_OK;
  /* A part that meets nothing was placed by a ray. */
  if (!meets_solid(a) && !meets_solid(b)) return GRAZE_OK;
  if (common) prove_by_boxes(o, f);
  if (!common || lacking || unproved(f) != 0) status = find_simplicity(o, simple);
  if (status != GRAZE_OK || (simple[0] == SIMPLE_YES && simple[1] == SIMPLE_YES)) return status;
  if (common && lacking && doubted_claims(simple) == SETS_ALL) status = gz_relate_parts(o, true, f);
  if (status != GRAZE_OK || (common && unproved(f) == 0)) return status;
  if (simple[0] == SIMPLE_PARTS || simple[1] == SIMPLE_PARTS) demote_proofs(f);
  if (common) status = prove_by_all_corners(o, simple, f, &sure);
  if (status == GRAZE_OK && !sure) status = gz_relate_part_by_part(o, simple, pairs, count, f, &sure);
  if (status == GRAZE_OK && !sure) {
    int whose = simple[1] > simple[0];
    uint32_t tangled = atomic_load(&o->of[whose].shape->tangled);
    add_doubt(f, SEVERITY_WRONG, GRAZE_DOUBT_SELF_INTERSECTING, whose, (edge_place){tangled, 0});
  }
  return status;
}
