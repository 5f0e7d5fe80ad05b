/* The inside of a world of boxes over ranks: a machine whose stages never block.
 *
 *   plan      now and then: rank 0 collects samples of all boxes and cuts space (plan.c)
 *   share, table   then: what it has found goes to all
 *   balance, move, ask, tell, forward   with a directory of voxels only (directory.h)
 *   travel    boxes go to the ranks whose regions they meet (travel.c)
 *   search    pairs among what is here; of those told here, the sum of hashes and perhaps a list (search.c)
 *   home      with events or a sorted delivery: pairs go to the rank that has their lower id (deliver.c)
 *   owners    pairs go to the ranks that contributed their boxes (deliver.c)
 *   total     one reduction of counts, hash, work and failures
 *   message   after a failure: its words, from the first rank that has failed
 *
 * A rank that fails goes through all stages, with nothing to send, so that the others end too.
 */
#ifndef GRAZE_SRC_MPI_WORLD_H
#define GRAZE_SRC_MPI_WORLD_H

#include <string.h>

#include "base/memory.h"
#include "graze/mpi.h"
#include "mpi/addresses.h"
#include "mpi/directory.h"
#include "mpi/exchange.h"
#include "mpi/regions.h"

typedef enum mpi_stage {
  MPI_STAGE_IDLE,
  MPI_STAGE_PLAN,
  MPI_STAGE_SHARE,
  MPI_STAGE_TABLE,
  MPI_STAGE_BALANCE,
  MPI_STAGE_MOVE,
  MPI_STAGE_ASK,
  MPI_STAGE_TELL,
  MPI_STAGE_TRAVEL,
  MPI_STAGE_FORWARD,
  MPI_STAGE_HOME,
  MPI_STAGE_OWNERS,
  MPI_STAGE_TOTAL,
  MPI_STAGE_MESSAGE
} mpi_stage;

/* Counted work: about nanoseconds of one processor, as bench/ranks.py --weights measures them, and of a network with
 * 1.5 GB/s, which takes 48 for a record. Counted, not timed, so that all runs of a program cut space alike. */
enum {
  WORK_OF_BOX = 45, /* searched */
  WORK_OF_PAIR = 9,
  WORK_OF_SENT = 95, /* found to leave, packed, and on the network */
  WORK_OF_RECEIVED = 80
};

/* The numbers that are reduced. Least ones are the greatest of their complements. */
enum {
  SUM_OBJECTS,
  SUM_PAIRS,
  SUM_HASH,
  SUM_BEGAN,
  SUM_PERSIST,
  SUM_ENDED,
  SUM_SENT,
  SUM_MESSAGES,
  SUM_BYTES,
  SUM_WORK,
  SUM_VOXELS,
  SUM_LOAD,
  SUM_PLACES, /* voxels that senders had boxes for */
  SUM_ASKED,
  SUM_FORWARDED,
  SUM_MOVED
};
enum {
  MAX_OBJECTS,
  MAX_RECEIVED,
  MAX_PAIRS,
  MAX_WORK,
  MAX_BYTES,
  MAX_NOT_OBJECTS,
  MAX_NOT_RECEIVED,
  MAX_NOT_PAIRS,
  MAX_NOT_WORK,
  MAX_NOT_BYTES,
  MAX_LOAD,  /* work and the caller's own load */
  MAX_STEP,  /* and travel, which cutting again may cost more of */
  MAX_FAILED /* ranks - rank of one that has failed */
};

/* A box on its way. */
typedef struct mpi_record {
  double box[6];
  uint64_t id;
  uint32_t group;
  uint32_t rank, number; /* whose it is */
  uint16_t stripe;       /* where it goes, or has gone: RANKS_OF_STRIPE */
  uint8_t shared;        /* it meets other regions too */
  uint8_t narrow;        /* its owner has floats */
} mpi_record;

/* A box and a rank that it goes to. */
typedef struct mpi_leaving {
  uint32_t rank, stripe, slot;
} mpi_leaving;

typedef struct mpi_client {
  graze_mpi_boxes boxes;
  uint32_t first; /* number of its first box */
} mpi_client;

/* A box of the client in doubles. */
static inline void client_box(const mpi_client *c, uint32_t i, double box[6]) {
  const graze_box_array *array = &c->boxes.boxes;
  const char *at = (const char *)array->data + i * array->stride;
  if (array->precision == GRAZE_DOUBLE) {
    memcpy(box, at, 6 * sizeof *box);
    return;
  }
  float narrow[6];
  memcpy(narrow, at, sizeof narrow);
  for (int k = 0; k < 6; k++) box[k] = (double)narrow[k];
}

