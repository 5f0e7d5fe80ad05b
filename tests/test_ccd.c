/* Continuous collision: the stages in floating-point numbers against the exact one, which cli_ccd_oracle and
 * cli_ccd_truth hold against other arithmetic; batches; and a mesh that moves against all pairs of its features. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/ccd.h"
#include "exact/ccd_filter.h"
#include "families.h"
#include "support.h"

static uint64_t verdicts[3];

/* Whatever the filter claims has to be what the exact stage says, to the bit. */
static void check_query(const graze_ccd_query *query, ccd_scratch *scratch) {
  double quick[2] = {0, 0}, exact[2] = {0, 0};
  ccd_verdict verdict = gz_ccd_filter(query, quick);
  verdicts[verdict]++;
  if (verdict == CCD_OPEN) return;
  bool hit = gz_ccd_exact(query, scratch, exact);
  if (hit == (verdict == CCD_HIT) && (!hit || (quick[0] == exact[0] && quick[1] == exact[1]))) return;
  print_error("verdict %d at %a %a, exact %d at %a %a\n%s", verdict, quick[0], quick[1], hit, exact[0], exact[1],
              query->kind == GRAZE_CCD_VERTEX_FACE ? "vf" : "ee");
  for (int i = 0; i < 24; i++) print_error(" %a", (&query->points[0][0][0])[i]);
  fail();
}

/* ---- families ------------------------------------------------------------------------------------------------- */

typedef void motion_family(uint64_t *state, graze_ccd_query *query);

static void anywhere(uint64_t *state, graze_ccd_query *query) {
  for (int i = 0; i < 24; i++) (&query->points[0][0][0])[i] = random_signed(state);
}

static void on_lattice(uint64_t *state, graze_ccd_query *query) {
  uint32_t most = 2 + random_below(state, 5);
  for (int i = 0; i < 24; i++) (&query->points[0][0][0])[i] = (double)random_below(state, most);
}

/* Small features far from the origin that move much or little: rounding of places against differences. */
static void far_off(uint64_t *state, graze_ccd_query *query) {
  double way = ldexp(1, -(int)random_below(state, 40)), off = ldexp(1, (int)random_below(state, 30));
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      query->points[0][i][k] = off + random_signed(state);
      query->points[1][i][k] = query->points[0][i][k] + way * random_signed(state);
    }
  }
}

/* A flat slab of a scene, and features that nearly stay in one plane. */
static void flat(uint64_t *state, graze_ccd_query *query) {
  anywhere(state, query);
  double thin = ldexp(1, -(int)random_below(state, 60));
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 4; i++) query->points[e][i][2] *= thin;
  }
}

/* A vertex that goes through a face, or an edge through an edge, near a border of it or not: contact at time t. */
static void crossing(uint64_t *state, graze_ccd_query *query) {
  anywhere(state, query);
  double t = random_unit(state), u = random_unit(state), v = random_unit(state);
  if (random_below(state, 2) == 0) u = ldexp(1, -(int)random_below(state, 60));
  for (int k = 0; k < 3; k++) {
    double x[4];
    for (int i = 0; i < 4; i++) x[i] = (1 - t) * query->points[0][i][k] + t * query->points[1][i][k];
    double want = query->kind == GRAZE_CCD_VERTEX_FACE ? (1 - v) * x[1] + v * ((1 - u) * x[2] + u * x[3])
                                                       : x[2] + u * (x[3] - x[2]) - v * (x[1] - x[0]);
    for (int e = 0; e < 2; e++) {
      if (query->kind == GRAZE_CCD_EDGE_EDGE) query->points[e][1][k] += want - x[0];
      query->points[e][0][k] += want - x[0];
    }
  }
}

/* Powers of two far from one, also of each axis. */
static void scaled(uint64_t *state, graze_ccd_query *query) {
  crossing(state, query);
  for (int k = 0; k < 3; k++) {
    int power = (int)random_below(state, 900) - 450;
    for (int e = 0; e < 2; e++) {
      for (int i = 0; i < 4; i++) query->points[e][i][k] = ldexp(query->points[e][i][k], power);
    }
  }
}

