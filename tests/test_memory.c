/* Memory that is refused. For every call that allocates: the k-th request fails, for k = 1, 2, ... until the call
 * succeeds, in the usual form for some of these k. Each failure must be GRAZE_ERROR_MEMORY, leak nothing, leave the
 * outputs alone, and leave the objects fit for another try. Releases must name the size that was asked for. And once
 * warm, queries ask for nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/io.h"
#include "polycubes.h"
#include "support.h"

enum { finest = 30, most_requests = 5000, USUAL_REFUSALS = 24 };

static double sphere[9 * 8 * finest * finest];
static uint32_t sphere_count;

/* With sanitizers a coarser one: the same requests but for those of the loops over many results. */
static void make_sphere(void) {
  int level = finest;
#ifdef __SANITIZE_ADDRESS__
  if (!test_long()) level = 10;
#endif
  sphere_count = soup_ball(level, 1, sphere);
}

typedef struct bench {
  test_allocator memory;
  graze_context *context;
  graze_mesh *mesh;
  graze_mesh *shells;
  char path[64];
} bench;

static graze_context *counted_context(test_allocator *memory, int threads) {
  graze_context *context = NULL;
  graze_context_def def = graze_default_context_def();
  def.allocator = test_allocator_hooks(memory);
  def.threads = threads;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  return context;
}

static graze_mesh_def sphere_def(int volumes) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = sphere;
  def.vertex_count = 3 * (uint64_t)sphere_count;
  def.precision = GRAZE_DOUBLE;
  def.volumes = (graze_volumes)volumes;
  return def;
}

/* Three spheres one in another. */
static graze_mesh *nested_spheres(graze_context *context) {
  static double corners[3 * 9 * 8 * 36];
  uint32_t count = 0;
  for (int i = 0; i < 3; i++) count += soup_ball(6, 1 - 0.25 * i, corners + 9 * (size_t)count);
  return test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED);
}

/* One attempt of each call, on fresh objects where it makes one. */
typedef graze_status (*attempt)(bench *b);

static graze_status attempt_context(bench *b) {
  graze_context *context = (graze_context *)1;
  graze_context_def def = graze_default_context_def();
  def.allocator = test_allocator_hooks(&b->memory);
  graze_status status = graze_context_create(&def, &context);
  if (status == GRAZE_OK) graze_context_destroy(context);
  if (status != GRAZE_OK) assert_ptr_equal(context, (graze_context *)1);
  return status;
}

static graze_status attempt_mesh(bench *b) {
  graze_mesh *mesh = (graze_mesh *)1;
  graze_mesh_def def = sphere_def((int)(b->memory.fail_at & 1));
  graze_status status = graze_mesh_create(b->context, &def, &mesh);
  if (status == GRAZE_OK) graze_mesh_destroy(mesh);
  if (status != GRAZE_OK) assert_ptr_equal(mesh, (graze_mesh *)1);
  return status;
}

static graze_status attempt_block(bench *b) {
  graze_mesh *mesh = (graze_mesh *)1;
  size_t size;
  const void *block = graze_mesh_block(b->mesh, &size);
  graze_status status = graze_mesh_from_block(b->context, block, size, &mesh);
  if (status == GRAZE_OK) graze_mesh_destroy(mesh);
  if (status != GRAZE_OK) assert_ptr_equal(mesh, (graze_mesh *)1);
  return status;
}

static graze_status attempt_save(bench *b) {
  return graze_mesh_save(b->context, b->mesh, b->path);
}

static graze_status attempt_load(bench *b) {
  graze_mesh *mesh = (graze_mesh *)1;
  graze_status status = graze_mesh_load(b->context, b->path, &mesh);
  if (status == GRAZE_OK) graze_mesh_destroy(mesh);
  if (status != GRAZE_OK) assert_ptr_equal(mesh, (graze_mesh *)1);
  return status;
}

