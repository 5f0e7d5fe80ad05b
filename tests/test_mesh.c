/* Baking meshes: what is stored, what is found out about it, what is refused, and the block as bytes. Facts are
 * compared with a plain O(n^2) count. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

enum { max_vertices = 40, max_triangles = 60 };
enum { room_vertices = 82, room_triangles = 80 }; /* of all models, those that are not random included */

typedef struct model { /* an indexed mesh as the caller has it */
  uint32_t vertex_count, triangle_count;
  double vertices[room_vertices][3];
  uint32_t indices[room_triangles][3];
} model;

static void make_model(uint64_t *state, model *m) {
  uint32_t side = 2 + random_below(state, 4);
  m->vertex_count = 3 + random_below(state, max_vertices - 2);
  m->triangle_count = 1 + random_below(state, max_triangles);
  for (uint32_t i = 0; i < m->vertex_count; i++) {
    for (int k = 0; k < 3; k++)
      m->vertices[i][k] = (double)random_below(state, side) * (random_below(state, 2) ? 1 : -0.5);
  }
  for (uint32_t i = 0; i < max_triangles; i++) { /* all, so that a test may change the count */
    for (int k = 0; k < 3; k++) m->indices[i][k] = random_below(state, m->vertex_count);
  }
}

static graze_mesh_def def_of(const model *m) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = m->vertices;
  def.vertex_count = m->vertex_count;
  def.indices = m->indices[0];
  def.triangle_count = m->triangle_count;
  def.precision = GRAZE_DOUBLE;
  return def;
}

static graze_mesh *bake(graze_context *context, const graze_mesh_def *def) {
  graze_mesh *mesh = NULL;
  assert_int_equal(graze_mesh_create(context, def, &mesh), GRAZE_OK);
  return mesh;
}

static void corners_of(const model *m, uint32_t t, double corners[9]) {
  for (int c = 0; c < 3; c++) memcpy(corners + 3 * c, m->vertices[m->indices[t][c]], 3 * sizeof *corners);
}

/* ---- facts by plain counting ------------------------------------------------------------------------------------- */

static bool same_position(const double *p, const double *q) {
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static bool is_degenerate(const model *m, uint32_t t) {
  double c[9];
  graze_tritri result;
  corners_of(m, t, c);
  oracle_tritri(c, c, &result);
  return result.degenerate != 0;
}

static uint32_t position_of(const model *m, uint32_t vertex) { /* the first vertex at the same place */
  for (uint32_t i = 0;; i++) {
    if (same_position(m->vertices[i], m->vertices[vertex])) return i;
  }
}

typedef struct edge_use {
  uint32_t from, to, triangle, corner;
} edge_use;

typedef struct plain_facts {
  uint64_t positions, degenerate, parts, open, nonmanifold, misoriented;
  uint32_t neighbours[room_triangles][3];
} plain_facts;

static uint32_t list_edges(const model *m, edge_use *uses) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < m->triangle_count; t++) {
    if (is_degenerate(m, t)) continue;
    for (uint32_t c = 0; c < 3; c++) {
      uses[count++] = (edge_use){position_of(m, m->indices[t][c]), position_of(m, m->indices[t][(c + 1) % 3]), t, c};
    }
  }
  return count;
}

static void count_edges(const model *m, plain_facts *facts) {
  static edge_use uses[3 * room_triangles];
  uint32_t count = list_edges(m, uses);
  memset(facts->neighbours, 0xFF, sizeof facts->neighbours);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t total = 1, earlier = 0, other = i;
    for (uint32_t j = 0; j < count; j++) {
      bool along = uses[i].from == uses[j].from && uses[i].to == uses[j].to;
      bool against = uses[i].from == uses[j].to && uses[i].to == uses[j].from;
      if (i == j || !(along || against)) continue;
      total++;
      earlier += j < i;
      other = j;
    }
    if (total == 2) facts->neighbours[uses[i].triangle][uses[i].corner] = uses[other].triangle;
    if (earlier) continue; /* count every edge once */
    facts->open += total == 1;
    facts->nonmanifold += total > 2;
    facts->misoriented += total == 2 && uses[i].from == uses[other].from;
  }
}

