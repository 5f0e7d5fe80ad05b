/* Which kernels an image has. The stand-in compiles nothing: of PTX it finds out from which module it was made, and
 * runs that module's kernels as C. PTX that the library embeds is known byte by byte; that of the stand-in for NVRTC
 * says so itself; what a real compiler made is known by its kernels. Whatever entries PTX has are compared with the
 * kernels: the same parameters, the same size of a group. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "gpu/device.h"

/* ---- a kernel from outside ------------------------------------------------------------------------------------- */

/* That of tests/test_gpu.c, which is no module of the library. */
static void call_twice(const void *const *values) {
  unsigned *x = *(unsigned *const *)values[0];
  x[host_group * 32 + host_item] *= 2;
}

static const size_t twice_sizes[] = {0};
static const unsigned char twice_access[] = {HOST_WRITTEN};
static const host_module twice;
static const host_kernel twice_kernels[] = {{&twice, "twice", 32, call_twice, twice_sizes, twice_access, 1}};
static const host_module twice = {"twice", twice_kernels, 1, NULL, NULL};

static const host_module *find_module(const char *name, bool shuffle) {
  return strcmp(name, "twice") == 0 ? &twice : host_find_module(name, shuffle);
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

/* The end of the next entry's name, which it begins at *name; NULL: there is no other. */
static const char *next_entry(const char *text, const char **name) {
  static const char mark[] = ".visible .entry ";
  const char *at = strstr(text, mark);
  if (at == NULL) return NULL;
  *name = at + sizeof mark - 1;
  return *name + strcspn(*name, "( \n");
}

static const host_kernel *kernel_of_entry(const host_module *module, const char *name, const char *end) {
  for (uint32_t i = 0; i < module->count; i++) {
    const char *own = module->kernels[i].name;
    if (strlen(own) == (size_t)(end - name) && memcmp(own, name, strlen(own)) == 0) return &module->kernels[i];
  }
  return NULL;
}

/* ".u32 name", ".align 8 .b8 name[48]" */
static size_t parameter_bytes(const char *at, const char *end) {
  size_t bytes = 0;
  for (; at < end && *at != ','; at++) {
    if (at[0] == '.' && strchr("usbf", at[1]) != NULL && isdigit((unsigned char)at[2]) && bytes == 0)
      bytes = strtoul(at + 2, NULL, 10) / 8;
    if (at[0] == '[') return bytes * strtoul(at + 1, NULL, 10);
  }
  return bytes;
}

/* What differs between an entry and the kernel as C; "" for nothing. */
static void compare_entry(const host_kernel *k, const char *at, char why[128]) {
  const char *end = strchr(at, ')'), *body = strchr(at, '{'), *most = strstr(at, ".maxntid ");
  uint32_t count = 0;
  why[0] = 0;
  for (const char *p = at; (p = strstr(p, ".param ")) != NULL && p < end; p++, count++) {
    size_t bytes = parameter_bytes(p + strlen(".param "), end), want = count < k->count ? k->sizes[count] : 0;
    if (want == 0) want = sizeof(cu_memory);
    if (bytes != want) snprintf(why, 128, "parameter %u has %zu bytes, as C %zu", count, bytes, want);
  }
  if (count != k->count) snprintf(why, 128, "%u parameters, as C %u", count, k->count);
  uint32_t threads = most != NULL && most < body ? (uint32_t)strtoul(most + strlen(".maxntid "), NULL, 10) : 0;
  if (threads != k->group) snprintf(why, 128, "%u threads in a group, as C %u", threads, k->group);
}

/* True: the entries are the kernels of the module. */
static bool has_entries_of(const char *text, const host_module *module, bool aloud) {
  const char *name, *end;
  uint32_t count = 0;
  for (; (end = next_entry(text, &name)) != NULL; text = end, count++) {
    const host_kernel *k = kernel_of_entry(module, name, end);
    char why[128] = "no such kernel";
    if (k != NULL) compare_entry(k, end, why);
    if (why[0] == 0) continue;
    if (aloud) misuse("the PTX of %s: %.*s: %s", module->name, (int)(end - name), name, why);
    return false;
  }
  if (aloud && count != module->count)
    misuse("the PTX of %s has %u kernels, as C %u", module->name, count, module->count);
  return count == module->count;
}

/* ---- images ---------------------------------------------------------------------------------------------------- */

/* "// stand-in: module NAME plain\n" */
static const host_module *module_of_mark(const char *image) {
  char name[64], form[16];
  if (sscanf(image, "// stand-in: module %63s %15s", name, form) != 2) return NULL;
  return find_module(name, strcmp(form, "shuffles") == 0);
}

static const host_module *module_of_bytes(const char *image) {
  for (uint32_t i = 0; i < gz_gpu_source_count; i++) {
    const gpu_source *s = &gz_gpu_sources[i];
    bool shuffles = s->ptx_shuffle != NULL && strcmp(image, (const char *)s->ptx_shuffle) == 0;
    if (shuffles || (s->ptx != NULL && strcmp(image, (const char *)s->ptx) == 0)) return find_module(s->name, shuffles);
  }
  return NULL;
}

static const host_module *module_of_entries(const char *image, bool *guessed) {
  const host_module *found = has_entries_of(image, &twice, false) ? &twice : NULL;
  bool shuffles = strstr(image, "shfl.sync") != NULL;
  for (uint32_t i = 0; i < gz_gpu_source_count; i++) {
    const host_module *m = find_module(gz_gpu_sources[i].name, shuffles);
    if (m == NULL || !has_entries_of(image, m, false)) continue;
    *guessed = found != NULL;
    found = m;
  }
  return found;
}

cu_result load_image(const char *image, int capability, const host_module **code, bool *guessed) {
  const char *target = strstr(image, "\n.target sm_");
  *guessed = false;
  *code = NULL;
  static const char elf[] = {0x7f, 'E', 'L', 'F'};
  if (strncmp(image, elf, sizeof elf) == 0) return INVALID_IMAGE;
  if (strstr(image, "\n.version ") == NULL || target == NULL) return INVALID_PTX;
  if (strstr(image, "\n.address_size 64") == NULL) return INVALID_PTX;
  if (atoi(target + strlen("\n.target sm_")) > capability) return INVALID_PTX;
  *code = module_of_mark(image);
  if (*code != NULL) return 0;
  *code = module_of_bytes(image);
  if (*code != NULL) return has_entries_of(image, *code, true) ? 0 : INVALID_PTX;
  *code = module_of_entries(image, guessed);
  return *code != NULL ? 0 : INVALID_PTX;
}
