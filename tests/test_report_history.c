/* The history of a clash: ids under reordering and moves, groups, states and marks from run to run, and pairs that need
 * no second check. */
#include <math.h>
#include <string.h>

#include "report_world.h"

/* ---- ids ---- */

static const char *id_of(const world *w, const char *a, const char *b, int nth) {
  for (uint32_t i = 0; i < w->report.clash_count; i++) {
    const char *x = w->objects[w->clashes[i].a].name, *y = w->objects[w->clashes[i].b].name;
    bool same = (strcmp(x, a) == 0 && strcmp(y, b) == 0) || (strcmp(x, b) == 0 && strcmp(y, a) == 0);
    if (same && nth-- == 0) return w->clashes[i].id;
  }
  fail_msg("no clash of %s and %s", a, b);
  return NULL;
}

static void test_ids_under_reordering(void **state) {
  world w, other;
  (void)state;
  world_open(&w);
  fill_world(&w);
  world_open(&other);
  const int order[4] = {3, 1, 0, 2}; /* objects D B A C, clashes the other way round */
  for (int i = 0; i < 4; i++) {
    add_object(&other, w.objects[order[i]].name, "renamed layer", 17 + i);
    other.objects[i].mesh = other.slab;
  }
  add_clash(&other, 0, 3, GRAZE_CROSS, 2.4); /* touched before */
  add_clash(&other, 1, 3, GRAZE_CROSS, 1.7);
  add_clash(&other, 1, 2, GRAZE_CROSS, 900);
  identify(&other);
  const char *const pairs[3][2] = {{"A", "B"}, {"B", "C"}, {"C", "D"}};
  for (int i = 0; i < 3; i++) {
    assert_string_equal(id_of(&w, pairs[i][0], pairs[i][1], 0), id_of(&other, pairs[i][0], pairs[i][1], 0));
    for (int k = 0; k < i; k++) assert_string_not_equal(w.clashes[i].id, w.clashes[k].id);
    assert_int_equal(strlen(w.clashes[i].id), 14);
  }
  world_close(&w);
  world_close(&other);
}

/* Several clashes of two objects: told apart by place, in any order, also when they are moved together or a little. */
static void test_ids_of_one_pair(void **state) {
  world w, moved;
  (void)state;
  world_open(&w);
  world_open(&moved);
  for (int i = 0; i < 2; i++) {
    add_object(&w, i ? "B" : "A", "", i);
    add_object(&moved, i ? "A" : "B", "", 1000 + !i); /* the whole model is shifted, and B comes first */
  }
  static const double points[4] = {0.01, 5.01, 9.99, 9.99};
  for (int i = 0; i < 4; i++) {
    add_clash(&w, 0, 1, GRAZE_CROSS, points[i])->counts.hash = i;
    add_clash(&moved, 0, 1, GRAZE_CROSS, 1000 + points[3 - i] + 0.003)->counts.hash = 3 - i;
  }
  identify(&w);
  identify(&moved);
  for (int i = 0; i < 4; i++) {
    assert_string_equal(w.clashes[i].id, moved.clashes[3 - i].id);
    for (int k = 0; k < i; k++) assert_string_not_equal(w.clashes[i].id, w.clashes[k].id);
  }
  world_close(&w);
  world_close(&moved);
}

/* ---- groups ---- */

static const char *title_of(const graze_report_groups *groups, uint32_t number) {
  return number == GRAZE_NO_GROUP ? "none" : groups->groups[number].title;
}

