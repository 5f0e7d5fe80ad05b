// graze-peer-opcode: OPCODE (trees of boxes along the axes) behind the bench's protocol: any contact at a pose, by
// trees without leaves, of floats and quantized. Vertices, matrices and its triangle test are floats.
#include <Opcode.h>

#include <memory>

#include "peer.hpp"

namespace {

using peer::Inputs;

// A mesh as OPCODE sees it, which keeps pointers into the arrays, and its tree.
struct Tree {
  Opcode::MeshInterface mesh;
  Opcode::Model model;
  Tree(const peer::Mesh &from, bool quantized) {
    mesh.SetSingle(true);
    mesh.SetNbTriangles(udword(from.triangle_count()));
    mesh.SetNbVertices(udword(from.vertex_count()));
    mesh.SetPointers(reinterpret_cast<const IndexedTriangle *>(from.indices.data()),
                     reinterpret_cast<const Point *>(from.vertices.data()));
    Opcode::BuildSettings rules(Opcode::SPLIT_SPLATTER_POINTS | Opcode::SPLIT_GEOM_CENTER);
    Opcode::OPCODECREATE create(&mesh, rules, true, quantized);
    if (!model.Build(create)) throw std::runtime_error("the tree could not be built");
  }
};

// Its vectors are rows, so that a pose is transposed.
Matrix4x4 matrix(const double *m) {
  Matrix4x4 out;
  out.Identity();
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) out.m[j][i] = float(m[4 * i + j]);
  return out;
}

struct Queries {
  bool quantized;
  std::unique_ptr<Tree> a, b;
  Opcode::AABBTreeCollider collider;

  std::string prepare(const Inputs &in) {
    a.reset(new Tree(in.a, quantized));
    b.reset(new Tree(in.b, quantized));
    collider.SetFirstContact(true);
    collider.SetTemporalCoherence(false);
    return "";
  }
  bool hit(const double *m) {
    const Matrix4x4 pose = matrix(m);
    Opcode::BVTCache pair;
    pair.Model0 = &b->model;
    pair.Model1 = &a->model;
    if (!collider.Collide(pair, &pose, nullptr)) throw std::runtime_error("the collider refused");
    return collider.GetContactStatus() != 0;
  }
  peer::Reply build(const Inputs &in) const {
    peer::Reply r;
    double start = seconds_now();
    Tree tree(in.a, quantized);
    r.seconds = {seconds_now() - start};
    r.count = in.a.triangle_count();
    r.bytes = tree.model.GetUsedBytes();
    return r;
  }
  void offer(peer::Program &program, const char *name) {
    program.offer("build", name, nullptr, [this](const Inputs &in) { return build(in); });
    program.offer(
        "boolean", name, [this](const Inputs &in) { return prepare(in); },
        [this](const Inputs &in) {
          return peer::time_poses(in, BENCH_ITEMS_MAX, [this](const double *m) { return hit(m); });
        });
  }
  void release() {
    a.reset();
    b.reset();
  }
};

}  // namespace

int main() {
  Queries plain{false, nullptr, nullptr, {}}, quantized{true, nullptr, nullptr, {}};
  peer::Program program;
  plain.offer(program, "tree");
  quantized.offer(program, "quantized");
  return program.serve([&] {
    plain.release();
    quantized.release();
  });
}
