/* How deep bodies are in meshes. Polytopes are meshes, too: the relation of both decides whether they overlap at all,
 * and a way out of one another that is not longer than what is forgiven settles most of what rests; the search for the
 * shortest way is left for the others.
 *
 * A ball, or a capsule, is its core, a point or a segment, and all that is within a radius of it. The distance of the
 * core from the surface is exact, and so is the side on which its ends lie, which bounds the depth from below: the core
 * has to come as far out as it is in, and a radius farther. From above it is bounded by a way out that is tried: along
 * the line to the nearest point, again and again until the core is far enough from the surface. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graze/distance.h"
#include "graze/relate.h"
#include "rigid/check.h"
#include "rigid/surface.h"
#include "rigid/vector.h"

/* Of a way out of a ball: so many pieces are tried. */
enum { MOST_PIECES = 32 };

static const check_depth apart = {0, 0, CHECK_FORGIVEN};

static check_depth bracket(double lower, double upper, double slop) {
  return (check_depth){lower, upper, lower > slop ? CHECK_OVER : upper > slop ? CHECK_OPEN : CHECK_FORGIVEN};
}

/* ---- solids ------------------------------------------------------------------------------------------------------ */

static graze_status make_mesh(graze_context *context, const double *points, uint64_t count, const uint32_t *triangles,
                              uint64_t triangle_count, graze_mesh **mesh) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = points;
  def.vertex_count = count;
  def.indices = triangles;
  def.triangle_count = triangle_count;
  def.precision = GRAZE_DOUBLE;
  return graze_mesh_create(context, &def, mesh);
}

static graze_status make_solid(graze_context *context, const graze_convex *set, graze_mesh **mesh) {
  graze_hull *hull;
  graze_status status = graze_hull_create(context, set->count, set->points, &hull);
  if (status != GRAZE_OK) return status;
  status = make_mesh(context, hull->points, hull->vertex_count, hull->triangles, hull->triangle_count, mesh);
  graze_hull_destroy(hull);
  return status;
}

/* A triangle without area. */
static graze_status make_core(graze_context *context, const graze_convex *set, graze_mesh **mesh) {
  const uint32_t last = set->count - 1, triangle[3] = {0, last, last};
  return make_mesh(context, set->points, set->count, triangle, 1, mesh);
}

static bool is_mesh(const check_side *side) {
  return side->body->shape == GRAZE_RIGID_MESH;
}

/* A body's own mesh lies about its own origin. */
static graze_pose pose_of(const check_side *side) {
  graze_pose pose = *side->pose;
  const double *center = is_mesh(side) ? side->body->surface->center : NULL;
  for (int k = 0; k < 3 && center != NULL; k++) pose.m[4 * k + 3] -= dot3(pose.m + 4 * k, center);
  return pose;
}

/* The inner set as a mesh, or the outer one, or the core of what is round. */
static graze_status open_solid(graze_context *context, const check_side *side, int which, const graze_mesh **mesh) {
  check_form *form = side->form;
  if (is_mesh(side)) {
    *mesh = side->body->surface->mesh;
    return GRAZE_OK;
  }
  graze_mesh **solid = &form->solids[check_is_bracketed(form) ? which : 0];
  const graze_convex *set = which == 0 ? &form->inner : &form->outer;
  graze_status status = GRAZE_OK;
  if (*solid == NULL) status = set->radius > 0 ? make_core(context, set, solid) : make_solid(context, set, solid);
  *mesh = *solid;
  return status;
}

static bool is_apart(const graze_verdict *verdict) {
  return verdict->relation == GRAZE_SEPARATE || verdict->relation == GRAZE_TOUCH;
}

static graze_status find_depth(graze_query *query, const graze_mesh *const meshes[2], const graze_pose poses[2],
                               double slop, check_depth *depth) {
  graze_depth_options options = graze_default_depth_options();
  graze_depth_result result;
  options.open = GRAZE_OPEN_SURFACE;
  graze_status status = graze_mesh_depth(query, meshes[0], &poses[0], meshes[1], &poses[1], &options, &result);
  if (status == GRAZE_OK) *depth = bracket(result.lower, result.known ? result.depth : (double)INFINITY, slop);
  return status;
}

/* Two bodies as meshes. */
typedef struct solid_pair {
  const check_side *sides;
  const graze_mesh *meshes[2];
  graze_pose poses[2];
  graze_relate_options options;
} solid_pair;

/* The mean of the normals of a mesh where the other body meets it, or its opposite: along it b leaves a. */
static void find_mean_normal(const solid_pair *pair, const graze_relate_result *related, double way[3]) {
  const int mesh = is_mesh(&pair->sides[0]) ? 0 : 1;
  const surface_face *faces = pair->sides[mesh].body->surface->faces;
  double sum[3] = {0, 0, 0};
  for (uint64_t i = 0; i < related->counts.triangle_pairs; i++) {
    const double *normal = faces[mesh == 0 ? related->pairs[i].a : related->pairs[i].b].normal;
    for (int k = 0; k < 3; k++) sum[k] += mesh == 0 ? normal[k] : -normal[k];
  }
  const double length = length3(sum);
  for (int k = 0; k < 3; k++) way[k] = length > 0 ? dot3(pair->poses[mesh].m + 4 * k, sum) / length : 0;
}

