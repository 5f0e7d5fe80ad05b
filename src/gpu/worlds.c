/* Steps of a world on a device: its state goes up once a run, then passes are launched in batches, and a new list is
 * made where a batch has stopped because one is needed. The state comes down whole after each answer, into arrays of
 * the host that nothing has touched before: whatever fails, the processor goes on from there. */
#include "gpu/worlds.h"

#include <math.h>
#include <string.h>

#include "gpu/kernels/world.h"
#include "gpu/pairs.h"

enum { GROUP = 64, BATCH_LEAST = 4, BATCH_MOST = 64, LAW_BYTES = LAW_FIELDS * sizeof(double) };
enum { KEPT_AT_ONCE = 1 << 16 }; /* entries whose memory comes down together */

_Static_assert(sizeof(graze_ball_rows) == ROW_FIELDS * sizeof(double), "rows of the host are those of the device");

static const double PATIENCE = 0.1, MOST_PATIENCE = 1; /* seconds of an answer: ten times what its way back takes */

typedef enum pass_mode { PASS_LOOK, PASS_LAST, PASS_STEP, PASS_EULER } pass_mode; /* as in the kernels */

/* Puts numbers into a buffer that is never empty. */
static graze_status put(graze_gpu *gpu, gpu_buffer *to, const void *from, size_t bytes) {
  graze_status status = gz_gpu_reserve(gpu, to, bytes + sizeof(double));
  return status != GRAZE_OK || bytes == 0 ? status : gz_gpu_write(gpu, to, 0, from, bytes);
}

/* Memory of the host for numbers on their way. NULL: none, which is told. */
static void *stage(graze_gpu *gpu, gpu_worlds *w, size_t bytes) {
  if (gz_buffer_reserve(gpu->context, &w->staging, bytes + 1, 0)) return w->staging.data;
  gz_fail_memory(gpu->context, bytes);
  return NULL;
}

/* ---- up ---------------------------------------------------------------------------------------------------------- */

static uint32_t features_of(const graze_world_question *q) {
  const bool *periodic = q->def->periodic, closed = periodic[0] && periodic[1] && periodic[2];
  uint32_t features = 0;
  if (q->simple != NULL) features |= FEATURE_SIMPLE;
  if (q->simple == NULL || q->springs || q->simple->eta_t != 0) features |= FEATURE_TANGENTIAL;
  if (q->springs) features |= FEATURE_SPRINGS;
  if (q->def->events) features |= FEATURE_EVENTS;
  if (q->drag) features |= FEATURE_DRAG;
  if (!graze_box_is_empty(&q->def->bounds) && !closed) features |= FEATURE_BOUNDS;
  if (q->surface_count > 0) features |= FEATURE_SURFACES;
  return features;
}

/* What the kernels know of the whole. */
static graze_status put_frame(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  double frame[FRAME_FIELDS] = {[FRAME_DT] = q->dt, [FRAME_SKIN] = q->skin, [FRAME_REACH] = q->surface_skin},
         levels[GPU_MOST_LEVELS * LEVEL_FIELDS];
  graze_box box = graze_box_empty();
  for (uint32_t i = 0; i < q->balls; i++) graze_box_add_point(&box, q->states[i].position);
  const double most = 0.49 * q->skin; /* a little less than half: ways are rounded */
  frame[FRAME_MOST2] = most * most;
  for (int k = 0; k < 3; k++) {
    frame[FRAME_GRAVITY + k] = q->def->gravity[k];
    frame[FRAME_LOW + k] = q->def->bounds.min[k];
    frame[FRAME_HIGH + k] = q->def->bounds.max[k];
    if (q->def->periodic[k]) frame[FRAME_PERIOD + k] = q->def->bounds.max[k] - q->def->bounds.min[k];
    frame[FRAME_CORNER + k] = q->def->periodic[k] ? q->def->bounds.min[k] : box.min[k];
    frame[FRAME_MARK + k] = q->def->periodic[k] ? 0x1p-32 * frame[FRAME_PERIOD + k] : 0x1p-12 * q->skin;
    frame[FRAME_MARKS + k] = 1 / frame[FRAME_MARK + k];
  }
  gz_gpu_world_levels(w, q, &box, levels);
  const graze_status status = put(gpu, &w->frame, frame, sizeof frame);
  return status != GRAZE_OK ? status : put(gpu, &w->levels, levels, w->level_count * LEVEL_FIELDS * sizeof *levels);
}

