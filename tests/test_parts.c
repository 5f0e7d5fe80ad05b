/* Relations of meshes that have closed parts and open ones: solids of cells with sheets of unit squares beside them, in
 * them and on them. What lies where is counted on the grid; the answer must be that, or unknown with a reason that
 * holds; and it must be known where no sheet is near. */
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "polycubes.h"
#include "support.h"

enum { FACES = CELLS + 1, ROOM = 12 * CELLS * CELLS * CELLS };
static double room[9 * (size_t)ROOM];

/* Unit squares: square[k][x][y][z] is across axis k between the cells x, y, z less one on that axis and x, y, z. Its
 * value is the way that it faces: 1, -1, or 0 where there is none. */
typedef struct sheets {
  int square[3][FACES][FACES][FACES];
} sheets;

typedef struct bench {
  graze_context *context;
  graze_query *query;
  uint64_t state;
  uint64_t known[GRAZE_UNKNOWN + 1], required, doubts[GRAZE_DOUBT_POINTS_ONLY + 1];
} bench;

static bool has_cell(const polycube *p, const int at[3]) {
  for (int k = 0; k < 3; k++) {
    if (at[k] < 0 || at[k] >= CELLS) return false;
  }
  return p->cell[at[0]][at[1]][at[2]];
}

/* ---- making ---- */

/* A rectangle of squares in one plane. */
static void flat_sheet(sheets *s, uint64_t *state) {
  int k = (int)random_below(state, 3), u = (k + 1) % 3, v = (k + 2) % 3, at[3];
  int low_u = (int)random_below(state, CELLS - 2), low_v = (int)random_below(state, CELLS - 2);
  int high_u = low_u + 1 + (int)random_below(state, 3), high_v = low_v + 1 + (int)random_below(state, 3);
  at[k] = (int)random_below(state, FACES);
  for (at[u] = low_u; at[u] < high_u && at[u] < CELLS; at[u]++) {
    for (at[v] = low_v; at[v] < high_v && at[v] < CELLS; at[v]++) s->square[k][at[0]][at[1]][at[2]] = 1;
  }
}

/* The boundary of cells without the squares that face up, so that no part of it is closed, and without some more. */
static void torn_shell(sheets *s, const polycube *p, uint64_t *state, double missing) {
  for (int x = 0; x < FACES; x++) {
    for (int y = 0; y < FACES; y++) {
      for (int z = 0; z < FACES; z++) {
        for (int k = 0; k < 3; k++) {
          const int high[3] = {x, y, z}, low[3] = {x - (k == 0), y - (k == 1), z - (k == 2)};
          bool below = has_cell(p, low), above = has_cell(p, high);
          if (below == above || (k == 2 && below) || random_unit(state) < missing) continue;
          s->square[k][x][y][z] = below ? 1 : -1;
        }
      }
    }
  }
}

/* Appends the squares' triangles; returns the new count. */
static uint32_t put_sheets(const sheets *s, uint64_t *state, uint32_t count) {
  for (int x = 0; x < FACES; x++) {
    for (int y = 0; y < FACES; y++) {
      for (int z = 0; z < FACES; z++) {
        for (int k = 0; k < 3; k++) {
          int way = s->square[k][x][y][z], u = (k + 1) % 3, v = (k + 2) % 3;
          if (way == 0) continue;
          double c[4][3];
          uint32_t first = random_below(state, 4);
          for (int i = 0; i < 4; i++) {
            const double at[3] = {x, y, z};
            memcpy(c[i], at, sizeof at);
            c[i][u] += i == 1 || i == 2;
            c[i][v] += i >= 2;
          }
          for (int t = 0; t < 2; t++) {
            uint32_t corner[3] = {first, (first + 1 + (uint32_t)t) % 4, (first + 2 + (uint32_t)t) % 4};
            if (way < 0) {
              uint32_t swap = corner[1];
              corner[1] = corner[2];
              corner[2] = swap;
            }
            for (int i = 0; i < 3; i++) memcpy(room + 9 * (size_t)count + 3 * i, c[corner[i]], sizeof c[0]);
            count++;
          }
        }
      }
    }
  }
  return count;
}

/* ---- what the grid says ---- */

