/* bench/plates.c: turned parts as CAD programs cut them into triangles: round plates in a position that no float hits,
 * and a cog along the axes. Their faces are slivers from the rim to the bore, which lie in one plane, of the plates but
 * for rounding; with a bore as narrow as a sliver nearly every two of a face have boxes that meet. */
#include <math.h>

#include "models.h"

typedef struct plate {
  uint32_t around; /* points of the rim, and of the bore */
  uint32_t teeth;  /* 0: round */
  double bore;     /* its radius; that of the rim is 1 */
  double low, high;
  double ax, az; /* turned by so much */
} plate;

static const double turn = 2 * 3.14159265358979323846;

/* Straight flanks, of a tenth of the radius. */
static double rim_radius(const plate *p, uint32_t i) {
  if (p->teeth == 0) return 1;
  double along = (double)((uint64_t)i * p->teeth % p->around) / p->around;
  double flank = along < 0.5 ? 8 * along - 1 : 7 - 8 * along;
  return 1 - 0.05 * (1 + fmin(fmax(flank, -1), 1));
}

static void place_point(model *m, const plate *p, uint32_t at, double radius, double angle, double height) {
  const double ax = p->ax, az = p->az;
  const double x = radius * cos(angle), y = radius * sin(angle);
  const double u = cos(ax) * y - sin(ax) * height, v = sin(ax) * y + cos(ax) * height;
  m->vertices[3 * (size_t)at] = (float)(0.3 * (cos(az) * x - sin(az) * u));
  m->vertices[3 * (size_t)at + 1] = (float)(0.3 * (sin(az) * x + cos(az) * u));
  m->vertices[3 * (size_t)at + 2] = (float)(0.3 * v);
}

/* A strip between two rings of points, the one that begins at `from` and the one at `to`. */
static uint32_t *strip(uint32_t *t, uint32_t around, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < around; i++) {
    const uint32_t next = (i + 1) % around;
    const uint32_t two[6] = {from + i, from + next, to + i, from + next, to + next, to + i};
    for (int k = 0; k < 6; k++) *t++ = two[k];
  }
  return t;
}

/* Rings: rim below, rim above, bore above, bore below. */
static uint32_t *add_plate(model *m, const plate *p, uint32_t first, uint32_t *t) {
  const uint32_t n = p->around;
  for (uint32_t i = 0; i < n; i++) {
    const double angle = turn * i / n, rim = rim_radius(p, i);
    place_point(m, p, first + i, rim, angle, p->low);
    place_point(m, p, first + n + i, rim, angle, p->high);
    place_point(m, p, first + 2 * n + i, p->bore, angle, p->high);
    place_point(m, p, first + 3 * n + i, p->bore, angle, p->low);
  }
  for (uint32_t ring = 0; ring < 4; ring++) t = strip(t, n, first + ring * n, first + (ring + 1) % 4 * n);
  return t;
}

static model make_plates(const plate *plates, uint32_t count) {
  model m = {0};
  for (uint32_t i = 0; i < count; i++) m.vertex_count += 4 * plates[i].around;
  m.triangle_count = 2 * m.vertex_count;
  m.vertices = must_alloc(3 * (size_t)m.vertex_count, sizeof *m.vertices);
  m.indices = must_alloc(3 * (size_t)m.triangle_count, sizeof *m.indices);
  uint32_t first = 0, *t = m.indices;
  for (uint32_t i = 0; i < count; i++) {
    t = add_plate(&m, &plates[i], first, t);
    first += 4 * plates[i].around;
  }
  return m;
}

model shape_discs(uint32_t around) {
  const double bore = 2.0 / around;
  const plate twins[] = {{around, 0, bore, 0, 0.125, 0.7, 0.4}, {around, 0, bore, 0.75, 0.875, 0.7, 0.4}};
  return make_plates(twins, 2);
}

model shape_cog(uint32_t around) {
  const plate cog = {around, 40, 0.25, 0, 0.25, 0, 0};
  return make_plates(&cog, 1);
}
