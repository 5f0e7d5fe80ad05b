/* Films of balls: what is kept of each frame against the frames that were given, forwards, backwards and across groups;
 * meshes in place of balls; chances;
 * what is refused; which events stay; memory that is refused. The bytes of the page are decoded by
 * cli/simulate_frames.py, and page/balls_test.py shows that it works. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/track.h"
#include "support.h"

enum { BALLS = 300, FRAMES = 150, CURVES = 2 };

typedef struct world {
  double radii[BALLS], positions[FRAMES][3 * BALLS], velocities[FRAMES][3 * BALLS], values[FRAMES][CURVES];
  bool touching[FRAMES][BALLS];
  graze_track_set sets[3];
  graze_track_wall wall;
  graze_track_curve curves[CURVES];
  graze_track_def def;
} world;

static double uniform(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Balls that lie, fly, fall, bounce about and jump from one end to the other. */
static void move_balls(world *w, int frame, uint64_t *state) {
  const double t = 0.01 * frame;
  for (int i = 0; i < BALLS; i++) {
    double *x = &w->positions[frame][3 * i], *v = &w->velocities[frame][3 * i];
    for (int k = 0; k < 3; k++) v[k] = i % 5 == 0 ? 0 : (k + 1) * 0.3 * (i % 7);
    for (int k = 0; k < 3; k++) x[k] = 1e3 + i % 10 + v[k] * t;
    if (i % 5 == 2) x[2] -= 9.81 / 2 * t * t;
    if (i % 5 == 3) x[0] += uniform(state);
    if (i % 5 == 4) x[1] = frame % 2 ? -1e4 : 1e4;
    w->touching[frame][i] = uniform(state) < 0.3;
  }
}

static world *make_world(void) {
  world *w = calloc(1, sizeof *w);
  uint64_t state = 7;
  assert_non_null(w);
  for (int i = 0; i < BALLS; i++) w->radii[i] = 0.2 + uniform(&state);
  for (int frame = 0; frame < FRAMES; frame++) {
    move_balls(w, frame, &state);
    w->values[frame][0] = frame;
    w->values[frame][1] = -frame;
  }
  w->sets[0] = (graze_track_set){"one", 1, true, NULL};
  w->sets[1] = (graze_track_set){"none", 0, false, NULL};
  w->sets[2] = (graze_track_set){"many", BALLS - 1, false, NULL};
  w->wall = (graze_track_wall){{0, 0, 0}, {0, 0, 1}};
  w->curves[0] = (graze_track_curve){"kinetic", "J"};
  w->curves[1] = (graze_track_curve){"contacts", ""};
  w->def = graze_default_track_def();
  w->def.sets = w->sets;
  w->def.set_count = 3;
  w->def.radii = w->radii;
  w->def.walls = &w->wall;
  w->def.wall_count = 1;
  w->def.curves = w->curves;
  w->def.curve_count = CURVES;
  return w;
}

static graze_track_frame frame_of(const world *w, int frame) {
  return (graze_track_frame){.step = 10 * (uint64_t)frame,
                             .time = 0.01 * frame,
                             .positions = w->positions[frame],
                             .velocities = w->velocities[frame],
                             .touching = w->touching[frame],
                             .values = w->values[frame]};
}

/* NULL: built without zlib, which every call has to say. */
static graze_track *make_track(const world *w, int frames) {
  graze_track *track = NULL;
  graze_status status = graze_track_create(shared_context(1), &w->def, &track);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    assert_non_null(strstr(shared_error()->message, "zlib"));
    return NULL;
  }
  assert_int_equal(status, GRAZE_OK);
  for (int i = 0; i < frames; i++) {
    const graze_track_frame frame = frame_of(w, i);
    assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
  }
  return track;
}

