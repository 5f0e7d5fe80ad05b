/* tests/cuda/stand_in.h: how tests steer the stand-in for NVIDIA's driver, a libcuda.so.1 that runs kernels as C.
 *
 * It does what the driver's documentation promises and nothing beyond. A copy reads and writes the memory of the
 * program when it is its turn in the stream, not when it is asked for; memory is released at once, whatever still uses
 * it; addresses of the device are none of the processor. What a program must not do (a stale handle, no current
 * context, a write behind the end of a buffer, memory left behind) is misuse: the call fails as the driver's does, a
 * line on the standard error says so, and when the process ends with misuse that nobody forgave, its exit status is
 * STAND_IN_STATUS.
 *
 * GRAZE_STAND_IN in the environment, before the library is loaded: "early" (work is done when it is queued), "late"
 * (when somebody waits for it; the default) or "random" (some of it in between), then ",fail=FUNCTION:CALL:CODE" as
 * `fail_call`. */
#ifndef GRAZE_TESTS_CUDA_STAND_IN_H
#define GRAZE_TESTS_CUDA_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

enum { STAND_IN_STATUS = 86 };

/* What there is now, of all devices. */
typedef struct stand_in_state {
  uint32_t contexts, streams, modules, events, buffers, pinned; /* not released */
  uint32_t pushed;                                              /* contexts that are current, of all threads */
  uint64_t bytes;                                               /* of buffers */
  uint64_t commands;                                            /* done so far: copies, launches, events */
  uint32_t misuse;
  char last[256]; /* the last misuse */
} stand_in_state;

typedef struct stand_in {
  /* As new: no faults, no limits, nothing counted; what is misuse so far is forgiven. */
  void (*reset)(void);
  stand_in_state (*state)(void);

  /* The functions, by number; NULL behind the last. And how often one was called. */
  const char *(*function)(uint32_t number);
  uint64_t (*calls)(const char *function);

  /* The call number `call`, counted from 1 since the reset, fails with `code`. A code that the driver has for a lost
   * context (as 700 and 719) loses the current one, and so does any for a function that waits. A function that releases
   * something does so all the same. */
  void (*fail_call)(const char *function, uint64_t call, unsigned code);

  /* The command number `command`, counted from 1 since the reset, fails when it is its turn: the context is lost. */
  void (*lose)(uint64_t command, unsigned code);

  /* With `doomed` a lost context takes its device along, until the reset. */
  void (*doom)(int doomed);

  /* Memory of a device beyond which there is none. */
  void (*limit)(size_t bytes);

  /* How many devices there are, and their capability: 90 for 9.0. */
  void (*devices)(int count, int capability);

  /* Somebody else in the process resets the primary context of a device: all that is in it is gone. */
  void (*reset_device)(int device);

  /* "early", "late" or "random", as in the environment; with "random" items of a group take turns at random too. */
  void (*order)(const char *name);
} stand_in;

/* The library's only function beside the driver's. */
const stand_in *stand_in_control(void);

/* That of the stand-in for NVRTC (libnvrtc.so): the call number `call` of a function from now on fails, none with 0; it
 * knows the architectures up to compute_`newest`. */
void stand_in_nvrtc(const char *function, uint64_t call, int newest);

#endif