static graze_status put_tables(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  const uint32_t pairs = q->material_count * q->material_count;
  double *rows = stage(gpu, w, pairs * LAW_BYTES + LAW_BYTES);
  if (rows == NULL) return GRAZE_ERROR_MEMORY;
  memcpy(rows, q->laws, pairs * LAW_BYTES);
  memcpy(rows + (size_t)pairs * LAW_FIELDS, q->simple != NULL ? q->simple : q->laws, LAW_BYTES);
  graze_status status = put(gpu, &w->laws, rows, pairs * LAW_BYTES + LAW_BYTES);
  if (status != GRAZE_OK) return status;
  rows = stage(gpu, w, (q->kind_count * KIND_FIELDS + q->wall_count * WALL_FIELDS) * sizeof *rows);
  if (rows == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < q->kind_count; i++) {
    double *kind = rows + (size_t)KIND_FIELDS * i;
    memcpy(kind + KIND_DRAG, q->kinds[i].drag, sizeof q->kinds[i].drag);
    kind[KIND_MATERIAL] = q->kinds[i].material;
    kind[KIND_BODY] = 0;
  }
  for (uint32_t i = 0; i < q->turning_count; i++)
    rows[(size_t)KIND_FIELDS * q->ball_kinds[q->turning[i]] + KIND_BODY] = i + 1;
  double *walls = rows + (size_t)q->kind_count * KIND_FIELDS;
  for (uint32_t i = 0; i < q->wall_count; i++) {
    memcpy(walls + WALL_FIELDS * i + WALL_POINT, q->walls[i].point, 3 * sizeof *rows);
    memcpy(walls + WALL_FIELDS * i + WALL_NORMAL, q->walls[i].normal, 3 * sizeof *rows);
    walls[WALL_FIELDS * i + WALL_MATERIAL] = q->walls[i].material;
  }
  status = put(gpu, &w->kinds, rows, q->kind_count * KIND_FIELDS * sizeof *rows);
  return status != GRAZE_OK ? status : put(gpu, &w->walls, walls, q->wall_count * WALL_FIELDS * sizeof *rows);
}

/* Of bits by number: who has left. */
static size_t left_words(const graze_world_question *q) {
  return (q->balls + (size_t)31) / 32;
}

static graze_status put_facts(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  const size_t words = FACTS * (size_t)q->balls;
  uint32_t *facts = stage(gpu, w, (words + left_words(q)) * sizeof *facts), *left = facts + words;
  if (facts == NULL) return GRAZE_ERROR_MEMORY;
  memset(left, 0, left_words(q) * sizeof *left);
  for (uint32_t i = 0; i < q->balls; i++) {
    facts[FACTS * (size_t)i + FACT_NUMBER] = q->numbers[i];
    facts[FACTS * (size_t)i + FACT_KIND] = q->ball_kinds[i];
    left[i / 32] |= (uint32_t)(q->left[i] != 0) << i % 32;
  }
  const graze_status status = put(gpu, &w->facts, facts, words * sizeof *facts);
  return status != GRAZE_OK ? status : put(gpu, &w->left, left, left_words(q) * sizeof *left);
}

/* A row of the device, whose numbers are floats in single precision, as one of the host. */
static graze_ball_rows unpack_row(const gpu_worlds *w, const void *rows, size_t i) {
  graze_ball_rows row;
  double *numbers = (double *)(void *)&row;
  if (!w->is_single) return ((const graze_ball_rows *)rows)[i];
  for (size_t k = 0; k < ROW_FIELDS; k++) numbers[k] = ((const float *)rows)[ROW_FIELDS * i + k];
  return row;
}

static size_t row_bytes(const gpu_worlds *w) {
  return ROW_FIELDS * (w->is_single ? sizeof(float) : sizeof(double));
}

static graze_status put_side(graze_gpu *gpu, gpu_worlds *w, uint32_t side, const graze_ball_rows *from,
                             uint32_t balls) {
  const size_t bytes = balls * row_bytes(w);
  const double *numbers = (const double *)(const void *)from;
  if (!w->is_single) return put(gpu, &w->rows[side], from, bytes);
  float *rows = stage(gpu, w, bytes);
  if (rows == NULL) return GRAZE_ERROR_MEMORY;
  for (size_t i = 0; i < ROW_FIELDS * (size_t)balls; i++) rows[i] = (float)numbers[i];
  return put(gpu, &w->rows[side], rows, bytes);
}

