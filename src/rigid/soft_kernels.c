/* Passes over soft contacts, a register of them at a time; the method is in soft.c. */
#include "base/simd_rows.h"
#include "rigid/soft.h"

#define INLINED static inline __attribute__((always_inline))

/* The two bodies of each lane. */
typedef struct two_sides {
  vd u[2][4], spin[2][4]; /* scaled */
  vd relative[3];         /* velocity of a less that of b, without spins */
  vd push[3];             /* the sum of impulses at their middles */
  vd both;                /* 1 / m of both */
} two_sides;

INLINED vd dot(const vd a[3], const vd b[3]) {
  return vd_add(vd_add(vd_mul(a[0], b[0]), vd_mul(a[1], b[1])), vd_mul(a[2], b[2]));
}

INLINED void load3(vd out[3], soft_lanes from[3], int lane) {
  for (int k = 0; k < 3; k++) out[k] = vd_load(from[k] + lane);
}

/* out += s a */
INLINED void add_scaled(vd out[3], vd s, const vd a[3]) {
  for (int k = 0; k < 3; k++) out[k] = vd_add(out[k], vd_mul(s, a[k]));
}

INLINED void cross(const vd a[3], const vd b[3], vd out[3]) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = vd_sub(vd_mul(a[i], b[j]), vd_mul(a[j], b[i]));
  }
}

INLINED void load_sides(two_sides *s, const soft_pass *p, soft_group *g, int lane) {
  const vd scale[2] = {vd_load(g->scale[0] + lane), vd_load(g->scale[1] + lane)};
  for (int side = 0; side < 2; side++) {
    vd_load_rows(s->u[side], p->states, g->at[side] + lane);
    vd_load_rows(s->spin[side], p->states + 4, g->at[side] + lane);
  }
  for (int k = 0; k < 3; k++) {
    s->relative[k] = vd_sub(vd_mul(scale[0], s->u[0][k]), vd_mul(scale[1], s->u[1][k]));
    s->push[k] = vd_set(0);
  }
  s->both = vd_add(vd_mul(scale[0], scale[0]), vd_mul(scale[1], scale[1]));
}

