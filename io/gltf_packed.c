/* gltf_packed.c: views whose bytes are compressed (EXT_meshopt_compression). A view is unpacked as a whole, the first
 * time that positions, corners or instances stand in it: the meshes of a file often share one. What holds normals and
 * the like stays packed. Where the view has bytes of its own too, for readers without the extension, those are read. */
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

#define EXTENSION "EXT_meshopt_compression"

/* The number of a word in a list that ends with NULL. */
static bool get_word(const gltf_file *file, const char *place, const json_t *object, const char *key,
                     const char *const *words, unsigned *number) {
  const char *word = json_string_value(json_object_get(object, key));
  for (*number = 0; word != NULL && words[*number] != NULL; ++*number) {
    if (strcmp(word, words[*number]) == 0) return true;
  }
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, EXTENSION ": \"%s\" is not one of its words", key);
}

static bool fail_packing(const gltf_file *file, const char *place, const char *what) {
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, EXTENSION ": %s", what);
}

/* The rules of the extension for strides, counts and filters. */
static bool check_stream(const gltf_file *file, const char *place, const gltf_view *view) {
  const meshopt_stream *s = &view->stream;
  const bool indices = s->mode != MESHOPT_ATTRIBUTES;
  const uint64_t size = file->buffers[view->stream_buffer].size;
  if (indices ? s->stride != 2 && s->stride != 4 : s->stride % 4 != 0)
    return fail_packing(file, place, "its \"byteStride\" does not suit its mode");
  if (s->mode == MESHOPT_TRIANGLES && s->count % 3 != 0)
    return fail_packing(file, place, "\"count\" is no multiple of 3");
  if ((indices && s->filter != MESHOPT_NONE) || (s->filter == MESHOPT_QUATERNION && s->stride != 8))
    return fail_packing(file, place, "\"filter\" does not suit mode and \"byteStride\"");
  if (s->count != view->size / s->stride || view->size % s->stride != 0 ||
      (view->stride > 0 && view->stride != s->stride))
    return fail_packing(file, place, "\"count\" and \"byteStride\" are not those of the view");
  if (s->size > size || view->stream_offset > size - s->size)
    return fail_packing(file, place, "its bytes are out of range of their buffer");
  return s->size >= gz_meshopt_least_size(s) ||
         fail_packing(file, place, "\"byteLength\" is too small for so many elements");
}

bool gz_gltf_read_packing(const gltf_file *file, const char *place, const json_t *object, gltf_view *view) {
  static const char *const modes[] = {"ATTRIBUTES", "TRIANGLES", "INDICES", NULL};
  static const char *const filters[] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", NULL};
  const json_t *packing = gz_gltf_extension(object, EXTENSION);
  const gltf_buffer *plain = &file->buffers[view->buffer];
  meshopt_stream *s = &view->stream;
  uint64_t stride;
  unsigned mode, filter = MESHOPT_NONE;
  if (packing == NULL || plain->bytes != NULL || plain->stored) return true;
  if (!gz_gltf_get_index(file, place, packing, "buffer", file->buffer_count, true, &view->stream_buffer) ||
      !gz_gltf_get_number(file, place, packing, "byteOffset", 0, UINT64_MAX, 0, &view->stream_offset) ||
      !gz_gltf_get_number(file, place, packing, "byteLength", 1, UINT64_MAX, GLTF_REQUIRED, &s->size) ||
      !gz_gltf_get_number(file, place, packing, "byteStride", 1, 256, GLTF_REQUIRED, &stride) ||
      !gz_gltf_get_number(file, place, packing, "count", 1, UINT64_MAX, GLTF_REQUIRED, &s->count) ||
      !get_word(file, place, packing, "mode", modes, &mode) ||
      (json_object_get(packing, "filter") != NULL && !get_word(file, place, packing, "filter", filters, &filter))) {
    return false;
  }
  s->stride = (unsigned)stride;
  s->mode = (meshopt_mode)mode;
  s->filter = (meshopt_filter)filter;
  view->packed = true;
  return check_stream(file, place, view);
}

/* A stream becomes 64 times as large at most. So does a file, unless many views name the same bytes. */
bool gz_gltf_allow_packed(gltf_file *file, const char *place, uint64_t size) {
  file->packed_bytes += size;
  return file->packed_bytes <= file->byte_count ||
         gz_gltf_fail(file, GRAZE_ERROR_LIMIT, place, "compressed views name more bytes than all buffers have");
}

static bool unpack_view(gltf_file *file, uint32_t number) {
  gltf_view *view = number != GLTF_NONE ? &file->views[number] : NULL;
  if (view == NULL || !view->packed || view->unpacked != NULL) return true;
  gltf_place place = gz_gltf_place_of("bufferView", number);
  if (!gz_gltf_allow_packed(file, place.text, view->stream.size)) return false;
  if (view->stream.filter == MESHOPT_OCTAHEDRAL) {
    return gz_gltf_fail(file, GRAZE_ERROR_UNSUPPORTED, place.text,
                        EXTENSION ": the filter OCTAHEDRAL is for normals, but what is read is none");
  }
  void *owned;
  const unsigned char *bytes =
      gz_gltf_get_bytes(file, place.text, view->stream_buffer, view->stream_offset, view->stream.size, &owned);
  if (bytes == NULL) return false;
  view->unpacked = gz_new(file->fault->context, view->size, 1);
  const char *wrong = view->unpacked != NULL ? gz_meshopt_decode(&view->stream, bytes, view->unpacked) : NULL;
  gz_free(owned);
  if (view->unpacked == NULL) return gz_io_fail_memory(file->fault);
  return wrong == NULL || fail_packing(file, place.text, wrong);
}

bool gz_gltf_unpack(gltf_file *file, uint32_t number) {
  if (number == GLTF_NONE) return true;
  const gltf_accessor *accessor = &file->accessors[number];
  if (!unpack_view(file, accessor->run.view)) return false;
  return accessor->sparse_count == 0 ||
         (unpack_view(file, accessor->sparse_indices.view) && unpack_view(file, accessor->sparse_values.view));
}
