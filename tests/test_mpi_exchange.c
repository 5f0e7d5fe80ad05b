/* Rounds of messages between ranks: everything arrives once, in its own round, in whatever order events come. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "families.h"
#include "mpi/exchange.h"
#include "mpi_ranks.h"

enum { ROUNDS = 12, MOST_PARCELS = 8, MOST_RECORDS = 40 };

typedef struct record {
  uint64_t from, to, round, number;
} record;

typedef struct player {
  mpi_transport *transport;
  mpi_exchange exchange;
  uint64_t round, random;
  bool under_way;
  mpi_parcel parcels[MOST_PARCELS];
  record sent[MOST_PARCELS * MOST_RECORDS];
  size_t parcel_count;
  char *room; /* of the last message */
  size_t room_bytes;
  uint64_t room_from;
  uint64_t hash_sent, hash_received; /* of all rounds */
} player;

typedef struct game {
  player players[MOST_RANKS];
  size_t longest;
  bool throws_away;
} game;

static uint64_t hash_record(const record *r) {
  return splitmix64(splitmix64(splitmix64(splitmix64(r->from) + r->to) + r->round) + r->number);
}

/* What arrived last is looked at when the next message comes, or at the end of the round. */
static void look(player *p) {
  for (size_t at = 0; at < p->room_bytes; at += sizeof(record)) {
    record r;
    memcpy(&r, p->room + at, sizeof r);
    assert_int_equal(r.from, p->room_from);
    assert_int_equal(r.to, p->transport->rank);
    assert_int_equal(r.round, p->round);
    p->hash_received += hash_record(&r);
  }
  free(p->room);
  p->room = NULL;
  p->room_bytes = 0;
}

static void *take(void *user, uint32_t from, size_t size) {
  player *p = user;
  look(p);
  assert_int_equal(size % sizeof(record), 0);
  p->room = malloc(size);
  p->room_bytes = size;
  p->room_from = from;
  return p->room;
}

static void *throw_away(void *user, uint32_t from, size_t size) {
  (void)user;
  (void)from;
  (void)size;
  return NULL;
}

/* To a few ranks, itself and one twice among them; sometimes nothing. */
static void pack(player *p) {
  size_t records = 0;
  p->parcel_count = random_below(&p->random, MOST_PARCELS + 1);
  for (size_t i = 0; i < p->parcel_count; i++) {
    uint32_t to = random_below(&p->random, p->transport->ranks), count = 1 + random_below(&p->random, MOST_RECORDS);
    p->parcels[i] = (mpi_parcel){to, p->sent + records, count * sizeof(record)};
    for (uint32_t k = 0; k < count; k++, records++) {
      p->sent[records] = (record){p->transport->rank, to, p->round, records};
      p->hash_sent += hash_record(&p->sent[records]);
    }
  }
}

static bool play(void *user, uint32_t i) {
  game *g = user;
  player *p = &g->players[i];
  bool done = false;
  if (!p->under_way) {
    if (p->round == ROUNDS) return true;
    pack(p);
    const mpi_receiver receiver = {g->throws_away ? throw_away : take, p};
    assert_int_equal(gz_mpi_exchange_begin(&p->exchange, p->transport, p->round, p->parcels, p->parcel_count,
                                           sizeof(record), g->longest, receiver),
                     GRAZE_OK);
    p->under_way = true;
  }
  assert_int_equal(gz_mpi_exchange_test(&p->exchange, &done), GRAZE_OK);
  if (!done) return false;
  look(p);
  memset(p->sent, 0xFF, sizeof p->sent); /* the messages have been received, so this is seen by nobody */
  p->round++;
  p->under_way = false;
  return false;
}

static void run_game(uint32_t ranks, uint64_t seed, size_t longest, bool throws_away) {
  game *g = calloc(1, sizeof *g);
  test_ranks r;
  uint64_t difference[MOST_RANKS];
  test_ranks_open(&r, ranks, seed, NULL);
  g->longest = longest;
  g->throws_away = throws_away;
  for (uint32_t i = 0; i < r.held; i++)
    g->players[i] = (player){.transport = r.transports[i], .random = seed + r.first + i};
  test_ranks_run(&r, play, g);
  for (uint32_t i = 0; i < r.held; i++)
    difference[i] = throws_away ? g->players[i].hash_received : g->players[i].hash_sent - g->players[i].hash_received;
  assert_int_equal(test_ranks_sum(&r, difference), 0);
  test_ranks_close(&r);
  free(g);
}

