/* One broad phase for many who take turns. */
#include <string.h>

#include "base/context.h"
#include "broad/phase.h"

graze_status gz_broad_take_turns(graze_broadphase *bp) {
  if (bp->stock != NULL) return GRAZE_OK;
  const size_t bytes = GRAZE_BROAD_METHODS * sizeof *bp->stock;
  bp->stock = gz_memory_alloc(bp->context, bytes);
  if (bp->stock == NULL) return gz_fail_memory(bp->context, bytes);
  memset(bp->stock, 0, bytes);
  return GRAZE_OK;
}

void gz_broad_exchange_choice(graze_broadphase *bp, broad_choice *choice) {
  const broad_choice t = bp->once;
  bp->once = *choice;
  *choice = t;
}
