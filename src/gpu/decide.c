/* Candidate pairs of triangles, decided: kernels/decide.cl, and the processor for what it leaves open. A question is a
 * few launches and one reading of the answer, whatever it finds; only lists are read besides. */
#include "gpu/decide.h"

#include <string.h>

#include "base/sort.h"
#include "gpu/pairs.h"

enum {
  FILTER_GROUPS = 1024, /* at most; of 128 items */
  EXACT_GROUPS = 512,   /* of 64 */
  FIRST_ROOM = 1 << 16,
  BLOCK = 1 << 15 /* pairs that the processor decides together */
};

static size_t answer_words(uint32_t poses) {
  return COUNTERS + ANSWER_WORDS * (size_t)poses;
}

graze_status gz_gpu_decide_begin(graze_gpu *gpu, gpu_decide *d, const decide_question *q) {
  size_t words = answer_words(q->poses), bytes = words * sizeof(uint32_t), sums = q->poses * sizeof *d->sums;
  d->hit_count = d->candidates = d->exact = 0;
  if (!gz_buffer_reserve(gpu->context, &d->answer_room, bytes, 0) ||
      !gz_buffer_reserve(gpu->context, &d->sum_room, sums, 0)) {
    return gz_fail_memory(gpu->context, bytes + sums);
  }
  d->answer_read = d->answer_room.data;
  d->sums = d->sum_room.data;
  memset(d->sums, 0, sums);
  graze_status status = gz_gpu_reserve(gpu, &d->answer, bytes);
  if (d->pairs.bytes < d->room * (size_t)8) d->room = 0; /* a hierarchy makes room there, and may be refused it */
  if (status == GRAZE_OK && d->room == 0) status = gz_gpu_decide_reserve(gpu, d, FIRST_ROOM);
  return status != GRAZE_OK ? status : gz_gpu_decide_reset(gpu, d, q, 0);
}

graze_status gz_gpu_decide_reserve(graze_gpu *gpu, gpu_decide *d, uint32_t candidates) {
  if (candidates <= d->room) return GRAZE_OK;
  d->room = 0;
  graze_status status = gz_gpu_reserve(gpu, &d->pairs, candidates * (size_t)8);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &d->open, candidates * (size_t)4);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &d->left, candidates * (size_t)8);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &d->words, candidates * (size_t)4);
  if (status == GRAZE_OK) d->room = candidates;
  return status;
}

graze_status gz_gpu_decide_reset(graze_gpu *gpu, gpu_decide *d, const decide_question *q, uint32_t candidates) {
  size_t bytes = answer_words(q->poses) * sizeof(uint32_t);
  memset(d->answer_read, 0, bytes);
  d->answer_read[COUNT_CANDIDATES] = candidates;
  return gz_gpu_write(gpu, &d->answer, 0, d->answer_read, bytes);
}

/* ---- what the device leaves open --------------------------------------------------------------------------------- */

static bool keep_hit(graze_gpu *gpu, gpu_decide *d, uint64_t key) {
  size_t used = d->hit_count * sizeof key;
  if (!gz_buffer_reserve(gpu->context, &d->hit_keys, used + sizeof key, used)) return false;
  ((uint64_t *)d->hit_keys.data)[d->hit_count++] = key;
  return true;
}

static uint32_t count_shared(double *const a[9], double *const b[9], uint64_t i) {
  uint32_t shared = 0;
  for (int s = 0; s < 3; s++) {
    bool found = false;
    for (int t = 0; t < 3; t++) {
      found |= a[3 * s][i] == b[3 * t][i] && a[3 * s + 1][i] == b[3 * t + 1][i] && a[3 * s + 2][i] == b[3 * t + 2][i];
    }
    shared += found;
  }
  return shared;
}

