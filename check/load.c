/* Files to meshes and objects. Geometry is read mesh by mesh where the format allows it, and freed as soon as it is
 * baked, so that a large scene is in memory once at most. In a lazy check a mesh is only measured at first: which ones
 * are needed is known when the boxes of all objects are. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "check.h"
#include "crew.h"

enum { FILES_AT_ONCE = 64, LARGE_FILE = 8 << 20, MOST_OPEN = 256 /* files; a process may have 1024 */ };

bool gz_check_is_large(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && about.st_size >= LARGE_FILE;
}

static bool is_scene(const char *path) {
  size_t length = strlen(path);
  return length > 5 && strcasecmp(path + length - 5, ".json") == 0;
}

/* With fewer there is no pair to check, and "no clash" would say nothing. */
static graze_status need_two(const graze_check *c, uint32_t objects) {
  char files[32] = "";
  if (objects >= (c->def.alone ? 1 : 2)) return GRAZE_OK;
  if (c->def.file_count > 1) snprintf(files, sizeof files, " and %" PRIu32 " more", c->def.file_count - 1);
  bool whole = (c->def.reading & GRAZE_READ_PARTS) == 0 && !is_scene(c->def.files[0]);
  return gz_check_hint(c, whole ? GRAZE_CHECK_CAN_SPLIT : GRAZE_CHECK_TOO_FEW_OBJECTS,
                       "%s%s: %s; a check compares two or more", c->def.files[0], files,
                       objects == 0 ? "no objects" : "one object");
}

/* ---- meshes and objects ---- */

static check_mesh *add_mesh(graze_check *c, const char *path, const graze_scene_file_object *shape, bake_stage next) {
  check_mesh *meshes = gz_check_grow(c, c->meshes, c->mesh_count, sizeof *meshes);
  if (meshes == NULL) return NULL;
  c->meshes = meshes;
  check_mesh *m = &meshes[c->mesh_count++];
  *m = (check_mesh){.check = c, .path = path, .shape = shape, .next = next};
  return m;
}

/* All members must see the same files, those of hulls too. */
static graze_status compare_files(graze_check *c, const char *const *paths,
                                  const graze_scene_file_object *const *shapes, uint32_t count) {
  if (shapes == NULL) return gz_crew_compare(c, paths, count);
  const char **files = gz_check_alloc(c, count, sizeof *files);
  if (files == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < count; i++) {
    files[i] = shapes[i] != NULL && shapes[i]->shape == GRAZE_SHAPE_HULL ? shapes[i]->mesh : paths[i];
  }
  return gz_crew_compare(c, files, count);
}

/* A mesh of each file, or shape (NULL: there are none). The geometry of a few files at a time is in memory. */
static graze_status add_files(graze_check *c, const char *const *paths, const graze_scene_file_object *const *shapes,
                              uint32_t count) {
  graze_status status = compare_files(c, paths, shapes, count);
  for (uint32_t begin = 0, end; begin < count && status == GRAZE_OK; begin = end) {
    uint32_t first = c->mesh_count;
    end = count - begin < FILES_AT_ONCE ? count : begin + FILES_AT_ONCE;
    for (uint32_t i = begin; i < end; i++) {
      if (add_mesh(c, paths[i], shapes != NULL ? shapes[i] : NULL, c->hold ? BAKE_MEASURED : BAKE_MESH) == NULL)
        return GRAZE_ERROR_MEMORY;
    }
    status = gz_check_read(c, first);
    if (status == GRAZE_OK) status = gz_check_bake(c, first);
    if (status == GRAZE_OK) status = gz_crew_share_measures(c, first);
    if (status == GRAZE_OK) gz_check_note_measured(c, first);
  }
  return status;
}

graze_pose gz_check_scaled(const graze_pose *pose, double factor) {
  graze_pose out = *pose;
  for (int k = 0; k < 12 && factor != 1; k++) out.m[k] *= factor;
  return out;
}

/* The name, or "name#2" and so on if there is one already; the number of a name is the last one that was given. */
static const char *unique_name(graze_check *c, const char *wanted) {
  size_t before = c->names.count;
  uint32_t *last = gz_check_map_add(c, &c->names, wanted, strlen(wanted), 1);
  if (last == NULL || c->names.count > before) return last != NULL ? wanted : NULL;
  for (uint32_t number = *last + 1;; number++) {
    const char *name = gz_check_print(c, "%s#%" PRIu32, wanted, number);
    before = c->names.count;
    if (name == NULL || gz_check_map_add(c, &c->names, name, strlen(name), 1) == NULL) return NULL;
    if (c->names.count == before) continue;
    *gz_check_map_add(c, &c->names, wanted, strlen(wanted), 1) = number;
    return name;
  }
}

