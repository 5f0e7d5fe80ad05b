/* zip.h: a zip archive written front to back, the same bytes for the same contents; private to report.
 *
 * Beyond 65,535 entries and 4 GiB it is Zip64. zlib packs the contents: one deflate state serves all entries, for
 * making one takes longer than packing a small file.
 */
#ifndef GRAZE_REPORT_ZIP_H
#define GRAZE_REPORT_ZIP_H

#include "out.h"

typedef struct report_zip report_zip;

typedef struct report_time { /* UTC */
  int year, month, day, hour, minute, second;
} report_time;

/* The archive goes to `out`, every entry with the time `when`. NULL: out of memory. */
report_zip *gz_report_zip_begin(gz_text *out, report_time when);

/* A name that ends in '/' is a folder. `packed`: deflate; contents that are packed already (PNG) are stored. */
void gz_report_zip_add(report_zip *zip, const char *name, const void *bytes, size_t size, bool packed);

/* Writes the directory and frees `zip`. False: the archive is not whole. */
bool gz_report_zip_end(report_zip *zip);

#endif
