/* How far a hull sticks out of a solid.
 *
 * Cubes cover the hull. Distances from the solid change no faster than points move, so in a cube nothing is farther
 * than its middle and half of its diagonal more. A cube that is outside the hull or says enough is left; others become
 * eight. So near the surface cubes are as large as what is allowed, inside the solid and far from its edges larger.
 * Cubes of one size are asked together.
 */
#include <math.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/vector3.h"
#include "narrow/decompose.h"

/* Cubes of one size are asked in blocks. */
enum { BLOCK = 1 << 14, FIRST_EDGES = 4, LEAST_SHARE = 8, CLIMBS = 12 };
static const double CUBES_MOST = 3e7, ROUNDING = 0x1p-40;

typedef struct cover {
  const solid_source *source;
  const graze_hull *hull;
  double allowed;
  double slack;  /* what planes and distances are off by, at most */
  double radius; /* half of a cube's diagonal */
  buffer now, next;
  size_t now_count, next_count; /* middles of cubes */
  hull_error found;
  graze_point_distance *distances; /* [BLOCK] */
} cover;

/* Whether a point is outside the hull, and by more than that, by the plane of a face. */
static bool is_outside(const graze_hull *hull, const double x[3], double by) {
  for (uint32_t f = 0; f < hull->face_count; f++) {
    const double *p = hull->planes + 4 * (size_t)f;
    if (p[0] * x[0] + p[1] * x[1] + p[2] * x[2] - p[3] > by) return true;
  }
  return false;
}

static bool add_cube(cover *c, const double x[3]) {
  if (is_outside(c->hull, x, c->radius + c->slack)) return true;
  const size_t bytes = (c->next_count + 1) * sizeof(double[3]);
  if (bytes > c->next.bytes && !gz_buffer_reserve(c->source->context, &c->next, bytes, bytes - sizeof(double[3])))
    return false;
  for (int k = 0; k < 3; k++) ((double(*)[3])c->next.data)[c->next_count][k] = x[k];
  c->next_count++;
  return true;
}

static bool add_first_cubes(cover *c) {
  const double *low = c->hull->low, *high = c->hull->high;
  const double edge = larger(larger(high[0] - low[0], high[1] - low[1]), high[2] - low[2]) / FIRST_EDGES;
  uint32_t count[3];
  c->radius = 0.5 * sqrt(3) * edge * (1 + ROUNDING) + c->slack;
  for (int k = 0; k < 3; k++) count[k] = (uint32_t)ceil((high[k] - low[k]) / edge * (1 + ROUNDING));
  for (uint32_t i = 0; i < count[0]; i++) {
    for (uint32_t j = 0; j < count[1]; j++) {
      for (uint32_t k = 0; k < count[2]; k++) {
        if (!add_cube(c, (double[3]){low[0] + (i + 0.5) * edge, low[1] + (j + 0.5) * edge, low[2] + (k + 0.5) * edge}))
          return false;
      }
    }
  }
  return true;
}

static void note_out(cover *c, const double x[3], double out) {
  c->found.out = out;
  for (int k = 0; k < 3; k++) c->found.place[k] = smaller(larger(x[k], c->hull->low[k]), c->hull->high[k]);
}

/* Whether a cube needs to be smaller; the bound grows to what one says that does not. */
static bool is_open(cover *c, const double x[3], const graze_point_distance *d) {
  const bool inside = d->side == GRAZE_POINT_INSIDE || d->side == GRAZE_POINT_ON;
  const double from = inside ? 0 : d->distance, most = inside ? c->radius - d->distance : d->distance + c->radius;
  const double bound = larger(most + c->slack, 0);
  if (bound <= c->allowed) {
    c->found.bound = larger(c->found.bound, bound);
    return false;
  }
  if (from > c->found.out && !is_outside(c->hull, x, 0)) note_out(c, x, from);
  return true;
}

static bool add_eighths(cover *c, const double x[3], double quarter) {
  for (unsigned i = 0; i < 8; i++) {
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = x[k] + ((i >> k & 1) != 0 ? quarter : -quarter);
    if (!add_cube(c, middle)) return false;
  }
  return true;
}

