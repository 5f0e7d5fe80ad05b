/* A robot cell that moves: an arm takes parts from a fixture on a table, swings them past a post to a conveyor and puts
 * them down; the belt takes them through a gate.
 *
 * Cycles are of four kinds, and the seed shuffles each four of them: all goes well; the part is carried too low, and
 * part and fingers go through the post; the clamp of the fixture opens too late for the fingers; the gate stays down
 * for the part on the belt, which touches it, goes through it and touches it again on the other side.
 *
 * The arm is flat: its links lie in slabs side by side that turn with it, so neighbours keep their distance whatever
 * the pose. Its angles come from where the wrist has to be, by roots alone. Fingers hold a part 2^-8 m apart, and
 * parts hover as high above table and belt: nothing touches that is not meant to. Coordinates of meshes are multiples
 * of 2^-18 m, those of the motion of 2^-10 m, but for what turns. */
#include "robot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "circle.h"
#include "kinds.h"
#include "random.h"
#include "shapes.h"

#define HAIR 0x1p-8

enum { ROUND = 32, HALF_ROUND = 12, TURN = 4096, MOST_BODIES = 16 };

typedef enum fault { fault_none, fault_low, fault_clamp, fault_gate, FAULTS } fault;

/* ---- solids ------------------------------------------------------------------------------------------------ */

static double on_grid(double x, double steps) {
  return floor(x * steps + 0.5) / steps;
}

/* A prism over a convex outline, along an axis; outline points are (next axis, the one after), anticlockwise seen from
 * the high end. */
static void prism(builder *build, int axis, uint32_t count, const double (*outline)[2], double low, double high) {
  double rings[2 * ROUND + 8][3], poles[2][3];
  for (uint32_t end = 0; end < 2; end++) {
    double sum[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
      double *point = rings[end * count + i];
      for (int k = 0; k < 2; k++) {
        point[(axis + 1 + k) % 3] = on_grid(outline[i][k], 0x1p18);
        sum[k] += outline[i][k] / count;
      }
      point[axis] = end ? high : low;
    }
    poles[end][axis] = end ? high : low;
    for (int k = 0; k < 2; k++) poles[end][(axis + 1 + k) % 3] = on_grid(sum[k], 0x1p18);
  }
  shape_rings(build, 2, count, (const double(*)[3])rings, poles[0], poles[1]);
}

static void cylinder(builder *build, int axis, const double middle[2], double radius, double low, double high) {
  double outline[ROUND][2];
  for (uint32_t i = 0; i < ROUND; i++) {
    double cosine, sine;
    circle_point(i, ROUND, &cosine, &sine);
    outline[i][0] = middle[0] + radius * cosine;
    outline[i][1] = middle[1] + radius * sine;
  }
  prism(build, axis, ROUND, (const double(*)[2])outline, low, high);
}

/* A plate across y with round ends about x = from and x = to. */
static void link_plate(builder *build, double from, double to, double radius, double low_y, double high_y) {
  enum { COUNT = 2 * (HALF_ROUND + 1) };
  double outline[COUNT][2];
  for (uint32_t i = 0; i < COUNT; i++) {
    double cosine, sine;
    bool far = i <= HALF_ROUND;
    circle_point(far ? i : i - 1, 2 * HALF_ROUND, &cosine, &sine);
    outline[i][0] = radius * cosine;
    outline[i][1] = (far ? to : from) + radius * sine;
  }
  prism(build, 1, COUNT, (const double(*)[2])outline, low_y, high_y);
}

static void put_boxes(builder *build, const robot_box *boxes, uint32_t count) {
  const uint32_t cuts[3] = {1, 1, 1};
  for (uint32_t i = 0; i < count; i++) shape_box(build, boxes[i].low, boxes[i].high, cuts);
}

/* ---- measures ---------------------------------------------------------------------------------------------- */

static const double shoulder_z = 0.875, link_length = 0.8125;
static const double reach_far = 1.25, reach_near = 1.0; /* of the wrist, from the robot's axis */
static const double finger_open = 0.09375, finger_closed = 0.0625 + HAIR, finger_width = 0.03125;
static const double part_below_wrist = 0.453125;
static const double table_z = 0.75, belt_z = 0.5, part_pitch = 0.25, belt_step = 0.03125;
static const double clamp_way = 0.3125, gate_way = 0.3125;
static const double wrist_high = 1.5, wrist_low = 1.3, wrist_above = 1.45;

