/* From a scene file to a world of rigid bodies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"

static const char *path_of(const simulate_run *run) {
  return run->asked->files.names[0];
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void check_options(const simulate_run *run) {
  const simulate_options *asked = run->asked;
  if (asked->precision == GRAZE_FLOAT) fail("%s: rigid bodies have no --precision single yet", path_of(run));
}

void simulate_check_rigid(const simulate_run *run) {
  const graze_scene_file *file = &run->file;
  check_options(run);
  if (file->particle_set_count > 0)
    fail("%s: particles '%s': model rigid moves no particles", path_of(run), file->particles[0].name);
}

/* ---- the world --------------------------------------------------------------------------------------------------- */

static graze_rigid_material material_from(const graze_material *from) {
  graze_rigid_material m = graze_default_rigid_material();
  m.friction = from->friction;
  if (!isnan(from->restitution)) m.restitution = from->restitution;
  m.rolling = from->rolling;
  m.spinning = from->spinning;
  memcpy(m.surface_speed, from->surface_speed, sizeof m.surface_speed);
  return m;
}

static void add_materials(const simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  const graze_rigid_material none = graze_default_rigid_material();
  uint32_t number;
  if (simulation->material_count == 0) simulate_must(run, graze_rigid_add_material(run->rigid, &none, &number));
  for (uint32_t i = 0; i < simulation->material_count; i++) {
    const graze_rigid_material m = material_from(&simulation->materials[i].material);
    graze_status status = graze_rigid_add_material(run->rigid, &m, &number);
    if (status != GRAZE_OK)
      fail("%s: simulation.materials.%s: %s", path_of(run), simulation->materials[i].name,
           graze_last_error(run->session.context)->message);
  }
  for (uint32_t i = 0; i < simulation->pair_count; i++) {
    const graze_rigid_material m = material_from(&simulation->pairs[i].material);
    graze_status status = graze_rigid_set_pair(run->rigid, simulation->pairs[i].first, simulation->pairs[i].second, &m);
    if (status != GRAZE_OK)
      fail("%s: simulation.pairs[%u]: %s", path_of(run), i, graze_last_error(run->session.context)->message);
  }
}

/* By the key of the shape. */
static void check_shape(const simulate_run *run, const graze_scene_file_object *object) {
  const bool is_box = object->shape == GRAZE_SHAPE_BOX;
  static const char *const keys[] = {"mesh", "sphere", "box", "capsule", "cylinder"}; /* graze_shape */
  if (object->shape >= GRAZE_SHAPE_HULL || object->shape == GRAZE_SHAPE_MESH) return;
  const char *key = keys[object->shape];
  for (int k = 0; k < (is_box ? 3 : 1); k++) {
    const double length = is_box ? object->edges[k] : object->radius;
    if (!(length > 0))
      fail("%s: object '%s': \"%s\" is %g: it must be above 0", path_of(run), object->name, key, length);
  }
  if (object->shape == GRAZE_SHAPE_CYLINDER && !(object->length > 0))
    fail("%s: object '%s': \"cylinder\" is %g long: it must be above 0", path_of(run), object->name, object->length);
  if (object->shape == GRAZE_SHAPE_CAPSULE && !(object->length >= 0))
    fail("%s: object '%s': \"capsule\" is %g long: it must be at least 0", path_of(run), object->name, object->length);
}

/* The points of the file, and their centre of mass. */
static void take_hull(const simulate_run *run, const graze_scene_file_object *object, graze_geometry *geometry,
                      graze_rigid_body_def *def, double center[3]) {
  graze_context *context = run->session.context;
  must(context, graze_read_geometry(context, object->mesh, GRAZE_FORMAT_AUTO, 0, geometry));
  if (geometry->vertex_count == 0) fail("%s: object '%s': no points in %s", path_of(run), object->name, object->mesh);
  def->points = geometry->vertices;
  def->point_count = (uint32_t)geometry->vertex_count;
  if (graze_rigid_find_hull_center(context, def->point_count, def->points, center) != GRAZE_OK)
    fail("%s: object '%s': %s: %s", path_of(run), object->name, object->mesh, graze_last_error(context)->message);
}

/* The parts, and the points of those that are hulls, until the body is made of them. */
typedef struct taken_parts {
  graze_rigid_part *parts;
  graze_geometry *geometries;
  uint32_t count;
} taken_parts;

