/* Worlds of boxes over ranks: opening and closing, contributing, and the machine that takes a step from stage to
 * stage; world.h lists them. */
#include "mpi/world.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "mpi/transport_mpi.h"

enum { WORLD_COOKIE = 0x6d706931, BLOCK = 1 << 20, BISECTED = 64, CLIENTS = 8 };

/* ---- failures ---- */

void gz_mpi_world_fail_with(graze_mpi_world *w, graze_status status, const char *format, ...) {
  if (w->failure.status != GRAZE_OK) return;
  va_list arguments;
  va_start(arguments, format);
  w->failure.status = status;
  int used = snprintf(w->failure.message, sizeof w->failure.message, "rank %" PRIu32 ": ", w->rank);
  vsnprintf(w->failure.message + used, sizeof w->failure.message - (size_t)used, format, arguments);
  va_end(arguments);
}

void gz_mpi_world_fail(graze_mpi_world *w, graze_status status) {
  const graze_error *error = graze_last_error(w->context);
  gz_mpi_world_fail_with(w, status, "%s", error->status == status ? error->message : graze_status_string(status));
}

bool gz_mpi_world_reserve(graze_mpi_world *w, buffer *b, uint64_t count, size_t size, uint64_t keep) {
  if (count <= SIZE_MAX / size && gz_buffer_reserve(w->context, b, (size_t)count * size, (size_t)keep * size))
    return true;
  gz_mpi_world_fail_with(w, GRAZE_ERROR_MEMORY, "out of memory: %" PRIu64 " times %zu bytes were refused", count, size);
  return false;
}

mpi_address *gz_mpi_world_add_address(graze_mpi_world *w, uint32_t rank) {
  mpi_address *address = gz_mpi_addresses_add(w->context, &w->common->addresses, rank);
  if (address == NULL)
    gz_mpi_world_fail_with(w, GRAZE_ERROR_MEMORY, "out of memory: the address of a rank was refused");
  return address;
}

bool gz_mpi_world_lay_out(graze_mpi_world *w, size_t record) {
  const uint64_t count = gz_mpi_addresses_lay_out(&w->common->addresses);
  return w->failure.status == GRAZE_OK && gz_mpi_world_reserve(w, &w->outgoing, count, record, 0);
}

/* ---- opening and closing ---- */

graze_mpi_world_def graze_mpi_default_world_def(void) {
  return (graze_mpi_world_def){.cookie = WORLD_COOKIE};
}

static bool is_valid(const graze_mpi_world_def *d) {
  return d->cookie == WORLD_COOKIE && d->delivery >= GRAZE_MPI_COUNT && d->delivery <= GRAZE_MPI_SORTED &&
         (d->placement == GRAZE_MPI_CURVE || d->placement == GRAZE_MPI_DIRECTORY) && d->search >= GRAZE_MPI_AUTO &&
         d->search <= GRAZE_MPI_NO_SEARCH && d->voxel >= 0 && isfinite(d->voxel);
}

void gz_mpi_common_release(graze_context *context, mpi_common *c) {
  buffer *const buffers[] = {&c->parcels, &c->leaving,      &c->ids,       &c->work,   &c->job,
                             &c->sorted,  &c->block_memory, &c->voxel_set, &c->scratch};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gz_buffer_release(context, buffers[i]);
  gz_mpi_addresses_release(context, &c->addresses);
  gz_memory_release(context, c->table, c->table_bytes);
  graze_broadphase_destroy(c->broadphase);
}

static void release_all(graze_mpi_world *w) {
  buffer *const buffers[] = {&w->clients, &w->next_clients, &w->outgoing, &w->slots,       &w->received,
                             &w->pairs,   &w->arrived,      &w->history,  &w->next_history};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gz_buffer_release(w->context, buffers[i]);
  gz_mpi_directory_release(w);
  gz_mpi_search_close(w);
  gz_memory_release(w->context, w->plan_memory, w->plan_bytes);
  gz_mpi_common_release(w->context, &w->own);
  gz_memory_release(w->context, w, sizeof *w);
}

