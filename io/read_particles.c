/* read_particles.c: balls that move, as CSV text or binary (.gzp).
 *
 * As with boxes nothing is skipped and nothing repaired: every line behind the titles is a particle, and a binary file
 * is exactly as long as its count says. Particle i is line i + 2 of a text, and byte HEAD_BYTES + i * RECORD_BYTES.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/owned.h"
#include "file.h"
#include "particles.h"
#include "rows.h"
#include "text.h"

const char *const gz_particle_titles[PARTICLE_COLUMNS + 1] = {"x",  "y",  "z",  "r",  "vx", "vy", "vz",
                                                              "wx", "wy", "wz", "x1", "y1", "z1", NULL};
const char gz_particle_magic[IO_MAGIC_BYTES] = "GRZPART";

/* Where number `column` of a particle goes; NULL: nowhere. */
static double *place_of(const graze_particle_list *particles, uint64_t row, int column) {
  if (column < 3) return &particles->positions[3 * row + (uint64_t)column];
  if (column == 3) return particles->radii != NULL ? &particles->radii[row] : NULL;
  double *three = column < 7 ? particles->velocities : column < 10 ? particles->spins : particles->ends;
  return three != NULL ? &three[3 * row + (uint64_t)(column - 4) % 3] : NULL;
}

static bool make_three(double **three, uint64_t count, io_fault *fault) {
  *three = gz_new_zeroed(fault->context, (size_t)count, 3 * sizeof **three);
  return *three != NULL || gz_io_fail_memory(fault);
}

/* Room for the columns that are there. */
static bool make_room(graze_particle_list *particles, uint64_t count, const bool present[PARTICLE_COLUMNS],
                      io_fault *fault) {
  particles->count = (uint32_t)count;
  if (!make_three(&particles->positions, count, fault)) return false;
  if ((present[4] || present[5] || present[6]) && !make_three(&particles->velocities, count, fault)) return false;
  if ((present[7] || present[8] || present[9]) && !make_three(&particles->spins, count, fault)) return false;
  if (present[10] && !make_three(&particles->ends, count, fault)) return false;
  if (!present[3]) return true;
  particles->radii = gz_new(fault->context, (size_t)count, sizeof *particles->radii);
  return particles->radii != NULL || gz_io_fail_memory(fault);
}

/* ---- binary ------------------------------------------------------------------------------------------------------ */

static bool read_record(const unsigned char *p, uint64_t row, graze_particle_list *particles, io_fault *fault) {
  for (int k = 0; k < PARTICLE_NUMBERS; k++) {
    size_t offset = 8 * (size_t)k;
    uint64_t bits = io_read_word(p + offset);
    double *number = place_of(particles, row, k);
    memcpy(number, &bits, sizeof bits);
    if (isfinite(*number)) continue;
    return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_BYTE, IO_RECORDS_BEGIN + row * PARTICLE_BYTES + offset,
                      "%s of particle %llu is %s", gz_particle_titles[k], (unsigned long long)row,
                      isnan(*number) ? "NaN" : "infinite");
  }
  return true;
}

/* A file without radii has zeros. */
static void drop_radii(graze_particle_list *particles) {
  for (uint32_t i = 0; i < particles->count; i++) {
    if (particles->radii[i] != 0) return;
  }
  gz_free(particles->radii);
  particles->radii = NULL;
}

static bool read_binary(const io_input *input, graze_particle_list *particles, io_fault *fault) {
  static const bool all[PARTICLE_COLUMNS] = {true, true, true, true, true, true, true, true, true, true};
  uint64_t count = 0;
  if (!gz_io_read_count(input, PARTICLE_BYTES, "particles", &count, fault)) return false;
  if (!make_room(particles, count, all, fault)) return false;
  const unsigned char *p = (const unsigned char *)input->text + IO_RECORDS_BEGIN;
  for (uint64_t row = 0; row < count; row++, p += PARTICLE_BYTES) {
    if (!read_record(p, row, particles, fault)) return false;
  }
  drop_radii(particles);
  return true;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* The columns of a text, in its order. */
typedef struct columns {
  int number[PARTICLE_COLUMNS];
  int count;
  bool present[PARTICLE_COLUMNS];
  bool ends; /* where they end is asked for, and not how fast they are */
} columns;

static bool fail_titles(const char *reason, const columns *c, io_fault *fault) {
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, 1, "%s: the first line must name x,y,z and then any of %s",
                    reason, c->ends ? "r,x1,y1,z1" : "r,vx,vy,vz,wx,wy,wz");
}

/* Whether a text of this kind may have the column. */
static bool is_known(const columns *c, int column) {
  return column < 4 || (column >= PARTICLE_NUMBERS) == c->ends;
}

static bool add_column(io_field f, columns *c, io_fault *fault) {
  gz_quoted title = gz_io_quote(f.first, f.last);
  char reason[128];
  for (int k = 0; k < PARTICLE_COLUMNS; k++) {
    if (!is_known(c, k) || strcmp(title.text, gz_particle_titles[k]) != 0) continue;
    if (c->present[k]) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, 1, "two columns are named %s", title.text);
    c->present[k] = true;
    c->number[c->count++] = k;
    return true;
  }
  snprintf(reason, sizeof reason, "no column is named \"%s\"", title.text);
  return fail_titles(reason, c, fault);
}

static bool read_titles(const char *p, const char *end, columns *c, io_fault *fault) {
  for (;; p++) {
    const char *comma = io_find_comma(p, end);
    if (!add_column(gz_io_trim(p, comma), c, fault)) return false;
    p = comma;
    if (p == end) break;
  }
  for (int k = 0; k < 3; k++) {
    if (c->count < 3 || c->number[k] != k) return fail_titles("x, y and z are not the first columns", c, fault);
  }
  if (c->present[10] != c->present[11] || c->present[10] != c->present[12])
    return fail_titles("x1, y1 and z1 belong together", c, fault);
  return true;
}