/* A mesh may keep memory from one refit for the next, so each attempt has a mesh of its own. */
static graze_status attempt_refit(bench *b) {
  uint64_t fail_at = b->memory.fail_at;
  graze_mesh *mesh = NULL;
  graze_mesh_def def = sphere_def((int)(fail_at & 1));
  graze_mesh_facts before, after;
  b->memory.fail_at = 0;
  assert_int_equal(graze_mesh_create(b->context, &def, &mesh), GRAZE_OK);
  graze_mesh_get_facts(mesh, &before);
  double *moved = malloc(9 * (size_t)sphere_count * sizeof *moved);
  assert_non_null(moved);
  for (size_t i = 0; i < 9 * (size_t)sphere_count; i++) moved[i] = sphere[i] * 0.5;
  b->memory.requests = 0;
  b->memory.fail_at = fail_at;
  graze_status status = graze_mesh_refit(mesh, moved, 0);
  free(moved);
  graze_mesh_get_facts(mesh, &after);
  bool same = before.hash == after.hash && before.box.max[0] == after.box.max[0] && before.bytes == after.bytes;
  assert_int_equal(same, status != GRAZE_OK);
  graze_mesh_destroy(mesh);
  return status;
}

static graze_status attempt_collide(bench *b) {
  graze_collide_result result, untouched;
  graze_query *query = (graze_query *)1;
  graze_pose pose = {{0.8, -0.6, 0, 0.3, 0.6, 0.8, 0, 0.1, 0, 0, 1, 0.2}};
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) {
    assert_ptr_equal(query, (graze_query *)1);
    return status;
  }
  memset(&result, 0xEE, sizeof result);
  untouched = result;
  status = graze_collide_meshes(query, b->mesh, NULL, b->mesh, &pose, NULL, &result);
  if (status != GRAZE_OK) assert_memory_equal(&result, &untouched, sizeof result);
  graze_query_destroy(query);
  return status;
}

static graze_status attempt_real(bench *b) {
  graze_collide_result result;
  graze_pose pose = {{0.8, -0.6, 0, 0.3, 0.6, 0.8, 0, 0.1, 0, 0, 1, 0.2}};
  graze_collide_options options = graze_default_collide_options();
  graze_query *query = NULL;
  options.exactness = GRAZE_T2;
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) return status;
  status = graze_collide_meshes(query, b->mesh, NULL, b->mesh, &pose, &options, &result);
  graze_query_destroy(query);
  return status;
}

/* Apart and nearer than a limit, then with triangles that meet. */
static graze_status attempt_distance(bench *b) {
  graze_distance_result result, untouched;
  graze_distance_options options = graze_default_distance_options();
  graze_query *query = NULL;
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) return status;
  options.limit = 0.1;
  options.near_pairs = GRAZE_FIND_ALL;
  memset(&result, 0xEE, sizeof result);
  untouched = result;
  graze_pose apart = test_translation(2.01, 0, 0), near_it = test_translation(1.9, 0, 0);
  status = graze_mesh_distance(query, b->mesh, NULL, b->mesh, &apart, &options, &result);
  if (status != GRAZE_OK) assert_memory_equal(&result, &untouched, sizeof result);
  if (status == GRAZE_OK) status = graze_mesh_distance(query, b->mesh, NULL, b->mesh, &near_it, NULL, &result);
  graze_query_destroy(query);
  return status;
}

/* Targets, all that rays meet, and balls. */
static graze_status attempt_rays(bench *b) {
  enum { COUNT = 300 };
  const graze_mesh *meshes[2] = {b->mesh, b->shells};
  double from[3 * COUNT], to[3 * COUNT], radii[COUNT];
  graze_target_hit hits[COUNT];
  graze_targets *targets = (graze_targets *)1;
  graze_ray_hits all = {0};
  for (int i = 0; i < 3 * COUNT; i++) {
    from[i] = 2 * sin(i + 1.0);
    to[i] = -2 * sin(i + 1.5);
    radii[i / 3] = 0.01 * (i % 2);
  }
  graze_status status = graze_targets_create(b->context, 2, meshes, NULL, &targets);
  if (status != GRAZE_OK) {
    assert_ptr_equal(targets, (graze_targets *)1);
    return status;
  }
  const graze_rays rays = {.count = COUNT, .from = from, .to = to};
  const graze_particles balls = {.count = COUNT, .start = from, .end = to, .radius = radii};
  status = graze_rays_all(b->context, targets, &rays, &all);
  if (status != GRAZE_OK) assert_true(all.hits == NULL && all.first == NULL && all.count == 0);
  if (status == GRAZE_OK) status = graze_rays_first(b->context, targets, &rays, hits);
  if (status == GRAZE_OK) status = graze_motion_particles(b->context, targets, &balls, hits);
  graze_ray_hits_free(&all);
  graze_targets_destroy(targets);
  return status;
}

