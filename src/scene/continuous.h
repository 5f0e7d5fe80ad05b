/* What happens between two updates: when pairs begin and cease to meet, and which meet and part in between. */
#ifndef GRAZE_SRC_SCENE_CONTINUOUS_H
#define GRAZE_SRC_SCENE_CONTINUOUS_H

#include "scene/live.h"

/* A pair of which somebody hears, and when it happened. */
typedef struct told_pair {
  numbered_pair pair;
  double time[2];
} told_pair;

/* Fills the times of the pairs that are told, which are sorted, and lists pairs that are not among them and meet, or
 * may have met, on the way: events->passed, in the scene's memory. Everything else of the update has been decided.
 * Errors: POSE, MEMORY, LIMIT, CANCELLED. */
graze_status gz_continuous_decide(graze_scene *scene, const graze_scene_update_options *options, told_pair *told,
                                  uint64_t count, graze_scene_update_result *events);

#endif
