/* Relations of meshes whose parts share edges, lie on each other and run through each other: unions of boxes and of
 * polycubes, one to four parts of either facing, on small uneven lattices. The oracle adds up winding numbers in the
 * lattice's cells; it shares nothing with what is tested but the meaning of the words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

enum { SIDE = 5, PARTS_MOST = 4, TRIANGLES_MOST = 12 * PARTS_MOST * SIDE * SIDE * SIDE };

/* What a mesh is made of, cell by cell. */
typedef struct pile {
  int winding[SIDE][SIDE][SIDE];
  double *corners;
  uint32_t count;
  bool parity; /* triangles face at random: cells count by parity */
} pile;

typedef struct bench {
  graze_context *context;
  graze_query *query;
  uint64_t state;
  int cells;                 /* a side of the lattice */
  double plane[3][SIDE + 1]; /* its coordinates */
  uint64_t known[GRAZE_UNKNOWN + 1];
} bench;

/* ---- lattices ---- */

/* Steps of one, of powers of two, or of any size: coordinates with all their bits, or with few. */
static void make_lattice(bench *b) {
  b->cells = 3 + (int)random_below(&b->state, SIDE - 2);
  int kind = (int)random_below(&b->state, 4);
  double scale = kind == 1 ? ldexp(1, (int)random_below(&b->state, 40) - 20) : 1;
  for (int k = 0; k < 3; k++) {
    double at = kind == 3 ? 100 * random_unit(&b->state) - 50 : 0;
    for (int i = 0; i <= b->cells; i++) {
      b->plane[k][i] = at;
      double step = kind == 2   ? ldexp(1, (int)random_below(&b->state, 12) - 6)
                    : kind == 3 ? 0.01 + random_unit(&b->state)
                                : scale;
      at += step;
    }
  }
}

/* ---- piles ---- */

static void add_triangle(const bench *b, pile *p, int corner[3][3], bool turned) {
  double *out = p->corners + 9 * (size_t)p->count++;
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) out[3 * (turned ? 2 - c : c) + k] = b->plane[k][corner[c][k]];
  }
}

/* A rectangle at one plane of an axis from (u0, v0) to (u1, v1), cut along either diagonal. */
static void add_rectangle(bench *b, pile *p, int axis, int at, const int low[3], const int high[3], bool turned) {
  static const int cuts[2][2][3] = {{{0, 1, 2}, {0, 2, 3}}, {{1, 2, 3}, {1, 3, 0}}};
  int u = (axis + 1) % 3, v = (axis + 2) % 3, diagonal = (int)random_below(&b->state, 2);
  const int around[4][2] = {{low[u], low[v]}, {high[u], low[v]}, {high[u], high[v]}, {low[u], high[v]}};
  for (int t = 0; t < 2; t++) {
    int corner[3][3];
    for (int c = 0; c < 3; c++) {
      corner[c][axis] = at;
      corner[c][u] = around[cuts[diagonal][t][c]][0];
      corner[c][v] = around[cuts[diagonal][t][c]][1];
    }
    add_triangle(b, p, corner, turned);
  }
}

static void add_box_at(bench *b, pile *p, const int low[3], const int high[3], int turn) {
  for (int axis = 0; axis < 3; axis++) {
    add_rectangle(b, p, axis, low[axis], low, high, turn > 0);
    add_rectangle(b, p, axis, high[axis], low, high, turn < 0);
  }
  for (int x = low[0]; x < high[0]; x++) {
    for (int y = low[1]; y < high[1]; y++) {
      for (int z = low[2]; z < high[2]; z++) p->winding[x][y][z] += turn;
    }
  }
}

static void add_box(bench *b, pile *p, int turn) {
  int low[3], high[3];
  for (int k = 0; k < 3; k++) {
    low[k] = (int)random_below(&b->state, (uint32_t)b->cells);
    high[k] = low[k] + 1 + (int)random_below(&b->state, (uint32_t)(b->cells - low[k]));
  }
  add_box_at(b, p, low, high, turn);
}

typedef bool cell_set[SIDE + 2][SIDE + 2][SIDE + 2]; /* with a rim of empty cells */

