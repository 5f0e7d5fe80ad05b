/* Joints: what two bodies keep in common, as rows that push either way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rigid/record.h"
#include "rigid/rows.h"
#include "rigid/vector.h"

enum { JOINT_COOKIE = 0x5249474a };

/* Compliance, as a part of what the bodies give way; of what is amiss, what goes in a sub-step. */
static const double softness = 1e-6, recovery = 0.2;

/* An angle that a body may turn by in a sub-step and still be followed on its curve, rad. */
static const double most_bend = 0.15;

static const double pi = 3.14159265358979323846;

/* ---- angles ---------------------------------------------------------------------------------------------------- */

/* The arc tangent of x, 0 to 1: halved three times, then a series. The library's differs from machine to machine. */
static double find_arc(double x) {
  for (int i = 0; i < 3; i++) x = x / (1 + sqrt(1 + x * x));
  const double y = x * x;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = 1.0 / k - y * sum;
  return 8 * x * sum;
}

/* The angle of (c, s), -pi to pi. */
static double find_angle(double s, double c) {
  const double x = fabs(c), y = fabs(s);
  if (x == 0 && y == 0) return 0;
  double angle = y <= x ? find_arc(y / x) : 0.5 * pi - find_arc(x / y);
  if (c < 0) angle = pi - angle;
  return s < 0 ? -angle : angle;
}

/* ---- adding ---------------------------------------------------------------------------------------------------- */

graze_joint_def graze_default_joint_def(void) {
  const double none = (double)NAN;
  return (graze_joint_def){.b = GRAZE_NO_BODY,
                           .point = {none, none, none},
                           .other = {none, none, none},
                           .axis = {0, 0, 1},
                           .limits = {none, none},
                           .motor_speed = none,
                           .motor_most = none,
                           .spring = none,
                           .spring_damping = none,
                           .breaks_at = none,
                           .cookie = JOINT_COOKIE};
}

typedef struct joint_words {
  char text[96];
} joint_words;

static graze_status fail(const graze_rigid *world, const graze_joint_def *def, const char *reason) {
  joint_words w;
  if (def->name != NULL && *def->name != 0)
    snprintf(w.text, sizeof w.text, "joint '%s'", gz_quote(def->name, def->name + strlen(def->name), 64).text);
  else
    snprintf(w.text, sizeof w.text, "joint %zu", world->joints.count);
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "%s: %s", w.text, reason);
}

static bool are_finite(const double *x, int count) {
  for (int k = 0; k < count; k++) {
    if (!isfinite(x[k])) return false;
  }
  return true;
}

static bool is_dynamic(const graze_rigid *world, uint32_t body) {
  return body != GRAZE_NO_BODY && rigid_body_at(world, body)->type == GRAZE_BODY_DYNAMIC;
}

static const char *find_fault_of_bodies(const graze_rigid *world, const graze_joint_def *def) {
  if (def->type > GRAZE_JOINT_DISTANCE) return "there is no such \"type\"";
  if (def->a >= world->bodies.count) return "\"a\" is no body";
  if (def->b >= world->bodies.count && def->b != GRAZE_NO_BODY) return "\"b\" is no body";
  if (def->a == def->b) return "\"a\" and \"b\" are the same body";
  if (!is_dynamic(world, def->a) && !is_dynamic(world, def->b)) return "no force moves any of its bodies";
  return NULL;
}

static const char *find_fault_of_numbers(const graze_joint_def *def) {
  const bool turns = def->type == GRAZE_JOINT_HINGE, shifts = def->type == GRAZE_JOINT_SLIDER;
  const bool has_limits = !isnan(def->limits[0]) || !isnan(def->limits[1]);
  const bool has_motor = !isnan(def->motor_speed) || !isnan(def->motor_most);
  const bool has_spring = !isnan(def->spring) || !isnan(def->spring_damping);
  if (!are_finite(def->point, 3)) return "\"point\" is missing, or not finite";
  if (def->type == GRAZE_JOINT_DISTANCE && !are_finite(def->other, 3)) return "\"other\" is missing, or not finite";
  if ((turns || shifts) && (!are_finite(def->axis, 3) || dot3(def->axis, def->axis) == 0))
    return "\"axis\" is 0, or not finite";
  if ((def->type == GRAZE_JOINT_BALL || def->type == GRAZE_JOINT_FIXED) && (has_limits || has_motor || has_spring))
    return "its type has no \"limits\", \"motor\" and \"spring\"";
  if (def->type == GRAZE_JOINT_DISTANCE && has_motor) return "its type has no \"motor\"";
  if (has_limits && !(def->limits[0] <= def->limits[1])) return "\"limits\" are not the least and the most";
  if (has_limits && turns && !(def->limits[0] >= -pi && def->limits[1] <= pi))
    return "\"limits\" of an angle are not within -pi and pi";
  if (has_motor && !(isfinite(def->motor_speed) && def->motor_most >= 0))
    return "\"motor\": a finite speed and a force of at least 0 are wanted";
  if (has_spring && !(isfinite(def->spring) && def->spring >= 0)) return "\"spring\": k is not finite and at least 0";
  if (has_spring && !isnan(def->spring_damping) && !(isfinite(def->spring_damping) && def->spring_damping >= 0))
    return "\"spring\": damping is not finite and at least 0";
  if (!isnan(def->breaks_at) && !(def->breaks_at > 0)) return "\"breaks_at\" is not above 0";
  return NULL;
}