static graze_status attempt_points(bench *b) {
  enum { count = 100 };
  double points[3 * count];
  graze_point_distance results[count];
  graze_query *query = NULL;
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) return status;
  for (int i = 0; i < 3 * count; i++) points[i] = 0.01 * i - 1.5;
  status = graze_mesh_point_distances(query, b->shells, NULL, points, 0, count, NULL, results);
  graze_query_destroy(query);
  return status;
}

/* Of two that are not convex: one moved within the other. */
static graze_status attempt_depth(bench *b) {
  graze_depth_result result;
  graze_query *query = NULL;
  const graze_pose aside = test_translation(0.4, 0, 0);
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) return status;
  status = graze_mesh_depth(query, b->shells, NULL, b->shells, &aside, NULL, &result);
  graze_query_destroy(query);
  return status;
}

static graze_status attempt_soup(const bench *b, const double *corners, uint32_t count, graze_mesh **mesh) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 3 * (uint64_t)count;
  def.precision = GRAZE_DOUBLE;
  return graze_mesh_create(b->context, &def, mesh);
}

/* Of two boxes that cross each other, in one mesh, and one that is flush but for a rounding. */
static graze_status attempt_corners(bench *b) {
  static const double low[3][3] = {{0, 0, 0}, {0.25, 0.25, -0.5}, {1 - 1e-7, 0, 0}},
                      high[3][3] = {{1, 1, 1}, {0.75, 0.75, 0.5}, {2, 1, 1}};
  const graze_rounding rounding = {.decimals = 1e-6};
  double corners[3][9 * 12];
  graze_moved_corners found = {0};
  graze_mesh *meshes[2] = {NULL, NULL};
  graze_query *query = NULL;
  for (int k = 0; k < 3; k++) soup_box(low[k], high[k], corners[k]);
  graze_status status = graze_query_create(b->context, &query);
  if (status == GRAZE_OK) status = attempt_soup(b, corners[0], 24, &meshes[0]);
  if (status == GRAZE_OK) status = attempt_soup(b, corners[2], 12, &meshes[1]);
  if (status == GRAZE_OK)
    status = graze_find_moved_corners(query, meshes[0], NULL, &rounding, meshes[1], NULL, &rounding, NULL, &found);
  if (status == GRAZE_OK) assert_true(found.found);
  if (status != GRAZE_OK) assert_false(found.found);
  for (int k = 0; k < 2; k++) graze_mesh_destroy(meshes[k]);
  graze_query_destroy(query);
  return status;
}

static graze_status attempt_bounds(bench *b) {
  graze_bounds bounds;
  return graze_bound_mesh(b->context, b->mesh, &bounds);
}

static graze_status attempt_poses(bench *b) {
  enum { count = 20 };
  graze_collide_result results[count];
  graze_pose poses[count];
  graze_query *query = NULL;
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) return status;
  for (int i = 0; i < count; i++) poses[i] = test_translation(0.1 * i, 0.3, 0.2);
  status = graze_collide_poses(query, b->mesh, NULL, b->mesh, poses, count, NULL, results);
  graze_query_destroy(query);
  return status;
}

static graze_status attempt_self(bench *b) {
  graze_self_result result, untouched;
  graze_collide_result boxes;
  graze_query *query = NULL;
  graze_status status = graze_query_create(b->context, &query);
  if (status != GRAZE_OK) return status;
  memset(&result, 0xEE, sizeof result);
  untouched = result;
  status = graze_collide_self(query, b->mesh, NULL, &result);
  if (status != GRAZE_OK) assert_memory_equal(&result, &untouched, sizeof result);
  if (status == GRAZE_OK) status = graze_collide_self_boxes(query, b->mesh, NULL, &boxes);
  graze_query_destroy(query);
  return status;
}

