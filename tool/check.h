/* check.h: the parts of `graze check`: what was asked, the run, the record of what was found, and what is made of it.
 */
#ifndef TOOL_CHECK_H
#define TOOL_CHECK_H

#include <pthread.h>

#include "graze/graze.h"
#include "graze/report.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "rules.h"

typedef struct check_options {
  common_options common;
  file_list files;
  graze_exactness exactness;
  graze_open_rule open;
  unsigned relations; /* bit of each relation that is reported */
  bool pairs, all, split, is_scene, curves;
  const char *units;         /* NULL: as the files say */
  const char *cache;         /* folder of baked meshes; NULL: none */
  const char *title;         /* NULL: the first file's name */
  const char *folder;        /* --report; NULL: none */
  const char *previous;      /* an earlier report; NULL: none */
  const char *marks;         /* a reviewer's table; NULL: none */
  const char *pictures_text; /* --pictures; NULL: not given */
  uint32_t pictures;         /* at most so many */
} check_options;

extern const char *const check_exactness_names[]; /* in the order of graze_exactness */

/* The record, and what it points to. */
typedef struct check_record {
  graze_report report;
  graze_report_object *objects;
  graze_report_clash *clashes; /* of now */
  char **reasons;
  uint32_t reason_count;
  uint64_t left_out; /* pairs whose relation was not asked for */
  graze_report_rule *rules;
  graze_report_groups groups;
  graze_report_previous *previous;
  graze_report_carried carried;
  char created[32];
  char *title;
} check_record;

/* check_record.c: objects, rules and the head, before the check. */
void record_begin(check_record *record, const check_options *check, const model *all, const rules *selection);

/* check_earlier.c: the earlier report, which is read while the geometry is, on more than one thread. */
typedef struct earlier_report {
  const char *path; /* NULL: none */
  pthread_t thread;
  bool started;
  graze_report_previous *read;
  graze_io_error error;
} earlier_report;

/* `earlier` must stay where it is until record_read_previous. */
void earlier_begin(earlier_report *earlier, const check_options *check);

/* The earlier report and its marks, if any; faults end the program. */
void record_read_previous(check_record *record, const check_options *check, earlier_report *earlier);

/* check_reuse.c: what the earlier report has answered already. */
typedef struct known_clash { /* objects of now, and what was found */
  uint32_t a, b;
  const graze_report_previous_clash *clash;
} known_clash;

typedef struct known_pairs {
  graze_report_reuse *reuse; /* NULL: nothing is known */
  bool lists, curves;        /* triangle pairs, and curves, are to be told of every clash */
  known_clash *clashes;      /* in the order of the check */
  uint32_t clash_count;
  uint64_t count; /* of pairs, with those that are separate */
} known_pairs;

/* Whether --relations leaves some out. */
bool check_leaves_out(const check_options *check);

void known_begin(known_pairs *known, const check_options *check, const check_record *record);

/* Whether the earlier report answers for objects a and b, a < b; then notes what it says. */
bool known_take(known_pairs *known, uint32_t a, uint32_t b);
void known_free(known_pairs *known);

/* check_scene.c: the scene and its check. */

/* Which pairs need a look: those that the rules let through and that are not known from the earlier report. */
typedef struct asking {
  rules *selection;
  known_pairs known;
} asking;

/* Whether meshes are to be baked only when a pair needs them: what is asked for tells of all others by facts. */
bool check_is_lazy(const check_options *check);

/* Bakes what is needed and checks. False when it was cancelled: `result` then has what was finished. */
bool check_scene(session *run, model *all, const check_options *check, asking *ask, check_record *record,
                 graze_scene **scene, graze_scene_check_result *result);

/* Clashes, ids, states and groups, after the check. */
void record_finish(check_record *record, const check_options *check, const session *run, const model *all,
                   const rules *selection, const graze_scene_check_result *result, const known_pairs *known,
                   bool complete);

/* Clashes of now that are not approved. */
uint32_t record_open_clashes(const check_record *record);
void record_free(check_record *record);

/* check_print.c: the table, the verdict and the lists on stdout. */
typedef struct check_print {
  const check_options *options;
  const session *run;
  const model *all;
  const rules *selection;
  const graze_scene_check_result *result;
  const check_record *record;
} check_print;

void print_check(output *out, const check_print *print);

/* check_files.c: everything that --report asks for. The folder is made before the check, so that a name that cannot be
 * one is not told after hours. */
void make_report_folder(const char *path);
void write_report_folder(const check_options *check, const check_record *record);

#endif