/* A place of the world in a body's coordinates. */
static void to_body(const rigid_body *b, const double at[3], double own[3]) {
  double way[3];
  sub3(at, b->position, way);
  turn_back3(b->rotation, way, own);
}

static void multiply_back(const double a[4], const double b[4], double out[4]) { /* conj(a) b */
  out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  out[1] = a[0] * b[1] - a[1] * b[0] - (a[2] * b[3] - a[3] * b[2]);
  out[2] = a[0] * b[2] - a[2] * b[0] - (a[3] * b[1] - a[1] * b[3]);
  out[3] = a[0] * b[3] - a[3] * b[0] - (a[1] * b[2] - a[2] * b[1]);
}

static void fill_joint(const graze_rigid *world, rigid_joint *j) {
  const graze_joint_def *def = &j->def;
  const rigid_body *a = rigid_body_at(world, def->a),
                   *b = def->b != GRAZE_NO_BODY ? rigid_body_at(world, def->b) : &world->earth;
  double axis[3] = {0, 0, 1}, across[3], third[3], way[3];
  const bool has_axis = def->type == GRAZE_JOINT_HINGE || def->type == GRAZE_JOINT_SLIDER;
  const double largest = fmax(fabs(def->axis[0]), fmax(fabs(def->axis[1]), fabs(def->axis[2])));
  for (int k = 0; k < 3 && has_axis; k++) axis[k] = def->axis[k] / largest;
  const double length = length3(axis);
  for (int k = 0; k < 3; k++) axis[k] /= length;
  span3(axis, across, third);
  const double *other = def->type == GRAZE_JOINT_DISTANCE ? def->other : def->point;
  to_body(a, def->point, j->own[0]);
  to_body(b, other, j->own[1]);
  turn_back3(a->rotation, axis, j->axis[0]);
  turn_back3(b->rotation, axis, j->axis[1]);
  turn_back3(a->rotation, across, j->across[0]);
  turn_back3(b->rotation, across, j->across[1]);
  multiply_back(b->orientation, a->orientation, j->rest);
  sub3(def->point, other, way);
  j->length = length3(way);
}

graze_status graze_rigid_add_joint(graze_rigid *world, const graze_joint_def *def, uint32_t *joint) {
  if (world == NULL || def == NULL || joint == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (def->cookie != JOINT_COOKIE)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "the definition of the joint was not initialised");
  graze_status refused = gz_rigid_refuse_recorded(world);
  if (refused != GRAZE_OK) return refused;
  const char *fault = find_fault_of_bodies(world, def);
  if (fault == NULL) fault = find_fault_of_numbers(def);
  if (fault != NULL) return fail(world, def, fault);
  if (!array_reserve(world->context, &world->joints, 1, sizeof(rigid_joint)))
    return gz_fail_memory(world->context, sizeof(rigid_joint));
  rigid_joint j = {.def = *def};
  if ((j.name = gz_new_text(world->context, def->name != NULL ? def->name : "")) == NULL)
    return gz_fail_memory(world->context, 64);
  j.def.name = j.name;
  const unsigned saved = gz_fp_enter();
  fill_joint(world, &j);
  gz_fp_leave(saved);
  if (def->type == GRAZE_JOINT_DISTANCE && !(j.length > 0)) {
    gz_free(j.name);
    return fail(world, def, "\"point\" and \"other\" are the same place");
  }
  *joint = (uint32_t)world->joints.count;
  *RIGID_AT(world->joints, rigid_joint, world->joints.count++) = j;
  graze_status status = gz_rigid_list_joined(world);
  if (status == GRAZE_OK) status = gz_rigid_wake(world, def->a);
  if (status == GRAZE_OK && def->b != GRAZE_NO_BODY) status = gz_rigid_wake(world, def->b);
  if (status == GRAZE_OK) return status;
  gz_free(j.name);
  world->joints.count--;
  return status;
}

