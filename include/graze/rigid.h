/* graze/rigid.h: rigid bodies that fall, tumble, slide, stack and come to rest.
 *
 * A world holds solids of several shapes and walls, and moves them in steps of some length, each of a few sub-steps.
 * Between two contacts a body turns by a split method that keeps its angular momentum, and its energy within a bound.
 * Contacts are stiff springs that only push, with Coulomb's friction. They are solved one after the other, which costs
 * the same for every body however many there are, or all at once, which keeps what rests where it is, whatever its mass
 * and however high the pile. docs/rigid.md tells the methods and their sources.
 * Units are the caller's, as long as they agree: metres, seconds, kilograms, radians. Axes are those of the world.
 *
 * The state after any number of steps is the same, bit for bit, for any number of threads and every instruction set,
 * and for a run that was saved and restored in the middle.
 */
#ifndef GRAZE_RIGID_H
#define GRAZE_RIGID_H

#include "graze/base.h"
#include "graze/dynamics.h"
#include "graze/mass.h"
#include "graze/math.h"
#include "graze/rays.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_rigid graze_rigid;

/* How velocities are found that obey contacts. SOFT: contact by contact, several times in a step, at a fixed cost for
 * each; what carries much sinks. NEWTON: all contacts of bodies that touch at once, exactly, at a cost that grows with
 * their number. AUTO: SOFT, but NEWTON where a contact carries more than it should and that is cheap enough. Bodies
 * that joints hold are always solved by NEWTON. */
typedef enum graze_rigid_solver { GRAZE_RIGID_AUTO, GRAZE_RIGID_SOFT, GRAZE_RIGID_NEWTON } graze_rigid_solver;

typedef struct graze_rigid_def {
  double gravity[3];         /* acceleration; default 0, 0, -9.81 */
  graze_box bounds;          /* bodies whose centre is outside after a step have left; default: empty, none */
  uint32_t substeps;         /* of each step, 1 to 1000; default 4 */
  double push_speed;         /* bodies that overlap are pushed apart no faster; above 0, default 1 */
  double rebound;            /* approach slower than this is not thrown back, whatever the restitution; default 0.2 */
  graze_rigid_solver solver; /* default AUTO */
  bool sleep;                /* bodies that rest are left out until something touches them; default false */
  double sleep_speed;        /* which nothing of those that rest has; above 0, default 0.05 */
  bool events;               /* collect them; default false */
  uint32_t cookie;
} graze_rigid_def;

GRAZE_API graze_rigid_def graze_default_rigid_def(void);

/* Errors: ARGUMENT, NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_rigid_create(graze_context *context, const graze_rigid_def *def, graze_rigid **world);
GRAZE_API void graze_rigid_destroy(graze_rigid *world);

/* As it was when the world was made. Errors: ARGUMENT. */
GRAZE_API graze_status graze_rigid_get_def(const graze_rigid *world, graze_rigid_def *def);

/* ---- materials --------------------------------------------------------------------------------------------------- */

typedef struct graze_rigid_material {
  double friction;          /* Coulomb's coefficient, at least 0; default 0 */
  double restitution;       /* ratio of speeds after and before an impact, 0 to 1; default 0 */
  double rolling, spinning; /* round shapes only: torque against relative spin across and along the normal, at most so
                             * much times the normal force and the reduced radius; default 0 */
  double surface_speed[3];  /* of what no force moves, whose surface runs with it, as a belt's; default 0 */
  uint32_t cookie;
} graze_rigid_material;

GRAZE_API graze_rigid_material graze_default_rigid_material(void);

/* `material` gets its number. Of two materials in contact each coefficient is sqrt(x y). Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_rigid_add_material(graze_rigid *world, const graze_rigid_material *material,
                                                uint32_t *number);

/* Says instead what holds between the two. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_rigid_set_pair(graze_rigid *world, uint32_t first, uint32_t second,
                                            const graze_rigid_material *material);

/* ---- what is in a world ------------------------------------------------------------------------------------------ */

/* A cylinder meets others as a prism of 24 sides whose edges lie on it; its mass and inertia are its own. A hull has at
 * most 256 corners and faces, and no face of more than 32 corners. A mesh is taken as it is, with its hollows and
 * holes. If it is closed and its triangles face outward, it may move; any other stands or is driven, and is solid
 * behind the side from which its triangles are seen counter-clockwise. A compound is what its convex parts
 * fill together. */
