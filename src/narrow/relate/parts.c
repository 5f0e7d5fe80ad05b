/* Step 2: parts of a surface that the other surface does not cut.
 *
 * A part that meets the other surface nowhere, or in points, lies on one side of it whole, and one corner that is not
 * on it tells which. A corner of any other part tells of the piece around it.
 *
 *     where the corner lies        a part that bounds its solid               a surface
 *     outside the other's solid    proves its own "only"                      the same
 *     inside                       proves "common"; beyond the part there     proves "common"
 *                                  is the other only, which is claimed
 *     on it, as all corners do     middles of edges are tried, then in doubt: evidence may be wrong
 *     no ray can be placed         in doubt: evidence may be lacking
 */
#include "narrow/relate/steps.h"

enum { SAMPLES = 8 };

graze_status gz_operand_locate(const operands *o, int which, const double local[3], location *where) {
  int winding;
  const operand *other = &o->of[1 - which];
  const part_filter solid_parts = {.shape = other->shape, .strict = other->strict, .skip = NO_PART};
  return gz_locate(o->rays, &o->of[which].place, local, &other->place, &solid_parts, o->exactness, where, &winding);
}

/* Middles of edges that doubles can hold, for parts with every corner on the other surface. */
static graze_status locate_middles(const operands *o, int which, uint32_t part, location *where) {
  const operand *own = &o->of[which];
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end; i++) {
    double c[9];
    mesh_corners(own->place.mesh, own->shape->listed[i], c);
    for (int e = 0; e < 3; e++) {
      const double *p = c + 3 * e, *q = c + (3 * e + 3) % 9;
      double middle[3];
      bool exact = true;
      for (int k = 0; k < 3; k++) {
        double sum = p[k] + q[k];
        middle[k] = 0.5 * sum;
        exact &= sum - p[k] == q[k] && sum - q[k] == p[k] && 2 * middle[k] == sum;
      }
      if (!exact) continue;
      graze_status status = gz_operand_locate(o, which, middle, where);
      if (status != GRAZE_OK || *where != LOCATION_ON) return status;
    }
  }
  return GRAZE_OK;
}

/* The first corner that is not on the other surface. Where the part meets the other along a segment its meetings have
 * told already, and a few corners are enough to be sure. */
static graze_status locate_corners(const operands *o, int which, uint32_t part, location *where) {
  const operand *own = &o->of[which];
  uint32_t tried = 0, most = own->met[part] ? SAMPLES : UINT32_MAX;
  *where = LOCATION_ON;
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end; i++) {
    double corners[9];
    mesh_corners(own->place.mesh, own->shape->listed[i], corners);
    for (int c = 0; c < 3; c++) {
      if (tried++ >= most) return GRAZE_OK;
      graze_status status = gz_operand_locate(o, which, corners + 3 * c, where);
      if (status != GRAZE_OK || *where != LOCATION_ON) return status;
    }
  }
  return GRAZE_OK;
}

static graze_status locate_part(const operands *o, int which, uint32_t part, location *where) {
  const operand *own = &o->of[which], *other = &o->of[1 - which];
  *where = LOCATION_OUT;
  if (other->bounding == 0 || gz_operand_sticks_out(own, part, &other->box)) return GRAZE_OK;
  graze_status status = locate_corners(o, which, part, where);
  if (status != GRAZE_OK || *where != LOCATION_ON || own->met[part]) return status;
  return locate_middles(o, which, part, where);
}

static void note_part(operands *o, int which, uint32_t part, location where, findings *f) {
  operand *own = &o->of[which];
  switch (where) {
    case LOCATION_OUT:
      raise_evidence(f, set_only(which), EVIDENCE_PROVED);
      break;
    case LOCATION_IN:
      raise_evidence(f, SET_COMMON, EVIDENCE_PROVED);
      if (!operand_bounds(own, part))
        own->pierces = true;
      else if (own->shape->parts[part].side != MATERIAL_BOTH)
        raise_evidence(f, set_only(1 - which), EVIDENCE_CLAIMED);
      break;
    case LOCATION_ON:
      own->unplaced |= own->met[part];
      if (!own->met[part]) add_doubt(f, SEVERITY_WRONG, GRAZE_DOUBT_POINTS_ONLY, which, part_place(own, part));
      break;
    case LOCATION_LOST:
      add_doubt(f, SEVERITY_LACKING, GRAZE_DOUBT_FLATTENED, which, part_place(own, part));
      break;
  }
}

graze_status gz_relate_parts(operands *o, findings *f) {
  for (int which = 0; which < 2; which++) {
    const operand *own = &o->of[which];
    for (uint32_t p = 0; p < own->shape->part_count && !seen_enough(o, f); p++) {
      location where;
      if (all_claimed(f) && operand_bounds(own, p)) continue;
      graze_status status = locate_part(o, which, p, &where);
      if (status != GRAZE_OK) return status;
      note_part(o, which, p, where, f);
    }
  }
  return GRAZE_OK;
}
