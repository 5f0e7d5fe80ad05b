/* read_import.c: the model that graze-import writes (import.h). Nothing of it is believed: counts are checked against
 * the bytes that are there, indices against counts, numbers for being finite. A node with several meshes is one object:
 * they are joined in its order; nodes with the same meshes share the result. */
#define _GNU_SOURCE /* tdestroy */
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembly.h"
#include "helper.h"
#include "import.h"
#include "text.h"

/* Lists of meshes multiply: a limit on what all of them may come to. */
enum { MOST_JOINED = 1 << 30 };

typedef struct import_node {
  const char *path;
  graze_pose pose; /* in the world */
} import_node;

/* The meshes of a node, as a key: which mesh of the assembly they have become. */
typedef struct import_part {
  const char *references; /* in the stream */
  uint32_t count, mesh;
} import_part;

typedef struct importing {
  const char *p, *end;
  io_fault *fault;
  io_assembly assembly;
  graze_assembly_mesh *meshes; /* as they come, before they are joined */
  uint32_t mesh_count;
  uint64_t joined; /* vertices and triangles so far */
  import_node *nodes;
  void *parts; /* search tree of import_part */
} importing;

/* ---- the stream ---- */

static bool fail_stream(const importing *reading) {
  return gz_io_fail(reading->fault, GRAZE_ERROR_FORMAT, IO_WHOLE_FILE, 0, "the importing program gave no whole model");
}

static bool take(importing *reading, void *out, size_t size) {
  if ((size_t)(reading->end - reading->p) < size) return fail_stream(reading);
  memcpy(out, reading->p, size);
  reading->p += size;
  return true;
}

static bool take_text(importing *reading, const char **text) {
  uint32_t length = 0;
  if (!take(reading, &length, sizeof length)) return false;
  if ((size_t)(reading->end - reading->p) < length) return fail_stream(reading);
  char *copy = gz_io_names_keep(&reading->assembly.names, reading->p, length);
  if (copy == NULL) return gz_io_fail_memory(reading->fault);
  reading->p += length;
  *text = copy;
  return true;
}

/* Are there `count` things of `size` bytes? */
static bool has(const importing *reading, uint64_t count, size_t size) {
  return count <= (size_t)(reading->end - reading->p) / size || fail_stream(reading);
}

static bool take_mark(importing *reading, const char *mark) {
  char got[IMPORT_MARK_SIZE];
  return take(reading, got, sizeof got) && (memcmp(got, mark, sizeof got) == 0 || fail_stream(reading));
}

/* ---- meshes ---- */

static bool check_mesh(const importing *reading, uint32_t index, graze_geometry *mesh) {
  mesh->all_float = mesh->stored_floats = true; /* assimp computes in floats */
  for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) {
    if (!isfinite(mesh->vertices[i])) {
      return gz_io_fail(reading->fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0,
                        "mesh %lu: %c of vertex %llu is not finite", (unsigned long)index, "xyz"[i % 3],
                        (unsigned long long)(i / 3));
    }
    mesh->all_float = mesh->all_float && io_is_float(mesh->vertices[i]);
  }
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++) {
    if (mesh->indices[i] < mesh->vertex_count) continue;
    return gz_io_fail(reading->fault, GRAZE_ERROR_INDEX, IO_WHOLE_FILE, 0,
                      "mesh %lu: triangle %llu names vertex %lu, but there are %llu", (unsigned long)index,
                      (unsigned long long)(i / 3), (unsigned long)mesh->indices[i],
                      (unsigned long long)mesh->vertex_count);
  }
  return true;
}

static bool read_mesh(importing *reading, uint32_t index) {
  uint64_t counts[2];
  graze_geometry *mesh = &reading->meshes[index].geometry;
  if (!take_text(reading, &reading->meshes[index].name) || !take(reading, counts, sizeof counts)) return false;
  if (!has(reading, counts[0], 3 * sizeof(double)) || !has(reading, counts[1], 3 * sizeof(uint32_t))) return false;
  return gz_io_geometry_set_vertices(mesh, counts[0], reading->fault) &&
         gz_io_geometry_set_triangles(mesh, counts[1], reading->fault) &&
         take(reading, mesh->vertices, counts[0] * 3 * sizeof(double)) &&
         take(reading, mesh->indices, counts[1] * 3 * sizeof(uint32_t)) && check_mesh(reading, index, mesh);
}

static bool read_meshes(importing *reading) {
  uint32_t count = 0;
  if (!take(reading, &count, sizeof count) || !has(reading, count, 1)) return false;
  reading->meshes = gz_new_zeroed(reading->fault->context, (size_t)count + 1, sizeof reading->meshes[0]);
  if (reading->meshes == NULL) return gz_io_fail_memory(reading->fault);
  reading->mesh_count = count;
  for (uint32_t i = 0; i < count; i++) {
    if (!read_mesh(reading, i)) return false;
  }
  return true;
}

/* ---- the meshes of a node, joined ---- */

