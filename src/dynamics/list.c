/* The neighbour list: who may touch whom while nobody has moved more than half the skin (L. Verlet, 1967).
 *
 * A search for spheres that are half the skin too large gives it; any radii will do. Now and then balls are sorted
 * along a curve through a grid first (G. M. Morton, 1966), so that neighbours are near in memory. What contacts
 * remember goes from list to list by numbers. Everything that reads the list leaves out who does not touch, so that no
 * result depends on when it was made.
 */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "dynamics/world.h"

enum { SORT_EVERY = 16 /* lists: by then a settling bed has stirred */ };

/* ---- memory of contacts ---------------------------------------------------------------------------------------- */

static bool reserve_memory(const graze_world *world, contact_memory *m, uint64_t count) {
  const graze_context *context = world->context;
  if (!world->remembers) return true;
  if (!gz_buffer_reserve(context, &m->buffers[0], count + 1, 0)) return false;
  m->touching = m->buffers[0].data;
  memset(m->touching, 0, count + 1);
  if (world->has_springs && !gz_buffer_reserve(context, &m->buffers[1], (count + 1) * sizeof(spring), 0)) return false;
  if (world->def.events && !gz_buffer_reserve(context, &m->buffers[2], (count + 1) * sizeof *m->hits, 0)) return false;
  m->springs = m->buffers[1].data;
  m->hits = m->buffers[2].data;
  return true;
}

static void copy_memory(contact_memory *to, uint64_t i, const contact_memory *from, uint64_t j) {
  to->touching[i] = 1;
  if (to->springs != NULL) memcpy(to->springs[i], from->springs[j], sizeof(spring));
  if (to->hits != NULL) memcpy(to->hits[i], from->hits[j], sizeof *to->hits);
}

/* Both lists have the partners of a ball by number. Who touched and has gone beyond the skin since touches no more. */
static void carry_balls(graze_world *world, const neighbour_list *old, const uint32_t *old_place,
                        const uint32_t *old_number) {
  neighbour_list *list = &world->list;
  for (uint32_t p = 0; p < world->count; p++) {
    uint32_t before = old_place[world->number[p]];
    uint64_t e = list->start[p], end = list->start[p + 1];
    for (uint64_t o = old->start[before]; o < old->start[before + 1]; o++) {
      if (!old->of_balls.touching[o]) continue;
      uint32_t partner = old_number[old->partners[o]];
      while (e < end && world->number[list->partners[e]] < partner) e++;
      if (e < end && world->number[list->partners[e]] == partner)
        copy_memory(&list->of_balls, e, &old->of_balls, o);
      else
        gz_events_lose(world, p, PARTNER_BALL, world->place[partner], NULL, &old->of_balls, o);
    }
  }
}

