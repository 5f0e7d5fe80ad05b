/* Files to meshes and objects. Geometry is read mesh by mesh where the format allows it, and freed as soon as it is
 * baked, so that a large scene is in memory once at most. With `lazy` a mesh is only measured at first: which ones a
 * check needs is known when the boxes of all objects are. */
#include "load.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bake.h"
#include "diagnostics.h"

/* ---- session ----------------------------------------------------------------------------------------------- */

static void keep_message(void *user, graze_log_level level, const char *message) {
  session *run = user;
  if (level == GRAZE_LOG_ERROR) snprintf(run->message, sizeof run->message, "%s", message);
  if (level == GRAZE_LOG_WARNING || (level == GRAZE_LOG_INFO && run->tells)) note("%s", message);
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
  session_detach(run);
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
  all->meshes[all->mesh_count] = (model_mesh){.path = job->path,
                                              .mesh = job->mesh,
                                              .facts = job->facts,
                                              .assembly = job->assembly,
                                              .number = job->number,
                                              .geometry = job->geometry};
  return all->mesh_count++;
}

enum { FILES_AT_ONCE = 64 };

/* A mesh of each file. The geometry of a few files at a time is in memory. */
static void add_files(session *run, model *all, const char *const *paths, uint32_t count) {
  bake_job *jobs = calloc(FILES_AT_ONCE, sizeof *jobs);
  if (!jobs) fail_out_of_memory();
  for (uint32_t first = 0; first < count; first += FILES_AT_ONCE) {
    uint32_t some = count - first < FILES_AT_ONCE ? count - first : FILES_AT_ONCE;
    for (uint32_t i = 0; i < some; i++)
      jobs[i] = (bake_job){.path = paths[first + i], .stage = run->hold ? bake_measured : bake_mesh};
    bake_read(run, jobs, some);
    bake_meshes(run, jobs, some);
    for (uint32_t i = 0; i < some; i++) add_mesh(all, &jobs[i]);
  }
  free(jobs);
}

graze_pose model_scaled(const graze_pose *pose, double factor) {
  graze_pose out = *pose;
  for (int k = 0; k < 12 && factor != 1; k++) out.m[k] *= factor;
  return out;
}

static void add_object(model *all, bool unique, const char *name, const char *layer, uint32_t mesh,
                       const graze_pose *pose, double factor) {
  char *kept = unique ? strdup(name) : unique_name(&all->names, name);
  if (!kept) fail_out_of_memory();
  all->objects = grow(all->objects, all->object_count, sizeof *all->objects);
  all->objects[all->object_count++] = (model_object){kept, layer, mesh, model_scaled(pose, factor), factor};
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
    add_object(all, false, stem, "", i, &identity, 1);
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

/* ---- assemblies -------------------------------------------------------------------------------------------- */

enum { MOST_OPEN = 256 /* files; a process may have 1024 */ };

static bool holds_one_mesh(const graze_assembly *assembly) {
  return assembly->format < GRAZE_FORMAT_GLTF;
}

/* The layer of a file's objects is the file's name, when there are several files. */
static const char *add_layer(model *all, const char *path) {
  all->layers = grow(all->layers, all->layer_count, sizeof *all->layers);
  all->layers[all->layer_count] = file_stem(path);
  return all->layers[all->layer_count++];
}

/* Files that are being added, and the meshes that they want. */
typedef struct adding {
  session *run;
  model *all;
  const char *units;
  bool only;  /* there is one file, whose names differ */
  bool later; /* what is in open files is baked later, and they stay open */
  bake_job *jobs;
  uint32_t job_count;
} adding;

static void note_contents(const graze_assembly *assembly, const char *path) {
  uint64_t triangles = 0;
  for (uint32_t i = 0; i < assembly->object_count; i++)
    triangles += assembly->meshes[assembly->objects[i].mesh].geometry.triangle_count;
  if (triangles == 0) note("%s: no triangles", path);
  if (assembly->left_out > 0) note("%s: points and lines are left out (%" PRIu64 ")", path, assembly->left_out);
}

static bake_job job_of(const adding *work, const char *path, graze_assembly *assembly, uint32_t number) {
  graze_geometry *geometry = &assembly->meshes[number].geometry;
  bool stored = !geometry->vertices;
  bake_job job = {.path = path, .assembly = stored ? assembly : NULL, .number = number, .stage = bake_mesh};
  if (stored) {
    if (work->later) job.stage = bake_measured;
  } else {
    if (work->run->hold) job.stage = bake_measured;
    job.geometry = *geometry;
    *geometry = (graze_geometry){0}; /* the job frees it */
  }
  return job;
}

/* Meshes that no object has are read all the same where that has not happened yet: a fault in them is one. */
static void add_meshes(adding *work, const char *path, graze_assembly *assembly, uint32_t *numbers) {
  memset(numbers, 0xff, ((size_t)assembly->mesh_count + 1) * sizeof *numbers);
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    uint32_t mesh = assembly->objects[i].mesh;
    if (numbers[mesh] != UINT32_MAX) continue;
    numbers[mesh] = work->all->mesh_count + work->job_count;
    work->jobs = grow(work->jobs, work->job_count, sizeof *work->jobs);
    work->jobs[work->job_count++] = job_of(work, path, assembly, mesh);
  }
}

