/* solids.h: the parts of a plant, each a closed solid, outward-oriented, whose measures name it. Those with several
 * pieces (ladder, rail) keep the pieces apart. Coordinates are multiples of 2^-18 m, flat faces lie where the measures
 * say to the last bit. Private to scenes. */
#ifndef SCENES_SOLIDS_H
#define SCENES_SOLIDS_H

#include "builder.h"

/* What the four sizes mean; missing ones are 0. Profiles and rings go along x from x = 0. Round things have
 * 32 detail corners, one of them on each axis. */
typedef enum solid_kind {
  solid_box,         /* x, y, z: from the origin */
  solid_other_box,   /* x, y, z: the same with the other diagonal in each face */
  solid_cut_box,     /* x, y, z, n: the same with faces of n x n squares */
  solid_beam,        /* I: width (y, about 0), height (z, from 0), length */
  solid_channel,     /* U, open above: width (y, about 0), height (z, from 0), thickness, length */
  solid_angle,       /* L in the corner of y and z: width, thickness, length */
  solid_ridge,       /* triangle: width (y, about 0), height (z, from 0), length */
  solid_pyramid,     /* square foot about the z axis at z = 0: its side, height */
  solid_duct,        /* hollow square about the x axis: side, wall, length */
  solid_pipe,        /* hollow: radius, bore's radius, length */
  solid_cut_pipe,    /* the same with a ring of corners at half the length */
  solid_rod,         /* radius, length */
  solid_elbow,       /* pipe that turns from x to y: radius, bore's radius, radius of the bend */
  solid_tank,        /* about z, from 0, conical roof, cavity: radius, height, wall */
  solid_filled_tank, /* its outside only: radius, height, wall */
  solid_vessel,      /* about z, heads below 0 and above the height, half a radius deep: radius, height */
  solid_saddle,      /* under a drum along x with its axis at the height: radius, height, thickness */
  solid_grating,     /* holes along x, holes along y; 1/8 m a hole, bars of 1/64 m, 1/32 m thick; from the origin */
  solid_ladder,      /* up z: height; 1/2 m wide about y = 0, 1/16 m along x from 0 */
  solid_rail,        /* along x: length, in whole metres; 1.05 m high, 3/64 m thick along y from 0 */
  solid_wheel        /* a ring about z: radius, radius of its tube */
} solid_kind;

typedef struct solid {
  solid_kind kind;
  double size[4];
} solid;

void solid_build(builder *build, const solid *what, uint32_t detail);

/* "beam_128_256_2048": the kind and its sizes in 1/1024 m (counts as they are). */
void solid_name(const solid *what, char name[32]);

#endif
