/* Worlds of balls: one hash for every way to run them, contacts against exact counting, events against contacts, shapes
 * of worlds, and what changes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "worlds.h"

enum { BED = 400, STEPS = 240 };

/* Field by field: there is room between them. */
static void assert_same_events(const graze_contact_event *a, const graze_contact_event *b, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    assert_int_equal(a[i].step, b[i].step);
    assert_int_equal(a[i].kind, b[i].kind);
    assert_memory_equal(&a[i].a, &b[i].a, sizeof a->a);
    assert_memory_equal(&a[i].b, &b[i].b, sizeof a->b);
    assert_memory_equal(a[i].point, b[i].point, sizeof a->point);
    assert_memory_equal(a[i].normal, b[i].normal, sizeof a->normal);
    assert_true(a[i].speed == b[i].speed && a[i].impulse == b[i].impulse && a[i].overlap == b[i].overlap);
    assert_memory_equal(a[i].velocity, b[i].velocity, sizeof a->velocity);
  }
}

/* ---- one hash ---------------------------------------------------------------------------------------------------- */

/* Made by this library, the same on every instruction set. */
static const uint64_t golden[BED_KINDS] = {0x2e2a0fb501454bdb, 0x28928dbb9154d3c9, 0xf6e677db9f3a3b7b,
                                           0xc46c3c95da763546};

static uint64_t hash_of_bed(const bed *b, uint64_t steps) {
  graze_world *world = make_bed(b, BED);
  run_world(world, bed_dt(b), steps);
  uint64_t hash = graze_world_get_hash(world);
  graze_world_destroy(world);
  return hash;
}

static void test_golden(void **unused) {
  (void)unused;
  for (bed_kind kind = 0; kind < BED_KINDS; kind++) {
    const bed b = {.kind = kind, .threads = 1};
    uint64_t hash = hash_of_bed(&b, STEPS);
    if (hash != golden[kind]) fail_msg("kind %d: 0x%016llx", (int)kind, (unsigned long long)hash);
  }
}

static void test_threads_events_layouts(void **unused) {
  (void)unused;
  for (bed_kind kind = 0; kind < BED_KINDS; kind++) {
    for (int threads = test_thinned() ? 2 : 1; threads <= 4; threads *= 2) {
      const bed b = {.kind = kind, .threads = threads, .events = threads == 2, .strided = threads == 4};
      const bed c = {.kind = kind, .threads = threads, .events = threads == 1, .strided = threads != 4};
      assert_int_equal(hash_of_bed(&b, STEPS), golden[kind]);
      assert_int_equal(hash_of_bed(&c, STEPS), golden[kind]);
    }
  }
}

static void test_many_balls_on_threads(void **unused) {
  (void)unused;
  for (bed_kind kind = 0; kind < BED_KINDS; kind++) {
    graze_world *worlds[3];
    for (int i = 0; i < 3; i++) {
      const bed b = {.kind = kind, .threads = 1 << i, .events = true};
      const graze_contact_event *events, *first;
      uint64_t count, want;
      worlds[i] = make_bed(&b, 5000);
      run_world(worlds[i], bed_dt(&b), (uint64_t)test_rounds(30, 30));
      assert_int_equal(graze_world_get_hash(worlds[i]), graze_world_get_hash(worlds[0]));
      assert_int_equal(graze_world_get_events(worlds[0], &first, &want), GRAZE_OK);
      assert_int_equal(graze_world_get_events(worlds[i], &events, &count), GRAZE_OK);
      assert_int_equal(count, want);
      assert_same_events(events, first, count);
    }
    for (int i = 0; i < 3; i++) graze_world_destroy(worlds[i]);
  }
}

/* Any cuts; between runs everything that may be asked is asked. */
static void test_split_runs(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(2);
  for (int round = 0; round < test_rounds(6, 300); round++) {
    uint64_t state = seed + (uint64_t)round;
    const bed b = {.kind = (bed_kind)(round % BED_KINDS), .threads = 1, .events = random_below(&state, 2) != 0};
    graze_world *world = make_bed(&b, BED);
    for (uint64_t done = 0; done < STEPS;) {
      graze_world_sums sums;
      const graze_contact *contacts;
      uint64_t count, next = random_below(&state, 60);
      if (next > STEPS - done) next = STEPS - done;
      run_world(world, bed_dt(&b), next);
      done += next;
      if (random_below(&state, 2) != 0) assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
      if (random_below(&state, 2) != 0) assert_int_equal(graze_world_find_contacts(world, &contacts, &count), GRAZE_OK);
      assert_int_equal(graze_world_get_step(world), done);
      assert_near(graze_world_get_time(world), (double)done * bed_dt(&b), 0);
    }
    assert_int_equal(graze_world_get_hash(world), golden[b.kind]);
    graze_world_destroy(world);
  }
}

