// bench/peers/peer.hpp: the peer's side of the protocol. A peer program reads one command a line from standard input,
// answers each with one line on standard output, and keeps what it loaded and built until it is told to drop it.
//
//   offers                       ok TASK:VARIANT ...
//   load a|b PATH                ok                      reads a mesh file
//   poses PATH                   ok                      reads a pose file
//   pairs PATH                   ok                      reads a file of triangle pairs
//   points PATH                  ok                      reads a file of points
//   boxes KIND COUNT SPEED STEPS EVERY   ok              which boxes the tasks broad and moving are for (broad.hpp)
//   bed COUNT BEFORE STEPS       ok                      which bed, from which step on, for how many steps
//   bodies KIND SIZE BEFORE STEPS   ok                   which rigid bodies, likewise
//   prepare TASK VARIANT         ok | skip REASON        builds what the task wants to find ready; not timed
//   run TASK VARIANT [FILE]      ok COUNT HASH BYTES N SECONDS ...   runs once; N timed items
//   check TASK VARIANT [FILE]    the same with the hash, which `run` leaves out; FILE gets a byte an answer (tritri),
//                                                      or a double (distance, points)
//   drop                         ok
//   quit
//
// Tasks: build, boolean (mesh b at every pose against a), distance (the same), points (how far they
// are from mesh a), pairs (all triangle pairs of a and b),
// self, wave (self pairs of closed triangle boxes), both with the build, self_query, wave_query (after it), tritri (triangle pairs), broad and moving (pairs of boxes),
// bed (balls that fall and settle), rigid (bodies that stand or have come to rest).
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../common.h"

