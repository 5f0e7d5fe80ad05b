/* kinds.h: the makers, one file each, that the table in scenes.c lists. False: out of memory. */
#ifndef SCENES_KINDS_H
#define SCENES_KINDS_H

#include "scenes.h"

bool scenes_make_forklifts(const scenes_request *request, scenes_scene *scene);
bool scenes_make_wave(const scenes_request *request, scenes_scene *scene);
bool scenes_make_explosion(const scenes_request *request, scenes_scene *scene);
/* The fragments of an explosion, not yet flying. */
bool scenes_make_fragments(uint32_t size, scenes_balls *balls);
bool scenes_make_nested(const scenes_request *request, scenes_scene *scene);
bool scenes_make_walls(const scenes_request *request, scenes_scene *scene);
bool scenes_make_pipes(const scenes_request *request, scenes_scene *scene);
bool scenes_make_plant(const scenes_request *request, scenes_scene *scene);
bool scenes_make_peg(const scenes_request *request, scenes_scene *scene);
bool scenes_make_gears(const scenes_request *request, scenes_scene *scene);
bool scenes_make_bolt(const scenes_request *request, scenes_scene *scene);
bool scenes_make_rings(const scenes_request *request, scenes_scene *scene);
bool scenes_make_robot(const scenes_request *request, scenes_scene *scene);

#endif