static void touching_at_end(uint64_t *state, graze_ccd_query *query) {
  anywhere(state, query);
  memcpy(query->points[1][0], query->points[1][2 + random_below(state, 2)], sizeof query->points[1][0]);
  if (random_below(state, 2) == 0) {
    double *x = &query->points[1][0][random_below(state, 3)];
    *x = nextafter(*x, random_below(state, 2) == 0 ? -2 : 2);
  }
}

/* On a lattice at one end of the motion, where much is in one plane or degenerate, and anywhere at the other. */
static void resting(uint64_t *state, graze_ccd_query *query) {
  const uint32_t end = random_below(state, 2), most = 2 + random_below(state, 4);
  anywhere(state, query);
  for (int i = 0; i < 12; i++) (&query->points[end][0][0])[i] = (double)random_below(state, most);
  if (random_below(state, 4) > 0) return;
  for (int k = 0; k < 3; k++) query->points[end][3][k] = 0.5 * (query->points[end][0][k] + query->points[end][2][k]);
}

static motion_family *const ccd_families[] = {anywhere, on_lattice, far_off, flat,           crossing,
                                              crossing, scaled,     resting, touching_at_end};
enum { FAMILIES = sizeof ccd_families / sizeof ccd_families[0] };

static void test_filter_says_what_is_exact(void **unused) {
  (void)unused;
  ccd_scratch *scratch = malloc(gz_ccd_scratch_size());
  uint64_t state = test_seed(1);
  for (int i = 0; i < test_rounds(40000, 2000000); i++) {
    graze_ccd_query query = {.kind = (uint8_t)random_below(&state, 2)};
    ccd_families[i % FAMILIES](&state, &query);
    check_query(&query, scratch);
  }
  free(scratch);
  print_message("open %llu apart %llu hit %llu\n", (unsigned long long)verdicts[CCD_OPEN],
                (unsigned long long)verdicts[CCD_APART], (unsigned long long)verdicts[CCD_HIT]);
  assert_true(verdicts[CCD_APART] > verdicts[CCD_OPEN] && verdicts[CCD_HIT] > 0);
}

/* ---- batches -------------------------------------------------------------------------------------------------- */

static void test_batch(void **unused) {
  (void)unused;
  enum { COUNT = 3000 };
  graze_ccd_query *queries = calloc(COUNT, sizeof *queries);
  graze_ccd_result *one = calloc(COUNT, sizeof *one), *four = calloc(COUNT, sizeof *four);
  uint64_t state = test_seed(2);
  for (int i = 0; i < COUNT; i++) {
    queries[i].kind = (uint8_t)random_below(&state, 2);
    ccd_families[i % FAMILIES](&state, &queries[i]);
  }
  graze_context *contexts[2];
  for (int i = 0; i < 2; i++) {
    contexts[i] = shared_context(i == 0 ? 1 : 4);
    memset(i == 0 ? one : four, 0xff, COUNT * sizeof *one);
    assert_int_equal(graze_ccd_batch(contexts[i], COUNT, queries, i == 0 ? one : four), GRAZE_OK);
  }
  for (int i = 0; i < COUNT; i++) {
    assert_true(one[i].hit == four[i].hit && one[i].earliest == four[i].earliest && one[i].latest == four[i].latest);
    assert_true(one[i].earliest <= one[i].latest && one[i].latest <= nextafter(one[i].earliest, 2));
  }
  assert_int_equal(graze_ccd_batch(contexts[0], 0, NULL, NULL), GRAZE_OK);
  assert_int_equal(graze_ccd_batch(NULL, 1, queries, one), GRAZE_ERROR_ARGUMENT);
  queries[77].kind = 2;
  assert_int_equal(graze_ccd_batch(contexts[0], COUNT, queries, one), GRAZE_ERROR_ARGUMENT);
  queries[77].kind = 0;
  queries[88].points[1][2][1] = INFINITY;
  queries[99].points[0][0][0] = NAN;
  assert_int_equal(graze_ccd_batch(contexts[1], COUNT, queries, four), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "query 88"));
  free(queries);
  free(one);
  free(four);
}