static void test_groups(void **state) {
  world w;
  graze_report_groups groups;
  (void)state;
  world_open(&w);
  /* duct meets pipes 1 to 3, pipe 1 also meets the beam; far away two more meet; one clash is resolved. */
  static const char *const names[] = {"pipe 1", "pipe 2", "pipe 3", "duct", "beam", "x", "y"};
  for (int i = 0; i < 7; i++) add_object(&w, names[i], i < 3 ? "pipes" : i < 5 ? "air" : "", i < 5 ? i : 64);
  for (uint32_t i = 0; i < 3; i++) add_clash(&w, i, 3, GRAZE_CROSS, 3 + 0.25 * i);
  add_clash(&w, 0, 4, GRAZE_TOUCH, 4);
  add_clash(&w, 5, 6, GRAZE_CROSS, 64.5);
  add_clash(&w, 1, 4, GRAZE_CROSS, 4)->state = GRAZE_STATE_RESOLVED;
  assert_int_equal(graze_report_group_clashes(shared_context(1), w.objects, 7, w.clashes, 6, &groups), GRAZE_OK);
  for (int i = 0; i < 3; i++) assert_string_equal(title_of(&groups, w.clashes[i].group_object), "duct");
  assert_string_equal(title_of(&groups, w.clashes[3].group_object), "beam"); /* as many as pipe 1: by name */
  assert_string_equal(title_of(&groups, w.clashes[4].group_object), "x");
  assert_string_equal(title_of(&groups, w.clashes[0].group_layers), "air / pipes");
  assert_string_equal(title_of(&groups, w.clashes[4].group_layers), "(no layer) / (no layer)");
  assert_string_equal(title_of(&groups, w.clashes[0].group_place), "near 3.4 0.5 0.5");
  for (int i = 1; i < 4; i++) assert_int_equal(w.clashes[i].group_place, w.clashes[0].group_place);
  assert_string_equal(title_of(&groups, w.clashes[4].group_place), "near 64.5 0.5 0.5");
  assert_true(w.clashes[5].group_object == GRAZE_NO_GROUP && w.clashes[5].group_place == GRAZE_NO_GROUP &&
              w.clashes[5].group_layers == GRAZE_NO_GROUP);
  uint32_t sums[3] = {0};
  for (uint32_t i = 0; i < groups.group_count; i++) sums[groups.groups[i].kind] += groups.groups[i].clashes;
  for (int k = 0; k < 3; k++) assert_int_equal(sums[k], 5); /* each way, each clash once */
  graze_report_groups_free(&groups);
  for (int i = 0; i < 7; i++) w.objects[i].layer = i % 2 ? "" : NULL;
  assert_int_equal(graze_report_group_clashes(shared_context(1), w.objects, 7, w.clashes, 6, &groups), GRAZE_OK);
  assert_string_equal(title_of(&groups, w.clashes[0].group_layers), "none");
  graze_report_groups_free(&groups);
  world_close(&w);
}

/* Clashes nearer than a 64th of the diagonal are always one place, wherever the grid falls. */
static void test_places_have_no_seams(void **state) {
  world w;
  graze_report_groups groups;
  (void)state;
  world_open(&w);
  add_object(&w, "A", "", 0);
  add_object(&w, "B", "", 63.98); /* the diagonal is a little more than 65: the distance is a little more than 1 */
  add_clash(&w, 0, 1, GRAZE_CROSS, 0);
  add_clash(&w, 0, 1, GRAZE_CROSS, 0);
  add_clash(&w, 0, 1, GRAZE_CROSS, 0);
  for (int i = 0; i < 200; i++) {
    w.clashes[0].point[0] = 0.1 * i;
    w.clashes[1].point[0] = 0.1 * i + 1;
    w.clashes[2].point[0] = 0.1 * i + 30;
    assert_int_equal(graze_report_group_clashes(shared_context(1), w.objects, 2, w.clashes, 3, &groups), GRAZE_OK);
    assert_int_equal(w.clashes[0].group_place, w.clashes[1].group_place);
    assert_int_not_equal(w.clashes[0].group_place, w.clashes[2].group_place);
    graze_report_groups_free(&groups);
  }
  world_close(&w);
}

/* ---- from run to run ---- */

static graze_report_previous *earlier(const graze_report *report) {
  return reread(report, "history.json");
}

/* The report as it would be written after carrying. */
static graze_report_previous *reread_carried(const world *now, const graze_report_merged *carried) {
  graze_report report = now->report;
  report.objects = carried->objects;
  report.object_count = carried->object_count;
  report.clashes = carried->clashes;
  report.clash_count = carried->clash_count;
  return earlier(&report);
}

