/* Pictures of clashes without a display.
 *
 * A picture has layers: the subject (the two objects of a clash, or in the overview everything), the ghosts (what
 * stands around), and marks. Subject and ghosts are drawn apart, each with its own depth, and put together pixel by
 * pixel: so ghosts hide each other as solid things do, which reads better than many transparent layers and needs no
 * sorting, yet never hide the clash. Ghosts before the clash are cut away. */
#include "painter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_SIDE = 16384, GHOST_TRIANGLES = 14000, LAYER_COLOURS = 8, STRIPE_PIXELS = 14 };

/* Orange and blue are told apart by every kind of colour vision (Okabe and Ito 2002). */
static const float colour_a[4] = {0.95f, 0.55f, 0.08f, 1}, colour_b[4] = {0.10f, 0.45f, 0.78f, 1};
static const float container_b[4] = {0.10f, 0.45f, 0.78f, 0.55f}, container_a[4] = {0.95f, 0.55f, 0.08f, 0.55f};
static const float colour_ghost[4] = {0.74f, 0.77f, 0.81f, 0.34f};
static const float layer_colours[LAYER_COLOURS][4] = {
    {0.72f, 0.75f, 0.79f, 1}, {0.62f, 0.72f, 0.70f, 1}, {0.79f, 0.74f, 0.64f, 1}, {0.66f, 0.68f, 0.80f, 1},
    {0.70f, 0.78f, 0.62f, 1}, {0.80f, 0.69f, 0.70f, 1}, {0.60f, 0.74f, 0.79f, 1}, {0.75f, 0.70f, 0.80f, 1}};

/* ---- failures and memory ---- */

bool gz_painter_fail(graze_painter *painter, graze_status status, const char *format, ...) {
  if (painter->status != GRAZE_OK) return false;
  painter->status = status;
  va_list arguments;
  va_start(arguments, format);
  gz_fail_list(painter->owner, status, format, arguments);
  va_end(arguments);
  return false;
}

bool gz_painter_fail_memory(graze_painter *painter) {
  return gz_painter_fail(painter, GRAZE_ERROR_MEMORY, "pictures: out of memory");
}

bool gz_painter_grow(graze_painter *painter, void **data, size_t *capacity, size_t count, size_t more, size_t size) {
  if (count + more <= *capacity) return true;
  size_t wanted = count + more + count / 2 + 64;
  void *grown = wanted <= SIZE_MAX / size ? gz_resize(painter->owner, *data, wanted, size) : NULL;
  if (grown == NULL) return gz_painter_fail_memory(painter);
  *data = grown;
  *capacity = wanted;
  return true;
}

/* ---- making and ending ---- */

static const char *record_fault(const graze_report *report, char *text, size_t size) {
  for (uint32_t i = 0; i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    if (clash->a < report->object_count && clash->b < report->object_count) continue;
    snprintf(text, size, "pictures: clash %u (%.23s) names object %u of %u", i, clash->id,
             clash->a < report->object_count ? clash->b : clash->a, report->object_count);
    return text;
  }
  return NULL;
}

static void create_arrays(graze_painter *p) {
  const gl_functions *gl = p->gl;
  static const struct {
    int size;
    size_t offset;
  } mark_fields[] = {{3, offsetof(painter_mark, from)},
                     {3, offsetof(painter_mark, to)},
                     {2, offsetof(painter_mark, half_width)},
                     {4, offsetof(painter_mark, colour)}};
  gl->CreateVertexArrays(1, &p->solids);
  for (GLuint i = 0; i <= 4; i++) {
    gl->EnableVertexArrayAttrib(p->solids, i);
    gl->VertexArrayAttribFormat(p->solids, i, i == 0 ? 3 : 4, GL_FLOAT, GL_FALSE, i == 0 ? 0 : 16 * (i - 1));
    gl->VertexArrayAttribBinding(p->solids, i, i > 0);
  }
  gl->VertexArrayBindingDivisor(p->solids, 1, 1);
  gl->CreateVertexArrays(1, &p->quads);
  for (GLuint i = 0; i < 4; i++) {
    gl->EnableVertexArrayAttrib(p->quads, i);
    gl->VertexArrayAttribFormat(p->quads, i, mark_fields[i].size, GL_FLOAT, GL_FALSE, (GLuint)mark_fields[i].offset);
    gl->VertexArrayAttribBinding(p->quads, i, 0);
  }
  gl->VertexArrayBindingDivisor(p->quads, 0, 1);
}

