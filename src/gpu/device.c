/* The device layer: what is common to all back ends. Names of devices, buffers that grow, modules that are compiled
 * when they are first asked for, and what happens when a call of the driver fails. */
#include "gpu/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/disable.h"

enum { MOST_DEVICES = 32, API_COUNT = 2, KERNELS_OF_MODULE = 16 };

static const gpu_backend *const backends[API_COUNT] = {
    [GRAZE_GPU_OPENCL] = &gz_gpu_opencl, [GRAZE_GPU_CUDA] = &gz_gpu_cuda};

/* A module with the kernels that were asked for; `handle` NULL: not compiled. */
struct gpu_module {
  void *handle;
  const char *names[KERNELS_OF_MODULE];
  gpu_kernel kernels[KERNELS_OF_MODULE];
  uint32_t count;
};

/* ---- what there is --------------------------------------------------------------------------------------------- */

static uint32_t list_api(const gpu_backend *backend, graze_gpu_info *list, uint32_t room, char why[128]) {
  if (is_disabled(backend->name)) {
    snprintf(why, 128, "GRAZE_DISABLE switches it off");
    return 0;
  }
  uint32_t count = backend->list(list, room, why);
  return count < room ? count : room;
}

/* `reasons` gets why an API has no device; "" when it has. */
static uint32_t list_all(graze_gpu_info list[MOST_DEVICES], char reasons[API_COUNT][128]) {
  uint32_t count = 0;
  for (int api = 0; api < API_COUNT; api++) {
    reasons[api][0] = 0;
    uint32_t more = list_api(backends[api], list + count, MOST_DEVICES - count, reasons[api]);
    for (uint32_t i = 0; i < more; i++) {
      graze_gpu_info *info = &list[count + i];
      info->api = (graze_gpu_api)api;
      info->number = i;
      snprintf(info->id, sizeof info->id, "%s:%u", backends[api]->name, i);
    }
    if (more > 0) reasons[api][0] = 0;
    count += more;
  }
  return count;
}

graze_status graze_gpu_list(const graze_context *context, graze_gpu_info **list, uint32_t *count) {
  if (context == NULL || list == NULL || count == NULL) return gz_fail_null(context);
  graze_gpu_info found[MOST_DEVICES];
  char reasons[API_COUNT][128];
  uint32_t n = list_all(found, reasons);
  graze_gpu_info *copy = NULL;
  if (n > 0) {
    copy = gz_memory_alloc(context, n * sizeof *copy);
    if (copy == NULL) return gz_fail_memory(context, n * sizeof *copy);
    memcpy(copy, found, n * sizeof *copy);
  }
  *list = copy;
  *count = n;
  return GRAZE_OK;
}

void graze_gpu_list_free(const graze_context *context, graze_gpu_info *list, uint32_t count) {
  if (list != NULL) gz_memory_release(context, list, count * sizeof *list);
}

/* ---- a device -------------------------------------------------------------------------------------------------- */

/* The API of a device's name; API_COUNT: it is none. */
static int api_of(const char *name) {
  for (int api = 0; api < API_COUNT; api++) {
    size_t length = strlen(backends[api]->name);
    const char *digits = name + length + 1;
    if (strncmp(name, backends[api]->name, length) != 0 || name[length] != ':') continue;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && n < 6 && digits[n] == 0 ? api : API_COUNT;
  }
  return API_COUNT;
}

static graze_status find_device(const graze_context *context, const char *name, graze_gpu_info *found) {
  static const char *const names[API_COUNT] = {[GRAZE_GPU_OPENCL] = "OpenCL", [GRAZE_GPU_CUDA] = "CUDA"};
  graze_gpu_info list[MOST_DEVICES];
  char reasons[API_COUNT][128];
  int api = name != NULL ? api_of(name) : 0;
  if (api == API_COUNT) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "device \"%s\": devices are called opencl:N and cuda:N", name);
  }
  uint32_t count = list_all(list, reasons), chosen = UINT32_MAX;
  for (uint32_t i = 0; i < count; i++) {
    bool better = chosen == UINT32_MAX || (list[i].api == GRAZE_GPU_CUDA && list[chosen].api != GRAZE_GPU_CUDA);
    if (name != NULL ? strcmp(list[i].id, name) == 0 : better) chosen = i;
  }
  if (chosen != UINT32_MAX) {
    *found = list[chosen];
    return GRAZE_OK;
  }
  if (name == NULL) {
    return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "no device: no %s: %s; no %s: %s", names[0], reasons[0], names[1],
                   reasons[1]);
  }
  if (reasons[api][0] != 0) return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "no %s: %s", names[api], reasons[api]);
  return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "no device %s; there are %u, from %s on", name, count, list[0].id);
}

static void drop_modules(graze_gpu *gpu) {
  for (uint32_t i = 0; i < gz_gpu_source_count; i++) {
    if (gpu->modules[i].handle != NULL) gpu->backend->drop(gpu, gpu->modules[i].handle);
    gpu->modules[i] = (gpu_module){0};
  }
}

