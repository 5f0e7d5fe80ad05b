/* merge_previous.c: what became of the clashes of the earlier report.
 *
 * A clash of now and one of then are the same when they have the same two objects and the same id; or when each side
 * has just one clash of the two objects; else the nearest ones are, within two cells of the grid of places and of one
 * class of relation. An object that is gone while another one with the same mesh, pose and layer is new was renamed.
 *
 * Marks are not kept where that would hide something: a clash that was resolved and came back has lost its mark, and
 * so has one whose relation is of another class than the one that was judged (touch, clearance, all that overlaps).
 * `unknown` says nothing about the class, so it keeps the mark; reports show it as an error all the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "out.h"

typedef struct merging {
  const graze_context *context;
  const graze_report *now;
  const graze_report_previous *then;
  graze_report_merged *out;
  report_names names;   /* of the objects of now */
  uint32_t *became;     /* number now of every earlier object; UINT32_MAX = gone */
  uint32_t (*pairs)[2]; /* of every earlier clash, numbers now in the order of its a and b */
  bool *matched;        /* of the earlier clashes */
  bool *adopted;        /* of the clashes of now: has an earlier clash's id */
  bool same_units;
} merging;

/* ---- objects ---- */

/* One key for what a renamed object keeps. */
static uint64_t geometry_key(uint64_t mesh_hash, uint64_t pose_hash) {
  uint64_t mixed = mesh_hash ^ (pose_hash << 23 | pose_hash >> 41);
  return graze_pair_hash((uint32_t)(mixed >> 32), (uint32_t)mixed);
}

static uint64_t key_now(const graze_report_object *object) {
  graze_mesh_facts facts = {0};
  gz_report_object_facts(object, &facts);
  return geometry_key(facts.hash, graze_report_pose_hash(&object->pose));
}

static const char *text_or_empty(const char *text) {
  return text != NULL ? text : "";
}

static bool is_same_geometry(const report_previous_object *then, const graze_report_object *now) {
  graze_mesh_facts facts;
  return gz_report_object_facts(now, &facts) && then->mesh_hash == facts.hash &&
         then->pose_hash == graze_report_pose_hash(&now->pose) && strcmp(then->layer, text_or_empty(now->layer)) == 0;
}

enum { AMBIGUOUS = UINT32_MAX - 1 };

/* Objects of now that the earlier report did not have, by geometry. */
static void note_new_objects(const merging *work, gz_map *map) {
  for (uint32_t i = 0; i < work->now->object_count; i++) {
    const graze_report_object *object = &work->now->objects[i];
    if (!report_is_present(object) || gz_report_names_find(&work->then->names, object->name) != UINT32_MAX) continue;
    uint32_t *value = gz_map_add(map, key_now(object), i);
    if (*value != i) *value = AMBIGUOUS;
  }
}

/* Finds the new name of objects that are gone; those that could have several new names, or share one, stay gone. */
static bool find_renamed(merging *work) {
  const graze_report_previous *then = work->then;
  gz_map fresh, gone;
  if (!gz_map_open(work->context, &fresh, work->now->object_count)) return false;
  if (!gz_map_open(work->context, &gone, then->object_count)) {
    gz_map_close(&fresh);
    return false;
  }
  note_new_objects(work, &fresh);
  for (uint32_t i = 0; i < then->object_count; i++) {
    if (work->became[i] != UINT32_MAX || !then->objects[i].hashed) continue;
    uint32_t *value = gz_map_add(&gone, geometry_key(then->objects[i].mesh_hash, then->objects[i].pose_hash), i);
    if (*value != i) *value = AMBIGUOUS;
  }
  for (uint32_t i = 0; i < then->object_count; i++) {
    const report_previous_object *object = &then->objects[i];
    if (work->became[i] != UINT32_MAX || !object->hashed) continue;
    uint64_t key = geometry_key(object->mesh_hash, object->pose_hash);
    const uint32_t *single = gz_map_find(&gone, key), *found = gz_map_find(&fresh, key);
    if (*single != i || found == NULL || *found == AMBIGUOUS) continue;
    if (is_same_geometry(object, &work->now->objects[*found])) work->became[i] = *found;
  }
  gz_map_close(&fresh);
  gz_map_close(&gone);
  return true;
}

static bool find_objects(merging *work) {
  const graze_report_previous *then = work->then;
  for (uint32_t i = 0; i < then->object_count; i++) {
    work->became[i] = gz_report_names_find(&work->names, then->objects[i].name);
  }
  if (!find_renamed(work)) return false;
  for (uint32_t i = 0; i < then->clash_count; i++) {
    const char *const names[2] = {then->clashes[i].a, then->clashes[i].b};
    for (int k = 0; k < 2; k++) {
      uint32_t object = then->clash_objects[i][k];
      work->pairs[i][k] = object != UINT32_MAX ? work->became[object] : gz_report_names_find(&work->names, names[k]);
    }
  }
  return true;
}

