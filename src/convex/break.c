/* Breaks a solid hull into convex pieces: tetrahedra that fit together exactly (cut.c), joined where they are convex
 * together.
 *
 * Convex polytopes that have faces in common fill a polytope U. If all its corners lie on or behind the plane of
 * every triangle of its boundary, that boundary lies in the boundary of the hull of the corners; inside the hull U is
 * then open and closed, so that U is the hull. The signs are exact, and so are the pieces.
 *
 * Edges are cut at sixteenths. Then a new corner lies on its edge as long as coordinates have bits enough, and what was
 * cut apart there is convex together; rounded, every other one would bend a flat face inwards.
 *
 * The smallest piece is joined first, so that sizes become alike, and to the neighbour with which it has the least
 * surface for its volume, so that pieces become round. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "convex/cut.h"
#include "exact/orient.h"

enum { FINER = 3, MOST_TRIANGLES = 256, NONE = -1 };

/* Of the mean, how large a piece may become. */
static const double most_volume = 4;

/* A triangle of a tetrahedron: number 4 i + k is that of tetrahedron i, opposite of its corner k. */
typedef struct side {
  uint32_t corners[3]; /* counterclockwise from outside */
  int32_t twin;        /* the same triangle of a neighbour; NONE: in the surface */
  int32_t next;        /* of the piece */
  double area;
} side;

/* The corners of a side, ascending. */
typedef struct side_key {
  uint32_t corners[3], side;
} side_key;

typedef struct piece {
  int32_t first; /* of its sides */
  uint32_t side_count;
  double volume;
  bool gone, stuck; /* joined to another; joined to none when it was tried last */
} piece;

typedef struct joining {
  const graze_fragments *f;
  side *sides;        /* [4 f->count] */
  piece *pieces;      /* [f->count]: begun by the tetrahedron of that number */
  uint32_t *piece_of; /* of each tetrahedron */
  side_key *keys;     /* [4 f->count]: while twins are found */
  uint32_t *marks;    /* of each point: the last piece that was seen to have it */
  uint32_t *corners;  /* scratch: those of a group */
  uint32_t mark, left;
  double largest; /* volume that is allowed */
} joining;

static const double *point_of(const joining *j, uint32_t p) {
  return j->f->points + 3 * (size_t)p;
}

/* ---- the beginning ---------------------------------------------------------------------------------------------- */

static size_t lay_out(joining *j, char *memory) {
  carving carve = {memory, 0};
  const size_t count = j->f->count;
  j->sides = gz_carve(&carve, 4 * count * sizeof *j->sides);
  j->pieces = gz_carve(&carve, count * sizeof *j->pieces);
  j->piece_of = gz_carve(&carve, count * sizeof *j->piece_of);
  j->keys = gz_carve(&carve, 4 * count * sizeof *j->keys);
  j->marks = gz_carve(&carve, j->f->point_count * sizeof *j->marks);
  j->corners = gz_carve(&carve, 3 * (size_t)MOST_TRIANGLES * sizeof *j->corners);
  return carve.used;
}

static double find_area(const joining *j, const uint32_t corners[3]) {
  double u[3], v[3], n[3];
  sub3(point_of(j, corners[1]), point_of(j, corners[0]), u);
  sub3(point_of(j, corners[2]), point_of(j, corners[0]), v);
  cross3(u, v, n);
  return 0.5 * length3(n);
}

static double find_volume(const joining *j, const uint32_t corners[4]) {
  double u[3], v[3], w[3], n[3];
  sub3(point_of(j, corners[1]), point_of(j, corners[0]), u);
  sub3(point_of(j, corners[2]), point_of(j, corners[0]), v);
  sub3(point_of(j, corners[3]), point_of(j, corners[0]), w);
  cross3(u, v, n);
  return fabs(dot3(n, w)) / 6;
}