/* As count_hit in kernels/decide.cl. */
static bool count_hit(decide_sums *sums, const graze_tritri *r, const uint32_t pair[2]) {
  sums->word[r->degenerate != 0              ? ANSWER_THIN
             : r->kind == GRAZE_KIND_POINT   ? ANSWER_POINTS
             : r->kind == GRAZE_KIND_SEGMENT ? ANSWER_SEGMENTS
                                             : ANSWER_AREAS]++;
  sums->word[ANSWER_COPLANAR] += r->coplanar;
  sums->hash += graze_pair_hash(pair[0], pair[1]);
  return true;
}

/* As count_self_hit there. */
static bool count_self_hit(decide_sums *sums, const graze_tritri *r, const uint32_t pair[2], uint32_t shared) {
  if (r->degenerate != 0) {
    sums->word[ANSWER_THIN]++;
    return false;
  }
  if ((shared == 1 && r->kind == GRAZE_KIND_POINT) || (shared == 2 && r->kind != GRAZE_KIND_AREA)) return false;
  sums->word[shared == 0   ? ANSWER_DISJOINT
             : shared == 1 ? ANSWER_VERTEX
             : shared == 2 ? ANSWER_EDGE
                           : ANSWER_DUPLICATE]++;
  sums->hash += graze_pair_hash(pair[0], pair[1]);
  return true;
}

/* Decides `some` pairs. */
static graze_status decide_block(graze_gpu *gpu, gpu_decide *d, const decide_question *q, const uint32_t *left,
                                 uint64_t some) {
  double *first[9], *second[9], *data = d->corners.data, corners[9];
  graze_tritri *results = d->results.data;
  for (size_t k = 0; k < 9; k++) {
    first[k] = data + k * BLOCK;
    second[k] = data + (9 + k) * BLOCK;
  }
  for (uint64_t i = 0; i < some; i++) {
    q->get_a(q->user_a, left[2 * i], corners);
    for (int k = 0; k < 9; k++) first[k][i] = corners[k];
    q->get_b(q->user_b, left[2 * i + 1], corners);
    for (int k = 0; k < 9; k++) second[k][i] = corners[k];
  }
  graze_status status =
      graze_tritri_batch(&gpu->processor, some, (const double *const *)first, (const double *const *)second, results);
  for (uint64_t i = 0; i < some && status == GRAZE_OK; i++) {
    if (results[i].kind == GRAZE_KIND_NONE) continue;
    uint32_t pose = left[2 * i + 1] / q->b.count, pair[2] = {left[2 * i], left[2 * i + 1] - pose * q->b.count};
    decide_sums *sums = &d->sums[pose];
    bool listed = (q->ask & ASK_SELF) != 0 ? count_self_hit(sums, &results[i], pair, count_shared(first, second, i))
                                           : count_hit(sums, &results[i], pair);
    if (listed && (q->ask & ASK_LIST) != 0 && !keep_hit(gpu, d, (uint64_t)pair[0] << 32 | pair[1])) {
      return gz_fail_memory(gpu->context, d->hit_count * sizeof(uint64_t));
    }
  }
  return status;
}

static graze_status decide_left(graze_gpu *gpu, gpu_decide *d, const decide_question *q, uint32_t count) {
  size_t bytes = count * 2 * sizeof(uint32_t);
  if (!gz_buffer_reserve(gpu->context, &d->left_pairs, bytes, 0) ||
      !gz_buffer_reserve(gpu->context, &d->corners, 18 * sizeof(double) * BLOCK, 0) ||
      !gz_buffer_reserve(gpu->context, &d->results, BLOCK * sizeof(graze_tritri), 0)) {
    return gz_fail_memory(gpu->context, bytes);
  }
  const uint32_t *left = d->left_pairs.data;
  graze_status status = gz_gpu_read(gpu, d->left_pairs.data, &d->left, 0, bytes);
  for (uint32_t from = 0; from < count && status == GRAZE_OK; from += BLOCK) {
    status = decide_block(gpu, d, q, left + 2 * (size_t)from, count - from < BLOCK ? count - from : BLOCK);
  }
  return status;
}

/* ---- on the device ----------------------------------------------------------------------------------------------- */

