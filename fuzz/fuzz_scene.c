/* The scene reader on any bytes. */
#include "check.h"

static void check_text(const char *text) {
  check_that(text != NULL && strlen(text) < SIZE_MAX);
}

static void check_material(const graze_scene_file *scene, uint32_t material) {
  check_that(material == GRAZE_NO_MATERIAL || material < scene->simulation.material_count);
}

static void check_bodies(const graze_scene_file *scene) {
  const graze_scene_file_simulation *simulation = &scene->simulation;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    const graze_scene_file_object *object = &scene->objects[i];
    check_material(scene, object->body.material);
    check_that(object->shape == GRAZE_SHAPE_MESH ? object->mesh[0] != 0 : isfinite(object->radius));
  }
  for (uint32_t i = 0; i < simulation->wall_count; i++) check_material(scene, simulation->walls[i].material);
  for (uint32_t i = 0; i < simulation->pair_count; i++) {
    check_that(simulation->pairs[i].first < simulation->material_count);
    check_that(simulation->pairs[i].second < simulation->material_count);
  }
  for (uint32_t i = 0; i < simulation->material_count; i++) check_text(simulation->materials[i].name);
  for (uint32_t i = 0; i < scene->particle_set_count; i++) {
    check_text(scene->particles[i].name);
    check_text(scene->particles[i].file);
    check_text(scene->particles[i].layer);
    check_material(scene, scene->particles[i].material);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  graze_scene_file scene;
  graze_status status = graze_parse_scene(fuzz_context(), data, size, "folder/input", &scene);
  if (status != GRAZE_OK) check_that(fuzz_failed(status, "folder/input:") && scene.objects == NULL);
  for (uint32_t i = 0; i < scene.object_count; i++) {
    check_text(scene.objects[i].name);
    check_text(scene.objects[i].mesh);
    check_text(scene.objects[i].layer);
    for (int k = 0; k < 12; k++) check_that(isfinite(scene.objects[i].pose.m[k]));
  }
  for (uint32_t i = 0; i < scene.ignore_count; i++) {
    check_that(scene.ignore[i][0] < scene.object_count && scene.ignore[i][1] < scene.object_count);
  }
  for (uint32_t i = 0; i < scene.ignore_layer_count; i++) {
    check_text(scene.ignore_layers[i][0]);
    check_text(scene.ignore_layers[i][1]);
  }
  check_bodies(&scene);
  graze_scene_file_free(&scene);
  return 0;
}
