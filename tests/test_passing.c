/* Ways looked at as a whole (src/narrow/passing.h): the bound on how far points are off the straight way between two
 * moments, what a traversal and planes of triangles leave out, and meetings that only such a bound knows of. Looks
 * behind the public headers, so it needs the static library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "families.h"
#include "journeys.h"
#include "motion/path.h"
#include "narrow/apart.h"
#include "narrow/passing.h"
#include "oracle.h"

static double length(const double x[3]) {
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* Two objects with poses at both ends, as quaternions and the places of their hubs. */
typedef struct two_ways {
  double q[2][2][4], p[2][2][3], hub[2][3];
  graze_pose pose[2][2]; /* of object i at end e */
} two_ways;

/* The pose that turns like this one and takes the hub to where this takes the origin. */
static graze_pose about_hub(const two_ways *w, int i, const graze_pose *pose) {
  const graze_pose back = test_translation(-w->hub[i][0], -w->hub[i][1], -w->hub[i][2]);
  return graze_pose_multiply(pose, &back);
}

static void close_ways(two_ways *w) {
  for (int i = 0; i < 2; i++) {
    for (int e = 0; e < 2; e++) {
      const graze_pose led = graze_pose_from_quaternion(w->q[i][e], w->p[i][e]);
      w->pose[i][e] = about_hub(w, i, &led);
    }
  }
}

/* Turns of at most about `turn`, shifts of at most `shift`. */
static void make_ways(uint64_t *state, double turn, double shift, two_ways *w) {
  memset(w, 0, sizeof *w);
  for (int i = 0; i < 2; i++) {
    random_turn(state, w->q[i][0]);
    near_turn(state, w->q[i][0], random_below(state, 3) == 0 ? 0 : 0.5 * turn, w->q[i][1]);
    for (int k = 0; k < 3; k++) {
      w->p[i][0][k] = 3 * random_signed(state);
      w->p[i][1][k] = w->p[i][0][k] + shift * random_signed(state);
    }
  }
  close_ways(w);
}

static graze_pose pose_then(const two_ways *w, int i, graze_motion_model model, double t) {
  graze_pose pose;
  if (model == GRAZE_MOTION_RIGID) {
    pose = rigid_pose(w->q[i][0], w->q[i][1], w->p[i][0], w->p[i][1], t);
    return about_hub(w, i, &pose);
  }
  for (int k = 0; k < 12; k++) pose.m[k] = (1 - t) * w->pose[i][0].m[k] + t * w->pose[i][1].m[k];
  return pose;
}

/* A point of the other object in the coordinates of the frame's mesh, by Cramer's rule. */
static void seen_from(const graze_pose *frame, const graze_pose *other, const double y[3], double out[3]) {
  double x[3];
  graze_pose_apply(other, y, x);
  const double *m = frame->m;
  const double r[3] = {x[0] - m[3], x[1] - m[7], x[2] - m[11]};
  double c[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
      c[3 * i + j] = m[4 * r0 + c0] * m[4 * r1 + c1] - m[4 * r0 + c1] * m[4 * r1 + c0];
    }
  }
  const double det = m[0] * c[0] + m[1] * c[3] + m[2] * c[6];
  for (int i = 0; i < 3; i++) out[i] = (c[3 * i] * r[0] + c[3 * i + 1] * r[1] + c[3 * i + 2] * r[2]) / det;
}

static const graze_box UNIT = {{-1, -1, -1}, {1, 1, 1}};

static void open_paths(const two_ways *w, graze_motion_model model, motion_path path[2]) {
  for (int i = 0; i < 2; i++)
    assert_int_equal(gz_path_open(&path[i], &UNIT, &w->pose[i][0], &w->pose[i][1], model, w->hub[i]), PATH_FINE);
}

