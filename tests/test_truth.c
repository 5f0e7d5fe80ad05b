/* Real meshes with known answers (../shared/data/truth, or $GRAZE_SHARED): counts, kinds and hashes that CGAL's exact
 * kernels gave. Tiers: `double` rows are T1, `exact` rows are T2, `float` rows are T0 on float meshes of the rounded
 * vertices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graze/io.h"
#include "graze/visibility.h"
#include "support.h"
#ifdef GRAZE_TRUTH_DEVICE
#include "device.h"

static graze_gpu *gpu;
#endif

static graze_visibility *pictures;

enum { max_fields = 32, max_meshes = 80, max_line = 4096 };

static graze_context *context;
static graze_query *query;

/* ---- meshes, read once ------------------------------------------------------------------------------------------- */

typedef struct source {
  char name[256];
  graze_geometry geometry;
  graze_mesh *mesh;
} source;

static source sources[max_meshes];
static int source_count;

static void *read_all(const char *name, size_t *size) {
  FILE *file = test_open_data(name);
  assert_non_null(file);
  char *bytes = test_read_all(file, size);
  test_close_data(file, name);
  return bytes;
}

static graze_mesh *bake(const graze_geometry *g, const void *vertices, graze_precision precision, uint32_t first,
                        uint32_t count) {
  graze_mesh *mesh = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = vertices;
  def.vertex_count = g->vertex_count;
  def.indices = g->indices + 3 * (size_t)first;
  def.triangle_count = count;
  def.precision = precision;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  return mesh;
}

static float *as_floats(const double *values, size_t count) {
  float *floats = malloc(count * sizeof *floats + 1);
  assert_non_null(floats);
  for (size_t i = 0; i < count; i++) floats[i] = (float)values[i];
  return floats;
}

static source *get_source(const char *name) {
  for (int i = 0; i < source_count; i++) {
    if (strcmp(sources[i].name, name) == 0) return &sources[i];
  }
  assert_true(source_count < max_meshes);
  source *s = &sources[source_count++];
  char plain[256];
  size_t size;
  snprintf(s->name, sizeof s->name, "%s", name);
  snprintf(plain, sizeof plain, "%s", name);
  if (strlen(plain) > 3 && strcmp(plain + strlen(plain) - 3, ".xz") == 0) plain[strlen(plain) - 3] = 0;
  void *bytes = read_all(name, &size);
  graze_status status = graze_parse_geometry(shared_context(0), bytes, size, plain, GRAZE_FORMAT_AUTO, 0, &s->geometry);
  if (status != GRAZE_OK) fail_msg("%s: %s", name, shared_error()->message);
  free(bytes);
  const graze_geometry *g = &s->geometry;
  uint32_t count = (uint32_t)g->triangle_count;
  if (g->all_float) { /* as the file holds it */
    float *floats = as_floats(g->vertices, 3 * g->vertex_count);
    s->mesh = bake(g, floats, GRAZE_FLOAT, 0, count);
    free(floats);
  } else {
    s->mesh = bake(g, g->vertices, GRAZE_DOUBLE, 0, count);
  }
  return s;
}

