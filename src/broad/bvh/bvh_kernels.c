/* What a hierarchy of boxes spends its time in: keys along the Hilbert curve and blocks of 16 boxes against each other.
 */
#include "base/simd.h"
#include "broad/bvh/bvh.h"

/* ---- keys ------------------------------------------------------------------------------------------------------ */

typedef uint32_t lanes_u __attribute__((vector_size(64)));

/* Interleaves with two zeros between bits; 21 bits. */
static inline uint64_t spread(uint64_t x) {
  x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
  x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
  x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
  x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
  return (x | x << 2) & UINT64_C(0x1249249249249249);
}

/* J. Skilling, "Programming the Hilbert curve", 2004: coordinates to the transposed index, 16 at a time. */
static inline void hilbert(lanes_u x[3], unsigned bits) {
  for (unsigned q = bits - 1; q > 0; q--) {
    const uint32_t below = (UINT32_C(1) << q) - 1;
    for (int k = 0; k < 3; k++) {
      lanes_u set = -((x[k] >> q) & 1);
      lanes_u swap = (x[0] ^ x[k]) & ~set & below;
      x[0] ^= swap | (set & below);
      x[k] ^= k > 0 ? swap : (lanes_u){0};
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  lanes_u t = x[2] >> 1;
  for (int s = 1; s < 32; s *= 2) t ^= t >> s;
  for (int k = 0; k < 3; k++) x[k] ^= t;
}

void KERNEL(gz_hierarchy_keys)(const key_frame *frame, const box_block *boxes, uint64_t keys[BLOCK]) {
  lanes_u x[3];
  const float most = (float)((UINT32_C(1) << frame->bits) - 1);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < BLOCK; i++) {
      float centre = 0.5f * boxes->bound[k][i] + 0.5f * boxes->bound[3 + k][i];
      float cell = (centre - frame->origin[k]) * frame->scale;
      cell = cell > 0 ? cell : 0; /* NaN too: any key will do, it only must be one */
      cell = cell < most ? cell : most;
      x[k][i] = (uint32_t)(int32_t)cell;
    }
  }
  hilbert(x, frame->bits);
  for (int i = 0; i < BLOCK; i++) keys[i] = spread(x[0][i]) << 2 | spread(x[1][i]) << 1 | spread(x[2][i]);
}

/* ---- 16 boxes and one ------------------------------------------------------------------------------------------ */

/* Sixteen boxes in registers. */
typedef struct sixteen {
#if GRAZE_ISA == 2
  __m512 bound[6];
#elif GRAZE_ISA == 1
  __m256 bound[6][2];
#else
  const box_block *block;
#endif
} sixteen;

static inline sixteen load(const box_block *block) {
  sixteen s;
#if GRAZE_ISA == 2
  for (int k = 0; k < 6; k++) s.bound[k] = _mm512_loadu_ps(block->bound[k]);
#elif GRAZE_ISA == 1
  for (int k = 0; k < 6; k++) {
    s.bound[k][0] = _mm256_loadu_ps(block->bound[k]);
    s.bound[k][1] = _mm256_loadu_ps(block->bound[k] + 8);
  }
#else
  s.block = block;
#endif
  return s;
}

/* Lanes that meet lane i of `one`. */
static inline uint32_t meets(const sixteen *s, const box_block *one, unsigned i) {
#if GRAZE_ISA == 2
  __mmask16 m = 0xffff;
  for (int k = 0; k < 3; k++) {
    m = _mm512_mask_cmp_ps_mask(m, s->bound[k], _mm512_set1_ps(one->bound[3 + k][i]), _CMP_LE_OQ);
    m = _mm512_mask_cmp_ps_mask(m, s->bound[3 + k], _mm512_set1_ps(one->bound[k][i]), _CMP_GE_OQ);
  }
  return m;
#elif GRAZE_ISA == 1
  uint32_t both = 0;
  for (int half = 0; half < 2; half++) {
    __m256 m = _mm256_cmp_ps(s->bound[0][half], _mm256_set1_ps(one->bound[3][i]), _CMP_LE_OQ);
    m = _mm256_and_ps(m, _mm256_cmp_ps(s->bound[3][half], _mm256_set1_ps(one->bound[0][i]), _CMP_GE_OQ));
    for (int k = 1; k < 3; k++) {
      m = _mm256_and_ps(m, _mm256_cmp_ps(s->bound[k][half], _mm256_set1_ps(one->bound[3 + k][i]), _CMP_LE_OQ));
      m = _mm256_and_ps(m, _mm256_cmp_ps(s->bound[3 + k][half], _mm256_set1_ps(one->bound[k][i]), _CMP_GE_OQ));
    }
    both |= (uint32_t)_mm256_movemask_ps(m) << (8 * half);
  }
  return both;
#else
  uint32_t out = 0;
  for (unsigned j = 0; j < BLOCK; j++) {
    unsigned m = 1;
    for (int k = 0; k < 3; k++) {
      m &= (s->block->bound[k][j] <= one->bound[3 + k][i]) & (s->block->bound[3 + k][j] >= one->bound[k][i]);
    }
    out |= m << j;
  }
  return out;
#endif
}

