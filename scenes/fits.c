/* Parts that fit into each other, where everything is near everything: a peg in its hole, two gears in mesh, a nut on
 * a bolt. Surfaces that face each other have the same corners around, so that they are parallel, `gap` apart along the
 * radius (peg, bolt) or across the flanks (gears). */
#include <math.h>

#include "builder.h"
#include "circle.h"
#include "kinds.h"

static const double pi = 0x1.921fb54442d18p+1;

static double circle_cosine(double angle) {
  return circle_sine(angle + pi / 2);
}

static uint32_t corners_around(const scenes_request *request) {
  return request->size < 3 ? 3 : request->size;
}

/* Two parts where they are built. */
static bool take_both(scenes_scene *scene, builder *first, const char *name, builder *second, const char *other) {
  uint32_t meshes[2];
  const bool took_first = scene_take_mesh(scene, first, name, &meshes[0]); /* both are emptied, whatever comes */
  return scene_take_mesh(scene, second, other, &meshes[1]) && took_first &&
         scene_add_object(scene, name, "fit", meshes[0], identity_pose) &&
         scene_add_object(scene, other, "fit", meshes[1], identity_pose);
}

/* ---- walls of rings ---------------------------------------------------------------------------------------------- */

/* A ring of corners about the z axis; returns the first. */
static uint32_t add_ring(builder *build, uint32_t count, double radius, double height) {
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  for (uint32_t i = 0; i < count; i++) {
    double cosine, sine;
    circle_point(i, count, &cosine, &sine);
    builder_vertex(build, (const double[3]){radius * cosine, radius * sine, height});
  }
  return first;
}

/* Squares between two rings. They face outwards if the first is below the second. */
static void join_rings(builder *build, uint32_t count, uint32_t first, uint32_t second) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t next = (i + 1) % count;
    builder_quad(build, first + i, first + next, second + next, second + i);
  }
}

/* The same squares, the first below the second, with the same diagonals, facing inwards. */
static void join_rings_inwards(builder *build, uint32_t count, uint32_t first, uint32_t second) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t next = (i + 1) % count;
    builder_quad(build, first + i, second + i, second + next, first + next);
  }
}

/* A fan from a new corner on the z axis to a ring, which faces up or down. */
static void cap_ring(builder *build, uint32_t count, uint32_t ring, double height, bool up) {
  uint32_t middle = builder_vertex(build, (const double[3]){0, 0, height});
  for (uint32_t i = 0; i < count; i++) {
    uint32_t next = (i + 1) % count;
    builder_triangle(build, middle, ring + (up ? i : next), ring + (up ? next : i));
  }
}

/* ---- a peg in its hole ------------------------------------------------------------------------------------------- */

enum { peg_steps = 4 }; /* rings along the peg, and along the hole */

static void build_peg(builder *build, uint32_t count, double radius) {
  uint32_t ring = add_ring(build, count, radius, 0);
  cap_ring(build, count, ring, 0, false);
  for (int step = 1; step <= peg_steps; step++) {
    uint32_t next = add_ring(build, count, radius, step * 0x1p-6);
    join_rings(build, count, ring, next);
    ring = next;
  }
  cap_ring(build, count, ring, peg_steps * 0x1p-6, true);
}

/* A tube, half as long as the peg and around its middle. */
static void build_hole(builder *build, uint32_t count, double inner, double outer) {
  const double low = peg_steps * 0x1p-8, step_height = peg_steps * 0x1p-9;
  uint32_t low_in = add_ring(build, count, inner, low), low_out = add_ring(build, count, outer, low);
  join_rings(build, count, low_in, low_out);
  for (int step = 1; step <= peg_steps; step++) {
    uint32_t in = add_ring(build, count, inner, low + step * step_height);
    uint32_t out = add_ring(build, count, outer, low + step * step_height);
    join_rings_inwards(build, count, low_in, in);
    join_rings(build, count, low_out, out);
    low_in = in;
    low_out = out;
  }
  join_rings(build, count, low_out, low_in);
}

