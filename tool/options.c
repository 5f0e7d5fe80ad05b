/* Common options, and the reading of option values. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "diagnostics.h"
#include "graze/io.h"

enum { key_format = 0x100, key_threads, key_engine, key_device, key_mode, key_resolution };

static const struct argp_option options[] = {
    {"format", key_format, "FORMAT", 0, "text (default), json or csv", 90},
    {"output", 'o', "FILE", 0, "write results to FILE instead of stdout, complete or not at all", 90},
    {"threads", key_threads, "N", 0, "use at most N threads (default 0: one for each processor)", 90},
    {"engine", key_engine, "ENGINE", 0,
     "cpu (default), gpu, auto: whichever of these is faster; or visibility, of check, self, watch and cull", 90},
    {"device", key_device, "DEVICE", 0,
     "of --engine gpu: opencl:N or cuda:N; of visibility: opengl (default) or reference", 90},
    {"quiet", 'q', NULL, 0, "no notes or progress on stderr", 90},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, 90}, /* beside argp's -? */
    {0}};

static const char *const format_names[] = {"text", "json", "csv", NULL};
static const char *const engine_names[] = {"cpu", "gpu", "auto", "visibility", "mpi", NULL}; /* as engine_choice */

const char *const exactness_names[] = {"t0", "t1", "t2", NULL};
const char *const up_names[] = {"y", "z", NULL};
const char *const unit_names[] = {"m", "mm", "cm", "in", "ft", NULL};

