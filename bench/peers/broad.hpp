// bench/peers/broad.hpp: broad phases of boxes as tasks. A peer implements Broad; the tasks are
//
//   broad     from boxes to the complete list of pairs, everything built anew
//   moving    built once (not timed), then steps: from the new boxes to the complete list of pairs; the mean of a step
//
// The inputs are made here from the words of the command `boxes KIND COUNT SPEED STEPS EVERY`, by the code that the
// bench itself uses. Pairs are judged, untimed, as follows: what was reported twice counts once, and pairs whose closed
// boxes do not share a point (a peer may enlarge its boxes) do not count. What is left must be all that there are.
#pragma once

#include <memory>
#include <stdexcept>

#include "peer.hpp"

extern "C" {
#include "scenes.h"
}

namespace peer {

// Boxes, six floats each.
class BoxInput {
 public:
  BoxInput(const std::string &kind, uint32_t count, double speed, uint32_t every) : speed_(speed), every_(every) {
    scenes_box_kind k;
    if (!scenes_box_kind_named(kind.c_str(), &k)) throw std::runtime_error("no boxes of the kind " + kind);
    if (!scenes_boxes_make(k, count, 1, &made)) throw std::runtime_error("out of memory");
    first_.resize(6 * size_t(made.count));
    boxes.resize(first_.size());
    scenes_boxes_at(&made, speed, 0, first_.data());
    boxes = first_;
    for (uint32_t i = 0; i < made.count; i += every) movers.push_back(i);
  }
  ~BoxInput() {
    scenes_boxes_free(&made);
  }
  BoxInput(const BoxInput &) = delete;
  BoxInput &operator=(const BoxInput &) = delete;

  void go_to(uint32_t step) {
    scenes_boxes_at(&made, speed_, step, boxes.data());
    if (every_ > 1) broad_hold(first_.data(), made.count, every_, boxes.data());
  }
  uint32_t count() const {
    return made.count;
  }
  const float *low(uint32_t i) const {
    return &boxes[6 * size_t(i)];
  }
  const float *high(uint32_t i) const {
    return &boxes[6 * size_t(i) + 3];
  }
  double middle(uint32_t i, int k) const {
    return 0.5 * (double(low(i)[k]) + double(high(i)[k]));
  }
  double size(uint32_t i, int k) const {
    return double(high(i)[k]) - double(low(i)[k]);
  }
  bool meet(uint32_t a, uint32_t b) const {
    for (int k = 0; k < 3; k++)
      if (low(a)[k] > high(b)[k] || low(b)[k] > high(a)[k]) return false;
    return true;
  }

  scenes_boxes made;
  std::vector<float> boxes;
  std::vector<uint32_t> movers;  // boxes that move at all

 private:
  std::vector<float> first_;
  double speed_;
  uint32_t every_;
};

class BoxPairs {
 public:
  void add(uint32_t x, uint32_t y) {
    pairs_.push_back(uint64_t(x) << 32 | y);
  }
  void clear() {
    pairs_.clear();
  }
  void reserve(size_t n) {
    pairs_.reserve(n);
  }
  Reply judge(const BoxInput &in) {
    for (auto &p : pairs_)
      if (p >> 32 > uint32_t(p)) p = p << 32 | p >> 32;
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    Reply r;
    for (auto p : pairs_) {
      uint32_t x = uint32_t(p >> 32), y = uint32_t(p);
      if (x == y || !in.meet(x, y)) continue;
      r.count++;
      r.hash += hash_of_pair(x, y);
    }
    return r;
  }

 private:
  std::vector<uint64_t> pairs_;
};

struct Broad {
  virtual ~Broad() = default;
  virtual void prepare(const BoxInput &) {  // not timed: objects that are not broad phase
  }
  virtual void build(const BoxInput &) = 0;
  virtual void move(const BoxInput &) = 0;
  virtual void find(const BoxInput &, BoxPairs &) = 0;
};

using MakeBroad = std::function<std::unique_ptr<Broad>()>;

inline Reply run_broad(BoxInput &in, const MakeBroad &make) {
  auto broad = make();
  BoxPairs pairs;
  pairs.reserve(4 * size_t(in.count()));
  in.go_to(0);
  broad->prepare(in);
  double start = seconds_now();
  broad->build(in);
  broad->find(in, pairs);
  double seconds = seconds_now() - start;
  Reply r = pairs.judge(in);
  r.seconds = {seconds};
  return r;
}

inline Reply run_moving(BoxInput &in, uint32_t steps, const MakeBroad &make) {
  auto broad = make();
  BoxPairs pairs;
  in.go_to(0);
  broad->prepare(in);
  broad->build(in);
  broad->find(in, pairs);
  double total = 0, begin = seconds_now();
  for (uint32_t step = 1; step <= BROAD_WARM_STEPS + steps; step++) {
    in.go_to(step);
    pairs.clear();
    double start = seconds_now();
    broad->move(in);
    broad->find(in, pairs);
    double now = seconds_now();
    if (step > BROAD_WARM_STEPS) total += now - start;
    if (now - begin > BROAD_STEPS_SECONDS)
      throw std::runtime_error("left out: " + std::to_string(step) + " steps take " + std::to_string(int(now - begin)) +
                               " s");
  }
  Reply r = pairs.judge(in);
  r.seconds = {total / steps};
  return r;
}

// "" or why the peer is not run on inputs of this size.
inline std::string refuse_broad(const BoxOrder &order, const MakeBroad &make) {
  if (order.count < 10000) return "";
  double seconds[2] = {0, 0}; // of a tenth, which a hopeless one need not do, and of a hundredth
  for (int k = 1; k >= 0 && broad_expected(0, seconds[1]) < BROAD_BUILD_SECONDS; k--) {
    BoxInput small(order.kind, order.count / (k ? 100 : 10), order.speed, order.every);
    seconds[k] = run_broad(small, make).seconds[0];
    for (int trial = 1; trial < BROAD_TRIALS; trial++)
      seconds[k] = std::min(seconds[k], run_broad(small, make).seconds[0]);
  }
  double expected = broad_expected(seconds[0], seconds[1]);
  if (expected < BROAD_BUILD_SECONDS) return "";
  char text[64];
  snprintf(text, sizeof text, "left out: would take %.0f s or more", expected);
  return text;
}

enum { BROAD_STATIC = 1, BROAD_MOVING = 2 };

// Offers the tasks under the variant's name. The inputs are made once and shared.
inline void offer_broad(Program &program, const std::string &variant, int tasks, const MakeBroad &make) {
  auto ready = [make](const Inputs &in) { return refuse_broad(in.order, make); };
  static std::unique_ptr<BoxInput> held;
  static BoxOrder held_order;
  auto input = [](const Inputs &in) -> BoxInput & {
    const BoxOrder &o = in.order;
    if (!held || !(held_order == o)) held.reset(new BoxInput(o.kind, o.count, o.speed, o.every));
    held_order = o;
    return *held;
  };
  if (tasks & BROAD_STATIC)
    program.offer("broad", variant, ready, [=](const Inputs &in) { return run_broad(input(in), make); });
  if (tasks & BROAD_MOVING)
    program.offer("moving", variant, ready,
                  [=](const Inputs &in) { return run_moving(input(in), in.order.steps, make); });
}

}  // namespace peer
