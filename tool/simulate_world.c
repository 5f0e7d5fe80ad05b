/* From a scene file to a world: what the file leaves open and what no world knows yet are errors that name the key. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"

static const char *path_of(const simulate_run *run) {
  return run->asked->replay ? run->asked->replay : run->asked->files.names[0];
}

void simulate_must(const simulate_run *run, graze_status status) {
  if (status != GRAZE_OK) session_fail(&run->session, path_of(run), status);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void check_objects(const simulate_run *run) {
  const graze_scene_file *file = &run->file;
  for (uint32_t i = 0; i < file->object_count; i++) {
    const graze_scene_file_object *object = &file->objects[i];
    if (!isnan(object->body.inertia[0]) || object->body.linear_damping != 0 || object->body.angular_damping != 0)
      fail("%s: object '%s': \"inertia\", \"linear_damping\" and \"angular_damping\" are of model rigid", path_of(run),
           object->name);
    if (object->body.sensor) fail("%s: object '%s': \"sensor\" is of model rigid", path_of(run), object->name);
    if (object->body.blast.given)
      fail("%s: object '%s': \"blast\" is of model rigid; of dem, particles have one", path_of(run), object->name);
    if (object->shape == GRAZE_SHAPE_PARTS)
      fail("%s: object '%s': convex parts cannot be simulated by model dem", path_of(run), object->name);
    if (object->shape != GRAZE_SHAPE_MESH && object->shape != GRAZE_SHAPE_SPHERE && object->shape != GRAZE_SHAPE_BOX)
      fail("%s: object '%s': a %s cannot be simulated by model dem", path_of(run), object->name,
           graze_shape_name(object->shape));
    if (object->shape == GRAZE_SHAPE_SPHERE || object->body.type != GRAZE_BODY_DYNAMIC) continue;
    fail("%s: object '%s': a %s cannot be dynamic: model dem moves spheres", path_of(run), object->name,
         graze_shape_name(object->shape));
  }
}

/* Rules that keep objects apart would be passed over. */
static void check_rules(const simulate_run *run) {
  const graze_scene_file *file = &run->file;
  const struct {
    bool given;
    const char *key;
  } rules[] = {{file->ignore_count > 0, "ignore"},
               {file->ignore_layer_count > 0, "ignore_layers"},
               {file->ignore_name_count > 0, "ignore_names"},
               {file->ignore_same_parent, "ignore_same_parent"},
               {file->check_count > 0, "check"}};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (rules[i].given) fail("%s: \"%s\" cannot be simulated yet: everything collides", path_of(run), rules[i].key);
  }
}

static void check_scene(const simulate_run *run) {
  const graze_scene_file *file = &run->file;
  if (!file->simulation.given) fail("%s: \"simulation\" is missing", path_of(run));
  if (file->units[0] != 0 && strcmp(file->units, "m") != 0)
    fail("%s: \"units\" is \"%s\": a simulation is in metres, \"m\"", path_of(run), file->units);
  if (file->simulation.model == GRAZE_MODEL_RIGID)
    simulate_check_rigid(run);
  else
    check_objects(run);
  check_rules(run);
}

/* ---- materials --------------------------------------------------------------------------------------------------- */

/* A scene without any is one of a single ball: it needs one that is never asked for anything. */
static void add_unused_material(const simulate_run *run) {
  graze_material material = graze_default_material();
  uint32_t number;
  material.k_n = 1;
  simulate_must(run, graze_world_add_material(run->world, "none", &material, &number));
}

void simulate_check_alone(const simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  if (simulation->material_count > 0 || run->file.object_count + run->particles + simulation->wall_count <= 1) return;
  fail("%s: simulation: \"materials\" is missing: it says what happens where bodies meet", path_of(run));
}

bool simulate_is_turned(const graze_pose *pose) {
  const double *x = pose->m, *y = x + 4, *z = y + 4;
  const double determinant =
      x[0] * (y[1] * z[2] - y[2] * z[1]) - x[1] * (y[0] * z[2] - y[2] * z[0]) + x[2] * (y[0] * z[1] - y[1] * z[0]);
  return graze_pose_is_rigid(pose) && determinant > 0;
}