namespace peer {

struct Mesh {
  std::vector<float> vertices;
  std::vector<uint32_t> indices;
  size_t vertex_count() const {
    return vertices.size() / 3;
  }
  size_t triangle_count() const {
    return indices.size() / 3;
  }
  const float *corner(size_t triangle, int k) const {
    return &vertices[3 * size_t(indices[3 * triangle + k])];
  }
};

struct Reply {
  uint64_t count = 0, hash = 0, bytes = 0;
  std::vector<double> seconds;
};

// Boxes of scenes/boxes.c. Every `every`-th of them moves, the others rest.
struct BoxOrder {
  std::string kind;
  uint32_t count = 0, steps = 0, every = 1;
  double speed = 0;
  bool operator==(const BoxOrder &o) const {
    return kind == o.kind && count == o.count && steps == o.steps && every == o.every && speed == o.speed;
  }
};

// A bed of scenes/balls.c: `steps` are timed after `before`.
struct BedOrder {
  uint32_t count = 0, before = 0, steps = 0;
};

// Rigid bodies of scenes/rigid.c: the same.
struct BodiesOrder {
  std::string kind;
  uint32_t size = 0, before = 0, steps = 0;
};

struct Inputs {
  Mesh a, b;
  BoxOrder order;
  BedOrder bed;
  BodiesOrder bodies;
  std::vector<double> poses, pairs, points;
  bool check = false;
  std::string answers;
  size_t pose_count() const {
    return poses.size() / 12;
  }
};

// Collects result pairs; the hash is only formed in a check.
struct Pairs {
  bool check;
  uint64_t count = 0, hash = 0;
  explicit Pairs(bool with_hash) : check(with_hash) {
  }
  void add(uint32_t first, uint32_t second) {
    count++;
    if (check) hash += hash_of_pair(first, second);
  }
  void add_ordered(uint32_t x, uint32_t y) {
    x < y ? add(x, y) : add(y, x);
  }
  Reply reply(double seconds) const {
    Reply r;
    r.count = count;
    r.hash = hash;
    r.seconds = {seconds};
    return r;
  }
};

// True when the triangles name a common vertex.
inline bool share_vertex(const uint32_t *a, const uint32_t *b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (a[i] == b[j]) return true;
  return false;
}

// The answers query(matrix) of the first `limit` poses: one pass to warm up, one timed. A query of more than 10 ms
// keeps the time of its first run.
template <class Query>
std::vector<double> ask_poses(const Inputs &in, size_t limit, Reply &r, Query query) {
  static const double overhead = clock_overhead();
  std::vector<double> answers(std::min(in.pose_count(), limit));
  std::vector<double> first(answers.size());
  for (size_t i = 0; i < answers.size(); i++) {
    double start = seconds_now();
    answers[i] = query(&in.poses[12 * i]);
    first[i] = seconds_now() - start;
  }
  for (size_t i = 0; i < answers.size(); i++) {
    if (first[i] < 0.01) {
      double start = seconds_now();
      query(&in.poses[12 * i]);
      first[i] = seconds_now() - start - overhead;
    }
    r.seconds.push_back(first[i]);
  }
  return answers;
}

// Whether query(matrix) hits: the hash is the sum of splitmix64(index) over the poses that do.
template <class Query>
Reply time_poses(const Inputs &in, size_t limit, Query query) {
  Reply r;
  std::vector<double> hits = ask_poses(in, limit, r, query);
  for (size_t i = 0; i < hits.size(); i++)
    if (hits[i] != 0) r.count++, r.hash += splitmix64(i);
  return r;
}

template <class T>
void leave_answers(const Inputs &in, const std::vector<T> &answers) {
  FILE *f = in.answers.empty() ? nullptr : fopen(in.answers.c_str(), "wb");
  if (!f) return;
  fwrite(answers.data(), sizeof(T), answers.size(), f);
  fclose(f);
}

// The distance query(matrix): the count is that of the poses, the answers are left as doubles.
template <class Query>
Reply time_distances(const Inputs &in, size_t limit, Query query) {
  Reply r;
  std::vector<double> distances = ask_poses(in, limit, r, query);
  r.count = distances.size();
  leave_answers(in, distances);
  return r;
}

// The distance query(point) of every point from the mesh, timed all together.
template <class Query>
Reply time_points(const Inputs &in, Query query) {
  Reply r;
  std::vector<double> distances(in.points.size() / 3);
  double start = seconds_now();
  for (size_t i = 0; i < distances.size(); i++) distances[i] = query(&in.points[3 * i]);
  r.seconds = {seconds_now() - start};
  r.count = distances.size();
  leave_answers(in, distances);
  return r;
}

// Runs test(a, b) on every triangle pair and writes the answers when a file was named.
template <class Test>
Reply time_triangle_pairs(const Inputs &in, Test test) {
  size_t n = in.pairs.size() / 18;
  std::vector<unsigned char> answer(n);
  double start = seconds_now();
  for (size_t i = 0; i < n; i++) answer[i] = test(&in.pairs[18 * i], &in.pairs[18 * i + 9]) ? 1 : 0;
  Reply r;
  r.seconds = {seconds_now() - start};
  for (auto x : answer) r.count += x;
  leave_answers(in, answer);
  return r;
}

// Vertices of the mesh at a pose, rounded to float.
inline std::vector<float> posed(const Mesh &mesh, const double *m) {
  std::vector<float> out(mesh.vertices.size());
  for (size_t i = 0; i < mesh.vertex_count(); i++) {
    const float *p = &mesh.vertices[3 * i];
    for (int r = 0; r < 3; r++)
      out[3 * i + r] = float(((m[4 * r] * p[0] + m[4 * r + 1] * p[1]) + m[4 * r + 2] * p[2]) + m[4 * r + 3]);
  }
  return out;
}

class Program {
 public:
  using Prepare = std::function<std::string(const Inputs &)>;  // "" or the reason to skip
  using Run = std::function<Reply(const Inputs &)>;

  void offer(const std::string &task, const std::string &variant, Prepare prepare, Run run) {
    tasks_.push_back({task, variant, std::move(prepare), std::move(run)});
  }
  // `release` frees what the tasks built.
  int serve(std::function<void()> release);

