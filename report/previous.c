/* previous.c: reads an earlier report back. Strict, as a reviewer edits these files by hand: what is not understood
 * must not be lost without a word, an approval least of all. jansson takes the JSON apart and keeps the strings.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "history.h"
#include "out.h"

/* What is being read, and where a complaint goes. */
typedef struct reading {
  const char *name; /* of the file */
  graze_report_previous *previous;
  const graze_context *context;
  graze_status status;
} reading;

/* Notes a complaint about `place`, like "pairs[3]", and returns false. */
static bool fail_at(reading *r, const char *place, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail_at(reading *r, const char *place, const char *format, ...) {
  char reason[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  r->status = gz_fail_named(r->context, GRAZE_ERROR_FORMAT, r->name, "", "%s%s%s", place, *place ? ": " : "", reason);
  return false;
}

static bool fail_memory(reading *r) {
  r->status = gz_report_fail_memory(r->context, r->name);
  return false;
}

/* ---- values ---- */

static bool check_keys(reading *r, json_t *object, const char *const *known, const char *place) {
  const char *key;
  json_t *value;
  if (!json_is_object(object)) return fail_at(r, place, "not an object");
  json_object_foreach(object, key, value) {
    size_t i = 0;
    while (known[i] != NULL && strcmp(known[i], key) != 0) i++;
    if (known[i] == NULL) return fail_at(r, place, "unknown key \"%s\"", gz_report_quote(key).text);
  }
  return true;
}

/* An absent text is `otherwise`; NULL there: it must be present. */
static bool get_text(reading *r, const json_t *object, const char *key, const char *otherwise, const char *place,
                     const char **text) {
  const json_t *value = json_object_get(object, key);
  *text = otherwise;
  if (value == NULL && otherwise != NULL) return true;
  if (!json_is_string(value)) return fail_at(r, place, "\"%s\" is %s", key, value ? "not a string" : "missing");
  *text = json_string_value(value);
  return true;
}

static bool get_count(reading *r, const json_t *object, const char *key, const char *place, uint64_t *number) {
  const json_t *value = json_object_get(object, key);
  *number = 0;
  if (value == NULL) return true;
  if (!json_is_integer(value) || json_integer_value(value) < 0) {
    return fail_at(r, place, "\"%s\" is not a whole number of 0 or more", key);
  }
  *number = (uint64_t)json_integer_value(value);
  return true;
}

/* 16 hex digits. `there`: the key is there. */
static bool get_hash(reading *r, const json_t *object, const char *key, const char *place, uint64_t *hash,
                     bool *there) {
  const char *text;
  *hash = 0;
  *there = json_object_get(object, key) != NULL;
  if (!get_text(r, object, key, "", place, &text)) return false;
  if (*there && (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)) {
    return fail_at(r, place, "\"%s\" is not 16 hex digits", key);
  }
  for (const char *c = text; *c; c++) *hash = *hash << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
  return true;
}

static bool get_numbers(const json_t *value, double numbers[3]) {
  bool good = json_array_size(value) == 3;
  for (size_t k = 0; k < 3; k++) {
    const json_t *entry = json_array_get(value, k);
    numbers[k] = json_number_value(entry);
    good = good && json_is_number(entry);
  }
  return good;
}

/* `there` false: absent or null. */
static bool get_point(reading *r, const json_t *object, const char *key, const char *place, double point[3],
                      bool *there) {
  const json_t *value = json_object_get(object, key);
  *there = value != NULL && !json_is_null(value);
  for (size_t k = 0; k < 3; k++) point[k] = NAN;
  return !*there || get_numbers(value, point) || fail_at(r, place, "\"%s\" is not an array of 3 numbers", key);
}

static bool get_box(reading *r, json_t *object, const char *place, graze_box *box) {
  static const char *const known[] = {"min", "max", NULL};
  json_t *value = json_object_get(object, "box");
  bool min = false, max = false;
  *box = graze_box_empty();
  if (value == NULL || json_is_null(value)) return true;
  char inside[100];
  snprintf(inside, sizeof inside, "%s.box", place);
  if (!check_keys(r, value, known, inside) || !get_point(r, value, "min", inside, box->min, &min) ||
      !get_point(r, value, "max", inside, box->max, &max)) {
    return false;
  }
  return (min && max) || fail_at(r, inside, "\"min\" or \"max\" is missing");
}

/* The number of the word in the list; fails when it is none of them. */
static bool get_word(reading *r, const json_t *object, const char *key, const char *otherwise, const char *place,
                     const char *const *words, unsigned *number) {
  const char *text;
  if (!get_text(r, object, key, otherwise, place, &text)) return false;
  for (*number = 0; words[*number] != NULL; ++*number) {
    if (strcmp(words[*number], text) == 0) return true;
  }
  return fail_at(r, place, "\"%s\" is \"%s\", which it cannot be", key, gz_report_quote(text).text);
}

bool gz_report_is_mark(const char *mark) {
  return *mark == 0 || strcmp(mark, "reviewed") == 0 || strcmp(mark, "approved") == 0;
}

/* ---- objects ---- */

static bool get_parts(reading *r, const json_t *object, const char *key, const char *place, uint32_t *parts) {
  uint64_t number;
  if (!get_count(r, object, key, place, &number)) return false;
  *parts = (uint32_t)number;
  return number <= UINT32_MAX || fail_at(r, place, "\"%s\" is above %u", key, UINT32_MAX);
}

/* What is told of the object's mesh. */
static bool read_mesh(reading *r, json_t *value, const char *place, report_previous_object *object) {
  static const char *const known[] = {"winding", "parity", "surface", NULL};
  const json_t *closed = json_object_get(value, "closed");
  json_t *solid = json_object_get(value, "solid");
  char inside[100];
  snprintf(inside, sizeof inside, "%s.solid", place);
  object->told = json_is_boolean(closed) && solid != NULL;
  object->closed = json_is_true(closed);
  return solid == NULL ||
         (check_keys(r, solid, known, inside) && get_parts(r, solid, "winding", inside, &object->solid.winding_parts) &&
          get_parts(r, solid, "parity", inside, &object->solid.parity_parts) &&
          get_parts(r, solid, "surface", inside, &object->solid.surface_parts));
}

static bool tell_the_same(const report_previous_object *a, const report_previous_object *b) {
  return a->told && b->told && a->closed == b->closed && a->solid.winding_parts == b->solid.winding_parts &&
         a->solid.parity_parts == b->solid.parity_parts && a->solid.surface_parts == b->solid.surface_parts;
}

/* Objects of one mesh should say the same of it. */
static void note_mesh(graze_report_previous *previous, const report_previous_object *object) {
  uint32_t *value = gz_map_add(&previous->meshes, object->mesh_hash, (uint32_t)(object - previous->objects));
  if (*value != UINT32_MAX && !tell_the_same(object, &previous->objects[*value])) *value = UINT32_MAX;
}

static bool read_object(reading *r, json_t *value, const char *place, report_previous_object *object) {
  static const char *const known[] = {"name",   "mesh",  "triangles", "degenerate", "closed",    "solid",
                                      "radius", "layer", "file",      "mesh_hash",  "pose_hash", NULL};
  bool mesh = false, pose = false;
  if (!check_keys(r, value, known, place) || !get_text(r, value, "name", NULL, place, &object->name) ||
      !get_text(r, value, "mesh", "", place, &object->file) ||
      !get_text(r, value, "layer", "", place, &object->layer) ||
      !get_hash(r, value, "mesh_hash", place, &object->mesh_hash, &mesh) ||
      !get_hash(r, value, "pose_hash", place, &object->pose_hash, &pose) || !read_mesh(r, value, place, object)) {
    return false;
  }
  object->hashed = mesh && pose;
  if (mesh) note_mesh(r->previous, object);
  return true;
}

static bool open_names(reading *r) {
  graze_report_previous *p = r->previous;
  const char **names = gz_new(r->context, (size_t)p->object_count + 1, sizeof *names);
  for (uint32_t i = 0; names != NULL && i < p->object_count; i++) names[i] = p->objects[i].name;
  bool good = names != NULL && gz_report_names_open(r->context, &p->names, names, p->object_count);
  gz_free(names);
  if (!good) return fail_memory(r);
  if (p->names.repeated == UINT32_MAX) return true;
  return fail_at(r, "objects", "two have the name \"%s\"", gz_report_quote(p->objects[p->names.repeated].name).text);
}

/* The array at `key`; absent is empty when it may be. */
static bool get_array(reading *r, const json_t *root, const char *key, bool needed, json_t **array, uint32_t *count) {
  *array = json_object_get(root, key);
  *count = 0;
  if (*array == NULL && !needed) return true;
  if (!json_is_array(*array)) return fail_at(r, "", "\"%s\" is %s", key, *array ? "not an array" : "missing");
  if (json_array_size(*array) >= UINT32_MAX / 2) return fail_at(r, key, "too many");
  *count = (uint32_t)json_array_size(*array);
  return true;
}

static bool read_objects(reading *r, const json_t *root) {
  graze_report_previous *p = r->previous;
  json_t *array;
  if (!get_array(r, root, "objects", true, &array, &p->object_count)) return false;
  p->objects = gz_new_zeroed(r->context, (size_t)p->object_count + 1, sizeof *p->objects);
  if (p->objects == NULL || !gz_map_open(r->context, &p->meshes, p->object_count)) return fail_memory(r);
  for (uint32_t i = 0; i < p->object_count; i++) {
    char place[40];
    snprintf(place, sizeof place, "objects[%lu]", (unsigned long)i);
    if (!read_object(r, json_array_get(array, i), place, &p->objects[i])) return false;
  }
  return open_names(r);
}

/* ---- clashes ---- */

static bool read_counts(reading *r, const json_t *value, const char *place, graze_counts *counts) {
  bool ignored;
  return get_count(r, value, "triangle_pairs", place, &counts->triangle_pairs) &&
         get_count(r, value, "points", place, &counts->points) &&
         get_count(r, value, "segments", place, &counts->segments) &&
         get_count(r, value, "areas", place, &counts->areas) &&
         get_count(r, value, "coplanar", place, &counts->coplanar) &&
         get_count(r, value, "degenerate", place, &counts->degenerate) &&
         get_hash(r, value, "hash", place, &counts->hash, &ignored);
}

static bool read_words(reading *r, const json_t *value, const char *place, bool resolved,
                       graze_report_previous_clash *clash) {
  static const char *const relations[] = {"separate", "clearance", "touch",   "cross", "a_in_b",
                                          "b_in_a",   "duplicate", "unknown", NULL};
  static const char *const states[] = {"", "new", "active", NULL}, *const gone[] = {"resolved", NULL};
  unsigned relation, state;
  if (!get_word(r, value, "relation", NULL, place, relations, &relation) ||
      !get_word(r, value, "state", resolved ? "resolved" : "", place, resolved ? gone : states, &state) ||
      !get_text(r, value, "found", r->previous->created, place, &clash->found) ||
      !get_text(r, value, "mark", "", place, &clash->mark) ||
      !get_text(r, value, "comment", "", place, &clash->comment)) {
    return false;
  }
  clash->relation = (graze_relation)relation;
  clash->state = resolved ? GRAZE_STATE_RESOLVED : (graze_report_state)state;
  if (gz_report_is_mark(clash->mark)) return true;
  return fail_at(r, place, "\"mark\" is \"%s\"; it can be \"\", \"reviewed\" or \"approved\"",
                 gz_report_quote(clash->mark).text);
}

/* Makes room for the polylines: one block, the points and then the starts. */
static bool open_curve(reading *r, const json_t *lines, const char *place, graze_report_previous_clash *clash,
                       double (**room_for_points)[3], uint32_t **room_for_starts) {
  size_t count = json_array_size(lines), points = 0;
  if (!json_is_array(lines)) return fail_at(r, place, "\"curve\" is not an array");
  for (size_t i = 0; i < count; i++) points += json_array_size(json_array_get(lines, i));
  if (points + count >= UINT32_MAX / 2) return fail_at(r, place, "\"curve\" has too many points");
  double(*room)[3] = gz_new(r->context, (points + 1) * sizeof *room + (count + 1) * sizeof(uint32_t), 1);
  if (room == NULL) return fail_memory(r);
  *room_for_points = room;
  *room_for_starts = (uint32_t *)(room + points + 1);
  clash->curve_points = (const double(*)[3])room;
  clash->curve_starts = *room_for_starts;
  clash->curve_count = (uint32_t)count;
  return true;
}

/* Absent where the surfaces do not meet, and in reports without curves. */
static bool get_curve(reading *r, const json_t *value, const char *place, graze_report_previous_clash *clash) {
  const json_t *lines = json_object_get(value, "curve");
  if (lines == NULL) return true;
  double(*points)[3] = NULL;
  uint32_t *starts = NULL, next = 0;
  if (!open_curve(r, lines, place, clash, &points, &starts)) return false;
  for (uint32_t k = 0; k < clash->curve_count; k++) {
    const json_t *line = json_array_get(lines, k);
    size_t count = json_array_size(line);
    if (count == 0) return fail_at(r, place, "polyline %lu of \"curve\" has no points", (unsigned long)k);
    starts[k] = next;
    for (size_t i = 0; i < count; i++, next++) {
      if (!get_numbers(json_array_get(line, i), points[next]))
        return fail_at(r, place, "\"curve\" has a point that is not 3 numbers");
    }
  }
  starts[clash->curve_count] = next;
  return true;
}

static bool get_length(reading *r, const json_t *value, const char *key, const char *place, double *length) {
  const json_t *number = json_object_get(value, key);
  *length = json_number_value(number);
  if (json_is_number(number) && *length >= 0) return true;
  return fail_at(r, place, "\"%s\" is %s", key, number ? "not a length of 0 or more" : "missing");
}

/* Absent where nothing is nearer than it may be. */
static bool get_gap(reading *r, const json_t *value, const char *place, graze_report_previous_clash *clash) {
  const json_t *points = json_object_get(value, "nearest");
  graze_gap *gap = &clash->gap;
  bool counted;
  if (json_object_get(value, "gap") == NULL) {
    return (points == NULL && json_object_get(value, "clearance") == NULL) ||
           fail_at(r, place, "\"nearest\" and \"clearance\" go with \"gap\"");
  }
  gap->found = true;
  if (!get_length(r, value, "gap", place, &gap->distance) ||
      !get_length(r, value, "clearance", place, &gap->clearance) ||
      !get_count(r, value, "near_pairs", place, &gap->near_pairs) ||
      !get_hash(r, value, "near_hash", place, &gap->near_hash, &counted)) {
    return false;
  }
  if (json_array_size(points) == 2 && get_numbers(json_array_get(points, 0), gap->points[0]) &&
      get_numbers(json_array_get(points, 1), gap->points[1])) {
    return true;
  }
  return fail_at(r, place, "\"nearest\" is not two points");
}

static bool find_objects(reading *r, const graze_report_previous_clash *clash, const char *place, uint32_t objects[2]) {
  const char *const names[2] = {clash->a, clash->b};
  for (int k = 0; k < 2; k++) {
    objects[k] = gz_report_names_find(&r->previous->names, names[k]);
    if (objects[k] != UINT32_MAX || clash->state == GRAZE_STATE_RESOLVED) continue;
    return fail_at(r, place, "no object has the name \"%s\"", gz_report_quote(names[k]).text);
  }
  if (strcmp(clash->a, clash->b) == 0) return fail_at(r, place, "\"a\" and \"b\" are the same object");
  return true;
}

/* A report of the time before ids: the two names alone. */
static bool make_id(reading *r, json_t *value, graze_report_previous_clash *clash) {
  char id[24];
  gz_report_make_id(clash->a, clash->b, NULL, 0, 0, id);
  if (json_object_set_new(value, "id", json_string(id)) != 0) return fail_memory(r);
  clash->id = json_string_value(json_object_get(value, "id"));
  return true;
}

/* That it is forgiven, with what it ends. */
static bool get_proof(reading *r, json_t *value, const char *place, graze_report_previous_clash *clash) {
  const json_t *forgiven = json_object_get(value, "forgiven"), *tolerance = json_object_get(value, "tolerance"),
               *corners = json_object_get(value, "moved_corners");
  bool moved;
  if (forgiven != NULL && !json_is_boolean(forgiven)) return fail_at(r, place, "\"forgiven\" is not true or false");
  clash->forgiven = json_is_true(forgiven);
  if (!get_point(r, value, "translation", place, clash->translation, &moved)) return false;
  clash->moved_corners = json_number_value(corners);
  if (corners != NULL && (!clash->forgiven || !(clash->moved_corners > 0)))
    return fail_at(r, place, "\"moved_corners\" is not the length of a forgiven clash");
  if (clash->forgiven != (moved != (corners != NULL)))
    return fail_at(r, place, "\"forgiven\" and \"translation\" do not go together");
  clash->tolerance = json_number_value(tolerance);
  if (tolerance != NULL && (!clash->forgiven || !json_is_number(tolerance) || !(clash->tolerance >= 0)))
    return fail_at(r, place, "\"tolerance\" is not the length of a forgiven clash");
  return true;
}

static bool read_clash(reading *r, json_t *value, const char *place, bool resolved, uint32_t index) {
  static const char *const known[] = {"a",
                                      "b",
                                      "relation",
                                      "reason",
                                      "triangle_pairs",
                                      "points",
                                      "segments",
                                      "areas",
                                      "coplanar",
                                      "degenerate",
                                      "hash",
                                      "triangles",
                                      "id",
                                      "state",
                                      "found",
                                      "mark",
                                      "comment",
                                      "point",
                                      "box",
                                      "groups",
                                      "depth_estimate",
                                      "forgiven",
                                      "translation",
                                      "moved_corners",
                                      "tolerance",
                                      "curve",
                                      "gap",
                                      "nearest",
                                      "clearance",
                                      "near_pairs",
                                      "near_hash",
                                      "depth",
                                      "depth_lower",
                                      "depth_translation",
                                      NULL};
  graze_report_previous_clash *clash = &r->previous->clashes[index];
  if (!check_keys(r, value, known, place) || !get_text(r, value, "a", NULL, place, &clash->a) ||
      !get_text(r, value, "b", NULL, place, &clash->b) || !get_text(r, value, "id", "", place, &clash->id) ||
      !read_words(r, value, place, resolved, clash) || !read_counts(r, value, place, &clash->counts) ||
      !get_point(r, value, "point", place, clash->point, &clash->placed) || !get_box(r, value, place, &clash->box) ||
      !get_curve(r, value, place, clash) || !get_gap(r, value, place, clash) ||
      !find_objects(r, clash, place, r->previous->clash_objects[index])) {
    return false;
  }
  const json_t *depth = json_object_get(value, "depth_estimate");
  clash->depth = json_is_number(depth) ? json_number_value(depth) : NAN;
  if (depth != NULL && !json_is_number(depth) && !json_is_null(depth)) {
    return fail_at(r, place, "\"depth_estimate\" is not a number");
  }
  if (!get_proof(r, value, place, clash)) return false;
  if (json_object_get(value, "id") == NULL) return make_id(r, value, clash);
  return gz_report_is_id(clash->id) || fail_at(r, place, "\"id\" is not 1 to 23 letters, digits and '-'");
}

static bool check_ids(reading *r) {
  const graze_report_previous *p = r->previous;
  const char **ids = gz_new(r->context, (size_t)p->clash_count + 1, sizeof *ids);
  report_names list = {0};
  for (uint32_t i = 0; ids != NULL && i < p->clash_count; i++) ids[i] = p->clashes[i].id;
  bool good = ids != NULL && gz_report_names_open(r->context, &list, ids, p->clash_count);
  gz_free(ids);
  if (!good) return fail_memory(r);
  if (list.repeated != UINT32_MAX)
    good = fail_at(r, "", "two clashes have the id \"%s\"", p->clashes[list.repeated].id);
  gz_report_names_close(&list);
  return good;
}

static bool read_clashes(reading *r, const json_t *root) {
  graze_report_previous *p = r->previous;
  json_t *pairs, *resolved;
  uint32_t pair_count, resolved_count;
  if (!get_array(r, root, "pairs", true, &pairs, &pair_count)) return false;
  if (!get_array(r, root, "resolved", false, &resolved, &resolved_count)) return false;
  p->clash_count = pair_count + resolved_count;
  p->clashes = gz_new_zeroed(r->context, (size_t)p->clash_count + 1, sizeof *p->clashes);
  p->clash_objects = gz_new_zeroed(r->context, (size_t)p->clash_count + 1, sizeof *p->clash_objects);
  if (p->clashes == NULL || p->clash_objects == NULL) return fail_memory(r);
  for (uint32_t i = 0; i < p->clash_count; i++) {
    char place[40];
    bool gone = i >= pair_count;
    snprintf(place, sizeof place, "%s[%lu]", gone ? "resolved" : "pairs", (unsigned long)(gone ? i - pair_count : i));
    if (!read_clash(r, json_array_get(gone ? resolved : pairs, gone ? i - pair_count : i), place, gone, i))
      return false;
  }
  return check_ids(r);
}

/* ---- the whole ---- */

static bool read_rules(reading *r, const json_t *root) {
  static const char *const known[] = {"text", "pairs", NULL};
  graze_report_previous *p = r->previous;
  json_t *array;
  if (!get_array(r, root, "rules", false, &array, &p->rule_count)) return false;
  p->rules = gz_new_zeroed(r->context, (size_t)p->rule_count + 1, sizeof *p->rules);
  if (p->rules == NULL) return fail_memory(r);
  for (uint32_t i = 0; i < p->rule_count; i++) {
    char place[40];
    json_t *rule = json_array_get(array, i);
    snprintf(place, sizeof place, "rules[%lu]", (unsigned long)i);
    if (!check_keys(r, rule, known, place) || !get_text(r, rule, "text", NULL, place, &p->rules[i])) return false;
  }
  return true;
}

static bool read_root(reading *r, json_t *root) {
  static const char *const known[] = {"graze", "format",  "engine", "exactness", "status", "title",  "created", "units",
                                      "rules", "objects", "pairs",  "resolved",  "groups", "counts", "seconds", NULL};
  static const char *const statuses[] = {"incomplete", "complete", NULL};
  graze_report_previous *p = r->previous;
  const char *ignored;
  unsigned status;
  if (!check_keys(r, root, known, "") || !get_text(r, root, "graze", NULL, "", &p->version) ||
      !get_text(r, root, "engine", "", "", &ignored) || !get_text(r, root, "exactness", NULL, "", &p->exactness) ||
      !get_word(r, root, "status", NULL, "", statuses, &status) || !get_text(r, root, "title", "", "", &ignored) ||
      !get_text(r, root, "created", "", "", &p->created) || !get_text(r, root, "units", "", "", &p->units)) {
    return false;
  }
  p->complete = status == 1;
  const json_t *format = json_object_get(root, "format"); /* without it, a file from before there were numbers */
  if (format != NULL && json_integer_value(format) != GZ_JSON_FORMAT)
    return fail_at(r, "", "\"format\" is not %d: a layout of reports that is not known here", GZ_JSON_FORMAT);
  return read_rules(r, root) && read_objects(r, root) && read_clashes(r, root);
}

graze_status graze_report_previous_parse(graze_context *context, const void *bytes, size_t size, const char *name,
                                         graze_report_previous **previous) {
  json_error_t json;
  if (previous != NULL) *previous = NULL;
  if (context == NULL || (bytes == NULL && size > 0) || name == NULL || previous == NULL) {
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, name != NULL ? name : "report", "",
                         "an argument of the reading call is invalid");
  }
  reading r = {.name = name, .context = context, .previous = gz_new_zeroed(context, 1, sizeof *r.previous)};
  if (r.previous == NULL) return gz_report_fail_memory(context, name);
  r.previous->root = json_loadb(size > 0 ? bytes : "", size, JSON_REJECT_DUPLICATES, &json);
  if (r.previous->root != NULL) {
    read_root(&r, r.previous->root);
  } else if (json_error_code(&json) == json_error_out_of_memory) {
    fail_memory(&r);
  } else {
    char place[24];
    snprintf(place, sizeof place, "%d:", json.line > 0 ? json.line : 1);
    r.status = gz_fail_named(context, GRAZE_ERROR_FORMAT, name, place, "%s", json.text);
  }
  if (r.status != GRAZE_OK) {
    graze_report_previous_destroy(r.previous);
    return r.status;
  }
  *previous = r.previous;
  return GRAZE_OK;
}

graze_status graze_report_previous_read(graze_context *context, const char *path, graze_report_previous **previous) {
  gz_whole file;
  if (context == NULL || path == NULL || previous == NULL)
    return graze_report_previous_parse(context, NULL, 0, path, previous);
  *previous = NULL;
  graze_status status = gz_report_read_file(context, path, &file);
  if (status != GRAZE_OK) return status;
  status = graze_report_previous_parse(context, file.bytes, file.size, path, previous);
  gz_free(file.bytes);
  return status;
}

void graze_report_previous_destroy(graze_report_previous *previous) {
  if (previous == NULL) return;
  for (uint32_t i = 0; i < previous->text_count; i++) gz_free(previous->texts[i]);
  gz_free(previous->texts);
  gz_free(previous->objects);
  gz_report_names_close(&previous->names);
  gz_map_close(&previous->meshes);
  gz_free(previous->rules);
  for (uint32_t i = 0; previous->clashes != NULL && i < previous->clash_count; i++)
    gz_free(previous->clashes[i].curve_points);
  gz_free(previous->clashes);
  gz_free(previous->clash_objects);
  json_decref(previous->root);
  gz_free(previous);
}

bool graze_report_previous_mesh(const graze_report_previous *previous, uint64_t mesh_hash, bool *closed,
                                graze_solid_facts *solid) {
  const uint32_t *object = gz_map_find(&previous->meshes, mesh_hash);
  if (object == NULL || *object == UINT32_MAX || strcmp(previous->version, graze_version()) != 0) return false;
  *closed = previous->objects[*object].closed;
  *solid = previous->objects[*object].solid;
  return true;
}

const graze_report_previous_clash *graze_report_previous_clashes(const graze_report_previous *previous,
                                                                 uint32_t *count) {
  *count = previous->clash_count;
  return previous->clashes;
}
