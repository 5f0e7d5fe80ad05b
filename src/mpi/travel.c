/* Boxes on their way: each goes to the ranks whose regions it meets, once, in one message a rank. Those that stay are
 * not copied, only numbered. Here they are checked, too, so that a message can name the box. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mpi/world.h"

/* ---- the boxes of all clients ---- */

const mpi_client *gz_mpi_client_of(const graze_mpi_world *w, uint32_t number) {
  const mpi_client *c = w->clients.data;
  while (number - c->first >= c->boxes.count) c++;
  return c;
}

void gz_mpi_own_box(const graze_mpi_world *w, uint32_t number, double box[6]) {
  const mpi_client *c = gz_mpi_client_of(w, number);
  client_box(c, number - c->first, box);
}

/* ---- checking ---- */

static inline bool is_good(const double box[6]) {
  /* a difference of numbers that are not finite is not one either; nor is an overflow, which is looked at again */
  return box[3] - box[0] >= 0 && box[4] - box[1] >= 0 && box[5] - box[2] >= 0 && box[3] - box[0] < (double)INFINITY &&
         box[4] - box[1] < (double)INFINITY && box[5] - box[2] < (double)INFINITY;
}

/* False: the step has failed. */
static bool check_closely(graze_mpi_world *w, const mpi_client *c, uint32_t i, const double box[6]) {
  char name[64] = "";
  if (w->client_count > 1) {
    snprintf(name, sizeof name, "client %" PRIu32 ", ", (uint32_t)(c - (const mpi_client *)w->clients.data));
  }
  for (int k = 0; k < 3; k++) {
    const double low = box[k], high = box[3 + k];
    if (!isfinite(low) || !isfinite(high)) {
      gz_mpi_world_fail_with(w, GRAZE_ERROR_NOT_FINITE, "%sbox %" PRIu32 " (id %" PRIu64 "): %s%c is not finite", name,
                             i, c->boxes.ids[i], isfinite(low) ? "max" : "min", "xyz"[k]);
      return false;
    }
    if (low <= high) continue;
    gz_mpi_world_fail_with(w, GRAZE_ERROR_ARGUMENT,
                           "%sbox %" PRIu32 " (id %" PRIu64 "): min%c %.17g is more than max%c %.17g", name, i,
                           c->boxes.ids[i], "xyz"[k], low, "xyz"[k], high);
    return false;
  }
  return true;
}

bool gz_mpi_check_box(graze_mpi_world *w, const mpi_client *c, uint32_t i, const double box[6]) {
  return is_good(box) || check_closely(w, c, i, box);
}

/* ---- where to ---- */

typedef struct route {
  graze_mpi_world *w;
  uint32_t *marks;  /* by rank: the last box + 1 that goes there */
  uint64_t *counts; /* by rank */
} route;

static uint16_t stripe_of(const graze_mpi_world *w, uint32_t number, const mpi_leaf *leaf) {
  return (uint16_t)((w->rank * w->object_count + number) % leaf->stripes);
}

static bool leave(route *r, uint32_t rank, uint32_t number, uint32_t leaf, bool shared) {
  graze_mpi_world *w = r->w;
  if (r->marks[rank] == number + 1) return true;
  r->marks[rank] = number + 1;
  if (rank == w->rank) {
    ((uint32_t *)w->slots.data)[w->kept++] = number | (shared ? SLOT_SHARED : 0);
    return true;
  }
  if ((w->leaving_count + 1) * sizeof(mpi_leaving) > w->leaving.bytes &&
      !gz_mpi_world_reserve(w, &w->leaving, w->leaving_count + 1, sizeof(mpi_leaving), w->leaving_count))
    return false;
  ((mpi_leaving *)w->leaving.data)[w->leaving_count++] = (mpi_leaving){rank, leaf, number | (shared ? SLOT_SHARED : 0)};
  r->counts[rank]++;
  return true;
}

/* To every rank of the leaf that has a tile of the box's stripe. */
static bool leave_to_leaf(route *r, uint32_t number, uint32_t l, bool shared) {
  const mpi_leaf *leaf = &r->w->regions.leaves[l];
  if (leaf->ranks == 1) return leave(r, regions_rank(&r->w->regions, leaf, 0), number, l, shared);
  const uint32_t stripe = stripe_of(r->w, number, leaf);
  for (uint32_t other = 0; other < leaf->stripes; other++) {
    uint32_t tile = leaf_tile(leaf, other < stripe ? other : stripe, other < stripe ? stripe : other);
    if (!leave(r, regions_rank(&r->w->regions, leaf, tile), number, l, shared)) return false;
  }
  return true;
}

static bool route_client(route *r, const mpi_client *c) {
  graze_mpi_world *w = r->w;
  const mpi_regions *regions = &w->regions;
  uint32_t *found = w->found.data, *slots = w->slots.data;
  const uint32_t home = w->leaf < regions->leaf_count && regions->leaves[w->leaf].ranks == 1 ? w->leaf : UINT32_MAX;
  for (uint32_t i = 0; i < c->boxes.count; i++) {
    double box[6];
    client_box(c, i, box);
    if (!gz_mpi_check_box(w, c, i, box)) return false;
    uint32_t count = gz_mpi_regions_meet(regions, box, found);
    if (count == 1 && found[0] == home) { /* nearly all, where ranks have what lies near them */
      slots[w->kept++] = c->first + i;
      continue;
    }
    for (uint32_t k = 0; k < count; k++) {
      if (!leave_to_leaf(r, c->first + i, found[k], count > 1)) return false;
    }
  }
  return true;
}