/* ---- a mesh --------------------------------------------------------------------------------------------------- */

enum { SIDE = 7, VERTICES = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

typedef struct sheet {
  double start[VERTICES + 2][3], end[VERTICES + 2][3];
  uint32_t triangles[TRIANGLES + 2][3];
} sheet;

/* A sheet that is crumpled; two of its vertices are one place under two numbers, and two triangles are degenerate. */
static void make_sheet(uint64_t *state, sheet *s) {
  double way = random_below(state, 2) == 0 ? 1 : 0.3;
  uint32_t grain = random_below(state, 3) == 0 ? 4 : 1 << 20;
  for (int v = 0; v < VERTICES; v++) {
    for (int k = 0; k < 3; k++) {
      double place = k == 0 ? v % SIDE : k == 1 ? v / SIDE : 0;
      s->start[v][k] = place + floor(0.8 * random_signed(state) * grain) / grain;
      s->end[v][k] = s->start[v][k] + floor(way * random_signed(state) * grain) / grain;
    }
  }
  for (int v = VERTICES; v < VERTICES + 2; v++) {
    memcpy(s->start[v], s->start[v - 10], sizeof s->start[v]);
    memcpy(s->end[v], s->end[v - 10], sizeof s->end[v]);
  }
  int t = 0;
  for (uint32_t i = 0; i < SIDE - 1; i++) {
    for (uint32_t j = 0; j < SIDE - 1; j++) {
      uint32_t a = i * SIDE + j, b = a + SIDE;
      memcpy(s->triangles[t++], (uint32_t[3]){a, a + 1, b}, sizeof s->triangles[0]);
      memcpy(s->triangles[t++], (uint32_t[3]){a + 1, b + 1, b}, sizeof s->triangles[0]);
    }
  }
  memcpy(s->triangles[t++], (uint32_t[3]){VERTICES, 3, VERTICES + 1}, sizeof s->triangles[0]);
  memcpy(s->triangles[t], (uint32_t[3]){5, 5, 20}, sizeof s->triangles[0]);
}

static bool share_a_place(const sheet *s, const uint32_t *a, int na, const uint32_t *b, int nb) {
  for (int i = 0; i < na; i++) {
    for (int j = 0; j < nb; j++) {
      if (memcmp(s->start[a[i]], s->start[b[j]], sizeof s->start[0]) == 0 &&
          memcmp(s->end[a[i]], s->end[b[j]], sizeof s->end[0]) == 0) {
        return true;
      }
    }
  }
  return false;
}

typedef struct brute {
  uint64_t count, hash;
  double earliest;
} brute;

static void try_pair(const sheet *s, ccd_scratch *scratch, uint8_t kind, const uint32_t four[4], uint32_t a, uint32_t b,
                     brute *found) {
  int split = kind == GRAZE_CCD_VERTEX_FACE ? 1 : 2;
  if (share_a_place(s, four, split, four + split, 4 - split)) return;
  graze_ccd_query query = {.kind = kind};
  for (int i = 0; i < 4; i++) {
    memcpy(query.points[0][i], s->start[four[i]], sizeof query.points[0][i]);
    memcpy(query.points[1][i], s->end[four[i]], sizeof query.points[1][i]);
  }
  double time[2];
  if (!gz_ccd_exact(&query, scratch, time)) return;
  found->count++;
  found->hash += graze_pair_hash(a, b);
  found->earliest = fmin(found->earliest, time[0]);
}

/* All edges by number: the higher vertex first, then the lower. */
static uint32_t list_edges(const sheet *s, uint32_t edges[][2]) {
  uint32_t count = 0;
  for (uint32_t high = 0; high < VERTICES + 2; high++) {
    for (uint32_t low = 0; low < high; low++) {
      bool is_edge = false;
      for (int t = 0; t < TRIANGLES + 2; t++) {
        for (int i = 0; i < 3; i++) {
          uint32_t a = s->triangles[t][i], b = s->triangles[t][(i + 1) % 3];
          is_edge |= (a == low && b == high) || (a == high && b == low);
        }
      }
      if (is_edge) memcpy(edges[count++], (uint32_t[2]){low, high}, sizeof edges[0]);
    }
  }
  return count;
}

static void test_mesh_against_all_pairs(void **unused) {
  (void)unused;
  ccd_scratch *scratch = malloc(gz_ccd_scratch_size());
  uint64_t state = test_seed(3), hits = 0;
  for (int round = 0; round < test_rounds(8, 200); round++) {
    sheet s;
    make_sheet(&state, &s);
    static uint32_t edges[3 * (TRIANGLES + 2)][2];
    uint32_t edge_count = list_edges(&s, edges);
    brute faces = {0, 0, INFINITY}, lines = {0, 0, INFINITY};
    for (uint32_t v = 0; v < VERTICES + 2; v++) {
      for (uint32_t t = 0; t < TRIANGLES + 2; t++) {
        const uint32_t four[4] = {v, s.triangles[t][0], s.triangles[t][1], s.triangles[t][2]};
        try_pair(&s, scratch, GRAZE_CCD_VERTEX_FACE, four, v, t, &faces);
      }
    }
    for (uint32_t e = 0; e < edge_count; e++) {
      for (uint32_t f = e + 1; f < edge_count; f++) {
        const uint32_t four[4] = {edges[e][0], edges[e][1], edges[f][0], edges[f][1]};
        try_pair(&s, scratch, GRAZE_CCD_EDGE_EDGE, four, e, f, &lines);
      }
    }
    graze_context *context = shared_context(1 + round % 3);
    graze_ccd_mesh mesh = {s.start[0], s.end[0], s.triangles[0], VERTICES + 2, TRIANGLES + 2};
    graze_ccd_pairs found;
    assert_int_equal(graze_ccd_self(context, &mesh, true, &found), GRAZE_OK);
    assert_int_equal(found.edge_count, edge_count);
    assert_true(found.vertex_face_count == faces.count && found.vertex_face_hash == faces.hash);
    assert_true(found.edge_edge_count == lines.count && found.edge_edge_hash == lines.hash);
    double earliest = fmin(faces.earliest, lines.earliest);
    assert_true(found.earliest == (isfinite(earliest) ? earliest : 0));
    for (uint64_t i = 1; i < found.edge_edge_count; i++) {
      const graze_feature_pair *p = &found.edge_edge_pairs[i];
      assert_true(p->a < p->b && (p[-1].a < p->a || (p[-1].a == p->a && p[-1].b < p->b)));
    }
    hits += faces.count + lines.count;
    graze_ccd_pairs_free(&found);
  }
  assert_true(hits > 0);
  free(scratch);
}

/* ---- separations ---- */

/* Everything a power of two larger or smaller, and turned about: the same times. */
static void test_separations_scaled(void **unused) {
  (void)unused;
  enum { COUNT = 60 };
  static const int shifts[] = {0, -300, -40, 40, 300};
  static graze_ccd_query queries[COUNT], scaled[COUNT];
  static graze_ccd_result want[COUNT], got[COUNT];
  uint64_t state = test_seed(11), hits = 0;
  for (int i = 0; i < COUNT; i++) {
    queries[i].kind = i & 1;
    for (int k = 0; k < 24; k++) {
      (&queries[i].points[0][0][0])[k] =
          i % 3 ? ldexp(rint(ldexp(random_signed(&state), 20)), -20) : (double)random_below(&state, 5);
    }
  }
  for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
    for (int i = 0; i < COUNT; i++) {
      scaled[i].kind = queries[i].kind;
      for (int e = 0; e < 2; e++) {
        for (int p = 0; p < 4; p++) {
          /* The corners of the face go round; the edges, and the ends of the second, change places. */
          static const int turned[2][4] = {{0, 2, 3, 1}, {3, 2, 0, 1}};
          const int from = s == 0 ? p : turned[queries[i].kind][p];
          for (int k = 0; k < 3; k++) scaled[i].points[e][p][k] = ldexp(queries[i].points[e][from][k], shifts[s]);
        }
      }
    }
    graze_ccd_result *results = s == 0 ? want : got;
    assert_int_equal(graze_ccd_batch_apart(shared_context(2), ldexp(0.3125, shifts[s]), COUNT, scaled, results),
                     GRAZE_OK);
    for (int i = 0; i < COUNT && s > 0; i++) {
      assert_int_equal(got[i].hit, want[i].hit);
      assert_true(got[i].earliest == want[i].earliest && got[i].latest == want[i].latest);
      hits += got[i].hit;
    }
  }
  assert_true(hits > 20);
}

