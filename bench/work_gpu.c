/* bench/work_gpu.c: what devices do: their building blocks, by the clock of the device, and pairs of boxes by every
 * method, transfers included. One set of rows for each device; answers are held to plain code on the processor. */
#include "work_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "gpu/primitives.h"
#include "graze/gpu.h"
#include "reference.h"
#include "scenes.h"

/* A fresh input of a building block, and what has to come out. */
typedef struct block_job {
  graze_gpu *gpu;
  gpu_scratch scratch;
  gpu_buffer in, values, out;
  unsigned char *keys; /* key_bytes each */
  uint32_t *numbers;   /* 0, 1, .. */
  uint32_t count, key_bytes;
  uint32_t *flags, *starts; /* where segments begin: a mark an element, and the places, with `count` behind them */
  uint32_t segments;
} block_job;

static void *mark(graze_gpu *gpu) {
  void *at;
  must(gz_gpu_mark(gpu, &at), "gz_gpu_mark");
  return at;
}

static void put(graze_gpu *gpu, gpu_buffer *to, const void *from, size_t bytes) {
  must(gz_gpu_reserve(gpu, to, bytes), "gz_gpu_reserve");
  must(gz_gpu_write(gpu, to, 0, from, bytes), "gz_gpu_write");
}

/* Weighs the elements by their places, so that one at a wrong place shows. */
static uint64_t hash_of(const uint32_t *numbers, uint32_t count) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < count; i++) hash += splitmix64((uint64_t)i << 32 | numbers[i]);
  return hash;
}

static void run_sort(void *argument, bool check, sample *out) {
  block_job *j = argument;
  put(j->gpu, &j->in, j->keys, (size_t)j->count * j->key_bytes);
  put(j->gpu, &j->values, j->numbers, j->count * sizeof *j->numbers);
  void *first = mark(j->gpu);
  must(gz_gpu_sort(j->gpu, &j->scratch, &j->in, &j->values, j->count, j->key_bytes, 8 * j->key_bytes), "gz_gpu_sort");
  void *second = mark(j->gpu);
  must(gz_gpu_between(j->gpu, first, second, &out->seconds[0]), "gz_gpu_between");
  out->timed = 1;
  out->count = j->count;
  if (!check) return;
  uint32_t *order = must_alloc(j->count, sizeof *order);
  must(gz_gpu_read(j->gpu, order, &j->values, 0, j->count * sizeof *order), "gz_gpu_read");
  out->hash = hash_of(order, j->count);
  free(order);
}

static void run_scan(void *argument, bool check, sample *out) {
  block_job *j = argument;
  put(j->gpu, &j->in, j->keys, j->count * sizeof(uint32_t));
  must(gz_gpu_reserve(j->gpu, &j->out, (j->count + (size_t)1) * sizeof(uint32_t)), "gz_gpu_reserve");
  void *first = mark(j->gpu);
  must(gz_gpu_scan(j->gpu, &j->scratch, &j->in, &j->out, j->count), "gz_gpu_scan");
  void *second = mark(j->gpu);
  must(gz_gpu_between(j->gpu, first, second, &out->seconds[0]), "gz_gpu_between");
  out->timed = 1;
  out->count = j->count;
  if (!check) return;
  uint32_t *sums = must_alloc(j->count + (size_t)1, sizeof *sums);
  must(gz_gpu_read(j->gpu, sums, &j->out, 0, (j->count + (size_t)1) * sizeof *sums), "gz_gpu_read");
  out->hash = hash_of(sums, j->count + 1);
  free(sums);
}

static void run_scan_segments(void *argument, bool check, sample *out) {
  block_job *j = argument;
  put(j->gpu, &j->in, j->keys, j->count * sizeof(uint32_t));
  put(j->gpu, &j->values, j->flags, j->count * sizeof(uint32_t));
  must(gz_gpu_reserve(j->gpu, &j->out, j->count * sizeof(uint32_t)), "gz_gpu_reserve");
  void *first = mark(j->gpu);
  must(gz_gpu_scan_segments(j->gpu, &j->scratch, &j->in, &j->values, &j->out, j->count, 4), "gz_gpu_scan_segments");
  void *second = mark(j->gpu);
  must(gz_gpu_between(j->gpu, first, second, &out->seconds[0]), "gz_gpu_between");
  out->timed = 1;
  out->count = j->count;
  if (!check) return;
  uint32_t *sums = must_alloc(j->count, sizeof *sums);
  must(gz_gpu_read(j->gpu, sums, &j->out, 0, j->count * sizeof *sums), "gz_gpu_read");
  out->hash = hash_of(sums, j->count);
  free(sums);
}

