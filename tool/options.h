/* options.h: the options that every verb has. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "graze/visibility.h"

typedef enum output_format { format_text, format_json, format_csv } output_format;
typedef enum engine_choice { engine_cpu, engine_gpu, engine_auto, engine_visibility, engine_mpi } engine_choice;

typedef struct common_options {
  output_format format;
  engine_choice engine;
  const char *output; /* NULL: stdout */
  const char *device;
  int threads;
  bool quiet;
  bool is_mpi;                /* set by a verb of graze-mpi */
  bool has_gpu;               /* set by a verb that has the engine gpu; */
  bool has_visibility;        /* by one that has the engine visibility, and `engine` too by one that has no other */
  graze_visibility_mode mode; /* of the engine visibility; */
  uint32_t resolution;        /* 0: the default */
} common_options;

/* To be the first child of each verb's argp; its input is a common_options. */
extern const struct argp common_argp;

/* How the engine visibility draws, for verbs that have another one too: a child of their argp with the same input. */
extern const struct argp drawing_argp;

/* Values of options, NULL at the end: of --exactness, in the order of graze_exactness, of --units and of --up. */
extern const char *const exactness_names[];
extern const char *const up_names[];
extern const char *const unit_names[];

/* Parses a verb's command line; usage errors end the program with exit 2, an engine that is not there with exit 3.
 * `common` is also what `input` hands to the child. */
void options_parse(const struct argp *argp, int argc, char **argv, void *input, const common_options *common);

/* The index of `text` in `names` (NULL-terminated), or a usage error that names `option`. */
int options_choice(struct argp_state *state, const char *option, const char *text, const char *const names[]);

/* A whole number in [least, most], or a usage error. Decimal, or hex after 0x. */
uint64_t options_number(struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most);

/* A decimal number, or a usage error. */
double options_decimal(struct argp_state *state, const char *option, const char *text);

/* A usage error unless it is a finite number of 0 or more, perhaps with a unit. */
void options_length(struct argp_state *state, const char *option, const char *text);

/* The help of --strict. */
#define OPTIONS_UP_HELP                 "the axis that is up in the report or film, y or z (default: y for glTF, else z)"
#define OPTIONS_ALLOW_EMPTY_MESHES_HELP "pass over meshes without triangles"
#define OPTIONS_STRICT_HELP             "refuse a mesh file for anything wrong in it, also if no triangle depends on it"

/* Files: at least `least` and at most `most` of them, or a usage error. */
typedef struct file_list {
  char **names;
  uint32_t count;
} file_list;

/* For a verb's parser: hands `common` to the child and takes all arguments as files, one to `most`; without one the
 * usage error is "X is needed". */
error_t options_arguments(int key, struct argp_state *state, common_options *common, file_list *files, uint32_t most,
                          const char *needed);

file_list options_files(struct argp_state *state, uint32_t least, uint32_t most);

#endif
