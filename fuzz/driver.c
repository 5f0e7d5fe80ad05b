/* driver.c: runs a fuzz target without libFuzzer: first every given file and every file of the given folders, then
 * seeded random changes of them. The same seed gives the same inputs; when one fails, its number is printed, and
 * `--only NUMBER` runs it alone and leaves it in the file given by `--save`.
 *
 * usage: fuzz_... [--runs N] [--seed S] [--only NUMBER [--save FILE]] FILE|FOLDER...
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { LONGEST = 1 << 16 };

typedef struct input {
  uint8_t *data;
  size_t size;
} input;

static input *inputs;
static size_t input_count;
static uint64_t seed = 1, run_count, only = UINT64_MAX;
static const char *save_path;
static volatile sig_atomic_t running;
static uint64_t state;

static uint64_t next_random(void) {
  uint64_t x = state += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/* 0 .. limit - 1; small numbers more often when `small`. */
static size_t pick(size_t limit, bool small) {
  size_t x = (size_t)(next_random() % (limit > 0 ? limit : 1));
  return small ? x >> next_random() % 8 : x;
}

/* ---- what is said when a target fails ---- */

static char failure_text[128]; /* written beforehand: little may be called once things have gone wrong */
static size_t failure_length;

static void tell(void) {
  if (!running) return;
  running = 0;
  if (write(2, failure_text, failure_length) < 0) return;
}

static void on_signal(int number) {
  tell();
  signal(number, SIG_DFL);
  raise(number);
}

/* There with a sanitizer, which ends the program in its own way. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* ---- the inputs to start from ---- */

static void fail(const char *what, const char *name) {
  fprintf(stderr, "%s: %s\n", name, what);
  exit(2);
}

static void add_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail("cannot open", path);
  inputs = realloc(inputs, (input_count + 1) * sizeof *inputs);
  uint8_t *data = malloc(LONGEST);
  if (inputs == NULL || data == NULL) fail("out of memory", path);
  size_t size = fread(data, 1, LONGEST, file);
  fclose(file);
  inputs[input_count++] = (input){data, size};
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name); /* not alphasort: it goes by the locale */
}

static void add_path(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) fail("is not there", path);
  if (!S_ISDIR(facts.st_mode)) {
    add_file(path);
    return;
  }
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, compare_names);
  if (count < 0) fail("cannot read", path);
  for (int i = 0; i < count; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') add_path(name);
    free(entries[i]);
  }
  free(entries);
}

/* ---- changes ---- */

static void replace(input *in, size_t at, size_t length, const void *with, size_t with_length) {
  if (at > in->size) at = in->size;
  if (length > in->size - at) length = in->size - at;
  if (in->size - length + with_length > LONGEST) return;
  memmove(in->data + at + with_length, in->data + at + length, in->size - at - length);
  memcpy(in->data + at, with, with_length);
  in->size += with_length - length;
}

static void put_token(input *in) {
  static const char *const tokens[] = {
      "0",        "-1",        "1e999",     "4294967295", "4294967296", "99999999999999999999",
      "nan",      "-inf",      "\n",        "\r\n",       "\r",         "\\\n",
      " ",        "#",         "/",         "\"",         "solid",      "facet",
      "endsolid", "v 1 2 3\n", "f 1 2 3\n", "o x\n",      "1e-400",     "[",
      "]",        "{",         "}",         ","};
  const char *token = tokens[pick(sizeof tokens / sizeof tokens[0], false)];
  replace(in, pick(in->size + 1, false), pick(8, true), token, strlen(token));
}

static void put_number(input *in) {
  static const uint64_t numbers[] = {0,         1,          0x7F,        0x80,        0xFF,       0x7FFF,
                                     0xFFFF,    0x7FFFFFFF, 0x80000000u, 0xFFFFFFFFu, 0x7F800000, 0x7FF0000000000000u,
                                     UINT64_MAX};
  uint64_t number = numbers[pick(sizeof numbers / sizeof numbers[0], false)];
  size_t length = (size_t)1 << pick(4, false);
  replace(in, pick(in->size, false), length, &number, length);
}

