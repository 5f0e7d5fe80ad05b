/* write_particles.c: balls that move, as CSV text or binary (.gzp), to be read back to the same bits. */
#include <math.h>
#include <string.h>

#include "particles.h"
#include "write_text.h"

/* Number `column` of a particle; NULL: the list has none. */
static const double *find_number(const graze_particle_list *particles, uint64_t row, int column) {
  if (column == 3) return particles->radii != NULL ? &particles->radii[row] : NULL;
  const double *const threes[] = {particles->positions, particles->velocities, particles->spins, particles->ends};
  const double *three = threes[column < 3 ? 0 : (column - 1) / 3];
  return three != NULL ? &three[3 * row + (uint64_t)(column < 3 ? column : (column - 4) % 3)] : NULL;
}

static bool check_particles(const graze_particle_list *particles, io_fault *fault) {
  for (uint64_t row = 0; row < particles->count; row++) {
    for (int k = 0; k < PARTICLE_COLUMNS; k++) {
      const double *number = find_number(particles, row, k);
      if (number == NULL || isfinite(*number)) continue;
      return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0, "particle %llu: %s is not finite",
                        (unsigned long long)row, gz_particle_titles[k]);
    }
  }
  return true;
}

static void put_word(gz_text *text, uint64_t word) {
  unsigned char bytes[8];
  for (int k = 0; k < 8; k++) bytes[k] = (unsigned char)(word >> (8 * k));
  gz_put_bytes(text, bytes, sizeof bytes);
}

static void put_binary(gz_text *text, const void *user) {
  const graze_particle_list *particles = user;
  gz_put_bytes(text, gz_particle_magic, IO_MAGIC_BYTES);
  put_word(text, particles->count);
  for (uint64_t row = 0; row < particles->count; row++) {
    for (int k = 0; k < PARTICLE_NUMBERS; k++) {
      const double *number = find_number(particles, row, k);
      uint64_t bits = 0;
      if (number != NULL) memcpy(&bits, number, sizeof bits);
      put_word(text, bits);
    }
  }
}

/* One line: titles, or the numbers of a particle. The columns of a list without particles are those that it has. */
static void put_line(gz_text *text, const graze_particle_list *particles, const uint64_t *row) {
  for (int k = 0; k < PARTICLE_COLUMNS; k++) {
    const double *number = find_number(particles, row != NULL ? *row : 0, k);
    if (number == NULL && k >= 3) continue;
    if (k > 0) gz_put_text(text, ",");
    if (row == NULL) {
      gz_put_text(text, gz_particle_titles[k]);
    } else {
      gz_put_double(text, *number);
    }
  }
  gz_put_text(text, "\n");
}

static void put_text(gz_text *text, const void *user) {
  const graze_particle_list *particles = user;
  put_line(text, particles, NULL);
  for (uint64_t row = 0; row < particles->count; row++) put_line(text, particles, &row);
}

graze_status graze_write_particles(graze_context *context, const char *path, const graze_particle_list *particles) {
  io_fault fault = {.context = context};
  const bool no_ends =
      path == NULL || particles == NULL || particles->ends == NULL || !gz_particle_file_is_binary(path);
  if (context == NULL || path == NULL || particles == NULL || (particles->positions == NULL && particles->count > 0) ||
      !no_ends) {
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the writing call is invalid");
    return gz_io_report(&fault, path);
  }
  if (check_particles(particles, &fault))
    gz_io_write_text(path, gz_particle_file_is_binary(path) ? put_binary : put_text, particles, &fault);
  return gz_io_report(&fault, path);
}
