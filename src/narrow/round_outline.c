/* Where a round object meets another, for the eye, and a way out.
 *
 * The point is the nearest to the core of what meets, the box that of what meets within the other's box. A way out is a
 * translation along the way between the nearest points, or along an axis until the boxes part; the relation of the
 * moved objects proves it.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "narrow/locate.h"
#include "narrow/round.h"

/* Along the axes, either way, and between nearest points. */
enum { WAYS = 7 };

typedef struct way_out {
  double translation[3], length;
} way_out;

static graze_box common_box(const graze_box *a, const graze_box *b) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = fmax(a->min[k], b->min[k]);
    box.max[k] = fmin(a->max[k], b->max[k]);
    if (box.min[k] > box.max[k]) box.min[k] = box.max[k]; /* by roundings */
  }
  return box;
}

/* The box of what meets, and the points of the cores, or of core and mesh, that are nearest. */
static graze_box find_place(const round_pair *p, const graze_relate_result *related, graze_nearest *nearest) {
  const graze_box whole[2] = {gz_round_box(p, 0), gz_round_box(p, 1)};
  const int mesh = 1 - round_which(p);
  const bool touch = related->verdict.relation == GRAZE_TOUCH && !p->flat[0] && !p->flat[1];
  graze_box box = graze_box_empty();
  double least = (double)INFINITY;
  for (uint64_t i = 0; i < related->counts.triangle_pairs; i++) {
    double corners[18];
    near_pair pair;
    gz_round_start(p, related->pairs[i], corners, &pair);
    graze_nearest here;
    if (pair.upper < least || i == 0 || touch) gz_near_witness(&pair, &here);
    if (pair.upper < least || i == 0) *nearest = here;
    least = fmin(least, pair.upper);
    if (touch && !round_both(p)) graze_box_add_point(&box, here.points[mesh]);
    if (touch || round_both(p)) continue;
    graze_box own = graze_box_empty();
    gz_side_corners(&p->of[mesh]->place, mesh == 0 ? related->pairs[i].a : related->pairs[i].b, corners);
    for (int k = 0; k < 9; k += 3) graze_box_add_point(&own, corners + k);
    own = common_box(&own, &whole[1 - mesh]);
    graze_box_add_box(&box, &own);
  }
  return round_both(p) && !touch ? common_box(&whole[0], &whole[1]) : box;
}

/* A common point: of the mesh, or between the cores. */
static void choose_point(const round_pair *p, const graze_nearest *nearest, double out[3]) {
  double share = round_which(p) == 0 ? 1 : 0;
  if (round_both(p)) {
    const double d = nearest->distance;
    share = d > 0 ? fmin(fmax(0.5 * (d + p->radius[0] - p->radius[1]) / d, 0), 1) : 0;
  }
  for (int k = 0; k < 3; k++) out[k] = (1 - share) * nearest->points[0][k] + share * nearest->points[1][k];
}

/* How far b is to be moved along each axis so that the boxes part. */
static void list_axes(const graze_box *a, const graze_box *b, way_out ways[6]) {
  for (int k = 0; k < 6; k++) {
    const int axis = k / 2;
    const double by = k % 2 == 0 ? a->max[axis] - b->min[axis] : a->min[axis] - b->max[axis];
    memset(ways[k].translation, 0, sizeof ways[k].translation);
    ways[k].translation[axis] = by * (1 + 0x1p-40);
    ways[k].length = fabs(ways[k].translation[axis]);
  }
}

/* Along the way between the nearest points, until the cores are as far apart as the radii. */
static void list_between(const round_pair *p, const graze_nearest *nearest, way_out *way) {
  double n[3], size = 0;
  for (int k = 0; k < 3; k++) n[k] = nearest->points[1][k] - nearest->points[0][k];
  size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  const double by = (p->radius[0] + p->radius[1] - nearest->distance) * (1 + 0x1p-40);
  for (int k = 0; k < 3; k++) way->translation[k] = n[k] / size * by;
  way->length = size > 0 && isfinite(size) ? by * (1 + 0x1p-40) : (double)INFINITY;
}

static int by_length(const void *x, const void *y) {
  const way_out *a = x, *b = y;
  return (a->length > b->length) - (a->length < b->length);
}

/* Whether b, moved so, touches a or is separate. */
static graze_status try_way(const round_pair *p, const graze_relate_options *options, const way_out *way, bool *out) {
  relate_side moved = *p->of[1];
  round_pair then;
  graze_relate_options o = *options;
  graze_relate_result r;
  for (int k = 0; k < 3; k++) moved.place.pose.m[4 * k + 3] += way->translation[k];
  moved.place.identity = false;
  if (o.exactness == GRAZE_T0) o.exactness = GRAZE_T1;
  gz_round_open(&then, p->query->moved, (round_side){p->of[0], p->radius[0], p->flat[0]},
                (round_side){&moved, p->radius[1], p->flat[1]}, o.exactness);
  graze_status status = gz_query_relate_round(&then, &o, &r);
  *out = status == GRAZE_OK && (r.verdict.relation == GRAZE_TOUCH || r.verdict.relation == GRAZE_SEPARATE);
  return status;
}

static graze_status find_way(const round_pair *p, const graze_relate_options *options, const graze_nearest *nearest,
                             graze_outline *outline) {
  const graze_box a = gz_round_box(p, 0), b = gz_round_box(p, 1);
  way_out ways[WAYS];
  graze_query *q = p->query; /* its list is the caller's */
  graze_status status = q->moved == NULL ? graze_query_create(q->context, &q->moved) : GRAZE_OK;
  list_axes(&a, &b, ways);
  list_between(p, nearest, &ways[6]);
  qsort(ways, WAYS, sizeof *ways, by_length);
  for (int i = 0; i < WAYS && status == GRAZE_OK && !outline->proved; i++) {
    if (!isfinite(ways[i].length)) break;
    status = try_way(p, options, &ways[i], &outline->proved);
    if (!outline->proved) continue;
    outline->depth = ways[i].length;
    memcpy(outline->translation, ways[i].translation, sizeof outline->translation);
  }
  return status;
}

graze_status gz_query_outline_round(const round_pair *p, const graze_relate_options *options,
                                    const graze_relate_result *related, graze_outline *outline) {
  static const uint32_t no_curve[1] = {0};
  static const double no_points[1][3] = {{0, 0, 0}};
  const graze_box a = gz_round_box(p, 0), b = gz_round_box(p, 1);
  const bool meet = related->counts.triangle_pairs > 0;
  graze_nearest nearest;
  way_out ways[6];
  *outline = (graze_outline){.points = no_points, .starts = no_curve};
  outline->box = meet ? find_place(p, related, &nearest) : common_box(&a, &b);
  for (int k = 0; k < 3; k++) outline->point[k] = 0.5 * outline->box.min[k] + 0.5 * outline->box.max[k];
  /* The point of a mesh that is nearest to an axis may lie beyond its end. */
  if (meet && !p->flat[0] && !p->flat[1]) choose_point(p, &nearest, outline->point);
  if (related->verdict.relation == GRAZE_TOUCH && graze_box_is_empty(&outline->box))
    graze_box_add_point(&outline->box, outline->point);
  list_axes(&a, &b, ways);
  outline->depth = (double)INFINITY;
  for (int k = 0; k < 6; k++) outline->depth = fmin(outline->depth, ways[k].length);
  return related->verdict.relation == GRAZE_CROSS ? find_way(p, options, &nearest, outline) : GRAZE_OK;
}
