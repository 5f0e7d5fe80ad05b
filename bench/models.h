/* bench/models.h: the meshes of the workloads, by name. */
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H

#include "bench.h"

typedef struct model {
  char name[32];
  float *vertices;
  uint32_t *indices;
  uint32_t vertex_count, triangle_count;
} model;

/* Finds, reads or makes the mesh. False: its file is not there.
 *   from files (centre of the box at the origin, diagonal 1, float): bunny, armadillo, dragon200k
 *   one Loop step of them: armadillo346k, dragon
 *   made: sphere_out and sphere_in (radius 0.5 and 0.495), blob, knot, plane<N> (2 N^2 triangles), discs, cog
 *   NAME2x: NAME and its copy at the first deep pose, in one mesh */
bool model_get(const bench *b, const char *name, model *out);
void model_free(model *m);

/* Float coordinates at a pose, rounded once from double. */
model model_posed(const model *m, const double pose[12]);

/* The objects of a kind of scene (scenes/scenes.h) in turns, times `scale`: the first, third and so on are added to one
 * model, the others to the other. Size 0: the usual one. */
void models_of_scene(const char *name, uint32_t size, double scale, model both[2]);

void model_write(const model *m, const char *path);

graze_mesh *model_bake(const bench *b, const model *m, graze_volumes volumes, bool no_adjacency);

/* In read_models.c, where graze_io is: a file in the folder of meshes or its folder stanford, plain or packed. */
bool model_read(const bench *b, const char *file, model *m);

/* ---- shapes.c, plates.c and subdivide.c ---- */

model shape_icosphere(int level, double radius);
model shape_plane(uint32_t n);                     /* the wavy plane: a unit square with five harmonic waves */
model shape_blob(int level);                       /* a sphere with bumps of several lengths */
model shape_knot(uint32_t around, uint32_t along); /* a tube along a (2,3) torus knot */
model shape_discs(uint32_t around);                /* two round plates of slivers with narrow bores */
model shape_cog(uint32_t around);                  /* a cog of slivers with 40 teeth */
model loop_step(const model *m);
void model_normalise(model *m);
void model_clean(model *m); /* drops zero-area triangles, repeated triangles, unused vertices; keeps the order */

/* The sides of the wavy planes that are run, in squares; how many. */
size_t model_wave_sides(const bench *b, const uint32_t **sides);

#endif
