/* bench/work_bed.c: a bed of balls that falls and settles, some hundred steps from a state on the way.
 *
 * The bed is that of `graze make bed`: equal balls on a jittered lattice in an open box, springs, dashpots, friction.
 * Every run goes on from the same saved state. A row is right when the mean height at its end is that of two other
 * programs, which were written without this library, to 0.02 diameters: LAMMPS and a plain one, which agree to 0.007.
 * Rows of devices are right when all bytes of the state are the processor's.
 *
 * Rows of `report` are the same beds under the law of a report on many bodies on a GPU, beside its method. There is no
 * telling how high a bed should be that loses contacts: its row counts those that it does not see to begin with.
 */
#include "work_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/dynamics.h"
#include "scenes.h"
#include "voxel_bodies.h"
#ifdef BENCH_GPU
#include "gpu/device.h"
#include "work_gpu.h"
#endif

typedef struct phase {
  const char *name;
  uint32_t count, before, steps;
  double height; /* of the centres, in the end */
  bool springs;  /* across the normal, beside the dashpots */
  bool mesh;     /* of devices: there is a floor of triangles */
} phase;

typedef struct bed {
  graze_world *world;
  char *path;
  uint32_t steps;
} bed;

static const double DT = BED_STEP;

graze_world *make_bed_world(graze_context *context, uint32_t count, graze_tangential_law tangential,
                            graze_precision precision) {
  const bool full = tangential == GRAZE_TANGENTIAL_FULL;
  scenes_balls balls;
  graze_world *world;
  graze_world_def def = graze_default_world_def();
  graze_material m = graze_default_material();
  graze_particle_def particles = graze_default_particle_def();
  uint32_t material, set;
  if (!scenes_balls_make(SCENES_BALLS_BED, count, 1, 0, &balls)) fail("no memory for %u balls", count);
  if (full) def.integrator = GRAZE_EULER;
  def.precision = precision;
  must(graze_world_create(context, &def, &world), "the world");
  m.k_n = balls.k_n;
  m.gamma_n = balls.gamma_n;
  if (!full) m.gamma_t = balls.gamma_t;
  if (!full) m.friction = balls.friction;
  m.tangential = tangential;
  if (tangential == GRAZE_TANGENTIAL_SPRING) m.k_t = 2.0 / 7 * balls.k_n;
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
  const char *const work = p->springs ? "bed_springs" : "bed";
  char setup[64];
  const char *const lines[] = {setup, NULL};
  contest c;
  bed d = {.steps = p->steps};
  if (!bench_wants(b, "%s/%s/%u", work, p->name, p->count)) return;
  d.world = make_bed_world(b->context, p->count, p->springs ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT,
                           GRAZE_DOUBLE);
  d.path = text_of("%s/bed.state", b->work_folder);
  must(graze_world_step(d.world, DT, p->before, NULL, NULL), "the steps before");
  must(graze_world_save(d.world, d.path), d.path);
  contest_begin(&c, b, "ball step", p->count, (uint64_t)p->count * p->steps, "%s/%s/%u", work, p->name, p->count);
  c.judge = judge_bed;
  c.judge_argument = p;
  contest_ours(&c, "cpu", run_bed, &d);
  snprintf(setup, sizeof setup, "bed %u %u %u", p->count, p->before, p->steps);
  contest_peers(&c, work, true, lines);
  contest_end(&c);
  remove(d.path);
  free(d.path);
  graze_world_destroy(d.world);
}

/* Heights of the two other programs at the step before + steps, with springs LAMMPS alone: see docs/particles.md. */
static phase phases[] = {
    {"falling", 16384, 2500, 500, 13.0807, false, false},  {"settling", 16384, 9000, 500, 9.4219, false, false},
    {"falling", 65536, 2500, 500, 21.0525, false, false},  {"collapsing", 65536, 5500, 500, 17.2961, false, false},
    {"settling", 65536, 8500, 500, 14.4093, false, false}, {"falling", 16384, 2500, 500, 13.1315, true, false},
    {"settling", 16384, 9000, 500, 10.1363, true, false}};

void work_bed(bench *b) {
  for (size_t i = 0; i < COUNT_OF(phases); i++) {
    if (!b->quick || phases[i].count < 65536) one_phase(b, &phases[i]);
  }
}

/* ---- the report's method ----------------------------------------------------------------------------------------- */

typedef struct report_bed {
  bed bed;
  voxel_bodies voxels;
  double *start[2];        /* places and velocities */
  uint64_t contacts, seen; /* there */
} report_bed;

