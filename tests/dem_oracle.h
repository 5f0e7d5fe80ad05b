/* tests/dem_oracle.h: the discrete element method in plain C and long doubles, all balls against all. It is written
 * from the formulas of graze/dynamics.h and shares no code with the library.
 *
 * What the header leaves to the steps: a spring takes the slip of a step before the force of its end is found, the
 * force at the very start of a leapfrog sees that too but remembers nothing, and a torque against spin is never more
 * than would end the spin in a step.
 */
#ifndef GRAZE_TESTS_DEM_ORACLE_H
#define GRAZE_TESTS_DEM_ORACLE_H

#include "graze/dynamics.h"

enum { ORACLE_BALLS = 48, ORACLE_WALLS = 4, ORACLE_MATERIALS = 4 };

typedef struct oracle_ball {
  graze_body_type type;
  uint32_t material;
  long double radius, mass; /* of what no force moves: unused */
  long double x[3], v[3], w[3], drag[2];
  long double a[3], b[3]; /* accelerations */
} oracle_ball;

typedef struct oracle_wall {
  long double point[3], normal[3]; /* a unit vector */
  uint32_t material;
} oracle_wall;

/* What a contact remembers; of balls that of i with j > i. */
typedef struct oracle_memory {
  bool touching;
  long double spring[3];
} oracle_memory;

/* All zero to begin with; the caller fills what is above the line. Balls are in the order of their numbers. */
typedef struct oracle_world {
  long double gravity[3], period[3], low[3]; /* period 0: none */
  bool euler;
  graze_material materials[ORACLE_MATERIALS], pairs[ORACLE_MATERIALS][ORACLE_MATERIALS];
  bool is_pair[ORACLE_MATERIALS][ORACLE_MATERIALS]; /* said; on both sides of the diagonal */
  oracle_ball balls[ORACLE_BALLS];
  oracle_wall walls[ORACLE_WALLS];
  uint32_t ball_count, wall_count;
  /* ---- */
  bool is_accelerated;
  oracle_memory memory[ORACLE_BALLS][ORACLE_BALLS + ORACLE_WALLS];
} oracle_world;

void oracle_steps(oracle_world *world, long double dt, int count);

/* All but `dissipated`, `center` and `left`. */
void oracle_sums(const oracle_world *world, graze_world_sums *sums);

/* 2 / omega of the stiffest of all contacts that there can be. */
long double oracle_longest(const oracle_world *world);

#endif
