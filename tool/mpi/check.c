/* graze-mpi check: how every two objects relate, with as many ranks as mpiexec starts. The ranks are the crew of one
 * check (graze/check.h): each reads what its pairs need, and rank 0 prints. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "diagnostics.h"
#include "mpi/commands.h"
#include "mpi/facts.h"
#include "mpi/run.h"
#include "verbs.h"

enum { PIECE = 1 << 28 /* bytes a message: MPI counts in ints */ };

typedef struct mpi_crew {
  job *job;
  char *all; /* what came last */
  uint64_t capacity;
  uint64_t *sizes;
  uint64_t messages, bytes; /* sent by this rank */
} mpi_crew;

/* ---- exchanging ---- */

/* Every rank's bytes go to all: each broadcasts its own. */
static graze_status exchange(void *user, const void *mine, uint64_t size, const void **all, const uint64_t **sizes) {
  mpi_crew *crew = user;
  const job *j = crew->job;
  uint64_t sum = 0, at = 0;
  MPI_Allgather(&size, 1, MPI_UINT64_T, crew->sizes, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int r = 0; r < j->ranks; r++) sum += crew->sizes[r];
  if (sum > crew->capacity) {
    free(crew->all);
    crew->capacity = sum + sum / 2;
    job_alone(j);
    crew->all = job_alloc((size_t)crew->capacity, 1);
    job_agrees(j);
  }
  for (int r = 0; r < j->ranks; at += crew->sizes[r++]) {
    if (r == j->rank && size > 0) memcpy(crew->all + at, mine, size);
    for (uint64_t done = 0; done < crew->sizes[r]; done += PIECE) {
      const uint64_t piece = crew->sizes[r] - done < PIECE ? crew->sizes[r] - done : PIECE;
      MPI_Bcast(crew->all + at + done, (int)piece, MPI_BYTE, r, MPI_COMM_WORLD);
    }
  }
  crew->messages += (uint64_t)(j->ranks - 1);
  crew->bytes += size * (uint64_t)(j->ranks - 1);
  *all = crew->all;
  *sizes = crew->sizes;
  return GRAZE_OK;
}

/* ---- options: those of `graze check', without what needs every mesh in one place ---- */

static error_t parse(int key, char *argument, struct argp_state *state) {
  check_options *check = state->input;
  (void)argument;
  if (key == ARGP_KEY_INIT) {
    state->child_inputs[0] = check;
    return 0;
  }
  if (key != ARGP_KEY_END) return ARGP_ERR_UNKNOWN;
  if (check->def.folder || check->pictures_given || check->def.title)
    argp_error(state, "--report is for `graze check', which has every mesh in one place");
  if (check->def.previous || check->def.marks) argp_error(state, "--previous is for `graze check'");
  return 0;
}

static const struct argp_child children[] = {{&check_argp, 0, NULL, 0}, {0}};

static const struct argp mpi_check_argp = {
    .parser = parse,
    .children = children,
    .args_doc = "SCENE.json\nASSEMBLY\nFILE FILE...",
    .doc =
        "Finds how every two objects relate, with the answer of `graze check'. Pairs of objects are cut by cost over "
        "the ranks; each reads the meshes that its pairs need. --threads is of a rank, default 1. Without --report, "
        "--previous and what goes with them."
        "\vExit: 0 nothing to report; 1 something to report; 2 usage error; 3 bad input, or not everything was "
        "checked. Only rank 0 writes. Open MPI calls exit 1 a failure in several lines: mpiexec --quiet leaves them "
        "out."};

/* ---- what was found ---- */