typedef enum graze_rigid_shape {
  GRAZE_RIGID_SPHERE,
  GRAZE_RIGID_BOX,
  GRAZE_RIGID_CAPSULE,
  GRAZE_RIGID_CYLINDER,
  GRAZE_RIGID_HULL,
  GRAZE_RIGID_MESH,
  GRAZE_RIGID_COMPOUND
} graze_rigid_shape;

/* A part of a COMPOUND: a SPHERE, BOX, CAPSULE, CYLINDER or HULL, said as for a body, at a place of its own. */
typedef struct graze_rigid_part {
  graze_rigid_shape shape;
  double radius, edges[3], length;
  const double *points; /* HULL: in the part's coordinates */
  uint32_t point_count;
  double place[3];       /* of the part's origin in the compound's coordinates, which are the caller's */
  double orientation[4]; /* quaternion w x y z; default 1 0 0 0; made a unit one */
  double density;        /* default NaN: that of the body */
  uint32_t cookie;
} graze_rigid_part;

GRAZE_API graze_rigid_part graze_default_rigid_part(void);

typedef struct graze_rigid_body_def {
  const char *name; /* copied; NULL = "" */
  graze_body_type type;
  graze_rigid_shape shape;
  double radius;        /* SPHERE, CAPSULE, CYLINDER */
  double edges[3];      /* BOX: whole */
  double length;        /* CAPSULE: of its axis, which is along z and ends in the middles of the caps; CYLINDER */
  const double *points; /* HULL: three each, about any origin; copied. graze_rigid_get_body gives the corners, about
                         * the centre of mass, which belong to the world */
  uint32_t point_count;
  const graze_mesh *mesh; /* MESH: must outlive the world, and not be refitted; bodies with the same one share what is
                           * made of it */
  const graze_rigid_part *parts; /* COMPOUND: copied. Mass and inertia are sums: where parts overlap, there is as much
                                  * more. graze_rigid_get_body gives them as they were given, with densities; they
                                  * belong to the world */
  uint32_t part_count;
  double position[3];    /* of the middle; of a HULL, a MESH and a COMPOUND, of its centre of mass: see
                          * graze_rigid_find_..._center */
  double orientation[4]; /* quaternion w x y z; default 1 0 0 0; made a unit one */
  double velocity[3];    /* of the centre of mass */
  double spin[3];
  double mass, density; /* DYNAMIC: one of the two; the other is NaN, as both by default. graze_rigid_get_body gives the
                         * mass. Of a COMPOUND whose parts all have a density both may be NaN, and with a mass the
                         * densities say how it is shared, one that is NaN being 1 */
  double inertia[6];    /* xx yy zz xy xz yz, about the centre of mass and along the shape's axes; inertia[0] NaN, the
                         * default: that of the shape */
  double linear_damping, angular_damping; /* per second: v' = -c v; default 0 */
  uint32_t material;
  bool sensor; /* STATIC, KINEMATIC: events tell what touches it, but nothing is pushed or held, joined, or kept from
                * falling asleep by it; checks and casts pass it over. One that moves wakes what it meets */
  uint64_t user_id;
  double center[3]; /* HULL, MESH, COMPOUND: the centre of mass in the coordinates in which they were given; that is
                     * found, and told by graze_rigid_get_body. Of a COMPOUND whose parts stand for some other solid,
                     * as those of graze_mesh_decompose do, it may be said: center[0] is NaN, the default, where it is
                     * not. A DYNAMIC one then needs mass and inertia too, which are those of that solid */
  uint32_t cookie;
} graze_rigid_body_def;

GRAZE_API graze_rigid_body_def graze_default_rigid_body_def(void);

/* The centre of mass of the hull of points. Errors: ARGUMENT (it has no volume), those of graze_hull_create, MEMORY. */
GRAZE_API graze_status graze_rigid_find_hull_center(graze_context *context, uint32_t count, const double *points,
                                                    double center[3]);

/* The centre of mass of a mesh in its own coordinates; of one without an inside, its origin. Errors: MEMORY. O(n). */
GRAZE_API graze_status graze_rigid_find_mesh_center(graze_context *context, const graze_mesh *mesh, double center[3]);