/* Most objects have none. */
static bool keep_rounding(graze_check *c, const check_object *object, const graze_pose **kept) {
  double sum = 0;
  for (int k = 0; object->rounding != NULL && k < 12; k++) sum += object->rounding->m[k];
  if (sum == 0) return true;
  graze_pose *rounding = gz_check_alloc(c, 1, sizeof *rounding);
  if (rounding != NULL) *rounding = gz_check_scaled(object->rounding, object->factor);
  *kept = rounding;
  return rounding != NULL;
}

/* `unique`: no other object has the name. */
static graze_status add_object(graze_check *c, bool unique, const check_object *object) {
  check_object *objects = gz_check_grow(c, c->objects, c->object_count, sizeof *objects);
  const char *name = gz_check_print(c, "%s", object->name);
  if (name != NULL && !unique) name = unique_name(c, name);
  const char *label = object->label != NULL ? gz_check_print(c, "%s", object->label) : NULL;
  const graze_pose *rounding = NULL;
  if (objects == NULL || name == NULL || (object->label != NULL && label == NULL) ||
      !keep_rounding(c, object, &rounding))
    return GRAZE_ERROR_MEMORY;
  c->objects = objects;
  objects[c->object_count++] = (check_object){.name = name,
                                              .layer = object->layer,
                                              .mesh = object->mesh,
                                              .pose = gz_check_scaled(&object->pose, object->factor),
                                              .center = {object->center[0], object->center[1], object->center[2]},
                                              .factor = object->factor,
                                              .radius = object->radius * object->factor,
                                              .label = label,
                                              .rounding = rounding};
  return GRAZE_OK;
}

char *gz_check_stem(graze_check *c, const char *path) {
  const char *slash = strrchr(path, '/'), *start = slash != NULL ? slash + 1 : path, *dot = strrchr(start, '.');
  return gz_check_print(c, "%.*s", (int)(dot != NULL && dot > start ? dot - start : (long)strlen(start)), start);
}

static graze_status load_joined(graze_check *c) {
  const graze_check_def *d = &c->def;
  graze_status status = add_files(c, d->files, NULL, d->file_count);
  for (uint32_t i = 0; i < d->file_count && status == GRAZE_OK; i++) {
    check_object object = {
        .name = gz_check_stem(c, d->files[i]), .layer = "", .mesh = i, .pose = graze_pose_identity(), .factor = 1};
    status = object.name != NULL ? add_object(c, false, &object) : GRAZE_ERROR_MEMORY;
  }
  return status;
}

/* ---- units ---- */

static const struct {
  const char *name;
  double metres;
} units[] = {{"m", 1}, {"mm", 0.001}, {"cm", 0.01}, {"in", 0.0254}, {"ft", 0.3048}};

double gz_check_metres(const char *name) {
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(units[i].name, name) == 0) return units[i].metres;
  }
  return 0;
}

/* One rounding where the ratio of the units is a whole number. */
static double ratio_of(double own, double asked) {
  double ratio = own / asked, inverse = asked / own;
  return ratio >= 1 ? (fabs(ratio - round(ratio)) < 1e-9 * ratio ? round(ratio) : ratio)
                    : 1 / (fabs(inverse - round(inverse)) < 1e-9 * inverse ? round(inverse) : inverse);
}

/* What lengths of a file must be multiplied by, given what it says of itself ("" = nothing). The first file that says
 * something sets the units of the check unless they were asked for. */
static graze_status unit_factor(graze_check *c, const char *path, const char *said, double *factor) {
  const char *asked = c->def.units, *own = c->def.file_units != NULL ? c->def.file_units : said;
  *factor = 1;
  if (asked != NULL) {
    c->units = asked;
    if (*own == '\0' || strcmp(own, asked) == 0) return GRAZE_OK;
    if (gz_check_metres(own) == 0) {
      return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "%s: its units are \"%s\", which cannot be converted to %s",
                     path, own, asked);
    }
    gz_check_note(c, GRAZE_LOG_INFO, "%s: converted from %s to %s", path, own, asked);
    *factor = ratio_of(gz_check_metres(own), gz_check_metres(asked));
    return GRAZE_OK;
  }
  if (c->object_count == 0) c->units = gz_check_print(c, "%s", own); /* the file's own text ends with the file */
  if (c->units == NULL) return GRAZE_ERROR_MEMORY;
  if (strcmp(c->units, own) == 0) return GRAZE_OK;
  return gz_check_hint(c, GRAZE_CHECK_UNITS_DIFFER, "%s: its units are %s, those of the files before are %s", path,
                       *own != '\0' ? own : "not known", *c->units != '\0' ? c->units : "not known");
}

