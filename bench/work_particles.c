/* bench/work_particles.c: fragments of an explosion and rays in a process plant; few of them beside every triangle. */
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/graze.h"
#include "scenes.h"
#ifdef BENCH_PRIVATE
#include "exact/pierce.h"
#endif

typedef struct flight_job {
  graze_context *context;
  graze_targets *targets;
  graze_mesh **meshes;
  const graze_mesh **of_objects;
  graze_pose *poses;
  uint32_t mesh_count, object_count;
  graze_box box;
  uint64_t triangles;
  uint32_t count;
  double *start, *end, *radii; /* radii NULL: points */
  bool all;                    /* rays, all hits */
  graze_target_hit *hits;
} flight_job;

static double draw(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  return (double)(splitmix64(*state) >> 11) * 0x1p-53;
}

static void must_work(const graze_context *context, graze_status status) {
  if (status != GRAZE_OK) fail("%s", graze_last_error(context)->message);
}

static void build_plant(bench *b, flight_job *j) {
  const scenes_kind *kind = scenes_find_kind("plant");
  scenes_request request = scenes_default_request(kind);
  scenes_scene scene;
  const char *reason;
  request.size = b->quick ? 300 : 2000;
  request.clashes = 0;
  if (!scenes_make(kind, &request, &scene, &reason)) fail("%s", reason);
  j->mesh_count = scene.mesh_count;
  j->object_count = scene.object_count;
  j->meshes = must_alloc(scene.mesh_count, sizeof *j->meshes);
  j->of_objects = must_alloc(scene.object_count, sizeof *j->of_objects);
  j->poses = must_alloc(scene.object_count, sizeof *j->poses);
  for (uint32_t i = 0; i < scene.mesh_count; i++) {
    graze_mesh_def def = graze_default_mesh_def();
    def.vertices = scene.meshes[i].vertices;
    def.vertex_count = scene.meshes[i].vertex_count;
    def.indices = scene.meshes[i].indices;
    def.triangle_count = scene.meshes[i].triangle_count;
    def.precision = GRAZE_DOUBLE;
    must_work(j->context, graze_mesh_create(j->context, &def, &j->meshes[i]));
  }
  j->box = graze_box_empty();
  for (uint32_t i = 0; i < scene.object_count; i++) {
    graze_mesh_facts facts;
    j->of_objects[i] = j->meshes[scene.objects[i].mesh];
    memcpy(j->poses[i].m, scene.objects[i].pose, sizeof j->poses[i].m);
    graze_mesh_get_facts(j->of_objects[i], &facts);
    const graze_box box = graze_pose_box(&j->poses[i], &facts.box);
    graze_box_add_box(&j->box, &box);
    j->triangles += facts.triangles;
  }
  scenes_free(&scene);
  must_work(j->context, graze_targets_create(j->context, j->object_count, j->of_objects, j->poses, &j->targets));
}

/* From a place in the middle to anywhere in the plant and half as far again. */
static void throw(flight_job * j, uint32_t count, bool balls) {
  uint64_t state = 7;
  j->count = count;
  j->start = must_alloc(3 * (size_t)count, sizeof *j->start);
  j->end = must_alloc(3 * (size_t)count, sizeof *j->end);
  j->hits = must_alloc(count, sizeof *j->hits);
  j->radii = balls ? must_alloc(count, sizeof *j->radii) : NULL;
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      const double low = j->box.min[k], high = j->box.max[k], middle = 0.5 * (low + high), half = 0.5 * (high - low);
      j->start[3 * i + (size_t)k] = middle + 0.02 * half * (2 * draw(&state) - 1);
      j->end[3 * i + (size_t)k] = middle + 1.5 * half * (2 * draw(&state) - 1);
    }
    if (balls) j->radii[i] = 0.03125 * draw(&state);
  }
}

static void tell(const flight_job *j, bool check, sample *out) {
  for (uint32_t i = 0; i < j->count; i++) {
    out->count += j->hits[i].object != GRAZE_NO_TARGET;
    if (!check) continue;
    uint64_t bits;
    memcpy(&bits, &j->hits[i].earliest, sizeof bits);
    out->hash += splitmix64(bits ^ splitmix64(hash_of_pair(i, j->hits[i].object) + j->hits[i].triangle));
  }
}

static void run_particles(void *argument, bool check, sample *out) {
  flight_job *j = argument;
  const graze_particles particles = {.count = j->count, .start = j->start, .end = j->end, .radius = j->radii};
  double start = seconds_now();
  must_work(j->context, graze_motion_particles(j->context, j->targets, &particles, j->hits));
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  tell(j, check, out);
}