/* A vertex falls onto the middle of a face, beside an edge, beside a corner, and edge comes to edge: known times. */
static void test_separations_known(void **unused) {
  (void)unused;
  static const double to[5] = {0.25, -1, -3, 1.5, 5};
  graze_ccd_query q[5];
  graze_ccd_result r[5];
  memset(q, 0, sizeof q);
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 4; i++) { /* a face with corners (0, 0, 0), (4, 0, 0), (0, 4, 0); a vertex from z = 8 to -8 */
      double(*x)[3] = q[i].points[e];
      x[0][0] = i == 1 ? 1 : to[i];
      x[0][1] = i == 1 ? -3 : i == 2 ? -4 : i == 3 ? 1 : 0.25;
      x[0][2] = e == 0 ? 8 : -8;
      x[2][0] = x[3][1] = 4;
    }
    q[4].kind = GRAZE_CCD_EDGE_EDGE; /* along x at height 8 to -8, along y at 0 */
    q[4].points[e][0][0] = -1;
    q[4].points[e][1][0] = 1;
    q[4].points[e][0][2] = q[4].points[e][1][2] = e == 0 ? 8 : -8;
    q[4].points[e][2][1] = -1;
    q[4].points[e][3][1] = 1;
  }
  /* At distance 5 over the face; 3 beside an edge: at height 4; 5 from a corner: at height 0, which only touches. */
  static const double times[5] = {0.1875, 0.25, 0.5, 0.1875, 0.1875};
  assert_int_equal(graze_ccd_batch_apart(shared_context(1), 5, 5, q, r), GRAZE_OK);
  for (int i = 0; i < 5; i++) {
    assert_true(r[i].hit);
    assert_true(r[i].earliest == times[i] && r[i].latest == times[i]);
  }
  assert_int_equal(graze_ccd_batch_apart(shared_context(1), nextafter(5, 0), 5, q, r), GRAZE_OK);
  assert_true(r[1].hit && r[1].earliest >= 0.25 && !r[2].hit);
  assert_int_equal(graze_ccd_batch_apart(shared_context(1), -1, 5, q, r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_ccd_batch_apart(shared_context(1), (double)NAN, 5, q, r), GRAZE_ERROR_ARGUMENT);
  q[3].points[0][0][0] = 1e60;
  q[3].points[0][1][1] = 0x1p-1074;
  assert_int_equal(graze_ccd_batch_apart(shared_context(1), 5, 5, q, r), GRAZE_OK);
  q[1].points[1][0][0] = (double)INFINITY;
  assert_int_equal(graze_ccd_batch_apart(shared_context(1), 5, 5, q, r), GRAZE_ERROR_NOT_FINITE);
}

