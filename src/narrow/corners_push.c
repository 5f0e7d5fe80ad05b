/* Corners pushed apart within the boxes that their roundings leave them.
 *
 * Two triangles are parted by the plane of one of them, or by one through an edge of each. That a corner is in front of
 * a plane is the sign of a determinant of four corners, and each of them may give way. Violated signs are mended one
 * after another, again and again: the four corners go by as little as will do, to first order, and what leaves its box
 * is cut back to it. These are projections onto sets that are nearly convex (Bregman 1965, and as in the simulation of
 * cloth, Mueller and others 2007), which approach a common point if there is one. A plane that was fixed would not do:
 * rounding tilts small triangles by more than corners can make good. Moves are measured in units of the roundings, so
 * that a corner with many decimals stays and the other one goes. All of this is plain arithmetic and a guess; what
 * counts is decided elsewhere.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vector3.h"
#include "narrow/corners.h"

enum { SWEEPS = 100, PARALLEL = 1000 };

/* What the rounding of posed coordinates to doubles takes of a float's. */
static const double INSIDE = 1 - 0x1p-10;

/* Half the way to the nearer of the two neighbours. */
static double half_unit_of_float(double x) {
  const float f = (float)fabs(x);
  return 0.5 * fmin((double)nextafterf(f, INFINITY) - (double)f, (double)f - (double)nextafterf(f, -INFINITY));
}

/* By how much a coordinate may have been rounded, a little less. */
static double reach_of(const graze_rounding *rounding, double x) {
  if (rounding->floats) return INSIDE * half_unit_of_float(x);
  if (!(rounding->decimals > 0)) return 0;
  return INSIDE * (rounding->decimals + 0.5 * (fabs(x) - nextafter(fabs(x), -INFINITY)));
}

static void put_place(const side *s, const double p[3], const double move[3], double at[3]) {
  const double *m = s->pose.m;
  side_point(s, p, at);
  for (int i = 0; i < 3; i++) at[i] += m[4 * i] * move[0] + m[4 * i + 1] * move[1] + m[4 * i + 2] * move[2];
}

void gz_corner_place(const corner_side *s, uint32_t vertex) {
  double p[3];
  mesh_vertex(s->place->mesh, vertex, p);
  put_place(s->place, p, s->move[vertex], s->at[vertex]);
}

/* ---- four corners ---- */

typedef struct corner {
  double at[3], reach[3];
  const double *pose;
} corner;

static corner corner_of(const corner_side *s, uint32_t vertex) {
  static const double none[3] = {0, 0, 0};
  corner c = {.pose = s->place->pose.m};
  double p[3];
  mesh_vertex(s->place->mesh, vertex, p);
  for (int k = 0; k < 3; k++) c.reach[k] = reach_of(&s->rounding, p[k]);
  if (s->at != NULL)
    memcpy(c.at, s->at[s->first[vertex]], sizeof c.at);
  else
    put_place(s->place, p, none, c.at);
  return c;
}

/* The volume of the parallelepiped of four corners, how it changes with each, and the area that makes it a height. */
typedef struct volume {
  double value, gradient[4][3], area;
} volume;

static volume volume_of(const corner *const x[4], bool edges) {
  double d[4][3], n[3];
  volume v = {.value = 0};
  for (int i = 1; i < 4; i++) sub3(x[i]->at, x[0]->at, d[i]);
  cross3(d[2], d[3], v.gradient[1]);
  cross3(d[3], d[1], v.gradient[2]);
  cross3(d[1], d[2], v.gradient[3]);
  for (int k = 0; k < 3; k++) v.gradient[0][k] = -(v.gradient[1][k] + v.gradient[2][k] + v.gradient[3][k]);
  v.value = dot3(d[3], v.gradient[3]);
  sub3(d[3], d[2], d[0]);
  cross3(d[1], d[0], n);
  v.area = length3(edges ? n : v.gradient[3]);
  return v;
}

/* The gradient in the coordinates of the corner's mesh, in which it is rounded. */
static void turn_back(const double *pose, const double n[3], double g[3]) {
  for (int k = 0; k < 3; k++) g[k] = pose[k] * n[0] + pose[4 + k] * n[1] + pose[8 + k] * n[2];
}

/* By how much the volume can grow at most, to first order. */
static double room_of(const corner *const x[4], const volume *v) {
  double room = 0;
  for (int i = 0; i < 4; i++) {
    double g[3];
    turn_back(x[i]->pose, v->gradient[i], g);
    for (int k = 0; k < 3; k++) room += fabs(g[k]) * x[i]->reach[k];
  }
  return room;
}

/* ---- what parts two triangles ---- */

typedef struct parting {
  corner of[2][3];
  uint32_t vertex[2][3];
  double ignored;
  corner_parting best;
} parting;

/* Sets the four corners of a push from their places in the two triangles: number / 3 is the side. */
static corner_push push_of(const parting *p, const int numbers[4], bool edges) {
  corner_push push = {.edges = edges};
  for (int i = 0; i < 4; i++) {
    push.side[i] = (uint8_t)(numbers[i] / 3);
    push.vertex[i] = p->vertex[numbers[i] / 3][numbers[i] % 3];
  }
  return push;
}

