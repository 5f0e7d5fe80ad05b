/* What is at the edges of parts that have no neighbour: an end of the surface, or an edge of many triangles.
 *
 * Sides of triangles at such edges are sorted by the positions of their ends, so that those of one edge stand together,
 * those of one part side by side. A part that has two triangles at the edge, one each way, goes on there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "narrow/solid.h"

/* A side without a neighbour. */
typedef struct unpaired_side {
  double end[2][3]; /* the lower first */
  uint32_t part;
  edge_place at;
  bool turned; /* runs from the higher to the lower */
} unpaired_side;

static int compare_points(const double p[3], const double q[3]) {
  for (int k = 0; k < 3; k++) {
    if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
  }
  return 0;
}

static int compare_edges(const unpaired_side *a, const unpaired_side *b) {
  int low = compare_points(a->end[0], b->end[0]);
  return low != 0 ? low : compare_points(a->end[1], b->end[1]);
}

static int compare_places(edge_place a, edge_place b) {
  if (a.triangle != b.triangle) return a.triangle < b.triangle ? -1 : 1;
  return (a.edge > b.edge) - (a.edge < b.edge);
}

static int by_edge(const void *p, const void *q) {
  const unpaired_side *a = p, *b = q;
  int edge = compare_edges(a, b);
  if (edge != 0) return edge;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  return compare_places(a->at, b->at);
}

static int by_place(const void *p, const void *q) {
  return compare_places(((const nonmanifold_edge *)p)->at, ((const nonmanifold_edge *)q)->at);
}

static unpaired_side make_unpaired(const graze_mesh *mesh, const solid *s, edge_place at) {
  double c[9];
  mesh_corners(mesh, at.triangle, c);
  const double *p = c + 3 * at.edge, *q = c + (3 * at.edge + 3) % 9;
  unpaired_side l = {.part = s->part_of[at.triangle], .at = at, .turned = compare_points(p, q) > 0};
  memcpy(l.end[0], l.turned ? q : p, sizeof l.end[0]);
  memcpy(l.end[1], l.turned ? p : q, sizeof l.end[1]);
  return l;
}

/* Of several faults of a part the one that must be mended first is told, at its first place. */
static void note_fault(solid *s, uint32_t part, graze_doubt fault, edge_place at) {
  static const int rank[] = {
      [GRAZE_DOUBT_NONE] = 0, [GRAZE_DOUBT_MISORIENTED] = 1, [GRAZE_DOUBT_NONMANIFOLD] = 2, [GRAZE_DOUBT_OPEN] = 3};
  solid_part *p = &s->parts[part];
  bool sooner = fault == p->fault && compare_places(at, p->fault_at) < 0;
  if (rank[fault] < rank[p->fault] || (rank[fault] == rank[p->fault] && !sooner)) return;
  p->fault = fault;
  p->fault_at = at;
}

/* ---- edges of two triangles ---- */

/* The same direction through both triangles: corner positions of the edge in order. */
static bool misoriented(const graze_mesh *mesh, edge_place at, uint32_t other) {
  double c[9], d[9];
  mesh_corners(mesh, at.triangle, c);
  mesh_corners(mesh, other, d);
  const double *p = c + 3 * at.edge, *q = c + (3 * at.edge + 3) % 9;
  for (int e = 0; e < 9; e += 3) {
    if (compare_points(p, d + e) == 0 && compare_points(q, d + (e + 3) % 9) == 0) return true;
  }
  return false;
}

/* Notes what neighbours tell; returns the number of sides without one. */
static uint64_t look_at_neighbours(const graze_mesh *mesh, solid *s) {
  const mesh_header *h = mesh->header;
  uint64_t alone = 0;
  if (h->misoriented_edges == 0 && h->open_edges == 0 && h->nonmanifold_edges == 0) return 0;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    if (s->part_of[t] == NO_PART) continue;
    for (uint32_t e = 0; e < 3; e++) {
      edge_place at = {t, e};
      uint32_t other = mesh->neighbours[3 * (size_t)t + e];
      alone += other == NO_TRIANGLE;
      if (other == NO_TRIANGLE && h->nonmanifold_edges == 0) note_fault(s, s->part_of[t], GRAZE_DOUBT_OPEN, at);
      if (other == NO_TRIANGLE || h->misoriented_edges == 0 || !misoriented(mesh, at, other)) continue;
      s->parts[s->part_of[t]].turned_over = true;
      note_fault(s, s->part_of[t], GRAZE_DOUBT_MISORIENTED, at);
    }
  }
  return alone;
}

/* ---- edges of one, and of many ---- */

