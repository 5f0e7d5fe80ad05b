/* Fragments of an explosion that fly at equipment, of which it is known what they hit first and when.
 *
 * The equipment are boxes along the axes, and all numbers are multiples of 2^-10 m, as integers here. A ball first
 * touches a box where its centre enters the box grown by the radius, if that place is opposite the inside of a face:
 * at a quotient of small integers. A fragment that would enter near an edge or a corner, where the grown box is
 * rounded, or reach two boxes at the same moment, is drawn again; so is one that begins in a grown box. */
#include <stdlib.h>

#include "builder.h"
#include "kinds.h"
#include "random.h"
#include "shapes.h"

enum { UNIT = 1024, OBJECTS = 8 };

typedef struct block {
  const char *name, *layer;
  int low[3], high[3]; /* sixteenths of a metre */
} block;

static const block blocks[OBJECTS] = {
    {"floor", "building", {-96, -64, -4}, {96, 64, 0}},      {"wall", "building", {88, -64, 1}, {92, 64, 64}},
    {"cabinet_1", "equipment", {48, -40, 1}, {64, -24, 32}}, {"cabinet_2", "equipment", {48, -16, 1}, {64, 0, 32}},
    {"cabinet_3", "equipment", {48, 24, 1}, {60, 40, 40}},   {"tank", "equipment", {-72, -24, 1}, {-40, 8, 48}},
    {"beam", "steel", {-96, 28, 44}, {80, 32, 48}},          {"duct", "pipes", {-20, -60, 30}, {-12, 60, 36}}};

/* A time, above / below. */
typedef struct fraction {
  int64_t above, below; /* below > 0 */
} fraction;

static bool is_before(fraction a, fraction b) {
  return a.above * b.below < b.above * a.below;
}

static bool is_same(fraction a, fraction b) {
  return a.above * b.below == b.above * a.below;
}

typedef struct fragment {
  int64_t from[3], to[3], radius;
} fragment;

typedef enum entry { MISSES, HITS, UNCLEAR } entry;

/* When the centre enters the grown box, and through which face. */
static entry enter(const fragment *f, const block *b, fraction *time) {
  fraction in = {0, 1}, out = {1, 1};
  int face = -1;
  for (int k = 0; k < 3; k++) {
    const int64_t low = (int64_t)b->low[k] * 64 - f->radius, high = (int64_t)b->high[k] * 64 + f->radius;
    const int64_t way = f->to[k] - f->from[k], sign = way < 0 ? -1 : 1, length = way * sign;
    const int64_t first = sign > 0 ? low - f->from[k] : f->from[k] - high;
    const int64_t last = sign > 0 ? high - f->from[k] : f->from[k] - low;
    if (length == 0) {
      if (first > 0 || last < 0) return MISSES;
      continue;
    }
    const fraction enters = {first, length}, leaves = {last, length};
    if (face < 0 ? !is_before(enters, in) : is_before(in, enters)) {
      in = enters;
      face = k;
    }
    if (is_before(leaves, out)) out = leaves;
  }
  if (is_before(out, in)) return MISSES;
  if (face < 0) return UNCLEAR; /* it begins inside */
  for (int k = 0; k < 3; k++) {
    const int64_t place = f->from[k] * in.below + (f->to[k] - f->from[k]) * in.above;
    if (k != face && (place < (int64_t)b->low[k] * 64 * in.below || place > (int64_t)b->high[k] * 64 * in.below))
      return UNCLEAR;
  }
  *time = in;
  return HITS;
}

/* False: it is not clear what the fragment hits first. */
static bool decide(const fragment *f, uint32_t *object, fraction *time) {
  *object = SCENES_DEBRIS_MISSES;
  for (uint32_t i = 0; i < OBJECTS; i++) {
    fraction found;
    const entry how = enter(f, &blocks[i], &found);
    if (how == UNCLEAR) return false;
    if (how == MISSES) continue;
    if (*object != SCENES_DEBRIS_MISSES && is_same(found, *time)) return false;
    if (*object != SCENES_DEBRIS_MISSES && !is_before(found, *time)) continue;
    *object = i;
    *time = found;
  }
  return true;
}

static int64_t draw(random_stream *random, int low, int high) {
  return low * (int64_t)64 + stream_below(random, (uint32_t)(high - low) * 64 + 1);
}

/* From about the middle of the explosion to anywhere about the building; one in three is a point. */
static fragment draw_fragment(random_stream *random) {
  static const int low[3] = {-128, -96, -24}, high[3] = {128, 96, 96};
  fragment f;
  f.from[0] = draw(random, -6, 2);
  f.from[1] = draw(random, -4, 4);
  f.from[2] = draw(random, 10, 18);
  for (int k = 0; k < 3; k++) f.to[k] = draw(random, low[k], high[k]);
  f.radius = stream_below(random, 3) == 0 ? 0 : 1 + stream_below(random, 32);
  return f;
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void put_fragment(const fragment *f, uint32_t object, fraction time, uint32_t i, scenes_debris *debris) {
  for (int k = 0; k < 3; k++) {
    debris->start[3 * (size_t)i + (size_t)k] = (double)f->from[k] / UNIT;
    debris->end[3 * (size_t)i + (size_t)k] = (double)f->to[k] / UNIT;
  }
  debris->radii[i] = (double)f->radius / UNIT;
  debris->objects[i] = object;
  if (object == SCENES_DEBRIS_MISSES) return;
  const int64_t divisor = common_divisor(time.above, time.below);
  debris->times[2 * (size_t)i] = time.above / divisor;
  debris->times[2 * (size_t)i + 1] = time.below / divisor;
}

static bool add_block(const block *b, uint32_t size, scenes_scene *scene) {
  double low[3], high[3];
  builder build = {0};
  const uint32_t cuts[3] = {size, size, size};
  uint32_t mesh;
  for (int k = 0; k < 3; k++) {
    low[k] = b->low[k] / 16.0;
    high[k] = b->high[k] / 16.0;
  }
  shape_box(&build, low, high, cuts);
  builder_weld(&build);
  return scene_take_mesh(scene, &build, b->name, &mesh) &&
         scene_add_object(scene, b->name, b->layer, mesh, identity_pose);
}

bool scenes_debris_make(uint32_t count, uint32_t size, uint64_t seed, scenes_scene *scene, scenes_debris *debris) {
  random_stream random = {seed};
  *scene = (scenes_scene){0};
  *debris = (scenes_debris){.count = count};
  debris->start = malloc(3 * (size_t)count * sizeof *debris->start + 1);
  debris->end = malloc(3 * (size_t)count * sizeof *debris->end + 1);
  debris->radii = malloc(count * sizeof *debris->radii + 1);
  debris->objects = malloc(count * sizeof *debris->objects + 1);
  debris->times = calloc(2 * (size_t)count + 1, sizeof *debris->times);
  bool good = debris->start && debris->end && debris->radii && debris->objects && debris->times;
  for (int i = 0; i < OBJECTS && good; i++) good = add_block(&blocks[i], size, scene);
  for (uint32_t i = 0; i < count && good; i++) {
    fragment f;
    uint32_t object = SCENES_DEBRIS_MISSES;
    fraction time = {0, 1};
    do f = draw_fragment(&random);
    while (!decide(&f, &object, &time));
    put_fragment(&f, object, time, i, debris);
  }
  if (!good) {
    scenes_free(scene);
    scenes_debris_free(debris);
  }
  return good;
}

void scenes_debris_free(scenes_debris *debris) {
  free(debris->start);
  free(debris->end);
  free(debris->radii);
  free(debris->objects);
  free(debris->times);
  *debris = (scenes_debris){0};
}
