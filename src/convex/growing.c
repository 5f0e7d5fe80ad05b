/* What is seen hangs together, and so does its rim, a simple polygon each of whose corners begins one edge: both are
 * theorems about a point outside a convex polyhedron, if `sees` is exact and what lies in one plane is seen together.
 * No new triangle is degenerate: a point on the line of an edge of the rim would lie in the planes of both triangles
 * there, and see neither.
 */
#include "convex/growing.h"

#include <string.h>

static surface_triangle *triangle(const growing *s, uint32_t i) {
  return surface_at(s, i);
}

bool gz_growing_append(const growing *s, gz_array *list, uint32_t number) {
  if (!array_reserve(s->context, list, 1, sizeof number)) return false;
  ((uint32_t *)list->data)[list->count++] = number;
  return true;
}

/* In a place that is free; SURFACE_GONE: memory was refused. */
static uint32_t make_triangle(growing *s, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t at = (uint32_t)s->triangles.count;
  if (s->free.count > 0) {
    at = surface_number(&s->free, --s->free.count);
  } else {
    if (!array_reserve(s->context, &s->triangles, 1, s->size)) return SURFACE_GONE;
    s->triangles.count++;
  }
  memset(surface_at(s, at), 0, s->size);
  const uint32_t v[3] = {a, b, c};
  memcpy(triangle(s, at)->v, v, sizeof v);
  return at;
}

/* Room for what is kept by vertex. */
static bool reserve_vertex(growing *s, uint32_t vertex) {
  while (s->made.count <= vertex) {
    if (!array_reserve(s->context, &s->made, vertex + 1 - s->made.count, sizeof(uint32_t))) return false;
    s->made.count = vertex + 1;
  }
  return true;
}

bool gz_growing_begin(growing *s, const uint32_t vertices[4]) {
  static const int corners[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  static const uint32_t beyond[4][3] = {{2, 3, 1}, {0, 3, 2}, {1, 3, 0}, {2, 1, 0}};
  s->triangles.count = s->free.count = s->marks = 0;
  for (int i = 0; i < 4; i++) {
    const int *c = corners[i];
    if (make_triangle(s, vertices[c[0]], vertices[c[1]], vertices[c[2]]) == SURFACE_GONE) return false;
    memcpy(triangle(s, (uint32_t)i)->next, beyond[i], sizeof beyond[i]);
    if (!reserve_vertex(s, vertices[i])) return false;
  }
  return true;
}

/* Asked at most once a step; the answer is kept in the mark. */
static bool sees(growing *s, uint32_t at, uint32_t point) {
  if (triangle(s, at)->mark / 2 != s->marks) triangle(s, at)->mark = 2 * s->marks + s->sees(s->user, at, point);
  return triangle(s, at)->mark % 2 != 0;
}

static bool find_seen(growing *s, uint32_t start, uint32_t point) {
  s->seen.count = 0;
  s->marks++;
  triangle(s, start)->mark = 2 * s->marks + 1;
  if (!gz_growing_append(s, &s->seen, start)) return false;
  for (size_t i = 0; i < s->seen.count; i++) {
    const surface_triangle *t = triangle(s, surface_number(&s->seen, i));
    for (int k = 0; k < 3; k++) {
      bool is_known = triangle(s, t->next[k])->mark / 2 == s->marks;
      if (!is_known && sees(s, t->next[k], point) && !gz_growing_append(s, &s->seen, t->next[k])) return false;
    }
  }
  return true;
}

static bool build_rim(growing *s, uint32_t point) {
  s->rim.count = 0;
  for (size_t i = 0; i < s->seen.count; i++) {
    uint32_t from = surface_number(&s->seen, i);
    for (int k = 0; k < 3; k++) {
      const surface_triangle t = *triangle(s, from);
      if (sees(s, t.next[k], point)) continue;
      uint32_t at = make_triangle(s, t.v[k], t.v[(k + 1) % 3], point);
      if (at == SURFACE_GONE || !gz_growing_append(s, &s->rim, at)) return false;
      surface_triangle *beyond = triangle(s, t.next[k]);
      triangle(s, at)->next[0] = t.next[k];
      beyond->next[surface_edge_to(beyond, from)] = at;
      ((uint32_t *)s->made.data)[t.v[k]] = at;
    }
  }
  for (size_t i = 0; i < s->rim.count; i++) {
    uint32_t at = surface_number(&s->rim, i), after = surface_number(&s->made, triangle(s, at)->v[1]);
    triangle(s, at)->next[1] = after;
    triangle(s, after)->next[2] = at;
  }
  return true;
}

bool gz_growing_add(growing *s, uint32_t start, uint32_t point) {
  return reserve_vertex(s, point) && find_seen(s, start, point) && build_rim(s, point);
}

bool gz_growing_forget(growing *s) {
  for (size_t i = 0; i < s->seen.count; i++) {
    uint32_t at = surface_number(&s->seen, i);
    triangle(s, at)->v[0] = SURFACE_GONE;
    if (!gz_growing_append(s, &s->free, at)) return false;
  }
  return true;
}

void gz_growing_release(growing *s) {
  gz_array *const arrays[] = {&s->triangles, &s->seen, &s->rim, &s->free, &s->made};
  for (int i = 0; i < 5; i++) {
    gz_free(arrays[i]->data);
    *arrays[i] = (gz_array){0};
  }
}
