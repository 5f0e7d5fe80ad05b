/* The report's files: escaping, round trips, the same bytes for the same record, full disks, reports and marks that
 * come back, bad ones, and how long ten thousand clashes take. What only another parser can judge (XML, zip, BCF) is
 * judged by tests/report/check_report.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report_world.h"

/* ---- writers ---- */

static void test_csv_is_rfc_4180(void **state) {
  static const char want[] =
      "id,state,relation,a,layer_a,b,layer_b,triangle_pairs,points,segments,areas,coplanar,degenerate,hash,x,y,z,"
      "min_x,min_y,min_z,max_x,max_y,max_z,depth_estimate,reason,mark,comment,group_object,group_layers,group_place\r\n"
      ",incomplete,unknown,,,,,,,,,,,,,,,,,,,,,,"
      "INCOMPLETE: the check was stopped before every pair of objects was checked,,,,,\r\n"
      "c-1,new,cross,\"say \"\"hi\"\", "
      "twice\",\"a\r\nb\",=1+2,,7,1,2,3,4,1,0123456789abcdf0,0,0.5,0.5,-0.5,0,0,0.5,1,1,"
      "0.25,,approved,\"two\nlines\",,,\r\n"
      "c-2,resolved,unknown,\"say \"\"hi\"\", twice\",\"a\r\nb\",bad\xef\xbf\xbdutf,,,,,,,,,,,,,,,,,,,"
      "\" leads\",,,,,\r\n";
  world w;
  size_t size;
  (void)state;
  world_open(&w);
  add_object(&w, "say \"hi\", twice", "a\r\nb", 0);
  add_object(&w, "=1+2", "", 0);
  add_object(&w,
             "bad\xff"
             "utf",
             NULL, 0);
  graze_report_clash *first = add_clash(&w, 0, 1, GRAZE_CROSS, 0), *second = add_clash(&w, 0, 2, GRAZE_UNKNOWN, NAN);
  strcpy(first->id, "c-1");
  strcpy(second->id, "c-2");
  first->state = GRAZE_STATE_NEW;
  first->mark = "approved";
  first->comment = "two\nlines";
  second->state = GRAZE_STATE_RESOLVED;
  second->reason = " leads";
  second->point[1] = second->point[2] = second->depth = NAN;
  second->box = (graze_box){{1, 1, 1}, {0, 0, 0}};
  w.report.complete = false;
  assert_int_equal(graze_report_write_csv(shared_context(1), "escapes.csv", &w.report), GRAZE_OK);
  char *text = test_read_file("escapes.csv", &size);
  assert_string_equal(text, want);
  free(text);
  world_close(&w);
}