static void begin_piece(joining *j, uint32_t i) {
  static const int outward[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  const uint32_t *corners = j->f->corners + 4 * (size_t)i;
  piece *p = &j->pieces[i];
  *p = (piece){.first = (int32_t)(4 * i), .side_count = 4, .volume = find_volume(j, corners)};
  for (int k = 0; k < 4; k++) {
    side *s = &j->sides[4 * (size_t)i + (size_t)k];
    for (int c = 0; c < 3; c++) s->corners[c] = corners[outward[k][c]];
    s->twin = NONE;
    s->next = k < 3 ? (int32_t)(4 * i + (uint32_t)k + 1) : NONE;
    s->area = find_area(j, s->corners);
  }
  j->piece_of[i] = i;
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static int compare_keys(const void *a, const void *b) {
  const side_key *x = a, *y = b;
  for (int k = 0; k < 3; k++) {
    if (x->corners[k] != y->corners[k]) return x->corners[k] < y->corners[k] ? -1 : 1;
  }
  return 0;
}

/* Equal keys stand side by side once they are sorted: no more than two are. */
static void find_twins(joining *j) {
  const uint32_t count = 4 * j->f->count;
  side_key *keys = j->keys;
  for (uint32_t i = 0; i < count; i++) {
    keys[i].side = i;
    memcpy(keys[i].corners, j->sides[i].corners, sizeof keys[i].corners);
    qsort(keys[i].corners, 3, sizeof *keys[i].corners, compare_numbers);
  }
  qsort(keys, count, sizeof *keys, compare_keys);
  for (uint32_t i = 0; i + 1 < count; i++) {
    if (compare_keys(&keys[i], &keys[i + 1]) != 0) continue;
    j->sides[keys[i].side].twin = (int32_t)keys[i + 1].side;
    j->sides[keys[i + 1].side].twin = (int32_t)keys[i].side;
  }
}

static void begin(joining *j, uint32_t count) {
  double volume = 0;
  for (uint32_t i = 0; i < j->f->count; i++) {
    begin_piece(j, i);
    volume += j->pieces[i].volume;
  }
  find_twins(j);
  memset(j->marks, 0, j->f->point_count * sizeof *j->marks);
  j->left = j->f->count;
  j->largest = most_volume * volume / count;
}

/* ---- two together ----------------------------------------------------------------------------------------------- */

/* The piece on the other side; NONE: nothing. */
static int32_t neighbour(const joining *j, int32_t s) {
  const int32_t twin = j->sides[s].twin;
  return twin == NONE ? NONE : (int32_t)j->piece_of[twin / 4];
}

/* Pieces that are to be joined. */
enum { MOST_TOGETHER = 3 };

typedef struct group {
  uint32_t pieces[MOST_TOGETHER], count;
} group;

static bool has_piece(const group *g, int32_t p) {
  for (uint32_t i = 0; i < g->count; i++) {
    if ((int32_t)g->pieces[i] == p) return true;
  }
  return false;
}

static bool is_within(const joining *j, int32_t s, const group *g) {
  return has_piece(g, neighbour(j, s));
}

static uint32_t list_corners(joining *j, const group *g) {
  uint32_t count = 0;
  j->mark++;
  for (uint32_t i = 0; i < g->count; i++) {
    for (int32_t s = j->pieces[g->pieces[i]].first; s != NONE; s = j->sides[s].next) {
      for (int c = 0; c < 3; c++) {
        const uint32_t corner = j->sides[s].corners[c];
        if (j->marks[corner] != j->mark) j->corners[count++] = corner;
        j->marks[corner] = j->mark;
      }
    }
  }
  return count;
}

static bool is_behind(const joining *j, const side *s, uint32_t count) {
  const double *a = point_of(j, s->corners[0]), *b = point_of(j, s->corners[1]), *c = point_of(j, s->corners[2]);
  for (uint32_t i = 0; i < count; i++) {
    if (gz_orient3d(a, b, c, point_of(j, j->corners[i])) > 0) return false;
  }
  return true;
}

static bool is_convex(joining *j, const group *g) {
  const uint32_t count = list_corners(j, g);
  for (uint32_t i = 0; i < g->count; i++) {
    for (int32_t s = j->pieces[g->pieces[i]].first; s != NONE; s = j->sides[s].next) {
      if (!is_within(j, s, g) && !is_behind(j, &j->sides[s], count)) return false;
    }
  }
  return true;
}

static bool is_allowed(const joining *j, const group *g) {
  double volume = 0;
  uint32_t sides = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    volume += j->pieces[g->pieces[i]].volume;
    sides += j->pieces[g->pieces[i]].side_count;
  }
  return volume <= j->largest && sides <= MOST_TRIANGLES;
}

/* Surface to the third by volume squared: least for a ball. */
static double find_flatness(const joining *j, const group *g) {
  double area = 0, volume = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    volume += j->pieces[g->pieces[i]].volume;
    for (int32_t s = j->pieces[g->pieces[i]].first; s != NONE; s = j->sides[s].next)
      area += is_within(j, s, g) ? 0 : j->sides[s].area;
  }
  return area * area * area / (volume * volume);
}

