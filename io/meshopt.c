/* meshopt.c: the three codecs and the filters of EXT_meshopt_compression, after the text of that extension (appendices
 * A and B), which fixes every bit.
 *
 * Attributes come in blocks of elements. Within a block each byte of the elements has a run of its own: differences to
 * the element before, zigzagged, in groups of 16 that take 0, 2, 4 or 8 bits each; a difference that does not fit
 * stands behind its group. Triangles name edges and vertices of those before, through two rings of 16. Every read is
 * checked against the end of the stream, and a stream must be used up.
 */
#include "meshopt.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
  VERSION_ATTRIBUTES = 0xa0,
  VERSION_TRIANGLES = 0xe1,
  VERSION_INDICES = 0xd1,
  GROUP = 16,
  BLOCK_BYTES = 8192,
  MOST_IN_BLOCK = 256,
  MOST_STRIDE = 256,
  LEAST_TAIL = 32,
  TABLE = 16,     /* bytes that end a stream of triangles */
  INDEX_TAIL = 4, /* and one of indices */
  RING = 16
};

static const char damaged[] = "the compressed data are damaged";

/* What is left of a stream; behind its end stand zeros, and `ended` says that one was read. */
typedef struct source {
  const unsigned char *p, *end;
  bool ended;
} source;

static inline unsigned take_byte(source *s) {
  s->ended |= s->p == s->end;
  return s->p == s->end ? 0 : *s->p++;
}

/* `size` bytes in one piece; NULL: there are fewer. */
static inline const unsigned char *take_bytes(source *s, size_t size) {
  const unsigned char *bytes = s->p;
  if ((size_t)(s->end - s->p) < size) return NULL;
  s->p += size;
  return bytes;
}

