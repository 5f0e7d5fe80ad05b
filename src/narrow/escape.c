/* A short way out of a crossing: a translation of b after which the exact check says touch or separate.
 *
 * Where surfaces overlap a little, they do so along the normals of the triangles that meet: the deepest corner behind
 * such a triangle says how far to go. That is asked of every plane with such triangles, for one plane may be all that
 * is in the way, and of every direction, for curved faces have many planes. The shortest ways are tried, each followed
 * by another step when something else is then met. Directions and lengths are plain arithmetic and a guess: what counts
 * is that the relation of the moved objects is decided like any other. The axes are tried as well, along which the
 * boxes part.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "narrow/depth.h"
#include "narrow/locate.h"

enum { WAYS = 256, STARTS = 8, STEPS = 4, PAIRS_MOST = 1 << 14 };

/* Where a way comes from. */
enum { ANY_PLANE = 0, PLANE_OF_A = 1, PLANE_OF_B = -1 };

/* Steps of a direction's components: normals that differ by less are one way. */
static const double STEP = 1.0 / 64;

/* The cosine of an angle of as much. */
static const double ALONG = 1 - 1.0 / (2 * 64 * 64);

static const double nowhere[3] = {0, 0, 0};

/* What counts as a small overlap, as a part of the size. */
static const double SMALL = 1.0 / 1024;

/* A direction in which b may leave, and how far. */
typedef struct way {
  double direction[3], length;
  int8_t cell[3], source;
  int64_t offset; /* of the plane */
} way;

typedef struct escape {
  graze_query *query; /* another one than the caller's, whose pairs stay */
  const relate_side *a, *b;
  const graze_relate_options *options;
  double slack; /* what rounding may take away from a length */
  double best;  /* the length of the shortest translation so far, or the most that is wanted */
  graze_escape *out;
  way ways[WAYS];
  uint16_t slots[2 * WAYS]; /* where a way's hash leads: its number and one, 0: free */
  uint32_t count;
} escape;

/* ---- ways ---- */

/* The way with the cell, the source and the offset of this one, which is kept if there is none. NULL: no room. */
static way *keep_way(escape *e, const way *new) {
  uint32_t packed;
  memcpy(&packed, (int8_t[4]){new->cell[0], new->cell[1], new->cell[2], new->source}, sizeof packed);
  uint64_t slot = splitmix64(splitmix64((uint64_t) new->offset) ^ packed);
  for (;; slot++) {
    uint16_t *place = &e->slots[slot % (2 * WAYS)];
    if (*place == 0 && e->count == WAYS) return NULL;
    if (*place == 0) {
      e->ways[e->count] = *new;
      *place = (uint16_t)++e->count;
    }
    way *w = &e->ways[*place - 1];
    if (w->source == new->source && w->offset == new->offset &&memcmp(w->cell, new->cell, sizeof w->cell) == 0)
      return w;
  }
}

static void add_way(escape *e, const double direction[3], double length, int source, double offset) {
  way new = {.source = (int8_t)source, .offset = llrint(offset)};
  memcpy(new.direction, direction, sizeof new.direction);
  for (int k = 0; k < 3; k++) new.cell[k] = (int8_t)lrint(direction[k] / STEP);
  way *kept = keep_way(e, &new);
  if (kept != NULL && length > kept->length) kept->length = length;
}

/* Ways along the normal of triangle t, of a (`sign` PLANE_OF_A) or b, from the corners of u that lie beyond it. Returns
 * the length of the shorter one. */
