/* history.h: what identify, merge_previous, group and reuse share; private to report. */
#ifndef GRAZE_REPORT_HISTORY_H
#define GRAZE_REPORT_HISTORY_H

#include <jansson.h>

#include "base/map.h"
#include "fault.h"

/* ---- identity ---- */

/* The id of a clash of two names, in either order. `place`: `size` bytes that tell clashes of the same two apart. */
void gz_report_make_id(const char *first, const char *second, const void *place, size_t size, uint32_t salt,
                       char id[24]);

/* The key of an id in a map. */
uint64_t gz_report_id_key(const char *id);

/* Width of a cell of the grid of places: the power of two next to a quarter of the smaller object's diagonal. */
double gz_report_place_cell(const graze_report_object *a, const graze_report_object *b);

/* Is the object in the scene, or known by name only? */
static inline bool report_is_present(const graze_report_object *object) {
  return object->mesh != NULL || object->facts != NULL;
}

/* False: it is known by name only. */
bool gz_report_object_facts(const graze_report_object *object, graze_mesh_facts *facts);

/* Box of an object in the world; false: it has none. */
bool gz_report_object_box(const graze_report_object *object, graze_box *box);

/* ---- names ---- */

typedef struct report_names { /* numbers by name */
  gz_text_map map;
  uint32_t repeated; /* the first number whose name occurs before; UINT32_MAX = none */
} report_names;

/* The names stay the caller's. False: out of memory. */
bool gz_report_names_open(const graze_context *context, report_names *list, const char *const *names, uint32_t count);
void gz_report_names_close(report_names *list);

/* The number of the name; UINT32_MAX = it is not there. Of names that occur twice, the first. */
uint32_t gz_report_names_find(const report_names *list, const char *name);

bool gz_report_object_names_open(const graze_context *context, report_names *list, const graze_report_object *objects,
                                 uint32_t count);

/* ---- the earlier report ---- */

typedef struct report_previous_object {
  const char *name, *layer, *file;
  bool hashed, told; /* told: closed and solid are */
  bool closed;
  graze_solid_facts solid;
  uint64_t mesh_hash, pose_hash;
} report_previous_object;

struct graze_report_previous {
  json_t *root; /* owns the strings */
  char **texts; /* strings of marks files */
  uint32_t text_count;
  const char *version, *exactness, *units, *created;
  bool complete;
  report_previous_object *objects;
  uint32_t object_count;
  report_names names;
  gz_map meshes; /* hash of a mesh to the object that tells of it, UINT32_MAX: none, or not all tell the same */
  const char **rules;
  uint32_t rule_count;
  graze_report_previous_clash *clashes;
  uint32_t clash_count;
  uint32_t (*clash_objects)[2]; /* numbers of the earlier objects, UINT32_MAX = not among them (resolved ones) */
};

bool gz_report_is_mark(const char *mark);

#endif
