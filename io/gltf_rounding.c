/* gltf_rounding.c: what rounding to floats may have moved the nodes of a file by, relative to each other.
 *
 * The numbers of poses are text that does not say whether it was made of doubles or of floats. They count as floats if
 * each of the file is one, the value of a float, or of all decimals with as many digits the nearest to a float; and if
 * one of them has eight digits or more and more than a few bits, so that it is no length that somebody chose. A single
 * number that is no float speaks for doubles, whose rounding matters to nobody.
 *
 * A number may then be off by half a unit in the last place of its float. What that does to the entries of the matrix
 * is taken to first order: the second is 10^-7 of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gltf.h"
#include "text.h"

enum {
  DIGITS_OF_FLOATS = 9, /* as many tell every float from its neighbours */
  DIGITS_TO_TELL = 8,   /* fewer are as likely a length that somebody chose */
  BITS_OF_CHOICE = 12   /* likewise: 2.25, 1/256 */
};

/* Of the last digit, with room for the rounding of a tie. */
static const double HALF = 0.500001;

/* Of the shortest decimal of a number that is not whole: its digits, and the power of ten of the last. */
static int count_digits(double x, int *last) {
  char text[32];
  gz_format_double(x, text);
  const char *power = strchr(text, 'e');
  bool behind = false; /* the point */
  int count = 0;
  *last = power != NULL ? (int)strtol(power + 1, NULL, 10) : 0;
  for (const char *p = text; *p != '\0' && p != power; p++) {
    if (*p == '.') behind = true;
    if (*p < '0' || *p > '9') continue;
    *last -= behind;
    count += count > 0 || *p != '0';
  }
  return count;
}

/* A whole number, or one of few bits: what somebody chose, and no float has rounded. */
static bool is_chosen(double x) {
  int exponent;
  const double fraction = ldexp(frexp(x, &exponent), BITS_OF_CHOICE);
  return x == rint(x) || fraction == rint(fraction);
}

void gz_gltf_look_at(gltf_digits *digits, const double *numbers, int count) {
  for (int i = 0; i < count && !digits->doubles; i++) {
    const double x = numbers[i], off = fabs(x - (double)(float)x);
    if (is_chosen(x) || (off == 0 && digits->floats)) continue;
    int last;
    const int length = count_digits(x, &last);
    digits->doubles = off > 0 && (length > DIGITS_OF_FLOATS || off > HALF * pow(10, last));
    digits->floats = digits->floats || length >= DIGITS_TO_TELL;
  }
}

/* To the float, and to its decimals. */
static double rounding_of(double x) {
  const float size = (float)fabs(x);
  if (is_chosen(x)) return 0;
  return 0.5 * ((double)nextafterf(size, INFINITY) - (double)size) + fabs(fabs(x) - (double)size);
}

graze_pose gz_gltf_round_matrix(const graze_pose *pose) {
  graze_pose out;
  for (int k = 0; k < 12; k++) out.m[k] = rounding_of(pose->m[k]);
  return out;
}

/* How entry (i, j) of the turn by a quaternion that is not normalised, times its squared length, grows with component
 * k, w first. */
static double slope(const double q[4], int i, int j, int k) {
  if (i == j) return k == 0 || k == i + 1 ? 2 * q[k] : -2 * q[k];
  const int axis = 3 - i - j;
  const double sign = j == (i + 1) % 3 ? -1 : 1;
  if (k == 0) return 2 * sign * q[axis + 1];
  if (k == axis + 1) return 2 * sign * q[0];
  return 2 * q[k == i + 1 ? j + 1 : i + 1];
}

/* The same of the entry itself, `value`, when the quaternion has length 1. */
static double round_entry(const double q[4], const double off[4], int i, int j, double value) {
  double sum = 0;
  for (int k = 0; k < 4; k++) sum += fabs(slope(q, i, j, k) - 2 * q[k] * value) * off[k];
  return sum;
}

graze_pose gz_gltf_round_pose(const double translation[3], const double rotation[4], const double scale[3],
                              bool is_exact) {
  static const double nowhere[3] = {0, 0, 0};
  double q[4] = {rotation[3], rotation[0], rotation[1], rotation[2]}, off[4];
  const graze_pose turned = graze_pose_from_quaternion(q, nowhere);
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  graze_pose out;
  for (int k = 0; k < 4; k++) {
    off[k] = is_exact ? 0 : rounding_of(q[k]) / length;
    q[k] /= length;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const double value = turned.m[4 * i + j];
      out.m[4 * i + j] = round_entry(q, off, i, j, value) * fabs(scale[j]) + fabs(value) * rounding_of(scale[j]);
    }
    out.m[4 * i + 3] = rounding_of(translation[i]);
  }
  return out;
}

void gz_gltf_add_rounding(const graze_pose *above, const graze_pose *own, const graze_pose *below, graze_pose *sum) {
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) {
      for (int a = 0; a < 3; a++) {
        double off = k == 3 ? own->m[4 * a + 3] : 0;
        for (int b = 0; b < 3; b++) off += own->m[4 * a + b] * fabs(below->m[4 * b + k]);
        sum->m[4 * i + k] += fabs(above->m[4 * i + a]) * off;
      }
    }
  }
}
