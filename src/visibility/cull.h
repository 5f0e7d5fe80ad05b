/* cull.h: a cull as its methods see it. */
#ifndef GRAZE_SRC_VISIBILITY_CULL_H
#define GRAZE_SRC_VISIBILITY_CULL_H

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/simd.h"
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
  bool paired;          /* its box meets another one; with triangles and judged it is numbered, */
  bool in_pair;         /* of the pairs that are asked for; */
  bool crowded;         /* of several */
  uint32_t first;       /* from this number on, */
  uint32_t first_block; /* and its blocks from this one on */
  graze_box box;
} visibility_object;

typedef struct visibility_box {
  float low[3], high[3];
} visibility_box;

/* A box in registers; the fourth numbers are zero. */
typedef struct visibility_span {
  v4 low, high;
} visibility_span;

typedef struct visibility_space {
  double origin[3], unit;
} visibility_space;

/* Memory that is kept from cull to cull. */
enum {
  ROOM_OBJECTS,
  ROOM_RUNS,
  ROOM_BOXES,
  ROOM_PAIRS,
  ROOM_KEYS,
  ROOM_CORNERS,
  ROOM_MARKS,
  ROOM_RANKS,
  ROOM_LOADED,
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
  ROOM_DECIDED_CORNERS,
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
  visibility_space space;
  uint32_t triangle_count, block_count; /* of objects with pairs */
  visibility_box *blocks;               /* of crowded objects, or of all unless the mode is CLOSE */
  uint64_t *marks;                      /* by block: which of its triangles are loaded */
  uint32_t *ranks;                      /* by block: how many are before it */
  float *corners;                       /* of loaded triangles */
  uint32_t *loaded;                     /* their numbers in their objects */
  uint32_t loaded_count;
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
  return (visibility_triangles){.corners = v->corners, .count = v->loaded_count, .error = VISIBILITY_ERROR};
}

/* The number, among those that are loaded, of a triangle of an object that is loaded. */
static inline uint32_t visibility_loaded_number(const graze_visibility *v, const visibility_object *o,
                                                uint32_t triangle) {
  const uint32_t block = o->first_block + triangle / VISIBILITY_BLOCK;
  const uint64_t before = v->marks[block] & (((uint64_t)1 << triangle % VISIBILITY_BLOCK) - 1);
  return v->ranks[block] + (uint32_t)__builtin_popcountll(before);
}

static inline visibility_span visibility_span_of(v4 a, v4 b, v4 c) {
  return (visibility_span){v4_min(v4_min(a, b), c), v4_max(v4_max(a, b), c)};
}

static inline visibility_span visibility_span_of_box(const visibility_box *box) {
  return (visibility_span){v4_of(box->low[0], box->low[1], box->low[2]),
                           v4_of(box->high[0], box->high[1], box->high[2])};
}

static inline bool visibility_spans_meet(visibility_span a, visibility_span b) {
  return v4_all((a.low <= b.high) & (b.low <= a.high));
}

static inline visibility_span visibility_spans_join(visibility_span a, visibility_span b) {
  return (visibility_span){v4_min(a.low, b.low), v4_max(a.high, b.high)};
}

static inline visibility_box visibility_box_of(visibility_span span) {
  visibility_box box;
  memcpy(box.low, &span.low, sizeof box.low);
  memcpy(box.high, &span.high, sizeof box.high);
  return box;
}

/* That of a loaded triangle, nine floats. */
static inline visibility_span visibility_triangle_span(const float *c) {
  const v4 a = v4_load(c), b = v4_load(c + 3), end = v4_load(c + 5);
  const v4 last = {end[1], end[2], end[3], 0};
  visibility_span span = visibility_span_of(a, b, last);
  span.low[3] = span.high[3] = 0;
  return span;
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
