/* Rigid bodies to be set in motion, in metres and kilograms. Only + - * / and sqrt are used, so that bytes are the same
 * everywhere.
 *
 *   stack     boxes upon each other
 *   pyramid   a wall of boxes, each on two, a row less with every row
 *   cards     a house of cards: leaning pairs, and cards that lie across them
 *   dominoes  stones in a row, the first of which falls
 *   pile      balls, boxes and capsules, turned at random, that fall between four walls
 *   chain     links that hang by ball joints, with a ball of a hundred times their mass at the end, held out to the
 *             side
 *   wrecking  the same, which swings into a wall of bricks
 *   rubble    the fragments of a block; tool/make_rubble.c makes them, since that takes the library
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scenes.h"

static const scenes_rigid_facts kinds[SCENES_RIGID_KINDS] = {
    {"stack", "boxes upon each other", "number of boxes", 10, 1000, false},
    {"pyramid", "a wall of boxes that gets narrower", "number of rows", 20, 500, false},
    {"cards", "a house of cards", "number of storeys", 3, 20, false},
    {"dominoes", "stones that knock each other over", "number of stones", 40, 10000, false},
    {"pile", "balls, boxes and capsules that fall into a heap", "number of bodies", 256, 100000, true},
    {"chain", "links that swing, with a weight at the end", "number of links", 20, 1000, false},
    {"wrecking", "a ball on a chain that swings into a wall of bricks", "bricks along the wall, and rows", 6, 50,
     false},
    {"rubble", "a block that a blast tears into fragments that fit together", "fragments, or a few more", 200, 10000,
     true},
};

const scenes_rigid_facts *scenes_rigid_describe(scenes_rigid_kind kind) {
  return &kinds[kind];
}

bool scenes_rigid_named(const char *name, scenes_rigid_kind *kind) {
  for (int k = 0; k < SCENES_RIGID_KINDS; k++) {
    if (strcmp(kinds[k].name, name) != 0) continue;
    *kind = (scenes_rigid_kind)k;
    return true;
  }
  return false;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static scenes_body *add_body(scenes_rigid *r, scenes_body_shape shape, double x, double y, double z) {
  scenes_body *b = &r->bodies[r->count++];
  *b = (scenes_body){.shape = shape, .pose = {1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z}, .density = 1000};
  return b;
}

static scenes_body *add_box(scenes_rigid *r, double x, double y, double z, double a, double b, double c) {
  scenes_body *box = add_body(r, SCENES_BODY_BOX, x, y, z);
  box->size[0] = a;
  box->size[1] = b;
  box->size[2] = c;
  return box;
}

/* Turned about y: x goes to (cosine, 0, -sine). */
static void lean(scenes_body *b, double cosine, double sine) {
  b->pose[0] = b->pose[10] = cosine;
  b->pose[2] = sine;
  b->pose[8] = -sine;
}

static void add_wall(scenes_rigid *r, int axis, double place, double direction) {
  scenes_wall *wall = &r->walls[r->wall_count++];
  wall->point[axis] = place;
  wall->normal[axis] = direction;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static void make_stack(scenes_rigid *r, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) add_box(r, 0, 0, 0.5 + i, 1, 1, 1);
}

static void make_pyramid(scenes_rigid *r, uint32_t size) {
  for (uint32_t row = 0; row < size; row++) {
    for (uint32_t i = row; i < size; i++)
      add_box(r, 1.25 * (i - 0.5 * row) - 0.625 * (size - 1), 0, 0.5 + row, 1, 1, 1);
  }
}

/* Cards of 1 x 0.6 x 0.02, as steep as the triangle of 7, 24 and 25. */
static void make_cards(scenes_rigid *r, uint32_t size) {
  const double sine = 0.28, cosine = 0.96, half = 0.01;
  const double height = cosine + 2 * half * sine, out = 0.5 * sine + half * cosine, width = 4 * out;
  double z = 0;
  r->friction = 0.6;
  for (uint32_t level = size; level > 0; level--) {
    const double first = -0.5 * width * (level - 1);
    for (uint32_t i = 0; i < level; i++) {
      lean(add_box(r, first + i * width - out, 0, z + 0.5 * height, 2 * half, 0.6, 1), cosine, sine);
      lean(add_box(r, first + i * width + out, 0, z + 0.5 * height, 2 * half, 0.6, 1), cosine, -sine);
    }
    z += height;
    for (uint32_t i = 0; i + 1 < level; i++)
      add_box(r, first + (i + 0.5) * width, 0, z + half, 0.98 * width, 0.6, 2 * half);
    z += 2 * half;
  }
}

/* The first one has been let go when it leans by the triangle of 20, 99 and 101: farther than it can stand. */
static void make_dominoes(scenes_rigid *r, uint32_t size) {
  const double width = 0.1, height = 1, sine = 20.0 / 101, cosine = 99.0 / 101;
  r->friction = 0.4;
  for (uint32_t i = 0; i < size; i++) {
    scenes_body *stone = add_box(r, 0.45 * i, 0, 0.5 * height, width, 0.5, height);
    if (i > 0) continue;
    lean(stone, cosine, sine); /* about its lower edge ahead */
    stone->pose[3] = 0.5 * width - 0.5 * width * cosine + 0.5 * height * sine;
    stone->pose[11] = 0.5 * width * sine + 0.5 * height * cosine;
  }
}

