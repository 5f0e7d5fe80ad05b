/* scene_bodies.h: what makes the objects of a made scene rigid bodies, in its file. */
#ifndef TOOL_SCENE_BODIES_H
#define TOOL_SCENE_BODIES_H

#include "base/json.h"
#include "scenes.h"

/* The key "simulation" of the document. */
void scene_put_simulation(gz_json *writer, const scenes_scene *scene);

/* The key "body" of an object. */
void scene_put_body(gz_json *writer, const scenes_run *run, uint32_t object);

#endif
