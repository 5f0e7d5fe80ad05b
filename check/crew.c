/* What the members of a check tell each other; see crew.h. */
#include "crew.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_print.h"

/* How a member fares: comes before whatever it has to say. */
typedef struct crew_head {
  uint64_t status, place;
  char message[512];
} crew_head;

/* What all have said. */
typedef struct crew_words {
  const char *bytes; /* heads among them */
  const uint64_t *sizes;
} crew_words;

bool gz_crew_shares(const graze_check *c) {
  return c->def.crew != NULL && c->lazy;
}

bool gz_crew_is_mine(const graze_check *c, uint64_t number) {
  return number % c->def.crew->members == c->def.crew->member;
}

/* ---- exchanging ---- */

static graze_status first_failure(graze_check *c, const crew_words *words) {
  const crew_head *first = NULL;
  const char *at = words->bytes;
  for (uint32_t m = 0; m < c->def.crew->members; at += words->sizes[m++]) {
    const crew_head *head = (const crew_head *)(const void *)at;
    if (head->status != GRAZE_OK && (first == NULL || head->place < first->place)) first = head;
  }
  if (first == NULL) return GRAZE_OK;
  c->crew_ended = true;
  return gz_fail(c->context, (graze_status)first->status, "%s", first->message);
}

/* `size` bytes of this member, behind room for a head, go to all. */
static graze_status exchange(graze_check *c, graze_status status, uint64_t place, char *mine, uint64_t size,
                             crew_words *words) {
  const graze_check_crew *crew = c->def.crew;
  const graze_error *error = graze_last_error(c->context);
  crew_head *head = (crew_head *)(void *)mine;
  const void *all = NULL;
  memset(head, 0, sizeof *head);
  head->status = (uint64_t)status;
  head->place = place;
  if (status != GRAZE_OK)
    snprintf(head->message, sizeof head->message, "%s",
             error->status == status ? error->message : graze_status_string(status));
  const graze_status sent =
      crew->exchange(crew->user, mine, sizeof *head + (status == GRAZE_OK ? size : 0), &all, &words->sizes);
  if (sent != GRAZE_OK) {
    c->crew_ended = true;
    return gz_fail(c->context, sent, "the members of the check cannot reach each other");
  }
  words->bytes = all;
  return first_failure(c, words);
}

void gz_crew_fail(const graze_check_crew *crew, graze_status status) {
  crew_head head = {.status = (uint64_t)status, .place = UINT64_MAX};
  const void *all = NULL;
  const uint64_t *sizes = NULL;
  snprintf(head.message, sizeof head.message, "%s", graze_status_string(status));
  crew->exchange(crew->user, &head, sizeof head, &all, &sizes);
}

graze_status gz_crew_agree(graze_check *c, graze_status status, uint64_t place) {
  crew_head head;
  crew_words words;
  if (c->def.crew == NULL || c->crew_ended) return status;
  return exchange(c, status, place, (char *)&head, 0, &words);
}

/* Room for what this member says, behind the head. NULL: refused, which the others are told. */
static char *make_room(graze_check *c, uint64_t size) {
  char *mine = gz_check_alloc(c, sizeof(crew_head) + size, 1);
  if (mine == NULL) gz_crew_agree(c, GRAZE_ERROR_MEMORY, c->def.crew->member);
  return mine;
}

static char *room_of(char *mine) {
  return mine + sizeof(crew_head);
}

/* Calls take(c, member, bytes, size) for each. */
static graze_status for_each(graze_check *c, const crew_words *words,
                             graze_status (*take)(graze_check *c, const char *bytes, uint64_t size)) {
  const char *at = words->bytes;
  graze_status status = GRAZE_OK;
  for (uint32_t m = 0; m < c->def.crew->members && status == GRAZE_OK; at += words->sizes[m++])
    status = take(c, at + sizeof(crew_head), words->sizes[m] - sizeof(crew_head));
  return gz_crew_agree(c, status, c->def.crew->member);
}

/* ---- files ---- */

