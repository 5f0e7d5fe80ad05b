/* What a blast throws and what that hits: when and how first, in one run; how often and how hard, over many seeds. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "simulate.h"
#include "table.h"

/* A body or a wall. */
typedef struct target {
  bool flies;  /* thrown itself: not hit by others that are */
  bool is_hit; /* in the present run: first by whom, when, where */
  graze_member by;
  uint64_t step;
  double time, point[3], speed, energy;
  uint64_t runs; /* in which it was hit, of those that are over */
  double most;   /* energy of all hits */
} target;

struct simulate_hits {
  target *targets;       /* objects, then walls */
  uint32_t count, still; /* of them, how many are not thrown */
  double **masses;       /* of each set with a blast; NULL: it has none */
  double *thrown;        /* of rigid bodies: the mass of each that is thrown */
  uint64_t runs;
};

/* ---- following --------------------------------------------------------------------------------------------------- */

static bool has_blast(const graze_scene_file *file) {
  for (uint32_t i = 0; i < file->particle_set_count; i++) {
    if (file->particles[i].blast.given) return true;
  }
  for (uint32_t i = 0; i < file->object_count; i++) {
    if (file->objects[i].body.blast.given) return true;
  }
  return false;
}

static double *masses_of(const simulate_run *run, uint32_t set) {
  double *masses = malloc(((size_t)graze_world_get_particle_count(run->world, set) + 1) * sizeof *masses);
  if (!masses) fail_out_of_memory();
  must(run->session.context, graze_world_get_masses(run->world, set, masses));
  return masses;
}

/* Masses do not change from seed to seed. */
static void list_thrown(const simulate_run *run, simulate_hits *hits) {
  const graze_scene_file *file = &run->file;
  for (uint32_t i = 0; i < file->particle_set_count; i++) {
    if (file->particles[i].blast.given) hits->masses[i] = masses_of(run, i);
  }
  for (uint32_t i = 0; i < file->object_count; i++) {
    graze_rigid_body_def body;
    if (!file->objects[i].body.blast.given) continue;
    must(run->session.context, graze_rigid_get_body(run->rigid, i, &body));
    hits->thrown[i] = body.mass;
    hits->targets[i].flies = true;
    hits->still--;
  }
}

simulate_hits *simulate_hits_open(const simulate_run *run) {
  const graze_scene_file *file = &run->file;
  if (!has_blast(file)) return NULL;
  simulate_hits *hits = calloc(1, sizeof *hits);
  if (!hits) fail_out_of_memory();
  hits->count = hits->still = file->object_count + file->simulation.wall_count;
  hits->targets = calloc((size_t)hits->count + 1, sizeof *hits->targets);
  hits->masses = calloc((size_t)file->particle_set_count + 1, sizeof *hits->masses);
  hits->thrown = calloc((size_t)file->object_count + 1, sizeof *hits->thrown);
  if (!hits->targets || !hits->masses || !hits->thrown) fail_out_of_memory();
  list_thrown(run, hits);
  return hits;
}

void simulate_hits_free(const simulate_run *run) {
  if (!run->hits) return;
  for (uint32_t i = 0; i < run->file.particle_set_count; i++) free(run->hits->masses[i]);
  free(run->hits->masses);
  free(run->hits->thrown);
  free(run->hits->targets);
  free(run->hits);
}

/* NULL: nothing that is hit. */
static target *target_of(const simulate_run *run, const graze_member *member) {
  if (member->kind == GRAZE_MEMBER_PARTICLE) return NULL;
  target *t = &run->hits->targets[member->index + (member->kind == GRAZE_MEMBER_WALL ? run->file.object_count : 0)];
  return t->flies ? NULL : t;
}

/* The mass of what a blast threw; 0: none did. */
static double thrown_mass(const simulate_run *run, const graze_member *member) {
  const double *masses = member->kind == GRAZE_MEMBER_PARTICLE ? run->hits->masses[member->set]
                         : member->kind == GRAZE_MEMBER_BODY   ? run->hits->thrown
                                                               : NULL;
  return masses ? masses[member->index] : 0;
}

/* Of a hit, what is told of it; `before` the end of its step, by the relative velocity. */
static void take_hit(const simulate_run *run, const graze_member members[2], uint64_t step, double before,
                     const double point[3], const double u[3]) {
  const bool a_flies = thrown_mass(run, &members[0]) > 0;
  const graze_member *by = &members[a_flies ? 0 : 1];
  const double mass = thrown_mass(run, by), speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  target *hit = mass > 0 ? target_of(run, &members[a_flies ? 1 : 0]) : NULL;
  if (!hit) return;
  const double time = simulate_step_time(run, step) - before, energy = 0.5 * mass * speed2;
  if (!hit->is_hit || time < hit->time) {
    hit->is_hit = true;
    hit->by = *by;
    hit->step = step;
    hit->time = time;
    hit->speed = sqrt(speed2);
    hit->energy = energy;
    memcpy(hit->point, point, sizeof hit->point);
  }
  hit->most = fmax(hit->most, energy);
}

