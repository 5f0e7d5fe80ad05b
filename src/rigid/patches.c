/* Contacts of two bodies of which one is a mesh.
 *
 * Such bodies may touch in many places, with a normal each. Pairs of triangles that are near come from the meshes'
 * hierarchies, touching features from these, and features with about the same normal are a patch, whose points are
 * reduced to four: a contact of its own for the solvers. The patches of a pair stand side by side in the list of
 * contacts. Points keep their impulses by their features, and friction by the normal that is most alike.
 *
 * Any shape can meet a mesh: a ball is what is within its radius of a mesh of one point, a capsule of one segment. */
#include "rigid/patches.h"

#include <stdlib.h>
#include <string.h>

#include "narrow/near.h"
#include "rigid/piercings.h"
#include "rigid/vector.h"

/* The cosine of two normals of one patch. */
static const double alike = 0.995;

/* The cosine of the normals of a patch and of the one before it whose friction it takes over. */
static const double akin = 0.9;

/* Overlaps are looked for to this part of what the thinner body is thick, and as far as bodies may come in a step
 * beyond those that are known. */
static const double deep = 0.1;

/* Of the thinner body: gaps below this part of it are contacts. */
static const double nearly = 1e-3;

/* Of the thinner body: with no more motion than that, patches are used again. */
static const double still = 0.005;

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

static graze_status make_mesh(graze_context *context, const double *points, uint32_t point_count,
                              const uint32_t *triangles, uint32_t triangle_count, graze_mesh **mesh) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = points;
  def.vertex_count = point_count;
  def.indices = triangles;
  def.triangle_count = triangle_count;
  def.precision = GRAZE_DOUBLE;
  return graze_mesh_create(context, &def, mesh);
}

/* The triangles of a polytope's faces, as fans. NULL: memory refused. */
static uint32_t *make_fans(const graze_context *context, const polytope *p, uint32_t *count) {
  uint32_t *triangles = gz_new(context, 3 * (size_t)p->face_first[p->face_count], sizeof *triangles);
  *count = 0;
  for (uint32_t f = 0; triangles != NULL && f < p->face_count; f++) {
    for (uint32_t i = p->face_first[f] + 1; i + 1 < p->face_first[f + 1]; i++, ++*count) {
      triangles[3 * *count] = p->face_corners[p->face_first[f]];
      triangles[3 * *count + 1] = p->face_corners[i];
      triangles[3 * *count + 2] = p->face_corners[i + 1];
    }
  }
  return triangles;
}

graze_status gz_rigid_need_surface(graze_rigid *world, rigid_body *b) {
  static const uint32_t point[3] = {0, 0, 0}, segment[3] = {0, 1, 1};
  graze_mesh *mesh;
  uint32_t count = 1;
  uint32_t *fans = NULL;
  if (b->surface != NULL || b->is_wall) return GRAZE_OK;
  const uint32_t *triangles = b->core.corner_count == 1 ? point : segment;
  if (b->core.face_count > 0) {
    triangles = fans = make_fans(world->context, &b->core, &count);
    if (fans == NULL) return gz_fail_memory(world->context, b->core.corner_count * sizeof *fans);
  }
  graze_status status = make_mesh(world->context, b->core.corners[0], b->core.corner_count, triangles, count, &mesh);
  gz_free(fans);
  if (status != GRAZE_OK) return status;
  b->surface = gz_surface_adopt(world->context, mesh);
  return b->surface != NULL ? GRAZE_OK : gz_fail_memory(world->context, sizeof *b->surface);
}

/* ---- touches ----------------------------------------------------------------------------------------------------- */

/* A pair in the making. */
typedef struct patching {
  const graze_rigid *world;
  const rigid_body *a, *b;
  rigid_worker *worker;
  double margin;
  bool is_near; /* some triangles are, whether they touch or not */
  rigid_stand stand;
  feature_frame frame; /* of b in a's coordinates */
} patching;

/* The smaller of the two. */
static const rigid_body *find_smaller(const patching *p) {
  return p->b->is_wall || p->a->reach < p->b->reach ? p->a : p->b;
}

/* Its place in the coordinates of the larger, for which a turn of a large one is a long way. */
static void find_stand(patching *p) {
  const rigid_body *smaller = find_smaller(p), *larger = smaller == p->a ? p->b : p->a;
  if (!larger->is_wall) {
    gz_rigid_find_stand(larger, smaller, &p->stand);
    return;
  }
  sub3(smaller->position, larger->position, p->stand.place);
  memcpy(p->stand.turn, smaller->orientation, sizeof p->stand.turn);
}