/* The centre of mass of parts; those without a density have the one that is given, or 1 if that is NaN. Errors:
 * ARGUMENT, NOT_FINITE (the message has part and field), those of graze_hull_create, MEMORY. */
GRAZE_API graze_status graze_rigid_find_parts_center(graze_context *context, uint32_t count,
                                                     const graze_rigid_part *parts, double density, double center[3]);

/* Bodies have numbers from 0 on, in the order in which they are added; they may be added at any time. Errors: ARGUMENT
 * and NOT_FINITE (the message has body, part and field), UNSUPPORTED (a dynamic body of a mesh without an inside: the
 * message says why it has none), LIMIT, MEMORY. */
GRAZE_API graze_status graze_rigid_add_body(graze_rigid *world, const graze_rigid_body_def *def, uint32_t *body);
GRAZE_API uint32_t graze_rigid_get_body_count(const graze_rigid *world);

/* The body as it is now; the name belongs to the world. Errors: HANDLE. */
GRAZE_API graze_status graze_rigid_get_body(const graze_rigid *world, uint32_t body, graze_rigid_body_def *def);

/* Moves a kinematic body, or throws a dynamic one, from now on. Errors: HANDLE, ARGUMENT (it is static), NOT_FINITE. */
GRAZE_API graze_status graze_rigid_set_velocity(graze_rigid *world, uint32_t body, const double velocity[3],
                                                const double spin[3]);

/* Gives a dynamic body, in place of what it has, a velocity straight away from the center and a spin, as
 * graze_world_blast does: it depends on the seed and on the body's number alone, and on where its centre of mass is. A
 * record has the velocity. Errors: HANDLE, ARGUMENT (it is not dynamic; speeds), NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_rigid_blast(graze_rigid *world, uint32_t body, const graze_blast *blast);

/* Of a world whose bodies sleep: islands do, bodies that touch each other, after they have rested for half a second,
 * and wake together: by a contact that comes, by graze_rigid_wake or a velocity that is set, and when what they lie on
 * is driven, or when bodies are joined or walls added. What is awake does the same, bit for bit, as if nobody slept. */

/* Wakes the island of a body. Errors: HANDLE, MEMORY. */
GRAZE_API graze_status graze_rigid_wake(graze_rigid *world, uint32_t body);
GRAZE_API bool graze_rigid_is_asleep(const graze_rigid *world, uint32_t body);
GRAZE_API uint32_t graze_rigid_get_asleep_count(const graze_rigid *world);

/* A wall: all that is behind the plane is solid. `normal` points to the free side and need not have length 1. Walls are
 * numbered in order. Errors: ARGUMENT, NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_rigid_add_wall(graze_rigid *world, const double point[3], const double normal[3],
                                            uint32_t material);
GRAZE_API uint32_t graze_rigid_get_wall_count(const graze_rigid *world);

/* `normal` has length 1, but for rounding. Errors: HANDLE. */
GRAZE_API graze_status graze_rigid_get_wall(const graze_rigid *world, uint32_t wall, double point[3], double normal[3]);

/* ---- joints ------------------------------------------------------------------------------------------------------ */

/* What two bodies keep in common at a point, as they are when the joint is added. BALL: the point. HINGE: the point and
 * the axis. SLIDER: the axis, along which they shift, and how they are turned. FIXED: everything. DISTANCE: how far
 * their points are apart. */
typedef enum graze_joint_type {
  GRAZE_JOINT_BALL,
  GRAZE_JOINT_HINGE,
  GRAZE_JOINT_SLIDER,
  GRAZE_JOINT_FIXED,
  GRAZE_JOINT_DISTANCE
} graze_joint_type;

#define GRAZE_NO_BODY UINT32_MAX

/* The coordinate of a HINGE is the angle of a against b about the axis, of a SLIDER the shift of a along it, both 0 at
 * first; of a DISTANCE it is the distance. NaN: not given, the default of all numbers but the axis. */
