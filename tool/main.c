/* graze VERB [options] FILES: picks the verb. Results go to stdout, everything else to stderr. */
#include <argp.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "diagnostics.h"
#include "graze/base.h"
#include "json_memory.h"
#include "output.h"
#include "verbs.h"

static const char help_head[] = "Usage: graze VERB [OPTION...] FILES\n";

static const char help_tail[] =
    "\n  graze help VERB      the options of a verb, as graze VERB --help\n"
    "  graze --version      the version\n";

static void print_help(output *out) {
  output_print(out, "%s%s\n\n", help_head, verbs_summary);
  for (const verb *v = verbs; v->name; v++) output_print(out, "  %-10s %s\n", v->name, v->summary);
  output_print(out, "%s\nExit: %s", help_tail, verbs_exit);
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

/* argp writes --help through stdio. What was written before the end may have failed, too. */
static void check_standard_output(void) {
  bool failed = ferror(stdout) != 0;
  if (fflush(stdout) == 0 && !failed) return;
  fputs("graze: standard output: cannot write\n", stderr);
  _exit(exit_incomplete);
}

static int usage_error(const char *what, const char *name, const char *advice) {
  fprintf(stderr, "graze: %s%s%s%s `graze --help' lists the verbs\n", what, name, advice,
          strchr(advice, '?') ? "" : ";");
  return exit_usage;
}

/* What may have been meant: a verb with a typing error, or to check a file. */
static int no_such_verb(const char *name) {
  nearest n = {.wanted = name};
  for (const verb *v = verbs; v->name; v++) gz_nearest_offer(&n, v->name);
  gz_nearest_offer(&n, "--help");
  gz_nearest_offer(&n, "--version");
  nearest_list advice = gz_did_you_mean(&n);
  if (access(name, F_OK) == 0) return usage_error("no such verb: ", name, "; `graze check' is the one for files");
  return usage_error("no such verb: ", name, advice.text);
}

static char program[64];

/* For messages, that of an interrupt too. */
static void name_program(const verb *v) {
  snprintf(program, sizeof program, "graze %s", v->name);
  diagnostics_start(program);
  if (v->interrupted) interrupts_mean(v->interrupted);
}

static int run_verb(const char *name, int argc, char **argv) {
  const verb *v = verb_find(name);
  if (!v) return no_such_verb(name);
  name_program(v);
  argv[0] = program;
  return v->run(argc, argv);
}

static int show_help(int argc, char **argv) {
  char help[] = "--help";
  if (argc > 3) return usage_error("help is for one verb", "", "");
  if (argc == 3) return run_verb(argv[2], 2, (char *[]){NULL, help, NULL});
  print_help(output_open(NULL));
  return exit_clear;
}

static bool is_one_of(const char *text, const char *first, const char *second) {
  return strcmp(text, first) == 0 || strcmp(text, second) == 0;
}

int main(int argc, char **argv) {
  const verb *v = argc > 1 ? verb_find(argv[1]) : NULL;
  hold_standard_descriptors();
  if (v) name_program(v);
  interrupts_install();
  json_memory_install();
  /* Arrays of meshes are freed for good: unless it is told, malloc keeps ever larger ones. */
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  if (atexit(check_standard_output) != 0) return exit_incomplete;
  argp_err_exit_status = exit_usage;
  argp_program_version_hook = print_version;
  if (argc < 2) return usage_error("no verb", "", "");
  if (strcmp(argv[1], "help") == 0) return show_help(argc, argv);
  if (is_one_of(argv[1], "--help", "-h")) return show_help(2, argv);
  if (is_one_of(argv[1], "--version", "-V")) {
    output *out = output_open(NULL);
    output_print(out, "graze %s\n", graze_version());
    output_close(out);
    return exit_clear;
  }
  return run_verb(argv[1], argc - 1, argv + 1);
}
