/* read_simulation.c: "simulation" of a scene file: what moves bodies, and what they are made of.
 *
 * Strict about keys, names and types. What the numbers may be is for the world to say that is made of them; what the
 * format has and no world knows yet is refused by name. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "scene_parts.h"

/* ---- materials --------------------------------------------------------------------------------------------------- */

static const char *const law_words[] = {"hooke", "hertz", NULL};
static const char *const end_words[] = {"overlap", "force", NULL};
static const char *const tangential_words[] = {"none", "dashpot", "spring", "full", NULL};

static const char *const material_keys[] = {
    "law", "k_n",   "young",   "poisson",  "restitution", "eta_n",    "gamma_n",       "ends", "tangential",
    "k_t", "eta_t", "gamma_t", "friction", "rolling",     "spinning", "surface_speed", NULL};

static const struct {
  const char *key;
  size_t offset;
} material_numbers[] = {
    {"k_n", offsetof(graze_material, k_n)},         {"young", offsetof(graze_material, young)},
    {"poisson", offsetof(graze_material, poisson)}, {"restitution", offsetof(graze_material, restitution)},
    {"eta_n", offsetof(graze_material, eta_n)},     {"gamma_n", offsetof(graze_material, gamma_n)},
    {"k_t", offsetof(graze_material, k_t)},         {"eta_t", offsetof(graze_material, eta_t)},
    {"gamma_t", offsetof(graze_material, gamma_t)}, {"friction", offsetof(graze_material, friction)},
    {"rolling", offsetof(graze_material, rolling)}, {"spinning", offsetof(graze_material, spinning)},
};

/* Those that rigid bodies have too. */
static const char *const rigid_material_keys[] = {"restitution", "friction",      "rolling",
                                                  "spinning",    "surface_speed", NULL};

static bool read_material(json_t *value, const char *place, graze_scene_model model, graze_material *material,
                          io_fault *fault) {
  unsigned law = GRAZE_HOOKE, ends = GRAZE_END_OVERLAP, tangential = GRAZE_TANGENTIAL_NONE;
  *material = graze_default_material();
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "not an object");
  if (!gz_scene_check_keys(value, model == GRAZE_MODEL_RIGID ? rigid_material_keys : material_keys, NULL, place, fault))
    return false;
  for (size_t i = 0; i < sizeof material_numbers / sizeof material_numbers[0]; i++) {
    double *number = (double *)((char *)material + material_numbers[i].offset);
    if (!gz_scene_read_number(value, material_numbers[i].key, place, number, fault)) return false;
  }
  bool good = gz_scene_read_numbers(value, "surface_speed", place, 3, material->surface_speed, fault) &&
              gz_scene_read_word(value, "law", place, law_words, &law, fault) &&
              gz_scene_read_word(value, "ends", place, end_words, &ends, fault) &&
              gz_scene_read_word(value, "tangential", place, tangential_words, &tangential, fault);
  material->law = (graze_normal_law)law;
  material->ends = (graze_contact_end)ends;
  material->tangential = (graze_tangential_law)tangential;
  return good;
}

static bool read_materials(json_t *object, graze_scene_file_simulation *simulation, scene_names *names,
                           io_fault *fault) {
  const char *place = "simulation.materials", *name;
  json_t *value;
  if (object != NULL && !json_is_object(object)) return gz_scene_fail(fault, place, "not an object");
  size_t count = json_object_size(object);
  if (count >= UINT32_MAX) return gz_scene_fail(fault, place, "too many");
  simulation->materials = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof simulation->materials[0]);
  if (simulation->materials == NULL) return gz_io_fail_memory(fault);
  if (!gz_scene_names_begin(names, (uint32_t)count, fault)) return false;
  json_object_foreach(object, name, value) {
    if (*name == 0) return gz_scene_fail(fault, place, "a name is empty");
    uint32_t number = simulation->material_count++; /* what is there so far can be freed */
    graze_scene_file_material *material = &simulation->materials[number];
    scene_place here = gz_scene_named(place, name);
    if ((material->name = gz_new_text(fault->context, name)) == NULL) return gz_io_fail_memory(fault);
    if (!read_material(value, here.text, simulation->model, &material->material, fault)) return false;
    names->names[names->count++] = (scene_name){material->name, number};
  }
  gz_scene_names_sort(names);
  return true;
}

