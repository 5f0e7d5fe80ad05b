/* See arrangement.h. */
#include "narrow/relate/arrangement.h"

#include <math.h>

#include "base/context.h"
#include "exact/orient.h"
#include "exact/tritri.h"

/* ---- opening --------------------------------------------------------------------------------------------------- */

static const side *side_of_point(const arrangement *all, uint32_t point) {
  return &all->of->of[point >= all->first_point_b].place;
}

static void local_point(const arrangement *all, uint32_t point, double out[3]) {
  const uint32_t vertex = point >= all->first_point_b ? point - all->first_point_b : point;
  mesh_vertex(side_of_point(all, point)->mesh, vertex, out);
}

static void place_points(arrangement *all) {
  for (uint32_t i = 0; i < all->point_count; i++) {
    const side *s = side_of_point(all, i);
    double local[3], size = 0;
    local_point(all, i, local);
    side_point(s, local, all->points[i]);
    if (all->error == NULL) continue;
    for (int k = 0; k < 3; k++) {
      const double *row = s->pose.m + 4 * k;
      size = fmax(size, fabs(row[0] * local[0]) + fabs(row[1] * local[1]) + fabs(row[2] * local[2]) + fabs(row[3]));
    }
    all->error[i] = 0x1.02p-51 * size + 0x1p-1060;
  }
}

static boundary boundary_of(const operand *o, uint32_t part) {
  if (!operand_bounds(o, part)) return BOUNDARY_NONE;
  return o->shape->parts[part].parity ? BOUNDARY_PARITY : BOUNDARY_WINDING;
}

static void place_triangle(arrangement *all, uint32_t number) {
  arranged_triangle *t = &all->triangles[number];
  int which = number >= all->first_b;
  const operand *own = &all->of->of[which];
  uint32_t in_mesh = which ? number - all->first_b : number, base = which ? all->first_point_b : 0;
  double corners[9];
  *t = (arranged_triangle){.part = own->shape->part_of[in_mesh], .operand = (uint8_t)which, .axis = -1};
  t->box = graze_box_empty();
  for (int c = 0; c < 3; c++) {
    t->corner[c] = base + own->place.mesh->triangles[3 * (size_t)in_mesh + (size_t)c];
    memcpy(corners + 3 * c, all->points[t->corner[c]], 3 * sizeof(double));
    double spread = all->error != NULL ? all->error[t->corner[c]] : 0;
    for (int k = 0; k < 3; k++) {
      t->box.min[k] = fmin(t->box.min[k], corners[3 * c + k] - spread);
      t->box.max[k] = fmax(t->box.max[k], corners[3 * c + k] + spread);
    }
  }
  if (t->part == NO_PART) return;
  t->bounds = (uint8_t)boundary_of(own, t->part);
}

/* The axis along which the projection is largest, if its sign is right; else any that keeps an area. */
static void find_axis(arrangement *all, arranged_triangle *t) {
  double most = -1;
  int first = 0;
  for (int k = 0; k < 3; k++) {
    const double *p = all->points[t->corner[0]], *q = all->points[t->corner[1]], *r = all->points[t->corner[2]];
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double area = fabs((q[i] - p[i]) * (r[j] - p[j]) - (q[j] - p[j]) * (r[i] - p[i]));
    if (area > most) {
      most = area;
      first = k;
    }
  }
  for (int n = 0; n < 3 && t->axis < 0; n++) {
    int k = (first + n) % 3;
    plane along = gz_plane_along(all, t->corner[0], t->corner[1], k);
    int sign = gz_plane_sign(all, &along, t->corner[2]); /* negative: counterclockwise */
    if (sign == 0) continue;
    t->axis = (int8_t)k;
    t->turn = (int8_t)-sign;
  }
}

graze_status gz_arrangement_open(arrangement *all, const operands *o) {
  const graze_mesh *a = o->of[0].place.mesh, *b = o->of[1].place.mesh;
  uint64_t points = a->header->vertex_count + b->header->vertex_count;
  *all = (arrangement){.context = o->rays->context, .of = o};
  if (points > UINT32_MAX || (uint64_t)a->triangle_count + b->triangle_count > UINT32_MAX)
    return gz_fail_memory(all->context, points * sizeof *all->points);
  all->first_b = a->triangle_count;
  all->triangle_count = a->triangle_count + b->triangle_count;
  all->first_point_b = (uint32_t)a->header->vertex_count;
  all->point_count = (uint32_t)points;
  bool real = o->exactness == GRAZE_T2;
  all->triangles = gz_memory_alloc(all->context, all->triangle_count * sizeof *all->triangles);
  all->points = gz_memory_alloc(all->context, all->point_count * sizeof *all->points);
  if (real) all->error = gz_memory_alloc(all->context, all->point_count * sizeof *all->error);
  if (all->triangles == NULL || all->points == NULL || (real && all->error == NULL))
    return gz_fail_memory(all->context, all->triangle_count * sizeof *all->triangles);
  place_points(all);
  for (uint32_t t = 0; t < all->triangle_count; t++) {
    place_triangle(all, t);
    if (all->triangles[t].part != NO_PART) find_axis(all, &all->triangles[t]);
  }
  return GRAZE_OK;
}