static graze_rigid_part take_part(const simulate_run *run, const graze_scene_file_object *object, uint32_t number,
                                  graze_geometry *geometry) {
  static const graze_rigid_shape shapes[] = {GRAZE_RIGID_MESH,    GRAZE_RIGID_SPHERE,   GRAZE_RIGID_BOX,
                                             GRAZE_RIGID_CAPSULE, GRAZE_RIGID_CYLINDER, GRAZE_RIGID_HULL};
  const graze_scene_file_part *from = &object->parts[number];
  graze_context *context = run->session.context;
  graze_rigid_part part = graze_default_rigid_part();
  if (!graze_pose_is_rigid(&from->pose))
    fail("%s: object '%s': part %u: \"pose\" is not a rotation and a place", path_of(run), object->name, number);
  part.shape = shapes[from->shape];
  part.radius = from->radius;
  part.length = from->length;
  memcpy(part.edges, from->edges, sizeof part.edges);
  part.density = from->density;
  simulate_find_quaternion(from->pose.m, part.orientation);
  for (int k = 0; k < 3; k++) part.place[k] = from->pose.m[4 * k + 3];
  if (from->shape != GRAZE_SHAPE_HULL) return part;
  must(context, graze_read_geometry(context, from->mesh, GRAZE_FORMAT_AUTO, 0, geometry));
  part.points = geometry->vertices;
  part.point_count = (uint32_t)geometry->vertex_count;
  return part;
}

static void take_parts(simulate_run *run, const graze_scene_file_object *object, taken_parts *taken,
                       graze_rigid_body_def *def, double center[3]) {
  if (object->shape == GRAZE_SHAPE_PARTS) {
    taken->parts = simulate_take_parts(run, object, def, center);
    return;
  }
  taken->count = object->part_count;
  taken->parts = calloc((size_t)taken->count + 1, sizeof *taken->parts);
  taken->geometries = calloc((size_t)taken->count + 1, sizeof *taken->geometries);
  if (!taken->parts || !taken->geometries) fail_out_of_memory();
  for (uint32_t i = 0; i < taken->count; i++) taken->parts[i] = take_part(run, object, i, &taken->geometries[i]);
  def->parts = taken->parts;
  def->part_count = taken->count;
  if (graze_rigid_find_parts_center(run->session.context, taken->count, taken->parts, def->density, center) != GRAZE_OK)
    fail("%s: object '%s': %s", path_of(run), object->name, graze_last_error(run->session.context)->message);
}

static void free_parts(const taken_parts *taken) {
  for (uint32_t i = 0; i < taken->count; i++) graze_geometry_free(&taken->geometries[i]);
  free(taken->geometries);
  free(taken->parts);
}

/* Bodies stand where their centres of mass do. */
static void move_to_center(const graze_scene_file_object *object, const double center[3], graze_rigid_body_def *def) {
  for (int k = 0; k < 3; k++) {
    const double *row = object->pose.m + 4 * k;
    def->position[k] = row[3] + row[0] * center[0] + row[1] * center[1] + row[2] * center[2];
  }
}

static graze_rigid_body_def body_of(const simulate_run *run, const graze_scene_file_object *object) {
  static const graze_rigid_shape shapes[] = {GRAZE_RIGID_MESH,     GRAZE_RIGID_SPHERE,   GRAZE_RIGID_BOX,
                                             GRAZE_RIGID_CAPSULE,  GRAZE_RIGID_CYLINDER, GRAZE_RIGID_HULL,
                                             GRAZE_RIGID_COMPOUND, GRAZE_RIGID_COMPOUND};
  graze_rigid_body_def def = graze_default_rigid_body_def();
  if (!simulate_is_turned(&object->pose))
    fail("%s: object '%s': \"pose\" is not a rotation and a place", path_of(run), object->name);
  check_shape(run, object);
  def.name = object->name;
  def.type = object->body.type;
  def.shape = shapes[object->shape]; /* graze_shape */
  def.radius = object->radius;
  def.length = object->length;
  memcpy(def.edges, object->edges, sizeof def.edges);
  def.mass = object->body.mass;
  def.density = object->body.density;
  def.sensor = object->body.sensor;
  memcpy(def.inertia, object->body.inertia, sizeof def.inertia);
  def.linear_damping = object->body.linear_damping;
  def.angular_damping = object->body.angular_damping;
  def.material = simulate_material_of(run, "object", object->name, object->body.material);
  simulate_find_quaternion(object->pose.m, def.orientation);
  for (int k = 0; k < 3; k++) {
    def.position[k] = object->pose.m[4 * k + 3];
    def.velocity[k] = object->body.velocity[k];
    def.spin[k] = object->body.spin[k];
  }
  return def;
}

