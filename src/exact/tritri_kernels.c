/* The block kernel, written once over base/simd.h.
 *
 * Stage 1 (tritri_filter.h) is double arithmetic with an error bound, stage 2 (tritri_lattice.h) exact arithmetic
 * for coordinates on a common grid: meshes stored as floats and models drawn on a grid, and so nearly all true zeros.
 * Stage 3 (tritri_level.h) takes triangles in one plane across an axis, stage 4 (tritri_square.h) those in planes
 * across two axes, and the scalar function what is left.
 */
#include <string.h>

#include "exact/tritri.h"
#include "exact/tritri_batch.h"
#include "exact/tritri_filter.h"
#include "exact/tritri_images.h"
#include "exact/tritri_lattice.h"
#include "exact/tritri_level.h"
#include "exact/tritri_square.h"

static uint8_t decide_alone(const pair_source *source, unsigned at) {
  double a[9], b[9], zero = 0;
  for (int k = 0; k < 9; k++) {
    a[k] = source->a[k][at];
    b[k] = source->b[k][at];
    zero += 0 * a[k] + 0 * b[k];
  }
  /* NaN and infinities make every sign of the two stages uncertain, so that they always come here. */
  if (zero != 0) return TRITRI_NOT_FINITE;
  graze_tritri r;
  gz_tritri_scalar(a, b, &r);
  return (uint8_t)(r.kind | (r.coplanar << 2) | (r.degenerate << 3));
}

/* Copies the pairs side by side. */
static void pack_pairs(const pair_source *source, uint64_t pairs, tritri_block *packed) {
  unsigned to = 0;
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    unsigned bits = lanes_of(pairs, at);
    if (bits == 0) continue;
    for (int k = 0; k < 9; k++) {
      lanes_pack(packed->a[k] + to, source->a[k] + at, bits, TRITRI_BLOCK - to);
      lanes_pack(packed->b[k] + to, source->b[k] + at, bits, TRITRI_BLOCK - to);
    }
    to += (unsigned)__builtin_popcount(bits);
  }
}

static void unpack_answer(const answer_words *got, uint64_t places, answer_words *answer) {
  answer->kind_low |= bits_deposit(got->kind_low, places);
  answer->kind_high |= bits_deposit(got->kind_high, places);
  answer->coplanar |= bits_deposit(got->coplanar, places);
  answer->thin_a |= bits_deposit(got->thin_a, places);
  answer->thin_b |= bits_deposit(got->thin_b, places);
}

/* The lattice stage for few pairs of a block, packed. */
static uint64_t lattice_packed(const pair_source *source, uint64_t wanted, tritri_trend *trend, answer_words *answer) {
  tritri_block block;
  answer_words got = {0, 0, 0, 0, 0};
  uint64_t zero;
  pack_pairs(source, wanted, &block);
  const pair_source packed = source_of(&block);
  uint64_t all = first_bits((unsigned)__builtin_popcountll(wanted));
  uint64_t known = lattice_block(&packed, all, 0, trend, &got, &zero);
  unpack_answer(&got, wanted, answer);
  return bits_deposit(known, wanted);
}

static __attribute__((noinline)) uint64_t level_rough(const pair_source *source, uint64_t wanted,
                                                      answer_words *answer) {
  return level_block(source, wanted, false, answer);
}

static __attribute__((noinline)) uint64_t level_fine(const pair_source *source, uint64_t wanted, answer_words *answer) {
  return level_block(source, wanted, true, answer);
}

/* The level stage, for few pairs packed; what it leaves open then fine. */
static uint64_t level_pairs(const pair_source *source, uint64_t wanted, answer_words *answer) {
  const unsigned count = (unsigned)__builtin_popcountll(wanted);
  uint64_t known, all = wanted, places = ~(uint64_t)0;
  tritri_block block;
  answer_words got = {0, 0, 0, 0, 0};
  pair_source packed = *source;
  if (2 * count < TRITRI_BLOCK) {
    pack_pairs(source, wanted, &block);
    packed = source_of(&block);
    all = first_bits(count);
    places = wanted;
  }
  known = level_rough(&packed, all, &got);
  if (known != all) known |= level_fine(&packed, all & ~known, &got);
  unpack_answer(&got, places, answer);
  return bits_deposit(known, places);
}

