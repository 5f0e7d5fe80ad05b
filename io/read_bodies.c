/* read_bodies.c: what moves in a scene file: bodies, which are objects with a shape, and sets of particles. */
#include <math.h>

#include "scene_parts.h"

/* ---- objects ----------------------------------------------------------------------------------------------------- */

const char *graze_shape_name(graze_shape shape) {
  static const char *const names[] = {"mesh",     "sphere", "box",      "capsule",
                                      "cylinder", "hull",   "compound", "parts"}; /* graze_shape */
  return (size_t)shape < sizeof names / sizeof *names ? names[shape] : "?";
}

static const char *const form_keys[] = {"sphere", "box", "capsule", "cylinder", "hull"};

enum { FORM_KEYS = sizeof form_keys / sizeof *form_keys };

/* One of the forms that an object, or a part of one, may have. */
static bool read_form(json_t *value, const char *place, graze_scene_file_part *form, io_fault *fault) {
  if (json_object_get(value, "box") != NULL) {
    form->shape = GRAZE_SHAPE_BOX;
    return gz_scene_read_numbers(value, "box", place, 3, form->edges, fault);
  }
  if (json_object_get(value, "hull") != NULL) {
    form->shape = GRAZE_SHAPE_HULL;
    return gz_scene_copy_name(json_object_get(value, "hull"), "hull", place, &form->mesh, fault);
  }
  const bool is_cylinder = json_object_get(value, "cylinder") != NULL;
  if (is_cylinder || json_object_get(value, "capsule") != NULL) {
    double numbers[2] = {0, 0};
    if (!gz_scene_read_numbers(value, is_cylinder ? "cylinder" : "capsule", place, 2, numbers, fault)) return false;
    form->shape = is_cylinder ? GRAZE_SHAPE_CYLINDER : GRAZE_SHAPE_CAPSULE;
    form->radius = numbers[0];
    form->length = numbers[1];
    return true;
  }
  form->shape = GRAZE_SHAPE_SPHERE;
  return gz_scene_read_number(value, "sphere", place, &form->radius, fault);
}

static int count_forms(const json_t *value) {
  int count = 0;
  for (int i = 0; i < FORM_KEYS; i++) count += json_object_get(value, form_keys[i]) != NULL;
  return count;
}

static bool read_part(json_t *value, const char *place, const char *scene_path, graze_scene_file_part *part,
                      io_fault *fault) {
  static const char *const known[] = {"sphere", "box", "capsule", "cylinder", "hull", "pose", "density", NULL};
  part->pose = graze_pose_identity();
  part->density = (double)NAN;
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "not an object such as {\"sphere\": 1}");
  if (!gz_scene_check_keys(value, known, NULL, place, fault)) return false;
  if (count_forms(value) == 0)
    return gz_scene_fail(fault, place, "no shape: one of sphere, box, capsule, cylinder and hull");
  if (count_forms(value) > 1) return gz_scene_fail(fault, place, "several shapes: one of them");
  if (!read_form(value, place, part, fault)) return false;
  const bool good = part->mesh != NULL ? gz_scene_join_path(scene_path, &part->mesh, fault)
                                       : gz_scene_copy_text(NULL, "hull", place, &part->mesh, fault);
  return good && gz_scene_read_numbers(value, "pose", place, 12, part->pose.m, fault) &&
         gz_scene_read_number(value, "density", place, &part->density, fault);
}

static bool read_compound(const json_t *array, const char *place, const char *scene_path,
                          graze_scene_file_object *object, io_fault *fault) {
  scene_place here = gz_scene_member(place, "compound");
  object->shape = GRAZE_SHAPE_COMPOUND;
  if (!gz_scene_make_array(array, place, "compound", sizeof object->parts[0], &object->parts, fault)) return false;
  if (json_array_size(array) == 0) return gz_scene_fail(fault, place, "\"compound\" has no parts");
  for (size_t i = 0; i < json_array_size(array); i++) {
    scene_place element = gz_scene_element(here.text, i, NULL);
    graze_scene_file_part *part = &object->parts[object->part_count++]; /* so far it can be freed */
    if (!read_part(json_array_get(array, i), element.text, scene_path, part, fault)) return false;
  }
  return true;
}

void gz_scene_free_parts(graze_scene_file_object *object) {
  for (uint32_t i = 0; i < object->part_count; i++) gz_free(object->parts[i].mesh);
  gz_free(object->parts);
}

