/* graze/track.h: films of balls that move. Part of graze_report.
 *
 * A track takes the balls' states frame by frame and keeps them small: places are rounded to a lattice that is fine
 * against the smallest ball, and of each frame only what the ones before do not foretell is kept, packed by zlib: about
 * four bytes a ball and frame where much happens, next to nothing where balls lie. Balls may be drawn as meshes that
 * turn; their orientations are kept likewise. So a film of 65,536 balls and a
 * hundred frames fits into a page, and no frame is held as doubles. A track is for the eye; graze_world_save keeps
 * states.
 */
#ifndef GRAZE_TRACK_H
#define GRAZE_TRACK_H

#include "graze/dynamics.h"
#include "graze/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_track graze_track;

/* Balls with a name in common, "name/0", "name/1", ... */
typedef struct graze_track_set {
  const char *name;
  uint32_t count;
  bool alone; /* a ball of its own: its name has no number */
  /* Drawn in place of its balls, so large that the smallest ball about the middle of its box is theirs, and turned; it
   * must outlive the track. NULL: balls. */
  const graze_mesh *mesh;
} graze_track_set;

typedef struct graze_track_wall { /* all that is behind the plane */
  double point[3], normal[3];
} graze_track_wall;

/* A number that every frame has; those of one unit share a plot. Frames with a positive number of "contacts" are marked
 * on the time line. */
typedef struct graze_track_curve {
  const char *name, *unit;
} graze_track_curve;

/* The colours of balls: by their speed, by their set, or whether they touch something. */
typedef enum graze_track_colour { GRAZE_TRACK_SPEED, GRAZE_TRACK_SET, GRAZE_TRACK_CONTACT } graze_track_colour;

typedef struct graze_track_def {
  const graze_track_set *sets; /* balls are numbered set by set */
  uint32_t set_count;
  const double *radii; /* one a ball, > 0 */
  const graze_track_wall *walls;
  uint32_t wall_count;
  graze_box box; /* whose edges are drawn, such as that of a periodic world; by default empty: none */
  const graze_track_curve *curves;
  uint32_t curve_count;
  uint32_t object_count;     /* of the report that the page is made with; they may move, and meet balls */
  uint32_t most_events;      /* of more events the fastest are kept; default 20,000 */
  graze_track_colour colour; /* of the pictures, and of the page at first; default SPEED */
  bool colliding;            /* the same of what is shown: only balls that touch something; default false */
  uint32_t cookie;
} graze_track_def;

GRAZE_API graze_track_def graze_default_track_def(void);

/* Everything but meshes is copied. Errors: ARGUMENT (also a mesh without extent), NOT_FINITE (the message names ball or
 * wall), LIMIT (2^28 balls or more), MEMORY, UNSUPPORTED (built without zlib). O(balls + triangles). */
GRAZE_API graze_status graze_track_create(graze_context *context, const graze_track_def *def, graze_track **track);
GRAZE_API void graze_track_destroy(graze_track *track);

typedef struct graze_track_frame {
  uint64_t step;
  double time;
  const double *positions, *velocities; /* three numbers a ball */
  const double *orientations;           /* quaternions, w first, four numbers a ball; of sets that have a mesh: others
                                           are not looked at. NULL: nothing is turned */
  const graze_pose *poses;              /* one an object; NULL: where they were, at first where the report has them */
  const bool *touching;                 /* one a ball: it touches something; NULL: none does */
  const double *values;                 /* of the curves; NULL without curves */
} graze_track_frame;

/* The next frame; nothing of it is kept as it is. The lattice of the places is chosen at the first frame: a 128th to a
 * 256th of the smallest radius, or coarser where the balls lie further apart than 2^22 times that. Errors: ARGUMENT (a
 * step that is not above that of the frame before), NOT_FINITE (the message names the ball), MEMORY. O(balls). */
GRAZE_API graze_status graze_track_add_frame(graze_track *track, const graze_track_frame *frame);

