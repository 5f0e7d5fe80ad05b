#include "motion/features.h"

#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/owned.h"
#include "base/sort.h"

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

static swept_box box_of_vertex(const graze_ccd_mesh *motion, size_t vertex) {
  swept_box box;
  for (size_t k = 0; k < 3; k++) {
    double from = motion->start[3 * vertex + k], to = motion->end[3 * vertex + k];
    box.low[k] = smaller(from, to);
    box.high[k] = larger(from, to);
  }
  return box;
}

static swept_box box_of_both(const swept_box *a, const swept_box *b) {
  swept_box box;
  for (int k = 0; k < 3; k++) {
    box.low[k] = smaller(a->low[k], b->low[k]);
    box.high[k] = larger(a->high[k], b->high[k]);
  }
  return box;
}

static graze_status find_boxes(motion_features *f) {
  const graze_ccd_mesh *motion = f->motion;
  f->vertex_boxes = gz_new(f->context, motion->vertex_count, sizeof *f->vertex_boxes);
  f->edge_boxes = gz_new(f->context, f->edge_count, sizeof *f->edge_boxes);
  f->boxes = gz_new(f->context, motion->triangle_count, sizeof *f->boxes);
  if (!f->vertex_boxes || !f->edge_boxes || !f->boxes) {
    return gz_fail_memory(f->context, f->edge_count * sizeof *f->edge_boxes);
  }
  for (size_t v = 0; v < motion->vertex_count; v++) f->vertex_boxes[v] = box_of_vertex(motion, v);
  for (size_t e = 0; e < f->edge_count; e++) {
    f->edge_boxes[e] = box_of_both(&f->vertex_boxes[f->edges[e][0]], &f->vertex_boxes[f->edges[e][1]]);
  }
  for (size_t t = 0; t < motion->triangle_count; t++) {
    const uint32_t *corners = motion->triangles + 3 * t;
    swept_box two = box_of_both(&f->vertex_boxes[corners[0]], &f->vertex_boxes[corners[1]]);
    f->boxes[t] = box_of_both(&two, &f->vertex_boxes[corners[2]]);
  }
  return GRAZE_OK;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static uint64_t edge_key(const uint32_t *corners, int i) {
  uint32_t a = corners[i], b = corners[(i + 1) % 3];
  return a > b ? map_pair_key(a, b) : map_pair_key(b, a);
}

static bool is_edge(uint64_t key) {
  return key >> 32 != (uint32_t)key;
}

/* The edges' keys, sorted, each once; returns how many. */
static size_t list_keys(const graze_ccd_mesh *motion, uint64_t *keys, uint64_t *scratch) {
  size_t count = 0, unique = 0;
  for (uint32_t t = 0; t < motion->triangle_count; t++) {
    for (int i = 0; i < 3; i++) {
      uint64_t key = edge_key(motion->triangles + 3 * (size_t)t, i);
      if (is_edge(key)) keys[count++] = key;
    }
  }
  gz_sort_keys(keys, scratch, count);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || keys[i] != keys[i - 1]) keys[unique++] = keys[i];
  }
  return unique;
}

static uint32_t find_key(const uint64_t *keys, size_t count, uint64_t key) {
  size_t low = 0;
  while (count > 1) {
    size_t half = count / 2;
    if (keys[low + half] <= key) low += half;
    count -= half;
  }
  return keys[low] == key ? (uint32_t)low : NO_EDGE;
}

static graze_status number_edges(motion_features *f) {
  const graze_ccd_mesh *motion = f->motion;
  size_t most = 3 * (size_t)motion->triangle_count;
  uint64_t *keys = gz_new(f->context, 2 * most, sizeof *keys);
  if (keys == NULL) return gz_fail_memory(f->context, 2 * most * sizeof *keys);
  size_t count = list_keys(motion, keys, keys + most);
  f->edges = gz_new(f->context, count, sizeof *f->edges);
  if (f->edges != NULL) {
    f->edge_count = (uint32_t)count;
    for (size_t e = 0; e < count; e++) {
      f->edges[e][0] = (uint32_t)keys[e];
      f->edges[e][1] = (uint32_t)(keys[e] >> 32);
    }
    for (uint32_t t = 0; t < motion->triangle_count; t++) {
      for (int i = 0; i < 3; i++) {
        uint64_t key = edge_key(motion->triangles + 3 * (size_t)t, i);
        f->triangle_edges[t][i] = is_edge(key) ? find_key(keys, count, key) : NO_EDGE;
      }
    }
  }
  gz_free(keys);
  return f->edges != NULL ? GRAZE_OK : gz_fail_memory(f->context, count * sizeof *f->edges);
}

