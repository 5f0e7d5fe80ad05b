/* read_frames.c: balls or rigid bodies at many times (.gzt), as `graze simulate --frames` writes them and docs/files.md
 * describes them.
 *
 * As with particles nothing is skipped and nothing repaired: a file is its head, sets and radii, and then as many whole
 * frames as its size has room for. */
#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "file.h"
#include "readers.h"

enum { MAGIC_BYTES = 8, WORD = 8, FRAME_HEAD_BYTES = 16, BALL_NUMBERS = 9, BODY_NUMBERS = 13 };

typedef struct reading {
  const io_input *input;
  io_fault *fault;
  size_t at;
} reading;

static bool fail_end(const reading *r, const char *within) {
  return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, r->input->size, "the file ends within %s", within);
}

static size_t rest_of(const reading *r) {
  return r->input->size - r->at;
}

static bool take_word(reading *r, uint64_t *word, const char *within) {
  if (rest_of(r) < WORD) return fail_end(r, within);
  const unsigned char *p = (const unsigned char *)r->input->text + r->at;
  *word = 0;
  for (int k = WORD - 1; k >= 0; k--) *word = *word << 8 | p[k];
  r->at += WORD;
  return true;
}

static bool take_double(reading *r, double *number, const char *what) {
  uint64_t word = 0;
  if (!take_word(r, &word, what)) return false;
  memcpy(number, &word, sizeof word);
  if (isfinite(*number)) return true;
  return gz_io_fail(r->fault, GRAZE_ERROR_NOT_FINITE, IO_BYTE, r->at - WORD, "a number of %s is %s", what,
                    isnan(*number) ? "NaN" : "infinite");
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static bool take_set(reading *r, graze_frames *frames, uint64_t *balls) {
  uint64_t count = 0, length = 0;
  graze_frames_set *set = &frames->sets[frames->set_count];
  if (!take_word(r, &count, "a set") || !take_word(r, &length, "a set")) return false;
  if (length > rest_of(r) || (length + WORD - 1) / WORD * WORD > rest_of(r)) return fail_end(r, "the name of a set");
  const char *name = r->input->text + r->at;
  if (frames->numbers == BODY_NUMBERS && count != 1)
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, r->at - 2 * WORD,
                      "set %llu has %llu rigid bodies, not one", (unsigned long long)frames->set_count,
                      (unsigned long long)count);
  if (memchr(name, 0, (size_t)length) != NULL || count > frames->balls - *balls)
    return gz_io_fail(
        r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, r->at, "set %llu: %s", (unsigned long long)frames->set_count,
        count > frames->balls - *balls ? "its balls are more than those of the file" : "a zero byte in its name");
  set->name = gz_new(r->fault->context, (size_t)length + 1, 1);
  if (set->name == NULL) return gz_io_fail_memory(r->fault);
  memcpy(set->name, name, (size_t)length);
  set->name[length] = 0;
  set->count = (uint32_t)count;
  frames->set_count++;
  *balls += count;
  r->at += (size_t)(length + WORD - 1) / WORD * WORD;
  return true;
}

static bool take_sets(reading *r, graze_frames *frames) {
  uint64_t balls = 0, sets = 0, listed = 0;
  if (!take_word(r, &balls, "its head") || !take_word(r, &sets, "its head")) return false;
  if (balls > rest_of(r) / WORD || sets > rest_of(r) / (2 * WORD))
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, MAGIC_BYTES,
                      "%llu balls in %llu sets: the file is too short for so many", (unsigned long long)balls,
                      (unsigned long long)sets);
  if (balls > IO_MOST_ELEMENTS || sets > IO_MOST_ELEMENTS)
    return gz_io_fail(r->fault, GRAZE_ERROR_LIMIT, IO_BYTE, MAGIC_BYTES,
                      "more balls or sets than 32-bit numbers allow");
  frames->balls = (uint32_t)balls;
  frames->sets = gz_new_zeroed(r->fault->context, (size_t)sets, sizeof *frames->sets);
  if (frames->sets == NULL) return gz_io_fail_memory(r->fault);
  while (frames->set_count < sets) {
    if (!take_set(r, frames, &listed)) return false;
  }
  if (listed == balls) return true;
  return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, MAGIC_BYTES, "%llu balls, but the sets have %llu",
                    (unsigned long long)balls, (unsigned long long)listed);
}

static bool take_radii(reading *r, graze_frames *frames) {
  frames->radii = gz_new(r->fault->context, frames->balls, sizeof *frames->radii);
  if (frames->radii == NULL) return gz_io_fail_memory(r->fault);
  for (uint32_t i = 0; i < frames->balls; i++) {
    if (!take_double(r, &frames->radii[i], "the radii")) return false;
    if (!(frames->radii[i] > 0))
      return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, r->at - WORD, "radius %g of ball %u", frames->radii[i],
                        i);
  }
  return true;
}

