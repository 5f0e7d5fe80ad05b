/* How deep two convex solids overlap: the least width of their Minkowski difference along the normals of its faces,
 * which are normals of faces of one of them, or cross products of two edges whose arcs on the sphere of normals meet.
 *
 * That the meshes are convex is decided exactly; widths are rounded, and what is rounded is far below 2^-44 of the
 * largest coordinate. An edge pair that counts by mistake does no harm: its width is found from all vertices.
 *
 * S. Cameron, R. K. Culley, "Determining the Minimum Translational Distance between Two Convex Polyhedra", 1986; D.
 * Gregorius, "The Separating Axis Test between Convex Polyhedra", 2013, for the arcs.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/vector3.h"
#include "exact/orient.h"
#include "narrow/depth.h"

/* So many tests of a vertex and a face, or of two edges, are a fraction of a second. */
static const double WORK_MOST = 4e7;

/* An edge with the normals of its two faces. */
typedef struct body_edge {
  double at[3], along[3], normal[2][3];
} body_edge;

/* One of the two, posed. */
typedef struct body {
  double (*vertex)[3]; /* three a triangle: corners are repeated */
  double (*normal)[3]; /* outward, of length 1; zero where posing has flattened the face */
  body_edge *edges;
  uint32_t vertex_count, face_count, edge_count;
  void *memory;
  size_t bytes;
} body;

static bool normalize(double x[3]) {
  double size = larger(larger(fabs(x[0]), fabs(x[1])), fabs(x[2]));
  if (!(size > 0) || !isfinite(size)) return false;
  for (int k = 0; k < 3; k++) x[k] /= size;
  double length = sqrt(dot3(x, x));
  for (int k = 0; k < 3; k++) x[k] /= length;
  return true;
}

/* ---- convexity ---- */

/* 1 or -1: every vertex is on or behind, or in front of, every face; 0: neither, or all lies in one plane. */
static int convexity(const graze_mesh *mesh) {
  int sign = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    double face[9], other[9];
    mesh_corners(mesh, t, face);
    for (uint32_t u = 0; u < mesh->triangle_count; u++) {
      mesh_corners(mesh, u, other);
      for (int c = 0; c < 9; c += 3) {
        int here = -gz_orient3d(face, face + 3, face + 6, other + c);
        if (here * sign < 0) return 0;
        if (here != 0) sign = here;
      }
    }
  }
  return sign;
}

static bool is_small(const graze_mesh *a, const graze_mesh *b) {
  double x = a->triangle_count, y = b->triangle_count;
  return 3 * x * x < WORK_MOST && 3 * y * y < WORK_MOST && 3 * x * y < WORK_MOST;
}

/* ---- bodies ---- */

static graze_status make_body(const graze_context *context, const side *s, int sign, body *b) {
  const size_t faces = s->mesh->triangle_count;
  carving c = {NULL, 0};
  for (int pass = 0; pass < 2; pass++) {
    c.used = 0;
    b->vertex = gz_carve(&c, 3 * faces * sizeof *b->vertex);
    b->normal = gz_carve(&c, faces * sizeof *b->normal);
    b->edges = gz_carve(&c, 3 * faces / 2 * sizeof *b->edges);
    if (pass == 1) break;
    b->bytes = c.used;
    b->memory = c.memory = gz_memory_alloc(context, c.used);
    if (b->memory == NULL) return gz_fail_memory(context, c.used);
  }
  b->vertex_count = 3 * s->mesh->triangle_count;
  b->face_count = s->mesh->triangle_count;
  for (uint32_t t = 0; t < b->face_count; t++) {
    double corners[9], u[3], v[3], *n = b->normal[t];
    gz_side_corners(s, t, corners);
    memcpy(b->vertex[3 * (size_t)t], corners, sizeof corners);
    for (int k = 0; k < 3; k++) {
      u[k] = corners[3 + k] - corners[k];
      v[k] = corners[6 + k] - corners[k];
    }
    if (normalize(u) && normalize(v)) cross3(u, v, n);
    if (!normalize(n)) memset(n, 0, 3 * sizeof *n);
    for (int k = 0; k < 3; k++) n[k] *= sign;
  }
  return GRAZE_OK;
}

/* Each edge once, those between faces of one plane left out. */
static void find_edges(const graze_mesh *mesh, body *b) {
  b->edge_count = 0;
  for (uint32_t t = 0; t < b->face_count; t++) {
    for (uint32_t e = 0; e < 3; e++) {
      uint32_t other = mesh->neighbours[3 * (size_t)t + e];
      double bend[3];
      if (other == NO_TRIANGLE || other < t) continue;
      cross3(b->normal[t], b->normal[other], bend);
      if (!(sqrt(dot3(bend, bend)) > 0x1p-46)) continue;
      body_edge *edge = &b->edges[b->edge_count++];
      const double *p = b->vertex[3 * (size_t)t + e], *q = b->vertex[3 * (size_t)t + (e + 1) % 3];
      for (int k = 0; k < 3; k++) {
        edge->at[k] = p[k];
        edge->along[k] = q[k] - p[k];
        edge->normal[0][k] = b->normal[t][k];
        edge->normal[1][k] = b->normal[other][k];
      }
      normalize(edge->along);
    }
  }
}

