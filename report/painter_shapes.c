/* painter_shapes.c: meshes that are drawn in place of balls, as solids like any other, turned as their balls are, and
 * coloured like balls. Each mesh is sent once; of many balls it is simplified like a mesh of many objects. */
#include <math.h>
#include <stdlib.h>

#include "painter.h"
#include "simplify.h"
#include "track.h"

enum { MOST_TRIANGLES = 4000000 };

/* NULL: out of memory, which is noted. */
static const painter_mesh *find_shape(graze_painter *painter, const graze_mesh *mesh, uint32_t share) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  for (const painter_shape *s = painter->shapes; s != NULL; s = s->next) {
    if (s->hash == facts.hash && s->share == share) return &s->mesh;
  }
  painter_shape *made = gz_new_zeroed(painter->owner, 1, sizeof *made);
  if (made == NULL) {
    gz_painter_fail_memory(painter);
    return NULL;
  }
  *made = (painter_shape){.next = painter->shapes, .hash = facts.hash, .share = share};
  painter->shapes = made;
  return gz_painter_mesh_send(painter, mesh, share, &made->mesh) ? &made->mesh : NULL;
}

void gz_painter_shapes_destroy(graze_painter *painter) {
  while (painter->shapes != NULL) {
    painter_shape *shape = painter->shapes;
    painter->shapes = shape->next;
    gz_painter_mesh_destroy(painter, &shape->mesh);
    gz_free(shape);
  }
}

/* How many triangles each set's mesh is drawn with. */
static void share_out(const graze_track *track, simplify_wish *wishes, uint32_t *shares) {
  for (uint32_t i = 0; i < track->set_count; i++) {
    const graze_track_set *set = &track->sets[i];
    wishes[i] = (simplify_wish){set->mesh != NULL ? graze_mesh_triangle_count(set->mesh) : 0,
                                set->count > 0 ? set->count : 1, 1};
  }
  gz_simplify_shares(wishes, track->set_count, UINT64_MAX, MOST_TRIANGLES, shares);
}

/* What takes the mesh of a set to a ball. */
static graze_pose pose_of(const track_shape *shape, const double position[3], const double q[4], double radius) {
  graze_pose pose;
  double rows[3][3];
  gz_track_rotation(q, rows);
  for (int r = 0; r < 3; r++) {
    double *row = pose.m + 4 * r;
    row[3] = position[r];
    for (int k = 0; k < 3; k++) {
      row[k] = rows[r][k] * (radius / shape->reach);
      row[3] -= row[k] * shape->middle[k];
    }
  }
  return pose;
}

typedef struct shape_state {
  double *positions, *speeds, *orientations;
  bool *touching;
  simplify_wish *wishes;
  uint32_t *shares;
} shape_state;

static bool add_set(graze_painter *painter, const painter_view *view, const graze_track *track, uint32_t set,
                    size_t first, const shape_state *state) {
  const double top = gz_track_speed_of(track, gz_track_top_level(track));
  const painter_mesh *mesh = find_shape(painter, track->sets[set].mesh, state->shares[set]);
  bool good = mesh != NULL;
  for (size_t i = first; i < first + track->sets[set].count && good; i++) {
    float colour[4];
    const painter_ball ball = {(uint32_t)i, set, state->speeds[i], top, state->touching[i]};
    if (track->colliding && !ball.touching) continue;
    const graze_pose pose =
        pose_of(&track->shapes[set], state->positions + 3 * i, state->orientations + 4 * i, track->radii[i]);
    gz_painter_ball_colour(track, &ball, colour);
    good = gz_painter_list_add_mesh(painter, view, mesh, &pose, colour);
  }
  return good;
}

static bool add_sets(graze_painter *painter, const painter_view *view, const graze_track *track,
                     const shape_state *state) {
  size_t first = 0;
  share_out(track, state->wishes, state->shares);
  for (uint32_t set = 0; set < track->set_count; set++) {
    if (track->sets[set].mesh != NULL && !add_set(painter, view, track, set, first, state)) return false;
    first += track->sets[set].count;
  }
  return true;
}

bool gz_painter_shapes_add(graze_painter *painter, const painter_view *view, graze_track *track, uint32_t frame) {
  const size_t n = (size_t)track->balls + 1, sets = (size_t)track->set_count + 1;
  shape_state state = {.positions = gz_new(painter->owner, 3 * n, sizeof(double)),
                       .speeds = gz_new(painter->owner, n, sizeof(double)),
                       .orientations = gz_new(painter->owner, 4 * n, sizeof(double)),
                       .touching = gz_new(painter->owner, n, sizeof(bool)),
                       .wishes = gz_new(painter->owner, sets, sizeof *state.wishes),
                       .shares = gz_new(painter->owner, sets, sizeof *state.shares)};
  bool good = state.positions != NULL && state.speeds != NULL && state.orientations != NULL && state.touching != NULL &&
              state.wishes != NULL && state.shares != NULL &&
              graze_track_read_frame(track, frame, state.positions, state.speeds, state.touching) == GRAZE_OK &&
              graze_track_read_orientations(track, frame, state.orientations) == GRAZE_OK;
  good = good ? add_sets(painter, view, track, &state) : gz_painter_fail_memory(painter);
  gz_free(state.positions);
  gz_free(state.speeds);
  gz_free(state.orientations);
  gz_free(state.touching);
  gz_free(state.wishes);
  gz_free(state.shares);
  return good;
}