/* Shuffles are used where they were seen to be right. Where they are not, or where the driver fails with them, the
 * device is opened afresh without: a failure may have spoilt what it has in hand. */
static graze_status choose_scans(graze_gpu *gpu) {
  bool right = false;
  gpu->shuffle = gpu->backend->shuffles;
  if (!gpu->shuffle || (gz_gpu_test_scans(gpu, &right) == GRAZE_OK && right)) return GRAZE_OK;
  if (gpu->context->log != NULL) {
    char line[256];
    snprintf(line, sizeof line, "%s (%s): shuffles failed their test; kernels do without", gpu->info.id,
             gpu->info.name);
    gpu->context->log(gpu->context->log_user, GRAZE_LOG_WARNING, line);
  }
  drop_modules(gpu);
  gpu->backend->close(gpu);
  gpu->shuffle = false;
  gpu->lost = false;
  return gpu->backend->open(gpu, gpu->info.number);
}

graze_status gz_gpu_open(graze_context *context, const gpu_backend *backend, const graze_gpu_info *info,
                         graze_gpu **gpu) {
  graze_gpu *made = gz_memory_alloc(context, sizeof *made);
  gpu_module *modules = gz_memory_alloc(context, gz_gpu_source_count * sizeof *modules);
  if (made == NULL || modules == NULL) {
    gz_memory_release(context, made, sizeof *made);
    gz_memory_release(context, modules, gz_gpu_source_count * sizeof *modules);
    return gz_fail_memory(context, sizeof *made);
  }
  memset(modules, 0, gz_gpu_source_count * sizeof *modules);
  *made = (graze_gpu){.context = context, .processor = *context, .backend = backend, .info = *info, .modules = modules};
  made->processor.engine = NULL;
  graze_status status = backend->open(made, info->number);
  if (status == GRAZE_OK) status = choose_scans(made);
  if (status == GRAZE_OK) status = gz_gpu_test_arithmetic(made);
  if (status != GRAZE_OK) {
    graze_gpu_destroy(made);
    return status;
  }
  *gpu = made;
  return GRAZE_OK;
}

graze_status graze_gpu_create(graze_context *context, const char *device, graze_gpu **gpu) {
  if (context == NULL || gpu == NULL) return gz_fail_null(context);
  graze_gpu_info info = {0};
  graze_status status = find_device(context, device, &info);
  return status != GRAZE_OK ? status : gz_gpu_open(context, backends[info.api], &info, gpu);
}

void graze_gpu_destroy(graze_gpu *gpu) {
  if (gpu == NULL) return;
  graze_gpu_detach(gpu);
  if (gpu->state != NULL) drop_modules(gpu);
  if (gpu->state != NULL) gpu->backend->close(gpu);
  gz_memory_release(gpu->context, gpu->modules, gz_gpu_source_count * sizeof *gpu->modules);
  gz_memory_release(gpu->context, gpu, sizeof *gpu);
}

const graze_gpu_info *graze_gpu_get_info(const graze_gpu *gpu) {
  return &gpu->info;
}

graze_status gz_gpu_failed(graze_gpu *gpu, graze_status status, const char *call, const char *reason) {
  if (status != GRAZE_ERROR_MEMORY) gpu->lost = true;
  return gz_fail(gpu->context, status, "%s (%s): %s: %s", gpu->info.id, gpu->info.name, call, reason);
}

