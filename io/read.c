/* read.c: the entry to all mesh readers: finds the format, calls its reader, reports. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assembly.h"
#include "base/parallel.h"
#include "file.h"
#include "readers.h"

static bool check_text(const char *text, size_t size, io_fault *fault) {
  if (size == 0) return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "the file is empty");
  if (size >= 2 && (memcmp(text, "\xFE\xFF", 2) == 0 || memcmp(text, "\xFF\xFE", 2) == 0)) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "UTF-16 text; only ASCII and UTF-8 are read");
  }
  return true;
}

/* Formats that are no meshes, and how they become some. */
static bool fail_format(const io_input *input, io_fault *fault) {
  static const struct {
    const char *begin, *reason;
  } others[] = {
      {"ISO-10303-21;", "a STEP file, which has surfaces in place of triangles; FreeCAD and others convert it"},
      {"<?xml", "XML; robots (URDF) and the like become a scene file with the mesh and the pose of each part"},
      {"<robot", "a robot (URDF); it becomes a scene file with the mesh and the pose of each link"}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    size_t length = strlen(others[i].begin);
    if (input->size >= length && memcmp(input->text, others[i].begin, length) == 0)
      return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_BYTE, 0, "%s", others[i].reason);
  }
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "neither OBJ, STL, PLY, OFF nor glTF");
}

static bool find_format(const io_input *input, graze_file_format *format, io_fault *fault) {
  bool sized_stl = (*format == GRAZE_FORMAT_AUTO || *format == GRAZE_FORMAT_STL) &&
                   gz_io_is_whole_binary_stl(input->text, input->size); /* its header may be anything */
  if (!sized_stl && !check_text(input->text, input->size, fault)) return false;
  if (*format == GRAZE_FORMAT_AUTO) *format = gz_io_detect_format(input->text, input->size, input->name);
  return *format != GRAZE_FORMAT_AUTO || fail_format(input, fault);
}

static bool read_plain(const io_input *input, graze_file_format format, graze_geometry *geometry, io_fault *fault) {
  switch (format) {
    case GRAZE_FORMAT_OBJ:
      return gz_io_read_obj(input, geometry, fault);
    case GRAZE_FORMAT_STL:
      return gz_io_read_stl(input, geometry, fault);
    case GRAZE_FORMAT_PLY:
      return gz_io_read_ply(input, geometry, fault);
    default:
      return gz_io_read_off(input, geometry, fault);
  }
}

/* ---- what is asked for ---- */

typedef struct io_request {
  graze_file_format format;
  unsigned flags;           /* GRAZE_READ_... */
  bool open;                /* leave the geometry in a stored input */
  graze_geometry *geometry; /* or */
  graze_assembly *assembly;
} io_request;

static bool read_objects(const io_input *input, io_request *request, graze_assembly *assembly, io_fault *fault) {
  if (request->format == GRAZE_FORMAT_GLTF) return gz_io_read_gltf(input, assembly, fault);
  if (request->format == GRAZE_FORMAT_IMPORT) return gz_io_read_import(input, assembly, fault);
  graze_geometry geometry = {0};
  bool good = read_plain(input, request->format, &geometry, fault) &&
              gz_io_assembly_of_geometry(&geometry, input->name, request->flags & GRAZE_READ_GROUPS, assembly, fault);
  graze_geometry_free(&geometry);
  return good;
}

/* Parts are found in the whole geometry, so that a file that is split into them is not left open. */
static bool read_as_assembly(const io_input *input, io_request *request, graze_assembly *assembly, io_fault *fault) {
  bool parts = request->flags & GRAZE_READ_PARTS;
  if (request->open && input->stored && !parts) return gz_io_open_gltf(input, assembly, fault);
  request->open = false;
  return read_objects(input, request, assembly, fault) && (!parts || gz_io_assembly_split_parts(assembly, fault));
}

static bool read_as_geometry(const io_input *input, io_request *request, io_fault *fault) {
  if (request->format < GRAZE_FORMAT_GLTF) return read_plain(input, request->format, request->geometry, fault);
  graze_assembly assembly = {0};
  bool good =
      read_as_assembly(input, request, &assembly, fault) && gz_io_assembly_join(&assembly, request->geometry, fault);
  graze_assembly_free(&assembly);
  return good;
}

enum { BYTES_A_THREAD = 128 << 10, PARTS_A_THREAD = 4 }; /* less work than this costs less than waking a thread */

/* To cut a text into. What is read does not depend on it; a single part is spared the copying. */
static size_t count_parts(const graze_context *context, size_t bytes) {
  size_t threads = (size_t)gz_parallel_threads(context), most = bytes / BYTES_A_THREAD;
  if (threads > most) threads = most;
  return threads > 1 ? threads * PARTS_A_THREAD : 1;
}

static graze_status answer(graze_context *context, io_input *input, io_request *request) {
  io_fault fault = {.context = context, .strict = request->flags & GRAZE_READ_STRICT};
  input->parts = count_parts(context, input->size);
  bool good = input->stored || find_format(input, &request->format, &fault);
  if (good && request->geometry != NULL) good = read_as_geometry(input, request, &fault);
  if (good && request->assembly != NULL) {
    good = read_as_assembly(input, request, request->assembly, &fault);
    request->assembly->format = request->format;
  }
  if (!good) {
    graze_geometry_free(request->geometry);
    graze_assembly_free(request->assembly);
  }
  return gz_io_report(&fault, input->name);
}

