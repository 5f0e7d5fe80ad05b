/* Lists of near slots; see near.h. */
#include "broad/near.h"

static bool reserve_entries(const graze_context *context, near_lists *lists, uint64_t entries, uint64_t keep) {
  return buffer_reserve(context, &lists->partners, (size_t)entries * sizeof(uint32_t),
                        (size_t)keep * sizeof(uint32_t)) &&
         buffer_reserve(context, &lists->places, (size_t)entries * sizeof(uint32_t), (size_t)keep * sizeof(uint32_t));
}

static void put(const near_lists *lists, near_head *head, uint32_t entry, uint32_t place) {
  near_partners(lists, head)[head->count] = entry;
  near_places(lists, head)[head->count] = place;
  head->count++;
}

bool near_fill(const graze_context *context, near_lists *lists, const pair_list *pairs, uint32_t slots) {
  const graze_box_pair *p = pair_list_data(pairs);
  if (!buffer_reserve(context, &lists->heads, slots * sizeof(near_head), 0)) return false;
  near_head *heads = lists->heads.data;
  for (uint32_t i = 0; i < slots; i++) heads[i] = (near_head){0, 0, 0};
  for (uint64_t i = 0; i < pairs->count; i++) {
    heads[p[i].a].room++;
    heads[p[i].b & ~NEAR_MET].room++;
  }
  uint64_t end = 0;
  for (uint32_t i = 0; i < slots; i++) {
    heads[i].start = end;
    heads[i].room += heads[i].room / 4 + 2; /* so that most come and go without a move of the list */
    end += heads[i].room;
  }
  lists->end = 0;
  if (!reserve_entries(context, lists, end, 0)) return false;
  lists->end = end;
  for (uint64_t i = 0; i < pairs->count; i++) {
    near_head *a = &heads[p[i].a], *b = &heads[p[i].b & ~NEAR_MET];
    uint32_t place_a = a->count, place_b = b->count;
    put(lists, a, p[i].b, place_b);
    put(lists, b, p[i].a | (p[i].b & NEAR_MET), place_a);
  }
  return true;
}

bool near_grow(const graze_context *context, near_lists *lists, uint32_t slots, uint32_t known) {
  if (!buffer_reserve(context, &lists->heads, slots * sizeof(near_head), known * sizeof(near_head))) return false;
  for (uint32_t i = known; i < slots; i++) *near_of(lists, i) = (near_head){0, 0, 0};
  return true;
}

/* Room for one more entry; a list that is full moves to the end. */
static bool make_room(const graze_context *context, near_lists *lists, near_head *head) {
  if (head->count < head->room) return true;
  uint32_t room = 2 * head->room + 4;
  if (room > UINT32_MAX / 2 || !reserve_entries(context, lists, lists->end + room, lists->end)) return false;
  near_head moved = {lists->end, 0, room};
  const uint32_t *partners = near_partners(lists, head), *places = near_places(lists, head);
  for (uint32_t i = 0; i < head->count; i++) put(lists, &moved, partners[i], places[i]);
  lists->end += room;
  *head = moved;
  return true;
}

bool near_link(const graze_context *context, near_lists *lists, uint32_t a, uint32_t b, bool met) {
  near_head *in_a = near_of(lists, a), *in_b = near_of(lists, b);
  if (!make_room(context, lists, in_a) || !make_room(context, lists, in_b)) return false;
  uint32_t place_a = in_a->count, place_b = in_b->count, bit = met ? NEAR_MET : 0;
  put(lists, in_a, b | bit, place_b);
  put(lists, in_b, a | bit, place_a);
  return true;
}

/* One half: the last entry takes the place, and its other half gets to know. */
static void drop(near_lists *lists, uint32_t slot, uint32_t place) {
  near_head *head = near_of(lists, slot);
  uint32_t *partners = near_partners(lists, head), *places = near_places(lists, head);
  uint32_t last = --head->count;
  if (place == last) return;
  partners[place] = partners[last];
  places[place] = places[last];
  near_places(lists, near_of(lists, partners[place] & ~NEAR_MET))[places[place]] = place;
}

void near_unlink(near_lists *lists, uint32_t a, uint32_t place) {
  near_head *head = near_of(lists, a);
  uint32_t b = near_partners(lists, head)[place] & ~NEAR_MET, other = near_places(lists, head)[place];
  drop(lists, b, other);
  drop(lists, a, place);
}

void near_note(near_lists *lists, uint32_t a, uint32_t place, bool met) {
  near_head *head = near_of(lists, a);
  uint32_t *entry = &near_partners(lists, head)[place], bit = met ? NEAR_MET : 0;
  uint32_t *other = &near_partners(lists, near_of(lists, *entry & ~NEAR_MET))[near_places(lists, head)[place]];
  *entry = (*entry & ~NEAR_MET) | bit;
  *other = (*other & ~NEAR_MET) | bit;
}

bool near_met(const near_lists *lists, uint32_t a, uint32_t b) {
  const near_head *in_a = near_of(lists, a), *in_b = near_of(lists, b);
  const near_head *shorter = in_a->count < in_b->count ? in_a : in_b;
  const uint32_t *partners = near_partners(lists, shorter), wanted = (shorter == in_a ? b : a) | NEAR_MET;
  for (uint32_t i = 0; i < shorter->count; i++) {
    if (partners[i] == wanted) return true;
  }
  return false;
}

void near_release(const graze_context *context, near_lists *lists) {
  buffer_release(context, &lists->heads);
  buffer_release(context, &lists->partners);
  buffer_release(context, &lists->places);
}

size_t near_bytes(const near_lists *lists) {
  return lists->heads.bytes + lists->partners.bytes + lists->places.bytes;
}
