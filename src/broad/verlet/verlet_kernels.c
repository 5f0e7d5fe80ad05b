/* Kernels of the Verlet lists; see verlet.h. Without SIMD they are the definition, number by number. */
#include "base/simd.h"
#include "broad/packed.h"
#include "broad/verlet/verlet.h"

#if GRAZE_ISA >= 1

typedef __m256 lanes;

static inline lanes load(const verlet_box *box) {
  return _mm256_loadu_ps(box->n);
}

/* What the numbers of a box that meets this one are at most. */
static inline lanes limits_of(lanes box) {
  return _mm256_xor_ps(_mm256_permute2f128_ps(box, box, 1), _mm256_set1_ps(-0.0f));
}

static inline lanes lanes_of(__m128 low, __m128 high) {
  const __m128 zero = _mm_setzero_ps(), minus = _mm_set1_ps(-0.0f);
  return _mm256_set_m128(_mm_xor_ps(_mm_blend_ps(high, zero, 8), minus), _mm_blend_ps(low, zero, 8));
}

/* min x y z, max x y z. */
static inline lanes from_floats(const float *box) {
  return lanes_of(_mm_loadu_ps(box), _mm_permute_ps(_mm_loadu_ps(box + 2), 0x39));
}

/* Doubles as pack_box turns them: beyond the range of floats the last one stands for all. */
static inline __m128 nearest(const double *from, __m128 *wrong) {
  const __m256d x = _mm256_loadu_pd(from), limit = _mm256_set1_pd((double)FLT_MAX);
  const __m128 f = _mm256_cvtpd_ps(_mm256_max_pd(_mm256_min_pd(x, limit), _mm256_sub_pd(_mm256_setzero_pd(), limit)));
  const __m256d differ = _mm256_cmp_pd(_mm256_cvtps_pd(f), x, _CMP_NEQ_UQ);
  *wrong = _mm_or_ps(*wrong, _mm256_castps256_ps128(_mm256_castpd_ps(differ)));
  *wrong = _mm_or_ps(*wrong, _mm256_extractf128_ps(_mm256_castpd_ps(differ), 1));
  return f;
}

static inline lanes from_doubles(const double *box, bool is_free, __m128 *wrong) {
  if (is_free) return lanes_of(_mm_set1_ps(INFINITY), _mm_set1_ps(-INFINITY));
  __m128 low = nearest(box, wrong), last = nearest(box + 2, wrong);
  return lanes_of(low, _mm_permute_ps(last, 0x39));
}

uint32_t KERNEL(gz_verlet_pack)(const broad_view *view, const uint32_t *slots, uint32_t count, const verlet_box *fats,
                                verlet_box *boxes, uint32_t *left, bool *rounded) {
  const bool doubles = view->precision == GRAZE_DOUBLE;
  __m128 wrong = _mm_setzero_ps();
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t slot = slots != NULL ? slots[i] : i;
    const void *at = view->data + (size_t)slot * view->stride;
    const lanes box = doubles ? from_doubles(at, *(const double *)at == (double)INFINITY, &wrong) : from_floats(at);
    _mm256_storeu_ps(boxes[slot].n, box);
    left[number] = slot;
    number += _mm256_movemask_ps(_mm256_cmp_ps(load(&fats[slot]), box, _CMP_LE_OQ)) != 0xff;
  }
  if (_mm_movemask_ps(wrong) != 0) *rounded = true;
  return number;
}

/* Of eight results of eight lanes each: a bit where all eight lanes are set. */
static inline uint8_t all_set(const lanes r[8]) {
  __m256i half[2];
  for (int k = 0; k < 2; k++) {
    const __m256i *from = (const __m256i *)(const void *)(r + 4 * k);
    half[k] = _mm256_packs_epi16(_mm256_packs_epi32(from[0], from[1]), _mm256_packs_epi32(from[2], from[3]));
  }
  const __m256i lower = _mm256_permute2x128_si256(half[0], half[1], 0x20),
                upper = _mm256_permute2x128_si256(half[0], half[1], 0x31);
  const __m256i all = _mm256_cmpeq_epi32(_mm256_and_si256(lower, upper), _mm256_set1_epi32(-1));
  return (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(all));
}

