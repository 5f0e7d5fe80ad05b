/* motion_particles.h: `graze motion --particles FILE SCENE`. */
#ifndef TOOL_MOTION_PARTICLES_H
#define TOOL_MOTION_PARTICLES_H

#include "graze/check.h"
#include "options.h"

/* Finds what each particle of the file meets first and prints it. Returns the exit code. */
int motion_fly_particles(const char *particles, const graze_check_def *def, const common_options *common);

#endif
