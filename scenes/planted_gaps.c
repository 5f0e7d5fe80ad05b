/* Pairs whose distance follows from how they are built. As in planted.c posing is exact: one solid is moved away from
 * where it would touch the other by a multiple of 2^-12 m along a vector of whole numbers, whose length is one. That
 * the distance is that of the two features that would touch, each construction says; pairs are 5 m from each other and
 * keep their distance when they are turned as a whole. */
#include <stdlib.h>

#include "planted.h"

typedef struct gap_construction {
  const char *name;
  int8_t way[3]; /* in which b is moved, */
  int8_t length; /* and the distance for one of it */
  placed_solid a, b;
} gap_construction;

static const gap_construction constructions[] = {
    /* Faces in parallel planes, one above the other. */
    {"face over face",
     {0, 0, 1},
     1,
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0, -1}},
     {{solid_box, {1, 0.5, 0.5}}, ALONG_X, {0.25, 0.75, 0}}},
    /* Equal walls in line. */
    {"end by end",
     {1, 0, 0},
     1,
     {{solid_box, {1.5, 0.25, 1}}, ALONG_X, {-1.5, 0, 0}},
     {{solid_box, {1.5, 0.25, 1}}, ALONG_X, {0, 0, 0}}},
    /* a at x <= 0, z <= 0; b beyond an edge that is parallel to a's, over y 0.5 .. 1 of it. */
    {"edge by edge",
     {3, 0, 4},
     5,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, 0, -1}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0.5, 0}}},
    /* The ridge of a along the x axis from below, that of b along y from above: each keeps to its side of a level. */
    {"edge over edge",
     {0, 0, 1},
     1,
     {{solid_ridge, {1, 1, 2}}, ALONG_X, {-1, 0, -1}},
     {{solid_ridge, {1, 1, 2}}, UPSIDE_ALONG_Y, {0, -1, 1}}},
    /* Cubes in opposite octants: coordinates of b are at least those of its corner, of a at most 0. */
    {"corner by corner",
     {2, 3, 6},
     7,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, -1, -1}},
     {{solid_box, {1, 1, 1}}, ALONG_X, {0, 0, 0}}},
    /* The tip of a pyramid above a plate. */
    {"corner over face",
     {0, 0, 1},
     1,
     {{solid_box, {2, 2, 0.25}}, ALONG_X, {-1, -1, -0.25}},
     {{solid_pyramid, {1, 1}}, UPSIDE, {0.25, 0.125, 1}}},
    /* And beside and above the edge x = 0, z = 0 of a block. The pyramid widens by half of what it rises: at h above
     * its tip it is at x >= 3 u - h / 2, z = 4 u + h, farther from the edge than the tip is; over the block, at x <= 0,
     * h is at least 6 u. */
    {"corner by edge",
     {3, 0, 4},
     5,
     {{solid_box, {1, 1, 1}}, ALONG_X, {-1, 0, -1}},
     {{solid_pyramid, {1, 1}}, UPSIDE, {0, 0.375, 1}}},
    /* Its lowest line of corners above the plate. */
    {"pipe over plate",
     {0, 0, 1},
     1,
     {{solid_box, {2, 1, 0.125}}, ALONG_X, {-0.75, -0.5, -0.125}},
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0.15625}}},
    /* Lines of corners on either side of a gap in y. */
    {"pipe by pipe",
     {0, 1, 0},
     1,
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-1, 0, 0}},
     {{solid_pipe, {0.15625, 0.140625, 2}}, ALONG_X, {-0.5, 0.3125, 0}}},
    /* The same ring twice. */
    {"pipe end by pipe end",
     {1, 0, 0},
     1,
     {{solid_pipe, {0.109375, 0.09375, 1}}, ALONG_X, {-1, 0, 0}},
     {{solid_pipe, {0.109375, 0.09375, 1}}, ALONG_X, {0, 0, 0}}},
    /* In the cavity, above its floor at z = -0.375, farther from its wall. */
    {"block over the floor of a tank",
     {0, 0, 1},
     1,
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {0, 0, -0.5}},
     {{solid_box, {0.25, 0.25, 0.25}}, ALONG_X, {0.125, 0.125, -0.375}}},
    /* Nearer to one leg than to the other, in the part that the L leaves out. */
    {"block by an angle",
     {0, 2, 1},
     1,
     {{solid_angle, {1, 0.25, 2}}, ALONG_X, {-1, 0, 0}},
     {{solid_box, {1, 0.5, 0.5}}, ALONG_X, {-0.5, 0.25, 0.25}}},
    /* The pipe's lowest line of corners above the inner side; to the sides it has 1/8 m. */
    {"pipe over the floor of a duct",
     {0, 0, 1},
     1,
     {{solid_duct, {0.75, 0.125, 1}}, ALONG_X, {-0.5, 0, 0}},
     {{solid_pipe, {0.125, 0.0625, 2}}, ALONG_X, {-1, 0, -0.125}}},
    /* Corners of the rings stand upright on either side of a gap in x. */
    {"tank by tank",
     {1, 0, 0},
     1,
     {{solid_tank, {1, 1.5, 0.125}}, ALONG_X, {-1, 0, -0.75}},
     {{solid_filled_tank, {0.5, 1, 0.125}}, ALONG_X, {0.5, 0, -0.5}}},
};

enum {
  construction_count = sizeof constructions / sizeof constructions[0],
  most_units = 512 /* of 2^-12 m: gaps of up to 1/8 m */
};

static bool plant_pair(parts *shelf, random_stream *random, const gap_construction *how, uint32_t number,
                       const double middle[3]) {
  scenes_scene *scene = shelf->scene;
  const turn whole = number == 1 ? turn_none : turn_numbered(stream_below(random, 24));
  const double unit = 0x1p-12 * (1 + stream_below(random, most_units / (uint32_t)how->length));
  const uint32_t first = scene->object_count;
  placed_solid b = how->b;
  for (int k = 0; k < 3; k++) b.at[k] += unit * how->way[k];
  scene->pairs[scene->pair_count++] = (scenes_pair){first, first + 1, "separate", how->name, false, unit * how->length};
  return plant_member(shelf, &how->a, whole, middle, how->name, number, 'a') &&
         plant_member(shelf, &b, whole, middle, how->name, number, 'b');
}

bool plant_gaps(parts *shelf, random_stream *random, uint32_t count) {
  scenes_scene *scene = shelf->scene;
  const uint32_t pairs = construction_count * count;
  uint32_t columns = 1, place = 0;
  if (count == 0) return true;
  while (columns * columns < pairs) columns++;
  scenes_pair *more = realloc(scene->pairs, (scene->pair_count + (size_t)pairs) * sizeof *more);
  if (!more) return false;
  scene->pairs = more;
  for (uint32_t i = 0; i < construction_count; i++) {
    for (uint32_t number = 1; number <= count; number++, place++) {
      const double middle[3] = {-5 - 5.0 * (place % columns), -5 - 5.0 * (place / columns), 3};
      if (!plant_pair(shelf, random, &constructions[i], number, middle)) return false;
    }
  }
  return true;
}