static void count_parts(const model *m, plain_facts *facts) {
  uint32_t part[room_vertices];
  for (uint32_t v = 0; v < m->vertex_count; v++) part[v] = position_of(m, v);
  for (bool changed = true; changed;) { /* spread the lowest number */
    changed = false;
    for (uint32_t t = 0; t < m->triangle_count; t++) {
      for (int c = 0; c < 9; c++) {
        uint32_t *p = &part[position_of(m, m->indices[t][c / 3])], *q = &part[position_of(m, m->indices[t][c % 3])];
        if (*p < *q) {
          *q = *p;
          changed = true;
        }
      }
    }
  }
  bool used[room_vertices] = {false}, root[room_vertices] = {false};
  for (uint32_t t = 0; t < m->triangle_count; t++) {
    for (int c = 0; c < 3; c++) {
      uint32_t p = position_of(m, m->indices[t][c]);
      used[p] = true;
      root[part[p]] = true;
    }
  }
  for (uint32_t v = 0; v < m->vertex_count; v++) {
    facts->positions += used[v];
    facts->parts += root[v];
  }
}

static void check_facts(const graze_mesh *mesh, const model *m) {
  plain_facts want = {0};
  graze_mesh_facts got;
  for (uint32_t t = 0; t < m->triangle_count; t++) {
    want.degenerate += is_degenerate(m, t);
    assert_int_equal(graze_mesh_is_degenerate(mesh, t), is_degenerate(m, t));
  }
  count_edges(m, &want);
  count_parts(m, &want);
  graze_mesh_get_facts(mesh, &got);
  assert_int_equal(got.vertices, m->vertex_count);
  assert_int_equal(got.triangles, m->triangle_count);
  assert_int_equal(got.degenerate, want.degenerate);
  assert_true(got.adjacency);
  assert_int_equal(got.positions, want.positions);
  assert_int_equal(got.parts, want.parts);
  assert_int_equal(got.open_edges, want.open);
  assert_int_equal(got.nonmanifold_edges, want.nonmanifold);
  assert_int_equal(got.misoriented_edges, want.misoriented);
  if (want.degenerate < m->triangle_count) assert_int_equal(got.closed, want.open == 0 && want.nonmanifold == 0);
  assert_int_equal(got.oriented, want.misoriented == 0 && want.nonmanifold == 0);
  for (uint32_t t = 0; t < m->triangle_count; t++) {
    uint32_t neighbours[3];
    graze_mesh_get_neighbours(mesh, t, neighbours);
    assert_memory_equal(neighbours, want.neighbours[t], sizeof neighbours);
  }
}

static void check_box(const graze_mesh *mesh, const model *m) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < 3 * m->triangle_count; i++) {
      low = fmin(low, m->vertices[m->indices[i / 3][i % 3]][k]);
      high = fmax(high, m->vertices[m->indices[i / 3][i % 3]][k]);
    }
    assert_true(facts.box.min[k] == low && facts.box.max[k] == high);
  }
}

static void test_facts(void **unused) {
  (void)unused;
  graze_context *context = test_context(2, NULL);
  uint64_t state = 1;
  for (int i = 0; i < (test_long() ? 20000 : 600); i++) {
    model m;
    make_model(&state, &m);
    graze_mesh_def def = def_of(&m);
    def.volumes = i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED;
    graze_mesh *mesh = bake(context, &def);
    check_facts(mesh, &m);
    check_box(mesh, &m);
    graze_mesh_destroy(mesh);
  }
  graze_context_destroy(context);
}

/* A fan around vertex 0, of `count` triangles, some of them turned over, again there, or flat. */
static void make_fan(uint64_t *state, uint32_t count, model *m) {
  m->vertex_count = count + 2;
  m->triangle_count = count;
  for (uint32_t i = 0; i < m->vertex_count; i++) {
    m->vertices[i][0] = i == 0 ? 0 : 1 + 0.25 * i;
    m->vertices[i][1] = (double)i * i;
    m->vertices[i][2] = random_signed(state);
  }
  for (uint32_t t = 0; t < count; t++) {
    uint32_t like = random_below(state, 8) == 0 ? random_below(state, t + 1) : t;
    bool turned = random_below(state, 8) == 0, flat = random_below(state, 16) == 0;
    m->indices[t][t % 3] = 0;
    m->indices[t][(t + 1) % 3] = like + (turned ? 2 : 1);
    m->indices[t][(t + 2) % 3] = flat ? 0 : like + (turned ? 1 : 2);
  }
}

