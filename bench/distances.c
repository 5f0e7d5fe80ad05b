/* bench/distances.c: what others leave is read from a file of doubles. */
#include "distances.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What the answers of others may be off by, of models with a diagonal of about 1. */
static const double allowance = 1e-9;

distances distances_make(const bench *b, uint32_t count) {
  distances d = {.count = count, .work = ""};
  d.expected = must_alloc(count, sizeof *d.expected);
  d.answers = must_alloc(count, sizeof *d.answers);
  d.path = text_of("%s/distances.bin", b->work_folder);
  return d;
}

void distances_free(distances *d) {
  remove(d->path);
  free(d->path);
  free(d->expected);
  free(d->answers);
}

static bool read_answers(const distances *d) {
  FILE *f = fopen(d->path, "rb");
  if (!f) return false;
  bool good = fread(d->answers, sizeof *d->answers, d->count, f) == d->count;
  fclose(f);
  return good;
}

static void judge(contest *c, entry *e) {
  distances *d = c->judge_argument;
  double worst = 0;
  e->no_hash = true;
  if (e->program && !read_answers(d)) {
    e->failed = true;
    snprintf(e->note, sizeof e->note, "left no answers");
    return;
  }
  for (uint32_t i = 0; i < d->count; i++) {
    double off = fabs(d->answers[i] - d->expected[i]);
    e->wrong += !(off <= (e->ours ? 0 : allowance));
    worst = fmax(worst, off);
  }
  e->right = e->wrong == 0;
  if (e->program)
    snprintf(e->note, sizeof e->note, "off by %.1e at most", worst);
  else
    snprintf(e->note, sizeof e->note, "%s", d->work);
}

void distances_join(contest *c, distances *d) {
  c->judge = judge;
  c->judge_argument = d;
  c->answers = d->path;
}