static void add_bodies(simulate_run *run) {
  run->centers = calloc((size_t)run->file.object_count + 1, sizeof *run->centers);
  if (!run->centers) fail_out_of_memory();
  for (uint32_t i = 0; i < run->file.object_count; i++) {
    const graze_scene_file_object *object = &run->file.objects[i];
    graze_rigid_body_def def = body_of(run, object);
    graze_geometry geometry = {0};
    taken_parts taken = {0};
    uint32_t number;
    if (def.shape == GRAZE_RIGID_HULL) take_hull(run, object, &geometry, &def, run->centers[i]);
    if (def.shape == GRAZE_RIGID_COMPOUND) take_parts(run, object, &taken, &def, run->centers[i]);
    if (def.shape == GRAZE_RIGID_MESH) {
      def.mesh = simulate_take_file(run, object);
      simulate_must(run, graze_rigid_find_mesh_center(run->session.context, def.mesh, run->centers[i]));
    }
    move_to_center(object, run->centers[i], &def);
    def.user_id = i;
    simulate_must(run, graze_rigid_add_body(run->rigid, &def, &number));
    graze_geometry_free(&geometry);
    free_parts(&taken);
    run->types[def.type]++;
  }
}

static void set_blasts(const simulate_run *run) {
  for (uint32_t i = 0; i < run->file.object_count; i++) {
    const graze_scene_file_blast *from = &run->file.objects[i].body.blast;
    const graze_blast blast = simulate_blast_of(run, from);
    if (from->given) simulate_must(run, graze_rigid_blast(run->rigid, i, &blast));
  }
}

static void add_walls(const simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  for (uint32_t i = 0; i < simulation->wall_count; i++) {
    const graze_scene_file_wall *wall = &simulation->walls[i];
    char name[16];
    snprintf(name, sizeof name, "%u", i);
    simulate_must(run, graze_rigid_add_wall(run->rigid, wall->point, wall->normal,
                                            simulate_material_of(run, "wall", name, wall->material)));
  }
}

/* Of an object, or the origin of the world. */
static void find_center(const simulate_run *run, uint32_t object, double center[3]) {
  for (int k = 0; k < 3; k++) center[k] = object != GRAZE_NO_BODY ? run->file.objects[object].pose.m[4 * k + 3] : 0;
}

static void add_joints(const simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  for (uint32_t i = 0; i < simulation->joint_count; i++) {
    const graze_scene_file_joint *from = &simulation->joints[i];
    graze_joint_def def = graze_default_joint_def();
    uint32_t number;
    def.name = from->name;
    def.type = from->type;
    def.a = from->a;
    def.b = from->b;
    memcpy(def.point, from->point, sizeof def.point);
    memcpy(def.other, from->other, sizeof def.other);
    memcpy(def.axis, from->axis, sizeof def.axis);
    memcpy(def.limits, from->limits, sizeof def.limits);
    def.motor_speed = from->motor_speed;
    def.motor_most = from->motor_most;
    def.spring = from->spring;
    def.spring_damping = from->spring_damping;
    def.breaks_at = from->breaks_at;
    if (def.type == GRAZE_JOINT_DISTANCE && isnan(def.other[0])) find_center(run, from->b, def.other);
    simulate_must(run, graze_rigid_add_joint(run->rigid, &def, &number));
  }
}

graze_rigid_solver simulate_solver(const simulate_run *run) {
  graze_rigid_def def;
  must(run->session.context, graze_rigid_get_def(run->rigid, &def));
  return def.solver;
}

void simulate_make_rigid(simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_destroy(run->rigid);
  free(run->centers);
  memset(run->types, 0, sizeof run->types);
  memcpy(def.gravity, simulation->gravity, sizeof def.gravity);
  def.bounds = simulation->bounds;
  def.events = true;
  if (simulation->substeps > 0) def.substeps = simulation->substeps;
  def.solver = run->asked->solver >= 0 ? (graze_rigid_solver)run->asked->solver : simulation->solver;
  def.sleep = run->asked->sleep;
  simulate_must(run, graze_rigid_create(run->session.context, &def, &run->rigid));
  add_materials(run);
  add_bodies(run);
  add_walls(run);
  add_joints(run);
  simulate_check_alone(run);
  set_blasts(run);
}
