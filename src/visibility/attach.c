/* The engine of a context: pairs of a scene's objects that are apart, and where meshes meet themselves. */
#include <pthread.h>
#include <string.h>

#include "base/context.h"
#include "base/owned.h"
#include "graze/engine.h"
#include "visibility/cull.h"

/* While it is attached. */
struct visibility_attachment {
  pthread_mutex_t mutex;
  graze_visibility_def def; /* how to cull */
  uint64_t answered;
};

static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  const graze_visibility *v = user;
  (void)stage;
  (void)a;
  (void)b;
  pthread_mutex_lock(&v->attachment->mutex);
  return true;
}

static void give(void *user) {
  const graze_visibility *v = user;
  pthread_mutex_unlock(&v->attachment->mutex);
}

/* Objects and pairs as a cull takes them, a < b. */
static graze_status translate(graze_visibility *v, const graze_cull_question *q, graze_visibility_def *def) {
  static const graze_mesh_def empty = {.precision = GRAZE_DOUBLE};
  graze_visibility_object *objects = gz_visibility_room(v, ROOM_ASKED_OBJECTS, q->object_count, sizeof *objects, 0);
  graze_box_pair *pairs = gz_visibility_room(v, ROOM_ASKED_PAIRS, q->pair_count, sizeof *pairs, 0);
  if (objects == NULL || pairs == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < q->object_count; i++) {
    const graze_cull_object *o = &q->objects[i];
    objects[i] = (graze_visibility_object){o->mesh, o->mesh == NULL ? &empty : NULL, o->pose};
  }
  for (uint64_t i = 0; i < q->pair_count; i++) {
    const uint32_t a = q->pairs[i][0], b = q->pairs[i][1];
    pairs[i] = (graze_box_pair){a < b ? a : b, a < b ? b : a};
  }
  def->objects = objects;
  def->object_count = q->object_count;
  def->pairs = pairs;
  def->pair_count = q->pair_count;
  return GRAZE_OK;
}

/* NULL: it is not left. */
static const graze_visibility_pair *find_left(const graze_visibility_result *r, graze_box_pair pair) {
  uint64_t low = 0, high = r->pair_count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const graze_visibility_pair *p = &r->pairs[middle];
    if (p->a < pair.a || (p->a == pair.a && p->b < pair.b))
      low = middle + 1;
    else
      high = middle;
  }
  const bool found = low < r->pair_count && r->pairs[low].a == pair.a && r->pairs[low].b == pair.b;
  return found ? &r->pairs[low] : NULL;
}

/* In the order of the question's pair. */
static graze_cull_triangles triangles_of(const graze_visibility_pair *left, uint32_t first) {
  const graze_visibility_triangles *t[2] = {&left->triangles_a, &left->triangles_b};
  const int swapped = left->a != first;
  return (graze_cull_triangles){{t[swapped]->list, t[!swapped]->list}, {t[swapped]->count, t[!swapped]->count}};
}

/* Boxes are those of posed coordinates, which the real images of tier T2 may leave by their rounding. */
static graze_status cull(void *user, void *question) {
  graze_visibility *v = user;
  const graze_cull_question *q = question;
  graze_visibility_def def = v->attachment->def;
  graze_visibility_result result;
  if (q->exactness == GRAZE_T2) return GRAZE_ERROR_UNSUPPORTED;
  graze_status status = translate(v, q, &def);
  if (status == GRAZE_OK) status = graze_visibility_cull(v, &def, &result);
  if (status != GRAZE_OK) return status;
  for (uint64_t i = 0; i < q->pair_count; i++) {
    const graze_visibility_pair *left = find_left(&result, def.pairs[i]);
    q->apart[i] = left == NULL;
    if (left != NULL && q->triangles != NULL && def.level == GRAZE_VISIBILITY_TRIANGLES)
      q->triangles[i] = triangles_of(left, q->pairs[i][0]);
  }
  v->attachment->answered++;
  return GRAZE_OK;
}

static graze_status collide_self(void *user, void *question) {
  graze_visibility *v = user;
  graze_self_question *q = question;
  const graze_visibility_object object = {.mesh = q->mesh};
  graze_visibility_def def = v->attachment->def;
  def.objects = &object;
  def.object_count = 1;
  graze_status status = graze_visibility_collide_self(v, &def, &q->result);
  if (status != GRAZE_OK) return status;
  if (q->find == GRAZE_FIND_COUNT) q->result.pairs = NULL;
  v->attachment->answered++;
  return GRAZE_OK;
}

graze_status graze_visibility_attach(graze_visibility *v, const graze_visibility_def *def) {
  static const graze_stage_function stages[GRAZE_STAGES] = {
      [GRAZE_STAGE_SELF] = collide_self, [GRAZE_STAGE_CULL] = cull};
  if (v == NULL) return gz_fail_null(NULL);
  graze_visibility_def d = def != NULL ? *def : graze_default_visibility_def();
  graze_status status = gz_visibility_check_reliable(v->context, d.mode);
  if (status != GRAZE_OK) return status;
  if (v->attachment == NULL) {
    struct visibility_attachment *made = gz_new_zeroed(v->context, 1, sizeof *made);
    if (made == NULL) return gz_fail_memory(v->context, sizeof *made);
    pthread_mutex_init(&made->mutex, NULL);
    v->attachment = made;
  }
  d.objects = NULL;
  d.pairs = NULL;
  d.progress = NULL;
  d.image = NULL;
  v->attachment->def = d;
  const graze_engine engine = {v, stages, GRAZE_STAGES, take, give, NULL};
  return graze_context_set_engine(v->context, &engine);
}

void graze_visibility_detach(graze_visibility *v) {
  if (v == NULL || v->attachment == NULL) return;
  graze_context_set_engine(v->context, NULL);
  pthread_mutex_destroy(&v->attachment->mutex);
  gz_free(v->attachment);
  v->attachment = NULL;
}

uint64_t graze_visibility_get_answered(const graze_visibility *v) {
  return v != NULL && v->attachment != NULL ? v->attachment->answered : 0;
}