static void test_states(void **state) {
  world then, now;
  (void)state;
  world_open(&then);
  fill_world(&then);
  mark(&then, 0, "approved", "bolted");
  mark(&then, 1, "reviewed", "ask Ann");
  mark(&then, 2, "approved", "flush");
  graze_report_previous *previous = earlier(&then.report);
  world_open(&now); /* D is gone, E is new; B-C meets no more; A has moved a little */
  now.report.created = later;
  add_object(&now, "B", "steel", 0.75);
  add_object(&now, "A", "steel", 0.01);
  add_object(&now, "C", "pipes", 1.5);
  add_object(&now, "E", "pipes", 0.5);
  add_clash(&now, 0, 1, GRAZE_CROSS, 0.88);
  add_clash(&now, 0, 3, GRAZE_CROSS, 0.88);
  identify(&now);
  graze_report_merged carried = carry(&now, previous);
  assert_int_equal(carried.clash_count, 4);
  assert_int_equal(carried.object_count, 5);
  assert_true(carried.new_count == 1 && carried.active_count == 1 && carried.resolved_count == 2);
  assert_int_equal(carried.clashes[0].state, GRAZE_STATE_ACTIVE);
  assert_string_equal(carried.clashes[0].id, then.clashes[0].id);
  assert_string_equal(carried.clashes[0].mark, "approved");
  assert_string_equal(carried.clashes[0].comment, "bolted");
  assert_string_equal(carried.clashes[0].found, created);
  assert_int_equal(carried.clashes[1].state, GRAZE_STATE_NEW);
  assert_null(carried.clashes[1].mark);
  const graze_report_clash *gone = &carried.clashes[3];
  assert_int_equal(carried.clashes[2].state, GRAZE_STATE_RESOLVED);
  assert_string_equal(carried.clashes[2].comment, "ask Ann");
  assert_string_equal(carried.clashes[2].reason, "it is not found any more");
  assert_int_equal(gone->state, GRAZE_STATE_RESOLVED);
  assert_string_equal(carried.objects[gone->a].name, "C");
  assert_string_equal(carried.objects[gone->b].name, "D");
  assert_string_equal(carried.objects[gone->b].layer, "pipes");
  assert_null(carried.objects[gone->b].mesh);
  assert_string_equal(gone->reason, "one of the objects is not in the scene any more");
  graze_report_previous *third = reread_carried(&now, &carried);
  graze_report_merged again = carry(&now, third); /* nothing happened: all stays */
  assert_true(again.clash_count == 4 && again.active_count == 2 && again.resolved_count == 2);
  assert_string_equal(again.clashes[0].found, created);
  assert_string_equal(again.clashes[1].found, later);
  graze_report_merged back = carry(&then, third); /* all is as it was: what comes back is new, without its mark */
  assert_int_equal(back.clashes[0].state, GRAZE_STATE_ACTIVE);
  for (int i = 1; i < 3; i++) {
    assert_int_equal(back.clashes[i].state, GRAZE_STATE_NEW);
    assert_string_equal(back.clashes[i].id, then.clashes[i].id);
    assert_string_equal(back.clashes[i].mark, "");
    assert_string_equal(back.clashes[i].comment, i == 1 ? "ask Ann" : "flush");
  }
  graze_report_merged_free(&back);
  graze_report_merged_free(&again);
  graze_report_merged_free(&carried);
  graze_report_previous_destroy(third);
  graze_report_previous_destroy(previous);
  world_close(&then);
  world_close(&now);
}

/* An approval is for what was seen: a touch that has become a crossing is not approved. */
static void test_approvals_are_for_a_relation(void **state) {
  static const struct {
    graze_relation then, now;
    bool kept;
  } cases[] = {{GRAZE_TOUCH, GRAZE_TOUCH, true},       {GRAZE_TOUCH, GRAZE_CROSS, false},
               {GRAZE_CLEARANCE, GRAZE_TOUCH, false},  {GRAZE_CROSS, GRAZE_A_IN_B, true},
               {GRAZE_CLEARANCE, GRAZE_CROSS, false},  {GRAZE_CROSS, GRAZE_UNKNOWN, true},
               {GRAZE_UNKNOWN, GRAZE_DUPLICATE, true}, {GRAZE_CROSS, GRAZE_TOUCH, false}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    world w;
    world_open(&w);
    fill_world(&w);
    w.clashes[0].relation = cases[i].then;
    mark(&w, 0, "approved", "fine");
    graze_report_previous *previous = earlier(&w.report);
    mark(&w, 0, "", "");
    w.clashes[0].relation = cases[i].now;
    graze_report_merged carried = carry(&w, previous);
    assert_int_equal(carried.clashes[0].state, GRAZE_STATE_ACTIVE);
    assert_string_equal(carried.clashes[0].mark, cases[i].kept ? "approved" : "");
    assert_string_equal(carried.clashes[0].comment, "fine");
    graze_report_merged_free(&carried);
    graze_report_previous_destroy(previous);
    world_close(&w);
  }
}

