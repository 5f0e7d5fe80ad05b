/* Walls as CAD and building models place them: on common planes, edge to edge, corner to corner, one in the other. All
 * measures are multiples of 2^-5 m, so that flush means flush to the last bit. Pairs are 16 m from one another. */
#include <stdio.h>

#include "builder.h"
#include "kinds.h"
#include "shapes.h"

/* A wall is 4 m long, 1/4 m thick and 3 m high. */
static const double wall_size[3] = {4, 0.25, 3};

typedef struct wall_pair {
  const char *name;
  double offset[3]; /* of the second wall's low corner from the first's */
  double quarter;   /* 1: the second stands across (a quarter turn about z) */
  bool small;       /* the second is a quarter of the size */
  bool gap;         /* the offset grows by the gap along x */
} wall_pair;

static const wall_pair pairs[] = {
    {"apart", {4, 0, 0}, 0, false, true},              /* in line, `gap` apart; 0: like flush */
    {"overlap", {3.9375, 0, 0}, 0, false, false},      /* in line, sharing 62.5 mm: four common planes */
    {"flush", {4, 0, 0}, 0, false, false},             /* in line, end face on end face */
    {"stack", {0, 0, 3}, 0, false, false},             /* one on top of the other */
    {"halfway", {2, 0.25, 1}, 0, false, false},        /* side by side, faces meet in part */
    {"edge", {4, 0.25, 0}, 0, false, false},           /* common: one upright edge */
    {"corner", {4, 0.25, 3}, 0, false, false},         /* common: one point */
    {"tee", {2, 0.25, 0}, 1, false, false},            /* the end of one on the face of the other */
    {"angle", {4, 0, 0}, 1, false, false},             /* an L: end face on end strip */
    {"crossing", {2, -2, 0}, 1, false, false},         /* through each other, floors and tops on common planes */
    {"twice", {0, 0, 0}, 0, false, false},             /* the same wall in the same place */
    {"recess", {0, 0, 0}, 0, true, false},             /* a small one inside, flush in a corner */
    {"inside", {1.5, 0.09375, 1.125}, 0, true, false}, /* a small one wholly inside */
};

static bool add_wall_mesh(scenes_scene *scene, const char *name, double scale, uint32_t cuts, uint32_t *mesh) {
  const double low[3] = {0, 0, 0}, high[3] = {wall_size[0] * scale, wall_size[1] * scale, wall_size[2] * scale};
  const uint32_t all[3] = {cuts, cuts, cuts};
  builder build = {0};
  shape_box(&build, low, high, all);
  builder_weld(&build);
  return scene_take_mesh(scene, &build, name, mesh);
}

static bool add_pair(scenes_scene *scene, const wall_pair *pair, const double at[3], uint32_t wall, uint32_t small,
                     double gap) {
  char first[32], second[32];
  snprintf(first, sizeof first, "%s_1", pair->name);
  snprintf(second, sizeof second, "%s_2", pair->name);
  double c = pair->quarter ? 0 : 1, s = pair->quarter;
  double x = at[0] + pair->offset[0] + (pair->gap ? gap : 0) + s * wall_size[1]; /* a turned wall lies at -thickness */
  const double pose[12] = {c, -s, 0, x, s, c, 0, at[1] + pair->offset[1], 0, 0, 1, at[2] + pair->offset[2]};
  return scene_add_object_at(scene, first, "walls", wall, at[0], at[1], at[2]) &&
         scene_add_object(scene, second, "walls", pair->small ? small : wall, pose);
}

bool scenes_make_walls(const scenes_request *request, scenes_scene *scene) {
  uint32_t wall, small;
  if (!add_wall_mesh(scene, "wall", 1, request->size, &wall)) return false;
  if (!add_wall_mesh(scene, "small_wall", 0.25, request->size, &small)) return false;
  for (uint32_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const double at[3] = {16.0 * (i % 4) - 4, 16.0 * (i / 4), 0}; /* the wall `apart` ends at x = 0 */
    if (!add_pair(scene, &pairs[i], at, wall, small, request->gap)) return false;
  }
  return true;
}
