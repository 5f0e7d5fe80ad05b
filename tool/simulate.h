/* simulate.h: what `graze simulate` was asked for, and a run of it. */
#ifndef TOOL_SIMULATE_H
#define TOOL_SIMULATE_H

#include "base/json.h"
#include "graze/dynamics.h"
#include "graze/io.h"
#include "graze/rigid.h"
#include "graze/track.h"
#include "options.h"
#include "output.h"
#include "session.h"

typedef struct simulate_options {
  common_options common;
  file_list files;
  const char *steps_text, *dt_text; /* NULL: not given */
  uint64_t steps, every;
  double dt;                                                     /* 0: auto */
  const char *final, *energy, *events, *motion, *save, *restore; /* paths, or NULL */
  const char *frames, *record, *replay, *report, *title, *drive; /* likewise */
  const char *hits;                                              /* likewise */
  enum { show_all, show_colliding } show;                        /* at first, in the film */
  graze_track_colour colour;                                     /* the same */
  graze_precision precision;
  bool sleep, check;
  double slop; /* NaN: not given */
  int solver;  /* graze_rigid_solver, or -1: not given */
  bool show_given, colour_given, pictures_given, precision_given;
  uint32_t pictures;
  bool seed_given;
  uint64_t seed, seeds; /* seeds: how many runs; 0: not given, one */
} simulate_options;

/* Events of a run, by graze_contact_event_kind. */
enum { EVENT_KINDS = 3 };

/* Balls side by side, in the order of --final. */
typedef struct simulate_balls {
  graze_track_set *sets; /* an object each, then the sets of particles */
  uint32_t set_count, object_count;
  uint32_t *objects; /* numbers of those that are balls */
  uint64_t count;
  double *radii, *positions, *velocities, *spins;
  double *orientations; /* quaternions, w first; of particles 1 0 0 0: they have none */
  double *middles;      /* of rigid bodies: from the centre of mass to the middle of what is shown, or NULL */
} simulate_balls;

typedef struct simulate_frames simulate_frames;
typedef struct simulate_bodies simulate_bodies;
typedef struct simulate_film simulate_film;
typedef struct simulate_hits simulate_hits;
typedef struct simulate_check simulate_check;
typedef struct simulate_parts simulate_parts;

/* A mesh that objects are made of, or that is drawn: a file's, or of an object that is a box. */
typedef struct simulate_mesh {
  const char *path;
  const graze_scene_file_object *box;
  uint32_t compound; /* of a body that is one: its number and 1 */
  graze_mesh *mesh;
} simulate_mesh;

typedef struct simulate_run {
  const simulate_options *asked;
  session session;
  graze_scene_file file;
  graze_world *world;    /* of balls, or NULL */
  graze_rigid *rigid;    /* of rigid bodies, or NULL */
  graze_body_id *bodies; /* of each object, in a world of balls */
  double (*centers)[3];  /* of each object, in a world of rigid bodies: its centre of mass, in its own coordinates */
  simulate_mesh *meshes;
  uint32_t mesh_count;
  simulate_parts *parts; /* of objects that convex parts of a mesh stand for, or NULL: there are none */
  graze_motion drive;    /* of --drive */
  uint64_t particles;
  uint64_t types[3]; /* number of bodies of each graze_body_type */
  graze_step_limits limits;
  double dt;
  uint64_t first_step; /* of the world, before the run */
  graze_world_sums start, end;
  uint64_t event_counts[EVENT_KINDS];
  const graze_member *left;                              /* who has left the bounds; run->end.left */
  output *energy, *events, *final, *motion, *hits_table; /* or NULL */
  simulate_balls balls;                                  /* if there are frames */
  simulate_frames *frames;                               /* or NULL */
  simulate_film *film;                                   /* or NULL; of many runs it has the first */
  progress_line line;
  uint64_t steps, done; /* all; those before this call of the library */
  bool stopped;
  graze_world_replay *replay;       /* or NULL: whose world it is; */
  graze_rigid_replay *rigid_replay; /* or that */
  bool no_events;                   /* it collects none */
  bool differs;                     /* from what is recorded, */
  uint64_t differs_at;              /* from this step on */
  simulate_hits *hits;              /* or NULL: no blast throws anything */
  simulate_check *check;            /* or NULL: not asked for */
  uint64_t seed, over;              /* of the present run; how many are over */
  uint64_t left_runs;               /* of those that are over, in how many something left the bounds */
} simulate_run;

/* Reads the scene; a failure ends the program. */
void simulate_load(simulate_run *run);

/* Makes the world of it, with the seed of the run, in place of the one there may be. */
void simulate_make(simulate_run *run);
void simulate_free(simulate_run *run);

