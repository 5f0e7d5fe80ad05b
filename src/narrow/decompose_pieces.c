/* Pieces of a solid in boxes, and where to cut them.
 *
 * A polygon of the surface that crosses the plane of a cut is cut there; one that lies in it belongs to the half behind
 * it. Where two polygons share the edge that is cut they get the same corner, since it is computed from the lower end
 * on. What the hull of the solid in a box has for corners are corners of these polygons, or corners of the box: any
 * other point of the solid there is between two points of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "mesh/mesh.h"
#include "narrow/decompose.h"

/* Places for a cut on one axis: some that part the corners evenly, some planes in which most of the surface lies, the
 * middle, and the worst point. */
enum { EVEN_PLACES = 6, FLAT_PLACES = 4, AXIS_PLACES = EVEN_PLACES + FLAT_PLACES + 3 };

/* A cut that leaves more of the hull's volume gains nothing. */
static const double GAIN = 0.99;

typedef struct place {
  int axis;
  double at;
  bool wall;        /* it begins to lay a cavity open, whose other walls are cut next */
  uint8_t inner[2]; /* of the four edges of the cell that it cuts, those cut in the solid, as the lower half has it, and
                       the upper one */
  double left, score; /* volume of the hulls of both halves over that of the whole; that and what else counts */
  graze_status status;
} place;

void gz_piece_release(piece *p) {
  gz_free(p->corners.data);
  gz_free(p->sizes.data);
  graze_hull_destroy(p->hull);
  *p = (piece){.hull = NULL};
}

static void cell_corner(const graze_box *cell, unsigned i, double x[3]) {
  for (int k = 0; k < 3; k++) x[k] = (i >> k & 1) != 0 ? cell->max[k] : cell->min[k];
}

/* Room for the corners of one more polygon; NULL: refused. */
static double (*next_polygon(graze_context *context, piece *p, uint32_t most))[3] {
  if (!array_reserve(context, &p->corners, most, sizeof(double[3]))) return NULL;
  if (!array_reserve(context, &p->sizes, 1, sizeof most)) return NULL;
  return (double(*)[3])p->corners.data + p->corners.count;
}

static void end_polygon(piece *p, uint32_t count) {
  if (count == 0) return;
  ((uint32_t *)p->sizes.data)[p->sizes.count++] = count;
  p->corners.count += count;
}

/* A corner of a cell: is the solid there, in the cell? One on the surface is asked again a little towards the middle.
 */
static void corner_questions(const graze_box *cell, const double corner[3], double questions[2][3]) {
  for (int k = 0; k < 3; k++) {
    questions[0][k] = corner[k];
    questions[1][k] = corner[k] + 0x1p-30 * (0.5 * cell->min[k] + 0.5 * cell->max[k] - corner[k]);
  }
}

static bool is_inner(const uint8_t sides[2]) {
  return sides[0] == GRAZE_POINT_INSIDE || (sides[0] == GRAZE_POINT_ON && sides[1] != GRAZE_POINT_OUTSIDE);
}

static graze_status find_sides(const solid_source *s, const double (*points)[3], uint32_t count, uint8_t *sides) {
  enum { BLOCK = 64 };
  graze_point_distance found[BLOCK];
  for (uint32_t first = 0; first < count; first += BLOCK) {
    const uint32_t few = count - first < BLOCK ? count - first : BLOCK;
    graze_status status = ask_solid(s, points[first], few, found);
    if (status != GRAZE_OK) return status;
    for (uint32_t i = 0; i < few; i++) sides[first + i] = (uint8_t)found[i].side;
  }
  return GRAZE_OK;
}

