/* group.c: thousands of clashes, made readable three ways: who causes them, between which disciplines, and where.
 *
 * By object: greedy set cover. The object with the most clashes is most likely the one that is wrong ("one duct, forty
 * pipes"); it takes its clashes, the next one is chosen among what is left. A heap with counts that may be out of date
 * keeps that at O(n log n).
 * By place: clashes in the same or in touching cells of a grid, joined by union-find. Cells are as wide as the distance
 * below which two clashes are always one place, so no pair of near ones is cut apart by the grid.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "out.h"

typedef struct grouping {
  const graze_report_object *objects;
  uint32_t object_count;
  graze_report_clash *clashes;
  uint32_t clash_count;
  graze_report_groups *groups;
  uint32_t capacity;
  const graze_context *context;
} grouping;

/* Takes `title`. Returns the number of the group, GRAZE_NO_GROUP = out of memory. */
static uint32_t add_group(grouping *work, graze_group_kind kind, char *title, uint32_t clashes) {
  graze_report_groups *groups = work->groups;
  if (title != NULL && groups->group_count == work->capacity) {
    uint32_t capacity = 2 * work->capacity + 16;
    graze_report_group *more = gz_resize(work->context, groups->groups, capacity, sizeof *more);
    if (more != NULL) {
      groups->groups = more;
      work->capacity = capacity;
    }
  }
  if (title == NULL || groups->group_count == work->capacity) {
    gz_free(title);
    return GRAZE_NO_GROUP;
  }
  groups->groups[groups->group_count] = (graze_report_group){kind, title, clashes};
  return groups->group_count++;
}

/* ---- by object ---- */

typedef struct cover {
  const graze_report_object *objects;
  uint32_t *starts, *members; /* clashes of object i: members[starts[i]] .. members[starts[i + 1] - 1] */
  uint32_t *left;             /* clashes of the object that are in no group yet */
  uint32_t *heap, heap_count; /* objects; above each stands none with more left (as far as was known) */
  uint32_t *key;              /* what the heap believes to be left */
} cover;

static bool before(const cover *c, uint32_t a, uint32_t b) {
  if (c->key[a] != c->key[b]) return c->key[a] > c->key[b];
  int order = strcmp(c->objects[a].name, c->objects[b].name);
  return order != 0 ? order < 0 : a < b;
}

static void sift_down(cover *c, uint32_t at) {
  for (;;) {
    uint32_t best = at;
    for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < c->heap_count; child++) {
      if (before(c, c->heap[child], c->heap[best])) best = child;
    }
    if (best == at) return;
    uint32_t object = c->heap[at];
    c->heap[at] = c->heap[best];
    c->heap[best] = object;
    at = best;
  }
}

static void fill_cover(const grouping *work, cover *c) {
  for (uint32_t i = 0; i < work->clash_count; i++) {
    if (!gz_report_is_live(&work->clashes[i])) continue;
    c->left[work->clashes[i].a]++;
    c->left[work->clashes[i].b]++;
  }
  for (uint32_t i = 0; i < work->object_count; i++) {
    c->starts[i + 1] = c->starts[i] + c->left[i];
    c->key[i] = c->left[i];
    if (c->left[i] > 0) c->heap[c->heap_count++] = i;
  }
  for (uint32_t i = 0; i < work->clash_count; i++) {
    const graze_report_clash *clash = &work->clashes[i];
    if (!gz_report_is_live(clash)) continue;
    c->members[c->starts[clash->a] + --c->key[clash->a]] = i;
    c->members[c->starts[clash->b] + --c->key[clash->b]] = i;
  }
  for (uint32_t i = 0; i < work->object_count; i++) c->key[i] = c->left[i];
  for (uint32_t i = c->heap_count; i-- > 0;) sift_down(c, i);
}

static bool take_object(grouping *work, cover *c, uint32_t object) {
  uint32_t group =
      add_group(work, GRAZE_GROUP_OBJECT, gz_new_text(work->context, work->objects[object].name), c->left[object]);
  if (group == GRAZE_NO_GROUP) return false;
  for (uint32_t i = c->starts[object]; i < c->starts[object + 1]; i++) {
    graze_report_clash *clash = &work->clashes[c->members[i]];
    if (clash->group_object != GRAZE_NO_GROUP) continue;
    clash->group_object = group;
    c->left[clash->a]--;
    c->left[clash->b]--;
  }
  return true;
}

static bool cover_clashes(grouping *work, cover *c) {
  while (c->heap_count > 0) {
    uint32_t object = c->heap[0];
    if (c->key[object] == c->left[object] && !take_object(work, c, object)) return false;
    c->key[object] = c->left[object];
    if (c->left[object] == 0) c->heap[0] = c->heap[--c->heap_count];
    sift_down(c, 0);
  }
  return true;
}