static volume look(const parting *p, const int numbers[4], bool edges, double *need) {
  const corner *x[4];
  for (int i = 0; i < 4; i++) x[i] = &p->of[numbers[i] / 3][numbers[i] % 3];
  const volume v = volume_of(x, edges);
  const double room = room_of(x, &v);
  *need = v.value >= 0 ? 0 : room > 0 ? -v.value / room : INFINITY;
  return v;
}

/* All corners of the other triangle in front of the plane of one, or behind it. */
static void try_plane(parting *p, int which, bool behind) {
  const int base = 3 * which, other = 3 - base;
  corner_parting new = {.count = 3};
  double deepest = 0;
  for (int c = 0; c < 3; c++) {
    const int numbers[4] = {base + behind, base + !behind, base + 2, other + c};
    double need;
    const volume v = look(p, numbers, false, &need);
    if (!(v.area > 0)) return;
    deepest = fmax(deepest, -v.value / v.area);
    new.need = fmax(new.need, need);
    new.pushes[c] = push_of(p, numbers, false);
  }
  if (deepest > p->ignored && new.need < p->best.need) p->best = new;
}

/* Whether along n, from the edge of a to that of b, neither triangle goes on beyond its edge. */
static bool is_outermost(const parting *p, const double n[3], int i, int j) {
  double d[3], e[3];
  sub3(p->of[0][(i + 2) % 3].at, p->of[0][i].at, d);
  sub3(p->of[1][(j + 2) % 3].at, p->of[1][j].at, e);
  return dot3(n, d) <= 0 && dot3(n, e) >= 0;
}

/* Edge i of a on one side of edge j of b. Edges that are nearly parallel tell no direction. */
static void try_edges(parting *p, int i, int j, bool turned) {
  const int k = (i + 1) % 3, numbers[4] = {turned ? k : i, turned ? i : k, 3 + j, 3 + (j + 1) % 3};
  double e[3], f[3], n[3], need;
  sub3(p->of[0][numbers[1]].at, p->of[0][numbers[0]].at, e);
  sub3(p->of[1][numbers[3] - 3].at, p->of[1][j].at, f);
  cross3(f, e, n); /* along which the volume grows */
  const volume v = look(p, numbers, true, &need);
  if (!(PARALLEL * v.area > length3(e) * length3(f)) || !is_outermost(p, n, i, j)) return;
  if (!(need < p->best.need) || !(-v.value / v.area > p->ignored)) return;
  p->best = (corner_parting){.pushes = {push_of(p, numbers, true)}, .count = 1, .need = need};
}

corner_parting gz_corners_part(const corner_side sides[2], uint32_t a, uint32_t b, double ignored) {
  const uint32_t triangles[2] = {a, b};
  parting p = {.ignored = ignored, .best = {.need = INFINITY}};
  for (int k = 0; k < 2; k++) {
    for (int c = 0; c < 3; c++) {
      p.vertex[k][c] = sides[k].place->mesh->triangles[3 * (size_t)triangles[k] + (size_t)c];
      p.of[k][c] = corner_of(&sides[k], p.vertex[k][c]);
    }
  }
  for (int i = 0; i < 4; i++) {
    if (sides[i / 2].facing != (i % 2 == 0 ? -1 : 1)) try_plane(&p, i / 2, i % 2);
  }
  for (int i = 0; i < 18 && p.best.need > 1; i++) try_edges(&p, i / 6, i / 2 % 3, i % 2);
  return p.best;
}

/* ---- projections ---- */

static void move(const corner_side *s, uint32_t vertex, const double reach[3], const double step[3], double by) {
  double *d = s->move[vertex];
  for (int k = 0; k < 3; k++) d[k] = fmin(fmax(d[k] + by * step[k], -reach[k]), reach[k]);
  gz_corner_place(s, vertex);
}

/* Returns how far the corners were from where they are to be. */
static double mend(const corner_side sides[2], const corner_push *p, double slack) {
  corner c[4];
  for (int i = 0; i < 4; i++) c[i] = corner_of(&sides[p->side[i]], p->vertex[i]);
  const volume v = volume_of((const corner *const[]){&c[0], &c[1], &c[2], &c[3]}, p->edges);
  const double lacks = slack * v.area - v.value;
  if (!(lacks > 0)) return 0;
  double step[4][3], sum = 0;
  for (int i = 0; i < 4; i++) {
    double g[3];
    turn_back(c[i].pose, v.gradient[i], g);
    for (int k = 0; k < 3; k++) step[i][k] = c[i].reach[k] * c[i].reach[k] * g[k];
    sum += dot3(step[i], g);
  }
  if (!(sum > 0)) return 0;
  for (int i = 0; i < 4; i++) {
    const corner_side *s = &sides[p->side[i]];
    move(s, s->first[p->vertex[i]], c[i].reach, step[i], lacks / sum);
  }
  return lacks / v.area;
}

void gz_corners_push(const corner_side sides[2], const corner_push *pushes, uint64_t count, double slack) {
  double worst = INFINITY;
  for (int sweep = 0; sweep < SWEEPS && worst > 0.5 * slack; sweep++) {
    worst = 0;
    for (uint64_t i = 0; i < count; i++) worst = fmax(worst, mend(sides, &pushes[i], slack));
  }
}
