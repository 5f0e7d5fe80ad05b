/* make_rigid.h: `graze make stack`, `pyramid`, `cards` and others, which make scenes of rigid bodies. */
#ifndef TOOL_MAKE_RIGID_H
#define TOOL_MAKE_RIGID_H

#include <stdio.h>

#include "options.h"
#include "scenes.h"

typedef struct rigid_request {
  scenes_rigid_kind kind;
  uint32_t size;
  uint64_t seed;
  bool plant; /* RUBBLE: in a plant */
} rigid_request;

/* Reads the texts (NULL: not given), or ends with a usage error. */
void rigid_request_finish(rigid_request *request, const char *size, const char *seed, const char *path,
                          struct argp_state *state);

typedef struct body_name {
  char text[16];
} body_name;

/* Of the body with a number, and of its file, but for the ending. */
body_name rigid_body_name(uint32_t body);

/* The kinds, for --help. */
void rigid_request_help(FILE *stream);

/* Writes the folder of --output and tells about it on stdout. Returns the exit code. */
int make_rigid(const rigid_request *request, const common_options *common);

#endif
