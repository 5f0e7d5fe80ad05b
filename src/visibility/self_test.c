/* A device held against the reference: triangles of all kinds, each in a cell of one picture, so that what is kept of a
 * pixel is of few of them, and very large ones in pictures of their own. */
#include "visibility/self_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/owned.h"

enum {
  ROW = 32, /* cells of the large picture */
  CELL = 8, /* pixels */
  SIDE = ROW * CELL,
  CELLS = ROW * ROW,
  LAYERS = 3, /* triangles in a cell: two are put, one is tested */
  OWN = 96,   /* pictures of one triangle */
  OWN_SIDE = 64,
  LARGE = 8, /* as many of them are larger, so that each way to draw has work */
  LARGE_SIDE = 160,
  STEPS = 48, /* of a sequence; a multiple of the layers */
  TRIANGLES = LAYERS * CELLS + OWN,
  PIXELS = SIDE * SIDE + OWN * OWN_SIDE * OWN_SIDE + LARGE * LARGE_SIDE * LARGE_SIDE
};

typedef struct trial {
  float corners[9 * TRIANGLES];
  visibility_picture pictures[1 + OWN]; /* the large one first */
  uint32_t list[TRIANGLES];
  visibility_draw puts[1 + OWN], test;
  visibility_step steps[STEPS];
} trial;

typedef struct outcome {
  float lo[PIXELS], hi[PIXELS];
  uint8_t flags[2 * TRIANGLES]; /* of the test and of the sequence */
} outcome;

static float uniform(uint64_t *state) {
  *state = splitmix64(*state);
  return (float)(*state >> 40) * 0x1p-24f;
}

/* Corners in [0, 1]^3. */
static void make_any(float p[9], uint64_t *state) {
  for (int i = 0; i < 9; i++) p[i] = uniform(state);
}

/* Corner `to` somewhere on the line through the other two, and off it by `off`. */
static void put_on_line(float p[9], float off, uint64_t *state) {
  float share = 2 * uniform(state) - 0.5f;
  for (int k = 0; k < 3; k++) p[6 + k] = p[k] + share * (p[3 + k] - p[k]) + off * (uniform(state) - 0.5f);
}

static void scale(float p[9], float size, uint64_t *state) {
  for (int k = 0; k < 3; k++) {
    float middle = uniform(state);
    for (int i = k; i < 9; i += 3) p[i] = middle + size * (p[i] - 0.5f);
  }
}

static void round_to(float p[9], float step) {
  for (int i = 0; i < 9; i++) p[i] = roundf(p[i] / step) * step;
}

/* Those that fit into a cell. `w` is the axis of the picture. */
static void make_small(float p[9], uint32_t kind, uint32_t w, uint64_t *state) {
  make_any(p, state);
  switch (kind) {
    case 0:
      break;
    case 1:
      scale(p, 0.08f, state);
      break;
    case 2:
      put_on_line(p, 1e-6f, state);
      break;
    case 3:
      p[(w + 1) % 3] = p[3 + (w + 1) % 3] = p[6 + (w + 1) % 3];
      break; /* seen from its edge */
    case 4:
      round_to(p, 1.0f / CELL);
      break;
    case 5:
      memcpy(p + 3, p, 3 * sizeof *p);
      break; /* a segment */
    case 6:
      memcpy(p + 3, p, 3 * sizeof *p), memcpy(p + 6, p, 3 * sizeof *p);
      break;
    case 7:
      round_to(p, 0.25f / CELL), p[w] = p[3 + w] = p[6 + w] = roundf(32 * p[w]) / 32;
      break;
    default:
      put_on_line(p, 0, state);
      break;
  }
}

/* Those that reach far out of their picture, or have no size that numbers can tell. */
static void make_own(float p[9], uint32_t kind, uint32_t w, uint64_t *state) {
  make_small(p, kind / 4 % 9, w, state);
  switch (kind % 4) {
    case 0:
      scale(p, 1e5f, state);
      break;
    case 1:
      scale(p, 30, state);
      break;
    case 2:
      scale(p, kind % 8 < 4 ? 0x1p-140f : 0x1p-70f, state);
      break;
    default:
      if (kind % 32 == 3) p[kind % 9] = kind % 64 < 32 ? INFINITY : 0x1p120f;
      break;
  }
}

static void make_pictures(trial *t) {
  t->pictures[0] = (visibility_picture){1, SIDE, SIDE, {0.125f, 0.0625f, -0.1f}, {CELL, 1.0f, CELL}};
  for (uint32_t i = 0; i < OWN; i++) {
    visibility_picture *p = &t->pictures[1 + i];
    *p = (visibility_picture){i % 3, 1 + i % OWN_SIDE, 1 + 7 * i % OWN_SIDE, {0.01f, 0, -0.02f}, {0, 0, 0}};
    if (i >= OWN - LARGE) p->width = p->height = LARGE_SIDE;
    p->scale[i % 3] = 0.93f;
    p->scale[(i + 1) % 3] = 0.9f * (float)p->width;
    p->scale[(i + 2) % 3] = 1.1f * (float)p->height;
  }
}

