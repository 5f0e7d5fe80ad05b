#include "narrow/near.h"

#include <math.h>

#include "mesh/mesh.h"

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
