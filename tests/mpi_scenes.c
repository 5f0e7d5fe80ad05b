/* Boxes on ranks; see mpi_scenes.h. */
#include "mpi_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "families.h"
#include "mpi/world.h"

const char *mpi_family_name(int kind) {
  static const char *const names[] = {"none",     "few",       "same",           "needles",
                                      "touching", "far heaps", "twelve decades", "ends"};
  return kind < BOXES_FAMILIES ? box_family_name((box_family)kind) : names[kind - BOXES_FAMILIES];
}

/* ---- boxes ---- */

static graze_box cube(const double at[3], double edge) {
  return (graze_box){{at[0], at[1], at[2]}, {at[0] + edge, at[1] + edge, at[2] + edge}};
}

static graze_box needle_or_dust(uint64_t *random, uint32_t n, uint32_t i) {
  const double reach = cbrt(n);
  const double at[3] = {reach * random_unit(random), reach * random_unit(random), reach * random_unit(random)};
  graze_box box = cube(at, 0.5 * random_unit(random));
  if (i % 100 == 0) return (graze_box){{-1, -1, -1}, {reach + 1, reach + 1, reach + 1}};
  if (i % 25 == 1) {
    int axis = (int)random_below(random, 3);
    box.min[axis] = -1;
    box.max[axis] = reach + 1;
  }
  return box;
}

static graze_box at_the_ends(uint64_t *random) {
  static const double numbers[] = {1e300, -1e300, 1e-300, -1e-300, 0.0, -0.0, 1, -1, 1e308, -1e308, 5e-324};
  graze_box box;
  for (int k = 0; k < 3; k++) {
    double x = numbers[random_below(random, 11)], y = random_below(random, 2) ? x : numbers[random_below(random, 11)];
    if (random_below(random, 2) == 0) x *= random_unit(random);
    box.min[k] = x < y ? x : y;
    box.max[k] = x < y ? y : x;
  }
  return box;
}

static graze_box one_box(int kind, uint64_t *random, uint32_t n, uint32_t i) {
  double at[3];
  if (kind < BOXES_FAMILIES) return boxes_one((box_family)kind, random, n);
  for (int k = 0; k < 3; k++) at[k] = cbrt(n) * random_unit(random);
  switch (kind) {
    case MPI_SAME:
      return (graze_box){{1, 2, 3}, {4, 5, 6}};
    case MPI_NEEDLES:
      return needle_or_dust(random, n, i);
    case MPI_TOUCHING: {
      const uint32_t side = (uint32_t)ceil(cbrt(n));
      const double corner[3] = {4.0 * (i % side), 4.0 * (i / side % side), -4.0 * (i / side / side)};
      return cube(corner, 4);
    }
    case MPI_FAR_HEAPS:
      at[i % 3] += i % 2 == 0 ? 1e12 : 0;
      return cube(at, 1);
    case MPI_TWELVE:
      for (int k = 0; k < 3; k++) at[k] *= 1e6 / cbrt(n);
      return cube(at, pow(10, 12 * random_unit(random) - 6));
    case MPI_ENDS:
      return at_the_ends(random);
    default:
      return cube(at, 1);
  }
}

static uint64_t id_of(uint32_t i, uint32_t n, bool wide, uint64_t salt) {
  uint64_t id = (i * (uint64_t)7 + salt % n) % (7 * (uint64_t)n) + 3; /* differ, in another order than the boxes */
  return wide && i % 2 == 0 ? id << 33 : id;
}

static int compare_places(const void *x, const void *y) {
  const graze_box *p = x, *q = y;
  return (p->min[0] > q->min[0]) - (p->min[0] < q->min[0]);
}

mpi_scene mpi_scene_make(int kind, uint64_t *random, uint32_t n, uint32_t ranks, mpi_distribution how, bool grouped,
                         bool wide) {
  if (kind == MPI_NONE) n = 0;
  if (kind == MPI_FEW) n = random_below(random, ranks < 5 ? ranks + 1 : 6);
  mpi_scene s = {.n = n};
  s.boxes = calloc(n + 1, sizeof *s.boxes);
  s.ids = calloc(n + 1, sizeof *s.ids);
  s.groups = grouped ? calloc(n + 1, sizeof *s.groups) : NULL;
  s.owners = calloc(n + 1, sizeof *s.owners);
  for (uint32_t i = 0; i < n; i++) s.boxes[i] = one_box(kind, random, n, i);
  if (how == BY_PLACE) qsort(s.boxes, n, sizeof *s.boxes, compare_places);
  const uint32_t one = random_below(random, ranks);
  const uint64_t salt = random_next(random);
  for (uint32_t i = 0; i < n; i++) {
    s.ids[i] = id_of(i, n, wide, salt);
    if (grouped) s.groups[i] = i % 5 == 0 ? UINT32_MAX : random_below(random, 4);
    s.owners[i] = how == BY_BLOCKS || how == BY_PLACE ? (uint32_t)((uint64_t)i * ranks / n)
                  : how == SHUFFLED                   ? random_below(random, ranks)
                                                      : one;
  }
  return s;
}

