/* write_particles.c: balls that move, as CSV text or binary (.gzp), to be read back to the same bits. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "fault.h"
#include "particles.h"

typedef struct writer {
  gz_text text;
  new_file file;
  int reason; /* errno of what failed */
} writer;

static bool write_bytes(void *user, const void *bytes, size_t size) {
  writer *w = user;
  if (gz_file_write(w->file.descriptor, bytes, size)) return true;
  w->reason = errno;
  return false;
}

/* Number `column` of a particle; NULL: the list has none. */
static const double *find_number(const graze_particle_list *particles, uint64_t row, int column) {
  if (column == 3) return particles->radii != NULL ? &particles->radii[row] : NULL;
  const double *three = column < 3 ? particles->positions : column < 7 ? particles->velocities : particles->spins;
  return three != NULL ? &three[3 * row + (uint64_t)(column < 3 ? column : (column - 4) % 3)] : NULL;
}

static bool check_particles(const graze_particle_list *particles, io_fault *fault) {
  for (uint64_t row = 0; row < particles->count; row++) {
    for (int k = 0; k < PARTICLE_NUMBERS; k++) {
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

static void put_binary(gz_text *text, const graze_particle_list *particles) {
  gz_put_bytes(text, gz_particle_magic, PARTICLE_MAGIC_BYTES);
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
  for (int k = 0; k < PARTICLE_NUMBERS; k++) {
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

static void put_text(gz_text *text, const graze_particle_list *particles) {
  put_line(text, particles, NULL);
  for (uint64_t row = 0; row < particles->count; row++) put_line(text, particles, &row);
}

static bool write_file(const char *path, const graze_particle_list *particles, writer *w, io_fault *fault) {
  if (!gz_new_file_create(&w->file, path)) {
    return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot open for writing: %s", strerror(errno));
  }
  if (gz_particle_file_is_binary(path)) {
    put_binary(&w->text, particles);
  } else {
    put_text(&w->text, particles);
  }
  gz_text_flush(&w->text);
  if (!gz_new_file_finish(&w->file, w->reason == 0) && w->reason == 0) w->reason = errno;
  if (w->reason == 0) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot write: %s", strerror(w->reason));
}

graze_status graze_write_particles(graze_context *context, const char *path, const graze_particle_list *particles) {
  io_fault fault = {.context = context};
  if (context == NULL || path == NULL || particles == NULL || (particles->positions == NULL && particles->count > 0)) {
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the writing call is invalid");
    return gz_io_report(&fault, path);
  }
  writer w = {.reason = 0};
  if (!gz_text_begin(&w.text, write_bytes, &w)) {
    gz_io_fail_memory(&fault);
  } else if (check_particles(particles, &fault)) {
    write_file(path, particles, &w, &fault);
  }
  gz_text_end(&w.text);
  return gz_io_report(&fault, path);
}
