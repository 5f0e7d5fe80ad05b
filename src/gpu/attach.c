/* A device as the engine of a context: meshes go to it when they are first asked about and stay there; one thread at a
 * time has it. Where it is to be used only when it is faster, it is tried: the first work of each size is done by both
 * and timed, the ways to the device and back included, and what was faster does such work from then on. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/pairs.h"
#include "gpu/triangles.h"
#include "graze/engine.h"

enum { CLASSES = 65 };

/* Work below these is never tried: a thread does it sooner than a device answers anything at all. */
static const uint64_t LEAST_PAIRS = 1000, LEAST_PRODUCT = 1u << 16;

typedef enum verdict { UNTRIED, DEVICE_FASTER, PROCESSOR_FASTER } verdict;

/* A mesh that the device has. */
typedef struct known_mesh {
  const graze_mesh *mesh; /* NULL: an empty place */
  graze_gpu_model *model;
} known_mesh;

struct gpu_attachment {
  pthread_mutex_t mutex;
  graze_gpu_use use;
  _Atomic(uint8_t) verdicts[GRAZE_STAGES][CLASSES]; /* by the number of bits of the work */
  known_mesh *known;                                /* open addressing; half empty */
  uint32_t capacity, count;
  _Atomic(uint64_t) answered;
};

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static uint32_t place_of(const struct gpu_attachment *t, const graze_mesh *mesh) {
  uint32_t i = (uint32_t)(((uintptr_t)mesh >> 4) * 0x9E3779B97F4A7C15u >> 32) & (t->capacity - 1);
  while (t->known[i].mesh != NULL && t->known[i].mesh != mesh) i = (i + 1) & (t->capacity - 1);
  return i;
}

static graze_status grow(graze_gpu *gpu, struct gpu_attachment *t) {
  struct gpu_attachment old = {.known = t->known, .capacity = t->capacity};
  uint32_t capacity = old.capacity > 0 ? 2 * old.capacity : 64;
  known_mesh *made = gz_memory_alloc(gpu->context, capacity * sizeof *made);
  if (made == NULL) return gz_fail_memory(gpu->context, capacity * sizeof *made);
  memset(made, 0, capacity * sizeof *made);
  t->known = made;
  t->capacity = capacity;
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.known[i].mesh != NULL) t->known[place_of(t, old.known[i].mesh)] = old.known[i];
  }
  gz_memory_release(gpu->context, old.known, old.capacity * sizeof *old.known);
  return GRAZE_OK;
}

static void drop_models(struct gpu_attachment *t) {
  for (uint32_t i = 0; i < t->capacity; i++) {
    graze_gpu_model_destroy(t->known[i].model);
    t->known[i] = (known_mesh){0};
  }
  t->count = 0;
}

static graze_status model_of(graze_gpu *gpu, const graze_mesh *mesh, graze_gpu_model **model) {
  struct gpu_attachment *t = gpu->attachment;
  graze_status status = 2 * (t->count + 1) > t->capacity ? grow(gpu, t) : GRAZE_OK;
  if (status != GRAZE_OK) return status;
  known_mesh *k = &t->known[place_of(t, mesh)];
  if (k->mesh == NULL) {
    status = graze_gpu_model_create(gpu, mesh, &k->model);
    if (status != GRAZE_OK) return status;
    k->mesh = mesh;
    t->count++;
  }
  *model = k->model;
  return GRAZE_OK;
}

/* The models of two meshes, or of one twice. Where the device has no room for them all others have to go. */
static graze_status models_of(graze_gpu *gpu, const graze_mesh *const meshes[2], graze_gpu_model *models[2]) {
  for (int attempt = 0;; attempt++) {
    graze_status status = model_of(gpu, meshes[0], &models[0]);
    if (status == GRAZE_OK) status = model_of(gpu, meshes[1], &models[1]);
    bool there = status == GRAZE_OK && gpu_model_is_there(models[0]) && gpu_model_is_there(models[1]);
    if (there || attempt > 0 || gpu->lost) return status;
    drop_models(gpu->attachment);
  }
}

/* What comes after an emptied place may belong before it. */
static void close_gap(struct gpu_attachment *t, uint32_t gap) {
  for (uint32_t i = (gap + 1) & (t->capacity - 1); t->known[i].mesh != NULL; i = (i + 1) & (t->capacity - 1)) {
    known_mesh moved = t->known[i];
    t->known[i] = (known_mesh){0};
    t->known[place_of(t, moved.mesh)] = moved;
  }
}

