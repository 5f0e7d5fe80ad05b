/* Free motion.
 *
 * Without a torque the angular momentum L stays, and the body turns about it in a way that has no simple formula. The
 * kinetic energy is a sum of three parts, L_k^2 / (2 I_k), and under each part alone the body turns about its principal
 * axis k at the speed L_k / I_k. Half a turn of the first, half of the second, the third, and the halves again: a
 * symmetric splitting, symplectic, so that the energy errs within a bound, and L not at all, since it is only turned
 * (Dullweber, Leimkuhler and McLachlan, "Symplectic splitting methods for rigid body molecular dynamics", 1997).
 *
 * An angle is given to a rotation by the tangent of its half or quarter, a rational function, and a rotation is a
 * quaternion that is made a unit one: +, -, *, / and sqrt give the same bytes everywhere, sin and cos of a library do
 * not. */
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

/* A body that turns faster is split more finely, rad. */
static const double largest_angle = 0.25;

static void multiply(const double a[4], const double b[4], double out[4]) {
  const double q[4] = {
      a[0] * b[0] - (a[1] * b[1] + a[2] * b[2] + a[3] * b[3]), a[0] * b[1] + a[1] * b[0] + (a[2] * b[3] - a[3] * b[2]),
      a[0] * b[2] + a[2] * b[0] + (a[3] * b[1] - a[1] * b[3]), a[0] * b[3] + a[3] * b[0] + (a[1] * b[2] - a[2] * b[1])};
  memcpy(out, q, sizeof q);
}

static void make_unit(double q[4]) {
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + (q[2] * q[2] + q[3] * q[3]));
  for (int k = 0; k < 4; k++) q[k] /= length;
}

/* S diag(m) S^T, where column k of S is axis k of the body. */
static void fill_tensor(const double axes[9], const double moments[3], double tensor[9]) {
  for (int i = 0; i < 9; i++) {
    tensor[i] = 0;
    for (int k = 0; k < 3; k++) tensor[i] += moments[k] * axes[3 * k + i / 3] * axes[3 * k + i % 3];
  }
}

void gz_rigid_find_rotation(const double q[4], double rotation[9]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double found[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                           2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                           2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(rotation, found, sizeof found);
}

void gz_rigid_set_rotation(rigid_body *body) {
  gz_rigid_find_rotation(body->orientation, body->rotation);
  if (body->type == GRAZE_BODY_DYNAMIC) gz_rigid_set_inertia(body, 0);
}

void gz_rigid_set_inertia(rigid_body *body, double more) {
  double axes[9], moments[3], inverses[3];
  for (int k = 0; k < 3; k++) {
    turn3(body->rotation, body->axes + 3 * (size_t)k, axes + 3 * (size_t)k);
    moments[k] = body->moments[k] + more;
    inverses[k] = 1 / moments[k];
  }
  fill_tensor(axes, moments, body->world_inertia);
  fill_tensor(axes, inverses, body->inverse_inertia);
}

/* Turns about principal axis k for h: `momentum` is L along the principal axes, which turns the other way. */
static void turn_about(const rigid_body *body, int k, double h, double momentum[3], double q[4]) {
  const int l = (k + 1) % 3, m = (k + 2) % 3;
  const double x = 0.5 * h * momentum[k] / body->moments[k]; /* half of the angle */
  const double t = x * (15 - x * x) / (15 - 6 * x * x);      /* its tangent, to x^7 / 1500 */
  const double c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);
  const double a = momentum[l], b = momentum[m];
  momentum[l] = c * a + s * b;
  momentum[m] = c * b - s * a;
  double turn[4] = {1, 0, 0, 0};
  for (int i = 0; i < 3; i++) turn[1 + i] = t * body->axes[3 * k + i];
  multiply(q, turn, q);
}

static void split(const rigid_body *body, double h, double momentum[3], double q[4]) {
  turn_about(body, 0, 0.5 * h, momentum, q);
  turn_about(body, 1, 0.5 * h, momentum, q);
  turn_about(body, 2, h, momentum, q);
  turn_about(body, 1, 0.5 * h, momentum, q);
  turn_about(body, 0, 0.5 * h, momentum, q);
  make_unit(q);
}

void gz_rigid_turn_free(rigid_body *body, double h) {
  double momentum[3], own[3], along[3];
  const double angle = length3(body->spin) * h;
  if (angle == 0) return;
  uint32_t parts = 1;
  while (parts < 1024 && angle > largest_angle * parts) parts++;
  turn3(body->world_inertia, body->spin, momentum);
  turn_back3(body->rotation, momentum, own);
  turn3(body->axes, own, along);
  for (uint32_t i = 0; i < parts; i++) split(body, h / parts, along, body->orientation);
  gz_rigid_set_rotation(body);
  turn3(body->inverse_inertia, momentum, body->spin); /* L itself has not changed */
}

void gz_rigid_turn_driven(rigid_body *body, const double from[4], double h) {
  const double half = 0.5 * h, turn[4] = {1, half * body->spin[0], half * body->spin[1], half * body->spin[2]};
  multiply(turn, from, body->orientation);
  make_unit(body->orientation);
  gz_rigid_set_rotation(body);
}

void gz_rigid_turn(rigid_body *body, const double tangent[3]) {
  const double turn[4] = {1, tangent[0], tangent[1], tangent[2]};
  multiply(turn, body->orientation, body->orientation);
  make_unit(body->orientation);
  gz_rigid_set_rotation(body);
}

void gz_rigid_drive(rigid_body *body, double time) {
  for (int k = 0; k < 3; k++) body->position[k] = body->start[k] + time * body->velocity[k];
  if (time != 0) {
    gz_rigid_turn_driven(body, body->start_orientation, time);
  } else {
    memcpy(body->orientation, body->start_orientation, sizeof body->orientation);
    gz_rigid_set_rotation(body);
  }
}

void gz_rigid_find_root(const rigid_body *body, double root[9]) {
  double axes[9], values[3];
  for (int k = 0; k < 3; k++) {
    turn3(body->rotation, body->axes + 3 * (size_t)k, axes + 3 * (size_t)k);
    values[k] = 1 / sqrt(body->moments[k]);
  }
  fill_tensor(axes, values, root);
}

/* What falls follows its parabola exactly, whatever the step. */
double gz_rigid_move_free(const graze_rigid *world, rigid_body *b, double dt) {
  const double *gravity = world->def.gravity, h = dt / world->def.substeps, back = b->damping[0] > 0 ? 0 : 0.5 * h;
  const double gone = gz_rigid_find_energy(world, b);
  for (uint32_t i = 0; i < world->def.substeps; i++) {
    for (int k = 0; k < 3; k++) {
      b->velocity[k] = (b->velocity[k] + h * gravity[k]) / (1 + h * b->damping[0]);
      b->spin[k] /= 1 + h * b->damping[1];
      b->position[k] += h * (b->velocity[k] - back * gravity[k]);
    }
    gz_rigid_turn_free(b, h);
  }
  return gone - gz_rigid_find_energy(world, b);
}

double gz_rigid_find_energy(const graze_rigid *world, const rigid_body *b) {
  double momentum[3];
  turn3(b->world_inertia, b->spin, momentum);
  return 0.5 * (b->mass * dot3(b->velocity, b->velocity) + dot3(momentum, b->spin)) -
         b->mass * dot3(world->def.gravity, b->position);
}
