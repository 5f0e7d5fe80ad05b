/* make_balls.h: `graze make bed`, `gas`, `cradle` and `explosion --bodies`, which make scenes for `graze simulate`. */
#ifndef TOOL_MAKE_BALLS_H
#define TOOL_MAKE_BALLS_H

#include <stdio.h>

#include "base/json.h"
#include "options.h"
#include "scenes.h"

typedef struct ball_request {
  scenes_ball_kind kind;
  uint32_t size;
  uint64_t seed;
  double gap;
} ball_request;

/* Reads the texts (NULL: not given), or ends with a usage error. */
void ball_request_finish(ball_request *request, const char *size, const char *seed, const char *gap, const char *path,
                         struct argp_state *state);

/* The kinds, for --help. */
void ball_request_help(FILE *stream);

/* The key "blast". */
void make_put_blast(gz_json *writer, const scenes_blast *blast);

/* Writes the folder of --output and tells about it on stdout. Returns the exit code. */
int make_balls(const ball_request *request, const common_options *common);

#endif
