/* parallel.c: see parallel.h. Without OpenMP everything runs on the calling thread. */
#include "parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { BYTES_A_THREAD = 128 << 10 }; /* less work than this costs less than waking a thread */

int gz_io_thread_count(int threads, size_t bytes) {
#ifdef _OPENMP
  if (threads <= 0) threads = omp_get_num_procs();
#else
  threads = 1;
#endif
  size_t most = bytes / BYTES_A_THREAD;
  if (most < 1) most = 1;
  return (size_t)threads < most ? threads : (int)most;
}

void gz_io_parallel(int threads, size_t count, void (*body)(void *argument, size_t index), void *argument) {
  if (threads <= 1 || count <= 1) {
    for (size_t i = 0; i < count; i++) body(argument, i);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
  for (size_t i = 0; i < count; i++) body(argument, i);
}
