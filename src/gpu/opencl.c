/* OpenCL 1.2 as a back end. The ICD loader is opened by name at run time and stays open: drivers do not like to be
 * unloaded. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/device.h"

enum { MOST_PLATFORMS = 8, MOST_DEVICES = 16 };

#define CL_FUNCTIONS(X)        \
  X(BuildProgram)              \
  X(CreateBuffer)              \
  X(CreateCommandQueue)        \
  X(CreateContext)             \
  X(CreateKernel)              \
  X(CreateProgramWithBinary)   \
  X(CreateProgramWithSource)   \
  X(EnqueueMarkerWithWaitList) \
  X(EnqueueNDRangeKernel)      \
  X(EnqueueReadBuffer)         \
  X(EnqueueWriteBuffer)        \
  X(Finish)                    \
  X(GetDeviceIDs)              \
  X(GetDeviceInfo)             \
  X(GetEventProfilingInfo)     \
  X(GetKernelWorkGroupInfo)    \
  X(GetPlatformIDs)            \
  X(GetPlatformInfo)           \
  X(GetProgramBuildInfo)       \
  X(GetProgramInfo)            \
  X(ReleaseCommandQueue)       \
  X(ReleaseContext)            \
  X(ReleaseEvent)              \
  X(ReleaseKernel)             \
  X(ReleaseMemObject)          \
  X(ReleaseProgram)            \
  X(SetKernelArg)              \
  X(WaitForEvents)

#define CL_TYPE(name)  typedef __typeof__(&cl##name) cl_##name##_pointer;
#define CL_FIELD(name) cl_##name##_pointer name;
CL_FUNCTIONS(CL_TYPE)
typedef struct cl_functions {
  CL_FUNCTIONS(CL_FIELD)
} cl_functions;
#undef CL_TYPE
#undef CL_FIELD

static struct {
  cl_functions cl;
  char why[128]; /* why there is none; "" when it is there */
} library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

typedef struct opencl {
  const cl_functions *cl;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
} opencl;

/* A module keeps its kernels, to release them. */
typedef struct opencl_module {
  cl_program program;
  cl_kernel kernels[16];
  uint32_t count;
} opencl_module;