/* The first path that a member sees otherwise than member 0. What nobody can open is told by who reads it. */
static graze_status judge_prints(graze_check *c, const char *const *paths, uint32_t count, const crew_words *words) {
  const uint64_t stride = sizeof(crew_head) + count * sizeof(file_print);
  for (uint32_t i = 0; i < count; i++) {
    const file_print *first = (const file_print *)(const void *)(words->bytes + sizeof(crew_head)) + i;
    bool anywhere = false;
    for (uint32_t pass = 0; pass < 2; pass++) {
      for (uint32_t m = 0; m < c->def.crew->members; m++) {
        const file_print *p = (const file_print *)(const void *)(words->bytes + m * stride + sizeof(crew_head)) + i;
        if (pass == 0) {
          anywhere |= p->error == 0;
        } else if (anywhere && p->error != 0) {
          return gz_fail(c->context, GRAZE_ERROR_FILE, "rank %" PRIu32 ": %.300s: cannot open: %s", m, paths[i],
                         strerror((int)p->error));
        } else if (anywhere && memcmp(p, first, sizeof *p) != 0) {
          return gz_fail(c->context, GRAZE_ERROR_FILE, "rank %" PRIu32 ": %.300s: is another file than that of rank 0",
                         m, paths[i]);
        }
      }
    }
  }
  return GRAZE_OK;
}

graze_status gz_crew_compare(graze_check *c, const char *const *paths, uint32_t count) {
  crew_words words;
  if (c->def.crew == NULL) return GRAZE_OK;
  char *mine = make_room(c, count * sizeof(file_print));
  if (mine == NULL) return GRAZE_ERROR_MEMORY;
  file_print *prints = (file_print *)(void *)room_of(mine);
  for (uint32_t i = 0; i < count; i++) prints[i] = gz_file_print_of(paths[i]);
  graze_status status = exchange(c, GRAZE_OK, 0, mine, count * sizeof *prints, &words);
  return status == GRAZE_OK ? judge_prints(c, paths, count, &words) : status; /* all judge alike */
}

/* ---- facts of meshes ---- */

typedef struct crew_facts {
  uint64_t mesh;
  bool solid_known, floats;
  double rounding;
  graze_mesh_facts facts;
  graze_solid_facts solid;
} crew_facts;

static crew_facts facts_of(const graze_check *c, uint32_t i) {
  const check_mesh *m = &c->meshes[i];
  return (crew_facts){i, m->solid_known, m->floats, m->rounding, m->facts, m->solid};
}

static graze_status take_facts(graze_check *c, const char *bytes, uint64_t size) {
  for (uint64_t at = 0; at < size; at += sizeof(crew_facts)) {
    const crew_facts *f = (const crew_facts *)(const void *)(bytes + at);
    check_mesh *m = &c->meshes[f->mesh];
    if (m->measured && m->facts.hash != f->facts.hash)
      return gz_fail(c->context, GRAZE_ERROR_FILE, "%s: it changed while it was read", m->path);
    if (m->measured && !f->facts.adjacency) continue;
    m->measured = true;
    m->facts = f->facts;
    m->solid = f->solid;
    m->solid_known = f->solid_known;
    m->floats = f->floats;
    m->rounding = f->rounding;
  }
  return GRAZE_OK;
}

/* Those of meshes from `first` on that has(c, i) chooses. */
static graze_status share(graze_check *c, uint32_t first, bool (*has)(const graze_check *c, uint32_t i)) {
  crew_words words;
  uint32_t count = 0;
  char *mine = make_room(c, (uint64_t)(c->mesh_count - first) * sizeof(crew_facts));
  if (mine == NULL) return GRAZE_ERROR_MEMORY;
  crew_facts *facts = (crew_facts *)(void *)room_of(mine);
  for (uint32_t i = first; i < c->mesh_count; i++) {
    if (has(c, i)) facts[count++] = facts_of(c, i);
  }
  graze_status status = exchange(c, GRAZE_OK, 0, mine, count * sizeof *facts, &words);
  return status == GRAZE_OK ? for_each(c, &words, take_facts) : status;
}

static bool has_measured(const graze_check *c, uint32_t i) {
  return gz_crew_is_mine(c, i) && c->meshes[i].measured;
}

static bool knows_all(const graze_check *c, uint32_t i) {
  return c->meshes[i].facts.adjacency;
}

graze_status gz_crew_share_measures(graze_check *c, uint32_t first) {
  return gz_crew_shares(c) ? share(c, first, has_measured) : GRAZE_OK;
}

graze_status gz_crew_share_facts(graze_check *c) {
  return gz_crew_shares(c) ? share(c, 0, knows_all) : GRAZE_OK;
}

/* ---- pairs ---- */

/* A pair goes with its lists behind it, each filled up to a multiple of 8 bytes: triangles, starts and points of the
 * curve. */
typedef struct pair_lists {
  uint64_t triangles, starts, points; /* bytes */
} pair_lists;

