/* Threads that wait for loops. */
#ifndef GRAZE_SRC_BASE_POOL_H
#define GRAZE_SRC_BASE_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "graze/base.h"

/* A loop that is under way; it lives with its caller. */
typedef struct pool_loop {
  void (*run)(struct pool_loop *loop, uint32_t worker); /* takes ranges until none is left */
  _Atomic uint64_t next;                                /* first item that nobody has taken */
  uint32_t count;
  _Atomic uint32_t inside; /* workers in `run`, without the caller */
  struct pool_loop *following;
} pool_loop;

typedef struct pool_thread {
  struct pool *owner;
  pthread_t id;
  uint32_t worker;
} pool_thread;

typedef struct pool {
  uint32_t workers; /* with the caller */
  uint32_t spins;   /* looks before a thread goes to sleep */

  pthread_mutex_t mutex; /* over what follows */
  pthread_cond_t work;   /* a loop has been opened */
  pthread_cond_t left;   /* a worker has left a loop */
  _Atomic uint32_t opened;
  pool_loop *loops; /* open ones, the oldest first */
  uint32_t sleeping, waiting;
  _Atomic bool stop;
  uint32_t thread_count; /* that run: they are started when a loop can use them */
  bool refused;          /* the system gives no more */
  pool_thread threads[]; /* workers - 1 */
} pool;

static inline size_t pool_bytes(uint32_t workers) {
  return sizeof(pool) + (workers - 1) * sizeof(pool_thread);
}

/* Processors that the program may use. */
uint32_t gz_processors(void);

/* In memory of pool_bytes(workers). Starts no thread yet. False: the system has no room for a lock. */
bool gz_pool_init(pool *p, uint32_t workers);

/* Ends the threads; no loop may be under way. */
void gz_pool_end(pool *p);

/* Runs the loop on the calling thread, as worker 0, and on those of the pool that are free; returns when it is done.
 * `ranges`: how many workers it can use at most. Any number of callers at once. Threads that cannot be started are
 * done without. */
void gz_pool_run(pool *p, pool_loop *loop, uint32_t ranges);

#endif
