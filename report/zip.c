/* zip.c: see zip.h. minizip goes back to each entry's header when the entry is done, to write the sizes. The output
 * cannot go back, so the bytes wait here until their entry is closed.
 */
#include "zip.h"

#include <limits.h>
#include <minizip/zip.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct report_zip {
  gz_text *out;
  char *waiting; /* the archive from byte `base` on */
  size_t used, capacity;
  ZPOS64_T base, position; /* position: where the next write goes */
  zipFile archive;
  zip_fileinfo info;
  z_stream deflater;
  bool deflater_open, failed;
  uint64_t entries;
  char *packed;
  size_t packed_capacity;
};

/* ---- minizip's file ---- */

static voidpf stream_open(voidpf opaque, const void *name, int mode) {
  (void)name;
  (void)mode;
  return opaque;
}

static uLong stream_write(voidpf opaque, voidpf stream, const void *bytes, uLong size) {
  report_zip *zip = stream;
  (void)opaque;
  size_t at = (size_t)(zip->position - zip->base);
  if (size > zip->capacity - at) {
    size_t capacity = 2 * zip->capacity + size;
    char *waiting = realloc(zip->waiting, capacity);
    if (waiting == NULL) return 0;
    zip->waiting = waiting;
    zip->capacity = capacity;
  }
  memcpy(zip->waiting + at, bytes, size);
  zip->position += size;
  if (at + size > zip->used) zip->used = at + size;
  return size;
}

static ZPOS64_T stream_tell(voidpf opaque, voidpf stream) {
  (void)opaque;
  return ((const report_zip *)stream)->position;
}

static long stream_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin) {
  report_zip *zip = stream;
  (void)opaque;
  ZPOS64_T end = zip->base + zip->used;
  ZPOS64_T target = offset;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) target += zip->position;
  if (origin == ZLIB_FILEFUNC_SEEK_END) target += end;
  if (target < zip->base || target > end) return -1; /* gone, or not there yet */
  zip->position = target;
  return 0;
}

static uLong stream_read(voidpf opaque, voidpf stream, void *bytes, uLong size) {
  (void)opaque;
  (void)stream;
  (void)bytes;
  (void)size;
  return 0; /* an archive that is made anew is not read */
}

static int stream_close(voidpf opaque, voidpf stream) {
  (void)opaque;
  (void)stream;
  return 0;
}

static int stream_error(voidpf opaque, voidpf stream) {
  (void)opaque;
  return ((const report_zip *)stream)->failed;
}

static void send_waiting(report_zip *zip) {
  gz_put_bytes(zip->out, zip->waiting, zip->used);
  zip->base += zip->used;
  zip->position = zip->base;
  zip->used = 0;
}

/* ---- the archive ---- */

static void set_time(report_zip *zip, report_time when) {
  if (when.year < 1980) when = (report_time){1980, 1, 1, 0, 0, 0}; /* zip's clock begins and ends there */
  if (when.year > 2107) when = (report_time){2107, 12, 31, 23, 59, 58};
  zip->info.tmz_date = (tm_zip){.tm_sec = when.second > 59 ? 59 : when.second,
                                .tm_min = when.minute,
                                .tm_hour = when.hour,
                                .tm_mday = when.day,
                                .tm_mon = when.month - 1,
                                .tm_year = when.year};
}

report_zip *gz_report_zip_begin(gz_text *out, report_time when) {
  report_zip *zip = calloc(1, sizeof *zip);
  if (zip == NULL) return NULL;
  zip->out = out;
  zip->capacity = 1 << 16;
  zip->waiting = malloc(zip->capacity);
  set_time(zip, when);
  /* For files of a page or less: fixed codes, as a tree for each file takes longer to make than it saves. */
  zip->deflater_open = deflateInit2(&zip->deflater, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_FIXED) == Z_OK;
  zlib_filefunc64_def functions = {stream_open, stream_read,  stream_write, stream_tell,
                                   stream_seek, stream_close, stream_error, zip};
  if (zip->waiting != NULL && zip->deflater_open)
    zip->archive = zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &functions);
  if (zip->archive != NULL) return zip;
  if (zip->deflater_open) deflateEnd(&zip->deflater);
  free(zip->waiting);
  free(zip);
  return NULL;
}

