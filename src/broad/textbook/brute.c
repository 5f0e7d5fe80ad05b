/* Every pair of boxes, 16 at a time over packed floats. O(n^2) time, 28 bytes a box. Below some hundred boxes the
 * quickest way to the answer. Without SIMD: every pair of the caller's own numbers, which is the definition of it. */
#include <math.h>

#include "base/cpu.h"
#include "broad/packed.h"

typedef struct brute {
  buffer memory;
} brute;

static graze_status find_plainly(const broad_view *view, pair_list *out) {
  for (uint32_t a = 0; a < view->count; a++) {
    if (!view_takes(view, a)) continue;
    for (uint32_t b = a + 1; b < view->count; b++) {
      if (view_meet(view, a, b) && !pair_list_push(view->context, out, a, b)) return GRAZE_ERROR_MEMORY;
    }
  }
  return GRAZE_OK;
}

#if defined(__x86_64__)

static bool lay_out(const graze_context *context, buffer *memory, uint32_t count, packed_rows *rows) {
  size_t room = ((size_t)count + PACKED_LANES) / PACKED_LANES * PACKED_LANES;
  if (!gz_buffer_reserve(context, memory, 7 * room * sizeof(float), 0)) return false;
  float *at = memory->data;
  for (int k = 0; k < 3; k++) {
    rows->low[k] = at + (size_t)k * room;
    rows->high[k] = at + (size_t)(3 + k) * room;
  }
  rows->slots = (uint32_t *)(at + 6 * room);
  return true;
}

static uint32_t pack(const broad_view *view, packed_rows *rows) {
  uint32_t count = 0;
  bool rounded = false;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (!view_takes(view, slot)) continue;
    float box[6];
    rounded |= pack_box(view, slot, box);
    for (int k = 0; k < 3; k++) {
      rows->low[k][count] = box[k];
      rows->high[k][count] = box[3 + k];
    }
    rows->slots[count++] = slot;
  }
  rows->rounded = rounded;
  for (uint32_t i = count; i % PACKED_LANES != 0; i++) { /* what is behind the last box meets nothing */
    for (int k = 0; k < 3; k++) {
      rows->low[k][i] = INFINITY;
      rows->high[k][i] = -INFINITY;
    }
  }
  return count;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  if (gz_cpu_best() == CPU_SCALAR) return find_plainly(view, out);
  brute *b = state;
  packed_rows rows = {.home = NULL};
  if (!lay_out(view->context, &b->memory, view->count, &rows)) return GRAZE_ERROR_MEMORY;
  uint32_t count = pack(view, &rows);
  packed_all_function *all = gz_cpu_best() == CPU_AVX512 ? gz_packed_all_avx512 : gz_packed_all_avx2;
  return all(&rows, count, view, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

#else

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  (void)state;
  return find_plainly(view, out);
}

#endif

static void release(const graze_context *context, void *state) {
  brute *b = state;
  gz_buffer_release(context, &b->memory);
}

static size_t bytes(const void *state) {
  const brute *b = state;
  return b->memory.bytes;
}

const broad_method gz_broad_brute = {.info = {"brute", "every pair of boxes", "O(n^2)", false},
                                     .state_bytes = sizeof(brute),
                                     .find = find,
                                     .release = release,
                                     .bytes = bytes};
