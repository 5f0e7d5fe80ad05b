/* zip.c: see zip.h. The format is PKWARE's APPNOTE 6.3.3: for each entry a header and its contents (4.3.7), then the
 * directory (4.3.12) and its end (4.3.14 to 4.3.16).
 */
#include "zip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>

struct report_zip {
  gz_text *out, directory;
  uint64_t size, entries; /* bytes and entries so far */
  uint32_t time;          /* MS-DOS: date and time */
  z_stream deflater;
  bool failed;
  char *packed;
  size_t packed_capacity;
};

enum { PLAIN = 20, ZIP64 = 45 }; /* version that a reader must have */
static const uint64_t MOST = UINT32_MAX, MOST_ENTRIES = UINT16_MAX;

static uint32_t dos_time(report_time when) {
  if (when.year < 1980) when = (report_time){1980, 1, 1, 0, 0, 0}; /* that clock begins and ends there */
  if (when.year > 2107) when = (report_time){2107, 12, 31, 23, 59, 58};
  if (when.second > 59) when.second = 59;
  return (uint32_t)((when.year - 1980) << 25 | when.month << 21 | when.day << 16 | when.hour << 11 | when.minute << 5 |
                    when.second / 2);
}

report_zip *gz_report_zip_begin(gz_text *out, report_time when) {
  report_zip *zip = gz_new_zeroed(out->context, 1, sizeof *zip);
  if (zip == NULL) return NULL;
  zip->out = out;
  zip->time = dos_time(when);
  /* For files of a page or less: fixed codes, as a tree for each file takes longer to make than it saves. */
  bool ready = deflateInit2(&zip->deflater, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_FIXED) == Z_OK;
  if (ready && gz_text_begin(out->context, &zip->directory, NULL, NULL)) return zip;
  if (ready) deflateEnd(&zip->deflater);
  gz_text_end(&zip->directory);
  gz_free(zip);
  return NULL;
}

/* Packs into zip->packed; returns the packed size, 0 = out of memory. */
static size_t deflate_bytes(report_zip *zip, const void *bytes, size_t size) {
  deflateReset(&zip->deflater);
  size_t bound = deflateBound(&zip->deflater, size);
  if (bound > zip->packed_capacity) {
    char *packed = gz_resize(zip->out->context, zip->packed, 2 * bound, 1);
    if (packed == NULL) return 0;
    zip->packed = packed;
    zip->packed_capacity = 2 * bound;
  }
  zip->deflater.next_in = bytes;
  zip->deflater.avail_in = (uInt)size;
  zip->deflater.next_out = (Bytef *)zip->packed;
  zip->deflater.avail_out = (uInt)bound;
  return deflate(&zip->deflater, Z_FINISH) == Z_STREAM_END ? bound - zip->deflater.avail_out : 0;
}

static void put_little(gz_text *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) gz_put_bytes(out, (uint8_t[1]){(uint8_t)(value >> (8 * i))}, 1);
}

typedef struct entry {
  const char *name;
  bool packed;
  uint32_t checksum;
  uint64_t stored, size;
} entry;

/* What header and directory say of an entry, up to the length of its name. */
static void put_facts(const report_zip *zip, gz_text *out, const entry *e, int version) {
  put_little(out, (uint64_t)version, 2);
  put_little(out, e->packed ? 6 : 0, 2); /* bits 1 and 2: packed for speed */
  put_little(out, e->packed ? Z_DEFLATED : 0, 2);
  put_little(out, zip->time, 4);
  put_little(out, e->checksum, 4);
  put_little(out, e->stored, 4);
  put_little(out, e->size, 4);
  put_little(out, strlen(e->name), 2);
}

static void list_entry(report_zip *zip, const entry *e) {
  gz_text *out = &zip->directory;
  bool far = zip->size >= MOST, folder = e->name[strlen(e->name) - 1] == '/';
  gz_put_bytes(out, "PK\1\2\0\0", 6); /* made by: MS-DOS, for the attributes below */
  put_facts(zip, out, e, far ? ZIP64 : PLAIN);
  put_little(out, far ? 12 : 0, 2);      /* length of the extra field; */
  put_little(out, 0, 6);                 /* no comment, disk 0, no internal attributes; */
  put_little(out, folder ? 0x10 : 0, 4); /* attributes; where the header is */
  put_little(out, far ? MOST : zip->size, 4);
  gz_put_text(out, e->name);
  if (!far) return;
  put_little(out, 1, 2); /* extra field of Zip64: 8 bytes */
  put_little(out, 8, 2);
  put_little(out, zip->size, 8);
}

void gz_report_zip_add(report_zip *zip, const char *name, const void *bytes, size_t size, bool packed) {
  if (zip->failed || size > INT_MAX / 4) { /* zlib counts in 32 bits; no entry comes near */
    zip->failed = true;
    return;
  }
  entry e = {name, packed, size > 0 ? (uint32_t)crc32(0, bytes, (uInt)size) : 0,
             packed ? deflate_bytes(zip, bytes, size) : size, size};
  if (packed && e.stored == 0) {
    zip->failed = true;
    return;
  }
  gz_put_bytes(zip->out, "PK\3\4", 4);
  put_facts(zip, zip->out, &e, PLAIN);
  put_little(zip->out, 0, 2); /* no extra field */
  gz_put_text(zip->out, name);
  gz_put_bytes(zip->out, packed ? zip->packed : bytes, (size_t)e.stored);
  list_entry(zip, &e);
  zip->entries++;
  zip->size += 30 + strlen(name) + e.stored;
}

/* For what does not fit into the last record. */
static void put_zip64_end(const report_zip *zip) {
  gz_text *out = zip->out;
  uint64_t length = zip->directory.used;
  gz_put_text(out, "PK\6\6");
  put_little(out, 44, 8); /* what follows in this record */
  put_little(out, ZIP64, 2);
  put_little(out, ZIP64, 2);
  put_little(out, 0, 8); /* number of this disk and of the directory's */
  put_little(out, zip->entries, 8);
  put_little(out, zip->entries, 8);
  put_little(out, length, 8);
  put_little(out, zip->size, 8);
  gz_put_text(out, "PK\6\7");
  put_little(out, 0, 4);
  put_little(out, zip->size + length, 8); /* where the record above begins */
  put_little(out, 1, 4);
}

bool gz_report_zip_end(report_zip *zip) {
  gz_text *out = zip->out;
  uint64_t length = zip->directory.used, count = zip->entries < MOST_ENTRIES ? zip->entries : MOST_ENTRIES;
  bool good = !zip->failed && !zip->directory.no_memory;
  gz_put_bytes(out, zip->directory.data, zip->directory.used);
  if (zip->entries >= MOST_ENTRIES || zip->size >= MOST || length >= MOST) put_zip64_end(zip);
  gz_put_text(out, "PK\5\6");
  put_little(out, 0, 4); /* disks, as above */
  put_little(out, count, 2);
  put_little(out, count, 2);
  put_little(out, length < MOST ? length : MOST, 4);
  put_little(out, zip->size < MOST ? zip->size : MOST, 4);
  put_little(out, 0, 2); /* no comment */
  deflateEnd(&zip->deflater);
  gz_text_end(&zip->directory);
  gz_free(zip->packed);
  gz_free(zip);
  return good;
}
