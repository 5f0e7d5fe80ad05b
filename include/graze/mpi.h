/* graze/mpi.h: which of many boxes meet, and where a mesh meets itself, with the boxes or the triangles spread over the
 * ranks of an MPI program.
 *
 * Every rank contributes boxes, any number or none, each with an id of 64 bits; where they lie does not matter. The
 * answer is that of graze_broadphase_find on all of them together: closed boxes, exact for the caller's numbers, each
 * pair told once, for any number of ranks and any distribution. Boxes travel to the ranks whose part of space they
 * meet, pairs stay where they are found unless they are asked for elsewhere, and nothing is gathered on one rank.
 *
 * The calling program owns MPI: it calls MPI_Init or MPI_Init_thread (FUNNELED is enough) and MPI_Finalize. Calls that
 * are collective say so; all ranks of the communicator make them in the same order. A collision is collective from
 * graze_mpi_begin to the end of graze_mpi_wait, and in between no rank waits for another:
 *
 *     graze_mpi_contribute(world, &boxes);
 *     graze_mpi_begin(world, 0);
 *     ... own work, with graze_mpi_test now and then ...
 *     graze_mpi_wait(world);
 *     graze_mpi_result result = graze_mpi_get_result(world);
 *
 * Errors are agreed on: if a step fails on one rank, graze_mpi_wait returns its status on all, and the message
 * (graze_last_error) names rank and cause. The world can go on with the next step, unless the status is
 * GRAZE_ERROR_RANK: then MPI has failed. Needs the library graze_mpi (graze::mpi).
 *
 * Method: voxels over ranks (Lawlor and Kale: A Voxel-Based Parallel Collision Detection Algorithm, ICS 2002), with
 * the voxels cut among ranks by cost, and messages that end by consensus. docs/mpi.md tells more.
 */
#ifndef GRAZE_MPI_H
#define GRAZE_MPI_H

#include <mpi.h>

#include "graze/broadphase.h"
#include "graze/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the pairs of a step go. */
typedef enum graze_mpi_delivery {
  GRAZE_MPI_COUNT = 0, /* nowhere: they are counted and hashed */
  GRAZE_MPI_FINDER,    /* they stay on the rank that found them */
  GRAZE_MPI_OWNERS,    /* to the ranks that contributed the two boxes */
  GRAZE_MPI_SORTED     /* sorted over all ranks: those of rank 0 come first */
} graze_mpi_delivery;

/* How a rank searches what it holds. */
typedef enum graze_mpi_search {
  GRAZE_MPI_AUTO = 0,  /* graze_broadphase_find, in blocks that bound memory */
  GRAZE_MPI_BISECTION, /* recursive coordinate bisection down to small blocks, then every pair, as in the paper */
  GRAZE_MPI_NO_SEARCH  /* boxes travel and nobody searches them: for timing; there are no pairs */
} graze_mpi_search;

/* Which rank has what part of space. The answer is the same. */
typedef enum graze_mpi_placement {
  GRAZE_MPI_CURVE = 0, /* the leaves of a k-d tree cut by work, which all ranks know */
  GRAZE_MPI_DIRECTORY  /* voxels, each where a rank first had boxes for it; a home for each voxel, found by hashing,
                          knows its place, and voxels move when work is uneven: as in the paper. A voxel is not cut
                          again, so that a crowded one is the work of one rank */
} graze_mpi_placement;

typedef struct graze_mpi_world_def {
  graze_mpi_delivery delivery;
  graze_mpi_placement placement;
  graze_mpi_search search;
  bool events;  /* compare each step with the one before: began, persist, ended */
  double voxel; /* edge of a voxel, in the boxes' units, rounded up to a power of two; 0: chosen from the boxes */
  /* Told of each message that this rank sends; `round` counts the rounds of messages of the world. NULL: nobody. */
  void (*trace)(void *user, uint64_t round, uint32_t from, uint32_t to, uint64_t bytes);
  void *trace_user;
  uint32_t block; /* a rank searches about so many boxes at a time; 0: a million */
  uint32_t cookie;
} graze_mpi_world_def;

GRAZE_API graze_mpi_world_def graze_mpi_default_world_def(void);

typedef struct graze_mpi_world graze_mpi_world;

/* Collective. Works on duplicates of `comm`, which stays the caller's. `def` may be NULL for the defaults; it must be
 * the same on all ranks. The loops of the search use the threads of the context. Errors: ARGUMENT, MEMORY, RANK. */
GRAZE_API graze_status graze_mpi_world_create(graze_context *context, MPI_Comm comm, const graze_mpi_world_def *def,
                                              graze_mpi_world **world);

/* Collective, before MPI_Finalize. NULL is allowed. A step must not be under way. */
GRAZE_API void graze_mpi_world_destroy(graze_mpi_world *world);

