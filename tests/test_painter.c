/* Pictures and cameras: colours that must be there, the side that is chosen, far-away coordinates, the same bytes
 * twice, PNG files read back by libpng, and every way in which there are no pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/report.h"
#include "support.h"

#ifdef GRAZE_HAVE_GL
#include "gl/context.h"
#include "gl/program.h"
#endif
#ifdef GRAZE_HAVE_PNG
#include <png.h>
#endif

enum { WIDTH = 240, HEIGHT = 180, MAX_OBJECTS = 12 };

/* ---- records made by hand ---- */

typedef struct world {
  graze_context *context;
  graze_mesh *meshes[MAX_OBJECTS];
  graze_report_object objects[MAX_OBJECTS];
  graze_report_clash clash;
  double curve[5][3];
  uint32_t starts[2];
  graze_report report;
} world;

static void open_world(world *w) {
  memset(w, 0, sizeof *w);
  w->context = test_context(1, NULL);
  w->report = (graze_report){.title = "test",
                             .created = "2025-01-31T12:00:00Z",
                             .units = "m",
                             .engine = "cpu",
                             .exactness = "t1",
                             .complete = true,
                             .objects = w->objects,
                             .clashes = &w->clash,
                             .clash_count = 1};
  w->clash = (graze_report_clash){.a = 0, .b = 1, .id = "test-1", .relation = GRAZE_CROSS, .mark = "", .comment = ""};
}

static void close_world(world *w) {
  for (uint32_t i = 0; i < w->report.object_count; i++) graze_mesh_destroy(w->meshes[i]);
  graze_context_destroy(w->context);
}

static void add_mesh(world *w, graze_mesh *mesh) {
  uint32_t i = w->report.object_count++;
  assert_true(i < MAX_OBJECTS);
  w->meshes[i] = mesh;
  w->objects[i] =
      (graze_report_object){"object", i < 2 ? "" : "walls", "", mesh, graze_pose_identity(), NULL, NULL, NULL, NULL, 0};
}

static void add_box(world *w, const double low[3], const double high[3]) {
  double corners[108];
  soup_box(low, high, corners);
  add_mesh(w, test_mesh(w->context, corners, 12, GRAZE_VOLUMES_ORIENTED));
}

/* The clash's box, its middle, and as its curve the rectangle around the box at height z. */
static void set_clash(world *w, const double low[3], const double high[3], double z) {
  graze_report_clash *c = &w->clash;
  memcpy(c->box.min, low, sizeof c->box.min);
  memcpy(c->box.max, high, sizeof c->box.max);
  for (int i = 0; i < 5; i++) {
    w->curve[i][0] = i == 1 || i == 2 ? high[0] : low[0];
    w->curve[i][1] = i == 2 || i == 3 ? high[1] : low[1];
    w->curve[i][2] = z;
  }
  for (int k = 0; k < 3; k++) c->point[k] = (low[k] + high[k]) / 2;
  w->starts[1] = 5;
  c->curve_points = (const double(*)[3])w->curve;
  c->curve_starts = w->starts;
  c->curve_count = 1;
}

/* A bar along x and one along z through it. */
static void open_cross(world *w, double shift) {
  const double low[3] = {-0.25 + shift, -0.25 + shift, -0.3 + shift},
               high[3] = {0.25 + shift, 0.25 + shift, 0.3 + shift};
  open_world(w);
  add_box(w, (double[3]){shift - 2, shift - 0.3, shift - 0.3}, (double[3]){shift + 2, shift + 0.3, shift + 0.3});
  add_box(w, (double[3]){shift - 0.25, shift - 0.25, shift - 2}, (double[3]){shift + 0.25, shift + 0.25, shift + 2});
  set_clash(w, low, high, shift + 0.3);
}

/* ---- pictures ---- */

typedef struct tally { /* shares of the picture's pixels */
  double orange, blue, yellow, marker, drawn;
} tally;