/* How many triangles have a vertex decides how the edges at it are found. */
static void test_fans(void **unused) {
  (void)unused;
  graze_context *context = test_context(2, NULL);
  uint64_t state = 11;
  for (uint32_t count = 1; count <= room_triangles; count++) {
    model m;
    make_fan(&state, count, &m);
    graze_mesh_def def = def_of(&m);
    graze_mesh *mesh = bake(context, &def);
    check_facts(mesh, &m);
    graze_mesh_destroy(mesh);
  }
  graze_context_destroy(context);
}

static void test_closed_meshes(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  double box[108], *ball = malloc(9 * 8 * 100 * sizeof *ball);
  graze_mesh_facts facts;
  soup_box((double[3]){0, 0, 0}, (double[3]){1, 2, 3}, box);
  graze_mesh *mesh = test_mesh(context, box, 12, GRAZE_VOLUMES_ORIENTED);
  graze_mesh_get_facts(mesh, &facts);
  assert_true(facts.closed && facts.oriented && facts.parts == 1 && facts.positions == 8 && facts.vertices == 36);
  graze_mesh_destroy(mesh);
  uint32_t count = soup_ball(10, 1, ball);
  assert_int_equal(count, 800);
  mesh = test_mesh(context, ball, count, GRAZE_VOLUMES_ORIENTED);
  graze_mesh_get_facts(mesh, &facts);
  assert_true(facts.closed && facts.oriented && facts.parts == 1);
  assert_int_equal(facts.positions, 402);
  graze_mesh_destroy(mesh);
  mesh = test_mesh(context, ball, count - 1, GRAZE_VOLUMES_ORIENTED);
  graze_mesh_get_facts(mesh, &facts);
  assert_true(!facts.closed && facts.oriented && facts.open_edges == 3);
  graze_mesh_destroy(mesh);
  free(ball);
  graze_context_destroy(context);
}

/* ---- storage ----------------------------------------------------------------------------------------------------- */

static void test_layouts(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  uint64_t state = 2;
  for (int round = 0; round < 200; round++) {
    model m;
    make_model(&state, &m);
    for (uint32_t i = 0; i < m.vertex_count; i++) {
      for (int k = 0; k < 3; k++) {
        volatile float value = (float)(100 * random_signed(&state));
        m.vertices[i][k] = round & 1 ? value : 100 * random_signed(&state);
      }
    }
    struct {
      float before;
      float at[3];
      char after[5];
    } floats[max_vertices];
    struct {
      double at[3];
      double after;
    } doubles[max_vertices];
    memset(floats, 0xFF, sizeof floats);
    for (uint32_t i = 0; i < m.vertex_count; i++) {
      for (int k = 0; k < 3; k++) floats[i].at[k] = (float)m.vertices[i][k];
      memcpy(doubles[i].at, m.vertices[i], sizeof doubles[i].at);
      doubles[i].after = NAN; /* must not be read */
    }
    graze_mesh_def def = def_of(&m);
    if (round & 1) {
      def.vertices = floats[0].at;
      def.vertex_stride = sizeof floats[0];
      def.precision = GRAZE_FLOAT;
    } else if (round & 2) {
      def.vertices = doubles[0].at;
      def.vertex_stride = sizeof doubles[0];
    }
    graze_mesh *mesh = bake(context, &def);
    for (uint32_t t = 0; t < m.triangle_count; t++) {
      double want[9], got[9];
      uint32_t indices[3];
      corners_of(&m, t, want);
      graze_mesh_get_triangle(mesh, t, got);
      graze_mesh_get_indices(mesh, t, indices);
      assert_memory_equal(got, want, sizeof got);
      assert_memory_equal(indices, m.indices[t], sizeof indices);
    }
    check_box(mesh, &m);
    graze_mesh_destroy(mesh);
  }
  graze_context_destroy(context);
}

/* Measuring gives the facts of baking, with and without neighbours, and no block. */
static void check_measure(graze_context *context, graze_mesh_def def, graze_mesh_facts baked) {
  graze_mesh_facts measured;
  memset(&measured, 0xff, sizeof measured);
  assert_int_equal(graze_mesh_measure(context, &def, &measured), GRAZE_OK);
  assert_int_equal(measured.bytes, 0);
  assert_int_equal(measured.positions, baked.positions);
  assert_int_equal(measured.parts, baked.parts);
  assert_int_equal(measured.open_edges, baked.open_edges);
  assert_int_equal(measured.closed, baked.closed);
  assert_int_equal(measured.oriented, baked.oriented);
  for (int round = 0; round < 2; round++) {
    assert_true(measured.hash == baked.hash);
    assert_int_equal(measured.vertices, baked.vertices);
    assert_int_equal(measured.triangles, baked.triangles);
    assert_int_equal(measured.degenerate, baked.degenerate);
    assert_int_equal(measured.precision, baked.precision);
    assert_memory_equal(&measured.box, &baked.box, sizeof baked.box);
    def.no_adjacency = true;
    assert_int_equal(graze_mesh_measure(context, &def, &measured), GRAZE_OK);
  }
  assert_false(measured.adjacency);
}

