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

static inline lanes from_doubles(const double *box, __m128 *wrong) {
  const bool is_free = box[0] == (double)INFINITY;
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
    const lanes box = doubles ? from_doubles(at, &wrong) : from_floats(at);
    _mm256_storeu_ps(boxes[slot].n, box);
    left[number] = slot;
    number += _mm256_movemask_ps(_mm256_cmp_ps(load(&fats[slot]), box, _CMP_LE_OQ)) != 0xff;
  }
  if (_mm_movemask_ps(wrong) != 0) *rounded = true;
  return number;
}

/* Of four results of eight lanes each: four lanes in both halves, whose ands are set where all eight lanes were. */
static inline __m256i pack_four(lanes a, lanes b, lanes c, lanes d) {
  return _mm256_packs_epi16(_mm256_packs_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)),
                            _mm256_packs_epi32(_mm256_castps_si256(c), _mm256_castps_si256(d)));
}

/* Of eight such results: a bit where all lanes are set. */
static inline uint8_t all_set(__m256i first, __m256i second) {
  const __m256i lower = _mm256_permute2x128_si256(first, second, 0x20),
                upper = _mm256_permute2x128_si256(first, second, 0x31);
  const __m256i all = _mm256_cmpeq_epi32(_mm256_and_si256(lower, upper), _mm256_set1_epi32(-1));
  return (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(all));
}

static inline lanes at_place(const verlet_box *boxes, uint32_t place) {
  return _mm256_loadu_ps(
      (const float *)(const void *)((const char *)boxes + (size_t)place * (sizeof *boxes / VERLET_PLACES)));
}

static inline lanes meet_pair(const verlet_box *boxes, graze_box_pair pair, bool strictly) {
  const lanes limits = limits_of(at_place(boxes, pair.a)), box = at_place(boxes, pair.b);
  if (!strictly) return _mm256_cmp_ps(box, limits, _CMP_LE_OQ);
  const __m256i no_numbers = _mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, -1);
  return _mm256_or_ps(_mm256_cmp_ps(box, limits, _CMP_LT_OQ), _mm256_castsi256_ps(no_numbers));
}

static inline __m256i meet_four(const verlet_box *boxes, const graze_box_pair *pairs, bool strictly) {
  return pack_four(meet_pair(boxes, pairs[0], strictly), meet_pair(boxes, pairs[1], strictly),
                   meet_pair(boxes, pairs[2], strictly), meet_pair(boxes, pairs[3], strictly));
}

static inline __attribute__((always_inline)) void meet_words(const verlet_box *boxes, const graze_box_pair *pairs,
                                                             uint64_t words, uint64_t *out, bool strictly) {
  uint8_t *to = (uint8_t *)out;
  for (uint64_t i = 0; i < words * (VERLET_WORD / 8); i++, pairs += 8)
    to[i] = all_set(meet_four(boxes, pairs, strictly), meet_four(boxes, pairs + 4, strictly));
}

void KERNEL(gz_verlet_meet)(const verlet_box *boxes, const graze_box_pair *pairs, uint64_t words, uint64_t *closed,
                            uint64_t *open) {
  meet_words(boxes, pairs, words, closed, false);
  if (open != NULL) meet_words(boxes, pairs, words, open, true);
}

static inline lanes meet_box(const verlet_box *boxes, uint32_t count, uint32_t at, lanes limits) {
  return _mm256_cmp_ps(load(&boxes[at < count ? at : count - 1]), limits, _CMP_LE_OQ);
}

uint32_t KERNEL(gz_verlet_search)(const verlet_box *boxes, uint32_t count, const verlet_box *box, uint32_t *hits) {
  const lanes limits = limits_of(load(box));
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; i += 8) {
    __m256i half[2];
    for (uint32_t k = 0; k < 2; k++) {
      const uint32_t at = i + 4 * k;
      half[k] = pack_four(meet_box(boxes, count, at, limits), meet_box(boxes, count, at + 1, limits),
                          meet_box(boxes, count, at + 2, limits), meet_box(boxes, count, at + 3, limits));
    }
    uint32_t bits = all_set(half[0], half[1]);
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
    const graze_box exact = view_box(view, slot);
    float six[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
    if (!box_is_empty(&exact)) *rounded |= pack_box(view, slot, six);
    const verlet_box box = {{six[0], six[1], six[2], 0, -six[3], -six[4], -six[5], 0}};
    bool stays = true;
    for (int k = 0; k < 8; k++) {
      stays &= fats[slot].n[k] <= box.n[k];
    }
    boxes[slot] = box;
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
      const verlet_box *a = &boxes[pairs[k].a / VERLET_PLACES], *b = &boxes[pairs[k].b / VERLET_PLACES];
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
