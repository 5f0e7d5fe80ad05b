/* The earlier report is read on a thread of its own: taking its JSON apart costs as much as the rest of a check in
 * which little has changed. */
#include "check.h"
#include "diagnostics.h"
#include "json_memory.h"

static void *read_it(void *argument) {
  earlier_report *earlier = argument;
  graze_report_previous_read(earlier->path, &earlier->read, &earlier->error);
  json_memory_leave();
  return NULL;
}

void earlier_begin(earlier_report *earlier, const check_options *check) {
  *earlier = (earlier_report){.path = check->previous};
  if (!check->previous || check->common.threads == 1) return;
  earlier->started = pthread_create(&earlier->thread, NULL, read_it, earlier) == 0;
}

void record_read_previous(check_record *record, const check_options *check, earlier_report *earlier) {
  graze_io_error error;
  if (!earlier->path) return;
  if (earlier->started)
    pthread_join(earlier->thread, NULL);
  else
    read_it(earlier);
  if (earlier->error.status != GRAZE_OK) fail("%s", earlier->error.message);
  record->previous = earlier->read;
  if (check->marks && graze_report_read_marks(check->marks, record->previous, &error) != GRAZE_OK)
    fail("%s", error.message);
}