/* ---- joining ---------------------------------------------------------------------------------------------------- */

typedef struct choice {
  group best;
  double flatness;
} choice;

static void try(joining *j, const group *g, choice *c) {
  if (!is_allowed(j, g)) return;
  const double flatness = find_flatness(j, g);
  if ((c->best.count > 0 && flatness >= c->flatness) || !is_convex(j, g)) return;
  c->best = *g;
  c->flatness = flatness;
}

/* The group with one more of the neighbours of its pieces, if `more` is 1, or with two. */
static void try_neighbours(joining *j, const group *g, uint32_t more, choice *c) {
  for (uint32_t i = 0; i < g->count; i++) {
    for (int32_t s = j->pieces[g->pieces[i]].first; s != NONE; s = j->sides[s].next) {
      const int32_t q = neighbour(j, s);
      group larger = *g;
      if (q == NONE || has_piece(g, q)) continue;
      larger.pieces[larger.count++] = (uint32_t)q;
      if (more == 1)
        try(j, &larger, c);
      else
        try_neighbours(j, &larger, more - 1, c);
    }
  }
}

/* The lowest number stays. */
static void join(joining *j, const group *g) {
  uint32_t kept = g->pieces[0];
  piece whole = {.first = NONE};
  int32_t *last = &whole.first;
  for (uint32_t i = 1; i < g->count; i++) kept = g->pieces[i] < kept ? g->pieces[i] : kept;
  for (uint32_t i = 0; i < g->count; i++) {
    piece *p = &j->pieces[g->pieces[i]];
    whole.volume += p->volume;
    p->gone = true;
    for (int32_t s = p->first; s != NONE; s = j->sides[s].next) {
      if (is_within(j, s, g)) continue;
      *last = s;
      last = &j->sides[s].next;
      whole.side_count++;
    }
  }
  *last = NONE;
  for (uint32_t i = 0; i < j->f->count; i++) {
    if (has_piece(g, (int32_t)j->piece_of[i])) j->piece_of[i] = kept;
  }
  j->pieces[kept] = whole;
  j->left -= g->count - 1;
  for (int32_t s = whole.first; s != NONE; s = j->sides[s].next) {
    const int32_t other = neighbour(j, s);
    if (other != NONE) j->pieces[other].stuck = false;
  }
}

/* The smallest that may still be joined; NONE: there is none. */
static int32_t choose_smallest(const joining *j) {
  int32_t smallest = NONE;
  for (uint32_t i = 0; i < j->f->count; i++) {
    const piece *p = &j->pieces[i];
    if (p->gone || p->stuck) continue;
    if (smallest == NONE || p->volume < j->pieces[smallest].volume) smallest = (int32_t)i;
  }
  return smallest;
}

