/* The device that draws with OpenGL: put, test and read. A call is one draw, or a few where there are more triangles or
 * pixels than fit. A triangle of many pixels is drawn as a rectangle of whole ones, whose fragments run the text of the
 * bounds, so that what the rasteriser does with slivers does not matter. What a rasteriser does for each triangle takes
 * longer than a few pixels: triangles that have no more are visited by a shader that computes. */
#include "visibility/opengl.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/owned.h"
#include "gl/program.h"
#include "visibility/self_test.h"
#include "visibility/texts.h"

enum { ROUND_ENTRIES = 1 << 20, GROUP = 64, GROUPS = 32768, LEAST_SIDE = 512, SLOT_STEP = 16 };
enum { RECTANGLE = 6 }; /* vertices */

/* Rectangles of so many pixels are not left to the rasteriser. In software a loop over pixels takes a third of the time
 * or less, but Mesa's driver ends what has gone through 65,535 rounds of loops without a word. Threads that run
 * together wait for each other in them: n of them, at most 16, go through up to n + 1 rounds for each pixel. On
 * hardware a long loop keeps others waiting. */
enum { SMALL_PIXELS = 64, SMALL_PIXELS_IN_SOFTWARE = 3 << 10 };

static opengl_device *inside(visibility_device *device) {
  return (opengl_device *)device;
}

static graze_status fail(const opengl_device *d, graze_status status, const char *words) {
  return gz_fail(d->owner, status, "visibility: %s: %s", d->device.name, words);
}

/* ---- calls ---- */

graze_status gz_opengl_begin(opengl_device *d) {
  if (!gz_gl_begin(d->context)) return fail(d, GRAZE_ERROR_DEVICE, "its context cannot be made current");
  return GRAZE_OK;
}

graze_status gz_opengl_end(opengl_device *d, graze_status status) {
  gl_message message;
  graze_status checked = gz_gl_check(d->context, &message);
  gz_gl_end(d->context);
  if (status != GRAZE_OK || checked == GRAZE_OK) return status;
  return fail(d, checked == GRAZE_ERROR_MEMORY ? checked : GRAZE_ERROR_DEVICE, message.text);
}

static graze_status reserve(opengl_device *d, buffer *b, uint64_t count, size_t size) {
  if (gz_buffer_reserve(d->owner, b, (size_t)(count + 1) * size, 0)) return GRAZE_OK;
  return gz_fail_memory(d->owner, (size_t)(count + 1) * size);
}

/* ---- triangles ---- */

static graze_status load(visibility_device *device, const visibility_triangles *triangles) {
  opengl_device *d = inside(device);
  if (triangles->count > d->largest_array / 3) return fail(d, GRAZE_ERROR_DEVICE, "it has no such large buffers");
  graze_status status = reserve(d, &d->words, 12 * (uint64_t)triangles->count, sizeof(float));
  if (status == GRAZE_OK) status = gz_opengl_begin(d);
  if (status != GRAZE_OK) return status;
  float *texels = d->words.data;
  for (size_t i = 0; i < 3 * (size_t)triangles->count; i++) {
    memcpy(texels + 4 * i, triangles->corners + 3 * i, 3 * sizeof(float));
    texels[4 * i + 3] = 0;
  }
  gz_gl_texels_fill(d->gl, &d->corners, GL_RGBA32F, texels, 12 * (size_t)triangles->count * sizeof(float));
  d->error = triangles->error;
  return gz_opengl_end(d, GRAZE_OK);
}

/* ---- pictures ---- */

/* Where pictures lie in the framebuffer: in rows, again from its beginning when it is full. */
typedef struct slots {
  uint32_t side, x, y, height;
} slots;

