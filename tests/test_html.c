/* The report page as a file: what stands in it, escaped and thinned as promised, whole or not there at all. How it
 * looks and behaves is tested in a browser (tests/page). */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "graze/report.h"
#include "support.h"

/* ---- a small report ---- */

typedef struct fixture {
  graze_context *context;
  graze_mesh *cube, *ball;
  graze_report_object objects[4];
  graze_report_clash clashes[2];
  graze_report report;
} fixture;

static const double curve[5][3] = {{0, 0, 0}, {0.5, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}};
static const uint32_t starts[3] = {0, 4, 5};

static graze_mesh *make_cube(graze_context *context) {
  double corners[8][3];
  static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) corners[i][k] = i >> k & 1;
  }
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = corners;
  def.vertex_count = 8;
  def.precision = GRAZE_DOUBLE;
  def.indices = faces[0];
  def.triangle_count = 12;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  return mesh;
}

/* A closed torus of 2 * around * across triangles. */
static graze_mesh *make_ring(graze_context *context, uint32_t around, uint32_t across) {
  double(*points)[3] = malloc((size_t)around * across * sizeof *points);
  uint32_t(*triangles)[3] = malloc(2 * (size_t)around * across * sizeof *triangles);
  assert_true(points != NULL && triangles != NULL);
  for (uint32_t i = 0; i < around * across; i++) {
    double u = 6.283185307179586 * (i / across) / around, v = 6.283185307179586 * (i % across) / across;
    points[i][0] = (3 + cos(v)) * cos(u);
    points[i][1] = (3 + cos(v)) * sin(u);
    points[i][2] = sin(v);
    uint32_t a = i, b = i / across * across + (i + 1) % across, c = (a + across) % (around * across),
             d = (b + across) % (around * across);
    memcpy(triangles[2 * i], ((uint32_t[3]){a, c, b}), sizeof *triangles);
    memcpy(triangles[2 * i + 1], ((uint32_t[3]){b, c, d}), sizeof *triangles);
  }
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = points;
  def.vertex_count = (uint64_t)around * across;
  def.precision = GRAZE_DOUBLE;
  def.indices = triangles[0];
  def.triangle_count = 2 * (uint64_t)around * across;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  free(points);
  free(triangles);
  return mesh;
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->context = test_context(1, NULL);
  f->cube = make_cube(f->context);
  f->ball = make_ring(f->context, 120, 60);
  f->objects[0] =
      (graze_report_object){"first", "pipes", "a.obj", f->cube, test_translation(0, 0, 0), NULL, NULL, NULL, NULL, 0};
  f->objects[1] = (graze_report_object){"second", "steel", "a.obj", f->ball, test_translation(0.5, 0, 0),
                                        NULL,     NULL,    NULL,    NULL,    0};
  f->objects[2] =
      (graze_report_object){"third", "", "b.obj", f->cube, test_translation(9, 0, 0), NULL, NULL, NULL, NULL, 0};
  f->objects[3] =
      (graze_report_object){"gone", "pipes", "", NULL, test_translation(0, 0, 0), NULL, NULL, NULL, NULL, 0};
  for (int i = 0; i < 2; i++) {
    graze_report_clash *clash = f->clashes + i;
    *clash = (graze_report_clash){.b = i == 0 ? 1 : 3, .relation = GRAZE_CROSS, .mark = "", .comment = ""};
    snprintf(clash->id, sizeof clash->id, "id-%d", i);
    clash->group_object = clash->group_layers = clash->group_place = GRAZE_NO_GROUP;
    clash->box = (graze_box){{0.1, 0, 0}, {1, 1, 1}};
    clash->point[0] = 0.1;
    clash->depth = NAN;
  }
  f->clashes[0].counts = (graze_counts){7, 1, 2, 4, 0, 0, UINT64_C(0xfedcba9876543210)};
  f->clashes[1].state = GRAZE_STATE_RESOLVED;
  f->report = (graze_report){.title = "Title",
                             .created = "2025-01-31T12:00:00Z",
                             .units = "m",
                             .engine = "cpu",
                             .exactness = "t1",
                             .complete = true,
                             .objects = f->objects,
                             .object_count = 4,
                             .clashes = f->clashes,
                             .clash_count = 2,
                             .object_pairs = 6,
                             .load_seconds = 0.1};
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  graze_mesh_destroy(f->cube);
  graze_mesh_destroy(f->ball);
  graze_context_destroy(f->context);
  free(f);
  return 0;
}

/* ---- reading the page ---- */

static const char path[] = "test_html.out.html";