void mpi_scene_free(mpi_scene *s) {
  free(s->boxes);
  free(s->ids);
  free(s->groups);
  free(s->owners);
}

/* ---- the slow answer ---- */

static int compare_pairs(const void *x, const void *y) {
  const graze_mpi_pair *p = x, *q = y;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return p->b < q->b ? -1 : p->b > q->b;
}

mpi_truth mpi_truth_find(const mpi_scene *s) {
  mpi_truth t = {0};
  uint64_t count = 0;
  graze_box_pair *pairs = boxes_pairs(s->boxes, s->n, NULL, NULL, &count);
  t.pairs = calloc(count + 1, sizeof *t.pairs);
  for (uint64_t i = 0; i < count; i++) {
    uint32_t a = pairs[i].a, b = pairs[i].b;
    if (s->groups != NULL && s->groups[a] == s->groups[b] && s->groups[a] != UINT32_MAX) continue;
    if (s->ids[a] > s->ids[b]) {
      a = pairs[i].b;
      b = pairs[i].a;
    }
    t.pairs[t.count++] =
        (graze_mpi_pair){.a = s->ids[a], .b = s->ids[b], .a_rank = s->owners[a], .b_rank = s->owners[b]};
    t.hash += (s->ids[a] | s->ids[b]) >> 32 == 0 ? graze_pair_hash((uint32_t)s->ids[a], (uint32_t)s->ids[b])
                                                 : splitmix64(splitmix64(s->ids[a]) + s->ids[b]);
  }
  free(pairs);
  qsort(t.pairs, t.count, sizeof *t.pairs, compare_pairs);
  return t;
}

void mpi_truth_free(mpi_truth *truth) {
  free(truth->pairs);
}

static const graze_mpi_pair *look_up(const mpi_truth *t, const graze_mpi_pair *pair) {
  return t != NULL && t->count > 0 ? bsearch(pair, t->pairs, t->count, sizeof *pair, compare_pairs) : NULL;
}

/* ---- steps ---- */

/* What a rank contributes: the numbers of its boxes in the scene, and copies of these. */
typedef struct mpi_hand {
  uint32_t n;
  double *boxes;
  uint64_t *ids;
  uint32_t *groups;
} mpi_hand;

static mpi_hand *deal(const mpi_scene *s, uint32_t rank) {
  mpi_hand *h = calloc(1, sizeof *h);
  h->boxes = calloc(s->n + 1, sizeof(graze_box));
  h->ids = calloc(s->n + 1, sizeof *h->ids);
  h->groups = s->groups != NULL ? calloc(s->n + 1, sizeof *h->groups) : NULL;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->owners[i] != rank) continue;
    memcpy(h->boxes + 6 * (size_t)h->n, &s->boxes[i], sizeof s->boxes[i]);
    h->ids[h->n] = s->ids[i];
    if (h->groups != NULL) h->groups[h->n] = s->groups[i];
    h->n++;
  }
  return h;
}

static void free_hand(mpi_hand *h) {
  if (h == NULL) return;
  free(h->boxes);
  free(h->ids);
  free(h->groups);
  free(h);
}

/* In several calls, an empty one among them. */
static void contribute(mpi_crew *crew, uint32_t i) {
  const mpi_hand *h = crew->hands[i];
  const uint32_t clients = crew->clients > 0 ? crew->clients : 1;
  for (uint32_t c = 0; c < clients; c++) {
    const uint32_t first = (uint32_t)((uint64_t)h->n * c / clients),
                   end = (uint32_t)((uint64_t)h->n * (c + 1) / clients);
    const graze_mpi_boxes boxes = {.boxes = {.data = h->boxes + 6 * (size_t)first, .precision = GRAZE_DOUBLE},
                                   .count = end - first,
                                   .ids = h->ids + first,
                                   .groups = h->groups != NULL ? h->groups + first : NULL};
    assert_int_equal(graze_mpi_contribute(crew->worlds[i], &boxes), GRAZE_OK);
  }
}

static bool take_part(void *user, uint32_t i) {
  mpi_crew *crew = user;
  bool done = false;
  if (!crew->begun[i]) {
    contribute(crew, i);
    crew->begun[i] = true;
    crew->statuses[i] = graze_mpi_begin(crew->worlds[i], crew->load[i]);
    if (crew->statuses[i] != GRAZE_OK) return true;
  }
  crew->statuses[i] = graze_mpi_test(crew->worlds[i], &done);
  return done || crew->statuses[i] != GRAZE_OK;
}

void mpi_crew_step(mpi_crew *crew, const mpi_scene *scene) {
  crew->scene = scene;
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    free_hand(crew->hands[i]);
    crew->hands[i] = deal(scene, crew->ranks.first + i);
    crew->begun[i] = false;
  }
  test_ranks_run(&crew->ranks, take_part, crew);
}

