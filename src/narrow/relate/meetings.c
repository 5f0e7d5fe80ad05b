/* Step 1: what two surfaces claim around a segment in which they meet.
 *
 * Around a point inside the segment each solid is a wedge: its material lies between two half-planes through the
 * segment's line, or behind one plane. Seen along the line the wedges are arcs of a circle, their half-planes rays from
 * its centre; exact signs order the rays, and the gaps between neighbouring rays tell which of the four combinations of
 * inside and outside exist:
 *
 *     gap lies in the wedge of   a and b   a        b        neither
 *     claimed                    common    only a   only b   nothing
 *
 * Three cases: face through face: two proper triangles that cross each other in a segment: all four; edge in face: an
 * edge of one runs through the inside of a triangle of the other; edge on edge: two edges overlap on one line. A
 * coplanar overlap has one of the latter two along its border. Every piece into which the common curve cuts a surface
 * has a segment of it on its border, or is a whole part that meets the other in points at most (parts.c places those by
 * a ray). So nothing else is needed.
 *
 * Of a surface the half-planes themselves are claimed: those strictly inside the other's wedge as common, those outside
 * of it as its own.
 */
#include <math.h>

#include "exact/orient.h"
#include "narrow/relate/steps.h"

/* Points of a set: a triangle of each, and the far corner of the neighbour across the edge that is looked at. */
enum { A0 = 0, B0 = 3, BEYOND_A = 6, BEYOND_B = 7 };

/* A ray of the circle: towards a point, or away from it. */
typedef struct ray {
  int point;
  int sign;
} ray;

/* The line: from point p to point q. */
typedef struct axis {
  const sign_source *signs;
  int p, q;
} axis;

/* Material counterclockwise (about p to q) from `begin` to `end`. A surface has up to two rays and no material, but
 * where it may be the boundary of a solid with something missing, material would be there. */
typedef struct wedge {
  ray begin, end;
  bool surface;
  bool turned;     /* a surface whose triangles may face either way */
  bool both;       /* material on either side of the half-planes: everywhere */
  int half_planes; /* of a surface: 1 or 2, `begin` first */
} wedge;

/* Two wedges about one line, a's first. Their rays by number: 2 w where wedge w begins, 2 w + 1 where it ends. Each
 * pair of rays is compared once: from where the one stands to where the other does. */
enum { NOT_COMPARED = -1, SAME = 0, LESS_THAN_HALF = 1, OPPOSITE = 2, MORE_THAN_HALF = 3 };
typedef struct radial_order {
  const axis *line;
  const wedge *wedge[2];
  ray ray[4];
  signed char sectors[4][4];
} radial_order;

static radial_order make_radial_order(const axis *line, const wedge *a, const wedge *b) {
  radial_order d = {line, {a, b}, {a->begin, a->end, b->begin, b->end}, {{0}}};
  for (int from = 0; from < 4; from++) {
    for (int to = 0; to < 4; to++) d.sectors[from][to] = (signed char)(from == to ? SAME : NOT_COMPARED);
  }
  return d;
}

static int compare_rays(const axis *x, ray from, ray to) {
  if (from.point == to.point) return from.sign == to.sign ? SAME : OPPOSITE;
  int t = from.sign * to.sign * sign3(x->signs, x->p, x->q, from.point, to.point);
  if (t != 0) return t > 0 ? LESS_THAN_HALF : MORE_THAN_HALF;
  int flat = proper_axis(x->signs, x->p, x->q, from.point);
  int same =
      sign2(x->signs, flat, x->p, x->q, from.point) * sign2(x->signs, flat, x->p, x->q, to.point) * from.sign * to.sign;
  return same > 0 ? SAME : OPPOSITE;
}

/* Sector of ray `to` seen from `from`, counterclockwise. */
static int sector(radial_order *d, int from, int to) {
  if (d->sectors[from][to] == NOT_COMPARED) {
    int s = compare_rays(d->line, d->ray[from], d->ray[to]);
    d->sectors[from][to] = (signed char)s;
    d->sectors[to][from] = (signed char)(s == LESS_THAN_HALF   ? MORE_THAN_HALF
                                         : s == MORE_THAN_HALF ? LESS_THAN_HALF
                                                               : s);
  }
  return d->sectors[from][to];
}