static void forget(void *user, const graze_mesh *mesh) {
  graze_gpu *gpu = user;
  struct gpu_attachment *t = gpu->attachment;
  pthread_mutex_lock(&t->mutex);
  if (t->count > 0) {
    uint32_t i = place_of(t, mesh);
    if (t->known[i].mesh == mesh) {
      graze_gpu_model_destroy(t->known[i].model);
      t->known[i] = (known_mesh){0};
      t->count--;
      close_gap(t, i);
    }
  }
  pthread_mutex_unlock(&t->mutex);
}

/* ---- who does it ------------------------------------------------------------------------------------------------- */

static uint64_t work_of(graze_stage stage, uint64_t a, uint64_t b) {
  return stage == GRAZE_STAGE_COLLIDE ? a * b : a; /* both below 2^32 */
}

static uint32_t class_of(uint64_t work) {
  return work == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(work);
}

static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  graze_gpu *gpu = user;
  struct gpu_attachment *t = gpu->attachment;
  if (gpu->lost || !gpu->arithmetic.exact) return false; /* threads need not wait for each other */
  if (t->use == GRAZE_GPU_ALWAYS) return pthread_mutex_lock(&t->mutex) == 0;
  uint64_t work = work_of(stage, a, b);
  if (work < (stage == GRAZE_STAGE_COLLIDE ? LEAST_PRODUCT : LEAST_PAIRS)) return false;
  if (t->verdicts[stage][class_of(work)] == PROCESSOR_FASTER) return false;
  return pthread_mutex_trylock(&t->mutex) == 0; /* while another thread has it, this one is faster by itself */
}

static void give(void *user) {
  graze_gpu *gpu = user;
  pthread_mutex_unlock(&gpu->attachment->mutex);
}

/* Work as a device and the processor both can do it. */
typedef struct trial {
  graze_gpu *gpu;
  graze_stage stage;
  uint64_t work;
  graze_status (*device)(const struct trial *t);
  graze_status (*processor)(const struct trial *t);
  const void *question;
  void *answer;
} trial;

static void settle(const trial *t, double device, double processor) {
  char line[256];
  const graze_context *context = t->gpu->context;
  bool faster = device < processor;
  t->gpu->attachment->verdicts[t->stage][class_of(t->work)] = faster ? DEVICE_FASTER : PROCESSOR_FASTER;
  if (context->log == NULL) return;
  snprintf(line, sizeof line, "%s: %s, some 2^%u: %.3g ms on the device, %.3g ms on the processor: the %s does them",
           t->gpu->info.id, stage_name(t->stage), class_of(t->work) - 1, 1e3 * device, 1e3 * processor,
           faster ? "device" : "processor");
  context->log(context->log_user, GRAZE_LOG_INFO, line);
}

static graze_status ask_device(const trial *t) {
  graze_status status = t->device(t);
  t->gpu->attachment->answered += status == GRAZE_OK && t->gpu->report.on_device;
  return status;
}

/* Always, or where it was found to be faster, the device; else both, the device twice, as it is slow when it does
 * something for the first time. */