static const robot_box floor_box = {{-1.5, -1.5, -0.125}, {2.5, 2, -HAIR}};
static const robot_box fence_boxes[] = {{{-1.28125, -1.25, 0}, {-1.21875, -1.1875, 1.75}},
                                        {{-1.28125, -0.03125, 0}, {-1.21875, 0.03125, 1.75}},
                                        {{-1.28125, 1.1875, 0}, {-1.21875, 1.25, 1.75}},
                                        {{-1.265625, -1.18359375, 0.25}, {-1.234375, -0.03515625, 1.625}},
                                        {{-1.265625, 0.03515625, 0.25}, {-1.234375, 1.18359375, 1.625}}};
static const robot_box cabinet_boxes[] = {{{-1, -1.25, 0.0625}, {-0.5, -0.75, 1.375}},
                                          {{-0.9375, -1.1875, 0}, {-0.5625, -0.8125, 0.0625 - HAIR}}};
static const robot_box post_boxes[] = {{{0.84375, 0.84375, 0.03125 + HAIR}, {0.90625, 0.90625, 1}},
                                       {{0.8125, 0.8125, 0}, {0.9375, 0.9375, 0.03125}}};
static const robot_box jaw_box = {{0, -0.125, 0}, {0.0625, 0.125, 0.125}};
static const robot_box clamp_boxes[] = {{{-0.03125, -0.109375, 0.140625}, {0.25, 0.109375, 0.1796875}}};
static const robot_box gate_boxes[] = {{{0, -0.21875, 0}, {0.03125, 0.21875, 0.25}}};
static const robot_box part_box = {{-0.09375, -0.0625, 0}, {0.09375, 0.0625, 0.125}};
static const robot_box finger_box = {{-0.046875, 0, -0.4375}, {0.046875, 0.03125, -0.25 - HAIR}};
static const robot_box wrist_boxes[] = {{{-0.0625, 0.078125, -0.1875}, {0.0625, 0.109375, 0.0625}},
                                        {{-0.0625, -0.109375, -0.1875}, {0.0625, -0.078125, 0.0625}},
                                        {{-0.078125, -0.1484375, -0.25}, {0.078125, 0.1484375, -0.1875 - HAIR}}};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- the cell ---------------------------------------------------------------------------------------------- */

typedef struct cell {
  scenes_scene *scene;
  uint32_t cycles;
  robot_box table[5], frame[8], belt; /* as long as the number of parts asks for */
  uint32_t turret, upper_arm, forearm;
  uint32_t body_count;
  robot_body *bodies;
  uint32_t wrist, left, right, clamp, gate, first_part; /* numbers of bodies */
} cell;

static bool add_mesh_object(cell *c, builder *build, const char *name, const char *layer, uint32_t *object) {
  uint32_t mesh;
  char file[32];
  snprintf(file, sizeof file, "%s", name);
  for (char *p = file; *p; p++) *p = *p == ' ' || *p == '/' ? '_' : *p;
  builder_weld(build);
  *object = c->scene->object_count;
  return scene_take_mesh(c->scene, build, file, &mesh) && scene_add_object(c->scene, name, layer, mesh, identity_pose);
}

/* -0 becomes +0. */
static void keep_pose(const double from[12], double pose[12]) {
  for (int k = 0; k < 12; k++) pose[k] = from[k] + 0.0;
}

static void set_pose(scenes_object *object, const robot_place *place) {
  const double pose[12] = {
      place->cosine, -place->sine, 0, place->at[0], place->sine, place->cosine, 0, place->at[1], 0, 0, 1, place->at[2]};
  keep_pose(pose, object->pose);
}

static void add_body(cell *c, uint32_t object, const robot_box *boxes, uint32_t count, double x, double y, double z) {
  robot_body *body = &c->bodies[c->body_count++];
  *body = (robot_body){object, boxes, count, {1, 0, {x, y, z}}};
  set_pose(&c->scene->objects[object], &body->place);
}

static bool add_boxes(cell *c, const char *name, const char *layer, const robot_box *boxes, uint32_t count,
                      const double at[3]) {
  builder build = {0};
  uint32_t object;
  put_boxes(&build, boxes, count);
  if (!add_mesh_object(c, &build, name, layer, &object)) return false;
  add_body(c, object, boxes, count, at[0], at[1], at[2]);
  return true;
}

