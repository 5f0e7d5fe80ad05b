/* helper_limits.h: what a helping program sets itself before it reads anything; for C and C++, private to io. */
#ifndef GRAZE_IO_HELPER_LIMITS_H
#define GRAZE_IO_HELPER_LIMITS_H

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static inline bool helper_limit(int resource, rlim_t value) {
  struct rlimit both;
  both.rlim_cur = both.rlim_max = value;
  return setrlimit((__typeof__(RLIMIT_CPU))resource, &both) == 0;
}

/* Numbers as text: of processor time and of memory. No file is to be written, and no helper outlives who asked. */
static inline bool helper_set_limits(const char *seconds, const char *megabytes) {
  return helper_limit(RLIMIT_CPU, strtoul(seconds, NULL, 10)) &&
         helper_limit(RLIMIT_AS, strtoul(megabytes, NULL, 10) << 20) && helper_limit(RLIMIT_CORE, 0) &&
         helper_limit(RLIMIT_FSIZE, 0) && helper_limit(RLIMIT_NOFILE, 64) && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

#endif
