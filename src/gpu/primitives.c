/* Building blocks on a device. The kernels say how they work. */
#include "gpu/primitives.h"

enum { SCAN_TILE = 2048, SORT_TILE = 2048, SEGMENT_TILE = 2048, GROUP = 256, DIGITS = 256 };

void gz_gpu_scratch_release(graze_gpu *gpu, gpu_scratch *s) {
  gpu_buffer *all[] = {&s->sums, &s->total, &s->counts, &s->keys, &s->values, &s->marks, &s->places};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
}

graze_status gz_gpu_scan(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *in, const gpu_buffer *out,
                         uint32_t count) {
  uint32_t tiles = count > 0 ? gpu_groups(count, SCAN_TILE) : 1; /* of nothing, out[0] is 0 all the same */
  graze_status status = gz_gpu_reserve(gpu, &scratch->sums, tiles * sizeof(uint64_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &scratch->total, sizeof(uint64_t));
  const gpu_argument reduce[] = {GPU_BUFFER(in), GPU_BUFFER(&scratch->sums), GPU_VALUE(count)},
                     top[] = {GPU_BUFFER(&scratch->sums), GPU_VALUE(tiles), GPU_BUFFER(&scratch->total)},
                     apply[] = {GPU_BUFFER(in), GPU_BUFFER(out), GPU_BUFFER(&scratch->sums), GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "scan", "scan_reduce", tiles, reduce, 3);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "scan", "scan_top", 1, top, 3);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "scan", "scan_apply", tiles, apply, 4);
  return status;
}

graze_status gz_gpu_scan_total(graze_gpu *gpu, const gpu_scratch *scratch, uint64_t *total) {
  return gz_gpu_read(gpu, total, &scratch->total, 0, sizeof *total);
}

graze_status gz_gpu_compact(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *marks, uint32_t count,
                            gpu_buffer *out, uint32_t *found) {
  uint64_t total;
  graze_status status = gz_gpu_reserve(gpu, &scratch->places, (count + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, scratch, marks, &scratch->places, count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, scratch, &total);
  if (status != GRAZE_OK) return status;
  status = gz_gpu_reserve(gpu, out, total * sizeof(uint32_t));
  const gpu_argument arguments[] = {GPU_BUFFER(marks), GPU_BUFFER(&scratch->places), GPU_BUFFER(out), GPU_VALUE(count)};
  if (status == GRAZE_OK && total > 0)
    status = gz_gpu_run(gpu, "scan", "compact", gpu_groups(count, GROUP), arguments, 4);
  if (status == GRAZE_OK) *found = (uint32_t)total;
  return status;
}

graze_status gz_gpu_runs(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *keys, uint32_t count,
                         gpu_buffer *starts, uint32_t *runs) {
  *runs = 0;
  if (count == 0) return GRAZE_OK;
  graze_status status = gz_gpu_reserve(gpu, &scratch->marks, count * sizeof(uint32_t));
  const gpu_argument arguments[] = {GPU_BUFFER(keys), GPU_BUFFER(&scratch->marks), GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "scan", "mark_runs", gpu_groups(count, GROUP), arguments, 3);
  return status != GRAZE_OK ? status : gz_gpu_compact(gpu, scratch, &scratch->marks, count, starts, runs);
}

/* Room for what tiles leave open, in sums, and whether a segment begins in them, in counts. */
static graze_status reserve_tails(graze_gpu *gpu, gpu_scratch *scratch, uint32_t tiles, uint32_t value_bytes) {
  graze_status status = gz_gpu_reserve(gpu, &scratch->sums, (size_t)tiles * value_bytes);
  return status != GRAZE_OK ? status : gz_gpu_reserve(gpu, &scratch->counts, tiles * sizeof(uint32_t));
}

graze_status gz_gpu_scan_segments(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *in, const gpu_buffer *flags,
                                  const gpu_buffer *out, uint32_t count, uint32_t value_bytes) {
  const char *module = value_bytes == 8 ? "segments64" : "segments32";
  const uint32_t tiles = gpu_groups(count, SEGMENT_TILE), sum = GPU_SUM;
  if (count == 0) return GRAZE_OK;
  graze_status status = reserve_tails(gpu, scratch, tiles, value_bytes);
  const gpu_argument tails[] = {GPU_BUFFER(in), GPU_BUFFER(flags), GPU_BUFFER(&scratch->sums),
                                GPU_BUFFER(&scratch->counts), GPU_VALUE(count)},
                     carry[] = {GPU_BUFFER(&scratch->sums), GPU_BUFFER(&scratch->counts), GPU_VALUE(tiles),
                                GPU_VALUE(sum)},
                     scan[] = {GPU_BUFFER(in), GPU_BUFFER(flags), GPU_BUFFER(out), GPU_BUFFER(&scratch->sums),
                               GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "flagged_tails", tiles, tails, 5);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "carry_tails", 1, carry, 4);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "flagged_scan", tiles, scan, 5);
  return status;
}