static graze_status put_rows(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  graze_status status = put_side(gpu, w, 0, q->states, q->balls);
  if (status == GRAZE_OK) status = put_side(gpu, w, 1, q->accelerations, q->balls);
  if (status == GRAZE_OK) status = put(gpu, &w->dissipated, q->dissipated, q->balls * sizeof(double));
  if (status == GRAZE_OK) status = put(gpu, &w->orientations, q->orientations, q->turning_count * sizeof(double[4]));
  return status != GRAZE_OK ? status : gz_gpu_reserve(gpu, &w->origin, q->balls * sizeof(uint32_t[3]));
}

void gz_gpu_world_pack_kept(const gpu_worlds *w, const graze_kept_contact *c, double *to) {
  const size_t springs = KEPT_SPRINGS(w->features);
  memcpy(to, c->spring, springs * sizeof *to);
  if ((w->features & FEATURE_EVENTS) != 0) memcpy(to + springs, c->hit, sizeof c->hit);
}

void gz_gpu_world_unpack_kept(const gpu_worlds *w, const double *from, graze_kept_contact *c) {
  const size_t springs = KEPT_SPRINGS(w->features);
  memcpy(c->spring, from, springs * sizeof *from);
  if ((w->features & FEATURE_EVENTS) != 0) memcpy(c->hit, from + springs, sizeof c->hit);
}

/* What contacts remember, as that of a list that has no other entries, from which the first one gets it. */
static graze_status put_memory(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  const size_t n = q->balls, count = gpu_world_first_of_surfaces(q), fields = KEPT_FIELDS(w->features);
  double *kept = stage(gpu, w, count * fields * sizeof *kept + (count + 2 * n + 2) * sizeof(uint32_t));
  if (kept == NULL) return GRAZE_ERROR_MEMORY;
  uint32_t *partners = (uint32_t *)(kept + count * fields), *start = partners + count, *place = start + n + 2,
           *at = start + 1; /* at[i]: where those of i go on; start[i], when all are written */
  memset(start, 0, (n + 2) * sizeof *start);
  for (uint32_t i = 0; i < n; i++) place[q->numbers[i]] = i;
  for (size_t i = 0; i < count; i++) at[place[q->kept[i].number] + 1]++;
  for (size_t i = 0; i < n; i++) at[i + 1] += at[i];
  for (size_t i = 0; i < count; i++) {
    const graze_kept_contact *c = &q->kept[i];
    const uint32_t entry = at[place[c->number]]++;
    partners[entry] =
        PARTNER_TOUCHES | (c->with == GRAZE_PARTNER_WALL ? PARTNER_IS_WALL | c->partner : place[c->partner]);
    gz_gpu_world_pack_kept(w, c, kept + entry * fields);
  }
  graze_status status = put(gpu, &w->start, start, (n + 1) * sizeof *start);
  if (status == GRAZE_OK) status = put(gpu, &w->partners, partners, count * sizeof *partners);
  return status != GRAZE_OK ? status : put(gpu, &w->kept, kept, count * fields * sizeof *kept);
}

