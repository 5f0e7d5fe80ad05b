/* The pairs among what a rank holds: own boxes that stayed, by their numbers, and boxes that came, behind them.
 *
 * One call of the library's search for all is the fastest way; blocks only bound memory: the region is cut again as
 * space is cut among ranks, and each part is searched by itself. Of a region that several ranks share, a rank searches
 * its tiles.
 *
 * A pair is told by the region, and by the block, that has the component-wise greater of the two lower corners. That
 * point lies in both boxes, so both are there; and it lies in one region, so nobody else tells the pair. The midpoint
 * of the centres, which the paper took, may lie in a region that one of the boxes does not meet. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "broad/phase.h"
#include "mpi/world.h"

enum { SAMPLES_A_BLOCK = 32 };

/* ---- opening and closing ---- */

/* Worlds that take turns each search in the way that AUTO has found for their own boxes. */
graze_status gz_mpi_search_open(graze_mpi_world *w) {
  graze_broadphase_def def = graze_default_broadphase_def();
  mpi_common *c = w->common;
  if (w->def.search == GRAZE_MPI_BISECTION) def.method = GRAZE_BROAD_BRUTE;
  graze_status status = c->broadphase == NULL ? graze_broadphase_create(w->context, &def, &c->broadphase) : GRAZE_OK;
  if (status != GRAZE_OK || c == &w->own) return status;
  w->choice = gz_memory_alloc(w->context, sizeof *w->choice);
  if (w->choice == NULL) return gz_fail_memory(w->context, sizeof *w->choice);
  *w->choice = (broad_choice){0};
  return gz_broad_take_turns(c->broadphase);
}

void gz_mpi_search_close(graze_mpi_world *w) {
  gz_memory_release(w->context, w->choice, sizeof *w->choice);
}

/* ---- a job ---- */

typedef struct job {
  graze_mpi_world *w;
  const uint32_t *slots; /* NULL: all own boxes in their order */
  uint32_t count;
  uint32_t block;      /* leaf of the blocks */
  bool cross;          /* a tile of two stripes: pairs within one are told elsewhere */
  const uint64_t *ids; /* in the order of the slots */
} job;

/* What pairs are told of. */
typedef struct object {
  uint64_t id;
  uint32_t group, rank, number;
} object;

static const mpi_record *received_of(const graze_mpi_world *w, uint32_t number) {
  return (const mpi_record *)w->received.data + (number - (uint32_t)w->object_count);
}

static void box_of(const graze_mpi_world *w, uint32_t slot, double box[6]) {
  const uint32_t number = slot & SLOT_NUMBER;
  if (number < w->object_count)
    gz_mpi_own_box(w, number, box);
  else
    memcpy(box, received_of(w, number)->box, sizeof(double[6]));
}

static uint32_t stripe_of_slot(const graze_mpi_world *w, uint32_t slot) {
  const uint32_t number = slot & SLOT_NUMBER;
  if (number >= w->object_count) return received_of(w, number)->stripe;
  return (uint32_t)((w->rank * w->object_count + number) % w->leaf.stripes);
}

static object object_of(const graze_mpi_world *w, uint32_t slot) {
  const uint32_t number = slot & SLOT_NUMBER;
  object o = {.rank = w->rank, .number = number};
  if (number >= w->object_count) {
    const mpi_record *r = received_of(w, number);
    o.id = r->id;
    o.group = r->group;
    o.rank = r->rank;
    o.number = r->number;
    return o;
  }
  const mpi_client *c = gz_mpi_client_of(w, number);
  o.id = c->boxes.ids[number - c->first];
  o.group = c->boxes.groups != NULL ? c->boxes.groups[number - c->first] : UINT32_MAX;
  return o;
}

/* ---- which pairs are told ---- */

