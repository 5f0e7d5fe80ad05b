/* A round object and a mesh: the evidence for the three sets that a relation follows from (relate/steps.h).
 *
 * The inside of a round object is convex and open. Where it meets no wall of the mesh's solid, it lies on one side
 * whole, and a ray from an end of the core tells which. A wall that reaches into it claims that they share volume and
 * that some of the round object is outside: the wall's two sides. Claims hold where the solid is simple; else they are
 * proved by points of the inside that rays place. What lies within the round object is told by corners alone, for it is
 * convex, and no mesh fills it: flush corners are inside.
 *
 *     walls that reach in    the core lies    common    only round     only mesh
 *     none                   inside           yes       no             yes
 *     none                   outside          -         yes            yes
 *     some                                    claimed   claimed        a corner outside the round object
 *
 * Triangles of surfaces that reach in are common, and tell nothing of the solid.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "narrow/locate.h"
#include "narrow/relate/steps.h"
#include "narrow/round.h"

/* Triangles of walls that are kept, each for two points. */
enum { WALLS_KEPT = 8, CORNERS_TRIED = 32 /* of a part */ };

/* What is known of a pair. */
typedef struct immersion {
  const round_pair *p;
  int round, mesh; /* of a and b */
  operands o;
  findings f;
  bool surface, wall, inner; /* reach in: a surface, a wall of the solid, one with the solid on both sides */
  uint32_t walls[WALLS_KEPT];
  uint32_t wall_count;
} immersion;

static operand *mesh_of(immersion *m) {
  return &m->o.of[m->mesh];
}

/* ---- triangles ---- */

static void note_deep(immersion *m, uint32_t triangle) {
  const operand *own = mesh_of(m);
  const uint32_t part = own->shape->part_of[triangle];
  if (part == NO_PART) return; /* no area: it counts for contact alone */
  if (!operand_bounds(own, part)) {
    m->surface = true;
  } else {
    *(own->shape->parts[part].side == MATERIAL_BOTH ? &m->inner : &m->wall) = true;
    if (m->wall_count < WALLS_KEPT) m->walls[m->wall_count++] = triangle;
  }
}

/* A pair to be told the sign of. Of a ball the point comes first, which saves asking for each of its corners. */
static void start_sign(const immersion *m, graze_triangle_pair triangles, double corners[18], near_pair *pair) {
  const graze_pose *pose = gz_round_corners(m->p, m->round, 0, corners);
  if (m->p->flat[m->round] || memcmp(corners, corners + 3, 3 * sizeof *corners) != 0) {
    gz_round_start(m->p, triangles, corners, pair);
    return;
  }
  const graze_pose *other = gz_round_corners(m->p, m->mesh, m->mesh == 0 ? triangles.a : triangles.b, corners + 9);
  gz_near_start(pair, corners, pose, corners + 9, other);
  pair->is_point = true;
}

/* Keeps the pairs that meet, and notes which reach into the round object. */
static void sift(immersion *m, graze_triangle_pair *pairs, uint64_t *count) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < *count; i++) {
    double corners[18];
    near_pair pair;
    start_sign(m, pairs[i], corners, &pair);
    const int sign = gz_round_sign(m->p, &pair);
    if (sign > 0) continue;
    if (sign < 0) note_deep(m, m->mesh == 0 ? pairs[i].a : pairs[i].b);
    pairs[kept++] = pairs[i];
  }
  *count = kept;
}

/* Whether no corner of any part is outside the round object. */
static bool holds_mesh(immersion *m) {
  const operand *own = mesh_of(m);
  for (uint32_t p = 0; p < own->shape->part_count; p++) {
    for (uint32_t i = own->shape->parts[p].begin; i < own->shape->parts[p].end; i++) {
      double c[9], corners[18];
      near_pair pair;
      const graze_pose *pose = gz_round_corners(m->p, m->mesh, own->shape->listed[i], c);
      for (int k = 0; k < 9; k += 3) {
        gz_round_start_point(m->p, m->round, c + k, pose, corners, &pair);
        if (gz_round_point_sign(m->p, m->round, &pair) > 0) return false;
      }
    }
  }
  return true;
}

/* ---- points of the inside ---- */

static void take_place(immersion *m, location where) {
  if (where == LOCATION_IN) raise_evidence(&m->f, SET_COMMON, EVIDENCE_PROVED);
  if (where == LOCATION_OUT) raise_evidence(&m->f, set_only(m->round), EVIDENCE_PROVED);
}

