// graze-peer-fcl: FCL (Flexible Collision Library) as the distribution built it, behind the bench's protocol:
// meshes and broad phases.
#include <fcl/broadphase/broadphase_SSaP.h>
#include <fcl/broadphase/broadphase_SaP.h>
#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/broadphase/broadphase_dynamic_AABB_tree_array.h>
#include <fcl/fcl.h>

#include <algorithm>
#include <memory>

#include "broad.hpp"
#include "peer.hpp"

namespace {

using peer::Inputs;
using peer::Reply;

fcl::Transform3d transform(const double *m) {
  fcl::Transform3d t = fcl::Transform3d::Identity();
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) t.matrix()(i, j) = m[4 * i + j];
  return t;
}

template <class Volume>
std::shared_ptr<fcl::BVHModel<Volume>> model(const peer::Mesh &mesh) {
  std::vector<fcl::Vector3d> v(mesh.vertex_count());
  std::vector<fcl::Triangle> f(mesh.triangle_count());
  for (size_t i = 0; i < v.size(); i++)
    v[i] = fcl::Vector3d(mesh.vertices[3 * i], mesh.vertices[3 * i + 1], mesh.vertices[3 * i + 2]);
  for (size_t i = 0; i < f.size(); i++)
    f[i] = fcl::Triangle(mesh.indices[3 * i], mesh.indices[3 * i + 1], mesh.indices[3 * i + 2]);
  auto m = std::make_shared<fcl::BVHModel<Volume>>();
  m->beginModel(int(f.size()), int(v.size()));
  m->addSubModel(v, f);
  m->endModel();
  return m;
}

template <class Volume>
struct Queries {
  std::shared_ptr<fcl::BVHModel<Volume>> a, b;

  std::string prepare(const Inputs &in) {
    a = model<Volume>(in.a);
    b = in.b.triangle_count() ? model<Volume>(in.b) : nullptr;
    return "";
  }
  Reply build(const Inputs &in) {
    Reply r;
    double start = seconds_now();
    auto m = model<Volume>(in.a);
    r.seconds = {seconds_now() - start};
    r.count = in.a.triangle_count();
    r.bytes = uint64_t(m->memUsage(0));
    return r;
  }
  Reply boolean(const Inputs &in) {
    return peer::time_poses(in, BENCH_ITEMS_MAX, [&](const double *m) {
      fcl::CollisionRequestd request(1, false);
      fcl::CollisionResultd result;
      return fcl::collide(a.get(), fcl::Transform3d::Identity(), b.get(), transform(m), request, result) > 0;
    });
  }
  Reply distance(const Inputs &in) {
    return peer::time_distances(in, BENCH_ITEMS_MAX, [&](const double *m) {
      fcl::DistanceRequestd request(true);
      fcl::DistanceResultd result;
      return fcl::distance(a.get(), fcl::Transform3d::Identity(), b.get(), transform(m), request, result);
    });
  }
  Reply pairs(const Inputs &in) {
    fcl::CollisionRequestd request(size_t(1) << 30, false);
    fcl::CollisionResultd result;
    double start = seconds_now();
    fcl::collide(a.get(), fcl::Transform3d::Identity(), b.get(), fcl::Transform3d::Identity(), request, result);
    double seconds = seconds_now() - start;
    peer::Pairs pairs(in.check);
    for (size_t i = 0; i < result.numContacts(); i++)
      pairs.add(uint32_t(result.getContact(i).b1), uint32_t(result.getContact(i).b2));
    return pairs.reply(seconds);
  }
  void offer(peer::Program &program, const char *name) {
    auto ready = [this](const Inputs &in) { return prepare(in); };
    program.offer("build", name, nullptr, [this](const Inputs &in) { return build(in); });
    program.offer("boolean", name, ready, [this](const Inputs &in) { return boolean(in); });
    program.offer("pairs", name, ready, [this](const Inputs &in) { return pairs(in); });
  }
  void offer_distance(peer::Program &program, const char *name) {
    program.offer(
        "distance", name, [this](const Inputs &in) { return prepare(in); },
        [this](const Inputs &in) { return distance(in); });
  }
  void release() {
    a.reset();
    b.reset();
  }
};

