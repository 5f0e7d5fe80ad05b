/* Ranks with clocks; see transport_virtual.h. */
#include "mpi/transport_virtual.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/owned.h"

typedef struct virtual_message {
  uint32_t from, channel;
  size_t size;
  const void *bytes; /* the sender's */
  double arrival;
} virtual_message;

enum { SLOTS = 2 };   /* a rank is at most one collective ahead of the others */
enum { PIECES = 24 }; /* of a step; what comes later takes what it takes */

typedef struct virtual_collective {
  uint32_t entered, left;
  double last;   /* who came last came then, */
  double finish; /* and all have what they get then */
  int rounds;    /* of a message for each doubling of the ranks */
  double bytes_of_round;
  const char *phase; /* of who came last */
  mpi_totals totals;
  bool reduces;
  gz_array bytes;
} virtual_collective;

typedef struct virtual_rank {
  mpi_transport transport; /* first */
  virtual_net *net;
  double clock, saved;
  double mark;          /* processor time when its code went on */
  double free;          /* when the network takes the next message */
  double acked;         /* when the sender learns that its last message has been received */
  double pace;          /* of this step */
  bool came_on, begins; /* a piece of work begins */
  uint32_t piece;       /* those of this step so far */
  double least[PIECES]; /* seconds */
  uint64_t unreceived, collectives;
  gz_array inbox; /* virtual_message */
  void *result;
} virtual_rank;

struct virtual_net {
  const graze_context *context;
  virtual_net_def def;
  uint64_t random;
  virtual_collective collectives[SLOTS];
  double told; /* up to then time is in phases */
  graze_mpi_phase phases[GRAZE_MPI_MOST_PHASES];
  uint32_t phase_count;
  virtual_rank ranks[];
};

/* ---- clocks ---- */

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double unit(virtual_net *net) {
  net->random += 0x9E3779B97F4A7C15u;
  return ((double)(splitmix64(net->random) >> 11) + 0.5) * 0x1p-53;
}

/* Normal, but work never takes less than half. */
static double draw_pace(virtual_net *net) {
  if (net->def.noise <= 0) return net->def.scale;
  const double normal = sqrt(-2 * log(unit(net))) * cos(6.283185307179586 * unit(net));
  return net->def.scale * fmax(1 + net->def.noise * normal, 0.5);
}

/* What the piece of work is taken to have taken. */
static double steady(virtual_rank *r, double took) {
  if (r->piece == PIECES) return took;
  double *least = &r->least[r->piece++];
  *least = fmin(*least, took);
  return *least;
}

static void stop(virtual_rank *r) {
  double took = processor_time() - r->mark;
  if (r->net->def.steady && r->begins) took = steady(r, took);
  r->begins = false;
  r->clock += took * r->pace;
}

static void go_on(virtual_rank *r) {
  r->mark = processor_time();
}

/* The rank has waited till then. */
static void wait_till(virtual_rank *r, double time) {
  r->clock = fmax(r->clock, time);
  r->came_on = true;
}

static void add_phase(virtual_net *net, const char *name, double seconds) {
  uint32_t i = 0;
  while (i < net->phase_count && strcmp(net->phases[i].name, name) != 0) i++;
  if (i == GRAZE_MPI_MOST_PHASES) i--;
  if (i == net->phase_count) net->phases[net->phase_count++] = (graze_mpi_phase){name, 0};
  net->phases[i].seconds += fmax(seconds, 0);
}

static virtual_rank *rank_of(mpi_transport *t) {
  return (virtual_rank *)(void *)t;
}

/* ---- messages ---- */

static graze_status virtual_round(mpi_transport *t) {
  (void)t;
  return GRAZE_OK;
}

static graze_status refused(const virtual_rank *r, size_t bytes) {
  return gz_fail(r->transport.context, GRAZE_ERROR_RANK, "rank %u: no memory for %zu bytes of the network",
                 r->transport.rank, bytes);
}

static graze_status virtual_send(mpi_transport *t, uint32_t to, uint32_t channel, const void *bytes, size_t size) {
  virtual_rank *r = rank_of(t), *receiver = &r->net->ranks[to];
  const graze_mpi_network *n = &r->net->def.network;
  stop(r);
  if (!array_reserve(r->net->context, &receiver->inbox, 1, sizeof(virtual_message)))
    return refused(r, sizeof(virtual_message));
  r->clock += n->overhead;
  const double leaves = fmax(r->clock, r->free), takes = n->gap_per_byte * (double)size;
  r->free = leaves + n->gap + takes;
  ((virtual_message *)receiver->inbox.data)[receiver->inbox.count++] =
      (virtual_message){t->rank, channel, size, bytes, leaves + n->latency + takes};
  r->unreceived++;
  r->came_on = true;
  go_on(r);
  return GRAZE_OK;
}