/* Whether `first` comes before `second`, both counted counterclockwise from `start`; equal rays: neither. */
static bool before(radial_order *d, int start, int first, int second) {
  int f = sector(d, start, first), s = sector(d, start, second);
  return f != s ? f < s : (f == LESS_THAN_HALF || f == MORE_THAN_HALF) && sector(d, first, second) == LESS_THAN_HALF;
}

/* Where a ray lies in wedge w of material: 1 strictly inside, 0 on a half-plane, -1 outside. */
static int inside(radial_order *d, int w, int r) {
  int begin = 2 * w, end = begin + 1;
  if (d->wedge[w]->both) return 1;
  if (sector(d, begin, r) == SAME || sector(d, end, r) == SAME) return 0;
  return before(d, begin, r, end) ? 1 : -1;
}

/* ---- two wedges ---- */

/* Whether the gap that begins at ray `r`, counterclockwise, is of the wedge's material. */
static bool fills_gap(radial_order *d, int w, int r) {
  int begin = 2 * w, end = begin + 1;
  if (d->wedge[w]->both || sector(d, begin, r) == SAME) return true;
  return sector(d, end, r) != SAME && before(d, begin, r, end);
}

/* Half-planes that coincide bound nothing: a fold of a mesh that intersects itself. */
static bool folded(radial_order *d, int w) {
  const wedge *own = d->wedge[w];
  return !own->both && (!own->surface || own->half_planes == 2) && sector(d, 2 * w, 2 * w + 1) == SAME;
}

static unsigned solid_claims(radial_order *d) {
  unsigned claims = 0;
  for (int r = 0; r < 4; r++) {
    bool in_a = fills_gap(d, 0, r), in_b = fills_gap(d, 1, r);
    claims |= in_a && in_b ? SET_COMMON : in_a ? SET_ONLY_A : in_b ? SET_ONLY_B : 0;
  }
  return claims;
}

/* Wedge `w` is of a surface, the other of a solid. */
static unsigned mixed_claims(radial_order *d, int w) {
  unsigned claims = 0;
  for (int k = 0; k < d->wedge[w]->half_planes; k++) {
    int place = inside(d, 1 - w, 2 * w + k);
    claims |= place > 0 ? SET_COMMON : place < 0 ? (w == 0 ? SET_ONLY_A : SET_ONLY_B) : 0;
  }
  return claims;
}

/* Two surfaces cross when each has a half-plane strictly between those of the other, on either side. */
static unsigned surface_claims(radial_order *d) {
  if (d->wedge[0]->half_planes < 2 || d->wedge[1]->half_planes < 2) return 0;
  return inside(d, 0, 2) * inside(d, 0, 3) < 0 ? SETS_ALL | SETS_SURE : 0;
}

/* Were the surfaces boundaries of solids as their triangles face, there would be a common part. */
static bool maybe_common(radial_order *d) {
  const wedge *a = d->wedge[0], *b = d->wedge[1];
  if (a->half_planes < 2 || b->half_planes < 2) return false;
  return a->turned || b->turned || (solid_claims(d) & SET_COMMON) != 0;
}

static unsigned wedge_claims(const axis *x, const wedge *a, const wedge *b, bool *maybe_solid) {
  radial_order d = make_radial_order(x, a, b);
  *maybe_solid = false;
  if (folded(&d, 0) || folded(&d, 1)) return 0;
  if (!a->surface && !b->surface) return solid_claims(&d);
  *maybe_solid = maybe_common(&d);
  return a->surface && b->surface ? surface_claims(&d) : mixed_claims(&d, a->surface ? 0 : 1);
}

/* ---- making wedges ---- */

static const solid_part *part_at(const operand *b, uint32_t triangle) {
  return &b->shape->parts[b->shape->part_of[triangle]];
}

static bool bounds(const operand *b, uint32_t triangle) {
  return operand_bounds(b, b->shape->part_of[triangle]);
}

/* Of a surface: as its triangles face. */
static int material_side(const operand *b, uint32_t triangle) {
  int where = part_at(b, triangle)->side;
  return b->mirrored ? -where : where;
}

