/* Every pair of boxes. O(n^2) time, no memory of its own. The definition of the answer; below some hundred boxes also
 * the quickest way to it. */
#include "broad/broad.h"

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  (void)state;
  for (uint32_t a = 0; a < view->count; a++) {
    if (!view_takes(view, a)) continue;
    for (uint32_t b = a + 1; b < view->count; b++) {
      if (view_meet(view, a, b) && !pair_list_push(view->context, out, a, b)) return GRAZE_ERROR_MEMORY;
    }
  }
  return GRAZE_OK;
}

static void release(const graze_context *context, void *state) {
  (void)context;
  (void)state;
}

static size_t bytes(const void *state) {
  (void)state;
  return 0;
}

const broad_method broad_brute = {
    .info = {"brute", "every pair of boxes", "O(n^2)", false}, .find = find, .release = release, .bytes = bytes};
