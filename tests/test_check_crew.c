/* A check that several processes do together, here threads with a context each: whatever their number the record is
 * that of one alone, byte for byte as JSON; what one of them finds wrong, or lacks memory for, is told by all. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/check.h"
#include "support.h"

enum { MOST_MEMBERS = 5, MESHES = 12 };

static char folder[] = "/tmp/test_check_crew_XXXXXX";

/* ---- files ---- */

static void write_soup(const char *name, const double *corners, uint32_t count, const char *more) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  for (uint32_t i = 0; i < 3 * count; i++)
    fprintf(file, "v %.17g %.17g %.17g\n", corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]);
  for (uint32_t i = 1; i < 3 * count; i += 3) fprintf(file, "f %u %u %u\n", i, i + 1, i + 2);
  fputs(more, file);
  assert_int_equal(fclose(file), 0);
}

/* The third time a mesh may be its hull, or a box in its place. */
static const char *form_of(int i, char text[64]) {
  const int mesh = i % MESHES;
  if (i < 2 * MESHES || i % 3 == 0)
    snprintf(text, 64, "\"mesh\":\"m%d.obj\"", mesh);
  else if (i % 3 == 1)
    snprintf(text, 64, "\"shape\":{\"hull\":\"m%d.obj\"}", mesh);
  else
    snprintf(text, 64, "\"shape\":{\"box\":[1,0.5,%d]}", 1 + mesh % 2);
  return text;
}

/* Balls of several sizes and open pieces of them, each mesh three times, in a heap. */
static void write_scene(const char *name, uint64_t seed) {
  static double ball[9 * 8 * 16];
  uint64_t random = seed;
  char path[32], form[64];
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fprintf(file, "{\"graze\":1,\"units\":\"m\",\"ignore_layers\":[[\"l1\",\"l2\"]],\"objects\":[");
  for (int i = 0; i < 3 * MESHES; i++) {
    const int mesh = i % MESHES;
    if (i < MESHES) {
      const uint32_t level = 1 + random_below(&random, 4), count = soup_ball(level, 0.3 + random_unit(&random), ball);
      snprintf(path, sizeof path, "m%d.obj", mesh);
      write_soup(path, ball, mesh % 4 == 3 ? count - 1 : count, "");
    }
    fprintf(file, "%s{\"name\":\"o%d\",%s,\"layer\":\"l%d\",\"pose\":[1,0,0,%g,0,1,0,%g,0,0,1,%g]}", i > 0 ? "," : "",
            i, form_of(i, form), i % 5, 4 * random_unit(&random), 4 * random_unit(&random), 4 * random_unit(&random));
  }
  fprintf(file, "]}\n");
  assert_int_equal(fclose(file), 0);
}

static int make_files(void **state) {
  (void)state;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return chdir("/") != 0 || system(command) != 0;
}

/* ---- a crew of threads ---- */

typedef struct crew {
  pthread_barrier_t barrier;
  uint32_t members;
  const void *given[MOST_MEMBERS];
  uint64_t sizes[MOST_MEMBERS];
} crew;

typedef struct member {
  crew *crew;
  uint32_t number;
  pthread_t thread;
  graze_check_def def;
  test_allocator memory;
  test_log log;
  graze_context *context;
  graze_status status;
  char *all, *json;
  size_t json_size;
  graze_check_counts counts;
} member;

static graze_status exchange(void *user, const void *mine, uint64_t size, const void **all, const uint64_t **sizes) {
  member *m = user;
  crew *c = m->crew;
  uint64_t sum = 0, at = 0;
  c->given[m->number] = mine;
  c->sizes[m->number] = size;
  pthread_barrier_wait(&c->barrier);
  for (uint32_t i = 0; i < c->members; i++) sum += c->sizes[i];
  m->all = realloc(m->all, sum + sizeof c->sizes);
  memcpy(m->all, c->sizes, sizeof c->sizes);
  for (uint32_t i = 0; i < c->members; at += c->sizes[i++])
    if (c->sizes[i] > 0) memcpy(m->all + sizeof c->sizes + at, c->given[i], c->sizes[i]);
  pthread_barrier_wait(&c->barrier);
  *all = m->all + sizeof c->sizes;
  *sizes = (const uint64_t *)(const void *)m->all;
  return GRAZE_OK;
}

