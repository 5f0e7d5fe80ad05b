/* Places of voxels; directory.h says how they are found and changed. */
#include "mpi/directory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "mpi/world.h"

#define FURTHEST 0x1p52 /* cells beyond are not counted one by one */

enum { IS_PLACE = 1, IS_CORRECTION = 2 }; /* notes that homes send */

/* Of a record that is no box, in place of whether it is shared: `id` is a voxel's key, and `number` its place. */
enum { SHARED_NOTE = 2 };

/* ---- cells ---- */

static double cell_on_axis(double voxel, double x) {
  return floor(fmin(fmax(x / voxel, -DBL_MAX), DBL_MAX)) + 0.0; /* -0 is 0 */
}

static uint64_t add_to_key(uint64_t key, double cell) {
  uint64_t bits;
  memcpy(&bits, &cell, sizeof bits);
  return splitmix64(key + bits);
}

static uint64_t key_of(const double cell[3]) {
  return add_to_key(add_to_key(add_to_key(0, cell[0]), cell[1]), cell[2]) | 1; /* 0 is free */
}

uint64_t gz_mpi_cell_of(double voxel, const double point[3]) {
  const double cell[3] = {cell_on_axis(voxel, point[0]), cell_on_axis(voxel, point[1]), cell_on_axis(voxel, point[2])};
  return key_of(cell);
}

uint32_t gz_mpi_cells_meet(double voxel, const double box[6], uint64_t keys[MOST_CELLS]) {
  double first[3], cells = 1;
  uint32_t size[3], count = 0;
  for (int k = 0; k < 3; k++) {
    const double last = cell_on_axis(voxel, box[3 + k]);
    first[k] = cell_on_axis(voxel, box[k]);
    if (first[k] != last && fmax(fabs(first[k]), fabs(last)) > FURTHEST) return 0;
    cells *= last - first[k] + 1;
    if (!(cells <= MOST_CELLS)) return 0;
    size[k] = (uint32_t)(last - first[k]) + 1;
  }
  for (uint32_t i = 0; i < size[0]; i++) {
    for (uint32_t j = 0; j < size[1]; j++) {
      for (uint32_t k = 0; k < size[2]; k++) {
        const double cell[3] = {i > 0 ? first[0] + i : first[0], j > 0 ? first[1] + j : first[1],
                                k > 0 ? first[2] + k : first[2]};
        keys[count++] = key_of((const double[3]){cell[0] + 0.0, cell[1] + 0.0, cell[2] + 0.0});
      }
    }
  }
  return count;
}

static uint32_t home_of(const graze_mpi_world *w, uint64_t key) {
  return (uint32_t)(splitmix64(key) % w->ranks);
}

/* ---- the whole ---- */

void gz_mpi_directory_reset(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  mpi_places *const all[] = {&d->known, &d->home, &d->held};
  for (int i = 0; i < 3; i++) gz_mpi_places_clear(all[i]);
  d->former_count = d->moved_count = 0;
  d->move_due = d->ever_moved = false;
}

void gz_mpi_directory_release(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  mpi_places *const places[] = {&d->known, &d->home, &d->held, &d->asking, &d->seen};
  buffer *const buffers[] = {&d->former, &d->moved, &d->arrived, &d->forwarded, &d->order};
  for (int i = 0; i < 5; i++) gz_mpi_places_release(w->context, places[i]);
  for (int i = 0; i < 5; i++) gz_buffer_release(w->context, buffers[i]);
}

/* The place of a key; NULL: refused, and the step has failed. */
static mpi_place *place(graze_mpi_world *w, mpi_places *places, uint64_t key, uint32_t rank) {
  mpi_place *p = gz_mpi_places_add(w->context, places, key, rank);
  if (p == NULL) gz_mpi_world_fail_with(w, GRAZE_ERROR_MEMORY, "out of memory: a place of a voxel was refused");
  return p;
}

static void set_place(graze_mpi_world *w, mpi_places *places, uint64_t key, uint32_t rank) {
  mpi_place *p = place(w, places, key, rank);
  if (p != NULL) p->rank = rank;
}

static bool append_note(graze_mpi_world *w, buffer *notes, uint64_t *count, mpi_note note) {
  if (!gz_mpi_world_reserve(w, notes, *count + 1, sizeof note, *count)) return false;
  ((mpi_note *)notes->data)[(*count)++] = note;
  return true;
}

/* ---- notes on their way ---- */

