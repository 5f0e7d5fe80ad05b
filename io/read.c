/* read.c: the entry to all mesh readers: finds the format, calls its reader, reports. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "parallel.h"
#include "readers.h"

static bool check_text(const char *text, size_t size, io_fault *fault) {
  if (size == 0) return io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "the file is empty");
  if (size >= 2 && (memcmp(text, "\xFE\xFF", 2) == 0 || memcmp(text, "\xFF\xFE", 2) == 0)) {
    return io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "UTF-16 text; only ASCII and UTF-8 are read");
  }
  return true;
}

static bool read_bytes(const io_input *input, const char *name, graze_file_format format, graze_geometry *geometry,
                       io_fault *fault) {
  bool sized_stl = (format == GRAZE_FORMAT_AUTO || format == GRAZE_FORMAT_STL) &&
                   io_is_whole_binary_stl(input->text, input->size); /* its header may be anything */
  if (!sized_stl && !check_text(input->text, input->size, fault)) return false;
  if (format == GRAZE_FORMAT_AUTO) format = io_detect_format(input->text, input->size, name);
  switch (format) {
    case GRAZE_FORMAT_OBJ:
      return io_read_obj(input, geometry, fault);
    case GRAZE_FORMAT_STL:
      return io_read_stl(input, geometry, fault);
    case GRAZE_FORMAT_PLY:
      return io_read_ply(input, geometry, fault);
    case GRAZE_FORMAT_OFF:
      return io_read_off(input, geometry, fault);
    default:
      return io_fail(fault, GRAZE_ERROR_FORMAT, IO_BYTE, 0, "neither OBJ, STL, PLY nor OFF");
  }
}

static graze_status parse(const void *bytes, size_t size, const char *name, graze_file_format format, int threads,
                          graze_geometry *geometry, graze_io_error *error) {
  io_fault fault = {0};
  io_input input = {bytes, size, io_thread_count(threads, size)};
  *geometry = (graze_geometry){0};
  if (!read_bytes(&input, name, format, geometry, &fault)) graze_geometry_free(geometry);
  return io_report(&fault, name, error);
}

static bool check_arguments(const void *bytes, const char *name, graze_file_format format, int threads,
                            const graze_geometry *geometry, io_fault *fault) {
  bool good = bytes != NULL && name != NULL && geometry != NULL && threads >= 0 && (int)format >= GRAZE_FORMAT_AUTO &&
              format <= GRAZE_FORMAT_OFF;
  if (good) return true;
  return io_fail(fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
}

graze_status graze_parse_geometry(const void *bytes, size_t size, const char *name, graze_file_format format,
                                  int threads, graze_geometry *geometry, graze_io_error *error) {
  io_fault fault = {0};
  if (geometry != NULL) *geometry = (graze_geometry){0};
  if (size == 0) bytes = "";
  if (!check_arguments(bytes, name, format, threads, geometry, &fault)) {
    return io_report(&fault, name != NULL ? name : "(no name)", error);
  }
  return parse(bytes, size, name, format, threads, geometry, error);
}

graze_status graze_read_geometry(const char *path, graze_file_format format, int threads, graze_geometry *geometry,
                                 graze_io_error *error) {
  io_fault fault = {0};
  io_file file = {0};
  if (geometry != NULL) *geometry = (graze_geometry){0};
  if (!check_arguments("", path, format, threads, geometry, &fault) || !io_file_read(path, &file, &fault)) {
    return io_report(&fault, path != NULL ? path : "(no name)", error);
  }
  graze_status status = parse(file.bytes, file.size, path, format, threads, geometry, error);
  free(file.bytes);
  return status;
}
