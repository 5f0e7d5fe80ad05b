/* read_gltf.c: glTF 2.0: the container (.gltf is JSON; .glb, chapter 4, holds JSON and bytes in chunks), the version
 * and the extensions. What stands in it is read by gltf_*.c.
 *
 * Strict in what bears on the geometry or shows that a file is damaged: chunks, references, ranges, types, the tree of
 * nodes, declared extensions. Materials, textures, cameras, animations and skins are not looked at: a skinned or
 * morphed mesh is read at rest, as its positions stand in the file.
 */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gltf.h"
#include "text.h"

enum { HEADER_SIZE = 12, CHUNK_HEADER_SIZE = 8, CHUNK_JSON = 0x4E4F534A, CHUNK_BINARY = 0x004E4942 };

/* ---- the container ---- */

static uint32_t read_word(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool fail_byte(const gltf_file *file, graze_status status, uint64_t byte, const char *reason) {
  return gz_io_fail(file->fault, status, IO_BYTE, byte, "%s", reason);
}

static bool parse_json(gltf_file *file, const char *text, size_t size, uint64_t first_byte) {
  json_error_t error;
  /* Written so, or with escapes: without either no member can have the name. */
  file->may_extend = memmem(text, size, "\"extensions\"", 12) != NULL || memchr(text, '\\', size) != NULL;
  file->root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
  if (file->root != NULL) {
    return json_is_object(file->root) || fail_byte(file, GRAZE_ERROR_FORMAT, first_byte, "not a JSON object");
  }
  if (json_error_code(&error) == json_error_out_of_memory) return gz_io_fail_memory(file->fault);
  bool too_large = json_error_code(&error) == json_error_numeric_overflow;
  uint64_t place = file->is_glb ? first_byte + (uint64_t)(error.position > 0 ? error.position : 0)
                                : (uint64_t)(error.line > 0 ? error.line : 1);
  return gz_io_fail(file->fault, too_large ? GRAZE_ERROR_NOT_FINITE : GRAZE_ERROR_FORMAT,
                    file->is_glb ? IO_BYTE : IO_LINE, place, "%s", error.text);
}

/* `size` bytes of the input from `at` on: from its file where they are not in memory. */
static bool read_bytes(const gltf_file *file, uint64_t at, size_t size, void *bytes) {
  if (file->input->stored) return gz_io_file_read_at(file->input->descriptor, at, size, bytes, file->fault);
  memcpy(bytes, file->input->text + at, size);
  return true;
}

static bool parse_chunk(gltf_file *file, uint64_t at, size_t size) {
  if (!file->input->stored) return parse_json(file, file->input->text + at, size, at);
  char *text = gz_new(file->fault->context, size, 1);
  if (text == NULL) return gz_io_fail_memory(file->fault);
  bool good = read_bytes(file, at, size, text) && parse_json(file, text, size, at);
  gz_free(text);
  return good;
}

/* Chunk number `index` at `at`: JSON first, then the bytes if there are any; others may follow and are skipped. */
static bool read_chunk(gltf_file *file, uint64_t index, uint64_t at, uint64_t size, uint32_t type) {
  if (size % 4 != 0) return fail_byte(file, GRAZE_ERROR_FORMAT, at, "the size of a chunk is not a multiple of 4");
  if (index == 0 && type != CHUNK_JSON) return fail_byte(file, GRAZE_ERROR_FORMAT, at, "the first chunk is not JSON");
  if (index == 0) return parse_chunk(file, at + CHUNK_HEADER_SIZE, size);
  if (type == CHUNK_JSON) return fail_byte(file, GRAZE_ERROR_FORMAT, at, "a second JSON chunk");
  if (type != CHUNK_BINARY) return true;
  if (index > 1) return fail_byte(file, GRAZE_ERROR_FORMAT, at, "a binary chunk that is not the second one");
  file->has_chunk = true;
  file->chunk = (gltf_buffer){.stored = file->input->stored, .at = at + CHUNK_HEADER_SIZE, .size = size};
  if (!file->chunk.stored) file->chunk.bytes = (const unsigned char *)file->input->text + file->chunk.at;
  return true;
}

static bool read_chunks(gltf_file *file) {
  unsigned char bytes[HEADER_SIZE];
  if (file->input->size < HEADER_SIZE) return fail_byte(file, GRAZE_ERROR_FORMAT, 0, "the GLB header is cut off");
  if (!read_bytes(file, 0, sizeof bytes, bytes)) return false;
  if (read_word(bytes + 4) != 2) {
    return fail_byte(file, GRAZE_ERROR_UNSUPPORTED, 4, "the version of the GLB header is not 2");
  }
  uint64_t end = read_word(bytes + 8), at = HEADER_SIZE;
  if (end > file->input->size) return fail_byte(file, GRAZE_ERROR_FORMAT, 8, "the file is shorter than it says");
  for (uint64_t index = 0; index == 0 || at < end; index++) {
    if (end < at + CHUNK_HEADER_SIZE)
      return fail_byte(file, GRAZE_ERROR_FORMAT, at, "the header of a chunk is cut off");
    if (!read_bytes(file, at, CHUNK_HEADER_SIZE, bytes)) return false;
    uint64_t size = read_word(bytes);
    if (size > end - at - CHUNK_HEADER_SIZE) return fail_byte(file, GRAZE_ERROR_FORMAT, at, "a chunk is cut off");
    if (!read_chunk(file, index, at, size, read_word(bytes + 4))) return false;
    at += CHUNK_HEADER_SIZE + size;
  }
  return true;
}

static bool read_container(gltf_file *file) {
  const char *text = file->input->text, *end = text + file->input->size, *p = text;
  file->is_glb = file->input->stored || (file->input->size >= 4 && memcmp(text, "glTF", 4) == 0);
  if (file->is_glb) return read_chunks(file);
  while (p < end && io_is_space(*p)) p++;
  if (p == end || *p != '{') {
    return fail_byte(file, GRAZE_ERROR_FORMAT, (uint64_t)(p - text),
                     "neither the header of a GLB file nor a JSON object");
  }
  return parse_json(file, text, file->input->size, 0);
}

/* ---- version and extensions ---- */

/* "2.0" and later ones with the same 2. */
static bool check_version(const gltf_file *file) {
  json_t *asset;
  if (!gz_gltf_get_object(file, "", file->root, "asset", &asset)) return false;
  if (asset == NULL) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "", "\"asset\" is missing");
  const char *version = json_string_value(json_object_get(asset, "version"));
  const char *least = json_string_value(json_object_get(asset, "minVersion"));
  if (version == NULL) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "asset", "\"version\" is not a string");
  if (strncmp(version, "2.", 2) == 0 && (least == NULL || strcmp(least, "2.0") == 0)) return true;
  if (least != NULL) version = least;
  return gz_gltf_fail(file, GRAZE_ERROR_UNSUPPORTED, "asset", "glTF version \"%s\"; 2.0 is read",
                      gz_io_quote(version, version + strlen(version)).text);
}