/* A world with one approved clash, that as an earlier report, and the same world again. */
static graze_report_previous *open_two(world *then, world *now, int approved) {
  world_open(then);
  fill_world(then);
  mark(then, approved, "approved", "");
  world_open(now);
  fill_world(now);
  return earlier(&then->report);
}

static void test_stopped_checks_resolve_nothing(void **state) {
  world then, now;
  (void)state;
  graze_report_previous *previous = open_two(&then, &now, 1);
  now.report.clash_count = 1;
  now.report.complete = false;
  now.objects[3].name = "another";
  now.objects[3].mesh = now.slab;
  graze_report_merged carried = carry(&now, previous);
  assert_int_equal(carried.clash_count, 3);
  assert_int_equal(carried.clashes[1].relation, GRAZE_UNKNOWN);
  assert_int_equal(carried.clashes[1].state, GRAZE_STATE_ACTIVE);
  assert_non_null(strstr(carried.clashes[1].reason, "stopped"));
  assert_int_equal(carried.clashes[2].state, GRAZE_STATE_RESOLVED); /* D is gone for certain */
  graze_report_previous *second = reread_carried(&now, &carried);
  graze_report_merged whole = carry(&then, second);
  assert_int_equal(whole.clashes[1].state, GRAZE_STATE_ACTIVE);
  assert_string_equal(whole.clashes[1].mark, "approved");
  graze_report_merged_free(&whole);
  graze_report_merged_free(&carried);
  graze_report_previous_destroy(second);
  graze_report_previous_destroy(previous);
  world_close(&then);
  world_close(&now);
}

/* A new name for the same mesh in the same place; and the old name given to something else. */
static void test_renamed_objects(void **state) {
  world then, now;
  (void)state;
  graze_report_previous *previous = open_two(&then, &now, 0);
  now.objects[0].name = "A (2)";
  identify(&now);
  assert_string_not_equal(now.clashes[0].id, then.clashes[0].id);
  graze_report_merged carried = carry(&now, previous);
  assert_int_equal(carried.clash_count, 3);
  assert_int_equal(carried.active_count, 3);
  assert_string_equal(carried.clashes[0].id, then.clashes[0].id);
  assert_string_equal(carried.clashes[0].mark, "approved");
  graze_report_previous *second = reread_carried(&now, &carried);
  add_object(&now, "A", "steel", 0.5); /* takes the free name, whose id lives on under the new one */
  add_clash(&now, 1, 4, GRAZE_CROSS, 0.9);
  identify(&now);
  assert_string_equal(now.clashes[3].id, then.clashes[0].id);
  graze_report_merged third = carry(&now, second);
  assert_string_equal(third.clashes[0].id, then.clashes[0].id);
  assert_int_equal(third.clashes[3].state, GRAZE_STATE_NEW);
  assert_string_not_equal(third.clashes[3].id, then.clashes[0].id);
  graze_report_merged_free(&third);
  graze_report_previous_destroy(second);
  graze_report_merged_free(&carried);
  now.objects[4] = now.objects[0]; /* two could be the one that was renamed: neither is taken */
  now.objects[4].name = "A (3)";
  now.report.clash_count = 3;
  identify(&now);
  carried = carry(&now, previous);
  assert_int_equal(carried.clashes[0].state, GRAZE_STATE_NEW);
  assert_int_equal(carried.resolved_count, 1);
  graze_report_merged_free(&carried);
  graze_report_previous_destroy(previous);
  world_close(&then);
  world_close(&now);
}

