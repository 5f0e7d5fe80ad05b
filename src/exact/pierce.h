/* Where a straight line meets a triangle: whether, and at which parameter first; right for all finite doubles.
 *
 * The line is from + t way, 0 <= t <= most, and the way is a vector of doubles or the exact difference of two points.
 * With corners a, b, c relative to the line's beginning, the line passes the triangle where the determinants
 * [way, b, c], [way, c, a] and [way, a, b] have one sign, at t = [a, b, c] / their sum. Ladder: determinants in doubles
 * with proved bounds, the quotient in pairs of doubles; then integers, which also decide what lies in a plane, and
 * triangles that are segments or points.
 *
 * T. Moeller, B. Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997, has these determinants.
 */
#ifndef GRAZE_SRC_EXACT_PIERCE_H
#define GRAZE_SRC_EXACT_PIERCE_H

#include <stdbool.h>

typedef struct pierce_line {
  double from[3], to[3]; /* where t = 0, and where t = 1 or, */
  bool directed;         /* the way itself */
  double most;           /* not negative, finite */
  double way[3];         /* rounded */
} pierce_line;

/* `to` is a point or, if it is `directed`, the way. `most` may be infinite: the largest double takes its place. */
void gz_pierce_start(pierce_line *line, const double from[3], const double to[3], bool directed, double most);

/* Whether they meet. Then time[0] and time[1] are the largest double not above the least such t and the smallest not
 * below it. A line that first meets the triangle at a t above `limit` may be told to miss it. */
bool gz_pierce(const pierce_line *line, const double corners[9], double limit, double time[2]);

/* The last stage alone. */
bool gz_pierce_exact(const pierce_line *line, const double corners[9], double time[2]);

#endif
