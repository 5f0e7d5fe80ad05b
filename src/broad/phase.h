/* The inside of a broad phase. */
#ifndef GRAZE_SRC_BROAD_PHASE_H
#define GRAZE_SRC_BROAD_PHASE_H

#include "base/clock.h"
#include "base/context.h"
#include "broad/broad.h"
#include "broad/bvh/bvh.h"

/* ---- AUTO: which method, and why (choose.c) ---------------------------------------------------------------------- */

/* How much was edited decides which methods are worth a look. */
typedef enum broad_regime {
  BROAD_RESTING, /* few proxies are edited */
  BROAD_MOVING,  /* many are */
  BROAD_ANEW,    /* boxes that are not added */
  BROAD_REGIMES
} broad_regime;

/* What a sample of the boxes looks like. */
typedef struct broad_shape {
  double spread; /* of sizes: 95th to 5th percentile */
  bool cluster;  /* a box of middle size is expected to meet most of all */
  bool planar;   /* the world is thinner than two boxes */
  bool lattice;
  bool crowded; /* a box of middle size, were all boxes of its size, is expected to meet many */
} broad_shape;

/* What updates with a method take, seconds a proxy; 0: not known. */
typedef struct broad_cost {
  double usual;     /* those that make nothing anew, */
  double anew;      /* those that do, */
  double share;     /* and how many of all these are */
  double mean;      /* of all */
  uint32_t updates; /* that this is known from */
} broad_cost;

/* What is remembered from update to update; zero-initialised. */
typedef struct broad_choice {
  graze_broad_method method, before; /* of the last update, and of the one before; AUTO: there was none */
  double share;                      /* of the proxies that are edited in an update, averaged */
  double speed;                      /* of those that move, in edges of the box, averaged */
  broad_regime regime;
  broad_cost cost[BROAD_REGIMES][GRAZE_BROAD_METHODS];
  double price[BROAD_REGIMES][GRAZE_BROAD_METHODS]; /* of its last trial, building included, seconds */
  graze_broad_method trial;                         /* being tried instead of the best; AUTO: none */
  uint32_t trial_updates;                           /* of the trial so far */
  uint32_t hopeless_updates;                        /* of these, one after the other, up to now */
  double trial_first, trial_least;                  /* seconds a proxy: of its first update, least of the others */
  double to_beat;                                   /* seconds a proxy that the trial is up against */
  uint32_t updates;                                 /* since the last trial, */
  double seconds;                                   /* and what they took */
  uint32_t sampled;                                 /* updates since the boxes were looked at; 0: never were */
  graze_broad_method by_shape;                      /* what sizes and density speak for when everything moves */
  broad_shape shape;
  uint32_t edits, live; /* of the last choice */
  bool on_trial;        /* it was */
} broad_choice;

/* The method for all pairs of the view from nothing. */
graze_broad_method gz_choose_once(broad_choice *choice, const broad_view *view);

/* The method for this update of `live` proxies, of which `edits` were edited. Those that moved went `speed` times the
 * edge of their boxes. */
graze_broad_method gz_choose_method(broad_choice *choice, const broad_view *view, uint32_t edits, uint32_t live,
                                    double speed);

/* Seconds, of which differences are what an update took: of this thread's processor where it does all the work, as what
 * others take of it is no cost of a method; else of the wall clock. */
double gz_choose_clock(const graze_context *context);

/* What the update with the chosen method took, and whether all was made anew in it. */
void gz_choose_learn(broad_choice *choice, uint32_t edits, uint32_t live, double seconds, bool anew);

/* The last choice and why, in a line. What updates cost is told as it is known by now. */
void gz_choose_explain(const broad_choice *choice, char *text, size_t room);

/* ---- the broad phase --------------------------------------------------------------------------------------------- */

/* The pairs of the last update. Either `full` holds all of them, or they are `persist` and `began`; the lists are
 * sorted. A small change then costs little more than copying `persist` once. */
typedef struct pair_history {
  pair_list full, persist, began, ended;
  bool full_valid;
} pair_history;

/* How far a sample of the boxes that were moved went since the last update, and their edges. */
typedef struct broad_motion {
  double way, edge;
} broad_motion;

/* A method with what it knows. */
typedef struct broad_instance {
  graze_broad_method method;
  void *state;
  bool ready; /* for edits: the last call of a method that keeps up with them went well */
} broad_instance;

