/* Pairs whose relation follows from how they are built. Every vertex is a multiple of 2^-30 m below 2^20 m once posed,
 * so that posing is exact and faces, edges and corners that are meant to meet do meet, to the last bit. A pair keeps
 * its relation when it is turned as a whole, so all copies but the first are, by a random turn of axes.
 *
 * Words: lengths in metres; "a" is x -1 .. 0 and the like say what space a solid takes. Round solids lie within their
 * circles, and have a corner on each axis; pipes and rods along one axis are prisms, whose sides are plane. */
#include "planted.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct construction {
  const char *name;
  const char *relation;
  bool surfaces_meet;
  bool both_orders;
  placed_solid a, b;
} construction;

#define ALONG_Y \
  {             \
    { 2, 3, 1 } \
  }
#define UPRIGHT \
  {             \
    { 3, 1, 2 } \
  }
#define QUARTER  \
  {              \
    { 2, -1, 3 } \
  }
#define SIDEWAYS  \
  {               \
    { -1, -2, 3 } \
  }

static const construction constructions[] = {
    /* touch: a plane, or a prism's sides, keep the interiors apart, and the closed sets share points. */

    /* a below z = 0, b above; their faces there share a rectangle. */
    {"face on face",
     "touch",
     true,
     false,
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0, -1}},
     {{solid_box, {1, 0.5, 0.5}}, ALONG_X, {0.25, 0.75, 0}}},
    /* Equal walls in line, a at x <= 0 and b at x >= 0; their ends are the same rectangle. */
    {"end on end",
     "touch",
     true,
     false,
     {{solid_box, {1.5, 0.25, 1}}, ALONG_X, {-1.5, 0, 0}},
     {{solid_box, {1.5, 0.25, 1}}, ALONG_X, {0, 0, 0}}},
    /* a at x <= 0, z <= 0, b at x >= 0, z >= 0: the plane x + z = 0 parts them; common is y 0.5 .. 1 on the y axis. */
    {"edge on edge",
     "touch",
     true,
     false,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, 0, -1}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0.5, 0}}},
    /* The ridge of a runs along the x axis from below, that of b along the y axis from above: common is the origin. */
    {"edge across edge",
     "touch",
     true,
     false,
     {{solid_ridge, {1, 1, 2}}, ALONG_X, {-1, 0, -1}},
     {{solid_ridge, {1, 1, 2}}, UPSIDE_ALONG_Y, {0, -1, 1}}},
    /* Cubes in opposite octants: common is the origin. */
    {"corner on corner",
     "touch",
     true,
     false,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, -1, -1}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0, 0}}},
    /* A pyramid stands on its tip on a plate whose top is z = 0, inside a triangle of it. */
    {"corner on face",
     "touch",
     true,
     false,
     {{solid_box, {2, 2, 0.25}}, ALONG_X, {-1, -1, -0.25}},
     {{solid_pyramid, {1, 1}}, UPSIDE, {0.25, 0.125, 1}}},
    /* The same on the edge x = 0, z = 0 of a block below z = 0. */
    {"corner on edge",
     "touch",
     true,
     false,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, 0, -1}},
     {{solid_pyramid, {1, 1}}, UPSIDE, {0, 0.375, 1}}},
    /* A pipe whose lowest line of corners is z = 0 on a plate whose top is z = 0. */
    {"pipe on plate",
     "touch",
     true,
     false,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0.15625}},
     {{solid_box, {2, 1, 0.125}}, ALONG_X, {-0.75, -0.5, -0.125}}},
    /* Axes two radii apart; the plane between them holds a line of corners of each. */
    {"pipe beside pipe",
     "touch",
     true,
     false,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0}},
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-0.5, 0.3125, 0}}},
    /* Ends in x = 0, the same ring. */
    {"pipe end on pipe end",
     "touch",
     true,
     false,
     {{solid_pipe, {0.109375, 0.09375, 1}}, ALONG_X, {-1, 0, 0}},
     {{solid_pipe, {0.109375, 0.09375, 1}}, ALONG_X, {0, 0, 0}}},
    /* The rod's section is the bore's polygon: it fills what the pipe leaves out. */
    {"plug in a bore",
     "touch",
     true,
     false,
     {{solid_pipe, {0.15625, 0.140625, 1}}, ALONG_X, {0, 0, 0}},
     {{solid_rod, {0.140625, 1.5}}, ALONG_X, {-0.25, 0, 0}}},
    /* In the cavity, on its floor at z = -0.375, away from its wall. */
    {"block on the floor of a tank",
     "touch",
     true,
     false,
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.5}},
     {{solid_box, {0.25, 0.25, 0.25}}, ALONG_X, {0.125, 0.125, -0.375}}},
    /* Against both legs, in the part that the L leaves out. */
    {"block in an angle",
     "touch",
     true,
     false,
     {{solid_angle, {1, 0.25, 2}}, ALONG_X, {-1, 0, 0}},
     {{solid_box, {1, 0.5, 0.5}}, ALONG_X, {-0.5, 0.25, 0.25}}},
    /* The pipe's four lines of corners on the axes lie in the four inner sides. */
    {"pipe in a duct",
     "touch",
     true,
     false,
     {{solid_duct, {0.75, 0.125, 1}}, ALONG_X, {-0.5, 0, 0}},
     {{solid_pipe, {0.25, 0.1875, 2}}, ALONG_X, {-1, 0, 0}}},

    /* cross: there are points inside both, inside a only and inside b only. */

    /* The pipe's wall goes through the web where the web has no hole. */
    {"pipe through beam",
     "cross",
     true,
     false,
     {{solid_pipe, {0.0625, 0.046875, 1}}, ALONG_Y, {0.25, -0.5, 0}},
     {{solid_beam, {0.25, 0.5, 3}}, ALONG_X, {-1.5, 0, -0.25}}},
    /* The same section on the same axis; half a metre of wall in common, and no triangles that pierce each other. */
    {"pipes on one axis",
     "cross",
     true,
     false,
     {{solid_pipe, {0.109375, 0.09375, 2}}, ALONG_X, {-1.75, 0, 0}},
     {{solid_pipe, {0.109375, 0.09375, 2}}, ALONG_X, {-0.25, 0, 0}}},
    /* Equal sections that share 51/1024 m (50 mm). */
    {"walls in line",
     "cross",
     true,
     false,
     {{solid_box, {2, 0.25, 1}}, ALONG_X, {-2, 0, 0}},
     {{solid_box, {2, 0.25, 1}}, ALONG_X, {-0.0498046875, 0, 0}}},
    /* A flat cross: common a cube, tops in one plane, floors in one plane. */
    {"bars crossing flush",
     "cross",
     true,
     false,
     {{solid_box, {3, 0.5, 0.5}}, ALONG_X, {-1.5, -0.25, 0}},
     {{solid_box, {0.5, 3, 0.5}}, ALONG_X, {-0.25, -1.5, 0}}},
    /* A bar through a plate x 0 .. 0.5. Both have grid lines where the surfaces meet, so that they meet along edges of
     * both and nowhere does an edge go through the inside of a triangle. */
    {"bar through plate along edges",
     "cross",
     true,
     false,
     {{solid_cut_box, {2, 0.5, 0.5, 4}}, ALONG_X, {-0.5, 0, 0}},
     {{solid_cut_box, {0.5, 2, 2, 4}}, ALONG_X, {0, -0.5, -0.5}}},
    /* The duct's four sides go through the wall; both ends stand out. */
    {"duct through wall",
     "cross",
     true,
     false,
     {{solid_duct, {0.75, 0.0625, 1.5}}, ALONG_X, {-0.75, 0, 0}},
     {{solid_box, {0.25, 2, 2}}, ALONG_X, {-0.125, -1, -1}}},
    /* As "pipe on plate", 2^-30 m lower: the lowest edge runs below z = 0, through the plate. */
    {"pipe sunk by a hair",
     "cross",
     true,
     false,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0.15625 - 0x1p-30}},
     {{solid_box, {2, 1, 0.125}}, ALONG_X, {-0.75, -0.5, -0.125}}},
    /* Half the bolt is below the top z = 0 of the block, half above. */
    {"bolt half out of a block",
     "cross",
     true,
     false,
     {{solid_rod, {0.0625, 0.5}}, UPRIGHT, {0, 0, -0.25}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.5, -0.5, -1}}},
    /* From the cavity through the wall to the outside. */
    {"rod through the wall of a tank",
     "cross",
     true,
     false,
     {{solid_rod, {0.0625, 1}}, ALONG_X, {0.5, 0, 0}},
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.75}}},
    /* Cubes whose common part is a cube of 1/16 m in a corner of each. */
    {"corner in corner",
     "cross",
     true,
     false,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, -1, -1}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.0625, -0.0625, -0.0625}}},

    /* a_in_b: every point of a is one of b, and some of b are not of a. In the other order: b_in_a. */

    /* Well inside. */
    {"bolt in a block",
     "a_in_b",
     false,
     true,
     {{solid_rod, {0.0625, 0.5}}, UPRIGHT, {0, 0, -0.25}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.5, -0.5, -0.5}}},
    /* Its upper end in the block's top, z = 0.5. */
    {"bolt flush with a block",
     "a_in_b",
     true,
     true,
     {{solid_rod, {0.0625, 0.5}}, UPRIGHT, {0, 0, 0}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.5, -0.5, -0.5}}},
    /* Three faces in three faces of the other. */
    {"cube in a corner of a cube",
     "a_in_b",
     true,
     true,
     {{solid_box, {0.25, 0.25, 0.25}}, ALONG_X, {0.25, 0.25, 0.25}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.5, -0.5, -0.5}}},
    /* The same section: four faces in four faces. */
    {"bar in a longer bar",
     "a_in_b",
     true,
     true,
     {{solid_box, {1, 0.25, 0.25}}, ALONG_X, {-0.5, 0, 0}},
     {{solid_box, {2, 0.25, 0.25}}, ALONG_X, {-1, 0, 0}}},
    /* From x = -0.5 to x = 0.5, where the block ends as well. */
    {"rod from end to end of a block",
     "a_in_b",
     true,
     true,
     {{solid_rod, {0.125, 1}}, ALONG_X, {-0.5, 0, 0}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.5, -0.5, -0.5}}},
    /* Between the inner corner at x = 0.875 and the outer one at x = 1, where the outside falls back by less than 0.01.
     */
    {"block in the wall of a tank",
     "a_in_b",
     false,
     true,
     {{solid_box, {0.0625, 0.0625, 0.25}}, ALONG_X, {0.90625, -0.03125, 0}},
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.75}}},
    /* The tip in the block's top, inside a triangle of it; the rest below. */
    {"tip under a face",
     "a_in_b",
     true,
     true,
     {{solid_pyramid, {0.25, 0.25}}, ALONG_X, {0.125, 0.0625, 0.25}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {-0.5, -0.5, -0.5}}},
    /* The same outside; b has no cavity. */
    {"tank in its filling",
     "a_in_b",
     true,
     true,
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.75}},
     {{solid_filled_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.75}}},

    /* duplicate: the same set of points. */

    /* The same mesh at the same pose. */
    {"pipe twice",
     "duplicate",
     true,
     false,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0}},
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0}}},
    /* Faces cut along the other diagonals. */
    {"block with other diagonals",
     "duplicate",
     true,
     false,
     {{solid_box, {1, 0.5, 0.75}}, ALONG_X, {0, 0, 0}},
     {{solid_other_box, {1, 0.5, 0.75}}, ALONG_X, {0, 0, 0}}},
    /* Faces of 4 x 4 squares, whose corners are exact. */
    {"block with finer faces",
     "duplicate",
     true,
     false,
     {{solid_box, {1, 0.5, 0.75}}, ALONG_X, {0, 0, 0}},
     {{solid_cut_box, {1, 0.5, 0.75, 4}}, ALONG_X, {0, 0, 0}}},
    /* One ring of corners more, half way along, in the same plane sides. */
    {"pipe with another ring",
     "duplicate",
     true,
     false,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0}},
     {{solid_cut_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0}}},
    /* A quarter turn puts the cube on itself: x -1 .. 0, moved by 1. */
    {"cube turned onto itself",
     "duplicate",
     true,
     false,
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0, 0}},
     {{solid_box, {1, 1, 1}}, QUARTER, {1, 0, 0}}},
    /* Half a turn about its axis puts corner i of each ring on corner i + half, and triangles on triangles. */
    {"tank turned onto itself",
     "duplicate",
     true,
     false,
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.75}},
     {{solid_tank, {1, 1.5, 0.125}}, SIDEWAYS, {0, 0, -0.75}}},

    /* separate: nearly something else. */

    /* 1/64 m of air around the rod. */
    {"rod in a bore",
     "separate",
     false,
     false,
     {{solid_pipe, {0.15625, 0.140625, 1}}, ALONG_X, {0, 0, 0}},
     {{solid_rod, {0.125, 1.5}}, ALONG_X, {-0.25, 0, 0}}},
    /* In the cavity, 1/8 m above its floor. */
    {"block in a tank",
     "separate",
     false,
     false,
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.5}},
     {{solid_box, {0.25, 0.25, 0.25}}, ALONG_X, {0.125, 0.125, -0.25}}},
    /* As "pipe on plate", 2^-30 m higher. */
    {"pipe a hair above a plate",
     "separate",
     false,
     false,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0.15625 + 0x1p-30}},
     {{solid_box, {2, 1, 0.125}}, ALONG_X, {-0.75, -0.5, -0.125}}},
    /* As "end on end", 2^-30 m apart. */
    {"walls a hair apart",
     "separate",
     false,
     false,
     {{solid_box, {1.5, 0.25, 1}}, ALONG_X, {-1.5, 0, 0}},
     {{solid_box, {1.5, 0.25, 1}}, ALONG_X, {0x1p-30, 0, 0}}},
};

