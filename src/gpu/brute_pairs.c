/* Triangles of two models, each with each, on a device: poses, boxes in tiles (kernels/triangles.cl), and decide.h for
 * what these leave. Right for models that change shape at every step, and for small ones that are asked about again and
 * again: nothing is built, and a repeated question sends poses and reads one answer. */
#include "gpu/brute_pairs.h"

#include <math.h>
#include <string.h>

#include "geometry/pose.h"
#include "gpu/mesh_bvh.h"

enum { TILE = 512 /* triangles of a that a group has */, CHUNK = 32 /* of b, at least */, GROUPS_WANTED = 4096 };

static const uint64_t MOST_TESTS = UINT32_MAX; /* of a launch: so that candidates are counted in 32 bits */

/* ---- poses ----------------------------------------------------------------------------------------------------- */

graze_status gz_gpu_brute_pose(graze_gpu *gpu, const gpu_brute_pairs *t, posed_triangles *p, const gpu_model *m,
                               const graze_pose *poses, uint32_t count) {
  const size_t triangles = (size_t)m->count * count;
  for (uint32_t i = 0; i < count; i++) {
    if (gz_pose_first_not_finite(&poses[i]) < 12) return GRAZE_ERROR_ARGUMENT;
  }
  graze_status status = gz_gpu_reserve(gpu, &p->corners, 9 * sizeof(double) * triangles);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &p->boxes, 6 * sizeof(float) * triangles);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &p->poses, count * sizeof *poses);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &p->poses, 0, poses, count * sizeof *poses);
  const uint32_t all = (uint32_t)triangles;
  const gpu_argument arguments[] = {GPU_BUFFER(&m->corners), GPU_BUFFER(&p->poses),         GPU_BUFFER(&p->corners),
                                    GPU_BUFFER(&p->boxes),   GPU_BUFFER(&t->decide.answer), GPU_VALUE(m->count),
                                    GPU_VALUE(all)};
  return status != GRAZE_OK ? status
                            : gz_gpu_run(gpu, "triangles", "pose_triangles", gpu_groups(all, 256), arguments, 7);
}

void gz_placed_corners(const void *user, uint32_t triangle, double corners[9]) {
  const placed_model *m = user;
  const graze_pose *pose = &m->poses[triangle / m->model->count];
  double given[9];
  graze_mesh_get_triangle(m->model->mesh, triangle % m->model->count, given);
  for (int k = 0; k < 9; k++) corners[k] = pose_row(pose, k % 3, given + k / 3 * 3);
}

/* ---- the comparison -------------------------------------------------------------------------------------------- */

/* Triangles [begin_a, end_a) against [begin_b, end_b). */
typedef struct rectangle {
  uint32_t begin_a, end_a, begin_b, end_b;
} rectangle;

typedef struct comparison {
  gpu_brute_pairs *t;
  decide_question question;
  bool used; /* the answer has to be reset */
} comparison;

static graze_status compare_once(graze_gpu *gpu, comparison *c, const rectangle *r, uint32_t *candidates) {
  gpu_brute_pairs *t = c->t;
  gpu_decide *d = &t->decide;
  uint32_t tiles = gpu_groups(r->end_a - r->begin_a, TILE), parts = gpu_groups(r->end_b - r->begin_b, CHUNK);
  uint32_t chunks = gpu_groups(GROUPS_WANTED, tiles);
  if (chunks > parts) chunks = parts;
  uint32_t chunk = gpu_groups(parts, chunks) * CHUNK;
  chunks = gpu_groups(r->end_b - r->begin_b, chunk);
  graze_status status = c->used ? gz_gpu_decide_reset(gpu, d, &c->question, 0) : GRAZE_OK;
  c->used = true;
  const gpu_argument arguments[] = {GPU_BUFFER(&t->posed[0].boxes),
                                    GPU_BUFFER(&t->posed[1].boxes),
                                    GPU_BUFFER(&d->answer),
                                    GPU_BUFFER(&d->pairs),
                                    GPU_VALUE(d->room),
                                    GPU_VALUE(r->begin_a),
                                    GPU_VALUE(r->end_a),
                                    GPU_VALUE(r->begin_b),
                                    GPU_VALUE(r->end_b),
                                    GPU_VALUE(chunk),
                                    GPU_VALUE(chunks)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "triangles", "compare_boxes", tiles * chunks, arguments, 11);
  uint64_t tests = (uint64_t)(r->end_a - r->begin_a) * (r->end_b - r->begin_b);
  return status != GRAZE_OK ? status : gz_gpu_decide_run(gpu, d, &c->question, tests, candidates);
}