/* What queries keep; query.c. */
typedef struct broad_queries {
  hierarchy h;
  uint64_t built;                        /* edition of the proxies that the hierarchy is of; 0: none */
  uint64_t asked;                        /* edition at the last query that looked at all boxes */
  buffer in_box, at_point, on_ray, near; /* answers */
  buffer keys, scratch;
} broad_queries;

struct graze_broadphase {
  graze_context *context;
  graze_broadphase_def def;

  /* Proxies, by index. Boxes stay in floats until the first double comes. */
  graze_precision precision;
  buffer boxes, user_ids, generations, layers;
  uint32_t index_end;  /* indices given out so far */
  uint32_t capacity;   /* that the arrays have room for */
  uint32_t live;       /* proxies */
  buffer free_indices; /* to be given out again */
  uint32_t free_count;
  buffer removed; /* since the last update: free after the next */
  uint32_t removed_count;
  uint64_t meets[GRAZE_BROAD_LAYERS];
  bool layers_matter;  /* some pair of layers does not meet */
  bool layers_changed; /* since the last update */

  uint64_t edition; /* grows with every edit */
  broad_queries queries;

  /* Edits since the last update. */
  buffer edited; /* a byte each index */
  buffer edit_slots;
  uint32_t edit_count;
  broad_motion motion;

  broad_instance instance; /* for proxies */
  broad_instance foreign;  /* for boxes that are not added; */
  broad_instance *stock;   /* where many take turns, of the other methods; else NULL */
  pair_history history;
  pair_list work[6];   /* scratch */
  pair_list found;     /* of boxes that are not added */
  buffer sphere_boxes; /* around spheres */
  buffer scratch;
  broad_choice choice;        /* of AUTO, for proxies, */
  broad_choice once;          /* and for boxes that are not added */
  const broad_choice *chosen; /* what the last update or find went by; NULL: the method was asked for */
  graze_broad_report report;  /* of it, without the reason */
};

static inline size_t box_bytes(graze_precision precision) {
  return precision == GRAZE_DOUBLE ? 6 * sizeof(double) : 6 * sizeof(float);
}

/* The boxes of the proxies as a method sees them. */
broad_view gz_broad_view_of(const graze_broadphase *broadphase);

/* The caller's boxes, of which none is free. */
broad_view gz_broad_view_of_array(const graze_context *context, const graze_box_array *boxes, uint32_t count);

/* Checks the array, and then `count` boxes: finite, min <= max. Reports the first bad one. */
graze_status gz_box_array_check(const graze_context *context, const graze_box_array *boxes, uint32_t count);
graze_status gz_boxes_check(const graze_context *context, const graze_box_array *boxes, uint32_t count);

/* Makes `instance` run `method`, forgetting what it knew when that is another one. */
graze_status gz_broad_instance_set(const graze_context *context, broad_instance *instance, graze_broad_method method);
void gz_broad_instance_release(const graze_context *context, broad_instance *instance);

/* For many who take turns to have pairs found among boxes that are not added, each with boxes of its own kind: what
 * methods keep stays when another method comes. MEMORY. */
graze_status gz_broad_take_turns(graze_broadphase *broadphase);

/* And AUTO goes by what it knows of those whose turn it is. The two exchange what they have. */
void gz_broad_exchange_choice(graze_broadphase *broadphase, broad_choice *choice);

void gz_queries_release(const graze_context *context, broad_queries *queries);
size_t gz_queries_bytes(const broad_queries *queries);

/* The pairs of boxes that are not added, into `found`. Errors are not reported. */
graze_status gz_broad_run_find(graze_broadphase *broadphase, const broad_view *view, bool unsorted);

/* Asks the context's engine for pairs of boxes or spheres; the method is filled in here. False: the processor is to
 * find them. True: they are in `found`, and the call's end is `status`. */
bool gz_broad_ask_engine(graze_broadphase *broadphase, graze_stage stage, graze_broad_question *question,
                         graze_status *status);

/* What a call that began at `start` tells afterwards. */
void gz_broad_take_notes(graze_broadphase *broadphase, graze_broad_method method, const broad_choice *choice,
                         double start);

/* Reports that there is no memory for the pairs of so many boxes. */
graze_status gz_broad_no_memory(const graze_broadphase *broadphase, uint32_t boxes);

#endif
