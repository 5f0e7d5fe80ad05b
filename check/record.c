/* From the scene's result to the record of a report. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

/* SOURCE_DATE_EPOCH stands for the clock where the same input must give the same bytes: nothing takes time then. */
static const char *fixed_time(void) {
  const char *text = getenv("SOURCE_DATE_EPOCH");
  return text != NULL && *text != '\0' ? text : NULL;
}

static void write_time(char text[32]) {
  const char *fixed = fixed_time();
  time_t now = fixed != NULL ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) *text = 0;
}

static void fill_rules(graze_check *c) {
  const rules *r = &c->rules;
  for (uint32_t i = 0; i < r->count; i++) {
    const rule *one = &r->list[i];
    c->report_rules[i] = (graze_report_rule){one->text, one->kind == RULE_RELATIONS ? c->left_out : one->pairs};
  }
  if (r->only) c->report_rules[r->count] = (graze_report_rule){"other pairs", r->other_sets};
}

static void fill_objects(graze_check *c) {
  for (uint32_t i = 0; i < c->object_count; i++) {
    const check_object *o = &c->objects[i];
    const check_mesh *m = &c->meshes[o->mesh];
    c->report_objects[i] = (graze_report_object){.name = o->name,
                                                 .layer = o->layer,
                                                 .file = m->path,
                                                 .mesh = m->mesh,
                                                 .pose = o->pose,
                                                 .facts = &m->facts,
                                                 .label = o->label,
                                                 .core = m->core,
                                                 .radius = o->radius,
                                                 .solid = m->solid_known ? &m->solid : NULL};
  }
}

void gz_check_record_fill(graze_check *c) {
  fill_objects(c);
  fill_rules(c);
}

/* The first file's name; of "tower/scene.json", which says nothing, that of its folder. */
static const char *make_title(graze_check *c) {
  const char *stem = gz_check_stem(c, c->def.files[0]);
  char folder[PATH_MAX];
  if (stem == NULL || strcmp(stem, "scene") != 0 || realpath(c->def.files[0], folder) == NULL) return stem;
  char *slash = strrchr(folder, '/');
  *slash = 0;
  return folder[0] != 0 ? gz_check_print(c, "%s", strrchr(folder, '/') + 1) : stem;
}

graze_status gz_check_record_begin(graze_check *c) {
  static const char *const exactness[] = {"t0", "t1", "t2"};
  c->report_objects = gz_check_alloc(c, c->object_count, sizeof *c->report_objects);
  c->report_rules = gz_check_alloc(c, c->rules.count + 1, sizeof *c->report_rules);
  const char *title = c->def.title != NULL ? c->def.title : make_title(c);
  if (c->report_objects == NULL || c->report_rules == NULL || title == NULL) return GRAZE_ERROR_MEMORY;
  write_time(c->created);
  gz_check_record_fill(c);
  c->report = (graze_report){.title = title,
                             .created = c->created,
                             .units = c->units,
                             .up = c->def.up != GRAZE_UP_UNKNOWN ? c->def.up : c->up,
                             .tolerant = c->rules.tolerant,
                             .clear = c->rules.clear,
                             .engine = "cpu",
                             .exactness = exactness[c->def.exactness],
                             .objects = c->report_objects,
                             .object_count = c->object_count,
                             .rules = c->report_rules,
                             .rule_count = c->rules.count + c->rules.only};
  return GRAZE_OK;
}

/* ---- clashes ------------------------------------------------------------------------------------------------ */

/* "OBJECT: the mesh is open, and the other object may lie inside; near 1 2 3" */
static const char *reason_of(graze_check *c, const graze_object_pair *pair) {
  char place[3][32];
  const graze_verdict *v = &pair->verdict;
  const char *name = c->objects[v->doubt_mesh == 0 ? pair->user_id_a : pair->user_id_b].name;
  for (int k = 0; k < 3; k++) graze_format_double(v->doubt_point[k], place[k]);
  return gz_check_print(c, "%s: %s; near %s %s %s", name, graze_doubt_string(v->doubt), place[0], place[1], place[2]);
}