void gz_arrangement_close(arrangement *all) {
  gz_memory_release(all->context, all->triangles, all->triangle_count * sizeof *all->triangles);
  gz_memory_release(all->context, all->points, all->point_count * sizeof *all->points);
  gz_memory_release(all->context, all->error, all->point_count * sizeof *all->error);
}

void gz_arrangement_meet(const arrangement *all, uint32_t t, uint32_t u, graze_tritri *out) {
  const arranged_triangle *both[2] = {&all->triangles[t], &all->triangles[u]};
  double corners[2][9];
  for (int w = 0; w < 2; w++) {
    for (int c = 0; c < 3; c++) {
      if (all->error != NULL)
        local_point(all, both[w]->corner[c], corners[w] + 3 * c);
      else
        memcpy(corners[w] + 3 * c, all->points[both[w]->corner[c]], 3 * sizeof(double));
    }
  }
  if (all->error != NULL)
    gz_tritri_real(corners[0], &side_of_point(all, both[0]->corner[0])->pose, corners[1],
                   &side_of_point(all, both[1]->corner[0])->pose, out);
  else
    gz_tritri_scalar(corners[0], corners[1], out);
}

bool gz_arrangement_same_point(const arrangement *all, uint32_t p, uint32_t q) {
  double x[3], y[3];
  if (p == q) return true;
  if (all->error == NULL) {
    memcpy(x, all->points[p], sizeof x);
    memcpy(y, all->points[q], sizeof y);
  } else {
    local_point(all, p, x);
    local_point(all, q, y);
  }
  return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
}

/* ---- estimates ------------------------------------------------------------------------------------------------- */

/* The bounds: half an ulp of the result, and a little for the roundings of the bound itself. */
static const double HALF_ULP = 0x1.01p-53, SLACK = 1 + 0x1p-40;

static inline estimate minus(estimate x, estimate y) {
  double value = x.value - y.value;
  return (estimate){value, ((x.error + y.error) * SLACK + fabs(value) * HALF_ULP) * SLACK};
}

static inline estimate plus(estimate x, estimate y) {
  double value = x.value + y.value;
  return (estimate){value, ((x.error + y.error) * SLACK + fabs(value) * HALF_ULP) * SLACK};
}

static inline estimate times(estimate x, estimate y) {
  double value = x.value * y.value;
  double error = fabs(x.value) * y.error + fabs(y.value) * x.error + x.error * y.error + fabs(value) * HALF_ULP;
  return (estimate){value, error == 0 && value == 0 ? 0 : error * SLACK + 0x1p-1000};
}

/* UNSIGNED when the estimate leaves it open; so does one that is not finite. */
static inline int sign_of(estimate x) {
  if (x.value > x.error) return 1;
  if (x.value < -x.error) return -1;
  return x.value == 0 && x.error == 0 ? 0 : UNSIGNED;
}

static inline estimate coordinate(const arrangement *all, uint32_t point, int axis) {
  return (estimate){all->points[point][axis], all->error != NULL ? all->error[point] : 0};
}

static void difference(const arrangement *all, uint32_t p, uint32_t q, estimate out[3]) {
  for (int k = 0; k < 3; k++) out[k] = minus(coordinate(all, p, k), coordinate(all, q, k));
}

static inline estimate plane_value(const arrangement *all, const plane *of, uint32_t point) {
  estimate d[3];
  difference(all, point, of->p, d);
  return plus(plus(times(of->normal[0], d[0]), times(of->normal[1], d[1])), times(of->normal[2], d[2]));
}

/* ---- integers -------------------------------------------------------------------------------------------------- */

static bool has_room(arrangement *all, int64_t limbs) {
  if (limbs >= BIG_LIMBS - 2) all->too_long = true;
  return !all->too_long;
}