static void turn_at_random(scenes_body *b, random_stream *stream) {
  double rotation[9];
  stream_rotation(stream, rotation);
  for (int i = 0; i < 9; i++) b->pose[i / 3 * 4 + i % 3] = rotation[i];
}

static void make_pile(scenes_rigid *r, uint32_t size, random_stream *stream) {
  uint32_t side = 2;
  while (2 * side * side * side < size) side++;
  const double cell = 1.3, half = 0.5 * cell * side;
  r->friction = 0.5;
  r->restitution = 0.1;
  for (int k = 0; k < 4; k++) add_wall(r, k / 2, k % 2 ? -half : half, k % 2 ? 1 : -1);
  for (uint32_t i = 0; i < size; i++) {
    const uint32_t x = i % side, y = i / side % side, z = i / side / side;
    scenes_body *b =
        add_body(r, (scenes_body_shape)(i % 3), (x + 0.5) * cell - half, (y + 0.5) * cell - half, 0.8 + cell * z);
    static const double sizes[3][3] = {{0.45, 0, 0}, {0.9, 0.8, 0.7}, {0.25, 0.6, 0}};
    memcpy(b->size, sizes[i % 3], sizeof b->size);
    for (int k = 0; k < 2; k++) b->pose[4 * k + 3] += stream_between(stream, -0.025, 0.025);
    turn_at_random(b, stream);
  }
}

/* From a hook over the origin along x, to the one side or the other, with the weight at the end. */
static void make_chain(scenes_rigid *r, uint32_t size, double height, double side) {
  for (uint32_t i = 0; i < size; i++) {
    scenes_body *link = add_body(r, SCENES_BODY_CAPSULE, side * (0.5 * i + 0.25), 0, height);
    link->size[0] = 0.08;
    link->size[1] = 0.34;
    lean(link, 0, 1);
  }
  scenes_body *weight = add_body(r, SCENES_BODY_BALL, side * (0.5 * size + 0.5), 0, height);
  weight->size[0] = 0.5;
  const double volume = 0.08 * 0.08 * (0.34 + 4.0 / 3 * 0.08), ball = 4.0 / 3 * 0.125; /* over pi */
  weight->density = 1000 * 100 * volume / ball;
  for (uint32_t i = 0; i <= size; i++) {
    scenes_joint *joint = &r->joints[r->joint_count++];
    *joint = (scenes_joint){.a = i, .b = i > 0 ? i - 1 : SCENES_NO_BODY, .point = {side * 0.5 * i, 0, height}};
  }
}

enum { WRECKING_LINKS = 8 };

/* The ball, whose lowest place is 1.5 above the ground, meets the wall there. */
static void make_wrecking(scenes_rigid *r, uint32_t size) {
  const double length = 1, thickness = 0.4, height = 0.4;
  make_chain(r, WRECKING_LINKS, 6, -1);
  for (uint32_t row = 0; row < size; row++) {
    for (uint32_t i = 0; i < size; i++)
      add_box(r, 0.55 + 0.5 * thickness, length * (i - 0.5 * (size - 1) + (row % 2 == 0 ? 0.125 : -0.125)),
              height * (row + 0.5), thickness, 0.99 * length, height);
  }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static uint64_t count_bodies(scenes_rigid_kind kind, uint64_t size) {
  switch (kind) {
    case SCENES_RIGID_PYRAMID:
      return size * (size + 1) / 2;
    case SCENES_RIGID_CARDS: /* two a tent, and one across every two */
      return size * (size + 1) + size * (size - 1) / 2;
    case SCENES_RIGID_CHAIN:
      return size + 1;
    case SCENES_RIGID_WRECKING:
      return size * size + WRECKING_LINKS + 1;
    default:
      return size;
  }
}

bool scenes_rigid_make(scenes_rigid_kind kind, uint32_t size, uint64_t seed, scenes_rigid *r) {
  random_stream stream = {seed};
  *r = (scenes_rigid){.kind = kind, .gravity = {0, 0, -9.81}, .friction = 0.5};
  r->bodies = malloc(count_bodies(kind, size) * sizeof *r->bodies);
  r->joints = malloc((size + (size_t)WRECKING_LINKS + 1) * sizeof *r->joints);
  if (!r->bodies || !r->joints) {
    scenes_rigid_free(r);
    return false;
  }
  if (kind != SCENES_RIGID_CHAIN) add_wall(r, 2, 0, 1);
  switch (kind) {
    case SCENES_RIGID_STACK:
      make_stack(r, size);
      break;
    case SCENES_RIGID_PYRAMID:
      make_pyramid(r, size);
      break;
    case SCENES_RIGID_CARDS:
      make_cards(r, size);
      break;
    case SCENES_RIGID_DOMINOES:
      make_dominoes(r, size);
      break;
    case SCENES_RIGID_PILE:
      make_pile(r, size, &stream);
      break;
    case SCENES_RIGID_WRECKING:
      make_wrecking(r, size);
      break;
    case SCENES_RIGID_RUBBLE:
      break;
    default:
      make_chain(r, size, 0, 1);
  }
  return true;
}

void scenes_rigid_free(scenes_rigid *r) {
  free(r->bodies);
  free(r->joints);
  *r = (scenes_rigid){0};
}