/* The same mesh as the object before. */
static bool add_again(cell *c, const char *name, const double at[3]) {
  const scenes_object before = c->scene->objects[c->scene->object_count - 1];
  const robot_body *body = &c->bodies[c->body_count - 1];
  if (!scene_add_object(c->scene, name, before.layer, before.mesh, identity_pose)) return false;
  add_body(c, c->scene->object_count - 1, body->boxes, body->box_count, at[0], at[1], at[2]);
  return true;
}

static void plan_table(cell *c) {
  double low_y = -0.5 - part_pitch * c->cycles;
  c->table[0] = (robot_box){{0.9375, low_y, 0.6875}, {1.5625, 0.625, table_z}};
  for (int i = 0; i < 4; i++) {
    double x = i & 1 ? 1.4375 : 1.0, y = i & 2 ? 0.5 : low_y + 0.0625;
    c->table[1 + i] = (robot_box){{x, y, 0}, {x + 0.0625, y + 0.0625, 0.6875 - HAIR}};
  }
}

static double belt_end(const cell *c) {
  return 1.5 + part_pitch * c->cycles;
}

static void plan_conveyor(cell *c) {
  double end = belt_end(c);
  c->belt = (robot_box){{-0.5, 1.03125, belt_z - 0.0625}, {end, 1.46875, belt_z}};
  for (int i = 0; i < 2; i++) {
    double y = i ? 1.46875 + HAIR : 0.96875 - HAIR;
    c->frame[i] = (robot_box){{-0.5, y, belt_z - 0.125}, {end, y + 0.0625, belt_z + 0.03125}};
    for (int k = 0; k < 3; k++) {
      double x = k == 0 ? -0.4375 : k == 1 ? on_grid(end / 2 - 0.25, 16) : end - 0.125;
      c->frame[2 + 3 * i + k] = (robot_box){{x, y, 0}, {x + 0.0625, y + 0.0625, belt_z - 0.125 - HAIR}};
    }
  }
}

static bool add_surroundings(cell *c) {
  static const double origin[3] = {0, 0, 0};
  robot_box ground = floor_box;
  builder build = {0};
  uint32_t object;
  ground.low[1] = fmin(ground.low[1], -1 - part_pitch * c->cycles);
  ground.high[0] = fmax(ground.high[0], belt_end(c) + 0.25);
  put_boxes(&build, &ground, 1);
  if (!add_mesh_object(c, &build, "cell/floor", "cell", &object)) return false;
  plan_table(c);
  plan_conveyor(c);
  return add_boxes(c, "cell/fence", "cell", fence_boxes, COUNT_OF(fence_boxes), origin) &&
         add_boxes(c, "cell/cabinet", "cell", cabinet_boxes, COUNT_OF(cabinet_boxes), origin) &&
         add_boxes(c, "cell/post", "cell", post_boxes, COUNT_OF(post_boxes), origin) &&
         add_boxes(c, "table/top", "table", c->table, COUNT_OF(c->table), origin) &&
         add_boxes(c, "table/jaw 1", "table", &jaw_box, 1, (double[3]){1.25 + 0.1015625, 0, table_z + HAIR}) &&
         add_again(c, "table/jaw 2", (double[3]){1.25 - 0.1015625 - 0.0625, 0, table_z + HAIR}) &&
         add_boxes(c, "conveyor/frame", "conveyor", c->frame, COUNT_OF(c->frame), origin) &&
         add_boxes(c, "conveyor/belt", "conveyor", &c->belt, 1, origin);
}

/* Rollers hang below the belt, out of everything's way. */
static bool add_rollers(cell *c) {
  builder build = {0};
  uint32_t object;
  uint32_t count = (uint32_t)ceil((belt_end(c) + 0.375) * 4);
  for (uint32_t i = 0; i < count; i++) {
    const double middle[2] = {belt_z - 0.0625 - 0.03125 - HAIR, 0.25 * i - 0.375};
    cylinder(&build, 1, middle, 0.03125, 1.046875, 1.453125);
  }
  return add_mesh_object(c, &build, "conveyor/rollers", "conveyor", &object);
}

