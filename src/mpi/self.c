/* A mesh against itself, with its triangles spread over ranks.
 *
 *   boxes    a world of boxes finds the triangles whose boxes meet; pairs stay with the rank that found them
 *   ask      that rank asks for the corners of triangles that are not its own, each once
 *   answer   their owners send them
 *   home     for a list: pairs that count go to the rank of their lower number
 *   total    one reduction of counts, hash and failures
 *   message  after a failure: its words
 *
 * So corners travel for candidates alone. What two triangles share goes by positions, which both have, and so a pair is
 * judged wherever the corners are. A rank that fails goes through all stages, with nothing to send. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/sort.h"
#include "mpi/world.h"
#include "narrow/soup.h"

typedef enum self_stage {
  SELF_IDLE,
  SELF_BOXES,
  SELF_ASK,
  SELF_ANSWER,
  SELF_HOME,
  SELF_TOTAL,
  SELF_MESSAGE
} self_stage;

/* The numbers that are reduced. */
enum {
  SUM_TRIANGLES,
  SUM_DEGENERATE,
  SUM_DUPLICATES,
  SUM_EDGE_OVERLAPS,
  SUM_VERTEX_MORE,
  SUM_DISJOINT_HITS,
  SUM_DEGENERATE_PAIRS,
  SUM_SELF_HASH,
  SUM_CORNERS,
  SUM_SELF_MESSAGES,
  SUM_SELF_BYTES
};
enum { MAX_SELF_FAILED };

/* A triangle on its way. */
typedef struct corner_record {
  uint32_t rank, number; /* whose it is */
  double corners[9];
} corner_record;

/* Numbers that one message asks for. */
typedef struct asked_part {
  uint32_t from;
  uint64_t first, count;
} asked_part;

struct graze_mpi_self {
  graze_mpi_world *world;
  bool listed;
  self_stage stage;
  graze_mpi_triangles mine;
  uint64_t degenerate; /* of these */
  buffer boxes;        /* graze_box: of them */
  buffer remote;       /* uint64_t: rank << 32 | number of triangles that are needed, sorted; and scratch behind */
  uint64_t remote_count;
  buffer asked; /* uint32_t */
  uint64_t asked_count;
  buffer parts; /* asked_part */
  uint64_t part_count;
  buffer answers; /* corner_record */
  uint64_t answer_count;
  buffer corners; /* double[9]: of the remote ones */
  buffer numbers; /* uint32_t: of all triangles that are here */
  buffer pairs;   /* graze_triangle_pair: of these, to be judged */
  buffer hits;    /* uint64_t */
  graze_self_result found;
  mpi_totals totals;
  graze_mpi_self_result result;
};

/* ---- opening and closing ---- */

graze_status gz_mpi_self_open(graze_mpi_world *world, bool listed, graze_mpi_self **self) {
  graze_mpi_self *s = gz_memory_alloc(world->context, sizeof *s);
  if (s == NULL) return gz_fail_memory(world->context, sizeof *s);
  memset(s, 0, sizeof *s);
  s->world = world;
  s->listed = listed;
  world->unsorted = true;
  if (listed && !gz_mpi_plan_list_home(world)) {
    gz_memory_release(world->context, s, sizeof *s);
    return gz_fail_memory(world->context, world->ranks * sizeof(uint64_t));
  }
  *self = s;
  return GRAZE_OK;
}

void graze_mpi_self_destroy(graze_mpi_self *s) {
  if (s == NULL) return;
  graze_mpi_world *w = s->world;
  buffer *const buffers[] = {&s->boxes,   &s->remote,  &s->asked, &s->parts, &s->answers,
                             &s->corners, &s->numbers, &s->pairs, &s->hits};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) gz_buffer_release(w->context, buffers[i]);
  gz_memory_release(w->context, s, sizeof *s);
  graze_mpi_world_destroy(w);
}

graze_status graze_mpi_self_create(graze_context *context, MPI_Comm comm, const graze_mpi_world_def *def,
                                   graze_mpi_self **self) {
  graze_mpi_world_def d = def != NULL ? *def : graze_mpi_default_world_def();
  const bool listed = d.delivery == GRAZE_MPI_SORTED;
  if (self == NULL || (!listed && d.delivery != GRAZE_MPI_COUNT) || d.search == GRAZE_MPI_NO_SEARCH || d.events)
    d.cookie = 0; /* which all ranks are told */
  d.delivery = GRAZE_MPI_FINDER;
  graze_mpi_world *world = NULL;
  graze_status status = graze_mpi_world_create(context, comm, &d, &world);
  if (status != GRAZE_OK) return status;
  status = gz_mpi_self_open(world, listed, self);
  status = gz_mpi_agree(context, comm, status);
  if (status == GRAZE_OK) return GRAZE_OK;
  graze_mpi_world_destroy(world);
  return status;
}

