/* Whether many pairs of hulls meet: the quick look of quick_kernels.c at as many pairs at once as there are lanes.
 *
 * Of a step of GJK the products with all vertices are most of the work, and vertices of one hull lie side by side: for
 * them lanes are vertices. All the rest, the frames of directions, images of points and above all the simplex, whose
 * branches go either way, has a pair in each lane and no branches: all features of the simplex are looked at, and what
 * faces the origin is selected. A lane whose pair is settled takes the next one. Balls are held in lanes of their own,
 * and only pairs that they leave open queue up.
 *
 * The steps are those of quick_kernels.c, and so are the proofs; which pair is in which lane is of no consequence.
 */
#include "base/vector3.h"
#include "convex/farthest.h"
#include "convex/lanes3.h"
#include "convex/quick.h"
#include "convex/quick_pair.h"

static inline vd sum3(vd a, vd b, vd c) {
  return vd_add(vd_add(a, b), c);
}

/* A matrix in each lane. */
typedef double lane_poses[12][VD_LANES];

static inline void put_pose(lane_poses to, int lane, const graze_pose *pose) {
  for (int i = 0; i < 12; i++) to[i][lane] = pose->m[i];
}

/* Of all lanes, row by row of four. */
static inline void put_poses(lane_poses to, const graze_pose *const from[VD_LANES]) {
  int lane = 0;
  for (; lane + 4 <= VD_LANES; lane += 4) {
    for (int at = 0; at < 12; at += 4) {
      d4 rows[4];
      for (int i = 0; i < 4; i++) memcpy(&rows[i], from[lane + i]->m + at, sizeof rows[i]);
      d4_transpose(rows);
      for (int i = 0; i < 4; i++) memcpy(&to[at + i][lane], &rows[i], sizeof rows[i]);
    }
  }
  for (; lane < VD_LANES; lane++) put_pose(to, lane, from[lane]);
}

static inline vd row_times(lane_poses m, int row, vd3 p) {
  const vd x = vd_mul(vd_load(m[4 * row]), p.x[0]), y = vd_mul(vd_load(m[4 * row + 1]), p.x[1]);
  return sum3(x, y, vd_mul(vd_load(m[4 * row + 2]), p.x[2]));
}

/* As pose_row has it. */
static inline vd3 image_of(lane_poses m, vd3 p) {
  vd3 out;
  for (int r = 0; r < 3; r++) out.x[r] = vd_add(row_times(m, r, p), vd_load(m[4 * r + 3]));
  return out;
}

/* ---- balls ------------------------------------------------------------------------------------------------------ */

/* Pairs that begin, with bounds as in quick_pair.h for a box around the outer balls. */
typedef struct crowd_balls {
  lane_poses pose[2];
  lane_vectors center[2];
  double inner[2][VD_LANES], outer[2][VD_LANES];
  vd3 shift, size, reach;
  vd3 way; /* from centre to centre */
  vm fit;  /* lanes in which nothing is too large, and balls are known */
} crowd_balls;

static inline void put_balls(crowd_balls *c, const graze_convex_pair *const pairs[VD_LANES]) {
  const graze_pose *poses[2][VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) {
    const graze_hull *hulls[2] = {pairs[lane]->a->hull, pairs[lane]->b->hull};
    poses[0][lane] = pairs[lane]->pose_a != NULL ? pairs[lane]->pose_a : &at_home;
    poses[1][lane] = pairs[lane]->pose_b != NULL ? pairs[lane]->pose_b : &at_home;
    for (int s = 0; s < 2; s++) {
      for (int k = 0; k < 3; k++) c->center[s][k][lane] = hulls[s]->center[k];
      c->inner[s][lane] = hulls[s]->inner_radius;
      c->outer[s][lane] = hulls[s]->outer_radius;
    }
  }
  for (int s = 0; s < 2; s++) put_poses(c->pose[s], poses[s]);
}

/* As `stretch` of quick_kernels.c. */
static inline vd stretch_of(lane_poses m) {
  vd sum = vd_set(64 * UNIT);
  for (int i = 0; i < 3; i++) {
    const vd3 row = lanes_load(&m[4 * i]);
    for (int j = i; j < 3; j++) {
      const vd product = lanes_dot(row, lanes_load(&m[4 * j]));
      sum = vd_add(sum, vd_abs(i == j ? vd_sub(product, vd_set(1)) : vd_add(product, product)));
    }
  }
  return sum;
}

