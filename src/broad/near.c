/* Lists of near slots; see near.h. */
#include "broad/near.h"

#include <string.h>

static near_side opposite(near_side side) {
  return side == NEAR_OWN ? NEAR_OTHER : NEAR_OWN;
}

static bool reserve_entries(const graze_context *context, near_lists *lists, near_side side, uint64_t entries,
                            uint64_t keep) {
  return gz_buffer_reserve(context, &lists->entries[side], (size_t)entries * sizeof(near_entry),
                           (size_t)keep * sizeof(near_entry));
}

/* From counts to lists that are empty, with room for the count and a little more. */
static bool lay_out(const graze_context *context, near_lists *lists, near_side side, uint32_t slots) {
  near_head *heads = lists->heads[side].data;
  uint64_t end = 0;
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t room = heads[i].count + heads[i].count / 4 + 1; /* most come and go without a move of the list */
    heads[i] = (near_head){end, 0, room};
    end += room;
  }
  lists->end[side] = 0;
  if (!reserve_entries(context, lists, side, end, 0)) return false;
  lists->end[side] = end;
  return true;
}

bool gz_near_fill(const graze_context *context, near_lists *lists, const pair_list *pairs, uint32_t slots) {
  const graze_box_pair *p = pair_list_data(pairs);
  if (!gz_near_grow(context, lists, slots, 0)) return false;
  near_head *own = lists->heads[NEAR_OWN].data, *other = lists->heads[NEAR_OTHER].data;
  for (uint64_t i = 0; i < pairs->count; i++) {
    own[p[i].a].count++;
    other[p[i].b & ~NEAR_MET].count++;
  }
  if (!lay_out(context, lists, NEAR_OWN, slots) || !lay_out(context, lists, NEAR_OTHER, slots)) return false;
  near_entry *owned = lists->entries[NEAR_OWN].data, *others = lists->entries[NEAR_OTHER].data;
  for (uint64_t i = 0; i < pairs->count; i++) {
    near_head *a = &own[p[i].a], *b = &other[p[i].b & ~NEAR_MET];
    owned[a->start + a->count] = (near_entry){p[i].b, b->count};
    others[b->start + b->count] = (near_entry){p[i].a | (p[i].b & NEAR_MET), a->count};
    a->count++;
    b->count++;
  }
  return true;
}

bool gz_near_grow(const graze_context *context, near_lists *lists, uint32_t slots, uint32_t known) {
  for (int side = 0; side < 2; side++) {
    buffer *heads = &lists->heads[side];
    if (!gz_buffer_reserve(context, heads, slots * sizeof(near_head), known * sizeof(near_head))) return false;
    for (uint32_t i = known; i < slots; i++) ((near_head *)heads->data)[i] = (near_head){0, 0, 0};
  }
  return true;
}

/* Room for one more entry; a list that is full moves to the end. */
static bool make_room(const graze_context *context, near_lists *lists, near_side side, uint32_t slot) {
  near_head *head = near_of(lists, side, slot);
  if (head->count < head->room) return true;
  uint32_t room = 2 * head->room + 4;
  uint64_t end = lists->end[side];
  if (room > UINT32_MAX / 2 || !reserve_entries(context, lists, side, end + room, end)) return false;
  const near_entry *from = near_entries(lists, side, slot);
  if (head->count > 0) memcpy((near_entry *)lists->entries[side].data + end, from, head->count * sizeof *from);
  head->start = end;
  head->room = room;
  lists->end[side] = end + room;
  return true;
}

bool gz_near_link(const graze_context *context, near_lists *lists, uint32_t a, uint32_t b, bool met) {
  if (!make_room(context, lists, NEAR_OWN, a) || !make_room(context, lists, NEAR_OTHER, b)) return false;
  uint32_t place_a = near_of(lists, NEAR_OWN, a)->count++, place_b = near_of(lists, NEAR_OTHER, b)->count++;
  uint32_t bit = met ? NEAR_MET : 0;
  near_entries(lists, NEAR_OWN, a)[place_a] = (near_entry){b | bit, place_b};
  near_entries(lists, NEAR_OTHER, b)[place_b] = (near_entry){a | bit, place_a};
  return true;
}

/* One half: the last entry takes the place, and its other half gets to know. */
static void drop(const near_lists *lists, near_side side, uint32_t slot, uint32_t place) {
  near_entry *entries = near_entries(lists, side, slot);
  uint32_t last = --near_of(lists, side, slot)->count;
  if (place == last) return;
  near_entry moved = entries[place] = entries[last];
  near_entries(lists, opposite(side), moved.partner & ~NEAR_MET)[moved.place].place = place;
}

void gz_near_unlink(near_lists *lists, near_side side, uint32_t a, uint32_t place) {
  near_entry entry = near_entries(lists, side, a)[place];
  drop(lists, opposite(side), entry.partner & ~NEAR_MET, entry.place);
  drop(lists, side, a, place);
}

void gz_near_note(near_lists *lists, near_side side, uint32_t a, uint32_t place, bool met) {
  near_entry *entry = &near_entries(lists, side, a)[place];
  near_entry *other = &near_entries(lists, opposite(side), entry->partner & ~NEAR_MET)[entry->place];
  uint32_t bit = met ? NEAR_MET : 0;
  entry->partner = (entry->partner & ~NEAR_MET) | bit;
  other->partner = (other->partner & ~NEAR_MET) | bit;
}

void gz_near_release(const graze_context *context, near_lists *lists) {
  for (int side = 0; side < 2; side++) {
    gz_buffer_release(context, &lists->heads[side]);
    gz_buffer_release(context, &lists->entries[side]);
  }
}

size_t gz_near_bytes(const near_lists *lists) {
  return lists->heads[0].bytes + lists->heads[1].bytes + lists->entries[0].bytes + lists->entries[1].bytes;
}
