/* The CUDA driver API as a back end. Nothing of the toolkit is needed to build or to run it: cuda_driver.h declares
 * what is used, libcuda.so.1 comes with the driver, and kernels are embedded as PTX. Where they are not, for want of
 * nvcc at build time, NVRTC compiles them if it is there.
 *
 * The device's primary context is used, and is current during calls only. What is queued may read the memory of the
 * program, or use buffers and modules, until the stream was waited for: the driver promises no more (CUDA Driver API,
 * "API synchronization behavior"). So little is copied through pinned memory, much is waited for, and so is everything
 * before something is released. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/cuda_driver.h"
#include "gpu/device.h"

enum { MOST_ARGUMENTS = 32, STAGING = 256 << 10, EMBEDDED_CAPABILITY = 75 /* kernels.cmake */ };

#define TYPES(name, symbol, parameters)        \
  typedef cu_result call_of_##name parameters; \
  typedef call_of_##name *pointer_to_##name;
#define FIELD(name, symbol, parameters) pointer_to_##name name;
CU_FUNCTIONS(TYPES)
NVRTC_FUNCTIONS(TYPES)
typedef struct cu_functions {
  CU_FUNCTIONS(FIELD)
} cu_functions;
typedef struct nvrtc_functions {
  NVRTC_FUNCTIONS(FIELD)
} nvrtc_functions;
#undef TYPES
#undef FIELD

static struct {
  cu_functions cu;
  nvrtc_functions nvrtc;
  bool has_nvrtc;
  char why[128]; /* why there is no driver; "" when it is there */
} library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

typedef struct cuda {
  const cu_functions *cu;
  cu_device device;
  cu_context context; /* NULL: not retained */
  cu_stream stream;
  int capability; /* 90 for 9.0 */
  bool queued;    /* something that was not waited for */
  char *staging;  /* pinned, STAGING bytes; NULL: there is none */
  size_t staged;  /* of it, for copies that are queued */
} cuda;

typedef struct cuda_module {
  cu_module module;
  char *ptx; /* made by NVRTC; NULL: embedded, or from the disk */
  size_t ptx_size;
} cuda_module;

static graze_status failed(graze_gpu *gpu, const char *call, cu_result error) {
  const char *text = NULL;
  char number[32];
  snprintf(number, sizeof number, "error %u", error);
  if (library.cu.GetErrorString(error, &text) != 0 || text == NULL) text = number;
  return gz_gpu_failed(gpu, error == CU_OUT_OF_MEMORY ? GRAZE_ERROR_MEMORY : GRAZE_ERROR_DEVICE, call, text);
}

/* ---- the library ----------------------------------------------------------------------------------------------- */

