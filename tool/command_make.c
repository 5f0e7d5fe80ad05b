/* graze make: writes a seeded model, as a folder with one OBJ for each mesh and a scene.json, or as one OBJ with all
 * objects where they stand. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "diagnostics.h"
#include "graze/graze.h"
#include "graze/io.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "scenes.h"
#include "table.h"
#include "verbs.h"

typedef struct make_options {
  common_options common;
  const scenes_kind *kind;
  const char *size_text, *seed_text, *gap_text; /* read when the kind is known */
  scenes_request request;
} make_options;

enum { key_size = 1, key_seed, key_gap };

static const struct argp_option options[] = {
    {"size", key_size, "N", 0, "how fine or how many; what it means depends on the kind", 0},
    {"seed", key_seed, "N", 0, "of what is random (default 1)", 0},
    {"gap", key_gap, "LENGTH", 0, "between what is nearly touching, in metres", 0},
    {0}};

static void take_kind(make_options *make, struct argp_state *state) {
  const char *name = state->argv[state->next];
  if (state->argc - state->next > 1) argp_error(state, "one kind at a time");
  make->kind = scenes_find_kind(name);
  if (!make->kind) argp_error(state, "no such kind: %s", name);
}

static void finish_request(make_options *make, struct argp_state *state) {
  scenes_request *request = &make->request;
  *request = scenes_default_request(make->kind);
  if (make->size_text)
    request->size = (uint32_t)options_number(state, "size", make->size_text, 1, make->kind->max_size);
  if (make->seed_text) request->seed = options_number(state, "seed", make->seed_text, 0, UINT64_MAX);
  if (make->gap_text) request->gap = options_decimal(state, "gap", make->gap_text);
  const char *fault = scenes_fault(make->kind, request);
  if (fault) argp_error(state, "%s", fault);
  if (!make->common.output) argp_error(state, "-o is needed: a folder, or a file that ends in .obj");
}

