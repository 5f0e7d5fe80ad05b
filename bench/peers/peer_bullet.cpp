// graze-peer-bullet: Bullet's GImpact mesh-mesh (quantised box trees, then GImpact's own triangle test) and btDbvt,
// behind the bench's protocol; and its broad phases.
#include <BulletCollision/BroadphaseCollision/btAxisSweep3.h>
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <memory>

#include "broad.hpp"
#include "peer.hpp"
#include "rigid.hpp"

namespace {

using peer::Inputs;
using peer::Reply;

struct Shape {
  std::vector<btScalar> vertices;
  std::vector<int> indices;
  std::unique_ptr<btTriangleIndexVertexArray> arrays;
  std::unique_ptr<btGImpactMeshShape> shape;
  explicit Shape(const peer::Mesh &mesh)
      : vertices(mesh.vertices.begin(), mesh.vertices.end()), indices(mesh.indices.begin(), mesh.indices.end()) {
    arrays.reset(new btTriangleIndexVertexArray(int(mesh.triangle_count()), indices.data(), 12,
                                                int(mesh.vertex_count()), vertices.data(), 3 * sizeof(btScalar)));
    shape.reset(new btGImpactMeshShape(arrays.get()));
    shape->setMargin(0);
    shape->updateBound();
  }
  btGImpactMeshShapePart *part() {
    return shape->getMeshPart(0);
  }
};

bool triangles_meet(btPrimitiveTriangle &x, btPrimitiveTriangle &y) {
  x.buildTriPlane();
  y.buildTriPlane();
  GIM_TRIANGLE_CONTACT contact;
  return x.overlap_test_conservative(y) && x.find_triangle_collision_clip_method(y, contact);
}

struct Queries {
  std::unique_ptr<Shape> a, b;