/* Several clashes of two objects: the nearest is the same, over the edges of cells; far ones are not. */
static void test_places_move(void **state) {
  world w;
  (void)state;
  world_open(&w);
  add_object(&w, "A", "", 0);
  add_object(&w, "B", "", 1);
  static const double points[3] = {0.1, 5.1, 9.1};
  for (int i = 0; i < 3; i++) add_clash(&w, 0, 1, GRAZE_CROSS, points[i]);
  identify(&w);
  graze_report_previous *previous = earlier(&w.report);
  char ids[3][24];
  for (int i = 0; i < 3; i++) strcpy(ids[i], w.clashes[i].id);
  for (int step = 0; step < 40; step++) { /* a cell is half a unit wide, the reach one unit */
    static const int order[3] = {2, 0, 1};
    for (int i = 0; i < 3; i++) w.clashes[i].point[0] = points[order[i]] + step * 0.025 - 0.5;
    identify(&w);
    graze_report_merged carried = carry(&w, previous);
    assert_int_equal(carried.active_count, 3);
    for (int i = 0; i < 3; i++) assert_string_equal(carried.clashes[i].id, ids[order[i]]);
    graze_report_merged_free(&carried);
  }
  w.clashes[0].point[0] = 20;
  w.clashes[1].point[0] = points[0];
  w.clashes[2].point[0] = points[1];
  identify(&w);
  graze_report_merged carried = carry(&w, previous);
  assert_true(carried.new_count == 1 && carried.active_count == 2 && carried.resolved_count == 1);
  assert_int_equal(carried.clashes[0].state, GRAZE_STATE_NEW);
  graze_report_merged_free(&carried);
  w.report.units = "mm"; /* the numbers of the two reports cannot be compared: ids alone count */
  w.clashes[2].point[0] = points[1] + 0.9;
  identify(&w);
  carried = carry(&w, previous);
  assert_true(carried.new_count == 2 && carried.active_count == 1 && carried.resolved_count == 2);
  graze_report_merged_free(&carried);
  graze_report_previous_destroy(previous);
  world_close(&w);
}

/* ---- pairs that need no second check ---- */

static graze_report_reuse *reuse(const world *now, const graze_report_previous *previous, const char *want_reason) {
  graze_report_reuse *made = NULL;
  const char *reason = "untouched";
  assert_int_equal(graze_report_reuse_create(shared_context(1), &now->report, previous, &made, &reason), GRAZE_OK);
  if (want_reason == NULL) {
    assert_null(reason);
  } else {
    assert_non_null(reason);
    assert_string_equal(reason, want_reason);
  }
  return made;
}

static void test_unchanged_pairs(void **state) {
  static const graze_report_rule rules[2] = {{"one", 1}, {"two", 0}};
  world w;
  const graze_report_previous_clash *entry;
  (void)state;
  world_open(&w);
  fill_world(&w);
  w.report.rules = rules;
  w.report.rule_count = 2;
  w.clashes[2].relation = GRAZE_UNKNOWN;
  graze_report_previous *previous = earlier(&w.report);
  graze_report_reuse *made = reuse(&w, previous, NULL);
  assert_int_equal(graze_report_reuse_unchanged(made), 4);
  assert_int_equal(graze_report_reuse_pair(made, 0, 1, &entry), GRAZE_EARLIER_LISTED);
  assert_string_equal(entry->id, w.clashes[0].id);
  test_assert_counts(&entry->counts, &w.clashes[0].counts);
  assert_int_equal(graze_report_reuse_pair(made, 0, 2, &entry), GRAZE_EARLIER_SEPARATE);
  assert_null(entry);
  assert_int_equal(graze_report_reuse_pair(made, 2, 3, &entry), GRAZE_EARLIER_UNKNOWN); /* was not decided */
  assert_int_equal(graze_report_reuse_pair(made, 1, 0, NULL), GRAZE_EARLIER_UNKNOWN);   /* a < b is asked for */
  assert_int_equal(graze_report_reuse_pair(made, 0, 4, NULL), GRAZE_EARLIER_UNKNOWN);
  graze_report_reuse_destroy(made);

  graze_report_object swap = w.objects[0]; /* B A: found before as A B, whose hash is another one */
  w.objects[0] = w.objects[1];
  w.objects[1] = swap;
  made = reuse(&w, previous, NULL);
  assert_int_equal(graze_report_reuse_unchanged(made), 4);
  assert_int_equal(graze_report_reuse_pair(made, 0, 1, NULL), GRAZE_EARLIER_UNKNOWN);
  assert_int_equal(graze_report_reuse_pair(made, 1, 2, NULL), GRAZE_EARLIER_SEPARATE);
  graze_report_reuse_destroy(made);
  w.objects[1] = w.objects[0];
  w.objects[0] = swap;

  for (int change = 0; change < 4; change++) { /* A with another name, layer, mesh, pose */
    graze_report_object *object = &w.objects[0], before = *object;
    if (change == 0) object->name = "A'";
    if (change == 1) object->layer = "";
    if (change == 2) object->mesh = w.slab;
    if (change == 3) object->pose.m[7] = nextafter(0, 1);
    made = reuse(&w, previous, NULL);
    assert_int_equal(graze_report_reuse_unchanged(made), 3);
    assert_int_equal(graze_report_reuse_pair(made, 0, 1, NULL), GRAZE_EARLIER_UNKNOWN);
    assert_int_equal(graze_report_reuse_pair(made, 0, 2, NULL), GRAZE_EARLIER_UNKNOWN);
    assert_int_equal(graze_report_reuse_pair(made, 1, 2, NULL), GRAZE_EARLIER_LISTED);
    assert_int_equal(graze_report_reuse_pair(made, 1, 3, NULL), GRAZE_EARLIER_SEPARATE);
    graze_report_reuse_destroy(made);
    *object = before;
  }
  graze_report_previous_destroy(previous);
  world_close(&w);
}

