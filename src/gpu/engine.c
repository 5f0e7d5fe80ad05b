/* What is asked of a device from outside: the device first, and the processor for whatever it cannot do, with a
 * warning. Answers are the same bytes either way. */
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "gpu/boxes.h"
#include "gpu/hierarchy.h"
#include "gpu/spheres.h"
#include "gpu/subdivision.h"
#include "gpu/tree_find.h"
#include "gpu/triangles.h"
#include "gpu/words.h"

static void warn(const graze_gpu *gpu, const char *reason) {
  char line[256];
  if (gpu->context->log == NULL) return;
  snprintf(line, sizeof line, "%s: %s; the processor does it", gpu->info.id, reason);
  gpu->context->log(gpu->context->log_user, GRAZE_LOG_WARNING, line);
}

void gz_gpu_release_engines(graze_gpu *gpu) {
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
  graze_broadphase_destroy(gpu->broad);
  graze_query_destroy(gpu->query);
}

/* What an engine keeps, cleared when it is first needed. */
static void *kept_memory(const graze_gpu *gpu, void *known, size_t size) {
  void *memory = known != NULL ? known : gz_memory_alloc(gpu->context, size);
  if (known == NULL && memory != NULL) memset(memory, 0, size);
  return memory;
}

/* The processor answers; `reason` "": without a word. */
static void hand_over(graze_gpu *gpu, const char *reason) {
  if (reason[0] != 0 && !(gpu->lost && gpu->told_lost)) warn(gpu, reason);
  gpu->told_lost |= gpu->lost;
  gpu->report = (graze_gpu_report){.bytes = gpu->bytes};
  snprintf(gpu->report.reason, sizeof gpu->report.reason, "%s", reason);
}

/* Why the processor has to do what the device tried; NULL: it was done. Errors of the driver are reported where they
 * happen; here they are no more than a reason. "": of what is wrong with a question the processor tells. */
static const char *reason_for(graze_status status) {
  if (status == GRAZE_OK) return NULL;
  if (status == GRAZE_ERROR_ARGUMENT) return "";
  return status == GRAZE_ERROR_MEMORY ? "no memory on the device" : "the device failed";
}

static graze_status need_broadphase(graze_gpu *gpu) {
  return gpu->broad != NULL ? GRAZE_OK : graze_broadphase_create(&gpu->processor, NULL, &gpu->broad);
}

static graze_status find_on_processor(graze_gpu *gpu, const graze_box_array *boxes, uint32_t count, bool unsorted,
                                      const graze_box_pair **pairs, uint64_t *pair_count) {
  graze_status status = need_broadphase(gpu);
  return status != GRAZE_OK ? status : graze_broadphase_find(gpu->broad, boxes, count, unsorted, pairs, pair_count);
}

/* Why the device is not asked at all; NULL: it is. */
static const char *reason_against(const graze_gpu *gpu, const graze_box_array *boxes, uint32_t count) {
  if (gpu->lost) return "the device was lost";
  if (boxes->precision == GRAZE_DOUBLE && !gpu->info.doubles) return "the device has no doubles";
  if (count > (uint32_t)1 << 31) return "more than 2^31 boxes";
  return NULL;
}

/* What the device found. `upload` is of another list where another one had the boxes. */
static void report_list(graze_gpu *gpu, graze_gpu_method method, const gpu_pairs *list, double upload) {
  gpu->report = (graze_gpu_report){.on_device = true,
                                   .method = method,
                                   .upload = upload,
                                   .compute = list->compute,
                                   .download = list->download,
                                   .bytes = gpu->bytes};
}

/* `unfit` gets why the method is not for these boxes; it stays as it is when they were found. */
static graze_status find_by_subdivision(graze_gpu *gpu, const graze_box_array *boxes, uint32_t count, bool unsorted,
                                        const gpu_pairs **list, const char **unfit) {
  double bounds[6];
  graze_status status = GRAZE_OK;
  if (!gpu->arithmetic.exact) *unfit = "subdivision: the device's arithmetic is not exact; the grid did it";
  if (count > GPU_SUBDIVISION_MOST) *unfit = "subdivision: more than 2^28 boxes; the grid did it";
  if ((*unfit)[0] != 0) return GRAZE_OK;
  gpu->subdivision = kept_memory(gpu, gpu->subdivision, sizeof *gpu->subdivision);
  if (gpu->subdivision == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->subdivision);
  gz_gpu_pairs_begin(&gpu->boxes->list);
  if (count > 0) status = gz_gpu_boxes_upload(gpu, gpu->boxes, boxes, count, bounds);
  unsigned saved = gz_fp_enter();
  if (status == GRAZE_OK) {
    status = gz_gpu_subdivision_find(gpu, gpu->subdivision, gpu->boxes, boxes->precision, count, unsorted);
  }
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  *list = &gpu->subdivision->list;
  if (gpu->subdivision->crowded) *unfit = "subdivision: too many boxes in a cell; the grid did it";
  if (!gpu->subdivision->crowded) report_list(gpu, GRAZE_GPU_SUBDIVISION, *list, gpu->boxes->list.upload);
  return GRAZE_OK;
}