/* Convex parts of a mesh stand for it only where somebody says how much they may differ from it. */
static bool read_parts(json_t *value, const char *place, graze_scene_file_object *object, io_fault *fault) {
  enum { MOST_PARTS = 65536 };
  static const char *const known[] = {"parts", "error", "most_parts", NULL};
  double most = 0;
  object->shape = GRAZE_SHAPE_PARTS;
  if (!gz_scene_check_keys(value, known, NULL, place, fault)) return false;
  if (json_object_get(value, "parts") == NULL) return gz_scene_fail(fault, place, "\"parts\", a mesh file, is missing");
  if (json_object_get(value, "error") == NULL)
    return gz_scene_fail(fault, place, "\"error\" is missing: by how much convex parts may stick out of the mesh");
  if (!gz_scene_copy_name(json_object_get(value, "parts"), "parts", place, &object->mesh, fault) ||
      !gz_scene_read_number(value, "error", place, &object->error, fault) ||
      !gz_scene_read_number(value, "most_parts", place, &most, fault))
    return false;
  if (!(object->error > 0)) return gz_scene_fail(fault, place, "\"error\" is %g: it must be above 0", object->error);
  if (json_object_get(value, "most_parts") != NULL && !(most >= 1 && most <= MOST_PARTS && most == floor(most)))
    return gz_scene_fail(fault, place, "\"most_parts\" is %g: it must be a whole number from 1 to %d", most,
                         MOST_PARTS);
  object->most_parts = (uint32_t)most;
  return true;
}

static bool has_parts(const json_t *value) {
  return json_object_get(value, "parts") != NULL || json_object_get(value, "error") != NULL;
}

bool gz_scene_read_shape(json_t *value, const char *place, const char *scene_path, graze_scene_file_object *object,
                         io_fault *fault) {
  static const char *const known[] = {"sphere", "box", "capsule", "cylinder", "hull", "compound", "parts", NULL};
  graze_scene_file_part form = {.mesh = NULL};
  if (!json_is_object(value) || json_object_size(value) == 0)
    return gz_scene_fail(fault, place, "\"shape\" is not an object such as {\"sphere\": 1}");
  scene_place here = gz_scene_member(place, "shape");
  if (has_parts(value)) return read_parts(value, here.text, object, fault);
  if (!gz_scene_check_keys(value, known, NULL, here.text, fault)) return false;
  if (json_object_size(value) > 1) return gz_scene_fail(fault, place, "\"shape\" has several: one of them");
  if (json_object_get(value, "compound") != NULL)
    return read_compound(json_object_get(value, "compound"), here.text, scene_path, object, fault);
  const bool good = read_form(value, here.text, &form, fault);
  object->shape = form.shape;
  object->mesh = form.mesh;
  object->radius = form.radius;
  object->length = form.length;
  memcpy(object->edges, form.edges, sizeof object->edges);
  return good;
}

static bool read_sensor(const json_t *object, const char *place, bool *sensor, io_fault *fault) {
  const json_t *value = json_object_get(object, "sensor");
  if (value != NULL && !json_is_boolean(value)) return gz_scene_fail(fault, place, "\"sensor\" is not true or false");
  *sensor = json_is_true(value);
  return true;
}

static bool read_blast(json_t *value, const char *place, graze_scene_file_blast *blast, io_fault *fault) {
  static const char *const known[] = {"center", "speed", "spin", NULL};
  if (value == NULL) return true;
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "\"blast\" is not an object");
  scene_place here = gz_scene_member(place, "blast");
  if (!gz_scene_check_keys(value, known, NULL, here.text, fault)) return false;
  for (int k = 0; k < 2; k++) {
    if (json_object_get(value, known[k]) == NULL) return gz_scene_fail(fault, here.text, "\"%s\" is missing", known[k]);
  }
  blast->given = true;
  return gz_scene_read_numbers(value, "center", here.text, 3, blast->center, fault) &&
         gz_scene_read_numbers(value, "speed", here.text, 2, blast->speed, fault) &&
         gz_scene_read_number(value, "spin", here.text, &blast->spin, fault);
}