/* ---- which triangle stands for what --------------------------------------------------------------------------- */

static graze_status choose_triangles(motion_features *f) {
  const graze_ccd_mesh *motion = f->motion;
  size_t count = (size_t)motion->vertex_count + f->edge_count;
  bool *taken = gz_new_zeroed(f->context, count, sizeof *taken);
  if (taken == NULL) return gz_fail_memory(f->context, count);
  for (uint32_t t = 0; t < motion->triangle_count; t++) {
    f->stands_for[t] = 0;
    for (int i = 0; i < 3; i++) {
      bool *vertex = &taken[motion->triangles[3 * (size_t)t + (size_t)i]];
      if (!*vertex) f->stands_for[t] |= (uint8_t)(1 << i);
      *vertex = true;
      if (f->triangle_edges[t][i] == NO_EDGE) continue;
      bool *edge = &taken[motion->vertex_count + f->triangle_edges[t][i]];
      if (!*edge) f->stands_for[t] |= (uint8_t)(8 << i);
      *edge = true;
    }
  }
  gz_free(taken);
  return GRAZE_OK;
}

/* ---- places --------------------------------------------------------------------------------------------------- */

static void places(const graze_ccd_mesh *motion, uint32_t vertex, double out[6]) {
  for (size_t k = 0; k < 3; k++) {
    out[k] = motion->start[3 * (size_t)vertex + k] + 0.0; /* -0 is 0 */
    out[3 + k] = motion->end[3 * (size_t)vertex + k] + 0.0;
  }
}

static graze_status join_positions(motion_features *f) {
  const graze_ccd_mesh *motion = f->motion;
  gz_map map;
  if (!gz_map_open(f->context, &map, motion->vertex_count)) {
    return gz_fail_memory(f->context, motion->vertex_count * sizeof(uint64_t));
  }
  for (uint32_t v = 0; v < motion->vertex_count; v++) {
    double mine[6], theirs[6];
    places(motion, v, mine);
    /* Where two places have one hash, the later one goes to the next key. */
    for (uint64_t key = gz_hash_bytes(mine, sizeof mine, 0);; key++) {
      f->position[v] = *gz_map_add(&map, key, v);
      places(motion, f->position[v], theirs);
      if (memcmp(mine, theirs, sizeof mine) == 0) break;
    }
  }
  gz_map_close(&map);
  return GRAZE_OK;
}

graze_status gz_features_open(motion_features *f, const graze_context *context, const graze_ccd_mesh *motion) {
  *f = (motion_features){.context = context, .motion = motion};
  size_t triangles = motion->triangle_count;
  f->triangle_edges = gz_new(context, triangles, sizeof *f->triangle_edges);
  f->stands_for = gz_new(context, triangles, sizeof *f->stands_for);
  f->position = gz_new(context, motion->vertex_count, sizeof *f->position);
  if (!f->triangle_edges || !f->stands_for || !f->position) {
    return gz_fail_memory(context, triangles * sizeof *f->triangle_edges);
  }
  graze_status status = number_edges(f);
  if (status == GRAZE_OK) status = choose_triangles(f);
  if (status == GRAZE_OK) status = join_positions(f);
  return status == GRAZE_OK ? find_boxes(f) : status;
}

void gz_features_close(motion_features *f) {
  gz_free(f->edges);
  gz_free(f->triangle_edges);
  gz_free(f->stands_for);
  gz_free(f->position);
  gz_free(f->vertex_boxes);
  gz_free(f->edge_boxes);
  gz_free(f->boxes);
}