static void multiply(arrangement *all, big *r, const big *x, const big *y) {
  if (has_room(all, (int64_t)x->limbs + y->limbs))
    gz_big_mul(r, x, y);
  else
    gz_big_from_double(r, 0);
}

/* r = x + y or x - y. */
static void add(arrangement *all, big *r, const big *x, const big *y, bool subtract) {
  if (x->sign != 0 && y->sign != 0) {
    int64_t top_x = x->exponent + 64 * (int64_t)x->limbs, top_y = y->exponent + 64 * (int64_t)y->limbs;
    int64_t low = x->exponent < y->exponent ? x->exponent : y->exponent;
    if (!has_room(all, ((top_x > top_y ? top_x : top_y) - low) / 64 + 1)) {
      gz_big_from_double(r, 0);
      return;
    }
  }
  if (subtract)
    gz_big_sub(r, x, y);
  else
    gz_big_add(r, x, y);
}

static void big_coordinate(arrangement *all, uint32_t point, int axis, big *out) {
  if (all->error == NULL) {
    gz_big_from_double(out, all->points[point][axis]);
    return;
  }
  const double *row = side_of_point(all, point)->pose.m + 4 * axis;
  double local[3];
  big x, y;
  local_point(all, point, local);
  gz_big_from_double(out, row[3]);
  for (int k = 0; k < 3; k++) {
    gz_big_from_double(&x, row[k]);
    gz_big_from_double(&y, local[k]);
    multiply(all, &x, &x, &y);
    add(all, out, out, &x, false);
  }
}

static void big_difference(arrangement *all, uint32_t p, uint32_t q, int axis, big *out) {
  big minuend;
  big_coordinate(all, p, axis, &minuend);
  big_coordinate(all, q, axis, out);
  add(all, out, &minuend, out, true);
}

/* r = x y - z w */
static void big_minor(arrangement *all, const big *x, const big *y, const big *z, const big *w, big *r) {
  big first;
  multiply(all, &first, x, y);
  multiply(all, r, z, w);
  add(all, r, &first, r, true);
}

static void big_normal(arrangement *all, const plane *of, big normal[3]) {
  big u[3], v[3];
  for (int k = 0; k < 3; k++) big_difference(all, of->q, of->p, k, &u[k]);
  for (int k = 0; k < 3; k++) {
    if (of->axis >= 0)
      gz_big_from_double(&v[k], k == of->axis);
    else
      big_difference(all, of->r, of->p, k, &v[k]);
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    big_minor(all, &u[i], &v[j], &u[j], &v[i], &normal[k]);
  }
}

static void big_plane_value(arrangement *all, const plane *of, uint32_t point, big *out) {
  big own[3], d;
  const big *normal = of->exact;
  if (normal == NULL) {
    big_normal(all, of, own);
    normal = own;
  }
  gz_big_from_double(out, 0);
  for (int k = 0; k < 3; k++) {
    big_difference(all, point, of->p, k, &d);
    multiply(all, &d, &d, &normal[k]);
    add(all, out, out, &d, false);
  }
}

/* The sign, 0 when it did not fit; the estimate becomes one as good as doubles can be. */
static int settle(arrangement *all, const big *exact, estimate *e) {
  if (all->too_long) return 0;
  if (exact->sign == 0) {
    *e = (estimate){0, 0};
    return 0;
  }
  big one;
  gz_big_from_double(&one, 1);
  e->value = gz_big_ratio(exact, &one);
  e->error = isfinite(e->value) ? fabs(e->value) * 0x1p-50 + 0x1p-1000 : INFINITY;
  return exact->sign;
}

/* ---- planes ---------------------------------------------------------------------------------------------------- */

plane gz_plane_of(const arrangement *all, uint32_t triangle) {
  const uint32_t *c = all->triangles[triangle].corner;
  plane made = {.p = c[0], .q = c[1], .r = c[2], .axis = -1};
  estimate u[3], v[3];
  difference(all, made.q, made.p, u);
  difference(all, made.r, made.p, v);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    made.normal[k] = minus(times(u[i], v[j]), times(u[j], v[i]));
  }
  return made;
}

plane gz_plane_along(const arrangement *all, uint32_t p, uint32_t q, int axis) {
  plane made = {.p = p, .q = q, .r = q, .axis = axis};
  estimate u[3];
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  difference(all, q, p, u);
  made.normal[axis] = (estimate){0, 0};
  made.normal[i] = u[j];
  made.normal[j] = (estimate){-u[i].value, u[i].error};
  return made;
}