static void test_reuse_needs_the_same_question(void **state) {
  static const graze_report_rule rules[2] = {{"one", 1}, {"two", 0}};
  static const char other_version[] =
      "{\"graze\":\"0.0.1\",\"exactness\":\"t1\",\"status\":\"complete\",\"objects\":[],\"pairs\":[]}";
  world w;
  graze_report_previous *previous;
  (void)state;
  world_open(&w);
  fill_world(&w);
  previous = earlier(&w.report);
  w.report.exactness = "t2";
  graze_report_reuse *made = reuse(&w, previous, "the earlier check had another exactness");
  assert_int_equal(graze_report_reuse_unchanged(made), 0);
  assert_int_equal(graze_report_reuse_pair(made, 0, 2, NULL), GRAZE_EARLIER_UNKNOWN);
  graze_report_reuse_destroy(made);
  w.report.exactness = "t1";
  w.report.rules = rules;
  w.report.rule_count = 1;
  graze_report_reuse_destroy(reuse(&w, previous, "the earlier check had other rules"));
  graze_report_previous_destroy(previous);
  previous = earlier(&w.report);
  w.report.rules = rules + 1;
  graze_report_reuse_destroy(reuse(&w, previous, "the earlier check had other rules"));
  graze_report_previous_destroy(previous);
  w.report.complete = false;
  previous = earlier(&w.report);
  graze_report_reuse_destroy(reuse(&w, previous, "the earlier check was incomplete"));
  graze_report_previous_destroy(previous);
  assert_int_equal(graze_report_previous_parse(shared_context(1), other_version, strlen(other_version), "x", &previous),
                   GRAZE_OK);
  graze_report_reuse_destroy(reuse(&w, previous, "the earlier check was made by another version of Graze"));
  graze_report_previous_destroy(previous);
  char text[400];
  snprintf(text, sizeof text,
           "{\"graze\":\"%s\",\"exactness\":\"t1\",\"status\":\"complete\",\"objects\":[{\"name\":\"A\"}],\"pairs\":[],"
           "\"rules\":[{\"text\":\"two\"}]}",
           graze_version());
  assert_int_equal(graze_report_previous_parse(shared_context(1), text, strlen(text), "x", &previous), GRAZE_OK);
  graze_report_reuse_destroy(reuse(&w, previous, "the earlier report has no hashes of meshes and poses"));
  graze_report_previous_destroy(previous);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids_under_reordering),
      cmocka_unit_test(test_ids_of_one_pair),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_places_have_no_seams),
      cmocka_unit_test(test_states),
      cmocka_unit_test(test_approvals_are_for_a_relation),
      cmocka_unit_test(test_stopped_checks_resolve_nothing),
      cmocka_unit_test(test_renamed_objects),
      cmocka_unit_test(test_places_move),
      cmocka_unit_test(test_unchanged_pairs),
      cmocka_unit_test(test_reuse_needs_the_same_question),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
