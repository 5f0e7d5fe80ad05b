/* Devices: what there is, their building blocks held to plain loops, and what is kept on the disk. Where there is no
 * device, the tests of what it computes are skipped. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_group.h"
#include "families.h"
#include "gpu/primitives.h"

/* ---- devices --------------------------------------------------------------------------------------------------- */

static void test_names(void **state) {
  (void)state;
  graze_gpu *none = NULL;
  static const char *const bad[] = {"",          "opencl", "opencl:", "opencl:x",
                                    "opencl:1x", "gpu:0",  "cuda:-1", "opencl:123456"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(graze_gpu_create(on.context, bad[i], &none), GRAZE_ERROR_ARGUMENT);
    assert_null(none);
  }
  assert_int_equal(graze_gpu_create(on.context, "opencl:99", &none), GRAZE_ERROR_UNSUPPORTED);
  graze_gpu_info *list;
  uint32_t count;
  assert_int_equal(graze_gpu_list(on.context, &list, &count), GRAZE_OK);
  bool opencl = count > 0 && list[0].api == GRAZE_GPU_OPENCL; /* those come first */
  graze_gpu_list_free(on.context, list, count);
  assert_int_equal(strncmp(on.messages.last, opencl ? "no device opencl:99; there" : "no OpenCL: ", 11), 0);
}

/* What is switched off is as if it were not there, and is said to be. */
static void test_switched_off(void **state) {
  (void)state;
  const char *old = getenv("GRAZE_DISABLE");
  char *kept = old != NULL ? strdup(old) : NULL;
  graze_gpu_info *list;
  uint32_t count;
  graze_gpu *none = NULL;
  setenv("GRAZE_DISABLE", "avx512,opencl,cuda", 1);
  assert_int_equal(graze_gpu_list(on.context, &list, &count), GRAZE_OK);
  assert_int_equal(count, 0);
  assert_null(list);
  assert_int_equal(graze_gpu_create(on.context, NULL, &none), GRAZE_ERROR_UNSUPPORTED);
  assert_string_equal(on.messages.last,
                      "no device: no OpenCL: GRAZE_DISABLE switches it off; no CUDA: GRAZE_DISABLE "
                      "switches it off");
  assert_int_equal(graze_gpu_create(on.context, "cuda:3", &none), GRAZE_ERROR_UNSUPPORTED);
  assert_string_equal(on.messages.last, "no CUDA: GRAZE_DISABLE switches it off");
  if (kept != NULL)
    setenv("GRAZE_DISABLE", kept, 1);
  else
    unsetenv("GRAZE_DISABLE");
  free(kept);
}

/* Every OpenCL device at hand is exact; one that is not must say where. */
static void test_arithmetic(void **state) {
  (void)state;
  need_device();
  const graze_gpu_info *a = graze_gpu_get_info(on.gpu);
  assert_true(a->exact == (a->flaw[0] == 0));
  if (!a->exact) printf("not exact: %s\n", a->flaw);
}

/* What kernels make of a group's numbers, with shuffles where the device has them. */
static void test_group_scans(void **state) {
  (void)state;
  need_device();
  bool right = false;
  assert_int_equal(gz_gpu_test_scans(on.gpu, &right), GRAZE_OK);
  assert_true(right);
}

/* ---- building blocks ------------------------------------------------------------------------------------------- */

/* Ascending. */
static const uint32_t sizes[] = {0, 1, 2, 31, 255, 256, 257, 2047, 2048, 2049, 4096, 10000, 100003, 600000};

static size_t size_count(void) {
  size_t count = 0;
  while (count < sizeof sizes / sizeof *sizes && sizes[count] <= test_device_most()) count++;
  return count;
}

/* A simulator takes about a quarter of the cases, others in every run; all with GRAZE_TEST_LONG=1. */
static bool is_left_out(uint64_t *random) {
  return test_device_few() && !test_long() && random_below(random, 4) != 0;
}

static uint32_t *random_numbers(uint64_t *random, uint32_t count, uint32_t below) {
  uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
  assert_non_null(numbers);
  for (uint32_t i = 0; i < count; i++) numbers[i] = (uint32_t)(random_next(random) % below);
  return numbers;
}

