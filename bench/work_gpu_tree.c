/* bench/work_gpu_tree.c: the hierarchy on a device, by the clock of the device: built, refitted to boxes that moved a
 * step, and asked for all pairs, which stay there. What it finds is held to a sweep on the processor. */
#include <stdio.h>
#include <stdlib.h>

#include "contest.h"
#include "gpu/tree.h"
#include "reference.h"
#include "scenes.h"
#include "work_gpu.h"

/* Boxes at rest, and a step later. */
typedef struct tree_job {
  graze_gpu *gpu;
  gpu_tree tree;
  gpu_buffer given, pairs;
  const float *boxes, *moved;
  uint32_t count;
  uint64_t found, hash;
  bool read; /* pairs are read for their hash */
} tree_job;

static void put(tree_job *j, const float *boxes) {
  size_t bytes = 6 * (size_t)j->count * sizeof *boxes;
  must(gpu_reserve(j->gpu, &j->given, bytes), "gpu_reserve");
  must(gpu_write(j->gpu, &j->given, 0, boxes, bytes), "gpu_write");
}

static graze_status take(void *user, const gpu_buffer *pairs, uint32_t count) {
  tree_job *j = user;
  j->found += count;
  if (!j->read) return GRAZE_OK;
  uint32_t *numbers = must_alloc(2 * (size_t)count, sizeof *numbers);
  must(gpu_read(j->gpu, numbers, pairs, 0, 2 * (size_t)count * sizeof *numbers), "gpu_read");
  for (uint32_t i = 0; i < count; i++) j->hash += hash_of_pair(numbers[2 * (size_t)i], numbers[2 * (size_t)i + 1]);
  free(numbers);
  return GRAZE_OK;
}

/* All pairs of the tree as it is. */
static void ask(tree_job *j, bool check, sample *out) {
  const gpu_tree_question own = {0};
  j->found = j->hash = 0;
  j->read = check;
  must(gpu_tree_each(j->gpu, &j->tree, &own, 1u << 25, &j->pairs, take, j), "gpu_tree_each");
  out->count = j->found;
  out->hash = j->hash;
}

static void *begin(tree_job *j) {
  void *mark;
  must(gpu_mark(j->gpu, &mark), "gpu_mark");
  return mark;
}

static void end(tree_job *j, void *first, sample *out) {
  void *second;
  must(gpu_mark(j->gpu, &second), "gpu_mark");
  must(gpu_between(j->gpu, first, second, &out->seconds[0]), "gpu_between");
  out->timed = 1;
  out->bytes = j->gpu->bytes;
}

static void run_build(void *argument, bool check, sample *out) {
  tree_job *j = argument;
  put(j, j->boxes);
  void *first = begin(j);
  must(gpu_tree_build(j->gpu, &j->tree, &j->given, j->count), "gpu_tree_build");
  end(j, first, out);
  ask(j, check, out);
}

static void run_refit(void *argument, bool check, sample *out) {
  tree_job *j = argument;
  put(j, j->boxes);
  must(gpu_tree_build(j->gpu, &j->tree, &j->given, j->count), "gpu_tree_build");
  put(j, j->moved);
  void *first = begin(j);
  must(gpu_tree_refit(j->gpu, &j->tree, &j->given), "gpu_tree_refit");
  end(j, first, out);
  ask(j, check, out);
}

static void run_pairs(void *argument, bool check, sample *out) {
  tree_job *j = argument;
  put(j, j->boxes);
  must(gpu_tree_build(j->gpu, &j->tree, &j->given, j->count), "gpu_tree_build");
  void *first = begin(j);
  ask(j, false, out);
  end(j, first, out);
  if (check) ask(j, true, out);
}

static void one_row(bench *b, graze_gpu *gpu, scenes_box_kind kind, uint32_t count, const char *task,
                    run_function run) {
  const char *id = graze_gpu_get_info(gpu)->id, *name = scenes_box_kind_name(kind);
  if (!bench_wants(b, "gpu_tree_%s/%s/%s/%u", task, name, id, count)) return;
  scenes_boxes made;
  if (!scenes_boxes_make(kind, count, 1, &made)) fail("out of memory");
  float *boxes = must_alloc(6 * (size_t)made.count, sizeof *boxes);
  float *moved = must_alloc(6 * (size_t)made.count, sizeof *moved);
  scenes_boxes_at(&made, 0, 0, boxes);
  scenes_boxes_at(&made, 0.1, 1, moved);
  tree_job job = {.gpu = gpu, .boxes = boxes, .moved = moved, .count = made.count};
  reference expected = reference_float_boxes(run == run_refit ? moved : boxes, made.count).closed;
  contest c;
  char entry_name[48];
  snprintf(entry_name, sizeof entry_name, "gpu/%s", id);
  contest_begin(&c, b, "box", made.count, made.count, "gpu_tree_%s/%s/%s/%u", task, name, id, made.count);
  contest_expect(&c, expected.count, expected.hash);
  contest_ours(&c, entry_name, run, &job);
  contest_end(&c);
  gpu_tree_release(gpu, &job.tree);
  gpu_release(gpu, &job.given);
  gpu_release(gpu, &job.pairs);
  scenes_boxes_free(&made);
  free(boxes);
  free(moved);
}

void work_gpu_tree(bench *b, graze_gpu *gpu) {
  const uint32_t counts[] = {b->quick ? 10000 : 1000000, 10000000};
  const scenes_box_kind kinds[] = {SCENES_BOXES_UNIFORM, SCENES_BOXES_MIXED, SCENES_BOXES_WAVE};
  for (size_t i = 0; i < (b->large ? 2u : 1u); i++) {
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
      one_row(b, gpu, kinds[k], counts[i], "build", run_build);
      one_row(b, gpu, kinds[k], counts[i], "refit", run_refit);
      one_row(b, gpu, kinds[k], counts[i], "pairs", run_pairs);
    }
  }
}
