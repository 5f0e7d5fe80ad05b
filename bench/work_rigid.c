/* bench/work_rigid.c: rigid bodies that stand or have come to rest: the stack, the pyramid, the pile and the rings of
 * `graze make`.
 *
 * Every run of ours goes on from the same saved state. A row is right when the bodies are, in the mean, where they
 * should be: those that stand, to a hundredth of an edge of a box; rings that hang, to a hundredth of their radius; a
 * pile, as high as between 0.8 and 0.4 of its volume is solid; tables that tumble, on the floor and no higher than they
 * could be if they lay upon each other. Peers take one step of 1/60 s for our four parts of one,
 * with one untuned setting each.
 *
 * The exact check of a pile is right when what is deepest is about as deep as the deepest contact: no deeper, since
 * that is measured along one normal, and no less than half. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/rigid.h"
#include "scenes.h"

static const double DT = 1.0 / 60, PI = 3.14159265358979323846;

typedef struct rigid_case {
  const char *kind;
  uint32_t size, before, steps;
  bool newton; /* its row is not too slow */
} rigid_case;

typedef struct rigid_job {
  graze_rigid *world;
  char *path;
  uint32_t steps, count;
} rigid_job;

typedef struct mean_height {
  double low, high;
} mean_height;

static void add_body(graze_rigid *world, const scenes_body *from) {
  static const graze_rigid_shape shapes[] = {GRAZE_RIGID_SPHERE, GRAZE_RIGID_BOX, GRAZE_RIGID_CAPSULE};
  graze_rigid_body_def def = graze_default_rigid_body_def();
  const double *m = from->pose;
  uint32_t number;
  def.shape = shapes[from->shape];
  def.radius = from->size[0];
  def.length = from->size[1];
  memcpy(def.edges, from->size, sizeof def.edges);
  def.density = from->density;
  for (int k = 0; k < 3; k++) def.position[k] = m[4 * k + 3];
  const double w = sqrt(fmax(0, 1 + m[0] + m[5] + m[10])), x = sqrt(fmax(0, 1 + m[0] - m[5] - m[10])),
               y = sqrt(fmax(0, 1 - m[0] + m[5] - m[10])), z = sqrt(fmax(0, 1 - m[0] - m[5] + m[10]));
  const double q[4] = {w, copysign(x, m[9] - m[6]), copysign(y, m[2] - m[8]), copysign(z, m[4] - m[1])};
  memcpy(def.orientation, q, sizeof q);
  must(graze_rigid_add_body(world, &def, &number), "a body");
}

static graze_rigid *make_world(graze_context *context, const scenes_rigid *scene, graze_rigid_solver solver) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.solver = solver;
  must(graze_rigid_create(context, &def, &world), "the world");
  m.friction = scene->friction;
  m.restitution = scene->restitution;
  must(graze_rigid_add_material(world, &m, &number), "the material");
  for (uint32_t i = 0; i < scene->wall_count; i++)
    must(graze_rigid_add_wall(world, scene->walls[i].point, scene->walls[i].normal, number), "a wall");
  for (uint32_t i = 0; i < scene->count; i++) add_body(world, &scene->bodies[i]);
  return world;
}

static void run_rigid(void *argument, bool check, sample *out) {
  rigid_job *j = argument;
  double sum = 0;
  (void)check;
  must(graze_rigid_restore(j->world, j->path), j->path);
  const double start = seconds_now();
  must(graze_rigid_step(j->world, DT, j->steps, NULL, NULL), "the steps");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  for (uint32_t i = 0; i < j->count; i++) {
    graze_rigid_body_def body;
    must(graze_rigid_get_body(j->world, i, &body), "a body");
    sum += body.position[2];
  }
  out->count = (uint64_t)(1e6 * fabs(sum / j->count) + 0.5);
  out->hash = graze_rigid_get_hash(j->world);
}

static void judge_rigid(contest *c, entry *e) {
  const mean_height *m = c->judge_argument;
  const double height = 1e-6 * (double)e->checked.count;
  e->right = height >= m->low && height <= m->high;
  snprintf(e->note, sizeof e->note, "mean height %.4f; from %.4f to %.4f", height, m->low, m->high);
}