/* Room for what passes write besides rows. */
static graze_status put_rooms(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t zero = 0;
  graze_status status = gz_gpu_reserve(gpu, &w->flags, (BATCH_MOST + 1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = put(gpu, &w->event_count, &zero, sizeof zero);
  if (status == GRAZE_OK)
    status = gz_gpu_reserve(gpu, &w->events, (w->event_room + (size_t)1) * EVENT_FIELDS * sizeof(uint64_t));
  return status != GRAZE_OK ? status : put(gpu, &w->kept, NULL, 0);
}

static graze_status upload(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q) {
  w->run = 0;
  w->side = 0;
  w->count = q->balls;
  w->wall_count = q->wall_count;
  w->materials = q->material_count;
  w->features = features_of(q);
  w->is_single = q->def->precision == GRAZE_FLOAT;
  w->is_listed = false;
  w->age = w->lasted = 0;
  w->pace = 0;
  const bool tells = (w->features & FEATURE_EVENTS) != 0;
  if (tells && w->event_room < q->balls / 4 + 16)
    w->event_room = q->balls / 4 + 16; /* more when it is found too little */
  graze_status status = put_frame(gpu, w, q);
  if (status == GRAZE_OK) status = put_tables(gpu, w, q);
  if (status == GRAZE_OK) status = put_facts(gpu, w, q);
  if (status == GRAZE_OK) status = put_rows(gpu, w, q);
  if (status == GRAZE_OK) status = put_rooms(gpu, w);
  if (status == GRAZE_OK && (w->features & FEATURE_REMEMBERS) != 0) status = put_memory(gpu, w, q);
  if (status == GRAZE_OK) status = gz_gpu_world_upload_surfaces(gpu, w, q);
  return status;
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Pass number `slot` of a batch. Where nothing drifts the other side gets accelerations. */
static graze_status launch_pass(graze_gpu *gpu, gpu_worlds *w, pass_mode mode, uint32_t slot) {
  const uint32_t from = (w->side + slot) % 2, how = (uint32_t)mode, most = gpu_world_most(w);
  gpu_argument arguments[] = {GPU_BUFFER(&w->frame),
                              GPU_BUFFER(&w->laws),
                              GPU_BUFFER(&w->kinds),
                              GPU_BUFFER(&w->walls),
                              GPU_BUFFER(&w->rows[from]),
                              GPU_BUFFER(&w->facts),
                              GPU_BUFFER(&w->start),
                              GPU_BUFFER(&w->partners),
                              GPU_BUFFER(&w->origin),
                              GPU_BUFFER(&w->rows[1 - from]),
                              GPU_BUFFER(&w->dissipated),
                              GPU_BUFFER(&w->left),
                              GPU_BUFFER(&w->orientations),
                              GPU_BUFFER(&w->flags),
                              GPU_BUFFER(&w->kept),
                              GPU_BUFFER(&w->events),
                              GPU_BUFFER(&w->event_count),
                              GPU_VALUE(w->count),
                              GPU_VALUE(w->materials),
                              GPU_BUFFER(&w->facets[w->facet_side].start),
                              GPU_BUFFER(&w->met),
                              GPU_VALUE(w->features),
                              GPU_VALUE(how),
                              GPU_VALUE(slot),
                              GPU_VALUE(w->event_room),
                              GPU_VALUE(most)};
  graze_status status = gz_gpu_world_touch(gpu, w, from, how, slot);
  if (status == GRAZE_OK)
    status = gz_gpu_run(gpu, gpu_world_pass(w), "world_pass", gpu_groups(w->count, GROUP), arguments, 26);
  if (status == GRAZE_OK && w->large_count > 0) {
    arguments[25] = GPU_BUFFER(&w->large);
    status = gz_gpu_run(gpu, gpu_world_pass(w), "world_pass_large", w->large_count, arguments, 26);
  }
  if (status != GRAZE_OK || mode == PASS_LOOK || mode == PASS_LAST) return status;
  return gz_gpu_world_drive(gpu, w, slot, false);
}

static graze_status clear_flags(graze_gpu *gpu, gpu_worlds *w) {
  static const uint32_t zeros[BATCH_MOST + 1];
  return gz_gpu_write(gpu, &w->flags, 0, zeros, sizeof zeros);
}

/* Accelerations at the present state. UNSUPPORTED: one is not finite. */
static graze_status look_first(graze_gpu *gpu, gpu_worlds *w) {
  uint32_t flags[2];
  graze_status status = w->is_listed ? GRAZE_OK : gz_gpu_world_list(gpu, w);
  if (status == GRAZE_OK) status = clear_flags(gpu, w);
  if (status == GRAZE_OK) status = launch_pass(gpu, w, PASS_LOOK, 0);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, flags, &w->flags, 0, sizeof flags);
  return status == GRAZE_OK && flags[1] != 0 ? GRAZE_ERROR_UNSUPPORTED : status;
}

/* Half a kick and a drift, or the last half kick. The flags of the first batch are begun with the former. */
static graze_status kick(graze_gpu *gpu, gpu_worlds *w, bool begin) {
  const gpu_buffer *rows = &w->rows[w->side], *accelerations = &w->rows[1 - w->side];
  const gpu_argument first[] = {GPU_BUFFER(&w->frame),        GPU_BUFFER(&w->kinds),  GPU_BUFFER(rows),
                                GPU_BUFFER(accelerations),    GPU_BUFFER(&w->origin), GPU_BUFFER(&w->facts),
                                GPU_BUFFER(&w->orientations), GPU_BUFFER(&w->flags),  GPU_VALUE(w->count)},
                     last[] = {GPU_BUFFER(&w->frame), GPU_BUFFER(rows), GPU_BUFFER(accelerations), GPU_VALUE(w->count)};
  return gz_gpu_run(gpu, gpu_world_pass(w), begin ? "world_begin" : "world_end", gpu_groups(w->count, GROUP),
                    begin ? first : last, begin ? 9 : 4);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

typedef struct stepping {
  graze_gpu *gpu;
  gpu_worlds *w;
  const graze_world_question *q;
  bool leapfrog;
  uint64_t done, goal;
  double until;
} stepping;

/* As many as the list is likely to bear and there is time for. */
static uint32_t batch_size(const stepping *s) {
  const gpu_worlds *w = s->w;
  const double left = s->until - clock_now();
  uint64_t some = w->lasted > w->age + BATCH_LEAST ? w->lasted - w->age : BATCH_LEAST;
  if (some > BATCH_MOST) some = BATCH_MOST;
  if (w->surface_pace > 0)
    some = (uint64_t)fmin((double)some, 1 + fmax(0, w->most_surface_way - w->surface_way) / w->surface_pace);
  if (w->pace > 0 && (double)some * w->pace > left) some = left > w->pace ? (uint64_t)(left / w->pace) : 1;
  return (uint32_t)(some < s->goal - s->done ? some : s->goal - s->done);
}

static double number_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static graze_told_event event_of(const uint64_t *e, uint64_t first_step) {
  graze_told_event event = {.step = first_step + (e[0] >> 32),
                            .kind = (graze_contact_event_kind)(e[0] >> 2 & 3),
                            .number = (uint32_t)(e[1] >> 32),
                            .partner = (uint32_t)e[1],
                            .with = (graze_partner)(e[0] & 3),
                            .order = (uint32_t)e[0] >> 4,
                            .speed = number_of(e[8]),
                            .impulse = number_of(e[9]),
                            .overlap = number_of(e[10])};
  for (int k = 0; k < 3; k++) {
    event.point[k] = number_of(e[2 + k]);
    event.normal[k] = number_of(e[5 + k]);
    event.velocity[k] = number_of(e[11 + k]);
  }
  return event;
}

/* What a batch has told. LIMIT: there was no room for all of it, and now there is. */
static graze_status take_events(stepping *s) {
  gpu_worlds *w = s->w;
  uint32_t count = 0, zero = 0;
  if ((w->features & FEATURE_EVENTS) == 0) return GRAZE_OK;
  graze_status status = gz_gpu_read(s->gpu, &count, &w->event_count, 0, sizeof count);
  if (status != GRAZE_OK || count == 0) return status;
  if (count > w->event_room) {
    w->event_room = count < UINT32_MAX / 2 ? 2 * count : count;
    return GRAZE_ERROR_LIMIT;
  }
  const size_t bytes = count * EVENT_FIELDS * sizeof(uint64_t), kept = w->told_count * sizeof(graze_told_event);
  const uint64_t *rows = stage(s->gpu, w, bytes);
  if (rows == NULL) return GRAZE_ERROR_MEMORY;
  if (!gz_buffer_reserve(s->gpu->context, &w->told, kept + count * sizeof(graze_told_event), kept))
    return gz_fail_memory(s->gpu->context, kept);
  status = gz_gpu_read(s->gpu, w->staging.data, &w->events, 0, bytes);
  for (uint32_t i = 0; i < count && status == GRAZE_OK; i++)
    ((graze_told_event *)w->told.data)[w->told_count++] = event_of(rows + (size_t)EVENT_FIELDS * i, s->done);
  return status != GRAZE_OK ? status : gz_gpu_write(s->gpu, &w->event_count, 0, &zero, sizeof zero);
}

/* Passes until the list bears no more, or the batch ends. */
static graze_status run_batch(stepping *s) {
  gpu_worlds *w = s->w;
  const double start = clock_now();
  uint32_t flags[BATCH_MOST + 1], size = batch_size(s), made = 0;
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < size && status == GRAZE_OK; i++) {
    pass_mode mode = !s->leapfrog ? PASS_EULER : s->done + i + 1 == s->goal ? PASS_LAST : PASS_STEP;
    status = launch_pass(s->gpu, w, mode, i);
  }
  if (status == GRAZE_OK) status = gz_gpu_read(s->gpu, flags, &w->flags, 0, (size + 1) * sizeof *flags);
  if (status == GRAZE_OK) status = take_events(s);
  if (status != GRAZE_OK) return status;
  while (made < size && flags[made] == 0) made++;
  if ((flags[made] & FLAG_NOT_FINITE) != 0) return GRAZE_ERROR_UNSUPPORTED;
  const bool ended = s->leapfrog && s->done + made == s->goal; /* the last pass has not drifted */
  w->side = (w->side + made - ended) % 2;
  w->age += made;
  if (made > (uint32_t)ended) w->surface_way += (made - ended) * w->surface_pace;
  w->is_listed = flags[made] == 0 && w->surface_way <= w->most_surface_way;
  s->done += made;
  if (made > 0) w->pace = (clock_now() - start) / made;
  return GRAZE_OK;
}

/* Accelerations that came with the state are in its order, so there the first drift comes before the list; later it may
 * ask for another one. */
static graze_status begin_steps(stepping *s) {
  gpu_worlds *w = s->w;
  graze_status status = clear_flags(s->gpu, w);
  if (status == GRAZE_OK && s->leapfrog) status = kick(s->gpu, w, true);
  if (status == GRAZE_OK && s->leapfrog) status = gz_gpu_world_drive(s->gpu, w, 0, true);
  if (s->leapfrog) w->surface_way += w->surface_pace;
  const bool listed = w->is_listed && w->surface_way <= w->most_surface_way;
  if (status == GRAZE_OK && !listed) status = gz_gpu_world_list(s->gpu, w);
  return status == GRAZE_OK && !listed ? clear_flags(s->gpu, s->w) : status;
}

/* Where the time is up one step more ends it: with the leapfrog the last pass is another one. */
static graze_status run_steps(stepping *s) {
  gpu_worlds *w = s->w;
  graze_status status = begin_steps(s);
  while (status == GRAZE_OK && s->done < s->goal) {
    status = run_batch(s);
    if (s->done < s->goal && clock_now() > s->until) s->goal = s->done + (s->leapfrog || s->done == 0);
    if (status == GRAZE_OK && s->done < s->goal && !w->is_listed) status = gz_gpu_world_list(s->gpu, w);
    if (status == GRAZE_OK && s->done < s->goal) status = clear_flags(s->gpu, w);
  }
  return status == GRAZE_OK && s->leapfrog ? kick(s->gpu, w, false) : status;
}

/* ---- down -------------------------------------------------------------------------------------------------------- */

/* The state on its way, by the order of the list. */
typedef struct arrival {
  const void *rows, *accelerations;
  double *dissipated, (*orientations)[4], *surfaces;
  uint32_t *facts, *left, *place; /* place: in the host's arrays, of a number; there is room for it */
} arrival;

static graze_status read_state(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q, arrival *a) {
  const size_t n = q->balls, row = n * row_bytes(w), turns = q->turning_count * sizeof(double[4]),
               surfaces = gz_gpu_world_surface_bytes(q);
  char *at = stage(
      gpu, w, surfaces + 2 * row + n * sizeof(double) + turns + ((FACTS + 1) * n + left_words(q)) * sizeof(uint32_t));
  if (at == NULL) return GRAZE_ERROR_MEMORY;
  a->surfaces = (double *)(void *)at;
  at += surfaces;
  a->rows = at;
  a->accelerations = at + row;
  a->dissipated = (double *)(void *)(at + 2 * row);
  a->orientations = (double(*)[4])(void *)(a->dissipated + n);
  a->facts = (uint32_t *)(a->orientations + q->turning_count);
  a->left = a->facts + FACTS * n;
  a->place = a->left + left_words(q);
  graze_status status = gz_gpu_read(gpu, at, &w->rows[w->side], 0, row);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, at + row, &w->rows[1 - w->side], 0, row);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, a->surfaces, &w->surfaces, 0, surfaces);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, a->dissipated, &w->dissipated, 0, n * sizeof(double));
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, a->orientations, &w->orientations, 0, turns);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, a->facts, &w->facts, 0, FACTS * n * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, a->left, &w->left, 0, left_words(q) * sizeof(uint32_t));
  return status;
}