static void add_assembly(adding *work, const file_job *file, graze_assembly *assembly, const char *layer) {
  double factor = unit_factor(work->all, file->path, assembly->units, work->units);
  uint32_t *numbers = malloc(((size_t)assembly->mesh_count + 1) * sizeof *numbers);
  if (!numbers) fail_out_of_memory();
  add_meshes(work, file->path, assembly, numbers);
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    const graze_assembly_object *object = &assembly->objects[i];
    add_object(work->all, work->only, object->name, layer, numbers[object->mesh], &object->pose, factor);
  }
  free(numbers);
}

/* Reads what no object has, for its faults. */
static void read_unused(session *run, const char *path, const graze_assembly *assembly) {
  bool *used = calloc((size_t)assembly->mesh_count + 1, sizeof *used);
  bake_job *jobs = calloc((size_t)assembly->mesh_count + 1, sizeof *jobs);
  uint32_t count = 0;
  if (!used || !jobs) fail_out_of_memory();
  for (uint32_t i = 0; i < assembly->object_count; i++) used[assembly->objects[i].mesh] = true;
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    if (!used[i] && !assembly->meshes[i].geometry.vertices)
      jobs[count++] = (bake_job){.path = path, .assembly = assembly, .number = i, .stage = bake_measured};
  }
  bake_meshes(run, jobs, count);
  free(used);
  free(jobs);
}

/* Some of the files side by side: they are opened, and then all their meshes measured or baked. */
static void add_some(adding *work, file_job *files, uint32_t count, bool several) {
  graze_assembly *assemblies[FILES_AT_ONCE];
  bake_open(work->run, files, count);
  work->later = work->run->lazy && work->all->open_count + count <= MOST_OPEN;
  for (uint32_t i = 0; i < count; i++) {
    assemblies[i] = malloc(sizeof *assemblies[i]);
    if (!assemblies[i]) fail_out_of_memory();
    *assemblies[i] = files[i].assembly;
    note_contents(assemblies[i], files[i].path);
    if (!several && !files[i].split && holds_one_mesh(assemblies[i]))
      fail("%s is one object; `graze self' checks it against itself", files[i].path);
    add_assembly(work, &files[i], assemblies[i], several ? add_layer(work->all, files[i].path) : "");
  }
  bake_meshes(work->run, work->jobs, work->job_count);
  for (uint32_t i = 0; i < count; i++) read_unused(work->run, files[i].path, assemblies[i]);
  for (uint32_t i = 0; i < work->job_count; i++) add_mesh(work->all, &work->jobs[i]);
  work->job_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!work->later) {
      graze_assembly_free(assemblies[i]);
      free(assemblies[i]);
      continue;
    }
    work->all->open = grow(work->all->open, work->all->open_count, sizeof *work->all->open);
    work->all->open[work->all->open_count++] = assemblies[i];
  }
}