/* The hash without a mesh is the one that the mesh has. */
static void test_hash_alone(void **unused) {
  (void)unused;
  test_log log = {0};
  graze_context *context = test_context(1, &log);
  uint64_t state = 5, hash = 7;
  model m;
  for (int round = 0; round < 40; round++) {
    float soup[max_triangles][9];
    graze_mesh_facts facts;
    make_model(&state, &m);
    graze_mesh_def def = def_of(&m);
    if (round % 2 == 1) {
      for (uint32_t t = 0; t < m.triangle_count; t++) {
        for (int i = 0; i < 9; i++) soup[t][i] = (float)m.vertices[m.indices[t][i / 3]][i % 3];
      }
      def.vertices = soup;
      def.vertex_count = 3 * (uint64_t)m.triangle_count;
      def.indices = NULL;
      def.triangle_count = 0;
      def.precision = GRAZE_FLOAT;
    }
    graze_mesh *mesh = bake(context, &def);
    graze_mesh_get_facts(mesh, &facts);
    assert_int_equal(graze_mesh_hash(context, &def, &hash), GRAZE_OK);
    assert_true(hash == facts.hash);
    check_measure(context, def, facts);
    graze_mesh_destroy(mesh);
  }
  m.indices[0][1] = m.vertex_count;
  graze_mesh_def def = def_of(&m);
  graze_mesh_facts measured;
  assert_int_equal(graze_mesh_measure(context, &def, &measured), GRAZE_ERROR_INDEX);
  assert_int_equal(graze_mesh_measure(context, &def, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_hash(context, &def, &hash), GRAZE_ERROR_INDEX);
  assert_non_null(strstr(log.last, "triangle 0, corner 1"));
  assert_int_equal(graze_mesh_hash(context, NULL, &hash), GRAZE_ERROR_ARGUMENT);
  graze_context_destroy(context);
}

static void test_hash(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  uint64_t state = 3;
  model m;
  make_model(&state, &m);
  m.triangle_count = 20;
  for (int i = 0; i < 3; i++) m.indices[0][i] = (uint32_t)i;
  m.indices[1][0] = m.indices[0][1];
  graze_mesh_def def = def_of(&m);
  graze_mesh_facts first, other;
  graze_mesh *mesh = bake(context, &def);
  graze_mesh_get_facts(mesh, &first);
  assert_int_equal(first.precision, GRAZE_DOUBLE);
  size_t size = 0;
  assert_non_null(graze_mesh_block(mesh, &size));
  assert_int_equal(size, first.bytes);
  graze_mesh_destroy(mesh);
  def.volumes = GRAZE_VOLUMES_ALIGNED;
  def.no_adjacency = true;
  mesh = bake(context, &def);
  graze_mesh_get_facts(mesh, &other);
  assert_true(first.hash == other.hash);
  assert_false(other.adjacency);
  assert_int_equal(other.degenerate, first.degenerate);
  assert_int_equal(other.volumes, GRAZE_VOLUMES_ALIGNED);
  uint32_t neighbours[3];
  graze_mesh_get_neighbours(mesh, 0, neighbours);
  assert_true(neighbours[0] == UINT32_MAX && neighbours[1] == UINT32_MAX && neighbours[2] == UINT32_MAX);
  graze_mesh_destroy(mesh);
  m.vertices[2][1] = nextafter(m.vertices[2][1], 10); /* an ulp in one coordinate */
  mesh = bake(context, &def);
  graze_mesh_get_facts(mesh, &other);
  assert_true(first.hash != other.hash);
  graze_mesh_destroy(mesh);
  m.vertices[2][1] = nextafter(m.vertices[2][1], -10);
  uint32_t swap = m.indices[0][0];
  m.indices[0][0] = m.indices[0][1];
  m.indices[0][1] = swap;
  mesh = bake(context, &def);
  graze_mesh_get_facts(mesh, &other);
  assert_true(first.hash != other.hash);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
}

/* Baking depends on nothing but the input: the same bytes for any number of threads. */
static void test_same_block(void **unused) {
  (void)unused;
  enum { level = 60 };
  double *ball = malloc(9 * 8 * level * level * sizeof *ball);
  uint32_t count = soup_ball(level, 1, ball);
  for (int volumes = 0; volumes < 2; volumes++) {
    void *first = NULL;
    size_t first_size = 0, size;
    for (int threads = 1; threads <= 4; threads++) {
      graze_context *context = test_context(threads, NULL);
      graze_mesh *mesh = test_mesh(context, ball, count, (graze_volumes)volumes);
      const void *block = graze_mesh_block(mesh, &size);
      if (!first) {
        first = malloc(size);
        first_size = size;
        memcpy(first, block, size);
      }
      assert_int_equal(size, first_size);
      assert_true(memcmp(first, block, size) == 0);
      graze_mesh_destroy(mesh);
      graze_context_destroy(context);
    }
    free(first);
  }
  free(ball);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void refuse(graze_context *context, const graze_mesh_def *def, graze_status status, const test_log *log,
                   const char *word, uint64_t number) {
  graze_mesh *mesh = (graze_mesh *)1;
  char text[32];
  assert_int_equal(graze_mesh_create(context, def, &mesh), status);
  assert_ptr_equal(mesh, (graze_mesh *)1);
  snprintf(text, sizeof text, "%s %llu", word, (unsigned long long)number);
  const char *found = strstr(log->last, text);
  if (!found || (found[strlen(text)] >= '0' && found[strlen(text)] <= '9')) {
    fail_msg("\"%s\" does not say \"%s\"", log->last, text);
  }
}

static void test_not_finite(void **unused) {
  (void)unused;
  test_log log;
  graze_context *context = test_context(2, &log);
  uint64_t state = 4;
  for (int i = 0; i < 300; i++) {
    model m;
    make_model(&state, &m);
    uint32_t bad = random_below(&state, m.vertex_count);
    m.vertices[bad][random_below(&state, 3)] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    if (i & 1) m.triangle_count = 0; /* also when no triangle uses it */
    graze_mesh_def def = def_of(&m);
    refuse(context, &def, GRAZE_ERROR_NOT_FINITE, &log, "vertex", bad);
    float floats[max_vertices][3];
    for (uint32_t v = 0; v < m.vertex_count; v++) {
      for (int k = 0; k < 3; k++) floats[v][k] = (float)m.vertices[v][k];
    }
    def.vertices = floats;
    def.precision = GRAZE_FLOAT;
    refuse(context, &def, GRAZE_ERROR_NOT_FINITE, &log, "vertex", bad);
  }
  graze_context_destroy(context);
}

static void test_bad_index(void **unused) {
  (void)unused;
  test_log log;
  graze_context *context = test_context(2, &log);
  uint64_t state = 5;
  for (int i = 0; i < 300; i++) {
    model m;
    make_model(&state, &m);
    uint32_t bad = random_below(&state, m.triangle_count);
    m.indices[bad][random_below(&state, 3)] = i & 1 ? m.vertex_count : UINT32_MAX;
    graze_mesh_def def = def_of(&m);
    refuse(context, &def, GRAZE_ERROR_INDEX, &log, "triangle", bad);
    assert_non_null(strstr(log.last, "corner"));
  }
  graze_context_destroy(context);
}

static void test_bad_arguments(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  uint64_t state = 6;
  model m;
  make_model(&state, &m);
  graze_mesh *mesh = (graze_mesh *)1;
  graze_mesh_def good = def_of(&m), def;
  assert_int_equal(graze_mesh_create(NULL, &good, &mesh), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_create(context, NULL, &mesh), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_create(context, &good, NULL), GRAZE_ERROR_ARGUMENT);
  def = good;
  def.cookie = 0;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_ERROR_ARGUMENT);
  def = good;
  def.vertices = NULL;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_ERROR_ARGUMENT);
  def = good;
  def.precision = (graze_precision)7;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_ERROR_ARGUMENT);
  def = good;
  def.volumes = (graze_volumes)7;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_ERROR_ARGUMENT);
  def = good;
  def.vertex_count = (uint64_t)1 << 33;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_ERROR_LIMIT);
  def = good;
  def.triangle_count = (uint64_t)1 << 33;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_ERROR_LIMIT);
  def = good;
  def.indices = NULL;
  def.triangle_count = m.vertex_count / 3 + 1; /* a soup with too few vertices */
  assert_int_not_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  assert_ptr_equal(mesh, (graze_mesh *)1);
  graze_mesh_destroy(NULL);
  graze_context_destroy(context);
}