/* ---- assemblies ---- */

typedef struct check_file {
  const char *path;
  graze_assembly *assembly;
} check_file;

static bool is_large(const void *item) {
  return gz_check_is_large(((const check_file *)item)->path);
}

static graze_status open_one(graze_check *c, void *item) {
  check_file *file = item;
  return graze_open_assembly(c->context, file->path, GRAZE_FORMAT_AUTO, c->def.reading, file->assembly);
}

/* All of them are noted as open, so that they will be closed. */
static graze_status open_files(graze_check *c, check_file *files, uint32_t count) {
  void *items[FILES_AT_ONCE];
  for (uint32_t i = 0; i < count; i++) {
    graze_assembly **open = gz_check_grow(c, c->open, c->open_count, sizeof *open);
    if (open != NULL) c->open = open;
    items[i] = &files[i];
    files[i].assembly = open != NULL ? gz_check_alloc(c, 1, sizeof *files[i].assembly) : NULL;
    if (files[i].assembly == NULL) return GRAZE_ERROR_MEMORY;
    c->open[c->open_count++] = files[i].assembly;
  }
  double start = clock_now();
  check_jobs jobs = {
      .check = c, .stage = GRAZE_CHECK_FILES, .items = items, .count = count, .is_large = is_large, .body = open_one};
  graze_status status = gz_check_run_jobs(&jobs);
  gz_check_add_time(&c->load_seconds, start);
  return status;
}

static void note_contents(graze_check *c, const graze_assembly *assembly, const char *path) {
  uint64_t triangles = 0;
  for (uint32_t i = 0; i < assembly->object_count; i++)
    triangles += assembly->meshes[assembly->objects[i].mesh].geometry.triangle_count;
  if (triangles == 0 && c->def.allow_empty) gz_check_note(c, GRAZE_LOG_WARNING, "%s: no triangles", path);
  if (assembly->hollow != NULL && c->def.allow_empty)
    gz_check_note(c, GRAZE_LOG_WARNING, "%s: object \"%s\" has no triangles", path, assembly->hollow);
  if (assembly->left_out > 0) {
    gz_check_note(c, GRAZE_LOG_WARNING, "%s: points and lines are left out (%" PRIu64 ")", path, assembly->left_out);
  }
}

/* A mesh of the file; its geometry stays there, or changes hands. */
static check_mesh *take_mesh(graze_check *c, const check_file *file, uint32_t number, bool later) {
  graze_geometry *geometry = &file->assembly->meshes[number].geometry;
  bool stored = geometry->vertices == NULL;
  check_mesh *m = add_mesh(c, file->path, NULL, (stored ? later : c->hold) ? BAKE_MEASURED : BAKE_MESH);
  if (m == NULL) return NULL;
  m->number = number;
  if (stored) {
    m->assembly = file->assembly;
  } else {
    m->geometry = *geometry;
    *geometry = (graze_geometry){0};
  }
  return m;
}

/* Coordinates are compared as they are, so they are all of one frame: y is up only if every file says so. */
static void take_up(graze_check *c, graze_up up) {
  c->up = c->object_count == 0 || c->up == up ? up : GRAZE_UP_UNKNOWN;
}

static graze_status add_assembly(graze_check *c, const check_file *file, const char *layer, bool later) {
  const graze_assembly *assembly = file->assembly;
  double factor;
  graze_status status = unit_factor(c, file->path, assembly->units, &factor);
  uint32_t *numbers = gz_check_alloc(c, assembly->mesh_count, sizeof *numbers); /* from 1 on */
  if (status == GRAZE_OK && numbers == NULL) status = GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < assembly->object_count && status == GRAZE_OK; i++) {
    const graze_assembly_object *object = &assembly->objects[i];
    if (numbers[object->mesh] == 0) {
      if (take_mesh(c, file, object->mesh, later) == NULL) return GRAZE_ERROR_MEMORY;
      numbers[object->mesh] = c->mesh_count;
    }
    const check_object added = {.name = object->name,
                                .layer = layer,
                                .mesh = numbers[object->mesh] - 1,
                                .pose = object->pose,
                                .factor = factor,
                                .label = object->label,
                                .rounding = &object->rounding};
    status = add_object(c, c->def.file_count == 1, &added);
  }
  return status;
}