/* Seven bits a byte, the lowest first; the highest bit of a byte says that another follows, up to five. */
static uint32_t take_number(source *s) {
  uint32_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    unsigned byte = take_byte(s);
    value |= (uint32_t)(byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

/* 0, -1, 1, -2, ... */
static inline uint32_t unzigzag(uint32_t value) {
  return (value >> 1) ^ -(value & 1);
}

/* ---- attributes ---- */

static uint64_t block_elements(unsigned stride) {
  uint64_t count = BLOCK_BYTES / stride / GROUP * GROUP;
  return count < MOST_IN_BLOCK ? count : MOST_IN_BLOCK;
}

/* Two bits a group say how it is packed. */
static size_t header_size(uint64_t elements) {
  return (size_t)((elements + GROUP - 1) / GROUP + 3) / 4;
}

static unsigned tail_size(unsigned stride) {
  return stride > LEAST_TAIL ? stride : LEAST_TAIL;
}

static bool take_group(source *s, unsigned kind, unsigned char *out) {
  const unsigned bits = 1u << kind, escape = (1u << bits) - 1;
  memset(out, 0, GROUP);
  if (kind == 0) return true;
  const unsigned char *packed = take_bytes(s, (size_t)2 * bits);
  if (packed == NULL) return false;
  for (unsigned i = 0; i < GROUP; i++) {
    unsigned value = packed[i * bits / 8] >> (8 - bits - i * bits % 8) & escape;
    out[i] = (unsigned char)(value == escape && kind < 3 ? take_byte(s) : value);
  }
  return !s->ended;
}

/* A block of elements; `last` is the element before, and then the last one. */
static bool take_block(source *s, uint64_t elements, unsigned stride, unsigned char *last, unsigned char *out) {
  unsigned char differences[MOST_IN_BLOCK];
  for (unsigned k = 0; k < stride; k++) {
    const unsigned char *header = take_bytes(s, header_size(elements));
    if (header == NULL) return false;
    for (unsigned i = 0; i < elements; i += GROUP) {
      unsigned group = i / GROUP;
      if (!take_group(s, header[group / 4] >> group % 4 * 2 & 3, differences + i)) return false;
    }
    unsigned char value = last[k];
    for (uint64_t i = 0; i < elements; i++) {
      value = (unsigned char)(value + unzigzag(differences[i]));
      out[i * stride + k] = value;
    }
    last[k] = value;
  }
  return true;
}

static const char *decode_attributes(const meshopt_stream *stream, source s, unsigned char *out) {
  unsigned char last[MOST_STRIDE];
  const uint64_t most = block_elements(stream->stride);
  memcpy(last, s.end - stream->stride, stream->stride); /* the tail ends with the element before the first one */
  s.end -= tail_size(stream->stride);
  for (uint64_t i = 0; i < stream->count; i += most) {
    uint64_t left = stream->count - i;
    if (!take_block(&s, left < most ? left : most, stream->stride, last, out + i * stream->stride)) return damaged;
  }
  return s.p == s.end ? NULL : damaged;
}

/* ---- filters ---- */

static int16_t short_at(const unsigned char *p) {
  return (int16_t)(p[0] | p[1] << 8);
}

/* The largest component, whose number is in the lowest bits of the fourth, is left out; the others are below the root
 * of 1/2. */
static void unfilter_quaternions(unsigned char *p, uint64_t count) {
  for (; count > 0; count--, p += 8) {
    const unsigned largest = (unsigned)p[6] & 3;
    const double scale = sqrt(0.5) / (short_at(p + 6) | 3);
    double rest = 1, turn[4];
    for (unsigned k = 0; k < 3; k++) {
      const double x = short_at(p + (size_t)2 * k) * scale;
      turn[(largest + 1 + k) % 4] = x;
      rest -= x * x;
    }
    turn[largest] = sqrt(fmax(rest, 0));
    for (unsigned k = 0; k < 4; k++) {
      const uint32_t bits = (uint32_t)(int32_t)round(turn[k] * 32767);
      p[2 * k] = (unsigned char)bits;
      p[2 * k + 1] = (unsigned char)(bits >> 8);
    }
  }
}

/* Eight bits of exponent above 24 of a whole number. What is too large for a float becomes infinite. */
static void unfilter_exponents(unsigned char *p, uint64_t count) {
  for (; count > 0; count--, p += 4) {
    const int32_t whole = (int32_t)((uint32_t)p[0] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 24) / 256;
    const float value = (float)ldexp(whole, (int8_t)p[3]);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (unsigned k = 0; k < 4; k++) p[k] = (unsigned char)(bits >> 8 * k);
  }
}

/* ---- indices ---- */

/* Where decoded indices go. */
typedef struct sink {
  unsigned char *out;
  unsigned stride;
  bool narrow; /* one did not fit */
} sink;

static inline void put_index(sink *to, uint32_t index) {
  for (unsigned k = 0; k < to->stride; k++) *to->out++ = (unsigned char)(index >> 8 * k);
  to->narrow |= to->stride == 2 && index > UINT16_MAX;
}

static const char *decode_indices(const meshopt_stream *stream, source s, unsigned char *out) {
  sink to = {out, stream->stride, false};
  uint32_t last[2] = {0, 0}; /* of two sequences */
  s.end -= INDEX_TAIL;
  for (uint64_t i = 0; i < stream->count && !s.ended; i++) {
    const uint32_t number = take_number(&s), which = number & 1;
    last[which] += unzigzag(number >> 1);
    put_index(&to, last[which]);
  }
  return s.p == s.end && !s.ended && !to.narrow ? NULL : damaged;
}

/* ---- triangles ---- */

typedef struct triangle_decoder {
  source data;                /* behind the codes, a byte for each triangle */
  const unsigned char *table; /* of second codes */
  uint32_t edges[RING][2], vertices[RING];
  unsigned edge, vertex; /* where the next ones go */
  uint32_t next, last;   /* the lowest index that did not occur; the one that was written out last */
  sink to;
} triangle_decoder;

static void push_vertex(triangle_decoder *d, uint32_t vertex, bool keep) {
  d->vertices[d->vertex] = vertex;
  d->vertex = (d->vertex + keep) % RING;
}

static void push_edge(triangle_decoder *d, uint32_t a, uint32_t b) {
  d->edges[d->edge][0] = a;
  d->edges[d->edge][1] = b;
  d->edge = (d->edge + 1) % RING;
}

static void put_triangle(triangle_decoder *d, uint32_t a, uint32_t b, uint32_t c) {
  put_index(&d->to, a);
  put_index(&d->to, b);
  put_index(&d->to, c);
}

static uint32_t take_difference(triangle_decoder *d) {
  return d->last += unzigzag(take_number(&d->data));
}

/* On the edge number `code` / 16 back. */
static void take_on_edge(triangle_decoder *d, unsigned code) {
  const uint32_t *edge = d->edges[(d->edge - 1 - (code >> 4)) % RING];
  const uint32_t a = edge[0], b = edge[1];
  const unsigned back = code & 15;
  uint32_t c;
  if (back == 0) {
    c = d->next++;
  } else if (back < 13) {
    c = d->vertices[(d->vertex - 1 - back) % RING];
  } else if (back < 15) {
    c = d->last += back == 13 ? UINT32_MAX : 1; /* one less, one more */
  } else {
    c = take_difference(d);
  }
  put_triangle(d, a, b, c);
  push_vertex(d, c, back == 0 || back > 12);
  push_edge(d, c, b);
  push_edge(d, a, c);
}

static uint32_t take_known(triangle_decoder *d, unsigned back) {
  return back == 0 ? d->next++ : d->vertices[(d->vertex - back) % RING];
}

/* On no edge: `second` says where the second and the third corner are from; a 15 that they are written out. */
static void take_alone(triangle_decoder *d, bool first_new, unsigned second) {
  const unsigned backs[2] = {second >> 4, second & 15};
  uint32_t corners[3];
  corners[0] = first_new ? d->next++ : 0;
  for (unsigned k = 0; k < 2; k++) corners[k + 1] = take_known(d, backs[k]);
  if (!first_new) corners[0] = take_difference(d);
  for (unsigned k = 0; k < 2; k++) {
    if (backs[k] == 15) corners[k + 1] = take_difference(d);
  }
  put_triangle(d, corners[0], corners[1], corners[2]);
  push_vertex(d, corners[0], true);
  for (unsigned k = 0; k < 2; k++) push_vertex(d, corners[k + 1], backs[k] == 0 || backs[k] == 15);
  push_edge(d, corners[1], corners[0]);
  push_edge(d, corners[2], corners[1]);
  push_edge(d, corners[0], corners[2]);
}

static void take_triangle(triangle_decoder *d, unsigned code) {
  if (code < 0xf0) {
    take_on_edge(d, code);
  } else if (code < 0xfe) {
    take_alone(d, true, d->table[code & 15]);
  } else {
    unsigned second = take_byte(&d->data);
    if (second == 0) d->next = 0;
    take_alone(d, code == 0xfe, second);
  }
}

static const char *decode_triangles(const meshopt_stream *stream, source s, unsigned char *out) {
  const uint64_t triangles = stream->count / 3;
  triangle_decoder d = {
      .data = {s.p + triangles, s.end - TABLE, false}, .table = s.end - TABLE, .to = {out, stream->stride, false}};
  memset(d.edges, 0xff, sizeof d.edges);
  memset(d.vertices, 0xff, sizeof d.vertices);
  for (uint64_t i = 0; i < triangles && !d.data.ended; i++) take_triangle(&d, s.p[i]);
  return d.data.p == d.data.end && !d.data.ended && !d.to.narrow ? NULL : damaged;
}

/* ---- the whole ---- */

uint64_t gz_meshopt_least_size(const meshopt_stream *stream) {
  if (stream->mode == MESHOPT_TRIANGLES) return 1 + stream->count / 3 + TABLE;
  if (stream->mode == MESHOPT_INDICES) return 1 + stream->count + INDEX_TAIL;
  const uint64_t most = block_elements(stream->stride), rest = stream->count % most;
  return 1 + (stream->count / most * header_size(most) + header_size(rest)) * stream->stride +
         tail_size(stream->stride);
}

const char *gz_meshopt_decode(const meshopt_stream *stream, const unsigned char *bytes, unsigned char *out) {
  static const unsigned char versions[] = {VERSION_ATTRIBUTES, VERSION_TRIANGLES, VERSION_INDICES};
  static const char *(*const decoders[])(const meshopt_stream *, source, unsigned char *) = {
      decode_attributes, decode_triangles, decode_indices};
  if (stream->size < gz_meshopt_least_size(stream)) return "the compressed data are too few";
  if (bytes[0] != versions[stream->mode]) return "the compressed data do not begin as their mode says";
  const char *wrong = decoders[stream->mode](stream, (source){bytes + 1, bytes + stream->size, false}, out);
  if (wrong == NULL && stream->filter == MESHOPT_QUATERNION) unfilter_quaternions(out, stream->count);
  if (wrong == NULL && stream->filter == MESHOPT_EXPONENTIAL) {
    unfilter_exponents(out, stream->count * (stream->stride / 4));
  }
  return wrong;
}
