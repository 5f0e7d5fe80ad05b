/* Mass properties of simple solids and of compounds, and the principal axes of a tensor of inertia. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "graze/mass.h"

static const double pi = 3.14159265358979323846;

/* ---- simple solids --------------------------------------------------------------------------------------------- */

static graze_status check_above(const graze_context *context, const char *name, double value) {
  if (isfinite(value) && value > 0) return GRAZE_OK;
  return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the %s is %.17g: it must be finite and above 0", name, value);
}

/* About the origin, with moments xx and zz of a unit of mass, the first for x and y. */
static graze_status give(const graze_context *context, double volume, double density, const double moments[3],
                         graze_mass *mass) {
  graze_mass found = {.volume = volume, .mass = volume * density};
  for (int k = 0; k < 3; k++) {
    found.inertia[k] = found.mass * moments[k];
    if (!(isfinite(found.inertia[k]) && found.inertia[k] > 0))
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "the mass or inertia is no double: too large or too small");
  }
  *mass = found;
  return GRAZE_OK;
}

graze_status graze_sphere_get_mass(graze_context *context, double radius, double density, graze_mass *mass) {
  if (context == NULL || mass == NULL) return gz_fail_null(context);
  graze_status status = check_above(context, "radius", radius);
  if (status == GRAZE_OK) status = check_above(context, "density", density);
  if (status != GRAZE_OK) return status;
  const double moment = 0.4 * radius * radius, moments[3] = {moment, moment, moment};
  return give(context, 4.0 / 3 * pi * radius * radius * radius, density, moments, mass);
}

graze_status graze_box_get_mass(graze_context *context, const double edges[3], double density, graze_mass *mass) {
  if (context == NULL || edges == NULL || mass == NULL) return gz_fail_null(context);
  graze_status status = check_above(context, "density", density);
  for (int k = 0; status == GRAZE_OK && k < 3; k++) status = check_above(context, "edge", edges[k]);
  if (status != GRAZE_OK) return status;
  const double x = edges[0] * edges[0], y = edges[1] * edges[1], z = edges[2] * edges[2];
  const double moments[3] = {(y + z) / 12, (x + z) / 12, (x + y) / 12};
  return give(context, edges[0] * edges[1] * edges[2], density, moments, mass);
}

/* A cylinder and the two halves of a ball, whose centres are 3/8 r beyond its ends. */
graze_status graze_capsule_get_mass(graze_context *context, double radius, double length, double density,
                                    graze_mass *mass) {
  if (context == NULL || mass == NULL) return gz_fail_null(context);
  if (length == 0) return graze_sphere_get_mass(context, radius, density, mass);
  graze_status status = check_above(context, "radius", radius);
  if (status == GRAZE_OK) status = check_above(context, "length", length);
  if (status == GRAZE_OK) status = check_above(context, "density", density);
  if (status != GRAZE_OK) return status;
  const double r2 = radius * radius, tube = pi * r2 * length, ball = 4.0 / 3 * pi * r2 * radius;
  const double volume = tube + ball;
  const double across =
      tube * (r2 / 4 + length * length / 12) + ball * (0.4 * r2 + length * length / 4 + 0.375 * radius * length);
  const double along = tube * r2 / 2 + ball * 0.4 * r2;
  const double moments[3] = {across / volume, across / volume, along / volume};
  return give(context, volume, density, moments, mass);
}

graze_status graze_cylinder_get_mass(graze_context *context, double radius, double length, double density,
                                     graze_mass *mass) {
  if (context == NULL || mass == NULL) return gz_fail_null(context);
  graze_status status = check_above(context, "radius", radius);
  if (status == GRAZE_OK) status = check_above(context, "length", length);
  if (status == GRAZE_OK) status = check_above(context, "density", density);
  if (status != GRAZE_OK) return status;
  const double r2 = radius * radius, across = r2 / 4 + length * length / 12, moments[3] = {across, across, r2 / 2};
  return give(context, pi * r2 * length, density, moments, mass);
}

/* ---- compounds ------------------------------------------------------------------------------------------------- */

static void to_matrix(const double inertia[6], double m[9]) {
  const double full[9] = {inertia[0], inertia[3], inertia[4], inertia[3], inertia[1],
                          inertia[5], inertia[4], inertia[5], inertia[2]};
  memcpy(m, full, sizeof full);
}

static void from_matrix(const double m[9], double inertia[6]) {
  const double six[6] = {m[0], m[4], m[8], m[1], m[2], m[5]};
  memcpy(inertia, six, sizeof six);
}