/* ---- the block --------------------------------------------------------------------------------------------------- */

static graze_mesh *small_mesh(graze_context *context, int volumes) {
  uint64_t state = 40 + (uint64_t)volumes;
  model m;
  make_model(&state, &m);
  m.triangle_count = 12;
  graze_mesh_def def = def_of(&m);
  def.volumes = (graze_volumes)volumes;
  return bake(context, &def);
}

static void check_same_mesh(const graze_mesh *a, const graze_mesh *b) {
  graze_mesh_facts fa, fb;
  size_t size_a, size_b;
  memset(&fa, 0, sizeof fa);
  memset(&fb, 0, sizeof fb);
  graze_mesh_get_facts(a, &fa);
  graze_mesh_get_facts(b, &fb);
  const void *block_a = graze_mesh_block(a, &size_a), *block_b = graze_mesh_block(b, &size_b);
  assert_int_equal(size_a, size_b);
  assert_memory_equal(block_a, block_b, size_a);
  assert_true(fa.hash == fb.hash && fa.positions == fb.positions && fa.degenerate == fb.degenerate);
  assert_int_equal(fa.closed, fb.closed);
  for (uint32_t t = 0; t < graze_mesh_triangle_count(a); t++) {
    double ca[9], cb[9];
    graze_mesh_get_triangle(a, t, ca);
    graze_mesh_get_triangle(b, t, cb);
    assert_memory_equal(ca, cb, sizeof ca);
  }
}