static graze_status find_by_tree(graze_gpu *gpu, const graze_box_array *boxes, uint32_t count, bool unsorted) {
  gpu->tree = kept_memory(gpu, gpu->tree, sizeof *gpu->tree);
  if (gpu->tree == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->tree);
  return gz_gpu_tree_find(gpu, gpu->tree, gpu->boxes, boxes, count, unsorted);
}

static graze_status find_on_device(graze_gpu *gpu, graze_gpu_method method, const graze_box_array *boxes,
                                   uint32_t count, bool unsorted, const gpu_pairs **list) {
  const char *unfit = "";
  graze_status status = GRAZE_OK;
  if (method == GRAZE_GPU_SUBDIVISION) {
    status = find_by_subdivision(gpu, boxes, count, unsorted, list, &unfit);
    if (status != GRAZE_OK || unfit[0] == 0) return status;
  }
  bool tree = method == GRAZE_GPU_TREE;
  status =
      tree ? find_by_tree(gpu, boxes, count, unsorted) : gz_gpu_boxes_find(gpu, gpu->boxes, boxes, count, unsorted);
  if (status != GRAZE_OK) return status;
  *list = &gpu->boxes->list;
  report_list(gpu, tree ? GRAZE_GPU_TREE : GRAZE_GPU_GRID, *list, (*list)->upload);
  snprintf(gpu->report.reason, sizeof gpu->report.reason, "%s", unfit);
  return GRAZE_OK;
}

graze_status graze_gpu_find(graze_gpu *gpu, graze_gpu_method method, const graze_box_array *boxes, uint32_t count,
                            bool unsorted, const graze_box_pair **pairs, uint64_t *pair_count) {
  if (gpu == NULL || boxes == NULL || pairs == NULL || pair_count == NULL || (boxes->data == NULL && count > 0)) {
    return GRAZE_ERROR_ARGUMENT;
  }
  if (boxes->precision != GRAZE_FLOAT && boxes->precision != GRAZE_DOUBLE) return GRAZE_ERROR_ARGUMENT;
  if ((unsigned)method > GRAZE_GPU_TREE) return GRAZE_ERROR_ARGUMENT;
  gpu->boxes = kept_memory(gpu, gpu->boxes, sizeof *gpu->boxes);
  if (gpu->boxes == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->boxes);
  const char *reason = reason_against(gpu, boxes, count);
  if (reason == NULL) {
    const gpu_pairs *list = NULL;
    graze_status status = find_on_device(gpu, method, boxes, count, unsorted, &list);
    if (status == GRAZE_OK) {
      *pairs = list->result.data;
      *pair_count = list->found;
      return GRAZE_OK;
    }
    reason = reason_for(status);
  }
  hand_over(gpu, reason);
  return find_on_processor(gpu, boxes, count, unsorted, pairs, pair_count);
}

const graze_gpu_report *graze_gpu_get_report(const graze_gpu *gpu) {
  return &gpu->report;
}

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

/* What is asked about spheres; `list` gets the device's answer. */
typedef struct sphere_request {
  const graze_sphere_array *spheres;
  uint32_t count;
  bool unsorted, only_count;
  const gpu_pairs *list;
} sphere_request;

/* Why the device is not asked; "": without a word, for the processor tells what is wrong. NULL: it is asked. */
static const char *reason_against_spheres(const graze_gpu *gpu, const sphere_request *r) {
  const graze_sphere_array *spheres = r->spheres;
  if (spheres == NULL || (r->count > 0 && (spheres->centers == NULL || spheres->radii == NULL))) return "";
  if (spheres->precision != GRAZE_FLOAT && spheres->precision != GRAZE_DOUBLE) return "";
  if (gpu->lost) return "the device was lost";
  if (spheres->precision == GRAZE_DOUBLE && !gpu->info.doubles) return "the device has no doubles";
  if (r->count > (uint32_t)1 << 31) return "more than 2^31 spheres";
  return NULL;
}

