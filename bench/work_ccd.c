/* bench/work_ccd.c: continuous collision. Queries of three kinds, each beside the stage of integers alone where it can
 * be reached, which says what is right; and a sheet that is crumpled, against itself. */
#include <math.h>
#include <stdlib.h>

#include "contest.h"
#include "graze/graze.h"
#ifdef BENCH_PRIVATE
#include "exact/ccd.h"
#endif

/* ---- queries -------------------------------------------------------------------------------------------------- */

typedef struct query_job {
  graze_context *context;
  graze_ccd_query *queries;
  graze_ccd_result *results;
  uint32_t count;
} query_job;

/* Near each other, with paths that are apart for the most part. */
static void make_near(uint64_t *state, graze_ccd_query *q) {
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      q->points[0][i][k] = draw_signed(state);
      q->points[1][i][k] = q->points[0][i][k] + 0.2 * draw_signed(state);
    }
  }
}

/* The vertex goes through the face, or the edge through the other, after two fifths of the way. */
static void make_crossing(uint64_t *state, graze_ccd_query *q) {
  make_near(state, q);
  for (int k = 0; k < 3; k++) {
    double x[4];
    for (int i = 0; i < 4; i++) x[i] = 0.6 * q->points[0][i][k] + 0.4 * q->points[1][i][k];
    double move =
        q->kind == GRAZE_CCD_VERTEX_FACE ? (x[1] + x[2] + x[3]) / 3 - x[0] : 0.5 * (x[2] + x[3] - x[0] - x[1]);
    for (int e = 0; e < 2; e++) {
      q->points[e][0][k] += move;
      if (q->kind == GRAZE_CCD_EDGE_EDGE) q->points[e][1][k] += move;
    }
  }
}

/* A corner arrives at a corner at t = 1, to the bit. */
static void make_touching(uint64_t *state, graze_ccd_query *q) {
  make_near(state, q);
  for (int k = 0; k < 3; k++) q->points[1][0][k] = q->points[1][2][k];
}

/* All in one plane: a vertex slides over a face that moves, too, or an edge over an edge; they touch at t = 0. */
static void make_resting(uint64_t *state, graze_ccd_query *q) {
  make_near(state, q);
  for (int i = 0; i < 8; i++) q->points[i / 4][i % 4][2] = 0.125;
  for (int k = 0; k < 2; k++)
    q->points[0][0][k] =
        q->kind == GRAZE_CCD_EDGE_EDGE ? q->points[0][2][k] : 0.5 * (q->points[0][1][k] + q->points[0][2][k]);
}

static void tell(const query_job *j, bool check, sample *out) {
  for (uint32_t i = 0; i < j->count; i++) {
    out->count += j->results[i].hit;
    if (check && j->results[i].hit) out->hash += splitmix64(i + (uint64_t)ldexp(j->results[i].earliest, 60));
  }
}

static void run_batch(void *argument, bool check, sample *out) {
  query_job *j = argument;
  double start = seconds_now();
  if (graze_ccd_batch(j->context, j->count, j->queries, j->results) != GRAZE_OK)
    fail("%s", graze_last_error(j->context)->message);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  tell(j, check, out);
}