static void find_frame(patching *p) {
  double way[3];
  const rigid_body *a = p->a, *b = p->b;
  for (int i = 0; i < 9; i++) {
    p->frame.rotation[i] = 0;
    for (int k = 0; k < 3; k++) p->frame.rotation[i] += a->rotation[3 * k + i / 3] * b->rotation[3 * k + i % 3];
  }
  sub3(b->position, a->position, way);
  turn_back3(a->rotation, way, p->frame.place);
}

/* The same from where they stood when nothing was deep. */
static void find_frame_before(const patching *p, const rigid_stand *stand, feature_frame *frame) {
  double rotation[9];
  gz_rigid_find_rotation(stand->turn, rotation);
  memcpy(frame->rotation, rotation, sizeof rotation);
  memcpy(frame->place, stand->place, sizeof frame->place);
  if (find_smaller(p) == p->b) return;
  double back[3];
  turn_back3(rotation, stand->place, back);
  for (int i = 0; i < 9; i++) frame->rotation[i] = rotation[3 * (i % 3) + i / 3];
  for (int k = 0; k < 3; k++) frame->place[k] = -back[k];
}

static graze_status fail_memory(const patching *p) {
  return gz_fail_memory(p->world->context, sizeof(feature_touch));
}

/* All triangles of the two that are nearer than the limit. */
static graze_status list_pairs(const patching *p, double limit, const graze_triangle_pair **pairs, uint64_t *count) {
  graze_context *context = p->world->context;
  graze_query **query = &p->worker->query;
  const rigid_surface *s = p->a->surface, *t = p->b->surface;
  graze_pose poses[2] = {graze_pose_identity(), graze_pose_identity()};
  double shift[3];
  turn3(p->frame.rotation, t->center, shift);
  for (int k = 0; k < 3; k++) {
    poses[0].m[4 * k + 3] = -s->center[k];
    memcpy(poses[1].m + 4 * k, p->frame.rotation + 3 * k, 3 * sizeof(double));
    poses[1].m[4 * k + 3] = p->frame.place[k] - shift[k];
  }
  graze_status status = *query != NULL ? GRAZE_OK : graze_query_create(context, query);
  return status == GRAZE_OK ? gz_mesh_list_near(*query, s->mesh, &poses[0], t->mesh, &poses[1], limit, pairs, count)
                            : status;
}

/* The deepest of known points, as the bodies stand now. */
static double find_overlap(const patching *p, const rigid_contact *old, uint32_t old_count) {
  double most = 0;
  for (uint32_t k = 0; k < old_count; k++) {
    for (uint32_t i = 0; i < old[k].count; i++)
      most = fmax(most, 0 - gz_rigid_find_gap(p->a, p->b, &old[k], &old[k].points[i], NULL));
  }
  return most;
}

/* How deep what is new may be. What is deeper than the thicker body is thick may be its far side, coming out of the
 * thinner one. */
static double find_sudden_depth(const patching *p) {
  const double least = fmin(p->a->least, p->b->least), most = fmax(p->a->least, p->b->least);
  return fmax(deep * least, fmin(p->margin, isfinite(most) ? most : least));
}

/* How deep to look for what has come from outside. */
static double find_depth(const patching *p, double overlap) {
  return fmax(find_sudden_depth(p), fmin(p->margin + overlap, find_smaller(p)->reach));
}

