// graze-peer-embree: Embree's rtcCollide over user geometry (triangle boxes), with a plain double-precision triangle
// test in the callback, behind the bench's protocol. rtcCollide takes no pose: `boolean` moves mesh b and rebuilds.
#include <embree3/rtcore.h>

#include <algorithm>
#include <memory>

#include "../plain_tritri.h"
#include "broad.hpp"
#include "peer.hpp"

namespace {

using peer::Inputs;
using peer::Reply;

RTCDevice device;
int64_t device_bytes;

struct Geometry {
  const float *vertices;
  const uint32_t *indices;
  size_t count;
  explicit Geometry(const peer::Mesh &mesh)
      : vertices(mesh.vertices.data()), indices(mesh.indices.data()), count(mesh.triangle_count()) {
  }
  Geometry(const std::vector<float> &moved, const peer::Mesh &mesh)
      : vertices(moved.data()), indices(mesh.indices.data()), count(mesh.triangle_count()) {
  }
  const float *corner(uint32_t triangle, int k) const {
    return vertices + 3 * size_t(indices[3 * size_t(triangle) + k]);
  }
  void corners(uint32_t triangle, double out[9]) const {
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) out[3 * k + c] = corner(triangle, k)[c];
  }
};

void bounds(const RTCBoundsFunctionArguments *arguments) {
  auto *g = static_cast<const Geometry *>(arguments->geometryUserPtr);
  const float *p = g->corner(arguments->primID, 0), *q = g->corner(arguments->primID, 1),
              *r = g->corner(arguments->primID, 2);
  RTCBounds *b = arguments->bounds_o;
  b->lower_x = std::min({p[0], q[0], r[0]});
  b->lower_y = std::min({p[1], q[1], r[1]});
  b->lower_z = std::min({p[2], q[2], r[2]});
  b->upper_x = std::max({p[0], q[0], r[0]});
  b->upper_y = std::max({p[1], q[1], r[1]});
  b->upper_z = std::max({p[2], q[2], r[2]});
}

class Scene {
 public:
  Scene(Geometry *geometry, RTCBuildQuality quality) : scene_(rtcNewScene(device)) {
    rtcSetSceneBuildQuality(scene_, quality);
    RTCGeometry g = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(g, unsigned(geometry->count));
    rtcSetGeometryUserData(g, geometry);
    rtcSetGeometryBoundsFunction(g, bounds, nullptr);
    rtcSetGeometryIntersectFunction(g, [](const RTCIntersectFunctionNArguments *) {});
    rtcSetGeometryOccludedFunction(g, [](const RTCOccludedFunctionNArguments *) {});
    rtcSetGeometryBuildQuality(g, quality);
    rtcCommitGeometry(g);
    rtcAttachGeometry(scene_, g);
    rtcReleaseGeometry(g);
    rtcCommitScene(scene_);
  }
  ~Scene() {
    rtcReleaseScene(scene_);
  }
  Scene(const Scene &) = delete;
  Scene &operator=(const Scene &) = delete;
  RTCScene get() const {
    return scene_;
  }

 private:
  RTCScene scene_;
};

struct Search {
  const Geometry *a, *b;
  peer::Pairs pairs;
};

bool triangles_meet(const Search *s, uint32_t i, uint32_t j) {
  double x[9], y[9];
  s->a->corners(i, x);
  s->b->corners(j, y);
  return plain_moller_double(x, y);
}

void on_pairs(void *user, RTCCollision *found, unsigned n) {
  auto *s = static_cast<Search *>(user);
  for (unsigned k = 0; k < n; k++)
    if (triangles_meet(s, found[k].primID0, found[k].primID1)) s->pairs.add(found[k].primID0, found[k].primID1);
}

// rtcCollide of a scene with itself reports (i, j) and (j, i).
void on_self(void *user, RTCCollision *found, unsigned n) {
  auto *s = static_cast<Search *>(user);
  for (unsigned k = 0; k < n; k++) {
    uint32_t i = found[k].primID0, j = found[k].primID1;
    if (i >= j || peer::share_vertex(s->a->indices + 3 * size_t(i), s->a->indices + 3 * size_t(j))) continue;
    if (triangles_meet(s, i, j)) s->pairs.add(i, j);
  }
}

