/* The boxes of a rank. A binary file is read in slices: rank r of P has the rows n r / P to n (r + 1) / P. What is
 * wrong in it is found in slices and then told by rank 0, which reads the file as `graze pairs` does and so finds the
 * same words. Ids that do not rise are sent to the rank of their hash, where two that are the same meet. */
#include "mpi/boxes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_print.h"
#include "base/hash.h"
#include "base/sort.h"
#include "diagnostics.h"
#include "graze/io.h"
#include "mpi/files.h"

enum { RECORD_BYTES = 56, RECORDS_BEGIN = 16 };
static const char magic[8] = "GRZBOX1";

/* ---- slices ---- */

static void take_slice(const job *j, uint64_t total, rank_boxes *boxes) {
  uint64_t end = job_part(total, j, j->rank + 1);
  boxes->total = total;
  boxes->first = job_part(total, j, j->rank);
  boxes->boxes.count = (uint32_t)(end - boxes->first);
}

static void hold(rank_boxes *boxes, size_t box_bytes) {
  boxes->memory[0] = job_alloc(boxes->boxes.count, box_bytes);
  boxes->memory[1] = job_alloc(boxes->boxes.count, sizeof(uint64_t));
  boxes->boxes.boxes.data = boxes->memory[0];
  boxes->boxes.ids = boxes->memory[1];
}

static bool is_box(const double b[6]) {
  for (int k = 0; k < 3; k++) {
    if (!isfinite(b[k]) || !isfinite(b[3 + k]) || b[k] > b[3 + k]) return false;
  }
  return true;
}

/* False: something is wrong in it. `rising`: every id is more than the one before. */
static bool read_slice(int file, rank_boxes *boxes, bool *rising) {
  enum { ROWS = 4096 };
  const uint32_t count = boxes->boxes.count;
  unsigned char *rows = job_alloc(ROWS, RECORD_BYTES);
  double *box = boxes->memory[0];
  uint64_t *ids = boxes->memory[1];
  bool good = true;
  *rising = true;
  for (uint32_t at = 0; good && at < count; at += ROWS) {
    const uint32_t part = count - at < ROWS ? count - at : ROWS;
    good = gz_file_read_at(file, rows, (size_t)part * RECORD_BYTES, RECORDS_BEGIN + (boxes->first + at) * RECORD_BYTES);
    for (uint32_t i = 0; good && i < part; i++, box += 6) {
      memcpy(&ids[at + i], rows + (size_t)i * RECORD_BYTES, sizeof *ids);
      memcpy(box, rows + (size_t)i * RECORD_BYTES + 8, 6 * sizeof *box);
      good = is_box(box);
      *rising &= at + i == 0 || ids[at + i - 1] < ids[at + i];
    }
  }
  free(rows);
  return good;
}

/* Across the borders of slices, too. */
static bool rise_everywhere(const job *j, const rank_boxes *boxes, bool rising) {
  const uint64_t *ids = boxes->memory[1];
  const uint32_t count = boxes->boxes.count;
  uint64_t ends[3] = {count, count > 0 ? ids[0] : 0, count > 0 ? ids[count - 1] : 0};
  uint64_t *of_all = job_alloc((size_t)j->ranks, sizeof ends), last = 0;
  MPI_Allgather(ends, 3, MPI_UINT64_T, of_all, 3, MPI_UINT64_T, MPI_COMM_WORLD);
  bool any = false;
  for (int r = 0; r < j->ranks; r++) {
    const uint64_t *e = of_all + 3 * (size_t)r;
    if (e[0] == 0) continue;
    rising &= !any || last < e[1];
    last = e[2];
    any = true;
  }
  free(of_all);
  return job_all(rising);
}

