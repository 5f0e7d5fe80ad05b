/* The stages of an engine on a device: what it is not asked, and what it answers. */
#include "gpu/stages.h"

#include <stdio.h>

#include "base/parallel.h"
#include "broad/pairs.h"
#include "gpu/mesh_bvh.h"

void gz_gpu_stages_release(graze_gpu *gpu, gpu_stages *s) {
  gz_gpu_models_release(gpu, &s->models);
  gz_gpu_boxes_release(gpu, &s->boxes);
  gz_gpu_subdivision_release(gpu, &s->subdivision);
  gz_gpu_box_bvh_release(gpu, &s->tree);
  gz_gpu_spheres_release(gpu, &s->spheres);
  gz_gpu_brute_release(gpu, &s->triangles);
  gz_gpu_tritri_release(gpu, &s->tritri);
  gz_gpu_worlds_release(gpu, &s->worlds);
}

/* Why the processor has to do what the device tried; NULL: it was done. Errors of the driver are reported where they
 * happen; here they are no more than a reason. "": of what is wrong with a question the processor tells. */
static const char *reason_for(graze_status status) {
  if (status == GRAZE_OK) return NULL;
  if (status == GRAZE_ERROR_ARGUMENT) return "";
  return status == GRAZE_ERROR_MEMORY ? "no memory on the device" : "the device failed";
}

/* ---- boxes and spheres ------------------------------------------------------------------------------------------- */

typedef enum device_method { METHOD_NONE, METHOD_GRID, METHOD_SUBDIVISION, METHOD_TREE } device_method;

static const device_method methods[GRAZE_BROAD_METHODS] = {
    [GRAZE_BROAD_AUTO] = METHOD_GRID,  [GRAZE_BROAD_GRID] = METHOD_GRID,
    [GRAZE_BROAD_HGRID] = METHOD_GRID, [GRAZE_BROAD_SUBDIVISION] = METHOD_SUBDIVISION,
    [GRAZE_BROAD_TREE] = METHOD_TREE,  [GRAZE_BROAD_BVH] = METHOD_TREE};

/* Why the device is not asked at all; NULL: it is. */
static const char *reason_against(const graze_gpu *gpu, const graze_broad_question *q, graze_precision precision) {
  if ((unsigned)q->method >= GRAZE_BROAD_METHODS || methods[q->method] == METHOD_NONE) return "";
  if (q->spheres != NULL && methods[q->method] != METHOD_GRID) return "";
  if (precision == GRAZE_DOUBLE && !gpu->info.doubles) return "the device has no doubles";
  if (q->count > (uint32_t)1 << 31) return "more than 2^31 of them";
  return NULL;
}

/* What the device found. `upload` is of another list where another one had the boxes. */
static void take_list(graze_gpu *gpu, graze_broad_question *q, const gpu_pairs *list, graze_broad_method used,
                      double upload) {
  q->used = used;
  q->pairs = q->only_count ? NULL : list->result.data;
  q->pair_count = list->found;
  gpu->report.upload = upload;
  gpu->report.compute = list->compute;
  gpu->report.download = list->download;
}

/* A reason in the question: the method is not for these boxes. */
static graze_status find_by_subdivision(graze_gpu *gpu, gpu_stages *s, graze_broad_question *q) {
  const char *unfit = "";
  double bounds[6];
  graze_status status = GRAZE_OK;
  if (!gpu->info.exact) unfit = "subdivision: the device's arithmetic is not exact; the grid did it";
  if (q->count > GPU_SUBDIVISION_MOST) unfit = "subdivision: more than 2^28 boxes; the grid did it";
  if (unfit[0] == 0) {
    gz_gpu_pairs_begin(&s->boxes.list);
    if (q->count > 0) status = gz_gpu_boxes_upload(gpu, &s->boxes, q->boxes, q->count, bounds);
    if (status == GRAZE_OK) {
      status = gz_gpu_subdivision_find(gpu, &s->subdivision, &s->boxes, q->boxes->precision, q->count, q->unsorted);
    }
    if (status != GRAZE_OK) return status;
    if (s->subdivision.crowded) unfit = "subdivision: too many boxes in a cell; the grid did it";
  }
  snprintf(q->reason, sizeof q->reason, "%s", unfit);
  if (unfit[0] == 0) take_list(gpu, q, &s->subdivision.list, GRAZE_BROAD_SUBDIVISION, s->boxes.list.upload);
  return GRAZE_OK;
}

static const char *find_boxes(graze_gpu *gpu, gpu_stages *s, void *question) {
  graze_broad_question *q = question;
  const char *reason = reason_against(gpu, q, q->boxes->precision);
  if (reason != NULL) return reason;
  bool tree = methods[q->method] == METHOD_TREE;
  if (methods[q->method] == METHOD_SUBDIVISION) {
    graze_status status = find_by_subdivision(gpu, s, q);
    if (status != GRAZE_OK || q->reason[0] == 0) return reason_for(status);
  }
  graze_status status = tree ? gz_gpu_box_bvh_find(gpu, &s->tree, &s->boxes, q->boxes, q->count, q->unsorted)
                             : gz_gpu_boxes_find(gpu, &s->boxes, q->boxes, q->count, q->unsorted);
  if (status != GRAZE_OK) return reason_for(status);
  take_list(gpu, q, &s->boxes.list, tree ? GRAZE_BROAD_BVH : GRAZE_BROAD_HGRID, s->boxes.list.upload);
  return NULL;
}

