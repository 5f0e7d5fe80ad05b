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

/* Points, three doubles each: distances from the surface, and whether the solid has them. */
static inline graze_status ask_solid(const solid_source *source, const double *points, uint64_t count,
                                     graze_point_distance *found) {
  graze_point_options options = graze_default_point_options();
  options.open = GRAZE_OPEN_SURFACE;
  return graze_mesh_point_distances(source->query, source->mesh, NULL, points, 0, count, &options, found);
}

/* How far a hull sticks out of the solid. */
typedef struct hull_error {
  bool within;     /* no point of the hull is farther from the solid than the bound, which is at most what is allowed */
  double bound;    /* proved */
  double out;      /* else how far some point is, or may be */
  double place[3]; /* and that point, of the hull or near it */
} hull_error;

/* What a solid is in a box: of its surface convex polygons, cut at the box's sides, and the corners of the box that are
 * in the solid. The hull of the two is that of the solid there. */
typedef struct piece {
  graze_box cell;
  gz_array corners; /* double[3], those of the first polygon first */
  gz_array sizes;   /* uint32_t: how many each polygon has */
  uint8_t inner;    /* bit i: corner i of the cell is in the solid; bits of i: 1 x, 2 y, 4 z at the upper end */
  graze_hull *hull; /* NULL: it has no volume */
  double volume;    /* of the hull */
  hull_error found; /* not within: it needs a cut, */
  bool large;       /* for its number of corners */
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

/* Whether a hull sticks out of the solid by at most `allowed`. What is within an eighth of that may be said not to be.
 * With `to_cut` the place is one of the farthest nearby. Errors: LIMIT, MEMORY. */
graze_status gz_hull_find_error(const solid_source *source, const graze_hull *hull, double allowed, bool to_cut,
                                hull_error *error);

#endif
