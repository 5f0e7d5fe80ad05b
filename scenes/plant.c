/* A process plant. It grows bay by bay, row by row, until it has as many objects as were asked for; the last bay may
 * stay unfinished. A bay is 12 m by 16 m:
 *
 *   y 0 .. 4.5    a pipe rack along x: three frames, five pipes on its lower level, two cable trays on the upper one
 *   y 5           where branches from the pipes come down
 *   y 5.5 .. 16   two plots, each with a vessel, a tank, a drum, a steel structure or pumps
 *
 * Nothing touches: parts that belong together stop `gap` (3.9 mm) or, along a pipe, `seam` (2 mm) short of each other.
 * All measures and places are multiples of 1/1024 m and all turns but those of the pumps map axes to axes, so that
 * posing rounds nothing and these gaps are kept to the last bit. Round parts have a corner on each axis, which is where
 * others come near them. Heights are absolute, x and y count from the bay's corner. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "circle.h"
#include "kinds.h"
#include "parts.h"
#include "planted.h"
#include "random.h"

static const double gap = 0x1p-8, seam = 0x1p-9;

static const double bay_length = 12, bay_width = 16, bay_pitch = 20;

enum { usual_bay = 160 /* objects */, lane_count = 5, plot_count = 2 };

/* Sizes of pipes. A flange has the pipe's bore. */
typedef struct pipe_size {
  double radius, bore, flange, thickness, bend;
} pipe_size;

enum { pipe_dn50, pipe_dn100, pipe_dn200, pipe_dn300, pipe_sizes };

static const pipe_size pipes[pipe_sizes] = {
    [pipe_dn50] = {0.03125, 0.0234375, 0.078125, 0.015625, 0.125},
    [pipe_dn100] = {0.0625, 0.046875, 0.125, 0.03125, 0.1875},
    [pipe_dn200] = {0.109375, 0.09375, 0.171875, 0.03125, 0.3125},
    [pipe_dn300] = {0.15625, 0.140625, 0.234375, 0.046875, 0.46875},
};

typedef struct plant {
  parts shelf;
  random_stream random;
  double corner[2]; /* of the bay */
  uint32_t column;  /* of the bay in its row */
  uint32_t left;    /* objects that are still to be placed */
  uint32_t racks, lines, trays, slabs, vessels, tanks, drums, structures, pumps; /* so many so far */
  const pipe_size *lanes[lane_count];                                            /* of the row */
  bool failed;
} plant;

/* Where a pipe is to end at a piece of equipment: its flange faces +y there. */
typedef struct port {
  bool wanted;
  const pipe_size *size;
  double at[3];
} port;

/* ---- placing ------------------------------------------------------------------------------------------------- */

static void place_posed(plant *p, const char *layer, solid what, const double pose[12], const char *format,
                        va_list words) {
  char name[48];
  uint32_t mesh;
  if (p->left == 0 || p->failed) return;
  vsnprintf(name, sizeof name, format, words);
  p->left--;
  if (!parts_find(&p->shelf, &what, &mesh) || !scene_add_object(p->shelf.scene, name, layer, mesh, pose))
    p->failed = true;
}

static void place(plant *p, const char *layer, solid what, turn how, double x, double y, double z, const char *format,
                  ...) __attribute__((format(printf, 8, 9)));

static void place(plant *p, const char *layer, solid what, turn how, double x, double y, double z, const char *format,
                  ...) {
  double pose[12];
  va_list words;
  turn_pose(how, (const double[3]){p->corner[0] + x, p->corner[1] + y, z}, pose);
  va_start(words, format);
  place_posed(p, layer, what, pose, format, words);
  va_end(words);
}

static solid box(double x, double y, double z) {
  return (solid){solid_box, {x, y, z, 0}};
}

static solid beam(double width, double height, double length) {
  return (solid){solid_beam, {width, height, length, 0}};
}

static double pick(plant *p, uint32_t count, const double *choices) {
  return choices[stream_below(&p->random, count)];
}

/* ---- pipes --------------------------------------------------------------------------------------------------- */

typedef struct line { /* a pipe of many pieces */
  const pipe_size *size;
  uint32_t number;
  uint32_t straights, elbows, flanges, shoes, valves;
} line;

static line begin_line(plant *p, const pipe_size *size) {
  return (line){.size = size, .number = ++p->lines};
}

static const turn along[3] = {{{1, 2, 3}}, {{2, 3, 1}}, {{3, 1, 2}}};

