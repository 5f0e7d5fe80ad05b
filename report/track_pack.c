/* track_pack.c: frames of balls in few bytes.
 *
 * Places are numbers of a lattice. The first frame of a group stores for each ball how far it is from the ball before
 * it, on each axis; the second, how far it is from where it was; the others, how far it is from where it would be had
 * it moved on as between the two frames before. So what flies freely, falls or lies costs next to nothing. The numbers
 * are zigzagged and cut into bytes, all low ones of an axis first, as many planes as the largest needs, and a group is
 * deflated (RFC 1950, 1951), which the page's DecompressionStream undoes. A frame:
 *
 *   for x, y, z:  the number of planes, 0 to 4; planes of one byte a ball, low bytes first
 *   one byte a ball: level of its speed minus that of the frame before in the group, mod 256
 *   one bit a ball: whether it touches something, xor the same of the frame before; low bits first
 *   if balls are drawn as meshes, for each of these its orientation, as x, y, z are: v / (1 + w) of its quaternion with
 *   w >= 0, in 512ths. These numbers (modified Rodrigues parameters) are within the unit ball, run evenly where it
 * turns evenly but for a jump at each turn, and need no roots to be read. */
#include "track_pack.h"

#include <math.h>
#include <string.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>

enum { GROUP_BALLS = 1 << 20, LEAST_GROUP = 8, MOST_GROUP = 64, FINEST = 128, WIDEST = 1 << 22, TURN_PARTS = 512 };
static const double far = 1 << 30; /* places beyond are held there */

/* What is stored of the last frames. */
typedef struct track_state {
  int32_t *places[3]; /* newest frame first: three numbers a ball */
  int32_t *turns[3];  /* the same of orientations, of balls that are drawn as meshes */
  uint8_t *levels, *touching;
} track_state;

typedef struct track_packer {
  z_stream deflater;
  bool ready;           /* the stream has begun */
  bool failed;          /* half of a frame may be in it */
  uint32_t group, used; /* frames that make one, and that are there */
  size_t unpacked;
  track_state state;
  unsigned char *frame;
  size_t frame_room; /* the most that a frame takes */
  gz_array packed;
} track_packer;

typedef struct track_reader {
  unsigned char *bytes; /* a group, unpacked */
  size_t size, at;
  uint32_t group, next; /* number of the group; frame of it that comes next */
  track_state state;
} track_reader;