static void put(gpu_buffer *to, const void *from, size_t bytes) {
  assert_int_equal(gz_gpu_reserve(on.gpu, to, bytes), GRAZE_OK);
  assert_int_equal(gz_gpu_write(on.gpu, to, 0, from, bytes), GRAZE_OK);
}

static void test_scan(void **state) {
  (void)state;
  need_device();
  uint64_t random = test_seed(1);
  gpu_buffer in = {0, 0}, out = {0, 0};
  gpu_scratch scratch = {0};
  for (size_t s = 0; s < size_count(); s++) {
    uint32_t n = sizes[s], below = s % 2 == 0 ? 5 : 0x80000000u;
    uint32_t *numbers = random_numbers(&random, n, below), *sums = malloc((n + 1) * sizeof *sums);
    put(&in, numbers, n * sizeof *numbers);
    assert_int_equal(gz_gpu_reserve(on.gpu, &out, (n + 1) * sizeof *sums), GRAZE_OK);
    assert_int_equal(gz_gpu_scan(on.gpu, &scratch, &in, &out, n), GRAZE_OK);
    assert_int_equal(gz_gpu_read(on.gpu, sums, &out, 0, (n + 1) * sizeof *sums), GRAZE_OK);
    uint64_t sum = 0, total;
    for (uint32_t i = 0; i <= n; i++) {
      if (sums[i] != (uint32_t)sum) fail_msg("%u numbers: sum %u is %u, not %u", n, i, sums[i], (uint32_t)sum);
      if (i < n) sum += numbers[i];
    }
    assert_int_equal(gz_gpu_scan_total(on.gpu, &scratch, &total), GRAZE_OK);
    assert_true(total == sum); /* more than 32 bits hold, where numbers are large */
    free(numbers);
    free(sums);
  }
  gz_gpu_release(on.gpu, &in);
  gz_gpu_release(on.gpu, &out);
  gz_gpu_scratch_release(on.gpu, &scratch);
}

static void test_runs(void **state) {
  (void)state;
  need_device();
  uint64_t random = test_seed(2);
  gpu_buffer in = {0, 0}, out = {0, 0};
  gpu_scratch scratch = {0};
  for (size_t s = 0; s < size_count(); s++) {
    uint32_t n = sizes[s], found, runs = 0, *keys = random_numbers(&random, n, 3), *got = malloc((n + 1) * sizeof *got);
    put(&in, keys, n * sizeof *keys);
    assert_int_equal(gz_gpu_runs(on.gpu, &scratch, &in, n, &out, &found), GRAZE_OK);
    assert_int_equal(gz_gpu_read(on.gpu, got, &out, 0, found * sizeof *got), GRAZE_OK);
    for (uint32_t i = 0; i < n; i++) {
      if (i > 0 && keys[i] == keys[i - 1]) continue;
      assert_true(runs < found);
      assert_int_equal(got[runs++], i);
    }
    assert_int_equal(runs, found);
    free(keys);
    free(got);
  }
  gz_gpu_release(on.gpu, &in);
  gz_gpu_release(on.gpu, &out);
  gz_gpu_scratch_release(on.gpu, &scratch);
}

/* Numbers of 4 or 8 bytes, from the same random ones. */
static uint64_t number_at(const void *numbers, uint32_t i, uint32_t bytes) {
  return bytes == 8 ? ((const uint64_t *)numbers)[i] : ((const uint32_t *)numbers)[i];
}

static void *random_values(uint64_t *random, uint32_t count, uint32_t bytes) {
  unsigned char *values = malloc((count + (size_t)1) * bytes);
  assert_non_null(values);
  for (size_t i = 0; i < (size_t)count * bytes; i++) values[i] = (unsigned char)random_next(random);
  return values;
}

