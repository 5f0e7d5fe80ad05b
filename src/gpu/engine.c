/* The stages of an engine on a device: what it is not asked, and what it answers. */
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "broad/pairs.h"
#include "gpu/boxes.h"
#include "gpu/hierarchy.h"
#include "gpu/spheres.h"
#include "gpu/stages.h"
#include "gpu/subdivision.h"
#include "gpu/tree_find.h"
#include "gpu/words.h"

void gz_gpu_release_stages(graze_gpu *gpu) {
  if (gpu->boxes != NULL && gpu->state != NULL) gz_gpu_boxes_release(gpu, gpu->boxes);
  gz_memory_release(gpu->context, gpu->boxes, sizeof *gpu->boxes);
  if (gpu->subdivision != NULL && gpu->state != NULL) gz_gpu_subdivision_release(gpu, gpu->subdivision);
  gz_memory_release(gpu->context, gpu->subdivision, sizeof *gpu->subdivision);
  if (gpu->tree != NULL && gpu->state != NULL) gz_gpu_tree_finder_release(gpu, gpu->tree);
  gz_memory_release(gpu->context, gpu->tree, sizeof *gpu->tree);
  if (gpu->spheres != NULL && gpu->state != NULL) gz_gpu_spheres_release(gpu, gpu->spheres);
  gz_memory_release(gpu->context, gpu->spheres, sizeof *gpu->spheres);
  if (gpu->triangles != NULL && gpu->state != NULL) gz_gpu_triangles_release(gpu, gpu->triangles);
  gz_memory_release(gpu->context, gpu->triangles, sizeof *gpu->triangles);
  if (gpu->words != NULL && gpu->state != NULL) gz_gpu_words_release(gpu, gpu->words);
  gz_memory_release(gpu->context, gpu->words, sizeof *gpu->words);
}