/* Whether b is out of a once it has moved; by how much it has, at most. */
static graze_status try_way(graze_query *query, const solid_pair *pair, const double way[3], double length,
                            double *moved) {
  graze_relate_result related;
  graze_pose pose = pair->poses[1];
  double real[3];
  for (int k = 0; k < 3; k++) {
    pose.m[4 * k + 3] += length * way[k];
    real[k] = pose.m[4 * k + 3] - pair->poses[1].m[4 * k + 3];
  }
  graze_status status =
      graze_relate_meshes(query, pair->meshes[0], &pair->poses[0], pair->meshes[1], &pose, &pair->options, &related);
  *moved = status == GRAZE_OK && is_apart(&related.verdict) ? length3(real) * (1 + 4 * DBL_EPSILON) : (double)INFINITY;
  return status;
}

/* What rests comes free along the normals on which it lies, or by being lifted; first by a little. */
static graze_status find_short_way(graze_query *query, const solid_pair *pair, const graze_relate_result *related,
                                   const double up[3], double slop, double *upper) {
  const double lengths[4] = {slop / 64, slop / 16, slop / 4, slop * (1 - 0x1p-40)};
  const bool lifts_a = pair->sides[1].body->type == GRAZE_BODY_STATIC;
  double ways[2][3], moved;
  graze_status status = GRAZE_OK;
  find_mean_normal(pair, related, ways[0]);
  for (int k = 0; k < 3; k++) ways[1][k] = lifts_a ? -up[k] : up[k];
  *upper = (double)INFINITY;
  for (int i = 0; status == GRAZE_OK && !(*upper <= slop) && i < 8; i++) {
    const double *way = ways[i % 2];
    if (dot3(way, way) == 0) continue;
    status = try_way(query, pair, way, lengths[i / 2], &moved);
    *upper = fmin(*upper, moved);
  }
  return status;
}

static graze_status measure_meshes(graze_query *query, const solid_pair *pair, const double up[3], double slop,
                                   check_depth *depth) {
  const graze_mesh *const *meshes = pair->meshes;
  const graze_pose *poses = pair->poses;
  graze_relate_result related;
  graze_escape escape = {0};
  double upper = (double)INFINITY;
  graze_status status =
      graze_relate_meshes(query, meshes[0], &poses[0], meshes[1], &poses[1], &pair->options, &related);
  if (status != GRAZE_OK) return status;
  *depth = is_apart(&related.verdict) ? apart : (check_depth){0, (double)INFINITY, CHECK_OPEN};
  if (depth->answer == CHECK_FORGIVEN || related.verdict.relation == GRAZE_UNKNOWN) return GRAZE_OK;
  const bool crosses = slop > 0 && related.verdict.relation == GRAZE_CROSS;
  if (crosses) status = find_short_way(query, pair, &related, up, slop, &upper);
  if (status == GRAZE_OK && crosses && upper > slop)
    status = graze_find_escape(query, meshes[0], &poses[0], meshes[1], &poses[1], &pair->options, slop, &escape);
  if (status != GRAZE_OK) return status;
  if (escape.found) upper = escape.length;
  if (upper > slop) return find_depth(query, meshes, poses, slop, depth);
  *depth = bracket(0, upper, slop);
  return GRAZE_OK;
}

static graze_status measure_solids(graze_context *context, graze_query *query, const check_side sides[2],
                                   const double up[3], double slop, check_depth *depth) {
  solid_pair pair = {.sides = sides, .poses = {pose_of(&sides[0]), pose_of(&sides[1])}};
  const int count = check_is_bracketed(sides[0].form) || check_is_bracketed(sides[1].form) ? 2 : 1;
  check_depth depths[2] = {apart, apart};
  graze_status status = GRAZE_OK;
  pair.options = graze_default_relate_options();
  pair.options.open = GRAZE_OPEN_SURFACE;
  for (int which = 0; status == GRAZE_OK && which < count; which++) {
    for (int i = 0; status == GRAZE_OK && i < 2; i++) status = open_solid(context, &sides[i], which, &pair.meshes[i]);
    if (status == GRAZE_OK) status = measure_meshes(query, &pair, up, slop, &depths[which]);
  }
  *depth = bracket(depths[0].lower, depths[count - 1].upper, slop);
  return status;
}

/* ---- what is round ----------------------------------------------------------------------------------------------- */

/* A core in front of a mesh. */
typedef struct round_view {
  graze_query *query;
  const graze_mesh *mesh, *core;
  const rigid_surface *surface; /* of the mesh */
  graze_pose mesh_pose, core_pose;
  const graze_convex *set;
} round_view;

/* How far the core is from the surface, and which of its ends lie inside. */
typedef struct round_place {
  graze_distance_result gap;
  graze_point_distance ends[2];
  uint32_t end_count;
  int inside;   /* an end that is, the deepest; -1: none */
  bool unknown; /* which side an end is on */
} round_place;

