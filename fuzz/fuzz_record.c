/* Snapshots and records of scenes, on any bytes. The hashes of the sections are made right first: chance would never
 * find the way past them. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/base/hash.h"
#include "check.h"
#include "graze/record.h"

typedef struct head {
  uint32_t type, zero;
  uint64_t size;
} head;

static void mend_hashes(uint8_t *bytes, size_t size) {
  uint64_t chain = 0;
  for (size_t at = 8; at < size && size - at >= sizeof(head) + sizeof chain;) {
    head h;
    memcpy(&h, bytes + at, sizeof h);
    if (h.size > size - at - sizeof h - sizeof chain) return;
    chain = gz_hash_bytes(bytes + at + sizeof h, h.size, chain + h.type);
    memcpy(bytes + at + sizeof h + h.size, &chain, sizeof chain);
    at += sizeof h + h.size + sizeof chain;
  }
}

static void check_events(const graze_scene_event *list, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    check_that(list[i].before <= GRAZE_UNKNOWN && list[i].verdict.relation <= GRAZE_UNKNOWN);
    check_that(list[i].before != GRAZE_SEPARATE || list[i].verdict.relation != GRAZE_SEPARATE);
  }
}

static void replay_all(graze_context *context, const char *path) {
  graze_replay *replay = NULL;
  graze_scene_update_result e;
  graze_replay_step step = {.number = 1};
  if (graze_replay_open(context, path, &replay) != GRAZE_OK) return;
  for (uint64_t i = 1; i <= 64 && step.number != 0; i++) {
    if (graze_replay_next(replay, &e, &step) != GRAZE_OK) break;
    check_that(step.number == 0 || step.number == i);
    check_events(e.began, e.began_count);
    check_events(e.persist, e.persist_count);
    check_events(e.ended, e.ended_count);
  }
  graze_replay_close(replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int file = memfd_create("record", 0);
  uint8_t *copy = malloc(size + 1);
  graze_context *context = NULL;
  check_that(file >= 0 && copy != NULL && graze_context_create(NULL, &context) == GRAZE_OK);
  if (size > 0) memcpy(copy, data, size);
  mend_hashes(copy, size);
  check_that(write(file, copy, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  replay_all(context, path);
  graze_context_destroy(context);
  free(copy);
  close(file);
  return 0;
}
