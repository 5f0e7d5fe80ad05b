/* Parallel loops: OpenMP with dynamic scheduling, or the caller's own task system. */
#include "base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/context.h"

int gz_parallel_threads(const graze_context *context) {
  if (context->threads > 0) return context->threads;
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

typedef struct loop {
  void (*body)(void *, uint32_t);
  void *argument;
} loop;

static void run_guarded(void *argument, uint32_t index) {
  const loop *l = argument;
  unsigned saved = gz_fp_enter();
  l->body(l->argument, index);
  gz_fp_leave(saved);
}

void gz_parallel_for(const graze_context *context, uint32_t count, void (*body)(void *, uint32_t), void *argument) {
  loop l = {body, argument};
  int threads = gz_parallel_threads(context);
  if (count <= 1 || threads <= 1) {
    for (uint32_t i = 0; i < count; i++) run_guarded(&l, i);
    return;
  }
  if (context->parallel != NULL) {
    context->parallel(context->parallel_user, count, run_guarded, &l);
    return;
  }
#ifdef _OPENMP
  int team = (uint32_t)threads > count ? (int)count : threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (uint32_t i = 0; i < count; i++) run_guarded(&l, i);
#else
  for (uint32_t i = 0; i < count; i++) run_guarded(&l, i);
#endif
}
