/* Blasts: what they may be, and how they throw. */
#ifndef GRAZE_SRC_SCENE_BLAST_H
#define GRAZE_SRC_SCENE_BLAST_H

#include "graze/dynamics.h"

/* `who` begins the message. Errors: ARGUMENT, NOT_FINITE. */
graze_status gz_blast_check(const graze_context *context, const graze_blast *blast, const char *who);

/* Velocity and spin of what is at a place; the blast has been checked. */
void gz_blast_throw(const graze_blast *blast, uint64_t number, const double at[3], double velocity[3], double spin[3]);

#endif