bool scenes_make_peg(const scenes_request *request, scenes_scene *scene) {
  builder peg = {0}, hole = {0};
  const uint32_t count = corners_around(request);
  build_peg(&peg, count, 0x1p-6);
  build_hole(&hole, count, 0x1p-6 + request->gap, 0x1p-5);
  return take_both(scene, &peg, "peg", &hole, "hole");
}

/* ---- two gears --------------------------------------------------------------------------------------------------- */

/* Involute teeth with a pressure angle of 20 degrees, addendum of one module, dedendum of 1.25. */
enum { gear_teeth = 20 };
static const double gear_module = 0.004, gear_width = 0.016;
static const double gear_cosine = 0x1.e11f642522d1cp-1;  /* of the pressure angle */
static const double gear_involute = 0x1.e86308a37c9ap-7; /* its tangent less itself */

typedef struct gear {
  builder *build;
  uint32_t count; /* of corners on the outline so far, each below and above */
} gear;

static void gear_corner(gear *g, double radius, double angle) {
  const double x = radius * circle_cosine(angle), y = radius * circle_sine(angle);
  builder_vertex(g->build, (const double[3]){x, y, 0});
  builder_vertex(g->build, (const double[3]){x, y, gear_width});
  g->count++;
}

/* Corner of a flank where its tangent to the base circle has turned by `roll`; `side` -1: the flank before the middle
 * of the tooth, whose direction is `middle`, 1: the one behind. `half` is half the tooth's angle on the base circle. */
static void flank_corner(gear *g, double base, double roll, double middle, double half, int side) {
  const double along = base * (circle_cosine(roll) + roll * circle_sine(roll));
  const double across = base * (circle_sine(roll) - roll * circle_cosine(roll));
  const double turn = middle + side * half, c = circle_cosine(turn), s = circle_sine(turn);
  const double x = along * c + side * across * s, y = along * s - side * across * c;
  builder_vertex(g->build, (const double[3]){x, y, 0});
  builder_vertex(g->build, (const double[3]){x, y, gear_width});
  g->count++;
}

static void gear_tooth(gear *g, uint32_t number, uint32_t flank, double gap) {
  const double pitch = gear_module * gear_teeth / 2, base = pitch * gear_cosine;
  const double tip = (pitch + gear_module) / base, most = sqrt(tip * tip - 1);
  const double middle = 2 * pi * number / gear_teeth;
  const double half = pi / (2 * gear_teeth) + gear_involute - 0.5 * gap / base;
  gear_corner(g, pitch - 1.25 * gear_module, middle - half);
  for (uint32_t i = 0; i <= flank; i++) flank_corner(g, base, most * i / flank, middle, half, -1);
  for (uint32_t i = flank + 1; i-- > 0;) flank_corner(g, base, most * i / flank, middle, half, 1);
  gear_corner(g, pitch - 1.25 * gear_module, middle + half);
}

static void build_gear(builder *build, uint32_t flank, double gap) {
  gear g = {.build = build};
  for (uint32_t tooth = 0; tooth < gear_teeth; tooth++) gear_tooth(&g, tooth, flank, gap);
  uint32_t below = builder_vertex(build, (const double[3]){0, 0, 0});
  uint32_t above = builder_vertex(build, (const double[3]){0, 0, gear_width});
  for (uint32_t i = 0; i < g.count; i++) {
    uint32_t at = 2 * i, next = 2 * ((i + 1) % g.count);
    builder_quad(build, at, next, next + 1, at + 1);
    builder_triangle(build, below, next, at);
    builder_triangle(build, above, at + 1, next + 1);
  }
}