  std::string prepare(const Inputs &in) {
    a.reset(new Shape(in.a));
    b.reset(new Shape(in.b));
    return "";
  }
  // Calls found(i, j) for every meeting pair until it returns false.
  template <class Found>
  void collide(const btTransform &pose, Found found) {
    const btTransform identity = btTransform::getIdentity();
    btPairSet candidates;
    btGImpactBoxSet::find_collision(a->part()->getBoxSet(), identity, b->part()->getBoxSet(), pose, candidates);
    a->part()->lockChildShapes();
    b->part()->lockChildShapes();
    for (int i = 0; i < candidates.size(); i++) {
      btPrimitiveTriangle x, y;
      a->part()->getPrimitiveTriangle(candidates[i].m_index1, x);
      b->part()->getPrimitiveTriangle(candidates[i].m_index2, y);
      x.applyTransform(identity);
      y.applyTransform(pose);
      if (triangles_meet(x, y) && !found(uint32_t(candidates[i].m_index1), uint32_t(candidates[i].m_index2))) break;
    }
    a->part()->unlockChildShapes();
    b->part()->unlockChildShapes();
  }
  Reply boolean(const Inputs &in) {
    return peer::time_poses(in, BENCH_ITEMS_MAX, [&](const double *m) {
      btScalar s[12];
      for (int k = 0; k < 12; k++) s[k] = btScalar(m[k]);
      btTransform pose(btMatrix3x3(s[0], s[1], s[2], s[4], s[5], s[6], s[8], s[9], s[10]),
                       btVector3(s[3], s[7], s[11]));
      bool hit = false;
      collide(pose, [&](uint32_t, uint32_t) {
        hit = true;
        return false;
      });
      return hit;
    });
  }
  Reply pairs(const Inputs &in) {
    peer::Pairs pairs(in.check);
    double start = seconds_now();
    collide(btTransform::getIdentity(), [&](uint32_t i, uint32_t j) {
      pairs.add(i, j);
      return true;
    });
    return pairs.reply(seconds_now() - start);
  }
};

Reply build(const Inputs &in) {
  Reply r;
  double start = seconds_now();
  Shape shape(in.a);
  r.seconds = {seconds_now() - start};
  r.count = in.a.triangle_count();
  return r;
}

Reply triangle_pairs(const Inputs &in) {
  return peer::time_triangle_pairs(in, [](const double *a, const double *b) {
    btPrimitiveTriangle x, y;
    for (int k = 0; k < 3; k++) {
      x.m_vertices[k] = btVector3(btScalar(a[3 * k]), btScalar(a[3 * k + 1]), btScalar(a[3 * k + 2]));
      y.m_vertices[k] = btVector3(btScalar(b[3 * k]), btScalar(b[3 * k + 1]), btScalar(b[3 * k + 2]));
    }
    x.m_margin = y.m_margin = 0;
    return triangles_meet(x, y);
  });
}

struct BoxPairs : btDbvt::ICollide {
  peer::Pairs pairs;
  explicit BoxPairs(bool check) : pairs(check) {
  }
  void Process(const btDbvtNode *x, const btDbvtNode *y) override {
    if (x != y) pairs.add_ordered(uint32_t(size_t(x->data)), uint32_t(size_t(y->data)));
  }
};

Reply wave(const Inputs &in) {
  double start = seconds_now();
  btDbvt tree;
  for (size_t i = 0; i < in.a.triangle_count(); i++) {
    btVector3 low(1e30f, 1e30f, 1e30f), high(-1e30f, -1e30f, -1e30f);
    for (int k = 0; k < 3; k++) {
      const float *p = in.a.corner(i, k);
      btVector3 q(p[0], p[1], p[2]);
      low.setMin(q);
      high.setMax(q);
    }
    tree.insert(btDbvtVolume::FromMM(low, high), reinterpret_cast<void *>(i));
  }
  tree.optimizeTopDown();
  BoxPairs found(in.check);
  tree.collideTTpersistentStack(tree.m_root, tree.m_root, found);
  return found.pairs.reply(seconds_now() - start);
}

// ---- broad phases ----

using peer::BoxInput;

btVector3 corner(const float *p) {
  return btVector3(p[0], p[1], p[2]);
}

// Proxies and a cache of pairs, as a world of rigid bodies uses them. The pairs are those of enlarged boxes.
class Proxies : public peer::Broad {
 public:
  enum Kind { IMMEDIATE, DEFERRED, SWEEP };
  explicit Proxies(Kind kind) : kind_(kind) {
  }
  ~Proxies() override {
    broadphase_.reset();
    // btDbvtBroadphase leaves its proxies to whoever removes them one by one, which takes longer than the whole test
    if (kind_ != SWEEP)
      for (auto *p : proxies_) btAlignedFree(p);
  }
  void build(const BoxInput &in) override {
    if (kind_ == SWEEP) {
      const double *low = in.made.low, *high = in.made.high;
      btVector3 least(btScalar(low[0] - 1), btScalar(low[1] - 1), btScalar(low[2] - 1));
      btVector3 most(btScalar(high[0] + 1), btScalar(high[1] + 1), btScalar(high[2] + 1));
      broadphase_.reset(new bt32BitAxisSweep3(least, most, in.count() + 2, nullptr, true));
    } else {
      auto tree = new btDbvtBroadphase();
      tree->m_deferedcollide = kind_ == DEFERRED;
      broadphase_.reset(tree);
    }
    proxies_.resize(in.count());
    for (uint32_t i = 0; i < in.count(); i++)
      proxies_[i] = broadphase_->createProxy(corner(in.low(i)), corner(in.high(i)), 0,
                                             reinterpret_cast<void *>(size_t(i) + 1), 1, 1, nullptr);
  }
  void move(const BoxInput &in) override {
    for (uint32_t i : in.movers) broadphase_->setAabb(proxies_[i], corner(in.low(i)), corner(in.high(i)), nullptr);
  }
  void find(const BoxInput &, peer::BoxPairs &out) override {
    broadphase_->calculateOverlappingPairs(nullptr);
    auto *cache = broadphase_->getOverlappingPairCache();
    int n = cache->getNumOverlappingPairs();
    const btBroadphasePair *p = n ? cache->getOverlappingPairArrayPtr() : nullptr;
    for (int i = 0; i < n; i++)
      out.add(uint32_t(size_t(p[i].m_pProxy0->m_clientObject) - 1),
              uint32_t(size_t(p[i].m_pProxy1->m_clientObject) - 1));
  }

