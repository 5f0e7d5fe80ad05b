/* Fragments of something that burst: their hulls, how far they are from each other or how deep in each other, and where
 * a box touches the floor. */
#include <graze/graze.h>
#include <inttypes.h>
#include <stdio.h>

enum { fragments = 3, corners = 6 };

/* Points of the fragments before they flew; the last one of each lies inside its hull. */
static const double clouds[fragments][corners][3] = {
    {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 1}, {0.5, 0.5, 0.5}},
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}, {0.5, 0.5, 0.5}},
    {{0, 0, 0}, {3, 0, 0}, {3, 0, 1}, {0, 0, 1}, {1, 0, 0.5}, {2, 0, 0.5}}}; /* flat */
static const double places[fragments][3] = {{0, 0, 0}, {1.25, 0.25, 0.25}, {-1, 4, 0}};

static graze_pose shifted(const double by[3]) {
  graze_pose pose = graze_pose_identity();
  for (int k = 0; k < 3; k++) pose.m[4 * k + 3] = by[k];
  return pose;
}

static graze_status show_pairs(graze_context *context, const graze_convex *sets, const graze_pose *poses) {
  const graze_convex_pair pairs[3] = {{&sets[0], &sets[1], &poses[0], &poses[1]},
                                      {&sets[0], &sets[2], &poses[0], &poses[2]},
                                      {&sets[1], &sets[2], &poses[1], &poses[2]}};
  graze_convex_result results[3];
  graze_status status = graze_convex_batch(context, 3, pairs, GRAZE_T1, GRAZE_CONVEX_SHARP, results);
  for (int i = 0; status == GRAZE_OK && i < 3; i++) {
    const graze_convex_result *r = &results[i];
    printf("fragments %d and %d: %s %.6g\n", (int)(pairs[i].a - sets), (int)(pairs[i].b - sets),
           r->hit ? "overlap by" : "are apart by", r->hit ? -r->distance : r->distance);
  }
  return status;
}

static graze_status show_contact(graze_context *context, const graze_convex *fragment) {
  static const double slab[8][3] = {{-9, -9, -1}, {9, -9, -1}, {-9, 9, -1}, {9, 9, -1},
                                    {-9, -9, 0},  {9, -9, 0},  {-9, 9, 0},  {9, 9, 0}};
  graze_hull *floor = NULL;
  graze_manifold contact = {0};
  graze_status status = graze_hull_create(context, 8, slab[0], &floor);
  if (status != GRAZE_OK) return status;
  const graze_convex ground = graze_convex_of_hull(floor, 0);
  const graze_pose sunk = shifted((const double[3]){0, 0, -0.01});
  const graze_convex_pair pair = {&ground, fragment, NULL, &sunk};
  status = graze_convex_touch(context, 1, &pair, 0, &contact);
  for (uint32_t i = 0; i < contact.count; i++) {
    const graze_manifold_point *p = &contact.points[i];
    printf("contact at %g %g %g, gap %g\n", p->at[0], p->at[1], p->at[2], p->gap);
  }
  graze_hull_destroy(floor);
  return status;
}

int main(void) {
  graze_context *context = NULL;
  graze_hull *hulls[fragments] = {NULL};
  graze_convex sets[fragments];
  graze_pose poses[fragments];
  graze_status status = graze_context_create(NULL, &context);
  for (int i = 0; status == GRAZE_OK && i < fragments; i++) {
    status = graze_hull_create(context, corners, clouds[i][0], &hulls[i]);
    if (status != GRAZE_OK) break;
    sets[i] = graze_convex_of_hull(hulls[i], 0);
    poses[i] = shifted(places[i]);
    printf("fragment %d: dimension %" PRIu32 ", %" PRIu32 " vertices, %" PRIu32 " faces\n", i, hulls[i]->dimension,
           hulls[i]->vertex_count, hulls[i]->face_count);
  }
  if (status == GRAZE_OK) status = show_pairs(context, sets, poses);
  if (status == GRAZE_OK) status = show_contact(context, &sets[1]);
  if (status != GRAZE_OK) fprintf(stderr, "fragments: %s\n", graze_status_string(status));
  for (int i = 0; i < fragments; i++) graze_hull_destroy(hulls[i]);
  graze_context_destroy(context);
  return status == GRAZE_OK ? 0 : 3;
}
