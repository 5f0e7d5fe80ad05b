/* A trunk, branches that rise from it in a spiral, and leaves on the branches. A leaf is a sheet of ten by ten squares
 * whose middle line bends the farther the more, in a wind that comes in waves; across it ripples run. */
#include "tree.h"

#include <math.h>
#include <stdio.h>

#include "builder.h"
#include "circle.h"
#include "random.h"

enum {
  LEAVES = 150,
  SQUARES = 10, /* along either side of a leaf */
  BRANCHES = 37,
  BRANCH_CORNERS = 12,
  BRANCH_RINGS = 10,
  TRUNK_CORNERS = 28,
  TRUNK_RINGS = 20
};

static const double height = 4, turn = 2.399963229728653; /* a golden angle from branch to branch */

/* A tube from one point to another, thinner at the end, that sags in between. */
typedef struct limb {
  double from[3], to[3], radius;
  uint32_t corners, rings;
} limb;

static void limb_point(const limb *l, double along, double point[3]) {
  for (int k = 0; k < 3; k++) point[k] = l->from[k] + along * (l->to[k] - l->from[k]);
  point[2] -= 0.4 * along * (1 - along);
}

/* Two directions across a limb. */
static void limb_frame(const limb *l, double u[3], double w[3]) {
  double d[3], length = 0;
  for (int k = 0; k < 3; k++) d[k] = l->to[k] - l->from[k];
  length = sqrt(d[0] * d[0] + d[1] * d[1]);
  u[0] = length > 0 ? -d[1] / length : 1;
  u[1] = length > 0 ? d[0] / length : 0;
  u[2] = 0;
  const double whole = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  w[0] = (d[1] * u[2] - d[2] * u[1]) / whole;
  w[1] = (d[2] * u[0] - d[0] * u[2]) / whole;
  w[2] = (d[0] * u[1] - d[1] * u[0]) / whole;
}

static void add_limb(builder *build, const limb *l) {
  double u[3], w[3];
  uint32_t first = 0, last = 0;
  limb_frame(l, u, w);
  for (uint32_t r = 0; r <= l->rings; r++) {
    const double along = (double)r / l->rings, radius = l->radius * (1 - 0.7 * along);
    for (uint32_t c = 0; c < l->corners; c++) {
      double middle[3], cosine, sine, point[3];
      limb_point(l, along, middle);
      circle_point(c, l->corners, &cosine, &sine);
      for (int k = 0; k < 3; k++) point[k] = middle[k] + radius * (cosine * u[k] + sine * w[k]);
      last = builder_vertex(build, point);
      if (r == 0 && c == 0) first = last;
    }
  }
  for (uint32_t r = 0; r < l->rings; r++) {
    for (uint32_t c = 0; c < l->corners; c++) {
      const uint32_t next = (c + 1) % l->corners, low = first + r * l->corners, high = low + l->corners;
      builder_quad(build, low + c, low + next, high + next, high + c);
    }
  }
}

static limb branch(uint32_t number) {
  const double share = (double)number / BRANCHES, z = height * (0.3 + 0.65 * share), reach = 2 * (1 - 0.7 * share);
  const double cosine = circle_sine(turn * number + 1.5707963267948966), sine = circle_sine(turn * number);
  return (limb){
      {0, 0, z}, {reach * cosine, reach * sine, z + 0.5}, 0.06 * (1 - 0.5 * share), BRANCH_CORNERS, BRANCH_RINGS};
}

/* What a leaf keeps: where it grows, which way it points, and when it moves. */
typedef struct leaf {
  double at[3], along[3], across[3], up[3], length, phase;
} leaf;

/* The wind is the same in every call. */
static leaf leaf_of(uint32_t number) {
  random_stream random = {number + 1};
  const limb l = branch(number % BRANCHES);
  double rotation[9];
  leaf f;
  limb_point(&l, stream_between(&random, 0.4, 1), f.at);
  stream_rotation(&random, rotation);
  for (int k = 0; k < 3; k++) {
    f.along[k] = rotation[k];
    f.across[k] = rotation[3 + k];
    f.up[k] = rotation[6 + k];
  }
  f.length = stream_between(&random, 0.25, 0.45);
  f.phase = stream_between(&random, 0, 6.25);
  return f;
}

static void leaf_point(const leaf *f, uint32_t i, uint32_t j, double time, double point[3]) {
  const double x = (double)i / SQUARES, y = (double)j / SQUARES - 0.5, width = 2.4 * x * (1 - x) + 0.08;
  const double gust = circle_sine(1.7 * time + f->phase), flutter = circle_sine(9 * time + f->phase + 7 * x);
  const double side = f->length * width * y;
  const double lift =
      f->length * (x * x * (0.6 * gust - 0.2) + 0.04 * flutter * x + 0.1 * circle_sine(11 * y + 4 * time));
  for (int k = 0; k < 3; k++) point[k] = f->at[k] + f->length * x * f->along[k] + side * f->across[k] + lift * f->up[k];
}

static void add_leaf(builder *build, uint32_t number) {
  const leaf f = leaf_of(number);
  for (uint32_t i = 0; i <= SQUARES; i++) {
    for (uint32_t j = 0; j <= SQUARES; j++) {
      double point[3];
      leaf_point(&f, i, j, 0, point);
      builder_vertex(build, point);
    }
  }
  for (uint32_t i = 0; i < SQUARES; i++) {
    for (uint32_t j = 0; j < SQUARES; j++) {
      const uint32_t a = i * (SQUARES + 1) + j, b = a + SQUARES + 1;
      builder_quad(build, a, b, b + 1, a + 1);
    }
  }
}

static bool finish(scenes_scene *scene, builder *build, const char *name) {
  uint32_t mesh;
  return scene_take_mesh(scene, build, name, &mesh) && scene_add_object(scene, name, name, mesh, identity_pose);
}

bool tree_make(scenes_scene *scene) {
  builder build = {0};
  const limb trunk = {{0, 0, 0}, {0, 0, height}, 0.2, TRUNK_CORNERS, TRUNK_RINGS};
  *scene = (scenes_scene){0};
  add_limb(&build, &trunk);
  for (uint32_t i = 0; i < BRANCHES; i++) {
    const limb l = branch(i);
    add_limb(&build, &l);
  }
  bool good = finish(scene, &build, "tree");
  for (uint32_t i = 0; good && i < LEAVES; i++) {
    char name[32];
    snprintf(name, sizeof name, "leaf_%u", i + 1);
    add_leaf(&build, i);
    good = finish(scene, &build, name);
  }
  if (!good) scenes_free(scene);
  return good;
}

void tree_move(scenes_scene *scene, double time) {
  for (uint32_t n = 0; n < LEAVES; n++) {
    const leaf f = leaf_of(n);
    double *point = scene->meshes[n + 1].vertices;
    for (uint32_t i = 0; i <= SQUARES; i++) {
      for (uint32_t j = 0; j <= SQUARES; j++, point += 3) leaf_point(&f, i, j, time, point);
    }
  }
}