static void load_nvrtc(void) {
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
  void *handle = NULL;
  for (size_t i = 0; handle == NULL && i < sizeof names / sizeof *names; i++)
    handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return;
#define LOAD(name, symbol, parameters)                       \
  {                                                          \
    void *function = dlsym(handle, #symbol);                 \
    memcpy(&library.nvrtc.name, &function, sizeof function); \
    if (function == NULL) return;                            \
  }
  NVRTC_FUNCTIONS(LOAD)
#undef LOAD
  library.has_nvrtc = true;
}

static bool load(void) {
  void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    snprintf(library.why, sizeof library.why, "%s", dlerror());
    return false;
  }
#define LOAD(name, symbol, parameters)                                          \
  {                                                                             \
    void *function = dlsym(handle, #symbol);                                    \
    memcpy(&library.cu.name, &function, sizeof function);                       \
    if (function == NULL) {                                                     \
      snprintf(library.why, sizeof library.why, "libcuda.so.1 lacks " #symbol); \
      return false;                                                             \
    }                                                                           \
  }
  CU_FUNCTIONS(LOAD)
#undef LOAD
  cu_result error = library.cu.Init(0);
  if (error == 0) return true;
  const char *text = NULL;
  library.cu.GetErrorString(error, &text);
  snprintf(library.why, sizeof library.why, "cuInit: %s", text != NULL ? text : "failed");
  return false;
}

static void load_once(void) {
  if (!load()) return;
  library.why[0] = 0;
  load_nvrtc();
}

static const cu_functions *functions(char why[128]) {
  pthread_once(&library_once, load_once);
  if (library.why[0] == 0) return &library.cu;
  memcpy(why, library.why, sizeof library.why);
  return NULL;
}

/* ---- devices --------------------------------------------------------------------------------------------------- */

static int attribute(const cu_functions *cu, cu_device device, unsigned which) {
  int value = 0;
  return cu->DeviceGetAttribute(&value, which, device) == 0 ? value : 0;
}

static void describe(const cu_functions *cu, cu_device device, graze_gpu_info *info) {
  int version = 0;
  size_t memory = 0;
  *info = (graze_gpu_info){.api = GRAZE_GPU_CUDA, .doubles = true};
  cu->DeviceGetName(info->name, sizeof info->name, device);
  cu->DriverGetVersion(&version);
  cu->DeviceTotalMem(&memory, device);
  snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, compute capability %d.%d", version / 1000,
           version % 1000 / 10, attribute(cu, device, CU_CAPABILITY_MAJOR), attribute(cu, device, CU_CAPABILITY_MINOR));
  info->memory = info->largest = memory;
  info->units = (uint32_t)attribute(cu, device, CU_MULTIPROCESSORS);
  info->shared_bytes = (uint32_t)attribute(cu, device, CU_SHARED_BYTES);
  info->group_most = (uint32_t)attribute(cu, device, CU_THREADS_OF_BLOCK);
}

static uint32_t list(graze_gpu_info *out, uint32_t room, char why[128]) {
  const cu_functions *cu = functions(why);
  int count = 0;
  if (cu == NULL) return 0;
  if (cu->DeviceGetCount(&count) != 0) count = 0;
  if (count == 0) snprintf(why, 128, "the driver has no device");
  uint32_t listed = 0;
  for (int i = 0; i < count && listed < room; i++) {
    cu_device device;
    if (cu->DeviceGet(&device, i) != 0) break; /* what comes after it would get its number */
    describe(cu, device, &out[listed++]);
  }
  if (count > 0 && listed == 0) snprintf(why, 128, "the driver does not give its device");
  return listed;
}

/* Waits for what is queued; the context is current. */
static cu_result settle(cuda *s) {
  bool queued = s->queued;
  s->queued = false;
  s->staged = 0;
  return queued ? s->cu->StreamSynchronize(s->stream) : 0;
}

static void close_device(graze_gpu *gpu) {
  cuda *s = gpu->state;
  cu_context other;
  if (s->context != NULL && s->cu->CtxPushCurrent(s->context) == 0) {
    settle(s);
    if (s->staging != NULL) s->cu->MemFreeHost(s->staging);
    if (s->stream != NULL) s->cu->StreamDestroy(s->stream);
    s->cu->CtxPopCurrent(&other);
  }
  if (s->context != NULL) s->cu->PrimaryCtxRelease(s->device);
  gz_memory_release(gpu->context, s, sizeof *s);
  gpu->state = NULL;
}

/* Makes the context current; every call between enter and leave. */
static graze_status enter(graze_gpu *gpu) {
  cuda *s = gpu->state;
  cu_result error = s->cu->CtxPushCurrent(s->context);
  return error == 0 ? GRAZE_OK : failed(gpu, "cuCtxPushCurrent", error);
}

static graze_status leave(graze_gpu *gpu, const char *call, cu_result error) {
  cuda *s = gpu->state;
  cu_context other;
  s->cu->CtxPopCurrent(&other);
  return error == 0 ? GRAZE_OK : failed(gpu, call, error);
}

static graze_status open_device(graze_gpu *gpu, uint32_t number) {
  char why[128];
  const cu_functions *cu = functions(why);
  cuda *s = gz_memory_alloc(gpu->context, sizeof *s);
  if (s == NULL) return gz_fail_memory(gpu->context, sizeof *s);
  *s = (cuda){.cu = cu};
  gpu->state = s;
  if (cu == NULL) return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, "cuInit", "the driver is gone");
  cu_result error = cu->DeviceGet(&s->device, (int)number);
  if (error != 0) return failed(gpu, "cuDeviceGet", error);
  error = cu->PrimaryCtxRetain(&s->context, s->device);
  if (error != 0) {
    s->context = NULL;
    return failed(gpu, "cuDevicePrimaryCtxRetain", error);
  }
  s->capability = 10 * attribute(cu, s->device, CU_CAPABILITY_MAJOR) + attribute(cu, s->device, CU_CAPABILITY_MINOR);
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  void *staging = NULL;
  error = cu->StreamCreate(&s->stream, CU_STREAM_NOT_BLOCKING);
  if (error == 0 && cu->MemHostAlloc(&staging, STAGING, 0) == 0) s->staging = staging;
  return leave(gpu, "cuStreamCreate", error);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static graze_status allocate(graze_gpu *gpu, size_t bytes, uintptr_t *memory) {
  cuda *s = gpu->state;
  cu_memory made = 0;
  graze_status status = enter(gpu);
  if (status == GRAZE_OK) status = leave(gpu, "cuMemAlloc", s->cu->MemAlloc(&made, bytes));
  *memory = (uintptr_t)made;
  return status;
}

static void release(graze_gpu *gpu, uintptr_t memory) {
  cuda *s = gpu->state;
  cu_context other;
  if (s->cu->CtxPushCurrent(s->context) != 0) return;
  settle(s);
  s->cu->MemFree(memory); /* of a lost device it fails, and there is nothing to be done about it */
  s->cu->CtxPopCurrent(&other);
}

/* Little is copied to pinned memory, which the driver reads when it likes; else it is waited for. */
static graze_status write_memory(graze_gpu *gpu, uintptr_t to, size_t offset, const void *from, size_t bytes) {
  cuda *s = gpu->state;
  bool staged = s->staging != NULL && bytes <= STAGING;
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  cu_result error = staged && bytes > STAGING - s->staged ? settle(s) : 0;
  if (error != 0) return leave(gpu, "cuStreamSynchronize", error);
  if (staged) {
    from = memcpy(s->staging + s->staged, from, bytes);
    s->staged += bytes;
  }
  error = s->cu->MemcpyHtoD(to + offset, from, bytes, s->stream);
  s->queued = true;
  if (error != 0 || staged) return leave(gpu, "cuMemcpyHtoDAsync", error);
  return leave(gpu, "cuStreamSynchronize", settle(s));
}

static graze_status read_memory(graze_gpu *gpu, void *to, uintptr_t from, size_t offset, size_t bytes) {
  cuda *s = gpu->state;
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  cu_result error = s->cu->MemcpyDtoH(to, from + offset, bytes, s->stream);
  if (error != 0) return leave(gpu, "cuMemcpyDtoHAsync", error);
  s->queued = true;
  return leave(gpu, "cuStreamSynchronize", settle(s));
}

/* ---- modules --------------------------------------------------------------------------------------------------- */

/* The beginning of the log, which names what is wrong first. */
static graze_status nvrtc_failed(graze_gpu *gpu, nvrtc_program program, const char *name) {
  char call[64], *log = NULL;
  size_t size = 0;
  snprintf(call, sizeof call, "nvrtcCompileProgram of %s", name);
  if (library.nvrtc.GetProgramLogSize(program, &size) == 0 && size > 1) log = gz_memory_alloc(gpu->context, size);
  bool read = log != NULL && library.nvrtc.GetProgramLog(program, log) == 0;
  graze_status status = gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, call, read ? log : "no log");
  if (log != NULL) gz_memory_release(gpu->context, log, size);
  return status;
}

