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
 *     that intersects itself, or is entangled
 *
 * The relation needs each claim to be right, or, where no common part is claimed, that there is none; that needs both
 * to be simple, as what touches one part from outside may lie in another. What a union leaves open is proved by a
 * corner: one outside the other's box or, as a ray places it, outside or inside the other's solid. All else is settled
 * cell by cell, and so is what the steps before have left in doubt.
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

static bool is_union(const simplicity simple[2]) {
  return simple[0] <= SIMPLE_UNION && simple[1] <= SIMPLE_UNION;
}

static bool any_sticks_out(const operands *o, int which) {
  for (uint32_t p = 0; p < o->of[which].shape->part_count; p++) {
    if (gz_operand_sticks_out(&o->of[which], p, &o->of[1 - which].box)) return true;
  }
  return false;
}

static void prove_by_boxes(const operands *o, findings *f) {
  for (int which = 0; which < 2; which++) {
    if ((unproved(f) & set_only(which)) == 0 || !any_sticks_out(o, which)) continue;
    raise_evidence(f, set_only(which), EVIDENCE_PROVED);
  }
}

/* Proves the wanted sets by corners of the operand, a few of them. */
static graze_status prove_by_corners(const operands *o, int which, unsigned wanted, findings *f) {
  const graze_mesh *mesh = o->of[which].place.mesh;
  uint32_t step = mesh->triangle_count / WITNESSES_MOST + 1;
  for (uint32_t t = 0; t < mesh->triangle_count && (wanted & ~sets_with(f, EVIDENCE_PROVED)) != 0; t += step) {
    double corners[9];
    location where;
    if (mesh_degenerate(mesh, t)) continue;
    mesh_corners(mesh, t, corners);
    graze_status status = gz_operand_locate(o, which, corners, &where);
    if (status != GRAZE_OK) return status;
    if (where == LOCATION_OUT) raise_evidence(f, set_only(which), EVIDENCE_PROVED);
    if (where == LOCATION_IN) raise_evidence(f, SET_COMMON, EVIDENCE_PROVED);
  }
  return GRAZE_OK;
}

/* Of unions: proves what may be wrong; *sure: all of it. */
static graze_status prove_union(const operands *o, const simplicity simple[2], findings *f, bool *sure) {
  unsigned doubted = (simple[1] == SIMPLE_UNION ? SET_ONLY_A : 0) | (simple[0] == SIMPLE_UNION ? SET_ONLY_B : 0);
  unsigned open = unproved(f) & doubted;
  graze_status status = GRAZE_OK;
  for (int which = 0; which < 2 && status == GRAZE_OK && open != 0; which++) {
    if (o->of[1 - which].bounding > 0) status = prove_by_corners(o, which, open, f);
  }
  *sure = (open & ~sets_with(f, EVIDENCE_PROVED)) == 0;
  return status;
}

static graze_status find_simplicity(const operands *o, simplicity simple[2]) {
  graze_status status = GRAZE_OK;
  for (int which = 0; which < 2 && status == GRAZE_OK; which++) {
    const operand *own = &o->of[which];
    if (own->bounding > 0) status = gz_solid_simplicity(o->rays, own->place.mesh, own->shape, &simple[which]);
  }
  return status;
}

/* What keeps the solid of `whose` from being known, and where: walls that may add up or cancel, else that the mesh
 * meets itself, at an edge of those or a triangle that does. */
void gz_relate_doubt_solid(const operand *o, int whose, findings *f) {
  const edge_place tangle = {atomic_load(&o->shape->tangled), 0};
  const solid_part *turned = o->shape->parts;
  if (!o->shape->two_readings) {
    add_doubt(f, SEVERITY_WRONG, GRAZE_DOUBT_SELF_INTERSECTING, whose, tangle);
    return;
  }
  while (!turned->parity || turned->fault != GRAZE_DOUBT_NONE) turned++;
  add_doubt(f, SEVERITY_WRONG, GRAZE_DOUBT_MISORIENTED, whose, turned->fault_at);
}

static graze_status prove_by_cells(operands *o, const simplicity simple[2], const graze_triangle_pair *pairs,
                                   uint64_t count, findings *f) {
  bool sure;
  graze_status status = gz_relate_cells(o, simple, pairs, count, f, &sure);
  if (status != GRAZE_OK) return status;
  if (sure) {
    if (f->doubts[SEVERITY_WRONG].what == GRAZE_DOUBT_POINTS_ONLY) f->doubts[SEVERITY_WRONG] = (doubt){0};
    f->doubts[SEVERITY_LACKING] = (doubt){0};
  } else if (simple[0] != SIMPLE_YES || simple[1] != SIMPLE_YES) {
    int whose = o->of[0].shape->two_readings ? 0 : o->of[1].shape->two_readings ? 1 : simple[1] > simple[0];
    gz_relate_doubt_solid(&o->of[whose], whose, f);
  }
  return GRAZE_OK;
}

graze_status gz_relate_proof(operands *o, const graze_triangle_pair *pairs, uint64_t count, findings *f) {
  operand *a = &o->of[0], *b = &o->of[1];
  simplicity simple[2] = {SIMPLE_YES, SIMPLE_YES};
  bool adds_up = (a->bounding == 0 || a->shape->one_way) && (b->bounding == 0 || b->shape->one_way);
  bool meet = meets_solid(a) || meets_solid(b), common = f->of[0] != EVIDENCE_NONE, sure = false;
  bool unseen = f->doubts[SEVERITY_WRONG].what == GRAZE_DOUBT_POINTS_ONLY;
  bool doubtful = unseen || (!all_claimed(f) &&
                             (f->doubts[SEVERITY_LACKING].what != GRAZE_DOUBT_NONE || a->unplaced || b->unplaced));
  graze_status status = GRAZE_OK;
  if (a->bounding == 0 && b->bounding == 0) return GRAZE_OK;
  /* A part that meets nothing was placed by a ray. */
  if (!meet && !doubtful && (adds_up || !common)) return GRAZE_OK;
  if (common && adds_up) prove_by_boxes(o, f);
  if (!common || doubtful || !adds_up || unproved(f) != 0) status = find_simplicity(o, simple);
  if (status != GRAZE_OK) return status;
  bool simple_both = simple[0] == SIMPLE_YES && simple[1] == SIMPLE_YES;
  if (simple_both && !unseen) return GRAZE_OK;
  if (common && !doubtful && is_union(simple)) status = prove_union(o, simple, f, &sure);
  return status == GRAZE_OK && !sure ? prove_by_cells(o, simple, pairs, count, f) : status;
}