/* What cannot be checked is not "clear". */
static graze_status fail_empty(const graze_check *c, const char *path, const char *object) {
  if (c->def.allow_empty) return GRAZE_OK;
  if (object == NULL) return gz_check_hint(c, GRAZE_CHECK_EMPTY_OBJECT, "%s: no triangles", path);
  return gz_check_hint(c, GRAZE_CHECK_EMPTY_OBJECT, "%s: object \"%s\" has no triangles", path, object);
}

static graze_status need_triangles(const graze_check *c) {
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < c->object_count && status == GRAZE_OK; i++) {
    const check_mesh *m = &c->meshes[c->objects[i].mesh];
    if (m->facts.triangles == 0) status = fail_empty(c, m->path, c->objects[i].name);
  }
  return status;
}

/* Reads what no object has, for its faults. */
static graze_status read_unused(graze_check *c, const check_file *file) {
  const graze_assembly *assembly = file->assembly;
  uint32_t first = c->mesh_count;
  bool *used = gz_check_alloc(c, assembly->mesh_count, sizeof *used);
  if (used == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < assembly->object_count; i++) used[assembly->objects[i].mesh] = true;
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    if (used[i] || assembly->meshes[i].geometry.vertices != NULL) continue;
    if (take_mesh(c, file, i, true) == NULL) return GRAZE_ERROR_MEMORY;
  }
  graze_status status = gz_check_bake(c, first);
  c->mesh_count = first;
  return status;
}

void gz_check_close_files(graze_check *c) {
  for (uint32_t i = 0; i < c->open_count; i++) graze_assembly_free(c->open[i]);
  c->open_count = 0;
  for (uint32_t i = 0; i < c->mesh_count; i++) graze_geometry_free(&c->meshes[i].geometry);
}

static graze_status add_contents(graze_check *c, const check_file *file, bool later) {
  const char *layer = "";
  bool several = c->def.file_count > 1;
  take_up(c, file->assembly->up);
  note_contents(c, file->assembly, file->path);
  const char *hollow = file->assembly->hollow;
  graze_status status = hollow != NULL ? fail_empty(c, file->path, hollow) : GRAZE_OK;
  if (status == GRAZE_OK && !several) status = need_two(c, file->assembly->object_count);
  if (status == GRAZE_OK && file->assembly->object_count == 0) status = fail_empty(c, file->path, NULL);
  if (status != GRAZE_OK) return status;
  if (several) layer = gz_check_stem(c, file->path); /* the layer of a file's objects is the file's name */
  return layer != NULL ? add_assembly(c, file, layer, later) : GRAZE_ERROR_MEMORY;
}

/* Some of the files side by side: they are opened, and then all their meshes measured or baked. */
static graze_status add_some(graze_check *c, check_file *files, uint32_t count) {
  uint32_t first = c->mesh_count, open = c->open_count;
  graze_status status = open_files(c, files, count);
  bool later = c->lazy && c->open_count <= MOST_OPEN;
  for (uint32_t i = 0; i < count && status == GRAZE_OK; i++) status = add_contents(c, &files[i], later);
  if (status == GRAZE_OK) status = gz_check_bake(c, first);
  if (status == GRAZE_OK) status = gz_crew_share_measures(c, first);
  for (uint32_t i = 0; i < count && status == GRAZE_OK; i++) status = read_unused(c, &files[i]);
  for (uint32_t i = open; i < c->open_count && status == GRAZE_OK && !later; i++) graze_assembly_free(c->open[i]);
  if (status == GRAZE_OK && !later) c->open_count = open;
  return status;
}

/* How many files from `first` on are taken together: not more than is good to have in memory at a time. */
static uint32_t count_together(const graze_check_def *d, uint32_t first) {
  const off_t most = 256 << 20;
  struct stat about;
  off_t bytes = 0;
  uint32_t count = 0;
  while (first + count < d->file_count && count < FILES_AT_ONCE) {
    if (stat(d->files[first + count], &about) == 0) bytes += about.st_size;
    if (count > 0 && bytes > most) break;
    count++;
  }
  return count;
}

static graze_status load_files(graze_check *c) {
  check_file files[FILES_AT_ONCE];
  const graze_check_def *d = &c->def;
  graze_status status = GRAZE_OK;
  for (uint32_t first = 0, some; first < d->file_count && status == GRAZE_OK; first += some) {
    some = count_together(d, first);
    for (uint32_t i = 0; i < some; i++) files[i] = (check_file){.path = d->files[first + i]};
    status = add_some(c, files, some);
  }
  return status;
}

