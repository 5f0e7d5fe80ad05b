/* The neighbour list against all pairs: every pair in reach is a row where it is looked for, once, whatever the balls'
 * radii, however far they are from each other, and through periodic sides. What it takes, and that it is made again
 * where more pairs come close than there is room for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dynamics/world.h"
#include "families.h"
#include "worlds.h"

enum { MOST = 1500, STATIC = 8 };

typedef struct swarm {
  uint32_t count;
  double at[3 * MOST], radius[MOST], low[3], high[3];
  bool periodic[3];
} swarm;

/* Dense or sparse, flat or long, alike or of many sizes, some far away. */
static void make_swarm(uint64_t *state, swarm *s) {
  const bool mixed = random_below(state, 4) == 0;
  const double spread = pow(10, 2 * random_unit(state)), wide = ldexp(1, (int)random_below(state, 40));
  s->count = 1 + random_below(state, random_below(state, 3) == 0 ? 40 : MOST);
  for (int k = 0; k < 3; k++) {
    const double length = spread * (random_below(state, 3) == 0 ? 0.2 : 1);
    s->periodic[k] = random_below(state, 3) == 0;
    s->low[k] = 10 * random_signed(state);
    s->high[k] = s->low[k] + fmax(length, mixed ? 11 : 2.6 + 3 * random_unit(state));
  }
  for (uint32_t i = 0; i < s->count; i++) {
    const bool strays = random_below(state, 16) == 0;
    s->radius[i] = 0.5 * (mixed ? pow(4, random_unit(state)) : 0.8 + 0.2 * random_unit(state));
    for (int k = 0; k < 3; k++) {
      const double x = s->low[k] + random_unit(state) * (s->high[k] - s->low[k]);
      s->at[3 * i + (uint32_t)k] = strays && !s->periodic[k] ? wide * random_signed(state) : x;
    }
  }
}

static graze_world *world_of(const swarm *s) {
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(1);
  graze_world *world = NULL;
  memcpy(def.periodic, s->periodic, sizeof def.periodic);
  for (int k = 0; k < 3; k++) {
    def.bounds.min[k] = s->periodic[k] ? s->low[k] : -0x1p60;
    def.bounds.max[k] = s->periodic[k] ? s->high[k] : 0x1p60;
  }
  assert_int_equal(graze_world_create(shared_context(2), &def, &world), GRAZE_OK);
  add_material(world, &m);
  add_balls(world, s->count, s->at, NULL, s->radius, 0, 1, 0);
  for (uint32_t i = 0; i < STATIC && i < s->count; i++) { /* beside balls */
    graze_body_def body = graze_default_body_def();
    graze_body_id id;
    body.type = GRAZE_BODY_STATIC;
    body.radius = s->radius[i];
    memcpy(body.position, s->at + 3 * i, sizeof body.position);
    body.position[0] += 0.5 * s->radius[i];
    body.mass = 1;
    assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  }
  return world;
}

/* How far the skins of two balls' spheres overlap. */
static double depth(const graze_world *world, uint32_t p, uint32_t q) {
  const double *a = world->now[p].position, *b = world->now[q].position;
  double way[3];
  for (int k = 0; k < 3; k++) way[k] = nearest_image(a[k] - b[k], world_period(world, k));
  return a[3] + b[3] + world->skin - sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
}

/* The partners of a place in the order of the rows of its block. */
static uint32_t partners_of(const graze_world *world, uint32_t place, uint32_t *partners) {
  const neighbour_list *list = &world->list;
  const uint32_t block = place / BLOCK_PLACES;
  const list_block *b = &list->blocks[block];
  uint32_t count = 0;
  for (uint32_t r = b->row; r < b->row + b->rows; r++) {
    const uint32_t first = first_place(block, list->first[r]), second = row_place(list->second[r]);
    assert_true(world->number[first] < world->dynamic);
    if (first == place || second == place) partners[count++] = first == place ? second : first;
  }
  return count;
}

static void check_place(const graze_world *world, uint32_t place) {
  static uint32_t partners[MOST + STATIC];
  static bool seen[MOST + STATIC];
  const uint32_t count = partners_of(world, place, partners);
  memset(seen, 0, sizeof seen);
  for (uint32_t i = 0; i < count; i++) {
    assert_false(seen[partners[i]]);
    seen[partners[i]] = true;
    if (i > 0) assert_true(world->number[partners[i - 1]] < world->number[partners[i]]);
    if (!(depth(world, place, partners[i]) > -1e-9)) fail_msg("%u is not near %u", partners[i], place);
  }
  for (uint32_t q = 0; q < world->count; q++) {
    if (q != place && !seen[q] && depth(world, place, q) > 1e-6)
      fail_msg("%u of %u is near %u and not in the list", q, world->count, place);
  }
}

