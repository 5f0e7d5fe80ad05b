/* The neighbour list: who may touch whom while nobody has moved more than half the skin (L. Verlet, 1967).
 *
 * Balls of like size find each other in cells (cells.c); a search for spheres that are half the skin too large does for
 * any radii. Now and then balls are sorted along a curve through a grid first (G. M. Morton, 1966), so that neighbours
 * are near in memory. What contacts remember goes from list to list by numbers. Everything that reads the list leaves
 * out who does not touch, so that no result depends on when it was made.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "dynamics/cells.h"

enum { SORT_EVERY = 16 /* lists: by then a settling bed has stirred */ };

/* ---- scratch ---------------------------------------------------------------------------------------------------- */

static size_t next_bytes(const graze_world *world) {
  return world->is_accelerated ? 0 : world->count * sizeof *world->next;
}

void *gz_list_scratch(graze_world *world, size_t bytes) {
  const size_t used = world->carries ? world->kept_bytes : 0;
  if (used + bytes <= next_bytes(world)) return (char *)world->next + used;
  return gz_buffer_renew(world->context, &world->close.memory, bytes) ? world->close.memory.data : NULL;
}

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
        graze_kept_contact lost = {.partner = before->surface, .order = i};
        if (world->has_springs) memcpy(lost.spring, old->of_facets.springs[before->first + i], sizeof lost.spring);
        if (world->def.events) memcpy(lost.hit, old->of_facets.hits[before->first + i], sizeof lost.hit);
        gz_contact_lose(world, place, PARTNER_SURFACE, &lost, normal);
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
    double t = edge > 0 ? (world->now[p].position[k] - box->min[k]) / edge * 2047 : 0;
    code |= spread((uint64_t)(t >= 0 && t < 2047 ? t : t >= 2047 ? 2047 : 0)) << k;
  }
  return code << 31 | p;
}

/* Moves what is at `from` to `to`. */
static void move_place(graze_world *world, uint32_t from, uint32_t to) {
  world->now[to] = world->now[from];
  if (world->is_accelerated) world->next[to] = world->next[from];
  world->dissipated[to] = world->dissipated[from];
  world->kind[to] = world->kind[from];
  world->number[to] = world->number[from];
}

/* Place p gets what is at the place in keys[p], cycle by cycle: without memory for a second world. */
static void permute(graze_world *world, uint64_t *keys) {
  for (uint32_t start = 0; start < world->count; start++) {
    uint32_t to = start, from = (uint32_t)(keys[start] & INT32_MAX);
    if (from == start) continue;
    const ball_rows now = world->now[start], next = world->next[start];
    const double dissipated = world->dissipated[start];
    const uint16_t kind = world->kind[start];
    const uint32_t number = world->number[start];
    for (; from != start; to = from, from = (uint32_t)(keys[to] & INT32_MAX)) {
      move_place(world, from, to);
      keys[to] = to;
    }
    world->now[to] = now;
    if (world->is_accelerated) world->next[to] = next;
    world->dissipated[to] = dissipated;
    world->kind[to] = kind;
    world->number[to] = number;
    keys[to] = to;
  }
  for (uint32_t p = 0; p < world->count; p++) world->place[world->number[p]] = p;
}

static graze_status sort_balls(graze_world *world) {
  const size_t bytes = (size_t)world->count * 2 * sizeof(uint64_t);
  uint64_t *keys = gz_list_scratch(world, bytes);
  if (keys == NULL) return gz_fail_memory(world->context, bytes);
  graze_box box = graze_box_empty();
  for (uint32_t p = 0; p < world->count; p++) graze_box_add_point(&box, world->now[p].position);
  for (uint32_t p = 0; p < world->count; p++) keys[p] = curve_key(world, &box, p);
  gz_sort_keys(keys, keys + world->count, world->count);
  permute(world, keys);
  return GRAZE_OK;
}

/* ---- the search ------------------------------------------------------------------------------------------------ */

/* Spheres half the skin larger than the balls. With periods there are copies of all, and images of those
 * that may touch balls on the other side. */
typedef struct search {
  row *spheres;
  uint32_t
      *of; /* the place of a copy or image, and from IMAGE_BIT on a bit of each axis along which it is moved; NULL: */
  uint64_t count, capacity; /* there are none */
} search;

enum { IMAGE_BIT = 29 };

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
      if (s->count == s->capacity) return false;
      memcpy(s->spheres[s->count], sphere, sizeof(row));
      s->of[s->count++] = s->of[i] | 1u << (IMAGE_BIT + k);
    }
  }
  return true;
}

