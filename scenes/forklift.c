/* A forklift from boxes, bars, turned parts and one loft. Measures are multiples of 2^-8 m, so that flat faces are
 * exactly flat after posing by half a turn. Parts keep 2^-8 m (4 mm) or more from each other: every part is closed, and
 * the mesh does not meet itself. */
#include "forklift.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "circle.h"
#include "shapes.h"

const double forklift_fork_width = 0.125, forklift_fork_middle = 0.25, forklift_fork_tip = 1.75,
             forklift_fork_shank = 0.6328125;

enum { cuts_per_metre = 6, corners_of_wheel = 24 };

typedef struct forklift {
  builder *build;
  uint32_t level;
} forklift;

/* Into how many pieces a length is cut. */
static uint32_t cut(const forklift *lift, double length) {
  return (uint32_t)ceil(length * cuts_per_metre * lift->level);
}

/* Starts a part; of a part that stands on both sides, `side` is 1 (left, +y) or -1 (right); else 0. */
static void begin_part(const forklift *lift, const char *name, int side) {
  char full[32];
  snprintf(full, sizeof full, "%s%s", name, side > 0 ? "_left" : side < 0 ? "_right" : "");
  builder_part(lift->build, full);
}

/* ---- straight parts --------------------------------------------------------------------------------------- */

typedef struct tapered_box { /* two rectangles in x and y, at two heights */
  const char *name;
  bool both_sides; /* given for the left; mirrored for the right */
  double low_z, low[4];
  double high_z, high[4]; /* min x, max x, min y, max y; all zero: as below */
} tapered_box;

static const tapered_box tapered_boxes[] = {
    {"chassis", false, 0.1875, {-1.25, 0.25, -0.375, 0.375}, 0.625, {0}},
    {"floor", false, 0.62890625, {-0.43359375, 0.25, -0.375, 0.375}, 0.66015625, {0}},
    {"hood", false, 0.62890625, {-1.25, -0.4375, -0.5, 0.5}, 1, {-1.25, -0.46875, -0.5, 0.5}},
    {"fender", true, 0.703125, {-0.375, 0.34375, 0.390625, 0.609375}, 0.734375, {0}},
    {"step", true, 0.25, {-0.875, -0.40625, 0.37890625, 0.5625}, 0.296875, {0}},
    {"dash", false, 0.6640625, {0.078125, 0.25, -0.34375, 0.34375}, 1.03125, {0.109375, 0.203125, -0.3125, 0.3125}},
    {"cushion",
     false,
     1.00390625,
     {-0.90625, -0.484375, -0.25, 0.25},
     1.109375,
     {-0.90625, -0.453125, -0.234375, 0.234375}},
    {"backrest", false, 1.11328125, {-0.921875, -0.828125, -0.25, 0.25}, 1.5625, {-1.03125, -0.96875, -0.1875, 0.1875}},
    {"outer_rail", true, 0.09375, {0.390625, 0.5, 0.328125, 0.40625}, 2.125, {0}},
    {"inner_rail", true, 0.125, {0.40625, 0.515625, 0.25, 0.32421875}, 2.078125, {0}},
    {"mast_foot", false, 0.203125, {0.359375, 0.38671875, -0.40625, 0.40625}, 0.328125, {0}},
    {"mast_middle", false, 1.09375, {0.359375, 0.38671875, -0.40625, 0.40625}, 1.171875, {0}},
    {"mast_head", false, 2.015625, {0.359375, 0.38671875, -0.40625, 0.40625}, 2.109375, {0}},
    {"carriage_low", false, 0.1875, {0.53125, 0.578125, -0.46875, 0.46875}, 0.28125, {0}},
    {"carriage_high", false, 0.5, {0.53125, 0.578125, -0.46875, 0.46875}, 0.59375, {0}},
    {"rest_top", false, 1.3046875, {0.53125, 0.5703125, -0.46875, 0.46875}, 1.3515625, {0}},
    {"rest_middle", false, 0.59765625, {0.53515625, 0.56640625, -0.015625, 0.015625}, 1.30078125, {0}},
    {"rest_inner", true, 0.59765625, {0.53515625, 0.56640625, 0.203125, 0.234375}, 1.30078125, {0}},
    {"rest_outer", true, 0.59765625, {0.53515625, 0.56640625, 0.421875, 0.453125}, 1.30078125, {0}},
    {"roof_beam", true, 2.0546875, {-1.125, -0.1875, 0.421875, 0.5}, 2.109375, {0}},
};

