/* From boxes to records: each goes to the first level whose cells are as large as it is. */
#include "base/simd.h"
#include "broad/grid/grid.h"

static inline uint32_t slab_of(const grid_level *level, uint32_t z) {
  return level->slab_base + (z >> GRID_CELL_BITS);
}

static inline uint32_t key_of(const grid_level *level, uint32_t x, uint32_t y) {
  return (y >> GRID_CELL_BITS) << level->x_bits | x >> (GRID_CELL_BITS - level->fine);
}

#if GRAZE_ISA == 2

typedef struct fill_lanes {
  __m512i order; /* of the axes */
  __m256i ends;  /* brings the high ends to where the low ones are */
  __m128i flip;  /* complements high ends */
  __m256i reach; /* of level 0: by way of memory each box would wait for the last one */
} fill_lanes;

static inline fill_lanes fill_prepare(const grid_fill *f) {
  const int *axis = f->axis;
  return (fill_lanes){
      _mm512_setr_epi64(axis[0], axis[1], axis[2], 3 + axis[0], 3 + axis[1], 3 + axis[2], 6, 7),
      _mm256_setr_epi32(3, 4, 5, 3, 4, 5, 6, 7),
      _mm_setr_epi16(0, 0, 0, -1, -1, -1, 0, 0),
      _mm256_setzero_si256(),
  };
}

static inline __m512d fill_load(const fill_lanes *l, const broad_view *view, uint32_t slot) {
  const void *at = view->data + (size_t)slot * view->stride;
  __m512d v = view->precision == GRAZE_DOUBLE ? _mm512_maskz_loadu_pd(0x3f, at)
                                              : _mm512_cvtps_pd(_mm256_maskz_loadu_ps(0x3f, at));
  return _mm512_permutexvar_pd(l->order, v);
}

static inline __m256i fill_parts(const grid_level *level, __m512d v) {
  __m512d part = _mm512_mul_pd(_mm512_sub_pd(v, _mm512_loadu_pd(level->origin)), _mm512_loadu_pd(level->scale));
  part = _mm512_max_pd(part, _mm512_loadu_pd(level->least));
  return _mm512_cvttpd_epi32(_mm512_min_pd(part, _mm512_loadu_pd(level->most)));
}

/* Whether some number was drawn to the bounds. */
static inline bool fill_outside(const grid_level *level, __m256i q) {
  __m256i least = _mm512_cvttpd_epi32(_mm512_loadu_pd(level->least));
  __m256i most = _mm512_cvttpd_epi32(_mm512_loadu_pd(level->most));
  return ((_mm256_cmpeq_epi32_mask(q, least) | _mm256_cmpeq_epi32_mask(q, most)) & 0x3f) != 0;
}

static inline void fill_finish(grid_fill *f, const fill_lanes *l) {
  __m256i *reach = (__m256i *)f->reach[0];
  _mm256_storeu_si256(reach, _mm256_max_epi32(_mm256_loadu_si256(reach), l->reach));
}

/* False: the box is free, or too large for all levels (`too_large`). */
static inline bool fill_one(grid_fill *f, fill_lanes *l, uint32_t slot, uint32_t at, bool *too_large) {
  __m512d v = fill_load(l, f->view, slot), high = _mm512_permutexvar_pd(_mm512_setr_epi64(3, 4, 5, 3, 4, 5, 6, 7), v);
  if (f->view->holes && (_mm512_cmp_pd_mask(v, high, _CMP_GT_OQ) & 7) != 0) return false;
  uint32_t k = 0;
  __m256i q = fill_parts(&f->levels[0], v);
  __m256i extent = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(q, l->ends), q);
  while ((_mm256_cmpgt_epi32_mask(extent, _mm256_set1_epi32(GRID_CELL)) & 7) != 0 ||
         (f->levels[k].strict && fill_outside(&f->levels[k], q))) {
    if (++k == f->level_count) {
      *too_large = true;
      return false;
    }
    q = fill_parts(&f->levels[k], v);
    extent = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(q, l->ends), q);
  }
  const grid_level *level = &f->levels[k];
  if (k == 0) {
    l->reach = _mm256_max_epi32(l->reach, extent);
  } else {
    __m256i *reach = (__m256i *)f->reach[k];
    _mm256_storeu_si256(reach, _mm256_max_epi32(_mm256_loadu_si256(reach), extent));
  }
  __m128i record = _mm_xor_si128(_mm256_cvtepi32_epi16(q), l->flip);
  _mm_storeu_si128((__m128i *)&f->records[at], _mm_insert_epi32(record, (int)slot, 3));
  uint64_t xy = (uint64_t)_mm256_extract_epi64(q, 0);
  f->keys[at] = key_of(level, (uint32_t)xy, (uint32_t)(xy >> 32));
  uint32_t slab = slab_of(level, (uint32_t)_mm256_extract_epi32(q, 2));
  f->slabs[at] = slab;
  f->counts[slab]++;
  return true;
}

