// graze-peer-ode: ODE's mesh-mesh collider (OPCODE inside) behind the bench's protocol; and its spaces.
#include <ode/ode.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "broad.hpp"
#include "peer.hpp"
#include "rigid.hpp"

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

// ---- rigid bodies: the quick step of 1/60 s, as it comes, nothing sleeps ----

class Dynamics : public peer::Bodies {
 public:
  explicit Dynamics(const scenes_rigid &scene) : friction_(scene.friction), restitution_(scene.restitution) {
    const double *g = scene.gravity;
    dWorldSetGravity(world_, dReal(g[0]), dReal(g[1]), dReal(g[2]));
  }
  ~Dynamics() override {
    dJointGroupDestroy(contacts_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
    for (dTriMeshDataID data : data_) dGeomTriMeshDataDestroy(data);
  }
  // About its origin, which is its centre of mass.
  void add_mesh(const scenes_mesh &mesh, const double *m, bool moves, double density) override {
    vertices_.emplace_back(mesh.vertices, mesh.vertices + 3 * mesh.vertex_count);
    indices_.emplace_back(mesh.indices, mesh.indices + 3 * mesh.triangle_count);
    data_.push_back(dGeomTriMeshDataCreate());
    dGeomTriMeshDataBuildDouble(data_.back(), vertices_.back().data(), 24, int(mesh.vertex_count),
                                indices_.back().data(), int(3 * mesh.triangle_count), 12);
    dGeomID geom = dCreateTriMesh(space_, data_.back(), nullptr, nullptr, nullptr);
    dMatrix3 rotation;
    for (int i = 0; i < 12; i++) rotation[i] = i % 4 < 3 ? dReal(m[i]) : dReal(0);
    bodies_.push_back(nullptr);
    if (moves) {
      dMass mass;
      dMassSetTrimesh(&mass, dReal(density), geom);
      dMassTranslate(&mass, -mass.c[0], -mass.c[1], -mass.c[2]);
      bodies_.back() = dBodyCreate(world_);
      dBodySetMass(bodies_.back(), &mass);
      dGeomSetBody(geom, bodies_.back());
    }
    dGeomSetPosition(geom, dReal(m[3]), dReal(m[7]), dReal(m[11]));
    dGeomSetRotation(geom, rotation);
  }
  void add_wall(const scenes_wall &w) override {
    const double *n = w.normal, *p = w.point;
    dCreatePlane(space_, dReal(n[0]), dReal(n[1]), dReal(n[2]), dReal(n[0] * p[0] + n[1] * p[1] + n[2] * p[2]));
  }
  void add_body(const scenes_body &b) override {
    const double *s = b.size, *m = b.pose;
    const dReal density = dReal(b.density), x = dReal(s[0]), y = dReal(s[1]), z = dReal(s[2]);
    dMass mass;
    dGeomID geom;
    if (b.shape == SCENES_BODY_BALL) {
      dMassSetSphere(&mass, density, x);
      geom = dCreateSphere(space_, x);
    } else if (b.shape == SCENES_BODY_BOX) {
      dMassSetBox(&mass, density, x, y, z);
      geom = dCreateBox(space_, x, y, z);
    } else {
      dMassSetCapsule(&mass, density, 3, x, y);
      geom = dCreateCapsule(space_, x, y);
    }
    dBodyID body = dBodyCreate(world_);
    dMatrix3 rotation;
    for (int i = 0; i < 12; i++) rotation[i] = i % 4 < 3 ? dReal(m[i]) : dReal(0);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, dReal(m[3]), dReal(m[7]), dReal(m[11]));
    dBodySetRotation(body, rotation);
    bodies_.push_back(body);
  }
  void step() override {
    dSpaceCollide(space_, this, [](void *self, dGeomID a, dGeomID b) { static_cast<Dynamics *>(self)->touch(a, b); });
    dWorldQuickStep(world_, dReal(1.0 / 60));
    dJointGroupEmpty(contacts_);
  }
  double height(size_t body) const override {
    return bodies_[body] ? dBodyGetPosition(bodies_[body])[2] : 0;
  }

 private:
  void touch(dGeomID a, dGeomID b) {
    dContact found[64];
    const int most = dGeomGetClass(a) == dTriMeshClass ? 64 : 8;
    const int count = dCollide(a, b, most, &found[0].geom, sizeof found[0]);
    for (int i = 0; i < count; i++) {
      found[i].surface.mode = dContactBounce | dContactApprox1;
      found[i].surface.mu = dReal(friction_);
      found[i].surface.bounce = dReal(restitution_);
      found[i].surface.bounce_vel = dReal(0.2);
      dJointAttach(dJointCreateContact(world_, contacts_, &found[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
  }
  dWorldID world_ = dWorldCreate();
  dSpaceID space_ = dHashSpaceCreate(nullptr);
  dJointGroupID contacts_ = dJointGroupCreate(0);
  std::vector<dBodyID> bodies_;  // null: it stands at height 0
  std::vector<std::vector<double>> vertices_;
  std::vector<std::vector<dTriIndex>> indices_;
  std::vector<dTriMeshDataID> data_;
  double friction_, restitution_;
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
  peer::BodiesTask bodies([](const scenes_rigid &scene) { return std::unique_ptr<peer::Bodies>(new Dynamics(scene)); });
  program.offer(
      "rigid", "quick_step", [&](const Inputs &in) { return bodies.prepare(in); },
      [&](const Inputs &in) { return bodies.run(in); });
  offer_spaces(program);
  int status = program.serve([&] {
    bodies.release();
    queries.release();
  });
  dCloseODE();
  return status;
}