void KERNEL(gz_verlet_meet)(const verlet_box *boxes, const graze_box_pair *pairs, uint64_t words, uint64_t *closed,
                            uint64_t *open) {
  uint8_t *to = (uint8_t *)closed, *to_open = (uint8_t *)open;
  for (uint64_t i = 0; i < words * (VERLET_WORD / 8); i++, pairs += 8) {
    lanes meet[8], strictly[8];
    for (int k = 0; k < 8; k++) {
      const lanes a = limits_of(load(&boxes[pairs[k].a])), b = load(&boxes[pairs[k].b]);
      meet[k] = _mm256_cmp_ps(b, a, _CMP_LE_OQ);
      if (open != NULL)
        strictly[k] = _mm256_or_ps(_mm256_cmp_ps(b, a, _CMP_LT_OQ),
                                   _mm256_castsi256_ps(_mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, -1)));
    }
    to[i] = all_set(meet);
    if (open != NULL) to_open[i] = all_set(strictly);
  }
}

uint32_t KERNEL(gz_verlet_search)(const verlet_box *boxes, uint32_t count, const verlet_box *box, uint32_t *hits) {
  const lanes limits = limits_of(load(box));
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; i += 8) {
    lanes meet[8];
    for (uint32_t k = 0; k < 8; k++) {
      const uint32_t at = i + k < count ? i + k : count - 1;
      meet[k] = _mm256_cmp_ps(load(&boxes[at]), limits, _CMP_LE_OQ);
    }
    uint32_t bits = all_set(meet);
    if (count - i < 8) bits &= (1u << (count - i)) - 1;
    for (; bits != 0; bits &= bits - 1) hits[number++] = i + (uint32_t)__builtin_ctz(bits);
  }
  return number;
}

#else

uint32_t KERNEL(gz_verlet_pack)(const broad_view *view, const uint32_t *slots, uint32_t count, const verlet_box *fats,
                                verlet_box *boxes, uint32_t *left, bool *rounded) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t slot = slots != NULL ? slots[i] : i;
    const graze_box box = view_box(view, slot);
    float six[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
    if (!box_is_empty(&box)) *rounded |= pack_box(view, slot, six);
    boxes[slot] = (verlet_box){{six[0], six[1], six[2], 0, -six[3], -six[4], -six[5], 0}};
    bool stays = true;
    for (int k = 0; k < 8; k++) stays &= fats[slot].n[k] <= boxes[slot].n[k];
    left[number] = slot;
    number += !stays;
  }
  return number;
}

static inline bool meets(const verlet_box *a, const verlet_box *b) {
  bool meet = true;
  for (int k = 0; k < 3; k++) meet &= (b->n[k] <= -a->n[4 + k]) & (b->n[4 + k] <= -a->n[k]);
  return meet;
}

static inline bool meets_strictly(const verlet_box *a, const verlet_box *b) {
  bool meet = true;
  for (int k = 0; k < 3; k++) meet &= (b->n[k] < -a->n[4 + k]) & (b->n[4 + k] < -a->n[k]);
  return meet;
}

void KERNEL(gz_verlet_meet)(const verlet_box *boxes, const graze_box_pair *pairs, uint64_t words, uint64_t *closed,
                            uint64_t *open) {
  for (uint64_t w = 0; w < words; w++, pairs += VERLET_WORD) {
    uint64_t meet = 0, strictly = 0;
    for (unsigned k = 0; k < VERLET_WORD; k++) {
      const verlet_box *a = &boxes[pairs[k].a], *b = &boxes[pairs[k].b];
      meet |= (uint64_t)meets(a, b) << k;
      if (open != NULL) strictly |= (uint64_t)meets_strictly(a, b) << k;
    }
    closed[w] = meet;
    if (open != NULL) open[w] = strictly;
  }
}

uint32_t KERNEL(gz_verlet_search)(const verlet_box *boxes, uint32_t count, const verlet_box *box, uint32_t *hits) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; i++) {
    hits[number] = i;
    number += meets(box, &boxes[i]);
  }
  return number;
}

#endif
