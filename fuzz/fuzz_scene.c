/* The scene reader on any bytes. */
#include "check.h"

static void check_text(const char *text) {
  check_that(text != NULL && strlen(text) < SIZE_MAX);
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
  graze_scene_file_free(&scene);
  return 0;
}