static tally count_colours(const graze_picture *picture) {
  tally t = {0};
  size_t count = (size_t)picture->width * picture->height;
  for (size_t i = 0; i < count; i++) {
    int r = picture->pixels[3 * i], g = picture->pixels[3 * i + 1], b = picture->pixels[3 * i + 2];
    bool yellow = r > 220 && g > 200 && b < 110;
    t.yellow += yellow;
    t.orange += !yellow && r > 100 && r > g + 30 && g > b + 20;
    t.blue += b > 90 && b > g + 30 && g > r + 20;
    t.marker += r > 180 && g < 90 && b > 40 && b < 130;
    t.drawn += abs(r - b) > 20 || r < 200;
  }
  double *all[] = {&t.orange, &t.blue, &t.yellow, &t.marker, &t.drawn};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) *all[i] /= (double)count;
  return t;
}

/* NULL where the machine has no OpenGL, which is said once. */
static graze_painter *open_painter(const world *w) {
  graze_painter *painter = NULL;
  graze_status status = graze_painter_create(shared_context(1), &w->report, WIDTH, HEIGHT, &painter);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    print_message("SKIPPED: no pictures here (%s)\n", shared_error()->message);
    return NULL;
  }
  if (status != GRAZE_OK) print_error("%s\n", shared_error()->message);
  assert_int_equal(status, GRAZE_OK);
  return painter;
}

static graze_picture paint(graze_painter *painter, graze_camera *camera) {
  graze_picture picture = {0};
  graze_status status = graze_painter_clash(painter, 0, &picture, camera);
  if (status != GRAZE_OK) print_error("%s\n", shared_error()->message);
  assert_int_equal(status, GRAZE_OK);
  assert_int_equal(picture.width, WIDTH);
  assert_int_equal(picture.height, HEIGHT);
  return picture;
}

static uint8_t *copy_pixels(const graze_picture *picture) {
  size_t bytes = 3 * (size_t)picture->width * picture->height;
  uint8_t *copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, picture->pixels, bytes);
  return copy;
}

