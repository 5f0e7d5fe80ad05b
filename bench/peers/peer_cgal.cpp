// graze-peer-cgal: CGAL (exact predicates, inexact constructions) behind the bench's protocol. Sequential.
#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/AABB_triangle_primitive.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/orient_polygon_soup.h>
#include <CGAL/Polygon_mesh_processing/polygon_soup_to_polygon_mesh.h>
#include <CGAL/Polygon_mesh_processing/self_intersections.h>
#include <CGAL/Rigid_triangle_mesh_collision_detection.h>
#include <CGAL/Side_of_triangle_mesh.h>
#include <CGAL/Surface_mesh.h>
#include <CGAL/box_intersection_d.h>
#include <CGAL/intersections.h>

#include <cmath>
#include <limits>
#include <memory>

#include "broad.hpp"
#include "peer.hpp"

namespace {

using peer::Inputs;
using peer::Reply;
using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Point = Kernel::Point_3;
using Segment = Kernel::Segment_3;
using Triangle = Kernel::Triangle_3;
using Triangles = std::vector<Triangle>;
using Surface = CGAL::Surface_mesh<Point>;
using Primitive = CGAL::AABB_triangle_primitive<Kernel, Triangles::const_iterator>;
using Tree = CGAL::AABB_tree<CGAL::AABB_traits<Kernel, Primitive>>;
using Side = CGAL::Side_of_triangle_mesh<Surface, Kernel>;
using Rigid = CGAL::Rigid_triangle_mesh_collision_detection<Surface>;
template <class Number>
using Box =
    CGAL::Box_intersection_d::Box_with_info_d<Number, 3, uint32_t, CGAL::Box_intersection_d::ID_FROM_BOX_ADDRESS>;
namespace PMP = CGAL::Polygon_mesh_processing;

Point point(const float *p) {
  return Point(p[0], p[1], p[2]);
}

Triangles triangles(const peer::Mesh &mesh) {
  Triangles t;
  t.reserve(mesh.triangle_count());
  for (size_t i = 0; i < mesh.triangle_count(); i++)
    t.emplace_back(point(mesh.corner(i, 0)), point(mesh.corner(i, 1)), point(mesh.corner(i, 2)));
  return t;
}

// Faces keep the order of the triangles. Non-manifold spots are cut apart, as CGAL's own reader does.
Surface surface(const peer::Mesh &mesh) {
  std::vector<Point> p(mesh.vertex_count());
  std::vector<std::vector<size_t>> f(mesh.triangle_count());
  for (size_t i = 0; i < p.size(); i++) p[i] = point(&mesh.vertices[3 * i]);
  for (size_t i = 0; i < f.size(); i++) f[i] = {mesh.indices[3 * i], mesh.indices[3 * i + 1], mesh.indices[3 * i + 2]};
  PMP::orient_polygon_soup(p, f);
  Surface s;
  PMP::polygon_soup_to_polygon_mesh(p, f, s);
  return s;
}

template <class Number>
struct Boxes {
  std::vector<Box<Number>> boxes;
  std::vector<const Box<Number> *> pointers;
  explicit Boxes(const peer::Mesh &mesh) {
    size_t n = mesh.triangle_count();
    boxes.reserve(n);
    pointers.reserve(n);
    for (size_t i = 0; i < n; i++) {
      const Number most = std::numeric_limits<Number>::max();
      Number low[3] = {most, most, most}, high[3] = {-most, -most, -most};
      for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
          low[c] = std::min(low[c], Number(mesh.corner(i, k)[c]));
          high[c] = std::max(high[c], Number(mesh.corner(i, k)[c]));
        }
      boxes.emplace_back(low, high, uint32_t(i));
      pointers.push_back(&boxes.back());
    }
  }
};

struct State {
  std::unique_ptr<Rigid> rigid;
  Triangles a, b;
  std::unique_ptr<Tree> tree;
  Surface surface_a, surface_b;  // Rigid and Side keep pointers to them
  std::unique_ptr<Side> side;

  void release() {
    rigid.reset();
    side.reset();
    tree.reset();
    a = Triangles();
    b = Triangles();
    surface_a = Surface();
    surface_b = Surface();
  }
} state;

Reply build(const Inputs &in) {
  Reply r;
  Triangles t = triangles(in.a);
  double start = seconds_now();
  Tree tree(t.cbegin(), t.cend());
  tree.build();
  r.seconds = {seconds_now() - start};
  r.count = t.size();
  return r;
}