/* To the places of the voxels that it meets. */
static bool route_to_places(route *r, const mpi_client *c) {
  graze_mpi_world *w = r->w;
  uint32_t *ranks = w->found.data;
  for (uint32_t i = 0; i < c->boxes.count; i++) {
    double box[6];
    uint32_t stripe = 0;
    client_box(c, i, box);
    const uint32_t count = gz_mpi_directory_route(w, box, ranks);
    for (uint32_t k = 0; k < count; k++) stripe |= 1u << ranks[k] % RANKS_OF_STRIPE;
    for (uint32_t k = 0; k < count; k++) {
      if (!leave(r, ranks[k], c->first + i, stripe, count > 1)) return false;
    }
  }
  return true;
}

static bool route_all(graze_mpi_world *w) {
  const size_t ranks = w->ranks;
  const uint64_t found = uses_directory(w) ? w->ranks : w->regions.leaf_count;
  if (!gz_mpi_world_reserve(w, &w->found, found, sizeof(uint32_t), 0) ||
      !gz_mpi_world_reserve(w, &w->marked, ranks, sizeof(uint32_t), 0) ||
      !gz_mpi_world_reserve(w, &w->slots, w->object_count, sizeof(uint32_t), 0))
    return false;
  route r = {w, w->marked.data, w->cursors.data};
  memset(r.marks, 0, ranks * sizeof *r.marks);
  const mpi_client *clients = w->clients.data;
  for (uint32_t c = 0; c < w->client_count; c++) {
    if (!(uses_directory(w) ? route_to_places : route_client)(&r, &clients[c])) return false;
  }
  return true;
}

/* ---- packing ---- */

/* Counts become the places where each rank's records begin. */
static uint64_t begin_cursors(graze_mpi_world *w) {
  uint64_t *cursors = w->cursors.data, sum = 0;
  for (uint32_t r = 0; r < w->ranks; r++) {
    uint64_t count = cursors[r];
    cursors[r] = sum;
    sum += count;
  }
  return sum;
}

static void pack_box(const graze_mpi_world *w, const mpi_leaving *leaving, mpi_record *record) {
  const uint32_t number = leaving->slot & SLOT_NUMBER;
  const mpi_client *c = gz_mpi_client_of(w, number);
  const uint32_t i = number - c->first;
  client_box(c, i, record->box);
  record->id = c->boxes.ids[i];
  record->group = c->boxes.groups != NULL ? c->boxes.groups[i] : UINT32_MAX;
  record->rank = w->rank;
  record->number = number;
  record->stripe =
      uses_directory(w) ? (uint16_t)leaving->leaf : stripe_of(w, number, &w->regions.leaves[leaving->leaf]);
  record->shared = (leaving->slot & SLOT_SHARED) != 0;
}

static bool pack(graze_mpi_world *w) {
  uint64_t all = begin_cursors(w);
  if (!gz_mpi_world_reserve(w, &w->outgoing, all, sizeof(mpi_record), 0)) return false;
  const mpi_leaving *leaving = w->leaving.data;
  uint64_t *cursors = w->cursors.data;
  for (uint64_t i = 0; i < w->leaving_count; i++) {
    pack_box(w, &leaving[i], (mpi_record *)w->outgoing.data + cursors[leaving[i].rank]++);
  }
  w->totals.sums[SUM_SENT] = all;
  return true;
}

graze_status gz_mpi_send_records(graze_mpi_world *w, size_t record, mpi_receiver receiver) {
  mpi_parcel *parcels = w->parcels.data;
  const uint64_t *ends = w->cursors.data;
  size_t count = 0;
  uint64_t at = 0;
  for (uint32_t r = 0; w->failure.status == GRAZE_OK && r < w->ranks; r++) {
    if (ends[r] > at)
      parcels[count++] = (mpi_parcel){r, (const char *)w->outgoing.data + at * record, (ends[r] - at) * record};
    at = ends[r];
  }
  for (size_t i = 0; w->def.trace != NULL && i < count; i++)
    w->def.trace(w->def.trace_user, w->round, w->rank, parcels[i].to, parcels[i].size);
  return gz_mpi_exchange_begin(&w->exchange, w->transport, w->round++, parcels, count, record, MPI_LONGEST_MESSAGE,
                               receiver);
}

static void *take_boxes(void *user, uint32_t from, size_t size) {
  graze_mpi_world *w = user;
  const uint64_t count = size / sizeof(mpi_record);
  (void)from;
  if (w->failure.status != GRAZE_OK) return NULL;
  if (w->object_count + w->received_count + count > SLOT_LIMIT) {
    gz_mpi_world_fail_with(w, GRAZE_ERROR_LIMIT, "it holds more than %d boxes", SLOT_LIMIT);
    return NULL;
  }
  if (!gz_mpi_world_reserve(w, &w->received, w->received_count + count, sizeof(mpi_record), w->received_count))
    return NULL;
  void *room = (mpi_record *)w->received.data + w->received_count;
  w->received_count += count;
  return room;
}

/* One rank alone with one client searches what the client has, where it is; the search checks it. */
static bool stays_in_place(const graze_mpi_world *w) {
  return w->ranks == 1 && w->client_count <= 1 && w->object_count <= w->def.block;
}

graze_status gz_mpi_travel_begin(graze_mpi_world *w) {
  w->kept = 0;
  w->leaving_count = w->received_count = 0;
  memset(w->cursors.data, 0, w->ranks * sizeof(uint64_t));
  w->all_kept = stays_in_place(w);
  if (w->all_kept) w->kept = (uint32_t)w->object_count;
  if (w->failure.status == GRAZE_OK && !w->all_kept && route_all(w)) pack(w);
  return gz_mpi_send_records(w, sizeof(mpi_record), (mpi_receiver){take_boxes, w});
}