/* How much of the bound the way of a corner of the box needs, at most: it is never more than 1. */
static double part_of_bound(const two_ways *w, graze_motion_model model, const double y[3]) {
  motion_path path[2];
  double share, fixed, from[3], to[3], most = 0;
  open_paths(w, model, path);
  assert_true(gz_path_bend(&path[0], &path[1], &share, &fixed));
  seen_from(&w->pose[0][0], &w->pose[1][0], y, from);
  seen_from(&w->pose[0][1], &w->pose[1][1], y, to);
  const double way[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  const double bound = share * length(way) + fixed;
  for (int n = 1; n < 16; n++) {
    const double t = n / 16.0;
    const graze_pose a = pose_then(w, 0, model, t), b = pose_then(w, 1, model, t);
    double x[3], off[3];
    seen_from(&a, &b, y, x);
    for (int k = 0; k < 3; k++) off[k] = x[k] - ((1 - t) * from[k] + t * to[k]);
    assert_true(length(off) <= bound + 1e-13);
    most = fmax(most, length(off) / (bound + 1e-13));
  }
  return most;
}

/* Often by points far away. */
static void lead_by_hubs(uint64_t *state, two_ways *w) {
  for (int k = 0; k < 6; k++) w->hub[k / 3][k % 3] = 10 * random_signed(state);
  if (random_below(state, 2) == 0) memset(w->hub, 0, sizeof w->hub);
  close_ways(w);
}

static void test_bend(void **state) {
  (void)state;
  uint64_t random = test_seed(1);
  double most[2] = {0, 0};
  for (int round = test_rounds(400, 40000); round-- > 0;) {
    two_ways w;
    make_ways(&random, random_below(&random, 2) ? 0.02 : 0.15, random_unit(&random), &w);
    lead_by_hubs(&random, &w);
    const double y[3] = {random_signed(&random), random_signed(&random), random_signed(&random)};
    for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++)
      most[model - 1] = fmax(most[model - 1], part_of_bound(&w, (graze_motion_model)model, y));
  }
  assert_true(test_thinned() || (most[0] > 0.5 && most[1] > 0.3));
}

/* No two points come nearer than the bounds on speeds say. */
static void test_losses(void **state) {
  (void)state;
  uint64_t random = test_seed(7);
  double most[2] = {0, 0};
  for (int round = test_rounds(400, 40000); round-- > 0;) {
    two_ways w;
    make_ways(&random, random_below(&random, 2) ? 0.1 : 1, 3 * random_unit(&random), &w);
    lead_by_hubs(&random, &w);
    for (int m = 0; m < 2; m++) {
      const graze_motion_model model = m == 0 ? GRAZE_MOTION_LINEAR : GRAZE_MOTION_RIGID;
      motion_path path[2];
      double own[2][3], apart = 0;
      open_paths(&w, model, path);
      for (int k = 0; k < 6; k++) own[k / 3][k % 3] = random_signed(&random);
      for (int n = 0; n <= 16; n++) {
        const graze_pose a = pose_then(&w, 0, model, n / 16.0), b = pose_then(&w, 1, model, n / 16.0);
        double x[3], y[3];
        graze_pose_apply(&a, own[0], x);
        graze_pose_apply(&b, own[1], y);
        const double between[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, now = length(between);
        if (n == 0) apart = now;
        const double loss = gz_paths_loss(&path[0], &path[1], 0, n / 16.0, apart);
        assert_true(apart - now <= loss + 1e-12);
        most[m] = fmax(most[m], (apart - now) / (loss + 1e-12));
      }
    }
  }
  assert_true(test_thinned() || (most[0] > 0.7 && most[1] > 0.4)); /* of many some are near the bound */
}

/* Object i turns by an angle about z and is shifted, the other stands still or is shifted. */
static two_ways plain_ways(int turns, double angle, const double shift[2][3]) {
  two_ways w = {.q = {{{1, 0, 0, 0}, {1, 0, 0, 0}}, {{1, 0, 0, 0}, {1, 0, 0, 0}}}};
  w.q[turns][1][0] = cos(0.5 * angle);
  w.q[turns][1][3] = sin(0.5 * angle);
  for (int i = 0; i < 2; i++) memcpy(w.p[i][1], shift[i], 3 * sizeof(double));
  close_ways(&w);
  return w;
}

/* Where it is attained, nearly: the frame turns past a point that stands still or moves straight, and a corner of the
 * other turns past the frame. */
static void test_bend_is_tight(void **state) {
  (void)state;
  static const double corner[3] = {1, 1, 1}, still[2][3] = {{0}}, moving[2][3] = {{0}, {1, 0, 0}}, axis[3] = {0};
  const double angle = 0x1p-6;
  const two_ways frame = plain_ways(0, angle, still), other = plain_ways(1, angle, still);
  const two_ways passes = plain_ways(0, angle, moving);
  for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++)
    assert_true(part_of_bound(&frame, (graze_motion_model)model, corner) > 0.95);
  assert_true(part_of_bound(&other, GRAZE_MOTION_RIGID, corner) > 0.8); /* the reach is that of the box in space */
  assert_true(part_of_bound(&passes, GRAZE_MOTION_RIGID, axis) > 0.95);
  assert_true(part_of_bound(&passes, GRAZE_MOTION_LINEAR, axis) > 0.95);
}

