/* bench/report.c: one CSV row an entry; the ratios peer / ours, each the median over rounds of the two runs of that
 * round; geometric means by family. */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ratio_row {
  char contest[96], entry[48], note[192];
  double median, ratio; /* ratio 0: ours */
  bool ours, right, failed, alternative;
  uint64_t count, wrong;
} ratio_row;

struct report {
  FILE *file;
  int threads;
  ratio_row *rows;
  size_t row_count;
};

report *report_open(const char *path, bool append, int threads) {
  report *r = must_alloc(1, sizeof *r);
  r->threads = threads;
  r->file = path ? fopen(path, append ? "a" : "w") : stdout;
  if (!r->file) fail("%s: %s", path, strerror(errno));
  if (path && append) fseek(r->file, 0, SEEK_END);
  if (!path || !append || ftell(r->file) == 0)
    fprintf(r->file,
            "workload,size,engine,instruction_set,threads,repeats,median_s,min_s,worst_s,items,unit,ns_per_item,"
            "items_per_s,bytes,count,hash,wrong,ok,note,commit,compiler,cpu\n");
  return r;
}

/* Over the items of an entry: the median (or least) over rounds of each, then median, least or worst item. */
typedef struct summary {
  double median, least, worst;
} summary;

static summary summarise(const entry *e) {
  summary s = {0};
  uint32_t n = e->sample_count ? e->samples[0].timed : 0;
  double item_median[BENCH_ITEMS_MAX], item_least[BENCH_ITEMS_MAX];
  double *rounds = must_alloc(e->sample_count, sizeof *rounds);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t r = 0; r < e->sample_count; r++) rounds[r] = e->samples[r].seconds[i];
    item_median[i] = median_of(rounds, e->sample_count);
    item_least[i] = least_of(rounds, e->sample_count);
  }
  free(rounds);
  s.median = median_of(item_median, n);
  s.least = median_of(item_least, n);
  s.worst = most_of(item_median, n);
  return s;
}

/* Median over the rounds that both ran; over the items that both timed. */
static double ratio_of(const entry *other, const entry *ours) {
  uint32_t rounds = other->sample_count < ours->sample_count ? other->sample_count : ours->sample_count;
  double *ratios = must_alloc(rounds, sizeof *ratios);
  for (uint32_t r = 0; r < rounds; r++) {
    uint32_t n = other->samples[r].timed < ours->samples[r].timed ? other->samples[r].timed : ours->samples[r].timed;
    double own = median_of(ours->samples[r].seconds, n);
    ratios[r] = own > 0 ? median_of(other->samples[r].seconds, n) / own : 0;
  }
  double ratio = median_of(ratios, rounds);
  free(ratios);
  return ratio;
}

static void write_row(report *r, const contest *c, const entry *e) {
  summary s = summarise(e);
  uint32_t timed = e->sample_count ? e->samples[0].timed : 1;
  uint64_t items = timed > 1 ? timed : c->items;
  double each = s.median / (double)(timed > 1 || !c->items ? 1 : c->items);
  const char *ok = e->failed ? "failed" : e->right ? "yes" : e->ours ? "VOID" : "no";
  fprintf(r->file, "%s,%lu,%s,%s,%d,%u,%.9g,%.9g,%.9g,%lu,%s,%.6g,%.6g,%lu,%lu,", c->name, c->size, e->name,
          e->ours ? graze_instruction_set() : "",
          e->threads ? e->threads
          : e->ours  ? r->threads
                     : 1,
          e->sample_count, s.median, s.least, s.worst, items, c->unit, each * 1e9, each > 0 ? 1 / each : 0,
          e->checked.bytes, e->checked.count);
  if (e->no_hash || e->failed)
    fprintf(r->file, ",");
  else
    fprintf(r->file, "%016lx,", e->checked.hash);
  fprintf(r->file, "%lu,%s,", e->wrong, ok);
  for (const char *at = e->note; *at != '\0'; at++)
    putc(*at == ',' ? ';' : *at, r->file); /* names of devices have commas */
  fprintf(r->file, ",%s,%s,%s\n", build_commit(), build_compiler(), machine_cpu());
  fflush(r->file);
}

void report_contest(report *r, const contest *c) {
  const entry *base = NULL;
  for (size_t i = 0; i < c->entry_count; i++) {
    const entry *e = &c->entries[i];
    write_row(r, c, e);
    if (!base && e->ours && !e->failed) base = e;
    r->rows = must_grow(r->rows, r->row_count + 1, sizeof *r->rows);
    ratio_row *row = &r->rows[r->row_count++];
    *row = (ratio_row){.ours = e->ours, .right = e->right, .failed = e->failed, .count = e->checked.count};
    row->alternative = e->alternative;
    row->wrong = e->wrong;
    memcpy(row->contest, c->name, sizeof row->contest);
    memcpy(row->entry, e->name, sizeof row->entry);
    memcpy(row->note, e->note, sizeof row->note);
    row->median = summarise(e).median;
    if (base && e != base && !e->failed) row->ratio = ratio_of(e, base);
  }
}

