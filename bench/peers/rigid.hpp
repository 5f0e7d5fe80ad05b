// Rigid bodies of scenes/rigid.c behind the bench's protocol: settled first, then timed. A library says how to add a
// body and a wall and how to step; joints are left out.
#pragma once

#include <cmath>
#include <memory>

#include "peer.hpp"

extern "C" {
#include "scenes.h"
}

namespace peer {

// What a library makes of a scene. Steps are of 1/60 s.
class Bodies {
 public:
  virtual ~Bodies() = default;
  virtual void add_wall(const scenes_wall &wall) = 0;
  virtual void add_body(const scenes_body &body) = 0;
  virtual void step() = 0;
  virtual double height(size_t body) const = 0;
};

class BodiesTask {
 public:
  using Make = std::function<std::unique_ptr<Bodies>(const scenes_rigid &)>;
  explicit BodiesTask(Make make) : make_(std::move(make)) {
  }
  std::string prepare(const Inputs &in) {
    scenes_rigid_kind kind;
    scenes_rigid scene;
    order_ = in.bodies;
    if (!scenes_rigid_named(order_.kind.c_str(), &kind) || !scenes_rigid_make(kind, order_.size, 1, &scene))
      return "no such scene";
    world_ = make_(scene);
    count_ = scene.count;
    height_ = 0;
    for (uint32_t i = 0; i < scene.wall_count; i++) world_->add_wall(scene.walls[i]);
    for (uint32_t i = 0; i < scene.count; i++) world_->add_body(scene.bodies[i]);
    scenes_rigid_free(&scene);
    for (uint32_t i = 0; i < order_.before; i++) world_->step();
    return "";
  }
  // Goes on from where it is; the count is the mean height after the first run, in micrometres.
  Reply run(const Inputs &) {
    Reply r;
    double sum = 0, start = seconds_now();
    for (uint32_t i = 0; i < order_.steps; i++) world_->step();
    r.seconds = {seconds_now() - start};
    for (size_t i = 0; i < count_; i++) sum += world_->height(i);
    if (height_ == 0) height_ = uint64_t(std::max(0.0, std::round(1e6 * sum / double(count_))));
    r.count = height_;
    return r;
  }
  void release() {
    world_.reset();
  }

 private:
  Make make_;
  BodiesOrder order_;
  std::unique_ptr<Bodies> world_;
  size_t count_ = 0;
  uint64_t height_ = 0;
};

}  // namespace peer
