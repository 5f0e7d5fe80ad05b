/* The made plant against what it claims: closed solids that do not meet themselves, no contact but that of planted
 * pairs, gaps of more than a millimetre, stated counts, the same bytes for the same seed. Planted relations are also
 * looked at from outside, by sampling points of the solids. GRAZE_TEST_LONG=1: more seeds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"
#include "support.h"

/* Planted pairs of each relation for one of each construction, as docs/tool.md states them. */
static const struct {
  const char *relation;
  uint32_t count;
} stated[] = {{"touch", 14}, {"cross", 10}, {"a_in_b", 8}, {"b_in_a", 8}, {"duplicate", 6}, {"separate", 4}};

enum { stated_kinds = sizeof stated / sizeof stated[0], stated_pairs = 14 + 10 + 8 + 8 + 6 + 4 };

static scenes_scene make_plant(uint64_t seed, uint32_t size, uint32_t detail, uint32_t clashes) {
  const scenes_kind *kind = scenes_find_kind("plant");
  assert_non_null(kind);
  scenes_request request = scenes_default_request(kind);
  scenes_scene scene;
  const char *reason;
  request.seed = seed;
  request.size = size;
  request.detail = detail;
  request.clashes = clashes;
  if (!scenes_make(kind, &request, &scene, &reason)) fail_msg("seed %d: %s", (int)seed, reason);
  return scene;
}

/* ---- what is made ---------------------------------------------------------------------------------------------- */

static void check_counts(const scenes_scene *scene, uint32_t size, uint32_t clashes) {
  assert_int_equal(scene->pair_count, clashes * stated_pairs);
  assert_int_equal(scene->object_count, size + 2 * scene->pair_count);
  for (int r = 0; r < stated_kinds; r++) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->pair_count; i++) count += strcmp(scene->pairs[i].relation, stated[r].relation) == 0;
    assert_int_equal(count, clashes * stated[r].count);
  }
  for (uint32_t i = 0; i < scene->pair_count; i++) { /* each planted object is in one pair */
    assert_int_equal(scene->pairs[i].a, size + 2 * i);
    assert_int_equal(scene->pairs[i].b, size + 2 * i + 1);
  }
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names are unique and not cut off, layers are the stated ones, every mesh is used. */
static void check_names(const scenes_scene *scene, uint32_t size) {
  static const char *const layers[] = {"concrete", "steel", "equipment", "pipes", "trays"};
  const char **names = malloc(scene->object_count * sizeof *names);
  bool *used = calloc(scene->mesh_count, sizeof *used);
  assert_non_null(names);
  assert_non_null(used);
  for (uint32_t i = 0; i < scene->object_count; i++) {
    const scenes_object *object = &scene->objects[i];
    int layer = 0;
    names[i] = object->name;
    used[object->mesh] = true;
    assert_true(strlen(object->name) + 1 < sizeof object->name);
    while (layer < 5 && strcmp(object->layer, layers[layer]) != 0) layer++;
    if (i < size)
      assert_true(layer < 5);
    else
      assert_string_equal(object->layer, "planted");
  }
  qsort(names, scene->object_count, sizeof *names, compare_names);
  for (uint32_t i = 1; i < scene->object_count; i++) {
    if (strcmp(names[i - 1], names[i]) == 0) fail_msg("two objects have the name %s", names[i]);
  }
  for (uint32_t i = 0; i < scene->mesh_count; i++) assert_true(used[i]);
  free(names);
  free(used);
}

