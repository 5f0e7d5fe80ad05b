/* identify.c: ids that live from run to run. Names are all that a re-export keeps, so an id is a hash of the two names;
 * where two objects clash more than once, of the grid cell as well. The grid hangs on the object whose name comes
 * first, so that moving a whole model moves it along, and its cells are coarse. Over the edge of a cell a clash gets
 * another id for once: graze_report_merge_previous knows it again by its distance and gives the old id back.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

/* ---- hashing ---- */

static uint64_t fnv1a(uint64_t hash, const void *bytes, size_t size) {
  const uint8_t *p = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ p[i]) * 0x100000001b3;
  return hash;
}

static uint64_t mix(uint64_t hash) {
  return graze_pair_hash((uint32_t)(hash >> 32), (uint32_t)hash);
}

static const uint64_t fnv_start = 0xcbf29ce484222325;

uint64_t gz_report_id_key(const char *id) {
  return mix(fnv1a(fnv_start, id, strlen(id)));
}

uint64_t graze_report_pose_hash(const graze_pose *pose) {
  return mix(fnv1a(fnv_start, pose->m, sizeof pose->m));
}

void gz_report_make_id(const char *first, const char *second, const void *place, size_t size, uint32_t salt,
                       char id[24]) {
  static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz"; /* base 32 without i, l, o, u */
  bool swap = strcmp(first, second) > 0;
  const char *low = swap ? second : first, *high = swap ? first : second;
  uint64_t hash = fnv1a(fnv_start, low, strlen(low) + 1); /* with the final 0, so that the two cannot run together */
  hash = fnv1a(hash, high, strlen(high) + 1);
  hash = fnv1a(hash, place, size);
  hash = mix(fnv1a(hash, &salt, sizeof salt));
  strcpy(id, "c-");
  for (int i = 0; i < 12; i++) id[2 + i] = digits[hash >> (59 - 5 * i) & 31];
  id[14] = 0;
}

/* ---- places ---- */

bool gz_report_object_facts(const graze_report_object *object, graze_mesh_facts *facts) {
  if (object->mesh != NULL)
    graze_mesh_get_facts(object->mesh, facts);
  else if (object->facts != NULL)
    *facts = *object->facts;
  if (object->core != NULL) { /* it is none of the meshes that look like it */
    uint64_t bits;
    memcpy(&bits, &object->radius, sizeof bits);
    facts->hash = mix(facts->hash ^ bits);
  }
  return report_is_present(object);
}

static double diagonal(const graze_report_object *object) {
  graze_mesh_facts facts;
  if (!gz_report_object_facts(object, &facts)) return 0;
  double sum = 0;
  for (int k = 0; k < 3; k++) sum = hypot(sum, fmax(facts.box.max[k] - facts.box.min[k], 0));
  return sum;
}

double gz_report_place_cell(const graze_report_object *a, const graze_report_object *b) {
  double size_a = diagonal(a), size_b = diagonal(b);
  double smaller = size_a > 0 && size_b > 0 ? fmin(size_a, size_b) : fmax(size_a, size_b);
  return smaller > 0 && isfinite(smaller) ? exp2(round(log2(smaller / 4))) : 1;
}

bool gz_report_object_box(const graze_report_object *object, graze_box *box) {
  graze_mesh_facts facts;
  if (!gz_report_object_facts(object, &facts)) return false;
  if (graze_box_is_empty(&facts.box)) return false;
  *box = graze_box_empty();
  for (int corner = 0; corner < 8; corner++) {
    double point[3];
    for (int k = 0; k < 3; k++) point[k] = corner >> k & 1 ? facts.box.max[k] : facts.box.min[k];
    graze_pose_apply(&object->pose, point, point);
    graze_box_add_point(box, point);
  }
  return true;
}

/* A clash that is being named. */
typedef struct named {
  const char *low, *high; /* names in order */
  uint32_t clash;
  double cell[3], point[3]; /* 0 where they are not known */
  uint64_t hash;
} named;

static void find_cell(const graze_report_object *objects, const graze_report_clash *clash, named *entry) {
  const graze_report_object *a = &objects[clash->a], *b = &objects[clash->b];
  double size = gz_report_place_cell(a, b);
  graze_box box;
  bool placed = gz_report_object_box(strcmp(a->name, b->name) < 0 ? a : b, &box);
  for (int k = 0; k < 3; k++) {
    double origin = placed ? box.min[k] / 2 + box.max[k] / 2 : 0;
    double cell = floor((clash->point[k] - origin) / size + 0.5);
    entry->cell[k] = isfinite(cell) ? cell + 0.0 : 0; /* + 0.0: no minus zero */
    entry->point[k] = isfinite(clash->point[k]) ? clash->point[k] : 0;
  }
}

