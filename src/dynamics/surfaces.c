/* Balls against meshes that no force moves.
 *
 * A ball touches a surface where the distance of its centre to the surface is least among all places near by: in the
 * middle of a triangle, on an edge, or at a corner, each once. So a ball that rolls over the edge between two triangles
 * of a plane does not notice it, one in a concave corner has a contact with either side, and one on a convex edge has a
 * single one. Which triangles belong together is found from their places alone: meshes may be soups, have doubled
 * sheets, or edges that end within others.
 *
 * Along periodic axes a mesh is repeated, and it and its images are one surface: a floor as wide as the period has no
 * seam. Of each triangle near a ball the list says of which image it is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/world.h"
#include "mesh/mesh.h"
#include "narrow/near.h"

/* Places that are nearer to each other than this part of the radius are one. */
static const double same_place = 1e-6;

/* Periods that a mesh may be long. */
static const double most_periods = 64;

/* ---- one surface ----------------------------------------------------------------------------------------------- */

void gz_surface_set_rotation(dem_surface *s, const double q[4]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rotation[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                              2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                              2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(s->rotation, rotation, sizeof rotation);
}

static void rotate(const dem_surface *s, const double x[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    const double *r = s->rotation + 3 * k;
    out[k] = (r[0] * x[0] + r[1] * x[1]) + r[2] * x[2];
  }
}

/* How many periods an image is away. */
typedef int32_t image_number[3];

/* A point of the world in the mesh's own coordinates, or those of an image. */
static void to_mesh(const dem_surface *s, const double at[3], const image_number image, double out[3]) {
  double way[3];
  for (int k = 0; k < 3; k++) way[k] = at[k] - (s->position[k] + image[k] * s->period[k]);
  for (int k = 0; k < 3; k++) {
    const double *r = s->rotation + k;
    out[k] = ((r[0] * way[0] + r[3] * way[1]) + r[6] * way[2]) + s->center[k];
  }
}

void gz_surface_velocity(const dem_surface *s, const double at[3], double velocity[3]) {
  double way[3];
  for (int k = 0; k < 3; k++) {
    way[k] = at[k] - s->position[k];
    if (s->period[k] != 0) way[k] -= s->period[k] * floor(way[k] / s->period[k] + 0.5);
  }
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    velocity[k] = s->velocity[k] + (s->spin[l] * way[m] - s->spin[m] * way[l]);
  }
}

/* The centre of the volume of a closed mesh whose triangles all face one way, from the tetrahedra between a corner and
 * the triangles; of any other its origin. */
static void find_center(const graze_mesh *mesh, const graze_mesh_facts *facts, double center[3]) {
  double first[9], corners[9], volume = 0, sum[3] = {0}, size = 0;
  memset(center, 0, 3 * sizeof *center);
  if (!facts->closed || !facts->oriented) return;
  for (int k = 0; k < 3; k++) size = fmax(size, facts->box.max[k] - facts->box.min[k]);
  graze_mesh_get_triangle(mesh, 0, first);
  for (uint32_t t = 0; t < graze_mesh_triangle_count(mesh); t++) {
    graze_mesh_get_triangle(mesh, t, corners);
    for (int i = 0; i < 9; i++) corners[i] = (corners[i] - first[i % 3]) / size;
    const double *a = corners, *b = corners + 3, *c = corners + 6;
    double six =
        a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    volume += six;
    for (int k = 0; k < 3; k++) sum[k] += six * 0.25 * (a[k] + b[k] + c[k]);
  }
  for (int k = 0; k < 3 && volume != 0; k++) center[k] = first[k] + size * (sum[k] / volume);
}

/* The periods, and whether the mesh is not too long for them. */
static graze_status set_periods(const graze_world *world, dem_surface *s, const char *name) {
  for (int k = 0; k < 3; k++) {
    s->period[k] = world_period(world, k);
    if (s->period[k] == 0 || 2 * s->reach <= most_periods * s->period[k]) continue;
    return gz_fail(world->context, GRAZE_ERROR_LIMIT, "body '%.60s': its mesh is more than %g periods long along %c",
                   name, most_periods, "xyz"[k]);
  }
  return GRAZE_OK;
}