/* The stages for planes across axes. */
static __attribute__((noinline)) uint64_t axis_pairs(const pair_source *source, uint64_t left, uint64_t level,
                                                     answer_words *answer) {
  answer_words got = {0, 0, 0, 0, 0};
  tritri_block block;
  if ((left & level) != 0) left &= ~level_pairs(source, left & level, answer);
  if ((left & ~level) == 0) return left;
  const uint64_t wanted = left & ~level;
  pack_pairs(source, wanted, &block);
  const pair_source packed = source_of(&block);
  const uint64_t known = square_block(&packed, NULL, first_bits((unsigned)__builtin_popcountll(wanted)), &got);
  unpack_answer(&got, wanted, answer);
  return left & ~bits_deposit(known, wanted);
}

/* Byte k is 1 where bit k of the eight is set. */
static inline uint64_t spread_bits(uint64_t bits) {
  uint64_t copies = (bits & 0xff) * 0x0101010101010101u & 0x8040201008040201u;
  return (copies + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

static inline void write_codes(const answer_words *w, unsigned count, uint8_t *codes) {
  for (unsigned i = 0; i < count; i += 8) {
    uint64_t bytes = spread_bits(w->kind_low >> i) | spread_bits(w->kind_high >> i) << 1 |
                     spread_bits(w->coplanar >> i) << 2 | spread_bits(w->thin_a >> i) << 3 |
                     spread_bits(w->thin_b >> i) << 4;
    for (unsigned k = 0; k < 8 && i + k < count; k++) codes[i + k] = (uint8_t)(bytes >> (8 * k));
  }
}

/* The stages in lanes, in the order that the trend asks for. Returns what they leave open, and in *open_count how many
 * the filter left open or was not asked for.
 *
 * The lattice stage alone takes 1.3 times as long as the filter, and a pair that goes through both, packed in between,
 * three times: from one pair in six on it goes first. With hits_only boxes decide many pairs, so that the filter pays;
 * then pairs in planes across axes, as flush faces mostly are, do without the lattice.
 */
static inline uint64_t decide_lanes(const pair_source *source, uint64_t all, bool hits_only, unsigned ahead,
                                    tritri_trend *trend, answer_words *answer, unsigned *open_count) {
  uint64_t left = all, zero = 0, segments = 0, level = 0;
  unsigned count = (unsigned)__builtin_popcountll(all);
  bool tried = trend->exact;
  if (tried) {
    left &= ~lattice_block(source, all, ahead, trend, answer, &zero);
    trend->exact = 6 * (unsigned)__builtin_popcountll(zero) >= count;
    *open_count = count - (unsigned)__builtin_popcountll(left);
    if (left == 0) return 0;
  }
  left = filter_block(source, left, hits_only, NULL, FILTER_EXACT, tried ? 0 : ahead, &segments, &level);
  answer->kind_high |= segments;
  *open_count += (unsigned)__builtin_popcountll(left);
  if (left == 0) return 0;
  if (hits_only) left = axis_pairs(source, left, level, answer);
  if (left == 0) return 0;
  if (!tried) {
    const unsigned open = (unsigned)__builtin_popcountll(left);
    uint64_t known = 2 * open < count ? lattice_packed(source, left, trend, answer)
                                      : lattice_block(source, left, 0, trend, answer, &zero);
    trend->exact = !hits_only && 6 * (unsigned)__builtin_popcountll(known) >= count;
    left &= ~known;
  }
  return hits_only || left == 0 ? left : axis_pairs(source, left, level, answer);
}

static inline unsigned decide_pairs(const pair_source *source, unsigned count, bool hits_only, unsigned ahead,
                                    tritri_trend *trend, uint8_t *codes) {
  answer_words answer = {0, 0, 0, 0, 0};
  unsigned open_count = 0;
  uint64_t left = decide_lanes(source, first_bits(count), hits_only, ahead, trend, &answer, &open_count);
  if (hits_only) {
    uint64_t meet = answer.kind_low | answer.kind_high;
    answer.coplanar &= meet;
    answer.thin_a &= meet;
    answer.thin_b &= meet;
  }
  write_codes(&answer, count, codes);
  for (; left != 0; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    codes[i] = decide_alone(source, i);
    if (hits_only && (codes[i] & TRITRI_KIND) == 0) codes[i] = 0;
  }
  return open_count;
}

unsigned KERNEL(gz_tritri_block)(const tritri_block *block, unsigned count, bool hits_only, uint8_t *codes) {
  pair_source source = source_of(block);
  tritri_trend trend = {false, false};
  return count == 0 ? 0 : decide_pairs(&source, count, hits_only, 0, &trend, codes);
}

void KERNEL(gz_tritri_columns)(const double *const a[9], const double *const b[9], uint64_t from, unsigned ahead,
                               tritri_trend *trend, uint8_t *codes) {
  pair_source source;
  for (int k = 0; k < 9; k++) {
    source.a[k] = a[k] + from;
    source.b[k] = b[k] + from;
  }
  decide_pairs(&source, TRITRI_BLOCK, false, ahead, trend, codes);
}

unsigned KERNEL(gz_tritri_plain)(const tritri_block *block, unsigned count, bool hits_only, uint8_t *codes) {
  pair_source source = source_of(block);
  answer_words answer = {0, 0, 0, 0, 0};
  uint64_t level,
      open = filter_block(&source, first_bits(count), hits_only, NULL, FILTER_PLAIN, 0, &answer.kind_high, &level);
  write_codes(&answer, count, codes);
  return (unsigned)__builtin_popcountll(open);
}

unsigned KERNEL(gz_tritri_near)(const tritri_block *block, unsigned count, const double slack[3], uint8_t *codes) {
  pair_source source = source_of(block);
  answer_words answer = {0, 0, 0, 0, 0};
  uint64_t level,
      left = filter_block(&source, first_bits(count), true, slack, FILTER_REAL, 0, &answer.kind_high, &level);
  unsigned open = (unsigned)__builtin_popcountll(left);
  write_codes(&answer, count, codes);
  for (; left != 0; left &= left - 1) codes[__builtin_ctzll(left)] = TRITRI_OPEN;
  return open;
}

void KERNEL(gz_tritri_images)(tritri_block *block, unsigned count, const graze_pose *pose_a, const graze_pose *pose_b,
                              const double reach[3], uint8_t *codes) {
  tritri_block rest;
  const pair_source source = source_of(block), rests = source_of(&rest);
  bool moved_a[3], moved_b[3], exact[3];
  level_words w;
  answer_words answer = {0, 0, 0, 0, 0};
  for (int k = 0; k < 3; k++) {
    moved_a[k] = row_only_moves(pose_a->m + 4 * k);
    moved_b[k] = row_only_moves(pose_b->m + 4 * k);
    exact[k] = moved_a[k] && moved_b[k];
  }
  memset(&w, 0, sizeof w);
  for (unsigned at = 0; at < count; at += VD_LANES) {
    make_images(pose_a, moved_a, at, block->a, rest.a);
    make_images(pose_b, moved_b, at, block->b, rest.b);
    image_lanes(&source, &rests, at, exact, reach, &w);
  }
  uint64_t left = first_bits(count) & ~level_answers(&w, first_bits(count), &answer);
  if (exact[0] && exact[1] && exact[2]) left &= ~square_block(&source, &rests, left, &answer);
  answer.coplanar &= answer.kind_low | answer.kind_high;
  write_codes(&answer, count, codes);
  for (; left != 0; left &= left - 1) codes[__builtin_ctzll(left)] = TRITRI_OPEN;
}