Reply triangle_pairs(const Inputs &in) {
  return peer::time_triangle_pairs(in, [](const double *a, const double *b) {
    fcl::Vector3d p[3], q[3];
    for (int k = 0; k < 3; k++) {
      p[k] = fcl::Vector3d(a[3 * k], a[3 * k + 1], a[3 * k + 2]);
      q[k] = fcl::Vector3d(b[3 * k], b[3 * k + 1], b[3 * k + 2]);
    }
    return fcl::detail::Intersect<double>::intersect_Triangle(p[0], p[1], p[2], q[0], q[1], q[2]);
  });
}

// ---- broad phases: objects are made outside the timed part; of a step their boxes are part of the work ----

template <class Manager>
class Objects : public peer::Broad {
 public:
  void prepare(const peer::BoxInput &in) override {
    for (uint32_t i = 0; i < in.count(); i++) {
      auto box = std::make_shared<fcl::Boxd>(in.size(i, 0), in.size(i, 1), in.size(i, 2));
      objects_.emplace_back(new fcl::CollisionObjectd(box, fcl::Matrix3d::Identity(), middle(in, i)));
      objects_.back()->setUserData(reinterpret_cast<void *>(size_t(i)));
      objects_.back()->computeAABB();
    }
    for (uint32_t i : in.movers) moved_.push_back(objects_[i].get());
  }
  void build(const peer::BoxInput &) override {
    std::vector<fcl::CollisionObjectd *> all;
    for (auto &o : objects_) all.push_back(o.get());
    manager_.reset(new Manager);
    manager_->registerObjects(all);
    manager_->setup();
  }
  void move(const peer::BoxInput &in) override {
    for (uint32_t i : in.movers) {
      objects_[i]->setTranslation(middle(in, i));
      objects_[i]->computeAABB();
    }
    if (moved_.size() == objects_.size())
      manager_->update();
    else
      manager_->update(moved_);
  }
  void find(const peer::BoxInput &, peer::BoxPairs &out) override {
    manager_->collide(&out, [](fcl::CollisionObjectd *x, fcl::CollisionObjectd *y, void *pairs) {
      static_cast<peer::BoxPairs *>(pairs)->add(uint32_t(size_t(x->getUserData())), uint32_t(size_t(y->getUserData())));
      return false;
    });
  }

 private:
  static fcl::Vector3d middle(const peer::BoxInput &in, uint32_t i) {
    return fcl::Vector3d(in.middle(i, 0), in.middle(i, 1), in.middle(i, 2));
  }
  std::vector<std::unique_ptr<fcl::CollisionObjectd>> objects_;
  std::vector<fcl::CollisionObjectd *> moved_;
  std::unique_ptr<fcl::BroadPhaseCollisionManagerd> manager_;  // of a Manager: some hide overloads of update
};

template <class Manager>
void offer_objects(peer::Program &program, const char *name) {
  peer::offer_broad(program, name, peer::BROAD_STATIC | peer::BROAD_MOVING,
                    [] { return std::unique_ptr<peer::Broad>(new Objects<Manager>); });
}

}  // namespace

int main() {
  peer::Program program;
  Queries<fcl::OBBRSSd> obbrss;
  Queries<fcl::OBBd> obb;
  Queries<fcl::RSSd> rss;
  obbrss.offer(program, "obbrss");
  obb.offer(program, "obb");
  obbrss.offer_distance(program, "obbrss");
  rss.offer_distance(program, "rss");
  program.offer("tritri", "triangle", nullptr, triangle_pairs);
  offer_objects<fcl::DynamicAABBTreeCollisionManagerd>(program, "tree");
  offer_objects<fcl::DynamicAABBTreeCollisionManager_Arrayd>(program, "tree_array");
  offer_objects<fcl::SaPCollisionManagerd>(program, "sap");
  offer_objects<fcl::SSaPCollisionManagerd>(program, "ssap");
  return program.serve([&] {
    obbrss.release();
    obb.release();
    rss.release();
  });
}
