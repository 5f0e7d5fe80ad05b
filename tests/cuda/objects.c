/* Handles and memory of the stand-in: who is alive, who was, and what is written next to a buffer. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#if defined(__SANITIZE_ADDRESS__)
enum { GUARD = 0 }; /* the sanitizer has guards of its own, and sees reads too */
#else
enum { GUARD = 256 };
#endif
enum { GUARD_BYTE = 0xFD, RUBBISH = 0xA5, ALIGNMENT = 256 };

typedef struct buffer {
  cu_memory address;
  size_t bytes;
  unsigned char *block; /* guard, bytes, guard */
  cu_context context;
  struct buffer *next;
} buffer;

typedef struct pinned {
  char *memory;
  size_t bytes;
  cu_context context;
  struct pinned *next;
} pinned;

static object *alive[KINDS], *dead;
static buffer *buffers;
static pinned *pins;
static cu_memory next_address = FIRST_ADDRESS;

/* ---- handles --------------------------------------------------------------------------------------------------- */

void *make_object(kind what, size_t size, cu_context context) {
  object *o = calloc(1, size);
  if (o == NULL) return NULL;
  *o = (object){what, context, alive[what]};
  alive[what] = o;
  return o;
}

static bool is_among(const object *list, const void *handle) {
  while (list != NULL && (const void *)list != handle) list = list->next;
  return list != NULL;
}

void *find_object(kind what, const void *handle, const char *function) {
  static const char *const names[KINDS] = {"context", "stream", "module", "function", "event"};
  for (object *o = alive[what]; o != NULL; o = o->next) {
    if (o == handle) return o;
  }
  misuse("%s: %p %s a %s", function, handle, is_among(dead, handle) ? "is no longer" : "is not", names[what]);
  return NULL;
}

void destroy_object(object *o) {
  object **link = &alive[o->kind];
  while (*link != o) link = &(*link)->next;
  *link = o->next;
  o->next = dead;
  dead = o;
}

uint32_t count_objects(kind what) {
  uint32_t count = 0;
  for (const object *o = alive[what]; o != NULL; o = o->next) count++;
  return count;
}

object *first_object(kind what) {
  return alive[what];
}

/* ---- buffers --------------------------------------------------------------------------------------------------- */

cu_result make_buffer(cu_context context, size_t bytes, cu_memory *address) {
  if (bytes > the.limit || the.used > the.limit - bytes) return OUT_OF_MEMORY;
  buffer *b = calloc(1, sizeof *b);
  void *block = NULL;
  if (b == NULL || posix_memalign(&block, ALIGNMENT, bytes + 2 * GUARD) != 0) {
    free(b);
    return OUT_OF_MEMORY;
  }
  *b = (buffer){next_address, bytes, block, context, buffers};
  memset(b->block, GUARD_BYTE, GUARD);
  memset(b->block + GUARD, RUBBISH, bytes);
  memset(b->block + GUARD + bytes, GUARD_BYTE, GUARD);
  next_address += (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; /* never two side by side */
  buffers = b;
  the.used += bytes;
  the.buffers++;
  *address = b->address;
  return 0;
}

static void drop_buffer(buffer **link) {
  buffer *b = *link;
  *link = b->next;
  the.used -= b->bytes;
  the.buffers--;
  free(b->block);
  free(b);
}

cu_result free_buffer(cu_memory address) {
  check_guards("somebody");
  for (buffer **link = &buffers; *link != NULL; link = &(*link)->next) {
    if ((*link)->address != address) continue;
    drop_buffer(link);
    return 0;
  }
  if (address != 0) misuse("cuMemFree: no buffer begins at 0x%llx", address);
  return address != 0 ? INVALID_VALUE : 0;
}

void *find_memory(cu_memory address, size_t bytes) {
  for (const buffer *b = buffers; b != NULL; b = b->next) {
    if (address < b->address || address - b->address > b->bytes) continue;
    size_t offset = address - b->address;
    return bytes <= b->bytes - offset ? b->block + GUARD + offset : NULL;
  }
  return NULL;
}

static bool is_intact(const unsigned char *guard) {
  return GUARD == 0 || (guard[0] == GUARD_BYTE && memcmp(guard, guard + 1, GUARD - 1) == 0);
}

void check_guards(const char *culprit) {
  for (const buffer *b = buffers; b != NULL; b = b->next) {
    bool before = is_intact(b->block), after = is_intact(b->block + GUARD + b->bytes);
    if (before && after) continue;
    misuse("%s wrote %s a buffer of %zu bytes", culprit, before ? "behind" : "before", b->bytes);
    memset(b->block, GUARD_BYTE, GUARD);
    memset(b->block + GUARD + b->bytes, GUARD_BYTE, GUARD);
  }
}

/* ---- pinned memory --------------------------------------------------------------------------------------------- */

cu_result make_pinned(cu_context context, size_t bytes, void **memory) {
  pinned *p = malloc(sizeof *p);
  void *made = malloc(bytes);
  if (p == NULL || made == NULL) {
    free(p);
    free(made);
    return OUT_OF_MEMORY;
  }
  memset(made, RUBBISH, bytes);
  *p = (pinned){made, bytes, context, pins};
  pins = p;
  the.pinned++;
  *memory = made;
  return 0;
}

static void drop_pinned(pinned **link) {
  pinned *p = *link;
  *link = p->next;
  the.pinned--;
  free(p->memory);
  free(p);
}

cu_result free_pinned(const void *memory) {
  for (pinned **link = &pins; *link != NULL; link = &(*link)->next) {
    if ((*link)->memory != memory) continue;
    if (is_memory_pending((*link)->memory, (*link)->bytes)) misuse("cuMemFreeHost: of memory that a copy is to use");
    drop_pinned(link);
    return 0;
  }
  misuse("cuMemFreeHost: %p is not its to free", memory);
  return INVALID_VALUE;
}

uint32_t drop_memory(cu_context context) {
  uint32_t count = 0;
  for (buffer **link = &buffers; *link != NULL;) {
    if ((*link)->context != context) {
      link = &(*link)->next;
      continue;
    }
    drop_buffer(link);
    count++;
  }
  for (pinned **link = &pins; *link != NULL;) {
    if ((*link)->context != context) {
      link = &(*link)->next;
      continue;
    }
    drop_pinned(link);
    count++;
  }
  return count;
}