static graze_status open_parts(graze_mpi_world *w) {
  if (!gz_mpi_plan_open(w)) return gz_fail_memory(w->context, w->plan_bytes);
  if (!gz_buffer_reserve(w->context, &w->clients, CLIENTS * sizeof(mpi_client), 0) ||
      !gz_buffer_reserve(w->context, &w->next_clients, CLIENTS * sizeof(mpi_client), 0))
    return gz_fail_memory(w->context, CLIENTS * sizeof(mpi_client));
  return gz_mpi_search_open(w);
}

graze_status gz_mpi_world_open(graze_context *context, mpi_transport *transport, const graze_mpi_world_def *def,
                               mpi_common *common, graze_mpi_world **world) {
  graze_mpi_world *w = gz_memory_alloc(context, sizeof *w);
  if (w == NULL) return gz_fail_memory(context, sizeof *w);
  memset(w, 0, sizeof *w);
  w->context = context;
  w->def = *def;
  if (w->def.block == 0) w->def.block = BLOCK;
  if (w->def.search == GRAZE_MPI_BISECTION) w->def.block = BISECTED;
  w->transport = transport;
  w->rank = transport->rank;
  w->ranks = transport->ranks;
  w->common = common != NULL ? common : &w->own;
  graze_status status = open_parts(w);
  if (status != GRAZE_OK) {
    release_all(w);
    return status;
  }
  *world = w;
  return GRAZE_OK;
}

graze_status gz_mpi_agree(const graze_context *context, MPI_Comm comm, graze_status status) {
  int mine = (int)status, worst = 0;
  if (MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS)
    return gz_fail(context, GRAZE_ERROR_RANK, "MPI_Allreduce failed");
  if (status != GRAZE_OK || worst == GRAZE_OK) return status;
  return gz_fail(context, (graze_status)worst, "another rank could not make its world: %s",
                 graze_status_string((graze_status)worst));
}

graze_status graze_mpi_world_create(graze_context *context, MPI_Comm comm, const graze_mpi_world_def *def,
                                    graze_mpi_world **world) {
  const graze_mpi_world_def d = def != NULL ? *def : graze_mpi_default_world_def();
  mpi_transport *transport = NULL;
  graze_mpi_world *made = NULL;
  if (context == NULL || world == NULL || !is_valid(&d)) {
    graze_status bad = gz_mpi_agree(context, comm, GRAZE_ERROR_ARGUMENT);
    return gz_fail(context, bad, "a world over ranks: an argument is invalid");
  }
  graze_status status = gz_mpi_agree(context, comm, GRAZE_OK);
  if (status == GRAZE_OK) status = gz_mpi_transport_open(context, comm, MPI_RENEW_AFTER, &transport);
  if (status != GRAZE_OK) return status;
  status = gz_mpi_agree(context, comm, gz_mpi_world_open(context, transport, &d, NULL, &made));
  if (status == GRAZE_OK) {
    *world = made;
    return GRAZE_OK;
  }
  if (made != NULL) release_all(made);
  transport->calls->close(transport);
  return status;
}

void graze_mpi_world_destroy(graze_mpi_world *w) {
  if (w == NULL) return;
  w->transport->calls->close(w->transport);
  release_all(w);
}

/* ---- contributing ---- */

static size_t stride_of(const graze_box_array *boxes) {
  if (boxes->stride != 0) return boxes->stride;
  return 6 * (boxes->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float));
}

graze_status graze_mpi_contribute(graze_mpi_world *w, const graze_mpi_boxes *boxes) {
  if (w == NULL) return GRAZE_ERROR_ARGUMENT;
  if (boxes == NULL || (boxes->count > 0 && (boxes->boxes.data == NULL || boxes->ids == NULL)))
    return gz_fail_null(w->context);
  if (boxes->boxes.precision != GRAZE_FLOAT && boxes->boxes.precision != GRAZE_DOUBLE)
    return gz_fail(w->context, GRAZE_ERROR_ARGUMENT, "rank %" PRIu32 ": boxes of an unknown precision", w->rank);
  if (boxes->count == 0) return GRAZE_OK;
  if (w->next_object_count + boxes->count > SLOT_LIMIT)
    return gz_fail(w->context, GRAZE_ERROR_LIMIT, "rank %" PRIu32 ": more than %d boxes on a rank", w->rank,
                   SLOT_LIMIT);
  const size_t have = w->next_client_count * sizeof(mpi_client);
  if (!gz_buffer_reserve(w->context, &w->next_clients, have + sizeof(mpi_client), have))
    return gz_fail_memory(w->context, have + sizeof(mpi_client));
  mpi_client *c = (mpi_client *)w->next_clients.data + w->next_client_count++;
  *c = (mpi_client){*boxes, (uint32_t)w->next_object_count};
  c->boxes.boxes.stride = stride_of(&boxes->boxes);
  w->next_object_count += boxes->count;
  return GRAZE_OK;
}