static bool group_by_object(grouping *work) {
  size_t n = work->object_count;
  uint32_t *memory = gz_new_zeroed(work->context, 4 * n + 2 + 2 * (size_t)work->clash_count, sizeof *memory);
  if (memory == NULL) return false;
  cover c = {.objects = work->objects, .starts = memory, .left = memory + n + 1, .heap = memory + 2 * n + 1};
  c.key = memory + 3 * n + 1;
  c.members = memory + 4 * n + 1;
  fill_cover(work, &c);
  bool good = cover_clashes(work, &c);
  gz_free(memory);
  return good;
}

/* ---- by layers ---- */

typedef struct layered {
  char *title;
  uint32_t clash;
} layered;

static int compare_layered(const void *a, const void *b) {
  const layered *x = a, *y = b;
  int order = strcmp(x->title, y->title);
  return order != 0 ? order : (x->clash > y->clash) - (x->clash < y->clash);
}

static bool name_layers(grouping *work, layered *list, uint32_t count) {
  for (uint32_t first = 0, end = 0; first < count; first = end) {
    while (end < count && strcmp(list[end].title, list[first].title) == 0) end++;
    uint32_t group = add_group(work, GRAZE_GROUP_LAYERS, gz_new_text(work->context, list[first].title), end - first);
    if (group == GRAZE_NO_GROUP) return false;
    for (uint32_t i = first; i < end; i++) work->clashes[list[i].clash].group_layers = group;
  }
  return true;
}

static bool group_by_layers(grouping *work) {
  bool layers = false;
  for (uint32_t i = 0; i < work->object_count; i++) layers |= work->objects[i].layer != NULL && *work->objects[i].layer;
  if (!layers) return true;
  layered *list = gz_new(work->context, (size_t)work->clash_count + 1, sizeof *list);
  if (list == NULL) return false;
  uint32_t count = 0;
  bool good = true;
  for (uint32_t i = 0; i < work->clash_count && good; i++) {
    const graze_report_clash *clash = &work->clashes[i];
    if (!gz_report_is_live(clash)) continue;
    char *title = gz_report_layer_pair(work->context, work->objects[clash->a].layer, work->objects[clash->b].layer);
    good = title != NULL;
    if (good) list[count++] = (layered){title, i};
  }
  if (good) qsort(list, count, sizeof *list, compare_layered);
  good = good && name_layers(work, list, count);
  for (uint32_t i = 0; i < count; i++) gz_free(list[i].title);
  gz_free(list);
  return good;
}

/* ---- by place ---- */

typedef struct placed {
  int64_t cell[3];
  uint32_t clash;
  uint32_t root; /* number of the entry that stands for its place */
} placed;

typedef struct place {
  uint32_t root, count;
  double centre[3];
} place;

static int compare_cells(const int64_t a[3], const int64_t b[3]) {
  for (int k = 0; k < 3; k++) {
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  }
  return 0;
}

static int compare_placed(const void *a, const void *b) {
  const placed *x = a, *y = b;
  int order = compare_cells(x->cell, y->cell);
  return order != 0 ? order : (x->clash > y->clash) - (x->clash < y->clash);
}

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  for (int k = 0; k < 3; k++) {
    if (x->centre[k] != y->centre[k]) return x->centre[k] < y->centre[k] ? -1 : 1;
  }
  return 0;
}

/* A 64th of the diagonal of everything; of the clashes' points when no object has a box. */
static double place_distance(const grouping *work) {
  graze_box all = graze_box_empty(), box;
  for (uint32_t i = 0; i < work->object_count; i++) {
    if (gz_report_object_box(&work->objects[i], &box)) graze_box_add_box(&all, &box);
  }
  if (graze_box_is_empty(&all)) {
    for (uint32_t i = 0; i < work->clash_count; i++) {
      if (gz_report_is_live(&work->clashes[i])) graze_box_add_point(&all, work->clashes[i].point);
    }
  }
  double sum = 0;
  for (int k = 0; k < 3; k++) sum = hypot(sum, all.max[k] - all.min[k]);
  return sum > 0 && isfinite(sum) ? sum / 64 : 1;
}

/* The clashes that have a place within the grid's numbers, sorted by cell. */
static uint32_t place_clashes(const grouping *work, double distance, placed *list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < work->clash_count; i++) {
    const graze_report_clash *clash = &work->clashes[i];
    bool good = gz_report_is_live(clash);
    for (int k = 0; k < 3 && good; k++) {
      double cell = floor(clash->point[k] / distance);
      good = fabs(cell) < 0x1p60; /* false for NaN, too */
      if (good) list[count].cell[k] = (int64_t)cell;
    }
    if (!good) continue;
    list[count++].clash = i;
  }
  qsort(list, count, sizeof *list, compare_placed);
  return count;
}

static uint32_t find_root(placed *list, uint32_t i) {
  while (list[i].root != i) {
    list[i].root = list[list[i].root].root;
    i = list[i].root;
  }
  return i;
}

static void join(placed *list, uint32_t a, uint32_t b) {
  a = find_root(list, a);
  b = find_root(list, b);
  if (a < b) {
    list[b].root = a;
  } else {
    list[a].root = b;
  }
}