/* The error is far below 2^-40 of the terms' sizes, and that of the normal is known. */
bool gz_plane_misses(const arrangement *all, const plane *of, const graze_box *box) {
  double value = 0, reach = 0, size = 0;
  for (int k = 0; k < 3; k++) {
    double p = all->points[of->p][k], low = box->min[k] - p, high = box->max[k] - p;
    double half = 0.5 * (high - low), normal = fabs(of->normal[k].value);
    value += of->normal[k].value * (0.5 * (low + high));
    reach += normal * half + of->normal[k].error * (fabs(low) + fabs(high));
    size += normal * (fabs(low) + fabs(high) + (all->error != NULL ? 0x1p41 * all->error[of->p] : 0));
  }
  return fabs(value) > reach + 0x1p-40 * size + 0x1p-1000;
}

static int plane_sign(arrangement *all, const plane *of, uint32_t point, estimate *value) {
  int sign = sign_of(*value);
  if (sign != UNSIGNED) return sign;
  if (all->error == NULL) {
    const double(*at)[3] = (const double(*)[3])all->points;
    sign = of->axis >= 0 ? -gz_orient2d(of->axis, at[of->p], at[of->q], at[point])
                         : gz_orient3d(at[of->p], at[of->q], at[of->r], at[point]);
    if (sign == 0) *value = (estimate){0, 0};
    return sign;
  }
  big exact;
  big_plane_value(all, of, point, &exact);
  return settle(all, &exact, value);
}

