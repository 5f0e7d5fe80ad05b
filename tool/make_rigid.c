/* graze make stack and other models of rigid bodies: a folder with a scene. */
#include "make_rigid.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "diagnostics.h"
#include "make_balls.h"
#include "make_rubble.h"
#include "output.h"
#include "scene_files.h"
#include "session.h"
#include "table.h"

void rigid_request_finish(rigid_request *request, const char *size, const char *seed, const char *path,
                          struct argp_state *state) {
  const scenes_rigid_facts *kind = scenes_rigid_describe(request->kind);
  request->size = size ? (uint32_t)options_number(state, "size", size, 1, kind->max_size) : kind->default_size;
  request->seed = seed ? options_number(state, "seed", seed, 0, UINT64_MAX) : 1;
  if (!path) argp_error(state, "-o is needed: a folder");
  if (request->plant && request->kind != SCENES_RIGID_RUBBLE) argp_error(state, "--plant is for rubble");
}

void rigid_request_help(FILE *stream) {
  for (int k = 0; k < SCENES_RIGID_KINDS; k++) {
    const scenes_rigid_facts *kind = scenes_rigid_describe((scenes_rigid_kind)k);
    fprintf(stream, "  %s: %s\n    size: %s (default %" PRIu32 ")\n", kind->name, kind->summary, kind->size_means,
            kind->default_size);
  }
}

/* ---- scene.json -------------------------------------------------------------------------------------------------- */

body_name rigid_body_name(uint32_t body) {
  body_name name;
  snprintf(name.text, sizeof name.text, "body_%" PRIu32, body + 1);
  return name;
}