/* As many groups as there can be work for, up to a number that keeps a device busy: each takes what comes to it. */
static uint32_t groups_for(uint64_t items, uint32_t size, uint32_t most) {
  return (items + size - 1) / size < most ? (uint32_t)((items + size - 1) / size) : most;
}

static graze_status launch(graze_gpu *gpu, gpu_decide *d, const decide_question *q, uint64_t most, uint32_t shift) {
  const gpu_buffer *thin = q->thin != NULL ? q->thin : q->a.corners; /* any that is not written: it is not read */
  if (most > d->room) most = d->room;
  uint32_t filters = groups_for(most, 128, FILTER_GROUPS), exacts = groups_for(most, 64, EXACT_GROUPS);
  const gpu_argument filter[] = {GPU_BUFFER(q->a.corners), GPU_BUFFER(q->b.corners), GPU_BUFFER(&d->pairs),
                                 GPU_BUFFER(thin),         GPU_BUFFER(&d->answer),   GPU_BUFFER(&d->open),
                                 GPU_BUFFER(&d->hits),     GPU_BUFFER(&d->words),    GPU_VALUE(d->room),
                                 GPU_VALUE(q->b.count),    GPU_VALUE(shift),         GPU_VALUE(q->ask)};
  const gpu_argument exact[] = {GPU_BUFFER(q->a.corners), GPU_BUFFER(q->b.corners), GPU_BUFFER(&d->pairs),
                                GPU_BUFFER(&d->answer),   GPU_BUFFER(&d->open),     GPU_BUFFER(&d->left),
                                GPU_BUFFER(&d->hits),     GPU_BUFFER(&d->words),    GPU_VALUE(q->b.count),
                                GPU_VALUE(shift),         GPU_VALUE(q->ask)};
  graze_status status = gz_gpu_reserve(gpu, &d->hits, d->room * (size_t)8); /* sorting may have exchanged it */
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "decide", "decide_filter", filters, filter, 12);
  return status != GRAZE_OK ? status : gz_gpu_run(gpu, "decide", "decide_exact", exacts, exact, 11);
}

/* Appends the first `wanted` of the hits that the device listed, in order. */
static graze_status read_hits(graze_gpu *gpu, gpu_decide *d, uint32_t count, uint32_t wanted, uint32_t shift,
                              uint32_t bits) {
  size_t had = d->hit_count * sizeof(uint64_t), more = wanted * sizeof(uint64_t);
  if (!gz_buffer_reserve(gpu->context, &d->hit_keys, had + more, had)) return gz_fail_memory(gpu->context, had + more);
  uint64_t *keys = (uint64_t *)d->hit_keys.data + d->hit_count;
  graze_status status = gz_gpu_reserve(gpu, &d->unused, count * sizeof(uint32_t));
  if (status == GRAZE_OK) {
    status = gz_gpu_sort(gpu, &d->scratch, &d->hits, &d->unused, count, sizeof(uint64_t), bits);
  }
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, keys, &d->hits, 0, more);
  for (uint32_t i = 0; i < wanted && status == GRAZE_OK; i++) {
    keys[i] = (keys[i] >> shift) << 32 | (keys[i] & (((uint64_t)1 << shift) - 1));
  }
  if (status == GRAZE_OK) d->hit_count += wanted;
  return status;
}

/* Adds what the device counted. */
static void add_answer(gpu_decide *d, uint32_t poses) {
  for (uint32_t p = 0; p < poses; p++) {
    const uint32_t *words = d->answer_read + answer_words(p);
    for (int k = 0; k < ANSWER_HASH_LOW; k++) d->sums[p].word[k] += words[k];
    d->sums[p].hash += (uint64_t)words[ANSWER_HASH_HIGH] << 32 | words[ANSWER_HASH_LOW];
  }
}

