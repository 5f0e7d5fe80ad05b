/* Boxes that are made; see making.h. */
#include "mpi/making.h"

#include <string.h>

#include "options.h"

enum { key_make = 0x2000, key_seed, MOST_MADE = 2000000000 };

static const struct argp_option options[] = {
    {"make", key_make, "KIND:N", 0, "instead of a file: the boxes of `graze make boxes --kind KIND --size N'", 0},
    {"seed", key_seed, "S", 0, "of --make (default 1)", 0},
    {0}};

static void parse_make(making_options *o, struct argp_state *state) {
  char kind[32];
  const char *colon = strchr(o->kind_text, ':');
  size_t length = colon ? (size_t)(colon - o->kind_text) : 0;
  if (!colon || length >= sizeof kind) argp_error(state, "--make: '%s' is not KIND:N", o->kind_text);
  memcpy(kind, o->kind_text, length);
  kind[length] = 0;
  if (!scenes_box_kind_named(kind, &o->kind)) argp_error(state, "--make: no boxes of the kind '%s'", kind);
  o->size = (uint32_t)options_number(state, "make", colon + 1, 1, MOST_MADE);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  making_options *o = state->input;
  switch (key) {
    case key_make:
      o->kind_text = argument;
      break;
    case key_seed:
      o->seed_text = argument;
      o->seed = options_number(state, "seed", argument, 0, UINT64_MAX);
      break;
    case ARGP_KEY_END:
      if (o->kind_text) parse_make(o, state);
      if (o->seed_text && !o->kind_text) argp_error(state, "--seed is of --make");
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

const struct argp making_argp = {.options = options, .parser = parse};
