/* From triangles to faces: triangles that share an edge and lie in one plane belong to one face; its rim is walked, and
 * of the points there only those are corners where the neighbour changes. A point between two edges to the same
 * neighbour is on the line of both planes.
 */
#include <string.h>

#include "base/owned.h"
#include "convex/hull_solid.h"

typedef struct merging {
  const hull_cloud *cloud;
  const hull_triangle *triangles;
  uint32_t count;
  uint32_t *face;  /* of a triangle; SURFACE_GONE: none yet */
  uint32_t *stack; /* triangles of the face that is being collected; later, by face, one at its rim */
  hull_faces *out;
} merging;

static bool one_plane(const merging *m, const hull_triangle *t, uint32_t other) {
  const hull_triangle *o = &m->triangles[other];
  int edge = surface_edge_to(&o->at, (uint32_t)(t - m->triangles));
  double product;
  return gz_hull_side(m->cloud, t, o->at.v[(edge + 2) % 3], &product) == 0;
}

static void collect_face(merging *m, uint32_t start) {
  uint32_t count = 1;
  m->stack[0] = start;
  m->face[start] = m->out->count;
  while (count > 0) {
    const hull_triangle *t = &m->triangles[m->stack[--count]];
    for (int k = 0; k < 3; k++) {
      uint32_t other = t->at.next[k];
      if (m->face[other] != SURFACE_GONE || !one_plane(m, t, other)) continue;
      m->face[other] = m->out->count;
      m->stack[count++] = other;
    }
  }
}

/* An edge of the rim of a face: edge k of triangle t. */
typedef struct rim_edge {
  uint32_t t;
  int k;
} rim_edge;

static uint32_t face_beyond(const merging *m, rim_edge e) {
  return m->face[m->triangles[e.t].at.next[e.k]];
}

static rim_edge following(const merging *m, rim_edge e) {
  uint32_t face = m->face[e.t];
  for (e.k = (e.k + 1) % 3; face_beyond(m, e) == face; e.k = (e.k + 1) % 3) {
    uint32_t next = m->triangles[e.t].at.next[e.k];
    e.k = surface_edge_to(&m->triangles[next].at, e.t);
    e.t = next;
  }
  return e;
}

/* Appends the corners of the face whose rim has this edge. */
static void walk_rim(merging *m, rim_edge start) {
  uint32_t *at = &m->out->first[m->out->count + 1];
  rim_edge e = start;
  uint32_t beyond = face_beyond(m, e);
  do {
    e = following(m, e);
    if (face_beyond(m, e) != beyond) m->out->corners[(*at)++] = m->triangles[e.t].at.v[e.k];
    beyond = face_beyond(m, e);
  } while (e.t != start.t || e.k != start.k);
}

static void find_faces(merging *m) {
  memset(m->face, 0xff, m->count * sizeof *m->face);
  for (uint32_t t = 0; t < m->count; t++) {
    if (m->triangles[t].at.v[0] == SURFACE_GONE || m->face[t] != SURFACE_GONE) continue;
    collect_face(m, t);
    m->out->count++;
  }
}

/* By face, a triangle that is at its rim. */
static void find_rims(merging *m, uint32_t *rim) {
  for (uint32_t t = 0; t < m->count; t++) {
    if (m->face[t] == SURFACE_GONE) continue;
    for (int k = 0; k < 3; k++) {
      if (face_beyond(m, (rim_edge){t, k}) != m->face[t]) rim[m->face[t]] = t;
    }
  }
}

static void find_corners(merging *m) {
  uint32_t faces = m->out->count;
  find_rims(m, m->stack);
  m->out->first[0] = 0;
  for (m->out->count = 0; m->out->count < faces; m->out->count++) {
    rim_edge e = {m->stack[m->out->count], 0};
    while (face_beyond(m, e) == m->out->count) e.k++;
    m->out->first[m->out->count + 1] = m->out->first[m->out->count];
    walk_rim(m, e);
  }
}

bool gz_hull_merge(const hull_cloud *cloud, const hull_triangle *triangles, uint32_t count, hull_faces *faces) {
  merging m = {.cloud = cloud, .triangles = triangles, .count = count, .out = faces};
  m.face = gz_new(cloud->context, count, sizeof *m.face);
  m.stack = gz_new(cloud->context, count, sizeof *m.stack);
  faces->corners = gz_new(cloud->context, 3 * (size_t)count, sizeof *faces->corners);
  faces->first = gz_new(cloud->context, (size_t)count + 1, sizeof *faces->first);
  bool ready = m.face && m.stack && faces->corners && faces->first;
  if (ready) {
    find_faces(&m);
    find_corners(&m);
  }
  gz_free(m.face);
  gz_free(m.stack);
  return ready;
}
