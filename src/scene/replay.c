/* A record run again: its edits step by step through the library at hand, and whether it tells the same. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "scene/record.h"

struct graze_replay {
  graze_context *context;
  archive_reader reader;
  graze_scene *scene;
  char *path;
  size_t path_bytes;
  uint64_t steps;
};

graze_status graze_replay_open(graze_context *context, const char *path, graze_replay **replay) {
  if (context == NULL) return GRAZE_ERROR_ARGUMENT;
  if (path == NULL || replay == NULL) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "replay: null pointer");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return gz_file_error(context, path, "cannot open");
  size_t bytes = strlen(path) + 1;
  graze_replay *made = gz_memory_alloc(context, sizeof *made);
  char *copy = gz_memory_alloc(context, bytes);
  if (made == NULL || copy == NULL) {
    gz_memory_release(context, made, sizeof *made);
    gz_memory_release(context, copy, bytes);
    close(file);
    return gz_fail_memory(context, sizeof *made + bytes);
  }
  memcpy(copy, path, bytes);
  *made = (graze_replay){.context = context, .path = copy, .path_bytes = bytes};
  graze_status status = gz_archive_open(&made->reader, context, file, copy);
  if (status == GRAZE_OK) status = gz_snapshot_read(context, &made->reader, &made->scene);
  if (status != GRAZE_OK) {
    graze_replay_close(made);
    return status;
  }
  *replay = made;
  return GRAZE_OK;
}

void graze_replay_close(graze_replay *replay) {
  if (replay == NULL) return;
  const graze_context *context = replay->context;
  graze_scene_destroy(replay->scene);
  close(replay->reader.file);
  gz_archive_reader_release(&replay->reader);
  gz_memory_release(context, replay->path, replay->path_bytes);
  gz_memory_release(context, replay, sizeof *replay);
}

graze_scene *graze_replay_scene(graze_replay *replay) {
  return replay != NULL ? replay->scene : NULL;
}

/* ---- edits ---- */

static graze_status take_add(archive_reader *r, graze_scene *scene, bool is_round) {
  graze_object_def def = graze_default_object_def();
  if (is_round) memcpy(&def.radius, gz_archive_take(r, sizeof def.radius), sizeof def.radius);
  if (is_round) def.flat = gz_archive_take_u32(r) != 0;
  graze_object_id want = gz_record_take_id(r), got;
  uint32_t mesh = gz_archive_take_u32(r);
  def.user_id = gz_archive_take_u64(r);
  memcpy(def.pose.m, gz_archive_take(r, sizeof def.pose.m), sizeof def.pose.m);
  def.name = gz_archive_take_text(r);
  def.layer = gz_archive_take_text(r);
  if (def.name == NULL || def.layer == NULL || mesh >= scene->owned_count) {
    return gz_archive_error(r, "the object before this byte cannot be");
  }
  def.mesh = ((graze_mesh *const *)scene->owned.data)[mesh];
  graze_status status = graze_scene_add(scene, &def, &got);
  if (status == GRAZE_OK && (got.index != want.index || got.generation != want.generation)) {
    return gz_archive_error(r, "the object before this byte has got another id");
  }
  return status;
}

static graze_status take_pose(archive_reader *r, graze_scene *scene) {
  graze_object_id id = gz_record_take_id(r);
  graze_pose pose;
  memcpy(pose.m, gz_archive_take(r, sizeof pose.m), sizeof pose.m);
  return graze_scene_set_pose(scene, id, &pose);
}

static graze_status take_center(archive_reader *r, graze_scene *scene) {
  graze_object_id id = gz_record_take_id(r);
  double center[3];
  gz_archive_take_doubles(r, center, 3);
  return graze_scene_set_center(scene, id, center);
}

static graze_status take_refit(archive_reader *r, graze_scene *scene) {
  uint32_t number = gz_archive_take_u32(r);
  uint64_t size = gz_archive_take_u64(r);
  if (number >= scene->owned_count || size > r->length - r->at) return gz_archive_error(r, "no mesh to be refitted");
  graze_mesh *mesh = ((graze_mesh **)scene->owned.data)[number];
  size_t vertex = 3 * (mesh->header->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float));
  if (size != mesh->header->vertex_count * vertex) return gz_archive_error(r, "not the vertices of the mesh");
  return graze_mesh_refit(mesh, gz_archive_take(r, size), 0);
}

static graze_status take_ignore_layers(archive_reader *r, graze_scene *scene) {
  const char *first = gz_archive_take_text(r), *second = gz_archive_take_text(r);
  if (first == NULL || second == NULL) return gz_archive_error(r, "no names of layers");
  return graze_scene_ignore_layers(scene, first, second);
}

