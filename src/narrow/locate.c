/* A ray from the point to a place outside, and the sum of the signs with which it passes through the surface.
 *
 * What the ray may meet is found by an ordinary query of a narrow triangle that has the ray as an edge, with all the
 * guarantees of a query, in every tier. Exact signs then tell which triangles the ray itself passes. It must pass
 * through the inside of triangles only: a ray that meets an edge, a corner or a plane in a line is thrown away and
 * another direction taken. No perturbation is needed, because any ray that avoids edges will do.
 */
#include "narrow/locate.h"

#include <math.h>

#include "base/context.h"
#include "base/hash.h"
#include "geometry/pose.h"
#include "narrow/predicate_points.h"

/* Doublings lead from the least double to the greatest. */
enum { RAYS_MOST = 1000, LOST_MOST = 16, DOUBLINGS_MOST = 2200 };
static const double NARROW = 0x1p-14; /* of the ray's length */

enum { EYE = 0, FAR = 1, CORNER = 2 };

graze_box gz_side_box(const side *s) {
  const mesh_header *h = s->mesh->header;
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = h->box_min[k];
    box.max[k] = h->box_max[k];
  }
  return s->identity ? box : graze_pose_box(&s->pose, &box);
}

/* Direction `attempt` of a fixed sequence: away from the axes, so that edges of buildings and machines are rarely met.
 */
static void direction(uint32_t attempt, double out[3]) {
  for (uint32_t k = 0; k < 3; k++) {
    double unit = (double)(splitmix64(3 * (uint64_t)attempt + k) >> 11) * 0x1p-53;
    out[k] = unit < 0.5 ? unit - 0.7 : unit + 0.2;
  }
}

static bool outside(const graze_box *box, const double p[3]) {
  for (int k = 0; k < 3; k++) {
    double slack = 0x1p-40 * (fabs(box->min[k]) + fabs(box->max[k]) + fabs(p[k]));
    if (p[k] < box->min[k] - slack || p[k] > box->max[k] + slack) return true;
  }
  return false;
}

/* A point outside `box` in the world, along the direction; false: there is none, as the pose is singular or doubles
 * come to their end. */
static bool far_end(const side *from, const double eye[3], const double along[3], const graze_box *box, double out[3]) {
  const mesh_header *own = from->mesh->header; /* in units of the eye: the pose may scale */
  double size = 0;
  for (int k = 0; k < 3; k++) size = fmax(size, fmax(own->box_max[k] - own->box_min[k], fabs(eye[k])));
  double reach = fmin(fmax(size, 0x1p-960), 0x1p1022); /* room for directions, and for the first steps */
  for (int i = 0; i < DOUBLINGS_MOST; i++) {
    double world[3];
    for (int k = 0; k < 3; k++) out[k] = eye[k] + reach * along[k];
    if (!isfinite(out[0]) || !isfinite(out[1]) || !isfinite(out[2])) return false;
    graze_pose_apply(&from->pose, out, world);
    if (!isfinite(world[0]) || !isfinite(world[1]) || !isfinite(world[2])) return false;
    if (outside(box, world)) return true;
    reach *= 2;
  }
  return false;
}

/* The query's triangle with the edge from `eye` to `end`: made once, moved afterwards, so that a steady state allocates
 * nothing. */
static graze_status aim(graze_query *rays, const double eye[3], const double end[3]) {
  double corners[9];
  for (int k = 0; k < 3; k++) {
    corners[k] = eye[k];
    corners[3 + k] = end[k];
    /* Sideways: along another axis' share of the ray. */
    double share = NARROW * end[(k + 1) % 3] - NARROW * eye[(k + 1) % 3];
    corners[6 + k] = end[k] + (end[k] > 0 ? -fabs(share) : fabs(share)); /* towards zero: no overflow */
  }
  if (rays->ray != NULL) return graze_mesh_refit(rays->ray, corners, 0);
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 3;
  def.precision = GRAZE_DOUBLE;
  def.no_adjacency = true;
  return graze_mesh_create(rays->context, &def, &rays->ray);
}

