/* Films: what is refused, the camera that sees every step, frames with lit objects, the same bytes twice, animated PNG
 * chunk by chunk, and the moves in the page. That the page works is in page/film_test.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/report.h"
#include "support.h"

enum { WIDTH = 160, HEIGHT = 100, OBJECTS = 3, STEPS = 5 };

typedef struct world {
  graze_context *context;
  graze_mesh *mesh;
  graze_report_object objects[OBJECTS];
  graze_report report;
  graze_motion_move moves[3];
  graze_film_event events[2];
  graze_film film;
} world;

static graze_pose at(double x, double y, double z) {
  graze_pose pose = graze_pose_identity();
  pose.m[3] = x;
  pose.m[7] = y;
  pose.m[11] = z;
  return pose;
}

/* Unit cubes: the first slides along x into the second, the third stands far off. */
static void open_world(world *w, double shift) {
  const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
  double corners[108];
  static const char *const names[OBJECTS] = {"slide", "rest", "far"};
  memset(w, 0, sizeof *w);
  w->context = test_context(1, NULL);
  soup_box(low, high, corners);
  w->mesh = test_mesh(w->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < OBJECTS; i++)
    w->objects[i] = (graze_report_object){
        .name = names[i], .layer = "", .file = "", .mesh = w->mesh, .pose = at(shift + 4 * i, shift, shift)};
  w->report = (graze_report){.title = "film",
                             .created = "2025-01-31T12:00:00Z",
                             .units = "m",
                             .engine = "cpu",
                             .exactness = "t1",
                             .complete = true,
                             .objects = w->objects,
                             .object_count = OBJECTS};
  for (uint32_t i = 0; i < 3; i++)
    w->moves[i] = (graze_motion_move){.step = 1 + i, .pose = at(shift + 1.2 * (i + 1), shift, shift)};
  w->events[0] = (graze_film_event){3, GRAZE_FILM_BEGAN, 0, 1, GRAZE_SEPARATE, GRAZE_CROSS, 0};
  w->events[1] = (graze_film_event){4, GRAZE_FILM_ENDED, 0, 1, GRAZE_CROSS, GRAZE_SEPARATE, 0};
  w->film = (graze_film){&w->report, STEPS, w->moves, 3, w->events, 2};
}

static void close_world(world *w) {
  graze_mesh_destroy(w->mesh);
  graze_context_destroy(w->context);
}

/* ---- what is refused ---- */

static void refuse(world *w, graze_status status, const char *words) {
  assert_int_equal(graze_film_write_html(shared_context(1), "film_test.html", &w->film, 0), status);
  assert_non_null(strstr(shared_error()->message, words));
  assert_int_not_equal(access("film_test.html", F_OK), 0);
  graze_camera camera;
  assert_int_equal(graze_film_camera(shared_context(1), &w->film, 1.6, &camera), status);
}

static void refuses_contradictions(void **unused) {
  (void)unused;
  world w;
  unlink("film_test.html");
  open_world(&w, 0);
  w.moves[1].object = 3;
  refuse(&w, GRAZE_ERROR_INDEX, "move 1: object 3 of 3");
  w.moves[1].object = 0;
  w.moves[1].step = 0;
  refuse(&w, GRAZE_ERROR_ARGUMENT, "move 1: step 0 after step 1");
  w.moves[1].step = 2;
  w.moves[2].step = STEPS;
  refuse(&w, GRAZE_ERROR_ARGUMENT, "move 2: step 5");
  w.moves[2].step = 3;
  w.moves[2].pose.m[5] = NAN;
  refuse(&w, GRAZE_ERROR_NOT_FINITE, "move 2: its pose");
  w.moves[2].pose.m[5] = 1;
  w.events[1].b = 9;
  refuse(&w, GRAZE_ERROR_INDEX, "event 1: objects 0 and 9 of 3");
  w.events[1].b = 1;
  w.events[1].step = 2;
  refuse(&w, GRAZE_ERROR_ARGUMENT, "event 1: step 2 after step 3");
  w.events[1].step = 4;
  w.objects[2].pose.m[0] = INFINITY;
  refuse(&w, GRAZE_ERROR_NOT_FINITE, "object 2: its pose");
  w.objects[2].pose.m[0] = 1;
  w.film.step_count = 0;
  refuse(&w, GRAZE_ERROR_ARGUMENT, "one step or more");
  assert_int_equal(graze_film_write_html(shared_context(1), NULL, &w.film, 0), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_film_write_html(shared_context(1), "film_test.html", NULL, 0), GRAZE_ERROR_ARGUMENT);
  close_world(&w);
}