int options_choice(struct argp_state *state, const char *option, const char *text, const char *const names[]) {
  for (int i = 0; names[i]; i++) {
    if (strcmp(names[i], text) == 0) return i;
  }
  char values[128] = "";
  for (int i = 0; names[i]; i++) {
    size_t used = strlen(values);
    snprintf(values + used, sizeof values - used, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  argp_error(state, "--%s: '%s' is none of %s", option, text, values);
  return 0;
}

uint64_t options_number(struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most) {
  char *end = NULL;
  errno = 0;
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  uint64_t value = strtoull(text, &end, hex ? 16 : 10);
  if (!isdigit((unsigned char)text[0]) || *end || errno)
    argp_error(state, "--%s: '%s' is not a whole number", option, text);
  else if (value < least || value > most)
    argp_error(state, "--%s: %s is out of range", option, text);
  return value;
}

double options_decimal(struct argp_state *state, const char *option, const char *text) {
  double value = 0;
  const char *end = text + strlen(text);
  if (graze_parse_double(text, end, &value) != end) argp_error(state, "--%s: '%s' is not a number", option, text);
  return value;
}

void options_length(struct argp_state *state, const char *option, const char *text) {
  double value;
  const char *rest = graze_parse_double(text, text + strlen(text), &value);
  bool good = rest && *rest == 0;
  for (int i = 0; rest && unit_names[i]; i++) good |= strcmp(rest, unit_names[i]) == 0;
  if (!good || !(value >= 0 && value <= DBL_MAX))
    argp_error(state, "--%s: '%s' is not a length of 0 or more", option, text);
}

file_list options_files(struct argp_state *state, uint32_t least, uint32_t most) {
  file_list files = {state->argv + state->next, (uint32_t)(state->argc - state->next)};
  if (files.count < least) argp_error(state, "a file is missing");
  if (files.count > most) argp_error(state, "too many files");
  return files;
}

error_t options_arguments(int key, struct argp_state *state, common_options *common, file_list *files, uint32_t most,
                          const char *needed) {
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = common;
      break;
    case ARGP_KEY_ARGS:
      *files = options_files(state, 1, most);
      break;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "%s is needed", needed);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static bool is_device(const char *text) {
  const char *colon = strchr(text, ':');
  if (!colon || !isdigit((unsigned char)colon[1]) || strspn(colon + 1, "0123456789") != strlen(colon + 1)) return false;
  return strncmp(text, "opencl:", 7) == 0 || strncmp(text, "cuda:", 5) == 0;
}

/* Of the engine that was asked for; that cull has no other one is told later. */
static void check_device(struct argp_state *state, const common_options *common) {
  const char *text = common->device;
  const bool draws = common->engine == engine_visibility;
  if (!text || (!draws && common->has_visibility && !common->has_gpu)) return;
  if (draws && strcmp(text, "opengl") != 0 && strcmp(text, "reference") != 0)
    argp_error(state, "--device: '%s' is neither opengl nor reference", text);
  if (!draws && !is_device(text)) argp_error(state, "--device: '%s' is not opencl:N or cuda:N", text);
  if (!draws && common->engine != engine_gpu) argp_error(state, "--device is for --engine gpu");
}

static error_t parse_common(int key, char *argument, struct argp_state *state) {
  common_options *common = state->input;
  switch (key) {
    case key_format:
      common->format = (output_format)options_choice(state, "format", argument, format_names);
      break;
    case key_engine:
      common->engine = (engine_choice)options_choice(state, "engine", argument, engine_names);
      break;
    case key_threads:
      common->threads = (int)options_number(state, "threads", argument, 0, 1 << 20);
      break;
    case 'o':
      common->output = argument;
      break;
    case 'q':
      common->quiet = true;
      break;
    case 'h':
      argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
      break;
    case key_device:
      common->device = argument;
      break;
    case ARGP_KEY_END:
      check_device(state, common);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

const struct argp common_argp = {.options = options, .parser = parse_common};

/* ---- how pictures are drawn ---- */

static const struct argp_option drawing_options[] = {
    {"mode", key_mode, "MODE", 0,
     "of --engine visibility: close (default), pictures of each pair of boxes that meet; or rcullide, of all", 90},
    {"resolution", key_resolution, "N", 0,
     "of --engine visibility: pixels along a side of a picture, 1 to 4096 (default 128)", 90},
    {0}};

static graze_visibility_mode parse_mode(struct argp_state *state, const char *text) {
  if (strcmp(text, "close") != 0 && strcmp(text, "rcullide") != 0)
    argp_error(state, "--mode: '%s' is neither close nor rcullide, which lose nothing", text);
  return *text == 'c' ? GRAZE_VISIBILITY_CLOSE : GRAZE_VISIBILITY_RCULLIDE;
}

static error_t parse_drawing(int key, char *argument, struct argp_state *state) {
  common_options *common = state->input;
  switch (key) {
    case key_mode:
      common->mode = parse_mode(state, argument);
      state->hook = "mode";
      break;
    case key_resolution:
      common->resolution = (uint32_t)options_number(state, "resolution", argument, 1, GRAZE_VISIBILITY_MOST_PIXELS);
      state->hook = "resolution";
      break;
    case ARGP_KEY_END:
      if (state->hook && common->engine != engine_visibility)
        argp_error(state, "--%s is for --engine visibility", (const char *)state->hook);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

const struct argp drawing_argp = {.options = drawing_options, .parser = parse_drawing};

/* ---- misspelt options ---- */

enum { MOST_OPTIONS = 96 };

typedef struct option_list {
  const struct argp_option *option[MOST_OPTIONS];
  uint32_t count;
} option_list;

static void list_options(const struct argp *argp, option_list *list) {
  const struct argp_option *o = argp->options;
  for (; o && (o->name || o->key || o->doc) && list->count < MOST_OPTIONS; o++) {
    if (o->name || o->key) list->option[list->count++] = o;
  }
  for (const struct argp_child *child = argp->children; child && child->argp; child++) list_options(child->argp, list);
}

/* The option that `--word` means: of that name, or the first that begins so; NULL: none. */
static const struct argp_option *find_long(const option_list *list, const char *word, size_t length) {
  const struct argp_option *found = NULL;
  for (uint32_t i = 0; i < list->count; i++) {
    const struct argp_option *o = list->option[i];
    if (!o->name || strncmp(o->name, word, length) != 0) continue;
    if (!found || o->name[length] == '\0') found = o;
  }
  return found;
}

/* Whether the next argument belongs to a group of short options such as -qo. */
static bool short_takes_next(const option_list *list, const char *letters) {
  for (; *letters; letters++) {
    for (uint32_t i = 0; i < list->count; i++) {
      if (list->option[i]->key == *letters && list->option[i]->arg) return letters[1] == '\0';
    }
  }
  return false;
}

static _Noreturn void fail_unknown(const struct argp *argp, char *program, const option_list *list, const char *word) {
  char names[MOST_OPTIONS][32];
  nearest n = {.wanted = word};
  struct argp_state state = {.root_argp = argp, .name = program, .err_stream = stderr};
  for (uint32_t i = 0; i < list->count; i++) {
    if (!list->option[i]->name) continue;
    snprintf(names[i], sizeof names[i], "--%s", list->option[i]->name);
    gz_nearest_offer(&n, names[i]);
  }
  argp_error(&state, "unrecognized option '%s'%s", word, gz_did_you_mean(&n).text);
  exit(exit_usage);
}

/* Before argp, which knows no better word than that an option is not there. */
static void check_options(const struct argp *argp, int argc, char **argv) {
  static const struct argp_option own[] = {{.name = "help"}, {.name = "usage"}, {.name = "version"}, {0}};
  option_list list = {.count = 0};
  list_options(argp, &list);
  list_options(&(const struct argp){.options = own}, &list);
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const char *word = argv[i] + 2;
    if (argv[i][0] != '-') continue;
    if (argv[i][1] != '-') {
      i += short_takes_next(&list, argv[i] + 1);
      continue;
    }
    size_t length = strcspn(word, "=");
    const struct argp_option *o = find_long(&list, word, length);
    if (!o) fail_unknown(argp, argv[0], &list, argv[i]);
    i += o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && word[length] == '\0';
  }
}

void options_parse(const struct argp *argp, int argc, char **argv, void *input, const common_options *common) {
  check_options(argp, argc, argv);
  if (argp_parse(argp, argc, argv, 0, NULL, input) != 0) fail_out_of_memory();
  if (common->quiet) diagnostics_quiet();
#ifdef GRAZE_HAVE_GPU
  if (common->engine == engine_gpu && common->has_gpu) return;
#endif
  if (common->engine == engine_visibility && common->has_visibility) return;
  if (common->engine == engine_mpi && !common->is_mpi) {
    const char *verb = strchr(argv[0], ' ');
    if (verb && (strcmp(verb, " pairs") == 0 || strcmp(verb, " self") == 0 || strcmp(verb, " check") == 0))
      fail("the engine mpi is a program of its own: mpiexec -n P graze-mpi%s", verb);
    fail("has no engine 'mpi'; use --engine cpu");
  }
  if (common->engine == engine_gpu || common->engine == engine_visibility)
    fail("has no engine '%s'; use --engine %s", common->engine == engine_gpu ? "gpu" : "visibility",
         common->has_visibility && !common->has_gpu ? "visibility" : "cpu");
}
