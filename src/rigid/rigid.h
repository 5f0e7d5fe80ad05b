/* The inside of a world of rigid bodies. */
#ifndef GRAZE_SRC_RIGID_RIGID_H
#define GRAZE_SRC_RIGID_RIGID_H

#include <math.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "graze/broadphase.h"
#include "graze/collide.h"
#include "graze/convex.h"
#include "graze/rigid.h"
#include "rigid/polytope.h"
#include "rigid/surface.h"

#define RIGID_AT(array, type, i) ((type *)(array).data + (i))

/* A body, or a wall. Rotations are row-major and map to the world. */
typedef struct rigid_body {
  char *name;
  graze_body_type type;
  uint64_t user_id;
  uint32_t material;
  /* The shape: all points within `radius` of the polytope, which has one corner, two, or a surface. */
  graze_rigid_shape shape;
  bool is_wall, is_sensor;
  polytope core;            /* of a MESH and a COMPOUND: the corners of a box around it */
  rigid_surface *surface;   /* of a MESH, and of what has met one */
  struct rigid_body *parts; /* of a COMPOUND, where they are in its coordinates; its core is a box around them */
  graze_box *part_boxes;    /* in its coordinates, a little larger */
  graze_rigid_part *said;   /* the parts as they were given, with densities and points of their own */
  uint32_t part_count;
  double *given; /* of a HULL: its corners as they were given, */
  uint32_t given_count;
  double center[3]; /* and the centre of mass there; of a MESH and a COMPOUND, too */
  double radius, edges[3], length;
  double reach, least; /* of its farthest point from the centre; half of its smallest extent, infinite for a wall and
                        * for a mesh that is open */
  double mass, inverse_mass, moments[3], axes[9]; /* axes: the principal ones, in the body's coordinates */
  double inertia[6], damping[2];
  double position[3], orientation[4], velocity[3], spin[3];
  double rotation[9]; /* of a wall: its normal, in the first row */
  bool left, asleep;
  uint32_t nap;                                /* of those that fell asleep together */
  double rested;                               /* for how long it has hardly moved */
  graze_proxy_id proxy;                        /* while it sleeps */
  double start[3], start_orientation[4];       /* of what is driven: at the start of the step */
  double carried;                              /* mass of it and of what is on it */
  uint32_t supports;                           /* contacts that carry it */
  uint32_t layer;                              /* above what no force moves; transient */
  double world_inertia[9], inverse_inertia[9]; /* along the world's axes, now */
} rigid_body;

/* A point of a contact: in each body's own coordinates, on its core. */
typedef struct rigid_point {
  uint32_t feature;
  uint32_t owner;   /* 0: it moves with a, 1: with b, along the surface of the other */
  double own[2][3]; /* of a, of b */
  double gap;       /* < 0: they overlap */
  double pressed;   /* the last impulse along the normal */
  double approach;  /* in the present step, how fast it opens when surfaces meet */
} rigid_point;

enum { MOST_POINTS = 4 };

/* Where b was in a's coordinates. */
typedef struct rigid_stand {
  double place[3], turn[4];
} rigid_stand;

/* What was found of two polytopes, and where they stood then: it is used as long as they have hardly moved. Of patches
 * `at_axis` is where nothing was deep. */
typedef struct rigid_cache {
  polytope_axis axis;
  rigid_stand at_axis, at_points;
  double margin;    /* up to which gap there are points */
  double normal[3]; /* in the coordinates of the body whose face it is of */
} rigid_cache;

enum { NO_PART = UINT32_MAX };

/* Where two bodies touch, or may before the next step; with a mesh or a compound, one of several places. b may be a
 * wall, whose number counts on from the bodies'. */
typedef struct rigid_contact {
  uint32_t a, b;
  uint32_t count;
  bool is_patch;     /* one of those that a pair with a mesh or a compound has, which stand side by side: */
  bool is_spare;     /* without points yet, for a patch that may come within the step */
  uint32_t slots;    /* of the first one, in the step: how many there are, spare ones too */
  uint32_t patch;    /* its number among them; the first one tells of them all that is told of a pair */
  uint32_t parts[2]; /* of a patch: of compounds, else 0; NO_PART: it is of nothing */
  double radii[2];   /* around the cores on which its points are */
  bool touches;      /* at the end of the last step */
  bool restless;     /* the bodies move so much that points are found anew in every sub-step */
  double normal[3];  /* from b to a */
  rigid_point points[MOST_POINTS];
  rigid_cache cache;
  double speed;                          /* of approach, in the step in which it began */
  double impulse;                        /* since it began */
  double now;                            /* of this step */
  double part;                           /* how long the sub-step of the last impulses was; 0: there are none */
  double dragged[3], rolled[3], twisted; /* impulses of friction: across, and about axes across and along the normal */
  double weight;                         /* that it would carry at rest */
  bool strained;                         /* it carries more than soft springs should */
  double stiffened;                      /* by how many times its soft spring is stiffer than others, less 1 */
  double friction, restitution, rolling, spinning, surface[3];
} rigid_contact;