static bool create_targets(graze_painter *p) {
  gl_message message = {""};
  bool good = gz_gl_target_create(p->gl, p->width, p->height, PAINTER_SAMPLES, true, &p->subject, &message) &&
              gz_gl_target_create(p->gl, p->width, p->height, 1, true, &p->ghosts, &message) &&
              gz_gl_target_create(p->gl, p->width, p->height, 1, false, &p->picture, &message);
  return good || gz_painter_fail(p, GRAZE_ERROR_UNSUPPORTED, "pictures: %s", message.text);
}

static bool check_device(graze_painter *p) {
  gl_message message;
  graze_status status = gz_gl_check(p->context, &message);
  return status == GRAZE_OK || gz_painter_fail(p, status, "pictures: %s", message.text);
}

/* State that holds for every draw. */
static void set_state(graze_painter *p) {
  const gl_functions *gl = p->gl;
  gl->ClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE); /* the first row is the top one; depth 0 is far, 1 near */
  gl->Enable(GL_DEPTH_TEST);
  gl->DepthFunc(GL_GREATER);
}

static bool create_on_device(graze_painter *p) {
  GLint largest = 0;
  p->gl->GetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  if ((int64_t)p->width > largest || (int64_t)p->height > largest) {
    return gz_painter_fail(p, GRAZE_ERROR_ARGUMENT, "pictures: %u x %u pixels, and the device takes %d at most",
                           p->width, p->height, largest);
  }
  set_state(p);
  create_arrays(p);
  return gz_painter_programs_create(p) && gz_painter_balls_create(p) && create_targets(p) &&
         gz_painter_sides_create(p) && gz_painter_scene_create(p) && check_device(p);
}

static graze_status create(graze_painter *p, const gl_request *request) {
  gl_message message;
  size_t pixels = (size_t)p->width * p->height;
  p->rgba = gz_new(p->owner, 4 * pixels, 1);
  p->rgb = gz_new(p->owner, 3 * pixels, 1);
  if (p->rgba == NULL || p->rgb == NULL) {
    gz_painter_fail_memory(p);
    return p->status;
  }
  graze_status status = gz_gl_context_create(p->owner, request, &p->context, &message);
  if (status != GRAZE_OK) {
    gz_painter_fail(p, status, "pictures: %s", message.text);
    return status;
  }
  p->gl = gz_gl_functions_of(p->context);
  if (!gz_gl_begin(p->context)) {
    gz_painter_fail(p, GRAZE_ERROR_UNSUPPORTED, "pictures: the OpenGL context cannot be made current");
    return p->status;
  }
  create_on_device(p);
  gz_gl_end(p->context);
  return p->status;
}

graze_status graze_painter_create(graze_context *context, const graze_report *report, uint32_t width, uint32_t height,
                                  graze_painter **painter) {
  char text[160];
  if (context == NULL || report == NULL || painter == NULL || width < 16 || height < 16 || width > LARGEST_SIDE ||
      height > LARGEST_SIDE) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "pictures: an argument is invalid (16 to 16384 pixels a side)");
  }
  if (record_fault(report, text, sizeof text) != NULL) return gz_fail(context, GRAZE_ERROR_INDEX, "%s", text);
  graze_painter *p = gz_new_zeroed(context, 1, sizeof *p);
  if (p == NULL) return gz_fail(context, GRAZE_ERROR_MEMORY, "pictures: out of memory");
  p->owner = context;
  p->report = report;
  p->width = width;
  p->height = height;
  graze_status status = create(p, NULL);
  if (status == GRAZE_OK) {
    *painter = p;
  } else {
    graze_painter_destroy(p);
  }
  return status;
}

