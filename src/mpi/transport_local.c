/* All ranks in one process. Messages lie in one list; each is seen only after a number of questions drawn by the seed,
 * and of those that can be seen one is drawn, so that messages overtake each other more than any network lets them.
 * Collectives have slots, used in turn: a rank is at most one collective ahead of the others. */
#include "mpi/transport_local.h"

#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/owned.h"

typedef struct message {
  uint32_t from, to, channel, wait;
  size_t size;
  const void *bytes; /* the sender's: it is not copied before it is received */
} message;

enum { SLOTS = 2 };
enum operation { no_operation, op_barrier, op_gather, op_reduce, op_share };

typedef struct slot {
  enum operation operation;
  uint32_t entered, left;
  size_t size;
  mpi_totals totals;
  gz_array bytes; /* of all ranks, or of the one that shares */
} slot;

typedef struct local_rank {
  mpi_transport transport; /* first */
  mpi_hub *hub;
  uint64_t collectives; /* begun */
  bool under_way;
  uint32_t wait;
  void *result; /* where the collective's bytes go */
  uint32_t unreceived;
} local_rank;

struct mpi_hub {
  const graze_context *context;
  mpi_hub_def def;
  uint64_t random;
  gz_array messages;
  slot slots[SLOTS];
  local_rank ranks[];
};

static local_rank *rank_of(mpi_transport *t) {
  return (local_rank *)(void *)t;
}

static uint32_t draw(mpi_hub *hub, uint32_t below) {
  hub->random += 0x9E3779B97F4A7C15u;
  return below == 0 ? 0 : (uint32_t)((splitmix64(hub->random) >> 32) * below >> 32);
}

static graze_status refused(const local_rank *r, size_t bytes) {
  return gz_fail(r->transport.context, GRAZE_ERROR_RANK, "rank %u: the hub has no memory for %zu bytes",
                 r->transport.rank, bytes);
}

/* ---- messages ---- */

static graze_status local_round(mpi_transport *t) {
  (void)t;
  return GRAZE_OK;
}

static graze_status local_send(mpi_transport *t, uint32_t to, uint32_t channel, const void *bytes, size_t size) {
  local_rank *r = rank_of(t);
  mpi_hub *hub = r->hub;
  if (!array_reserve(hub->context, &hub->messages, 1, sizeof(message))) return refused(r, sizeof(message));
  uint32_t wait = draw(hub, hub->def.slowest + 1);
  ((message *)hub->messages.data)[hub->messages.count++] = (message){t->rank, to, channel, wait, size, bytes};
  r->unreceived++;
  if (hub->def.trace != NULL) hub->def.trace(hub->def.trace_user, t->rank, to, channel, size);
  return GRAZE_OK;
}

static graze_status local_sent(mpi_transport *t, bool *done) {
  *done = rank_of(t)->unreceived == 0;
  return GRAZE_OK;
}

static graze_status local_probe(mpi_transport *t, uint32_t channel, mpi_arrival *arrival) {
  mpi_hub *hub = rank_of(t)->hub;
  message *found = NULL;
  uint32_t candidates = 0;
  for (size_t i = 0; i < hub->messages.count; i++) {
    message *m = (message *)hub->messages.data + i;
    if (m->to != t->rank || m->channel != channel) continue;
    if (m->wait > 0) {
      m->wait--;
    } else if (draw(hub, ++candidates) == 0) {
      found = m;
    }
  }
  *arrival = (mpi_arrival){.there = found != NULL, .handle = found};
  if (found == NULL) return GRAZE_OK;
  arrival->from = found->from;
  arrival->size = found->size;
  return GRAZE_OK;
}

static graze_status local_receive(mpi_transport *t, mpi_arrival *arrival, void *bytes) {
  mpi_hub *hub = rank_of(t)->hub;
  message *m = arrival->handle;
  if (bytes != NULL && m->size > 0) memcpy(bytes, m->bytes, m->size);
  hub->ranks[m->from].unreceived--;
  *m = ((message *)hub->messages.data)[--hub->messages.count];
  return GRAZE_OK;
}

/* ---- collectives ---- */

static slot *slot_of(local_rank *r) {
  return &r->hub->slots[r->collectives % SLOTS];
}

