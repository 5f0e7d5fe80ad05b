/* bench/work_bed.h: the bed of balls that several workloads move. */
#ifndef BENCH_WORK_BED_H
#define BENCH_WORK_BED_H

#include "bench.h"
#include "graze/dynamics.h"

#define BED_STEP 2e-4 /* seconds */

/* The bed of `graze make bed` in its box. `full`: under the law of a report on many bodies on a GPU, without friction
 * and spin. */
graze_world *make_bed_world(graze_context *context, uint32_t count, graze_tangential_law tangential,
                            graze_precision precision);

#endif