/* Nothing says which way a surface was meant to face. */
static bool faces_unknown(const operand *b, uint32_t triangle) {
  const solid_part *part = part_at(b, triangle);
  return !b->invertible || part->turned_over || (part->fault != GRAZE_DOUBT_OPEN && part->fault != GRAZE_DOUBT_NONE);
}

static void turn_round(wedge *w) {
  ray r = w->begin;
  w->begin = w->end;
  w->end = r;
}

static bool same_point(const double *p, const double *q) {
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* Sets point `beyond` to the corner of the neighbour across edge `e` that is not on the edge; false: no neighbour. */
static bool set_beyond(predicate_points *set, int beyond, const operand *b, uint32_t triangle, int e, bool *ambiguous) {
  const graze_mesh *mesh = b->place.mesh;
  uint32_t other = gz_solid_across(mesh, b->shape, (edge_place){triangle, (uint32_t)e}, ambiguous);
  if (other == NO_TRIANGLE) return false;
  double here[9], there[9];
  mesh_corners(mesh, triangle, here);
  mesh_corners(mesh, other, there);
  const double *p = here + 3 * e, *q = here + 3 * ((e + 1) % 3);
  for (int c = 0; c < 3; c++) {
    if (same_point(there + 3 * c, p) || same_point(there + 3 * c, q)) continue;
    gz_predicate_points_set(set, beyond, &b->place, there + 3 * c);
    return true;
  }
  return false;
}

/* The wedge at edge `e` of a triangle with corners first.., about the edge's own direction: the triangle's normal
 * points counterclockwise from its half-plane, so material behind it ends there. */
static wedge edge_wedge(predicate_points *set, int first, int beyond, operand *b, uint32_t triangle, int e) {
  wedge w = {.end = {first + (e + 2) % 3, 1}, .begin = {beyond, 1}, .half_planes = 2};
  w.surface = !bounds(b, triangle);
  w.turned = faces_unknown(b, triangle);
  bool ambiguous, known = set_beyond(set, beyond, b, triangle, e, &ambiguous);
  if (ambiguous && triangle < b->ambiguous_edge.triangle) b->ambiguous_edge = (edge_place){triangle, (uint32_t)e};
  const sign_source signs = gz_predicate_points_signs(set);
  if (!known ||
      proper_axis(&signs, first + e, first + (e + 1) % 3, beyond) < 0) { /* the latter: flattened by the pose */
    w.surface = true;
    w.half_planes = 1;
    w.begin = w.end;
    return w;
  }
  int where = material_side(b, triangle);
  w.both = !w.surface && where == MATERIAL_BOTH;
  if (where == MATERIAL_IN_FRONT) turn_round(&w);
  return w;
}

static flat_view view_flat(const sign_source *s, int first) {
  flat_view v = {0, 0};
  while (v.turn == 0) v.turn = (int16_t)sign2(s, v.axis++, first, first + 1, first + 2);
  v.axis--;
  return v;
}

/* The wedge of the plane of a triangle that holds the line p, q: one half-plane towards a corner off the line, one
 * away. */
static wedge face_wedge(const axis *x, int first, const flat_view *view, const operand *b, uint32_t triangle) {
  int off = first;
  while (proper_axis(x->signs, x->p, x->q, off) < 0) off++;
  wedge w = {.begin = {off, -1}, .end = {off, 1}, .surface = !bounds(b, triangle), .half_planes = 2};
  w.turned = faces_unknown(b, triangle);
  bool agrees = view->turn == sign2(x->signs, view->axis, x->p, x->q, off);
  int where = material_side(b, triangle);
  w.both = !w.surface && where == MATERIAL_BOTH;
  /* Towards the corner the triangle's normal lies counterclockwise when the turns agree: material ends there. */
  if (agrees == (where == MATERIAL_IN_FRONT)) turn_round(&w);
  return w;
}

/* ---- one pair of triangles ---- */

typedef struct meeting {
  predicate_points *set;
  sign_source signs;
  operand *a, *b;
  uint32_t i, j;
  flat_view view_a, view_b;
  bool solid; /* in one plane, both bound material, on one side, and meet material elsewhere: nothing more to note */
  bool same;  /* on the same side */
} meeting;

/* What is known of a triangle, or a place for it. */
static triangle_facts *facts_of(const operand *b, uint32_t triangle) {
  triangle_facts *known = &b->facts[triangle & b->facts_mask];
  if (known->known == 0 || known->triangle != triangle) *known = (triangle_facts){triangle, FACT_ANY, 0, {0, 0}, {{0}}};
  return known;
}

/* Points are set when a sign first needs them. */
static void load_triangle(predicate_points *set, int first, operand *b, uint32_t triangle) {
  if (b->cached_triangle == triangle) return;
  gz_predicate_points_set_triangle(set, first, &b->place, triangle);
  b->cached_triangle = triangle;
}

static void load_points(const meeting *m) {
  load_triangle(m->set, A0, m->a, m->i);
  load_triangle(m->set, B0, m->b, m->j);
}

static void note_met(const meeting *m) {
  if (bounds(m->b, m->j)) m->a->met[m->a->shape->part_of[m->i]] = 1;
  if (bounds(m->a, m->i)) m->b->met[m->b->shape->part_of[m->j]] = 1;
}

static void note_surface(operand *b, uint32_t triangle, unsigned claims, bool maybe_solid) {
  uint32_t part = b->shape->part_of[triangle];
  if (operand_bounds(b, part)) return;
  b->pierces |= (claims & SET_COMMON) != 0;
  if (maybe_solid && part < b->first_maybe_solid) b->first_maybe_solid = part;
}

/* Notes what the claims mean for surfaces, and passes them on. */
static unsigned note_surfaces(const meeting *m, unsigned claims, bool maybe_solid) {
  note_surface(m->a, m->i, claims, maybe_solid);
  note_surface(m->b, m->j, claims, maybe_solid);
  return claims;
}

/* How an edge lies to a triangle of the same plane. */
enum { APART = -2, THROUGH = -1 /* the inside; 0, 1, 2: along that edge */ };

/* Edges [p, q] and [u, v] of one line have more than a point in common. */
static bool overlap(const sign_source *s, int p, int q, int u, int v) {
  for (int k = 0; k < 3; k++) {
    int way = s->compare(s->self, k, q, p);
    if (way == 0) continue;
    bool turned = s->compare(s->self, k, v, u) != way;
    int first = turned ? v : u, last = turned ? u : v;
    return s->compare(s->self, k, first, q) * way < 0 && s->compare(s->self, k, p, last) * way < 0;
  }
  return false;
}

/* Where the segment p, q of the plane of triangle first.. has more than a point in common with it. */
static int lies(const sign_source *s, int p, int q, int first, const flat_view *view) {
  int flat = view->axis, turned = view->turn, left = 0, right = 0;
  for (int e = 0; e < 3; e++) {
    int u = first + e, v = first + (e + 1) % 3;
    int at_p = turned * sign2(s, flat, u, v, p), at_q = turned * sign2(s, flat, u, v, q);
    if (at_p == 0 && at_q == 0) return overlap(s, p, q, u, v) ? e : APART;
    if (at_p <= 0 && at_q <= 0) return APART;
  }
  for (int c = 0; c < 3; c++) {
    int at = sign2(s, flat, p, q, first + c);
    left += at > 0;
    right += at < 0;
  }
  return left > 0 && right > 0 ? THROUGH : APART;
}

/* Whether edges p, q and u, v of one line run the same way. */
static bool same_way(const sign_source *s, int p, int q, int u, int v) {
  for (int k = 0; k < 3; k++) {
    int first = s->compare(s->self, k, q, p), second = s->compare(s->self, k, v, u);
    if (first != 0) return first == second;
  }
  return true;
}

/* Where the claims of edge e, which lies along edge f or through the inside, are kept: they are those of one edge
 * against a half-space if the surface goes on in its plane at the other one, or there is none. NULL: nowhere. */
static uint8_t *claims_kept(const meeting *m, bool of_a, int e, int f) {
  if (!m->solid) return NULL;
  triangle_facts *own = facts_of(of_a ? m->a : m->b, of_a ? m->i : m->j);
  triangle_facts *its = facts_of(of_a ? m->b : m->a, of_a ? m->j : m->i);
  if (f == THROUGH || ((its->known & FACT_FLAT) != 0 && (its->flat >> f & 1) != 0)) return &own->claims[m->same][e];
  return (own->known & FACT_FLAT) != 0 && (own->flat >> e & 1) != 0 ? &its->claims[m->same][f] : NULL;
}

/* Of edge x of triangle `first`, which is known to lie along edge f of the other one or through its inside. */
static unsigned find_edge_claims(const meeting *m, const axis *x, int first, int e, int other, int f) {
  bool of_a = first == A0, maybe_solid;
  operand *own = of_a ? m->a : m->b, *its = of_a ? m->b : m->a;
  uint32_t triangle = of_a ? m->i : m->j, its_triangle = of_a ? m->j : m->i;
  wedge mine = edge_wedge(m->set, first, of_a ? BEYOND_A : BEYOND_B, own, triangle, e), theirs;
  if (f != THROUGH) {
    theirs = edge_wedge(m->set, other, of_a ? BEYOND_B : BEYOND_A, its, its_triangle, f);
    if (!same_way(x->signs, x->p, x->q, other + f, other + (f + 1) % 3)) turn_round(&theirs);
  } else {
    theirs = face_wedge(x, other, of_a ? &m->view_b : &m->view_a, its, its_triangle);
  }
  unsigned claims =
      of_a ? wedge_claims(x, &mine, &theirs, &maybe_solid) : wedge_claims(x, &theirs, &mine, &maybe_solid);
  return note_surfaces(m, claims, maybe_solid);
}

/* Claims of an edge that lies in the other triangle's plane. `first` is the edge's triangle, `other` the other one. */
static unsigned edge_claims(const meeting *m, int first, int e, int other) {
  const axis x = {&m->signs, first + e, first + (e + 1) % 3};
  bool of_a = first == A0;
  int f = lies(x.signs, x.p, x.q, other, of_a ? &m->view_b : &m->view_a);
  if (f == APART || (f != THROUGH && !of_a)) return 0; /* along an edge: seen from the edge of a */
  note_met(m);
  uint8_t *kept = claims_kept(m, of_a, e, f);
  if (kept != NULL && *kept != 0) return *kept & ~(unsigned)CLAIMS_KNOWN;
  unsigned claims = find_edge_claims(m, &x, first, e, other, f);
  if (kept != NULL) *kept = (uint8_t)(CLAIMS_KNOWN | claims);
  return claims;
}

/* Of operands a and b that cross face through face at triangles i, j. */
static unsigned crossing_claims(const meeting *m) {
  bool surface_a = !bounds(m->a, m->i), surface_b = !bounds(m->b, m->j);
  bool none_a = surface_a || material_side(m->a, m->i) == MATERIAL_BOTH;
  bool none_b = surface_b || material_side(m->b, m->j) == MATERIAL_BOTH;
  note_met(m);
  if (surface_a && surface_b) return note_surfaces(m, SETS_ALL | SETS_SURE, false);
  /* Each goes on outside of the other, unless there is no outside. Of a solid a surface takes nothing away. */
  return note_surfaces(m, SET_COMMON | (none_b ? 0 : SET_ONLY_A) | (none_a ? 0 : SET_ONLY_B), false);
}

static void plane_signs(const sign_source *s, int plane, int first, int sign[3]) {
  for (int k = 0; k < 3; k++) sign[k] = sign3(s, plane, plane + 1, plane + 2, first + k);
}

static bool both_sides(const int sign[3]) {
  bool above = sign[0] > 0 || sign[1] > 0 || sign[2] > 0, below = sign[0] < 0 || sign[1] < 0 || sign[2] < 0;
  return above && below;
}

/* Two triangles that are known to meet, each with corners on both sides of the other's plane: in more than a point?
 * As in tritri.c: the ends of their intervals on the common line are compared. */
static bool pass_through(const sign_source *s, const int sign_a[3], const int sign_b[3]) {
  bool flip_a, flip_b;
  plane_cut a = gz_tritri_cut(A0, sign_a, &flip_b), b = gz_tritri_cut(B0, sign_b, &flip_a);
  int first = sign3(s, a.p, flip_a ? a.r : a.q, b.p, flip_b ? b.r : b.q);
  int last = sign3(s, a.p, flip_a ? a.q : a.r, flip_b ? b.q : b.r, b.p);
  return first < 0 && last < 0;
}

/* ---- images that rounding has distorted ---- */

/* Whether the half-planes of an edge, p to q, point into one half of the plane across it; plain arithmetic, for angles
 * that are either next to nothing or next to half a turn. */
static bool acute(const double *p, const double *q, const double *u, const double *v) {
  double along = 0, at_u = 0, at_v = 0, both = 0;
  for (int k = 0; k < 3; k++) {
    along += (q[k] - p[k]) * (q[k] - p[k]);
    at_u += (u[k] - p[k]) * (q[k] - p[k]);
    at_v += (v[k] - p[k]) * (q[k] - p[k]);
    both += (u[k] - p[k]) * (v[k] - p[k]);
  }
  return !(both * along - at_u * at_v < 0);
}

/* The image keeps the edge's angle on its side of nothing. */
static bool edge_straight(predicate_points *set, const sign_source *s, int first, int beyond, const operand *b,
                          uint32_t triangle, int e) {
  bool ambiguous;
  if (!set_beyond(set, beyond, b, triangle, e, &ambiguous)) return true;
  int p = first + e, q = first + (e + 1) % 3, far = first + (e + 2) % 3;
  if (proper_axis(s, p, q, beyond) < 0) return false;
  int was = gz_orient3d(set->local[p], set->local[q], set->local[far], set->local[beyond]) * (b->mirrored ? -1 : 1);
  if (was == 0 || sign3(s, p, q, far, beyond) == was) return true;
  return !acute(set->local[p], set->local[q], set->local[far], set->local[beyond]);
}

/* Whether the image of a triangle can be judged. A singular pose may flatten it. Tier T1 rounds the corners; where that
 * has flattened the triangle or its neighbours, or folded one over the other, sides of the surface mean nothing. */
static bool judge_straight(predicate_points *set, const sign_source *s, int first, int beyond, const operand *b,
                           uint32_t triangle) {
  bool good = proper_axis(s, first, first + 1, first + 2) >= 0;
  if (set->real || !bounds(b, triangle)) return good;
  for (int e = 0; e < 3 && good; e++) good = edge_straight(set, s, first, beyond, b, triangle, e);
  return good;
}

/* Judged once for most triangles: one meets many of the other operand. */
static bool straight(predicate_points *set, const sign_source *s, int first, int beyond, operand *b,
                     uint32_t triangle) {
  if (b->place.identity) return true;
  triangle_facts *facts = facts_of(b, triangle);
  if ((facts->known & FACT_JUDGED) == 0) {
    load_triangle(set, first, b, triangle);
    bool good = judge_straight(set, s, first, beyond, b, triangle);
    facts->known = (uint8_t)(facts->known | FACT_JUDGED | (good ? FACT_STRAIGHT : 0));
    if (!good && !set->real && bounds(b, triangle) && triangle < b->first_distorted) b->first_distorted = triangle;
  }
  return (facts->known & FACT_STRAIGHT) != 0;
}

static bool is_judged(const operand *b, uint32_t triangle) {
  return b->place.identity || (facts_of(b, triangle)->known & FACT_JUDGED) != 0;
}

/* The corners have an edge in the other's plane. */
static bool edge_in_plane(const int sign[3]) {
  return (sign[0] == 0) + (sign[1] == 0) + (sign[2] == 0) >= 2;
}

/* ---- faces on faces ---- */

static unsigned find_flat_edges(predicate_points *set, const sign_source *s, int first, int beyond, const operand *b,
                                uint32_t triangle) {
  unsigned flat = 0;
  for (int e = 0; e < 3; e++) {
    const int p = first + e, q = first + (e + 1) % 3, far = first + (e + 2) % 3;
    bool ambiguous;
    if (!set_beyond(set, beyond, b, triangle, e, &ambiguous) || ambiguous) continue;
    if (sign3(s, first, first + 1, first + 2, beyond) != 0) continue;
    const int across = proper_axis(s, p, q, far);
    if (sign2(s, across, p, q, far) * sign2(s, across, p, q, beyond) < 0) flat |= 1u << e;
  }
  return flat;
}

static unsigned flat_edges_of(predicate_points *set, const sign_source *s, int first, int beyond, operand *b,
                              uint32_t triangle) {
  triangle_facts *facts = facts_of(b, triangle);
  if ((facts->known & FACT_FLAT) == 0) {
    load_triangle(set, first, b, triangle);
    facts->flat = (uint8_t)find_flat_edges(set, s, first, beyond, b, triangle);
    facts->known |= FACT_FLAT;
  }
  return facts->flat;
}

static flat_view view_of(predicate_points *set, const sign_source *s, int first, operand *b, uint32_t triangle) {
  triangle_facts *facts = facts_of(b, triangle);
  if (facts->view.turn == 0) {
    load_triangle(set, first, b, triangle);
    facts->view = view_flat(s, first);
  }
  return facts->view;
}

static bool is_met(const operand *b, uint32_t triangle) {
  return b->met[b->shape->part_of[triangle]] != 0;
}

/* Of two triangles in one plane. */
static void look_at_sides(meeting *m) {
  m->solid = false;
  if (!bounds(m->a, m->i) || !bounds(m->b, m->j) || !is_met(m->a, m->i) || !is_met(m->b, m->j)) return;
  const int side_a = material_side(m->a, m->i), side_b = material_side(m->b, m->j);
  if (side_a == MATERIAL_BOTH || side_b == MATERIAL_BOTH) return;
  m->solid = true;
  m->same = (m->view_a.turn == m->view_b.turn) == (side_a == side_b);
}

/* Edges of the triangle of which all claims against a half-space have been seen. */
static unsigned settled_edges(const triangle_facts *facts, bool same, unsigned seen) {
  unsigned settled = facts->flat;
  for (int e = 0; e < 3; e++) {
    const unsigned claims = facts->claims[same][e];
    if (claims != 0 && (claims & ~seen & ~(unsigned)CLAIMS_KNOWN) == 0) settled |= 1u << e;
  }
  return settled;
}

/* Edges, by bit, that need no look, of two triangles in one plane. Inside a face a solid is a half-space, and so it is
 * at an edge across which it goes on in its plane: two of those lie on the same side or on different ones, whichever
 * edge it is, and what any other edge claims against one is known after the first time. A face that is cut into many
 * triangles has hardly any other edges. */
static void find_repeated(const meeting *m, unsigned seen, unsigned *of_a, unsigned *of_b) {
  const unsigned claims = m->same ? SET_COMMON : SET_ONLY_A | SET_ONLY_B;
  *of_a = *of_b = 0;
  if (!m->solid || (seen & claims) != claims) return;
  const unsigned flat_a = flat_edges_of(m->set, &m->signs, A0, BEYOND_A, m->a, m->i);
  const unsigned flat_b = flat_edges_of(m->set, &m->signs, B0, BEYOND_B, m->b, m->j);
  const unsigned settled_a = settled_edges(facts_of(m->a, m->i), m->same, seen);
  *of_b = settled_edges(facts_of(m->b, m->j), m->same, seen);
  /* Along an edge of b, the wedge is that of both edges, which is looked at from a's. */
  *of_a = flat_b == 7 ? settled_a : *of_b == 7 ? flat_a : 0;
}

/* Both in one plane, and proper. */
static unsigned flush_claims(meeting *m, bool point) {
  const bool straight_a = straight(m->set, &m->signs, A0, BEYOND_A, m->a, m->i);
  if (!straight(m->set, &m->signs, B0, BEYOND_B, m->b, m->j) || !straight_a || point) return 0;
  unsigned claims = 0, of_a, of_b;
  m->view_a = view_of(m->set, &m->signs, A0, m->a, m->i);
  m->view_b = view_of(m->set, &m->signs, B0, m->b, m->j);
  look_at_sides(m);
  find_repeated(m, m->a->seen, &of_a, &of_b);
  if ((of_a & of_b) == 7) return 0;
  load_points(m);
  for (int e = 0; e < 3; e++) {
    if ((of_a >> e & 1) == 0) claims |= edge_claims(m, A0, e, B0);
    if ((of_b >> e & 1) == 0) claims |= edge_claims(m, B0, e, A0);
  }
  return claims;
}

static bool all_zero(const int sign[3]) {
  return sign[0] == 0 && sign[1] == 0 && sign[2] == 0;
}

unsigned gz_meeting_claims(predicate_points *set, operand *a, uint32_t i, operand *b, uint32_t j, uint8_t code) {
  int sign_a[3], sign_b[3];
  if (mesh_degenerate(a->place.mesh, i) || mesh_degenerate(b->place.mesh, j)) return 0;
  meeting m = {.set = set, .signs = gz_predicate_points_signs(set), .a = a, .b = b, .i = i, .j = j};
  if (code == GRAZE_KIND_POINT && is_judged(a, i) && is_judged(b, j)) return 0;
  if ((code & ~TRITRI_KIND) == TRITRI_COPLANAR) return flush_claims(&m, (code & TRITRI_KIND) == GRAZE_KIND_POINT);
  load_points(&m);
  plane_signs(&m.signs, A0, B0, sign_b);
  plane_signs(&m.signs, B0, A0, sign_a);
  if (all_zero(sign_a) && all_zero(sign_b) && proper_axis(&m.signs, A0, A0 + 1, A0 + 2) >= 0 &&
      proper_axis(&m.signs, B0, B0 + 1, B0 + 2) >= 0)
    return flush_claims(&m, false);
  bool crossing = both_sides(sign_a) && both_sides(sign_b);
  if (!crossing && !edge_in_plane(sign_a) && !edge_in_plane(sign_b)) return 0;
  bool straight_a = straight(set, &m.signs, A0, BEYOND_A, a, i);
  if (!straight(set, &m.signs, B0, BEYOND_B, b, j) || !straight_a) return 0;
  if (crossing) return pass_through(&m.signs, sign_a, sign_b) ? crossing_claims(&m) : 0;
  m.view_a = view_flat(&m.signs, A0);
  m.view_b = view_flat(&m.signs, B0);
  unsigned claims = 0;
  for (int e = 0; e < 3; e++) {
    const bool in_b = sign_a[e] == 0 && sign_a[(e + 1) % 3] == 0, in_a = sign_b[e] == 0 && sign_b[(e + 1) % 3] == 0;
    if (in_b) claims |= edge_claims(&m, A0, e, B0);
    if (in_a) claims |= edge_claims(&m, B0, e, A0);
  }
  return claims;
}

/* ---- all of them ---- */

/* Meetings lie in both boxes; the neighbours of what meets may reach as far as the boxes do. */
static void lay_grid(predicate_points *set, const operands *o, const graze_triangle_pair *first) {
  double origin[9], reach = 0;
  gz_side_corners(&o->of[0].place, first->a, origin);
  for (int which = 0; which < 2; which++) {
    const graze_box *box = &o->of[which].box;
    for (int k = 0; k < 3; k++) reach = fmax(reach, fmax(box->max[k] - origin[k], origin[k] - box->min[k]));
  }
  gz_predicate_points_lay_grid(set, origin, reach);
}

void gz_relate_meetings(operands *o, const graze_triangle_pair *pairs, const uint8_t *codes, uint64_t count,
                        findings *f) {
  operand *a = &o->of[0], *b = &o->of[1];
  predicate_points set;
  gz_predicate_points_clear(&set, o->exactness == GRAZE_T2);
  if (count > 0) lay_grid(&set, o, pairs);
  for (uint64_t i = 0; i < count && !seen_enough(o, f); i++) {
    const uint8_t code = codes != NULL ? codes[i] : TRITRI_OPEN;
    unsigned claims = gz_meeting_claims(&set, a, pairs[i].a, b, pairs[i].b, code);
    a->seen |= claims;
    raise_evidence(f, claims, (claims & SETS_SURE) != 0 ? EVIDENCE_PROVED : EVIDENCE_CLAIMED);
    f->surfaces_cross |= (claims & SETS_SURE) != 0;
  }
  /* A solid has an interior, which no surface covers. */
  if (a->bounding > 0 && b->bounding == 0) raise_evidence(f, SET_ONLY_A, EVIDENCE_PROVED);
  if (b->bounding > 0 && a->bounding == 0) raise_evidence(f, SET_ONLY_B, EVIDENCE_PROVED);
  for (int which = 0; which < 2 && !all_claimed(f); which++) {
    uint32_t triangle = o->of[which].first_distorted;
    if (triangle == NO_TRIANGLE) continue;
    add_doubt(f, SEVERITY_WRONG, GRAZE_DOUBT_FLATTENED, which, (edge_place){triangle, 0});
  }
}