/* Packs into zip->packed; returns the packed size, 0 = out of memory. */
static size_t deflate_bytes(report_zip *zip, const void *bytes, size_t size) {
  deflateReset(&zip->deflater);
  size_t bound = deflateBound(&zip->deflater, size);
  if (bound > zip->packed_capacity) {
    char *packed = realloc(zip->packed, 2 * bound);
    if (packed == NULL) return 0;
    zip->packed = packed;
    zip->packed_capacity = 2 * bound;
  }
  zip->deflater.next_in = (Bytef *)bytes;
  zip->deflater.avail_in = (uInt)size;
  zip->deflater.next_out = (Bytef *)zip->packed;
  zip->deflater.avail_out = (uInt)bound;
  return deflate(&zip->deflater, Z_FINISH) == Z_STREAM_END ? bound - zip->deflater.avail_out : 0;
}

void gz_report_zip_add(report_zip *zip, const char *name, const void *bytes, size_t size, bool packed) {
  if (zip->failed || size > INT_MAX / 4) { /* zlib and minizip count in 32 bits here; no entry comes near */
    zip->failed = true;
    return;
  }
  size_t stored = packed ? deflate_bytes(zip, bytes, size) : size;
  const void *contents = packed ? zip->packed : bytes;
  bool folder = name[strlen(name) - 1] == '/';
  zip->info.external_fa = folder ? 0x10 : 0; /* MS-DOS: directory */
  bool good = !packed || stored > 0;
  good = good && zipOpenNewFileInZip2_64(zip->archive, name, &zip->info, NULL, 0, NULL, 0, NULL,
                                         packed ? Z_DEFLATED : 0, packed ? 1 : 0, 1, 0) == ZIP_OK;
  good = good && (stored == 0 || zipWriteInFileInZip(zip->archive, contents, (unsigned)stored) == ZIP_OK);
  good = good && zipCloseFileInZipRaw64(zip->archive, size, size > 0 ? crc32(0, bytes, (uInt)size) : 0) == ZIP_OK;
  zip->failed = !good;
  zip->entries++;
  send_waiting(zip);
}

static void put_little(gz_text *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) gz_put_bytes(out, (uint8_t[1]){(uint8_t)(value >> (8 * i))}, 1);
}

/* The records of Zip64 (APPNOTE 4.3.14 and 4.3.15) that stand before the last one when 16 bits cannot count the
 * entries. minizip writes them for large offsets, and of this case only the 0xffff that points to them. `size`: of the
 * directory. */
static void put_zip64_end(report_zip *zip, uint64_t size) {
  gz_text *out = zip->out;
  gz_put_text(out, "PK\x06\x06");
  put_little(out, 44, 8); /* what follows in this record */
  put_little(out, 45, 2); /* made by and needs: 4.5, the first with Zip64 */
  put_little(out, 45, 2);
  put_little(out, 0, 8); /* number of this disk and of the directory's */
  put_little(out, zip->entries, 8);
  put_little(out, zip->entries, 8);
  put_little(out, size, 8);
  put_little(out, zip->base, 8);
  gz_put_text(out, "PK\x06\x07");
  put_little(out, 0, 4);
  put_little(out, zip->base + size, 8); /* where the record above begins */
  put_little(out, 1, 4);
}

enum { END_RECORD = 22 };

bool gz_report_zip_end(report_zip *zip) {
  bool good = zipClose(zip->archive, NULL) == ZIP_OK && !zip->failed;
  if (good && zip->entries > 0xffff && zip->base < 0xffffffff && zip->used > END_RECORD) {
    uint64_t size = zip->used - END_RECORD;
    gz_put_bytes(zip->out, zip->waiting, size);
    put_zip64_end(zip, size);
    gz_put_bytes(zip->out, zip->waiting + size, END_RECORD);
  } else {
    send_waiting(zip);
  }
  deflateEnd(&zip->deflater);
  free(zip->waiting);
  free(zip->packed);
  free(zip);
  return good;
}
