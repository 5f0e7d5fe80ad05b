/* The functions of the stand-in for NVIDIA's driver, as its documentation has them (CUDA Driver API, reference manual,
 * and there "API synchronization behavior"). Why it is written: stand_in.h. */
#include "driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DEVICES = 16, DEEPEST = 16, SHARED_MOST = 48 << 10, VERSION = 12040 };

static const char *const function_names[] = {
#define NAME(name, function, parameters) #function,
    CU_FUNCTIONS(NAME)
#undef NAME
        NULL};

driver the = {.devices = 1, .capability = 90, .limit = (size_t)4 << 30};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t counts[FUNCTIONS], fail_at[FUNCTIONS];
static cu_result fail_with[FUNCTIONS];
static uint32_t misuses;
static char last_misuse[256];
static _Thread_local cu_context stack[DEEPEST];
static _Thread_local int depth;

void misuse(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(last_misuse, sizeof last_misuse, format, list);
  va_end(list);
  misuses++;
  fprintf(stderr, "stand-in for libcuda: misuse: %s\n", last_misuse);
}

/* ---- contexts -------------------------------------------------------------------------------------------------- */

/* What the driver has for a context that is lost: nothing works in it from then on. */
static bool loses(cu_result code) {
  return code == 214 || code == ILLEGAL_ADDRESS || code == 702 ||
         (code >= CONTEXT_IS_DESTROYED && code <= LAUNCH_FAILED);
}

void lose_context(cu_context context, cu_result code) {
  if (context->lost == 0) context->lost = code;
  if (the.doomed) the.doom = code;
  drop_commands(context);
}

static void end_objects(cu_context context, kind what, uint32_t *left) {
  for (object *o = first_object(what), *next; o != NULL; o = next) {
    next = o->next;
    if (o->context != context) continue;
    if (what != FUNCTION) (*left)++;
    destroy_object(o);
  }
}

void end_context(cu_context context, const char *why) {
  uint32_t left = 0;
  for (const object *o = first_object(STREAM); o != NULL; o = o->next) {
    if (o->context == context && is_pending((const struct CUstream_st *)o))
      misuse("a context ends with work in a stream");
  }
  drop_commands(context);
  for (kind what = STREAM; what < KINDS; what++) end_objects(context, what, &left);
  left += drop_memory(context);
  if (left > 0 && why == NULL && context->lost == 0 && !context->excused) {
    misuse("a context ends with %u things that were not released", left);
  }
  the.primary[context->device] = NULL;
  destroy_object(&context->head);
}

static cu_context current(void) {
  return depth > 0 ? stack[depth - 1] : NULL;
}

/* ---- every call ------------------------------------------------------------------------------------------------ */

static bool releases(int number) {
  return number == AT_MemFree || number == AT_MemFreeHost || number == AT_ModuleUnload || number == AT_StreamDestroy ||
         number == AT_EventDestroy || number == AT_CtxPopCurrent || number == AT_PrimaryCtxRelease;
}

static bool waits(int number) {
  return number == AT_StreamSynchronize || number == AT_EventSynchronize;
}

static bool needs_context(int number) {
  return number >= AT_StreamCreate;
}

/* The fault that was asked for; 0: none. */
static cu_result fault_of(int number) {
  if (fail_at[number] == 0 || counts[number] != fail_at[number]) return 0;
  cu_result code = fail_with[number];
  if (current() != NULL && (loses(code) || waits(number))) lose_context(current(), code);
  if (number == AT_CtxPushCurrent) {
    for (object *o = first_object(CONTEXT); o != NULL; o = o->next) ((cu_context)o)->excused = true;
  }
  return code;
}

/* Holds the lock from here to leave_call, and says why the call is not to be done. */
static cu_result enter_call(int number) {
  pthread_mutex_lock(&lock);
  counts[number]++;
  if (the.initialised) go_on();
  cu_result fault = fault_of(number);
  if (fault != 0 && !releases(number)) return fault;
  if (number == AT_Init || number == AT_GetErrorString || number == AT_DriverGetVersion) return 0;
  if (!the.initialised) {
    misuse("%s before cuInit", function_names[number]);
    return NOT_INITIALIZED;
  }
  if (!needs_context(number)) return 0;
  if (current() == NULL) {
    misuse("%s without a current context", function_names[number]);
    return INVALID_CONTEXT;
  }
  cu_context context = find_object(CONTEXT, current(), function_names[number]);
  if (context == NULL) return CONTEXT_IS_DESTROYED;
  return context->lost;
}

