/* bench/work_frames.c: frames a second of many moving bodies, as a report on collision of bodies on a GPU tells them: a
 * step, with a picture of it or without.
 *
 * The bed and the law are those of the rows `report`. A picture has 1024 x 768 pixels and every body as an icosahedron
 * of 20 triangles, is drawn off-screen and brought into memory. The report's bodies are polyhedra that collide as their
 * bounding spheres and do not turn; it tells neither their triangles nor scene nor step. A row is right when the state
 * in the end is that of the same steps made at once, and a tenth of the picture or more is of bodies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "draw_bodies.h"
#include "work_bed.h"

enum { WIDTH = 1024, HEIGHT = 768 };

/* Frames a second that the report tells of a GeForce 9600 GT. */
typedef struct frames_told {
  uint32_t count, before;
  double plain, drawn;
} frames_told;

typedef struct frames {
  const frames_told *told;
  graze_world *world;
  char *path;
  uint32_t steps;
  uint64_t hash;        /* after them */
  draw_bodies *drawing; /* NULL: without pictures */
  double *places;
} frames;

static void run_steps(void *argument, bool check, sample *out) {
  frames *f = argument;
  (void)check;
  must(graze_world_restore(f->world, f->path), f->path);
  const double start = seconds_now();
  must(graze_world_step(f->world, BED_STEP, f->steps, NULL, NULL), "the steps");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->hash = graze_world_get_hash(f->world);
}

static void judge(contest *c, entry *e) {
  const frames *f = c->judge_argument;
  e->right = e->checked.hash == f->hash;
  snprintf(e->note, sizeof e->note, "the report: %g frames/s on a GeForce 9600 GT", f->told->plain);
}

static void contend(bench *b, frames *f, const char *name, run_function run, void (*judged)(contest *c, entry *e)) {
  contest c;
  sample expected = {0};
  run_steps(f, true, &expected);
  f->hash = expected.hash;
  contest_begin(&c, b, "frame", f->told->count, f->steps, "%s/%u", name, f->told->count);
  c.judge = judged;
  c.judge_argument = f;
  contest_ours(&c, "cpu", run, f);
  contest_end(&c);
}

/* ---- with pictures ----------------------------------------------------------------------------------------------- */

#ifdef BENCH_GL
static void take_places(frames *f) {
  const graze_particle_state state = {.positions = f->places};
  must(graze_world_get_particles(f->world, 0, &state), "the state");
}

/* The last picture tells how many pixels are of bodies. */
static void run_drawn(void *argument, bool check, sample *out) {
  frames *f = argument;
  const uint8_t *picture = NULL;
  (void)check;
  must(graze_world_restore(f->world, f->path), f->path);
  const double start = seconds_now();
  for (uint32_t i = 0; i < f->steps; i++) {
    must(graze_world_step(f->world, BED_STEP, 1, NULL, NULL), "a step");
    take_places(f);
    picture = draw_bodies_at(f->drawing, f->places);
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->hash = graze_world_get_hash(f->world);
  for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) out->count += picture[4 * i + 3] > 0;
}

static void judge_drawn(contest *c, entry *e) {
  const frames *f = c->judge_argument;
  e->right = e->checked.hash == f->hash && e->checked.count >= WIDTH * HEIGHT / 10;
  snprintf(e->note, sizeof e->note, "the report: %g frames/s on a GeForce 9600 GT; drawn by %.60s", f->told->drawn,
           draw_bodies_device(f->drawing));
}

/* Where there is no OpenGL the row is left out. */
static void with_pictures(bench *b, frames *f) {
  f->places = must_alloc(3 * (size_t)f->told->count, sizeof *f->places);
  take_places(f);
  f->drawing = draw_bodies_begin(WIDTH, HEIGHT, f->told->count, 0.5, f->places);
  if (f->drawing)
    contend(b, f, "report_frames_drawn", run_drawn, judge_drawn);
  else
    fprintf(stderr, "report_frames_drawn/%u: left out: there is no OpenGL\n", f->told->count);
  draw_bodies_end(f->drawing);
  free(f->places);
}
#else
static void with_pictures(bench *b, const frames *f) {
  (void)b, (void)f;
}
#endif

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Without pictures a step is soon made. */
static void one_size(bench *b, const frames_told *told) {
  const bool plain = bench_wants(b, "report_frames/%u", told->count);
  const bool drawn = bench_wants(b, "report_frames_drawn/%u", told->count);
  frames f = {.told = told};
  if (!plain && !drawn) return;
  f.world = make_bed_world(b->context, told->count, GRAZE_TANGENTIAL_FULL, GRAZE_DOUBLE);
  f.path = text_of("%s/frames.state", b->work_folder);
  must(graze_world_step(f.world, BED_STEP, told->before, NULL, NULL), "the steps before");
  must(graze_world_save(f.world, f.path), f.path);
  f.steps = 100;
  if (plain) contend(b, &f, "report_frames", run_steps, judge);
  f.steps = 20;
  if (drawn) with_pictures(b, &f);
  remove(f.path);
  free(f.path);
  graze_world_destroy(f.world);
}

void work_report_frames(bench *b) {
  static const frames_told all[] = {
      {1024, 4000, 210, 167}, {4096, 6000, 190, 84}, {16384, 8000, 110, 30}, {65536, 9000, 60, 10}};
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    if (!b->quick || all[i].count < 16384) one_size(b, &all[i]);
  }
}
