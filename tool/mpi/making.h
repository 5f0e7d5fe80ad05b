/* tool/mpi/making.h: --make and --seed, boxes that are made instead of read. */
#ifndef TOOL_MPI_MAKING_H
#define TOOL_MPI_MAKING_H

#include <argp.h>
#include <stdint.h>

#include "scenes.h"

typedef struct making_options {
  const char *kind_text; /* NULL: nothing is made */
  const char *seed_text;
  scenes_box_kind kind;
  uint32_t size;
  uint64_t seed;
} making_options;

/* A child of a verb's argp; its input is a making_options. */
extern const struct argp making_argp;

#endif
