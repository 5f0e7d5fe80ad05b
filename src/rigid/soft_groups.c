/* From contacts to groups of eight that share no body, and back.
 *
 * Colors are given greedily in the order of contacts, so that they depend on those alone; what rests on something that
 * no force moves comes in colors of its own, the last ones, and has the last word. */
#include <math.h>
#include <string.h>

#include "rigid/soft.h"
#include "rigid/vector.h"

/* Colors for two bodies that move come first. The last color has what no other would take, a group each. */
enum { MOVING_COLORS = 40, LAST_COLOR = SOFT_COLORS };

/* A contact that knows no impulses from before finds them in so many rounds of each pass. */
enum { NEW_ROUNDS = 6 };

/* Of a sub-step's rate: that of the spring; and how much of the critical damping it has. With more damping, as is
 * usual, an impulse is remembered for longer than it takes to pass it on in a tall pile, which then never comes to
 * rest. */
static const double spring_rate = 0.1875, spring_damping = 1;

/* A spring is as stiff as the point that it pushes is light, whatever lies on that: at the end of a thin piece it is a
 * tenth as stiff as the piece could bear. So where a contact is deeper than this part of what the thinner body measures
 * from its middle, its spring gets stiffer, by as many times as it is deeper; but by no more than something heavier
 * touches the body, for then it is that which moves on the spring, and by no more than a pass over the contacts can
 * follow: with 5 times, a block on three splinters jumps. And it does so slowly, in so many seconds: springs that
 * follow every shock never come to rest. */
static const double shallow = 0.02, most_times = 3, slowness = 0.5;

static const double two_pi = 6.283185307179586;

/* ---- colors ------------------------------------------------------------------------------------------------------ */

static uint8_t choose_color(soft_system *s, uint32_t a, uint32_t b) {
  const bool both = a != 0 && b != 0;
  const uint64_t moving = (UINT64_C(1) << MOVING_COLORS) - 1;
  const uint64_t taken = s->used[a] | s->used[b], free = both ? ~taken & moving : ~taken & ~moving;
  if (free == 0) return LAST_COLOR;
  const uint8_t color = (uint8_t)__builtin_ctzll(free);
  if (a != 0) s->used[a] |= UINT64_C(1) << color;
  if (b != 0) s->used[b] |= UINT64_C(1) << color;
  return color;
}

static uint32_t slot_of(const soft_system *s, const uint32_t *slots, uint32_t body) {
  return body < s->world->bodies.count ? slots[body] : 0;
}

static void weigh_partners(soft_system *s, uint32_t a, uint32_t b) {
  if (a == 0 || b == 0) return;
  soft_body *of_a = &s->bodies[a], *of_b = &s->bodies[b];
  of_a->heaviest = fmax(of_a->heaviest, rigid_body_at(s->world, of_b->body)->mass);
  of_b->heaviest = fmax(of_b->heaviest, rigid_body_at(s->world, of_a->body)->mass);
}

/* How many contacts a group of the class has at most. */
static uint32_t width_of(uint32_t class) {
  return class / 2 == LAST_COLOR ? 1 : SOFT_LANES;
}

