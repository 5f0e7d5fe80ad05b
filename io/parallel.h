/* parallel.h: a loop on several threads; private to io. */
#ifndef GRAZE_IO_PARALLEL_H
#define GRAZE_IO_PARALLEL_H

#include <stddef.h>

/* The number of threads worth using on `bytes` of input when `threads` are allowed (0 = all processors). */
int gz_io_thread_count(int threads, size_t bytes);

/* Runs body(argument, i) for every i in [0, count). */
void gz_io_parallel(int threads, size_t count, void (*body)(void *argument, size_t index), void *argument);

#endif
