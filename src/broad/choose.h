/* AUTO: which method, and why. */
#ifndef GRAZE_SRC_BROAD_CHOOSE_H
#define GRAZE_SRC_BROAD_CHOOSE_H

#include "broad/broad.h"

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
  bool heap;     /* a box of middle size is expected to meet a good part of all */
  bool planar;   /* the world is thinner than two boxes */
  bool lattice;
} broad_shape;

/* What is remembered from update to update; zero-initialised. */
typedef struct broad_choice {
  graze_broad_method method, before; /* of the last update, and of the one before; AUTO: there was none */
  double share;                      /* of the proxies that are edited in an update, averaged */
  double speed;                      /* of those that move, in edges of the box, averaged */
  broad_regime regime;
  double cost[BROAD_REGIMES][GRAZE_BROAD_METHODS];  /* seconds a proxy, averaged; 0: not known */
  double price[BROAD_REGIMES][GRAZE_BROAD_METHODS]; /* of its last trial, building included, seconds */
  graze_broad_method trial;                         /* being tried instead of the best; AUTO: none */
  uint32_t trial_updates;                           /* of the trial so far */
  double trial_seconds, trial_least;
  double to_beat;              /* seconds a proxy that the trial is up against */
  uint32_t updates;            /* since the last trial, */
  double seconds;              /* and what they took */
  uint32_t sampled;            /* updates since the boxes were looked at; 0: never were */
  graze_broad_method by_shape; /* what sizes and density speak for when everything moves */
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

/* What the update with the chosen method took. */
void gz_choose_learn(broad_choice *choice, uint32_t edits, uint32_t live, double seconds);

/* The last choice and why, in a line. What updates cost is told as it is known by now. */
void gz_choose_explain(const broad_choice *choice, char *text, size_t room);

#endif