graze_status gz_surface_add(graze_world *world, const graze_body_def *def, const dem_body *body) {
  graze_mesh_facts facts;
  dem_surface s = {.mesh = def->mesh, .body = (uint32_t)world->bodies.count, .material = def->material};
  double reach2 = 0;
  graze_mesh_get_facts(def->mesh, &facts);
  find_center(def->mesh, &facts, s.center);
  gz_surface_set_rotation(&s, body->orientation);
  for (int k = 0; k < 3 && facts.triangles > 0; k++) {
    double far = fmax(facts.box.max[k] - s.center[k], s.center[k] - facts.box.min[k]);
    reach2 += far * far;
  }
  s.reach = sqrt(reach2);
  rotate(&s, s.center, s.position);
  bool finite = isfinite(s.reach);
  for (int k = 0; k < 3; k++) {
    s.position[k] += def->position[k];
    s.velocity[k] = def->type == GRAZE_BODY_KINEMATIC ? def->velocity[k] : 0;
    s.spin[k] = def->type == GRAZE_BODY_KINEMATIC ? def->spin[k] : 0;
    finite &= isfinite(s.position[k]);
  }
  if (!finite)
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "body '%.60s': its mesh is too large", body->name);
  const graze_status status = set_periods(world, &s, body->name);
  if (status != GRAZE_OK) return status;
  if (!array_reserve(world->context, &world->surfaces, 1, sizeof s)) return gz_fail_memory(world->context, sizeof s);
  *WORLD_AT(world->surfaces, dem_surface, world->surfaces.count++) = s;
  return GRAZE_OK;
}

void gz_surface_get(const dem_surface *s, graze_body_def *def) {
  double way[3];
  rotate(s, s->center, way);
  def->mesh = s->mesh;
  def->material = s->material;
  for (int k = 0; k < 3; k++) {
    def->position[k] = s->position[k] - way[k];
    def->center[k] = s->position[k];
    def->velocity[k] = s->velocity[k];
    def->spin[k] = s->spin[k];
  }
}

void gz_surfaces_move(graze_world *world, double dt) {
  double farthest = 0;
  for (size_t i = 0; i < world->surfaces.count; i++) {
    dem_surface *s = WORLD_AT(world->surfaces, dem_surface, i);
    const dem_body *body = WORLD_AT(world->bodies, dem_body, s->body);
    if (body->type != GRAZE_BODY_KINEMATIC) continue;
    double speed2 = 0, spin2 = 0;
    for (int k = 0; k < 3; k++) {
      s->position[k] += dt * s->velocity[k];
      speed2 += s->velocity[k] * s->velocity[k];
      spin2 += s->spin[k] * s->spin[k];
    }
    gz_surface_set_rotation(s, body->orientation);
    farthest = fmax(farthest, dt * (sqrt(speed2) + sqrt(spin2) * s->reach));
  }
  world->surface_way += farthest * (1 + 1e-9);
}

static double largest_radius(const graze_world *world) {
  double largest = 0;
  for (uint32_t p = 0; p < world->count; p++) largest = fmax(largest, world->now[p].position[3]);
  return largest;
}

/* Images that turn meet each other where the mesh reaches half a period, unless they turn about the axis along which
 * they are repeated; and then it would not be known which of them a ball touches. */
graze_status gz_surfaces_check(const graze_world *world) {
  for (size_t i = 0; i < world->surfaces.count; i++) {
    const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, i);
    for (int k = 0; k < 3; k++) {
      if (s->period[k] == 0 || (s->spin[(k + 1) % 3] == 0 && s->spin[(k + 2) % 3] == 0)) continue;
      if (s->reach + largest_radius(world) < 0.5 * s->period[k]) continue;
      return gz_fail(world->context, GRAZE_ERROR_ARGUMENT,
                     "body '%.60s': it turns, and its mesh reaches half the period along %c",
                     WORLD_AT(world->bodies, dem_body, s->body)->name, "xyz"[k]);
    }
  }
  return GRAZE_OK;
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

typedef struct near_facet {
  uint32_t triangle;
  image_number image;
} near_facet;

/* A piece of the list, of as many balls: so it is the same for any number of threads. */
typedef struct list_piece {
  gz_array entries, facets; /* surface_entry, whose `first` is within the piece; near_facet */
  uint32_t most_facets;
  graze_status status;
} list_piece;

struct surface_lists {
  list_piece pieces[PARALLEL_PIECES];
  buffer memory;
  image_number *images; /* of list->facets; NULL: nothing is periodic */
};