static void add_materials(const simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  uint32_t number;
  if (simulation->material_count == 0) add_unused_material(run);
  for (uint32_t i = 0; i < simulation->material_count; i++) {
    const graze_scene_file_material *m = &simulation->materials[i];
    simulate_must(run, graze_world_add_material(run->world, m->name, &m->material, &number));
  }
  for (uint32_t i = 0; i < simulation->pair_count; i++) {
    const graze_scene_file_pair *pair = &simulation->pairs[i];
    simulate_must(run, graze_world_set_pair(run->world, pair->first, pair->second, &pair->material));
  }
}

/* Of what has none: the only one that there is. */
uint32_t simulate_material_of(const simulate_run *run, const char *kind, const char *name, uint32_t given) {
  uint32_t count = run->file.simulation.material_count;
  if (given != GRAZE_NO_MATERIAL) return given;
  if (count > 1) fail("%s: %s '%s': \"material\" is missing, and the scene has several", path_of(run), kind, name);
  return 0;
}

/* ---- what moves -------------------------------------------------------------------------------------------------- */

/* From its largest component, after Shepperd. */
void simulate_find_quaternion(const double m[12], double q[4]) {
  const double trace = m[0] + m[5] + m[10];
  const double squares[4] = {1 + trace, 1 + 2 * m[0] - trace, 1 + 2 * m[5] - trace, 1 + 2 * m[10] - trace};
  const double sums[3] = {m[9] + m[6], m[2] + m[8], m[4] + m[1]},
               differences[3] = {m[9] - m[6], m[2] - m[8], m[4] - m[1]};
  int largest = 0;
  for (int k = 1; k < 4; k++) {
    if (squares[k] > squares[largest]) largest = k;
  }
  const double root = sqrt(squares[largest]), factor = 0.5 / root;
  q[largest] = 0.5 * root;
  for (int k = 0; k < 4; k++) {
    if (k == largest) continue;
    bool with_w = k == 0 || largest == 0;
    q[k] = factor * (with_w ? differences[(k == 0 ? largest : k) - 1] : sums[6 - k - largest - 1]);
  }
}

static graze_body_def body_of(simulate_run *run, const graze_scene_file_object *object) {
  const bool is_ball = object->shape == GRAZE_SHAPE_SPHERE;
  graze_body_def def = graze_default_body_def();
  if (!simulate_is_turned(&object->pose))
    fail("%s: object '%s': \"pose\" is not a rotation and a place", path_of(run), object->name);
  if (is_ball && !(object->radius > 0))
    fail("%s: object '%s': \"sphere\" is %g: it must be above 0", path_of(run), object->name, object->radius);
  def.name = object->name;
  def.type = object->body.type;
  if (is_ball)
    def.radius = object->radius;
  else
    def.mesh = simulate_take_mesh(run, object);
  def.mass = object->body.mass;
  def.density = object->body.density;
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
  const graze_scene_file *file = &run->file;
  run->bodies = calloc((size_t)file->object_count + 1, sizeof *run->bodies);
  if (!run->bodies) fail_out_of_memory();
  for (uint32_t i = 0; i < file->object_count; i++) {
    graze_body_def def = body_of(run, &file->objects[i]);
    def.user_id = i;
    simulate_must(run, graze_world_add_body(run->world, &def, &run->bodies[i]));
    run->types[def.type]++;
  }
}

/* The file's radii, or the one of the scene; two that differ would leave one of them out. */
static void check_radii(const simulate_run *run, const graze_scene_file_particles *set,
                        const graze_particle_list *list) {
  if (list->radii == NULL && isnan(set->radius))
    fail("%s: particles '%s': \"radius\" is missing, here and in %s", path_of(run), set->name, set->file);
  for (uint32_t i = 0; list->radii != NULL && !isnan(set->radius) && i < list->count; i++) {
    if (list->radii[i] == set->radius) continue;
    fail("%s: particles '%s': \"radius\" is %.17g, but %s says %.17g of particle %u", path_of(run), set->name,
         set->radius, set->file, list->radii[i], i);
  }
}

