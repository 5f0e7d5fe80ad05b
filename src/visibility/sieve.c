/* Before the first picture of a pair: the boxes of the triangles of one mark the cells of a grid of bits that they
 * meet, and triangles of the other without a marked cell go. Where there are many small triangles this costs a tenth of
 * what setting them up for a picture does, and leaves as few as the first pictures would.
 *
 * A common point of two triangles is in the boxes of both, which are widened by more than coordinates are wrong. The
 * cell of a coordinate rises with it, rounding included, so that the point's own cell is within the ranges of both. */
#include "visibility/sieve.h"

#include "base/parallel.h"

enum {
  LEAST = 2048,   /* triangles in all */
  MOST_ROWS = 16, /* of cells a triangle, in the mean */
  PIECE = 8192,   /* triangles that are worth a thread */
  PIECES = 64
};

bool gz_visibility_is_sieved(uint64_t triangles, uint64_t rows) {
  return triangles >= LEAST && rows <= MOST_ROWS * triangles;
}

/* A list in pieces. */
typedef struct sieving {
  visibility_sieve *sieve;
  uint32_t *list;
  visibility_cells *cells;
  uint32_t count, pieces;
  uint32_t kept[PIECES];
} sieving;

static uint32_t piece_begin(const sieving *s, uint32_t piece) {
  return (uint32_t)((uint64_t)s->count * piece / s->pieces);
}

static uint64_t bits_of(const visibility_cells *c) {
  return ~(uint64_t)0 >> (SIEVE_SIDE - 1 - (c->high[0] - c->low[0])) << c->low[0];
}

/* Threads mark one grid: most cells are marked by many, so that few bits are written. */
static void mark(visibility_sieve *s, const visibility_cells *c) {
  const uint64_t bits = bits_of(c);
  for (uint32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (uint32_t y = c->low[1]; y <= c->high[1]; y++) {
      uint64_t *row = &s->rows[z * SIEVE_SIDE + y];
      if (bits & ~__atomic_load_n(row, __ATOMIC_RELAXED)) __atomic_fetch_or(row, bits, __ATOMIC_RELAXED);
    }
  }
}

static bool is_marked(const visibility_sieve *s, const visibility_cells *c) {
  const uint64_t bits = bits_of(c);
  for (uint32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (uint32_t y = c->low[1]; y <= c->high[1]; y++) {
      if (s->rows[z * SIEVE_SIDE + y] & bits) return true;
    }
  }
  return false;
}

static void mark_piece(void *argument, uint32_t piece) {
  const sieving *s = argument;
  for (uint32_t i = piece_begin(s, piece); i < piece_begin(s, piece + 1); i++) mark(s->sieve, &s->cells[i]);
}

/* Keeps what has a marked cell, at the front of the piece. */
static void keep_piece(void *argument, uint32_t piece) {
  sieving *s = argument;
  const uint32_t begin = piece_begin(s, piece), end = piece_begin(s, piece + 1);
  uint32_t kept = begin;
  for (uint32_t i = begin; i < end; i++) {
    const visibility_cells c = s->cells[i];
    s->list[kept] = s->list[i];
    s->cells[kept] = c;
    kept += is_marked(s->sieve, &c);
  }
  s->kept[piece] = kept - begin;
}

static uint32_t join_pieces(const sieving *s) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->pieces; i++) {
    memmove(s->list + kept, s->list + piece_begin(s, i), s->kept[i] * sizeof *s->list);
    memmove(s->cells + kept, s->cells + piece_begin(s, i), s->kept[i] * sizeof *s->cells);
    kept += s->kept[i];
  }
  return kept;
}

void gz_visibility_sieve(const graze_context *context, visibility_sieve *sieve, uint32_t *const lists[2],
                         visibility_cells *const cells[2], uint32_t counts[2]) {
  sieving of[2];
  for (int s = 0; s < 2; s++) {
    const uint32_t number = counts[s] / PIECE + 1;
    of[s] = (sieving){sieve, lists[s], cells[s], counts[s], number < PIECES ? number : PIECES, {0}};
  }
  for (int s = 0; s < 2; s++) {
    memset(sieve, 0, sizeof *sieve);
    gz_parallel_each(context, of[s].pieces, mark_piece, &of[s]);
    gz_parallel_each(context, of[!s].pieces, keep_piece, &of[!s]);
    counts[!s] = of[!s].count = join_pieces(&of[!s]);
  }
}
