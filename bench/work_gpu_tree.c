/* bench/work_gpu_tree.c: the hierarchy on a device, by the clock of the device: built, refitted to boxes that moved a
 * step, and asked for all pairs, which stay there. What it finds is held to a sweep on the processor. */
#include <stdio.h>
#include <stdlib.h>

#include "contest.h"
#include "gpu/lbvh.h"
#include "reference.h"
#include "scenes.h"
#include "work_gpu.h"

/* Boxes at rest, and a step later. */
typedef struct tree_job {
  graze_gpu *gpu;
  gpu_lbvh tree;
  gpu_buffer given, pairs;
  const float *boxes, *moved;
  uint32_t count;
  uint64_t found, hash;
  bool read; /* pairs are read for their hash */
} tree_job;

static void put(tree_job *j, const float *boxes) {
  size_t bytes = 6 * (size_t)j->count * sizeof *boxes;
  must(gz_gpu_reserve(j->gpu, &j->given, bytes), "gz_gpu_reserve");
  must(gz_gpu_write(j->gpu, &j->given, 0, boxes, bytes), "gz_gpu_write");
}

static graze_status take(void *user, const gpu_buffer *pairs, uint32_t count) {
  tree_job *j = user;
  j->found += count;
  if (!j->read) return GRAZE_OK;
  uint32_t *numbers = must_alloc(2 * (size_t)count, sizeof *numbers);
  must(gz_gpu_read(j->gpu, numbers, pairs, 0, 2 * (size_t)count * sizeof *numbers), "gz_gpu_read");
  for (uint32_t i = 0; i < count; i++) j->hash += hash_of_pair(numbers[2 * (size_t)i], numbers[2 * (size_t)i + 1]);
  free(numbers);
  return GRAZE_OK;
}

/* All pairs of the tree as it is. */
static void ask(tree_job *j, bool check, sample *out) {
  const gpu_lbvh_question own = {0};
  j->found = j->hash = 0;
  j->read = check;
  must(gz_gpu_lbvh_each(j->gpu, &j->tree, &own, 1u << 25, &j->pairs, take, j), "gz_gpu_lbvh_each");
  out->count = j->found;
  out->hash = j->hash;
}

static void *begin(tree_job *j) {
  void *mark;
  must(gz_gpu_mark(j->gpu, &mark), "gz_gpu_mark");
  return mark;
}

static void end(tree_job *j, void *first, sample *out) {
  void *second;
  must(gz_gpu_mark(j->gpu, &second), "gz_gpu_mark");
  must(gz_gpu_between(j->gpu, first, second, &out->seconds[0]), "gz_gpu_between");
  out->timed = 1;
  out->bytes = j->gpu->bytes;
}

static void run_build(void *argument, bool check, sample *out) {
  tree_job *j = argument;
  put(j, j->boxes);
  void *first = begin(j);
  must(gz_gpu_lbvh_build(j->gpu, &j->tree, &j->given, j->count), "gz_gpu_lbvh_build");
  end(j, first, out);
  ask(j, check, out);
}

static void run_refit(void *argument, bool check, sample *out) {
  tree_job *j = argument;
  put(j, j->boxes);
  must(gz_gpu_lbvh_build(j->gpu, &j->tree, &j->given, j->count), "gz_gpu_lbvh_build");
  put(j, j->moved);
  void *first = begin(j);
  must(gz_gpu_lbvh_refit(j->gpu, &j->tree, &j->given), "gz_gpu_lbvh_refit");
  end(j, first, out);
  ask(j, check, out);
}

static void run_pairs(void *argument, bool check, sample *out) {
  tree_job *j = argument;
  put(j, j->boxes);
  must(gz_gpu_lbvh_build(j->gpu, &j->tree, &j->given, j->count), "gz_gpu_lbvh_build");
  void *first = begin(j);
  ask(j, false, out);
  end(j, first, out);
  if (check) ask(j, true, out);
}

/* Made when the first row wants it. */
typedef struct tree_input {
  scenes_box_kind kind;
  uint32_t asked, count; /* 0: not made */
  float *boxes, *moved;
  reference expected, expected_moved;
} tree_input;

static void make_input(const bench *b, tree_input *in) {
  scenes_boxes made;
  if (in->count > 0) return;
  if (!scenes_boxes_make(in->kind, in->asked, 1, &made)) fail("out of memory");
  in->count = made.count;
  in->boxes = must_alloc(6 * (size_t)in->count, sizeof *in->boxes);
  in->moved = must_alloc(6 * (size_t)in->count, sizeof *in->moved);
  scenes_boxes_at(&made, 0, 0, in->boxes);
  scenes_boxes_at(&made, 0.1, 1, in->moved);
  scenes_boxes_free(&made);
  in->expected = expected_pairs(b, in->boxes, in->count);
  in->expected_moved = expected_pairs(b, in->moved, in->count);
}

static void one_row(bench *b, graze_gpu *gpu, tree_input *in, const char *task, run_function run) {
  const char *id = graze_gpu_get_info(gpu)->id, *name = scenes_box_kind_name(in->kind);
  if (!bench_wants(b, "gpu_tree_%s/%s/%s/%u", task, name, id, in->asked)) return;
  make_input(b, in);
  tree_job job = {.gpu = gpu, .boxes = in->boxes, .moved = in->moved, .count = in->count};
  const reference *expected = run == run_refit ? &in->expected_moved : &in->expected;
  contest c;
  char entry_name[48];
  snprintf(entry_name, sizeof entry_name, "gpu/%s", id);
  contest_begin(&c, b, "box", in->count, in->count, "gpu_tree_%s/%s/%s/%u", task, name, id, in->count);
  contest_expect(&c, expected->count, expected->hash);
  note_device(contest_ours(&c, entry_name, run, &job), gpu);
  contest_end(&c);
  gz_gpu_lbvh_release(gpu, &job.tree);
  gz_gpu_release(gpu, &job.given);
  gz_gpu_release(gpu, &job.pairs);
}

static void one_kind(bench *b, graze_gpu *gpu, scenes_box_kind kind, uint32_t count) {
  tree_input in = {.kind = kind, .asked = count};
  one_row(b, gpu, &in, "build", run_build);
  one_row(b, gpu, &in, "refit", run_refit);
  one_row(b, gpu, &in, "pairs", run_pairs);
  free(in.boxes);
  free(in.moved);
}

void work_gpu_tree(bench *b, graze_gpu *gpu) {
  const scenes_box_kind kinds[] = {SCENES_BOXES_UNIFORM, SCENES_BOXES_MIXED, SCENES_BOXES_WAVE};
  if (b->large) one_kind(b, gpu, SCENES_BOXES_UNIFORM, 10000000);
  for (size_t k = 0; k < COUNT_OF(kinds); k++) {
    one_kind(b, gpu, kinds[k], b->quick ? 10000 : 100000);
    if (b->large) one_kind(b, gpu, kinds[k], 1000000);
  }
}
