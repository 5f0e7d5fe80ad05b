/* Loops over corners. A point is in one vector; loops are made once for floats and for doubles, posed or not. */
#include "base/simd.h"
#include "visibility/place.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct frame {
  const char *vertices;
  const uint32_t *indices;
  size_t stride;
  d4 column[4]; /* of the pose */
  d4 origin, unit;
} frame;

static frame frame_of(const visibility_object *o, const visibility_space *space) {
  frame f = {.vertices = o->vertices, .indices = o->indices, .stride = o->stride};
  for (int c = 0; c < 4 && o->pose; c++) f.column[c] = (d4){o->pose->m[c], o->pose->m[4 + c], o->pose->m[8 + c], 0};
  if (!space) return f;
  f.origin = (d4){space->origin[0], space->origin[1], space->origin[2], 0};
  f.unit = (d4){space->unit, space->unit, space->unit, 0};
  return f;
}

INLINE d4 load_point(const char *at, bool is_double) {
#if GRAZE_ISA > 0 /* three numbers at once, and none behind them */
  if (is_double) return (d4)_mm256_maskload_pd((const double *)(const void *)at, _mm256_set_epi64x(0, -1, -1, -1));
  return (d4)_mm256_cvtps_pd(_mm_maskload_ps((const float *)(const void *)at, _mm_set_epi32(0, -1, -1, -1)));
#endif
  float f[3];
  double d[3];
  if (is_double) {
    memcpy(d, at, sizeof d);
    return (d4){d[0], d[1], d[2], 0};
  }
  memcpy(f, at, sizeof f);
  return (d4){(double)f[0], (double)f[1], (double)f[2], 0};
}

/* Rounded as pose_row rounds. */
INLINE d4 posed_point(const frame *f, bool is_double, bool posed, uint64_t corner) {
  const d4 p = load_point(f->vertices + (f->indices ? f->indices[corner] : corner) * f->stride, is_double);
  if (!posed) return p;
  const d4 x = {p[0], p[0], p[0], p[0]}, y = {p[1], p[1], p[1], p[1]}, z = {p[2], p[2], p[2], p[2]};
  return ((f->column[0] * x + f->column[1] * y) + f->column[2] * z) + f->column[3];
}

INLINE v4 placed_point(const frame *f, bool is_double, bool posed, uint64_t corner) {
  return __builtin_convertvector((posed_point(f, is_double, posed, corner) - f->origin) * f->unit, v4);
}

INLINE visibility_span span_of(const frame *f, bool is_double, bool posed, uint32_t triangle) {
  const uint64_t corner = 3 * (uint64_t)triangle;
  return visibility_span_of(placed_point(f, is_double, posed, corner), placed_point(f, is_double, posed, corner + 1),
                            placed_point(f, is_double, posed, corner + 2));
}

/* Calls loop(..., is_double, posed) with both as constants. */
#define FOR_KIND(o, loop, ...)                                                                   \
  ((o)->is_double ? ((o)->pose ? loop(__VA_ARGS__, true, true) : loop(__VA_ARGS__, true, false)) \
                  : ((o)->pose ? loop(__VA_ARGS__, false, true) : loop(__VA_ARGS__, false, false)))

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

INLINE d4 pick(l4 mask, d4 yes, d4 no) {
  return (d4)(((l4)yes & mask) | ((l4)no & ~mask));
}

INLINE bool bound(const visibility_run *run, const frame *f, graze_box *box, bool is_double, bool posed) {
  const d4 none = {INFINITY, INFINITY, INFINITY, INFINITY};
  d4 low = none, high = -none, sum = {0};
  for (uint64_t c = 3 * (uint64_t)run->first; c < 3 * (uint64_t)run->end; c++) {
    const d4 x = posed_point(f, is_double, posed, c);
    low = pick(x < low, x, low);
    high = pick(x > high, x, high);
    sum += 0 * x; /* NaN exactly for NaN and infinities */
  }
  for (int k = 0; k < 3; k++) {
    box->min[k] = low[k];
    box->max[k] = high[k];
  }
  return sum[0] == 0 && sum[1] == 0 && sum[2] == 0;
}

bool KERNEL(gz_visibility_bound)(const visibility_run *run, graze_box *box) {
  const frame f = frame_of(run->object, NULL);
  return FOR_KIND(run->object, bound, run, &f, box);
}

INLINE void box_blocks(const visibility_run *run, const frame *f, visibility_box *blocks, bool is_double, bool posed) {
  for (uint32_t t = run->first; t < run->end;) {
    const uint32_t end = run->end - t < VISIBILITY_BLOCK ? run->end : t + VISIBILITY_BLOCK;
    visibility_span all = span_of(f, is_double, posed, t);
    for (t++; t < end; t++) all = visibility_spans_join(all, span_of(f, is_double, posed, t));
    *blocks++ = visibility_box_of(all);
  }
}

void KERNEL(gz_visibility_block)(const visibility_run *run, const visibility_space *space, visibility_box *blocks) {
  const frame f = frame_of(run->object, space);
  FOR_KIND(run->object, box_blocks, run, &f, blocks);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* What is listed is stored, and counted if it meets. */
INLINE uint32_t list(const visibility_run *run, const frame *f, const visibility_box *box, uint32_t *out,
                     visibility_cells *cells, uint64_t *rows, bool is_double, bool posed) {
  const visibility_span common = visibility_span_of_box(box);
  const visibility_grid grid = visibility_grid_over(box);
  uint64_t sum = *rows;
  uint32_t count = 0;
  for (uint32_t t = run->first; t < run->end; t++) {
    const visibility_span own = span_of(f, is_double, posed, t);
    const bool meets = visibility_spans_meet(own, common);
    out[count] = t;
    cells[count] = visibility_cells_of(&grid, own);
    sum += meets ? visibility_cell_rows(&cells[count]) : 0;
    count += meets;
  }
  *rows = sum;
  return count;
}

uint32_t KERNEL(gz_visibility_list)(const visibility_run *run, const visibility_space *space, const visibility_box *box,
                                    uint32_t *out, visibility_cells *cells, uint64_t *rows) {
  const frame f = frame_of(run->object, space);
  return FOR_KIND(run->object, list, run, &f, box, out, cells, rows);
}

/* ---- corners ----------------------------------------------------------------------------------------------------- */

INLINE void place(const visibility_run *run, const frame *f, uint64_t marks, float *corners, uint32_t *numbers,
                  bool is_double, bool posed) {
  for (; marks != 0; marks &= marks - 1, corners += 9) {
    const uint32_t t = run->first + (uint32_t)__builtin_ctzll(marks);
    *numbers++ = t;
    for (uint32_t c = 0; c < 3; c++) {
      const v4 x = placed_point(f, is_double, posed, 3 * (uint64_t)t + c);
      memcpy(corners + 3 * c, &x, 3 * sizeof *corners);
    }
  }
}

void KERNEL(gz_visibility_place)(const visibility_run *run, const visibility_space *space, uint64_t marks,
                                 float *corners, uint32_t *numbers) {
  const frame f = frame_of(run->object, space);
  FOR_KIND(run->object, place, run, &f, marks, corners, numbers);
}