static bool take_json(void *user, const void *bytes, size_t size) {
  member *m = user;
  m->json = realloc(m->json, m->json_size + size);
  memcpy(m->json + m->json_size, bytes, size);
  m->json_size += size;
  return true;
}

static void *take_part(void *argument) {
  member *m = argument;
  const graze_check_crew here = {m->number, m->crew->members, exchange, m};
  graze_check *check = NULL;
  m->def.crew = m->crew->members > 0 ? &here : NULL;
  m->status = graze_check_open(m->context, &m->def, &check);
  if (m->status == GRAZE_OK) m->status = graze_check_run(check);
  if (m->status == GRAZE_OK)
    m->status = graze_report_send_json(m->context, take_json, m, graze_check_report(check), true);
  if (m->status == GRAZE_OK) m->counts = graze_check_get_counts(check);
  graze_check_destroy(check);
  return NULL;
}

/* `members` 0: one alone, without a crew. `fail_at` of the last one. Members are to be ended. */
static void run_crew(member *all, uint32_t members, const graze_check_def *def, uint64_t fail_at) {
  crew c = {.members = members};
  const uint32_t threads = members > 0 ? members : 1;
  assert_int_equal(pthread_barrier_init(&c.barrier, NULL, threads), 0);
  for (uint32_t i = 0; i < threads; i++) {
    member *m = &all[i];
    graze_context_def context = graze_default_context_def();
    *m = (member){.crew = &c, .number = i, .def = *def};
    context.allocator = test_allocator_hooks(&m->memory);
    context.threads = 1;
    context.log = test_log_write;
    context.log_user = &m->log;
    assert_int_equal(graze_context_create(&context, &m->context), GRAZE_OK);
    m->memory.requests = 0;
    if (i == threads - 1) m->memory.fail_at = fail_at;
    assert_int_equal(pthread_create(&m->thread, NULL, take_part, m), 0);
  }
  for (uint32_t i = 0; i < threads; i++) assert_int_equal(pthread_join(all[i].thread, NULL), 0);
  pthread_barrier_destroy(&c.barrier);
}

static void end_crew(member *all, uint32_t members) {
  for (uint32_t i = 0; i < members; i++) {
    graze_context_destroy(all[i].context);
    assert_int_equal(all[i].memory.live_blocks, 0);
    free(all[i].all);
    free(all[i].json);
  }
}

/* ---- answers ---- */

static void compare(const graze_check_def *def, uint32_t members, const member *alone) {
  member all[MOST_MEMBERS];
  run_crew(all, members, def, 0);
  uint64_t decided = 0;
  for (uint32_t i = 0; i < members; i++) {
    if (all[i].status != GRAZE_OK) fail_msg("%s", all[i].log.last);
    assert_int_equal(all[i].counts.open_clashes, alone->counts.open_clashes);
    decided += all[i].counts.decided_pairs;
  }
  assert_int_equal(all[0].json_size, alone->json_size);
  assert_memory_equal(all[0].json, alone->json, alone->json_size);
  assert_int_equal(decided, alone->counts.decided_pairs);
  end_crew(all, members);
}

static void test_answers(void **unused) {
  (void)unused;
  static const char *const files[] = {"scene.json"};
  for (int round = 0; round < test_rounds(1, 60); round++) {
    write_scene("scene.json", test_seed((uint64_t)round));
    for (int how = 0; how < 4; how++) {
      graze_check_def def = graze_default_check_def();
      member alone;
      def.files = files;
      def.file_count = 1;
      def.triangles = how == 1;
      def.clearance = how == 2 ? "0.2" : NULL;
      def.tolerance = how == 2 ? "0.1" : NULL;
      if (how == 3) def.relations |= 1u << GRAZE_SEPARATE;
      run_crew(&alone, 0, &def, 0);
      assert_int_equal(alone.status, GRAZE_OK);
      assert_true(alone.counts.open_clashes > 5);
      for (uint32_t members = 1; members <= MOST_MEMBERS; members += test_thinned() ? 2 : 1) {
        compare(&def, members, &alone);
      }
      end_crew(&alone, 1);
    }
  }
}

