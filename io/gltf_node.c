/* gltf_node.c: one node (chapter 3.5.2): its local pose, and the poses of its instances (EXT_mesh_gpu_instancing).
 *
 * A local pose is the matrix as given, or (translation * rotation) * scale, multiplied in that order by
 * graze_pose_multiply(), so that every operation is rounded once. The rotation's quaternion is normalised first.
 *
 * No double is the root of 1/2, so that the quaternion of a quarter turn is off by a rounding, and so would be every
 * coordinate: what is flush in the design would overlap, by 1e-13. A quaternion that is one of the 24 turns of a cube
 * but for roundings is therefore that turn: its matrix has entries 0, 1 and -1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gltf.h"
#include "text.h"

#define UNIT_TOLERANCE 0.01 /* of a quaternion's length squared: enough for one kept in bytes */

/* The roundings that are forgiven: of doubles, and of numbers that are all floats. */
#define DOUBLE_ROUNDING 0x1p-50
#define FLOAT_ROUNDING  0x1p-22

/* The signs of the components of an exact turn: one of them is 1, or two are the root of 1/2, or all are 1/2. */
static bool find_turn(const double q[4], int signs[4]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  bool floats = true;
  for (int k = 0; k < 4; k++) floats = floats && io_is_float(q[k]);
  const double bound = floats ? FLOAT_ROUNDING : DOUBLE_ROUNDING;
  int count = 0;
  for (int k = 0; k < 4; k++) {
    signs[k] = (q[k] / length > bound) - (q[k] / length < -bound);
    count += signs[k] != 0;
  }
  if (count == 3) return false;
  const double size = sqrt(1.0 / count);
  for (int k = 0; k < 4; k++) {
    if (signs[k] != 0 && !(fabs(fabs(q[k] / length) - size) <= bound)) return false;
  }
  return true;
}

/* The rotation of (w, x, y, z), of which every product is exact. */
static graze_pose turn(const int s[4], const double translation[3]) {
  const double two = 2.0 / (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + s[3] * s[3]);
  const int w = s[0], x = s[1], y = s[2], z = s[3];
  return (graze_pose){{1 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y), translation[0],
                       two * (x * y + w * z), 1 - two * (x * x + z * z), two * (y * z - w * x), translation[1],
                       two * (x * z - w * y), two * (y * z + w * x), 1 - two * (x * x + y * y), translation[2]}};
}

graze_pose gz_gltf_make_pose(const double translation[3], const double rotation[4], const double scale[3]) {
  const double quaternion[4] = {rotation[3], rotation[0], rotation[1], rotation[2]}; /* w first */
  int signs[4];
  const graze_pose moved =
      find_turn(quaternion, signs) ? turn(signs, translation) : graze_pose_from_quaternion(quaternion, translation);
  const graze_pose scaled = {{scale[0], 0, 0, 0, 0, scale[1], 0, 0, 0, 0, scale[2], 0}};
  return graze_pose_multiply(&moved, &scaled);
}

static bool is_unit(const double q[4]) {
  return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) <= UNIT_TOLERANCE;
}

/* ---- local pose ---- */

/* The matrix stands in the file column by column. */
static bool take_matrix(const gltf_file *file, const char *place, const double matrix[16], graze_pose *pose) {
  if (matrix[3] != 0 || matrix[7] != 0 || matrix[11] != 0 || matrix[15] != 1) {
    return gz_gltf_fail(file, GRAZE_ERROR_POSE, place, "the last row of \"matrix\" is not 0 0 0 1");
  }
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 4; c++) pose->m[4 * r + c] = matrix[4 * c + r];
  }
  return true;
}

static void take_parts(gltf_file *file, const double translation[3], const double rotation[4], const double scale[3],
                       gltf_node *node) {
  int signs[4];
  gz_gltf_look_at(&file->digits, translation, 3);
  gz_gltf_look_at(&file->digits, rotation, 4);
  gz_gltf_look_at(&file->digits, scale, 3);
  node->pose = gz_gltf_make_pose(translation, rotation, scale);
  if (!file->digits.doubles)
    node->rounding = gz_gltf_round_pose(translation, rotation, scale, find_turn(rotation, signs));
}

static bool read_pose(gltf_file *file, const json_t *object, const char *place, gltf_node *node) {
  double matrix[16], translation[3] = {0}, rotation[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
  bool has_matrix, moved, turned, scaled;
  if (!gz_gltf_get_numbers(file, place, object, "matrix", 16, matrix, &has_matrix) ||
      !gz_gltf_get_numbers(file, place, object, "translation", 3, translation, &moved) ||
      !gz_gltf_get_numbers(file, place, object, "rotation", 4, rotation, &turned) ||
      !gz_gltf_get_numbers(file, place, object, "scale", 3, scale, &scaled)) {
    return false;
  }
  if (has_matrix && (moved || turned || scaled)) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "both \"matrix\" and translation, rotation or scale");
  }
  if (has_matrix) {
    gz_gltf_look_at(&file->digits, matrix, 16);
    if (!take_matrix(file, place, matrix, &node->pose)) return false;
    node->rounding = gz_gltf_round_matrix(&node->pose);
    return true;
  }
  if (!is_unit(rotation)) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"rotation\" is not a unit quaternion");
  take_parts(file, translation, rotation, scale, node);
  return true;
}