/* Adds the strings of the array `key` to a set. */
static bool add_names(const gltf_file *file, const char *key, json_t *set) {
  json_t *list;
  if (!gz_gltf_get_array(file, "", file->root, key, &list)) return false;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *name = json_string_value(json_array_get(list, i));
    if (name == NULL) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "", "entry %zu of \"%s\" is not a string", i, key);
    if (json_object_set_new(set, name, json_true()) != 0) return gz_io_fail_memory(file->fault);
  }
  return true;
}

/* Extensions that a file may require: four that are read, and those that change the looks only. */
static bool is_known(const char *name) {
  static const char *const whole[] = {
      "KHR_mesh_quantization", "EXT_mesh_gpu_instancing", "EXT_meshopt_compression", "KHR_draco_mesh_compression",
      "KHR_lights_punctual",   "KHR_xmp_json_ld",         "KHR_animation_pointer",   "MSFT_texture_dds"};
  static const char *const begins[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_", "EXT_lights_"};
  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
    if (strcmp(name, whole[i]) == 0) return true;
  }
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
    if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
  }
  return false;
}

/* Every member called "extensions", anywhere but in "extras", is an object of objects, and each is declared. */
static bool check_extensions(const gltf_file *file, const json_t *used, json_t *value) {
  const char *key;
  json_t *member;
  size_t i;
  json_array_foreach(value, i, member) {
    if (!check_extensions(file, used, member)) return false;
  }
  json_object_foreach(value, key, member) {
    if (strcmp(key, "extras") == 0) continue;
    if (!check_extensions(file, used, member)) return false;
    if (strcmp(key, "extensions") != 0) continue;
    if (!json_is_object(member)) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "", "\"extensions\" is not an object");
    const char *name;
    json_t *extension;
    json_object_foreach(member, name, extension) {
      bool listed = json_object_get(used, name) != NULL;
      if (listed && json_is_object(extension)) continue;
      return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "", "the extension \"%s\" is not %s", name,
                          listed ? "an object" : "among \"extensionsUsed\"");
    }
  }
  return true;
}

