/* Sequences on the OpenGL device. At pixel centers it is done as published: an object is drawn under an occlusion
 * query, against the depth of those before it, without writing; then it is drawn itself. With bounds a step's fragments
 * read and write pixels as images, and barriers stand between. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/owned.h"
#include "visibility/opengl.h"

static uint64_t entries_of(const visibility_step *steps, uint32_t count) {
  uint64_t entries = 0;
  for (uint32_t i = 0; i < count; i++) entries += (uint64_t)steps[i].test.count + steps[i].put.count;
  return entries;
}

/* All entries, those of step i in the regions 2 i and 2 i + 1. */
static graze_status make_batch(opengl_device *d, const visibility_step *steps, uint32_t count, const uint32_t *list) {
  graze_status status = gz_opengl_reserve(d, entries_of(steps, count), 2 * (uint64_t)count);
  if (status != GRAZE_OK) return status;
  for (uint32_t i = 0; i < 2 * count; i++) {
    visibility_draw draw = i % 2 == 0 ? steps[i / 2].test : steps[i / 2].put;
    draw.picture = 0;
    gz_opengl_append(d, &draw, list);
    gz_opengl_end_region(d);
  }
  gz_opengl_send(d, &d->single);
  return GRAZE_OK;
}

static void run_bounds(opengl_device *d, const visibility_step *steps, uint32_t count) {
  gz_opengl_use_page(d, &d->single, 0);
  for (uint32_t i = 0; i < count; i++) {
    if (steps[i].test.count > 0) {
      gz_opengl_visit(d, &d->programs.behind, 2 * i);
      d->gl->MemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
      d->queries++;
    }
    if (steps[i].put.count > 0) {
      gz_opengl_visit(d, &d->programs.put, 2 * i + 1);
      d->gl->MemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
    }
  }
}

/* ---- pixel centers ---- */

static graze_status make_queries(opengl_device *d, uint32_t count) {
  if (count <= d->query_count) return GRAZE_OK;
  GLuint *grown = gz_resize(d->owner, d->query_names, count, sizeof *grown);
  if (grown == NULL) return gz_fail_memory(d->owner, count * sizeof *grown);
  d->query_names = grown;
  d->gl->CreateQueries(GL_ANY_SAMPLES_PASSED, (GLsizei)(count - d->query_count), grown + d->query_count);
  d->query_count = count;
  return GRAZE_OK;
}

static const float nothing = 2; /* farther than any fragment: depth is in floats */

static graze_status make_depth(opengl_device *d, const visibility_picture *picture) {
  gl_message message;
  if (d->centers.width != picture->width || d->centers.height != picture->height) {
    gz_gl_target_destroy(d->gl, &d->centers);
    if (!gz_gl_target_create_bare(d->gl, picture->width, picture->height, true, &d->centers, &message)) {
      return gz_fail(d->owner, GRAZE_ERROR_DEVICE, "visibility: %s: %s", d->device.name, message.text);
    }
  }
  gz_gl_target_use(d->gl, &d->centers);
  d->gl->Enable(GL_DEPTH_TEST);
  d->gl->DepthMask(GL_TRUE); /* a clear without it leaves the old depth, and no error */
  gz_gl_target_clear(d->gl, &d->centers, NULL, nothing);
  return GRAZE_OK;
}

static void run_centers(opengl_device *d, const visibility_step *steps, uint32_t count) {
  const gl_functions *gl = d->gl;
  GLint first = 0;
  gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, d->flags.buffer);
  for (uint32_t i = 0; i < count; i++) {
    GLsizei tested = (GLsizei)(3 * steps[i].test.count), drawn = (GLsizei)(3 * steps[i].put.count);
    if (tested > 0) {
      gl->UseProgram(d->programs.centers_test);
      gl->DepthFunc(GL_GEQUAL);
      gl->DepthMask(GL_FALSE);
      gl->BeginQuery(GL_ANY_SAMPLES_PASSED, d->query_names[i]);
      gl->DrawArrays(GL_TRIANGLES, first, tested);
      gl->EndQuery(GL_ANY_SAMPLES_PASSED);
      d->queries++;
    }
    if (drawn > 0) {
      gl->UseProgram(d->programs.centers_put);
      gl->DepthFunc(GL_LESS);
      gl->DepthMask(GL_TRUE);
      gl->DrawArrays(GL_TRIANGLES, first + tested, drawn);
    }
    first += tested + drawn;
  }
}