bool gz_scene_read_body(json_t *value, const char *place, const scene_names *materials, graze_scene_file_body *body,
                        io_fault *fault) {
  static const char *const known[] = {"type",    "mass",           "density",         "velocity", "spin",  "material",
                                      "inertia", "linear_damping", "angular_damping", "sensor",   "blast", NULL};
  static const char *const types[] = {"dynamic", "static", "kinematic", NULL};
  unsigned type = GRAZE_BODY_DYNAMIC;
  *body = (graze_scene_file_body){.type = GRAZE_BODY_STATIC,
                                  .mass = (double)NAN,
                                  .density = (double)NAN,
                                  .inertia = {(double)NAN},
                                  .material = GRAZE_NO_MATERIAL};
  if (value == NULL) return true;
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "\"body\" is not an object");
  scene_place here = gz_scene_member(place, "body");
  bool good = gz_scene_check_keys(value, known, NULL, here.text, fault) &&
              gz_scene_read_word(value, "type", here.text, types, &type, fault) &&
              gz_scene_read_number(value, "mass", here.text, &body->mass, fault) &&
              gz_scene_read_number(value, "density", here.text, &body->density, fault) &&
              gz_scene_read_numbers(value, "velocity", here.text, 3, body->velocity, fault) &&
              gz_scene_read_numbers(value, "spin", here.text, 3, body->spin, fault) &&
              gz_scene_read_numbers(value, "inertia", here.text, 6, body->inertia, fault) &&
              gz_scene_read_number(value, "linear_damping", here.text, &body->linear_damping, fault) &&
              gz_scene_read_number(value, "angular_damping", here.text, &body->angular_damping, fault) &&
              gz_scene_read_material(value, here.text, materials, &body->material, fault) &&
              read_sensor(value, here.text, &body->sensor, fault) &&
              read_blast(json_object_get(value, "blast"), here.text, &body->blast, fault);
  body->type = (graze_body_type)type;
  return good;
}

bool gz_scene_read_draw(const json_t *object, const char *place, const char *scene_path, char **path, io_fault *fault) {
  json_t *value = json_object_get(object, "draw");
  if (value == NULL) return gz_scene_copy_text(NULL, "draw", place, path, fault);
  return gz_scene_copy_name(value, "draw", place, path, fault) && gz_scene_join_path(scene_path, path, fault);
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

static bool read_set(json_t *value, const char *place, const char *scene_path, const scene_names *materials,
                     graze_scene_file_particles *set, io_fault *fault) {
  static const char *const known[] = {"name",  "file", "radius", "mass", "density", "material",
                                      "layer", "drag", "blast",  "draw", NULL};
  set->radius = set->mass = set->density = (double)NAN;
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "not an object");
  return gz_scene_check_keys(value, known, NULL, place, fault) &&
         gz_scene_copy_name(json_object_get(value, "name"), "name", place, &set->name, fault) &&
         gz_scene_copy_name(json_object_get(value, "file"), "file", place, &set->file, fault) &&
         gz_scene_join_path(scene_path, &set->file, fault) &&
         gz_scene_read_number(value, "radius", place, &set->radius, fault) &&
         gz_scene_read_number(value, "mass", place, &set->mass, fault) &&
         gz_scene_read_number(value, "density", place, &set->density, fault) &&
         gz_scene_read_material(value, place, materials, &set->material, fault) &&
         gz_scene_copy_text(json_object_get(value, "layer"), "layer", place, &set->layer, fault) &&
         gz_scene_read_numbers(value, "drag", place, 2, set->drag, fault) &&
         gz_scene_read_draw(value, place, scene_path, &set->draw, fault) &&
         read_blast(json_object_get(value, "blast"), place, &set->blast, fault);
}

/* A set has a name of its own. */
static bool check_names(const graze_scene_file *scene, const scene_names *objects, io_fault *fault) {
  scene_names sets;
  uint32_t other;
  if (!gz_scene_names_begin(&sets, scene->particle_set_count, fault)) return false;
  for (uint32_t i = 0; i < scene->particle_set_count; i++) {
    sets.names[sets.count++] = (scene_name){scene->particles[i].name, i};
  }
  gz_scene_names_sort(&sets);
  bool good = true;
  for (uint32_t i = 0; good && i < sets.count; i++) {
    const char *name = sets.names[i].name;
    scene_place place = gz_scene_element("particles", sets.names[i].index, NULL);
    if (i > 0 && strcmp(sets.names[i - 1].name, name) == 0) {
      good = gz_scene_fail(fault, place.text, "the name \"%s\" is particles[%lu]'s already", scene_quote(name).text,
                           (unsigned long)sets.names[i - 1].index);
    } else if (gz_scene_names_find(objects, name, &other)) {
      good = gz_scene_fail(fault, place.text, "the name \"%s\" is objects[%lu]'s already", scene_quote(name).text,
                           (unsigned long)other);
    }
  }
  gz_free(sets.names);
  return good;
}

bool gz_scene_read_particles(const json_t *array, const char *scene_path, const scene_names *materials,
                             const scene_names *objects, graze_scene_file *scene, io_fault *fault) {
  if (!gz_scene_make_array(array, "", "particles", sizeof scene->particles[0], &scene->particles, fault)) return false;
  for (size_t i = 0; i < json_array_size(array); i++) {
    json_t *value = json_array_get(array, i);
    scene_place place = gz_scene_element("particles", i, value);
    graze_scene_file_particles *set = &scene->particles[scene->particle_set_count++]; /* so far it can be freed */
    if (!read_set(value, place.text, scene_path, materials, set, fault)) return false;
  }
  return check_names(scene, objects, fault);
}
