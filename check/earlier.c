/* The earlier report, and the pairs that need no second look: both objects are as they were, and it tells all that is
 * asked now.
 *
 * It is read on a thread of its own: taking its JSON apart costs as much as the rest of a check in which little has
 * changed. What it says is taken over as it stands, numbers being written so that they read back to the same double. It
 * does not list triangle pairs and, but for those of folders and with curves asked for, no curves: where these are
 * asked for and not told, the pair is checked again.
 */
#include "check.h"

static void *read_it(void *argument) {
  graze_check *c = argument;
  bool before = gz_silence(true);
  if (graze_report_previous_read(c->context, c->def.previous, &c->earlier.report) != GRAZE_OK)
    c->earlier.error = *graze_last_error(c->context);
  gz_silence(before);
  return NULL;
}

void gz_check_earlier_begin(graze_check *c) {
  if (c->def.previous == NULL || gz_workers(c->context) == 1) return;
  c->earlier.started = pthread_create(&c->earlier.thread, NULL, read_it, c) == 0;
}

graze_status gz_check_earlier_end(graze_check *c) {
  if (c->def.previous == NULL) return GRAZE_OK;
  if (c->earlier.started)
    pthread_join(c->earlier.thread, NULL);
  else
    read_it(c);
  c->earlier.started = false;
  const graze_error *error = &c->earlier.error;
  if (error->status != GRAZE_OK) return gz_fail(c->context, error->status, "%s", error->message);
  if (c->def.marks == NULL) return GRAZE_OK;
  return graze_report_read_marks(c->context, c->def.marks, c->earlier.report);
}

bool gz_check_leaves_out(const graze_check *c) {
  const unsigned all =
      (1u << (GRAZE_UNKNOWN + 1)) - 1 - (1u << GRAZE_SEPARATE) - (c->rules.clear ? 0 : 1u << GRAZE_CLEARANCE);
  return (c->def.relations & all) != all;
}

graze_status gz_check_known_begin(graze_check *c) {
  const graze_check_def *d = &c->def;
  const char *reason = NULL;
  if (c->earlier.report == NULL || (d->relations >> GRAZE_SEPARATE & 1) || gz_check_leaves_out(c)) return GRAZE_OK;
  graze_status status =
      graze_report_reuse_create(c->context, &c->report, c->earlier.report, &c->earlier.reuse, &reason);
  if (reason != NULL) gz_check_note(c, GRAZE_LOG_WARNING, "%s: every pair is checked again: %s", d->previous, reason);
  return status;
}

/* The surfaces meet in points at least when triangles do. */
static bool tells_all(const graze_check *c, const graze_report_previous_clash *clash) {
  bool meets = clash->counts.triangle_pairs > 0;
  if (!clash->placed) return false;
  if (clash->relation == GRAZE_CLEARANCE) return clash->gap.found && (!c->def.triangles || clash->gap.near_pairs > 0);
  return !meets || (!c->def.triangles && (!c->def.curves || clash->curve_starts != NULL));
}

static bool add_clash(graze_check *c, uint32_t a, uint32_t b, const graze_report_previous_clash *clash) {
  earlier *e = &c->earlier;
  known_clash *clashes = gz_check_grow(c, e->clashes, e->clash_count, sizeof *clashes);
  if (clashes == NULL) return false;
  e->clashes = clashes;
  e->clashes[e->clash_count++] = (known_clash){a, b, clash};
  return true;
}

bool gz_check_known(graze_check *c, uint32_t a, uint32_t b) {
  const graze_report_previous_clash *clash;
  if (c->earlier.reuse == NULL) return false;
  graze_earlier then = graze_report_reuse_pair(c->earlier.reuse, a, b, &clash);
  if (then == GRAZE_EARLIER_UNKNOWN || (then == GRAZE_EARLIER_LISTED && !tells_all(c, clash))) return false;
  if (then == GRAZE_EARLIER_LISTED && !add_clash(c, a, b, clash)) return false; /* then it is checked again */
  c->earlier.count++;
  return true;
}