graze_status gz_gpu_decide_run(graze_gpu *gpu, gpu_decide *d, const decide_question *q, uint64_t most,
                               uint32_t *candidates) {
  const uint32_t *counters = d->answer_read, shift = gz_gpu_bits_for(q->b.count);
  graze_status status = launch(gpu, d, q, most, shift);
  if (status == GRAZE_OK) {
    status = gz_gpu_read(gpu, d->answer_read, &d->answer, 0, answer_words(q->poses) * sizeof *counters);
  }
  if (status != GRAZE_OK) return status;
  if (counters[COUNT_BAD] > 0) return GRAZE_ERROR_ARGUMENT;
  *candidates = counters[COUNT_CANDIDATES];
  if (*candidates > d->room) return GRAZE_OK;
  d->candidates += *candidates;
  d->exact += counters[COUNT_OPEN];
  if ((q->ask & ASK_WORDS) != 0) return GRAZE_OK;
  add_answer(d, q->poses);
  uint32_t listed = counters[COUNT_HITS], bits = shift + gz_gpu_bits_for(q->a.count);
  if (listed > 0) status = read_hits(gpu, d, listed, listed, shift, bits);
  return status != GRAZE_OK || counters[COUNT_LEFT] == 0 ? status : decide_left(gpu, d, q, counters[COUNT_LEFT]);
}

/* ---- what is known at the end ------------------------------------------------------------------------------------ */

void gz_gpu_decide_counts(const gpu_decide *d, uint32_t pose, graze_counts *c) {
  const decide_sums *sums = &d->sums[pose];
  *c = (graze_counts){.points = sums->word[ANSWER_POINTS],
                      .segments = sums->word[ANSWER_SEGMENTS],
                      .areas = sums->word[ANSWER_AREAS],
                      .coplanar = sums->word[ANSWER_COPLANAR],
                      .degenerate = sums->word[ANSWER_THIN],
                      .hash = sums->hash};
  c->triangle_pairs = c->points + c->segments + c->areas + c->degenerate;
}

void gz_gpu_decide_self_counts(const gpu_decide *d, graze_self_result *s) {
  const decide_sums *sums = &d->sums[0];
  s->duplicates = sums->word[ANSWER_DUPLICATE];
  s->edge_overlaps = sums->word[ANSWER_EDGE];
  s->vertex_more = sums->word[ANSWER_VERTEX];
  s->disjoint_hits = sums->word[ANSWER_DISJOINT];
  s->degenerate_pairs = sums->word[ANSWER_THIN];
  s->self_pairs = s->duplicates + s->edge_overlaps + s->vertex_more + s->disjoint_hits;
  s->hash = sums->hash;
}

graze_status gz_gpu_decide_pairs(graze_gpu *gpu, gpu_decide *d, const graze_triangle_pair **pairs) {
  *pairs = NULL;
  if (d->hit_count == 0) return GRAZE_OK;
  size_t bytes = d->hit_count * sizeof(uint64_t);
  if (!gz_buffer_reserve(gpu->context, &d->sort_room, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  uint64_t *keys = d->hit_keys.data;
  bool sorted = true; /* as one run of the device gives them */
  for (uint64_t i = 1; i < d->hit_count && sorted; i++) sorted = keys[i - 1] < keys[i];
  if (!sorted) gz_sort_keys(keys, d->sort_room.data, d->hit_count);
  graze_triangle_pair *out = d->sort_room.data;
  for (uint64_t i = 0; i < d->hit_count; i++)
    out[i] = (graze_triangle_pair){(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
  *pairs = out;
  return GRAZE_OK;
}

void gz_gpu_decide_release(graze_gpu *gpu, gpu_decide *d) {
  gpu_buffer *all[] = {&d->pairs, &d->answer, &d->open, &d->left, &d->hits, &d->words, &d->unused};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_scratch_release(gpu, &d->scratch);
  buffer *memory[] = {&d->answer_room, &d->sum_room, &d->left_pairs, &d->corners,
                      &d->results,     &d->hit_keys, &d->sort_room};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) gz_buffer_release(gpu->context, memory[i]);
}
