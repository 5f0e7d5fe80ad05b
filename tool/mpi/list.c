/* The pairs of all ranks in their order. In a file the place of each part is known once every rank has told how long
 * its text is, so that all can write at a time; a pipe takes them one after the other. */
#include "mpi/list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "diagnostics.h"
#include "mpi/files.h"

enum { PART = 1 << 15, TAG = 1 };

const pair_style pair_style_json = {.separator = ",", .before = "[", .between = ",", .after = "]"};

static void put_pair(output *out, const pair_style *style, uint64_t number, uint64_t a, uint64_t b) {
  if (number > 0) gz_put_text(out, style->separator);
  gz_put_text(out, style->before);
  gz_put_integer(out, a);
  gz_put_text(out, style->between);
  gz_put_integer(out, b);
  gz_put_text(out, style->after);
}

/* ---- one after the other ---- */

static uint64_t fill(uint64_t *ids, const graze_mpi_pair *pairs, uint64_t count) {
  uint64_t part = count < PART ? count : PART;
  for (uint64_t i = 0; i < part; i++) {
    ids[2 * i] = pairs[i].a;
    ids[2 * i + 1] = pairs[i].b;
  }
  return part;
}

/* A part of nothing is the last one. */
static void send(const graze_mpi_pair *list, uint64_t count, uint64_t *ids) {
  uint64_t at = 0, part;
  do {
    part = fill(ids, list + at, count - at);
    MPI_Ssend(ids, (int)(2 * part), MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD);
    at += part;
  } while (part > 0);
}

static uint64_t receive(int from, uint64_t *ids, const pair_style *style, uint64_t number, output *out) {
  int count;
  do {
    MPI_Status status;
    MPI_Recv(ids, 2 * PART, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    for (int i = 0; i < count; i += 2) put_pair(out, style, number++, ids[i], ids[i + 1]);
  } while (count > 0);
  return number;
}

static void list_in_turn(const job *j, const graze_mpi_pair *list, uint64_t count, const pair_style *style,
                         output *out) {
  uint64_t *ids = job_alloc(2 * PART, sizeof *ids), number = 0;
  if (j->rank != 0) {
    send(list, count, ids);
  } else {
    for (; number < count; number++) put_pair(out, style, number, list[number].a, list[number].b);
    for (int r = 1; r < j->ranks; r++) number = receive(r, ids, style, number, out);
  }
  free(ids);
}

/* ---- all at a time ---- */

/* A file, as rank 0 tells of it. */
typedef struct shared_file {
  uint64_t at; /* it has so many bytes */
  char path[PATH_MAX];
} shared_file;

typedef struct part_sink {
  int file; /* -1: bytes are counted */
  uint64_t at;
} part_sink;

static bool take(void *user, const void *bytes, size_t size) {
  part_sink *sink = user;
  const bool good = sink->file < 0 || gz_file_write_at(sink->file, bytes, size, sink->at);
  sink->at += size;
  return good;
}

/* Whether every byte was taken. */
static bool put_part(part_sink *sink, const pair_style *style, const graze_mpi_pair *list, uint64_t count,
                     uint64_t number) {
  gz_text text;
  if (!gz_text_begin(NULL, &text, take, sink)) fail_out_of_memory();
  for (uint64_t i = 0; i < count; i++) put_pair(&text, style, number + i, list[i].a, list[i].b);
  gz_text_flush(&text);
  const bool good = !text.no_memory && !text.refused;
  gz_text_end(&text);
  return good;
}

/* Of all ranks before this one; `total`: of all. */
static uint64_t sum_before(const job *j, uint64_t mine, uint64_t *total) {
  uint64_t before = 0;
  MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return j->rank > 0 ? before : 0; /* undefined on the first */
}

/* The file that rank 0 writes, if this rank sees it as far as it is written; else -1. */
static int open_shared(const shared_file *shared) {
  struct stat facts;
  int file = shared->path[0] != 0 ? open(shared->path, O_WRONLY | O_CLOEXEC) : -1;
  if (file < 0 || (fstat(file, &facts) == 0 && (uint64_t)facts.st_size == shared->at)) return file;
  close(file);
  return -1;
}

/* Collective: -1 on all ranks when one cannot. */
static int open_on_all(const job *j, output *out, uint64_t *at) {
  shared_file shared = {0};
  if (j->rank == 0 && j->ranks > 1) {
    const char *path = output_begin_parts(out, &shared.at);
    if (path) snprintf(shared.path, sizeof shared.path, "%s", path);
  }
  MPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, MPI_COMM_WORLD);
  int file = open_shared(&shared);
  *at = shared.at;
  if (job_all(file >= 0)) return file;
  if (file >= 0) close(file);
  return -1;
}

void list_pairs(const job *j, const graze_mpi_pair *list, uint64_t count, const pair_style *style, output *out) {
  uint64_t begin, pairs, bytes;
  char words[100];
  part_sink sink = {.file = -1};
  const int file = open_on_all(j, out, &begin);
  if (file < 0) {
    list_in_turn(j, list, count, style, out);
    return;
  }
  const uint64_t number = sum_before(j, count, &pairs);
  put_part(&sink, style, list, count, number);
  sink = (part_sink){file, begin + sum_before(j, sink.at, &bytes)};
  bool good = put_part(&sink, style, list, count, number);
  const int reason = errno;
  good = close(file) == 0 && good;
  snprintf(words, sizeof words, "its part of the list: cannot write: %s", strerror(good ? 0 : reason));
  job_agree(j, good ? NULL : words, true);
  if (j->rank == 0) output_end_parts(out, begin + bytes);
}