/* Six times the volume. */
static double volume_of(const scenes_mesh *mesh) {
  double sum = 0;
  for (uint64_t t = 0; t < mesh->triangle_count; t++) {
    const double *a = mesh->vertices + 3 * (uint64_t)mesh->indices[3 * t];
    const double *b = mesh->vertices + 3 * (uint64_t)mesh->indices[3 * t + 1];
    const double *c = mesh->vertices + 3 * (uint64_t)mesh->indices[3 * t + 2];
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum;
}

static graze_mesh *bake(graze_context *context, const scenes_mesh *mesh) {
  graze_mesh *baked = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = mesh->vertices;
  def.vertex_count = mesh->vertex_count;
  def.indices = mesh->indices;
  def.triangle_count = mesh->triangle_count;
  def.precision = GRAZE_DOUBLE;
  assert_int_equal(graze_mesh_create(context, &def, &baked), GRAZE_OK);
  return baked;
}

static void check_mesh(graze_query *query, const scenes_mesh *mesh, const graze_mesh *baked) {
  graze_mesh_facts facts;
  graze_self_result self;
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_COUNT;
  graze_mesh_get_facts(baked, &facts);
  assert_int_equal(graze_collide_self(query, baked, &options, &self), GRAZE_OK);
  if (!facts.closed || !facts.oriented || facts.degenerate > 0 || self.self_pairs > 0)
    fail_msg("%s: closed %d, oriented %d, degenerate %d, self pairs %d", mesh->name, facts.closed, facts.oriented,
             (int)facts.degenerate, (int)self.self_pairs);
  if (!(volume_of(mesh) > 0)) fail_msg("%s faces inwards", mesh->name);
  assert_true(strlen(mesh->name) + 1 < sizeof mesh->name);
  for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) {
    const double value = mesh->vertices[i], cells = value * 0x1p18;
    if (cells != floor(cells) || fabs(value) > 64 || (double)(float)value != value)
      fail_msg("%s: coordinate %.17g is off the grid", mesh->name, value);
  }
}

/* ---- contact --------------------------------------------------------------------------------------------------- */

typedef struct baked_plant {
  graze_context *context;
  graze_query *query;
  graze_mesh **meshes;
  uint32_t mesh_count;
} baked_plant;

static baked_plant bake_plant(const scenes_scene *scene) {
  baked_plant baked = {test_context(2, NULL), NULL, malloc(scene->mesh_count * sizeof(graze_mesh *)),
                       scene->mesh_count};
  assert_non_null(baked.meshes);
  assert_int_equal(graze_query_create(baked.context, &baked.query), GRAZE_OK);
  for (uint32_t i = 0; i < scene->mesh_count; i++) baked.meshes[i] = bake(baked.context, &scene->meshes[i]);
  return baked;
}

static void free_baked(baked_plant *baked) {
  for (uint32_t i = 0; i < baked->mesh_count; i++) graze_mesh_destroy(baked->meshes[i]);
  free(baked->meshes);
  graze_query_destroy(baked->query);
  graze_context_destroy(baked->context);
}

static double next_unit(uint64_t *state) { /* [0, 1) */
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* Each object moved by up to `shake` along each axis. */
static void add_objects(graze_scene *world, const scenes_scene *scene, const baked_plant *baked, double shake) {
  uint64_t state = 7;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    graze_object_id id;
    graze_object_def def = graze_default_object_def();
    def.mesh = baked->meshes[scene->objects[i].mesh];
    memcpy(def.pose.m, scene->objects[i].pose, sizeof def.pose.m);
    for (int k = 0; k < 3; k++) def.pose.m[4 * k + 3] += shake * (2 * next_unit(&state) - 1);
    def.user_id = i;
    assert_int_equal(graze_scene_add(world, &def, &id), GRAZE_OK);
  }
}

