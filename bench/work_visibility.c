/* bench/work_visibility.c: one pass of the visibility engine: all triangles of a scene into one picture, with bounds
 * that are proved, and held against it; beside a plain pass, which draws depth at pixel centers and proves nothing.
 *
 * Triangles are given in memory each time, as methods give them, and a pass ends when the device has done it. A row is
 * right when bounds of all pixels, or flags of all triangles, are those of the reference device on one thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contest.h"
#include "gl/buffer.h"
#include "gl/program.h"
#include "gl/target.h"
#include "models.h"
#include "scenes.h"
#include "visibility/device.h"

typedef struct soup {
  float *corners; /* relative to the middle of the scene */
  uint32_t count;
} soup;

typedef struct plain_pass plain_pass;

/* Seconds. Where the processor does all the work it is its time, all threads together, which other programs on the
 * machine do not change as much. */
static double time_of(bool in_software) {
  struct timespec t;
  clock_gettime(in_software ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct pass {
  visibility_device *device; /* of the run */
  visibility_triangles triangles;
  visibility_picture pictures[2]; /* the second, of one pixel, is read to wait for the device */
  uint32_t *list;
  uint8_t *flags;
  float *lo, *hi;
  plain_pass *plain;
  bool in_software;
} pass;

/* ---- scenes ---- */

static void append(soup *s, const float *corners, uint32_t triangles) {
  s->corners = must_grow(s->corners, 9 * ((size_t)s->count + triangles), sizeof *s->corners);
  memcpy(s->corners + 9 * (size_t)s->count, corners, 9 * (size_t)triangles * sizeof *corners);
  s->count += triangles;
}

/* A thousand spheres of 320 triangles and radius 1/20, spread evenly in a cube. */
static soup make_spheres(void) {
  soup s = {0};
  uint64_t state = 1;
  model shape = shape_icosphere(2, 0.05);
  float *corners = must_alloc(9 * (size_t)shape.triangle_count, sizeof *corners);
  for (int i = 0; i < 1000; i++) {
    float middle[3];
    for (int k = 0; k < 3; k++) middle[k] = (float)((state = splitmix64(state)) >> 40) * 0x1p-24f - 0.5f;
    for (size_t c = 0; c < 9 * (size_t)shape.triangle_count; c++)
      corners[c] = middle[c % 3] + shape.vertices[3 * (size_t)shape.indices[c / 3] + c % 3];
    append(&s, corners, shape.triangle_count);
  }
  free(corners);
  model_free(&shape);
  return s;
}

static void append_object(soup *s, const scenes_mesh *mesh, const double pose[12]) {
  float *corners = must_alloc(9 * mesh->triangle_count, sizeof *corners);
  for (size_t c = 0; c < 3 * mesh->triangle_count; c++) {
    const double *p = mesh->vertices + 3 * (size_t)mesh->indices[c];
    for (int k = 0; k < 3; k++) {
      const double *row = pose + 4 * k;
      corners[3 * c + (size_t)k] = (float)(row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
    }
  }
  append(s, corners, (uint32_t)mesh->triangle_count);
  free(corners);
}

static soup make_plant(void) {
  const scenes_kind *kind = scenes_find_kind("plant");
  scenes_request request = scenes_default_request(kind);
  scenes_scene scene;
  const char *reason;
  soup s = {0};
  request.size = 1000;
  request.detail = 4;
  if (!scenes_make(kind, &request, &scene, &reason)) fail("plant: %s", reason);
  for (uint32_t i = 0; i < scene.object_count; i++)
    append_object(&s, &scene.meshes[scene.objects[i].mesh], scene.objects[i].pose);
  scenes_free(&scene);
  return s;
}

/* A picture of all of it along x. */
static visibility_picture picture_of(const soup *s, uint32_t side) {
  visibility_picture p = {.axis = 0, .width = side, .height = side};
  for (int k = 0; k < 3; k++) {
    float low = INFINITY, high = -INFINITY;
    for (size_t i = (size_t)k; i < 9 * (size_t)s->count; i += 3) {
      low = fminf(low, s->corners[i]);
      high = fmaxf(high, s->corners[i]);
    }
    p.low[k] = low;
    p.scale[k] = (k == 0 ? 1.0f : (float)side) / (high - low);
  }
  return p;
}

/* ---- passes ---- */

static uint64_t hash_of(const void *data, size_t words) {
  const uint32_t *word = data;
  uint64_t sum = 0;
  for (size_t i = 0; i < words; i++) sum += splitmix64((uint64_t)i << 32 | word[i]);
  return sum;
}

static void put(pass *p) {
  const visibility_draw draw = {0, 0, p->triangles.count};
  must(p->device->begin(p->device, p->pictures, 2), "begin");
  must(p->device->put(p->device, &draw, 1, p->list, p->triangles.count), "put");
}

static void run_put(void *argument, bool check, sample *out) {
  pass *p = argument;
  const size_t pixels = (size_t)p->pictures[0].width * p->pictures[0].height;
  must(p->device->load(p->device, &p->triangles), "load");
  const double start = time_of(p->in_software);
  put(p);
  must(p->device->read(p->device, 1, p->lo, p->hi), "read");
  out->seconds[0] = time_of(p->in_software) - start;
  out->timed = 1;
  out->count = p->triangles.count;
  if (!check) return;
  must(p->device->read(p->device, 0, p->lo, p->hi), "read");
  out->hash = hash_of(p->lo, pixels) + 3 * hash_of(p->hi, pixels);
}

static void run_test(void *argument, bool check, sample *out) {
  pass *p = argument;
  const visibility_draw draw = {0, 0, p->triangles.count};
  (void)check;
  must(p->device->load(p->device, &p->triangles), "load");
  put(p);
  must(p->device->read(p->device, 1, p->lo, p->hi), "read");
  const double start = time_of(p->in_software);
  must(p->device->test(p->device, &draw, 1, p->list, p->triangles.count, p->flags), "test");
  out->seconds[0] = time_of(p->in_software) - start;
  out->timed = 1;
  out->count = p->triangles.count;
  out->hash = hash_of(p->flags, p->triangles.count / 4);
}

/* ---- a plain pass ---- */

struct plain_pass {
  gl_context *context;
  const gl_functions *gl;
  gl_target target;
  GLuint program, array, vertices, query;
  uint32_t count;
};

static const char plain_vertex[] =
    "#version 450 core\n"
    "layout(location = 0) in vec3 corner;\n"
    "layout(location = 0) uniform vec3 low;\n"
    "layout(location = 1) uniform vec3 scale;\n"
    "void main() {\n"
    "  vec3 p = (corner - low) * scale;\n"
    "  gl_Position = vec4(2.0 * p.yz - 1.0, p.x, 1.0);\n"
    "}\n";

static plain_pass *plain_begin(const soup *s, const visibility_picture *picture) {
  gl_message message = {""};
  plain_pass *p = must_alloc(1, sizeof *p);
  *p = (plain_pass){.count = s->count};
  if (gz_gl_context_create(NULL, NULL, &p->context, &message) != GRAZE_OK || !gz_gl_begin(p->context)) {
    free(p);
    return NULL;
  }
  const gl_functions *gl = p->gl = gz_gl_functions_of(p->context);
  p->program = gz_gl_program(gl, "plain", plain_vertex, "#version 450 core\nvoid main() {}\n", &message);
  if (p->program == 0 || !gz_gl_target_create_bare(gl, picture->width, picture->height, true, &p->target, &message))
    fail("%s", message.text);
  p->vertices = gz_gl_buffer(gl, s->corners, 9 * (size_t)s->count * sizeof *s->corners);
  gl->CreateVertexArrays(1, &p->array);
  gl->EnableVertexArrayAttrib(p->array, 0);
  gl->VertexArrayAttribFormat(p->array, 0, 3, GL_FLOAT, GL_FALSE, 0);
  gl->VertexArrayAttribBinding(p->array, 0, 0);
  gl->VertexArrayVertexBuffer(p->array, 0, p->vertices, 0, 3 * sizeof(float));
  gl->CreateQueries(GL_ANY_SAMPLES_PASSED, 1, &p->query);
  gl->ClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  gl->Enable(GL_DEPTH_TEST);
  gl->DepthFunc(GL_LESS);
  const float *low = picture->low, *scale = picture->scale;
  const float size[2] = {(float)picture->width, (float)picture->height};
  gl->ProgramUniform3f(p->program, 0, low[0], low[1], low[2]);
  gl->ProgramUniform3f(p->program, 1, scale[0], scale[1] / size[0], scale[2] / size[1]);
  gz_gl_end(p->context);
  return p;
}

static void run_plain(void *argument, bool check, sample *out) {
  const bool in_software = ((pass *)argument)->in_software;
  plain_pass *p = ((pass *)argument)->plain;
  const gl_functions *gl = p->gl;
  GLuint64 seen = 0;
  (void)check;
  if (!gz_gl_begin(p->context)) fail("OpenGL is gone");
  const double start = time_of(in_software);
  gz_gl_target_use(gl, &p->target);
  gz_gl_target_clear(gl, &p->target, NULL, 1);
  gl->UseProgram(p->program);
  gl->BindVertexArray(p->array);
  gl->BeginQuery(GL_ANY_SAMPLES_PASSED, p->query);
  gl->DrawArrays(GL_TRIANGLES, 0, (GLsizei)(3 * p->count));
  gl->EndQuery(GL_ANY_SAMPLES_PASSED);
  gl->GetQueryObjectui64v(p->query, GL_QUERY_RESULT, &seen);
  out->seconds[0] = time_of(in_software) - start;
  gz_gl_end(p->context);
  out->timed = 1;
  out->count = seen ? p->count : 0;
}

static void plain_end(plain_pass *p) {
  if (p == NULL) return;
  if (gz_gl_begin(p->context)) {
    gz_gl_target_destroy(p->gl, &p->target);
    p->gl->DeleteProgram(p->program);
    p->gl->DeleteVertexArrays(1, &p->array);
    p->gl->DeleteBuffers(1, &p->vertices);
    p->gl->DeleteQueries(1, &p->query);
    gz_gl_end(p->context);
  }
  gz_gl_context_destroy(p->context);
  free(p);
}

/* ---- rows ---- */

static void contend(bench *b, pass *p, visibility_device *opengl, const char *reason, const char *kind,
                    const char *scene, uint32_t side, run_function run) {
  sample expected = {0};
  contest c;
  visibility_device *reference = p->device;
  pass drawn = *p;
  drawn.device = opengl;
  run(p, true, &expected);
  contest_begin(&c, b, "triangle", p->triangles.count, p->triangles.count, "visibility_pass/%s/%s/%u", kind, scene,
                side);
  contest_expect(&c, expected.count, expected.hash);
  if (opengl != NULL) {
    entry *e = contest_ours(&c, "opengl", run, &drawn);
    snprintf(e->note, sizeof e->note, "%.100s", opengl->name);
  } else {
    contest_left_out(&c, "opengl", "%s", reason);
  }
  contest_ours(&c, reference->name, run, p);
  if (p->plain != NULL) contest_rival(&c, "plain/opengl", run_plain, p)->no_hash = true;
  contest_end(&c);
}

static void one_scene(bench *b, const char *name, uint32_t side, soup (*make)(void)) {
  const bool puts = bench_wants(b, "visibility_pass/put/%s/%u", name, side);
  const bool tests = bench_wants(b, "visibility_pass/test/%s/%u", name, side);
  if (!puts && !tests) return;
  char reason[256] = "";
  visibility_device *opengl = NULL;
  soup s = make();
  pass p = {.triangles = {.corners = s.corners, .count = s.count, .error = 0}};
  p.pictures[0] = picture_of(&s, side);
  p.pictures[1] = (visibility_picture){0, 1, 1, {0, 0, 0}, {1, 1, 1}};
  p.list = must_alloc(s.count, sizeof *p.list);
  for (uint32_t i = 0; i < s.count; i++) p.list[i] = i;
  p.flags = must_alloc(s.count, 1);
  p.lo = must_alloc((size_t)side * side, sizeof *p.lo);
  p.hi = must_alloc((size_t)side * side, sizeof *p.hi);
  must(gz_visibility_reference_create(b->context, &p.device), "the reference device");
  gz_visibility_opengl_create(b->context, &opengl, reason, sizeof reason);
  p.in_software = opengl == NULL || strstr(opengl->name, "llvmpipe") != NULL;
  p.plain = plain_begin(&s, &p.pictures[0]);
  if (puts) contend(b, &p, opengl, reason, "put", name, side, run_put);
  if (tests) contend(b, &p, opengl, reason, "test", name, side, run_test);
  plain_end(p.plain);
  if (opengl != NULL) opengl->destroy(opengl);
  p.device->destroy(p.device);
  free(p.list);
  free(p.flags);
  free(p.lo);
  free(p.hi);
  free(s.corners);
}

void work_visibility(bench *b) {
  one_scene(b, "spheres", 256, make_spheres);
  if (b->quick) return;
  one_scene(b, "spheres", 1024, make_spheres);
  one_scene(b, "plant", 512, make_plant);
}