static graze_status compare(graze_gpu *gpu, comparison *c, const rectangle *r);

static graze_status compare_halves(graze_gpu *gpu, comparison *c, const rectangle *r) {
  rectangle first = *r, second = *r;
  if (r->end_a - r->begin_a > r->end_b - r->begin_b)
    first.end_a = second.begin_a = r->begin_a + (r->end_a - r->begin_a) / 2;
  else
    first.end_b = second.begin_b = r->begin_b + (r->end_b - r->begin_b) / 2;
  graze_status status = compare(gpu, c, &first);
  return status != GRAZE_OK ? status : compare(gpu, c, &second);
}

/* Halved until tests and candidates are few enough; what has no room is compared again when it has. */
static graze_status compare(graze_gpu *gpu, comparison *c, const rectangle *r) {
  uint32_t candidates;
  uint64_t tests = (uint64_t)(r->end_a - r->begin_a) * (r->end_b - r->begin_b);
  if (tests > MOST_TESTS) return compare_halves(gpu, c, r);
  graze_status status = compare_once(gpu, c, r, &candidates);
  if (status != GRAZE_OK || candidates <= c->t->decide.room) return status;
  if (candidates > GPU_DECIDE_MOST) return compare_halves(gpu, c, r);
  status = gz_gpu_decide_reserve(gpu, &c->t->decide, candidates);
  return status != GRAZE_OK ? status : compare_once(gpu, c, r, &candidates);
}

decide_question gz_gpu_brute_question(const gpu_brute_pairs *t, const placed_model sides[2], uint32_t poses,
                                      graze_find find) {
  return (decide_question){.a = {&t->posed[0].corners, sides[0].model->count},
                           .b = {&t->posed[1].corners, sides[1].model->count},
                           .poses = poses,
                           .ask = find == GRAZE_FIND_ALL ? ASK_LIST : 0,
                           .get_a = gz_placed_corners,
                           .get_b = gz_placed_corners,
                           .user_a = &sides[0],
                           .user_b = &sides[1]};
}

graze_status gz_gpu_brute_answer(graze_gpu *gpu, gpu_brute_pairs *t, uint32_t poses, graze_collide_result *results) {
  const gpu_decide *d = &t->decide;
  for (uint32_t p = 0; p < poses; p++) {
    gz_gpu_decide_counts(d, p, &results[p].counts);
    results[p].hit = results[p].counts.triangle_pairs > 0;
  }
  results->work = (graze_work){.triangle_tests = d->candidates, .exact_tests = d->exact};
  return gz_gpu_decide_pairs(gpu, &t->decide, &results->pairs);
}

graze_status gz_gpu_brute_collide(graze_gpu *gpu, gpu_brute_pairs *t, gpu_model *a, const graze_pose *pose_a,
                                  gpu_model *b, const graze_pose *poses_b, uint32_t poses, graze_find find,
                                  graze_collide_result *results) {
  const placed_model sides[2] = {{a, pose_a}, {b, poses_b}};
  const rectangle all = {0, a->count, 0, b->count * poses};
  comparison c = {.t = t, .question = gz_gpu_brute_question(t, sides, poses, find)};
  graze_status status = gz_gpu_decide_begin(gpu, &t->decide, &c.question);
  if (status == GRAZE_OK) status = gz_gpu_brute_pose(gpu, t, &t->posed[0], a, pose_a, 1);
  if (status == GRAZE_OK) status = gz_gpu_brute_pose(gpu, t, &t->posed[1], b, poses_b, poses);
  if (status == GRAZE_OK) status = compare(gpu, &c, &all);
  return status != GRAZE_OK ? status : gz_gpu_brute_answer(gpu, t, poses, results);
}

void gz_gpu_brute_release(graze_gpu *gpu, gpu_brute_pairs *t) {
  for (int side = 0; side < 2; side++) {
    gz_gpu_release(gpu, &t->posed[side].poses);
    gz_gpu_release(gpu, &t->posed[side].corners);
    gz_gpu_release(gpu, &t->posed[side].boxes);
  }
  gz_gpu_decide_release(gpu, &t->decide);
}