/* The relations of the truth, and no others. */
static void check_truth(const scenes_scene *scene, const baked_plant *baked, double shake) {
  graze_scene *world = NULL;
  graze_scene_check_result result;
  uint64_t found = 0;
  assert_int_equal(graze_scene_create(baked->context, &world), GRAZE_OK);
  add_objects(world, scene, baked, shake);
  assert_int_equal(graze_scene_check(world, NULL, &result), GRAZE_OK);
  for (uint32_t i = 0; i < scene->pair_count; i++) {
    const scenes_pair *pair = &scene->pairs[i];
    if (strcmp(pair->relation, "separate") == 0) continue;
    if (found == result.pair_count) fail_msg("%s: not found", scene->objects[pair->a].name);
    const graze_object_pair *got = &result.pairs[found++];
    if (got->user_id_a != pair->a || got->user_id_b != pair->b)
      fail_msg("%s and %s meet; next should be %s", scene->objects[got->user_id_a].name,
               scene->objects[got->user_id_b].name, scene->objects[pair->a].name);
    const char *relation = graze_relation_string(got->verdict.relation);
    if (strcmp(relation, pair->relation) != 0)
      fail_msg("%s: %s, not %s", scene->objects[pair->a].name, relation, pair->relation);
    if ((got->counts.triangle_pairs > 0) != pair->surfaces_meet)
      fail_msg("%s: %" PRIu64 " triangle pairs", scene->objects[pair->a].name, got->counts.triangle_pairs);
  }
  if (found < result.pair_count)
    fail_msg("%s and %s meet", scene->objects[result.pairs[found].user_id_a].name,
             scene->objects[result.pairs[found].user_id_b].name);
  graze_scene_destroy(world);
}

static void check_seed(uint64_t seed, uint32_t size, uint32_t detail, uint32_t clashes) {
  scenes_scene scene = make_plant(seed, size, detail, clashes);
  baked_plant baked = bake_plant(&scene);
  check_counts(&scene, size, clashes);
  check_names(&scene, size);
  for (uint32_t i = 0; i < scene.mesh_count; i++) check_mesh(baked.query, &scene.meshes[i], baked.meshes[i]);
  check_truth(&scene, &baked, 0);
  free_baked(&baked);
  scenes_free(&scene);
}

static void test_seeds(void **unused) {
  (void)unused;
  const uint64_t count = (uint64_t)test_rounds(6, 100);
  for (uint64_t seed = 1; seed <= count; seed++) check_seed(seed, 500, 1, 2);
}

static void test_sizes(void **unused) {
  (void)unused;
  for (uint32_t size = 1; size < 200; size += 33) check_seed(size, size, 1, 1); /* bays broken off anywhere */
  check_seed(1, 2000, 2, 4);
  check_seed(2, 300, 4, 1);
  check_seed(5, 60, 32, 1);
  if (test_long()) check_seed(3, 20000, 3, 10);
  if (test_long()) check_seed(4, 300, 16, 1);
}

/* Any two objects may come 1/1024 m nearer to each other along each axis and still be separate. */
static void test_gaps(void **unused) {
  (void)unused;
  const uint64_t count = (uint64_t)test_rounds(6, 100);
  for (uint64_t seed = 1; seed <= count; seed++) {
    scenes_scene scene = make_plant(seed, 500, 1, 0);
    baked_plant baked = bake_plant(&scene);
    assert_int_equal(scene.pair_count, 0);
    check_truth(&scene, &baked, 0x1p-11);
    free_baked(&baked);
    scenes_free(&scene);
  }
}

/* ---- the same bytes -------------------------------------------------------------------------------------------- */

static bool is_same_scene(const scenes_scene *a, const scenes_scene *b) {
  if (a->mesh_count != b->mesh_count || a->object_count != b->object_count || a->pair_count != b->pair_count)
    return false;
  for (uint32_t i = 0; i < a->mesh_count; i++) {
    const scenes_mesh *m = &a->meshes[i], *n = &b->meshes[i];
    if (strcmp(m->name, n->name) != 0 || m->vertex_count != n->vertex_count || m->triangle_count != n->triangle_count)
      return false;
    if (memcmp(m->vertices, n->vertices, 3 * m->vertex_count * sizeof(double)) != 0 ||
        memcmp(m->indices, n->indices, 3 * m->triangle_count * sizeof(uint32_t)) != 0)
      return false;
  }
  for (uint32_t i = 0; i < a->object_count; i++) {
    const scenes_object *o = &a->objects[i], *p = &b->objects[i];
    if (strcmp(o->name, p->name) != 0 || o->mesh != p->mesh || memcmp(o->pose, p->pose, sizeof o->pose) != 0)
      return false;
  }
  return true;
}

static void test_same_seed(void **unused) {
  (void)unused;
  scenes_scene first = make_plant(1, 500, 1, 2);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    scenes_scene other = make_plant(seed, 500, 1, 2);
    assert_true(is_same_scene(&first, &other) == (seed == 1));
    scenes_free(&other);
  }
  scenes_free(&first);
}