/* Boxes of one client in the caller's memory. */
typedef struct graze_mpi_boxes {
  graze_box_array boxes;
  uint32_t count;
  const uint64_t *ids;    /* of each box; no two boxes of a step have the same, on whatever ranks */
  const uint32_t *groups; /* boxes of the same group do not meet; NULL, or the value UINT32_MAX: a group of its own */
} graze_mpi_boxes;

/* Adds boxes to the next step: once, never, or several times, each call a client of its own. The arrays are read until
 * the step has ended. Together at most 2^30 boxes a rank. Errors: ARGUMENT, LIMIT, MEMORY. */
GRAZE_API graze_status graze_mpi_contribute(graze_mpi_world *world, const graze_mpi_boxes *boxes);

/* Collective. Begins a step with what was contributed since the last one. `load`: what else this rank has to do in a
 * step, at least 0, in units of the mean rank's work for the collision: a rank that has more gets less of it, from the
 * next cut on. Errors: ARGUMENT, RANK; what is wrong with boxes is told at the end. */
GRAZE_API graze_status graze_mpi_begin(graze_mpi_world *world, double load);

/* Does what can be done without waiting for other ranks, the search among it. `done`: the step has ended. Errors: those
 * of graze_mpi_wait, once it has. */
GRAZE_API graze_status graze_mpi_test(graze_mpi_world *world, bool *done);

/* Ends the step. Errors, on all ranks the same: ARGUMENT (a box with min > max; a definition that differs), NOT_FINITE
 * (the message names rank, box and axis), MEMORY, LIMIT; RANK. */
GRAZE_API graze_status graze_mpi_wait(graze_mpi_world *world);

typedef enum graze_mpi_event { GRAZE_MPI_BEGAN = 0, GRAZE_MPI_PERSISTS, GRAZE_MPI_ENDED } graze_mpi_event;

typedef struct graze_mpi_pair {
  uint64_t a, b;             /* ids, a < b */
  uint32_t a_rank, a_number; /* who contributed a, and its number there: over all clients, in their order */
  uint32_t b_rank, b_number;
  uint32_t event;    /* a graze_mpi_event; without `events` all have begun */
  uint32_t reserved; /* 0 */
} graze_mpi_pair;

/* Over the ranks. */
typedef struct graze_mpi_spread {
  uint64_t least, most;
  double mean;
} graze_mpi_spread;

typedef struct graze_mpi_result {
  /* Over all ranks, and the same on each. */
  uint64_t objects, pairs;
  uint64_t hash;                  /* sum mod 2^64 over the pairs: graze_pair_hash(a, b) if both ids are below 2^32, else
                                     splitmix64(splitmix64(a) + b) */
  uint64_t began, persist, ended; /* with `events`, else 0 */
  bool searched;
  uint64_t sent_objects; /* boxes sent to other ranks; one that goes to two counts twice */
  uint64_t messages, bytes_sent;
  double voxel;         /* edge; a power of two */
  const char *reason;   /* one line: why this one. Valid until the next step */
  uint64_t voxels;      /* those with boxes when space was last cut */
  uint64_t cuts;        /* steps so far in which space was cut anew */
  struct {              /* with a directory, over all ranks: */
    uint64_t used;      /* voxels that ranks sent boxes to, */
    uint64_t asked;     /* of which they had to ask for the place */
    uint64_t forwarded; /* boxes that came to a former place and were sent on */
    uint64_t moved;     /* voxels that moved before this step */
  } places;
  graze_mpi_spread rank_objects, rank_received, rank_pairs, rank_work, rank_bytes;

  /* Of this rank: what the delivery brought here, sorted by (a, b), and with `events`, for OWNERS and SORTED, pairs
   * that have ended behind the others, sorted by themselves. Valid until the next step begins. */
  const graze_mpi_pair *list;
  uint64_t count, ended_count;
} graze_mpi_result;

/* Of the last step that ended without an error. */
GRAZE_API graze_mpi_result graze_mpi_get_result(const graze_mpi_world *world);

/* ---- a mesh against itself -------------------------------------------------------------------------------------- */

/* Triangles of a mesh, spread over the ranks in any way: the answer is that of graze_collide_self on all of them, whose
 * rules go by positions and not by indices. The boxes of triangles travel; corners do for those alone whose boxes meet
 * another one's on a rank that does not have them. Used as a world is: begin, own work, test or wait. */
typedef struct graze_mpi_self graze_mpi_self;

/* In the caller's memory, read until the call has ended. */
typedef struct graze_mpi_triangles {
  const double *corners;   /* 9 of each: x, y, z of three corners */
  const uint64_t *numbers; /* of each, below 2^32; no two triangles have the same, on whatever ranks */
  uint32_t count;          /* at most 2^30 */
} graze_mpi_triangles;

/* Collective. `def` as for graze_mpi_world_create; of `delivery` there are COUNT and SORTED, which lists the self
 * pairs; NO_SEARCH and events are not for meshes. Errors: ARGUMENT, MEMORY, RANK. */
