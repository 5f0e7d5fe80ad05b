/* tests/twins.h: a world that a device moves, and its twin of the processor, which must have the same bytes. */
#ifndef GRAZE_TESTS_TWINS_H
#define GRAZE_TESTS_TWINS_H

#include "device_group.h"
#include "worlds.h"

typedef struct twins {
  graze_world *device, *plain;
} twins;

void destroy_twins(twins *t);

/* State, events and sums; `what` is for messages. */
void compare_twins(const twins *t, const char *what);

/* The same of events alone, if the worlds have any. */
void compare_twin_events(const twins *t);

/* Steps, all of which must be the device's, and compares. */
void run_twins(const twins *t, double dt, uint64_t steps, const char *what);

/* Steps of which the device's request for memory with this number, from 1 on, is refused: the processor makes them, and
 * the next ones are the device's. True: there are not so many requests. */
bool run_twins_refused(const twins *t, double dt, uint64_t steps, uint32_t refused);

#endif
