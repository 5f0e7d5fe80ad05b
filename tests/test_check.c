/* A whole check as a library: errors are values that name their cause and leave nothing behind, however early or late
 * they come; what is found is what the program finds; two checks in one process know nothing of each other. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graze/check.h"
#include "support.h"

static char folder[] = "/tmp/test_check_XXXXXX";

/* ---- files ---- */

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* A box from (x, 0, 0), with sides 1, 1, 1. */
static void write_box(const char *name, double x) {
  static const char faces[] =
      "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";
  char text[1024];
  int used = 0;
  for (int i = 0; i < 8; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "v %g %d %d\n", x + (i & 1), i >> 1 & 1, i >> 2);
  snprintf(text + used, sizeof text - (size_t)used, "%s", faces);
  write_file(name, text);
}

static int make_files(void **state) {
  (void)state;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  write_box("a.obj", 0);
  write_box("b.obj", 0.5);
  write_box("c.obj", 10);
  write_file("bad.obj", "v 0 0 0\nv 1 0 nan\n");
  write_file("worse.obj", "v 0 0\n");
  write_file("scene.json",
             "{\"graze\":1,\"units\":\"m\",\"sets\":{\"far\":[\"d\"]},\"objects\":["
             "{\"name\":\"g/a\",\"mesh\":\"a.obj\"},{\"name\":\"g/b\",\"mesh\":\"b.obj\",\"layer\":\"l\"},"
             "{\"name\":\"c\",\"mesh\":\"a.obj\",\"pose\":[1,0,0,0.25, 0,1,0,0.5, 0,0,1,0.25]},"
             "{\"name\":\"d\",\"mesh\":\"c.obj\"}]}\n");
  write_file("alone.json", "{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a.obj\"}]}\n");
  write_file("balls.json",
             "{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a.obj\"},"
             "{\"name\":\"ball\",\"shape\":{\"sphere\":1}}]}\n");
  write_file("lost.json",
             "{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a.obj\"},"
             "{\"name\":\"b\",\"mesh\":\"lost.obj\"}]}\n");
  write_file("empty.gltf", "{\"asset\":{\"version\":\"2.0\"}}\n");
  write_file("motion.csv", "step,object,x,y,z,qw,qx,qy,qz\n1,d,-9.5,0,0,1,0,0,0\n");
  write_file("file", "");
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return chdir("/") != 0 || system(command) != 0;
}

static bool file_has(const char *path, const char *words) {
  size_t size;
  char *text = test_read_file(path, &size);
  bool found = strstr(text, words) != NULL;
  free(text);
  return found;
}

/* ---- a bench: a context that counts, and remembers ---- */

typedef struct bench {
  test_allocator memory;
  test_log log;
  int64_t blocks; /* of the context alone */
  graze_context *context;
  const char *files[8];
  graze_check_def def;
} bench;

/* The bench stays where it is: the context points into it. */
static void begin(bench *b, int threads, const char *first, const char *second) {
  *b = (bench){.def = graze_default_check_def(), .files = {first, second}};
  graze_context_def def = graze_default_context_def();
  def.allocator = test_allocator_hooks(&b->memory);
  def.log = test_log_write;
  def.log_user = &b->log;
  def.threads = threads;
  assert_int_equal(graze_context_create(&def, &b->context), GRAZE_OK);
  b->blocks = b->memory.live_blocks;
  b->def.files = b->files;
  b->def.file_count = second != NULL ? 2 : 1;
}

static void end(bench *b) {
  assert_int_equal(b->memory.live_blocks, b->blocks);
  graze_context_destroy(b->context);
  assert_int_equal(b->memory.live_bytes, 0);
  assert_int_equal(b->memory.misaligned, 0);
}

/* ---- errors ---- */