/* ---- the relations, seen from outside ---------------------------------------------------------------------------- */

typedef struct posed_solid {
  double *corners; /* 9 a triangle */
  uint64_t count;
  double low[3], high[3];
} posed_solid;

static posed_solid pose_solid(const scenes_scene *scene, uint32_t number) {
  const scenes_mesh *mesh = &scene->meshes[scene->objects[number].mesh];
  posed_solid solid = {malloc(9 * mesh->triangle_count * sizeof(double)), mesh->triangle_count, {0}, {0}};
  graze_pose pose;
  assert_non_null(solid.corners);
  memcpy(pose.m, scene->objects[number].pose, sizeof pose.m);
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++) {
    double *to = solid.corners + 3 * i;
    graze_pose_apply(&pose, mesh->vertices + 3 * (uint64_t)mesh->indices[i], to);
    for (int k = 0; k < 3; k++) {
      solid.low[k] = i == 0 ? to[k] : fmin(solid.low[k], to[k]);
      solid.high[k] = i == 0 ? to[k] : fmax(solid.high[k], to[k]);
    }
  }
  return solid;
}

/* How often the surface goes around the point: the sum of its triangles' solid angles (van Oosterom and Strackee
 * 1983) over that of a sphere. Not a whole number near the surface. */
static double winding(const posed_solid *solid, const double point[3]) {
  double sum = 0;
  for (uint64_t t = 0; t < solid->count; t++) {
    double v[3][3], length[3], dots[3];
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) v[c][k] = solid->corners[9 * t + 3 * (uint64_t)c + (uint64_t)k] - point[k];
      length[c] = sqrt(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
    }
    for (int c = 0; c < 3; c++) {
      const double *a = v[(c + 1) % 3], *b = v[(c + 2) % 3];
      dots[c] = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * length[c];
    }
    double triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                    v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                    v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    sum += atan2(triple, length[0] * length[1] * length[2] + dots[0] + dots[1] + dots[2]);
  }
  return sum / 6.283185307179586;
}

typedef struct samples { /* points that lie in so many of the two */
  uint64_t a_only, b_only, both;
} samples;

static void sample(const posed_solid *a, const posed_solid *b, const double low[3], const double high[3], int count,
                   uint64_t *state, samples *found) {
  for (int i = 0; i < count; i++) {
    double point[3];
    for (int k = 0; k < 3; k++) point[k] = low[k] + (high[k] - low[k]) * next_unit(state);
    double in_a = winding(a, point), in_b = winding(b, point);
    if (fabs(in_a - round(in_a)) > 1e-6 || fabs(in_b - round(in_b)) > 1e-6) continue;
    found->a_only += in_a > 0.5 && in_b < 0.5;
    found->b_only += in_a < 0.5 && in_b > 0.5;
    found->both += in_a > 0.5 && in_b > 0.5;
  }
}

static samples sample_pair(const scenes_scene *scene, const scenes_pair *pair) {
  posed_solid a = pose_solid(scene, pair->a), b = pose_solid(scene, pair->b);
  double low[3], high[3];
  uint64_t state = pair->a;
  samples found = {0, 0, 0};
  sample(&a, &b, a.low, a.high, 200, &state, &found);
  sample(&a, &b, b.low, b.high, 200, &state, &found);
  bool boxes_meet = true;
  for (int k = 0; k < 3; k++) {
    low[k] = fmax(a.low[k], b.low[k]);
    high[k] = fmin(a.high[k], b.high[k]);
    boxes_meet = boxes_meet && low[k] < high[k];
  }
  if (boxes_meet) sample(&a, &b, low, high, 600, &state, &found);
  free(a.corners);
  free(b.corners);
  return found;
}