static double length_of(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void check_frame(graze_track *track, const world *w, uint32_t frame) {
  static double positions[3 * BALLS], speeds[BALLS];
  static bool touching[BALLS];
  const double resolution = graze_track_get_info(track).resolution;
  assert_int_equal(graze_track_read_frame(track, frame, positions, speeds, touching), GRAZE_OK);
  for (int i = 0; i < 3 * BALLS; i++)
    assert_true(fabs(positions[i] - w->positions[frame][i]) <= resolution / 2 * (1 + 1e-9));
  for (int i = 0; i < BALLS; i++) {
    const double speed = length_of(&w->velocities[frame][3 * i]);
    assert_true(speed < resolution / 64 ? speeds[i] == 0 : fabs(speeds[i] / speed - 1) <= 0.05);
    assert_int_equal(touching[i], w->touching[frame][i]);
  }
}

static void keeps_frames(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_track *track = make_track(w, FRAMES);
  if (track == NULL) skip();
  for (uint32_t i = 0; i < FRAMES; i++) check_frame(track, w, i);
  for (uint32_t i = FRAMES; i-- > 0;) check_frame(track, w, i);
  check_frame(track, w, 63);
  check_frame(track, w, 64);
  assert_int_equal(graze_track_read_frame(track, 5, NULL, NULL, NULL), GRAZE_OK);
  assert_int_equal(graze_track_read_frame(track, FRAMES, NULL, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  graze_track_destroy(track);
  free(w);
}

/* A track may be read while it grows. */
static void reads_between(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_track *track = make_track(w, 5);
  if (track == NULL) skip();
  check_frame(track, w, 4);
  for (int i = 5; i < 9; i++) {
    const graze_track_frame frame = frame_of(w, i);
    assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
    check_frame(track, w, (uint32_t)i);
  }
  for (uint32_t i = 0; i < 9; i++) check_frame(track, w, i);
  graze_track_destroy(track);
  free(w);
}

static void knows_itself(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_track *track = make_track(w, 0);
  if (track == NULL) skip();
  assert_true(graze_track_get_info(track).bounds.min[0] > graze_track_get_info(track).bounds.max[0]);
  graze_track_destroy(track);
  track = make_track(w, FRAMES);
  const graze_track_info info = graze_track_get_info(track);
  double fastest = 0, smallest = INFINITY;
  for (int i = 0; i < BALLS; i++) smallest = fmin(smallest, w->radii[i]);
  for (int frame = 0; frame < FRAMES; frame++) {
    for (int i = 0; i < 3 * BALLS; i++) {
      assert_true(w->positions[frame][i] - w->radii[i / 3] >= info.bounds.min[i % 3] - info.resolution);
      assert_true(w->positions[frame][i] + w->radii[i / 3] <= info.bounds.max[i % 3] + info.resolution);
    }
    for (int i = 0; i < BALLS; i++) fastest = fmax(fastest, length_of(&w->velocities[frame][3 * i]));
  }
  assert_true(info.fastest >= fastest && info.fastest <= 1.1 * fastest);
  const double wanted = fmax(smallest / 128, 9e3 / (1 << 22)); /* so wide is the first frame */
  assert_true(info.resolution <= wanted && info.resolution > wanted / 2);
  assert_int_equal(info.balls, BALLS);
  assert_int_equal(info.frames, FRAMES);
  graze_track_destroy(track);
  free(w);
}

/* What lies still or flies on costs next to nothing. */
static void is_small(void **unused) {
  (void)unused;
  world *w = make_world();
  for (int frame = 0; frame < FRAMES; frame++) {
    for (int i = 0; i < 3 * BALLS; i++) w->positions[frame][i] = i + (i % 2 ? frame / 16.0 : 0);
    memset(w->velocities[frame], 0, sizeof w->velocities[frame]);
    memset(w->touching[frame], 0, sizeof w->touching[frame]);
  }
  graze_track *track = make_track(w, FRAMES);
  if (track == NULL) skip();
  check_frame(track, w, FRAMES - 1);
  assert_true(graze_track_get_info(track).bytes < (uint64_t)BALLS * FRAMES / 8);
  graze_track_destroy(track);
  free(w);
}

/* ---- what is refused ---- */

static void refuse_def(const world *w, graze_status status, const char *words) {
  graze_track *track = NULL;
  assert_int_equal(graze_track_create(shared_context(1), &w->def, &track), status);
  assert_null(track);
  assert_non_null(strstr(shared_error()->message, words));
}

static void refuses_definitions(void **unused) {
  (void)unused;
  world *w = make_world();
  const double bad[] = {0, -1, NAN, INFINITY};
  graze_track *track = NULL;
  assert_int_equal(graze_track_create(shared_context(1), NULL, &track), GRAZE_ERROR_ARGUMENT);
  for (size_t i = 0; i < 4; i++) {
    w->radii[5] = bad[i];
    refuse_def(w, GRAZE_ERROR_NOT_FINITE, "of ball 5");
  }
  w->radii[5] = 1;
  w->wall.normal[1] = NAN;
  refuse_def(w, GRAZE_ERROR_NOT_FINITE, "wall 0");
  w->wall.normal[1] = 0;
  w->sets[2].count = 1 << 28;
  refuse_def(w, GRAZE_ERROR_LIMIT, "268435457 balls");
  w->sets[2].count = BALLS - 1;
  w->sets[1].name = NULL;
  refuse_def(w, GRAZE_ERROR_ARGUMENT, "set 1 has no name");
  w->sets[1].name = "";
  w->curves[1].unit = NULL;
  refuse_def(w, GRAZE_ERROR_ARGUMENT, "curve 1");
  w->curves[1].unit = "";
  w->def.box = (graze_box){{0, 0, 0}, {1, INFINITY, 1}};
  refuse_def(w, GRAZE_ERROR_NOT_FINITE, "box");
  w->def.box.max[1] = 1;
  w->def.radii = NULL;
  refuse_def(w, GRAZE_ERROR_ARGUMENT, "radii");
  w->def.cookie = 0;
  refuse_def(w, GRAZE_ERROR_ARGUMENT, "");
  free(w);
}

static void refuse_frame(graze_track *track, const graze_track_frame *frame, graze_status status, const char *words) {
  assert_int_equal(graze_track_add_frame(track, frame), status);
  assert_non_null(strstr(shared_error()->message, words));
}

static void refuses_frames(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_track *track = make_track(w, 2);
  if (track == NULL) skip();
  graze_track_frame frame = frame_of(w, 1);
  refuse_frame(track, &frame, GRAZE_ERROR_ARGUMENT, "step 10 after step 10");
  frame = frame_of(w, 2);
  frame.values = NULL;
  refuse_frame(track, &frame, GRAZE_ERROR_ARGUMENT, "missing");
  frame = frame_of(w, 2);
  w->positions[2][17] = NAN;
  refuse_frame(track, &frame, GRAZE_ERROR_NOT_FINITE, "ball 5");
  w->positions[2][17] = 1;
  w->velocities[2][3] = -INFINITY;
  refuse_frame(track, &frame, GRAZE_ERROR_NOT_FINITE, "ball 1");
  graze_track_event event = {.a = BALLS, .b = 0};
  assert_int_equal(graze_track_add_event(track, &event), GRAZE_OK); /* the wall */
  event.a = BALLS + 1;
  assert_int_equal(graze_track_add_event(track, &event), GRAZE_ERROR_INDEX);
  assert_int_equal(graze_track_get_info(track).frames, 2);
  graze_track_destroy(track);
  free(w);
}

/* ---- the page ---- */

static const graze_report head = {
    .title = "a < b", .created = "", .units = "m", .engine = "cpu", .exactness = "", .complete = true};

static char *write_page(graze_track *track, const char *path) {
  assert_int_equal(graze_track_write_html(shared_context(1), path, track, &head), GRAZE_OK);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  char *text = calloc((size_t)size + 1, 1);
  rewind(file);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  fclose(file);
  unlink(path);
  return text;
}

/* Of more events than are to be kept the fastest stay, in their order. */
static void keeps_fast_events(void **unused) {
  (void)unused;
  world *w = make_world();
  w->def.most_events = 3;
  graze_track *track = make_track(w, 1);
  if (track == NULL) skip();
  for (uint32_t i = 0; i < 5000; i++) {
    const graze_track_event event = {.step = i, .time = i, .a = 0, .b = 1, .speed = i % 1000 == 7 ? i : 0.5};
    assert_int_equal(graze_track_add_event(track, &event), GRAZE_OK);
  }
  char *text = write_page(track, "track_events.html");
  assert_non_null(strstr(text, "\"all_events\":5000,"));
  assert_non_null(strstr(text,
                         "\"events\":[[2007,2007,\"began\",0,1,2007,0],[3007,3007,\"began\",0,1,3007,0],"
                         "[4007,4007,\"began\",0,1,4007,0]]"));
  assert_non_null(strstr(text, "<title>a &lt; b</title>"));
  free(text);
  graze_track_destroy(track);
  free(w);
}

static void writes_the_same_twice(void **unused) {
  (void)unused;
  world *w = make_world();
  char *texts[2];
  for (int i = 0; i < 2; i++) {
    graze_track *track = make_track(w, 70);
    if (track == NULL) skip();
    if (i == 1) check_frame(track, w, 69); /* packs what waits, as writing does */
    texts[i] = write_page(track, "track_twice.html");
    graze_track_destroy(track);
  }
  assert_string_equal(texts[0], texts[1]);
  free(texts[0]);
  free(texts[1]);
  free(w);
}

static void refuses_pages(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_track *track = make_track(w, 0);
  if (track == NULL) skip();
  assert_int_equal(graze_track_write_html(shared_context(1), "track_none.html", track, &head), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(access("track_none.html", F_OK), -1);
  graze_track_destroy(track);
  track = make_track(w, 1);
  assert_int_equal(graze_track_write_html(shared_context(1), "nowhere/track.html", track, &head), GRAZE_ERROR_FILE);
  graze_track_destroy(track);
  free(w);
}

/* A scene without balls has a film all the same. */
static void takes_nothing(void **unused) {
  (void)unused;
  graze_track_def def = graze_default_track_def();
  graze_track *track = NULL;
  if (graze_track_create(shared_context(1), &def, &track) == GRAZE_ERROR_UNSUPPORTED) skip();
  graze_track_frame frame = {0};
  assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
  frame.step = 1;
  assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
  assert_int_equal(graze_track_read_frame(track, 1, NULL, NULL, NULL), GRAZE_OK);
  free(write_page(track, "track_nothing.html"));
  graze_track_destroy(track);
}

/* ---- pictures ---- */

/* One large ball that crosses the picture from left to right, far from the origin, and a small one. */
static void make_crossing(world *w, double far) {
  for (int frame = 0; frame < 3; frame++) {
    memset(w->positions[frame], 0, sizeof w->positions[frame]);
    memset(w->velocities[frame], 0, sizeof w->velocities[frame]);
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 3; k++) w->positions[frame][3 * i + k] = far;
    }
    w->positions[frame][0] += 5 * (frame - 1);
    w->positions[frame][3] -= 9;
    w->velocities[frame][0] = 1;
  }
  w->radii[0] = 2;
  w->radii[1] = 0.25;
  w->sets[2].count = 1;
  w->def.wall_count = 0;
}

enum { WIDTH = 160, HEIGHT = 100 };

/* A painter, or NULL: there is no OpenGL. */
static graze_painter *make_painter(void) {
  graze_painter *painter = NULL;
  graze_status status = graze_painter_create(shared_context(1), &head, WIDTH, HEIGHT, &painter);
  assert_true(status == GRAZE_OK || status == GRAZE_ERROR_UNSUPPORTED);
  return painter;
}

/* How many pixels are of the colour of the fastest, and their mean column. */
static int count_red(const graze_picture *picture, double *column) {
  int count = 0;
  double sum = 0;
  for (uint32_t i = 0; i < picture->width * picture->height; i++) {
    const uint8_t *pixel = &picture->pixels[3 * (size_t)i];
    const bool red = pixel[0] > 2 * pixel[1] && pixel[0] > 2 * pixel[2];
    count += red;
    sum += red ? i % picture->width : 0;
  }
  *column = count > 0 ? sum / count : -1;
  return count;
}

/* A ball covers as many pixels as its outline says, at every frame, and moves; the same bytes twice. */
/* How many pixels have this colour, but for its shade. */
static int count_hue(const graze_picture *picture, uint32_t rgb) {
  int seen = 0;
  for (size_t i = 0; i < (size_t)picture->width * picture->height; i++) {
    const uint8_t *p = picture->pixels + 3 * i;
    const double r = rgb >> 16, g = rgb >> 8 & 255, b = rgb & 255, shade = (p[0] + p[1] + p[2]) / (r + g + b);
    seen += fabs(p[0] - shade * r) < 4 && fabs(p[1] - shade * g) < 4 && fabs(p[2] - shade * b) < 4 && shade > 0.3;
  }
  return seen;
}

/* By set, by contact, and without those that touch nothing. */
static void paints_by_choice(void **unused) {
  (void)unused;
  static const uint32_t colours[2][2] = {{0x4c78a8, 0x5ba053}, {0xe8710a, 0x9aa7b1}};
  graze_painter *painter = make_painter();
  for (int what = 0; what < 3 && painter != NULL; what++) {
    world *w = make_world();
    graze_picture picture;
    make_crossing(w, 0);
    w->def.set_count = 3;
    w->sets[2].count = 1;
    w->def.colour = what == 0 ? GRAZE_TRACK_SET : GRAZE_TRACK_CONTACT;
    w->def.colliding = what == 2;
    w->radii[1] = w->radii[0];
    for (int k = 0; k < 3; k++) w->positions[0][3 + k] = w->positions[0][k] + (k == 2 ? 5 : 0);
    w->touching[0][0] = true;
    w->touching[0][1] = false;
    graze_track *track = make_track(w, 1);
    if (track == NULL) skip();
    const graze_camera camera = {.eye = {0, -40, 0}, .forward = {0, 1, 0}, .up = {0, 0, 1}, .field_of_view = 30};
    assert_int_equal(graze_painter_track(painter, track, 0, &camera, &picture), GRAZE_OK);
    const int first = count_hue(&picture, colours[what > 0][0]), second = count_hue(&picture, colours[what > 0][1]);
    assert_true(first > 100);
    assert_true(what == 2 ? second < first / 10 : abs(second - first) < first / 5);
    graze_track_destroy(track);
    free(w);
  }
  graze_painter_destroy(painter);
}

static void paints_balls(void **unused) {
  (void)unused;
  static const double places[] = {0, 1e6};
  static uint8_t first[3 * WIDTH * HEIGHT];
  graze_painter *painter = make_painter();
  for (size_t place = 0; place < 2 && painter != NULL; place++) {
    world *w = make_world();
    make_crossing(w, places[place]);
    graze_track *track = make_track(w, 3);
    if (track == NULL) skip();
    graze_camera camera = {.eye = {places[place], places[place] - 40, places[place]},
                           .forward = {0, 1, 0},
                           .up = {0, 0, 1},
                           .field_of_view = 30};
    const double pixel = 40 * tan(M_PI / 12) / (HEIGHT / 2); /* at the ball */
    double before = -1;
    for (uint32_t frame = 0; frame < 3; frame++) {
      graze_picture picture;
      double column;
      assert_int_equal(graze_painter_track(painter, track, frame, &camera, &picture), GRAZE_OK);
      assert_int_equal(picture.width * picture.height, WIDTH * HEIGHT);
      const double area = M_PI * 4 / (pixel * pixel), seen = count_red(&picture, &column);
      assert_true(fabs(seen / area - 1) < 0.1);
      assert_true(fabs(column - (WIDTH / 2 + 5.0 * (frame - 1.0) / pixel)) < 2 && column > before);
      before = column;
      memcpy(first, picture.pixels, sizeof first);
      assert_int_equal(graze_painter_track(painter, track, frame, &camera, &picture), GRAZE_OK);
      assert_memory_equal(first, picture.pixels, sizeof first);
    }
    graze_picture none;
    assert_int_equal(graze_painter_track(painter, track, 3, &camera, &none), GRAZE_ERROR_ARGUMENT);
    graze_track_destroy(track);
    free(w);
  }
  graze_painter_destroy(painter);
}

/* All balls of all frames are in the picture, walls too. */
static void camera_sees_all(void **unused) {
  (void)unused;
  world *w = make_world();
  make_crossing(w, 3);
  graze_track *track = make_track(w, 3);
  if (track == NULL) skip();
  graze_camera camera;
  double axes[3][3];
  assert_int_equal(graze_track_camera(shared_context(1), track, &head, 1.6, &camera), GRAZE_OK);
  for (int k = 0; k < 3; k++) {
    axes[1][k] = camera.up[k];
    axes[2][k] = camera.forward[k];
    axes[0][k] =
        camera.forward[(k + 1) % 3] * camera.up[(k + 2) % 3] - camera.forward[(k + 2) % 3] * camera.up[(k + 1) % 3];
  }
  const double tan_y = tan(camera.field_of_view / 360 * M_PI);
  for (int frame = 0; frame < 3; frame++) {
    double seen[3] = {0, 0, 0};
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 3; k++) seen[r] += axes[r][k] * (w->positions[frame][k] - camera.eye[k]);
    }
    assert_true(fabs(seen[0]) + 2 < 1.6 * tan_y * seen[2] && fabs(seen[1]) + 2 < tan_y * seen[2]);
  }
  assert_int_equal(graze_track_camera(shared_context(1), track, &head, NAN, &camera), GRAZE_ERROR_ARGUMENT);
  graze_track_destroy(track);
  free(w);
}

