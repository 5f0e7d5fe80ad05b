/* A device as the engine of a context: one thread at a time has it. Where it is to be used only when it is faster, it
 * is tried: the first work of each size is done by both and timed, the ways to the device and back included, and what
 * was faster does such work from then on. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/pairs.h"
#include "gpu/stages.h"

enum { CLASSES = 65 };

/* Work below these is never tried: a thread does it sooner than a device answers anything at all. */
static const uint64_t least[GRAZE_STAGES] = {
    [GRAZE_STAGE_TRITRI] = 1000,   [GRAZE_STAGE_COLLIDE] = 1 << 16, [GRAZE_STAGE_SELF] = 1000,
    [GRAZE_STAGE_POSES] = 1 << 16, [GRAZE_STAGE_BOXES] = 4096,      [GRAZE_STAGE_SPHERES] = 4096};

typedef enum verdict { UNTRIED, DEVICE_FASTER, PROCESSOR_FASTER } verdict;

struct gpu_attachment {
  pthread_mutex_t mutex;
  graze_gpu_use use;
  _Atomic(uint8_t) verdicts[GRAZE_STAGES][CLASSES]; /* by the number of bits of the work */
  graze_stage stage;                                /* of the thread that has the device, */
  uint32_t class;                                   /* and of how much work */
  graze_query *query;                               /* the processor's, for trials */
  graze_broadphase *broad;
  graze_broad_method method; /* of it */
  uint64_t answered;
};

/* ---- who does it ------------------------------------------------------------------------------------------------- */

static uint64_t work_of(graze_stage stage, uint64_t a, uint64_t b) {
  uint64_t product;
  if (stage != GRAZE_STAGE_COLLIDE && stage != GRAZE_STAGE_POSES) return a;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint32_t class_of(uint64_t work) {
  return work == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(work);
}

/* Boxes and spheres are compared as whole numbers where doubles cannot be trusted. */
static bool is_trusted(const graze_gpu *gpu, graze_stage stage) {
  return gpu->info.exact || stage == GRAZE_STAGE_BOXES || stage == GRAZE_STAGE_SPHERES;
}

/* A world cannot be tried by both: there is one of it. So it is the device's only where it does everything. */
static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  graze_gpu *gpu = user;
  struct gpu_attachment *t = gpu->attachment;
  const uint64_t work = work_of(stage, a, b);
  if ((gpu->lost && gpu->told_lost) || !is_trusted(gpu, stage)) return false; /* threads need not wait for each other */
  if (t->use == GRAZE_GPU_ALWAYS) {
    pthread_mutex_lock(&t->mutex);
  } else {
    if (stage == GRAZE_STAGE_WORLD || work < least[stage] || t->verdicts[stage][class_of(work)] == PROCESSOR_FASTER)
      return false;
    if (pthread_mutex_trylock(&t->mutex) != 0) return false; /* while another thread has it, this one is faster */
  }
  t->stage = stage;
  t->class = class_of(work);
  return true;
}

static void give(void *user) {
  graze_gpu *gpu = user;
  pthread_mutex_unlock(&gpu->attachment->mutex);
}