typedef struct tally {
  bool common, only_a, only_b, meet, sheet_meets, pierced;
} tally;

static bool cell_touches(const polycube *p, int x, int y, int z) {
  for (int i = -1; i <= 1; i++) {
    for (int j = -1; j <= 1; j++) {
      for (int k = -1; k <= 1; k++) {
        if (has_cell(p, (const int[3]){x + i, y + j, z + k})) return true;
      }
    }
  }
  return false;
}

/* A closed square and a closed cell share a point when the cell is one of 18. */
static bool square_touches(const polycube *p, int k, const int at[3]) {
  for (int i = -1; i <= 0; i++) {
    for (int j = -1; j <= 1; j++) {
      for (int l = -1; l <= 1; l++) {
        int c[3];
        c[k] = at[k] + i;
        c[(k + 1) % 3] = at[(k + 1) % 3] + j;
        c[(k + 2) % 3] = at[(k + 2) % 3] + l;
        if (has_cell(p, c)) return true;
      }
    }
  }
  return false;
}

static void count_cells(const polycube *a, const polycube *b, tally *n) {
  for (int x = 0; x < CELLS; x++) {
    for (int y = 0; y < CELLS; y++) {
      for (int z = 0; z < CELLS; z++) {
        bool in_a = a->cell[x][y][z], in_b = b->cell[x][y][z];
        n->common |= in_a && in_b;
        n->only_a |= in_a && !in_b;
        n->only_b |= in_b && !in_a;
        n->meet |= in_a && cell_touches(b, x, y, z);
      }
    }
  }
}

/* A square within b's cells is common; one outside of them is a's own; one on their boundary is neither. */
static void count_squares(const sheets *s, const polycube *b, tally *n) {
  for (int x = 0; x < FACES; x++) {
    for (int y = 0; y < FACES; y++) {
      for (int z = 0; z < FACES; z++) {
        for (int k = 0; k < 3; k++) {
          if (s->square[k][x][y][z] == 0) continue;
          const int high[3] = {x, y, z}, low[3] = {x - (k == 0), y - (k == 1), z - (k == 2)};
          bool below = has_cell(b, low), above = has_cell(b, high);
          n->pierced |= below && above;
          n->only_a |= !below && !above;
          n->sheet_meets |= square_touches(b, k, high);
        }
      }
    }
  }
  n->common |= n->pierced;
  n->meet |= n->sheet_meets;
}

static graze_relation relation_of(const tally *n) {
  if (!n->common) return n->meet ? GRAZE_TOUCH : GRAZE_SEPARATE;
  if (n->only_a && n->only_b) return GRAZE_CROSS;
  return n->only_a ? GRAZE_B_IN_A : n->only_b ? GRAZE_A_IN_B : GRAZE_DUPLICATE;
}

/* ---- where an answer is due ---- */

typedef struct grid_box {
  int low[3], high[3];
} grid_box;

static grid_box sheet_box(const sheets *s) {
  grid_box box = {{FACES, FACES, FACES}, {-1, -1, -1}};
  for (int i = 0; i < 3 * FACES * FACES * FACES; i++) {
    if ((&s->square[0][0][0][0])[i] == 0) continue;
    int k = i / (FACES * FACES * FACES), at[3] = {i / (FACES * FACES) % FACES, i / FACES % FACES, i % FACES};
    for (int l = 0; l < 3; l++) {
      int high = at[l] + (l != k);
      box.low[l] = at[l] < box.low[l] ? at[l] : box.low[l];
      box.high[l] = high > box.high[l] ? high : box.high[l];
    }
  }
  return box;
}

static bool has_room(const grid_box *box) {
  return box->low[0] < box->high[0] && box->low[1] < box->high[1] && box->low[2] < box->high[2];
}

/* Some cell of p lies in the box. */
static bool any_within(const polycube *p, const grid_box *box) {
  for (int x = box->low[0]; x < box->high[0]; x++) {
    for (int y = box->low[1]; y < box->high[1]; y++) {
      for (int z = box->low[2]; z < box->high[2]; z++) {
        if (has_cell(p, (const int[3]){x, y, z})) return true;
      }
    }
  }
  return false;
}

