// graze-peer-coal: Coal (formerly HPP-FCL) as its wheel has it, behind the bench's protocol: distances of meshes.
#include <coal/BVH/BVH_model.h>
#include <coal/distance.h>

#include <memory>

#include "peer.hpp"

namespace {

using peer::Inputs;
using peer::Reply;
using Model = coal::BVHModel<coal::OBBRSS>;

std::shared_ptr<Model> model(const peer::Mesh &mesh) {
  std::vector<coal::Vec3s> v(mesh.vertex_count());
  std::vector<coal::Triangle> f(mesh.triangle_count());
  for (size_t i = 0; i < v.size(); i++)
    v[i] = coal::Vec3s(mesh.vertices[3 * i], mesh.vertices[3 * i + 1], mesh.vertices[3 * i + 2]);
  for (size_t i = 0; i < f.size(); i++)
    f[i] = coal::Triangle(mesh.indices[3 * i], mesh.indices[3 * i + 1], mesh.indices[3 * i + 2]);
  auto m = std::make_shared<Model>();
  m->beginModel(unsigned(f.size()), unsigned(v.size()));
  m->addSubModel(v, f);
  m->endModel();
  return m;
}

coal::Transform3s transform(const double *m) {
  coal::Matrix3s r;
  coal::Vec3s t;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) r(i, j) = m[4 * i + j];
    t[i] = m[4 * i + 3];
  }
  return coal::Transform3s(r, t);
}

}  // namespace

int main() {
  std::shared_ptr<Model> a, b;
  peer::Program program;
  auto ready = [&](const Inputs &in) {
    a = model(in.a);
    b = model(in.b);
    return std::string();
  };
  program.offer("distance", "obbrss", ready, [&](const Inputs &in) {
    return peer::time_distances(in, BENCH_ITEMS_MAX, [&](const double *m) {
      coal::DistanceRequest request(true);
      coal::DistanceResult result;
      // Its answers below 0 are depths of triangles that meet.
      return std::max(0.0, coal::distance(a.get(), coal::Transform3s(), b.get(), transform(m), request, result));
    });
  });
  return program.serve([&] {
    a.reset();
    b.reset();
  });
}
