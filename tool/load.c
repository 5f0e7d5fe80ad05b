/* Files to meshes and objects. Geometry is freed as soon as it is baked, so that a large scene is in memory once. */
#include "load.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bake.h"
#include "diagnostics.h"

/* ---- session ----------------------------------------------------------------------------------------------- */

static void keep_message(void *user, graze_log_level level, const char *message) {
  session *run = user;
  if (level == GRAZE_LOG_ERROR) snprintf(run->message, sizeof run->message, "%s", message);
  if (level == GRAZE_LOG_WARNING) note("%s", message);
}

void session_begin(session *run, const common_options *common) {
  memset(run, 0, sizeof *run);
  graze_context_def def = graze_default_context_def();
  def.log = keep_message;
  def.log_user = run;
  def.threads = common->threads;
  run->threads = common->threads;
  run->quiet = common->quiet;
  graze_status status = graze_context_create(&def, &run->context);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
}

void session_end(session *run) {
  bake_end(run);
  graze_context_destroy(run->context);
}

_Noreturn void session_fail(const session *run, const char *what, graze_status status) {
  const char *message = run->message[0] ? run->message : graze_status_string(status);
  if (what) fail("%s: %s", what, message);
  fail("%s", message);
}

double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void clock_add(double *total, double start) {
  *total = round((*total + (clock_seconds() - start)) * 1e9) / 1e9;
}

/* ---- the model --------------------------------------------------------------------------------------------- */

/* Room for one more element of an array whose capacity is the next power of two. */
static void *grow(void *array, uint32_t count, size_t size) {
  if (count & (count - 1)) return array;
  void *larger = realloc(array, (count ? 2 * (size_t)count : 1) * size);
  if (!larger) fail_out_of_memory();
  return larger;
}

static uint32_t add_mesh(model *all, const bake_job *job) {
  all->meshes = grow(all->meshes, all->mesh_count, sizeof *all->meshes);
  model_mesh *added = &all->meshes[all->mesh_count];
  added->path = job->path;
  added->mesh = job->mesh;
  graze_mesh_get_facts(added->mesh, &added->facts);
  return all->mesh_count++;
}

/* A mesh of each file. The geometry of a few files at a time is in memory. */
static void add_files(session *run, model *all, const char *const *paths, uint32_t count) {
  enum { FILES_AT_ONCE = 64 };
  bake_job *jobs = calloc(FILES_AT_ONCE, sizeof *jobs);
  if (!jobs) fail_out_of_memory();
  for (uint32_t first = 0; first < count; first += FILES_AT_ONCE) {
    uint32_t some = count - first < FILES_AT_ONCE ? count - first : FILES_AT_ONCE;
    for (uint32_t i = 0; i < some; i++) jobs[i] = (bake_job){.path = paths[first + i]};
    bake_read(run, jobs, some);
    bake_meshes(run, jobs, some);
    for (uint32_t i = 0; i < some; i++) add_mesh(all, &jobs[i]);
  }
  free(jobs);
}

static void add_object(model *all, const char *name, const char *layer, uint32_t mesh, const graze_pose *pose) {
  all->objects = grow(all->objects, all->object_count, sizeof *all->objects);
  all->objects[all->object_count++] = (model_object){unique_name(&all->names, name), layer, mesh, *pose};
}

static int compare_names(const void *a, const void *b) {
  return strcmp(a, b);
}

char *unique_name(void **names, const char *wanted) {
  char *name = strdup(wanted);
  for (unsigned number = 2; name && tfind(name, names, compare_names); number++) {
    free(name);
    if (asprintf(&name, "%s#%u", wanted, number) < 0) name = NULL;
  }
  if (!name || !tsearch(name, names, compare_names)) fail_out_of_memory();
  return name;
}

char *file_stem(const char *path) {
  const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path, *dot = strrchr(start, '.');
  char *stem = strndup(start, dot && dot > start ? (size_t)(dot - start) : strlen(start));
  if (!stem) fail_out_of_memory();
  return stem;
}

