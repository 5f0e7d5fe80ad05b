/* bench/work_motion.c: objects that move from pose to pose: two knots past or into each other, and a robot's cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/graze.h"
#include "models.h"
#include "scenes.h"

enum { MOTIONS = 24, SAMPLES = 1000 };

/* ---- two knots ---- */

typedef struct knots_job {
  graze_query *query;
  graze_motion_model model;
  double bracket;
  graze_motion_body a[MOTIONS], b[MOTIONS];
} knots_job;

static graze_pose place(uint64_t *state, const graze_pose *from, double turn, double way) {
  const double q[4] = {1, turn * draw_signed(state), turn * draw_signed(state), turn * draw_signed(state)};
  const double shift[3] = {way * draw_signed(state), way * draw_signed(state), way * draw_signed(state)};
  const graze_pose change = graze_pose_from_quaternion(q, shift);
  return from == NULL ? change : graze_pose_multiply(&change, from);
}

static bool meet_on_the_way(knots_job *j, int i) {
  graze_motion_options options = graze_default_motion_options();
  graze_motion_result result;
  options.model = GRAZE_MOTION_RIGID;
  if (graze_motion_meshes(j->query, &j->a[i], &j->b[i], &options, &result) != GRAZE_OK) fail("no motion");
  return result.verdict == GRAZE_MOTION_HIT;
}

/* From apart, about a knot's size from each other, for about such a way and some tens of degrees; all of them, or those
 * that meet. */
static void make_motions(knots_job *j, const graze_mesh *mesh, bool all) {
  uint64_t state = 11;
  for (int i = 0; i < MOTIONS; i++) {
    graze_collide_result found;
    graze_collide_options options = graze_default_collide_options();
    options.find = GRAZE_FIND_ANY;
    do {
      const graze_pose a = place(&state, NULL, 1, 0.1), b = place(&state, NULL, 1, 0.8);
      j->a[i] = (graze_motion_body){mesh, a, place(&state, &a, 0.2, 0.3)};
      j->b[i] = (graze_motion_body){mesh, b, place(&state, &b, 0.2, 0.5)};
      if (graze_collide_meshes(j->query, mesh, &a, mesh, &b, &options, &found) != GRAZE_OK) fail("no collision test");
    } while (found.hit || (!all && !meet_on_the_way(j, i)));
  }
}

static void run_knots(void *argument, bool check, sample *out) {
  knots_job *j = argument;
  graze_motion_options options = graze_default_motion_options();
  options.model = j->model;
  options.bracket = j->bracket;
  (void)check;
  out->timed = MOTIONS;
  for (int i = 0; i < MOTIONS; i++) {
    graze_motion_result result;
    double start = seconds_now();
    if (graze_motion_meshes(j->query, &j->a[i], &j->b[i], &options, &result) != GRAZE_OK) fail("no motion");
    out->seconds[i] = seconds_now() - start;
    out->count += result.verdict != GRAZE_MOTION_FREE;
  }
}

/* The straight motion of a thousand pieces, until something meets. */
static void run_samples(void *argument, bool check, sample *out) {
  knots_job *j = argument;
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_ANY;
  (void)check;
  out->timed = MOTIONS;
  for (int i = 0; i < MOTIONS; i++) {
    graze_collide_result found = {0};
    double start = seconds_now();
    for (int k = 0; k <= SAMPLES && !found.hit; k++) {
      graze_pose pose[2];
      for (int n = 0; n < 12; n++) {
        double t = (double)k / SAMPLES;
        pose[0].m[n] = (1 - t) * j->a[i].start.m[n] + t * j->a[i].end.m[n];
        pose[1].m[n] = (1 - t) * j->b[i].start.m[n] + t * j->b[i].end.m[n];
      }
      if (graze_collide_meshes(j->query, j->a[i].mesh, &pose[0], j->b[i].mesh, &pose[1], &options, &found) != GRAZE_OK)
        fail("no collision test");
    }
    out->seconds[i] = seconds_now() - start;
    out->count += found.hit;
  }
}

static model make_knot(const bench *b) {
  model m = b->list || b->quick ? shape_knot(8, 40) : shape_knot(25, 200);
  model_normalise(&m);
  return m;
}

static knots_job make_job(bench *b, const graze_mesh *mesh, graze_motion_model how, double bracket, bool all) {
  knots_job j = {.model = how, .bracket = bracket};
  if (graze_query_create(b->context, &j.query) != GRAZE_OK) fail("no query");
  make_motions(&j, mesh, all);
  return j;
}

static void two_knots(bench *b) {
  if (!bench_wants(b, "motion/knots")) return;
  static knots_job jobs[2];
  model m = make_knot(b);
  graze_mesh *mesh = model_bake(b, &m, GRAZE_VOLUMES_ORIENTED, true);
  jobs[0] = make_job(b, mesh, GRAZE_MOTION_LINEAR, 0, true);
  jobs[1] = make_job(b, mesh, GRAZE_MOTION_RIGID, 0, true);
  contest c;
  contest_begin(&c, b, "motion", m.triangle_count, MOTIONS, "motion/knots");
  contest_ours(&c, "cpu/linear", run_knots, &jobs[0]);
  contest_ours(&c, "cpu/rigid", run_knots, &jobs[1]);
  contest_rival(&c, "plain/samples_1000", run_samples, &jobs[0]);
  contest_end(&c);
  for (int k = 0; k < 2; k++) graze_query_destroy(jobs[k].query);
  graze_mesh_destroy(mesh);
  free(m.vertices);
  free(m.indices);
}