static size_t bits_of(const graze_track *track) {
  return ((size_t)track->balls + 7) / 8;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool make_state(const graze_track *track, track_state *state) {
  bool good = true;
  for (int i = 0; i < 3; i++) {
    state->places[i] = gz_new_zeroed(track->context, 3 * (size_t)track->balls, sizeof **state->places);
    state->turns[i] = gz_new_zeroed(track->context, 3 * (size_t)track->turning, sizeof **state->turns);
    good = good && state->places[i] != NULL && state->turns[i] != NULL;
  }
  state->levels = gz_new_zeroed(track->context, track->balls, 1);
  state->touching = gz_new_zeroed(track->context, bits_of(track), 1);
  return good && state->levels != NULL && state->touching != NULL;
}

static void free_state(track_state *state) {
  for (int i = 0; i < 3; i++) {
    gz_free(state->places[i]);
    gz_free(state->turns[i]);
  }
  gz_free(state->levels);
  gz_free(state->touching);
}

graze_status gz_track_pack_begin(graze_track *track) {
  track_packer *p = track->packer = gz_new_zeroed(track->context, 1, sizeof *p);
  if (p == NULL) return gz_report_fail_memory(track->context, "film");
  const uint32_t fit = GROUP_BALLS / (track->balls + 1);
  p->group = fit < LEAST_GROUP ? LEAST_GROUP : fit > MOST_GROUP ? MOST_GROUP : fit;
  p->frame_room = 3 * (2 + sizeof(int32_t) * ((size_t)track->balls + track->turning)) + track->balls + bits_of(track);
  p->frame = gz_new(track->context, p->frame_room, 1);
  p->ready = deflateInit(&p->deflater, 6) == Z_OK;
  if (p->frame == NULL || !p->ready || !make_state(track, &p->state))
    return gz_report_fail_memory(track->context, "film");
  return GRAZE_OK;
}

static void free_reader(graze_track *track) {
  track_reader *r = track->reader;
  if (r == NULL) return;
  free_state(&r->state);
  gz_free(r->bytes);
  gz_free(r);
  track->reader = NULL;
}

void gz_track_pack_end(graze_track *track) {
  track_packer *p = track->packer;
  free_reader(track);
  if (p == NULL) return;
  if (p->ready) deflateEnd(&p->deflater);
  free_state(&p->state);
  gz_free(p->frame);
  gz_free(p->packed.data);
  gz_free(p);
  track->packer = NULL;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* A power of two, so that it is a short number, and so fine that balls seem to touch where they do. */
static void choose_lattice(graze_track *track, const graze_track_frame *frame) {
  double widest = 0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < track->balls; i++) {
      low = fmin(low, frame->positions[3 * i + (size_t)k]);
      high = fmax(high, frame->positions[3 * i + (size_t)k]);
    }
    track->origin[k] = track->balls > 0 ? low / 2 + high / 2 : 0;
    if (track->balls > 0) widest = fmax(widest, high - low);
  }
  const double wanted = track->balls > 0 ? fmax(track->smallest / FINEST, widest / WIDEST) : 1;
  track->resolution = exp2(floor(log2(wanted)));
}

static int32_t place_of(const graze_track *track, double x, int axis) {
  return (int32_t)lrint(fmin(fmax((x - track->origin[axis]) / track->resolution, -far), far));
}

static uint8_t level_of(const graze_track *track, const double v[3]) {
  const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), parts = speed / gz_track_slowest(track);
  if (!(parts >= 1)) return 0;
  return (uint8_t)fmin(1 + floor(8 * log2(parts)), TRACK_LEVELS - 1);
}

/* What a number is stored as the difference from, mod 2^32; `numbers` are those of this and the last frames. */
static uint32_t foretell(int32_t *const numbers[3], uint32_t frame, size_t i) {
  const uint32_t before = (uint32_t)numbers[1][i];
  if (frame == 0) return i < 3 ? 0 : (uint32_t)numbers[0][i - 3];
  return frame == 1 ? before : 2 * before - (uint32_t)numbers[2][i];
}

static uint32_t zigzag(uint32_t difference) {
  return difference << 1 ^ (0 - (difference >> 31));
}

