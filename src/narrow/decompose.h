/* A solid in convex parts: pieces of it in boxes, and how far their hulls stick out. */
#ifndef GRAZE_SRC_NARROW_DECOMPOSE_H
#define GRAZE_SRC_NARROW_DECOMPOSE_H

#include "base/owned.h"
#include "graze/decompose.h"
#include "graze/distance.h"

/* The solid whose parts are looked for. */
typedef struct solid_source {
  graze_context *context;
  graze_query *query;
  const graze_mesh *mesh;
  graze_box box;
} solid_source;

/* What a solid is in a box: of its surface convex polygons, cut at the box's sides, and the corners of the box that are
 * in the solid. The hull of the two is that of the solid there. */
typedef struct piece {
  graze_box cell;
  gz_array corners; /* double[3], those of the first polygon first */
  gz_array sizes;   /* uint32_t: how many each polygon has */
  uint8_t inner;    /* bit i: corner i of the cell is in the solid; bits of i: 1 x, 2 y, 4 z at the upper end */
  graze_hull *hull; /* NULL: it has no volume */
  double volume;    /* of the hull */
  bool done;        /* it needs no cut */
  double error;     /* done: of the hull, proved */
  bool large;       /* else: whether it has to be cut for its number of corners; */
  double out;       /* how urgent a cut is; */
  double place[3];  /* and a point of the hull, or near it, that is far from the solid */
} piece;

/* ---- decompose_pieces.c ---- */

/* The whole solid, without its hull. On an error the piece is to be released all the same. */
graze_status gz_piece_whole(const solid_source *source, piece *whole);
void gz_piece_release(piece *p);

/* Fills in hull and volume. */
graze_status gz_piece_find_hull(graze_context *context, piece *p);

/* Cuts a piece where the hulls of both halves are smallest together; without their hulls, and released both on an
 * error. */
graze_status gz_piece_split(const solid_source *source, const piece *whole, piece halves[2]);

double gz_hull_volume(const graze_hull *hull);

/* ---- decompose_error.c ---- */

typedef struct hull_error {
  bool within;  /* no point of the hull is farther from the solid than the bound, which is at most what is allowed */
  double bound; /* proved */
  double out;   /* else a point that is, or may be, and how far it is */
  double place[3];
} hull_error;

/* Whether a hull sticks out of the solid by at most `allowed`. What is within an eighth of that may be said not to
 * be. Errors: LIMIT, MEMORY. */
graze_status gz_hull_find_error(const solid_source *source, const graze_hull *hull, double allowed, hull_error *error);

#endif
