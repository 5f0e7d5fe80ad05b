/* make_boxes.h: `graze make boxes`, which makes a file of boxes instead of a scene. */
#ifndef TOOL_MAKE_BOXES_H
#define TOOL_MAKE_BOXES_H

#include <stdio.h>

#include "options.h"
#include "scenes.h"

typedef struct box_request {
  const char *kind_text, *step_text, *speed_text; /* as given; NULL: not given */
  scenes_box_kind kind;
  uint32_t size, step;
  uint64_t seed;
  double speed;
} box_request;

/* Reads the texts, or ends with a usage error. */
void box_request_finish(box_request *request, const char *size, const char *seed, const char *path,
                        struct argp_state *state);

/* The kinds, for --help. */
void box_request_help(FILE *stream);

/* Writes the file of --output and tells about it on stdout. Returns the exit code. */
int make_boxes(const box_request *request, const common_options *common);

#endif