static const graze_triangle_pair no_pairs = {0, 0}; /* an empty list is a list */
static const uint32_t one_line[2] = {0, 2};         /* where a curve of two points starts and ends */

graze_report_clash gz_check_plain_clash(uint32_t a, uint32_t b, graze_relation relation, const graze_counts *counts) {
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

/* The place of a gap is the line between the nearest points. */
static void place_gap(graze_report_clash *clash, const graze_gap *gap, const uint32_t *starts) {
  clash->gap = *gap;
  if (clash->relation != GRAZE_CLEARANCE) return;
  clash->box = graze_box_empty();
  for (int k = 0; k < 2; k++) graze_box_add_point(&clash->box, gap->points[k]);
  for (int k = 0; k < 3; k++) clash->point[k] = 0.5 * gap->points[0][k] + 0.5 * gap->points[1][k];
  clash->curve_points = gap->points;
  clash->curve_starts = starts;
  clash->curve_count = 1;
}

/* Without the reason. */
static graze_report_clash clash_of(const graze_object_pair *pair, bool listed) {
  const graze_outline *outline = &pair->outline;
  graze_report_clash clash =
      gz_check_plain_clash((uint32_t)pair->user_id_a, (uint32_t)pair->user_id_b, pair->verdict.relation, &pair->counts);
  if (listed) clash.triangles = pair->pairs != NULL ? pair->pairs : &no_pairs;
  if (outline->starts != NULL) {
    clash.box = outline->box;
    memcpy(clash.point, outline->point, sizeof clash.point);
    clash.depth = pair->verdict.relation == GRAZE_TOUCH ? 0 : outline->depth;
    clash.curve_points = outline->points;
    clash.curve_starts = outline->starts;
    clash.curve_count = outline->count;
    if (pair->gap.found) clash.gap = pair->gap;
    return clash;
  }
  clash.box = graze_box_empty();
  for (int k = 0; k < 3; k++) clash.point[k] = NAN;
  if (pair->gap.found) place_gap(&clash, &pair->gap, one_line);
  return clash;
}

static graze_report_clash known_clash_of(graze_check *c, const known_clash *known, bool listed) {
  const graze_report_previous_clash *then = known->clash;
  graze_report_clash clash = gz_check_plain_clash(known->a, known->b, then->relation, &then->counts);
  if (listed) clash.triangles = &no_pairs;
  clash.box = then->box;
  memcpy(clash.point, then->point, sizeof clash.point);
  clash.depth = then->depth;
  clash.forgiven = then->forgiven;
  memcpy(clash.translation, then->translation, sizeof clash.translation);
  clash.tolerance = then->tolerance;
  clash.moved_corners = then->moved_corners;
  clash.curve_points = then->curve_points;
  clash.curve_starts = then->curve_starts;
  clash.curve_count = then->curve_count;
  if (then->gap.found) place_gap(&clash, &then->gap, one_line);
  rule *keeping = then->relation == GRAZE_CLEARANCE ? gz_check_clearance_rule(c, known->a, known->b) : NULL;
  if (keeping != NULL) keeping->pairs++;
  rule *forgiving = clash.forgiven ? gz_check_forgiving_rule(c, known->a, known->b) : NULL;
  if (forgiving != NULL) forgiving->pairs++;
  return clash;
}

static bool stands_before(const known_clash *known, const graze_object_pair *pair) {
  return known->a != pair->user_id_a ? known->a < pair->user_id_a : known->b < pair->user_id_b;
}

/* What was found now and what was known, in the order of the check. */
static graze_status fill_clashes(graze_check *c) {
  const earlier *e = &c->earlier;
  bool listed = c->def.triangles;
  uint32_t count = 0, next = 0;
  c->clashes = gz_check_alloc(c, c->result.pair_count + e->clash_count, sizeof *c->clashes);
  if (c->clashes == NULL) return GRAZE_ERROR_MEMORY;
  for (uint64_t i = 0; i < c->result.pair_count; i++) {
    const graze_object_pair *pair = &c->result.pairs[i];
    while (next < e->clash_count && stands_before(&e->clashes[next], pair))
      c->clashes[count++] = known_clash_of(c, &e->clashes[next++], listed);
    if ((c->def.relations >> pair->verdict.relation & 1) == 0) {
      c->left_out += pair->verdict.relation != GRAZE_SEPARATE;
      continue;
    }
    graze_report_clash *clash = &c->clashes[count++];
    *clash = clash_of(pair, listed);
    gz_check_forgive(c, &pair->outline, clash);
    if (clash->relation == GRAZE_CLEARANCE) gz_check_clearance_rule(c, clash->a, clash->b)->pairs++;
    if (clash->relation == GRAZE_UNKNOWN && (clash->reason = reason_of(c, pair)) == NULL) return GRAZE_ERROR_MEMORY;
  }
  while (next < e->clash_count) c->clashes[count++] = known_clash_of(c, &e->clashes[next++], listed);
  c->report.clashes = c->clashes;
  c->report.clash_count = count;
  return GRAZE_OK;
}

/* ---- the history of a clash ------------------------------------------------------------------------------------ */

/* The clashes that stand in the report then, to be grouped. */
static graze_status merge_previous(graze_check *c, graze_report_clash **clashes) {
  graze_report *r = &c->report;
  *clashes = c->clashes;
  if (c->earlier.report == NULL) return GRAZE_OK;
  graze_status status = graze_report_merge_previous(c->context, r, c->earlier.report, &c->merged);
  if (status != GRAZE_OK) return status;
  r->objects = c->merged.objects;
  r->object_count = c->merged.object_count;
  r->clashes = *clashes = c->merged.clashes;
  r->clash_count = c->merged.clash_count;
  return GRAZE_OK;
}

/* What the records of a check and of meshes against themselves end with; objects and clashes are there. */
static graze_status finish(graze_check *c, bool complete) {
  graze_report *r = &c->report;
  graze_report_clash *clashes;
  gz_check_record_fill(c);
  r->complete = complete;
  if (fixed_time() == NULL) {
    r->load_seconds = c->load_seconds;
    r->build_seconds = c->build_seconds;
    r->query_seconds = c->query_seconds;
  }
  graze_status status = graze_report_identify(c->context, r->objects, r->object_count, c->clashes, r->clash_count);
  if (status == GRAZE_OK) status = merge_previous(c, &clashes);
  if (status != GRAZE_OK) return status;
  status = graze_report_group_clashes(c->context, r->objects, r->object_count, clashes, r->clash_count, &c->groups);
  r->groups = c->groups.groups;
  r->group_count = c->groups.group_count;
  return status;
}

graze_status gz_check_record_finish(graze_check *c, bool complete) {
  graze_report *r = &c->report;
  graze_status status = fill_clashes(c);
  if (status == GRAZE_OK && complete) status = gz_check_find_depths(c);
  if (status != GRAZE_OK) return status;
  r->object_pairs = c->result.object_pairs + c->earlier.count;
  r->reused_pairs = c->earlier.count;
  return finish(c, complete);
}

graze_status gz_check_record_finish_self(graze_check *c) {
  c->report_objects = gz_check_alloc(c, c->object_count, sizeof *c->report_objects);
  const char *title = c->def.title != NULL ? c->def.title : gz_check_print(c, "%s against itself", c->report.title);
  if (c->report_objects == NULL || title == NULL) return GRAZE_ERROR_MEMORY;
  c->report.title = title;
  c->report.objects = c->report_objects;
  c->report.object_count = c->object_count;
  c->report.clashes = c->clashes;
  graze_status status = finish(c, true);
  c->ran = status == GRAZE_OK;
  return status;
}
