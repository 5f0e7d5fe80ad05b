/* Pairs on their way: to the home of their lower id, where they are compared with the last step, and to the ranks that
 * contributed the boxes. Homes are ranges of ids, so that pairs at home are sorted over the ranks. */
#include <string.h>

#include "mpi/world.h"

/* ---- sorting: by (ended, a, b), in digits of a byte, without those that are all alike ---- */

enum { DIGITS = 17, DIGIT_VALUES = 256 };

static uint32_t digit_of(const graze_mpi_pair *p, int digit) {
  if (digit < 8) return p->b >> (8 * digit) & 255;
  if (digit < 16) return p->a >> (8 * (digit - 8)) & 255;
  return p->event == GRAZE_MPI_ENDED;
}

static bool sort_pairs(graze_mpi_world *w, buffer *b, uint64_t count) {
  if (count < 2) return true;
  if (!gz_mpi_world_reserve(w, &w->common->scratch, count, sizeof(graze_mpi_pair), 0)) return false;
  graze_mpi_pair *from = b->data, *to = w->common->scratch.data;
  for (int digit = 0; digit < DIGITS; digit++) {
    uint64_t places[DIGIT_VALUES] = {0}, sum = 0;
    for (uint64_t i = 0; i < count; i++) places[digit_of(&from[i], digit)]++;
    if (places[digit_of(&from[0], digit)] == count) continue;
    for (int v = 0; v < DIGIT_VALUES; v++) {
      uint64_t size = places[v];
      places[v] = sum;
      sum += size;
    }
    for (uint64_t i = 0; i < count; i++) to[places[digit_of(&from[i], digit)]++] = from[i];
    graze_mpi_pair *t = from;
    from = to;
    to = t;
  }
  if (from != b->data) memcpy(b->data, from, count * sizeof *from);
  return true;
}

static void swap_buffers(buffer *a, buffer *b) {
  buffer t = *a;
  *a = *b;
  *b = t;
}

/* ---- routing ---- */

/* The ranks that a pair goes to, at most two. */
typedef uint32_t (*pair_route)(const graze_mpi_world *w, const graze_mpi_pair *pair, uint32_t to[2]);

static uint32_t route_home(const graze_mpi_world *w, const graze_mpi_pair *pair, uint32_t to[2]) {
  uint32_t low = 0, high = w->ranks; /* the last one that begins at or below */
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (w->homes[middle] <= pair->a)
      low = middle;
    else
      high = middle;
  }
  to[0] = low;
  return 1;
}

static uint32_t route_owners(const graze_mpi_world *w, const graze_mpi_pair *pair, uint32_t to[2]) {
  (void)w;
  to[0] = pair->a_rank;
  to[1] = pair->b_rank;
  return to[0] == to[1] ? 1 : 2;
}

/* Pairs into `outgoing`, by rank, and those for this rank into `arrived`. False: refused. */
static bool pack_pairs(graze_mpi_world *w, pair_route route) {
  uint64_t own = 0;
  uint32_t to[2];
  const graze_mpi_pair *pairs = pairs_of(&w->pairs);
  for (uint64_t i = 0; i < w->pair_count; i++) {
    for (uint32_t k = route(w, &pairs[i], to); k-- > 0;) {
      if (to[k] == w->rank) {
        own++;
        continue;
      }
      mpi_address *address = world_address(w, to[k]);
      if (address == NULL) return false;
      address->count++;
    }
  }
  if (!gz_mpi_world_lay_out(w, sizeof *pairs) || !gz_mpi_world_reserve(w, &w->arrived, own, sizeof *pairs, 0))
    return false;
  for (uint64_t i = 0; i < w->pair_count; i++) {
    for (uint32_t k = route(w, &pairs[i], to); k-- > 0;) {
      if (to[k] == w->rank)
        pairs_of(&w->arrived)[w->arrived_count++] = pairs[i];
      else
        pairs_of(&w->outgoing)[world_address(w, to[k])->count++] = pairs[i];
    }
  }
  return true;
}

