/* tests/host_runner.h: runs the groups of a kernel that was compiled as C (host_kernel.h). */
#ifndef GRAZE_TESTS_HOST_RUNNER_H
#define GRAZE_TESTS_HOST_RUNNER_H

#include <stdbool.h>

#include "host_kernel.h"

enum { HOST_GROUP_MOST = 1024 /* items of a group */ };

/* In which order the groups of a launch run, and the items of a group between two barriers. */
typedef enum host_order { HOST_FORWARD, HOST_BACKWARD, HOST_RANDOM, HOST_ORDERS } host_order;

typedef struct host_runner host_runner;

/* NULL: no memory. `wrong_shuffles`: what items hand each other is one too much. */
host_runner *host_runner_create(host_order order, uint64_t seed, bool wrong_shuffles);
void host_runner_destroy(host_runner *runner);

/* Runs `count` groups of a kernel, with its arguments by address. Returns NULL, or what the kernel did wrong, which is
 * valid until the next call. One thread at a time. */
const char *host_runner_run(host_runner *runner, const host_kernel *kernel, uint32_t count, const void *const *values);

/* A module that the build made, with or without shuffles, and its kernel; NULL: there is none. */
const host_module *host_find_module(const char *name, bool shuffle);
const host_kernel *host_find_kernel(const host_module *module, const char *name);

#endif