static graze_status reserve_spheres(graze_world *world, search *s, bool has_images) {
  const size_t bytes = s->capacity * (sizeof(row) + (has_images ? sizeof(uint32_t) : 0));
  void *memory = gz_list_scratch(world, bytes);
  if (memory == NULL) return gz_fail_memory(world->context, bytes);
  s->spheres = memory;
  s->of = has_images ? (uint32_t *)(void *)(s->spheres + s->capacity) : NULL;
  s->count = world->count;
  for (uint32_t p = 0; p < world->count; p++) {
    memcpy(s->spheres[p], world->now[p].position, sizeof(row));
    s->spheres[p][3] += 0.5 * world->skin;
    if (has_images) s->of[p] = p;
  }
  return GRAZE_OK;
}

static graze_status make_images(graze_world *world, search *s, double largest) {
  for (s->capacity = 2 * (uint64_t)world->count;; s->capacity *= 2) {
    if (s->capacity > UINT32_MAX) return gz_fail(world->context, GRAZE_ERROR_LIMIT, "too many periodic images");
    const graze_status status = reserve_spheres(world, s, true);
    if (status != GRAZE_OK || add_images(world, s, 2 * largest + 2 * world->skin)) return status;
  }
}

static graze_status make_spheres(graze_world *world, search *s, double largest) {
  const bool *periodic = world->def.periodic;
  *s = (search){.capacity = world->count};
  return periodic[0] || periodic[1] || periodic[2] ? make_images(world, s, largest) : reserve_spheres(world, s, false);
}

static double largest_radius(const graze_world *world) {
  double largest = 0;
  for (uint32_t p = 0; p < world->count; p++) largest = fmax(largest, world->now[p].position[3]);
  return largest;
}

static double mean_radius(const graze_world *world) {
  double sum = 0;
  for (uint32_t p = 0; p < world->count; p++) sum += world->now[p].position[3];
  return world->count > 0 ? sum / world->count : 0;
}

/* A fifth of the mean diameter: a settling bed then makes a list every thirty steps or so. A larger one would cost
 * little more, since most passes look at close pairs alone, but memory. */
static double fitting_skin(const graze_world *world) {
  return world->count > 0 ? 0.4 * mean_radius(world) : 1;
}

/* A ball wider than half a period would meet itself, and two could meet twice. In a short period there is less skin,
 * down to the half. */
graze_status gz_list_check(graze_world *world) {
  if (world->skin != 0) return GRAZE_OK;
  const double largest = largest_radius(world), fitting = fitting_skin(world), least = 4 * largest + 2 * fitting;
  double skin = fitting;
  for (int k = 0; k < 3; k++) {
    double period = world_period(world, k);
    if (period == 0) continue;
    if (!(period > least))
      return gz_fail(world->context, GRAZE_ERROR_ARGUMENT,
                     "the period along %c, %.9g, must be more than twice the largest diameter and room to move, %.9g",
                     "xyz"[k], period, least);
    skin = fmax(0.5 * fitting, fmin(skin, 0.2499 * period - largest));
  }
  world->skin = skin;
  return GRAZE_OK;
}

/* ---- from pairs to rows ---------------------------------------------------------------------------------------- */

/* A pair's rows: both balls have one, of which each is the first, only where both move and are of two blocks. */
typedef struct pair_rows {
  uint32_t count, first[2], second[2];
} pair_rows;

static inline pair_rows rows_of(const graze_world *world, const search *s, graze_box_pair pair) {
  uint32_t a = pair.a, b = pair.b;
  if (s->of != NULL) {
    const uint32_t places = (1u << IMAGE_BIT) - 1, moved = s->of[a] & s->of[b] & ~places;
    if (moved != 0) return (pair_rows){0}; /* the two are found without that move as well */
    a = s->of[a] & places;
    b = s->of[b] & places;
  }
  const bool all = world->dynamic == world->count, a_moves = all || world->number[a] < world->dynamic,
             b_moves = all || world->number[b] < world->dynamic, both = a_moves && b_moves,
             one_block = a / BLOCK_PLACES == b / BLOCK_PLACES;
  if (a == b || !(a_moves || b_moves)) return (pair_rows){0};
  return (pair_rows){both && !one_block ? 2 : 1, {a_moves ? a : b, b}, {a_moves ? b : a, a}};
}

