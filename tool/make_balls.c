/* graze make bed and other models of balls: a scene with a simulation, a mesh if something stands in their way, and
 * files of particles unless the balls have names. */
#include "make_balls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/io.h"
#include "output.h"
#include "session.h"
#include "table.h"

static bool is_single_file(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (strcasecmp(dot, ".obj") == 0 || strcasecmp(dot, ".glb") == 0);
}

void ball_request_finish(ball_request *request, const char *size, const char *seed, const char *gap, const char *path,
                         struct argp_state *state) {
  const scenes_ball_kind_facts *kind = scenes_ball_kind_describe(request->kind);
  request->size = size ? (uint32_t)options_number(state, "size", size, 1, kind->max_size) : kind->default_size;
  request->seed = seed ? options_number(state, "seed", seed, 0, UINT64_MAX) : 1;
  request->gap = gap ? options_decimal(state, "gap", gap) : kind->default_gap;
  if (kind->uses_gap && !(request->gap >= 0 && request->gap <= 1))
    argp_error(state, "the gap is out of range for this kind");
  if (!path || is_single_file(path)) argp_error(state, "-o is needed: a folder");
}

void ball_request_help(FILE *stream) {
  for (int k = 0; k < SCENES_BALL_KINDS; k++) {
    const scenes_ball_kind_facts *kind = scenes_ball_kind_describe((scenes_ball_kind)k);
    fprintf(stream, "  %s%s: %s\n    size: %s (default %" PRIu32 ")\n", kind->of_scene ? kind->of_scene : kind->name,
            kind->of_scene ? " --bodies" : "", kind->summary, kind->size_means, kind->default_size);
    if (kind->uses_gap) fprintf(stream, "    gap: from 0 to 1 (default %g)\n", kind->default_gap);
  }
}

/* ---- scene.json -------------------------------------------------------------------------------------------------- */

static void put_material(gz_json *writer, const scenes_balls *balls) {
  gz_json_open(writer, "materials", '{');
  gz_json_open(writer, "ball", '{');
  gz_json_double(writer, "k_n", balls->k_n);
  if (balls->gamma_n > 0) gz_json_double(writer, "gamma_n", balls->gamma_n);
  if (balls->restitution > 0) gz_json_double(writer, "restitution", balls->restitution);
  if (balls->gamma_t > 0 || balls->restitution > 0)
    gz_json_text(writer, "tangential", balls->gamma_t > 0 ? "dashpot" : "spring");
  if (balls->gamma_t > 0) gz_json_double(writer, "gamma_t", balls->gamma_t);
  if (balls->friction > 0) gz_json_double(writer, "friction", balls->friction);
  if (balls->rolling > 0) gz_json_double(writer, "rolling", balls->rolling);
  gz_json_close(writer);
  gz_json_close(writer);
}

