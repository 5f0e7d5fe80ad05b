/* Holds src/gpu/cuda_driver.h to NVIDIA's headers: every function is declared once more, and differs in nothing, or
 * this does not compile. Built where those headers are; nothing runs. */
#include <cuda.h>
#include <nvrtc.h>

#include "gpu/cuda_driver.h"

#define DECLARE(name, function, parameters) extern cu_result function parameters;
CU_FUNCTIONS(DECLARE)
NVRTC_FUNCTIONS(DECLARE)

_Static_assert((int)CU_OUT_OF_MEMORY == (int)CUDA_ERROR_OUT_OF_MEMORY, "an error");
_Static_assert((int)CU_THREADS_OF_BLOCK == (int)CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "an attribute");
_Static_assert((int)CU_SHARED_BYTES == (int)CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, "an attribute");
_Static_assert((int)CU_MULTIPROCESSORS == (int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "an attribute");
_Static_assert((int)CU_CAPABILITY_MAJOR == (int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "an attribute");
_Static_assert((int)CU_CAPABILITY_MINOR == (int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "an attribute");
_Static_assert((int)CU_FUNCTION_THREADS == (int)CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "an attribute");
_Static_assert((int)CU_STREAM_NOT_BLOCKING == (int)CU_STREAM_NON_BLOCKING, "a flag");
