/* The inside of a scene. */
#ifndef GRAZE_SRC_SCENE_SCENE_H
#define GRAZE_SRC_SCENE_SCENE_H

#include "base/context.h"
#include "base/parallel.h"
#include "graze/broadphase.h"
#include "graze/scene.h"
#include "mesh/mesh.h"
#include "scene/rules.h"
#include "scene/shapes.h"

#define NO_OBJECT UINT32_MAX

typedef struct object {
  const graze_mesh *mesh;          /* NULL: not loaded, */
  const graze_mesh_source *source; /* and to be had here */
  bool needed;                     /* gz_sources_load is to load it */
  double radius;                   /* above 0: it is round, and the mesh is its core, */
  bool flat;                       /* with flat ends */
  graze_pose pose;
  double center[3]; /* of rigid motions, in the mesh */
  uint64_t user_id;
  char *name; /* NULL: the place is free */
  size_t name_bytes;
  uint32_t layer;         /* number of the layer; 0 = none */
  uint32_t generation;    /* of the id that is, or was last, given out */
  uint64_t serial;        /* in the order of adding; never given out again */
  uint64_t geometry_hash; /* of the mesh when it was last looked at */
  uint32_t recorded;      /* number of the mesh in the record */
  double reach;           /* by half of which its box is grown */
  bool travels;           /* it has been moved since the last update, */
  graze_pose then;        /* from here */
  uint32_t previous;      /* in the order of adding; a free place has `next` only */
  uint32_t next;
} object;

typedef struct layer_name {
  char *name;
  size_t bytes;
} layer_name;

typedef struct ignored_pair {
  graze_object_id first;
  graze_object_id second;
} ignored_pair;

/* What the exact query said about one candidate. */
typedef struct outcome {
  graze_counts counts;
  graze_work work;
  uint64_t list;         /* place of its first triangle pair in the scene's list */
  graze_outline outline; /* without its arrays, which begin at: */
  uint64_t points, starts;
  uint32_t worker; /* whose list it is, until the lists are put together */
  graze_status status;
  bool finished;
  bool apart; /* an engine has proved that the surfaces do not meet */
  graze_verdict verdict;
  graze_gap gap;
} outcome;

/* What pairs of objects list. */
typedef struct task_list {
  buffer pairs; /* graze_triangle_pair */
  uint64_t count;
  buffer points; /* double[3] */
  uint64_t point_count;
  buffer starts; /* uint32_t */
  uint64_t start_count;
} task_list;

/* What a worker of the loop over candidates has to itself. */
typedef struct scene_worker {
  graze_query *query; /* made when first needed */
  task_list list;     /* of a batch, and where it begins among those of all: */
  uint64_t first, first_point, first_start;
} scene_worker;

typedef struct live_scene live_scene;
typedef struct recorder recorder;

struct graze_scene {
  graze_context *context;

  buffer objects;
  uint32_t places; /* objects and free places */
  uint32_t count;
  uint32_t oldest, newest, free;
  buffer listed; /* graze_object_id, for the caller */

  buffer layers; /* layer_name, from number 1 on */
  uint32_t layer_count;
  buffer layer_table; /* numbers by hash; 0 = empty */
  uint32_t layer_slots;
  buffer ignored;
  uint64_t ignored_count;
  buffer ignored_layers; /* keys of pair_key */
  uint64_t ignored_layer_count;

  /* Made again when objects or rules have changed. */
  bool prepared;
  filter rules;
  buffer order;  /* place of the object, by rank in the order of adding */
  buffer rank;   /* by place */
  buffer layer;  /* by rank */
  buffer census; /* objects of each layer */
  uint64_t object_pairs;
  uint64_t ignored_pairs;

  uint64_t serials; /* given out so far */
  live_scene *live; /* NULL before the first check or update */
  recorder *recorder;
  buffer owned; /* graze_mesh *: of a scene that came from a file */
  uint32_t owned_count;

  /* Check. */
  buffer wanted;   /* pair_key of each candidate that the caller's filter let through, ascending, */
  buffer unwanted; /* and of the others */
  uint64_t unwanted_count;
  scene_shapes shapes;
  bool shapes_listed; /* of the objects that there are, since they were last looked at */
  buffer outcomes;
  buffer clearances; /* of the candidates, where some are asked for */
  buffer schedule;   /* numbers of candidates, heaviest first, and scratch for sorting */
  buffer asked;      /* what an engine is asked with */
  task_list all;     /* lists of all batches so far */
  buffer results;
  graze_query *query;    /* with all threads, for single heavy pairs */
  scene_worker *workers; /* gz_workers of the context, made when first needed */
};

static inline object *scene_object(const graze_scene *scene, uint32_t place) {
  return (object *)scene->objects.data + place;
}

/* The object of the given rank in the order of adding; gz_scene_prepare first. */
static inline object *scene_ranked(const graze_scene *scene, uint32_t rank) {
  return scene_object(scene, ((const uint32_t *)scene->order.data)[rank]);
}

/* Other than the frame's origin. */
static inline bool has_center(const object *o) {
  return o->center[0] != 0 || o->center[1] != 0 || o->center[2] != 0;
}

static inline uint64_t object_triangles(const object *o) {
  return o->mesh != NULL ? o->mesh->triangle_count : o->source->facts.triangles;
}

/* Loads the meshes of objects that are `needed`, and takes the mark off. Errors: what a source says (of the first
 * object, which is named), ARGUMENT, FORMAT, MEMORY; what could be loaded stays. */
graze_status gz_sources_load(graze_scene *scene);

/* Loads what these pairs of ranks, or all objects, need. */
graze_status gz_sources_load_pairs(graze_scene *scene, const uint64_t *keys, uint64_t count);
graze_status gz_sources_load_all(graze_scene *scene);

/* Ranks, rules and the count of ignored pairs. */
graze_status gz_scene_prepare(graze_scene *scene);

/* The number of a layer, made when it is new; 0 for "" and NULL. UINT32_MAX: no memory. */
uint32_t gz_scene_layer_number(graze_scene *scene, const char *name);

/* How messages call an object: its name in quotes, or its number in the order of adding. */
const char *gz_scene_object_label(const graze_scene *scene, uint32_t rank, char text[96]);

#endif
