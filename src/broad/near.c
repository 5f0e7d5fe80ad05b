/* Lists of near slots; see near.h. */
#include "broad/near.h"

#include <string.h>

static bool reserve_entries(const graze_context *context, near_lists *lists, uint64_t entries, uint64_t keep) {
  return buffer_reserve(context, &lists->entries, (size_t)entries * sizeof(near_entry),
                        (size_t)keep * sizeof(near_entry));
}

bool near_fill(const graze_context *context, near_lists *lists, const pair_list *pairs, uint32_t slots) {
  const graze_box_pair *p = pair_list_data(pairs);
  if (!buffer_reserve(context, &lists->heads, slots * sizeof(near_head), 0)) return false;
  near_head *heads = lists->heads.data;
  for (uint32_t i = 0; i < slots; i++) heads[i] = (near_head){0, 0, 0, 0};
  for (uint64_t i = 0; i < pairs->count; i++) {
    heads[p[i].a].own++;
    heads[p[i].b & ~NEAR_MET].count++;
  }
  uint64_t end = 0;
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t all = heads[i].own + heads[i].count;
    heads[i] = (near_head){end, 0, heads[i].own, all + all / 4 + 2}; /* most come and go without a move of the list */
    end += heads[i].room;
  }
  lists->end = 0;
  if (!reserve_entries(context, lists, end, 0)) return false;
  lists->end = end;
  for (uint64_t i = 0; i < pairs->count; i++) {
    near_head *a = &heads[p[i].a], *b = &heads[p[i].b & ~NEAR_MET];
    uint32_t place_a = a->own++, place_b = b->count++;
    near_entries(lists, a)[place_a] = (near_entry){p[i].b, place_b};
    near_entries(lists, b)[place_b] = (near_entry){p[i].a | (p[i].b & NEAR_MET), place_a};
  }
  return true;
}

bool near_grow(const graze_context *context, near_lists *lists, uint32_t slots, uint32_t known) {
  if (!buffer_reserve(context, &lists->heads, slots * sizeof(near_head), known * sizeof(near_head))) return false;
  for (uint32_t i = known; i < slots; i++) *near_of(lists, i) = (near_head){0, 0, 0, 0};
  return true;
}

/* Room for one more entry; a list that is full moves to the end. */
static bool make_room(const graze_context *context, near_lists *lists, near_head *head) {
  if (head->count < head->room) return true;
  uint32_t room = 2 * head->room + 4;
  if (room > UINT32_MAX / 2 || !reserve_entries(context, lists, lists->end + room, lists->end)) return false;
  near_entry *from = near_entries(lists, head);
  head->start = lists->end;
  head->room = room;
  lists->end += room;
  if (head->count > 0) memcpy(near_entries(lists, head), from, head->count * sizeof *from);
  return true;
}

/* Writes an entry to a place, and its other half gets to know. */
static void settle(const near_lists *lists, const near_head *head, uint32_t place, near_entry entry) {
  near_entries(lists, head)[place] = entry;
  near_entries(lists, near_of(lists, entry.partner & ~NEAR_MET))[entry.place].place = place;
}

bool near_link(const graze_context *context, near_lists *lists, uint32_t a, uint32_t b, bool met) {
  near_head *in_a = near_of(lists, a), *in_b = near_of(lists, b);
  if (!make_room(context, lists, in_a) || !make_room(context, lists, in_b)) return false;
  near_entry *first = near_entries(lists, in_a) + in_a->own;
  if (in_a->own < in_a->count) settle(lists, in_a, in_a->count, *first); /* makes way for one that is owned */
  uint32_t bit = met ? NEAR_MET : 0;
  near_entries(lists, in_b)[in_b->count] = (near_entry){a | bit, in_a->own};
  *first = (near_entry){b | bit, in_b->count};
  in_a->own++;
  in_a->count++;
  in_b->count++;
  return true;
}

/* Closes the gap of one half: with the last entry that is owned, and that one's gap with the last of all. */
static void drop(const near_lists *lists, uint32_t slot, uint32_t place) {
  near_head *head = near_of(lists, slot);
  const near_entry *entries = near_entries(lists, head);
  if (place < head->own) {
    head->own--;
    if (place != head->own) settle(lists, head, place, entries[head->own]);
    place = head->own;
  }
  head->count--;
  if (place != head->count) settle(lists, head, place, entries[head->count]);
}

void near_unlink(near_lists *lists, uint32_t a, uint32_t place) {
  near_entry entry = near_entries(lists, near_of(lists, a))[place];
  drop(lists, entry.partner & ~NEAR_MET, entry.place);
  drop(lists, a, place);
}

void near_note(near_lists *lists, uint32_t a, uint32_t place, bool met) {
  near_entry *entry = &near_entries(lists, near_of(lists, a))[place];
  uint32_t bit = met ? NEAR_MET : 0;
  near_entry *other = &near_entries(lists, near_of(lists, entry->partner & ~NEAR_MET))[entry->place];
  entry->partner = (entry->partner & ~NEAR_MET) | bit;
  other->partner = (other->partner & ~NEAR_MET) | bit;
}

bool near_met(const near_lists *lists, uint32_t a, uint32_t b) {
  const near_head *in_a = near_of(lists, a), *in_b = near_of(lists, b);
  const near_head *shorter = in_a->count < in_b->count ? in_a : in_b;
  const near_entry *entries = near_entries(lists, shorter);
  const uint32_t wanted = (shorter == in_a ? b : a) | NEAR_MET;
  for (uint32_t i = 0; i < shorter->count; i++) {
    if (entries[i].partner == wanted) return true;
  }
  return false;
}

void near_release(const graze_context *context, near_lists *lists) {
  buffer_release(context, &lists->heads);
  buffer_release(context, &lists->entries);
}

size_t near_bytes(const near_lists *lists) {
  return lists->heads.bytes + lists->entries.bytes;
}
