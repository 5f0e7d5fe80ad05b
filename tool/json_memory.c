/* jansson asks for each value of a tree on its own, millions of them, and frees them all at once. So they are cut one
 * after another from blocks, each with a count of what is in use; a block in which nothing is goes back to the system,
 * which malloc would keep. A block belongs to one thread at a time: a tree is freed by the thread that read it, or
 * after that one has ended.
 */
#include "json_memory.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BLOCK_SIZE = 2 << 20 /* a large page */, ALIGNMENT = 16, LARGE = BLOCK_SIZE / 16 };

typedef struct memory_block { /* stands at a multiple of BLOCK_SIZE, and its pieces behind it */
  _Alignas(ALIGNMENT) size_t used;
  size_t pieces; /* in use */
} memory_block;

static _Thread_local memory_block *current;
static pthread_key_t at_end; /* of a thread: it has a block */
static bool keyed;

static memory_block *make_block(size_t size) {
  size = (size + BLOCK_SIZE - 1) / BLOCK_SIZE * BLOCK_SIZE;
  memory_block *block = aligned_alloc(BLOCK_SIZE, size);
#ifdef MADV_HUGEPAGE
  if (block) madvise(block, size, MADV_HUGEPAGE);
#endif
  if (block) *block = (memory_block){.used = sizeof *block};
  return block;
}

static void *take(memory_block *block, size_t size) {
  void *piece = (char *)block + block->used;
  block->used += size;
  block->pieces++;
  return piece;
}

/* The block is nobody's any more, and goes with its last piece. */
static void leave(void *unused) {
  (void)unused;
  if (current && current->pieces == 0) free(current);
  current = NULL;
}

static void *take_piece(size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (size > LARGE) { /* a block of its own */
    memory_block *own = make_block(sizeof *own + size);
    return own ? take(own, size) : NULL;
  }
  if (!current || current->used + size > BLOCK_SIZE) {
    memory_block *next = make_block(BLOCK_SIZE);
    if (!next) return NULL;
    leave(NULL);
    current = next;
    if (keyed) pthread_setspecific(at_end, next);
  }
  return take(current, size);
}

static void give_back(void *piece) {
  if (!piece) return;
  memory_block *block = (memory_block *)((uintptr_t)piece & ~(uintptr_t)(BLOCK_SIZE - 1));
  if (--block->pieces > 0) return;
  if (block == current)
    block->used = sizeof *block;
  else
    free(block);
}

void json_memory_install(void) {
  keyed = pthread_key_create(&at_end, leave) == 0;
  json_set_alloc_funcs(take_piece, give_back);
}
