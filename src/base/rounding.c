/* The processor's rounding. */
#include "base/parallel.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

unsigned gz_fp_enter(void) {
#if defined(__x86_64__)
  unsigned saved = _mm_getcsr();
  /* Keep the sticky flags, mask all exceptions, round to nearest, no flush-to-zero, no denormals-are-zero. */
  unsigned wanted = (saved & 0x3fu) | 0x1f80u;
  if (saved != wanted) _mm_setcsr(wanted);
  return saved;
#else
  unsigned saved = (unsigned)fegetround();
  fesetround(FE_TONEAREST);
  return saved;
#endif
}

void gz_fp_leave(unsigned saved) {
#if defined(__x86_64__)
  unsigned now = _mm_getcsr();
  unsigned wanted = (saved & ~0x3fu) | (now & 0x3fu);
  if (now != wanted) _mm_setcsr(wanted);
#else
  fesetround((int)saved);
#endif
}