/* Of two boxes of a job, by their places in its line. */
static void corner_of(const job *j, uint32_t a, uint32_t b, double corner[3]) {
  if (j->w->narrow) {
    const float *first = (const float *)j->w->common->work.data + 6 * (size_t)a,
                *second = (const float *)j->w->common->work.data + 6 * (size_t)b;
    for (int k = 0; k < 3; k++) corner[k] = (double)(first[k] > second[k] ? first[k] : second[k]);
  } else {
    const double *first = (const double *)j->w->common->work.data + 6 * (size_t)a,
                 *second = (const double *)j->w->common->work.data + 6 * (size_t)b;
    for (int k = 0; k < 3; k++) corner[k] = first[k] > second[k] ? first[k] : second[k];
  }
}

static bool is_within(const graze_box *bounds, const double point[3]) {
  return point[0] >= bounds->min[0] && point[1] >= bounds->min[1] && point[2] >= bounds->min[2] &&
         point[0] < bounds->max[0] && point[1] < bounds->max[1] && point[2] < bounds->max[2];
}

/* Of boxes that other ranks have too. */
static bool is_here(const graze_mpi_world *w, uint32_t a, uint32_t b, const double corner[3]) {
  double first[6], second[6];
  if (!uses_directory(w)) return is_within(&w->region, corner);
  box_of(w, a, first);
  box_of(w, b, second);
  return gz_mpi_directory_tells(w, first, second, corner);
}

/* `a` and `b` are places in the job's line. */
static bool is_told(const job *j, uint32_t a, uint32_t b) {
  const graze_mpi_world *w = j->w;
  const uint32_t first = j->slots[a], second = j->slots[b], both = first & second;
  double corner[3];
  if (j->cross && stripe_of_slot(w, first) == stripe_of_slot(w, second)) return false;
  if ((both & (SLOT_SHARED | SLOT_BLOCKS)) == 0) return true;
  corner_of(j, a, b, corner);
  if ((both & SLOT_SHARED) != 0 && !is_here(w, first, second, corner)) return false;
  return (both & SLOT_BLOCKS) == 0 || regions_leaf_of(&w->blocks, corner) == j->block;
}

static uint64_t hash_ids(uint64_t a, uint64_t b) {
  return (a | b) >> 32 == 0 ? hash_pair((uint32_t)a, (uint32_t)b) : splitmix64(splitmix64(a) + b);
}

static void keep_pair(graze_mpi_world *w, const object *a, const object *b) {
  pairs_of(&w->pairs)[w->pair_count++] =
      (graze_mpi_pair){a->id, b->id, a->rank, a->number, b->rank, b->number, GRAZE_MPI_BEGAN, 0};
}

static bool lists_pairs(const graze_mpi_world *w) {
  return w->def.delivery != GRAZE_MPI_COUNT || w->def.events;
}

static bool tell_pairs(const job *j, const graze_box_pair *pairs, uint64_t count) {
  graze_mpi_world *w = j->w;
  const bool lists = lists_pairs(w);
  uint64_t told = 0, hash = 0;
  if (lists && !gz_mpi_world_reserve(w, &w->pairs, w->pair_count + count, sizeof(graze_mpi_pair), w->pair_count))
    return false;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t a = j->slots != NULL ? j->slots[pairs[i].a] : pairs[i].a;
    uint32_t b = j->slots != NULL ? j->slots[pairs[i].b] : pairs[i].b;
    if (j->slots != NULL && !is_told(j, pairs[i].a, pairs[i].b)) continue;
    object first = object_of(w, a), second = object_of(w, b);
    if (first.group == second.group && first.group != UINT32_MAX) continue;
    if (first.id > second.id) {
      object t = first;
      first = second;
      second = t;
    }
    told++;
    hash += hash_ids(first.id, second.id);
    if (lists) keep_pair(w, &first, &second);
  }
  w->totals.sums[SUM_PAIRS] += told;
  w->totals.sums[SUM_HASH] += hash;
  return true;
}