typedef struct graze_joint_def {
  const char *name; /* copied; NULL = "" */
  graze_joint_type type;
  uint32_t a, b;                  /* b may be GRAZE_NO_BODY: the world */
  double point[3];                /* where; of a DISTANCE on a */
  double other[3];                /* DISTANCE: on b */
  double axis[3];                 /* HINGE, SLIDER: in the world, of any length; default 0, 0, 1 */
  double limits[2];               /* of the coordinate; an angle's are within -pi and pi */
  double motor_speed, motor_most; /* HINGE, SLIDER: drives the coordinate with a force, or torque, of at most `most` */
  double spring, spring_damping;  /* HINGE, SLIDER, DISTANCE: towards 0, or the distance at first. A DISTANCE with a
                                   * spring or limits is not held otherwise */
  double breaks_at;               /* the joint is no more once the force at its point is larger */
  uint32_t cookie;
} graze_joint_def;

GRAZE_API graze_joint_def graze_default_joint_def(void);

/* Bodies of a joint do not collide with each other while it holds. Errors: ARGUMENT and NOT_FINITE (the message has
 * joint and field), HANDLE, MEMORY. */
GRAZE_API graze_status graze_rigid_add_joint(graze_rigid *world, const graze_joint_def *def, uint32_t *joint);
GRAZE_API uint32_t graze_rigid_get_joint_count(const graze_rigid *world);

typedef struct graze_joint_state {
  bool broken;
  double coordinate; /* 0 of a BALL and a FIXED */
  double force;      /* at its point, in the last sub-step */
} graze_joint_state;

/* Errors: HANDLE. */
GRAZE_API graze_status graze_rigid_get_joint(const graze_rigid *world, uint32_t joint, graze_joint_state *state);

/* ---- motion ------------------------------------------------------------------------------------------------------ */

/* Runs `count` steps of `dt`. `progress` may be NULL; a run that it cancels stops after a whole step. Errors: ARGUMENT
 * (dt is not finite and above 0), NOT_FINITE (a number of the state is no longer finite: the message has body and
 * step), MEMORY, LIMIT, CANCELLED. After NOT_FINITE and MEMORY the world can only be restored or destroyed. */
GRAZE_API graze_status graze_rigid_step(graze_rigid *world, double dt, uint64_t count, graze_progress_function progress,
                                        void *user);
GRAZE_API uint64_t graze_rigid_get_step(const graze_rigid *world);
GRAZE_API double graze_rigid_get_time(const graze_rigid *world);

/* Sums over dynamic bodies, as for balls: `elastic` is 0, `dissipated` is the energy that contacts and damping
 * have taken, less what driven bodies have given, `contacts` counts pairs of bodies, and bodies and walls, that touch
 * or overlap, and `max_overlap` is the deepest. Errors: MEMORY. O(n). */
GRAZE_API graze_status graze_rigid_get_sums(graze_rigid *world, graze_world_sums *sums);

/* touching[i]: whether body i touches or overlaps anything, at the end of the last step. O(n). */
GRAZE_API void graze_rigid_find_touching(const graze_rigid *world, bool *touching);

/* The bodies that `left` counts, by number. The list belongs to the world and is valid until the next call that is not
 * const. Errors: MEMORY. */
GRAZE_API graze_status graze_rigid_find_left(graze_rigid *world, const graze_member **bodies, uint64_t *count);

/* Events of the last call of graze_rigid_step, by step, then by bodies. Began: speed of approach; a hit comes with it
 * if they approached at `rebound` or faster, with the impulse of that step; ended: impulse over the whole contact. They
 * belong to the world and are valid until its next step. Errors: ARGUMENT (the world collects none). */
GRAZE_API graze_status graze_rigid_get_events(const graze_rigid *world, const graze_contact_event **events,
                                              uint64_t *count);

/* How a contact began. */
typedef struct graze_rigid_impact {
  uint64_t step;
  double before; /* how long before the end of that step; below 0, by no more than a sub-step, for what was stopped
                  * before it would touch */
  graze_member a, b;
  double point[3], normal[3]; /* the normal is from b to a */
  double speed;               /* of approach, of the two points that touch; at most 0: they touched from the start */
  double velocity[3];         /* of a's centre relative to b's, before they push; of what is driven its surface's */
} graze_rigid_impact;