/* About as many cubes of the last size as cover the hull's surface. */
static bool takes_too_many(const cover *c) {
  double area = 0;
  for (uint32_t t = 0; t < c->hull->triangle_count; t++) {
    double edge[2][3], normal[3];
    const uint32_t *corners = c->hull->triangles + 3 * (size_t)t;
    for (int e = 0; e < 2; e++)
      sub3(c->hull->points + 3 * (size_t)corners[e + 1], c->hull->points + 3 * (size_t)corners[0], edge[e]);
    cross3(edge[0], edge[1], normal);
    area += 0.5 * length3(normal);
  }
  return area > CUBES_MOST * c->allowed * c->allowed;
}

/* The cubes of one size; those of half the size that are needed are next. */
static graze_status ask_all(cover *c) {
  const double(*x)[3] = (const double(*)[3])c->now.data;
  const double before = c->radius, quarter = before / (2 * sqrt(3));
  for (size_t first = 0; first < c->now_count; first += BLOCK) {
    const size_t count = c->now_count - first < BLOCK ? c->now_count - first : BLOCK;
    graze_status status = ask_solid(c->source, x[first], count, c->distances);
    if (status != GRAZE_OK) return status;
    for (size_t i = 0; i < count; i++) {
      c->radius = before;
      if (!is_open(c, x[first + i], &c->distances[i])) continue;
      if (before < c->allowed / LEAST_SHARE) {
        if (!(c->found.out > c->allowed)) note_out(c, x[first + i], c->allowed);
        c->found.within = false;
        return GRAZE_OK;
      }
      c->radius = 0.5 * before + c->slack;
      if (!add_eighths(c, x[first + i], quarter)) return gz_fail_memory(c->source->context, c->next.bytes);
    }
    if (c->found.out > c->allowed) {
      c->found.within = false;
      return GRAZE_OK;
    }
  }
  c->radius = 0.5 * before + c->slack;
  return GRAZE_OK;
}

/* From the point that is far out to one nearby that is farthest, roughly: where to cut depends on it. */
static graze_status climb(cover *c) {
  double step = c->radius;
  for (int i = 0; i < CLIMBS; i++) {
    double around[6][3];
    bool higher = false;
    for (int n = 0; n < 6; n++) {
      for (int k = 0; k < 3; k++) around[n][k] = c->found.place[k] + (k == n / 2 ? (n % 2 == 0 ? step : -step) : 0);
    }
    graze_status status = ask_solid(c->source, around[0], 6, c->distances);
    if (status != GRAZE_OK) return status;
    for (int n = 0; n < 6; n++) {
      if (c->distances[n].side != GRAZE_POINT_OUTSIDE || !(c->distances[n].distance > c->found.out)) continue;
      if (is_outside(c->hull, around[n], 0)) continue;
      note_out(c, around[n], c->distances[n].distance);
      higher = true;
    }
    if (!higher) step *= 0.5;
  }
  return GRAZE_OK;
}

static graze_status cover_hull(cover *c) {
  if (takes_too_many(c))
    return gz_fail(c->source->context, GRAZE_ERROR_LIMIT,
                   "an error of %g is too small to prove of a solid of this size", c->allowed);
  if (!add_first_cubes(c)) return gz_fail_memory(c->source->context, sizeof(double[3]));
  while (c->next_count > 0 && c->found.within) {
    const buffer now = c->now;
    c->now = c->next;
    c->now_count = c->next_count;
    c->next = now;
    c->next_count = 0;
    graze_status status = ask_all(c);
    if (status != GRAZE_OK) return status;
  }
  return GRAZE_OK;
}

graze_status gz_hull_find_error(const solid_source *source, const graze_hull *hull, double allowed, bool to_cut,
                                hull_error *error) {
  double size = 0;
  for (int k = 0; k < 3; k++) size = larger(size, larger(fabs(hull->low[k]), fabs(hull->high[k])));
  cover c = {.source = source, .hull = hull, .allowed = allowed, .slack = ROUNDING * size, .found.within = true};
  c.distances = gz_new(source->context, BLOCK, sizeof *c.distances);
  graze_status status =
      c.distances != NULL ? cover_hull(&c) : gz_fail_memory(source->context, BLOCK * sizeof *c.distances);
  if (status == GRAZE_OK && to_cut && c.found.out > allowed) status = climb(&c);
  gz_free(c.distances);
  gz_buffer_release(source->context, &c.now);
  gz_buffer_release(source->context, &c.next);
  *error = c.found;
  return status;
}