static bool add_links(cell *c) {
  static const robot_box foot = {{-0.28125, -0.28125, 0}, {0.28125, 0.28125, 0.0625}};
  static const robot_box cheeks[] = {{{-0.125, 0.078125, 0.625 + HAIR}, {0.125, 0.140625, 0.9375}},
                                     {{-0.125, -0.140625, 0.625 + HAIR}, {0.125, -0.078125, 0.9375}}};
  static const double axis[2] = {0, 0};
  builder build = {0};
  uint32_t base;
  put_boxes(&build, &foot, 1);
  cylinder(&build, 2, axis, 0.21875, 0.0625 + HAIR, 0.5);
  if (!add_mesh_object(c, &build, "robot/base", "robot", &base)) return false;
  cylinder(&build, 2, axis, 0.25, 0.5 + HAIR, 0.625);
  put_boxes(&build, cheeks, 2);
  if (!add_mesh_object(c, &build, "robot/turret", "robot", &c->turret)) return false;
  link_plate(&build, 0, link_length, 0.09375, -0.0625, 0.0625);
  if (!add_mesh_object(c, &build, "robot/upper arm", "robot", &c->upper_arm)) return false;
  link_plate(&build, 0, 0.5, 0.0859375, 0.078125, 0.125);
  link_plate(&build, 0, 0.5, 0.0859375, -0.125, -0.078125);
  link_plate(&build, 0.3125, link_length, 0.0625, -0.078125 + HAIR, 0.078125 - HAIR);
  return add_mesh_object(c, &build, "robot/forearm", "robot", &c->forearm);
}

static bool add_moving(cell *c) {
  static const double origin[3] = {0, 0, 0};
  c->wrist = c->body_count;
  if (!add_boxes(c, "robot/wrist", "robot", wrist_boxes, COUNT_OF(wrist_boxes), origin)) return false;
  c->left = c->body_count;
  if (!add_boxes(c, "robot/finger left", "robot", &finger_box, 1, origin)) return false;
  c->right = c->body_count;
  if (!add_again(c, "robot/finger right", origin)) return false;
  c->clamp = c->body_count;
  if (!add_boxes(c, "table/clamp", "table", clamp_boxes, 1, (double[3]){reach_far, 0, table_z + HAIR})) return false;
  c->gate = c->body_count;
  if (!add_boxes(c, "conveyor/gate", "conveyor", gate_boxes, 1, (double[3]){1, 1.25, belt_z + HAIR})) return false;
  c->first_part = c->body_count;
  for (uint32_t i = 0; i < c->cycles; i++) {
    const double at[3] = {reach_far, -part_pitch * i, table_z + HAIR};
    char name[32];
    snprintf(name, sizeof name, "part %u", i + 1);
    if (i == 0 ? !add_boxes(c, name, "parts", &part_box, 1, at) : !add_again(c, name, at)) return false;
  }
  return true;
}

/* ---- the motion -------------------------------------------------------------------------------------------- */

typedef struct key { /* where the wrist is at a time of the cycle */
  uint32_t time;
  double quarter, reach, height; /* part of the quarter turn from the table to the conveyor */
} key;

/* A soft start and a soft end; 0 before `from`, 1 after `to`. */
static double soft(uint32_t time, uint32_t from, uint32_t to) {
  if (time <= from) return 0;
  if (time >= to) return 1;
  double t = (double)(time - from) / (to - from);
  return t * t * (3 - 2 * t);
}

/* The same at an even pace, in whole steps. */
static double even(uint32_t time, uint32_t from, uint32_t to) {
  return time <= from ? 0 : time >= to ? 1 : (double)(time - from) / (to - from);
}

typedef struct hand {
  double cosine, sine, reach, height, opening;
} hand;