/* Whether no id is given twice, on whatever ranks. */
static bool ids_differ(const job *j, const rank_boxes *boxes) {
  const size_t ranks = (size_t)j->ranks;
  const uint64_t *ids = boxes->memory[1];
  int *counts = job_alloc(4 * ranks, sizeof *counts), *places = counts + ranks, *in = places + ranks,
      *in_places = in + ranks;
  for (uint32_t i = 0; i < boxes->boxes.count; i++) counts[splitmix64(ids[i]) % ranks]++;
  MPI_Alltoall(counts, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (size_t r = 1; r < ranks; r++) {
    places[r] = places[r - 1] + counts[r - 1];
    in_places[r] = in_places[r - 1] + in[r - 1];
  }
  size_t arrived = (size_t)in_places[ranks - 1] + (size_t)in[ranks - 1];
  uint64_t *out = job_alloc(boxes->boxes.count, sizeof *out), *got = job_alloc(2 * arrived, sizeof *got);
  for (uint32_t i = 0; i < boxes->boxes.count; i++) out[places[splitmix64(ids[i]) % ranks]++] = ids[i];
  for (size_t r = 0; r < ranks; r++) places[r] -= counts[r];
  MPI_Alltoallv(out, counts, places, MPI_UINT64_T, got, in, in_places, MPI_UINT64_T, MPI_COMM_WORLD);
  gz_sort_keys(got, got + arrived, arrived);
  bool differ = true;
  for (size_t i = 1; i < arrived; i++) differ &= got[i - 1] != got[i];
  free(counts);
  free(out);
  free(got);
  return job_all(differ);
}

/* ---- files ---- */

static bool is_sliced(int file, uint64_t size, uint64_t *count) {
  unsigned char begin[RECORDS_BEGIN];
  if (size < RECORDS_BEGIN || !gz_file_read_at(file, begin, sizeof begin, 0) || memcmp(begin, magic, 8) != 0)
    return false;
  memcpy(count, begin + 8, sizeof *count);
  return *count <= (size - RECORDS_BEGIN) / RECORD_BYTES && size == RECORDS_BEGIN + *count * RECORD_BYTES &&
         *count < (uint64_t)UINT32_MAX;
}

/* Rank 0 has all of them, and the library spreads them out. Ends with a message when the file is not good. */
static void read_on_one(const job *j, const char *path, rank_boxes *boxes) {
  graze_box_list list = {0};
  graze_status status = GRAZE_OK;
  char words[600] = "";
  if (j->rank == 0) status = graze_read_boxes(j->context, path, &list);
  if (status != GRAZE_OK) snprintf(words, sizeof words, "%s", graze_last_error(j->context)->message);
  job_agree(j, status != GRAZE_OK ? words : NULL, false);
  boxes->total = list.count;
  MPI_Bcast(&boxes->total, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  boxes->boxes.count = list.count;
  hold(boxes, sizeof(graze_box));
  for (uint32_t i = 0; i < list.count; i++) ((uint64_t *)boxes->memory[1])[i] = list.ids[i];
  if (list.count > 0) memcpy(boxes->memory[0], list.boxes, list.count * sizeof *list.boxes);
  graze_box_list_free(&list);
}

static bool read_slices(const job *j, int file, uint64_t total, rank_boxes *boxes) {
  bool rising;
  take_slice(j, total, boxes);
  hold(boxes, sizeof(graze_box));
  bool good = job_all(read_slice(file, boxes, &rising));
  return good && (rise_everywhere(j, boxes, rising) || ids_differ(j, boxes));
}

void read_rank_boxes(const job *j, const char *path, rank_boxes *boxes) {
  *boxes = (rank_boxes){.boxes.boxes.precision = GRAZE_DOUBLE};
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  file_print print = gz_file_print(file);
  uint64_t total = 0;
  files_compare(j, path);
  const bool sliced = file >= 0 && is_sliced(file, print.size, &total);
  const bool good = sliced && read_slices(j, file, total, boxes);
  if (file >= 0) close(file);
  if (good) return;
  rank_boxes_free(boxes);
  *boxes = (rank_boxes){.boxes.boxes.precision = GRAZE_DOUBLE};
  read_on_one(j, path, boxes);
  if (sliced) job_agree(j, j->rank == 0 ? "an id is given twice" : NULL, false); /* beyond what one rank reads */
  if (j->rank == 0 && j->ranks > 1) note("%s: read by rank 0 alone; .gzb files are read by all", path);
}

/* ---- made boxes, and groups ---- */

void make_rank_boxes(const job *j, scenes_box_kind kind, uint32_t count, uint64_t seed, rank_boxes *boxes) {
  enum { PIECE = 1 << 20 }; /* a box takes more while it is made than afterwards */
  *boxes = (rank_boxes){.boxes.boxes.precision = GRAZE_FLOAT};
  take_slice(j, scenes_boxes_total(kind, count), boxes);
  hold(boxes, 6 * sizeof(float));
  const uint32_t first = (uint32_t)boxes->first, all = boxes->boxes.count;
  for (uint32_t at = 0; at < all; at += PIECE) {
    const uint32_t end = all - at < PIECE ? all : at + PIECE;
    scenes_boxes made;
    if (!scenes_boxes_make_part(kind, count, seed, first + at, first + end, &made))
      fail("rank %d: out of memory for %u boxes", j->rank, all);
    scenes_boxes_at(&made, 0.01, 0, (float *)boxes->memory[0] + 6 * (size_t)at);
    scenes_boxes_free(&made);
  }
  for (uint32_t i = 0; i < boxes->boxes.count; i++) ((uint64_t *)boxes->memory[1])[i] = boxes->first + i;
}

void read_rank_groups(const job *j, const char *path, rank_boxes *boxes) {
  char words[400];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  file_print print = gz_file_print(file);
  files_compare(j, path);
  bool good = file >= 0 && print.size == boxes->total * sizeof(uint32_t);
  if (file < 0)
    snprintf(words, sizeof words, "%s: cannot open: %s", path, strerror((int)print.error));
  else
    snprintf(words, sizeof words, "%s: %llu bytes, where %llu boxes need 4 each", path, (unsigned long long)print.size,
             (unsigned long long)boxes->total);
  job_agree(j, good ? NULL : words, false);
  boxes->memory[2] = job_alloc(boxes->boxes.count, sizeof(uint32_t));
  good =
      gz_file_read_at(file, boxes->memory[2], boxes->boxes.count * sizeof(uint32_t), boxes->first * sizeof(uint32_t));
  snprintf(words, sizeof words, "%s: cannot read: %s", path, strerror(errno));
  job_agree(j, good ? NULL : words, true);
  boxes->boxes.groups = boxes->memory[2];
  close(file);
}

void rank_boxes_free(rank_boxes *boxes) {
  for (int i = 0; i < 3; i++) free(boxes->memory[i]);
}