static graze_status locate_core(immersion *m, location *where) {
  double c[9];
  mesh_corners(m->p->of[m->round]->place.mesh, 0, c);
  *where = LOCATION_OUT;
  return mesh_of(m)->bounding > 0 ? gz_operand_locate(&m->o, m->round, c, where) : GRAZE_OK;
}

/* The sign of a point of the world; 0 where it is none. */
static int sign_of_point(const immersion *m, const double x[3]) {
  static const graze_pose identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  double corners[18];
  near_pair pair;
  if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) return 0;
  gz_round_start_point(m->p, m->round, x, &identity, corners, &pair);
  return gz_round_point_sign(m->p, m->round, &pair);
}

/* A point of the world, in the mesh's solid. */
static graze_status locate_point(const immersion *m, const double x[3], location *where) {
  mesh_header header = *m->p->of[m->round]->place.mesh->header; /* for its size alone */
  const graze_mesh sized = {.header = &header};
  const side from = {&sized, graze_pose_identity(), true};
  const operand *own = &m->o.of[m->mesh];
  const part_filter solid_parts = {.shape = own->shape, .strict = own->strict, .skip = NO_PART};
  int winding;
  return gz_locate(m->o.rays, &from, x, &own->place, &solid_parts, m->o.exactness, where, &winding);
}

/* What a point tells that is in the inside. */
static graze_status try_point(immersion *m, const double x[3]) {
  location where;
  if (sign_of_point(m, x) >= 0) return GRAZE_OK;
  graze_status status = locate_point(m, x, &where);
  if (status == GRAZE_OK) take_place(m, where);
  return status;
}

/* And one that is outside. */
static graze_status try_outside(immersion *m, const double x[3]) {
  location where;
  if (sign_of_point(m, x) <= 0) return GRAZE_OK;
  graze_status status = locate_point(m, x, &where);
  if (status == GRAZE_OK && where == LOCATION_IN) raise_evidence(&m->f, set_only(m->mesh), EVIDENCE_PROVED);
  return status;
}

/* What points of the inside have proved. */
static unsigned proved_sets(const immersion *m) {
  return sets_with(&m->f, EVIDENCE_PROVED) & (SET_COMMON | set_only(m->round));
}

static bool is_unproved(const immersion *m) {
  return proved_sets(m) != (SET_COMMON | set_only(m->round));
}

/* Points on both sides of a wall, near its point nearest to the core. */
static graze_status try_wall(immersion *m, uint32_t triangle) {
  const graze_triangle_pair both =
      m->mesh == 0 ? (graze_triangle_pair){triangle, 0} : (graze_triangle_pair){0, triangle};
  double corners[18], c[9], u[3], v[3], n[3];
  near_pair pair;
  graze_nearest nearest;
  graze_status status = GRAZE_OK;
  gz_round_start(m->p, both, corners, &pair);
  gz_near_witness(&pair, &nearest);
  gz_side_corners(&mesh_of(m)->place, triangle, c);
  for (int k = 0; k < 3; k++) {
    u[k] = c[3 + k] - c[k];
    v[k] = c[6 + k] - c[k];
  }
  for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  const double size = fmax(fmax(fabs(n[0]), fabs(n[1])), fabs(n[2]));
  const double room = 0.25 * (m->p->radius[m->round] - nearest.distance), by = room / size;
  for (int way = -1; way <= 1 && status == GRAZE_OK && isfinite(by); way += 2) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = nearest.points[m->mesh][k] + way * by * n[k];
    status = try_point(m, x);
  }
  return status;
}

static bool only_mesh_is_proved(const immersion *m) {
  return (sets_with(&m->f, EVIDENCE_PROVED) & set_only(m->mesh)) != 0;
}

/* Points on both sides of a triangle, near its first corner. */
static graze_status try_corner(immersion *m, uint32_t triangle) {
  double c[9], u[3], v[3], n[3];
  graze_status status = GRAZE_OK;
  gz_side_corners(&mesh_of(m)->place, triangle, c);
  for (int k = 0; k < 3; k++) {
    u[k] = c[3 + k] - c[k];
    v[k] = c[6 + k] - c[k];
  }
  for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  const double size = fmax(fmax(fabs(n[0]), fabs(n[1])), fabs(n[2])), by = 0x1p-10 * sqrt(size) / size;
  for (int way = -1; way <= 1 && status == GRAZE_OK && isfinite(by); way += 2) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = c[k] + 0x1p-5 * (u[k] + v[k]) + way * by * n[k];
    status = try_outside(m, x);
  }
  return status;
}

