/* tests/cuda/loaded.h: the functions of the stand-ins that the program finds as its driver. */
#ifndef GRAZE_TESTS_CUDA_LOADED_H
#define GRAZE_TESTS_CUDA_LOADED_H

#include <stdbool.h>

#include "gpu/cuda_driver.h"
#include "stand_in.h"

typedef struct loaded_driver {
#define FIELD(name, function, parameters) cu_result(*name) parameters;
  CU_FUNCTIONS(FIELD)
#undef FIELD
} loaded_driver;

extern loaded_driver cu;
extern const stand_in *control;
/* NULL: NVRTC is not the stand-in. */
extern void (*control_nvrtc)(const char *function, uint64_t call, int newest);

/* False: libcuda.so.1 is not the stand-in, or not there at all. */
bool load_stand_in(void);

#endif