/* ---- planes of triangles ----------------------------------------------------------------------------------------- */

static uint64_t open_every_way(const posed_node *own, const passing_node *other, uint64_t mask) {
  const uint64_t open = gz_passing_apart_scalar(own, other, mask);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) assert_true(gz_passing_apart_avx2(own, other, mask) == open);
  if (gz_cpu_best() >= CPU_AVX512) assert_true(gz_passing_apart_avx512(own, other, mask) == open);
#endif
  assert_true((open & ~mask) == 0);
  return open;
}

/* Corners of a small grid, the same turned and shifted for all or not at all; those of the other move by twice a step
 * of the grid, so that at the start, in the middle and at the end some touch, and what is turned is off that by
 * roundings. These are coarse enough for the middle between two of them to be a double. */
static void make_nodes(uint64_t *state, bool turned, posed_node *own, passing_node *other) {
  const graze_pose pose = test_random_pose(state, 1000);
  for (uint32_t place = 0; place < 8; place++) {
    for (int c = 0; c < 3; c++) {
      double x[3][3];
      for (int k = 0; k < 3; k++) {
        x[0][k] = random_below(state, 4);
        x[1][k] = random_below(state, 4) + (k == 0 ? 4.0 : 0.0);
        x[2][k] = x[1][k] + 2 * ((double)random_below(state, 5) - 2);
      }
      for (int i = 0; i < 3 && turned; i++) {
        graze_pose_apply(&pose, x[i], x[i]);
        for (int k = 0; k < 3; k++) x[i][k] = ldexp(rint(ldexp(x[i][k], 41)), -41);
      }
      for (int k = 0; k < 3; k++) {
        own->corner[3 * c + k][place] = x[0][k];
        for (int e = 0; e < 2; e++) other->at[e].corner[3 * c + k][place] = x[1 + e][k];
      }
    }
  }
}

static void test_planes(void **state) {
  (void)state;
  uint64_t random = test_seed(2);
  uint32_t parted = 0, met = 0;
  for (int round = test_rounds(60, 6000); round-- > 0;) {
    posed_node own;
    passing_node other = {.share = 0, .fixed = 0};
    make_nodes(&random, round % 2 == 0, &own, &other);
    const uint64_t mask = random_next(&random) | random_next(&random), open = open_every_way(&own, &other, mask);
    assert_true(open == (open_every_way(&own, &other, UINT64_MAX) & mask));
    for (int bit = 0; bit < 64; bit++) {
      graze_tritri truth;
      double a[9], b[9];
      for (int n = 0; n < 3; n++) { /* at 0, 1/2 and 1 */
        for (int k = 0; k < 9; k++) {
          const double from = other.at[0].corner[k][bit >> 3], to = other.at[1].corner[k][bit >> 3];
          a[k] = own.corner[k][bit & 7];
          b[k] = (1 - 0.5 * n) * from + 0.5 * n * to;
        }
        oracle_tritri(a, b, &truth);
        if (truth.kind == GRAZE_KIND_NONE) continue;
        met++;
        assert_true((open >> bit & 1) != 0 || (mask >> bit & 1) == 0);
      }
      parted += (mask >> bit & 1) != 0 && (open >> bit & 1) == 0;
    }
  }
  assert_true(parted > 0 && met > 0);
}