static const char *error_text(cl_int error) {
  static const struct {
    cl_int error;
    const char *text;
  } texts[] = {{CL_DEVICE_NOT_FOUND, "no device found"},
               {CL_DEVICE_NOT_AVAILABLE, "device not available"},
               {CL_MEM_OBJECT_ALLOCATION_FAILURE, "no memory for a buffer"},
               {CL_OUT_OF_RESOURCES, "out of resources"},
               {CL_OUT_OF_HOST_MEMORY, "out of host memory"},
               {CL_BUILD_PROGRAM_FAILURE, "the kernels do not compile"},
               {CL_INVALID_VALUE, "invalid value"},
               {CL_INVALID_BINARY, "invalid binary"},
               {CL_INVALID_KERNEL_NAME, "no such kernel"},
               {CL_INVALID_KERNEL_ARGS, "arguments missing"},
               {CL_INVALID_ARG_SIZE, "wrong size of an argument"},
               {CL_INVALID_WORK_GROUP_SIZE, "wrong size of work-groups"},
               {CL_INVALID_BUFFER_SIZE, "wrong size of a buffer"},
               {CL_INVALID_COMMAND_QUEUE, "the queue is gone"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (texts[i].error == error) return texts[i].text;
  }
  return NULL;
}

static graze_status failed(graze_gpu *gpu, const char *call, cl_int error) {
  char number[32];
  const char *text = error_text(error);
  bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY;
  snprintf(number, sizeof number, "error %d", (int)error);
  return gz_gpu_failed(gpu, memory ? GRAZE_ERROR_MEMORY : GRAZE_ERROR_DEVICE, call, text != NULL ? text : number);
}

/* ---- the library ----------------------------------------------------------------------------------------------- */

static bool load(void) {
  void *handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    snprintf(library.why, sizeof library.why, "%s", dlerror());
    return false;
  }
#define CL_LOAD(name)                                                             \
  {                                                                               \
    void *symbol = dlsym(handle, "cl" #name);                                     \
    memcpy(&library.cl.name, &symbol, sizeof symbol);                             \
    if (symbol == NULL) {                                                         \
      snprintf(library.why, sizeof library.why, "libOpenCL.so.1 lacks cl" #name); \
      return false;                                                               \
    }                                                                             \
  }
  CL_FUNCTIONS(CL_LOAD)
#undef CL_LOAD
  return true;
}

static void load_once(void) {
  if (load()) library.why[0] = 0;
}

/* NULL: there is none. */
static const cl_functions *functions(char why[128]) {
  pthread_once(&library_once, load_once);
  if (library.why[0] == 0) return &library.cl;
  memcpy(why, library.why, sizeof library.why);
  return NULL;
}

/* ---- devices --------------------------------------------------------------------------------------------------- */

/* All devices of all platforms, in their order; platforms that fail have none. */
static uint32_t find_devices(const cl_functions *cl, cl_device_id *devices, cl_platform_id *platforms, uint32_t room) {
  cl_platform_id all[MOST_PLATFORMS];
  cl_uint platform_count = 0;
  uint32_t count = 0;
  if (cl->GetPlatformIDs(MOST_PLATFORMS, all, &platform_count) != CL_SUCCESS) return 0;
  if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
  for (cl_uint p = 0; p < platform_count && count < room; p++) {
    cl_uint more = 0;
    if (cl->GetDeviceIDs(all[p], CL_DEVICE_TYPE_ALL, room - count, devices + count, &more) != CL_SUCCESS) continue;
    if (more > room - count) more = room - count;
    for (cl_uint i = 0; i < more; i++) platforms[count++] = all[p];
  }
  return count;
}

/* Texts of drivers have blanks around them. */
static void trim(char *text) {
  size_t begin = strspn(text, " "), length = strlen(text);
  while (length > begin && text[length - 1] == ' ') text[--length] = 0;
  memmove(text, text + begin, length - begin + 1);
}

static void describe(const cl_functions *cl, cl_device_id device, cl_platform_id platform, graze_gpu_info *info) {
  char platform_name[64] = "", version[64] = "";
  cl_uint units = 0;
  cl_ulong memory = 0, largest = 0, shared = 0;
  cl_device_fp_config doubles = 0;
  size_t group = 0;
  *info = (graze_gpu_info){.api = GRAZE_GPU_OPENCL};
  cl->GetDeviceInfo(device, CL_DEVICE_NAME, sizeof info->name, info->name, NULL);
  cl->GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL);
  cl->GetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL);
  cl->GetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
  cl->GetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
  cl->GetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
  cl->GetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof shared, &shared, NULL);
  cl->GetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
  cl->GetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
  trim(info->name);
  trim(platform_name);
  trim(version);
  snprintf(info->driver, sizeof info->driver, "%s %s", platform_name, version);
  info->units = units;
  info->memory = memory;
  info->largest = largest;
  info->shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX;
  info->group_most = (uint32_t)group;
  info->doubles = doubles != 0;
}

static uint32_t list(graze_gpu_info *out, uint32_t room, char why[128]) {
  const cl_functions *cl = functions(why);
  if (cl == NULL) return 0;
  cl_device_id devices[MOST_DEVICES];
  cl_platform_id platforms[MOST_DEVICES];
  uint32_t count = find_devices(cl, devices, platforms, room < MOST_DEVICES ? room : MOST_DEVICES);
  for (uint32_t i = 0; i < count; i++) describe(cl, devices[i], platforms[i], &out[i]);
  if (count == 0) snprintf(why, 128, "the loader finds no driver with a device");
  return count;
}

static void close_device(graze_gpu *gpu) {
  opencl *s = gpu->state;
  if (s->queue != NULL) s->cl->ReleaseCommandQueue(s->queue);
  if (s->context != NULL) s->cl->ReleaseContext(s->context);
  gz_memory_release(gpu->context, s, sizeof *s);
  gpu->state = NULL;
}

