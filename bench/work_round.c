/* bench/work_round.c: how balls, capsules and cylinders relate that stand close-packed on a floor of many triangles,
 * each touching it and its four neighbours to the last bit. Which pairs touch follows from the rows and columns. */
#include <stdlib.h>

#include "contest.h"
#include "graze/round.h"
#include "shapes.h"

enum { FLOOR_CUTS = 4 /* of a place, along either side */ };

typedef struct stand {
  bench *b;
  graze_mesh *floor, *core;
  graze_scene *scene;
} stand;

static graze_mesh *bake_floor(const bench *b, uint32_t side) {
  const double low[3] = {0, 0, -1}, high[3] = {side, side, 0};
  const uint32_t cuts[3] = {FLOOR_CUTS * side, FLOOR_CUTS * side, 1};
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

/* `length` of the core; ends that are not flat reach a half beyond it. */
static void open_stand(stand *s, bench *b, uint32_t side, double length, bool flat) {
  const double ends[2][3] = {{0, 0, flat ? 0 : 0.5}, {0, 0, (flat ? 0 : 0.5) + length}};
  graze_object_def def = graze_default_object_def();
  *s = (stand){.b = b, .floor = bake_floor(b, side)};
  must(graze_round_create_core(b->context, ends, &s->core), "graze_round_create_core");
  must(graze_scene_create(b->context, &s->scene), "graze_scene_create");
  def.mesh = s->floor;
  must(graze_scene_add(s->scene, &def, NULL), "graze_scene_add");
  def.mesh = s->core;
  def.radius = 0.5;
  def.flat = flat;
  for (uint32_t i = 0; i < side * side; i++) {
    def.user_id = i + 1;
    def.pose.m[3] = i % side + 0.5;
    def.pose.m[7] = i / side + 0.5;
    must(graze_scene_add(s->scene, &def, NULL), "graze_scene_add");
  }
}

static void close_stand(stand *s) {
  graze_scene_destroy(s->scene);
  graze_mesh_destroy(s->core);
  graze_mesh_destroy(s->floor);
}

static void run_stand(void *argument, bool check, sample *out) {
  const stand *s = argument;
  graze_scene_check_result r;
  (void)check;
  double start = seconds_now();
  must(graze_scene_check(s->scene, NULL, &r), "graze_scene_check");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  for (uint64_t i = 0; i < r.pair_count; i++) {
    const graze_object_pair *p = &r.pairs[i];
    if (p->verdict.relation != GRAZE_TOUCH) continue;
    out->count++;
    out->hash += splitmix64(p->user_id_a << 32 | p->user_id_b);
  }
}

/* On the floor, and beside the next of the row and of the column. */
static uint64_t hash_of(uint32_t side) {
  uint64_t hash = 0;
  for (uint64_t i = 0; i < (uint64_t)side * side; i++) {
    hash += splitmix64(i + 1);
    if (i % side + 1 < side) hash += splitmix64((i + 1) << 32 | (i + 2));
    if (i / side + 1 < side) hash += splitmix64((i + 1) << 32 | (i + 1 + side));
  }
  return hash;
}

static void one_stand(bench *b, uint32_t side) {
  const uint32_t count = side * side, touching = count + 2 * side * (side - 1);
  if (!bench_wants(b, "round/stand/%u", count)) return;
  stand balls, capsules, cylinders;
  contest c;
  open_stand(&balls, b, side, 0, false);
  open_stand(&capsules, b, side, 1, false);
  open_stand(&cylinders, b, side, 2, true);
  contest_begin(&c, b, "pair", count, touching, "round/stand/%u", count);
  contest_expect(&c, touching, hash_of(side));
  contest_ours(&c, "cpu/balls", run_stand, &balls);
  contest_ours(&c, "cpu/capsules", run_stand, &capsules);
  contest_ours(&c, "cpu/cylinders", run_stand, &cylinders);
  contest_end(&c);
  close_stand(&balls);
  close_stand(&capsules);
  close_stand(&cylinders);
}

void work_round(bench *b) {
  one_stand(b, 20);
  if (!b->quick) one_stand(b, 60);
}
