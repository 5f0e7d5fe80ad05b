/* Compounds: bodies of several convex parts.
 *
 * Every part is a body of its own about its own centre, at a place and an orientation in the compound's coordinates,
 * whose origin is the common centre of mass. Contacts pose it in the world and treat it as any other body. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

enum { PART_COOKIE = 0x52494750 };

/* Of the reach: boxes of parts are so much larger than rounding can make them. */
static const double rounding = 0x1p-40;

graze_rigid_part graze_default_rigid_part(void) {
  return (graze_rigid_part){.orientation = {1, 0, 0, 0}, .density = (double)NAN, .cookie = PART_COOKIE};
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

typedef struct part_words {
  char text[128];
} part_words;

static part_words words_of(const char *body, uint32_t part) {
  part_words words;
  snprintf(words.text, sizeof words.text, "%s: part %u", body, part);
  return words;
}

/* The part as if it were a body. */
static graze_rigid_body_def def_of(const graze_rigid_part *part) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = part->shape;
  def.radius = part->radius;
  memcpy(def.edges, part->edges, sizeof def.edges);
  def.length = part->length;
  def.points = part->points;
  def.point_count = part->point_count;
  return def;
}

static graze_status check_numbers(graze_context *context, const char *words, const graze_rigid_part *part) {
  const double *q = part->orientation;
  for (int k = 0; k < 7; k++) {
    if (isfinite(k < 3 ? part->place[k] : q[k - 3])) continue;
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "%s: %s is not finite", words, k < 3 ? "place" : "orientation");
  }
  if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its orientation is 0", words);
  if (!isnan(part->density) && !(isfinite(part->density) && part->density > 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its density is %.17g: it must be finite and above 0", words,
                   part->density);
  return GRAZE_OK;
}

static graze_status check_part(graze_context *context, const char *words, const graze_rigid_part *part) {
  if (part->cookie != PART_COOKIE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: the definition was not initialised", words);
  if (part->shape == GRAZE_RIGID_MESH || part->shape == GRAZE_RIGID_COMPOUND)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT,
                   "%s: it is a %s: parts are spheres, boxes, capsules, cylinders and hulls", words,
                   part->shape == GRAZE_RIGID_MESH ? "mesh" : "compound");
  const graze_rigid_body_def def = def_of(part);
  graze_status status = gz_rigid_check_shape(context, words, &def);
  return status == GRAZE_OK ? check_numbers(context, words, part) : status;
}

graze_status gz_rigid_check_parts(graze_context *context, const char *words, const graze_rigid_body_def *def) {
  graze_status status = GRAZE_OK;
  if (def->parts == NULL || def->part_count == 0)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its compound has no parts", words);
  for (uint32_t i = 0; status == GRAZE_OK && i < def->part_count; i++)
    status = check_part(context, words_of(words, i).text, &def->parts[i]);
  return status;
}

bool gz_rigid_parts_are_dense(const graze_rigid_body_def *def) {
  for (uint32_t i = 0; i < def->part_count; i++) {
    if (isnan(def->parts[i].density)) return false;
  }
  return true;
}

/* ---- mass -------------------------------------------------------------------------------------------------------- */

static double density_of(const graze_rigid_part *part, double common) {
  return !isnan(part->density) ? part->density : isnan(common) ? 1 : common;
}

/* A unit quaternion, as that of a body. */
static void find_orientation(const graze_rigid_part *part, double unit[4]) {
  const double *q = part->orientation;
  const double largest = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  double length = 0;
  for (int k = 0; k < 4; k++) length += q[k] / largest * (q[k] / largest);
  for (int k = 0; k < 4; k++) unit[k] = length == 1 ? q[k] / largest : q[k] / largest / sqrt(length);
}

static graze_pose pose_of(const graze_rigid_part *part) {
  double unit[4];
  find_orientation(part, unit);
  return graze_pose_from_quaternion(unit, part->place);
}

static graze_status weigh_part(graze_context *context, const char *words, const graze_rigid_part *part, double density,
                               graze_mass *mass) {
  graze_hull *hull;
  const graze_rigid_body_def def = def_of(part);
  graze_status status = gz_rigid_open_shape(context, words, &def, &hull);
  if (status == GRAZE_OK) status = gz_rigid_find_mass(context, words, &def, hull, density, mass);
  graze_hull_destroy(hull);
  return status;
}

