// graze-peer-lammps: a bed of balls in LAMMPS (package GRANULAR), behind the bench's protocol.
//
// The law is that of the bed: gran/hooke has spring and dashpot along the normal, and across it a dashpot under
// Coulomb's cap, with history a spring as well; its dashpot is given by mass, as ours. Balls touch its walls by the
// same law. Runs go on from a restart file.
#include <lammps/library.h>
#include <unistd.h>

#include <stdexcept>

#include "peer.hpp"

extern "C" {
#include "scenes.h"
}

namespace {

using peer::Inputs;
using peer::Reply;

class Bed {
 public:
  std::string prepare(const Inputs &in, const char *style) {
    scenes_balls made;
    release();
    style_ = style;
    if (!in.bed.count || !scenes_balls_make(SCENES_BALLS_BED, in.bed.count, 1, 0, &made)) return "no such bed";
    const char *quiet[] = {"lammps", "-log", "none", "-screen", "none"};
    handle_ = lammps_open_no_mpi(5, const_cast<char **>(quiet), nullptr);
    if (!handle_) return "LAMMPS cannot be opened";
    width_ = 0;
    for (uint32_t i = 0; i < made.wall_count; i++) width_ = std::max(width_, made.walls[i].point[0]);
    top_ = 2 * width_;
    for (uint32_t i = 0; i < made.count; i++) top_ = std::max(top_, 2 * made.positions[3 * i + 2]);
    restart_ = "/tmp/graze-bed-" + std::to_string(getpid()) + ".restart";
    begin(made);
    finish();
    command("run " + std::to_string(in.bed.before));
    command("write_restart " + restart_);
    scenes_balls_free(&made);
    return "";
  }
  Reply run(const Inputs &in) {
    command("clear");
    common();
    command("read_restart " + restart_);
    finish();
    command("run 0 post no");
    double start = seconds_now();
    command("run " + std::to_string(in.bed.steps) + " pre no post no");
    Reply r;
    r.seconds = {seconds_now() - start};
    auto *height = static_cast<double *>(lammps_extract_compute(handle_, "height", LMP_STYLE_GLOBAL, LMP_TYPE_SCALAR));
    if (!height) throw std::runtime_error("no mean height");
    r.count = uint64_t(1e6 * *height + 0.5);
    return r;
  }
  void release() {
    if (handle_) lammps_close(handle_);
    handle_ = nullptr;
    if (!restart_.empty()) unlink(restart_.c_str());
    restart_.clear();
  }

 private:
  void command(const std::string &line) {
    lammps_command(handle_, line.c_str());
    char reason[100];
    if (lammps_has_error(handle_) && lammps_get_last_error_message(handle_, reason, sizeof reason))
      throw std::runtime_error(reason);
  }
  void common() {
    for (const char *line : {"units lj", "atom_style sphere", "boundary f f f", "newton off", "comm_modify vel yes"})
      command(line);
  }
  void begin(const scenes_balls &made) {
    std::string w = std::to_string(width_);
    common();
    command("region box block 0 " + w + " 0 " + w + " -1 " + std::to_string(top_));
    command("create_box 1 box");
    std::vector<int> types(made.count, 1);
    lammps_create_atoms(handle_, int(made.count), nullptr, types.data(), made.positions, nullptr, nullptr, 0);
    command("set group all diameter 1.0");
    command("set group all mass 1.0");
  }
  void finish() {
    const std::string law = style_ + " 100000.0 NULL 100.9 NULL 0.5 1";
    const std::string w = std::to_string(width_);
    command("neighbor 0.1 bin");
    command("neigh_modify delay 0 every 1 check yes");
    command("pair_style gran/" + law);
    command("pair_coeff * *");
    command("timestep 0.0002");
    command("fix 1 all nve/sphere");
    command("fix 2 all gravity 9.81 vector 0 0 -1");
    command("fix x all wall/gran " + law + " xplane 0 " + w);
    command("fix y all wall/gran " + law + " yplane 0 " + w);
    command("fix z all wall/gran " + law + " zplane 0 NULL");
    command("compute height all reduce ave z");
    command("thermo 100000");
  }

  std::string style_;
  void *handle_ = nullptr;
  double width_ = 0, top_ = 0;
  std::string restart_;
};

}  // namespace

int main() {
  Bed bed;
  peer::Program program;
  program.offer(
      "bed", "hooke", [&](const Inputs &in) { return bed.prepare(in, "hooke"); },
      [&](const Inputs &in) { return bed.run(in); });
  program.offer(
      "bed_springs", "hooke_history", [&](const Inputs &in) { return bed.prepare(in, "hooke/history"); },
      [&](const Inputs &in) { return bed.run(in); });
  return program.serve([&] { bed.release(); });
}