static bool is_there(const char *folder, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

/* As many as asked for, or as there are; those of an earlier film go. */
static void writes_pictures(void **unused) {
  (void)unused;
  char folder[] = "track_XXXXXX";
  world *w = make_world();
  make_crossing(w, 0);
  graze_track *track = make_track(w, 3);
  if (track == NULL) skip();
  assert_non_null(mkdtemp(folder));
  graze_status status = graze_track_write_pictures(shared_context(1), folder, track, &head, 7);
  if (status == GRAZE_OK) {
    assert_true(is_there(folder, "film.png") && is_there(folder, "frames/0003.png"));
    assert_false(is_there(folder, "frames/0004.png"));
    assert_int_equal(graze_track_write_pictures(shared_context(1), folder, track, &head, 2), GRAZE_OK);
    assert_true(is_there(folder, "film.png") && is_there(folder, "frames/0002.png"));
  } else {
    assert_int_equal(status, GRAZE_ERROR_UNSUPPORTED);
  }
  assert_false(is_there(folder, "frames/0003.png"));
  assert_int_equal(graze_track_write_pictures(shared_context(1), folder, track, &head, 0), GRAZE_OK);
  assert_false(is_there(folder, "film.png") || is_there(folder, "frames/0001.png"));
  char frames[32];
  snprintf(frames, sizeof frames, "%s/frames", folder);
  rmdir(frames);
  assert_int_equal(rmdir(folder), 0);
  graze_track_destroy(track);
  free(w);
}

/* ---- objects ---- */

/* A cube that waits, moves twice and waits again, beside balls: moves are kept where it moves, the camera sees it
 * everywhere, and it is in the picture. */
static void takes_objects(void **unused) {
  (void)unused;
  const double low[3] = {-0.5, -0.5, -0.5}, high[3] = {0.5, 0.5, 0.5};
  double corners[108];
  world *w = make_world();
  soup_box(low, high, corners);
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
  graze_report_object object = {
      .name = "cube", .layer = "", .file = "", .mesh = mesh, .pose = test_translation(1003, 1003, 1003)};
  graze_report report = head;
  report.objects = &object;
  report.object_count = 1;
  w->def.object_count = 1;
  graze_track *track = make_track(w, 0);
  if (track == NULL) skip();
  for (int i = 0; i < 5; i++) {
    const graze_pose pose = test_translation(1003, 1003, 1003 + (i < 2 ? 0 : i > 3 ? 60 : 30.0 * (i - 1)));
    graze_track_frame frame = frame_of(w, i);
    frame.poses = &pose;
    assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
  }
  const graze_pose bad = test_translation(NAN, 0, 0);
  graze_track_frame frame = frame_of(w, 5);
  frame.poses = &bad;
  refuse_frame(track, &frame, GRAZE_ERROR_NOT_FINITE, "object 0");
  const graze_track_event event = {.step = 1, .a = 0, .b = BALLS + 1};
  assert_int_equal(graze_track_add_event(track, &event), GRAZE_OK);
  assert_int_equal(graze_track_write_html(shared_context(1), "track_none.html", track, &head),
                   GRAZE_ERROR_ARGUMENT); /* without the object */
  assert_int_equal(graze_track_write_html(shared_context(1), "track_cube.html", track, &report), GRAZE_OK);
  unlink("track_cube.html");
  graze_camera camera, without;
  assert_int_equal(graze_track_camera(shared_context(1), track, &report, 1.6, &camera), GRAZE_OK);
  assert_int_equal(graze_track_camera(shared_context(1), track, &head, 1.6, &without), GRAZE_OK);
  assert_memory_not_equal(&camera, &without, sizeof camera);
  graze_track_destroy(track);
  graze_mesh_destroy(mesh);
  free(w);
}

/* A disc that has turned by an eighth is seen from as near as before, though its box has grown. */
static void turns_without_growing(void **unused) {
  (void)unused;
  double corners[9 * 32], distances[2];
  for (int i = 0; i < 32; i++) {
    double *c = corners + 9 * i;
    memset(c, 0, 9 * sizeof *c);
    for (int k = 0; k < 2; k++) {
      c[3 + 3 * k] = 5 * cos((i + k) * M_PI / 16);
      c[4 + 3 * k] = 5 * sin((i + k) * M_PI / 16);
    }
  }
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 32, GRAZE_VOLUMES_ORIENTED);
  graze_report_object object = {.name = "disc", .layer = "", .file = "", .mesh = mesh, .pose = graze_pose_identity()};
  graze_report report = head;
  report.objects = &object;
  report.object_count = 1;
  graze_track_def def = graze_default_track_def();
  def.object_count = 1;
  for (int i = 0; i < 2; i++) {
    const double turn[4] = {cos(i * M_PI / 8), 0, 0, sin(i * M_PI / 8)}, nowhere[3] = {0, 0, 0};
    const graze_pose pose = graze_pose_from_quaternion(turn, nowhere);
    const graze_track_frame frame = {.poses = &pose};
    graze_track *track = NULL;
    graze_camera camera;
    if (graze_track_create(shared_context(1), &def, &track) == GRAZE_ERROR_UNSUPPORTED) skip();
    assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
    object.pose = pose;
    assert_int_equal(graze_track_camera(shared_context(1), track, &report, 1.6, &camera), GRAZE_OK);
    distances[i] = length_of(camera.eye);
    graze_track_destroy(track);
  }
  assert_true(fabs(distances[1] / distances[0] - 1) < 0.01);
  graze_mesh_destroy(mesh);
}

