/* A closed surface of triangles that grows by points outside it: what a point sees goes, and new triangles lead from
 * the rim of that to the point. Quickhull and the search for a depth both build one.
 */
#ifndef GRAZE_SRC_CONVEX_GROWING_H
#define GRAZE_SRC_CONVEX_GROWING_H

#include "base/owned.h"

#define SURFACE_GONE UINT32_MAX

/* To be the first member of what the user keeps for a triangle. */
typedef struct surface_triangle {
  uint32_t v[3];    /* counterclockwise seen from outside; v[0] == SURFACE_GONE: no longer there */
  uint32_t next[3]; /* the triangle across v[i], v[i + 1] */
  uint32_t mark;    /* of the point that asked last, and what it saw */
} surface_triangle;

typedef struct growing {
  const graze_context *context;
  size_t size; /* of the user's triangles, which are cleared when they are made */
  /* Whether the point lies strictly on the outer side. */
  bool (*sees)(void *user, uint32_t triangle, uint32_t point);
  void *user;
  gz_array triangles;
  gz_array seen, rim; /* numbers of triangles: what the last point saw, and what was made for it */
  gz_array free;
  gz_array made; /* by vertex: the new triangle whose edge begins there */
  uint32_t marks;
} growing;

static inline void *surface_at(const growing *s, uint32_t triangle) {
  return (char *)s->triangles.data + s->size * triangle;
}

static inline uint32_t surface_number(const gz_array *list, size_t i) {
  return ((const uint32_t *)list->data)[i];
}

/* Which of its edges a triangle shares with another: there is only one, as no vertex has fewer than three edges. */
static inline int surface_edge_to(const surface_triangle *t, uint32_t other) {
  return t->next[0] == other ? 0 : t->next[1] == other ? 1 : 2;
}

/* The four triangles of a tetrahedron, 0 to 3, outward: the fourth vertex lies behind the first triangle, of the three
 * others. False: memory was refused, here as below. */
bool gz_growing_begin(growing *s, const uint32_t vertices[4]);

/* Finds what the point sees, from a triangle that it sees on (`seen`), and makes new triangles in its place (`rim`).
 * The numbers of what was seen are not used again before the next gz_growing_forget. */
bool gz_growing_add(growing *s, uint32_t start, uint32_t point);
bool gz_growing_forget(growing *s);

void gz_growing_release(growing *s);

/* A number behind the others of a list. */
bool gz_growing_append(const growing *s, gz_array *list, uint32_t number);

#endif
