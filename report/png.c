/* Pictures as PNG. The quickest settings that still shrink drawings well: zlib's level 1 after the filter that stores
 * differences to the left neighbour. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "fault.h"
#include "png_put.h"

#ifdef GRAZE_HAVE_PNG
#include <png.h>

typedef struct png_fault {
  jmp_buf back;
  png_sink sink;
  void *user;
  char reason[PNG_REASON];
} png_fault;

static void on_error(png_structp png, png_const_charp reason) {
  png_fault *fault = png_get_error_ptr(png);
  snprintf(fault->reason, sizeof fault->reason, "%s", reason);
  longjmp(fault->back, 1);
}

static void on_warning(png_structp png, png_const_charp reason) {
  (void)png, (void)reason;
}

static void write_some(png_structp png, png_bytep bytes, size_t size) {
  png_fault *fault = png_get_io_ptr(png);
  if (!fault->sink(fault->user, bytes, size)) png_error(png, strerror(errno));
}

static void flush_nothing(png_structp png) {
  (void)png;
}

/* libpng leaves by longjmp. What lives across it is not changed after setjmp. */
static bool put_picture(const graze_picture *picture, png_fault *fault) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, fault, on_error, on_warning);
  png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
  if (info == NULL) {
    png_destroy_write_struct(&png, NULL);
    snprintf(fault->reason, sizeof fault->reason, "out of memory");
    return false;
  }
  if (setjmp(fault->back) != 0) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, fault, write_some, flush_nothing);
  png_set_IHDR(png, info, picture->width, picture->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, 1);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_write_info(png, info);
  for (uint32_t y = 0; y < picture->height; y++) {
    png_write_row(png, picture->pixels + 3 * (size_t)y * picture->width);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return true;
}

bool gz_png_put(const graze_picture *picture, png_sink sink, void *user, char reason[PNG_REASON]) {
  png_fault fault = {.sink = sink, .user = user};
  bool good = put_picture(picture, &fault);
  memcpy(reason, fault.reason, sizeof fault.reason);
  return good;
}

static bool write_to_file(void *user, const void *bytes, size_t size) {
  return fwrite(bytes, 1, size, user) == size;
}

graze_status graze_picture_write_png(graze_context *context, const char *path, const graze_picture *picture) {
  char reason[PNG_REASON];
  if (context == NULL || path == NULL || picture == NULL || picture->pixels == NULL || picture->width == 0 ||
      picture->height == 0) {
    return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "", "an argument of the writing call is invalid");
  }
  new_file place;
  FILE *file = gz_new_stream_create(&place, path);
  if (file == NULL) {
    return gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot open for writing: %s", strerror(errno));
  }
  bool good = gz_png_put(picture, write_to_file, file, reason);
  bool closed = gz_new_stream_finish(&place, file, good);
  if (good && closed) return GRAZE_OK;
  return gz_fail_named(context, GRAZE_ERROR_FILE, path, "", "cannot write: %s", good ? strerror(errno) : reason);
}

#else

graze_status graze_picture_write_png(graze_context *context, const char *path, const graze_picture *picture) {
  (void)picture;
  return gz_fail_named(context, GRAZE_ERROR_UNSUPPORTED, path, "", "graze was built without libpng (libpng-dev)");
}

#endif