static void place_straight(plant *p, line *l, int axis, const double from[3], double length) {
  const solid what = {solid_pipe, {l->size->radius, l->size->bore, length, 0}};
  place(p, "pipes", what, along[axis], from[0], from[1], from[2], "pipe %u/straight %u", l->number, ++l->straights);
}

static void place_flange(plant *p, line *l, int axis, const double from[3]) {
  const solid what = {solid_pipe, {l->size->flange, l->size->bore, l->size->thickness, 0}};
  place(p, "pipes", what, along[axis], from[0], from[1], from[2], "pipe %u/flange %u", l->number, ++l->flanges);
}

/* A straight piece between two places on a line along an axis, with a flange at each end that is asked for. */
static void place_spool(plant *p, line *l, int axis, const double from[3], double to, bool flange_low,
                        bool flange_high) {
  const double thickness = l->size->thickness;
  double at[3] = {from[0], from[1], from[2]};
  if (flange_low) {
    place_flange(p, l, axis, at);
    at[axis] += thickness + seam;
  }
  if (flange_high) to -= thickness + seam;
  place_straight(p, l, axis, at, to - at[axis]);
  at[axis] = to + seam;
  if (flange_high) place_flange(p, l, axis, at);
}

/* The axis along which two places differ; the sign says which way. */
static int leg_axis(const double from[3], const double to[3], int *sign) {
  int axis = 0;
  while (axis < 2 && from[axis] == to[axis]) axis++;
  *sign = to[axis] > from[axis] ? 1 : -1;
  return axis;
}

static void place_elbow(plant *p, line *l, const double before[3], const double at[3], const double after[3]) {
  int sign_in, sign_out, in = leg_axis(before, at, &sign_in), out = leg_axis(at, after, &sign_out);
  int across = 3 - in - out, sign = out == (in + 1) % 3 ? sign_in * sign_out : -sign_in * sign_out;
  const turn how = {{(int8_t)(sign_in * (in + 1)), (int8_t)(sign_out * (out + 1)), (int8_t)(sign * (across + 1))}};
  const solid what = {solid_elbow, {l->size->radius, l->size->bore, l->size->bend, 0}};
  double start[3] = {at[0], at[1], at[2]};
  start[in] -= sign_in * l->size->bend;
  place(p, "pipes", what, how, start[0], start[1], start[2], "pipe %u/elbow %u", l->number, ++l->elbows);
}

/* Straights between the corners, elbows in them, and a flange at the end. Each leg must be longer than its elbows. */
static void place_route(plant *p, line *l, uint32_t count, const double (*points)[3]) {
  const double taken = l->size->bend + seam;
  for (uint32_t i = 0; i + 1 < count; i++) {
    const bool last = i + 2 == count;
    int sign, axis = leg_axis(points[i], points[i + 1], &sign);
    double from[3] = {points[i][0], points[i][1], points[i][2]}, to = points[i + 1][axis];
    if (i > 0) from[axis] += sign * taken;
    if (!last) to -= sign * taken;
    if (sign < 0) {
      double start = from[axis];
      from[axis] = to;
      to = start;
    }
    place_spool(p, l, axis, from, to, last && sign < 0, last && sign > 0);
    if (!last) place_elbow(p, l, points[i], points[i + 1], points[i + 2]);
  }
}

/* ---- the rack ------------------------------------------------------------------------------------------------ */

/* Plinth, base plate and column up to `top`, about (x, y). */
static void place_post(plant *p, const char *owner, uint32_t owner_number, uint32_t number, double x, double y,
                       double top) {
  const double plinth = 0.25, plate = 0.03125;
  double z = gap;
  place(p, "concrete", box(0.5, 0.5, plinth), turn_none, x - 0.25, y - 0.25, z, "%s %u/plinth %u", owner, owner_number,
        number);
  z += plinth + gap;
  place(p, "steel", box(0.375, 0.375, plate), turn_none, x - 0.1875, y - 0.1875, z, "%s %u/base plate %u", owner,
        owner_number, number);
  z += plate + gap;
  place(p, "steel", beam(0.25, 0.25, top - z), turn_upright, x, y - 0.125, z, "%s %u/column %u", owner, owner_number,
        number);
}

