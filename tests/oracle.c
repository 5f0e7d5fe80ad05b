/* Exact triangle pairs by clipping, in GMP integers.
 *
 * Every finite double is an integer times a power of two, so a pair of triangles is, after one common scaling, 18
 * integers. The first triangle (or the segment or point that it covers) is a convex polygon of 3, 2 or 1 corners; the
 * second is an intersection of half-spaces. Cutting a strictly convex polygon with a half-space leaves a strictly
 * convex polygon, so the number of corners that survive all cuts is the answer: 0, 1, 2, or more for an area. Corners
 * are homogeneous integers (X, Y, Z, W), W > 0; nothing is ever rounded.
 */
#include "oracle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { max_corners = 9, max_planes = 8 };

typedef mpz_t vector[3];

typedef struct dyadic { /* mantissa * 2^exponent */
  mpz_t mantissa;
  long exponent;
} dyadic;

typedef struct half_space { /* normal . (X, Y, Z) + offset * W >= 0 */
  vector normal;
  mpz_t offset;
} half_space;

typedef struct polygon {
  int count;
  mpz_t corner[max_corners][4];
} polygon;

/* Scratch numbers, made once: initialising GMP integers for every pair would dominate the time. */
static struct workspace {
  bool ready;
  dyadic input[18];
  dyadic product[3];
  dyadic entry[2];
  vector corner[6];
  long scale;
  vector rows[5];
  vector edge, normal, other;
  half_space plane[max_planes];
  polygon polygons[2];
  mpz_t side[max_corners];
  mpz_t t0, t1;
} work;

static void vector_init(vector v) {
  for (int k = 0; k < 3; k++) mpz_init(v[k]);
}

static void dyadic_init(dyadic *d) {
  mpz_init(d->mantissa);
  d->exponent = 0;
}

static void workspace_prepare(void) {
  if (work.ready) return;
  work.ready = true;
  for (int i = 0; i < 18; i++) dyadic_init(&work.input[i]);
  for (int i = 0; i < 3; i++) dyadic_init(&work.product[i]);
  for (int i = 0; i < 2; i++) dyadic_init(&work.entry[i]);
  for (int i = 0; i < 6; i++) vector_init(work.corner[i]);
  for (int i = 0; i < 5; i++) vector_init(work.rows[i]);
  vector_init(work.edge);
  vector_init(work.normal);
  vector_init(work.other);
  for (int i = 0; i < max_planes; i++) {
    vector_init(work.plane[i].normal);
    mpz_init(work.plane[i].offset);
  }
  for (int p = 0; p < 2; p++) {
    for (int i = 0; i < max_corners; i++) {
      for (int k = 0; k < 4; k++) mpz_init(work.polygons[p].corner[i][k]);
    }
  }
  for (int i = 0; i < max_corners; i++) mpz_init(work.side[i]);
  mpz_init(work.t0);
  mpz_init(work.t1);
}

/* ---- doubles and sums of products as integers ----------------------------------------------------------------- */

static void dyadic_set(dyadic *d, double value) {
  int exponent;
  double fraction = frexp(value, &exponent);
  mpz_set_d(d->mantissa, ldexp(fraction, 53));
  d->exponent = exponent - 53;
}

static void dyadic_strip(dyadic *d) {
  if (mpz_sgn(d->mantissa) == 0) return;
  mp_bitcnt_t zeros = mpz_scan1(d->mantissa, 0);
  mpz_tdiv_q_2exp(d->mantissa, d->mantissa, zeros);
  d->exponent += (long)zeros;
}

static void dyadic_multiply(dyadic *product, double x, double y) {
  dyadic_set(&work.entry[0], x);
  dyadic_set(&work.entry[1], y);
  mpz_mul(product->mantissa, work.entry[0].mantissa, work.entry[1].mantissa);
  product->exponent = work.entry[0].exponent + work.entry[1].exponent;
}

/* sum += term; destroys term. */
static void dyadic_add(dyadic *sum, dyadic *term) {
  if (mpz_sgn(term->mantissa) == 0) return;
  if (mpz_sgn(sum->mantissa) == 0) sum->exponent = term->exponent;
  if (sum->exponent < term->exponent) {
    mpz_mul_2exp(term->mantissa, term->mantissa, (mp_bitcnt_t)(term->exponent - sum->exponent));
  } else {
    mpz_mul_2exp(sum->mantissa, sum->mantissa, (mp_bitcnt_t)(sum->exponent - term->exponent));
    sum->exponent = term->exponent;
  }
  mpz_add(sum->mantissa, sum->mantissa, term->mantissa);
}