static graze_status deal_pairs(graze_world *world, const search *s, const graze_box_pair *pairs, uint64_t count) {
  if (count > UINT32_MAX / 8)
    return gz_fail(world->context, GRAZE_ERROR_LIMIT, "more than %u neighbours", UINT32_MAX / 8);
  graze_status status = gz_rows_begin(world);
  if (status != GRAZE_OK) return status;
  list_block *blocks = world->list.blocks;
  for (uint64_t i = 0; i < count; i++) {
    const pair_rows r = rows_of(world, s, pairs[i]);
    for (uint32_t j = 0; j < r.count; j++) blocks[r.first[j] / BLOCK_PLACES].rows++;
  }
  status = gz_rows_lay_out(world);
  if (status != GRAZE_OK) return status;
  for (uint64_t i = 0; i < count; i++) {
    const pair_rows r = rows_of(world, s, pairs[i]);
    for (uint32_t j = 0; j < r.count; j++) {
      list_block *b = &blocks[r.first[j] / BLOCK_PLACES];
      const uint32_t at = b->row + b->rows++;
      world->list.first[at] = first_ball(r.first[j]);
      world->list.second[at] = r.second[j] * BALL_DOUBLES;
    }
  }
  return gz_rows_finish(world);
}

/* ---- walls ----------------------------------------------------------------------------------------------------- */