static void run_fold_segments(void *argument, bool check, sample *out) {
  block_job *j = argument;
  put(j->gpu, &j->in, j->keys, j->count * sizeof(uint32_t));
  put(j->gpu, &j->values, j->starts, (j->segments + (size_t)1) * sizeof(uint32_t));
  must(gz_gpu_reserve(j->gpu, &j->out, j->segments * sizeof(uint32_t)), "gz_gpu_reserve");
  void *first = mark(j->gpu);
  must(gz_gpu_fold_segments(j->gpu, &j->scratch, GPU_SUM, &j->in, j->count, 4, &j->values, j->segments, &j->out),
       "gz_gpu_fold_segments");
  void *second = mark(j->gpu);
  must(gz_gpu_between(j->gpu, first, second, &out->seconds[0]), "gz_gpu_between");
  out->timed = 1;
  out->count = j->count;
  if (!check) return;
  uint32_t *sums = must_alloc(j->segments, sizeof *sums);
  must(gz_gpu_read(j->gpu, sums, &j->out, 0, j->segments * sizeof *sums), "gz_gpu_read");
  out->hash = hash_of(sums, j->segments);
  free(sums);
}

/* ---- what has to come out ---------------------------------------------------------------------------------------- */

static uint64_t key_at(const block_job *j, uint32_t i) {
  uint64_t key = 0;
  memcpy(&key, j->keys + (size_t)i * j->key_bytes, j->key_bytes);
  return key;
}

typedef struct keyed {
  uint64_t key;
  uint32_t number;
} keyed;

