/* bench/work_clearance.c: the clearances of a process plant, beside the check without them: from nothing, and where one
 * object in a hundred has moved. */
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/graze.h"
#include "scenes.h"

static const double clearance = 0.05;

typedef struct plant_job {
  graze_context *context;
  graze_mesh **meshes;
  scenes_scene scene;
  uint64_t triangles;
  bool clear, moves;
  graze_scene *world; /* of what moves: made and checked before it counts */
  graze_object_id *ids;
  bool there; /* it has been moved there, and goes back */
} plant_job;

static void must_work(const graze_context *context, graze_status status) {
  if (status != GRAZE_OK) fail("%s", graze_last_error(context)->message);
}

static double clearance_of(void *user, uint64_t a, uint64_t b) {
  (void)user, (void)a, (void)b;
  return clearance;
}

static double reach_of(void *user, uint64_t object) {
  (void)user, (void)object;
  return clearance;
}

static graze_pose pose_of(const plant_job *j, uint32_t object) {
  graze_pose pose;
  memcpy(pose.m, j->scene.objects[object].pose, sizeof pose.m);
  return pose;
}

static void build_plant(bench *b, plant_job *j) {
  const scenes_kind *kind = scenes_find_kind("plant");
  scenes_request request = scenes_default_request(kind);
  const char *reason;
  request.size = b->quick ? 300 : 2000;
  request.detail = b->quick ? 1 : 3;
  request.clashes = 0;
  request.gaps = 1;
  if (!scenes_make(kind, &request, &j->scene, &reason)) fail("%s", reason);
  j->meshes = must_alloc(j->scene.mesh_count, sizeof *j->meshes);
  for (uint32_t i = 0; i < j->scene.mesh_count; i++) {
    graze_mesh_def def = graze_default_mesh_def();
    def.vertices = j->scene.meshes[i].vertices;
    def.vertex_count = j->scene.meshes[i].vertex_count;
    def.indices = j->scene.meshes[i].indices;
    def.triangle_count = j->scene.meshes[i].triangle_count;
    def.precision = GRAZE_DOUBLE;
    must_work(j->context, graze_mesh_create(j->context, &def, &j->meshes[i]));
  }
  for (uint32_t i = 0; i < j->scene.object_count; i++)
    j->triangles += graze_mesh_triangle_count(j->meshes[j->scene.objects[i].mesh]);
}

static graze_scene *make_world(const plant_job *j, graze_object_id *ids) {
  graze_scene *world = NULL;
  must_work(j->context, graze_scene_create(j->context, &world));
  for (uint32_t i = 0; i < j->scene.object_count; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = j->meshes[j->scene.objects[i].mesh];
    def.pose = pose_of(j, i);
    def.user_id = i;
    must_work(j->context, graze_scene_add(world, &def, &ids[i]));
  }
  return world;
}

static uint64_t hash_of(uint64_t a, uint64_t b, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return splitmix64(graze_pair_hash((uint32_t)a, (uint32_t)b) ^ bits);
}

static void run_check(void *argument, bool check, sample *out) {
  plant_job *j = argument;
  graze_scene_check_options options = graze_default_scene_check_options();
  graze_scene_check_result r;
  graze_scene *world = make_world(j, j->ids);
  options.clearance = j->clear ? clearance_of : NULL;
  options.reach = j->clear ? reach_of : NULL;
  const double start = seconds_now();
  must_work(j->context, graze_scene_check(world, &options, &r));
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = r.clashes;
  for (uint64_t i = 0; i < r.pair_count && check; i++)
    out->hash += hash_of(r.pairs[i].user_id_a, r.pairs[i].user_id_b, r.pairs[i].gap.distance);
  graze_scene_destroy(world);
}

