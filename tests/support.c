/* What several tests need; see support.h. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "families.h"

static bool asked_for(const char *name) {
  const char *value = getenv(name);
  return value && strcmp(value, "0") != 0 && *value;
}

bool test_long(void) {
  return asked_for("GRAZE_TEST_LONG");
}

static bool sanitized(void) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  return true;
#else
  return false;
#endif
}

bool test_thinned(void) {
  return (sanitized() || getenv("GRAZE_DISABLE") != NULL) && !test_long() && !asked_for("GRAZE_TEST_WHOLE");
}

int test_rounds(int usual, int most) {
  if (sanitized()) usual = (usual + 7) / 8;
  if (getenv("GRAZE_DISABLE") != NULL && !asked_for("GRAZE_TEST_WHOLE")) usual = (usual + 3) / 4;
  return test_long() ? most : usual;
}

__attribute__((constructor)) static void choose_cases(void) {
  const char *pattern = getenv("GRAZE_TEST_CASES");
  if (pattern != NULL) cmocka_set_test_filter(pattern);
}

uint64_t test_seed(uint64_t number) {
  static uint64_t run;
  static bool chosen;
  if (!chosen) {
    const char *value = getenv("GRAZE_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t fresh = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 40);
    run = value && *value ? strtoull(value, NULL, 0) : random_next(&fresh) >> 32;
    chosen = true;
    fprintf(stderr, "GRAZE_TEST_SEED=%llu repeats these random cases\n", (unsigned long long)run);
  }
  uint64_t state = run, base = random_next(&state) ^ number;
  return random_next(&base);
}

double test_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void test_log_write(void *user, graze_log_level level, const char *message) {
  test_log *log = user;
  if (level != GRAZE_LOG_ERROR) return;
  log->errors++;
  snprintf(log->last, sizeof log->last, "%s", message);
}

graze_context *test_context(int threads, test_log *log) {
  graze_context *context = NULL;
  graze_context_def def = graze_default_context_def();
  def.threads = threads;
  if (log) {
    *log = (test_log){0};
    def.log = test_log_write;
    def.log_user = log;
  }
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  assert_non_null(context);
  return context;
}

static graze_context *shared[16]; /* by number of threads */

graze_context *shared_context(int threads) {
  assert_in_range(threads, 0, sizeof shared / sizeof shared[0] - 1);
  if (shared[threads] == NULL) shared[threads] = test_context(threads, NULL);
  return shared[threads];
}

const graze_error *shared_error(void) {
  for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
    const graze_error *error = graze_last_error(shared[i]);
    if (error->status != GRAZE_OK) return error;
  }
  return graze_last_error(NULL);
}

/* ---- allocator --------------------------------------------------------------------------------------------------- */