static void add_set(simulate_run *run, const graze_scene_file_particles *set) {
  graze_particle_list list;
  graze_particle_def def = graze_default_particle_def();
  uint32_t number;
  must(run->session.context, graze_read_particles(run->session.context, set->file, &list));
  check_radii(run, set, &list);
  def.name = set->name;
  def.count = list.count;
  def.positions = list.positions;
  def.velocities = list.velocities;
  def.spins = list.spins;
  def.radii = list.radii;
  def.radius = set->radius;
  def.mass = set->mass;
  def.density = set->density;
  def.material = simulate_material_of(run, "particles", set->name, set->material);
  memcpy(def.drag, set->drag, sizeof def.drag);
  simulate_must(run, graze_world_add_particles(run->world, &def, &number));
  run->particles += list.count;
  graze_particle_list_free(&list);
}

static void add_walls(const simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  for (uint32_t i = 0; i < simulation->wall_count; i++) {
    const graze_scene_file_wall *wall = &simulation->walls[i];
    char name[16];
    snprintf(name, sizeof name, "%u", i);
    simulate_must(run, graze_world_add_wall(run->world, wall->point, wall->normal,
                                            simulate_material_of(run, "wall", name, wall->material)));
  }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void create_world(simulate_run *run) {
  const graze_scene_file_simulation *simulation = &run->file.simulation;
  graze_world_def def = graze_default_world_def();
  memcpy(def.gravity, simulation->gravity, sizeof def.gravity);
  memcpy(def.periodic, simulation->periodic, sizeof def.periodic);
  def.integrator = simulation->integrator;
  def.bounds = simulation->bounds;
  def.events = true;
  def.precision = run->asked->precision;
  simulate_must(run, graze_world_create(run->session.context, &def, &run->world));
}

void simulate_load(simulate_run *run) {
  double start = clock_now();
  must(run->session.context, graze_read_scene(run->session.context, path_of(run), &run->file));
  check_scene(run);
  clock_add(&run->session.load_seconds, start);
}

graze_blast simulate_blast_of(const simulate_run *run, const graze_scene_file_blast *from) {
  graze_blast blast = graze_default_blast();
  memcpy(blast.center, from->center, sizeof blast.center);
  memcpy(blast.speed, from->speed, sizeof blast.speed);
  blast.spin = from->spin;
  blast.seed = run->seed;
  return blast;
}

static void set_blasts(const simulate_run *run) {
  for (uint32_t i = 0; i < run->file.particle_set_count; i++) {
    const graze_blast blast = simulate_blast_of(run, &run->file.particles[i].blast);
    if (run->file.particles[i].blast.given) simulate_must(run, graze_world_blast(run->world, i, &blast));
  }
}

void simulate_make(simulate_run *run) {
  double start = clock_now();
  if (run->file.simulation.model == GRAZE_MODEL_RIGID) {
    simulate_make_rigid(run);
    clock_add(&run->session.load_seconds, start);
    return;
  }
  graze_world_destroy(run->world);
  free(run->bodies);
  run->particles = 0;
  memset(run->types, 0, sizeof run->types);
  create_world(run);
  add_materials(run);
  add_bodies(run);
  for (uint32_t i = 0; i < run->file.particle_set_count; i++) add_set(run, &run->file.particles[i]);
  add_walls(run);
  simulate_check_alone(run);
  set_blasts(run);
  clock_add(&run->session.load_seconds, start);
}

void simulate_free(simulate_run *run) {
  graze_rigid_destroy(run->rigid);
  free(run->centers);
  graze_world_destroy(run->world);
  simulate_free_parts(run);
  simulate_free_meshes(run);
  graze_motion_free(&run->drive);
  graze_scene_file_free(&run->file);
  free(run->bodies);
}
