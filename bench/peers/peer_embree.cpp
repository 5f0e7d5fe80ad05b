// graze-peer-embree: Embree's rtcCollide over user geometry (triangle boxes), with a plain double-precision triangle
// test in the callback, behind the bench's protocol. rtcCollide takes no pose: `boolean` moves mesh b and rebuilds.
#include <embree3/rtcore.h>

#include <algorithm>
#include <memory>

#include "../plain_tritri.h"
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

struct Held {
  Geometry a, b;
  Scene scene_a, scene_b;
  Held(const Inputs &in, RTCBuildQuality quality) : a(in.a), b(in.b), scene_a(&a, quality), scene_b(&b, quality) {
  }
};

struct Quality {
  RTCBuildQuality quality;
  std::unique_ptr<Held> held;

  std::string prepare(const Inputs &in) {
    held.reset(new Held(in, quality));
    return "";
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
    if (poses) program.offer("boolean", "rebuild", ready, [this](const Inputs &in) { return boolean(in); });
  }
};

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
  Quality morton{RTC_BUILD_QUALITY_LOW, nullptr}, sah{RTC_BUILD_QUALITY_MEDIUM, nullptr};
  morton.offer(program, "morton", true);
  sah.offer(program, "sah", false);
  int status = program.serve([&] {
    morton.held.reset();
    sah.held.reset();
  });
  rtcReleaseDevice(device);
  return status;
}
