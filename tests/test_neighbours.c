/* The neighbour list against all pairs: every pair in reach is a row where it is looked for, once, whatever the balls'
 * radii, however far they are from each other, and through periodic sides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_pairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