static double volume_of(const scenes_body *b) {
  const double *s = b->size;
  if (b->shape == SCENES_BODY_BALL) return 4.0 / 3 * PI * s[0] * s[0] * s[0];
  if (b->shape == SCENES_BODY_BOX) return s[0] * s[1] * s[2];
  return PI * s[0] * s[0] * (s[1] + 4.0 / 3 * s[0]);
}

/* Where they stand, or of a pile what lies between walls that are as far apart across x and y. */
static mean_height find_height(const scenes_rigid *scene) {
  double mean = 0, volume = 0;
  for (uint32_t i = 0; i < scene->count; i++) {
    mean += scene->bodies[i].pose[11] / scene->count;
    volume += volume_of(&scene->bodies[i]);
  }
  if (scene->kind != SCENES_RIGID_PILE) return (mean_height){mean - 0.01 * mean, mean + 0.01};
  double half = 0;
  for (uint32_t i = 0; i < scene->wall_count; i++) half = fmax(half, fabs(scene->walls[i].point[0]));
  const double height = volume / (4 * half * half);
  return (mean_height){0.5 * height / 0.8, 0.5 * height / 0.4};
}

static void one_case(bench *b, const rigid_case *k) {
  static const char *const names[] = {"cpu/auto", "cpu/soft", "cpu/newton"};
  char setup[96];
  const char *const lines[] = {setup, NULL};
  scenes_rigid_kind kind;
  scenes_rigid scene;
  rigid_job jobs[3];
  contest c;
  if (!bench_wants(b, "rigid/%s/%u", k->kind, k->size)) return;
  if (!scenes_rigid_named(k->kind, &kind) || !scenes_rigid_make(kind, k->size, 1, &scene)) fail("no memory");
  mean_height height = find_height(&scene);
  contest_begin(&c, b, "body step", scene.count, (uint64_t)scene.count * k->steps, "rigid/%s/%u", k->kind, k->size);
  c.judge = judge_rigid;
  c.judge_argument = &height;
  for (int i = 0; i < (k->newton ? 3 : 2); i++) {
    jobs[i] = (rigid_job){make_world(b->context, &scene, (graze_rigid_solver)i),
                          text_of("%s/rigid%d.state", b->work_folder, i), k->steps, scene.count};
    must(graze_rigid_step(jobs[i].world, DT, k->before, NULL, NULL), "the steps before");
    must(graze_rigid_save(jobs[i].world, jobs[i].path), jobs[i].path);
    contest_ours(&c, names[i], run_rigid, &jobs[i]);
  }
  snprintf(setup, sizeof setup, "bodies %s %u %u %u", k->kind, k->size, k->before, k->steps);
  contest_peers(&c, "rigid", true, lines);
  contest_end(&c);
  for (int i = 0; i < (k->newton ? 3 : 2); i++) {
    remove(jobs[i].path);
    free(jobs[i].path);
    graze_rigid_destroy(jobs[i].world);
  }
  scenes_rigid_free(&scene);
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static graze_mesh *make_mesh(graze_context *context, const scenes_mesh *from) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = from->vertices;
  def.vertex_count = (uint32_t)from->vertex_count;
  def.indices = from->indices;
  def.triangle_count = (uint32_t)from->triangle_count;
  def.precision = GRAZE_DOUBLE;
  must(graze_mesh_create(context, &def, &mesh), "a mesh");
  return mesh;
}

/* The first stands; every other is turned. */
static graze_rigid *make_rings(graze_context *context, const scenes_scene *scene, const graze_mesh *ring,
                               graze_rigid_solver solver) {
  const scenes_rigid none = {.friction = scene->run.friction};
  graze_rigid *world = make_world(context, &none, solver);
  for (uint32_t i = 0; i < scene->object_count; i++) {
    const double half = sqrt(0.5), flat[4] = {half, half, 0, 0}, turned[4] = {0.5, 0.5, 0.5, 0.5};
    graze_rigid_body_def def = graze_default_rigid_body_def();
    uint32_t number;
    def.shape = GRAZE_RIGID_MESH;
    def.mesh = ring;
    def.type = scene->run.starts[i].type == SCENES_START_STATIC ? GRAZE_BODY_STATIC : GRAZE_BODY_DYNAMIC;
    def.density = scene->run.density;
    def.position[2] = scene->objects[i].pose[11];
    memcpy(def.orientation, i % 2 == 0 ? flat : turned, sizeof flat);
    must(graze_rigid_add_body(world, &def, &number), "a ring");
  }
  return world;
}