/* Where it is on its bodies is not to be found from places. */
graze_status gz_rigid_adopt_joint(graze_rigid *world, const rigid_joint *joint) {
  rigid_joint j = *joint;
  const char *fault = find_fault_of_bodies(world, &j.def);
  memset(j.def.point, 0, sizeof j.def.point);
  memset(j.def.other, 0, sizeof j.def.other);
  if (fault == NULL) fault = find_fault_of_numbers(&j.def);
  const bool finite = are_finite(j.own[0], 6) && are_finite(j.axis[0], 6) && are_finite(j.across[0], 6) &&
                      are_finite(j.rest, 4) && isfinite(j.length);
  if (fault == NULL && !finite) fault = "a number of it is not finite";
  if (fault != NULL) return fail(world, &j.def, fault);
  if (!array_reserve(world->context, &world->joints, 1, sizeof j) ||
      (j.name = gz_new_text(world->context, j.def.name)) == NULL)
    return gz_fail_memory(world->context, sizeof j);
  j.def.name = j.name;
  *RIGID_AT(world->joints, rigid_joint, world->joints.count++) = j;
  return gz_rigid_list_joined(world);
}

uint32_t graze_rigid_get_joint_count(const graze_rigid *world) {
  return world != NULL ? (uint32_t)world->joints.count : 0;
}

/* ---- who is joined --------------------------------------------------------------------------------------------- */

