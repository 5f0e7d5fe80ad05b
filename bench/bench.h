/* bench/bench.h: options, memory, statistics and the machine's description, for all of graze-bench. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "graze/graze.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct peer_set;
struct report;

typedef struct bench {
  const char *filter;      /* glob over workload names, NULL = all */
  const char *meshes;      /* folder with real meshes, or NULL */
  const char *pose_file;   /* poses.csv, or NULL */
  const char *work_folder; /* inputs for the peers, pose cache */
  const char *peers_folder;
  const char *device; /* NULL: all */
  int repeats, threads, core;
  int budget;   /* seconds after which no workload begins; 0: none */
  double start; /* by seconds_now */
  bool list, quick, large, with_peers;
  graze_context *context;
  struct peer_set *peers;
  struct report *report;
  int wrong; /* own rows that were not right */
} bench;

/* A context of the options, which the caller destroys. */
graze_context *bench_context(const bench *b);

/* True when a workload of this name is to be run; with --list prints it and says no, as when the time is up. */
bool bench_wants(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the program with a message: the bench has no use for half a result. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *must_alloc(size_t count, size_t size);
void *must_grow(void *memory, size_t count, size_t size);
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2))); /* to be freed */
void must(graze_status status, const char *what);

double draw_signed(uint64_t *state); /* in [-1, 1), the next of a seeded sequence */

double median_of(const double *values, size_t n); /* 0 for n = 0 */
double least_of(const double *values, size_t n);
double most_of(const double *values, size_t n);
double geometric_mean(const double *values, size_t n);

const char *machine_cpu(void); /* model name */
const char *build_compiler(void);
const char *build_commit(void);
void pin_to_core(int core); /* -1: the last one that is allowed */

/* ---- workloads: each runs the rows of its family that the filter wants ----------------------------------------- */

void work_tritri(bench *b);
void work_plain(bench *b);
void work_build(bench *b);
void work_boolean(bench *b);
void work_pairs(bench *b);
void work_self(bench *b);
void work_relate(bench *b);
void work_round(bench *b);
void work_wave(bench *b);
void work_ccd(bench *b);
void work_convex(bench *b);
void work_clearance(bench *b);
void work_distance(bench *b);
void work_gap(bench *b);
void work_motion(bench *b);
void work_particles(bench *b);
void work_rigid(bench *b);
void work_read(bench *b);
void work_broad(bench *b);
void work_bed(bench *b);
void work_report_bodies(bench *b);
void work_report_frames(bench *b);
void work_mpi(bench *b);        /* where graze_mpi is */
void work_visibility(bench *b); /* where the private parts of graze_visibility are at hand */
void work_visibility_exact(bench *b);
void work_gpu(bench *b); /* where the private parts of graze_gpu are at hand */

bool work_gpu_list(const bench *b); /* prints the devices; false: there are none */

#endif