/* The border of the cells, edges and corners of four and more triangles included. */
static void add_cells(bench *b, pile *p, cell_set cell, int turn) {
  for (int x = 0; x < b->cells; x++) {
    for (int y = 0; y < b->cells; y++) {
      for (int z = 0; z < b->cells; z++) {
        if (!cell[x + 1][y + 1][z + 1]) continue;
        const int low[3] = {x, y, z}, high[3] = {x + 1, y + 1, z + 1};
        p->winding[x][y][z] += turn;
        for (int axis = 0; axis < 3; axis++) {
          const int n[3] = {axis == 0, axis == 1, axis == 2};
          if (!cell[x + 1 - n[0]][y + 1 - n[1]][z + 1 - n[2]])
            add_rectangle(b, p, axis, low[axis], low, high, turn > 0);
          if (!cell[x + 1 + n[0]][y + 1 + n[1]][z + 1 + n[2]])
            add_rectangle(b, p, axis, high[axis], low, high, turn < 0);
        }
      }
    }
  }
}

/* Cells at random, or (`like`) those of another pile, but for a few. */
static void add_polycube(bench *b, pile *p, const pile *like, int turn) {
  cell_set cell = {{{false}}};
  double chance = like == NULL ? 0.1 + 0.7 * random_unit(&b->state) : random_below(&b->state, 2) * 0.04;
  int low = like == NULL ? (int)random_below(&b->state, (uint32_t)b->cells) : 0;
  for (int x = low; x < b->cells; x++) {
    for (int y = low; y < b->cells; y++) {
      for (int z = low; z < b->cells; z++) {
        bool there = like != NULL && like->winding[x][y][z] != 0;
        cell[x + 1][y + 1][z + 1] = there != (random_unit(&b->state) < chance);
      }
    }
  }
  add_cells(b, p, cell, turn);
}

static void shuffle(pile *p, uint64_t *state) {
  for (uint32_t i = p->count; i > 1; i--) {
    double held[9], *last = p->corners + 9 * (size_t)(i - 1), *other = p->corners + 9 * (size_t)random_below(state, i);
    memcpy(held, last, sizeof held);
    memcpy(last, other, sizeof held);
    memcpy(other, held, sizeof held);
  }
}

/* One triangle in so many faces the other way. */
static void turn_some(pile *p, uint64_t *state) {
  double held[3];
  for (uint32_t i = 0; i < p->count; i++) {
    if (random_below(state, 4) != 0) continue;
    double *c = p->corners + 9 * (size_t)i;
    memcpy(held, c, sizeof held);
    memcpy(c, c + 3, sizeof held);
    memcpy(c + 3, held, sizeof held);
  }
}

typedef enum pile_kind { BOXES, POLYCUBES, BOTH, ODD_FACING } pile_kind;

/* `like`: a pile that this one is to have the cells of, or nearly; or NULL. */
static void make_pile(bench *b, pile *p, const pile *like, pile_kind kind) {
  memset(p->winding, 0, sizeof p->winding);
  p->count = 0;
  p->parity = kind == ODD_FACING;
  uint32_t parts = kind == ODD_FACING || like != NULL ? 1 : 1 + random_below(&b->state, PARTS_MOST);
  bool one_way = random_below(&b->state, 2) == 0;
  for (uint32_t i = 0; i < parts; i++) {
    int turn = one_way || random_below(&b->state, 2) == 0 ? 1 : -1;
    bool box = kind == BOXES || (kind == BOTH && random_below(&b->state, 2) == 0);
    if (box && like == NULL)
      add_box(b, p, turn);
    else
      add_polycube(b, p, like, turn);
  }
  if (p->parity) turn_some(p, &b->state);
  shuffle(p, &b->state);
}

/* ---- truth ---- */

static graze_relation truth(const bench *b, const pile *p, const pile *q, bool meet) {
  bool common = false, only_p = false, only_q = false;
  for (int x = 0; x < b->cells; x++) {
    for (int y = 0; y < b->cells; y++) {
      for (int z = 0; z < b->cells; z++) {
        bool in_p = p->winding[x][y][z] != 0, in_q = q->winding[x][y][z] != 0;
        common |= in_p && in_q;
        only_p |= in_p && !in_q;
        only_q |= in_q && !in_p;
      }
    }
  }
  if (!common) return meet ? GRAZE_TOUCH : GRAZE_SEPARATE;
  if (only_p && only_q) return GRAZE_CROSS;
  return only_p ? GRAZE_B_IN_A : only_q ? GRAZE_A_IN_B : GRAZE_DUPLICATE;
}