void mpi_crew_open(mpi_crew *crew, uint32_t ranks, uint64_t seed, const graze_mpi_world_def *def,
                   graze_context *const *contexts) {
  memset(crew, 0, sizeof *crew);
  test_ranks_open(&crew->ranks, ranks, seed, contexts);
  crew->def = *def;
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    graze_context *context = contexts != NULL ? contexts[i] : shared_context(1);
    crew->statuses[i] = gz_mpi_world_open(context, crew->ranks.transports[i], def, NULL, &crew->worlds[i]);
    if (crew->statuses[i] == GRAZE_OK) crew->ranks.transports[i] = NULL;
  }
}

void mpi_crew_close(mpi_crew *crew) {
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    graze_mpi_world_destroy(crew->worlds[i]);
    free_hand(crew->hands[i]);
  }
  test_ranks_close(&crew->ranks);
}

/* ---- checking ---- */

static uint64_t count_common(const mpi_truth *x, const mpi_truth *y) {
  uint64_t common = 0;
  for (uint64_t i = 0; i < x->count; i++) common += look_up(y, &x->pairs[i]) != NULL;
  return common;
}

/* The pair is told with its boxes' owners, and its event is right. */
static void check_pair(const mpi_crew *crew, uint32_t i, const graze_mpi_pair *pair, const mpi_truth *truth,
                       const mpi_truth *before, const char *what) {
  const bool ended = pair->event == GRAZE_MPI_ENDED;
  const graze_mpi_pair *right = look_up(ended ? before : truth, pair);
  if (right == NULL)
    fail_msg("%s: %llu %llu is no pair", what, (unsigned long long)pair->a, (unsigned long long)pair->b);
  assert_int_equal(pair->a_rank, right->a_rank);
  assert_int_equal(pair->b_rank, right->b_rank);
  const uint32_t rank = crew->ranks.first + i;
  if (crew->def.delivery == GRAZE_MPI_OWNERS) assert_true(pair->a_rank == rank || pair->b_rank == rank);
  const mpi_hand *h = crew->hands[i];
  if (!ended && pair->a_rank == rank) assert_int_equal(h->ids[pair->a_number], pair->a);
  if (!ended && pair->b_rank == rank) assert_int_equal(h->ids[pair->b_number], pair->b);
  if (!crew->def.events || crew->def.delivery == GRAZE_MPI_FINDER) return;
  if (ended) assert_null(look_up(truth, pair));
  if (!ended) assert_int_equal(pair->event, look_up(before, pair) ? GRAZE_MPI_PERSISTS : GRAZE_MPI_BEGAN);
}

static uint64_t deliveries_of(const mpi_truth *truth, bool owners) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < truth->count; i++) sum += owners && truth->pairs[i].a_rank != truth->pairs[i].b_rank ? 2 : 1;
  return sum;
}

static void check_lists(mpi_crew *crew, const mpi_truth *truth, const mpi_truth *before, const char *what) {
  uint64_t counts[MOST_RANKS], last[2] = {0, 0};
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    const graze_mpi_result r = graze_mpi_get_result(crew->worlds[i]);
    counts[i] = r.count;
    for (uint64_t k = 0; k < r.count + r.ended_count; k++) {
      check_pair(crew, i, &r.list[k], truth, before, what);
      if (k > 0 && k != r.count) assert_true(compare_pairs(&r.list[k - 1], &r.list[k]) < 0);
    }
    if (crew->def.delivery != GRAZE_MPI_SORTED || r.count == 0) continue;
    const graze_mpi_pair *p = &r.list[0];
    assert_true(p->a > last[0] || (p->a == last[0] && p->b > last[1]));
    last[0] = r.list[r.count - 1].a;
    last[1] = r.list[r.count - 1].b;
  }
  uint64_t want =
      crew->def.delivery == GRAZE_MPI_COUNT ? 0 : deliveries_of(truth, crew->def.delivery == GRAZE_MPI_OWNERS);
  uint64_t got = test_ranks_sum(&crew->ranks, counts);
  if (got != want)
    fail_msg("%s: %llu pairs were delivered, not %llu", what, (unsigned long long)got, (unsigned long long)want);
}

void mpi_crew_check(mpi_crew *crew, const mpi_truth *truth, const mpi_truth *before, const char *what) {
  const uint64_t common = before != NULL ? count_common(truth, before) : 0, was = before != NULL ? before->count : 0;
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    if (crew->statuses[i] != GRAZE_OK) fail_msg("%s: %s", what, shared_error()->message);
    const graze_mpi_result r = graze_mpi_get_result(crew->worlds[i]);
    if (r.pairs != truth->count || r.hash != truth->hash)
      fail_msg("%s: %llu pairs, not %llu (or other ones)", what, (unsigned long long)r.pairs,
               (unsigned long long)truth->count);
    assert_int_equal(r.objects, crew->scene->n);
    assert_true(frexp(r.voxel, &(int){0}) == 0.5);
    if (!crew->def.events) continue;
    assert_int_equal(r.persist, common);
    assert_int_equal(r.began, truth->count - common);
    assert_int_equal(r.ended, was - common);
  }
  check_lists(crew, truth, before, what);
}
