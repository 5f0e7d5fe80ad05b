/* Messages, early ends, interrupts. A command line program may end anywhere: what it must not leave behind is a file
 * that looks finished. */
#include "diagnostics.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program_name = "graze";
static bool quiet;
static void (*ending)(int code);
enum { MOST_UNFINISHED = 8 };
static const char *volatile unfinished[MOST_UNFINISHED]; /* paths; NULL: free */
static const char *volatile meaning = "nothing was decided";
static volatile sig_atomic_t asking, came, creating, late;

void diagnostics_start(const char *program) {
  program_name = program;
}

void diagnostics_end_with(void (*end)(int code)) {
  ending = end;
}

void diagnostics_quiet(void) {
  quiet = true;
}

/* In one piece, whoever else prints. */
static void print_line(const char *format, va_list arguments) {
  flockfile(stderr);
  fprintf(stderr, "%s: ", program_name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
}

/* Only calls that are safe in a signal handler. */
static void remove_unfinished(void) {
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    if (unfinished[i]) unlink(unfinished[i]);
  }
}

void note(const char *format, ...) {
  if (quiet) return;
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
}

_Noreturn void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  remove_unfinished();
  if (ending) ending(exit_incomplete);
  _exit(exit_incomplete); /* nothing that waits in a buffer is to be written any more */
}

_Noreturn void fail_out_of_memory(void) {
  fail("out of memory");
}

/* Only calls that are safe in a signal handler. */
static void handle_interrupt(int signal_number) {
  (void)signal_number;
  if (asking && !came) {
    came = 1;
    return;
  }
  if (creating) { /* a file that is there, perhaps, and not known yet */
    late = 1;
    return;
  }
  const char *const words[] = {program_name, ": interrupted; ", meaning ? meaning : "", "\n"};
  remove_unfinished();
  for (int i = 0; i < 4 && meaning; i++) {
    if (write(STDERR_FILENO, words[i], strlen(words[i])) < 0) break;
  }
  _exit(exit_incomplete);
}

static void replace_unfinished(const char *from, const char *to) {
  int i = 0;
  while (i < MOST_UNFINISHED && unfinished[i] != from) i++;
  if (i < MOST_UNFINISHED) unfinished[i] = to;
}

bool unfinished_create(new_file *file, const char *path) {
  creating = 1;
  bool good = gz_new_file_create(file, path);
  int reason = errno;
  if (good && !file->in_place) replace_unfinished(NULL, file->temporary);
  creating = 0;
  if (late) raise(SIGINT);
  errno = reason;
  return good;
}

void unfinished_done(const new_file *file) {
  replace_unfinished(file->temporary, NULL);
}

void interrupts_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = SIG_IGN; /* a closed pipe is then an error of write(), which says so */
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGXFSZ, &action, NULL); /* so is a file that may grow no more */
}

void interrupts_mean(const char *words) {
  meaning = words;
}

void interrupts_ask(void) {
  asking = 1;
}

bool interrupts_came(void) {
  return came != 0;
}