/* The check cannot be opened, and the message has these words. */
static void refuse(bench *b, graze_status status, const char *words) {
  graze_check *check = (graze_check *)1;
  assert_int_equal(graze_check_open(b->context, &b->def, &check), status);
  assert_ptr_equal(check, (graze_check *)1);
  assert_int_equal(graze_last_error(b->context)->status, status);
  assert_string_equal(graze_last_error(b->context)->message, b->log.last);
  if (strstr(b->log.last, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", b->log.last, words);
  end(b);
}

static void errors_name_their_cause(void **state) {
  (void)state;
  bench b;
  begin(&b, 2, "missing.obj", "a.obj");
  refuse(&b, GRAZE_ERROR_FILE, "missing.obj: ");
  begin(&b, 2, "lost.json", NULL);
  refuse(&b, GRAZE_ERROR_FILE, "; lost.json asks for it");
  begin(&b, 2, "a.obj", "bad.obj");
  refuse(&b, GRAZE_ERROR_NOT_FINITE, "bad.obj:2: ");
  begin(&b, 2, "scene.json", "a.obj");
  refuse(&b, GRAZE_ERROR_ARGUMENT, "a scene stands alone");
  begin(&b, 2, "a.obj", NULL);
  refuse(&b, GRAZE_ERROR_ARGUMENT, "a.obj: one object; a check compares two or more");
  begin(&b, 2, "scene.json", NULL);
  b.def.units = "parsec";
  refuse(&b, GRAZE_ERROR_ARGUMENT, "unknown units 'parsec'");
  begin(&b, 2, "scene.json", NULL);
  b.def.file_units = "league";
  refuse(&b, GRAZE_ERROR_ARGUMENT, "unknown units 'league'");
  begin(&b, 2, "a.obj", "b.obj");
  b.def.cache = "file";
  refuse(&b, GRAZE_ERROR_FILE, "file: not a folder");
  begin(&b, 2, "a.obj", "b.obj");
  b.def.folder = "file";
  refuse(&b, GRAZE_ERROR_FILE, "file: cannot be the folder of a report: ");
  begin(&b, 2, "a.obj", "b.obj");
  b.def.previous = "missing.json";
  refuse(&b, GRAZE_ERROR_FILE, "missing.json: ");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.previous = "scene.json";
  refuse(&b, GRAZE_ERROR_FORMAT, "scene.json: ");
}

static void refuse_with(graze_check_hint want, bench *b, const char *words) {
  graze_check_hint hint = want == GRAZE_CHECK_NO_HINT ? GRAZE_CHECK_UNITS_DIFFER : GRAZE_CHECK_NO_HINT;
  b->def.hint = &hint;
  refuse(b, GRAZE_ERROR_ARGUMENT, words);
  assert_int_equal(hint, want);
}

/* Nothing to compare is not "nothing found". */
static void nothing_to_compare(void **state) {
  (void)state;
  bench b;
  begin(&b, 2, "a.obj", NULL);
  refuse_with(GRAZE_CHECK_CAN_SPLIT, &b, "a.obj: one object; a check compares two or more");
  begin(&b, 2, "a.obj", NULL);
  b.def.reading = GRAZE_READ_PARTS;
  refuse_with(GRAZE_CHECK_TOO_FEW_OBJECTS, &b, "a.obj: one object; ");
  begin(&b, 2, "alone.json", NULL);
  refuse_with(GRAZE_CHECK_TOO_FEW_OBJECTS, &b, "alone.json: one object; ");
  begin(&b, 2, "a.obj", "empty.gltf");
  refuse_with(GRAZE_CHECK_EMPTY_OBJECT, &b, "empty.gltf: no triangles");
  begin(&b, 2, "empty.gltf", "empty.gltf");
  b.def.allow_empty = true;
  refuse_with(GRAZE_CHECK_CAN_SPLIT, &b, "empty.gltf and 1 more: no objects; ");
  begin(&b, 2, "a.obj", "empty.gltf");
  b.def.joined = true;
  refuse_with(GRAZE_CHECK_EMPTY_OBJECT, &b, "empty.gltf: object \"empty\" has no triangles");
  begin(&b, 2, "a.obj", NULL);
  b.def.joined = true;
  graze_check *check;
  assert_int_equal(graze_check_open(b.context, &b.def, &check), GRAZE_OK);
  graze_check_destroy(check);
  end(&b);
}

static void sets_without_objects(void **state) {
  (void)state;
  const struct {
    const char *pattern, *words;
  } cases[] = {{"b", "the set s (\"b\") has no objects; the nearest names: \"g/b\", \"g/a\", \"c\""},
               {"h/*", "the set s (\"h/*\") has no objects; the nearest names: "},
               {"layer:m", "the set s (\"layer:m\") has no objects; the nearest layers: \"l\""}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const graze_check_set set = {"s", cases[i].pattern};
    bench b;
    begin(&b, 2, "scene.json", NULL);
    b.def.sets = &set;
    b.def.set_count = 1;
    refuse_with(GRAZE_CHECK_NO_HINT, &b, cases[i].words);
  }
}

static void wrong_definitions_are_refused(void **state) {
  (void)state;
  const graze_check_rule between = {GRAZE_CHECK_BETWEEN, "far", "near", NULL}, half = {.first = "far"};
  const graze_check_set far = {"far", "c"};
  bench b;
  begin(&b, 1, "a.obj", "b.obj");
  b.def.cookie = 0;
  refuse(&b, GRAZE_ERROR_ARGUMENT, "not initialised");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.file_count = 0;
  refuse(&b, GRAZE_ERROR_ARGUMENT, "no files");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.rules = &between;
  b.def.sets = &far;
  b.def.rule_count = b.def.set_count = 1;
  refuse(&b, GRAZE_ERROR_ARGUMENT, "no set has the name 'near'");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.rules = &half;
  b.def.rule_count = 1;
  refuse(&b, GRAZE_ERROR_ARGUMENT, "lacks one of its two texts");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.rounds = b.def.depth = true;
  refuse(&b, GRAZE_ERROR_ARGUMENT, "round shapes are not for depths");
  begin(&b, 2, "balls.json", NULL); /* who does not ask for them gets none */
  refuse(&b, GRAZE_ERROR_UNSUPPORTED, "object \"ball\": shape \"sphere\" cannot be checked yet");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.marks = "marks.csv";
  refuse(&b, GRAZE_ERROR_ARGUMENT, "earlier report");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.relations |= 1u << GRAZE_SEPARATE;
  b.def.folder = "out";
  refuse(&b, GRAZE_ERROR_ARGUMENT, "separate pairs");
  begin(&b, 1, "a.obj", "b.obj");
  b.def.exactness = (graze_exactness)9;
  refuse(&b, GRAZE_ERROR_ARGUMENT, "unknown exactness");
  assert_int_equal(graze_check_open(NULL, NULL, NULL), GRAZE_ERROR_ARGUMENT);
}

/* Of faults that several threads find, the first in order is told. */
static void the_first_fault_is_told(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    bench b;
    begin(&b, 4, "a.obj", "b.obj");
    const char *files[] = {"a.obj", "b.obj", "c.obj", "worse.obj", "a.obj", "bad.obj", "bad.obj", "missing.obj"};
    memcpy(b.files, files, sizeof files);
    b.def.file_count = 8;
    refuse(&b, GRAZE_ERROR_FORMAT, "worse.obj:1: ");
  }
}

/* ---- memory ---- */

static graze_status open_run_write(bench *b) {
  graze_check *check = NULL;
  graze_status status = graze_check_open(b->context, &b->def, &check);
  if (status == GRAZE_OK) status = graze_check_run(check);
  if (status == GRAZE_OK && b->def.folder != NULL) status = graze_check_write_folder(check);
  graze_check_destroy(check);
  return status;
}

static graze_status open_move_write(bench *b) {
  graze_check *check = NULL;
  graze_motion motion = {0};
  graze_scene *scene = NULL;
  graze_object_id ids[4];
  graze_status status = graze_check_open(b->context, &b->def, &check);
  if (status == GRAZE_OK) status = graze_check_read_motion(check, "motion.csv", &motion);
  if (status == GRAZE_OK) status = graze_check_make_scene(check, &motion, &scene, ids);
  if (status == GRAZE_OK) {
    const graze_film film = {
        .report = graze_check_report(check), .step_count = 2, .moves = motion.moves, .move_count = motion.count};
    status = graze_check_write_film(check, &film, 0);
  }
  graze_scene_destroy(scene);
  graze_motion_free(&motion);
  graze_check_destroy(check);
  return status;
}

static void try_every_request(bench *b, graze_status (*attempt)(bench *b)) {
  graze_status status = GRAZE_ERROR_MEMORY;
  uint64_t k = 0;
  while (status != GRAZE_OK) {
    b->memory.requests = 0;
    b->memory.fail_at = ++k;
    status = attempt(b);
    assert_int_equal(b->memory.live_blocks, b->blocks);
    if (status != GRAZE_OK) assert_int_equal(status, GRAZE_ERROR_MEMORY);
    assert_true(k < 5000);
  }
  assert_true(k > 20);
  b->memory.fail_at = 0;
  end(b);
}

static void refused_memory_is_an_error_and_leaks_nothing(void **state) {
  (void)state;
  bench b;
  for (int threads = 1; threads <= 4; threads += 3) {
    begin(&b, threads, "scene.json", NULL);
    try_every_request(&b, open_run_write);
  }
  begin(&b, 1, "a.obj", "b.obj");
  b.def.folder = "memory";
  b.def.cache = "baked";
  b.def.parts = GRAZE_CHECK_JSON | GRAZE_CHECK_CSV;
  try_every_request(&b, open_run_write);
  begin(&b, 1, "a.obj", "b.obj");
  b.def.previous = "memory/clashes.json";
  b.def.triangles = true;
  try_every_request(&b, open_run_write);
  begin(&b, 1, "scene.json", NULL);
  b.def.folder = "memory";
  try_every_request(&b, open_move_write);
}

/* ---- stopping ---- */

typedef struct stop {
  graze_check_stage at;
  unsigned seen; /* stages, as bits */
  int calls;
  uint64_t pictures; /* how many were to be painted */
} stop;

static bool stop_at(void *user, graze_check_stage stage, uint64_t done, uint64_t total) {
  stop *s = user;
  assert_true(done <= total);
  s->seen |= 1u << stage;
  s->calls++;
  if (stage == GRAZE_CHECK_PICTURES) s->pictures = total;
  return stage != s->at;
}

static void stopping_gives_no_clear_result(void **state) {
  (void)state;
  bench b;
  stop s = {.at = GRAZE_CHECK_FILES};
  begin(&b, 2, "a.obj", "b.obj");
  b.def.progress = stop_at;
  b.def.progress_user = &s;
  graze_check *check = NULL;
  assert_int_equal(graze_check_open(b.context, &b.def, &check), GRAZE_CANCELLED);
  assert_null(check);
  s.at = GRAZE_CHECK_MESHES;
  assert_int_equal(graze_check_open(b.context, &b.def, &check), GRAZE_CANCELLED);
  assert_int_equal(b.memory.live_blocks, b.blocks);

  s.at = GRAZE_CHECK_PAIRS;
  b.def.folder = "stopped";
  assert_int_equal(graze_check_open(b.context, &b.def, &check), GRAZE_OK);
  assert_int_equal(graze_check_write_folder(check), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_check_run(check), GRAZE_CANCELLED);
  assert_false(graze_check_report(check)->complete);
  assert_int_equal(graze_check_write_folder(check), GRAZE_OK);
  assert_int_equal(graze_check_run(check), GRAZE_ERROR_ARGUMENT);
  size_t size;
  char *text = test_read_file("stopped/clashes.json", &size);
  assert_non_null(strstr(text, "\"status\":\"incomplete\""));
  free(text);
  assert_int_equal(access("stopped/index.html", F_OK), 0);
  assert_int_not_equal(access("stopped/pictures", F_OK), 0);
  assert_int_equal(s.seen & 7u, 7);
  graze_check_destroy(check);
  end(&b);
}

static bool wait_at_pairs(void *user, graze_check_stage stage, uint64_t done, uint64_t total) {
  (void)user, (void)done, (void)total;
  if (stage == GRAZE_CHECK_PAIRS) usleep(600000);
  return true;
}

static void a_time_limit_stops(void **state) {
  (void)state;
  bench b;
  graze_check *check = NULL;
  begin(&b, 2, "a.obj", "b.obj");
  b.def.seconds = 1e-9;
  assert_int_equal(graze_check_open(b.context, &b.def, &check), GRAZE_CANCELLED);
  b.def.seconds = 0.5;
  b.def.progress = wait_at_pairs;
  graze_status opened = graze_check_open(b.context, &b.def, &check); /* on a machine that stands still it is late */
  if (opened == GRAZE_OK) {
    assert_int_equal(graze_check_run(check), GRAZE_CANCELLED);
    assert_false(graze_check_report(check)->complete);
  } else {
    assert_int_equal(opened, GRAZE_CANCELLED);
  }
  graze_check_destroy(opened == GRAZE_OK ? check : NULL);
  end(&b);
}

/* ---- results ---- */

static void assert_same_files(const char *first, const char *second) {
  size_t size, other;
  char *a = test_read_file(first, &size), *b = test_read_file(second, &other);
  assert_int_equal(size, other);
  assert_memory_equal(a, b, size);
  free(a);
  free(b);
}

/* The record as JSON, into a file. */
static void save(const graze_check *check, const char *path) {
  assert_int_equal(graze_report_write_json(shared_context(1), path, graze_check_report(check), false), GRAZE_OK);
}

static graze_check *run(bench *b) {
  graze_check *check = NULL;
  assert_int_equal(graze_check_open(b->context, &b->def, &check), GRAZE_OK);
  assert_int_equal(graze_check_run(check), GRAZE_OK);
  return check;
}

static void the_program_finds_the_same(void **state) {
  (void)state;
  const graze_check_set sets[] = {{"front", "a"}, {"back", "b"}, {"back", "layer:c"}};
  const graze_check_rule rules[] = {{GRAZE_CHECK_BETWEEN, "front", "back", NULL},
                                    {GRAZE_CHECK_IGNORE_NAMES, "a", "x*", NULL}};
  bench b;
  begin(&b, 2, "a.obj", "b.obj");
  b.files[2] = "c.obj";
  b.def.file_count = 3;
  b.def.units = "mm";
  b.def.sets = sets;
  b.def.set_count = 3;
  b.def.rules = rules;
  b.def.rule_count = 2;
  graze_check *check = run(&b);
  save(check, "library.json");
  graze_check_destroy(check);
  end(&b);
  int code = system(GRAZE_PROGRAM
                    " check a.obj b.obj c.obj --units mm --set front=a --set back=b --set back=layer:c "
                    "--between front back --ignore-names a 'x*' --format json -o program.json");
  assert_int_equal(WEXITSTATUS(code), 1);
  assert_same_files("library.json", "program.json");
}

/* Those that --pictures leaves out are not waited for. */
static void progress_counts_the_pictures_that_are_painted(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__ /* Mesa's own threads are not watched, and look like races */
  skip();
#endif
  bench b;
  stop s = {.at = GRAZE_CHECK_PICTURES + 1};
  begin(&b, 1, "scene.json", NULL);
  b.def.folder = "one_picture";
  b.def.most_pictures = 1;
  b.def.progress = stop_at;
  b.def.progress_user = &s;
  graze_check *check = run(&b);
  assert_true(graze_check_report(check)->clash_count > 1);
  assert_int_equal(graze_check_write_folder(check), GRAZE_OK);
  if (access("one_picture/pictures", F_OK) == 0) assert_int_equal(s.pictures, 1); /* with OpenGL and libpng */
  graze_check_destroy(check);
  end(&b);
}

static void two_checks_give_the_same_bytes(void **state) {
  static const char *const parts[] = {"clashes.json", "clashes.csv", "junit.xml", "index.html"};
  (void)state;
  bench b[2];
  graze_check *checks[2];
  for (int i = 0; i < 2; i++) {
    begin(&b[i], i == 0 ? 1 : 4, "scene.json", NULL);
    b[i].def.folder = i == 0 ? "one" : "two";
    b[i].def.most_pictures = 0;
    checks[i] = run(&b[i]);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(graze_check_write_folder(checks[i]), GRAZE_OK);
    graze_check_destroy(checks[i]);
    end(&b[i]);
  }
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    char one[64], two[64];
    snprintf(one, sizeof one, "one/%s", parts[i]);
    snprintf(two, sizeof two, "two/%s", parts[i]);
    assert_same_files(one, two);
  }
}