static int compare_parts(const void *a, const void *b) {
  const import_part *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? -1 : 1;
  return memcmp(x->references, y->references, x->count * sizeof(uint32_t));
}

static uint32_t reference(const import_part *part, uint32_t i) {
  uint32_t index;
  memcpy(&index, part->references + i * sizeof index, sizeof index);
  return index;
}

static bool join_meshes(importing *reading, const import_part *part, graze_geometry *joined) {
  uint64_t vertices = 0, triangles = 0;
  for (uint32_t i = 0; i < part->count; i++) {
    vertices += reading->meshes[reference(part, i)].geometry.vertex_count;
    triangles += reading->meshes[reference(part, i)].geometry.triangle_count;
  }
  reading->joined += vertices + triangles;
  if (reading->joined > MOST_JOINED) {
    return gz_io_fail(reading->fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0,
                      "the nodes ask for more than %d vertices and triangles", MOST_JOINED);
  }
  if (!gz_io_geometry_set_vertices(joined, vertices, reading->fault) ||
      !gz_io_geometry_set_triangles(joined, triangles, reading->fault)) {
    return false;
  }
  joined->all_float = joined->stored_floats = true;
  uint32_t first = 0, *corner = joined->indices;
  for (uint32_t i = 0; i < part->count; i++) {
    const graze_geometry *mesh = &reading->meshes[reference(part, i)].geometry;
    memcpy(joined->vertices + 3 * (uint64_t)first, mesh->vertices, 3 * mesh->vertex_count * sizeof mesh->vertices[0]);
    for (uint64_t k = 0; k < 3 * mesh->triangle_count; k++) *corner++ = first + mesh->indices[k];
    first += (uint32_t)mesh->vertex_count;
    joined->all_float = joined->all_float && mesh->all_float;
  }
  return true;
}

/* The assembly's mesh of a list of meshes, new or known. */
static bool find_part(importing *reading, const import_part *wanted, uint32_t *mesh) {
  graze_assembly *result = &reading->assembly.result;
  import_part **known = tfind(wanted, &reading->parts, compare_parts);
  if (known != NULL) {
    *mesh = (*known)->mesh;
    return true;
  }
  import_part *part = gz_new(reading->fault->context, 1, sizeof *part);
  if (part == NULL || !gz_io_assembly_add_mesh(&reading->assembly, reading->fault)) {
    gz_free(part);
    return gz_io_fail_memory(reading->fault);
  }
  graze_assembly_mesh *meshes = result->meshes;
  *mesh = result->mesh_count - 1;
  meshes[*mesh] = (graze_assembly_mesh){.name = wanted->count == 1 ? reading->meshes[reference(wanted, 0)].name : ""};
  *part = (import_part){wanted->references, wanted->count, *mesh};
  if (tsearch(part, &reading->parts, compare_parts) == NULL) {
    gz_free(part);
    return gz_io_fail_memory(reading->fault);
  }
  return join_meshes(reading, part, &meshes[*mesh].geometry);
}

/* ---- nodes ---- */

static bool take_pose(importing *reading, uint32_t index, graze_pose *pose) {
  double m[16], sum = 0;
  if (!take(reading, m, sizeof m)) return false;
  for (int k = 0; k < 16; k++) sum += m[k] * 0;
  if (isfinite(sum) && m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1) {
    memcpy(pose->m, m, sizeof pose->m);
    return true;
  }
  return gz_io_fail(reading->fault, GRAZE_ERROR_POSE, IO_WHOLE_FILE, 0,
                    "node %lu: its matrix is not affine or not finite", (unsigned long)index);
}

static bool set_pose(const importing *reading, uint32_t index, uint32_t parent, const graze_pose *own) {
  graze_pose *world = &reading->nodes[index].pose;
  *world = parent == IMPORT_NO_PARENT ? *own : graze_pose_multiply(&reading->nodes[parent].pose, own);
  double sum = 0;
  for (int k = 0; k < 12; k++) sum += world->m[k] * 0;
  return isfinite(sum) || gz_io_fail(reading->fault, GRAZE_ERROR_POSE, IO_WHOLE_FILE, 0,
                                     "node %lu: its pose in the world is not finite", (unsigned long)index);
}

/* The object of a node that has meshes with triangles. */
static bool add_object(importing *reading, uint32_t index, const char *parent) {
  import_part part = {0};
  uint32_t mesh = 0;
  if (!take(reading, &part.count, sizeof part.count) || !has(reading, part.count, sizeof(uint32_t))) return false;
  part.references = reading->p;
  reading->p += part.count * sizeof(uint32_t);
  for (uint32_t i = 0; i < part.count; i++) {
    if (reference(&part, i) >= reading->mesh_count) return fail_stream(reading);
  }
  if (part.count == 0) return true;
  if (!find_part(reading, &part, &mesh)) return false;
  if (reading->assembly.result.meshes[mesh].geometry.triangle_count == 0) return true;
  const import_node *node = &reading->nodes[index];
  return gz_io_assembly_add_object(&reading->assembly, node->path, parent, mesh, &node->pose, reading->fault);
}

