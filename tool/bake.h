/* bake.h: many files and geometries to meshes, on all threads. Faults end the program; of several the first in order.
 */
#ifndef TOOL_BAKE_H
#define TOOL_BAKE_H

#include "load.h"

/* Every job begins with this. */
typedef struct job_head {
  bool large;  /* private: worth all threads */
  char *fault; /* private; NULL = none */
} job_head;

/* A file to be opened. */
typedef struct file_job {
  job_head head;
  const char *path;
  bool split;
  graze_assembly assembly;
} file_job;

typedef enum bake_stage {
  bake_mesh,     /* the mesh, of all triangles, with float coordinates where nothing is lost */
  bake_measured, /* facts that need no neighbours; the geometry is kept if it is not in an open file */
  bake_facts     /* all facts and no mesh */
} bake_stage;

/* A mesh to be made. */
typedef struct bake_job {
  job_head head;
  const char *path;               /* for messages */
  const graze_assembly *assembly; /* whose file has the geometry, as number: */
  uint32_t number;
  graze_geometry geometry; /* else, and freed as soon as it is baked */
  bake_stage stage;
  graze_mesh *mesh; /* what is made */
  graze_mesh_facts facts;
} bake_job;

/* Opens the file of each job. */
void bake_open(session *run, file_job *jobs, uint32_t count);

/* Reads the geometry of each job. */
void bake_read(session *run, bake_job *jobs, uint32_t count);

/* Makes what each job wants. Large ones one after another by all threads, small ones side by side. Meshes are taken
 * from the cache, and put there. */
void bake_meshes(session *run, bake_job *jobs, uint32_t count);

/* After the meshes are destroyed. */
void bake_end(session *run);

#endif