static int compare_doubles(const double *a, const double *b) {
  for (int k = 0; k < 3; k++) {
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  }
  return 0;
}

static int compare_names(const named *x, const named *y) {
  int order = strcmp(x->low, y->low);
  return order != 0 ? order : strcmp(x->high, y->high);
}

/* By names, then by place: whatever order the report has. */
static int compare_named(const void *a, const void *b) {
  const named *x = a, *y = b;
  int order = compare_names(x, y);
  if (order == 0) order = compare_doubles(x->cell, y->cell);
  if (order == 0) order = compare_doubles(x->point, y->point);
  return order != 0 ? order : (x->hash > y->hash) - (x->hash < y->hash);
}

/* ---- ids ---- */

/* Names the clashes of one pair of objects: entries [first, end). */
static void name_pair(named *list, uint32_t first, uint32_t end, gz_map *taken, graze_report_clash *clashes) {
  for (uint32_t i = first; i < end; i++) {
    graze_report_clash *clash = &clashes[list[i].clash];
    size_t place = end - first > 1 ? sizeof list[i].cell : 0;
    uint32_t salt = 0;
    do {
      gz_report_make_id(list[i].low, list[i].high, list[i].cell, place, salt++, clash->id);
    } while (gz_map_find(taken, gz_report_id_key(clash->id)) != NULL);
    gz_map_add(taken, gz_report_id_key(clash->id), list[i].clash);
  }
}

static graze_status check_numbers(const graze_context *context, const graze_report_object *objects,
                                  uint32_t object_count, const graze_report_clash *clashes, uint32_t clash_count) {
  bool whole = (objects != NULL || object_count == 0) && (clashes != NULL || clash_count == 0);
  if (!whole) return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "a count without a list");
  for (uint32_t i = 0; i < object_count; i++) {
    if (objects[i].name != NULL) continue;
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "", "objects[%lu] has no name", (unsigned long)i);
  }
  for (uint32_t i = 0; i < clash_count; i++) {
    if (clashes[i].a < clashes[i].b && clashes[i].b < object_count) continue;
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, "report", "",
                         "clashes[%lu]: its objects are not two of the report", (unsigned long)i);
  }
  return GRAZE_OK;
}

graze_status graze_report_identify(graze_context *context, const graze_report_object *objects, uint32_t object_count,
                                   graze_report_clash *clashes, uint32_t clash_count) {
  gz_map taken = {0};
  graze_status status = check_numbers(context, objects, object_count, clashes, clash_count);
  if (status != GRAZE_OK) return status;
  named *list = gz_new_zeroed(context, (size_t)clash_count + 1, sizeof *list);
  if (list == NULL || !gz_map_open(context, &taken, clash_count)) {
    gz_free(list);
    return gz_report_fail_memory(context, "report");
  }
  for (uint32_t i = 0; i < clash_count; i++) {
    const char *a = objects[clashes[i].a].name, *b = objects[clashes[i].b].name;
    bool swap = strcmp(a, b) > 0;
    list[i] = (named){swap ? b : a, swap ? a : b, i, {0}, {0}, clashes[i].counts.hash};
    find_cell(objects, &clashes[i], &list[i]);
  }
  qsort(list, clash_count, sizeof *list, compare_named);
  for (uint32_t first = 0, end = 0; first < clash_count; first = end) {
    while (end < clash_count && compare_names(&list[first], &list[end]) == 0) end++;
    name_pair(list, first, end, &taken, clashes);
  }
  gz_free(list);
  gz_map_close(&taken);
  return GRAZE_OK;
}

/* ---- names ---- */

bool gz_report_names_open(const graze_context *context, report_names *list, const char *const *names, uint32_t count) {
  *list = (report_names){.repeated = UINT32_MAX};
  for (uint32_t i = 0; i < count; i++) {
    const gz_text_entry *entry = gz_text_map_add(context, &list->map, names[i], strlen(names[i]), i);
    if (entry == NULL) {
      gz_report_names_close(list);
      return false;
    }
    if (entry->value != i && list->repeated == UINT32_MAX) list->repeated = i;
  }
  return true;
}

bool gz_report_object_names_open(const graze_context *context, report_names *list, const graze_report_object *objects,
                                 uint32_t count) {
  const char **names = gz_new(context, (size_t)count + 1, sizeof *names);
  if (names == NULL) return false;
  for (uint32_t i = 0; i < count; i++) names[i] = objects[i].name;
  bool good = gz_report_names_open(context, list, names, count);
  gz_free(names);
  return good;
}

void gz_report_names_close(report_names *list) {
  gz_text_map_close(&list->map);
}

uint32_t gz_report_names_find(const report_names *list, const char *name) {
  const gz_text_entry *entry = gz_text_map_find(&list->map, name, strlen(name));
  return entry != NULL ? entry->value : UINT32_MAX;
}