static graze_status do_work(const trial *t) {
  const struct gpu_attachment *attachment = t->gpu->attachment;
  if (attachment->use == GRAZE_GPU_ALWAYS || attachment->verdicts[t->stage][class_of(t->work)] == DEVICE_FASTER) {
    return ask_device(t);
  }
  graze_status status = t->device(t);
  double start = gz_gpu_seconds();
  if (status == GRAZE_OK) status = t->device(t);
  double device = t->gpu->report.on_device ? gz_gpu_seconds() - start : INFINITY;
  if (status != GRAZE_OK) return status;
  start = gz_gpu_seconds();
  status = t->processor(t);
  if (status == GRAZE_OK) settle(t, device, gz_gpu_seconds() - start);
  return status;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static graze_status tritri_on_device(const trial *t) {
  const graze_tritri_question *q = t->question;
  return graze_gpu_tritri(t->gpu, q->count, q->a, q->b, t->answer);
}

static graze_status tritri_on_processor(const trial *t) {
  const graze_tritri_question *q = t->question;
  return graze_tritri_batch(&t->gpu->processor, q->count, q->a, q->b, t->answer);
}

static graze_status tritri(void *user, void *asked) {
  const graze_tritri_question *q = asked;
  const trial t = {user, GRAZE_STAGE_TRITRI, q->count, tritri_on_device, tritri_on_processor, q, q->results};
  return do_work(&t);
}

typedef struct collide_question {
  const graze_gpu_model *a, *b;
  const graze_pose *pose_a, *pose_b;
  graze_collide_options options;
} collide_question;

static graze_status collide_on_device(const trial *t) {
  const collide_question *q = t->question;
  return graze_gpu_collide(t->gpu, q->a, q->pose_a, q->b, q->pose_b, &q->options, t->answer);
}

static graze_status collide_on_processor(const trial *t) {
  const collide_question *q = t->question;
  graze_status status = gz_gpu_make_query(t->gpu);
  return status != GRAZE_OK ? status
                            : graze_collide_meshes(t->gpu->query, q->a->mesh, q->pose_a, q->b->mesh, q->pose_b,
                                                   &q->options, t->answer);
}

static graze_status collide(void *user, void *asked) {
  const graze_mesh_question *q = asked;
  graze_gpu_model *models[2];
  const graze_mesh *const meshes[2] = {q->a, q->b};
  graze_status status = models_of(user, meshes, models);
  if (status != GRAZE_OK) return status;
  collide_question question = {models[0], models[1], q->pose_a, q->poses_b, graze_default_collide_options()};
  question.options.find = q->find;
  uint64_t work = work_of(GRAZE_STAGE_COLLIDE, models[0]->count, models[1]->count);
  const trial t = {user, GRAZE_STAGE_COLLIDE, work, collide_on_device, collide_on_processor, &question, q->results};
  return do_work(&t);
}

static graze_status self_on_device(const trial *t) {
  const collide_question *q = t->question;
  return graze_gpu_collide_self(t->gpu, q->a, &q->options, t->answer);
}

static graze_status self_on_processor(const trial *t) {
  const collide_question *q = t->question;
  graze_status status = gz_gpu_make_query(t->gpu);
  return status != GRAZE_OK ? status : graze_collide_self(t->gpu->query, q->a->mesh, &q->options, t->answer);
}

static graze_status self(void *user, void *asked) {
  graze_self_question *q = asked;
  graze_gpu_model *models[2];
  const graze_mesh *const meshes[2] = {q->mesh, q->mesh};
  graze_status status = models_of(user, meshes, models);
  if (status != GRAZE_OK) return status;
  collide_question question = {.a = models[0], .options = graze_default_collide_options()};
  question.options.find = q->find;
  const trial t = {user, GRAZE_STAGE_SELF, models[0]->count, self_on_device, self_on_processor, &question, &q->result};
  return do_work(&t);
}

/* ---- to and from the context ------------------------------------------------------------------------------------- */

static const graze_stage_function stages[GRAZE_STAGES] = {
    [GRAZE_STAGE_TRITRI] = tritri, [GRAZE_STAGE_COLLIDE] = collide, [GRAZE_STAGE_SELF] = self};

graze_status graze_gpu_attach(graze_gpu *gpu, graze_gpu_use use) {
  if (gpu == NULL || (use != GRAZE_GPU_ALWAYS && use != GRAZE_GPU_WHERE_FASTER)) return GRAZE_ERROR_ARGUMENT;
  graze_gpu_detach(gpu);
  struct gpu_attachment *t = gz_memory_alloc(gpu->context, sizeof *t);
  if (t == NULL) return gz_fail_memory(gpu->context, sizeof *t);
  memset(t, 0, sizeof *t);
  t->use = use;
  pthread_mutex_init(&t->mutex, NULL);
  gpu->attachment = t;
  const graze_engine engine = {gpu, stages, GRAZE_STAGES, take, give, forget};
  graze_status status = graze_context_set_engine(gpu->context, &engine);
  if (status != GRAZE_OK) graze_gpu_detach(gpu);
  return status;
}

void graze_gpu_detach(graze_gpu *gpu) {
  struct gpu_attachment *t = gpu != NULL ? gpu->attachment : NULL;
  if (t == NULL) return;
  if (gpu->context->engine->user == gpu) graze_context_set_engine(gpu->context, NULL);
  drop_models(t);
  gz_memory_release(gpu->context, t->known, t->capacity * sizeof *t->known);
  pthread_mutex_destroy(&t->mutex);
  gz_memory_release(gpu->context, t, sizeof *t);
  gpu->attachment = NULL;
}

uint64_t graze_gpu_answered(const graze_gpu *gpu) {
  return gpu != NULL && gpu->attachment != NULL ? gpu->attachment->answered : 0;
}
