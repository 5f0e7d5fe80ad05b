/* Cuts a solid hull into tetrahedra that fit together exactly.
 *
 * The solid is first the cone from its lowest vertex over the triangles of the faces that do not have that vertex; two
 * faces that have it show the same triangles to both sides, since fans begin with the lowest corner. Then, as long as
 * there are too few, the longest edge of all is cut at a seeded place, and every fragment around the edge becomes two
 * (bisection of the longest edge: Rosenberg and Stenger 1975, A lower bound on the angles of triangles constructed by
 * bisecting the longest side; Rivara 1984). A new corner is computed once, and all fragments around the edge refer to
 * it.
 *
 * A rounded corner does not lie on its edge. That does no harm: faces are triangles, which are plane whatever their
 * corners are, and both fragments beside a face have the same three. Around an edge inside the solid the fragments fill
 * the same star before and after the cut as long as all new ones have the orientation that they should, of which the
 * exact sign is taken; a cut that would turn one over or make it flat is not made. Where the cut edge lies in the
 * surface, the surface moves by the rounding of its new corner, and not at all where coordinates are those of a box
 * along the axes, since a coordinate that both ends have in common is kept.
 *
 * The search for the longest edge and for the fragments around it goes through all of them: O(count^2).
 */
#include "convex/cut.h"

#include <stdbool.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "exact/orient.h"

typedef struct fragment {
  uint32_t corners[4];
  uint32_t edge[2]; /* the longest, the lower number first */
  double length2;   /* its squared length */
} fragment;

typedef struct cutting {
  const graze_context *context;
  buffer points, fragments;
  uint32_t point_count, count;
  uint64_t seed;
  cut_places places;
} cutting;

static double *point_of(const cutting *c, uint32_t p) {
  return (double *)c->points.data + 3 * (size_t)p;
}

static fragment *fragment_of(const cutting *c, uint32_t f) {
  return (fragment *)c->fragments.data + f;
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

/* Whether an edge is to be cut before another; of equally long ones the one with the lower numbers, so that the order
 * of fragments does not matter. */
static bool is_before(double length2, const uint32_t edge[2], const fragment *other) {
  if (length2 != other->length2) return length2 > other->length2;
  return edge[0] != other->edge[0] ? edge[0] < other->edge[0] : edge[1] < other->edge[1];
}

static void find_longest_edge(const cutting *c, fragment *f) {
  f->length2 = -1;
  for (int i = 0; i < 6; i++) {
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const uint32_t v = f->corners[ends[i][0]], w = f->corners[ends[i][1]];
    const uint32_t edge[2] = {v < w ? v : w, v < w ? w : v};
    const double *a = point_of(c, edge[0]), *b = point_of(c, edge[1]);
    double length2 = 0;
    for (int k = 0; k < 3; k++) length2 += (b[k] - a[k]) * (b[k] - a[k]);
    if (!is_before(length2, edge, f)) continue;
    f->length2 = length2;
    memcpy(f->edge, edge, sizeof edge);
  }
}

static int place_of(const fragment *f, uint32_t corner) {
  for (int i = 0; i < 4; i++) {
    if (f->corners[i] == corner) return i;
  }
  return -1;
}

static bool has_edge(const fragment *f, const uint32_t edge[2]) {
  return place_of(f, edge[0]) >= 0 && place_of(f, edge[1]) >= 0;
}

/* ---- the beginning ---------------------------------------------------------------------------------------------- */

static bool reserve(cutting *c, uint32_t more_points, uint32_t more_fragments) {
  const size_t points = 3 * sizeof(double), size = sizeof(fragment);
  return gz_buffer_reserve(c->context, &c->points, (c->point_count + (size_t)more_points) * points,
                           c->point_count * points) &&
         gz_buffer_reserve(c->context, &c->fragments, (c->count + (size_t)more_fragments) * size, c->count * size);
}

static graze_status fail_memory(const cutting *c) {
  return gz_fail_memory(c->context, c->count * sizeof(fragment));
}

static void add_fragment(cutting *c, const uint32_t triangle[3], uint32_t top) {
  fragment *f = fragment_of(c, c->count++);
  *f = (fragment){.corners = {triangle[0], triangle[1], triangle[2], top}};
  find_longest_edge(c, f);
}

/* Triangles turn counterclockwise from outside, that is clockwise seen from vertex 0, so two corners change places. */
static graze_status begin(cutting *c, const graze_hull *hull) {
  if (!reserve(c, hull->vertex_count, hull->triangle_count)) return fail_memory(c);
  memcpy(c->points.data, hull->points, 3 * (size_t)hull->vertex_count * sizeof(double));
  c->point_count = hull->vertex_count;
  for (uint32_t f = 0; f < hull->face_count; f++) {
    const uint32_t *corners = hull->face_corners + hull->face_first[f];
    const uint32_t count = hull->face_first[f + 1] - hull->face_first[f];
    if (corners[0] == 0) continue;
    for (uint32_t i = 1; i + 1 < count; i++)
      add_fragment(c, (const uint32_t[3]){corners[0], corners[i + 1], corners[i]}, 0);
  }
  return GRAZE_OK;
}

/* ---- cuts ------------------------------------------------------------------------------------------------------- */

static const fragment *first_to_cut(const cutting *c) {
  const fragment *first = fragment_of(c, 0);
  for (uint32_t i = 1; i < c->count; i++) {
    const fragment *f = fragment_of(c, i);
    if (is_before(f->length2, f->edge, first)) first = f;
  }
  return first;
}

/* Between 3/8 and 5/8 of the edge. Both weights are exact; what both ends have in common stays. */
static void place_corner(const cutting *c, const uint32_t edge[2], double corner[3]) {
  const double *a = point_of(c, edge[0]), *b = point_of(c, edge[1]);
  const uint64_t random = splitmix64(c->seed ^ splitmix64(c->point_count));
  const double t = 0.375 + (c->places == CUT_FREE ? (double)(random >> 40) * 0x1p-26 : (double)(random % 5) / 16);
  for (int k = 0; k < 3; k++) corner[k] = a[k] == b[k] ? a[k] : (1 - t) * a[k] + t * b[k];
}

/* Whether the fragment keeps its orientation with a corner moved to the new point. */
static bool stays_upright(const cutting *c, const fragment *f, uint32_t moved, const double *corner) {
  const double *p[4];
  for (int i = 0; i < 4; i++) p[i] = f->corners[i] == moved ? corner : point_of(c, f->corners[i]);
  return gz_orient3d(p[0], p[1], p[2], p[3]) > 0;
}

/* The number of fragments around the edge; 0: one of them would be turned over or flat. */
static uint32_t count_around(const cutting *c, const uint32_t edge[2], const double *corner) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    const fragment *f = fragment_of(c, i);
    if (!has_edge(f, edge)) continue;
    if (!stays_upright(c, f, edge[0], corner) || !stays_upright(c, f, edge[1], corner)) return 0;
    count++;
  }
  return count;
}

