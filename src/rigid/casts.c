/* What lines meet first in a world of rigid bodies.
 *
 * Meshes are targets of rays, decided exactly. Every other shape is looked at in its own coordinates, by formulas: the
 * line is clipped by the planes of a polytope, and by the quadric of what is round about the line's own nearest point,
 * so that an origin that is far away costs no digits. */
#include <math.h>
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

/* Of a cylinder's radius: what is more than a prism of 24 sides has, and some; of reach and place: what boxes are wider
 * for rounding. */
static const double bulge = 0.01, rounding = 0x1p-40;

/* A line in some body's coordinates, and the part of it that is left. */
typedef struct cast_line {
  double from[3], way[3];
  double low, high;
  double normal[3]; /* where it enters, or 0 */
} cast_line;

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* What is left behind a plane, n . x <= d. */
static bool clip_plane(cast_line *l, const double normal[3], double d) {
  const double height = dot3(normal, l->from) - d, speed = dot3(normal, l->way);
  if (speed == 0) return height <= 0;
  const double t = -height / speed;
  if (speed > 0) {
    l->high = fmin(l->high, t);
  } else if (t > l->low) {
    l->low = t;
    memcpy(l->normal, normal, sizeof l->normal);
  }
  return l->low <= l->high;
}

static bool cast_polytope(const polytope *p, cast_line *l) {
  for (uint32_t f = 0; f < p->face_count; f++) {
    if (!clip_plane(l, p->planes[f], p->planes[f][3])) return false;
  }
  return true;
}

/* What is left within a radius of a centre, in so many of the coordinates: a ball of all three, a cylinder of two. */
static bool clip_round(cast_line *l, const double center[3], double radius, int axes) {
  double way[3] = {0, 0, 0}, from[3] = {0, 0, 0}, near[3];
  for (int k = 0; k < axes; k++) {
    way[k] = l->way[k];
    from[k] = l->from[k] - center[k];
  }
  const double square = dot3(way, way), middle = square > 0 ? -dot3(way, from) / square : 0;
  add_scaled3(from, middle, way, near);
  const double room = radius * radius - dot3(near, near);
  if (room < 0) return false;
  if (square == 0) return true;
  const double half = sqrt(room / square);
  if (middle - half > l->low) {
    l->low = middle - half;
    for (int k = 0; k < 3; k++) l->normal[k] = (near[k] - half * way[k]) / radius;
  }
  l->high = fmin(l->high, middle + half);
  return l->low <= l->high;
}

/* Between two lids across z. */
static bool clip_lids(cast_line *l, double half) {
  static const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
  return clip_plane(l, up, half) && clip_plane(l, down, half);
}

static bool cast_cylinder(cast_line *l, double radius, double length) {
  static const double origin[3] = {0, 0, 0};
  return clip_round(l, origin, radius, 2) && clip_lids(l, 0.5 * length);
}

/* The first of its cylinder and its two balls. */
static bool cast_capsule(cast_line *l, double radius, double length) {
  cast_line best = {.low = (double)INFINITY};
  for (int i = 0; i < 3; i++) {
    const double center[3] = {0, 0, i == 0 ? -0.5 * length : 0.5 * length};
    cast_line one = *l;
    if (!(i < 2 ? clip_round(&one, center, radius, 3) : length > 0 && cast_cylinder(&one, radius, length))) continue;
    if (one.low < best.low) best = one;
  }
  if (!(best.low < (double)INFINITY)) return false;
  *l = best;
  return true;
}