static graze_status spheres_on_device(graze_gpu *gpu, sphere_request *r) {
  graze_status status;
  unsigned saved = gz_fp_enter();
  if (gpu->arithmetic.exact) {
    status = gz_gpu_spheres_find(gpu, gpu->spheres, r->spheres, r->count, r->unsorted, r->only_count);
    r->list = &gpu->spheres->list;
  } else {
    status = gz_gpu_spheres_find_by_boxes(gpu, gpu->spheres, gpu->boxes, r->spheres, r->count, r->unsorted);
    r->list = &gpu->boxes->list;
    gpu->spheres->found = r->list->found;
    gpu->spheres->hash = r->only_count ? gz_gpu_hash_pairs(r->list->result.data, r->list->found) : 0;
  }
  gz_fp_leave(saved);
  return status;
}

/* Asks the device. False: the processor has to do it. */
static bool ask_about_spheres(graze_gpu *gpu, sphere_request *r) {
  const char *reason = reason_against_spheres(gpu, r);
  if (reason == NULL) {
    graze_status status = spheres_on_device(gpu, r);
    if (status == GRAZE_OK) {
      report_list(gpu, GRAZE_GPU_GRID, r->list, r->list->upload);
      return true;
    }
    reason = reason_for(status);
  }
  hand_over(gpu, reason);
  return false;
}

static graze_status prepare_spheres(graze_gpu *gpu) {
  gpu->boxes = kept_memory(gpu, gpu->boxes, sizeof *gpu->boxes);
  if (gpu->boxes == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->boxes);
  gpu->spheres = kept_memory(gpu, gpu->spheres, sizeof *gpu->spheres);
  return gpu->spheres != NULL ? GRAZE_OK : gz_fail_memory(gpu->context, sizeof *gpu->spheres);
}

graze_status graze_gpu_find_spheres(graze_gpu *gpu, const graze_sphere_array *spheres, uint32_t count, bool unsorted,
                                    const graze_box_pair **pairs, uint64_t *pair_count) {
  if (gpu == NULL || pairs == NULL || pair_count == NULL) return GRAZE_ERROR_ARGUMENT;
  sphere_request r = {.spheres = spheres, .count = count, .unsorted = unsorted};
  graze_status status = prepare_spheres(gpu);
  if (status != GRAZE_OK) return status;
  if (ask_about_spheres(gpu, &r)) {
    *pairs = r.list->result.data;
    *pair_count = gpu->spheres->found;
    return GRAZE_OK;
  }
  status = need_broadphase(gpu);
  if (status != GRAZE_OK) return status;
  return graze_broadphase_find_spheres(gpu->broad, spheres, count, unsorted, pairs, pair_count);
}

graze_status graze_gpu_count_spheres(graze_gpu *gpu, const graze_sphere_array *spheres, uint32_t count,
                                     uint64_t *pair_count, uint64_t *hash) {
  if (gpu == NULL || pair_count == NULL || hash == NULL) return GRAZE_ERROR_ARGUMENT;
  sphere_request r = {.spheres = spheres, .count = count, .unsorted = true, .only_count = true};
  graze_status status = prepare_spheres(gpu);
  if (status != GRAZE_OK) return status;
  if (ask_about_spheres(gpu, &r)) {
    *pair_count = gpu->spheres->found;
    *hash = gpu->spheres->hash;
    return GRAZE_OK;
  }
  const graze_box_pair *pairs;
  status = need_broadphase(gpu);
  if (status == GRAZE_OK) status = graze_broadphase_find_spheres(gpu->broad, spheres, count, true, &pairs, pair_count);
  if (status == GRAZE_OK) *hash = gz_gpu_hash_pairs(pairs, *pair_count);
  return status;
}

/* ---- triangles ------------------------------------------------------------------------------------------------- */

graze_status gz_gpu_make_query(graze_gpu *gpu) {
  return gpu->query != NULL ? GRAZE_OK : graze_query_create(&gpu->processor, &gpu->query);
}

/* Why the device is not asked about any triangle; NULL: it is. */
static const char *reason_against_triangles(const graze_gpu *gpu) {
  if (gpu->lost) return "the device was lost";
  return gpu->arithmetic.exact ? NULL : "the device's arithmetic is not exact";
}

/* True: the device answered, as there is no reason against it. Else the processor has to. */
static bool is_answered(graze_gpu *gpu, const char *reason) {
  if (reason != NULL)
    hand_over(gpu, reason);
  else
    gpu->report = (graze_gpu_report){.on_device = true, .bytes = gpu->bytes};
  return reason == NULL;
}