/* Two meshes of several parts that cross, so that parts, rays, solids and curves are all needed. */
static graze_status attempt_relate(bench *b) {
  graze_relate_result result, untouched;
  graze_outline outline, as_before;
  graze_query *query = NULL, *second = NULL;
  graze_pose pose = {{0.8, -0.6, 0, 0.3, 0.6, 0.8, 0, 0.1, 0, 0, 1, 0.2}};
  graze_status status = graze_query_create(b->context, &query);
  if (status == GRAZE_OK) status = graze_query_create(b->context, &second);
  memset(&result, 0xEE, sizeof result);
  memset(&outline, 0xEE, sizeof outline);
  untouched = result;
  as_before = outline;
  if (status == GRAZE_OK) status = graze_relate_meshes(query, b->shells, NULL, b->shells, &pose, NULL, &result);
  if (status != GRAZE_OK) assert_memory_equal(&result, &untouched, sizeof result);
  if (status == GRAZE_OK) {
    assert_int_equal(result.verdict.relation, GRAZE_CROSS);
    status = graze_outline_contact(second, b->shells, NULL, b->shells, &pose, result.pairs,
                                   result.counts.triangle_pairs, &outline);
    if (status != GRAZE_OK) assert_memory_equal(&outline, &as_before, sizeof outline);
    if (status == GRAZE_OK) assert_true(outline.count > 0);
  }
  graze_query_destroy(query);
  graze_query_destroy(second);
  return status;
}

/* One in the other: only rays tell. */
static graze_status attempt_within(bench *b) {
  graze_relate_result result;
  graze_query *query = NULL;
  const graze_pose small = {{0.125, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, 0.125, 0}};
  graze_status status = graze_query_create(b->context, &query);
  if (status == GRAZE_OK) status = graze_relate_meshes(query, b->mesh, &small, b->mesh, NULL, NULL, &result);
  if (status == GRAZE_OK) assert_int_equal(result.verdict.relation, GRAZE_A_IN_B);
  graze_query_destroy(query);
  return status;
}

/* A ball that reaches into nested shells, and a capsule across them. */
static graze_status attempt_round(bench *b) {
  const double ends[2][3] = {{0.1, 0.2, 0.3}, {2, 0.2, 0.3}};
  graze_mesh *core = NULL;
  graze_query *query = NULL;
  graze_relate_result result, untouched;
  graze_distance_result distance;
  graze_status status = graze_query_create(b->context, &query);
  if (status == GRAZE_OK) status = graze_round_create_core(b->context, ends, &core);
  const graze_round_side capsule = {core, NULL, 0.25, false}, shells = {b->shells, NULL, 0, false};
  memset(&result, 0xEE, sizeof result);
  untouched = result;
  if (status == GRAZE_OK) status = graze_round_relate(query, &capsule, &shells, NULL, &result);
  if (status != GRAZE_OK) assert_memory_equal(&result, &untouched, sizeof result);
  if (status == GRAZE_OK) assert_int_equal(result.verdict.relation, GRAZE_CROSS);
  if (status == GRAZE_OK) status = graze_round_distance(query, &capsule, &shells, NULL, &distance);
  const graze_pose turned = {{0, -1, 0, 0.5, 1, 0, 0, -0.5, 0, 0, 1, 0}};
  const graze_round_side drum = {core, NULL, 0.25, true}, across = {core, &turned, 0.25, true};
  if (status == GRAZE_OK) status = graze_round_relate(query, &drum, &across, NULL, &result); /* by prisms */
  if (status == GRAZE_OK) assert_int_equal(result.verdict.relation, GRAZE_CROSS);
  graze_mesh_destroy(core);
  graze_query_destroy(query);
  return status;
}

static graze_status attempt_scene(bench *b) {
  graze_scene *scene = (graze_scene *)1;
  graze_object_id ids[6];
  graze_status status = graze_scene_create(b->context, &scene);
  if (status != GRAZE_OK) {
    assert_ptr_equal(scene, (graze_scene *)1);
    return status;
  }
  for (int i = 0; i < 6 && status == GRAZE_OK; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = i < 4 ? b->mesh : b->shells;
    def.pose = test_translation(0.3 * i, 0.2, 0.1);
    def.name = "a name of some length, which has to be copied";
    def.layer = i & 1 ? "odd" : "even";
    status = graze_scene_add(scene, &def, &ids[i]);
    if (status != GRAZE_OK) assert_int_equal(graze_scene_object_count(scene), i);
  }
  if (status == GRAZE_OK) status = graze_scene_ignore(scene, ids[0], ids[1]);
  if (status == GRAZE_OK) status = graze_scene_ignore_layers(scene, "odd", "odd");
  if (status == GRAZE_OK) {
    graze_scene_check_options options = graze_default_scene_check_options();
    graze_scene_check_result result, untouched;
    options.find = GRAZE_FIND_ALL;
    options.outlines = true;
    memset(&result, 0xEE, sizeof result);
    untouched = result;
    status = graze_scene_check(scene, &options, &result);
    if (status != GRAZE_OK) assert_memory_equal(&result, &untouched, sizeof result);
    if (status == GRAZE_OK) assert_true(result.clashes > 0);
  }
  graze_scene_destroy(scene);
  return status;
}