/* The common case without what it does not need: no groups, and nobody wants the pairs themselves. */
static void count_pairs(const job *j, const graze_box_pair *pairs, uint64_t count) {
  uint64_t hash = 0, told = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint32_t first = pairs[i].a, second = pairs[i].b;
    if (j->slots != NULL) {
      const uint32_t both = j->slots[first] & j->slots[second];
      if ((j->cross || (both & (SLOT_SHARED | SLOT_BLOCKS)) != 0) && !is_told(j, first, second)) continue;
    }
    const uint64_t a = j->ids[first], b = j->ids[second];
    hash += hash_ids(a < b ? a : b, a < b ? b : a);
    told++;
  }
  j->w->totals.sums[SUM_PAIRS] += told;
  j->w->totals.sums[SUM_HASH] += hash;
}

/* ---- a search ---- */

/* Boxes on their way to the search, as doubles or floats. */
typedef struct line {
  void *boxes;
  uint64_t *ids;
  bool narrow;
} line;

static void put_box(const line *l, uint32_t at, const double box[6]) {
  if (!l->narrow) {
    memcpy((double *)l->boxes + 6 * (size_t)at, box, sizeof(double[6]));
    return;
  }
  float *out = (float *)l->boxes + 6 * (size_t)at;
  for (int k = 0; k < 6; k++) out[k] = (float)box[k];
}

/* Boxes of a client that follow each other there. */
static void put_run(const line *l, uint32_t at, const mpi_client *c, uint32_t first, uint32_t count) {
  const graze_box_array *from = &c->boxes.boxes;
  const size_t size = 6 * (l->narrow ? sizeof(float) : sizeof(double));
  memcpy(l->ids + at, c->boxes.ids + first, count * sizeof *l->ids);
  if (from->stride == size && (from->precision == GRAZE_FLOAT) == l->narrow) {
    memcpy((char *)l->boxes + at * size, (const char *)from->data + first * size, count * size);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    double box[6];
    client_box(c, first + i, box);
    put_box(l, at + i, box);
  }
}

/* Slots from `begin` on whose numbers follow each other, below `limit`. */
static uint32_t end_of_run(const job *j, uint32_t begin, uint32_t limit) {
  const uint32_t number = j->slots[begin] & SLOT_NUMBER, most = limit - number;
  const uint32_t end = j->count - begin < most ? j->count : begin + most;
  uint32_t i = begin + 1;
  while (i < end && (j->slots[i] & SLOT_NUMBER) == number + (i - begin)) i++;
  return i;
}

static void fill_line(const job *j, const line *l) {
  const graze_mpi_world *w = j->w;
  const mpi_client *c = w->clients.data;
  for (uint32_t i = 0; i < j->count;) {
    const uint32_t number = j->slots[i] & SLOT_NUMBER;
    if (number >= w->object_count) {
      const mpi_record *r = received_of(w, number);
      put_box(l, i, r->box);
      l->ids[i++] = r->id;
      continue;
    }
    if (number - c->first >= c->boxes.count) c = gz_mpi_client_of(w, number);
    const uint32_t end = end_of_run(j, i, c->first + c->boxes.count);
    put_run(l, i, c, number - c->first, end - i);
    i = end;
  }
}

/* The boxes of a job, side by side, and their ids. False: refused. */
static bool line_up(job *j, graze_box_array *boxes) {
  graze_mpi_world *w = j->w;
  const mpi_client *c = w->clients.data;
  if (j->slots == NULL) {
    if (j->count > 0) *boxes = c->boxes.boxes;
    if (j->count > 0) j->ids = c->boxes.ids;
    return true;
  }
  const size_t size = 6 * (w->narrow ? sizeof(float) : sizeof(double));
  if (!gz_mpi_world_reserve(w, &w->common->work, j->count, size, 0) ||
      !gz_mpi_world_reserve(w, &w->common->ids, j->count, sizeof(uint64_t), 0))
    return false;
  fill_line(j, &(line){w->common->work.data, w->common->ids.data, w->narrow});
  *boxes = (graze_box_array){.data = w->common->work.data, .precision = w->narrow ? GRAZE_FLOAT : GRAZE_DOUBLE};
  j->ids = w->common->ids.data;
  return true;
}