/* Why the device is not asked; "": without a word, for it is the processor's to answer or to refuse. NULL: it is
 * asked. */
static const char *reason_against_models(const graze_gpu *gpu, const graze_gpu_model *a, const graze_gpu_model *b,
                                         const graze_collide_options *o) {
  if (o->exactness == GRAZE_T2) return ""; /* it is the processor's */
  if (o->cookie != graze_default_collide_options().cookie || (unsigned)o->find > GRAZE_FIND_ANY) return "";
  if ((unsigned)o->exactness > GRAZE_T2) return "";
  const char *reason = reason_against_triangles(gpu);
  if (reason != NULL) return reason;
  return gpu_model_is_there(a) && gpu_model_is_there(b) ? NULL : "no memory on the device";
}

/* More pairs of triangles than these are not compared one by one. By the bounds of docs/gpu-roofline.md that takes some
 * 50 microseconds then on a large card, and a hierarchy some fifty launches; none has told yet which is less. */
static const uint64_t EACH_MOST = 1u << 28;

graze_status graze_gpu_set_search(graze_gpu *gpu, graze_gpu_search search) {
  if (gpu == NULL || (unsigned)search > GRAZE_GPU_TREE_SEARCH) return GRAZE_ERROR_ARGUMENT;
  gpu->search = search;
  return GRAZE_OK;
}

static bool wants_tree(const graze_gpu *gpu, const graze_gpu_model *a, const graze_gpu_model *b, uint32_t poses) {
  if (gpu->search != GRAZE_GPU_AUTO_SEARCH) return gpu->search == GRAZE_GPU_TREE_SEARCH;
  return (double)a->count * b->count * poses > (double)EACH_MOST;
}

/* b at some poses on the device. Returns why it could not be; NULL: done. */
static const char *collide_on_device(graze_gpu *gpu, const graze_gpu_model *a, const graze_pose *pose_a,
                                     const graze_gpu_model *b, const graze_pose *poses_b, uint32_t poses,
                                     graze_find find, graze_collide_result *results) {
  memset(results, 0, poses * sizeof *results);
  if (a->count == 0 || b->count == 0) return NULL;
  unsigned saved = gz_fp_enter();
  graze_status status = (wants_tree(gpu, a, b, poses) ? gz_gpu_hierarchy_collide : gz_gpu_triangles_collide)(
      gpu, gpu->triangles, a, pose_a, b, poses_b, poses, find, results);
  gz_fp_leave(saved);
  return reason_for(status);
}

graze_status graze_gpu_collide(graze_gpu *gpu, const graze_gpu_model *a, const graze_pose *pose_a,
                               const graze_gpu_model *b, const graze_pose *pose_b, const graze_collide_options *options,
                               graze_collide_result *result) {
  if (gpu == NULL || a == NULL || b == NULL || result == NULL || a->gpu != gpu || b->gpu != gpu) {
    return GRAZE_ERROR_ARGUMENT;
  }
  const graze_pose identity = graze_pose_identity();
  const graze_pose *poses[2] = {pose_a != NULL ? pose_a : &identity, pose_b != NULL ? pose_b : &identity};
  const graze_collide_options o = options != NULL ? *options : graze_default_collide_options();
  gpu->triangles = kept_memory(gpu, gpu->triangles, sizeof *gpu->triangles);
  if (gpu->triangles == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->triangles);
  const char *reason = reason_against_models(gpu, a, b, &o);
  bool posed = !graze_pose_is_identity(poses[0]) || !graze_pose_is_identity(poses[1]);
  if (o.exactness == GRAZE_T0 && posed) reason = ""; /* an error */
  if (reason == NULL) reason = collide_on_device(gpu, a, poses[0], b, poses[1], 1, o.find, result);
  if (is_answered(gpu, reason)) return GRAZE_OK;
  graze_status status = gz_gpu_make_query(gpu);
  return status != GRAZE_OK ? status
                            : graze_collide_meshes(gpu->query, a->mesh, pose_a, b->mesh, pose_b, options, result);
}