/* ---- which is which ---- */

static int relation_class(graze_relation relation) {
  return relation == GRAZE_CLEARANCE ? 0 : relation == GRAZE_TOUCH ? 1 : 2;
}

static bool is_same_class(graze_relation a, graze_relation b) {
  return a == GRAZE_UNKNOWN || b == GRAZE_UNKNOWN || relation_class(a) == relation_class(b);
}

static bool is_mark_void(const graze_report_previous_clash *then, graze_relation now) {
  return then->state == GRAZE_STATE_RESOLVED || !is_same_class(then->relation, now);
}

static void match(merging *work, graze_report_clash *clash, uint32_t index) {
  const graze_report_previous_clash *then = &work->then->clashes[index];
  work->matched[index] = true;
  work->adopted[clash - work->out->clashes] = true;
  strcpy(clash->id, then->id);
  clash->state = then->state == GRAZE_STATE_RESOLVED ? GRAZE_STATE_NEW : GRAZE_STATE_ACTIVE;
  clash->found = then->found;
  clash->comment = then->comment;
  clash->mark = is_mark_void(then, clash->relation) ? "" : then->mark;
}

/* An entry of the list that is sorted by pair of objects: a clash of now, or of then. */
typedef struct side {
  uint32_t a, b; /* a < b */
  uint32_t index;
  bool then;
} side;

static int compare_sides(const void *x, const void *y) {
  const side *p = x, *q = y;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  if (p->b != q->b) return p->b < q->b ? -1 : 1;
  if (p->then != q->then) return q->then ? -1 : 1;
  return (p->index > q->index) - (p->index < q->index);
}

static double distance(const graze_report_clash *now, const graze_report_previous_clash *then) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum = hypot(sum, now->point[k] - then->point[k]);
  return sum;
}

static void match_ids(merging *work, const side *now, uint32_t now_count, const side *then, uint32_t then_count) {
  for (uint32_t i = 0; i < now_count; i++) {
    graze_report_clash *clash = &work->out->clashes[now[i].index];
    for (uint32_t k = 0; k < then_count; k++) {
      if (work->matched[then[k].index] || strcmp(work->then->clashes[then[k].index].id, clash->id) != 0) continue;
      match(work, clash, then[k].index);
      break;
    }
  }
}

/* Takes the nearest two of what is left, again and again. */
static void match_nearest(merging *work, const side *now, uint32_t now_count, const side *then, uint32_t then_count) {
  const graze_report *report = work->now;
  double reach = 2 * gz_report_place_cell(&report->objects[now[0].a], &report->objects[now[0].b]);
  for (;;) {
    double best = reach;
    uint32_t best_now = UINT32_MAX, best_then = UINT32_MAX;
    for (uint32_t i = 0; i < now_count; i++) {
      const graze_report_clash *clash = &work->out->clashes[now[i].index];
      if (clash->state != GRAZE_STATE_NONE) continue;
      for (uint32_t k = 0; k < then_count; k++) {
        const graze_report_previous_clash *old = &work->then->clashes[then[k].index];
        if (work->matched[then[k].index] || !is_same_class(old->relation, clash->relation)) continue;
        double apart = work->same_units ? distance(clash, old) : NAN;
        if (!(apart <= best)) continue;
        best = apart;
        best_now = now[i].index;
        best_then = then[k].index;
      }
    }
    if (best_now == UINT32_MAX) return;
    match(work, &work->out->clashes[best_now], best_then);
  }
}

/* All clashes of one pair of objects. */
static void match_pair(merging *work, const side *now, uint32_t now_count, const side *then, uint32_t then_count) {
  if (now_count == 1 && then_count == 1) {
    match(work, &work->out->clashes[now[0].index], then[0].index);
  } else if (now_count > 0) {
    match_ids(work, now, now_count, then, then_count);
    match_nearest(work, now, now_count, then, then_count);
  }
}