void gz_surfaces_release(graze_world *world) {
  struct surface_lists *lists = world->surface_lists;
  if (lists == NULL) return;
  for (int i = 0; i < PARALLEL_PIECES; i++) {
    gz_free(lists->pieces[i].entries.data);
    gz_free(lists->pieces[i].facets.data);
  }
  gz_buffer_release(world->context, &lists->memory);
  gz_free(lists);
}

/* The triangles near one ball. */
typedef struct facet_search {
  const graze_world *world;
  const dem_surface *surface;
  list_piece *piece;
  image_number image;
  double at[3], distance; /* in the coordinates of the image */
} facet_search;

static bool list_facet(void *user, uint32_t triangle) {
  facet_search *s = user;
  gz_array *facets = &s->piece->facets;
  double corners[9];
  mesh_corners(s->surface->mesh, triangle, corners);
  if (!(gz_triangle_nearest(corners, s->at).distance <= s->distance)) return true;
  if (!array_reserve(s->world->context, facets, 1, sizeof(near_facet))) {
    s->piece->status = gz_fail_memory(s->world->context, sizeof(near_facet));
    return false;
  }
  near_facet *f = WORLD_AT(*facets, near_facet, facets->count++);
  f->triangle = triangle;
  memcpy(f->image, s->image, sizeof f->image);
  return true;
}

/* Which images along an axis may have the ball, at `way` from the mesh's position, within `far`. False: too far away
 * to be numbered. */
static bool images_along(double way, double far, double period, int32_t range[2]) {
  range[0] = range[1] = 0;
  if (period == 0) {
    if (fabs(way) > far) range[1] = -1;
    return true;
  }
  const double low = ceil((way - far) / period), high = floor((way + far) / period);
  if (!(fabs(low) < INT32_MAX && fabs(high) < INT32_MAX)) return false;
  range[0] = (int32_t)low;
  range[1] = (int32_t)high;
  return true;
}

static void list_image(facet_search *s, const double at[3]) {
  if (s->piece->status != GRAZE_OK) return;
  to_mesh(s->surface, at, s->image, s->at);
  gz_mesh_near(s->surface->mesh, s->at, s->distance * (1 + 1e-9), list_facet, s);
}

static void list_images(facet_search *s, const double at[3]) {
  const dem_surface *surface = s->surface;
  const double far = (surface->reach + s->distance) * (1 + 1e-9);
  int32_t range[3][2];
  for (int k = 0; k < 3; k++) {
    if (images_along(at[k] - surface->position[k], far, surface->period[k], range[k])) continue;
    s->piece->status = gz_fail(s->world->context, GRAZE_ERROR_LIMIT, "body '%.60s' has gone too many periods along %c",
                               WORLD_AT(s->world->bodies, dem_body, surface->body)->name, "xyz"[k]);
    return;
  }
  for (s->image[0] = range[0][0]; s->image[0] <= range[0][1]; s->image[0]++) {
    for (s->image[1] = range[1][0]; s->image[1] <= range[1][1]; s->image[1]++) {
      for (s->image[2] = range[2][0]; s->image[2] <= range[2][1]; s->image[2]++) list_image(s, at);
    }
  }
}

static void list_surface(const graze_world *world, uint32_t place, uint32_t number, list_piece *piece) {
  const double *at = world->now[place].position;
  facet_search s = {.world = world,
                    .surface = WORLD_AT(world->surfaces, dem_surface, number),
                    .piece = piece,
                    .distance = at[3] + world->skin};
  surface_entry e = {.place = place, .surface = number, .first = (uint32_t)piece->facets.count};
  list_images(&s, at);
  e.count = (uint32_t)piece->facets.count - e.first;
  if (piece->status != GRAZE_OK || e.count == 0) return;
  if (!array_reserve(world->context, &piece->entries, 1, sizeof e)) {
    piece->status = gz_fail_memory(world->context, sizeof e);
    return;
  }
  *WORLD_AT(piece->entries, surface_entry, piece->entries.count++) = e;
  if (e.count > piece->most_facets) piece->most_facets = e.count;
}

typedef struct list_loop {
  graze_world *world;
  pieces pieces;
} list_loop;