graze_status gz_piece_whole(const solid_source *source, piece *whole) {
  double corner[3], questions[8][2][3];
  uint8_t sides[8][2];
  *whole = (piece){.cell = source->box};
  for (uint32_t t = 0; t < source->mesh->triangle_count; t++) {
    double(*x)[3] = next_polygon(source->context, whole, 3);
    if (x == NULL) return gz_fail_memory(source->context, 3 * sizeof *x);
    mesh_corners(source->mesh, t, x[0]);
    end_polygon(whole, 3);
  }
  for (unsigned i = 0; i < 8; i++) {
    cell_corner(&whole->cell, i, corner);
    corner_questions(&whole->cell, corner, questions[i]);
  }
  graze_status status = find_sides(source, (const double(*)[3])questions[0][0], 16, sides[0]);
  for (unsigned i = 0; i < 8 && status == GRAZE_OK; i++) whole->inner |= (uint8_t)(is_inner(sides[i]) << i);
  return status;
}

/* ---- hulls ------------------------------------------------------------------------------------------------------ */

double gz_hull_volume(const graze_hull *hull) {
  double sum = 0;
  for (uint32_t t = 0; t < hull->triangle_count; t++) {
    double x[3][3];
    for (int c = 0; c < 3; c++) {
      const double *at = hull->points + 3 * (size_t)hull->triangles[3 * (size_t)t + (size_t)c];
      for (int k = 0; k < 3; k++) x[c][k] = at[k] - hull->low[k];
    }
    sum += x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) + x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
           x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
  }
  return sum / 6;
}

/* NULL, and 0: the points have no volume. */
static graze_status make_solid_hull(graze_context *context, const double (*points)[3], size_t count, graze_hull **hull,
                                    double *volume) {
  *hull = NULL;
  *volume = 0;
  if (count < 4) return GRAZE_OK;
  graze_status status = graze_hull_create(context, count, points[0], hull);
  if (status != GRAZE_OK) return status;
  if ((*hull)->dimension == 3) *volume = gz_hull_volume(*hull);
  if (*volume > 0) return GRAZE_OK;
  graze_hull_destroy(*hull);
  *hull = NULL;
  *volume = 0;
  return GRAZE_OK;
}

graze_status gz_piece_find_hull(graze_context *context, piece *p) {
  if (!array_reserve(context, &p->corners, 8, sizeof(double[3]))) return gz_fail_memory(context, sizeof(double[24]));
  double(*points)[3] = p->corners.data;
  size_t count = p->corners.count;
  for (unsigned i = 0; i < 8; i++) {
    if ((p->inner >> i & 1) != 0) cell_corner(&p->cell, i, points[count++]);
  }
  return make_solid_hull(context, (const double(*)[3])points, count, &p->hull, &p->volume);
}

/* ---- cuts ------------------------------------------------------------------------------------------------------- */

static void cross_plane(const double *p, const double *q, int axis, double at, double x[3]) {
  if (p[axis] > q[axis]) {
    const double *other = p;
    p = q;
    q = other;
  }
  const double t = (at - p[axis]) / (q[axis] - p[axis]);
  for (int k = 0; k < 3; k++) x[k] = p[k] + t * (q[k] - p[k]);
  x[axis] = at;
}

/* The area of a polygon that lies in a plane across the axis; below 0 if it faces downward. */
static double area_across(const double (*x)[3], uint32_t count, int axis) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  double twice = 0;
  for (uint32_t i = 2; i < count; i++) {
    twice += (x[i - 1][u] - x[0][u]) * (x[i][v] - x[0][v]) - (x[i - 1][v] - x[0][v]) * (x[i][u] - x[0][u]);
  }
  return twice / 2;
}

static bool lies_across(const double (*x)[3], uint32_t count, int axis) {
  for (uint32_t i = 1; i < count; i++) {
    if (x[i][axis] != x[0][axis]) return false;
  }
  return true;
}