/* Nobody reads what its pairs do not need, once measured. */
static void test_who_reads(void **unused) {
  (void)unused;
  static const char *const files[] = {"scene.json"};
  graze_check_def def = graze_default_check_def();
  member all[MOST_MEMBERS];
  uint64_t read = 0;
  def.files = files;
  def.file_count = 1;
  write_scene("scene.json", 7);
  run_crew(all, 4, &def, 0);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(all[i].status, GRAZE_OK);
    assert_true(all[i].counts.read_meshes <= 2 * all[i].counts.decided_pairs);
    read += all[i].counts.read_meshes;
  }
  assert_true(read > 0);
  end_crew(all, 4);
}

/* ---- faults ---- */

static void expect_failure(uint32_t members, graze_status status, const char *words) {
  static const char *const files[] = {"scene.json"};
  graze_check_def def = graze_default_check_def();
  member all[MOST_MEMBERS];
  def.files = files;
  def.file_count = 1;
  run_crew(all, members, &def, 0);
  for (uint32_t i = 0; i < (members > 0 ? members : 1); i++) {
    assert_int_equal(all[i].status, status);
    assert_string_equal(all[i].log.last, words);
  }
  end_crew(all, members > 0 ? members : 1);
}

/* Two bad files: the first one is told, whoever reads it. */
static void test_bad_files(void **unused) {
  (void)unused;
  static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  write_scene("scene.json", 9);
  write_soup("m9.obj", corners, 1, "f 1 2 77\n");
  write_soup("m4.obj", corners, 1, "f 1 2 3 x\n");
  for (uint32_t members = 0; members <= MOST_MEMBERS; members++)
    expect_failure(members, GRAZE_ERROR_FORMAT, "m4.obj:5: \"x\" is not a corner (v, v/vt, v//vn or v/vt/vn)");
  unlink("m2.obj");
  for (uint32_t members = 0; members <= MOST_MEMBERS; members++)
    expect_failure(members, GRAZE_ERROR_FILE, "m2.obj: cannot open: No such file or directory; scene.json asks for it");
}

static void test_memory(void **unused) {
  (void)unused;
  static const char *const files[] = {"scene.json"};
  graze_check_def def = graze_default_check_def();
  graze_status status = GRAZE_ERROR_MEMORY;
  uint64_t step = 1;
  def.files = files;
  def.file_count = 1;
  write_scene("scene.json", 11);
  for (uint64_t k = 1; status != GRAZE_OK; k += step) {
    member all[3];
    run_crew(all, 3, &def, k);
    status = all[2].status;
    for (int i = 0; i < 3; i++) assert_int_equal(all[i].status, status);
    if (status != GRAZE_OK) assert_int_equal(status, GRAZE_ERROR_MEMORY);
    end_crew(all, 3);
    if (!test_long()) step = 1 + k / (test_thinned() ? 4 : 12);
  }
}

static void test_arguments(void **unused) {
  (void)unused;
  static const char *const files[] = {"scene.json"};
  const graze_check_crew none = {0}, fine = {0, 1, exchange, NULL};
  graze_check_def def = graze_default_check_def();
  graze_check *check = NULL;
  def.files = files;
  def.file_count = 1;
  def.crew = &none;
  assert_int_equal(graze_check_open(shared_context(1), &def, &check), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(shared_error()->message, "check: the crew has no such member");
  def.crew = &fine;
  def.folder = "report";
  assert_int_equal(graze_check_open(shared_context(1), &def, &check), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(shared_error()->message, "check: a crew does no such check");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_who_reads),
                                     cmocka_unit_test(test_bad_files), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_arguments)};
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
