#include "scene_bodies.h"

static const char material[] = "steel";

static void put_hinge(gz_json *writer, const scenes_scene *scene) {
  const scenes_run *run = &scene->run;
  gz_json_open(writer, "joints", '[');
  gz_json_open(writer, NULL, '{');
  gz_json_text(writer, "name", "axle");
  gz_json_text(writer, "type", "hinge");
  gz_json_text(writer, "a", scene->objects[run->hinged].name);
  gz_json_doubles(writer, "point", run->point, 3);
  gz_json_doubles(writer, "axis", run->axis, 3);
  gz_json_close(writer);
  gz_json_close(writer);
}

void scene_put_simulation(gz_json *writer, const scenes_scene *scene) {
  gz_json_open(writer, "simulation", '{');
  gz_json_text(writer, "model", "rigid");
  gz_json_doubles(writer, "gravity", scene->run.gravity, 3);
  gz_json_open(writer, "materials", '{');
  gz_json_open(writer, material, '{');
  gz_json_double(writer, "friction", scene->run.friction);
  gz_json_close(writer);
  gz_json_close(writer);
  if (scene->run.has_hinge) put_hinge(writer, scene);
  gz_json_close(writer);
}

void scene_put_body(gz_json *writer, const scenes_run *run, uint32_t object) {
  static const char *const types[] = {"dynamic", "static", "kinematic"}; /* scenes_start_type */
  const scenes_start *start = &run->starts[object];
  gz_json_open(writer, "body", '{');
  if (start->type != SCENES_START_DYNAMIC) gz_json_text(writer, "type", types[start->type]);
  if (start->type == SCENES_START_DYNAMIC) gz_json_double(writer, "density", run->density);
  if (start->type != SCENES_START_STATIC) gz_json_doubles(writer, "spin", start->spin, 3);
  gz_json_text(writer, "material", material);
  gz_json_close(writer);
}