/* ---- widths ---- */

/* How far the body reaches along n, times `sign`. */
static double reach(const body *b, const double n[3], int sign) {
  double most = -(double)INFINITY;
  for (uint32_t i = 0; i < b->vertex_count; i++) most = larger(sign * dot3(b->vertex[i], n), most);
  return most;
}

/* b leaves along n by as much as a reaches that way beyond where b begins. */
static void try_direction(const body *a, const body *b, const double n[3], overlap_width *least) {
  double width = reach(a, n, 1) + reach(b, n, -1);
  if (!(width < least->width)) return;
  least->width = width;
  memcpy(least->direction, n, sizeof least->direction);
}

static void try_faces(const body *a, const body *b, overlap_width *least) {
  for (uint32_t t = 0; t < a->face_count; t++) {
    if (dot3(a->normal[t], a->normal[t]) > 0) try_direction(a, b, a->normal[t], least);
  }
  for (uint32_t t = 0; t < b->face_count; t++) {
    const double n[3] = {-b->normal[t][0], -b->normal[t][1], -b->normal[t][2]};
    if (dot3(n, n) > 0) try_direction(a, b, n, least);
  }
}

/* Whether the arc of normals of an edge of a meets that of an edge of b turned round, or nearly. */
static bool arcs_meet(const body_edge *a, const body_edge *b) {
  const double *p = a->normal[0], *q = a->normal[1], off = 0x1p-40;
  double r[3], s[3], plane_a[3], plane_b[3], crossing[3];
  for (int k = 0; k < 3; k++) {
    r[k] = -b->normal[0][k];
    s[k] = -b->normal[1][k];
  }
  cross3(p, q, plane_a);
  cross3(r, s, plane_b);
  double r_side = dot3(r, plane_a), s_side = dot3(s, plane_a), p_side = dot3(p, plane_b), q_side = dot3(q, plane_b);
  bool a_parts = (r_side >= -off && s_side <= off) || (r_side <= off && s_side >= -off);
  bool b_parts = (p_side >= -off && q_side <= off) || (p_side <= off && q_side >= -off);
  if (!a_parts || !b_parts) return false;
  /* Both cross the line in which the planes meet; on the same side of the sphere? */
  cross3(plane_a, plane_b, crossing);
  return (dot3(crossing, p) + dot3(crossing, q)) * (dot3(crossing, r) + dot3(crossing, s)) >= -off;
}

static void try_edges(const body *a, const body *b, overlap_width *least) {
  for (uint32_t i = 0; i < a->edge_count; i++) {
    const body_edge *e = &a->edges[i];
    const double out[3] = {e->normal[0][0] + e->normal[1][0], e->normal[0][1] + e->normal[1][1],
                           e->normal[0][2] + e->normal[1][2]};
    for (uint32_t k = 0; k < b->edge_count; k++) {
      const body_edge *f = &b->edges[k];
      double n[3], way[3];
      if (!arcs_meet(e, f)) continue;
      cross3(e->along, f->along, n);
      if (!(dot3(n, n) > 0x1p-60) || !normalize(n)) continue;
      for (int c = 0; c < 3; c++) way[c] = e->at[c] - f->at[c];
      double turn = dot3(n, out) < 0 ? -1 : 1;
      for (int c = 0; c < 3; c++) n[c] *= turn;
      if (dot3(way, n) < least->width) try_direction(a, b, n, least);
    }
  }
}

graze_status gz_depth_convex(const graze_context *context, const side *a, const side *b, bool *convex,
                             overlap_width *least) {
  *convex = false;
  if (!mesh_is_one_shell(a->mesh) || !mesh_is_one_shell(b->mesh) || !is_small(a->mesh, b->mesh)) return GRAZE_OK;
  int sign_a = convexity(a->mesh), sign_b = sign_a != 0 ? convexity(b->mesh) : 0;
  if (sign_b == 0) return GRAZE_OK;
  const double zero[3] = {0, 0, 0}, *m = a->pose.m, *n = b->pose.m;
  sign_a *= gz_orient3d(zero, m, m + 4, m + 8);
  sign_b *= gz_orient3d(zero, n, n + 4, n + 8);
  if (sign_a == 0 || sign_b == 0) return GRAZE_OK;
  body x = {.memory = NULL}, y = {.memory = NULL};
  graze_status status = make_body(context, a, sign_a, &x);
  if (status == GRAZE_OK) status = make_body(context, b, sign_b, &y);
  if (status == GRAZE_OK) {
    find_edges(a->mesh, &x);
    find_edges(b->mesh, &y);
    *least = (overlap_width){.width = (double)INFINITY};
    try_faces(&x, &y, least);
    try_edges(&x, &y, least);
    *convex = isfinite(least->width);
  }
  gz_memory_release(context, x.memory, x.bytes);
  gz_memory_release(context, y.memory, y.bytes);
  return status;
}