/* One for each event that tells of a beginning, in the same order, from the same call: where, when and how fast, before
 * the two have pushed each other. Both fly on as they were when points of contact were found, so that time and place
 * are exact but for rounding as long as neither turns, nor the normal along what is round, and else off by what such a
 * turn makes within a step. They belong to the world and are valid until its next step. Errors: ARGUMENT (the world
 * collects no events). */
GRAZE_API graze_status graze_rigid_get_impacts(const graze_rigid *world, const graze_rigid_impact **impacts,
                                               uint64_t *count);

/* As graze_world_get_hash, over the dynamic bodies in the order of their numbers. */
GRAZE_API uint64_t graze_rigid_get_hash(const graze_rigid *world);

/* Saves all that the next steps depend on. Errors: MEMORY, FILE. */
GRAZE_API graze_status graze_rigid_save(graze_rigid *world, const char *path);

/* Puts the world into a state that was saved from one with the same definition, materials, bodies and walls. Errors:
 * MEMORY, FILE, FORMAT (damaged, or of another world). After an error the world can only be restored from another file
 * or destroyed. */
GRAZE_API graze_status graze_rigid_restore(graze_rigid *world, const char *path);

/* ---- casts ------------------------------------------------------------------------------------------------------- */

/* What a line meets first. */
typedef struct graze_rigid_hit {
  bool hit;
  graze_member member;        /* a body or a wall */
  uint32_t part;              /* of a COMPOUND */
  uint32_t triangle;          /* of a MESH */
  double t;                   /* the parameter of the place */
  double point[3], normal[3]; /* the place, and the outward normal there; 0 where a line starts inside */
} graze_rigid_hit;

/* What each line (graze/rays.h) meets first of all bodies, where they stand, and walls; of several at one parameter the
 * body with the lowest number, walls last. Bodies are solid: a line that starts in one meets it at 0; of a MESH it is
 * the surface alone that is met, by the exact decision of graze_rays_first, tier T1, and t is the lower of its two
 * doubles. Other shapes are met in doubles, to some units in the last place of the coordinates; cylinders are round
 * here. hits[i] is that of line i, the same bytes for any number of threads and any instruction set. Errors: as
 * graze_rays_first; NOT_FINITE (the world is broken). O(bodies) boxes a line, and what it costs to look at those that
 * the line meets. */
GRAZE_API graze_status graze_rigid_cast_rays(graze_rigid *world, const graze_rays *rays, graze_rigid_hit *hits);

/* A shape that moves straight, without turning. */
typedef struct graze_rigid_shape_cast {
  graze_rigid_part shape; /* SPHERE, BOX, CAPSULE or HULL, where it begins; its density does not matter */
  double way[3];          /* the whole of it */
} graze_rigid_shape_cast;

/* What it meets first. Times are parts of the way, from 0 to 1. */
typedef struct graze_rigid_shape_hit {
  bool hit;            /* that something is met is proved */
  graze_member member; /* what is met at `upper`: a body or a wall */
  uint32_t part;       /* of a COMPOUND */
  uint32_t triangle;   /* of a MESH */
  double lower, upper; /* before `lower` nothing is met, by `upper` the member is: proved. Without a hit `upper` is
                        * infinite, and `lower` is 1, or less where it is not known whether the two touch */
  double point[3];     /* where, at `upper`: on the member */
  double normal[3];    /* there, from the member to the shape; 0: in the middle of each other */
} graze_rigid_shape_hit;

/* What each shape meets first of all bodies, where they stand, and walls; hits[i] is that of casts[i], the same bytes
 * for any number of threads and any instruction set. Of several that are met at the least time the body with the lowest
 * number, walls last. Bodies are solid, but of a MESH the surface alone is met. Proofs are of points as poses round
 * them, and `upper` is of the shape at the place that the way rounds to. Mostly the two times are a few 2^-44 apart;
 * where a shape slides past something farther, and with a cylinder, between prisms of which each is within 1.4e-4 of
 * its radius, by as much as that takes. Errors: ARGUMENT and NOT_FINITE (the message has cast and field), UNSUPPORTED
 * (a CYLINDER), LIMIT (2^32 - 1 casts or more), NOT_FINITE (the world is broken), MEMORY. O(bodies) boxes a cast, and
 * triangles of meshes whose boxes the cast meets, and a few microseconds for each part or triangle whose box it meets.
 */
