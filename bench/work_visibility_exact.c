/* bench/work_visibility_exact.c: from raw arrays to the exact pairs of triangles that meet, with nothing prepared:
 * by pictures of each pair of boxes that meet, beside the processor, which bakes hierarchies for the question, or
 * refits those that it has.
 *
 * A row is right when pairs of triangles, and hashes of them, are those that hierarchies give.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "contest.h"
#include "graze/visibility.h"
#include "models.h"
#include "tree.h"

enum { MOST_OBJECTS = 160, FRAMES = 8 };

static const double frame_seconds = 0.3; /* from frame to frame */

typedef struct exact_job {
  bench *b;
  graze_visibility *pictures; /* of ours, by entry */
  bool refit;                 /* of the processor's entries: leaves keep their hierarchies */
  struct exact_scene *scene;
} exact_job;

typedef struct exact_scene {
  uint32_t count, frames;
  graze_mesh_def arrays[MOST_OBJECTS];
  scenes_scene *tree; /* NULL: nothing moves */
  /* The processor's, by object and by worker. */
  graze_context *context;
  graze_mesh *meshes[MOST_OBJECTS];
  graze_query **queries;
  graze_broadphase *broad;
  const graze_box_pair *pairs;
  struct exact_sum *sums;
  bool refit;
} exact_scene;

typedef struct exact_sum {
  uint64_t count, hash;
} exact_sum;

static exact_sum sum_of(uint32_t a, uint32_t b, const graze_counts *counts) {
  return (exact_sum){counts->triangle_pairs, splitmix64((uint64_t)a << 32 | b) * counts->hash};
}

static void move_to(const exact_scene *s, uint32_t frame) {
  if (s->tree) tree_move(s->tree, frame_seconds * frame);
}

/* ---- pictures ---- */

static void run_pictures(void *argument, bool check, sample *out) {
  exact_job *j = argument;
  graze_visibility_object objects[MOST_OBJECTS];
  graze_visibility_def def = graze_default_visibility_def();
  (void)check;
  for (uint32_t i = 0; i < j->scene->count; i++) objects[i] = (graze_visibility_object){.arrays = &j->scene->arrays[i]};
  def.objects = objects;
  def.object_count = j->scene->count;
  out->timed = j->scene->frames;
  for (uint32_t f = 0; f < j->scene->frames; f++) {
    graze_visibility_contacts found;
    move_to(j->scene, f);
    const double start = seconds_now();
    must(graze_visibility_collide(j->pictures, &def, NULL, &found), "graze_visibility_collide");
    out->seconds[f] = seconds_now() - start;
    for (uint64_t i = 0; i < found.count; i++) {
      const exact_sum sum = sum_of(found.list[i].a, found.list[i].b, &found.list[i].counts);
      out->count += sum.count;
      out->hash += sum.hash;
    }
  }
}

/* ---- the processor ---- */

static void bake_some(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  exact_scene *s = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    if (s->refit && s->meshes[i]) {
      if (i > 0)
        must(graze_mesh_refit(s->meshes[i], s->arrays[i].vertices, s->arrays[i].vertex_stride), "graze_mesh_refit");
      continue;
    }
    graze_mesh_destroy(s->meshes[i]);
    must(graze_mesh_create(s->context, &s->arrays[i], &s->meshes[i]), "graze_mesh_create");
  }
}

static void collide_some(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  exact_scene *s = argument;
  graze_collide_options count = graze_default_collide_options();
  count.find = GRAZE_FIND_ALL;
  for (uint32_t i = begin; i < end; i++) {
    const graze_box_pair p = s->pairs[i];
    graze_collide_result r;
    must(graze_collide_meshes(s->queries[worker], s->meshes[p.a], NULL, s->meshes[p.b], NULL, &count, &r),
         "graze_collide_meshes");
    s->sums[i] = sum_of(p.a, p.b, &r.counts);
  }
}

static exact_sum ask_processor(exact_scene *s) {
  graze_box boxes[MOST_OBJECTS];
  uint64_t pairs = 0;
  exact_sum sum = {0};
  const graze_box_array array = {.data = boxes, .precision = GRAZE_DOUBLE};
  if (s->count > 2)
    gz_parallel_for(s->context, s->count, 1, bake_some, s);
  else
    bake_some(s, 0, s->count, 0); /* each of them by all threads */
  for (uint32_t i = 0; i < s->count; i++) {
    graze_mesh_facts facts;
    graze_mesh_get_facts(s->meshes[i], &facts);
    boxes[i] = facts.box;
  }
  must(graze_broadphase_find(s->broad, &array, s->count, false, &s->pairs, &pairs), "graze_broadphase_find");
  s->sums = must_grow(s->sums, pairs + 1, sizeof *s->sums);
  if (pairs > 1)
    gz_parallel_for(s->context, (uint32_t)pairs, 4, collide_some, s);
  else
    collide_some(s, 0, (uint32_t)pairs, 0);
  for (uint64_t i = 0; i < pairs; i++) {
    sum.count += s->sums[i].count;
    sum.hash += s->sums[i].hash;
  }
  return sum;
}

