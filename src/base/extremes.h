/* The smaller and the larger of two numbers. Unlike fmin and fmax these compile to one instruction, and to vectors. */
#ifndef GRAZE_SRC_BASE_EXTREMES_H
#define GRAZE_SRC_BASE_EXTREMES_H

/* b where one of them is not a number. */
static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

#endif
