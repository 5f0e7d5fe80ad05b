/* Does the device round as the processor does? Sums, products, quotients, roots, fused and unfused, on numbers of all
 * sizes, subnormal ones too, and on determinants that nearly vanish. One wrong bit and the device is not believed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "gpu/device.h"

enum { TRIPLES = 2048, RESULTS = 9, GROUP = 64 };

static const char *const result_names[RESULTS] = {
    "a sum",        "a product",    "a quotient",         "a square root",
    "a * b + c",    "fma(a, b, c)", "the error of a sum", "the error of a product",
    "a determinant"};

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Triples of several kinds: any sizes, like sizes, subnormal, of few bits, nearly a * c = b * b. */
static void make_triple(uint32_t i, double t[3]) {
  for (uint32_t k = 0; k < 3; k++) {
    uint64_t random = splitmix64(3 * (uint64_t)i + k), sign = random & 0x8000000000000000u;
    uint64_t fraction = random & 0x000FFFFFFFFFFFFFu, exponent = random >> 52 & 0x7FF;
    switch (i % 5) {
      case 0:
        t[k] = double_of(sign | (exponent < 0x7FF ? exponent : 0x3FF) << 52 | fraction);
        break;
      case 1:
        t[k] = double_of(sign | (0x3F8 + exponent % 16) << 52 | fraction);
        break;
      case 2:
        t[k] = double_of(sign | (exponent % 64) << 52 | fraction >> exponent % 40);
        break;
      case 3:
        t[k] = (double)(int64_t)(random >> 40) - 0x800000;
        break;
      default:
        t[k] = k == 0 ? 1 + (double)(random >> 42) * 0x1p-52 : t[0] + (double)k * 0x1p-50;
    }
  }
}

/* volatile: each operation is rounded to a double and done at run time. */
static void expected(const double t[3], double out[RESULTS]) {
  volatile double a = t[0], b = t[1], c = t[2], sum = a + b, bb = sum - a, product = a * b;
  volatile double left = sum - bb, first = a - left, second = b - bb, cross = a * c, square = b * b;
  out[0] = sum;
  out[1] = product;
  out[2] = a / b;
  out[3] = sqrt(fabs(a));
  out[4] = product + c;
  out[5] = fma(a, b, c);
  out[6] = first + second;
  out[7] = fma(a, b, -product);
  out[8] = cross - square;
}

static bool same(double want, double got) {
  return isnan(want) ? isnan(got) : bits_of(want) == bits_of(got);
}

static void judge(graze_gpu *gpu, const uint64_t *in, const uint64_t *out) {
  gpu->info.exact = true;
  for (uint32_t i = 0; i < TRIPLES; i++) {
    double t[3] = {double_of(in[3 * i]), double_of(in[3 * i + 1]), double_of(in[3 * i + 2])}, want[RESULTS];
    expected(t, want);
    for (int r = 0; r < RESULTS; r++) {
      double got = double_of(out[RESULTS * i + r]);
      if (same(want[r], got)) continue;
      gpu->info.exact = false;
      snprintf(gpu->info.flaw, sizeof gpu->info.flaw, "%s: %a, not %a", result_names[r], got, want[r]);
      return;
    }
  }
}

static graze_status ask(graze_gpu *gpu, gpu_buffer *in, gpu_buffer *out, const uint64_t *numbers, uint64_t *results) {
  const uint32_t count = TRIPLES;
  graze_status status = gz_gpu_reserve(gpu, in, 3 * TRIPLES * sizeof *numbers);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, out, RESULTS * TRIPLES * sizeof *results);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, in, 0, numbers, 3 * TRIPLES * sizeof *numbers);
  const gpu_argument arguments[] = {GPU_BUFFER(in), GPU_BUFFER(out), GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "arithmetic", "arithmetic", TRIPLES / GROUP, arguments, 3);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, results, out, 0, RESULTS * TRIPLES * sizeof *results);
  return status;
}

graze_status gz_gpu_test_arithmetic(graze_gpu *gpu) {
  if (!gpu->info.doubles) {
    snprintf(gpu->info.flaw, sizeof gpu->info.flaw, "it has no doubles");
    return GRAZE_OK;
  }
  size_t room = (3 + RESULTS) * TRIPLES * sizeof(uint64_t);
  uint64_t *numbers = gz_memory_alloc(gpu->context, room), *results = numbers + 3 * TRIPLES;
  gpu_buffer in = {0, 0}, out = {0, 0};
  if (numbers == NULL) return gz_fail_memory(gpu->context, room);
  for (uint32_t i = 0; i < TRIPLES; i++) {
    double t[3];
    make_triple(i, t);
    for (int k = 0; k < 3; k++) numbers[3 * i + k] = bits_of(t[k]);
  }
  graze_status status = ask(gpu, &in, &out, numbers, results);
  if (status == GRAZE_OK) judge(gpu, numbers, results);
  gz_gpu_release(gpu, &in);
  gz_gpu_release(gpu, &out);
  gz_memory_release(gpu->context, numbers, room);
  return status;
}