uint64_t gz_list_first_wall(const neighbour_list *list, uint32_t place) {
  uint64_t low = 0, high = list->wall_count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (list->walls[middle].place < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint64_t gz_list_find_wall(const neighbour_list *list, uint32_t place, uint32_t wall) {
  for (uint64_t e = gz_list_first_wall(list, place); e < list->wall_count && list->walls[e].place == place; e++) {
    if (list->walls[e].wall == wall) return e;
  }
  return UINT64_MAX;
}

uint64_t gz_list_find(const graze_world *world, uint32_t place, uint32_t number) {
  const neighbour_list *list = &world->list;
  uint64_t low = list->start[place], end = list->start[place + 1], high = end;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (world->number[list->partners[middle]] < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && world->number[list->partners[low]] == number ? low : UINT64_MAX;
}

static void carry_walls(graze_world *world, const neighbour_list *old, const uint32_t *old_number) {
  neighbour_list *list = &world->list;
  for (uint64_t o = 0; o < old->wall_count; o++) {
    if (!old->of_walls.touching[o]) continue;
    uint32_t place = world->place[old_number[old->walls[o].place]];
    uint64_t e = gz_list_find_wall(list, place, old->walls[o].wall);
    if (e != UINT64_MAX)
      copy_memory(&list->of_walls, e, &old->of_walls, o);
    else
      gz_events_lose(world, place, PARTNER_WALL, old->walls[o].wall, NULL, &old->of_walls, o);
  }
}

/* The contacts of an entry stay in its first slots. */
static void carry_surfaces(graze_world *world, const neighbour_list *old, const uint32_t *old_number) {
  neighbour_list *list = &world->list;
  for (uint64_t o = 0; o < old->surface_count; o++) {
    const surface_entry *before = &old->surfaces[o];
    uint32_t place = world->place[old_number[before->place]];
    uint64_t e = gz_list_find_surface(list, place, before->surface);
    const uint32_t room = e != UINT64_MAX ? list->surfaces[e].count : 0;
    for (uint32_t i = 0; i < before->count && old->of_facets.touching[before->first + i]; i++) {
      const double *normal = old->facet_normals[before->first + i];
      if (i < room) {
        copy_memory(&list->of_facets, list->surfaces[e].first + i, &old->of_facets, before->first + i);
        memcpy(list->facet_normals[list->surfaces[e].first + i], normal, sizeof(spring));
      } else {
        gz_events_lose(world, place, PARTNER_SURFACE, before->surface, normal, &old->of_facets, before->first + i);
      }
    }
  }
}

/* ---- order in memory ------------------------------------------------------------------------------------------- */

static uint64_t spread(uint64_t x) {
  x = (x | x << 16) & 0x0000ff0000ffu;
  x = (x | x << 8) & 0x00f00f00f00fu;
  x = (x | x << 4) & 0x0c30c30c30c3u;
  x = (x | x << 2) & 0x249249249249u;
  return x;
}

/* Its cell along the curve, 11 bits an axis, over its place, 31 bits. */
static uint64_t curve_key(const graze_world *world, const graze_box *box, uint32_t p) {
  uint64_t code = 0;
  double edge = 0;
  for (int k = 0; k < 3; k++) edge = fmax(edge, box->max[k] - box->min[k]);
  for (int k = 0; k < 3; k++) {
    double t = edge > 0 ? (world->now.position[p][k] - box->min[k]) / edge * 2047 : 0;
    code |= spread((uint64_t)(t >= 0 && t < 2047 ? t : t >= 2047 ? 2047 : 0)) << k;
  }
  return code << 31 | p;
}

static void permute_rows(row *rows, row *spare, const uint64_t *keys, uint32_t count) {
  for (uint32_t p = 0; p < count; p++) memcpy(spare[p], rows[keys[p] & INT32_MAX], sizeof(row));
  memcpy(rows, spare, count * sizeof(row));
}

static void permute(graze_world *world, const uint64_t *keys, row *spare) {
  row *const rows[] = {world->now.position,  world->now.velocity, world->now.spin,
                       world->next.velocity, world->next.spin,    world->origin};
  double *sums = (double *)(void *)spare;
  uint32_t *numbers = (uint32_t *)(void *)spare;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) permute_rows(rows[i], spare, keys, world->count);
  for (uint32_t p = 0; p < world->count; p++) sums[p] = world->dissipated[keys[p] & INT32_MAX];
  memcpy(world->dissipated, sums, world->count * sizeof(double));
  for (uint32_t p = 0; p < world->count; p++) numbers[p] = world->kind[keys[p] & INT32_MAX];
  for (uint32_t p = 0; p < world->count; p++) world->kind[p] = (uint16_t)numbers[p];
  for (uint32_t p = 0; p < world->count; p++) numbers[p] = world->number[keys[p] & INT32_MAX];
  for (uint32_t p = 0; p < world->count; p++) {
    world->number[p] = numbers[p];
    world->place[numbers[p]] = p;
  }
}

static graze_status sort_balls(graze_world *world) {
  size_t bytes = (size_t)world->count * (2 * sizeof(uint64_t) + sizeof(row));
  if (!gz_buffer_reserve(world->context, &world->scratch[0], bytes, 0)) return gz_fail_memory(world->context, bytes);
  row *spare = world->scratch[0].data;
  uint64_t *keys = (uint64_t *)(void *)(spare + world->count);
  graze_box box = graze_box_empty();
  for (uint32_t p = 0; p < world->count; p++) graze_box_add_point(&box, world->now.position[p]);
  for (uint32_t p = 0; p < world->count; p++) keys[p] = curve_key(world, &box, p);
  gz_sort_keys(keys, keys + world->count, world->count);
  permute(world, keys, spare);
  return GRAZE_OK;
}

/* ---- the search ------------------------------------------------------------------------------------------------ */

/* Spheres half the skin larger than the balls. With periods there are copies of all, and images of those that may touch
 * balls on the other side. */
typedef struct search {
  row *spheres; /* NULL: the balls themselves, with the radii */
  double *radii;
  uint32_t *of; /* the place of a copy or image */
  uint64_t count, capacity;
} search;

static bool add_image(search *s, const row sphere, uint32_t place) {
  if (s->count == s->capacity) return false;
  memcpy(s->spheres[s->count], sphere, sizeof(row));
  s->of[s->count++] = place;
  return true;
}

/* Images of what is within `reach` of the lower side, on the upper side, axis after axis, so that corners get theirs.
 */
static bool add_images(const graze_world *world, search *s, double reach) {
  for (int k = 0; k < 3; k++) {
    double period = world_period(world, k);
    if (period == 0) continue;
    for (uint64_t i = 0, count = s->count; i < count; i++) {
      row sphere;
      memcpy(sphere, s->spheres[i], sizeof sphere);
      if (sphere[k] - world->def.bounds.min[k] > reach) continue;
      sphere[k] += period;
      if (!add_image(s, sphere, s->of[i])) return false;
    }
  }
  return true;
}

static graze_status make_images(graze_world *world, search *s, double largest) {
  for (s->capacity = 2 * (uint64_t)world->count;; s->capacity *= 2) {
    size_t bytes = s->capacity * (sizeof(row) + sizeof(uint32_t));
    if (s->capacity > UINT32_MAX) return gz_fail(world->context, GRAZE_ERROR_LIMIT, "too many periodic images");
    if (!gz_buffer_reserve(world->context, &world->scratch[1], bytes, 0)) return gz_fail_memory(world->context, bytes);
    s->spheres = world->scratch[1].data;
    s->of = (uint32_t *)(void *)(s->spheres + s->capacity);
    s->count = world->count;
    for (uint32_t p = 0; p < world->count; p++) {
      memcpy(s->spheres[p], world->now.position[p], sizeof(row));
      s->spheres[p][3] += 0.5 * world->skin;
      s->of[p] = p;
    }
    if (add_images(world, s, 2 * largest + 2 * world->skin)) return GRAZE_OK;
  }
}

static graze_status make_spheres(graze_world *world, search *s, double largest) {
  if (world->def.periodic[0] || world->def.periodic[1] || world->def.periodic[2]) return make_images(world, s, largest);
  size_t bytes = world->count * sizeof(double);
  if (!gz_buffer_reserve(world->context, &world->scratch[1], bytes, 0)) return gz_fail_memory(world->context, bytes);
  s->radii = world->scratch[1].data;
  s->count = world->count;
  for (uint32_t p = 0; p < world->count; p++) s->radii[p] = world->now.position[p][3] + 0.5 * world->skin;
  return GRAZE_OK;
}

static double largest_radius(const graze_world *world) {
  double largest = 0;
  for (uint32_t p = 0; p < world->count; p++) largest = fmax(largest, world->now.position[p][3]);
  return largest;
}

/* A tenth of the mean diameter: a settling bed then makes a list every twenty steps or so, which costs less than
 * looking at more neighbours would. */
static double fitting_skin(const graze_world *world) {
  double sum = 0;
  for (uint32_t n = 0; n < world->count; n++) sum += world->now.position[world->place[n]][3];
  return world->count > 0 ? 0.2 * sum / world->count : 1;
}

/* A ball wider than half a period would meet itself, and two could meet twice. */
graze_status gz_list_check(graze_world *world) {
  if (world->skin != 0) return GRAZE_OK;
  const double largest = largest_radius(world), skin = fitting_skin(world);
  for (int k = 0; k < 3; k++) {
    double period = world_period(world, k);
    if (period == 0 || period > 4 * largest + 4 * skin) continue;
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT,
                   "the period along %c, %.9g, must be more than twice the largest diameter and room to move, %.9g",
                   "xyz"[k], period, 4 * largest + 4 * skin);
  }
  world->skin = skin;
  return GRAZE_OK;
}

/* ---- from pairs to the list ------------------------------------------------------------------------------------ */

static bool moves(const graze_world *world, uint32_t place) {
  return world->now.velocity[place][3] != 0;
}

/* The two places of a pair of spheres; false: nothing to do. */
static inline bool places_of(const graze_world *world, const search *s, graze_box_pair pair, uint32_t at[2]) {
  at[0] = s->of != NULL ? s->of[pair.a] : pair.a;
  at[1] = s->of != NULL ? s->of[pair.b] : pair.b;
  return at[0] != at[1] && (moves(world, at[0]) || moves(world, at[1]));
}

enum { FEW = 64 };

/* The same by keys, where a ball has many neighbours; false: no memory. */
static bool sort_many(graze_world *world, uint32_t *partners, uint32_t count) {
  if (!gz_buffer_reserve(world->context, &world->scratch[4], 2 * (size_t)count * sizeof(uint64_t), 0)) return false;
  uint64_t *keys = world->scratch[4].data;
  for (uint32_t i = 0; i < count; i++) keys[i] = (uint64_t)world->number[partners[i]] << 32 | partners[i];
  gz_sort_keys(keys, keys + count, count);
  for (uint32_t i = 0; i < count; i++) partners[i] = (uint32_t)keys[i];
  return true;
}

static bool sort_by_number(graze_world *world, uint32_t *partners, uint32_t count) {
  if (count > FEW) return sort_many(world, partners, count);
  for (uint32_t i = 1; i < count; i++) {
    uint32_t place = partners[i], number = world->number[place], j = i;
    for (; j > 0 && world->number[partners[j - 1]] > number; j--) partners[j] = partners[j - 1];
    partners[j] = place;
  }
  return true;
}

/* Drops the second of two that are the same. */
static uint32_t drop_second(uint32_t *partners, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (i == 0 || partners[i] != partners[kept - 1]) partners[kept++] = partners[i];
  }
  return kept;
}