static graze_status attempt_batch(bench *b) {
  enum { count = 100000 };
  static double zeros[count];
  static graze_tritri results[count];
  const double *columns[9];
  for (int k = 0; k < 9; k++) columns[k] = zeros;
  return graze_tritri_batch(b->context, count, columns, columns, results);
}

/* A reader's call on a small text. */
static graze_status attempt_geometry(bench *b, const char *name, const char *text) {
  graze_geometry geometry;
  graze_status status = graze_parse_geometry(b->context, text, strlen(text), name, GRAZE_FORMAT_AUTO, 0, &geometry);
  if (status != GRAZE_OK) assert_null(geometry.vertices);
  graze_geometry_free(&geometry);
  return status;
}

static graze_status attempt_obj(bench *b) {
  return attempt_geometry(b, "a.obj", "o one\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no two\nf -1 -2 -3\n");
}

static graze_status attempt_split(bench *b) {
  static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 3 3 3\ng one\nf 1 2 3\nf 1 4 4\ng two\nf -1 -2 -3\n";
  graze_assembly assembly = {0};
  graze_status status = graze_parse_assembly(b->context, text, sizeof text - 1, "a.obj", GRAZE_FORMAT_AUTO,
                                             GRAZE_READ_GROUPS | GRAZE_READ_PARTS, &assembly);
  if (status != GRAZE_OK) assert_null(assembly.meshes);
  graze_assembly_free(&assembly);
  return status;
}

static graze_status attempt_stl(bench *b) {
  return attempt_geometry(b, "a.stl",
                          "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
                          "endloop\nendfacet\nendsolid\n");
}