static bool check_fields(const char *p, const char *end, const columns *c, uint64_t line, io_fault *fault) {
  int fields = 1;
  if (io_skip_blanks(p, end) == end) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "the line is empty");
  for (; p < end; p++) fields += *p == ',' && fields <= PARTICLE_COLUMNS;
  if (fields == c->count) return true;
  if (fields > c->count)
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "more than %d fields, one for each title", c->count);
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, line, "%d field%s where there should be %d: %s is missing",
                    fields, fields == 1 ? "" : "s", c->count, gz_particle_titles[c->number[fields]]);
}

static bool read_row(const char *p, const char *end, uint64_t row, const columns *c, graze_particle_list *particles,
                     io_fault *fault) {
  uint64_t line = row + 2;
  if (!check_fields(p, end, c, line, fault)) return false;
  for (int i = 0; i < c->count; i++) {
    const char *comma = io_find_comma(p, end);
    int k = c->number[i];
    if (!gz_io_read_number(gz_io_trim(p, comma), gz_particle_titles[k], place_of(particles, row, k), line, fault))
      return false;
    p = comma < end ? comma + 1 : end;
  }
  return true;
}

static bool read_text(const io_input *input, bool ends, graze_particle_list *particles, io_fault *fault) {
  const char *p = input->text + gz_io_text_begin(input->text, input->size), *end = input->text + input->size;
  columns c = {.ends = ends};
  if (p == end) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "the file is empty");
  const char *line_end = io_find_line_end(p, end);
  if (!read_titles(p, line_end, &c, fault)) return false;
  p = io_skip_line_end(line_end, end);
  uint64_t count = gz_io_count_lines(p, end);
  if (!gz_io_check_count(count, "particles", IO_WHOLE_FILE, 0, fault)) return false;
  if (!make_room(particles, count, c.present, fault)) return false;
  for (uint64_t row = 0; row < count; row++) {
    line_end = io_find_line_end(p, end);
    if (!read_row(p, line_end, row, &c, particles, fault)) return false;
    p = io_skip_line_end(line_end, end);
  }
  return true;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

bool gz_particle_file_is_binary(const char *path) {
  size_t length = strlen(path);
  return length >= 4 && gz_io_token_is(path + length - 4, path + length, ".gzp");
}

static bool read_any(const io_input *input, bool ends, graze_particle_list *particles, io_fault *fault) {
  bool whole = input->size >= IO_MAGIC_BYTES && memcmp(input->text, gz_particle_magic, IO_MAGIC_BYTES) == 0;
  bool begun = input->size >= 7 && memcmp(input->text, gz_particle_magic, 7) == 0;
  if (!whole && (begun || gz_particle_file_is_binary(input->name))) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "binary particles begin with \"%s\" and a zero byte",
                      gz_particle_magic);
  }
  if (whole && ends) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0,
                      "binary particles have velocities, and not where they end: a text with columns x,y,z is needed");
  }
  return whole ? read_binary(input, particles, fault) : read_text(input, ends, particles, fault);
}

static graze_status answer(graze_context *context, const io_input *input, bool ends, graze_particle_list *particles) {
  io_fault fault = {.context = context};
  if (!read_any(input, ends, particles, &fault)) graze_particle_list_free(particles);
  return gz_io_report(&fault, input->name);
}

static bool check_arguments(const void *bytes, const char *name, graze_particle_list *particles, io_fault *fault) {
  if (particles != NULL) *particles = (graze_particle_list){0};
  if (fault->context != NULL && bytes != NULL && name != NULL && particles != NULL) return true;
  return gz_io_fail(fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
}

static graze_status parse(graze_context *context, const void *bytes, size_t size, const char *name, bool ends,
                          graze_particle_list *particles) {
  io_fault fault = {.context = context};
  if (size == 0) bytes = "";
  if (!check_arguments(bytes, name, particles, &fault)) return gz_io_report(&fault, name);
  return answer(context, &(io_input){.text = bytes, .size = size, .name = name}, ends, particles);
}

static graze_status read_file(graze_context *context, const char *path, bool ends, graze_particle_list *particles) {
  io_fault fault = {.context = context};
  io_file file = {0};
  if (!check_arguments("", path, particles, &fault) || !gz_io_file_read(path, true, &file, &fault)) {
    return gz_io_report(&fault, path);
  }
  const io_input input = {.text = file.bytes, .size = file.size, .name = path};
  graze_status status = answer(context, &input, ends, particles);
  gz_free(file.bytes);
  return status;
}

graze_status graze_parse_particles(graze_context *context, const void *bytes, size_t size, const char *name,
                                   graze_particle_list *particles) {
  return parse(context, bytes, size, name, false, particles);
}

graze_status graze_read_particles(graze_context *context, const char *path, graze_particle_list *particles) {
  return read_file(context, path, false, particles);
}

graze_status graze_parse_flights(graze_context *context, const void *bytes, size_t size, const char *name,
                                 graze_particle_list *particles) {
  return parse(context, bytes, size, name, true, particles);
}

graze_status graze_read_flights(graze_context *context, const char *path, graze_particle_list *particles) {
  return read_file(context, path, true, particles);
}

void graze_particle_list_free(graze_particle_list *particles) {
  if (particles == NULL) return;
  gz_free(particles->positions);
  gz_free(particles->velocities);
  gz_free(particles->spins);
  gz_free(particles->ends);
  gz_free(particles->radii);
  *particles = (graze_particle_list){0};
}