std::string prepare_rigid(const Inputs &in) {
  state.rigid.reset();
  state.surface_a = surface(in.a);
  state.surface_b = surface(in.b);
  state.rigid.reset(new Rigid());
  state.rigid->add_mesh(state.surface_a);
  state.rigid->add_mesh(state.surface_b);
  return "";
}

Reply boolean(const Inputs &in) {
  return peer::time_poses(in, BENCH_ITEMS_MAX, [&](const double *m) {
    state.rigid->set_transformation(1, CGAL::Aff_transformation_3<Kernel>(m[0], m[1], m[2], m[3], m[4], m[5], m[6],
                                                                          m[7], m[8], m[9], m[10], m[11]));
    return !state.rigid->get_all_intersections(0).empty();
  });
}

std::string prepare_pairs(const Inputs &in) {
  state.a = triangles(in.a);
  state.b = triangles(in.b);
  state.tree.reset(new Tree(state.a.cbegin(), state.a.cend()));
  state.tree->build();
  return "";
}

Reply pairs_tree(const Inputs &in) {
  peer::Pairs pairs(in.check);
  double start = seconds_now();
  std::vector<Tree::Primitive_id> found;
  for (size_t j = 0; j < state.b.size(); j++) {
    found.clear();
    state.tree->all_intersected_primitives(state.b[j], std::back_inserter(found));
    for (auto &id : found) pairs.add(uint32_t(id - state.a.cbegin()), uint32_t(j));
  }
  return pairs.reply(seconds_now() - start);
}

Reply pairs_box(const Inputs &in) {
  peer::Pairs pairs(in.check);
  double start = seconds_now();
  Boxes<double> a(in.a), b(in.b);
  CGAL::box_intersection_d(
      a.pointers.begin(), a.pointers.end(), b.pointers.begin(), b.pointers.end(),
      [&](const Box<double> *x, const Box<double> *y) {
        if (CGAL::do_intersect(state.a[x->info()], state.b[y->info()])) pairs.add(x->info(), y->info());
      },
      std::ptrdiff_t(2000));
  return pairs.reply(seconds_now() - start);
}

std::string prepare_points(const Inputs &in) {
  state.side.reset();
  state.a = triangles(in.a);
  state.tree.reset(new Tree(state.a.cbegin(), state.a.cend()));
  state.tree->build();
  state.tree->accelerate_distance_queries();
  state.surface_a = surface(in.a);
  state.side.reset(new Side(state.surface_a));
  (*state.side)(Point(0, 0, 0));  // builds what it needs
  return "";
}

double distance_of(const double *p) {
  return std::sqrt(state.tree->squared_distance(Point(p[0], p[1], p[2])));
}

// Ours tells on which side a point is, too.
double distance_and_side(const double *p) {
  const auto side = (*state.side)(Point(p[0], p[1], p[2]));
  return side == CGAL::ON_BOUNDARY ? 0 : distance_of(p);
}

std::string prepare_surface(const Inputs &in) {
  state.surface_a = surface(in.a);
  return state.surface_a.number_of_faces() == in.a.triangle_count() ? "" : "the surface lost triangles";
}

Reply self_pmp(const Inputs &in) {
  std::vector<std::pair<Surface::Face_index, Surface::Face_index>> found;
  double start = seconds_now();
  PMP::self_intersections<CGAL::Sequential_tag>(state.surface_a, std::back_inserter(found));
  double seconds = seconds_now() - start;
  peer::Pairs pairs(in.check);
  for (auto &p : found) pairs.add_ordered(uint32_t(size_t(p.first)), uint32_t(size_t(p.second)));
  return pairs.reply(seconds);
}

// Pairs without a common vertex only.
Reply self_box(const Inputs &in) {
  peer::Pairs pairs(in.check);
  double start = seconds_now();
  Triangles t = triangles(in.a);
  Boxes<double> boxes(in.a);
  CGAL::box_self_intersection_d(
      boxes.pointers.begin(), boxes.pointers.end(),
      [&](const Box<double> *x, const Box<double> *y) {
        uint32_t i = x->info(), j = y->info();
        if (peer::share_vertex(&in.a.indices[3 * size_t(i)], &in.a.indices[3 * size_t(j)])) return;
        if (CGAL::do_intersect(t[i], t[j])) pairs.add_ordered(i, j);
      },
      std::ptrdiff_t(2000));
  return pairs.reply(seconds_now() - start);
}