static void check_scan_segments(gpu_scratch *scratch, uint64_t *random, uint32_t n, uint32_t bytes, uint32_t apart) {
  gpu_buffer in = {0, 0}, flags = {0, 0};
  void *values = random_values(random, n, bytes), *got = malloc((n + (size_t)1) * bytes);
  uint32_t *marks = random_numbers(random, n, apart);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < n; i++) marks[i] = marks[i] == 0 ? i % 3 + 1 : 0; /* any number but 0 is a flag */
  put(&in, values, (size_t)n * bytes);
  put(&flags, marks, n * sizeof *marks);
  assert_int_equal(gz_gpu_scan_segments(on.gpu, scratch, &in, &flags, &in, n, bytes), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, got, &in, 0, (size_t)n * bytes), GRAZE_OK);
  for (uint32_t i = 0; i < n; i++) {
    if (marks[i] != 0) sum = 0;
    if (number_at(got, i, bytes) != (bytes == 8 ? sum : (uint32_t)sum)) fail_msg("%u numbers: sum %u", n, i);
    sum += number_at(values, i, bytes);
  }
  gz_gpu_release(on.gpu, &in);
  gz_gpu_release(on.gpu, &flags);
  free(values);
  free(got);
  free(marks);
}

/* Segments of some elements, of one each, of thousands, and one of all. */
static void test_scan_segments(void **state) {
  (void)state;
  need_device();
  static const uint32_t apart[] = {1, 5, 3000, UINT32_MAX};
  uint64_t random = test_seed(4);
  gpu_scratch scratch = {0};
  for (size_t s = 0; s < size_count(); s++) {
    for (size_t a = 0; a < sizeof apart / sizeof *apart; a++) {
      if (is_left_out(&random)) continue;
      check_scan_segments(&scratch, &random, sizes[s], a % 2 == 0 ? 4 : 8, apart[a]);
      check_scan_segments(&scratch, &random, sizes[s], a % 2 == 0 ? 8 : 4, apart[a]);
    }
  }
  gz_gpu_scratch_release(on.gpu, &scratch);
}

/* The step in which one group goes over all tiles, with more of them than it has items: so many tiles are more than a
 * simulator has time for. */
static void test_many_tiles(void **state) {
  (void)state;
  need_device();
  enum { TILES = 700 };
  const uint32_t tiles = TILES, op = GPU_SUM;
  uint64_t random = test_seed(6), sum = 0, all, got[TILES], *sums = random_values(&random, TILES, 8);
  uint32_t heads[TILES], open = 0, over[TILES], *tails = random_values(&random, TILES, 4);
  gpu_buffer in = {0, 0}, total = {0, 0}, marks = {0, 0};
  put(&in, sums, sizeof got);
  put(&total, &sum, sizeof sum);
  const gpu_argument top[] = {GPU_BUFFER(&in), GPU_VALUE(tiles), GPU_BUFFER(&total)};
  assert_int_equal(gz_gpu_run(on.gpu, "scan", "scan_top", 1, top, 3), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, got, &in, 0, sizeof got), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, &all, &total, 0, sizeof all), GRAZE_OK);
  for (uint32_t i = 0; i < TILES; sum += sums[i++]) assert_true(got[i] == sum);
  assert_true(all == sum);
  for (uint32_t i = 0; i < TILES; i++) heads[i] = i == 17 || i == 600;
  put(&in, tails, sizeof over);
  put(&marks, heads, sizeof over);
  const gpu_argument carry[] = {GPU_BUFFER(&in), GPU_BUFFER(&marks), GPU_VALUE(tiles), GPU_VALUE(op)};
  assert_int_equal(gz_gpu_run(on.gpu, "segments32", "carry_tails", 1, carry, 4), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, over, &in, 0, sizeof over), GRAZE_OK);
  for (uint32_t i = 0; i < TILES; i++) {
    assert_int_equal(over[i], open);
    open = heads[i] != 0 ? tails[i] : open + tails[i];
  }
  gpu_buffer *buffers[] = {&in, &total, &marks};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_gpu_release(on.gpu, buffers[i]);
  free(sums);
  free(tails);
}

static uint64_t plain_fold(gpu_fold fold, const void *values, uint32_t begin, uint32_t end, uint32_t bytes) {
  uint64_t all = fold == GPU_MIN ? UINT64_MAX : 0;
  for (uint32_t i = begin; i < end; i++) {
    uint64_t x = number_at(values, i, bytes);
    if (fold == GPU_SUM) all += x;
    if ((fold == GPU_MIN && x < all) || (fold == GPU_MAX && x > all)) all = x;
  }
  return bytes == 8 ? all : (uint32_t)all;
}