uint32_t KERNEL(gz_hierarchy_meets)(const box_block *block, const float box[6]) {
  box_block one;
  for (int k = 0; k < 6; k++) one.bound[k][0] = box[k];
  sixteen s = load(block);
  return meets(&s, &one, 0);
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

/* Two blocks of one level whose bounds meet, or one block twice. */
typedef struct block_pair {
  uint32_t level, a, b;
} block_pair;

typedef struct descent {
  const hierarchy *h;
  const broad_view *view;
  pair_list *out;
  bool look_again; /* at pairs of which the floats do not tell, or whose layers do not meet */
  unsigned depth;
  block_pair stack[HIERARCHY_LEVELS * BLOCK * BLOCK]; /* a pair leaves at most 256 of the level below */
} descent;

/* Whether all comparisons of lanes i and j are strict: the caller's boxes meet for certain. */
static inline bool certain(const box_block *a, unsigned i, const box_block *b, unsigned j) {
  bool strict = true;
  for (int k = 0; k < 3; k++) {
    strict &= (a->bound[k][i] < b->bound[3 + k][j]) & (b->bound[k][j] < a->bound[3 + k][i]);
  }
  return strict;
}

static inline bool counts(const descent *d, const box_block *a, unsigned i, uint32_t x, const box_block *b, unsigned j,
                          uint32_t y) {
  if (d->view->precision == GRAZE_FLOAT || certain(a, i, b, j)) return view_counts(d->view, x, y);
  return view_meet(d->view, x, y);
}

static inline void push(descent *d, uint32_t level, uint32_t a, uint32_t b) {
  d->stack[d->depth++] = (block_pair){level, a, b};
}

/* Pairs of slot x with the slots in lanes `mask`, in the order of the lanes. Returns how many; with room for 8 more. */
static inline uint32_t store_pairs(uint32_t x, const uint32_t *slots, uint32_t mask, graze_box_pair *to) {
#if GRAZE_ISA == 2
  /* How many lanes meet cannot be foretold, so there is no loop over them. */
  __m512i all = _mm512_loadu_si512(slots), one = _mm512_set1_epi32((int)x);
  __m512i low = _mm512_min_epu32(all, one), high = _mm512_max_epu32(all, one);
  uint32_t n = 0;
  for (int half = 0; half < 2; half++) {
    __m256i a = half == 0 ? _mm512_castsi512_si256(low) : _mm512_extracti64x4_epi64(low, 1);
    __m256i b = half == 0 ? _mm512_castsi512_si256(high) : _mm512_extracti64x4_epi64(high, 1);
    __m512i pairs = _mm512_or_si512(_mm512_cvtepu32_epi64(a), _mm512_slli_epi64(_mm512_cvtepu32_epi64(b), 32));
    __mmask8 m = (__mmask8)(mask >> (8 * half));
    _mm512_storeu_si512(to + n, _mm512_maskz_compress_epi64(m, pairs));
    n += (uint32_t)__builtin_popcount(m);
  }
  return n;
#else
  uint32_t n = 0;
  for (; mask != 0; mask &= mask - 1) to[n++] = pair_of(x, slots[__builtin_ctz(mask)]);
  return n;
#endif
}

/* Lane i of a meets the lanes `mask` of b: pairs, or blocks of the level below to be looked at. */
static inline void take_row(descent *d, const block_pair *p, const box_block *a, const box_block *b, unsigned i,
                            uint32_t mask) {
  if (p->level > 0) {
    for (; mask != 0; mask &= mask - 1) {
      push(d, p->level - 1, BLOCK * p->a + i, BLOCK * p->b + (uint32_t)__builtin_ctz(mask));
    }
    return;
  }
  const uint32_t *slots = d->h->slots.data;
  const uint32_t x = slots[BLOCK * p->a + i];
  graze_box_pair *to = pair_list_data(d->out) + d->out->count;
  uint32_t n = 0;
  if (!d->look_again) {
    d->out->count += store_pairs(x, slots + BLOCK * p->b, mask, to);
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    unsigned j = (unsigned)__builtin_ctz(mask);
    uint32_t y = slots[BLOCK * p->b + j];
    to[n] = pair_of(x, y);
    n += counts(d, a, i, x, b, j, y);
  }
  d->out->count += n;
}

static inline void take_block(descent *d, const block_pair *p) {
  const box_block *a = hierarchy_block(d->h, p->level, p->a);
  sixteen s = load(a);
  for (unsigned i = 0; i < BLOCK; i++) {
    uint32_t mask = meets(&s, a, i);
    if (p->level > 0 && (mask >> i & 1) != 0) push(d, p->level - 1, BLOCK * p->a + i, BLOCK * p->a + i);
    take_row(d, p, a, a, i, mask & ~((UINT32_C(2) << i) - 1));
  }
}

/* Only lanes that meet the other block's bound are looked at; the block with fewer of them gives the rows. */
static inline void take_two(descent *d, block_pair p) {
  const hierarchy *h = d->h;
  const box_block *a = hierarchy_block(h, p.level, p.a), *b = hierarchy_block(h, p.level, p.b);
  sixteen in_a = load(a), in_b = load(b);
  uint32_t rows = meets(&in_a, hierarchy_block(h, p.level + 1, p.b / BLOCK), p.b % BLOCK);
  uint32_t columns = meets(&in_b, hierarchy_block(h, p.level + 1, p.a / BLOCK), p.a % BLOCK);
  if (rows == 0 || columns == 0) return;
  if (__builtin_popcount(columns) < __builtin_popcount(rows)) {
    for (; columns != 0; columns &= columns - 1) {
      unsigned j = (unsigned)__builtin_ctz(columns);
      uint32_t mask = meets(&in_a, b, j);
      if (mask != 0) take_row(d, &(block_pair){p.level, p.b, p.a}, b, a, j, mask);
    }
    return;
  }
  for (; rows != 0; rows &= rows - 1) {
    unsigned i = (unsigned)__builtin_ctz(rows);
    uint32_t mask = meets(&in_b, a, i);
    if (mask != 0) take_row(d, &p, a, b, i, mask);
  }
}

static bool descend(descent *d) {
  while (d->depth > 0) {
    block_pair p = d->stack[--d->depth];
    if (p.level == 0 && !pair_list_room(d->view->context, d->out, BLOCK * BLOCK + 8)) return false;
    if (p.a == p.b) {
      take_block(d, &p);
    } else {
      take_two(d, p);
    }
  }
  return true;
}

/* From the top down to blocks of a's level that meet a's bound and do not come before it. */
bool KERNEL(gz_hierarchy_task)(const hierarchy *h, const broad_view *view, uint32_t level, uint32_t a, pair_list *out) {
  descent d; /* not cleared: the stack is large */
  d.h = h;
  d.view = view;
  d.out = out;
  d.depth = 0;
  d.look_again = view->precision == GRAZE_DOUBLE || view->layers != NULL;
  if (level + 1 == h->levels) {
    push(&d, level, a, a);
    return descend(&d);
  }
  const box_block *bound = hierarchy_block(h, level + 1, a / BLOCK);
  block_pair taller[HIERARCHY_LEVELS * BLOCK];
  unsigned depth = 0;
  taller[depth++] = (block_pair){h->levels - 1, a, 0};
  while (depth > 0) {
    block_pair p = taller[--depth];
    if (p.level == level) {
      push(&d, level, a, p.b);
      if (!descend(&d)) return false;
      continue;
    }
    sixteen s = load(hierarchy_block(h, p.level, p.b));
    unsigned shift = 4 * (p.level - 1 - level); /* to the number of the child that a is below */
    for (uint32_t mask = meets(&s, bound, a % BLOCK); mask != 0; mask &= mask - 1) {
      uint32_t child = BLOCK * p.b + (uint32_t)__builtin_ctz(mask);
      if (child >= a >> shift) taller[depth++] = (block_pair){p.level - 1, a, child};
    }
  }
  return true;
}
