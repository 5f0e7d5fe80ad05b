/* Writing made scenes: a folder with one OBJ for each mesh, an OBJ with all objects where they stand, or a GLB with the
 * meshes once and a node for each object. */
#include "scene_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/graze.h"
#include "graze/io.h"
#include "output.h"
#include "scene_bodies.h"
#include "session.h"

static void note_file(written *done, const char *path, uint64_t triangles) {
  table_text(&done->files, path);
  table_integer(&done->files, triangles);
  done->triangles += triangles;
}

/* A file without triangles. */
static void note_text(written *done, const char *path) {
  table_text(&done->files, path);
  table_text(&done->files, "");
}

/* ---- OBJ --------------------------------------------------------------------------------------------------- */

static void write_obj(const char *path, const graze_geometry *geometry, written *done) {
  must(done->context, graze_write_obj(done->context, path, geometry));
  note_file(done, path, geometry->triangle_count);
}

static graze_geometry geometry_of(const scenes_mesh *mesh) {
  return (graze_geometry){.vertices = mesh->vertices,
                          .vertex_count = mesh->vertex_count,
                          .indices = mesh->indices,
                          .triangle_count = mesh->triangle_count};
}

/* A mesh with its parts as groups. */
static void write_mesh(const char *path, const scenes_mesh *mesh, written *done) {
  graze_io_group *groups = calloc(mesh->part_count + 1, sizeof *groups);
  if (!groups) fail_out_of_memory();
  for (uint32_t i = 0; i < mesh->part_count; i++) {
    const scenes_part *part = &mesh->parts[i];
    groups[i] = (graze_io_group){part->name, (uint32_t)part->first_triangle, (uint32_t)part->triangle_count};
  }
  graze_geometry geometry = geometry_of(mesh);
  geometry.groups = groups;
  geometry.group_count = mesh->part_count;
  write_obj(path, &geometry, done);
  free(groups);
}

static char *join_path(const char *folder, const char *name, const char *ending) {
  char *path = NULL;
  size_t length = strlen(folder);
  if (asprintf(&path, "%s%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name, ending) < 0)
    fail_out_of_memory();
  return path;
}

static gz_json open_document(const char *path) {
  gz_json writer = gz_json_begin(output_open(path), false);
  gz_json_integer(&writer, "graze", 1);
  return writer;
}

static void close_document(gz_json *writer, const char *path, written *done) {
  gz_json_end(writer);
  output_close(writer->text);
  note_text(done, path);
}

void write_scene_object(gz_json *writer, const scenes_scene *scene, uint32_t number) {
  const scenes_object *object = &scene->objects[number];
  char file[64];
  snprintf(file, sizeof file, "%s.obj", scene->meshes[object->mesh].name);
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", object->name);
  gz_json_text(writer, "mesh", file);
  gz_json_doubles(writer, "pose", object->pose, 12);
  gz_json_text(writer, "layer", object->layer);
  if (scene->run.starts) scene_put_body(writer, &scene->run, number);
  gz_json_close(writer);
}

static void write_scene(const char *path, const scenes_scene *scene, written *done) {
  gz_json writer = open_document(path);
  gz_json_text(&writer, "units", "m");
  if (scene->run.starts) scene_put_simulation(&writer, scene);
  gz_json_open(&writer, "objects", '[');
  for (uint32_t i = 0; i < scene->object_count; i++) write_scene_object(&writer, scene, i);
  gz_json_close(&writer);
  close_document(&writer, path, done);
}

/* ---- what is known of the planted pairs ---------------------------------------------------------------------- */

static void write_truth_pair(gz_json *writer, const scenes_scene *scene, const scenes_pair *pair) {
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "a", scene->objects[pair->a].name);
  gz_json_text(writer, "b", scene->objects[pair->b].name);
  gz_json_text(writer, "relation", pair->relation);
  gz_json_bool(writer, "surfaces_meet", pair->surfaces_meet);
  gz_json_text(writer, "construction", pair->construction);
  if (pair->gap > 0) gz_json_double(writer, "gap", pair->gap);
  gz_json_close(writer);
}

/* Only for scenes that say what they hold. */
static void write_truth(const char *path, const scenes_scene *scene, written *done) {
  gz_json writer = open_document(path);
  gz_json_open(&writer, "pairs", '[');
  for (uint32_t i = 0; i < scene->pair_count; i++) write_truth_pair(&writer, scene, &scene->pairs[i]);
  gz_json_close(&writer);
  gz_json_text(&writer, "all others", "separate");
  close_document(&writer, path, done);
}

/* ---- motion ------------------------------------------------------------------------------------------------ */

static void write_motion(const char *path, const scenes_scene *scene, written *done) {
  output *out = output_open(path);
  gz_put_text(out, "step,object,m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23\n");
  for (uint32_t i = 0; i < scene->move_count; i++) {
    const scenes_move *move = &scene->moves[i];
    gz_put_integer(out, move->step);
    gz_put_text(out, ",");
    write_csv_field(out, scene->objects[move->object].name);
    for (int k = 0; k < 12; k++) {
      gz_put_text(out, ",");
      gz_put_double(out, move->pose[k]);
    }
    gz_put_text(out, "\n");
  }
  output_close(out);
  note_text(done, path);
}

/* What meets at which step. */
static void write_meetings(const char *path, const scenes_scene *scene, written *done) {
  gz_json writer = open_document(path);
  gz_json_integer(&writer, "last_step", scene->last_step);
  gz_json_open(&writer, "meetings", '[');
  for (uint32_t i = 0; i < scene->meeting_count; i++) {
    const scenes_meeting *meeting = &scene->meetings[i];
    gz_json_open(&writer, NULL, '{');
    gz_json_integer(&writer, "step", meeting->step);
    gz_json_text(&writer, "a", scene->objects[meeting->a].name);
    gz_json_text(&writer, "b", scene->objects[meeting->b].name);
    gz_json_text(&writer, "relation", meeting->relation);
    gz_json_close(&writer);
  }
  gz_json_close(&writer);
  gz_json_text(&writer, "all others", "separate");
  close_document(&writer, path, done);
}

/* ---- folder, OBJ and GLB --------------------------------------------------------------------------------------- */

void write_scene_meshes(const char *folder, const scenes_scene *scene, written *done) {
  for (uint32_t i = 0; i < scene->mesh_count; i++) {
    char *path = join_path(folder, scene->meshes[i].name, ".obj");
    write_mesh(path, &scene->meshes[i], done);
    free(path);
  }
}

static void write_folder(const char *folder, const scenes_scene *scene, written *done) {
  struct stat facts;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail("%s: cannot make the folder: %s", folder, strerror(errno));
  if (stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode)) fail("%s: exists and is not a folder", folder);
  write_scene_meshes(folder, scene, done);
  char *path = join_path(folder, "scene", ".json");
  write_scene(path, scene, done);
  free(path);
  if (scene->moves) {
    path = join_path(folder, "motion", ".csv");
    write_motion(path, scene, done);
    free(path);
  }
  if (!scene->pairs && !scene->moves) return;
  path = join_path(folder, "truth", ".json");
  if (scene->moves)
    write_meetings(path, scene, done);
  else
    write_truth(path, scene, done);
  free(path);
}

