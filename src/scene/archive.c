/* Files of sections. */
#include "scene/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"

static const char MAGIC[8] = {'G', 'R', 'Z', 'S', 'C', 'E', 'N', '1'};

typedef struct section_head {
  uint32_t type, zero;
  uint64_t size;
} section_head;

/* ---- writing ---- */

static void write_bytes(archive_writer *w, const void *bytes, size_t size) {
  if (w->status != GRAZE_OK || gz_file_write(w->file, bytes, size)) return;
  w->status = gz_file_error(w->context, w->path, "cannot write");
}

void gz_archive_begin(archive_writer *w, const graze_context *context, int file, const char *path) {
  *w = (archive_writer){.context = context, .path = path, .file = file};
  write_bytes(w, MAGIC, sizeof MAGIC);
}

void gz_archive_put(archive_writer *w, const void *bytes, size_t size) {
  if (w->status != GRAZE_OK || size == 0) return;
  if (!gz_buffer_reserve(w->context, &w->section, w->used + size, w->used)) {
    w->status = gz_fail_memory(w->context, w->used + size);
    return;
  }
  memcpy((char *)w->section.data + w->used, bytes, size);
  w->used += size;
}

void gz_archive_put_u32(archive_writer *w, uint32_t x) {
  gz_archive_put(w, &x, sizeof x);
}

void gz_archive_put_u64(archive_writer *w, uint64_t x) {
  gz_archive_put(w, &x, sizeof x);
}

void gz_archive_put_double(archive_writer *w, double x) {
  gz_archive_put(w, &x, sizeof x);
}

void gz_archive_put_text(archive_writer *w, const char *text) {
  size_t length = strlen(text) + 1;
  gz_archive_put_u64(w, length);
  gz_archive_put(w, text, length);
}

void gz_archive_whole_section(archive_writer *w, archive_type type, const void *bytes, size_t size) {
  section_head head = {type, 0, size};
  uint64_t chain = gz_hash_bytes(bytes, size, w->chain + type);
  write_bytes(w, &head, sizeof head);
  write_bytes(w, bytes, size);
  write_bytes(w, &chain, sizeof chain);
  w->chain = chain;
}

void gz_archive_end_section(archive_writer *w, archive_type type) {
  gz_archive_whole_section(w, type, w->section.data, w->used);
  w->used = 0;
}

void gz_archive_writer_release(archive_writer *w) {
  gz_buffer_release(w->context, &w->section);
}

/* ---- reading ---- */

/* FORMAT, or FILE when the system says why. */
static graze_status cannot_read(const archive_reader *r) {
  if (errno != 0) return gz_file_error(r->context, r->path, "cannot read");
  return gz_fail(r->context, GRAZE_ERROR_FORMAT, "%s: byte %" PRIu64 ": the file ends within a section", r->path,
                 r->size);
}

graze_status gz_archive_open(archive_reader *r, const graze_context *context, int file, const char *path) {
  char magic[sizeof MAGIC];
  struct stat state;
  *r = (archive_reader){.context = context, .path = path, .file = file};
  if (fstat(file, &state) != 0) return gz_file_error(context, path, "cannot read");
  r->size = (uint64_t)state.st_size;
  if (r->size < sizeof magic || !gz_file_read(file, magic, sizeof magic) || memcmp(magic, MAGIC, sizeof magic) != 0) {
    return gz_fail(context, GRAZE_ERROR_FORMAT, "%s: byte 0: no snapshot or record of a scene", path);
  }
  r->offset = sizeof magic;
  return GRAZE_OK;
}

graze_status gz_archive_next(archive_reader *r, archive_type *type) {
  section_head head;
  uint64_t hash;
  *type = ARCHIVE_END;
  r->at = r->length = 0;
  if (r->offset == r->size) return GRAZE_OK;
  if (!gz_file_read(r->file, &head, sizeof head)) return cannot_read(r);
  r->start = r->offset + sizeof head;
  if (head.type < ARCHIVE_MESH || head.type > ARCHIVE_CENTER || head.zero != 0) {
    return gz_fail(r->context, GRAZE_ERROR_FORMAT, "%s: byte %" PRIu64 ": no section begins here", r->path, r->offset);
  }
  if (r->size - r->offset < sizeof head + sizeof hash || head.size > r->size - r->start - sizeof hash) {
    errno = 0;
    return cannot_read(r);
  }
  if (!gz_buffer_reserve(r->context, &r->section, head.size + 1, 0)) return gz_fail_memory(r->context, head.size + 1);
  if (!gz_file_read(r->file, r->section.data, head.size) || !gz_file_read(r->file, &hash, sizeof hash))
    return cannot_read(r);
  r->chain = gz_hash_bytes(r->section.data, head.size, r->chain + head.type);
  if (r->chain != hash) {
    return gz_fail(r->context, GRAZE_ERROR_FORMAT, "%s: the section at byte %" PRIu64 " is damaged", r->path,
                   r->offset);
  }
  r->length = head.size;
  r->offset = r->start + head.size + sizeof hash;
  *type = (archive_type)head.type;
  return GRAZE_OK;
}

const void *gz_archive_take(archive_reader *r, size_t size) {
  static const char zeros[256];
  if (size > r->length - r->at) {
    r->overrun = true;
    r->at = r->length;
    return zeros;
  }
  const char *bytes = (const char *)r->section.data + r->at;
  r->at += size;
  return bytes;
}

/* Files number the tiers T1, T0, T2. */
static uint32_t exactness_in_files(uint32_t tier) {
  return tier == GRAZE_T0 ? 1 : tier == GRAZE_T1 ? 0 : tier;
}

void gz_archive_put_exactness(archive_writer *w, graze_exactness exactness) {
  gz_archive_put_u32(w, exactness_in_files(exactness));
}

graze_exactness gz_archive_take_exactness(archive_reader *r) {
  return (graze_exactness)exactness_in_files(gz_archive_take_u32(r)); /* its own inverse */
}

uint32_t gz_archive_take_u32(archive_reader *r) {
  uint32_t x;
  memcpy(&x, gz_archive_take(r, sizeof x), sizeof x);
  return x;
}

uint64_t gz_archive_take_u64(archive_reader *r) {
  uint64_t x;
  memcpy(&x, gz_archive_take(r, sizeof x), sizeof x);
  return x;
}

double gz_archive_take_double(archive_reader *r) {
  double x;
  memcpy(&x, gz_archive_take(r, sizeof x), sizeof x);
  return x;
}

void gz_archive_take_doubles(archive_reader *r, double *numbers, size_t count) {
  memcpy(numbers, gz_archive_take(r, count * sizeof *numbers), count * sizeof *numbers);
}

uint64_t gz_archive_take_count(archive_reader *r, size_t least) {
  uint64_t count = gz_archive_take_u64(r);
  return count <= (r->length - r->at) / least ? count : UINT64_MAX;
}

const char *gz_archive_take_text(archive_reader *r) {
  uint64_t length = gz_archive_take_u64(r);
  if (r->overrun || length == 0 || length > r->length - r->at) return NULL;
  const char *text = gz_archive_take(r, length);
  return memchr(text, 0, length) == text + length - 1 ? text : NULL;
}

graze_status gz_archive_error(const archive_reader *r, const char *what) {
  return gz_fail(r->context, GRAZE_ERROR_FORMAT, "%s: byte %" PRIu64 ": %s", r->path, r->start + r->at, what);
}

void gz_archive_reader_release(archive_reader *r) {
  gz_buffer_release(r->context, &r->section);
}
