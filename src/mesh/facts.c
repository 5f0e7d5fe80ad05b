/* What every mesh knows about itself: finite coordinates, indices in range, the box, zero-area triangles, a hash of
 * the geometry.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/parallel.h"
#include "mesh/mesh.h"
#include "mesh/survey.h"

enum { TRIANGLES_LEAST = 1 << 13, NUMBERS_LEAST = 1 << 16 };

/* ---- checks ---- */

typedef struct search {
  const void *numbers;
  bool is_double;
  uint64_t limit;
  pieces cut;
  uint64_t first[PARALLEL_PIECES];
} search;

/* A number is finite when its exponent bits are not all ones; x - x is zero for exactly these. */
static bool all_finite_float(const float *x, uint64_t count) {
  uint32_t bad = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bad |= ((bits & 0x7fffffffu) + 0x00800000u) & 0x80000000u;
  }
  return bad == 0;
}

static bool all_finite_double(const double *x, uint64_t count) {
  uint64_t bad = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bad |= ((bits & 0x7fffffffffffffffu) + 0x0010000000000000u) & 0x8000000000000000u;
  }
  return bad == 0;
}

static void search_not_finite(void *argument, uint32_t index) {
  search *s = argument;
  uint64_t begin = pieces_begin(&s->cut, index), end = pieces_end(&s->cut, index);
  const float *f = s->numbers;
  const double *d = s->numbers;
  s->first[index] = UINT64_MAX;
  if (s->is_double ? all_finite_double(d + begin, end - begin) : all_finite_float(f + begin, end - begin)) return;
  while (isfinite(s->is_double ? d[begin] : (double)f[begin])) begin++;
  s->first[index] = begin;
}

static void search_bad_index(void *argument, uint32_t index) {
  search *s = argument;
  uint64_t begin = pieces_begin(&s->cut, index), end = pieces_end(&s->cut, index);
  const uint32_t *numbers = s->numbers;
  /* limit <= 2^32 - 2; below 2^31 a sign test does, which vectorises everywhere. */
  uint32_t limit = (uint32_t)s->limit;
  bool bad = false;
  if (limit <= 0x80000000u) {
    uint32_t signs = 0;
    for (uint64_t i = begin; i < end; i++) signs |= numbers[i] | ((limit - 1) - numbers[i]);
    bad = limit == 0 || signs >> 31 != 0;
  } else {
    for (uint64_t i = begin; i < end; i++) bad |= numbers[i] >= limit;
  }
  s->first[index] = UINT64_MAX;
  if (!bad) return;
  while (numbers[begin] < limit) begin++;
  s->first[index] = begin;
}

static uint64_t run_search(const graze_context *context, search *s, uint64_t count, void (*body)(void *, uint32_t)) {
  s->cut = pieces_of(count, NUMBERS_LEAST);
  gz_parallel_each(context, s->cut.number, body, s);
  for (uint32_t i = 0; i < s->cut.number; i++) {
    if (s->first[i] != UINT64_MAX) return s->first[i];
  }
  return count;
}

uint64_t gz_mesh_first_not_finite(const graze_context *context, const void *coordinates, bool is_double,
                                  uint64_t count) {
  search s = {.numbers = coordinates, .is_double = is_double};
  return run_search(context, &s, count, search_not_finite);
}

uint64_t gz_mesh_first_bad_index(const graze_context *context, const uint32_t *indices, uint64_t count,
                                 uint64_t limit) {
  search s = {.numbers = indices, .limit = limit};
  return run_search(context, &s, count, search_bad_index);
}

/* ---- box and zero area ---- */

typedef struct survey {
  const graze_mesh *mesh;
  uint64_t *bits;
  pieces cut;
  summary parts[PARALLEL_PIECES];
} survey;

static void survey_piece(void *argument, uint32_t index) {
  survey *s = argument;
  const graze_mesh *mesh = s->mesh;
  uint64_t end = pieces_end(&s->cut, index);
  summary total = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
  survey_function *run = CPU_KERNEL_TO_AVX2(gz_survey);
  for (uint64_t begin = pieces_begin(&s->cut, index); begin < end; begin += SURVEY_RUN) {
    uint32_t count = end - begin < SURVEY_RUN ? (uint32_t)(end - begin) : SURVEY_RUN;
    uint64_t word = run(mesh, mesh->triangles + 3 * begin, count, &total);
    s->bits[begin / 64] = word;
    total.degenerate += (uint64_t)__builtin_popcountll(word);
  }
  s->parts[index] = total;
}

static void write_header(mesh_header *header, const summary *total) {
  double magnitude = 0;
  for (int k = 0; k < 3; k++) {
    /* Adding zero turns -0 into 0: which of the two the minimum met first must not matter. */
    header->box_min[k] = total->low[k] + 0.0;
    header->box_max[k] = total->high[k] + 0.0;
    if (header->triangle_count != 0) magnitude = fmax(magnitude, fmax(fabs(total->low[k]), fabs(total->high[k])));
  }
  header->magnitude = magnitude;
  header->tree_usable = magnitude == 0 || (magnitude >= 0x1p-60 && magnitude <= 0x1p60);
  header->degenerate_count = total->degenerate;
}

void gz_mesh_compute_basics(graze_mesh *mesh, uint64_t *degenerate) {
  mesh_header *header = mesh->header;
  survey s = {.mesh = mesh, .bits = degenerate, .cut = pieces_of(mesh->triangle_count, TRIANGLES_LEAST)};
  gz_parallel_each(mesh->context, s.cut.number, survey_piece, &s);
  summary total = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
  for (uint32_t i = 0; i < s.cut.number; i++) {
    for (int k = 0; k < 3; k++) {
      total.low[k] = fmin(total.low[k], s.parts[i].low[k]);
      total.high[k] = fmax(total.high[k], s.parts[i].high[k]);
    }
    total.degenerate += s.parts[i].degenerate;
  }
  write_header(header, &total);
  header->geometry_hash = gz_mesh_geometry_hash(mesh);
}

uint64_t gz_mesh_geometry_hash(const graze_mesh *mesh) {
  const mesh_header *header = mesh->header;
  const void *vertices = mesh->is_double ? (const void *)mesh->vertices_double : mesh->vertices_float;
  uint64_t vertex_bytes = 3 * header->vertex_count * (mesh->is_double ? sizeof(double) : sizeof(float));
  uint64_t hash = gz_mesh_hash(mesh->context, vertices, vertex_bytes, header->precision);
  return gz_mesh_hash(mesh->context, mesh->triangles, 12 * header->triangle_count, hash);
}
