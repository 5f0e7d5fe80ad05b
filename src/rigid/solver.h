/* Room for solving an island. */
#ifndef GRAZE_SRC_RIGID_SOLVER_H
#define GRAZE_SRC_RIGID_SOLVER_H

#include "rigid/factor.h"

typedef struct rigid_solver {
  factor_pattern pattern;
  block *diagonal, *entries, *factor_diagonal, *factor_entries;
  double *gradient, *step, *room, *row_speeds, *permuted[2], *conjugate[3];
} rigid_solver;

#endif