graze_status gz_gpu_fold_segments(graze_gpu *gpu, gpu_scratch *scratch, gpu_fold fold, const gpu_buffer *in,
                                  uint32_t count, uint32_t value_bytes, const gpu_buffer *starts, uint32_t segments,
                                  const gpu_buffer *out) {
  const char *module = value_bytes == 8 ? "segments64" : "segments32";
  const uint32_t tiles = count > 0 ? gpu_groups(count, SEGMENT_TILE) : 1, op = fold; /* empty ones are written too */
  if (segments == 0) return GRAZE_OK;
  graze_status status = reserve_tails(gpu, scratch, tiles, value_bytes);
  const gpu_argument tails[] = {GPU_BUFFER(in),
                                GPU_BUFFER(starts),
                                GPU_BUFFER(&scratch->sums),
                                GPU_BUFFER(&scratch->counts),
                                GPU_VALUE(count),
                                GPU_VALUE(segments),
                                GPU_VALUE(op)},
                     carry[] = {GPU_BUFFER(&scratch->sums), GPU_BUFFER(&scratch->counts), GPU_VALUE(tiles),
                                GPU_VALUE(op)},
                     folds[] = {GPU_BUFFER(in),   GPU_BUFFER(starts),  GPU_BUFFER(out), GPU_BUFFER(&scratch->sums),
                                GPU_VALUE(count), GPU_VALUE(segments), GPU_VALUE(op)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "started_tails", tiles, tails, 7);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "carry_tails", 1, carry, 4);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "started_folds", tiles, folds, 7);
  return status;
}

static void swap(gpu_buffer *x, gpu_buffer *y) {
  gpu_buffer z = *x;
  *x = *y;
  *y = z;
}

graze_status gz_gpu_sort(graze_gpu *gpu, gpu_scratch *scratch, gpu_buffer *keys, gpu_buffer *values, uint32_t count,
                         uint32_t key_bytes, uint32_t bits) {
  const char *module = key_bytes == 8 ? "sort64" : "sort32";
  if (count < 2) return GRAZE_OK;
  uint32_t tiles = gpu_groups(count, SORT_TILE), counts = tiles * DIGITS;
  graze_status status = gz_gpu_reserve(gpu, &scratch->counts, (counts + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &scratch->keys, (size_t)count * key_bytes);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &scratch->values, (size_t)count * sizeof(uint32_t));
  for (uint32_t shift = 0; shift < bits && status == GRAZE_OK; shift += 8) {
    const gpu_argument count_digits[] = {GPU_BUFFER(keys), GPU_BUFFER(&scratch->counts), GPU_VALUE(count),
                                         GPU_VALUE(shift)},
                       write[] = {GPU_BUFFER(keys),
                                  GPU_BUFFER(values),
                                  GPU_BUFFER(&scratch->keys),
                                  GPU_BUFFER(&scratch->values),
                                  GPU_BUFFER(&scratch->counts),
                                  GPU_VALUE(count),
                                  GPU_VALUE(shift)};
    status = gz_gpu_run(gpu, module, "sort_count", tiles, count_digits, 4);
    if (status == GRAZE_OK) status = gz_gpu_scan(gpu, scratch, &scratch->counts, &scratch->counts, counts);
    if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "sort_write", tiles, write, 7);
    swap(keys, &scratch->keys);
    swap(values, &scratch->values);
  }
  return status;
}
