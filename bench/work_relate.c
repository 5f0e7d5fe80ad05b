/* bench/work_relate.c: how objects relate that stand flush beside each other, as those of a building do: a wall of
 * bricks of about 860 triangles each, in running bond, so that every brick has its faces on those of six others. What
 * touches what follows from the boxes of the bricks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "shapes.h"

enum { LONG = 8, DEEP = 4, HIGH = 2 }; /* a brick, in sixteenths */

typedef struct wall {
  bench *b;
  graze_scene *scene;
  graze_query *query;
  graze_mesh *bricks[2]; /* rows take turns */
  graze_object_id *ids;
  graze_pose *poses;
  int (*low)[3]; /* corners */
  uint32_t count, touching;
  uint32_t (*pairs)[2];
} wall;

/* What an entry asks for. */
typedef struct wall_job {
  wall *of;
  graze_find find;
  bool outlines;
  graze_exactness exactness;
} wall_job;

static graze_mesh *bake_brick(const bench *b, const uint32_t cuts[3]) {
  const double low[3] = {0, 0, 0}, high[3] = {LONG / 16.0, DEEP / 16.0, HIGH / 16.0};
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  builder build = {0};
  shape_box(&build, low, high, cuts);
  builder_weld(&build);
  if (build.failed) fail("out of memory");
  def.vertices = build.mesh.vertices;
  def.vertex_count = (uint32_t)build.mesh.vertex_count;
  def.precision = GRAZE_DOUBLE;
  def.indices = build.mesh.indices;
  def.triangle_count = (uint32_t)build.mesh.triangle_count;
  must(graze_mesh_create(b->context, &def, &mesh), "graze_mesh_create");
  free(build.mesh.vertices);
  free(build.mesh.indices);
  return mesh;
}

static bool touch(const int *p, const int *q) {
  static const int size[3] = {LONG, DEEP, HIGH};
  for (int k = 0; k < 3; k++) {
    if (p[k] > q[k] + size[k] || q[k] > p[k] + size[k]) return false;
  }
  return true;
}

static void find_touching(wall *w) {
  w->pairs = must_alloc(8 * (size_t)w->count, sizeof *w->pairs);
  for (uint32_t i = 0; i < w->count; i++) {
    for (uint32_t j = i + 1; j < w->count; j++) {
      if (!touch(w->low[i], w->low[j])) continue;
      if (w->touching == 8 * w->count) fail("more pairs than a wall has");
      w->pairs[w->touching][0] = i;
      w->pairs[w->touching++][1] = j;
    }
  }
}

static void add_brick(wall *w, uint32_t i, uint32_t row, uint32_t at) {
  graze_object_def def = graze_default_object_def();
  int *low = w->low[i];
  low[0] = (int)(LONG * at + LONG / 2 * (row % 2));
  low[1] = 0;
  low[2] = (int)(HIGH * row);
  w->poses[i] = graze_pose_identity();
  for (int k = 0; k < 3; k++) w->poses[i].m[4 * k + 3] = low[k] / 16.0;
  def.mesh = w->bricks[row % 2];
  def.pose = w->poses[i];
  def.user_id = i;
  must(graze_scene_add(w->scene, &def, &w->ids[i]), "graze_scene_add");
}

static wall make_wall(bench *b, uint32_t count) {
  static const uint32_t cuts[2][3] = {{13, 5, 7}, {11, 7, 9}};
  wall w = {.b = b, .count = count};
  must(graze_scene_create(b->context, &w.scene), "graze_scene_create");
  must(graze_query_create(b->context, &w.query), "graze_query_create");
  for (int k = 0; k < 2; k++) w.bricks[k] = bake_brick(b, cuts[k]);
  w.ids = must_alloc(count, sizeof *w.ids);
  w.poses = must_alloc(count, sizeof *w.poses);
  w.low = must_alloc(count, sizeof *w.low);
  uint32_t length = 1;
  while (length * length < count) length++;
  for (uint32_t i = 0; i < count; i++) add_brick(&w, i, i / length, i % length);
  find_touching(&w);
  return w;
}