/* First entry of the cell; `count` = the cell is empty. */
static uint32_t find_cell(const placed *list, uint32_t count, const int64_t cell[3]) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare_cells(list[middle].cell, cell) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && compare_cells(list[low].cell, cell) == 0 ? low : count;
}

static void join_neighbours(placed *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) list[i].root = i;
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && compare_cells(list[i - 1].cell, list[i].cell) == 0) {
      join(list, i - 1, i);
      continue;
    }
    for (int step = 0; step < 13; step++) { /* the half of the neighbours that comes before in the order of cells */
      const int64_t cell[3] = {list[i].cell[0] + step / 9 - 1, list[i].cell[1] + step / 3 % 3 - 1,
                               list[i].cell[2] + step % 3 - 1};
      uint32_t other = find_cell(list, count, cell);
      if (other < count) join(list, i, other);
    }
  }
}

/* "near 12.5 3 0.8": the mean, rounded to about a tenth of the distance. */
static char *place_title(const graze_context *context, const double centre[3], double distance) {
  double step = pow(10, floor(log10(distance)) - 1);
  char text[3][32];
  for (int k = 0; k < 3; k++) {
    double value = step < 1 ? round(centre[k] * round(1 / step)) / round(1 / step) : round(centre[k] / step) * step;
    graze_format_double(value + 0.0, text[k]);
  }
  return gz_new_words(context, "near %s %s %s", text[0], text[1], text[2]);
}

static uint32_t sum_places(const grouping *work, placed *list, uint32_t count, place *places, uint32_t *number) {
  uint32_t place_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t root = find_root(list, i);
    if (root == i) {
      number[i] = place_count;
      places[place_count++] = (place){.root = i};
    }
    place *at = &places[number[root]]; /* roots come before what they stand for */
    at->count++;
    for (int k = 0; k < 3; k++) at->centre[k] += work->clashes[list[i].clash].point[k];
  }
  for (uint32_t i = 0; i < place_count; i++) {
    for (int k = 0; k < 3; k++) places[i].centre[k] /= places[i].count;
  }
  return place_count;
}

static bool name_places(grouping *work, placed *list, uint32_t count, double distance, place *places,
                        uint32_t *number) {
  uint32_t place_count = sum_places(work, list, count, places, number);
  qsort(places, place_count, sizeof *places, compare_places);
  for (uint32_t i = 0; i < place_count; i++) {
    char *title = place_title(work->context, places[i].centre, distance);
    number[places[i].root] = add_group(work, GRAZE_GROUP_PLACE, title, places[i].count);
    if (number[places[i].root] == GRAZE_NO_GROUP) return false;
  }
  for (uint32_t i = 0; i < count; i++) work->clashes[list[i].clash].group_place = number[find_root(list, i)];
  return true;
}

static bool group_by_place(grouping *work) {
  size_t n = (size_t)work->clash_count + 1;
  placed *list = gz_new_zeroed(work->context, n, sizeof *list);
  place *places = gz_new_zeroed(work->context, n, sizeof *places);
  uint32_t *number = gz_new_zeroed(work->context, n, sizeof *number);
  bool good = list != NULL && places != NULL && number != NULL;
  if (good) {
    double distance = place_distance(work);
    uint32_t count = place_clashes(work, distance, list);
    join_neighbours(list, count);
    good = name_places(work, list, count, distance, places, number);
  }
  gz_free(list);
  gz_free(places);
  gz_free(number);
  return good;
}

/* ---- all ---- */

graze_status graze_report_group_clashes(graze_context *context, const graze_report_object *objects,
                                        uint32_t object_count, graze_report_clash *clashes, uint32_t clash_count,
                                        graze_report_groups *groups) {
  const graze_report checked = {.objects = objects, .object_count = object_count};
  if (groups == NULL) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "nowhere to put the groups");
  *groups = (graze_report_groups){0};
  graze_status status = gz_report_check(context, &checked, "report");
  if (status != GRAZE_OK) return status;
  for (uint32_t i = 0; i < clash_count; i++) {
    if (clashes[i].a >= clashes[i].b || clashes[i].b >= object_count) {
      return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "",
                           "clashes[%lu]: its objects are not two of the report", (unsigned long)i);
    }
    clashes[i].group_object = clashes[i].group_layers = clashes[i].group_place = GRAZE_NO_GROUP;
  }
  grouping work = {objects, object_count, clashes, clash_count, groups, 0, context};
  if (group_by_object(&work) && group_by_layers(&work) && group_by_place(&work)) return GRAZE_OK;
  graze_report_groups_free(groups);
  return gz_report_fail_memory(context, "report");
}

void graze_report_groups_free(graze_report_groups *groups) {
  if (groups == NULL) return;
  for (uint32_t i = 0; i < groups->group_count; i++) gz_free(groups->groups[i].title);
  gz_free(groups->groups);
  *groups = (graze_report_groups){0};
}