/* A piece of another input, or of this one. */
static void put_piece(input *in) {
  const input *from = &inputs[pick(input_count, false)];
  size_t first = pick(from->size + 1, false);
  size_t length = pick(from->size - first + 1, true);
  replace(in, pick(in->size + 1, false), pick(32, true), from->data + first, length);
}

static void change(input *in) {
  uint8_t byte = (uint8_t)next_random();
  switch (next_random() % 8) {
    case 0:
      if (in->size > 0) in->data[pick(in->size, false)] ^= (uint8_t)(1 << byte % 8);
      break;
    case 1:
      if (in->size > 0) in->data[pick(in->size, false)] = byte;
      break;
    case 2:
      replace(in, pick(in->size + 1, false), 0, &byte, 1);
      break;
    case 3:
      replace(in, pick(in->size + 1, false), pick(64, true), "", 0);
      break;
    case 4:
      if (byte < 32) in->size = pick(in->size + 1, false);
      break;
    case 5:
      put_token(in);
      break;
    case 6:
      put_number(in);
      break;
    default:
      put_piece(in);
      break;
  }
}

/* Input number `number`: the given ones first, then changed ones. */
static void make(uint64_t number, input *out) {
  state = seed * 0xD1342543DE82EF95u + number;
  const input *from = number < input_count ? &inputs[number] : &inputs[pick(input_count, false)];
  memcpy(out->data, from->data, from->size);
  out->size = from->size;
  if (number < input_count) return;
  size_t changes = 1 + pick(12, true);
  for (size_t i = 0; i < changes; i++) change(out);
}

static void run(uint64_t number, input *scratch) {
  make(number, scratch);
  if (save_path != NULL) {
    FILE *file = fopen(save_path, "wb");
    if (file == NULL || fwrite(scratch->data, 1, scratch->size, file) != scratch->size || fclose(file) != 0) {
      fail("cannot write", save_path);
    }
  }
  uint8_t *exact = malloc(scratch->size > 0 ? scratch->size : 1); /* so that a read past its end shows */
  if (exact == NULL) fail("out of memory", "driver");
  memcpy(exact, scratch->data, scratch->size);
  failure_length =
      (size_t)snprintf(failure_text, sizeof failure_text, "failed at input %llu of seed %llu: see --only\n",
                       (unsigned long long)number, (unsigned long long)seed);
  running = 1;
  LLVMFuzzerTestOneInput(exact, scratch->size);
  running = 0;
  free(exact);
}

static uint64_t read_count(const char *option, const char *text) {
  char *end;
  uint64_t value = text != NULL ? strtoull(text, &end, 10) : 0;
  if (text == NULL || end == text || *end != 0) fail("needs a number", option);
  return value;
}

int main(int count, char **arguments) {
  for (int i = 1; i < count; i++) {
    const char *argument = arguments[i];
    if (strcmp(argument, "--runs") == 0) {
      run_count = read_count(argument, arguments[++i]);
    } else if (strcmp(argument, "--seed") == 0) {
      seed = read_count(argument, arguments[++i]);
    } else if (strcmp(argument, "--only") == 0) {
      only = read_count(argument, arguments[++i]);
    } else if (strcmp(argument, "--save") == 0 && i + 1 < count) {
      save_path = arguments[++i];
    } else {
      add_path(argument);
    }
  }
  input scratch = {malloc(LONGEST), 0};
  if (input_count == 0 || scratch.data == NULL) fail("no input files", arguments[0]);
  signal(SIGABRT, on_signal);
  if (__sanitizer_set_death_callback != NULL) {
    __sanitizer_set_death_callback(tell);
  } else {
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
  }
  uint64_t last = only != UINT64_MAX ? only + 1 : input_count + run_count;
  for (uint64_t i = only != UINT64_MAX ? only : 0; i < last; i++) run(i, &scratch);
  printf("%llu inputs\n", (unsigned long long)(only != UINT64_MAX ? 1 : last));
  for (size_t i = 0; i < input_count; i++) free(inputs[i].data);
  free(inputs);
  free(scratch.data);
  return 0;
}
