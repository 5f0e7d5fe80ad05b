/* The tables of a simulation: sums over time, contacts as they begin and end, and the last state. */
#include <inttypes.h>
#include <stdlib.h>

#include "diagnostics.h"
#include "simulate.h"
#include "table.h"

void simulate_put_numbers(output *out, const double *numbers, int count) {
  for (int k = 0; k < count; k++) {
    gz_put_text(out, ",");
    gz_put_double(out, numbers[k]);
  }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

void simulate_put_energy_titles(output *out) {
  gz_put_text(out,
              "step,time,kinetic,rotational,potential,elastic,dissipated,px,py,pz,lx,ly,lz,contacts,max_overlap\n");
}

void simulate_put_energy(output *out, const simulate_run *run, const graze_world_sums *sums) {
  const double energies[] = {simulate_get_time(run), sums->kinetic, sums->rotational,
                             sums->potential,        sums->elastic, sums->dissipated};
  gz_put_integer(out, simulate_get_step(run));
  simulate_put_numbers(out, energies, 6);
  simulate_put_numbers(out, sums->momentum, 3);
  simulate_put_numbers(out, sums->angular_momentum, 3);
  gz_put_text(out, ",");
  gz_put_integer(out, sums->contacts);
  simulate_put_numbers(out, &sums->max_overlap, 1);
  gz_put_text(out, "\n");
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

void simulate_put_event_titles(output *out) {
  gz_put_text(out, "step,time,event,a,b,x,y,z,nx,ny,nz,speed,impulse\n");
}

char *simulate_name(const simulate_run *run, const graze_member *member) {
  char *name = NULL;
  int length = 0;
  switch (member->kind) {
    case GRAZE_MEMBER_BODY:
      length = asprintf(&name, "%s", run->file.objects[member->index].name);
      break;
    case GRAZE_MEMBER_PARTICLE:
      length = asprintf(&name, "%s/%" PRIu32, run->file.particles[member->set].name, member->index);
      break;
    case GRAZE_MEMBER_WALL:
      length = asprintf(&name, "wall/%" PRIu32, member->index);
      break;
  }
  if (length < 0) fail_out_of_memory();
  return name;
}

static void put_member(const simulate_run *run, output *out, const graze_member *member) {
  char *name = simulate_name(run, member);
  write_csv_field(out, name);
  free(name);
}

/* Steps before the last call may have had another dt. */
double simulate_step_time(const simulate_run *run, uint64_t step) {
  const double offset = simulate_get_time(run) - (double)simulate_get_step(run) * run->dt;
  return (double)step * run->dt + offset;
}

void simulate_put_events(const simulate_run *run, const graze_contact_event *events, uint64_t count) {
  static const char *const words[EVENT_KINDS] = {"began", "hit", "ended"};
  output *out = run->events;
  for (uint64_t i = 0; i < count; i++) {
    const graze_contact_event *event = &events[i];
    double time = simulate_step_time(run, event->step);
    gz_put_integer(out, event->step);
    simulate_put_numbers(out, &time, 1);
    gz_put_text(out, ",");
    gz_put_text(out, words[event->kind]);
    gz_put_text(out, ",");
    put_member(run, out, &event->a);
    gz_put_text(out, ",");
    put_member(run, out, &event->b);
    simulate_put_numbers(out, event->point, 3);
    simulate_put_numbers(out, event->normal, 3);
    simulate_put_numbers(out, &event->speed, 1);
    simulate_put_numbers(out, &event->impulse, 1);
    gz_put_text(out, "\n");
  }
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

void simulate_put_motion_titles(output *out) {
  gz_put_text(out, "step,object,x,y,z,qw,qx,qy,qz\n");
}

/* Who rests has a row too: the last row says how many steps there are. */
void simulate_put_motion(const simulate_run *run, uint64_t step) {
  for (uint32_t i = 0; i < run->file.object_count; i++) {
    graze_body_def body;
    simulate_get_body(run, i, &body);
    if (body.type == GRAZE_BODY_STATIC) continue;
    gz_put_integer(run->motion, step);
    gz_put_text(run->motion, ",");
    write_csv_field(run->motion, body.name);
    simulate_put_numbers(run->motion, body.position, 3);
    simulate_put_numbers(run->motion, body.orientation, 4);
    gz_put_text(run->motion, "\n");
  }
}

/* ---- the last state ---------------------------------------------------------------------------------------------- */

static void put_state(output *out, const double position[3], const double orientation[4], const double velocity[3],
                      const double spin[3]) {
  simulate_put_numbers(out, position, 3);
  simulate_put_numbers(out, orientation, 4);
  simulate_put_numbers(out, velocity, 3);
  simulate_put_numbers(out, spin, 3);
  gz_put_text(out, "\n");
}

static void put_set(const simulate_run *run, output *out, uint32_t set) {
  static const double unturned[4] = {1, 0, 0, 0};
  size_t count = graze_world_get_particle_count(run->world, set);
  double *numbers = malloc((9 * count + 1) * sizeof *numbers);
  if (!numbers) fail_out_of_memory();
  graze_particle_state state = {numbers, numbers + 3 * count, numbers + 6 * count};
  must(run->session.context, graze_world_get_particles(run->world, set, &state));
  for (size_t i = 0; i < count; i++) {
    const graze_member member = {GRAZE_MEMBER_PARTICLE, set, (uint32_t)i};
    put_member(run, out, &member);
    put_state(out, state.positions + 3 * i, unturned, state.velocities + 3 * i, state.spins + 3 * i);
  }
  free(numbers);
}

void simulate_put_final(const simulate_run *run) {
  output *out = run->final;
  gz_put_text(out, "name,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n");
  for (uint32_t i = 0; i < run->file.object_count; i++) {
    graze_body_def body;
    simulate_get_body(run, i, &body);
    write_csv_field(out, body.name);
    put_state(out, body.center, body.orientation, body.velocity, body.spin);
  }
  for (uint32_t set = 0; set < run->file.particle_set_count; set++) put_set(run, out, set);
}
