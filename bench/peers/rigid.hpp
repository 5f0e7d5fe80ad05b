// Rigid bodies of scenes/rigid.c behind the bench's protocol: settled first, then timed. A library says how to add a
// body and a wall and how to step; joints are left out.
#pragma once

#include <algorithm>
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
  virtual void add_mesh(const scenes_mesh &mesh, const double *pose, bool moves, double density) = 0;
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
    order_ = in.bodies;
    height_ = 0;
    const bool made = scenes_rigid_named(order_.kind.c_str(), &kind) ? make_bodies(kind) : make_meshes();
    if (!made) return "no such scene";
    for (uint32_t i = 0; i < order_.before; i++) world_->step();
    return "";
  }
  // Goes on from where it is; the count is the mean height after the first run, or depth, in micrometres.
  Reply run(const Inputs &) {
    Reply r;
    double sum = 0, start = seconds_now();
    for (uint32_t i = 0; i < order_.steps; i++) world_->step();
    r.seconds = {seconds_now() - start};
    for (size_t i = 0; i < count_; i++) sum += world_->height(i);
    if (height_ == 0) height_ = uint64_t(std::round(1e6 * std::fabs(sum) / double(count_)));
    r.count = height_;
    return r;
  }
  void release() {
    world_.reset();
  }

 private:
  bool make_bodies(scenes_rigid_kind kind) {
    scenes_rigid scene;
    if (!scenes_rigid_make(kind, order_.size, 1, &scene)) return false;
    world_ = make_(scene);
    count_ = scene.count;
    for (uint32_t i = 0; i < scene.wall_count; i++) world_->add_wall(scene.walls[i]);
    for (uint32_t i = 0; i < scene.count; i++) world_->add_body(scene.bodies[i]);
    scenes_rigid_free(&scene);
    return true;
  }
  bool make_meshes() {
    const scenes_kind *kind = scenes_find_kind(order_.kind.c_str());
    scenes_rigid like = {};
    scenes_scene scene;
    const char *reason;
    if (!kind || !kind->has_bodies) return false;
    scenes_request request = scenes_default_request(kind);
    request.size = order_.size;
    if (!scenes_make(kind, &request, &scene, &reason)) return false;
    std::copy(scene.run.gravity, scene.run.gravity + 3, like.gravity);
    like.friction = scene.run.friction;
    world_ = make_(like);
    count_ = scene.object_count;
    for (uint32_t i = 0; i < scene.object_count; i++)
      world_->add_mesh(scene.meshes[scene.objects[i].mesh], scene.objects[i].pose,
                       scene.run.starts[i].type == SCENES_START_DYNAMIC, scene.run.density);
    scenes_free(&scene);
    return true;
  }
  Make make_;
  BodiesOrder order_;
  std::unique_ptr<Bodies> world_;
  size_t count_ = 0;
  uint64_t height_ = 0;
};

}  // namespace peer