static void *counting_alloc(void *user, size_t size, size_t alignment) {
  test_allocator *a = user;
  uint64_t number = __atomic_add_fetch(&a->requests, 1, __ATOMIC_RELAXED);
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    __atomic_add_fetch(&a->misaligned, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  if (a->fail_at && number >= a->fail_at) return NULL;
  /* The size is kept in front, to check what release is told. */
  size_t room = alignment < 16 ? 16 : alignment;
  char *block = aligned_alloc(room, (size + room + room - 1) / room * room);
  if (!block) return NULL;
  memcpy(block + room - sizeof size, &size, sizeof size);
  memcpy(block + room - 2 * sizeof size, &room, sizeof room);
  __atomic_add_fetch(&a->live_blocks, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&a->live_bytes, (int64_t)size, __ATOMIC_RELAXED);
  return block + room;
}

static void counting_release(void *user, void *pointer, size_t size) {
  test_allocator *a = user;
  size_t kept, room;
  if (!pointer) return;
  char *block = pointer;
  memcpy(&kept, block - sizeof kept, sizeof kept);
  memcpy(&room, block - 2 * sizeof room, sizeof room);
  if (kept != size) __atomic_add_fetch(&a->misaligned, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&a->live_blocks, -1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&a->live_bytes, -(int64_t)kept, __ATOMIC_RELAXED);
  free(block - room);
}

graze_allocator test_allocator_hooks(test_allocator *allocator) {
  return (graze_allocator){counting_alloc, counting_release, allocator};
}

void test_refuse_each(graze_status use(graze_context *context), uint64_t most) {
  const uint64_t stride = test_thinned() ? 3 : 1;
  graze_status status = GRAZE_ERROR_MEMORY;
  for (uint64_t fail_at = 1 + test_seed(0) % stride; status != GRAZE_OK; fail_at += stride) {
    test_allocator allocator = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context;
    def.allocator = test_allocator_hooks(&allocator);
    def.threads = 1;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    allocator.fail_at = allocator.requests + fail_at;
    status = use(context);
    assert_true(status == GRAZE_OK || status == GRAZE_ERROR_MEMORY);
    graze_context_destroy(context);
    assert_int_equal(allocator.live_blocks, 0);
    assert_true(fail_at < most);
  }
}

/* ---- meshes and poses -------------------------------------------------------------------------------------------- */

graze_mesh *test_mesh(graze_context *context, const double *corners, uint32_t count, graze_volumes volumes) {
  static const double none[9];
  graze_mesh *mesh = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = count ? corners : none;
  def.vertex_count = 3 * (uint64_t)count;
  def.precision = GRAZE_DOUBLE;
  def.volumes = volumes;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  assert_int_equal(graze_mesh_triangle_count(mesh), count);
  return mesh;
}

graze_pose test_translation(double x, double y, double z) {
  return (graze_pose){{1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z}};
}

graze_pose test_random_pose(uint64_t *state, double reach) {
  double q[4], t[3];
  for (int k = 0; k < 4; k++) q[k] = random_signed(state) + 0x1p-20;
  for (int k = 0; k < 3; k++) t[k] = reach * random_signed(state);
  return graze_pose_from_quaternion(q, t);
}

void test_assert_pairs(const graze_triangle_pair *got, const graze_triangle_pair *want, uint64_t count) {
  if (count == 0) return;
  assert_non_null(got);
  for (uint64_t i = 0; i < count; i++) {
    if (got[i].a != want[i].a || got[i].b != want[i].b) {
      fail_msg("pair %llu is (%u, %u), not (%u, %u)", (unsigned long long)i, got[i].a, got[i].b, want[i].a, want[i].b);
    }
  }
}

void test_assert_counts(const graze_counts *got, const graze_counts *want) {
  assert_int_equal(got->triangle_pairs, want->triangle_pairs);
  assert_int_equal(got->points, want->points);
  assert_int_equal(got->segments, want->segments);
  assert_int_equal(got->areas, want->areas);
  assert_int_equal(got->coplanar, want->coplanar);
  assert_int_equal(got->degenerate, want->degenerate);
  assert_true(got->hash == want->hash);
}

void test_assert_self(const graze_self_result *got, const graze_self_result *want) {
  assert_int_equal(got->self_pairs, want->self_pairs);
  assert_int_equal(got->duplicates, want->duplicates);
  assert_int_equal(got->edge_overlaps, want->edge_overlaps);
  assert_int_equal(got->vertex_more, want->vertex_more);
  assert_int_equal(got->disjoint_hits, want->disjoint_hits);
  assert_int_equal(got->degenerate_pairs, want->degenerate_pairs);
  assert_true(got->hash == want->hash);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

char *test_read_all(FILE *file, size_t *size) {
  size_t room = 1 << 16;
  char *bytes = malloc(room);
  *size = 0;
  for (;;) {
    assert_non_null(bytes);
    size_t got = fread(bytes + *size, 1, room - *size - 1, file);
    *size += got;
    if (got == 0) break;
    if (*size + 1 == room) bytes = realloc(bytes, room *= 2);
  }
  bytes[*size] = 0;
  return bytes;
}

char *test_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("cannot open %s", path);
  char *bytes = test_read_all(file, size);
  fclose(file);
  return bytes;
}

/* ---- shared data ------------------------------------------------------------------------------------------------- */

const char *test_shared(void) {
  const char *path = getenv("GRAZE_SHARED");
  struct stat info;
  if (!path || !*path) path = GRAZE_SOURCE_DIR "/../shared";
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? path : NULL;
}

static bool is_packed(const char *name) {
  size_t length = strlen(name);
  return length > 3 && strcmp(name + length - 3, ".xz") == 0;
}

FILE *test_open_data(const char *name) {
  char command[4096];
  assert_non_null(test_shared());
  if (is_packed(name)) {
    snprintf(command, sizeof command, "xz -dc '%s/data/%s'", test_shared(), name);
    return popen(command, "r");
  }
  snprintf(command, sizeof command, "%s/data/%s", test_shared(), name);
  FILE *file = fopen(command, "r");
  if (!file) fail_msg("%s: %s", command, strerror(errno));
  return file;
}

void test_close_data(FILE *file, const char *name) {
  if (!is_packed(name)) {
    fclose(file);
    return;
  }
  if (pclose(file) != 0) fail_msg("xz failed on %s", name);
}

int test_split(char *line, char **fields, int limit) {
  int count = 0;
  line[strcspn(line, "\r\n")] = 0;
  for (char *rest = line; rest && count < limit;) fields[count++] = strsep(&rest, ",");
  return count;
}
