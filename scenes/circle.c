/* Taylor series after reduction to an eighth of a turn. libm is not used: its last bits differ between versions and
 * machines, and a scene that is asked for by its seed must not. */
#include "circle.h"

#include <math.h>

static const double quarter_turn = 0x1.921fb54442d18p+0; /* pi / 2 */

/* |x| <= pi / 4: the next term is below 2^-63. */
static double sine_series(double x) {
  double square = x * x, sum = 0;
  for (int k = 17; k >= 3; k -= 2) sum = (1 - sum) * square / (double)(k * (k - 1));
  return x - x * sum;
}

static double cosine_series(double x) {
  double square = x * x, sum = 0;
  for (int k = 18; k >= 2; k -= 2) sum = (1 - sum) * square / (double)(k * (k - 1));
  return 1 - sum;
}

double circle_sine(double angle) {
  /* pi / 2 in three parts; the first two have at most 33 bits, so that their products with small integers are exact. */
  const double part0 = 0x1.921fb544p+0, part1 = 0x1.0b4611a6p-34, part2 = 0x1.3198a2e037073p-69;
  double turns = floor(angle / quarter_turn + 0.5);
  double x = ((angle - turns * part0) - turns * part1) - turns * part2;
  int quadrant = (int)(turns - 4 * floor(turns / 4));
  double value = quadrant & 1 ? cosine_series(x) : sine_series(x);
  return quadrant & 2 ? -value : value;
}

void circle_point(uint32_t index, uint32_t count, double *cosine, double *sine) {
  uint64_t position = (uint64_t)(index % count) * 8; /* in eighths of a turn, times count */
  uint64_t octant = position / count;
  uint64_t rest = position % count;
  if (octant & 1) rest = count - rest; /* measured back from the axis ahead */
  double x = (double)rest / (double)count * (quarter_turn / 2);
  double c = rest == 0 ? 1 : cosine_series(x), s = rest == 0 ? 0 : sine_series(x);
  if (rest == count) s = c = sqrt(0.5); /* the diagonal, from either side */
  if ((octant + 1) / 2 % 2) {           /* octants 1 2 5 6: sine and cosine change places */
    double swap = c;
    c = s;
    s = swap;
  }
  *cosine = octant >= 2 && octant < 6 ? -c : c;
  *sine = octant >= 4 ? -s : s;
}