static graze_status take_edit(archive_reader *r, graze_scene *scene, uint32_t edit) {
  graze_object_id id;
  switch (edit) {
    case EDIT_ADD:
    case EDIT_ADD_ROUND:
      return take_add(r, scene, edit == EDIT_ADD_ROUND);
    case EDIT_REMOVE:
      return graze_scene_remove(scene, gz_record_take_id(r));
    case EDIT_POSE:
      return take_pose(r, scene);
    case EDIT_CENTER:
      return take_center(r, scene);
    case EDIT_IGNORE:
      id = gz_record_take_id(r);
      return graze_scene_ignore(scene, id, gz_record_take_id(r));
    case EDIT_IGNORE_LAYERS:
      return take_ignore_layers(r, scene);
    case EDIT_REFIT:
      return take_refit(r, scene);
    default:
      return gz_archive_error(r, "the number before this byte is no edit");
  }
}

/* ---- steps ---- */

/* What the functions of the update said when it was recorded. */
typedef struct recorded_answers {
  answer_reader reaches, clearances;
} recorded_answers;

static double recorded_reach(void *user, uint64_t id) {
  (void)id;
  return gz_answers_next(&((recorded_answers *)user)->reaches);
}

static double recorded_clearance(void *user, uint64_t a, uint64_t b) {
  (void)a, (void)b;
  return gz_answers_next(&((recorded_answers *)user)->clearances);
}

static graze_status take_clearances(archive_reader *r, recorded_answers *answers, graze_scene_update_options *options,
                                    graze_replay_step *s) {
  if (!gz_answers_take(r, &answers->reaches) || !gz_answers_take(r, &answers->clearances))
    return gz_archive_error(r, "no clearances");
  s->gap_hash = gz_archive_take_u64(r);
  s->clearances = true;
  options->clearance = recorded_clearance;
  options->reach = recorded_reach;
  options->clearance_user = answers;
  return GRAZE_OK;
}

static bool same_answers(const graze_replay_step *s, const graze_scene_update_result *events,
                         const recorded_answers *answers) {
  return s->hash == events->hash && s->began_count == events->began_count &&
         s->persist_count == events->persist_count && s->ended_count == events->ended_count &&
         s->passed_count == events->passed_count && s->time_hash == events->time_hash &&
         s->gap_hash == events->gap_hash && gz_answers_exhausted(&answers->reaches) &&
         gz_answers_exhausted(&answers->clearances);
}

static graze_status run_step(graze_replay *replay, graze_scene_update_result *events, graze_replay_step *step) {
  archive_reader *r = &replay->reader;
  graze_status status = GRAZE_OK;
  for (uint32_t edit; status == GRAZE_OK && (edit = gz_archive_take_u32(r)) != 0;) {
    status = take_edit(r, replay->scene, edit);
    if (status == GRAZE_OK && r->overrun) status = gz_archive_error(r, "the step ends within an edit");
  }
  if (status != GRAZE_OK) return status;
  graze_scene_update_options options = graze_default_scene_update_options();
  options.find = (graze_find)gz_archive_take_u32(r);
  options.exactness = gz_archive_take_exactness(r);
  options.open = (graze_open_rule)gz_archive_take_u32(r);
  graze_replay_step s = {.number = replay->steps + 1, .hash = gz_archive_take_u64(r)};
  s.began_count = gz_archive_take_u64(r);
  s.persist_count = gz_archive_take_u64(r);
  s.ended_count = gz_archive_take_u64(r);
  if (r->at < r->length) {
    const uint32_t model = gz_archive_take_u32(r);
    if ((model & STEP_HAS_BRACKET) != 0) s.bracket = options.bracket = gz_archive_take_double(r);
    s.continuous = options.continuous = (graze_motion_model)(model & ~(uint32_t)STEP_HAS_BRACKET);
    s.passed_count = gz_archive_take_u64(r);
    s.time_hash = gz_archive_take_u64(r);
  }
  recorded_answers answers = {0};
  if (r->at < r->length) status = take_clearances(r, &answers, &options, &s);
  if (status != GRAZE_OK) return status;
  if (r->overrun || r->at != r->length) return gz_archive_error(r, "the step ends early or late");
  status = graze_scene_update(replay->scene, &options, events);
  if (status != GRAZE_OK) return status;
  s.same = same_answers(&s, events, &answers);
  replay->steps++;
  *step = s;
  return GRAZE_OK;
}

graze_status graze_replay_next(graze_replay *replay, graze_scene_update_result *events, graze_replay_step *step) {
  if (replay == NULL) return GRAZE_ERROR_ARGUMENT;
  if (events == NULL || step == NULL) return gz_fail(replay->context, GRAZE_ERROR_ARGUMENT, "replay: null pointer");
  for (;;) {
    archive_type type;
    graze_status status = gz_archive_next(&replay->reader, &type);
    if (status != GRAZE_OK) return status;
    if (type == ARCHIVE_STEP) return run_step(replay, events, step);
    if (type == ARCHIVE_END) {
      *step = (graze_replay_step){0};
      *events = (graze_scene_update_result){0};
      return GRAZE_OK;
    }
    if (type == ARCHIVE_SCENE) return gz_archive_error(&replay->reader, "a second scene");
    if (type != ARCHIVE_MESH) return gz_archive_error(&replay->reader, "not a part of a scene");
    status = gz_snapshot_read_mesh(replay->context, &replay->reader, replay->scene);
    if (status != GRAZE_OK) return status;
  }
}
