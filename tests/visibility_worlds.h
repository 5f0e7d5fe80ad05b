/* tests/visibility_worlds.h: objects of triangles to cull, one world at a time. */
#ifndef GRAZE_TESTS_VISIBILITY_WORLDS_H
#define GRAZE_TESTS_VISIBILITY_WORLDS_H

#include "graze/visibility.h"
#include "support.h"

enum { MOST_OBJECTS = 40, MOST_TRIANGLES = 6000 };

typedef struct visibility_world {
  double corners[MOST_TRIANGLES][9];
  uint32_t first[MOST_OBJECTS + 1]; /* of each object */
  graze_pose poses[MOST_OBJECTS];
  graze_mesh *meshes[MOST_OBJECTS];
  graze_mesh_def arrays[MOST_OBJECTS];
  graze_visibility_object objects[MOST_OBJECTS];
  uint32_t count;
} visibility_world;

extern visibility_world world;

typedef struct maker {
  const char *name;
  void (*make)(uint64_t *state);
} maker;

/* The kinds of worlds; the last one has balls in touch with each other and an object without triangles. */
enum { MAKERS = 9 };
extern const maker makers[MAKERS];

/* Four triangles, each an object. */
void make_four(uint64_t *state);

/* Makes the world; every second object is given as arrays, the others as meshes. */
void make_world(graze_context *context, const maker *m, uint64_t seed);
void end_world(void);

/* Of corners that have been added by other means: makes the objects. */
void finish_world(graze_context *context);

/* The corners of one more object of the world that is being made. */
double *add_triangles(uint32_t count);

/* The culling of the world with the reference device. */
graze_visibility_def world_def(graze_visibility_mode mode, uint32_t resolution);
graze_visibility *reference(graze_context *context);
graze_visibility_result cull(graze_visibility *v, const graze_visibility_def *def);

/* The pair of objects a < b in a result; NULL: it is not there. */
const graze_visibility_pair *find_pair(const graze_visibility_result *r, uint32_t a, uint32_t b);

#endif
