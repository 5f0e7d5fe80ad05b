/* bcf_missing.c: stands for bcf.c in a build without zlib. */
#include "fault.h"

graze_status graze_report_write_bcf(graze_context *context, const char *path, const graze_report *report,
                                    const char *snapshots, const graze_camera *cameras) {
  (void)report;
  (void)snapshots;
  (void)cameras;
  return gz_fail_named(context, GRAZE_ERROR_UNSUPPORTED, path != NULL ? path : "report", "",
                       "this build writes no BCF: it was made without zlib (Debian: zlib1g-dev)");
}
