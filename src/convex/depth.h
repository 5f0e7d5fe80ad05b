/* What the searches for a depth share: faces of polytopes of points of A - B. */
#ifndef GRAZE_SRC_CONVEX_DEPTH_H
#define GRAZE_SRC_CONVEX_DEPTH_H

#include "convex/pair.h"

/* A plane from the points as they are: quicker than from short differences (gz_pair_plane), and enough for most. */
convex_plane gz_depth_rough_plane(const convex_pair *pair, const double p0[3], const double p1[3], const double p2[3]);

/* How far the origin is behind the plane through w, one of its three points; infinite ends: not known. */
convex_bracket gz_depth_distance(const convex_pair *pair, const convex_plane *plane, const double w[3]);

/* The foot of the origin on a triangle with the normal n: `s` has its corners and gets shares by areas, cut to the
 * triangle. Gives the square of the distance. */
double gz_depth_foot(const double n[3], convex_simplex *s);

/* depth_quick.c: gz_depth of four points around the origin in order, in doubles. False: these do not tell. */
bool gz_depth_quick(const convex_pair *pair, convex_simplex *simplex, convex_bracket *depth, double normal[3]);

#endif
