/* session.h: the context that a verb works in, its engine, and the clock of its stages. */
#ifndef TOOL_SESSION_H
#define TOOL_SESSION_H

#include "base/clock.h"
#include "base/json.h"
#include "graze/check.h"
#include "graze/graze.h"
#include "options.h"
#include "progress.h"

typedef struct session {
  graze_context *context;
  struct graze_gpu *gpu;               /* the engine of the context; or */
  struct graze_visibility *visibility; /* NULL: the processor alone */
  bool quiet;
  bool no_advice; /* about files that are refused: the verb lacks the options */
  int stage;      /* whose progress is shown */
  progress_line line;
  double load_seconds, build_seconds, query_seconds;
} session;

void session_begin(session *run, const common_options *common);
void session_end(session *run);

/* Gives the context the engine that was asked for, before anything else is made with it; ends the program when the
 * device that was asked for is not there. */
void session_attach(session *run, const common_options *common);

/* The name of the device, when it answered, else "". */
const char *session_device(const session *run);
/* A device of the engine visibility, by its option; ends the program when it is not there. */
struct graze_visibility *session_open_visibility(const session *run, const common_options *common);

/* "gpu" when a device answered, "visibility" when pictures did, else "cpu". */
const char *session_engine(const session *run);

/* Ends the program with the message of the call that failed; `what` names the file, or is NULL. */
_Noreturn void session_fail(const session *run, const char *what, graze_status status);

/* Ends the program with its message when a call with the context has failed. */
void must(const graze_context *context, graze_status status);

/* Opens a check; a failure ends the program. Progress is shown. Ctrl-C ends the program, and once pairs are decided
 * stops the check. */
graze_check *session_open(session *run, graze_check_def *def);

/* The same of meshes: every file is one object of the check's report. `report` (may be NULL): what is asked of it, and
 * how files are read. */
graze_check *session_open_meshes(session *run, const file_list *files, const graze_check_def *report);

/* The member "seconds" of an answer: of loading, building and the query. */
void session_write_seconds(const session *run, gz_json *json);

/* Writes the report's folder since `start`, and says so. Failure ends the program. */
void session_write_folder(session *run, const char *folder, graze_check *check, double start);

/* Takes the check's times. */
void session_take_times(session *run, const graze_check *check);

/* Adds the time since `start`; totals are whole nanoseconds, so that they print short. */
void clock_add(double *total, double start);

#endif
