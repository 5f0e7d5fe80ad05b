/* What a step takes on many ranks: their own code, run one rank after another in this process, each with a clock
 * (transport_virtual.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/owned.h"
#include "mpi/transport_virtual.h"
#include "mpi/world.h"

enum { PREDICT_COOKIE = 0x6d706932, MOST_RANKS = 1 << 16, MOST_STEPS = 1 << 16 };

typedef struct predicting {
  graze_context *context;
  const graze_mpi_predict_def *def;
  const graze_mpi_boxes *boxes; /* by rank */
  virtual_net *net;
  graze_mpi_world **worlds;
  bool *done;
  double *seconds;   /* of each step */
  mpi_common common; /* ranks take turns, and none leaves off in the middle of a stage */
} predicting;

graze_mpi_predict_def graze_mpi_default_predict_def(void) {
  return (graze_mpi_predict_def){.world = graze_mpi_default_world_def(),
                                 .network = {.latency = 5e-6, .gap_per_byte = 1 / 1.5e9},
                                 .ranks = 1,
                                 .steps = 1,
                                 .scale = 1,
                                 .cookie = PREDICT_COOKIE};
}

/* What a rank has done when it comes to a collective. */
static const char *phase_of(void *user, uint32_t rank) {
  const predicting *p = user;
  switch (p->worlds[rank]->stage) {
    case MPI_STAGE_PLAN:
    case MPI_STAGE_SHARE:
    case MPI_STAGE_TABLE:
      return "plan";
    case MPI_STAGE_BALANCE:
    case MPI_STAGE_MOVE:
      return "move";
    case MPI_STAGE_ASK:
    case MPI_STAGE_TELL:
      return "ask";
    case MPI_STAGE_TRAVEL:
    case MPI_STAGE_FORWARD:
      return "travel";
    case MPI_STAGE_HOME:
    case MPI_STAGE_OWNERS:
      return "deliver";
    default:
      return "search";
  }
}

static bool is_number(double x) {
  return x >= 0 && x < (double)INFINITY;
}

static graze_status check(const graze_context *context, const graze_mpi_predict_def *d) {
  const graze_mpi_network *n = &d->network;
  if (d->cookie != PREDICT_COOKIE || d->ranks == 0 || d->ranks > MOST_RANKS || d->steps == 0 || d->steps > MOST_STEPS ||
      !(d->scale > 0) || !is_number(d->scale) || !is_number(d->noise))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a prediction: the definition is not valid");
  if (!is_number(n->latency) || !is_number(n->overhead) || !is_number(n->gap) || !is_number(n->gap_per_byte))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a prediction: the network has a time that is not 0 or more");
  return GRAZE_OK;
}

static graze_status open_all(predicting *p) {
  const graze_mpi_predict_def *d = p->def;
  const virtual_net_def net = {d->ranks, d->network, d->scale, d->noise, d->seed, d->steady, phase_of, p};
  graze_status status = GRAZE_OK;
  p->net = gz_virtual_net_open(p->context, &net);
  p->worlds = gz_new_zeroed(p->context, d->ranks, sizeof *p->worlds);
  p->done = gz_new_zeroed(p->context, d->ranks, sizeof *p->done);
  p->seconds = gz_new_zeroed(p->context, d->steps, sizeof *p->seconds);
  if (p->net == NULL || p->worlds == NULL || p->done == NULL || p->seconds == NULL)
    return gz_fail_memory(p->context, d->ranks * sizeof *p->worlds);
  for (uint32_t r = 0; r < d->ranks && status == GRAZE_OK; r++)
    status = gz_mpi_world_open(p->context, gz_virtual_net_transport(p->net, r), &d->world, &p->common, &p->worlds[r]);
  return status;
}

static void close_all(predicting *p) {
  for (uint32_t r = 0; p->worlds != NULL && r < p->def->ranks; r++) graze_mpi_world_destroy(p->worlds[r]);
  gz_virtual_net_close(p->net);
  gz_free(p->worlds);
  gz_free(p->done);
  gz_free(p->seconds);
  gz_mpi_common_release(p->context, &p->common);
}

static graze_mpi_boxes boxes_of(const predicting *p, uint32_t r) {
  return p->def->boxes != NULL ? p->def->boxes(p->def->boxes_user, r) : p->boxes[r];
}

static void fetch(const void *memory, size_t bytes) {
  enum { LINE = 64 };
  const volatile char *at = memory;
  for (size_t i = 0; i < bytes; i += LINE) (void)at[i];
}