#elif GRAZE_ISA == 1

typedef struct fill_lanes {
  __m256i low, high; /* where a box's low ends are among its first four numbers; its high ends among the last four */
  __m128i reach;     /* of level 0: by way of memory each box would wait for the last one */
} fill_lanes;

/* A number is one lane as a float and two as a double. */
static inline fill_lanes fill_prepare(const grid_fill *f) {
  const int *a = f->axis, wide = f->view->precision == GRAZE_FLOAT ? 1 : 2;
  int at[8] = {0};
  for (int k = 0; k < 3 * wide; k++) at[k] = wide * a[k / wide] + k % wide;
  __m256i low = _mm256_loadu_si256((const __m256i *)at);
  return (fill_lanes){low, _mm256_add_epi32(low, _mm256_set1_epi32(wide)), _mm_setzero_si128()};
}

/* Three of four numbers of a box. */
static inline __m256d fill_floats(const char *at, __m256i order) {
  return _mm256_cvtps_pd(_mm_permutevar_ps(_mm_loadu_ps((const float *)at), _mm256_castsi256_si128(order)));
}

static inline __m256d fill_doubles(const char *at, __m256i order) {
  return _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)at), order));
}

/* Three numbers, all low ends or all high ones, in parts of a level's cells. */
static inline __m128i fill_parts(const grid_level *level, __m256d v) {
  __m256d part = _mm256_mul_pd(_mm256_sub_pd(v, _mm256_loadu_pd(level->origin)), _mm256_loadu_pd(level->scale));
  part = _mm256_max_pd(part, _mm256_loadu_pd(level->least));
  return _mm256_cvttpd_epi32(_mm256_min_pd(part, _mm256_loadu_pd(level->most)));
}

/* Whether some number was drawn to the bounds. */
static inline bool fill_outside(const grid_level *level, __m128i low, __m128i high) {
  __m128i least = _mm256_cvttpd_epi32(_mm256_loadu_pd(level->least));
  __m128i most = _mm256_cvttpd_epi32(_mm256_loadu_pd(level->most));
  __m128i lows = _mm_or_si128(_mm_cmpeq_epi32(low, least), _mm_cmpeq_epi32(low, most));
  __m128i highs = _mm_or_si128(_mm_cmpeq_epi32(high, least), _mm_cmpeq_epi32(high, most));
  return (_mm_movemask_ps(_mm_castsi128_ps(_mm_or_si128(lows, highs))) & 7) != 0;
}

/* Slabs are counted by themselves: a count would wait for the one before whenever it may be the same. */
static inline void fill_finish(grid_fill *f, const fill_lanes *l) {
  for (uint32_t i = 0; i < f->filled; i++) f->counts[f->slabs[f->begin + i]]++;
  __m128i *reach = (__m128i *)f->reach[0];
  _mm_storeu_si128(reach, _mm_max_epi32(_mm_loadu_si128(reach), l->reach));
}

