/* Mass properties of a closed mesh: each triangle and the middle of the mesh span a tetrahedron, whose signed moments
 * are polynomials of its corners, and their sum is that of what the mesh encloses.
 *
 * F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms of its vertex coordinates", 2004.
 * The tetrahedra of a thin solid, or of one far from where it is summed, cancel almost wholly. So everything is a pair
 * of doubles, exact to 2^-100 an operation, which leaves 15 digits of a solid of which a part in 10^15 is left. */
#include "graze/mass.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "exact/expansion.h"
#include "mesh/mesh.h"

/* ---- pairs of doubles ------------------------------------------------------------------------------------------ */

typedef struct pair {
  double hi, lo;
} pair;

static pair normal(double hi, double lo) {
  pair out;
  out.hi = hi + lo;
  out.lo = lo - (out.hi - hi);
  return out;
}

static pair add(pair a, pair b) {
  double s, e, t, f;
  two_sum(a.hi, b.hi, &s, &e);
  two_sum(a.lo, b.lo, &t, &f);
  const pair first = normal(s, e + t);
  return normal(first.hi, first.lo + f);
}

static pair minus(pair a) {
  return (pair){-a.hi, -a.lo};
}

static pair multiply(pair a, pair b) {
  double p, e;
  two_prod(a.hi, b.hi, &p, &e);
  return normal(p, e + (a.hi * b.lo + a.lo * b.hi));
}

/* a / b: two digits of a long division, and a third for the last bits. */
static pair divide(pair a, pair b) {
  pair quotient = {0, 0};
  for (int digit = 0; digit < 3; digit++) {
    const double q = a.hi / b.hi;
    quotient = add(quotient, (pair){q, 0});
    a = add(a, minus(multiply((pair){q, 0}, b)));
  }
  return quotient;
}

