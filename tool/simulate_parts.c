/* Objects that convex parts of a mesh stand for. Parts are found once for a file and an error, however many objects and
 * runs have them; mass, centre and inertia are those of the solid itself, whose volume is less than that of its parts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/decompose.h"
#include "simulate.h"

/* Found parts; the names belong to the scene. */
typedef struct simulate_solid {
  const char *path, *first; /* the mesh's file, and the first object that has the parts */
  double wanted;
  uint32_t most_parts, objects;
  graze_decomposition *found;
  graze_mass mass; /* of the solid, at a density of 1 */
} simulate_solid;

struct simulate_parts {
  simulate_solid *solids;
  uint32_t count;
};

static void fail_object(const simulate_run *run, const graze_scene_file_object *object) {
  fail("%s: object '%s': %s: %s", run->asked->files.names[0], object->name, object->mesh,
       graze_last_error(run->session.context)->message);
}

/* An error as large as the mesh is would be met by anything, and is most likely in other units. */
static void check_error(const simulate_run *run, const graze_scene_file_object *object, const graze_mesh *mesh) {
  graze_mesh_facts facts;
  double square = 0;
  graze_mesh_get_facts(mesh, &facts);
  for (int k = 0; k < 3; k++) {
    const double edge = facts.box.max[k] - facts.box.min[k];
    square += edge * edge;
  }
  if (object->error < sqrt(square)) return;
  fail("%s: object '%s': \"error\" is %g, but all of %s is only %.4g across", run->asked->files.names[0], object->name,
       object->error, object->mesh, sqrt(square));
}

static void check_reached(const simulate_run *run, const graze_scene_file_object *object,
                          const graze_decomposition *found) {
  if (found->reached) return;
  fail("%s: object '%s': %" PRIu32
       " convex part%s of %s stick%s out by up to %.4g, and \"error\" is %g: allow more of "
       "them with \"most_parts\", or a larger error",
       run->asked->files.names[0], object->name, found->count, plural(found->count), object->mesh,
       found->count == 1 ? "s" : "", found->error, object->error);
}

static void find_parts(simulate_run *run, const graze_scene_file_object *object, simulate_solid *solid) {
  graze_context *context = run->session.context;
  graze_decompose_options how = graze_default_decompose_options();
  const graze_mesh *mesh = simulate_take_file(run, object);
  *solid = (simulate_solid){
      .path = object->mesh, .first = object->name, .wanted = object->error, .most_parts = object->most_parts};
  check_error(run, object, mesh);
  how.error = object->error;
  how.rigid = true;
  if (object->most_parts > 0) how.most_parts = object->most_parts;
  if (graze_mesh_get_mass(context, mesh, 1, &solid->mass) != GRAZE_OK ||
      graze_mesh_decompose(context, mesh, &how, &solid->found) != GRAZE_OK)
    fail_object(run, object);
  check_reached(run, object, solid->found);
}

static simulate_solid *take_solid(simulate_run *run, const graze_scene_file_object *object) {
  simulate_parts *parts = run->parts;
  if (!parts) parts = run->parts = calloc(1, sizeof *parts);
  if (!parts) fail_out_of_memory();
  for (uint32_t i = 0; i < parts->count; i++) {
    simulate_solid *solid = &parts->solids[i];
    if (strcmp(solid->path, object->mesh) == 0 && solid->wanted == object->error &&
        solid->most_parts == object->most_parts)
      return solid;
  }
  simulate_solid *solids = realloc(parts->solids, (parts->count + 1) * sizeof *solids);
  if (!solids) fail_out_of_memory();
  parts->solids = solids;
  find_parts(run, object, &solids[parts->count]);
  return &solids[parts->count++];
}

/* A density becomes a mass, since that of the parts would be another one. What is wrong with either the library says.
 */
static void weigh(const graze_scene_file_object *object, const simulate_solid *solid, graze_rigid_body_def *def) {
  const double given = object->body.density;
  memcpy(def->center, solid->mass.center, sizeof def->center);
  if (def->type != GRAZE_BODY_DYNAMIC) return;
  if (isnan(object->body.mass) && isfinite(given) && given > 0) {
    def->mass = given * solid->mass.volume;
    def->density = (double)NAN;
  }
  if (!isnan(def->inertia[0])) return;
  for (int k = 0; k < 6; k++) def->inertia[k] = solid->mass.inertia[k] * (def->mass / solid->mass.mass);
  if (isnan(def->mass)) def->center[0] = (double)NAN;
}

graze_rigid_part *simulate_take_parts(simulate_run *run, const graze_scene_file_object *object,
                                      graze_rigid_body_def *def, double center[3]) {
  simulate_solid *solid = take_solid(run, object);
  const graze_decomposition *found = solid->found;
  graze_rigid_part *parts = calloc((size_t)found->count + 1, sizeof *parts);
  if (!parts) fail_out_of_memory();
  for (uint32_t i = 0; i < found->count; i++) {
    parts[i] = graze_default_rigid_part();
    parts[i].shape = GRAZE_RIGID_HULL;
    parts[i].points = found->parts[i]->points;
    parts[i].point_count = found->parts[i]->vertex_count;
  }
  if (run->over == 0) solid->objects++;
  def->parts = parts;
  def->part_count = found->count;
  memcpy(center, solid->mass.center, sizeof solid->mass.center);
  weigh(object, solid, def);
  return parts;
}

void simulate_free_parts(simulate_run *run) {
  for (uint32_t i = 0; run->parts && i < run->parts->count; i++)
    graze_decomposition_destroy(run->parts->solids[i].found);
  if (run->parts) free(run->parts->solids);
  free(run->parts);
}

/* ---- what is told of them ---------------------------------------------------------------------------------------- */

static double volume_of(const graze_decomposition *found) {
  double volume = 0;
  for (uint32_t i = 0; i < found->count; i++) volume += found->volumes[i];
  return volume;
}

void simulate_put_parts(gz_json *writer, const simulate_run *run) {
  gz_json_open(writer, "convex_parts", '[');
  for (uint32_t i = 0; i < run->parts->count; i++) {
    const simulate_solid *solid = &run->parts->solids[i];
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "mesh", solid->path);
    gz_json_text(writer, "object", solid->first);
    gz_json_integer(writer, "objects", solid->objects);
    gz_json_integer(writer, "parts", solid->found->count);
    gz_json_double(writer, "wanted", solid->wanted);
    gz_json_double(writer, "error", solid->found->error);
    gz_json_double(writer, "volume", volume_of(solid->found));
    gz_json_double(writer, "solid", solid->mass.volume);
    gz_json_close(writer);
  }
  gz_json_close(writer);
}

void simulate_print_parts(output *out, const simulate_run *run) {
  for (uint32_t i = 0; i < run->parts->count; i++) {
    const simulate_solid *solid = &run->parts->solids[i];
    const uint32_t count = solid->found->count;
    output_print(out, "%s is %" PRIu32 " convex part%s", solid->first, count, plural(count));
    if (solid->objects > 1) output_print(out, ", as %" PRIu32 " more", solid->objects - 1);
    output_print(out, ": no more than %.3g outside of %s (%g is allowed), %.4g of its volume\n", solid->found->error,
                 solid->path, solid->wanted, volume_of(solid->found) / solid->mass.volume);
  }
}