/* The share of pixels in which any of the colours differs by more than a shade. */
static double difference(const uint8_t *first, const graze_picture *second) {
  size_t count = (size_t)second->width * second->height, differing = 0;
  for (size_t i = 0; i < count; i++) {
    bool differs = false;
    for (int k = 0; k < 3; k++) differs |= abs(first[3 * i + (size_t)k] - second->pixels[3 * i + (size_t)k]) > 24;
    differing += differs;
  }
  return (double)differing / (double)count;
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Unit vectors at right angles, and the middle of the clash straight ahead. Gives the direction to the eye. */
static void check_camera(const world *w, const graze_camera *camera, double to_eye[3]) {
  double way[3], length = 0;
  assert_true(fabs(dot(camera->forward, camera->forward) - 1) < 1e-12);
  assert_true(fabs(dot(camera->up, camera->up) - 1) < 1e-12);
  assert_true(fabs(dot(camera->forward, camera->up)) < 1e-12);
  assert_true(camera->field_of_view > 10 && camera->field_of_view < 90);
  for (int k = 0; k < 3; k++) way[k] = (w->clash.box.min[k] + w->clash.box.max[k]) / 2 - camera->eye[k];
  length = sqrt(dot(way, way));
  assert_true(length > 0);
  assert_true(dot(way, camera->forward) > (1 - 1e-9) * length);
  for (int k = 0; k < 3; k++) to_eye[k] = -way[k] / length;
}

static void test_two_boxes(void **unused) {
  (void)unused;
  world w;
  open_cross(&w, 0);
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_camera camera;
    double to_eye[3];
    graze_picture picture = paint(painter, &camera);
    tally t = count_colours(&picture);
    assert_true(t.orange > 0.05 && t.orange < 0.6);
    assert_true(t.blue > 0.05 && t.blue < 0.6);
    assert_true(t.yellow > 0.002 && t.yellow < 0.1);
    assert_true(picture.pixels[0] > 225 && picture.pixels[1] > 225 && picture.pixels[2] > 225); /* light around it */
    assert_true(strlen(graze_painter_device(painter)) > 0);
    check_camera(&w, &camera, to_eye);
    assert_true(to_eye[2] > 0.2); /* nothing is in the way: from above */
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* Walls on every side but -y: both cameras have to look through the opening. */
static void test_blocked_sides(void **unused) {
  (void)unused;
  world w;
  double to_eye[3];
  open_cross(&w, 0);
  add_box(&w, (double[3]){-4, 2.3, -4}, (double[3]){4, 2.5, 4});
  add_box(&w, (double[3]){2.3, -2.4, -4}, (double[3]){2.5, 2.2, 4});
  add_box(&w, (double[3]){-2.5, -2.4, -4}, (double[3]){-2.3, 2.2, 4});
  add_box(&w, (double[3]){-2.2, -2.4, 2.3}, (double[3]){2.2, 2.2, 2.5});
  add_box(&w, (double[3]){-2.2, -2.4, -2.5}, (double[3]){2.2, 2.2, -2.3});
  graze_camera camera = graze_report_camera(&w.report, 0);
  check_camera(&w, &camera, to_eye);
  assert_true(to_eye[1] < -0.5);
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture = paint(painter, &camera);
    tally t = count_colours(&picture);
    check_camera(&w, &camera, to_eye);
    assert_true(to_eye[1] < -0.5);
    assert_true(t.orange > 0.05 && t.blue > 0.05);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* A wall before the usual side, so near that the eye is behind it: another side is chosen, or the wall is cut away. */
static void test_wall_before_it(void **unused) {
  (void)unused;
  world w;
  open_cross(&w, 0);
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture = paint(painter, NULL);
    tally open = count_colours(&picture);
    graze_painter_destroy(painter);
    add_box(&w, (double[3]){-5, -2.6, -5}, (double[3]){5, -2.4, 5});
    painter = open_painter(&w);
    assert_non_null(painter);
    graze_camera camera;
    double to_eye[3];
    picture = paint(painter, &camera);
    tally walled = count_colours(&picture);
    check_camera(&w, &camera, to_eye);
    assert_true(to_eye[1] > -0.1);
    assert_true(walled.orange > 0.5 * open.orange && walled.blue > 0.5 * open.blue);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* A peg that sticks into a plate from below: the clash is hidden by the plate itself from above. */
static void test_own_object_hides(void **unused) {
  (void)unused;
  world w;
  double to_eye[3];
  open_world(&w);
  add_box(&w, (double[3]){-1, -1, 0}, (double[3]){1, 1, 0.1});
  add_box(&w, (double[3]){-0.1, -0.1, -0.5}, (double[3]){0.1, 0.1, 0.05});
  set_clash(&w, (double[3]){-0.1, -0.1, 0}, (double[3]){0.1, 0.1, 0.05}, 0);
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_camera camera;
    graze_picture picture = paint(painter, &camera);
    tally t = count_colours(&picture);
    check_camera(&w, &camera, to_eye);
    assert_true(to_eye[2] < -0.2);
    assert_true(t.orange > 0.03 && t.blue > 0.01 && t.yellow > 0.001);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

static void test_overview(void **unused) {
  (void)unused;
  world w;
  open_cross(&w, 0);
  add_box(&w, (double[3]){3, 3, -2}, (double[3]){4, 4, -1});
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture;
    assert_int_equal(graze_painter_overview(painter, &picture), GRAZE_OK);
    tally t = count_colours(&picture);
    assert_true(t.orange > 0.01); /* both objects of the clash */
    assert_true(t.blue < 0.005);
    assert_true(t.marker > 0.0005);
    assert_true(t.drawn > t.orange + t.marker + 0.005); /* and the one that clashes with nothing */
    w.clash.state = GRAZE_STATE_RESOLVED;
    assert_int_equal(graze_painter_overview(painter, &picture), GRAZE_OK);
    t = count_colours(&picture);
    assert_true(t.orange < 0.005 && t.marker < 0.0005 && t.drawn > 0.02);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* The pixels from each edge of the picture to what is orange: left, right, top, bottom. */
static void find_margins(const graze_picture *picture, uint32_t margins[4]) {
  const uint32_t width = picture->width, height = picture->height;
  margins[0] = margins[1] = width;
  margins[2] = margins[3] = height;
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      const uint8_t *p = picture->pixels + 3 * (y * (size_t)width + x);
      if (!(p[0] > 100 && p[0] > p[1] + 30 && p[1] > p[2] + 20)) continue;
      const uint32_t found[4] = {x, width - 1 - x, y, height - 1 - y};
      for (int k = 0; k < 4; k++) margins[k] = found[k] < margins[k] ? found[k] : margins[k];
    }
  }
}

/* Long, tall and flat models fill the overview and stand in its middle. */
static void test_overview_fits(void **unused) {
  (void)unused;
  static const double shapes[][3] = {{40, 8, 8}, {8, 40, 8}, {8, 8, 40}, {40, 30, 4}, {6, 4, 5}, {4, 30, 20}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    world w;
    open_world(&w);
    add_box(&w, (double[3]){0, 0, 0}, (double[3]){shapes[i][0], shapes[i][1], shapes[i][2] / 2});
    add_box(&w, (double[3]){0, 0, shapes[i][2] / 2}, shapes[i]);
    set_clash(&w, (double[3]){0, 0, shapes[i][2] / 2}, (double[3]){1, 1, shapes[i][2] / 2}, shapes[i][2] / 2);
    graze_painter *painter = open_painter(&w);
    if (painter != NULL) {
      graze_picture picture;
      uint32_t margins[4];
      assert_int_equal(graze_painter_overview(painter, &picture), GRAZE_OK);
      find_margins(&picture, margins);
      assert_in_range(margins[0], margins[1] - 2, margins[1] + 2);
      assert_in_range(margins[2], margins[3] - 2, margins[3] + 2);
      bool wide = margins[0] * HEIGHT < margins[2] * WIDTH; /* which of them decides */
      assert_in_range(wide ? margins[0] : margins[2], (wide ? WIDTH : HEIGHT) / 40, (wide ? WIDTH : HEIGHT) / 20);
    }
    graze_painter_destroy(painter);
    close_world(&w);
  }
}

/* A record without objects is a light page, not an error. */
static void test_empty(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  w.report.clash_count = 0;
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture;
    assert_int_equal(graze_painter_overview(painter, &picture), GRAZE_OK);
    assert_true(count_colours(&picture).drawn == 0);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* A million units away, by pose and by coordinates: the same picture but for the last bits. */
static void test_far_away(void **unused) {
  (void)unused;
  const double far = 1048576;
  world here, there, posed;
  open_cross(&here, 0);
  open_cross(&there, far);
  open_cross(&posed, 0);
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 3; k++) posed.objects[i].pose.m[4 * k + 3] = far;
  }
  set_clash(&posed, (double[3]){far - 0.25, far - 0.25, far - 0.3}, (double[3]){far + 0.25, far + 0.25, far + 0.3},
            far + 0.3);
  graze_painter *painter = open_painter(&here);
  if (painter != NULL) {
    graze_picture picture = paint(painter, NULL);
    uint8_t *near = copy_pixels(&picture);
    graze_painter_destroy(painter);
    painter = open_painter(&there);
    picture = paint(painter, NULL);
    assert_true(difference(near, &picture) < 0.01);
    graze_painter_destroy(painter);
    painter = open_painter(&posed);
    picture = paint(painter, NULL);
    assert_true(difference(near, &picture) < 0.01);
    free(near);
  }
  graze_painter_destroy(painter);
  close_world(&here);
  close_world(&there);
  close_world(&posed);
}

/* Pictures do not depend on what was painted before, nor on the painter. */
static void test_same_bytes(void **unused) {
  (void)unused;
  world w;
  open_cross(&w, 0);
  add_box(&w, (double[3]){-1, 0.4, -1}, (double[3]){1, 0.6, 1});
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture = paint(painter, NULL);
    size_t bytes = 3 * (size_t)WIDTH * HEIGHT;
    uint8_t *first = copy_pixels(&picture);
    assert_int_equal(graze_painter_overview(painter, &picture), GRAZE_OK);
    assert_true(memcmp(first, picture.pixels, bytes) != 0);
    picture = paint(painter, NULL);
    assert_memory_equal(first, picture.pixels, bytes);
    graze_painter *other = open_painter(&w); /* two at a time */
    picture = paint(other, NULL);
    assert_memory_equal(first, picture.pixels, bytes);
    graze_painter_destroy(other);
    picture = paint(painter, NULL);
    assert_memory_equal(first, picture.pixels, bytes);
    free(first);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* A plate of 2 * 160^2 triangles in a row by row order, of which little is in view, looks as one of few triangles. */
static void test_large_mesh(void **unused) {
  (void)unused;
  enum { side = 160 };
  double *corners = malloc(sizeof(double) * 18 * side * side), *to = corners;
  assert_non_null(corners);
  for (int i = 0; i < side * side; i++) {
    double x = i % side * 0.5 - 40, y = (double)(i / side) * 0.5 - 40; /* NOLINT(bugprone-integer-division) rows */
    const double quad[6][2] = {{0, 0}, {0.5, 0}, {0.5, 0.5}, {0, 0}, {0.5, 0.5}, {0, 0.5}};
    for (int c = 0; c < 6; c++) {
      *to++ = x + quad[c][0];
      *to++ = y + quad[c][1];
      *to++ = 0;
    }
  }
  const double plain[18] = {-40, -40, 0, 40, -40, 0, 40, 40, 0, -40, -40, 0, 40, 40, 0, -40, 40, 0};
  world w[2];
  graze_painter *painter = NULL;
  uint8_t *first = NULL;
  for (int i = 0; i < 2; i++) {
    open_world(&w[i]);
    add_mesh(&w[i],
             test_mesh(w[i].context, i == 0 ? plain : corners, i == 0 ? 2 : 2 * side * side, GRAZE_VOLUMES_ALIGNED));
    add_box(&w[i], (double[3]){0.1, 0.1, -1}, (double[3]){0.7, 0.7, 1});
    set_clash(&w[i], (double[3]){0.1, 0.1, 0}, (double[3]){0.7, 0.7, 0}, 0);
    painter = open_painter(&w[i]);
    if (painter != NULL) {
      graze_picture picture = paint(painter, NULL);
      if (i == 0) first = copy_pixels(&picture);
      if (i == 1) assert_true(difference(first, &picture) < 0.01);
    }
    graze_painter_destroy(painter);
  }
  free(first);
  free(corners);
  for (int i = 0; i < 2; i++) close_world(&w[i]);
}

/* One in the other, and the same thing twice: both colours are seen all the same. */
static void test_hidden_objects(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  add_box(&w, (double[3]){-0.3, -0.3, -0.3}, (double[3]){0.3, 0.3, 0.3});
  add_box(&w, (double[3]){-1, -1, -1}, (double[3]){1, 1, 1});
  w.clash.box = (graze_box){{-0.3, -0.3, -0.3}, {0.3, 0.3, 0.3}};
  w.clash.relation = GRAZE_A_IN_B;
  add_box(&w, (double[3]){-1.2, -1.2, -1.2}, (double[3]){1.2, 1.2, 1.2}); /* and around both a third */
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture = paint(painter, NULL);
    tally t = count_colours(&picture);
    assert_true(t.orange > 0.02 && t.blue > 0.05);
    w.clash.relation = GRAZE_DUPLICATE;
    w.objects[0].mesh = w.objects[1].mesh;
    graze_painter_destroy(painter);
    painter = open_painter(&w);
    picture = paint(painter, NULL);
    t = count_colours(&picture);
    assert_true(t.orange > 0.1 && t.blue > 0.1);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

/* Two boxes corner to corner, and a record that does not say where: there is still a view, and a dot on the point. */
static void test_point(void **unused) {
  (void)unused;
  world w;
  double to_eye[3];
  open_world(&w);
  add_box(&w, (double[3]){-1, -1, -1}, (double[3]){0, 0, 0});
  add_box(&w, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
  w.clash.relation = GRAZE_TOUCH;
  graze_camera camera = graze_report_camera(&w.report, 0);
  check_camera(&w, &camera, to_eye);
  graze_painter *painter = open_painter(&w);
  if (painter != NULL) {
    graze_picture picture = paint(painter, &camera);
    tally t = count_colours(&picture);
    assert_true(t.orange > 0.02 && t.blue > 0.02 && t.yellow > 0.0005);
    w.clash.box = (graze_box){{1, 1, 1}, {-1, -1, -1}};
    w.clash.point[0] = NAN;
    picture = paint(painter, &camera);
    t = count_colours(&picture);
    assert_true(t.orange > 0.02 && t.blue > 0.02);
    for (int k = 0; k < 3; k++) assert_true(fabs(camera.eye[k]) < 10);
  }
  graze_painter_destroy(painter);
  close_world(&w);
}

static void test_bad_arguments(void **unused) {
  (void)unused;
  world w;
  graze_picture picture;
  graze_painter *painter = NULL;
  open_cross(&w, 0);
  graze_painter *real = open_painter(&w);
  graze_painter_destroy(NULL);
  if (real != NULL) {
    assert_int_equal(graze_painter_create(shared_context(1), &w.report, 0, HEIGHT, &painter), GRAZE_ERROR_ARGUMENT);
    assert_int_equal(graze_painter_create(shared_context(1), &w.report, WIDTH, 1u << 30, &painter),
                     GRAZE_ERROR_ARGUMENT);
    assert_int_equal(graze_painter_create(shared_context(1), NULL, WIDTH, HEIGHT, &painter), GRAZE_ERROR_ARGUMENT);
    assert_int_equal(graze_painter_clash(real, 1, &picture, NULL), GRAZE_ERROR_ARGUMENT);
    assert_int_equal(graze_painter_clash(real, 0, NULL, NULL), GRAZE_ERROR_ARGUMENT);
    assert_int_equal(graze_painter_overview(NULL, &picture), GRAZE_ERROR_ARGUMENT);
    w.clash.b = 2;
    assert_int_equal(graze_painter_create(shared_context(1), &w.report, WIDTH, HEIGHT, &painter), GRAZE_ERROR_INDEX);
    assert_non_null(strstr(shared_error()->message, "test-1"));
    w.clash.b = 1;
    graze_painter_destroy(real);
    for (int i = 0; i < 2; i++) w.objects[i].mesh = NULL; /* both known by name only */
    real = open_painter(&w);
    assert_int_equal(graze_painter_clash(real, 0, &picture, NULL), GRAZE_ERROR_ARGUMENT);
    assert_non_null(strstr(shared_error()->message, "test-1"));
    assert_int_equal(graze_painter_overview(real, &picture), GRAZE_OK); /* and the painter goes on */
    assert_null(painter);
  }
  graze_painter_destroy(real);
  close_world(&w);
}

/* Without OpenGL there is a reason, and cameras all the same. */
static void test_unavailable(void **unused) {
  (void)unused;
  world w;
  double to_eye[3];
  graze_painter *painter = NULL;
  open_cross(&w, 0);
  assert_int_equal(setenv("GRAZE_DISABLE", "avx1024,opengl", 1), 0);
  assert_int_equal(graze_painter_create(shared_context(1), &w.report, WIDTH, HEIGHT, &painter),
                   GRAZE_ERROR_UNSUPPORTED);
  assert_int_equal(unsetenv("GRAZE_DISABLE"), 0);
  assert_null(painter);
  assert_int_equal(shared_error()->status, GRAZE_ERROR_UNSUPPORTED);
  assert_true(strlen(shared_error()->message) > 20);
  graze_camera camera = graze_report_camera(&w.report, 0);
  check_camera(&w, &camera, to_eye);
  assert_true(to_eye[2] > 0.2);
#ifdef GRAZE_HAVE_GL
  assert_non_null(strstr(shared_error()->message, "GRAZE_DISABLE"));
  static const char *const libraries[][2] = {{"libgraze-absent.so.1", "libgraze-absent.so.1"}, {"libm.so.6", "egl"}};
  for (int i = 0; i < 2; i++) {
    gl_message message;
    gl_context *context = NULL;
    gl_request request = {.library = libraries[i][0]};
    assert_int_equal(gz_gl_context_create(NULL, &request, &context, &message), GRAZE_ERROR_UNSUPPORTED);
    assert_null(context);
    assert_non_null(strstr(message.text, libraries[i][1]));
  }
#endif
  close_world(&w);
}

/* A shader that does not compile is an error with the compiler's words. */
static void test_programs(void **unused) {
  (void)unused;
#ifdef GRAZE_HAVE_GL
  static const char vertex[] = "#version 450 core\nvoid main() { gl_Position = vec4(0.0); }\n";
  static const char fragment[] = "#version 450 core\nout vec4 o;\nvoid main() { o = vec4(1.0); }\n";
  static const char faulty[] = "#version 450 core\nvoid main() { o = nonsense; }\n";
  static const char unmatched[] = "#version 450 core\nin vec4 i;\nout vec4 o;\nvoid main() { o = i; }\n";
  gl_message message;
  gl_context *context = NULL;
  gl_request software = {.software = true};
  if (gz_gl_context_create(NULL, &software, &context, &message) != GRAZE_OK) {
    print_message("SKIPPED: no OpenGL in software here (%s)\n", message.text);
    return;
  }
  assert_true(gz_gl_begin(context));
  const gl_functions *gl = gz_gl_functions_of(context);
  GLuint program = gz_gl_program(gl, "good", vertex, fragment, &message);
  assert_true(program != 0);
  gl->DeleteProgram(program);
  assert_true(gz_gl_program(gl, "bad", vertex, faulty, &message) == 0);
  assert_non_null(strstr(message.text, "fragment shader \"bad\""));
  assert_non_null(strstr(message.text, "nonsense"));
  assert_true(gz_gl_program(gl, "bad", faulty, fragment, &message) == 0);
  assert_non_null(strstr(message.text, "vertex shader \"bad\""));
  assert_true(gz_gl_program(gl, "odd", vertex, unmatched, &message) == 0);
  assert_non_null(strstr(message.text, "\"odd\" do not link"));
  assert_int_equal(gz_gl_check(context, &message), GRAZE_OK);
  gl->Enable(0xFFFF); /* no such thing */
  assert_int_equal(gz_gl_check(context, &message), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(message.text, "0x0500"));
  gz_gl_end(context);
  gz_gl_context_destroy(context);
#endif
}

static void test_png(void **unused) {
  (void)unused;
  enum { width = 37, height = 21 };
  static uint8_t pixels[3 * width * height];
  graze_picture picture = {pixels, width, height};
  const char *path = "test_painter.png";
  for (int i = 0; i < 3 * width * height; i++) pixels[i] = (uint8_t)(i * 7 + i / width);
#ifdef GRAZE_HAVE_PNG
  assert_int_equal(graze_picture_write_png(shared_context(1), path, &picture), GRAZE_OK);
  static uint8_t back[3 * width * height];
  png_image image = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&image, path));
  assert_int_equal(image.width, width);
  assert_int_equal(image.height, height);
  assert_int_equal(image.format, PNG_FORMAT_RGB);
  assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
  assert_memory_equal(pixels, back, sizeof pixels);
  assert_int_equal(remove(path), 0);
  assert_int_equal(graze_picture_write_png(shared_context(1), "no/such/folder/a.png", &picture), GRAZE_ERROR_FILE);
  assert_non_null(strstr(shared_error()->message, "no/such/folder/a.png: "));
  if (access("/dev/full", W_OK) == 0) {
    assert_int_equal(graze_picture_write_png(shared_context(1), "/dev/full", &picture), GRAZE_ERROR_FILE);
    assert_non_null(strstr(shared_error()->message, "/dev/full: cannot write"));
    assert_int_equal(access("/dev/full", W_OK), 0); /* only regular files are removed */
  }
  picture.width = 0;
  assert_int_equal(graze_picture_write_png(shared_context(1), path, &picture), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_picture_write_png(shared_context(1), NULL, &picture), GRAZE_ERROR_ARGUMENT);
  assert_int_not_equal(access(path, F_OK), 0);
#else
  assert_int_equal(graze_picture_write_png(shared_context(1), path, &picture), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(shared_error()->message, "libpng"));
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unavailable),
      cmocka_unit_test(test_png),
      cmocka_unit_test(test_programs),
      cmocka_unit_test(test_two_boxes),
      cmocka_unit_test(test_blocked_sides),
      cmocka_unit_test(test_wall_before_it),
      cmocka_unit_test(test_own_object_hides),
      cmocka_unit_test(test_overview),
      cmocka_unit_test(test_overview_fits),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_far_away),
      cmocka_unit_test(test_same_bytes),
      cmocka_unit_test(test_large_mesh),
      cmocka_unit_test(test_hidden_objects),
      cmocka_unit_test(test_point),
      cmocka_unit_test(test_bad_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
