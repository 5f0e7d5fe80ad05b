/* From contacts to rows.
 *
 * A contact is a spring so stiff that what rests on it sinks by about a ten-thousandth of what it falls in a sub-step,
 * and that is damped so much that it pushes without throwing: the target is a speed, with which a part of the overlap
 * goes in a sub-step. A gap is closed no faster than in a sub-step, so that what comes near is stopped in time. */
#include "rigid/rows.h"

#include <string.h>

#include "rigid/vector.h"

/* Compliance along the normal and across, as a part of what the bodies give way: across, what holds creeps by so much
 * of what it would fall in a sub-step. */
static const double softness = 1e-4, softness_across = 5e-3;

/* Of an overlap, what goes in a sub-step. */
static const double recovery = 0.2;

enum { ROWS_BARE = 3, ROWS_ROLLING = 6 };

static bool rolls(const rigid_contact *c) {
  return c->rolling > 0 || c->spinning > 0;
}

uint32_t gz_rigid_count_rows(const rigid_contact *c) {
  return rolls(c) ? ROWS_ROLLING : ROWS_BARE;
}

const rigid_body *gz_rigid_partner(const rigid_system *s, uint32_t link, int which) {
  if (s->driven_of[link] != ROW_NOBODY && s->local[link][which] == ROW_NOBODY) return &s->driven[s->driven_of[link]];
  if (link < s->contact_count) {
    const rigid_contact *c = s->contacts[link];
    return rigid_body_at(s->world, which == 0 ? c->a : c->b);
  }
  const graze_joint_def *def = &s->joints[link - s->contact_count]->def;
  const uint32_t body = which == 0 ? def->a : def->b;
  return body != GRAZE_NO_BODY ? rigid_body_at(s->world, body) : &s->world->earth;
}

/* What `half` of a row gives way for an impulse of 1. */
static double give(const rigid_body *body, const double half[6]) {
  double turned[3];
  turn3(body->inverse_inertia, half + 3, turned);
  return body->inverse_mass * dot3(half, half) + dot3(half + 3, turned);
}

static double moving(const rigid_body *body, const double half[6]) {
  return dot3(half, body->velocity) + dot3(half + 3, body->spin);
}

double gz_rigid_fill_row(rigid_row *row, const rigid_system *s, uint32_t contact, const double direction[3],
                         double arms[2][3]) {
  double w = 0;
  memset(row, 0, sizeof *row);
  for (int side = 0; side < 2; side++) {
    const rigid_body *body = gz_rigid_partner(s, contact, side);
    double *half = side == 0 ? row->first : row->second, turn[3];
    const double sign = side == 0 ? 1 : -1;
    row->bodies[side] = s->local[contact][side];
    if (arms != NULL) cross3(arms[side], direction, turn);
    for (int k = 0; k < 3; k++) {
      half[k] = arms != NULL ? sign * direction[k] : 0;
      half[3 + k] = sign * (arms != NULL ? turn[k] : direction[k]);
    }
    if (row->bodies[side] != ROW_NOBODY)
      w += give(body, half);
    else if (!body->is_wall)
      row->offset += moving(body, half);
  }
  return w;
}

static void make_drag(rigid_row *rows, uint32_t width, uint32_t ruler, double limit, double w) {
  for (uint32_t i = 0; i < width; i++) {
    rows[i].law = ROW_DRAG;
    rows[i].ruler = ruler;
    rows[i].limit = limit;
    rows[i].width = i == 0 ? width : 0;
    rows[i].strength = limit > 0 ? 1 / (softness_across * w) : 0;
  }
}

/* r_a r_b / (r_a + r_b), of round ones; else that of the one that is round. */
static double reduced_radius(const rigid_contact *c) {
  const double r = c->radii[0], s = c->radii[1];
  return r > 0 && s > 0 ? r * s / (r + s) : r + s;
}

double gz_rigid_find_target(const rigid_system *s, double gap) {
  if (gap >= 0) return -gap / s->h;
  return fmin(recovery * -gap / s->h, s->world->def.push_speed);
}