static void make_way(int32_t *numbers[3]) {
  int32_t *oldest = numbers[2];
  numbers[2] = numbers[1];
  numbers[1] = numbers[0];
  numbers[0] = oldest;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static void round_places(graze_track *track, const graze_track_frame *frame) {
  int32_t *places = track->packer->state.places[0];
  const bool first = track->times.count == 0;
  for (size_t i = 0; i < track->balls; i++) {
    for (int k = 0; k < 3; k++) {
      const int32_t place = place_of(track, frame->positions[3 * i + (size_t)k], k);
      places[3 * i + (size_t)k] = place;
      if ((first && i == 0) || place < track->low[k]) track->low[k] = place;
      if ((first && i == 0) || place > track->high[k]) track->high[k] = place;
    }
  }
}

static void round_turn(const double q[4], int32_t turn[3]) {
  const double sign = q[0] < 0 ? -1 : 1, most = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  double unit[4], square = 0;
  for (int k = 0; k < 4; k++) {
    unit[k] = sign * q[k] / most;
    square += unit[k] * unit[k];
  }
  for (int k = 0; k < 3; k++) turn[k] = (int32_t)lrint(TURN_PARTS * unit[k + 1] / (sqrt(square) + unit[0]));
}

static void round_turns(const graze_track *track, const double *orientations) {
  static const double still[4] = {1, 0, 0, 0};
  int32_t *turns = track->packer->state.turns[0];
  size_t ball = 0;
  for (uint32_t set = 0; set < track->set_count; set++) {
    for (const size_t end = ball + track->sets[set].count; ball < end; ball++) {
      if (track->sets[set].mesh == NULL) continue;
      round_turn(orientations != NULL ? orientations + 4 * ball : still, turns);
      turns += 3;
    }
  }
}

/* An axis of n places or orientations. */
static unsigned char *put_axis(int32_t *const numbers[3], size_t n, uint32_t frame, int axis, unsigned char *to) {
  uint32_t any = 0;
  int planes = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t at = 3 * i + (size_t)axis;
    any |= zigzag((uint32_t)numbers[0][at] - foretell(numbers, frame, at));
  }
  for (; any != 0; any >>= 8) planes++;
  *to++ = (unsigned char)planes;
  for (size_t i = 0; i < n; i++) {
    const size_t at = 3 * i + (size_t)axis;
    const uint32_t difference = zigzag((uint32_t)numbers[0][at] - foretell(numbers, frame, at));
    for (int plane = 0; plane < planes; plane++) to[(size_t)plane * n + i] = (unsigned char)(difference >> 8 * plane);
  }
  return to + (size_t)planes * n;
}

static unsigned char *put_levels(graze_track *track, const graze_track_frame *frame, unsigned char *to) {
  const track_packer *p = track->packer;
  for (size_t i = 0; i < track->balls; i++) {
    const uint8_t level = level_of(track, frame->velocities + 3 * i);
    track->levels_seen[level]++;
    *to++ = (unsigned char)(level - (p->used == 0 ? 0 : p->state.levels[i]));
    p->state.levels[i] = level;
  }
  return to;
}

static unsigned char *put_touching(const graze_track *track, const bool *touching, unsigned char *to) {
  const track_packer *p = track->packer;
  for (size_t byte = 0; byte < bits_of(track); byte++) {
    uint8_t bits = 0;
    for (size_t i = 8 * byte; i < 8 * byte + 8 && i < track->balls && touching != NULL; i++)
      bits |= (uint8_t)(touching[i] << i % 8);
    *to++ = bits ^ (p->used == 0 ? 0 : p->state.touching[byte]);
    p->state.touching[byte] = bits;
  }
  return to;
}

/* Hands the bytes to zlib, in pieces of what it can count. */
static bool deflate_some(const graze_context *context, z_stream *stream, gz_array *packed, const unsigned char *bytes,
                         size_t size, bool last) {
  const size_t most = 1 << 28;
  int answer = Z_OK;
  do {
    const size_t part = size < most ? size : most;
    stream->next_in = bytes;
    stream->avail_in = (uInt)part;
    bytes += part;
    size -= part;
    do {
      if (!array_reserve(context, packed, 1 << 16, 1)) return false;
      stream->next_out = (Bytef *)packed->data + packed->count;
      stream->avail_out = 1 << 16;
      answer = deflate(stream, last && size == 0 ? Z_FINISH : Z_NO_FLUSH);
      packed->count += (1 << 16) - stream->avail_out;
    } while (stream->avail_out == 0);
  } while (size > 0);
  return answer == (last ? Z_STREAM_END : Z_OK) || (!last && answer == Z_BUF_ERROR);
}

