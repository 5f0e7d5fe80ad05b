/* bake.h: many files and geometries to meshes, on all threads. Faults end the program; of several the first in order.
 */
#ifndef TOOL_BAKE_H
#define TOOL_BAKE_H

#include "load.h"

/* A mesh to be made. */
typedef struct bake_job {
  const char *path;        /* for messages */
  graze_geometry geometry; /* freed as soon as it is baked */
  graze_mesh *mesh;        /* what is made */
  bool large;              /* private: worth all threads */
  char fault[600];         /* "" = none */
} bake_job;

/* Reads the file of each job. */
void bake_read(session *run, bake_job *jobs, uint32_t count);

/* Makes the mesh of each job: of all triangles, with float coordinates where nothing is lost. Large ones one after
 * another by all threads, small ones side by side. Takes what the cache has, and puts there what it has not. */
void bake_meshes(session *run, bake_job *jobs, uint32_t count);

/* After the meshes are destroyed. */
void bake_end(session *run);

#endif