static graze_status fill_walls(graze_world *world) {
  neighbour_list *list = &world->list;
  list->wall_count = 0;
  for (uint32_t p = 0; p < world->count && world->walls.count > 0; p++) {
    if (world->number[p] >= world->dynamic) continue;
    if (!gz_buffer_reserve(world->context, &list->buffers[2],
                           (list->wall_count + world->walls.count) * sizeof(wall_entry),
                           list->wall_count * sizeof(wall_entry)))
      return gz_fail_memory(world->context, world->walls.count * sizeof(wall_entry));
    list->walls = list->buffers[2].data;
    for (uint32_t w = 0; w < world->walls.count; w++) {
      const dem_wall *wall = WORLD_AT(world->walls, dem_wall, w);
      const double *at = world->now[p].position;
      if (wall_distance(wall, at) <= at[3] + world->skin) list->walls[list->wall_count++] = (wall_entry){p, w};
    }
  }
  return GRAZE_OK;
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

/* Single precision does where no block is wide: world_origin(). */
static bool make_near_origins(graze_world *world) {
  const double rough = 0x1p-10 * world->skin;
  bool is_fine = true;
  for (uint32_t p = 0; p < world->count; p++) {
    const double *at = world->now[p].position;
    double *first = world->block_origin[p / BLOCK_PLACES];
    if (p % BLOCK_PLACES == 0) memcpy(first, at, 3 * sizeof(double));
    for (int k = 0; k < 3; k++) {
      const double way = at[k] - first[k];
      world->origin[p][k] = (float)way;
      is_fine &= fabs(way - (double)world->origin[p][k]) <= rough;
    }
  }
  return is_fine;
}

static graze_status make_origins(graze_world *world) {
  const size_t bytes = world->count * sizeof *world->far_origin;
  world->far_origin = NULL;
  if (make_near_origins(world)) return GRAZE_OK;
  if (!gz_buffer_reserve(world->context, &world->far_memory, bytes, 0)) return gz_fail_memory(world->context, bytes);
  world->far_origin = world->far_memory.data;
  for (uint32_t p = 0; p < world->count; p++)
    memcpy(world->far_origin[p], world->now[p].position, sizeof world->far_origin[p]);
  return GRAZE_OK;
}

/* For balls of any radii. */
static graze_status search_pairs(graze_world *world, double largest) {
  search s;
  const graze_box_pair *pairs;
  uint64_t count;
  graze_status status = make_spheres(world, &s, largest);
  if (status != GRAZE_OK) return status;
  const graze_sphere_array spheres = {.centers = s.spheres,
                                      .radii = &s.spheres[0][3],
                                      .center_stride = sizeof(row),
                                      .radius_stride = sizeof(row),
                                      .precision = GRAZE_DOUBLE};
  status = graze_broadphase_find_spheres(world->broadphase, &spheres, (uint32_t)s.count, true, &pairs, &count);
  return status == GRAZE_OK ? deal_pairs(world, &s, pairs, count) : status;
}

/* Where the largest ball is no wider than two of the others, cells of its width have few balls. */
static graze_status search_and_fill(graze_world *world) {
  const double largest = largest_radius(world);
  graze_status status = fill_walls(world);
  if (status == GRAZE_OK) status = gz_surfaces_list(world);
  if (status == GRAZE_OK) status = make_origins(world);
  if (status != GRAZE_OK) return status;
  return largest <= 2 * mean_radius(world) ? gz_cells_make_rows(world, largest) : search_pairs(world, largest);
}

static void swap_lists(neighbour_list *a, neighbour_list *b) {
  neighbour_list t = *a;
  *a = *b;
  *b = t;
}

/* Where contacts wait: in `next` if they have room there, which as many as six of each ball have. */
static graze_status reserve_kept(graze_world *world, uint64_t count) {
  const size_t bytes = gz_contacts_lay_out(world, count, NULL, &world->kept);
  world->kept_bytes = bytes <= next_bytes(world) ? bytes : 0;
  void *memory = world->next;
  if (world->kept_bytes < bytes) {
    if (!gz_buffer_renew(world->context, &world->saved, bytes)) return gz_fail_memory(world->context, bytes);
    memory = world->saved.data;
  }
  gz_contacts_lay_out(world, count, memory, &world->kept);
  return GRAZE_OK;
}

/* What contacts remember waits for the new list: of balls and walls in world->kept, of surfaces in the old list. */
static graze_status save_contacts(graze_world *world) {
  if (!world->remembers || !world->is_listed || world->carries) return GRAZE_OK;
  const size_t numbers = world->list.surface_count > 0 ? world->count * sizeof(uint32_t) : 0;
  if (!gz_buffer_reserve(world->context, &world->old_numbers, numbers, 0))
    return gz_fail_memory(world->context, numbers);
  const graze_status status = reserve_kept(world, gz_contacts_count(world));
  if (status != GRAZE_OK) return status;
  gz_contacts_keep(world, &world->kept);
  if (numbers > 0) memcpy(world->old_numbers.data, world->number, numbers);
  world->old_list.surface_count = 0;
  if (world->list.surface_count > 0) swap_lists(&world->list, &world->old_list);
  world->carries = true;
  return GRAZE_OK;
}

/* Where memory is refused, what waits still does when it is tried again. */
static graze_status remake(graze_world *world) {
  graze_status status = save_contacts(world);
  if (status != GRAZE_OK) return status;
  world->is_listed = world->close.is_made = false;
  if (world->builds % SORT_EVERY == 0 && world->count > 0) status = sort_balls(world);
  if (status == GRAZE_OK) status = search_and_fill(world);
  if (status != GRAZE_OK) return status;
  if (!reserve_memory(world, &world->list.of_walls, world->list.wall_count) ||
      !reserve_memory(world, &world->list.of_facets, world->list.facet_count))
    return gz_fail_memory(world->context, world->list.facet_count * sizeof(spring));
  world->builds++;
  world->moved = world->surface_way = 0;
  world->is_listed = true;
  return GRAZE_OK;
}

/* Whether it will hold for some steps more. */
static bool list_holds(const graze_world *world) {
  const double most = longest_way(world), ahead = fmax(fmin(2 * world->fastest, most / 4), most / 16);
  return world->is_listed && world->surface_way <= most && world->moved + ahead <= most;
}

static graze_status remake_all(graze_world *world) {
  graze_status status = gz_list_check(world);
  if (status == GRAZE_OK) status = remake(world);
  if (status != GRAZE_OK) return status;
  gz_close_look(world);
  return gz_close_make(world);
}

graze_status gz_list_update(graze_world *world) {
  graze_status status = GRAZE_OK;
  const bool close_holds = world->is_listed && gz_close_holds(world);
  if (world->is_listed && !close_holds) gz_close_look(world);
  const bool holds = list_holds(world);
  if (holds && !close_holds) status = gz_close_make(world);
  if (status == GRAZE_OK && (!holds || world->close.is_full)) status = remake_all(world);
  if (status == GRAZE_OK && world->carries) {
    gz_contacts_take_kept(world);
    carry_surfaces(world, &world->old_list, world->old_numbers.data);
    world->carries = false;
  }
  if (status == GRAZE_OK && world->kept_wait) gz_world_take_kept(world);
  return status;
}

static void release(const graze_context *context, neighbour_list *list) {
  for (int i = 0; i < 7; i++) gz_buffer_release(context, &list->buffers[i]);
  for (int i = 0; i < 3; i++) gz_buffer_release(context, &list->row_buffers[i]);
  for (int i = 0; i < 3; i++) {
    gz_buffer_release(context, &list->of_walls.buffers[i]);
    gz_buffer_release(context, &list->of_facets.buffers[i]);
  }
}

void gz_list_release(graze_world *world) {
  release(world->context, &world->list);
  release(world->context, &world->old_list);
  gz_close_release(world);
  gz_workers_release(world);
}
