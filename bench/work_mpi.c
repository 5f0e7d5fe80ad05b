/* bench/work_mpi.c: a step of boxes over ranks, on one rank, beside the broad phase's search of the same boxes: what
 * the wing of ranks adds to it. Everything is of one thread of this program, so that the two run in turns.
 */
#include <mpi.h>
#include <stdlib.h>

#include "contest.h"
#include "graze/mpi.h"
#include "scenes.h"

typedef struct one_rank {
  graze_mpi_boxes boxes;
  graze_broadphase *broadphase;
  graze_mpi_world *world;
} one_rank;

static void run_find(void *argument, bool check, sample *out) {
  const one_rank *r = argument;
  const graze_box_pair *pairs = NULL;
  const double start = seconds_now();
  must(graze_broadphase_find(r->broadphase, &r->boxes.boxes, r->boxes.count, true, &pairs, &out->count), "a search");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  for (uint64_t i = 0; check && i < out->count; i++) out->hash += hash_of_pair(pairs[i].a, pairs[i].b);
}

static void step(graze_mpi_world *world, const graze_mpi_boxes *boxes, sample *out) {
  const double start = seconds_now();
  must(graze_mpi_contribute(world, boxes), "boxes of a rank");
  must(graze_mpi_begin(world, 0), "a step");
  must(graze_mpi_wait(world), "a step");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  const graze_mpi_result result = graze_mpi_get_result(world);
  out->count = result.pairs;
  out->hash = result.hash;
}

static void run_step(void *argument, bool check, sample *out) {
  const one_rank *r = argument;
  (void)check;
  step(r->world, &r->boxes, out);
}

static void compare(bench *b, one_rank *r, uint32_t count) {
  contest c;
  sample expected = {0};
  run_find(r, true, &expected);
  contest_begin(&c, b, "box", count, count, "mpi/step/wave/%u", count);
  contest_expect(&c, expected.count, expected.hash);
  contest_ours(&c, "cpu/1_rank", run_step, r);
  contest_ours(&c, "cpu/find", run_find, r);
  contest_end(&c);
}

static void one_size(bench *b, uint32_t count) {
  one_rank r = {0};
  scenes_boxes made;
  if (!scenes_boxes_make(SCENES_BOXES_WAVE, count, 1, &made)) fail("out of memory");
  float *boxes = must_alloc(6 * (size_t)made.count, sizeof *boxes);
  uint64_t *ids = must_alloc(made.count, sizeof *ids);
  scenes_boxes_at(&made, 0, 0, boxes);
  for (uint32_t i = 0; i < made.count; i++) ids[i] = i;
  r.boxes = (graze_mpi_boxes){.boxes = {.data = boxes, .precision = GRAZE_FLOAT}, .count = made.count, .ids = ids};
  must(graze_broadphase_create(b->context, NULL, &r.broadphase), "a broad phase");
  must(graze_mpi_world_create(b->context, MPI_COMM_SELF, NULL, &r.world), "a world over ranks");
  compare(b, &r, made.count);
  graze_mpi_world_destroy(r.world);
  graze_broadphase_destroy(r.broadphase);
  scenes_boxes_free(&made);
  free(boxes);
  free(ids);
}

void work_mpi(bench *b) {
  static const uint32_t counts[] = {65536, 300000};
  bool begun = false;
  for (size_t i = 0; i < COUNT_OF(counts) - b->quick; i++) {
    if (!bench_wants(b, "mpi/step/wave/%u", scenes_boxes_total(SCENES_BOXES_WAVE, counts[i]))) continue;
    if (!begun) MPI_Init(NULL, NULL);
    begun = true;
    one_size(b, counts[i]);
  }
  if (begun) MPI_Finalize();
}