static graze_status reserve_list(graze_world *world, uint64_t pairs) {
  neighbour_list *list = &world->list;
  const graze_context *context = world->context;
  if (2 * pairs > UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "more than %u neighbours", UINT32_MAX / 2);
  size_t entries = (2 * pairs + LIST_PAD) * sizeof(uint32_t), starts = ((size_t)world->count + 2) * sizeof(uint32_t);
  if (!gz_buffer_reserve(context, &list->buffers[0], starts, 0)) return gz_fail_memory(context, starts);
  if (!gz_buffer_reserve(context, &list->buffers[1], entries, 0)) return gz_fail_memory(context, entries);
  uint64_t chunks = 2 * pairs + world->count + 1; /* with one lane; otherwise fewer */
  if (!gz_buffer_reserve(context, &list->buffers[3], chunks, 0)) return gz_fail_memory(context, chunks);
  list->close = list->buffers[3].data;
  list->start = list->buffers[0].data;
  list->partners = list->buffers[1].data;
  return GRAZE_OK;
}

/* Counts, places and sorts: O(pairs) and the sorts of a few neighbours each. */
static graze_status fill_list(graze_world *world, const search *s, const graze_box_pair *pairs, uint64_t count) {
  neighbour_list *list = &world->list;
  uint32_t at[2], kept = 0;
  graze_status status = reserve_list(world, count);
  if (status != GRAZE_OK) return status;
  uint32_t *end = list->start + 1; /* end[p]: first where p begins, then where it ends */
  memset(list->start, 0, ((size_t)world->count + 2) * sizeof(uint32_t));
  for (uint64_t i = 0; i < count; i++) {
    if (!places_of(world, s, pairs[i], at)) continue;
    end[at[0] + 1]++;
    end[at[1] + 1]++;
  }
  for (uint32_t p = 0; p < world->count; p++) end[p + 1] += end[p];
  for (uint64_t i = 0; i < count; i++) {
    if (!places_of(world, s, pairs[i], at)) continue;
    list->partners[end[at[0]]++] = at[1];
    list->partners[end[at[1]]++] = at[0];
  }
  for (uint32_t p = 0, begin = 0; p < world->count; p++) {
    uint32_t *partners = list->partners + begin, number = end[p] - begin;
    if (!sort_by_number(world, partners, number)) return gz_fail_memory(world->context, number * sizeof(uint64_t));
    number = drop_second(partners, number);
    memmove(list->partners + kept, partners, number * sizeof *partners);
    begin = end[p];
    list->start[p] = kept;
    kept += number;
    end[p] = kept;
  }
  list->count = kept;
  memset(list->partners + kept, 0, LIST_PAD * sizeof *list->partners);
  return GRAZE_OK;
}