/* What is kept counts along a direction of any length: a triangle of which all moves along x from a plane on. */
static void test_planes_keep(void **state) {
  (void)state;
  for (int i = -20; i <= 20; i++) {
    const double scale = ldexp(1, i);
    posed_node own;
    passing_node other = {.share = 0x1p-4, .fixed = 0.25 * scale};
    memset(&own, 0, sizeof own);
    memset(other.at, 0, sizeof other.at);
    static const double corners[9] = {0, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int k = 0; k < 9; k++) {
      own.corner[k][0] = scale * corners[k];
      for (int e = 0; e < 2; e++) other.at[e].corner[k][0] = scale * (corners[k] + (k % 3 == 0 ? 1 : 0));
    }
    for (int n = 0; n < 3; n++) { /* by 8 along y it is off by 1/2 more, and may be nearer than 1 by 3/4 */
      const double by[3] = {0.25 + 0x1p-20, 0.75, 0};
      passing_node shifted = other;
      for (int c = 0; c < 3; c++) {
        shifted.at[1].corner[3 * c + 1][0] += 8 * scale;
        for (int e = 0; e < 2; e++) shifted.at[e].corner[3 * c][0] += scale * (n == 1 ? -by[0] : -0.25 + 0x1p-20);
      }
      assert_true(open_every_way(&own, n == 2 ? &other : &shifted, 1) == (n == 1 ? 1 : 0));
    }
  }
}

/* ---- the traversal ----------------------------------------------------------------------------------------------- */

static uint64_t boxes_every_way(const bvh_node *a, const bvh_node *b, const passing *p) {
  const uint64_t open = gz_passing_boxes_scalar(a, b, p);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) assert_true(gz_passing_boxes_avx2(a, b, p) == open);
  if (gz_cpu_best() >= CPU_AVX512) assert_true(gz_passing_boxes_avx512(a, b, p) == open);
#endif
  return open;
}

static void open_passage(const two_ways *w, graze_mesh *const mesh[2], graze_motion_model model, passage *way) {
  motion_path path[2];
  for (int i = 0; i < 2; i++) {
    graze_mesh_facts facts;
    graze_mesh_get_facts(mesh[i], &facts);
    assert_int_equal(gz_path_open(&path[i], &facts.box, &w->pose[i][0], &w->pose[i][1], model, NULL), PATH_FINE);
    for (int e = 0; e < 2; e++) way->ends[e][i] = (side){.mesh = mesh[i], .pose = w->pose[i][e]};
  }
  assert_true(gz_passage_open(way) && way->boxes.known[0] && way->boxes.known[1]);
  for (int i = 0; i < 2; i++) {
    double share, fixed;
    assert_true(gz_path_bend(&path[i], &path[1 - i], &share, &fixed));
    way->boxes.bend[i] = (box_bend){(float)(share * 1.001), (float)(fixed * 1.001) + 1e-36f};
  }
}

static bool is_listed(const graze_triangle_pair *pairs, uint32_t count, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < count; i++) {
    if (pairs[i].a == a && pairs[i].b == b) return true;
  }
  return false;
}