static int by_key(const void *p, const void *q) {
  const keyed *x = p, *y = q;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static uint64_t sorted_hash(const block_job *j) {
  keyed *all = must_alloc(j->count, sizeof *all);
  uint32_t *order = must_alloc(j->count, sizeof *order);
  for (uint32_t i = 0; i < j->count; i++) all[i] = (keyed){key_at(j, i), i};
  qsort(all, j->count, sizeof *all, by_key);
  for (uint32_t i = 0; i < j->count; i++) order[i] = all[i].number;
  uint64_t hash = hash_of(order, j->count);
  free(all);
  free(order);
  return hash;
}

static uint64_t summed_hash(const block_job *j) {
  uint32_t *sums = must_alloc(j->count + (size_t)1, sizeof *sums), sum = 0;
  for (uint32_t i = 0; i <= j->count; i++) {
    sums[i] = sum;
    if (i < j->count) sum += (uint32_t)key_at(j, i);
  }
  uint64_t hash = hash_of(sums, j->count + 1);
  free(sums);
  return hash;
}

static uint64_t segment_scan_hash(const block_job *j) {
  uint32_t *sums = must_alloc(j->count, sizeof *sums), sum = 0;
  for (uint32_t i = 0; i < j->count; i++) {
    if (j->flags[i] != 0) sum = 0;
    sums[i] = sum;
    sum += (uint32_t)key_at(j, i);
  }
  uint64_t hash = hash_of(sums, j->count);
  free(sums);
  return hash;
}

static uint64_t segment_fold_hash(const block_job *j) {
  uint32_t *sums = must_alloc(j->segments, sizeof *sums);
  for (uint32_t s = 0; s < j->segments; s++) {
    sums[s] = 0;
    for (uint32_t i = j->starts[s]; i < j->starts[s + 1]; i++) sums[s] += (uint32_t)key_at(j, i);
  }
  uint64_t hash = hash_of(sums, j->segments);
  free(sums);
  return hash;
}

/* Segments of sixteen elements in the middle, of any lengths. */
static void cut_segments(block_job *j) {
  j->flags = must_alloc(j->count, sizeof *j->flags);
  j->starts = must_alloc(j->count + (size_t)1, sizeof *j->starts);
  for (uint32_t i = 0; i < j->count; i++) {
    j->flags[i] = i == 0 || splitmix64(~(uint64_t)i) % 16 == 0;
    if (j->flags[i] != 0) j->starts[j->segments++] = i;
  }
  j->starts[j->segments] = j->count;
}

void note_device(entry *e, const graze_gpu *gpu) {
  snprintf(e->note, sizeof e->note, "%s", graze_gpu_get_info(gpu)->name);
  for (char *at = e->note; *at != 0; at++) {
    if (*at == ',') *at = ';'; /* it means something in CSV */
  }
}

static void one_block(bench *b, graze_gpu *gpu, const char *name, uint32_t count, uint32_t key_bytes, run_function run,
                      uint64_t (*expected)(const block_job *)) {
  const char *id = graze_gpu_get_info(gpu)->id;
  if (!bench_wants(b, "gpu_%s/%s/%u", name, id, count)) return;
  block_job j = {.gpu = gpu, .count = count, .key_bytes = key_bytes};
  j.keys = must_alloc(count, key_bytes);
  j.numbers = must_alloc(count, sizeof *j.numbers);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t random = splitmix64(i);
    memcpy(j.keys + (size_t)i * key_bytes, &random, key_bytes);
    j.numbers[i] = i;
  }
  cut_segments(&j);
  contest c;
  char entry_name[48];
  snprintf(entry_name, sizeof entry_name, "gpu/%s", id);
  contest_begin(&c, b, "key", count, count, "gpu_%s/%s/%u", name, id, count);
  contest_expect(&c, count, expected(&j));
  note_device(contest_ours(&c, entry_name, run, &j), gpu);
  contest_end(&c);
  gpu_buffer *all[] = {&j.in, &j.values, &j.out};
  for (size_t i = 0; i < COUNT_OF(all); i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_scratch_release(gpu, &j.scratch);
  free(j.keys);
  free(j.numbers);
  free(j.flags);
  free(j.starts);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

typedef struct boxes_job {
  graze_gpu *gpu;               /* NULL: the processor */
  graze_broadphase *broadphase; /* of the device's context, or the benchmark's */
  const float *boxes;
  uint32_t count;
  bool kernels; /* only the work on the device, without the ways there and back */
} boxes_job;

static boxes_job job_of(graze_context *context, graze_broad_method method, const float *boxes, uint32_t count) {
  boxes_job j = {.boxes = boxes, .count = count};
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = method;
  must(graze_broadphase_create(context, &def, &j.broadphase), "graze_broadphase_create");
  return j;
}

void check_device(const graze_gpu *gpu, const graze_broadphase *broadphase, sample *out) {
  const graze_broad_report report = graze_broadphase_report(broadphase);
  out->bytes = graze_gpu_get_report(gpu).bytes;
  if (!report.by_engine || report.reason[0] != 0)
    snprintf(out->gave_up, sizeof out->gave_up, "%.60s",
             report.by_engine ? report.reason : graze_gpu_get_report(gpu).reason);
}

static void run_boxes(void *argument, bool check, sample *out) {
  boxes_job *j = argument;
  const graze_box_array boxes = {.data = j->boxes, .precision = GRAZE_FLOAT};
  const graze_box_pair *pairs;
  double start = seconds_now();
  must(graze_broadphase_find(j->broadphase, &boxes, j->count, false, &pairs, &out->count), "graze_broadphase_find");
  out->seconds[0] = j->kernels ? graze_gpu_get_report(j->gpu).compute : seconds_now() - start;
  out->timed = 1;
  for (uint64_t i = 0; check && i < out->count; i++) out->hash += hash_of_pair(pairs[i].a, pairs[i].b);
  if (j->gpu != NULL) check_device(j->gpu, j->broadphase, out);
}

reference expected_pairs(const bench *b, const float *boxes, uint32_t count) {
  enum { MOST_SWEPT = 100000 };
  if (count <= MOST_SWEPT) return reference_float_boxes(boxes, count).closed;
  boxes_job processor = job_of(b->context, GRAZE_BROAD_AUTO, boxes, count);
  sample answer = {0};
  run_boxes(&processor, true, &answer);
  graze_broadphase_destroy(processor.broadphase);
  return (reference){answer.count, answer.hash};
}

static void one_boxes(bench *b, graze_gpu *gpu, scenes_box_kind kind, uint32_t count) {
  const char *id = graze_gpu_get_info(gpu)->id, *name = scenes_box_kind_name(kind);
  if (!bench_wants(b, "gpu_boxes/%s/%s/%u", name, id, count)) return;
  scenes_boxes made;
  if (!scenes_boxes_make(kind, count, 1, &made)) fail("out of memory");
  float *boxes = must_alloc(6 * (size_t)made.count, sizeof *boxes);
  scenes_boxes_at(&made, 0, 0, boxes);
  static const char *const names[] = {"", "_subdivision", "_tree"};
  static const graze_broad_method methods[] = {GRAZE_BROAD_HGRID, GRAZE_BROAD_SUBDIVISION, GRAZE_BROAD_TREE};
  boxes_job processor = job_of(b->context, GRAZE_BROAD_AUTO, boxes, made.count), jobs[6];
  reference expected = expected_pairs(b, boxes, made.count);
  contest c;
  contest_begin(&c, b, "box", made.count, made.count, "gpu_boxes/%s/%s/%u", name, id, made.count);
  contest_expect(&c, expected.count, expected.hash);
  contest_ours(&c, "cpu/auto_sorted", run_boxes, &processor);
  for (int i = 0; i < 6; i++) {
    char entry_name[48];
    jobs[i] = job_of(gpu->context, methods[i / 2], boxes, made.count);
    jobs[i].gpu = gpu;
    jobs[i].kernels = i % 2 == 1;
    snprintf(entry_name, sizeof entry_name, "gpu/%s%s%s", id, names[i / 2], i % 2 == 1 ? "_kernels" : "");
    note_device(contest_ours(&c, entry_name, run_boxes, &jobs[i]), gpu);
  }
  contest_end(&c);
  for (int i = 0; i < 6; i++) graze_broadphase_destroy(jobs[i].broadphase);
  graze_broadphase_destroy(processor.broadphase);
  scenes_boxes_free(&made);
  free(boxes);
}

static void one_device(bench *b, graze_gpu *gpu) {
  work_gpu_triangles(b, gpu);
  const uint32_t counts[] = {b->quick ? 1u << 14 : 1u << 20, 1u << 24};
  for (size_t i = 0; i < (b->large ? 2u : 1u); i++) {
    one_block(b, gpu, "scan", counts[i], 4, run_scan, summed_hash);
    one_block(b, gpu, "scan_segments", counts[i], 4, run_scan_segments, segment_scan_hash);
    one_block(b, gpu, "fold_segments", counts[i], 4, run_fold_segments, segment_fold_hash);
    one_block(b, gpu, "sort32", counts[i], 4, run_sort, sorted_hash);
    one_block(b, gpu, "sort64", counts[i], 8, run_sort, sorted_hash);
  }
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++) {
    one_boxes(b, gpu, (scenes_box_kind)kind, b->quick ? 10000 : 100000);
    if (b->large) one_boxes(b, gpu, (scenes_box_kind)kind, 1000000);
  }
  if (b->large) one_boxes(b, gpu, SCENES_BOXES_UNIFORM, 10000000);
  work_gpu_tree(b, gpu);
  work_gpu_bed(b, gpu);
  work_gpu_spheres(b, gpu, b->quick ? 10000 : 1000000, true);
  if (b->large) work_gpu_spheres(b, gpu, 1u << 24, true);
  if (b->large && graze_gpu_get_info(gpu)->memory >= (uint64_t)16 << 30) work_gpu_spheres(b, gpu, 100000000, false);
}

bool work_gpu_list(const bench *b) {
  graze_gpu_info *list;
  uint32_t count, usable = 0;
  must(graze_gpu_list(b->context, &list, &count), "graze_gpu_list");
  for (uint32_t i = 0; i < count; i++) {
    graze_gpu *gpu = NULL;
    if (graze_gpu_create(b->context, list[i].id, &gpu) != GRAZE_OK) continue; /* the log says why */
    const graze_gpu_info *info = graze_gpu_get_info(gpu);
    printf("%s\t%s\t%s\t%s\n", info->id, info->name, info->driver, info->exact ? "exact" : info->flaw);
    graze_gpu_destroy(gpu);
    usable++;
  }
  graze_gpu *none = NULL;
  if (count == 0) graze_gpu_create(b->context, NULL, &none); /* the log says why */
  graze_gpu_list_free(b->context, list, count);
  return usable > 0;
}

void work_gpu(bench *b) {
  graze_context *context = bench_context(b);
  graze_gpu_info *list;
  uint32_t count;
  must(graze_gpu_list(b->context, &list, &count), "graze_gpu_list");
  graze_gpu *none = NULL;
  if (count == 0 && !b->list) graze_gpu_create(context, NULL, &none); /* the log says why there are no rows */
  for (uint32_t i = 0; i < count; i++) {
    graze_gpu *gpu = NULL;
    if (b->device && strcmp(b->device, list[i].id) != 0) continue;
    if (graze_gpu_create(context, list[i].id, &gpu) != GRAZE_OK) continue; /* the log says why */
    must(graze_gpu_attach(gpu, GRAZE_GPU_ALWAYS), "graze_gpu_attach");
    one_device(b, gpu);
    graze_gpu_destroy(gpu);
  }
  graze_gpu_list_free(b->context, list, count);
  graze_context_destroy(context);
}
