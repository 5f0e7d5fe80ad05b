/* helper.c: runs graze-import or graze-draco, so that whatever a foreign library does to itself on a damaged file
 * happens in another process: a crash, a hang, or a hunger for memory becomes an error message.
 *
 * The program is the one that $GRAZE_IMPORT or $GRAZE_DRACO names, else the file next to the program that runs, else
 * the one on the PATH. It limits its own memory and processor time; the clock is watched here. $GRAZE_IMPORT_SECONDS
 * changes the time limit. posix_spawn() is safe whatever threads there are.
 */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owned.h"

enum { DEFAULT_SECONDS = 60, MOST_SECONDS = 86400, MEMORY_MEGABYTES = 4096, READ_STEP = 1 << 20 };
#define MOST_STREAM ((size_t)4 << 30)

extern char **environ;

/* ---- finding it ---- */

static bool find_program(const io_helper *helper, char *path, size_t size) {
  const char *given = getenv(helper->variable);
  if (given != NULL && *given) return snprintf(path, size, "%s", given) < (int)size;
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length > 0) {
    path[length] = 0;
    char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    bool fits = snprintf(path + folder, size - folder, "%s", helper->program) < (int)(size - folder);
    if (fits && access(path, X_OK) == 0) return true;
  }
  return snprintf(path, size, "%s", helper->program) < (int)size;
}

static long find_seconds(void) {
  const char *given = getenv("GRAZE_IMPORT_SECONDS");
  if (given == NULL) return DEFAULT_SECONDS;
  char *end;
  long seconds = strtol(given, &end, 10);
  return *end == 0 && seconds > 0 && seconds <= MOST_SECONDS ? seconds : DEFAULT_SECONDS;
}

/* ---- starting it ---- */

static int set_up_files(posix_spawn_file_actions_t *actions, int input, int output) {
  int error = input < 0 ? posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                        : posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
  if (error == 0) error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  return error;
}

/* Signals as a new program expects them, whatever the caller blocks or ignores. */
static int set_up_signals(posix_spawnattr_t *attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  int error = posix_spawnattr_setsigmask(attributes, &none);
  if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &defaults);
  if (error == 0) error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  return error;
}

/* 0, or an errno. */
static int start(char *const arguments[], int input, int output, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    error = set_up_files(&actions, input, output);
    if (error == 0) error = set_up_signals(&attributes);
    if (error == 0) error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static bool fail_start(const io_helper *helper, int error, io_fault *fault) {
  if (error == ENOENT || error == EACCES || error == ENOTDIR)
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0, "%s", helper->missing);
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot start %s: %s", helper->program, strerror(error));
}

/* ---- listening ---- */

/* Waits for something to read until `deadline`. */
static bool wait_for_bytes(int input, double deadline) {
  for (;;) {
    double left = deadline - clock_now();
    if (left <= 0) return false;
    struct pollfd wanted = {.fd = input, .events = POLLIN};
    int ready = poll(&wanted, 1, (int)(left * 1000) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

static bool listen_to(const io_helper *helper, int input, long seconds, gz_array *bytes, io_fault *fault) {
  double deadline = clock_now() + (double)seconds;
  for (;;) {
    if (!wait_for_bytes(input, deadline)) {
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_WHOLE_FILE, 0, "%s was stopped after %ld s", helper->doing,
                        seconds);
    }
    if (bytes->count > MOST_STREAM) {
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_WHOLE_FILE, 0, "%s was stopped: more than %zu bytes of geometry",
                        helper->doing, MOST_STREAM);
    }
    if (!array_reserve(fault->context, bytes, READ_STEP, 1)) return gz_io_fail_memory(fault);
    ssize_t got = read(input, (char *)bytes->data + bytes->count, bytes->capacity - bytes->count);
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) {
      return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot read from %s: %s", helper->program,
                        strerror(errno));
    }
    if (got > 0) bytes->count += (size_t)got;
  }
}

/* How it ended. A caller that ignores SIGCHLD has no status left to look at; the stream's end mark then tells. */
static bool check_end(const io_helper *helper, pid_t child, io_fault *fault) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || !WIFSIGNALED(status)) return true;
  int number = WTERMSIG(status);
  if (number == SIGXCPU || number == SIGKILL) {
    return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_WHOLE_FILE, 0, "the %s program went over its limits (signal %d)",
                      helper->doing, number);
  }
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_WHOLE_FILE, 0, "the %s program crashed on it (signal %d)",
                    helper->doing, number);
}

static bool converse(const io_helper *helper, pid_t child, int input, long seconds, io_file *stream, io_fault *fault) {
  gz_array bytes = {0};
  bool good = listen_to(helper, input, seconds, &bytes, fault);
  if (!good) kill(child, SIGKILL);
  io_fault ending = {.context = fault->context};
  if (!check_end(helper, child, &ending) && good) {
    *fault = ending;
    good = false;
  }
  if (!good) gz_free(bytes.data);
  if (good) *stream = (io_file){bytes.data, bytes.count};
  return good;
}

bool gz_io_helper_run(const io_helper *helper, const char *argument, int input, io_file *stream, io_fault *fault) {
  char program[PATH_MAX], seconds_text[32], memory_text[32];
  char *arguments[5] = {program};
  int ends[2], count = 1;
  pid_t child;
  long seconds = find_seconds();
  if (!find_program(helper, program, sizeof program)) return fail_start(helper, ENOENT, fault);
  snprintf(seconds_text, sizeof seconds_text, "%ld", seconds);
  snprintf(memory_text, sizeof memory_text, "%d", MEMORY_MEGABYTES);
  if (argument != NULL) arguments[count++] = (char *)(uintptr_t)argument; /* execv leaves it as it is */
  arguments[count++] = seconds_text;
  arguments[count] = memory_text;
  if (pipe(ends) != 0) {
    return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot make a pipe: %s", strerror(errno));
  }
  /* not pipe2(), which is no part of POSIX; a process that another thread starts in between keeps the pipe open no
   * longer than the time limit */
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  int error = start(arguments, input, ends[1], &child);
  close(ends[1]);
  bool good = error == 0 ? converse(helper, child, ends[0], seconds, stream, fault) : fail_start(helper, error, fault);
  close(ends[0]);
  return good;
}