/* The end of the run of sides at one edge; `same_part`: of one part. */
static uint64_t run_end(const unpaired_side *list, uint64_t begin, uint64_t count, bool same_part) {
  uint64_t end = begin + 1;
  while (end < count && compare_edges(list + begin, list + end) == 0 &&
         (!same_part || list[begin].part == list[end].part)) {
    end++;
  }
  return end;
}

static bool continue_each_other(const unpaired_side *first, uint64_t count) {
  return count == 2 && first[0].turned != first[1].turned;
}

static void note_run(solid *s, const unpaired_side *list, uint64_t begin, uint64_t end) {
  if (end == begin + 1) {
    note_fault(s, list[begin].part, GRAZE_DOUBT_OPEN, list[begin].at);
    return;
  }
  for (uint64_t i = begin, next; i < end; i = next) {
    next = run_end(list, i, end, true);
    if (!continue_each_other(list + i, next - i)) note_fault(s, list[i].part, GRAZE_DOUBT_NONMANIFOLD, list[i].at);
  }
}

/* ---- parts that are closed together ---- */

/* Of parts that are not closed by themselves. */
typedef struct part_group {
  uint32_t root; /* a part of the same group, itself: the group's name */
  bool out;      /* not of a group: an edge of it has no other triangle */
  bool odd;      /* of the root: some edge has an odd number of triangles */
  bool turned;   /* of the root: some edge has more that run one way than the other */
  bool numbered; /* of the root: */
  uint8_t walls; /* as in solid_part */
} part_group;

static uint32_t find_root(part_group *groups, uint32_t part) {
  while (groups[part].root != part) part = groups[part].root = groups[groups[part].root].root;
  return part;
}

/* Leaves out parts until every edge of those left has two triangles of them or more. */
static void leave_out_open_parts(part_group *groups, const unpaired_side *list, uint64_t count) {
  for (bool again = true; again;) {
    again = false;
    for (uint64_t i = 0, next; i < count; i = next) {
      uint32_t left = 0, last = 0;
      next = run_end(list, i, count, false);
      for (uint64_t k = i; k < next; k++) {
        if (groups[list[k].part].out) continue;
        left++;
        last = list[k].part;
      }
      if (left != 1) continue;
      groups[last].out = again = true;
    }
  }
}

/* Joins the parts of a run, or notes how its triangles run. */
static void join_group(part_group *groups, const unpaired_side *list, uint64_t begin, uint64_t end, bool join) {
  uint32_t first = NO_PART, sides = 0;
  int64_t excess = 0;
  for (uint64_t k = begin; k < end; k++) {
    if (groups[list[k].part].out) continue;
    uint32_t root = find_root(groups, list[k].part);
    if (first == NO_PART) first = root;
    if (join) groups[root].root = first;
    sides++;
    excess += list[k].turned ? -1 : 1;
  }
  if (join || first == NO_PART) return;
  first = find_root(groups, first);
  groups[first].odd |= sides % 2 != 0;
  groups[first].turned |= excess != 0;
}

static uint8_t number_walls(part_group *group, uint8_t *walls) {
  if (!group->numbered) group->walls = *walls < 63 ? (*walls)++ : 63;
  group->numbered = true;
  return group->walls;
}

static void close_groups(solid *s, part_group *groups, const unpaired_side *list, uint64_t count) {
  uint8_t walls = 0;
  for (uint32_t p = 0; p < s->part_count; p++)
    groups[p] = (part_group){.root = p, .out = s->parts[p].fault == GRAZE_DOUBT_NONE};
  leave_out_open_parts(groups, list, count);
  for (int join = 1; join >= 0; join--) {
    for (uint64_t i = 0, next; i < count; i = next)
      join_group(groups, list, i, next = run_end(list, i, count, false), join);
  }
  for (uint32_t p = 0; p < s->part_count; p++) {
    if (!groups[p].out && s->parts[p].turned_over) groups[find_root(groups, p)].turned = true;
  }
  for (uint32_t p = 0; p < s->part_count; p++) {
    part_group *group = &groups[find_root(groups, p)];
    if (groups[p].out || group->odd) continue;
    s->parts[p].fault = GRAZE_DOUBT_NONE;
    s->parts[p].parity = group->turned;
    if (group->turned) s->parts[p].walls = number_walls(group, &walls);
    s->entangled = true;
  }
}

static void add_nonmanifold(solid *s, const unpaired_side *l, uint32_t other, bool unclear) {
  s->nonmanifold[s->nonmanifold_count++] = (nonmanifold_edge){l->at, other, unclear};
}

/* Sides of closed parts go on; what is left of the others at this edge is clear when it is one side, or two that
 * continue each other in their part. */
