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
  uint32_t kept;         /* the last box + 1 that stays */
  float low[3], high[3]; /* of this rank's region, among floats */
} route;

static uint32_t stripe_of(const graze_mpi_world *w, uint32_t number, const mpi_leaf *leaf) {
  return (uint32_t)((w->rank * w->object_count + number) % leaf->stripes);
}

static void keep(route *r, uint32_t number, bool shared) {
  if (r->kept == number + 1) return;
  r->kept = number + 1;
  ((uint32_t *)r->w->slots.data)[r->w->kept++] = number | (shared ? SLOT_SHARED : 0);
}

/* Once to each rank, however many of its tiles want the box. */
static bool leave(route *r, uint32_t rank, uint32_t number, uint32_t stripe, bool shared) {
  graze_mpi_world *w = r->w;
  mpi_common *c = w->common;
  if (rank == w->rank) {
    keep(r, number, shared);
    return true;
  }
  mpi_address *address = world_address(w, rank);
  if (address == NULL) return false;
  if (address->mark == number + 1) return true;
  address->mark = number + 1;
  address->count++;
  if ((w->leaving_count + 1) * sizeof(mpi_leaving) > c->leaving.bytes &&
      !gz_mpi_world_reserve(w, &c->leaving, w->leaving_count + 1, sizeof(mpi_leaving), w->leaving_count))
    return false;
  ((mpi_leaving *)c->leaving.data)[w->leaving_count++] =
      (mpi_leaving){rank, stripe, number | (shared ? SLOT_SHARED : 0)};
  return true;
}

/* To every rank of the leaf that has a tile of the box's stripe. */
static bool leave_to_leaf(route *r, uint32_t number, const mpi_leaf *leaf, bool shared) {
  const mpi_regions *regions = &r->w->regions;
  if (leaf->ranks == 1) return leave(r, regions_rank(regions, leaf, 0), number, 0, shared);
  const uint32_t stripe = stripe_of(r->w, number, leaf);
  for (uint32_t other = 0; other < leaf->stripes; other++) {
    const uint32_t tile = leaf_tile(leaf, other < stripe ? other : stripe, other < stripe ? stripe : other);
    if (!leave(r, regions_rank(regions, leaf, tile), number, stripe, shared)) return false;
  }
  return true;
}

/* A sound box that meets no region but this rank's, as nearly all do where ranks have what lies near them. */
#define IS_AT_HOME(low, high, box)                                                                 \
  ((box)[0] >= (low)[0] && (box)[1] >= (low)[1] && (box)[2] >= (low)[2] && (box)[0] <= (box)[3] && \
   (box)[1] <= (box)[4] && (box)[2] <= (box)[5] && (box)[3] < (high)[0] && (box)[4] < (high)[1] && \
   (box)[5] < (high)[2])

/* The least float that is not below: a float lies on one side of it as of the number. */
static float float_from(double x) {
  const float near = (float)x;
  return (double)near < x ? nextafterf(near, INFINITY) : near;
}

/* Numbers of the boxes from `begin` on that are at home are kept, up to the first one that is not. Returns its index.
 */
static uint32_t keep_run(const route *r, const mpi_client *c, uint32_t begin) {
  graze_mpi_world *w = r->w;
  const graze_box *home = &w->home;
  const size_t stride = c->boxes.boxes.stride;
  const char *at = (const char *)c->boxes.boxes.data + begin * stride;
  uint32_t *slots = (uint32_t *)w->slots.data + w->kept, i = begin;
  if (c->boxes.boxes.precision == GRAZE_FLOAT) {
    for (; i < c->boxes.count; i++, at += stride) {
      float box[6];
      memcpy(box, at, sizeof box);
      if (!IS_AT_HOME(r->low, r->high, box)) break;
      slots[i - begin] = c->first + i;
    }
  } else {
    for (; i < c->boxes.count; i++, at += stride) {
      double box[6];
      memcpy(box, at, sizeof box);
      if (!IS_AT_HOME(home->min, home->max, box)) break;
      slots[i - begin] = c->first + i;
    }
  }
  w->kept += i - begin;
  return i;
}

/* To all leaves that it meets. */
static bool leave_home(route *r, const double box[6], uint32_t number) {
  mpi_walk walk;
  bool shared = false;
  for (walk_begin(&walk, &r->w->regions, box); walk.depth > 0;) {
    const mpi_leaf leaf = walk_next(&walk);
    shared |= walk.depth > 0;
    if (!leave_to_leaf(r, number, &leaf, shared)) return false;
  }
  return true;
}

static bool route_client(route *r, const mpi_client *c) {
  graze_mpi_world *w = r->w;
  for (uint32_t i = 0; i < c->boxes.count; i++) {
    double box[6];
    i = keep_run(r, c, i);
    if (i == c->boxes.count) break;
    client_box(c, i, box);
    if (!gz_mpi_check_box(w, c, i, box) || !leave_home(r, box, c->first + i)) return false;
  }
  return true;
}

