/* painter.h: the inside of the off-screen renderer; private to report.
 *
 * View space has x to the right, y up and z away from the eye; depth is near / z, so that 0 is infinitely far, bigger
 * is nearer, and depth is linear in the picture over a flat face. Positions reach the device relative to the eye,
 * computed in double: a plant a million metres from the origin looks as sharp as at the origin.
 */
#ifndef GRAZE_REPORT_PAINTER_H
#define GRAZE_REPORT_PAINTER_H

#include "camera.h"
#include "fault.h"
#include "gl/buffer.h"
#include "gl/context.h"
#include "gl/target.h"
#include "track.h"

enum { CHUNK_TRIANGLES = 256, PAINTER_SAMPLES = 4, TRIAL_SIDES = 6, TRIAL_PIXELS = 64 };

/* A distinct mesh. Triangles in file order are cut into chunks with a box each, so that of a large mesh only what is
 * in view is drawn. */
typedef struct painter_mesh {
  const graze_mesh *mesh;
  double middle[3]; /* vertices on the device are relative to it */
  uint32_t triangles;
  GLuint vertices, indices; /* 0: not sent yet */
  bool inside_out;          /* triangles run clockwise, seen from outside */
  float (*chunks)[6];       /* middle and half sides of the boxes, relative to `middle` */
} painter_mesh;

/* From where, and how much of it. */
typedef struct painter_view {
  double eye[3];
  double axes[3][3];        /* right, up, forward */
  double tan_x, tan_y;      /* half the width and height of the view at distance 1 */
  double nearest, farthest; /* planes between which is drawn; farthest only leaves out whole chunks */
} painter_view;

/* What the vertex shader gets for each object drawn. */
typedef struct painter_instance {
  float rows[3][4]; /* from mesh to view space */
  float colour[4];
} painter_instance;

typedef struct painter_command { /* as glMultiDrawElementsIndirect reads it */
  uint32_t count, instances, first, base_vertex, base_instance;
} painter_command;

typedef struct painter_batch { /* commands of one mesh in a row */
  const painter_mesh *mesh;
  uint32_t first, count;
} painter_batch;

/* A list of draws. Start from {0}; it keeps its memory. */
typedef struct painter_list {
  painter_instance *instances;
  painter_command *commands;
  painter_batch *batches;
  size_t instance_count, command_count, batch_count;
  size_t instance_capacity, command_capacity, batch_capacity;
  uint64_t triangles; /* in all commands */
} painter_list;

/* A line with round ends, or a dot (both ends alike), in pixels of the picture. */
typedef struct painter_mark {
  float from[3], to[3]; /* x, y, and 1 / z of the view */
  float half_width;
  float hidden; /* factor for the width where something stands before it */
  float colour[4];
} painter_mark;

typedef struct painter_marks {
  painter_mark *marks;
  size_t count, capacity;
} painter_marks;

/* Numbers of what stands near a clash, nearest first. */
typedef struct painter_near {
  double distance;
  uint32_t object;
} painter_near;

/* A mesh that is drawn in place of balls, as it was sent for a share of the triangles. */
typedef struct painter_shape {
  struct painter_shape *next;
  uint64_t hash; /* of the mesh, which may be gone */
  uint32_t share;
  painter_mesh mesh;
} painter_shape;

typedef struct painter_programs {
  GLuint solid, partial, compose, marks, plain, dots, balls;
} painter_programs;

struct graze_painter {
  const graze_report *report;
  uint32_t width, height;
  gl_context *context;
  const gl_functions *gl;
  painter_programs programs;
  gl_target subject, ghosts;           /* multisampled: the clash's objects; what stands around them */
  gl_target picture, trial;            /* the composed picture; small pictures from several sides */
  GLuint solids, quads, points, balls; /* vertex arrays */
  GLuint queries[2 * TRIAL_SIDES];
  gl_stream instances, commands, marks, dots, ball_instances;
  painter_mesh *meshes; /* behind them as many simplified ones, for the overview */
  uint32_t mesh_count;
  uint32_t *object_meshes; /* number of an object's mesh; NO_MESH */
  uint32_t *order;         /* objects with a mesh, those with the same mesh next to each other */
  uint32_t order_count;
  graze_box *boxes;        /* of objects in the world */
  const graze_pose *poses; /* of a film's frame; NULL: those of the report */
  painter_shape *shapes;
  painter_list list;
  painter_marks drawn_marks;
  painter_near *near;
  uint32_t near_count;
  uint8_t *rgba, *rgb;
  graze_status status; /* first failure of the running call */
  const graze_context *owner;
};

#define NO_MESH   UINT32_MAX
#define NO_OBJECT UINT32_MAX

