/* gltf_uri.c: the bytes behind a buffer's uri: base64 within the file (RFC 2397 and 4648), or a file next to it.
 *
 * A path must stay below the folder of the glTF file. A file from elsewhere could otherwise have any file of its
 * reader's opened, so that an absolute path, a ".." and every scheme but "data:" are refused, after the percent signs
 * have been decoded (RFC 3986).
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "gltf.h"
#include "text.h"

/* ---- data: ---- */

static int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes the `length` characters before the padding. False: one of them is not of the alphabet. */
static bool decode_base64(const char *text, size_t length, unsigned char *out) {
  uint32_t bits = 0;
  for (size_t i = 0; i < length; i++) {
    int value = base64_value(text[i]);
    if (value < 0) return false;
    bits = bits << 6 | (uint32_t)value;
    if (i % 4 > 0) *out++ = (unsigned char)(bits >> (6 - 2 * (i % 4)));
  }
  return true;
}

static bool read_data(const gltf_file *file, const char *place, const char *text, gltf_buffer *buffer) {
  size_t length = strlen(text), padding = 0;
  while (padding < 2 && padding < length && text[length - padding - 1] == '=') padding++;
  bool whole = padding > 0 ? length % 4 == 0 : length % 4 != 1; /* padding may be left out */
  length -= padding;
  buffer->size = length / 4 * 3 + (length % 4 > 0 ? length % 4 - 1 : 0);
  buffer->owned = gz_new(file->fault->context, buffer->size, 1);
  if (buffer->owned == NULL) return gz_io_fail_memory(file->fault);
  buffer->bytes = buffer->owned;
  if (whole && decode_base64(text, length, buffer->owned)) return true;
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "the data: uri is not base64");
}

/* Behind the head of a data: uri; NULL: it is none of the two kinds that chapter 3.6.1.1 has. */
static const char *skip_data_head(const char *uri) {
  static const char *const heads[] = {"data:application/octet-stream;base64,", "data:application/gltf-buffer;base64,"};
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    size_t length = strlen(heads[i]);
    if (strlen(uri) >= length && gz_io_token_is(uri, uri + length, heads[i])) return uri + length;
  }
  return NULL;
}

/* ---- files ---- */

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %41 and the like in place. False: a percent sign without two digits, or a zero byte. */
static bool decode_percents(char *text) {
  char *out = text;
  for (; *text; text++) {
    if (*text == '%') {
      int high = hex_value(text[1]), low = high < 0 ? -1 : hex_value(text[2]);
      if (low < 0 || (high == 0 && low == 0)) return false;
      *out++ = (char)(16 * high + low);
      text += 2;
    } else {
      *out++ = *text;
    }
  }
  *out = 0;
  return true;
}

static bool has_scheme(const char *uri) {
  size_t length = strcspn(uri, ":/?#%");
  return uri[length] == ':';
}

/* Is ".." one of the names of the path? */
static bool climbs(const char *path) {
  for (const char *name = path;; name++) {
    size_t length = strcspn(name, "/\\");
    if (length == 2 && name[0] == '.' && name[1] == '.') return true;
    name += length;
    if (*name == 0) return false;
  }
}

static bool read_path(const gltf_file *file, const char *place, const char *folder, size_t folder_length,
                      const char *uri, gltf_buffer *buffer) {
  size_t length = strlen(uri);
  char *path = gz_new(file->fault->context, 1, folder_length + length + 1);
  if (path == NULL) return gz_io_fail_memory(file->fault);
  char *relative = path + folder_length;
  memcpy(path, folder, folder_length);
  memcpy(relative, uri, length + 1);
  io_file bytes = {0};
  io_fault fault = {.context = file->fault->context};
  gz_quoted quoted = gz_io_quote(uri, uri + length);
  bool good = decode_percents(relative) ||
              gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "the uri \"%s\" has a wrong percent sign", quoted.text);
  if (good && (*relative == 0 || *relative == '/' || *relative == '\\' || climbs(relative))) {
    good =
        gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "the uri \"%s\" does not stay in the file's folder", quoted.text);
  }
  if (good && !gz_io_file_read(path, false, &bytes, &fault)) {
    good = gz_gltf_fail(file, fault.status, place, "\"%s\": %s", quoted.text, fault.reason);
  }
  gz_free(path);
  *buffer = (gltf_buffer){.bytes = (unsigned char *)bytes.bytes, .size = bytes.size, .owned = bytes.bytes};
  return good;
}

static bool read_relative(const gltf_file *file, const char *place, const char *uri, gltf_buffer *buffer) {
  const char *slash = strrchr(file->input->name, '/');
  size_t folder = slash != NULL ? (size_t)(slash - file->input->name) + 1 : 0;
  return read_path(file, place, file->input->name, folder, uri, buffer);
}

bool gz_gltf_read_uri(const gltf_file *file, const char *place, const char *uri, uint64_t wanted, gltf_buffer *buffer) {
  bool is_data = strlen(uri) >= 5 && gz_io_token_is(uri, uri + 5, "data:");
  const char *data = skip_data_head(uri);
  if (is_data && data == NULL) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place,
                        "a data: uri that is neither application/octet-stream nor application/gltf-buffer in base64");
  }
  if (!is_data && has_scheme(uri)) {
    return gz_gltf_fail(file, GRAZE_ERROR_UNSUPPORTED, place, "the uri \"%s\" is not of a file next to this one",
                        gz_io_quote(uri, uri + strlen(uri)).text);
  }
  if (!(is_data ? read_data(file, place, data, buffer) : read_relative(file, place, uri, buffer))) return false;
  if (buffer->size >= wanted) return true;
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "%llu bytes, but \"byteLength\" is %llu",
                      (unsigned long long)buffer->size, (unsigned long long)wanted);
}