/* Of a, then of b, or of the world, whose coordinates are then its own. */
typedef struct rigid_joint {
  graze_joint_def def;
  char *name;
  double own[2][3];            /* the points */
  double axis[2][3];           /* the axis, */
  double across[2][3];         /* and what is across it, and the same at first */
  double rest[4];              /* the orientation of a in the axes of b at first */
  double length;               /* between the points at first */
  uint32_t first_row, end_row; /* in the sub-step */
  bool broken;
  double force;
} rigid_joint;

/* FREE: nothing touches it. ALONE: softly, in several rounds or more sub-steps than others. */
typedef enum rigid_way { WAY_FREE, WAY_SOFT, WAY_ALONE, WAY_DIRECT } rigid_way;

/* Bodies that touch each other, directly or by others: parts of arrays of the world. */
typedef struct rigid_island {
  uint32_t first_body, body_count, first_contact, contact_count, first_joint, joint_count;
  rigid_way way;
  uint32_t rounds, sub_steps; /* ALONE: in all */
  double dissipated;          /* in this step */
} rigid_island;

typedef struct rigid_pair {
  uint32_t first, second;
  graze_rigid_material m;
} rigid_pair;

struct graze_rigid {
  graze_context *context;
  graze_rigid_def def;
  gz_array materials;         /* graze_rigid_material */
  gz_array pairs;             /* rigid_pair; the later one counts */
  gz_array bodies;            /* rigid_body */
  gz_array walls;             /* rigid_body */
  gz_array joints;            /* rigid_joint */
  gz_array joined;            /* uint64_t: pairs of bodies that joints hold, sorted */
  rigid_body earth;           /* what joints with the world hold on to */
  gz_array contacts;          /* rigid_contact, by a, then b */
  gz_array awake;             /* uint32_t: bodies that do not sleep, in order */
  gz_array resting;           /* rigid_contact: of those that sleep */
  graze_broadphase *sleepers; /* their boxes */
  uint32_t asleep_count;
  bool list_is_old, sleepers_are_old; /* since somebody was added, fell asleep or woke */
  bool has_compounds;
  gz_array before;         /* those of the step before */
  gz_array ranges, spread; /* while contacts are found: where patches are, and contacts with them */
  gz_array surfaces;       /* rigid_surface *: of meshes, each once */
  gz_array lost;           /* of those, the ones that touched and are no more */
  gz_array events;         /* graze_contact_event */
  gz_array impacts;        /* graze_rigid_impact */
  gz_array comings;        /* rigid_coming: of the first contact of each pair, by its number; events only */
  gz_array left;           /* graze_member */
  gz_array boxes;          /* graze_box */
  gz_array island_of;      /* uint32_t: of each body */
  gz_array island_bodies, island_contacts, island_joints, islands;
  gz_array slots;                      /* uint32_t: of each body, in what is solved softly; 0: none */
  gz_array soft_bodies, soft_contacts; /* uint32_t: those of all islands that are solved so */
  buffer soft[2], bearings;
  struct rigid_worker *workers;
  uint32_t worker_count;
  graze_broadphase *broadphase;
  uint64_t step, start_step;
  double dt, start_time, dissipated;
  bool is_broken;
  struct rigid_checker *checker; /* NULL until somebody asks */
  struct run_recorder *recorder; /* NULL: nobody records */
};

/* Scratch of a worker. */
typedef struct rigid_worker {
  buffer memory, pattern, pairs, used;
  graze_query *query;        /* for meshes; made when first needed */
  gz_array touches, patches; /* feature_touch, rigid_contact: of meshes and compounds */
  gz_array claims;           /* features.c: what may become a touch of two meshes */
  gz_array boxes, olds;      /* graze_box, rigid_contact: of parts of compounds */
  bool no_memory;
} rigid_worker;

static inline rigid_body *rigid_body_at(const graze_rigid *world, uint32_t number) {
  const uint32_t count = (uint32_t)world->bodies.count;
  return number < count ? RIGID_AT(world->bodies, rigid_body, number)
                        : RIGID_AT(world->walls, rigid_body, number - count);
}

/* Of the deepest point of a contact; less than 0 if all are apart, -INFINITY if there is none. */
static inline double rigid_depth_of(const rigid_contact *c) {
  double depth = -(double)INFINITY;
  for (uint32_t i = 0; i < c->count; i++) depth = fmax(depth, -c->points[i].gap);
  return depth;
}

/* Whether a contact is told and nothing else. */
static inline bool rigid_is_sensed(const graze_rigid *world, const rigid_contact *c) {
  return rigid_body_at(world, c->a)->is_sensor || rigid_body_at(world, c->b)->is_sensor;
}