/* False: the box is free, or too large for all levels (`too_large`). */
static inline bool fill_one(grid_fill *f, fill_lanes *l, uint32_t slot, uint32_t at, bool *too_large) {
  const __m128i lows = _mm_setr_epi8(0, 1, 4, 5, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i highs = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9, -1, -1, -1, -1);
  const __m128i cell = _mm_set1_epi32(GRID_CELL), flip = _mm_setr_epi16(0, 0, 0, -1, -1, -1, 0, 0);
  const char *box = f->view->data + (size_t)slot * f->view->stride;
  bool floats = f->view->precision == GRAZE_FLOAT;
  __m256d first = floats ? fill_floats(box, l->low) : fill_doubles(box, l->low);
  __m256d last =
      floats ? fill_floats(box + 2 * sizeof(float), l->high) : fill_doubles(box + 2 * sizeof(double), l->high);
  if (f->view->holes && (_mm256_movemask_pd(_mm256_cmp_pd(first, last, _CMP_GT_OQ)) & 7) != 0) return false;
  uint32_t k = 0;
  __m128i low = fill_parts(&f->levels[0], first), high = fill_parts(&f->levels[0], last);
  __m128i extent = _mm_sub_epi32(high, low);
  while ((_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(extent, cell))) & 7) != 0 ||
         (f->levels[k].strict && fill_outside(&f->levels[k], low, high))) {
    if (++k == f->level_count) {
      *too_large = true;
      return false;
    }
    low = fill_parts(&f->levels[k], first);
    high = fill_parts(&f->levels[k], last);
    extent = _mm_sub_epi32(high, low);
  }
  const grid_level *level = &f->levels[k];
  if (k == 0) {
    l->reach = _mm_max_epi32(l->reach, extent);
  } else {
    __m128i *reach = (__m128i *)f->reach[k];
    _mm_storeu_si128(reach, _mm_max_epi32(_mm_loadu_si128(reach), extent));
  }
  __m128i record = _mm_or_si128(_mm_shuffle_epi8(low, lows), _mm_shuffle_epi8(high, highs));
  record = _mm_insert_epi32(_mm_xor_si128(record, flip), (int)slot, 3);
  _mm_storeu_si128((__m128i *)&f->records[at], record);
  uint64_t xy = (uint64_t)_mm_cvtsi128_si64(low);
  f->keys[at] = key_of(level, (uint32_t)xy, (uint32_t)(xy >> 32));
  f->slabs[at] = slab_of(level, (uint32_t)_mm_extract_epi32(low, 2));
  return true;
}

#else

typedef struct fill_lanes {
  const int *axis;
} fill_lanes;

static inline fill_lanes fill_prepare(const grid_fill *f) {
  return (fill_lanes){f->axis};
}

static inline void fill_finish(grid_fill *f, const fill_lanes *l) {
  (void)f, (void)l;
}

static inline bool fits(const grid_level *level, const int32_t q[6]) {
  for (int k = 0; k < 6 && level->strict; k++) {
    if (q[k] == (int32_t)level->least[k] || q[k] == (int32_t)level->most[k]) return false;
  }
  return q[3] - q[0] <= GRID_CELL && q[4] - q[1] <= GRID_CELL && q[5] - q[2] <= GRID_CELL;
}

/* False: the box is free, or too large for all levels (`too_large`). */
static inline bool fill_one(grid_fill *f, const fill_lanes *l, uint32_t slot, uint32_t at, bool *too_large) {
  graze_box box = view_box(f->view, slot);
  if (box_is_empty(&box)) return false;
  int32_t q[6];
  uint32_t k = 0;
  for (; k < f->level_count; k++) {
    grid_parts(&f->levels[k], l->axis, &box, q);
    if (fits(&f->levels[k], q)) break;
  }
  if (k == f->level_count) {
    *too_large = true;
    return false;
  }
  const grid_level *level = &f->levels[k];
  grid_record *record = &f->records[at];
  for (int j = 0; j < 3; j++) {
    uint32_t extent = (uint32_t)(q[3 + j] - q[j]);
    if (extent > f->reach[k][j]) f->reach[k][j] = extent;
    record->low[j] = (uint16_t)q[j];
    record->high[j] = (uint16_t)~q[3 + j];
  }
  record->slot = slot;
  f->keys[at] = key_of(level, (uint32_t)q[0], (uint32_t)q[1]);
  uint32_t slab = slab_of(level, (uint32_t)q[2]);
  f->slabs[at] = slab;
  f->counts[slab]++;
  return true;
}

#endif

void KERNEL(gz_grid_fill)(grid_fill *f) {
  fill_lanes lanes = fill_prepare(f);
  uint32_t at = f->begin;
  bool all = f->view->layers == NULL;
  f->refused = 0;
  for (uint32_t i = f->begin; i < f->end; i++) {
    uint32_t slot = f->some ? f->keys[i] : i;
    bool too_large = false;
    if (!all && !view_takes(f->view, slot)) continue;
    at += fill_one(f, &lanes, slot, at, &too_large);
    /* Places from the end are free: every box so far took at most one. */
    if (too_large) f->keys[f->end - ++f->refused] = slot;
  }
  f->filled = at - f->begin;
  fill_finish(f, &lanes);
}