/* What meets at a sample is listed, and all instruction sets leave out the same. */
static void test_lists(void **state) {
  (void)state;
  enum { SAMPLES = 8, MOST = 4096 };
  static graze_triangle_pair pairs[MOST];
  static double corners[9 * 8 * 16];
  uint64_t random = test_seed(3), left_out = 0, met = 0;
  graze_query *query = query_of(1);
  const uint32_t size = soup_ball(1, 1, corners);
  graze_mesh *balls[2] = {test_mesh(shared_context(1), corners, size, GRAZE_VOLUMES_ORIENTED), box_mesh(1, 0.5, 0.2)};
  for (int round = test_rounds(60, 6000); round-- > 0;) {
    graze_mesh *const mesh[2] = {balls[round % 2], balls[round / 2 % 2]};
    const graze_motion_model model = round % 4 < 2 ? GRAZE_MOTION_LINEAR : GRAZE_MOTION_RIGID;
    two_ways w;
    passage way;
    uint32_t count;
    bool settled;
    graze_work work = {0};
    make_ways(&random, 0.1, 1, &w);
    for (int k = 0; k < 3; k++) { /* near each other */
      const double by = w.p[0][0][k] - w.p[1][0][k] + random_signed(&random);
      for (int e = 0; e < 2; e++) w.p[1][e][k] += by;
    }
    close_ways(&w);
    open_passage(&w, mesh, model, &way);
    boxes_every_way(&mesh[0]->nodes[0], &mesh[1]->nodes[0], &way.boxes);
    assert_int_equal(gz_passage_list(query, &way, UINT32_MAX, MOST, pairs, &count, &settled, &work), GRAZE_OK);
    assert_true(settled && work.node_pairs > 0);
    left_out += (uint64_t)mesh[0]->triangle_count * mesh[1]->triangle_count - count;
    for (int n = 0; n <= SAMPLES; n++) {
      const graze_pose a = pose_then(&w, 0, model, (double)n / SAMPLES),
                       b = pose_then(&w, 1, model, (double)n / SAMPLES);
      graze_collide_result found;
      assert_int_equal(graze_collide_meshes(query, mesh[0], &a, mesh[1], &b, NULL, &found), GRAZE_OK);
      for (uint64_t i = 0; i < found.counts.triangle_pairs; i++, met++)
        assert_true(is_listed(pairs, count, found.pairs[i].a, found.pairs[i].b));
    }
    if (count == 0) continue;
    assert_int_equal(gz_passage_list(query, &way, UINT32_MAX, count - 1, pairs, &count, &settled, &work), GRAZE_OK);
    assert_false(settled);
    assert_int_equal(gz_passage_list(query, &way, 0, MOST, pairs, &count, &settled, &work), GRAZE_OK);
    assert_false(settled);
  }
  assert_true(left_out > 0 && met > 0);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(balls[i]);
  graze_query_destroy(query);
}

/* ---- what only the bound knows of -------------------------------------------------------------------------------- */

/* How far from the axis a point stands, seen from a frame that turns by the angle a from its middle position: its own
 * distance, or more where the frame shrinks. */
static double seen_at(double r, double half, graze_motion_model model, double t) {
  if (model == GRAZE_MOTION_RIGID) return r * cos((2 * t - 1) * half);
  /* the matrix is cos(half) along the middle and (2 t - 1) sin(half) across, a turn times a length */
  const double c = cos(half), s = (2 * t - 1) * sin(half);
  return r * c / (c * c + s * s);
}

/* What stands still there: a small box; or one triangle, a needle from there through the axis to the other side, of
 * which the middle does not move. */
static graze_mesh *make_standing(double r, double h, bool needle) {
  const double corners[9] = {r + h, 0, 0, -r, 0, h, -r, 0, -h};
  double box[108];
  const double min[3] = {r - h, -h, -h}, max[3] = {r + h, h, h};
  soup_box(min, max, box);
  return test_mesh(shared_context(1), needle ? corners : box, needle ? 1 : 12, GRAZE_VOLUMES_ORIENTED);
}

/* A plate turns about an axis past something that stands still. At both ends that is inside of the plate's plane,
 * between them its way bulges out, by a little less than the gap or a little more. */
