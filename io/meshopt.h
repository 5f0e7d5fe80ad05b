/* meshopt.h: the codecs of EXT_meshopt_compression; private to io. */
#ifndef GRAZE_IO_MESHOPT_H
#define GRAZE_IO_MESHOPT_H

#include <stdint.h>

typedef enum meshopt_mode { MESHOPT_ATTRIBUTES, MESHOPT_TRIANGLES, MESHOPT_INDICES } meshopt_mode;
typedef enum meshopt_filter {
  MESHOPT_NONE,
  MESHOPT_OCTAHEDRAL, /* of normals, which are not read here: not decoded */
  MESHOPT_QUATERNION,
  MESHOPT_EXPONENTIAL
} meshopt_filter;

typedef struct meshopt_stream {
  uint64_t size;   /* bytes of the stream */
  uint64_t count;  /* elements that it is to give, 1 at least; of triangles a multiple of 3 */
  unsigned stride; /* bytes of each: 2 or 4 of indices, else a multiple of 4 up to 256 */
  meshopt_mode mode;
  meshopt_filter filter; /* of attributes: quaternions have a stride of 8 */
} meshopt_stream;

/* No stream of fewer bytes gives so many elements: to be compared with its size before memory is asked for. */
uint64_t gz_meshopt_least_size(const meshopt_stream *stream);

/* Decodes the stream into count * stride bytes, which are garbage if it is damaged. Reads nothing behind it. Returns
 * NULL, or what is wrong with it. */
const char *gz_meshopt_decode(const meshopt_stream *stream, const unsigned char *bytes, unsigned char *out);

#endif
