/* Files of particles: what is read is what was written, bit by bit, in any order of the columns, and a file that ends
 * anywhere else or holds anything else is refused with its place. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/io.h"
#include "support.h"

enum { COUNT = 30, NUMBERS = 10, HEAD = 16, RECORD = 80 };

/* x y z r vx vy vz wx wy wz of each. */
typedef double table[COUNT][NUMBERS];

static const char *const titles[NUMBERS] = {"x", "y", "z", "r", "vx", "vy", "vz", "wx", "wy", "wz"};

static void fill(uint64_t seed, table numbers) {
  static const double special[] = {0, -0.0, DBL_MAX, -DBL_MAX, 0x1p-1074, -0x1p-1074, 0.1, 1e22};
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < NUMBERS; k++) {
      double any = ldexp(random_signed(&seed), (int)random_below(&seed, 2000) - 1000);
      numbers[i][k] = random_below(&seed, 3) == 0 ? special[random_below(&seed, 8)] : any;
    }
  }
  numbers[0][3] = 1; /* all radii 0 would be none */
}

static void same_bits(double got, double wanted) {
  assert_memory_equal(&got, &wanted, sizeof got);
}

static void same_particles(const graze_particle_list *got, const table wanted) {
  assert_int_equal(got->count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < 3; k++) {
      same_bits(got->positions[3 * i + k], wanted[i][k]);
      same_bits(got->velocities[3 * i + k], wanted[i][4 + k]);
      same_bits(got->spins[3 * i + k], wanted[i][7 + k]);
    }
    same_bits(got->radii[i], wanted[i][3]);
  }
}

static size_t write_binary(const table numbers, char *out) {
  uint64_t count = COUNT;
  memcpy(out, "GRZPART", 8);
  memcpy(out + 8, &count, 8);
  memcpy(out + HEAD, numbers, COUNT * RECORD);
  return HEAD + COUNT * RECORD;
}

/* Columns: x, y, z and then the others, which `seed` shuffles. */
static size_t write_text(const table numbers, uint64_t seed, char *out) {
  int order[NUMBERS];
  char *p = out;
  for (int k = 0; k < NUMBERS; k++) order[k] = k;
  for (int k = NUMBERS - 1; k > 3; k--) {
    int other = 3 + (int)random_below(&seed, (uint32_t)(k - 2)), kept = order[k];
    order[k] = order[other];
    order[other] = kept;
  }
  for (int k = 0; k < NUMBERS; k++) p += sprintf(p, "%s%s", k > 0 ? "," : "", titles[order[k]]);
  *p++ = '\n';
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < NUMBERS; k++) p += sprintf(p, "%s%.17g", k > 0 ? " , " : "", numbers[i][order[k]]);
    *p++ = '\n';
  }
  return (size_t)(p - out);
}

static void reads_what_was_written(void **unused) {
  (void)unused;
  static table numbers;
  char *bytes = malloc(COUNT * NUMBERS * 32);
  assert_non_null(bytes);
  for (uint64_t seed = 1; seed <= 50; seed++) {
    graze_particle_list got;
    fill(seed, numbers);
    size_t size = write_binary(numbers, bytes);
    assert_int_equal(graze_parse_particles(shared_context(1), bytes, size, "x.gzp", &got), GRAZE_OK);
    same_particles(&got, numbers);
    graze_particle_list_free(&got);
    size = write_text(numbers, seed, bytes);
    assert_int_equal(graze_parse_particles(shared_context(1), bytes, size, "x.csv", &got), GRAZE_OK);
    same_particles(&got, numbers);
    graze_particle_list_free(&got);
  }
  free(bytes);
}

/* Also without radii, speeds and spins, and without particles. */
static void writes_what_is_read(void **unused) {
  (void)unused;
  static table numbers;
  static char bytes[HEAD + COUNT * RECORD];
  static const char *const names[] = {"particles.gzp", "particles.csv"};
  fill(3, numbers);
  for (int k = 0; k < 8; k++) {
    const char *path = names[k % 2];
    graze_particle_list first, again;
    size_t size = write_binary(numbers, bytes);
    assert_int_equal(graze_parse_particles(shared_context(1), bytes, size, "x.gzp", &first), GRAZE_OK);
    graze_particle_list part = first;
    if (k & 2) part.radii = part.spins = NULL;
    if (k & 4) part.count = 0;
    assert_int_equal(graze_write_particles(shared_context(1), path, &part), GRAZE_OK);
    assert_int_equal(graze_read_particles(shared_context(1), path, &again), GRAZE_OK);
    assert_int_equal(again.count, part.count);
    if (k < 2) same_particles(&again, numbers);
    if (k == 2 || k == 3) {
      assert_null(again.radii);
      assert_memory_equal(again.positions, first.positions, COUNT * 24);
      assert_memory_equal(again.velocities, first.velocities, COUNT * 24);
      for (int i = 0; i < 3 * COUNT && again.spins != NULL; i++) assert_true(again.spins[i] == 0);
    }
    graze_particle_list_free(&again);
    graze_particle_list_free(&first);
    unlink(path);
  }
}

