/* What a check takes for a body: its corners, grown by its radius; a cylinder as prisms within and around it. */
#include <math.h>

#include "base/owned.h"
#include "rigid/check.h"

/* Sides are this part of the circle's tangents too far in or out, which covers all rounding. */
static const double spare = 1e-12;

static uint32_t count_sides(check_level level) {
  return level == CHECK_COARSE ? 192 : 6144;
}

/* Cosine and sine of a turn by 30 degrees that is halved `times` times: square roots alone, the same everywhere. */
static void find_turn(int times, double *cosine, double *sine) {
  *cosine = sqrt(0.75);
  *sine = 0.5;
  for (int i = 0; i < times; i++) {
    const double half = sqrt(0.5 * (1 + *cosine));
    *sine /= 2 * half;
    *cosine = half;
  }
}

/* Corners on a circle of this radius, at both ends. */
static void fill_prism(double radius, double length, uint32_t sides, double cosine, double sine, double (*points)[3]) {
  double x = 1, y = 0;
  for (uint32_t i = 0; i < sides; i++) {
    for (int end = 0; end < 2; end++) {
      double *p = points[2 * i + (uint32_t)end];
      p[0] = radius * x;
      p[1] = radius * y;
      p[2] = end == 0 ? -0.5 * length : 0.5 * length;
    }
    const double turned = cosine * x - sine * y;
    y = sine * x + cosine * y;
    x = turned;
  }
}

static bool make_prisms(const graze_context *context, const rigid_body *b, check_level level, check_form *form) {
  const uint32_t sides = count_sides(level);
  const double radius = b->edges[0];
  double cosine, sine, half_cosine, half_sine;
  int times = 0;
  while (UINT32_C(12) << times < sides) times++;
  find_turn(times, &cosine, &sine);
  find_turn(times + 1, &half_cosine, &half_sine);
  form->prisms = gz_new(context, 12 * (size_t)sides, sizeof *form->prisms);
  if (form->prisms == NULL) return false;
  double(*inner)[3] = (double(*)[3])(void *)form->prisms, (*outer)[3] = inner + 2 * (size_t)sides;
  fill_prism(radius * (1 - spare), b->length, sides, cosine, sine, inner);
  fill_prism(radius / half_cosine * (1 + spare), b->length, sides, cosine, sine, outer);
  form->inner = (graze_convex){.points = inner[0], .count = 2 * sides};
  form->outer = (graze_convex){.points = outer[0], .count = 2 * sides};
  return true;
}

static bool make_parts(const graze_context *context, const rigid_body *body, check_level level, check_form *form) {
  form->parts = gz_new_zeroed(context, body->part_count, sizeof *form->parts);
  for (; form->parts != NULL && form->part_count < body->part_count; form->part_count++) {
    if (!gz_check_make_form(context, &body->parts[form->part_count], level, &form->parts[form->part_count])) break;
  }
  const bool good = form->part_count == body->part_count;
  if (!good) gz_check_free_form(form);
  return good;
}

bool gz_check_has_bracketed(const check_form *form) {
  bool any = check_is_bracketed(form);
  for (uint32_t i = 0; i < form->part_count; i++) any = any || check_is_bracketed(&form->parts[i]);
  return any;
}

void gz_check_find_box(const graze_convex *set, const graze_pose *pose, double beyond, graze_box *box) {
  *box = graze_box_empty();
  for (uint32_t i = 0; i < set->count; i++) {
    double at[3];
    graze_pose_apply(pose, set->points + 3 * (size_t)i, at);
    graze_box_add_point(box, at);
  }
  for (int k = 0; k < 3; k++) {
    box->min[k] = nextafter(box->min[k] - (set->radius + beyond), -(double)INFINITY);
    box->max[k] = nextafter(box->max[k] + (set->radius + beyond), (double)INFINITY);
  }
}

bool gz_check_make_form(const graze_context *context, const rigid_body *body, check_level level, check_form *form) {
  *form = (check_form){0};
  if (body->shape == GRAZE_RIGID_CYLINDER) return make_prisms(context, body, level, form);
  const bool is_mesh = body->shape == GRAZE_RIGID_MESH;
  form->inner = (graze_convex){.points = is_mesh ? body->surface->corners[0] : body->core.corners[0],
                               .count = is_mesh ? body->surface->corner_count : body->core.corner_count,
                               .radius = body->radius};
  form->outer = form->inner;
  return body->part_count == 0 || make_parts(context, body, level, form);
}

void gz_check_free_form(check_form *form) {
  for (uint32_t i = 0; i < form->part_count; i++) gz_check_free_form(&form->parts[i]);
  gz_free(form->parts);
  gz_free(form->prisms);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(form->solids[i]);
  *form = (check_form){0};
}