/* Two are joined where that can be, else three. */
static void join_all(joining *j, uint32_t count) {
  while (j->left > count) {
    const int32_t p = choose_smallest(j);
    if (p == NONE) return;
    const group alone = {{(uint32_t)p}, 1};
    choice c = {.best = {.count = 0}};
    try_neighbours(j, &alone, 1, &c);
    if (c.best.count == 0 && j->left > count + 1) try_neighbours(j, &alone, 2, &c);
    if (c.best.count == 0)
      j->pieces[p].stuck = true;
    else
      join(j, &c.best);
  }
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* The arrays are constant for callers only. */
#define WRITABLE(array) ((void *)(uintptr_t)(array))

static size_t place_arrays(graze_pieces *to, uint32_t corner_count, uint32_t triangle_count, char *memory) {
  carving carve = {memory, 0};
  gz_carve(&carve, sizeof *to);
  to->points = gz_carve(&carve, 3 * (size_t)to->point_count * sizeof(double));
  to->corner_first = gz_carve(&carve, (to->count + (size_t)1) * sizeof(uint32_t));
  to->corners = gz_carve(&carve, corner_count * sizeof(uint32_t));
  to->triangle_first = gz_carve(&carve, (to->count + (size_t)1) * sizeof(uint32_t));
  to->triangles = gz_carve(&carve, 3 * (size_t)triangle_count * sizeof(uint32_t));
  return carve.used;
}

static void write_piece(joining *j, uint32_t p, graze_pieces *made, uint32_t number) {
  uint32_t *corner_first = WRITABLE(made->corner_first), *triangle_first = WRITABLE(made->triangle_first);
  uint32_t *corners = WRITABLE(made->corners), *triangles = WRITABLE(made->triangles);
  const uint32_t count = list_corners(j, &(group){{p}, 1});
  qsort(j->corners, count, sizeof *j->corners, compare_numbers);
  memcpy(corners + corner_first[number], j->corners, count * sizeof *corners);
  corner_first[number + 1] = corner_first[number] + count;
  triangle_first[number + 1] = triangle_first[number];
  for (int32_t s = j->pieces[p].first; s != NONE; s = j->sides[s].next)
    memcpy(triangles + 3 * (size_t)triangle_first[number + 1]++, j->sides[s].corners, 3 * sizeof *triangles);
}

static graze_status write_pieces(const graze_context *context, joining *j, graze_pieces **result) {
  graze_pieces sizes = {.point_count = j->f->point_count, .count = j->left};
  uint32_t corners = 0, triangles = 0, number = 0;
  for (uint32_t i = 0; i < j->f->count; i++) {
    if (j->pieces[i].gone) continue;
    corners += list_corners(j, &(group){{i}, 1});
    triangles += j->pieces[i].side_count;
  }
  const size_t bytes = place_arrays(&sizes, corners, triangles, NULL);
  graze_pieces *made = gz_new(context, bytes, 1);
  if (made == NULL) return gz_fail_memory(context, bytes);
  *made = sizes;
  place_arrays(made, corners, triangles, (char *)made);
  memcpy(WRITABLE(made->points), j->f->points, 3 * (size_t)made->point_count * sizeof(double));
  *(uint32_t *)WRITABLE(made->corner_first) = *(uint32_t *)WRITABLE(made->triangle_first) = 0;
  for (uint32_t i = 0; i < j->f->count; i++) {
    if (!j->pieces[i].gone) write_piece(j, i, made, number++);
  }
  *result = made;
  return GRAZE_OK;
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

static graze_status join_fragments(const graze_context *context, const graze_fragments *fragments, uint32_t count,
                                   graze_pieces **result) {
  joining j = {.f = fragments};
  const size_t bytes = lay_out(&j, NULL);
  char *memory = gz_new(context, bytes, 1);
  if (memory == NULL) return gz_fail_memory(context, bytes);
  lay_out(&j, memory);
  begin(&j, count);
  join_all(&j, count);
  const graze_status status = write_pieces(context, &j, result);
  gz_free(memory);
  return status;
}

graze_status graze_hull_break(graze_context *context, const graze_hull *hull, uint32_t count, uint64_t seed,
                              graze_pieces **result) {
  if (context == NULL || hull == NULL || result == NULL) return gz_fail_null(context);
  const uint32_t finer = count <= UINT32_MAX / FINER ? FINER * count : UINT32_MAX;
  graze_fragments *fragments = NULL;
  graze_status status = gz_hull_cut(context, hull, finer, seed, CUT_EVEN, &fragments);
  if (status != GRAZE_OK) return status;
  const unsigned saved = gz_fp_enter();
  status = join_fragments(context, fragments, count, result);
  gz_fp_leave(saved);
  graze_fragments_destroy(fragments);
  return status;
}

void graze_pieces_destroy(graze_pieces *made) {
  gz_free(made);
}