static void test_save_and_restore(void **unused) {
  (void)unused;
  char path[64];
  const uint64_t seed = test_seed(3);
  snprintf(path, sizeof path, "test_dynamics.%ld", (long)getpid());
  for (int round = 0; round < test_rounds(9, 300); round++) {
    uint64_t state = seed + (uint64_t)round;
    const bed b = {.kind = (bed_kind)(round % BED_KINDS), .threads = 1, .events = round % 2 != 0};
    graze_world *first = make_bed(&b, BED), *second = make_bed(&b, BED);
    graze_world_sums sums, other;
    uint64_t cut = random_below(&state, STEPS);
    run_world(first, bed_dt(&b), cut);
    assert_int_equal(graze_world_save(first, path), GRAZE_OK);
    run_world(second, bed_dt(&b), random_below(&state, 30)); /* somewhere else */
    assert_int_equal(graze_world_restore(second, path), GRAZE_OK);
    assert_int_equal(graze_world_get_step(second), cut);
    assert_int_equal(graze_world_get_hash(second), graze_world_get_hash(first));
    run_world(first, bed_dt(&b), STEPS - cut);
    run_world(second, bed_dt(&b), STEPS - cut);
    assert_int_equal(graze_world_get_hash(first), golden[b.kind]);
    assert_int_equal(graze_world_get_hash(second), golden[b.kind]);
    assert_int_equal(graze_world_get_sums(first, &sums), GRAZE_OK);
    assert_int_equal(graze_world_get_sums(second, &other), GRAZE_OK);
    assert_memory_equal(&sums, &other, sizeof sums);
    if (b.events) {
      const graze_contact_event *events[2];
      uint64_t count[2];
      assert_int_equal(graze_world_get_events(first, &events[0], &count[0]), GRAZE_OK);
      assert_int_equal(graze_world_get_events(second, &events[1], &count[1]), GRAZE_OK);
      assert_int_equal(count[0], count[1]);
      assert_same_events(events[0], events[1], count[0]);
    }
    graze_world_destroy(first);
    graze_world_destroy(second);
  }
  unlink(path);
}

static bool cancel_at(void *user, uint64_t done, uint64_t total) {
  (void)total;
  return done < *(uint64_t *)user;
}

static void test_cancelled_and_gone_on(void **unused) {
  (void)unused;
  for (bed_kind kind = 0; kind < BED_KINDS; kind++) {
    const bed b = {.kind = kind, .threads = 1};
    graze_world *world = make_bed(&b, BED);
    for (uint64_t at = 7; graze_world_get_step(world) < STEPS - 50; at += 10)
      assert_int_equal(graze_world_step(world, bed_dt(&b), 1000, cancel_at, &at), GRAZE_CANCELLED);
    run_world(world, bed_dt(&b), STEPS - graze_world_get_step(world));
    assert_int_equal(graze_world_get_hash(world), golden[kind]);
    graze_world_destroy(world);
  }
}