/* A contact of balls began within the step before the state that is told of, which they reached at constant velocity.
 */
static void take_events(const simulate_run *run, const graze_contact_event *events, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    const graze_contact_event *event = &events[i];
    if (event->kind != GRAZE_CONTACT_BEGAN || !(event->speed > 0)) continue;
    take_hit(run, (const graze_member[2]){event->a, event->b}, event->step,
             fmin(event->overlap / event->speed, run->dt), event->point, event->velocity);
  }
}

void simulate_hits_take(const simulate_run *run, const graze_contact_event *events, uint64_t count) {
  const graze_rigid_impact *impacts;
  if (!run->hits) return;
  if (!run->rigid) {
    take_events(run, events, count);
    return;
  }
  must(run->session.context, graze_rigid_get_impacts(run->rigid, &impacts, &count));
  for (uint64_t i = 0; i < count; i++) {
    const graze_rigid_impact *impact = &impacts[i];
    if (!(impact->speed > 0)) continue;
    take_hit(run, (const graze_member[2]){impact->a, impact->b}, impact->step, impact->before, impact->point,
             impact->velocity);
  }
}

void simulate_hits_begin_run(const simulate_run *run) {
  for (uint32_t i = 0; i < run->hits->count; i++) run->hits->targets[i].is_hit = false;
}

