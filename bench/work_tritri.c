/* bench/work_tritri.c: triangle pairs. Ours, the plain tests as baselines, the peers; every answer of every engine is
 * compared with integer arithmetic. `plain` measures what exactness costs: the same SIMD code without error bounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "plain_tritri.h"
#include "triangle_pairs.h"

typedef struct job {
  bench *b;
  pair_set set;
  graze_tritri *results;
  unsigned char *answers;
  char *answer_path;
} job;

typedef struct plain_test {
  job *job;
  bool (*test)(const double a[9], const double b[9]);
} plain_test;

static uint64_t total(const unsigned char *answers, uint32_t n) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += answers[i];
  return sum;
}

static void finish(job *j, double seconds, sample *out) {
  out->timed = 1;
  out->seconds[0] = seconds;
  out->count = total(j->answers, j->set.count);
}

static void run_batch(void *argument, bool check, sample *out) {
  job *j = argument;
  (void)check;
  double start = seconds_now();
  must(graze_tritri_batch(j->b->context, j->set.count, (const double *const *)j->set.columns,
                          (const double *const *)j->set.columns + 9, j->results),
       "graze_tritri_batch");
  double seconds = seconds_now() - start;
  for (uint32_t i = 0; i < j->set.count; i++) j->answers[i] = j->results[i].kind != GRAZE_KIND_NONE;
  finish(j, seconds, out);
}

static void run_single(void *argument, bool check, sample *out) {
  job *j = argument;
  (void)check;
  double start = seconds_now();
  for (uint32_t i = 0; i < j->set.count; i++) {
    const double *t = j->set.corners + 18 * (size_t)i;
    must(graze_tritri_test(t, t + 9, &j->results[i]), "graze_tritri_test");
  }
  double seconds = seconds_now() - start;
  for (uint32_t i = 0; i < j->set.count; i++) j->answers[i] = j->results[i].kind != GRAZE_KIND_NONE;
  finish(j, seconds, out);
}

static void run_plain(void *argument, bool check, sample *out) {
  plain_test *p = argument;
  job *j = p->job;
  (void)check;
  double start = seconds_now();
  for (uint32_t i = 0; i < j->set.count; i++) {
    const double *t = j->set.corners + 18 * (size_t)i;
    j->answers[i] = p->test(t, t + 9);
  }
  finish(j, seconds_now() - start, out);
}

static bool read_answers(const job *j) {
  FILE *f = fopen(j->answer_path, "rb");
  if (!f) return false;
  bool good = fread(j->answers, 1, j->set.count, f) == j->set.count;
  fclose(f);
  return good;
}

/* Wrong yes, wrong no, and wrong answers by class. */
static void judge(contest *c, entry *e) {
  job *j = c->judge_argument;
  uint64_t wrong_yes = 0, wrong_no = 0, by_class[PAIR_CLASSES] = {0};
  e->no_hash = true;
  if (e->program && !read_answers(j)) {
    e->failed = true;
    snprintf(e->note, sizeof e->note, "left no answers");
    return;
  }
  for (uint32_t i = 0; i < j->set.count; i++) {
    wrong_yes += j->answers[i] && !j->set.answers[i];
    wrong_no += !j->answers[i] && j->set.answers[i];
    by_class[j->set.classes[i]] += j->answers[i] != j->set.answers[i];
  }
  e->wrong = wrong_yes + wrong_no;
  e->right = !e->wrong;
  if (e->right) return;
  int at = snprintf(e->note, sizeof e->note, "yes %lu no %lu classes", wrong_yes, wrong_no);
  for (int k = 0; k < PAIR_CLASSES; k++)
    at += snprintf(e->note + at, sizeof e->note - (size_t)at, "%c%lu", k ? '/' : ' ', by_class[k]);
}

static void job_begin(job *j, bench *b, pair_set set) {
  *j = (job){.b = b, .set = set};
  j->results = must_alloc(set.count, sizeof *j->results);
  j->answers = must_alloc(set.count, 1);
  j->answer_path = text_of("%s/answers.bin", b->work_folder);
}

static void job_end(job *j) {
  remove(j->answer_path);
  free(j->results);
  free(j->answers);
  free(j->answer_path);
  pairs_free(&j->set);
}

