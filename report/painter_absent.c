/* The renderer of a build without OpenGL's headers: every call says so. */
#include "fault.h"
#include "graze/track.h"

static graze_status refuse(const graze_context *context) {
  return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "pictures: graze was built without OpenGL (libegl-dev, libgl-dev)");
}

graze_status graze_painter_create(graze_context *context, const graze_report *report, uint32_t width, uint32_t height,
                                  graze_painter **painter) {
  (void)report, (void)width, (void)height, (void)painter;
  return refuse(context);
}

void graze_painter_destroy(graze_painter *painter) {
  (void)painter;
}

const char *graze_painter_device(const graze_painter *painter) {
  (void)painter;
  return "";
}

graze_status graze_painter_overview(graze_painter *painter, graze_picture *picture) {
  (void)painter, (void)picture;
  return refuse(NULL);
}

graze_status graze_painter_clash(graze_painter *painter, uint32_t index, graze_picture *picture, graze_camera *camera) {
  (void)painter, (void)index, (void)picture, (void)camera;
  return refuse(NULL);
}

graze_status graze_painter_frame(graze_painter *painter, const graze_pose *poses, const bool *lit,
                                 const graze_camera *camera, graze_picture *picture) {
  (void)painter, (void)poses, (void)lit, (void)camera, (void)picture;
  return refuse(NULL);
}

graze_status graze_painter_track(graze_painter *painter, graze_track *track, uint32_t frame, const graze_camera *camera,
                                 graze_picture *picture) {
  (void)painter, (void)track, (void)frame, (void)camera, (void)picture;
  return refuse(NULL);
}
