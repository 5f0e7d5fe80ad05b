/* builder.h: a mesh that grows, and a scene that gathers meshes and objects. */
#ifndef SCENES_BUILDER_H
#define SCENES_BUILDER_H

#include "scenes.h"

/* Start from {0}. After a refused allocation everything is ignored until the builder is finished. */
typedef struct builder {
  scenes_mesh mesh;
  uint64_t vertex_capacity;
  uint64_t triangle_capacity;
  uint32_t part_capacity;
  bool failed;
} builder;

/* Room for what is still to come, in one go. */
void builder_reserve(builder *build, uint64_t vertices, uint64_t triangles);

/* The number of the new vertex. -0 becomes +0. */
uint32_t builder_vertex(builder *build, const double point[3]);
void builder_triangle(builder *build, uint32_t a, uint32_t b, uint32_t c);

/* Two triangles; corners anticlockwise seen from outside. */
void builder_quad(builder *build, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* What is built from here on belongs to the part `name`. */
void builder_part(builder *build, const char *name);

/* Makes vertices with the same coordinates one vertex, in order of first appearance. */
void builder_weld(builder *build);

/* Hands the mesh to the scene under a name; the builder is empty again. Returns the mesh's number in the scene. On a
 * failed builder, or when the scene cannot grow, false. */
bool scene_take_mesh(scenes_scene *scene, builder *build, const char *name, uint32_t *number);

extern const double identity_pose[12];

bool scene_add_object(scenes_scene *scene, const char *name, const char *layer, uint32_t mesh, const double pose[12]);

/* The same at a translation. */
bool scene_add_object_at(scenes_scene *scene, const char *name, const char *layer, uint32_t mesh, double x, double y,
                         double z);

/* In the order in which they are to stand. */
bool scene_add_move(scenes_scene *scene, const scenes_move *move);
bool scene_add_meeting(scenes_scene *scene, const scenes_meeting *meeting);

/* Says how the objects so far start as rigid bodies: all free to move, of steel, under gravity. */
bool scene_start_bodies(scenes_scene *scene, double friction);

#endif
