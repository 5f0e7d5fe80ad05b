/* track_pack.h: frames of balls, packed and unpacked. Private to report. */
#ifndef GRAZE_REPORT_TRACK_PACK_H
#define GRAZE_REPORT_TRACK_PACK_H

#include "track.h"

graze_status gz_track_pack_begin(graze_track *track); /* UNSUPPORTED: built without zlib */
void gz_track_pack_end(graze_track *track);

/* A frame that has been checked. */
graze_status gz_track_pack(graze_track *track, const graze_track_frame *frame);

#endif