static bool cast_shape(const rigid_body *b, cast_line *l) {
  static const double origin[3] = {0, 0, 0};
  switch (b->shape) {
    case GRAZE_RIGID_SPHERE:
      return clip_round(l, origin, b->radius, 3);
    case GRAZE_RIGID_CAPSULE:
      return cast_capsule(l, b->radius, b->length);
    case GRAZE_RIGID_CYLINDER:
      return cast_cylinder(l, b->edges[0], b->length);
    default:
      return cast_polytope(&b->core, l);
  }
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

typedef struct casting {
  graze_rigid *world;
  const graze_rays *rays;
  graze_target_hit *meshed; /* of each line */
  const uint32_t *meshes;   /* the bodies that are meshes */
  graze_box *boxes;         /* of all bodies */
  graze_rigid_hit *hits;
} casting;

static cast_line line_of(const graze_rays *rays, uint64_t i) {
  cast_line l = {.high = rays->to != NULL ? 1 : (double)INFINITY};
  memcpy(l.from, rays->from + 3 * i, sizeof l.from);
  if (rays->to != NULL)
    sub3(rays->to + 3 * i, l.from, l.way);
  else
    memcpy(l.way, rays->way + 3 * i, sizeof l.way);
  if (rays->most != NULL) l.high = rays->most[i];
  return l;
}

static bool meets_box(const graze_box *box, cast_line l) {
  for (int k = 0; k < 3; k++) {
    double normal[3] = {0, 0, 0};
    for (int sign = -1; sign <= 1; sign += 2) {
      normal[k] = sign;
      if (!clip_plane(&l, normal, sign > 0 ? box->max[k] : -box->min[k])) return false;
    }
  }
  return true;
}

static void keep(graze_rigid_hit *hit, const cast_line *l, const double normal[3], graze_member member, uint32_t part) {
  *hit = (graze_rigid_hit){.hit = true, .member = member, .part = part, .t = l->low};
  for (int k = 0; k < 3; k++) {
    hit->point[k] = l->from[k] + l->low * l->way[k];
    hit->normal[k] = normal[k] + 0.0; /* -0 as 0 */
  }
}

/* A convex body, or a part of one that is posed, if it comes first. */
static void cast_convex(const rigid_body *b, const cast_line *line, uint32_t number, uint32_t part,
                        graze_rigid_hit *hit) {
  double way[3], normal[3];
  cast_line l = *line;
  sub3(line->from, b->position, way);
  turn_back3(b->rotation, way, l.from);
  turn_back3(b->rotation, line->way, l.way);
  if (!cast_shape(b, &l) || (hit->hit && l.low >= hit->t)) return;
  turn3(b->rotation, l.normal, normal);
  cast_line world = *line;
  world.low = l.low;
  keep(hit, &world, normal, (graze_member){GRAZE_MEMBER_BODY, 0, number}, part);
}

static void cast_body(const casting *c, uint32_t number, const cast_line *line, graze_rigid_hit *hit) {
  const rigid_body *b = rigid_body_at(c->world, number);
  if (b->shape == GRAZE_RIGID_MESH || b->is_sensor || !meets_box(&c->boxes[number], *line)) return;
  if (b->part_count == 0) cast_convex(b, line, number, 0, hit);
  for (uint32_t i = 0; i < b->part_count; i++) {
    rigid_body posed;
    gz_rigid_pose_part(b, i, &posed);
    cast_convex(&posed, line, number, i, hit);
  }
}

/* The body that the exact decision found, if it is before the others, or at their place and of a lower number. */
static void cast_mesh(const casting *c, uint64_t i, const cast_line *line, graze_rigid_hit *hit) {
  const graze_target_hit *found = &c->meshed[i];
  double normal[3];
  if (found->object == GRAZE_NO_TARGET) return;
  const uint32_t number = c->meshes[found->object];
  if (hit->hit && (found->earliest > hit->t || (found->earliest == hit->t && number > hit->member.index))) return;
  const rigid_body *b = rigid_body_at(c->world, number);
  cast_line l = *line;
  l.low = found->earliest;
  turn3(b->rotation, b->surface->faces[found->triangle].normal, normal);
  keep(hit, &l, normal, (graze_member){GRAZE_MEMBER_BODY, 0, number}, 0);
  hit->triangle = found->triangle;
}

static void cast_wall(const casting *c, uint32_t number, const cast_line *line, graze_rigid_hit *hit) {
  const rigid_body *wall = RIGID_AT(c->world->walls, rigid_body, number);
  cast_line l = *line;
  sub3(line->from, wall->position, l.from);
  if (!clip_plane(&l, wall->rotation, 0) || (hit->hit && l.low >= hit->t)) return;
  memcpy(l.from, line->from, sizeof l.from);
  keep(hit, &l, l.normal, (graze_member){GRAZE_MEMBER_WALL, 0, number}, 0);
}

static void cast_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const casting *c = argument;
  (void)index;
  for (uint32_t i = begin; i < end; i++) {
    const cast_line line = line_of(c->rays, i);
    graze_rigid_hit hit = {.hit = false};
    for (uint32_t k = 0; k < c->world->bodies.count; k++) cast_body(c, k, &line, &hit);
    cast_mesh(c, i, &line, &hit);
    for (uint32_t k = 0; k < c->world->walls.count; k++) cast_wall(c, k, &line, &hit);
    c->hits[i] = hit;
  }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* A body's mesh lies about its own origin. */
static graze_pose pose_of(const rigid_body *b) {
  graze_pose pose = graze_pose_from_quaternion(b->orientation, b->position);
  for (int k = 0; k < 3; k++) pose.m[4 * k + 3] -= dot3(pose.m + 4 * k, b->surface->center);
  return pose;
}

/* Contacts take a cylinder for a prism within it. */
static double find_bulge(const rigid_body *b) {
  double most = b->shape == GRAZE_RIGID_CYLINDER ? bulge * b->edges[0] : 0;
  for (uint32_t i = 0; i < b->part_count; i++) most = fmax(most, find_bulge(&b->parts[i]));
  return most;
}

static void find_box(const rigid_body *b, graze_box *box) {
  const double more = find_bulge(b) + rounding * (b->reach + length3(b->position));
  gz_rigid_find_box(b, box);
  for (int k = 0; k < 3; k++) {
    box->min[k] -= more;
    box->max[k] += more;
  }
}

/* Decides lines and meshes; also with no meshes, since it is here that lines are checked. */
static graze_status cast_meshes(const casting *c, const graze_mesh **meshes, graze_pose *poses, uint32_t *numbers) {
  graze_targets *targets;
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->world->bodies.count; i++) {
    const rigid_body *b = rigid_body_at(c->world, i);
    if (b->shape != GRAZE_RIGID_MESH || b->is_sensor) continue;
    meshes[count] = b->surface->mesh;
    poses[count] = pose_of(b);
    numbers[count++] = i;
  }
  graze_status status = graze_targets_create(c->world->context, count, meshes, poses, &targets);
  if (status != GRAZE_OK) return status;
  status = graze_rays_first(c->world->context, targets, c->rays, c->meshed);
  graze_targets_destroy(targets);
  return status;
}