static void load_posed(dyadic *input, const double corners[9], const graze_pose *pose) {
  for (int i = 0; i < 9; i++) {
    const double *point = corners + i / 3 * 3;
    const double *row = pose->m + i % 3 * 4;
    dyadic_set(&input[i], row[3]);
    for (int k = 0; k < 3; k++) {
      dyadic_multiply(&work.product[k], row[k], point[k]);
      dyadic_add(&input[i], &work.product[k]);
    }
  }
}

/* The 18 inputs as integers over one common power of two, which is kept in work.scale. */
static void scale_inputs(void) {
  bool any = false;
  for (int i = 0; i < 18; i++) {
    dyadic_strip(&work.input[i]);
    if (mpz_sgn(work.input[i].mantissa) == 0) continue;
    if (!any || work.input[i].exponent < work.scale) work.scale = work.input[i].exponent;
    any = true;
  }
  for (int i = 0; i < 18; i++) {
    dyadic *d = &work.input[i];
    mp_bitcnt_t shift = mpz_sgn(d->mantissa) == 0 ? 0 : (mp_bitcnt_t)(d->exponent - work.scale);
    mpz_mul_2exp(work.corner[i / 3][i % 3], d->mantissa, shift);
  }
}

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

static void vector_subtract(vector r, const vector a, const vector b) {
  for (int k = 0; k < 3; k++) mpz_sub(r[k], a[k], b[k]);
}

static void vector_cross(vector r, const vector a, const vector b) {
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    mpz_mul(r[k], a[i], b[j]);
    mpz_submul(r[k], a[j], b[i]);
  }
}

static void vector_dot(mpz_t r, const vector a, const vector b) {
  mpz_mul(r, a[0], b[0]);
  mpz_addmul(r, a[1], b[1]);
  mpz_addmul(r, a[2], b[2]);
}

/* Rank of the first `count` rows of work.rows, by elimination without division; destroys them. */
static int rows_rank(int count) {
  int rank = 0;
  for (int column = 0; column < 3; column++) {
    int pivot = rank;
    while (pivot < count && mpz_sgn(work.rows[pivot][column]) == 0) pivot++;
    if (pivot == count) continue;
    if (pivot != rank) {
      for (int k = 0; k < 3; k++) mpz_swap(work.rows[pivot][k], work.rows[rank][k]);
    }
    for (int i = rank + 1; i < count; i++) {
      mpz_neg(work.t0, work.rows[i][column]);
      for (int k = 0; k < 3; k++) {
        mpz_mul(work.rows[i][k], work.rows[i][k], work.rows[rank][column]);
        mpz_addmul(work.rows[i][k], work.t0, work.rows[rank][k]);
      }
    }
    rank++;
  }
  return rank;
}

/* Dimension of the affine hull of corners first .. first + count - 1. */
static int hull_dimension(int first, int count) {
  for (int i = 1; i < count; i++) vector_subtract(work.rows[i - 1], work.corner[first + i], work.corner[first]);
  return rows_rank(count - 1);
}

static int compare_corners(const vector a, const vector b) {
  for (int k = 0; k < 3; k++) {
    int order = mpz_cmp(a[k], b[k]);
    if (order != 0) return order;
  }
  return 0;
}

/* Ends of three points on a line: the first and last in lexicographic order, which is monotone along a line. */
static void segment_ends(int first, int ends[2]) {
  ends[0] = ends[1] = first;
  for (int i = first + 1; i < first + 3; i++) {
    if (compare_corners(work.corner[i], work.corner[ends[0]]) < 0) ends[0] = i;
    if (compare_corners(work.corner[i], work.corner[ends[1]]) > 0) ends[1] = i;
  }
}

/* ---- half-spaces ------------------------------------------------------------------------------------------------ */

/* normal . (x - point) >= 0, with work.plane[i].normal filled in. */
static void plane_through(int i, const vector point) {
  vector_dot(work.plane[i].offset, work.plane[i].normal, point);
  mpz_neg(work.plane[i].offset, work.plane[i].offset);
}

static void plane_opposite(int i, int of) {
  for (int k = 0; k < 3; k++) mpz_neg(work.plane[i].normal[k], work.plane[of].normal[k]);
  mpz_neg(work.plane[i].offset, work.plane[of].offset);
}