static int compare_features(const void *x, const void *y) {
  const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

static bool list_known(const patching *p, const rigid_contact *old, uint32_t old_count, feature_limits *limits) {
  uint32_t count = 0;
  if (!gz_buffer_reserve(p->world->context, &p->worker->used, MOST_POINTS * old_count * sizeof count, 0)) return false;
  uint32_t *known = p->worker->used.data;
  for (uint32_t k = 0; k < old_count; k++) {
    for (uint32_t i = 0; i < old[k].count; i++) known[count++] = old[k].points[i].feature;
  }
  if (count > 0) qsort(known, count, sizeof *known, compare_features);
  limits->known = known;
  limits->known_count = count;
  return true;
}

static graze_status touch_surfaces(patching *p, const rigid_contact *old, uint32_t old_count) {
  const graze_triangle_pair *pairs = NULL;
  uint64_t count = 0;
  const double radius = p->a->radius + p->b->radius, depth = find_depth(p, find_overlap(p, old, old_count));
  find_frame(p);
  graze_status status = list_pairs(p, fmax(p->margin + radius, depth) * (1 + 0x1p-20), &pairs, &count);
  if (status != GRAZE_OK) return status;
  p->is_near = count > 0;
  const feature_side sides[2] = {{p->a->surface, p->a->radius}, {p->b->surface, p->b->radius}};
  feature_limits limits = {.margin = p->margin, .depth = depth + radius};
  limits.slight = deep * fmin(p->a->least, p->b->least) + radius;
  limits.sudden = find_sudden_depth(p) + radius;
  if (!list_known(p, old, old_count, &limits)) return fail_memory(p);
  feature_frame before;
  if (old[0].is_patch) {
    find_frame_before(p, &old[0].cache.at_axis, &before);
    limits.before = &before;
  }
  const graze_context *context = p->world->context;
  const bool good =
      gz_features_find(context, sides, &p->frame, pairs, count, &limits, &p->worker->claims, &p->worker->touches) &&
      gz_piercings_hold(context, sides, &p->frame, pairs, count, nearly * fmin(p->a->least, p->b->least),
                        &p->worker->touches);
  return good ? GRAZE_OK : fail_memory(p);
}

/* Every corner of a mesh that stands out and is near a wall. */
static graze_status touch_wall(const patching *p) {
  const rigid_surface *s = p->a->surface;
  const rigid_body *wall = p->b;
  double way[3], normal[3];
  turn_back3(p->a->rotation, wall->rotation, normal); /* a wall's first row is its normal */
  sub3(p->a->position, wall->position, way);
  const double height = dot3(wall->rotation, way);
  for (uint32_t i = 0; i < s->corner_count; i++) {
    const double gap = height + dot3(normal, s->corners[i]);
    if (gap > p->margin || !s->stands_out[i]) continue;
    if (!array_reserve(p->world->context, &p->worker->touches, 1, sizeof(feature_touch))) return fail_memory(p);
    feature_touch *t = RIGID_AT(p->worker->touches, feature_touch, p->worker->touches.count++);
    *t = (feature_touch){.gap = gap, .feature = i};
    memcpy(t->normal, normal, sizeof t->normal);
    memcpy(t->points[0], s->corners[i], sizeof t->points[0]);
    add_scaled3(s->corners[i], -gap, normal, t->points[1]);
  }
  return GRAZE_OK;
}

static int compare_touches(const void *x, const void *y) {
  const feature_touch *a = x, *b = y;
  if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
  return a->feature < b->feature ? -1 : a->feature > b->feature;
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* A point of b's, from a's coordinates to its own; of a wall, from its point along the world's axes. */
static void to_second(const patching *p, const double at[3], double own[3]) {
  double way[3];
  if (p->b->is_wall) {
    turn3(p->a->rotation, at, way);
    for (int k = 0; k < 3; k++) own[k] = way[k] + (p->a->position[k] - p->b->position[k]);
  } else {
    sub3(at, p->frame.place, way);
    turn_back3(p->frame.rotation, way, own);
  }
}

/* A patch in the making: room for all touches of the pair. */
typedef struct patch_room {
  bool *used;
  feature_touch **touches;
  patch_point *points;
  uint32_t count;
} patch_room;

static bool make_room(const patching *p, patch_room *room) {
  const size_t count = p->worker->touches.count;
  for (int pass = 0; pass < 2; pass++) {
    carving c = {pass == 0 ? NULL : p->worker->used.data, 0};
    room->used = gz_carve(&c, count * sizeof *room->used);
    room->touches = gz_carve(&c, count * sizeof(feature_touch *));
    room->points = gz_carve(&c, count * sizeof *room->points);
    if (pass == 0 && !gz_buffer_reserve(p->world->context, &p->worker->used, c.used, 0)) return false;
  }
  if (count > 0) memset(room->used, 0, count * sizeof *room->used);
  return true;
}

static void put_points(const patching *p, const patch_room *room, rigid_contact *c) {
  double normal[3];
  for (uint32_t i = 0; i < room->count; i++) {
    memcpy(room->points[i].at, room->touches[i]->points[0], sizeof room->points[i].at);
    room->points[i].gap = room->touches[i]->gap;
    room->points[i].feature = i;
  }
  memcpy(normal, room->touches[0]->normal, sizeof normal);
  c->count = gz_rigid_reduce(room->points, room->count, normal);
  turn3(p->a->rotation, normal, c->normal);
  for (uint32_t i = 0; i < c->count; i++) {
    const feature_touch *t = room->touches[room->points[i].feature];
    c->points[i] = (rigid_point){.feature = t->feature, .owner = t->owner, .gap = t->gap};
    memcpy(c->points[i].own[0], t->points[0], sizeof t->points[0]);
    to_second(p, t->points[1], c->points[i].own[1]);
  }
}

/* What is known of the pair from before: impulses of the same features, and friction. */
static void take_over(rigid_contact *c, const rigid_contact *old, uint32_t count) {
  double best = akin;
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t i = 0; i < c->count * old[k].count; i++) {
      const rigid_point *q = &old[k].points[i % old[k].count];
      if (c->points[i / old[k].count].feature == q->feature) c->points[i / old[k].count].pressed = q->pressed;
    }
    const double cosine = dot3(c->normal, old[k].normal);
    if (old[k].count == 0 || cosine <= best) continue;
    best = cosine;
    memcpy(c->dragged, old[k].dragged, sizeof c->dragged);
    memcpy(c->rolled, old[k].rolled, sizeof c->rolled);
    c->twisted = old[k].twisted;
    c->part = old[k].part;
    c->strained = old[k].strained;
    c->stiffened = old[k].stiffened;
  }
}