/* What is sent is written twice: to count what goes to each rank, and into its place. */
static void put(graze_mpi_world *w, uint32_t to, const void *record, size_t size, bool counting) {
  mpi_address *address = world_address(w, to);
  if (address == NULL) return; /* the step has failed */
  if (!counting) memcpy((char *)w->outgoing.data + address->count * size, record, size);
  address->count++;
}

typedef struct posting {
  graze_mpi_world *w;
  bool counting;
} posting;

static void post(posting *p, uint32_t to, mpi_note note) {
  put(p->w, to, &note, sizeof note, p->counting);
}

static void *take_notes(void *user, uint32_t from, size_t size) {
  graze_mpi_world *w = user;
  mpi_directory *d = &w->directory;
  const uint64_t count = size / sizeof(mpi_note);
  (void)from;
  if (w->failure.status != GRAZE_OK ||
      !gz_mpi_world_reserve(w, &d->arrived, d->arrived_count + count, sizeof(mpi_note), d->arrived_count))
    return NULL;
  void *room = (mpi_note *)d->arrived.data + d->arrived_count;
  d->arrived_count += count;
  return room;
}

/* Sends what write() posts, also what is for this rank. */
static graze_status send_notes(graze_mpi_world *w, void (*write)(posting *p)) {
  posting p = {w, true};
  gz_mpi_addresses_clear(&w->common->addresses);
  w->directory.arrived_count = 0;
  if (w->failure.status == GRAZE_OK) write(&p);
  p.counting = false;
  if (gz_mpi_world_lay_out(w, sizeof(mpi_note))) write(&p);
  return gz_mpi_send_records(w, sizeof(mpi_note), (mpi_receiver){take_notes, w});
}

/* ---- moving ---- */

graze_status gz_mpi_balance_begin(graze_mpi_world *w) {
  return w->transport->calls->gather(w->transport, &w->own_work, sizeof w->own_work, w->directory.works);
}

static int compare_keys(const void *x, const void *y) {
  const uint64_t a = ((const mpi_note *)x)->key, b = ((const mpi_note *)y)->key;
  return (a > b) - (a < b);
}

/* The voxels that are here, with their boxes, by key: so that it does not matter in which order notes came. */
static uint64_t list_held(graze_mpi_world *w, uint64_t *boxes) {
  mpi_directory *d = &w->directory;
  uint64_t count = 0;
  *boxes = 0;
  if (!gz_mpi_world_reserve(w, &d->order, d->held.count, sizeof(mpi_note), 0)) return 0;
  mpi_note *order = d->order.data;
  for (uint64_t i = 0; i < d->held.capacity && d->held.count > 0; i++) {
    const mpi_place *p = places_at(&d->held, i);
    if (p->key == 0 || p->rank != w->rank) continue;
    order[count++] = (mpi_note){p->key, p->rank, p->number};
    *boxes += p->number;
  }
  if (count > 0) qsort(order, count, sizeof *order, compare_keys);
  return count;
}

/* Voxels of about `amount` of the work go to a rank; those not given yet begin at *next. */
static void give(graze_mpi_world *w, uint64_t count, double work_of_box, double amount, uint32_t to, uint64_t *next) {
  mpi_note *order = w->directory.order.data;
  double given = 0;
  for (; *next < count && given < amount; ++*next) {
    mpi_note *n = &order[*next];
    const double work = work_of_box * n->number;
    if (n->number == 0 || given + work > 1.2 * amount) continue;
    n->rank = to;
    given += work;
  }
}

/* Who has more than the mean gives to who has less, both in the order of their numbers: all compute the same. */
static void choose_moves(graze_mpi_world *w) {
  const double *works = w->directory.works;
  uint64_t boxes = 0, next = 0;
  const uint64_t count = list_held(w, &boxes);
  double mean = 0, before = 0, end = 0; /* of the surplus of all ranks, laid end to end, mine begins after `before` */
  for (uint32_t r = 0; r < w->ranks; r++) mean += works[r] / w->ranks;
  for (uint32_t r = 0; r < w->rank; r++) before += fmax(works[r] - mean, 0);
  end = before + fmax(works[w->rank] - mean, 0);
  double lack = 0;
  for (uint32_t r = 0; r < w->ranks && boxes > 0; r++) {
    const double begin = fmax(lack, before);
    lack += fmax(mean - works[r], 0);
    const double amount = fmin(lack, end) - begin;
    if (amount > 0 && r != w->rank) give(w, count, works[w->rank] / (double)boxes, amount, r, &next);
  }
  for (uint64_t i = 0; i < count; i++) {
    const mpi_note *n = (const mpi_note *)w->directory.order.data + i;
    if (n->rank != w->rank && !append_note(w, &w->directory.moved, &w->directory.moved_count, *n)) return;
  }
}