static uint64_t seed_of_job(uint64_t number) { /* the same on every rank */
  return getenv("OMPI_COMM_WORLD_SIZE") != NULL ? splitmix64(number) : test_seed(number);
}

static void test_rounds_of_messages(void **unused) {
  (void)unused;
  static const uint32_t ranks[] = {1, 2, 3, 4, 7, 16, 64};
  for (uint64_t i = 0; i < 7; i++) {
    for (int k = 0; k < test_rounds(6, 60); k++) {
      uint64_t seed = seed_of_job(100 * i + (uint64_t)k);
      run_game(ranks[i], seed, k % 2 == 0 ? MPI_LONGEST_MESSAGE : 5 * sizeof(record) + 3, false);
    }
  }
}

static void test_thrown_away(void **unused) {
  (void)unused;
  run_game(5, seed_of_job(1), MPI_LONGEST_MESSAGE, true);
}

/* ---- collectives ---- */

typedef struct walker {
  mpi_transport *transport;
  int stage;
  bool under_way;
  mpi_totals totals;
  uint64_t mine, all[MOST_RANKS], shared;
} walker;

enum { STAGES = 40 };

static void begin_stage(walker *w) {
  mpi_transport *t = w->transport;
  const uint32_t rank = t->rank;
  const uint64_t stage = (uint64_t)w->stage;
  w->mine = rank + 1000 * stage;
  w->shared = rank == stage % t->ranks ? stage : UINT64_MAX;
  w->totals = (mpi_totals){.sums = {rank, UINT64_MAX}, .maxes = {[3] = rank ^ stage}};
  graze_status status = w->stage % 4 == 0   ? t->calls->barrier(t)
                        : w->stage % 4 == 1 ? t->calls->gather(t, &w->mine, sizeof w->mine, w->all)
                        : w->stage % 4 == 2 ? t->calls->reduce(t, &w->totals)
                                            : t->calls->share(t, (uint32_t)stage % t->ranks, &w->shared, 8);
  assert_int_equal(status, GRAZE_OK);
}

static void end_stage(const walker *w) {
  const uint64_t ranks = w->transport->ranks, stage = (uint64_t)w->stage;
  uint64_t most = 0;
  for (uint64_t i = 0; i < ranks; i++) {
    if (stage % 4 == 1) assert_int_equal(w->all[i], i + 1000 * stage);
    if ((i ^ stage) > most) most = i ^ stage;
  }
  if (stage % 4 == 2) {
    assert_int_equal(w->totals.sums[0], ranks * (ranks - 1) / 2);
    assert_int_equal(w->totals.sums[1], -ranks); /* mod 2^64 */
    assert_int_equal(w->totals.maxes[3], most);
  }
  if (stage % 4 == 3) assert_int_equal(w->shared, stage);
}

static bool walk(void *user, uint32_t i) {
  walker *w = (walker *)user + i;
  bool done = false;
  if (w->stage == STAGES) return true;
  if (!w->under_way) begin_stage(w);
  w->under_way = true;
  assert_int_equal(w->transport->calls->finished(w->transport, &done), GRAZE_OK);
  if (!done) return false;
  end_stage(w);
  w->under_way = false;
  w->stage++;
  return false;
}

static void test_collectives(void **unused) {
  (void)unused;
  static const uint32_t ranks[] = {1, 2, 3, 7, 64};
  static walker walkers[MOST_RANKS];
  for (uint64_t k = 0; k < 5; k++) {
    test_ranks r;
    test_ranks_open(&r, ranks[k], seed_of_job(500 + k), NULL);
    memset(walkers, 0, sizeof walkers);
    for (uint32_t i = 0; i < r.held; i++) walkers[i].transport = r.transports[i];
    test_ranks_run(&r, walk, walkers);
    test_ranks_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rounds_of_messages),
      cmocka_unit_test(test_thrown_away),
      cmocka_unit_test(test_collectives),
  };
  test_ranks_begin();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  test_ranks_end();
  return failed;
}