 private:
  struct Task {
    std::string task, variant;
    Prepare prepare;
    Run run;
  };
  std::string answer(const std::string &line, const std::function<void()> &release);
  std::string answer_task(const std::string &verb, std::istringstream &words);
  std::vector<Task> tasks_;
  Inputs in_;
};

template <class T>
bool read_items(FILE *f, std::vector<T> &items, size_t n) {
  items.resize(n);
  return fread(items.data(), sizeof(T), n, f) == n;
}

// Opens a file, checks the magic, reads the two counts.
inline FILE *open_file(const std::string &path, const char *magic, uint32_t counts[2]) {
  FILE *f = fopen(path.c_str(), "rb");
  char head[8];
  if (f && fread(head, 1, 8, f) == 8 && !memcmp(head, magic, 8) && fread(counts, 4, 2, f) == 2) return f;
  if (f) fclose(f);
  return nullptr;
}

inline std::string load_mesh(const std::string &path, Mesh &mesh) {
  uint32_t n[2];
  FILE *f = open_file(path, BENCH_MESH_MAGIC, n);
  if (!f) return "skip cannot read " + path;
  bool good = read_items(f, mesh.vertices, 3 * size_t(n[0])) && read_items(f, mesh.indices, 3 * size_t(n[1]));
  fclose(f);
  return good ? "ok" : "skip short file " + path;
}

inline std::string load_doubles(const std::string &path, const char *magic, size_t each, std::vector<double> &out) {
  uint32_t n[2];
  FILE *f = open_file(path, magic, n);
  if (!f) return "skip cannot read " + path;
  bool good = read_items(f, out, each * n[0]);
  fclose(f);
  return good ? "ok" : "skip short file " + path;
}

inline std::string Program::answer_task(const std::string &verb, std::istringstream &words) {
  std::string task, variant;
  words >> task >> variant;
  for (auto &t : tasks_) {
    if (t.task != task || t.variant != variant) continue;
    if (verb == "prepare") {
      std::string reason = t.prepare ? t.prepare(in_) : "";
      return reason.empty() ? "ok" : "skip " + reason;
    }
    in_.check = verb == "check";
    in_.answers.clear();
    words >> in_.answers;
    Reply r = t.run(in_);
    std::ostringstream out;
    out.precision(12);
    out << "ok " << r.count << ' ' << r.hash << ' ' << r.bytes << ' ' << r.seconds.size();
    for (double s : r.seconds) out << ' ' << s;
    return out.str();
  }
  return "skip no such task";
}

inline std::string Program::answer(const std::string &line, const std::function<void()> &release) {
  std::istringstream words(line);
  std::string verb, slot, path;
  words >> verb;
  if (verb == "offers") {
    std::string out = "ok";
    for (auto &t : tasks_) out += " " + t.task + ":" + t.variant;
    return out;
  }
  if (verb == "load" && words >> slot && words >> path) return load_mesh(path, slot == "a" ? in_.a : in_.b);
  if (verb == "poses" && words >> path) return load_doubles(path, BENCH_POSE_MAGIC, 12, in_.poses);
  if (verb == "pairs" && words >> path) return load_doubles(path, BENCH_PAIRS_MAGIC, 18, in_.pairs);
  if (verb == "points" && words >> path) return load_doubles(path, BENCH_POINT_MAGIC, 3, in_.points);
  if (verb == "boxes" &&
      words >> in_.order.kind >> in_.order.count >> in_.order.speed >> in_.order.steps >> in_.order.every)
    return in_.order.every ? "ok" : "skip no box moves";
  if (verb == "bed" && words >> in_.bed.count >> in_.bed.before >> in_.bed.steps) return "ok";
  if (verb == "bodies" && words >> in_.bodies.kind >> in_.bodies.size >> in_.bodies.before >> in_.bodies.steps)
    return "ok";
  if (verb == "drop") {
    release();
    in_ = Inputs();
    return "ok";
  }
  if (verb == "prepare" || verb == "run" || verb == "check") return answer_task(verb, words);
  return "skip unknown command";
}

inline int Program::serve(std::function<void()> release) {
  std::string line;
  while (std::getline(std::cin, line) && line != "quit") {
    std::string reply;
    try {
      reply = answer(line, release);
    } catch (const std::exception &e) {
      reply = std::string("skip ") + e.what();
    }
    std::cout << reply << std::endl;
  }
  return 0;
}

}  // namespace peer
