/* Balls against meshes that no force moves.
 *
 * A ball touches a surface where the distance of its centre to the surface is least among all places near by: in the
 * middle of a triangle, on an edge, or at a corner, each once. So a ball that rolls over the edge between two triangles
 * of a plane does not notice it, one in a concave corner has a contact with either side, and one on a convex edge has a
 * single one. Which triangles belong together is found from their places alone: meshes may be soups, have doubled
 * sheets, or edges that end within others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/world.h"
#include "mesh/mesh.h"
#include "narrow/near.h"

/* Places that are nearer to each other than this part of the radius are one. */
static const double same_place = 1e-6;

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

/* A point of the world in the mesh's own coordinates. */
static void to_mesh(const dem_surface *s, const double at[3], double out[3]) {
  double way[3];
  for (int k = 0; k < 3; k++) way[k] = at[k] - s->position[k];
  for (int k = 0; k < 3; k++) {
    const double *r = s->rotation + k;
    out[k] = ((r[0] * way[0] + r[3] * way[1]) + r[6] * way[2]) + s->center[k];
  }
}

void gz_surface_velocity(const dem_surface *s, const double at[3], double velocity[3]) {
  double way[3];
  for (int k = 0; k < 3; k++) way[k] = at[k] - s->position[k];
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

/* ---- the list -------------------------------------------------------------------------------------------------- */

/* The triangles near one ball. */
typedef struct facet_search {
  graze_world *world;
  const dem_surface *surface;
  double at[3], distance; /* in the mesh's coordinates */
  graze_status status;
} facet_search;

static bool list_facet(void *user, uint32_t triangle) {
  facet_search *s = user;
  neighbour_list *list = &s->world->list;
  double corners[9];
  mesh_corners(s->surface->mesh, triangle, corners);
  if (!(gz_triangle_nearest(corners, s->at).distance <= s->distance)) return true;
  const size_t bytes = (list->facet_count + 1) * sizeof(uint32_t);
  if (!gz_buffer_reserve(s->world->context, &list->buffers[5], bytes, bytes - sizeof(uint32_t))) {
    s->status = gz_fail_memory(s->world->context, bytes);
    return false;
  }
  if (list->facet_count == UINT32_MAX) {
    s->status = gz_fail(s->world->context, GRAZE_ERROR_LIMIT, "more than %u triangles near balls", UINT32_MAX);
    return false;
  }
  list->facets = list->buffers[5].data;
  list->facets[list->facet_count++] = triangle;
  return true;
}

static graze_status list_surface(graze_world *world, uint32_t place, uint32_t number) {
  neighbour_list *list = &world->list;
  const double *at = world->now.position[place];
  facet_search s = {.world = world, .surface = WORLD_AT(world->surfaces, dem_surface, number)};
  s.distance = at[3] + world->skin;
  double way2 = 0, far = s.surface->reach + s.distance;
  for (int k = 0; k < 3; k++) way2 += (at[k] - s.surface->position[k]) * (at[k] - s.surface->position[k]);
  if (way2 > far * far * (1 + 1e-9)) return GRAZE_OK;
  surface_entry e = {.place = place, .surface = number, .first = (uint32_t)list->facet_count};
  to_mesh(s.surface, at, s.at);
  gz_mesh_near(s.surface->mesh, s.at, s.distance * (1 + 1e-9), list_facet, &s);
  e.count = (uint32_t)list->facet_count - e.first;
  if (s.status != GRAZE_OK || e.count == 0) return s.status;
  const size_t bytes = (list->surface_count + 1) * sizeof e;
  if (!gz_buffer_reserve(world->context, &list->buffers[4], bytes, bytes - sizeof e))
    return gz_fail_memory(world->context, bytes);
  list->surfaces = list->buffers[4].data;
  list->surfaces[list->surface_count++] = e;
  if (e.count > list->most_facets) list->most_facets = e.count;
  return GRAZE_OK;
}

graze_status gz_surfaces_list(graze_world *world) {
  neighbour_list *list = &world->list;
  graze_status status = GRAZE_OK;
  list->surface_count = list->facet_count = list->most_facets = 0;
  for (uint32_t p = 0; p < world->count && world->surfaces.count > 0; p++) {
    if (world->now.velocity[p][3] == 0) continue;
    for (uint32_t i = 0; status == GRAZE_OK && i < world->surfaces.count; i++) status = list_surface(world, p, i);
  }
  const size_t bytes = list->facet_count * sizeof(spring);
  if (status == GRAZE_OK && world->remembers && !gz_buffer_reserve(world->context, &list->buffers[6], bytes, 0))
    return gz_fail_memory(world->context, bytes);
  list->facet_normals = list->buffers[6].data;
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
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* Where the ball around `at` is nearest to the triangle. */
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
static bool is_least(const graze_mesh *mesh, const facet_contact *found, uint32_t i, const double at[3], double slack) {
  double place[3], other[3];
  nearest_place(&found[i], at, place);
  for (uint32_t j = 0; j < i; j++) {
    nearest_place(&found[j], at, other);
    if (is_within(place, other, slack) && (found[j].is_least || found[i].is_rim)) return false;
    if (found[i].is_rim && is_on(mesh, found[j].triangle, place, slack)) return false;
  }
  return true;
}

/* Triangles that the ball meets, nearest first. */
static uint32_t find_met(const graze_world *world, const surface_entry *e, const double at[3], double radius,
                         bool closed, facet_contact *found) {
  const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, e->surface);
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->count; i++) {
    double corners[9];
    facet_contact c = {.triangle = world->list.facets[e->first + i], .slot = NO_SLOT};
    mesh_corners(s->mesh, c.triangle, corners);
    const near_point near = gz_triangle_nearest(corners, at);
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
  const double *at = world->now.position[e->place], slack = same_place * at[3];
  double local[3];
  to_mesh(s, at, local);
  const uint32_t met = find_met(world, e, local, at[3], closed, found);
  uint32_t count = 0;
  for (uint32_t i = 0; i < met; i++) found[i].is_least = is_least(s->mesh, found, i, local, slack);
  for (uint32_t i = 0; i < met; i++) {
    if (!found[i].is_least) continue;
    found[count] = found[i];
    place_contact(s, at, &found[count++]);
  }
  if (world->remembers) recall(world, e, found, count);
  return count;
}