static void test_block_round_trip(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL), *elsewhere = test_context(2, NULL);
  for (int volumes = 0; volumes < 2; volumes++) {
    graze_mesh *mesh = small_mesh(context, volumes), *copy = NULL;
    size_t size;
    const void *block = graze_mesh_block(mesh, &size);
    char *moved = malloc(size + 1); /* at an odd address: blocks come out of files and packets */
    memcpy(moved + 1, block, size);
    assert_int_equal(graze_mesh_from_block(elsewhere, moved + 1, size, &copy), GRAZE_OK);
    memset(moved, 0xCC, size + 1); /* it was copied */
    free(moved);
    check_same_mesh(mesh, copy);
    graze_mesh_destroy(copy);
    graze_mesh_destroy(mesh);
  }
  graze_mesh *empty = test_mesh(context, NULL, 0, GRAZE_VOLUMES_ORIENTED), *copy = NULL;
  size_t size;
  const void *block = graze_mesh_block(empty, &size);
  assert_int_equal(graze_mesh_from_block(context, block, size, &copy), GRAZE_OK);
  graze_mesh_destroy(copy);
  graze_mesh_destroy(empty);
  graze_context_destroy(elsewhere);
  graze_context_destroy(context);
}

static void test_block_damage(void **unused) {
  (void)unused;
  test_log log;
  graze_context *context = test_context(1, &log);
  graze_mesh *mesh = small_mesh(context, 0), *made = (graze_mesh *)1;
  size_t size;
  const void *block = graze_mesh_block(mesh, &size);
  unsigned char *bytes = malloc(size + 8);
  for (size_t i = 0; i < size; i++) {
    static const unsigned char flips[] = {0x01, 0x80, 0xFF};
    for (int f = 0; f < 3; f++) {
      memcpy(bytes, block, size);
      bytes[i] ^= flips[f];
      log.errors = 0;
      graze_status status = graze_mesh_from_block(context, bytes, size, &made);
      if (status != GRAZE_ERROR_FORMAT) fail_msg("byte %zu ^ %02x: %s", i, flips[f], graze_status_string(status));
      assert_int_equal(log.errors, 1);
    }
  }
  memcpy(bytes, block, size);
  memset(bytes + size, 0, 8);
  for (size_t cut = 0; cut < size; cut++) {
    assert_int_equal(graze_mesh_from_block(context, bytes, cut, &made), GRAZE_ERROR_FORMAT);
  }
  assert_int_equal(graze_mesh_from_block(context, bytes, size + 8, &made), GRAZE_ERROR_FORMAT);
  memset(bytes, 0, size);
  assert_int_equal(graze_mesh_from_block(context, bytes, size, &made), GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_mesh_from_block(context, NULL, size, &made), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_from_block(NULL, block, size, &made), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_from_block(context, block, size, NULL), GRAZE_ERROR_ARGUMENT);
  assert_ptr_equal(made, (graze_mesh *)1);
  free(bytes);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
}