static void list_piece_of(void *argument, uint32_t index) {
  const list_loop *loop = argument;
  const graze_world *world = loop->world;
  list_piece *piece = &world->surface_lists->pieces[index];
  piece->entries.count = piece->facets.count = piece->most_facets = 0;
  piece->status = GRAZE_OK;
  for (uint64_t p = pieces_begin(&loop->pieces, index), end = pieces_end(&loop->pieces, index); p < end; p++) {
    if (world->now[p].velocity[3] == 0) continue;
    for (uint32_t i = 0; piece->status == GRAZE_OK && i < world->surfaces.count; i++)
      list_surface(world, (uint32_t)p, i, piece);
  }
}

/* Room for all that the pieces have; the first failure of a piece is the list's. */
static graze_status reserve_list(graze_world *world, uint32_t number) {
  neighbour_list *list = &world->list;
  struct surface_lists *lists = world->surface_lists;
  const graze_context *context = world->context;
  uint64_t entries = 0, facets = 0;
  for (uint32_t i = 0; i < number; i++) {
    if (lists->pieces[i].status != GRAZE_OK) return lists->pieces[i].status;
    entries += lists->pieces[i].entries.count;
    facets += lists->pieces[i].facets.count;
  }
  if (facets > UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "more than %u triangles near balls", UINT32_MAX);
  const bool is_periodic = world->def.periodic[0] || world->def.periodic[1] || world->def.periodic[2];
  const size_t images = is_periodic ? facets * sizeof(image_number) : 0;
  if (!gz_buffer_reserve(context, &list->buffers[4], entries * sizeof(surface_entry), 0) ||
      !gz_buffer_reserve(context, &list->buffers[5], facets * sizeof(uint32_t), 0) ||
      (world->remembers && !gz_buffer_reserve(context, &list->buffers[6], facets * sizeof(spring), 0)) ||
      !gz_buffer_reserve(context, &lists->memory, images, 0))
    return gz_fail_memory(context, facets * sizeof(spring));
  list->surfaces = list->buffers[4].data;
  list->facets = list->buffers[5].data;
  list->facet_normals = list->buffers[6].data;
  lists->images = is_periodic ? lists->memory.data : NULL;
  return GRAZE_OK;
}

static void join_piece(neighbour_list *list, image_number *images, const list_piece *piece) {
  for (size_t i = 0; i < piece->entries.count; i++) {
    surface_entry e = *WORLD_AT(piece->entries, surface_entry, i);
    e.first += (uint32_t)list->facet_count;
    list->surfaces[list->surface_count++] = e;
  }
  for (size_t i = 0; i < piece->facets.count; i++) {
    const near_facet *f = WORLD_AT(piece->facets, near_facet, i);
    if (images != NULL) memcpy(images[list->facet_count], f->image, sizeof f->image);
    list->facets[list->facet_count++] = f->triangle;
  }
  if (piece->most_facets > list->most_facets) list->most_facets = piece->most_facets;
}

graze_status gz_surfaces_list(graze_world *world) {
  neighbour_list *list = &world->list;
  list_loop loop = {world, pieces_of(world->count, 256)};
  list->surface_count = list->facet_count = list->most_facets = 0;
  if (world->surfaces.count == 0) return GRAZE_OK;
  if (world->surface_lists == NULL)
    world->surface_lists = gz_new_zeroed(world->context, 1, sizeof *world->surface_lists);
  if (world->surface_lists == NULL) return gz_fail_memory(world->context, sizeof *world->surface_lists);
  gz_parallel_each(world->context, loop.pieces.number, list_piece_of, &loop);
  const graze_status status = reserve_list(world, loop.pieces.number);
  for (uint32_t i = 0; status == GRAZE_OK && i < loop.pieces.number; i++)
    join_piece(list, world->surface_lists->images, &world->surface_lists->pieces[i]);
  return status;
}