static void put_walls(gz_json *writer, const scenes_balls *balls) {
  gz_json_open(writer, "walls", '[');
  for (uint32_t i = 0; i < balls->wall_count; i++) {
    gz_json_open(writer, NULL, '{');
    gz_json_doubles(writer, "point", balls->walls[i].point, 3);
    gz_json_doubles(writer, "normal", balls->walls[i].normal, 3);
    gz_json_text(writer, "material", "ball");
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void put_simulation(gz_json *writer, const scenes_balls *balls) {
  static const double all[3] = {1, 1, 1};
  const double bounds[6] = {0, 0, 0, balls->high[0], balls->high[1], balls->high[2]};
  gz_json_open(writer, "simulation", '{');
  gz_json_text(writer, "model", "dem");
  gz_json_doubles(writer, "gravity", balls->gravity, 3);
  put_material(writer, balls);
  if (balls->wall_count > 0) put_walls(writer, balls);
  if (balls->periodic) {
    gz_json_doubles(writer, "bounds", bounds, 6);
    gz_json_doubles(writer, "periodic", all, 3);
  }
  gz_json_close(writer);
}

static void put_ball(gz_json *writer, const scenes_balls *balls, uint32_t i) {
  const double *at = balls->positions + 3 * (size_t)i;
  const double pose[12] = {1, 0, 0, at[0], 0, 1, 0, at[1], 0, 0, 1, at[2]};
  char name[32];
  snprintf(name, sizeof name, "ball_%" PRIu32, i + 1);
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", name);
  gz_json_open(writer, "shape", '{');
  gz_json_double(writer, "sphere", balls->radius);
  gz_json_close(writer);
  gz_json_doubles(writer, "pose", pose, 12);
  gz_json_open(writer, "body", '{');
  gz_json_double(writer, "mass", balls->mass);
  gz_json_doubles(writer, "velocity", balls->velocities + 3 * (size_t)i, 3);
  gz_json_text(writer, "material", "ball");
  gz_json_close(writer);
  gz_json_close(writer);
}

void make_put_blast(gz_json *writer, const scenes_blast *blast) {
  gz_json_open(writer, "blast", '{');
  gz_json_doubles(writer, "center", blast->center, 3);
  gz_json_doubles(writer, "speed", blast->speed, 2);
  gz_json_double(writer, "spin", blast->spin);
  gz_json_close(writer);
}

static void put_particles(gz_json *writer, const scenes_balls *balls) {
  gz_json_open(writer, "particles", '[');
  for (uint32_t i = 0; i < balls->set_count; i++) {
    const scenes_ball_set *set = &balls->sets[i];
    char file[32];
    snprintf(file, sizeof file, "%s.gzp", set->name);
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "name", set->name);
    gz_json_text(writer, "file", file);
    if (set->radius > 0) gz_json_double(writer, "radius", set->radius);
    if (balls->mass > 0)
      gz_json_double(writer, "mass", balls->mass);
    else
      gz_json_double(writer, "density", balls->density);
    gz_json_text(writer, "material", "ball");
    if (balls->blast.spin > 0) make_put_blast(writer, &balls->blast);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

static void put_mesh(gz_json *writer, const scenes_ball_mesh *mesh) {
  const bool turns = mesh->spin[0] != 0 || mesh->spin[1] != 0 || mesh->spin[2] != 0;
  char file[32];
  snprintf(file, sizeof file, "%s.obj", mesh->name);
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", mesh->name);
  gz_json_text(writer, "mesh", file);
  gz_json_open(writer, "body", '{');
  gz_json_text(writer, "type", turns ? "kinematic" : "static");
  if (turns) gz_json_doubles(writer, "spin", mesh->spin, 3);
  gz_json_text(writer, "material", "ball");
  gz_json_close(writer);
  gz_json_close(writer);
}

static void write_scene(const char *path, const scenes_balls *balls) {
  gz_json writer = gz_json_begin(output_open(path), false);
  gz_json_integer(&writer, "graze", 1);
  gz_json_text(&writer, "units", "m");
  put_simulation(&writer, balls);
  if (balls->named || balls->mesh.name) {
    gz_json_open(&writer, "objects", '[');
    for (uint32_t i = 0; balls->named && i < balls->count; i++) put_ball(&writer, balls, i);
    if (balls->mesh.name) put_mesh(&writer, &balls->mesh);
    gz_json_close(&writer);
  }
  if (!balls->named) put_particles(&writer, balls);
  gz_json_end(&writer);
  output_close(writer.text);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static char *join(const char *folder, const char *name, const char *ending) {
  char *path = NULL;
  size_t length = strlen(folder);
  if (asprintf(&path, "%s%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name, ending) < 0)
    fail_out_of_memory();
  return path;
}

static void make_folder(const char *folder) {
  struct stat facts;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail("%s: cannot make the folder: %s", folder, strerror(errno));
  if (stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode)) fail("%s: exists and is not a folder", folder);
}

static void write_mesh(const session *run, const char *path, const scenes_ball_mesh *mesh) {
  const graze_geometry geometry = {.vertices = mesh->vertices,
                                   .vertex_count = mesh->vertex_count,
                                   .indices = mesh->triangles,
                                   .triangle_count = mesh->triangle_count};
  must(run->context, graze_write_obj(run->context, path, &geometry));
}

/* Set `number`, whose first ball is `first`. */
static void write_set(const session *run, const char *path, const scenes_balls *balls, uint32_t number,
                      uint32_t first) {
  const graze_particle_list list = {.count = balls->sets[number].count,
                                    .positions = balls->positions + 3 * (size_t)first,
                                    .velocities = balls->velocities + 3 * (size_t)first,
                                    .radii = balls->radii ? balls->radii + first : NULL};
  must(run->context, graze_write_particles(run->context, path, &list));
}

/* A file that was written, and how many balls it has. */
typedef struct made_file {
  char *path;
  uint32_t balls;
} made_file;

/* The files, the scene last: as many as come back. */
static int write_files(const scenes_balls *balls, const common_options *common, made_file files[4]) {
  session run;
  int count = 0;
  session_begin(&run, common);
  for (uint32_t i = 0, first = 0; i < balls->set_count && !balls->named; first += balls->sets[i++].count) {
    files[count] = (made_file){join(common->output, balls->sets[i].name, ".gzp"), balls->sets[i].count};
    write_set(&run, files[count++].path, balls, i, first);
  }
  if (balls->mesh.name) {
    files[count] = (made_file){join(common->output, balls->mesh.name, ".obj"), 0};
    write_mesh(&run, files[count++].path, &balls->mesh);
  }
  files[count] = (made_file){join(common->output, "scene", ".json"), balls->named ? balls->count : 0};
  write_scene(files[count++].path, balls);
  session_end(&run);
  return count;
}

static void tell_json(output *out, const ball_request *request, uint32_t balls, const made_file *files, int count) {
  const scenes_ball_kind_facts *kind = scenes_ball_kind_describe(request->kind);
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "kind", kind->of_scene ? kind->of_scene : kind->name);
  if (kind->of_scene) gz_json_bool(&writer, "bodies", true);
  gz_json_integer(&writer, "size", request->size);
  if (!kind->of_scene) gz_json_integer(&writer, "seed", request->seed);
  if (kind->uses_gap) gz_json_double(&writer, "gap", request->gap);
  gz_json_open(&writer, "files", '[');
  for (int i = 0; i < count; i++) gz_json_text(&writer, NULL, files[i].path);
  gz_json_close(&writer);
  gz_json_integer(&writer, "balls", balls);
  gz_json_end(&writer);
}

static void tell(const ball_request *request, uint32_t balls, const common_options *common, const made_file *files,
                 int count) {
  static const table_column columns[] = {{"file", true}, {"balls", false}};
  output *out = output_open(NULL);
  table rows = table_begin(columns, 2);
  for (int i = 0; i < count; i++) {
    table_text(&rows, files[i].path);
    if (files[i].balls > 0) table_integer(&rows, files[i].balls);
    if (files[i].balls == 0) table_text(&rows, "");
  }
  switch (common->format) {
    case format_text:
      table_write_text(&rows, out);
      break;
    case format_json:
      tell_json(out, request, balls, files, count);
      break;
    case format_csv:
      table_write_csv(&rows, out);
      break;
  }
  table_free(&rows);
  output_close(out);
}

int make_balls(const ball_request *request, const common_options *common) {
  scenes_balls balls;
  made_file files[4];
  if (!scenes_balls_make(request->kind, request->size, request->seed, request->gap, &balls)) fail_out_of_memory();
  make_folder(common->output);
  const int count = write_files(&balls, common, files);
  tell(request, balls.count, common, files, count);
  for (int i = 0; i < count; i++) free(files[i].path);
  scenes_balls_free(&balls);
  return exit_clear;
}
