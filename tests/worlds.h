/* tests/worlds.h: worlds of balls for tests, made by arithmetic alone, so that they are the same everywhere. */
#ifndef GRAZE_TESTS_WORLDS_H
#define GRAZE_TESTS_WORLDS_H

#include "graze/dynamics.h"
#include "support.h"

/* What a bed is made of: dashpots and walls; springs, two materials, Hertz, a static, a kinematic and a periodic
 * direction; springs of Hooke's, events' worth of collisions, drag, and the Euler integrator; springs, a box that is a
 * mesh instead of walls, and a paddle that turns in it. */
typedef enum bed_kind { BED_DASHPOTS, BED_HERTZ, BED_SPRINGS, BED_SURFACES, BED_KINDS } bed_kind;

/* Units are multiplied by these powers of two. */
typedef struct bed_units {
  int mass, length, time;
} bed_units;

typedef struct bed {
  bed_kind kind;
  int threads;
  bool events, strided, single; /* single: precision */
  bed_units units;
  graze_context *context; /* NULL: the shared one of so many threads */
} bed;

/* `count` balls, most of them in two sets. */
graze_world *make_bed(const bed *b, uint32_t count);
double bed_dt(const bed *b);

/* An empty one, with gravity along z. */
graze_world *make_world(double gravity);

/* graze_world_step that must succeed. */
void run_world(graze_world *world, double dt, uint64_t count);

/* A set of balls that must be taken; `velocities`, `radii` may be NULL. */
uint32_t add_balls(graze_world *world, uint32_t count, const double *positions, const double *velocities,
                   const double *radii, double radius, double mass, uint32_t material);

/* Material number of one that must be taken. */
uint32_t add_material(graze_world *world, const graze_material *material);

graze_material hooke(double k_n);

/* |got - want| <= allowed. */
void check_near(double got, double want, double allowed, const char *file, int line);
#define assert_near(got, want, allowed) check_near(got, want, allowed, __FILE__, __LINE__)

#endif
