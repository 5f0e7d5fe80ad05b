/* Hollow pipes with elbows, as plant models have them: six pairs in the positions that are hard for tests by sampling
 * or by convex hulls, and seeded runs on a lattice that cross and overlap by chance. Rings have 32 corners; straight
 * runs lie along the axes and their corners are exact, so that pipes on one axis share their planes to the last bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "circle.h"
#include "kinds.h"
#include "random.h"

enum { ring_corners = 32, elbow_steps = 8, most_legs = 6 };

typedef struct pipe_frame { /* where a ring stands: its middle and two directions */
  double middle[3], u[3], v[3];
} pipe_frame;

typedef struct pipe {
  builder *build;
  double outer, inner; /* radii */
  pipe_frame frame;    /* at the open end */
  double along[3];     /* direction of travel, u x v */
  uint32_t outer_ring; /* first vertices of the last rings */
  uint32_t inner_ring;
  bool started;
} pipe;

static uint32_t add_ring(builder *build, const pipe_frame *frame, double radius) {
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  for (uint32_t i = 0; i < ring_corners; i++) {
    double cosine, sine, point[3];
    circle_point(i, ring_corners, &cosine, &sine);
    for (int k = 0; k < 3; k++)
      point[k] = frame->middle[k] + (radius * cosine * frame->u[k] + radius * sine * frame->v[k]);
    builder_vertex(build, point);
  }
  return first;
}

/* Squares between two rings. Seen along the axis from the first to the second, they face away from it. */
static void join_rings(builder *build, uint32_t first, uint32_t second) {
  for (uint32_t i = 0; i < ring_corners; i++) {
    uint32_t next = (i + 1) % ring_corners;
    builder_quad(build, first + i, first + next, second + next, second + i);
  }
}

/* Rings at the current frame, joined to the last ones, or to each other at the first end. */
static void pipe_advance(pipe *p) {
  uint32_t outer = add_ring(p->build, &p->frame, p->outer), inner = add_ring(p->build, &p->frame, p->inner);
  if (p->started) {
    join_rings(p->build, p->outer_ring, outer);
    join_rings(p->build, inner, p->inner_ring);
  } else {
    join_rings(p->build, inner, outer);
  }
  p->started = true;
  p->outer_ring = outer;
  p->inner_ring = inner;
}

static void pipe_straight(pipe *p, double length) {
  for (int k = 0; k < 3; k++) p->frame.middle[k] += length * p->along[k];
  pipe_advance(p);
}

static void pipe_end(pipe *p) {
  join_rings(p->build, p->outer_ring, p->inner_ring);
}

/* `vector` turned by the elbow's angle in the plane from `along` to `towards`. All are along axes or turned so. */
static void turn_vector(const double vector[3], const double along[3], const double towards[3], double cosine,
                        double sine, double turned[3]) {
  double on_along = 0, on_towards = 0;
  for (int k = 0; k < 3; k++) {
    on_along += vector[k] * along[k];
    on_towards += vector[k] * towards[k];
  }
  for (int k = 0; k < 3; k++) {
    double rest = vector[k] - on_along * along[k] - on_towards * towards[k];
    turned[k] = rest + on_along * (cosine * along[k] + sine * towards[k]) +
                on_towards * (cosine * towards[k] - sine * along[k]);
  }
}

/* A quarter of a torus of radius `bend` into the direction `towards`. */
static void pipe_elbow(pipe *p, const double towards[3], double bend) {
  const pipe_frame start = p->frame;
  double along[3];
  memcpy(along, p->along, sizeof along);
  for (uint32_t step = 1; step <= elbow_steps; step++) {
    double cosine, sine;
    circle_point(step, 4 * elbow_steps, &cosine, &sine);
    turn_vector(start.u, along, towards, cosine, sine, p->frame.u);
    turn_vector(start.v, along, towards, cosine, sine, p->frame.v);
    for (int k = 0; k < 3; k++)
      p->frame.middle[k] = start.middle[k] + bend * (sine * along[k] + (1 - cosine) * towards[k]);
    pipe_advance(p);
  }
  memcpy(p->along, towards, sizeof p->along);
}

/* Starts at `from` along an axis, with u and v along the next two. */
static pipe pipe_begin(builder *build, const double from[3], int axis, int sign, double outer, double inner) {
  pipe p = {.build = build, .outer = outer, .inner = inner};
  memcpy(p.frame.middle, from, sizeof p.frame.middle);
  p.along[axis] = sign;
  p.frame.u[(axis + 1) % 3] = 1;
  p.frame.v[(axis + 2) % 3] = sign;
  pipe_advance(&p);
  return p;
}