static uint64_t filled(uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

static pair_lists lists_of(const graze_object_pair *p) {
  const graze_outline *o = &p->outline;
  pair_lists l = {0};
  if (p->pairs != NULL) l.triangles = p->counts.triangle_pairs * sizeof *p->pairs;
  if (o->starts != NULL) l.starts = (uint64_t)(o->count + 1) * sizeof *o->starts;
  if (o->starts != NULL) l.points = o->starts[o->count] * sizeof o->points[0];
  return l;
}

static uint64_t size_of_pairs(const graze_check *c) {
  uint64_t size = 0;
  for (uint64_t i = 0; i < c->result.pair_count; i++) {
    const pair_lists l = lists_of(&c->result.pairs[i]);
    size += filled(sizeof(graze_object_pair)) + filled(l.triangles) + filled(l.starts) + filled(l.points);
  }
  return size;
}

static char *append(char *at, const void *bytes, uint64_t size) {
  if (size > 0) memcpy(at, bytes, size);
  memset(at + size, 0, filled(size) - size);
  return at + filled(size);
}

static void write_pairs(const graze_check *c, char *at) {
  for (uint64_t i = 0; i < c->result.pair_count; i++) {
    const graze_object_pair *p = &c->result.pairs[i];
    const pair_lists l = lists_of(p);
    at = append(at, p, sizeof *p);
    at = append(at, p->pairs, l.triangles);
    at = append(at, p->outline.starts, l.starts);
    at = append(at, p->outline.points, l.points);
  }
}

/* Reads a pair whose pointers are those of another process; returns what comes behind it. */
static char *read_pair(char *at, graze_object_pair *p) {
  graze_outline *o = &p->outline;
  memcpy(p, at, sizeof *p);
  at += filled(sizeof *p);
  if (p->pairs != NULL) {
    p->pairs = (const graze_triangle_pair *)(void *)at;
    at += filled(p->counts.triangle_pairs * sizeof *p->pairs);
  }
  if (o->starts == NULL) return at;
  o->starts = (const uint32_t *)(void *)at;
  at += filled((uint64_t)(o->count + 1) * sizeof *o->starts);
  o->points = (const double(*)[3])(void *)at;
  return at + filled(o->starts[o->count] * sizeof o->points[0]);
}

static int compare_pairs(const void *x, const void *y) {
  const graze_object_pair *p = x, *q = y;
  if (p->user_id_a != q->user_id_a) return p->user_id_a < q->user_id_a ? -1 : 1;
  return p->user_id_b < q->user_id_b ? -1 : p->user_id_b > q->user_id_b;
}

/* The number of a member's pairs stands before them. */
static uint64_t count_of(const char *bytes) {
  uint64_t count = 0;
  memcpy(&count, bytes + sizeof(crew_head), sizeof count);
  return count;
}

/* All pairs, in memory of the check. */
static graze_status take_pairs(graze_check *c, const crew_words *words) {
  const uint32_t members = c->def.crew->members;
  uint64_t count = 0, size = 0, at = 0;
  for (uint32_t m = 0; m < members; size += words->sizes[m++]) count += count_of(words->bytes + size);
  char *kept = gz_check_alloc(c, size, 1);
  graze_object_pair *pairs = gz_check_alloc(c, count, sizeof *pairs);
  if (kept == NULL || pairs == NULL) return GRAZE_ERROR_MEMORY;
  memcpy(kept, words->bytes, size);
  size = 0;
  for (uint32_t m = 0; m < members; size += words->sizes[m++]) {
    char *next = kept + size + sizeof(crew_head) + sizeof(uint64_t);
    for (uint64_t end = at + count_of(kept + size); at < end; at++) next = read_pair(next, &pairs[at]);
  }
  qsort(pairs, count, sizeof *pairs, compare_pairs);
  c->result.pairs = pairs;
  c->result.pair_count = count;
  return GRAZE_OK;
}

graze_status gz_crew_share_pairs(graze_check *c) {
  crew_words words;
  if (c->def.crew == NULL) return GRAZE_OK;
  const uint64_t size = sizeof(uint64_t) + size_of_pairs(c);
  char *mine = make_room(c, size);
  if (mine == NULL) return GRAZE_ERROR_MEMORY;
  memcpy(room_of(mine), &c->result.pair_count, sizeof(uint64_t));
  write_pairs(c, room_of(mine) + sizeof(uint64_t));
  graze_status status = exchange(c, GRAZE_OK, 0, mine, size, &words);
  if (status != GRAZE_OK) return status;
  return gz_crew_agree(c, take_pairs(c, &words), c->def.crew->member);
}