/* Motions that all meet, with times as wide as usual, wider and narrower. */
static void brackets(bench *b) {
  if (!bench_wants(b, "motion/brackets")) return;
  static const double widths[3] = {0, 0x1p-10, 0x1p-38};
  static knots_job jobs[3];
  model m = make_knot(b);
  graze_mesh *mesh = model_bake(b, &m, GRAZE_VOLUMES_ORIENTED, true);
  for (int k = 0; k < 3; k++) jobs[k] = make_job(b, mesh, GRAZE_MOTION_RIGID, widths[k], false);
  contest c;
  contest_begin(&c, b, "motion", m.triangle_count, MOTIONS, "motion/brackets");
  contest_ours(&c, "cpu/usual", run_knots, &jobs[0]);
  contest_ours(&c, "cpu/coarse", run_knots, &jobs[1]);
  contest_ours(&c, "cpu/fine", run_knots, &jobs[2]);
  contest_end(&c);
  for (int k = 0; k < 3; k++) graze_query_destroy(jobs[k].query);
  graze_mesh_destroy(mesh);
  free(m.vertices);
  free(m.indices);
}

/* ---- a robot's cell ---- */

typedef struct cell_job {
  graze_context *context;
  const scenes_scene *scene;
  graze_mesh **meshes;
  graze_motion_model model;
} cell_job;

static graze_scene *make_cell(const cell_job *j, graze_object_id *ids) {
  graze_scene *scene = NULL;
  if (graze_scene_create(j->context, &scene) != GRAZE_OK) fail("no scene");
  for (uint32_t i = 0; i < j->scene->object_count; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = j->meshes[j->scene->objects[i].mesh];
    memcpy(def.pose.m, j->scene->objects[i].pose, sizeof def.pose.m);
    if (graze_scene_add(scene, &def, &ids[i]) != GRAZE_OK) fail("no object");
  }
  return scene;
}

static void run_cell(void *argument, bool check, sample *out) {
  cell_job *j = argument;
  const scenes_scene *s = j->scene;
  graze_object_id *ids = must_alloc(s->object_count, sizeof *ids);
  graze_scene *scene = make_cell(j, ids);
  graze_scene_update_options options = graze_default_scene_update_options();
  options.continuous = j->model;
  double start = seconds_now();
  for (uint32_t step = 0, next = 0; step <= s->last_step; step++) {
    graze_scene_update_result events;
    for (; next < s->move_count && s->moves[next].step == step; next++) {
      graze_pose pose;
      memcpy(pose.m, s->moves[next].pose, sizeof pose.m);
      graze_scene_set_pose(scene, ids[s->moves[next].object], &pose);
    }
    if (graze_scene_update(scene, &options, &events) != GRAZE_OK) fail("no update");
    out->count += events.began_count + events.ended_count;
    if (check) out->hash += events.hash;
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  graze_scene_destroy(scene);
  free(ids);
}

static void robot_cell(bench *b) {
  if (!bench_wants(b, "motion/robot")) return;
  scenes_scene scene;
  const char *reason = NULL;
  const scenes_kind *kind = scenes_find_kind("robot");
  scenes_request request = scenes_default_request(kind);
  if (b->list || b->quick) request.size = 1;
  if (!scenes_make(kind, &request, &scene, &reason)) fail("%s", reason);
  graze_mesh **meshes = must_alloc(scene.mesh_count, sizeof *meshes);
  for (uint32_t i = 0; i < scene.mesh_count; i++) {
    graze_mesh_def def = graze_default_mesh_def();
    def.vertices = scene.meshes[i].vertices;
    def.vertex_count = scene.meshes[i].vertex_count;
    def.precision = GRAZE_DOUBLE;
    def.indices = scene.meshes[i].indices;
    def.triangle_count = scene.meshes[i].triangle_count;
    if (graze_mesh_create(b->context, &def, &meshes[i]) != GRAZE_OK) fail("no mesh");
  }
  cell_job jobs[3];
  sample truth = {0};
  contest c;
  contest_begin(&c, b, "step", scene.object_count, scene.last_step + 1, "motion/robot");
  for (int k = 0; k < 3; k++) jobs[k] = (cell_job){b->context, &scene, meshes, (graze_motion_model)k};
  run_cell(&jobs[0], true, &truth);
  contest_expect(&c, truth.count, truth.hash);
  contest_ours(&c, "cpu/steps", run_cell, &jobs[0]);
  contest_ours(&c, "cpu/linear", run_cell, &jobs[1]);
  contest_ours(&c, "cpu/rigid", run_cell, &jobs[2]);
  contest_end(&c);
  for (uint32_t i = 0; i < scene.mesh_count; i++) graze_mesh_destroy(meshes[i]);
  free(meshes);
  scenes_free(&scene);
}

void work_motion(bench *b) {
  two_knots(b);
  brackets(b);
  robot_cell(b);
}