static void build_tapered_box(const forklift *lift, const tapered_box *box, int side) {
  const double *high = box->high_z > 0 && box->high[0] == box->high[1] ? box->low : box->high;
  double corners[8][3];
  for (int c = 0; c < 8; c++) {
    const double *sides = c & 4 ? high : box->low;
    corners[c][0] = sides[c & 1];
    corners[c][1] = side < 0 ? -sides[2 + !(c >> 1 & 1)] : sides[2 + (c >> 1 & 1)];
    corners[c][2] = c & 4 ? box->high_z : box->low_z;
  }
  const uint32_t cuts[3] = {cut(lift, box->low[1] - box->low[0]), cut(lift, box->low[3] - box->low[2]),
                            cut(lift, box->high_z - box->low_z)};
  begin_part(lift, box->name, side);
  shape_block(lift->build, (const double(*)[3])corners, cuts);
}

static void build_tapered_boxes(const forklift *lift) {
  for (size_t i = 0; i < sizeof tapered_boxes / sizeof tapered_boxes[0]; i++) {
    const tapered_box *box = &tapered_boxes[i];
    build_tapered_box(lift, box, box->both_sides ? 1 : 0);
    if (box->both_sides) build_tapered_box(lift, box, -1);
  }
}

/* Slats between the roof beams. */
static void build_roof(const forklift *lift) {
  for (int i = 0; i < 8; i++) {
    double x = -1.0625 + i * 0.109375;
    char name[32];
    snprintf(name, sizeof name, "slat_%d", i + 1);
    tapered_box slat = {name, false, 2.0625, {x, x + 0.046875, -0.41796875, 0.41796875}, 2.09375, {0}};
    build_tapered_box(lift, &slat, 0);
  }
}

/* Shank down, mitre, blade forward, thin tip. */
static void build_fork(const forklift *lift, int side) {
  const double back[4][2] = {{0.58203125, 0.59375}, {0.58203125, 0.125}, {1.375, 0.125}, {forklift_fork_tip, 0.125}};
  const double front[4][2] = {{forklift_fork_shank, 0.59375},
                              {forklift_fork_shank, 0.171875},
                              {1.375, 0.171875},
                              {forklift_fork_tip, 0.140625}};
  const double low_y = side * forklift_fork_middle - forklift_fork_width / 2, high_y = low_y + forklift_fork_width;
  double sections[4][4][3];
  for (int s = 0; s < 4; s++) {
    for (int c = 0; c < 4; c++) {
      const double *at = c < 2 ? back[s] : front[s];
      sections[s][c][0] = at[0];
      sections[s][c][1] = c == 1 || c == 2 ? high_y : low_y;
      sections[s][c][2] = at[1];
    }
  }
  const uint32_t cuts[3] = {cut(lift, 0.5), cut(lift, forklift_fork_width), cut(lift, 0.0625)};
  begin_part(lift, "fork", side);
  shape_bar(lift->build, 4, (const double(*)[4][3])sections, cuts);
}

/* A square bar upwards through middles (x, y, z). */
static void build_pillar(const forklift *lift, const char *name, int side, uint32_t count, const double (*middles)[3]) {
  double sections[3][4][3];
  for (uint32_t s = 0; s < count; s++) {
    for (int c = 0; c < 4; c++) {
      sections[s][c][0] = middles[s][0] + (c == 1 || c == 2 ? 0.03125 : -0.03125);
      sections[s][c][1] = side * middles[s][1] + (c >= 2 ? 0.03125 : -0.03125);
      sections[s][c][2] = middles[s][2];
    }
  }
  const uint32_t cuts[3] = {cut(lift, 0.75), cut(lift, 0.0625), cut(lift, 0.0625)};
  begin_part(lift, name, side);
  shape_bar(lift->build, count, (const double(*)[4][3])sections, cuts);
}

static void build_pillars(const forklift *lift) {
  static const double front[3][3] = {
      {0.125, 0.5625, 0.73828125}, {0.0625, 0.53125, 1.3125}, {-0.25, 0.4609375, 2.05078125}};
  static const double rear[2][3] = {{-1.1875, 0.4609375, 1.00390625}, {-1.0625, 0.4609375, 2.05078125}};
  for (int side = 1; side >= -1; side -= 2) {
    build_pillar(lift, "front_pillar", side, 3, front);
    build_pillar(lift, "rear_pillar", side, 2, rear);
  }
}

/* ---- round parts ------------------------------------------------------------------------------------------- */