enum { construction_count = sizeof constructions / sizeof constructions[0] };

typedef struct yard {
  parts *shelf;
  uint32_t pairs;   /* so many so far */
  uint32_t columns; /* in a row */
} yard;

/* The middle of a pair's place: 5 m apart, in a square; the rows go away from the plant. */
static void find_place(const yard *y, uint32_t pair, double middle[3]) {
  middle[0] = 2 + 5.0 * (pair % y->columns);
  middle[1] = -5 - 5.0 * (pair / y->columns);
  middle[2] = 3;
}

bool plant_member(parts *shelf, const placed_solid *member, turn whole, const double middle[3], const char *name,
                  uint32_t number, char letter) {
  turn how;
  double at[3], pose[12];
  char text[48];
  uint32_t mesh;
  for (int k = 0; k < 3; k++) {
    int sign = member->how.to[k] < 0 ? -1 : 1;
    how.to[k] = (int8_t)(sign * whole.to[abs(member->how.to[k]) - 1]);
    at[abs(whole.to[k]) - 1] = member->at[k] * (whole.to[k] < 0 ? -1 : 1);
  }
  for (int k = 0; k < 3; k++) at[k] += middle[k];
  turn_pose(how, at, pose);
  snprintf(text, sizeof text, "%s %u/%c", name, number, letter);
  return parts_find(shelf, &member->what, &mesh) && scene_add_object(shelf->scene, text, "planted", mesh, pose);
}