static graze_status virtual_sent(mpi_transport *t, bool *done) {
  virtual_rank *r = rank_of(t);
  *done = r->unreceived == 0;
  if (*done) wait_till(r, r->acked);
  return GRAZE_OK;
}

/* What comes first, by the sender's number where that is the same. */
static graze_status virtual_probe(mpi_transport *t, uint32_t channel, mpi_arrival *arrival) {
  virtual_rank *r = rank_of(t);
  virtual_message *found = NULL;
  stop(r);
  for (size_t i = 0; i < r->inbox.count; i++) {
    virtual_message *m = (virtual_message *)r->inbox.data + i;
    if (m->channel != channel) continue;
    if (found == NULL || m->arrival < found->arrival || (m->arrival <= found->arrival && m->from < found->from))
      found = m;
  }
  *arrival = (mpi_arrival){.there = found != NULL, .channel = channel, .handle = found};
  if (found != NULL) {
    arrival->from = found->from;
    arrival->size = found->size;
    wait_till(r, found->arrival);
    r->clock += r->net->def.network.overhead;
  }
  go_on(r);
  return GRAZE_OK;
}

/* That the bytes are copied is the network's. */
static graze_status virtual_receive(mpi_transport *t, mpi_arrival *arrival, void *bytes) {
  virtual_rank *r = rank_of(t);
  virtual_message *m = arrival->handle;
  virtual_rank *sender = &r->net->ranks[m->from];
  stop(r);
  if (bytes != NULL && m->size > 0) memcpy(bytes, m->bytes, m->size);
  sender->unreceived--;
  sender->acked = fmax(sender->acked, r->clock + r->net->def.network.latency);
  *m = ((virtual_message *)r->inbox.data)[--r->inbox.count];
  go_on(r);
  return GRAZE_OK;
}

/* ---- collectives ---- */

static double doublings(uint32_t ranks) {
  return ranks > 1 ? ceil(log2(ranks)) : 0;
}

/* All are there: what passed since the last one belongs to the phase of who came last, and the network's part to
 * "network". */
static void finish(virtual_net *net, virtual_collective *c) {
  const graze_mpi_network *n = &net->def.network;
  const double round = n->latency + 2 * n->overhead + n->gap_per_byte * c->bytes_of_round;
  c->finish = c->last + c->rounds * doublings(net->def.ranks) * round;
  add_phase(net, c->phase, c->last - net->told);
  add_phase(net, "network", c->finish - fmax(c->last, net->told));
  net->told = fmax(net->told, c->finish);
}

static graze_status enter(virtual_rank *r, int rounds, double bytes_of_round, size_t size, virtual_collective **out) {
  virtual_net *net = r->net;
  virtual_collective *c = &net->collectives[r->collectives % SLOTS];
  stop(r);
  if (c->entered == 0) {
    *c = (virtual_collective){.bytes = c->bytes, .rounds = rounds, .bytes_of_round = bytes_of_round};
    c->bytes.count = 0;
    if (!array_reserve(net->context, &c->bytes, size, 1)) return refused(r, size);
  }
  if (c->entered++ == 0 || r->clock > c->last) {
    c->last = r->clock;
    c->phase = net->def.phase(net->def.user, r->transport.rank);
  }
  r->came_on = true;
  r->result = NULL;
  *out = c;
  return GRAZE_OK;
}

static graze_status entered(virtual_rank *r, virtual_collective *c, void *result) {
  r->result = result;
  if (c->entered == r->net->def.ranks) finish(r->net, c);
  go_on(r);
  return GRAZE_OK;
}

static graze_status virtual_barrier(mpi_transport *t) {
  virtual_collective *c = NULL;
  graze_status status = enter(rank_of(t), 1, 0, 0, &c);
  return status == GRAZE_OK ? entered(rank_of(t), c, NULL) : status;
}

static graze_status virtual_gather(mpi_transport *t, const void *mine, size_t size, void *all) {
  virtual_collective *c = NULL;
  const double bytes = (double)size * (t->ranks - 1) / fmax(doublings(t->ranks), 1);
  graze_status status = enter(rank_of(t), 1, bytes, size * t->ranks, &c);
  if (status != GRAZE_OK) return status;
  memcpy((char *)c->bytes.data + t->rank * size, mine, size);
  c->bytes.count = size * t->ranks;
  return entered(rank_of(t), c, all);
}

static graze_status virtual_collect(mpi_transport *t, uint32_t to, const void *mine, size_t size, void *all) {
  return virtual_gather(t, mine, size, t->rank == to ? all : NULL);
}