static void destroy_on_device(graze_painter *p) {
  gz_painter_scene_destroy(p);
  gz_painter_shapes_destroy(p);
  gz_painter_sides_destroy(p);
  gz_painter_balls_destroy(p);
  gz_painter_programs_destroy(p);
  gz_gl_target_destroy(p->gl, &p->subject);
  gz_gl_target_destroy(p->gl, &p->ghosts);
  gz_gl_target_destroy(p->gl, &p->picture);
  gz_gl_stream_destroy(p->gl, &p->instances);
  gz_gl_stream_destroy(p->gl, &p->commands);
  gz_gl_stream_destroy(p->gl, &p->marks);
  p->gl->DeleteVertexArrays(1, &p->solids);
  p->gl->DeleteVertexArrays(1, &p->quads);
}

void graze_painter_destroy(graze_painter *painter) {
  if (painter == NULL) return;
  if (painter->context != NULL && gz_gl_begin(painter->context)) {
    destroy_on_device(painter);
    gz_gl_end(painter->context);
  }
  gz_gl_context_destroy(painter->context);
  gz_free(painter->drawn_marks.marks);
  gz_free(painter->rgba);
  gz_free(painter->rgb);
  gz_free(painter);
}

const char *graze_painter_device(const graze_painter *painter) {
  return gz_gl_device(painter->context);
}

/* ---- layers ---- */

static void begin_layer(graze_painter *p, const gl_target *target) {
  const float nothing[4] = {0, 0, 0, 0};
  gz_gl_target_use(p->gl, target);
  gz_gl_target_clear(p->gl, target, nothing, 0);
}

/* How solids are drawn; all 0: as they are. */
typedef struct solid_style {
  float stripes;                    /* pixels from stripe to stripe */
  float hole_distance, hole_radius; /* a cone from the eye that is left out as far as the distance */
  float cut;                        /* nothing nearer is drawn */
} solid_style;

/* Uniforms are set while the program is in use: Mesa 22.3's llvmpipe was seen to draw with old values otherwise. */
static void draw_solids(graze_painter *p, const painter_view *view, solid_style style) {
  const gl_functions *gl = p->gl;
  bool partial = style.stripes > 0 || style.hole_radius > 0;
  GLuint program = partial ? p->programs.partial : p->programs.solid;
  gl->UseProgram(program);
  gl->ProgramUniform1f(program, 3, style.cut);
  if (partial) {
    gl->ProgramUniform1f(program, 1, style.stripes);
    gl->ProgramUniform4f(program, 2, 0, 0, style.hole_distance, style.hole_radius);
  }
  if (style.cut > 0) gl->Enable(GL_CLIP_DISTANCE0);
  gz_painter_list_draw(p, view, program);
  gl->Disable(GL_CLIP_DISTANCE0);
}

/* Where the two objects share a surface, b's is drawn once more in stripes and a touch nearer, so that both colours
 * show there; elsewhere that changes nothing. */
static bool draw_shared_surface(graze_painter *p, const painter_view *view, uint32_t object, const float colour[4]) {
  gz_painter_list_clear(p);
  if (!gz_painter_list_add(p, view, object, colour, UINT64_MAX)) return false;
  p->gl->Enable(GL_POLYGON_OFFSET_FILL);
  p->gl->PolygonOffset(1, 128);
  p->gl->DepthMask(GL_FALSE); /* outlines are made of depth: stripes are to have none */
  draw_solids(p, view, (solid_style){.stripes = STRIPE_PIXELS});
  p->gl->DepthMask(GL_TRUE);
  p->gl->Disable(GL_POLYGON_OFFSET_FILL);
  return true;
}