void gz_mpi_world_lend(graze_mpi_world *w, const graze_mpi_boxes *boxes) {
  if (w->client_count == 0) return;
  mpi_client *c = w->clients.data;
  c->boxes = *boxes;
  c->boxes.boxes.stride = stride_of(&boxes->boxes);
}

static void take_clients(graze_mpi_world *w) {
  buffer t = w->clients;
  w->clients = w->next_clients;
  w->next_clients = t;
  w->client_count = w->next_client_count;
  w->object_count = w->next_object_count;
  w->next_client_count = 0;
  w->next_object_count = 0;
}

/* ---- the machine ---- */

static graze_status begin_travel(graze_mpi_world *w) {
  w->stage = MPI_STAGE_TRAVEL;
  return gz_mpi_travel_begin(w);
}

static graze_status begin_ask(graze_mpi_world *w) {
  w->stage = MPI_STAGE_ASK;
  return gz_mpi_ask_begin(w);
}

/* What comes before boxes travel. */
static graze_status begin_places(graze_mpi_world *w) {
  if (!uses_directory(w) || w->differs) return begin_travel(w);
  if (!w->directory.move_due) return begin_ask(w);
  w->stage = MPI_STAGE_BALANCE;
  return gz_mpi_balance_begin(w);
}

static graze_status end_plan(graze_mpi_world *w) {
  gz_mpi_plan_end(w);
  return begin_places(w);
}

static graze_status begin_table(graze_mpi_world *w) {
  if (!gz_mpi_plan_has_table(w)) return end_plan(w);
  w->stage = MPI_STAGE_TABLE;
  return gz_mpi_plan_share_table(w);
}

graze_status graze_mpi_begin(graze_mpi_world *w, double load) {
  if (w == NULL) return GRAZE_ERROR_ARGUMENT;
  if (w->broken != GRAZE_OK) return gz_fail(w->context, w->broken, "rank %" PRIu32 ": MPI has failed before", w->rank);
  if (w->stage != MPI_STAGE_IDLE)
    return gz_fail(w->context, GRAZE_ERROR_ARGUMENT, "rank %" PRIu32 ": a step is under way", w->rank);
  take_clients(w);
  w->load = load >= 0 && load <= 1e6 ? load : 0;
  w->step++;
  w->failure.status = GRAZE_OK;
  if (!(load >= 0 && load <= 1e6)) gz_mpi_world_fail_with(w, GRAZE_ERROR_ARGUMENT, "load %g is not in [0, 1e6]", load);
  w->totals = (mpi_totals){0};
  w->list = NULL;
  w->list_count = w->list_ended = 0;
  w->stage = MPI_STAGE_PLAN;
  graze_status status = w->plan_due ? gz_mpi_plan_begin(w) : begin_places(w);
  if (status != GRAZE_OK) w->broken = status;
  return status;
}

static void put_spread(graze_mpi_world *w, int most, int not_least, uint64_t own) {
  w->totals.maxes[most] = own;
  w->totals.maxes[not_least] = ~own;
}

