/* Step 4: the cells between the triangles, where a mesh meets itself.
 *
 * The triangles of both operands cut space into cells, in each of which both solids' winding numbers are constant. They
 * are looked at along lines: the edges of triangles, and the chords in which two meet. The points in which triangles
 * pass through a line cut it into pieces, and around the middle of a piece the triangles that hold it are half-planes
 * between cells. The winding numbers of one of these cells come from a ray along the line, moved off it by nothing
 * (that is, where signs are 0 the sign of their derivative counts); those of the others from going round. Exact signs
 * are all that is needed, and no point is ever computed.
 *
 *     cell or half-plane                                  shows
 *     cell in the solid of a and b                        common
 *     cell in the solid of one                            its "only"
 *     half-plane of a surface within the other's solid    common
 *     half-plane of a surface outside of it               its "only"
 *
 * What is shown is sure. That the rest is empty follows when enough lines have been looked at. Call a piece of an
 * operand's surface what the other operand's does not cut. A set that is not empty has one on its border.
 *
 * Beside a piece there is always some of its own solid, as a winding number changes by one. So one line of each piece
 * is enough to show what its own solid has there: lines along which the operands meet have all pieces that end there,
 * and an edge has a part that meets the other in points at most. Where operands lie on each other in an area, and
 * around it, all lines are looked at.
 *
 * What only the other has may lie beside a piece within the other's solid, but not at every line of the piece, when its
 * mesh meets itself. If it has not been found, all lines of such pieces are looked at.
 *
 * Where triangles of one operand lie on each other and cancel, nothing of its solid is beside a piece. If what might be
 * there has not been found, all lines of both operands are looked at: every cell has one on its border.
 */
#include "base/context.h"
#include "base/owned.h"
#include "narrow/relate/arrangement.h"

/* Triangles looked at, in all: beyond, the relation stays in doubt. */
static const uint64_t MOST_LOOKS = UINT64_C(1) << 33;

/* A triangle that holds the line, for the pieces of rank first .. last - 1; half-planes towards one corner or two. */
typedef struct sheet {
  uint32_t triangle, toward[2], first, last;
  int halves;
  crossing end[2];
} sheet;

/* A triangle that the line passes through; `edge`: on which side of each edge, 0: through it. */
typedef struct hit {
  uint32_t triangle, rank;
  int edge[3];
  crossing at;
} hit;

/* A point that cuts the line, and where its rank goes. */
typedef struct cut {
  const crossing *at;
  uint32_t *rank;
} cut;

typedef struct half_plane {
  uint32_t triangle, toward;
  int sector; /* seen from the first one */
} half_plane;

/* A triangle close by. */
typedef struct near_triangle {
  uint32_t triangle;
  int kind;
  int edge; /* of the middle one that the two share, or -1 */
} near_triangle;

enum { EDGES_DONE = 1, ALL_DONE = 2 };

/* Of the two operands. */
typedef struct cell {
  int winding[2];
  uint64_t odd[2]; /* bit w: within walls w */
} cell;

/* What the closed parts of a mesh enclose together when some go by parity, but not all as one: what any of them does;
 * or every wall counts alike, as of a shell and its cavity. Both readings must give the same relation. */
enum { ANY_WALLS, ALL_WALLS, READINGS };

typedef struct cells {
  const operands *of;
  arrangement all;
  line line;
  gz_array sheets, hits, cuts, halves, near;
  uint8_t *done;        /* by triangle: bits of what has been looked at */
  uint8_t *part_cut[2]; /* by part: it has lines that were looked at */
  unsigned sets[READINGS];
  unsigned cancelled[READINGS]; /* what might be beside a piece of a surface, but is not beside that line of it */
  bool pierced[2];              /* a surface of the operand is within the other's solid */
  bool in_conflict;             /* going round a line does not end where it began: the solid has no border here */
  bool no_memory;
  uint64_t looks;
} cells;

static bool failed(const cells *c) {
  return c->no_memory || c->in_conflict || c->all.too_long || c->looks > MOST_LOOKS;
}