static void place(slots *s, opengl_picture *picture) {
  if (s->x + picture->width > s->side) *s = (slots){s->side, 0, s->y + s->height, 0};
  if (s->y + picture->height > s->side) *s = (slots){s->side, 0, 0, 0};
  picture->slot_x = s->x;
  picture->slot_y = s->y;
  s->x += (picture->width + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP;
  if (picture->height > s->height) s->height = (picture->height + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP;
}

static graze_status make_framebuffer(opengl_device *d, const visibility_picture *pictures, uint32_t count) {
  gl_message message;
  uint32_t side = LEAST_SIDE;
  for (uint32_t i = 0; i < count; i++) {
    if (pictures[i].width > side) side = pictures[i].width;
    if (pictures[i].height > side) side = pictures[i].height;
  }
  if (side > d->largest_side) return fail(d, GRAZE_ERROR_DEVICE, "it has no such large framebuffers");
  if (d->bare.width >= side) return GRAZE_OK;
  gz_gl_target_destroy(d->gl, &d->bare);
  bool good = gz_gl_target_create_bare(d->gl, side, side, false, &d->bare, &message);
  return good ? GRAZE_OK : fail(d, GRAZE_ERROR_DEVICE, message.text);
}

static void clear_page(const gl_functions *gl, opengl_page *page, uint64_t pixels) {
  size_t bytes = (size_t)pixels * PIXEL_WORDS * sizeof(uint32_t);
  if (page->words.stream.capacity < bytes) {
    gz_gl_texels_fill(gl, &page->words, GL_R32UI, NULL, bytes);
    if (page->texels == 0) gl->CreateTextures(GL_TEXTURE_BUFFER, 1, &page->texels);
    gl->TextureBuffer(page->texels, GL_RGBA32UI, page->words.stream.buffer);
  }
  gl->ClearNamedBufferSubData(page->words.stream.buffer, GL_R32UI, 0, (GLsizeiptr)bytes, GL_RED_INTEGER,
                              GL_UNSIGNED_INT, NULL);
}

/* Makes pages and clears them; page i is to hold `pixels[i]`. */
static graze_status make_pages(opengl_device *d, opengl_set *set, const uint64_t *pixels) {
  uint32_t count = set->pages_used;
  if (count > set->page_count) {
    opengl_page *grown = gz_resize(d->owner, set->pages, count, sizeof *grown);
    if (grown == NULL) return gz_fail_memory(d->owner, count * sizeof *grown);
    memset(grown + set->page_count, 0, (count - set->page_count) * sizeof *grown);
    set->pages = grown;
    set->page_count = count;
  }
  for (uint32_t i = 0; i < count; i++) clear_page(d->gl, &set->pages[i], pixels[i]);
  return GRAZE_OK;
}

/* Gives each picture its slot, page and base. `pixels`: of each page, room for as many as there are pictures. */
static graze_status place_pictures(const opengl_device *d, opengl_set *set, const visibility_picture *pictures,
                                   uint32_t count, uint64_t *pixels) {
  opengl_picture *placed = set->pictures.data;
  uint32_t *page_of = set->page_of.data, pages = 0;
  slots s = {.side = d->bare.width};
  for (uint32_t i = 0; i < count; i++) {
    const visibility_picture *p = &pictures[i];
    uint64_t own = (uint64_t)p->width * p->height;
    if (own > d->page_pixels) return fail(d, GRAZE_ERROR_DEVICE, "it has no such large buffers");
    if (pages == 0 || pixels[pages - 1] + own > d->page_pixels) pixels[pages++] = 0;
    placed[i] = (opengl_picture){.axis = p->axis, .width = p->width, .height = p->height};
    placed[i].base = (uint32_t)pixels[pages - 1];
    for (uint32_t k = 0; k < 3; k++) { /* to the right, up, in depth */
      placed[i].low[k] = p->low[(p->axis + 1 + k) % 3];
      placed[i].scale[k] = p->scale[(p->axis + 1 + k) % 3];
    }
    place(&s, &placed[i]);
    page_of[i] = pages - 1;
    pixels[pages - 1] += own;
  }
  set->pages_used = pages;
  return GRAZE_OK;
}

graze_status gz_opengl_make_pictures(opengl_device *d, opengl_set *set, const visibility_picture *pictures,
                                     uint32_t count) {
  set->pages_used = 0;
  graze_status status = make_framebuffer(d, pictures, count);
  if (status == GRAZE_OK) status = reserve(d, &set->pictures, count, sizeof(opengl_picture));
  if (status == GRAZE_OK) status = reserve(d, &set->page_of, count, sizeof(uint32_t));
  if (status == GRAZE_OK) status = reserve(d, &d->words, count, sizeof(uint64_t));
  if (status == GRAZE_OK) status = place_pictures(d, set, pictures, count, d->words.data);
  if (status == GRAZE_OK) status = make_pages(d, set, d->words.data);
  if (status != GRAZE_OK) return status;
  gz_gl_texels_fill(d->gl, &set->texels, GL_RGBA32UI, set->pictures.data, (size_t)count * sizeof(opengl_picture));
  return GRAZE_OK;
}

static graze_status begin(visibility_device *device, const visibility_picture *pictures, uint32_t count) {
  opengl_device *d = inside(device);
  graze_status status = gz_opengl_begin(d);
  return status != GRAZE_OK ? status : gz_opengl_end(d, gz_opengl_make_pictures(d, &d->kept, pictures, count));
}

void gz_opengl_use_page(opengl_device *d, const opengl_set *set, uint32_t page) {
  d->gl->BindImageTexture(0, set->pages[page].words.texture, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
  d->gl->BindTextureUnit(4, set->pages[page].texels);
}

/* ---- batches ---- */

graze_status gz_opengl_reserve(opengl_device *d, uint64_t entries, uint64_t regions) {
  graze_status status = reserve(d, &d->batch, entries, sizeof(opengl_entry));
  if (status == GRAZE_OK) status = reserve(d, &d->regions, regions, sizeof(opengl_command));
  d->batch_count = d->region_count = 0;
  return status;
}

void gz_opengl_append(opengl_device *d, const visibility_draw *draw, const uint32_t *list) {
  opengl_entry *entries = (opengl_entry *)d->batch.data + d->batch_count;
  for (uint32_t i = 0; i < draw->count; i++) {
    entries[i] = (opengl_entry){list[draw->first + i], draw->picture, draw->first + i, 0};
  }
  d->batch_count += draw->count;
}

/* A region's command says where its entries begin; one more says where the last ends. */
void gz_opengl_end_region(opengl_device *d) {
  opengl_command *commands = d->regions.data;
  if (d->region_count == 0) commands[0] = (opengl_command){0, 1, 0, 0};
  commands[++d->region_count] = (opengl_command){0, 1, RECTANGLE * d->batch_count, 0};
}

void gz_opengl_send(opengl_device *d, const opengl_set *set) {
  const gl_functions *gl = d->gl;
  gz_gl_texels_fill(gl, &d->entries, GL_RGBA32UI, d->batch.data, d->batch_count * sizeof(opengl_entry));
  gz_gl_texels_fill(gl, &d->order, GL_R32UI, NULL, d->batch_count * sizeof(uint32_t));
  gz_gl_stream_fill(gl, &d->commands, d->regions.data, (d->region_count + (size_t)1) * sizeof(opengl_command));
  gl->BindVertexArray(d->array);
  gl->BindTextureUnit(0, d->corners.texture);
  gl->BindTextureUnit(1, set->texels.texture);
  gl->BindTextureUnit(2, d->entries.texture);
  gl->BindTextureUnit(3, d->order.texture);
  gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, d->flags.buffer);
  gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, d->commands.buffer);
  gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, d->order.stream.buffer);
  gl->BindBuffer(GL_DRAW_INDIRECT_BUFFER, d->commands.buffer);
}