/* ---- scene files ------------------------------------------------------------------------------------------- */

/* Numbers the distinct paths and shapes in their order: objects that name the same one share the mesh. */
static graze_status list_paths(graze_check *c, const char **paths, const graze_scene_file_object **shapes,
                               uint32_t *numbers, uint32_t *count) {
  gz_text_map map = {0};
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < c->file.object_count; i++) {
    const graze_scene_file_object *object = &c->file.objects[i];
    const bool is_shape = object->shape != GRAZE_SHAPE_MESH;
    const char *path = is_shape ? gz_check_shape_name(c, object) : object->mesh;
    const char *key = path != NULL && is_shape ? gz_check_print(c, "\1%s", path) : path; /* as no file is called */
    uint32_t *number = key != NULL ? gz_check_map_add(c, &map, key, strlen(key), *count) : NULL;
    if (number == NULL) {
      status = GRAZE_ERROR_MEMORY;
      break;
    }
    if (*number == *count) {
      shapes[*count] = is_shape ? object : NULL;
      paths[(*count)++] = path;
    }
    numbers[i] = *number;
  }
  gz_text_map_close(&map);
  return status;
}

static graze_status add_scene_objects(graze_check *c, double factor) {
  uint32_t objects = c->file.object_count, count = 0;
  const char **paths = gz_check_alloc(c, objects, sizeof *paths);
  const graze_scene_file_object **shapes = gz_check_alloc(c, objects, sizeof *shapes);
  uint32_t *numbers = gz_check_alloc(c, objects, sizeof *numbers);
  if (paths == NULL || shapes == NULL || numbers == NULL) return GRAZE_ERROR_MEMORY;
  graze_status status = list_paths(c, paths, shapes, numbers, &count);
  if (status == GRAZE_OK) status = add_files(c, paths, shapes, count);
  if (status == GRAZE_OK) status = gz_check_make_cores(c);
  for (uint32_t i = 0; i < objects && status == GRAZE_OK; i++) {
    const graze_scene_file_object *o = &c->file.objects[i];
    const double radius = shape_is_round(o->shape) ? o->radius : 0;
    check_object object = {
        .name = o->name, .layer = o->layer, .mesh = numbers[i], .pose = o->pose, .factor = factor, .radius = radius};
    memcpy(object.center, o->center, sizeof object.center);
    status = add_object(c, true, &object); /* the reader has seen to it */
  }
  return status;
}

/* What the check would leave out without a word. */
static graze_status refuse_simulation(const graze_check *c, const char *path) {
  const graze_scene_file *file = &c->file;
  for (uint32_t i = 0; i < file->object_count; i++) {
    graze_status status = gz_check_refuse_shape(c, path, &file->objects[i]);
    if (status != GRAZE_OK) return status;
  }
  if (!file->simulation.given && file->particle_set_count == 0) return GRAZE_OK;
  return gz_fail(c->context, GRAZE_ERROR_UNSUPPORTED, "%s: \"%s\" cannot be checked", path,
                 file->particle_set_count > 0 ? "particles" : "simulation");
}

static graze_status load_scene(graze_check *c, const char *path) {
  double start = clock_now(), factor;
  graze_status status = graze_read_scene(c->context, path, &c->file);
  gz_check_add_time(&c->load_seconds, start);
  if (status == GRAZE_OK) status = refuse_simulation(c, path);
  if (status == GRAZE_OK) status = unit_factor(c, path, c->file.units, &factor);
  return status == GRAZE_OK ? add_scene_objects(c, factor) : status;
}

graze_status gz_check_load(graze_check *c) {
  const graze_check_def *d = &c->def;
  uint32_t scenes = 0;
  c->units = "";
  const char *named[] = {d->units, d->file_units};
  for (int i = 0; i < 2; i++) {
    if (named[i] != NULL && gz_check_metres(named[i]) == 0)
      return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: unknown units '%s'", named[i]);
  }
  if (d->joined) {
    graze_status status = load_joined(c);
    return status == GRAZE_OK ? need_triangles(c) : status;
  }
  for (uint32_t i = 0; i < d->file_count; i++) scenes += is_scene(d->files[i]);
  if (scenes > 0 && d->file_count > 1)
    return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "a scene stands alone: no other files beside it");
  graze_status status = scenes > 0 ? load_scene(c, d->files[0]) : load_files(c);
  if (status == GRAZE_OK) status = need_two(c, c->object_count);
  return status == GRAZE_OK ? need_triangles(c) : status;
}