void model_load_meshes(session *run, model *all, const file_list *files) {
  const graze_pose identity = graze_pose_identity();
  memset(all, 0, sizeof *all);
  all->units = "";
  add_files(run, all, (const char *const *)files->names, files->count);
  for (uint32_t i = 0; i < files->count; i++) {
    char *stem = file_stem(files->names[i]);
    add_object(all, stem, "", i, &identity);
    free(stem);
  }
}

/* ---- units ------------------------------------------------------------------------------------------------- */

const char *const unit_names[] = {"m", "mm", "cm", "in", "ft", NULL};
static const double unit_metres[] = {1, 0.001, 0.01, 0.0254, 0.3048};

/* Metres in a unit; 0: not known here. */
static double metres(const char *units) {
  for (int i = 0; unit_names[i]; i++) {
    if (strcmp(unit_names[i], units) == 0) return unit_metres[i];
  }
  return 0;
}

/* What lengths of a file must be multiplied by, given what it says of itself ("" = nothing). The first file that says
 * something sets the model's units unless they were asked for. */
static double unit_factor(model *all, const char *path, const char *own, const char *asked) {
  if (asked) {
    all->units = asked;
    if (!*own || strcmp(own, asked) == 0) return 1;
    if (metres(own) == 0) fail("%s: its units are \"%s\", which cannot be converted to %s", path, own, asked);
    note("%s: converted from %s to %s", path, own, asked);
    /* One rounding where the ratio of the units is a whole number. */
    double ratio = metres(own) / metres(asked), inverse = metres(asked) / metres(own);
    return ratio >= 1 ? (fabs(ratio - round(ratio)) < 1e-9 * ratio ? round(ratio) : ratio)
                      : 1 / (fabs(inverse - round(inverse)) < 1e-9 * inverse ? round(inverse) : inverse);
  }
  if (all->object_count == 0) all->units = own;
  if (strcmp(all->units, own) == 0) return 1;
  const char *name = *own ? own : "not known", *others = *all->units ? all->units : "not known";
  fail("%s: its units are %s, those of the files before are %s; --units says what to convert to", path, name, others);
}

static graze_pose scaled(const graze_pose *pose, double factor) {
  graze_pose out = *pose;
  for (int k = 0; k < 12 && factor != 1; k++) out.m[k] *= factor;
  return out;
}

/* ---- assemblies -------------------------------------------------------------------------------------------- */

static void load_assembly(session *run, const char *path, bool split, graze_assembly *assembly) {
  graze_io_error error;
  double start = clock_seconds();
  uint64_t triangles = 0;
  if (graze_read_assembly(path, GRAZE_FORMAT_AUTO, split, run->threads, assembly, &error) != GRAZE_OK)
    fail("%s", error.message);
  for (uint32_t i = 0; i < assembly->object_count; i++)
    triangles += assembly->meshes[assembly->objects[i].mesh].geometry.triangle_count;
  if (triangles == 0) note("%s: no triangles", path);
  if (assembly->left_out > 0) note("%s: points and lines are left out (%" PRIu64 ")", path, assembly->left_out);
  clock_add(&run->load_seconds, start);
}

/* Bakes the meshes that have objects, each once, and frees what is baked. */
static void add_assembly(session *run, model *all, const char *path, const char *layer, double factor,
                         graze_assembly *assembly) {
  uint32_t *numbers = malloc(((size_t)assembly->mesh_count + 1) * sizeof *numbers), count = 0;
  bake_job *jobs = calloc((size_t)assembly->mesh_count + 1, sizeof *jobs);
  if (!numbers || !jobs) fail_out_of_memory();
  memset(numbers, 0xff, ((size_t)assembly->mesh_count + 1) * sizeof *numbers);
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    uint32_t mesh = assembly->objects[i].mesh;
    if (numbers[mesh] != UINT32_MAX) continue;
    numbers[mesh] = all->mesh_count + count;
    jobs[count++] = (bake_job){.path = path, .geometry = assembly->meshes[mesh].geometry};
    assembly->meshes[mesh].geometry = (graze_geometry){0}; /* the job frees it */
  }
  bake_meshes(run, jobs, count);
  for (uint32_t i = 0; i < count; i++) add_mesh(all, &jobs[i]);
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    const graze_assembly_object *object = &assembly->objects[i];
    graze_pose pose = scaled(&object->pose, factor);
    add_object(all, object->name, layer, numbers[object->mesh], &pose);
  }
  free(numbers);
  free(jobs);
}