static inline void measure_sizes(crowd_balls *c) {
  vd all = vd_set(0), most[2][3];
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < 3; k++) most[s][k] = vd_add(vd_abs(vd_load(c->center[s][k])), vd_load(c->outer[s]));
    for (int k = 0; k < 3; k++) all = vd_max(all, most[s][k]);
  }
  for (int r = 0; r < 3; r++) {
    const vd a = vd_load(c->pose[0][4 * r + 3]), b = vd_load(c->pose[1][4 * r + 3]);
    vd extent = vd_set(0);
    for (int s = 0; s < 2; s++) {
      for (int k = 0; k < 3; k++) {
        extent = vd_add(extent, vd_mul(vd_abs(vd_load(c->pose[s][4 * r + k])), most[s][k]));
      }
    }
    c->shift.x[r] = vd_sub(b, a);
    c->size.x[r] = vd_add(extent, vd_add(vd_abs(a), vd_abs(b)));
    c->reach.x[r] = vd_mul(vd_set(1.001), vd_add(extent, vd_abs(c->shift.x[r])));
    all = vd_max(all, c->size.x[r]);
  }
  const vd3 to = image_of(c->pose[1], lanes_load(c->center[1]));
  c->way = lanes_sub(to, image_of(c->pose[0], lanes_load(c->center[0])));
  c->fit = vd_gt(vd_set(LARGEST), all);
}

/* Balls in both sets that meet, or around both that do not. */
static inline void hold_balls(crowd_balls *c, vm *hit, vm *apart) {
  const vd margin = vd_mul(vd_set(1e-14), sum3(c->size.x[0], c->size.x[1], c->size.x[2]));
  vd within = vd_neg(margin), around = margin;
  vm known = c->fit, is_inside = vm_all();
  for (int s = 0; s < 2; s++) {
    const vd more = stretch_of(c->pose[s]), inner = vd_load(c->inner[s]);
    known = vm_and(known, vd_gt(vd_set(0.01), more));
    is_inside = vm_and(is_inside, vd_gt(inner, vd_set(0)));
    within = vd_add(within, vd_mul(inner, vd_sub(vd_set(1), more)));
    around = vd_add(around, vd_mul(vd_load(c->outer[s]), vd_add(vd_set(1), more)));
  }
  const vd square = lanes_dot(c->way, c->way), lost = vd_set(LOST);
  const vd near = vd_sub(vd_mul(vd_mul(within, within), vd_set(1 - 16 * UNIT)), lost);
  const vd far = vd_add(vd_mul(vd_mul(around, around), vd_set(1 + 16 * UNIT)), lost);
  is_inside = vm_and(is_inside, vd_gt(within, vd_set(0)));
  *hit = vm_and(vm_and(known, is_inside), vd_gt(near, square));
  *apart = vm_and(known, vd_gt(square, far));
}

/* ---- the simplex ------------------------------------------------------------------------------------------------ */

/* At most three points of A - B in each lane, of which has[i] tells where point i is there, and the next direction. */
typedef struct crowd_simplex {
  vd3 p[3], d;
  vm has[3];
} crowd_simplex;

/* Of three points and the newest drops the one that is on the other side of a face at the newest than the origin. Gives
 * the lanes in which there is none. */
static inline vm leave_face(crowd_simplex *s, vd3 w) {
  const vd3 e0 = lanes_sub(s->p[0], w), e1 = lanes_sub(s->p[1], w), e2 = lanes_sub(s->p[2], w);
  const vd3 n0 = lanes_cross(e1, e2), n1 = lanes_cross(e2, e0), n2 = lanes_cross(e0, e1);
  const vd volume = lanes_dot(n2, e2), none = vd_set(0);
  const vm off2 = vd_gt(vd_mul(lanes_dot(n2, w), volume), none); /* the origin is at -w */
  const vm off0 = vm_andnot(vd_gt(vd_mul(lanes_dot(n0, w), volume), none), off2);
  const vm off1 = vm_andnot(vd_gt(vd_mul(lanes_dot(n1, w), volume), none), vm_or(off2, off0));
  s->p[0] = lanes_select(vm_and(s->has[2], off0), s->p[2], s->p[0]);
  s->p[1] = lanes_select(vm_and(s->has[2], off1), s->p[2], s->p[1]);
  return vm_andnot(s->has[2], vm_or(off2, vm_or(off0, off1)));
}