INLINED void store_sides(two_sides *s, const soft_pass *p, soft_group *g, int lane) {
  for (int side = 0; side < 2; side++) {
    double rows[VD_LANES][4];
    vd scale = vd_load(g->scale[side] + lane);
    if (side == 1) scale = vd_neg(scale);
    add_scaled(s->u[side], scale, s->push);
    vd_store_rows(rows, 1, s->u[side]);
    for (int i = 0; i < VD_LANES; i++) memcpy(p->states + g->at[side][lane + i], rows[i], sizeof rows[i]);
    vd_store_rows(rows, 1, s->spin[side]);
    for (int i = 0; i < VD_LANES; i++) memcpy(p->states + g->at[side][lane + i] + 4, rows[i], sizeof rows[i]);
  }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

INLINED vd turning(const two_sides *s, soft_turns turns, int lane) {
  vd a[3], b[3];
  load3(a, turns[0], lane);
  load3(b, turns[1], lane);
  return vd_add(dot(a, s->spin[0]), dot(b, s->spin[1]));
}

INLINED void turn(two_sides *s, soft_turns turns, int lane, vd impulse) {
  for (int side = 0; side < 2; side++) {
    vd row[3];
    load3(row, turns[side], lane);
    add_scaled(s->spin[side], impulse, row);
  }
}

/* An impulse along a direction of the middles. */
INLINED void shove(two_sides *s, const vd direction[3], vd impulse) {
  add_scaled(s->push, impulse, direction);
  add_scaled(s->relative, vd_mul(s->both, impulse), direction);
}

/* Cut to a length. */
INLINED void limit_pair(vd x[2], vd most) {
  const vd length = vd_sqrt(vd_add(vd_mul(x[0], x[0]), vd_mul(x[1], x[1])));
  const vd part = vd_select(vd_gt(length, most), vd_div(most, vd_max(length, vd_set(1e-300))), vd_set(1));
  for (int i = 0; i < 2; i++) x[i] = vd_mul(x[i], part);
}

/* ---- friction ---------------------------------------------------------------------------------------------------- */

INLINED void drag(two_sides *s, soft_group *g, int lane, const vd across[2][3], vd pressed) {
  vd next[2], before[2];
  for (int i = 0; i < 2; i++) {
    const vd speed = vd_add(vd_add(dot(across[i], s->relative), turning(s, g->drag_turns[i], lane)),
                            vd_load(g->drag_drive[i] + lane));
    before[i] = vd_load(g->drag[i] + lane);
    next[i] = vd_sub(before[i], vd_mul(vd_load(g->drag_mass[i] + lane), speed));
  }
  limit_pair(next, vd_mul(vd_load(g->friction + lane), pressed));
  for (int i = 0; i < 2; i++) {
    const vd change = vd_sub(next[i], before[i]);
    shove(s, across[i], change);
    turn(s, g->drag_turns[i], lane, change);
    vd_store(g->drag[i] + lane, next[i]);
  }
}

INLINED void twist(two_sides *s, soft_group *g, int lane, vd most) {
  const vd speed = vd_add(turning(s, g->twist_turns, lane), vd_load(g->twist_drive + lane));
  const vd before = vd_load(g->twist + lane);
  vd next = vd_sub(before, vd_mul(vd_load(g->twist_mass + lane), speed));
  next = vd_max(vd_min(next, most), vd_neg(most));
  turn(s, g->twist_turns, lane, vd_sub(next, before));
  vd_store(g->twist + lane, next);
}

INLINED void roll(two_sides *s, soft_group *g, int lane, vd pressed) {
  vd next[2], before[2];
  for (int i = 0; i < 2; i++) {
    const vd speed = vd_add(turning(s, g->roll_turns[i], lane), vd_load(g->roll_drive[i] + lane));
    before[i] = vd_load(g->roll[i] + lane);
    next[i] = vd_sub(before[i], vd_mul(vd_load(g->roll_mass[i] + lane), speed));
  }
  limit_pair(next, vd_mul(vd_load(g->roll_limit + lane), pressed));
  for (int i = 0; i < 2; i++) {
    turn(s, g->roll_turns[i], lane, vd_sub(next[i], before[i]));
    vd_store(g->roll[i] + lane, next[i]);
  }
}

INLINED void rub(two_sides *s, soft_group *g, int lane, const vd normal[3]) {
  vd across[2][3], pressed = vd_set(0), most = vd_set(0);
  for (uint32_t i = 0; i < g->count; i++) {
    const vd impulse = vd_load(g->points[i].impulse + lane);
    pressed = vd_add(pressed, impulse);
    most = vd_add(most, vd_mul(impulse, vd_load(g->points[i].lever + lane)));
  }
  load3(across[0], g->across, lane);
  cross(normal, across[0], across[1]);
  if (g->rolls) roll(s, g, lane, pressed);
  if (g->twists) twist(s, g, lane, most);
  drag(s, g, lane, (const vd(*)[3])across, pressed);
}

/* ---- pushing ----------------------------------------------------------------------------------------------------- */

/* How far the sides have come. */
typedef struct two_ways {
  vd relative[3], turned[2][4];
} two_ways;

INLINED void load_ways(two_ways *w, const soft_pass *p, soft_group *g, int lane) {
  vd moved[2][4];
  const vd scale[2] = {vd_load(g->scale[0] + lane), vd_load(g->scale[1] + lane)};
  for (int side = 0; side < 2; side++) {
    vd_load_rows(moved[side], p->states + 8, g->at[side] + lane);
    vd_load_rows(w->turned[side], p->states + 12, g->at[side] + lane);
  }
  for (int k = 0; k < 3; k++) w->relative[k] = vd_sub(vd_mul(scale[0], moved[0][k]), vd_mul(scale[1], moved[1][k]));
}

/* A gap closes no faster than in the sub-step; of an overlap a part goes, unless the pass is to take back the speed
 * with which it has gone. Where that speed is bounded the spring is made to give way less, so that its force goes on.
 */
INLINED void push(two_sides *s, const two_ways *w, const soft_pass *p, soft_group *g, soft_point *point, int lane,
                  const vd normal[3]) {
  const vd zero = vd_set(0), one = vd_set(1);
  vd rows[2][3];
  load3(rows[0], point->turns[0], lane);
  load3(rows[1], point->turns[1], lane);
  const vd drive = vd_load(point->drive + lane), mass = vd_load(point->mass + lane);
  const vd speed =
      vd_add(vd_add(vd_add(dot(normal, s->relative), dot(rows[0], s->spin[0])), dot(rows[1], s->spin[1])), drive);
  const vd way = vd_add(vd_add(dot(normal, w->relative), dot(rows[0], w->turned[0])), dot(rows[1], w->turned[1]));
  const vd gap = vd_add(vd_load(point->gap + lane), vd_add(way, vd_mul(vd_set(p->time), drive)));
  const vm apart = vd_gt(gap, zero);
  const vd before = vd_load(point->impulse + lane);
  vd bias = vd_div(gap, vd_set(p->h)), softness = zero;
  if (p->is_relaxing) {
    bias = vd_select(apart, bias, zero);
  } else {
    const vd wanted = vd_mul(vd_load(g->rate + lane), gap), most = vd_set(-p->push_speed);
    const vm bounded = vd_gt(most, wanted);
    const vd part = vd_select(bounded, vd_div(most, wanted), one), soft = vd_load(g->softness + lane);
    const vd given = vd_mul(soft, part);
    bias = vd_select(apart, bias, vd_max(wanted, most));
    softness = vd_select(apart, zero, vd_div(given, vd_add(vd_sub(one, soft), given)));
  }
  const vd change =
      vd_sub(vd_mul(vd_mul(vd_neg(mass), vd_sub(one, softness)), vd_add(speed, bias)), vd_mul(softness, before));
  const vd next = vd_max(vd_add(before, change), zero), impulse = vd_sub(next, before);
  vd_store(point->impulse + lane, next);
  shove(s, normal, impulse);
  add_scaled(s->spin[0], impulse, rows[0]);
  add_scaled(s->spin[1], impulse, rows[1]);
}

/* The impulse along the middles. */
INLINED void find_impulse(soft_group *g, int lane, const vd normal[3], vd out[3]) {
  vd across[2][3], pressed = vd_set(0);
  for (uint32_t i = 0; i < g->count; i++) {
    const soft_point *p = &g->points[i];
    pressed = vd_add(pressed, vd_add(vd_load(p->impulse + lane), vd_load(p->blow + lane)));
  }
  load3(across[0], g->across, lane);
  cross(normal, across[0], across[1]);
  for (int k = 0; k < 3; k++) out[k] = vd_mul(pressed, normal[k]);
  for (int i = 0; i < 2; i++) add_scaled(out, vd_load(g->drag[i] + lane), across[i]);
}

/* What was added since `before`, at the place where the bodies are. */
INLINED void add_moment(soft_group *g, int lane, const vd normal[3], const two_ways *w, const vd before[3]) {
  vd impulse[3], moment[3];
  find_impulse(g, lane, normal, impulse);
  for (int k = 0; k < 3; k++) impulse[k] = vd_sub(impulse[k], before[k]);
  cross(w->relative, impulse, moment);
  for (int k = 0; k < 3; k++) vd_store(g->moment[k] + lane, vd_add(vd_load(g->moment[k] + lane), moment[k]));
}

INLINED void add_totals(soft_group *g, int lane) {
  for (uint32_t k = 0; k < g->count; k++) {
    double *total = g->points[k].total + lane;
    vd_store(total, vd_add(vd_load(total), vd_load(g->points[k].impulse + lane)));
  }
}

void KERNEL(gz_soft_solve)(const soft_pass *pass, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    soft_group *g = &pass->groups[i];
    for (int lane = 0; lane < SOFT_LANES; lane += VD_LANES) {
      two_sides s;
      two_ways w;
      vd normal[3];
      load3(normal, g->normal, lane);
      load_sides(&s, pass, g, lane);
      load_ways(&w, pass, g, lane);
      vd before[3] = {vd_set(0), vd_set(0), vd_set(0)};
      if (g->parts && pass->is_relaxing) find_impulse(g, lane, normal, before);
      for (uint32_t round = 0; round < g->rounds; round++) {
        for (uint32_t k = 0; k < g->count; k++) push(&s, &w, pass, g, &g->points[k], lane, normal);
        rub(&s, g, lane, normal);
      }
      if (g->parts) add_moment(g, lane, normal, &w, before);
      if (pass->is_relaxing) add_totals(g, lane);
      store_sides(&s, pass, g, lane);
    }
  }
}

