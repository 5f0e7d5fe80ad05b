/* Files of frames: what is read from bytes that are put together here, and what is refused: every file that ends early,
 * and every number that cannot be. cli/simulate_frames.py decodes what the program writes. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "graze/io.h"
#include "support.h"

enum { BALLS = 3, FRAMES = 2, MOST = 1024 };

typedef struct file {
  unsigned char bytes[MOST];
  size_t size;
} file;

static void put(file *f, const void *bytes, size_t size) {
  assert_true(f->size + size <= MOST);
  memcpy(f->bytes + f->size, bytes, size);
  f->size += size;
}

static void put_word(file *f, uint64_t word) {
  put(f, &word, sizeof word);
}

static void put_double(file *f, double number) {
  put(f, &number, sizeof number);
}

/* Where what is changed lies. */
enum { AT_BALLS = 8, AT_SETS = 16, AT_COUNT = 24, AT_LENGTH = 32, AT_NAME = 40, AT_RADII = 72, AT_FRAME = 96 };
enum { FRAME_BYTES = 16 + 72 * BALLS };

static file make_file(void) {
  file f = {.size = 0};
  put(&f, "GRZTRACK", 8);
  put_word(&f, BALLS);
  put_word(&f, 2);
  put_word(&f, 1);
  put_word(&f, 4);
  put(&f, "ball\0\0\0", 8);
  put_word(&f, 2);
  put_word(&f, 8);
  put(&f, "p\xc3\xb6 , bed", 8);
  for (int i = 0; i < BALLS; i++) put_double(&f, 0.5 + i);
  for (int frame = 0; frame < FRAMES; frame++) {
    put_word(&f, 10 * (uint64_t)frame);
    put_double(&f, 0.25 * frame);
    for (int i = 0; i < 9 * BALLS; i++) put_double(&f, 100 * frame + i);
  }
  return f;
}

static void reads_frames(void **unused) {
  (void)unused;
  const file f = make_file();
  graze_frames frames;
  assert_int_equal(graze_parse_frames(shared_context(1), f.bytes, f.size, "f", &frames), GRAZE_OK);
  assert_int_equal(frames.balls, BALLS);
  assert_int_equal(frames.set_count, 2);
  assert_string_equal(frames.sets[0].name, "ball");
  assert_int_equal(frames.sets[0].count, 1);
  assert_memory_equal(frames.sets[1].name, "p\xc3\xb6 , bed", 8);
  assert_int_equal(frames.sets[1].count, 2);
  assert_int_equal(frames.count, FRAMES);
  for (uint64_t frame = 0; frame < FRAMES; frame++) {
    assert_int_equal(frames.steps[frame], 10 * frame);
    assert_true(frames.times[frame] == 0.25 * (double)frame);
    for (uint64_t i = 0; i < 9 * BALLS; i++)
      assert_true(frames.states[9 * BALLS * frame + i] == (double)(100 * frame + i));
  }
  assert_true(frames.radii[2] == 2.5);
  graze_frames_free(&frames);
  graze_frames_free(&frames);
}

/* Of rigid bodies, without radii. */
static file make_bodies(void) {
  file f = {.size = 0};
  put(&f, "GRZPOSES", 8);
  put_word(&f, 2);
  put_word(&f, 2);
  for (int i = 0; i < 2; i++) {
    put_word(&f, 1);
    put_word(&f, 3);
    put(&f, i == 0 ? "nut\0\0\0\0" : "peg\0\0\0\0", 8);
  }
  for (int frame = 0; frame < FRAMES; frame++) {
    put_word(&f, 1 + (uint64_t)frame);
    put_double(&f, frame);
    for (int i = 0; i < 13 * 2; i++) put_double(&f, 100 * frame + i);
  }
  return f;
}

static void reads_bodies(void **unused) {
  (void)unused;
  const file f = make_bodies();
  graze_frames frames;
  assert_int_equal(graze_parse_frames(shared_context(1), f.bytes, f.size, "f", &frames), GRAZE_OK);
  assert_int_equal(frames.numbers, 13);
  assert_null(frames.radii);
  assert_int_equal(frames.balls, 2);
  assert_int_equal(frames.set_count, 2);
  assert_string_equal(frames.sets[1].name, "peg");
  assert_int_equal(frames.count, FRAMES);
  for (uint64_t i = 0; i < 26; i++) assert_true(frames.states[26 + i] == (double)(100 + i));
  graze_frames_free(&frames);
}

static void refuse(const file *f, size_t size, graze_status status, const char *words) {
  graze_frames frames;
  assert_int_equal(graze_parse_frames(shared_context(1), f->bytes, size, "f", &frames), status);
  assert_null(frames.states);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("%s: no \"%s\"", shared_error()->message, words);
}

