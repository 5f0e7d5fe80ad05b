/* Pairs that need no second look: both objects are as they were, and the earlier report tells all that is asked now.
 *
 * What it says is taken over as it stands, numbers being written so that they read back to the same double. It does not
 * list triangle pairs and, but for those of --report and --curves, no curves: where these are asked for and not told,
 * the pair is checked again.
 */
#include <stdlib.h>

#include "check.h"
#include "diagnostics.h"

bool check_leaves_out(const check_options *check) {
  const unsigned all = (1u << (GRAZE_UNKNOWN + 1)) - 1 - (1u << GRAZE_SEPARATE) - (1u << GRAZE_CLEARANCE);
  return (check->relations & all) != all;
}

void known_begin(known_pairs *known, const check_options *check, const check_record *record) {
  graze_io_error error;
  const char *reason = NULL;
  known->lists = check->pairs;
  known->curves = check->folder || (check->curves && check->common.format == format_json);
  if (!record->previous || check->all) return;
  if (check_leaves_out(check)) { /* and how many it leaves out is told as well */
    note("%s: every pair is checked again: with --relations what is not listed may meet", check->previous);
    return;
  }
  if (graze_report_reuse_create(&record->report, record->previous, &known->reuse, &reason, &error) != GRAZE_OK)
    fail("%s", error.message);
  if (reason) note("%s: every pair is checked again: %s", check->previous, reason);
}

/* The surfaces meet in points at least when triangles do. */
static bool tells_all(const known_pairs *known, const graze_report_previous_clash *clash) {
  bool meets = clash->counts.triangle_pairs > 0;
  if (!clash->placed) return false;
  return !meets || (!known->lists && (!known->curves || clash->curve_starts));
}

static void add_clash(known_pairs *known, uint32_t a, uint32_t b, const graze_report_previous_clash *clash) {
  uint32_t count = known->clash_count;
  if ((count & (count - 1)) == 0) { /* the room is the next power of two */
    known_clash *larger = realloc(known->clashes, (count > 0 ? 2 * (size_t)count : 1) * sizeof *larger);
    if (!larger) fail_out_of_memory();
    known->clashes = larger;
  }
  known->clashes[known->clash_count++] = (known_clash){a, b, clash};
}

bool known_take(known_pairs *known, uint32_t a, uint32_t b) {
  const graze_report_previous_clash *clash;
  if (!known->reuse) return false;
  graze_earlier earlier = graze_report_reuse_pair(known->reuse, a, b, &clash);
  if (earlier == GRAZE_EARLIER_UNKNOWN || (earlier == GRAZE_EARLIER_LISTED && !tells_all(known, clash))) return false;
  if (earlier == GRAZE_EARLIER_LISTED) add_clash(known, a, b, clash);
  known->count++;
  return true;
}

void known_free(known_pairs *known) {
  graze_report_reuse_destroy(known->reuse);
  free(known->clashes);
}
