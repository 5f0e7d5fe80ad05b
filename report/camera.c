/* camera.c: where a clash is looked at from: along the diagonal of the axes, far enough to have its box in the picture.
 */
#include <math.h>

#include "graze/report.h"

graze_camera graze_report_camera(const graze_report *report, uint32_t index) {
  static const double forward[3] = {-0.57735026918962573, 0.57735026918962573, -0.57735026918962573};
  static const double up[3] = {-0.40824829046386307, 0.40824829046386307, 0.81649658092772615};
  const graze_report_clash *clash = &report->clashes[index];
  double diagonal = 0;
  graze_camera camera = {.field_of_view = 50};
  for (int k = 0; k < 3; k++) diagonal = hypot(diagonal, fmax(clash->box.max[k] - clash->box.min[k], 0));
  if (!(diagonal > 0)) diagonal = 1;
  for (int k = 0; k < 3; k++) {
    camera.forward[k] = forward[k];
    camera.up[k] = up[k];
    camera.eye[k] = (isfinite(clash->point[k]) ? clash->point[k] : 0) - 2 * diagonal * forward[k];
  }
  return camera;
}