/* Whole frames may be missing, nothing else. */
static void refuses_ends(void **unused) {
  (void)unused;
  const file f = make_file();
  for (size_t size = 0; size < f.size; size++) {
    graze_frames frames;
    const bool whole = size >= AT_FRAME && (size - AT_FRAME) % FRAME_BYTES == 0;
    assert_int_equal(graze_parse_frames(shared_context(1), f.bytes, size, "f", &frames),
                     whole ? GRAZE_OK : GRAZE_ERROR_FORMAT);
    if (whole) assert_int_equal(frames.count, (size - AT_FRAME) / FRAME_BYTES);
    graze_frames_free(&frames);
  }
}

static void refuse_word(size_t at, uint64_t word, const char *words) {
  file f = make_file();
  memcpy(f.bytes + at, &word, sizeof word);
  refuse(&f, f.size, GRAZE_ERROR_FORMAT, words);
}

static void refuse_number(size_t at, double number, graze_status status, const char *words) {
  file f = make_file();
  memcpy(f.bytes + at, &number, sizeof number);
  refuse(&f, f.size, status, words);
}

static void refuses_contradictions(void **unused) {
  (void)unused;
  refuse_word(0, 0, "f: byte 0: frames begin with \"GRZTRACK\" or \"GRZPOSES\"");
  refuse_word(AT_BALLS, UINT64_MAX, "byte 8: 18446744073709551615 balls in 2 sets");
  refuse_word(AT_BALLS, 4, "4 balls, but the sets have 3");
  refuse_word(AT_BALLS, 2, "set 1: its balls are more than those of the file");
  refuse_word(AT_SETS, UINT64_MAX / 2, "sets: the file is too short");
  refuse_word(AT_COUNT, UINT64_MAX, "set 0: its balls are more");
  refuse_word(AT_LENGTH, UINT64_MAX, "ends within the name of a set");
  refuse_word(AT_LENGTH, 5, "a zero byte in its name");
  refuse_word(AT_FRAME + FRAME_BYTES, 0, "a frame of step 0 after step 0");
  refuse_number(AT_RADII + 8, 0, GRAZE_ERROR_FORMAT, "byte 80: radius 0 of ball 1");
  refuse_number(AT_RADII, NAN, GRAZE_ERROR_NOT_FINITE, "byte 72: a number of the radii is NaN");
  refuse_number(AT_FRAME + 8, -INFINITY, GRAZE_ERROR_NOT_FINITE, "byte 104: a number of a frame is infinite");
  refuse_number(AT_FRAME + 16 + 8 * 20, NAN, GRAZE_ERROR_NOT_FINITE, "is NaN");
}

static void refuses_bodies(void **unused) {
  (void)unused;
  const uint64_t both = 2, none = 0;
  file f = make_bodies();
  refuse(&f, f.size - 8, GRAZE_ERROR_FORMAT, "the file ends within a frame of 224 bytes");
  memcpy(f.bytes + AT_COUNT, &both, sizeof both);
  refuse(&f, f.size, GRAZE_ERROR_FORMAT, "byte 24: set 0 has 2 rigid bodies, not one");
  f = make_bodies();
  memcpy(f.bytes + AT_COUNT + 24, &none, sizeof none);
  refuse(&f, f.size, GRAZE_ERROR_FORMAT, "byte 48: set 1 has 0 rigid bodies, not one");
}

static void reads_files(void **unused) {
  (void)unused;
  const file f = make_file();
  graze_frames frames;
  FILE *stream = fopen("frames_test.gzt", "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(f.bytes, 1, f.size, stream), f.size);
  fclose(stream);
  assert_int_equal(graze_read_frames(shared_context(1), "frames_test.gzt", &frames), GRAZE_OK);
  assert_int_equal(frames.count, FRAMES);
  graze_frames_free(&frames);
  unlink("frames_test.gzt");
  assert_int_equal(graze_read_frames(shared_context(1), "frames_test.gzt", &frames), GRAZE_ERROR_FILE);
  assert_int_equal(graze_read_frames(shared_context(1), NULL, &frames), GRAZE_ERROR_ARGUMENT);
}

static void survives_refusals(void **unused) {
  (void)unused;
  const file f = make_file();
  graze_status status = GRAZE_ERROR_MEMORY;
  for (uint64_t k = 1; status != GRAZE_OK; k++) {
    test_allocator memory = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    graze_frames frames;
    def.threads = 1;
    def.allocator = test_allocator_hooks(&memory);
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    memory.fail_at = memory.requests + k;
    status = graze_parse_frames(context, f.bytes, f.size, "f", &frames);
    assert_true(status == GRAZE_OK || status == GRAZE_ERROR_MEMORY);
    graze_frames_free(&frames);
    graze_context_destroy(context);
    assert_int_equal(memory.live_blocks, 0);
    assert_true(k < 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_frames),   cmocka_unit_test(refuses_ends),      cmocka_unit_test(refuses_contradictions),
      cmocka_unit_test(reads_files),    cmocka_unit_test(survives_refusals), cmocka_unit_test(reads_bodies),
      cmocka_unit_test(refuses_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
