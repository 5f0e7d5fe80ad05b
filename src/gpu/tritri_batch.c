/* Pairs of triangles that are given one by one: kernels/decide.cl gives each its word, the processor those that it
 * leaves open. In blocks, so that memory is bounded; 144 bytes a pair go to the device, 4 come back. */
#include "gpu/tritri_batch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 20 };

/* Columns to rows. ARGUMENT: a number is not finite. */
static graze_status pack(const double *const columns[9], uint64_t from, uint32_t some, double *rows) {
  double sum = 0; /* 0 * x is NaN for what is not finite */
  for (int k = 0; k < 9; k++) {
    const double *column = columns[k] + from;
    for (uint32_t i = 0; i < some; i++) {
      rows[9 * (size_t)i + (size_t)k] = column[i];
      sum += 0 * column[i];
    }
  }
  return sum == 0 ? GRAZE_OK : GRAZE_ERROR_ARGUMENT;
}

static graze_status upload(graze_gpu *gpu, gpu_tritri_batch *w, int side, const double *const columns[9], uint64_t from,
                           uint32_t some) {
  size_t bytes = some * 9 * sizeof(double);
  if (!gz_buffer_reserve(gpu->context, &w->staging, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  graze_status status = pack(columns, from, some, w->staging.data);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->corners[side], bytes);
  return status != GRAZE_OK ? status : gz_gpu_write(gpu, &w->corners[side], 0, w->staging.data, bytes);
}

/* The pairs whose words are open, by the processor. */
static graze_status decide_open(graze_gpu *gpu, gpu_tritri_batch *w, const double *const a[9], const double *const b[9],
                                uint64_t from, uint32_t some, uint32_t open, graze_tritri *results) {
  const uint32_t *words = w->words.data;
  const double *const *columns[2] = {a, b};
  double *gathered[2][9];
  size_t bytes = open * sizeof(double);
  if (!gz_buffer_reserve(gpu->context, &w->results, open * sizeof *results, 0))
    return gz_fail_memory(gpu->context, bytes);
  for (int side = 0; side < 2; side++) {
    if (!gz_buffer_reserve(gpu->context, &w->open[side], 9 * bytes, 0)) return gz_fail_memory(gpu->context, 9 * bytes);
    for (size_t k = 0; k < 9; k++) {
      gathered[side][k] = (double *)w->open[side].data + k * open;
      for (uint32_t i = 0, n = 0; i < some; i++) {
        if (words[i] == WORD_OPEN) gathered[side][k][n++] = columns[side][k][from + i];
      }
    }
  }
  graze_tritri *decided = w->results.data;
  graze_status status = graze_tritri_batch(&gpu->processor, open, (const double *const *)gathered[0],
                                           (const double *const *)gathered[1], decided);
  for (uint32_t i = 0, n = 0; i < some && status == GRAZE_OK; i++) {
    if (words[i] == WORD_OPEN) results[i] = decided[n++];
  }
  return status;
}

static graze_status decide_block(graze_gpu *gpu, gpu_tritri_batch *w, const double *const a[9],
                                 const double *const b[9], uint64_t from, uint32_t some, graze_tritri *results) {
  const decide_question q = {.a = {&w->corners[0], some}, .b = {&w->corners[1], some}, .poses = 1, .ask = ASK_WORDS};
  uint32_t candidates, open = 0;
  if (!gz_buffer_reserve(gpu->context, &w->words, some * sizeof(uint32_t), 0)) {
    return gz_fail_memory(gpu->context, some * sizeof(uint32_t));
  }
  graze_status status = upload(gpu, w, 0, a, from, some);
  if (status == GRAZE_OK) status = upload(gpu, w, 1, b, from, some);
  if (status == GRAZE_OK) status = gz_gpu_decide_reserve(gpu, &w->decide, some);
  if (status == GRAZE_OK) status = gz_gpu_decide_begin(gpu, &w->decide, &q);
  if (status == GRAZE_OK) status = gz_gpu_decide_reset(gpu, &w->decide, &q, some);
  if (status == GRAZE_OK) status = gz_gpu_decide_run(gpu, &w->decide, &q, some, &candidates);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, w->words.data, &w->decide.words, 0, some * sizeof(uint32_t));
  if (status != GRAZE_OK) return status;
  const uint32_t *words = w->words.data;
  for (uint32_t i = 0; i < some; i++) {
    open += words[i] == WORD_OPEN;
    results[i] = (graze_tritri){.kind = words[i] & 3,
                                .coplanar = (words[i] & WORD_COPLANAR) != 0,
                                .degenerate = (uint8_t)(words[i] / WORD_THIN_A & 3)};
  }
  return open > 0 ? decide_open(gpu, w, a, b, from, some, open, results) : GRAZE_OK;
}

graze_status gz_gpu_tritri_decide(graze_gpu *gpu, gpu_tritri_batch *w, uint64_t count, const double *const a[9],
                                  const double *const b[9], graze_tritri *results) {
  graze_status status = GRAZE_OK;
  for (uint64_t from = 0; from < count && status == GRAZE_OK; from += BLOCK) {
    uint32_t some = count - from < BLOCK ? (uint32_t)(count - from) : BLOCK;
    status = decide_block(gpu, w, a, b, from, some, results + from);
  }
  return status;
}

void gz_gpu_tritri_release(graze_gpu *gpu, gpu_tritri_batch *w) {
  gz_gpu_decide_release(gpu, &w->decide);
  for (int side = 0; side < 2; side++) {
    gz_gpu_release(gpu, &w->corners[side]);
    gz_buffer_release(gpu->context, &w->open[side]);
  }
  buffer *memory[] = {&w->staging, &w->words, &w->results};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) gz_buffer_release(gpu->context, memory[i]);
}
