/* Pictures as PNG. The quickest settings that still shrink drawings well: zlib's level 1 after the filter that stores
 * differences to the left neighbour. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "graze/report.h"

static graze_status report_error(graze_io_error *error, graze_status status, const char *path, const char *reason,
                                 const char *detail) {
  if (error != NULL) {
    size_t length = strlen(path);
    error->status = status;
    snprintf(error->message, sizeof error->message, "%s%s: %s%s", length > 220 ? "..." : "",
             length > 220 ? path + length - 220 : path, reason, detail);
  }
  return status;
}

#ifdef GRAZE_HAVE_PNG
#include <png.h>

typedef struct png_fault {
  jmp_buf back;
  char reason[128];
} png_fault;

static void on_error(png_structp png, png_const_charp reason) {
  png_fault *fault = png_get_error_ptr(png);
  snprintf(fault->reason, sizeof fault->reason, "%s", reason);
  longjmp(fault->back, 1);
}

static void on_warning(png_structp png, png_const_charp reason) {
  (void)png, (void)reason;
}

/* libpng leaves by longjmp. What lives across it is not changed after setjmp. */
static bool put_picture(FILE *file, const graze_picture *picture, png_fault *fault) {
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
  png_init_io(png, file);
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

static void remove_half(const char *path) {
  struct stat facts;
  if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode)) remove(path);
}

graze_status graze_picture_write_png(const char *path, const graze_picture *picture, graze_io_error *error) {
  png_fault fault;
  if (path == NULL || picture == NULL || picture->pixels == NULL || picture->width == 0 || picture->height == 0) {
    return report_error(error, GRAZE_ERROR_ARGUMENT, path != NULL ? path : "(no name)",
                        "an argument of the writing call is invalid", "");
  }
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    return report_error(error, GRAZE_ERROR_FILE, path, "cannot open for writing: ", strerror(errno));
  }
  fault.reason[0] = 0;
  bool good = put_picture(file, picture, &fault);
  if (fclose(file) != 0 && good) {
    good = false;
    snprintf(fault.reason, sizeof fault.reason, "%s", strerror(errno));
  }
  if (!good) {
    remove_half(path);
    return report_error(error, GRAZE_ERROR_FILE, path, "cannot write: ", fault.reason);
  }
  if (error != NULL) *error = (graze_io_error){.status = GRAZE_OK};
  return GRAZE_OK;
}

#else

graze_status graze_picture_write_png(const char *path, const graze_picture *picture, graze_io_error *error) {
  (void)picture;
  return report_error(error, GRAZE_ERROR_UNSUPPORTED, path != NULL ? path : "(no name)",
                      "graze was built without libpng (libpng-dev)", "");
}

#endif