/* ---- motion.c ---- */

/* The matrix of a unit quaternion (w, x, y, z), row by row. */
void gz_rigid_find_rotation(const double q[4], double rotation[9]);
/* Rotation and tensors of the present orientation. */
void gz_rigid_set_rotation(rigid_body *body);

/* Tensors of inertia along the world's axes, with `more` about every axis. */
void gz_rigid_set_inertia(rigid_body *body, double more);

/* A drift: place and orientation after `h`, at the velocity and from the spin that it has, with no torque. */
void gz_rigid_turn_free(rigid_body *body, double h);

/* The orientation `from`, turned with the spin for `h`. */
void gz_rigid_turn_driven(rigid_body *body, const double from[4], double h);

/* Turns by twice the angles whose tangents these are. */
void gz_rigid_turn(rigid_body *body, const double tangent[3]);

/* What is driven, `time` after the start of the step. */
void gz_rigid_drive(rigid_body *body, double time);

/* I^-1/2, along the world's axes. */
void gz_rigid_find_root(const rigid_body *body, double root[9]);

/* Kinetic and potential energy of a dynamic body. */
double gz_rigid_find_energy(const graze_rigid *world, const rigid_body *body);

/* Moves what nothing touches by a step. Returns the energy that goes. */
double gz_rigid_move_free(const graze_rigid *world, rigid_body *body, double dt);

/* ---- collide.c ---- */

/* Where a and b may touch within `margin`, of which `spare` is more than they need: fills normal, points and count.
 * What the contact knows from before is used; points keep their impulses. False: they are the ones from before. */
bool gz_rigid_collide(const rigid_body *a, const rigid_body *b, double margin, double spare, rigid_contact *contact);

/* Of the points of a patch no more than MOST_POINTS, in place: the deepest, and those that span most. Returns how many.
 */
uint32_t gz_rigid_reduce(patch_point *points, uint32_t count, const double normal[3]);

/* Where b is in a's coordinates; and how far a point within `reach` of b's centre has moved there at most. */
void gz_rigid_find_stand(const rigid_body *a, const rigid_body *b, rigid_stand *stand);
double gz_rigid_find_shift(double reach, const rigid_stand *from, const rigid_stand *to);

/* How far apart the bodies are at a point, as they stand; `arms`, unless NULL, are from either centre to where they
 * touch. */
double gz_rigid_find_gap(const rigid_body *a, const rigid_body *b, const rigid_contact *contact,
                         const rigid_point *point, double arms[2][3]);

/* ---- joints.c ---- */

/* Whether an unbroken joint holds the two. */
bool gz_rigid_are_joined(const graze_rigid *world, uint32_t a, uint32_t b);
/* After joints were added, or have broken. */
graze_status gz_rigid_list_joined(graze_rigid *world);

/* ---- shapes.c ---- */

/* What no shape can be is refused. */
graze_status gz_rigid_check_shape(graze_context *context, const char *words, const graze_rigid_body_def *def);
/* The numbers of the shape that was said. */
void gz_rigid_set_shape(rigid_body *b, const graze_rigid_body_def *def);
/* The hull of a shape that is made by one, else NULL; to be destroyed, whatever comes back. */
graze_status gz_rigid_open_shape(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                 graze_hull **hull);
graze_status gz_rigid_find_mass(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                const graze_hull *hull, double density, graze_mass *mass);
/* What contacts need of a mesh, made once for all bodies that have it. Errors: MEMORY. */
graze_status gz_rigid_share_surface(graze_rigid *world, const graze_mesh *mesh, rigid_surface **surface);
/* Core and extents of a body whose shape is said, about the centre of its hull. False: memory refused. */
bool gz_rigid_make_core(const graze_context *context, rigid_body *b, const graze_hull *hull, const double center[3]);

/* ---- parts.c ---- */

graze_status gz_rigid_check_parts(graze_context *context, const char *words, const graze_rigid_body_def *def);
/* Sums over the parts of a compound; those without a density have this one, or 1 if it is NaN. */
graze_status gz_rigid_weigh_parts(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                  double density, graze_mass *mass);
/* Whether all have a density of their own. */
bool gz_rigid_parts_are_dense(const graze_rigid_body_def *def);
/* The parts of a compound about the centre of mass, core and extents. */
graze_status gz_rigid_make_parts(graze_context *context, const char *words, const graze_rigid_body_def *def,
                                 rigid_body *b);
void gz_rigid_free_parts(rigid_body *b);
/* A part as a body of its own, where it is now. */
void gz_rigid_pose_part(const rigid_body *body, uint32_t part, rigid_body *posed);

/* ---- sleep.c ---- */

