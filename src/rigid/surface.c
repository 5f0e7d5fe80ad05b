/* Features of a mesh: corners that are at one place are one, and edges know both of their triangles. */
#include "rigid/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/owned.h"
#include "mesh/mesh.h"
#include "rigid/vector.h"

/* Sines: of the bend of an edge that is taken for flat; of how far a feature may lean and still touch, since what lies
 * flat does so within rounding and the solver's softness. */
static const double flat = 1e-3, lean = 0.05;

/* Edges that leave a corner and whose cosine is within this of -1 go on straight. */
static const double straight = 1e-7;

/* ---- corners ----------------------------------------------------------------------------------------------------- */

typedef struct placed {
  double at[3];
  uint32_t corner; /* three times the triangle, and which of it */
} placed;

static int compare_placed(const void *x, const void *y) {
  const placed *a = x, *b = y;
  for (int k = 0; k < 3; k++) {
    if (a->at[k] != b->at[k]) return a->at[k] < b->at[k] ? -1 : 1;
  }
  return a->corner < b->corner ? -1 : a->corner > b->corner;
}

/* Corners are numbered by their places. False: memory refused. */
static bool join_corners(const graze_context *context, rigid_surface *s) {
  const size_t count = 3 * (size_t)s->face_count;
  placed *list = gz_new(context, count, sizeof *list);
  s->corners = gz_new(context, count, sizeof *s->corners);
  for (uint32_t t = 0; list != NULL && t < s->face_count; t++) {
    double at[9];
    mesh_corners(s->mesh, t, at);
    for (uint32_t i = 0; i < 3; i++) {
      list[3 * (size_t)t + i].corner = 3 * t + i;
      sub3(at + 3 * i, s->center, list[3 * (size_t)t + i].at);
    }
  }
  if (list != NULL) qsort(list, count, sizeof *list, compare_placed);
  for (size_t i = 0; list != NULL && s->corners != NULL && i < count; i++) {
    const double *at = list[i].at, *last = i > 0 ? list[i - 1].at : NULL;
    if (last == NULL || at[0] != last[0] || at[1] != last[1] || at[2] != last[2]) {
      memcpy(s->corners[s->corner_count++], at, sizeof *s->corners);
      s->reach = fmax(s->reach, length3(at));
    }
    s->faces[list[i].corner / 3].corners[list[i].corner % 3] = s->corner_count - 1;
  }
  const bool good = list != NULL && s->corners != NULL;
  gz_free(list);
  return good;
}