int gz_plane_sign(arrangement *all, const plane *of, uint32_t point) {
  estimate value = plane_value(all, of, point);
  return plane_sign(all, of, point, &value);
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

void gz_line_begin(line *l) {
  memset(l->sign_of, UNSIGNED, l->all->point_count);
  memset(l->sign_cut, UNSIGNED, l->all->point_count);
}

int gz_line_sign_of(line *l, uint32_t point) {
  if (l->sign_of[point] == UNSIGNED) {
    l->at_of[point] = plane_value(l->all, &l->of, point);
    l->sign_of[point] = (int8_t)plane_sign(l->all, &l->of, point, &l->at_of[point]);
  }
  return l->sign_of[point];
}

int gz_line_sign_cut(line *l, uint32_t point) {
  if (l->sign_cut[point] == UNSIGNED) {
    l->at_cut[point] = plane_value(l->all, &l->cut, point);
    l->sign_cut[point] = (int8_t)plane_sign(l->all, &l->cut, point, &l->at_cut[point]);
  }
  return l->sign_cut[point];
}

static void make_exact(line *l) {
  if (l->of.exact != NULL) return;
  big_normal(l->all, &l->of, l->exact[0]);
  big_normal(l->all, &l->cut, l->exact[1]);
  l->of.exact = l->exact[0];
  l->cut.exact = l->exact[1];
}

/* Sign of s - t, of which the signs are known. */
static int compare_products(estimate s, estimate t, int sign_s, int sign_t) {
  if (sign_s != sign_t) return sign_s > sign_t ? 1 : -1;
  return sign_s == 0 ? 0 : sign_of(minus(s, t));
}

int gz_line_turn(line *l, uint32_t x, uint32_t y) {
  int first = gz_line_sign_of(l, x) * gz_line_sign_cut(l, y), second = gz_line_sign_of(l, y) * gz_line_sign_cut(l, x);
  int sign = compare_products(times(l->at_of[x], l->at_cut[y]), times(l->at_of[y], l->at_cut[x]), first, second);
  if (sign != UNSIGNED) return sign;
  big of_x, of_y, cut_x, cut_y;
  make_exact(l);
  big_plane_value(l->all, &l->of, x, &of_x);
  big_plane_value(l->all, &l->of, y, &of_y);
  big_plane_value(l->all, &l->cut, x, &cut_x);
  big_plane_value(l->all, &l->cut, y, &cut_y);
  big_minor(l->all, &of_x, &cut_y, &of_y, &cut_x, &of_x);
  return l->all->too_long ? 0 : of_x.sign;
}

/* ---- crossings ------------------------------------------------------------------------------------------------- */

static estimate at_cut(line *l, uint32_t point) {
  gz_line_sign_cut(l, point);
  return l->at_cut[point];
}

/* Where an edge p, q goes through the plane that cuts: weights of its points are the other's distance, signs turned so
 * that their sum is positive. */
static int weight_sign(line *l, line_end e) {
  int p = gz_line_sign_cut(l, e.p);
  return p != 0 ? p : -gz_line_sign_cut(l, e.q);
}

static estimate signed_by(estimate x, int sign) {
  return (estimate){sign * x.value, x.error};
}

static estimate end_value(line *l, line_end e, const plane *by) {
  if (e.p == e.q) return plane_value(l->all, by, e.p);
  estimate first = times(at_cut(l, e.p), plane_value(l->all, by, e.q)),
           second = times(at_cut(l, e.q), plane_value(l->all, by, e.p));
  return signed_by(minus(first, second), weight_sign(l, e));
}

static void big_end_value(line *l, line_end e, const plane *by, big *out) {
  if (e.p == e.q) {
    big_plane_value(l->all, by, e.p, out);
    return;
  }
  big cut_p, cut_q, by_p;
  big_plane_value(l->all, &l->cut, e.p, &cut_p);
  big_plane_value(l->all, &l->cut, e.q, &cut_q);
  big_plane_value(l->all, by, e.p, &by_p);
  big_plane_value(l->all, by, e.q, out);
  big_minor(l->all, &cut_p, out, &cut_q, &by_p, out);
  out->sign *= weight_sign(l, e);
}

static estimate end_weight(line *l, line_end e) {
  if (e.p == e.q) return (estimate){1, 0};
  return signed_by(minus(at_cut(l, e.p), at_cut(l, e.q)), weight_sign(l, e));
}

static void big_end_weight(line *l, line_end e, big *out) {
  if (e.p == e.q) {
    gz_big_from_double(out, 1);
    return;
  }
  big second;
  big_plane_value(l->all, &l->cut, e.p, out);
  big_plane_value(l->all, &l->cut, e.q, &second);
  add(l->all, out, out, &second, true);
  out->sign *= weight_sign(l, e);
}

static estimate magnitude(estimate x) {
  return (estimate){fabs(x.value), x.error};
}

/* Both ends lie on one side of the plane: the nearer end tells where the line goes through it. */
static int region_of(line *l, const crossing *c) {
  estimate first = times(magnitude(c->at[0]), end_weight(l, l->end[1])),
           last = times(magnitude(c->at[1]), end_weight(l, l->end[0]));
  int sign = sign_of(minus(first, last));
  if (sign != UNSIGNED) return sign;
  big x, y, w;
  big_end_value(l, l->end[0], &c->by, &x);
  big_end_weight(l, l->end[1], &w);
  multiply(l->all, &x, &x, &w);
  big_end_value(l, l->end[1], &c->by, &y);
  big_end_weight(l, l->end[0], &w);
  multiply(l->all, &y, &y, &w);
  x.sign = y.sign = 1;
  add(l->all, &x, &x, &y, true);
  return l->all->too_long ? 0 : x.sign;
}

void gz_line_cross(line *l, const plane *by, crossing *out) {
  out->by = *by;
  for (int e = 0; e < 2; e++) {
    out->at[e] = end_value(l, l->end[e], by);
    if (l->end[e].p == l->end[e].q) {
      out->sign[e] = plane_sign(l->all, by, l->end[e].p, &out->at[e]);
      continue;
    }
    out->sign[e] = sign_of(out->at[e]);
    if (out->sign[e] != UNSIGNED) continue;
    big exact;
    big_end_value(l, l->end[e], by, &exact);
    out->sign[e] = settle(l->all, &exact, &out->at[e]);
  }
  out->region = out->sign[0] * out->sign[1] > 0 ? region_of(l, out) : 0;
}

int gz_line_compare(line *l, const crossing *x, const crossing *y) {
  estimate first = times(magnitude(x->at[0]), magnitude(y->at[1])),
           second = times(magnitude(y->at[0]), magnitude(x->at[1]));
  int some_first = x->sign[0] != 0 && y->sign[1] != 0, some_second = y->sign[0] != 0 && x->sign[1] != 0;
  int sign = compare_products(first, second, some_first, some_second);
  if (sign != UNSIGNED) return sign;
  big a, b, c, d;
  big_end_value(l, l->end[0], &x->by, &a);
  big_end_value(l, l->end[1], &y->by, &b);
  big_end_value(l, l->end[0], &y->by, &c);
  big_end_value(l, l->end[1], &x->by, &d);
  a.sign = b.sign = c.sign = d.sign = 1;
  big_minor(l->all, &a, &b, &c, &d, &a);
  return l->all->too_long ? 0 : a.sign;
}