/* ---- the node ---- */

static bool check_children(const gltf_file *file, const char *place, const json_t *children) {
  for (size_t i = 0; i < json_array_size(children); i++) {
    uint32_t child;
    if (!gz_gltf_index_of(file, place, "children", json_array_get(children, i), file->node_count, &child)) return false;
  }
  return true;
}

bool gz_gltf_read_node(gltf_file *file, const json_t *object, const char *place, gltf_node *node) {
  json_t *instancing = gz_gltf_extension(object, "EXT_mesh_gpu_instancing");
  const json_t *extras = json_object_get(object, "extras");
  node->label = json_string_value(json_object_get(extras, "name"));
  if (node->label == NULL) node->label = json_string_value(json_object_get(extras, "Name"));
  node->parent = GLTF_NONE;
  node->instances = NULL;
  if (!gz_gltf_get_name(file, place, object, &node->name) ||
      !gz_gltf_get_index(file, place, object, "mesh", file->mesh_count, false, &node->mesh) ||
      !gz_gltf_get_array(file, place, object, "children", &node->children) ||
      !check_children(file, place, node->children) || !read_pose(file, object, place, node)) {
    return false;
  }
  if (instancing == NULL) return true;
  if (!gz_gltf_get_object(file, place, instancing, "attributes", &node->instances)) return false;
  return node->instances != NULL ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "EXT_mesh_gpu_instancing has no \"attributes\"");
}

/* ---- instances ---- */

typedef struct instance_data {
  double *translations, *rotations, *scales; /* NULL: not given */
} instance_data;

/* One of the three attributes: floats, and for rotations normalized whole numbers too. */
static bool read_attribute(gltf_file *file, const char *place, const json_t *attributes, const char *key,
                           unsigned components, uint64_t *count, double **values) {
  uint32_t index;
  *values = NULL;
  if (!gz_gltf_get_index(file, place, attributes, key, file->accessor_count, false, &index)) return false;
  if (index == GLTF_NONE) return true;
  const gltf_accessor *accessor = &file->accessors[index];
  bool small = (accessor->run.component == GLTF_BYTE || accessor->run.component == GLTF_SHORT) && accessor->normalized;
  if (accessor->components != components || !(accessor->run.component == GLTF_FLOAT || (components == 4 && small))) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "%s of the instances is of the wrong type", key);
  }
  if (*count != 0 && accessor->count != *count) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "the attributes of the instances have different counts");
  }
  *count = accessor->count;
  if (accessor->count > IO_MOST_OBJECTS) return gz_gltf_fail(file, GRAZE_ERROR_LIMIT, place, "too many instances");
  if (!gz_gltf_unpack(file, index) || !gz_gltf_allow_zeros(file, place, index, accessor->count)) return false;
  *values = gz_new(file->fault->context, accessor->count, components * sizeof **values);
  if (*values == NULL) return gz_io_fail_memory(file->fault);
  return gz_gltf_read_vectors(file, place, index, components, *values);
}

static bool make_poses(gltf_file *file, const char *place, const instance_data *data, uint64_t count,
                       graze_pose **poses) {
  static const double none[3] = {0, 0, 0}, unturned[4] = {0, 0, 0, 1}, unscaled[3] = {1, 1, 1};
  *poses = gz_new(file->fault->context, count, sizeof **poses);
  if (*poses == NULL) return gz_io_fail_memory(file->fault);
  for (uint64_t i = 0; i < count; i++) {
    const double *rotation = data->rotations != NULL ? data->rotations + 4 * i : unturned;
    if (!is_unit(rotation)) {
      return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "ROTATION of instance %llu is not a unit quaternion",
                          (unsigned long long)i);
    }
    (*poses)[i] = gz_gltf_make_pose(data->translations != NULL ? data->translations + 3 * i : none, rotation,
                                    data->scales != NULL ? data->scales + 3 * i : unscaled);
  }
  return true;
}

bool gz_gltf_read_instances(gltf_file *file, const char *place, const json_t *attributes, graze_pose **poses,
                            uint64_t *count) {
  instance_data data = {0};
  *poses = NULL;
  *count = 0;
  bool good = read_attribute(file, place, attributes, "TRANSLATION", 3, count, &data.translations) &&
              read_attribute(file, place, attributes, "ROTATION", 4, count, &data.rotations) &&
              read_attribute(file, place, attributes, "SCALE", 3, count, &data.scales);
  if (good && *count == 0) {
    good = gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "the instances have no TRANSLATION, ROTATION or SCALE");
  }
  good = good && make_poses(file, place, &data, *count, poses);
  gz_free(data.translations);
  gz_free(data.rotations);
  gz_free(data.scales);
  return good;
}
