/* cull.h: a cull as its methods see it. */
#ifndef GRAZE_SRC_VISIBILITY_CULL_H
#define GRAZE_SRC_VISIBILITY_CULL_H

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "graze/visibility.h"
#include "visibility/device.h"

/* The space of the pictures: x' = (x - origin) unit, unit a power of two, so that everything that was loaded is within
 * [-1, 1]. There floats are within VISIBILITY_ERROR of posed coordinates: half a unit in the last place, and the
 * rounding of a difference of doubles. */
#define VISIBILITY_ERROR 0x1.01p-25f

/* So much wider are boxes in that space, for what was rounded on the way to them and for what is compared with them. */
#define VISIBILITY_WIDEN 0x1p-22f

enum { VISIBILITY_BLOCK = 64 }; /* triangles that share a box */

typedef struct visibility_object {
  const char *vertices;
  size_t stride;
  const uint32_t *indices; /* NULL: a soup */
  const graze_pose *pose;  /* NULL: the identity */
  uint32_t count;          /* of triangles */
  bool is_double;
  bool judged;          /* its posed coordinates are finite */
  bool paired;          /* its box meets another one; with triangles and judged it is loaded, */
  uint32_t first;       /* from this number on, */
  uint32_t first_block; /* and its blocks from this one on */
  graze_box box;
} visibility_object;

typedef struct visibility_box {
  float low[3], high[3];
} visibility_box;

/* Memory that is kept from cull to cull. */
enum {
  ROOM_OBJECTS,
  ROOM_RUNS,
  ROOM_BOXES,
  ROOM_PAIRS,
  ROOM_KEYS,
  ROOM_CORNERS,
  ROOM_FAT,
  ROOM_BLOCKS,
  ROOM_FLAGS,
  ROOM_LIST,
  ROOM_DRAWS,
  ROOM_PICTURES,
  ROOM_STATES,
  ROOM_WORK,
  ROOM_LISTS,
  ROOM_CELLS,
  ROOM_NUMBERS,
  ROOM_LEFT_PAIRS,
  ROOM_LEFT_OBJECTS,
  ROOM_LEFT_TRIANGLES,
  ROOM_PASSES,
  ROOM_IMAGE,
  ROOM_PARTS,
  ROOM_SIEVES,
  ROOM_ASKED_OBJECTS,
  ROOM_ASKED_PAIRS,
  ROOM_CONTACTS,
  ROOM_DECIDED_FIRST,
  ROOM_DECIDED_BOXES,
  ROOM_DECIDED_TASKS,
  ROOM_DECIDED_THIN,
  ROOM_DECIDED_LIST,
  ROOM_DECIDED_KEYS,
  ROOM_PATCHES,
  ROOM_PATCH_ARRAYS,
  ROOM_PATCH_ORDER,
  ROOM_PATCH_INDICES,
  ROOM_PATCH_PAIRS,
  ROOMS
};

struct graze_visibility {
  graze_context *context;
  graze_visibility_info info;
  visibility_device *device;
  graze_broadphase *broad;
  buffer rooms[ROOMS];
  struct visibility_decider *deciders; /* decide.c: of the workers; NULL: not needed yet */

  struct visibility_attachment *attachment; /* attach.c; NULL: it is no engine */

  /* One cull. */
  const graze_visibility_def *def;
  visibility_object *objects;
  graze_box_pair *pairs; /* of objects with triangles and with boxes that meet, sorted */
  uint64_t pair_count;
  double origin[3], unit;
  float *corners; /* of loaded triangles */
  uint32_t triangle_count;
  visibility_box *blocks;
  uint32_t block_count;
  const uint32_t *numbers; /* 0, 1, 2 ... as far as the largest object goes */
  uint64_t pass_total;     /* passes that are known of, for progress */
  bool frugal;             /* what is left is decided: pictures end where that takes less */
  bool load_all;           /* objects without pairs are loaded too */
  bool blind;              /* the caller has seen enough pictures */
  graze_visibility_result result;
};

/* Room for `count` elements, of what was there the first `keep`. NULL: refused, and told. */
void *gz_visibility_room(graze_visibility *v, int room, uint64_t count, size_t size, uint64_t keep);

/* Adds the record of a pass that began at `start`, and asks whether to go on. */
graze_status gz_visibility_passed(graze_visibility *v, const graze_visibility_pass *pass, double start);

/* The call without its frame: culls into the result of `v`. It begins with a definition that is checked. */
graze_status gz_visibility_begin(graze_visibility *v, const graze_visibility_def *def);
graze_status gz_visibility_run(graze_visibility *v, const graze_visibility_def *def);

/* collide.c: errors for a mode that loses what meets, and for an object that cannot be judged. */
graze_status gz_visibility_check_reliable(const graze_context *context, graze_visibility_mode mode);
graze_status gz_visibility_refuse_unjudged(const graze_visibility *v);

/* decide.c */
void gz_visibility_release_deciders(graze_visibility *v);

/* The methods: from objects, pairs and loaded triangles to the result's left pairs, with their triangles, and sets. */
graze_status gz_visibility_close(graze_visibility *v);
graze_status gz_visibility_views(graze_visibility *v);

/* cull.c, for the methods' results. Of each object the triangles that are left: all where `whole` is set,
 * else those loaded ones that `left` has. */
graze_status gz_visibility_list_objects(graze_visibility *v, const uint8_t *whole, const uint8_t *left);

/* The same from the pairs of the result. */
graze_status gz_visibility_join_pairs(graze_visibility *v);

/* What was loaded, for the device. */
static inline visibility_triangles visibility_loaded(const graze_visibility *v) {
  return (visibility_triangles){.corners = v->corners, .count = v->triangle_count, .error = VISIBILITY_ERROR};
}

/* The box of a loaded triangle. */
static inline visibility_box visibility_triangle_box(const float *c) {
  visibility_box box;
  for (int k = 0; k < 3; k++) {
    float low = c[k] < c[3 + k] ? c[k] : c[3 + k], high = c[k] < c[3 + k] ? c[3 + k] : c[k];
    box.low[k] = c[6 + k] < low ? c[6 + k] : low;
    box.high[k] = c[6 + k] > high ? c[6 + k] : high;
  }
  return box;
}

static inline bool visibility_boxes_meet(const visibility_box *a, const visibility_box *b) {
  for (int k = 0; k < 3; k++) {
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  }
  return true;
}

static inline void visibility_box_add(visibility_box *box, const visibility_box *other) {
  for (int k = 0; k < 3; k++) {
    box->low[k] = other->low[k] < box->low[k] ? other->low[k] : box->low[k];
    box->high[k] = other->high[k] > box->high[k] ? other->high[k] : box->high[k];
  }
}

static inline visibility_box visibility_box_empty(void) {
  return (visibility_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

/* A picture of `box` along `axis` with all of it inside, in spite of rounding: what is thin on an axis is drawn
 * thicker, as `least` says. */
visibility_picture gz_visibility_picture(const visibility_box *box, uint32_t axis, uint32_t width, uint32_t height,
                                         float least);

#endif