graze_status gz_track_flush(graze_track *track) {
  track_packer *p = track->packer;
  if (p->used == 0) return GRAZE_OK;
  if (p->failed || !array_reserve(track->context, &track->groups, 1, sizeof(track_group)))
    return gz_report_fail_memory(track->context, "film");
  p->failed = true;
  if (!deflate_some(track->context, &p->deflater, &p->packed, p->frame, 0, true))
    return gz_report_fail_memory(track->context, "film");
  unsigned char *bytes = gz_new(track->context, p->packed.count, 1);
  if (bytes == NULL) return gz_report_fail_memory(track->context, "film");
  memcpy(bytes, p->packed.data, p->packed.count);
  track_group *groups = track->groups.data;
  groups[track->groups.count++] =
      (track_group){bytes, p->packed.count, p->unpacked, (uint32_t)track->times.count - p->used, p->used};
  deflateReset(&p->deflater);
  p->packed.count = p->unpacked = p->used = 0;
  p->failed = false;
  return GRAZE_OK;
}

graze_status gz_track_pack(graze_track *track, const graze_track_frame *frame) {
  track_packer *p = track->packer;
  graze_status status = p->used == p->group ? gz_track_flush(track) : GRAZE_OK;
  if (status != GRAZE_OK) return status;
  if (p->failed) return gz_report_fail_memory(track->context, "film");
  if (track->times.count == 0) choose_lattice(track, frame);
  make_way(p->state.places);
  make_way(p->state.turns);
  round_places(track, frame);
  round_turns(track, frame->orientations);
  unsigned char *end = p->frame;
  for (int axis = 0; axis < 3; axis++) end = put_axis(p->state.places, track->balls, p->used, axis, end);
  end = put_touching(track, frame->touching, put_levels(track, frame, end));
  for (int axis = 0; axis < 3 && track->turning > 0; axis++)
    end = put_axis(p->state.turns, track->turning, p->used, axis, end);
  const size_t size = (size_t)(end - p->frame);
  p->failed = !deflate_some(track->context, &p->deflater, &p->packed, p->frame, size, false);
  if (p->failed) return gz_report_fail_memory(track->context, "film");
  p->unpacked += size;
  p->used++;
  return GRAZE_OK;
}

unsigned char *gz_track_deflate(const graze_context *context, const void *bytes, size_t size, size_t *packed) {
  z_stream stream = {0};
  gz_array out = {0};
  if (deflateInit(&stream, 6) != Z_OK) return NULL;
  const bool good = deflate_some(context, &stream, &out, bytes, size, true);
  deflateEnd(&stream);
  *packed = out.count;
  if (good) return out.data;
  gz_free(out.data);
  return NULL;
}

/* ---- unpacking --------------------------------------------------------------------------------------------------- */