graze_status gz_rigid_weigh_parts(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                  double density, graze_mass *mass) {
  graze_status status = GRAZE_OK;
  memset(mass, 0, sizeof *mass);
  for (uint32_t i = 0; status == GRAZE_OK && i < def->part_count; i++) {
    graze_mass one;
    const graze_pose pose = pose_of(&def->parts[i]);
    status = weigh_part(context, words_of(words, i).text, &def->parts[i], density_of(&def->parts[i], density), &one);
    if (status == GRAZE_OK) status = graze_mass_add(context, mass, &one, &pose);
  }
  return status;
}

graze_status graze_rigid_find_parts_center(graze_context *context, uint32_t count, const graze_rigid_part *parts,
                                           double density, double center[3]) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  graze_mass mass;
  if (context == NULL || parts == NULL || center == NULL) return gz_fail_null(context);
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = parts;
  def.part_count = count;
  const unsigned saved = gz_fp_enter();
  graze_status status = gz_rigid_check_parts(context, "compound", &def);
  if (status == GRAZE_OK) status = gz_rigid_weigh_parts(context, "compound", &def, density, &mass);
  gz_fp_leave(saved);
  if (status == GRAZE_OK) memcpy(center, mass.center, sizeof mass.center);
  return status;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* A part about its own centre, at its place about that of the compound. */
static graze_status make_part(graze_context *context, const char *words, const graze_rigid_part *said,
                              const double center[3], rigid_body *part) {
  graze_hull *hull;
  graze_mass mass = {0};
  const graze_rigid_body_def def = def_of(said);
  gz_rigid_set_shape(part, &def);
  find_orientation(said, part->orientation);
  gz_rigid_set_rotation(part);
  graze_status status = gz_rigid_open_shape(context, words, &def, &hull);
  if (status == GRAZE_OK && said->shape == GRAZE_RIGID_HULL)
    status = gz_rigid_find_mass(context, words, &def, hull, 1, &mass);
  if (status == GRAZE_OK && !gz_rigid_make_core(context, part, hull, mass.center))
    status = gz_fail_memory(context, sizeof *part);
  graze_hull_destroy(hull);
  turn3(part->rotation, mass.center, part->position);
  for (int k = 0; k < 3; k++) part->position[k] += said->place[k] - center[k];
  return status;
}

static void find_box(const rigid_body *part, graze_box *box) {
  *box = graze_box_empty();
  for (uint32_t i = 0; i < part->core.corner_count; i++) {
    double at[3];
    turn3(part->rotation, part->core.corners[i], at);
    for (int k = 0; k < 3; k++) at[k] += part->position[k];
    graze_box_add_point(box, at);
  }
  const double more = part->radius + rounding * (part->reach + length3(part->position));
  for (int k = 0; k < 3; k++) {
    box->min[k] -= more;
    box->max[k] += more;
  }
}

/* The corners of a box around all parts; reach and thickness are those of parts. */
static void find_extent(rigid_body *b) {
  graze_box whole = graze_box_empty();
  b->least = (double)INFINITY;
  for (uint32_t i = 0; i < b->part_count; i++) {
    const rigid_body *part = &b->parts[i];
    find_box(part, &b->part_boxes[i]);
    graze_box_add_point(&whole, b->part_boxes[i].min);
    graze_box_add_point(&whole, b->part_boxes[i].max);
    b->least = fmin(b->least, part->least);
    for (uint32_t k = 0; k < part->core.corner_count; k++) {
      double at[3];
      turn3(part->rotation, part->core.corners[k], at);
      for (int j = 0; j < 3; j++) at[j] += part->position[j];
      b->reach = fmax(b->reach, part->radius + length3(at));
    }
  }
  for (uint32_t i = 0; i < 24; i++) b->core.corners[i / 3][i % 3] = (i / 3 >> i % 3 & 1 ? whole.max : whole.min)[i % 3];
}