/* ---- meshes in place of balls ---- */

static graze_mesh *make_brick(double x, double y, double z) {
  const double low[3] = {5, 5, 5}, high[3] = {5 + x, 5 + y, 5 + z};
  double corners[108];
  soup_box(low, high, corners);
  return test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
}

/* Balls that stand still, turn slowly, turn by half a turn a frame and a bit, and are at any orientation; not of unit
 * length. */
static void turn_balls(int frame, double *orientations) {
  uint64_t state = 99 + (uint64_t)frame;
  for (int i = 0; i < BALLS; i++) {
    const double speeds[4] = {0, 0.02, 3.2, 6 * uniform(&state)}, half = (1 + i % 3) * speeds[i % 4] * frame / 2;
    const double axis[3] = {i % 7 - 3, i % 5 - 2, 1}, length = length_of(axis), scale = 0.25 + i % 4;
    double *q = orientations + 4 * i;
    q[0] = scale * cos(half);
    for (int k = 0; k < 3; k++) q[k + 1] = scale * sin(half) * axis[k] / length;
  }
}

/* In degrees, between what a frame has and what it was given. */
static double angle_off(const double kept[4], const double given[4]) {
  double sum = 0, square = 0;
  for (int k = 0; k < 4; k++) {
    sum += kept[k] * given[k];
    square += given[k] * given[k];
  }
  return 2 * acos(fmin(fabs(sum) / sqrt(square), 1)) * 180 / M_PI;
}