/* ---- the page's moves ---- */

static int digit_of(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = strchr(digits, c);
  return found && *found ? (int)(found - digits) : -1;
}

static size_t decode(const char *text, unsigned char *out) {
  size_t count = 0;
  uint32_t bits = 0;
  int held = 0;
  for (; digit_of(*text) >= 0; text++) {
    bits = bits << 6 | (uint32_t)digit_of(*text);
    held += 6;
    if (held >= 8) out[count++] = (unsigned char)(bits >> (held -= 8));
  }
  return count;
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  assert_int_equal(fread(text, 1, size, file), size);
  text[size] = 0;
  fclose(file);
  return text;
}

/* Far from the origin a float of the place itself would be off by a tenth of a metre. */
static void page_keeps_digits(void **unused) {
  (void)unused;
  enum { MOVE = 56 };
  const double shift = 1234567.3;
  world w;
  unsigned char bytes[3 * MOVE + 4];
  open_world(&w, shift);
  assert_int_equal(graze_film_write_html(shared_context(1), "film_test.html", &w.film, 0), GRAZE_OK);
  char *page = read_all("film_test.html");
  const char *moves = strstr(page, "id=\"moves\">"), *origin = strstr(page, "\"origin\":[");
  assert_non_null(moves);
  assert_non_null(origin);
  assert_int_equal(decode(moves + 11, bytes), 3 * MOVE);
  double middle = strtod(origin + 10, NULL);
  for (int i = 0; i < 3; i++) {
    uint32_t head[2];
    float numbers[12];
    memcpy(head, bytes + MOVE * i, sizeof head);
    memcpy(numbers, bytes + MOVE * i + 8, sizeof numbers);
    assert_int_equal(head[0], i + 1);
    assert_int_equal(head[1], 0);
    assert_true(numbers[0] == 1 && numbers[4] == 1 && numbers[8] == 1 && numbers[1] == 0);
    assert_true(fabs(middle + numbers[9] - (w.moves[i].pose.m[3] + 0.5)) < 1e-5);
  }
  free(page);
  unlink("film_test.html");
  close_world(&w);
}

/* ---- the camera ---- */

static void camera_sees_all(void **unused) {
  (void)unused;
  world w;
  graze_camera camera;
  open_world(&w, 100);
  w.moves[2].pose = at(70, 150, 90); /* far out of where the scene is at step 0 */
  for (int step = -2; step <= 2; step++) {
    double aspect = ldexp(1, step);
    assert_int_equal(graze_film_camera(shared_context(1), &w.film, aspect, &camera), GRAZE_OK);
    double tangent = tan(camera.field_of_view / 360 * 3.14159265358979323846);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < OBJECTS + 3; i++) {
      const graze_pose *pose = i < OBJECTS ? &w.objects[i].pose : &w.moves[i - OBJECTS].pose;
      for (int corner = 0; corner < 8; corner++) {
        double p[3] = {corner & 1, corner >> 1 & 1, corner >> 2}, place[3] = {0, 0, 0};
        graze_pose_apply(pose, p, p);
        const double *f = camera.forward, *u = camera.up;
        for (int k = 0; k < 3; k++) {
          int a = (k + 1) % 3, b = (k + 2) % 3;
          place[0] += (f[a] * u[b] - f[b] * u[a]) * (p[k] - camera.eye[k]);
          place[1] += u[k] * (p[k] - camera.eye[k]);
          place[2] += f[k] * (p[k] - camera.eye[k]);
        }
        assert_true(place[2] > 0);
        for (int k = 0; k < 2; k++) {
          double share = place[k] / place[2] / (k == 0 ? tangent * aspect : tangent);
          low[k] = fmin(low[k], share);
          high[k] = fmax(high[k], share);
        }
      }
    }
    double widest = fmax(high[0], high[1]);
    assert_true(widest < 0.95 && widest > 0.9);                             /* in the picture, and filling it */
    for (int k = 0; k < 2; k++) assert_true(fabs(low[k] + high[k]) < 0.02); /* in its middle */
  }
  assert_int_equal(graze_film_camera(shared_context(1), &w.film, 0, &camera), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_film_camera(shared_context(1), NULL, 1, &camera), GRAZE_ERROR_ARGUMENT);
  close_world(&w);
}