/* Levels carry pipes at z = 4 and trays at z = 6; beams along the rack lie between and above them. */
static void place_rack(plant *p) {
  const double across = 3 - 0.25 - 2 * gap, lengthwise = 4 - 0.25 - 2 * gap, half = 0.125 + gap;
  uint32_t number = ++p->racks, posts = 0, beams = 0;
  for (int frame = 0; frame < 3; frame++) {
    const double x = 2 + 4 * frame;
    place_post(p, "rack", number, ++posts, x, 1, 7);
    place_post(p, "rack", number, ++posts, x, 4, 7);
    for (int level = 0; level < 2; level++)
      place(p, "steel", beam(0.125, 0.25, across), turn_quarter, x, 1 + half, 3.75 + 2 * level, "rack %u/beam %u",
            number, ++beams);
    if (frame == 0 && p->column == 0) continue; /* no frame before this one */
    for (int side = 0; side < 4; side++)
      place(p, "steel", beam(0.125, 0.25, lengthwise), turn_none, x - 4 + half, side % 2 ? 4 : 1, side < 2 ? 4.75 : 6.5,
            "rack %u/beam %u", number, ++beams);
  }
}

static const double lane_height = 4.25;

static double lane_y(int lane) {
  return 1.5 + 0.5 * lane;
}

/* Body, stem and wheel of a valve in the line, about x. */
static void place_valve(plant *p, line *l, double x, double y, double length) {
  const double radius = (l->size->radius + l->size->flange) / 2, stem = 0.25, tube = 0.015625;
  const double stem_foot = lane_height + radius + gap;
  uint32_t number = ++l->valves;
  place(p, "pipes", (solid){solid_rod, {radius, length, 0, 0}}, turn_none, x - length / 2, y, lane_height,
        "pipe %u/valve %u", l->number, number);
  place(p, "pipes", (solid){solid_rod, {tube, stem, 0, 0}}, turn_upright, x, y, stem_foot, "pipe %u/stem %u", l->number,
        number);
  place(p, "pipes", (solid){solid_wheel, {0.109375, tube, 0, 0}}, turn_none, x, y, stem_foot + stem + gap + tube,
        "pipe %u/wheel %u", l->number, number);
}

/* A pipe through the bay on shoes. Its joints stand at odd x, away from frames (2, 6, 10) and branches (4, 8). */
static void place_lane(plant *p, int lane) {
  const double y = lane_y(lane), valve = 0.25;
  line l = begin_line(p, p->lanes[lane]);
  double from = seam / 2;
  for (int joint = 1; joint <= 12; joint += 2) {
    const bool end = joint > 11;
    const double x = end ? bay_length : joint;
    if (!end && stream_below(&p->random, 3) > 0) continue;
    const bool with_valve = !end && stream_below(&p->random, 4) == 0;
    const double half = with_valve ? valve / 2 + seam : seam / 2;
    place_spool(p, &l, 0, (const double[3]){from, y, lane_height}, x - half, true, true);
    if (with_valve) place_valve(p, &l, x, y, valve);
    from = x + half;
  }
  place_spool(p, &l, 0, (const double[3]){from, y, lane_height}, bay_length - seam / 2, true, true);
  const double height = lane_height - 4 - l.size->radius - 2 * gap, width = l.size->radius;
  for (int frame = 0; frame < 3; frame++)
    place(p, "steel", box(0.125, width, height), turn_none, 2 + 4 * frame - 0.0625, y - width / 2, 4 + gap,
          "pipe %u/shoe %u", l.number, ++l.shoes);
}

/* From the top of a lane's pipe up, over the others, down at y = 5, and to the port. */
static void place_branch(plant *p, int lane, double x, const port *to) {
  const double y = lane_y(lane), start = lane_height + p->lanes[lane]->radius + seam;
  const double points[6][3] = {{x, y, start},
                               {x, y, 5.25},
                               {x, 5, 5.25},
                               {x, 5, to->at[2]},
                               {to->at[0], 5, to->at[2]},
                               {to->at[0], to->at[1], to->at[2]}};
  line l = begin_line(p, to->size);
  place_route(p, &l, 6, points);
}

static void place_trays(plant *p) {
  const double sheet = 0.0078125, radius = 0.03125, floor = 6 + gap;
  for (int lane = 0; lane < 2; lane++) {
    const double y = 1.75 + lane;
    uint32_t number = ++p->trays;
    for (int piece = 0; piece < 4; piece++)
      place(p, "trays", (solid){solid_channel, {0.5, 0.125, sheet, 3 - seam}}, turn_none, 3 * piece + seam / 2, y,
            floor, "tray %u/piece %d", number, piece + 1);
    for (int cable = 0; cable < 3; cable++)
      place(p, "trays", (solid){solid_rod, {radius, bay_length - seam, 0, 0}}, turn_none, seam / 2,
            y + 0.125 * (cable - 1), floor + sheet + gap + radius, "tray %u/cable %d", number, cable + 1);
  }
}