static graze_status begin_total(graze_mpi_world *w) {
  uint64_t *sums = w->totals.sums, *maxes = w->totals.maxes;
  const double work = w->failure.status == GRAZE_OK ? w->own_work : 0;
  const uint64_t travel = WORK_OF_SENT * w->leaving_count + WORK_OF_RECEIVED * w->received_count;
  gz_mpi_deliver(w);
  sums[SUM_OBJECTS] = w->object_count;
  sums[SUM_WORK] = (uint64_t)work;
  sums[SUM_LOAD] = maxes[MAX_LOAD] = (uint64_t)(work + w->load * w->result.rank_work.mean);
  maxes[MAX_STEP] = maxes[MAX_LOAD] + travel;
  put_spread(w, MAX_OBJECTS, MAX_NOT_OBJECTS, w->object_count);
  put_spread(w, MAX_RECEIVED, MAX_NOT_RECEIVED, w->received_count);
  put_spread(w, MAX_PAIRS, MAX_NOT_PAIRS, sums[SUM_PAIRS]);
  put_spread(w, MAX_WORK, MAX_NOT_WORK, sums[SUM_WORK]);
  put_spread(w, MAX_BYTES, MAX_NOT_BYTES, sums[SUM_BYTES]);
  maxes[MAX_FAILED] = w->failure.status != GRAZE_OK ? w->ranks - w->rank : 0;
  w->stage = MPI_STAGE_TOTAL;
  return w->transport->calls->reduce(w->transport, &w->totals);
}

static graze_status begin_owners_or_total(graze_mpi_world *w) {
  if (w->def.delivery != GRAZE_MPI_OWNERS) return begin_total(w);
  w->stage = MPI_STAGE_OWNERS;
  return gz_mpi_owners_begin(w);
}

static graze_status search(graze_mpi_world *w) {
  if (w->failure.status == GRAZE_OK) gz_mpi_search(w);
  w->counted_cuts = w->cuts;
  if (w->differs) return begin_total(w); /* ranks would not agree on the next stage */
  if (!w->def.events && w->def.delivery != GRAZE_MPI_SORTED) return begin_owners_or_total(w);
  w->stage = MPI_STAGE_HOME;
  return gz_mpi_home_begin(w);
}

static graze_status begin_forward(graze_mpi_world *w) {
  if (!uses_directory(w) || !w->directory.ever_moved || w->differs) return search(w);
  w->stage = MPI_STAGE_FORWARD;
  return gz_mpi_forward_begin(w);
}

static graze_mpi_spread spread_of(const graze_mpi_world *w, int most, int not_least, uint64_t sum) {
  return (graze_mpi_spread){~w->totals.maxes[not_least], w->totals.maxes[most], (double)sum / w->ranks};
}

static void fill_result(graze_mpi_world *w) {
  const uint64_t *sums = w->totals.sums;
  graze_mpi_result *r = &w->result;
  uint64_t voxels = sums[SUM_VOXELS] > 0 ? sums[SUM_VOXELS] : r->voxels;
  *r = (graze_mpi_result){.objects = sums[SUM_OBJECTS],
                          .pairs = sums[SUM_PAIRS],
                          .hash = sums[SUM_HASH],
                          .began = sums[SUM_BEGAN],
                          .persist = sums[SUM_PERSIST],
                          .ended = sums[SUM_ENDED],
                          .searched = w->def.search != GRAZE_MPI_NO_SEARCH,
                          .sent_objects = sums[SUM_SENT],
                          .messages = sums[SUM_MESSAGES],
                          .bytes_sent = sums[SUM_BYTES],
                          .voxel = w->plan.voxel,
                          .reason = w->plan.reason,
                          .voxels = voxels,
                          .cuts = w->cuts,
                          .places = {sums[SUM_PLACES], sums[SUM_ASKED], sums[SUM_FORWARDED], sums[SUM_MOVED]},
                          .list = w->list,
                          .count = w->list_count,
                          .ended_count = w->list_ended};
  r->rank_objects = spread_of(w, MAX_OBJECTS, MAX_NOT_OBJECTS, r->objects);
  r->rank_received = spread_of(w, MAX_RECEIVED, MAX_NOT_RECEIVED, r->sent_objects);
  r->rank_pairs = spread_of(w, MAX_PAIRS, MAX_NOT_PAIRS, r->pairs);
  r->rank_work = spread_of(w, MAX_WORK, MAX_NOT_WORK, sums[SUM_WORK]);
  r->rank_bytes = spread_of(w, MAX_BYTES, MAX_NOT_BYTES, r->bytes_sent);
}

