/* gltf_buffer.c: buffers and the views of them (chapters 3.6.1 and 4.4.3.2). Every view is checked against its buffer,
 * used or not. A buffer without bytes is no fault as long as nothing is read from it. */
#include <stdlib.h>

#include "gltf.h"

enum { LEAST_STRIDE = 4, MOST_STRIDE = 252 };

static bool take_chunk(gltf_file *file, const char *place, uint64_t size, gltf_buffer *buffer) {
  if (!file->has_chunk) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "neither a \"uri\" nor a binary chunk in the file");
  }
  if (file->chunk.size < size) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "the binary chunk has %llu bytes, but \"byteLength\" is %llu",
                        (unsigned long long)file->chunk.size, (unsigned long long)size);
  }
  *buffer = file->chunk;
  return true;
}

static bool read_buffer(gltf_file *file, const json_t *object, uint32_t index) {
  gltf_place place = gz_gltf_place_of("buffer", index);
  gltf_buffer *buffer = &file->buffers[index];
  uint64_t size;
  const json_t *uri = json_object_get(object, "uri");
  const json_t *packing = gz_gltf_extension(object, "EXT_meshopt_compression");
  if (!gz_gltf_get_number(file, place.text, object, "byteLength", 1, UINT64_MAX, GLTF_REQUIRED, &size)) return false;
  bool good = true;
  if (uri != NULL && !json_is_string(uri)) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place.text, "\"uri\" is not a string");
  }
  if (uri != NULL) {
    good = gz_gltf_read_uri(file, place.text, json_string_value(uri), size, buffer);
  } else if (index == 0 && file->is_glb && !json_is_true(json_object_get(packing, "fallback"))) {
    good = take_chunk(file, place.text, size, buffer);
  }
  buffer->size = size; /* what stands behind it is padding */
  if (buffer->bytes != NULL || buffer->stored) file->byte_count += size;
  return good;
}

static bool read_view(gltf_file *file, const json_t *object, uint32_t index) {
  gltf_place place = gz_gltf_place_of("bufferView", index);
  gltf_view *view = &file->views[index];
  uint64_t stride;
  if (!gz_gltf_get_index(file, place.text, object, "buffer", file->buffer_count, true, &view->buffer) ||
      !gz_gltf_get_number(file, place.text, object, "byteOffset", 0, UINT64_MAX, 0, &view->offset) ||
      !gz_gltf_get_number(file, place.text, object, "byteLength", 1, UINT64_MAX, GLTF_REQUIRED, &view->size) ||
      !gz_gltf_get_number(file, place.text, object, "byteStride", LEAST_STRIDE, MOST_STRIDE, 0, &stride) ||
      !gz_gltf_get_number(file, place.text, object, "target", 0, UINT64_MAX, 0, &view->target)) {
    return false;
  }
  view->stride = (unsigned)stride;
  if (stride % 4 != 0 || stride > view->size) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place.text,
                        "\"byteStride\" is %llu, not a multiple of 4 within \"byteLength\"",
                        (unsigned long long)stride);
  }
  uint64_t size = file->buffers[view->buffer].size;
  if (view->size <= size && view->offset <= size - view->size) {
    return gz_gltf_read_packing(file, place.text, object, view);
  }
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place.text, "bytes %llu to %llu of buffer %lu, which has %llu",
                      (unsigned long long)view->offset, (unsigned long long)(view->offset + view->size),
                      (unsigned long)view->buffer, (unsigned long long)size);
}

const unsigned char *gz_gltf_get_bytes(const gltf_file *file, const char *place, uint32_t number, uint64_t offset,
                                       uint64_t size, void **owned) {
  const gltf_buffer *buffer = &file->buffers[number];
  *owned = NULL;
  if (buffer->bytes != NULL) return buffer->bytes + offset;
  if (!buffer->stored) {
    gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "buffer %lu has no bytes: it has no \"uri\"", (unsigned long)number);
    return NULL;
  }
  *owned = gz_new(file->fault->context, size, 1);
  if (*owned == NULL) gz_io_fail_memory(file->fault);
  if (*owned == NULL) return NULL;
  if (gz_io_file_read_at(file->input->descriptor, buffer->at + offset, size, *owned, file->fault)) return *owned;
  gz_free(*owned);
  return NULL;
}

bool gz_gltf_read_buffers(gltf_file *file) {
  json_t *buffers, *views;
  if (!gz_gltf_get_table(file, "buffers", &buffers, &file->buffer_count)) return false;
  file->buffers = gz_new_zeroed(file->fault->context, (size_t)file->buffer_count + 1, sizeof file->buffers[0]);
  if (file->buffers == NULL) return gz_io_fail_memory(file->fault);
  for (uint32_t i = 0; i < file->buffer_count; i++) {
    if (!read_buffer(file, json_array_get(buffers, i), i)) return false;
  }
  if (!gz_gltf_get_table(file, "bufferViews", &views, &file->view_count)) return false;
  file->views = gz_new_zeroed(file->fault->context, (size_t)file->view_count + 1, sizeof file->views[0]);
  if (file->views == NULL) return gz_io_fail_memory(file->fault);
  for (uint32_t i = 0; i < file->view_count; i++) {
    if (!read_view(file, json_array_get(views, i), i)) return false;
  }
  return true;
}