static void only_the_parts_that_are_asked_for_are_written(void **state) {
  (void)state;
  bench b;
  begin(&b, 1, "scene.json", NULL);
  b.def.folder = "part";
  b.def.parts = GRAZE_CHECK_CSV;
  graze_check *check = run(&b);
  assert_int_equal(graze_check_write_folder(check), GRAZE_OK);
  assert_int_equal(access("part/clashes.csv", F_OK), 0);
  assert_int_not_equal(access("part/index.html", F_OK), 0);
  assert_int_not_equal(access("part/clashes.json", F_OK), 0);
  graze_check_destroy(check);
  end(&b);
}

/* A page is looked through in pieces, and its record may begin anywhere in them. */
static void a_page_is_known_by_its_record(void **state) {
  (void)state;
  assert_int_equal(mkdir("paged", 0777), 0);
  for (int shift = 0; shift < 44; shift++) {
    for (int ours = 0; ours < 2; ours++) {
      bench b;
      begin(&b, 1, "a.obj", "b.obj");
      b.def.folder = "paged";
      FILE *page = fopen("paged/index.html", "w");
      fprintf(page, "%*s<script id=\"record\">{\"format\":\"%s page 1\"", 65536 - shift, "",
              ours ? "graze report" : "gaze report");
      fclose(page);
      graze_check *check = NULL;
      assert_int_equal(graze_check_open(b.context, &b.def, &check), ours ? GRAZE_OK : GRAZE_ERROR_FILE);
      graze_check_destroy(check);
      end(&b);
    }
    unlink("paged/.graze-report");
  }
}

