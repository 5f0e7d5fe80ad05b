// graze-peer-igl: libigl's tree of boxes behind the bench's protocol: distances of points from a mesh, and with the
// sign of its fast winding numbers.
#include <igl/AABB.h>
#include <igl/fast_winding_number.h>

#include <cmath>
#include <memory>

#include "peer.hpp"

namespace {

using peer::Inputs;

struct State {
  Eigen::MatrixXd vertices;
  Eigen::MatrixXi faces;
  igl::AABB<Eigen::MatrixXd, 3> tree;
  igl::FastWindingNumberBVH winding;
};

std::unique_ptr<State> state;

std::string prepare(const Inputs &in) {
  state.reset(new State);
  state->vertices.resize(int(in.a.vertex_count()), 3);
  state->faces.resize(int(in.a.triangle_count()), 3);
  for (int i = 0; i < state->vertices.rows(); i++)
    for (int k = 0; k < 3; k++) state->vertices(i, k) = in.a.vertices[3 * size_t(i) + size_t(k)];
  for (int i = 0; i < state->faces.rows(); i++)
    for (int k = 0; k < 3; k++) state->faces(i, k) = int(in.a.indices[3 * size_t(i) + size_t(k)]);
  state->tree.init(state->vertices, state->faces);
  igl::fast_winding_number(state->vertices.cast<float>().eval(), state->faces, 2, state->winding);
  return "";
}

double distance_of(const double *p) {
  int face = -1;
  Eigen::RowVector3d at(p[0], p[1], p[2]), nearest;
  return std::sqrt(state->tree.squared_distance(state->vertices, state->faces, at, face, nearest));
}

// Ours tells on which side a point is, too.
double distance_and_side(const double *p) {
  const Eigen::RowVector3f at = Eigen::RowVector3d(p[0], p[1], p[2]).cast<float>();
  const double winding = igl::fast_winding_number(state->winding, 2.0f, at);
  return std::abs(winding > 0.5 ? -distance_of(p) : distance_of(p));
}

}  // namespace

int main() {
  peer::Program program;
  program.offer("points", "aabb", prepare, [](const Inputs &in) { return peer::time_points(in, distance_of); });
  program.offer("points", "aabb_side", prepare,
                [](const Inputs &in) { return peer::time_points(in, distance_and_side); });
  return program.serve([] { state.reset(); });
}