static uint32_t make_point(rigid_system *s, uint32_t contact, const rigid_point *p, uint32_t at) {
  const rigid_contact *c = s->contacts[contact];
  const rigid_body *a = gz_rigid_partner(s, contact, 0), *b = gz_rigid_partner(s, contact, 1);
  double arms[2][3], across[2][3];
  rigid_row *rows = s->rows + at;
  const double gap = gz_rigid_find_gap(a, b, c, p, arms);
  const double w = gz_rigid_fill_row(&rows[0], s, contact, c->normal, arms);
  rows[0].law = ROW_PUSH;
  rows[0].target = gz_rigid_find_target(s, gap);
  rows[0].strength = 1 / (softness * w);
  rows[0].most = (double)INFINITY;
  rows[0].impulse = p->pressed;
  span3(c->normal, across[0], across[1]);
  double most = 0;
  for (int i = 0; i < 2; i++) {
    most = fmax(most, gz_rigid_fill_row(&rows[1 + i], s, contact, across[i], arms));
    rows[1 + i].offset -= dot3(across[i], c->surface);
  }
  make_drag(rows + 1, 2, at, c->friction, most);
  if (!rolls(c)) return at + ROWS_BARE;
  const double radius = reduced_radius(c);
  most = 0;
  for (int i = 0; i < 2; i++) most = fmax(most, gz_rigid_fill_row(&rows[3 + i], s, contact, across[i], NULL));
  make_drag(rows + 3, 2, at, c->rolling * radius, most);
  most = gz_rigid_fill_row(&rows[5], s, contact, c->normal, NULL);
  make_drag(rows + 5, 1, at, c->spinning * radius, most);
  return at + ROWS_ROLLING;
}

void gz_rigid_make_rows(rigid_system *s) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->contact_count; i++) {
    for (uint32_t k = 0; k < s->contacts[i]->count; k++) at = make_point(s, i, &s->contacts[i]->points[k], at);
  }
  for (uint32_t i = 0; i < s->joint_count; i++) at = gz_rigid_make_joint(s, i, at);
  s->row_count = at;
}

static bool bounces(const rigid_system *s, const rigid_contact *c, const rigid_row *row) {
  return c->restitution > 0 && row->impulse > 0 && row->approach < 0 && -row->approach >= s->world->def.rebound;
}

static bool any_bounces(const rigid_system *s) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->contact_count; i++) {
    const rigid_contact *c = s->contacts[i];
    const uint32_t rows = gz_rigid_count_rows(c);
    for (uint32_t k = 0; k < c->count; k++, at += rows) {
      if (bounces(s, c, &s->rows[at])) return true;
    }
  }
  return false;
}

/* Rows are made anew where the bodies are now, so that no impulse turns what it should not. */
bool gz_rigid_make_rebounds(rigid_system *s) {
  uint32_t at = 0;
  if (!any_bounces(s)) return false;
  for (uint32_t i = 0; i < s->contact_count; i++) {
    const rigid_contact *c = s->contacts[i];
    for (uint32_t k = 0; k < c->count; k++) {
      rigid_row *row = &s->rows[at];
      const bool back = bounces(s, c, row), held = row->impulse > 0;
      const double approach = row->approach;
      at = make_point(s, i, &c->points[k], at);
      row->approach = approach;
      row->target = back ? -c->restitution * approach : held ? 0 : fmin(row->target, 0);
    }
  }
  const uint32_t first = at;
  for (uint32_t i = 0; i < s->joint_count; i++) at = gz_rigid_make_joint(s, i, at);
  for (uint32_t i = first; i < at; i++) {
    s->rows[i].target = fmin(s->rows[i].target, 0);
    if (s->rows[i].least < 0) s->rows[i].target = 0;
    if (s->rows[i].is_once) s->rows[i].strength = 0;
  }
  return true;
}

void gz_rigid_keep_impulses(rigid_system *s, bool add) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->contact_count; i++) {
    rigid_contact *c = s->contacts[i];
    const uint32_t rows = gz_rigid_count_rows(c);
    c->part = s->h;
    for (uint32_t k = 0; k < c->count; k++, at += rows) {
      const rigid_row *row = &s->rows[at];
      if (!add) c->points[k].pressed = row->impulse;
      if (row->impulse > 0 && c->impulse == 0) c->speed = fmax(c->speed, 0 - row->approach);
    }
    at -= rows * c->count;
    for (uint32_t k = 0; k < c->count; k++, at += rows) {
      c->impulse += s->rows[at].impulse;
      c->now += s->rows[at].impulse;
    }
  }
}