static graze_status open_device(graze_gpu *gpu, uint32_t number) {
  char why[128];
  const cl_functions *cl = functions(why);
  cl_device_id devices[MOST_DEVICES];
  cl_platform_id platforms[MOST_DEVICES];
  if (cl == NULL || number >= find_devices(cl, devices, platforms, MOST_DEVICES)) {
    return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, "clGetDeviceIDs", "the device is gone");
  }
  opencl *s = gz_memory_alloc(gpu->context, sizeof *s);
  if (s == NULL) return gz_fail_memory(gpu->context, sizeof *s);
  *s = (opencl){.cl = cl, .device = devices[number]};
  gpu->state = s;
  cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platforms[number], 0};
  cl_int error;
  s->context = cl->CreateContext(properties, 1, &s->device, NULL, NULL, &error);
  if (error != CL_SUCCESS) return failed(gpu, "clCreateContext", error);
  s->queue = cl->CreateCommandQueue(s->context, s->device, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error != CL_SUCCESS) return failed(gpu, "clCreateCommandQueue", error);
  return GRAZE_OK;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static graze_status allocate(graze_gpu *gpu, size_t bytes, uintptr_t *memory) {
  opencl *s = gpu->state;
  cl_int error;
  if (bytes > gpu->info.largest)
    return gz_gpu_failed(gpu, GRAZE_ERROR_MEMORY, "clCreateBuffer", "larger than a buffer can be");
  cl_mem made = s->cl->CreateBuffer(s->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  if (error != CL_SUCCESS) return failed(gpu, "clCreateBuffer", error);
  *memory = (uintptr_t)made;
  return GRAZE_OK;
}

static void release(graze_gpu *gpu, uintptr_t memory) {
  opencl *s = gpu->state;
  s->cl->ReleaseMemObject((cl_mem)memory);
}

static graze_status write_memory(graze_gpu *gpu, uintptr_t to, size_t offset, const void *from, size_t bytes) {
  opencl *s = gpu->state;
  cl_int error = s->cl->EnqueueWriteBuffer(s->queue, (cl_mem)to, CL_TRUE, offset, bytes, from, 0, NULL, NULL);
  return error == CL_SUCCESS ? GRAZE_OK : failed(gpu, "clEnqueueWriteBuffer", error);
}

static graze_status read_memory(graze_gpu *gpu, void *to, uintptr_t from, size_t offset, size_t bytes) {
  opencl *s = gpu->state;
  cl_int error = s->cl->EnqueueReadBuffer(s->queue, (cl_mem)from, CL_TRUE, offset, bytes, to, 0, NULL, NULL);
  return error == CL_SUCCESS ? GRAZE_OK : failed(gpu, "clEnqueueReadBuffer", error);
}

/* ---- modules --------------------------------------------------------------------------------------------------- */

/* The head of the compiler's log is what tells most. */
static graze_status build_failed(graze_gpu *gpu, cl_program program, const char *name, cl_int error) {
  opencl *s = gpu->state;
  char call[64];
  size_t size = 0;
  snprintf(call, sizeof call, "clBuildProgram of %s", name);
  s->cl->GetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = gz_memory_alloc(gpu->context, size);
  if (log == NULL ||
      s->cl->GetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS) {
    gz_memory_release(gpu->context, log, size);
    return failed(gpu, call, error);
  }
  graze_status status = gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, call, log);
  gz_memory_release(gpu->context, log, size);
  return status;
}

static graze_status build(graze_gpu *gpu, const gpu_source *source, const void *kept, size_t size, void **module) {
  opencl *s = gpu->state;
  cl_int error, state = CL_SUCCESS;
  const unsigned char *code = kept;
  cl_program program =
      kept != NULL
          ? s->cl->CreateProgramWithBinary(s->context, 1, &s->device, &size, &code, &state, &error)
          : s->cl->CreateProgramWithSource(s->context, 1, (const char *[]){source->text}, &source->size, &error);
  *module = NULL;
  if (kept != NULL && (error != CL_SUCCESS || state != CL_SUCCESS)) {
    if (error == CL_SUCCESS) s->cl->ReleaseProgram(program);
    return GRAZE_OK;
  }
  if (error != CL_SUCCESS) return failed(gpu, "clCreateProgramWithSource", error);
  error = s->cl->BuildProgram(program, 1, &s->device, "-cl-std=CL1.2", NULL, NULL);
  graze_status status = GRAZE_OK;
  if (error != CL_SUCCESS && kept == NULL) status = build_failed(gpu, program, source->name, error);
  opencl_module *made = error == CL_SUCCESS ? gz_memory_alloc(gpu->context, sizeof *made) : NULL;
  if (made == NULL) {
    s->cl->ReleaseProgram(program);
    return error == CL_SUCCESS ? gz_fail_memory(gpu->context, sizeof *made) : status;
  }
  *made = (opencl_module){.program = program};
  *module = made;
  return GRAZE_OK;
}

