/* The triangles of two operands as they cut each other, and exact signs about a line among them.
 *
 * Every number is a polynomial of the posed coordinates. It is computed as a double with a bound on its error, and
 * where that leaves the sign open, in integers.
 */
#ifndef GRAZE_SRC_NARROW_RELATE_ARRANGEMENT_H
#define GRAZE_SRC_NARROW_RELATE_ARRANGEMENT_H

#include "exact/big.h"
#include "narrow/relate/steps.h"

/* What passing through a triangle changes. */
typedef enum boundary { BOUNDARY_NONE, BOUNDARY_WINDING, BOUNDARY_PARITY } boundary;

typedef struct arranged_triangle {
  uint32_t corner[3]; /* points */
  uint32_t part;
  uint8_t operand; /* 0: a, 1: b */
  uint8_t bounds;  /* boundary */
  int8_t axis;     /* the projection along it keeps an area, which turns this way; -1: there is none, not looked at */
  int8_t turn;
  graze_box box;
} arranged_triangle;

typedef struct arrangement {
  const graze_context *context;
  const operands *of;
  arranged_triangle *triangles; /* a's, then b's */
  double (*points)[3];          /* a's vertices, then b's, posed and rounded */
  double *error;                /* |points - real|: T2; NULL: none */
  uint32_t triangle_count, point_count;
  uint32_t first_b, first_point_b;
  bool too_long; /* a number did not fit: what came of it means nothing */
} arrangement;

/* Errors: MEMORY. Either way gz_arrangement_close may be called. */
graze_status gz_arrangement_open(arrangement *all, const operands *o);
void gz_arrangement_close(arrangement *all);

/* The common set of two triangles. */
void gz_arrangement_meet(const arrangement *all, uint32_t t, uint32_t u, graze_tritri *out);

/* Of one operand; positions decide, not numbers. */
bool gz_arrangement_same_point(const arrangement *all, uint32_t p, uint32_t q);

/* ---- numbers --------------------------------------------------------------------------------------------------- */

typedef struct estimate {
  double value, error;
} estimate;

/* A plane: of points p, q, r, its normal as they turn counterclockwise; or through p and q along an axis. */
typedef struct plane {
  uint32_t p, q, r;
  int axis; /* -1: of three points */
  estimate normal[3];
  const big *exact; /* the normal, or NULL */
} plane;

plane gz_plane_of(const arrangement *all, uint32_t triangle);
plane gz_plane_along(const arrangement *all, uint32_t p, uint32_t q, int axis);

/* Whether the box lies on one side for sure. */
bool gz_plane_misses(const arrangement *all, const plane *of, const graze_box *box);

/* Sign of the point's distance: positive on the normal's side. */
int gz_plane_sign(arrangement *all, const plane *of, uint32_t point);

/* ---- lines ----------------------------------------------------------------------------------------------------- */

/* An end of a line's carrier: point p, or where the edge p, q goes through the plane that cuts. */
typedef struct line_end {
  uint32_t p, q; /* p == q: a point */
} line_end;

/* The line in which planes `of` and `cut` meet. Its carrier is an edge of the triangle of plane `of`, or the chord that
 * `cut` leaves of that triangle. */
typedef struct line {
  arrangement *all;
  uint32_t carrier; /* the triangle of plane `of` */
  plane of, cut;
  line_end end[2];
  estimate *at_of, *at_cut;   /* by point; arrays of the caller */
  int8_t *sign_of, *sign_cut; /* by point; UNSIGNED: not known */
  big exact[2][3];            /* normals of the planes, once they are needed */
} line;

enum { UNSIGNED = 2 };

/* To be called when the planes have changed. */
void gz_line_begin(line *l);

int gz_line_sign_of(line *l, uint32_t point);
int gz_line_sign_cut(line *l, uint32_t point);

/* How y lies to the half-plane from the line towards x: 1 less than half a turn counterclockwise of it, -1 clockwise,
 * 0: in its plane. Counterclockwise is a convention of the line. */
int gz_line_turn(line *l, uint32_t x, uint32_t y);

/* A point where a plane goes through the line: its values at the ends, times positive numbers. */
typedef struct crossing {
  plane by;
  estimate at[2];
  int sign[2];
  int region; /* -1: before the carrier, 0: on it, 1: beyond */
} crossing;

/* The plane does not hold the line. */
void gz_line_cross(line *l, const plane *by, crossing *out);

/* Order of two crossings on the carrier: -1, 0, 1. */
int gz_line_compare(line *l, const crossing *x, const crossing *y);

#endif
