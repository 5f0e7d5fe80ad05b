/* Records of worlds of balls and of rigid bodies, on any bytes. The hashes of the sections are made right first: chance
 * would never find the way past them. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/base/hash.h"
#include "check.h"
#include "graze/dynamics.h"
#include "graze/rigid.h"

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

static void replay_all(graze_context *context, const char *path) {
  graze_world_replay *replay = NULL;
  graze_world_replay_step step = {.number = 1};
  graze_world_sums sums;
  if (graze_world_replay_open(context, path, &replay) != GRAZE_OK) return;
  graze_world *world = graze_world_replay_get_world(replay);
  check_that(world != NULL);
  for (int i = 0; i < 64 && step.number != 0; i++) {
    if (graze_world_replay_next(replay, &step) != GRAZE_OK) break;
    if (step.number == 0) continue;
    check_that(step.number == graze_world_get_step(world));
    check_that(step.same == (step.hash == graze_world_get_hash(world)));
  }
  graze_world_get_sums(world, &sums);
  graze_world_replay_close(replay);
}

/* Of the same bytes one of the two is none. */
static void replay_rigid(graze_context *context, const char *path) {
  graze_rigid_replay *replay = NULL;
  graze_world_replay_step step = {.number = 1};
  graze_rigid_check_result check;
  graze_world_sums sums;
  if (graze_rigid_replay_open(context, path, &replay) != GRAZE_OK) return;
  graze_rigid *world = graze_rigid_replay_get_world(replay);
  check_that(world != NULL);
  for (int i = 0; i < 8 && step.number != 0; i++) {
    if (graze_rigid_replay_next(replay, &step) != GRAZE_OK) break;
    if (step.number == 0) continue;
    check_that(step.number == graze_rigid_get_step(world));
    check_that(step.same == (step.hash == graze_rigid_get_hash(world)));
  }
  graze_rigid_get_sums(world, &sums);
  graze_rigid_check(world, 0.01, &check);
  graze_rigid_replay_close(replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int file = memfd_create("replay", 0);
  uint8_t *copy = malloc(size + 1);
  check_that(file >= 0 && copy != NULL);
  if (size > 0) memcpy(copy, data, size);
  mend_hashes(copy, size);
  check_that(write(file, copy, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  replay_all(fuzz_context(), path);
  replay_rigid(fuzz_context(), path);
  free(copy);
  close(file);
  return 0;
}
