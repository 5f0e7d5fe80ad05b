/* Ways of objects: poses, bounds on speeds, and why these hold.
 *
 * Rounding. An entry of a turned matrix is a sum of products of numbers of at most 1 + 2^-20, computed with less than
 * 40 roundings, so a posed coordinate is off by less than 2^-47 of S = (|x| + |y| + |z|) of the mesh + the largest
 * |entry| of both last columns, and posing by 4u S more. `slack` is 2^-45 S, on each of three axes: 2^-44 S. Speeds
 * have relative errors of some 20 u, and lose up to 2^-48 S by cancellation; they are made larger by 2^-40 of
 * themselves and by `slack`.
 *
 * Speed of rigid motions. With o_a and o_b the hubs, a point X of A has the velocity v_a + w_a x (X - o_a), and in the
 * frame of B, in which distances are the same, that minus v_b + w_b x (X - o_b). At the center C of A this is u(t) =
 * v_a - v_b + w_a x (C - o_a) - w_b x (C - o_b), and elsewhere it differs by (w_a - w_b) x (X - C). u itself changes by
 * less than |w_a - w_b| |w_a| |C - o_a| + |w_b| |v_a - v_b| per unit of time, so its value at the middle of the time
 * bounds it. What is nearly at rest relative to each other, like a part in a gripper, is nearly at rest here too. The
 * same with A and B exchanged.
 *
 * Speed of straight ways. With u_a and u_b the fields of velocities that the two affine motions extend to all of space,
 * and G_b the gradient of u_b, points X of A and Y of B at distance s come nearer at no more than
 *     |u_a(X) - u_b(X)| + |sym G_b| s,
 * for what is antisymmetric in G_b turns X - Y and leaves its length. In coordinates y of mesh B, in which X moves by
 * M_b^-1 (u_a - u_b), u_b is D_b y + v_b with D_b = M_b(1) - M_b(0). So in time h the first term grows by a factor of
 * e^(g h) at most, with g a bound of |D_b| |M_b^-1|, and G_b, whose derivative is -G_b^2, changes by g^2 h. With X from
 * a box the first term is an affine function of it. Both turn about the same axis: both terms are small. Besides, no
 * point comes nearer to another faster than what they move by differs.
 *
 * Ways seen from another mesh. With p(t) the place of a point X of B in coordinates of mesh A, and d = p(1) - p(0), p
 * is off the straight way by an eighth of the largest |p''| at most, and |p'| is |d| and half of that at most. Linear:
 * from M_a p = X - o_a follows p'' = -2 M_a^-1 M_a' p', as the others do not accelerate. With g a bound of |M_a^-1|
 * |M_a'| this is |p''| <= 2 g |d| / (1 - g). Rigid: in a frame of the world's units that turns with A, P' = u is the
 * velocity relative to A, and P'' is (w_b - w_a) x (w_b x (X - o_b)) - w_a x (v_b - v_a) - w_a x u. With K the sizes of
 * the first two it follows that |P''| <= (K + |w_a| |D|) / (1 - |w_a| / 2). What of A is stray moves X by no more than
 * its norm times |X - o_a|.
 */
#include "motion/path.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "geometry/pose.h"

static const double OUTWARD = 1 + 0x1p-40;
enum { SINE_TERMS = 14 };

/* Row r and column c of the 3x3 part. */
static double part(const graze_pose *pose, int r, int c) {
  return pose->m[4 * r + c];
}

static void take_part(const graze_pose *pose, double m[9]) {
  for (int i = 0; i < 9; i++) m[i] = part(pose, i / 3, i % 3);
}

static void change_of(const motion_path *path, double d[9]) {
  for (int i = 0; i < 9; i++) d[i] = part(&path->end, i / 3, i % 3) - part(&path->start, i / 3, i % 3);
}

/* ---- the turn ---- */

/* For x of [0, 2]. */
static void sine_cosine(double x, double *sine, double *cosine) {
  const double x2 = x * x;
  double s = 1, c = 1;
  for (int n = SINE_TERMS; n >= 1; n--) {
    c = 1 - x2 * c / ((2 * n - 1) * (2 * n));
    s = 1 - x2 * s / ((2 * n) * (2 * n + 1));
  }
  *sine = x * s;
  *cosine = c;
}

/* The angle of [0, pi / 2] with these sine and cosine: Newton's method. */
static double angle_of(double sine, double cosine) {
  double angle = sine < cosine ? sine : 1.5707963267948966 - cosine;
  for (int step = 0; step < 5; step++) {
    double s, c;
    sine_cosine(angle, &s, &c);
    angle += sine * c - cosine * s;
  }
  return smaller(larger(angle, 0), 1.5707963267948966);
}