/* ---- boxes ---- */

/* The box of a triangle; false: a corner is not finite. */
static bool box_of_corners(const double corners[9], graze_box *box) {
  bool finite = true;
  *box = graze_box_empty();
  for (int k = 0; k < 9; k++) finite &= isfinite(corners[k]) != 0;
  for (int c = 0; c < 9 && finite; c += 3) graze_box_add_point(box, corners + c);
  return finite;
}

/* Boxes of all own triangles; returns the first that is bad, or their count. */
static uint32_t make_boxes(graze_mpi_self *s) {
  graze_box *boxes = s->boxes.data;
  uint64_t degenerate = 0;
  for (uint32_t i = 0; i < s->mine.count; i++) {
    const double *corners = s->mine.corners + 9 * (size_t)i;
    if (!box_of_corners(corners, &boxes[i]) || s->mine.numbers[i] > UINT32_MAX) return i;
    degenerate += gz_soup_is_thin(corners);
  }
  s->degenerate = degenerate;
  return s->mine.count;
}

static void fail_triangle(graze_mpi_self *s, uint32_t i) {
  const uint64_t number = s->mine.numbers[i];
  if (number > UINT32_MAX)
    gz_mpi_world_fail_with(s->world, GRAZE_ERROR_ARGUMENT,
                           "triangle %" PRIu32 ": its number %" PRIu64 " is not below 2^32", i, number);
  else
    gz_mpi_world_fail_with(s->world, GRAZE_ERROR_NOT_FINITE,
                           "triangle %" PRIu32 " (number %" PRIu64 "): a coordinate is not finite", i, number);
}

static graze_status check_triangles(const graze_mpi_self *s, const graze_mpi_triangles *t) {
  const graze_mpi_world *w = s->world;
  if (s->stage != SELF_IDLE)
    return gz_fail(w->context, GRAZE_ERROR_ARGUMENT, "rank %" PRIu32 ": a mesh is under way", w->rank);
  if (t->count > 0 && (t->corners == NULL || t->numbers == NULL)) return gz_fail_null(w->context);
  if (t->count > SLOT_LIMIT)
    return gz_fail(w->context, GRAZE_ERROR_LIMIT, "rank %" PRIu32 ": more than %d triangles on a rank", w->rank,
                   SLOT_LIMIT);
  return GRAZE_OK;
}

graze_status graze_mpi_self_begin(graze_mpi_self *s, const graze_mpi_triangles *triangles) {
  if (s == NULL) return GRAZE_ERROR_ARGUMENT;
  const graze_mpi_triangles none = {0}, *t = triangles != NULL ? triangles : &none;
  graze_mpi_world *w = s->world;
  graze_status status = check_triangles(s, t);
  if (status != GRAZE_OK) return status;
  s->mine = *t;
  s->remote_count = s->asked_count = s->part_count = s->answer_count = 0;
  s->found = (graze_self_result){0};
  const bool room = gz_buffer_reserve(w->context, &s->boxes, (size_t)t->count * sizeof(graze_box), 0);
  const uint32_t good = room ? make_boxes(s) : 0;
  const graze_mpi_boxes boxes = {.boxes = {.data = s->boxes.data, .precision = GRAZE_DOUBLE},
                                 .count = good == t->count ? t->count : 0,
                                 .ids = t->numbers};
  const graze_status given = boxes.count > 0 ? graze_mpi_contribute(w, &boxes) : GRAZE_OK;
  status = graze_mpi_begin(w, 0);
  if (status != GRAZE_OK) return status;
  if (!room || given != GRAZE_OK)
    gz_mpi_world_fail_with(w, room ? given : GRAZE_ERROR_MEMORY, "out of memory: boxes of triangles");
  else if (good < t->count)
    fail_triangle(s, good);
  s->stage = SELF_BOXES;
  return GRAZE_OK;
}

/* ---- ask ---- */

static uint64_t remote_key(uint32_t rank, uint32_t number) {
  return (uint64_t)rank << 32 | number;
}

