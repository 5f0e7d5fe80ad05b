/* Who meets in a world, and what is told and lost when a contact ends. Here as in the pass, operations are those of
 * src/dynamics/, in their order, so that the bytes are the same. */
#include "world.h"

/* What rows of balls are made of: float in single precision. All arithmetic is in doubles. */
typedef KEY real;

/* As src/dynamics/world.h has them. */
FUNCTION double stored(double x) {
  if (sizeof(real) == sizeof(double)) return x;
  return x > -0x1p-126 && x < 0x1p-126 ? 0.0 : (double)(real)x;
}

FUNCTION double nearest_image(double x, double period) {
  double most = 0.5 * period;
  if (period == 0) return x;
  return x > most ? x - period : -most > x ? x + period : x;
}

/* The four numbers of a ball's row from `field` on. */
FUNCTION void load(GLOBAL const real *rows, u32 place, u32 field, double *to) {
  for (u32 k = 0; k < 4; k++) to[k] = rows[ROW_FIELDS * (u64)place + field + k];
}

FUNCTION double wall_distance(GLOBAL const double *wall, const double *at) {
  double distance = 0;
  for (u32 k = 0; k < 3; k++) distance += wall[WALL_NORMAL + k] * (at[k] - wall[WALL_POINT + k]);
  return distance;
}

FUNCTION GLOBAL const double *kind_of(GLOBAL const double *kinds, GLOBAL const u32 *facts, u32 place) {
  return kinds + KIND_FIELDS * (u64)facts[FACTS * (u64)place + FACT_KIND];
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

FUNCTION u32 is_wall(u32 partner) {
  return (partner & PARTNER_IS_WALL) != 0;
}

/* The place of a ball or the number of a wall. */
FUNCTION u32 place_of(u32 partner) {
  return partner & ~(PARTNER_IS_WALL | PARTNER_TOUCHES);
}

/* What partners are sorted by: numbers, walls last. */
FUNCTION u32 key_of(GLOBAL const u32 *facts, u32 partner) {
  return is_wall(partner) ? partner & ~PARTNER_TOUCHES : facts[FACTS * (u64)place_of(partner) + FACT_NUMBER];
}

/* Along an axis; *flag: the place is too far away for marks. */
FUNCTION u32 mark_of(GLOBAL const double *frame, u32 k, double x, u32 *flag) {
  double t = (x - frame[FRAME_CORNER + k]) * frame[FRAME_MARKS + k];
  if (t > -MARK_MOST && t < MARK_MOST) return (u32)(i64)t;
  *flag = FLAG_MOVED;
  return 0;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Where they are told. `slot`: the pass of the batch. */
typedef struct told {
  GLOBAL u64 *events;
  GLOBAL u32 *count; /* may come to more than there is room for */
  u32 room, slot;
} told;

/* One of those who meet. */
typedef struct party {
  u32 number;
  double at[4], velocity[4]; /* and radius, 1 / mass */
} party;

FUNCTION void load_party(GLOBAL const real *rows, GLOBAL const u32 *facts, u32 place, party *p) {
  p->number = facts[FACTS * (u64)place + FACT_NUMBER];
  load(rows, place, ROW_POSITION, p->at);
  load(rows, place, ROW_VELOCITY, p->velocity);
}

/* A ball and another, a wall or a surface, that meet or have just met. */
typedef struct meeting {
  u32 number, partner, with, order; /* order: of the contacts with a surface */
  double point[3], normal[3], overlap, velocity[3];
} meeting;

FUNCTION void meet_balls(const party *a, const party *b, GLOBAL const double *frame, meeting *m) {
  double distance2 = 0, d[3];
  for (u32 k = 0; k < 3; k++) {
    d[k] = nearest_image(a->at[k] - b->at[k], frame[FRAME_PERIOD + k]);
    distance2 += d[k] * d[k];
  }
  double distance = SQRT(distance2);
  m->overlap = a->at[3] + b->at[3] - distance;
  double arm = a->at[3] - 0.5 * m->overlap;
  for (u32 k = 0; k < 3; k++) {
    m->normal[k] = distance > 0 ? d[k] / distance : k == 2 ? -1.0 : 0.0;
    m->point[k] = a->at[k] - arm * m->normal[k];
    m->velocity[k] = a->velocity[k] - b->velocity[k];
  }
  m->number = a->number;
  m->partner = b->number;
  m->with = EVENT_WITH_BALL;
  m->order = 0;
}

FUNCTION void meet_wall(const party *a, GLOBAL const double *wall, u32 number, meeting *m) {
  m->overlap = a->at[3] - wall_distance(wall, a->at);
  double arm = a->at[3] - 0.5 * m->overlap;
  for (u32 k = 0; k < 3; k++) {
    m->normal[k] = wall[WALL_NORMAL + k];
    m->point[k] = a->at[k] - arm * m->normal[k];
    m->velocity[k] = a->velocity[k];
  }
  m->number = a->number;
  m->partner = number;
  m->with = EVENT_WITH_WALL;
  m->order = 0;
}

FUNCTION void tell(told t, u32 kind, const meeting *m, double speed, double impulse) {
  u32 place = ADD_GLOBAL(t.count, 1u);
  if (place >= t.room) return;
  GLOBAL u64 *e = t.events + EVENT_FIELDS * (u64)place;
  e[0] = (u64)t.slot << 32 | (u64)(m->order << 4 | kind << 2 | m->with);
  e[1] = (u64)m->number << 32 | (u64)m->partner;
  for (u32 k = 0; k < 3; k++) {
    e[2 + k] = AS_U64(m->point[k]);
    e[5 + k] = AS_U64(m->normal[k]);
    e[11 + k] = AS_U64(m->velocity[k]);
  }
  e[8] = AS_U64(speed);
  e[9] = AS_U64(impulse);
  e[10] = AS_U64(m->overlap);
}

/* What a spring that is lost held. */
FUNCTION double lost_energy(GLOBAL const double *law, GLOBAL const double *kept, double share) {
  double x = kept[0], y = kept[1], z = kept[2];
  return share * 0.5 * law[LAW_K_T] * (x * x + y * y + z * z);
}

/* A contact has ended, perhaps with its spring strained. Of two balls the one with the lower number tells. What its
 * side of the spring held is lost. */
FUNCTION double end_of_balls(const party *a, const party *b, GLOBAL const double *law, GLOBAL const double *kept,
                             u32 features, GLOBAL const double *frame, told t) {
  double speed = 0, lost = 0;
  meeting m;
  if (features & FEATURE_SPRINGS) lost = lost_energy(law, kept, b->velocity[3] == 0 ? 1.0 : 0.5);
  if ((features & FEATURE_EVENTS) == 0 || a->number > b->number) return lost;
  meet_balls(a, b, frame, &m);
  for (u32 k = 0; k < 3; k++) speed += m.velocity[k] * m.normal[k];
  tell(t, EVENT_ENDED, &m, speed, kept[KEPT_SPRINGS(features) + 1]);
  return lost;
}

FUNCTION double end_at_wall(const party *a, u32 number, GLOBAL const double *wall, GLOBAL const double *law,
                            GLOBAL const double *kept, u32 features, told t) {
  double speed = 0, lost = 0;
  meeting m;
  if (features & FEATURE_SPRINGS) lost = lost_energy(law, kept, 1);
  if ((features & FEATURE_EVENTS) == 0) return lost;
  meet_wall(a, wall, number, &m);
  for (u32 k = 0; k < 3; k++) speed += m.velocity[k] * m.normal[k];
  tell(t, EVENT_ENDED, &m, speed, kept[KEPT_SPRINGS(features) + 1]);
  return lost;
}