/* ---- equipment ----------------------------------------------------------------------------------------------- */

/* A pipe and a flange out of a wall at (x, y, z) towards -y, which become a port. */
static port place_nozzle(plant *p, const char *owner, uint32_t number, double x, double y, double z) {
  const pipe_size *size = &pipes[stream_below(&p->random, pipe_dn300)];
  const double length = 0.25, pipe_end = y - gap - length, face = pipe_end - seam - size->thickness;
  place(p, "equipment", (solid){solid_pipe, {size->radius, size->bore, length, 0}}, turn_cycle, x, pipe_end, z,
        "%s %u/nozzle", owner, number);
  place(p, "equipment", (solid){solid_pipe, {size->flange, size->bore, size->thickness, 0}}, turn_cycle, x, face, z,
        "%s %u/nozzle flange", owner, number);
  return (port){true, size, {x, face - seam, z}};
}

/* An upright pipe above the height z with a flange and a blind flange. */
static void place_manway(plant *p, const char *owner, uint32_t number, const pipe_size *size, double x, double y,
                         double z) {
  const double length = 0.25, flange = z + gap + length + seam, blind = flange + size->thickness + seam;
  place(p, "equipment", (solid){solid_pipe, {size->radius, size->bore, length, 0}}, turn_upright, x, y, z + gap,
        "%s %u/manway", owner, number);
  place(p, "equipment", (solid){solid_pipe, {size->flange, size->bore, size->thickness, 0}}, turn_upright, x, y, flange,
        "%s %u/manway flange", owner, number);
  place(p, "equipment", (solid){solid_rod, {size->flange, size->thickness, 0, 0}}, turn_upright, x, y, blind,
        "%s %u/blind flange", owner, number);
}

/* Platform, rail and brackets beside a round wall that ends at x. The ladder goes up between the brackets. */
static void place_platform(plant *p, uint32_t number, double x, double y, double z) {
  const double depth = 0.125;
  place(p, "steel", (solid){solid_grating, {6, 8, 0, 0}}, turn_none, x + 0.5, y - 0.5078125, z, "vessel %u/platform",
        number);
  place(p, "steel", (solid){solid_rail, {1, 0, 0, 0}}, turn_quarter, x + 1.25, y - 0.5, z + 0.03125 + gap,
        "vessel %u/rail", number);
  for (int side = 0; side < 2; side++)
    place(p, "steel", box(1.25 - gap, 0.0625, depth), turn_none, x + gap, y + (side ? 0.34375 : -0.40625),
          z - gap - depth, "vessel %u/bracket %d", number, side + 1);
}

/* The skirt is a little wider than the shell and laps over the lower head. */
static port place_vessel(plant *p, double x) {
  static const double radii[] = {0.75, 1, 1.25, 1.5};
  const double radius = pick(p, 4, radii), height = 4 + stream_below(&p->random, 6), y = 10.5;
  const double foot = 0.5 + 2 * gap, weld = foot + 1.375, play = 0.015625, side = 2 * radius + 0.75;
  uint32_t number = ++p->vessels;
  place(p, "concrete", box(side, side, 0.5), turn_none, x - side / 2, y - side / 2, gap, "vessel %u/plinth", number);
  place(p, "equipment", (solid){solid_pipe, {radius + 2 * play, radius + play, 1.5, 0}}, turn_upright, x, y, foot,
        "vessel %u/skirt", number);
  place(p, "equipment", (solid){solid_vessel, {radius, height, 0, 0}}, turn_none, x, y, weld, "vessel %u/shell",
        number);
  place_manway(p, "vessel", number, &pipes[stream_below(&p->random, pipe_sizes)], x, y, weld + height + radius / 2);
  place(p, "steel", (solid){solid_ladder, {height + 1, 0, 0, 0}}, turn_none, x + radius + 0.25, y, foot,
        "vessel %u/ladder", number);
  place_platform(p, number, x + radius, y, weld + height - 0.5);
  return place_nozzle(p, "vessel", number, x, y - radius, weld + 0.75);
}