static void run_report(void *argument, bool check, sample *out) {
  report_bed *d = argument;
  voxel_bodies *v = &d->voxels;
  const size_t bytes = v->count * sizeof *v->positions;
  (void)check;
  memcpy(v->positions, d->start[0], bytes);
  memcpy(v->velocities, d->start[1], bytes);
  const double start = seconds_now();
  for (uint32_t i = 0; i < d->bed.steps; i++) voxel_bodies_step(v, DT);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = d->seen;
}

/* Ours is exact by the tests. */
static void judge_report(contest *c, entry *e) {
  const report_bed *d = c->judge_argument;
  e->right = e->ours || d->seen == d->contacts;
  e->wrong = e->ours ? 0 : d->contacts - d->seen;
  if (e->ours)
    snprintf(e->note, sizeof e->note, "mean height %.4f", 1e-6 * (double)e->checked.count);
  else
    snprintf(e->note, sizeof e->note, "of %llu contacts it does not see %llu", (unsigned long long)d->contacts,
             (unsigned long long)e->wrong);
}

static void count_contacts(report_bed *d) {
  const graze_contact *contacts;
  uint64_t count;
  must(graze_world_find_contacts(d->bed.world, &contacts, &count), "the contacts");
  for (uint64_t i = 0; i < count; i++) d->contacts += contacts[i].b.kind == GRAZE_MEMBER_PARTICLE;
  memcpy(d->voxels.positions, d->start[0], d->voxels.count * sizeof *d->voxels.positions);
  d->seen = voxel_bodies_count(&d->voxels);
}

static void make_voxels(report_bed *d, uint32_t count) {
  scenes_balls balls;
  if (!scenes_balls_make(SCENES_BALLS_BED, count, 1, 0, &balls)) fail("no memory for %u balls", count);
  const double width = balls.walls[1].point[0];
  d->voxels = (voxel_bodies){.count = count,
                             .radius = balls.radius,
                             .mass = balls.mass,
                             .stiffness = balls.k_n,
                             .damping = 0.5 * balls.gamma_n * balls.mass,
                             .gravity = -balls.gravity[2],
                             .high = {width, width, width}};
  scenes_balls_free(&balls);
  double *numbers = malloc(12 * (size_t)count * sizeof *numbers);
  if (!numbers || !voxel_bodies_begin(&d->voxels)) fail("no memory for %u balls", count);
  d->voxels.positions = (double(*)[3])(void *)numbers;
  d->voxels.velocities = d->voxels.positions + count;
  d->start[0] = numbers + 6 * (size_t)count;
  d->start[1] = numbers + 9 * (size_t)count;
}

/* From a bed that has settled, by our steps. */
static void one_report(bench *b, uint32_t count, uint32_t before) {
  contest c;
  report_bed d = {.bed = {.steps = 100}};
  if (!bench_wants(b, "report/%u", count)) return;
  d.bed.world = make_bed_world(b->context, count, GRAZE_TANGENTIAL_FULL, GRAZE_DOUBLE);
  d.bed.path = text_of("%s/report.state", b->work_folder);
  must(graze_world_step(d.bed.world, DT, before, NULL, NULL), "the steps before");
  must(graze_world_save(d.bed.world, d.bed.path), d.bed.path);
  make_voxels(&d, count);
  const graze_particle_state state = {.positions = d.start[0], .velocities = d.start[1]};
  must(graze_world_get_particles(d.bed.world, 0, &state), "the state");
  contest_begin(&c, b, "ball step", count, (uint64_t)count * d.bed.steps, "report/%u", count);
  count_contacts(&d);
  c.judge = judge_report;
  c.judge_argument = &d;
  contest_ours(&c, "cpu", run_bed, &d.bed);
  contest_rival(&c, "report", run_report, &d);
  contest_end(&c);
  remove(d.bed.path);
  free(d.bed.path);
  voxel_bodies_end(&d.voxels);
  free(d.voxels.positions);
  graze_world_destroy(d.bed.world);
}

void work_report_bodies(bench *b) {
  static const uint32_t counts[] = {1024, 4096, 16384, 65536}, before[] = {4000, 6000, 8000, 9000};
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    if (!b->quick || counts[i] < 16384) one_report(b, counts[i], before[i]);
  }
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

#ifdef BENCH_GPU
typedef struct device_bed {
  bed bed;
  graze_gpu *gpu;
} device_bed;

enum { TILES = 64 };