/* Sizes that differ by all that doubles can: decided or refused with the query's number, and ordinary ones beside them
 * are what they are. */
static void test_separations_far_apart(void **unused) {
  (void)unused;
  uint64_t state = test_seed(12), refused = 0, decided = 0;
  for (int round = 0; round < 40; round++) {
    graze_ccd_query q[2];
    graze_ccd_result r[2];
    for (int i = 0; i < 2; i++) {
      q[i].kind = (uint8_t)(round & 1);
      for (int k = 0; k < 24; k++) {
        (&q[i].points[0][0][0])[k] = ldexp(random_signed(&state), i == 0 ? 0 : (int)random_below(&state, 1800) - 1000);
      }
    }
    graze_status status = graze_ccd_batch_apart(shared_context(1), 0.25, 2, q, r);
    decided += status == GRAZE_OK;
    refused += status == GRAZE_ERROR_LIMIT;
    if (status == GRAZE_ERROR_LIMIT) {
      assert_string_equal(shared_error()->message, "query 1: coordinates and separation differ too much in size");
    } else {
      graze_ccd_result alone;
      assert_int_equal(status, GRAZE_OK);
      assert_int_equal(graze_ccd_batch_apart(shared_context(1), 0.25, 1, q, &alone), GRAZE_OK);
      assert_true(alone.hit == r[0].hit && alone.earliest == r[0].earliest && alone.latest == r[0].latest);
    }
  }
  print_message("far apart: %d decided, %d refused\n", (int)decided, (int)refused);
}