static void check_fold_segments(gpu_scratch *scratch, uint64_t *random, uint32_t n, uint32_t bytes,
                                const uint32_t *starts, uint32_t segments) {
  gpu_buffer in = {0, 0}, from = {0, 0}, out = {0, 0};
  void *values = random_values(random, n, bytes), *got = malloc((segments + (size_t)1) * bytes);
  put(&in, values, (size_t)n * bytes);
  put(&from, starts, (segments + (size_t)1) * sizeof *starts);
  assert_int_equal(gz_gpu_reserve(on.gpu, &out, (size_t)segments * bytes), GRAZE_OK);
  for (gpu_fold fold = GPU_SUM; fold <= GPU_MAX; fold++) {
    assert_int_equal(gz_gpu_fold_segments(on.gpu, scratch, fold, &in, n, bytes, &from, segments, &out), GRAZE_OK);
    assert_int_equal(gz_gpu_read(on.gpu, got, &out, 0, (size_t)segments * bytes), GRAZE_OK);
    for (uint32_t s = 0; s < segments; s++) {
      uint64_t want = plain_fold(fold, values, starts[s], starts[s + 1], bytes);
      if (number_at(got, s, bytes) != want) fail_msg("%u numbers, fold %d: segment %u of %u", n, fold, s, segments);
    }
  }
  gz_gpu_release(on.gpu, &in);
  gz_gpu_release(on.gpu, &from);
  gz_gpu_release(on.gpu, &out);
  free(values);
  free(got);
}

/* Ascending starts: of `most` elements each at most, every third one empty, with some elements before the first. */
static uint32_t random_starts(uint64_t *random, uint32_t n, uint32_t most, uint32_t *starts, uint32_t room) {
  uint32_t at = n > 4 ? 3 : 0, segments = 0;
  starts[0] = at;
  while (segments + 1 < room && (at < n || segments < 5)) {
    uint32_t length = segments % 3 == 1 ? 0 : (uint32_t)(random_next(random) % most) + 1;
    at = length < n - at ? at + length : n;
    starts[++segments] = at;
  }
  return segments;
}

static void test_fold_segments(void **state) {
  (void)state;
  need_device();
  static const uint32_t most[] = {1, 7, 5000};
  uint64_t random = test_seed(5);
  gpu_scratch scratch = {0};
  for (size_t s = 0; s < size_count(); s++) {
    uint32_t n = sizes[s], room = 2 * n + 10, *starts = malloc((room + (size_t)1) * sizeof *starts);
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
      if (is_left_out(&random)) continue;
      for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
        if (is_left_out(&random)) continue;
        check_fold_segments(&scratch, &random, n, bytes, starts, random_starts(&random, n, most[m], starts, room));
      }
      for (uint32_t i = 0; i <= room; i++) starts[i] = n / 2; /* nothing but empty ones */
      check_fold_segments(&scratch, &random, n, bytes, starts, room);
      starts[0] = 0;
      starts[1] = n; /* all in one */
      check_fold_segments(&scratch, &random, n, bytes, starts, 1);
      check_fold_segments(&scratch, &random, n, bytes, starts, 0);
    }
    free(starts);
  }
  gz_gpu_scratch_release(on.gpu, &scratch);
}

typedef struct item {
  uint64_t key;
  uint32_t value;
} item;

/* Of equal keys the one that was first stays first. */
static int by_key(const void *p, const void *q) {
  const item *x = p, *y = q;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

static void check_sort(gpu_scratch *scratch, uint64_t *random, uint32_t n, uint32_t key_bytes, uint32_t bits) {
  gpu_buffer keys = {0, 0}, values = {0, 0};
  item *items = malloc((n + 1) * sizeof *items);
  uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
  unsigned char *raw = malloc((n + (size_t)1) * key_bytes);
  for (uint32_t i = 0; i < n; i++) {
    items[i] = (item){random_next(random) >> (64 - bits), i};
    numbers[i] = i;
    memcpy(raw + (size_t)i * key_bytes, &items[i].key, key_bytes);
  }
  put(&keys, raw, (size_t)n * key_bytes);
  put(&values, numbers, n * sizeof *numbers);
  assert_int_equal(gz_gpu_sort(on.gpu, scratch, &keys, &values, n, key_bytes, bits), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, raw, &keys, 0, (size_t)n * key_bytes), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, numbers, &values, 0, n * sizeof *numbers), GRAZE_OK);
  qsort(items, n, sizeof *items, by_key);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t key = 0;
    memcpy(&key, raw + (size_t)i * key_bytes, key_bytes);
    if (key != items[i].key || numbers[i] != items[i].value) fail_msg("%u keys of %u bits: place %u", n, bits, i);
  }
  gz_gpu_release(on.gpu, &keys);
  gz_gpu_release(on.gpu, &values);
  free(items);
  free(numbers);
  free(raw);
}