static int planes_of_triangle(int first) {
  vector *c = work.corner + first;
  vector_subtract(work.edge, c[1], c[0]);
  vector_subtract(work.other, c[2], c[0]);
  vector_cross(work.normal, work.edge, work.other);
  for (int k = 0; k < 3; k++) mpz_set(work.plane[0].normal[k], work.normal[k]);
  plane_through(0, c[0]);
  plane_opposite(1, 0);
  for (int i = 0; i < 3; i++) { /* normal x edge points inwards */
    vector_subtract(work.edge, c[(i + 1) % 3], c[i]);
    vector_cross(work.plane[2 + i].normal, work.normal, work.edge);
    plane_through(2 + i, c[i]);
  }
  return 5;
}

/* On the line: direction x (x - p) = 0, row by row; between the ends: direction . (x - p) >= 0 and alike for q. */
static int planes_of_segment(const vector p, const vector q) {
  vector_subtract(work.edge, q, p);
  for (int k = 0; k < 3; k++) {
    half_space *plane = &work.plane[2 * k];
    mpz_set_ui(plane->normal[k], 0);
    mpz_neg(plane->normal[(k + 1) % 3], work.edge[(k + 2) % 3]);
    mpz_set(plane->normal[(k + 2) % 3], work.edge[(k + 1) % 3]);
    plane_through(2 * k, p);
    plane_opposite(2 * k + 1, 2 * k);
  }
  for (int k = 0; k < 3; k++) {
    mpz_set(work.plane[6].normal[k], work.edge[k]);
    mpz_neg(work.plane[7].normal[k], work.edge[k]);
  }
  plane_through(6, p);
  plane_through(7, q);
  return 8;
}

static int planes_of_point(const vector p) {
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) mpz_set_ui(work.plane[2 * k].normal[j], j == k);
    plane_through(2 * k, p);
    plane_opposite(2 * k + 1, 2 * k);
  }
  return 6;
}

/* ---- cutting ---------------------------------------------------------------------------------------------------- */

/* The point where the edge from p (side sp) to q (side sq, of the other sign) meets the plane. */
static void cut_edge(mpz_t out[4], mpz_t p[4], const mpz_t sp, mpz_t q[4], const mpz_t sq) {
  for (int k = 0; k < 4; k++) {
    mpz_mul(out[k], sp, q[k]);
    mpz_submul(out[k], sq, p[k]);
  }
  if (mpz_sgn(sp) < 0) {
    for (int k = 0; k < 4; k++) mpz_neg(out[k], out[k]);
  }
  mpz_gcd(work.t0, out[0], out[1]);
  mpz_gcd(work.t0, work.t0, out[2]);
  mpz_gcd(work.t0, work.t0, out[3]);
  for (int k = 0; k < 4; k++) mpz_divexact(out[k], out[k], work.t0);
}

static void copy_corner(mpz_t out[4], mpz_t in[4]) {
  for (int k = 0; k < 4; k++) mpz_set(out[k], in[k]);
}

static void cut_polygon(polygon *in, polygon *out, const half_space *plane) {
  for (int i = 0; i < in->count; i++) {
    vector_dot(work.side[i], plane->normal, in->corner[i]);
    mpz_addmul(work.side[i], plane->offset, in->corner[i][3]);
  }
  int edges = in->count == 2 ? 1 : in->count == 1 ? 0 : in->count; /* a segment is one edge, not two */
  out->count = 0;
  for (int i = 0; i < in->count; i++) {
    if (mpz_sgn(work.side[i]) >= 0) copy_corner(out->corner[out->count++], in->corner[i]);
    if (i >= edges) continue;
    int next = (i + 1) % in->count;
    if (mpz_sgn(work.side[i]) * mpz_sgn(work.side[next]) < 0) {
      cut_edge(out->corner[out->count++], in->corner[i], work.side[i], in->corner[next], work.side[next]);
    }
    assert(out->count < max_corners);
  }
}

static void polygon_add(polygon *shape, const vector corner) {
  mpz_t *to = shape->corner[shape->count++];
  for (int k = 0; k < 3; k++) mpz_set(to[k], corner[k]);
  mpz_set_ui(to[3], 1);
}