/* PTX of a source, with a final 0. */
static graze_status compile(graze_gpu *gpu, const gpu_source *source, char **ptx, size_t *size) {
  const nvrtc_functions *n = &library.nvrtc;
  cuda *s = gpu->state;
  nvrtc_program program;
  char architecture[48];
  const char *options[] = {architecture, "--fmad=false", "--std=c++17", "--define-macro=GRAZE_SHUFFLE"};
  if (!library.has_nvrtc) {
    return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, "dlopen", "neither embedded kernels nor libnvrtc.so to compile them");
  }
  /* PTX runs on all devices that are newer, and NVRTC may be older than the device. */
  int capability = s->capability < EMBEDDED_CAPABILITY ? s->capability : EMBEDDED_CAPABILITY;
  snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%d", capability);
  if (n->CreateProgram(&program, source->text, source->name, 0, NULL, NULL) != 0) {
    return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, "nvrtcCreateProgram", "failed");
  }
  graze_status status = GRAZE_OK;
  if (n->CompileProgram(program, gpu->shuffle ? 4 : 3, options) != 0 || n->GetPTXSize(program, size) != 0) {
    status = nvrtc_failed(gpu, program, source->name);
  }
  *ptx = status == GRAZE_OK ? gz_memory_alloc(gpu->context, *size) : NULL;
  if (status == GRAZE_OK && *ptx == NULL) status = gz_fail_memory(gpu->context, *size);
  if (status == GRAZE_OK && n->GetPTX(program, *ptx) != 0) status = nvrtc_failed(gpu, program, source->name);
  n->DestroyProgram(&program);
  if (status != GRAZE_OK && *ptx != NULL) {
    gz_memory_release(gpu->context, *ptx, *size);
    *ptx = NULL;
  }
  return status;
}

static void drop(graze_gpu *gpu, void *module) {
  cuda *s = gpu->state;
  cuda_module *m = module;
  cu_context other;
  if (m->module != NULL && s->cu->CtxPushCurrent(s->context) == 0) {
    settle(s);
    s->cu->ModuleUnload(m->module);
    s->cu->CtxPopCurrent(&other);
  }
  gz_memory_release(gpu->context, m->ptx, m->ptx_size);
  gz_memory_release(gpu->context, m, sizeof *m);
}

