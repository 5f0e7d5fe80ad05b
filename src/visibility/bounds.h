/* visibility/bounds.h: bounds.glsl, as C. Every operation is rounded once (-ffp-contract=off, no wider registers). */
#ifndef GRAZE_SRC_VISIBILITY_BOUNDS_H
#define GRAZE_SRC_VISIBILITY_BOUNDS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "floats are computed in floats");

static inline int32_t visibility_bits(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float visibility_from_bits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define VISIBILITY_C
#define STRUCT(name)        \
  typedef struct name name; \
  struct name
#define FUNCTION            static inline __attribute__((always_inline, unused))
#define NUMBER              float
#define REAL                float
#define TRUTH               bool
#define UINT                uint32_t
#define N(x)                (x)
#define SELECT(is, yes, no) ((is) ? (yes) : (no))
#define AND                 &&
#define OR                  ||
#define BITS(x)             visibility_bits(x)
#define FROM_BITS(x)        visibility_from_bits(x)
#define TO_REAL(x)          ((float)(x))
#define TO_UINT(x)          ((uint32_t)(x))
#define ABS(x)              fabsf(x)
#define FLOOR(x)            floorf(x)
#include "visibility/bounds.glsl"
#include "visibility/bounds_end.h"

#endif
