/* A ray along the axis that leaves the mesh's box soonest, and the sum of the signs with which it passes triangles.
 *
 * Seen along the axis a triangle is passed where the point lies inside its outline. Outlines that the point lies on are
 * decided as if it stood a little further along the next axis, and much less along the one after: the same for both
 * triangles of an edge, so that no ray is ever thrown away. That changes no answer, as there is no triangle close to
 * the point. A triangle that is passed has an inside, and the point is not in its plane: it would lie on the triangle.
 *
 * H. Edelsbrunner, E. Muecke, "Simulation of Simplicity", 1990.
 */
#include "narrow/winding.h"

#include <math.h>

#include "exact/orient.h"
#include "narrow/locate.h"
#include "narrow/point_boxes.h"

point_gaps_function *gz_point_gaps_best(void) {
  return CPU_KERNEL(gz_point_gaps);
}

segment_boxes_function *gz_segment_boxes_best(void) {
  return CPU_KERNEL(gz_segment_boxes);
}

/* What has been passed so far. */
typedef struct passages {
  const solid *shape;
  const double *p;
  int axis, way; /* the ray goes along +axis or -axis */
  int winding;
  uint64_t odd; /* bit w: within walls w */
} passages;

/* Sign of the turn from q over r to the point, seen from +axis; 0: the edge is a point. */
static int turn_sign(const passages *s, const double q[3], const double r[3]) {
  int sign = gz_orient2d(s->axis, q, r, s->p), x = (s->axis + 1) % 3, y = (s->axis + 2) % 3;
  if (sign != 0) return sign;
  if (q[y] != r[y]) return r[y] < q[y] ? 1 : -1;
  return (r[x] > q[x]) - (r[x] < q[x]);
}

static bool may_pass(const passages *s, const double c[9]) {
  for (int i = 1; i < 3; i++) {
    int k = (s->axis + i) % 3;
    double x = s->p[k];
    if ((c[k] > x && c[3 + k] > x && c[6 + k] > x) || (c[k] < x && c[3 + k] < x && c[6 + k] < x)) return false;
  }
  const double *z = c + s->axis;
  double x = s->p[s->axis];
  if (s->way > 0) return z[0] >= x || z[3] >= x || z[6] >= x;
  return z[0] <= x || z[3] <= x || z[6] <= x;
}

/* 1 where the ray comes out of the triangle's back, so that it leaves; -1 where it enters. */
static int passage(const passages *s, const double c[9]) {
  if (!may_pass(s, c)) return 0;
  int turn = turn_sign(s, c, c + 3);
  if (turn == 0 || turn_sign(s, c + 3, c + 6) != turn || turn_sign(s, c + 6, c) != turn) return 0;
  int above = gz_orient3d(c, c + 3, c + 6, s->p) * turn; /* of the triangle, along the axis */
  return above * s->way < 0 ? turn * s->way : 0;
}

static void pass(passages *s, const side *mesh, uint32_t triangle) {
  double c[9];
  uint32_t part = s->shape->part_of[triangle];
  if (part == NO_PART || s->shape->parts[part].fault != GRAZE_DOUBT_NONE) return;
  gz_side_corners(mesh, triangle, c);
  int sign = passage(s, c);
  if (s->shape->parts[part].parity)
    s->odd ^= (uint64_t)(sign != 0) << s->shape->parts[part].walls;
  else
    s->winding += sign;
}

/* The shortest way out of the box; false: the point is outside. */
static bool choose_way(const graze_box *box, passages *s, double *length) {
  *length = (double)INFINITY;
  for (int k = 0; k < 3; k++) {
    double above = box->max[k] - s->p[k], below = s->p[k] - box->min[k];
    if (!(above >= 0 && below >= 0)) return false;
    if (!(fmin(above, below) < *length)) continue;
    *length = fmin(above, below);
    s->axis = k;
    s->way = above <= below ? 1 : -1;
  }
  return true;
}

/* A bit longer than to the box, which what is rounded may not shorten. */
static void traverse(worker *w, const job *j, passages *s, double length) {
  double middle[3], half[3];
  const mesh_map *map = &j->map;
  segment_boxes_function *meets = gz_segment_boxes_best();
  for (int k = 0; k < 3; k++) {
    const double *row = map->linear + 3 * k;
    half[k] = row[s->axis] * (0.5 * s->way * length * (1 + 0x1p-20));
    middle[k] = ((row[0] * s->p[0] + row[1] * s->p[1]) + row[2] * s->p[2]) + map->shift[k] + half[k];
  }
  w->depth = 0;
  if (!gz_worker_push(w, 0, 0)) return;
  while (w->depth > 0) {
    const bvh_node *node = &j->a.mesh->nodes[((node_pair *)w->stack.data)[--w->depth].a];
    for (unsigned bits = meets(node, middle, half, map); bits != 0; bits &= bits - 1) {
      uint32_t child = node->child[__builtin_ctz(bits)];
      if (node->bottom)
        pass(s, &j->a, child);
      else if (!gz_worker_push(w, child, 0))
        return;
    }
  }
}

bool gz_winding_inside(worker *w, const job *j, const solid *shape, const graze_box *box, const double p[3]) {
  passages s = {.shape = shape, .p = p};
  double length;
  if (!choose_way(box, &s, &length)) return false;
  if (j->tree)
    traverse(w, j, &s, length);
  else
    for (uint32_t t = 0; t < j->a.mesh->triangle_count; t++) pass(&s, &j->a, t);
  return s.winding != 0 || s.odd != 0;
}