static void test_json_reads_back(void **state) {
  static const graze_triangle_pair triangles[7] = {{0, 1}, {0, 2}, {1, 0}, {3, 4}, {5, 5}, {6, 0}, {7, 7}};
  static const double curve[3][3] = {{0, 0, 0}, {0.1, 0, 0}, {1e300, 1, -0.0}};
  static const uint32_t starts[2] = {0, 3};
  static const graze_report_rule rules[1] = {{"ignore layers \"a\" / \"b\"", 3}};
  world w;
  uint32_t count;
  (void)state;
  world_open(&w);
  fill_world(&w);
  w.report.rules = rules;
  w.report.rule_count = 1;
  w.objects[2].name = "C \"quoted\" \\ \t\x01 \xc3\xa4/\xe2\x82\xac";
  graze_report_clash *first = &w.clashes[0];
  first->triangles = triangles;
  first->curve_points = curve;
  first->curve_starts = starts;
  first->curve_count = 1;
  first->mark = "reviewed";
  first->comment = "line\n\"end\"";
  first->state = GRAZE_STATE_ACTIVE;
  first->found = "2024-12-24T00:00:00Z";
  first->point[0] = 0.1 + 0.2;
  w.clashes[1].depth = NAN;
  w.clashes[1].box = (graze_box){{1, 1, 1}, {0, 0, 0}};
  w.clashes[1].point[1] = NAN;
  w.clashes[2].state = GRAZE_STATE_RESOLVED;
  graze_report_previous *previous = reread(&w.report, "round.json");
  const graze_report_previous_clash *back = graze_report_previous_clashes(previous, &count);
  assert_int_equal(count, 3);
  assert_string_equal(back[0].a, "A");
  assert_string_equal(back[1].b, w.objects[2].name);
  assert_string_equal(back[0].id, first->id);
  assert_string_equal(back[0].mark, "reviewed");
  assert_string_equal(back[0].comment, first->comment);
  assert_string_equal(back[0].found, first->found);
  assert_string_equal(back[1].found, created);
  assert_int_equal(back[0].relation, GRAZE_CROSS);
  assert_int_equal(back[0].state, GRAZE_STATE_ACTIVE);
  assert_int_equal(back[2].state, GRAZE_STATE_RESOLVED);
  test_assert_counts(&back[0].counts, &first->counts);
  assert_true(back[0].placed && !back[1].placed);
  assert_memory_equal(back[0].point, first->point, sizeof first->point);
  assert_memory_equal(&back[0].box, &first->box, sizeof first->box);
  assert_true(back[0].depth == 0.25 && isnan(back[1].depth) && back[1].box.min[0] > back[1].box.max[0]);
  graze_report_previous_destroy(previous);
  world_close(&w);
}

typedef struct sink_state {
  char text[1 << 16];
  size_t used, limit;
} sink_state;

static bool take_bytes(void *user, const void *bytes, size_t size) {
  sink_state *sink = user;
  if (sink->used + size > sink->limit) return false;
  memcpy(sink->text + sink->used, bytes, size);
  sink->used += size;
  return true;
}

static void test_json_to_a_sink(void **state) {
  static sink_state sink = {.limit = sizeof sink.text};
  world w;
  size_t size;
  (void)state;
  world_open(&w);
  fill_world(&w);
  assert_int_equal(graze_report_send_json(shared_context(1), take_bytes, &sink, &w.report, false), GRAZE_OK);
  assert_int_equal(graze_report_write_json(shared_context(1), "sink.json", &w.report, false), GRAZE_OK);
  char *text = test_read_file("sink.json", &size);
  assert_int_equal(size, sink.used);
  assert_memory_equal(text, sink.text, size);
  free(text);
  sink.limit = 10;
  sink.used = 0;
  assert_int_equal(graze_report_send_json(shared_context(1), take_bytes, &sink, &w.report, false), GRAZE_ERROR_FILE);
  assert_string_equal(shared_error()->message, "report: the sink takes no more");
  world_close(&w);
}

typedef graze_status (*writer)(graze_context *context, const char *path, const graze_report *report);

static graze_status write_json(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_json(context, path, report, true);
}

static graze_status write_junit(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_junit(context, path, report, 1u << GRAZE_CROSS);
}

static graze_status write_bcf(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_bcf(context, path, report, NULL, NULL);
}

static const struct {
  const char *name;
  writer write;
} writers[] = {{"csv", graze_report_write_csv}, {"json", write_json}, {"junit", write_junit}, {"bcf", write_bcf}};

enum { writer_count = sizeof writers / sizeof writers[0] };

static bool have_bcf(const graze_report *report) {
  if (write_bcf(shared_context(1), "probe.bcf", report) != GRAZE_ERROR_UNSUPPORTED) return true;
  assert_non_null(strstr(shared_error()->message, "zlib1g-dev"));
  return false;
}

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