static bool draw_subject(graze_painter *p, const painter_view *view, const graze_report_clash *clash) {
  uint32_t container = gz_painter_container(clash);
  begin_layer(p, &p->subject);
  gz_painter_list_clear(p);
  if (container != clash->a && !gz_painter_list_add(p, view, clash->a, colour_a, UINT64_MAX)) return false;
  draw_solids(p, view, (solid_style){0});
  if (container == clash->b) return true;
  bool shared = clash->relation == GRAZE_DUPLICATE || clash->counts.coplanar > 0;
  gz_painter_list_clear(p);
  if (!gz_painter_list_add(p, view, clash->b, colour_b, UINT64_MAX)) return false;
  p->gl->Enable(GL_POLYGON_OFFSET_FILL);
  p->gl->PolygonOffset(shared ? -1 : 0, shared ? -128 : 0);
  draw_solids(p, view, (solid_style){0});
  p->gl->Disable(GL_POLYGON_OFFSET_FILL);
  return !shared || draw_shared_surface(p, view, clash->b, colour_b);
}

static bool box_in_box(const graze_box *inner, const graze_box *outer) {
  for (int k = 0; k < 3; k++) {
    if (inner->min[k] < outer->min[k] || inner->max[k] > outer->max[k]) return false;
  }
  return true;
}

/* What stands around the clash, nearest first and within a budget; without what is before it, and with a hole where a
 * ghost would still come between the eye and the clash; around a container nothing, which would hide it. */
static bool draw_ghosts(graze_painter *p, const painter_view *view, const graze_report_clash *clash,
                        const camera_frame *frame, double distance) {
  painter_view part = *view;
  part.nearest = fmax(view->nearest, distance - 1.25 * frame->context);
  part.farthest = distance + 4 * frame->context;
  begin_layer(p, &p->ghosts);
  gz_painter_list_clear(p);
  uint32_t container = gz_painter_container(clash);
  if (container != NO_OBJECT &&
      !gz_painter_list_add(p, &part, container, container == clash->a ? container_a : container_b, UINT64_MAX)) {
    return false;
  }
  for (uint32_t i = 0; i < p->near_count && p->list.triangles < GHOST_TRIANGLES; i++) {
    uint64_t rest = GHOST_TRIANGLES - p->list.triangles;
    uint32_t object = p->near[i].object;
    if (container != NO_OBJECT && box_in_box(&p->boxes[container], &p->boxes[object])) continue;
    if (!gz_painter_list_add(p, &part, object, colour_ghost, rest)) return false;
  }
  /* The container is there to be looked into; anything else before the clash gets a hole. */
  float hole = container == NO_OBJECT ? (float)(1.2 * frame->radius) : 0;
  draw_solids(p, view, (solid_style){0, (float)distance, hole, (float)part.nearest});
  return true;
}

static void compose(graze_painter *p, const painter_view *view, int ghosts, double focus_depth) {
  const gl_functions *gl = p->gl;
  GLuint program = p->programs.compose;
  gz_gl_target_use(gl, &p->picture);
  gl->Disable(GL_DEPTH_TEST);
  gl->UseProgram(program);
  gl->ProgramUniform1i(program, 0, ghosts);
  gl->ProgramUniform2f(program, 1, (float)p->width, (float)p->height);
  gl->ProgramUniform1f(program, 2, (float)focus_depth);
  gl->ProgramUniform2f(program, 3, (float)view->tan_x, (float)view->tan_y);
  gl->BindTextureUnit(0, p->subject.colour);
  gl->BindTextureUnit(1, p->subject.depth);
  gl->BindTextureUnit(2, p->ghosts.colour);
  gl->BindTextureUnit(3, p->ghosts.depth);
  gl->BindVertexArray(p->quads); /* the triangle comes out of vertex numbers; core OpenGL wants an array bound */
  gl->DrawArrays(GL_TRIANGLES, 0, 3);
}

/* Marks over the composed picture, and out of the device. */
static bool finish(graze_painter *p, const painter_view *view, graze_picture *picture) {
  gz_painter_marks_draw(p, view);
  p->gl->Enable(GL_DEPTH_TEST);
  gz_gl_target_read(p->gl, &p->picture, p->rgba);
  if (!check_device(p)) return false;
  size_t pixels = (size_t)p->width * p->height;
  for (size_t i = 0; i < pixels; i++) memcpy(p->rgb + 3 * i, p->rgba + 4 * i, 3);
  *picture = (graze_picture){p->rgb, p->width, p->height};
  return true;
}