/* What a step's query says of all its triangles, their marks must say one by one. */
static graze_status compare_queries(const opengl_device *d, const visibility_step *steps, uint32_t count,
                                    const uint8_t *flags) {
  for (uint32_t i = 0; i < count; i++) {
    const visibility_draw *draw = &steps[i].test;
    GLuint64 passed = 0;
    if (draw->count == 0) continue;
    d->gl->GetQueryObjectui64v(d->query_names[i], GL_QUERY_RESULT, &passed);
    if ((passed != 0) != (memchr(flags + draw->first, 1, draw->count) != NULL)) {
      return gz_fail(d->owner, GRAZE_ERROR_DEVICE, "visibility: %s: an occlusion query and what was drawn differ",
                     d->device.name);
    }
  }
  return GRAZE_OK;
}

/* ---- either ---- */

static graze_status run(opengl_device *d, const visibility_picture *picture, visibility_rule rule,
                        const visibility_step *steps, uint32_t count, const uint32_t *list) {
  graze_status status = gz_opengl_make_pictures(d, &d->single, picture, 1);
  if (status == GRAZE_OK) status = make_batch(d, steps, count, list);
  if (status != GRAZE_OK || d->batch_count == 0) return status;
  if (rule == VISIBILITY_BOUNDS) {
    run_bounds(d, steps, count);
    return GRAZE_OK;
  }
  status = make_queries(d, count);
  if (status == GRAZE_OK) status = make_depth(d, picture);
  if (status == GRAZE_OK) run_centers(d, steps, count);
  return status;
}

graze_status gz_opengl_sequence(visibility_device *device, const visibility_picture *picture, visibility_rule rule,
                                const visibility_step *steps, uint32_t count, const uint32_t *list, uint32_t list_count,
                                uint8_t *flags) {
  opengl_device *d = (opengl_device *)device;
  graze_status status = gz_opengl_begin(d);
  if (status != GRAZE_OK) return status;
  gz_opengl_clear_flags(d, list_count);
  status = run(d, picture, rule, steps, count, list);
  if (status == GRAZE_OK) status = gz_opengl_read_flags(d, list_count, flags);
  if (status == GRAZE_OK && rule == VISIBILITY_CENTERS && d->batch_count > 0) {
    status = compare_queries(d, steps, count, flags);
  }
  return gz_opengl_end(d, status);
}

graze_status gz_opengl_centers(visibility_device *device, const visibility_picture *picture, const uint32_t *list,
                               uint32_t count, float *depth) {
  opengl_device *d = (opengl_device *)device;
  const visibility_step step = {.put = {0, 0, count}};
  const size_t pixels = (size_t)picture->width * picture->height;
  for (size_t i = 0; i < pixels; i++) depth[i] = INFINITY;
  graze_status status = gz_opengl_begin(d);
  if (status != GRAZE_OK) return status;
  status = run(d, picture, VISIBILITY_CENTERS, &step, 1, list);
  if (status == GRAZE_OK && d->batch_count > 0) {
    gz_gl_target_read_depth(d->gl, &d->centers, depth);
    for (size_t i = 0; i < pixels; i++)
      depth[i] = depth[i] < nothing ? 4 * depth[i] - 1.5f : INFINITY; /* centers.vert.glsl */
  }
  return gz_opengl_end(d, status);
}