static void test_same_record_same_bytes(void **state) {
  world w;
  (void)state;
  world_open(&w);
  fill_world(&w);
  for (int i = 0; i < writer_count - !have_bcf(&w.report); i++) {
    size_t size[2];
    setenv("TZ", "Asia/Tokyo", 1);
    assert_int_equal(writers[i].write(shared_context(1), "same.1", &w.report), GRAZE_OK);
    setenv("TZ", "America/Lima", 1);
    assert_int_equal(writers[i].write(shared_context(1), "same.2", &w.report), GRAZE_OK);
    char *first = test_read_file("same.1", &size[0]), *second = test_read_file("same.2", &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(first, second, size[0]);
    free(first);
    free(second);
  }
  world_close(&w);
}

/* A disk that is full, a folder that is not there: FILE, and no file; what stood there still stands. */
static void test_whole_or_none(void **state) {
  world w;
  (void)state;
  world_open(&w);
  fill_world(&w);
  for (int i = 0; i < writer_count - !have_bcf(&w.report); i++) {
    assert_int_equal(writers[i].write(shared_context(1), "/dev/full", &w.report), GRAZE_ERROR_FILE);
    assert_string_equal(shared_error()->message, "/dev/full: cannot write: No space left on device");
    assert_true(exists("/dev/full"));
    assert_int_equal(writers[i].write(shared_context(1), "no/such/folder", &w.report), GRAZE_ERROR_FILE);
    assert_string_equal(shared_error()->message, "no/such/folder: cannot write: No such file or directory");
    assert_int_equal(writers[i].write(shared_context(1), NULL, &w.report), GRAZE_ERROR_ARGUMENT);
    assert_int_equal(writers[i].write(shared_context(1), "none", NULL), GRAZE_ERROR_ARGUMENT);
    w.clashes[1].b = 99;
    assert_int_equal(writers[i].write(shared_context(1), "none", &w.report), GRAZE_ERROR_ARGUMENT);
    assert_string_equal(shared_error()->message, "none: clashes[1]: its objects are not two of the report, a before b");
    w.clashes[1].b = 2;
    w.clashes[1].group_place = 0;
    assert_int_equal(writers[i].write(shared_context(1), "none", &w.report), GRAZE_ERROR_ARGUMENT);
    assert_string_equal(shared_error()->message, "none: clashes[1]: the report does not have its groups");
    w.clashes[1].group_place = GRAZE_NO_GROUP;
    strcpy(w.clashes[2].id, "../etc");
    assert_int_equal(writers[i].write(shared_context(1), "none", &w.report), GRAZE_ERROR_ARGUMENT);
    identify(&w);
    assert_false(exists("none"));
  }
  world_close(&w);
}

static void write_bytes(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void test_bcf_refuses(void **state) {
  world w;
  char path[64];
  size_t size;
  (void)state;
  world_open(&w);
  fill_world(&w);
  if (!have_bcf(&w.report)) {
    world_close(&w);
    print_message("skipped: built without zlib\n");
    skip();
  }
  write_bytes("kept.bcf", "good", 4);
  mkdir("pictures", 0777);
  snprintf(path, sizeof path, "pictures/%s.png", w.clashes[1].id);
  write_bytes(path, "this is not a picture, whatever it is", 37);
  assert_int_equal(graze_report_write_bcf(shared_context(1), "kept.bcf", &w.report, "pictures", NULL),
                   GRAZE_ERROR_FORMAT);
  assert_non_null(strstr(shared_error()->message, path));
  unlink(path);
  assert_int_equal(graze_report_write_bcf(shared_context(1), "kept.bcf", &w.report, "pictures/nothing", NULL),
                   GRAZE_OK);
  write_bytes("kept.bcf", "good", 4);
  w.report.created = "2025-01-32T12:00:00Z";
  assert_int_equal(graze_report_write_bcf(shared_context(1), "kept.bcf", &w.report, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  w.report.created = created;
  w.clashes[0].id[0] = 0;
  assert_int_equal(graze_report_write_bcf(shared_context(1), "kept.bcf", &w.report, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(shared_error()->message, "kept.bcf: clashes[0] has no id");
  char *text = test_read_file("kept.bcf", &size);
  assert_string_equal(text, "good");
  free(text);
  world_close(&w);
}

/* ---- files that come back ---- */

#define HEAD \
  "{\"graze\":\"0.1.0\",\"exactness\":\"t1\",\"status\":\"complete\",\"objects\":[{\"name\":\"A\"},{\"name\":\"B\"}],"
#define PAIR "{\"a\":\"A\",\"b\":\"B\",\"relation\":\"cross\""

static void test_bad_reports(void **state) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "bad:1: '[' or '{' expected near end of file"},
      {"{\n\"graze\":}", "bad:2: unexpected token near '}'"},
      {"[]", "bad: not an object"},
      {"{\"graze\":1}", "bad: \"graze\" is not a string"},
      {"{\"grase\":\"1\"}", "bad: unknown key \"grase\""},
      {"{\"graze\":\"1\",\"exactness\":\"t1\"}", "bad: \"status\" is missing"},
      {"{\"graze\":\"1\",\"exactness\":\"t1\",\"status\":\"done\"}", "bad: \"status\" is \"done\", which it cannot be"},
      {"{\"graze\":\"1\",\"exactness\":\"t1\",\"status\":\"complete\"}", "bad: \"objects\" is missing"},
      {"{\"graze\":\"1\",\"exactness\":\"t1\",\"status\":\"complete\",\"objects\":[{\"name\":\"A\"},{\"name\":\"A\"}]}",
       "bad: objects: two have the name \"A\""},
      {"{\"graze\":\"1\",\"exactness\":\"t1\",\"status\":\"complete\",\"objects\":[{\"name\":\"A\",\"mesh_hash\":"
       "\"12\"}]}",
       "bad: objects[0]: \"mesh_hash\" is not 16 hex digits"},
      {HEAD "\"rules\":[{\"pairs\":1}],\"pairs\":[]}", "bad: rules[0]: \"text\" is missing"},
      {HEAD "\"pairs\":{}}", "bad: \"pairs\" is not an array"},
      {HEAD "\"pairs\":[" PAIR "},7]}", "bad: pairs[1]: not an object"},
      {HEAD "\"pairs\":[" PAIR ",\"marks\":\"\"}]}", "bad: pairs[0]: unknown key \"marks\""},
      {HEAD "\"pairs\":[" PAIR ",\"mark\":\"Approved\"}]}",
       "bad: pairs[0]: \"mark\" is \"Approved\"; it can be \"\", \"reviewed\" or \"approved\""},
      {HEAD "\"pairs\":[" PAIR ",\"comment\":null}]}", "bad: pairs[0]: \"comment\" is not a string"},
      {HEAD "\"pairs\":[" PAIR ",\"points\":-1}]}", "bad: pairs[0]: \"points\" is not a whole number of 0 or more"},
      {HEAD "\"pairs\":[" PAIR ",\"hash\":\"123456789abcdeF0\"}]}", "bad: pairs[0]: \"hash\" is not 16 hex digits"},
      {HEAD "\"pairs\":[" PAIR ",\"point\":[1,2]}]}", "bad: pairs[0]: \"point\" is not an array of 3 numbers"},
      {HEAD "\"pairs\":[" PAIR ",\"box\":{\"min\":[0,0,0]}}]}", "bad: pairs[0].box: \"min\" or \"max\" is missing"},
      {HEAD "\"pairs\":[" PAIR ",\"depth_estimate\":\"1\"}]}", "bad: pairs[0]: \"depth_estimate\" is not a number"},
      {HEAD "\"pairs\":[" PAIR ",\"state\":\"resolved\"}]}",
       "bad: pairs[0]: \"state\" is \"resolved\", which it cannot be"},
      {HEAD "\"pairs\":[" PAIR ",\"id\":\"../../x\"}]}",
       "bad: pairs[0]: \"id\" is not 1 to 23 letters, digits and '-'"},
      {HEAD "\"pairs\":[" PAIR ",\"id\":\"x\"}," PAIR ",\"id\":\"x\"}]}", "bad: two clashes have the id \"x\""},
      {HEAD "\"pairs\":[{\"a\":\"A\",\"b\":\"C\",\"relation\":\"cross\"}]}",
       "bad: pairs[0]: no object has the name \"C\""},
      {HEAD "\"pairs\":[{\"a\":\"A\",\"b\":\"A\",\"relation\":\"cross\"}]}",
       "bad: pairs[0]: \"a\" and \"b\" are the same object"},
      {HEAD "\"pairs\":[{\"a\":\"A\",\"b\":\"B\",\"relation\":\"crosses\"}]}",
       "bad: pairs[0]: \"relation\" is \"crosses\", which it cannot be"},
      {HEAD "\"pairs\":[],\"resolved\":[" PAIR ",\"state\":\"new\"}]}",
       "bad: resolved[0]: \"state\" is \"new\", which it cannot be"},
      {HEAD "\"pairs\":[],\"pairs\":[]}", "bad:1: duplicate object key near '\"pairs\"'"},
  };
  graze_report_previous *previous = NULL;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *text = cases[i].text;
    assert_int_equal(graze_report_previous_parse(shared_context(1), text, strlen(text), "bad", &previous),
                     GRAZE_ERROR_FORMAT);
    assert_string_equal(shared_error()->message, cases[i].message);
    assert_null(previous);
  }
  assert_int_equal(graze_report_previous_read(shared_context(1), "no such file", &previous), GRAZE_ERROR_FILE);
  assert_string_equal(shared_error()->message, "no such file: cannot open: No such file or directory");
}

/* What `graze check --format json` printed before there were ids. */
static void test_plain_reports(void **state) {
  static const char text[] =
      HEAD "\"engine\":\"cpu\",\"pairs\":[" PAIR
           ",\"triangle_pairs\":2,\"points\":1,\"segments\":1,\"areas\":0,\"coplanar\":0,\"degenerate\":0,"
           "\"hash\":\"00000000000000ff\",\"triangles\":[[0,1],[2,3]]}],\"counts\":{\"objects\":2,\"object_pairs\":1,"
           "\"clashes\":1},\"seconds\":{\"load\":0,\"build\":0,\"query\":0}}";
  world w;
  uint32_t count;
  graze_report_previous *previous;
  (void)state;
  assert_int_equal(graze_report_previous_parse(shared_context(1), text, strlen(text), "old", &previous), GRAZE_OK);
  const graze_report_previous_clash *old = graze_report_previous_clashes(previous, &count);
  assert_true(count == 1 && old->counts.triangle_pairs == 2 && old->counts.hash == 255 && !old->placed);
  world_open(&w);
  fill_world(&w);
  assert_string_equal(old->id, w.clashes[0].id);
  graze_report_merged carried = carry(&w, previous);
  assert_true(carried.active_count == 1 && carried.new_count == 2);
  graze_report_merged_free(&carried);
  graze_report_previous_destroy(previous);
  world_close(&w);
}

static graze_status parse_marks(graze_report_previous *previous, const char *format, const char *id) {
  char text[512];
  snprintf(text, sizeof text, format, id, id);
  return graze_report_parse_marks(shared_context(1), text, strlen(text), "marks.csv", previous);
}

static void test_marks(void **state) {
  static const struct {
    const char *format, *mark, *comment;
  } good[] = {{"id,mark,comment\n%s,approved,\"a, \"\"b\"\"\r\nc\"\n", "approved", "a, \"b\"\r\nc"},
              {"\xef\xbb\xbf"
               "comment;x;id;mark\r\nfine;;%s;reviewed",
               "reviewed", "fine"},
              {"mark\tid\n\t%s\n\t\n\n", "", "fine"},
              {"id,comment\n%s,", "", ""},
              {"id,mark\n", "", ""},
              {"state,id,mark\nincomplete,,\n,%s,approved\n", "approved", ""}};
  static const struct {
    const char *format, *message;
  } bad[] = {
      {"", "marks.csv:1: no column has the name \"id\""},
      {"id,marks\n", "marks.csv:1: no column has the name \"mark\" or \"comment\""},
      {"id,mark,id\n", "marks.csv:1: two columns have the name \"id\""},
      {"id,mark\nc-0,reviewed\n", "marks.csv:2: the report has no clash with the id \"c-0\""},
      {"id,mark\n,reviewed\n", "marks.csv:2: the report has no clash with the id \"\""},
      {"id,mark\n%s,reviewed\n\n%s,\n", "marks.csv:4: the id \"ID\" occurs twice"},
      {"id,mark\n%s,ok\n", "marks.csv:2: the mark \"ok\" is none; it can be empty, \"reviewed\" or \"approved\""},
      {"id,comment\n%s,\"open\n", "marks.csv:2: a quote is not closed"},
      {"id,comment\n%s,\xe4\n", "marks.csv:2: not UTF-8 text"}};
  world w;
  uint32_t count;
  char want[200];
  (void)state;
  world_open(&w);
  fill_world(&w);
  graze_report_previous *previous = reread(&w.report, "round.json");
  const graze_report_previous_clash *clash = graze_report_previous_clashes(previous, &count);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    if (parse_marks(previous, good[i].format, clash->id) != GRAZE_OK) fail_msg("%s", shared_error()->message);
    assert_string_equal(clash->mark, good[i].mark);
    assert_string_equal(clash->comment, good[i].comment);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(parse_marks(previous, bad[i].format, clash->id), GRAZE_ERROR_FORMAT);
    snprintf(want, sizeof want, "%s", bad[i].message);
    char *id = strstr(want, "\"ID\"");
    if (id != NULL) snprintf(id, sizeof want - (size_t)(id - want), "\"%s\" occurs twice", clash->id);
    assert_string_equal(shared_error()->message, want);
    assert_string_equal(clash->mark, "approved"); /* nothing of a bad file counts */
  }
  world_close(&w);
  graze_report_previous_destroy(previous);
}

/* The table as written, marked in a spreadsheet, comes back. */
static void test_marks_by_way_of_the_table(void **state) {
  world w;
  uint32_t count;
  (void)state;
  world_open(&w);
  fill_world(&w);
  w.objects[1].name = "=B, \"the\nsecond\"";
  identify(&w);
  graze_report_previous *previous = reread(&w.report, "round.json");
  mark(&w, 0, "approved", "say \"so\"");
  mark(&w, 2, "reviewed", "");
  w.report.complete = false;
  assert_int_equal(graze_report_write_csv(shared_context(1), "marks.csv", &w.report), GRAZE_OK);
  if (graze_report_read_marks(shared_context(1), "marks.csv", previous) != GRAZE_OK)
    fail_msg("%s", shared_error()->message);
  const graze_report_previous_clash *clashes = graze_report_previous_clashes(previous, &count);
  assert_string_equal(clashes[0].mark, "approved");
  assert_string_equal(clashes[0].comment, "say \"so\"");
  assert_string_equal(clashes[1].mark, "");
  assert_string_equal(clashes[2].mark, "reviewed");
  assert_int_equal(graze_report_read_marks(shared_context(1), "no such file", previous), GRAZE_ERROR_FILE);
  graze_report_previous_destroy(previous);
  world_close(&w);
}

/* ---- ten thousand clashes ---- */

enum { many = 10000, many_objects = 5001 };

static double processor_seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

/* Half a second of processor time is the aim; ten times that fails, which quadratic work would reach. */
static void note_time(const char *what, double start) {
  double seconds = processor_seconds() - start;
  print_message("%-10s %.3f s\n", what, seconds);
  assert_true(seconds < 5);
}

static void fill_many(const world *w, graze_report_object *objects, graze_report_clash *clashes, char (*names)[64]) {
  for (uint32_t i = 0; i < many_objects; i++) {
    snprintf(names[i], sizeof names[i], "Site/Building %u/Level %u/Pipe segment %u", i % 3, i % 17, i);
    objects[i] = (graze_report_object){names[i],
                                       i % 3 ? "pipes" : "steel",
                                       "plant.glb",
                                       w->cube,
                                       test_translation(i % 100, i / 100 % 100, i / 10000.0),
                                       NULL,
                                       NULL,
                                       NULL,
                                       NULL,
                                       0};
  }
  for (uint32_t i = 0; i < many; i++) {
    uint32_t a = i % (many_objects - 1);
    clashes[i] = (graze_report_clash){.a = a, .b = i < many / 2 ? a + 1 : many_objects - 1, .relation = GRAZE_CROSS};
    if (clashes[i].a == clashes[i].b) clashes[i].a = 0;
    clashes[i].counts = (graze_counts){12, 3, 9, 0, 0, 0, i * 0x9E3779B97F4A7C15u};
    for (int k = 0; k < 3; k++) clashes[i].point[k] = (i * (k + 3) % 1009) / 10.0 + 1e-7 * i;
    clashes[i].box = (graze_box){{0, 0, 0}, {1, 1, 1.0 / 3}};
    clashes[i].depth = 1e-3 * i / 7;
    clashes[i].group_object = clashes[i].group_layers = clashes[i].group_place = GRAZE_NO_GROUP;
  }
}

static void test_ten_thousand(void **state) {
  static graze_report_object objects[many_objects];
  static graze_report_clash clashes[many];
  static char names[many_objects][64];
  world w;
  graze_report_groups groups;
  graze_report_merged carried;
  const uint32_t count = (uint32_t)test_rounds(many, many);
  (void)state;
  world_open(&w);
  fill_many(&w, objects, clashes, names);
  double start = processor_seconds();
  assert_int_equal(graze_report_identify(shared_context(1), objects, many_objects, clashes, count), GRAZE_OK);
  note_time("identify", start);
  start = processor_seconds();
  assert_int_equal(graze_report_group_clashes(shared_context(1), objects, many_objects, clashes, count, &groups),
                   GRAZE_OK);
  note_time("group", start);
  w.report.objects = objects;
  w.report.object_count = many_objects;
  w.report.clashes = clashes;
  w.report.clash_count = count;
  w.report.groups = groups.groups;
  w.report.group_count = groups.group_count;
  for (int i = 0; i < writer_count - !have_bcf(&w.report); i++) {
    start = processor_seconds();
    if (writers[i].write(shared_context(1), "many", &w.report) != GRAZE_OK) fail_msg("%s", shared_error()->message);
    note_time(writers[i].name, start);
  }
  graze_report_previous *previous = reread(&w.report, "round.json");
  start = processor_seconds();
  graze_report_previous *again;
  assert_int_equal(graze_report_previous_read(shared_context(1), "round.json", &again), GRAZE_OK);
  note_time("read", start);
  start = processor_seconds();
  assert_int_equal(graze_report_merge_previous(shared_context(1), &w.report, previous, &carried), GRAZE_OK);
  note_time("carry", start);
  assert_int_equal(carried.active_count, count);
  graze_report_merged_free(&carried);
  graze_report_previous_destroy(previous);
  graze_report_previous_destroy(again);
  graze_report_groups_free(&groups);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_csv_is_rfc_4180), cmocka_unit_test(test_json_reads_back),
      cmocka_unit_test(test_json_to_a_sink),  cmocka_unit_test(test_same_record_same_bytes),
      cmocka_unit_test(test_whole_or_none),   cmocka_unit_test(test_bcf_refuses),
      cmocka_unit_test(test_bad_reports),     cmocka_unit_test(test_plain_reports),
      cmocka_unit_test(test_marks),           cmocka_unit_test(test_marks_by_way_of_the_table),
      cmocka_unit_test(test_ten_thousand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