/* What of a polygon is below the plane (upper 0) or above it; how many corners, at most twice as many as before. */
static uint32_t cut_polygon(const double (*x)[3], uint32_t count, int axis, double at, int upper, double (*cut)[3]) {
  const double sign = upper ? -1 : 1;
  double least = (double)INFINITY, most = -(double)INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    least = smaller(least, sign * x[i][axis]);
    most = larger(most, sign * x[i][axis]);
  }
  if (least == most && most == sign * at && !(sign * area_across(x, count, axis) > 0)) return 0;
  if (most <= sign * at) {
    memcpy(cut, x, count * sizeof *x);
    return count;
  }
  uint32_t kept = 0;
  if (least >= sign * at) return 0;
  for (uint32_t i = 0; i < count; i++) {
    const double *p = x[i], *q = x[i + 1 < count ? i + 1 : 0];
    const bool here = sign * p[axis] <= sign * at, next = sign * q[axis] <= sign * at;
    if (here) memcpy(cut[kept++], p, sizeof *cut);
    if (here != next && p[axis] != at && q[axis] != at) cross_plane(p, q, axis, at, cut[kept++]);
  }
  return kept;
}

/* The corners of a cell with one half's numbers: those on the plane of the cut are inside where the edge is cut there.
 */
static uint8_t inner_of_half(uint8_t inner, const place *cut, int upper) {
  uint8_t half = 0;
  for (unsigned i = 0, edge = 0; i < 8; i++) {
    const unsigned above = i >> cut->axis & 1;
    const bool at_plane = above != (unsigned)upper;
    const bool in = at_plane ? (cut->inner[upper] >> (edge & 3) & 1) != 0 : (inner >> i & 1) != 0;
    edge += at_plane;
    if (in) half |= (uint8_t)(1u << i);
  }
  return half;
}

static graze_box cell_of_half(const graze_box *cell, const place *cut, int upper) {
  graze_box half = *cell;
  (upper ? half.min : half.max)[cut->axis] = cut->at;
  return half;
}

static bool cut_piece(graze_context *context, const piece *whole, const place *cut, int upper, piece *half) {
  const double(*x)[3] = (const double(*)[3])whole->corners.data;
  const uint32_t *sizes = whole->sizes.data;
  *half = (piece){.cell = cell_of_half(&whole->cell, cut, upper), .inner = inner_of_half(whole->inner, cut, upper)};
  for (size_t p = 0; p < whole->sizes.count; x += sizes[p++]) {
    double(*kept)[3] = next_polygon(context, half, 2 * sizes[p]);
    if (kept == NULL) return false;
    end_polygon(half, cut_polygon(x, sizes[p], cut->axis, cut->at, upper, kept));
  }
  return true;
}

/* ---- where to cut ----------------------------------------------------------------------------------------------- */

typedef struct flat_area {
  double at, area;
} flat_area;

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int compare_at(const void *a, const void *b) {
  return compare_doubles(&((const flat_area *)a)->at, &((const flat_area *)b)->at);
}

/* The largest first, of equal ones the lowest. */
static int compare_areas(const void *a, const void *b) {
  const flat_area *x = a, *y = b;
  if (x->area != y->area) return x->area > y->area ? -1 : 1;
  return compare_at(a, b);
}

static void add_place(const piece *p, int axis, double at, place *places, uint32_t *count) {
  if (!(at > p->cell.min[axis] && at < p->cell.max[axis])) return;
  for (uint32_t i = 0; i < *count; i++) {
    if (places[i].axis == axis && places[i].at == at) return;
  }
  places[(*count)++] = (place){.axis = axis, .at = at};
}

/* Planes in which most of the surface lies: sides of ribs, floors of pockets. `areas` has room for all polygons. */
static void add_flat_places(const piece *p, int axis, flat_area *areas, place *places, uint32_t *count) {
  const double(*x)[3] = (const double(*)[3])p->corners.data;
  const uint32_t *sizes = p->sizes.data;
  size_t flat = 0, kept = 0;
  for (size_t i = 0; i < p->sizes.count; x += sizes[i++]) {
    if (lies_across(x, sizes[i], axis)) areas[flat++] = (flat_area){x[0][axis], fabs(area_across(x, sizes[i], axis))};
  }
  qsort(areas, flat, sizeof *areas, compare_at);
  for (size_t i = 0; i < flat; i++) {
    if (kept > 0 && areas[kept - 1].at == areas[i].at) {
      areas[kept - 1].area += areas[i].area;
    } else {
      areas[kept++] = areas[i];
    }
  }
  qsort(areas, kept, sizeof *areas, compare_areas);
  for (size_t i = 0, added = 0; i < kept && added < FLAT_PLACES; i++) {
    const uint32_t before = *count;
    add_place(p, axis, areas[i].at, places, count);
    added += *count > before;
  }
}