/* ---- poses ---- */

/* An exact turn or mirror, and a power of two. */
static graze_pose lattice_pose(uint64_t *state) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const int *order = orders[random_below(state, 6)];
  double size = ldexp(1, (int)random_below(state, 9) - 4);
  graze_pose p = {{0}};
  for (int k = 0; k < 3; k++) p.m[4 * k + order[k]] = random_below(state, 2) == 0 ? size : -size;
  return p;
}

/* Any matrix: at T2 the relation is that of the meshes as they are. */
static graze_pose real_pose(uint64_t *state) {
  graze_pose p;
  for (int k = 0; k < 12; k++) p.m[k] = 2 * random_unit(state) - 1;
  return p;
}

static void check(bench *b, const pile *p, const pile *q, const char *name) {
  graze_mesh *a = test_mesh(b->context, p->corners, p->count, GRAZE_VOLUMES_ORIENTED),
             *m = test_mesh(b->context, q->corners, q->count, GRAZE_VOLUMES_ORIENTED);
  graze_relate_options options = graze_default_relate_options();
  uint32_t tier = random_below(&b->state, 8); /* T2 takes ten times the time */
  options.exactness = tier == 0 ? GRAZE_T2 : tier < 4 ? GRAZE_T0 : GRAZE_T1;
  options.open = random_below(&b->state, 2) == 0 ? GRAZE_OPEN_UNKNOWN : GRAZE_OPEN_SURFACE;
  graze_pose pose = options.exactness == GRAZE_T0   ? graze_pose_identity()
                    : options.exactness == GRAZE_T1 ? lattice_pose(&b->state)
                                                    : real_pose(&b->state);
  graze_relate_result got;
  assert_int_equal(graze_relate_meshes(b->query, a, &pose, m, &pose, &options, &got), GRAZE_OK);
  graze_relation want = truth(b, p, q, got.counts.triangle_pairs > 0);
  b->known[got.verdict.relation]++;
  if (got.verdict.relation != want && got.verdict.relation != GRAZE_UNKNOWN)
    fail_msg("%s: %s, not %s (t%d)", name, graze_relation_string(got.verdict.relation), graze_relation_string(want),
             (int)options.exactness);
  graze_mesh_destroy(a);
  graze_mesh_destroy(m);
}

static void tell(const bench *b, const char *name) {
  print_message("%s:", name);
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) {
    if (r != GRAZE_CLEARANCE)
      print_message(" %llu %s", (unsigned long long)b->known[r], graze_relation_string((graze_relation)r));
  }
  print_message("\n");
}

/* ---- tetrahedra in any position ---- */

enum { TETRAHEDRA_MOST = 3, FACES_MOST = 8 * TETRAHEDRA_MOST };

typedef struct tetrahedra {
  double corner[TETRAHEDRA_MOST][4][3];
  int turn[TETRAHEDRA_MOST];
  int count;
} tetrahedra;

static double signed_volume(const double *a, const double *b, const double *c, const double *d) {
  double u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
    w[k] = d[k] - a[k];
  }
  return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] + (u[0] * v[1] - u[1] * v[0]) * w[2];
}

/* Corners of small whole numbers: many planes are shared, many points lie on many. */
static void make_tetrahedra(uint64_t *state, tetrahedra *t) {
  uint32_t size = 3 + random_below(state, 6);
  t->count = 1 + (int)random_below(state, TETRAHEDRA_MOST);
  for (int i = 0; i < t->count; i++) {
    double(*c)[3] = t->corner[i], volume = 0;
    t->turn[i] = random_below(state, 3) == 0 ? -1 : 1;
    while (volume == 0) {
      for (int k = 0; k < 12; k++) c[k / 3][k % 3] = random_below(state, size);
      volume = signed_volume(c[0], c[1], c[2], c[3]);
    }
    if (volume > 0) { /* so that 0 1 2 is seen counterclockwise from outside */
      double held[3];
      memcpy(held, c[0], sizeof held);
      memcpy(c[0], c[1], sizeof held);
      memcpy(c[1], held, sizeof held);
    }
  }
}

static const int faces[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};

