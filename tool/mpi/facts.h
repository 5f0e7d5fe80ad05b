/* tool/mpi/facts.h: the keys of a result that tell of ranks, in JSON. */
#ifndef TOOL_MPI_FACTS_H
#define TOOL_MPI_FACTS_H

#include "base/json.h"
#include "mpi/run.h"

void put_integers(gz_json *json, const char *const keys[], const uint64_t numbers[], size_t count);

/* "engine" and "ranks". */
void put_engine(gz_json *json, const job *j);

/* The value of --placement. */
const char *placement_name(graze_mpi_placement placement);

/* "per_rank": least, mean and most of a rank. */
void put_spreads(gz_json *json, const graze_mpi_result *result);

/* "mpi": what voxels were and what went over the wire, and the seconds of the searches, which are sorted. */
void put_mpi_facts(gz_json *json, const char *placement, const graze_mpi_result *result, rank_run *run);

#endif