typedef struct graze_track_event {
  uint64_t step;
  double time;
  graze_contact_event_kind kind;
  uint32_t a, b; /* balls; behind them walls, then objects */
  double speed, impulse;
} graze_track_event;

/* In the order of steps; they may come before or after their frames. Errors: INDEX, MEMORY. */
GRAZE_API graze_status graze_track_add_event(graze_track *track, const graze_track_event *event);

/* How probably something hits a member, from many runs of which the track is one. */
typedef struct graze_track_chance {
  uint32_t member;  /* as in events */
  uint64_t runs;    /* in which it was hit */
  double low, high; /* bounds of the probability, 0 to 1 */
  double energy;    /* the largest of a hit, J */
} graze_track_chance;

typedef struct graze_track_chances {
  const graze_track_chance *chances;
  uint32_t count;
  uint64_t runs, asked; /* that were made; that were wanted */
  uint64_t seed;        /* of the run that the track shows, the first; each other one has the next */
} graze_track_chances;

/* Has the page and the pictures colour members by their chances: those that have none are what flies about. In place of
 * what was set before; everything is copied. Errors: ARGUMENT (no runs, more hits than runs), INDEX (no such member),
 * NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_track_set_chances(graze_track *track, const graze_track_chances *chances);

typedef struct graze_track_info {
  uint32_t balls;
  uint32_t frames;
  uint64_t bytes;    /* of the packed frames */
  uint64_t events;   /* that were added */
  double resolution; /* distance of neighbouring places of the lattice; 0 before the first frame */
  graze_box bounds;  /* of all balls at all frames; empty before the first */
  double fastest;    /* largest speed of a ball at a frame, at most a tenth too high */
} graze_track_info;

GRAZE_API graze_track_info graze_track_get_info(const graze_track *track);

/* Unpacks a frame into the caller's arrays, each of which may be NULL: places, as rounded, which are off by half of the
 * resolution at most on each axis; speeds, off by a twentieth at most, 0 below a sixty-fourth of the resolution per
 * second; what touches. Fastest frame after frame. Errors: ARGUMENT (no such frame), MEMORY. */
GRAZE_API graze_status graze_track_read_frame(graze_track *track, uint32_t frame, double *positions, double *speeds,
                                              bool *touching);

/* The same of orientations: unit quaternions, w >= 0 first, off by 0.4 degrees at most; 1 0 0 0 of balls whose set has
 * no mesh. */
GRAZE_API graze_status graze_track_read_orientations(graze_track *track, uint32_t frame, double *orientations);

/* A page like that of graze_film_write_html: balls and walls, a time line, the curves, the events. Of `report` it takes
 * the head, and its objects, which stand still. Errors: ARGUMENT (no frame), those of graze_film_write_html. */
GRAZE_API graze_status graze_track_write_html(graze_context *context, const char *path, graze_track *track,
                                              const graze_report *report);

/* ---- pictures ---- */

/* A camera that sees all balls of all frames and the objects of the report, for pictures of this aspect ratio. Errors:
 * ARGUMENT. */
GRAZE_API graze_status graze_track_camera(graze_context *context, const graze_track *track, const graze_report *report,
                                          double width_by_height, graze_camera *camera);

/* A frame: balls, or the meshes in their place, coloured as the track says, the edges of the walls and of the box, and
 * the objects of the painter's report; with chances, what has one by that, and all else grey. Errors as those of
 * graze_painter_overview.
 */
GRAZE_API graze_status graze_painter_track(graze_painter *painter, graze_track *track, uint32_t frame,
                                           const graze_camera *camera, graze_picture *picture);

/* `count` frames, evenly spaced from the first to the last, all if there are fewer, as frames/0001.png, ... of the
 * folder, and film.png, an animation of them; such files of an earlier film are removed. Errors: ARGUMENT, FILE,
 * MEMORY, UNSUPPORTED (no OpenGL, no libpng). */
GRAZE_API graze_status graze_track_write_pictures(graze_context *context, const char *folder, graze_track *track,
                                                  const graze_report *report, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