static bool find_material(const json_t *name, const char *place, const scene_names *materials, uint32_t *number,
                          io_fault *fault) {
  if (gz_scene_names_find(materials, json_string_value(name), number)) return true;
  return gz_scene_fail_unknown(materials, "material", json_string_value(name), place, fault);
}

bool gz_scene_read_material(const json_t *object, const char *place, const scene_names *materials, uint32_t *number,
                            io_fault *fault) {
  const json_t *name = json_object_get(object, "material");
  *number = GRAZE_NO_MATERIAL;
  if (name == NULL) return true;
  if (!json_is_string(name)) return gz_scene_fail(fault, place, "\"material\" is not a string");
  return find_material(name, place, materials, number, fault);
}

/* ---- pairs and walls --------------------------------------------------------------------------------------------- */

static bool read_pair(const json_t *value, const char *place, const scene_names *materials, graze_scene_model model,
                      graze_scene_file_pair *pair, io_fault *fault) {
  const json_t *first = json_array_get(value, 0), *second = json_array_get(value, 1);
  if (json_array_size(value) != 3 || !json_is_string(first) || !json_is_string(second))
    return gz_scene_fail(fault, place, "not the names of two materials and an object");
  return find_material(first, place, materials, &pair->first, fault) &&
         find_material(second, place, materials, &pair->second, fault) &&
         read_material(json_array_get(value, 2), place, model, &pair->material, fault);
}

/* What holds between two materials is said once, whichever of them comes first. */
static bool check_said_once(const graze_scene_file_simulation *simulation, uint32_t number, const char *place,
                            io_fault *fault) {
  const graze_scene_file_pair *pairs = simulation->pairs, *pair = &pairs[number];
  for (uint32_t i = 0; i < number; i++) {
    if ((pairs[i].first == pair->first && pairs[i].second == pair->second) ||
        (pairs[i].first == pair->second && pairs[i].second == pair->first))
      return gz_scene_fail(fault, place, "the two materials are those of simulation.pairs[%lu] already",
                           (unsigned long)i);
  }
  return true;
}

static bool read_pairs(const json_t *array, const scene_names *materials, graze_scene_file_simulation *simulation,
                       io_fault *fault) {
  if (!gz_scene_make_array(array, "simulation", "pairs", sizeof simulation->pairs[0], &simulation->pairs, fault))
    return false;
  for (size_t i = 0; i < json_array_size(array); i++) {
    scene_place place = gz_scene_element("simulation.pairs", i, NULL);
    graze_scene_file_pair *pair = &simulation->pairs[simulation->pair_count++];
    if (!read_pair(json_array_get(array, i), place.text, materials, simulation->model, pair, fault)) return false;
    if (!check_said_once(simulation, (uint32_t)i, place.text, fault)) return false;
  }
  return true;
}

static bool read_wall(json_t *value, const char *place, const scene_names *materials, graze_scene_file_wall *wall,
                      io_fault *fault) {
  static const char *const known[] = {"point", "normal", "material", NULL};
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "not an object");
  if (!gz_scene_check_keys(value, known, NULL, place, fault)) return false;
  for (int k = 0; k < 2; k++) {
    if (json_object_get(value, known[k]) == NULL) return gz_scene_fail(fault, place, "\"%s\" is missing", known[k]);
  }
  return gz_scene_read_numbers(value, "point", place, 3, wall->point, fault) &&
         gz_scene_read_numbers(value, "normal", place, 3, wall->normal, fault) &&
         gz_scene_read_material(value, place, materials, &wall->material, fault);
}

