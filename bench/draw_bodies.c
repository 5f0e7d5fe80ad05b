#include "draw_bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "gl/buffer.h"
#include "gl/program.h"
#include "gl/target.h"
#include "models.h"

typedef struct draw_command { /* as glMultiDrawElementsIndirect reads it */
  uint32_t count, instances, first, base_vertex, base_instance;
} draw_command;

struct draw_bodies {
  uint32_t width, height, count;
  gl_context *context;
  const gl_functions *gl;
  gl_target target;
  GLuint program, array, vertices, indices, command;
  gl_stream places;
  double eye[3], axes[3][3], distance; /* right, up, forward */
  float *relative;                     /* places from the eye */
  uint8_t *pixels;
};

static const double tangent = 0.36; /* of half the height of the view */

static const char vertex_source[] =
    "#version 450 core\n"
    "layout(location = 0) in vec3 corner;\n"
    "layout(location = 1) in vec3 middle;\n"
    "layout(location = 0) uniform vec3 projection;\n" /* of x, of y, near */
    "layout(location = 1) uniform vec3 right;\n"
    "layout(location = 2) uniform vec3 up;\n"
    "layout(location = 3) uniform vec3 forward;\n"
    "out vec3 place;\n"
    "void main() {\n"
    "  place = middle + corner;\n"
    "  vec3 seen = vec3(dot(right, place), dot(up, place), dot(forward, place));\n"
    "  gl_Position = vec4(seen.xy * projection.xy, projection.z, seen.z);\n"
    "}\n";

static const char fragment_source[] =
    "#version 450 core\n"
    "in vec3 place;\n"
    "out vec4 result;\n"
    "void main() {\n"
    "  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));\n"
    "  result = vec4(vec3(0.85, 0.45, 0.2) * (0.45 + 0.55 * abs(dot(normal, vec3(0.36, 0.48, 0.8)))), 1.0);\n"
    "}\n";

/* Looks down on the middle of what is there, from as far as its ball fills the view. */
static void aim(draw_bodies *d, double radius, const double *places) {
  const double forward[3] = {0.48, 0.64, -0.6}, right[3] = {0.8, -0.6, 0}, up[3] = {0.36, 0.48, 0.8};
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, reach = 0;
  for (size_t i = 0; i < 3 * (size_t)d->count; i++) {
    low[i % 3] = fmin(low[i % 3], places[i]);
    high[i % 3] = fmax(high[i % 3], places[i]);
  }
  for (int k = 0; k < 3; k++) reach = hypot(reach, (high[k] - low[k]) / 2);
  d->distance = (reach + radius) * sqrt(1 + tangent * tangent) / tangent;
  for (int k = 0; k < 3; k++) {
    d->eye[k] = (low[k] + high[k]) / 2 - d->distance * forward[k];
    d->axes[0][k] = right[k];
    d->axes[1][k] = up[k];
    d->axes[2][k] = forward[k];
  }
}

static void create_buffers(draw_bodies *d, double radius) {
  const gl_functions *gl = d->gl;
  model shape = shape_icosphere(0, radius);
  const draw_command command = {3 * shape.triangle_count, d->count, 0, 0, 0};
  d->vertices = gz_gl_buffer(gl, shape.vertices, 3 * shape.vertex_count * sizeof *shape.vertices);
  d->indices = gz_gl_buffer(gl, shape.indices, 3 * shape.triangle_count * sizeof *shape.indices);
  d->command = gz_gl_buffer(gl, &command, sizeof command);
  model_free(&shape);
  gl->CreateVertexArrays(1, &d->array);
  for (GLuint i = 0; i < 2; i++) {
    gl->EnableVertexArrayAttrib(d->array, i);
    gl->VertexArrayAttribFormat(d->array, i, 3, GL_FLOAT, GL_FALSE, 0);
    gl->VertexArrayAttribBinding(d->array, i, i);
  }
  gl->VertexArrayBindingDivisor(d->array, 1, 1);
  gl->VertexArrayVertexBuffer(d->array, 0, d->vertices, 0, 3 * sizeof(float));
  gl->VertexArrayElementBuffer(d->array, d->indices);
}

static void set_state(draw_bodies *d) {
  const gl_functions *gl = d->gl;
  const GLuint p = d->program;
  gl->ClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE);
  gl->Enable(GL_DEPTH_TEST);
  gl->DepthFunc(GL_GREATER);
  gl->UseProgram(p);
  gl->ProgramUniform3f(p, 0, (float)(d->height / tangent / d->width), (float)(1 / tangent),
                       (float)(0.01 * d->distance));
  for (int i = 0; i < 3; i++)
    gl->ProgramUniform3f(p, 1 + i, (float)d->axes[i][0], (float)d->axes[i][1], (float)d->axes[i][2]);
}

draw_bodies *draw_bodies_begin(uint32_t width, uint32_t height, uint32_t count, double radius, const double *places) {
  gl_message message = {""};
  draw_bodies *d = must_alloc(1, sizeof *d);
  *d = (draw_bodies){.width = width, .height = height, .count = count};
  if (gz_gl_context_create(NULL, NULL, &d->context, &message) != GRAZE_OK || !gz_gl_begin(d->context)) {
    gz_gl_context_destroy(d->context);
    free(d);
    return NULL;
  }
  d->gl = gz_gl_functions_of(d->context);
  d->relative = must_alloc(3 * (size_t)count, sizeof *d->relative);
  d->pixels = must_alloc(4 * (size_t)width * height, 1);
  d->program = gz_gl_program(d->gl, "bodies", vertex_source, fragment_source, &message);
  if (d->program == 0 || !gz_gl_target_create(d->gl, width, height, 1, true, &d->target, &message))
    fail("%s", message.text);
  aim(d, radius, places);
  create_buffers(d, radius);
  set_state(d);
  return d;
}

void draw_bodies_end(draw_bodies *d) {
  if (d == NULL) return;
  const GLuint buffers[] = {d->vertices, d->indices, d->command};
  d->gl->DeleteBuffers(3, buffers);
  d->gl->DeleteVertexArrays(1, &d->array);
  d->gl->DeleteProgram(d->program);
  gz_gl_stream_destroy(d->gl, &d->places);
  gz_gl_target_destroy(d->gl, &d->target);
  gz_gl_end(d->context);
  gz_gl_context_destroy(d->context);
  free(d->relative);
  free(d->pixels);
  free(d);
}

const uint8_t *draw_bodies_at(draw_bodies *d, const double *places) {
  const gl_functions *gl = d->gl;
  const float background[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < 3 * (size_t)d->count; i++) d->relative[i] = (float)(places[i] - d->eye[i % 3]);
  gz_gl_target_use(gl, &d->target);
  gz_gl_target_clear(gl, &d->target, background, 0);
  gz_gl_stream_fill(gl, &d->places, d->relative, 3 * (size_t)d->count * sizeof *d->relative);
  gl->BindVertexArray(d->array);
  gl->VertexArrayVertexBuffer(d->array, 1, d->places.buffer, 0, 3 * sizeof(float));
  gl->BindBuffer(GL_DRAW_INDIRECT_BUFFER, d->command);
  gl->MultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, NULL, 1, 0);
  gz_gl_target_read(gl, &d->target, d->pixels);
  return d->pixels;
}

const char *draw_bodies_device(const draw_bodies *d) {
  return gz_gl_device(d->context);
}