static void split_around(cutting *c, const uint32_t edge[2], uint32_t corner) {
  const uint32_t before = c->count;
  for (uint32_t i = 0; i < before; i++) {
    fragment *f = fragment_of(c, i);
    if (!has_edge(f, edge)) continue;
    fragment *other = fragment_of(c, c->count++);
    *other = *f;
    f->corners[place_of(f, edge[0])] = corner;
    other->corners[place_of(other, edge[1])] = corner;
    find_longest_edge(c, f);
    find_longest_edge(c, other);
  }
}

static graze_status cut_longest_edge(cutting *c) {
  const uint32_t *longest = first_to_cut(c)->edge, edge[2] = {longest[0], longest[1]};
  double corner[3];
  place_corner(c, edge, corner);
  const uint32_t around = count_around(c, edge, corner);
  if (around == 0)
    return gz_fail(c->context, GRAZE_ERROR_LIMIT,
                   "the solid is too thin for doubles to cut it into more than %u fragments", c->count);
  if (!reserve(c, 1, around)) return fail_memory(c);
  memcpy(point_of(c, c->point_count), corner, sizeof corner);
  split_around(c, edge, c->point_count++);
  return GRAZE_OK;
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* The arrays are constant for callers only. */
#define WRITABLE(array) ((void *)(uintptr_t)(array))

static size_t lay_out(graze_fragments *fragments, char *memory) {
  carving carve = {memory, 0};
  gz_carve(&carve, sizeof *fragments);
  fragments->points = gz_carve(&carve, 3 * (size_t)fragments->point_count * sizeof(double));
  fragments->corners = gz_carve(&carve, 4 * (size_t)fragments->count * sizeof(uint32_t));
  return carve.used;
}

static graze_status write_fragments(const cutting *c, graze_fragments **fragments) {
  graze_fragments sizes = {.point_count = c->point_count, .count = c->count};
  const size_t bytes = lay_out(&sizes, NULL);
  graze_fragments *made = gz_new(c->context, bytes, 1);
  if (made == NULL) return gz_fail_memory(c->context, bytes);
  *made = sizes;
  lay_out(made, (char *)made);
  memcpy(WRITABLE(made->points), c->points.data, 3 * (size_t)c->point_count * sizeof(double));
  uint32_t(*corners)[4] = WRITABLE(made->corners);
  for (uint32_t f = 0; f < c->count; f++) memcpy(corners[f], fragment_of(c, f)->corners, sizeof corners[f]);
  *fragments = made;
  return GRAZE_OK;
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

enum { MOST_FRAGMENTS = 1 << 16 };

static graze_status check_request(graze_context *context, const graze_hull *hull, uint32_t count) {
  if (hull->dimension != 3) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a hull that is cut is a solid, not flat");
  if (count == 0) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a cut has a fragment at least");
  if (count > MOST_FRAGMENTS || hull->triangle_count > MOST_FRAGMENTS)
    return gz_fail(context, GRAZE_ERROR_LIMIT, "a cut into more than %d fragments", (int)MOST_FRAGMENTS);
  return GRAZE_OK;
}

graze_status gz_hull_cut(graze_context *context, const graze_hull *hull, uint32_t count, uint64_t seed,
                         cut_places places, graze_fragments **fragments) {
  graze_status status = check_request(context, hull, count);
  if (status != GRAZE_OK) return status;
  cutting c = {.context = context, .seed = seed, .places = places};
  const unsigned saved = gz_fp_enter();
  status = begin(&c, hull);
  while (status == GRAZE_OK && c.count < count) status = cut_longest_edge(&c);
  if (status == GRAZE_OK) status = write_fragments(&c, fragments);
  gz_fp_leave(saved);
  gz_buffer_release(context, &c.points);
  gz_buffer_release(context, &c.fragments);
  return status;
}

graze_status graze_hull_cut(graze_context *context, const graze_hull *hull, uint32_t count, uint64_t seed,
                            graze_fragments **fragments) {
  if (context == NULL || hull == NULL || fragments == NULL) return gz_fail_null(context);
  return gz_hull_cut(context, hull, count, seed, CUT_FREE, fragments);
}

void graze_fragments_destroy(graze_fragments *fragments) {
  gz_free(fragments);
}