static graze_status find_pairs(const graze_mpi_world *w, const graze_box_array *boxes, uint32_t count,
                               const graze_box_pair **pairs, uint64_t *pair_count) {
  graze_broadphase *broadphase = w->common->broadphase;
  const bool before = gz_silence(true); /* all ranks tell it in the end */
  if (w->choice != NULL) gz_broad_exchange_choice(broadphase, w->choice);
  const graze_status status = graze_broadphase_find(broadphase, boxes, count, true, pairs, pair_count);
  if (w->choice != NULL) gz_broad_exchange_choice(broadphase, w->choice);
  gz_silence(before);
  return status;
}

static bool run_job(job j) {
  graze_mpi_world *w = j.w;
  graze_box_array boxes = {.data = w, .precision = GRAZE_DOUBLE};
  const graze_box_pair *pairs;
  uint64_t count;
  if (!line_up(&j, &boxes)) return false;
  const graze_status status = find_pairs(w, &boxes, j.count, &pairs, &count);
  if (status != GRAZE_OK) {
    gz_mpi_world_fail(w, status);
    return false;
  }
  w->own_work += (double)WORK_OF_BOX * j.count + (double)WORK_OF_PAIR * (double)count;
  if (w->grouped || lists_pairs(w)) return tell_pairs(&j, pairs, count);
  count_pairs(&j, pairs, count);
  return true;
}

/* Whether a box that is here has a group, and whether all are floats: these have less to carry and are as exact. */
static void look_at_all(graze_mpi_world *w) {
  const mpi_client *clients = w->clients.data;
  const mpi_record *received = w->received.data;
  bool grouped = false, narrow = true;
  for (uint32_t c = 0; c < w->client_count; c++) {
    grouped |= clients[c].boxes.groups != NULL;
    narrow &= clients[c].boxes.boxes.precision == GRAZE_FLOAT;
  }
  for (uint64_t i = 0; i < w->received_count; i++) {
    grouped |= received[i].group != UINT32_MAX;
    narrow &= received[i].narrow;
  }
  w->grouped = grouped;
  w->narrow = narrow;
}

/* ---- tiles: slots are sorted by stripe ---- */

static bool run_tile(graze_mpi_world *w, const uint32_t *sorted, const uint32_t *ends, uint32_t i, uint32_t k) {
  const uint32_t first = i > 0 ? ends[i - 1] : 0, second = k > 0 ? ends[k - 1] : 0;
  const uint32_t count = ends[i] - first, more = i == k ? 0 : ends[k] - second;
  if (!gz_mpi_world_reserve(w, &w->common->job, (uint64_t)count + more, sizeof(uint32_t), 0)) return false;
  uint32_t *slots = w->common->job.data;
  if (count > 0) memcpy(slots, sorted + first, count * sizeof *slots);
  if (more > 0) memcpy(slots + count, sorted + second, more * sizeof *slots);
  return run_job((job){.w = w, .slots = slots, .count = count + more, .cross = i != k});
}

static bool run_tiles(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  const mpi_leaf *leaf = &w->leaf;
  if (!gz_mpi_world_reserve(w, &w->common->sorted, (uint64_t)count + leaf->stripes, sizeof(uint32_t), 0)) return false;
  uint32_t *ends = (uint32_t *)w->common->sorted.data + count, *sorted = w->common->sorted.data, sum = 0;
  memset(ends, 0, leaf->stripes * sizeof *ends);
  for (uint32_t i = 0; i < count; i++) ends[stripe_of_slot(w, slots[i])]++;
  for (uint32_t s = 0; s < leaf->stripes; s++) {
    uint32_t size = ends[s];
    ends[s] = sum;
    sum += size;
  }
  for (uint32_t i = 0; i < count; i++) sorted[ends[stripe_of_slot(w, slots[i])]++] = slots[i];
  for (uint32_t k = 0; k < leaf->stripes; k++) {
    for (uint32_t i = 0; i <= k; i++) {
      if (regions_rank(&w->regions, leaf, leaf_tile(leaf, i, k)) != w->rank) continue;
      if (!run_tile(w, sorted, ends, i, k)) return false;
    }
  }
  return true;
}