static hand hand_at(uint32_t time, fault what) {
  const double pick = table_z + HAIR + part_below_wrist, place = belt_z + HAIR + part_below_wrist;
  const double carried = what == fault_low ? wrist_low : wrist_high;
  const key keys[] = {{0, 0, reach_near, wrist_above},  {8, 0, reach_far, wrist_above}, {20, 0, reach_far, pick},
                      {24, 0, reach_far, pick},         {34, 0, reach_far, carried},    {72, 1, reach_far, carried},
                      {82, 1, reach_far, place},        {86, 1, reach_far, place},      {96, 1, reach_far, wrist_above},
                      {128, 0, reach_near, wrist_above}};
  uint32_t k = 0;
  while (keys[k + 1].time < time) k++;
  double t = soft(time, keys[k].time, keys[k + 1].time);
  double quarter = keys[k].quarter + (keys[k + 1].quarter - keys[k].quarter) * t;
  hand h = {.reach = on_grid(keys[k].reach + (keys[k + 1].reach - keys[k].reach) * t, 1024),
            .height = on_grid(keys[k].height + (keys[k + 1].height - keys[k].height) * t, 1024)};
  double closed = even(time, 20, 24) - even(time, 82, 86);
  h.opening = finger_open + (finger_closed - finger_open) * closed;
  circle_point((uint32_t)(quarter * TURN / 4 + 0.5), TURN, &h.cosine, &h.sine);
  return h;
}

/* A link's own x axis points along (ahead, up) in the plane of the arm. */
static void link_pose(const hand *h, double ahead, double up, double reach, double height, double pose[12]) {
  const double rows[12] = {ahead * h->cosine,
                           -h->sine,
                           -up * h->cosine,
                           reach * h->cosine,
                           ahead * h->sine,
                           h->cosine,
                           -up * h->sine,
                           reach * h->sine,
                           up,
                           0,
                           ahead,
                           height};
  keep_pose(rows, pose);
}

/* Two links of the same length: the elbow stands above the middle of the line from shoulder to wrist. */
static void place_links(cell *c, const hand *h) {
  double ahead = h->reach, up = h->height - shoulder_z, way = sqrt(ahead * ahead + up * up);
  double cosine = way / 2 / link_length, sine = sqrt(1 - cosine * cosine);
  ahead /= way;
  up /= way;
  double first[2] = {ahead * cosine - up * sine, up * cosine + ahead * sine};
  double second[2] = {ahead * cosine + up * sine, up * cosine - ahead * sine};
  scenes_object *objects = c->scene->objects;
  link_pose(h, 1, 0, 0, 0, objects[c->turret].pose);
  link_pose(h, first[0], first[1], 0, shoulder_z, objects[c->upper_arm].pose);
  link_pose(h, second[0], second[1], link_length * first[0], shoulder_z + link_length * first[1],
            objects[c->forearm].pose);
}

/* In the hand's axes: `aside` to its left. */
static void place_in_hand(robot_body *body, const hand *h, double aside, double below) {
  body->place = (robot_place){
      h->cosine,
      h->sine,
      {h->reach * h->cosine - aside * h->sine, h->reach * h->sine + aside * h->cosine, h->height - below}};
}

static void place_hand(cell *c, const hand *h) {
  place_links(c, h);
  place_in_hand(&c->bodies[c->wrist], h, 0, 0);
  place_in_hand(&c->bodies[c->left], h, h->opening, 0);
  place_in_hand(&c->bodies[c->right], h, -h->opening - finger_width, 0);
}

/* The part of this cycle is in the hand from 24 on, on the belt from 82 on; those behind it move up from 84 on. */
static void place_parts(cell *c, const hand *h, uint32_t cycle, uint32_t time) {
  for (uint32_t i = 0; i < c->cycles; i++) {
    robot_body *part = &c->bodies[c->first_part + i];
    if (i > cycle) {
      part->place.at[1] = -part_pitch * (i - cycle - even(time, 84, 100));
    } else if (i == cycle && time >= 24 && time < 82) {
      place_in_hand(part, h, 0, part_below_wrist);
    } else if (i < cycle || time >= 82) {
      uint32_t since = (cycle - i) * ROBOT_CYCLE + time;
      double way = belt_step * (since > 90 ? since - 90 : 0), most = belt_end(c) - 0.125 - part_pitch * i;
      part->place = (robot_place){0, 1, {fmin(way, most), 1.25, belt_z + HAIR}};
    }
  }
}

static void place_clamp(cell *c, uint32_t time, fault what) {
  uint32_t open = what == fault_clamp ? 22 : 1;
  double way = even(time, open, open + 8) - even(time, 112, 120);
  c->bodies[c->clamp].place.at[0] = reach_far + clamp_way * way;
}

