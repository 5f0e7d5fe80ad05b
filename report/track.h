/* track.h: a film of balls as it is kept, private to report. */
#ifndef GRAZE_REPORT_TRACK_H
#define GRAZE_REPORT_TRACK_H

#include "base/owned.h"
#include "camera.h"
#include "fault.h"
#include "graze/track.h"

enum { TRACK_LEVELS = 256 }; /* of speeds */

/* Frames that are packed together: the first of them stands for itself. */
typedef struct track_group {
  unsigned char *bytes;
  size_t size, unpacked;
  uint32_t first, count;
} track_group;

typedef struct track_time {
  uint64_t step;
  double time;
} track_time;

typedef struct track_event {
  graze_track_event event;
  uint64_t number; /* in the order of adding */
} track_event;

/* How the mesh of a set is brought to the size of its balls. */
typedef struct track_shape {
  double middle[3], reach; /* of its box; the largest distance of a corner from it */
} track_shape;

struct graze_track {
  graze_context *context;
  graze_track_set *sets;
  track_shape *shapes; /* of each set; of those without a mesh nothing */
  uint32_t set_count, balls;
  uint32_t turning; /* balls that are drawn as meshes */
  double *radii, smallest, largest;
  graze_track_wall *walls;
  uint32_t wall_count;
  graze_box box;
  graze_track_curve *curves;
  uint32_t curve_count;
  uint32_t most_events;
  graze_track_colour colour;
  bool colliding;
  uint32_t object_count;
  graze_pose *poses; /* of objects, as last given; */
  bool posed;        /* they have been */

  double resolution, origin[3]; /* of the lattice */
  int32_t low[3], high[3];      /* places of balls, over all frames */
  uint64_t levels_seen[TRACK_LEVELS];
  gz_array times;  /* track_time */
  gz_array values; /* double, those of a frame side by side */
  gz_array groups; /* track_group */
  gz_array moves;  /* graze_motion_move of objects; steps are frames */
  gz_array events; /* track_event */
  uint64_t event_count;
  graze_track_chances chances; /* no runs: there are none */
  uint64_t most_runs;          /* in which one member was hit */
  struct track_packer *packer;
  struct track_reader *reader;
};

/* Poses of the report's objects at a frame. */
void gz_track_find_poses(const graze_track *track, const graze_report *report, uint32_t frame, graze_pose *poses);

typedef struct track_boxes {
  const graze_track *track;
  const graze_report *report;
} track_boxes;

/* camera_boxes of a track_boxes: all balls of all frames, and the objects wherever they are. */
void gz_track_each_box(const void *source, camera_take_box *take, void *user);

/* False: the mesh has no extent. O(triangles). */
bool gz_track_measure(const graze_mesh *mesh, track_shape *shape);

/* The chances of a member; NULL: it has none. */
const graze_track_chance *gz_track_chance_of(const graze_track *track, uint32_t member);

/* The rotation by a unit quaternion, row by row. */
void gz_track_rotation(const double q[4], double rows[3][3]);

/* Packs the frames that wait for their group to fill. */
graze_status gz_track_flush(graze_track *track);

/* Sorts the events that are kept by their order. */
void gz_track_sort_events(graze_track *track);

/* Deflate of a whole block: new bytes, gz_free() them. NULL: out of memory. */
unsigned char *gz_track_deflate(const graze_context *context, const void *bytes, size_t size, size_t *packed);

/* The speed below which a ball's level is 0; level l > 0 begins at it times 2^((l - 1) / 8). */
double gz_track_slowest(const graze_track *track);

/* The speed that stands for a level: in its middle. */
double gz_track_speed_of(const graze_track *track, uint8_t level);

/* The level at which colours end: only a thousandth of what moves is above it, for one ball that is shot away must not
 * make the rest look still. */
uint8_t gz_track_top_level(const graze_track *track);

#endif
