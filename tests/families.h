/* tests/families.h: seeded makers of hard triangle pairs and small meshes.
 *
 * Where a pair is the image of small integers under scaling by powers of two (one per axis) and shifting, which changes
 * neither kind nor coplanarity, those integers are given too, so that the fast oracle applies.
 */
#ifndef GRAZE_TESTS_FAMILIES_H
#define GRAZE_TESTS_FAMILIES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct family_pair {
  double a[9];
  double b[9];
  bool lattice; /* la, lb hold the integers: |value| <= 2^20 */
  int32_t la[9];
  int32_t lb[9];
} family_pair;

typedef struct family {
  const char *name;
  void (*make)(uint64_t *state, family_pair *pair);
} family;

extern const family families[];
extern const int family_count;

/* splitmix64, and what is made of it. */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t count);
double random_unit(uint64_t *state);   /* [0, 1) */
double random_signed(uint64_t *state); /* [-1, 1) */

/* Corner lists, 9 doubles a triangle. A soup on the lattice 0..side - 1 has many shared positions, coplanar and
 * degenerate triangles; a cluttered soup is of triangles of edge about `size` in the unit cube; a ball has 8 * level^2
 * triangles around the origin, closed, consistently oriented. */
void soup_lattice(uint64_t *state, uint32_t count, uint32_t side, double *corners);
void soup_cluttered(uint64_t *state, uint32_t count, double size, double *corners);
uint32_t soup_ball(uint32_t level, double radius, double *corners);

/* One of five kinds, about the unit cube in size: lattice, cluttered, ball (of 32), all in one plane, slivers; up to
 * `most` triangles, which are at least 32. Returns their number. */
uint32_t soup_of_kind(uint64_t *state, int kind, uint32_t most, double *corners);

/* A box of 12 triangles, closed, outward. */
void soup_box(const double min[3], const double max[3], double corners[108]);

#endif