static void match_all(merging *work, side *list) {
  const graze_report_previous *then = work->then;
  uint32_t count = 0;
  for (uint32_t i = 0; i < work->now->clash_count; i++) {
    const graze_report_clash *clash = &work->now->clashes[i];
    if (gz_report_is_live(clash)) list[count++] = (side){clash->a, clash->b, i, false};
  }
  for (uint32_t i = 0; i < then->clash_count; i++) {
    uint32_t a = work->pairs[i][0], b = work->pairs[i][1];
    if (a == UINT32_MAX || b == UINT32_MAX || a == b || then->clashes[i].relation == GRAZE_SEPARATE) continue;
    list[count++] = (side){a < b ? a : b, a < b ? b : a, i, true};
  }
  qsort(list, count, sizeof *list, compare_sides);
  for (uint32_t first = 0; first < count;) {
    uint32_t middle, end;
    for (middle = first; middle < count && !list[middle].then; middle++) {
      if (list[middle].a != list[first].a || list[middle].b != list[first].b) break;
    }
    for (end = middle; end < count && list[end].then; end++) {
      if (list[end].a != list[first].a || list[end].b != list[first].b) break;
    }
    match_pair(work, list + first, middle - first, list + middle, end - middle);
    first = end;
  }
}

/* ---- what the earlier report adds ---- */

/* The object for a name that is not in the scene any more. */
static uint32_t gone_object(merging *work, const char *name, uint32_t earlier, gz_map *gone) {
  uint32_t *known = gz_map_add(gone, gz_report_id_key(name), work->out->object_count);
  if (*known != work->out->object_count) return *known;
  graze_report_object *object = &work->out->objects[work->out->object_count++];
  *object = (graze_report_object){.name = name, .layer = "", .file = "", .pose = graze_pose_identity()};
  if (earlier != UINT32_MAX) {
    object->layer = work->then->objects[earlier].layer;
    object->file = work->then->objects[earlier].file;
  }
  return *known;
}

static const char *reason_of(const merging *work, uint32_t index) {
  bool a = work->pairs[index][0] == UINT32_MAX, b = work->pairs[index][1] == UINT32_MAX;
  if (a && b) return "both objects are not in the scene any more";
  return a || b ? "one of the objects is not in the scene any more" : "it is not found any more";
}

static graze_relation swap_sides(graze_relation relation) {
  return relation == GRAZE_A_IN_B ? GRAZE_B_IN_A : relation == GRAZE_B_IN_A ? GRAZE_A_IN_B : relation;
}

static graze_report_clash merge_earlier(merging *work, uint32_t index, bool unseen, gz_map *gone) {
  const graze_report_previous_clash *then = &work->then->clashes[index];
  uint32_t a = work->pairs[index][0], b = work->pairs[index][1];
  if (a == UINT32_MAX) a = gone_object(work, then->a, work->then->clash_objects[index][0], gone);
  if (b == UINT32_MAX) b = gone_object(work, then->b, work->then->clash_objects[index][1], gone);
  graze_report_clash clash = {.a = a < b ? a : b,
                              .b = a < b ? b : a,
                              .relation = a < b ? then->relation : swap_sides(then->relation),
                              .reason = reason_of(work, index),
                              .box = then->box,
                              .depth = then->depth,
                              .state = GRAZE_STATE_RESOLVED,
                              .found = then->found,
                              .mark = then->mark,
                              .comment = then->comment};
  if (unseen) {
    clash.relation = GRAZE_UNKNOWN;
    clash.reason = "it was there before, and this check was stopped before it was looked at again";
    clash.state = GRAZE_STATE_ACTIVE;
  }
  memcpy(clash.point, then->point, sizeof clash.point);
  strcpy(clash.id, then->id);
  clash.group_object = clash.group_layers = clash.group_place = GRAZE_NO_GROUP;
  return clash;
}

/* The check of now was stopped early, and both objects are there: nobody knows whether they still clash. */
static bool is_unseen(const merging *work, uint32_t index) {
  return !work->now->complete && work->then->clashes[index].state != GRAZE_STATE_RESOLVED &&
         work->pairs[index][0] != UINT32_MAX && work->pairs[index][1] != UINT32_MAX;
}

/* First the unseen ones, then the resolved ones. */
static void append(merging *work, gz_map *gone) {
  graze_report_merged *out = work->out;
  for (int resolved = 0; resolved < 2; resolved++) {
    for (uint32_t i = 0; i < work->then->clash_count; i++) {
      bool unseen = is_unseen(work, i), same = work->pairs[i][0] == work->pairs[i][1];
      if (work->matched[i] || work->then->clashes[i].relation == GRAZE_SEPARATE || unseen == (bool)resolved) continue;
      if (same && work->pairs[i][0] != UINT32_MAX) continue;
      out->clashes[out->clash_count++] = merge_earlier(work, i, unseen, gone);
    }
  }
}