static pair divide_whole(pair a, double whole) {
  return divide(a, (pair){whole, 0});
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

enum { VOLUME, FIRST, SECOND = 4, SUMS = 10 };

/* Which two axes the moments of second order are of. */
static const int seconds[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

typedef struct summing {
  const graze_mesh *mesh;
  pieces cut;
  double middle[3];
  int exponent; /* of the largest coordinate */
  pair sums[PARALLEL_PIECES][SUMS];
  double sizes[PARALLEL_PIECES]; /* sum of |volumes| */
} summing;

static pair scaled_difference(double x, double middle, int exponent) {
  pair out;
  two_diff(ldexp(x, -exponent), middle, &out.hi, &out.lo);
  return out;
}

static pair determinant(pair corners[3][3]) {
  pair sum = {0, 0};
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    const pair minor = add(multiply(corners[1][l], corners[2][m]), minus(multiply(corners[1][m], corners[2][l])));
    sum = add(sum, multiply(corners[0][k], minor));
  }
  return sum;
}

/* 6 times the volume, 24 times the first and 120 times the second moments. */
static void add_tetrahedron(pair corners[3][3], pair sums[SUMS], double *size) {
  const pair volume = determinant(corners);
  pair total[3];
  sums[VOLUME] = add(sums[VOLUME], volume);
  *size += fabs(volume.hi);
  for (int k = 0; k < 3; k++) {
    total[k] = add(add(corners[0][k], corners[1][k]), corners[2][k]);
    sums[FIRST + k] = add(sums[FIRST + k], multiply(volume, total[k]));
  }
  for (int s = 0; s < 6; s++) {
    const int k = seconds[s][0], l = seconds[s][1];
    pair product = multiply(total[k], total[l]);
    for (int i = 0; i < 3; i++) product = add(product, multiply(corners[i][k], corners[i][l]));
    sums[SECOND + s] = add(sums[SECOND + s], multiply(volume, product));
  }
}

static void sum_piece(void *argument, uint32_t index) {
  summing *s = argument;
  pair *sums = s->sums[index];
  memset(sums, 0, sizeof s->sums[index]);
  s->sizes[index] = 0;
  for (uint64_t t = pieces_begin(&s->cut, index); t < pieces_end(&s->cut, index); t++) {
    double numbers[9];
    pair corners[3][3];
    graze_mesh_get_triangle(s->mesh, (uint32_t)t, numbers);
    for (int i = 0; i < 9; i++) corners[i / 3][i % 3] = scaled_difference(numbers[i], s->middle[i % 3], s->exponent);
    add_tetrahedron(corners, sums, &s->sizes[index]);
  }
}

static double sum_pieces(graze_context *context, summing *s, pair sums[SUMS]) {
  double size = 0;
  gz_parallel_each(context, s->cut.number, sum_piece, s);
  memset(sums, 0, SUMS * sizeof *sums);
  for (uint32_t i = 0; i < s->cut.number; i++) {
    for (int k = 0; k < SUMS; k++) sums[k] = add(sums[k], s->sums[i][k]);
    size += s->sizes[i];
  }
  return size;
}

/* ---- results --------------------------------------------------------------------------------------------------- */

/* Of the sums, with density 1 and lengths in units of 2^exponent. */
static void finish(const summing *s, const pair sums[SUMS], graze_mass *mass) {
  pair center[3], moments[6];
  const pair volume = divide_whole(sums[VOLUME], 6);
  for (int k = 0; k < 3; k++) {
    center[k] = divide(divide_whole(sums[FIRST + k], 24), volume);
    const pair place = add((pair){s->middle[k], 0}, center[k]);
    mass->center[k] = place.hi + place.lo;
  }
  for (int i = 0; i < 6; i++) {
    const int k = seconds[i][0], l = seconds[i][1];
    moments[i] = add(divide_whole(sums[SECOND + i], 120), minus(multiply(volume, multiply(center[k], center[l]))));
  }
  mass->volume = volume.hi;
  for (int i = 0; i < 6; i++) {
    const pair entry = i < 3 ? add(moments[(i + 1) % 3], moments[(i + 2) % 3]) : minus(moments[i]);
    mass->inertia[i] = 0.0 + (entry.hi + entry.lo); /* never -0 */
  }
}

static bool scale(const summing *s, double density, graze_mass *mass) {
  bool good = true;
  for (int k = 0; k < 3; k++) mass->center[k] = ldexp(mass->center[k], s->exponent);
  mass->volume = ldexp(mass->volume, 3 * s->exponent);
  mass->mass = mass->volume * density;
  for (int i = 0; i < 6; i++) {
    mass->inertia[i] = ldexp(mass->inertia[i] * density, 5 * s->exponent);
    good = good && isfinite(mass->inertia[i]) && (i >= 3 || mass->inertia[i] > 0);
  }
  return good && isfinite(mass->mass) && mass->volume > 0 && mass->mass > 0;
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

static graze_status check_inside(const graze_context *context, const graze_mesh_facts *facts) {
  const graze_status status = GRAZE_ERROR_UNSUPPORTED;
  if (!facts->adjacency)
    return gz_fail(context, status, "the mesh was baked without adjacency: whether it is closed is not known");
  if (facts->triangles == 0) return gz_fail(context, status, "a mesh without triangles has no inside");
  if (facts->open_edges > 0)
    return gz_fail(context, status, "the mesh is open, so it has no inside: edges of one triangle: %" PRIu64,
                   facts->open_edges);
  if (facts->nonmanifold_edges > 0)
    return gz_fail(context, status,
                   "the mesh is not the boundary of one solid: edges of three or more triangles: %" PRIu64,
                   facts->nonmanifold_edges);
  if (facts->misoriented_edges > 0)
    return gz_fail(context, status, "the mesh's triangles face either way: edges where they differ: %" PRIu64,
                   facts->misoriented_edges);
  if (!facts->closed) return gz_fail(context, status, "the mesh has zero area, so it has no inside");
  return GRAZE_OK;
}

static void find_middle(const graze_mesh_facts *facts, summing *s) {
  double largest = 0;
  for (int k = 0; k < 3; k++) largest = fmax(largest, fmax(fabs(facts->box.min[k]), fabs(facts->box.max[k])));
  (void)frexp(largest, &s->exponent);
  for (int k = 0; k < 3; k++)
    s->middle[k] = 0.5 * ldexp(facts->box.min[k], -s->exponent) + 0.5 * ldexp(facts->box.max[k], -s->exponent);
}

graze_status graze_mesh_get_mass(graze_context *context, const graze_mesh *mesh, double density, graze_mass *mass) {
  graze_mesh_facts facts;
  pair sums[SUMS];
  graze_mass found = {0};
  if (context == NULL || mesh == NULL || mass == NULL) return gz_fail_null(context);
  if (!(isfinite(density) && density > 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the density is %.17g: it must be finite and above 0", density);
  graze_mesh_get_facts(mesh, &facts);
  graze_status status = check_inside(context, &facts);
  if (status != GRAZE_OK) return status;
  summing *s = gz_memory_alloc(context, sizeof *s);
  if (s == NULL) return gz_fail_memory(context, sizeof *s);
  s->mesh = mesh;
  s->cut = pieces_of(facts.triangles, 1024);
  const unsigned saved = gz_fp_enter();
  find_middle(&facts, s);
  const double size = sum_pieces(context, s, sums);
  /* What rounding leaves of sums that cancel wholly: some 2^-98 of them. */
  const bool none = !(fabs(sums[VOLUME].hi) > 0x1p-90 * size);
  if (!none) finish(s, sums, &found);
  const bool fits = !none && scale(s, density, &found);
  gz_fp_leave(saved);
  gz_memory_release(context, s, sizeof *s);
  if (none) return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "the mesh encloses no volume");
  if (sums[VOLUME].hi < 0)
    return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "the mesh is inside out: its volume is negative");
  if (!fits)
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "the mass or inertia is no double: too large or too small");
  *mass = found;
  return GRAZE_OK;
}
