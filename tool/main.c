/* graze VERB [options] FILES: picks the verb. Results go to stdout, everything else to stderr. */
#include <argp.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnostics.h"
#include "graze/base.h"
#include "json_memory.h"
#include "output.h"
#include "verbs.h"

typedef struct verb {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv);
} verb;

static const verb verbs[] = {
    {"check", "which objects of a scene, an assembly or several files collide", command_check},
    {"watch", "which objects begin and cease to meet as they move, step by step", command_watch},
    {"self", "where a mesh intersects itself", command_self},
    {"info", "facts about meshes: counts, holes, orientation, box", command_info},
    {"tritri", "test pairs of triangles given as text", command_tritri},
    {"pairs", "which of many boxes meet, by any broad phase", command_pairs},
    {"make", "generate a model from a seed", command_make},
    {"devices", "devices that can take over work", command_devices},
};

static const char help_head[] =
    "Usage: graze VERB [OPTION...] FILES\n"
    "Finds every collision, exactly.\n\n";

static const char help_tail[] =
    "\n  graze VERB --help    the options of a verb\n"
    "  graze --version      the version\n\n"
    "Exit: 0 everything was checked, nothing found; 1 everything was checked, something\n"
    "found; 2 usage error; 3 bad input, or not everything could be checked.\n";

static void print_help(output *out) {
  gz_put_text(out, help_head);
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    output_print(out, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
  gz_put_text(out, help_tail);
  output_close(out);
}

static void print_version(FILE *stream, struct argp_state *state) {
  (void)state;
  fprintf(stream, "graze %s\n", graze_version());
}

/* A descriptor that the caller closed would be given to the next file that is opened. */
static void hold_standard_descriptors(void) {
  for (int file = 0; file <= 2; file++) {
    if (fcntl(file, F_GETFD) >= 0) continue;
    if (open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY) != file) _exit(exit_incomplete);
  }
}

/* argp writes --help through stdio. */
static void check_standard_output(void) {
  if (fflush(stdout) == 0) return;
  perror("graze: standard output: cannot write");
  _exit(exit_incomplete);
}

static int usage_error(const char *what, const char *name) {
  fprintf(stderr, "graze: %s%s; `graze --help' lists the verbs\n", what, name);
  return exit_usage;
}

int main(int argc, char **argv) {
  char program[64];
  hold_standard_descriptors();
  interrupts_install();
  json_memory_install();
  /* Arrays of meshes are freed for good: unless it is told, malloc keeps ever larger ones. */
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  if (atexit(check_standard_output) != 0) return exit_incomplete;
  argp_err_exit_status = exit_usage;
  argp_program_version_hook = print_version;
  if (argc < 2) return usage_error("no verb", "");
  if (strcmp(argv[1], "--help") == 0) {
    print_help(output_open(NULL));
    return exit_clear;
  }
  if (strcmp(argv[1], "--version") == 0) {
    output *out = output_open(NULL);
    output_print(out, "graze %s\n", graze_version());
    output_close(out);
    return exit_clear;
  }
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
    if (strcmp(argv[1], verbs[i].name) != 0) continue;
    snprintf(program, sizeof program, "graze %s", verbs[i].name);
    argv[1] = program;
    diagnostics_start(program);
    return verbs[i].run(argc - 1, argv + 1);
  }
  return usage_error("no such verb: ", argv[1]);
}
