/* bench/work_gpu_spheres.c: pairs of particles on devices, as lists and counted; answers are held to a plain grid. */
#include <stdio.h>
#include <stdlib.h>

#include "contest.h"
#include "gpu/device.h"
#include "work_gpu.h"

static const float RADIUS = 0.5F;
static const double NUMBER_DENSITY = 1.2; /* spheres in a unit cube: about five neighbours each */

typedef struct particles {
  float *centers, *radii;
  uint32_t count;
  uint32_t side; /* of the cube, in diameters */
} particles;

static particles make_particles(uint32_t count) {
  particles p = {.count = count, .side = 1};
  while (NUMBER_DENSITY * p.side * p.side * p.side < count) p.side++;
  p.centers = must_alloc(3 * (size_t)count, sizeof *p.centers);
  p.radii = must_alloc(count, sizeof *p.radii);
  for (uint64_t i = 0; i < 3 * (uint64_t)count; i++) {
    p.centers[i] = (float)((double)p.side * (double)(splitmix64(i) >> 11) * 0x1p-53);
  }
  for (uint32_t i = 0; i < count; i++) p.radii[i] = RADIUS;
  return p;
}

/* ---- the plain grid ---------------------------------------------------------------------------------------------- */

static uint32_t coordinate(const particles *p, uint32_t i, int k) {
  uint32_t at = (uint32_t)p->centers[3 * (size_t)i + k];
  return at < p->side ? at : p->side - 1;
}

static bool spheres_meet_plainly(const particles *p, uint32_t i, uint32_t j) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double d = (double)p->centers[3 * (size_t)i + k] - (double)p->centers[3 * (size_t)j + k];
    sum += d * d;
  }
  return sum <= 4 * (double)RADIUS * (double)RADIUS;
}

/* Spheres by cell: `starts` has one more than there are cells. */
static void sort_by_cell(const particles *p, uint32_t *starts, uint32_t *order) {
  uint64_t cells = (uint64_t)p->side * p->side * p->side;
#define CELL(i) (((uint64_t)coordinate(p, i, 2) * p->side + coordinate(p, i, 1)) * p->side + coordinate(p, i, 0))
  for (uint64_t c = 0; c <= cells; c++) starts[c] = 0;
  for (uint32_t i = 0; i < p->count; i++) starts[CELL(i)]++;
  for (uint64_t c = 1; c <= cells; c++) starts[c] += starts[c - 1];
  for (uint32_t i = p->count; i-- > 0;) order[--starts[CELL(i)]] = i;
#undef CELL
}

static void add_neighbours(const particles *p, const uint32_t *starts, const uint32_t *order, uint32_t i, sample *sum) {
  uint64_t low[3], high[3];
  for (int k = 0; k < 3; k++) {
    uint32_t at = coordinate(p, i, k);
    low[k] = at > 0 ? at - 1 : 0;
    high[k] = at + 1 < p->side ? at + 1 : at;
  }
  for (uint64_t z = low[2]; z <= high[2]; z++) {
    for (uint64_t y = low[1]; y <= high[1]; y++) {
      uint64_t row = (z * p->side + y) * p->side;
      for (uint32_t at = starts[row + low[0]]; at < starts[row + high[0] + 1]; at++) {
        uint32_t j = order[at];
        if (j <= i || !spheres_meet_plainly(p, i, j)) continue;
        sum->count++;
        sum->hash += hash_of_pair(i, j);
      }
    }
  }
}

static sample plain_answer(const particles *p) {
  uint64_t cells = (uint64_t)p->side * p->side * p->side;
  sample sum = {0};
  uint32_t *starts = must_alloc(cells + 1, sizeof *starts), *order = must_alloc(p->count, sizeof *order);
  sort_by_cell(p, starts, order);
  for (uint32_t i = 0; i < p->count; i++) add_neighbours(p, starts, order, i, &sum);
  free(starts);
  free(order);
  return sum;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

typedef struct spheres_job {
  graze_gpu *gpu; /* NULL: the processor */
  graze_broadphase *broadphase;
  const particles *particles;
  bool only_count;
  bool kernels; /* only the work on the device, without the ways there and back */
} spheres_job;

static void run_spheres(void *argument, bool check, sample *out) {
  spheres_job *j = argument;
  const particles *p = j->particles;
  const graze_sphere_array spheres = {.centers = p->centers, .radii = p->radii, .precision = GRAZE_FLOAT};
  const graze_box_pair *pairs = NULL;
  double start = seconds_now();
  if (j->only_count)
    must(graze_broadphase_count_spheres(j->broadphase, &spheres, p->count, &out->count, &out->hash), "count_spheres");
  else
    must(graze_broadphase_find_spheres(j->broadphase, &spheres, p->count, false, &pairs, &out->count), "find_spheres");
  out->seconds[0] = j->kernels ? graze_gpu_get_report(j->gpu).compute : seconds_now() - start;
  out->timed = 1;
  for (uint64_t i = 0; check && pairs != NULL && i < out->count; i++) out->hash += hash_of_pair(pairs[i].a, pairs[i].b);
  if (j->gpu != NULL) check_device(j->gpu, j->broadphase, out);
}

void work_gpu_spheres(bench *b, graze_gpu *gpu, uint32_t count, bool lists) {
  const char *id = graze_gpu_get_info(gpu)->id;
  if (!bench_wants(b, "gpu_spheres/%s/%u", id, count)) return;
  particles p = make_particles(count);
  sample expected = plain_answer(&p);
  spheres_job jobs[] = {{.particles = &p},
                        {.particles = &p, .gpu = gpu},
                        {.particles = &p, .gpu = gpu, .kernels = true},
                        {.particles = &p, .gpu = gpu, .only_count = true},
                        {.particles = &p, .gpu = gpu, .only_count = true, .kernels = true}};
  static const char *const suffixes[] = {"", "", "_kernels", "_count", "_count_kernels"};
  for (size_t i = 0; i < COUNT_OF(jobs); i++)
    must(graze_broadphase_create(i == 0 ? b->context : gpu->context, NULL, &jobs[i].broadphase), "create");
  contest c;
  contest_begin(&c, b, "sphere", count, count, "gpu_spheres/%s/%u", id, count);
  contest_expect(&c, expected.count, expected.hash);
  if (lists) contest_ours(&c, "cpu/auto_sorted", run_spheres, &jobs[0]);
  for (size_t i = lists ? 1 : 3; i < COUNT_OF(jobs); i++) {
    char name[48];
    snprintf(name, sizeof name, "gpu/%.24s%s", id, suffixes[i]);
    note_device(contest_ours(&c, name, run_spheres, &jobs[i]), gpu);
  }
  contest_end(&c);
  for (size_t i = 0; i < COUNT_OF(jobs); i++) graze_broadphase_destroy(jobs[i].broadphase);
  free(p.centers);
  free(p.radii);
}