/* ---- the frames -------------------------------------------------------------------------------------------------- */

static bool make_room(reading *r, graze_frames *frames) {
  const size_t bytes = FRAME_HEAD_BYTES + frames->numbers * sizeof(double) * frames->balls;
  if (rest_of(r) % bytes != 0)
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, r->input->size - rest_of(r) % bytes,
                      "the file ends within a frame of %zu bytes", bytes);
  const size_t count = rest_of(r) / bytes;
  frames->steps = gz_new(r->fault->context, count, sizeof *frames->steps);
  frames->times = gz_new(r->fault->context, count, sizeof *frames->times);
  frames->states = gz_new(r->fault->context, frames->numbers * count * frames->balls, sizeof *frames->states);
  if (frames->steps == NULL || frames->times == NULL || frames->states == NULL) return gz_io_fail_memory(r->fault);
  frames->count = count;
  return true;
}

static bool take_frame(reading *r, graze_frames *frames, uint64_t frame) {
  const size_t begin = r->at, numbers = (size_t)frames->numbers * frames->balls;
  if (!take_word(r, &frames->steps[frame], "a frame") || !take_double(r, &frames->times[frame], "a frame"))
    return false;
  if (frame > 0 && frames->steps[frame] <= frames->steps[frame - 1])
    return gz_io_fail(r->fault, GRAZE_ERROR_FORMAT, IO_BYTE, begin, "a frame of step %llu after step %llu",
                      (unsigned long long)frames->steps[frame], (unsigned long long)frames->steps[frame - 1]);
  for (size_t i = 0; i < numbers; i++) {
    if (!take_double(r, &frames->states[frame * numbers + i], "a frame")) return false;
  }
  return true;
}

static bool read_all(const io_input *input, graze_frames *frames, io_fault *fault) {
  reading r = {input, fault, MAGIC_BYTES};
  const bool whole = input->size >= MAGIC_BYTES;
  if (whole && memcmp(input->text, "GRZTRACK", MAGIC_BYTES) == 0) frames->numbers = BALL_NUMBERS;
  if (whole && memcmp(input->text, "GRZPOSES", MAGIC_BYTES) == 0) frames->numbers = BODY_NUMBERS;
  if (frames->numbers == 0)
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "frames begin with \"GRZTRACK\" or \"GRZPOSES\"");
  if (!take_sets(&r, frames)) return false;
  if (frames->numbers == BALL_NUMBERS && !take_radii(&r, frames)) return false;
  if (!make_room(&r, frames)) return false;
  for (uint64_t i = 0; i < frames->count; i++) {
    if (!take_frame(&r, frames, i)) return false;
  }
  return true;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static bool check_arguments(const void *bytes, const char *name, graze_frames *frames, io_fault *fault) {
  if (frames != NULL) *frames = (graze_frames){0};
  if (fault->context != NULL && bytes != NULL && name != NULL && frames != NULL) return true;
  return gz_io_fail(fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
}

static graze_status answer(graze_context *context, const io_input *input, graze_frames *frames) {
  io_fault fault = {.context = context};
  if (!read_all(input, frames, &fault)) graze_frames_free(frames);
  return gz_io_report(&fault, input->name);
}

graze_status graze_parse_frames(graze_context *context, const void *bytes, size_t size, const char *name,
                                graze_frames *frames) {
  io_fault fault = {.context = context};
  if (size == 0) bytes = "";
  if (!check_arguments(bytes, name, frames, &fault)) return gz_io_report(&fault, name);
  return answer(context, &(io_input){.text = bytes, .size = size, .name = name}, frames);
}

graze_status graze_read_frames(graze_context *context, const char *path, graze_frames *frames) {
  io_fault fault = {.context = context};
  io_file file = {0};
  if (!check_arguments("", path, frames, &fault) || !gz_io_file_read(path, true, &file, &fault))
    return gz_io_report(&fault, path);
  graze_status status = answer(context, &(io_input){.text = file.bytes, .size = file.size, .name = path}, frames);
  gz_free(file.bytes);
  return status;
}

void graze_frames_free(graze_frames *frames) {
  if (frames == NULL) return;
  for (uint32_t i = 0; frames->sets != NULL && i < frames->set_count; i++) gz_free(frames->sets[i].name);
  gz_free(frames->sets);
  gz_free(frames->radii);
  gz_free(frames->steps);
  gz_free(frames->times);
  gz_free(frames->states);
  *frames = (graze_frames){0};
}
