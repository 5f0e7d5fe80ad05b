/* Clearances of objects and pairs come from functions, which a file cannot hold: a record has their answers, in the
 * order in which they were given. Most are like the one before, so that runs of equal ones take next to nothing. */
#include "scene/clearance.h"

#include <string.h>

typedef struct answer_run {
  uint64_t count;
  double value;
} answer_run;

static bool keep(const graze_context *context, answer_runs *answers, double value) {
  answer_run *runs = answers->runs.data;
  const size_t used = answers->count * sizeof *runs;
  if (answers->count > 0 && memcmp(&runs[answers->count - 1].value, &value, sizeof value) == 0) {
    runs[answers->count - 1].count++;
    return true;
  }
  if (!gz_buffer_reserve(context, &answers->runs, used + sizeof *runs, used)) return false;
  ((answer_run *)answers->runs.data)[answers->count++] = (answer_run){1, value};
  return true;
}

double gz_asking_clearance(void *user, uint64_t a, uint64_t b) {
  clearance_asking *asking = user;
  const double value = asking->clearance(asking->user, a, b);
  if (asking->clearances != NULL) asking->failed |= !keep(asking->context, asking->clearances, value);
  return value;
}

double gz_asking_reach(void *user, uint64_t id) {
  clearance_asking *asking = user;
  const double value = asking->reach(asking->user, id);
  if (asking->reaches != NULL) asking->failed |= !keep(asking->context, asking->reaches, value);
  return value;
}

graze_status gz_ask_clearances(const graze_scene *scene, graze_clearance_function clearance, void *user,
                               const uint64_t *pairs, uint64_t count, double *clearances) {
  for (uint64_t i = 0; i < count; i++) {
    const object *a = scene_ranked(scene, (uint32_t)(pairs[i] >> 32)), *b = scene_ranked(scene, (uint32_t)pairs[i]);
    char labels[2][96];
    clearances[i] = clearance(user, a->user_id, b->user_id);
    if (clearances[i] >= 0 && clearances[i] <= a->reach && clearances[i] <= b->reach) continue;
    return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT,
                   "objects %s and %s: their clearance is not a number from 0 to the reach of either",
                   gz_scene_object_label(scene, (uint32_t)(pairs[i] >> 32), labels[0]),
                   gz_scene_object_label(scene, (uint32_t)pairs[i], labels[1]));
  }
  return GRAZE_OK;
}

/* ---- in a record ---- */

void gz_answers_put(archive_writer *w, const answer_runs *answers) {
  gz_archive_put_u64(w, answers->count);
  gz_archive_put(w, answers->runs.data, answers->count * sizeof(answer_run));
}

bool gz_answers_take(archive_reader *r, answer_reader *answers) {
  const uint64_t count = gz_archive_take_u64(r);
  if (r->overrun || count > (r->length - r->at) / sizeof(answer_run)) return false;
  *answers = (answer_reader){.count = count};
  if (count > 0) answers->runs = gz_archive_take(r, (size_t)count * sizeof(answer_run));
  return true;
}

double gz_answers_next(answer_reader *answers) {
  answer_run run;
  if (answers->next == answers->count) {
    answers->wanting = true;
    return 0;
  }
  memcpy(&run, answers->runs + answers->next * sizeof run, sizeof run);
  if (++answers->used >= run.count) {
    answers->used = 0;
    answers->next++;
  }
  return run.value;
}

bool gz_answers_exhausted(const answer_reader *answers) {
  return answers->next == answers->count && !answers->wanting;
}
