/* graze-import: reads a model with the assimp library and writes it in the plain form of import.h.
 *
 *     graze-import FILE SECONDS MEGABYTES
 *
 * A program of its own because the library's importers crash, hang and grow on damaged files; here that ends this
 * process only, within limits that it sets itself before anything is read. The library is looked for when the program
 * runs, so that graze needs it neither to be built nor to start. Post-processing is left off (it is where most of the
 * crashes are): polygons are fanned here, vertices stay as they are. Its reader believes nothing of what is written.
 */
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/metadata.h>
#include <assimp/scene.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "graze/base.h"
#include "helper_limits.h"
#include "import.h"

enum { MOST_DEPTH = 4096 };

/* ---- writing ---- */

static void put(const void *bytes, size_t size) {
  if (size > 0 && fwrite(bytes, 1, size, stdout) != size) exit(EXIT_FAILURE);
}

static void put_u32(uint32_t value) {
  put(&value, sizeof value);
}

static void put_u64(uint64_t value) {
  put(&value, sizeof value);
}

static void put_text(const char *text, size_t length) {
  put_u32((uint32_t)length);
  put(text, length);
}

static _Noreturn void fail(graze_status status, const char *text) {
  put(IMPORT_FAULT, IMPORT_MARK_SIZE);
  put_u32(status);
  put_text(text, strlen(text));
  exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- the library ---- */

typedef struct library {
  __typeof__(&aiImportFileExWithProperties) import_file;
  __typeof__(&aiGetErrorString) error_string;
  __typeof__(&aiCreatePropertyStore) create_properties;
  __typeof__(&aiSetImportPropertyInteger) set_integer;
} library;

static void *find_function(void *handle, const char *name) {
  void *function = dlsym(handle, name);
  if (function == NULL) fail(GRAZE_ERROR_UNSUPPORTED, "libassimp.so.5 lacks a function that is needed");
  return function;
}

static library open_library(void) {
  void *handle = dlopen("libassimp.so.5", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fail(GRAZE_ERROR_UNSUPPORTED,
         "this format is read with libassimp.so.5 (Debian package libassimp5), which is not there");
  }
  library assimp;
  *(void **)&assimp.import_file = find_function(handle, "aiImportFileExWithProperties");
  *(void **)&assimp.error_string = find_function(handle, "aiGetErrorString");
  *(void **)&assimp.create_properties = find_function(handle, "aiCreatePropertyStore");
  *(void **)&assimp.set_integer = find_function(handle, "aiSetImportPropertyInteger");
  return assimp;
}

static const struct aiScene *import_file(const char *path) {
  library assimp = open_library();
  struct aiPropertyStore *properties = assimp.create_properties();
  if (properties == NULL) fail(GRAZE_ERROR_FORMAT, "out of memory while importing");
  assimp.set_integer(properties, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0); /* else each node becomes a chain of them */
  assimp.set_integer(properties, AI_CONFIG_IMPORT_COLLADA_USE_COLLADA_NAMES, 1); /* not ids */
  const struct aiScene *scene = assimp.import_file(path, 0, NULL, properties);
  if (scene == NULL) {
    const char *reason = assimp.error_string();
    fail(GRAZE_ERROR_FORMAT, reason != NULL && *reason ? reason : "the file cannot be imported");
  }
  if (scene->mFlags & AI_SCENE_FLAGS_INCOMPLETE || scene->mRootNode == NULL) {
    fail(GRAZE_ERROR_FORMAT, "the file has no complete model");
  }
  return scene;
}

/* ---- units and axes ---- */

static bool has_ending(const char *path, const char *ending) {
  size_t length = strlen(path), wanted = strlen(ending);
  return length > wanted && strcasecmp(path + length - wanted, ending) == 0;
}

/* A number that the file says of itself, or NaN. */
static double find_fact(const struct aiScene *scene, const char *key) {
  const struct aiMetadata *facts = scene->mMetaData;
  for (unsigned i = 0; facts != NULL && i < facts->mNumProperties; i++) {
    const struct aiMetadataEntry *value = &facts->mValues[i];
    if (strcmp(facts->mKeys[i].data, key) != 0) continue;
    if (value->mType == AI_DOUBLE) return *(const double *)value->mData;
    if (value->mType == AI_FLOAT) return *(const float *)value->mData;
    if (value->mType == AI_INT32) return *(const int32_t *)value->mData;
  }
  return NAN;
}

/* FBX says how many centimetres a unit has. COLLADA's importer scales to metres itself. */
static const char *find_units(const struct aiScene *scene, const char *path) {
  if (has_ending(path, ".dae")) return "m";
  const double scale = has_ending(path, ".fbx") ? find_fact(scene, "UnitScaleFactor") : NAN;
  return scale == 100 ? "m" : scale == 1 ? "cm" : scale == 0.1 || scale == 0.1F ? "mm" : "";
}

/* COLLADA's importer turns what has another axis up; FBX says which it is. */
static const char *find_up(const struct aiScene *scene, const char *path) {
  if (has_ending(path, ".dae")) return "y";
  if (!has_ending(path, ".fbx") || find_fact(scene, "UpAxisSign") != 1) return "";
  const double axis = find_fact(scene, "UpAxis");
  return axis == 1 ? "y" : axis == 2 ? "z" : "";
}

/* ---- meshes ---- */

static bool has_thin_faces(const struct aiMesh *mesh) {
  for (unsigned i = 0; i < mesh->mNumFaces; i++) {
    if (mesh->mFaces[i].mNumIndices < 3) return true;
  }
  return false;
}

static void put_triangles(const struct aiMesh *mesh) {
  for (unsigned i = 0; i < mesh->mNumFaces; i++) {
    const struct aiFace *face = &mesh->mFaces[i];
    for (unsigned k = 2; k < face->mNumIndices; k++) {
      const uint32_t corners[3] = {face->mIndices[0], face->mIndices[k - 1], face->mIndices[k]};
      put(corners, sizeof corners);
    }
  }
}

static void put_mesh(const struct aiMesh *mesh) {
  uint64_t triangles = 0;
  for (unsigned i = 0; i < mesh->mNumFaces; i++) {
    if (mesh->mFaces[i].mNumIndices > 2) triangles += mesh->mFaces[i].mNumIndices - 2;
  }
  put_text(mesh->mName.data, mesh->mName.length);
  put_u64(mesh->mNumVertices);
  put_u64(triangles);
  for (unsigned i = 0; i < mesh->mNumVertices; i++) {
    const double vertex[3] = {mesh->mVertices[i].x, mesh->mVertices[i].y, mesh->mVertices[i].z};
    put(vertex, sizeof vertex);
  }
  put_triangles(mesh);
}

/* ---- nodes ---- */

static uint32_t count_nodes(const struct aiNode *node, unsigned depth) {
  uint32_t count = 1;
  if (depth > MOST_DEPTH) fail(GRAZE_ERROR_FORMAT, "the nodes are nested too deep");
  for (unsigned i = 0; i < node->mNumChildren; i++) count += count_nodes(node->mChildren[i], depth + 1);
  return count;
}

/* Returns the number of the next node. */
static uint32_t put_node(const struct aiNode *node, uint32_t parent, uint32_t number) {
  const struct aiMatrix4x4 *m = &node->mTransformation;
  const double matrix[16] = {m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4,
                             m->c1, m->c2, m->c3, m->c4, m->d1, m->d2, m->d3, m->d4};
  put_u32(parent);
  put_text(node->mName.data, node->mName.length);
  put(matrix, sizeof matrix);
  put_u32(node->mNumMeshes);
  for (unsigned i = 0; i < node->mNumMeshes; i++) put_u32(node->mMeshes[i]);
  uint32_t next = number + 1;
  for (unsigned i = 0; i < node->mNumChildren; i++) next = put_node(node->mChildren[i], number, next);
  return next;
}

static void put_scene(const struct aiScene *scene, const char *path) {
  const char *units = find_units(scene, path), *up = find_up(scene, path);
  uint64_t left_out = 0;
  uint32_t nodes = count_nodes(scene->mRootNode, 0);
  for (unsigned i = 0; i < scene->mNumMeshes; i++) left_out += has_thin_faces(scene->mMeshes[i]);
  put(IMPORT_SCENE, IMPORT_MARK_SIZE);
  put_text(units, strlen(units));
  put_text(up, strlen(up));
  put_u64(left_out);
  put_u32(scene->mNumMeshes);
  for (unsigned i = 0; i < scene->mNumMeshes; i++) put_mesh(scene->mMeshes[i]);
  put_u32(nodes);
  put_node(scene->mRootNode, IMPORT_NO_PARENT, 0);
  put(IMPORT_END, IMPORT_MARK_SIZE);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: graze-import FILE SECONDS MEGABYTES (graze runs it; it writes a form that only graze reads)\n",
          stderr);
    return 2;
  }
  if (!helper_set_limits(argv[2], argv[3])) fail(GRAZE_ERROR_FILE, "the importing program cannot limit itself");
  put_scene(import_file(argv[1]), argv[1]);
  fflush(stdout);
  _exit(EXIT_SUCCESS); /* what the library would do at exit may crash and does not matter */
}
