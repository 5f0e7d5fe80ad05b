/* Corners for triangles; see dealing.h. First the triangles are dealt out evenly, as three numbers each: of a file that
 * has all vertices before the first face, the slices do not have as many. Then each rank asks the ranks that have them
 * for the vertices of some of its triangles at a time, each vertex once. */
#include "mpi/dealing.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum {
  DEALT = 1 << 20, /* triangles of a rank at a time */
  ASKED = 1 << 17,
  ASKED_OF_ONE = 1 << 25 /* vertices at most, should all ranks want those of one */
};

/* For one round of messages: how many things go to each rank and come from it, and where they are. */
typedef struct rounds {
  int *out, *out_at, *in, *in_at;
} rounds;

static rounds rounds_begin(const job *j) {
  int *memory = job_alloc(4 * (size_t)j->ranks, sizeof *memory);
  return (rounds){memory, memory + j->ranks, memory + 2 * j->ranks, memory + 3 * j->ranks};
}

/* Sums before each. Returns that of all. */
static size_t place_all(const job *j, const int *counts, int *places) {
  int sum = 0;
  for (int r = 0; r < j->ranks; r++) {
    places[r] = sum;
    sum += counts[r];
  }
  return (size_t)sum;
}

static uint64_t count_rounds(uint64_t count, uint64_t step) {
  uint64_t own = (count + step - 1) / step, most = 0;
  MPI_Allreduce(&own, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/* ---- triangles ---- */

/* What two runs of triangles have in common. Returns how many, and where they begin. */
static uint64_t common(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end, uint64_t *begin) {
  const uint64_t end = a_end < b_end ? a_end : b_end;
  *begin = a > b ? a : b;
  return *begin < end ? end - *begin : 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Rank s sends up to DEALT triangles of its slice, from `skipped` on; which rank gets which, all know. */
static void deal_round(const job *j, const graze_slice *slice, const graze_slice_counts *all, uint64_t skipped,
                       rounds *r, MPI_Datatype triangle, uint32_t *indices) {
  const uint64_t total = slice->all_triangles, mine = job_part(total, j, j->rank),
                 mine_end = job_part(total, j, j->rank + 1),
                 sent = slice->first_triangle + least(skipped, slice->own.triangles),
                 sent_end = slice->first_triangle + least(skipped + DEALT, slice->own.triangles);
  uint64_t begin, first = 0;
  for (int s = 0; s < j->ranks; first += all[s++].triangles) {
    r->out[s] = (int)common(sent, sent_end, job_part(total, j, s), job_part(total, j, s + 1), &begin);
    r->out_at[s] = r->out[s] > 0 ? (int)(begin - sent) : 0;
    r->in[s] = (int)common(first + least(skipped, all[s].triangles), first + least(skipped + DEALT, all[s].triangles),
                           mine, mine_end, &begin);
    r->in_at[s] = r->in[s] > 0 ? (int)(begin - mine) : 0;
  }
  const uint32_t *from = slice->indices + 3 * least(skipped, slice->own.triangles);
  MPI_Alltoallv(from, r->out, r->out_at, triangle, indices, r->in, r->in_at, triangle, MPI_COMM_WORLD);
}

static void deal_triangles(const job *j, const graze_slice *slice, const graze_slice_counts *all, rounds *r,
                           uint32_t *indices) {
  MPI_Datatype triangle;
  const uint64_t count = count_rounds(slice->own.triangles, DEALT);
  MPI_Type_contiguous(3, MPI_UINT32_T, &triangle);
  MPI_Type_commit(&triangle);
  for (uint64_t k = 0; k < count; k++) deal_round(j, slice, all, k * DEALT, r, triangle, indices);
  MPI_Type_free(&triangle);
}

/* ---- vertices ---- */

typedef struct asking {
  uint64_t *keys, *scratch;   /* vertex << 32 | corner */
  uint32_t *vertices, *which; /* asked for, each once; of each corner, its place among them */
  double *got;
  uint32_t *asked; /* by others */
  double *given;
  size_t asked_room;
} asking;

/* The vertices of some corners, each once and ascending; returns how many. */
static uint32_t list_vertices(asking *a, const uint32_t *corners, uint32_t count) {
  uint32_t listed = 0;
  for (uint32_t i = 0; i < count; i++) a->keys[i] = (uint64_t)corners[i] << 32 | i;
  gz_sort_keys(a->keys, a->scratch, count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t vertex = (uint32_t)(a->keys[i] >> 32);
    if (listed == 0 || a->vertices[listed - 1] != vertex) a->vertices[listed++] = vertex;
    a->which[(uint32_t)a->keys[i]] = listed - 1;
  }
  return listed;
}

/* How many of the listed ones each rank has. */
static void count_by_rank(const job *j, const graze_slice_counts *all, const uint32_t *vertices, uint32_t count,
                          int *counts) {
  uint64_t end = 0;
  uint32_t at = 0;
  for (int r = 0; r < j->ranks; r++) {
    const uint32_t first = at;
    end += all[r].vertices;
    while (at < count && vertices[at] < end) at++;
    counts[r] = (int)(at - first);
  }
}

static void answer(const graze_slice *slice, asking *a, size_t count) {
  for (size_t i = 0; i < count; i++)
    memcpy(a->given + 3 * i, slice->vertices + 3 * (a->asked[i] - slice->first_vertex), 3 * sizeof *a->given);
}

static void ask_round(const job *j, const graze_slice *slice, const graze_slice_counts *all, const uint32_t *corners,
                      uint32_t count, rounds *r, MPI_Datatype point, asking *a) {
  const uint32_t listed = list_vertices(a, corners, count);
  count_by_rank(j, all, a->vertices, listed, r->out);
  MPI_Alltoall(r->out, 1, MPI_INT, r->in, 1, MPI_INT, MPI_COMM_WORLD);
  place_all(j, r->out, r->out_at);
  const size_t asked = place_all(j, r->in, r->in_at);
  if (asked > a->asked_room) {
    free(a->asked);
    free(a->given);
    a->asked_room = asked + asked / 4;
    a->asked = job_alloc(a->asked_room, sizeof *a->asked);
    a->given = job_alloc(a->asked_room, 3 * sizeof *a->given);
  }
  MPI_Alltoallv(a->vertices, r->out, r->out_at, MPI_UINT32_T, a->asked, r->in, r->in_at, MPI_UINT32_T, MPI_COMM_WORLD);
  answer(slice, a, asked);
  MPI_Alltoallv(a->given, r->in, r->in_at, point, a->got, r->out, r->out_at, point, MPI_COMM_WORLD);
}

static asking asking_begin(uint64_t triangles) {
  const size_t corners = 3 * (size_t)triangles;
  asking a = {.keys = job_alloc(corners, 2 * sizeof *a.keys),
              .vertices = job_alloc(corners, 2 * sizeof *a.vertices),
              .got = job_alloc(corners, 3 * sizeof *a.got)};
  a.scratch = a.keys + corners;
  a.which = a.vertices + corners;
  return a;
}

static void asking_end(asking *a) {
  free(a->keys);
  free(a->vertices);
  free(a->got);
  free(a->asked);
  free(a->given);
}

static void ask_for_all(const job *j, const graze_slice *slice, const graze_slice_counts *all, const uint32_t *indices,
                        uint64_t count, rounds *r, double *corners) {
  MPI_Datatype point;
  const uint64_t share = ASKED_OF_ONE / 3 / (uint64_t)j->ranks + 1, step = least(share, ASKED),
                 turns = count_rounds(count, step);
  asking a = asking_begin(least(count, step));
  MPI_Type_contiguous(3, MPI_DOUBLE, &point);
  MPI_Type_commit(&point);
  for (uint64_t k = 0; k < turns; k++) {
    const uint64_t first = least(k * step, count), end = least((k + 1) * step, count);
    const uint32_t size = (uint32_t)(3 * (end - first));
    ask_round(j, slice, all, indices + 3 * first, size, r, point, &a);
    for (uint32_t i = 0; i < size; i++)
      memcpy(corners + 9 * first + 3 * (size_t)i, a.got + 3 * (size_t)a.which[i], 3 * sizeof *corners);
  }
  MPI_Type_free(&point);
  asking_end(&a);
}

void deal_corners(const job *j, const graze_slice *slice, const graze_slice_counts *all, uint64_t count,
                  double *corners) {
  rounds r = rounds_begin(j);
  uint32_t *indices = job_alloc((size_t)count, 3 * sizeof *indices);
  deal_triangles(j, slice, all, &r, indices);
  ask_for_all(j, slice, all, indices, count, &r, corners);
  free(indices);
  free(r.out);
}