/* ---- before and after ------------------------------------------------------------------------------------------ */

void KERNEL(gz_soft_begin)(const soft_pass *pass, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    soft_group *g = &pass->groups[i];
    for (int lane = 0; lane < SOFT_LANES; lane += VD_LANES) {
      two_sides s;
      vd normal[3], across[2][3];
      load3(normal, g->normal, lane);
      load3(across[0], g->across, lane);
      cross(normal, across[0], across[1]);
      load_sides(&s, pass, g, lane);
      for (uint32_t k = 0; k < g->count; k++) {
        const vd impulse = vd_load(g->points[k].impulse + lane);
        shove(&s, normal, impulse);
        turn(&s, g->points[k].turns, lane, impulse);
      }
      for (int k = 0; k < 2; k++) {
        const vd impulse = vd_load(g->drag[k] + lane);
        shove(&s, across[k], impulse);
        turn(&s, g->drag_turns[k], lane, impulse);
        if (g->rolls) turn(&s, g->roll_turns[k], lane, vd_load(g->roll[k] + lane));
      }
      if (g->twists) turn(&s, g->twist_turns, lane, vd_load(g->twist + lane));
      store_sides(&s, pass, g, lane);
    }
  }
}

/* What has been pressed and came fast is thrown back. */
INLINED void throw_point(two_sides *s, soft_point *point, int lane, const vd normal[3]) {
  const vd zero = vd_set(0), thrown = vd_load(point->thrown + lane), before = vd_load(point->blow + lane);
  const vm hit = vm_and(vd_gt(thrown, zero), vd_gt(vd_load(point->total + lane), zero));
  const vd speed =
      vd_add(vd_add(dot(normal, s->relative), turning(s, point->turns, lane)), vd_load(point->drive + lane));
  const vd wanted = vd_sub(before, vd_mul(vd_load(point->mass + lane), vd_sub(speed, thrown)));
  const vd next = vd_select(hit, vd_max(wanted, vd_neg(vd_load(point->impulse + lane))), before);
  const vd impulse = vd_sub(next, before);
  vd_store(point->blow + lane, next);
  shove(s, normal, impulse);
  turn(s, point->turns, lane, impulse);
}

void KERNEL(gz_soft_throw)(const soft_pass *pass, uint32_t begin, uint32_t end) {
  enum { ROUNDS = 8 }; /* the points of a face share one blow */
  for (uint32_t i = begin; i < end; i++) {
    soft_group *g = &pass->groups[i];
    if (!g->throws) continue;
    for (int lane = 0; lane < SOFT_LANES; lane += VD_LANES) {
      two_sides s;
      two_ways w;
      vd normal[3], before[3] = {vd_set(0), vd_set(0), vd_set(0)};
      load3(normal, g->normal, lane);
      load_sides(&s, pass, g, lane);
      load_ways(&w, pass, g, lane);
      if (g->parts) find_impulse(g, lane, normal, before);
      for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t k = 0; k < g->count; k++) throw_point(&s, &g->points[k], lane, normal);
      }
      if (g->parts) add_moment(g, lane, normal, &w, before);
      store_sides(&s, pass, g, lane);
    }
  }
}