static void *take_pairs(void *user, uint32_t from, size_t size) {
  graze_mpi_world *w = user;
  const uint64_t count = size / sizeof(graze_mpi_pair);
  (void)from;
  if (w->failure.status != GRAZE_OK ||
      !gz_mpi_world_reserve(w, &w->arrived, w->arrived_count + count, sizeof(graze_mpi_pair), w->arrived_count))
    return NULL;
  void *room = pairs_of(&w->arrived) + w->arrived_count;
  w->arrived_count += count;
  return room;
}

static graze_status begin(graze_mpi_world *w, pair_route route) {
  w->arrived_count = 0;
  gz_mpi_addresses_clear(&w->common->addresses);
  if (w->failure.status == GRAZE_OK) pack_pairs(w, route);
  return gz_mpi_send_records(w, sizeof(graze_mpi_pair), (mpi_receiver){take_pairs, w});
}

/* ---- home ---- */

graze_status gz_mpi_home_begin(graze_mpi_world *w) {
  return begin(w, route_home);
}

static int compare(const graze_mpi_pair *x, const graze_mpi_pair *y) {
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

/* Both are sorted. What has ended goes behind the pairs; there is room. Returns how many have. */
static uint64_t compare_steps(graze_mpi_pair *pairs, uint64_t count, const graze_mpi_pair *before,
                              uint64_t before_count, uint64_t *persist) {
  graze_mpi_pair *ended = pairs + count;
  uint64_t i = 0, j = 0;
  while (i < count || j < before_count) {
    int order = i == count ? 1 : j == before_count ? -1 : compare(&pairs[i], &before[j]);
    if (order > 0) {
      *ended = before[j++];
      ended++->event = GRAZE_MPI_ENDED;
      continue;
    }
    pairs[i].event = order == 0 ? GRAZE_MPI_PERSISTS : GRAZE_MPI_BEGAN;
    *persist += order == 0;
    j += order == 0;
    i++;
  }
  return (uint64_t)(ended - (pairs + count));
}

static bool add_events(graze_mpi_world *w) {
  const uint64_t count = w->arrived_count;
  uint64_t persist = 0;
  if (!gz_mpi_world_reserve(w, &w->next_history, count, sizeof(graze_mpi_pair), 0) ||
      !gz_mpi_world_reserve(w, &w->arrived, count + w->history_count, sizeof(graze_mpi_pair), count))
    return false;
  uint64_t ended = compare_steps(pairs_of(&w->arrived), count, w->history.data, w->history_count, &persist);
  if (count > 0) memcpy(w->next_history.data, w->arrived.data, count * sizeof(graze_mpi_pair));
  w->next_history_count = count;
  w->arrived_count += ended;
  w->totals.sums[SUM_BEGAN] = count - persist;
  w->totals.sums[SUM_PERSIST] = persist;
  w->totals.sums[SUM_ENDED] = ended;
  return true;
}

void gz_mpi_home_sort(graze_mpi_world *w) {
  if (w->failure.status == GRAZE_OK) sort_pairs(w, &w->arrived, w->arrived_count);
}

void gz_mpi_home_end(graze_mpi_world *w) {
  gz_mpi_home_sort(w);
  if (w->failure.status != GRAZE_OK) return;
  if (w->def.events && !add_events(w)) return;
  if (w->def.delivery == GRAZE_MPI_FINDER) return; /* which keeps its own */
  swap_buffers(&w->pairs, &w->arrived);
  w->pair_count = w->arrived_count;
}

/* ---- owners, and the list in the end ---- */

graze_status gz_mpi_owners_begin(graze_mpi_world *w) {
  return begin(w, route_owners);
}

void gz_mpi_deliver(graze_mpi_world *w) {
  if (w->failure.status != GRAZE_OK || w->def.delivery == GRAZE_MPI_COUNT) return;
  if (w->def.delivery == GRAZE_MPI_OWNERS) {
    swap_buffers(&w->pairs, &w->arrived);
    w->pair_count = w->arrived_count;
  }
  if (w->def.delivery != GRAZE_MPI_SORTED && !w->unsorted && !sort_pairs(w, &w->pairs, w->pair_count)) return;
  uint64_t ended = 0;
  while (ended < w->pair_count && pairs_of(&w->pairs)[w->pair_count - 1 - ended].event == GRAZE_MPI_ENDED) ended++;
  w->list = w->pairs.data;
  w->list_count = w->pair_count - ended;
  w->list_ended = ended;
}
