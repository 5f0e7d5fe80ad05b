/* track.c: what a film of balls consists of, and what is kept of its events. track_pack.c packs the frames. */
#include "track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track_pack.h"

enum { MOST_BALLS = 1 << 28, COOKIE = 0x54524b31 };

graze_track_def graze_default_track_def(void) {
  return (graze_track_def){.box = graze_box_empty(), .most_events = 20000, .cookie = COOKIE};
}

static graze_status fail_memory(const graze_track *track) {
  return gz_report_fail_memory(track->context, "film");
}

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

static graze_status check_def(graze_context *context, const graze_track_def *def) {
  uint64_t balls = 0;
  if (def == NULL || def->cookie != COOKIE || (def->sets == NULL && def->set_count > 0) ||
      (def->walls == NULL && def->wall_count > 0) || (def->curves == NULL && def->curve_count > 0))
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "an argument is missing");
  if (def->colour < GRAZE_TRACK_SPEED || def->colour > GRAZE_TRACK_CONTACT)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "no such colour");
  for (uint32_t i = 0; i < def->set_count; i++) {
    balls += def->sets[i].count;
    if (def->sets[i].name == NULL)
      return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "set %u has no name", i);
  }
  for (uint32_t i = 0; i < def->curve_count; i++) {
    if (def->curves[i].name == NULL || def->curves[i].unit == NULL)
      return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "curve %u has no name or no unit", i);
  }
  if (balls >= MOST_BALLS)
    return gz_fail_named(context, GRAZE_ERROR_LIMIT, "film", "", "%llu balls: it can hold %d at most",
                         (unsigned long long)balls, MOST_BALLS - 1);
  if (balls > 0 && def->radii == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "no radii");
  for (uint64_t i = 0; i < balls; i++) {
    if (!(def->radii[i] > 0) || !isfinite(def->radii[i]))
      return gz_fail_named(context, GRAZE_ERROR_NOT_FINITE, "film", "",
                           "radius %g of ball %llu: it must be finite and above 0", def->radii[i],
                           (unsigned long long)i);
  }
  for (uint32_t i = 0; i < def->wall_count; i++) {
    for (int k = 0; k < 3; k++) {
      if (!isfinite(def->walls[i].point[k]) || !isfinite(def->walls[i].normal[k]))
        return gz_fail_named(context, GRAZE_ERROR_NOT_FINITE, "film", "", "wall %u is not finite", i);
    }
  }
  for (int k = 0; k < 3; k++) {
    const double low = def->box.min[k], high = def->box.max[k];
    if (low <= high ? !isfinite(low) || !isfinite(high) : isnan(low) || isnan(high))
      return gz_fail_named(context, GRAZE_ERROR_NOT_FINITE, "film", "", "the box is not finite");
  }
  return GRAZE_OK;
}

bool gz_track_measure(const graze_mesh *mesh, track_shape *shape) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  shape->reach = 0;
  for (int k = 0; k < 3; k++) shape->middle[k] = facts.box.min[k] / 2 + facts.box.max[k] / 2;
  for (uint32_t i = 0; i < facts.triangles; i++) {
    double corners[9];
    graze_mesh_get_triangle(mesh, i, corners);
    for (int c = 0; c < 9; c += 3)
      shape->reach = fmax(shape->reach, hypot(hypot(corners[c] - shape->middle[0], corners[c + 1] - shape->middle[1]),
                                              corners[c + 2] - shape->middle[2]));
  }
  return shape->reach > 0 && isfinite(shape->reach);
}

static graze_status measure_shapes(graze_track *track) {
  for (uint32_t i = 0; i < track->set_count; i++) {
    if (track->sets[i].mesh == NULL) continue;
    track->turning += track->sets[i].count;
    if (!gz_track_measure(track->sets[i].mesh, &track->shapes[i]))
      return gz_fail_named(track->context, GRAZE_ERROR_ARGUMENT, "film", "", "the mesh of \"%s\" has no extent",
                           gz_report_quote(track->sets[i].name).text);
  }
  return GRAZE_OK;
}

static bool copy_radii(graze_track *track, const graze_track_def *def) {
  track->radii = gz_new(track->context, track->balls, sizeof *track->radii);
  if (track->radii == NULL) return false;
  track->smallest = INFINITY;
  for (uint32_t i = 0; i < track->balls; i++) {
    track->radii[i] = def->radii[i];
    track->smallest = fmin(track->smallest, def->radii[i]);
    track->largest = fmax(track->largest, def->radii[i]);
  }
  return true;
}