static graze_status check_alive(const graze_gpu *gpu) {
  if (!gpu->lost) return GRAZE_OK;
  return gz_fail(gpu->context, GRAZE_ERROR_DEVICE, "%s (%s): was lost", gpu->info.id, gpu->info.name);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

void gz_gpu_release(graze_gpu *gpu, gpu_buffer *room) {
  if (room->bytes > 0) gpu->backend->release(gpu, room->memory);
  gpu->bytes -= room->bytes;
  *room = (gpu_buffer){0, 0};
}

graze_status gz_gpu_reserve(graze_gpu *gpu, gpu_buffer *room, size_t bytes) {
  if (bytes <= room->bytes) return GRAZE_OK;
  graze_status status = check_alive(gpu);
  if (status != GRAZE_OK) return status;
  size_t grown = room->bytes + room->bytes / 2;
  if (grown < bytes) grown = bytes;
  gz_gpu_release(gpu, room);
  uintptr_t memory;
  status = gpu->backend->allocate(gpu, grown, &memory);
  if (status != GRAZE_OK) return status;
  *room = (gpu_buffer){memory, grown};
  gpu->bytes += grown;
  return GRAZE_OK;
}

graze_status gz_gpu_write(graze_gpu *gpu, const gpu_buffer *to, size_t offset, const void *from, size_t bytes) {
  graze_status status = check_alive(gpu);
  if (status != GRAZE_OK || bytes == 0) return status;
  return gpu->backend->write(gpu, to->memory, offset, from, bytes);
}

graze_status gz_gpu_read(graze_gpu *gpu, void *to, const gpu_buffer *from, size_t offset, size_t bytes) {
  graze_status status = check_alive(gpu);
  if (status != GRAZE_OK || bytes == 0) return status;
  return gpu->backend->read(gpu, to, from->memory, offset, bytes);
}

void gz_gpu_tell(const graze_gpu *gpu, graze_log_level level, const char *text) {
  char line[256];
  snprintf(line, sizeof line, "%s: %s", gpu->info.id, text);
  if (gpu->context->log != NULL) gpu->context->log(gpu->context->log_user, level, line);
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

static uint32_t find_source(const char *name) {
  uint32_t i = 0;
  while (i < gz_gpu_source_count && strcmp(gz_gpu_sources[i].name, name) != 0) i++;
  return i;
}

static graze_status compile(graze_gpu *gpu, const gpu_source *source, void **module) {
  size_t size;
  void *kept = gz_gpu_cache_read(gpu, source, &size);
  *module = NULL;
  if (kept != NULL) {
    graze_status status = gpu->backend->build(gpu, source, kept, size, module);
    gz_memory_release(gpu->context, kept, size);
    if (status != GRAZE_OK || *module != NULL) return status;
  }
  if (!atomic_exchange(&gpu->told_compiling, true))
    gz_gpu_tell(gpu, GRAZE_LOG_PROGRESS, "compiling kernels; they are kept for the next time");
  graze_status status = gpu->backend->build(gpu, source, NULL, 0, module);
  if (status != GRAZE_OK) return status;
  void *code = gpu->backend->code(gpu, *module, &size);
  if (code == NULL) return GRAZE_OK;
  gz_gpu_cache_write(gpu, source, code, size);
  gz_memory_release(gpu->context, code, size);
  return GRAZE_OK;
}

graze_status gz_gpu_module_kernel(graze_gpu *gpu, gpu_module *m, const char *name, gpu_kernel *kernel) {
  for (uint32_t i = 0; i < m->count; i++) {
    if (strcmp(m->names[i], name) != 0) continue;
    *kernel = m->kernels[i];
    return GRAZE_OK;
  }
  graze_status status = check_alive(gpu);
  if (status == GRAZE_OK) status = gpu->backend->kernel(gpu, m->handle, name, kernel);
  if (status != GRAZE_OK) return status;
  if (m->count < KERNELS_OF_MODULE) {
    m->names[m->count] = name;
    m->kernels[m->count++] = *kernel;
  }
  return GRAZE_OK;
}

graze_status gz_gpu_get_kernel(graze_gpu *gpu, const char *module, const char *name, gpu_kernel *kernel) {
  graze_status status = check_alive(gpu);
  if (status != GRAZE_OK) return status;
  uint32_t number = find_source(module);
  if (number == gz_gpu_source_count) return gz_fail(gpu->context, GRAZE_ERROR_ARGUMENT, "no kernels \"%s\"", module);
  gpu_module *m = &gpu->modules[number];
  if (m->handle == NULL) status = compile(gpu, &gz_gpu_sources[number], &m->handle);
  return status != GRAZE_OK ? status : gz_gpu_module_kernel(gpu, m, name, kernel);
}

graze_status gz_gpu_module_create(graze_gpu *gpu, const gpu_source *source, gpu_module **module) {
  graze_status status = check_alive(gpu);
  if (status != GRAZE_OK) return status;
  gpu_module *made = gz_memory_alloc(gpu->context, sizeof *made);
  if (made == NULL) return gz_fail_memory(gpu->context, sizeof *made);
  *made = (gpu_module){.count = 0};
  status = compile(gpu, source, &made->handle);
  if (status != GRAZE_OK) {
    gz_memory_release(gpu->context, made, sizeof *made);
    return status;
  }
  *module = made;
  return GRAZE_OK;
}

void gz_gpu_module_destroy(graze_gpu *gpu, gpu_module *module) {
  if (module == NULL) return;
  gpu->backend->drop(gpu, module->handle);
  gz_memory_release(gpu->context, module, sizeof *module);
}

graze_status gz_gpu_launch(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                           uint32_t count) {
  graze_status status = check_alive(gpu);
  if (status != GRAZE_OK || groups == 0) return status;
  return gpu->backend->launch(gpu, kernel, groups, arguments, count);
}

graze_status gz_gpu_run(graze_gpu *gpu, const char *module, const char *name, uint32_t groups,
                        const gpu_argument *arguments, uint32_t count) {
  gpu_kernel kernel;
  graze_status status = gz_gpu_get_kernel(gpu, module, name, &kernel);
  return status != GRAZE_OK ? status : gz_gpu_launch(gpu, &kernel, groups, arguments, count);
}

graze_status gz_gpu_finish(graze_gpu *gpu) {
  graze_status status = check_alive(gpu);
  return status != GRAZE_OK ? status : gpu->backend->finish(gpu);
}

graze_status gz_gpu_mark(graze_gpu *gpu, void **mark) {
  graze_status status = check_alive(gpu);
  return status != GRAZE_OK ? status : gpu->backend->mark(gpu, mark);
}

graze_status gz_gpu_between(graze_gpu *gpu, void *first, void *second, double *seconds) {
  graze_status status = check_alive(gpu);
  return status != GRAZE_OK ? status : gpu->backend->between(gpu, first, second, seconds);
}
