/* From the library's result to the record of a report. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "diagnostics.h"

const char *const check_exactness_names[] = {"t0", "t1", "t2", NULL};

static void *allocate(size_t count, size_t size) {
  void *made = calloc(count + 1, size);
  if (!made) fail_out_of_memory();
  return made;
}

/* SOURCE_DATE_EPOCH stands for the clock where the same input must give the same bytes: nothing takes time then. */
static const char *fixed_time(void) {
  const char *text = getenv("SOURCE_DATE_EPOCH");
  return text && *text ? text : NULL;
}

static void write_time(char text[32]) {
  const char *fixed = fixed_time();
  time_t now = fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
  struct tm parts;
  if (!gmtime_r(&now, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) *text = 0;
}

static void fill_rules(check_record *record, const rules *selection) {
  for (uint32_t i = 0; i < selection->count; i++)
    record->rules[i] = (graze_report_rule){
        selection->list[i].text,
        selection->list[i].kind == rule_relations ? record->left_out : selection->list[i].pairs,
    };
  if (selection->only) record->rules[selection->count] = (graze_report_rule){"other pairs", selection->other_sets};
}

void record_begin(check_record *record, const check_options *check, const model *all, const rules *selection) {
  *record = (check_record){.objects = allocate(all->object_count, sizeof *record->objects),
                           .rules = allocate(selection->count + 1, sizeof *record->rules)};
  write_time(record->created);
  record->title = check->title ? strdup(check->title) : file_stem(check->files.names[0]);
  if (!record->title) fail_out_of_memory();
  for (uint32_t i = 0; i < all->object_count; i++) {
    const model_object *object = &all->objects[i];
    record->objects[i] = (graze_report_object){.name = object->name,
                                               .layer = object->layer,
                                               .file = all->meshes[object->mesh].path,
                                               .mesh = all->meshes[object->mesh].mesh,
                                               .pose = object->pose,
                                               .facts = &all->meshes[object->mesh].facts};
  }
  fill_rules(record, selection);
  record->report = (graze_report){.title = record->title,
                                  .created = record->created,
                                  .units = all->units,
                                  .exactness = check_exactness_names[check->exactness],
                                  .objects = record->objects,
                                  .object_count = all->object_count,
                                  .rules = record->rules,
                                  .rule_count = selection->count + selection->only};
}

/* ---- clashes ------------------------------------------------------------------------------------------------ */

/* "OBJECT: the mesh is open, and the other object may lie inside; near 1 2 3" */
static const char *reason_of(check_record *record, const graze_object_pair *pair) {
  char place[3][32], *text = NULL;
  const char *name = record->objects[pair->verdict.doubt_mesh == 0 ? pair->user_id_a : pair->user_id_b].name;
  for (int k = 0; k < 3; k++) graze_format_double(pair->verdict.doubt_point[k], place[k]);
  if (asprintf(&text, "%s: %s; near %s %s %s", name, graze_doubt_string(pair->verdict.doubt), place[0], place[1],
               place[2]) < 0)
    fail_out_of_memory();
  record->reasons[record->reason_count++] = text;
  return text;
}

static const graze_triangle_pair no_pairs = {0, 0}; /* an empty list is a list */

static graze_report_clash plain_clash(uint32_t a, uint32_t b, graze_relation relation, const graze_counts *counts) {
  return (graze_report_clash){.a = a,
                              .b = b,
                              .relation = relation,
                              .counts = *counts,
                              .depth = NAN,
                              .mark = "",
                              .comment = "",
                              .found = "",
                              .group_object = GRAZE_NO_GROUP,
                              .group_layers = GRAZE_NO_GROUP,
                              .group_place = GRAZE_NO_GROUP};
}

static graze_report_clash clash_of(check_record *record, const graze_object_pair *pair, bool listed) {
  const graze_outline *outline = &pair->outline;
  graze_report_clash clash =
      plain_clash((uint32_t)pair->user_id_a, (uint32_t)pair->user_id_b, pair->verdict.relation, &pair->counts);
  if (listed) clash.triangles = pair->pairs ? pair->pairs : &no_pairs;
  if (pair->verdict.relation == GRAZE_UNKNOWN) clash.reason = reason_of(record, pair);
  if (outline->starts) {
    clash.box = outline->box;
    memcpy(clash.point, outline->point, sizeof clash.point);
    clash.depth = pair->verdict.relation == GRAZE_TOUCH ? 0 : outline->depth;
    clash.curve_points = outline->points;
    clash.curve_starts = outline->starts;
    clash.curve_count = outline->count;
    return clash;
  }
  for (int k = 0; k < 3; k++) {
    clash.box.min[k] = INFINITY;
    clash.box.max[k] = -INFINITY;
    clash.point[k] = NAN;
  }
  return clash;
}

static graze_report_clash known_clash_of(const known_clash *known, bool listed) {
  const graze_report_previous_clash *then = known->clash;
  graze_report_clash clash = plain_clash(known->a, known->b, then->relation, &then->counts);
  if (listed) clash.triangles = &no_pairs;
  clash.box = then->box;
  memcpy(clash.point, then->point, sizeof clash.point);
  clash.depth = then->depth;
  clash.curve_points = then->curve_points;
  clash.curve_starts = then->curve_starts;
  clash.curve_count = then->curve_count;
  return clash;
}

static bool stands_before(const known_clash *known, const graze_object_pair *pair) {
  return known->a != pair->user_id_a ? known->a < pair->user_id_a : known->b < pair->user_id_b;
}

/* What was found now and what was known, in the order of the check. */
static void fill_clashes(check_record *record, const check_options *check, const graze_scene_check_result *result,
                         const known_pairs *known) {
  record->clashes = allocate(result->pair_count + known->clash_count, sizeof *record->clashes);
  record->reasons = allocate(result->pair_count, sizeof *record->reasons);
  uint32_t count = 0, next = 0;
  for (uint64_t i = 0; i < result->pair_count; i++) {
    const graze_object_pair *pair = &result->pairs[i];
    while (next < known->clash_count && stands_before(&known->clashes[next], pair))
      record->clashes[count++] = known_clash_of(&known->clashes[next++], check->pairs);
    if ((check->relations >> pair->verdict.relation & 1) != 0)
      record->clashes[count++] = clash_of(record, pair, check->pairs);
    else
      record->left_out += pair->verdict.relation != GRAZE_SEPARATE;
  }
  while (next < known->clash_count) record->clashes[count++] = known_clash_of(&known->clashes[next++], check->pairs);
  record->report.clashes = record->clashes;
  record->report.clash_count = count;
}

static void carry(check_record *record) {
  graze_io_error error;
  if (!record->previous) return;
  if (graze_report_carry(&record->report, record->previous, &record->carried, &error) != GRAZE_OK)
    fail("%s", error.message);
  record->report.objects = record->carried.objects;
  record->report.object_count = record->carried.object_count;
  record->report.clashes = record->carried.clashes;
  record->report.clash_count = record->carried.clash_count;
}

void record_finish(check_record *record, const check_options *check, const session *run, const model *all,
                   const rules *selection, const graze_scene_check_result *result, const known_pairs *known,
                   bool complete) {
  graze_io_error error;
  graze_report *report = &record->report;
  fill_clashes(record, check, result, known);
  fill_rules(record, selection);
  report->complete = complete;
  report->engine = session_engine(run);
  report->object_pairs = result->object_pairs + known->count;
  report->reused_pairs = known->count;
  if (!fixed_time()) {
    report->load_seconds = run->load_seconds;
    report->build_seconds = run->build_seconds;
    report->query_seconds = run->query_seconds;
  }
  if (graze_report_identify(report->objects, all->object_count, record->clashes, report->clash_count, &error) !=
      GRAZE_OK)
    fail("%s", error.message);
  carry(record);
  graze_report_clash *clashes = record->previous ? record->carried.clashes : record->clashes;
  if (graze_report_group_clashes(report->objects, report->object_count, clashes, report->clash_count, &record->groups,
                                 &error) != GRAZE_OK)
    fail("%s", error.message);
  report->groups = record->groups.groups;
  report->group_count = record->groups.group_count;
}

uint32_t record_open_clashes(const check_record *record) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < record->report.clash_count; i++) {
    const graze_report_clash *clash = &record->report.clashes[i];
    bool settled = clash->state == GRAZE_STATE_RESOLVED || clash->relation == GRAZE_SEPARATE ||
                   (strcmp(clash->mark, "approved") == 0 && clash->relation != GRAZE_UNKNOWN);
    count += !settled;
  }
  return count;
}

void record_free(check_record *record) {
  graze_report_groups_free(&record->groups);
  graze_report_carried_free(&record->carried);
  graze_report_previous_destroy(record->previous);
  for (uint32_t i = 0; i < record->reason_count; i++) free(record->reasons[i]);
  free(record->reasons);
  free(record->clashes);
  free(record->objects);
  free(record->rules);
  free(record->title);
}