static void test_separations_memory(void **unused) {
  (void)unused;
  graze_ccd_query q = {.kind = GRAZE_CCD_EDGE_EDGE};
  graze_ccd_result r;
  for (int i = 0; i < 24; i++) (&q.points[0][0][0])[i] = i * i % 11;
  for (uint64_t fail_at = 1;; fail_at++) {
    test_allocator memory = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    def.allocator = test_allocator_hooks(&memory);
    def.threads = 1;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    memory.fail_at = memory.requests + fail_at;
    graze_status status = graze_ccd_batch_apart(context, 0.5, 1, &q, &r);
    bool refused = memory.requests >= memory.fail_at;
    assert_int_equal(status, refused ? GRAZE_ERROR_MEMORY : GRAZE_OK);
    memory.fail_at = 0;
    graze_context_destroy(context);
    assert_int_equal(memory.live_blocks, 0);
    if (!refused) break;
  }
}

/* Two sheets, of which the second is shifted a little and its numbers begin anew: what both together, as one mesh, meet
 * across. No place is common to both. */
static void test_two_meshes(void **unused) {
  (void)unused;
  enum { V = VERTICES + 2, T = TRIANGLES + 2 };
  uint64_t state = test_seed(4), hits = 0;
  for (int round = 0; round < test_rounds(10, 200); round++) {
    static sheet s[2];
    static double start[2 * V][3], end[2 * V][3];
    static uint32_t corners[2 * T][3];
    for (int m = 0; m < 2; m++) {
      make_sheet(&state, &s[m]);
      for (int v = 0; v < V; v++) {
        for (int k = 0; k < 3; k++) {
          if (m == 1) s[m].start[v][k] += 0x1p-20 * (1 + k), s[m].end[v][k] += 0x1p-20;
          start[m * V + v][k] = s[m].start[v][k];
          end[m * V + v][k] = s[m].end[v][k];
        }
      }
      for (int t = 0; t < T; t++) {
        for (int k = 0; k < 3; k++) corners[m * T + t][k] = s[m].triangles[t][k] + (uint32_t)(m * V);
      }
    }
    graze_context *context = shared_context(1 + round % 3);
    const graze_ccd_mesh both = {start[0], end[0], corners[0], 2 * V, 2 * T};
    const graze_ccd_mesh a = {s[0].start[0], s[0].end[0], s[0].triangles[0], V, T};
    const graze_ccd_mesh b = {s[1].start[0], s[1].end[0], s[1].triangles[0], V, T};
    graze_ccd_pairs all;
    graze_ccd_mesh_pairs found;
    assert_int_equal(graze_ccd_self(context, &both, true, &all), GRAZE_OK);
    assert_int_equal(graze_ccd_meshes(context, &a, &b, true, &found), GRAZE_OK);
    assert_int_equal(found.edge_counts[0] + found.edge_counts[1], all.edge_count);
    uint64_t n[3] = {0, 0, 0};
    for (uint64_t i = 0; i < all.vertex_face_count; i++) {
      const graze_feature_pair p = all.vertex_face_pairs[i];
      if ((p.a < V) == (p.b < T)) continue;
      const int k = p.a < V ? 0 : 2;
      const graze_feature_pair *got = &found.pairs[k][n[k]++];
      assert_true(n[k] <= found.counts[k]);
      assert_true(got->a == p.a - (k == 0 ? 0 : V) && got->b == p.b - (k == 0 ? T : 0));
    }
    for (uint64_t i = 0; i < all.edge_edge_count; i++) {
      const graze_feature_pair p = all.edge_edge_pairs[i];
      if ((p.a < found.edge_counts[0]) == (p.b < found.edge_counts[0])) continue;
      const graze_feature_pair *got = &found.pairs[1][n[1]++];
      assert_true(n[1] <= found.counts[1]);
      assert_true(got->a == p.a && got->b == p.b - found.edge_counts[0]);
    }
    for (int k = 0; k < 3; k++) {
      assert_true(n[k] == found.counts[k]);
      hits += n[k];
    }
    assert_true(found.earliest >= all.earliest);
    graze_ccd_pairs_free(&all);
    graze_ccd_mesh_pairs_free(&found);
    assert_int_equal(graze_ccd_meshes(context, &a, &a, false, &found), GRAZE_OK);
    assert_true(found.earliest == 0 && found.latest == 0 && found.counts[0] >= V - 1); /* all of it meets itself */
    assert_null(found.pairs[0]);
    graze_ccd_mesh_pairs_free(&found);
  }
  assert_true(hits > 0);
  graze_ccd_mesh_pairs none;
  assert_int_equal(graze_ccd_meshes(shared_context(1), NULL, NULL, false, &none), GRAZE_ERROR_ARGUMENT);
}