static graze_status find_crossed(graze_query *rays, const side *from, const double eye[3], const double end[3],
                                 const side *shape, graze_exactness exactness, graze_collide_result *hits) {
  graze_collide_options options = graze_default_collide_options();
  options.exactness = exactness;
  graze_status status = aim(rays, eye, end);
  if (status != GRAZE_OK) return status;
  return graze_collide_meshes(rays, rays->ray, &from->pose, shape->mesh, &shape->pose, &options, hits);
}

typedef enum passage { PASSES_NOT, PASSES_IN, PASSES_OUT, PASSES_ON, PASSES_BADLY } passage;

/* How the ray meets a triangle. */
static passage pass(predicate_points *set, const side *shape, uint32_t triangle) {
  gz_predicate_points_set_triangle(set, CORNER, shape, triangle);
  sign_source s = gz_predicate_points_signs(set);
  int eye = sign3(&s, CORNER, CORNER + 1, CORNER + 2, EYE);
  int end = sign3(&s, CORNER, CORNER + 1, CORNER + 2, FAR);
  if (eye * end > 0) return PASSES_NOT;
  if (end == 0) return PASSES_BADLY;
  int left = 0, right = 0;
  for (int e = 0; e < 3; e++) {
    int at = sign3(&s, EYE, FAR, CORNER + e, CORNER + (e + 1) % 3);
    left += at > 0;
    right += at < 0;
  }
  if (left > 0 && right > 0) return PASSES_NOT;
  if (eye == 0) return PASSES_ON;
  if (left + right < 3) return PASSES_BADLY;
  return eye < 0 ? PASSES_OUT : PASSES_IN;
}

/* Sums the passages; false: another ray is needed. */
static bool count_passages(predicate_points *set, const side *shape, const part_filter *filter,
                           const graze_collide_result *hits, location *where, int *winding) {
  bool good = true;
  uint64_t odd = 0; /* bit w: within walls w */
  *winding = 0;
  for (uint64_t i = 0; i < hits->counts.triangle_pairs; i++) {
    uint32_t triangle = hits->pairs[i].b;
    uint32_t part = filter->shape->part_of[triangle];
    if (part == NO_PART || part == filter->skip || !part_bounds(&filter->shape->parts[part], filter->strict)) continue;
    passage p = pass(set, shape, triangle);
    if (p == PASSES_ON) {
      *where = LOCATION_ON;
      return true;
    }
    good &= p != PASSES_BADLY;
    if (filter->shape->parts[part].parity)
      odd ^= (uint64_t)(p == PASSES_OUT || p == PASSES_IN) << filter->shape->parts[part].walls;
    else
      *winding += p == PASSES_OUT ? 1 : p == PASSES_IN ? -1 : 0;
  }
  *where = *winding != 0 || odd != 0 ? LOCATION_IN : LOCATION_OUT;
  return good;
}

graze_status gz_locate(graze_query *rays, const side *from, const double local[3], const side *shape,
                       const part_filter *filter, graze_exactness exactness, location *where, int *winding) {
  graze_box box = gz_side_box(shape);
  predicate_points set;
  gz_predicate_points_clear(&set, exactness == GRAZE_T2);
  uint32_t lost = 0;
  for (uint32_t attempt = 0; attempt < RAYS_MOST && lost < LOST_MOST; attempt++) {
    double along[3], end[3];
    graze_collide_result hits;
    direction(attempt, along);
    if (!far_end(from, local, along, &box, end)) {
      lost++;
      continue;
    }
    graze_status status = find_crossed(rays, from, local, end, shape, exactness, &hits);
    if (status != GRAZE_OK) return status;
    gz_predicate_points_set(&set, EYE, from, local);
    gz_predicate_points_set(&set, FAR, from, end);
    if (count_passages(&set, shape, filter, &hits, where, winding)) return GRAZE_OK;
  }
  *where = LOCATION_LOST;
  *winding = 0;
  return GRAZE_OK;
}