static bool holds_one_mesh(const graze_assembly *assembly) {
  return assembly->format < GRAZE_FORMAT_GLTF;
}

/* The layer of a file's objects is the file's name, when there are several files. */
static const char *add_layer(model *all, const char *path) {
  all->layers = grow(all->layers, all->layer_count, sizeof *all->layers);
  all->layers[all->layer_count] = file_stem(path);
  return all->layers[all->layer_count++];
}

void model_load_files(session *run, model *all, const file_list *files, bool split, const char *units) {
  memset(all, 0, sizeof *all);
  all->units = "";
  for (uint32_t i = 0; i < files->count; i++) {
    const char *path = files->names[i];
    graze_assembly assembly;
    load_assembly(run, path, split, &assembly);
    if (files->count == 1 && !split && holds_one_mesh(&assembly))
      fail("%s is one object; `graze self' checks it against itself", path);
    double factor = unit_factor(all, path, assembly.units, units);
    add_assembly(run, all, path, files->count > 1 ? add_layer(all, path) : "", factor, &assembly);
    graze_assembly_free(&assembly);
  }
}

/* ---- scene files ------------------------------------------------------------------------------------------- */

typedef struct mesh_key { /* which mesh a path becomes */
  const char *path;
  uint32_t mesh;
} mesh_key;

static int compare_keys(const void *a, const void *b) {
  return strcmp(((const mesh_key *)a)->path, ((const mesh_key *)b)->path);
}

/* Numbers the distinct paths in their order: objects that name the same path share the mesh. */
static uint32_t list_paths(const graze_scene_file *file, const char **paths, uint32_t *numbers) {
  void *tree = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < file->object_count; i++) {
    mesh_key *wanted = malloc(sizeof *wanted);
    if (!wanted) fail_out_of_memory();
    *wanted = (mesh_key){file->objects[i].mesh, count};
    mesh_key **known = tsearch(wanted, &tree, compare_keys);
    if (!known) fail_out_of_memory();
    numbers[i] = (*known)->mesh;
    if (*known == wanted)
      paths[count++] = wanted->path;
    else
      free(wanted);
  }
  tdestroy(tree, free);
  return count;
}

void model_load_scene(session *run, model *all, const char *path, const char *units) {
  graze_io_error error;
  memset(all, 0, sizeof *all);
  double start = clock_seconds();
  if (graze_read_scene(path, &all->file, &error) != GRAZE_OK) fail("%s", error.message);
  clock_add(&run->load_seconds, start);
  double factor = unit_factor(all, path, all->file.units, units);
  const char **paths = malloc(((size_t)all->file.object_count + 1) * sizeof *paths);
  uint32_t *numbers = malloc(((size_t)all->file.object_count + 1) * sizeof *numbers);
  if (!paths || !numbers) fail_out_of_memory();
  add_files(run, all, paths, list_paths(&all->file, paths, numbers));
  for (uint32_t i = 0; i < all->file.object_count; i++) {
    const graze_scene_file_object *object = &all->file.objects[i];
    graze_pose pose = scaled(&object->pose, factor);
    add_object(all, object->name, object->layer, numbers[i], &pose);
  }
  free(paths);
  free(numbers);
}

static void keep(void *node) {
  (void)node;
}

void model_free(model *all) {
  tdestroy(all->names, keep);
  for (uint32_t i = 0; i < all->mesh_count; i++) graze_mesh_destroy(all->meshes[i].mesh);
  for (uint32_t i = 0; i < all->object_count; i++) free(all->objects[i].name);
  for (uint32_t i = 0; i < all->layer_count; i++) free(all->layers[i]);
  free(all->layers);
  free(all->meshes);
  free(all->objects);
  graze_scene_file_free(&all->file);
}
