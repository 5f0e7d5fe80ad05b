/* bench/tutorial.c: the host's part of the tutorial: corners go to the device once, a question sends a matrix and a
 * shift and reads a number back. */
#include "tutorial.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 256, SQUARE = 16 };

extern const gpu_source bench_sources[]; /* made from kernels/ */

static void get_kernel(tutorial *t, const char *name, gpu_kernel *kernel) {
  must(gz_gpu_module_kernel(t->gpu, t->module, name, kernel), name);
}

void tutorial_begin(tutorial *t, graze_gpu *gpu) {
  *t = (tutorial){.gpu = gpu};
  must(gz_gpu_module_create(gpu, &bench_sources[0], &t->module), "gz_gpu_module_create");
  get_kernel(t, "turn", &t->turn);
  get_kernel(t, "move", &t->move);
  get_kernel(t, "collide", &t->collide);
  get_kernel(t, "judge", &t->judge);
}

void tutorial_end(tutorial *t) {
  gpu_buffer *all[] = {&t->matrix, &t->shift, &t->found, &t->verdicts};
  for (size_t i = 0; i < COUNT_OF(all); i++) gz_gpu_release(t->gpu, all[i]);
  gz_gpu_module_destroy(t->gpu, t->module);
}

static void put(tutorial *t, gpu_buffer *to, const void *from, size_t bytes) {
  must(gz_gpu_reserve(t->gpu, to, bytes), "gz_gpu_reserve");
  must(gz_gpu_write(t->gpu, to, 0, from, bytes), "gz_gpu_write");
}

void tutorial_load(tutorial *t, tutorial_model *m, const model *triangles) {
  size_t count = 3 * (size_t)triangles->triangle_count;
  float *corners = must_alloc(3 * count, sizeof *corners);
  for (size_t i = 0; i < count; i++)
    memcpy(corners + 3 * i, triangles->vertices + 3 * (size_t)triangles->indices[i], 3 * sizeof *corners);
  *m = (tutorial_model){.count = triangles->triangle_count};
  put(t, &m->corners, corners, 3 * count * sizeof *corners);
  must(gz_gpu_reserve(t->gpu, &m->turned, 3 * count * sizeof *corners), "gz_gpu_reserve");
  must(gz_gpu_reserve(t->gpu, &m->posed, 3 * count * sizeof *corners), "gz_gpu_reserve");
  free(corners);
}

void tutorial_unload(tutorial *t, tutorial_model *m) {
  gz_gpu_release(t->gpu, &m->corners);
  gz_gpu_release(t->gpu, &m->turned);
  gz_gpu_release(t->gpu, &m->posed);
}

static bool is_turned(const double pose[12]) {
  for (int k = 0; k < 9; k++) {
    if (pose[k + k / 3] != (k % 4 == 0)) return true;
  }
  return false;
}

/* Where the corners then are: turned only when an angle is not 0, and then moved, each by a kernel. */
static const gpu_buffer *put_in_place(tutorial *t, tutorial_model *m, const double pose[12]) {
  uint32_t numbers = 9 * m->count, groups = gpu_groups(numbers, ITEMS);
  float matrix[9], shift[3];
  const gpu_buffer *at = &m->corners;
  if (is_turned(pose)) {
    for (int k = 0; k < 9; k++) matrix[k] = (float)pose[k % 3 * 4 + k / 3];
    put(t, &t->matrix, matrix, sizeof matrix);
    const gpu_argument turn[] = {GPU_BUFFER(at), GPU_BUFFER(&m->turned), GPU_BUFFER(&t->matrix), GPU_VALUE(numbers)};
    must(gz_gpu_launch(t->gpu, &t->turn, groups, turn, 4), "turn");
    at = &m->turned;
  }
  for (int k = 0; k < 3; k++) shift[k] = (float)pose[4 * k + 3];
  put(t, &t->shift, shift, sizeof shift);
  const gpu_argument move[] = {GPU_BUFFER(at), GPU_BUFFER(&m->posed), GPU_BUFFER(&t->shift), GPU_VALUE(numbers)};
  must(gz_gpu_launch(t->gpu, &t->move, groups, move, 4), "move");
  return &m->posed;
}

static uint32_t squares(const tutorial_model *a, const tutorial_model *b) {
  return gpu_groups(a->count, SQUARE) * gpu_groups(b->count, SQUARE);
}

static uint32_t found(tutorial *t) {
  uint32_t count;
  must(gz_gpu_read(t->gpu, &count, &t->found, 0, sizeof count), "gz_gpu_read");
  return count;
}

bool tutorial_collide(tutorial *t, const tutorial_model *a, tutorial_model *b, const double pose[12]) {
  const gpu_buffer *posed = put_in_place(t, b, pose);
  const uint32_t none = 0;
  put(t, &t->found, &none, sizeof none);
  const gpu_argument arguments[] = {GPU_BUFFER(&a->corners), GPU_BUFFER(posed), GPU_BUFFER(&t->found),
                                    GPU_VALUE(a->count), GPU_VALUE(b->count)};
  must(gz_gpu_launch(t->gpu, &t->collide, squares(a, b), arguments, 5), "collide");
  return found(t) > 0;
}

bool tutorial_can_judge(const tutorial *t, uint64_t pairs) {
  return pairs <= t->gpu->info.largest / 2 && pairs <= (uint64_t)1 << 30;
}

uint32_t tutorial_judge(tutorial *t, const tutorial_model *a, tutorial_model *b, const double pose[12]) {
  const gpu_buffer *posed = put_in_place(t, b, pose);
  const uint32_t none = 0;
  put(t, &t->found, &none, sizeof none);
  must(gz_gpu_reserve(t->gpu, &t->verdicts, (size_t)a->count * b->count), "gz_gpu_reserve");
  const gpu_argument arguments[] = {GPU_BUFFER(&a->corners),  GPU_BUFFER(posed),   GPU_BUFFER(&t->found),
                                    GPU_BUFFER(&t->verdicts), GPU_VALUE(a->count), GPU_VALUE(b->count)};
  must(gz_gpu_launch(t->gpu, &t->judge, squares(a, b), arguments, 6), "judge");
  return found(t);
}