/* ---- frames ---- */

static bool has_pictures(world *w, graze_painter **painter) {
  graze_status status = graze_painter_create(shared_context(1), &w->report, WIDTH, HEIGHT, painter);
  if (status == GRAZE_OK) return true;
  assert_int_equal(status, GRAZE_ERROR_UNSUPPORTED);
  print_message("skipped, no pictures here: %s\n", shared_error()->message);
  return false;
}

/* Pixels whose red stands far above the blue, and the middle of them. */
static uint32_t count_orange(const graze_picture *picture, double *middle) {
  uint32_t count = 0;
  double sum = 0;
  for (uint32_t i = 0; i < picture->width * picture->height; i++) {
    const uint8_t *p = picture->pixels + 3 * (size_t)i;
    if (p[0] < 110 || p[0] < 2 * p[2] || i / picture->width > 80) continue; /* the axes are below */
    count++;
    sum += i % picture->width;
  }
  *middle = count > 0 ? sum / count : 0;
  return count;
}

static void frames_show_the_step(void **unused) {
  (void)unused;
  world w;
  graze_painter *painter = NULL;
  graze_picture picture;
  graze_camera camera;
  open_world(&w, 0);
  if (!has_pictures(&w, &painter)) {
    close_world(&w);
    skip();
  }
  graze_pose poses[OBJECTS];
  bool lit[OBJECTS] = {false, false, false};
  double first, second, none;
  for (int i = 0; i < OBJECTS; i++) poses[i] = w.objects[i].pose;
  assert_int_equal(graze_film_camera(shared_context(1), &w.film, (double)WIDTH / HEIGHT, &camera), GRAZE_OK);
  assert_int_equal(graze_painter_frame(painter, poses, lit, &camera, &picture), GRAZE_OK);
  assert_int_equal(count_orange(&picture, &none), 0);
  lit[0] = true;
  assert_int_equal(graze_painter_frame(painter, poses, lit, &camera, &picture), GRAZE_OK);
  assert_true(count_orange(&picture, &first) > 50);
  uint8_t *before = malloc(3 * WIDTH * HEIGHT);
  memcpy(before, picture.pixels, 3 * WIDTH * HEIGHT);
  poses[0] = w.moves[2].pose; /* along x: to the right in this view */
  assert_int_equal(graze_painter_frame(painter, poses, lit, &camera, &picture), GRAZE_OK);
  assert_true(count_orange(&picture, &second) > 50);
  assert_true(second > first + 10);
  poses[0] = w.objects[0].pose;
  assert_int_equal(graze_painter_frame(painter, poses, lit, &camera, &picture), GRAZE_OK);
  assert_memory_equal(before, picture.pixels, 3 * WIDTH * HEIGHT);
  poses[1].m[3] = NAN;
  assert_int_equal(graze_painter_frame(painter, poses, lit, &camera, &picture), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_painter_frame(painter, NULL, lit, &camera, &picture), GRAZE_ERROR_ARGUMENT);
  free(before);
  graze_painter_destroy(painter);
  close_world(&w);
}