static void run_processor(void *argument, bool check, sample *out) {
  const exact_job *j = argument;
  exact_scene *s = j->scene;
  (void)check;
  s->refit = j->refit;
  out->timed = s->frames;
  for (uint32_t f = 0; f < s->frames; f++) {
    move_to(s, f);
    const double start = seconds_now();
    const exact_sum sum = ask_processor(s);
    out->seconds[f] = seconds_now() - start;
    out->count += sum.count;
    out->hash += sum.hash;
  }
}

/* ---- rows ---- */

static void begin_processor(exact_scene *s, graze_context *context) {
  s->context = context;
  s->queries = must_alloc(gz_workers(context), sizeof *s->queries);
  for (uint32_t i = 0; i < gz_workers(context); i++) must(graze_query_create(context, &s->queries[i]), "a query");
  must(graze_broadphase_create(context, NULL, &s->broad), "a broad phase");
}

static void end_processor(exact_scene *s) {
  for (uint32_t i = 0; i < s->count; i++) graze_mesh_destroy(s->meshes[i]);
  for (uint32_t i = 0; i < gz_workers(s->context); i++) graze_query_destroy(s->queries[i]);
  graze_broadphase_destroy(s->broad);
  free(s->queries);
  free(s->sums);
}

static void contend(bench *b, exact_scene *s, const char *name) {
  contest c;
  sample expected = {0};
  uint64_t triangles = 0;
  exact_job reference = {b, NULL, false, s}, opengl = reference, bake = reference, refit = {b, NULL, true, s};
  for (uint32_t i = 0; i < s->count; i++) triangles += s->arrays[i].triangle_count;
  begin_processor(s, b->context);
  run_processor(&bake, true, &expected);
  contest_begin(&c, b, "frame", triangles, s->frames, "visibility_exact/%s", name);
  contest_expect(&c, expected.count, expected.hash);
  must(graze_visibility_create(b->context, GRAZE_VISIBILITY_REFERENCE, &reference.pictures), "the reference device");
  contest_ours(&c, "reference", run_pictures, &reference);
  if (graze_visibility_create(b->context, GRAZE_VISIBILITY_OPENGL, &opengl.pictures) == GRAZE_OK) {
    entry *e = contest_ours(&c, "opengl", run_pictures, &opengl);
    snprintf(e->note, sizeof e->note, "%.100s", graze_visibility_get_info(opengl.pictures)->name);
  } else {
    contest_left_out(&c, "opengl", "%s", graze_last_error(b->context)->message);
  }
  contest_rival(&c, "processor/bake", run_processor, &bake);
  if (s->tree) contest_rival(&c, "processor/refit", run_processor, &refit);
  contest_end(&c);
  graze_visibility_destroy(reference.pictures);
  graze_visibility_destroy(opengl.pictures);
  end_processor(s);
}

static graze_mesh_def arrays_of(const model *m) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = m->vertices;
  def.vertex_count = m->vertex_count;
  def.indices = m->indices;
  def.triangle_count = m->triangle_count;
  def.no_adjacency = true;
  return def;
}

static void bunny_in_dragon(bench *b) {
  model bunny, dragon;
  if (!bench_wants(b, "visibility_exact/bunny_dragon") || !model_get(b, "bunny", &bunny)) return;
  if (model_get(b, "dragon200k", &dragon)) {
    exact_scene s = {.count = 2, .frames = 1};
    s.arrays[0] = arrays_of(&bunny);
    s.arrays[1] = arrays_of(&dragon);
    contend(b, &s, "bunny_dragon");
    model_free(&dragon);
  }
  model_free(&bunny);
}

static void tree_in_wind(bench *b) {
  scenes_scene tree;
  if (!bench_wants(b, "visibility_exact/tree")) return;
  if (!tree_make(&tree)) fail("out of memory");
  exact_scene s = {.count = tree.mesh_count, .frames = FRAMES, .tree = &tree};
  for (uint32_t i = 0; i < s.count; i++) {
    s.arrays[i] = graze_default_mesh_def();
    s.arrays[i].vertices = tree.meshes[i].vertices;
    s.arrays[i].vertex_count = tree.meshes[i].vertex_count;
    s.arrays[i].indices = tree.meshes[i].indices;
    s.arrays[i].triangle_count = tree.meshes[i].triangle_count;
    s.arrays[i].precision = GRAZE_DOUBLE;
    s.arrays[i].no_adjacency = true;
  }
  contend(b, &s, "tree");
  scenes_free(&tree);
}

void work_visibility_exact(bench *b) {
  tree_in_wind(b);
  bunny_in_dragon(b);
}