static double add_normal(escape *e, const double t[9], const double u[9], int sign) {
  double p[3], q[3], n[3], low = 0, high = 0;
  for (int k = 0; k < 3; k++) {
    p[k] = t[3 + k] - t[k];
    q[k] = t[6 + k] - t[k];
  }
  for (int k = 0; k < 3; k++) n[k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
  double size = sqrt(dot3(n, n));
  if (!(size > 0) || !isfinite(size)) return 0;
  for (int k = 0; k < 3; k++) n[k] = sign * n[k] / size;
  for (int c = 0; c < 9; c += 3) {
    const double d[3] = {u[c] - t[0], u[c + 1] - t[1], u[c + 2] - t[2]};
    double at = sign * dot3(n, d);
    low = fmin(low, at);
    high = fmax(high, at);
  }
  /* what is behind the triangle comes out that way, or the other way where it faces inwards */
  const double back[3] = {-n[0], -n[1], -n[2]};
  double offset = e->slack > 0 ? dot3(n, t) / (64 * e->slack) : 0;
  add_way(e, n, -low, sign, offset);
  add_way(e, back, high, sign, offset);
  add_way(e, n, -low, ANY_PLANE, 0);
  add_way(e, back, high, ANY_PLANE, 0);
  return fmin(-low, high);
}

/* Returns the length of the longest of the ways that are the shortest of their pairs. */
static double find_ways(escape *e, const double moved[3], const graze_triangle_pair *pairs, uint64_t count) {
  double deepest = 0;
  e->count = 0;
  memset(e->slots, 0, sizeof e->slots);
  uint64_t step = count / PAIRS_MOST + 1;
  for (uint64_t i = 0; i < count; i += step) {
    double a[9], b[9];
    gz_side_corners(&e->a->place, pairs[i].a, a);
    gz_side_corners(&e->b->place, pairs[i].b, b);
    for (int k = 0; k < 9; k++) b[k] += moved[k % 3];
    const double of_a = add_normal(e, a, b, PLANE_OF_A), of_b = add_normal(e, b, a, PLANE_OF_B);
    deepest = fmax(deepest, fmin(of_a, of_b));
  }
  return deepest;
}

/* The shortest way that is longer than nothing, or longer than another; NULL: there is none. */
static const way *next_way(const escape *e, const way *after) {
  const way *found = NULL;
  for (uint32_t i = 0; i < e->count; i++) {
    const way *w = &e->ways[i];
    if (!(w->length > 0) ||
        (after != NULL && (w->length < after->length || (w->length == after->length && w <= after))))
      continue;
    if (found == NULL || w->length < found->length) found = w;
  }
  return found;
}

/* A plane that is the only one of its direction is known twice. */
static bool is_same_way(const way *v, const way *w) {
  return memcmp(v->direction, w->direction, sizeof v->direction) == 0 && v->length == w->length;
}

/* ---- trying ---- */

/* The length, not less than it is; along an axis it is known. */
static double length_of(const double t[3]) {
  for (int k = 0; k < 3; k++) {
    if (t[(k + 1) % 3] == 0 && t[(k + 2) % 3] == 0) return fabs(t[k]);
  }
  return nextafter(sqrt(dot3(t, t)) * (1 + 4 * DBL_EPSILON), INFINITY);
}

graze_status gz_relate_moved(graze_query *query, const relate_side *a, const relate_side *b,
                             const graze_relate_options *how, const double t[3], graze_relate_result *result) {
  graze_relate_options options = *how;
  relate_side moved = *b;
  if (options.exactness == GRAZE_T0) options.exactness = GRAZE_T1;
  for (int k = 0; k < 3; k++) moved.place.pose.m[4 * k + 3] += t[k];
  moved.place.identity = graze_pose_is_identity(&moved.place.pose);
  return gz_query_relate(query, a, &moved, &options, result);
}

static graze_status relate_moved(const escape *e, const double t[3], graze_relate_result *result) {
  return gz_relate_moved(e->query, e->a, e->b, e->options, t, result);
}

static void take(escape *e, const double t[3], graze_relation relation) {
  e->best = length_of(t);
  *e->out = (graze_escape){.found = true, .translation = {t[0], t[1], t[2]}, .length = e->best, .relation = relation};
}

static void move_along(const way *w, double more, double t[3]) {
  for (int k = 0; k < 3; k++) t[k] += w->direction[k] * (w->length + more);
}

static bool is_along(const way *v, const way *w) {
  return dot3(v->direction, w->direction) > ALONG;
}

/* The longest way in the direction of another one; NULL: there is none. */
static const way *way_along(const escape *e, const way *other) {
  const way *found = NULL;
  for (uint32_t i = 0; i < e->count; i++) {
    const way *w = &e->ways[i];
    if (w->length > 0 && is_along(other, w) && (found == NULL || w->length > found->length)) found = w;
  }
  return found;
}

/* From t on, step by step, each along the shortest way that the contact then has, or on along one as long as there is
 * any. */
static graze_status go_on(escape *e, double t[3], int steps, const way *along) {
  for (int step = 0; step < steps && length_of(t) < e->best; step++) {
    graze_relate_result result;
    graze_status status = relate_moved(e, t, &result);
    if (status != GRAZE_OK) return status;
    if (relation_is_out(result.verdict.relation)) {
      take(e, t, result.verdict.relation);
      return GRAZE_OK;
    }
    find_ways(e, t, result.pairs, result.counts.triangle_pairs);
    const way *next = along != NULL ? way_along(e, along) : NULL;
    if (next == NULL) next = next_way(e, NULL);
    if (next == NULL) return GRAZE_OK;
    move_along(next, e->slack, t);
  }
  return GRAZE_OK;
}

/* Faces that roundings have pushed into each other may also be flush at their sides. Then there are ways from side to
 * side that are shorter still and lead nowhere: on along the first one, whatever is met. */
static graze_status try_straight(escape *e, const graze_triangle_pair *pairs, uint64_t count, double small) {
  way starts[STARTS];
  int found = 0;
  if (find_ways(e, nowhere, pairs, count) >= small) return GRAZE_OK;
  for (const way *w = next_way(e, NULL); w != NULL && w->length < small && found < STARTS; w = next_way(e, w)) {
    int i = 0;
    while (i < found && !is_along(&starts[i], w)) i++;
    if (i == found) starts[found++] = *w;
  }
  graze_status status = GRAZE_OK;
  const double most = e->best;
  e->best = fmin(most, small);
  for (int i = 0; i < found && status == GRAZE_OK; i++) {
    double t[3] = {0, 0, 0};
    move_along(&starts[i], e->slack, t);
    status = go_on(e, t, STEPS, &starts[i]);
  }
  if (!e->out->found) e->best = most;
  return status;
}

/* Each way as far as it takes, which is enough where nothing was rounded; and a little farther, and on from there. */
static graze_status try_normals(escape *e, const graze_triangle_pair *pairs, uint64_t count) {
  way starts[STARTS];
  int found = 0;
  find_ways(e, nowhere, pairs, count);
  for (const way *w = next_way(e, NULL); w != NULL && found < STARTS; w = next_way(e, w)) {
    if (found == 0 || !is_same_way(&starts[found - 1], w)) starts[found++] = *w;
  }
  graze_status status = GRAZE_OK;
  for (int i = 0; i < 2 * found && status == GRAZE_OK; i++) {
    double t[3] = {0, 0, 0};
    move_along(&starts[i / 2], i % 2 * e->slack, t);
    status = go_on(e, t, i % 2 == 0 ? 1 : STEPS, NULL);
  }
  return status;
}

static graze_status try_axes(escape *e, const graze_box *a, const graze_box *b) {
  for (int k = 0; k < 12; k++) { /* as far as it takes, and a little farther */
    double t[3] = {0, 0, 0}, more = k % 2 == 0 ? 0 : e->slack;
    int axis = k / 4;
    t[axis] = k % 4 < 2 ? a->max[axis] - b->min[axis] + more : a->min[axis] - b->max[axis] - more;
    if (!(length_of(t) < e->best)) continue;
    graze_relate_result result;
    graze_status status = relate_moved(e, t, &result);
    if (status != GRAZE_OK) return status;
    if (relation_is_out(result.verdict.relation)) take(e, t, result.verdict.relation);
  }
  return GRAZE_OK;
}

static double largest_side(const graze_box *box) {
  return fmax(fmax(box->max[0] - box->min[0], box->max[1] - box->min[1]), box->max[2] - box->min[2]);
}

graze_status gz_query_escape(graze_query *q, const relate_side *a, const relate_side *b,
                             const graze_relate_options *options, const graze_triangle_pair *pairs, uint64_t count,
                             double most, graze_escape *out) {
  escape e = {.a = a, .b = b, .options = options, .out = out};
  graze_box box_a = gz_side_box(&a->place), box_b = gz_side_box(&b->place);
  double size = 0;
  *out = (graze_escape){0};
  if (q->moved == NULL) {
    graze_status status = graze_query_create(q->context, &q->moved);
    if (status != GRAZE_OK) return status;
  }
  e.query = q->moved;
  for (int k = 0; k < 3; k++) {
    size = fmax(size, fmax(fmax(fabs(box_a.min[k]), fabs(box_a.max[k])), fmax(fabs(box_b.min[k]), fabs(box_b.max[k]))));
  }
  e.slack = 32 * DBL_EPSILON * size;
  e.best = nextafter(most, INFINITY);
  graze_status status = try_normals(&e, pairs, count);
  if (status == GRAZE_OK && !out->found)
    status = try_straight(&e, pairs, count, SMALL * fmin(largest_side(&box_a), largest_side(&box_b)));
  return status == GRAZE_OK ? try_axes(&e, &box_a, &box_b) : status;
}

graze_status graze_find_escape(graze_query *query, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                               const graze_pose *pose_b, const graze_relate_options *options, double most,
                               graze_escape *result) {
  if (query == NULL || a == NULL || b == NULL || result == NULL)
    return gz_fail_null(query != NULL ? query->context : NULL);
  if (!(most >= 0)) return gz_fail(query->context, GRAZE_ERROR_ARGUMENT, "escape: the most is not a length");
  graze_relate_options o = options != NULL ? *options : graze_default_relate_options();
  graze_relate_result relation;
  graze_status status = graze_relate_meshes(query, a, pose_a, b, pose_b, &o, &relation);
  *result = (graze_escape){0};
  if (status != GRAZE_OK) return status;
  if (relation_is_out(relation.verdict.relation)) {
    *result = (graze_escape){.found = true, .relation = relation.verdict.relation};
    return GRAZE_OK;
  }
  if (relation.verdict.relation != GRAZE_CROSS) return GRAZE_OK;
  _Atomic(solid *) made[2] = {gz_solid_kept(a), gz_solid_kept(b)};
  relate_side sides[2] = {{.slot = &made[0]}, {.slot = &made[a != b]}};
  unsigned saved = gz_fp_enter();
  status = gz_query_side(query, a, pose_a, o.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = gz_query_side(query, b, pose_b, o.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK)
    status =
        gz_query_escape(query, &sides[0], &sides[1], &o, relation.pairs, relation.counts.triangle_pairs, most, result);
  gz_solid_keep(query->context, a, atomic_load(&made[0]));
  if (a != b) gz_solid_keep(query->context, b, atomic_load(&made[1]));
  gz_fp_leave(saved);
  return status;
}
