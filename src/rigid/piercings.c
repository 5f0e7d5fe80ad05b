/* Piercings as the last hold of surfaces that have come through each other; see the header. */
#include "rigid/piercings.h"

#include <string.h>

#include "rigid/vector.h"

/* What is left of all normals when they have not cancelled each other. */
static const double clear_way = 1e-3;

/* How many times deeper than a touch a piercing may be along its normal, and still be of the same overlap. */
static const double about = 2;

typedef struct gathering {
  const gz_array *touches;
  double nearly;
  uint32_t count;
  double middle[3], normal[3]; /* sums */
  double low[3], high[3];      /* of the places */
} gathering;

/* Whether the place is within what overlaps at some touch, between the planes of both surfaces there. */
static bool is_held(const gathering *g, const double at[3]) {
  for (size_t i = 0; i < g->touches->count; i++) {
    const feature_touch *t = (const feature_touch *)g->touches->data + i;
    double way[3];
    if (t->gap >= g->nearly) continue;
    sub3(at, t->points[0], way);
    if (fabs(dot3(t->normal, way)) <= about * fmax(g->nearly, -t->gap)) return true;
  }
  return false;
}

static void gather(gathering *g, const double at[3], const double normal[3], double sign) {
  if (is_held(g, at)) return;
  for (int k = 0; k < 3; k++) {
    g->middle[k] += at[k];
    g->normal[k] += sign * normal[k];
    g->low[k] = g->count == 0 ? at[k] : fmin(g->low[k], at[k]);
    g->high[k] = g->count == 0 ? at[k] : fmax(g->high[k], at[k]);
  }
  g->count++;
}

/* Whether a point of the plane is in the triangle. */
static bool is_inside(const double (*corners)[3], const double normal[3], const double at[3]) {
  for (int i = 0; i < 3; i++) {
    double u[3], out[3], way[3];
    sub3(corners[(i + 1) % 3], corners[i], u);
    cross3(u, normal, out);
    sub3(at, corners[i], way);
    if (dot3(out, way) > 0) return false;
  }
  return true;
}

/* Edges of one triangle through the other, whose normal is outward. */
static void pierce(gathering *g, const double (*edges)[3], const double (*face)[3], const double normal[3],
                   double sign) {
  double heights[3], way[3];
  for (int i = 0; i < 3; i++) {
    sub3(edges[i], face[0], way);
    heights[i] = dot3(normal, way);
  }
  for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3;
    double at[3];
    if ((heights[i] < 0) == (heights[k] < 0)) continue;
    sub3(edges[k], edges[i], way);
    add_scaled3(edges[i], heights[i] / (heights[i] - heights[k]), way, at);
    if (is_inside(face, normal, at)) gather(g, at, normal, sign);
  }
}

static void pierce_pair(gathering *g, const feature_side sides[2], const feature_frame *frame,
                        const graze_triangle_pair *pair) {
  const surface_face *faces[2] = {&sides[0].surface->faces[pair->a], &sides[1].surface->faces[pair->b]};
  double corners[2][3][3], normal[3];
  for (int i = 0; i < 3; i++) {
    memcpy(corners[0][i], sides[0].surface->corners[faces[0]->corners[i]], sizeof corners[0][i]);
    turn3(frame->rotation, sides[1].surface->corners[faces[1]->corners[i]], corners[1][i]);
    for (int k = 0; k < 3; k++) corners[1][i][k] += frame->place[k];
  }
  turn3(frame->rotation, faces[1]->normal, normal);
  const double(*first)[3] = (const double(*)[3])corners[0], (*second)[3] = (const double(*)[3])corners[1];
  if (!faces[1]->is_flat) pierce(g, first, second, normal, 1);
  if (!faces[0]->is_flat) pierce(g, second, first, faces[0]->normal, -1);
}

bool gz_piercings_hold(const graze_context *context, const feature_side sides[2], const feature_frame *frame,
                       const graze_triangle_pair *pairs, uint64_t count, double nearly, gz_array *touches) {
  gathering g = {.touches = touches, .nearly = nearly};
  for (uint64_t i = 0; i < count; i++) pierce_pair(&g, sides, frame, &pairs[i]);
  const double length = length3(g.normal);
  if (g.count == 0 || !(length > clear_way * g.count)) return true;
  if (!array_reserve(context, touches, 1, sizeof(feature_touch))) return false;
  feature_touch *t = (feature_touch *)touches->data + touches->count++;
  *t = (feature_touch){.gap = 0, .feature = UINT32_MAX};
  for (int k = 0; k < 3; k++) {
    t->normal[k] = g.normal[k] / length;
    t->points[0][k] = g.middle[k] / g.count;
    t->gap -= 0.5 * fabs(t->normal[k]) * (g.high[k] - g.low[k]);
  }
  add_scaled3(t->points[0], -t->gap, t->normal, t->points[1]);
  return true;
}