/* To the home and to the new place. */
static void post_moves(posting *p) {
  graze_mpi_world *w = p->w;
  const mpi_directory *d = &w->directory;
  for (uint64_t i = 0; i < d->moved_count; i++) {
    const mpi_note *n = (const mpi_note *)d->moved.data + i, note = {n->key, n->rank, w->rank};
    const uint32_t home = home_of(w, n->key);
    post(p, home, note);
    if (n->rank != home) post(p, n->rank, note);
  }
}

graze_status gz_mpi_move_begin(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  d->moved_count = 0;
  d->move_due = false;
  d->ever_moved = true;
  if (w->failure.status == GRAZE_OK) choose_moves(w);
  graze_status status = send_notes(w, post_moves);
  for (uint64_t i = 0; i < d->moved_count; i++) {
    const mpi_note *n = (const mpi_note *)d->moved.data + i;
    set_place(w, &d->held, n->key, n->rank);
    set_place(w, &d->known, n->key, n->rank);
  }
  w->totals.sums[SUM_MOVED] = d->moved_count;
  return status;
}

void gz_mpi_move_end(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  d->moved_count = 0;
  for (uint64_t i = 0; i < d->arrived_count; i++) {
    const mpi_note n = ((const mpi_note *)d->arrived.data)[i];
    if (n.rank == w->rank) {
      set_place(w, &d->held, n.key, n.rank);
      set_place(w, &d->known, n.key, n.rank);
    }
    if (home_of(w, n.key) != w->rank) continue;
    set_place(w, &d->home, n.key, n.rank);
    if (!append_note(w, &d->former, &d->former_count, (mpi_note){n.key, n.number, 0}) ||
        !append_note(w, &d->moved, &d->moved_count, n))
      return;
  }
}

/* ---- asking ---- */

static void ask_for_box(graze_mpi_world *w, const double box[6]) {
  mpi_directory *d = &w->directory;
  uint64_t keys[MOST_CELLS];
  const uint32_t count = gz_mpi_cells_meet(w->plan.voxel, box, keys);
  for (uint32_t k = 0; k < count; k++) {
    mpi_place *known = gz_mpi_places_find(&d->known, keys[k]);
    if (known != NULL) {
      w->totals.sums[SUM_PLACES] += known->number != (uint32_t)w->step;
      known->number = (uint32_t)w->step;
      continue;
    }
    mpi_place *p = place(w, &d->asking, keys[k], 0);
    if (p == NULL) return;
    p->number++;
  }
}

static void post_questions(posting *p) {
  graze_mpi_world *w = p->w;
  const mpi_places *asking = &w->directory.asking;
  for (uint64_t i = 0; i < asking->capacity && asking->count > 0; i++) {
    const mpi_place *a = places_at(asking, i);
    if (a->key != 0) post(p, home_of(w, a->key), (mpi_note){a->key, w->rank, a->number});
  }
}

graze_status gz_mpi_ask_begin(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  const mpi_client *clients = w->clients.data;
  gz_mpi_places_clear(&d->asking);
  for (uint32_t c = 0; c < w->client_count; c++) {
    for (uint32_t i = 0; i < clients[c].boxes.count && w->failure.status == GRAZE_OK; i++) {
      double box[6];
      client_box(&clients[c], i, box);
      if (gz_mpi_check_box(w, &clients[c], i, box)) ask_for_box(w, box);
    }
  }
  w->totals.sums[SUM_PLACES] += d->asking.count;
  w->totals.sums[SUM_ASKED] = d->asking.count;
  return send_notes(w, post_questions);
}

/* ---- telling ---- */

