/* write_glb.c: writes binary glTF 2.0, as the Khronos specification has it (3.6 for buffers and accessors, 4 for the
 * container): a header, a chunk of JSON padded with blanks, a chunk of numbers. The JSON goes to memory first, since
 * the header tells its length. Every block of numbers is a multiple of 4 bytes long, so that all are aligned. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "glb.h"

enum { HEADER = 12, CHUNK_HEADER = 8, FLOATS = 5126, INDICES = 5125, VERTEX_DATA = 34962, INDEX_DATA = 34963 };

static uint64_t position_bytes(const graze_geometry *g) {
  return 12 * g->vertex_count;
}

static uint64_t index_bytes(const graze_geometry *g) {
  return 12 * g->triangle_count;
}

static uint64_t binary_bytes(const graze_assembly *assembly) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    const graze_geometry *g = &assembly->meshes[i].geometry;
    sum += position_bytes(g) + index_bytes(g);
    if (sum > UINT32_MAX) break; /* more will be refused all the same */
  }
  return sum;
}

/* ---- JSON ---- */

static void put_string(FILE *json, const char *text, size_t length) {
  putc('"', json);
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    if (c < 0x20) {
      fprintf(json, "\\u%04x", c);
      continue;
    }
    if (c == '"' || c == '\\') putc('\\', json);
    putc(c, json);
  }
  putc('"', json);
}

static void put_number(FILE *json, double value) {
  char text[32];
  graze_format_double(value, text);
  fputs(text, json);
}

static void put_siblings(FILE *json, const char *key, const glb_tree *tree, uint32_t first) {
  fprintf(json, "\"%s\":[", key);
  for (uint32_t n = first; n != GLB_NONE; n = tree->nodes[n].next)
    fprintf(json, "%s%lu", n == first ? "" : ",", (unsigned long)n);
  putc(']', json);
}

/* Column by column. */
static void put_matrix(FILE *json, const graze_pose *pose) {
  fputs(",\"matrix\":[", json);
  for (int i = 0; i < 16; i++) {
    const int column = i / 4, row = i % 4;
    if (i > 0) putc(',', json);
    put_number(json, row < 3 ? pose->m[4 * row + column] : column == 3);
  }
  putc(']', json);
}

static void put_nodes(FILE *json, const graze_assembly *assembly, const glb_tree *tree) {
  fputs(",\"scene\":0,\"scenes\":[{", json);
  put_siblings(json, "nodes", tree, tree->first_root);
  fputs("}],\"nodes\":[", json);
  for (uint32_t n = 0; n < tree->count; n++) {
    const glb_node *node = &tree->nodes[n];
    fputs(n == 0 ? "\n{\"name\":" : ",\n{\"name\":", json);
    put_string(json, node->name, node->length);
    if (node->first_child != GLB_NONE) {
      putc(',', json);
      put_siblings(json, "children", tree, node->first_child);
    }
    if (node->object != GLB_NONE) {
      const graze_assembly_object *object = &assembly->objects[node->object];
      fprintf(json, ",\"mesh\":%lu", (unsigned long)object->mesh);
      if (!graze_pose_is_identity(&object->pose)) put_matrix(json, &object->pose);
    }
    putc('}', json);
  }
  putc(']', json);
}

/* Accessors and views 2 i and 2 i + 1 are the positions and indices of mesh i. */
static void put_meshes(FILE *json, const graze_assembly *assembly) {
  fputs(",\"meshes\":[", json);
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    const char *name = assembly->meshes[i].name;
    fputs(i == 0 ? "\n{" : ",\n{", json);
    if (name != NULL && *name) {
      fputs("\"name\":", json);
      put_string(json, name, strlen(name));
      putc(',', json);
    }
    fprintf(json, "\"primitives\":[{\"attributes\":{\"POSITION\":%llu},\"indices\":%llu}]}", 2ull * i, 2ull * i + 1);
  }
  putc(']', json);
}

static void put_bounds(FILE *json, const graze_geometry *g) {
  double bounds[2][3];
  memcpy(bounds[0], g->vertices, sizeof bounds[0]);
  memcpy(bounds[1], g->vertices, sizeof bounds[1]);
  for (uint64_t i = 3; i < 3 * g->vertex_count; i++) {
    bounds[0][i % 3] = fmin(bounds[0][i % 3], g->vertices[i]);
    bounds[1][i % 3] = fmax(bounds[1][i % 3], g->vertices[i]);
  }
  for (int side = 0; side < 2; side++) {
    fprintf(json, ",\"%s\":[", side ? "max" : "min");
    for (int k = 0; k < 3; k++) {
      if (k > 0) putc(',', json);
      put_number(json, bounds[side][k]);
    }
    putc(']', json);
  }
}

static void put_accessors(FILE *json, const graze_assembly *assembly) {
  fputs(",\"accessors\":[", json);
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    const graze_geometry *g = &assembly->meshes[i].geometry;
    fprintf(json, "%s\n{\"bufferView\":%llu,\"componentType\":%d,\"count\":%llu,\"type\":\"VEC3\"", i == 0 ? "" : ",",
            2ull * i, FLOATS, (unsigned long long)g->vertex_count);
    put_bounds(json, g);
    fprintf(json, "},\n{\"bufferView\":%llu,\"componentType\":%d,\"count\":%llu,\"type\":\"SCALAR\"}", 2ull * i + 1,
            INDICES, 3 * (unsigned long long)g->triangle_count);
  }
  putc(']', json);
}