static bool check_required(const gltf_file *file, json_t *required) {
  const char *name;
  json_t *value;
  json_object_foreach(required, name, value) {
    if (is_known(name)) continue;
    bool packed = strstr(name, "_draco_") != NULL || strstr(name, "_meshopt_") != NULL;
    return gz_gltf_fail(file, GRAZE_ERROR_UNSUPPORTED, "",
                        "the file requires the extension %s, which is not read here%s", name,
                        packed ? "; \"gltf-transform cp IN.glb OUT.glb\" unpacks it" : "");
  }
  return true;
}

static bool read_extensions(gltf_file *file) {
  json_t *used = json_object(), *required = json_object();
  bool good = used != NULL && required != NULL
                  ? add_names(file, "extensionsUsed", used) && add_names(file, "extensionsRequired", required) &&
                        check_required(file, required)
                  : gz_io_fail_memory(file->fault);
  file->quantized = json_object_get(used, "KHR_mesh_quantization") != NULL ||
                    json_object_get(required, "KHR_mesh_quantization") != NULL;
  good = good && (!file->may_extend || check_extensions(file, used, file->root));
  json_decref(used);
  json_decref(required);
  return good;
}

/* ---- the whole ---- */

static bool read_file(gltf_file *file) {
  return read_container(file) && check_version(file) && read_extensions(file) && gz_gltf_read_buffers(file) &&
         gz_gltf_read_accessors(file) && gz_gltf_read_pieces(file) && gz_gltf_list_meshes(file) &&
         gz_gltf_read_tree(file);
}

static bool read_all_meshes(gltf_file *file) {
  bool good = true;
  for (uint32_t i = 0; good && i < file->mesh_count; i++)
    good = gz_gltf_read_mesh(file, i, &file->assembly.result.meshes[i].geometry);
  return good;
}

static void release(gltf_file *file) {
  for (uint32_t i = 0; file->buffers != NULL && i < file->buffer_count; i++) gz_free(file->buffers[i].owned);
  for (uint32_t i = 0; file->views != NULL && i < file->view_count; i++) gz_free(file->views[i].unpacked);
  gz_free(file->buffers);
  gz_free(file->views);
  gz_free(file->accessors);
  gz_gltf_free_meshes(file);
  gz_gltf_free_pieces(file);
  json_decref(file->root);
}

/* Chapter 3.4 has y up, but write_glb.c keeps the axes, and says in `extras` if that is y. */
static graze_up find_up(const json_t *root) {
  const json_t *asset = json_object_get(root, "asset");
  const char *generator = json_string_value(json_object_get(asset, "generator"));
  const char *up = json_string_value(json_object_get(json_object_get(asset, "extras"), "up"));
  bool own = generator != NULL && strcmp(generator, "graze") == 0;
  return own && (up == NULL || strcmp(up, "y") != 0) ? GRAZE_UP_Z : GRAZE_UP_Y;
}

static bool read_whole(gltf_file *file) {
  file->assembly.result.units = "m"; /* chapter 3.4 */
  if (!read_file(file)) return false;
  file->assembly.result.up = find_up(file->root);
  return true;
}

bool gz_io_read_gltf(const io_input *input, graze_assembly *assembly, io_fault *fault) {
  gltf_file file = {.input = input, .fault = fault, .assembly.names.context = fault->context};
  bool good = read_whole(&file) && read_all_meshes(&file);
  release(&file);
  return gz_io_assembly_finish(&file.assembly, good, assembly);
}

/* ---- mesh by mesh ---- */

/* What an assembly has of a file that is still open. */
typedef struct open_gltf {
  gltf_file file;
  io_input input;
} open_gltf;

bool gz_io_open_gltf(const io_input *input, graze_assembly *assembly, io_fault *fault) {
  open_gltf *open = gz_new(fault->context, 1, sizeof *open);
  if (open == NULL) return gz_io_fail_memory(fault);
  *open =
      (open_gltf){.file = {.input = input, .fault = fault, .assembly.names.context = fault->context}, .input = *input};
  bool good = read_whole(&open->file);
  io_assembly built = open->file.assembly;
  if (good) {
    json_decref(open->file.root);
    open->file.root = NULL;
    open->file.input = &open->input;
    open->input.name = NULL; /* the caller's */
    built.result.source = open;
  } else {
    release(&open->file);
    gz_free(open);
  }
  return gz_io_assembly_finish(&built, good, assembly);
}

bool gz_io_gltf_read_mesh(const void *source, uint32_t mesh, graze_geometry *geometry, io_fault *fault) {
  gltf_file file = ((const open_gltf *)source)->file; /* a copy: several threads may be here, each with its fault */
  file.fault = fault;
  return gz_gltf_read_mesh(&file, mesh, geometry);
}

void gz_io_gltf_close(void *source) {
  open_gltf *open = source;
  if (open == NULL) return;
  release(&open->file);
  close(open->input.descriptor);
  gz_free(open);
}
