/* load.h: from files to baked meshes and named objects. Faults end the program with exit 3. */
#ifndef TOOL_LOAD_H
#define TOOL_LOAD_H

#include "graze/graze.h"
#include "graze/io.h"
#include "options.h"

/* The context that a run works in, and the clock of its stages. */
typedef struct session {
  graze_context *context;
  struct graze_gpu *gpu; /* engine.c: the engine of the context; NULL: the processor alone */
  int threads;
  bool quiet;
  bool tells;                 /* what the library says of its choices is noted */
  bool lazy;                  /* meshes in open files are measured, and baked when they are asked for, */
  bool hold;                  /* and so are those whose geometry must be in memory till then */
  const char *cache;          /* folder of baked meshes; NULL: none */
  struct bake_worker *makers; /* bake.c: a context of one thread for each thread */
  uint32_t maker_count;
  double load_seconds, build_seconds, query_seconds;
  char message[512]; /* of the last failed call */
} session;

void session_begin(session *run, const common_options *common);
void session_end(session *run);

/* engine.c: gives the context the engine that was asked for, before anything else is made with it; ends the program
 * when the device that was asked for is not there. */
void session_attach(session *run, const common_options *common);
void session_detach(session *run);
/* "gpu" when a device answered, else "cpu". */
const char *session_engine(const session *run);

/* Ends the program with the message of the call that failed; `what` (may be NULL) names the file. */
_Noreturn void session_fail(const session *run, const char *what, graze_status status);

/* Seconds since some moment. */
double clock_seconds(void);

/* Adds the time since `start`; totals are whole nanoseconds, so that they print short. */
void clock_add(double *total, double start);

typedef struct model_mesh {
  const char *path;
  graze_mesh *mesh;               /* NULL: not baked, */
  graze_mesh_facts facts;         /* and where `adjacency` is not set, not all of these are known; */
  const graze_assembly *assembly; /* the geometry is in its file, */
  uint32_t number;                /* as this mesh of it, */
  graze_geometry geometry;        /* or here */
} model_mesh;

typedef struct model_object {
  char *name;
  const char *layer;
  uint32_t mesh;
  graze_pose pose; /* times the factor, */
  double factor;   /* by which the units of its file are converted */
} model_object;

graze_pose model_scaled(const graze_pose *pose, double factor);

typedef struct model {
  model_mesh *meshes;
  uint32_t mesh_count;
  model_object *objects;
  uint32_t object_count;
  graze_scene_file file; /* of a scene.json: ignore rules, and the owner of paths and layers */
  char **layers;         /* made from the names of files */
  uint32_t layer_count;
  const char *units; /* of every coordinate after the pose: a word of unit_names, or as a scene says; "" = not known */
  void *names;       /* search tree of the objects' names; NULL: the one file of all objects has made them differ */
  graze_assembly **open; /* files that still have geometry to read */
  uint32_t open_count;
} model;

/* Each file one mesh and one object named after it; an assembly is joined. */
void model_load_meshes(session *run, model *all, const file_list *files);

/* Each object of an assembly, and each other file as one object named after it; with `split` one object for each group
 * that such a file names. With several files, a file's objects are a layer named after it. */
void model_load_files(session *run, model *all, const file_list *files, bool split, const char *units);
void model_load_scene(session *run, model *all, const char *path, const char *units);

/* Units that can be converted, NULL at the end. `units` above: what the model is to be in, and what files are in that
 * do not say; NULL: as the files say, which must then agree. Nothing is guessed. */
extern const char *const unit_names[];
/* Bakes the meshes that are wanted and have not been baked. Of the others all `facts` are found out if they are asked
 * for. Ends the reading of files. */
void model_bake(session *run, model *all, const bool *wanted, bool facts);
void model_free(model *all);

/* The file's name without folders and ending; "name#2" and so on when `names` (a search tree) has it already. The
 * caller frees it after the tree. */
char *unique_name(void **names, const char *wanted);
char *file_stem(const char *path);

#endif