uint64_t gz_list_first_surface(const neighbour_list *list, uint32_t place) {
  uint64_t low = 0, high = list->surface_count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (list->surfaces[middle].place < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint64_t gz_list_find_surface(const neighbour_list *list, uint32_t place, uint32_t surface) {
  for (uint64_t e = gz_list_first_surface(list, place); e < list->surface_count; e++) {
    if (list->surfaces[e].place != place) break;
    if (list->surfaces[e].surface == surface) return e;
  }
  return UINT64_MAX;
}

/* ---- contacts -------------------------------------------------------------------------------------------------- */

static int compare(const void *first, const void *second) {
  const facet_contact *a = first, *b = second;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  if (a->triangle != b->triangle) return a->triangle < b->triangle ? -1 : 1;
  for (int k = 0; k < 3; k++) {
    if (a->at[k] != b->at[k]) return a->at[k] < b->at[k] ? -1 : 1;
  }
  return 0;
}

/* Where the ball is nearest to the triangle, `at` being its centre. */
static void nearest_place(const facet_contact *c, const double at[3], double place[3]) {
  for (int k = 0; k < 3; k++) place[k] = at[k] - c->distance * c->normal[k];
}

static bool is_within(const double a[3], const double b[3], double distance) {
  double way2 = 0;
  for (int k = 0; k < 3; k++) way2 += (a[k] - b[k]) * (a[k] - b[k]);
  return way2 <= distance * distance;
}

static bool is_on(const graze_mesh *mesh, uint32_t triangle, const double place[3], double slack) {
  double corners[9];
  mesh_corners(mesh, triangle, corners);
  for (int k = 0; k < 3; k++) {
    double low = fmin(fmin(corners[k], corners[3 + k]), corners[6 + k]);
    double high = fmax(fmax(corners[k], corners[3 + k]), corners[6 + k]);
    if (place[k] < low - slack || place[k] > high + slack) return false;
  }
  return gz_triangle_nearest(corners, place).distance <= slack;
}

/* Whether the distance is least there: false where it is that of a contact before, or where a nearer triangle goes on
 * from the rim. The nearest of all always is. */
static bool is_least(const graze_mesh *mesh, const facet_contact *found, uint32_t i, double slack) {
  double place[3], other[3];
  for (uint32_t j = 0; j < i; j++) {
    nearest_place(&found[i], found[j].at, place);
    nearest_place(&found[j], found[j].at, other);
    if (is_within(place, other, slack) && (found[j].is_least || found[i].is_rim)) return false;
    if (found[i].is_rim && is_on(mesh, found[j].triangle, place, slack)) return false;
  }
  return true;
}

/* The centre of the ball in the coordinates of the image of which triangle `facet` of the list is. If it has come in on
 * another side since the list was made, it is that many images farther. */
static void place_ball(const graze_world *world, const surface_entry *e, uint64_t facet, double at[3]) {
  const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, e->surface);
  const double *x = world->now[e->place].position;
  image_number image = {0};
  for (int k = 0; k < 3 && world->surface_lists->images != NULL; k++) {
    const double way = x[k] - world_origin(world, e->place, k), half = 0.5 * s->period[k];
    image[k] = world->surface_lists->images[facet][k];
    if (s->period[k] != 0) image[k] += (way > half) - (way < -half);
  }
  to_mesh(s, x, image, at);
}

/* Triangles that the ball meets, nearest first. */
static uint32_t find_met(const graze_world *world, const surface_entry *e, double radius, bool closed,
                         facet_contact *found) {
  const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, e->surface);
  uint32_t count = 0;
  double at[3], corners[9];
  for (uint32_t i = 0; i < e->count; i++) {
    facet_contact c = {.triangle = world->list.facets[e->first + i], .slot = NO_SLOT};
    mesh_corners(s->mesh, c.triangle, corners);
    if (i == 0 || world->surface_lists->images != NULL) place_ball(world, e, (uint64_t)e->first + i, at);
    memcpy(c.at, at, sizeof at);
    const near_point near = gz_triangle_nearest(corners, c.at);
    if (closed ? !(near.distance <= radius) : !(near.distance < radius)) continue;
    memcpy(c.normal, near.normal, sizeof c.normal);
    c.distance = near.distance;
    c.is_rim = !near.inside;
    found[count++] = c;
  }
  if (count > 1) qsort(found, count, sizeof *found, compare);
  return count;
}

/* From the mesh's coordinates to the world's. */
static void place_contact(const dem_surface *s, const double *at, facet_contact *c) {
  double normal[3], point[3];
  memcpy(normal, c->normal, sizeof normal);
  rotate(s, normal, c->normal);
  double arm = at[3] - 0.5 * (at[3] - c->distance);
  for (int k = 0; k < 3; k++) point[k] = at[k] - arm * c->normal[k];
  gz_surface_velocity(s, point, c->velocity);
}