/* ---- the calls ---- */

enum { EVERY_FLAG = GRAZE_READ_GROUPS | GRAZE_READ_PARTS | GRAZE_READ_STRICT };

static bool check_arguments(const io_input *input, const io_request *request, io_fault *fault) {
  if (request->geometry != NULL) *request->geometry = (graze_geometry){0};
  if (request->assembly != NULL) *request->assembly = (graze_assembly){0};
  bool good = input->text != NULL && input->name != NULL && fault->context != NULL &&
              (request->geometry != NULL || request->assembly != NULL) && (int)request->format >= GRAZE_FORMAT_AUTO &&
              request->format <= GRAZE_FORMAT_IMPORT && request->flags <= EVERY_FLAG;
  if (good) return true;
  return gz_io_fail(fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
}

static graze_status parse(graze_context *context, io_input input, io_request request) {
  io_fault fault = {.context = context};
  if (input.size == 0) input.text = "";
  if (check_arguments(&input, &request, &fault)) return answer(context, &input, &request);
  return gz_io_report(&fault, input.name);
}

enum { HEAD_SIZE = 128 }; /* enough to tell the format, and a binary STL file whose header says glTF */

/* A GLB file is not read as a whole: most of it is arrays, which are turned into others. */
static bool open_glb(const char *path, io_input *input, io_request *request) {
  char head[HEAD_SIZE];
  size_t size;
  if (request->format != GRAZE_FORMAT_AUTO && request->format != GRAZE_FORMAT_GLTF) return false;
  int descriptor = gz_io_file_open(path, head, sizeof head, &size);
  if (descriptor < 0) return false;
  size_t held = size < sizeof head ? size : sizeof head;
  bool is_glb = held >= 4 && memcmp(head, "glTF", 4) == 0;
  if (request->format == GRAZE_FORMAT_AUTO)
    is_glb =
        is_glb && !gz_io_is_whole_binary_stl(head, size) && gz_io_detect_format(head, held, path) == GRAZE_FORMAT_GLTF;
  if (!is_glb) {
    close(descriptor);
    return false;
  }
  request->format = GRAZE_FORMAT_GLTF;
  input->stored = true;
  input->descriptor = descriptor;
  input->size = size;
  return true;
}

static graze_status read_glb(graze_context *context, io_input *input, io_request *request) {
  graze_status status = answer(context, input, request);
  if (!request->open || status != GRAZE_OK) close(input->descriptor);
  return status;
}

static graze_status read_path(graze_context *context, const char *path, io_request request) {
  io_fault fault = {.context = context};
  io_file file = {0};
  io_input input = {.text = "", .name = path, .from_file = true};
  if (!check_arguments(&input, &request, &fault)) return gz_io_report(&fault, path);
  if (open_glb(path, &input, &request)) return read_glb(context, &input, &request);
  if (!gz_io_file_read(path, true, &file, &fault)) return gz_io_report(&fault, path);
  input.text = file.bytes;
  input.size = file.size;
  graze_status status = answer(context, &input, &request);
  gz_free(file.bytes);
  return status;
}

graze_status graze_parse_geometry(graze_context *context, const void *bytes, size_t size, const char *name,
                                  graze_file_format format, unsigned flags, graze_geometry *geometry) {
  return parse(context, (io_input){.text = bytes, .size = size, .name = name},
               (io_request){.format = format, .flags = flags, .geometry = geometry});
}

graze_status graze_read_geometry(graze_context *context, const char *path, graze_file_format format, unsigned flags,
                                 graze_geometry *geometry) {
  return read_path(context, path, (io_request){.format = format, .flags = flags, .geometry = geometry});
}

graze_status graze_parse_assembly(graze_context *context, const void *bytes, size_t size, const char *name,
                                  graze_file_format format, unsigned flags, graze_assembly *assembly) {
  return parse(context, (io_input){.text = bytes, .size = size, .name = name},
               (io_request){.format = format, .flags = flags, .assembly = assembly});
}

graze_status graze_read_assembly(graze_context *context, const char *path, graze_file_format format, unsigned flags,
                                 graze_assembly *assembly) {
  return read_path(context, path, (io_request){.format = format, .flags = flags, .assembly = assembly});
}

graze_status graze_open_assembly(graze_context *context, const char *path, graze_file_format format, unsigned flags,
                                 graze_assembly *assembly) {
  return read_path(context, path, (io_request){.format = format, .flags = flags, .open = true, .assembly = assembly});
}

graze_status graze_read_assembly_mesh(graze_context *context, const graze_assembly *assembly, uint32_t mesh,
                                      const char *path, graze_geometry *geometry) {
  io_fault fault = {.context = context};
  if (geometry != NULL) *geometry = (graze_geometry){0};
  if (context == NULL || assembly == NULL || assembly->source == NULL || mesh >= assembly->mesh_count || path == NULL ||
      geometry == NULL)
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
  else
    gz_io_gltf_read_mesh(assembly->source, mesh, geometry, &fault);
  return gz_io_report(&fault, path);
}
