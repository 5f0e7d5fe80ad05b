// graze-peer-ode: ODE's mesh-mesh collider (OPCODE inside) behind the bench's protocol; and its spaces.
#include <ode/ode.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "broad.hpp"
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

// ---- broad phases: spaces of boxes without bodies. ODE keeps no pairs: every step is the whole work. ----

class Space : public peer::Broad {
 public:
  enum Kind { SWEEP, HASH, QUAD };
  explicit Space(Kind kind) : kind_(kind) {
  }
  ~Space() override {
    if (space_)
      for (auto g : geoms_) dSpaceRemove(space_, g);
    if (space_) dSpaceDestroy(space_);
    for (auto g : geoms_) dGeomDestroy(g);
  }
  void prepare(const peer::BoxInput &in) override {
    geoms_.resize(in.count());
    for (uint32_t i = 0; i < in.count(); i++) {
      // ODE wants every length above zero
      dReal size[3];
      for (int k = 0; k < 3; k++) size[k] = std::max(dReal(in.size(i, k)), dReal(1e-30));
      geoms_[i] = dCreateBox(nullptr, size[0], size[1], size[2]);
      dGeomSetData(geoms_[i], reinterpret_cast<void *>(size_t(i)));
      place(in, i);
    }
  }
  void build(const peer::BoxInput &in) override {
    const scenes_boxes &made = in.made;
    if (kind_ == SWEEP) {
      space_ = dSweepAndPruneSpaceCreate(nullptr, dSAP_AXES_XYZ);
    } else if (kind_ == HASH) {
      space_ = dHashSpaceCreate(nullptr);
      dHashSpaceSetLevels(space_, int(std::floor(std::log2(made.least_edge))),
                          int(std::ceil(std::log2(made.greatest_edge))) + 1);
    } else {
      dVector3 middle, extent;
      for (int k = 0; k < 3; k++) {
        middle[k] = dReal(0.5 * (made.low[k] + made.high[k]));
        extent[k] = dReal(made.high[k] - made.low[k]);
      }
      space_ = dQuadTreeSpaceCreate(nullptr, middle, extent, std::min(9, int(std::ceil(std::log2(in.count()) / 2))));
    }
    dSpaceSetCleanup(space_, 0);
    for (auto g : geoms_) dSpaceAdd(space_, g);
  }
  void move(const peer::BoxInput &in) override {
    for (uint32_t i : in.movers) place(in, i);
  }
  void find(const peer::BoxInput &, peer::BoxPairs &out) override {
    dSpaceCollide(space_, &out, [](void *pairs, dGeomID x, dGeomID y) {
      static_cast<peer::BoxPairs *>(pairs)->add(uint32_t(size_t(dGeomGetData(x))), uint32_t(size_t(dGeomGetData(y))));
    });
  }

 private:
  void place(const peer::BoxInput &in, uint32_t i) {
    dGeomSetPosition(geoms_[i], dReal(in.middle(i, 0)), dReal(in.middle(i, 1)), dReal(in.middle(i, 2)));
  }
  Kind kind_;
  dSpaceID space_ = nullptr;
  std::vector<dGeomID> geoms_;
};

void offer_spaces(peer::Program &program) {
  auto space = [](Space::Kind kind) { return [kind] { return std::unique_ptr<peer::Broad>(new Space(kind)); }; };
  peer::offer_broad(program, "sweep", peer::BROAD_STATIC | peer::BROAD_MOVING, space(Space::SWEEP));
  peer::offer_broad(program, "hash", peer::BROAD_STATIC | peer::BROAD_MOVING, space(Space::HASH));
  peer::offer_broad(program, "quad", peer::BROAD_STATIC | peer::BROAD_MOVING, space(Space::QUAD));
}

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
  offer_spaces(program);
  int status = program.serve([&] { queries.release(); });
  dCloseODE();
  return status;
}