static void ring_case(bench *b, uint32_t size, uint32_t before, uint32_t steps) {
  /* A long chain goes to pieces with soft contacts. */
  static const struct {
    const char *name;
    graze_rigid_solver solver;
  } rows[] = {{"cpu/auto", GRAZE_RIGID_AUTO}, {"cpu/newton", GRAZE_RIGID_NEWTON}, {"cpu/soft", GRAZE_RIGID_SOFT}};
  const int row_count = size < 10 ? 3 : 2;
  char setup[96];
  const char *const lines[] = {setup, NULL};
  const scenes_kind *kind = scenes_find_kind("rings");
  scenes_request request = scenes_default_request(kind);
  scenes_scene scene;
  const char *reason;
  rigid_job jobs[3];
  contest c;
  if (!bench_wants(b, "rigid/rings/%u", size)) return;
  request.size = size;
  if (!scenes_make(kind, &request, &scene, &reason)) fail("%s", reason);
  const double mean = 1.6 * (size - 1) / 2;
  mean_height height = {mean - 0.01, mean + 0.01};
  graze_mesh *ring = make_mesh(b->context, &scene.meshes[0]);
  contest_begin(&c, b, "body step", size, (uint64_t)size * steps, "rigid/rings/%u", size);
  c.judge = judge_rigid;
  c.judge_argument = &height;
  for (int i = 0; i < row_count; i++) {
    jobs[i] = (rigid_job){make_rings(b->context, &scene, ring, rows[i].solver),
                          text_of("%s/rings%d.state", b->work_folder, i), steps, size};
    must(graze_rigid_step(jobs[i].world, DT, before, NULL, NULL), "the steps before");
    must(graze_rigid_save(jobs[i].world, jobs[i].path), jobs[i].path);
    contest_ours(&c, rows[i].name, run_rigid, &jobs[i]);
  }
  snprintf(setup, sizeof setup, "bodies rings %u %u %u", size, before, steps);
  contest_peers(&c, "rigid", true, lines);
  contest_end(&c);
  for (int i = 0; i < row_count; i++) {
    remove(jobs[i].path);
    free(jobs[i].path);
    graze_rigid_destroy(jobs[i].world);
  }
  graze_mesh_destroy(ring);
  scenes_free(&scene);
}

/* ---- compounds --------------------------------------------------------------------------------------------------- */

/* A plate on four legs, all of one thickness. */
static void make_table(double thick, graze_rigid_part parts[5]) {
  for (int i = 0; i < 5; i++) {
    const double leg[3] = {thick, thick, 0.5}, plate[3] = {1, 1, thick};
    parts[i] = graze_default_rigid_part();
    parts[i].shape = GRAZE_RIGID_BOX;
    memcpy(parts[i].edges, i < 4 ? leg : plate, sizeof leg);
    parts[i].place[0] = i < 4 ? i % 2 * 0.9 - 0.45 : 0;
    parts[i].place[1] = i < 4 ? i / 2 * 0.9 - 0.45 : 0;
    parts[i].place[2] = i < 4 ? 0 : 0.25;
  }
}

/* In layers of sixteen, turned in eight ways, that fall on each other and tumble. */
static graze_rigid *make_tables(graze_context *context, uint32_t size, graze_rigid_solver solver) {
  const scenes_rigid none = {.friction = 0.5};
  const double up[3] = {0, 0, 1}, origin[3] = {0, 0, 0};
  graze_rigid_part parts[5];
  graze_rigid *world = make_world(context, &none, solver);
  uint32_t number;
  must(graze_rigid_add_wall(world, origin, up, 0), "the floor");
  make_table(0.04, parts);
  for (uint32_t i = 0; i < size; i++) {
    graze_rigid_body_def def = graze_default_rigid_body_def();
    def.shape = GRAZE_RIGID_COMPOUND;
    def.parts = parts;
    def.part_count = 5;
    def.density = 500;
    def.position[0] = 1.6 * (i % 4);
    def.position[1] = 1.6 * (i / 4 % 4);
    def.position[2] = 1.5 + 1.4 * (i / 16);
    for (uint32_t k = 0; k < 3; k++) def.orientation[k + 1] = i >> k & 1 ? 0.8 : -0.3;
    for (uint32_t k = 0; k < 3; k++) def.spin[k] = i >> k & 1 ? -3 : 2;
    must(graze_rigid_add_body(world, &def, &number), "a table");
  }
  return world;
}

