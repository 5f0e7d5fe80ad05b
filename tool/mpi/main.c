/* graze-mpi VERB [options] FILES, under mpiexec or alone. */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "mpi/commands.h"
#include "mpi/job.h"

static const char help[] =
    "Usage: mpiexec -n P graze-mpi VERB [OPTION...] FILES\n"
    "Finds every collision, exactly, with many processes.\n"
    "\n"
    "  check     how every two objects relate\n"
    "  pairs     which of many boxes meet\n"
    "  predict   what pairs would take with more ranks\n"
    "  self      where meshes meet themselves\n"
    "\n"
    "  graze-mpi VERB --help   the options of a verb\n"
    "  graze-mpi --version     the version\n"
    "\n"
    "Exit: 0 everything was checked, nothing found; 1 everything was checked, something\n"
    "found; 2 usage error; 3 bad input, or not everything could be checked. Open MPI calls 1 a\n"
    "failure in several lines: mpiexec --quiet leaves them out.\n";

static void print_version(FILE *stream, struct argp_state *state) {
  (void)state;
  fprintf(stream, "graze-mpi %s\n", graze_version());
}

static int usage_error(const char *what, const char *name) {
  fprintf(stderr, "graze-mpi: %s%s; `graze-mpi --help' lists the verbs\n", what, name);
  return exit_usage;
}

static const struct verb {
  const char *name;
  int (*command)(job *j, int argc, char **argv);
} verbs[] = {{"check", command_mpi_check},
             {"pairs", command_mpi_pairs},
             {"predict", command_mpi_predict},
             {"self", command_mpi_self}};

static const struct verb *find_verb(const char *name) {
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
    if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
  }
  return NULL;
}

static int run(job *j, int argc, char **argv) {
  static char program[64];
  if (argc < 2) return usage_error("no verb", "");
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    fputs(help, stdout);
    return exit_clear;
  }
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    print_version(stdout, NULL);
    return exit_clear;
  }
  const struct verb *verb = find_verb(argv[1]);
  if (!verb) return usage_error("no such verb: ", argv[1]);
  snprintf(program, sizeof program, "graze-mpi %s", verb->name);
  diagnostics_start(program);
  argv[1] = program;
  return verb->command(j, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  job j = {0};
  diagnostics_start("graze-mpi");
  job_begin(&j);
  interrupts_install();
  if (j.rank != 0) signal(SIGTERM, SIG_DFL);
  if (j.ranks > 1) interrupts_mean(NULL); /* mpiexec ends all ranks so when one has told why it ends, or is killed */
  argp_err_exit_status = exit_usage;
  argp_program_version_hook = print_version;
  job_hush(&j); /* until the command line is read */
  return run(&j, argc, argv);
}
