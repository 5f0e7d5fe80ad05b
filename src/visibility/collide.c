/* From objects to exact pairs of triangles, with nothing prepared. */
#include <inttypes.h>

#include "base/context.h"
#include "base/parallel.h"
#include "visibility/decide.h"
#include "visibility/load.h"

graze_status gz_visibility_refuse_unjudged(const graze_visibility *v) {
  for (uint32_t i = 0; i < v->def->object_count && v->result.unjudged > 0; i++) {
    const visibility_object *o = &v->objects[i];
    for (uint32_t t = 0; t < o->count && !o->judged; t++) {
      double c[9], sum = 0;
      gz_visibility_corners(o, t, c);
      for (int k = 0; k < 9; k++) sum += 0 * c[k];
      if (sum == 0) continue;
      return gz_fail(v->context, GRAZE_ERROR_NOT_FINITE,
                     "object %" PRIu32 ", triangle %" PRIu32 ": a posed coordinate is not finite", i, t);
    }
  }
  return GRAZE_OK;
}

/* Pairs of objects that meet. */
static graze_status list_contacts(graze_visibility *v, const visibility_decisions *found,
                                  graze_visibility_contacts *contacts) {
  const graze_visibility_pair *pairs = v->result.pairs;
  graze_visibility_contact *list = gz_visibility_room(v, ROOM_CONTACTS, v->result.pair_count, sizeof *list, 0);
  if (!list) return GRAZE_ERROR_MEMORY;
  *contacts = (graze_visibility_contacts){.list = list, .triangle_pairs = found->pair_count, .work = found->self.work};
  for (uint64_t i = 0; i < v->result.pair_count; i++) {
    const visibility_decision *d = &found->list[i];
    if (d->count == 0) continue;
    list[contacts->count++] = (graze_visibility_contact){pairs[i].a, pairs[i].b, d->counts, found->pairs + d->first};
    contacts->hash += d->counts.hash;
  }
  return GRAZE_OK;
}

static graze_status decide(graze_visibility *v, graze_visibility_contacts *contacts) {
  visibility_decisions found;
  const double start = clock_now();
  graze_status status = gz_visibility_refuse_unjudged(v);
  if (status == GRAZE_OK) status = gz_visibility_decide(v, v->result.pairs, v->result.pair_count, NULL, &found);
  if (status == GRAZE_OK) status = list_contacts(v, &found, contacts);
  contacts->seconds = round((clock_now() - start) * 1e9) / 1e9; /* prints short */
  return status;
}

graze_status gz_visibility_check_reliable(const graze_context *context, graze_visibility_mode mode) {
  if (mode == GRAZE_VISIBILITY_CLOSE || mode == GRAZE_VISIBILITY_RCULLIDE) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_ARGUMENT, "visibility: the mode is not reliable: it loses what meets");
}

graze_status graze_visibility_collide(graze_visibility *v, const graze_visibility_def *def,
                                      graze_visibility_result *left, graze_visibility_contacts *contacts) {
  graze_visibility_contacts made = {0};
  graze_visibility_result result;
  if (!v || !def || !contacts) return gz_fail_null(v ? v->context : NULL);
  graze_status status = gz_visibility_check_reliable(v->context, def->mode);
  v->frugal = true;
  if (status == GRAZE_OK) status = graze_visibility_cull(v, def, &result);
  v->frugal = false;
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = decide(v, &made);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  if (left) *left = result;
  *contacts = made;
  return GRAZE_OK;
}