/* ---- walls ----------------------------------------------------------------------------------------------------- */

static graze_status fill_walls(graze_world *world) {
  neighbour_list *list = &world->list;
  list->wall_count = 0;
  for (uint32_t p = 0; p < world->count && world->walls.count > 0; p++) {
    if (!moves(world, p)) continue;
    if (!gz_buffer_reserve(world->context, &list->buffers[2],
                           (list->wall_count + world->walls.count) * sizeof(wall_entry),
                           list->wall_count * sizeof(wall_entry)))
      return gz_fail_memory(world->context, world->walls.count * sizeof(wall_entry));
    list->walls = list->buffers[2].data;
    for (uint32_t w = 0; w < world->walls.count; w++) {
      const dem_wall *wall = WORLD_AT(world->walls, dem_wall, w);
      const double *at = world->now.position[p];
      if (wall_distance(wall, at) <= at[3] + world->skin) list->walls[list->wall_count++] = (wall_entry){p, w};
    }
  }
  return GRAZE_OK;
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

static graze_status search_and_fill(graze_world *world) {
  search s = {0};
  const graze_box_pair *pairs;
  uint64_t count;
  graze_status status = make_spheres(world, &s, largest_radius(world));
  if (status != GRAZE_OK) return status;
  const bool images = s.spheres != NULL;
  const graze_sphere_array spheres = {.centers = images ? s.spheres : world->now.position,
                                      .radii = images ? &s.spheres[0][3] : s.radii,
                                      .center_stride = sizeof(row),
                                      .radius_stride = images ? sizeof(row) : sizeof(double),
                                      .precision = GRAZE_DOUBLE};
  status = graze_broadphase_find_spheres(world->broadphase, &spheres, (uint32_t)s.count, true, &pairs, &count);
  if (status == GRAZE_OK) status = fill_list(world, &s, pairs, count);
  if (status == GRAZE_OK) status = fill_walls(world);
  return status == GRAZE_OK ? gz_surfaces_list(world) : status;
}

static void swap_lists(neighbour_list *a, neighbour_list *b) {
  neighbour_list t = *a;
  *a = *b;
  *b = t;
}

/* With what contacts remember: from world->list into a new one, or if memory was refused there, when it is tried again.
 */
static graze_status remake(graze_world *world) {
  size_t bytes = (size_t)world->count * 2 * sizeof(uint32_t);
  if (world->remembers && world->is_listed) {
    if (!gz_buffer_reserve(world->context, &world->scratch[2], bytes, 0)) return gz_fail_memory(world->context, bytes);
    memcpy(world->scratch[2].data, world->place, bytes / 2);
    memcpy((uint32_t *)world->scratch[2].data + world->count, world->number, bytes / 2);
    swap_lists(&world->list, &world->old_list);
    world->carries = true;
  }
  world->is_listed = false;
  graze_status status = world->builds % SORT_EVERY == 0 && world->count > 0 ? sort_balls(world) : GRAZE_OK;
  if (status == GRAZE_OK) status = search_and_fill(world);
  if (status != GRAZE_OK) return status;
  if (!reserve_memory(world, &world->list.of_balls, world->list.count) ||
      !reserve_memory(world, &world->list.of_walls, world->list.wall_count) ||
      !reserve_memory(world, &world->list.of_facets, world->list.facet_count))
    return gz_fail_memory(world->context, world->list.count * sizeof(spring));
  if (world->carries) {
    const uint32_t *old_place = world->scratch[2].data;
    carry_balls(world, &world->old_list, old_place, old_place + world->count);
    carry_walls(world, &world->old_list, old_place + world->count);
    carry_surfaces(world, &world->old_list, old_place + world->count);
    world->carries = false;
  }
  for (uint32_t p = 0; p < world->count; p++) memcpy(world->origin[p], world->now.position[p], 3 * sizeof(double));
  world->builds++;
  world->moved2 = world->surface_way = 0;
  world->is_close = false;
  world->is_listed = true;
  return GRAZE_OK;
}

graze_status gz_list_update(graze_world *world) {
  double most = 0.49 * world->skin; /* a little less than half: ways are rounded */
  if (world->is_listed && world->moved2 <= most * most && world->surface_way <= most) return GRAZE_OK;
  graze_status status = gz_list_check(world);
  if (status == GRAZE_OK) status = remake(world);
  if (status == GRAZE_OK && world->kept_wait) gz_world_take_kept(world);
  return status;
}

static void release(const graze_context *context, neighbour_list *list) {
  for (int i = 0; i < 7; i++) gz_buffer_release(context, &list->buffers[i]);
  for (int i = 0; i < 3; i++) {
    gz_buffer_release(context, &list->of_balls.buffers[i]);
    gz_buffer_release(context, &list->of_walls.buffers[i]);
    gz_buffer_release(context, &list->of_facets.buffers[i]);
  }
}

void gz_list_release(graze_world *world) {
  release(world->context, &world->list);
  release(world->context, &world->old_list);
}