void on_boxes(void *user, RTCCollision *found, unsigned n) {
  auto *s = static_cast<Search *>(user);
  for (unsigned k = 0; k < n; k++)
    if (found[k].primID0 < found[k].primID1) s->pairs.add(found[k].primID0, found[k].primID1);
}

Reply build(const Inputs &in, RTCBuildQuality quality) {
  Reply r;
  Geometry g(in.a);
  int64_t before = device_bytes;
  double start = seconds_now();
  Scene scene(&g, quality);
  r.seconds = {seconds_now() - start};
  r.bytes = uint64_t(device_bytes - before);
  r.count = g.count;
  return r;
}

Reply self(const Inputs &in, RTCBuildQuality quality, RTCCollideFunc callback) {
  Geometry g(in.a);
  Search search{&g, &g, peer::Pairs(in.check)};
  double start = seconds_now();
  Scene scene(&g, quality);
  rtcCollide(scene.get(), scene.get(), callback, &search);
  return search.pairs.reply(seconds_now() - start);
}

// One mesh, built before the question is timed.
struct HeldOne {
  Geometry mesh;
  Scene scene;
  HeldOne(const Inputs &in, RTCBuildQuality quality) : mesh(in.a), scene(&mesh, quality) {
  }
  Reply self(const Inputs &in, RTCCollideFunc callback) {
    Search search{&mesh, &mesh, peer::Pairs(in.check)};
    double start = seconds_now();
    rtcCollide(scene.get(), scene.get(), callback, &search);
    return search.pairs.reply(seconds_now() - start);
  }
};

struct Held {
  Geometry a, b;
  Scene scene_a, scene_b;
  Held(const Inputs &in, RTCBuildQuality quality) : a(in.a), b(in.b), scene_a(&a, quality), scene_b(&b, quality) {
  }
};

struct Quality {
  RTCBuildQuality quality;
  std::unique_ptr<Held> held;
  std::unique_ptr<HeldOne> one;

  std::string prepare(const Inputs &in) {
    held.reset(new Held(in, quality));
    return "";
  }
  std::string prepare_one(const Inputs &in) {
    one.reset(new HeldOne(in, quality));
    return "";
  }
  void release() {
    held.reset();
    one.reset();
  }
  Reply pairs(const Inputs &in) {
    Search search{&held->a, &held->b, peer::Pairs(in.check)};
    double start = seconds_now();
    rtcCollide(held->scene_a.get(), held->scene_b.get(), on_pairs, &search);
    return search.pairs.reply(seconds_now() - start);
  }
  Reply boolean(const Inputs &in) {
    return peer::time_poses(in, 10, [&](const double *m) {
      std::vector<float> moved = peer::posed(in.b, m);
      Geometry b(moved, in.b);
      Scene scene(&b, quality);
      Search search{&held->a, &b, peer::Pairs(false)};
      rtcCollide(held->scene_a.get(), scene.get(), on_pairs, &search);
      return search.pairs.count > 0;
    });
  }
  void offer(peer::Program &program, const char *name, bool poses) {
    auto ready = [this](const Inputs &in) { return prepare(in); };
    program.offer("build", name, nullptr, [this](const Inputs &in) { return build(in, quality); });
    program.offer("pairs", name, ready, [this](const Inputs &in) { return pairs(in); });
    program.offer("self", std::string("disjoint_") + name, nullptr,
                  [this](const Inputs &in) { return self(in, quality, on_self); });
    program.offer("wave", name, nullptr, [this](const Inputs &in) { return self(in, quality, on_boxes); });
    auto ready_one = [this](const Inputs &in) { return prepare_one(in); };
    program.offer("self_query", std::string("disjoint_") + name, ready_one,
                  [this](const Inputs &in) { return one->self(in, on_self); });
    program.offer("wave_query", name, ready_one, [this](const Inputs &in) { return one->self(in, on_boxes); });
    if (poses) program.offer("boolean", "rebuild", ready, [this](const Inputs &in) { return boolean(in); });
  }
};