/* With the seed of the run. */
graze_blast simulate_blast_of(const simulate_run *run, const graze_scene_file_blast *from);

/* Ends the program with the message of a call that has failed, after the scene's name: its numbers made it fail. */
void simulate_must(const simulate_run *run, graze_status status);

/* Whether a pose is a rotation and a place, and no mirror. */
bool simulate_is_turned(const graze_pose *pose);

/* The quaternion (w, x, y, z) of a rotation. */
void simulate_find_quaternion(const double m[12], double q[4]);

/* ---- either model ---- */

uint64_t simulate_get_step(const simulate_run *run);
double simulate_get_time(const simulate_run *run);
uint64_t simulate_get_hash(const simulate_run *run);

/* An object as it is now: of a rigid body name, type, mesh, place, velocities and center. */
void simulate_get_body(const simulate_run *run, uint32_t object, graze_body_def *body);
void simulate_set_velocity(const simulate_run *run, uint32_t object, const double velocity[3], const double spin[3]);
void simulate_get_sums(simulate_run *run, graze_world_sums *sums);
void simulate_get_events(const simulate_run *run, const graze_contact_event **events, uint64_t *count);
void simulate_find_left(simulate_run *run);
graze_status simulate_step(simulate_run *run, uint64_t steps, graze_progress_function progress);
graze_status simulate_save(simulate_run *run, const char *path);
graze_status simulate_restore(simulate_run *run, const char *path);

uint32_t simulate_get_wall_count(const simulate_run *run);
void simulate_get_wall(const simulate_run *run, uint32_t wall, double point[3], double normal[3]);

/* ---- rigid bodies ---- */

/* Refuses what a world of rigid bodies cannot have, or the options that it cannot follow. */
void simulate_check_rigid(const simulate_run *run);
graze_rigid_solver simulate_solver(const simulate_run *run);
/* Makes the world, in place of the one there may be. */
void simulate_make_rigid(simulate_run *run);

/* Points whose hull is drawn for a rigid body, about its centre of mass: how many. */
enum { SIMULATE_MOST_POINTS = 256 };
uint32_t simulate_list_points(const graze_rigid_body_def *body, double (*points)[3]);

/* Faces of a compound's parts about its centre of mass; of each, where the next one begins. */
typedef struct simulate_polygons {
  double *points;
  uint32_t *corners, *ends;
  uint32_t point_count, corner_count, polygon_count;
} simulate_polygons;

void simulate_list_polygons(const simulate_run *run, const graze_rigid_body_def *body, simulate_polygons *polygons);
void simulate_free_polygons(simulate_polygons *polygons);
bool simulate_compounds_are_same(const graze_rigid_body_def *x, const graze_rigid_body_def *y);

/* Meshes, radii and middles of all rigid bodies, for the sets of run->balls. */
void simulate_find_solids(simulate_run *run);

/* Several things that can touch need a material. */
void simulate_check_alone(const simulate_run *run);

/* Of what has no material: the only one that there is. */
uint32_t simulate_material_of(const simulate_run *run, const char *kind, const char *name, uint32_t given);

/* ---- objects that are meshes ---- */

/* The mesh of an object that has one or is a box; those of one file share it. */
const graze_mesh *simulate_take_mesh(simulate_run *run, const graze_scene_file_object *object);
/* That of its file. */
const graze_mesh *simulate_take_file(simulate_run *run, const graze_scene_file_object *object);

/* Reads what "draw" names, for the sets of run->balls. */
void simulate_find_shapes(simulate_run *run);
void simulate_free_meshes(simulate_run *run);

/* Convex parts of an object's mesh, to be freed once the body is made: fills in parts, and mass, centre and inertia of
 * the solid itself; `center` gets the centre too. */
graze_rigid_part *simulate_take_parts(simulate_run *run, const graze_scene_file_object *object,
                                      graze_rigid_body_def *def, double center[3]);
void simulate_free_parts(simulate_run *run);
/* How much they differ from their meshes, of a run that has such. */
void simulate_put_parts(gz_json *writer, const simulate_run *run);
void simulate_print_parts(output *out, const simulate_run *run);

/* Reads the motion file of --drive. */
void simulate_drive_open(simulate_run *run);
/* Gives the objects that it names the velocities that bring them to where it has them after the next step. */
void simulate_drive(simulate_run *run);

/* Takes the events of the last call of the library. */
void simulate_take_events(simulate_run *run);

/* "name", "set/7", "wall/0", to be freed. */
char *simulate_name(const simulate_run *run, const graze_member *member);

/* ---- a record that runs again ---- */