/* Triangles of few pixels, which finds the others, too. */
static void visit_small(opengl_device *d, GLuint program, uint32_t region) {
  const gl_functions *gl = d->gl;
  const opengl_command *commands = (const opengl_command *)d->regions.data + region;
  GLuint first = commands[0].first / RECTANGLE, count = commands[1].first / RECTANGLE - first;
  GLuint groups = (count + GROUP - 1) / GROUP, rows = (groups + GROUPS - 1) / GROUPS;
  gl->UseProgram(program);
  gl->ProgramUniform1ui(program, 0, first);
  gl->ProgramUniform1ui(program, 1, count);
  gl->ProgramUniform1f(program, 2, d->error);
  gl->ProgramUniform1ui(program, 3, d->small);
  gl->ProgramUniform1ui(program, 4, region);
  gl->DispatchCompute(rows > 1 ? GROUPS : groups, rows, 1);
  gl->MemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
}

void gz_opengl_visit(opengl_device *d, const opengl_visit *visit, uint32_t region) {
  const gl_functions *gl = d->gl;
  visit_small(d, visit->small, region);
  gz_gl_target_use(gl, &d->bare);
  gl->Disable(GL_DEPTH_TEST);
  gl->UseProgram(visit->large);
  gl->ProgramUniform1f(visit->large, 1, (float)d->bare.width);
  gl->ProgramUniform1f(visit->large, 2, d->error);
  gl->DrawArraysIndirect(GL_TRIANGLES, (const void *)(region * sizeof(opengl_command)));
}

