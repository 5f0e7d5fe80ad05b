/* gltf_draco.c: primitives that Draco has compressed (KHR_draco_mesh_compression). The program graze-draco unpacks all
 * of a file at once, before the meshes are listed. What it gives becomes a buffer with views and accessors, behind
 * those of the file, which stand for the primitive's own, and is checked as these are. Where a primitive has positions
 * of its own too, for readers without the extension, those are read. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "draco.h"
#include "gltf.h"
#include "helper.h"

#define EXTENSION "KHR_draco_mesh_compression"

/* A view with a compressed mesh, and what the first primitive that names it says of it. */
typedef struct gltf_piece {
  uint32_t view, attribute;
  gltf_accessor position, corners;
  gltf_place place;
} gltf_piece;

struct gltf_pieces {
  gltf_piece *list;
  uint32_t count;
  uint32_t *of_view; /* number of the piece, from 1 on; 0: the view has none */
  io_file unpacked;
};

static bool fail_draco(const gltf_file *file, const char *place, const char *what) {
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, EXTENSION ": %s", what);
}

/* ---- what is compressed ---- */

/* Whether its positions are nowhere else; faults are those of the primitive's own reader. */
static bool is_packed(const gltf_file *file, const json_t *primitive) {
  const json_t *number = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
  if (gz_gltf_extension(primitive, EXTENSION) == NULL || !json_is_number(number)) return false;
  const double index = json_number_value(number);
  if (!(index >= 0 && index < file->accessor_count)) return false;
  const gltf_accessor *position = &file->accessors[(uint32_t)index];
  return position->run.view == GLTF_NONE && position->sparse_count == 0;
}

static bool same_elements(const gltf_accessor *a, const gltf_accessor *b) {
  return a->count == b->count && a->run.component == b->run.component && a->components == b->components &&
         a->normalized == b->normalized;
}

/* Reads what the primitive says of its piece. */
static bool read_piece(const gltf_file *file, const char *place, const json_t *primitive, gltf_piece *piece) {
  const json_t *packing = gz_gltf_extension(primitive, EXTENSION);
  json_t *own, *attributes;
  uint32_t position, corners;
  uint64_t attribute, mode;
  if (!gz_gltf_get_object(file, place, primitive, "attributes", &own) ||
      !gz_gltf_get_object(file, place, packing, "attributes", &attributes) ||
      !gz_gltf_get_index(file, place, packing, "bufferView", file->view_count, true, &piece->view) ||
      !gz_gltf_get_number(file, place, attributes, "POSITION", 0, UINT32_MAX, GLTF_REQUIRED, &attribute) ||
      !gz_gltf_get_index(file, place, own, "POSITION", file->accessor_count, true, &position) ||
      !gz_gltf_get_index(file, place, primitive, "indices", file->accessor_count, true, &corners) ||
      !gz_gltf_get_number(file, place, primitive, "mode", 0, UINT64_MAX, 4, &mode)) {
    return false;
  }
  if (mode != 4) return gz_gltf_fail(file, GRAZE_ERROR_UNSUPPORTED, place, EXTENSION ": only lists of triangles");
  if (gz_gltf_component_size(file->accessors[position].run.component) == 0)
    return fail_draco(file, place, "\"componentType\" of the positions is not known");
  piece->attribute = (uint32_t)attribute;
  piece->position = file->accessors[position];
  piece->corners = file->accessors[corners];
  if (piece->corners.run.view == GLTF_NONE && piece->corners.sparse_count == 0) return true;
  return fail_draco(file, place, "the indices are not compressed, but the positions are");
}

/* Primitives may share a piece if they take the same from it. */
static bool add_piece(gltf_file *file, const char *place, const json_t *primitive) {
  gltf_piece piece = {0};
  snprintf(piece.place.text, sizeof piece.place.text, "%s", place);
  if (!read_piece(file, place, primitive, &piece)) return false;
  gltf_pieces *pieces = file->pieces;
  uint32_t *known = &pieces->of_view[piece.view];
  if (*known == 0) {
    pieces->list[pieces->count++] = piece;
    *known = pieces->count;
    return true;
  }
  const gltf_piece *first = &pieces->list[*known - 1];
  return (first->attribute == piece.attribute && same_elements(&first->position, &piece.position) &&
          same_elements(&first->corners, &piece.corners)) ||
         fail_draco(file, place, "another primitive takes something else from its bufferView");
}

