/* Numbers of any precision as doubles, exactly, for devices whose doubles are exact. Floats are widened by whole
 * numbers, for a device may flush subnormal floats. */
#include "numbers.h"

FUNCTION double double_of(u64 bits) {
#if defined(__OPENCL_VERSION__)
  return as_double(bits);
#else
  return __longlong_as_double((i64)bits);
#endif
}

FUNCTION double wide_of(KEY bits) {
#if defined(KEY64)
  return double_of(bits);
#else
  u32 rest = bits & 0x7FFFFFFFu;
  double x = rest < 0x00800000u ? (double)rest * 0x1p-149 : double_of(((u64)rest << 29) + ((u64)896 << 52));
  return bits != rest ? -x : x;
#endif
}
