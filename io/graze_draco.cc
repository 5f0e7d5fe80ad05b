/* graze-draco: unpacks meshes of glTF files (KHR_draco_mesh_compression) with the library libdraco; draco.h says how it
 * is spoken to.
 *
 *     graze-draco SECONDS MEGABYTES
 *
 * A program of its own: the library is in C++, and what damaged bytes may do to it ends this process only, within
 * limits that it sets itself first. Its reader believes nothing of what is written.
 */
#include <draco/compression/decode.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "draco.h"
#include "helper_limits.h"

namespace {

void put(const void *bytes, size_t size) {
  if (size > 0 && fwrite(bytes, 1, size, stdout) != size) exit(EXIT_FAILURE);
}

[[noreturn]] void end(const char *mark, const std::string &text) {
  const uint32_t length = static_cast<uint32_t>(text.size());
  put(mark, DRACO_MARK_SIZE);
  if (length > 0) put(&length, sizeof length);
  put(text.data(), length);
  fflush(stdout);
  _exit(EXIT_SUCCESS);
}

[[noreturn]] void fail(const std::string &text) {
  end(DRACO_FAULT, text);
}

std::vector<char> read_all() {
  std::vector<char> bytes;
  size_t used = 0, got;
  do {
    bytes.resize(used + (size_t{1} << 20));
    got = fread(bytes.data() + used, 1, bytes.size() - used, stdin);
    used += got;
  } while (got > 0);
  bytes.resize(used);
  return bytes;
}

/* The type of glTF, or 0. */
uint32_t component_of(draco::DataType type) {
  switch (type) {
    case draco::DT_INT8:
      return 5120;
    case draco::DT_UINT8:
      return 5121;
    case draco::DT_INT16:
      return 5122;
    case draco::DT_UINT16:
      return 5123;
    case draco::DT_FLOAT32:
      return 5126;
    default:
      return 0;
  }
}

const draco::PointAttribute &find_positions(const draco::Mesh &mesh, uint32_t id, uint32_t component) {
  const draco::PointAttribute *positions = mesh.GetAttributeByUniqueId(id);
  if (positions == nullptr) fail("no attribute " + std::to_string(id));
  if (positions->num_components() != 3) fail("attribute " + std::to_string(id) + " has no three components");
  if (component_of(positions->data_type()) != component)
    fail("attribute " + std::to_string(id) + " is of another type than its accessor");
  for (uint32_t i = 0; i < mesh.num_points(); i++) {
    if (positions->mapped_index(draco::PointIndex(i)).value() >= positions->size()) fail("a vertex has no position");
  }
  return *positions;
}

void put_mesh(const draco::Mesh &mesh, const draco::PointAttribute &positions) {
  const uint64_t counts[2] = {mesh.num_points(), mesh.num_faces()};
  char vertex[3 * sizeof(float)];
  const size_t size = 3 * static_cast<size_t>(draco::DataTypeLength(positions.data_type()));
  put(DRACO_MESH, DRACO_MARK_SIZE);
  put(counts, sizeof counts);
  for (uint32_t i = 0; i < mesh.num_points(); i++) {
    positions.GetMappedValue(draco::PointIndex(i), vertex);
    put(vertex, size);
  }
  for (uint32_t i = 0; i < mesh.num_faces(); i++) {
    const draco::Mesh::Face &face = mesh.face(draco::FaceIndex(i));
    const uint32_t corners[3] = {face[0].value(), face[1].value(), face[2].value()};
    put(corners, sizeof corners);
  }
}

void unpack(const char *bytes, size_t size, uint32_t attribute, uint32_t component) {
  draco::DecoderBuffer buffer;
  buffer.Init(bytes, size);
  draco::Decoder decoder;
  draco::StatusOr<std::unique_ptr<draco::Mesh>> mesh = decoder.DecodeMeshFromBuffer(&buffer);
  if (!mesh.ok()) fail(mesh.status().error_msg_string());
  put_mesh(*mesh.value(), find_positions(*mesh.value(), attribute, component));
}

void unpack_all(const std::vector<char> &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    uint32_t numbers[2];
    uint64_t size;
    if (bytes.size() - at < DRACO_HEAD_SIZE) fail("the request is cut off");
    memcpy(numbers, &bytes[at], sizeof numbers);
    memcpy(&size, &bytes[at + sizeof numbers], sizeof size);
    at += DRACO_HEAD_SIZE;
    if (size > bytes.size() - at) fail("the request is cut off");
    unpack(bytes.data() + at, size, numbers[0], numbers[1]);
    at += size;
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: graze-draco SECONDS MEGABYTES (graze runs it; it speaks a form that only graze reads)\n", stderr);
    return 2;
  }
  if (!helper_set_limits(argv[1], argv[2])) fail("the program cannot limit itself");
  try {
    unpack_all(read_all());
  } catch (const std::bad_alloc &) {
    fail("it asks for too much memory");
  }
  end(DRACO_END, "");
}