/* A floor of squares a little above the wall below, so that balls lie on it. It lasts as long as the world. */
static graze_mesh *add_floor(graze_context *context, graze_world *world, uint32_t count) {
  static const int across[6] = {0, 1, 1, 0, 1, 0}, along[6] = {0, 0, 1, 0, 1, 1};
  double *at = malloc((size_t)count * sizeof(double[3])), side = 1;
  float(*corners)[3] = malloc(sizeof(float[TILES * TILES][6][3]));
  graze_mesh_def def = graze_default_mesh_def();
  graze_body_def body = graze_default_body_def();
  graze_mesh *mesh;
  graze_body_id id;
  if (at == NULL || corners == NULL) fail("no memory for a floor");
  must(graze_world_get_particles(world, 0, &(graze_particle_state){at, NULL, NULL}), "the balls");
  for (size_t i = 0; i < 3 * (size_t)count; i++) side = i % 3 < 2 && at[i] + 1 > side ? at[i] + 1 : side;
  for (int i = 0; i < 6 * TILES * TILES; i++) {
    corners[i][0] = (float)(side * (i / 6 % TILES + across[i % 6]) / TILES);
    corners[i][1] = (float)(side * (i / 6 / TILES + along[i % 6]) / TILES);
    corners[i][2] = 0.01f;
  }
  def.vertices = corners;
  def.vertex_count = 6 * TILES * TILES;
  must(graze_mesh_create(context, &def, &mesh), "the floor");
  body.type = GRAZE_BODY_STATIC;
  body.name = "floor";
  body.mesh = mesh;
  must(graze_world_add_body(world, &body, &id), "the floor");
  free(at);
  free(corners);
  return mesh;
}

static void run_on_device(void *argument, bool check, sample *out) {
  device_bed *d = argument;
  const uint64_t before = graze_world_get_engine_steps(d->bed.world);
  run_bed(&d->bed, check, out);
  out->bytes = graze_gpu_get_report(d->gpu).bytes;
  if (graze_world_get_engine_steps(d->bed.world) != before + d->bed.steps)
    snprintf(out->gave_up, sizeof out->gave_up, "%.60s", "the processor made the steps");
}

static void one_device_phase(bench *b, graze_gpu *gpu, const phase *p, graze_precision precision) {
  const char *id = graze_gpu_get_info(gpu)->id, *many = p->count > 65536 ? "_many" : "";
  char work[48];
  const graze_tangential_law law = p->springs ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  snprintf(work, sizeof work, "gpu_bed%s%s%s%s", many, p->mesh ? "_mesh" : "", p->springs ? "_springs" : "",
           precision == GRAZE_FLOAT ? "_single" : "");
  char name[48];
  contest c;
  sample expected = {0};
  if (!bench_wants(b, "%s/%s/%s/%u", work, p->name, id, p->count)) return;
  char *path = text_of("%s/gpu_bed.state", b->work_folder);
  bed plain = {make_bed_world(b->context, p->count, law, precision), path, p->steps};
  device_bed device = {{make_bed_world(gpu->context, p->count, law, precision), path, p->steps}, gpu};
  graze_mesh *const floors[] = {p->mesh ? add_floor(b->context, plain.world, p->count) : NULL,
                                p->mesh ? add_floor(gpu->context, device.bed.world, p->count) : NULL};
  must(graze_world_step(device.bed.world, DT, p->before, NULL, NULL), "the steps before");
  must(graze_world_save(device.bed.world, path), path);
  run_bed(&plain, true, &expected);
  contest_begin(&c, b, "ball step", p->count, (uint64_t)p->count * p->steps, "%s/%s/%s/%u", work, p->name, id,
                p->count);
  contest_expect(&c, expected.count, expected.hash);
  contest_ours(&c, "cpu", run_bed, &plain);
  snprintf(name, sizeof name, "gpu/%.24s", id);
  note_device(contest_ours(&c, name, run_on_device, &device), gpu);
  contest_end(&c);
  remove(path);
  free(path);
  graze_world_destroy(plain.world);
  graze_world_destroy(device.bed.world);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(floors[i]);
}

/* In both precisions; millions of balls soon after they were let go, for the processor makes the same steps. */
void work_gpu_bed(bench *b, graze_gpu *gpu) {
  static const phase quick = {"falling", 1024, 1000, 100, 0, false, false},
                     meshes[] = {{"settling", 16384, 4000, 500, 0, false, true},
                                 {"settling", 16384, 4000, 500, 0, true, true}},
                     many[] = {{"falling", 1048576, 500, 100, 0, false, false},
                               {"falling", 16777216, 200, 50, 0, false, false}};
  for (int i = 0; i < 2; i++) {
    const graze_precision precision = i == 0 ? GRAZE_DOUBLE : GRAZE_FLOAT;
    if (b->quick) one_device_phase(b, gpu, &quick, precision);
    for (size_t p = 0; p < COUNT_OF(phases) && !b->quick; p++) {
      if (b->large || phases[p].before < 5000) one_device_phase(b, gpu, &phases[p], precision);
    }
    for (size_t p = 0; p < COUNT_OF(meshes) && !b->quick; p++) one_device_phase(b, gpu, &meshes[p], precision);
    for (size_t p = 0; p < COUNT_OF(many) && b->large; p++) one_device_phase(b, gpu, &many[p], precision);
  }
}
#endif