/* What of the batch is in it. */
static void visit_batch(opengl_device *d, const opengl_visit *visit) {
  if (d->batch_count == 0) return;
  gz_opengl_end_region(d);
  gz_opengl_send(d, &d->kept);
  gz_opengl_visit(d, visit, 0);
  d->batch_count = d->region_count = 0;
}

/* The draws into the page, in rounds. */
static void visit_page(opengl_device *d, const opengl_visit *visit, uint32_t page, const visibility_draw *draws,
                       uint32_t count, const uint32_t *list) {
  const uint32_t *page_of = d->kept.page_of.data;
  gz_opengl_use_page(d, &d->kept, page);
  for (uint32_t i = 0; i < count; i++) {
    if (page_of[draws[i].picture] != page) continue;
    for (uint32_t done = 0; done < draws[i].count;) {
      uint32_t left = draws[i].count - done, room = d->round - d->batch_count, now = left < room ? left : room;
      visibility_draw part = {draws[i].picture, draws[i].first + done, now};
      gz_opengl_append(d, &part, list);
      if (d->batch_count == d->round) visit_batch(d, visit);
      done += now;
    }
  }
  visit_batch(d, visit);
}

static graze_status visit_all(opengl_device *d, const opengl_visit *visit, const visibility_draw *draws, uint32_t count,
                              const uint32_t *list) {
  uint64_t entries = 0;
  for (uint32_t i = 0; i < count; i++) entries += draws[i].count;
  graze_status status = gz_opengl_reserve(d, entries < d->round ? entries : d->round, 1);
  for (uint32_t page = 0; status == GRAZE_OK && page < d->kept.pages_used; page++) {
    visit_page(d, visit, page, draws, count, list);
  }
  d->gl->MemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT |
                       GL_BUFFER_UPDATE_BARRIER_BIT);
  return status;
}

static graze_status put(visibility_device *device, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                        uint32_t list_count) {
  opengl_device *d = inside(device);
  (void)list_count;
  graze_status status = gz_opengl_begin(d);
  return status != GRAZE_OK ? status : gz_opengl_end(d, visit_all(d, &d->programs.put, draws, count, list));
}

/* ---- flags ---- */

void gz_opengl_clear_flags(opengl_device *d, uint32_t count) {
  size_t bytes = ((size_t)count + 1) * sizeof(uint32_t);
  gz_gl_stream_fill(d->gl, &d->flags, NULL, bytes);
  d->gl->ClearNamedBufferSubData(d->flags.buffer, GL_R32UI, 0, (GLsizeiptr)bytes, GL_RED_INTEGER, GL_UNSIGNED_INT,
                                 NULL);
}