static bool copy_def(graze_track *track, const graze_track_def *def) {
  track->sets = gz_new_zeroed(track->context, def->set_count, sizeof *track->sets);
  track->shapes = gz_new_zeroed(track->context, def->set_count, sizeof *track->shapes);
  track->walls = gz_new(track->context, def->wall_count, sizeof *track->walls);
  track->curves = gz_new_zeroed(track->context, def->curve_count, sizeof *track->curves);
  track->poses = gz_new(track->context, def->object_count, sizeof *track->poses);
  if (track->sets == NULL || track->shapes == NULL || track->walls == NULL || track->curves == NULL ||
      track->poses == NULL)
    return false;
  track->object_count = def->object_count;
  for (; track->set_count < def->set_count; track->set_count++) {
    const graze_track_set *set = &def->sets[track->set_count];
    track->sets[track->set_count] = *set;
    track->sets[track->set_count].name = gz_new_text(track->context, set->name);
    if (track->sets[track->set_count].name == NULL) return false;
    track->balls += set->count;
  }
  for (; track->curve_count < def->curve_count; track->curve_count++) {
    const graze_track_curve *from = &def->curves[track->curve_count];
    graze_track_curve *curve = &track->curves[track->curve_count];
    *curve = (graze_track_curve){gz_new_text(track->context, from->name), gz_new_text(track->context, from->unit)};
    if (curve->name == NULL || curve->unit == NULL) {
      gz_free(curve->name);
      gz_free(curve->unit);
      return false;
    }
  }
  if (def->wall_count > 0) memcpy(track->walls, def->walls, def->wall_count * sizeof *track->walls);
  track->wall_count = def->wall_count;
  track->box = def->box;
  track->most_events = def->most_events;
  track->colour = def->colour;
  track->colliding = def->colliding;
  return copy_radii(track, def);
}

graze_status graze_track_create(graze_context *context, const graze_track_def *def, graze_track **track) {
  if (context == NULL || track == NULL)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "film", "", "an argument is missing");
  graze_status status = check_def(context, def);
  if (status != GRAZE_OK) return status;
  graze_track *t = gz_new_zeroed(context, 1, sizeof *t);
  if (t == NULL) return gz_report_fail_memory(context, "film");
  t->context = context;
  status = copy_def(t, def) ? measure_shapes(t) : fail_memory(t);
  if (status == GRAZE_OK) status = gz_track_pack_begin(t);
  if (status == GRAZE_OK) {
    *track = t;
  } else {
    graze_track_destroy(t);
  }
  return status;
}

void graze_track_destroy(graze_track *track) {
  if (track == NULL) return;
  gz_track_pack_end(track);
  gz_free(track->chances.chances);
  for (uint32_t i = 0; i < track->set_count; i++) gz_free(track->sets[i].name);
  for (uint32_t i = 0; i < track->curve_count; i++) {
    gz_free(track->curves[i].name);
    gz_free(track->curves[i].unit);
  }
  const track_group *groups = track->groups.data;
  for (size_t i = 0; i < track->groups.count; i++) gz_free(groups[i].bytes);
  void *const all[] = {track->sets,        track->shapes,     track->curves,      track->walls,
                       track->radii,       track->poses,      track->times.data,  track->values.data,
                       track->groups.data, track->moves.data, track->events.data, track};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) gz_free(all[i]);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static graze_status check_poses(const graze_track *track, const graze_pose *poses) {
  for (uint32_t i = 0; poses != NULL && i < track->object_count; i++) {
    if (!gz_report_pose_is_finite(&poses[i]))
      return gz_fail_named(track->context, GRAZE_ERROR_NOT_FINITE, "film", "", "the pose of object %u is not finite",
                           i);
  }
  return GRAZE_OK;
}

/* There is room for them. */
static void take_poses(graze_track *track, const graze_pose *poses) {
  graze_motion_move *moves = track->moves.data;
  for (uint32_t i = 0; poses != NULL && i < track->object_count; i++) {
    if (track->posed && memcmp(&track->poses[i], &poses[i], sizeof *poses) == 0) continue;
    moves[track->moves.count++] =
        (graze_motion_move){.step = (uint32_t)track->times.count, .object = i, .pose = poses[i]};
    track->poses[i] = poses[i];
  }
  track->posed = track->posed || poses != NULL;
}