static graze_status build(graze_gpu *gpu, const gpu_source *source, const void *kept, size_t size, void **module) {
  cuda *s = gpu->state;
  const char *image = kept;
  *module = NULL;
  if (kept != NULL && (size == 0 || image[size - 1] != 0)) return GRAZE_OK;
  cuda_module *made = gz_memory_alloc(gpu->context, sizeof *made);
  if (made == NULL) return gz_fail_memory(gpu->context, sizeof *made);
  *made = (cuda_module){0};
  graze_status status = GRAZE_OK;
  if (kept == NULL && source->ptx == NULL) {
    status = compile(gpu, source, &made->ptx, &made->ptx_size);
    image = made->ptx;
  } else if (kept == NULL) {
    image = (const char *)(gpu->shuffle && source->ptx_shuffle != NULL ? source->ptx_shuffle : source->ptx);
  }
  if (status == GRAZE_OK) status = enter(gpu);
  if (status == GRAZE_OK) {
    cu_result error = s->cu->ModuleLoadData(&made->module, image);
    if (error != 0 && kept != NULL) { /* of another driver, perhaps */
      drop(gpu, made);
      return leave(gpu, "", 0);
    }
    status = leave(gpu, "cuModuleLoadData", error);
  }
  if (status == GRAZE_OK)
    *module = made;
  else
    drop(gpu, made);
  return status;
}

static void *code_of(graze_gpu *gpu, void *module, size_t *size) {
  const cuda_module *m = module;
  if (m->ptx == NULL) return NULL;
  void *code = gz_memory_alloc(gpu->context, m->ptx_size);
  if (code != NULL) memcpy(code, m->ptx, m->ptx_size);
  *size = m->ptx_size;
  return code;
}

static graze_status get_kernel(graze_gpu *gpu, void *module, const char *name, gpu_kernel *kernel) {
  cuda *s = gpu->state;
  cu_function function = NULL;
  int threads = 0;
  char call[64];
  snprintf(call, sizeof call, "cuModuleGetFunction of %s", name);
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  cu_result error = s->cu->ModuleGetFunction(&function, ((cuda_module *)module)->module, name);
  if (error == 0) error = s->cu->FuncGetAttribute(&threads, CU_FUNCTION_THREADS, function);
  *kernel = (gpu_kernel){function, (uint32_t)threads};
  return leave(gpu, call, error);
}

/* ---- the queue ------------------------------------------------------------------------------------------------- */

static graze_status launch(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                           uint32_t count) {
  cuda *s = gpu->state;
  cu_memory memories[MOST_ARGUMENTS];
  void *values[MOST_ARGUMENTS];
  if (count > MOST_ARGUMENTS) return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, "cuLaunchKernel", "too many arguments");
  for (uint32_t i = 0; i < count; i++) {
    if (arguments[i].buffer != NULL) memories[i] = arguments[i].buffer->memory;
    values[i] = arguments[i].buffer != NULL ? (void *)&memories[i] : (void *)(uintptr_t)arguments[i].value;
  }
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  s->queued = true;
  return leave(gpu, "cuLaunchKernel",
               s->cu->LaunchKernel(kernel->handle, groups, 1, 1, kernel->group, 1, 1, 0, s->stream, values, NULL));
}

static graze_status finish(graze_gpu *gpu) {
  graze_status status = enter(gpu);
  return status != GRAZE_OK ? status : leave(gpu, "cuStreamSynchronize", settle(gpu->state));
}

static graze_status mark(graze_gpu *gpu, void **out) {
  cuda *s = gpu->state;
  cu_event event = NULL;
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  cu_result error = s->cu->EventCreate(&event, 0);
  if (error != 0) return leave(gpu, "cuEventCreate", error);
  s->queued = true;
  error = s->cu->EventRecord(event, s->stream);
  if (error != 0) s->cu->EventDestroy(event);
  *out = event;
  return leave(gpu, "cuEventRecord", error);
}

static graze_status between(graze_gpu *gpu, void *first, void *second, double *seconds) {
  cuda *s = gpu->state;
  float milliseconds = 0;
  graze_status status = enter(gpu);
  if (status != GRAZE_OK) return status;
  cu_result error = s->cu->EventSynchronize(second);
  if (error == 0) error = s->cu->EventElapsedTime(&milliseconds, first, second);
  s->cu->EventDestroy(first);
  s->cu->EventDestroy(second);
  *seconds = 1e-3 * (double)milliseconds;
  return leave(gpu, "cuEventElapsedTime", error);
}

const gpu_backend gz_gpu_cuda = {.name = "cuda",
                                 .shuffles = true,
                                 .list = list,
                                 .open = open_device,
                                 .close = close_device,
                                 .allocate = allocate,
                                 .release = release,
                                 .write = write_memory,
                                 .read = read_memory,
                                 .build = build,
                                 .code = code_of,
                                 .drop = drop,
                                 .kernel = get_kernel,
                                 .launch = launch,
                                 .finish = finish,
                                 .mark = mark,
                                 .between = between};