static void join_run(solid *s, const unpaired_side *list, uint64_t begin, uint64_t end) {
  uint64_t rest = 0, closed = 0;
  for (uint64_t i = begin; i < end; i++) {
    bool whole = s->parts[list[i].part].fault == GRAZE_DOUBT_NONE;
    rest += !whole;
    closed += whole;
  }
  if (closed > 2 && s->shared_edge == NO_TRIANGLE) s->shared_edge = list[begin].at.triangle;
  for (uint64_t i = begin, next; i < end; i = next) {
    next = run_end(list, i, end, true);
    bool whole = s->parts[list[i].part].fault == GRAZE_DOUBT_NONE;
    bool joined = continue_each_other(list + i, next - i) && (whole || rest == 2),
         unclear = !whole && !joined && rest > 1;
    for (uint64_t k = i; k < next; k++) {
      add_nonmanifold(s, list + k, joined ? list[i + (next - 1 - k)].at.triangle : NO_TRIANGLE, unclear);
    }
  }
}

static void sort_out(const graze_mesh *mesh, solid *s, part_group *groups, unpaired_side *list, uint64_t count) {
  uint64_t used = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    for (uint32_t e = 0; e < 3 && s->part_of[t] != NO_PART; e++) {
      if (mesh->neighbours[3 * (size_t)t + e] == NO_TRIANGLE) list[used++] = make_unpaired(mesh, s, (edge_place){t, e});
    }
  }
  qsort(list, count, sizeof *list, by_edge);
  for (uint64_t i = 0, next; i < count; i = next) note_run(s, list, i, next = run_end(list, i, count, false));
  close_groups(s, groups, list, count);
  for (uint64_t i = 0, next; i < count; i = next) {
    next = run_end(list, i, count, false);
    if (next - i > 1) join_run(s, list, i, next);
  }
  qsort(s->nonmanifold, s->nonmanifold_count, sizeof *s->nonmanifold, by_place);
}

/* Without edges of three or more triangles, a part that is not open has two at each. */
static void count_by_parity(solid *s) {
  uint8_t walls = 0;
  for (uint32_t p = 0; p < s->part_count; p++) {
    if (s->parts[p].fault != GRAZE_DOUBT_MISORIENTED) continue;
    s->parts[p].fault = GRAZE_DOUBT_NONE;
    s->parts[p].parity = s->entangled = true;
    s->parts[p].walls = walls < 63 ? walls++ : 63;
  }
}

graze_status gz_solid_examine_edges(const graze_context *context, const graze_mesh *mesh, solid *s) {
  if (mesh->neighbours == NULL) {
    for (uint32_t p = 0; p < s->part_count; p++) {
      s->parts[p].fault = GRAZE_DOUBT_NO_ADJACENCY;
      s->parts[p].fault_at = (edge_place){s->listed[s->parts[p].begin], 0};
    }
    return GRAZE_OK;
  }
  uint64_t alone = look_at_neighbours(mesh, s);
  if (mesh->header->nonmanifold_edges == 0) {
    count_by_parity(s);
    return GRAZE_OK;
  }
  if (alone > UINT32_MAX) return gz_fail_memory(context, alone * sizeof(unpaired_side));
  unpaired_side *list = gz_memory_alloc(context, alone * sizeof *list);
  part_group *groups = gz_memory_alloc(context, s->part_count * sizeof *groups);
  s->nonmanifold = gz_memory_alloc(context, alone * sizeof *s->nonmanifold);
  s->nonmanifold_room = (uint32_t)alone;
  bool good = list != NULL && groups != NULL && s->nonmanifold != NULL;
  if (good) sort_out(mesh, s, groups, list, alone);
  gz_memory_release(context, list, alone * sizeof *list);
  gz_memory_release(context, groups, s->part_count * sizeof *groups);
  return good ? GRAZE_OK : gz_fail_memory(context, alone * sizeof *list);
}

uint32_t gz_solid_across(const graze_mesh *mesh, const solid *s, edge_place at, bool *unclear) {
  *unclear = mesh->neighbours == NULL;
  if (*unclear) return NO_TRIANGLE;
  uint32_t other = mesh->neighbours[3 * (size_t)at.triangle + at.edge];
  if (other != NO_TRIANGLE || s->nonmanifold_count == 0) return other;
  const nonmanifold_edge key = {.at = at},
                         *found = bsearch(&key, s->nonmanifold, s->nonmanifold_count, sizeof key, by_place);
  if (found == NULL) return NO_TRIANGLE;
  *unclear = found->unclear;
  return found->other;
}
