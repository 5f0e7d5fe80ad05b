/* The names that are most like one that is not there, for messages. */
#ifndef GRAZE_SRC_BASE_NEAREST_H
#define GRAZE_SRC_BASE_NEAREST_H

#include "graze/base.h"

enum { NEAREST_NAMES = 3 };

/* {.wanted = NAME} to begin. Names are not copied. */
typedef struct nearest {
  const char *wanted;
  const char *name[NEAREST_NAMES]; /* the nearest first; of equal ones the first that was offered */
  uint32_t edits[NEAREST_NAMES];   /* letters to put in, leave out, replace or swap, whatever their case */
  uint32_t count;
} nearest;

/* Keeps the name if it is near. Its last part, behind the last '/', counts as well as the whole: "bolt1" is near
 * "jig/bolt1". */
void gz_nearest_offer(nearest *n, const char *name);

/* Keeps it as if it were so many edits away. */
void gz_nearest_keep(nearest *n, const char *name, uint32_t edits);

typedef struct nearest_list {
  char text[240];
} nearest_list;

/* The names kept, in quotes: "a", "b", "c"; "" without any. Long ones without their beginning. */
nearest_list gz_nearest_list(const nearest *n);

/* `; did you mean "a" or "b"?` of those few edits away; "" without any. */
nearest_list gz_did_you_mean(const nearest *n);

/* The same of the names up to NULL. */
nearest_list gz_did_you_mean_one_of(const char *wanted, const char *const names[]);

#endif
