/* The renderer of a build without OpenGL's headers: every call says so. */
#include <stdio.h>

#include "graze/report.h"

static graze_status refuse(graze_io_error *error) {
  if (error != NULL) {
    error->status = GRAZE_ERROR_UNSUPPORTED;
    snprintf(error->message, sizeof error->message, "pictures: graze was built without OpenGL (libegl-dev, libgl-dev)");
  }
  return GRAZE_ERROR_UNSUPPORTED;
}

graze_status graze_painter_create(const graze_report *report, uint32_t width, uint32_t height, graze_painter **painter,
                                  graze_io_error *error) {
  (void)report, (void)width, (void)height, (void)painter;
  return refuse(error);
}

void graze_painter_destroy(graze_painter *painter) {
  (void)painter;
}

const char *graze_painter_device(const graze_painter *painter) {
  (void)painter;
  return "";
}

graze_status graze_painter_overview(graze_painter *painter, graze_picture *picture, graze_io_error *error) {
  (void)painter, (void)picture;
  return refuse(error);
}

graze_status graze_painter_clash(graze_painter *painter, uint32_t index, graze_picture *picture, graze_camera *camera,
                                 graze_io_error *error) {
  (void)painter, (void)index, (void)picture, (void)camera;
  return refuse(error);
}

graze_status graze_painter_frame(graze_painter *painter, const graze_pose *poses, const bool *lit,
                                 const graze_camera *camera, graze_picture *picture, graze_io_error *error) {
  (void)painter, (void)poses, (void)lit, (void)camera, (void)picture;
  return refuse(error);
}