/* The quaternion (w, x, y, z) of a rotation, from its largest component on (S. Shepperd, "Quaternion from rotation
 * matrix", 1978). */
static void quaternion_of(const double m[9], double q[4]) {
  const double trace = m[0] + m[4] + m[8];
  int k = 0;
  for (int i = 1; i < 3; i++) k = m[4 * i] > m[4 * k] ? i : k;
  if (trace > m[4 * k]) {
    q[0] = 1 + trace;
    q[1] = m[7] - m[5];
    q[2] = m[2] - m[6];
    q[3] = m[3] - m[1];
  } else {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    q[0] = m[3 * j + i] - m[3 * i + j];
    q[1 + k] = 1 + m[4 * k] - m[4 * i] - m[4 * j];
    q[1 + i] = m[3 * k + i] + m[3 * i + k];
    q[1 + j] = m[3 * k + j] + m[3 * j + k];
  }
  double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; i++) q[i] /= size;
}

/* Of the two axes of half a turn the one whose first component that is not zero is positive. */
static bool points_backward(const double q[4]) {
  if (fabs(q[0]) > 0x1p-48) return q[0] < 0;
  for (int i = 1; i < 4; i++) {
    if (fabs(q[i]) > 0x1p-48) return q[i] < 0;
  }
  return false;
}

static void find_turn(motion_path *path) {
  double m[9], q[4];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      m[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) m[3 * i + j] += part(&path->end, i, k) * part(&path->start, j, k);
    }
  }
  quaternion_of(m, q);
  const double sign = points_backward(q) ? -1 : 1, sine = length3(q + 1);
  path->half = angle_of(sine, larger(sign * q[0], 0));
  for (int k = 0; k < 3; k++) path->axis[k] = sine > 0 ? sign * q[1 + k] / sine : k == 2;
  path->turn = 2 * path->half;
  for (int k = 0; k < 3; k++) path->spin[k] = path->turn * path->axis[k];
}

/* The turned 3x3 part, without what is stray. */
static void turned(const motion_path *path, double t, double out[9]) {
  double s, w;
  sine_cosine(path->half * t, &s, &w);
  const double x = s * path->axis[0], y = s * path->axis[1], z = s * path->axis[2];
  const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = r[3 * i] * part(&path->start, 0, j) + r[3 * i + 1] * part(&path->start, 1, j) +
                       r[3 * i + 2] * part(&path->start, 2, j);
    }
  }
}

/* ---- the way ---- */

static double norm_of(const double m[9]) {
  double squares = 0;
  for (int k = 0; k < 9; k++) squares += m[k] * m[k];
  return sqrt(squares);
}