static graze_motion_result pass_bulge(graze_query *query, double angle, double part, graze_motion_model model,
                                      bool needle, bool swapped) {
  const double r = 4, h = 0x1p-20, half = 0.5 * angle;
  const double at_end = seen_at(r, half, model, 0), bulge = seen_at(r, half, model, 0.5) - at_end;
  const double x = at_end + h + part * bulge, min[3] = {x, -3, -3}, max[3] = {x + 0.25, 3, 3};
  double corners[108];
  two_ways w = plain_ways(0, 0, (const double[2][3]){{0}, {0}});
  for (int e = 0; e < 2; e++) {
    w.q[0][e][0] = cos(0.5 * half);
    w.q[0][e][3] = (e == 0 ? -1 : 1) * sin(0.5 * half);
  }
  close_ways(&w);
  soup_box(min, max, corners);
  graze_mesh *plate = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *standing = make_standing(r, h, needle);
  const graze_motion_body turns = {plate, w.pose[0][0], w.pose[0][1]};
  const graze_motion_body stands = {standing, graze_pose_identity(), graze_pose_identity()};
  graze_motion_options options = graze_default_motion_options();
  graze_motion_result result;
  options.model = model;
  assert_int_equal(
      graze_motion_meshes(query, swapped ? &stands : &turns, swapped ? &turns : &stands, &options, &result), GRAZE_OK);
  graze_mesh_destroy(plate);
  graze_mesh_destroy(standing);
  return result;
}

static void test_bulges(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(4);
  for (int round = test_rounds(60, 6000); round-- > 0;) {
    const double angle = 0.02 + 0.2 * random_unit(&random), inside = 0.05 + 0.85 * random_unit(&random);
    const bool needle = round % 4 < 2, swapped = round % 2 == 0;
    for (int m = GRAZE_MOTION_LINEAR; m <= GRAZE_MOTION_RIGID; m++) {
      const graze_motion_model model = (graze_motion_model)m;
      assert_int_equal(pass_bulge(query, angle, inside, model, needle, swapped).verdict, GRAZE_MOTION_HIT);
      assert_int_equal(pass_bulge(query, angle, 1.1, model, needle, swapped).verdict, GRAZE_MOTION_FREE);
    }
  }
  graze_query_destroy(query);
}

/* ---- whole motions ----------------------------------------------------------------------------------------------- */

enum { BOX_CORNERS = 36 };

/* All triangles of a box, posed, as a mesh whose vertices move. */
static void pose_soup(const double corners[108], const graze_pose ends[2], double at[2][108], uint32_t indices[36]) {
  for (uint32_t i = 0; i < BOX_CORNERS; i++) {
    for (int e = 0; e < 2; e++) graze_pose_apply(&ends[e], corners + 3 * (size_t)i, &at[e][3 * (size_t)i]);
    indices[i] = i;
  }
}

/* Whether features of two boxes meet on their ways: every pair of them, without hierarchies. */
static bool features_meet(const double corners[2][108], const graze_pose ends[2][2]) {
  static double at[2][2][108];
  static uint32_t indices[2][36];
  graze_ccd_mesh moving[2];
  graze_ccd_mesh_pairs pairs;
  for (int i = 0; i < 2; i++) {
    pose_soup(corners[i], ends[i], at[i], indices[i]);
    moving[i] = (graze_ccd_mesh){at[i][0], at[i][1], indices[i], BOX_CORNERS, BOX_CORNERS / 3};
  }
  assert_int_equal(graze_ccd_meshes(shared_context(1), &moving[0], &moving[1], false, &pairs), GRAZE_OK);
  const bool meet = pairs.counts[0] + pairs.counts[1] + pairs.counts[2] > 0;
  graze_ccd_mesh_pairs_free(&pairs);
  return meet;
}

/* Boxes that lie flush or nearly so, turned and far from the origin, so that roundings decide whether they touch, slide
 * along each other while they move together. */