static void a_cut_file_is_refused(void **unused) {
  (void)unused;
  static table numbers;
  static char bytes[HEAD + COUNT * RECORD];
  fill(7, numbers);
  size_t size = write_binary(numbers, bytes);
  for (size_t cut = 0; cut < size; cut++) {
    graze_particle_list got;
    char *exact = malloc(cut + !cut);
    assert_non_null(exact);
    memcpy(exact, bytes, cut);
    assert_int_equal(graze_parse_particles(shared_context(1), exact, cut, "x.gzp", &got), GRAZE_ERROR_FORMAT);
    assert_non_null(strstr(shared_error()->message, "x.gzp: byte "));
    assert_null(got.positions);
    free(exact);
  }
}

static void faults_have_places(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    graze_status status;
    const char *message;
  } cases[] = {
      {"", GRAZE_ERROR_FORMAT, "x.csv: byte 0: the file is empty"},
      {"1,2,3\n", GRAZE_ERROR_FORMAT,
       "x.csv:1: no column is named \"1\": the first line must name x,y,z and then any of r,vx,vy,vz,wx,wy,wz"},
      {"x,y\n1,2\n", GRAZE_ERROR_FORMAT,
       "x.csv:1: x, y and z are not the first columns: the first line must name x,y,z and then any of "
       "r,vx,vy,vz,wx,wy,wz"},
      {"y,x,z\n1,2,3\n", GRAZE_ERROR_FORMAT, "x.csv:1: x, y and z are not the first columns"},
      {"x,y,z,m\n", GRAZE_ERROR_FORMAT, "x.csv:1: no column is named \"m\""},
      {"x,y,z,vx,vx\n", GRAZE_ERROR_FORMAT, "x.csv:1: two columns are named vx"},
      {"x,y,z,\n", GRAZE_ERROR_FORMAT, "x.csv:1: no column is named \"\""},
      {"x,y,z,r\n1,2,3,1\n1,2,3\n", GRAZE_ERROR_FORMAT, "x.csv:3: 3 fields where there should be 4: r is missing"},
      {"x,y,z\n1\n", GRAZE_ERROR_FORMAT, "x.csv:2: 1 field where there should be 3: y is missing"},
      {"x,y,z\n1,2,3,4\n", GRAZE_ERROR_FORMAT, "x.csv:2: more than 3 fields, one for each title"},
      {"x,y,z\n1,2,3\n\n", GRAZE_ERROR_FORMAT, "x.csv:3: the line is empty"},
      {"x,y,z,wz\n1,2,3,o\n", GRAZE_ERROR_FORMAT, "x.csv:2: wz \"o\" is not a number"},
      {"x,y,z\n1,,3\n", GRAZE_ERROR_FORMAT, "x.csv:2: y \"\" is not a number"},
      {"x,y,z,vy\n1,2,3,-nan\n", GRAZE_ERROR_NOT_FINITE, "x.csv:2: vy \"-nan\" is not finite"},
      {"x,y,z\n1e999,2,3\n", GRAZE_ERROR_NOT_FINITE, "x.csv:2: x \"1e999\" is too large for a double"},
      {"GRZPART2", GRAZE_ERROR_FORMAT, "x.csv: byte 0: binary particles begin with \"GRZPART\" and a zero byte"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_particle_list got;
    graze_status status = graze_parse_particles(shared_context(1), cases[i].text, strlen(cases[i].text), "x.csv", &got);
    if (status != cases[i].status || strstr(shared_error()->message, cases[i].message) != shared_error()->message)
      fail_msg("%d \"%s\" from %s", status, shared_error()->message, cases[i].text);
    assert_null(got.positions);
    assert_int_equal(got.count, 0);
  }
}

