/* bench/plain_tritri.h: triangle-triangle tests in plain floating point, the baselines that exactness is measured
 * against. None of them is exact. Corners as x, y, z; closed triangles. */
#ifndef BENCH_PLAIN_TRITRI_H
#define BENCH_PLAIN_TRITRI_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interval test of T. Moller, "A Fast Triangle-Triangle Intersection Test", 1997. */
bool plain_moller_double(const double a[9], const double b[9]);
bool plain_moller_float(const double a[9], const double b[9]); /* rounds the coordinates first */

/* Orientation signs only, after P. Guigue and O. Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using
 * Orientation Predicates", 2003. */
bool plain_orientation_double(const double a[9], const double b[9]);
bool plain_orientation_float(const double a[9], const double b[9]);

/* The test that tutorials on collision kernels show: in float, edges against triangles by solving a 3x3 system, a zero
 * determinant counted as "no"; three edges of a and two of b, because two crossing triangles give two crossings. */
bool plain_five_edges_float(const double a[9], const double b[9]);

#ifdef __cplusplus
}
#endif
#endif