graze_status gz_opengl_read_flags(opengl_device *d, uint32_t count, uint8_t *flags) {
  graze_status status = reserve(d, &d->words, count, sizeof(uint32_t));
  if (status != GRAZE_OK) return status;
  uint32_t *words = d->words.data;
  d->gl->MemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  d->gl->GetNamedBufferSubData(d->flags.buffer, 0, (GLsizeiptr)((size_t)count * sizeof *words), words);
  for (uint32_t i = 0; i < count; i++) flags[i] = words[i] != 0;
  return GRAZE_OK;
}

static graze_status test(visibility_device *device, const visibility_draw *draws, uint32_t count, const uint32_t *list,
                         uint32_t list_count, uint8_t *flags) {
  opengl_device *d = inside(device);
  graze_status status = gz_opengl_begin(d);
  if (status != GRAZE_OK) return status;
  gz_opengl_clear_flags(d, list_count);
  status = visit_all(d, &d->programs.test, draws, count, list);
  if (status == GRAZE_OK) status = gz_opengl_read_flags(d, list_count, flags);
  return gz_opengl_end(d, status);
}

/* ---- pixels ---- */

/* The float that shaders keep as an integer in the same order. */
static float unordered(uint32_t word) {
  uint32_t bits = (word & 0x80000000u) != 0 ? word & 0x7fffffffu : ~word;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static graze_status read(visibility_device *device, uint32_t picture, float *lo, float *hi) {
  opengl_device *d = inside(device);
  const opengl_picture *p = (const opengl_picture *)d->kept.pictures.data + picture;
  const opengl_page *page = &d->kept.pages[((const uint32_t *)d->kept.page_of.data)[picture]];
  size_t count = (size_t)p->width * p->height, pixel = PIXEL_WORDS * sizeof(uint32_t);
  graze_status status = reserve(d, &d->words, count, pixel);
  if (status == GRAZE_OK) status = gz_opengl_begin(d);
  if (status != GRAZE_OK) return status;
  const uint32_t *words = d->words.data;
  d->gl->GetNamedBufferSubData(page->words.stream.buffer, (GLintptr)(p->base * pixel), (GLsizeiptr)(count * pixel),
                               d->words.data);
  for (size_t i = 0; i < count; i++, words += PIXEL_WORDS) {
    lo[i] = words[1] == 0 ? INFINITY : unordered(~words[0]);
    hi[i] = words[1] == 0 ? -INFINITY : unordered(words[1]);
  }
  return gz_opengl_end(d, GRAZE_OK);
}

static uint64_t queries(const visibility_device *device) {
  return ((const opengl_device *)device)->queries;
}

/* ---- making and ending ---- */

static void destroy_set(opengl_device *d, opengl_set *set) {
  gz_gl_texels_destroy(d->gl, &set->texels);
  for (uint32_t i = 0; i < set->page_count; i++) {
    gz_gl_texels_destroy(d->gl, &set->pages[i].words);
    d->gl->DeleteTextures(1, &set->pages[i].texels);
  }
}

static void destroy(visibility_device *device) {
  opengl_device *d = inside(device);
  if (d->context != NULL && gz_gl_begin(d->context)) {
    const gl_functions *gl = d->gl;
    gz_opengl_programs_destroy(d);
    gl->DeleteVertexArrays(1, &d->array);
    gz_gl_target_destroy(gl, &d->bare);
    gz_gl_target_destroy(gl, &d->centers);
    gz_gl_texels_destroy(gl, &d->corners);
    gz_gl_texels_destroy(gl, &d->entries);
    gz_gl_texels_destroy(gl, &d->order);
    destroy_set(d, &d->kept);
    destroy_set(d, &d->single);
    gz_gl_stream_destroy(gl, &d->commands);
    gz_gl_stream_destroy(gl, &d->flags);
    gl->DeleteQueries((GLsizei)d->query_count, d->query_names);
    gz_gl_end(d->context);
  }
  gz_gl_context_destroy(d->context);
  buffer *buffers[] = {&d->kept.pictures, &d->kept.page_of, &d->single.pictures, &d->single.page_of, &d->batch,
                       &d->regions,       &d->words};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gz_buffer_release(d->owner, buffers[i]);
  gz_free(d->kept.pages);
  gz_free(d->single.pages);
  gz_free(d->query_names);
  gz_free(d);
}

static uint32_t least(const GLint *values, int count) {
  GLint found = values[0];
  for (int i = 1; i < count; i++) found = values[i] < found ? values[i] : found;
  return (uint32_t)found;
}

static void ask_limits(opengl_device *d) {
  GLint sides[5], texels;
  d->gl->GetIntegerv(GL_MAX_FRAMEBUFFER_WIDTH, &sides[0]);
  d->gl->GetIntegerv(GL_MAX_FRAMEBUFFER_HEIGHT, &sides[1]);
  d->gl->GetIntegerv(GL_MAX_TEXTURE_SIZE, &sides[2]);
  d->gl->GetIntegerv(GL_MAX_VIEWPORT_DIMS, &sides[3]);
  d->gl->GetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &texels);
  d->largest_side = least(sides, 5);
  d->largest_array = (uint32_t)texels;
  d->page_pixels = d->largest_array / PIXEL_WORDS;
  if (d->options.page_pixels != 0 && d->options.page_pixels < d->page_pixels) d->page_pixels = d->options.page_pixels;
}