static bool inflate_group(const graze_track *track, track_reader *r, uint32_t number) {
  const track_group *group = (const track_group *)track->groups.data + number;
  z_stream stream = {0};
  gz_free(r->bytes);
  r->bytes = gz_new(track->context, group->unpacked, 1);
  if (r->bytes == NULL || inflateInit(&stream) != Z_OK) return false;
  stream.next_in = group->bytes;
  stream.next_out = r->bytes;
  int answer = Z_OK;
  size_t in = group->size, out = group->unpacked;
  while (answer == Z_OK) {
    if (stream.avail_in == 0) {
      stream.avail_in = in < 1 << 28 ? (uInt)in : 1 << 28;
      in -= stream.avail_in;
    }
    if (stream.avail_out == 0) {
      stream.avail_out = out < 1 << 28 ? (uInt)out : 1 << 28;
      out -= stream.avail_out;
    }
    answer = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  r->group = number;
  r->size = group->unpacked;
  r->at = r->next = 0;
  return answer == Z_STREAM_END;
}

static void take_axis(track_reader *r, int32_t *const numbers[3], size_t n, int axis) {
  const int planes = r->bytes[r->at++];
  const unsigned char *from = r->bytes + r->at;
  for (size_t i = 0; i < n; i++) {
    const size_t at = 3 * i + (size_t)axis;
    uint32_t word = 0;
    for (int plane = 0; plane < planes; plane++) word |= (uint32_t)from[(size_t)plane * n + i] << 8 * plane;
    numbers[0][at] = (int32_t)((word >> 1 ^ (0 - (word & 1))) + foretell(numbers, r->next, at));
  }
  r->at += (size_t)planes * n;
}

static void take_frame(const graze_track *track, track_reader *r) {
  track_state *state = &r->state;
  make_way(state->places);
  make_way(state->turns);
  for (int axis = 0; axis < 3; axis++) take_axis(r, state->places, track->balls, axis);
  for (size_t i = 0; i < track->balls; i++)
    state->levels[i] = (uint8_t)(r->bytes[r->at++] + (r->next == 0 ? 0 : state->levels[i]));
  for (size_t i = 0; i < bits_of(track); i++)
    state->touching[i] = (uint8_t)(r->bytes[r->at++] ^ (r->next == 0 ? 0 : state->touching[i]));
  for (int axis = 0; axis < 3 && track->turning > 0; axis++) take_axis(r, state->turns, track->turning, axis);
  r->next++;
}

/* Brings the reader to the frame. */
static bool seek(graze_track *track, uint32_t frame) {
  if (track->reader == NULL) {
    track_reader *r = track->reader = gz_new_zeroed(track->context, 1, sizeof *r);
    if (r == NULL || !make_state(track, &r->state)) return false;
  }
  track_reader *r = track->reader;
  const track_group *groups = track->groups.data;
  uint32_t number = 0;
  while (frame >= groups[number].first + groups[number].count) number++;
  const uint32_t wanted = frame - groups[number].first + 1; /* frames of it that are to be taken */
  if (r->bytes == NULL || r->group != number || r->next > wanted) {
    if (!inflate_group(track, r, number)) return false;
  }
  while (r->next < wanted) take_frame(track, r);
  return true;
}

static graze_status read_frame(graze_track *track, uint32_t frame) {
  if (track == NULL || frame >= track->times.count)
    return gz_fail_named(track != NULL ? track->context : NULL, GRAZE_ERROR_ARGUMENT, "film", "", "it has no frame %u",
                         frame);
  graze_status status = gz_track_flush(track);
  if (status != GRAZE_OK || seek(track, frame)) return status;
  free_reader(track);
  return gz_report_fail_memory(track->context, "film");
}

graze_status graze_track_read_frame(graze_track *track, uint32_t frame, double *positions, double *speeds,
                                    bool *touching) {
  graze_status status = read_frame(track, frame);
  if (status != GRAZE_OK) return status;
  const track_state *state = &track->reader->state;
  for (size_t i = 0; i < 3 * (size_t)track->balls && positions != NULL; i++)
    positions[i] = track->origin[i % 3] + track->resolution * state->places[0][i];
  for (size_t i = 0; i < track->balls && speeds != NULL; i++) speeds[i] = gz_track_speed_of(track, state->levels[i]);
  for (size_t i = 0; i < track->balls && touching != NULL; i++) touching[i] = state->touching[i / 8] >> i % 8 & 1;
  return GRAZE_OK;
}

static void read_turn(const int32_t turn[3], double q[4]) {
  double p[3], square = 0;
  for (int k = 0; k < 3; k++) {
    p[k] = (double)turn[k] / TURN_PARTS;
    square += p[k] * p[k];
  }
  q[0] = (1 - square) / (1 + square);
  for (int k = 0; k < 3; k++) q[k + 1] = 2 * p[k] / (1 + square);
}

graze_status graze_track_read_orientations(graze_track *track, uint32_t frame, double *orientations) {
  static const int32_t still[3] = {0, 0, 0};
  graze_status status = read_frame(track, frame);
  if (status != GRAZE_OK) return status;
  const int32_t *turns = track->reader->state.turns[0];
  for (uint32_t set = 0; set < track->set_count; set++) {
    const bool turning = track->sets[set].mesh != NULL;
    for (uint32_t i = 0; i < track->sets[set].count; i++, orientations += 4) {
      read_turn(turning ? turns : still, orientations);
      if (turning) turns += 3;
    }
  }
  return GRAZE_OK;
}