/* The common set of the two shapes in work.corner; valid until the next call. */
static polygon *clip_shapes(int dimension_a, int dimension_b) {
  polygon *now = &work.polygons[0], *next = &work.polygons[1];
  int ends[2] = {0, 0};
  now->count = 0;
  if (dimension_a == 2) {
    for (int i = 0; i < 3; i++) polygon_add(now, work.corner[i]);
  } else {
    segment_ends(0, ends);
    for (int i = 0; i <= dimension_a; i++) polygon_add(now, work.corner[ends[i]]);
  }
  segment_ends(3, ends);
  int planes = dimension_b == 2   ? planes_of_triangle(3)
               : dimension_b == 1 ? planes_of_segment(work.corner[ends[0]], work.corner[ends[1]])
                                  : planes_of_point(work.corner[3]);
  for (int i = 0; i < planes && now->count > 0; i++) {
    cut_polygon(now, next, &work.plane[i]);
    polygon *swap = now;
    now = next;
    next = swap;
  }
  return now;
}

static polygon *decide(graze_tritri *result) {
  scale_inputs();
  int dimension_a = hull_dimension(0, 3), dimension_b = hull_dimension(3, 3);
  result->coplanar = hull_dimension(0, 6) <= 2;
  result->degenerate = (uint8_t)((dimension_a < 2 ? 1 : 0) | (dimension_b < 2 ? 2 : 0));
  polygon *common = clip_shapes(dimension_a, dimension_b);
  result->kind = (uint8_t)(common->count < 3 ? common->count : 3);
  return common;
}

void oracle_tritri(const double a[9], const double b[9], graze_tritri *result) {
  workspace_prepare();
  for (int i = 0; i < 9; i++) {
    dyadic_set(&work.input[i], a[i]);
    dyadic_set(&work.input[9 + i], b[i]);
  }
  decide(result);
}

void oracle_tritri_real(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                        graze_tritri *result) {
  workspace_prepare();
  load_posed(work.input, a, pose_a);
  load_posed(work.input + 9, b, pose_b);
  decide(result);
}

void oracle_corners_init(oracle_corners *corners) {
  corners->count = 0;
  for (int i = 0; i < max_corners; i++) {
    for (int k = 0; k < 3; k++) mpq_init(corners->point[i][k]);
  }
}

void oracle_corners_clear(oracle_corners *corners) {
  for (int i = 0; i < max_corners; i++) {
    for (int k = 0; k < 3; k++) mpq_clear(corners->point[i][k]);
  }
}

void oracle_intersection(const double a[9], const double b[9], graze_tritri *result, oracle_corners *corners) {
  workspace_prepare();
  for (int i = 0; i < 9; i++) {
    dyadic_set(&work.input[i], a[i]);
    dyadic_set(&work.input[9 + i], b[i]);
  }
  work.scale = 0;
  polygon *common = decide(result);
  corners->count = (uint32_t)common->count;
  for (int i = 0; i < common->count; i++) {
    for (int k = 0; k < 3; k++) {
      mpq_ptr q = corners->point[i][k];
      mpq_set_num(q, common->corner[i][k]);
      mpq_set_den(q, common->corner[i][3]);
      mpq_canonicalize(q);
      if (work.scale >= 0) mpq_mul_2exp(q, q, (mp_bitcnt_t)work.scale);
      if (work.scale < 0) mpq_div_2exp(q, q, (mp_bitcnt_t)-work.scale);
    }
  }
}

/* ---- posing, tier T1 -------------------------------------------------------------------------------------------- */

void oracle_pose_point(const graze_pose *pose, const double point[3], double out[3]) {
  double x = point[0], y = point[1], z = point[2];
  for (int k = 0; k < 3; k++) {
    const double *m = pose->m + 4 * k;
    double sum = m[0] * x;
    sum += m[1] * y;
    sum += m[2] * z;
    out[k] = sum + m[3];
  }
}

void oracle_pose_corners(const graze_pose *pose, const double *corners, uint32_t triangles, double *out) {
  for (size_t i = 0; i < 3 * (size_t)triangles; i++) oracle_pose_point(pose, corners + 3 * i, out + 3 * i);
}

/* ---- brute force over meshes ------------------------------------------------------------------------------------- */

