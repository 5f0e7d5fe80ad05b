/* Animated PNG: a PNG file whose first picture is the plain one, with a chunk that says how many there are, one before
 * each that says how long it is shown, and the others' data in chunks of their own (PNG specification, third edition,
 * sections 5.6 and 11.3.6). Every picture is encoded by libpng; its chunks are copied from there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/owned.h"
#include "fault.h"

#ifdef GRAZE_HAVE_PNG
#include "png_put.h"

enum { SIGNATURE = 8, CHUNK_HEAD = 8, CHUNK_TAIL = 4, HEADER = 13 };

struct graze_animation {
  const graze_context *context;
  new_file place;
  FILE *file;
  char *path;
  uint32_t pictures, added, milliseconds;
  uint32_t width, height;
  uint32_t sequence; /* number of the next chunk of the animation */
  bool failed;
  unsigned char *bytes; /* the encoded picture */
  size_t size, room;
};

/* ---- chunks ---- */

static uint32_t add_to_crc(uint32_t crc, const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return crc;
}

static void write_big_endian(unsigned char *to, uint32_t value, int bytes) {
  for (int k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> (8 * (bytes - 1 - k)));
}

static uint32_t read_big_endian(const unsigned char *from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* A chunk whose data come in two pieces. */
static bool put_chunk(graze_animation *a, const char *type, const unsigned char *first, size_t first_size,
                      const unsigned char *second, size_t second_size) {
  unsigned char head[CHUNK_HEAD], tail[CHUNK_TAIL];
  write_big_endian(head, (uint32_t)(first_size + second_size), 4);
  memcpy(head + 4, type, 4);
  uint32_t crc = add_to_crc(0xFFFFFFFFu, head + 4, 4);
  crc = add_to_crc(add_to_crc(crc, first, first_size), second, second_size);
  write_big_endian(tail, crc ^ 0xFFFFFFFFu, 4);
  return fwrite(head, 1, sizeof head, a->file) == sizeof head && fwrite(first, 1, first_size, a->file) == first_size &&
         fwrite(second, 1, second_size, a->file) == second_size && fwrite(tail, 1, sizeof tail, a->file) == sizeof tail;
}

/* acTL: how many pictures, and 0 for "over and over". */
static bool put_animation_head(graze_animation *a) {
  unsigned char data[8] = {0};
  write_big_endian(data, a->pictures, 4);
  return put_chunk(a, "acTL", data, sizeof data, data, 0);
}

/* fcTL: number, size, place, and the delay as a fraction of a second. */
static bool put_frame_head(graze_animation *a) {
  unsigned char data[26] = {0};
  write_big_endian(data, a->sequence++, 4);
  write_big_endian(data + 4, a->width, 4);
  write_big_endian(data + 8, a->height, 4);
  write_big_endian(data + 20, a->milliseconds, 2);
  write_big_endian(data + 22, 1000, 2);
  return put_chunk(a, "fcTL", data, sizeof data, data, 0);
}

static bool put_data(graze_animation *a, const unsigned char *data, size_t size) {
  unsigned char number[4];
  if (a->added == 0) return put_chunk(a, "IDAT", data, size, data, 0);
  write_big_endian(number, a->sequence++, 4);
  return put_chunk(a, "fdAT", number, sizeof number, data, size);
}

/* Copies what is needed of the encoded picture. */
static bool put_encoded(graze_animation *a) {
  if (a->added == 0 &&
      (fwrite(a->bytes, 1, SIGNATURE, a->file) != SIGNATURE ||
       !put_chunk(a, "IHDR", a->bytes + SIGNATURE + CHUNK_HEAD, HEADER, a->bytes, 0) || !put_animation_head(a)))
    return false;
  if (!put_frame_head(a)) return false;
  for (size_t at = SIGNATURE; at + CHUNK_HEAD + CHUNK_TAIL <= a->size;) {
    uint32_t length = read_big_endian(a->bytes + at);
    if (memcmp(a->bytes + at + 4, "IDAT", 4) == 0 && !put_data(a, a->bytes + at + CHUNK_HEAD, length)) return false;
    at += CHUNK_HEAD + (size_t)length + CHUNK_TAIL;
  }
  return true;
}

static bool keep_bytes(void *user, const void *bytes, size_t size) {
  graze_animation *a = user;
  if (size > a->room - a->size) {
    size_t room = 2 * a->room + size + 4096;
    unsigned char *larger = gz_resize(a->context, a->bytes, room, 1);
    if (larger == NULL) return false;
    a->bytes = larger;
    a->room = room;
  }
  memcpy(a->bytes + a->size, bytes, size);
  a->size += size;
  return true;
}

/* ---- the calls ---- */

graze_status graze_animation_open(graze_context *context, const char *path, uint32_t pictures, uint32_t milliseconds,
                                  graze_animation **animation) {
  if (context == NULL || path == NULL || animation == NULL || pictures == 0 || milliseconds > UINT16_MAX)
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "",
                         "an animation needs a path, one picture or more, and 65535 milliseconds at most");
  graze_animation *a = gz_new_zeroed(context, 1, sizeof *a);
  if (a != NULL) a->path = gz_new_text(context, path);
  if (a == NULL || a->path == NULL) {
    gz_free(a);
    return gz_report_fail_memory(context, path);
  }
  a->context = context;
  a->pictures = pictures;
  a->milliseconds = milliseconds;
  a->file = gz_new_stream_create(&a->place, path);
  if (a->file == NULL) {
    gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot open for writing: %s", strerror(errno));
    gz_free(a->path);
    gz_free(a);
    return GRAZE_ERROR_FILE;
  }
  *animation = a;
  return GRAZE_OK;
}