/* A device that is not exact finds boxes around the spheres. */
static graze_status spheres_by_boxes(graze_gpu *gpu, gpu_stages *s, graze_broad_question *q) {
  graze_status status = gz_gpu_spheres_find_by_boxes(gpu, &s->spheres, &s->boxes, q->spheres, q->count, q->unsorted);
  if (status != GRAZE_OK) return status;
  const gpu_pairs *list = &s->boxes.list;
  take_list(gpu, q, list, GRAZE_BROAD_HGRID, list->upload);
  if (q->only_count) q->hash = pairs_hash(list->result.data, list->found);
  return GRAZE_OK;
}

static const char *find_spheres(graze_gpu *gpu, gpu_stages *s, void *question) {
  graze_broad_question *q = question;
  const char *reason = reason_against(gpu, q, q->spheres->precision);
  if (reason != NULL) return reason;
  if (!gpu->info.exact) return reason_for(spheres_by_boxes(gpu, s, q));
  graze_status status = gz_gpu_spheres_find(gpu, &s->spheres, q->spheres, q->count, q->unsorted, q->only_count);
  if (status != GRAZE_OK) return reason_for(status);
  take_list(gpu, q, &s->spheres.list, GRAZE_BROAD_HGRID, s->spheres.list.upload);
  q->pair_count = s->spheres.found;
  q->hash = s->spheres.hash;
  return NULL;
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

static const char *decide_pairs(graze_gpu *gpu, gpu_stages *s, void *question) {
  const graze_tritri_question *q = question;
  return reason_for(gz_gpu_tritri_decide(gpu, &s->tritri, q->count, q->a, q->b, q->results));
}

/* More pairs of triangles than these are not compared one by one. By the bounds of docs/gpu-roofline.md that takes some
 * 50 microseconds then on a large card, and a hierarchy some fifty launches; none has told yet which is less. */
static const uint64_t EACH_MOST = 1u << 28;

static bool wants_tree(const graze_gpu *gpu, const gpu_model *a, const gpu_model *b, uint32_t poses) {
  if (gpu->search != GPU_SEARCH_AUTO) return gpu->search == GPU_SEARCH_TREE;
  return (double)a->count * b->count * poses > (double)EACH_MOST;
}

/* So many that their triangles are counted in 32 bits and take a share of the device's memory. */
static uint32_t poses_together(const graze_gpu *gpu, const gpu_model *b) {
  const uint64_t bytes = 9 * sizeof(double) + 6 * sizeof(float);
  uint64_t room = gpu->info.largest / (9 * sizeof(double)), share = gpu->info.memory / 8 / bytes;
  if (room > share) room = share;
  if (room > UINT32_MAX) room = UINT32_MAX;
  uint64_t poses = b->count > 0 ? room / b->count : 1;
  const uint32_t most = 1u << 28; /* words of an answer, and of matrices, are counted in 32 bits */
  return poses < 1 ? 1 : poses > most ? most : (uint32_t)poses;
}

/* Of many poses one may overflow, and then the decision says so. */
static const char *collide(graze_gpu *gpu, gpu_stages *s, void *question) {
  const graze_mesh_question *q = question;
  gpu_model *m[2];
  graze_status status = gz_gpu_models_get(gpu, &s->models, q->a, q->b, m);
  if (status != GRAZE_OK) return reason_for(status);
  if (m[0]->count == 0 || m[1]->count == 0) return NULL;
  for (uint32_t from = 0, some = poses_together(gpu, m[1]); from < q->count && status == GRAZE_OK; from += some) {
    if (some > q->count - from) some = q->count - from;
    status = (wants_tree(gpu, m[0], m[1], some) ? gz_gpu_mesh_bvh_collide : gz_gpu_brute_collide)(
        gpu, &s->triangles, m[0], q->pose_a, m[1], q->poses_b + from, some, q->find, q->results + from);
  }
  return reason_for(status);
}

static const char *collide_self(graze_gpu *gpu, gpu_stages *s, void *question) {
  graze_self_question *q = question;
  gpu_model *m[2];
  graze_status status = gz_gpu_models_get(gpu, &s->models, q->mesh, q->mesh, m);
  if (status == GRAZE_OK) status = gz_gpu_mesh_bvh_self(gpu, &s->triangles, m[0], q->find, &q->result);
  return reason_for(status);
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

/* A run asks again and again: what stands in the way is told once. */
static const char *step_world(graze_gpu *gpu, gpu_stages *s, void *question) {
  graze_status status;
  const char *why = gz_gpu_worlds_step(gpu, &s->worlds, question, &status), *said = s->worlds.said;
  const char *reason = status == GRAZE_ERROR_UNSUPPORTED ? why : reason_for(status);
  s->worlds.said = reason;
  return reason != NULL && reason == said ? "" : reason;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

const char *gz_gpu_answer(graze_gpu *gpu, graze_stage stage, void *question) {
  static const char *(*const stages[GRAZE_STAGES])(graze_gpu *, gpu_stages *, void *) = {
      [GRAZE_STAGE_TRITRI] = decide_pairs, [GRAZE_STAGE_COLLIDE] = collide,  [GRAZE_STAGE_SELF] = collide_self,
      [GRAZE_STAGE_POSES] = collide,       [GRAZE_STAGE_BOXES] = find_boxes, [GRAZE_STAGE_SPHERES] = find_spheres,
      [GRAZE_STAGE_WORLD] = step_world};
  unsigned saved = gz_fp_enter();
  gpu->report = (graze_gpu_report){0};
  const char *reason = gpu->lost ? "the device was lost" : stages[stage](gpu, gpu->stages, question);
  gz_fp_leave(saved);
  gpu->report.on_device = reason == NULL;
  if (reason != NULL) snprintf(gpu->report.reason, sizeof gpu->report.reason, "%s", reason);
  return reason;
}