static graze_status cast(casting *c) {
  const graze_context *context = c->world->context;
  const size_t bodies = c->world->bodies.count + 1;
  const graze_mesh **meshes = gz_new(context, bodies, sizeof *meshes);
  graze_pose *poses = gz_new(context, bodies, sizeof *poses);
  uint32_t *numbers = gz_new(context, bodies, sizeof *numbers);
  c->boxes = gz_new(context, bodies, sizeof *c->boxes);
  c->meshed = gz_new(context, c->rays->count + 1, sizeof *c->meshed);
  c->meshes = numbers;
  const bool good = meshes != NULL && poses != NULL && numbers != NULL && c->boxes != NULL && c->meshed != NULL;
  graze_status status =
      good ? cast_meshes(c, meshes, poses, numbers) : gz_fail_memory(context, c->rays->count * sizeof *c->meshed);
  if (status == GRAZE_OK) {
    for (uint32_t i = 0; i + 1 < bodies; i++) find_box(rigid_body_at(c->world, i), &c->boxes[i]);
    gz_parallel_for(c->world->context, (uint32_t)c->rays->count, 16, cast_range, c);
  }
  gz_free(meshes);
  gz_free(poses);
  gz_free(numbers);
  gz_free(c->boxes);
  gz_free(c->meshed);
  return status;
}

graze_status graze_rigid_cast_rays(graze_rigid *world, const graze_rays *rays, graze_rigid_hit *hits) {
  if (world == NULL || rays == NULL || hits == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (world->is_broken)
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "the world is broken: a step has failed");
  casting c = {.world = world, .rays = rays, .hits = hits};
  const unsigned saved = gz_fp_enter();
  graze_status status = cast(&c);
  gz_fp_leave(saved);
  return status;
}