/* Proves that the mesh has something that the round object has not, where walls may cancel. */
static graze_status try_corners(immersion *m) {
  const solid *s = mesh_of(m)->shape;
  graze_status status = GRAZE_OK;
  for (uint32_t p = 0; p < s->part_count && status == GRAZE_OK && !only_mesh_is_proved(m); p++) {
    const uint32_t count = s->parts[p].end - s->parts[p].begin, step = count / CORNERS_TRIED + 1;
    for (uint32_t i = 0; i < count && status == GRAZE_OK && !only_mesh_is_proved(m); i += step)
      status = try_corner(m, s->listed[s->parts[p].begin + i]);
  }
  return status;
}

/* The beginning of such points and how far they lie from it: of a cylinder the middle, and within its length. */
static double choose_middle(const immersion *m, int end, double middle[3]) {
  const round_pair *p = m->p;
  double c[9], square = 0;
  gz_side_corners(&p->of[m->round]->place, 0, c);
  for (int k = 0; k < 3; k++) {
    middle[k] = p->flat[m->round] ? 0.5 * c[k] + 0.5 * c[3 + k] : c[3 * end + k];
    square += (c[3 + k] - c[k]) * (c[3 + k] - c[k]);
  }
  return p->flat[m->round] ? fmin(p->radius[m->round], 0.5 * sqrt(square)) : p->radius[m->round];
}

/* Points towards the corners and the sides of a cube around either end of the core, until both sets are proved or, if
 * that is enough, one. */
static graze_status try_around(immersion *m, bool one) {
  graze_status status = GRAZE_OK;
  for (int i = 0; i < 2 * 27 && status == GRAZE_OK && (one ? proved_sets(m) == 0 : is_unproved(m)); i++) {
    const double way[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 % 3 - 1};
    const double length = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    double x[3], far = choose_middle(m, i / 27, x);
    if (i >= 27 && m->p->flat[m->round]) far *= 0.5;
    for (int k = 0; k < 3 && length > 0; k++) x[k] += far * (1 - 0x1p-10) / length * way[k];
    status = try_point(m, x);
  }
  return status;
}

/* The round object reaches out of the box of the solid, however boxes are rounded. */
static bool sticks_out(const immersion *m) {
  const graze_box *box = &m->o.of[m->mesh].box;
  double c[9];
  gz_side_corners(&m->p->of[m->round]->place, 0, c);
  for (int k = 0; k < 6; k++) {
    const double x = c[k], r = gz_round_extent(m->p, m->round, k % 3), slack = 0x1p-50 * (fabs(x) + r);
    if (x - r + slack < box->min[k % 3] || x + r - slack > box->max[k % 3]) return true;
  }
  return false;
}

/* ---- walls ---- */

/* Proves what walls claim, or doubts it. */
static graze_status prove_walls(immersion *m) {
  operand *own = mesh_of(m);
  simplicity simple = SIMPLE_YES;
  location where;
  graze_status status = locate_core(m, &where);
  if (status == GRAZE_OK) take_place(m, where);
  if (sticks_out(m)) raise_evidence(&m->f, set_only(m->round), EVIDENCE_PROVED);
  if (status != GRAZE_OK || (!is_unproved(m) && own->shape->one_way)) return status;
  status = gz_solid_simplicity(m->o.rays, own->place.mesh, own->shape, &simple);
  if (status != GRAZE_OK || simple == SIMPLE_YES) return status;
  if (simple == SIMPLE_UNION) raise_evidence(&m->f, SET_COMMON, EVIDENCE_PROVED); /* what lies behind any wall */
  for (uint32_t i = 0; i < m->wall_count && status == GRAZE_OK && is_unproved(m); i++)
    status = try_wall(m, m->walls[i]);
  if (status == GRAZE_OK) status = try_around(m, false);
  if (status == GRAZE_OK && !own->shape->one_way) status = try_corners(m);
  /* A mesh whose walls may cancel has corners that bound nothing. */
  const bool holds = m->f.of[set_only(m->mesh) == SET_ONLY_A ? 1 : 2] == EVIDENCE_NONE;
  if (status == GRAZE_OK &&
      (is_unproved(m) || own->shape->two_readings || !(holds || own->shape->one_way || only_mesh_is_proved(m))))
    gz_relate_doubt_solid(own, m->mesh, &m->f);
  return status;
}

