/* What is told of ranks; see facts.h. */
#include "mpi/facts.h"

#include <stdlib.h>
#include <string.h>

static int compare_seconds(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void put_integers(gz_json *json, const char *const keys[], const uint64_t numbers[], size_t count) {
  for (size_t i = 0; i < count; i++) gz_json_integer(json, keys[i], numbers[i]);
}

void put_engine(gz_json *json, const job *j) {
  gz_json_text(json, "engine", "mpi");
  gz_json_integer(json, "ranks", (uint64_t)j->ranks);
}

static void put_library(gz_json *json) {
  static char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(name, &length);
  name[strcspn(name, ",\n")] = 0;
  gz_json_text(json, "library", name);
}

const char *placement_name(graze_mpi_placement placement) {
  return placement == GRAZE_MPI_DIRECTORY ? "directory" : "curve";
}

void put_spreads(gz_json *json, const graze_mpi_result *r) {
  static const char *const keys[] = {"objects", "received", "pairs", "work", "bytes"};
  const graze_mpi_spread spreads[] = {r->rank_objects, r->rank_received, r->rank_pairs, r->rank_work, r->rank_bytes};
  gz_json_open(json, "per_rank", '{');
  for (int i = 0; i < 5; i++) {
    gz_json_open(json, keys[i], '[');
    gz_json_integer(json, NULL, spreads[i].least);
    gz_json_double(json, NULL, spreads[i].mean);
    gz_json_integer(json, NULL, spreads[i].most);
    gz_json_close(json);
  }
  gz_json_close(json);
}

void put_mpi_facts(gz_json *json, const char *placement, const graze_mpi_result *r, rank_run *run) {
  qsort(run->seconds, run->count, sizeof *run->seconds, compare_seconds);
  gz_json_open(json, "mpi", '{');
  put_library(json);
  gz_json_text(json, "placement", placement);
  gz_json_double(json, "voxel", r->voxel);
  gz_json_text(json, "reason", r->reason);
  put_integers(json, (const char *const[]){"voxels", "sent_objects", "messages", "bytes_sent"},
               (const uint64_t[]){r->voxels, r->sent_objects, r->messages, r->bytes_sent}, 4);
  gz_json_open(json, "step_seconds", '{');
  gz_json_double(json, "min", run->seconds[0]);
  gz_json_double(json, "median", run->seconds[run->count / 2]);
  gz_json_close(json);
  put_spreads(json, r);
  if (r->places.used > 0) {
    gz_json_open(json, "places", '{');
    put_integers(json, (const char *const[]){"used", "asked", "forwarded", "moved"},
                 (const uint64_t[]){r->places.used, r->places.asked, r->places.forwarded, r->places.moved}, 4);
    gz_json_close(json);
  }
  gz_json_close(json);
}