/* Turns a profile after cutting its lines like every other length. */
static void turn(const forklift *lift, const shape_frame *frame, uint32_t count, const double (*profile)[2],
                 uint32_t corners) {
  size_t points = 1;
  for (uint32_t p = 0; p + 1 < count; p++)
    points += cut(lift, fabs(profile[p + 1][0] - profile[p][0]) + fabs(profile[p + 1][1] - profile[p][1]));
  double(*fine)[2] = malloc(points * sizeof *fine);
  if (!fine) {
    lift->build->failed = true;
    return;
  }
  uint32_t made = 0;
  for (uint32_t p = 0; p + 1 < count; p++) {
    uint32_t cuts = cut(lift, fabs(profile[p + 1][0] - profile[p][0]) + fabs(profile[p + 1][1] - profile[p][1]));
    for (uint32_t i = 0; i < cuts; i++, made++) {
      for (int k = 0; k < 2; k++) fine[made][k] = profile[p][k] + (profile[p + 1][k] - profile[p][k]) * i / cuts;
    }
  }
  fine[made][0] = profile[count - 1][0];
  fine[made][1] = profile[count - 1][1];
  shape_turned(lift->build, frame, made + 1, (const double(*)[2])fine, corners * lift->level);
  free(fine);
}

/* The tyre, the rim set back, the hub. The wheel's own axis points outwards from the truck. */
static void build_wheel(const forklift *lift, const char *name, int side, double x, double inner_y, double radius,
                        double width) {
  const double r = radius, w = width;
  const double profile[][2] = {{r * 0.25, 0},    {r * 0.9375, 0}, {r, w * 0.1875},        {r, w * 0.8125},
                               {r * 0.9375, w},  {r * 0.625, w},  {r * 0.5625, w * 0.75}, {r * 0.25, w * 0.75},
                               {r * 0.21875, w}, {r * 0.125, w}};
  const shape_frame frame = {{x, side * inner_y, radius}, {side, 0, 0}, {0, 0, -1}, {0, side, 0}};
  begin_part(lift, name, side);
  turn(lift, &frame, sizeof profile / sizeof profile[0], profile, corners_of_wheel);
}