static bool read_node(importing *reading, uint32_t index) {
  uint32_t parent = 0;
  const char *name = "";
  graze_pose own = {0};
  if (!take(reading, &parent, sizeof parent)) return false;
  if (parent != IMPORT_NO_PARENT && parent >= index) return fail_stream(reading);
  if (!take_text(reading, &name) || !take_pose(reading, index, &own) || !set_pose(reading, index, parent, &own)) {
    return false;
  }
  const char *above = parent != IMPORT_NO_PARENT ? reading->nodes[parent].path : "";
  reading->nodes[index].path = gz_io_assembly_add_path(&reading->assembly, above, name, index, reading->fault);
  return reading->nodes[index].path != NULL && add_object(reading, index, above);
}

static bool read_nodes(importing *reading) {
  uint32_t count = 0;
  if (!take(reading, &count, sizeof count) || !has(reading, count, 1)) return false;
  reading->nodes = gz_new_zeroed(reading->fault->context, (size_t)count + 1, sizeof reading->nodes[0]);
  if (reading->nodes == NULL) return gz_io_fail_memory(reading->fault);
  for (uint32_t i = 0; i < count; i++) {
    if (!read_node(reading, i)) return false;
  }
  return true;
}

/* ---- the whole ---- */

static bool read_fault(importing *reading) {
  uint32_t status = 0;
  const char *text = "";
  if (!take(reading, &status, sizeof status) || !take_text(reading, &text)) return false;
  return gz_io_fail(reading->fault, status == GRAZE_ERROR_UNSUPPORTED ? GRAZE_ERROR_UNSUPPORTED : GRAZE_ERROR_FORMAT,
                    IO_WHOLE_FILE, 0, "%s", text);
}

static bool read_head(importing *reading) {
  const char *units = "", *up = "";
  if (!take_text(reading, &units) || !take_text(reading, &up)) return false;
  if (strcmp(up, "y") == 0) reading->assembly.result.up = GRAZE_UP_Y;
  if (strcmp(up, "z") == 0) reading->assembly.result.up = GRAZE_UP_Z;
  bool known = strcmp(units, "m") == 0 || strcmp(units, "cm") == 0 || strcmp(units, "mm") == 0;
  reading->assembly.result.units = known ? units : "";
  return take(reading, &reading->assembly.result.left_out, sizeof reading->assembly.result.left_out);
}

static bool read_stream(importing *reading) {
  char mark[IMPORT_MARK_SIZE];
  if (!take(reading, mark, sizeof mark)) return false;
  if (memcmp(mark, IMPORT_FAULT, sizeof mark) == 0) return read_fault(reading);
  if (memcmp(mark, IMPORT_SCENE, sizeof mark) != 0) return fail_stream(reading);
  return read_head(reading) && read_meshes(reading) && read_nodes(reading) && take_mark(reading, IMPORT_END) &&
         (reading->p == reading->end || fail_stream(reading));
}

/* What assimp says of the IFC files that it cannot read, most of IFC4, helps nobody by itself. */
static bool fail_ifc(io_fault *fault) {
  char reason[120];
  if (fault->status != GRAZE_ERROR_FORMAT) return false;
  snprintf(reason, sizeof reason, "%.*s", (int)sizeof reason - 1, fault->reason);
  return gz_io_fail(fault, fault->status, IO_WHOLE_FILE, 0,
                    "\"IfcConvert --use-element-guids IN.ifc OUT.glb\" makes a file that is read; not this one: %s",
                    reason);
}

static void free_part(void *part) {
  gz_free(part);
}

bool gz_io_read_import(const io_input *input, graze_assembly *assembly, io_fault *fault) {
  static const io_helper helper = {
      "graze-import", "GRAZE_IMPORT", "importing",
      "this format is read by the program graze-import, which is not there; it is built where Debian's package "
      "libassimp-dev is installed"};
  io_file stream = {0};
  if (!gz_io_is_name_of_import(input->name)) {
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0, "no format that is imported has this ending");
  }
  if (!input->from_file) {
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0,
                      "a format that is imported is read from files only");
  }
  if (!gz_io_helper_run(&helper, input->name, -1, &stream, fault))
    return gz_io_has_ending(input->name, ".ifc") ? fail_ifc(fault) : false;
  importing reading = {
      .p = stream.bytes, .end = stream.bytes + stream.size, .fault = fault, .assembly.names.context = fault->context};
  bool good = read_stream(&reading);
  for (uint32_t i = 0; i < reading.mesh_count; i++) graze_geometry_free(&reading.meshes[i].geometry);
  gz_free(reading.meshes);
  gz_free(reading.nodes);
  tdestroy(reading.parts, free_part);
  gz_free(stream.bytes);
  if (!good && gz_io_has_ending(input->name, ".ifc")) fail_ifc(fault);
  return gz_io_assembly_finish(&reading.assembly, good, assembly);
}