/* Into the question's arrays, which may be in another order than when they were uploaded; nothing can fail here. */
static void take_state(const gpu_worlds *w, const arrival *a, bool leapfrog, graze_world_question *q) {
  for (uint32_t i = 0; i < q->balls; i++) a->place[q->numbers[i]] = i;
  for (uint32_t i = 0; i < q->balls; i++) {
    const uint32_t place = a->place[a->facts[FACTS * (size_t)i + FACT_NUMBER]];
    q->states[place] = unpack_row(w, a->rows, i);
    if (leapfrog) {
      const graze_ball_rows next = unpack_row(w, a->accelerations, i);
      memcpy(q->accelerations[place].velocity, next.velocity, sizeof next.velocity);
      memcpy(q->accelerations[place].spin, next.spin, sizeof next.spin);
    }
    q->dissipated[place] = a->dissipated[i];
    q->left[i] = a->left[i / 32] >> i % 32 & 1;
  }
  if (q->turning_count > 0) memcpy(q->orientations, a->orientations, q->turning_count * sizeof(double[4]));
}

/* The list on its way, what contacts remember some entries at a time. */
typedef struct list_arrival {
  uint32_t *facts, *start, *partners;
  double *kept;
  uint32_t begin, end; /* of the entries that `kept` is of */
} list_arrival;