GRAZE_API graze_status graze_rigid_cast_shapes(graze_rigid *world, uint64_t count, const graze_rigid_shape_cast *casts,
                                               graze_rigid_shape_hit *hits);

/* ---- exact checks ------------------------------------------------------------------------------------------------ */

/* Two bodies, or a body and a wall, that overlap. The depth is the length of the least translation that parts them, so
 * that they touch or are separate. */
typedef struct graze_rigid_overlap {
  graze_member a, b;   /* a: a body; b: one of a higher number, or a wall */
  double lower, upper; /* the depth lies between them: proved; upper may be infinite */
  bool unknown;        /* whether it is more than what is forgiven is not known */
} graze_rigid_overlap;

typedef struct graze_rigid_check_result {
  double slop;                         /* the depth that is forgiven */
  uint64_t pairs;                      /* that were looked at: bodies whose boxes meet, and bodies and walls */
  uint64_t joined;                     /* pairs of bodies that joints hold: these are left out */
  graze_rigid_overlap deepest;         /* of all, forgiven or not, by what is proved; upper is 0: nothing overlaps */
  const graze_rigid_overlap *overlaps; /* of more than slop, and unknown ones; in the order of a, then b, walls last */
  uint64_t count;
} graze_rigid_check_result;

/* Which bodies overlap each other or walls by more than `slop`, as they stand: decided by the exact relations of convex
 * sets (graze/convex.h) and of meshes (graze/relate.h) at the poses of the bodies' quaternions as
 * graze_pose_from_quaternion gives them, tier T1, and not by the contacts that moved them. At least one of the two is
 * not static, and no joint holds them. NaN: a fiftieth of what the thinnest body that is not static measures across. A
 * cylinder is round here; it is decided between a prism within it and one around it, whose sides are nearer to it than
 * 2e-7 of its radius, and with a mesh 2e-4. Of a mesh that is open the surface alone counts; how deep others are in a
 * mesh is bounded by ways out that are proved, and from below by their deepest vertex or end, so that more is unknown.
 * The result belongs to the world and is valid until the next call. Errors: ARGUMENT (slop is below 0 or infinite),
 * NOT_FINITE (the world is broken), MEMORY. O(n log n) for n bodies that are spread out, and a few microseconds for
 * each pair of convex bodies; a pair with a mesh that overlaps takes up to some hundred relations of the two. */
GRAZE_API graze_status graze_rigid_check(graze_rigid *world, double slop, graze_rigid_check_result *result);

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Starts a record: a file with all that the world is made of and its present state, to which calls that move it are
 * appended as they succeed: steps, each with the hash of the state after it, velocities that were set, bodies that were
 * woken, states that were restored. Nothing can be added to the world meanwhile. An error of the record (a full disk,
 * no memory) does not disturb the world: it is returned by graze_rigid_record_end, and the part written before it can
 * be read. Errors: ARGUMENT (the world is being recorded already), NOT_FINITE (it is broken), MEMORY, FILE. */
GRAZE_API graze_status graze_rigid_record(graze_rigid *world, const char *path);

/* Ends the record. graze_rigid_destroy does the same but returns no error. */
GRAZE_API graze_status graze_rigid_record_end(graze_rigid *world);

typedef struct graze_rigid_replay graze_rigid_replay;

/* Opens a record and makes its world, as it was when the record was started. Errors: FILE, FORMAT (damaged, or no
 * record), MEMORY, and those of the calls that fill a world. */
GRAZE_API graze_status graze_rigid_replay_open(graze_context *context, const char *path, graze_rigid_replay **replay);
GRAZE_API void graze_rigid_replay_close(graze_rigid_replay *replay);

/* The world after the last step; owned by the replay, which alone may move it. */
GRAZE_API graze_rigid *graze_rigid_replay_get_world(graze_rigid_replay *replay);

/* Runs the calls up to the end of the next step, whose number is 0 at the end of the record. Errors: FILE, FORMAT
 * (damaged, or cut off: the message has the byte), and those of the calls. */
GRAZE_API graze_status graze_rigid_replay_next(graze_rigid_replay *replay, graze_world_replay_step *step);

#ifdef __cplusplus
}
#endif
#endif