/* What of a simplex of up to three points faces the origin: the face, an edge from the newest point to another, or that
 * point. */
typedef struct facing {
  vm face, edge0, edge1;
} facing;

/* u and v lead from the newest point w to the others, n is u x v. */
static inline facing find_facing(const crowd_simplex *s, vd3 w, vd3 u, vd3 v, vd3 n) {
  const vd none = vd_set(0);
  const vm two = s->has[1], one = vm_andnot(s->has[0], two);
  const vm off0 = vm_and(two, vd_gt(none, lanes_dot(lanes_cross(u, n), w)));
  const vm off1 = vm_and(vm_andnot(two, off0), vd_gt(none, lanes_dot(lanes_cross(n, v), w)));
  const vm along0 = vd_gt(none, lanes_dot(u, w)), along1 = vd_gt(none, lanes_dot(v, w));
  const vm first = vm_and(along0, vm_or(vm_or(one, off0), vm_andnot(off1, along1)));
  const vm second = vm_and(along1, vm_or(off1, vm_andnot(off0, along0)));
  return (facing){vm_andnot(two, vm_or(off0, off1)), first, second};
}

/* Reduces the simplex, which has up to three points, to what faces the origin, and gives directions from there towards
 * it. */
static inline void leave_rest(crowd_simplex *s, vd3 w) {
  const vd3 u = lanes_sub(s->p[0], w), v = lanes_sub(s->p[1], w), n = lanes_cross(u, v);
  const facing f = find_facing(s, w, u, v, n);
  const vm edge = vm_or(f.edge0, f.edge1), more = vm_or(f.face, edge);
  const vd3 e = lanes_select(f.edge1, v, u), back = lanes_neg(w);
  const vd3 off_edge = lanes_cross(lanes_cross(w, e), e);
  const vd3 off_face = lanes_select(vd_gt(lanes_dot(n, w), vd_set(0)), lanes_neg(n), n);
  s->d = lanes_select(f.face, off_face, lanes_select(edge, off_edge, back));
  s->p[0] = lanes_select(more, lanes_select(f.edge1, s->p[1], s->p[0]), w);
  s->p[1] = lanes_select(f.face, s->p[1], w);
  s->p[2] = w;
  s->has[0] = vm_all();
  s->has[1] = more;
  s->has[2] = f.face;
}

static inline vm has_point(const crowd_simplex *s, vd3 w) {
  vm found = vm_none();
  for (int i = 0; i < 3; i++) found = vm_or(found, vm_and(s->has[i], lanes_equal(s->p[i], w)));
  return found;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* A pair in the queue. */
typedef struct waiting {
  const graze_convex_pair *pair;
  uint32_t number;
  double way[3], shift[3], size[3], reach[3];
} waiting;

typedef struct crowd {
  crowd_simplex simplex;
  lane_poses pose[2];
  lane_vectors way, shift, size, reach;
  const double *axes[VD_LANES][2];
  uint32_t vertices[VD_LANES][2]; /* of the hulls, padded */
  uint32_t number[VD_LANES];      /* of the pair */
  int steps[VD_LANES];            /* that are left to it */
  unsigned busy;                  /* lanes that have a pair */
  bool is_real;
} crowd;

/* Directions in the frames of both: farthest[s] + d . the shift is the product. */
static inline void turn_directions(crowd *c, lane_vectors out[2]) {
  const vd3 d = c->simplex.d;
  for (int k = 0; k < 3; k++) {
    for (int s = 0; s < 2; s++) {
      const vd x = vd_mul(d.x[0], vd_load(c->pose[s][k])), y = vd_mul(d.x[1], vd_load(c->pose[s][4 + k]));
      const vd n = sum3(x, y, vd_mul(d.x[2], vd_load(c->pose[s][8 + k])));
      vd_store(out[s][k], s == 0 ? n : vd_neg(n));
    }
  }
}

/* The points of A - B farthest along the directions, and the products. */
static inline vd3 find_points(crowd *c, vd *product) {
  lane_vectors n[2], p[2] = {{{0}}};
  double value[VD_LANES] = {0};
  turn_directions(c, n);
  for (unsigned left = c->busy; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    for (int s = 0; s < 2; s++) {
      const uint32_t all = c->vertices[lane][s];
      const double *x = c->axes[lane][s], *const axes[3] = {x, x + all, x + 2 * (size_t)all};
      const double along[3] = {n[s][0][lane], n[s][1][lane], n[s][2][lane]};
      const extreme far = farthest(axes, all, along);
      value[lane] += far.value;
      for (int k = 0; k < 3; k++) p[s][k][lane] = axes[k][far.vertex];
    }
  }
  *product = vd_sub(vd_load(value), lanes_dot(c->simplex.d, lanes_load(c->shift)));
  return lanes_sub(image_of(c->pose[0], lanes_load(p[0])), image_of(c->pose[1], lanes_load(p[1])));
}

/* Whether the points of a lane and a new one enclose the origin, proved. */
static bool encloses(const crowd *c, int lane, lane_vectors points[4]) {
  double reach[3], off[3];
  convex_point p[4];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 4; i++) p[i].w[k] = points[i][k][lane];
    reach[k] = c->reach[k][lane];
    off[k] = error_of_point(reach[k], c->size[k][lane], c->is_real);
  }
  return gz_enclosing_sign(reach, off, p) != 0;
}