static graze_status virtual_reduce(mpi_transport *t, mpi_totals *totals) {
  virtual_collective *c = NULL;
  graze_status status = enter(rank_of(t), 2, sizeof *totals, 0, &c);
  if (status != GRAZE_OK) return status;
  mpi_totals_add(&c->totals, totals);
  c->reduces = true;
  return entered(rank_of(t), c, totals);
}

static graze_status virtual_share(mpi_transport *t, uint32_t from, void *bytes, size_t size) {
  virtual_collective *c = NULL;
  graze_status status = enter(rank_of(t), 1, (double)size, size, &c);
  if (status != GRAZE_OK) return status;
  if (from == t->rank) memcpy(c->bytes.data, bytes, size);
  c->bytes.count = size;
  return entered(rank_of(t), c, bytes);
}

static graze_status virtual_finished(mpi_transport *t, bool *done) {
  virtual_rank *r = rank_of(t);
  virtual_collective *c = &r->net->collectives[r->collectives % SLOTS];
  *done = c->entered == t->ranks;
  if (!*done) return GRAZE_OK;
  stop(r);
  wait_till(r, c->finish);
  if (c->reduces) memcpy(r->result, &c->totals, sizeof c->totals);
  if (!c->reduces && r->result != NULL) memcpy(r->result, c->bytes.data, c->bytes.count);
  r->collectives++;
  r->begins = true;
  if (++c->left == t->ranks) c->entered = c->left = 0;
  go_on(r);
  return GRAZE_OK;
}

static void virtual_close(mpi_transport *t) {
  (void)t;
}

/* ---- the net ---- */

virtual_net *gz_virtual_net_open(const graze_context *context, const virtual_net_def *def) {
  virtual_net *net = gz_new_zeroed(context, 1, sizeof *net + def->ranks * sizeof net->ranks[0]);
  if (net == NULL) return NULL;
  net->context = context;
  net->def = *def;
  net->random = def->seed;
  gz_virtual_net_forget(net);
  return net;
}

void gz_virtual_net_close(virtual_net *net) {
  if (net == NULL) return;
  for (uint32_t i = 0; i < net->def.ranks; i++) gz_free(net->ranks[i].inbox.data);
  for (int i = 0; i < SLOTS; i++) gz_free(net->collectives[i].bytes.data);
  gz_free(net);
}

mpi_transport *gz_virtual_net_transport(virtual_net *net, uint32_t rank) {
  static const mpi_transport_calls calls = {
      .round = virtual_round,
      .send = virtual_send,
      .sent = virtual_sent,
      .probe = virtual_probe,
      .receive = virtual_receive,
      .barrier = virtual_barrier,
      .gather = virtual_gather,
      .collect = virtual_collect,
      .reduce = virtual_reduce,
      .share = virtual_share,
      .finished = virtual_finished,
      .close = virtual_close,
  };
  virtual_rank *r = &net->ranks[rank];
  r->transport = (mpi_transport){&calls, net->context, rank, net->def.ranks};
  r->net = net;
  return &r->transport;
}

void gz_virtual_net_begin_step(virtual_net *net) {
  for (uint32_t i = 0; i < net->def.ranks; i++) {
    virtual_rank *r = &net->ranks[i];
    r->clock = r->free = r->acked = 0;
    r->piece = 0;
    r->pace = draw_pace(net);
  }
  net->told = 0;
  net->phase_count = 0;
}

void gz_virtual_net_forget(virtual_net *net) {
  for (uint32_t i = 0; i < net->def.ranks; i++) {
    for (int k = 0; k < PIECES; k++) net->ranks[i].least[k] = INFINITY;
  }
}

bool gz_virtual_net_goes_on(const virtual_net *net, uint32_t rank) {
  return net->collectives[net->ranks[rank].collectives % SLOTS].entered == net->def.ranks;
}

void gz_virtual_net_enter(virtual_net *net, uint32_t rank) {
  virtual_rank *r = &net->ranks[rank];
  r->begins = true;
  r->saved = r->clock;
  r->came_on = false;
  go_on(r);
}

void gz_virtual_net_leave(virtual_net *net, uint32_t rank) {
  virtual_rank *r = &net->ranks[rank];
  stop(r);
  if (!r->came_on) r->clock = r->saved;
}

double gz_virtual_net_time(const virtual_net *net) {
  double latest = 0;
  for (uint32_t i = 0; i < net->def.ranks; i++) latest = fmax(latest, net->ranks[i].clock);
  return latest;
}

/* What comes after the last collective is "answer". */
uint32_t gz_virtual_net_end_step(virtual_net *net, graze_mpi_phase phases[GRAZE_MPI_MOST_PHASES]) {
  add_phase(net, "answer", gz_virtual_net_time(net) - net->told);
  memcpy(phases, net->phases, net->phase_count * sizeof phases[0]);
  return net->phase_count;
}