static graze_status read_list(graze_gpu *gpu, gpu_worlds *w, list_arrival *a) {
  const size_t n = w->count, facts = FACTS * n * sizeof(uint32_t), start = (n + 1) * sizeof(uint32_t),
               partners = w->entries * sizeof(uint32_t);
  *a = (list_arrival){.kept = stage(gpu, w, gpu_world_kept_bytes(w, KEPT_AT_ONCE) + facts + start + partners)};
  if (a->kept == NULL) return GRAZE_ERROR_MEMORY;
  a->facts = (uint32_t *)(a->kept + KEPT_AT_ONCE * KEPT_FIELDS(w->features));
  a->start = a->facts + FACTS * n;
  a->partners = a->start + n + 1;
  graze_status status = gz_gpu_read(gpu, a->facts, &w->facts, 0, facts);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, a->start, &w->start, 0, start);
  return status != GRAZE_OK ? status : gz_gpu_read(gpu, a->partners, &w->partners, 0, partners);
}

/* Has what the entry remembers, and what follows it, come down. */
static graze_status read_kept(graze_gpu *gpu, const gpu_worlds *w, uint32_t entry, list_arrival *a) {
  const size_t each = KEPT_FIELDS(w->features) * sizeof(double);
  if (entry < a->end) return GRAZE_OK;
  a->begin = entry;
  a->end = w->entries - entry < KEPT_AT_ONCE ? w->entries : entry + KEPT_AT_ONCE;
  return gz_gpu_read(gpu, a->kept, &w->kept, entry * each, (a->end - a->begin) * each);
}