static void one(bench *b, pair_set set) {
  job j;
  contest c;
  job_begin(&j, b, set);
  plain_test plain[] = {{&j, plain_moller_double},
                        {&j, plain_moller_float},
                        {&j, plain_orientation_double},
                        {&j, plain_orientation_float},
                        {&j, plain_five_edges_float}};
  static const char *const names[] = {"plain/moller_f64", "plain/moller_f32", "plain/orient_f64", "plain/orient_f32",
                                      "plain/five_edges_f32"};
  char *path = text_of("%s/%s.tri", b->work_folder, set.name), *load = text_of("pairs %s", path);
  contest_begin(&c, b, "pair", set.count, set.count, "tritri/%s", set.name);
  c.judge = judge;
  c.judge_argument = &j;
  c.answers = j.answer_path;
  contest_ours(&c, "cpu", run_batch, &j);
  contest_ours(&c, "cpu/one_call_a_pair", run_single, &j);
  for (size_t i = 0; i < COUNT_OF(plain); i++) {
    contest_ours(&c, names[i], run_plain, &plain[i]);
    c.entries[c.entry_count - 1].ours = false; /* a baseline: may be wrong */
  }
  if (b->peers) pairs_write(&set, path);
  contest_peers(&c, "tritri", true, (const char *const[]){load, NULL});
  contest_end(&c);
  remove(path);
  free(path);
  free(load);
  job_end(&j);
}

static const struct hard_set {
  const char *name;
  int64_t grid;
} hard_sets[] = {{"grid4", 4}, {"grid1000", 1000}, {"grid1M", 1 << 20}};

static const struct generic_set {
  const char *name;
  int bits;
  double rejected;
} generic_sets[] = {
    {"generic_f32", 24, -1}, {"generic_f64", 40, -1}, {"reject80_f32", 24, 0.8}, {"reject80_f64", 40, 0.8}};

typedef void (*set_function)(bench *b, pair_set set);

static void for_each_set(bench *b, const char *family, set_function run) {
  uint32_t per_class = b->quick ? 2000 : 20000;
  for (size_t i = 0; i < COUNT_OF(hard_sets); i++)
    if (bench_wants(b, "%s/%s", family, hard_sets[i].name))
      run(b, pairs_hard(hard_sets[i].name, hard_sets[i].grid, per_class, 9001 + i));
  for (size_t i = 0; i < COUNT_OF(generic_sets); i++) {
    const struct generic_set *g = &generic_sets[i];
    if (bench_wants(b, "%s/%s", family, g->name))
      run(b, pairs_generic(g->name, g->bits, g->rejected, PAIR_CLASSES * per_class, 9100 + i));
  }
}

void work_tritri(bench *b) {
  for_each_set(b, "tritri", one);
}

/* ---- the price of exactness ------------------------------------------------------------------------------------- */

#ifdef BENCH_PRIVATE
#include "exact/tritri_batch.h"

typedef struct block_job {
  job *job;
  tritri_block *blocks;
  uint8_t *codes;
  tritri_block_function *decide;
} block_job;

static void run_blocks(void *argument, bool check, sample *out) {
  block_job *k = argument;
  job *j = k->job;
  uint32_t n = j->set.count;
  (void)check;
  double start = seconds_now();
  for (uint32_t i = 0; i < n; i += TRITRI_BLOCK)
    k->decide(&k->blocks[i / TRITRI_BLOCK], n - i < TRITRI_BLOCK ? n - i : TRITRI_BLOCK, true, k->codes + i);
  double seconds = seconds_now() - start;
  for (uint32_t i = 0; i < n; i++) j->answers[i] = (k->codes[i] & TRITRI_KIND) != 0;
  finish(j, seconds, out);
}

static tritri_block *blocks_of(const pair_set *set) {
  size_t n = (set->count + TRITRI_BLOCK - 1) / TRITRI_BLOCK;
  tritri_block *blocks = aligned_alloc(64, n * sizeof *blocks);
  if (!blocks) fail("out of memory");
  memset(blocks, 0, n * sizeof *blocks);
  for (uint32_t i = 0; i < set->count; i++)
    for (int k = 0; k < 9; k++) {
      blocks[i / TRITRI_BLOCK].a[k][i % TRITRI_BLOCK] = set->columns[k][i];
      blocks[i / TRITRI_BLOCK].b[k][i % TRITRI_BLOCK] = set->columns[9 + k][i];
    }
  return blocks;
}

static void one_plain(bench *b, pair_set set) {
  job j;
  contest c;
  job_begin(&j, b, set);
  block_job exact = {&j, blocks_of(&set), must_alloc(set.count + TRITRI_BLOCK, 1), gz_tritri_block_best()};
  block_job plain = {&j, exact.blocks, exact.codes, gz_tritri_plain_best()};
  contest_begin(&c, b, "pair", set.count, set.count, "plain/%s", set.name);
  c.judge = judge;
  c.judge_argument = &j;
  contest_ours(&c, "cpu", run_blocks, &exact);
  contest_ours(&c, "plain/same_simd", run_blocks, &plain);
  c.entries[1].ours = false;
  contest_end(&c);
  free(exact.blocks);
  free(exact.codes);
  job_end(&j);
}

void work_plain(bench *b) {
  for_each_set(b, "plain", one_plain);
}
#else
void work_plain(bench *b) {
  if (bench_wants(b, "plain/") && !b->list)
    fprintf(stderr, "plain: needs the library's private parts, which a shared library hides\n");
}
#endif