static graze_mesh *tetrahedra_mesh(graze_context *context, const tetrahedra *t) {
  double corners[TETRAHEDRA_MOST * 4 * 9];
  for (int i = 0; i < t->count; i++) {
    for (int f = 0; f < 4; f++) {
      for (int c = 0; c < 3; c++)
        memcpy(corners + 36 * i + 9 * f + 3 * c, t->corner[i][faces[f][t->turn[i] > 0 ? c : 2 - c]],
               3 * sizeof(double));
    }
  }
  return test_mesh(context, corners, 4 * (uint32_t)t->count, GRAZE_VOLUMES_ORIENTED);
}

/* 1 inside, 0 outside, -1 too near to a plane to be sure. */
static int is_within(const tetrahedra *t, const double p[3]) {
  int winding = 0;
  for (int i = 0; i < t->count; i++) {
    bool in = true;
    for (int f = 0; f < 4; f++) {
      const int *n = faces[f];
      double v = signed_volume(t->corner[i][n[0]], t->corner[i][n[1]], t->corner[i][n[2]], p);
      if (fabs(v) < 1e-9) return -1;
      in &= v < 0;
    }
    winding += in ? t->turn[i] : 0;
  }
  return winding != 0;
}

static bool meet_of_planes(const double plane[3][4], double out[3]) {
  double n[3][3], det = 0;
  for (int k = 0; k < 3; k++) {
    const double *p = plane[(k + 1) % 3], *q = plane[(k + 2) % 3];
    for (int i = 0; i < 3; i++) n[k][i] = p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3];
  }
  for (int i = 0; i < 3; i++) det += plane[0][i] * n[0][i];
  if (fabs(det) < 1e-9) return false;
  for (int i = 0; i < 3; i++) out[i] = (plane[0][3] * n[0][i] + plane[1][3] * n[1][i] + plane[2][3] * n[2][i]) / det;
  return true;
}

/* The planes n x = d of all faces. */
static int find_planes(const tetrahedra *t, double plane[][4]) {
  int count = 0;
  for (int i = 0; i < t->count; i++) {
    for (int f = 0; f < 4; f++, count++) {
      const double *a = t->corner[i][faces[f][0]], *b = t->corner[i][faces[f][1]], *c = t->corner[i][faces[f][2]];
      plane[count][3] = 0;
      for (int k = 0; k < 3; k++) {
        int u = (k + 1) % 3, v = (k + 2) % 3;
        plane[count][k] = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
        plane[count][3] += plane[count][k] * a[k];
      }
    }
  }
  return count;
}

/* The sets that points show, beside every point in which three planes meet: each cell has such a corner. Bits as of a
 * relation: 1 common, 2 only t, 4 only u. Points can miss a set, but not make one up. */
static unsigned sample(const tetrahedra *t, const tetrahedra *u, uint64_t *state, int tries) {
  double plane[FACES_MOST][4];
  int count = find_planes(t, plane);
  count += find_planes(u, plane + count);
  unsigned sets = 0;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j && sets != 7; k++) {
        const double three[3][4] = {{plane[i][0], plane[i][1], plane[i][2], plane[i][3]},
                                    {plane[j][0], plane[j][1], plane[j][2], plane[j][3]},
                                    {plane[k][0], plane[k][1], plane[k][2], plane[k][3]}};
        double at[3], p[3];
        if (!meet_of_planes(three, at)) continue;
        for (int n = 0; n < tries; n++) {
          for (int x = 0; x < 3; x++) p[x] = at[x] + 0.002 * (random_unit(state) - 0.5);
          int in_t = is_within(t, p), in_u = is_within(u, p);
          if (in_t >= 0 && in_u >= 0) sets |= in_t && in_u ? 1u : in_t ? 2u : in_u ? 4u : 0u;
        }
      }
    }
  }
  return sets;
}

static graze_relation relation_of(unsigned sets, bool meet) {
  if ((sets & 1) == 0) return meet ? GRAZE_TOUCH : GRAZE_SEPARATE;
  return sets == 7 ? GRAZE_CROSS : sets == 3 ? GRAZE_B_IN_A : sets == 5 ? GRAZE_A_IN_B : GRAZE_DUPLICATE;
}