/* Every number of a binary file has a name and a byte. */
static void binary_numbers_are_finite(void **unused) {
  (void)unused;
  static table numbers;
  static char bytes[HEAD + COUNT * RECORD];
  for (int k = 0; k < NUMBERS; k++) {
    char wanted[100];
    graze_particle_list got;
    fill(9, numbers);
    numbers[k][k] = k % 2 ? (double)NAN : (double)-INFINITY;
    size_t size = write_binary(numbers, bytes);
    assert_int_equal(graze_parse_particles(shared_context(1), bytes, size, "x.gzp", &got), GRAZE_ERROR_NOT_FINITE);
    snprintf(wanted, sizeof wanted, "x.gzp: byte %d: %s of particle %d is %s", HEAD + k * (RECORD + 8), titles[k], k,
             k % 2 ? "NaN" : "infinite");
    assert_string_equal(shared_error()->message, wanted);
  }
}

static void odd_calls(void **unused) {
  (void)unused;
  double numbers[3] = {0, 0, (double)NAN};
  graze_particle_list got, one = {.count = 1, .positions = numbers}, none = {.count = 1};
  graze_context *c = shared_context(1);
  assert_int_equal(graze_parse_particles(c, NULL, 5, "x", &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_particles(c, "1", 1, NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_particles(c, "1", 1, "x", NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_particles(c, NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_particles(c, "/nowhere/at/all.csv", &got), GRAZE_ERROR_FILE);
  assert_int_equal(graze_write_particles(c, "x.csv", NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_particles(c, "x.csv", &none), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_particles(c, "/nowhere/at/all.csv", &(graze_particle_list){0}), GRAZE_ERROR_FILE);
  assert_int_equal(graze_write_particles(c, "nan.csv", &one), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(shared_error()->message, "nan.csv: particle 0: z is not finite");
  assert_int_not_equal(access("nan.csv", F_OK), 0);
  graze_particle_list_free(NULL);
}

/* What flies: ends come back to the same bits, in any columns; speeds and binary files are refused. */
static void flights_have_ends(void **unused) {
  (void)unused;
  static table numbers;
  static char bytes[HEAD + COUNT * RECORD];
  graze_context *c = shared_context(1);
  graze_particle_list first, again;
  fill(13, numbers);
  size_t size = write_binary(numbers, bytes);
  assert_int_equal(graze_parse_particles(c, bytes, size, "x.gzp", &first), GRAZE_OK);
  graze_particle_list flights = {
      .count = COUNT, .positions = first.positions, .ends = first.spins, .radii = first.radii};
  assert_int_equal(graze_write_particles(c, "flights.csv", &flights), GRAZE_OK);
  assert_int_equal(graze_read_flights(c, "flights.csv", &again), GRAZE_OK);
  assert_int_equal(again.count, COUNT);
  assert_memory_equal(again.positions, first.positions, COUNT * 24);
  assert_memory_equal(again.ends, first.spins, COUNT * 24);
  assert_memory_equal(again.radii, first.radii, COUNT * 8);
  assert_null(again.velocities);
  graze_particle_list_free(&again);
  assert_int_equal(graze_read_particles(c, "flights.csv", &again), GRAZE_ERROR_FORMAT);
  assert_string_equal(shared_error()->message,
                      "flights.csv:1: no column is named \"x1\": the first line must name x,y,z and then any of "
                      "r,vx,vy,vz,wx,wy,wz");
  assert_int_equal(graze_write_particles(c, "flights.gzp", &flights), GRAZE_ERROR_ARGUMENT);
  unlink("flights.csv");
  assert_int_equal(graze_parse_flights(c, bytes, size, "x.gzp", &again), GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_parse_flights(c, "x,y,z,y1,r,x1,z1\n1,2,3,5,7,4,6\n", 31, "x.csv", &again), GRAZE_OK);
  for (int k = 0; k < 3; k++) assert_true(again.positions[k] == 1 + k && again.ends[k] == 4 + k);
  assert_true(again.radii[0] == 7);
  graze_particle_list_free(&again);
  assert_int_equal(graze_parse_flights(c, "x,y,z,x1,y1\n", 12, "x.csv", &again), GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_parse_flights(c, "x,y,z,vx\n", 9, "x.csv", &again), GRAZE_ERROR_FORMAT);
  assert_null(again.positions);
  graze_particle_list_free(&first);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_what_was_written),    cmocka_unit_test(writes_what_is_read),
                                     cmocka_unit_test(a_cut_file_is_refused),     cmocka_unit_test(faults_have_places),
                                     cmocka_unit_test(binary_numbers_are_finite), cmocka_unit_test(odd_calls),
                                     cmocka_unit_test(flights_have_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