static bool read_walls(const json_t *array, const scene_names *materials, graze_scene_file_simulation *simulation,
                       io_fault *fault) {
  if (!gz_scene_make_array(array, "simulation", "walls", sizeof simulation->walls[0], &simulation->walls, fault))
    return false;
  for (size_t i = 0; i < json_array_size(array); i++) {
    scene_place place = gz_scene_element("simulation.walls", i, NULL);
    graze_scene_file_wall *wall = &simulation->walls[simulation->wall_count++];
    if (!read_wall(json_array_get(array, i), place.text, materials, wall, fault)) return false;
  }
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* 0 without the key. */
static bool read_substeps(const json_t *value, uint32_t *substeps, io_fault *fault) {
  double number = 0;
  if (!gz_scene_read_number(value, "substeps", "simulation", &number, fault)) return false;
  if (json_object_get(value, "substeps") != NULL && !(number >= 1 && number <= 1000 && number == floor(number)))
    return gz_scene_fail(fault, "simulation", "\"substeps\" is not a whole number from 1 to 1000");
  *substeps = (uint32_t)number;
  return true;
}

static bool read_model(const json_t *value, graze_scene_model *model, io_fault *fault) {
  static const char *const words[] = {"dem", "rigid", NULL};
  unsigned word = 0;
  if (json_object_get(value, "model") == NULL) return gz_scene_fail(fault, "simulation", "\"model\" is missing");
  if (!gz_scene_read_word(value, "model", "simulation", words, &word, fault)) return false;
  *model = (graze_scene_model)word;
  return true;
}

static bool read_bounds(const json_t *value, graze_box *bounds, io_fault *fault) {
  double numbers[6];
  *bounds = graze_box_empty();
  if (json_object_get(value, "bounds") == NULL) return true;
  if (!gz_scene_read_numbers(value, "bounds", "simulation", 6, numbers, fault)) return false;
  memcpy(bounds->min, numbers, sizeof bounds->min);
  memcpy(bounds->max, numbers + 3, sizeof bounds->max);
  return !graze_box_is_empty(bounds) ||
         gz_scene_fail(fault, "simulation", "\"bounds\" is empty: min x, y, z and max x, y, z are wanted");
}

static bool read_periodic(const json_t *value, bool periodic[3], io_fault *fault) {
  double numbers[3] = {0, 0, 0};
  if (!gz_scene_read_numbers(value, "periodic", "simulation", 3, numbers, fault)) return false;
  for (int k = 0; k < 3; k++) {
    if (numbers[k] != 0 && numbers[k] != 1)
      return gz_scene_fail(fault, "simulation", "\"periodic\"[%d] is neither 0 nor 1", k);
    periodic[k] = numbers[k] != 0;
  }
  return true;
}

bool gz_scene_read_simulation(json_t *value, graze_scene_file_simulation *simulation, scene_names *materials,
                              io_fault *fault) {
  static const char *const known[] = {"model", "gravity", "integrator", "materials", "pairs",
                                      "walls", "bounds",  "periodic",   NULL};
  static const char *const rigid[] = {"model", "gravity", "substeps", "solver", "materials",
                                      "pairs", "walls",   "bounds",   "joints", NULL};
  static const char *const later[] = {"substeps", "solver", "joints", NULL}, *const rigid_later[] = {NULL};
  static const char *const integrator_words[] = {"leapfrog", "euler", NULL};
  static const char *const solver_words[] = {"auto", "soft", "newton", NULL};
  unsigned integrator = GRAZE_LEAPFROG, solver = GRAZE_RIGID_AUTO;
  const char *place = "simulation";
  if (value == NULL) return true;
  if (!json_is_object(value)) return gz_scene_fail(fault, "", "\"simulation\" is not an object");
  simulation->given = true;
  memcpy(simulation->gravity, graze_default_world_def().gravity, sizeof simulation->gravity);
  if (!read_model(value, &simulation->model, fault)) return false;
  const bool is_rigid = simulation->model == GRAZE_MODEL_RIGID;
  bool good = gz_scene_check_keys(value, is_rigid ? rigid : known, is_rigid ? rigid_later : later, place, fault) &&
              read_substeps(value, &simulation->substeps, fault) &&
              gz_scene_read_numbers(value, "gravity", place, 3, simulation->gravity, fault) &&
              gz_scene_read_word(value, "integrator", place, integrator_words, &integrator, fault) &&
              gz_scene_read_word(value, "solver", place, solver_words, &solver, fault) &&
              read_bounds(value, &simulation->bounds, fault) && read_periodic(value, simulation->periodic, fault) &&
              read_materials(json_object_get(value, "materials"), simulation, materials, fault) &&
              read_pairs(json_object_get(value, "pairs"), materials, simulation, fault) &&
              read_walls(json_object_get(value, "walls"), materials, simulation, fault);
  simulation->integrator = (graze_integrator)integrator;
  simulation->solver = (graze_rigid_solver)solver;
  return good;
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

/* "a" and "b", of which the second may be null. */
static bool read_end(const json_t *object, const char *key, const char *place, const scene_names *objects,
                     uint32_t *number, io_fault *fault) {
  const json_t *name = json_object_get(object, key);
  *number = GRAZE_NO_BODY;
  if (*key == 'b' && (name == NULL || json_is_null(name))) return true;
  if (!json_is_string(name)) return gz_scene_fail(fault, place, "\"%s\" is not the name of an object", key);
  if (gz_scene_names_find(objects, json_string_value(name), number)) return true;
  return gz_scene_fail_unknown(objects, "object", json_string_value(name), place, fault);
}

/* An object of two numbers. */
static bool read_two(json_t *object, const char *key, const char *const *known, const char *place, double *first,
                     double *second, io_fault *fault) {
  json_t *value = json_object_get(object, key);
  if (value == NULL) return true;
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "\"%s\" is not an object", key);
  scene_place here = gz_scene_member(place, key);
  if (!gz_scene_check_keys(value, known, NULL, here.text, fault)) return false;
  if (json_object_get(value, known[0]) == NULL) return gz_scene_fail(fault, here.text, "\"%s\" is missing", known[0]);
  return gz_scene_read_number(value, known[0], here.text, first, fault) &&
         gz_scene_read_number(value, known[1], here.text, second, fault);
}

static bool read_joint(json_t *value, const char *place, const scene_names *objects, graze_scene_file_joint *joint,
                       io_fault *fault) {
  static const char *const known[] = {"name", "type",   "a",     "b",      "point",     "other",
                                      "axis", "limits", "motor", "spring", "breaks_at", NULL};
  static const char *const types[] = {"ball", "hinge", "slider", "fixed", "distance", NULL}; /* graze_joint_type */
  static const char *const motor[] = {"speed", "most", NULL}, *const spring[] = {"k", "damping", NULL};
  const graze_joint_def none = graze_default_joint_def();
  unsigned type = 0;
  memcpy(joint->point, none.point, sizeof joint->point);
  memcpy(joint->other, none.other, sizeof joint->other);
  memcpy(joint->axis, none.axis, sizeof joint->axis);
  memcpy(joint->limits, none.limits, sizeof joint->limits);
  joint->motor_speed = joint->motor_most = joint->spring = joint->spring_damping = joint->breaks_at = (double)NAN;
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "not an object");
  if (!gz_scene_check_keys(value, known, NULL, place, fault)) return false;
  if (json_object_get(value, "type") == NULL) return gz_scene_fail(fault, place, "\"type\" is missing");
  if (json_object_get(value, "point") == NULL) return gz_scene_fail(fault, place, "\"point\" is missing");
  bool good = gz_scene_copy_text(json_object_get(value, "name"), "name", place, &joint->name, fault) &&
              gz_scene_read_word(value, "type", place, types, &type, fault) &&
              read_end(value, "a", place, objects, &joint->a, fault) &&
              read_end(value, "b", place, objects, &joint->b, fault) &&
              gz_scene_read_numbers(value, "point", place, 3, joint->point, fault) &&
              gz_scene_read_numbers(value, "other", place, 3, joint->other, fault) &&
              gz_scene_read_numbers(value, "axis", place, 3, joint->axis, fault) &&
              gz_scene_read_numbers(value, "limits", place, 2, joint->limits, fault) &&
              gz_scene_read_number(value, "breaks_at", place, &joint->breaks_at, fault) &&
              read_two(value, "motor", motor, place, &joint->motor_speed, &joint->motor_most, fault) &&
              read_two(value, "spring", spring, place, &joint->spring, &joint->spring_damping, fault);
  joint->type = (graze_joint_type)type;
  return good;
}

bool gz_scene_read_joints(const json_t *array, const scene_names *objects, graze_scene_file_simulation *simulation,
                          io_fault *fault) {
  if (!gz_scene_make_array(array, "simulation", "joints", sizeof simulation->joints[0], &simulation->joints, fault))
    return false;
  for (size_t i = 0; i < json_array_size(array); i++) {
    scene_place place = gz_scene_element("simulation.joints", i, NULL);
    graze_scene_file_joint *joint = &simulation->joints[simulation->joint_count++];
    if (!read_joint(json_array_get(array, i), place.text, objects, joint, fault)) return false;
  }
  return true;
}

void gz_scene_free_simulation(graze_scene_file_simulation *simulation) {
  for (uint32_t i = 0; i < simulation->material_count; i++) gz_free(simulation->materials[i].name);
  gz_free(simulation->materials);
  gz_free(simulation->pairs);
  gz_free(simulation->walls);
  for (uint32_t i = 0; i < simulation->joint_count; i++) gz_free(simulation->joints[i].name);
  gz_free(simulation->joints);
}
