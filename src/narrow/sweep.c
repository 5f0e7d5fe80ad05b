/* Candidates without a hierarchy: closed boxes of all posed triangles in double, sorted and swept along x. Exact for
 * every finite double and every matrix, O(n log n + overlaps along x); the way out where floats cannot hold the boxes
 * or the map between the meshes is singular.
 */
#include <math.h>

#include "base/context.h"
#include "narrow/query.h"

typedef struct swept {
  double low[3], high[3];
  uint32_t triangle;
} swept;

static void box_of(const job *j, const side *s, uint32_t triangle, swept *out) {
  double c[9];
  gz_side_corners(s, triangle, c);
  out->triangle = triangle;
  for (int k = 0; k < 3; k++) {
    out->low[k] = fmin(fmin(c[k], c[3 + k]), c[6 + k]);
    out->high[k] = fmax(fmax(c[k], c[3 + k]), c[6 + k]);
    if (j->exactness != GRAZE_T2) continue;
    /* The real image lies within four roundings of the rounded one. */
    const double *row = s->pose.m + 4 * k;
    double size = (fabs(row[0]) + fabs(row[1]) + fabs(row[2])) * s->mesh->header->magnitude + fabs(row[3]);
    out->low[k] -= 0x1p-50 * size + 0x1p-1060;
    out->high[k] += 0x1p-50 * size + 0x1p-1060;
  }
}

static void sort_boxes(swept *boxes, swept *scratch, size_t n) {
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t first = 0; first < n; first += 2 * width) {
      size_t i = first, middle = first + width < n ? first + width : n, end = middle + width < n ? middle + width : n;
      size_t j = middle, k = first;
      while (i < middle && j < end) scratch[k++] = boxes[j].low[0] < boxes[i].low[0] ? boxes[j++] : boxes[i++];
      while (i < middle) scratch[k++] = boxes[i++];
      while (j < end) scratch[k++] = boxes[j++];
    }
    for (size_t k = 0; k < n; k++) boxes[k] = scratch[k];
  }
}

static bool meet_yz(const swept *a, const swept *b) {
  return a->low[1] <= b->high[1] && b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static shared_corners shared_of(const double a[9], const double b[9], bool *duplicate) {
  int shared = 0;
  for (int i = 0; i < 9; i += 3) {
    bool same = false;
    for (int j = 0; j < 9; j += 3) same = same || (a[i] == b[j] && a[i + 1] == b[j + 1] && a[i + 2] == b[j + 2]);
    shared += same;
  }
  *duplicate = shared == 3;
  return shared == 0 ? SHARES_NONE : shared == 1 ? SHARES_CORNER : SHARES_EDGE;
}

static void add_candidate(const job *j, exact_sink *s, uint32_t first, uint32_t second) {
  if (j->boxes_only) {
    s->counts.triangle_pairs++;
    gz_sink_hit(s, first < second ? first : second, first < second ? second : first);
    return;
  }
  double a[9], b[9];
  shared_corners shares = SHARES_NONE;
  gz_side_corners(s->a, first, a);
  gz_side_corners(s->b, second, b);
  if (s->self && !mesh_degenerate(s->a->mesh, first) && !mesh_degenerate(s->a->mesh, second)) {
    bool duplicate;
    shares = shared_of(a, b, &duplicate);
    if (duplicate) {
      s->duplicates++;
      gz_sink_hit(s, first < second ? first : second, first < second ? second : first);
      return;
    }
  }
  gz_sink_add(s, first, second, a, b, shares);
}

/* Boxes of `list` from `from` on that start inside `box`. */
static void sweep_from(const job *j, exact_sink *s, const swept *box, const swept *list, size_t from, size_t count,
                       bool swap) {
  for (size_t k = from; k < count && list[k].low[0] <= box->high[0] && !s->stop; k++) {
    if (!meet_yz(box, &list[k])) continue;
    if (swap)
      add_candidate(j, s, list[k].triangle, box->triangle);
    else
      add_candidate(j, s, box->triangle, list[k].triangle);
  }
}

graze_status gz_sweep_run(graze_query *query, const job *j, worker *w) {
  size_t n = j->a.mesh->triangle_count, m = j->self ? 0 : j->b.mesh->triangle_count;
  size_t bytes = (n + m + (n > m ? n : m)) * sizeof(swept);
  if (bytes == 0) return GRAZE_OK;
  if (!gz_buffer_reserve(query->context, &query->sweep, bytes, 0)) return gz_fail_memory(query->context, bytes);
  swept *a = query->sweep.data, *b = a + n, *scratch = b + m;
  for (size_t i = 0; i < n; i++) box_of(j, &j->a, (uint32_t)i, &a[i]);
  for (size_t i = 0; i < m; i++) box_of(j, &j->b, (uint32_t)i, &b[i]);
  sort_boxes(a, scratch, n);
  sort_boxes(b, scratch, m);
  exact_sink *s = &w->sink;
  if (j->self) {
    for (size_t i = 0; i < n && !s->stop; i++) sweep_from(j, s, &a[i], a, i + 1, n, false);
  } else {
    for (size_t i = 0, k = 0; (i < n || k < m) && !s->stop;) {
      if (k >= m || (i < n && a[i].low[0] <= b[k].low[0])) {
        sweep_from(j, s, &a[i], b, k, m, false);
        i++;
      } else {
        sweep_from(j, s, &b[k], a, i, n, true);
        k++;
      }
    }
  }
  gz_sink_flush(s);
  return GRAZE_OK;
}