/* One in a hundred goes up by a hair, and down again. */
static void run_moved(void *argument, bool check, sample *out) {
  plant_job *j = argument;
  graze_scene_update_options options = graze_default_scene_update_options();
  graze_scene_update_result r;
  options.clearance = clearance_of;
  options.reach = reach_of;
  if (j->world == NULL) {
    j->world = make_world(j, j->ids);
    must_work(j->context, graze_scene_update(j->world, &options, &r));
  }
  j->there = !j->there || check; /* a checked run is told of where they went */
  for (uint32_t i = 0; i < j->scene.object_count; i += 100) {
    graze_pose pose = pose_of(j, i);
    if (j->there) pose.m[11] += 0x1p-12;
    must_work(j->context, graze_scene_set_pose(j->world, j->ids[i], &pose));
  }
  const double start = seconds_now();
  must_work(j->context, graze_scene_update(j->world, &options, &r));
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = 0;
  for (int list = 0; list < 2; list++) {
    const graze_scene_event *e = list ? r.persist : r.began;
    const uint64_t count = list ? r.persist_count : r.began_count;
    for (uint64_t i = 0; i < count && check; i++)
      out->hash += hash_of(e[i].user_id_a, e[i].user_id_b, e[i].gap.distance);
    out->count += count;
  }
}

/* Every pair of objects alone, whatever its boxes say. */
static void ask_every(const plant_job *j, bool moved, sample *out) {
  graze_query *query;
  graze_distance_options options = graze_default_distance_options();
  options.limit = clearance;
  must_work(j->context, graze_query_create(j->context, &query));
  for (uint32_t a = 0; a < j->scene.object_count; a++) {
    for (uint32_t b = a + 1; b < j->scene.object_count; b++) {
      graze_pose poses[2] = {pose_of(j, a), pose_of(j, b)};
      graze_distance_result r;
      if (moved && a % 100 == 0) poses[0].m[11] += 0x1p-12;
      if (moved && b % 100 == 0) poses[1].m[11] += 0x1p-12;
      must_work(j->context, graze_mesh_distance(query, j->meshes[j->scene.objects[a].mesh], &poses[0],
                                                j->meshes[j->scene.objects[b].mesh], &poses[1], &options, &r));
      if (!r.found) continue;
      out->count++;
      out->hash += hash_of(a, b, r.nearest.distance);
    }
  }
  graze_query_destroy(query);
}

/* Without clearances nothing is found: the plant's objects are separate. */
static void judge(contest *c, entry *e) {
  const sample *wanted = c->judge_argument;
  const bool plain = strcmp(e->name, "cpu/plain") == 0, moved = strcmp(e->name, "cpu/moved") == 0;
  const uint64_t count = plain ? 0 : wanted[moved].count, hash = plain ? 0 : wanted[moved].hash;
  e->right = e->checked.count == count && e->checked.hash == hash;
  e->wrong = !e->right;
}

void work_clearance(bench *b) {
  if (!bench_wants(b, "clearance/plant")) return;
  plant_job j = {.context = b->context, .clear = true};
  sample wanted[2] = {{0}};
  contest c;
  build_plant(b, &j);
  j.ids = must_alloc(j.scene.object_count, sizeof *j.ids);
  plant_job plain = j, moved = j;
  plain.clear = false;
  moved.ids = must_alloc(j.scene.object_count, sizeof *j.ids);
  for (int k = 0; k < 2; k++) ask_every(&j, k == 1, &wanted[k]);
  contest_begin(&c, b, "object", j.triangles, j.scene.object_count, "clearance/plant");
  c.judge = judge;
  c.judge_argument = wanted;
  contest_ours(&c, "cpu/plain", run_check, &plain);
  contest_ours(&c, "cpu", run_check, &j);
  contest_ours(&c, "cpu/moved", run_moved, &moved);
  contest_end(&c);
  graze_scene_destroy(moved.world);
  for (uint32_t i = 0; i < j.scene.mesh_count; i++) graze_mesh_destroy(j.meshes[i]);
  scenes_free(&j.scene);
  free(j.meshes);
  free(j.ids);
  free(moved.ids);
}