/* The gate opens for the part of a cycle 10 steps after it has left, and closes behind it, in the next cycle. */
static double gate_lift(uint32_t time, fault what) {
  return what == fault_gate ? 0 : even(time, 100, 108) - even(time, 134, 142);
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

static bool add_if_moved(scenes_scene *scene, uint32_t object, uint32_t step, const double before[12]) {
  if (memcmp(scene->objects[object].pose, before, 12 * sizeof *before) == 0) return true;
  scenes_move move = {.step = step, .object = object};
  memcpy(move.pose, scene->objects[object].pose, sizeof move.pose);
  return scene_add_move(scene, &move);
}

static void place_all(cell *c, const fault *faults, uint32_t step) {
  uint32_t cycle = step / ROBOT_CYCLE, time = step % ROBOT_CYCLE;
  if (cycle >= c->cycles) {
    cycle = c->cycles - 1;
    time = step - cycle * ROBOT_CYCLE;
  }
  uint32_t at = time < ROBOT_CYCLE ? time : ROBOT_CYCLE;
  hand h = hand_at(at, faults[cycle]);
  place_hand(c, &h);
  place_parts(c, &h, cycle, time);
  place_clamp(c, at, faults[cycle]);
  double lift = gate_lift(time, faults[cycle]);
  if (cycle > 0) lift += gate_lift(time + ROBOT_CYCLE, faults[cycle - 1]);
  c->bodies[c->gate].place.at[2] = belt_z + HAIR + gate_way * lift;
  for (uint32_t i = 0; i < c->body_count; i++) set_pose(&c->scene->objects[c->bodies[i].object], &c->bodies[i].place);
}

/* A motion file ends with its last move, and so do steps. */
static void end_with_last_move(scenes_scene *scene) {
  scene->last_step = scene->move_count > 0 ? scene->moves[scene->move_count - 1].step : 0;
  while (scene->meeting_count > 0 && scene->meetings[scene->meeting_count - 1].step > scene->last_step)
    scene->meeting_count--;
}

/* Objects are handed over where they began: the poses of step 0 are those of the scene. */
static bool run_steps(cell *c, const fault *faults) {
  scenes_scene *scene = c->scene;
  uint32_t steps = c->cycles * ROBOT_CYCLE + ROBOT_TAIL, count = scene->object_count;
  double(*before)[12] = malloc(count * sizeof *before), (*first)[12] = malloc(count * sizeof *first);
  bool good = before && first;
  for (uint32_t step = 0; good && step < steps; step++) {
    for (uint32_t i = 0; i < count; i++) memcpy(before[i], scene->objects[i].pose, sizeof before[i]);
    place_all(c, faults, step);
    for (uint32_t i = 0; i < count; i++) {
      if (step == 0)
        memcpy(first[i], scene->objects[i].pose, sizeof first[i]);
      else
        good = good && add_if_moved(scene, i, step, before[i]);
    }
    good = good && robot_find_meetings(scene, c->bodies, c->body_count, step);
  }
  for (uint32_t i = 0; good && i < count; i++) memcpy(scene->objects[i].pose, first[i], sizeof first[i]);
  end_with_last_move(scene);
  free(before);
  free(first);
  return good;
}

/* Each four cycles are the four kinds in some order; `faults` has room for whole fours. */
static void choose_faults(fault *faults, uint32_t cycles, uint64_t seed) {
  random_stream random = {seed};
  for (uint32_t first = 0; first < cycles; first += FAULTS) {
    for (uint32_t i = 0; i < FAULTS; i++) faults[first + i] = (fault)i;
    for (uint32_t i = 0; i < FAULTS; i++) {
      uint32_t k = i + stream_below(&random, FAULTS - i);
      fault swap = faults[first + i];
      faults[first + i] = faults[first + k];
      faults[first + k] = swap;
    }
  }
}

bool scenes_make_robot(const scenes_request *request, scenes_scene *scene) {
  cell c = {.scene = scene, .cycles = request->size};
  fault *faults = malloc(((size_t)request->size + FAULTS) * sizeof *faults);
  c.bodies = calloc((size_t)request->size + MOST_BODIES, sizeof *c.bodies);
  bool good = faults && c.bodies && add_surroundings(&c) && add_rollers(&c) && add_links(&c) && add_moving(&c);
  if (good) {
    choose_faults(faults, request->size, request->seed);
    good = run_steps(&c, faults);
  }
  free(faults);
  free(c.bodies);
  return good;
}
