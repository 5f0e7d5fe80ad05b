/* A check from its definition to its result. */
#include "check.h"

#include <string.h>

#include "crew.h"

enum { CHECK_COOKIE = 0x67726b31 };

graze_check_def graze_default_check_def(void) {
  return (graze_check_def){.exactness = GRAZE_T1,
                           .open = GRAZE_OPEN_UNKNOWN,
                           .relations = ~(1u << GRAZE_SEPARATE),
                           .places = true,
                           .facts = true,
                           .parts = GRAZE_CHECK_EVERY_PART,
                           .most_pictures = 1000,
                           .cookie = CHECK_COOKIE};
}

static graze_status examine(const graze_context *context, const graze_check_def *d) {
  const char *wrong = NULL;
  if (d->cookie != CHECK_COOKIE)
    wrong = "the definition was not initialised";
  else if (d->files == NULL || d->file_count == 0)
    wrong = "no files";
  else if ((d->set_count > 0 && d->sets == NULL) || (d->rule_count > 0 && d->rules == NULL))
    wrong = "null pointer";
  else if (d->exactness != GRAZE_T0 && d->exactness != GRAZE_T1 && d->exactness != GRAZE_T2)
    wrong = "unknown exactness";
  else if (d->open != GRAZE_OPEN_UNKNOWN && d->open != GRAZE_OPEN_SURFACE)
    wrong = "unknown rule for open meshes";
  else if (d->marks != NULL && d->previous == NULL)
    wrong = "marks are for an earlier report, and there is none";
  else if (d->crew != NULL && (d->crew->exchange == NULL || d->crew->member >= d->crew->members))
    wrong = "the crew has no such member";
  else if (d->crew != NULL && (d->previous != NULL || d->folder != NULL || d->joined || d->every_mesh || d->depth))
    wrong = "a crew does no such check";
  else if (d->folder != NULL && (d->relations >> GRAZE_SEPARATE & 1))
    wrong = "separate pairs are not for reports";
  else if ((d->rounds || d->cylinders) && (d->depth || d->crew != NULL))
    wrong = "round shapes are not for depths, nor for a crew";
  return wrong == NULL ? GRAZE_OK : gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: %s", wrong);
}

/* What a folder takes. */
static void complete_def(graze_check_def *d) {
  d->every_mesh |= d->depth;
  if (d->folder == NULL) return;
  d->places = d->curves = d->facts = d->every_mesh = true;
}

static graze_status read_all(graze_check *c) {
  gz_check_earlier_begin(c);
  graze_status status = gz_check_load(c);
  if (status == GRAZE_OK) status = gz_check_make_rules(c);
  if (status == GRAZE_OK) status = gz_check_refuse_clearance(c);
  if (status == GRAZE_OK) status = gz_check_record_begin(c);
  if (status == GRAZE_OK) status = gz_check_earlier_end(c);
  if (status == GRAZE_OK) status = gz_check_known_begin(c);
  if (status == GRAZE_OK && c->def.folder != NULL) status = graze_report_claim_folder(c->context, c->def.folder);
  return status;
}

static graze_check *make(graze_context *context, const graze_check_def *def) {
  graze_check *c = gz_memory_alloc(context, sizeof *c);
  if (c == NULL) return NULL;
  memset(c, 0, sizeof *c);
  if (pthread_mutex_init(&c->fault.mutex, NULL) != 0) {
    gz_memory_release(context, c, sizeof *c);
    return NULL;
  }
  c->context = context;
  c->def = *def;
  complete_def(&c->def);
  c->start = clock_now();
  c->lazy = !c->def.every_mesh && !(def->relations >> GRAZE_SEPARATE & 1) && def->open == GRAZE_OPEN_UNKNOWN;
  c->hold = c->lazy && (def->previous != NULL || def->crew != NULL);
  return c;
}

graze_status graze_check_open(graze_context *context, const graze_check_def *def, graze_check **check) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (def == NULL || check == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: null pointer");
  graze_status status = examine(context, def);
  if (status != GRAZE_OK) return status;
  if (def->hint != NULL) *def->hint = GRAZE_CHECK_NO_HINT;
  graze_check *made = make(context, def);
  if (made == NULL) {
    if (def->crew != NULL) gz_crew_fail(def->crew, GRAZE_ERROR_MEMORY);
    return gz_fail_memory(context, sizeof *made);
  }
  made->caller = pthread_self();
  status = gz_crew_compare(made, made->def.files, made->def.file_count);
  if (status == GRAZE_OK) status = read_all(made);
  status = gz_crew_agree(made, status, UINT64_MAX);
  if (status == GRAZE_OK)
    *check = made;
  else
    graze_check_destroy(made);
  return status;
}

graze_status graze_check_run(graze_check *c) {
  if (c == NULL) return GRAZE_ERROR_ARGUMENT;
  if (c->scene != NULL) return gz_fail(c->context, GRAZE_ERROR_ARGUMENT, "check: it has run already");
  c->caller = pthread_self();
  graze_status status = gz_check_decide(c);
  if (status == GRAZE_OK || status == GRAZE_CANCELLED) {
    graze_status finished = gz_check_record_finish(c, status == GRAZE_OK);
    c->ran = finished == GRAZE_OK;
    if (!c->ran) status = finished;
  }
  const graze_status agreed = gz_crew_agree(c, status, UINT64_MAX);
  if (agreed != GRAZE_OK) c->ran = c->ran && status == agreed;
  return agreed;
}

const graze_report *graze_check_report(const graze_check *check) {
  return &check->report;
}

void graze_check_set_engine(graze_check *check, const char *engine) {
  check->report.engine = engine;
}

static bool is_open_clash(const graze_report_clash *clash) {
  return clash->state != GRAZE_STATE_RESOLVED && clash->relation != GRAZE_SEPARATE && !clash->forgiven &&
         (strcmp(clash->mark, "approved") != 0 || clash->relation == GRAZE_UNKNOWN);
}

graze_check_counts graze_check_get_counts(const graze_check *check) {
  graze_check_counts counts = {.objects = check->object_count,
                               .ignored_pairs = check->result.ignored_pairs,
                               .unpainted = check->unpainted,
                               .load_seconds = check->load_seconds,
                               .build_seconds = check->build_seconds,
                               .query_seconds = check->query_seconds,
                               .read_meshes = check->baked_meshes,
                               .decided_pairs = check->result.decided_pairs,
                               .decided_triangles = check->result.decided_weight};
  for (uint32_t i = 0; i < check->object_count; i++)
    if (check->objects[i].radius == 0) counts.triangles += check->meshes[check->objects[i].mesh].facts.triangles;
  for (uint32_t i = 0; i < check->report.clash_count; i++)
    counts.open_clashes += is_open_clash(&check->report.clashes[i]);
  return counts;
}

void graze_check_destroy(graze_check *c) {
  if (c == NULL) return;
  if (c->earlier.started) pthread_join(c->earlier.thread, NULL);
  graze_report_groups_free(&c->groups);
  graze_report_merged_free(&c->merged);
  graze_report_reuse_destroy(c->earlier.reuse);
  graze_report_previous_destroy(c->earlier.report);
  graze_scene_destroy(c->scene);
  for (uint32_t i = 0; i < c->mesh_count; i++) {
    graze_mesh_destroy(c->meshes[i].mesh);
    graze_mesh_destroy(c->meshes[i].core);
  }
  gz_check_close_files(c);
  graze_scene_file_free(&c->file);
  gz_text_map_close(&c->names);
  gz_check_release(c);
  pthread_mutex_destroy(&c->fault.mutex);
  gz_memory_release(c->context, c, sizeof *c);
}