/* What a stage keeps, cleared when it is first needed. */
static graze_status keep_memory(const graze_gpu *gpu, void *kept, size_t size) {
  void **known = kept;
  if (*known != NULL) return GRAZE_OK;
  *known = gz_memory_alloc(gpu->context, size);
  if (*known == NULL) return gz_fail_memory(gpu->context, size);
  memset(*known, 0, size);
  return GRAZE_OK;
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
static graze_status find_by_subdivision(graze_gpu *gpu, graze_broad_question *q) {
  const char *unfit = "";
  double bounds[6];
  if (!gpu->info.exact) unfit = "subdivision: the device's arithmetic is not exact; the grid did it";
  if (q->count > GPU_SUBDIVISION_MOST) unfit = "subdivision: more than 2^28 boxes; the grid did it";
  graze_status status = keep_memory(gpu, &gpu->subdivision, sizeof *gpu->subdivision);
  if (status == GRAZE_OK && unfit[0] == 0) {
    gz_gpu_pairs_begin(&gpu->boxes->list);
    if (q->count > 0) status = gz_gpu_boxes_upload(gpu, gpu->boxes, q->boxes, q->count, bounds);
    if (status == GRAZE_OK) {
      status = gz_gpu_subdivision_find(gpu, gpu->subdivision, gpu->boxes, q->boxes->precision, q->count, q->unsorted);
    }
    if (status == GRAZE_OK && gpu->subdivision->crowded)
      unfit = "subdivision: too many boxes in a cell; the grid did it";
  }
  if (status != GRAZE_OK) return status;
  snprintf(q->reason, sizeof q->reason, "%s", unfit);
  if (unfit[0] == 0) take_list(gpu, q, &gpu->subdivision->list, GRAZE_BROAD_SUBDIVISION, gpu->boxes->list.upload);
  return GRAZE_OK;
}

static graze_status find_by_tree(graze_gpu *gpu, graze_broad_question *q) {
  graze_status status = keep_memory(gpu, &gpu->tree, sizeof *gpu->tree);
  if (status == GRAZE_OK) status = gz_gpu_tree_find(gpu, gpu->tree, gpu->boxes, q->boxes, q->count, q->unsorted);
  if (status == GRAZE_OK) take_list(gpu, q, &gpu->boxes->list, GRAZE_BROAD_BVH, gpu->boxes->list.upload);
  return status;
}

static const char *find_boxes(graze_gpu *gpu, void *question) {
  graze_broad_question *q = question;
  const char *reason = reason_against(gpu, q, q->boxes->precision);
  if (reason != NULL) return reason;
  graze_status status = keep_memory(gpu, &gpu->boxes, sizeof *gpu->boxes);
  if (status == GRAZE_OK && methods[q->method] == METHOD_TREE) return reason_for(find_by_tree(gpu, q));
  if (status == GRAZE_OK && methods[q->method] == METHOD_SUBDIVISION) {
    status = find_by_subdivision(gpu, q);
    if (status == GRAZE_OK && q->reason[0] == 0) return NULL;
  }
  if (status == GRAZE_OK) status = gz_gpu_boxes_find(gpu, gpu->boxes, q->boxes, q->count, q->unsorted);
  if (status == GRAZE_OK) take_list(gpu, q, &gpu->boxes->list, GRAZE_BROAD_HGRID, gpu->boxes->list.upload);
  return reason_for(status);
}

/* A device that is not exact finds boxes around the spheres. */
static graze_status spheres_by_boxes(graze_gpu *gpu, graze_broad_question *q) {
  graze_status status = keep_memory(gpu, &gpu->boxes, sizeof *gpu->boxes);
  if (status == GRAZE_OK) {
    status = gz_gpu_spheres_find_by_boxes(gpu, gpu->spheres, gpu->boxes, q->spheres, q->count, q->unsorted);
  }
  if (status != GRAZE_OK) return status;
  const gpu_pairs *list = &gpu->boxes->list;
  take_list(gpu, q, list, GRAZE_BROAD_HGRID, list->upload);
  if (q->only_count) q->hash = pairs_hash(list->result.data, list->found);
  return GRAZE_OK;
}

static const char *find_spheres(graze_gpu *gpu, void *question) {
  graze_broad_question *q = question;
  const char *reason = reason_against(gpu, q, q->spheres->precision);
  if (reason != NULL) return reason;
  graze_status status = keep_memory(gpu, &gpu->spheres, sizeof *gpu->spheres);
  if (status == GRAZE_OK && !gpu->info.exact) return reason_for(spheres_by_boxes(gpu, q));
  if (status == GRAZE_OK) {
    status = gz_gpu_spheres_find(gpu, gpu->spheres, q->spheres, q->count, q->unsorted, q->only_count);
  }
  if (status != GRAZE_OK) return reason_for(status);
  take_list(gpu, q, &gpu->spheres->list, GRAZE_BROAD_HGRID, gpu->spheres->list.upload);
  q->pair_count = gpu->spheres->found;
  q->hash = gpu->spheres->hash;
  return NULL;
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

static const char *decide_pairs(graze_gpu *gpu, void *question) {
  const graze_tritri_question *q = question;
  graze_status status = keep_memory(gpu, &gpu->words, sizeof *gpu->words);
  if (status == GRAZE_OK) status = gz_gpu_words_decide(gpu, gpu->words, q->count, q->a, q->b, q->results);
  return reason_for(status);
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

static const char *collide(graze_gpu *gpu, void *question) {
  const graze_mesh_question *q = question;
  gpu_model *m[2];
  graze_status status = keep_memory(gpu, &gpu->triangles, sizeof *gpu->triangles);
  if (status == GRAZE_OK) status = gz_gpu_models_get(gpu, &gpu->models, q->a, q->b, m);
  if (status != GRAZE_OK) return reason_for(status);
  if (m[0]->count == 0 || m[1]->count == 0) return NULL;
  for (uint32_t from = 0, some = poses_together(gpu, m[1]); from < q->count && status == GRAZE_OK; from += some) {
    if (some > q->count - from) some = q->count - from;
    status = (wants_tree(gpu, m[0], m[1], some) ? gz_gpu_hierarchy_collide : gz_gpu_triangles_collide)(
        gpu, gpu->triangles, m[0], q->pose_a, m[1], q->poses_b + from, some, q->find, q->results + from);
  }
  return reason_for(status);
}

static const char *collide_self(graze_gpu *gpu, void *question) {
  graze_self_question *q = question;
  gpu_model *m[2];
  graze_status status = keep_memory(gpu, &gpu->triangles, sizeof *gpu->triangles);
  if (status == GRAZE_OK) status = gz_gpu_models_get(gpu, &gpu->models, q->mesh, q->mesh, m);
  if (status == GRAZE_OK) status = gz_gpu_hierarchy_self(gpu, gpu->triangles, m[0], q->find, &q->result);
  return reason_for(status);
}

/* ---- all ------------------------------------------------------------------------------------------------------------
 */

/* Meshes have been seen to be in order; a pose of many may overflow, and then the decision says so. */
const char *gz_gpu_answer(graze_gpu *gpu, graze_stage stage, void *question) {
  static const char *(*const stages[GRAZE_STAGES])(graze_gpu *, void *) = {
      [GRAZE_STAGE_TRITRI] = decide_pairs, [GRAZE_STAGE_COLLIDE] = collide,  [GRAZE_STAGE_SELF] = collide_self,
      [GRAZE_STAGE_POSES] = collide,       [GRAZE_STAGE_BOXES] = find_boxes, [GRAZE_STAGE_SPHERES] = find_spheres};
  unsigned saved = gz_fp_enter();
  gpu->report = (graze_gpu_report){0};
  const char *reason = gpu->lost ? "the device was lost" : stages[stage](gpu, question);
  gz_fp_leave(saved);
  gpu->report.on_device = reason == NULL;
  if (reason != NULL) snprintf(gpu->report.reason, sizeof gpu->report.reason, "%s", reason);
  return reason;
}
