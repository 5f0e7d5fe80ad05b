/* meet.h: which boxes of two lists meet, without a hierarchy. */
#ifndef GRAZE_SRC_VISIBILITY_MEET_H
#define GRAZE_SRC_VISIBILITY_MEET_H

#include "base/memory.h"
#include "visibility/cull.h"

typedef struct visibility_meeting {
  const graze_context *context;
  const visibility_span *boxes[2];                           /* of both lists */
  void (*take)(void *user, uint32_t first, uint32_t second); /* boxes of either list that meet, each pair once */
  void *user;
  buffer *memory;
} visibility_meeting;

/* Boxes [first, end) of the first list against all of the second one, in any order. False: no memory. */
bool gz_visibility_meet(const visibility_meeting *meeting, uint32_t first, uint32_t end, uint32_t count);

#endif