/* Every cell of p does. */
static bool all_within(const polycube *p, const grid_box *box) {
  for (int x = 0; x < CELLS; x++) {
    for (int y = 0; y < CELLS; y++) {
      for (int z = 0; z < CELLS; z++) {
        bool within = x >= box->low[0] && x < box->high[0] && y >= box->low[1] && y < box->high[1] &&
                      z >= box->low[2] && z < box->high[2];
        if (p->cell[x][y][z] && !within) return false;
      }
    }
  }
  return true;
}

static bool squares_touch(const sheets *s, const polycube *p) {
  tally n = {0};
  count_squares(s, p, &n);
  return n.sheet_meets;
}

/* ---- one pair ---- */

static graze_relate_result relate(const bench *b, const graze_mesh *m, const graze_mesh *n, graze_open_rule rule,
                                  graze_exactness tier) {
  graze_relate_options options = graze_default_relate_options();
  graze_relate_result out;
  options.open = rule;
  options.exactness = tier;
  assert_int_equal(graze_relate_meshes(b->query, m, NULL, n, NULL, &options, &out), GRAZE_OK);
  return out;
}

/* The place of the doubt is the middle of an edge of the mesh. */
static void check_place(const graze_relate_result *got, uint32_t triangles) {
  for (uint32_t i = 0; i < 3 * triangles; i++) {
    const double *p = room + 3 * (size_t)i, *q = room + 3 * (size_t)(i % 3 == 2 ? i - 2 : i + 1);
    bool here = true;
    for (int k = 0; k < 3; k++) here &= got->verdict.doubt_point[k] == 0.5 * p[k] + 0.5 * q[k];
    if (here) return;
  }
  fail_msg("no edge at %g %g %g", got->verdict.doubt_point[0], got->verdict.doubt_point[1],
           got->verdict.doubt_point[2]);
}

static bool branches(const graze_mesh *mesh) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  return facts.nonmanifold_edges > 0;
}

/* Where sheets end on the cells' boundary they may cut it into parts that are open themselves: then a is a surface,
 * which crosses what it goes through, and may have no inside when that is the rule. */
static bool holds(const tally *n, graze_open_rule rule, bool apart, graze_relation got) {
  if (got == relation_of(n) || got == GRAZE_UNKNOWN) return true;
  return !apart && (rule == GRAZE_OPEN_SURFACE || (got == GRAZE_CROSS && n->pierced));
}

/* Mesh a is of the cells pa and the sheets, b of the cells pb. */
static void check_pair(bench *b, const polycube *pa, const sheets *s, const polycube *pb, const char *what) {
  tally n = {0};
  count_cells(pa, pb, &n);
  count_squares(s, pb, &n);
  graze_relation want = relation_of(&n);
  uint32_t nb = polycube_surface(pb, 1, &b->state, room);
  graze_mesh *mb = test_mesh(b->context, room, nb, GRAZE_VOLUMES_ORIENTED);
  uint32_t na = put_sheets(s, &b->state, polycube_surface(pa, 1, &b->state, room));
  graze_mesh *ma = test_mesh(b->context, room, na, GRAZE_VOLUMES_ORIENTED);
  for (int rule = 0; rule < 2 && nb > 0 && na > 0; rule++) {
    graze_relate_result got = relate(b, ma, mb, (graze_open_rule)rule, GRAZE_T1);
    graze_relate_result back = relate(b, mb, ma, (graze_open_rule)rule, GRAZE_T1);
    assert_int_equal(back.verdict.relation, swapped(got.verdict.relation));
    assert_int_equal(back.verdict.doubt, got.verdict.doubt);
    if (random_unit(&b->state) < 0.1)
      assert_int_equal(relate(b, ma, mb, (graze_open_rule)rule, GRAZE_T2).verdict.relation, got.verdict.relation);
    grid_box box = sheet_box(s);
    bool inside = has_room(&box) && all_within(pb, &box), apart = !squares_touch(s, pa);
    if (!holds(&n, (graze_open_rule)rule, apart, got.verdict.relation)) {
      fail_msg("%s: %s, not %s", what, graze_relation_string(got.verdict.relation), graze_relation_string(want));
    }
    if (rule == 0 && inside && got.verdict.relation != GRAZE_CROSS)
      assert_int_equal(got.verdict.relation, GRAZE_UNKNOWN);
    bool due = apart && (rule == 1 || !has_room(&box) || !(any_within(pb, &box) || any_within(pa, &box)));
    if (due && (rule == 0 || branches(ma))) due = !n.sheet_meets;
    if (due && got.verdict.relation == GRAZE_UNKNOWN)
      fail_msg("%s: unknown (%s)", what, graze_doubt_string(got.verdict.doubt));
    b->required += due;
    b->known[got.verdict.relation]++;
    b->doubts[got.verdict.doubt]++;
    if (got.verdict.relation != GRAZE_UNKNOWN) continue;
    assert_true(got.verdict.doubt == GRAZE_DOUBT_OPEN || got.verdict.doubt == GRAZE_DOUBT_NONMANIFOLD ||
                got.verdict.doubt == GRAZE_DOUBT_MISORIENTED || got.verdict.doubt == GRAZE_DOUBT_SELF_INTERSECTING);
    if (got.verdict.doubt_mesh == 0) check_place(&got, na);
    if (apart) assert_true(got.verdict.doubt_mesh == 0 && got.verdict.doubt != GRAZE_DOUBT_SELF_INTERSECTING);
  }
  graze_mesh_destroy(ma);
  graze_mesh_destroy(mb);
}

