/* Run-time choice of the instruction set. Plain function pointers chosen by this answer work with every compiler
 * and sanitizer, which target_clones and ifunc do not. */
#include "base/cpu.h"

#include <stdatomic.h>

#include "base/disable.h"
#include "graze/base.h"

static cpu_isa detect(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (is_disabled("avx2")) return CPU_SCALAR;
  if (avx512 && !is_disabled("avx512")) return CPU_AVX512;
  if (avx2) return CPU_AVX2;
#endif
  return CPU_SCALAR;
}

cpu_isa gz_cpu_best(void) {
  /* Racing first calls compute the same value. */
  static _Atomic int known = -1;
  int isa = atomic_load_explicit(&known, memory_order_relaxed);
  if (isa < 0) {
    isa = (int)detect();
    atomic_store_explicit(&known, isa, memory_order_relaxed);
  }
  return (cpu_isa)isa;
}

const char *graze_instruction_set(void) {
#if defined(__aarch64__)
  return "neon"; /* the plain form there, base/simd.h */
#else
  static const char *const names[] = {"scalar", "avx2", "avx512"};
  return names[gz_cpu_best()];
#endif
}
