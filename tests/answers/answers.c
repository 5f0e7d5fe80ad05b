/* Prints what the library answers to questions that go through every kernel, a hash a line. Two builds of the library,
 * for whatever processors, must print the same (check_answers.sh). Inputs are made of integers and of the scenes, which
 * are the same bytes everywhere. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graze/graze.h"
#include "scenes.h"

static uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static uint64_t random_state = 1;

static uint32_t below(uint32_t limit) {
  return (uint32_t)((mix(random_state++) >> 32) * limit >> 32);
}

static void must(graze_status status, const char *what) {
  if (status == GRAZE_OK) return;
  fprintf(stderr, "%s: %s\n", what, graze_status_string(status));
  exit(2);
}

static void *must_alloc(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory != NULL) return memory;
  fprintf(stderr, "no memory\n");
  exit(2);
}

/* ---- triangles ---- */

/* From a lattice so small that every kind of contact comes often, or of 53 bits at sizes far apart. */
static double coordinate(int kind) {
  if (kind == 0) return below(4);
  if (kind == 1) return (double)below(1 << 20) / 1024 - 512;
  double x = (double)mix(random_state++) * 0x1p-64 - 0.5;
  return below(8) == 0 ? x * 0x1p-300 : x;
}

static void print_triangles(graze_context *context, int kind) {
  enum { N = 20000 };
  double *columns[18];
  const double *a[9], *b[9];
  graze_tritri *results = must_alloc(N, sizeof *results);
  uint64_t batch = 0, alone = 0, real = 0;
  graze_pose turn = {{0.6, -0.8, 0, 0.125, 0.8, 0.6, 0, 3, 0, 0, 1, -1}}, rest = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  for (int k = 0; k < 18; k++) {
    columns[k] = must_alloc(N, sizeof(double));
    *(k < 9 ? &a[k] : &b[k - 9]) = columns[k];
    for (int i = 0; i < N; i++) columns[k][i] = coordinate(kind);
  }
  must(graze_tritri_batch(context, N, a, b, results), "graze_tritri_batch");
  for (int i = 0; i < N; i++) {
    double p[9], q[9];
    graze_tritri one;
    for (int k = 0; k < 9; k++) {
      p[k] = a[k][i];
      q[k] = b[k][i];
    }
    batch = mix(batch ^ (uint64_t)(results[i].kind | results[i].coplanar << 4 | results[i].degenerate << 8));
    must(graze_tritri_test(p, q, &one), "graze_tritri_test");
    alone = mix(alone ^ (uint64_t)(one.kind | one.coplanar << 4 | one.degenerate << 8));
    if (i >= N / 20) continue;
    must(graze_tritri_test_real(p, &turn, q, &rest, &one), "graze_tritri_test_real");
    real = mix(real ^ (uint64_t)(one.kind | one.coplanar << 4 | one.degenerate << 8));
  }
  printf("triangles %d: %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", kind, batch, alone, real);
  for (int k = 0; k < 18; k++) free(columns[k]);
  free(results);
}

/* ---- boxes ---- */

enum { BOXES = 3000, STEPS = 5 };

static uint64_t hash_pairs(const graze_box_pair *pairs, uint64_t count) {
  uint64_t hash = count;
  for (uint64_t i = 0; i < count; i++) hash = mix(hash ^ ((uint64_t)pairs[i].a << 32 | pairs[i].b));
  return hash;
}

static void make_box(graze_box *box, bool mixed) {
  double edge = mixed ? (double)(1u << below(10)) : 16;
  for (int k = 0; k < 3; k++) {
    box->min[k] = (double)below(400) / (mixed ? 0.5 : 2) - 100 + (mixed ? 0x1p-40 * below(3) : 0);
    box->max[k] = box->min[k] + edge;
  }
}