static void check_turns(graze_track *track, uint32_t frame) {
  static double given[4 * BALLS], kept[4 * BALLS];
  double worst = 0;
  turn_balls((int)frame, given);
  assert_int_equal(graze_track_read_orientations(track, frame, kept), GRAZE_OK);
  assert_true(kept[0] == 1 && kept[1] == 0 && kept[2] == 0 && kept[3] == 0); /* a ball */
  for (int i = 1; i < BALLS; i++) worst = fmax(worst, angle_off(kept + 4 * i, given + 4 * i));
  assert_true(worst < 0.4);
  assert_true(worst > 0.1); /* it is rounded */
}

static void keeps_orientations(void **unused) {
  (void)unused;
  static double given[4 * BALLS], kept[4 * BALLS];
  world *w = make_world();
  graze_mesh *brick = make_brick(3, 2, 1);
  w->sets[2].mesh = brick;
  graze_track *track = make_track(w, 0);
  if (track == NULL) skip();
  for (int i = 0; i < FRAMES; i++) {
    graze_track_frame frame = frame_of(w, i);
    turn_balls(i, given);
    memset(given, 0, 4 * sizeof *given); /* the ball's, which nobody looks at */
    frame.orientations = given;
    assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
  }
  for (uint32_t i = 1; i < FRAMES; i++) check_turns(track, i);
  for (uint32_t i = FRAMES; i-- > 1;) check_turns(track, i);
  check_frame(track, w, 64);
  assert_int_equal(graze_track_read_orientations(track, FRAMES, kept), GRAZE_ERROR_ARGUMENT);
  graze_track_frame frame = frame_of(w, FRAMES - 1);
  frame.step++;
  frame.orientations = given;
  given[4 * 7] = NAN;
  refuse_frame(track, &frame, GRAZE_ERROR_NOT_FINITE, "orientation of ball 7");
  memset(given + 4 * 7, 0, 4 * sizeof *given);
  refuse_frame(track, &frame, GRAZE_ERROR_NOT_FINITE, "orientation of ball 7");
  frame.orientations = NULL; /* as the mesh is */
  assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
  assert_int_equal(graze_track_read_orientations(track, FRAMES, kept), GRAZE_OK);
  for (int i = 0; i < 4 * BALLS; i++) assert_true(kept[i] == (i % 4 == 0));
  graze_track_destroy(track);
  graze_mesh_destroy(brick);
  graze_mesh *point = make_brick(0, 0, 0);
  w->sets[2].mesh = point;
  refuse_def(w, GRAZE_ERROR_ARGUMENT, "mesh of \"many\" has no extent");
  graze_mesh_destroy(point);
  free(w);
}