/* What a rank tells about itself when space is cut; samples follow. */
typedef struct mpi_census {
  uint64_t samples, definition;
  double objects, work, load;
  graze_box corners; /* the bounds of the boxes' lower corners */
} mpi_census;

typedef struct mpi_failure {
  graze_status status; /* OK: none */
  char message[496];
} mpi_failure;

/* What space was cut with, from rank 0; the table follows. */
typedef struct mpi_plan {
  double voxel;
  uint32_t differs;            /* the first rank whose world is defined otherwise than that of rank 0; 0: none */
  bool had_boxes, homes_known; /* samples, once; homes are cut */
  char reason[160];            /* for the voxel */
} mpi_plan;

/* What rank 0 needs to cut space. */
typedef struct mpi_planner {
  char *gathered; /* of each rank mpi_census and samples, as they came */
  mpi_sample *samples;
  mpi_mark *marks;
  mpi_census *censuses; /* by rank, as what follows */
  mpi_tally *tallies;
  graze_box *bounds;
  double *shares, *density;
  uint32_t *order;
  uint64_t *former; /* the tree before the last cut */
} mpi_planner;

/* What a stage begins and ends with, and the table that all ranks have alike: worlds that take turns in one process may
 * have it in common. */
typedef struct mpi_common {
  void *table; /* of the plan: 8 bytes a rank for the tree, and for the homes of pairs 8 more */
  size_t table_bytes;
  graze_broadphase *broadphase;
  mpi_addresses addresses; /* of a round that is being packed */
  buffer parcels;          /* mpi_parcel */
  buffer leaving;          /* mpi_leaving */
  buffer ids;              /* uint64_t: of the boxes that are searched */
  buffer work;             /* double[6], or float[6] where all boxes are floats */
  buffer job;              /* uint32_t */
  buffer sorted;           /* uint32_t: slots by stripe or block */
  buffer block_memory;
  buffer voxel_set; /* uint64_t */
  buffer scratch;   /* graze_mpi_pair */
} mpi_common;

struct graze_mpi_world {
  graze_context *context;
  graze_mpi_world_def def;
  mpi_transport *transport;
  uint32_t rank, ranks;
  graze_status broken; /* of the transport, for good */
  mpi_common own, *common;

  buffer clients, next_clients; /* mpi_client: of this step, and contributed for the next */
  uint32_t client_count, next_client_count;
  uint64_t object_count, next_object_count;
  double load;

  mpi_stage stage;
  uint64_t round; /* of messages, so far */
  uint64_t step;
  mpi_exchange exchange;
  mpi_failure failure;
  mpi_totals totals;

  /* plan */
  bool plan_due, go_back; /* to the former cuts, as the last ones made it worse */
  uint32_t sample_limit;  /* a rank */
  char *census;           /* mpi_census and samples of this rank */
  mpi_planner planner;    /* of rank 0 */
  size_t plan_bytes;      /* of the memory of all these */
  void *plan_memory;
  mpi_plan plan;
  mpi_regions regions;
  mpi_leaf leaf;    /* of this rank */
  graze_box region; /* that of the leaf, half-open, among finite numbers, */
  graze_box home;   /* and of this rank alone; empty: others share it, or there is none */
  uint64_t *homes;  /* by rank: the first id whose pairs are at home there; NULL: nobody asks */
  bool lists_home;  /* though the world's definition does not say so */
  bool differs;     /* the definitions of the ranks */
  double own_work;  /* in the last step */
  uint64_t cuts, counted_cuts, planned_at, patience; /* voxels were counted after so many cuts */
  double most; /* load of a rank for each box, in the last step before space was cut */

  mpi_directory directory;

  /* travel */
  uint64_t leaving_count;
  buffer outgoing; /* mpi_record or graze_mpi_pair, by rank */
  buffer slots;    /* uint32_t: own boxes that are searched here, with SLOT_SHARED */
  uint32_t kept;
  bool all_kept; /* every box, and `slots` is not filled */
  buffer received;
  uint64_t received_count;
  bool grouped; /* some have groups */
  bool narrow;  /* all boxes that are here are floats */

  /* search */
  struct broad_choice *choice; /* what AUTO knows of the boxes here, where worlds take turns; else NULL */
  mpi_regions blocks;
  buffer pairs; /* graze_mpi_pair: told here */
  uint64_t pair_count;

  /* deliver */
  buffer arrived; /* graze_mpi_pair */
  uint64_t arrived_count;
  buffer history, next_history; /* graze_mpi_pair: those at home, of the last step and of this one */
  uint64_t history_count, next_history_count;
  graze_mpi_pair *list;
  uint64_t list_count, list_ended;
  bool unsorted; /* the finder's list may be in any order */

  graze_mpi_result result;
};

