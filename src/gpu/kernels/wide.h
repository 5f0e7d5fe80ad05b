/* Numbers of any precision as doubles, exactly, for devices whose doubles are exact. Floats are widened by whole
 * numbers, for a device may flush subnormal floats. */
#include "numbers.h"

FUNCTION double wide_of(KEY bits) {
#if defined(KEY64)
  return AS_F64(bits);
#else
  u32 rest = bits & 0x7FFFFFFFu;
  double x = rest < 0x00800000u ? (double)rest * 0x1p-149 : AS_F64(((u64)rest << 29) + ((u64)896 << 52));
  return bits != rest ? -x : x;
#endif
}