static graze_status read_contact(graze_gpu *gpu, const gpu_worlds *w, uint32_t place, uint32_t entry, list_arrival *a,
                                 graze_kept_contact *to) {
  const uint32_t partner = a->partners[entry] & ~(PARTNER_IS_WALL | PARTNER_TOUCHES);
  const bool is_wall = (a->partners[entry] & PARTNER_IS_WALL) != 0;
  const graze_status status = read_kept(gpu, w, entry, a);
  if (status != GRAZE_OK) return status;
  *to = (graze_kept_contact){.number = a->facts[FACTS * (size_t)place + FACT_NUMBER],
                             .partner = is_wall ? partner : a->facts[FACTS * (size_t)partner + FACT_NUMBER],
                             .with = is_wall ? GRAZE_PARTNER_WALL : GRAZE_PARTNER_BALL};
  gz_gpu_world_unpack_kept(w, a->kept + (size_t)(entry - a->begin) * KEPT_FIELDS(w->features), to);
  return GRAZE_OK;
}

/* What contacts remember, to w->memory: of each ball the others by number, then walls. */
static graze_status read_memory(graze_gpu *gpu, gpu_worlds *w, uint64_t *count) {
  list_arrival a;
  graze_status status = read_list(gpu, w, &a);
  for (uint32_t e = 0; e < w->entries && status == GRAZE_OK; e++) *count += (a.partners[e] & PARTNER_TOUCHES) != 0;
  if (status != GRAZE_OK) return status;
  if (!gz_buffer_reserve(gpu->context, &w->memory, *count * sizeof(graze_kept_contact) + 1, 0))
    return gz_fail_memory(gpu->context, *count * sizeof(graze_kept_contact));
  graze_kept_contact *to = w->memory.data;
  for (uint32_t i = 0; i < w->count; i++) {
    for (uint32_t e = a.start[i]; e < a.start[i + 1] && status == GRAZE_OK; e++)
      if ((a.partners[e] & PARTNER_TOUCHES) != 0) status = read_contact(gpu, w, i, e, &a, to++);
  }
  return status;
}