/* The slot of a collective that this rank enters; `size` bytes in all. */
static graze_status enter(local_rank *r, enum operation operation, size_t size, slot **entered) {
  slot *s = slot_of(r);
  if (s->entered == 0) {
    s->operation = operation;
    s->size = size;
    s->totals = (mpi_totals){0};
    s->bytes.count = 0;
    if (!array_reserve(r->hub->context, &s->bytes, size, 1)) return refused(r, size);
  }
  if (r->under_way || s->operation != operation || s->size != size)
    return gz_fail(r->transport.context, GRAZE_ERROR_RANK, "rank %u: the ranks do not go through the same collectives",
                   r->transport.rank);
  s->entered++;
  r->under_way = true;
  r->wait = draw(r->hub, r->hub->def.slowest + 1);
  r->result = NULL;
  *entered = s;
  return GRAZE_OK;
}

static graze_status local_barrier(mpi_transport *t) {
  slot *s = NULL;
  return enter(rank_of(t), op_barrier, 0, &s);
}

static graze_status local_gather(mpi_transport *t, const void *mine, size_t size, void *all) {
  slot *s = NULL;
  graze_status status = enter(rank_of(t), op_gather, size * t->ranks, &s);
  if (status != GRAZE_OK) return status;
  memcpy((char *)s->bytes.data + t->rank * size, mine, size);
  rank_of(t)->result = all;
  return GRAZE_OK;
}

static graze_status local_collect(mpi_transport *t, uint32_t to, const void *mine, size_t size, void *all) {
  return local_gather(t, mine, size, t->rank == to ? all : NULL);
}

static graze_status local_reduce(mpi_transport *t, mpi_totals *totals) {
  slot *s = NULL;
  graze_status status = enter(rank_of(t), op_reduce, sizeof *totals, &s);
  if (status != GRAZE_OK) return status;
  mpi_totals_add(&s->totals, totals);
  rank_of(t)->result = totals;
  return GRAZE_OK;
}

static graze_status local_share(mpi_transport *t, uint32_t from, void *bytes, size_t size) {
  slot *s = NULL;
  graze_status status = enter(rank_of(t), op_share, size, &s);
  if (status != GRAZE_OK) return status;
  if (from == t->rank) memcpy(s->bytes.data, bytes, size);
  rank_of(t)->result = bytes;
  return GRAZE_OK;
}

static graze_status local_finished(mpi_transport *t, bool *done) {
  local_rank *r = rank_of(t);
  slot *s = slot_of(r);
  *done = false;
  if (s->entered < t->ranks) return GRAZE_OK;
  if (r->wait > 0) {
    r->wait--;
    return GRAZE_OK;
  }
  if (s->operation == op_reduce) memcpy(r->result, &s->totals, sizeof s->totals);
  if ((s->operation == op_gather || s->operation == op_share) && r->result != NULL)
    memcpy(r->result, s->bytes.data, s->size);
  if (++s->left == t->ranks) s->entered = s->left = 0;
  r->under_way = false;
  r->collectives++;
  *done = true;
  return GRAZE_OK;
}

static void local_close(mpi_transport *t) {
  (void)t;
}

/* ---- the hub ---- */

mpi_hub *gz_mpi_hub_open(const graze_context *context, const mpi_hub_def *def) {
  mpi_hub *hub = gz_new_zeroed(context, 1, sizeof *hub + def->ranks * sizeof hub->ranks[0]);
  if (hub == NULL) return NULL;
  hub->context = context;
  hub->def = *def;
  hub->random = def->seed;
  return hub;
}

void gz_mpi_hub_close(mpi_hub *hub) {
  if (hub == NULL) return;
  for (int i = 0; i < SLOTS; i++) gz_free(hub->slots[i].bytes.data);
  gz_free(hub->messages.data);
  gz_free(hub);
}

mpi_transport *gz_mpi_hub_transport(mpi_hub *hub, uint32_t rank, const graze_context *context) {
  static const mpi_transport_calls calls = {
      .round = local_round,
      .send = local_send,
      .sent = local_sent,
      .probe = local_probe,
      .receive = local_receive,
      .barrier = local_barrier,
      .gather = local_gather,
      .collect = local_collect,
      .reduce = local_reduce,
      .share = local_share,
      .finished = local_finished,
      .close = local_close,
  };
  local_rank *r = &hub->ranks[rank];
  *r = (local_rank){.transport = {&calls, context, rank, hub->def.ranks}, .hub = hub};
  return &r->transport;
}

uint64_t gz_mpi_hub_waiting(const mpi_hub *hub) {
  return hub->messages.count;
}