void gz_soft_color(soft_system *s, const uint32_t *slots, const uint32_t *contacts) {
  uint32_t counts[SOFT_CLASSES] = {0}, next[SOFT_CLASSES], place = 0;
  memset(s->used, 0, (s->body_count + (size_t)1) * sizeof *s->used);
  for (uint32_t i = 0; i < s->contact_count; i++) {
    const rigid_contact *c = RIGID_AT(s->world->contacts, rigid_contact, contacts[i]);
    const uint32_t a = slot_of(s, slots, c->a), b = slot_of(s, slots, c->b);
    const uint8_t color = choose_color(s, a, b);
    if (c->count > 0) weigh_partners(s, a, b);
    s->classes[i] = (uint8_t)(2 * color + !(c->part > 0));
    counts[s->classes[i]]++;
  }
  for (uint32_t class = 0; class < SOFT_CLASSES; class ++) {
    s->begin[class] = next[class] = place;
    place += counts[class];
  }
  s->begin[SOFT_CLASSES] = place;
  for (uint32_t i = 0; i < s->contact_count; i++) s->contacts[next[s->classes[i]]++] = contacts[i];
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static uint32_t count_of(uint32_t class, uint32_t contacts) {
  return (contacts + width_of(class) - 1) / width_of(class);
}

uint32_t gz_soft_count_groups(const soft_system *s) {
  uint32_t count = 0;
  for (uint32_t class = 0; class < SOFT_CLASSES; class ++)
    count += count_of(class, s->begin[class + 1] - s->begin[class]);
  return count;
}

/* Without points, and with nothing left of those that it had: in a group it would change nothing. */
static bool is_quiet(const rigid_contact *c) {
  for (int k = 0; k < 3; k++) {
    if (c->dragged[k] != 0 || c->rolled[k] != 0) return false;
  }
  return c->count == 0 && c->twisted == 0 && c->stiffened == 0;
}

void gz_soft_arrange(soft_system *s) {
  uint32_t count = 0;
  s->group_count = 0;
  for (uint32_t class = 0; class < SOFT_CLASSES; class ++) {
    s->first[class] = s->group_count;
    s->place[class] = count;
    for (uint32_t i = s->begin[class]; i < s->begin[class + 1]; i++) {
      rigid_contact *c = RIGID_AT(s->world->contacts, rigid_contact, s->contacts[i]);
      if (is_quiet(c))
        c->part = s->h; /* as that of the others */
      else
        s->busy[count++] = s->contacts[i];
    }
    s->group_count += count_of(class, count - s->place[class]);
  }
  s->first[SOFT_CLASSES] = s->group_count;
  s->place[SOFT_CLASSES] = count;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A contact that becomes a lane. */
typedef struct filling {
  const rigid_body *bodies[2]; /* a, b */
  const double *roots[2];      /* I^-1/2; NULL: no force moves it */
  double weights[2];           /* 1 / m, or 0 */
  soft_group *group;
  uint32_t lane;
} filling;

/* The row of a direction at the arms, or, without arms, of an axis: its turns, and what drives it. Returns 1 / what it
 * gives way, or 0. */
static double fill_row(const filling *f, const double direction[3], double arms[2][3], soft_turns turns,
                       double *drive) {
  double give = 0;
  *drive = 0;
  for (int side = 0; side < 2; side++) {
    const double sign = side == 0 ? 1 : -1;
    double axis[3], scaled[3];
    if (arms != NULL)
      cross3(arms[side], direction, axis);
    else
      memcpy(axis, direction, sizeof axis);
    if (f->roots[side] != NULL) {
      turn3(f->roots[side], axis, scaled);
      for (int k = 0; k < 3; k++) turns[side][k][f->lane] = sign * scaled[k];
      give += dot3(scaled, scaled) + (arms != NULL ? f->weights[side] : 0);
    } else if (f->bodies[side]->type == GRAZE_BODY_KINEMATIC) {
      const rigid_body *b = f->bodies[side];
      *drive += sign * (dot3(axis, b->spin) + (arms != NULL ? dot3(direction, b->velocity) : 0));
    }
  }
  return give > 0 ? 1 / give : 0;
}

/* r_a r_b / (r_a + r_b), of round ones; else that of the one that is round. */
static double reduced_radius(const rigid_contact *c) {
  const double r = c->radii[0], s = c->radii[1];
  return r > 0 && s > 0 ? r * s / (r + s) : r + s;
}

/* The speed of approach where surfaces meet, until when gravity has pulled; what comes fast is thrown back. */
static void fill_bounce(const soft_system *s, const filling *f, rigid_contact *c, uint32_t k, double arms[2][3],
                        double step) {
  const double *gravity = s->world->def.gravity;
  double start = 0, pull = 0;
  for (int side = 0; side < 2; side++) {
    const rigid_body *b = f->bodies[side];
    const double sign = side == 0 ? 1 : -1;
    double turn[3];
    if (b->type == GRAZE_BODY_STATIC) continue;
    cross3(arms[side], c->normal, turn);
    start += sign * (dot3(c->normal, b->velocity) + dot3(turn, b->spin));
    if (b->type == GRAZE_BODY_DYNAMIC) pull += sign * dot3(c->normal, gravity);
  }
  const double end = start + step * pull, gap = fmax(c->points[k].gap, 0);
  const double time = end < 0 ? fmin(gap / -end, step) : step;
  c->points[k].approach = start + time * pull;
  const bool back = c->restitution > 0 && -c->points[k].approach >= s->world->def.rebound && c->points[k].approach < 0;
  f->group->points[k].thrown[f->lane] = back ? -c->restitution * c->points[k].approach : 0;
  f->group->throws = f->group->throws || back;
}

static void fill_point(const soft_system *s, const filling *f, rigid_contact *c, uint32_t k, const double middle[3],
                       double step) {
  soft_point *p = &f->group->points[k];
  const rigid_point *from = &c->points[k];
  double arms[2][3], way[3], along;
  const double gap = gz_rigid_find_gap(f->bodies[0], f->bodies[1], c, from, arms);
  c->points[k].gap = gap;
  p->mass[f->lane] = fill_row(f, c->normal, arms, p->turns, &p->drive[f->lane]);
  p->gap[f->lane] = gap;
  p->impulse[f->lane] = c->part > 0 ? from->pressed * (s->h / c->part) : 0;
  sub3(arms[0], middle, way);
  along = dot3(way, c->normal);
  add_scaled3(way, -along, c->normal, way);
  p->lever[f->lane] = c->friction * length3(way) + c->spinning * reduced_radius(c);
  fill_bounce(s, f, c, k, arms, step);
}

static void fill_friction(const soft_system *s, const filling *f, const rigid_contact *c, double middle[2][3]) {
  soft_group *g = f->group;
  double across[2][3], drive;
  const uint32_t l = f->lane;
  const double part = c->part > 0 ? s->h / c->part : 0;
  span3(c->normal, across[0], across[1]);
  g->friction[l] = c->friction;
  for (int i = 0; i < 2; i++) {
    g->drag_mass[i][l] = fill_row(f, across[i], middle, g->drag_turns[i], &drive);
    g->drag_drive[i][l] = drive - dot3(across[i], c->surface);
    g->drag[i][l] = part * dot3(across[i], c->dragged);
    if (!(c->friction > 0)) g->drag_mass[i][l] = g->drag[i][l] = 0;
  }
  for (int k = 0; k < 3; k++) g->across[k][l] = across[0][k];
  g->twist_mass[l] = fill_row(f, c->normal, NULL, g->twist_turns, &g->twist_drive[l]);
  g->twist[l] = part * c->twisted;
  g->twists = g->twists || c->count > 1 || c->spinning > 0 || g->twist[l] != 0;
  if (!(c->rolling > 0)) return;
  g->rolls = true;
  g->roll_limit[l] = c->rolling * reduced_radius(c);
  for (int i = 0; i < 2; i++) {
    g->roll_mass[i][l] = fill_row(f, across[i], NULL, g->roll_turns[i], &g->roll_drive[i][l]);
    g->roll[i][l] = part * dot3(across[i], c->rolled);
  }
}

/* How many times as stiff the spring is as others. */
static double stiffen(const soft_system *s, const filling *f, rigid_contact *c) {
  double least = (double)INFINITY, ratio = 1;
  for (int side = 0; side < 2; side++) {
    if (f->roots[side] == NULL) continue;
    least = fmin(least, f->bodies[side]->least);
    ratio = fmax(ratio, s->bodies[f->group->at[side][f->lane] / SOFT_STATE].heaviest * f->weights[side]);
  }
  const double times = fmin(fmax(rigid_depth_of(c), 0) / (shallow * least), fmin(ratio, most_times));
  const double wanted = fmax(times - 1, 0);
  c->stiffened += s->step / (s->step + slowness) * (wanted - c->stiffened);
  return 1 + c->stiffened;
}

/* Stiffness as a part of a point's mass: how much of an overlap goes in a second, and how much of an impulse it gives
 * way (E. Catto, "Solver2D", 2024: springs by their rate and damping, stepped implicitly). */
static void fill_spring(const soft_system *s, const filling *f, rigid_contact *c) {
  const double turned = two_pi * spring_rate * sqrt(stiffen(s, f, c));
  const double first = 2 * spring_damping + turned, second = turned * first;
  f->group->rate[f->lane] = turned / (s->h * first);
  f->group->softness[f->lane] = 1 / (1 + second);
}

double gz_soft_find_sink(double h) {
  const double turned = two_pi * spring_rate / h;
  return 1 / (turned * turned);
}

static void fill_lane(const soft_system *s, const uint32_t *slots, uint32_t contact, soft_group *g, uint32_t lane) {
  rigid_contact *c = RIGID_AT(s->world->contacts, rigid_contact, contact);
  const uint32_t pair[2] = {slot_of(s, slots, c->a), slot_of(s, slots, c->b)};
  filling f = {.bodies = {rigid_body_at(s->world, c->a), rigid_body_at(s->world, c->b)}, .group = g, .lane = lane};
  for (int side = 0; side < 2; side++) {
    g->at[side][lane] = pair[side] * SOFT_STATE;
    if (pair[side] == 0) continue;
    f.roots[side] = s->bodies[pair[side]].root;
    f.weights[side] = f.bodies[side]->inverse_mass;
    g->scale[side][lane] = sqrt(f.weights[side]);
  }
  double middle[2][3] = {{0}};
  for (uint32_t k = 0; k < c->count; k++) {
    double arms[2][3];
    gz_rigid_find_gap(f.bodies[0], f.bodies[1], c, &c->points[k], arms);
    for (int i = 0; i < 6; i++) middle[i / 3][i % 3] += arms[i / 3][i % 3] / c->count;
  }
  for (int k = 0; k < 3; k++) g->normal[k][lane] = c->normal[k];
  g->contact[lane] = contact;
  for (uint32_t k = 0; k < c->count; k++) fill_point(s, &f, c, k, middle[0], s->step);
  fill_spring(s, &f, c);
  fill_friction(s, &f, c, middle);
  g->count = c->count > g->count ? c->count : g->count;
  g->parts = pair[0] != 0 && pair[1] != 0;
}

static void fill_group(const soft_system *s, const uint32_t *slots, uint32_t class, uint32_t group) {
  soft_group *g = &s->groups[group];
  const uint32_t width = width_of(class), first = s->place[class] + (group - s->first[class]) * width;
  memset(g, 0, sizeof *g);
  g->rounds = class % 2 ? NEW_ROUNDS : 1;
  for (uint32_t lane = 0; lane < SOFT_LANES; lane++) {
    g->contact[lane] = UINT32_MAX;
    if (lane < width && first + lane < s->place[class + 1]) fill_lane(s, slots, s->busy[first + lane], g, lane);
  }
}

void gz_soft_fill(const soft_system *s, const uint32_t *slots, uint32_t begin, uint32_t end) {
  uint32_t class = 0;
  for (uint32_t i = begin; i < end; i++) {
    while (i >= s->first[class + 1]) class ++;
    fill_group(s, slots, class, i);
  }
}

/* ---- back to contacts ----------------------------------------------------------------------------------------------
 */

static void keep_lane(const soft_system *s, const soft_group *g, uint32_t lane) {
  rigid_contact *c = RIGID_AT(s->world->contacts, rigid_contact, g->contact[lane]);
  double across[2][3], sum = 0;
  for (uint32_t k = 0; k < c->count; k++) {
    const double blow = g->points[k].blow[lane], total = g->points[k].total[lane] + blow;
    c->points[k].pressed = blow > 0 ? 0 : g->points[k].impulse[lane];
    if (total > 0 && c->impulse == 0) c->speed = fmax(c->speed, 0 - c->points[k].approach);
    sum += total;
  }
  c->impulse += sum;
  c->now += sum;
  c->part = s->h;
  span3(c->normal, across[0], across[1]);
  for (int k = 0; k < 3; k++) {
    c->dragged[k] = g->drag[0][lane] * across[0][k] + g->drag[1][lane] * across[1][k];
    c->rolled[k] = g->roll[0][lane] * across[0][k] + g->roll[1][lane] * across[1][k];
  }
  c->twisted = g->twist[lane];
}

void gz_soft_keep(const soft_system *s, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    for (uint32_t lane = 0; lane < SOFT_LANES; lane++) {
      if (s->groups[i].contact[lane] != UINT32_MAX) keep_lane(s, &s->groups[i], lane);
    }
  }
}