static void put_view(FILE *json, uint64_t offset, uint64_t bytes, int target) {
  fprintf(json, "\n{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":%d}", (unsigned long long)offset,
          (unsigned long long)bytes, target);
}

static void put_views(FILE *json, const graze_assembly *assembly) {
  uint64_t offset = 0;
  fputs(",\"bufferViews\":[", json);
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    const graze_geometry *g = &assembly->meshes[i].geometry;
    if (i > 0) putc(',', json);
    put_view(json, offset, position_bytes(g), VERTEX_DATA);
    putc(',', json);
    put_view(json, offset + position_bytes(g), index_bytes(g), INDEX_DATA);
    offset += position_bytes(g) + index_bytes(g);
  }
  fprintf(json, "],\"buffers\":[{\"byteLength\":%llu}]", (unsigned long long)offset);
}

/* Lists that would be empty are left out, as glTF demands. */
static bool make_json(const graze_assembly *assembly, const glb_tree *tree, char **text, size_t *size,
                      io_fault *fault) {
  *text = NULL;
  FILE *json = open_memstream(text, size);
  if (json == NULL) return gz_io_fail_memory(fault);
  const char *up = assembly->up == GRAZE_UP_Y ? ",\"extras\":{\"up\":\"y\"}" : "";
  fprintf(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"graze\"%s}", up);
  if (tree->count > 0) put_nodes(json, assembly, tree);
  if (assembly->mesh_count > 0) {
    put_meshes(json, assembly);
    put_accessors(json, assembly);
    put_views(json, assembly);
  }
  putc('}', json);
  while (ftello(json) % 4 != 0) putc(' ', json);
  bool failed = ferror(json) != 0;
  failed = fclose(json) != 0 || failed;
  return failed ? gz_io_fail_memory(fault) : true;
}

/* ---- the file ---- */

static void put_word(FILE *file, uint32_t value) {
  for (int byte = 0; byte < 4; byte++) putc_unlocked((int)(value >> 8 * byte & 0xff), file);
}

static void put_chunk_header(FILE *file, uint64_t bytes, const char type[4]) {
  put_word(file, (uint32_t)bytes);
  fwrite(type, 1, 4, file);
}

static void put_mesh_data(FILE *file, const graze_geometry *g) {
  for (uint64_t i = 0; i < 3 * g->vertex_count; i++) {
    const float value = (float)g->vertices[i];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_word(file, bits);
  }
  for (uint64_t i = 0; i < 3 * g->triangle_count; i++) put_word(file, g->indices[i]);
}

static void put_file(FILE *file, const graze_assembly *assembly, const char *json, size_t json_size) {
  const uint64_t binary = binary_bytes(assembly);
  fwrite("glTF", 1, 4, file);
  put_word(file, 2);
  put_word(file, (uint32_t)(HEADER + CHUNK_HEADER + json_size + (binary > 0 ? CHUNK_HEADER + binary : 0)));
  put_chunk_header(file, json_size, "JSON");
  fwrite(json, 1, json_size, file);
  if (binary == 0) return;
  put_chunk_header(file, binary, "BIN\0");
  for (uint32_t i = 0; i < assembly->mesh_count; i++) put_mesh_data(file, &assembly->meshes[i].geometry);
}

static bool write_file(const char *path, const graze_assembly *assembly, const char *json, size_t json_size,
                       io_fault *fault) {
  new_file place;
  FILE *file = gz_new_stream_create(&place, path);
  if (file == NULL)
    return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot open for writing: %s", strerror(errno));
  errno = 0;
  put_file(file, assembly, json, json_size);
  bool failed = ferror(file) != 0;
  int reason = errno;
  if (gz_new_stream_finish(&place, file, !failed) && !failed) return true;
  if (!failed) reason = errno;
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot write: %s",
                    reason != 0 ? strerror(reason) : "unknown reason");
}

static void write_assembly(const char *path, const graze_assembly *assembly, io_fault *fault) {
  glb_tree tree;
  char *json = NULL;
  size_t size = 0;
  if (!gz_glb_check(assembly, fault) || !gz_glb_tree_make(assembly, &tree, fault)) return;
  if (make_json(assembly, &tree, &json, &size, fault)) {
    if (HEADER + 2 * CHUNK_HEADER + size + binary_bytes(assembly) > UINT32_MAX)
      gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "more than 4 GiB, which is the most that GLB holds");
    else
      write_file(path, assembly, json, size, fault);
  }
  free(json);
  gz_glb_tree_free(&tree);
}

graze_status graze_write_glb(graze_context *context, const char *path, const graze_assembly *assembly) {
  io_fault fault = {.context = context};
  if (context == NULL || path == NULL || assembly == NULL) {
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the writing call is invalid");
    return gz_io_report(&fault, path);
  }
  write_assembly(path, assembly, &fault);
  return gz_io_report(&fault, path);
}
