/* bcf_missing.c: stands for bcf.c in a build without minizip and zlib. */
#include "fault.h"

graze_status graze_report_write_bcf(const char *path, const graze_report *report, const char *snapshots,
                                    const graze_camera *cameras, graze_io_error *error) {
  (void)report;
  (void)snapshots;
  (void)cameras;
  return gz_report_fail(error, GRAZE_ERROR_UNSUPPORTED, path != NULL ? path : "report",
                        "this build writes no BCF: it was made without minizip (Debian: libminizip-dev)");
}