/* Reports the first failure of the running call; false. */
bool gz_painter_fail(graze_painter *painter, graze_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool gz_painter_fail_memory(graze_painter *painter);

/* Room for `more` elements of `size` bytes behind `count`; false: out of memory, noted. */
bool gz_painter_grow(graze_painter *painter, void **data, size_t *capacity, size_t count, size_t more, size_t size);

/* ---- painter_scene.c: meshes on the device, lists of draws ---- */

bool gz_painter_scene_create(graze_painter *painter);
void gz_painter_scene_destroy(graze_painter *painter);

painter_view gz_painter_view_of(const graze_camera *camera, double aspect);

/* Adds what is in view of an object. `budget`: an object with more triangles in view is left out. Sends its mesh when
 * that was not yet done. */
bool gz_painter_list_add(graze_painter *painter, const painter_view *view, uint32_t object, const float colour[4],
                         uint64_t budget);

/* Whether the triangles of a posed object run clockwise, seen from outside. */
bool gz_painter_inside_out(graze_painter *painter, uint32_t object, bool *inside_out);

/* Sends a mesh, simplified to the share of triangles if it has more. */
bool gz_painter_mesh_send(graze_painter *painter, const graze_mesh *mesh, uint32_t share, painter_mesh *m);
void gz_painter_mesh_destroy(graze_painter *painter, painter_mesh *m);

/* Adds a mesh that was sent, whole, at a pose. It must stay where it is until the list is cleared. */
bool gz_painter_list_add_mesh(graze_painter *painter, const painter_view *view, const painter_mesh *m,
                              const graze_pose *pose, const float colour[4]);

/* Adds all objects of `order` whole; `colours`: one per object of the report. */
bool gz_painter_list_add_all(graze_painter *painter, const painter_view *view, const float (*colours)[4]);
void gz_painter_list_clear(graze_painter *painter);

/* Draws the list with the program, which must be one that takes solids. */
void gz_painter_list_draw(graze_painter *painter, const painter_view *view, GLuint program);

/* ---- painter_shaders.c ---- */

bool gz_painter_programs_create(graze_painter *painter);
void gz_painter_programs_destroy(graze_painter *painter);

/* ---- painter_side.c: the side from which a clash is seen best ---- */

bool gz_painter_sides_create(graze_painter *painter);
void gz_painter_sides_destroy(graze_painter *painter);

/* Of the sides that boxes call good, the one from which most of the clash is seen. `near` is filled. */
bool gz_painter_choose_side(graze_painter *painter, const graze_report_clash *clash, const camera_frame *frame,
                            double direction[3]);

/* The object that holds the other one (relations a_in_b and b_in_a), and is drawn so that one sees into it; or
 * NO_OBJECT. */
uint32_t gz_painter_container(const graze_report_clash *clash);

/* ---- painter_balls.c: balls of a film ---- */

enum { RAMP_COLOURS = 5 };

/* What a ball's colour goes by. */
typedef struct painter_ball {
  uint32_t ball, set;
  double speed, top; /* top: of those that are fastest */
  bool touching;
} painter_ball;

/* Its colour as the track has it; with chances, by these. */
void gz_painter_ball_colour(const graze_track *track, const painter_ball *ball, float colour[4]);

/* That of any member by its chances, or grey. */
void gz_painter_chance_colour(const graze_track *track, uint32_t member, float colour[4]);

bool gz_painter_balls_create(graze_painter *painter);
void gz_painter_balls_destroy(graze_painter *painter);
bool gz_painter_balls_draw(graze_painter *painter, const painter_view *view, graze_track *track, uint32_t frame);

/* Marks the edges of walls and of the box. */
bool gz_painter_balls_walls(graze_painter *painter, const painter_view *view, const graze_track *track);

/* How far before the eye the middle of all balls is. */
double gz_painter_balls_distance(const graze_track *track, const graze_camera *camera);

/* ---- painter_shapes.c: meshes in place of balls ---- */

/* Adds them to the list of draws. */
bool gz_painter_shapes_add(graze_painter *painter, const painter_view *view, graze_track *track, uint32_t frame);
void gz_painter_shapes_destroy(graze_painter *painter);

/* ---- painter_marks.c: lines and dots over the picture ---- */

void gz_painter_marks_clear(graze_painter *painter);

/* A dot or a line between two points of the world, cut at the near plane. */
bool gz_painter_mark_line(graze_painter *painter, const painter_view *view, const double from[3], const double to[3],
                          const painter_mark *style);
bool gz_painter_mark_curve(graze_painter *painter, const painter_view *view, const graze_report_clash *clash);
bool gz_painter_mark_clash_points(graze_painter *painter, const painter_view *view);
bool gz_painter_mark_axes(graze_painter *painter, const painter_view *view);
void gz_painter_marks_draw(graze_painter *painter, const painter_view *view);

#endif