/* Of some lanes those in which that is so. */
static inline unsigned find_enclosed(const crowd *c, unsigned lanes, vd3 w) {
  lane_vectors points[4];
  unsigned hit = 0;
  if (lanes == 0) return 0;
  for (int i = 0; i < 3; i++) lanes_store(points[i], c->simplex.p[i]);
  lanes_store(points[3], w);
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    hit |= (unsigned)encloses(c, lane, points) << lane;
  }
  return hit;
}

/* A step in every lane that is busy. Gives the lanes that come to an end, and among them those that are a hit or apart.
 */
static inline unsigned step(crowd *c, unsigned *hit, unsigned *apart) {
  vd product;
  const vd3 w = find_points(c, &product), d = c->simplex.d, size = lanes_load(c->size);
  vd slop = vd_set(0);
  for (int k = 0; k < 3; k++) slop = vd_add(slop, vd_mul(vd_abs(d.x[k]), size.x[k]));
  slop = vd_mul(slop, vd_set(13 * UNIT));
  *apart = vm_bits(vd_gt(vd_sub(vd_neg(slop), vd_set(LOST)), product)) & c->busy;
  const unsigned again = vm_bits(has_point(&c->simplex, w));
  const unsigned inside = vm_bits(leave_face(&c->simplex, w)) & ~(*apart | again) & c->busy;
  *hit = find_enclosed(c, inside, w);
  leave_rest(&c->simplex, w);
  unsigned ended = *apart | again | inside;
  for (int lane = 0; lane < VD_LANES; lane++) ended |= (unsigned)(--c->steps[lane] <= 0) << lane;
  return ended & c->busy;
}

/* ---- the queue -------------------------------------------------------------------------------------------------- */

static inline void take_lane(crowd *c, int lane, const waiting *w) {
  const graze_convex_pair *pair = w->pair;
  const graze_hull *hulls[2] = {pair->a->hull, pair->b->hull};
  put_pose(c->pose[0], lane, pair->pose_a != NULL ? pair->pose_a : &at_home);
  put_pose(c->pose[1], lane, pair->pose_b != NULL ? pair->pose_b : &at_home);
  for (int k = 0; k < 3; k++) {
    c->way[k][lane] = w->way[k];
    c->shift[k][lane] = w->shift[k];
    c->size[k][lane] = w->size[k];
    c->reach[k][lane] = w->reach[k];
  }
  for (int s = 0; s < 2; s++) {
    c->vertices[lane][s] = padded_count(hulls[s]->vertex_count);
    c->axes[lane][s] = hulls[s]->axes;
  }
  c->number[lane] = w->number;
  c->steps[lane] = QUICK_STEPS;
}