static void test_two_meshes_memory(void **unused) {
  (void)unused;
  static sheet s;
  uint64_t state = 5;
  make_sheet(&state, &s);
  const graze_ccd_mesh mesh = {s.start[0], s.end[0], s.triangles[0], VERTICES + 2, TRIANGLES + 2};
  for (uint64_t fail_at = 1;; fail_at++) {
    test_allocator memory = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    graze_ccd_mesh_pairs found;
    def.allocator = test_allocator_hooks(&memory);
    def.threads = 1;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    memory.fail_at = memory.requests + fail_at;
    graze_status status = graze_ccd_meshes(context, &mesh, &mesh, true, &found);
    bool refused = memory.requests >= memory.fail_at;
    memory.fail_at = 0;
    assert_int_equal(status, refused ? GRAZE_ERROR_MEMORY : GRAZE_OK);
    if (refused) assert_true(found.counts[0] == 0 && found.pairs[0] == NULL && found.pairs[1] == NULL);
    graze_ccd_mesh_pairs_free(&found);
    graze_context_destroy(context);
    assert_int_equal(memory.live_blocks, 0);
    if (!refused) break;
  }
}

static void test_mesh_errors(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  double start[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, end[9] = {0, 0, 1, 1, 0, 1, 0, 1, 1};
  uint32_t corners[3] = {0, 1, 2};
  graze_ccd_mesh mesh = {start, end, corners, 3, 1};
  graze_ccd_pairs found;
  assert_int_equal(graze_ccd_self(context, &mesh, true, &found), GRAZE_OK);
  assert_true(found.vertex_face_count == 0 && found.edge_edge_count == 0 && found.edge_count == 3);
  graze_ccd_pairs_free(&found);
  corners[1] = 3;
  assert_int_equal(graze_ccd_self(context, &mesh, true, &found), GRAZE_ERROR_INDEX);
  assert_non_null(strstr(shared_error()->message, "triangle 0: vertex 3 of 3"));
  corners[1] = 1;
  end[5] = NAN;
  assert_int_equal(graze_ccd_self(context, &mesh, true, &found), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "vertex 1"));
  assert_int_equal(graze_ccd_self(context, NULL, true, &found), GRAZE_ERROR_ARGUMENT);
  mesh = (graze_ccd_mesh){0};
  assert_int_equal(graze_ccd_self(context, &mesh, true, &found), GRAZE_OK);
  graze_ccd_pairs_free(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_filter_says_what_is_exact), cmocka_unit_test(test_batch),
      cmocka_unit_test(test_mesh_against_all_pairs),    cmocka_unit_test(test_separations_scaled),
      cmocka_unit_test(test_separations_known),         cmocka_unit_test(test_separations_far_apart),
      cmocka_unit_test(test_separations_memory),        cmocka_unit_test(test_two_meshes),
      cmocka_unit_test(test_two_meshes_memory),         cmocka_unit_test(test_mesh_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
