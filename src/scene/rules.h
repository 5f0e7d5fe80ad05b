/* Which pairs no rule ignores. */
#ifndef GRAZE_SRC_SCENE_RULES_H
#define GRAZE_SRC_SCENE_RULES_H

#include "base/memory.h"

/* A set of unordered pairs of numbers: sorted keys (lower << 32 | higher) and, for each lower number, where its keys
 * start. */
typedef struct pair_set {
  buffer keys;
  buffer scratch;
  buffer starts;
  uint64_t count;
  uint32_t limit; /* numbers are below this */
} pair_set;

static inline uint64_t pair_key(uint32_t x, uint32_t y) {
  return x < y ? (uint64_t)x << 32 | y : (uint64_t)y << 32 | x;
}

/* Adds a key; the set answers after gz_pair_set_finish only. False: no memory. */
bool gz_pair_set_add(const graze_context *context, pair_set *set, uint64_t key);
/* Sorts, drops repeated keys. False: no memory. */
bool gz_pair_set_finish(const graze_context *context, pair_set *set, uint32_t limit);
bool gz_pair_set_has(const pair_set *set, uint32_t x, uint32_t y);
void gz_pair_set_release(const graze_context *context, pair_set *set);

/* Rules over objects numbered in the order of adding. */
typedef struct filter {
  pair_set objects;      /* pairs of objects */
  pair_set layers;       /* pairs of layers */
  const uint32_t *layer; /* of each object; 0 = none */
} filter;

static inline bool filter_ignores(const filter *f, uint32_t x, uint32_t y) {
  return (f->layers.count != 0 && gz_pair_set_has(&f->layers, f->layer[x], f->layer[y])) ||
         (f->objects.count != 0 && gz_pair_set_has(&f->objects, x, y));
}

#endif
