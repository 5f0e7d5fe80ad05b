/* random.h: splitmix64 streams. */
#ifndef SCENES_RANDOM_H
#define SCENES_RANDOM_H

#include <stdint.h>

typedef struct random_stream {
  uint64_t state;
} random_stream;

uint64_t stream_bits(random_stream *stream);

/* Goes on as if so many bits had been drawn. */
void stream_skip(random_stream *stream, uint64_t draws);

/* [0, 1), a multiple of 2^-53. */
double stream_unit(random_stream *stream);

/* [low, high). */
double stream_between(random_stream *stream, double low, double high);

/* 0 .. count - 1; the bias is below count / 2^64. */
uint32_t stream_below(random_stream *stream, uint32_t count);

/* A rotation matrix (row-major), uniform over all rotations, without trigonometry. */
void stream_rotation(random_stream *stream, double rotation[9]);

#endif