/* How many pixels wide and high what is red is, above the axes in the corner. */
static void measure_red(const graze_picture *picture, int size[2]) {
  int low[2] = {WIDTH, HEIGHT}, high[2] = {-1, -1};
  for (uint32_t i = 0; i < picture->width * picture->height * 3 / 4; i++) {
    const uint8_t *pixel = &picture->pixels[3 * (size_t)i];
    const int at[2] = {(int)(i % picture->width), (int)(i / picture->width)};
    if (pixel[0] <= 2 * pixel[1] || pixel[0] <= 2 * pixel[2]) continue;
    for (int k = 0; k < 2; k++) {
      low[k] = at[k] < low[k] ? at[k] : low[k];
      high[k] = at[k] > high[k] ? at[k] : high[k];
    }
  }
  for (int k = 0; k < 2; k++) size[k] = high[k] - low[k] + 1;
}

/* A rod in place of a ball of radius 2 is as long as the ball is wide, and turns with it: along x, then along z. */
static void paints_meshes(void **unused) {
  (void)unused;
  static const double turns[3][4] = {{1, 0, 0, 0}, {1, 0, 1, 0}, {0, 0, 0, 1}};
  world *w = make_world();
  graze_painter *painter = make_painter();
  graze_mesh *rod = make_brick(8, 1, 1);
  w->sets[0].mesh = rod;
  make_crossing(w, 0);
  graze_track *track = make_track(w, 0);
  if (track == NULL || painter == NULL) skip();
  graze_camera camera = {.eye = {0, -40, 0}, .forward = {0, 1, 0}, .up = {0, 0, 1}, .field_of_view = 30};
  const double pixel = 40 * tan(M_PI / 12) / (HEIGHT / 2), reach = sqrt(66) / 2;
  for (int i = 0; i < 3; i++) {
    graze_picture picture;
    double orientations[8] = {0};
    int size[2];
    graze_track_frame frame = frame_of(w, i);
    memcpy(orientations, turns[i], sizeof turns[i]);
    frame.orientations = orientations;
    assert_int_equal(graze_track_add_frame(track, &frame), GRAZE_OK);
    assert_int_equal(graze_painter_track(painter, track, (uint32_t)i, &camera, &picture), GRAZE_OK);
    measure_red(&picture, size);
    assert_true(fabs(size[i == 1] - 2 * 2 / reach * 4 / pixel) < 3);
    assert_true(fabs(size[i != 1] - 2 * 2 / reach * 0.5 / pixel) < 3);
  }
  graze_track_destroy(track);
  graze_painter_destroy(painter);
  graze_mesh_destroy(rod);
  free(w);
}