/* The next patch: the deepest touch that is left, and all with about its normal. */
static void gather(const gz_array *touches, size_t first, patch_room *room) {
  const double *normal = RIGID_AT(*touches, feature_touch, first)->normal;
  room->count = 0;
  for (size_t i = first; i < touches->count; i++) {
    feature_touch *t = RIGID_AT(*touches, feature_touch, i);
    if (room->used[i] || dot3(t->normal, normal) < alike) continue;
    room->used[i] = true;
    room->touches[room->count++] = t;
  }
}

/* Whether something overlaps by more than contacts at rest; touches are sorted. */
static bool is_deep(const patching *p) {
  const gz_array *touches = &p->worker->touches;
  const double slight = deep * fmin(p->a->least, p->b->least);
  return touches->count > 0 && RIGID_AT(*touches, feature_touch, 0)->gap < -slight;
}

static rigid_contact *add_patch(const patching *p, uint32_t number, const rigid_contact *old, uint32_t old_count) {
  gz_array *to = &p->worker->patches;
  if (!array_reserve(p->world->context, to, 1, sizeof(rigid_contact))) return NULL;
  rigid_contact *c = RIGID_AT(*to, rigid_contact, to->count++);
  memset(c, 0, sizeof *c);
  c->a = old[0].a;
  c->b = old[0].b;
  c->is_patch = true;
  c->patch = number;
  c->radii[0] = p->a->radius;
  c->radii[1] = p->b->radius;
  c->normal[2] = 1; /* of nothing yet, but a unit vector */
  c->cache.at_points = p->stand;
  c->cache.at_axis = is_deep(p) && old[0].is_patch ? old[0].cache.at_axis : p->stand;
  c->cache.margin = p->is_near && p->worker->touches.count == 0 ? -(double)INFINITY : p->margin;
  for (uint32_t k = 0; k < old_count && number == 0; k++) {
    c->touches = c->touches || old[k].touches;
    c->impulse += old[k].impulse;
    c->speed = fmax(c->speed, old[k].speed);
  }
  return c;
}

static graze_status make_patches(const patching *p, const rigid_contact *old, uint32_t old_count) {
  gz_array *touches = &p->worker->touches;
  patch_room room;
  uint32_t number = 0;
  if (!make_room(p, &room)) return fail_memory(p);
  if (touches->count > 0) qsort(touches->data, touches->count, sizeof(feature_touch), compare_touches);
  for (size_t i = 0; i < touches->count; i++) {
    if (room.used[i]) continue;
    gather(touches, i, &room);
    rigid_contact *c = add_patch(p, number++, old, old_count);
    if (c == NULL) return fail_memory(p);
    put_points(p, &room, c);
    take_over(c, old, old_count);
  }
  return number > 0 || add_patch(p, 0, old, old_count) != NULL ? GRAZE_OK : fail_memory(p);
}

/* ---- from step to step ------------------------------------------------------------------------------------------- */

/* No two have moved against each other so much that others could touch, or that points would be off. */
static bool use_again(const patching *p, double spare, const rigid_contact *old, uint32_t old_count) {
  const rigid_cache *known = &old[0].cache;
  if (!old[0].is_patch || old_count == 0) return false;
  const double shift = gz_rigid_find_shift(find_smaller(p)->reach, &known->at_points, &p->stand);
  if (p->margin - spare + shift > known->margin) return false;
  return old[0].count == 0 || shift <= still * fmin(p->a->least, p->b->least);
}

/* Without the spare ones. */
static bool copy_patches(const patching *p, const rigid_contact *old, uint32_t old_count) {
  gz_array *to = &p->worker->patches;
  while (old_count > 1 && old[old_count - 1].count == 0) old_count--;
  if (!array_reserve(p->world->context, to, old_count, sizeof *old)) return false;
  memcpy(RIGID_AT(*to, rigid_contact, to->count), old, old_count * sizeof *old);
  to->count += old_count;
  return true;
}

graze_status gz_rigid_find_patches(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double margin,
                                   double spare, const rigid_contact *old, uint32_t old_count, rigid_worker *worker) {
  patching p = {.world = world, .a = a, .b = b, .worker = worker, .margin = margin};
  find_stand(&p);
  if (use_again(&p, spare, old, old_count)) return copy_patches(&p, old, old_count) ? GRAZE_OK : fail_memory(&p);
  worker->touches.count = 0;
  graze_status status = b->is_wall ? touch_wall(&p) : touch_surfaces(&p, old, old_count);
  return status == GRAZE_OK ? make_patches(&p, old, old_count) : status;
}
