/* Objects that a report knows by the facts of their mesh alone: what is written, named, grouped and known again is what
 * it is with the mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graze/report.h"
#include "support.h"

typedef struct world {
  graze_context *context;
  graze_mesh *meshes[2];
  graze_mesh_facts facts[2];
  graze_solid_facts solids[2];
  graze_report_object objects[3];
  graze_report_clash clashes[2];
  graze_report report;
} world;

static void open_world(world *w) {
  static const double open[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const double closed[36] = {0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                    0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const char *const names[3] = {"a", "b", "c"};
  memset(w, 0, sizeof *w);
  w->context = test_context(1, NULL);
  w->meshes[0] = test_mesh(w->context, open, 1, GRAZE_VOLUMES_ORIENTED);
  w->meshes[1] = test_mesh(w->context, closed, 4, GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < 2; i++) {
    graze_mesh_get_facts(w->meshes[i], &w->facts[i]);
    assert_int_equal(graze_mesh_get_solid(w->context, w->meshes[i], &w->solids[i]), GRAZE_OK);
  }
  for (int i = 0; i < 3; i++) {
    w->objects[i] = (graze_report_object){.name = names[i],
                                          .layer = "",
                                          .file = "f",
                                          .mesh = w->meshes[i > 0],
                                          .pose = test_translation(i, 0, 0),
                                          .solid = &w->solids[i > 0]};
  }
  for (uint32_t i = 0; i < 2; i++) {
    w->clashes[i] = (graze_report_clash){.a = i,
                                         .b = i + 1,
                                         .relation = GRAZE_CROSS,
                                         .counts = {.triangle_pairs = 1, .segments = 1},
                                         .box = {{i, 0, 0}, {i + 1, 1, 1}},
                                         .point = {i, 0.5, 0.5},
                                         .depth = NAN,
                                         .mark = "",
                                         .comment = "",
                                         .found = ""};
  }
  w->report = (graze_report){.title = "t",
                             .created = "2025-01-31T12:00:00Z",
                             .units = "m",
                             .engine = "cpu",
                             .exactness = "t1",
                             .complete = true,
                             .objects = w->objects,
                             .object_count = 3,
                             .clashes = w->clashes,
                             .clash_count = 2,
                             .object_pairs = 3};
}

static void close_world(world *w) {
  for (int i = 0; i < 2; i++) graze_mesh_destroy(w->meshes[i]);
  graze_context_destroy(w->context);
}

static void leave_meshes_out(world *w) {
  for (int i = 0; i < 3; i++) {
    w->objects[i].mesh = NULL;
    w->objects[i].facts = &w->facts[i > 0];
  }
}

typedef struct text {
  char bytes[8192];
  size_t size;
} text;

static bool keep(void *user, const void *bytes, size_t size) {
  text *t = user;
  assert_true(size < sizeof t->bytes - t->size);
  memcpy(t->bytes + t->size, bytes, size);
  t->size += size;
  return true;
}

/* Ids, groups and the JSON of the world as it is. */
static text tell(world *w) {
  text told = {.size = 0};
  graze_report_groups groups;
  assert_int_equal(graze_report_identify(shared_context(1), w->objects, 3, w->clashes, 2), GRAZE_OK);
  assert_int_equal(graze_report_group_clashes(shared_context(1), w->objects, 3, w->clashes, 2, &groups), GRAZE_OK);
  w->report.groups = groups.groups;
  w->report.group_count = groups.group_count;
  assert_int_equal(graze_report_send_json(shared_context(1), keep, &told, &w->report, true), GRAZE_OK);
  graze_report_groups_free(&groups);
  w->report.groups = NULL;
  w->report.group_count = 0;
  return told;
}

static void test_same(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  text with = tell(&w);
  leave_meshes_out(&w);
  text without = tell(&w);
  assert_int_equal(with.size, without.size);
  assert_memory_equal(with.bytes, without.bytes, with.size);
  assert_non_null(strstr(with.bytes, "\"closed\":true,\"solid\":{\"winding\":1,\"parity\":0,\"surface\":0}"));
  assert_non_null(strstr(with.bytes, "\"closed\":false,\"solid\":{\"winding\":0,\"parity\":0,\"surface\":1}"));
  close_world(&w);
}