static port place_tank(plant *p, double x) {
  static const double radii[] = {1.5, 2, 2.25};
  const double radius = pick(p, 3, radii), height = 3 + stream_below(&p->random, 3), y = 10, foot = 0.25 + 2 * gap;
  uint32_t number = ++p->tanks;
  place(p, "concrete", (solid){solid_rod, {radius + 0.25, 0.25, 0, 0}}, turn_upright, x, y, gap, "tank %u/foundation",
        number);
  place(p, "equipment", (solid){solid_tank, {radius, height, 0.0625, 0}}, turn_none, x, y, foot, "tank %u/shell",
        number);
  place_manway(p, "tank", number, &pipes[pipe_dn100], x, y, foot + height + radius / 8);
  place(p, "steel", (solid){solid_ladder, {height - 0.25, 0, 0, 0}}, turn_none, x + radius + 0.125, y, foot,
        "tank %u/ladder", number);
  return place_nozzle(p, "tank", number, x, y - radius, foot + 0.75);
}

static port place_drum(plant *p, double x) {
  static const double radii[] = {0.75, 1};
  const double radius = pick(p, 2, radii), length = 4 + stream_below(&p->random, 2), y = 8, z = 2.25, plinth = 1;
  const double foot = plinth + 2 * gap, play = 0.03125;
  uint32_t number = ++p->drums;
  place(p, "equipment", (solid){solid_vessel, {radius, length, 0, 0}}, turn_upright, x, y, z, "drum %u/shell", number);
  for (int end = 0; end < 2; end++) {
    const double at = end ? y + length - 0.75 : y + 0.75;
    place(p, "concrete", box(2 * radius, 0.5, plinth), turn_none, x - radius, at - 0.25, gap, "drum %u/plinth %d",
          number, end + 1);
    place(p, "steel", (solid){solid_saddle, {radius + play, z - foot, 0.25, 0}}, turn_quarter, x, at, foot,
          "drum %u/saddle %d", number, end + 1);
  }
  place_manway(p, "drum", number, &pipes[pipe_dn300], x, y + length / 2, z + radius);
  return place_nozzle(p, "drum", number, x, y - radius / 2, z);
}

/* Four columns, beams, a floor of gratings at z = 4 with a small vessel on it. */
static void place_structure(plant *p, double x) {
  const double half = 0.125 + gap, floor = 4 + gap, top = floor + 0.03125 + gap, skid = 0.125;
  uint32_t number = ++p->structures;
  for (uint32_t post = 0; post < 4; post++)
    place_post(p, "structure", number, post + 1, x - 2 + 4 * (post % 2), 6.5 + 5 * (post / 2), 4);
  for (uint32_t side = 0; side < 2; side++) {
    place(p, "steel", beam(0.125, 0.25, 4 - 2 * half), turn_none, x - 2 + half, 6.5 + 5 * side, 3.75,
          "structure %u/beam %u", number, 2 * side + 1);
    place(p, "steel", beam(0.125, 0.25, 5 - 2 * half), turn_quarter, x - 2 + 4 * side, 6.5 + half, 3.75,
          "structure %u/beam %u", number, 2 * side + 2);
  }
  for (uint32_t panel = 0; panel < 20; panel++)
    place(p, "steel", (solid){solid_grating, {8, 8, 0, 0}}, turn_none, x - 2.0625 + 1.03125 * (panel % 4),
          6.375 + 1.03125 * (panel / 4), floor, "structure %u/grating %u", number, panel + 1);
  for (uint32_t side = 0; side < 2; side++)
    place(p, "steel", (solid){solid_rail, {4, 0, 0, 0}}, turn_none, x - 2, side ? 11.375 : 6.4375, top,
          "structure %u/rail %u", number, side + 1);
  place(p, "steel", (solid){solid_ladder, {4.75, 0, 0, 0}}, turn_none, x + 2.3125, 9, gap, "structure %u/ladder",
        number);
  place(p, "equipment", box(1, 1, skid), turn_none, x - 0.5, 8.5, top, "structure %u/skid", number);
  place(p, "equipment", (solid){solid_vessel, {0.5, 1.5, 0, 0}}, turn_none, x, 9, top + skid + gap + 0.25,
        "structure %u/receiver", number);
}

/* A part of a pump set that is turned by any angle about the upright through (x, y); `at` counts from there. */
static void place_about(plant *p, solid what, const double cosine_sine[2], double x, double y, const double at[3],
                        const char *layer, const char *format, ...) __attribute__((format(printf, 8, 9)));

