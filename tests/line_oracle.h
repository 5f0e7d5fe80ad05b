/* tests/line_oracle.h: where a straight line first meets a triangle, and how near a moving point comes to one, in
 * rational numbers.
 *
 * The line: the points of the triangle are a + u (b - a) + v (c - a) with u, v >= 0 and u + v <= 1, those of the line
 * from + t way. Three equations and five inequalities in u, v, t; equations are solved for as many unknowns as they
 * determine, u and v eliminated from what is left (Fourier and Motzkin), and what remains says what t may be. There are
 * no special cases, neither of triangles nor of lines.
 */
#ifndef GRAZE_TESTS_LINE_ORACLE_H
#define GRAZE_TESTS_LINE_ORACLE_H

#include <gmp.h>
#include <stdbool.h>

/* The least t of [0, most] at which the line meets the triangle; false: it does not. `to` is the place at t = 1 or, if
 * it is `directed`, the way. */
bool oracle_line(const double from[3], const double to[3], bool directed, double most, const double corners[9],
                 mpq_t time);

/* Whether low and high are the doubles around the number: the same one, or neighbours with it between. */
bool oracle_enclosed(const mpq_t number, double low, double high);

/* Sign of the distance from (1 - t) from + t to to a triangle minus r. */
int oracle_flight(const double from[3], const double to[3], double t, double r, const double corners[9]);

#endif