static bool plant_pair(yard *y, const construction *how, uint32_t number, turn whole, bool swapped) {
  scenes_scene *scene = y->shelf->scene;
  double middle[3];
  uint32_t first = scene->object_count;
  find_place(y, y->pairs++, middle);
  scene->pairs[scene->pair_count++] =
      (scenes_pair){first, first + 1, swapped ? "b_in_a" : how->relation, how->name, how->surfaces_meet, 0};
  return plant_member(y->shelf, swapped ? &how->b : &how->a, whole, middle, how->name, number, 'a') &&
         plant_member(y->shelf, swapped ? &how->a : &how->b, whole, middle, how->name, number, 'b');
}

bool plant_clashes(parts *shelf, random_stream *random, uint32_t count) {
  uint32_t pairs = 0, columns = 1;
  for (uint32_t i = 0; i < construction_count; i++) pairs += count * (constructions[i].both_orders ? 2 : 1);
  while (columns * columns < pairs) columns++;
  yard y = {shelf, 0, columns};
  shelf->scene->pairs = malloc((2 * (size_t)construction_count * count + 1) * sizeof *shelf->scene->pairs);
  if (!shelf->scene->pairs) return false;
  for (uint32_t i = 0; i < construction_count; i++) {
    const construction *how = &constructions[i];
    uint32_t number = 0;
    for (uint32_t copy = 0; copy < count; copy++) {
      turn whole = copy == 0 ? turn_none : turn_numbered(stream_below(random, 24));
      if (!plant_pair(&y, how, ++number, whole, false)) return false;
      if (how->both_orders && !plant_pair(&y, how, ++number, whole, true)) return false;
    }
  }
  return true;
}