static void free_wall(wall *w) {
  graze_query_destroy(w->query);
  graze_scene_destroy(w->scene);
  for (int k = 0; k < 2; k++) graze_mesh_destroy(w->bricks[k]);
  free(w->ids);
  free(w->poses);
  free(w->low);
  free(w->pairs);
}

static void run_check(void *argument, bool check, sample *out) {
  const wall_job *j = argument;
  graze_scene_check_options options = graze_default_scene_check_options();
  graze_scene_check_result r;
  (void)check;
  options.find = j->find;
  options.outlines = j->outlines;
  options.exactness = j->exactness;
  double start = seconds_now();
  must(graze_scene_check(j->of->scene, &options, &r), "graze_scene_check");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  const graze_relation wanted = j->find == GRAZE_FIND_ANY ? GRAZE_UNKNOWN : GRAZE_TOUCH;
  for (uint64_t i = 0; i < r.pair_count; i++) {
    const graze_object_pair *p = &r.pairs[i];
    if (p->verdict.relation != wanted) continue;
    out->count++;
    out->hash += splitmix64(p->user_id_a << 32 | p->user_id_b);
  }
}

/* The lists of triangles of the pairs that touch, and nothing else. */
static void run_lists(void *argument, bool check, sample *out) {
  const wall_job *j = argument;
  wall *w = j->of;
  graze_collide_options options = graze_default_collide_options();
  options.exactness = j->exactness;
  (void)check;
  double start = seconds_now();
  for (uint32_t i = 0; i < w->touching; i++) {
    const uint32_t a = w->pairs[i][0], b = w->pairs[i][1];
    graze_collide_result r;
    must(graze_collide_meshes(w->query, w->bricks[w->low[a][2] / HIGH % 2], &w->poses[a],
                              w->bricks[w->low[b][2] / HIGH % 2], &w->poses[b], &options, &r),
         "graze_collide_meshes");
    if (!r.hit) continue;
    out->count++;
    out->hash += splitmix64((uint64_t)a << 32 | b);
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
}

static void one_wall(bench *b, uint32_t count) {
  if (!bench_wants(b, "relate/wall/%u", count)) return;
  wall w = make_wall(b, count);
  uint64_t hash = 0;
  for (uint32_t i = 0; i < w.touching; i++) hash += splitmix64((uint64_t)w.pairs[i][0] << 32 | w.pairs[i][1]);
  wall_job list = {&w, GRAZE_FIND_ALL, false, GRAZE_T1}, any = {&w, GRAZE_FIND_ANY, false, GRAZE_T1};
  wall_job relation = {&w, GRAZE_FIND_COUNT, false, GRAZE_T1}, curves = {&w, GRAZE_FIND_COUNT, true, GRAZE_T1};
  wall_job real_list = {&w, GRAZE_FIND_ALL, false, GRAZE_T2}, real_any = {&w, GRAZE_FIND_ANY, false, GRAZE_T2};
  wall_job real_relation = {&w, GRAZE_FIND_COUNT, false, GRAZE_T2};
  contest c;
  contest_begin(&c, b, "pair", count, w.touching, "relate/wall/%u", count);
  contest_expect(&c, w.touching, hash);
  contest_ours(&c, "cpu/list", run_lists, &list);
  contest_ours(&c, "cpu/any", run_check, &any);
  contest_ours(&c, "cpu/relation", run_check, &relation);
  contest_ours(&c, "cpu/curves", run_check, &curves);
  contest_ours(&c, "cpu/t2_list", run_lists, &real_list);
  contest_ours(&c, "cpu/t2_any", run_check, &real_any);
  contest_ours(&c, "cpu/t2_relation", run_check, &real_relation);
  contest_end(&c);
  free_wall(&w);
}

void work_relate(bench *b) {
  one_wall(b, 500);
  if (!b->quick) one_wall(b, 5000);
}