/* Programs, limits, and the state that holds for every draw. */
static graze_status create_on_device(opengl_device *d, gl_message *message) {
  const gl_functions *gl = d->gl;
  if (!gz_gl_begin(d->context)) return GRAZE_ERROR_UNSUPPORTED;
  ask_limits(d);
  gl->CreateVertexArrays(1, &d->array);
  gl->ClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  gl->Enable(GL_DEPTH_CLAMP); /* triangles before and behind the range of depth are drawn, too */
  bool good = gz_opengl_programs_create(d, message);
  graze_status status = good ? gz_gl_check(d->context, message) : GRAZE_ERROR_UNSUPPORTED;
  gz_gl_end(d->context);
  return status;
}

graze_status gz_visibility_opengl_create_with(graze_context *context, const visibility_opengl_options *options,
                                              visibility_device **device, char *reason, size_t size) {
  gl_message message = {"out of memory"};
  opengl_device *d = gz_new_zeroed(context, 1, sizeof *d);
  if (d == NULL) return gz_fail_memory(context, sizeof *d);
  d->device = (visibility_device){.load = load,
                                  .begin = begin,
                                  .put = put,
                                  .test = test,
                                  .sequence = gz_opengl_sequence,
                                  .read = read,
                                  .centers = gz_opengl_centers,
                                  .queries = queries,
                                  .destroy = destroy};
  d->owner = context;
  d->options = *options;
  d->round = options->round != 0 ? options->round : ROUND_ENTRIES;
  d->small = options->small;
  graze_status status = gz_gl_context_create(context, NULL, &d->context, &message);
  if (status == GRAZE_OK) {
    d->gl = gz_gl_functions_of(d->context);
    snprintf(d->device.name, sizeof d->device.name, "opengl: %s", gz_gl_device(d->context));
    if (d->small == 0) d->small = gz_gl_is_software(d->context) ? SMALL_PIXELS_IN_SOFTWARE : SMALL_PIXELS;
    status = create_on_device(d, &message);
  }
  if (status == GRAZE_OK) status = gz_visibility_self_test(context, &d->device, message.text, sizeof message.text);
  if (status == GRAZE_OK) {
    *device = &d->device;
    return GRAZE_OK;
  }
  destroy(&d->device);
  const bool named = strstr(message.text, "OpenGL") != NULL;
  snprintf(reason, size, "%s%s", named ? "" : "OpenGL: ", message.text);
  for (char *c = reason; *c; c++) { /* compilers say more than one line */
    if ((unsigned char)*c < ' ') *c = ' ';
  }
  return gz_fail(context, status, "visibility: %s", reason);
}

graze_status gz_visibility_opengl_create(graze_context *context, visibility_device **device, char *reason,
                                         size_t size) {
  return gz_visibility_opengl_create_with(context, &(visibility_opengl_options){0}, device, reason, size);
}