static void run_rays(void *argument, bool check, sample *out) {
  flight_job *j = argument;
  const graze_rays rays = {.count = j->count, .from = j->start, .way = j->end};
  double start = seconds_now();
  if (j->all) {
    graze_ray_hits hits;
    must_work(j->context, graze_rays_all(j->context, j->targets, &rays, &hits));
    out->seconds[0] = seconds_now() - start;
    out->count = hits.count;
    graze_ray_hits_free(&hits);
  } else {
    must_work(j->context, graze_rays_first(j->context, j->targets, &rays, j->hits));
    out->seconds[0] = seconds_now() - start;
    tell(j, check, out);
  }
  out->timed = 1;
}

#ifdef BENCH_PRIVATE
/* Every triangle, the posing of which is not counted. */
static void run_brute(void *argument, bool check, sample *out) {
  flight_job *j = argument;
  double *corners = must_alloc(9 * j->triangles, sizeof *corners), c[9], time[2];
  size_t at = 0;
  for (uint32_t o = 0; o < j->object_count; o++) {
    for (uint32_t t = 0; t < graze_mesh_triangle_count(j->of_objects[o]); t++, at += 9) {
      graze_mesh_get_triangle(j->of_objects[o], t, c);
      for (int k = 0; k < 3; k++) graze_pose_apply(&j->poses[o], c + 3 * k, corners + at + 3 * k);
    }
  }
  double start = seconds_now();
  for (uint32_t i = 0; i < j->count; i++) {
    pierce_line line;
    graze_target_hit *hit = &j->hits[i];
    *hit = (graze_target_hit){1, 1, GRAZE_NO_TARGET, GRAZE_NO_TARGET};
    gz_pierce_start(&line, j->start + 3 * (size_t)i, j->end + 3 * (size_t)i, false, 1);
    at = 0;
    for (uint32_t o = 0; o < j->object_count; o++) {
      for (uint32_t t = 0; t < graze_mesh_triangle_count(j->of_objects[o]); t++, at += 9) {
        if (!gz_pierce(&line, corners + at, hit->latest, time)) continue;
        if (hit->object == GRAZE_NO_TARGET || time[0] < hit->earliest ||
            (time[0] == hit->earliest && time[1] < hit->latest))
          *hit = (graze_target_hit){time[0], time[1], o, t};
      }
    }
    if (hit->object == GRAZE_NO_TARGET) hit->earliest = hit->latest = 0;
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  tell(j, check, out);
  free(corners);
}
#endif

static void release(flight_job *j) {
  free(j->start);
  free(j->end);
  free(j->radii);
  free(j->hits);
}

static void row(bench *b, flight_job *plant, const char *name, uint32_t count, bool balls, run_function run) {
  if (!bench_wants(b, "particles/%s", name)) return;
  flight_job j = *plant;
  contest c;
  j.all = strcmp(name, "rays-all") == 0;
  throw(&j, b->quick ? count / 100 + 1 : count, balls);
  if (run == run_rays) {
    for (size_t i = 0; i < 3 * (size_t)j.count; i++) j.end[i] -= j.start[i];
  }
  contest_begin(&c, b, run == run_rays ? "ray" : "particle", j.triangles, j.count, "particles/%s", name);
  contest_ours(&c, "cpu", run, &j);
#ifdef BENCH_PRIVATE
  if (strcmp(name, "few") == 0) contest_rival(&c, "brute", run_brute, &j);
#endif
  contest_end(&c);
  release(&j);
}

void work_particles(bench *b) {
  static const char *const names[] = {"few", "10k", "100k", "1m", "balls-100k", "rays-first", "rays-all"};
  static const uint32_t counts[] = {100, 10000, 100000, 1000000, 100000, 100000, 10000};
  bool wanted = b->list;
  for (size_t i = 0; i < COUNT_OF(names) && !wanted; i++) wanted = bench_wants(b, "particles/%s", names[i]);
  if (!wanted) return;
  flight_job plant = {.context = b->context};
  if (!b->list) build_plant(b, &plant);
  for (size_t i = 0; i < COUNT_OF(names); i++)
    row(b, &plant, names[i], counts[i], strcmp(names[i], "balls-100k") == 0, i < 5 ? run_particles : run_rays);
  graze_targets_destroy(plant.targets);
  for (uint32_t i = 0; i < plant.mesh_count; i++) graze_mesh_destroy(plant.meshes[i]);
  free(plant.meshes);
  free(plant.of_objects);
  free(plant.poses);
}