static double determinant(const graze_pose *p) {
  const double *m = p->m;
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

static path_fault check(const motion_path *path) {
  if (!graze_pose_is_rigid(&path->start)) return PATH_START_NOT_RIGID;
  if (!graze_pose_is_rigid(&path->end)) return PATH_END_NOT_RIGID;
  return determinant(&path->start) * determinant(&path->end) > 0 ? PATH_FINE : PATH_MIRRORED;
}

/* No vector is shorter after the 3x3 part, or longer, than so many times its length before: the roots of the
 * eigenvalues of the matrix times its transpose, bounded by Gershgorin's circles. */
typedef struct stretch {
  double least, most;
} stretch;

static stretch stretch_of(const double m[9]) {
  double least = (double)INFINITY, most = 0;
  for (int i = 0; i < 3; i++) {
    double middle = 0, around = 0;
    for (int j = 0; j < 3; j++) {
      const double dot = m[i] * m[j] + m[3 + i] * m[3 + j] + m[6 + i] * m[6 + j];
      middle = i == j ? dot : middle;
      around += i == j ? 0 : fabs(dot);
    }
    least = smaller(least, middle - around);
    most = larger(most, middle + around);
  }
  return (stretch){least > 0x1p-24 * most ? sqrt(least) : 0, sqrt(most)};
}

/* What the corners of the mesh's box move by, on each axis: the end of a product that is least, and greatest. */
static graze_box shift_of(const motion_path *path, const graze_box *box) {
  graze_box shift;
  for (int i = 0; i < 3; i++) {
    double low = path->velocity[i], high = low;
    for (int k = 0; k < 3; k++) {
      double change = part(&path->end, i, k) - part(&path->start, i, k);
      double x = change * box->min[k], y = change * box->max[k];
      low += smaller(x, y);
      high += larger(x, y);
    }
    shift.min[i] = low;
    shift.max[i] = high;
  }
  return shift;
}

static void find_stretches(motion_path *path) {
  double m[9];
  take_part(&path->start, m);
  const stretch start = stretch_of(m);
  take_part(&path->end, m);
  const stretch end = path->bends ? stretch_of(m) : start;
  change_of(path, m);
  path->change = path->bends && !path->turns ? stretch_of(m).most * OUTWARD : 0;
  path->most = larger(start.most, end.most) * (1 + 0x1p-18);
  path->least = larger(smaller(start.least, end.least) * (1 - 0x1p-18) - 0.5 * path->change, 0);
}

static void find_sizes(motion_path *path, const graze_box *box) {
  double far[3], half[3], most = 0, sum = 0, entry = 0;
  for (int k = 0; k < 3; k++) {
    far[k] = larger(fabs(box->min[k] - path->hub[k]), fabs(box->max[k] - path->hub[k]));
    half[k] = path->half_box[k] = 0.5 * (box->max[k] - box->min[k]);
    path->center[k] = box->min[k] + half[k];
    sum += larger(fabs(box->min[k]), fabs(box->max[k])) + fabs(path->hub[k]);
    most = larger(most, larger(fabs(path->start.m[4 * k + 3]), fabs(path->end.m[4 * k + 3])));
    most = larger(most, larger(fabs(path->hub_from[k]), fabs(path->hub_to[k])));
    for (int j = 0; j < 3; j++)
      entry = larger(entry, larger(fabs(part(&path->start, k, j)), fabs(part(&path->end, k, j))));
  }
  path->reach = length3(far) * path->most;
  path->around = length3(half) * path->most;
  path->strain = norm_of(path->stray) * length3(far) * OUTWARD;
  path->slack = 0x1p-44 * (larger(entry, 1) * sum + most) + 0x1p-1040;
}

const char *gz_path_fault_string(path_fault fault) {
  static const char *const what[] = {"nothing", "it moves from a pose that is not rigid",
                                     "it moves to a pose that is not rigid",
                                     "it moves between a pose and a mirror image"};
  return what[fault];
}

path_fault gz_path_open(motion_path *path, const graze_box *box, const graze_pose *start, const graze_pose *end,
                        graze_motion_model model, const double hub[3]) {
  *path = (motion_path){.model = model, .start = *start, .end = *end};
  bool same = true;
  for (int k = 0; k < 3 && hub != NULL && model == GRAZE_MOTION_RIGID; k++) path->hub[k] = hub[k];
  for (int k = 0; k < 12; k++) {
    if (k % 4 != 3) same = same && path->start.m[k] == path->end.m[k];
  }
  for (int k = 0; k < 3; k++) {
    path->hub_from[k] = pose_row(start, k, path->hub);
    path->hub_to[k] = pose_row(end, k, path->hub);
    path->velocity[k] = path->hub_to[k] - path->hub_from[k];
    path->moves = path->moves || start->m[4 * k + 3] != end->m[4 * k + 3];
  }
  path->moves = path->moves || !same;
  if (model == GRAZE_MOTION_RIGID && path->moves) {
    path_fault fault = check(path);
    if (fault != PATH_FINE) return fault;
    path->turns = !same;
  }
  path->bends = !same;
  if (path->turns) {
    double now[9];
    find_turn(path);
    turned(path, 1, now);
    for (int k = 0; k < 9; k++) path->stray[k] = part(&path->end, k / 3, k % 3) - now[k];
  }
  find_stretches(path);
  find_sizes(path, box);
  path->shift = shift_of(path, box);
  return PATH_FINE;
}

/* Shifts a turned pose so that the hub is where it has to be; if it is the origin it is there. */
static void put_hub(const motion_path *path, double t, graze_pose *pose) {
  const double *hub = path->hub;
  if (hub[0] == 0 && hub[1] == 0 && hub[2] == 0) return;
  for (int k = 0; k < 3; k++) {
    const double *row = pose->m + 4 * k, place = (1 - t) * path->hub_from[k] + t * path->hub_to[k];
    pose->m[4 * k + 3] = place - (row[0] * hub[0] + row[1] * hub[1] + row[2] * hub[2]);
  }
}

graze_pose gz_path_pose(const motion_path *path, double t) {
  if (path->backward) t = 1 - t;
  if (t <= 0 || !path->moves) return path->start;
  if (t >= 1) return path->end;
  graze_pose pose;
  for (int k = 0; k < 12; k++) {
    double from = path->start.m[k], to = path->end.m[k];
    pose.m[k] = from == to ? from : (1 - t) * from + t * to;
  }
  if (!path->turns) return pose;
  double now[9];
  turned(path, t, now);
  for (int k = 0; k < 9; k++) pose.m[4 * (k / 3) + k % 3] = now[k] + t * path->stray[k];
  put_hub(path, t, &pose);
  return pose;
}

void gz_path_hub(const motion_path *path, double t, double place[3]) {
  if (path->backward) t = 1 - t;
  for (int k = 0; k < 3; k++) {
    const double from = path->hub_from[k], to = path->hub_to[k];
    place[k] = from == to ? from : (1 - t) * from + t * to;
  }
}

void gz_path_rates(const motion_path *path, double velocity[3], double spin[3]) {
  const double sign = path->backward ? -1 : 1;
  for (int k = 0; k < 3; k++) {
    velocity[k] = sign * path->velocity[k];
    spin[k] = sign * path->spin[k];
  }
}

/* ---- speeds ---- */

/* Distances s shrink by no more than speed + pull s per unit of time. */
typedef struct bound {
  double speed, pull;
} bound;

/* Rigid motions: of points of a in the frame of b, as above. */
static bound turning_in_frame(const motion_path *a, const motion_path *b, double from, double to) {
  double va[3], wa[3], vb[3], wb[3], at[3], to_a[3], to_b[3], u[3], first[3], second[3], w[3], v[3], hub_a[3], hub_b[3];
  const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
  const graze_pose pose_a = gz_path_pose(a, middle);
  gz_path_hub(a, middle, hub_a);
  gz_path_hub(b, middle, hub_b);
  gz_path_rates(a, va, wa);
  gz_path_rates(b, vb, wb);
  for (int k = 0; k < 3; k++) at[k] = pose_row(&pose_a, k, a->center);
  for (int k = 0; k < 3; k++) {
    to_a[k] = at[k] - hub_a[k];
    to_b[k] = at[k] - hub_b[k];
    w[k] = wa[k] - wb[k];
    v[k] = va[k] - vb[k];
  }
  cross3(wa, to_a, first);
  cross3(wb, to_b, second);
  for (int k = 0; k < 3; k++) u[k] = v[k] + first[k] - second[k];
  double change = length3(w) * a->turn * length3(to_a) + b->turn * length3(v);
  return (bound){
      length3(u) + half * change + length3(w) * a->around + (1 + a->turn + b->turn) * (a->strain + b->strain), 0};
}

/* Straight ways: what their shifts differ by. */
static bound straight(const motion_path *a, const motion_path *b) {
  double most[3];
  for (int k = 0; k < 3; k++) {
    most[k] = larger(fabs(a->shift.max[k] - b->shift.min[k]), fabs(b->shift.max[k] - a->shift.min[k]));
  }
  return (bound){length3(most), 0};
}

static void multiply(const double a[9], const double b[9], double r[9]) {
  for (int i = 0; i < 9; i++)
    r[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] + a[i / 3 * 3 + 2] * b[6 + i % 3];
}

/* Straight ways, of points of a in the frame of b, as above; infinite where that frame shrinks too much. */
static bound straight_in_frame(const motion_path *a, const motion_path *b, double from, double to) {
  static const bound none = {(double)INFINITY, 0};
  double ma[9], mb[9], da[9], db[9], inverse[9], gradient[9], in_b[9], u[3], symmetric[9];
  const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
  const graze_pose pose_a = gz_path_pose(a, middle), pose_b = gz_path_pose(b, middle);
  take_part(&pose_a, ma);
  take_part(&pose_b, mb);
  change_of(a, da);
  change_of(b, db);
  if (!gz_pose_invert(mb, inverse)) return none;
  double g = norm_of(db) * norm_of(inverse);
  if (!(g < 4 && g * half < 0.25)) return none;
  g /= 1 - g * half;
  multiply(db, inverse, gradient);
  multiply(gradient, ma, in_b);
  double squares = 0;
  for (int i = 0; i < 3; i++) {
    double spread = 0, va = a->velocity[i] - b->velocity[i];
    for (int k = 0; k < 3; k++) {
      const double at = pose_row(&pose_a, k, a->center) - pose_b.m[4 * k + 3];
      va += da[3 * i + k] * a->center[k] - gradient[3 * i + k] * at;
      spread += fabs(da[3 * i + k] - in_b[3 * i + k]) * a->half_box[k];
      symmetric[3 * i + k] = 0.5 * (gradient[3 * i + k] + gradient[3 * k + i]);
    }
    u[i] = fabs(va) + spread;
    squares += u[i] * u[i];
  }
  return (bound){sqrt(squares) / (1 - g * half), norm_of(symmetric) + g * g * half};
}

/* All bounds that there are; how many. */
static int find_bounds(const motion_path *a, const motion_path *b, double from, double to, bound bounds[3]) {
  int count = 0;
  if (a->turns || b->turns) {
    bounds[count++] = turning_in_frame(a, b, from, to);
    bounds[count++] = turning_in_frame(b, a, from, to);
  } else {
    bounds[count++] = straight(a, b);
    if (a->bends || b->bends) {
      bounds[count++] = straight_in_frame(a, b, from, to);
      bounds[count++] = straight_in_frame(b, a, from, to);
    }
  }
  for (int i = 0; i < count; i++) {
    bounds[i].speed = bounds[i].speed * OUTWARD + (1 + a->turn + b->turn) * (a->slack + b->slack);
    bounds[i].pull *= OUTWARD;
  }
  return count;
}

double gz_paths_step(const motion_path *a, const motion_path *b, double from, double to, double kept, double apart) {
  bound bounds[3];
  double step = 0;
  for (int i = find_bounds(a, b, from, to, bounds) - 1; i >= 0; i--) {
    step = larger(step, apart / (bounds[i].speed + bounds[i].pull * (kept + apart)) / OUTWARD);
  }
  return smaller(step, to - from);
}

double gz_paths_loss(const motion_path *a, const motion_path *b, double from, double to, double apart) {
  bound bounds[3];
  double loss = (double)INFINITY;
  for (int i = find_bounds(a, b, from, to, bounds) - 1; i >= 0; i--) {
    loss = smaller(loss, (bounds[i].speed + bounds[i].pull * apart) * (to - from));
  }
  return loss * OUTWARD;
}

double gz_paths_reach(const motion_path *a, const motion_path *b, double from, double to, double kept, double within) {
  bound bounds[3];
  double reach = (double)INFINITY;
  for (int i = find_bounds(a, b, from, to, bounds) - 1; i >= 0; i--) {
    const double left = 1 - bounds[i].pull * within;
    if (left > 0.25) reach = smaller(reach, (bounds[i].speed + bounds[i].pull * kept) * within / left);
  }
  return reach * OUTWARD;
}

static bool bend_linear(const motion_path *frame, double *share) {
  const double g = frame->change / frame->least;
  *share = g / (4 - 4 * g) * OUTWARD;
  return g < 0.5;
}

static bool bend_rigid(const motion_path *frame, const motion_path *other, double *share, double *fixed) {
  double v[3], w[3], from[3], to[3];
  if (!(frame->turn < 0.5)) return false;
  for (int k = 0; k < 3; k++) {
    v[k] = other->velocity[k] - frame->velocity[k];
    w[k] = other->spin[k] - frame->spin[k];
    from[k] = other->hub_from[k] - frame->hub_from[k];
    to[k] = other->hub_to[k] - frame->hub_to[k];
  }
  const double by = 8 * (1 - 0.5 * frame->turn) * frame->least, least2 = frame->least * frame->least;
  const double far = larger(length3(from), length3(to)) + other->reach, stray = norm_of(frame->stray);
  *share = frame->turn * frame->most / by * OUTWARD;
  *fixed = (length3(w) * other->turn * other->reach + frame->turn * length3(v)) / by + 2 * stray * far / least2;
  *fixed *= OUTWARD;
  return true;
}

bool gz_path_bend(const motion_path *frame, const motion_path *other, double *share, double *fixed) {
  *share = *fixed = 0;
  if (!(frame->least > 0)) return false;
  if (frame->turns || other->turns) return bend_rigid(frame, other, share, fixed);
  return bend_linear(frame, share);
}

bool gz_paths_at_rest(const motion_path *a, const motion_path *b) {
  if (!a->moves && !b->moves) return true;
  return memcmp(&a->start, &b->start, sizeof a->start) == 0 && memcmp(&a->end, &b->end, sizeof a->end) == 0;
}

/* Of an arc of a radius at most `reach` no point is farther from the chord that is passed at constant speed than reach
 * * angle^2 / 8. */
graze_box gz_path_box(const motion_path *path, const graze_box *mesh_box) {
  graze_box box = graze_pose_box(&path->start, mesh_box), end = graze_pose_box(&path->end, mesh_box);
  graze_box_add_box(&box, &end);
  double more = (0.125 * path->reach * path->turn * path->turn + path->strain) * OUTWARD + path->slack;
  for (int k = 0; k < 3 && path->turns; k++) {
    box.min[k] -= more;
    box.max[k] += more;
  }
  return box;
}