graze_status graze_animation_add(graze_animation *animation, const graze_picture *picture) {
  graze_animation *a = animation;
  char reason[PNG_REASON];
  if (a == NULL || picture == NULL || picture->pixels == NULL || picture->width == 0 || picture->height == 0 ||
      a->added == a->pictures || (a->added > 0 && (picture->width != a->width || picture->height != a->height)))
    return gz_fail_named(a != NULL ? a->context : NULL, GRAZE_ERROR_ARGUMENT, a != NULL ? a->path : "(no name)", "",
                         "a picture of another size, or more of them than were announced");
  a->width = picture->width;
  a->height = picture->height;
  a->size = 0;
  a->failed = true; /* until it is there */
  if (!gz_png_put(picture, keep_bytes, a, reason))
    return gz_fail_named(a->context, GRAZE_ERROR_MEMORY, a->path, "", "cannot encode: %s", reason);
  if (!put_encoded(a))
    return gz_fail_named(a->context, GRAZE_ERROR_FILE, a->path, "", "cannot write: %s", strerror(errno));
  a->failed = false;
  a->added++;
  return GRAZE_OK;
}

graze_status graze_animation_close(graze_animation *animation) {
  graze_animation *a = animation;
  if (a == NULL) return GRAZE_OK;
  graze_status status = GRAZE_OK;
  bool whole = !a->failed && a->added == a->pictures, written = whole && put_chunk(a, "IEND", a->bytes, 0, a->bytes, 0);
  if (!gz_new_stream_finish(&a->place, a->file, written)) written = false;
  if (!whole)
    status = gz_fail_named(a->context, GRAZE_ERROR_ARGUMENT, a->path, "", "%u pictures of %u", a->added, a->pictures);
  else if (!written)
    status = gz_fail_named(a->context, GRAZE_ERROR_FILE, a->path, "", "cannot write: %s", strerror(errno));
  gz_free(a->bytes);
  gz_free(a->path);
  gz_free(a);
  return status;
}

#else

static graze_status refuse(const graze_context *context) {
  return gz_fail_named(context, GRAZE_ERROR_UNSUPPORTED, "pictures", "", "graze was built without libpng (libpng-dev)");
}

graze_status graze_animation_open(graze_context *context, const char *path, uint32_t pictures, uint32_t milliseconds,
                                  graze_animation **animation) {
  (void)path, (void)pictures, (void)milliseconds, (void)animation;
  return refuse(context);
}

graze_status graze_animation_add(graze_animation *animation, const graze_picture *picture) {
  (void)animation, (void)picture;
  return refuse(NULL);
}

graze_status graze_animation_close(graze_animation *animation) {
  (void)animation;
  return refuse(NULL);
}

#endif