/* A box is in the page, and the camera sees it. */
static void shows_the_box(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_camera with, without;
  graze_track *track = make_track(w, 1);
  if (track == NULL) skip();
  assert_int_equal(graze_track_camera(shared_context(1), track, &head, 1.6, &without), GRAZE_OK);
  char *text = write_page(track, "track_box.html");
  assert_null(strstr(text, "\"box\":"));
  free(text);
  graze_track_destroy(track);
  w->def.box = (graze_box){{-90, 0, 0}, {1e5, 7, 8}};
  track = make_track(w, 1);
  assert_int_equal(graze_track_camera(shared_context(1), track, &head, 1.6, &with), GRAZE_OK);
  assert_memory_not_equal(&with, &without, sizeof with);
  text = write_page(track, "track_box.html");
  assert_non_null(strstr(text, "\"box\":[[-90,0,0],[100000,7,8]]"));
  free(text);
  graze_track_destroy(track);
  free(w);
}

/* Its edges are in the picture, in the middle of nothing else. */
static void paints_the_box(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_painter *painter = make_painter();
  make_crossing(w, 0);
  for (int i = 0; i < 2 && painter != NULL; i++) {
    if (i == 1) w->def.box = (graze_box){{-12, -5, -8}, {12, 5, 8}};
    graze_track *track = make_track(w, 1);
    if (track == NULL) skip();
    graze_camera camera = {.eye = {0, -40, 0}, .forward = {0, 1, 0}, .up = {0, 0, 1}, .field_of_view = 30};
    graze_picture picture;
    assert_int_equal(graze_painter_track(painter, track, 0, &camera, &picture), GRAZE_OK);
    int dark = 0;
    for (uint32_t y = 0; y < 20; y++) dark += picture.pixels[3 * (y * WIDTH + WIDTH / 2)] < 200;
    assert_true(i == 0 ? dark == 0 : dark > 0);
    graze_track_destroy(track);
  }
  graze_painter_destroy(painter);
  free(w);
}

/* ---- chances ---- */

static void refuse_chances(graze_track *track, const graze_track_chances *chances, graze_status status,
                           const char *words) {
  assert_int_equal(graze_track_set_chances(track, chances), status);
  assert_non_null(strstr(shared_error()->message, words));
}

static void keeps_chances(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_track *track = make_track(w, 1);
  if (track == NULL) skip();
  graze_track_chance some[2] = {{BALLS, 3, 0.25, 0.875, 1.5}, {7, 0, 0, 0.5, 0}};
  graze_track_chances all = {.chances = some, .count = 2, .runs = 6, .asked = 8, .seed = 11};
  char *text = write_page(track, "track_chances.html");
  assert_null(strstr(text, "\"chances\":{"));
  free(text);
  assert_int_equal(graze_track_set_chances(track, &all), GRAZE_OK);
  some[0].member = BALLS + 1;
  refuse_chances(track, &all, GRAZE_ERROR_INDEX, "member 301, and there are 301");
  some[0] = (graze_track_chance){0, 7, 0, 1, 0};
  refuse_chances(track, &all, GRAZE_ERROR_ARGUMENT, "member 0 was hit in 7 of 6 runs");
  some[0] = (graze_track_chance){1, 6, 0, NAN, 0};
  refuse_chances(track, &all, GRAZE_ERROR_NOT_FINITE, "of member 1");
  all.runs = 0;
  refuse_chances(track, &all, GRAZE_ERROR_ARGUMENT, "no chances");
  text = write_page(track, "track_chances.html"); /* what was set first, by number */
  assert_non_null(strstr(text,
                         "\"chances\":{\"runs\":6,\"asked\":8,\"seed\":11,\"of\":[[7,0,0,0.5,0],"
                         "[300,3,0.25,0.875,1.5]]}"));
  free(text);
  graze_track_destroy(track);
  free(w);
}