/* The mesh posed and rounded to float, which is then asked with no pose. */
static graze_mesh *posed_float(const source *s, const graze_pose *pose) {
  const graze_geometry *g = &s->geometry;
  double *moved = malloc((3 * g->vertex_count + 1) * sizeof *moved);
  assert_non_null(moved);
  for (size_t i = 0; i < g->vertex_count; i++) graze_pose_apply(pose, g->vertices + 3 * i, moved + 3 * i);
  float *floats = as_floats(moved, 3 * g->vertex_count);
  graze_mesh *mesh = bake(g, floats, GRAZE_FLOAT, 0, (uint32_t)g->triangle_count);
  free(moved);
  free(floats);
  return mesh;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

typedef struct table {
  FILE *file;
  const char *name;
  char line[max_line];
  char *field[max_fields];
  int fields;
} table;

static void table_open(table *t, const char *name) {
  t->name = name;
  t->file = test_open_data(name);
  assert_non_null(t->file);
  assert_non_null(fgets(t->line, sizeof t->line, t->file)); /* the header */
}

static bool table_next(table *t) {
  if (!fgets(t->line, sizeof t->line, t->file)) {
    test_close_data(t->file, t->name);
    return false;
  }
  t->fields = test_split(t->line, t->field, max_fields);
  return true;
}

static graze_pose pose_from(char *const *fields) {
  graze_pose pose;
  for (int k = 0; k < 12; k++) pose.m[k] = strtod(fields[k], NULL);
  return pose;
}

static uint64_t number(const char *text) {
  return strtoull(text, NULL, 10);
}

static uint64_t hash_from(const char *text) {
  return strtoull(text, NULL, 16);
}

/* ---- pairs of meshes --------------------------------------------------------------------------------------------- */

typedef struct placed_pair {
  char name[64];
  source *a, *b;
  graze_pose pose_a, pose_b;
} placed_pair;

static void ask(const placed_pair *p, const char *mode, graze_collide_result *got) {
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_COUNT;
  if (strcmp(mode, "float") == 0) {
    graze_mesh *a = posed_float(p->a, &p->pose_a), *b = posed_float(p->b, &p->pose_b);
    options.exactness = GRAZE_T0;
    assert_int_equal(graze_collide_meshes(query, a, NULL, b, NULL, &options, got), GRAZE_OK);
    graze_mesh_destroy(a);
    graze_mesh_destroy(b);
    return;
  }
  options.exactness = strcmp(mode, "exact") == 0 ? GRAZE_T2 : GRAZE_T1;
  assert_int_equal(graze_collide_meshes(query, p->a->mesh, &p->pose_a, p->b->mesh, &p->pose_b, &options, got),
                   GRAZE_OK);
}

/* name,mode,trisA,trisB,hit,pairs,pairs_deg,kind_point,kind_segment,kind_area,coplanar,hash */
static void check_row(const placed_pair *p, const table *t) {
  graze_collide_result got;
  const graze_counts *c = &got.counts;
  assert_int_equal(graze_mesh_triangle_count(p->a->mesh), number(t->field[2]));
  assert_int_equal(graze_mesh_triangle_count(p->b->mesh), number(t->field[3]));
  ask(p, t->field[1], &got);
  bool same = got.hit == (number(t->field[4]) != 0) && c->triangle_pairs == number(t->field[5]) &&
              c->degenerate == number(t->field[6]) && c->hash == hash_from(t->field[11]);
  if (strcmp(t->field[7], "-1") != 0) {
    same = same && c->points == number(t->field[7]) && c->segments == number(t->field[8]) &&
           c->areas == number(t->field[9]);
    /* The table's coplanar leaves pairs with a degenerate triangle out. */
    if (c->degenerate == 0) same = same && c->coplanar == number(t->field[10]);
  }
  if (!same) {
    fail_msg("%s %s: %d pairs, %d degenerate, %d points, %d segments, %d areas, %d coplanar, hash %016llx", t->field[0],
             t->field[1], (int)c->triangle_pairs, (int)c->degenerate, (int)c->points, (int)c->segments, (int)c->areas,
             (int)c->coplanar, (unsigned long long)c->hash);
  }
}

static void check_rows(const char *name, const placed_pair *pairs, int count, int expected) {
  table t;
  const int step = test_thinned() ? 6 : 1, first = (int)(test_seed(1) % (uint64_t)step);
  int rows = 0;
  table_open(&t, name);
  while (table_next(&t)) {
    int i = 0;
    while (i < count && strcmp(pairs[i].name, t.field[0]) != 0) i++;
    if (i == count) fail_msg("%s: no pose for %s", name, t.field[0]);
    if (rows++ % step == first) check_row(&pairs[i], &t);
  }
  assert_int_equal(rows, expected);
}

static placed_pair pairs[400];

static void test_mesh_pairs(void **unused) {
  (void)unused;
  table t;
  int count = 0;
  table_open(&t, "truth/mesh_pairs_poses.csv");
  while (table_next(&t)) {
    placed_pair *p = &pairs[count++];
    assert_int_equal(t.fields, 27);
    snprintf(p->name, sizeof p->name, "%s", t.field[0]);
    p->a = get_source(t.field[1]);
    p->b = get_source(t.field[2]);
    p->pose_a = pose_from(t.field + 3);
    p->pose_b = pose_from(t.field + 15);
  }
  check_rows("truth/mesh_pairs.csv", pairs, count, 141);
}

/* name,distance,triA,triB: the distance may be one unit in the last place off, as the table rounds twice. Clearances
 * two units above and below it are decided right. */
static void check_distance(const placed_pair *p, const table *t) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result got;
  double want = strtod(t->field[1], NULL), limit = want;
  assert_int_equal(graze_mesh_distance(query, p->a->mesh, &p->pose_a, p->b->mesh, &p->pose_b, NULL, &got), GRAZE_OK);
  double d = got.nearest.distance;
  if (!(d >= nextafter(want, 0) && d <= nextafter(want, 1e300))) {
    fail_msg("%s: distance %.17g, want %.17g", p->name, d, want);
  }
  for (int k = 0; k < 2; k++) {
    limit = d;
    for (int i = 0; i < 2; i++) limit = nextafter(limit, k == 0 ? 0 : 1e300);
    options.limit = limit;
    assert_int_equal(graze_mesh_distance(query, p->a->mesh, &p->pose_a, p->b->mesh, &p->pose_b, &options, &got),
                     GRAZE_OK);
    assert_true(got.found == (k == 1));
  }
}