static void put_joints(gz_json *writer, const scenes_rigid *rigid) {
  gz_json_open(writer, "joints", '[');
  for (uint32_t i = 0; i < rigid->joint_count; i++) {
    const scenes_joint *joint = &rigid->joints[i];
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "type", "ball");
    gz_json_text(writer, "a", rigid_body_name(joint->a).text);
    if (joint->b != SCENES_NO_BODY) gz_json_text(writer, "b", rigid_body_name(joint->b).text);
    gz_json_doubles(writer, "point", joint->point, 3);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void put_simulation(gz_json *writer, const scenes_rigid *rigid) {
  gz_json_open(writer, "simulation", '{');
  gz_json_text(writer, "model", "rigid");
  if (rigid->kind == SCENES_RIGID_RUBBLE) gz_json_text(writer, "solver", "soft"); /* many that lie on many */
  gz_json_doubles(writer, "gravity", rigid->gravity, 3);
  gz_json_open(writer, "materials", '{');
  gz_json_open(writer, "solid", '{');
  gz_json_double(writer, "friction", rigid->friction);
  if (rigid->restitution > 0) gz_json_double(writer, "restitution", rigid->restitution);
  gz_json_close(writer);
  gz_json_close(writer);
  gz_json_open(writer, "walls", '[');
  for (uint32_t i = 0; i < rigid->wall_count; i++) {
    gz_json_open(writer, NULL, '{');
    gz_json_doubles(writer, "point", rigid->walls[i].point, 3);
    gz_json_doubles(writer, "normal", rigid->walls[i].normal, 3);
    gz_json_text(writer, "material", "solid");
    gz_json_close(writer);
  }
  gz_json_close(writer);
  if (rigid->joint_count > 0) put_joints(writer, rigid);
  gz_json_close(writer);
}

static void put_hull(gz_json *writer, uint32_t number) {
  char file[32];
  snprintf(file, sizeof file, "%s.obj", rigid_body_name(number).text);
  gz_json_text(writer, "hull", file);
}

static bool is_zero(const double v[3]) {
  return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

static void put_body(gz_json *writer, const scenes_rigid *rigid, uint32_t number) {
  const scenes_body *body = &rigid->bodies[number];
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", rigid_body_name(number).text);
  gz_json_open(writer, "shape", '{');
  if (body->shape == SCENES_BODY_BALL) gz_json_double(writer, "sphere", body->size[0]);
  if (body->shape == SCENES_BODY_BOX) gz_json_doubles(writer, "box", body->size, 3);
  if (body->shape == SCENES_BODY_CAPSULE) gz_json_doubles(writer, "capsule", body->size, 2);
  if (body->shape == SCENES_BODY_HULL) put_hull(writer, number);
  gz_json_close(writer);
  gz_json_doubles(writer, "pose", body->pose, 12);
  gz_json_open(writer, "body", '{');
  gz_json_double(writer, "density", body->density);
  if (!is_zero(body->velocity)) gz_json_doubles(writer, "velocity", body->velocity, 3);
  if (!is_zero(body->spin)) gz_json_doubles(writer, "spin", body->spin, 3);
  if (rigid->blast.speed[1] > 0) make_put_blast(writer, &rigid->blast);
  gz_json_text(writer, "material", "solid");
  gz_json_close(writer);
  gz_json_close(writer);
}

static void write_scene(const char *path, const scenes_rigid *rigid, const scenes_scene *around) {
  gz_json writer = gz_json_begin(output_open(path), false);
  gz_json_integer(&writer, "graze", 1);
  gz_json_text(&writer, "units", "m");
  put_simulation(&writer, rigid);
  gz_json_open(&writer, "objects", '[');
  for (uint32_t i = 0; i < rigid->count; i++) put_body(&writer, rigid, i);
  for (uint32_t i = 0; i < around->object_count; i++) write_scene_object(&writer, around, i);
  gz_json_close(&writer);
  gz_json_end(&writer);
  output_close(writer.text);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static char *make_path(const char *folder) {
  struct stat facts;
  char *path = NULL;
  const size_t length = strlen(folder);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail("%s: cannot make the folder: %s", folder, strerror(errno));
  if (stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode)) fail("%s: exists and is not a folder", folder);
  if (asprintf(&path, "%s%sscene.json", folder, length > 0 && folder[length - 1] == '/' ? "" : "/") < 0)
    fail_out_of_memory();
  return path;
}

/* Meshes of what stands around. */
static void write_meshes(const common_options *common, const scenes_scene *around) {
  static const table_column columns[] = {{"file", true}, {"triangles", false}};
  session run;
  session_begin(&run, common);
  written done = {.context = run.context, .files = table_begin(columns, 2)};
  write_scene_meshes(common->output, around, &done);
  table_free(&done.files);
  session_end(&run);
}

static void tell_json(output *out, const rigid_request *request, const char *path, uint32_t bodies) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "kind", scenes_rigid_describe(request->kind)->name);
  gz_json_integer(&writer, "size", request->size);
  gz_json_integer(&writer, "seed", request->seed);
  gz_json_open(&writer, "files", '[');
  gz_json_text(&writer, NULL, path);
  gz_json_close(&writer);
  gz_json_integer(&writer, "bodies", bodies);
  gz_json_end(&writer);
}

static void tell(const rigid_request *request, const common_options *common, const char *path, uint32_t bodies) {
  static const table_column columns[] = {{"file", true}, {"bodies", false}};
  output *out = output_open(NULL);
  table rows = table_begin(columns, 2);
  table_text(&rows, path);
  table_integer(&rows, bodies);
  if (common->format == format_text) table_write_text(&rows, out);
  if (common->format == format_csv) table_write_csv(&rows, out);
  if (common->format == format_json) tell_json(out, request, path, bodies);
  table_free(&rows);
  output_close(out);
}

int make_rigid(const rigid_request *request, const common_options *common) {
  scenes_rigid rigid;
  scenes_scene around = {0};
  if (!scenes_rigid_make(request->kind, request->size, request->seed, &rigid)) fail_out_of_memory();
  char *path = make_path(common->output);
  if (request->kind == SCENES_RIGID_RUBBLE) rubble_add(common, request->size, request->seed, &rigid);
  if (request->plant) {
    rubble_make_plant(request->seed, &rigid, &around);
    write_meshes(common, &around);
  }
  write_scene(path, &rigid, &around);
  tell(request, common, path, rigid.count + around.object_count);
  scenes_free(&around);
  free(path);
  scenes_rigid_free(&rigid);
  return exit_clear;
}