static void test_sort(void **state) {
  (void)state;
  need_device();
  uint64_t random = test_seed(3);
  gpu_scratch scratch = {0};
  for (size_t s = 0; s < size_count(); s++) {
    if (!is_left_out(&random)) check_sort(&scratch, &random, sizes[s], 4, 32);
    if (!is_left_out(&random)) check_sort(&scratch, &random, sizes[s], 4, 3); /* many are equal */
    if (!is_left_out(&random)) check_sort(&scratch, &random, sizes[s], 8, 64);
    if (!is_left_out(&random)) check_sort(&scratch, &random, sizes[s], 8, 36);
  }
  gz_gpu_scratch_release(on.gpu, &scratch);
}

/* ---- the cache ------------------------------------------------------------------------------------------------- */

/* Overwrites every file of the folder with a byte that is wrong; returns how many there were. */
static int damage(const char *folder) {
  DIR *files = opendir(folder);
  int count = 0;
  if (files == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
    char path[1200];
    if (strstr(entry->d_name, ".kernels") == NULL) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, count % 2 == 0 ? 40 : 5, SEEK_SET);
    fputc(0x55, file);
    fclose(file);
    count++;
  }
  closedir(files);
  return count;
}

static void empty(const char *folder) {
  DIR *files = opendir(folder);
  if (files == NULL) return;
  for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  closedir(files);
  rmdir(folder);
}

/* A device made anew takes its kernels from the disk; damaged ones are made again; no folder is no error. */
static void test_cache(void **state) {
  (void)state;
  need_device();
  const char *old = getenv("GRAZE_CACHE");
  char *kept = old != NULL ? strdup(old) : NULL, folder[64];
  snprintf(folder, sizeof folder, "test_gpu_%ld/kernels", (long)getpid());
  setenv("GRAZE_CACHE", folder, 1);
  for (int round = 0; round < 3; round++) {
    graze_gpu *other = NULL;
    assert_int_equal(test_device_again(on.context, &other), GRAZE_OK);
    assert_true(graze_gpu_get_info(other)->exact == graze_gpu_get_info(on.gpu)->exact);
    graze_gpu_destroy(other);
    if (round == 1 && graze_gpu_get_info(on.gpu)->api == GRAZE_GPU_OPENCL) {
      assert_int_equal(damage(folder), on.gpu->shuffle ? 2 : 1); /* what the self-tests need */
    }
  }
  empty(folder);
  *strchr(folder, '/') = 0;
  rmdir(folder);
  setenv("GRAZE_CACHE", "/dev/null/nowhere", 1);
  graze_gpu *other = NULL;
  assert_int_equal(test_device_again(on.context, &other), GRAZE_OK);
  graze_gpu_destroy(other);
  if (kept != NULL)
    setenv("GRAZE_CACHE", kept, 1);
  else
    unsetenv("GRAZE_CACHE");
  free(kept);
}

/* ---- kernels from outside -------------------------------------------------------------------------------------- */

/* In both languages; what a kernel of the library has in front of it is not there. */
static const char twice[] =
    "#if defined(__OPENCL_VERSION__)\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void twice(__global unsigned *x) { x[get_global_id(0)] *= 2; }\n"
    "#else\n"
    "extern \"C\" __global__ void __launch_bounds__(32) twice(unsigned *x)\n"
    "{ x[blockIdx.x * 32 + threadIdx.x] *= 2; }\n"
    "#endif\n";

static const gpu_source twice_source = {.name = "twice", .text = twice, .size = sizeof twice - 1};