static cu_result leave_call(int number, cu_result result) {
  if (fail_at[number] != 0 && counts[number] == fail_at[number] && releases(number)) result = fail_with[number];
  pthread_mutex_unlock(&lock);
  return result;
}

/* A function is CALL(name, what it does when nothing is in the way). */
#define CALL(name, done)                    \
  cu_result result = enter_call(AT_##name); \
  if (result == 0) result = done;           \
  return leave_call(AT_##name, result)

/* NULL for a handle that is none, or of another context than the current one. */
static void *own(kind what, const void *handle, int number) {
  object *o = find_object(what, handle, function_names[number]);
  if (o == NULL || o->context == current()) return o;
  misuse("%s: of another context than the current one", function_names[number]);
  return NULL;
}

static cu_result need(const void *pointer, int number) {
  if (pointer == NULL) misuse("%s: NULL for a result", function_names[number]);
  return pointer != NULL ? 0 : INVALID_VALUE;
}

/* ---- devices --------------------------------------------------------------------------------------------------- */

static cu_result init(unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  if (the.devices == 0) return NO_DEVICE;
  the.initialised = true;
  return 0;
}

cu_result cuInit(unsigned flags) {
  CALL(Init, init(flags));
}

static cu_result error_string(cu_result error, const char **text) {
  static const struct {
    cu_result error;
    const char *text;
  } texts[] = {{0, "no error"},
               {INVALID_VALUE, "invalid argument"},
               {OUT_OF_MEMORY, "out of memory"},
               {NOT_INITIALIZED, "initialization error"},
               {NO_DEVICE, "no CUDA-capable device is detected"},
               {INVALID_DEVICE, "invalid device ordinal"},
               {INVALID_IMAGE, "device kernel image is invalid"},
               {INVALID_CONTEXT, "invalid device context"},
               {INVALID_PTX, "a PTX JIT compilation failed"},
               {INVALID_HANDLE, "invalid resource handle"},
               {NOT_FOUND, "named symbol not found"},
               {NOT_READY, "device not ready"},
               {ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
               {CONTEXT_IS_DESTROYED, "context is destroyed"},
               {LAUNCH_FAILED, "unspecified launch failure"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (texts[i].error != error) continue;
    *text = texts[i].text;
    return 0;
  }
  *text = NULL;
  return INVALID_VALUE;
}

cu_result cuGetErrorString(cu_result error, const char **text) {
  CALL(GetErrorString, error_string(error, text));
}

static cu_result give(int *to, int value, int number) {
  if (to != NULL) *to = value;
  return need(to, number);
}

cu_result cuDriverGetVersion(int *version) {
  CALL(DriverGetVersion, give(version, VERSION, AT_DriverGetVersion));
}

cu_result cuDeviceGetCount(int *count) {
  CALL(DeviceGetCount, give(count, the.devices, AT_DeviceGetCount));
}
static bool is_device(int device) {
  return device >= 0 && device < the.devices;
}

cu_result cuDeviceGet(cu_device *device, int number) {
  CALL(DeviceGet, is_device(number) ? give(device, number, AT_DeviceGet) : INVALID_DEVICE);
}

static cu_result device_name(char *name, int room, cu_device device) {
  if (name == NULL || room <= 0) return INVALID_VALUE;
  if (!is_device(device)) return INVALID_DEVICE;
  snprintf(name, (size_t)room, "kernels as C, device %d", device);
  return 0;
}

cu_result cuDeviceGetName(char *name, int room, cu_device device) {
  CALL(DeviceGetName, device_name(name, room, device));
}

static cu_result device_attribute(int *value, unsigned attribute, cu_device device) {
  if (!is_device(device)) return INVALID_DEVICE;
  switch (attribute) {
    case CU_THREADS_OF_BLOCK:
      return give(value, HOST_GROUP_MOST, AT_DeviceGetAttribute);
    case CU_SHARED_BYTES:
      return give(value, SHARED_MOST, AT_DeviceGetAttribute);
    case CU_MULTIPROCESSORS:
      return give(value, 1, AT_DeviceGetAttribute);
    case CU_CAPABILITY_MAJOR:
      return give(value, the.capability / 10, AT_DeviceGetAttribute);
    case CU_CAPABILITY_MINOR:
      return give(value, the.capability % 10, AT_DeviceGetAttribute);
    default:
      misuse("cuDeviceGetAttribute: attribute %u is not known here", attribute);
      return INVALID_VALUE;
  }
}

cu_result cuDeviceGetAttribute(int *value, unsigned attribute, cu_device device) {
  CALL(DeviceGetAttribute, device_attribute(value, attribute, device));
}

static cu_result device_memory(size_t *bytes, cu_device device) {
  if (!is_device(device)) return INVALID_DEVICE;
  if (bytes != NULL) *bytes = the.limit;
  return need(bytes, AT_DeviceTotalMem);
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device) {
  CALL(DeviceTotalMem, device_memory(bytes, device));
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static cu_result retain(cu_context *context, cu_device device) {
  if (need(context, AT_PrimaryCtxRetain) != 0) return INVALID_VALUE;
  if (!is_device(device)) return INVALID_DEVICE;
  if (the.doom != 0) return the.doom;
  if (the.primary[device] == NULL) {
    cu_context made = make_object(CONTEXT, sizeof *made, NULL);
    if (made == NULL) return OUT_OF_MEMORY;
    made->device = device;
    the.primary[device] = made;
  }
  the.primary[device]->retained++;
  *context = the.primary[device];
  return 0;
}

static cu_result release(cu_device device) {
  if (!is_device(device)) return INVALID_DEVICE;
  cu_context context = the.primary[device];
  if (context == NULL) return INVALID_CONTEXT; /* also when somebody has reset it */
  cu_result lost = context->lost;
  if (--context->retained == 0) end_context(context, NULL);
  return lost;
}

static cu_result push(cu_context context) {
  if (context == NULL || depth == DEEPEST) return INVALID_CONTEXT;
  bool there = false;
  for (const object *o = first_object(CONTEXT); o != NULL; o = o->next) there |= o == &context->head;
  if (!there) return CONTEXT_IS_DESTROYED;
  stack[depth++] = context;
  the.pushed++;
  return 0;
}

static cu_result pop(cu_context *context) {
  if (depth == 0) {
    misuse("cuCtxPopCurrent: none is current");
    return INVALID_CONTEXT;
  }
  if (context != NULL) *context = stack[depth - 1];
  depth--;
  the.pushed--;
  return 0;
}

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device) {
  CALL(PrimaryCtxRetain, retain(context, device));
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device) {
  CALL(PrimaryCtxRelease, release(device));
}

cu_result cuCtxPushCurrent_v2(cu_context context) {
  CALL(CtxPushCurrent, push(context));
}

cu_result cuCtxPopCurrent_v2(cu_context *context) {
  CALL(CtxPopCurrent, pop(context));
}

/* ---- streams and events ------------------------------------------------------------------------------------------ */

static cu_result create(kind what, size_t size, void **made, int number) {
  if (need(made, number) != 0) return INVALID_VALUE;
  *made = make_object(what, size, current());
  return *made != NULL ? 0 : OUT_OF_MEMORY;
}

/* What is still in it is done, as the driver promises. */
static cu_result destroy_stream(cu_stream stream) {
  cu_stream s = own(STREAM, stream, AT_StreamDestroy);
  if (s == NULL) return INVALID_HANDLE;
  cu_result result = drain(s, NULL);
  destroy_object(&s->head);
  return result;
}

static cu_result synchronize(cu_stream stream) {
  cu_stream s = own(STREAM, stream, AT_StreamSynchronize);
  return s != NULL ? drain(s, NULL) : INVALID_HANDLE;
}

cu_result cuStreamCreate(cu_stream *stream, unsigned flags) {
  CALL(StreamCreate, flags > CU_STREAM_NOT_BLOCKING
                         ? INVALID_VALUE
                         : create(STREAM, sizeof **stream, (void **)(void *)stream, AT_StreamCreate));
}

cu_result cuStreamDestroy_v2(cu_stream stream) {
  CALL(StreamDestroy, destroy_stream(stream));
}

cu_result cuStreamSynchronize(cu_stream stream) {
  CALL(StreamSynchronize, synchronize(stream));
}

static cu_result record(cu_event event, cu_stream stream) {
  cu_event e = own(EVENT, event, AT_EventRecord);
  cu_stream s = own(STREAM, stream, AT_EventRecord);
  return e != NULL && s != NULL ? queue_event(s, e) : INVALID_HANDLE;
}

static cu_result await_event(cu_event event) {
  cu_event e = own(EVENT, event, AT_EventSynchronize);
  if (e == NULL) return INVALID_HANDLE;
  return e->done < e->asked ? drain(e->stream, e) : 0;
}

static cu_result elapsed(float *milliseconds, cu_event first, cu_event second) {
  const struct CUevent_st *a = own(EVENT, first, AT_EventElapsedTime), *b = own(EVENT, second, AT_EventElapsedTime);
  if (need(milliseconds, AT_EventElapsedTime) != 0) return INVALID_VALUE;
  if (a == NULL || b == NULL) return INVALID_HANDLE;
  if (a->asked == 0 || b->asked == 0) return INVALID_HANDLE;
  if (a->done < a->asked || b->done < b->asked) return NOT_READY;
  *milliseconds = 1e3f * (float)(b->at.tv_sec - a->at.tv_sec) + 1e-6f * (float)(b->at.tv_nsec - a->at.tv_nsec);
  return 0;
}

static cu_result destroy(kind what, void *handle, int number) {
  object *o = own(what, handle, number);
  if (o == NULL) return INVALID_HANDLE;
  destroy_object(o);
  return 0;
}

cu_result cuEventCreate(cu_event *event, unsigned flags) {
  CALL(EventCreate, flags > 3 ? INVALID_VALUE : create(EVENT, sizeof **event, (void **)(void *)event, AT_EventCreate));
}

cu_result cuEventRecord(cu_event event, cu_stream stream) {
  CALL(EventRecord, record(event, stream));
}

cu_result cuEventSynchronize(cu_event event) {
  CALL(EventSynchronize, await_event(event));
}

cu_result cuEventElapsedTime(float *milliseconds, cu_event first, cu_event second) {
  CALL(EventElapsedTime, elapsed(milliseconds, first, second));
}

cu_result cuEventDestroy_v2(cu_event event) {
  CALL(EventDestroy, destroy(EVENT, event, AT_EventDestroy));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static cu_result allocate(cu_memory *memory, size_t bytes) {
  if (need(memory, AT_MemAlloc) != 0) return INVALID_VALUE;
  if (bytes > 0) return make_buffer(current(), bytes, memory);
  misuse("cuMemAlloc of 0 bytes");
  return INVALID_VALUE;
}

static cu_result allocate_pinned(void **memory, size_t bytes, unsigned flags) {
  if (need(memory, AT_MemHostAlloc) != 0 || flags > 7 || bytes == 0) return INVALID_VALUE;
  return make_pinned(current(), bytes, memory);
}

static cu_result copy(cu_memory memory, const void *from, void *to, size_t bytes, cu_stream stream, int number) {
  cu_stream s = own(STREAM, stream, number);
  if (s == NULL) return INVALID_HANDLE;
  if (from == NULL && to == NULL) return need(NULL, number);
  return queue_copy(s, memory, from, to, bytes);
}

cu_result cuMemAlloc_v2(cu_memory *memory, size_t bytes) {
  CALL(MemAlloc, allocate(memory, bytes));
}

cu_result cuMemFree_v2(cu_memory memory) {
  CALL(MemFree, free_buffer(memory));
}

cu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  CALL(MemHostAlloc, allocate_pinned(memory, bytes, flags));
}

cu_result cuMemFreeHost(void *memory) {
  CALL(MemFreeHost, free_pinned(memory));
}

cu_result cuMemcpyHtoDAsync_v2(cu_memory to, const void *from, size_t bytes, cu_stream stream) {
  CALL(MemcpyHtoD, copy(to, from, NULL, bytes, stream, AT_MemcpyHtoD));
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_memory from, size_t bytes, cu_stream stream) {
  CALL(MemcpyDtoH, copy(from, NULL, to, bytes, stream, AT_MemcpyDtoH));
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static cu_result load_module(cu_module *module, const void *image) {
  const host_module *code;
  bool guessed;
  if (module == NULL || image == NULL) return need(NULL, AT_ModuleLoadData);
  cu_result result = load_image(image, the.capability, &code, &guessed);
  if (result != 0) return result;
  result = create(MODULE, sizeof **module, (void **)(void *)module, AT_ModuleLoadData);
  if (result != 0) return result;
  (*module)->code = code;
  (*module)->guessed = guessed;
  return 0;
}

static cu_result unload(cu_module module) {
  cu_module m = own(MODULE, module, AT_ModuleUnload);
  if (m == NULL) return INVALID_HANDLE;
  if (is_module_pending(m)) misuse("cuModuleUnload of %s, whose kernels are still to run", m->code->name);
  for (object *o = first_object(FUNCTION), *next; o != NULL; o = next) {
    next = o->next;
    if (((cu_function)o)->module == m) destroy_object(o);
  }
  destroy_object(&m->head);
  return 0;
}

static cu_result get_function(cu_function *function, cu_module module, const char *name) {
  cu_module m = own(MODULE, module, AT_ModuleGetFunction);
  if (function == NULL || name == NULL) return need(NULL, AT_ModuleGetFunction);
  if (m == NULL) return INVALID_HANDLE;
  const host_kernel *kernel = host_find_kernel(m->code, name);
  if (kernel == NULL) return NOT_FOUND;
  cu_result result = create(FUNCTION, sizeof **function, (void **)(void *)function, AT_ModuleGetFunction);
  if (result != 0) return result;
  (*function)->module = m;
  (*function)->kernel = kernel;
  return 0;
}

static cu_result function_attribute(int *value, unsigned attribute, cu_function function) {
  const struct CUfunc_st *f = own(FUNCTION, function, AT_FuncGetAttribute);
  if (f == NULL) return INVALID_HANDLE;
  if (attribute == CU_FUNCTION_THREADS) return give(value, (int)f->kernel->group, AT_FuncGetAttribute);
  misuse("cuFuncGetAttribute: attribute %u is not known here", attribute);
  return INVALID_VALUE;
}

static cu_result launch(cu_function function, const unsigned grid[3], const unsigned block[3], unsigned shared,
                        cu_stream stream, void **arguments, void **extra) {
  cu_function f = own(FUNCTION, function, AT_LaunchKernel);
  cu_stream s = own(STREAM, stream, AT_LaunchKernel);
  if (f == NULL || s == NULL) return INVALID_HANDLE;
  const host_kernel *k = f->kernel;
  if (f->module->guessed) misuse("%s: of which module is not known", k->name);
  bool flat = grid[1] == 1 && grid[2] == 1 && block[1] == 1 && block[2] == 1;
  if (!flat || grid[0] == 0 || grid[0] > 0x7FFFFFFF || block[0] != k->group || shared > SHARED_MOST || extra != NULL) {
    misuse("%s: %u x %u x %u groups of %u x %u x %u, not of %u, %u bytes shared", k->name, grid[0], grid[1], grid[2],
           block[0], block[1], block[2], k->group, shared);
    return INVALID_VALUE;
  }
  return queue_launch(s, f, grid[0], arguments);
}

cu_result cuModuleLoadData(cu_module *module, const void *image) {
  CALL(ModuleLoadData, load_module(module, image));
}

cu_result cuModuleUnload(cu_module module) {
  CALL(ModuleUnload, unload(module));
}

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name) {
  CALL(ModuleGetFunction, get_function(function, module, name));
}

cu_result cuFuncGetAttribute(int *value, unsigned attribute, cu_function function) {
  CALL(FuncGetAttribute, function_attribute(value, attribute, function));
}

cu_result cuLaunchKernel(cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz, unsigned shared, cu_stream stream, void **arguments, void **extra) {
  CALL(LaunchKernel, launch(function, (const unsigned[]){gx, gy, gz}, (const unsigned[]){bx, by, bz}, shared, stream,
                            arguments, extra));
}

/* ---- how tests steer it ------------------------------------------------------------------------------------------ */

static int number_of(const char *function) {
  int i = 0;
  while (i < FUNCTIONS && strcmp(function_names[i], function) != 0) i++;
  if (i == FUNCTIONS) {
    fprintf(stderr, "stand-in for libcuda: there is no function %s\n", function);
    abort();
  }
  return i;
}

static void control_order(const char *name) {
  the.order = strncmp(name, "early", 5) == 0 ? EARLY : strncmp(name, "random", 6) == 0 ? RANDOM : LATE;
  the.items = the.order == RANDOM ? HOST_RANDOM : HOST_FORWARD;
  host_runner_destroy(the.runner);
  the.runner = NULL;
}

static void control_reset(void) {
  pthread_mutex_lock(&lock);
  memset(counts, 0, sizeof counts);
  memset(fail_at, 0, sizeof fail_at);
  misuses = 0;
  last_misuse[0] = 0;
  the.limit = (size_t)4 << 30;
  the.devices = 1;
  the.capability = 90;
  the.commands = the.lose_at = 0;
  the.doomed = false;
  the.doom = 0;
  pthread_mutex_unlock(&lock);
}

static stand_in_state control_state(void) {
  pthread_mutex_lock(&lock);
  stand_in_state state = {.contexts = count_objects(CONTEXT),
                          .streams = count_objects(STREAM),
                          .modules = count_objects(MODULE),
                          .events = count_objects(EVENT),
                          .buffers = the.buffers,
                          .pinned = the.pinned,
                          .pushed = (uint32_t)the.pushed,
                          .bytes = the.used,
                          .commands = the.commands,
                          .misuse = misuses};
  memcpy(state.last, last_misuse, sizeof state.last);
  pthread_mutex_unlock(&lock);
  return state;
}

static const char *control_function(uint32_t number) {
  return number < FUNCTIONS ? function_names[number] : NULL;
}

static uint64_t control_calls(const char *function) {
  return counts[number_of(function)];
}

static void control_fail(const char *function, uint64_t call, unsigned code) {
  int number = number_of(function);
  fail_at[number] = call;
  fail_with[number] = code;
}

static void control_lose(uint64_t number, unsigned code) {
  the.lose_at = number;
  the.lose_code = code;
}

static void control_doom(int doomed) {
  the.doomed = doomed != 0;
}

static void control_limit(size_t bytes) {
  the.limit = bytes;
}

static void control_devices(int count, int capability) {
  the.devices = count < MOST_DEVICES ? count : MOST_DEVICES;
  the.capability = capability;
}

static void control_reset_device(int device) {
  pthread_mutex_lock(&lock);
  if (the.primary[device] != NULL) end_context(the.primary[device], "reset");
  pthread_mutex_unlock(&lock);
}

EXPORTED const stand_in *stand_in_control(void);

const stand_in *stand_in_control(void) {
  static const stand_in control = {control_reset,   control_state,        control_function, control_calls,
                                   control_fail,    control_lose,         control_doom,     control_limit,
                                   control_devices, control_reset_device, control_order};
  return &control;
}

/* "random,fail=cuMemAlloc_v2:3:2" */
__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("GRAZE_STAND_IN"), *fail = wanted != NULL ? strstr(wanted, "fail=") : NULL;
  char function[64];
  unsigned long long call;
  unsigned code;
  if (wanted != NULL) control_order(wanted);
  if (fail == NULL) return;
  if (sscanf(fail, "fail=%63[^:]:%llu:%u", function, &call, &code) == 3) control_fail(function, call, code);
}

/* What the process leaves behind is misuse too. */
__attribute__((destructor)) static void end(void) {
  stand_in_state state = control_state();
  host_runner_destroy(the.runner);
  the.runner = NULL;
  if (state.contexts > 0) misuse("the process ends with %u contexts that were not released", state.contexts);
  if (state.pushed > 0) misuse("the process ends with %u contexts current", state.pushed);
  if (misuses == 0) return;
  fflush(NULL);
  _exit(STAND_IN_STATUS);
}