void simulate_hits_end_run(const simulate_run *run) {
  for (uint32_t i = 0; i < run->hits->count; i++) run->hits->targets[i].runs += run->hits->targets[i].is_hit;
  run->hits->runs++;
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

static char *target_name(const simulate_run *run, const target *hit) {
  const uint32_t i = (uint32_t)(hit - run->hits->targets), objects = run->file.object_count;
  const graze_member member = {i < objects ? GRAZE_MEMBER_BODY : GRAZE_MEMBER_WALL, 0, i < objects ? i : i - objects};
  return simulate_name(run, &member);
}

static int compare_times(const void *a, const void *b) {
  const target *const *x = a, *const *y = b;
  if ((*x)->time != (*y)->time) return (*x)->time < (*y)->time ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

static int compare_runs(const void *a, const void *b) {
  const target *const *x = a, *const *y = b;
  if ((*x)->runs != (*y)->runs) return (*x)->runs > (*y)->runs ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

/* Those that were hit, sorted; to be freed. */
static const target **list_hit(const simulate_hits *hits, bool in_this_run, uint32_t *count) {
  const target **list = malloc(((size_t)hits->count + 1) * sizeof *list);
  if (!list) fail_out_of_memory();
  *count = 0;
  for (uint32_t i = 0; i < hits->count; i++) {
    if (in_this_run ? hits->targets[i].is_hit : hits->targets[i].runs > 0) list[(*count)++] = &hits->targets[i];
  }
  if (*count > 0) qsort(list, *count, sizeof *list, in_this_run ? compare_times : compare_runs);
  return list;
}

void simulate_hits_put_first(gz_json *writer, const simulate_run *run) {
  uint32_t count;
  const target **list = list_hit(run->hits, true, &count);
  gz_json_open(writer, "first_hits", '[');
  for (uint32_t i = 0; i < count; i++) {
    char *name = target_name(run, list[i]), *by = simulate_name(run, &list[i]->by);
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "object", name);
    gz_json_text(writer, "by", by);
    gz_json_integer(writer, "step", list[i]->step);
    gz_json_double(writer, "time", list[i]->time);
    gz_json_doubles(writer, "point", list[i]->point, 3);
    gz_json_double(writer, "speed", list[i]->speed);
    gz_json_double(writer, "energy", list[i]->energy);
    gz_json_close(writer);
    free(name);
    free(by);
  }
  gz_json_close(writer);
  free(list);
}

static void put_number(table *rows, const char *format, double x) {
  char text[32];
  snprintf(text, sizeof text, format, x);
  table_text(rows, text);
}

void simulate_hits_print_first(output *out, const simulate_run *run) {
  static const table_column columns[] = {{"first_hit", true}, {"by", true}, {"time", false}, {"speed", false},
                                         {"energy", false},   {"x", false}, {"y", false},    {"z", false}};
  table rows = table_begin(columns, 8);
  uint32_t count;
  const target **list = list_hit(run->hits, true, &count);
  for (uint32_t i = 0; i < count; i++) {
    char *name = target_name(run, list[i]), *by = simulate_name(run, &list[i]->by);
    table_text(&rows, name);
    table_text(&rows, by);
    put_number(&rows, "%.6g", list[i]->time);
    put_number(&rows, "%.4g", list[i]->speed);
    put_number(&rows, "%.4g", list[i]->energy);
    for (int k = 0; k < 3; k++) put_number(&rows, "%.4g", list[i]->point[k]);
    free(name);
    free(by);
  }
  if (count > 0)
    table_write_text(&rows, out);
  else
    gz_put_text(out, "nothing was hit\n");
  gz_put_text(out, "\n");
  table_free(&rows);
  free(list);
}

/* ---- many runs --------------------------------------------------------------------------------------------------- */

/* E. B. Wilson's bounds of 95 % (1927) of what happened in k of n runs. */
static void find_bounds(uint64_t k, uint64_t n, double *low, double *high) {
  const double z = 1.959963984540054, z2 = z * z, runs = (double)n, p = (double)k / runs;
  const double middle = (p + z2 / (2 * runs)) / (1 + z2 / runs);
  const double half = z / (1 + z2 / runs) * sqrt(p * (1 - p) / runs + z2 / (4 * runs * runs));
  *low = k == 0 ? 0 : middle - half;
  *high = k == n ? 1 : middle + half;
}

void simulate_hits_put(gz_json *writer, const simulate_run *run) {
  const simulate_hits *hits = run->hits;
  gz_json_open(writer, "hits", '[');
  for (uint32_t i = 0; i < hits->count && hits->runs > 0; i++) {
    const target *hit = &hits->targets[i];
    if (hit->flies) continue;
    char *name = target_name(run, hit);
    double low, high;
    find_bounds(hit->runs, hits->runs, &low, &high);
    gz_json_open(writer, NULL, '{');
    gz_json_text(writer, "object", name);
    gz_json_integer(writer, "runs", hit->runs);
    gz_json_double(writer, "probability", (double)hit->runs / (double)hits->runs);
    gz_json_double(writer, "low", low);
    gz_json_double(writer, "high", high);
    gz_json_double(writer, "energy", hit->most);
    gz_json_close(writer);
    free(name);
  }
  gz_json_close(writer);
}

void simulate_hits_put_csv(output *out, const simulate_run *run) {
  const simulate_hits *hits = run->hits;
  gz_put_text(out, "object,runs,probability,low,high,energy\n");
  for (uint32_t i = 0; i < hits->count; i++) {
    const target *hit = &hits->targets[i];
    if (hit->flies) continue;
    char *name = target_name(run, hit);
    double numbers[4] = {(double)hit->runs / (double)hits->runs, 0, 0, hit->most};
    find_bounds(hit->runs, hits->runs, &numbers[1], &numbers[2]);
    write_csv_field(out, name);
    gz_put_text(out, ",");
    gz_put_integer(out, hit->runs);
    simulate_put_numbers(out, numbers, 4);
    gz_put_text(out, "\n");
    free(name);
  }
}

void simulate_hits_print(output *out, const simulate_run *run) {
  static const table_column columns[] = {{"object", true}, {"runs", false}, {"probability", false},
                                         {"low", false},   {"high", false}, {"energy", false}};
  const simulate_hits *hits = run->hits;
  table rows = table_begin(columns, 6);
  uint32_t count;
  const target **list = list_hit(hits, false, &count);
  double low, high;
  for (uint32_t i = 0; i < count; i++) {
    char *name = target_name(run, list[i]);
    find_bounds(list[i]->runs, hits->runs, &low, &high);
    table_text(&rows, name);
    table_integer(&rows, list[i]->runs);
    put_number(&rows, "%.4g", (double)list[i]->runs / (double)hits->runs);
    put_number(&rows, "%.4g", low);
    put_number(&rows, "%.4g", high);
    put_number(&rows, "%.4g", list[i]->most);
    free(name);
  }
  table_write_text(&rows, out);
  table_free(&rows);
  free(list);
  output_print(out, "\n%" PRIu32 " of %" PRIu32 " hit", count, hits->still);
  if (count < hits->still && hits->runs > 0) {
    find_bounds(0, hits->runs, &low, &high);
    output_print(out, "; the probability of the others is at most %.4g", high);
  }
  output_print(out, "\n%" PRIu64 " run%s, from seed %" PRIu64 " on", hits->runs, plural(hits->runs), run->asked->seed);
  if (run->left_runs > 0) output_print(out, "; in %" PRIu64 " of them something left the bounds", run->left_runs);
  gz_put_text(out, "\n");
}

graze_track_chance *simulate_hits_list(const simulate_run *run, uint32_t *count) {
  const simulate_hits *hits = run->hits;
  graze_track_chance *chances = calloc((size_t)hits->count + 1, sizeof *chances);
  if (!chances) fail_out_of_memory();
  *count = 0;
  for (uint32_t i = 0; i < hits->count; i++) {
    const target *hit = &hits->targets[i];
    graze_track_chance *chance = &chances[*count];
    if (hit->flies) continue;
    *chance = (graze_track_chance){.member = i, .runs = hit->runs, .energy = hit->most};
    find_bounds(hit->runs, hits->runs, &chance->low, &chance->high);
    ++*count;
  }
  return chances;
}
