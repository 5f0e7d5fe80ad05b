/* Random numbers that are the same everywhere: splitmix64 (Steele, Lea and Flood 2014), and rotations from unit
 * quaternions found by rejection, which needs only sqrt and division. */
#include "random.h"

#include <math.h>

uint64_t stream_bits(random_stream *stream) {
  uint64_t x = stream->state += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

void stream_skip(random_stream *stream, uint64_t draws) {
  stream->state += draws * 0x9E3779B97F4A7C15u;
}

double stream_unit(random_stream *stream) {
  return (double)(stream_bits(stream) >> 11) * 0x1p-53;
}

double stream_between(random_stream *stream, double low, double high) {
  return low + (high - low) * stream_unit(stream);
}

uint32_t stream_below(random_stream *stream, uint32_t count) {
  return (uint32_t)((unsigned __int128)stream_bits(stream) * count >> 64);
}

void stream_rotation(random_stream *stream, double rotation[9]) {
  double q[4], square;
  do {
    square = 0;
    for (int k = 0; k < 4; k++) {
      q[k] = stream_between(stream, -1, 1);
      square += q[k] * q[k];
    }
  } while (square > 1 || square < 0x1p-10);
  double scale = 1 / sqrt(square);
  double w = q[0] * scale, x = q[1] * scale, y = q[2] * scale, z = q[3] * scale;
  const double matrix[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int k = 0; k < 9; k++) rotation[k] = matrix[k];
}