/* So many that their triangles are counted in 32 bits and take a share of the device's memory. */
static uint32_t poses_together(const graze_gpu *gpu, const graze_gpu_model *b) {
  const uint64_t bytes = 9 * sizeof(double) + 6 * sizeof(float);
  uint64_t room = gpu->info.largest / (9 * sizeof(double)), share = gpu->info.memory / 8 / bytes;
  if (room > share) room = share;
  if (room > UINT32_MAX) room = UINT32_MAX;
  uint64_t poses = b->count > 0 ? room / b->count : 1;
  const uint32_t most = 1u << 28; /* words of an answer, and of matrices, are counted in 32 bits */
  return poses < 1 ? 1 : poses > most ? most : (uint32_t)poses;
}

graze_status graze_gpu_collide_poses(graze_gpu *gpu, const graze_gpu_model *a, const graze_pose *pose_a,
                                     const graze_gpu_model *b, const graze_pose *poses_b, uint32_t count,
                                     const graze_collide_options *options, graze_collide_result *results) {
  if (gpu == NULL || a == NULL || b == NULL || a->gpu != gpu || b->gpu != gpu) return GRAZE_ERROR_ARGUMENT;
  if (count > 0 && (poses_b == NULL || results == NULL)) return GRAZE_ERROR_ARGUMENT;
  const graze_pose identity = graze_pose_identity();
  const graze_pose *pose = pose_a != NULL ? pose_a : &identity;
  const graze_collide_options o = options != NULL ? *options : graze_default_collide_options();
  gpu->triangles = kept_memory(gpu, gpu->triangles, sizeof *gpu->triangles);
  if (gpu->triangles == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->triangles);
  const char *reason = o.exactness == GRAZE_T1 ? reason_against_models(gpu, a, b, &o) : ""; /* T0: it may be an error */
  uint32_t most = poses_together(gpu, b);
  for (uint32_t from = 0; from < count && reason == NULL; from += most) {
    uint32_t some = count - from < most ? count - from : most;
    graze_find find = o.find == GRAZE_FIND_ALL ? GRAZE_FIND_COUNT : o.find;
    reason = collide_on_device(gpu, a, pose, b, poses_b + from, some, find, results + from);
    for (uint32_t k = from; k < from + some; k++) results[k].pairs = NULL;
  }
  if (is_answered(gpu, reason)) return GRAZE_OK;
  graze_status status = gz_gpu_make_query(gpu);
  return status != GRAZE_OK
             ? status
             : graze_collide_poses(gpu->query, a->mesh, pose_a, b->mesh, poses_b, count, options, results);
}

graze_status graze_gpu_collide_self(graze_gpu *gpu, const graze_gpu_model *model, const graze_collide_options *options,
                                    graze_self_result *result) {
  if (gpu == NULL || model == NULL || result == NULL || model->gpu != gpu) return GRAZE_ERROR_ARGUMENT;
  const graze_collide_options o = options != NULL ? *options : graze_default_collide_options();
  gpu->triangles = kept_memory(gpu, gpu->triangles, sizeof *gpu->triangles);
  if (gpu->triangles == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->triangles);
  graze_collide_options seen = o;
  if ((unsigned)o.exactness <= GRAZE_T2) seen.exactness = GRAZE_T0; /* there is no pose: all are one */
  const char *reason = reason_against_models(gpu, model, model, &seen);
  if (reason == NULL) {
    unsigned saved = gz_fp_enter();
    graze_status status = gz_gpu_hierarchy_self(gpu, gpu->triangles, model, o.find, result);
    gz_fp_leave(saved);
    reason = reason_for(status);
  }
  if (is_answered(gpu, reason)) return GRAZE_OK;
  graze_status status = gz_gpu_make_query(gpu);
  return status != GRAZE_OK ? status : graze_collide_self(gpu->query, model->mesh, options, result);
}

graze_status graze_gpu_tritri(graze_gpu *gpu, uint64_t count, const double *const a[9], const double *const b[9],
                              graze_tritri *results) {
  if (gpu == NULL || (count > 0 && (a == NULL || b == NULL || results == NULL))) return GRAZE_ERROR_ARGUMENT;
  gpu->words = kept_memory(gpu, gpu->words, sizeof *gpu->words);
  if (gpu->words == NULL) return gz_fail_memory(gpu->context, sizeof *gpu->words);
  for (int k = 0; k < 9 && count > 0; k++) {
    if (a[k] == NULL || b[k] == NULL) return GRAZE_ERROR_ARGUMENT;
  }
  const char *reason = reason_against_triangles(gpu);
  if (reason == NULL) reason = reason_for(gz_gpu_words_decide(gpu, gpu->words, count, a, b, results));
  if (is_answered(gpu, reason)) return GRAZE_OK;
  return graze_tritri_batch(&gpu->processor, count, a, b, results);
}