static void *code_of(graze_gpu *gpu, void *module, size_t *size) {
  opencl *s = gpu->state;
  cl_program program = ((opencl_module *)module)->program;
  if (s->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != CL_SUCCESS) return NULL;
  unsigned char *code = gz_memory_alloc(gpu->context, *size);
  if (code == NULL) return NULL;
  if (s->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof code, &code, NULL) == CL_SUCCESS) return code;
  gz_memory_release(gpu->context, code, *size);
  return NULL;
}

static void drop(graze_gpu *gpu, void *module) {
  opencl *s = gpu->state;
  opencl_module *m = module;
  for (uint32_t i = 0; i < m->count; i++) s->cl->ReleaseKernel(m->kernels[i]);
  s->cl->ReleaseProgram(m->program);
  gz_memory_release(gpu->context, m, sizeof *m);
}

static graze_status get_kernel(graze_gpu *gpu, void *module, const char *name, gpu_kernel *kernel) {
  opencl *s = gpu->state;
  opencl_module *m = module;
  char call[64];
  size_t group[3];
  cl_int error;
  snprintf(call, sizeof call, "clCreateKernel of %s", name);
  if (m->count == sizeof m->kernels / sizeof *m->kernels) {
    return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, call, "too many kernels in a module");
  }
  cl_kernel made = s->cl->CreateKernel(m->program, name, &error);
  if (error != CL_SUCCESS) return failed(gpu, call, error);
  m->kernels[m->count++] = made;
  error = s->cl->GetKernelWorkGroupInfo(made, s->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group, NULL);
  if (error != CL_SUCCESS) return failed(gpu, "clGetKernelWorkGroupInfo", error);
  *kernel = (gpu_kernel){made, (uint32_t)group[0]};
  return GRAZE_OK;
}

/* ---- the queue ------------------------------------------------------------------------------------------------- */

static graze_status launch(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                           uint32_t count) {
  opencl *s = gpu->state;
  cl_kernel handle = kernel->handle;
  for (uint32_t i = 0; i < count; i++) {
    cl_mem memory = arguments[i].buffer != NULL ? (cl_mem)arguments[i].buffer->memory : NULL;
    cl_int error = arguments[i].buffer != NULL ? s->cl->SetKernelArg(handle, i, sizeof memory, &memory)
                                               : s->cl->SetKernelArg(handle, i, arguments[i].bytes, arguments[i].value);
    if (error != CL_SUCCESS) return failed(gpu, "clSetKernelArg", error);
  }
  size_t local = kernel->group, global = (size_t)groups * local;
  cl_int error = s->cl->EnqueueNDRangeKernel(s->queue, handle, 1, NULL, &global, &local, 0, NULL, NULL);
  return error == CL_SUCCESS ? GRAZE_OK : failed(gpu, "clEnqueueNDRangeKernel", error);
}

static graze_status finish(graze_gpu *gpu) {
  opencl *s = gpu->state;
  cl_int error = s->cl->Finish(s->queue);
  return error == CL_SUCCESS ? GRAZE_OK : failed(gpu, "clFinish", error);
}

static graze_status mark(graze_gpu *gpu, void **out) {
  opencl *s = gpu->state;
  cl_event event;
  cl_int error = s->cl->EnqueueMarkerWithWaitList(s->queue, 0, NULL, &event);
  if (error != CL_SUCCESS) return failed(gpu, "clEnqueueMarkerWithWaitList", error);
  *out = event;
  return GRAZE_OK;
}

static graze_status between(graze_gpu *gpu, void *first, void *second, double *seconds) {
  opencl *s = gpu->state;
  cl_event events[] = {first, second};
  cl_ulong times[2] = {0, 0};
  cl_int error = s->cl->WaitForEvents(2, events);
  for (int i = 0; i < 2 && error == CL_SUCCESS; i++) {
    error = s->cl->GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof times[i], &times[i], NULL);
  }
  for (int i = 0; i < 2; i++) s->cl->ReleaseEvent(events[i]);
  if (error != CL_SUCCESS) return failed(gpu, "clGetEventProfilingInfo", error);
  *seconds = 1e-9 * (double)(times[1] - times[0]);
  return GRAZE_OK;
}

const gpu_backend gz_gpu_opencl = {.name = "opencl",
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