static void close_files(model *all) {
  for (uint32_t i = 0; i < all->open_count; i++) {
    graze_assembly_free(all->open[i]);
    free(all->open[i]);
  }
  all->open_count = 0;
}

/* How many files from `first` on are taken together: not more than is good to have in memory at a time. */
static uint32_t count_together(const file_list *list, uint32_t first) {
  const off_t most = 256 << 20;
  struct stat about;
  off_t bytes = 0;
  uint32_t count = 0;
  while (first + count < list->count && count < FILES_AT_ONCE) {
    if (stat(list->names[first + count], &about) == 0) bytes += about.st_size;
    if (count > 0 && bytes > most) break;
    count++;
  }
  return count;
}

void model_load_files(session *run, model *all, const file_list *list, bool split, const char *units) {
  file_job files[FILES_AT_ONCE];
  adding work = {.run = run, .all = all, .units = units, .only = list->count == 1};
  memset(all, 0, sizeof *all);
  all->units = "";
  for (uint32_t first = 0, some = 0; first < list->count; first += some) {
    some = count_together(list, first);
    for (uint32_t i = 0; i < some; i++) files[i] = (file_job){.path = list->names[first + i], .split = split};
    add_some(&work, files, some, list->count > 1);
  }
  free(work.jobs);
}

void model_bake(session *run, model *all, const bool *wanted, bool facts) {
  bake_job *jobs = calloc((size_t)all->mesh_count + 1, sizeof *jobs);
  uint32_t *numbers = malloc(((size_t)all->mesh_count + 1) * sizeof *numbers), count = 0;
  if (!jobs || !numbers) fail_out_of_memory();
  for (uint32_t i = 0; i < all->mesh_count; i++) {
    model_mesh *mesh = &all->meshes[i];
    bool asked = wanted[i] || (facts && !mesh->facts.adjacency);
    if (mesh->mesh || !asked) continue;
    numbers[count] = i;
    jobs[count++] = (bake_job){.path = mesh->path,
                               .assembly = mesh->assembly,
                               .number = mesh->number,
                               .geometry = mesh->geometry,
                               .stage = wanted[i] ? bake_mesh : bake_facts};
    mesh->geometry = (graze_geometry){0}; /* the job frees it */
  }
  bake_meshes(run, jobs, count);
  for (uint32_t i = 0; i < count; i++) {
    model_mesh *mesh = &all->meshes[numbers[i]];
    if (mesh->facts.hash != jobs[i].facts.hash) fail("%s: it changed while it was read", mesh->path);
    mesh->mesh = jobs[i].mesh;
    mesh->facts = jobs[i].facts;
  }
  free(jobs);
  free(numbers);
  for (uint32_t i = 0; i < all->mesh_count; i++) graze_geometry_free(&all->meshes[i].geometry);
  close_files(all);
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
    bool unique = true; /* the reader has seen to it */
    add_object(all, unique, object->name, object->layer, numbers[i], &object->pose, factor);
  }
  free(paths);
  free(numbers);
}

static void keep(void *node) {
  (void)node;
}

void model_free(model *all) {
  tdestroy(all->names, keep);
  for (uint32_t i = 0; i < all->mesh_count; i++) {
    graze_mesh_destroy(all->meshes[i].mesh);
    graze_geometry_free(&all->meshes[i].geometry);
  }
  for (uint32_t i = 0; i < all->object_count; i++) free(all->objects[i].name);
  for (uint32_t i = 0; i < all->layer_count; i++) free(all->layers[i]);
  close_files(all);
  free(all->open);
  free(all->layers);
  free(all->meshes);
  free(all->objects);
  graze_scene_file_free(&all->file);
}
