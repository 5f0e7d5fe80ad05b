/* Building blocks on a device: prefix sums, compaction, runs of equal keys, scans and folds of segments, a stable radix
 * sort. */
#ifndef GRAZE_SRC_GPU_PRIMITIVES_H
#define GRAZE_SRC_GPU_PRIMITIVES_H

#include "gpu/device.h"

/* Scratch that is kept from call to call; zero-initialised. */
typedef struct gpu_scratch {
  gpu_buffer sums, total, counts, keys, values, marks, places;
} gpu_scratch;

void gz_gpu_scratch_release(graze_gpu *gpu, gpu_scratch *scratch);

/* out[i] = in[0] + .. + in[i - 1] for i in [0, count]: `out` has one more than `in`, and may be the same buffer. The
 * sum of all is in scratch->total, as 64 bits; where it needs more than 32, `out` is modulo 2^32. At most 2^31
 * elements. */
graze_status gz_gpu_scan(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *in, const gpu_buffer *out,
                         uint32_t count);
/* The sum that the last gz_gpu_scan found. */
graze_status gz_gpu_scan_total(graze_gpu *gpu, const gpu_scratch *scratch, uint64_t *total);

/* Numbers of the elements whose mark is 1 (others are 0), ascending; makes room in `out`. */
graze_status gz_gpu_compact(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *marks, uint32_t count,
                            gpu_buffer *out, uint32_t *found);

/* Where runs of equal 32-bit keys begin: starts[0] .. starts[runs - 1]; makes room. */
graze_status gz_gpu_runs(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *keys, uint32_t count,
                         gpu_buffer *starts, uint32_t *runs);

/* Sums that start anew where a flag is not 0: out[i] = in[h] + .. + in[i - 1], h the last flagged place up to i, else
 * 0. Numbers of 4 or 8 bytes, `value_bytes`, with sums modulo 2^32 or 2^64; flags of 32 bits. `in` and `out` may be the
 * same buffer. At most 2^31 elements. */
graze_status gz_gpu_scan_segments(graze_gpu *gpu, gpu_scratch *scratch, const gpu_buffer *in, const gpu_buffer *flags,
                                  const gpu_buffer *out, uint32_t count, uint32_t value_bytes);

typedef enum gpu_fold { GPU_SUM, GPU_MIN, GPU_MAX } gpu_fold; /* as in kernels/segments.cl */

/* out[s] is the sum (modulo 2^32 or 2^64), the least or the greatest of in[starts[s]] .. in[starts[s + 1] - 1], of
 * unsigned numbers of 4 or 8 bytes. starts: segments + 1 numbers of 32 bits that do not descend, the last at most
 * `count`. Of no element the sum and the greatest are 0, the least is the greatest number there is. At most 2^31
 * elements. */
graze_status gz_gpu_fold_segments(graze_gpu *gpu, gpu_scratch *scratch, gpu_fold fold, const gpu_buffer *in,
                                  uint32_t count, uint32_t value_bytes, const gpu_buffer *starts, uint32_t segments,
                                  const gpu_buffer *out);

/* Sorts pairs of a key (32 or 64 bits, `key_bytes` 4 or 8) and a 32-bit value by the lowest `bits` of the keys, rounded
 * up to whole bytes; stable. The buffers may be exchanged with those of the scratch. At most 2^31 pairs. O(count * bits
 * / 8). */
graze_status gz_gpu_sort(graze_gpu *gpu, gpu_scratch *scratch, gpu_buffer *keys, gpu_buffer *values, uint32_t count,
                         uint32_t key_bytes, uint32_t bits);

#endif
