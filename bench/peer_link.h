/* bench/peer_link.h: peer programs as child processes that answer one line a command (peers/peer.hpp has the words). */
#ifndef BENCH_PEER_LINK_H
#define BENCH_PEER_LINK_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct peer {
  char name[32], *path;
  pid_t process;
  FILE *commands, *answers;
  char *offers; /* " TASK:VARIANT TASK:VARIANT ..." */
  bool alive;
} peer;

typedef struct peer_set {
  peer *peers;
  size_t count;
} peer_set;

/* Starts every graze-peer-* program of the folder. */
peer_set *peers_start(const char *folder);
void peers_stop(peer_set *set);

/* Starts a peer that ended again; true when it is alive. */
bool peer_revive(peer *p);

/* Sends a line and waits for the answer. Returns the text after "ok" (valid until the next call) or NULL; then
 * `reason`, when given, has why. A peer that dies or is silent for ten minutes is ended. */
const char *peer_ask(peer *p, char reason[128], const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