static void random_cells(bench *b, polycube *p, int low, int high) {
  polycube_random(p, &b->state, 1, low, high, 0.2 + 0.8 * random_unit(&b->state));
  polycube_mend(p, 1);
}

static void run(bench *b, int rounds, int kind, const char *what) {
  for (int i = 0; i < rounds; i++) {
    polycube pa, pb, torn;
    sheets s;
    memset(&s, 0, sizeof s);
    int low = (int)random_below(&b->state, 6), other = (int)random_below(&b->state, 6);
    random_cells(b, &pa, low, low + 2 + (int)random_below(&b->state, 3));
    random_cells(b, &pb, other, other + 1 + (int)random_below(&b->state, 4));
    if (i % 5 == 0) pb = pa;
    if (kind == 0) {
      flat_sheet(&s, &b->state);
    } else {
      int at = (int)random_below(&b->state, 6);
      random_cells(b, &torn, at, at + 1 + (int)random_below(&b->state, 4));
      torn_shell(&s, &torn, &b->state, 0.5 * random_unit(&b->state));
      if (i % 4 == 0) pb = torn;
    }
    if (kind == 2) flat_sheet(&s, &b->state);
    check_pair(b, &pa, &s, &pb, what);
  }
}

static void test_kind(uint64_t seed, int kind, const char *what) {
  bench b = {.context = test_context(1, NULL), .state = seed};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  int rounds = test_rounds(400, 12000);
  uint64_t some = (uint64_t)rounds / 8;
  run(&b, rounds, kind, what);
  print_message("%s: %llu due;", what, (unsigned long long)b.required);
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) {
    print_message(" %llu %s", (unsigned long long)b.known[r], graze_relation_string((graze_relation)r));
  }
  print_message("; %llu open, %llu of three\n", (unsigned long long)b.doubts[GRAZE_DOUBT_OPEN],
                (unsigned long long)b.doubts[GRAZE_DOUBT_NONMANIFOLD]);
  assert_true(b.required > some && b.known[GRAZE_TOUCH] > some && b.known[GRAZE_CROSS] > some);
  graze_query_destroy(b.query);
  graze_context_destroy(b.context);
}

/* ---- parts that run through each other ---- */

/* Winding numbers of two solids of cells, each of which may face inwards. */
static void add_windings(const polycube *p, int way, int winding[CELLS * CELLS * CELLS]) {
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) winding[i] += way * (&p->cell[0][0][0])[i];
}

static void turn_over(double *corners, uint32_t count) {
  for (uint32_t t = 0; t < count; t++) {
    double swap[3], *c = corners + 9 * (size_t)t;
    memcpy(swap, c + 3, sizeof swap);
    memcpy(c + 3, c + 6, sizeof swap);
    memcpy(c + 6, swap, sizeof swap);
  }
}

static void cubes_of_two(bench *b, polycube *p) {
  polycube_random(p, &b->state, 2, 0, 6, 0.3 + 0.7 * random_unit(&b->state));
  polycube_mend(p, 2);
}

