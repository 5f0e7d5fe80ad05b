/* Pairs of triangles by a hierarchy: the tree of a is refitted to its pose, the boxes of b are asked of it along the
 * curve of b's own tree, and what meets goes to decide.h piece by piece. A tree is built once for a model; its pieces,
 * bounds of float boxes, need no exactness. O(n log n) to build, O(n) to refit, O(n log n + pairs of boxes) to ask. */
#include "gpu/mesh_bvh.h"

#include <string.h>

#include "base/memory.h"

enum { ORDERED = 1 << 12 }; /* triangles of b that are worth an order */

/* The tree of a model whose boxes are those of `posed`, built or refitted. */
static graze_status fit_tree(graze_gpu *gpu, gpu_model *m, const posed_triangles *posed) {
  gpu_lbvh *tree = &m->tree;
  return tree->count == m->count ? gz_gpu_lbvh_refit(gpu, tree, &posed->boxes)
                                 : gz_gpu_lbvh_build(gpu, tree, &posed->boxes, m->count);
}

/* ARGUMENT: a posed corner is not finite. */
static graze_status check_posed(graze_gpu *gpu, const gpu_brute_pairs *t) {
  uint32_t bad;
  graze_status status = gz_gpu_read(gpu, &bad, &t->decide.answer, COUNT_BAD * sizeof bad, sizeof bad);
  return status == GRAZE_OK && bad > 0 ? GRAZE_ERROR_ARGUMENT : status;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct deciding {
  graze_gpu *gpu;
  gpu_decide *decide;
  const decide_question *question;
} deciding;

static graze_status decide_piece(void *user, const gpu_buffer *pairs, uint32_t count) {
  deciding *c = user;
  uint32_t candidates;
  (void)pairs; /* they are in the decision's pairs */
  graze_status status = gz_gpu_decide_reserve(c->gpu, c->decide, count);
  if (status == GRAZE_OK) status = gz_gpu_decide_reset(c->gpu, c->decide, c->question, count);
  return status != GRAZE_OK ? status : gz_gpu_decide_run(c->gpu, c->decide, c->question, count, &candidates);
}

static graze_status ask_tree(graze_gpu *gpu, gpu_brute_pairs *t, const decide_question *q, gpu_lbvh *tree,
                             const gpu_lbvh_question *asked) {
  deciding c = {gpu, &t->decide, q};
  return gz_gpu_lbvh_each(gpu, tree, asked, GPU_DECIDE_MOST, &t->decide.pairs, decide_piece, &c);
}

/* ---- two models -------------------------------------------------------------------------------------------------- */

graze_status gz_gpu_mesh_bvh_collide(graze_gpu *gpu, gpu_brute_pairs *t, gpu_model *a, const graze_pose *pose_a,
                                     gpu_model *b, const graze_pose *poses_b, uint32_t poses, graze_find find,
                                     graze_collide_result *results) {
  const placed_model sides[2] = {{a, pose_a}, {b, poses_b}};
  const decide_question question = gz_gpu_brute_question(t, sides, poses, find);
  bool ordered = poses == 1 && b->count >= ORDERED;
  graze_status status = gz_gpu_decide_begin(gpu, &t->decide, &question);
  if (status == GRAZE_OK) status = gz_gpu_brute_pose(gpu, t, &t->posed[0], a, pose_a, 1);
  if (status == GRAZE_OK) status = gz_gpu_brute_pose(gpu, t, &t->posed[1], b, poses_b, poses);
  if (status == GRAZE_OK) status = check_posed(gpu, t);
  /* b's first, for both may be one; any pose gives an order. */
  if (status == GRAZE_OK && ordered && b->tree.count != b->count) status = fit_tree(gpu, b, &t->posed[1]);
  if (status == GRAZE_OK) status = fit_tree(gpu, a, &t->posed[0]);
  const gpu_lbvh_question asked = {
      .boxes = &t->posed[1].boxes, .order = ordered ? &b->tree.numbers : NULL, .count = b->count * poses};
  if (status == GRAZE_OK) status = ask_tree(gpu, t, &question, &a->tree, &asked);
  return status != GRAZE_OK ? status : gz_gpu_brute_answer(gpu, t, poses, results);
}

/* ---- one model --------------------------------------------------------------------------------------------------- */

static graze_status upload_thin(graze_gpu *gpu, gpu_model *m) {
  gpu_buffer *thin = &m->thin;
  size_t bytes = (m->count + (size_t)31) / 32 * sizeof(uint32_t);
  if (thin->bytes > 0) return GRAZE_OK;
  uint32_t *bits = gz_memory_alloc(gpu->context, bytes);
  if (bits == NULL) return gz_fail_memory(gpu->context, bytes);
  memset(bits, 0, bytes);
  for (uint32_t i = 0; i < m->count; i++) bits[i / 32] |= (uint32_t)graze_mesh_is_degenerate(m->mesh, i) << i % 32;
  graze_status status = gz_gpu_reserve(gpu, thin, bytes);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, thin, 0, bits, bytes);
  gz_memory_release(gpu->context, bits, bytes);
  return status;
}

graze_status gz_gpu_mesh_bvh_self(graze_gpu *gpu, gpu_brute_pairs *t, gpu_model *m, graze_find find,
                                  graze_self_result *result) {
  const graze_pose identity = graze_pose_identity();
  const placed_model sides[2] = {{m, &identity}, {m, &identity}};
  decide_question question = gz_gpu_brute_question(t, sides, 1, find);
  question.b.corners = question.a.corners;
  question.ask |= ASK_SELF;
  question.thin = &m->thin;
  *result = (graze_self_result){0};
  if (m->count == 0) return GRAZE_OK;
  graze_status status = gz_gpu_decide_begin(gpu, &t->decide, &question);
  if (status == GRAZE_OK) status = gz_gpu_brute_pose(gpu, t, &t->posed[0], m, &identity, 1);
  if (status == GRAZE_OK) status = fit_tree(gpu, m, &t->posed[0]);
  if (status == GRAZE_OK) status = upload_thin(gpu, m);
  const gpu_lbvh_question asked = {.boxes = NULL};
  if (status == GRAZE_OK) status = ask_tree(gpu, t, &question, &m->tree, &asked);
  if (status != GRAZE_OK) return status;
  gz_gpu_decide_self_counts(&t->decide, result);
  result->work = (graze_work){.triangle_tests = t->decide.candidates, .exact_tests = t->decide.exact};
  return gz_gpu_decide_pairs(gpu, &t->decide, &result->pairs);
}
