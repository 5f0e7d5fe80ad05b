// graze-peer-ode: ODE's mesh-mesh collider (OPCODE inside) behind the bench's protocol.
#include <ode/ode.h>

#include <algorithm>

#include "peer.hpp"

namespace {

using peer::Inputs;
using peer::Reply;

dTriMeshDataID make_data(const peer::Mesh &mesh) {
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildSingle(data, mesh.vertices.data(), 12, int(mesh.vertex_count()), mesh.indices.data(),
                              int(mesh.indices.size()), 12);
  return data;
}

struct Queries {
  dTriMeshDataID data_a = nullptr, data_b = nullptr;
  dGeomID a = nullptr, b = nullptr;

  std::string prepare(const Inputs &in) {
    release();
    data_a = make_data(in.a);
    data_b = make_data(in.b);
    a = dCreateTriMesh(nullptr, data_a, nullptr, nullptr, nullptr);
    b = dCreateTriMesh(nullptr, data_b, nullptr, nullptr, nullptr);
    dGeomTriMeshEnableTC(a, dTriMeshClass, 0);
    dGeomTriMeshEnableTC(b, dTriMeshClass, 0);
    return "";
  }
  bool hit(const double *m) {
    dMatrix3 rotation;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) rotation[4 * i + j] = j < 3 ? dReal(m[4 * i + j]) : dReal(0);
    dGeomSetRotation(b, rotation);
    dGeomSetPosition(b, dReal(m[3]), dReal(m[7]), dReal(m[11]));
    dContactGeom contact;
    return dCollide(a, b, 1 | int(CONTACTS_UNIMPORTANT), &contact, sizeof contact) > 0;
  }
  static Reply build(const Inputs &in) {
    Reply r;
    double start = seconds_now();
    dTriMeshDataID data = make_data(in.a);
    r.seconds = {seconds_now() - start};
    r.count = in.a.triangle_count();
    dGeomTriMeshDataDestroy(data);
    return r;
  }
  void release() {
    if (a) dGeomDestroy(a);
    if (b) dGeomDestroy(b);
    if (data_a) dGeomTriMeshDataDestroy(data_a);
    if (data_b) dGeomTriMeshDataDestroy(data_b);
    a = b = nullptr;
    data_a = data_b = nullptr;
  }
};

}  // namespace

int main() {
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  Queries queries;
  peer::Program program;
  program.offer("build", "opcode", nullptr, Queries::build);
  program.offer(
      "boolean", "opcode", [&](const Inputs &in) { return queries.prepare(in); },
      [&](const Inputs &in) {
        return peer::time_poses(in, BENCH_ITEMS_MAX, [&](const double *m) { return queries.hit(m); });
      });
  int status = program.serve([&] { queries.release(); });
  dCloseODE();
  return status;
}
