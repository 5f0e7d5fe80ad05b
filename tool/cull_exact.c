/* The exact answer to a cull: every pair of boxes that meet is decided by the processor. */
#include "cull_exact.h"

#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "graze/collide.h"
#include "session.h"

typedef struct holding {
  graze_context *context;
  const graze_report *all;
  const graze_visibility_result *left;
  const graze_visibility_contacts *contacts; /* NULL: nothing was decided */
  uint64_t next_contact;                     /* that is not behind the pair at hand */
  graze_query *query;
  uint8_t **kept; /* of each object a byte for each triangle: 1 = left, 2 = counted for the pair at hand */
  uint64_t next;  /* left pair that is not behind the pair at hand */
  cull_exact counts;
} holding;

static bool is_left(holding *h, uint32_t a, uint32_t b) {
  for (; h->next < h->left->pair_count; h->next++) {
    const graze_visibility_pair *p = &h->left->pairs[h->next];
    if (p->a == a && p->b == b) return true;
    if (p->a > a || (p->a == a && p->b > b)) return false;
  }
  return false;
}

static void miss(holding *h, uint32_t object, uint32_t triangle) {
  if (h->kept[object][triangle] == 0) {
    h->kept[object][triangle] = 2;
    h->counts.missed_triangles++;
  }
}

static void forget(holding *h, uint32_t object, uint32_t triangle) {
  if (h->kept[object][triangle] == 2) h->kept[object][triangle] = 0;
}

static void take(holding *h, uint32_t a, uint32_t b, const graze_triangle_pair *pairs, uint64_t count) {
  bool left = is_left(h, a, b);
  if (count == 0) {
    h->counts.superfluous_pairs += left;
    return;
  }
  h->counts.missed_pairs += !left;
  for (uint64_t i = 0; i < count; i++) {
    miss(h, a, pairs[i].a);
    miss(h, b, pairs[i].b);
  }
  for (uint64_t i = 0; i < count; i++) {
    forget(h, a, pairs[i].a);
    forget(h, b, pairs[i].b);
  }
}

/* Pairs come sorted, and contacts are. */
static void compare_contact(holding *h, uint32_t a, uint32_t b, const graze_collide_result *found) {
  const graze_visibility_contact none = {0}, *c = &none;
  if (!h->contacts) return;
  if (h->next_contact < h->contacts->count) {
    const graze_visibility_contact *next = &h->contacts->list[h->next_contact];
    if (next->a == a && next->b == b) c = next;
  }
  h->next_contact += c != &none;
  h->counts.differing_pairs +=
      memcmp(&c->counts, &found->counts, sizeof c->counts) != 0 ||
      (c != &none && memcmp(c->pairs, found->pairs, c->counts.triangle_pairs * sizeof *c->pairs) != 0);
}

static void hold_pair(holding *h, uint32_t a, uint32_t b) {
  const graze_report_object *x = &h->all->objects[a], *y = &h->all->objects[b];
  graze_collide_result found;
  must(h->context, graze_collide_meshes(h->query, x->mesh, &x->pose, y->mesh, &y->pose, NULL, &found));
  take(h, a, b, found.pairs, found.counts.triangle_pairs);
  compare_contact(h, a, b, &found);
}

static void hold_alone(holding *h) {
  graze_collide_options all = graze_default_collide_options();
  graze_self_result found;
  all.find = GRAZE_FIND_ALL;
  must(h->context, graze_collide_self(h->query, h->all->objects[0].mesh, &all, &found));
  take(h, 0, 0, found.pairs, found.self_pairs);
}

static void hold_pairs(holding *h) {
  graze_broadphase *broad = NULL;
  graze_box *boxes = malloc((h->all->object_count + (size_t)1) * sizeof *boxes);
  uint32_t *numbers = malloc((h->all->object_count + (size_t)1) * sizeof *numbers), count = 0;
  const graze_box_pair *pairs = NULL;
  uint64_t pair_count = 0;
  if (!boxes || !numbers) fail_out_of_memory();
  for (uint32_t i = 0; i < h->all->object_count; i++) {
    const graze_report_object *o = &h->all->objects[i];
    graze_mesh_facts facts;
    graze_mesh_get_facts(o->mesh, &facts);
    if (facts.triangles == 0) continue;
    boxes[count] = graze_pose_box(&o->pose, &facts.box);
    numbers[count++] = i;
  }
  const graze_box_array array = {.data = boxes, .precision = GRAZE_DOUBLE};
  must(h->context, graze_broadphase_create(h->context, NULL, &broad));
  must(h->context, graze_broadphase_find(broad, &array, count, false, &pairs, &pair_count));
  for (uint64_t i = 0; i < pair_count; i++) hold_pair(h, numbers[pairs[i].a], numbers[pairs[i].b]);
  graze_broadphase_destroy(broad);
  free(numbers);
  free(boxes);
}

cull_exact cull_hold_against_exact(graze_context *context, const graze_report *all, const graze_visibility_result *left,
                                   const graze_visibility_contacts *contacts) {
  holding h = {.context = context, .all = all, .left = left, .contacts = contacts};
  h.kept = calloc(all->object_count + (size_t)1, sizeof *h.kept);
  if (!h.kept) fail_out_of_memory();
  for (uint32_t i = 0; i < all->object_count; i++) {
    h.kept[i] = calloc(graze_mesh_triangle_count(all->objects[i].mesh) + (size_t)1, 1);
    if (!h.kept[i]) fail_out_of_memory();
    for (uint32_t j = 0; j < left->objects[i].count; j++) h.kept[i][left->objects[i].list[j]] = 1;
  }
  must(context, graze_query_create(context, &h.query));
  double start = clock_now();
  if (all->object_count == 1)
    hold_alone(&h);
  else
    hold_pairs(&h);
  clock_add(&h.counts.seconds, start);
  if (contacts) h.counts.differing_pairs += contacts->count - h.next_contact;
  graze_query_destroy(h.query);
  for (uint32_t i = 0; i < all->object_count; i++) free(h.kept[i]);
  free(h.kept);
  return h.counts;
}