/* ---- a clash ---- */

static bool paint_clash(graze_painter *p, uint32_t index, graze_picture *picture, graze_camera *camera) {
  const graze_report_clash *clash = &p->report->clashes[index];
  camera_frame frame;
  if (p->object_meshes[clash->a] == NO_MESH && p->object_meshes[clash->b] == NO_MESH) {
    return gz_painter_fail(p, GRAZE_ERROR_ARGUMENT, "pictures: neither object of clash %u (%.23s) has a mesh", index,
                           clash->id);
  }
  if (!gz_camera_frame_clash(clash, &p->boxes[clash->a], &p->boxes[clash->b], &frame)) {
    return gz_painter_fail(p, GRAZE_ERROR_ARGUMENT, "pictures: clash %u (%.23s) has no place", index, clash->id);
  }
  double direction[3];
  if (!gz_painter_choose_side(p, clash, &frame, direction)) return false;
  *camera = gz_camera_look(p->report->up, frame.focus, direction, frame.context);
  double distance = gz_camera_distance(frame.context);
  painter_view view = gz_painter_view_of(camera, (double)p->width / p->height);
  view.nearest = 0.02 * distance;
  gz_painter_marks_clear(p);
  if (!draw_subject(p, &view, clash) || !draw_ghosts(p, &view, clash, &frame, distance)) return false;
  compose(p, &view, gz_painter_container(clash) == NO_OBJECT ? 1 : 2, view.nearest / distance);
  return gz_painter_mark_curve(p, &view, clash) && gz_painter_mark_axes(p, &view) && finish(p, &view, picture);
}

static graze_status begin_call(graze_painter *painter) {
  painter->status = GRAZE_OK;
  if (gz_gl_begin(painter->context)) return GRAZE_OK;
  return gz_fail(painter->owner, GRAZE_ERROR_UNSUPPORTED, "pictures: the OpenGL context cannot be made current");
}

graze_status graze_painter_clash(graze_painter *painter, uint32_t index, graze_picture *picture, graze_camera *camera) {
  if (painter == NULL || picture == NULL || index >= painter->report->clash_count) {
    return gz_fail(painter != NULL ? painter->owner : NULL, GRAZE_ERROR_ARGUMENT,
                   "pictures: an argument of the clash's picture is invalid");
  }
  graze_status status = begin_call(painter);
  if (status != GRAZE_OK) return status;
  graze_camera seen;
  if (paint_clash(painter, index, picture, &seen) && camera != NULL) *camera = seen;
  gz_gl_end(painter->context);
  return painter->status;
}

/* ---- the overview ---- */

/* The first layers get a colour each; of more than there are colours, some share one. */
static uint32_t layer_number(const char *layer, const char **layers, uint32_t *count) {
  uint32_t sum = 0;
  if (layer == NULL || layer[0] == 0) return 0;
  for (uint32_t i = 0; i < *count; i++) {
    if (strcmp(layers[i], layer) == 0) return i + 1;
  }
  if (*count < LAYER_COLOURS - 1) {
    layers[(*count)++] = layer;
    return *count;
  }
  for (const char *c = layer; *c; c++) sum = 31 * sum + (unsigned char)*c;
  return 1 + sum % (LAYER_COLOURS - 1);
}

static void choose_colours(const graze_report *report, float (*colours)[4]) {
  const char *layers[LAYER_COLOURS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->object_count; i++) {
    memcpy(colours[i], layer_colours[layer_number(report->objects[i].layer, layers, &count)], sizeof colours[i]);
  }
  for (uint32_t i = 0; i < report->clash_count; i++) {
    const graze_report_clash *clash = &report->clashes[i];
    if (clash->state == GRAZE_STATE_RESOLVED) continue;
    memcpy(colours[clash->a], colour_a, sizeof colours[0]);
    memcpy(colours[clash->b], colour_a, sizeof colours[0]);
  }
}