/* ---- blocks ---- */

/* Cuts the region into blocks. False: refused. */
static bool cut_blocks(graze_mpi_world *w, const uint32_t *slots, uint32_t count, uint32_t blocks) {
  const uint64_t wanted = (uint64_t)blocks * SAMPLES_A_BLOCK;
  const uint32_t samples = count < wanted ? count : (uint32_t)wanted;
  carving c = {NULL, 0};
  mpi_sample *s = NULL;
  mpi_mark *marks = NULL;
  for (int pass = 0; pass < 2; pass++) {
    s = gz_carve(&c, samples * sizeof *s);
    marks = gz_carve(&c, samples * sizeof *marks);
    w->blocks.entries = gz_carve(&c, blocks * sizeof *w->blocks.entries);
    if (pass > 0) break;
    if (!gz_mpi_world_reserve(w, &w->common->block_memory, c.used, 1, 0)) return false;
    c = (carving){w->common->block_memory.data, 0};
  }
  for (uint32_t i = 0; i < samples; i++) {
    double box[6];
    box_of(w, slots[(uint64_t)i * count / samples], box);
    memcpy(&s[i].box, box, sizeof box);
    s[i].objects = s[i].weight = (double)count / samples;
  }
  const mpi_cutting cutting = {.ranks = blocks, .samples = s, .count = samples, .voxel = w->plan.voxel, .marks = marks};
  gz_mpi_regions_cut(&w->blocks, &cutting);
  return true;
}

/* Sorts slots by block, with those that meet several in each. `ends` by block; NULL: refused. */
static uint32_t *sort_by_block(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  const uint32_t blocks = w->blocks.ranks;
  if (!gz_mpi_world_reserve(w, &w->common->job, blocks, sizeof(uint32_t), 0)) return NULL;
  uint32_t *ends = w->common->job.data;
  uint64_t sum = 0;
  mpi_walk walk;
  double box[6];
  memset(ends, 0, blocks * sizeof *ends);
  for (uint32_t i = 0; i < count; i++) {
    box_of(w, slots[i], box);
    for (walk_begin(&walk, &w->blocks, box); walk.depth > 0;) ends[walk_next(&walk).first]++;
  }
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t size = ends[b];
    ends[b] = (uint32_t)sum;
    sum += size;
  }
  if (sum > UINT32_MAX) {
    gz_mpi_world_fail_with(w, GRAZE_ERROR_LIMIT, "its boxes meet too many blocks");
    return NULL;
  }
  if (!gz_mpi_world_reserve(w, &w->common->sorted, sum, sizeof(uint32_t), 0)) return NULL;
  uint32_t *sorted = w->common->sorted.data;
  for (uint32_t i = 0; i < count; i++) {
    box_of(w, slots[i], box);
    uint32_t slot = slots[i];
    for (walk_begin(&walk, &w->blocks, box); walk.depth > 0;) {
      const uint32_t block = walk_next(&walk).first;
      if (walk.depth > 0) slot |= SLOT_BLOCKS;
      sorted[ends[block]++] = slot;
    }
  }
  return ends;
}

static bool run_blocks(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  const uint32_t blocks = count / w->def.block + 1;
  if (!cut_blocks(w, slots, count, blocks)) return false;
  const uint32_t *ends = sort_by_block(w, slots, count);
  if (ends == NULL) return false;
  for (uint32_t b = 0, begin = 0; b < blocks; begin = ends[b++]) {
    if (begin == ends[b]) continue; /* it is a part of the one before */
    const job j = {
        .w = w, .slots = (const uint32_t *)w->common->sorted.data + begin, .count = ends[b] - begin, .block = b};
    if (!run_job(j)) return false;
  }
  return true;
}

