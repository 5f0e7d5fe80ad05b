/* Overlaps that are forgiven: what touches, what a proved translation within the tolerance ends, and where that is the
 * precision of the files, what corners end that are proved to be within their own roundings. Containment, duplicates
 * and unknown relations never are. */
#include <math.h>
#include <string.h>

#include "check.h"

graze_status gz_check_parse_length(const graze_check *c, const char *name, const char *text, const char *own,
                                   double *length) {
  const char *end = text + strlen(text), *unit = graze_parse_double(text, end, length);
  if (unit == NULL || !isfinite(*length) || !(*length >= 0))
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "%s: '%s' is not a length of 0 or more", name, text);
  if (*unit == '\0') unit = own;
  if (*unit == '\0' || strcmp(unit, c->units) == 0) return GRAZE_OK;
  if (gz_check_metres(unit) == 0)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "%s: '%s' has an unknown unit", name, text);
  if (gz_check_metres(c->units) == 0)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "%s: '%s' has a unit, and the check has none (--units)", name,
                   text);
  *length *= gz_check_metres(unit) / gz_check_metres(c->units);
  if (isfinite(*length)) return GRAZE_OK;
  return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "%s: '%s' is too large in %s", name, text, c->units);
}

graze_status gz_check_parse_tolerance(const graze_check *c, const char *text, const char *own, double *length) {
  *length = INFINITY;
  return strcmp(text, "precision") == 0 ? GRAZE_OK : gz_check_parse_length(c, "tolerance", text, own, length);
}

graze_status graze_check_read_length(const graze_check *c, const char *name, const char *text, double *length) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  if (name == NULL || text == NULL || length == NULL)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: null pointer");
  return gz_check_parse_length(c, name, text, "", length);
}

/* What rounding may have moved a coordinate on axis `k` by: that to a float; or that of decimals, and then to a double.
 */
static double rounding_on_axis(const check_mesh *m, int k) {
  const double largest = fmax(fabs(m->facts.box.min[k]), fabs(m->facts.box.max[k]));
  const float narrow = (float)largest;
  if (m->floats) return 0.5 * ((double)nextafterf(narrow, INFINITY) - (double)narrow);
  return m->rounding > 0 ? m->rounding + 0.5 * (nextafter(largest, INFINITY) - largest) : 0;
}

/* What that of the pose may have moved coordinate `i` of a point in the mesh's box by. */
static double rounding_of_pose(const check_object *o, const graze_box *box, int i) {
  if (o->rounding == NULL) return 0;
  const double *row = o->rounding->m + 4 * (size_t)i;
  double sum = row[3];
  for (int k = 0; k < 3; k++) sum += row[k] * fmax(fabs(box->min[k]), fabs(box->max[k]));
  return sum;
}

/* Both for a posed coordinate of the object. */
static double rounding_of(const graze_check *c, uint32_t object) {
  const check_object *o = &c->objects[object];
  const check_mesh *m = &c->meshes[o->mesh];
  double most = 0;
  for (int i = 0; i < 3; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += fabs(o->pose.m[4 * i + k]) * rounding_on_axis(m, k);
    most = fmax(most, sum + rounding_of_pose(o, &m->facts.box, i));
  }
  return most;
}

static double length_of(const graze_check *c, const rule *one, uint64_t a, uint64_t b) {
  return isinf(one->length) ? rounding_of(c, (uint32_t)a) + rounding_of(c, (uint32_t)b) : one->length;
}

static bool translation_ends(const graze_outline *outline, double length) {
  return outline->proved && outline->depth <= length;
}

bool gz_check_roundings(void *user, uint64_t a, uint64_t b, const graze_outline *outline, graze_rounding roundings[2]) {
  graze_check *c = user;
  const rule *one = gz_check_forgiving_rule(c, a, b);
  if (one == NULL || !isinf(one->length) || translation_ends(outline, length_of(c, one, a, b))) return false;
  const uint64_t objects[2] = {a, b};
  for (int k = 0; k < 2; k++) {
    const check_mesh *m = &c->meshes[c->objects[objects[k]].mesh];
    roundings[k] = (graze_rounding){.floats = m->floats, .decimals = m->rounding};
  }
  return true;
}

void gz_check_forgive(graze_check *c, const graze_outline *outline, graze_report_clash *clash) {
  rule *one = gz_check_forgiving_rule(c, clash->a, clash->b);
  if (one == NULL || one->length == 0) return;
  const double length = length_of(c, one, clash->a, clash->b);
  const bool crosses = clash->relation == GRAZE_CROSS, ended = crosses && translation_ends(outline, length);
  if (clash->relation != GRAZE_TOUCH && !ended && !(crosses && outline->moved_corners > 0)) return;
  clash->forgiven = true;
  clash->tolerance = length;
  if (ended) memcpy(clash->translation, outline->translation, sizeof clash->translation);
  if (crosses && !ended) clash->moved_corners = outline->moved_corners;
  one->pairs++;
}
