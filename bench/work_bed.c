/* bench/work_bed.c: a bed of balls that falls and settles, some hundred steps from a state on the way.
 *
 * The bed is that of `graze make bed`: equal balls on a jittered lattice in an open box, springs, dashpots, friction.
 * Every run goes on from the same saved state. A row is right when the mean height at its end is that of two other
 * programs, which were written without this library, to 0.02 diameters: LAMMPS and a plain one, which agree to 0.007.
 * Rows of devices are right when all bytes of the state are the processor's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/dynamics.h"
#include "scenes.h"
#ifdef BENCH_GPU
#include "gpu/device.h"
#include "work_gpu.h"
#endif

typedef struct phase {
  const char *name;
  uint32_t count, before, steps;
  double height; /* of the centres, in the end */
} phase;

typedef struct bed {
  graze_world *world;
  char *path;
  uint32_t steps;
} bed;

static const double DT = 2e-4;

static graze_world *make_world(graze_context *context, uint32_t count, graze_tangential_law tangential) {
  scenes_balls balls;
  graze_world *world;
  graze_world_def def = graze_default_world_def();
  graze_material m = graze_default_material();
  graze_particle_def particles = graze_default_particle_def();
  uint32_t material, set;
  if (!scenes_balls_make(SCENES_BALLS_BED, count, 1, 0, &balls)) fail("no memory for %u balls", count);
  must(graze_world_create(context, &def, &world), "the world");
  m.k_n = balls.k_n;
  m.gamma_n = balls.gamma_n;
  m.gamma_t = balls.gamma_t;
  m.friction = balls.friction;
  m.tangential = tangential;
  must(graze_world_add_material(world, "ball", &m, &material), "the material");
  for (uint32_t i = 0; i < balls.wall_count; i++)
    must(graze_world_add_wall(world, balls.walls[i].point, balls.walls[i].normal, material), "a wall");
  particles.name = "bed";
  particles.count = balls.count;
  particles.positions = balls.positions;
  particles.radius = balls.radius;
  particles.mass = balls.mass;
  particles.material = material;
  must(graze_world_add_particles(world, &particles, &set), "the balls");
  scenes_balls_free(&balls);
  return world;
}

static void run_bed(void *argument, bool check, sample *out) {
  bed *d = argument;
  graze_world_sums sums;
  (void)check;
  must(graze_world_restore(d->world, d->path), d->path);
  double start = seconds_now();
  must(graze_world_step(d->world, DT, d->steps, NULL, NULL), "the steps");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  must(graze_world_get_sums(d->world, &sums), "the sums");
  out->count = (uint64_t)(1e6 * sums.center[2] + 0.5);
  out->hash = graze_world_get_hash(d->world);
}

static void judge_bed(contest *c, entry *e) {
  const phase *p = c->judge_argument;
  double height = 1e-6 * (double)e->checked.count;
  e->right = height > p->height - 0.02 && height < p->height + 0.02;
  snprintf(e->note, sizeof e->note, "mean height %.4f; others %.4f", height, p->height);
}

static void one_phase(bench *b, phase *p) {
  char setup[64];
  const char *const lines[] = {setup, NULL};
  contest c;
  bed d = {.steps = p->steps};
  if (!bench_wants(b, "bed/%s/%u", p->name, p->count)) return;
  d.world = make_world(b->context, p->count, GRAZE_TANGENTIAL_DASHPOT);
  d.path = text_of("%s/bed.state", b->work_folder);
  must(graze_world_step(d.world, DT, p->before, NULL, NULL), "the steps before");
  must(graze_world_save(d.world, d.path), d.path);
  contest_begin(&c, b, "ball step", p->count, (uint64_t)p->count * p->steps, "bed/%s/%u", p->name, p->count);
  c.judge = judge_bed;
  c.judge_argument = p;
  contest_ours(&c, "cpu", run_bed, &d);
  snprintf(setup, sizeof setup, "bed %u %u %u", p->count, p->before, p->steps);
  contest_peers(&c, "bed", true, lines);
  contest_end(&c);
  remove(d.path);
  free(d.path);
  graze_world_destroy(d.world);
}

/* Heights of the two other programs at the step before + steps: see docs/particles.md. */
static phase phases[] = {{"falling", 16384, 2500, 500, 13.0807},
                         {"settling", 16384, 9000, 500, 9.4219},
                         {"falling", 65536, 2500, 500, 21.0525},
                         {"collapsing", 65536, 5500, 500, 17.2961},
                         {"settling", 65536, 8500, 500, 14.4093}};

void work_bed(bench *b) {
  for (size_t i = 0; i < COUNT_OF(phases); i++) {
    if (!b->quick || phases[i].count < 65536) one_phase(b, &phases[i]);
  }
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

#ifdef BENCH_GPU
typedef struct device_bed {
  bed bed;
  graze_gpu *gpu;
} device_bed;

static void run_on_device(void *argument, bool check, sample *out) {
  device_bed *d = argument;
  const uint64_t before = graze_world_get_engine_steps(d->bed.world);
  run_bed(&d->bed, check, out);
  out->bytes = graze_gpu_get_report(d->gpu).bytes;
  if (graze_world_get_engine_steps(d->bed.world) != before + d->bed.steps)
    snprintf(out->gave_up, sizeof out->gave_up, "%.60s", "the processor made the steps");
}

static void one_device_phase(bench *b, graze_gpu *gpu, const phase *p) {
  const char *id = graze_gpu_get_info(gpu)->id;
  char name[48];
  contest c;
  sample expected = {0};
  if (!bench_wants(b, "gpu_bed/%s/%s/%u", p->name, id, p->count)) return;
  char *path = text_of("%s/gpu_bed.state", b->work_folder);
  bed plain = {make_world(b->context, p->count, GRAZE_TANGENTIAL_DASHPOT), path, p->steps};
  device_bed device = {{make_world(gpu->context, p->count, GRAZE_TANGENTIAL_DASHPOT), path, p->steps}, gpu};
  must(graze_world_step(device.bed.world, DT, p->before, NULL, NULL), "the steps before");
  must(graze_world_save(device.bed.world, path), path);
  run_bed(&plain, true, &expected);
  contest_begin(&c, b, "ball step", p->count, (uint64_t)p->count * p->steps, "gpu_bed/%s/%s/%u", p->name, id, p->count);
  contest_expect(&c, expected.count, expected.hash);
  contest_ours(&c, "cpu", run_bed, &plain);
  snprintf(name, sizeof name, "gpu/%.24s", id);
  note_device(contest_ours(&c, name, run_on_device, &device), gpu);
  contest_end(&c);
  remove(path);
  free(path);
  graze_world_destroy(plain.world);
  graze_world_destroy(device.bed.world);
}

void work_gpu_bed(bench *b, graze_gpu *gpu) {
  static const phase quick = {"falling", 1024, 1000, 100, 0};
  if (b->quick) one_device_phase(b, gpu, &quick);
  for (size_t i = 0; i < COUNT_OF(phases) && !b->quick; i++) {
    if (b->large || phases[i].before < 5000) one_device_phase(b, gpu, &phases[i]);
  }
}
#endif