/* A rank has caches of its own, where what it had last is still; here others have filled them. */
static void fetch_all(const graze_mpi_world *w, const graze_mpi_boxes *boxes) {
  const size_t size = boxes->boxes.precision == GRAZE_DOUBLE ? 6 * sizeof(double) : 6 * sizeof(float);
  fetch(boxes->boxes.data, boxes->count * (boxes->boxes.stride != 0 ? boxes->boxes.stride : size));
  fetch(boxes->ids, boxes->count * sizeof *boxes->ids);
  if (!w->all_kept) fetch(w->slots.data, w->kept * sizeof(uint32_t));
  fetch(w->received.data, w->received_count * sizeof(mpi_record));
}

static graze_status begin_rank(predicting *p, uint32_t r) {
  graze_status status = GRAZE_OK;
  const graze_mpi_boxes boxes = boxes_of(p, r);
  if (boxes.count > 0) status = graze_mpi_contribute(p->worlds[r], &boxes);
  p->done[r] = false;
  fetch_all(p->worlds[r], &boxes);
  gz_virtual_net_enter(p->net, r);
  if (status == GRAZE_OK) status = graze_mpi_begin(p->worlds[r], 0);
  gz_virtual_net_leave(p->net, r);
  return status;
}

/* Once the totals are there nobody reads boxes any more. */
static void lend_boxes(predicting *p, uint32_t r) {
  const mpi_stage stage = p->worlds[r]->stage;
  if (stage >= MPI_STAGE_TOTAL || !gz_virtual_net_goes_on(p->net, r)) return;
  const graze_mpi_boxes boxes = boxes_of(p, r);
  if (p->def->boxes != NULL) gz_mpi_world_lend(p->worlds[r], &boxes);
  fetch_all(p->worlds[r], &boxes);
}

static graze_status test_rank(predicting *p, uint32_t r) {
  lend_boxes(p, r);
  gz_virtual_net_enter(p->net, r);
  const graze_status status = graze_mpi_test(p->worlds[r], &p->done[r]);
  gz_virtual_net_leave(p->net, r);
  return status;
}

/* Rank after rank, as long as some are not done. A failure is one of all, but the first that tells it is enough. */
static graze_status run_step(predicting *p, double *seconds) {
  const uint32_t ranks = p->def->ranks;
  graze_status status = GRAZE_OK;
  const uint64_t cuts = p->worlds[0]->cuts;
  gz_virtual_net_begin_step(p->net);
  for (uint32_t r = 0; r < ranks && status == GRAZE_OK; r++) status = begin_rank(p, r);
  for (uint32_t left = ranks; left > 0 && status == GRAZE_OK;) {
    for (uint32_t r = 0; r < ranks && status == GRAZE_OK; r++) {
      if (p->done[r]) continue;
      status = test_rank(p, r);
      left -= p->done[r];
    }
  }
  *seconds = gz_virtual_net_time(p->net);
  if (p->worlds[0]->cuts != cuts || p->worlds[0]->directory.move_due) gz_virtual_net_forget(p->net);
  return status;
}

static int compare(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* The first step cuts space; and it takes a few to see what work takes at least. */
static uint32_t first_told(const graze_mpi_predict_def *def) {
  const uint32_t first = def->steps > 1;
  return def->steady ? first + (def->steps - first) / 2 : first;
}

graze_status graze_mpi_predict(graze_context *context, const graze_mpi_predict_def *def, const graze_mpi_boxes *boxes,
                               graze_mpi_prediction *prediction) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (def == NULL || (boxes == NULL && def->boxes == NULL) || prediction == NULL) return gz_fail_null(context);
  predicting p = {.context = context, .def = def, .boxes = boxes};
  graze_mpi_prediction out = {0};
  graze_status status = check(context, def);
  if (status != GRAZE_OK) return status;
  status = open_all(&p);
  for (uint32_t k = 0; k < def->steps && status == GRAZE_OK; k++) status = run_step(&p, &p.seconds[k]);
  if (status == GRAZE_OK) {
    const uint32_t first = first_told(def);
    out.result = graze_mpi_get_result(p.worlds[0]);
    out.result.reason = NULL; /* the world's */
    out.result.list = NULL;
    out.result.count = out.result.ended_count = 0;
    out.phase_count = gz_virtual_net_end_step(p.net, out.phases);
    out.last_seconds = p.seconds[def->steps - 1];
    qsort(p.seconds + first, def->steps - first, sizeof *p.seconds, compare);
    out.least_seconds = p.seconds[first];
    out.seconds = p.seconds[first + (def->steps - first) / 2];
    *prediction = out;
  }
  close_all(&p);
  return status;
}