/* Fills free lanes from the end of the queue. */
static inline void refill(crowd *c, const waiting *queue, uint32_t *left) {
  unsigned taken = 0;
  for (unsigned idle = ~c->busy & ((1u << VD_LANES) - 1); idle != 0 && *left > 0; idle &= idle - 1) {
    const int lane = __builtin_ctz(idle);
    take_lane(c, lane, &queue[--*left]);
    taken |= 1u << lane;
  }
  if (taken == 0) return;
  const vm fresh = vm_from(taken);
  c->busy |= taken;
  c->simplex.d = lanes_select(fresh, lanes_load(c->way), c->simplex.d);
  for (int i = 0; i < 3; i++) c->simplex.has[i] = vm_andnot(c->simplex.has[i], fresh);
}

static void search(const waiting *queue, uint32_t left, bool is_real, uint8_t *verdicts) {
  crowd c = {.is_real = is_real};
  for (int i = 0; i < 3; i++) c.simplex.has[i] = vm_none();
  for (refill(&c, queue, &left); c.busy != 0; refill(&c, queue, &left)) {
    unsigned hit, apart, ended = step(&c, &hit, &apart);
    for (unsigned rest = ended; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (hit >> lane & 1) verdicts[c.number[lane]] = CONVEX_HIT;
      if (apart >> lane & 1) verdicts[c.number[lane]] = CONVEX_APART;
    }
    c.busy &= ~ended;
  }
}

/* Puts lanes whose balls do not tell into the queue; gives its length. */
static inline uint32_t put_waiting(crowd_balls *c, unsigned lanes, const uint32_t numbers[VD_LANES],
                                   const graze_convex_pair *const pairs[VD_LANES], waiting *queue, uint32_t length) {
  lane_vectors way, shift, size, reach;
  if (lanes == 0) return length;
  lanes_store(way, c->way);
  lanes_store(shift, c->shift);
  lanes_store(size, c->size);
  lanes_store(reach, c->reach);
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    waiting *w = &queue[length++];
    w->pair = pairs[lane];
    w->number = numbers[lane];
    for (int k = 0; k < 3; k++) {
      w->way[k] = way[k][lane];
      w->shift[k] = shift[k][lane];
      w->size[k] = size[k][lane];
      w->reach[k] = reach[k][lane];
    }
  }
  return length;
}

/* Settles what balls settle, and pairs without balls one by one; the others go into the queue. Gives its length. */
static uint32_t sift(const crowd_pairs *from, waiting *queue, uint8_t *verdicts) {
  uint32_t length = 0;
  for (uint32_t i = 0; i < from->count; i += VD_LANES) {
    const unsigned here = from->count - i < VD_LANES ? from->count - i : VD_LANES;
    const graze_convex_pair *pairs[VD_LANES];
    uint32_t numbers[VD_LANES];
    crowd_balls balls;
    vm hit, apart;
    for (unsigned lane = 0; lane < VD_LANES; lane++) {
      numbers[lane] = from->which[i + (lane < here ? lane : 0)];
      pairs[lane] = &from->pairs[numbers[lane]];
    }
    put_balls(&balls, pairs);
    measure_sizes(&balls);
    hold_balls(&balls, &hit, &apart);
    const unsigned hits = vm_bits(hit), aparts = vm_bits(apart), fits = vm_bits(balls.fit);
    for (unsigned lane = 0; lane < here; lane++) {
      verdicts[numbers[lane]] = hits >> lane & 1 ? CONVEX_HIT : aparts >> lane & 1 ? CONVEX_APART : CONVEX_OPEN;
      if (!(fits >> lane & 1)) verdicts[numbers[lane]] = (uint8_t)KERNEL(gz_quick_meet)(pairs[lane], from->is_real);
    }
    const unsigned open = fits & ~(hits | aparts) & ((1u << here) - 1);
    length = put_waiting(&balls, open, numbers, pairs, queue, length);
  }
  return length;
}

void KERNEL(gz_quick_crowd)(const crowd_pairs *from, uint8_t *verdicts) {
  if (VD_LANES >= 4 && 2 * from->count >= VD_LANES) {
    waiting queue[CROWD_PAIRS];
    search(queue, sift(from, queue, verdicts), from->is_real, verdicts);
    return;
  }
  for (uint32_t i = 0; i < from->count; i++) {
    const uint32_t number = from->which[i];
    verdicts[number] = (uint8_t)KERNEL(gz_quick_meet)(&from->pairs[number], from->is_real);
  }
}
