#include "narrow/near.h"

#include <math.h>
#include <string.h>

#include "mesh/mesh.h"

/* ---- a triangle ------------------------------------------------------------------------------------------------ */

static double dot(const double a[3], const double b[3]) {
  return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    out[k] = a[l] * b[m] - a[m] * b[l];
  }
}

static void subtract(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

/* The part of p - a that is not along the segment from a to b, or leads to its nearer end. */
static void from_segment(const double a[3], const double b[3], const double p[3], double way[3]) {
  double edge[3], to[3];
  subtract(b, a, edge);
  subtract(p, a, to);
  double along = dot(to, edge), length2 = dot(edge, edge);
  if (along >= length2 && length2 > 0) {
    subtract(p, b, way);
    return;
  }
  double t = along > 0 ? along / length2 : 0;
  for (int k = 0; k < 3; k++) way[k] = to[k] - t * edge[k];
}

/* To length 1; false: it is zero. */
static bool normalize(double x[3]) {
  double length = sqrt(dot(x, x));
  for (int k = 0; k < 3 && length > 0; k++) x[k] /= length;
  return length > 0;
}

/* The normal of the triangle, from unit vectors, so that large triangles do not overflow; false: it has no area. */
static bool unit_normal(const double corners[9], double normal[3]) {
  static const double up[3] = {0, 0, 1};
  double first[3], second[3];
  subtract(corners + 3, corners, first);
  subtract(corners + 6, corners, second);
  bool has_area = normalize(first) && normalize(second);
  cross(first, second, normal);
  has_area = has_area && normalize(normal);
  if (!has_area) memcpy(normal, up, sizeof up);
  return has_area;
}

static bool projects_inside(const double corners[9], const double normal[3], const double p[3]) {
  for (int k = 0; k < 3; k++) {
    const double *from = corners + 3 * k, *to = corners + 3 * ((k + 1) % 3);
    double edge[3], inward[3], way[3];
    subtract(to, from, edge);
    subtract(p, from, way);
    cross(normal, edge, inward);
    if (!(dot(inward, way) > 0)) return false;
  }
  return true;
}

near_point gz_triangle_nearest(const double corners[9], const double p[3]) {
  near_point near = {.inside = false};
  double way[3], least[3] = {0}, least2 = (double)INFINITY;
  const bool has_area = unit_normal(corners, near.normal);
  if (has_area && projects_inside(corners, near.normal, p)) {
    subtract(p, corners, way);
    double height = dot(near.normal, way);
    for (int k = 0; k < 3; k++) near.normal[k] = height < 0 ? -near.normal[k] : near.normal[k];
    near.distance = fabs(height);
    near.inside = true;
    return near;
  }
  for (int e = 0; e < 3; e++) {
    from_segment(corners + 3 * e, corners + 3 * ((e + 1) % 3), p, way);
    double distance2 = dot(way, way);
    if (!(distance2 < least2)) continue;
    least2 = distance2;
    for (int k = 0; k < 3; k++) least[k] = way[k];
  }
  near.distance = sqrt(least2);
  for (int k = 0; k < 3 && near.distance > 0; k++) near.normal[k] = least[k] / near.distance;
  return near;
}

/* ---- a mesh ---------------------------------------------------------------------------------------------------- */

typedef struct search {
  const graze_mesh *mesh;
  const double *p;
  double radius;
  bool (*visit)(void *user, uint32_t triangle);
  void *user;
} search;

static bool visit_all(const search *s) {
  for (uint32_t t = 0; t < s->mesh->triangle_count; t++) {
    if (!s->visit(s->user, t)) return false;
  }
  return true;
}

/* Rows of `axis` have length one to float precision, which the factor allows for. */
static unsigned children_near(const bvh_node *node, const search *s) {
  double u[3], way[3], reach = s->radius * (1 + 0x1p-16);
  unsigned bits = 0;
  for (int k = 0; k < 3; k++) way[k] = s->p[k] - (double)node->origin[k];
  double slack = 0x1p-40 * (fabs(way[0]) + fabs(way[1]) + fabs(way[2]));
  for (int k = 0; k < 3; k++) {
    u[k] = 0;
    for (int l = 0; l < 3; l++) u[k] += (double)node->axis[3 * k + l] * way[l];
  }
  for (unsigned i = 0; i < node->count; i++) {
    double distance2 = 0;
    for (int k = 0; k < 3; k++) {
      double gap = fabs(u[k] - (double)node->center[k][i]) - (double)node->half[k][i] - slack;
      if (gap > 0) distance2 += gap * gap;
    }
    bits |= (unsigned)(distance2 <= reach * reach) << i;
  }
  return bits;
}

bool gz_mesh_near(const graze_mesh *mesh, const double p[3], double radius,
                  bool (*visit)(void *user, uint32_t triangle), void *user) {
  const search s = {mesh, p, radius, visit, user};
  uint32_t stack[MESH_DEPTH_LIMIT * (NODE_WIDTH - 1) + NODE_WIDTH];
  uint32_t depth = 0;
  if (mesh->node_count == 0) return visit_all(&s);
  stack[depth++] = 0;
  while (depth > 0) {
    const bvh_node *node = &mesh->nodes[stack[--depth]];
    for (unsigned bits = children_near(node, &s); bits != 0; bits &= bits - 1) {
      uint32_t child = node->child[__builtin_ctz(bits)];
      if (!node->bottom)
        stack[depth++] = child;
      else if (!visit(user, child))
        return false;
    }
  }
  return true;
}
