/* The part of NVIDIA's driver API and of NVRTC that is used here. Nothing of the toolkit is needed to build, so what it
 * would declare stands here; a test holds it to NVIDIA's headers where those are.
 *
 * X(name, function, parameters) for each function. */
#ifndef GRAZE_SRC_GPU_CUDA_DRIVER_H
#define GRAZE_SRC_GPU_CUDA_DRIVER_H

#include <stddef.h>

typedef unsigned cu_result; /* CUresult and nvrtcResult: enumerations without negative numbers; 0: success */
typedef int cu_device;
typedef unsigned long long cu_memory;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct _nvrtcProgram *nvrtc_program;

enum {
  CU_OUT_OF_MEMORY = 2,

  CU_THREADS_OF_BLOCK = 1, /* attributes of a device */
  CU_SHARED_BYTES = 8,
  CU_MULTIPROCESSORS = 16,
  CU_CAPABILITY_MAJOR = 75,
  CU_CAPABILITY_MINOR = 76,

  CU_FUNCTION_THREADS = 0, /* attribute of a function */
  CU_STREAM_NOT_BLOCKING = 1
};

#define CU_FUNCTIONS(X)                                                                                   \
  X(Init, cuInit, (unsigned flags))                                                                       \
  X(GetErrorString, cuGetErrorString, (cu_result error, const char **text))                               \
  X(DriverGetVersion, cuDriverGetVersion, (int *version))                                                 \
  X(DeviceGetCount, cuDeviceGetCount, (int *count))                                                       \
  X(DeviceGet, cuDeviceGet, (cu_device * device, int number))                                             \
  X(DeviceGetName, cuDeviceGetName, (char *name, int room, cu_device device))                             \
  X(DeviceGetAttribute, cuDeviceGetAttribute, (int *value, unsigned attribute, cu_device device))         \
  X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, cu_device device))                              \
  X(PrimaryCtxRetain, cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device))                 \
  X(PrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (cu_device device))                                  \
  X(CtxPushCurrent, cuCtxPushCurrent_v2, (cu_context context))                                            \
  X(CtxPopCurrent, cuCtxPopCurrent_v2, (cu_context * context))                                            \
  X(StreamCreate, cuStreamCreate, (cu_stream * stream, unsigned flags))                                   \
  X(StreamDestroy, cuStreamDestroy_v2, (cu_stream stream))                                                \
  X(StreamSynchronize, cuStreamSynchronize, (cu_stream stream))                                           \
  X(MemAlloc, cuMemAlloc_v2, (cu_memory * memory, size_t bytes))                                          \
  X(MemFree, cuMemFree_v2, (cu_memory memory))                                                            \
  X(MemHostAlloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                          \
  X(MemFreeHost, cuMemFreeHost, (void *memory))                                                           \
  X(MemcpyHtoD, cuMemcpyHtoDAsync_v2, (cu_memory to, const void *from, size_t bytes, cu_stream stream))   \
  X(MemcpyDtoH, cuMemcpyDtoHAsync_v2, (void *to, cu_memory from, size_t bytes, cu_stream stream))         \
  X(ModuleLoadData, cuModuleLoadData, (cu_module * module, const void *image))                            \
  X(ModuleUnload, cuModuleUnload, (cu_module module))                                                     \
  X(ModuleGetFunction, cuModuleGetFunction, (cu_function * function, cu_module module, const char *name)) \
  X(FuncGetAttribute, cuFuncGetAttribute, (int *value, unsigned attribute, cu_function function))         \
  X(LaunchKernel, cuLaunchKernel,                                                                         \
    (cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
     unsigned shared, cu_stream stream, void **arguments, void **extra))                                  \
  X(EventCreate, cuEventCreate, (cu_event * event, unsigned flags))                                       \
  X(EventRecord, cuEventRecord, (cu_event event, cu_stream stream))                                       \
  X(EventSynchronize, cuEventSynchronize, (cu_event event))                                               \
  X(EventElapsedTime, cuEventElapsedTime, (float *milliseconds, cu_event first, cu_event second))         \
  X(EventDestroy, cuEventDestroy_v2, (cu_event event))

#define NVRTC_FUNCTIONS(X)                                                                               \
  X(CreateProgram, nvrtcCreateProgram,                                                                   \
    (nvrtc_program * program, const char *text, const char *name, int headers, const char *const *texts, \
     const char *const *names))                                                                          \
  X(DestroyProgram, nvrtcDestroyProgram, (nvrtc_program * program))                                      \
  X(CompileProgram, nvrtcCompileProgram, (nvrtc_program program, int count, const char *const *options)) \
  X(GetPTXSize, nvrtcGetPTXSize, (nvrtc_program program, size_t * size))                                 \
  X(GetPTX, nvrtcGetPTX, (nvrtc_program program, char *ptx))                                             \
  X(GetProgramLogSize, nvrtcGetProgramLogSize, (nvrtc_program program, size_t * size))                   \
  X(GetProgramLog, nvrtcGetProgramLog, (nvrtc_program program, char *log))

#endif
