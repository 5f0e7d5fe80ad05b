/* bench/contest.h: one workload on one input, run by ours and by every peer that offers the task, in turns. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "bench.h"
#include "peer_link.h"

/* What one run gave. `seconds` has a time per item that is timed by itself (poses); one for most workloads. */
typedef struct sample {
  uint64_t count, hash, bytes;
  uint32_t timed;
  double seconds[BENCH_ITEMS_MAX];
  char gave_up[64]; /* why there is no result; "" when there is one */
} sample;

/* Runs once. `check` asks for the hash and the answers; such a run warms up and is not timed. */
typedef void (*run_function)(void *argument, bool check, sample *out);

typedef struct entry {
  char name[48]; /* "cpu", "cpu/full", "fcl/obbrss" */
  bool ours, failed, no_hash;
  bool alternative; /* one of those of which the first entry picks */
  int threads;      /* 0: as the bench runs */
  run_function run;
  void *argument;
  peer *program;
  char command[256];
  sample checked, *samples;
  uint32_t sample_count;
  double spent;
  /* filled in by judging */
  bool right;
  uint64_t wrong;
  char note[192];
} entry;

typedef struct contest {
  bench *b;
  char name[96];
  const char *unit; /* of an item */
  uint64_t size, items;
  double budget; /* seconds: an entry that used more stops after the least number of rounds; 0: as usual */
  bool has_expected;
  uint64_t expected_count, expected_hash;
  /* Fills right, wrong and note from entry->checked; NULL: compares count and hash with the expected ones. */
  void (*judge)(struct contest *c, entry *e);
  void *judge_argument;
  const char *answers; /* path where peers leave their answers, or NULL */
  entry *entries;
  size_t entry_count;
} contest;

void contest_begin(contest *c, bench *b, const char *unit, uint64_t size, uint64_t items, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void contest_expect(contest *c, uint64_t count, uint64_t hash);

/* What it returns may be filled in further until the next entry is added. */
entry *contest_ours(contest *c, const char *name, run_function run, void *argument);

/* Another's method that runs in this program. */
entry *contest_rival(contest *c, const char *name, run_function run, void *argument);

/* An entry of ours that is not run, with the reason. */
entry *contest_left_out(contest *c, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds the peers that offer `task`, after `setup` lines (NULL-terminated list) went to each. `no_hash`: the task has
 * only a count. */
void contest_peers(contest *c, const char *task, bool no_hash, const char *const *setup);

/* Runs, judges, reports. */
void contest_end(contest *c);

#endif