static void shift_by_one(polycube *p) {
  polycube from = *p;
  memset(p, 0, sizeof *p);
  for (int x = 1; x < CELLS; x++) {
    for (int y = 1; y < CELLS; y++) {
      for (int z = 1; z < CELLS; z++) p->cell[x][y][z] = from.cell[x - 1][y - 1][z - 1];
    }
  }
}

/* Cubes of two cells on even places, and on odd ones, in squares of two: neither faces nor edges coincide. */
static graze_mesh *overlapping_mesh(bench *b, polycube *solid, bool turned) {
  int winding[CELLS * CELLS * CELLS] = {0};
  polycube even, odd;
  cubes_of_two(b, &even);
  cubes_of_two(b, &odd);
  uint32_t first = polycube_surface(&even, 2, &b->state, room);
  uint32_t second = polycube_surface(&odd, 2, &b->state, room + 9 * (size_t)first);
  for (size_t i = 9 * (size_t)first; i < 9 * (size_t)(first + second); i++) room[i] += 1;
  if (turned) turn_over(room + 9 * (size_t)first, second);
  shift_by_one(&odd);
  add_windings(&even, 1, winding);
  add_windings(&odd, turned ? -1 : 1, winding);
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) (&solid->cell[0][0][0])[i] = winding[i] != 0;
  return first + second == 0 ? NULL : test_mesh(b->context, room, first + second, GRAZE_VOLUMES_ORIENTED);
}

static graze_mesh *simple_mesh(bench *b, polycube *solid) {
  int low = (int)random_below(&b->state, 6);
  random_cells(b, solid, low, low + 1 + (int)random_below(&b->state, 4));
  uint32_t n = polycube_surface(solid, 1, &b->state, room);
  return n == 0 ? NULL : test_mesh(b->context, room, n, GRAZE_VOLUMES_ORIENTED);
}

static void test_overlaps(void **unused) {
  (void)unused;
  bench b = {.context = test_context(1, NULL), .state = 44};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  int rounds = test_rounds(400, 12000);
  uint64_t some = (uint64_t)rounds / 40;
  for (int i = 0; i < rounds; i++) {
    polycube pa, pb;
    graze_mesh *ma = overlapping_mesh(&b, &pa, i % 3 == 0);
    graze_mesh *mb = i % 4 == 0 ? overlapping_mesh(&b, &pb, i % 8 == 0) : simple_mesh(&b, &pb);
    if (ma != NULL && mb != NULL) {
      graze_relation want = polycube_relation(&pa, &pb);
      graze_relate_result got = relate(&b, ma, mb, GRAZE_OPEN_UNKNOWN, GRAZE_T1);
      assert_int_equal(relate(&b, mb, ma, GRAZE_OPEN_UNKNOWN, GRAZE_T1).verdict.relation,
                       swapped(got.verdict.relation));
      if (got.verdict.relation != want && got.verdict.relation != GRAZE_UNKNOWN) {
        fail_msg("overlaps %d: %s, not %s", i, graze_relation_string(got.verdict.relation),
                 graze_relation_string(want));
      }
      b.known[got.verdict.relation]++;
      b.doubts[got.verdict.doubt]++;
    }
    graze_mesh_destroy(ma);
    graze_mesh_destroy(mb);
  }
  print_message("overlaps:");
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) {
    print_message(" %llu %s", (unsigned long long)b.known[r], graze_relation_string((graze_relation)r));
  }
  print_message("\n");
  assert_true(b.known[GRAZE_TOUCH] > some && b.known[GRAZE_CROSS] > some && b.known[GRAZE_B_IN_A] > some);
  graze_query_destroy(b.query);
  graze_context_destroy(b.context);
}

static void test_flat_sheets(void **unused) {
  (void)unused;
  test_kind(41, 0, "flat sheets");
}

static void test_torn_shells(void **unused) {
  (void)unused;
  test_kind(42, 1, "torn shells");
}

static void test_both(void **unused) {
  (void)unused;
  test_kind(43, 2, "torn shells and flat sheets");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flat_sheets),
      cmocka_unit_test(test_torn_shells),
      cmocka_unit_test(test_both),
      cmocka_unit_test(test_overlaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