static error_t parse_make(int key, char *argument, struct argp_state *state) {
  make_options *make = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &make->common;
      break;
    case key_size:
      make->size_text = argument;
      break;
    case key_seed:
      make->seed_text = argument;
      break;
    case key_gap:
      make->gap_text = argument;
      break;
    case ARGP_KEY_ARGS:
      take_kind(make, state);
      break;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "a kind is needed");
      break;
    case ARGP_KEY_SUCCESS:
      finish_request(make, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* The list of kinds at the end of --help. */
static char *filter_help(int key, const char *text, void *input) {
  (void)input;
  if (key != ARGP_KEY_HELP_POST_DOC) return (char *)text;
  char *list = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&list, &size);
  if (!stream) return NULL;
  uint32_t count;
  const scenes_kind *kinds = scenes_kinds(&count);
  fputs("Kinds, and what size and gap mean for them:\n", stream);
  for (uint32_t i = 0; i < count; i++) {
    const scenes_kind *kind = &kinds[i];
    fprintf(stream, "  %s: %s\n    size: %s (default %" PRIu32 ")\n", kind->name, kind->summary, kind->size_means,
            kind->default_size);
    if (kind->uses_gap)
      fprintf(stream, "    gap: from %g to %g (default %g)\n", kind->min_gap, kind->max_gap, kind->default_gap);
  }
  fputs("\nExit: 0 written, 2 wrong usage, 3 not written.", stream);
  fclose(stream);
  return list;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

typedef struct written { /* what is told afterwards */
  table files;
  uint64_t triangles;
} written;

static void write_obj(const char *path, const graze_geometry *geometry, written *done) {
  graze_io_error error;
  if (graze_write_obj(path, geometry, &error) != GRAZE_OK) fail("%s", error.message);
  table_text(&done->files, path);
  table_integer(&done->files, geometry->triangle_count);
  done->triangles += geometry->triangle_count;
}

/* A mesh with its parts as groups. */
static void write_mesh(const char *path, const scenes_mesh *mesh, written *done) {
  graze_io_group *groups = calloc(mesh->part_count + 1, sizeof *groups);
  if (!groups) fail_out_of_memory();
  for (uint32_t i = 0; i < mesh->part_count; i++) {
    const scenes_part *part = &mesh->parts[i];
    groups[i] = (graze_io_group){part->name, (uint32_t)part->first_triangle, (uint32_t)part->triangle_count};
  }
  const graze_geometry geometry = {.vertices = mesh->vertices,
                                   .vertex_count = mesh->vertex_count,
                                   .indices = mesh->indices,
                                   .triangle_count = mesh->triangle_count,
                                   .groups = groups,
                                   .group_count = mesh->part_count};
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

static void write_scene_object(json *writer, const scenes_scene *scene, const scenes_object *object) {
  char file[64];
  snprintf(file, sizeof file, "%s.obj", scene->meshes[object->mesh].name);
  json_open_object(writer);
  json_key_string(writer, "name", object->name);
  json_key_string(writer, "mesh", file);
  json_key(writer, "pose");
  json_open_array(writer);
  for (int k = 0; k < 12; k++) json_double(writer, object->pose[k]);
  json_close_array(writer);
  json_key_string(writer, "layer", object->layer);
  json_close_object(writer);
}

static void write_scene(const char *path, const scenes_scene *scene, written *done) {
  output *out = output_open(path);
  json writer = json_begin(out);
  json_open_object(&writer);
  json_key_integer(&writer, "graze", 1);
  json_key_string(&writer, "units", "m");
  json_key(&writer, "objects");
  json_open_array(&writer);
  for (uint32_t i = 0; i < scene->object_count; i++) write_scene_object(&writer, scene, &scene->objects[i]);
  json_close_array(&writer);
  json_close_object(&writer);
  json_end(&writer);
  output_close(out);
  table_text(&done->files, path);
  table_text(&done->files, "");
}

static void write_folder(const char *folder, const scenes_scene *scene, written *done) {
  struct stat facts;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail("%s: cannot make the folder: %s", folder, strerror(errno));
  if (stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode)) fail("%s: exists and is not a folder", folder);
  for (uint32_t i = 0; i < scene->mesh_count; i++) {
    char *path = join_path(folder, scene->meshes[i].name, ".obj");
    write_mesh(path, &scene->meshes[i], done);
    free(path);
  }
  char *path = join_path(folder, "scene", ".json");
  write_scene(path, scene, done);
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

/* ---- what was written --------------------------------------------------------------------------------------- */

static void tell_json(output *out, const make_options *make, const scenes_scene *scene, const written *done) {
  json writer = json_begin(out);
  json_open_object(&writer);
  json_key_string(&writer, "graze", graze_version());
  json_key_string(&writer, "kind", make->kind->name);
  json_key_integer(&writer, "size", make->request.size);
  json_key_integer(&writer, "seed", make->request.seed);
  json_key_double(&writer, "gap", make->request.gap);
  json_key(&writer, "files");
  json_open_array(&writer);
  const char *cell = done->files.text;
  for (uint64_t i = 0; i < done->files.cell_count; i++, cell += strlen(cell) + 1) {
    if (i % 2 == 0) json_string(&writer, cell);
  }
  json_close_array(&writer);
  json_key_integer(&writer, "objects", scene->object_count);
  json_key_integer(&writer, "triangles", done->triangles);
  json_close_object(&writer);
  json_end(&writer);
}

static void tell(const make_options *make, const scenes_scene *scene, const written *done) {
  output *out = output_open(NULL);
  switch (make->common.format) {
    case format_text:
      table_write_text(&done->files, out);
      break;
    case format_json:
      tell_json(out, make, scene, done);
      break;
    case format_csv:
      table_write_csv(&done->files, out);
      break;
  }
  output_close(out);
}

static bool ends_in_obj(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcasecmp(path + length - 4, ".obj") == 0;
}

static void note_unused(const make_options *make) {
  if (make->seed_text && !make->kind->uses_seed)
    note("nothing is random in %s: --seed changes nothing", make->kind->name);
  if (make->gap_text && !make->kind->uses_gap) note("%s has no gap: --gap changes nothing", make->kind->name);
}

int command_make(int argc, char **argv) {
  static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      .options = options,
      .parser = parse_make,
      .children = children,
      .args_doc = "KIND",
      .doc =
          "Writes a model: into the folder given by -o one OBJ for each mesh and a scene.json for `graze check', or, "
          "when -o ends in .obj, one file with an 'o' record for each object.\v ",
      .help_filter = filter_help};
  static const table_column columns[] = {{"file", true}, {"triangles", false}};
  make_options make = {0};
  options_parse(&argp, argc, argv, &make, &make.common);
  note_unused(&make);
  scenes_scene scene;
  const char *reason;
  if (!scenes_make(make.kind, &make.request, &scene, &reason)) fail("%s: %s", make.kind->name, reason);
  written done = {.files = table_begin(columns, 2)};
  if (ends_in_obj(make.common.output))
    write_single(make.common.output, &scene, &done);
  else
    write_folder(make.common.output, &scene, &done);
  tell(&make, &scene, &done);
  table_free(&done.files);
  scenes_free(&scene);
  return exit_clear;
}