// ---- broad phase: one scene of boxes against itself. Candidates are pairs of leaves, which the callback tests. ----

class BoxScene : public peer::Broad {
 public:
  BoxScene(RTCBuildQuality quality, bool refit) : quality_(quality), refit_(refit) {
  }
  ~BoxScene() override {
    if (geometry_) rtcReleaseGeometry(geometry_);
    if (scene_) rtcReleaseScene(scene_);
  }
  void build(const peer::BoxInput &in) override {
    in_ = &in;
    scene_ = rtcNewScene(device);
    if (quality_ == RTC_BUILD_QUALITY_LOW) rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_DYNAMIC);
    rtcSetSceneBuildQuality(scene_, quality_);
    geometry_ = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(geometry_, in.count());
    rtcSetGeometryUserData(geometry_, this);
    rtcSetGeometryBoundsFunction(geometry_, bounds_of_box, nullptr);
    rtcSetGeometryBuildQuality(geometry_, refit_ ? RTC_BUILD_QUALITY_REFIT : quality_);
    rtcCommitGeometry(geometry_);
    rtcAttachGeometry(scene_, geometry_);
    rtcCommitScene(scene_);
  }
  void move(const peer::BoxInput &in) override {
    in_ = &in;
    rtcUpdateGeometryBuffer(geometry_, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(geometry_);
    rtcCommitScene(scene_);
  }
  void find(const peer::BoxInput &, peer::BoxPairs &out) override {
    out_ = &out;
    rtcCollide(scene_, scene_, on_candidates, this);
  }

 private:
  static void bounds_of_box(const RTCBoundsFunctionArguments *arguments) {
    auto *self = static_cast<const BoxScene *>(arguments->geometryUserPtr);
    const float *low = self->in_->low(arguments->primID), *high = self->in_->high(arguments->primID);
    RTCBounds *b = arguments->bounds_o;
    b->lower_x = low[0];
    b->lower_y = low[1];
    b->lower_z = low[2];
    b->upper_x = high[0];
    b->upper_y = high[1];
    b->upper_z = high[2];
  }
  static void on_candidates(void *user, RTCCollision *found, unsigned n) {
    auto *self = static_cast<BoxScene *>(user);
    for (unsigned k = 0; k < n; k++) {
      uint32_t x = found[k].primID0, y = found[k].primID1;
      if (x < y && self->in_->meet(x, y)) self->out_->add(x, y);
    }
  }
  RTCBuildQuality quality_;
  bool refit_;
  RTCScene scene_ = nullptr;
  RTCGeometry geometry_ = nullptr;
  const peer::BoxInput *in_ = nullptr;
  peer::BoxPairs *out_ = nullptr;
};

void offer_broad_phases(peer::Program &program) {
  auto scene = [](RTCBuildQuality quality, bool refit) {
    return [=] { return std::unique_ptr<peer::Broad>(new BoxScene(quality, refit)); };
  };
  const int both = peer::BROAD_STATIC | peer::BROAD_MOVING;
  peer::offer_broad(program, "morton", both, scene(RTC_BUILD_QUALITY_LOW, false));
  peer::offer_broad(program, "sah", both, scene(RTC_BUILD_QUALITY_MEDIUM, false));
  peer::offer_broad(program, "refit", peer::BROAD_MOVING, scene(RTC_BUILD_QUALITY_LOW, true));
}

}  // namespace

int main() {
  device = rtcNewDevice("threads=1,set_affinity=0");
  if (!device) return 2;
  rtcSetDeviceMemoryMonitorFunction(
      device,
      [](void *, ssize_t bytes, bool) {
        device_bytes += bytes;
        return true;
      },
      nullptr);
  peer::Program program;
  Quality morton{RTC_BUILD_QUALITY_LOW, nullptr, nullptr}, sah{RTC_BUILD_QUALITY_MEDIUM, nullptr, nullptr};
  morton.offer(program, "morton", true);
  sah.offer(program, "sah", false);
  offer_broad_phases(program);
  int status = program.serve([&] {
    morton.release();
    sah.release();
  });
  rtcReleaseDevice(device);
  return status;
}