static graze_status look(const round_view *view, round_place *place) {
  const graze_distance_options options = graze_default_distance_options();
  graze_point_options point_options = graze_default_point_options();
  double ends[2][3];
  point_options.open = GRAZE_OPEN_SURFACE;
  memset(place, 0, sizeof *place);
  place->inside = -1;
  place->end_count = view->set->count;
  for (uint32_t i = 0; i < place->end_count; i++)
    graze_pose_apply(&view->core_pose, view->set->points + 3 * (size_t)i, ends[i]);
  graze_status status = graze_mesh_distance(view->query, view->mesh, &view->mesh_pose, view->core, &view->core_pose,
                                            &options, &place->gap);
  if (status == GRAZE_OK)
    status = graze_mesh_point_distances(view->query, view->mesh, &view->mesh_pose, ends[0], 0, place->end_count,
                                        &point_options, place->ends);
  for (uint32_t i = 0; status == GRAZE_OK && i < place->end_count; i++) {
    place->unknown = place->unknown || place->ends[i].side == GRAZE_POINT_UNKNOWN;
    if (place->ends[i].side != GRAZE_POINT_INSIDE) continue;
    if (place->inside < 0 || place->ends[i].distance > place->ends[place->inside].distance) place->inside = (int)i;
  }
  return status;
}

static bool is_out(const round_place *place, double radius) {
  return place->inside < 0 && !place->unknown && place->gap.lower >= radius;
}

static double bound_below(const round_place *place, double radius) {
  double lower = radius - place->gap.upper;
  if (place->inside >= 0) lower = fmax(lower, radius + place->ends[place->inside].distance * (1 - DBL_EPSILON));
  return fmax(0, lower * (1 - DBL_EPSILON));
}

/* From where the core is to where it would be out, if nothing else were in its way. False: nothing tells. */
static bool find_piece(const round_view *view, const round_place *place, double radius, double piece[3]) {
  const double *points[2] = {place->gap.nearest.points[0], place->gap.nearest.points[1]};
  double end[3], way[3], far = radius - place->gap.lower;
  sub3(points[1], points[0], way);
  if (place->inside >= 0) {
    graze_pose_apply(&view->core_pose, view->set->points + 3 * (size_t)place->inside, end);
    sub3(place->ends[place->inside].point, end, way);
    far = radius + place->ends[place->inside].distance;
  }
  double length = length3(way);
  if (!(length > 0)) { /* it lies on the surface: along the normal of a triangle there */
    const double *normal = view->surface->faces[place->gap.triangles.a].normal;
    for (int k = 0; k < 3; k++) way[k] = dot3(view->mesh_pose.m + 4 * k, normal);
    length = length3(way);
  }
  if (!(length > 0)) return false;
  for (int k = 0; k < 3; k++) piece[k] = way[k] / length * far * (1 + 0x1p-40);
  return true;
}

/* How long a way is that leads out; infinite if none was found. */
static graze_status find_way(round_view view, round_place place, double radius, double *upper) {
  const graze_pose from = view.core_pose;
  double way[3] = {0, 0, 0}, piece[3], rounding = 0;
  graze_status status = GRAZE_OK;
  *upper = (double)INFINITY;
  for (int i = 0; status == GRAZE_OK && i < MOST_PIECES && !is_out(&place, radius); i++) {
    if (!find_piece(&view, &place, radius, piece)) return GRAZE_OK;
    for (int k = 0; k < 3; k++) {
      way[k] += piece[k];
      view.core_pose.m[4 * k + 3] = from.m[4 * k + 3] + way[k];
      rounding += fabs(view.core_pose.m[4 * k + 3]) * DBL_EPSILON;
    }
    status = look(&view, &place);
  }
  if (status == GRAZE_OK && is_out(&place, radius)) *upper = length3(way) * (1 + 4 * DBL_EPSILON) + rounding;
  return status;
}

static graze_status measure_round(graze_context *context, graze_query *query, const check_side *mesh,
                                  const check_side *round, double slop, check_depth *depth) {
  const double radius = round->form->inner.radius;
  round_view view = {.query = query, .surface = mesh->body->surface, .mesh_pose = pose_of(mesh)};
  round_place place;
  double upper = 0;
  *depth = apart;
  view.core_pose = *round->pose;
  view.set = &round->form->inner;
  graze_status status = open_solid(context, mesh, 0, &view.mesh);
  if (status == GRAZE_OK) status = open_solid(context, round, 0, &view.core);
  if (status == GRAZE_OK) status = look(&view, &place);
  if (status != GRAZE_OK || is_out(&place, radius)) return status;
  const double lower = bound_below(&place, radius);
  status = find_way(view, place, radius, &upper);
  *depth = bracket(lower, fmax(upper, lower), slop);
  return status;
}

graze_status gz_check_meshes(graze_context *context, graze_query *query, const check_side sides[2], const double up[3],
                             double slop, check_depth *depth) {
  for (int i = 0; i < 2; i++) {
    if (sides[i].form->inner.radius > 0) return measure_round(context, query, &sides[1 - i], &sides[i], slop, depth);
  }
  return measure_solids(context, query, sides, up, slop, depth);
}
