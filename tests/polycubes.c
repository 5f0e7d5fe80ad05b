/* Solids of cells: boundaries, and relations without geometry. */
#include "polycubes.h"

#include <string.h>

#include "families.h"

static bool filled(const polycube *p, int x, int y, int z) {
  if (x < 0 || y < 0 || z < 0 || x >= CELLS || y >= CELLS || z >= CELLS) return false;
  return p->cell[x][y][z];
}

static void fill(polycube *p, int step, const int at[3]) {
  for (int i = 0; i < step; i++) {
    for (int j = 0; j < step; j++) {
      for (int k = 0; k < step; k++) p->cell[at[0] + i][at[1] + j][at[2] + k] = true;
    }
  }
}

/* Two cubes that share an edge only make it an edge of four triangles: a neighbour of both is filled. */
static bool mend_edge(polycube *p, int step, int x, int y, int z, int u, int v) {
  int c[4][3];
  for (int i = 0; i < 4; i++) {
    c[i][0] = x;
    c[i][1] = y;
    c[i][2] = z;
    if (i == 1 || i == 2) c[i][u] += step;
    if (i >= 2) c[i][v] += step;
    if (c[i][u] >= CELLS || c[i][v] >= CELLS) return false;
  }
  bool f[4];
  for (int i = 0; i < 4; i++) f[i] = filled(p, c[i][0], c[i][1], c[i][2]);
  if (f[0] != f[2] || f[1] != f[3] || f[0] == f[1]) return false;
  fill(p, step, c[f[0] ? 1 : 0]);
  return true;
}

void polycube_mend(polycube *p, int step) {
  for (bool again = true; again;) {
    again = false;
    for (int x = 0; x < CELLS; x += step) {
      for (int y = 0; y < CELLS; y += step) {
        for (int z = 0; z < CELLS; z += step) {
          for (int u = 0; u < 3; u++) again |= mend_edge(p, step, x, y, z, u, (u + 1) % 3);
        }
      }
    }
  }
}

void polycube_random(polycube *p, uint64_t *state, int step, int low, int high, double chance) {
  memset(p, 0, sizeof *p);
  for (int x = low; x + step <= high; x += step) {
    for (int y = low; y + step <= high; y += step) {
      for (int z = low; z + step <= high; z += step) {
        if (random_unit(state) >= chance) continue;
        fill(p, step, (const int[3]){x, y, z});
      }
    }
  }
}

/* The square at `corner` with sides of `step` along axes u and v, its normal along u x v, or against it. */
static double *put_square(const double corner[3], int u, int v, double step, bool turned, bool diagonal, double *out) {
  double c[4][3];
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) c[i][k] = corner[k];
    if (i == 1 || i == 2) c[i][u] += step;
    if (i >= 2) c[i][v] += step;
  }
  static const int cuts[2][6] = {{0, 1, 2, 0, 2, 3}, {1, 2, 3, 1, 3, 0}};
  for (int i = 0; i < 6; i++) {
    int t = i / 3, at = turned ? 3 * t + 2 - i % 3 : i;
    for (int k = 0; k < 3; k++) *out++ = c[cuts[diagonal][at]][k];
  }
  return out;
}

static void shuffle(double *corners, uint32_t count, uint64_t *state) {
  for (uint32_t i = count; i > 1; i--) {
    uint32_t j = (uint32_t)(random_unit(state) * i);
    double t[9];
    memcpy(t, corners + 9 * (size_t)(i - 1), sizeof t);
    memcpy(corners + 9 * (size_t)(i - 1), corners + 9 * (size_t)j, sizeof t);
    memcpy(corners + 9 * (size_t)j, t, sizeof t);
  }
}

uint32_t polycube_surface(const polycube *p, int step, uint64_t *state, double *corners) {
  double *out = corners;
  for (int x = 0; x < CELLS; x += step) {
    for (int y = 0; y < CELLS; y += step) {
      for (int z = 0; z < CELLS; z += step) {
        if (!filled(p, x, y, z)) continue;
        for (int axis = 0; axis < 3; axis++) {
          int n[3] = {0, 0, 0};
          n[axis] = step;
          double low[3] = {x, y, z}, high[3] = {x + n[0], y + n[1], z + n[2]};
          int u = (axis + 1) % 3, v = (axis + 2) % 3;
          bool diagonal = random_unit(state) < 0.5, other = random_unit(state) < 0.5;
          if (!filled(p, x - n[0], y - n[1], z - n[2])) out = put_square(low, u, v, step, true, diagonal, out);
          if (!filled(p, x + n[0], y + n[1], z + n[2])) out = put_square(high, u, v, step, false, other, out);
        }
      }
    }
  }
  uint32_t count = (uint32_t)((out - corners) / 9);
  shuffle(corners, count, state);
  return count;
}

/* Closed cells share a point when they are neighbours in the widest sense. */
static bool touches(const polycube *b, int x, int y, int z) {
  for (int i = -1; i <= 1; i++) {
    for (int j = -1; j <= 1; j++) {
      for (int k = -1; k <= 1; k++) {
        if (filled(b, x + i, y + j, z + k)) return true;
      }
    }
  }
  return false;
}

graze_relation polycube_relation(const polycube *a, const polycube *b) {
  bool common = false, only_a = false, only_b = false, touch = false;
  for (int x = 0; x < CELLS; x++) {
    for (int y = 0; y < CELLS; y++) {
      for (int z = 0; z < CELLS; z++) {
        bool in_a = a->cell[x][y][z], in_b = b->cell[x][y][z];
        common |= in_a && in_b;
        only_a |= in_a && !in_b;
        only_b |= in_b && !in_a;
        touch |= in_a && touches(b, x, y, z);
      }
    }
  }
  if (!common) return touch ? GRAZE_TOUCH : GRAZE_SEPARATE;
  if (only_a && only_b) return GRAZE_CROSS;
  return only_a ? GRAZE_B_IN_A : only_b ? GRAZE_A_IN_B : GRAZE_DUPLICATE;
}