/* Between corners, evenly by their number. `all` has room for all corners. */
static void add_even_places(const piece *p, int axis, double *all, place *places, uint32_t *count) {
  const double(*x)[3] = (const double(*)[3])p->corners.data;
  size_t different = 0;
  for (size_t i = 0; i < p->corners.count; i++) all[i] = x[i][axis];
  qsort(all, p->corners.count, sizeof *all, compare_doubles);
  for (size_t i = 0; i < p->corners.count; i++) {
    if (different == 0 || all[different - 1] < all[i]) all[different++] = all[i];
  }
  for (size_t i = 1; i <= EVEN_PLACES; i++) {
    if (different > 0) add_place(p, axis, all[(different - 1) * i / (EVEN_PLACES + 1)], places, count);
  }
}

/* Where a line along the axis through the point meets a triangle of a polygon, roughly. */
static bool meets_line(const double (*x)[3], uint32_t i, int axis, const double at[3], double *where) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double *corner[3] = {x[0], x[i - 1], x[i]};
  double weight[3], sum = 0;
  *where = 0;
  for (int c = 0; c < 3; c++) {
    const double *p = corner[(c + 1) % 3], *q = corner[(c + 2) % 3];
    weight[c] = (p[u] - at[u]) * (q[v] - at[v]) - (p[v] - at[v]) * (q[u] - at[u]);
    sum += weight[c];
  }
  for (int c = 0; c < 3; c++) {
    if (sum == 0 || weight[c] / sum < 0) return false;
    *where += weight[c] / sum * corner[c][axis];
  }
  return true;
}

/* The nearest wall along the axes of what the hull fills at its worst point: the first of all places. */
static void add_wall(const piece *p, place *places, uint32_t *count) {
  const double(*x)[3] = (const double(*)[3])p->corners.data;
  const uint32_t *sizes = p->sizes.data;
  place wall = {.wall = true};
  double nearest = (double)INFINITY, at;
  for (size_t i = 0; i < p->sizes.count; x += sizes[i++]) {
    for (int axis = 0; axis < 3; axis++) {
      for (uint32_t c = 2; c < sizes[i]; c++) {
        if (!meets_line(x, c, axis, p->found.place, &at) || !(fabs(at - p->found.place[axis]) < nearest)) continue;
        if (!(at > p->cell.min[axis] && at < p->cell.max[axis])) continue;
        nearest = fabs(at - p->found.place[axis]);
        wall.axis = axis;
        wall.at = at;
      }
    }
  }
  if (nearest < (double)INFINITY) places[(*count)++] = wall;
}

/* In the middle of the hull's longest side. */
static void add_middle(const piece *p, place *places, uint32_t *count) {
  const double *low = p->hull->low, *high = p->hull->high;
  int longest = 0;
  for (int k = 1; k < 3; k++) longest = high[k] - low[k] > high[longest] - low[longest] ? k : longest;
  add_place(p, longest, 0.5 * low[longest] + 0.5 * high[longest], places, count);
}

static graze_status find_places(const solid_source *source, const piece *p, place *places, uint32_t *count) {
  const size_t room = p->corners.count * sizeof(flat_area); /* there are no more polygons than corners */
  void *scratch = gz_new(source->context, room, 1);
  *count = 0;
  if (scratch == NULL) return gz_fail_memory(source->context, room);
  (p->large ? add_middle : add_wall)(p, places, count);
  for (int axis = 0; axis < 3 && !p->large; axis++) {
    add_place(p, axis, 0.5 * p->cell.min[axis] + 0.5 * p->cell.max[axis], places, count);
    add_place(p, axis, p->found.place[axis], places, count);
    add_flat_places(p, axis, scratch, places, count);
    add_even_places(p, axis, scratch, places, count);
  }
  gz_free(scratch);
  return GRAZE_OK;
}

