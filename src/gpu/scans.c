/* Are group scans right? They are the one place where kernels use what only a vendor has, shuffles among items that run
 * together, so a device proves itself on known sums before it is believed. */
#include "base/hash.h"
#include "gpu/device.h"

enum { GROUPS = 64, GROUP = 256, COUNT = GROUPS * GROUP, RESULTS = 4 };

/* Of all sizes: every bit of the sums has to be carried. */
static uint64_t number_at(uint32_t i) {
  uint64_t random = splitmix64(i);
  return random >> random % 64;
}

static bool are_sums(const uint64_t *in, const uint64_t *out) {
  bool right = true;
  for (uint32_t group = 0; group < GROUPS; group++, in += GROUP) {
    uint64_t sum = 0, all = 0;
    for (uint32_t i = 0; i < GROUP; i++) all += in[i];
    for (uint32_t i = 0; i < GROUP; i++, out += RESULTS) {
      right = right && out[0] == sum && out[1] == all && out[2] == (uint32_t)sum && out[3] == (uint32_t)all;
      sum += in[i];
    }
  }
  return right;
}

static graze_status ask(graze_gpu *gpu, gpu_buffer *in, gpu_buffer *out, const uint64_t *numbers, uint64_t *results) {
  graze_status status = gz_gpu_reserve(gpu, in, COUNT * sizeof *numbers);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, out, RESULTS * COUNT * sizeof *results);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, in, 0, numbers, COUNT * sizeof *numbers);
  const gpu_argument arguments[] = {GPU_BUFFER(in), GPU_BUFFER(out)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "group", "group_sums", GROUPS, arguments, 2);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, results, out, 0, RESULTS * COUNT * sizeof *results);
  return status;
}

graze_status gz_gpu_test_scans(graze_gpu *gpu, bool *right) {
  size_t room = (1 + RESULTS) * COUNT * sizeof(uint64_t);
  uint64_t *numbers = gz_memory_alloc(gpu->context, room), *results = numbers + COUNT;
  gpu_buffer in = {0, 0}, out = {0, 0};
  if (numbers == NULL) return gz_fail_memory(gpu->context, room);
  for (uint32_t i = 0; i < COUNT; i++) numbers[i] = number_at(i);
  graze_status status = ask(gpu, &in, &out, numbers, results);
  *right = status == GRAZE_OK && are_sums(numbers, results);
  gz_gpu_release(gpu, &in);
  gz_gpu_release(gpu, &out);
  gz_memory_release(gpu->context, numbers, room);
  return status;
}