 private:
  Kind kind_;
  std::unique_ptr<btBroadphaseInterface> broadphase_;
  std::vector<btBroadphaseProxy *> proxies_;
};

// The bare tree against itself, exact boxes: built anew, or its leaves moved and a hundredth of it improved a step.
class Tree : public peer::Broad {
 public:
  explicit Tree(bool incremental) : incremental_(incremental) {
  }
  void build(const BoxInput &in) override {
    tree_.reset(new btDbvt);
    leaves_.resize(in.count());
    for (uint32_t i = 0; i < in.count(); i++)
      leaves_[i] = tree_->insert(volume(in, i), reinterpret_cast<void *>(size_t(i)));
  }
  void move(const BoxInput &in) override {
    if (!incremental_) {
      build(in);
      return;
    }
    for (uint32_t i : in.movers) {
      btDbvtVolume v = volume(in, i);
      tree_->update(leaves_[i], v);
    }
    tree_->optimizeIncremental(1 + int(in.count() / 100));
  }
  void find(const BoxInput &, peer::BoxPairs &out) override {
    Sink sink(out);
    tree_->collideTTpersistentStack(tree_->m_root, tree_->m_root, sink);
  }

 private:
  struct Sink : btDbvt::ICollide {
    peer::BoxPairs &out;
    explicit Sink(peer::BoxPairs &pairs) : out(pairs) {
    }
    void Process(const btDbvtNode *x, const btDbvtNode *y) override {
      out.add(uint32_t(size_t(x->data)), uint32_t(size_t(y->data)));
    }
  };
  static btDbvtVolume volume(const BoxInput &in, uint32_t i) {
    return btDbvtVolume::FromMM(corner(in.low(i)), corner(in.high(i)));
  }
  bool incremental_;
  std::unique_ptr<btDbvt> tree_;
  std::vector<btDbvtNode *> leaves_;
};

void offer_broad_phases(peer::Program &program) {
  const int both = peer::BROAD_STATIC | peer::BROAD_MOVING;
  auto proxies = [](Proxies::Kind kind) { return [kind] { return std::unique_ptr<peer::Broad>(new Proxies(kind)); }; };
  auto tree = [](bool moved) { return [moved] { return std::unique_ptr<peer::Broad>(new Tree(moved)); }; };
  peer::offer_broad(program, "dbvt", both, proxies(Proxies::IMMEDIATE));
  peer::offer_broad(program, "dbvt_deferred", both, proxies(Proxies::DEFERRED));
  peer::offer_broad(program, "sweep", both, proxies(Proxies::SWEEP));
  peer::offer_broad(program, "tree", peer::BROAD_STATIC, tree(false));
  peer::offer_broad(program, "tree_moved", peer::BROAD_MOVING, tree(true));
}

// ---- rigid bodies: one step of 1/60 s with the default solver, nothing sleeps ----

btTransform placed(const double *m) {
  return btTransform(btMatrix3x3(btScalar(m[0]), btScalar(m[1]), btScalar(m[2]), btScalar(m[4]), btScalar(m[5]),
                                 btScalar(m[6]), btScalar(m[8]), btScalar(m[9]), btScalar(m[10])),
                     btVector3(btScalar(m[3]), btScalar(m[7]), btScalar(m[11])));
}

class Dynamics : public peer::Bodies {
 public:
  explicit Dynamics(const scenes_rigid &scene)
      : dispatcher_(&configuration_),
        world_(&dispatcher_, &broad_, &solver_, &configuration_),
        friction_(btScalar(std::sqrt(scene.friction))),
        restitution_(btScalar(std::sqrt(scene.restitution))) {
    const double *g = scene.gravity;
    world_.setGravity(btVector3(btScalar(g[0]), btScalar(g[1]), btScalar(g[2])));
  }
  ~Dynamics() override {
    for (auto &b : all_) world_.removeRigidBody(b.get());
  }
  void add_wall(const scenes_wall &w) override {
    const btVector3 n(btScalar(w.normal[0]), btScalar(w.normal[1]), btScalar(w.normal[2]));
    const btVector3 p(btScalar(w.point[0]), btScalar(w.point[1]), btScalar(w.point[2]));
    add(new btStaticPlaneShape(n, n.dot(p)), btTransform::getIdentity(), 0);
  }
  void add_body(const scenes_body &b) override {
    const double pi = 3.14159265358979323846, *s = b.size;
    if (b.shape == SCENES_BODY_BALL)
      add(new btSphereShape(btScalar(s[0])), placed(b.pose), b.density * 4 / 3 * pi * s[0] * s[0] * s[0]);
    else if (b.shape == SCENES_BODY_BOX)
      add(new btBoxShape(btVector3(btScalar(s[0] / 2), btScalar(s[1] / 2), btScalar(s[2] / 2))), placed(b.pose),
          b.density * s[0] * s[1] * s[2]);
    else
      add(new btCapsuleShapeZ(btScalar(s[0]), btScalar(s[1])), placed(b.pose),
          b.density * pi * s[0] * s[0] * (s[1] + 4.0 / 3 * s[0]));
    moving_.push_back(all_.back().get());
  }
  void step() override {
    world_.stepSimulation(btScalar(1.0 / 60), 0);
  }
  double height(size_t body) const override {
    return moving_[body]->getWorldTransform().getOrigin().z();
  }
  // GImpact, of the mesh's volume. About its origin, which is its centre of mass.
  void add_mesh(const scenes_mesh &mesh, const double *pose, bool moves, double density) override {
    vertices_.emplace_back(mesh.vertices, mesh.vertices + 3 * mesh.vertex_count);
    indices_.emplace_back(mesh.indices, mesh.indices + 3 * mesh.triangle_count);
    arrays_.emplace_back(new btTriangleIndexVertexArray(int(mesh.triangle_count), indices_.back().data(), 12,
                                                        int(mesh.vertex_count), vertices_.back().data(),
                                                        int(3 * sizeof(btScalar))));
    btGImpactMeshShape *shape = new btGImpactMeshShape(arrays_.back().get());
    shape->updateBound();
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher_);
    add(shape, placed(pose), moves ? density * volume_of(mesh) : 0);
    moving_.push_back(all_.back().get());
  }