static graze_mpi_spread spread_of(const job *j, uint64_t own) {
  uint64_t ends[2] = {own, ~own}, all[2], sum = 0;
  MPI_Allreduce(ends, all, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return (graze_mpi_spread){.least = ~all[1], .most = all[0], .mean = (double)sum / j->ranks};
}

static uint64_t sum_of(const job *j, graze_mpi_spread spread) {
  return (uint64_t)(spread.mean * j->ranks + 0.5);
}

/* Where objects are meshes that are read, and work the triangles of pairs. */
static graze_mpi_result gather_facts(const job *j, const mpi_crew *crew, const graze_check_counts *counts) {
  graze_mpi_result r = {.voxel = 0, .reason = "pairs of objects are cut by their triangles, without voxels"};
  const uint64_t bytes = crew->bytes;
  r.messages = sum_of(j, spread_of(j, crew->messages));
  r.rank_objects = spread_of(j, counts->read_meshes);
  r.rank_pairs = spread_of(j, counts->decided_pairs);
  r.rank_work = spread_of(j, counts->decided_triangles);
  r.rank_bytes = spread_of(j, bytes);
  r.bytes_sent = sum_of(j, r.rank_bytes);
  return r;
}

/* A sink that keeps back the last two bytes, which end the outermost object. */
typedef struct opened {
  output *out;
  char last[2];
  size_t held;
} opened;

static bool pass_on(void *user, const void *bytes, size_t size) {
  opened *o = user;
  const char *from = bytes;
  for (size_t i = 0; i < size; i++) {
    if (o->held == 2) {
      gz_put_bytes(o->out, o->last, 1);
      o->last[0] = o->last[1];
      o->held = 1;
    }
    o->last[o->held++] = from[i];
  }
  return true;
}

static void print_json(output *out, const session *run, const check_options *check, const graze_check *done,
                       const job *j, const graze_mpi_result *facts) {
  opened o = {.out = out};
  gz_text text;
  rank_run seconds = {.seconds = (double[1]){run->query_seconds}, .count = 1};
  if (!gz_text_begin(run->context, &text, pass_on, &o)) fail_out_of_memory();
  print_check(&text, run, check, done);
  gz_text_flush(&text);
  if (text.no_memory) fail_out_of_memory();
  gz_text_end(&text);
  gz_json json = {.text = out, .depth = 1, .started = 2};
  gz_json_integer(&json, "ranks", (uint64_t)j->ranks);
  put_mpi_facts(&json, "cost", facts, &seconds);
  gz_json_end(&json);
}

/* ---- the check ---- */

static int check_all(job *j, check_options *check, mpi_crew *crew) {
  session run;
  output *out = j->rank == 0 ? output_open(check->common.output) : NULL;
  const graze_check_crew members = {(uint32_t)j->rank, (uint32_t)j->ranks, exchange, crew};
  check->def.crew = &members;
  session_begin(&run, &check->common);
  job_agrees(j); /* what fails from here on fails on all ranks */
  graze_check *done = session_open(&run, &check->def);
  graze_status status = graze_check_run(done);
  progress_end(&run.line);
  if (status == GRAZE_CANCELLED) fail("interrupted; not every pair was checked");
  if (status != GRAZE_OK) session_fail(&run, NULL, status);
  job_alone(j);
  session_take_times(&run, done);
  graze_check_set_engine(done, "mpi");
  const graze_check_counts counts = graze_check_get_counts(done);
  const graze_mpi_result facts = gather_facts(j, crew, &counts);
  if (out && check->common.format == format_json)
    print_json(out, &run, check, done, j, &facts);
  else if (out)
    print_check(out, &run, check, done);
  if (out) output_close(out);
  graze_check_destroy(done);
  session_end(&run);
  return counts.open_clashes > 0 ? exit_found : exit_clear;
}

int command_mpi_check(job *j, int argc, char **argv) {
  check_options check = {.common = {.threads = 1, .is_mpi = true}, .def = graze_default_check_def()};
  mpi_crew crew = {.job = j};
  options_parse(&mpi_check_argp, argc, argv, &check, &check.common);
  check_complete(&check);
  crew.sizes = job_alloc((size_t)j->ranks, sizeof *crew.sizes);
  int code = check_all(j, &check, &crew);
  rules_free(&check.rules);
  free(crew.all);
  free(crew.sizes);
  return code;
}