/* A large box, to all ranks. */
static bool leave_to_all(route *r, uint32_t number) {
  const uint32_t ranks = r->w->ranks;
  const uint32_t stripe = ranks < RANKS_OF_STRIPE ? (1u << ranks) - 1 : (1u << RANKS_OF_STRIPE) - 1;
  for (uint32_t rank = 0; rank < ranks; rank++) {
    if (!leave(r, rank, number, stripe, true)) return false;
  }
  return true;
}

/* To the places of the voxels that it meets. */
static bool route_to_places(route *r, const mpi_client *c) {
  graze_mpi_world *w = r->w;
  for (uint32_t i = 0; i < c->boxes.count; i++) {
    double box[6];
    uint32_t stripe = 0, count = 0, ranks[MOST_CELLS];
    client_box(c, i, box);
    if (!gz_mpi_directory_route(w, box, ranks, &count)) {
      if (!leave_to_all(r, c->first + i)) return false;
      continue;
    }
    for (uint32_t k = 0; k < count; k++) stripe |= 1u << ranks[k] % RANKS_OF_STRIPE;
    for (uint32_t k = 0; k < count; k++) {
      if (!leave(r, ranks[k], c->first + i, stripe, count > 1)) return false;
    }
  }
  return true;
}

static bool route_all(graze_mpi_world *w) {
  route r = {.w = w};
  for (int k = 0; k < 3; k++) {
    r.low[k] = float_from(w->home.min[k]);
    r.high[k] = float_from(w->home.max[k]);
  }
  /* and some that will come */
  if (!gz_mpi_world_reserve(w, &w->slots, w->object_count + w->object_count / 8, sizeof(uint32_t), 0)) return false;
  const mpi_client *clients = w->clients.data;
  for (uint32_t c = 0; c < w->client_count; c++) {
    if (!(uses_directory(w) ? route_to_places : route_client)(&r, &clients[c])) return false;
  }
  return true;
}

/* ---- packing ---- */

static void pack_box(const graze_mpi_world *w, const mpi_leaving *leaving, mpi_record *record) {
  const uint32_t number = leaving->slot & SLOT_NUMBER;
  const mpi_client *c = gz_mpi_client_of(w, number);
  const uint32_t i = number - c->first;
  client_box(c, i, record->box);
  record->id = c->boxes.ids[i];
  record->group = c->boxes.groups != NULL ? c->boxes.groups[i] : UINT32_MAX;
  record->rank = w->rank;
  record->number = number;
  record->stripe = (uint16_t)leaving->stripe;
  record->shared = (leaving->slot & SLOT_SHARED) != 0;
  record->narrow = c->boxes.boxes.precision == GRAZE_FLOAT;
}

static void pack(graze_mpi_world *w) {
  if (!gz_mpi_world_lay_out(w, sizeof(mpi_record))) return;
  const mpi_leaving *leaving = w->common->leaving.data;
  mpi_record *records = w->outgoing.data;
  for (uint64_t i = 0; i < w->leaving_count; i++)
    pack_box(w, &leaving[i], &records[world_address(w, leaving[i].rank)->count++]);
  w->totals.sums[SUM_SENT] = w->leaving_count;
}

/* What there is to send; none after a failure. */
static size_t list_parcels(graze_mpi_world *w, size_t record) {
  const mpi_addresses *addresses = &w->common->addresses;
  if (w->failure.status != GRAZE_OK ||
      !gz_mpi_world_reserve(w, &w->common->parcels, addresses->count, sizeof(mpi_parcel), 0))
    return 0;
  mpi_parcel *parcels = w->common->parcels.data;
  uint64_t at = 0;
  for (uint32_t i = 0; i < addresses->count; i++) {
    const mpi_address *to = addresses_at(addresses, i);
    parcels[i] = (mpi_parcel){to->rank, (const char *)w->outgoing.data + at * record, (to->count - at) * record};
    at = to->count;
  }
  return addresses->count;
}

graze_status gz_mpi_send_records(graze_mpi_world *w, size_t record, mpi_receiver receiver) {
  const size_t count = list_parcels(w, record);
  const mpi_parcel *parcels = w->common->parcels.data;
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
  gz_mpi_addresses_clear(&w->common->addresses);
  w->all_kept = stays_in_place(w);
  if (w->all_kept) w->kept = (uint32_t)w->object_count;
  if (w->failure.status == GRAZE_OK && !w->all_kept && route_all(w)) pack(w);
  return gz_mpi_send_records(w, sizeof(mpi_record), (mpi_receiver){take_boxes, w});
}