/* Two boxes of one mesh cross along one line, and their triangles there stand on two sides; a third box is apart. */
static graze_status open_take_write(bench *b) {
  graze_check *check = NULL;
  graze_query *query = NULL;
  graze_self_result found[2] = {{0}};
  graze_collide_options ask = graze_default_collide_options();
  ask.find = GRAZE_FIND_ALL;
  graze_status status = graze_check_open(b->context, &b->def, &check);
  if (status == GRAZE_OK) status = graze_query_create(b->context, &query);
  if (status == GRAZE_OK)
    status = graze_collide_self(query, graze_check_report(check)->objects[0].mesh, &ask, &found[0]);
  if (status == GRAZE_OK) status = graze_check_take_self(check, found);
  if (status == GRAZE_OK) {
    const graze_report *r = graze_check_report(check);
    assert_int_equal(r->object_count, 4);
    assert_int_equal(r->clash_count, 1);
    assert_string_equal(r->title, "self against itself");
    assert_string_equal(r->objects[2].name, "self/place 1a");
    assert_string_equal(r->objects[3].name, "self/place 1b");
    assert_int_equal(r->clashes[0].a, 2);
    assert_int_equal(r->clashes[0].b, 3);
    assert_int_equal(r->clashes[0].counts.triangle_pairs, found[0].self_pairs);
    assert_true(r->clashes[0].counts.hash == found[0].hash);
    uint64_t sides[2] = {r->objects[2].facts->triangles, r->objects[3].facts->triangles};
    assert_int_equal(r->objects[0].facts->triangles + sides[0] + sides[1], 36);
    assert_true(sides[0] > 0 && sides[0] <= 12 && sides[1] > 0 && sides[1] <= 12);
    assert_true(r->clashes[0].box.min[0] >= 0.5 && r->clashes[0].box.max[0] <= 1);
    assert_int_equal(graze_check_take_self(check, found), GRAZE_ERROR_ARGUMENT);
    if (b->def.folder != NULL) status = graze_check_write_folder(check);
  }
  graze_query_destroy(query);
  graze_check_destroy(check);
  return status;
}