static void test_all_pairs(void **unused) {
  (void)unused;
  static swarm s;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(60, 6000); round++) {
    const graze_contact *contacts;
    uint64_t count;
    make_swarm(&state, &s);
    graze_world *world = world_of(&s);
    assert_int_equal(graze_world_find_contacts(world, &contacts, &count), GRAZE_OK);
    for (uint32_t p = 0; p < world->count; p++) {
      if (world->number[p] < world->dynamic) check_place(world, p);
    }
    graze_world_destroy(world);
  }
}

/* ---- room for close pairs ---------------------------------------------------------------------------------------- */

enum { PAIRS = BLOCK_PLACES / 2 };

/* Pairs side by side that fly at each other across a gap that close pairs do not reach, but the list does. */
static graze_world *world_of_pairs(bool springs) {
  static double at[6 * PAIRS], velocity[6 * PAIRS];
  graze_material m = hooke(1000);
  graze_world *world = make_world(0);
  if (springs) {
    m.tangential = GRAZE_TANGENTIAL_SPRING;
    m.k_t = 300;
    m.friction = 0.5;
  }
  for (size_t i = 0; i < 2 * PAIRS; i++) {
    at[3 * i] = i % 2 != 0 ? 1.16 : 0;
    at[3 * i + 1] = 3 * (double)(i / 2 % 16);
    at[3 * i + 2] = 3 * (double)(i / 32);
    velocity[3 * i] = i % 2 != 0 ? -1 : 1;
    velocity[3 * i + 1] = i % 2 != 0 ? 0.1 : 0;
  }
  add_balls(world, 2 * PAIRS, at, velocity, NULL, 0.5, 1, add_material(world, &m));
  return world;
}

/* Beside a world that forgets its list before every step. */
static void check_pairs(bool springs) {
  char path[64];
  snprintf(path, sizeof path, "test_neighbours.%ld", (long)getpid());
  graze_world *world = world_of_pairs(springs), *other = world_of_pairs(springs);
  for (int i = 0; i < 100; i++) {
    run_world(world, 1e-3, 1);
    if (i == 80 && springs)
      assert_int_equal(world->builds, 2); /* the second one before anybody has gone half the skin */
    run_world(other, 1e-3, 1);
    assert_int_equal(graze_world_save(other, path), GRAZE_OK);
    assert_int_equal(graze_world_restore(other, path), GRAZE_OK);
    assert_true(graze_world_get_hash(world) == graze_world_get_hash(other));
  }
  graze_world_sums sums;
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_int_equal(sums.contacts, PAIRS);
  unlink(path);
  graze_world_destroy(world);
  graze_world_destroy(other);
}

static void test_full_blocks(void **unused) {
  (void)unused;
  check_pairs(false);
  check_pairs(true);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Of all that is allocated, and the most that ever was. */
typedef struct byte_count {
  size_t now, most;
} byte_count;

static void *count_alloc(void *user, size_t size, size_t alignment) {
  byte_count *c = user;
  c->now += size;
  c->most = c->now > c->most ? c->now : c->most;
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *user, void *pointer, size_t size) {
  ((byte_count *)user)->now -= size;
  free(pointer);
}

/* A lattice in which all but the outer balls have six contacts flies so far that its list is made some times. */
static void check_bytes(bool springs, double most) {
  enum { EDGE = 26, COUNT = EDGE * EDGE * EDGE };
  static double at[3 * COUNT], velocity[3 * COUNT];
  byte_count bytes = {0};
  graze_context *context;
  graze_context_def def = graze_default_context_def();
  graze_world_def world_def = graze_default_world_def();
  graze_world *world;
  graze_material m = hooke(1);
  def.threads = 1;
  def.allocator = (graze_allocator){count_alloc, count_release, &bytes};
  if (springs) m.tangential = GRAZE_TANGENTIAL_SPRING;
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t cell[3] = {i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE};
    for (int k = 0; k < 3; k++) at[3 * i + (uint32_t)k] = 0.999 * cell[k];
    velocity[3 * i] = 1;
  }
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  assert_int_equal(graze_world_create(context, &world_def, &world), GRAZE_OK);
  add_balls(world, COUNT, at, velocity, NULL, 0.5, 1, add_material(world, &m));
  run_world(world, 0.02, 40);
  assert_true(world->builds >= 5);
  if (!((double)bytes.most / COUNT < most)) fail_msg("%.1f bytes a ball", (double)bytes.most / COUNT);
  graze_world_destroy(world);
  graze_context_destroy(context);
}

static void test_bytes(void **unused) {
  (void)unused;
  if (test_thinned()) return; /* they are the same */
  check_bytes(false, 300);
  check_bytes(true, 400);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_full_blocks),
                                     cmocka_unit_test(test_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