static void check_twice(gpu_module *module) {
  enum { COUNT = 64 };
  uint32_t numbers[COUNT];
  gpu_buffer x = {0, 0};
  gpu_kernel kernel;
  for (uint32_t i = 0; i < COUNT; i++) numbers[i] = i;
  put(&x, numbers, sizeof numbers);
  for (int round = 0; round < 2; round++) { /* the second one is looked up */
    assert_int_equal(gz_gpu_module_kernel(on.gpu, module, "twice", &kernel), GRAZE_OK);
    assert_int_equal(kernel.group, 32);
    const gpu_argument arguments[] = {GPU_BUFFER(&x)};
    assert_int_equal(gz_gpu_launch(on.gpu, &kernel, gpu_groups(COUNT, kernel.group), arguments, 1), GRAZE_OK);
  }
  assert_int_equal(gz_gpu_read(on.gpu, numbers, &x, 0, sizeof numbers), GRAZE_OK);
  for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(numbers[i], 4 * i);
  gz_gpu_release(on.gpu, &x);
}

/* The processor has its modules built in. */
static void need_compiler(void) {
  need_device();
  if (strcmp(on.gpu->backend->name, "host") == 0) skip();
}

/* From the text, and then from the disk. */
static void test_module(void **state) {
  (void)state;
  need_compiler();
  for (int round = 0; round < 2; round++) {
    gpu_module *module = NULL;
    assert_int_equal(gz_gpu_module_create(on.gpu, &twice_source, &module), GRAZE_OK);
    check_twice(module);
    gz_gpu_module_destroy(on.gpu, module);
  }
}

/* A text that does not compile, and a kernel that is not there: errors that name them; the device is lost. */
static void test_bad_module(void **state) {
  (void)state;
  need_compiler();
  static const char nonsense[] = "no kernel is this";
  const gpu_source source = {.name = "nonsense", .text = nonsense, .size = sizeof nonsense - 1};
  for (int round = 0; round < 2; round++) {
    graze_gpu *other = NULL;
    gpu_module *module = NULL;
    gpu_kernel kernel;
    assert_int_equal(test_device_again(on.context, &other), GRAZE_OK);
    if (round == 0) {
      assert_int_equal(gz_gpu_module_create(other, &source, &module), GRAZE_ERROR_DEVICE);
      assert_null(module);
    } else {
      assert_int_equal(gz_gpu_module_create(other, &twice_source, &module), GRAZE_OK);
      assert_int_equal(gz_gpu_module_kernel(other, module, "thrice", &kernel), GRAZE_ERROR_DEVICE);
    }
    assert_non_null(strstr(on.messages.last, round == 0 ? "nonsense" : "thrice"));
    assert_int_equal(gz_gpu_module_create(other, &twice_source, &module), GRAZE_ERROR_DEVICE);
    gz_gpu_module_destroy(other, module);
    graze_gpu_destroy(other);
  }
}

/* More than there is: an error that names the device, which stays usable. */
static void test_memory(void **state) {
  (void)state;
  need_device();
  gpu_buffer huge = {0, 0}, small = {0, 0};
  assert_int_equal(gz_gpu_reserve(on.gpu, &huge, (size_t)1 << 50), GRAZE_ERROR_MEMORY);
  assert_non_null(strstr(on.messages.last, graze_gpu_get_info(on.gpu)->id));
  uint32_t number = 17, back = 0;
  put(&small, &number, sizeof number);
  assert_int_equal(gz_gpu_read(on.gpu, &back, &small, 0, sizeof back), GRAZE_OK);
  assert_int_equal(back, 17);
  gz_gpu_release(on.gpu, &huge);
  gz_gpu_release(on.gpu, &small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),         cmocka_unit_test(test_switched_off),  cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_group_scans),   cmocka_unit_test(test_scan),          cmocka_unit_test(test_runs),
      cmocka_unit_test(test_sort),          cmocka_unit_test(test_scan_segments), cmocka_unit_test(test_many_tiles),
      cmocka_unit_test(test_fold_segments), cmocka_unit_test(test_cache),         cmocka_unit_test(test_memory),
      cmocka_unit_test(test_module),        cmocka_unit_test(test_bad_module)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