static void print_boxes(graze_context *context, graze_broad_method method, bool mixed) {
  static graze_box boxes[BOXES];
  static graze_proxy_id ids[BOXES];
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *bp = NULL;
  const graze_box_pair *pairs;
  uint64_t count;
  random_state = 7;
  for (int i = 0; i < BOXES; i++) make_box(&boxes[i], mixed);
  graze_box_array array = {.data = boxes, .precision = GRAZE_DOUBLE};
  def.method = method;
  must(graze_broadphase_create(context, &def, &bp), "graze_broadphase_create");
  must(graze_broadphase_find(bp, &array, BOXES, false, &pairs, &count), "graze_broadphase_find");
  uint64_t found = hash_pairs(pairs, count), events = 0;
  must(graze_broadphase_add(bp, &array, BOXES, NULL, NULL, ids), "graze_broadphase_add");
  for (int step = 0; step < STEPS; step++) {
    graze_broad_events e;
    for (int i = step; step > 0 && i < BOXES; i += step == 4 ? 1 : 50) {
      make_box(&boxes[i], mixed);
      must(graze_broadphase_move(bp, &ids[i], &(graze_box_array){.data = &boxes[i], .precision = GRAZE_DOUBLE}, 1),
           "graze_broadphase_move");
    }
    must(graze_broadphase_update(bp, &e), "graze_broadphase_update");
    events = mix(events ^ hash_pairs(e.began, e.began_count)) + hash_pairs(e.persist, e.persist_count);
    events = mix(events ^ hash_pairs(e.ended, e.ended_count));
  }
  printf("boxes %s %s: %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", mixed ? "mixed" : "alike",
         graze_broad_method_describe(method)->name, count, found, events);
  graze_broadphase_destroy(bp);
}

/* ---- meshes ---- */

static graze_mesh *bake(graze_context *context, const scenes_mesh *from, bool floats) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh = NULL;
  float *coordinates = NULL;
  def.vertices = from->vertices;
  def.precision = GRAZE_DOUBLE;
  def.vertex_count = from->vertex_count;
  def.indices = from->indices;
  def.triangle_count = from->triangle_count;
  if (floats) {
    coordinates = must_alloc(3 * from->vertex_count, sizeof *coordinates);
    for (uint64_t i = 0; i < 3 * from->vertex_count; i++) coordinates[i] = (float)from->vertices[i];
    def.vertices = coordinates;
    def.precision = GRAZE_FLOAT;
  }
  must(graze_mesh_create(context, &def, &mesh), "graze_mesh_create");
  free(coordinates);
  return mesh;
}

static void print_mesh(graze_query *query, const graze_mesh *mesh, const char *scene, const char *name) {
  graze_mesh_facts facts;
  graze_self_result self;
  uint64_t block = 0;
  size_t size;
  const unsigned char *bytes = graze_mesh_block(mesh, &size);
  graze_mesh_get_facts(mesh, &facts);
  for (size_t i = 0; i < size; i++) block = mix(block ^ bytes[i]);
  must(graze_collide_self(query, mesh, NULL, &self), "graze_collide_self");
  printf("mesh %s %s: %" PRIu64 " %016" PRIx64 " block %016" PRIx64 " self %" PRIu64 " %016" PRIx64 "\n", scene, name,
         facts.triangles, facts.hash, block, self.self_pairs, self.hash);
}

