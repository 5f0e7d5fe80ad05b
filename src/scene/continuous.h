/* What happens between two updates: when pairs begin and cease to meet or to be too near, and which do and cease to in
 * between. */
#ifndef GRAZE_SRC_SCENE_CONTINUOUS_H
#define GRAZE_SRC_SCENE_CONTINUOUS_H

#include "scene/clearance.h"
#include "scene/live.h"

/* A pair of which somebody hears, and when it happened. */
typedef struct told_pair {
  numbered_pair pair;
  double time[2];
} told_pair;

/* Fills the times of the pairs that are told, which are sorted, and lists those that met on the way or came too near,
 * or may have: events->passed, in the scene's memory. Everything else of the update has been decided. Errors: ARGUMENT,
 * for a clearance that the reach of its objects does not allow; POSE, MEMORY, LIMIT, CANCELLED. */
graze_status gz_continuous_decide(graze_scene *scene, const graze_scene_update_options *options,
                                  clearance_asking *asking, told_pair *told, uint64_t count,
                                  graze_scene_update_result *events);

#endif