static bool is_taken(const facet_contact *found, uint32_t count, uint32_t slot) {
  for (uint32_t i = 0; i < count; i++) {
    if (found[i].slot == slot) return true;
  }
  return false;
}

/* Contacts go on by their normals: those that are most alike first. A contact may so go from triangle to triangle, or
 * around an edge. */
static void recall(const graze_world *world, const surface_entry *e, facet_contact *found, uint32_t count) {
  const neighbour_list *list = &world->list;
  const contact_memory *memory = &list->of_facets;
  for (;;) {
    double best = 0.5;
    uint32_t who = NO_SLOT, what = NO_SLOT;
    for (uint32_t j = 0; j < e->count && memory->touching[e->first + j]; j++) {
      if (is_taken(found, count, j)) continue;
      const double *n = list->facet_normals[e->first + j];
      for (uint32_t i = 0; i < count; i++) {
        const double *m = found[i].normal, alike = (n[0] * m[0] + n[1] * m[1]) + n[2] * m[2];
        if (found[i].slot != NO_SLOT || !(alike > best)) continue;
        best = alike;
        who = i;
        what = j;
      }
    }
    if (who == NO_SLOT) return;
    found[who].slot = what;
    if (memory->springs != NULL) memcpy(found[who].strain, memory->springs[e->first + what], sizeof(spring));
    if (memory->hits != NULL) memcpy(found[who].hit, memory->hits[e->first + what], sizeof found[who].hit);
  }
}

uint32_t gz_surface_contacts(const graze_world *world, const surface_entry *e, bool closed, facet_contact *found) {
  const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, e->surface);
  const double *at = world->now[e->place].position, slack = same_place * at[3];
  const uint32_t met = find_met(world, e, at[3], closed, found);
  uint32_t count = 0;
  for (uint32_t i = 0; i < met; i++) found[i].is_least = is_least(s->mesh, found, i, slack);
  for (uint32_t i = 0; i < met; i++) {
    if (!found[i].is_least) continue;
    found[count] = found[i];
    place_contact(s, at, &found[count++]);
  }
  if (world->remembers) recall(world, e, found, count);
  return count;
}

/* ---- what contacts remember ------------------------------------------------------------------------------------ */

static void get_kept(const graze_world *world, const surface_entry *e, uint32_t slot, graze_kept_contact *to) {
  const contact_memory *m = &world->list.of_facets;
  *to = (graze_kept_contact){.number = world->number[e->place],
                             .partner = e->surface,
                             .with = GRAZE_PARTNER_SURFACE,
                             .order = slot - e->first};
  memcpy(to->normal, world->list.facet_normals[slot], sizeof to->normal);
  if (m->springs != NULL) memcpy(to->spring, m->springs[slot], sizeof to->spring);
  if (m->hits != NULL) memcpy(to->hit, m->hits[slot], sizeof to->hit);
}

uint64_t gz_surfaces_keep(const graze_world *world, graze_kept_contact *to) {
  const neighbour_list *list = &world->list;
  uint64_t count = 0;
  if (!world->remembers || !world->is_listed) return 0;
  for (uint64_t i = 0; i < list->surface_count; i++) {
    const surface_entry *e = &list->surfaces[i];
    for (uint32_t slot = e->first; slot < e->first + e->count && list->of_facets.touching[slot]; slot++, count++) {
      if (to != NULL) get_kept(world, e, slot, &to[count]);
    }
  }
  return count;
}

void gz_surface_take(graze_world *world, const graze_kept_contact *at) {
  const neighbour_list *list = &world->list;
  const contact_memory *m = &list->of_facets;
  const uint32_t place = world->place[at->number];
  const uint64_t found = gz_list_find_surface(list, place, at->partner);
  const surface_entry none = {0}, *e = found != UINT64_MAX ? &list->surfaces[found] : &none;
  for (uint32_t i = e->first; i < e->first + e->count; i++) {
    if (m->touching[i]) continue;
    m->touching[i] = 1;
    if (m->springs != NULL) memcpy(m->springs[i], at->spring, sizeof at->spring);
    if (m->hits != NULL) memcpy(m->hits[i], at->hit, sizeof at->hit);
    memcpy(list->facet_normals[i], at->normal, sizeof(spring));
    return;
  }
  gz_contact_lose(world, place, PARTNER_SURFACE, at, at->normal);
}
