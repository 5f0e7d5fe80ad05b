/* reuse.c: which pairs of objects need no second check. An earlier report lists only what it found, so a pair that it
 * does not list was separate, or left out by a rule, provided that it is a whole answer to the same question: complete,
 * the same exactness, the same rules in the same order, the same version of the program (a later one may judge more),
 * and for both objects the same name, layer, mesh and pose. Meshes and poses are compared by 64-bit hashes.
 */
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "out.h"

struct graze_report_reuse {
  const graze_report_previous *then;
  uint32_t *earlier; /* number of every object of now in the earlier report; UINT32_MAX = it is not the same */
  uint32_t object_count, unchanged;
  gz_map pairs; /* earlier numbers, first < second, to the clash; SEVERAL when there are more */
};

enum { SEVERAL = UINT32_MAX };

static bool is_same_text(const char *a, const char *b) {
  return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Why nothing can be reused; NULL = something can. */
static const char *find_obstacle(const graze_report *now, const graze_report_previous *then) {
  bool hashed = false, rules = now->rule_count == then->rule_count;
  if (!then->complete) return "the earlier check was incomplete";
  if (strcmp(then->version, graze_version()) != 0) return "the earlier check was made by another version of Graze";
  if (!is_same_text(now->exactness, then->exactness)) return "the earlier check had another exactness";
  for (uint32_t i = 0; i < now->rule_count && rules; i++) rules = is_same_text(now->rules[i].text, then->rules[i]);
  if (!rules) return "the earlier check had other rules";
  for (uint32_t i = 0; i < then->object_count && !hashed; i++) hashed = then->objects[i].hashed;
  return hashed || then->object_count == 0 ? NULL : "the earlier report has no hashes of meshes and poses";
}

static uint32_t find_earlier(const graze_report_object *object, const graze_report_previous *then) {
  graze_mesh_facts facts;
  uint32_t number = gz_report_names_find(&then->names, object->name);
  if (number == UINT32_MAX || !then->objects[number].hashed || !gz_report_object_facts(object, &facts))
    return UINT32_MAX;
  const report_previous_object *earlier = &then->objects[number];
  bool same = earlier->mesh_hash == facts.hash && earlier->pose_hash == graze_report_pose_hash(&object->pose) &&
              is_same_text(object->layer, earlier->layer);
  return same ? number : UINT32_MAX;
}

static void note_pairs(graze_report_reuse *reuse) {
  const graze_report_previous *then = reuse->then;
  for (uint32_t i = 0; i < then->clash_count; i++) {
    uint32_t a = then->clash_objects[i][0], b = then->clash_objects[i][1];
    if (then->clashes[i].state == GRAZE_STATE_RESOLVED) continue;
    /* Its "a" stands first in the input; a file that says otherwise was not written by this program. */
    uint32_t *value = gz_map_add(&reuse->pairs, a < b ? map_pair_key(a, b) : map_pair_key(b, a), a < b ? i : SEVERAL);
    if (*value != i) *value = SEVERAL;
  }
}

graze_status graze_report_reuse_create(graze_context *context, const graze_report *now,
                                       const graze_report_previous *previous, graze_report_reuse **reuse,
                                       const char **reason) {
  if (previous == NULL || reuse == NULL) {
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "an argument of the reusing call is invalid");
  }
  *reuse = NULL;
  graze_status status = gz_report_check(context, now, "report");
  if (status != GRAZE_OK) return status;
  const char *obstacle = find_obstacle(now, previous);
  graze_report_reuse *made = gz_new_zeroed(context, 1, sizeof *made);
  if (made != NULL) made->earlier = gz_new(context, (size_t)now->object_count + 1, sizeof *made->earlier);
  if (made == NULL || made->earlier == NULL || !gz_map_open(context, &made->pairs, previous->clash_count)) {
    graze_report_reuse_destroy(made);
    return gz_report_fail_memory(context, "report");
  }
  made->then = previous;
  made->object_count = now->object_count;
  for (uint32_t i = 0; i < now->object_count; i++) {
    made->earlier[i] = obstacle == NULL ? find_earlier(&now->objects[i], previous) : UINT32_MAX;
    made->unchanged += made->earlier[i] != UINT32_MAX;
  }
  note_pairs(made);
  if (reason != NULL) *reason = obstacle;
  *reuse = made;
  return GRAZE_OK;
}

void graze_report_reuse_destroy(graze_report_reuse *reuse) {
  if (reuse == NULL) return;
  gz_free(reuse->earlier);
  gz_map_close(&reuse->pairs);
  gz_free(reuse);
}

uint32_t graze_report_reuse_unchanged(const graze_report_reuse *reuse) {
  return reuse->unchanged;
}

graze_earlier graze_report_reuse_pair(const graze_report_reuse *reuse, uint32_t a, uint32_t b,
                                      const graze_report_previous_clash **clash) {
  if (clash != NULL) *clash = NULL;
  if (a >= b || b >= reuse->object_count) return GRAZE_EARLIER_UNKNOWN;
  uint32_t first = reuse->earlier[a], second = reuse->earlier[b];
  if (first == UINT32_MAX || second == UINT32_MAX) return GRAZE_EARLIER_UNKNOWN;
  bool swapped = first > second; /* the hash of a list depends on which object comes first */
  const uint32_t *found =
      gz_map_find(&reuse->pairs, swapped ? map_pair_key(second, first) : map_pair_key(first, second));
  if (found == NULL) return GRAZE_EARLIER_SEPARATE;
  if (*found == SEVERAL || swapped) return GRAZE_EARLIER_UNKNOWN;
  const graze_report_previous_clash *entry = &reuse->then->clashes[*found];
  if (entry->relation == GRAZE_UNKNOWN) return GRAZE_EARLIER_UNKNOWN;
  if (entry->relation == GRAZE_SEPARATE) return GRAZE_EARLIER_SEPARATE;
  if (clash != NULL) *clash = entry;
  return GRAZE_EARLIER_LISTED;
}