static void test_tetrahedra(void **unused) {
  (void)unused;
  bench b = {.context = shared_context(1), .state = test_seed(80)};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  for (int i = test_rounds(300, 30000); i > 0; i--) {
    tetrahedra t, u;
    make_tetrahedra(&b.state, &t);
    make_tetrahedra(&b.state, &u);
    if (i % 3 == 0) memcpy(u.corner[0], t.corner[0], sizeof u.corner[0]);
    graze_mesh *m = tetrahedra_mesh(b.context, &t), *n = tetrahedra_mesh(b.context, &u);
    graze_relate_options options = graze_default_relate_options();
    graze_relate_result got;
    assert_int_equal(graze_relate_meshes(b.query, m, NULL, n, NULL, &options, &got), GRAZE_OK);
    bool meet = got.counts.triangle_pairs > 0;
    graze_relation want = GRAZE_UNKNOWN;
    for (int tries = 16; tries <= 16384 && want != got.verdict.relation; tries *= 8)
      want = relation_of(sample(&t, &u, &b.state, tries), meet);
    b.known[got.verdict.relation]++;
    if (got.verdict.relation != want)
      fail_msg("tetrahedra: %s, not %s", graze_relation_string(got.verdict.relation), graze_relation_string(want));
    graze_mesh_destroy(m);
    graze_mesh_destroy(n);
  }
  tell(&b, "tetrahedra");
  graze_query_destroy(b.query);
}

static void run(pile_kind kind, const char *name) {
  bench b = {.context = shared_context(1), .state = test_seed(70 + kind)};
  pile p = {.corners = malloc(9 * TRIANGLES_MOST * sizeof(double))},
       q = {.corners = malloc(9 * TRIANGLES_MOST * sizeof(double))};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  int rounds = test_rounds(250, 25000);
  if (kind == ODD_FACING && rounds < 100) rounds = 100; /* of which one may be unknown */
  for (int i = 0; i < rounds; i++) {
    make_lattice(&b);
    make_pile(&b, &p, NULL, kind);
    make_pile(&b, &q, i % 4 == 0 ? &p : NULL, kind == ODD_FACING && i % 2 == 0 ? BOTH : kind);
    if (p.count > 0 && q.count > 0) check(&b, &p, &q, name);
  }
  tell(&b, name);
  assert_true(b.known[GRAZE_UNKNOWN] <= (uint64_t)rounds / 100);
  graze_query_destroy(b.query);
  free(p.corners);
  free(q.corners);
}

/* A block with a notch, the notch a box that faces the other way; and the same cells with a cavity that has a corner in
 * common with the notch, and one cell more. What only the first has is in the cavity, which it meets in a point. */
static void test_cavity_at_a_notch(void **unused) {
  (void)unused;
  for (int round = 0, rounds = test_thinned() ? 4 : 12; round < rounds; round++) {
    bench b = {.context = shared_context(1), .state = test_seed(90 + (uint64_t)round), .cells = 5};
    double corners[2][9 * 400];
    pile p = {.corners = corners[0]}, q = {.corners = corners[1]};
    assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i <= b.cells; i++) b.plane[k][i] = i;
    }
    add_box_at(&b, &p, (int[]){2, 0, 0}, (int[]){5, 5, 5}, -1);
    add_box_at(&b, &p, (int[]){4, 0, 3}, (int[]){5, 2, 4}, 1);
    cell_set cell = {{{false}}};
    for (int x = 2; x < 5; x++) {
      for (int y = 0; y < 5; y++) {
        for (int z = 0; z < 5; z++) cell[x + 1][y + 1][z + 1] = p.winding[x][y][z] != 0;
      }
    }
    cell[2][2][1] = true;
    cell[4][3][3] = false;
    add_cells(&b, &q, cell, 1);
    check(&b, &p, &q, "cavity");
    check(&b, &q, &p, "cavity, swapped");
    assert_int_equal(b.known[GRAZE_CROSS], 2);
    graze_query_destroy(b.query);
  }
}

static void test_boxes(void **unused) {
  (void)unused;
  run(BOXES, "boxes");
}

static void test_polycubes(void **unused) {
  (void)unused;
  run(POLYCUBES, "polycubes");
}

static void test_both(void **unused) {
  (void)unused;
  run(BOTH, "boxes and polycubes");
}

static void test_odd_facing(void **unused) {
  (void)unused;
  run(ODD_FACING, "triangles that face either way");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cavity_at_a_notch), cmocka_unit_test(test_boxes),
      cmocka_unit_test(test_polycubes),         cmocka_unit_test(test_both),
      cmocka_unit_test(test_odd_facing),        cmocka_unit_test(test_tetrahedra),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