static void each_box(const void *source, camera_take_box *take, void *user) {
  const graze_painter *p = source;
  for (uint32_t i = 0; i < p->order_count; i++) {
    if (!gz_camera_box_empty(&p->boxes[p->order[i]])) take(user, &p->boxes[p->order[i]]);
  }
}

/* How far before the eye the scene's middle is; the eye may stand in it. */
static double scene_distance(const graze_painter *p, const graze_camera *camera) {
  double farthest = 0;
  for (uint32_t i = 0; i < p->order_count; i++) {
    const graze_box *box = &p->boxes[p->order[i]];
    double depth = 0;
    for (int k = 0; k < 3; k++) depth += (box->min[k] / 2 + box->max[k] / 2 - camera->eye[k]) * camera->forward[k];
    farthest = fmax(farthest, depth);
  }
  return farthest > 0 ? farthest : 1;
}

/* All objects in their colours, as the subject. */
static bool draw_all(graze_painter *p, const painter_view *view, const float (*colours)[4]) {
  gz_painter_list_clear(p);
  if (!gz_painter_list_add_all(p, view, colours)) return false;
  draw_solids(p, view, (solid_style){0});
  return true;
}

static bool paint_overview(graze_painter *p, graze_picture *picture) {
  painter_view view = {.nearest = 1, .tan_x = 1, .tan_y = 1};
  gz_painter_marks_clear(p);
  begin_layer(p, &p->subject);
  if (p->order_count > 0) {
    float(*colours)[4] = gz_new(p->owner, p->report->object_count, sizeof *colours);
    if (colours == NULL) return gz_painter_fail_memory(p);
    graze_camera camera;
    const double aspect = (double)p->width / p->height;
    gz_camera_fit(p->report->up, aspect, each_box, p, &camera);
    view = gz_painter_view_of(&camera, aspect);
    view.nearest = 0.01 * scene_distance(p, &camera);
    choose_colours(p->report, colours);
    bool good = draw_all(p, &view, (const float(*)[4])colours);
    gz_free(colours);
    if (!good || !gz_painter_mark_clash_points(p, &view) || !gz_painter_mark_axes(p, &view)) return false;
  }
  compose(p, &view, 0, 1);
  return finish(p, &view, picture);
}

graze_status graze_painter_overview(graze_painter *painter, graze_picture *picture) {
  if (painter == NULL || picture == NULL) {
    return gz_fail(painter != NULL ? painter->owner : NULL, GRAZE_ERROR_ARGUMENT,
                   "pictures: an argument of the overview is invalid");
  }
  graze_status status = begin_call(painter);
  if (status != GRAZE_OK) return status;
  paint_overview(painter, picture);
  gz_gl_end(painter->context);
  return painter->status;
}

/* ---- a frame of a film ---- */

/* The objects of the report in their layers' colours, `lit` ones in orange, as the subject. */
static bool draw_objects(graze_painter *p, const painter_view *view, const bool *lit) {
  uint32_t count = p->report->object_count;
  float(*colours)[4] = gz_new(p->owner, (size_t)count + 1, sizeof *colours);
  if (colours == NULL) return gz_painter_fail_memory(p);
  graze_report calm = *p->report;
  calm.clash_count = 0;
  choose_colours(&calm, colours);
  for (uint32_t i = 0; i < count; i++) {
    if (lit[i]) memcpy(colours[i], colour_a, sizeof colours[i]);
  }
  bool good = draw_all(p, view, (const float(*)[4])colours);
  gz_free(colours);
  return good;
}

static bool paint_frame(graze_painter *p, const bool *lit, const graze_camera *camera, graze_picture *picture) {
  painter_view view = gz_painter_view_of(camera, (double)p->width / p->height);
  view.nearest = 0.01 * scene_distance(p, camera);
  gz_painter_marks_clear(p);
  begin_layer(p, &p->subject);
  if (!draw_objects(p, &view, lit) || !gz_painter_mark_axes(p, &view)) return false;
  compose(p, &view, 0, 1);
  return finish(p, &view, picture);
}

