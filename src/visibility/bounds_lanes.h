/* visibility/bounds_lanes.h: bounds.glsl, for LANES numbers at a time: the compiler's vectors, the same bits in each
 * lane as bounds.h has. Types and functions are named visibility_lanes_X. */
#ifndef GRAZE_SRC_VISIBILITY_BOUNDS_LANES_H
#define GRAZE_SRC_VISIBILITY_BOUNDS_LANES_H

#include "base/cpu.h"
#include "base/simd.h"
#include "visibility/bounds.h"

enum { LANES = GRAZE_ISA == 0 ? 4 : 8 }; /* what a register holds */
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t lanes_int __attribute__((vector_size(4 * LANES)));
typedef uint32_t lanes_uint __attribute__((vector_size(4 * LANES)));

/* The number in all lanes, or lanes as they are: x - 0 is x. */
#define LANES_OF(x) ((x) - (lanes){0})

static inline __attribute__((always_inline)) lanes lanes_select(lanes_int is, lanes yes, lanes no) {
  return (lanes)((is & (lanes_int)yes) | (~is & (lanes_int)no));
}

/* Of a comparison: a bit for each lane. */
static inline __attribute__((always_inline)) uint32_t lanes_bits(lanes_int is) {
#if GRAZE_ISA == 0
  return v4_bits(is);
#else
  return v8_bits(is);
#endif
}

/* Number `at` of rows 0, 4 ...: of four numbers each. */
static inline __attribute__((always_inline)) lanes lanes_join(const v4 rows[LANES], int at) {
#if GRAZE_ISA == 0
  return rows[at];
#else
  return v8_join(rows[at], rows[4 + at]);
#endif
}

/* Numbers of 2^23 and more are whole. */
static inline __attribute__((always_inline)) lanes lanes_floor(lanes x) {
  const lanes_int small = ((lanes_int)x & 0x7FFFFFFF) < 0x4B000000;
  const lanes cut =
      __builtin_convertvector(__builtin_convertvector(lanes_select(small, x, (lanes){0}), lanes_int), lanes);
  return lanes_select(small, cut - lanes_select(cut > x, LANES_OF(1.0f), (lanes){0}), x);
}

#define visibility_interval   visibility_lanes_interval
#define visibility_edge       visibility_lanes_edge
#define visibility_setup      visibility_lanes_setup
#define visibility_depths     visibility_lanes_depths
#define visibility_min        visibility_lanes_min
#define visibility_max        visibility_lanes_max
#define visibility_tame       visibility_lanes_tame
#define visibility_reciprocal visibility_lanes_reciprocal
#define visibility_per        visibility_lanes_per
#define visibility_make_edge  visibility_lanes_make_edge
#define visibility_set_up     visibility_lanes_set_up
#define visibility_side       visibility_lanes_side
#define visibility_edge_meets visibility_lanes_edge_meets
#define visibility_up         visibility_lanes_up
#define visibility_down       visibility_lanes_down
#define visibility_meets_at   visibility_lanes_meets_at
#define visibility_cut        visibility_lanes_cut
#define visibility_join       visibility_lanes_join
#define visibility_add_edge   visibility_lanes_add_edge
#define visibility_edges      visibility_lanes_edges
#define visibility_sound      visibility_lanes_sound
#define visibility_plane      visibility_lanes_plane
#define visibility_is_whole   visibility_lanes_is_whole
#define visibility_depth_at   visibility_lanes_depth_at
#define visibility_slices     visibility_lanes_slices
#define visibility_rectangle  visibility_lanes_rectangle
#define visibility_box        visibility_lanes_box

#define VISIBILITY_LANES
#define STRUCT(name)        \
  typedef struct name name; \
  struct name
#define FUNCTION            static inline __attribute__((always_inline, unused))
#define NUMBER              lanes
#define REAL                lanes
#define TRUTH               lanes_int
#define UINT                lanes_uint
#define N(x)                LANES_OF(x)
#define SELECT(is, yes, no) lanes_select(is, yes, no)
#define AND                 & /* NOLINT(bugprone-macro-parentheses): an operator */
#define OR                  | /* NOLINT(bugprone-macro-parentheses): the same */
#define BITS(x)             ((lanes_int)(x))
#define FROM_BITS(x)        ((lanes)(x))
#define TO_UINT(x)          ((lanes_uint) __builtin_convertvector(x, lanes_int))
#define FLOOR(x)            lanes_floor(x)
#define ABS(x)              ((lanes)((lanes_int)(x)&0x7FFFFFFF))
#include "visibility/bounds.glsl"
#include "visibility/bounds_end.h"
#undef visibility_interval
#undef visibility_edge
#undef visibility_setup
#undef visibility_depths
#undef visibility_min
#undef visibility_max
#undef visibility_tame
#undef visibility_reciprocal
#undef visibility_per
#undef visibility_make_edge
#undef visibility_set_up
#undef visibility_side
#undef visibility_edge_meets
#undef visibility_up
#undef visibility_down
#undef visibility_meets_at
#undef visibility_cut
#undef visibility_join
#undef visibility_add_edge
#undef visibility_edges
#undef visibility_sound
#undef visibility_plane
#undef visibility_is_whole
#undef visibility_depth_at
#undef visibility_slices
#undef visibility_rectangle
#undef visibility_box

#endif
