/* The reader of particles on any bytes, as text and under a name that asks for binary. */
#include "check.h"

static void check_three(const double *numbers, uint32_t count) {
  for (uint64_t i = 0; numbers != NULL && i < 3 * (uint64_t)count; i++) check_that(isfinite(numbers[i]));
}

typedef graze_status reader(graze_context *context, const void *bytes, size_t size, const char *name,
                            graze_particle_list *particles);

static void check_name(const uint8_t *data, size_t size, const char *name, reader *read) {
  graze_particle_list got;
  graze_status status = read(fuzz_context(), data, size, name, &got);
  if (status != GRAZE_OK) {
    check_that(fuzz_failed(status, name) && got.positions == NULL && got.count == 0);
    return;
  }
  check_that(got.positions != NULL);
  check_three(got.positions, got.count);
  check_three(got.velocities, got.count);
  check_three(got.spins, got.count);
  check_three(got.ends, got.count);
  for (uint32_t i = 0; got.radii != NULL && i < got.count; i++) check_that(isfinite(got.radii[i]));
  graze_particle_list_free(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_name(data, size, "input", graze_parse_particles);
  check_name(data, size, "input.gzp", graze_parse_particles);
  check_name(data, size, "input", graze_parse_flights);
  return 0;
}
