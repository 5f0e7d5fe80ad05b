#include "twins.h"

#include <string.h>

#include "gpu/stages.h"

void destroy_twins(twins *t) {
  graze_world_destroy(t->device);
  graze_world_destroy(t->plain);
}

void compare_twin_events(const twins *t) {
  const graze_contact_event *got, *want;
  uint64_t got_count, want_count;
  if (graze_world_get_events(t->plain, &want, &want_count) != GRAZE_OK) return;
  assert_int_equal(graze_world_get_events(t->device, &got, &got_count), GRAZE_OK);
  assert_int_equal(got_count, want_count);
  if (want_count > 0) assert_memory_equal(got, want, want_count * sizeof *want);
}

void compare_twins(const twins *t, const char *what) {
  graze_world_sums got, want;
  if (graze_world_get_hash(t->device) != graze_world_get_hash(t->plain))
    fail_msg("%s: another state after step %llu", what, (unsigned long long)graze_world_get_step(t->plain));
  compare_twin_events(t);
  assert_int_equal(graze_world_get_sums(t->device, &got), GRAZE_OK);
  assert_int_equal(graze_world_get_sums(t->plain, &want), GRAZE_OK);
  if (memcmp(&got, &want, sizeof got) != 0)
    fail_msg("%s: other sums after step %llu: %a dissipated, not %a; %a elastic, not %a", what,
             (unsigned long long)graze_world_get_step(t->plain), got.dissipated, want.dissipated, got.elastic,
             want.elastic);
}

void run_twins(const twins *t, double dt, uint64_t steps, const char *what) {
  uint64_t before = graze_world_get_engine_steps(t->device);
  run_world(t->device, dt, steps);
  run_world(t->plain, dt, steps);
  assert_true(graze_world_get_engine_steps(t->device) == before + steps);
  compare_twins(t, what);
}

static struct {
  const gpu_backend *real;
  uint32_t asked, refused;
} memory;

static graze_status allocate(graze_gpu *gpu, size_t bytes, uintptr_t *to) {
  if (++memory.asked == memory.refused) return gz_gpu_failed(gpu, GRAZE_ERROR_MEMORY, "allocate", "refused");
  return memory.real->allocate(gpu, bytes, to);
}

bool run_twins_refused(const twins *t, double dt, uint64_t steps, uint32_t refused) {
  gpu_backend refusing = *on.gpu->backend;
  graze_gpu_detach(on.gpu);
  assert_int_equal(graze_gpu_attach(on.gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
  memory.real = on.gpu->backend;
  memory.asked = 0;
  memory.refused = refused;
  refusing.allocate = allocate;
  on.gpu->backend = &refusing;
  run_world(t->device, dt, steps);
  on.gpu->backend = memory.real;
  run_world(t->plain, dt, steps);
  const bool enough = memory.asked < refused;
  assert_true((graze_world_get_engine_steps(t->device) == steps) == enough);
  compare_twins(t, "memory was refused");
  return enough;
}
