/* A pool of threads for loops that follow each other quickly.
 *
 * A loop is put into a list, where any idle worker finds it; its ranges are dealt by one atomic counter, as in the
 * loops of Box3D (parallel_for.c). The caller works too, takes the loop off the list when nothing is left to take, and
 * waits for the workers that are still inside. A worker without work looks about for some microseconds before it sleeps
 * (Karlin, Li, Manasse, Owicki, "Empirical studies of competitive spinning for a shared-memory multiprocessor", 1991):
 * a frame's next loop finds it awake, an idle program's threads cost nothing. With more workers than processors nobody
 * spins, since who spins then holds up who works.
 *
 * A caller never depends on a worker that has not yet come: a pool whose threads could not be started, or that a fork
 * has left behind, is slow and not stuck.
 */
#include "base/pool.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum { SPINS = 2000 }; /* pauses of 40 to 140 cycles: tens of microseconds, what waking a thread costs */

uint32_t gz_processors(void) {
#if defined(__linux__) && defined(CPU_COUNT)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (uint32_t)CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (uint32_t)online : 1;
}

bool gz_pool_init(pool *p, uint32_t workers) {
  *p = (pool){.workers = workers, .spins = workers <= gz_processors() ? SPINS : 0};
  if (pthread_mutex_init(&p->mutex, NULL) != 0) return false;
  if (pthread_cond_init(&p->work, NULL) == 0) {
    if (pthread_cond_init(&p->left, NULL) == 0) return true;
    pthread_cond_destroy(&p->work);
  }
  pthread_mutex_destroy(&p->mutex);
  return false;
}

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* ---- workers ---- */

static pool_loop *find_loop(const pool *p) {
  for (pool_loop *l = p->loops; l != NULL; l = l->following) {
    if (atomic_load_explicit(&l->next, memory_order_relaxed) < l->count) return l;
  }
  return NULL;
}

/* Called and returns with the lock held. */
static void work_at(pool *p, pool_loop *l, uint32_t worker) {
  atomic_fetch_add_explicit(&l->inside, 1, memory_order_relaxed);
  pthread_mutex_unlock(&p->mutex);
  l->run(l, worker);
  pthread_mutex_lock(&p->mutex);
  /* The last touch: from here on the caller may return. */
  atomic_fetch_sub_explicit(&l->inside, 1, memory_order_release);
  if (p->waiting > 0) pthread_cond_broadcast(&p->left);
}

/* Likewise. */
static void wait_for_work(pool *p) {
  uint32_t seen = atomic_load_explicit(&p->opened, memory_order_relaxed);
  if (p->spins > 0) {
    pthread_mutex_unlock(&p->mutex);
    for (uint32_t i = 0; i < p->spins; i++) {
      if (atomic_load_explicit(&p->opened, memory_order_relaxed) != seen) break;
      if (atomic_load_explicit(&p->stop, memory_order_relaxed)) break;
      pause_briefly();
    }
    pthread_mutex_lock(&p->mutex);
  }
  if (atomic_load_explicit(&p->opened, memory_order_relaxed) != seen) return;
  if (atomic_load_explicit(&p->stop, memory_order_relaxed)) return;
  p->sleeping++;
  pthread_cond_wait(&p->work, &p->mutex);
  p->sleeping--;
}

static void *run_worker(void *argument) {
  const pool_thread *me = argument;
  pool *p = me->owner;
  pthread_mutex_lock(&p->mutex);
  while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
    pool_loop *l = find_loop(p);
    if (l != NULL) {
      work_at(p, l, me->worker);
    } else {
      wait_for_work(p);
    }
  }
  pthread_mutex_unlock(&p->mutex);
  return NULL;
}

/* ---- start and end ---- */

/* With the lock held: threads for a loop of so many ranges. Signals are for the program's own threads. */
static void start_threads(pool *p, uint32_t ranges) {
  uint32_t wanted = (ranges < p->workers ? ranges : p->workers) - 1;
  if (p->thread_count >= wanted || p->refused) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (; p->thread_count < wanted && !p->refused; p->thread_count++) {
    pool_thread *t = &p->threads[p->thread_count];
    t->owner = p;
    t->worker = p->thread_count + 1;
    p->refused = pthread_create(&t->id, NULL, run_worker, t) != 0;
    if (p->refused) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gz_pool_end(pool *p) {
  pthread_mutex_lock(&p->mutex);
  atomic_store_explicit(&p->stop, true, memory_order_relaxed);
  pthread_cond_broadcast(&p->work);
  pthread_mutex_unlock(&p->mutex);
  for (uint32_t i = 0; i < p->thread_count; i++) pthread_join(p->threads[i].id, NULL);
  pthread_cond_destroy(&p->left);
  pthread_cond_destroy(&p->work);
  pthread_mutex_destroy(&p->mutex);
}

/* ---- loops ---- */

static void open_loop(pool *p, pool_loop *loop, uint32_t ranges) {
  pthread_mutex_lock(&p->mutex);
  start_threads(p, ranges);
  pool_loop **end = &p->loops;
  while (*end != NULL) end = &(*end)->following;
  *end = loop;
  atomic_fetch_add_explicit(&p->opened, 1, memory_order_relaxed);
  if (ranges - 1 >= p->sleeping) {
    if (p->sleeping > 0) pthread_cond_broadcast(&p->work);
  } else {
    for (uint32_t i = 0; i + 1 < ranges; i++) pthread_cond_signal(&p->work);
  }
  pthread_mutex_unlock(&p->mutex);
}

static void close_loop(pool *p, pool_loop *loop) {
  pthread_mutex_lock(&p->mutex);
  pool_loop **at = &p->loops;
  while (*at != loop) at = &(*at)->following;
  *at = loop->following;
  if (atomic_load_explicit(&loop->inside, memory_order_acquire) != 0 && p->spins > 0) {
    pthread_mutex_unlock(&p->mutex);
    for (uint32_t i = 0; i < p->spins; i++) {
      if (atomic_load_explicit(&loop->inside, memory_order_acquire) == 0) return;
      pause_briefly();
    }
    pthread_mutex_lock(&p->mutex);
  }
  p->waiting++;
  while (atomic_load_explicit(&loop->inside, memory_order_acquire) != 0) pthread_cond_wait(&p->left, &p->mutex);
  p->waiting--;
  pthread_mutex_unlock(&p->mutex);
}

void gz_pool_run(pool *p, pool_loop *loop, uint32_t ranges) {
  loop->following = NULL;
  atomic_init(&loop->next, 0);
  atomic_init(&loop->inside, 0);
  open_loop(p, loop, ranges);
  loop->run(loop, 0);
  close_loop(p, loop);
}