static void check_relation(const scenes_scene *scene, const scenes_pair *pair) {
  const samples found = sample_pair(scene, pair);
  const bool a = found.a_only > 0, b = found.b_only > 0, both = found.both > 0;
  bool good = false;
  if (strcmp(pair->relation, "touch") == 0 || strcmp(pair->relation, "separate") == 0) good = a && b && !both;
  if (strcmp(pair->relation, "cross") == 0) /* a hair is too thin for samples */
    good = a && b && (both || strcmp(pair->construction, "pipe sunk by a hair") == 0);
  if (strcmp(pair->relation, "a_in_b") == 0) good = !a && b && both;
  if (strcmp(pair->relation, "b_in_a") == 0) good = a && !b && both;
  if (strcmp(pair->relation, "duplicate") == 0) good = !a && !b && both;
  if (!good)
    fail_msg("%s: %s, but %d points in a only, %d in b only, %d in both", scene->objects[pair->a].name, pair->relation,
             (int)found.a_only, (int)found.b_only, (int)found.both);
}

static void test_relations(void **unused) {
  (void)unused;
  scenes_scene scene = make_plant(1, 1, 1, test_long() ? 8 : 2);
  for (uint32_t i = 0; i < scene.pair_count; i++) check_relation(&scene, &scene.pairs[i]);
  scenes_free(&scene);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void test_requests(void **unused) {
  (void)unused;
  const scenes_kind *kind = scenes_find_kind("plant");
  scenes_request request = scenes_default_request(kind);
  assert_null(scenes_fault(kind, &request));
  request.detail = 0;
  assert_non_null(strstr(scenes_fault(kind, &request), "detail"));
  request.detail = 33;
  assert_non_null(strstr(scenes_fault(kind, &request), "detail"));
  request.detail = 32;
  request.clashes = 10001;
  assert_non_null(strstr(scenes_fault(kind, &request), "clashes"));
  request.clashes = 0;
  request.size = 1000001;
  assert_non_null(strstr(scenes_fault(kind, &request), "size"));
}

/* Planted distances are those of the meshes, to the last bit, and nothing planted is as near to anything else. */
static void test_planted_gaps(void **unused) {
  (void)unused;
  const scenes_kind *kind = scenes_find_kind("plant");
  const uint64_t count = (uint64_t)test_rounds(8, 100);
  for (uint64_t seed = 1; seed <= count; seed++) {
    scenes_request request = scenes_default_request(kind);
    scenes_scene scene;
    const char *reason;
    request.seed = seed;
    request.size = 20;
    request.clashes = 0;
    request.gaps = 3;
    assert_true(scenes_make(kind, &request, &scene, &reason));
    assert_int_equal(scene.pair_count, 3 * 14);
    assert_int_equal(scene.object_count, 20 + 2 * scene.pair_count);
    baked_plant baked = bake_plant(&scene);
    for (uint32_t i = 0; i < scene.pair_count; i++) {
      const scenes_object *objects[2] = {&scene.objects[scene.pairs[i].a], &scene.objects[scene.pairs[i].b]};
      graze_pose poses[2];
      graze_distance_result r;
      for (int k = 0; k < 2; k++) memcpy(poses[k].m, objects[k]->pose, sizeof poses[k].m);
      assert_int_equal(graze_mesh_distance(baked.query, baked.meshes[objects[0]->mesh], &poses[0],
                                           baked.meshes[objects[1]->mesh], &poses[1], NULL, &r),
                       GRAZE_OK);
      if (r.nearest.distance != scene.pairs[i].gap || r.lower != r.upper)
        fail_msg("%s: %.17g, not %.17g", objects[0]->name, r.nearest.distance, scene.pairs[i].gap);
      assert_true(scene.pairs[i].gap > 0 && scene.pairs[i].gap <= 0.125);
      assert_string_equal(scene.pairs[i].relation, "separate");
    }
    check_truth(&scene, &baked, 0);
    free_baked(&baked);
    scenes_free(&scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_requests),  cmocka_unit_test(test_same_seed),    cmocka_unit_test(test_seeds),
      cmocka_unit_test(test_sizes),     cmocka_unit_test(test_planted_gaps), cmocka_unit_test(test_gaps),
      cmocka_unit_test(test_relations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