static void test_mesh_distances(void **unused) {
  (void)unused;
  table poses, t;
  int count = 0, rows = 0;
  table_open(&poses, "truth/mesh_pairs_poses.csv");
  while (table_next(&poses)) {
    placed_pair *p = &pairs[count++];
    snprintf(p->name, sizeof p->name, "%s", poses.field[0]);
    p->a = get_source(poses.field[1]);
    p->b = get_source(poses.field[2]);
    p->pose_a = pose_from(poses.field + 3);
    p->pose_b = pose_from(poses.field + 15);
  }
  table_open(&t, "truth/mesh_distances.csv");
  while (table_next(&t)) {
    int i = 0;
    while (i < count && strcmp(pairs[i].name, t.field[0]) != 0) i++;
    if (i == count) fail_msg("no pose for %s", t.field[0]);
    check_distance(&pairs[i], &t);
    rows++;
  }
  assert_true(rows >= 22);
}

static void test_env_rob(void **unused) {
  (void)unused;
  table t;
  int count = 0;
  table_open(&t, "truth/env_rob_poses.csv");
  while (table_next(&t)) {
    placed_pair *p = &pairs[count++];
    assert_int_equal(t.fields, 13);
    snprintf(p->name, sizeof p->name, "%s", t.field[0]);
    p->a = get_source("meshes/fcl/env.obj");
    p->b = get_source("meshes/fcl/rob.obj");
    p->pose_a = graze_pose_identity();
    p->pose_b = pose_from(t.field + 1);
  }
  check_rows("truth/env_rob.csv", pairs, count, 900);
}

static void test_gear_motion(void **unused) {
  (void)unused;
  table t;
  int count = 0;
  table_open(&t, "scenes/gearbox_contact/gear_m1s3_frames.csv");
  while (table_next(&t)) {
    placed_pair *p = &pairs[count++];
    assert_int_equal(t.fields, 25);
    snprintf(p->name, sizeof p->name, "%s", t.field[0]);
    p->a = get_source("scenes/gearbox_contact/gear_m1s3_obj1.obj");
    p->b = get_source("scenes/gearbox_contact/gear_m1s3_obj2.obj");
    p->pose_a = pose_from(t.field + 1);
    p->pose_b = pose_from(t.field + 13);
  }
  check_rows("truth/motion/gear_m1s3.csv", pairs, count, 153);
}

/* ---- self intersections ------------------------------------------------------------------------------------------ */

static bool has_unused_vertex(const graze_geometry *g) {
  bool *used = calloc(g->vertex_count + 1, sizeof *used);
  uint64_t count = 0;
  assert_non_null(used);
  for (uint64_t i = 0; i < 3 * g->triangle_count; i++) {
    count += !used[g->indices[i]];
    used[g->indices[i]] = true;
  }
  free(used);
  return count < g->vertex_count;
}

