/* Proofs of fans.
 *
 * Take the triangles around vertex v and look at them along a coordinate axis. When all turn the same way for certain,
 * each covers a sector of less than half a turn around v and lies over it one to one. When every corner that follows v
 * in one triangle goes before it in exactly one other, the sectors close up to whole turns, and their number is the
 * number of crossings from below v to above it on another axis, which comparisons of coordinates tell. One turn: the
 * sectors do not overlap, so two of the triangles meet in the edge that their sectors share, or in v alone.
 *
 * The sign of a turn is certain beyond the bound of survey_kernels.c.
 */
#include "base/simd.h"
#include "narrow/fans.h"

/* Whether a is below b, a bit for each axis. */
static inline unsigned below(d4 a, d4 b) {
  return d4_bits(a < b) & 7u;
}

static inline d4 turn_left(d4 a) {
  return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}

static inline d4 turn_right(d4 a) {
  return __builtin_shufflevector(a, a, 2, 0, 1, 3);
}

static inline d4 magnitude(d4 a) {
  return (d4)((l4)a & (l4){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX});
}

/* Reads one number past the vertex: the block goes on behind the vertices. */
static inline d4 load_vertex(const graze_mesh *mesh, uint32_t vertex) {
  d4 v;
  if (mesh->is_double) {
    memcpy(&v, mesh->vertices_double + 3 * (size_t)vertex, sizeof v);
    return v;
  }
  v4 f;
  memcpy(&f, mesh->vertices_float + 3 * (size_t)vertex, sizeof f);
  return __builtin_convertvector(f, d4);
}

/* FAN_SIGNS of a triangle. */
static inline unsigned turn_signs(d4 a, d4 b, d4 c) {
  d4 e = b - a, f = c - a;
  d4 p = turn_left(e) * turn_right(f), q = turn_right(e) * turn_left(f), n = p - q;
  d4 bound = 0x1p-51 * (magnitude(p) + magnitude(q)) + 0x1p-1000;
  return below(bound, n) | below(bound, -n) << 3;
}

static inline void add_corner(const fan_slice *s, uint32_t v, uint32_t next, uint32_t previous, unsigned signs,
                              unsigned crossings) {
  static const uint32_t spread[8] = {0x000, 0x001, 0x010, 0x011, 0x100, 0x101, 0x110, 0x111};
  if (v < s->first || v >= s->end) return;
  uint32_t seen = s->seen[v], place = (seen >> FAN_COUNT) & 15;
  if (place == FAN_ROOM) {
    s->seen[v] = seen & ~(uint32_t)FAN_SIGNS;
    return;
  }
  s->rings[v].next[place] = next;
  s->rings[v].previous[place] = previous;
  seen += (1u << FAN_COUNT) + (spread[crossings] << FAN_CROSSINGS);
  s->seen[v] = seen & (signs | ~(uint32_t)FAN_SIGNS);
}

static void add_triangles(const fan_slice *s) {
  const graze_mesh *mesh = s->mesh;
  const uint32_t *v = mesh->triangles;
  for (uint32_t t = 0; t < mesh->triangle_count; t++, v += 3) {
    d4 a = load_vertex(mesh, v[0]), b = load_vertex(mesh, v[1]), c = load_vertex(mesh, v[2]);
    unsigned signs = turn_signs(a, b, c);
    add_corner(s, v[0], v[1], v[2], signs, ~below(a, b) & below(a, c));
    add_corner(s, v[1], v[2], v[0], signs, ~below(b, c) & below(b, a));
    add_corner(s, v[2], v[0], v[1], signs, ~below(c, a) & below(c, b));
  }
}

/* Whether each of the first `count` corners stands exactly once among `next` and once among `previous`. */
static inline bool closed_ring(const fan_ring *ring, unsigned count) {
  i8 next, previous, as_previous = {0}, as_next = {0}, place = {0, 1, 2, 3, 4, 5, 6, 7};
  memcpy(&next, ring->next, sizeof next);
  memcpy(&previous, ring->previous, sizeof previous);
  for (unsigned i = 0; i < count; i++) {
    as_previous += next == (i8){0} + (int32_t)ring->previous[i];
    as_next += previous == (i8){0} + (int32_t)ring->next[i];
  }
  /* A true comparison is -1. */
  i8 off = ((as_previous + 1) | (as_next + 1)) & (place < (i8){0} + (int32_t)count);
#if GRAZE_ISA > 0
  return _mm256_testz_si256((__m256i)off, (__m256i)off);
#else
  int32_t any = 0;
  for (int i = 0; i < FAN_ROOM; i++) any |= off[i];
  return any == 0;
#endif
}

static inline bool proved_fan(uint32_t seen, const fan_ring *ring) {
  if ((seen & FAN_SIGNS) == 0) return false;
  unsigned axis = (unsigned)__builtin_ctz(seen) % 3, across = (axis + 1) % 3;
  if (((seen >> (FAN_CROSSINGS + 4 * across)) & 15) != 1) return false;
  return closed_ring(ring, (seen >> FAN_COUNT) & 15);
}

void KERNEL(gz_fan_judge)(const fan_slice *s) {
  for (uint32_t v = s->first; v < s->end; v++) s->seen[v] = FAN_SIGNS;
  add_triangles(s);
  for (uint32_t v = s->first; v < s->end; v++) s->proved[v] = proved_fan(s->seen[v], &s->rings[v]);
}

/* ---- names in common ---- */

#if GRAZE_ISA == 2

uint64_t KERNEL(gz_fan_share)(const corner_names *a, const corner_names *b, uint64_t mask) {
  __m512i name_a[3], name_b[3];
  for (int c = 0; c < 3; c++) {
    name_a[c] = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)a->name[c]));
    name_b[c] = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)b->name[c]));
  }
  __m512i pick = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m512i two = _mm512_set1_epi32(2);
  uint64_t out = 0;
  for (int j = 0; j < NODE_WIDTH; j += 2, pick = _mm512_add_epi32(pick, two)) {
    if (((mask >> (8 * j)) & 0xffff) == 0) continue;
    unsigned same = 0;
    for (int d = 0; d < 3; d++) {
      __m512i other = _mm512_permutexvar_epi32(pick, name_b[d]);
      for (int c = 0; c < 3; c++) same |= _mm512_cmpeq_epi32_mask(name_a[c], other);
    }
    out |= (uint64_t)same << (8 * j);
  }
  return out & mask;
}

#else

uint64_t KERNEL(gz_fan_share)(const corner_names *a, const corner_names *b, uint64_t mask) {
  i8 name_a[3];
  memcpy(name_a, a->name, sizeof name_a);
  uint64_t out = 0;
  for (int j = 0; j < NODE_WIDTH; j++) {
    if (((mask >> (8 * j)) & 0xff) == 0) continue;
    i8 same = {0};
    for (int d = 0; d < 3; d++) {
      i8 other = (i8){0} + (int32_t)b->name[d][j];
      same |= (name_a[0] == other) | (name_a[1] == other) | (name_a[2] == other);
    }
    out |= (uint64_t)v8_bits(same) << (8 * j);
  }
  return out & mask;
}

#endif