/* What is needed from other ranks, sorted and each once. False: refused. */
static bool list_remote(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  uint64_t count = 0, kept = 0;
  for (uint64_t i = 0; i < w->list_count; i++) count += (w->list[i].a_rank != w->rank) + (w->list[i].b_rank != w->rank);
  if (!gz_mpi_world_reserve(w, &s->remote, count, 2 * sizeof(uint64_t), 0)) return false;
  uint64_t *keys = s->remote.data, at = 0;
  for (uint64_t i = 0; i < w->list_count; i++) {
    const graze_mpi_pair *p = &w->list[i];
    if (p->a_rank != w->rank) keys[at++] = remote_key(p->a_rank, p->a_number);
    if (p->b_rank != w->rank) keys[at++] = remote_key(p->b_rank, p->b_number);
  }
  gz_sort_keys(keys, keys + count, count);
  for (uint64_t i = 0; i < count; i++) {
    if (i == 0 || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
  }
  s->remote_count = kept;
  return true;
}

/* Numbers by rank, which is their order. */
static void pack_questions(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  if (!list_remote(s)) return;
  const uint64_t *keys = s->remote.data;
  for (uint64_t i = 0; i < s->remote_count; i++) {
    mpi_address *address = world_address(w, (uint32_t)(keys[i] >> 32));
    if (address == NULL) return;
    address->count++;
  }
  if (!gz_mpi_world_lay_out(w, sizeof(uint32_t))) return;
  for (uint64_t i = 0; i < s->remote_count; i++) {
    mpi_address *address = world_address(w, (uint32_t)(keys[i] >> 32));
    ((uint32_t *)w->outgoing.data)[address->count++] = (uint32_t)keys[i];
  }
}

static void *take_questions(void *user, uint32_t from, size_t size) {
  graze_mpi_self *s = user;
  graze_mpi_world *w = s->world;
  const uint64_t count = size / sizeof(uint32_t);
  if (w->failure.status != GRAZE_OK ||
      !gz_mpi_world_reserve(w, &s->asked, s->asked_count + count, sizeof(uint32_t), s->asked_count) ||
      !gz_mpi_world_reserve(w, &s->parts, s->part_count + 1, sizeof(asked_part), s->part_count))
    return NULL;
  ((asked_part *)s->parts.data)[s->part_count++] = (asked_part){from, s->asked_count, count};
  void *room = (uint32_t *)s->asked.data + s->asked_count;
  s->asked_count += count;
  return room;
}

static graze_status begin_ask(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  gz_mpi_addresses_clear(&w->common->addresses);
  if (w->failure.status == GRAZE_OK) pack_questions(s);
  s->stage = SELF_ASK;
  return gz_mpi_send_records(w, sizeof(uint32_t), (mpi_receiver){take_questions, s});
}

/* ---- answer ---- */

static void pack_answers(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  const asked_part *parts = s->parts.data;
  for (uint64_t i = 0; i < s->part_count; i++) {
    mpi_address *address = world_address(w, parts[i].from);
    if (address == NULL) return;
    address->count += parts[i].count;
  }
  if (!gz_mpi_world_lay_out(w, sizeof(corner_record))) return;
  for (uint64_t i = 0; i < s->part_count; i++) {
    const uint32_t *asked = (const uint32_t *)s->asked.data + parts[i].first;
    for (uint64_t k = 0; k < parts[i].count; k++) {
      corner_record *out = (corner_record *)w->outgoing.data + world_address(w, parts[i].from)->count++;
      out->rank = w->rank;
      out->number = asked[k];
      memcpy(out->corners, s->mine.corners + 9 * (size_t)asked[k], sizeof out->corners);
    }
  }
}

static void *take_answers(void *user, uint32_t from, size_t size) {
  graze_mpi_self *s = user;
  graze_mpi_world *w = s->world;
  const uint64_t count = size / sizeof(corner_record);
  (void)from;
  if (w->failure.status != GRAZE_OK ||
      !gz_mpi_world_reserve(w, &s->answers, s->answer_count + count, sizeof(corner_record), s->answer_count))
    return NULL;
  void *room = (corner_record *)s->answers.data + s->answer_count;
  s->answer_count += count;
  return room;
}

static graze_status begin_answer(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  gz_mpi_addresses_clear(&w->common->addresses);
  if (w->failure.status == GRAZE_OK) pack_answers(s);
  s->stage = SELF_ANSWER;
  return gz_mpi_send_records(w, sizeof(corner_record), (mpi_receiver){take_answers, s});
}

/* ---- judging ---- */

static uint64_t place_of_key(const graze_mpi_self *s, uint64_t key) {
  const uint64_t *keys = s->remote.data;
  uint64_t low = 0, high = s->remote_count;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (keys[middle] <= key)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Where a triangle of a pair is: own ones come first. */
static uint32_t place_of(graze_mpi_self *s, uint64_t id, uint32_t rank, uint32_t number) {
  uint32_t place = number;
  if (rank != s->world->rank) place = s->mine.count + (uint32_t)place_of_key(s, remote_key(rank, number));
  ((uint32_t *)s->numbers.data)[place] = (uint32_t)id;
  return place;
}

static bool make_room(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  const uint64_t all = s->mine.count + s->remote_count;
  if (all > UINT32_MAX) {
    gz_mpi_world_fail_with(w, GRAZE_ERROR_LIMIT, "it holds more than 2^32 triangles");
    return false;
  }
  return gz_mpi_world_reserve(w, &s->corners, s->remote_count, sizeof(double[9]), 0) &&
         gz_mpi_world_reserve(w, &s->numbers, all, sizeof(uint32_t), 0) &&
         gz_mpi_world_reserve(w, &s->pairs, w->list_count, sizeof(graze_triangle_pair), 0);
}

static void judge(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  if (s->answer_count != s->remote_count || !make_room(s)) return; /* somebody who has failed has sent nothing */
  const corner_record *answers = s->answers.data;
  for (uint64_t i = 0; i < s->answer_count; i++) {
    const uint64_t place = place_of_key(s, remote_key(answers[i].rank, answers[i].number));
    memcpy((double *)s->corners.data + 9 * place, answers[i].corners, sizeof answers[i].corners);
  }
  graze_triangle_pair *pairs = s->pairs.data;
  for (uint64_t i = 0; i < w->list_count; i++) {
    const graze_mpi_pair *p = &w->list[i];
    pairs[i] =
        (graze_triangle_pair){place_of(s, p->a, p->a_rank, p->a_number), place_of(s, p->b, p->b_rank, p->b_number)};
  }
  const soup triangles = {
      {s->mine.corners, s->corners.data}, {s->mine.count, (uint32_t)s->remote_count}, s->numbers.data};
  const bool before = gz_silence(true); /* all ranks tell it in the end */
  graze_status status =
      gz_soup_judge(w->context, &triangles, pairs, w->list_count, &s->found, s->listed ? &s->hits : NULL);
  gz_silence(before);
  if (status != GRAZE_OK) gz_mpi_world_fail(w, status);
}

/* ---- the end ---- */

static graze_status begin_total(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  uint64_t *sums = s->totals.sums;
  sums[SUM_TRIANGLES] = s->mine.count;
  sums[SUM_DEGENERATE] = s->degenerate;
  sums[SUM_DUPLICATES] = s->found.duplicates;
  sums[SUM_EDGE_OVERLAPS] = s->found.edge_overlaps;
  sums[SUM_VERTEX_MORE] = s->found.vertex_more;
  sums[SUM_DISJOINT_HITS] = s->found.disjoint_hits;
  sums[SUM_DEGENERATE_PAIRS] = s->found.degenerate_pairs;
  sums[SUM_SELF_HASH] = s->found.hash;
  sums[SUM_CORNERS] = s->asked_count;
  s->totals.maxes[MAX_SELF_FAILED] = w->failure.status != GRAZE_OK ? w->ranks - w->rank : 0;
  s->stage = SELF_TOTAL;
  return w->transport->calls->reduce(w->transport, &s->totals);
}

/* What has been judged goes into the world's list of pairs, and home by it. */
static graze_status begin_home(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  w->pair_count = 0;
  if (w->failure.status == GRAZE_OK &&
      gz_mpi_world_reserve(w, &w->pairs, s->found.self_pairs, sizeof(graze_mpi_pair), 0)) {
    const uint64_t *hits = s->hits.data;
    w->pair_count = s->found.self_pairs;
    for (uint64_t i = 0; i < w->pair_count; i++)
      pairs_of(&w->pairs)[i] = (graze_mpi_pair){.a = hits[i] >> 32, .b = (uint32_t)hits[i]};
  }
  s->stage = SELF_HOME;
  return gz_mpi_home_begin(w);
}

static graze_status after_answer(graze_mpi_self *s) {
  if (s->world->failure.status == GRAZE_OK) judge(s);
  return s->listed ? begin_home(s) : begin_total(s);
}

static graze_status end_total(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  const uint64_t *sums = s->totals.sums, failed = s->totals.maxes[MAX_SELF_FAILED];
  if (failed > 0) {
    s->stage = SELF_MESSAGE;
    return w->transport->calls->share(w->transport, w->ranks - (uint32_t)failed, &w->failure, sizeof w->failure);
  }
  graze_mpi_self_result *r = &s->result;
  *r = (graze_mpi_self_result){.triangles = sums[SUM_TRIANGLES],
                               .degenerate = sums[SUM_DEGENERATE],
                               .sent_triangles = sums[SUM_CORNERS],
                               .boxes = w->result};
  r->found = (graze_self_result){.duplicates = sums[SUM_DUPLICATES],
                                 .edge_overlaps = sums[SUM_EDGE_OVERLAPS],
                                 .vertex_more = sums[SUM_VERTEX_MORE],
                                 .disjoint_hits = sums[SUM_DISJOINT_HITS],
                                 .degenerate_pairs = sums[SUM_DEGENERATE_PAIRS],
                                 .hash = sums[SUM_SELF_HASH]};
  r->found.self_pairs = r->found.duplicates + r->found.edge_overlaps + r->found.vertex_more + r->found.disjoint_hits;
  r->boxes.messages += sums[SUM_SELF_MESSAGES];
  r->boxes.bytes_sent += sums[SUM_SELF_BYTES];
  r->boxes.list = NULL;
  r->boxes.count = 0;
  r->list = s->listed ? pairs_of(&w->arrived) : NULL;
  r->count = s->listed ? w->arrived_count : 0;
  s->stage = SELF_IDLE;
  return GRAZE_OK;
}

/* ---- the machine ---- */

static graze_status go_on(graze_mpi_self *s) {
  graze_mpi_world *w = s->world;
  if (s->stage == SELF_BOXES) s->totals = (mpi_totals){0};
  if (s->stage == SELF_ASK || s->stage == SELF_ANSWER || s->stage == SELF_HOME) {
    s->totals.sums[SUM_SELF_MESSAGES] += w->exchange.messages;
    s->totals.sums[SUM_SELF_BYTES] += w->exchange.bytes;
  }
  switch (s->stage) {
    case SELF_BOXES:
      return begin_ask(s);
    case SELF_ASK:
      return begin_answer(s);
    case SELF_ANSWER:
      return after_answer(s);
    case SELF_HOME:
      gz_mpi_home_sort(w);
      return begin_total(s);
    case SELF_TOTAL:
      return end_total(s);
    default: /* a failure that all ranks know by now */
      s->stage = SELF_IDLE;
      return GRAZE_OK;
  }
}

static graze_status is_done(graze_mpi_self *s, bool *done) {
  graze_mpi_world *w = s->world;
  if (s->stage == SELF_BOXES) {
    graze_status status = graze_mpi_test(w, done);
    if (status != GRAZE_OK) s->stage = SELF_IDLE; /* all ranks have it */
    return status;
  }
  if (s->stage == SELF_TOTAL || s->stage == SELF_MESSAGE) return w->transport->calls->finished(w->transport, done);
  return gz_mpi_exchange_test(&w->exchange, done);
}

graze_status graze_mpi_self_test(graze_mpi_self *s, bool *done) {
  if (s == NULL || done == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_mpi_world *w = s->world;
  *done = s->stage == SELF_IDLE;
  while (s->stage != SELF_IDLE) {
    bool stage_done = false;
    graze_status status = is_done(s, &stage_done);
    if (status == GRAZE_OK && !stage_done) return GRAZE_OK;
    if (status == GRAZE_OK) {
      status = go_on(s);
      if (status != GRAZE_OK) w->broken = status;
    }
    if (status != GRAZE_OK) return status;
  }
  *done = true;
  if (w->failure.status == GRAZE_OK) return GRAZE_OK;
  return gz_fail(w->context, w->failure.status, "%s", w->failure.message);
}

graze_status graze_mpi_self_wait(graze_mpi_self *s) {
  bool done = false;
  graze_status status = GRAZE_OK;
  while (!done && status == GRAZE_OK) status = graze_mpi_self_test(s, &done);
  return status;
}

graze_mpi_self_result graze_mpi_self_get_result(const graze_mpi_self *s) {
  return s != NULL ? s->result : (graze_mpi_self_result){0};
}
