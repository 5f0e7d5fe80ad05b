/* bench/peer_link.c: starts the peer programs and talks to them. They are separate processes, so that a peer's
 * allocator, threads or crash is its own, and so that runs alternate in time with ours on one core. */
#define _GNU_SOURCE
#include "peer_link.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define SILENCE_MS 600000

static bool start(peer *p) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
  p->process = fork();
  if (p->process < 0) fail("fork: %s", strerror(errno));
  if (!p->process) {
    if (dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0) _exit(127);
    execl(p->path, p->path, (char *)NULL);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  p->commands = fdopen(to[1], "w");
  p->answers = fdopen(from[0], "r");
  p->alive = p->commands && p->answers;
  return p->alive;
}

static void end(peer *p) {
  p->alive = false;
  fclose(p->commands);
  fclose(p->answers);
  kill(p->process, SIGKILL);
  waitpid(p->process, NULL, 0);
}

bool peer_revive(peer *p) {
  return p->alive || start(p);
}

peer_set *peers_start(const char *folder) {
  peer_set *set = must_alloc(1, sizeof *set);
  char *pattern = text_of("%s/graze-peer-*", folder);
  glob_t found = {0};
  signal(SIGPIPE, SIG_IGN);
  if (!glob(pattern, 0, NULL, &found)) {
    set->peers = must_alloc(found.gl_pathc, sizeof *set->peers);
    for (size_t i = 0; i < found.gl_pathc; i++) {
      peer *p = &set->peers[set->count];
      snprintf(p->name, sizeof p->name, "%s", strstr(strrchr(found.gl_pathv[i], '/'), "graze-peer-") + 11);
      p->path = text_of("%s", found.gl_pathv[i]);
      const char *offers = start(p) ? peer_ask(p, NULL, "offers") : NULL;
      if (!offers) continue;
      p->offers = text_of("%s", offers);
      set->count++;
    }
  }
  globfree(&found);
  free(pattern);
  return set;
}

void peers_stop(peer_set *set) {
  for (size_t i = 0; set && i < set->count; i++) {
    peer *p = &set->peers[i];
    if (p->alive) {
      fputs("quit\n", p->commands);
      fclose(p->commands);
      fclose(p->answers);
      waitpid(p->process, NULL, 0);
    }
    free(p->offers);
    free(p->path);
  }
  if (set) free(set->peers);
  free(set);
}

static bool wait_for_line(peer *p) {
  struct pollfd ready = {.fd = fileno(p->answers), .events = POLLIN};
  int n;
  do n = poll(&ready, 1, SILENCE_MS);
  while (n < 0 && errno == EINTR);
  return n == 1;
}

const char *peer_ask(peer *p, char reason[128], const char *format, ...) {
  static char *line;
  static size_t room;
  if (reason) snprintf(reason, 128, "the peer program ended");
  if (!p->alive) return NULL;
  va_list list;
  va_start(list, format);
  vfprintf(p->commands, format, list);
  va_end(list);
  fputc('\n', p->commands);
  if (fflush(p->commands) || !wait_for_line(p) || getline(&line, &room, p->answers) < 0) {
    end(p);
    return NULL;
  }
  line[strcspn(line, "\n")] = 0;
  if (!strncmp(line, "ok", 2)) return line + 2;
  if (reason) snprintf(reason, 128, "%s", strncmp(line, "skip ", 5) ? line : line + 5);
  return NULL;
}
