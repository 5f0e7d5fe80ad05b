/* Triangles that a ball may touch: src/geometry/nearest.c and the list of src/dynamics/surfaces.c. Operations are those
 * of these files, in their order. A triangle's normal and shape, which need more than + - * / and roots, come with it.
 */
#include "law.h"

/* ---- the nearest point of a triangle ----------------------------------------------------------------------------- */

typedef struct near_point {
  double normal[3], distance;
  u32 inside;
} near_point;

FUNCTION void subtract(const double *a, const double *b, double *out) {
  for (u32 k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

/* The part of p - a that is not along the segment from a to b, or leads to its nearer end. */
FUNCTION void from_segment(const double *a, const double *b, const double *p, double *way) {
  double edge[3], to[3];
  subtract(b, a, edge);
  subtract(p, a, to);
  double along = dot(to, edge), length2 = dot(edge, edge);
  if (along >= length2 && length2 > 0) {
    subtract(p, b, way);
    return;
  }
  double t = along > 0 ? along / length2 : 0;
  for (u32 k = 0; k < 3; k++) way[k] = to[k] - t * edge[k];
}

FUNCTION u32 projects_inside(const double *corners, u32 is_sliver, const double *normal, const double *p) {
  for (u32 k = 0; k < 3; k++) {
    const double *from = corners + 3 * k, *to = corners + 3 * ((k + 1) % 3);
    double edge[3], inward[3], way[3], other[3];
    subtract(to, from, edge);
    subtract(p, from, way);
    subtract(p, to, other);
    cross_product(normal, edge, inward);
    u32 ends_nearer = is_sliver && dot(other, other) < dot(way, way);
    if (!(dot(inward, ends_nearer ? other : way) > 0)) return 0;
  }
  return 1;
}

CALLED void find_nearest(GLOBAL const double *triangle, const double *p, near_point *near) {
  double corners[9], way[3], least[3] = {0, 0, 0}, least2 = AS_F64((u64)0x7ff00000u << 32); /* infinite */
  u32 shape = (u32)triangle[TRIANGLE_SHAPE];
  for (u32 k = 0; k < 9; k++) corners[k] = triangle[k];
  for (u32 k = 0; k < 3; k++) near->normal[k] = triangle[TRIANGLE_NORMAL + k];
  near->inside = shape != SHAPE_LINE && projects_inside(corners, shape == SHAPE_SLIVER, near->normal, p);
  if (near->inside) {
    subtract(p, corners, way);
    double height = dot(near->normal, way);
    for (u32 k = 0; k < 3; k++) near->normal[k] = height < 0 ? -near->normal[k] : near->normal[k];
    near->distance = ABS(height);
    return;
  }
  for (u32 e = 0; e < 3; e++) {
    from_segment(corners + 3 * e, corners + 3 * ((e + 1) % 3), p, way);
    double distance2 = dot(way, way);
    if (!(distance2 < least2)) continue;
    least2 = distance2;
    for (u32 k = 0; k < 3; k++) least[k] = way[k];
  }
  near->distance = SQRT(least2);
  for (u32 k = 0; k < 3 && near->distance > 0; k++) near->normal[k] = least[k] / near->distance;
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

/* The largest whole number that is not above x. */
FUNCTION double whole_below(double x) {
  if (!(x > -0x1p52 && x < 0x1p52)) return x;
  double whole = (double)(i64)x;
  return whole > x ? whole - 1 : whole;
}

FUNCTION void rotate(GLOBAL const double *surface, const double *x, double *out) {
  for (u32 k = 0; k < 3; k++) {
    GLOBAL const double *r = surface + SURFACE_ROTATION + 3 * k;
    out[k] = (r[0] * x[0] + r[1] * x[1]) + r[2] * x[2];
  }
}

/* A point of the world in the mesh's own coordinates, or those of an image, which is as many periods away. */
FUNCTION void to_mesh(GLOBAL const double *surface, GLOBAL const double *frame, const double *at, const double *image,
                      double *out) {
  double way[3];
  for (u32 k = 0; k < 3; k++) way[k] = at[k] - (surface[SURFACE_POSITION + k] + image[k] * frame[FRAME_PERIOD + k]);
  for (u32 k = 0; k < 3; k++) {
    GLOBAL const double *r = surface + SURFACE_ROTATION + k;
    out[k] = ((r[0] * way[0] + r[3] * way[1]) + r[6] * way[2]) + surface[SURFACE_CENTER + k];
  }
}

/* Of the point of its nearest image that is there. */
FUNCTION void surface_velocity(GLOBAL const double *surface, GLOBAL const double *frame, const double *at,
                               double *velocity) {
  double way[3];
  for (u32 k = 0; k < 3; k++) {
    double period = frame[FRAME_PERIOD + k];
    way[k] = at[k] - surface[SURFACE_POSITION + k];
    if (period != 0) way[k] -= period * whole_below(way[k] / period + 0.5);
  }
  for (u32 k = 0; k < 3; k++) {
    u32 l = (k + 1) % 3, m = (k + 2) % 3;
    velocity[k] =
        surface[SURFACE_VELOCITY + k] + (surface[SURFACE_SPIN + l] * way[m] - surface[SURFACE_SPIN + m] * way[l]);
  }
}

/* ---- a contact that is told of ----------------------------------------------------------------------------------- */

FUNCTION void meet_surface(const party *a, GLOBAL const double *surface, GLOBAL const double *frame, u32 number,
                           u32 order, const double *normal, double overlap, meeting *m) {
  double arm = a->at[3] - 0.5 * overlap, other[3];
  m->overlap = overlap;
  for (u32 k = 0; k < 3; k++) {
    m->normal[k] = normal[k];
    m->point[k] = a->at[k] - arm * normal[k];
  }
  surface_velocity(surface, frame, m->point, other);
  for (u32 k = 0; k < 3; k++) m->velocity[k] = a->velocity[k] - other[k];
  m->number = a->number;
  m->partner = number;
  m->with = EVENT_WITH_SURFACE;
  m->order = order;
}

/* A contact has ended, and what its spring held, which is returned, is lost. kept: what it remembered. */
FUNCTION double end_at_surface(const party *a, GLOBAL const double *surface, GLOBAL const double *frame, u32 number,
                               u32 order, GLOBAL const double *law, GLOBAL const double *kept, u32 features, told t) {
  double normal[3], speed = 0, lost = 0;
  meeting m;
  if (features & FEATURE_SPRINGS) lost = lost_energy(law, kept, 1);
  if ((features & FEATURE_EVENTS) == 0) return lost;
  for (u32 k = 0; k < 3; k++) normal[k] = kept[FACET_KEPT_NORMAL(features) + k];
  meet_surface(a, surface, frame, number, order, normal, 0, &m);
  for (u32 k = 0; k < 3; k++) speed += m.velocity[k] * m.normal[k];
  tell(t, EVENT_ENDED, &m, speed, kept[KEPT_SPRINGS(features) + 1]);
  return lost;
}

FUNCTION u32 surface_of(GLOBAL const u32 *facets, u32 entry) {
  return facets[FACET_FIELDS * (u64)entry + FACET_SURFACE] & ~FACET_TOUCHES;
}

FUNCTION u32 facet_touches(GLOBAL const u32 *facets, u32 entry) {
  return (facets[FACET_FIELDS * (u64)entry + FACET_SURFACE] & FACET_TOUCHES) != 0;
}

/* Where the entries of another surface begin, or `end`. */
FUNCTION u32 surface_end(GLOBAL const u32 *facets, u32 entry, u32 end) {
  u32 surface = surface_of(facets, entry), last = entry + 1;
  while (last < end && surface_of(facets, last) == surface) last++;
  return last;
}