graze_status graze_painter_frame(graze_painter *painter, const graze_pose *poses, const bool *lit,
                                 const graze_camera *camera, graze_picture *picture) {
  if (painter == NULL || poses == NULL || lit == NULL || camera == NULL || picture == NULL) {
    return gz_fail(painter != NULL ? painter->owner : NULL, GRAZE_ERROR_ARGUMENT,
                   "pictures: an argument of the frame is invalid");
  }
  for (uint32_t i = 0; i < painter->report->object_count; i++) {
    if (!gz_report_pose_is_finite(&poses[i]))
      return gz_fail(painter->owner, GRAZE_ERROR_NOT_FINITE, "pictures: a pose of the frame is not finite");
  }
  graze_status status = begin_call(painter);
  if (status != GRAZE_OK) return status;
  painter->poses = poses;
  paint_frame(painter, lit, camera, picture);
  painter->poses = NULL;
  gz_gl_end(painter->context);
  return painter->status;
}

/* ---- a frame of balls ---- */

/* All objects: as ghosts, for balls are seen through the drum in which they tumble, or by their chances. */
static bool draw_stage(graze_painter *p, const painter_view *view, const graze_track *track) {
  float(*colours)[4] = gz_new(p->owner, (size_t)p->report->object_count + 1, sizeof *colours);
  if (colours == NULL) return gz_painter_fail_memory(p);
  for (uint32_t i = 0; i < p->report->object_count; i++) {
    memcpy(colours[i], colour_ghost, sizeof colours[i]);
    if (track->chances.runs > 0) gz_painter_chance_colour(track, track->balls + track->wall_count + i, colours[i]);
  }
  bool good = draw_all(p, view, (const float(*)[4])colours);
  gz_free(colours);
  return good;
}

static bool draw_shapes(graze_painter *p, const painter_view *view, graze_track *track, uint32_t frame) {
  if (track->turning == 0) return true;
  gz_painter_list_clear(p);
  if (!gz_painter_shapes_add(p, view, track, frame)) return false;
  draw_solids(p, view, (solid_style){0});
  return true;
}

static bool paint_track(graze_painter *p, graze_track *track, uint32_t frame, const graze_camera *camera,
                        graze_picture *picture) {
  painter_view view = gz_painter_view_of(camera, (double)p->width / p->height);
  const double distance = fmax(scene_distance(p, camera), gz_painter_balls_distance(track, camera));
  view.nearest = 0.01 * distance;
  gz_painter_marks_clear(p);
  const bool ghosts = p->order_count > 0 && track->chances.runs == 0;
  begin_layer(p, &p->ghosts);
  if (ghosts && !draw_stage(p, &view, track)) return false;
  begin_layer(p, &p->subject);
  if (!ghosts && !draw_stage(p, &view, track)) return false;
  if (!gz_painter_balls_draw(p, &view, track, frame) || !draw_shapes(p, &view, track, frame) ||
      !gz_painter_balls_walls(p, &view, track) || !gz_painter_mark_axes(p, &view))
    return false;
  compose(p, &view, ghosts, view.nearest / distance);
  return finish(p, &view, picture);
}

graze_status graze_painter_track(graze_painter *painter, graze_track *track, uint32_t frame, const graze_camera *camera,
                                 graze_picture *picture) {
  if (painter == NULL || track == NULL || camera == NULL || picture == NULL ||
      frame >= graze_track_get_info(track).frames) {
    return gz_fail(painter != NULL ? painter->owner : NULL, GRAZE_ERROR_ARGUMENT,
                   "pictures: an argument of the frame is invalid");
  }
  graze_pose *poses = gz_new(painter->owner, (size_t)painter->report->object_count + 1, sizeof *poses);
  if (poses == NULL) return gz_fail(painter->owner, GRAZE_ERROR_MEMORY, "pictures: out of memory");
  gz_track_find_poses(track, painter->report, frame, poses);
  graze_status status = begin_call(painter);
  if (status == GRAZE_OK) {
    painter->poses = poses;
    paint_track(painter, track, frame, camera, picture);
    painter->poses = NULL;
    gz_gl_end(painter->context);
    status = painter->status;
  }
  gz_free(poses);
  return status;
}