static void print_scene(graze_context *context, const char *name, uint32_t size, bool floats) {
  const scenes_kind *kind = scenes_find_kind(name);
  scenes_request request = scenes_default_request(kind);
  scenes_scene scene;
  const char *reason;
  graze_query *query = NULL;
  request.size = size;
  if (!scenes_make(kind, &request, &scene, &reason)) {
    fprintf(stderr, "%s: %s\n", name, reason);
    exit(2);
  }
  graze_mesh **meshes = must_alloc(scene.mesh_count, sizeof(graze_mesh *));
  must(graze_query_create(context, &query), "graze_query_create");
  for (uint32_t i = 0; i < scene.mesh_count; i++) {
    meshes[i] = bake(context, &scene.meshes[i], floats);
    print_mesh(query, meshes[i], name, scene.meshes[i].name);
  }
  uint64_t all = 0, met = 0;
  for (uint32_t i = 0; i < scene.object_count; i++) {
    for (uint32_t j = i + 1; j < scene.object_count; j++) {
      const scenes_object *a = &scene.objects[i], *b = &scene.objects[j];
      graze_pose p, q;
      graze_relate_result r;
      memcpy(p.m, a->pose, sizeof p.m);
      memcpy(q.m, b->pose, sizeof q.m);
      must(graze_relate_meshes(query, meshes[a->mesh], &p, meshes[b->mesh], &q, NULL, &r), "graze_relate_meshes");
      met += r.counts.triangle_pairs;
      all = mix(all ^ r.counts.hash) + (uint64_t)r.verdict.relation + r.work.node_pairs + r.work.triangle_tests;
    }
  }
  printf("scene %s %s: %" PRIu64 " %016" PRIx64 "\n", name, floats ? "floats" : "doubles", met, all);
  graze_query_destroy(query);
  for (uint32_t i = 0; i < scene.mesh_count; i++) graze_mesh_destroy(meshes[i]);
  free(meshes);
  scenes_free(&scene);
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

/* Balls of one size or of many, under a law that grows with `kind`: none, dashpot, spring, spring and rolling on every
 * kind of wall, full; the last ones with periods. Restitution would ask the machine's logarithm. */
static void add_material(graze_world *world, int kind) {
  graze_material m = graze_default_material();
  uint32_t number;
  m.k_n = 1e5;
  m.gamma_n = 100;
  m.tangential = kind == 4 ? GRAZE_TANGENTIAL_FULL : kind >= 2 ? GRAZE_TANGENTIAL_SPRING : (graze_tangential_law)kind;
  m.friction = 0.5;
  if (kind == 3) m.rolling = m.spinning = 0.25;
  if (kind == 5) m.law = GRAZE_HERTZ, m.k_n = (double)NAN, m.young = 1e6, m.poisson = 0.25;
  must(graze_world_add_material(world, "a", &m, &number), "graze_world_add_material");
}

static void print_world(graze_context *context, int kind) {
  enum { BALLS = 300 };
  static double positions[3 * BALLS], velocities[3 * BALLS], radii[BALLS];
  graze_world_def def = graze_default_world_def();
  graze_particle_def balls = graze_default_particle_def();
  graze_world_sums sums;
  graze_world *world;
  uint32_t set;
  for (int i = 0; i < BALLS; i++) {
    radii[i] = kind % 2 == 0 ? 0.5 : 0.25 + below(256) / 1024.0;
    for (int k = 0; k < 3; k++) velocities[3 * i + k] = below(1024) / 256.0 - 2;
    positions[3 * i] = 0.75 + i % 7 + below(64) / 512.0;
    positions[3 * i + 1] = 0.75 + i / 7 % 7 + below(64) / 512.0;
    positions[3 * i + 2] = 0.75 + i / 49 + below(64) / 512.0;
  }
  def.integrator = kind == 1 ? GRAZE_EULER : GRAZE_LEAPFROG;
  def.bounds = (graze_box){{0, 0, -1}, {8, 8, 16}};
  def.periodic[0] = kind >= 3;
  must(graze_world_create(context, &def, &world), "graze_world_create");
  add_material(world, kind);
  balls.name = "balls";
  balls.count = BALLS;
  balls.positions = positions;
  balls.velocities = velocities;
  balls.radii = radii;
  balls.mass = 1;
  must(graze_world_add_particles(world, &balls, &set), "graze_world_add_particles");
  must(graze_world_add_wall(world, (double[3]){0, 0, 0}, (double[3]){0, 0, 1}, 0), "graze_world_add_wall");
  must(graze_world_add_wall(world, (double[3]){0, 8, 0}, (double[3]){0, -1, 0.25}, 0), "graze_world_add_wall");
  for (int run = 0; run < 4; run++) {
    must(graze_world_step(world, 0x1p-13, 400, NULL, NULL), "graze_world_step");
    must(graze_world_get_sums(world, &sums), "graze_world_get_sums");
    printf("world %d: %" PRIu64 " %016" PRIx64 "\n", kind, sums.contacts, graze_world_get_hash(world));
  }
  graze_world_destroy(world);
}

int main(void) {
  graze_context_def def = graze_default_context_def();
  graze_context *context = NULL;
  def.threads = 1;
  must(graze_context_create(&def, &context), "graze_context_create");
  fprintf(stderr, "instruction set: %s\n", graze_instruction_set());
  for (int kind = 0; kind < 3; kind++) print_triangles(context, kind);
  for (graze_broad_method m = GRAZE_BROAD_AUTO + 1; m < GRAZE_BROAD_METHODS; m++) {
    print_boxes(context, m, false);
    print_boxes(context, m, true);
  }
  for (int floats = 0; floats < 2; floats++) {
    print_scene(context, "walls", 4, floats != 0);
    print_scene(context, "pipes", 3, floats != 0);
    print_scene(context, "nested", 6, floats != 0);
    print_scene(context, "forklifts", 1, floats != 0);
    print_scene(context, "explosion", 1, floats != 0);
  }
  for (int kind = 0; kind < 6; kind++) print_world(context, kind);
  graze_context_destroy(context);
  return 0;
}
