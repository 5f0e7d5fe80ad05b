/* A plant has a few hundred different parts, so that the search runs through them all. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

const turn turn_none = {{1, 2, 3}};
const turn turn_quarter = {{2, -1, 3}};
const turn turn_cycle = {{2, 3, 1}};
const turn turn_upright = {{3, 1, 2}};

static bool is_same(const solid *a, const solid *b) {
  if (a->kind != b->kind) return false;
  for (int k = 0; k < 4; k++) {
    if (a->size[k] != b->size[k]) return false;
  }
  return true;
}

bool parts_find(parts *shelf, const solid *what, uint32_t *mesh) {
  uint32_t count = shelf->scene->mesh_count;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_same(&shelf->known[i], what)) continue;
    *mesh = i;
    return true;
  }
  if (count == shelf->room) {
    solid *moved = realloc(shelf->known, (2 * (size_t)count + 64) * sizeof *moved);
    if (!moved) return false;
    shelf->known = moved;
    shelf->room = 2 * count + 64;
  }
  builder build = {0};
  char name[32];
  solid_build(&build, what, shelf->detail);
  solid_name(what, name);
  if (!scene_take_mesh(shelf->scene, &build, name, mesh)) return false;
  shelf->known[*mesh] = *what;
  return true;
}

void parts_free(parts *shelf) {
  free(shelf->known);
  memset(shelf, 0, sizeof *shelf);
}

/* x to any of the six directions, y to any of the four across it; z follows. */
turn turn_numbered(uint32_t index) {
  int first = (int)(index / 4 % 6), second = (int)(index % 4);
  int x = first / 2, y = (x + 1 + second / 2) % 3, z = 3 - x - y;
  int sign_x = first % 2 ? -1 : 1, sign_y = second % 2 ? -1 : 1;
  int sign_z = y == (x + 1) % 3 ? sign_x * sign_y : -sign_x * sign_y;
  return (turn){{(int8_t)(sign_x * (x + 1)), (int8_t)(sign_y * (y + 1)), (int8_t)(sign_z * (z + 1))}};
}

void turn_pose(turn how, const double at[3], double pose[12]) {
  memset(pose, 0, 12 * sizeof *pose);
  for (int k = 0; k < 3; k++) {
    int row = abs(how.to[k]) - 1;
    pose[4 * row + k] = how.to[k] < 0 ? -1 : 1;
    pose[4 * k + 3] = at[k];
  }
}