/* Right when they have come down and lie on the floor and on each other. */
static void table_case(bench *b, uint32_t size, uint32_t steps) {
  static const char *const names[] = {"cpu/auto", "cpu/soft"};
  mean_height height = {0.1, 0.25 + 0.25 * size / 16};
  rigid_job jobs[2];
  contest c;
  if (!bench_wants(b, "rigid/tables/%u", size)) return;
  contest_begin(&c, b, "body step", size, (uint64_t)size * steps, "rigid/tables/%u", size);
  c.judge = judge_rigid;
  c.judge_argument = &height;
  for (int i = 0; i < 2; i++) {
    jobs[i] = (rigid_job){make_tables(b->context, size, (graze_rigid_solver)i),
                          text_of("%s/tables%d.state", b->work_folder, i), steps, size};
    must(graze_rigid_save(jobs[i].world, jobs[i].path), jobs[i].path);
    contest_ours(&c, names[i], run_rigid, &jobs[i]);
  }
  contest_end(&c);
  for (int i = 0; i < 2; i++) {
    remove(jobs[i].path);
    free(jobs[i].path);
    graze_rigid_destroy(jobs[i].world);
  }
}

/* ---- the exact check --------------------------------------------------------------------------------------------- */

static void run_check(void *argument, bool check, sample *out) {
  rigid_job *j = argument;
  graze_rigid_check_result result;
  (void)check;
  const double start = seconds_now();
  must(graze_rigid_check(j->world, (double)NAN, &result), "the check");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = (uint64_t)(1e9 * result.deepest.lower + 0.5);
  out->hash = result.pairs;
}

static void judge_check(contest *c, entry *e) {
  const graze_world_sums *sums = c->judge_argument;
  const double depth = 1e-9 * (double)e->checked.count;
  e->right = depth <= sums->max_overlap * 1.001 && depth >= 0.5 * sums->max_overlap;
  snprintf(e->note, sizeof e->note, "deepest %.6f, of contacts %.6f", depth, sums->max_overlap);
}

static void check_case(bench *b, uint32_t size) {
  scenes_rigid scene;
  graze_world_sums sums;
  contest c;
  if (!bench_wants(b, "rigid/check/pile-%u", size)) return;
  if (!scenes_rigid_make(SCENES_RIGID_PILE, size, 1, &scene)) fail("no memory");
  rigid_job job = {.world = make_world(b->context, &scene, GRAZE_RIGID_AUTO)};
  must(graze_rigid_step(job.world, DT, 480, NULL, NULL), "the steps before");
  must(graze_rigid_get_sums(job.world, &sums), "the sums");
  contest_begin(&c, b, "body", scene.count, scene.count, "rigid/check/pile-%u", size);
  c.judge = judge_check;
  c.judge_argument = &sums;
  contest_ours(&c, "cpu", run_check, &job);
  contest_end(&c);
  graze_rigid_destroy(job.world);
  scenes_rigid_free(&scene);
}

void work_rigid(bench *b) {
  static const rigid_case cases[] = {{"stack", 10, 60, 240, true},
                                     {"pyramid", 10, 60, 240, true},
                                     {"pyramid", 40, 60, 60, false},
                                     {"pile", 1024, 480, 60, false},
                                     {"pile", 4096, 600, 30, false}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    if (cases[i].size < 1024 || (!b->quick && (cases[i].size < 4096 || b->large))) one_case(b, &cases[i]);
  }
  ring_case(b, 5, 1, 240);
  if (!b->quick) ring_case(b, 101, 1, 240);
  table_case(b, b->quick ? 16 : 64, 120);
  check_case(b, b->quick ? 128 : 1024);
}