/* R I R^T, with the rotation of a pose. */
static void turn(const double inertia[6], const graze_pose *pose, double out[6]) {
  double m[9], half[9], full[9];
  to_matrix(inertia, m);
  for (int i = 0; i < 9; i++) {
    half[i] = 0;
    for (int k = 0; k < 3; k++) half[i] += pose->m[4 * (i / 3) + k] * m[3 * k + i % 3];
  }
  for (int i = 0; i < 9; i++) {
    full[i] = 0;
    for (int k = 0; k < 3; k++) full[i] += half[3 * (i / 3) + k] * pose->m[4 * (i % 3) + k];
  }
  from_matrix(full, out);
}

/* What a mass at `arm` from the axis point adds: m (|a|^2 - a a^T). */
static void add_arm(double inertia[6], double mass, const double arm[3]) {
  const double x = arm[0], y = arm[1], z = arm[2];
  const double more[6] = {y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z};
  for (int i = 0; i < 6; i++) inertia[i] += mass * more[i];
}

graze_status graze_mass_add(graze_context *context, graze_mass *sum, const graze_mass *part, const graze_pose *pose) {
  if (context == NULL || sum == NULL || part == NULL || pose == NULL) return gz_fail_null(context);
  if (!graze_pose_is_rigid(pose)) return gz_fail(context, GRAZE_ERROR_POSE, "the pose is not a rotation and a place");
  if (!(part->mass > 0)) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a part has no mass");
  const unsigned saved = gz_fp_enter();
  const double mass = sum->mass + part->mass;
  double turned[6], place[3], arms[2][3];
  graze_pose_apply(pose, part->center, place);
  turn(part->inertia, pose, turned);
  for (int k = 0; k < 3; k++) {
    const double way = place[k] - sum->center[k];
    arms[0][k] = -way * (part->mass / mass);
    arms[1][k] = way * (sum->mass / mass);
    sum->center[k] = sum->mass > 0 ? sum->center[k] - arms[0][k] : place[k];
  }
  for (int i = 0; i < 6; i++) sum->inertia[i] += turned[i];
  if (sum->mass > 0) add_arm(sum->inertia, sum->mass, arms[0]);
  if (sum->mass > 0) add_arm(sum->inertia, part->mass, arms[1]);
  sum->volume += part->volume;
  sum->mass = mass;
  gz_fp_leave(saved);
  return GRAZE_OK;
}

/* ---- principal axes -------------------------------------------------------------------------------------------- */

/* Turns columns p and q of the eigenvectors, and rows and columns of m, so that m[p][q] becomes 0. */
static void rotate(double m[9], double v[9], int p, int q) {
  const double off = m[3 * p + q];
  if (off == 0) return;
  const double theta = (m[4 * q] - m[4 * p]) / (2 * off);
  const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < 3; k++) {
    const double a = m[3 * k + p], b = m[3 * k + q];
    m[3 * k + p] = c * a - s * b;
    m[3 * k + q] = s * a + c * b;
  }
  for (int k = 0; k < 3; k++) {
    const double a = m[3 * p + k], b = m[3 * q + k];
    m[3 * p + k] = c * a - s * b;
    m[3 * q + k] = s * a + c * b;
    const double x = v[3 * k + p], y = v[3 * k + q];
    v[3 * k + p] = c * x - s * y;
    v[3 * k + q] = s * x + c * y;
  }
}

/* Ascending; the third axis is what the others leave, so that they are right-handed. */
static void sort_axes(const double m[9], const double v[9], double moments[3], double axes[9]) {
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k + 1 < 3 - i; k++) {
      if (m[4 * order[k + 1]] >= m[4 * order[k]]) continue;
      const int t = order[k];
      order[k] = order[k + 1];
      order[k + 1] = t;
    }
  }
  for (int k = 0; k < 3; k++) {
    moments[k] = m[4 * order[k]];
    for (int i = 0; i < 3 && k < 2; i++) axes[3 * k + i] = v[3 * i + order[k]];
  }
  for (int i = 0; i < 3; i++)
    axes[6 + i] = axes[(i + 1) % 3] * axes[3 + (i + 2) % 3] - axes[(i + 2) % 3] * axes[3 + (i + 1) % 3];
}

bool graze_inertia_find_axes(const double inertia[6], double moments[3], double axes[9]) {
  enum { SWEEPS = 16 };
  double m[9], v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const unsigned saved = gz_fp_enter();
  to_matrix(inertia, m);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    rotate(m, v, 0, 1);
    rotate(m, v, 0, 2);
    rotate(m, v, 1, 2);
  }
  sort_axes(m, v, moments, axes);
  const bool good = moments[0] > 0 && isfinite(moments[2]) && moments[2] <= (moments[0] + moments[1]) * (1 + 1e-9);
  gz_fp_leave(saved);
  return good;
}