static const char *time_text(double seconds, char text[32]) {
  const char *unit = seconds < 1e-6 ? "ns" : seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  double scale = seconds < 1e-6 ? 1e9 : seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
  snprintf(text, 32, "%.3g %s", seconds * scale, unit);
  return text;
}

static void print_row(const ratio_row *row, bool first) {
  char text[32], wrong[64] = "";
  if (row->failed) {
    fprintf(stderr, "%-28s %-22s %10s  %s\n", first ? row->contest : "", row->entry, "-", row->note);
    return;
  }
  if (!row->right && row->wrong) snprintf(wrong, sizeof wrong, "WRONG by %lu", row->wrong);
  if (!row->right && !row->wrong) snprintf(wrong, sizeof wrong, "WRONG");
  fprintf(stderr, "%-28s %-22s %10s ", first ? row->contest : "", row->entry, time_text(row->median, text));
  if (row->ratio > 0)
    fprintf(stderr, "%9.2f", row->ratio);
  else
    fprintf(stderr, "%9s", "1");
  fprintf(stderr, "  %10lu  %s %s\n", row->count, wrong, row->note);
}

static bool same_family(const char *a, const char *b) {
  size_t n = strcspn(a, "/");
  return n == strcspn(b, "/") && !strncmp(a, b, n);
}

/* Geometric mean of the ratios of one entry over a family; 0 when it has none. */
static double family_mean(const report *r, const char *workload, const char *engine, size_t *count) {
  double *ratios = must_alloc(r->row_count, sizeof *ratios);
  *count = 0;
  for (size_t i = 0; i < r->row_count; i++)
    if (r->rows[i].ratio > 0 && same_family(r->rows[i].contest, workload) && !strcmp(r->rows[i].entry, engine))
      ratios[(*count)++] = r->rows[i].ratio;
  double mean = geometric_mean(ratios, *count);
  free(ratios);
  return mean;
}

static void print_means(const report *r) {
  fprintf(stderr, "\ngeometric mean of time / ours by family (over 1: ours is faster)\n");
  for (size_t i = 0; i < r->row_count; i++) {
    const ratio_row *row = &r->rows[i];
    bool seen = row->ratio <= 0;
    for (size_t j = 0; j < i && !seen; j++)
      seen = r->rows[j].ratio > 0 && same_family(r->rows[j].contest, row->contest) &&
             !strcmp(r->rows[j].entry, row->entry);
    if (seen) continue;
    size_t count;
    double mean = family_mean(r, row->contest, row->entry, &count);
    fprintf(stderr, "%-10.*s %-22s %9.2f  over %zu\n", (int)strcspn(row->contest, "/"), row->contest, row->entry, mean,
            count);
  }
}

/* The quickest of a contest's rows that `alternative` describes: our alternatives, or the peers. Rows that were wrong
 * count as well: a peer that loses a few pairs is a rival all the same. */
static const ratio_row *quickest(const ratio_row *rows, size_t count, bool alternative) {
  const ratio_row *best = NULL;
  for (size_t i = 0; i < count; i++) {
    bool counts = rows[i].ratio > 0 && (alternative ? rows[i].alternative : !rows[i].ours);
    if (counts && (!best || rows[i].ratio < best->ratio)) best = &rows[i];
  }
  return best;
}

/* Contests in which our first entry picks one of several methods. */
static void print_choices(const report *r) {
  bool titled = false;
  for (size_t i = 0, next; i < r->row_count; i = next) {
    for (next = i; next < r->row_count && !strcmp(r->rows[next].contest, r->rows[i].contest);) next++;
    const ratio_row *own = quickest(&r->rows[i], next - i, true), *rival = quickest(&r->rows[i], next - i, false);
    if (!own || r->rows[i].failed) continue;
    if (!titled) fprintf(stderr, "\n%-32s %9s %-18s %9s\n", "", "auto/best", "own method", "best peer/auto");
    titled = true;
    fprintf(stderr, "%-32s %9.2f %-18s", r->rows[i].contest, 1 / own->ratio, own->entry);
    if (rival) fprintf(stderr, " %9.2f %s%s", rival->ratio, rival->entry, rival->right ? "" : " (WRONG)");
    fputc('\n', stderr);
  }
}

void report_close(report *r) {
  fprintf(stderr, "\n%-28s %-22s %10s %9s  %10s\n", "workload", "engine", "median", "time/ours", "count");
  for (size_t i = 0; i < r->row_count; i++)
    print_row(&r->rows[i], !i || strcmp(r->rows[i].contest, r->rows[i - 1].contest));
  print_means(r);
  print_choices(r);
  if (r->file != stdout && fclose(r->file)) fail("the CSV could not be written: %s", strerror(errno));
  free(r->rows);
  free(r);
}