static void test_self_intersections(void **unused) {
  (void)unused;
  table t;
  int rows = 0;
  table_open(&t, "truth/self_intersections.csv");
  while (table_next(&t)) {
    graze_self_result got;
    graze_mesh_facts facts;
    graze_collide_options options = graze_default_collide_options();
    source *s = get_source(t.field[0]);
    options.find = GRAZE_FIND_COUNT;
    assert_int_equal(graze_collide_self(query, s->mesh, &options, &got), GRAZE_OK);
    graze_mesh_get_facts(s->mesh, &facts);
    /* The table counts the positions of vertices that no triangle uses, too. */
    bool same = facts.triangles == number(t.field[1]) &&
                (facts.positions == number(t.field[3]) || has_unused_vertex(&s->geometry)) &&
                facts.degenerate == number(t.field[4]) && got.self_pairs == number(t.field[6]) &&
                got.duplicates == number(t.field[7]) && got.edge_overlaps == number(t.field[8]) &&
                got.vertex_more == number(t.field[9]) && got.disjoint_hits == number(t.field[10]) &&
                got.degenerate_pairs == number(t.field[13]) && got.hash == hash_from(t.field[15]);
    if (!same) {
      fail_msg("%s: positions %d degenerate %d; %d self pairs: %d + %d + %d + %d, %d degenerate pairs, hash %016llx",
               t.field[0], (int)facts.positions, (int)facts.degenerate, (int)got.self_pairs, (int)got.duplicates,
               (int)got.edge_overlaps, (int)got.vertex_more, (int)got.disjoint_hits, (int)got.degenerate_pairs,
               (unsigned long long)got.hash);
    }
    rows++;
  }
  assert_int_equal(rows, 47);
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

static void add_object(graze_scene *scene, const graze_mesh *mesh, const graze_pose *pose, uint64_t number_) {
  graze_object_id id;
  graze_object_def def = graze_default_object_def();
  def.mesh = mesh;
  def.pose = *pose;
  def.user_id = number_;
  assert_int_equal(graze_scene_add(scene, &def, &id), GRAZE_OK);
}

/* a,b,tri_pairs,deg_pairs,hash: the pairs that meet, sorted. */
static void check_scene(graze_scene *scene, const char *name, uint64_t expected_pairs) {
  table t;
  char path[256];
  uint64_t row = 0;
  graze_scene_check_result result;
  assert_int_equal(graze_scene_check(scene, NULL, &result), GRAZE_OK);
  assert_int_equal(result.pair_count, expected_pairs);
  snprintf(path, sizeof path, "truth/scenes/%s.double.csv", name);
  table_open(&t, path);
  while (table_next(&t)) {
    assert_true(row < result.pair_count);
    const graze_object_pair *p = &result.pairs[row++];
    if (p->user_id_a != number(t.field[0]) || p->user_id_b != number(t.field[1]) ||
        p->counts.triangle_pairs != number(t.field[2]) || p->counts.degenerate != number(t.field[3]) ||
        p->counts.hash != hash_from(t.field[4])) {
      fail_msg("%s: parts %d and %d: %d pairs, want parts %s and %s, %s pairs", name, (int)p->user_id_a,
               (int)p->user_id_b, (int)p->counts.triangle_pairs, t.field[0], t.field[1], t.field[2]);
    }
  }
  assert_int_equal(row, expected_pairs);
}

static void robot(const char *folder, const char *name, const char *packed, uint64_t expected_pairs) {
  table t;
  char path[256];
  uint64_t part = 0;
  graze_scene *scene = NULL;
  assert_int_equal(graze_scene_create(context, &scene), GRAZE_OK);
  snprintf(path, sizeof path, "scenes/%s/%s.scene.csv", folder, name);
  table_open(&t, path);
  while (table_next(&t)) {
    char mesh[256];
    graze_pose pose = pose_from(t.field + 2);
    snprintf(mesh, sizeof mesh, "scenes/%s/meshes/%s%s", folder, t.field[1], packed);
    add_object(scene, get_source(mesh)->mesh, &pose, part++);
  }
  assert_int_equal(part, 7);
  check_scene(scene, name, expected_pairs);
  graze_scene_destroy(scene);
}

static void test_robots(void **unused) {
  (void)unused;
  robot("ur10e", "ur10e_zero", "", 5);
  robot("ur10e", "ur10e_work", "", 5);
  robot("ur10e", "ur10e_folded", "", 6);
  robot("fanuc_cr35ia", "cr35ia_zero", ".xz", 6);
  robot("fanuc_cr35ia", "cr35ia_tucked", ".xz", 6);
  robot("fanuc_cr35ia", "cr35ia_reach", ".xz", 6);
}

/* Both tables of the house were made from coordinates rounded to float: the parts 9 and 107, for one, meet in 37 pairs
 * then, and in 33 as the decimals stand in the file. */
static void test_house(void **unused) {
  (void)unused;
  const graze_geometry *g = &get_source("scenes/fzk_haus/fzk_haus.obj.xz")->geometry;
  float *floats = as_floats(g->vertices, 3 * g->vertex_count);
  graze_mesh *meshes[110];
  graze_scene *scene = NULL;
  graze_pose here = graze_pose_identity();
  assert_int_equal(g->group_count, 110);
  assert_int_equal(graze_scene_create(context, &scene), GRAZE_OK);
  for (uint32_t i = 0; i < 110; i++) {
    meshes[i] = bake(g, floats, GRAZE_FLOAT, g->groups[i].first_triangle, g->groups[i].triangle_count);
    add_object(scene, meshes[i], &here, i);
  }
  check_scene(scene, "fzk", 315);
  graze_scene_destroy(scene);
  for (int i = 0; i < 110; i++) graze_mesh_destroy(meshes[i]);
  free(floats);
}

/* ---- triangle pairs ---------------------------------------------------------------------------------------------- */

static void check_pairs(const char *name, int expected) {
  table t;
  int rows = 0;
  table_open(&t, name);
  while (table_next(&t)) {
    double c[18];
    const double *columns[18];
    graze_tritri got, batched;
    for (int i = 0; i < 18; i++) {
      c[i] = strtod(t.field[1 + i], NULL);
      columns[i] = c + i;
    }
    assert_int_equal(graze_tritri_test(c, c + 9, &got), GRAZE_OK);
    assert_int_equal(graze_tritri_batch(context, 1, columns, columns + 9, &batched), GRAZE_OK);
    assert_memory_equal(&got, &batched, sizeof got);
    int degenerate = (atoi(t.field[21]) < 2 ? 1 : 0) | (atoi(t.field[22]) < 2 ? 2 : 0);
    /* The table has coplanar 0 wherever a is degenerate. */
    bool coplanar = (degenerate & 1) || got.coplanar == atoi(t.field[23]);
    if (got.kind != atoi(t.field[20]) || got.degenerate != degenerate || !coplanar) {
      fail_msg("%s row %d: %d %d %d", name, rows, got.kind, got.coplanar, got.degenerate);
    }
    rows++;
  }
  assert_int_equal(rows, expected);
}

static void test_triangle_pairs(void **unused) {
  (void)unused;
  check_pairs("tritri/made_dev.csv.xz", 13329);
  check_pairs("tritri/shen2003_sample.csv.xz", 1000);
}

/* With GRAZE_TEST_ENGINE=gpu in the environment a device answers whatever it can; with visibility pictures do. */
static bool attach_device(void) {
  const char *engine = getenv("GRAZE_TEST_ENGINE");
  if (engine != NULL && strcmp(engine, "visibility") == 0) {
    assert_int_equal(graze_visibility_create(context, GRAZE_VISIBILITY_REFERENCE, &pictures), GRAZE_OK);
    assert_int_equal(graze_visibility_attach(pictures, NULL), GRAZE_OK);
    return true;
  }
#ifdef GRAZE_TRUTH_DEVICE
  if (engine == NULL) return true;
  gpu = test_device(context, "test_truth");
  if (gpu == NULL) return false;
  assert_int_equal(graze_gpu_attach(gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
#endif
  return true;
}

static void detach_device(void) {
  if (pictures != NULL) assert_true(graze_visibility_get_answered(pictures) >= 47);
  graze_visibility_destroy(pictures);
#ifdef GRAZE_TRUTH_DEVICE
  if (gpu != NULL) assert_true(graze_gpu_get_report(gpu).answered > 1000);
  graze_gpu_destroy(gpu);
#endif
}

static int set_up(void **unused) {
  (void)unused;
  context = test_context(0, NULL);
  if (!attach_device()) exit(77); /* skipped: there is no device */
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  for (int i = 0; i < source_count; i++) {
    graze_mesh_destroy(sources[i].mesh);
    graze_geometry_free(&sources[i].geometry);
  }
  graze_query_destroy(query);
  detach_device();
  graze_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_triangle_pairs), cmocka_unit_test(test_mesh_pairs),
      cmocka_unit_test(test_mesh_distances), cmocka_unit_test(test_env_rob),
      cmocka_unit_test(test_gear_motion),    cmocka_unit_test(test_self_intersections),
      cmocka_unit_test(test_robots),         cmocka_unit_test(test_house),
  };
  if (!test_shared()) {
    printf("SKIPPED: no shared data next to the sources; set GRAZE_SHARED to its folder\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
