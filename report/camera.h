/* camera.h: how a clash is framed and from where it is looked at; private to report. */
#ifndef GRAZE_REPORT_CAMERA_H
#define GRAZE_REPORT_CAMERA_H

#include "graze/report.h"

enum { CAMERA_DIRECTIONS = 26 };
#define CAMERA_FIELD_OF_VIEW 36.0 /* vertical, degrees: near enough to parallel that shapes look their shape */

/* What a picture of a clash has to show. */
typedef struct camera_frame {
  double focus[3]; /* the middle of the clash */
  double radius;   /* of the clash, > 0 */
  double context;  /* half the height of the view at the focus, > 0 */
} camera_frame;

/* World box of an object: that of its mesh's posed box. Empty without a mesh or triangles. */
graze_box gz_camera_object_box(const graze_report_object *object);

/* Of all objects; gz_free() them. NULL: out of memory. */
graze_box *gz_camera_object_boxes(const graze_context *context, const graze_report *report);

bool gz_camera_box_empty(const graze_box *box);

/* False: nothing says where the clash is (no box, no point, no meshes). `a`, `b`: boxes of its objects. */
bool gz_camera_frame_clash(const graze_report_clash *clash, const graze_box *a, const graze_box *b,
                           camera_frame *frame);

/* Turns a vector of axes with z up into one of the record's axes: (x, z, -y) where y is up. */
void gz_camera_turn(graze_up up, double vector[3]);

/* Unit vector from the focus towards the eye. */
void gz_camera_direction(graze_up up, int number, double direction[3]);

/* How much stands in the way of each direction, by boxes alone, plus a little for unusual views: lower is better, the
 * number of the direction breaks ties. `boxes`: one per object of the report. */
void gz_camera_rate(const graze_report *report, const graze_box *boxes, const graze_report_clash *clash,
                    const camera_frame *frame, double ratings[CAMERA_DIRECTIONS]);

/* How far from the focus the eye is to see half_height of the plane there. */
double gz_camera_distance(double half_height);

/* The camera that looks at `focus` against `direction` and sees `half_height` of the plane there. */
graze_camera gz_camera_look(graze_up up, const double focus[3], const double direction[3], double half_height);

/* Unit vectors to the right, up and forward. */
void gz_camera_axes(const graze_camera *camera, double axes[3][3]);

typedef void camera_take_box(void *user, const graze_box *box);

/* Calls `take` with every box of `source` that a picture has to hold, none of them empty; is asked several times. */
typedef void camera_boxes(const void *source, camera_take_box *take, void *user);

/* The camera on the usual side, as near as all boxes fit into a picture that is `aspect` times as wide as high, with
 * the same margin on opposite sides and a small one where it is smallest. The page's fittingView does the same. Without
 * a box it looks at the origin. */
void gz_camera_fit(graze_up up, double aspect, camera_boxes *boxes, const void *source, graze_camera *camera);

#endif