static graze_status attempt_ply(bench *b) {
  return attempt_geometry(b, "a.ply",
                          "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                          "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
                          "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
}

/* A GLB file, opened, and a mesh of it. */
static graze_status attempt_glb(bench *b) {
  double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t indices[3] = {0, 1, 2};
  graze_assembly_mesh mesh = {"m", {.vertices = corners, .vertex_count = 3, .indices = indices, .triangle_count = 1}};
  graze_assembly_object objects[2] = {{.name = "a/b", .pose = graze_pose_identity()},
                                      {.name = "a/c", .pose = graze_pose_identity()}};
  const graze_assembly whole = {.meshes = &mesh, .mesh_count = 1, .objects = objects, .object_count = 2};
  graze_assembly assembly = {0};
  graze_geometry geometry = {0};
  graze_status status = graze_write_glb(b->context, b->path, &whole);
  if (status == GRAZE_OK) status = graze_open_assembly(b->context, b->path, GRAZE_FORMAT_GLTF, 0, &assembly);
  if (status == GRAZE_OK) status = graze_read_assembly_mesh(b->context, &assembly, 0, b->path, &geometry);
  graze_geometry_free(&geometry);
  graze_assembly_free(&assembly);
  return status;
}

static graze_status attempt_lists(bench *b) {
  static const char scene_text[] =
      "{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a.obj\"},{\"name\":\"b\","
      "\"mesh\":\"b.obj\",\"layer\":\"l\"}],\"ignore\":[[\"a\",\"b\"]],\"ignore_layers\":"
      "[[\"l\",\"l\"]],\"sets\":{\"s\":[\"a*\"]},\"check\":[[\"s\",\"s\"]],\"simulation\":{\"model\":\"dem\","
      "\"materials\":"
      "{\"m\":{\"k_n\":1}},\"pairs\":[[\"m\",\"m\",{\"k_n\":2}]],\"walls\":[{\"point\":[0,0,0],\"normal\":[0,0,1]}]},"
      "\"particles\":[{\"name\":\"p\",\"file\":\"p.csv\",\"material\":\"m\"}]}";
  static const char box_text[] = "1,0,0,0,1,1,1\n2,0,0,0,1,1,1\n";
  static const char particle_text[] = "x,y,z,r,vx,wy\n0,0,0,1,2,3\n4,5,6,7,8,9\n";
  graze_scene_file scene = {0};
  graze_box_list boxes = {0};
  graze_particle_list particles = {0};
  graze_status status = graze_parse_scene(b->context, scene_text, strlen(scene_text), "x/s.json", &scene);
  if (status == GRAZE_OK) status = graze_parse_boxes(b->context, box_text, strlen(box_text), "b.csv", &boxes);
  if (status == GRAZE_OK)
    status = graze_parse_particles(b->context, particle_text, strlen(particle_text), "p.csv", &particles);
  if (status == GRAZE_OK) status = graze_write_particles(b->context, b->path, &particles);
  graze_particle_list_free(&particles);
  graze_scene_file_free(&scene);
  graze_box_list_free(&boxes);
  return status;
}

/* With request k refused. True: it succeeded, for there were not so many. */
static graze_status attempt_hulls(bench *b) {
  graze_hull *hull = NULL;
  graze_status status = graze_hull_create(b->context, 3 * (uint64_t)sphere_count, sphere, &hull);
  graze_hull_destroy(hull);
  if (status != GRAZE_OK) return status;
  const double square[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  status = graze_hull_create(b->context, 4, square, &hull);
  if (status == GRAZE_OK) graze_hull_destroy(hull);
  return status;
}

/* Boxes on one another, which integers decide, and in one another. */
static graze_status attempt_cut(bench *b) {
  const double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  graze_hull *hull = NULL;
  graze_fragments *fragments = NULL;
  graze_pieces *pieces = NULL;
  graze_status status = graze_hull_create(b->context, 4, corners, &hull);
  if (status == GRAZE_OK) status = graze_hull_cut(b->context, hull, 100, 1, &fragments);
  if (status == GRAZE_OK) status = graze_hull_break(b->context, hull, 30, 1, &pieces);
  graze_pieces_destroy(pieces);
  graze_fragments_destroy(fragments);
  graze_hull_destroy(hull);
  return status;
}

/* A U in three parts. */
static graze_status attempt_decompose(bench *b) {
  static double corners[9 * 200];
  polycube p = {.cell = {{{true}, {true}}, {{true}}, {{true}, {true}}}};
  uint64_t state = 1;
  graze_mesh *mesh = NULL;
  graze_decomposition *parts = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  graze_decompose_options options = graze_default_decompose_options();
  options.error = 0.3;
  def.vertices = corners;
  def.vertex_count = 3 * (uint64_t)polycube_surface(&p, 1, &state, corners);
  def.precision = GRAZE_DOUBLE;
  graze_status status = graze_mesh_create(b->context, &def, &mesh);
  if (status == GRAZE_OK) status = graze_mesh_decompose(b->context, mesh, &options, &parts);
  graze_decomposition_destroy(parts);
  graze_mesh_destroy(mesh);
  return status;
}

static graze_status attempt_convex(bench *b) {
  double box[24];
  for (int c = 0; c < 24; c++) box[c] = c / 3 >> c % 3 & 1;
  const graze_convex convex = {.points = box, .count = 8};
  const graze_pose poses[3] = {test_translation(1, 0.25, 0.5), test_translation(0.25, 0.5, 0.75),
                               test_translation(2, 0, 0)};
  graze_convex_pair pairs[4];
  graze_convex_result results[4];
  for (int i = 0; i < 3; i++) pairs[i] = (graze_convex_pair){&convex, &convex, NULL, &poses[i]};
  const graze_convex cone = {.points = box + 12, .count = 2, .discs = {1, 0}};
  pairs[3] = (graze_convex_pair){&convex, &cone, NULL, &poses[1]};
  graze_status status = graze_convex_batch(b->context, 4, pairs, GRAZE_T1, GRAZE_CONVEX_SHARP, results);
  if (status != GRAZE_OK) return status;
  const graze_convex_sweep sweep = {.a = {.set = &convex, .start = poses[2], .end = poses[1]},
                                    .b = {.set = &cone, .start = poses[0], .end = poses[0]}};
  graze_convex_sweep_result swept;
  status = graze_convex_sweeps(b->context, 1, &sweep, GRAZE_MOTION_LINEAR, &swept);
  if (status != GRAZE_OK) return status;
  graze_manifold manifolds[3];
  memset(manifolds, 0, sizeof manifolds);
  return graze_convex_touch(b->context, 3, pairs, 0.1, manifolds);
}

static bool fail_at(bench *b, const char *name, attempt try, uint64_t k) {
  int64_t blocks = b->memory.live_blocks, bytes = b->memory.live_bytes;
  graze_mesh_hash(b->context, NULL, NULL); /* another failure to be replaced */
  b->memory.requests = 0;
  b->memory.fail_at = k;
  graze_status status = try(b);
  b->memory.fail_at = 0;
  if (b->memory.live_blocks != blocks || b->memory.live_bytes != bytes) {
    fail_msg("%s, request %d refused: %d blocks, %d bytes leaked", name, (int)k, (int)(b->memory.live_blocks - blocks),
             (int)(b->memory.live_bytes - bytes));
  }
  if (status == GRAZE_OK) {
    assert_true(b->memory.requests < k); /* a refusal was never swallowed */
    return true;
  }
  if (status != GRAZE_ERROR_MEMORY) fail_msg("%s, request %d refused: %s", name, (int)k, graze_status_string(status));
  const graze_error *error = graze_last_error(b->context); /* a context that could not be made has none */
  if (try != attempt_context && error->status != status) fail_msg("%s, request %d: it is not said", name, (int)k);
  return false;
}

/* The long form refuses every request, the usual one some of all parts of the way. */
static void fail_each(bench *b, const char *name, attempt try, uint64_t *random) {
  b->memory.requests = 0;
  assert_int_equal(try(b), GRAZE_OK);
  const uint64_t all = b->memory.requests, some = test_long() || all < USUAL_REFUSALS ? all : USUAL_REFUSALS;
  for (uint64_t i = 0; i < some; i++) {
    const uint64_t from = i * all / some, to = (i + 1) * all / some;
    fail_at(b, name, try, from + 1 + random_below(random, to - from));
  }
  uint64_t most = all + 1; /* threads may ask for more at another time */
  while (!fail_at(b, name, try, most)) {
    if (++most == most_requests) fail_msg("%s never succeeds", name);
  }
  print_message("%s: %d of %d requests\n", name, (int)some, (int)all);
}

static void run_all(int threads) {
  static const struct {
    const char *name;
    attempt try;
  } attempts[] = {
      {"context", attempt_context},   {"mesh", attempt_mesh},       {"block", attempt_block},
      {"save", attempt_save},         {"load", attempt_load},       {"refit", attempt_refit},
      {"collide", attempt_collide},   {"collide T2", attempt_real}, {"poses", attempt_poses},
      {"self", attempt_self},         {"scene", attempt_scene},     {"batch", attempt_batch},
      {"relate", attempt_relate},     {"within", attempt_within},   {"round", attempt_round},
      {"OBJ", attempt_obj},           {"STL", attempt_stl},         {"PLY", attempt_ply},
      {"GLB", attempt_glb},           {"parts", attempt_split},     {"lists", attempt_lists},
      {"distance", attempt_distance}, {"hulls", attempt_hulls},     {"cut", attempt_cut},
      {"convex", attempt_convex},     {"points", attempt_points},   {"bounds", attempt_bounds},
      {"depth", attempt_depth},       {"rays", attempt_rays},       {"decompose", attempt_decompose},
      {"corners", attempt_corners},
  };
  bench b = {.memory = {0}};
  uint64_t random = test_seed((uint64_t)threads);
  char folder[] = "/tmp/graze_test_XXXXXX";
  assert_non_null(mkdtemp(folder));
  snprintf(b.path, sizeof b.path, "%s/mesh.grz", folder);
  make_sphere();
  b.context = counted_context(&b.memory, threads);
  graze_mesh_def def = sphere_def(GRAZE_VOLUMES_ALIGNED);
  assert_int_equal(graze_mesh_create(b.context, &def, &b.mesh), GRAZE_OK);
  b.shells = nested_spheres(b.context);
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
    fail_each(&b, attempts[i].name, attempts[i].try, &random);
  graze_mesh_destroy(b.mesh);
  graze_mesh_destroy(b.shells);
  graze_context_destroy(b.context);
  assert_int_equal(b.memory.live_blocks, 0);
  assert_int_equal(b.memory.live_bytes, 0);
  assert_int_equal(b.memory.misaligned, 0);
  unlink(b.path);
  assert_int_equal(rmdir(folder), 0);
}

static void test_one_thread(void **unused) {
  (void)unused;
  run_all(1);
}

static void test_three_threads(void **unused) {
  (void)unused;
  run_all(3);
}

/* A refused request in the middle leaves query and scene usable. */
static void test_try_again(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  make_sphere();
  graze_context *context = counted_context(&memory, 1);
  graze_mesh *mesh = NULL;
  graze_query *query = NULL;
  graze_collide_result result;
  graze_mesh_def def = sphere_def(GRAZE_VOLUMES_ORIENTED);
  graze_pose pose = test_translation(0.3, 0.2, 0.1);
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  for (uint64_t k = 1; k < 50; k++) {
    memory.requests = 0;
    memory.fail_at = k;
    graze_status status = graze_collide_meshes(query, mesh, NULL, mesh, &pose, NULL, &result);
    memory.fail_at = 0;
    assert_true(status == GRAZE_OK || status == GRAZE_ERROR_MEMORY);
  }
  assert_int_equal(graze_collide_meshes(query, mesh, NULL, mesh, &pose, NULL, &result), GRAZE_OK);
  assert_true(result.counts.triangle_pairs > 0);
  graze_query_destroy(query);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
  assert_int_equal(memory.live_blocks, 0);
}

static void test_steady_state(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  make_sphere();
  graze_context *context = counted_context(&memory, 1);
  graze_mesh *mesh = NULL;
  graze_query *query = NULL, *outlines = NULL;
  graze_scene *scene = NULL;
  graze_collide_result result;
  graze_scene_check_result check;
  graze_outline outline;
  graze_self_result self;
  graze_distance_result distance;
  graze_object_id ids[4];
  graze_mesh_def def = sphere_def(GRAZE_VOLUMES_ORIENTED);
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  assert_int_equal(graze_query_create(context, &outlines), GRAZE_OK);
  assert_int_equal(graze_scene_create(context, &scene), GRAZE_OK);
  graze_scene_check_options options = graze_default_scene_check_options();
  options.outlines = true;
  for (int i = 0; i < 4; i++) {
    graze_object_def object = graze_default_object_def();
    object.mesh = mesh;
    object.pose = test_translation(0.3 * i, 0.2, 0.1);
    assert_int_equal(graze_scene_add(scene, &object, &ids[i]), GRAZE_OK);
  }
  const int rounds = test_long() ? 6 : 4, poses = test_long() ? 10 : test_thinned() ? 2 : 3;
  for (int round = 0; round < rounds; round++) {
    if (round == rounds / 2) memory.requests = 0; /* warm from here on */
    for (int i = 0; i < poses; i++) {
      graze_pose pose = test_translation(0.3 + 0.05 * i, 0.2, 0.1);
      assert_int_equal(graze_collide_meshes(query, mesh, NULL, mesh, &pose, NULL, &result), GRAZE_OK);
      assert_int_equal(graze_outline_contact(outlines, mesh, NULL, mesh, &pose, result.pairs,
                                             result.counts.triangle_pairs, &outline),
                       GRAZE_OK);
      assert_int_equal(graze_collide_self(query, mesh, NULL, &self), GRAZE_OK);
      graze_pose apart = test_translation(2.01 + 0.01 * i, 0, 0);
      assert_int_equal(graze_mesh_distance(query, mesh, NULL, mesh, &apart, NULL, &distance), GRAZE_OK);
      assert_int_equal(graze_scene_set_pose(scene, ids[i % 4], &pose), GRAZE_OK);
      assert_int_equal(graze_scene_check(scene, &options, &check), GRAZE_OK);
    }
  }
  assert_int_equal(memory.requests, 0);
  graze_scene_destroy(scene);
  graze_query_destroy(outlines);
  graze_query_destroy(query);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
  assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_thread),
      cmocka_unit_test(test_three_threads),
      cmocka_unit_test(test_try_again),
      cmocka_unit_test(test_steady_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
