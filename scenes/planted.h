/* planted.h: pairs of objects whose relation is certain, as plant.c sets them beside the plant. Private to scenes. */
#ifndef SCENES_PLANTED_H
#define SCENES_PLANTED_H

#include "parts.h"
#include "random.h"

/* A solid where it stands in its pair. */
typedef struct placed_solid {
  solid what;
  turn how;
  double at[3];
} placed_solid;

#define ALONG_X \
  {             \
    { 1, 2, 3 } \
  }
#define UPSIDE    \
  {               \
    { 1, -2, -3 } \
  }
#define UPSIDE_ALONG_Y \
  {                    \
    { 2, 1, -3 }       \
  }

/* Adds the member `letter` of a pair that stands about `middle`: turned and placed, and then turned with the pair as a
 * whole. Its name is "NAME NUMBER/LETTER". False: out of memory. */
bool plant_member(parts *shelf, const placed_solid *member, turn whole, const double middle[3], const char *name,
                  uint32_t number, char letter);

/* `count` pairs of each construction (those in which one holds the other: in both orders), in a yard at y < 0, and
 * what they are into the scene's pairs. False: out of memory. */
bool plant_clashes(parts *shelf, random_stream *random, uint32_t count);

/* planted_gaps.c: the same for pairs whose distance is known, in a yard at x < 0 and y < 0; to be called after
 * plant_clashes. */
bool plant_gaps(parts *shelf, random_stream *random, uint32_t count);

#endif
