/* What meets in the robot cell at a step, found on the plan: two upright boxes share volume when their heights and
 * their rectangles seen from above overlap. Rectangles are apart when a side of one of them separates them, so four
 * directions decide; it has nothing in common with how triangles are tested. For rectangles along the axes, with
 * coordinates that are multiples of 2^-10 m, every operation is exact, and 0 means that they touch. */
#include <math.h>
#include <stdlib.h>

#include "builder.h"
#include "robot.h"

/* Middle, two directions and half the sides of a box seen from above. */
typedef struct rectangle {
  double middle[2], along[2][2], half[2];
} rectangle;

static rectangle seen_from_above(const robot_box *box, const robot_place *place) {
  rectangle r;
  double x = (box->low[0] + box->high[0]) / 2, y = (box->low[1] + box->high[1]) / 2;
  r.middle[0] = place->cosine * x - place->sine * y + place->at[0];
  r.middle[1] = place->sine * x + place->cosine * y + place->at[1];
  r.along[0][0] = r.along[1][1] = place->cosine;
  r.along[0][1] = place->sine;
  r.along[1][0] = -place->sine;
  for (int k = 0; k < 2; k++) r.half[k] = (box->high[k] - box->low[k]) / 2;
  return r;
}

static double reach(const rectangle *r, const double direction[2]) {
  double sum = 0;
  for (int k = 0; k < 2; k++) sum += r->half[k] * fabs(r->along[k][0] * direction[0] + r->along[k][1] * direction[1]);
  return sum;
}

/* The widest gap that some side's direction shows between them; negative: they overlap. */
static double gap_between(const rectangle *a, const rectangle *b) {
  double widest = -INFINITY;
  for (int side = 0; side < 4; side++) {
    const double *direction = side < 2 ? a->along[side] : b->along[side - 2];
    double apart = (b->middle[0] - a->middle[0]) * direction[0] + (b->middle[1] - a->middle[1]) * direction[1];
    widest = fmax(widest, fabs(apart) - reach(a, direction) - reach(b, direction));
  }
  return widest;
}

static double gap_of_boxes(const robot_box *a, const robot_place *at_a, const robot_box *b, const robot_place *at_b) {
  double above = (b->low[2] + at_b->at[2]) - (a->high[2] + at_a->at[2]);
  double below = (a->low[2] + at_a->at[2]) - (b->high[2] + at_b->at[2]);
  double height = fmax(above, below);
  if (height > 0) return height;
  rectangle from_a = seen_from_above(a, at_a), from_b = seen_from_above(b, at_b);
  return fmax(height, gap_between(&from_a, &from_b));
}

static double gap_of_bodies(const robot_body *a, const robot_body *b) {
  double least = INFINITY;
  for (uint32_t i = 0; i < a->box_count; i++) {
    for (uint32_t k = 0; k < b->box_count; k++)
      least = fmin(least, gap_of_boxes(&a->boxes[i], &a->place, &b->boxes[k], &b->place));
  }
  return least;
}

bool robot_find_meetings(scenes_scene *scene, const robot_body *bodies, uint32_t count, uint32_t step) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = i + 1; k < count; k++) {
      double gap = gap_of_bodies(&bodies[i], &bodies[k]);
      if (gap > 0) continue;
      bool ordered = bodies[i].object < bodies[k].object;
      const scenes_meeting meeting = {step, bodies[ordered ? i : k].object, bodies[ordered ? k : i].object,
                                      gap < 0 ? "cross" : "touch"};
      if (!scene_add_meeting(scene, &meeting)) return false;
    }
  }
  return true;
}