/* Found by every reading. */
static unsigned found(const cells *c) {
  return c->sets[ANY_WALLS] & c->sets[ALL_WALLS];
}

/* Found by some reading. */
static bool any_common(const cells *c) {
  return ((c->sets[ANY_WALLS] | c->sets[ALL_WALLS]) & SET_COMMON) != 0;
}

static bool found_all(const cells *c) {
  if (found(c) != SETS_ALL) return false;
  return (!is_mixed(&c->of->of[0]) || c->pierced[0]) && (!is_mixed(&c->of->of[1]) || c->pierced[1]);
}

static void *append(cells *c, gz_array *list, size_t size) {
  if (!array_reserve(c->all.context, list, 1, size)) {
    c->no_memory = true;
    return NULL;
  }
  return (char *)list->data + size * list->count++;
}

/* ---- what meets the line --------------------------------------------------------------------------------------- */

/* The line lies in the triangle's plane. Its ends are edges that the line goes through, or that end on it. */
static void add_sheet(cells *c, uint32_t number, const int *sign) {
  const arranged_triangle *t = &c->all.triangles[number];
  line_end ends[3];
  int count = 0;
  sheet s = {.triangle = number};
  for (int k = 0; k < 3; k++) {
    int next = (k + 1) % 3, last = (k + 2) % 3;
    if (sign[k] * sign[next] < 0) ends[count++] = (line_end){t->corner[k], t->corner[next]};
    if (sign[k] == 0) ends[count++] = (line_end){t->corner[k], t->corner[sign[next] != 0 ? next : last]};
  }
  if (count != 2) return; /* apart, or a corner only */
  for (int toward = -1; toward <= 1; toward += 2) {
    int k = 0;
    while (k < 3 && sign[k] != toward) k++;
    if (k < 3) s.toward[s.halves++] = t->corner[k];
  }
  for (int e = 0; e < 2; e++) {
    plane along = gz_plane_along(&c->all, ends[e].p, ends[e].q, t->axis);
    gz_line_cross(&c->line, &along, &s.end[e]);
  }
  if (s.end[0].region == s.end[1].region && s.end[0].region != 0) return;
  sheet *made = append(c, &c->sheets, sizeof s);
  if (made != NULL) *made = s;
}

static void look_at(cells *c, uint32_t number) {
  const arranged_triangle *t = &c->all.triangles[number];
  line *l = &c->line;
  if (gz_plane_misses(&c->all, &l->of, &t->box) || gz_plane_misses(&c->all, &l->cut, &t->box)) return;
  int of[3], across[3], turn[3];
  for (int k = 0; k < 3; k++) of[k] = gz_line_sign_of(l, t->corner[k]);
  if (of[0] != 0 && of[0] == of[1] && of[1] == of[2]) return;
  for (int k = 0; k < 3; k++) across[k] = gz_line_sign_cut(l, t->corner[k]);
  if (across[0] != 0 && across[0] == across[1] && across[1] == across[2]) return;
  int left = 0, right = 0;
  for (int k = 0; k < 3; k++) {
    turn[k] = gz_line_turn(l, t->corner[k], t->corner[(k + 1) % 3]);
    left += turn[k] > 0;
    right += turn[k] < 0;
  }
  if (left > 0 && right > 0) return;
  if (left + right == 0) {
    add_sheet(c, number, of[0] != 0 || of[1] != 0 || of[2] != 0 ? of : across);
    return;
  }
  if (t->bounds == BOUNDARY_NONE) return;
  hit h = {.triangle = number, .edge = {turn[0], turn[1], turn[2]}};
  plane by = gz_plane_of(&c->all, number);
  gz_line_cross(l, &by, &h.at);
  if (h.at.region < 0) return;
  hit *made = append(c, &c->hits, sizeof h);
  if (made != NULL) *made = h;
}

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