bool scenes_make_gears(const scenes_request *request, scenes_scene *scene) {
  builder build = {0};
  uint32_t mesh;
  build_gear(&build, request->size, request->gap);
  if (!scene_take_mesh(scene, &build, "gear", &mesh)) return false;
  /* Half a tooth farther, so that a tooth of the first stands in the middle between two of the second. */
  const double c = circle_cosine(pi / gear_teeth), s = circle_sine(pi / gear_teeth);
  const double pose[12] = {c, -s, 0, gear_module * gear_teeth, s, c, 0, 0, 0, 0, 1, 0};
  if (!scene_add_object(scene, "gear_a", "fit", mesh, identity_pose) ||
      !scene_add_object(scene, "gear_b", "fit", mesh, pose) || !scene_start_bodies(scene, 0.1))
    return false;
  /* The first is driven, and the second turns on an axle. */
  scenes_run *run = &scene->run;
  run->starts[0] = (scenes_start){SCENES_START_KINEMATIC, {0, 0, 2}};
  run->has_hinge = true;
  run->hinged = 1;
  run->point[0] = gear_module * gear_teeth;
  run->axis[2] = 1;
  return true;
}

/* ---- a nut on a bolt --------------------------------------------------------------------------------------------- */

/* A metric thread, M16: a trapezium with flanks at 60 degrees, of which an eighth of the pitch is crest and a quarter
 * root. */
enum { thread_steps = 16, bolt_turns = 12, nut_turns = 4 };
static const double thread_pitch = 0.002, thread_radius = 0.008, nut_radius = 0.0125;

/* Of the depth of the thread, with 1 turn of `phase` a pitch, measured from the middle of the crest. */
static double thread_depth(double phase) {
  const double off = fabs(phase - floor(phase + 0.5)), crest = 1.0 / 16, flank = 5.0 / 16;
  return off <= crest ? 0 : off >= crest + flank ? 1 : (off - crest) / flank;
}

/* A ring of the thread, `step` sixteenths of the pitch up. */
static uint32_t thread_ring(builder *build, uint32_t count, double radius, int step) {
  const double deep = 5.0 / 16 * 1.7320508075688772 * thread_pitch, height = thread_pitch * step / thread_steps;
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  for (uint32_t i = 0; i < count; i++) {
    double cosine, sine;
    double r = radius - deep * thread_depth((double)step / thread_steps - (double)i / count);
    circle_point(i, count, &cosine, &sine);
    builder_vertex(build, (const double[3]){r * cosine, r * sine, height});
  }
  return first;
}

static void build_bolt(builder *build, uint32_t count) {
  uint32_t ring = thread_ring(build, count, thread_radius, 0);
  cap_ring(build, count, ring, 0, false);
  for (int step = 1; step <= bolt_turns * thread_steps; step++) {
    uint32_t next = thread_ring(build, count, thread_radius, step);
    join_rings(build, count, ring, next);
    ring = next;
  }
  cap_ring(build, count, ring, bolt_turns * thread_pitch, true);
}

/* Around the middle of the bolt. */
static void build_nut(builder *build, uint32_t count, double gap) {
  const int low = (bolt_turns - nut_turns) / 2 * thread_steps, high = low + nut_turns * thread_steps;
  uint32_t out_low = add_ring(build, count, nut_radius, thread_pitch * low / thread_steps);
  uint32_t out_high = add_ring(build, count, nut_radius, thread_pitch * high / thread_steps);
  join_rings(build, count, out_low, out_high);
  uint32_t ring = thread_ring(build, count, thread_radius + gap, low);
  join_rings(build, count, ring, out_low);
  for (int step = low + 1; step <= high; step++) {
    uint32_t next = thread_ring(build, count, thread_radius + gap, step);
    join_rings_inwards(build, count, ring, next);
    ring = next;
  }
  join_rings(build, count, out_high, ring);
}

bool scenes_make_bolt(const scenes_request *request, scenes_scene *scene) {
  builder bolt = {0}, nut = {0};
  const uint32_t count = corners_around(request);
  build_bolt(&bolt, count);
  build_nut(&nut, count, request->gap);
  if (!take_both(scene, &bolt, "bolt", &nut, "nut") || !scene_start_bodies(scene, 0.02)) return false;
  scene->run.starts[0].type = SCENES_START_STATIC;
  scene->run.starts[1].spin[2] = -20;
  return true;
}