static void test_flush(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(5);
  int met = 0, missed = 0, rounds = test_rounds(200, 20000);
  /* Of few rounds there are more until some have met and some have not. */
  for (int round = 0; round < rounds || ((met == 0 || missed == 0) && round < 30 * rounds); round++) {
    const int far = (int)random_below(&random, 16);
    const double gap = random_below(&random, 4) * ldexp(1, far - 52);
    const double min[2][3] = {{-1, -1, -1}, {-0.5, -0.5, 1 + gap}}, max[2][3] = {{1, 1, 1}, {0.5, 0.5, 1.5}};
    double corners[2][108];
    graze_pose ends[2][2];
    graze_mesh *mesh[2];
    const graze_pose place = test_random_pose(&random, ldexp(1, far));
    const graze_pose slide = test_translation(random_unit(&random) / 8, random_unit(&random) / 8, 0);
    const double jump[3] = {random_unit(&random), random_unit(&random), random_unit(&random)};
    for (int i = 0; i < 2; i++) {
      soup_box(min[i], max[i], corners[i]);
      mesh[i] = test_mesh(shared_context(1), corners[i], 12, GRAZE_VOLUMES_ORIENTED);
      ends[i][0] = place;
      ends[i][1] = i == 0 ? place : graze_pose_multiply(&place, &slide);
      for (int k = 0; k < 3; k++) ends[i][1].m[4 * k + 3] += jump[k];
    }
    const graze_motion_body a = {mesh[0], ends[0][0], ends[0][1]}, b = {mesh[1], ends[1][0], ends[1][1]};
    graze_collide_result start;
    graze_motion_result result;
    assert_int_equal(graze_collide_meshes(query, mesh[0], &a.start, mesh[1], &b.start, NULL, &start), GRAZE_OK);
    assert_int_equal(graze_motion_meshes(query, &a, &b, NULL, &result), GRAZE_OK);
    const bool meet = start.hit || features_meet((const double(*)[108])corners, (const graze_pose(*)[2])ends);
    assert_int_equal(result.verdict, meet ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
    met += meet;
    missed += !meet;
    for (int i = 0; i < 2; i++) graze_mesh_destroy(mesh[i]);
  }
  assert_true(met > 0 && missed > 0);
  graze_query_destroy(query);
}

/* Frames that stretch: what is free has no sample that meets. */
static void test_stretched(void **state) {
  (void)state;
  enum { SAMPLES = 16 };
  graze_query *query = query_of(1);
  uint64_t random = test_seed(6);
  graze_mesh *boxes[2] = {box_mesh(1, 0.5, 0.2), box_mesh(0.4, 0.4, 1)};
  int verdicts[3] = {0};
  for (int round = test_rounds(300, 30000); round-- > 0;) {
    graze_motion_body body[2];
    graze_motion_result result;
    for (int i = 0; i < 2; i++) {
      body[i] = (graze_motion_body){boxes[i], test_random_pose(&random, 1.5), graze_pose_identity()};
      for (int k = 0; k < 12; k++) {
        if (k % 4 != 3) body[i].start.m[k] *= k % 4 == round % 3 ? 3 : 1;
        body[i].end.m[k] = body[i].start.m[k] + 0.1 * random_signed(&random);
      }
    }
    assert_int_equal(graze_motion_meshes(query, &body[0], &body[1], NULL, &result), GRAZE_OK);
    verdicts[result.verdict]++;
    for (int n = 0; n <= SAMPLES && result.verdict == GRAZE_MOTION_FREE; n++) {
      graze_collide_result found;
      graze_pose pose[2];
      for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 12; k++)
          pose[i].m[k] = (SAMPLES - n) / 16.0 * body[i].start.m[k] + n / 16.0 * body[i].end.m[k];
      }
      assert_int_equal(graze_collide_meshes(query, boxes[0], &pose[0], boxes[1], &pose[1], NULL, &found), GRAZE_OK);
      assert_false(found.hit);
    }
  }
  assert_true(verdicts[GRAZE_MOTION_FREE] > 0 && verdicts[GRAZE_MOTION_HIT] > 0);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(boxes[i]);
  graze_query_destroy(query);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bend),        cmocka_unit_test(test_bend_is_tight), cmocka_unit_test(test_planes),
      cmocka_unit_test(test_planes_keep), cmocka_unit_test(test_lists),         cmocka_unit_test(test_bulges),
      cmocka_unit_test(test_losses),      cmocka_unit_test(test_flush),         cmocka_unit_test(test_stretched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