static bool list_pieces(gltf_file *file) {
  json_t *mesh, *primitive;
  size_t m, k;
  json_array_foreach(json_object_get(file->root, "meshes"), m, mesh) {
    json_array_foreach(json_object_get(mesh, "primitives"), k, primitive) {
      char place[64];
      snprintf(place, sizeof place, "mesh %zu primitive %zu", m, k);
      if (is_packed(file, primitive) && !add_piece(file, place, primitive)) return false;
    }
  }
  return true;
}

/* ---- asking ---- */

static bool write_bytes(const gltf_file *file, int request, const void *bytes, size_t size) {
  return gz_file_write(request, bytes, size) ||
         gz_gltf_fail(file, GRAZE_ERROR_FILE, "", "cannot pass compressed meshes on");
}

static bool write_piece(gltf_file *file, int request, const gltf_piece *piece) {
  const gltf_view *view = &file->views[piece->view];
  const uint32_t numbers[2] = {piece->attribute, (uint32_t)piece->position.run.component};
  void *owned;
  if (!gz_gltf_allow_packed(file, piece->place.text, view->size)) return false;
  const unsigned char *bytes =
      gz_gltf_get_bytes(file, piece->place.text, view->buffer, view->offset, view->size, &owned);
  if (bytes == NULL) return false;
  bool good = write_bytes(file, request, numbers, sizeof numbers) &&
              write_bytes(file, request, &view->size, sizeof view->size) &&
              write_bytes(file, request, bytes, view->size);
  gz_free(owned);
  return good;
}

/* Everything is in a file without a name before the program starts, so that neither waits for the other. */
static bool ask(gltf_file *file) {
  static const io_helper draco = {
      "graze-draco", "GRAZE_DRACO", "unpacking",
      EXTENSION
      " is unpacked by the program graze-draco, which is not there (it is built with libdraco-dev); "
      "\"gltf-transform cp IN.glb OUT.glb\" unpacks it too"};
  int request = memfd_create("graze-draco", MFD_CLOEXEC);
  if (request < 0) return gz_gltf_fail(file, GRAZE_ERROR_FILE, "", "cannot pass compressed meshes on");
  bool good = true;
  for (uint32_t i = 0; i < file->pieces->count && good; i++) good = write_piece(file, request, &file->pieces->list[i]);
  good = good && lseek(request, 0, SEEK_SET) == 0 &&
         gz_io_helper_run(&draco, NULL, request, &file->pieces->unpacked, file->fault);
  close(request);
  return good;
}

/* ---- the answer ---- */

typedef struct answer {
  gltf_file *file;
  const char *p, *end;
} answer;

static bool fail_answer(const answer *a) {
  return gz_gltf_fail(a->file, GRAZE_ERROR_FORMAT, "", "the program graze-draco gave no whole answer");
}

static bool take(answer *a, void *out, size_t size) {
  if ((size_t)(a->end - a->p) < size) return fail_answer(a);
  memcpy(out, a->p, size);
  a->p += size;
  return true;
}

/* As the program says. */
static bool take_fault(answer *a, const char *place) {
  char text[120] = "";
  uint32_t length = 0;
  if (!take(a, &length, sizeof length)) return false;
  if (length > sizeof text - 1) length = sizeof text - 1;
  if (!take(a, text, length)) return false;
  const gz_quoted shown = gz_quote(text, text + length, sizeof text - 1);
  return fail_draco(a->file, place, shown.text);
}

/* A view of the answer's next bytes, and an accessor of what is in it. */
static bool take_run(answer *a, const gltf_accessor *like, uint64_t component, uint64_t count, uint64_t size) {
  gltf_file *file = a->file;
  const uint32_t made = file->made_count++, number = file->view_count + made;
  if ((size_t)(a->end - a->p) / size < count) return fail_answer(a);
  file->views[number] = (gltf_view){
      .buffer = file->buffer_count, .offset = (uint64_t)(a->p - file->pieces->unpacked.bytes), .size = count * size};
  gltf_accessor *accessor = &file->accessors[file->accessor_count + made];
  *accessor = *like;
  accessor->run = (gltf_run){.view = number, .component = component};
  a->p += count * size;
  return true;
}