/* ---- the six pairs ----------------------------------------------------------------------------------------- */

static bool add_straight(scenes_scene *scene, const char *name, double outer, double inner, double length,
                         uint32_t *mesh) {
  builder build = {0};
  pipe p = pipe_begin(&build, (const double[3]){0, 0, 0}, 0, 1, outer, inner);
  pipe_straight(&p, length);
  pipe_end(&p);
  return scene_take_mesh(scene, &build, name, mesh);
}

/* Pairs are 2 m or more from one another along y, and where no run can get: those start at x >= 1 and go at most 18 m
 * in one direction. */
static bool add_pairs(scenes_scene *scene, double gap) {
  const double radius = 0.125, bore = 0.09375;
  uint32_t tube, core;
  if (!add_straight(scene, "tube", radius, bore, 4, &tube)) return false;
  if (!add_straight(scene, "core", bore - gap, 0.5 * (bore - gap), 4, &core)) return false;
  const double across[12] = {0, -1, 0, -30, 1, 0, 0, -11, 0, 0, 1, 0};
  return scene_add_object_at(scene, "parallel_1", "pipes", tube, -32, 0, 0) && /* side by side, `gap` apart */
         scene_add_object_at(scene, "parallel_2", "pipes", tube, -32, 2 * radius + gap, 0) &&
         scene_add_object_at(scene, "sleeve_1", "pipes", tube, -32, -2, 0) && /* one in the bore of the other */
         scene_add_object_at(scene, "sleeve_2", "pipes", core, -32, -2, 0) &&
         scene_add_object_at(scene, "coincident_1", "pipes", tube, -32, -4,
                             0) && /* on one axis, half the length shared */
         scene_add_object_at(scene, "coincident_2", "pipes", tube, -30, -4, 0) &&
         scene_add_object_at(scene, "butt_1", "pipes", tube, -32, -6, 0) && /* end face on end face */
         scene_add_object_at(scene, "butt_2", "pipes", tube, -28, -6, 0) &&
         scene_add_object_at(scene, "crossing_1", "pipes", tube, -32, -9, 0) && /* through each other, axes cross */
         scene_add_object(scene, "crossing_2", "pipes", tube, across) &&
         scene_add_object_at(scene, "twice_1", "pipes", tube, -32, -13, 0) && /* the same pipe in the same place */
         scene_add_object_at(scene, "twice_2", "pipes", tube, -32, -13, 0);
}

/* ---- the runs ---------------------------------------------------------------------------------------------- */

/* Lattice points along an axis, a metre apart; about one run for every eight cells. */
static uint32_t lattice_side(uint32_t runs) {
  uint32_t side = 4;
  while ((uint64_t)side * side * side < 8 * (uint64_t)runs) side++;
  return side;
}

/* Legs go up or down an axis, always the same way on that axis, so that a run cannot come back upon itself. */
static void build_run(builder *build, random_stream *random, uint32_t side) {
  const bool thick = stream_below(random, 4) == 0;
  const double outer = thick ? 0.1875 : 0.125, inner = 0.75 * outer, bend = 3 * outer;
  double from[3];
  int sign[3];
  for (int k = 0; k < 3; k++) {
    from[k] = 1 + stream_below(random, side);
    sign[k] = stream_below(random, 2) ? 1 : -1;
  }
  int axis = (int)stream_below(random, 3);
  uint32_t legs = 3 + stream_below(random, most_legs - 2);
  pipe p = pipe_begin(build, from, axis, sign[axis], outer, inner);
  for (uint32_t leg = 0; leg < legs; leg++) {
    double taken = (leg > 0) * bend + (leg + 1 < legs) * bend; /* the elbows' share of the way */
    pipe_straight(&p, 2 + stream_below(random, 2) - taken);
    if (leg + 1 == legs) break;
    double towards[3] = {0, 0, 0};
    axis = (axis + 1 + (int)stream_below(random, 2)) % 3;
    towards[axis] = sign[axis];
    pipe_elbow(&p, towards, bend);
  }
  pipe_end(&p);
}

bool scenes_make_pipes(const scenes_request *request, scenes_scene *scene) {
  random_stream random = {request->seed};
  uint32_t side = lattice_side(request->size);
  if (!add_pairs(scene, request->gap)) return false;
  for (uint32_t run = 0; run < request->size; run++) {
    builder build = {0};
    uint32_t mesh;
    char name[32];
    snprintf(name, sizeof name, "run_%u", run + 1);
    build_run(&build, &random, side);
    if (!scene_take_mesh(scene, &build, name, &mesh)) return false;
    if (!scene_add_object(scene, name, "pipes", mesh, identity_pose)) return false;
  }
  return true;
}
