/* Names near another one, by the least number of edits where two letters side by side may also change places (optimal
 * string alignment; Damerau, "A technique for computer detection and correction of spelling errors", 1964). Row by row,
 * O(length^2) of at most 64 bytes; a row that is worse than what is kept already ends it. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 /* bytes compared */, SHOWN = 60 /* bytes of a name in a message */ };

static uint32_t length_of(const char *text) {
  return (uint32_t)strnlen(text, LONGEST);
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* At most `limit`. */
static uint32_t count_edits(const char *a, const char *b, uint32_t limit) {
  uint32_t rows[3][LONGEST + 1], n = length_of(a), m = length_of(b);
  if ((n > m ? n - m : m - n) >= limit) return limit;
  for (uint32_t j = 0; j <= m; j++) rows[0][j] = j;
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3], best = row[0] = i;
    for (uint32_t j = 1; j <= m; j++) {
      char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) row[j] = least(row[j], before[j - 2] + 1);
      best = least(best, row[j]);
    }
    if (best >= limit) return limit;
  }
  return least(rows[n % 3][m], limit);
}

void gz_nearest_keep(nearest *n, const char *name, uint32_t edits) {
  bool full = n->count == NEAREST_NAMES;
  if (full && edits >= n->edits[n->count - 1]) return;
  for (uint32_t i = 0; i < n->count; i++) {
    if (strcmp(n->name[i], name) == 0) return;
  }
  uint32_t at = full ? n->count - 1 : n->count++;
  for (; at > 0 && n->edits[at - 1] > edits; at--) {
    n->name[at] = n->name[at - 1];
    n->edits[at] = n->edits[at - 1];
  }
  n->name[at] = name;
  n->edits[at] = edits;
}

void gz_nearest_offer(nearest *n, const char *name) {
  const char *slash = strrchr(name, '/');
  uint32_t limit = n->count == NEAREST_NAMES ? n->edits[n->count - 1] : LONGEST + 1;
  uint32_t edits = count_edits(n->wanted, name, limit);
  if (slash != NULL) edits = count_edits(n->wanted, slash + 1, edits);
  gz_nearest_keep(n, name, edits);
}

static nearest_list list_first(const nearest *n, uint32_t count, const char *before_last) {
  nearest_list list = {""};
  size_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    const char *name = n->name[i], *before = i == 0 ? "" : i + 1 == count ? before_last : ", ";
    size_t length = strlen(name);
    const char *dots = length > SHOWN ? "..." : "";
    if (length > SHOWN) name += length - SHOWN;
    while (*dots && ((unsigned char)*name & 0xC0) == 0x80) name++; /* a letter is not cut in two */
    used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s\"%s%s\"", before, dots, name);
  }
  for (char *c = list.text; *c; c++) *c = (unsigned char)*c < ' ' ? '?' : *c;
  return list;
}

nearest_list gz_nearest_list(const nearest *n) {
  return list_first(n, n->count, ", ");
}

nearest_list gz_did_you_mean(const nearest *n) {
  uint32_t count = 0, length = length_of(n->wanted), most = length > 1 ? 1 + length / 4 : 0;
  while (count < n->count && n->edits[count] <= most) count++;
  nearest_list near = list_first(n, count, " or "), said = {""};
  if (count > 0) snprintf(said.text, sizeof said.text, "; did you mean %.220s?", near.text);
  return said;
}

nearest_list gz_did_you_mean_one_of(const char *wanted, const char *const names[]) {
  nearest n = {.wanted = wanted};
  for (size_t i = 0; names[i] != NULL; i++) gz_nearest_offer(&n, names[i]);
  return gz_did_you_mean(&n);
}