/* Which edges of the cell the places cut in the solid. */
static graze_status find_inner(const solid_source *source, const piece *p, place *places, uint32_t count) {
  double questions[3 * AXIS_PLACES][4][2][2][3];
  uint8_t sides[3 * AXIS_PLACES][4][2][2];
  for (uint32_t i = 0; i < count; i++) {
    for (unsigned c = 0, edge = 0; c < 8; c++) {
      double corner[3];
      if ((c >> places[i].axis & 1) != 0) continue;
      cell_corner(&p->cell, c, corner);
      corner[places[i].axis] = places[i].at;
      for (int upper = 0; upper < 2; upper++) {
        const graze_box half = cell_of_half(&p->cell, &places[i], upper);
        corner_questions(&half, corner, questions[i][edge][upper]);
      }
      edge++;
    }
  }
  graze_status status = find_sides(source, (const double(*)[3])questions[0][0][0][0], 16 * count, sides[0][0][0]);
  for (uint32_t i = 0; i < 8 * count && status == GRAZE_OK; i++) {
    const uint32_t n = i / 8, edge = i / 2 % 4, upper = i % 2;
    places[n].inner[upper] |= (uint8_t)(is_inner(sides[n][edge][upper]) << edge);
  }
  return status;
}

/* ---- the best of them ------------------------------------------------------------------------------------------- */

typedef struct contest {
  const solid_source *source;
  const piece *whole;
  place *places;
} contest;

/* The volumes of both hulls over that of the whole, and a little against cutting off thin slices. */
static void judge(void *argument, uint32_t index) {
  contest *c = argument;
  place *p = &c->places[index];
  const graze_box *cell = &c->whole->cell;
  const double middle = 0.5 * cell->min[p->axis] + 0.5 * cell->max[p->axis];
  double sum = 0;
  for (int upper = 0; upper < 2 && p->status == GRAZE_OK; upper++) {
    piece half;
    p->status = cut_piece(c->source->context, c->whole, p, upper, &half)
                    ? gz_piece_find_hull(c->source->context, &half)
                    : gz_fail_memory(c->source->context, sizeof half);
    sum += half.volume;
    gz_piece_release(&half);
  }
  p->left = sum / c->whole->volume;
  p->score = p->left + 0.05 * fabs(p->at - middle) / (cell->max[p->axis] - cell->min[p->axis]);
}

/* The lowest score. Around a hole or a cavity no single cut makes hulls smaller; then its wall is cut. */
static uint32_t choose(const place *places, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; i++) best = places[i].score < places[best].score ? i : best;
  return places[best].left > GAIN && places[0].wall ? 0 : best;
}

graze_status gz_piece_split(const solid_source *source, const piece *whole, piece halves[2]) {
  place places[3 * AXIS_PLACES];
  contest c = {source, whole, places};
  uint32_t count = 0;
  halves[0] = halves[1] = (piece){.hull = NULL};
  graze_status status = find_places(source, whole, places, &count);
  if (status == GRAZE_OK) status = find_inner(source, whole, places, count);
  if (status == GRAZE_OK) gz_parallel_each(source->context, count, judge, &c);
  for (uint32_t i = 0; i < count && status == GRAZE_OK; i++) status = places[i].status;
  if (status == GRAZE_OK && count == 0)
    status = gz_fail(source->context, GRAZE_ERROR_LIMIT, "doubles are too coarse to cut the solid any finer");
  const place *best = &places[status == GRAZE_OK ? choose(places, count) : 0];
  for (int upper = 0; upper < 2 && status == GRAZE_OK; upper++) {
    if (!cut_piece(source->context, whole, best, upper, &halves[upper]))
      status = gz_fail_memory(source->context, sizeof *halves);
  }
  for (int i = 0; i < 2 && status != GRAZE_OK; i++) gz_piece_release(&halves[i]);
  return status;
}