/* ---- voxels with boxes ---- */

static uint64_t voxel_key(const graze_mpi_world *w, uint32_t slot) {
  double box[6];
  uint64_t key = 0;
  box_of(w, slot, box);
  for (int k = 0; k < 3; k++) {
    double cell = floor(box[k] / w->plan.voxel) + 0.0; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &cell, sizeof bits);
    key = splitmix64(key + bits);
  }
  return key | 1; /* 0 marks a free place */
}

/* Those of the lower corners in this rank's region: so each is counted by the rank that has it. */
static bool count_voxels(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  uint64_t places = 64, mask, found = 0;
  while (places < 2 * (uint64_t)count) places *= 2;
  if (!gz_mpi_world_reserve(w, &w->common->voxel_set, places, sizeof(uint64_t), 0)) return false;
  uint64_t *set = w->common->voxel_set.data;
  memset(set, 0, places * sizeof *set);
  mask = places - 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t slot = slots != NULL ? slots[i] : i;
    double box[6];
    if ((slot & SLOT_SHARED) != 0) {
      box_of(w, slot, box);
      if (regions_leaf_of(&w->regions, box) != w->leaf.first) continue;
    }
    uint64_t key = voxel_key(w, slot), place = key & mask;
    while (set[place] != 0 && set[place] != key) place = (place + 1) & mask;
    found += set[place] == 0;
    set[place] = key;
  }
  gz_buffer_release(w->context, &w->common->voxel_set); /* it is not needed in most steps */
  w->totals.sums[SUM_VOXELS] = found;
  return true;
}

/* ---- all ---- */

/* Behind the own boxes that stayed come those that arrived. NULL: refused. */
static const uint32_t *list_slots(graze_mpi_world *w) {
  const uint64_t count = w->kept + w->received_count;
  if (!gz_mpi_world_reserve(w, &w->slots, count, sizeof(uint32_t), w->kept)) return NULL;
  uint32_t *slots = w->slots.data;
  for (uint64_t i = 0; i < w->received_count; i++) {
    uint32_t number = (uint32_t)(w->object_count + i);
    slots[w->kept + i] = number | (((const mpi_record *)w->received.data)[i].shared ? SLOT_SHARED : 0);
  }
  return slots;
}

static bool count_by_place(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  gz_mpi_directory_clear_counts(w);
  for (uint32_t i = 0; i < count; i++) {
    double box[6];
    box_of(w, slots[i], box);
    gz_mpi_directory_count(w, box);
  }
  w->totals.sums[SUM_VOXELS] = gz_mpi_directory_voxels(w);
  return true;
}

static bool count_all_voxels(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  if (uses_directory(w)) return count_by_place(w, slots, count);
  return w->cuts == w->counted_cuts || count_voxels(w, slots, count);
}

static bool search_slots(graze_mpi_world *w, const uint32_t *slots, uint32_t count) {
  if (count_all_voxels(w, slots, count)) {
    if (w->def.search == GRAZE_MPI_NO_SEARCH || count == 0) return true;
    if (w->leaf.ranks > 1) return run_tiles(w, slots, count);
    if (count > w->def.block) return run_blocks(w, slots, count);
    return run_job((job){.w = w, .slots = slots, .count = count});
  }
  return false;
}

void gz_mpi_search(graze_mpi_world *w) {
  const uint32_t count = w->kept + (uint32_t)w->received_count;
  const uint32_t *slots = NULL;
  w->own_work = 0;
  w->pair_count = 0;
  look_at_all(w);
  if (!w->all_kept) slots = list_slots(w);
  if (w->all_kept || slots != NULL || count == 0) search_slots(w, slots, count);
}
