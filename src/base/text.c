/* More bytes than the buffer holds go to the sink as they are, so a text with a sink never needs more memory. */
#include "base/text.h"

#include <string.h>

#include "base/number.h"
#include "base/owned.h"

enum { FIRST_CAPACITY = 1 << 16 };

bool gz_text_begin(const graze_context *context, gz_text *text, gz_text_sink sink, void *user) {
  *text = (gz_text){.context = context, .sink = sink, .user = user};
  text->data = gz_new(text->context, FIRST_CAPACITY, 1);
  text->no_memory = text->data == NULL;
  if (text->data != NULL) text->capacity = FIRST_CAPACITY;
  return !text->no_memory;
}

void gz_text_end(gz_text *text) {
  gz_free(text->data);
  text->data = NULL;
}

static void hand_on(gz_text *text, const void *bytes, size_t size) {
  if (size > 0 && !text->refused) text->refused = !text->sink(text->user, bytes, size);
}

void gz_text_flush(gz_text *text) {
  if (text->sink == NULL) return;
  hand_on(text, text->data, text->used);
  text->used = 0;
}

/* Room for `size` more bytes in the buffer. */
static bool make_room(gz_text *text, size_t size) {
  if (size <= text->capacity - text->used) return true;
  gz_text_flush(text);
  if (size <= text->capacity - text->used) return true;
  if (text->sink != NULL) return false;
  size_t capacity = 2 * text->capacity;
  while (capacity - text->used < size) capacity *= 2;
  char *data = gz_resize(text->context, text->data, capacity, 1);
  text->no_memory = data == NULL;
  if (data == NULL) return false;
  text->data = data;
  text->capacity = capacity;
  return true;
}

void gz_put_bytes(gz_text *text, const void *bytes, size_t size) {
  if (text->no_memory) return;
  if (make_room(text, size)) {
    memcpy(text->data + text->used, bytes, size);
    text->used += size;
  } else if (text->sink != NULL) {
    hand_on(text, bytes, size);
  }
}

void gz_put_text(gz_text *text, const char *string) {
  if (string != NULL) gz_put_bytes(text, string, strlen(string));
}

void gz_put_integer(gz_text *text, uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  gz_put_bytes(text, digits + first, sizeof digits - first);
}

void gz_put_hex(gz_text *text, uint64_t value) {
  char digits[16];
  for (int i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  gz_put_bytes(text, digits, sizeof digits);
}

void gz_put_double(gz_text *text, double value) {
  if (!text->no_memory && make_room(text, 32)) text->used += gz_format_double(value, text->data + text->used);
}

/* Unicode, table 3-7 and "substitution of maximal subparts". */
int gz_utf8_length(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0x80) return 1;
  if (at[0] < 0xc2 || at[0] > 0xf4) return -1;
  int length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
  unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf; /* surrogates are no characters */
  for (int i = 1; i < length; i++, low = 0x80, high = 0xbf) {
    if (at[i] < low || at[i] > high) return -i;
  }
  return length;
}

const char *gz_put_character(gz_text *text, const char *at) {
  int length = gz_utf8_length(at);
  if (length < 0) {
    gz_put_text(text, GZ_REPLACEMENT);
    return at - length;
  }
  gz_put_bytes(text, at, (size_t)length);
  return at + length;
}