static void place_about(plant *p, solid what, const double cosine_sine[2], double x, double y, const double at[3],
                        const char *layer, const char *format, ...) {
  const double c = cosine_sine[0], s = cosine_sine[1];
  const double pose[12] = {c, -s, 0, p->corner[0] + x + (c * at[0] - s * at[1]),
                           s, c,  0, p->corner[1] + y + (s * at[0] + c * at[1]),
                           0, 0,  1, at[2]};
  va_list words;
  va_start(words, format);
  place_posed(p, layer, what, pose, format, words);
  va_end(words);
}

static void place_pump(plant *p, double x, double y) {
  const double skid = 0.25 + 2 * gap, top = skid + 0.125 + gap, tube = 0.0625;
  uint32_t number = ++p->pumps;
  double angle[2];
  circle_point(stream_below(&p->random, 64), 64, &angle[0], &angle[1]);
  place_about(p, box(2, 1, 0.25), angle, x, y, (const double[3]){-1, -0.5, gap}, "concrete", "pump %u/plinth", number);
  place_about(p, box(1.75, 0.75, 0.125), angle, x, y, (const double[3]){-0.875, -0.375, skid}, "steel", "pump %u/skid",
              number);
  /* Motor, guard and casing follow each other along the axis. */
  place_about(p, box(0.625, 0.375, 0.4375), angle, x, y, (const double[3]){-0.75, -0.1875, top}, "equipment",
              "pump %u/motor", number);
  place_about(p, box(0.375 - 2 * gap, 0.125, 0.3125), angle, x, y, (const double[3]){-0.125 + gap, -0.0625, top},
              "equipment", "pump %u/guard", number);
  place_about(p, (solid){solid_wheel, {0.15625, tube, 0, 0}}, angle, x, y, (const double[3]){0.5, 0, top + tube},
              "equipment", "pump %u/casing", number);
}

static port place_equipment(plant *p, double x) {
  switch (stream_below(&p->random, 5)) {
    case 0:
      return place_vessel(p, x);
    case 1:
      return place_tank(p, x);
    case 2:
      return place_drum(p, x);
    case 3:
      place_structure(p, x);
      break;
    default:
      for (int set = 0; set < 3; set++) place_pump(p, x, 7 + 3 * set);
      break;
  }
  return (port){.wanted = false};
}

/* A lane whose pipe is at least as thick as its branch, if there is one. */
static int choose_lane(plant *p, const pipe_size *branch) {
  int lane = (int)stream_below(&p->random, lane_count);
  for (int tried = 1; tried < lane_count && p->lanes[lane]->radius < branch->radius; tried++)
    lane = (lane + 1) % lane_count;
  return lane;
}

/* ---- bays ---------------------------------------------------------------------------------------------------- */

static void place_bay(plant *p) {
  const double joint = 0.015625;
  port ports[plot_count];
  place(p, "concrete", box(bay_length - joint, bay_width - joint, 0.5), turn_none, 0, 0, -0.5, "slab %u", ++p->slabs);
  place_rack(p);
  for (int plot = 0; plot < plot_count; plot++) ports[plot] = place_equipment(p, 3 + 6 * plot);
  for (int lane = 0; lane < lane_count; lane++) place_lane(p, lane);
  for (int plot = 0; plot < plot_count; plot++) {
    if (ports[plot].wanted) place_branch(p, choose_lane(p, ports[plot].size), 4 + 4 * plot, &ports[plot]);
  }
  place_trays(p);
}

static void begin_row(plant *p) {
  for (int lane = 0; lane < lane_count; lane++) p->lanes[lane] = &pipes[stream_below(&p->random, pipe_sizes)];
}

/* About as many bays in a row as rows. */
static uint32_t row_length(uint32_t objects) {
  uint32_t columns = 2;
  while ((uint64_t)columns * columns * usual_bay < objects) columns++;
  return columns;
}

bool scenes_make_plant(const scenes_request *request, scenes_scene *scene) {
  plant p = {.shelf = {.scene = scene, .detail = request->detail}, .random = {request->seed}, .left = request->size};
  const uint32_t columns = row_length(request->size);
  for (uint32_t bay = 0; p.left > 0 && !p.failed; bay++) {
    p.column = bay % columns;
    p.corner[0] = bay_length * p.column;
    p.corner[1] = bay_pitch * (bay / columns);
    if (p.column == 0) begin_row(&p);
    place_bay(&p);
  }
  bool done = !p.failed && plant_clashes(&p.shelf, &p.random, request->clashes) &&
              plant_gaps(&p.shelf, &p.random, request->gaps);
  parts_free(&p.shelf);
  return done;
}