/* Powers of two change exponents alone. */
static void test_units(void **unused) {
  (void)unused;
  static const bed_units units[] = {{10, 20, -30}, {-40, 33, 5}, {0, 300, 0}, {0, -300, 0}, {-300, 0, 0}, {300, 0, 0}};
  for (bed_kind kind = 0; kind < BED_KINDS; kind++) {
    const bed plain = {.kind = kind, .threads = 1};
    graze_world *first = make_bed(&plain, BED);
    run_world(first, bed_dt(&plain), STEPS);
    for (size_t i = test_thinned() ? kind % 3 : 0; i < sizeof units / sizeof units[0]; i += test_thinned() ? 3 : 1) {
      const bed scaled = {.kind = kind, .threads = 1, .units = units[i]};
      graze_world *second = make_bed(&scaled, BED);
      double x[2][3 * BED], v[2][3 * BED], w[2][3 * BED];
      run_world(second, bed_dt(&scaled), STEPS);
      for (uint32_t set = 0; set < 2; set++) {
        graze_particle_state states[2] = {{x[0], v[0], w[0]}, {x[1], v[1], w[1]}};
        assert_int_equal(graze_world_get_particles(first, set, &states[0]), GRAZE_OK);
        if (set == graze_world_get_set_count(first)) break;
        assert_int_equal(graze_world_get_particles(second, set, &states[1]), GRAZE_OK);
        for (uint32_t k = 0; k < 3 * graze_world_get_particle_count(first, set); k++) {
          assert_true(x[1][k] == ldexp(x[0][k], units[i].length));
          assert_true(v[1][k] == ldexp(v[0][k], units[i].length - units[i].time));
          assert_true(w[1][k] == ldexp(w[0][k], -units[i].time));
        }
      }
      graze_world_destroy(second);
    }
    graze_world_destroy(first);
  }
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

enum { CROWD = 150, CROWD_MOVES = 120 }; /* the others are bodies that no force moves */

typedef struct crowd {
  int64_t x[CROWD][3], radius[CROWD];
  int64_t period; /* along x and y, or 0 */
} crowd;

static bool exactly_meet(const crowd *c, int i, int j) {
  __int128 d2 = 0;
  for (int k = 0; k < 3; k++) {
    int64_t d = c->x[i][k] - c->x[j][k];
    if (c->period != 0 && k < 2) d = llabs(d) > c->period - llabs(d) ? c->period - llabs(d) : llabs(d);
    d2 += (__int128)d * d;
  }
  return d2 <= (__int128)(c->radius[i] + c->radius[j]) * (c->radius[i] + c->radius[j]);
}

static graze_world *world_of(crowd *c, uint64_t *state, double unit) {
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  const graze_material m = hooke(1);
  const double floor[3] = {0, 0, 3 * unit}, up[3] = {0, 0, 1};
  double x[CROWD][3], radii[CROWD];
  int64_t side = 40, lengths[3] = {1, 2, 5};
  c->period = random_below(state, 2) != 0 ? side : 0;
  for (int k = 0; k < 3; k++) {
    def.bounds.max[k] = (double)side * unit;
    def.bounds.min[k] = 0;
    def.periodic[k] = c->period != 0 && k < 2;
  }
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  add_material(world, &m);
  for (int i = 0; i < CROWD; i++) {
    for (int k = 0; k < 3; k++) {
      c->x[i][k] = random_below(state, (uint32_t)side);
      x[i][k] = (double)c->x[i][k] * unit;
    }
    c->radius[i] = lengths[random_below(state, 3)];
    radii[i] = (double)c->radius[i] * unit;
  }
  add_balls(world, CROWD_MOVES, x[0], NULL, radii, 0, 1, 0);
  for (int i = CROWD_MOVES; i < CROWD; i++) {
    graze_body_def body = graze_default_body_def();
    graze_body_id id;
    body.type = i % 2 != 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    body.radius = radii[i];
    memcpy(body.position, x[i], sizeof body.position);
    assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  }
  assert_int_equal(graze_world_add_wall(world, floor, up, 0), GRAZE_OK);
  double point[3], normal[3];
  assert_int_equal(graze_world_get_wall_count(world), 1);
  assert_int_equal(graze_world_get_wall(world, 0, point, normal), GRAZE_OK);
  assert_memory_equal(point, floor, sizeof point);
  assert_memory_equal(normal, up, sizeof normal);
  assert_int_equal(graze_world_get_wall(world, 1, point, normal), GRAZE_ERROR_ARGUMENT);
  return world;
}

/* Balls on a lattice: touching ones are many. What two have that no force moves is no contact. */
static void test_contacts_are_exact(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(4);
  for (int round = 0; round < test_rounds(40, 4000); round++) {
    static crowd c;
    uint64_t state = seed + (uint64_t)round, count, at = 0;
    const graze_contact *list;
    graze_world_sums sums;
    const double unit = ldexp(1 + 2 * (double)random_below(&state, 100), (int)random_below(&state, 200) - 100);
    graze_world *world = world_of(&c, &state, unit);
    assert_int_equal(graze_world_find_contacts(world, &list, &count), GRAZE_OK);
    for (uint32_t i = 0; i < CROWD_MOVES; i++) {
      for (uint32_t j = i + 1; j < CROWD; j++) {
        const bool moves = j < CROWD_MOVES;
        if (!exactly_meet(&c, (int)i, (int)j)) continue;
        assert_true(at < count && list[at].a.index == i && list[at].b.index == (moves ? j : j - CROWD_MOVES));
        assert_int_equal(list[at].b.kind, moves ? GRAZE_MEMBER_PARTICLE : GRAZE_MEMBER_BODY);
        assert_true(list[at].overlap >= 0);
        at++;
      }
      if (c.x[i][2] - 3 > c.radius[i]) continue;
      assert_true(at < count && list[at].a.index == i && list[at].b.kind == GRAZE_MEMBER_WALL);
      assert_near(list[at].overlap, (double)(c.radius[i] - c.x[i][2] + 3) * unit, unit * 1e-12);
      at++;
    }
    assert_int_equal(at, count);
    assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
    assert_int_equal(sums.contacts, count);
    graze_world_destroy(world);
  }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

typedef struct kept_contacts {
  graze_contact *list;
  uint64_t count;
} kept_contacts;

static bool same_pair(const graze_member *a, const graze_member *b, const graze_member *c, const graze_member *d) {
  return memcmp(a, c, sizeof *a) == 0 && memcmp(b, d, sizeof *b) == 0;
}

static bool is_in(const kept_contacts *kept, const graze_member *a, const graze_member *b) {
  for (uint64_t i = 0; i < kept->count; i++) {
    if (kept->list[i].overlap > 0 && same_pair(&kept->list[i].a, &kept->list[i].b, a, b)) return true;
  }
  return false;
}

static kept_contacts keep_contacts(graze_world *world) {
  const graze_contact *list;
  kept_contacts kept;
  assert_int_equal(graze_world_find_contacts(world, &list, &kept.count), GRAZE_OK);
  kept.list = calloc(kept.count + 1, sizeof *list);
  assert_non_null(kept.list);
  if (kept.count > 0) memcpy(kept.list, list, kept.count * sizeof *list);
  return kept;
}

/* Events of `kind` in the step are those of the pairs in `now` that are not in `before`. */
static void check_step_events(const graze_contact_event *events, uint64_t count, graze_contact_event_kind kind,
                              const kept_contacts *now, const kept_contacts *before) {
  uint64_t expected = 0, told = 0;
  for (uint64_t i = 0; i < now->count; i++) {
    const graze_contact *c = &now->list[i];
    expected += c->overlap > 0 && !is_in(before, &c->a, &c->b);
  }
  for (uint64_t i = 0; i < count; i++) {
    if (events[i].kind != kind) continue;
    assert_true(is_in(now, &events[i].a, &events[i].b) && !is_in(before, &events[i].a, &events[i].b));
    told++;
  }
  assert_int_equal(told, expected);
}

/* Fast balls leave the list of neighbours in one step. */
static void test_events_on_threads_are_those_of_contacts(void **unused) {
  (void)unused;
  for (int fast = 0; fast < 2; fast++) {
    for (bed_kind kind = 0; kind < BED_SPRINGS; kind++) { /* with EULER events are those of the state before */
      const bed b = {.kind = kind, .threads = 2, .events = true};
      const double dt = bed_dt(&b) * (fast ? 8 : 1);
      graze_world *world = make_bed(&b, BED), *all = make_bed(&b, BED);
      const graze_contact_event *events, *rest;
      uint64_t count, left, hits = 0, steps = 60;
      kept_contacts before = {0};
      run_world(all, dt, steps);
      assert_int_equal(graze_world_get_events(all, &rest, &left), GRAZE_OK);
      for (uint64_t step = 1; step <= steps; step++) {
        run_world(world, dt, 1);
        assert_int_equal(graze_world_get_events(world, &events, &count), GRAZE_OK);
        assert_true(count <= left);
        assert_same_events(events, rest, count);
        rest += count;
        left -= count;
        kept_contacts now = keep_contacts(world);
        check_step_events(events, count, GRAZE_CONTACT_BEGAN, &now, &before);
        check_step_events(events, count, GRAZE_CONTACT_ENDED, &before, &now);
        for (uint64_t i = 0; i < count; i++) {
          assert_int_equal(events[i].step, step);
          hits += events[i].kind == GRAZE_CONTACT_HIT;
        }
        free(before.list);
        before = now;
      }
      assert_int_equal(left, 0);
      assert_true(hits > 0);
      free(before.list);
      graze_world_destroy(world);
      graze_world_destroy(all);
    }
  }
}

/* A ball on another, and one on a wall: BEGAN, HIT, ENDED, and impulses that are changes of momentum. */
static void test_impulses(void **unused) {
  (void)unused;
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  def.gravity[2] = 0;
  def.events = true;
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  graze_material stuff = hooke(1000);
  stuff.eta_n = 2;
  add_material(world, &stuff);
  const double x[2][3] = {{0, 0, 2.01}, {0, 0, -0.001}}, v[2][3] = {{0, 0, -1}, {0, 0, 0}};
  const double floor[3] = {0, 0, -100}, up[3] = {0, 0, 2};
  double after[2][3];
  graze_particle_state state = {.velocities = after[0]};
  const graze_contact_event *e;
  uint64_t count;
  add_balls(world, 2, x[0], v[0], NULL, 1, 2, 0);
  assert_int_equal(graze_world_add_wall(world, floor, up, 0), GRAZE_OK);
  run_world(world, 1e-3, 300);
  assert_int_equal(graze_world_get_events(world, &e, &count), GRAZE_OK);
  assert_int_equal(count, 3);
  assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(e[i].kind, (graze_contact_event_kind)i);
    assert_near(e[i].normal[2], 1, 1e-15);
  }
  assert_near(e[0].speed, 1, 0.01);
  assert_true(e[1].speed == e[0].speed);
  assert_near(e[1].impulse, 1, 0.1); /* m v / 2 of the one when both have one speed */
  assert_near(e[2].speed, after[0][2] - after[1][2], 1e-12);
  assert_near(e[2].impulse, -2 * after[1][2], 1e-12);
  assert_near(e[2].impulse, 2 * (after[0][2] + 1), 1e-12);
  graze_world_destroy(world);
}

/* ---- shapes of worlds -------------------------------------------------------------------------------------------- */

/* All push at once: more than the kernel takes at a time. */
static void test_thousands_around_one(void **unused) {
  (void)unused;
  enum { AROUND = 6000 };
  static double x[AROUND + 1][3], radii[AROUND + 1];
  long double force[3] = {0};
  double v[3 * (AROUND + 1)];
  const double k_n = 100, dt = 0x1p-20;
  uint64_t state = 11;
  graze_particle_state after = {.velocities = v};
  graze_material m = hooke(k_n);
  for (int i = 1; i <= AROUND; i++) {
    double length = 0;
    for (int k = 0; k < 3; k++) {
      x[i][k] = random_signed(&state) + (k == 0 ? 0.5 : 0);
      length += x[i][k] * x[i][k];
    }
    radii[i] = 0.001;
    for (int k = 0; k < 3; k++) x[i][k] *= (1 + 0.0005 * random_unit(&state)) / sqrt(length);
  }
  radii[0] = 1;
  for (int i = 1; i <= AROUND; i++) {
    long double d = 0;
    for (int k = 0; k < 3; k++) d += (long double)x[i][k] * x[i][k];
    d = sqrtl(d);
    long double overlap = radii[0] + (long double)radii[i] - d;
    for (int k = 0; k < 3 && overlap > 0; k++) force[k] -= k_n * overlap * x[i][k] / d;
  }
  for (int law = 0; law < 2; law++) {
    graze_world *world = make_world(0);
    if (law == 1) m.tangential = GRAZE_TANGENTIAL_SPRING;
    add_material(world, &m);
    add_balls(world, AROUND + 1, x[0], NULL, radii, 0, 1, 0);
    run_world(world, dt, 1);
    assert_int_equal(graze_world_get_particles(world, 0, &after), GRAZE_OK);
    double all[3] = {0, 0, 0};
    for (int i = 0; i <= AROUND; i++) {
      for (int k = 0; k < 3; k++) all[k] += v[3 * i + k];
    }
    for (int k = 0; k < 3; k++) {
      assert_near(v[k], (double)force[k] * dt, 1e-7 * fabs((double)force[k]) * dt);
      assert_near(all[k], 0, 1e-12 * fabs((double)force[0]) * dt);
    }
    graze_world_destroy(world);
  }
}

static void test_one_centre(void **unused) {
  (void)unused;
  for (int tangential = 0; tangential <= GRAZE_TANGENTIAL_FULL; tangential++) {
    graze_world *world = make_world(0);
    graze_material m = hooke(10);
    const double x[3][3] = {{5, 5, 5}, {5, 5, 5}, {50, 5, 5}};
    double v[3][3];
    graze_particle_state state = {.velocities = v[0]};
    const graze_contact *list;
    uint64_t count;
    m.tangential = (graze_tangential_law)tangential;
    m.eta_n = 1;
    m.friction = 1;
    add_material(world, &m);
    add_balls(world, 3, x[0], NULL, NULL, 1, 1, 0);
    assert_int_equal(graze_world_find_contacts(world, &list, &count), GRAZE_OK);
    assert_int_equal(count, 1);
    assert_true(list[0].overlap == 2 && list[0].normal[2] == -1);
    run_world(world, 1e-3, 3);
    assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
    assert_true(v[1][2] > 0 && v[0][2] == -v[1][2] && v[0][0] == 0 && v[2][2] == 0);
    graze_world_destroy(world);
  }
}

static void test_empty_worlds(void **unused) {
  (void)unused;
  graze_world *world = make_world(-1);
  graze_world_sums sums;
  const graze_contact *list;
  uint64_t count = 9;
  run_world(world, 1, 0);
  run_world(world, 1, 5);
  assert_int_equal(graze_world_get_step(world), 5);
  assert_int_equal(graze_world_get_hash(world), 0);
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_true(sums.energy == 0 && sums.contacts == 0);
  assert_int_equal(graze_world_find_contacts(world, &list, &count), GRAZE_OK);
  assert_int_equal(count, 0);
  graze_world_destroy(world);
  world = make_world(-1);
  const graze_material m = hooke(1);
  const double x[3] = {0};
  add_material(world, &m);
  assert_int_equal(add_balls(world, 0, NULL, NULL, NULL, 1, 1, 0), 0);
  assert_int_equal(add_balls(world, 1, x, NULL, NULL, 1, 1, 0), 1);
  assert_int_equal(add_balls(world, 0, NULL, NULL, NULL, 1, 1, 0), 2);
  run_world(world, 1, 1);
  const graze_particle_state none = {0};
  assert_int_equal(graze_world_get_particles(world, 2, &none), GRAZE_OK);
  assert_int_equal(graze_world_get_particle_count(world, 1), 1);
  assert_int_equal(graze_world_get_set_count(world), 3);
  graze_world_destroy(world);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* A state that is taken out and put into another world goes on as it would have. */
static void test_state_put_in(void **unused) {
  (void)unused;
  const bed b = {.kind = BED_DASHPOTS, .threads = 1};
  graze_world *first = make_bed(&b, BED), *second = make_bed(&b, BED);
  run_world(first, bed_dt(&b), 50);
  for (uint32_t set = 0; set < graze_world_get_set_count(first); set++) {
    double x[3 * BED], v[3 * BED], w[3 * BED];
    graze_particle_state state = {x, v, w};
    assert_int_equal(graze_world_get_particles(first, set, &state), GRAZE_OK);
    assert_int_equal(graze_world_set_particles(first, set, &state), GRAZE_OK); /* looks again at forces */
    assert_int_equal(graze_world_set_particles(second, set, &state), GRAZE_OK);
    x[4] = (double)NAN;
    assert_int_equal(graze_world_set_particles(second, set, &state), GRAZE_ERROR_NOT_FINITE);
  }
  assert_int_equal(graze_world_get_hash(first), graze_world_get_hash(second));
  run_world(first, bed_dt(&b), 50);
  run_world(second, bed_dt(&b), 50);
  assert_int_equal(graze_world_get_hash(first), graze_world_get_hash(second));
  graze_world_destroy(first);
  graze_world_destroy(second);
}

/* A moving ball pushes another before it, and turns itself. */
static void test_kinematic_ball(void **unused) {
  (void)unused;
  graze_world *world = make_world(0);
  graze_material m = hooke(1000);
  graze_body_def def = graze_default_body_def(), now;
  graze_body_id pusher, pushed;
  const double none[3] = {0}, forward[3] = {1, 0, 0}, turning[3] = {0, 0, 2};
  m.eta_n = 50;
  add_material(world, &m);
  def.name = "pusher";
  def.type = GRAZE_BODY_KINEMATIC;
  def.radius = 1;
  def.user_id = 77;
  assert_int_equal(graze_world_add_body(world, &def, &pusher), GRAZE_OK);
  def.type = GRAZE_BODY_DYNAMIC;
  def.name = NULL;
  def.mass = 1;
  def.position[0] = 2.5;
  assert_int_equal(graze_world_add_body(world, &def, &pushed), GRAZE_OK);
  run_world(world, 1e-3, 100);
  assert_int_equal(graze_world_set_velocity(world, pushed, forward, none), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_set_velocity(world, pusher, forward, turning), GRAZE_OK);
  run_world(world, 1e-3, 3000);
  assert_int_equal(graze_world_get_body(world, pusher, &now), GRAZE_OK);
  assert_string_equal(now.name, "pusher");
  assert_int_equal(now.user_id, 77);
  assert_near(now.position[0], 3, 1e-11);
  assert_near(now.orientation[0], cos(3), 1e-5);
  assert_near(now.orientation[3], sin(3), 1e-5);
  assert_int_equal(graze_world_get_body(world, pushed, &now), GRAZE_OK);
  assert_true(now.velocity[0] >= 1 && now.position[0] > 4.9 && now.mass == 1);
  pusher.generation = 0;
  assert_int_equal(graze_world_get_body(world, pusher, &now), GRAZE_ERROR_HANDLE);
  graze_world_destroy(world);
}

/* What holds between two materials may change after a look at the state, and not after the first step. */
static void test_law_changes(void **unused) {
  (void)unused;
  graze_world *world = make_world(0);
  graze_material m = hooke(1000);
  graze_world_sums sums;
  uint32_t number;
  const double x[2][3] = {{0, 0, 0}, {1.9, 0, 0}}, v[2][3] = {{0, 0.1, 0}, {0, -0.1, 0}};
  add_material(world, &m);
  add_balls(world, 2, x[0], v[0], NULL, 1, 1, 0);
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  m.friction = 0.5;
  assert_int_equal(graze_world_set_pair(world, 0, 0, &m), GRAZE_OK);
  run_world(world, 1e-3, 5);
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_true(sums.rotational > 0);
  assert_int_equal(graze_world_set_pair(world, 0, 0, &m), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_add_material(world, "late", &m, &number), GRAZE_ERROR_ARGUMENT);
  graze_world_destroy(world);
}

/* A ball that is put a period away is its image in the box. */
static void test_outside_of_the_periods(void **unused) {
  (void)unused;
  static const double away[] = {0, 64, -64, 640};
  double first[2][3];
  for (int i = 0; i < 4; i++) {
    graze_world_def def = graze_default_world_def();
    graze_world *world = NULL;
    graze_material m = hooke(1024);
    double x[2][3] = {{32, 8, 8}, {33.75, 8, 8}}, v[2][3];
    const graze_particle_state state = {.velocities = v[0]};
    def.gravity[2] = 0;
    def.periodic[0] = true;
    for (int k = 0; k < 3; k++) def.bounds.min[k] = 0, def.bounds.max[k] = 64;
    assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
    add_material(world, &m);
    x[0][0] += away[i];
    add_balls(world, 2, x[0], NULL, NULL, 1, 1, 0);
    run_world(world, 0x1p-9, 20);
    assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
    if (i == 0) memcpy(first, v, sizeof v);
    assert_true(v[1][0] > 0.1);
    assert_memory_equal(first, v, sizeof v);
    graze_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_threads_events_layouts),
      cmocka_unit_test(test_many_balls_on_threads),
      cmocka_unit_test(test_split_runs),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_cancelled_and_gone_on),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_contacts_are_exact),
      cmocka_unit_test(test_events_on_threads_are_those_of_contacts),
      cmocka_unit_test(test_impulses),
      cmocka_unit_test(test_thousands_around_one),
      cmocka_unit_test(test_one_centre),
      cmocka_unit_test(test_empty_worlds),
      cmocka_unit_test(test_state_put_in),
      cmocka_unit_test(test_kinematic_ball),
      cmocka_unit_test(test_law_changes),
      cmocka_unit_test(test_outside_of_the_periods),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