/* The mesh's solid reaches into the round object, or may do so. */
static graze_status relate_walls(immersion *m) {
  raise_evidence(&m->f, SET_COMMON | set_only(m->round), EVIDENCE_CLAIMED);
  if (!holds_mesh(m)) raise_evidence(&m->f, set_only(m->mesh), EVIDENCE_CLAIMED);
  return prove_walls(m);
}

/* The inside of the round object lies on one side of the solid. Its core may lie on a wall with solid on both sides. */
static graze_status relate_side_of_solid(immersion *m) {
  operand *own = mesh_of(m);
  location where;
  graze_status status = locate_core(m, &where);
  if (status != GRAZE_OK) return status;
  take_place(m, where);
  if (where == LOCATION_ON) status = try_around(m, true);
  if (own->shape->two_readings && (proved_sets(m) & SET_COMMON) != 0) gz_relate_doubt_solid(own, m->mesh, &m->f);
  if (proved_sets(m) == 0) add_doubt(&m->f, SEVERITY_LACKING, GRAZE_DOUBT_FLATTENED, m->mesh, part_place(own, 0));
  if (own->bounding > 0 || !holds_mesh(m)) raise_evidence(&m->f, set_only(m->mesh), EVIDENCE_PROVED);
  return status;
}

/* Walls with the solid on both sides are none, where that is sure. */
static graze_status drop_inner(immersion *m) {
  operand *own = mesh_of(m);
  simplicity simple = SIMPLE_NO;
  if (m->wall || !m->inner) return GRAZE_OK;
  graze_status status = gz_solid_simplicity(m->o.rays, own->place.mesh, own->shape, &simple);
  m->wall = simple != SIMPLE_YES;
  return status;
}

/* ---- the relation ---- */

/* What open parts enclose may hold the round object: a box within it is not too large, whatever was rounded. */
static void doubt_inside(immersion *m) {
  graze_box box = gz_side_box(&m->p->of[m->round]->place);
  for (int k = 0; k < 3; k++) {
    const double r = gz_round_extent(m->p, m->round, k);
    const double slack = 0x1p-50 * (fabs(box.min[k]) + fabs(box.max[k]) + r);
    box.min[k] += slack - r;
    box.max[k] += r - slack;
  }
  gz_relate_doubt_box(&m->o, m->mesh, &box, &m->f);
}

static graze_status relate(immersion *m, graze_triangle_pair *pairs, uint64_t *count) {
  sift(m, pairs, count);
  graze_status status = drop_inner(m);
  if (status != GRAZE_OK || mesh_of(m)->shape->part_count == 0) return status;
  status = m->wall ? relate_walls(m) : relate_side_of_solid(m);
  if (m->surface) raise_evidence(&m->f, SET_COMMON, EVIDENCE_PROVED);
  mesh_of(m)->pierces = m->surface;
  if (mesh_of(m)->strict) doubt_inside(m);
  return status;
}

/* Boxes do not meet, as they do of what touches. */
static bool plainly_separate(const round_pair *p) {
  const graze_box a = gz_round_box(p, 0), b = gz_round_box(p, 1);
  return !graze_boxes_meet(&a, &b);
}

graze_status gz_round_relate_mesh(const round_pair *p, const graze_relate_options *options, graze_triangle_pair *pairs,
                                  uint64_t *count, graze_verdict *verdict) {
  immersion m = {.p = p, .round = round_which(p), .mesh = 1 - round_which(p)};
  graze_query *q = p->query;
  *verdict = (graze_verdict){.relation = GRAZE_SEPARATE};
  if (*count == 0 && plainly_separate(p)) return GRAZE_OK;
  graze_status status = q->rays == NULL ? graze_query_create(q->context, &q->rays) : GRAZE_OK;
  m.o.rays = q->rays;
  m.o.exactness = p->exactness;
  for (int k = 0; k < 2 && status == GRAZE_OK; k++) {
    m.o.of[k].box = gz_side_box(&p->of[k]->place);
    status = gz_operand_make(&m.o.of[k], q->rays, k, p->of[k], options->open, 0);
  }
  if (status == GRAZE_OK) status = relate(&m, pairs, count);
  if (status == GRAZE_OK) *verdict = gz_relate_verdict(&m.o, &m.f, *count > 0);
  return status;
}