/* As they were said, with densities, and their points behind them. */
static bool keep_said(const graze_context *context, const graze_rigid_body_def *def, rigid_body *b) {
  size_t points = 0;
  for (uint32_t i = 0; i < def->part_count; i++) {
    if (def->parts[i].shape == GRAZE_RIGID_HULL) points += def->parts[i].point_count;
  }
  char *memory = gz_new_zeroed(context, def->part_count * sizeof *b->said + 3 * points * sizeof(double), 1);
  if (memory == NULL) return false;
  b->said = (graze_rigid_part *)(void *)memory;
  double *next = (double *)(void *)(memory + def->part_count * sizeof *b->said);
  for (uint32_t i = 0; i < def->part_count; i++) {
    graze_rigid_part *part = &b->said[i];
    *part = def->parts[i];
    part->density = density_of(part, def->density);
    if (part->shape != GRAZE_RIGID_HULL) {
      part->points = NULL;
      part->point_count = 0;
      continue;
    }
    memcpy(next, part->points, 3 * (size_t)part->point_count * sizeof *next);
    part->points = next;
    next += 3 * (size_t)part->point_count;
  }
  return true;
}

static bool make_room(const graze_context *context, const graze_rigid_body_def *def, rigid_body *b) {
  double *corners = gz_new_zeroed(context, 3 * 8, sizeof *corners);
  b->core = (polytope){.corner_count = 8, .corners = (double(*)[3])corners};
  b->parts = gz_new_zeroed(context, def->part_count, sizeof *b->parts);
  b->part_boxes = gz_new_zeroed(context, def->part_count, sizeof *b->part_boxes);
  b->part_count = b->parts != NULL ? def->part_count : 0;
  return keep_said(context, def, b) && corners != NULL && b->parts != NULL && b->part_boxes != NULL;
}

graze_status gz_rigid_make_parts(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                 rigid_body *b) {
  graze_mass mass;
  const bool is_said = !isnan(def->center[0]);
  graze_status status = is_said ? GRAZE_OK : gz_rigid_weigh_parts(context, words, def, def->density, &mass);
  if (status != GRAZE_OK) return status;
  if (!make_room(context, def, b)) return gz_fail_memory(context, def->part_count * sizeof *b->parts);
  memcpy(b->center, is_said ? def->center : mass.center, sizeof b->center);
  for (uint32_t i = 0; status == GRAZE_OK && i < def->part_count; i++)
    status = make_part(context, words_of(words, i).text, &b->said[i], b->center, &b->parts[i]);
  if (status == GRAZE_OK) find_extent(b);
  return status;
}

void gz_rigid_free_parts(rigid_body *b) {
  for (uint32_t i = 0; i < b->part_count; i++) {
    gz_free(b->parts[i].core.corners);
    if (b->parts[i].surface != NULL) gz_surface_destroy(b->parts[i].surface);
  }
  gz_free(b->parts);
  gz_free(b->part_boxes);
  gz_free(b->said);
}

/* ---- in the world ------------------------------------------------------------------------------------------------ */

static void multiply(const double p[4], const double q[4], double product[4]) {
  product[0] = (p[0] * q[0] - p[1] * q[1]) - (p[2] * q[2] + p[3] * q[3]);
  product[1] = (p[0] * q[1] + p[1] * q[0]) + (p[2] * q[3] - p[3] * q[2]);
  product[2] = (p[0] * q[2] + p[2] * q[0]) + (p[3] * q[1] - p[1] * q[3]);
  product[3] = (p[0] * q[3] + p[3] * q[0]) + (p[1] * q[2] - p[2] * q[1]);
}

void gz_rigid_pose_part(const rigid_body *body, uint32_t part, rigid_body *posed) {
  const rigid_body *own = &body->parts[part];
  *posed = *own;
  turn3(body->rotation, own->position, posed->position);
  for (int k = 0; k < 3; k++) posed->position[k] += body->position[k];
  multiply(body->orientation, own->orientation, posed->orientation);
  for (int i = 0; i < 9; i++) {
    posed->rotation[i] = 0;
    for (int k = 0; k < 3; k++) posed->rotation[i] += body->rotation[3 * (i / 3) + k] * own->rotation[3 * k + i % 3];
  }
}