static void a_mesh_against_itself(void **state) {
  (void)state;
  bench b;
  FILE *file = fopen("self.obj", "w");
  for (int box = 0; box < 3; box++) { /* the second is higher, and deeper in y */
    const double low[3] = {box == 2 ? 10 : 0.5 * box, 0.25 * (box == 1), 0.25 * (box == 1)};
    for (int i = 0; i < 8; i++)
      fprintf(file, "v %g %g %g\n", low[0] + (i & 1), low[1] + (i >> 1 & 1), low[2] + (i >> 2));
    const int faces[12][3] = {{1, 3, 4}, {1, 4, 2}, {5, 6, 8}, {5, 8, 7}, {1, 2, 6}, {1, 6, 5},
                              {3, 7, 8}, {3, 8, 4}, {1, 5, 7}, {1, 7, 3}, {2, 4, 8}, {2, 8, 6}};
    for (int i = 0; i < 12; i++)
      fprintf(file, "f %d %d %d\n", 8 * box + faces[i][0], 8 * box + faces[i][1], 8 * box + faces[i][2]);
  }
  fclose(file);
  begin(&b, 1, "self.obj", "c.obj");
  b.def.joined = b.def.every_mesh = true;
  try_every_request(&b, open_take_write);
  begin(&b, 1, "self.obj", "c.obj");
  b.def.joined = b.def.every_mesh = true;
  b.def.folder = "itself";
  b.def.parts = GRAZE_CHECK_EVERY_PART & ~(unsigned)GRAZE_CHECK_IMAGES;
  assert_int_equal(open_take_write(&b), GRAZE_OK);
  assert_true(file_has("itself/index.html", "self/place 1b"));
  end(&b);
}