/* The page's text; free it. */
static char *write_page(const fixture *f, uint64_t budget) {
  size_t size;
  graze_status status = graze_report_write_html(shared_context(1), path, &f->report, budget, "shots", NULL);
  if (status != GRAZE_OK) print_error("%s\n", shared_error()->message);
  assert_int_equal(status, GRAZE_OK);
  char *text = test_read_file(path, &size);
  assert_int_equal(strlen(text), size); /* no zero byte */
  remove(path);
  return text;
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("the page lacks: %s", part);
}

static void assert_has_not(const char *text, const char *part) {
  if (strstr(text, part) != NULL) fail_msg("the page should not have: %s", part);
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *p = text; (p = strstr(p, part)) != NULL; p += strlen(part)) count++;
  return count;
}

/* The number behind the `occurrence`th "key": of the record. */
static unsigned long long number_at(const char *text, const char *key, int occurrence) {
  for (; occurrence >= 0; occurrence--) {
    text = strstr(text, key);
    assert_non_null(text);
    text += strlen(key);
  }
  return strtoull(text, NULL, 10);
}

/* The three numbers behind the first "key":[ of the record. */
static void numbers_at(const char *text, const char *key, double numbers[3]) {
  text = strstr(text, key);
  assert_non_null(text);
  text += strlen(key);
  for (int k = 0; k < 3; k++) {
    char *end;
    numbers[k] = strtod(text, &end);
    assert_true(*end == (k < 2 ? ',' : ']'));
    text = end + 1;
  }
}

static const char record_begin[] = "<script type=\"application/json\" id=\"record\">";

/* The record alone, cut out in place. */
static const char *record_of(char *page) {
  char *record = strstr(page, record_begin);
  assert_non_null(record);
  record += strlen(record_begin);
  char *end = strstr(record, "</script>");
  assert_non_null(end);
  *end = 0;
  return record;
}

/* ---- tests ---- */

static void test_contents(void **state) {
  fixture *f = *state;
  f->clashes[0].curve_points = curve;
  f->clashes[0].curve_starts = starts;
  f->clashes[0].curve_count = 2;
  char *page = write_page(f, 0);
  assert_int_equal(strncmp(page, "<!doctype html>", 15), 0);
  assert_has(page, "<title>Title</title>");
  assert_has(page, "</html>");
  assert_int_equal(count_of(page, "class=\"mesh\">"), 2); /* instances share */
  const char *record = record_of(page);
  assert_has(record, "\"complete\":true");
  assert_has(record, "\"load\":0.1,");
  assert_has(record, "\"snapshots\":\"shots\"");
  assert_has(record, "\"hash\":\"fedcba9876543210\"");
  assert_has(record, "\"depth\":null");
  assert_has(record, "\"state\":\"resolved\"");
  assert_has(record, "\"name\":\"gone\",\"layer\":\"pipes\",\"file\":\"\",\"mesh\":null");
  assert_has(record, "\"box\":{\"min\":[0.1,0,0],\"max\":[1,1,1]}");
  /* the middle one of three points on a line is left out; (0,0,0) (1,0,0) (1,1,0), then the lone point */
  assert_has(record, "\"starts\":[0,3,4],\"points\":\"AAAAAAAA//8AAAAA/////wAAAAAAAP//\"");
  assert_int_equal(number_at(record, "\"triangles\":{\"all\":", 0), 14400 + 24);
  assert_int_equal(number_at(record, "\"triangles\":", 1), 12);
  assert_int_equal(number_at(record, "\"shown\":", 0), 14400 + 24);
  free(page);
}

/* The view of a clash is that of the caller's camera, or of graze_report_camera. */
static void test_view(void **state) {
  fixture *f = *state;
  size_t size;
  double target[3], from[3];
  const graze_camera cameras[2] = {{{0.55, 0.5, 10.5}, {0, 0, -1}, {0, 1, 0}, 90}, /* ten above the middle */
                                   {{0.55, 0.5, -1}, {0, 0, -1}, {0, 1, 0}, 90}};  /* looks away from it */
  assert_int_equal(graze_report_write_html(shared_context(1), path, &f->report, 0, NULL, cameras), GRAZE_OK);
  char *page = test_read_file(path, &size);
  const char *record = record_of(page);
  assert_has(record, "\"view\":{\"target\":[0.55,0.5,0.5],\"from\":[0,0,1],\"half\":");
  const char *half = strstr(record, "\"half\":") + strlen("\"half\":");
  assert_true(fabs(strtod(half, NULL) - 10) < 1e-12);
  assert_has(strstr(record, "\"id-1\""), "\"view\":null");
  free(page);
  const graze_camera own = graze_report_camera(&f->report, 0);
  page = write_page(f, 0);
  record = record_of(page);
  numbers_at(record, "\"target\":[", target);
  numbers_at(record, "\"from\":[", from);
  for (int k = 0; k < 3; k++) {
    assert_true(from[k] == -own.forward[k]);
    assert_true(fabs(target[k] - (f->clashes[0].box.min[k] + f->clashes[0].box.max[k]) / 2) < 1e-12);
  }
  free(page);
}

