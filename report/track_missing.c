/* Films of balls in a build without zlib: every call says so. */
#include "track_pack.h"

graze_status gz_track_pack_begin(graze_track *track) {
  return gz_fail_named(track->context, GRAZE_ERROR_UNSUPPORTED, "film", "",
                       "graze was built without zlib (zlib1g-dev)");
}

void gz_track_pack_end(graze_track *track) {
  (void)track;
}

graze_status gz_track_pack(graze_track *track, const graze_track_frame *frame) {
  (void)frame;
  return gz_track_pack_begin(track);
}

graze_status gz_track_flush(graze_track *track) {
  return gz_track_pack_begin(track);
}

unsigned char *gz_track_deflate(const graze_context *context, const void *bytes, size_t size, size_t *packed) {
  (void)context, (void)bytes, (void)size, (void)packed;
  return NULL;
}

graze_status graze_track_read_frame(graze_track *track, uint32_t frame, double *positions, double *speeds,
                                    bool *touching) {
  (void)frame, (void)positions, (void)speeds, (void)touching;
  return gz_track_pack_begin(track);
}

graze_status graze_track_read_orientations(graze_track *track, uint32_t frame, double *orientations) {
  (void)frame, (void)orientations;
  return gz_track_pack_begin(track);
}