/* Lists those that do not sleep, if that has changed. False: memory refused. */
bool gz_rigid_list_awake(graze_rigid *world);
/* Wakes the island of a body; all; all that rest on a body. */
graze_status gz_rigid_wake(graze_rigid *world, uint32_t body);
graze_status gz_rigid_wake_all(graze_rigid *world);
graze_status gz_rigid_wake_riders(graze_rigid *world, uint32_t body);
/* Wakes those that somebody awake would touch within `dt`; boxes of the awake are there. */
graze_status gz_rigid_wake_touched(graze_rigid *world, double dt, bool *any);
/* After a step. */
graze_status gz_rigid_fall_asleep(graze_rigid *world, double dt);
/* After bodies were told from outside whether they sleep. */
graze_status gz_rigid_restore_sleep(graze_rigid *world);

/* ---- contacts.c ---- */

/* The box of a body as it stands, a little larger. */
void gz_rigid_find_box(const rigid_body *body, graze_box *box);

/* Finds all contacts that there may be within the next `dt`. */
graze_status gz_rigid_find_contacts(graze_rigid *world, double dt);
/* After a step: which touch; what is told of them. */
graze_status gz_rigid_tell(graze_rigid *world);
/* Points anew, where the bodies stand now, `since` the start of the step; `dt`: how long they are to last. Of patches,
 * the first has it done for all of its pair. */
graze_status gz_rigid_refresh(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double since,
                              double dt, rigid_contact *c, rigid_worker *worker);
/* How many contacts a pair has, from its first one on; `end`: of the list. */
size_t gz_rigid_count_patches(const rigid_contact *first, const rigid_contact *end);
/* Whether two would touch within `dt`. */
graze_status gz_rigid_would_touch(graze_rigid *world, uint32_t first, uint32_t second, double dt, bool *touch);
/* Whether two bodies move so much in `dt` that their points are to be found anew within it. */
bool gz_rigid_is_restless(const rigid_body *a, const rigid_body *b, double dt);
/* In how many parts, at most 256, a step is to be done, so that in none of them a restless body goes farther than the
 * smaller of the two is thick. */
uint32_t gz_rigid_count_parts(const graze_rigid *world, const rigid_contact *c, double dt);
graze_rigid_material gz_rigid_mix(const graze_rigid *world, uint32_t first, uint32_t second);

/* ---- impacts.c ---- */

/* When a and b, the two of a contact, the first of so many patches, will be at each other: asked `since` the start of
 * the step. */
void gz_rigid_foresee(const graze_rigid *world, const rigid_body *a, const rigid_body *b, const rigid_contact *c,
                      size_t count, double since);
/* At the start of a step. Errors: MEMORY. */
graze_status gz_rigid_foresee_all(graze_rigid *world);
/* Of a contact that has begun, as the event tells. False: memory refused. */
bool gz_rigid_keep_impact(graze_rigid *world, const rigid_contact *c, const graze_contact_event *event);

/* ---- check.c ---- */

void gz_rigid_free_checker(graze_rigid *world);

/* ---- record.c ---- */

/* While a world is recorded: that nothing can be added. */
graze_status gz_rigid_refuse_recorded(const graze_rigid *world);
/* These do nothing when nobody records, and keep errors in the recorder. Calls that have succeeded. */
void gz_rigid_record_step(const graze_rigid *world);
void gz_rigid_record_velocity(const graze_rigid *world, uint32_t body, const double velocity[3], const double spin[3]);
void gz_rigid_record_wake(const graze_rigid *world, uint32_t body);
void gz_rigid_record_state(const graze_rigid *world);
/* Ends the record if there is one; the first error. */
graze_status gz_rigid_close_record(graze_rigid *world);

/* ---- step.c ---- */

/* Names the body and the step. */
graze_status gz_rigid_fail_not_finite(const graze_rigid *world, uint32_t body);

/* ---- islands.c ---- */

graze_status gz_rigid_find_islands(graze_rigid *world);

/* ---- choose.c ---- */

/* Says of every island how it is to be moved. False: memory refused. */
bool gz_rigid_choose_ways(graze_rigid *world, double dt);

/* ---- soft.c ---- */

/* What is solved softly together, in so many rounds, of which each finds contacts anew, and so many sub-steps in all,
 * or as many more as make those of a round a whole number. */
typedef struct soft_work {
  const uint32_t *bodies, *contacts;
  uint32_t body_count, contact_count, rounds, sub_steps;
} soft_work;

/* Moves them by a step, and adds the energy that goes to the world's. False: memory refused. */
bool gz_soft_move(graze_rigid *world, const soft_work *work, double dt);

/* ---- move.c ---- */

/* Moves an island by a step, with all its contacts and joints solved at once. False: memory refused. */
bool gz_rigid_move_island(graze_rigid *world, rigid_island *island, double dt, rigid_worker *worker);

#endif