/* They are known again, and what is told of their meshes is. */
static void test_known_again(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  text told = tell(&w);
  graze_report_previous *previous;
  graze_report_reuse *reuse;
  graze_report_merged carried;
  bool closed = true;
  graze_solid_facts solid;
  assert_int_equal(graze_report_previous_parse(shared_context(1), told.bytes, told.size, "p", &previous), GRAZE_OK);
  leave_meshes_out(&w);
  assert_int_equal(graze_report_reuse_create(shared_context(1), &w.report, previous, &reuse, NULL), GRAZE_OK);
  assert_int_equal(graze_report_reuse_unchanged(reuse), 3);
  graze_report_reuse_destroy(reuse);
  assert_int_equal(graze_report_merge_previous(shared_context(1), &w.report, previous, &carried), GRAZE_OK);
  assert_int_equal(carried.active_count, 2);
  graze_report_merged_free(&carried);
  assert_true(graze_report_previous_mesh(previous, w.facts[0].hash, &closed, &solid));
  assert_false(closed);
  assert_memory_equal(&solid, &w.solids[0], sizeof solid);
  assert_true(graze_report_previous_mesh(previous, w.facts[1].hash, &closed, &solid));
  assert_true(closed);
  assert_memory_equal(&solid, &w.solids[1], sizeof solid);
  assert_false(graze_report_previous_mesh(previous, ~w.facts[1].hash, &closed, &solid));
  graze_report_previous_destroy(previous);
  close_world(&w);
}

static bool tells_of(const text *told, const world *w, int mesh) {
  graze_report_previous *previous;
  bool closed;
  graze_solid_facts solid;
  assert_int_equal(graze_report_previous_parse(shared_context(1), told->bytes, told->size, "p", &previous), GRAZE_OK);
  bool tells = graze_report_previous_mesh(previous, w->facts[mesh].hash, &closed, &solid);
  graze_report_previous_destroy(previous);
  return tells;
}

/* Objects that say different things of one mesh say nothing, and neither does one that leaves something out, nor
 * another version. */
static void test_unclear(void **unused) {
  (void)unused;
  static const struct {
    const char *was, *now; /* of one length */
    bool tells;            /* of the second mesh; the first is as it was */
  } cases[] = {{"\"closed\":true", "\"closed\":true", true},
               {"\"closed\":true", "\"closed\":null", false},
               {"\"winding\":1", "\"winding\":2", false},
               {",\"solid\":{\"winding\":1,\"parity\":0,\"surface\":0}",
                "                                             ", false}};
  world w;
  open_world(&w);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    text told = tell(&w);
    char *place = strstr(told.bytes, cases[i].was);
    assert_non_null(place);
    memcpy(place, cases[i].now, strlen(cases[i].now));
    assert_true(tells_of(&told, &w, 0));
    assert_int_equal(tells_of(&told, &w, 1), cases[i].tells);
    strstr(told.bytes, graze_version())[0] = '9';
    assert_false(tells_of(&told, &w, 0));
  }
  close_world(&w);
}

/* "solid" is read as strictly as the rest. */
static void test_bad_solid(void **unused) {
  (void)unused;
  static const struct {
    const char *was, *now, *message;
  } cases[] = {{"\"winding\":1", "\"winding\":x", NULL},
               {"\"winding\":1", "\"wending\":1", "p: objects[1].solid: unknown key \"wending\""},
               {"{\"winding\":1,\"parity\":0", "{\"winding\":17179869184",
                "p: objects[1].solid: \"winding\" is above 4294967295"}};
  world w;
  open_world(&w);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    text told = tell(&w);
    graze_report_previous *previous;
    memcpy(strstr(told.bytes, cases[i].was), cases[i].now, strlen(cases[i].now));
    assert_int_equal(graze_report_previous_parse(shared_context(1), told.bytes, told.size, "p", &previous),
                     GRAZE_ERROR_FORMAT);
    if (cases[i].message != NULL) assert_string_equal(graze_last_error(shared_context(1))->message, cases[i].message);
  }
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same),
      cmocka_unit_test(test_known_again),
      cmocka_unit_test(test_unclear),
      cmocka_unit_test(test_bad_solid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
