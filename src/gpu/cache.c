/* Compiled kernels on the disk, by device, driver and text: what differs in one of them has another name. A file that
 * is not whole, or of another key whose hash is the same, is as none. Nothing here is an error: without a cache the
 * kernels are compiled again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "gpu/device.h"

enum { PATH_ROOM = 1024, MOST_CODE = 256 << 20 };

static const char magic[8] = "GRZKRN1";

typedef struct cache_head {
  char magic[8];
  uint64_t key, size, checksum;
} cache_head;

/* Of everything that the code depends on. */
static uint64_t key_of(const graze_gpu *gpu, const gpu_source *source) {
  uint64_t key = gz_hash_bytes(source->text, source->size, gpu->shuffle ? 2 : 1);
  key = gz_hash_bytes(source->name, strlen(source->name), key);
  key = gz_hash_bytes(gpu->info.name, strlen(gpu->info.name), key);
  key = gz_hash_bytes(gpu->info.driver, strlen(gpu->info.driver), key);
  return gz_hash_bytes(gpu->backend->name, strlen(gpu->backend->name), key);
}

/* The folder; false: there is none that could be meant. */
static bool find_folder(char folder[PATH_ROOM]) {
  const char *own = getenv("GRAZE_CACHE"), *users = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = -1;
  if (own != NULL && *own)
    n = snprintf(folder, PATH_ROOM, "%s", own);
  else if (users != NULL && *users == '/')
    n = snprintf(folder, PATH_ROOM, "%s/graze", users);
  else if (home != NULL && *home == '/')
    n = snprintf(folder, PATH_ROOM, "%s/.cache/graze", home);
  return n > 0 && n < PATH_ROOM - 64;
}

static bool make_folder(char *folder) {
  for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool made = mkdir(folder, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return mkdir(folder, 0777) == 0 || errno == EEXIST;
}

static void add_name(char *path, const gpu_source *source, uint64_t key) {
  size_t used = strlen(path);
  snprintf(path + used, PATH_ROOM - used, "/%s-%016llx.kernels", source->name, (unsigned long long)key);
}

static void *read_code(const graze_gpu *gpu, int file, uint64_t key, size_t *size) {
  cache_head head;
  if (!gz_file_read(file, &head, sizeof head) || memcmp(head.magic, magic, sizeof magic) != 0 || head.key != key ||
      head.size == 0 || head.size > MOST_CODE) {
    return NULL;
  }
  void *code = gz_memory_alloc(gpu->context, head.size);
  if (code == NULL) return NULL;
  *size = head.size;
  if (gz_file_read(file, code, head.size) && gz_hash_bytes(code, head.size, key) == head.checksum) return code;
  gz_memory_release(gpu->context, code, head.size);
  return NULL;
}

void *gz_gpu_cache_read(const graze_gpu *gpu, const gpu_source *source, size_t *size) {
  char path[PATH_ROOM];
  uint64_t key = key_of(gpu, source);
  if (!find_folder(path)) return NULL;
  add_name(path, source, key);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  void *code = read_code(gpu, file, key, size);
  close(file);
  return code;
}

void gz_gpu_cache_write(const graze_gpu *gpu, const gpu_source *source, const void *code, size_t size) {
  char path[PATH_ROOM];
  uint64_t key = key_of(gpu, source);
  cache_head head = {.key = key, .size = size, .checksum = gz_hash_bytes(code, size, key)};
  memcpy(head.magic, magic, sizeof magic);
  if (!find_folder(path) || !make_folder(path)) return;
  add_name(path, source, key);
  new_file file;
  if (!gz_new_file_create(&file, path)) return;
  gz_new_file_finish(&file,
                     gz_file_write(file.descriptor, &head, sizeof head) && gz_file_write(file.descriptor, code, size));
}