static bool take_piece(answer *a, const gltf_piece *piece) {
  char mark[DRACO_MARK_SIZE];
  uint64_t counts[2];
  const char *place = piece->place.text;
  if (!take(a, mark, sizeof mark)) return false;
  if (memcmp(mark, DRACO_FAULT, sizeof mark) == 0) return take_fault(a, place);
  if (memcmp(mark, DRACO_MESH, sizeof mark) != 0) return fail_answer(a);
  if (!take(a, counts, sizeof counts)) return false;
  if (counts[0] != piece->position.count || counts[1] > UINT32_MAX || 3 * counts[1] != piece->corners.count) {
    return gz_gltf_fail(a->file, GRAZE_ERROR_FORMAT, place,
                        EXTENSION ": it gives %llu vertices and %llu indices, the accessors say %llu and %llu",
                        (unsigned long long)counts[0], (unsigned long long)counts[1] * 3,
                        (unsigned long long)piece->position.count, (unsigned long long)piece->corners.count);
  }
  const uint64_t component = piece->position.run.component;
  return take_run(a, &piece->position, component, counts[0], 3 * (uint64_t)gz_gltf_component_size(component)) &&
         take_run(a, &piece->corners, GLTF_UNSIGNED_INT, 3 * counts[1], sizeof(uint32_t));
}

/* Room behind the tables for what is made. */
static bool make_room(gltf_file *file) {
  const graze_context *context = file->fault->context;
  const size_t more = 2 * (size_t)file->pieces->count;
  gltf_view *views = gz_resize(context, file->views, file->view_count + more, sizeof *views);
  if (views != NULL) file->views = views;
  gltf_accessor *accessors = gz_resize(context, file->accessors, file->accessor_count + more, sizeof *accessors);
  if (accessors != NULL) file->accessors = accessors;
  return (views != NULL && accessors != NULL) || gz_io_fail_memory(file->fault);
}

static bool take_answer(gltf_file *file) {
  const io_file *stream = &file->pieces->unpacked;
  answer a = {file, stream->bytes, stream->bytes + stream->size};
  file->buffers[file->buffer_count] =
      (gltf_buffer){.bytes = (const unsigned char *)stream->bytes, .size = stream->size};
  for (uint32_t i = 0; i < file->pieces->count; i++) {
    if (!take_piece(&a, &file->pieces->list[i])) return false;
  }
  char mark[DRACO_MARK_SIZE];
  return take(&a, mark, sizeof mark) &&
         ((memcmp(mark, DRACO_END, sizeof mark) == 0 && a.p == a.end) || fail_answer(&a));
}

/* ---- the calls ---- */

bool gz_gltf_read_pieces(gltf_file *file) {
  const graze_context *context = file->fault->context;
  if (!file->may_extend) return true;
  gltf_pieces *pieces = file->pieces = gz_new_zeroed(context, 1, sizeof *pieces);
  if (pieces == NULL) return gz_io_fail_memory(file->fault);
  pieces->list = gz_new(context, file->view_count, sizeof *pieces->list);
  pieces->of_view = gz_new_zeroed(context, file->view_count, sizeof *pieces->of_view);
  if (pieces->list == NULL || pieces->of_view == NULL) return gz_io_fail_memory(file->fault);
  return list_pieces(file) && (pieces->count == 0 || (ask(file) && make_room(file) && take_answer(file)));
}

void gz_gltf_find_piece(const gltf_file *file, const json_t *object, gltf_primitive *primitive) {
  if (!is_packed(file, object)) return;
  const json_t *view = json_object_get(gz_gltf_extension(object, EXTENSION), "bufferView");
  const uint32_t piece = file->pieces->of_view[(uint32_t)json_number_value(view)];
  primitive->position = file->accessor_count + 2 * (piece - 1);
  primitive->corners = primitive->position + 1;
}

void gz_gltf_free_pieces(gltf_file *file) {
  if (file->pieces == NULL) return;
  gz_free(file->pieces->list);
  gz_free(file->pieces->of_view);
  gz_free(file->pieces->unpacked.bytes);
  gz_free(file->pieces);
}