#define SLOT_SHARED 0x80000000u /* it meets other ranks' regions too */
#define SLOT_BLOCKS 0x40000000u /* it meets several blocks */
enum { SLOT_LIMIT = 1 << 30 };
#define SLOT_NUMBER 0x3FFFFFFFu

/* One rank alone needs none. */
static inline bool uses_directory(const graze_mpi_world *w) {
  return w->def.placement == GRAZE_MPI_DIRECTORY && w->ranks > 1;
}

static inline graze_mpi_pair *pairs_of(const buffer *b) {
  return b->data;
}

/* A world over a transport, which is closed with it. `common`: all zero at first, for worlds that take turns; released
 * by gz_mpi_common_release when they have gone. NULL: the world has its own. */
graze_status gz_mpi_world_open(graze_context *context, mpi_transport *transport, const graze_mpi_world_def *def,
                               mpi_common *common, graze_mpi_world **world);
void gz_mpi_common_release(graze_context *context, mpi_common *common);

/* The boxes of the only client are elsewhere by now. */
void gz_mpi_world_lend(graze_mpi_world *w, const graze_mpi_boxes *boxes);

/* Collective: whether all ranks have come so far with OK; else those that have get a status of the others. */
graze_status gz_mpi_agree(const graze_context *context, MPI_Comm comm, graze_status status);

/* self.c: a mesh against itself, in a world that delivers to finders and is destroyed with it. */
graze_status gz_mpi_self_open(graze_mpi_world *world, bool listed, graze_mpi_self **self);

/* Remembers the failure for the end of the step; the first one counts. The words are those of the thread's last error
 * or, for the second, the given ones. */
void gz_mpi_world_fail(graze_mpi_world *w, graze_status status);
void gz_mpi_world_fail_with(graze_mpi_world *w, graze_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* False: refused, and the step has failed. */
bool gz_mpi_world_reserve(graze_mpi_world *w, buffer *b, uint64_t count, size_t size, uint64_t keep);

/* plan.c */
bool gz_mpi_plan_open(graze_mpi_world *w);
bool gz_mpi_plan_list_home(graze_mpi_world *w);     /* pairs will go home, whatever the definition says */
graze_status gz_mpi_plan_begin(graze_mpi_world *w); /* samples go to rank 0, */
graze_status gz_mpi_plan_share(graze_mpi_world *w); /* which cuts space, */
bool gz_mpi_plan_has_table(const graze_mpi_world *w);
graze_status gz_mpi_plan_share_table(graze_mpi_world *w); /* and all have the table, */
void gz_mpi_plan_end(graze_mpi_world *w);                 /* and use it */
void gz_mpi_plan_judge(graze_mpi_world *w);               /* after the totals: whether the next step is to cut anew */

/* travel.c: checks the boxes too */
graze_status gz_mpi_travel_begin(graze_mpi_world *w);

/* The address of a rank in the round that is being packed. NULL: refused, and the step has failed. */
mpi_address *gz_mpi_world_add_address(graze_mpi_world *w, uint32_t rank);
static inline mpi_address *world_address(graze_mpi_world *w, uint32_t rank) {
  mpi_address *last = addresses_last(&w->common->addresses);
  return last != NULL && last->rank == rank ? last : gz_mpi_world_add_address(w, rank);
}

/* Makes room in `outgoing` for all records that were counted. False: refused, or the step has failed before. */
bool gz_mpi_world_lay_out(graze_mpi_world *w, size_t record);

/* Sends records that lie in `outgoing`, those for a rank behind each other up to where its address counts. */
graze_status gz_mpi_send_records(graze_mpi_world *w, size_t record, mpi_receiver receiver);

/* Whether the box of a client is one; false: the step has failed. */
bool gz_mpi_check_box(graze_mpi_world *w, const mpi_client *c, uint32_t i, const double box[6]);

/* The box with that number, in doubles. */
void gz_mpi_own_box(const graze_mpi_world *w, uint32_t number, double box[6]);
const mpi_client *gz_mpi_client_of(const graze_mpi_world *w, uint32_t number);

/* search.c */
graze_status gz_mpi_search_open(graze_mpi_world *w);
void gz_mpi_search_close(graze_mpi_world *w);
void gz_mpi_search(graze_mpi_world *w);

/* deliver.c */
graze_status gz_mpi_home_begin(graze_mpi_world *w);
void gz_mpi_home_sort(graze_mpi_world *w); /* what has arrived there */
void gz_mpi_home_end(graze_mpi_world *w);
graze_status gz_mpi_owners_begin(graze_mpi_world *w);
void gz_mpi_deliver(graze_mpi_world *w); /* what is here by now is this rank's list */

#endif
