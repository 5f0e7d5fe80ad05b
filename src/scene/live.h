/* What a scene remembers: boxes and pairs from call to call, relations from update to update. */
#ifndef GRAZE_SRC_SCENE_LIVE_H
#define GRAZE_SRC_SCENE_LIVE_H

#include "scene/scene.h"

/* Who stands behind a proxy. */
typedef struct live_object {
  graze_object_id id;
  uint64_t user_id;
  uint64_t serial; /* in the order of adding; no two objects ever have the same */
} live_object;

/* A pair of objects whose boxes meet; or that met, and whose end was not told yet. */
typedef struct live_pair {
  live_object a, b;    /* a was added first */
  graze_relation told; /* to the caller, at the last update that went well */
  graze_verdict now;
  graze_counts counts;
  double clearance; /* that was asked for last */
  graze_gap gap;
  bool stale;   /* `now` is not known any more */
  bool ignored; /* a rule parts them: their relation counts as separate */
} live_pair;

/* A pair by the serials of its objects, and its number. */
typedef struct numbered_pair {
  uint64_t a, b;
  uint32_t number;
} numbered_pair;

/* For qsort and bsearch: in the order of adding. */
int gz_numbered_pairs_order(const void *p, const void *q);

/* Pairs that keep their numbers. */
typedef struct live_pool {
  buffer pairs; /* live_pair */
  buffer free;  /* numbers to be given out again */
  uint32_t count, free_count;
} live_pool;

struct live_scene {
  graze_broadphase *broad;
  graze_scene_update_options options; /* of the last update */
  bool begun;                         /* there was one */
  bool plain;                         /* boxes are for tier T0 */
  bool rules_changed;                 /* since then */
  bool has_clearances;                /* pairs may */

  /* By place. */
  buffer proxies; /* graze_proxy_id; generation 0: none */
  buffer touched; /* uint8_t: it is in the list of touched places */
  uint32_t places;
  buffer touched_list; /* uint32_t: places whose object is new, has moved, or has another mesh now */
  uint32_t touched_count;
  buffer lost; /* graze_proxy_id: of objects that are gone */
  uint32_t lost_count;
  buffer travels; /* uint32_t: places whose object has another pose than at the last update */
  uint32_t travel_count;
  uint64_t met; /* objects with serials below were there at the last update */

  /* By index of the proxy. */
  buffer who;   /* live_object */
  buffer moved; /* uint8_t: since pairs were brought up to date */
  uint32_t indices;

  /* Pairs of the last update, in the order of the broad phase, and the number of each in the pool. */
  buffer keys;   /* graze_box_pair */
  buffer states; /* uint32_t */
  uint64_t count;
  buffer next_keys, next_states; /* scratch */
  live_pool pool;
  buffer gone; /* numbered_pair: boxes meet no more, and the end was not told */
  uint32_t gone_count;

  buffer batch;     /* scratch: boxes and ids on their way to the broad phase */
  buffer wanted;    /* scratch: keys of pairs that are to be decided, and their numbers in the pool */
  buffer events[4]; /* graze_scene_event: began, persist, ended, passed */

  /* continuous.c */
  graze_broadphase *sweeper; /* made when first needed */
  buffer ways, swept, journeys;
  buffer clear[2]; /* clear_pair: sorted; of the last update that went well, and of the one that runs */
  uint64_t clear_count[2];
};

static inline live_pair *live_pair_at(const live_scene *live, uint32_t number) {
  return (live_pair *)live->pool.pairs.data + number;
}

/* Room for notes about so many places. False: no memory. */
bool gz_live_reserve(const graze_context *context, live_scene *live, uint32_t places);

/* Notes that the object of a place is new, or has changed; that it goes. `live` NULL: nobody asks. */
void gz_live_touch(live_scene *live, uint32_t place);
void gz_live_forget(live_scene *live, uint32_t place);

/* Notes that an object is about to be moved. */
void gz_live_depart(graze_scene *scene, uint32_t place);
/* Forgets where objects were, for they are where they are now. */
void gz_live_arrive(graze_scene *scene);

/* Makes the state that a scene has before its first check or update, unless it is there. Errors: MEMORY. */
graze_status gz_live_start(graze_scene *scene);

/* A pair that was told and is not known to meet: the next update tells that it ended, or that it persists. False: no
 * memory. */
bool gz_live_recall(const graze_context *context, live_scene *live, const live_pair *pair);

void gz_live_release(const graze_context *context, live_scene *live);

/* Gives up the number of a pair; never fails. */
void gz_live_give_back(live_scene *live, uint32_t number);

/* Outward, but for the ends of the range. */
void gz_live_grow_box(graze_box *box, double by);
/* Sets by how much the boxes of objects are grown in all: NULL: by nothing. Errors: ARGUMENT, for a reach that is not a
 * finite number of at least 0 (the object is named). */
graze_status gz_live_set_reach(graze_scene *scene, graze_reach_function reach, void *user);

/* Brings boxes and pairs up to date with the scene, which a check and an update begin with; marks what has to be
 * decided for an update, with `all_stale` everything. Errors: POSE, NOT_FINITE (both name the object), MEMORY, LIMIT;
 * nothing is lost then, and it can be called again. */
graze_status gz_live_bring_up(graze_scene *scene, graze_exactness exactness, bool all_stale);

/* Keys of the pairs of ranks that no rule parts, of all or of those that are stale, and their numbers in the pool (may
 * be NULL); returns how many. */
uint64_t gz_live_list(const graze_scene *scene, bool all, uint64_t *keys, uint32_t *numbers);

#endif
