/* Particles that fly straight at the objects of a scene: a row a particle in, a row a particle out. */
#include "motion_particles.h"

#include <stdlib.h>

#include "diagnostics.h"
#include "graze/io.h"
#include "target_hits.h"

int motion_fly_particles(const char *particles, const graze_check_def *asked, const common_options *common) {
  graze_check_def def = *asked;
  session run;
  graze_targets *targets = NULL;
  graze_particle_list list;
  output *out = output_open(common->output);
  session_begin(&run, common);
  must(run.context, graze_read_flights(run.context, particles, &list));
  graze_check *check = target_hits_open(&run, &def, &targets);
  graze_target_hit *hits = calloc((size_t)list.count + 1, sizeof *hits);
  if (!hits) fail_out_of_memory();
  const double start = clock_now();
  const graze_particles flights = {
      .count = list.count, .start = list.positions, .end = list.ends, .radius = list.radii};
  must(run.context, graze_motion_particles(run.context, targets, &flights, hits));
  clock_add(&run.query_seconds, start);
  progress_end(&run.line);
  const target_hits h = {graze_check_report(check), "particle", "time", list.count, hits, NULL, list.count};
  target_hits_write(out, common->format, &run, &h, list.ends ? "hit" : "touch");
  output_close(out);
  const bool found = target_hits_found(&h) > 0;
  free(hits);
  graze_targets_destroy(targets);
  graze_particle_list_free(&list);
  graze_check_destroy(check);
  session_end(&run);
  return found ? exit_found : exit_clear;
}
