/* particles.h: what readers and writers of particle files agree on; private to io. */
#ifndef GRAZE_IO_PARTICLES_H
#define GRAZE_IO_PARTICLES_H

#include "rows.h"

enum {
  PARTICLE_NUMBERS = 10, /* x y z r vx vy vz wx wy wz */
  PARTICLE_BYTES = 8 * PARTICLE_NUMBERS,
  PARTICLE_COLUMNS = 13 /* of texts: and x1 y1 z1 */
};

extern const char *const gz_particle_titles[PARTICLE_COLUMNS + 1]; /* NULL at the end */
extern const char gz_particle_magic[IO_MAGIC_BYTES];

/* By its name. */
bool gz_particle_file_is_binary(const char *path);

#endif