/* Text from outside must neither end an element nor break the JSON. */
static void test_escaping(void **state) {
  fixture *f = *state;
  f->report.title = "</title><script>alert(1)</script> & \"x\"";
  f->objects[0].name = "a\"b\\c</script><!--<script>\n\t\x01\x7f";
  f->objects[1].name =
      "Gr\xC3\xB6\xC3\x9F"
      "e \xE2\x82\xAC \xF0\x9F\x94\xA7";
  f->objects[2].name = "\xC3(\x80\xE2\x82_\xED\xA0\x80\xF4\x90\x80\x80\xC0\xAF\xF0\x9F\x94";
  f->clashes[0].relation = GRAZE_UNKNOWN;
  f->clashes[0].reason = "not </SCRIPT > closed";
  f->clashes[0].comment = NULL;
  char *page = write_page(f, 0);
  assert_has(page, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;</title>");
  assert_int_equal(count_of(page, "<script"), 4); /* two meshes, the record, the page's own */
  const char *record = record_of(page);
  assert_has_not(record, "<");
  assert_has(record, "\"a\\\"b\\\\c\\u003c/script>\\u003c!--\\u003cscript>\\u000a\\u0009\\u0001\\u007f\"");
  assert_has(record,
             "\"Gr\xC3\xB6\xC3\x9F"
             "e \xE2\x82\xAC \xF0\x9F\x94\xA7\"");
  /* one replacement for each maximal part: C3; 80; E2 82; ED, A0, 80; F4, 90, 80, 80; C0, AF; F0 9F 94 */
#define R "\xEF\xBF\xBD"
  assert_has(record, "\"" R "(" R R "_" R R R R R R R R R R "\"");
#undef R
  assert_has(record, "\"reason\":\"not \\u003c/SCRIPT > closed\"");
  assert_has(record, "\"comment\":\"\"");
  free(page);
}

/* The triangles of distinct meshes stay within the budget, whatever it is; small meshes stay whole; the same report
 * makes the same bytes. */
static void test_budgets(void **state) {
  fixture *f = *state;
  static const uint64_t budgets[] = {24, 25, 100, 1000, 5000, 14000, 14411, 14412, 100000};
  uint64_t before = 0;
  for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
    char *page = write_page(f, budgets[i]), *again = write_page(f, budgets[i]);
    assert_string_equal(page, again);
    free(again);
    const char *record = record_of(page);
    uint64_t cube = number_at(record, "\"shown\":", 1), ball = number_at(record, "\"shown\":", 2);
    assert_int_equal(cube, 12);
    assert_true(ball >= 12 && cube + ball <= budgets[i]);
    assert_true(ball >= before);
    if (budgets[i] >= 14412) assert_int_equal(ball, 14400);
    if (budgets[i] < 14412) assert_true(ball < 14400);
    if (budgets[i] >= 1000 && budgets[i] < 14412) assert_true(2 * (cube + ball) > budgets[i]); /* and uses it */
    assert_int_equal(number_at(record, "\"shown\":", 0), 2 * cube + ball);
    assert_has(record, "\"solid\":1}");
    assert_int_equal(count_of(record, "\"solid\":1}"), 2); /* thinning turned nothing inside out */
    before = ball;
    free(page);
  }
}

/* Meshes that are used often get less, so that what is drawn in all stays within bounds. */
static void test_instances(void **state) {
  fixture *f = *state;
  enum { COPIES = 1000 };
  graze_report_object *many = malloc((COPIES + 1) * sizeof *many);
  assert_non_null(many);
  for (int i = 0; i < COPIES; i++) many[i] = f->objects[1];
  many[COPIES] = f->objects[0];
  f->report.objects = many;
  f->report.object_count = COPIES + 1;
  f->report.clash_count = 0;
  char *page = write_page(f, 100000);
  const char *record = record_of(page);
  assert_true(number_at(record, "\"shown\":", 0) <= 400000);
  assert_true(number_at(record, "\"shown\":", 0) > 100000);
  free(page);
  free(many);
}

static void test_no_clash(void **state) {
  fixture *f = *state;
  f->report.clash_count = 0;
  f->report.clashes = NULL;
  f->report.title = NULL;
  char *page = write_page(f, 0);
  assert_has(page, "\"clashes\":[]");
  assert_has(page, "\"object_pairs\":6");
  free(page);
  f->report.object_count = 0;
  f->report.objects = NULL;
  page = write_page(f, 0);
  assert_has(page, "\"objects\":[],");
  free(page);
}