/* An upright cylinder. */
static void build_post(const forklift *lift, const char *name, int side, const double at[3], double radius,
                       double height) {
  const double profile[][2] = {{radius, 0}, {radius, height}};
  const shape_frame frame = {{at[0], at[1], at[2]}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  begin_part(lift, name, side);
  turn(lift, &frame, 2, profile, 12);
}

static void build_beacon(const forklift *lift) {
  const double profile[][2] = {{0.046875, 0},       {0.046875, 0.015625}, {0.03125, 0.015625},
                               {0.03125, 0.078125}, {0.0234375, 0.09375}, {0.0078125, 0.1015625}};
  const shape_frame frame = {{-1.046875, 0.4609375, 2.11328125}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  begin_part(lift, "beacon", 0);
  turn(lift, &frame, 6, profile, 12);
}

/* The gas bottle lies across the counterweight. */
static void build_tank(const forklift *lift) {
  const double profile[][2] = {{0.03125, 0},        {0.09375, 0.015625}, {0.140625, 0.0625},  {0.15625, 0.109375},
                               {0.15625, 0.640625}, {0.140625, 0.6875},  {0.09375, 0.734375}, {0.03125, 0.75}};
  const shape_frame frame = {{-1.53125, -0.375, 1.1640625}, {1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
  begin_part(lift, "tank", 0);
  turn(lift, &frame, 8, profile, 16);
}

/* The steering wheel leans back by a 3-4-5 triangle: wheel, hub, three spokes, column. */
static void build_steering(const forklift *lift) {
  const shape_frame wheel = {{-0.125, 0, 1.125}, {0.8, 0, 0.6}, {0, 1, 0}, {-0.6, 0, 0.8}};
  begin_part(lift, "steering_wheel", 0);
  shape_torus(lift->build, &wheel, 0.171875, 0.015625, 24 * lift->level, 8 * lift->level);
  const double hub[][2] = {{0.046875, -0.015625}, {0.046875, 0.015625}, {0.03125, 0.0234375}};
  begin_part(lift, "steering_hub", 0);
  turn(lift, &wheel, 3, hub, 12);
  const double column[][2] = {{0.0234375, -0.234375}, {0.0234375, -0.01953125}};
  begin_part(lift, "steering_column", 0);
  turn(lift, &wheel, 2, column, 8);
  const double spoke[][2] = {{0.0078125, 0.0546875}, {0.0078125, 0.1484375}};
  const shape_frame spokes[3] = {{{-0.125, 0, 1.125}, {0.8, 0, 0.6}, {0.6, 0, -0.8}, {0, 1, 0}},
                                 {{-0.125, 0, 1.125}, {0.8, 0, 0.6}, {-0.6, 0, 0.8}, {0, -1, 0}},
                                 {{-0.125, 0, 1.125}, {0, 1, 0}, {0.6, 0, -0.8}, {-0.8, 0, -0.6}}};
  for (int i = 0; i < 3; i++) {
    char name[32];
    snprintf(name, sizeof name, "spoke_%d", i + 1);
    begin_part(lift, name, 0);
    turn(lift, &spokes[i], 2, spoke, 6);
  }
}

/* ---- the counterweight: straight in front, half an ellipse behind ------------------------------------------- */

typedef struct rounded_slab {
  double front_x, side_x, rear_x, half_width;
  double low_z, high_z;
} rounded_slab;

/* Point `i` of 8 * quarter: front edge from right to left, left side, ellipse, right side; `shrink` draws it in. */
static void slab_point(const rounded_slab *slab, uint32_t i, uint32_t quarter, double shrink, double z,
                       double point[3]) {
  uint32_t edge = i / quarter;
  double t = (double)(i % quarter) / quarter, x, y;
  if (edge < 2) {
    x = slab->front_x;
    y = slab->half_width * (edge + t - 1);
  } else if (edge == 2 || edge == 7) {
    double along = edge == 2 ? t : 1 - t;
    x = slab->front_x + (slab->side_x - slab->front_x) * along;
    y = edge == 2 ? slab->half_width : -slab->half_width;
  } else {
    double cosine, sine;
    circle_point(i - 3 * quarter, 8 * quarter, &cosine, &sine);
    x = slab->side_x + (slab->rear_x - slab->side_x) * sine;
    y = slab->half_width * cosine;
  }
  double middle = 0.5 * (slab->front_x + slab->rear_x);
  point[0] = middle + (x - middle) * shrink;
  point[1] = y * shrink;
  point[2] = z;
}

static void build_slab(const forklift *lift, const char *name, const rounded_slab *slab) {
  uint32_t quarter = 2 * lift->level, count = 8 * quarter, inward = cut(lift, 0.25);
  uint32_t upward = cut(lift, slab->high_z - slab->low_z), ring_count = 2 * inward + upward + 1;
  double(*rings)[3] = malloc((size_t)ring_count * count * sizeof *rings);
  if (!rings) {
    lift->build->failed = true;
    return;
  }
  for (uint32_t r = 0; r < ring_count; r++) {
    double shrink = 1, up = 0;
    if (r < inward)
      shrink = (double)(r + 1) / (inward + 1);
    else if (r <= inward + upward)
      up = (double)(r - inward) / upward;
    else
      up = 1, shrink = (double)(ring_count - r) / (inward + 1);
    double z = slab->low_z + (slab->high_z - slab->low_z) * up;
    for (uint32_t i = 0; i < count; i++) slab_point(slab, i, quarter, shrink, z, rings[r * count + i]);
  }
  double middle = 0.5 * (slab->front_x + slab->rear_x);
  const double poles[2][3] = {{middle, 0, slab->low_z}, {middle, 0, slab->high_z}};
  begin_part(lift, name, 0);
  shape_rings(lift->build, ring_count, count, (const double(*)[3])rings, poles[0], poles[1]);
  free(rings);
}

void forklift_build(builder *build, uint32_t level) {
  const forklift lift = {build, level};
  const rounded_slab lower = {-1.25390625, -1.5, -1.84375, 0.375, 0.1875, 0.55859375};
  const rounded_slab upper = {-1.25390625, -1.5, -1.90625, 0.5625, 0.5625, 1};
  const double lift_cylinders[2][3] = {{0.453125, 0.125, 0.140625}, {0.453125, -0.125, 0.140625}};
  build_tapered_boxes(&lift);
  build_roof(&lift);
  build_pillars(&lift);
  for (int side = 1; side >= -1; side -= 2) {
    build_fork(&lift, side);
    build_wheel(&lift, "front_wheel", side, 0, 0.390625, 0.34375, 0.21875);
    build_wheel(&lift, "rear_wheel", side, -1.3125, 0.3984375, 0.265625, 0.171875);
    build_post(&lift, "lift_cylinder", side, lift_cylinders[side < 0], 0.0390625, 1.8125);
  }
  build_slab(&lift, "counterweight_low", &lower);
  build_slab(&lift, "counterweight_high", &upper);
  build_tank(&lift);
  build_steering(&lift);
  build_beacon(&lift);
  builder_weld(build);
}