/* An object that meets no other has facts and no mesh, unless every mesh is wanted. */
static void meshes_that_no_pair_needs_are_not_baked(void **state) {
  (void)state;
  /* Files of one mesh each are in memory anyway, unless an earlier report may make them needless. */
  for (int every = 0; every < 2; every++) {
    bench b;
    begin(&b, 2, "scene.json", NULL);
    b.def.previous = "one/clashes.json";
    b.def.triangles = true; /* which the earlier report does not tell */
    b.def.every_mesh = every == 1;
    graze_check *check = run(&b);
    const graze_report *r = graze_check_report(check);
    assert_int_equal(r->object_count, 4);
    assert_non_null(r->objects[0].mesh);
    assert_int_equal(r->objects[3].mesh != NULL, every);
    assert_true(r->objects[3].facts->adjacency && r->objects[3].facts->closed);
    assert_int_equal(r->clash_count, 3);
    assert_int_equal(r->reused_pairs, 0);
    assert_int_equal(graze_check_get_counts(check).triangles, 48);
    graze_check_destroy(check);
    end(&b);
  }
}

static void an_earlier_report_and_marks(void **state) {
  (void)state;
  bench b;
  begin(&b, 2, "scene.json", NULL);
  graze_check *check = run(&b);
  const graze_report *r = graze_check_report(check);
  assert_int_equal(graze_check_get_counts(check).open_clashes, 3);
  FILE *marks = fopen("marks.csv", "w");
  assert_non_null(marks);
  fputs("id,mark\n", marks);
  for (uint32_t i = 0; i < r->clash_count; i++) fprintf(marks, "%s,approved\n", r->clashes[i].id);
  fclose(marks);
  save(check, "first.json");
  graze_check_destroy(check);

  b.def.previous = "first.json";
  b.def.marks = "marks.csv";
  check = run(&b);
  assert_int_equal(graze_check_get_counts(check).open_clashes, 0);
  assert_int_equal(graze_check_report(check)->reused_pairs, 3);
  assert_string_equal(graze_check_report(check)->clashes[0].mark, "approved");
  graze_check_destroy(check);
  write_file("marks.csv", "id,mark\nc-nothing,approved\n");
  refuse(&b, GRAZE_ERROR_FORMAT, "marks.csv:2: ");
}