GRAZE_API graze_status graze_mpi_self_create(graze_context *context, MPI_Comm comm, const graze_mpi_world_def *def,
                                             graze_mpi_self **self);
GRAZE_API void graze_mpi_self_destroy(graze_mpi_self *self);

/* Collective; NULL: this rank has no triangles. What is wrong with triangles is told at the end. Errors: ARGUMENT,
 * LIMIT, RANK. */
GRAZE_API graze_status graze_mpi_self_begin(graze_mpi_self *self, const graze_mpi_triangles *triangles);

/* As graze_mpi_test and graze_mpi_wait. Errors, on all ranks the same: ARGUMENT, NOT_FINITE (the message names rank and
 * triangle), MEMORY, LIMIT; RANK. O(n log n) for n triangles whose boxes meet few others. */
GRAZE_API graze_status graze_mpi_self_test(graze_mpi_self *self, bool *done);
GRAZE_API graze_status graze_mpi_self_wait(graze_mpi_self *self);

typedef struct graze_mpi_self_result {
  /* Over all ranks, and the same on each. */
  uint64_t triangles, degenerate;
  graze_self_result found; /* without `pairs` and `work` */
  uint64_t sent_triangles; /* whose corners went to another rank; one that went to two counts twice */
  graze_mpi_result boxes;  /* of the search among boxes; messages and bytes are those of everything */

  /* Of this rank, with SORTED: self pairs by number, a < b, those of rank 0 first; the ranks are 0. Valid until the
   * next call of begin. */
  const graze_mpi_pair *list;
  uint64_t count;
} graze_mpi_self_result;

/* Of the last mesh that ended without an error. */
GRAZE_API graze_mpi_self_result graze_mpi_self_get_result(const graze_mpi_self *self);

/* ---- what many ranks would take ---------------------------------------------------------------------------------- */

/* Seconds that a message takes (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995). */
typedef struct graze_mpi_network {
  double latency;      /* from leaving to arriving */
  double overhead;     /* of sender and receiver, in which they do nothing else */
  double gap;          /* between two messages of a rank, and */
  double gap_per_byte; /* for each byte */
} graze_mpi_network;

typedef struct graze_mpi_predict_def {
  graze_mpi_world_def world;
  graze_mpi_network network; /* default: what was required of Red Storm, 5 us and 1.5 GB/s */
  uint32_t ranks;            /* at most 2^16; default 1 */
  uint32_t steps;            /* of the same boxes; with more than one the first, which cuts space, is not told */
  double scale;              /* seconds of a rank for a second of this processor; default 1 */
  double noise;              /* standard deviation of what a rank's work takes, as a share of it; default 0 */
  uint64_t seed;             /* of the noise */
  /* A piece of a rank's work, from one wait to the next, takes the least that it took in a step since space was cut:
   * so that of many ranks the slowest is not the one that this processor happened to disturb. Then the median is that
   * of the later half of the steps. */
  bool steady;
  /* The boxes of a rank, asked for whenever its code is going to read them, always as many and the same ones; read
   * until the next call. So only those of one rank need be in memory. NULL: they are the argument of graze_mpi_predict.
   */
  graze_mpi_boxes (*boxes)(void *user, uint32_t rank);
  void *boxes_user;
  uint32_t cookie;
} graze_mpi_predict_def;

GRAZE_API graze_mpi_predict_def graze_mpi_default_predict_def(void);

/* A part of the last step: from one point where the ranks need each other to the next it is that of the rank that came
 * last. "network" is what these points take themselves, "answer" what comes after the last of them. */
enum { GRAZE_MPI_MOST_PHASES = 16 };
typedef struct graze_mpi_phase {
  const char *name;
  double seconds;
} graze_mpi_phase;

typedef struct graze_mpi_prediction {
  graze_mpi_result result;       /* what the ranks found; without reason and list */
  double seconds, least_seconds; /* of a step: median and least */
  double last_seconds;           /* the sum of the phases */
  graze_mpi_phase phases[GRAZE_MPI_MOST_PHASES];
  uint32_t phase_count;
} graze_mpi_prediction;

/* Simulates: every rank's own code runs in this process, one rank after another on one processor, whose clock tells
 * what the rank's work takes, and messages take what the network says. `boxes`: of each rank; NULL if the definition
 * brings them. Not collective, and without a call of MPI. The context should have one thread: the work of others is not
 * seen by the clock. Memory: of each rank 4 bytes a box and what it sends and receives; what a rank needs while it
 * works, and the table of the ranks, are there once. Errors: ARGUMENT, MEMORY, and those of graze_mpi_wait. */
GRAZE_API graze_status graze_mpi_predict(graze_context *context, const graze_mpi_predict_def *def,
                                         const graze_mpi_boxes *boxes, graze_mpi_prediction *prediction);

#ifdef __cplusplus
}
#endif
#endif