static void forget(void *user, const graze_mesh *mesh) {
  graze_gpu *gpu = user;
  pthread_mutex_lock(&gpu->attachment->mutex);
  gz_gpu_models_forget(&gpu->stages->models, mesh);
  if (gpu->stages->worlds.surface_count > 0) gpu->stages->worlds.run = 0; /* it may be one of theirs */
  pthread_mutex_unlock(&gpu->attachment->mutex);
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

/* By the method that was asked for. */
static graze_status find_pairs(graze_gpu *gpu, graze_broad_question *q) {
  struct gpu_attachment *t = gpu->attachment;
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_status status = GRAZE_OK;
  def.method = q->method;
  if (t->broad != NULL && t->method != q->method) {
    graze_broadphase_destroy(t->broad);
    t->broad = NULL;
  }
  if (t->broad == NULL) status = graze_broadphase_create(&gpu->processor, &def, &t->broad);
  t->method = q->method;
  if (status != GRAZE_OK) return status;
  if (t->stage == GRAZE_STAGE_BOXES)
    return graze_broadphase_find(t->broad, q->boxes, q->count, q->unsorted, &q->pairs, &q->pair_count);
  if (q->only_count) return graze_broadphase_count_spheres(t->broad, q->spheres, q->count, &q->pair_count, &q->hash);
  return graze_broadphase_find_spheres(t->broad, q->spheres, q->count, q->unsorted, &q->pairs, &q->pair_count);
}

static graze_status collide(const struct gpu_attachment *t, const graze_mesh_question *q) {
  graze_collide_options options = graze_default_collide_options();
  options.find = q->find;
  return t->stage == GRAZE_STAGE_POSES
             ? graze_collide_poses(t->query, q->a, q->pose_a, q->b, q->poses_b, q->count, &options, q->results)
             : graze_collide_meshes(t->query, q->a, q->pose_a, q->b, q->poses_b, &options, q->results);
}

static graze_status collide_self(const struct gpu_attachment *t, graze_self_question *q) {
  graze_collide_options options = graze_default_collide_options();
  options.find = q->find;
  return graze_collide_self(t->query, q->mesh, &options, &q->result);
}

static graze_status ask_processor(graze_gpu *gpu, void *question) {
  struct gpu_attachment *t = gpu->attachment;
  const graze_tritri_question *pairs = question;
  graze_status status = t->query == NULL ? graze_query_create(&gpu->processor, &t->query) : GRAZE_OK;
  if (status != GRAZE_OK) return status;
  switch (t->stage) {
    case GRAZE_STAGE_TRITRI:
      return graze_tritri_batch(&gpu->processor, pairs->count, pairs->a, pairs->b, pairs->results);
    case GRAZE_STAGE_SELF:
      return collide_self(t, question);
    case GRAZE_STAGE_COLLIDE:
    case GRAZE_STAGE_POSES:
      return collide(t, question);
    default:
      return find_pairs(gpu, question);
  }
}

static void settle(const graze_gpu *gpu, double device, double processor) {
  char text[200];
  struct gpu_attachment *t = gpu->attachment;
  bool faster = device < processor;
  t->verdicts[t->stage][t->class] = faster ? DEVICE_FASTER : PROCESSOR_FASTER;
  snprintf(text, sizeof text, "%s, some 2^%u: %.3g ms on the device, %.3g ms on the processor: the %s does them",
           stage_name(t->stage), t->class - 1, 1e3 * device, 1e3 * processor, faster ? "device" : "processor");
  gz_gpu_tell(gpu, GRAZE_LOG_INFO, text);
}

/* The device has answered once: it is slow when it does something for the first time. The answer that stays is its
 * second one. */
static const char *try_both(graze_gpu *gpu, void *question) {
  double start = clock_now();
  if (ask_processor(gpu, question) != GRAZE_OK) return "";
  double middle = clock_now();
  const char *reason = gz_gpu_answer(gpu, gpu->attachment->stage, question);
  if (reason == NULL) settle(gpu, clock_now() - middle, middle - start);
  return reason;
}

/* The processor's turn; `reason` "": without a word. What the device cannot do once is not tried again. */
static void hand_over(graze_gpu *gpu, const char *reason) {
  struct gpu_attachment *t = gpu->attachment;
  char text[200];
  if (reason[0] == 0) return;
  t->verdicts[t->stage][t->class] = PROCESSOR_FASTER;
  snprintf(text, sizeof text, "%s; the processor does it", reason);
  gz_gpu_tell(gpu, GRAZE_LOG_WARNING, text);
  gpu->told_lost = gpu->lost;
}

/* All stages: `take` has kept which one it is. */
static graze_status answer(void *user, void *question) {
  graze_gpu *gpu = user;
  struct gpu_attachment *t = gpu->attachment;
  bool trial = t->use == GRAZE_GPU_WHERE_FASTER && t->verdicts[t->stage][t->class] == UNTRIED;
  const char *reason = gz_gpu_answer(gpu, t->stage, question);
  if (reason == NULL && trial) reason = try_both(gpu, question);
  if (reason != NULL) hand_over(gpu, reason);
  t->answered += reason == NULL && !trial;
  return reason == NULL ? GRAZE_OK : GRAZE_ERROR_UNSUPPORTED;
}

/* ---- to and from the context ------------------------------------------------------------------------------------- */

graze_status graze_gpu_attach(graze_gpu *gpu, graze_gpu_use use) {
  static const graze_stage_function table[GRAZE_STAGES] = {answer, answer, answer, answer, answer, answer, answer};
  if (gpu == NULL) return gz_fail_null(NULL);
  if (use != GRAZE_GPU_ALWAYS && use != GRAZE_GPU_WHERE_FASTER)
    return gz_fail(gpu->context, GRAZE_ERROR_ARGUMENT, "unknown use %d of a device", (int)use);
  graze_gpu_detach(gpu);
  struct gpu_attachment *t = gz_memory_alloc(gpu->context, sizeof *t);
  gpu_stages *stages = gz_memory_alloc(gpu->context, sizeof *stages);
  if (t == NULL || stages == NULL) {
    gz_memory_release(gpu->context, t, sizeof *t);
    gz_memory_release(gpu->context, stages, sizeof *stages);
    return gz_fail_memory(gpu->context, sizeof *stages);
  }
  memset(t, 0, sizeof *t);
  memset(stages, 0, sizeof *stages);
  t->use = use;
  pthread_mutex_init(&t->mutex, NULL);
  gpu->attachment = t;
  gpu->stages = stages;
  if (!gpu->info.exact)
    gz_gpu_tell(gpu, GRAZE_LOG_WARNING,
                "its arithmetic is not exact; the processor decides triangles and moves worlds");
  const graze_engine engine = {gpu, table, GRAZE_STAGES, take, give, forget};
  graze_status status = graze_context_set_engine(gpu->context, &engine);
  if (status != GRAZE_OK) graze_gpu_detach(gpu);
  return status;
}

void graze_gpu_detach(graze_gpu *gpu) {
  struct gpu_attachment *t = gpu != NULL ? gpu->attachment : NULL;
  if (t == NULL) return;
  if (gpu->context->engine->user == gpu) graze_context_set_engine(gpu->context, NULL);
  gz_gpu_stages_release(gpu, gpu->stages);
  gz_memory_release(gpu->context, gpu->stages, sizeof *gpu->stages);
  graze_query_destroy(t->query);
  graze_broadphase_destroy(t->broad);
  pthread_mutex_destroy(&t->mutex);
  gz_memory_release(gpu->context, t, sizeof *t);
  gpu->attachment = NULL;
  gpu->stages = NULL;
}

graze_gpu_report graze_gpu_get_report(const graze_gpu *gpu) {
  if (gpu == NULL) return (graze_gpu_report){0};
  graze_gpu_report report = gpu->report;
  report.bytes = gpu->bytes;
  report.answered = gpu->attachment != NULL ? gpu->attachment->answered : 0;
  return report;
}