/* A ball that is fast is red no more, but by its chances. */
static void paints_chances(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_painter *painter = make_painter();
  make_crossing(w, 0);
  graze_track *track = make_track(w, 3);
  if (track == NULL || painter == NULL) skip();
  graze_camera camera = {.eye = {0, -40, 0}, .forward = {0, 1, 0}, .up = {0, 0, 1}, .field_of_view = 30};
  for (uint64_t runs = 0; runs < 3; runs++) {
    const graze_track_chance some[2] = {{1, 2, 0, 1, 1}, {0, runs, 0, 1, 1}};
    const graze_track_chances all = {.chances = some, .count = 2, .runs = 5, .asked = 5, .seed = 1};
    graze_picture picture;
    double column;
    assert_int_equal(graze_track_set_chances(track, &all), GRAZE_OK);
    assert_int_equal(graze_painter_track(painter, track, 1, &camera, &picture), GRAZE_OK);
    const int red = count_red(&picture, &column);
    assert_true(runs == 2 ? red > 200 : red < 60); /* the small one and an axis are red anyway */
    const uint8_t *middle = &picture.pixels[3 * (WIDTH * HEIGHT / 2 + WIDTH / 2)];
    const int green = middle[1] - (middle[0] + middle[2]) / 2;
    assert_true(runs == 1 ? green > 20 : green < 10); /* half of the most runs; never: grey */
  }
  graze_track_destroy(track);
  graze_painter_destroy(painter);
  free(w);
}

/* ---- memory ---- */

static graze_status make_and_read(graze_context *context, const world *w) {
  static double orientations[4 * BALLS];
  graze_track *track = NULL;
  graze_status status = graze_track_create(context, &w->def, &track);
  for (int i = 0; i < 70 && status == GRAZE_OK; i++) {
    graze_track_frame frame = frame_of(w, i);
    turn_balls(i, orientations);
    frame.orientations = orientations;
    const graze_track_event event = {.step = (uint64_t)i, .a = 0, .b = 1, .speed = i};
    status = graze_track_add_frame(track, &frame);
    if (status == GRAZE_OK) status = graze_track_add_event(track, &event);
  }
  if (status == GRAZE_OK) status = graze_track_read_frame(track, 65, NULL, NULL, NULL);
  if (status == GRAZE_OK) status = graze_track_read_orientations(track, 66, orientations);
  const graze_track_chance chance = {.member = 1, .runs = 1, .high = 1};
  const graze_track_chances chances = {.chances = &chance, .count = 1, .runs = 2, .asked = 2};
  if (status == GRAZE_OK) status = graze_track_set_chances(track, &chances);
  if (status == GRAZE_OK) status = graze_track_write_html(context, "/dev/null", track, &head);
  graze_track_destroy(track);
  return status;
}

static void survives_refusals(void **unused) {
  (void)unused;
  world *w = make_world();
  graze_mesh *brick = make_brick(1, 2, 3);
  w->sets[2].mesh = brick;
  graze_status status = GRAZE_ERROR_MEMORY;
  for (uint64_t k = 1; status == GRAZE_ERROR_MEMORY; k++) {
    test_allocator memory = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    def.threads = 1;
    def.allocator = test_allocator_hooks(&memory);
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    memory.fail_at = memory.requests + k;
    status = make_and_read(context, w);
    graze_context_destroy(context);
    assert_int_equal(memory.live_blocks, 0);
    assert_true(status != GRAZE_ERROR_MEMORY || k < 1000);
  }
  assert_true(status == GRAZE_OK || status == GRAZE_ERROR_UNSUPPORTED);
  graze_mesh_destroy(brick);
  free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_frames),          cmocka_unit_test(reads_between),
      cmocka_unit_test(knows_itself),          cmocka_unit_test(is_small),
      cmocka_unit_test(refuses_definitions),   cmocka_unit_test(refuses_frames),
      cmocka_unit_test(keeps_fast_events),     cmocka_unit_test(writes_the_same_twice),
      cmocka_unit_test(refuses_pages),         cmocka_unit_test(takes_nothing),
      cmocka_unit_test(survives_refusals),     cmocka_unit_test(paints_balls),
      cmocka_unit_test(paints_by_choice),      cmocka_unit_test(camera_sees_all),
      cmocka_unit_test(writes_pictures),       cmocka_unit_test(takes_objects),
      cmocka_unit_test(keeps_orientations),    cmocka_unit_test(paints_meshes),
      cmocka_unit_test(turns_without_growing), cmocka_unit_test(shows_the_box),
      cmocka_unit_test(paints_the_box),        cmocka_unit_test(keeps_chances),
      cmocka_unit_test(paints_chances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
