// graze-peer-pqp: PQP 1.3 behind the bench's protocol: any contact at a pose, by its oriented boxes; distances of
// meshes by its swept spheres, each asked without a triangle pair from before; builds, which make both.
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

// A pose as the interface wants it, beside that of what stays where it is.
struct Pose {
  PQP_REAL still[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, origin[3] = {0, 0, 0}, turn[3][3], shift[3];
  explicit Pose(const double *m) {
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) turn[i][j] = m[4 * i + j];
      shift[i] = m[4 * i + 3];
    }
  }
};

peer::Reply build(const Inputs &in) {
  peer::Reply r;
  double start = seconds_now();
  auto made = model(in.a);
  r.seconds = {seconds_now() - start};
  r.count = in.a.triangle_count();
  return r;
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
  program.offer("build", "both", nullptr, build);
  program.offer("boolean", "obb", ready, [&](const Inputs &in) {
    return peer::time_poses(in, BENCH_ITEMS_MAX, [&](const double *m) {
      Pose p(m);
      PQP_CollideResult result;
      PQP_Collide(&result, p.still, p.origin, a.get(), p.turn, p.shift, b.get(), PQP_FIRST_CONTACT);
      return result.NumPairs() > 0;
    });
  });
  program.offer("distance", "rss", ready, [&](const Inputs &in) {
    return peer::time_distances(in, BENCH_ITEMS_MAX, [&](const double *m) {
      Pose p(m);
      a->last_tri = a->tris;  // what the last question found is forgotten
      b->last_tri = b->tris;
      PQP_DistanceResult result;
      PQP_Distance(&result, p.still, p.origin, a.get(), p.turn, p.shift, b.get(), 0, 0);
      return result.Distance();
    });
  });
  return program.serve([&] {
    a.reset();
    b.reset();
  });
}