/* Makes the world of the record. */
void simulate_replay_open(simulate_run *run);
void simulate_replay_free(simulate_run *run);

/* Runs at most so many steps, each with its events and compared with the record; at the end of it `run->steps` is
 * known. CANCELLED: interrupted. */
graze_status simulate_replay_steps(simulate_run *run, uint64_t most);

/* ---- tables ---- */

void simulate_put_energy_titles(output *out);
void simulate_put_energy(output *out, const simulate_run *run, const graze_world_sums *sums);
void simulate_put_event_titles(output *out);
void simulate_put_events(const simulate_run *run, const graze_contact_event *events, uint64_t count);

/* A step of a motion file: the poses of all objects that can move. */
void simulate_put_motion_titles(output *out);
void simulate_put_motion(const simulate_run *run, uint64_t step);

/* ",1,2.5" */
void simulate_put_numbers(output *out, const double *numbers, int count);

/* When a step of the last call of the library ended. */
double simulate_step_time(const simulate_run *run, uint64_t step);

/* The state of every ball, into `run->final`. */
void simulate_put_final(const simulate_run *run);

/* ---- frames ---- */

/* Finds sets and radii, and makes room for a state. */
void simulate_balls_list(const simulate_run *run, simulate_balls *balls);
void simulate_balls_free(simulate_balls *balls);

/* Fills in the state of the world. */
void simulate_balls_take(const simulate_run *run, const simulate_balls *balls);

/* Into what --frames names; `balls` are those of every frame, with the state that it has. */
simulate_frames *simulate_frames_open(const simulate_run *run, const simulate_balls *balls);
void simulate_frames_add(simulate_frames *frames, uint64_t step, double time);
void simulate_frames_close(simulate_frames *frames);

/* Rigid bodies, in a file of frames or with their surfaces. */
simulate_bodies *simulate_bodies_open(const simulate_run *run, bool surfaces);
void simulate_bodies_free(simulate_bodies *bodies);
void simulate_bodies_put_head(const simulate_bodies *bodies, output *out);
void simulate_bodies_put_frame(const simulate_bodies *bodies, output *out, uint64_t step, double time);
void simulate_bodies_put_vtk(simulate_bodies *bodies, output *out, double time);

/* ---- the film ---- */

/* Takes the folder that --report names. */
simulate_film *simulate_film_open(const simulate_run *run, const simulate_balls *balls);

/* The state that `balls` has; the sums are those of now. */
void simulate_film_add(simulate_film *film, const simulate_run *run);
void simulate_film_take_events(simulate_film *film, const simulate_run *run, const graze_contact_event *events,
                               uint64_t count);
/* How probably what was hit, over many runs. */
void simulate_film_take_hits(simulate_film *film, const simulate_run *run);
void simulate_film_close(simulate_film *film, const simulate_run *run);

/* ---- hits ---- */

/* NULL: no set and no body has a blast. */
simulate_hits *simulate_hits_open(const simulate_run *run);
void simulate_hits_free(const simulate_run *run);
void simulate_hits_take(const simulate_run *run, const graze_contact_event *events, uint64_t count);
void simulate_hits_begin_run(const simulate_run *run);
void simulate_hits_end_run(const simulate_run *run);

/* Of the present run: what was hit, in the order of time. */
void simulate_hits_put_first(gz_json *writer, const simulate_run *run);
void simulate_hits_print_first(output *out, const simulate_run *run);

/* Of the runs that are over: how often everything was hit. */
void simulate_hits_put(gz_json *writer, const simulate_run *run);
void simulate_hits_put_csv(output *out, const simulate_run *run);
void simulate_hits_print(output *out, const simulate_run *run);

/* Chances of what can be hit, of which there are `count`, free() them; members are objects, then walls. */
graze_track_chance *simulate_hits_list(const simulate_run *run, uint32_t *count);

/* ---- the exact check ---- */

simulate_check *simulate_check_open(const simulate_run *run);
void simulate_check_free(simulate_check *check);

/* The state of now, once; nothing if no check was asked for. */
void simulate_check_take(const simulate_run *run);
/* How deep the deepest pair of that state is; 0 if no check was asked for. */
double simulate_check_depth(const simulate_check *check);
bool simulate_check_found(const simulate_check *check);
void simulate_check_put(gz_json *writer, const simulate_run *run);
void simulate_check_print(output *out, const simulate_run *run);

/* ---- the result ---- */

/* "gpu" when a device has made steps, else "cpu". */
const char *simulate_engine(const simulate_run *run);

void simulate_print_json(output *out, const simulate_run *run);
void simulate_print_text(output *out, const simulate_run *run);

#endif