/* ---- animated PNG ---- */

static uint32_t word_at(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t crc_of(const unsigned char *p, size_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; i++) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  return ~crc;
}

/* The types of the chunks, a run of data as one letter: H header, a animation, f frame, D and d data, E end. */
static void list_chunks(const unsigned char *p, size_t size, char *types, uint32_t *sequence) {
  size_t count = 0;
  for (size_t i = 8; i < size;) {
    uint32_t length = word_at(p + i);
    assert_int_equal(word_at(p + i + 8 + length), crc_of(p + i + 4, length + 4));
    const char *type = (const char *)p + i + 4;
    char letter = strncmp(type, "IHDR", 4) == 0   ? 'H'
                  : strncmp(type, "acTL", 4) == 0 ? 'a'
                  : strncmp(type, "fcTL", 4) == 0 ? 'f'
                  : strncmp(type, "IDAT", 4) == 0 ? 'D'
                  : strncmp(type, "fdAT", 4) == 0 ? 'd'
                                                  : 'E';
    if (letter == 'f' || letter == 'd') assert_int_equal(word_at(p + i + 8), (*sequence)++);
    if (letter == 'f') assert_int_equal(p[i + 8 + 20] << 8 | p[i + 8 + 21], 40);
    if (count == 0 || types[count - 1] != letter) types[count++] = letter;
    i += 12 + length;
  }
  types[count] = 0;
}

static void animations_are_whole(void **unused) {
  (void)unused;
  enum { SIDE = 64 };
  graze_animation *animation = NULL;
  uint8_t pixels[3 * SIDE * SIDE];
  char types[64];
  uint32_t sequence = 0;
  const graze_picture picture = {pixels, SIDE, SIDE};
  graze_status status = graze_animation_open(shared_context(1), "film_test.png", 3, 40, &animation);
  if (status == GRAZE_ERROR_UNSUPPORTED) skip();
  assert_int_equal(status, GRAZE_OK);
  for (int i = 0; i < 3; i++) {
    for (size_t k = 0; k < sizeof pixels; k++) pixels[k] = (uint8_t)(k * (size_t)(i + 3) * 2654435761u >> 13);
    assert_int_equal(graze_animation_add(animation, &picture), GRAZE_OK);
  }
  assert_int_equal(graze_animation_add(animation, &picture), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_animation_close(animation), GRAZE_OK);
  FILE *file = fopen("film_test.png", "rb");
  static unsigned char bytes[100000];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
  list_chunks(bytes, size, types, &sequence);
  assert_string_equal(types, "HafDfdfdE");
  unlink("film_test.png");
}

static void animations_are_refused(void **unused) {
  (void)unused;
  graze_animation *animation = NULL;
  uint8_t pixels[3 * 9] = {0};
  graze_picture picture = {pixels, 3, 3};
  graze_status status = graze_animation_open(shared_context(1), "film_test.png", 2, 40, &animation);
  if (status == GRAZE_ERROR_UNSUPPORTED) skip();
  assert_int_equal(status, GRAZE_OK);
  assert_int_equal(graze_animation_add(animation, &picture), GRAZE_OK);
  picture.height = 2;
  assert_int_equal(graze_animation_add(animation, &picture), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_animation_close(animation), GRAZE_ERROR_ARGUMENT); /* one is missing */
  assert_int_not_equal(access("film_test.png", F_OK), 0);
  assert_int_equal(graze_animation_open(shared_context(1), "no/such/folder.png", 2, 40, &animation), GRAZE_ERROR_FILE);
  assert_int_equal(graze_animation_open(shared_context(1), "film_test.png", 0, 40, &animation), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_animation_close(NULL), GRAZE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_contradictions), cmocka_unit_test(page_keeps_digits),
      cmocka_unit_test(camera_sees_all),        cmocka_unit_test(frames_show_the_step),
      cmocka_unit_test(animations_are_whole),   cmocka_unit_test(animations_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