static void find_normals(rigid_surface *s) {
  for (uint32_t t = 0; t < s->face_count; t++) {
    surface_face *face = &s->faces[t];
    double u[3], v[3];
    sub3(s->corners[face->corners[1]], s->corners[face->corners[0]], u);
    sub3(s->corners[face->corners[2]], s->corners[face->corners[0]], v);
    cross3(u, v, face->normal);
    const double length = length3(face->normal);
    face->is_flat = !(length * length > 1e-24 * dot3(u, u) * dot3(v, v));
    for (int k = 0; k < 3; k++) face->normal[k] = face->is_flat ? 0 : face->normal[k] / length;
  }
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* An edge as a triangle has it. */
typedef struct half_edge {
  uint32_t low, high, face;
  uint8_t side;
  bool forward; /* from low to high */
} half_edge;

static int compare_halves(const void *x, const void *y) {
  const half_edge *a = x, *b = y;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  if (a->face != b->face) return a->face < b->face ? -1 : 1;
  return a->side < b->side ? -1 : a->side > b->side;
}

static void list_halves(const rigid_surface *s, half_edge *halves) {
  for (uint32_t t = 0; t < s->face_count; t++) {
    for (uint8_t i = 0; i < 3; i++) {
      const uint32_t from = s->faces[t].corners[i], to = s->faces[t].corners[(i + 1) % 3];
      halves[3 * (size_t)t + i] = from < to ? (half_edge){from, to, t, i, true} : (half_edge){to, from, t, i, false};
    }
  }
}

/* Into the face at its edge, across it: a unit vector. */
static void find_into(const rigid_surface *s, const surface_edge *e, int which, double into[3]) {
  double u[3];
  sub3(s->corners[e->corners[1]], s->corners[e->corners[0]], u);
  const double *normal = s->faces[e->faces[which]].normal, sign = (which == 0 ? 1 : -1) / length3(u);
  cross3(normal, u, into);
  for (int k = 0; k < 3; k++) into[k] *= sign;
}

static surface_bend find_bend(const rigid_surface *s, const surface_edge *e) {
  double into[3];
  if (e->faces[1] == NO_FACE) return BEND_RIDGE;
  find_into(s, e, 1, into);
  const double *normal = s->faces[e->faces[0]].normal, sine = dot3(normal, into);
  /* A fold by half a turn has no sine: what lies back on its own face is a ridge. */
  if (fabs(sine) <= flat) return dot3(normal, s->faces[e->faces[1]].normal) < 0 ? BEND_RIDGE : BEND_FLAT;
  return sine < 0 ? BEND_RIDGE : BEND_VALLEY;
}

/* Beside a triangle without an area, an edge is a rim. */
static void drop_flat_faces(const rigid_surface *s, surface_edge *e) {
  if (e->faces[1] == NO_FACE) return;
  if (s->faces[e->faces[0]].is_flat) {
    const surface_edge was = *e;
    e->corners[0] = was.corners[1];
    e->corners[1] = was.corners[0];
    e->faces[0] = was.faces[1];
    e->faces[1] = was.faces[0];
  }
  if (s->faces[e->faces[1]].is_flat) e->faces[1] = NO_FACE;
}

/* The edge of some halves: of one triangle, of two that face alike, or of others. */
static surface_edge make_edge(const rigid_surface *s, const half_edge *halves, size_t count) {
  const half_edge *left = &halves[0], *right = count > 1 ? &halves[1] : NULL;
  surface_edge e = {{left->low, left->high}, {left->face, NO_FACE}, BEND_FLAT};
  if (!left->forward) {
    e.corners[0] = left->high;
    e.corners[1] = left->low;
  }
  if (right != NULL) e.faces[1] = right->face;
  const bool even = count == 1 || (count == 2 && left->forward != right->forward);
  if (even) drop_flat_faces(s, &e);
  if (even && !s->faces[e.faces[0]].is_flat) e.bend = find_bend(s, &e);
  if (s->face_count == 1 && s->faces[0].is_flat && left->low != left->high) e.bend = BEND_RIDGE; /* a segment */
  return e;
}

static bool find_edges(const graze_context *context, rigid_surface *s) {
  const size_t count = 3 * (size_t)s->face_count;
  half_edge *halves = gz_new(context, count, sizeof *halves);
  s->edges = gz_new(context, count, sizeof *s->edges);
  if (halves != NULL && s->edges != NULL) {
    list_halves(s, halves);
    qsort(halves, count, sizeof *halves, compare_halves);
  }
  for (size_t i = 0, end; halves != NULL && s->edges != NULL && i < count; i = end) {
    for (end = i + 1; end < count && halves[end].low == halves[i].low && halves[end].high == halves[i].high;) end++;
    s->edges[s->edge_count] = make_edge(s, &halves[i], end - i);
    if (s->edges[s->edge_count].bend == BEND_RIDGE) s->faces[halves[i].face].own |= (uint8_t)(8u << halves[i].side);
    for (size_t k = i; k < end; k++) s->faces[halves[k].face].edges[halves[k].side] = s->edge_count;
    s->edge_count++;
  }
  const bool good = halves != NULL && s->edges != NULL;
  gz_free(halves);
  return good;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static uint32_t find_region(surface_face *faces, uint32_t t) {
  while (faces[t].region != t) {
    faces[t].region = faces[faces[t].region].region;
    t = faces[t].region;
  }
  return t;
}

/* Faces that flat edges join. */
static void find_regions(rigid_surface *s) {
  for (uint32_t t = 0; t < s->face_count; t++) s->faces[t].region = t;
  for (uint32_t e = 0; e < s->edge_count; e++) {
    const uint32_t *sides = s->edges[e].faces;
    if (s->edges[e].bend != BEND_FLAT || sides[1] == NO_FACE) continue;
    if (s->faces[sides[0]].is_flat || s->faces[sides[1]].is_flat) continue;
    if (dot3(s->faces[sides[0]].normal, s->faces[sides[1]].normal) <= 0) continue;
    const uint32_t a = find_region(s->faces, sides[0]), b = find_region(s->faces, sides[1]);
    s->faces[a < b ? b : a].region = a < b ? a : b;
  }
  for (uint32_t t = 0; t < s->face_count; t++) s->faces[t].region = find_region(s->faces, t);
}

/* ---- stars ------------------------------------------------------------------------------------------------------- */

/* Whether an edge goes straight on through the corner. */
static bool is_passed(const rigid_surface *s, uint32_t corner) {
  for (uint32_t i = s->star_first[corner]; i < s->star_first[corner + 1]; i++) {
    for (uint32_t k = i + 1; k < s->star_first[corner + 1]; k++) {
      if (dot3(s->stars[i], s->stars[k]) < straight - 1) return true;
    }
  }
  return false;
}

static void own_corners(rigid_surface *s, bool *taken) {
  for (uint32_t i = 0; i < s->corner_count; i++) {
    s->face_of[i] = NO_FACE;
    s->stands_out[i] = !is_passed(s, i);
  }
  for (uint32_t t = 0; t < s->face_count; t++) {
    for (int i = 0; i < 3; i++) {
      const uint32_t corner = s->faces[t].corners[i];
      if (s->face_of[corner] == NO_FACE && !s->faces[t].is_flat) s->face_of[corner] = t;
      if (!taken[corner] && s->stands_out[corner]) s->faces[t].own |= (uint8_t)(1u << i);
      taken[corner] = true;
    }
  }
}

static bool find_stars(const graze_context *context, rigid_surface *s) {
  bool *taken = gz_new_zeroed(context, s->corner_count, sizeof *taken);
  s->star_first = gz_new_zeroed(context, s->corner_count + (size_t)1, sizeof *s->star_first);
  s->stars = gz_new(context, 2 * (size_t)s->edge_count, sizeof *s->stars);
  s->face_of = gz_new(context, s->corner_count, sizeof *s->face_of);
  s->stands_out = gz_new(context, s->corner_count, sizeof *s->stands_out);
  const bool good = taken && s->star_first && s->stars && s->face_of && s->stands_out;
  if (good) {
    for (uint32_t e = 0; e < s->edge_count; e++) {
      for (int i = 0; i < 2; i++) s->star_first[s->edges[e].corners[i]]++;
    }
    uint32_t sum = 0;
    for (uint32_t c = 0; c <= s->corner_count; c++) { /* the end of each, from where it is filled downwards */
      sum += s->star_first[c];
      s->star_first[c] = sum;
    }
    for (uint32_t e = s->edge_count; e-- > 0;) {
      double way[3];
      sub3(s->corners[s->edges[e].corners[1]], s->corners[s->edges[e].corners[0]], way);
      const double length = length3(way);
      for (int i = 0; i < 2; i++) {
        double *star = s->stars[--s->star_first[s->edges[e].corners[i]]];
        for (int k = 0; k < 3; k++) star[k] = length > 0 ? (i == 0 ? 1 : -1) * way[k] / length : 0;
      }
    }
    own_corners(s, taken);
  }
  gz_free(taken);
  return good;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Volume over area: half of what a plate is thick, a third of a ball's radius. */
static double find_thickness(const rigid_surface *s) {
  double six = 0, twice = 0;
  for (uint32_t t = 0; t < s->face_count; t++) {
    const double *a = s->corners[s->faces[t].corners[0]], *b = s->corners[s->faces[t].corners[1]],
                 *c = s->corners[s->faces[t].corners[2]];
    double u[3], v[3], n[3];
    cross3(b, c, n);
    six += dot3(a, n);
    sub3(b, a, u);
    sub3(c, a, v);
    cross3(u, v, n);
    twice += length3(n);
  }
  return twice > 0 && six > 0 ? six / (3 * twice) : (double)INFINITY;
}

static bool fill(const graze_context *context, rigid_surface *s) {
  graze_mesh_facts facts;
  s->face_count = (uint32_t)graze_mesh_triangle_count(s->mesh);
  s->faces = gz_new_zeroed(context, s->face_count + (size_t)1, sizeof *s->faces);
  if (s->faces == NULL || !join_corners(context, s)) return false;
  find_normals(s);
  if (!find_edges(context, s) || !find_stars(context, s)) return false;
  find_regions(s);
  graze_mesh_get_facts(s->mesh, &facts);
  s->thickness = facts.closed && facts.oriented ? find_thickness(s) : (double)INFINITY;
  return true;
}

rigid_surface *gz_surface_create(const graze_context *context, const graze_mesh *mesh, const double center[3]) {
  rigid_surface *s = gz_new_zeroed(context, 1, sizeof *s);
  if (s == NULL) return NULL;
  s->mesh = mesh;
  memcpy(s->center, center, sizeof s->center);
  if (fill(context, s)) return s;
  gz_surface_destroy(s);
  return NULL;
}

rigid_surface *gz_surface_adopt(const graze_context *context, graze_mesh *mesh) {
  static const double origin[3] = {0, 0, 0};
  rigid_surface *s = gz_surface_create(context, mesh, origin);
  if (s == NULL)
    graze_mesh_destroy(mesh);
  else
    s->own = mesh;
  return s;
}

void gz_surface_destroy(rigid_surface *s) {
  if (s == NULL) return;
  gz_free(s->corners);
  gz_free(s->edges);
  gz_free(s->faces);
  gz_free(s->star_first);
  gz_free(s->stars);
  gz_free(s->face_of);
  gz_free(s->stands_out);
  graze_mesh_destroy(s->own);
  gz_free(s);
}

/* What is flat has its solid on one side of it all the same. */
static bool is_behind(const rigid_surface *s, uint32_t face, const double way[3]) {
  return face == NO_FACE || s->faces[face].is_flat || dot3(s->faces[face].normal, way) < 0;
}

bool gz_surface_corner_faces(const rigid_surface *s, uint32_t corner, const double way[3]) {
  bool is_flat = true;
  for (uint32_t i = s->star_first[corner]; i < s->star_first[corner + 1]; i++) {
    const double out = dot3(s->stars[i], way);
    if (out < -lean) return false;
    is_flat = is_flat && out <= lean;
  }
  return !is_flat || is_behind(s, s->face_of[corner], way);
}

/* Behind the rim of an open mesh the solid goes straight down. */
bool gz_surface_edge_faces(const rigid_surface *s, uint32_t edge, const double way[3]) {
  const surface_edge *e = &s->edges[edge];
  bool is_flat = true;
  double into[3];
  for (int i = 0; i < 2; i++) {
    if (e->faces[i] == NO_FACE) {
      const double *normal = s->faces[e->faces[0]].normal;
      for (int k = 0; k < 3; k++) into[k] = -normal[k];
    } else if (s->faces[e->faces[i]].is_flat) {
      continue;
    } else {
      find_into(s, e, i, into);
    }
    const double out = dot3(into, way);
    if (out < -lean) return false;
    is_flat = is_flat && out <= lean;
  }
  return !is_flat || is_behind(s, e->faces[0], way);
}