/* Ids that were given back stand first; one made now that is taken by them gets another. */
static bool make_ids_unique(merging *work) {
  graze_report_merged *out = work->out;
  gz_map taken;
  if (!gz_map_open(work->context, &taken, out->clash_count)) return false;
  for (uint32_t i = 0; i < out->clash_count; i++) {
    if (i >= work->now->clash_count || work->adopted[i]) gz_map_add(&taken, gz_report_id_key(out->clashes[i].id), i);
  }
  for (uint32_t i = 0; i < work->now->clash_count; i++) {
    graze_report_clash *clash = &out->clashes[i];
    uint32_t salt = 1;
    while (*gz_map_add(&taken, gz_report_id_key(clash->id), i) != i) {
      gz_report_make_id(out->objects[clash->a].name, out->objects[clash->b].name, clash->point, sizeof clash->point,
                        salt++, clash->id);
    }
  }
  gz_map_close(&taken);
  return true;
}

static void count_states(graze_report_merged *out) {
  for (uint32_t i = 0; i < out->clash_count; i++) {
    out->new_count += out->clashes[i].state == GRAZE_STATE_NEW;
    out->active_count += out->clashes[i].state == GRAZE_STATE_ACTIVE;
    out->resolved_count += out->clashes[i].state == GRAZE_STATE_RESOLVED;
  }
}

static bool merge(merging *work) {
  const graze_report *now = work->now;
  graze_report_merged *out = work->out;
  size_t earlier = work->then->clash_count;
  gz_map gone = {0};
  out->objects = gz_new_zeroed(work->context, now->object_count + 2 * earlier + 1, sizeof *out->objects);
  out->clashes = gz_new_zeroed(work->context, now->clash_count + earlier + 1, sizeof *out->clashes);
  side *list = gz_new_zeroed(work->context, now->clash_count + earlier + 1, sizeof *list);
  bool good =
      out->objects != NULL && out->clashes != NULL && list != NULL && gz_map_open(work->context, &gone, 2 * earlier);
  if (good) {
    if (now->object_count > 0) memcpy(out->objects, now->objects, now->object_count * sizeof *out->objects);
    if (now->clash_count > 0) memcpy(out->clashes, now->clashes, now->clash_count * sizeof *out->clashes);
    out->object_count = now->object_count;
    out->clash_count = now->clash_count;
    for (uint32_t i = 0; i < out->clash_count; i++) {
      graze_report_clash *clash = &out->clashes[i];
      clash->state = GRAZE_STATE_NONE;
      clash->group_object = clash->group_layers = clash->group_place = GRAZE_NO_GROUP;
    }
    match_all(work, list);
    for (uint32_t i = 0; i < out->clash_count; i++) {
      graze_report_clash *clash = &out->clashes[i];
      if (clash->state == GRAZE_STATE_NONE && gz_report_is_live(clash)) clash->state = GRAZE_STATE_NEW;
    }
    append(work, &gone);
    good = make_ids_unique(work);
    count_states(out);
  }
  gz_free(list);
  gz_map_close(&gone);
  return good;
}

graze_status graze_report_merge_previous(graze_context *context, const graze_report *now,
                                         const graze_report_previous *previous, graze_report_merged *merged) {
  if (merged == NULL || previous == NULL) {
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "an argument of the merging call is invalid");
  }
  *merged = (graze_report_merged){0};
  graze_status status = gz_report_check(context, now, "report");
  if (status != GRAZE_OK) return status;
  merging work = {.context = context, .now = now, .then = previous, .out = merged};
  work.same_units = strcmp(text_or_empty(now->units), previous->units) == 0;
  work.became = gz_new(context, (size_t)previous->object_count + 1, sizeof *work.became);
  work.pairs = gz_new(context, (size_t)previous->clash_count + 1, sizeof *work.pairs);
  work.matched = gz_new_zeroed(context, (size_t)previous->clash_count + 1, sizeof *work.matched);
  work.adopted = gz_new_zeroed(context, (size_t)now->clash_count + 1, sizeof *work.adopted);
  bool good = work.became != NULL && work.pairs != NULL && work.matched != NULL && work.adopted != NULL &&
              gz_report_object_names_open(context, &work.names, now->objects, now->object_count);
  good = good && find_objects(&work) && merge(&work);
  gz_report_names_close(&work.names);
  gz_free(work.became);
  gz_free(work.pairs);
  gz_free(work.matched);
  gz_free(work.adopted);
  if (good) return GRAZE_OK;
  graze_report_merged_free(merged);
  return gz_report_fail_memory(context, "report");
}

void graze_report_merged_free(graze_report_merged *merged) {
  if (merged == NULL) return;
  gz_free(merged->objects);
  gz_free(merged->clashes);
  *merged = (graze_report_merged){0};
}