static void append_object(graze_geometry *whole, const scenes_scene *scene, const scenes_object *object) {
  const scenes_mesh *mesh = &scene->meshes[object->mesh];
  graze_pose pose;
  memcpy(pose.m, object->pose, sizeof pose.m);
  for (uint64_t v = 0; v < mesh->vertex_count; v++)
    graze_pose_apply(&pose, mesh->vertices + 3 * v, whole->vertices + 3 * (whole->vertex_count + v));
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
    whole->indices[3 * whole->triangle_count + i] = (uint32_t)(whole->vertex_count + mesh->indices[i]);
  whole->groups[whole->group_count++] =
      (graze_io_group){object->name, (uint32_t)whole->triangle_count, (uint32_t)mesh->triangle_count};
  whole->vertex_count += mesh->vertex_count;
  whole->triangle_count += mesh->triangle_count;
}

/* All objects in one file, each a group, at their poses. */
static void write_single(const char *path, const scenes_scene *scene, written *done) {
  graze_geometry whole = {0};
  uint64_t vertices = 0, triangles = 0;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    vertices += scene->meshes[scene->objects[i].mesh].vertex_count;
    triangles += scene->meshes[scene->objects[i].mesh].triangle_count;
  }
  if (vertices > UINT32_MAX || triangles > UINT32_MAX) fail("%s: too many triangles for one file", path);
  whole.vertices = malloc(3 * vertices * sizeof *whole.vertices);
  whole.indices = malloc(3 * triangles * sizeof *whole.indices);
  whole.groups = malloc(scene->object_count * sizeof *whole.groups);
  if (!whole.vertices || !whole.indices || !whole.groups) fail_out_of_memory();
  for (uint32_t i = 0; i < scene->object_count; i++) append_object(&whole, scene, &scene->objects[i]);
  write_obj(path, &whole, done);
  free(whole.vertices);
  free(whole.indices);
  free(whole.groups);
}

static void write_glb(const char *path, const scenes_scene *scene, written *done) {
  graze_assembly whole = {.mesh_count = scene->mesh_count, .object_count = scene->object_count};
  uint64_t triangles = 0;
  whole.meshes = calloc(scene->mesh_count + 1, sizeof *whole.meshes);
  whole.objects = calloc(scene->object_count + 1, sizeof *whole.objects);
  if (!whole.meshes || !whole.objects) fail_out_of_memory();
  for (uint32_t i = 0; i < scene->mesh_count; i++) {
    whole.meshes[i] = (graze_assembly_mesh){scene->meshes[i].name, geometry_of(&scene->meshes[i])};
    triangles += scene->meshes[i].triangle_count;
  }
  for (uint32_t i = 0; i < scene->object_count; i++) {
    whole.objects[i] = (graze_assembly_object){.name = scene->objects[i].name, .mesh = scene->objects[i].mesh};
    memcpy(whole.objects[i].pose.m, scene->objects[i].pose, sizeof whole.objects[i].pose.m);
  }
  must(done->context, graze_write_glb(done->context, path, &whole));
  note_file(done, path, triangles);
  free(whole.meshes);
  free(whole.objects);
}

static bool ends_in(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

static void write_beside(const char *path, const char *ending,
                         void (*write)(const char *path, const scenes_scene *scene, written *done),
                         const scenes_scene *scene, written *done) {
  char *beside = NULL;
  if (asprintf(&beside, "%s%s", path, ending) < 0) fail_out_of_memory();
  write(beside, scene, done);
  free(beside);
}

void write_scene_files(const char *path, const scenes_scene *scene, written *done) {
  const bool obj = ends_in(path, ".obj");
  if (obj && scene->moves) fail("%s: an OBJ file has no poses that could move; take a folder or .glb", path);
  if (!obj && !ends_in(path, ".glb")) {
    write_folder(path, scene, done);
    return;
  }
  if (obj)
    write_single(path, scene, done);
  else
    write_glb(path, scene, done);
  if (scene->moves) {
    write_beside(path, ".motion.csv", write_motion, scene, done);
    write_beside(path, ".truth.json", write_meetings, scene, done);
  }
  if (scene->pairs) write_beside(path, ".truth.json", write_truth, scene, done);
}
