/* detect.c: which format a file has. The content decides where it can: PLY, OFF and GLB by their first word, STL by the
 * size that its count asks for or by the word "solid". Else the ending of the name decides, and last the first
 * statement, when it is one of OBJ's. Formats that another program reads go by the ending, before all else: their
 * content has no word in common, and a file that calls itself .fbx is not meant as OBJ. */
#include <string.h>

#include "import.h"
#include "readers.h"
#include "text.h"

bool gz_io_has_ending(const char *name, const char *ending) {
  size_t length = strlen(name);
  size_t wanted = strlen(ending);
  return length >= wanted && gz_io_token_is(name + length - wanted, name + length, ending);
}

static graze_file_format format_of_name(const char *name) {
  if (gz_io_has_ending(name, ".obj")) return GRAZE_FORMAT_OBJ;
  if (gz_io_has_ending(name, ".stl")) return GRAZE_FORMAT_STL;
  if (gz_io_has_ending(name, ".ply")) return GRAZE_FORMAT_PLY;
  if (gz_io_has_ending(name, ".off")) return GRAZE_FORMAT_OFF;
  if (gz_io_has_ending(name, ".gltf") || gz_io_has_ending(name, ".glb")) return GRAZE_FORMAT_GLTF;
  return GRAZE_FORMAT_AUTO;
}

/* The endings of assimp 5.2 that name models of triangles or polygons. OBJ, STL, PLY, OFF and glTF never go there. */
bool gz_io_is_name_of_import(const char *name) {
  static const char *const endings[] = {".dae", ".3mf", ".fbx", ".3ds", ".amf", ".ase",  ".ac", ".b3d", ".blend",
                                        ".cob", ".dxf", ".ifc", ".lwo", ".lxo", ".ms3d", ".x",  ".x3d"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    if (gz_io_has_ending(name, endings[i])) return true;
  }
  return false;
}

/* First statement that is no comment. */
static const char *find_statement(const char *p, const char *end) {
  while (p < end) {
    if (io_is_space(*p)) {
      p++;
    } else if (*p == '#') {
      p = io_find_line_end(p, end);
    } else {
      break;
    }
  }
  return p;
}

/* [ST][C][N][4][n]OFF, possibly with a number right behind. */
static bool starts_with_off(const char *p, const char *end) {
  for (int letters = 0; p < end && letters < 6 && strchr("STCN4n", *p) != NULL && *p != 0; letters++) p++;
  return end - p >= 3 && memcmp(p, "OFF", 3) == 0 &&
         (end - p == 3 || io_is_space(p[3]) || io_is_digit(p[3]) || p[3] == '#');
}

static bool starts_like_obj(const char *p, const char *end) {
  static const char *const words[] = {"v", "vt", "vn", "vp", "f", "o", "g", "s", "usemtl", "mtllib", "l", "p"};
  const char *last = io_find_token_end(p, end);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) == (size_t)(last - p) && memcmp(p, words[i], (size_t)(last - p)) == 0) return true;
  }
  return false;
}

bool gz_io_heads_binary_stl(const char *head, size_t held, uint64_t size) {
  if (held < IO_STL_HEADER) return false;
  const unsigned char *c = (const unsigned char *)head + 80;
  uint64_t count = (uint64_t)c[0] | (uint64_t)c[1] << 8 | (uint64_t)c[2] << 16 | (uint64_t)c[3] << 24;
  return size == IO_STL_HEADER + IO_STL_FACET * count;
}

bool gz_io_is_whole_binary_stl(const char *text, size_t size) {
  return gz_io_heads_binary_stl(text, size, size);
}

graze_file_format gz_io_detect_format(const char *text, size_t size, const char *name) {
  const char *end = text + size;
  const char *p = text + gz_io_text_begin(text, size);
  if (gz_io_is_name_of_import(name)) return GRAZE_FORMAT_IMPORT;
  if (size >= 4 && memcmp(text, "glTF", 4) == 0) return GRAZE_FORMAT_GLTF;
  if (end - p > 3 && memcmp(p, "ply", 3) == 0 && io_is_space(p[3])) return GRAZE_FORMAT_PLY;
  if (gz_io_is_whole_binary_stl(text, size)) return GRAZE_FORMAT_STL;
  p = find_statement(p, end);
  if (starts_with_off(p, end)) return GRAZE_FORMAT_OFF;
  if (gz_io_token_is(p, io_find_token_end(p, end), "solid")) return GRAZE_FORMAT_STL;
  graze_file_format format = format_of_name(name);
  if (format == GRAZE_FORMAT_AUTO && starts_like_obj(p, end)) format = GRAZE_FORMAT_OBJ;
  return format;
}

graze_file_format gz_io_detect_head(const char *head, size_t held, uint64_t size, const char *name) {
  if (held == size) return gz_io_detect_format(head, held, name);
  const char *end = head + held;
  graze_file_format format = gz_io_detect_format(head, held, name);
  if (format != GRAZE_FORMAT_IMPORT && format != GRAZE_FORMAT_GLTF && format != GRAZE_FORMAT_PLY &&
      gz_io_heads_binary_stl(head, held, size))
    return GRAZE_FORMAT_STL;
  return find_statement(head + gz_io_text_begin(head, held), end) < end ? format : GRAZE_FORMAT_AUTO;
}
