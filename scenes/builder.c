/* A growing indexed mesh. Shapes are emitted patch by patch with vertices of their own; weld then joins those that
 * fell on the same place to the last bit, through a hash table, so that closed shapes come out closed in the indices
 * as well. */
#include "builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double identity_pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

/* Room for `wanted` elements: `*capacity` grows by at least a half. */
static bool grow(void **array, uint64_t *capacity, uint64_t wanted, size_t element) {
  if (wanted <= *capacity) return true;
  uint64_t larger = *capacity + *capacity / 2 + 64;
  if (larger < wanted) larger = wanted;
  void *moved = realloc(*array, larger * element);
  if (!moved) return false;
  *array = moved;
  *capacity = larger;
  return true;
}

void builder_reserve(builder *build, uint64_t vertices, uint64_t triangles) {
  void *corners = build->mesh.vertices, *indices = build->mesh.indices;
  bool done = grow(&corners, &build->vertex_capacity, build->mesh.vertex_count + vertices, 3 * sizeof(double)) &&
              grow(&indices, &build->triangle_capacity, build->mesh.triangle_count + triangles, 3 * sizeof(uint32_t));
  build->mesh.vertices = corners;
  build->mesh.indices = indices;
  if (!done) build->failed = true;
}

uint32_t builder_vertex(builder *build, const double point[3]) {
  if (build->mesh.vertex_count == build->vertex_capacity) builder_reserve(build, 1, 0);
  if (build->failed) return 0;
  double *to = build->mesh.vertices + 3 * build->mesh.vertex_count;
  for (int k = 0; k < 3; k++) to[k] = point[k] + 0.0;
  return (uint32_t)build->mesh.vertex_count++;
}

void builder_triangle(builder *build, uint32_t a, uint32_t b, uint32_t c) {
  if (build->mesh.triangle_count == build->triangle_capacity) builder_reserve(build, 0, 1);
  if (build->failed) return;
  uint32_t *to = build->mesh.indices + 3 * build->mesh.triangle_count++;
  to[0] = a;
  to[1] = b;
  to[2] = c;
  if (build->mesh.part_count > 0) build->mesh.parts[build->mesh.part_count - 1].triangle_count++;
}

void builder_quad(builder *build, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  builder_triangle(build, a, b, c);
  builder_triangle(build, a, c, d);
}

void builder_part(builder *build, const char *name) {
  uint64_t capacity = build->part_capacity;
  void *parts = build->mesh.parts;
  if (!grow(&parts, &capacity, build->mesh.part_count + 1, sizeof(scenes_part))) build->failed = true;
  build->mesh.parts = parts;
  build->part_capacity = (uint32_t)capacity;
  if (build->failed) return;
  scenes_part *part = &build->mesh.parts[build->mesh.part_count++];
  snprintf(part->name, sizeof part->name, "%s", name);
  part->first_triangle = build->mesh.triangle_count;
  part->triangle_count = 0;
}

static uint64_t hash_point(const double point[3]) {
  uint64_t hash = 0;
  for (int k = 0; k < 3; k++) {
    uint64_t bits;
    memcpy(&bits, &point[k], sizeof bits);
    hash = (hash ^ bits) * 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 31;
  }
  return hash;
}

/* Fills to[v] with the new number of vertex v and moves the kept vertices together. Returns how many are kept. */
static uint64_t join_vertices(scenes_mesh *mesh, uint32_t *table, uint64_t mask, uint32_t *to) {
  const uint32_t none = UINT32_MAX;
  uint64_t kept = 0;
  memset(table, 0xff, (mask + 1) * sizeof *table);
  for (uint64_t v = 0; v < mesh->vertex_count; v++) {
    double *point = mesh->vertices + 3 * v;
    uint64_t slot = hash_point(point) & mask;
    while (table[slot] != none && memcmp(mesh->vertices + 3 * (uint64_t)table[slot], point, 3 * sizeof(double)) != 0)
      slot = (slot + 1) & mask;
    if (table[slot] == none) {
      memmove(mesh->vertices + 3 * kept, point, 3 * sizeof(double));
      table[slot] = (uint32_t)kept++;
    }
    to[v] = table[slot];
  }
  return kept;
}

void builder_weld(builder *build) {
  scenes_mesh *mesh = &build->mesh;
  if (build->failed || mesh->vertex_count == 0) return;
  uint64_t slots = 64;
  while (slots < 2 * mesh->vertex_count) slots *= 2;
  uint32_t *table = malloc(slots * sizeof *table), *to = malloc(mesh->vertex_count * sizeof *to);
  if (table && to) {
    mesh->vertex_count = join_vertices(mesh, table, slots - 1, to);
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++) mesh->indices[i] = to[mesh->indices[i]];
  } else {
    build->failed = true;
  }
  free(table);
  free(to);
}

static void builder_empty(builder *build) {
  free(build->mesh.vertices);
  free(build->mesh.indices);
  free(build->mesh.parts);
  *build = (builder){0};
}

bool scene_take_mesh(scenes_scene *scene, builder *build, const char *name, uint32_t *number) {
  scenes_mesh *meshes = NULL;
  if (!build->failed) meshes = realloc(scene->meshes, (scene->mesh_count + 1) * sizeof *meshes);
  if (!meshes) {
    builder_empty(build);
    return false;
  }
  scene->meshes = meshes;
  snprintf(build->mesh.name, sizeof build->mesh.name, "%s", name);
  *number = scene->mesh_count;
  meshes[scene->mesh_count++] = build->mesh;
  *build = (builder){0};
  return true;
}

bool scene_add_object(scenes_scene *scene, const char *name, const char *layer, uint32_t mesh, const double pose[12]) {
  uint64_t count = scene->object_count;
  if ((count & (count - 1)) == 0) { /* full: the room is always a power of two */
    scenes_object *objects = realloc(scene->objects, (count ? 2 * count : 1) * sizeof *objects);
    if (!objects) return false;
    scene->objects = objects;
  }
  scenes_object *object = &scene->objects[scene->object_count++];
  snprintf(object->name, sizeof object->name, "%s", name);
  snprintf(object->layer, sizeof object->layer, "%s", layer);
  object->mesh = mesh;
  memcpy(object->pose, pose, sizeof object->pose);
  return true;
}

bool scene_add_object_at(scenes_scene *scene, const char *name, const char *layer, uint32_t mesh, double x, double y,
                         double z) {
  double pose[12];
  memcpy(pose, identity_pose, sizeof pose);
  pose[3] = x;
  pose[7] = y;
  pose[11] = z;
  return scene_add_object(scene, name, layer, mesh, pose);
}

/* Room for one more element of an array whose room is always a power of two. */
static void *make_room(void *array, uint64_t count, size_t size) {
  return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

bool scene_add_move(scenes_scene *scene, const scenes_move *move) {
  scenes_move *moves = make_room(scene->moves, scene->move_count, sizeof *moves);
  if (!moves) return false;
  scene->moves = moves;
  moves[scene->move_count++] = *move;
  return true;
}

bool scene_add_meeting(scenes_scene *scene, const scenes_meeting *meeting) {
  scenes_meeting *meetings = make_room(scene->meetings, scene->meeting_count, sizeof *meetings);
  if (!meetings) return false;
  scene->meetings = meetings;
  meetings[scene->meeting_count++] = *meeting;
  return true;
}

bool scene_start_bodies(scenes_scene *scene, double friction) {
  scenes_run *run = &scene->run;
  run->starts = calloc(scene->object_count + 1, sizeof *run->starts);
  run->gravity[2] = -9.81;
  run->friction = friction;
  run->density = 7800;
  return run->starts != NULL;
}
