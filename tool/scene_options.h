/* scene_options.h: the options of `check` and `watch` that say how files become objects and how pairs are judged. */
#ifndef TOOL_SCENE_OPTIONS_H
#define TOOL_SCENE_OPTIONS_H

#include <argp.h>

#include "graze/check.h"

/* To be a child of the verb's argp; its input is the graze_check_def that they fill. */
extern const struct argp scene_argp;

/* Whether it is a scene.json, by its name. */
bool scene_is_file(const char *path);

/* For ARGP_KEY_ARGS: takes all arguments as the files of `def`, which does not own their names. A usage error if a
 * scene.json has other files beside it or is to be split. */
void scene_take_files(struct argp_state *state, graze_check_def *def);

#endif