Reply wave(const Inputs &in) {
  peer::Pairs pairs(in.check);
  double start = seconds_now();
  Boxes<float> boxes(in.a);
  CGAL::box_self_intersection_d(
      boxes.pointers.begin(), boxes.pointers.end(),
      [&](const Box<float> *x, const Box<float> *y) { pairs.add_ordered(x->info(), y->info()); }, std::ptrdiff_t(10));
  return pairs.reply(seconds_now() - start);
}

Segment cover(const Point *p) {
  const Point *low = p, *high = p;
  for (int k = 1; k < 3; k++) {
    if (p[k] < *low) low = &p[k];
    if (p[k] > *high) high = &p[k];
  }
  return Segment(*low, *high);
}

// The kernel's triangle test wants proper triangles: zero-area ones go in as the segment or point that they cover.
bool meet(const double *a, const double *b) {
  Point p[3] = {Point(a[0], a[1], a[2]), Point(a[3], a[4], a[5]), Point(a[6], a[7], a[8])};
  Point q[3] = {Point(b[0], b[1], b[2]), Point(b[3], b[4], b[5]), Point(b[6], b[7], b[8])};
  Triangle s(p[0], p[1], p[2]), t(q[0], q[1], q[2]);
  bool flat_s = s.is_degenerate(), flat_t = t.is_degenerate();
  if (!flat_s && !flat_t) return CGAL::do_intersect(s, t);
  if (flat_s && flat_t) {
    Segment x = cover(p), y = cover(q);
    if (x.is_degenerate()) return y.is_degenerate() ? x.source() == y.source() : y.has_on(x.source());
    return y.is_degenerate() ? x.has_on(y.source()) : CGAL::do_intersect(x, y);
  }
  const Triangle &proper = flat_s ? t : s;
  Segment segment = flat_s ? cover(p) : cover(q);
  return segment.is_degenerate() ? proper.has_on(segment.source()) : CGAL::do_intersect(proper, segment);
}

// ---- broad phase: streamed segment trees, anew each time. `cutoff`: below so many boxes, all pairs are tested. ----

class Streamed : public peer::Broad {
 public:
  explicit Streamed(std::ptrdiff_t cutoff) : cutoff_(cutoff) {
  }
  void build(const peer::BoxInput &in) override {
    boxes_.clear();
    pointers_.clear();
    boxes_.reserve(in.count());
    pointers_.reserve(in.count());
    for (uint32_t i = 0; i < in.count(); i++) {
      float low[3], high[3];
      std::copy_n(in.low(i), 3, low);
      std::copy_n(in.high(i), 3, high);
      boxes_.emplace_back(low, high, i);
      pointers_.push_back(&boxes_.back());
    }
  }
  void move(const peer::BoxInput &in) override {
    build(in);
  }
  void find(const peer::BoxInput &, peer::BoxPairs &out) override {
    CGAL::box_self_intersection_d(
        pointers_.begin(), pointers_.end(),
        [&](const Box<float> *x, const Box<float> *y) { out.add(x->info(), y->info()); }, cutoff_);
  }

 private:
  std::ptrdiff_t cutoff_;
  std::vector<Box<float>> boxes_;
  std::vector<const Box<float> *> pointers_;
};

void offer_broad_phases(peer::Program &program) {
  for (auto cutoff : {std::ptrdiff_t(10), std::ptrdiff_t(1000)})
    peer::offer_broad(program, "box_" + std::to_string(cutoff), peer::BROAD_STATIC | peer::BROAD_MOVING,
                      [cutoff] { return std::unique_ptr<peer::Broad>(new Streamed(cutoff)); });
}

}  // namespace

int main() {
  peer::Program program;
  program.offer("build", "aabb_tree", nullptr, build);
  program.offer("boolean", "rigid", prepare_rigid, boolean);
  program.offer("pairs", "aabb_tree", prepare_pairs, pairs_tree);
  program.offer("pairs", "box", prepare_pairs, pairs_box);
  program.offer("self", "pmp", prepare_surface, self_pmp);
  program.offer("self", "disjoint_box", nullptr, self_box);
  program.offer("wave", "box", nullptr, wave);
  program.offer("tritri", "epick", nullptr, [](const Inputs &in) { return peer::time_triangle_pairs(in, meet); });
  program.offer("points", "aabb_tree", prepare_points,
                [](const Inputs &in) { return peer::time_points(in, distance_of); });
  program.offer("points", "aabb_tree_side", prepare_points,
                [](const Inputs &in) { return peer::time_points(in, distance_and_side); });
  offer_broad_phases(program);
  return program.serve([] { state.release(); });
}