static void test_incomplete(void **state) {
  fixture *f = *state;
  f->report.complete = false;
  char *page = write_page(f, 0);
  assert_has(page, "\"complete\":false");
  free(page);
}

/* No mesh, no extent, coordinates without end: nothing of it may hurt. */
static void test_odd_meshes(void **state) {
  fixture *f = *state;
  static const double flat[18] = {1e308, 0, 0, -1e308, 0, 0, 0, 1, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  graze_mesh *wide = test_mesh(f->context, flat, 2, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *none = test_mesh(f->context, flat, 0, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *point = test_mesh(f->context, flat + 9, 1, GRAZE_VOLUMES_ORIENTED);
  f->objects[0].mesh = wide;
  f->objects[1].mesh = none;
  f->objects[2].mesh = point;
  f->report.clash_count = 0;
  char *page = write_page(f, 0);
  const char *record = record_of(page);
  assert_int_equal(number_at(record, "\"shown\":", 1), 2);
  assert_int_equal(number_at(record, "\"shown\":", 2), 0);
  assert_int_equal(number_at(record, "\"shown\":", 3), 1);
  free(page);
  graze_mesh_destroy(wide);
  graze_mesh_destroy(none);
  graze_mesh_destroy(point);
}

static void assert_refused(const fixture *f, graze_status want, const char *words) {
  assert_int_equal(graze_report_write_html(shared_context(1), path, &f->report, 0, NULL, NULL), want);
  assert_int_equal(shared_error()->status, want);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", shared_error()->message, words);
  assert_int_equal(access(path, F_OK), -1);
}

static void test_faults(void **state) {
  fixture *f = *state;
  static const uint32_t wrong[2] = {3, 1};
  assert_int_equal(graze_report_write_html(shared_context(1), NULL, &f->report, 0, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_report_write_html(shared_context(1), path, NULL, 0, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  f->objects[2].pose.m[5] = NAN;
  assert_refused(f, GRAZE_ERROR_ARGUMENT, "objects[2]: its pose is not finite");
  f->objects[2].pose.m[5] = 1;
  f->clashes[1].b = 4;
  assert_refused(f, GRAZE_ERROR_ARGUMENT, "clashes[1]: its objects are not two of the report");
  f->clashes[1].b = 3;
  f->clashes[1].group_place = 0;
  assert_refused(f, GRAZE_ERROR_ARGUMENT, "clashes[1]: the report does not have its groups");
  f->clashes[1].group_place = GRAZE_NO_GROUP;
  f->clashes[0].curve_count = 1;
  assert_refused(f, GRAZE_ERROR_ARGUMENT, "clashes[0]: its curve has no points");
  f->clashes[0].curve_points = curve;
  f->clashes[0].curve_starts = wrong;
  assert_refused(f, GRAZE_ERROR_ARGUMENT, "clashes[0]: a polyline of its curve ends before it starts");
  f->clashes[0].curve_count = 0;
  memset(f->clashes[0].id, 'x', sizeof f->clashes[0].id);
  assert_refused(f, GRAZE_ERROR_ARGUMENT, "clashes[0]: its id is not of letters");
}

/* Whole or not at all. */
static void test_write_failure(void **state) {
  fixture *f = *state;
  assert_int_equal(graze_report_write_html(shared_context(1), "no/such/folder/x.html", &f->report, 0, NULL, NULL),
                   GRAZE_ERROR_FILE);
  assert_non_null(strstr(shared_error()->message, "no/such/folder/x.html: cannot write"));
  if (access("/dev/full", W_OK) != 0) {
    print_message("SKIPPED: no /dev/full\n");
    return;
  }
  assert_int_equal(graze_report_write_html(shared_context(1), "/dev/full", &f->report, 0, NULL, NULL),
                   GRAZE_ERROR_FILE);
  assert_non_null(strstr(shared_error()->message, "/dev/full: cannot write"));
  assert_int_equal(access("/dev/full", F_OK), 0); /* only regular files are removed */
}

/* A disk that fills up in the middle, played by the limit on the size of files: the part must not stay. */
static void test_partial_file(void **state) {
  fixture *f = *state;
  struct rlimit before, little;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  little = before;
  little.rlim_cur = 100000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* so that the write fails instead */
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
  graze_status status = graze_report_write_html(shared_context(1), path, &f->report, 0, NULL, NULL);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  assert_int_equal(status, GRAZE_ERROR_FILE);
  assert_non_null(strstr(shared_error()->message, "cannot write"));
  assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_contents, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_view, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_escaping, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_budgets, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_instances, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_no_clash, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_incomplete, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_odd_meshes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_write_failure, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_partial_file, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