void gz_track_find_poses(const graze_track *track, const graze_report *report, uint32_t frame, graze_pose *poses) {
  const graze_motion_move *moves = track->moves.data;
  for (uint32_t i = 0; i < report->object_count; i++) poses[i] = report->objects[i].pose;
  for (size_t i = 0; i < track->moves.count && moves[i].step <= frame; i++) {
    if (moves[i].object < report->object_count) poses[moves[i].object] = moves[i].pose;
  }
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static bool check_orientations(const graze_track *track, const double *q) {
  for (uint32_t set = 0, ball = 0; q != NULL && set < track->set_count; set++) {
    for (const uint32_t end = ball + track->sets[set].count; ball < end; ball++, q += 4) {
      const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
      if (track->sets[set].mesh == NULL || (square > 0 && isfinite(square))) continue;
      gz_fail_named(track->context, GRAZE_ERROR_NOT_FINITE, "film", "", "the orientation of ball %u is none", ball);
      return false;
    }
  }
  return true;
}

static graze_status check_frame(const graze_track *track, const graze_track_frame *frame) {
  const track_time *times = track->times.data;
  if (frame == NULL || (track->balls > 0 && (frame->positions == NULL || frame->velocities == NULL)) ||
      (track->curve_count > 0 && frame->values == NULL) || track->times.count == UINT32_MAX)
    return gz_fail_named(track->context, GRAZE_ERROR_ARGUMENT, "film", "", "an argument of the frame is missing");
  if (track->times.count > 0 && frame->step <= times[track->times.count - 1].step)
    return gz_fail_named(track->context, GRAZE_ERROR_ARGUMENT, "film", "", "a frame of step %llu after step %llu",
                         (unsigned long long)frame->step, (unsigned long long)times[track->times.count - 1].step);
  for (size_t i = 0; i < 3 * (size_t)track->balls; i++) {
    if (!isfinite(frame->positions[i]) || !isfinite(frame->velocities[i]))
      return gz_fail_named(track->context, GRAZE_ERROR_NOT_FINITE, "film", "",
                           "place or velocity of ball %zu is not finite", i / 3);
  }
  return check_orientations(track, frame->orientations) ? check_poses(track, frame->poses) : GRAZE_ERROR_NOT_FINITE;
}

graze_status graze_track_add_frame(graze_track *track, const graze_track_frame *frame) {
  if (track == NULL) return gz_fail_named(NULL, GRAZE_ERROR_ARGUMENT, "film", "", "no film");
  graze_status status = check_frame(track, frame);
  if (status != GRAZE_OK) return status;
  if (!array_reserve(track->context, &track->times, 1, sizeof(track_time)) ||
      !array_reserve(track->context, &track->moves, track->object_count, sizeof(graze_motion_move)) ||
      !array_reserve(track->context, &track->values, track->curve_count, sizeof(double)))
    return fail_memory(track);
  status = gz_track_pack(track, frame);
  if (status != GRAZE_OK) return status;
  take_poses(track, frame->poses);
  track_time *times = track->times.data;
  times[track->times.count++] = (track_time){frame->step, frame->time};
  double *values = track->values.data;
  if (track->curve_count > 0) memcpy(values + track->values.count, frame->values, track->curve_count * sizeof *values);
  track->values.count += track->curve_count;
  return GRAZE_OK;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int compare_speeds(const void *first, const void *second) {
  const track_event *a = first, *b = second;
  if (a->event.speed != b->event.speed) return a->event.speed > b->event.speed ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_numbers(const void *first, const void *second) {
  const track_event *a = first, *b = second;
  return a->number < b->number ? -1 : a->number > b->number;
}

static void drop_slow_events(graze_track *track) {
  if (track->events.count <= track->most_events) return;
  qsort(track->events.data, track->events.count, sizeof(track_event), compare_speeds);
  track->events.count = track->most_events;
}

void gz_track_sort_events(graze_track *track) {
  drop_slow_events(track);
  if (track->events.count > 1) qsort(track->events.data, track->events.count, sizeof(track_event), compare_numbers);
}

graze_status graze_track_add_event(graze_track *track, const graze_track_event *event) {
  if (track == NULL || event == NULL)
    return gz_fail_named(track != NULL ? track->context : NULL, GRAZE_ERROR_ARGUMENT, "film", "", "no event");
  const uint64_t members = (uint64_t)track->balls + track->wall_count + track->object_count;
  if (event->a >= members || event->b >= members || (unsigned)event->kind > GRAZE_CONTACT_ENDED)
    return gz_fail_named(track->context, GRAZE_ERROR_INDEX, "film", "", "event %llu: of %u and %u, and there are %llu",
                         (unsigned long long)track->event_count, event->a, event->b, (unsigned long long)members);
  if (!array_reserve(track->context, &track->events, 1, sizeof(track_event))) return fail_memory(track);
  track_event *events = track->events.data;
  events[track->events.count++] = (track_event){*event, track->event_count++};
  if (track->events.count >= 2 * (size_t)track->most_events + 1024) drop_slow_events(track);
  return GRAZE_OK;
}

/* ---- chances ----------------------------------------------------------------------------------------------------- */

static int compare_members(const void *first, const void *second) {
  const graze_track_chance *a = first, *b = second;
  return a->member < b->member ? -1 : a->member > b->member;
}

static graze_status check_chances(const graze_track *track, const graze_track_chances *chances) {
  const uint64_t members = (uint64_t)track->balls + track->wall_count + track->object_count;
  for (uint32_t i = 0; i < chances->count; i++) {
    const graze_track_chance *chance = &chances->chances[i];
    if (chance->member >= members)
      return gz_fail_named(track->context, GRAZE_ERROR_INDEX, "film", "", "chances of member %u, and there are %llu",
                           chance->member, (unsigned long long)members);
    if (chance->runs > chances->runs)
      return gz_fail_named(track->context, GRAZE_ERROR_ARGUMENT, "film", "", "member %u was hit in %llu of %llu runs",
                           chance->member, (unsigned long long)chance->runs, (unsigned long long)chances->runs);
    if (!isfinite(chance->low) || !isfinite(chance->high) || !isfinite(chance->energy))
      return gz_fail_named(track->context, GRAZE_ERROR_NOT_FINITE, "film", "", "the chances of member %u",
                           chance->member);
  }
  return GRAZE_OK;
}

graze_status graze_track_set_chances(graze_track *track, const graze_track_chances *chances) {
  if (track == NULL || chances == NULL || chances->runs == 0 || (chances->chances == NULL && chances->count > 0))
    return gz_fail_named(track != NULL ? track->context : NULL, GRAZE_ERROR_ARGUMENT, "film", "", "no chances");
  graze_status status = check_chances(track, chances);
  if (status != GRAZE_OK) return status;
  graze_track_chance *copy = gz_new(track->context, chances->count, sizeof *copy);
  if (copy == NULL) return fail_memory(track);
  gz_free(track->chances.chances);
  track->chances = *chances;
  track->chances.chances = copy;
  track->most_runs = 0;
  for (uint32_t i = 0; i < chances->count; i++) {
    copy[i] = chances->chances[i];
    if (copy[i].runs > track->most_runs) track->most_runs = copy[i].runs;
  }
  if (chances->count > 1) qsort(copy, chances->count, sizeof *copy, compare_members);
  return GRAZE_OK;
}

const graze_track_chance *gz_track_chance_of(const graze_track *track, uint32_t member) {
  const graze_track_chance key = {.member = member};
  if (track->chances.count == 0) return NULL;
  return bsearch(&key, track->chances.chances, track->chances.count, sizeof key, compare_members);
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

void gz_track_rotation(const double q[4], double rows[3][3]) {
  for (int r = 0; r < 3; r++) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    rows[r][r] = 1 - 2 * (q[1 + s] * q[1 + s] + q[1 + t] * q[1 + t]);
    rows[r][s] = 2 * (q[1 + r] * q[1 + s] - q[0] * q[1 + t]);
    rows[r][t] = 2 * (q[1 + r] * q[1 + t] + q[0] * q[1 + s]);
  }
}

double gz_track_slowest(const graze_track *track) {
  return track->resolution / 64;
}

double gz_track_speed_of(const graze_track *track, uint8_t level) {
  return level == 0 ? 0 : gz_track_slowest(track) * exp2((level - 0.5) / 8);
}

uint8_t gz_track_top_level(const graze_track *track) {
  uint64_t moving = 0, above = 0;
  uint8_t top = TRACK_LEVELS - 1;
  for (int level = 1; level < TRACK_LEVELS; level++) moving += track->levels_seen[level];
  while (top > 1 && (above += track->levels_seen[top]) <= moving / 1000) top--;
  return top;
}

graze_track_info graze_track_get_info(const graze_track *track) {
  graze_track_info info = {.bounds = graze_box_empty()};
  if (track == NULL) return info;
  info.balls = track->balls;
  info.frames = (uint32_t)track->times.count;
  info.events = track->event_count;
  info.resolution = track->resolution;
  const track_group *groups = track->groups.data;
  for (size_t i = 0; i < track->groups.count; i++) info.bytes += groups[i].size;
  for (int k = 0; k < 3 && info.frames > 0 && track->balls > 0; k++) {
    info.bounds.min[k] = track->origin[k] + track->resolution * track->low[k] - track->largest;
    info.bounds.max[k] = track->origin[k] + track->resolution * track->high[k] + track->largest;
  }
  for (int level = 1; level < TRACK_LEVELS; level++) {
    if (track->levels_seen[level] > 0) info.fastest = gz_track_slowest(track) * exp2(level / 8.0);
  }
  return info;
}