 private:
  static double volume_of(const scenes_mesh &mesh) {
    double six = 0;
    for (uint64_t t = 0; t < mesh.triangle_count; t++) {
      const double *a = mesh.vertices + 3 * mesh.indices[3 * t], *b = mesh.vertices + 3 * mesh.indices[3 * t + 1],
                   *c = mesh.vertices + 3 * mesh.indices[3 * t + 2];
      six +=
          a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return six / 6;
  }
  void add(btCollisionShape *shape, const btTransform &at, double mass) {
    btVector3 inertia(0, 0, 0);
    shapes_.emplace_back(shape);
    if (mass > 0) shape->calculateLocalInertia(btScalar(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
    info.m_startWorldTransform = at;
    info.m_friction = friction_;
    info.m_restitution = restitution_;
    all_.emplace_back(new btRigidBody(info));
    all_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(all_.back().get());
  }
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broad_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  btScalar friction_, restitution_;
  std::vector<std::vector<btScalar>> vertices_;
  std::vector<std::vector<int>> indices_;
  std::vector<std::unique_ptr<btTriangleIndexVertexArray>> arrays_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> all_;
  std::vector<btRigidBody *> moving_;
};

}  // namespace

int main() {
  Queries queries;
  peer::Program program;
  peer::BodiesTask bodies([](const scenes_rigid &scene) { return std::unique_ptr<peer::Bodies>(new Dynamics(scene)); });
  program.offer(
      "rigid", "step", [&](const Inputs &in) { return bodies.prepare(in); },
      [&](const Inputs &in) { return bodies.run(in); });
  auto ready = [&](const Inputs &in) { return queries.prepare(in); };
  program.offer("build", "gimpact", nullptr, build);
  program.offer("boolean", "gimpact", ready, [&](const Inputs &in) { return queries.boolean(in); });
  program.offer("pairs", "gimpact", ready, [&](const Inputs &in) { return queries.pairs(in); });
  program.offer("tritri", "gimpact", nullptr, triangle_pairs);
  program.offer(
      "wave", "dbvt", [](const Inputs &in) { return in.a.triangle_count() > 100000 ? "too slow at this size" : ""; },
      wave);
  offer_broad_phases(program);
  return program.serve([&] {
    bodies.release();
    queries.a.reset();
    queries.b.reset();
  });
}