uint64_t oracle_pair_hash(uint32_t first, uint32_t second) {
  uint64_t x = ((uint64_t)first << 32) | second;
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static bool boxes_meet(const double a[9], const double b[9]) {
  for (int k = 0; k < 3; k++) {
    double min_a = fmin(fmin(a[k], a[k + 3]), a[k + 6]), max_a = fmax(fmax(a[k], a[k + 3]), a[k + 6]);
    double min_b = fmin(fmin(b[k], b[k + 3]), b[k + 6]), max_b = fmax(fmax(b[k], b[k + 3]), b[k + 6]);
    if (min_a > max_b || min_b > max_a) return false;
  }
  return true;
}

static graze_triangle_pair *append_pair(graze_triangle_pair *pairs, uint64_t count, uint32_t i, uint32_t j) {
  if ((count & (count - 1)) == 0) { /* grow at powers of two */
    pairs = realloc(pairs, (count ? 2 * count : 1) * sizeof *pairs);
    assert(pairs);
  }
  pairs[count] = (graze_triangle_pair){i, j};
  return pairs;
}

static void count_pair(oracle_pairs *out, const graze_tritri *t, uint32_t i, uint32_t j) {
  graze_counts *c = &out->counts;
  if (t->kind == GRAZE_KIND_NONE) return;
  out->pairs = append_pair(out->pairs, c->triangle_pairs, i, j);
  c->triangle_pairs++;
  c->hash += oracle_pair_hash(i, j);
  c->coplanar += t->coplanar;
  if (t->degenerate) {
    c->degenerate++;
  } else {
    c->points += t->kind == GRAZE_KIND_POINT;
    c->segments += t->kind == GRAZE_KIND_SEGMENT;
    c->areas += t->kind == GRAZE_KIND_AREA;
  }
}

void oracle_mesh_pairs(const double *a, uint32_t count_a, const double *b, uint32_t count_b, oracle_pairs *out) {
  *out = (oracle_pairs){0};
  for (uint32_t i = 0; i < count_a; i++) {
    for (uint32_t j = 0; j < count_b; j++) {
      if (!boxes_meet(a + 9 * (size_t)i, b + 9 * (size_t)j)) continue;
      graze_tritri t;
      oracle_tritri(a + 9 * (size_t)i, b + 9 * (size_t)j, &t);
      count_pair(out, &t, i, j);
    }
  }
}

void oracle_mesh_pairs_real(const double *a, uint32_t count_a, const graze_pose *pose_a, const double *b,
                            uint32_t count_b, const graze_pose *pose_b, oracle_pairs *out) {
  *out = (oracle_pairs){0};
  for (uint32_t i = 0; i < count_a; i++) {
    for (uint32_t j = 0; j < count_b; j++) {
      graze_tritri t;
      oracle_tritri_real(a + 9 * (size_t)i, pose_a, b + 9 * (size_t)j, pose_b, &t);
      count_pair(out, &t, i, j);
    }
  }
}

void oracle_pairs_free(oracle_pairs *pairs) {
  free(pairs->pairs);
  *pairs = (oracle_pairs){0};
}

static int shared_positions(const double a[9], const double b[9]) {
  int shared = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const double *p = a + 3 * i, *q = b + 3 * j;
      shared += p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
    }
  }
  return shared;
}

/* Adds the pair to its class; true when it belongs in the list. */
static bool classify_self(const double a[9], const double b[9], graze_self_result *out) {
  graze_tritri t;
  oracle_tritri(a, b, &t);
  if (t.kind == GRAZE_KIND_NONE) return false;
  if (t.degenerate) {
    out->degenerate_pairs++;
    return false;
  }
  switch (shared_positions(a, b)) {
    case 3:
      out->duplicates++;
      return true;
    case 2:
      out->edge_overlaps += t.kind == GRAZE_KIND_AREA;
      return t.kind == GRAZE_KIND_AREA;
    case 1:
      out->vertex_more += t.kind != GRAZE_KIND_POINT;
      return t.kind != GRAZE_KIND_POINT;
    default:
      out->disjoint_hits++;
      return true;
  }
}

void oracle_self_pairs(const double *corners, uint32_t count, graze_self_result *out) {
  graze_triangle_pair *pairs = NULL;
  *out = (graze_self_result){0};
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = i + 1; j < count; j++) {
      const double *a = corners + 9 * (size_t)i, *b = corners + 9 * (size_t)j;
      if (!boxes_meet(a, b) || !classify_self(a, b, out)) continue;
      pairs = append_pair(pairs, out->self_pairs++, i, j);
      out->hash += oracle_pair_hash(i, j);
    }
  }
  out->pairs = pairs;
}

void oracle_self_boxes(const double *corners, uint32_t count, uint64_t *pairs, uint64_t *hash) {
  *pairs = *hash = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = i + 1; j < count; j++) {
      if (!boxes_meet(corners + 9 * (size_t)i, corners + 9 * (size_t)j)) continue;
      ++*pairs;
      *hash += oracle_pair_hash(i, j);
    }
  }
}