/* ---- objects that move ---- */

static void a_scene_of_the_objects_moves(void **state) {
  (void)state;
  const graze_check_rule parents = {.kind = GRAZE_CHECK_IGNORE_SAME_PARENT};
  bench b;
  graze_motion motion;
  graze_scene *scene = NULL;
  graze_object_id ids[4];
  graze_scene_update_result events;
  begin(&b, 2, "scene.json", NULL);
  b.def.rules = &parents;
  b.def.rule_count = 1;
  b.def.folder = "film";
  graze_check *check = NULL;
  assert_int_equal(graze_check_open(b.context, &b.def, &check), GRAZE_OK);
  assert_int_equal(graze_check_read_motion(check, "missing.csv", &motion), GRAZE_ERROR_FILE);
  assert_int_equal(graze_check_read_motion(check, "motion.csv", &motion), GRAZE_OK);
  assert_int_equal(graze_check_make_scene(check, &motion, &scene, ids), GRAZE_OK);
  assert_int_equal(graze_scene_update(scene, NULL, &events), GRAZE_OK);
  assert_int_equal(events.began_count, 2); /* c with g/a and g/b, which are of one parent */
  assert_int_equal(graze_scene_set_pose(scene, ids[motion.moves[0].object], &motion.moves[0].pose), GRAZE_OK);
  assert_int_equal(graze_scene_update(scene, NULL, &events), GRAZE_OK);
  assert_int_equal(events.began_count, 3);
  assert_int_equal(graze_check_report(check)->rules[0].pairs, 1);
  graze_film film = {.report = graze_check_report(check), .moves = motion.moves, .move_count = motion.count};
  assert_int_equal(graze_check_write_film(check, &film, 0), GRAZE_OK); /* no step was run */
  assert_true(file_has("film/index.html", "This report is not finished"));
  film.step_count = 2;
  assert_int_equal(graze_check_write_film(check, &film, 0), GRAZE_OK);
  assert_false(file_has("film/index.html", "This report is not finished"));
  graze_scene_destroy(scene);
  graze_motion_free(&motion);
  graze_check_destroy(check);
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_name_their_cause),
      cmocka_unit_test(nothing_to_compare),
      cmocka_unit_test(sets_without_objects),
      cmocka_unit_test(wrong_definitions_are_refused),
      cmocka_unit_test(the_first_fault_is_told),
      cmocka_unit_test(refused_memory_is_an_error_and_leaks_nothing),
      cmocka_unit_test(stopping_gives_no_clear_result),
      cmocka_unit_test(a_time_limit_stops),
      cmocka_unit_test(the_program_finds_the_same),
      cmocka_unit_test(two_checks_give_the_same_bytes),
      cmocka_unit_test(progress_counts_the_pictures_that_are_painted),
      cmocka_unit_test(only_the_parts_that_are_asked_for_are_written),
      cmocka_unit_test(a_page_is_known_by_its_record),
      cmocka_unit_test(a_mesh_against_itself),
      cmocka_unit_test(meshes_that_no_pair_needs_are_not_baked),
      cmocka_unit_test(an_earlier_report_and_marks),
      cmocka_unit_test(a_scene_of_the_objects_moves),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