static graze_status download(graze_gpu *gpu, gpu_worlds *w, bool leapfrog, graze_world_question *q) {
  uint64_t kept = 0;
  arrival a;
  graze_status status = (w->features & FEATURE_REMEMBERS) != 0 ? read_memory(gpu, w, &kept) : GRAZE_OK;
  if (status == GRAZE_OK && (w->features & FEATURE_REMEMBERS) != 0) status = gz_gpu_world_read_surfaces(gpu, w, &kept);
  if (status == GRAZE_OK) status = read_state(gpu, w, q, &a);
  if (status != GRAZE_OK) return status;
  take_state(w, &a, leapfrog, q);
  gz_gpu_world_take_surfaces(a.surfaces, q);
  q->kept = w->memory.data;
  q->kept_count = kept;
  q->events = w->told.data;
  q->event_count = w->told_count;
  return GRAZE_OK;
}

/* ---- an answer --------------------------------------------------------------------------------------------------- */

static graze_status answer(graze_gpu *gpu, gpu_worlds *w, graze_world_question *q) {
  const double start = clock_now();
  stepping s = {.gpu = gpu,
                .w = w,
                .q = q,
                .leapfrog = q->def->integrator == GRAZE_LEAPFROG,
                .goal = w->most_steps > 0 && w->most_steps < q->count ? w->most_steps : q->count,
                .until = start + fmin(fmax(PATIENCE, 10 * w->transfer), MOST_PATIENCE)};
  const bool goes_on = q->begun > 0 && w->run == q->run && w->begun == q->begun;
  graze_status status = goes_on ? GRAZE_OK : upload(gpu, w, q);
  if (status == GRAZE_OK) status = gz_gpu_world_put_surfaces(gpu, w, q);
  const double uploaded = clock_now();
  w->run = 0; /* until it is whole again */
  w->told_count = 0;
  if (status == GRAZE_OK && s.leapfrog && !q->accelerated) status = look_first(gpu, w);
  if (status == GRAZE_OK) status = run_steps(&s);
  const double computed = clock_now();
  if (status == GRAZE_OK) status = download(gpu, w, s.leapfrog, q);
  if (status != GRAZE_OK) return status;
  q->done = s.done;
  w->run = q->run;
  w->begun = q->begun + s.done;
  gpu->report.upload = uploaded - start;
  gpu->report.compute = computed - uploaded;
  gpu->report.download = w->transfer = clock_now() - computed;
  return GRAZE_OK;
}

const char *gz_gpu_worlds_step(graze_gpu *gpu, gpu_worlds *w, graze_world_question *q, graze_status *status) {
  *status = GRAZE_ERROR_UNSUPPORTED;
  if (q->balls > (uint32_t)1 << 28) return "a world of more than 2^28 balls";
  if (q->wall_count > (uint32_t)1 << 28) return "a world of more than 2^28 walls";
  do *status = answer(gpu, w, q); /* as often as events had no room */
  while (*status == GRAZE_ERROR_LIMIT);
  return "";
}

void gz_gpu_worlds_release(graze_gpu *gpu, gpu_worlds *w) {
  gpu_buffer *const all[] = {&w->rows[0], &w->rows[1], &w->facts,  &w->dissipated, &w->start, &w->partners,
                             &w->kept,    &w->origin,  &w->places, &w->waits,      &w->left,  &w->orientations,
                             &w->frame,   &w->levels,  &w->laws,   &w->kinds,      &w->walls, &w->found,
                             &w->large,   &w->flags,   &w->events, &w->event_count};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_world_release_surfaces(gpu, w);
  gz_gpu_scratch_release(gpu, &w->scratch);
  buffer *memory[] = {&w->staging, &w->memory, &w->told};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) gz_buffer_release(gpu->context, memory[i]);
}
