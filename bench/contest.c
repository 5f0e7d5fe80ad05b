/* bench/contest.c: the turns. Every entry is run once to warm up and to be judged; then ours, peer, ours, peer ...,
 * each round with another one first, so that a slow spell of the machine, or what the one before left in caches and
 * page tables, meets all alike. Ratios are formed within a round (report.c). */
#include "contest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define LEAST_ROUNDS   3
#define BUDGET_SECONDS 6.0 /* an entry that used this much stops after LEAST_ROUNDS */
#define BRIEF_SECONDS                                                                             \
  2e-3 /* below, a run would be timed reading what others pushed out of the caches: it goes twice \
        */

void contest_begin(contest *c, bench *b, const char *unit, uint64_t size, uint64_t items, const char *format, ...) {
  *c = (contest){.b = b, .unit = unit, .size = size, .items = items};
  va_list list;
  va_start(list, format);
  vsnprintf(c->name, sizeof c->name, format, list);
  va_end(list);
}

void contest_expect(contest *c, uint64_t count, uint64_t hash) {
  c->has_expected = true;
  c->expected_count = count;
  c->expected_hash = hash;
}

static entry *add(contest *c, const char *name) {
  c->entries = must_grow(c->entries, c->entry_count + 1, sizeof *c->entries);
  entry *e = &c->entries[c->entry_count++];
  *e = (entry){0};
  snprintf(e->name, sizeof e->name, "%s", name);
  return e;
}

entry *contest_rival(contest *c, const char *name, run_function run, void *argument) {
  entry *e = add(c, name);
  e->run = run;
  e->argument = argument;
  return e;
}

entry *contest_ours(contest *c, const char *name, run_function run, void *argument) {
  entry *e = contest_rival(c, name, run, argument);
  e->ours = true;
  return e;
}

entry *contest_left_out(contest *c, const char *name, const char *format, ...) {
  entry *e = add(c, name);
  e->ours = e->failed = true;
  va_list list;
  va_start(list, format);
  vsnprintf(e->note, sizeof e->note, format, list);
  va_end(list);
  return e;
}

static void add_variant(contest *c, peer *p, const char *task, const char *variant, bool no_hash, bool ready) {
  char reason[128] = "the peer program could not read its inputs", name[48];
  snprintf(name, sizeof name, "%.20s/%.24s", p->name, variant);
  ready = ready && peer_ask(p, reason, "prepare %s %s", task, variant) != NULL;
  entry *e = add(c, name);
  e->program = p;
  e->no_hash = no_hash;
  e->failed = !ready;
  snprintf(e->command, sizeof e->command, "%s %s", task, variant);
  if (!ready) snprintf(e->note, sizeof e->note, "%s", reason);
}

/* Drops what the peer holds and sends the setup lines. */
static bool set_up(peer *p, const char *const *setup) {
  bool ready = peer_revive(p) && peer_ask(p, NULL, "drop");
  for (const char *const *line = setup; ready && line && *line; line++) ready = peer_ask(p, NULL, "%s", *line) != NULL;
  return ready;
}

void contest_peers(contest *c, const char *task, bool no_hash, const char *const *setup) {
  size_t length = strlen(task);
  for (size_t i = 0; c->b->peers && i < c->b->peers->count; i++) {
    peer *p = &c->b->peers->peers[i];
    char *offers = text_of("%s", p->offers), *rest = offers, *word;
    bool set = false, ready = false;
    while ((word = strtok_r(rest, " ", &rest))) {
      if (strncmp(word, task, length) || word[length] != ':') continue;
      if (!set) ready = set_up(p, setup);
      set = true;
      add_variant(c, p, task, word + length + 1, no_hash, ready);
    }
    free(offers);
  }
}

static bool parse_answer(const char *text, sample *out) {
  int used = 0;
  *out = (sample){0};
  if (sscanf(text, "%lu %lu %lu %u%n", &out->count, &out->hash, &out->bytes, &out->timed, &used) != 4) return false;
  if (out->timed > BENCH_ITEMS_MAX) return false;
  for (uint32_t i = 0; i < out->timed; i++) {
    char *end;
    text += used;
    out->seconds[i] = strtod(text, &end);
    if (end == text) return false;
    used = (int)(end - text);
  }
  return true;
}

static void run_entry(contest *c, entry *e, bool check, sample *out) {
  double start = seconds_now();
  *out = (sample){0};
  if (e->run) {
    e->run(e->argument, check, out);
    e->failed = out->gave_up[0] != 0;
    if (e->failed) snprintf(e->note, sizeof e->note, "%s", out->gave_up);
  } else {
    char reason[128];
    const char *answer = peer_ask(e->program, reason, "%s %s%s%s", check ? "check" : "run", e->command,
                                  check && c->answers ? " " : "", check && c->answers ? c->answers : "");
    if (!answer || !parse_answer(answer, out)) {
      e->failed = true;
      snprintf(e->note, sizeof e->note, "%s", answer ? "unreadable answer" : reason);
    }
  }
  e->spent += seconds_now() - start;
}

static void judge(contest *c, entry *e) {
  if (c->judge) {
    c->judge(c, e);
    return;
  }
  e->right = !c->has_expected ||
             (e->checked.count == c->expected_count && (e->no_hash || e->checked.hash == c->expected_hash));
  if (c->has_expected)
    e->wrong = e->checked.count > c->expected_count ? e->checked.count - c->expected_count
                                                    : c->expected_count - e->checked.count;
  if (!e->right && !e->wrong) snprintf(e->note, sizeof e->note, "same count but another set");
}

static bool is_brief(const sample *s) {
  double sum = 0;
  for (uint32_t i = 0; i < s->timed; i++) sum += s->seconds[i];
  return sum < BRIEF_SECONDS;
}

/* Times one entry once more unless it has had its share. A timed run must count what the judged run counted. */
static void take_turn(contest *c, entry *e, uint32_t round) {
  double budget = c->budget > 0 ? c->budget : BUDGET_SECONDS;
  if (e->failed || (round >= LEAST_ROUNDS && e->spent > budget)) return;
  sample *s = &e->samples[e->sample_count];
  if (is_brief(&e->checked)) run_entry(c, e, false, s);
  if (!e->failed) run_entry(c, e, false, s);
  if (e->failed) return;
  e->sample_count++;
  if (s->count == e->checked.count) return;
  e->right = false;
  snprintf(e->note, sizeof e->note, "counts differ from run to run");
}

void contest_end(contest *c) {
  uint32_t rounds = (uint32_t)c->b->repeats;
  fprintf(stderr, "%s ...\n", c->name);
  for (size_t i = 0; i < c->entry_count; i++) {
    entry *e = &c->entries[i];
    e->samples = must_alloc(rounds, sizeof *e->samples);
    if (e->failed) continue;
    run_entry(c, e, true, &e->checked);
    if (!e->failed) judge(c, e);
  }
  /* Forth and back, so that nobody always comes after one who leaves the input in the caches. */
  for (uint32_t r = 0; r < rounds; r++) {
    for (size_t i = 0; i < c->entry_count; i++) {
      size_t place = r % 2 == 0 ? i : c->entry_count - 1 - i;
      take_turn(c, &c->entries[(place + r) % c->entry_count], r);
    }
  }
  report_contest(c->b->report, c);
  for (size_t i = 0; i < c->entry_count; i++) {
    c->b->wrong += c->entries[i].ours && !c->entries[i].failed && !c->entries[i].right;
    free(c->entries[i].samples);
  }
  free(c->entries);
}