static void make_trial(trial *t) {
  uint64_t state = 1;
  make_pictures(t);
  for (uint32_t i = 0; i < TRIANGLES; i++) {
    float *p = t->corners + 9 * (size_t)i;
    t->list[i] = i;
    if (i >= LAYERS * CELLS) {
      make_own(p, i - LAYERS * CELLS, (i - LAYERS * CELLS) % 3, &state);
      t->puts[1 + i - LAYERS * CELLS] = (visibility_draw){1 + i - LAYERS * CELLS, i, 1};
      continue;
    }
    make_small(p, i % 9, 1, &state);
    for (int k = 0; k < 9; k += 3) { /* seen along y: z goes right, x up */
      p[k + 2] += (float)(i % ROW);
      p[k] += (float)(i / ROW % ROW);
    }
  }
  t->puts[0] = (visibility_draw){0, 0, 2 * CELLS};
  t->test = (visibility_draw){0, 2 * CELLS, CELLS};
  for (uint32_t i = 0; i < STEPS; i++) { /* objects of layers in turn */
    uint32_t count = LAYERS * CELLS / STEPS, first = i % LAYERS * CELLS + i / LAYERS * count;
    t->steps[i] = (visibility_step){{0, first, count}, {0, first, count}};
  }
}

static graze_status read_all(visibility_device *device, const trial *t, outcome *out) {
  graze_status status = GRAZE_OK;
  size_t at = 0;
  for (uint32_t i = 0; status == GRAZE_OK && i <= OWN; i++) {
    status = device->read(device, i, out->lo + at, out->hi + at);
    at += (size_t)t->pictures[i].width * t->pictures[i].height;
  }
  return status;
}

static graze_status run(visibility_device *device, const trial *t, outcome *out) {
  const visibility_triangles triangles = {.corners = t->corners, .count = TRIANGLES, .error = 1e-6f};
  graze_status status = device->load(device, &triangles);
  if (status == GRAZE_OK) status = device->begin(device, t->pictures, 1 + OWN);
  if (status == GRAZE_OK) status = device->put(device, t->puts, 1 + OWN, t->list, TRIANGLES);
  if (status == GRAZE_OK) status = device->test(device, &t->test, 1, t->list, TRIANGLES, out->flags);
  if (status == GRAZE_OK) {
    status = device->sequence(device, &t->pictures[0], VISIBILITY_BOUNDS, t->steps, STEPS, t->list, TRIANGLES,
                              out->flags + TRIANGLES);
  }
  return status == GRAZE_OK ? read_all(device, t, out) : status;
}

static graze_status compare(const outcome *got, const outcome *want, char *reason, size_t size) {
  uint32_t bounds = 0, flags = 0;
  for (size_t i = 0; i < PIXELS; i++) bounds += !(got->lo[i] == want->lo[i] && got->hi[i] == want->hi[i]);
  for (size_t i = 0; i < 2 * TRIANGLES; i++) flags += got->flags[i] != want->flags[i];
  if (bounds == 0 && flags == 0) return GRAZE_OK;
  snprintf(reason, size,
           "the device's arithmetic differs from the processor's in the depths of %u pixels and in %u flags", bounds,
           flags);
  return GRAZE_ERROR_UNSUPPORTED;
}

graze_status gz_visibility_self_test(graze_context *context, visibility_device *device, char *reason, size_t size) {
  visibility_device *reference = NULL;
  trial *t = gz_new_zeroed(context, 1, sizeof *t);
  outcome *outcomes = gz_new_zeroed(context, 2, sizeof *outcomes);
  graze_status status = t != NULL && outcomes != NULL ? GRAZE_OK : gz_fail_memory(context, sizeof *t);
  if (status == GRAZE_OK) status = gz_visibility_reference_create(context, &reference);
  if (status == GRAZE_OK) {
    make_trial(t);
    status = run(reference, t, &outcomes[0]);
  }
  if (status == GRAZE_OK) status = run(device, t, &outcomes[1]);
  if (status != GRAZE_OK) snprintf(reason, size, "%s", graze_last_error(context)->message);
  if (status == GRAZE_OK) status = compare(&outcomes[1], &outcomes[0], reason, size);
  if (reference != NULL) reference->destroy(reference);
  gz_free(outcomes);
  gz_free(t);
  return status;
}