static graze_status end_total(graze_mpi_world *w) {
  if (w->totals.maxes[MAX_FAILED] > 0) {
    gz_mpi_directory_reset(w); /* on all ranks: some may have missed a place */
    w->stage = MPI_STAGE_MESSAGE;
    return w->transport->calls->share(w->transport, w->ranks - (uint32_t)w->totals.maxes[MAX_FAILED], &w->failure,
                                      sizeof w->failure);
  }
  buffer t = w->history;
  w->history = w->next_history;
  w->next_history = t;
  w->history_count = w->next_history_count;
  fill_result(w);
  gz_mpi_plan_judge(w);
  w->stage = MPI_STAGE_IDLE;
  return GRAZE_OK;
}

static void count_messages(graze_mpi_world *w) {
  w->totals.sums[SUM_MESSAGES] += w->exchange.messages;
  w->totals.sums[SUM_BYTES] += w->exchange.bytes;
}

static bool is_exchange(mpi_stage stage) {
  return stage >= MPI_STAGE_MOVE && stage <= MPI_STAGE_OWNERS;
}

/* The stage that follows the one that is done. */
static graze_status go_on(graze_mpi_world *w) {
  if (is_exchange(w->stage)) count_messages(w);
  switch (w->stage) {
    case MPI_STAGE_PLAN:
      w->stage = MPI_STAGE_SHARE;
      return gz_mpi_plan_share(w);
    case MPI_STAGE_SHARE:
      return begin_table(w);
    case MPI_STAGE_TABLE:
      return end_plan(w);
    case MPI_STAGE_BALANCE:
      w->stage = MPI_STAGE_MOVE;
      return gz_mpi_move_begin(w);
    case MPI_STAGE_MOVE:
      gz_mpi_move_end(w);
      return begin_ask(w);
    case MPI_STAGE_ASK:
      w->stage = MPI_STAGE_TELL;
      return gz_mpi_tell_begin(w);
    case MPI_STAGE_TELL:
      gz_mpi_tell_end(w);
      return begin_travel(w);
    case MPI_STAGE_TRAVEL:
      return begin_forward(w);
    case MPI_STAGE_FORWARD:
      gz_mpi_forward_end(w);
      return search(w);
    case MPI_STAGE_HOME:
      gz_mpi_home_end(w);
      return begin_owners_or_total(w);
    case MPI_STAGE_OWNERS:
      return begin_total(w);
    case MPI_STAGE_TOTAL:
      return end_total(w);
    default: /* a failure that all ranks know by now */
      w->stage = MPI_STAGE_IDLE;
      return GRAZE_OK;
  }
}

static graze_status is_done(graze_mpi_world *w, bool *done) {
  if (is_exchange(w->stage)) return gz_mpi_exchange_test(&w->exchange, done);
  return w->transport->calls->finished(w->transport, done);
}

graze_status graze_mpi_test(graze_mpi_world *w, bool *done) {
  if (w == NULL || done == NULL) return GRAZE_ERROR_ARGUMENT;
  *done = w->stage == MPI_STAGE_IDLE;
  while (w->broken == GRAZE_OK && w->stage != MPI_STAGE_IDLE) {
    bool stage_done = false;
    w->broken = is_done(w, &stage_done);
    if (w->broken == GRAZE_OK && !stage_done) return GRAZE_OK;
    if (w->broken == GRAZE_OK) w->broken = go_on(w);
  }
  if (w->broken != GRAZE_OK) return w->broken;
  *done = true;
  if (w->failure.status == GRAZE_OK) return GRAZE_OK;
  return gz_fail(w->context, w->failure.status, "%s", w->failure.message);
}

graze_status graze_mpi_wait(graze_mpi_world *w) {
  bool done = false;
  graze_status status = GRAZE_OK;
  while (!done && status == GRAZE_OK) status = graze_mpi_test(w, &done);
  return status;
}

graze_mpi_result graze_mpi_get_result(const graze_mpi_world *w) {
  return w != NULL ? w->result : (graze_mpi_result){0};
}
