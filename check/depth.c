/* How deep clashes are: after the check, pair by pair, of those from an earlier report too. */
#include <string.h>

#include "check.h"
#include "graze/distance.h"

static bool has_depth(const graze_report_clash *clash) {
  switch (clash->relation) {
    case GRAZE_TOUCH:
    case GRAZE_CROSS:
    case GRAZE_A_IN_B:
    case GRAZE_B_IN_A:
    case GRAZE_DUPLICATE:
      return clash->state != GRAZE_STATE_RESOLVED;
    default:
      return false;
  }
}

static graze_status find_depth(const graze_check *c, graze_query *query, graze_report_clash *clash) {
  const check_object *a = &c->objects[clash->a], *b = &c->objects[clash->b];
  graze_depth_options how = graze_default_depth_options();
  graze_depth_result found;
  how.exactness = c->def.exactness;
  how.open = c->def.open;
  graze_status status =
      graze_mesh_depth(query, c->meshes[a->mesh].mesh, &a->pose, c->meshes[b->mesh].mesh, &b->pose, &how, &found);
  if (status != GRAZE_OK || !found.known) return status;
  clash->way_out.known = true;
  clash->way_out.depth = found.depth;
  clash->way_out.lower = found.lower;
  memcpy(clash->way_out.translation, found.translation, sizeof found.translation);
  return GRAZE_OK;
}

graze_status gz_check_find_depths(graze_check *c) {
  graze_query *query = NULL;
  if (!c->def.depth) return GRAZE_OK;
  graze_status status = graze_query_create(c->context, &query);
  for (uint32_t i = 0; i < c->report.clash_count && status == GRAZE_OK; i++) {
    if (has_depth(&c->clashes[i])) status = find_depth(c, query, &c->clashes[i]);
  }
  graze_query_destroy(query);
  return status;
}