static int compare_keys(const void *x, const void *y) {
  const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

static uint64_t key_of(uint32_t a, uint32_t b) {
  return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

graze_status gz_rigid_list_joined(graze_rigid *world) {
  if (!array_reserve(world->context, &world->joined, world->joints.count + 1, sizeof(uint64_t)))
    return gz_fail_memory(world->context, world->joints.count * sizeof(uint64_t));
  world->joined.count = 0;
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    if (!j->broken && j->def.b != GRAZE_NO_BODY)
      *RIGID_AT(world->joined, uint64_t, world->joined.count++) = key_of(j->def.a, j->def.b);
  }
  if (world->joined.count > 0) qsort(world->joined.data, world->joined.count, sizeof(uint64_t), compare_keys);
  return GRAZE_OK;
}

bool gz_rigid_are_joined(const graze_rigid *world, uint32_t a, uint32_t b) {
  const uint64_t key = key_of(a, b);
  if (world->joined.count == 0) return false;
  return bsearch(&key, world->joined.data, world->joined.count, sizeof key, compare_keys) != NULL;
}

/* ---- as they stand --------------------------------------------------------------------------------------------- */

/* A joint in the axes of the world. */
typedef struct standing {
  double arms[2][3]; /* from either centre to its point */
  double way[3];     /* from b's point to a's */
  double axis[2][3], across[2][3];
} standing;

static void stand(const rigid_joint *j, const rigid_body *a, const rigid_body *b, standing *now) {
  const rigid_body *const bodies[2] = {a, b};
  double between[3];
  for (int i = 0; i < 2; i++) {
    turn3(bodies[i]->rotation, j->own[i], now->arms[i]);
    turn3(bodies[i]->rotation, j->axis[i], now->axis[i]);
    turn3(bodies[i]->rotation, j->across[i], now->across[i]);
  }
  sub3(a->position, b->position, between);
  for (int k = 0; k < 3; k++) now->way[k] = between[k] + (now->arms[0][k] - now->arms[1][k]);
}

static double coordinate_of(const rigid_joint *j, const standing *now) {
  double turned[3];
  switch (j->def.type) {
    case GRAZE_JOINT_HINGE:
      cross3(now->across[1], now->across[0], turned);
      return find_angle(dot3(now->axis[1], turned), dot3(now->across[1], now->across[0]));
    case GRAZE_JOINT_SLIDER:
      return dot3(now->axis[1], now->way);
    case GRAZE_JOINT_DISTANCE:
      return length3(now->way);
    default:
      return 0;
  }
}

graze_status graze_rigid_get_joint(const graze_rigid *world, uint32_t joint, graze_joint_state *state) {
  if (world == NULL || state == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (joint >= world->joints.count) return gz_fail(world->context, GRAZE_ERROR_HANDLE, "there is no joint %u", joint);
  const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, joint);
  standing now;
  stand(j, rigid_body_at(world, j->def.a), j->def.b != GRAZE_NO_BODY ? rigid_body_at(world, j->def.b) : &world->earth,
        &now);
  *state = (graze_joint_state){j->broken, coordinate_of(j, &now), j->force};
  return GRAZE_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

typedef struct making {
  rigid_system *s;
  uint32_t link, at;
} making;

/* A row that holds: `amiss` is what its coordinate should not be. */
static void hold(making *m, const double direction[3], double arms[2][3], double amiss) {
  rigid_row *row = &m->s->rows[m->at++];
  const double w = gz_rigid_fill_row(row, m->s, m->link, direction, arms);
  row->target = -recovery * amiss / m->s->h;
  row->strength = 1 / (softness * w);
  row->least = -(double)INFINITY;
  row->most = (double)INFINITY;
}

/* The coordinate's limits, motor and spring; its speed is that of the row of the direction and arms. */
static void add_extras(making *m, const rigid_joint *j, const double direction[3], double arms[2][3], double coordinate,
                       double rest) {
  const graze_joint_def *def = &j->def;
  const double h = m->s->h;
  for (int side = 0; side < 2 && !isnan(def->limits[0]); side++) {
    rigid_row *row = &m->s->rows[m->at++];
    double way[3];
    for (int k = 0; k < 3; k++) way[k] = side == 0 ? direction[k] : -direction[k];
    const double w = gz_rigid_fill_row(row, m->s, m->link, way, arms);
    row->target = gz_rigid_find_target(m->s, side == 0 ? coordinate - def->limits[0] : def->limits[1] - coordinate);
    row->strength = 1 / (softness * w);
    row->most = (double)INFINITY;
  }
  if (!isnan(def->motor_speed)) {
    rigid_row *row = &m->s->rows[m->at++];
    const double w = gz_rigid_fill_row(row, m->s, m->link, direction, arms);
    row->target = def->motor_speed;
    row->strength = 1 / (softness * w);
    row->most = def->motor_most * h;
    row->least = -row->most;
    row->is_once = true;
  }
  if (!isnan(def->spring)) { /* implicit: the force is that at the end of the sub-step */
    rigid_row *row = &m->s->rows[m->at++];
    const double damping = isnan(def->spring_damping) ? 0 : def->spring_damping, slope = h * def->spring + damping;
    (void)gz_rigid_fill_row(row, m->s, m->link, direction, arms);
    row->strength = h * slope;
    row->target = slope > 0 ? -def->spring * (coordinate - rest) / slope : 0;
    row->least = -(double)INFINITY;
    row->most = (double)INFINITY;
    row->is_once = true;
  }
}

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* A point that goes around its centre leaves the straight way of a sub-step. Where it will be is what has to agree:
 * then places follow Verlet's method with constraints (SHAKE; Ryckaert, Ciccotti and Berendsen 1977), of second order.
 */
static void find_bend(const making *m, double arms[2][3], double bend[3]) {
  for (int side = 0; side < 2; side++) {
    const double *spin = gz_rigid_partner(m->s, m->link, side)->spin, angle = m->s->h * length3(spin);
    const double part = angle > most_bend ? most_bend / angle : 1, sign = (side == 0 ? 0.5 : -0.5) * part * part;
    double turn[3];
    cross3(spin, arms[side], turn);
    cross3(spin, turn, turn);
    for (int k = 0; k < 3; k++) bend[k] = (side == 0 ? 0 : bend[k]) + sign * m->s->h * turn[k];
  }
}

/* `hold` of the points along a direction. */
static void hold_along(making *m, const double direction[3], double arms[2][3], double amiss) {
  double bend[3];
  find_bend(m, arms, bend);
  hold(m, direction, arms, amiss);
  m->s->rows[m->at - 1].target -= dot3(direction, bend);
}

static void hold_point(making *m, standing *now) {
  for (int k = 0; k < 3; k++) hold_along(m, unit[k], now->arms, now->way[k]);
}

/* How a is turned against b beyond `rest`, small, about the axes of the world. */
static void hold_turn(making *m, const rigid_joint *j, const rigid_body *a, const rigid_body *b) {
  double now[4], off[4];
  multiply_back(b->orientation, a->orientation, now);
  const double back[4] = {j->rest[0], -j->rest[1], -j->rest[2], -j->rest[3]};
  off[0] = now[0] * back[0] - (now[1] * back[1] + now[2] * back[2] + now[3] * back[3]);
  off[1] = now[0] * back[1] + now[1] * back[0] + (now[2] * back[3] - now[3] * back[2]);
  off[2] = now[0] * back[2] + now[2] * back[0] + (now[3] * back[1] - now[1] * back[3]);
  off[3] = now[0] * back[3] + now[3] * back[0] + (now[1] * back[2] - now[2] * back[1]);
  const double sign = off[0] < 0 ? -2 : 2, own[3] = {sign * off[1], sign * off[2], sign * off[3]};
  double turned[3];
  turn3(b->rotation, own, turned);
  for (int k = 0; k < 3; k++) hold(m, unit[k], NULL, turned[k]);
}

static void make_hinge(making *m, const rigid_joint *j, standing *now) {
  double t[2][3], off[3];
  hold_point(m, now);
  span3(now->axis[1], t[0], t[1]);
  cross3(now->axis[1], now->axis[0], off);
  for (int i = 0; i < 2; i++) hold(m, t[i], NULL, dot3(t[i], off));
  add_extras(m, j, now->axis[1], NULL, coordinate_of(j, now), 0);
}

static void make_slider(making *m, const rigid_joint *j, const rigid_body *a, const rigid_body *b, standing *now) {
  double t[2][3], arms[2][3];
  span3(now->axis[1], t[0], t[1]);
  for (int k = 0; k < 3; k++) { /* where a's point is now, also on b */
    arms[0][k] = now->arms[0][k];
    arms[1][k] = now->arms[1][k] + now->way[k];
  }
  for (int i = 0; i < 2; i++) hold_along(m, t[i], arms, dot3(t[i], now->way));
  hold_turn(m, j, a, b);
  add_extras(m, j, now->axis[1], arms, coordinate_of(j, now), 0);
}

/* The same of a rod that swings. */
static double find_swing(const making *m, const double direction[3], double arms[2][3], double length) {
  double across[3] = {0, 0, 0}, along;
  for (int side = 0; side < 2; side++) {
    const rigid_body *b = gz_rigid_partner(m->s, m->link, side);
    double turn[3];
    cross3(b->spin, arms[side], turn);
    for (int k = 0; k < 3; k++) across[k] += (side == 0 ? 1 : -1) * (b->velocity[k] + turn[k]);
  }
  along = dot3(across, direction);
  return length > 0 ? 0.5 * m->s->h * (dot3(across, across) - along * along) / length : 0;
}

static void make_distance(making *m, const rigid_joint *j, standing *now) {
  const double length = length3(now->way);
  double direction[3] = {0, 0, 1};
  for (int k = 0; k < 3 && length > 0; k++) direction[k] = now->way[k] / length;
  if (isnan(j->def.limits[0]) && isnan(j->def.spring)) {
    hold_along(m, direction, now->arms, length - j->length);
    m->s->rows[m->at - 1].target -= find_swing(m, direction, now->arms, length);
  }
  add_extras(m, j, direction, now->arms, length, j->length);
}

uint32_t gz_rigid_make_joint(rigid_system *s, uint32_t joint, uint32_t at) {
  rigid_joint *j = s->joints[joint];
  making m = {s, s->contact_count + joint, at};
  const rigid_body *a = gz_rigid_partner(s, m.link, 0), *b = gz_rigid_partner(s, m.link, 1);
  standing now;
  j->first_row = j->end_row = at;
  if (j->broken) return at;
  stand(j, a, b, &now);
  switch (j->def.type) {
    case GRAZE_JOINT_BALL:
      hold_point(&m, &now);
      break;
    case GRAZE_JOINT_HINGE:
      make_hinge(&m, j, &now);
      break;
    case GRAZE_JOINT_SLIDER:
      make_slider(&m, j, a, b, &now);
      break;
    case GRAZE_JOINT_FIXED:
      hold_point(&m, &now);
      hold_turn(&m, j, a, b);
      break;
    case GRAZE_JOINT_DISTANCE:
      make_distance(&m, j, &now);
      break;
  }
  return j->end_row = m.at;
}

void gz_rigid_keep_forces(const rigid_system *s) {
  for (uint32_t i = 0; i < s->joint_count; i++) {
    rigid_joint *j = s->joints[i];
    double force[3] = {0, 0, 0};
    for (uint32_t r = j->first_row; r < j->end_row; r++)
      add_scaled3(force, s->rows[r].impulse / s->h, s->rows[r].first, force);
    j->force = length3(force);
    if (j->force > j->def.breaks_at) j->broken = true; /* never, without the number */
  }
}
