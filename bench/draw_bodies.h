/* bench/draw_bodies.h: a plain picture of many bodies, off-screen: one draw of instances, lit by one lamp. */
#ifndef BENCH_DRAW_BODIES_H
#define BENCH_DRAW_BODIES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct draw_bodies draw_bodies;

/* Icosahedra of this radius, of 20 triangles each, seen by a camera that has all of `places` (three numbers a body) in
 * view. NULL: there is no OpenGL. */
draw_bodies *draw_bodies_begin(uint32_t width, uint32_t height, uint32_t count, double radius, const double *places);
void draw_bodies_end(draw_bodies *d);

/* RGBA bytes, which are valid until the next call. */
const uint8_t *draw_bodies_at(draw_bodies *d, const double *places);

/* What draws. */
const char *draw_bodies_device(const draw_bodies *d);

#endif