/* By key; of one key first who has most boxes, then the lowest rank. */
static int compare_questions(const void *x, const void *y) {
  const mpi_note *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  if (a->number != b->number) return a->number > b->number ? -1 : 1;
  return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* New voxels are where the first of those is who ask. Afterwards questions lie in `order`. */
static void create(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  if (!gz_mpi_world_reserve(w, &d->order, d->arrived_count, sizeof(mpi_note), 0)) return;
  mpi_note *questions = d->order.data;
  if (d->arrived_count > 0) {
    memcpy(questions, d->arrived.data, d->arrived_count * sizeof *questions);
    qsort(questions, d->arrived_count, sizeof *questions, compare_questions);
  }
  for (uint64_t i = 0; i < d->arrived_count; i++) {
    if (place(w, &d->home, questions[i].key, questions[i].rank) == NULL) return;
  }
}

static void post_places(posting *p) {
  graze_mpi_world *w = p->w;
  const mpi_directory *d = &w->directory;
  for (uint64_t i = 0; i < w->directory.question_count; i++) {
    const mpi_note *q = (const mpi_note *)d->order.data + i;
    post(p, q->rank, (mpi_note){q->key, gz_mpi_places_find(&d->home, q->key)->rank, IS_PLACE});
  }
  for (uint64_t i = 0; i < d->moved_count; i++) {
    const mpi_note *m = (const mpi_note *)d->moved.data + i;
    for (uint64_t k = 0; k < d->former_count; k++) {
      const mpi_note *f = (const mpi_note *)d->former.data + k;
      if (f->key == m->key && f->rank != m->rank) post(p, f->rank, (mpi_note){m->key, m->rank, IS_CORRECTION});
    }
  }
}

graze_status gz_mpi_tell_begin(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  if (w->failure.status == GRAZE_OK) create(w);
  d->question_count = w->failure.status == GRAZE_OK ? d->arrived_count : 0;
  graze_status status = send_notes(w, post_places);
  d->moved_count = 0;
  return status;
}

void gz_mpi_tell_end(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  for (uint64_t i = 0; i < d->arrived_count && w->failure.status == GRAZE_OK; i++) {
    const mpi_note n = ((const mpi_note *)d->arrived.data)[i];
    if (n.number == IS_CORRECTION || n.rank == w->rank) set_place(w, &d->held, n.key, n.rank);
    if (n.number == IS_CORRECTION && gz_mpi_places_find(&d->known, n.key) == NULL) continue;
    set_place(w, &d->known, n.key, n.rank);
    mpi_place *known = gz_mpi_places_find(&d->known, n.key);
    if (known != NULL) known->number = (uint32_t)w->step;
  }
}

/* ---- travelling ---- */

bool gz_mpi_directory_route(const graze_mpi_world *w, const double box[6], uint32_t ranks[MOST_CELLS],
                            uint32_t *count) {
  uint64_t keys[MOST_CELLS];
  const uint32_t cells = gz_mpi_cells_meet(w->plan.voxel, box, keys);
  *count = 0;
  for (uint32_t c = 0; c < cells; c++) {
    const mpi_place *p = gz_mpi_places_find(&w->directory.known, keys[c]);
    if (p == NULL) continue; /* its home has failed, and so has the step */
    uint32_t k = 0;
    while (k < *count && ranks[k] != p->rank) k++;
    if (k == *count) ranks[(*count)++] = p->rank;
  }
  return cells > 0;
}

/* ---- forwarding ---- */

/* Of a box that came here: voxels that are elsewhere by now. */
static void forward_record(graze_mpi_world *w, mpi_record *r, bool counting) {
  uint64_t keys[MOST_CELLS];
  uint32_t sent[MOST_CELLS], sent_count = 0;
  const uint32_t cells = gz_mpi_cells_meet(w->plan.voxel, r->box, keys);
  for (uint32_t c = 0; c < cells; c++) {
    const mpi_place *p = gz_mpi_places_find(&w->directory.held, keys[c]);
    if (p == NULL || p->rank == w->rank) continue;
    if (w->ranks <= RANKS_OF_STRIPE && (r->stripe >> p->rank & 1) != 0) continue; /* its sender knows the place */
    uint32_t k = 0;
    while (k < sent_count && sent[k] != p->rank) k++;
    r->shared = 1;
    if (k == sent_count) {
      sent[sent_count++] = p->rank;
      put(w, p->rank, r, sizeof *r, counting);
      if (counting) w->totals.sums[SUM_FORWARDED]++;
    }
    const mpi_record note = {.id = keys[c], .number = p->rank, .shared = SHARED_NOTE};
    put(w, r->rank, &note, sizeof note, counting);
  }
}

static void *take_forwarded(void *user, uint32_t from, size_t size) {
  graze_mpi_world *w = user;
  mpi_directory *d = &w->directory;
  const uint64_t count = size / sizeof(mpi_record);
  (void)from;
  if (w->failure.status != GRAZE_OK ||
      !gz_mpi_world_reserve(w, &d->forwarded, d->forwarded_count + count, sizeof(mpi_record), d->forwarded_count))
    return NULL;
  void *room = (mpi_record *)d->forwarded.data + d->forwarded_count;
  d->forwarded_count += count;
  return room;
}

graze_status gz_mpi_forward_begin(graze_mpi_world *w) {
  mpi_record *received = w->received.data;
  gz_mpi_addresses_clear(&w->common->addresses);
  w->directory.forwarded_count = 0;
  for (uint64_t i = 0; i < w->received_count && w->failure.status == GRAZE_OK; i++)
    forward_record(w, &received[i], true);
  const bool room = gz_mpi_world_lay_out(w, sizeof(mpi_record));
  for (uint64_t i = 0; i < w->received_count && room; i++) forward_record(w, &received[i], false);
  return gz_mpi_send_records(w, sizeof(mpi_record), (mpi_receiver){take_forwarded, w});
}

static uint64_t key_of_box(uint32_t rank, uint32_t number) {
  return splitmix64((uint64_t)rank << 32 | number) | 1;
}

/* Marks all boxes that are here. Two with one key would be taken for one, so the whole number is compared. */
static bool note_seen(graze_mpi_world *w, uint32_t rank, uint32_t number, bool *was) {
  for (uint64_t key = key_of_box(rank, number);; key = splitmix64(key) | 1) {
    const uint64_t before = w->directory.seen.count;
    mpi_place *p = place(w, &w->directory.seen, key, rank);
    if (p == NULL) return false;
    if (w->directory.seen.count > before) p->number = number;
    *was = w->directory.seen.count == before;
    if (p->rank == rank && p->number == number) return true;
  }
}

static bool see_all(graze_mpi_world *w) {
  const uint32_t *slots = w->slots.data;
  const mpi_record *received = w->received.data;
  bool was;
  gz_mpi_places_clear(&w->directory.seen);
  for (uint32_t i = 0; i < w->kept; i++) {
    if (!note_seen(w, w->rank, slots[i] & SLOT_NUMBER, &was)) return false;
  }
  for (uint64_t i = 0; i < w->received_count; i++) {
    if (!note_seen(w, received[i].rank, received[i].number, &was)) return false;
  }
  return true;
}

/* A box that is here already has come from its sender too, who knows the place. */
void gz_mpi_forward_end(graze_mpi_world *w) {
  mpi_directory *d = &w->directory;
  const mpi_record *forwarded = d->forwarded.data;
  bool was = false;
  if (w->failure.status != GRAZE_OK || d->forwarded_count == 0 || !see_all(w)) return;
  if (!gz_mpi_world_reserve(w, &w->received, w->received_count + d->forwarded_count, sizeof(mpi_record),
                            w->received_count))
    return;
  for (uint64_t i = 0; i < d->forwarded_count; i++) {
    const mpi_record *r = &forwarded[i];
    if (r->shared == SHARED_NOTE) {
      set_place(w, &d->known, r->id, r->number);
      continue;
    }
    if (!note_seen(w, r->rank, r->number, &was)) return;
    if (!was) ((mpi_record *)w->received.data)[w->received_count++] = *r;
  }
}

/* ---- searching ---- */

bool gz_mpi_directory_tells(const graze_mpi_world *w, const double a[6], const double b[6], const double corner[3]) {
  uint64_t keys[MOST_CELLS];
  const uint64_t key = gz_mpi_cell_of(w->plan.voxel, corner);
  if (gz_mpi_cells_meet(w->plan.voxel, a, keys) == 0 && gz_mpi_cells_meet(w->plan.voxel, b, keys) == 0)
    return home_of(w, key) == w->rank;
  const mpi_place *p = gz_mpi_places_find(&w->directory.held, key);
  return p != NULL && p->rank == w->rank;
}

void gz_mpi_directory_clear_counts(graze_mpi_world *w) {
  const mpi_places *held = &w->directory.held;
  for (uint64_t i = 0; i < held->capacity && held->count > 0; i++) places_at(held, i)->number = 0;
}

void gz_mpi_directory_count(graze_mpi_world *w, const double box[6]) {
  mpi_place *p = gz_mpi_places_find(&w->directory.held, gz_mpi_cell_of(w->plan.voxel, box));
  if (p != NULL && p->rank == w->rank) p->number++;
}

uint64_t gz_mpi_directory_voxels(const graze_mpi_world *w) {
  const mpi_places *held = &w->directory.held;
  uint64_t count = 0;
  for (uint64_t i = 0; i < held->capacity && held->count > 0; i++)
    count += places_at(held, i)->key != 0 && places_at(held, i)->rank == w->rank;
  return count;
}
