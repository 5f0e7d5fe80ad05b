// graze-peer-pqp: PQP 1.3 (swept sphere volumes) behind the bench's protocol: distances of meshes, each asked without a
// triangle pair from before.
#include <PQP.h>

#include <memory>

#include "peer.hpp"

namespace {

using peer::Inputs;

std::unique_ptr<PQP_Model> model(const peer::Mesh &mesh) {
  std::unique_ptr<PQP_Model> m(new PQP_Model);
  m->BeginModel(int(mesh.triangle_count()));
  for (size_t i = 0; i < mesh.triangle_count(); i++) {
    PQP_REAL p[3][3];
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 3; k++) p[c][k] = mesh.corner(i, c)[k];
    m->AddTri(p[0], p[1], p[2], int(i));
  }
  m->EndModel();
  return m;
}

}  // namespace

int main() {
  std::unique_ptr<PQP_Model> a, b;
  peer::Program program;
  auto ready = [&](const Inputs &in) {
    a = model(in.a);
    b = model(in.b);
    return std::string();
  };
  program.offer("distance", "rss", ready, [&](const Inputs &in) {
    return peer::time_distances(in, BENCH_ITEMS_MAX, [&](const double *m) {
      PQP_REAL still[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, origin[3] = {0, 0, 0}, turn[3][3], shift[3];
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) turn[i][j] = m[4 * i + j];
        shift[i] = m[4 * i + 3];
      }
      a->last_tri = a->tris;  // what the last question found is forgotten
      b->last_tri = b->tris;
      PQP_DistanceResult result;
      PQP_Distance(&result, still, origin, a.get(), turn, shift, b.get(), 0, 0);
      return result.Distance();
    });
  });
  return program.serve([&] {
    a.reset();
    b.reset();
  });
}
