/* Three boxes in a row; the middle one moves from the left neighbour to the right one: prints what begins and ends. */
#include <graze/graze.h>
#include <stdio.h>

static void print_pairs(const char *word, const graze_broadphase *broad, const graze_box_pair *pairs, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    printf("  %s: %lu and %lu\n", word, (unsigned long)graze_broadphase_user_id(broad, pairs[i].a),
           (unsigned long)graze_broadphase_user_id(broad, pairs[i].b));
}

int main(void) {
  double boxes[3][6] = {{0, 0, 0, 1, 1, 1}, {1, 0, 0, 2, 1, 1}, {4, 0, 0, 5, 1, 1}}; /* min x y z, max x y z */
  const uint64_t user_ids[3] = {100, 200, 300};
  const graze_box_array all = {.data = boxes, .precision = GRAZE_DOUBLE};
  const graze_box_array middle = {.data = boxes[1], .precision = GRAZE_DOUBLE};
  graze_context *context = NULL;
  graze_broadphase *broad = NULL;
  graze_broad_events events;
  graze_proxy_id proxies[3];

  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = graze_broadphase_create(context, NULL, &broad);
  if (status == GRAZE_OK) status = graze_broadphase_add(broad, &all, 3, user_ids, NULL, proxies);
  for (int step = 0; step < 4 && status == GRAZE_OK; step++) {
    status = graze_broadphase_update(broad, &events);
    if (status != GRAZE_OK) break;
    printf("step %d\n", step);
    print_pairs("began", broad, events.began, events.began_count);
    print_pairs("persist", broad, events.persist, events.persist_count);
    print_pairs("ended", broad, events.ended, events.ended_count);
    boxes[1][0] += 1;
    boxes[1][3] += 1;
    status = graze_broadphase_move(broad, &proxies[1], &middle, 1);
  }
  if (status != GRAZE_OK) fprintf(stderr, "moving_boxes: %s\n", graze_status_string(status));
  graze_broadphase_destroy(broad);
  graze_context_destroy(context);
  return status == GRAZE_OK ? 0 : 3;
}