static void write_bytes(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void test_save_and_load(void **unused) {
  (void)unused;
  test_log log;
  graze_context *context = test_context(1, &log);
  char folder[] = "/tmp/graze_test_XXXXXX", path[64], bad[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/mesh.grz", folder);
  snprintf(bad, sizeof bad, "%s/none/mesh.grz", folder);
  for (int volumes = 0; volumes < 2; volumes++) {
    graze_mesh *mesh = small_mesh(context, volumes), *loaded = NULL;
    size_t size;
    const void *block = graze_mesh_block(mesh, &size);
    assert_int_equal(graze_mesh_save(context, mesh, path), GRAZE_OK); /* the second time over the first */
    assert_int_equal(graze_mesh_load(context, path, &loaded), GRAZE_OK);
    assert_int_equal(truncate(path, 0), 0); /* what is loaded does not depend on the file any more */
    check_same_mesh(mesh, loaded);
    graze_mesh_destroy(loaded);
    loaded = (graze_mesh *)1;
    write_bytes(path, block, size - 1);
    assert_int_equal(graze_mesh_load(context, path, &loaded), GRAZE_ERROR_FORMAT);
    write_bytes(path, block, 0);
    assert_int_equal(graze_mesh_load(context, path, &loaded), GRAZE_ERROR_FORMAT);
    write_bytes(path, "solid\nendsolid\n", 15);
    assert_int_equal(graze_mesh_load(context, path, &loaded), GRAZE_ERROR_FORMAT);
    assert_int_equal(graze_mesh_load(context, bad, &loaded), GRAZE_ERROR_FILE);
    assert_non_null(strstr(log.last, "none/mesh.grz"));
    assert_int_equal(graze_mesh_load(context, folder, &loaded), GRAZE_ERROR_FILE); /* a folder */
    assert_int_equal(graze_mesh_save(context, mesh, bad), GRAZE_ERROR_FILE);
    assert_ptr_equal(loaded, (graze_mesh *)1);
    graze_mesh_destroy(mesh);
  }
  unlink(path);
  assert_int_equal(rmdir(folder), 0); /* no temporary file stays behind */
  graze_context_destroy(context);
}

static void test_full_disk(void **unused) {
  (void)unused;
  if (access("/dev/full", W_OK) != 0) skip();
  graze_context *context = test_context(1, NULL);
  graze_mesh *mesh = small_mesh(context, 0);
  assert_int_equal(graze_mesh_save(context, mesh, "/dev/full/mesh"), GRAZE_ERROR_FILE);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
}

/* ---- refit ------------------------------------------------------------------------------------------------------- */

static uint64_t self_hash(graze_context *context, const graze_mesh *mesh) {
  graze_query *query = NULL;
  graze_self_result result;
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  assert_int_equal(graze_collide_self(query, mesh, NULL, &result), GRAZE_OK);
  graze_query_destroy(query);
  return result.hash + result.degenerate_pairs;
}

static void test_refit(void **unused) {
  (void)unused;
  test_log log;
  graze_context *context = test_context(2, &log);
  uint64_t state = 7;
  for (int round = 0; round < 300; round++) {
    model m;
    make_model(&state, &m);
    graze_mesh_def def = def_of(&m);
    def.volumes = round & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED;
    graze_mesh *mesh = bake(context, &def);
    model moved = m;
    for (uint32_t i = 0; i < m.vertex_count; i++) {
      for (int k = 0; k < 3; k++) moved.vertices[i][k] = (double)random_below(&state, 4) * (round & 2 ? 1 : 1e30);
    }
    assert_int_equal(graze_mesh_refit(mesh, moved.vertices, 0), GRAZE_OK);
    check_facts(mesh, &moved);
    check_box(mesh, &moved);
    graze_mesh_def fresh_def = def_of(&moved);
    graze_mesh *fresh = bake(context, &fresh_def);
    graze_mesh_facts facts, fresh_facts;
    graze_mesh_get_facts(mesh, &facts);
    graze_mesh_get_facts(fresh, &fresh_facts);
    assert_true(facts.hash == fresh_facts.hash);
    assert_true(self_hash(context, mesh) == self_hash(context, fresh));
    model broken = moved;
    uint32_t bad = random_below(&state, m.vertex_count);
    broken.vertices[bad][1] = NAN;
    broken.vertices[0][0] += bad ? 1 : 0;
    assert_int_equal(graze_mesh_refit(mesh, broken.vertices, 0), GRAZE_ERROR_NOT_FINITE);
    check_facts(mesh, &moved); /* as before */
    check_box(mesh, &moved);
    assert_int_equal(graze_mesh_refit(mesh, NULL, 0), GRAZE_ERROR_ARGUMENT);
    size_t size;
    graze_mesh *copy = NULL;
    const void *block = graze_mesh_block(mesh, &size); /* the checksum is of the new contents */
    assert_int_equal(graze_mesh_from_block(context, block, size, &copy), GRAZE_OK);
    graze_mesh_destroy(copy);
    graze_mesh_destroy(fresh);
    graze_mesh_destroy(mesh);
  }
  graze_context_destroy(context);
}

/* ---- odd shapes -------------------------------------------------------------------------------------------------- */

static void test_empty_and_one(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  graze_mesh_facts facts;
  graze_mesh *mesh = test_mesh(context, NULL, 0, GRAZE_VOLUMES_ORIENTED);
  graze_mesh_get_facts(mesh, &facts);
  assert_true(facts.triangles == 0 && !facts.closed && facts.parts == 0 && facts.positions == 0);
  assert_true(facts.box.min[0] > facts.box.max[0]);
  assert_true(self_hash(context, mesh) == 0);
  graze_mesh_destroy(mesh);
  double one[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  mesh = test_mesh(context, one, 1, GRAZE_VOLUMES_ALIGNED);
  graze_mesh_get_facts(mesh, &facts);
  assert_true(facts.open_edges == 3 && facts.parts == 1 && facts.degenerate == 0);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
}

/* Baking must not degenerate in depth or time when nothing tells the triangles apart. */
static void many_alike(int how) {
  enum { count = 100000 };
  double *corners = malloc(9 * (size_t)count * sizeof *corners);
  assert_non_null(corners);
  for (size_t i = 0; i < count; i++) {
    double grow = how == 0 ? 1 : (double)(i + 1); /* identical, or of one centroid */
    double t[9] = {2 * grow, -grow, 0, -grow, 2 * grow, 0, -grow, -grow, 0};
    memcpy(corners + 9 * i, t, sizeof t);
  }
  graze_context *context = test_context(2, NULL);
  double start = test_clock();
  graze_query *query = NULL;
  graze_collide_result result;
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_COUNT;
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  double needle[9] = {0, 0, -1, 0, 0, 1, 0, 0, 1}, far[9] = {0, 0, 1, 1, 0, 1, 0, 1, 1};
  for (int volumes = 0; volumes < 2; volumes++) {
    graze_mesh *mesh = test_mesh(context, corners, count, (graze_volumes)volumes);
    graze_mesh *a = test_mesh(context, needle, 1, GRAZE_VOLUMES_ORIENTED);
    graze_mesh *b = test_mesh(context, far, 1, GRAZE_VOLUMES_ORIENTED);
    assert_int_equal(graze_collide_meshes(query, mesh, NULL, a, NULL, &options, &result), GRAZE_OK);
    assert_int_equal(result.counts.triangle_pairs, count);
    assert_int_equal(result.counts.degenerate, count);
    assert_int_equal(graze_collide_meshes(query, mesh, NULL, b, NULL, &options, &result), GRAZE_OK);
    assert_int_equal(result.counts.triangle_pairs, 0);
    graze_mesh_destroy(a);
    graze_mesh_destroy(b);
    graze_mesh_destroy(mesh);
  }
  assert_true(test_clock() - start < 200); /* a second or two, where others leave the processor */
  graze_query_destroy(query);
  graze_context_destroy(context);
  free(corners);
}

static void test_identical_triangles(void **unused) {
  (void)unused;
  many_alike(0);
}

static void test_equal_centroids(void **unused) {
  (void)unused;
  many_alike(1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_facts),
      cmocka_unit_test(test_fans),
      cmocka_unit_test(test_closed_meshes),
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_hash_alone),
      cmocka_unit_test(test_hash),
      cmocka_unit_test(test_same_block),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_bad_index),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_block_round_trip),
      cmocka_unit_test(test_block_damage),
      cmocka_unit_test(test_save_and_load),
      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_refit),
      cmocka_unit_test(test_empty_and_one),
      cmocka_unit_test(test_identical_triangles),
      cmocka_unit_test(test_equal_centroids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