/* Into the list in order, which is by halving. */
static void add_cut(cells *c, const crossing *at, uint32_t *rank) {
  if (append(c, &c->cuts, sizeof(cut)) == NULL) return;
  cut *list = c->cuts.data;
  size_t low = 0, high = c->cuts.count - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (gz_line_compare(&c->line, list[middle].at, at) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  memmove(list + low + 1, list + low, (c->cuts.count - 1 - low) * sizeof *list);
  list[low] = (cut){at, rank};
}

static void add_end(cells *c, const crossing *at, uint32_t *rank, uint32_t beyond) {
  *rank = at->region < 0 ? 0 : beyond;
  if (at->region == 0) add_cut(c, at, rank);
}

/* Ranks of all points; the number of the last one, or 0. */
static uint32_t find_ranks(cells *c) {
  const crossing ends[2] = {{.sign = {0, 1}}, {.sign = {1, 0}}};
  uint32_t first, last = 0, rank = 0;
  c->cuts.count = 0;
  add_cut(c, &ends[0], &first);
  add_cut(c, &ends[1], &last);
  for (size_t i = 0; i < c->hits.count; i++) {
    hit *h = (hit *)c->hits.data + i;
    add_end(c, &h->at, &h->rank, UINT32_MAX);
  }
  for (size_t i = 0; i < c->sheets.count; i++) {
    sheet *s = (sheet *)c->sheets.data + i;
    add_end(c, &s->end[0], &s->first, UINT32_MAX);
    add_end(c, &s->end[1], &s->last, UINT32_MAX);
  }
  const cut *list = c->cuts.data;
  for (size_t i = 0; i < c->cuts.count && !failed(c); i++) {
    if (i > 0 && gz_line_compare(&c->line, list[i - 1].at, list[i].at) != 0) rank++;
    *list[i].rank = rank;
  }
  for (size_t i = 0; i < c->sheets.count; i++) {
    sheet *s = (sheet *)c->sheets.data + i;
    if (s->first > s->last) {
      uint32_t swap = s->first;
      s->first = s->last;
      s->last = swap;
    }
  }
  return failed(c) ? 0 : rank;
}

/* ---- around a piece -------------------------------------------------------------------------------------------- */

enum { SAME = 0, LESS_THAN_HALF = 1, OPPOSITE = 2, MORE_THAN_HALF = 3 };

static int sector(line *l, uint32_t from, uint32_t to) {
  int turn = gz_line_turn(l, from, to);
  if (turn != 0) return turn > 0 ? LESS_THAN_HALF : MORE_THAN_HALF;
  int of = gz_line_sign_of(l, from);
  bool same = of != 0 ? of == gz_line_sign_of(l, to) : gz_line_sign_cut(l, from) == gz_line_sign_cut(l, to);
  return same ? SAME : OPPOSITE;
}

static bool comes_before(line *l, const half_plane *x, const half_plane *y) {
  if (x->sector != y->sector) return x->sector < y->sector;
  return (x->sector == LESS_THAN_HALF || x->sector == MORE_THAN_HALF) && gz_line_turn(l, x->toward, y->toward) > 0;
}

static bool same_direction(line *l, const half_plane *x, const half_plane *y) {
  if (x->sector != y->sector) return false;
  return x->sector == SAME || x->sector == OPPOSITE || gz_line_turn(l, x->toward, y->toward) == 0;
}

/* The half-planes of piece `rank`, counterclockwise. */
static void find_half_planes(cells *c, uint32_t rank) {
  c->halves.count = 0;
  for (size_t i = 0; i < c->sheets.count; i++) {
    const sheet *s = (const sheet *)c->sheets.data + i;
    for (int h = 0; h < s->halves && s->first <= rank && s->last > rank; h++) {
      half_plane *made = append(c, &c->halves, sizeof *made);
      if (made == NULL) return;
      half_plane *list = c->halves.data, one = {s->triangle, s->toward[h], SAME};
      size_t at = c->halves.count - 1;
      if (at > 0) one.sector = sector(&c->line, list[0].toward, one.toward);
      for (; at > 1 && comes_before(&c->line, &one, &list[at - 1]); at--) list[at] = list[at - 1];
      list[at] = one;
    }
  }
}

/* How a point lies to the ray that is next to the half-plane towards x, counterclockwise; 0: on the line. */
static int side_of_next(line *l, uint32_t x, uint32_t point) {
  if (gz_line_sign_of(l, point) == 0 && gz_line_sign_cut(l, point) == 0) return 0;
  switch (sector(l, x, point)) {
    case LESS_THAN_HALF:
    case OPPOSITE:
      return 1;
    default:
      return -1;
  }
}

/* Whether the line, moved a little in that direction, passes through the inside. Where an edge is on it, the edge's
 * corners tell to which side it comes to lie. */
static bool passes(cells *c, const hit *h, uint32_t x) {
  const uint32_t *corner = c->all.triangles[h->triangle].corner;
  int sign = 0;
  for (int k = 0; k < 3; k++) {
    int now = h->edge[k];
    if (now == 0) now = side_of_next(&c->line, x, corner[k]);
    if (now == 0) now = -side_of_next(&c->line, x, corner[(k + 1) % 3]);
    if (sign != 0 && now != sign) return false;
    sign = now;
  }
  return true;
}

/* Passing through a triangle, from behind it (`out`) or from its front. */
static void step_through(const cells *c, uint32_t number, bool out, cell *at) {
  const arranged_triangle *t = &c->all.triangles[number];
  if (t->bounds == BOUNDARY_WINDING) at->winding[t->operand] -= out ? 1 : -1;
  if (t->bounds == BOUNDARY_PARITY)
    at->odd[t->operand] ^= (uint64_t)1 << c->of->of[t->operand].shape->parts[t->part].walls;
}

/* The cell next to the half-plane towards x: what the ray passes from there on, backwards. */
static cell locate_cell(cells *c, uint32_t rank, uint32_t x) {
  cell at = {{0, 0}, {false, false}};
  for (size_t i = 0; i < c->hits.count; i++) {
    const hit *h = (const hit *)c->hits.data + i;
    if (h->rank <= rank || !passes(c, h, x)) continue;
    bool behind = h->at.sign[0] != 0 ? h->at.sign[0] < 0 : h->at.sign[1] > 0;
    step_through(c, h->triangle, !behind, &at);
  }
  return at;
}

/* Whether counterclockwise of a half-plane lies the front of its triangle. */
static bool leads_to_front(cells *c, const half_plane *h) {
  const arranged_triangle *t = &c->all.triangles[h->triangle], *carrier = &c->all.triangles[c->line.carrier];
  line *l = &c->line;
  int of = gz_line_sign_of(l, h->toward);
  if (of != 0) { /* seen from a corner of the carrier, which lies in the plane `of` */
    int k = 0;
    while (k < 2 && gz_line_sign_cut(l, carrier->corner[k]) == 0) k++;
    plane own = gz_plane_of(&c->all, h->triangle);
    return gz_plane_sign(&c->all, &own, carrier->corner[k]) * of * gz_line_sign_cut(l, carrier->corner[k]) > 0;
  }
  plane along = gz_plane_along(&c->all, t->corner[0], t->corner[1], carrier->axis);
  int turn = -gz_plane_sign(&c->all, &along, t->corner[2]);
  return turn * carrier->turn * gz_line_sign_cut(l, h->toward) < 0;
}

static bool is_in(const cells *c, const cell *at, int which, int reading) {
  if (reading == ALL_WALLS && c->of->of[which].shape->two_readings)
    return ((unsigned)at->winding[which] & 1u) != ((unsigned)__builtin_popcountll(at->odd[which]) & 1u);
  return at->winding[which] != 0 || at->odd[which] != 0;
}

static void note_cell(cells *c, const cell *at) {
  for (int r = 0; r < READINGS; r++) {
    bool a = is_in(c, at, 0, r), b = is_in(c, at, 1, r);
    c->sets[r] |= a && b ? SET_COMMON : a ? SET_ONLY_A : b ? SET_ONLY_B : 0;
  }
}

static void note_surface(cells *c, int which, const cell *before, const cell *after) {
  for (int r = 0; r < READINGS; r++) {
    bool in = is_in(c, before, 1 - which, r);
    if (in != is_in(c, after, 1 - which, r)) continue; /* on its border */
    c->sets[r] |= in ? SET_COMMON : set_only(which);
    c->pierced[which] |= in;
  }
}

/* What a solid there would be. */
static unsigned own_set(const cells *c, const cell *at, int which, int reading) {
  return is_in(c, at, 1 - which, reading) ? SET_COMMON : set_only(which);
}

static void note_cancelled(cells *c, int which, const cell *before, const cell *after) {
  for (int r = 0; r < READINGS; r++) {
    if (!is_in(c, before, which, r) && !is_in(c, after, which, r))
      c->cancelled[r] |= own_set(c, before, which, r) | own_set(c, after, which, r);
  }
}

/* Goes through the half-planes [begin, end), all towards one direction. */
static void pass_half_planes(cells *c, size_t begin, size_t end, cell *at) {
  const half_plane *list = c->halves.data;
  cell before = *at;
  bool some[2][2] = {{false, false}, {false, false}};
  for (size_t i = begin; i < end; i++) {
    const arranged_triangle *t = &c->all.triangles[list[i].triangle];
    bool is_surface = t->bounds == BOUNDARY_NONE;
    some[t->operand][is_surface] = true;
    if (!is_surface) step_through(c, list[i].triangle, leads_to_front(c, &list[i]), at);
  }
  for (int which = 0; which < 2; which++) {
    if (some[which][0]) note_cancelled(c, which, &before, at);
    if (some[which][1]) note_surface(c, which, &before, at);
  }
  note_cell(c, at);
}

static void go_round(cells *c, uint32_t rank) {
  find_half_planes(c, rank);
  if (c->halves.count == 0 || failed(c)) return;
  const half_plane *list = c->halves.data;
  size_t count = c->halves.count, first = 1;
  while (first < count && list[first].sector == SAME) first++;
  cell start = locate_cell(c, rank, list[0].toward), at = start;
  note_cell(c, &at);
  for (size_t i = first, next; i < count; i = next) {
    next = i + 1;
    while (next < count && same_direction(&c->line, &list[i], &list[next])) next++;
    pass_half_planes(c, i, next, &at);
  }
  pass_half_planes(c, 0, first, &at);
  for (int w = 0; w < 2; w++) c->in_conflict |= at.winding[w] != start.winding[w] || at.odd[w] != start.odd[w];
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static void lies_on(estimate *at, int8_t *sign, const uint32_t *points, int count) {
  for (int k = 0; k < count; k++) {
    at[points[k]] = (estimate){0, 0};
    sign[points[k]] = 0;
  }
}

static void look_along(cells *c) {
  c->sheets.count = c->hits.count = 0;
  c->looks += c->all.triangle_count;
  for (uint32_t t = 0; t < c->all.triangle_count && !failed(c); t++) {
    if (c->all.triangles[t].axis >= 0) look_at(c, t);
  }
  uint32_t last = failed(c) ? 0 : find_ranks(c);
  for (uint32_t rank = 0; rank < last && !failed(c); rank++) go_round(c, rank);
}

static void look_along_edge(cells *c, uint32_t number, int e) {
  const arranged_triangle *t = &c->all.triangles[number];
  line *l = &c->line;
  const uint32_t ends[2] = {t->corner[e], t->corner[(e + 1) % 3]};
  l->carrier = number;
  l->of = gz_plane_of(&c->all, number);
  l->cut = gz_plane_along(&c->all, ends[0], ends[1], t->axis);
  for (int k = 0; k < 2; k++) l->end[k] = (line_end){ends[k], ends[k]};
  gz_line_begin(l);
  lies_on(l->at_of, l->sign_of, t->corner, 3);
  lies_on(l->at_cut, l->sign_cut, ends, 2);
  look_along(c);
}

/* Along the chord that triangle u's plane leaves of triangle t, if each has corners on both sides of the other. */
static void look_along_chord(cells *c, uint32_t number, uint32_t other) {
  const arranged_triangle *t = &c->all.triangles[number], *u = &c->all.triangles[other];
  line *l = &c->line;
  int count = 0, sign[3], above = 0, below = 0;
  l->carrier = number;
  l->of = gz_plane_of(&c->all, number);
  l->cut = gz_plane_of(&c->all, other);
  for (int k = 0; k < 3; k++) {
    int at = gz_plane_sign(&c->all, &l->of, u->corner[k]);
    above += at > 0;
    below += at < 0;
    sign[k] = gz_plane_sign(&c->all, &l->cut, t->corner[k]);
  }
  if (above == 0 || below == 0) return;
  for (int k = 0; k < 3; k++) {
    int next = (k + 1) % 3;
    if (sign[k] * sign[next] < 0) l->end[count++] = (line_end){t->corner[k], t->corner[next]};
    if (sign[k] == 0 && count < 2) l->end[count++] = (line_end){t->corner[k], t->corner[k]};
  }
  if (count != 2 || (sign[0] >= 0 && sign[1] >= 0 && sign[2] >= 0) || (sign[0] <= 0 && sign[1] <= 0 && sign[2] <= 0))
    return; /* an edge of t, which is a line of its own */
  gz_line_begin(l);
  lies_on(l->at_of, l->sign_of, t->corner, 3);
  lies_on(l->at_cut, l->sign_cut, u->corner, 3);
  look_along(c);
}

/* ---- which lines ----------------------------------------------------------------------------------------------- */

/* The edge of t that is one of u as well, of the same mesh, or -1. */
static int shared_edge(const cells *c, const arranged_triangle *t, const arranged_triangle *u) {
  if (t->operand != u->operand) return -1;
  int shared[3];
  for (int k = 0; k < 3; k++) {
    shared[k] = 0;
    for (int i = 0; i < 3; i++) shared[k] |= gz_arrangement_same_point(&c->all, t->corner[k], u->corner[i]);
  }
  if (shared[0] + shared[1] + shared[2] != 2) return -1;
  return !shared[2] ? 0 : !shared[0] ? 1 : 2;
}

/* Lists what meets triangle t in more than a point; false: only neighbours, one across each edge. */
static bool find_near(cells *c, uint32_t number) {
  const arranged_triangle *t = &c->all.triangles[number];
  int across[3] = {0, 0, 0};
  bool is_cut = false;
  c->near.count = 0;
  c->looks += c->all.triangle_count;
  for (uint32_t i = 0; i < c->all.triangle_count; i++) {
    const arranged_triangle *u = &c->all.triangles[i];
    graze_tritri meeting;
    if (i == number || u->axis < 0 || !graze_boxes_meet(&t->box, &u->box)) continue;
    gz_arrangement_meet(&c->all, number, i, &meeting);
    if (meeting.kind != GRAZE_KIND_SEGMENT && meeting.kind != GRAZE_KIND_AREA) continue;
    near_triangle *made = append(c, &c->near, sizeof *made);
    if (made == NULL) return false;
    *made = (near_triangle){i, meeting.kind, meeting.kind == GRAZE_KIND_SEGMENT ? shared_edge(c, t, u) : -1};
    if (made->edge < 0 || across[made->edge]++ > 0) is_cut = true;
  }
  return is_cut;
}

/* Edge e has been looked at as one of another triangle. */
static bool edge_is_done(const cells *c, int e) {
  const near_triangle *list = c->near.data;
  for (size_t i = 0; i < c->near.count; i++) {
    if (list[i].edge == e && c->done[list[i].triangle] != 0) return true;
  }
  return false;
}

/* All lines of a triangle that has some beside its edges. */
static void look_around(cells *c, uint32_t number) {
  const arranged_triangle *t = &c->all.triangles[number];
  if (t->axis < 0 || (c->done[number] & ALL_DONE) != 0 || !find_near(c, number)) return;
  c->part_cut[t->operand][t->part] = 1;
  for (int e = 0; e < 3 && !found_all(c) && !failed(c); e++) {
    if (c->done[number] == 0 && !edge_is_done(c, e)) look_along_edge(c, number, e);
  }
  for (size_t i = 0; i < c->near.count && !found_all(c) && !failed(c); i++) {
    const near_triangle *n = (const near_triangle *)c->near.data + i;
    if (n->edge < 0 && n->kind == GRAZE_KIND_SEGMENT && (c->done[n->triangle] & ALL_DONE) == 0)
      look_along_chord(c, number, n->triangle);
  }
  c->done[number] = EDGES_DONE | ALL_DONE;
}

static void look_along_edges(cells *c, uint32_t number) {
  const arranged_triangle *t = &c->all.triangles[number];
  if (c->done[number] != 0) return;
  c->part_cut[t->operand][t->part] = 1;
  for (int e = 0; e < 3 && !found_all(c) && !failed(c); e++) look_along_edge(c, number, e);
  c->done[number] = EDGES_DONE;
}

static bool near_other(const cells *c, uint32_t number) {
  const arranged_triangle *t = &c->all.triangles[number];
  return graze_boxes_meet(&t->box, &c->of->of[1 - t->operand].box);
}

/* Whether a part that the other operand does not cut can show a set that has not been found. Within the other's solid
 * it has common on one side, and on its other side, if it is a cavity's, what only the other has. */
static bool can_show_more(cells *c, int which, uint32_t triangle) {
  double corners[9];
  location where;
  mesh_corners(c->of->of[which].place.mesh, triangle, corners);
  if (gz_operand_locate(c->of, which, corners, &where) != GRAZE_OK) {
    c->no_memory = true;
    return false;
  }
  unsigned within = SET_COMMON | set_only(1 - which);
  unsigned set = where == LOCATION_IN ? within : where == LOCATION_OUT ? set_only(which) : SETS_ALL;
  return (set & ~found(c)) != 0 || c->of->of[1 - which].shape->two_readings;
}

/* An edge of each part of which no line has been looked at, in the other's box or not. */
static void look_at_parts(cells *c, int which, bool near) {
  const operand *own = &c->of->of[which];
  uint32_t base = which == 0 ? 0 : c->all.first_b;
  for (uint32_t p = 0; p < own->shape->part_count && !found_all(c) && !failed(c); p++) {
    const solid_part *part = &own->shape->parts[p];
    for (uint32_t i = part->begin; i < part->end && !c->part_cut[which][p]; i++) {
      uint32_t t = base + own->shape->listed[i];
      if (c->all.triangles[t].axis < 0 || near_other(c, t) != near) continue;
      if (can_show_more(c, which, own->shape->listed[i])) look_along_edge(c, t, 0);
      break;
    }
  }
}

static bool lacks(const cells *c, int which) {
  return (found(c) & set_only(which)) == 0 && !failed(c);
}

/* The lines along which the operands meet, and one for each part that has none. */
static void look_at_pieces(cells *c, const graze_triangle_pair *pairs, uint64_t count) {
  for (uint64_t i = 0; i < count && !found_all(c) && !failed(c); i++) {
    uint32_t t = pairs[i].a, u = c->all.first_b + pairs[i].b;
    graze_tritri meeting;
    if (c->all.triangles[t].axis < 0 || c->all.triangles[u].axis < 0) continue;
    gz_arrangement_meet(&c->all, t, u, &meeting);
    if (meeting.kind == GRAZE_KIND_AREA) {
      look_around(c, t);
      look_around(c, u);
    } else if (meeting.kind == GRAZE_KIND_SEGMENT) {
      look_along_edges(c, t);
      look_along_edges(c, u);
      if (!found_all(c) && !failed(c)) look_along_chord(c, t, u);
    }
  }
  for (int which = 0; which < 2; which++) look_at_parts(c, which, true);
  for (int which = 0; which < 2 && any_common(c); which++) {
    if (lacks(c, which)) look_at_parts(c, which, false);
  }
}

/* All lines of one operand in the other's box, until there is what only the other has. */
static void look_for_only_other(cells *c, int which) {
  uint32_t begin = which == 0 ? 0 : c->all.first_b, end = which == 0 ? c->all.first_b : c->all.triangle_count;
  for (uint32_t t = begin; t < end && lacks(c, 1 - which); t++) {
    if (near_other(c, t)) look_around(c, t);
  }
}

/* Every cell in both boxes and, where something is common, those that only one box has. */
static void look_everywhere(cells *c) {
  for (uint32_t t = 0; t < c->all.triangle_count && !found_all(c) && !failed(c); t++) {
    if (near_other(c, t)) look_around(c, t);
  }
  for (uint32_t t = 0; t < c->all.triangle_count && any_common(c); t++) {
    if (lacks(c, c->all.triangles[t].operand) && !near_other(c, t)) look_around(c, t);
  }
}

static void look(cells *c, const simplicity simple[2], const graze_triangle_pair *pairs, uint64_t count) {
  look_at_pieces(c, pairs, count);
  for (int which = 0; which < 2 && any_common(c); which++) {
    if (simple[which] != SIMPLE_YES) look_for_only_other(c, which);
  }
  bool cancels = false;
  for (int r = 0; r < READINGS; r++) cancels |= (c->cancelled[r] & ~c->sets[r]) != 0;
  if (cancels) look_everywhere(c);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static graze_status open_cells(cells *c, const operands *o) {
  c->of = o;
  graze_status status = gz_arrangement_open(&c->all, o);
  if (status != GRAZE_OK) return status;
  const graze_context *context = c->all.context;
  c->line.all = &c->all;
  c->line.at_of = gz_new(context, c->all.point_count, sizeof(estimate));
  c->line.at_cut = gz_new(context, c->all.point_count, sizeof(estimate));
  c->line.sign_of = gz_new(context, c->all.point_count, 1);
  c->line.sign_cut = gz_new(context, c->all.point_count, 1);
  c->done = gz_new_zeroed(context, c->all.triangle_count, 1);
  for (int w = 0; w < 2; w++) c->part_cut[w] = gz_new_zeroed(context, o->of[w].shape->part_count, 1);
  bool good = c->line.at_of != NULL && c->line.at_cut != NULL && c->line.sign_of != NULL && c->line.sign_cut != NULL &&
              c->done != NULL && c->part_cut[0] != NULL && c->part_cut[1] != NULL;
  return good ? GRAZE_OK : gz_fail_memory(context, c->all.point_count * sizeof(estimate));
}

static void close_cells(cells *c) {
  void *const memory[] = {c->line.at_of, c->line.at_cut, c->line.sign_of, c->line.sign_cut,
                          c->done,       c->part_cut[0], c->part_cut[1],  c->sheets.data,
                          c->hits.data,  c->cuts.data,   c->halves.data,  c->near.data};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) gz_free(memory[i]);
  gz_arrangement_close(&c->all);
}

graze_status gz_relate_cells(operands *o, const simplicity simple[2], const graze_triangle_pair *pairs, uint64_t count,
                             findings *f, bool *sure) {
  cells c = {0};
  graze_status status = open_cells(&c, o);
  *sure = false;
  if (status == GRAZE_OK) {
    look(&c, simple, pairs, count);
    *sure = !failed(&c) && (!any_common(&c) || c.sets[ANY_WALLS] == c.sets[ALL_WALLS]);
    if (c.no_memory) status = gz_fail_memory(c.all.context, sizeof(hit));
  }
  if (*sure) {
    memset(f->of, 0, sizeof f->of);
    raise_evidence(f, f->surfaces_cross ? SETS_ALL : c.sets[ANY_WALLS], EVIDENCE_PROVED);
    for (int which = 0; which < 2; which++) o->of[which].pierces = f->surfaces_cross || c.pierced[which];
  }
  close_cells(&c);
  return status;
}