#ifdef BENCH_PRIVATE
static void run_exact(void *argument, bool check, sample *out) {
  query_job *j = argument;
  ccd_scratch *scratch = must_alloc(gz_ccd_scratch_size(), 1);
  double start = seconds_now();
  for (uint32_t i = 0; i < j->count; i++) {
    double time[2] = {0, 0};
    bool hit = gz_ccd_exact(&j->queries[i], scratch, time);
    j->results[i] = (graze_ccd_result){.earliest = hit ? time[0] : 0, .latest = hit ? time[1] : 0, .hit = hit};
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  tell(j, check, out);
  free(scratch);
}
#endif

static void one_batch(bench *b, const char *name, void (*make)(uint64_t *, graze_ccd_query *)) {
  if (!bench_wants(b, "ccd/%s", name)) return;
  query_job j = {.context = b->context, .count = b->list ? 1 : b->quick ? 500 : 20000};
  j.queries = must_alloc(j.count, sizeof *j.queries);
  j.results = must_alloc(j.count, sizeof *j.results);
  uint64_t state = 1;
  for (uint32_t i = 0; i < j.count; i++) {
    j.queries[i].kind = i & 1;
    make(&state, &j.queries[i]);
  }
  contest c;
  contest_begin(&c, b, "query", j.count, j.count, "ccd/%s", name);
#ifdef BENCH_PRIVATE
  sample truth = {0};
  run_exact(&j, true, &truth);
  contest_expect(&c, truth.count, truth.hash);
  contest_ours(&c, "cpu/integers", run_exact, &j)->alternative = true;
#endif
  contest_ours(&c, "cpu", run_batch, &j);
  contest_end(&c);
  free(j.queries);
  free(j.results);
}

/* ---- a mesh --------------------------------------------------------------------------------------------------- */

typedef struct sheet_job {
  graze_context *context;
  graze_ccd_mesh mesh;
} sheet_job;

/* A square of side^2 vertices with small waves, which is pushed together to half its length while the waves grow. */
static graze_ccd_mesh make_sheet(uint32_t side) {
  size_t vertices = (size_t)side * side, triangles = 2 * (size_t)(side - 1) * (side - 1);
  double *start = must_alloc(3 * vertices, sizeof *start), *end = must_alloc(3 * vertices, sizeof *end);
  uint32_t *corners = must_alloc(3 * triangles, sizeof *corners), *at = corners;
  uint64_t state = 7;
  for (size_t v = 0; v < vertices; v++) {
    double x = (double)(v % side), y = (double)(v / side), wave = sin(0.9 * x) * cos(0.05 * y);
    const double from[3] = {x, y, wave}, to[3] = {0.5 * x + 0.6 * sin(1.8 * x), y, 1.6 * wave};
    for (size_t k = 0; k < 3; k++) {
      start[3 * v + k] = from[k] + 0.1 * draw_signed(&state);
      end[3 * v + k] = to[k] + 0.1 * draw_signed(&state);
    }
  }
  for (uint32_t i = 0; i + 1 < side; i++) {
    for (uint32_t k = 0; k + 1 < side; k++) {
      uint32_t a = i * side + k, c = a + side;
      const uint32_t two[6] = {a, a + 1, c, a + 1, c + 1, c};
      for (int n = 0; n < 6; n++) *at++ = two[n];
    }
  }
  return (graze_ccd_mesh){start, end, corners, (uint32_t)vertices, (uint32_t)triangles};
}

static void run_sheet(void *argument, bool check, sample *out) {
  sheet_job *j = argument;
  graze_ccd_pairs found;
  (void)check;
  double start = seconds_now();
  if (graze_ccd_self(j->context, &j->mesh, false, &found) != GRAZE_OK)
    fail("%s", graze_last_error(j->context)->message);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = found.vertex_face_count + found.edge_edge_count;
  out->hash = found.vertex_face_hash + found.edge_edge_hash;
}

static void one_sheet(bench *b) {
  if (!bench_wants(b, "ccd/sheet")) return;
  sheet_job j = {b->context, make_sheet(b->list ? 2 : b->quick ? 20 : 200)};
  graze_ccd_pairs found;
  if (graze_ccd_self(j.context, &j.mesh, false, &found) != GRAZE_OK) fail("%s", graze_last_error(j.context)->message);
  contest c;
  contest_begin(&c, b, "pair of swept boxes", j.mesh.triangle_count, found.candidate_count, "ccd/sheet");
  contest_ours(&c, "cpu", run_sheet, &j);
  contest_end(&c);
  free((void *)(uintptr_t)j.mesh.start);
  free((void *)(uintptr_t)j.mesh.end);
  free((void *)(uintptr_t)j.mesh.triangles);
}

void work_ccd(bench *b) {
  one_batch(b, "near", make_near);
  one_batch(b, "crossing", make_crossing);
  one_batch(b, "touching", make_touching);
  one_batch(b, "resting", make_resting);
  one_sheet(b);
}
