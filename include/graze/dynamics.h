/* graze/dynamics.h: bodies that move, bump into each other and come to rest.
 *
 * A world holds balls (particles in sets of any size, and bodies) and walls, and moves them by the discrete element
 * method: balls are stiff springs and dashpots where they overlap, and Newton's laws are integrated in small steps.
 * Units are the caller's, as long as they agree: metres, seconds, kilograms, newtons, radians. Axes are those of the
 * world.
 *
 * The state after any number of steps is the same, bit for bit, for any number of threads, every instruction set, on
 * devices, and for a run that was saved and restored in the middle. So a ball adds up its forces in an order that does
 * not depend on how neighbours were found: its partners by number, then walls, then meshes, nearest contact first, then
 * drag and gravity. Balls are numbered from 0: the dynamic bodies in the order in which they were added, then the
 * particles of the sets in theirs, then the static and kinematic bodies.
 *
 * Between i and j let n be the unit vector from the centre of j to that of i, o the overlap r_i + r_j - distance, u the
 * velocity of i minus that of j where they touch, u_n = u.n, u_t = u - u_n n, and m = m_i m_j / (m_i + m_j), or m_i
 * against what has no mass. The contact is in the middle of the overlap. While o > 0,
 *   f_n = k_n o - eta_n u_n                     (Hertz: k_n = 4/3 E* sqrt(R* o))
 * and with GRAZE_END_FORCE not less than 0. Across it, f_t is
 *   NONE     0
 *   DASHPOT  -eta_t u_t, at most friction |f_n|
 *   SPRING   -k_t s - eta_t u_t, at most friction |f_n|, where s' = u_t, kept in the plane across n; what friction cuts
 *            off the force it takes from s; Mindlin's k_t goes to 0 with o, and there s is cut as the force is
 *   FULL     -eta_n u_t, where u is that of the centres: no torque and no friction
 */
#ifndef GRAZE_DYNAMICS_H
#define GRAZE_DYNAMICS_H

#include "graze/base.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_world graze_world;

/* LEAPFROG: half a step of velocity, a step of place, half a step of velocity; forces see the velocity after the first
 * half. EULER (semi-implicit): a step of velocity, then one of place. */
typedef enum graze_integrator { GRAZE_LEAPFROG, GRAZE_EULER } graze_integrator;

typedef struct graze_world_def {
  double gravity[3]; /* acceleration; default 0, 0, -9.81 */
  graze_integrator integrator;
  graze_box bounds; /* balls whose centre is outside after a step have left; default: empty, none */
  bool periodic[3]; /* what is or gets outside `bounds` on this axis comes in on the other side */
  bool events;      /* collect them; default false */
  /* FLOAT: of positions, velocities, spins and accelerations of balls, of radii, 1 / mass and 1 / moment of inertia the
   * nearest float is kept, 0 below 2^-126; forces are still computed in doubles. Half the bytes on a device. It is
   * another state with another hash, the same on every engine. Default DOUBLE. */
  graze_precision precision;
  uint32_t cookie;
} graze_world_def;

GRAZE_API graze_world_def graze_default_world_def(void);

/* Errors: ARGUMENT (periodic without bounds), NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_world_create(graze_context *context, const graze_world_def *def, graze_world **world);
GRAZE_API void graze_world_destroy(graze_world *world);

/* As the world was made. Errors: ARGUMENT. */
GRAZE_API graze_status graze_world_get_def(const graze_world *world, graze_world_def *def);

/* ---- materials --------------------------------------------------------------------------------------------------- */

typedef enum graze_normal_law { GRAZE_HOOKE, GRAZE_HERTZ } graze_normal_law;
typedef enum graze_contact_end { GRAZE_END_OVERLAP, GRAZE_END_FORCE } graze_contact_end;
typedef enum graze_tangential_law {
  GRAZE_TANGENTIAL_NONE,
  GRAZE_TANGENTIAL_DASHPOT,
  GRAZE_TANGENTIAL_SPRING,
  GRAZE_TANGENTIAL_FULL
} graze_tangential_law;

/* NaN: not given. */
typedef struct graze_material {
  graze_normal_law law;
  double k_n;            /* HOOKE: stiffness, > 0 */
  double young, poisson; /* HERTZ: modulus > 0; ratio in (-1, 0.5] */
  /* At most one of three; without any there is no dashpot. eta_n = gamma_n m. `restitution`, in (0, 1], is the ratio of
   * speeds after and before a collision of two balls, as eta_n follows from it and `ends`. */
  double restitution, eta_n, gamma_n;
  graze_contact_end ends;
  graze_tangential_law tangential;
  double k_t;               /* default 2/7 k_n; HERTZ: Mindlin's 8 G* sqrt(R* o) */
  double eta_t, gamma_t;    /* at most one; default: half of eta_n */
  double friction;          /* Coulomb's coefficient; default 0 */
  double rolling, spinning; /* torque against relative spin across and about n: at most so much times |f_n| and the
                             * reduced radius r_i r_j / (r_i + r_j), or r_i against what is flat; default 0 */
  double surface_speed[3];  /* of walls and bodies that no force moves, whose surface runs with it, as a belt's; default
                               0 */
  uint32_t cookie;
} graze_material;

GRAZE_API graze_material graze_default_material(void);

/* `name` is copied; `material` gets its number. Two materials in contact: stiffness and damping are 2 x y / (x + y),
 * eta_n and gamma_n 0 where one has none, eta_t and gamma_t that of the one that gives it, E* and G* those of the two,
 * friction, restitution, rolling and spinning sqrt(x y), the tangential law the later one in the enumeration, and
 * GRAZE_END_FORCE if one has it. Errors: ARGUMENT (the message has the field), MEMORY. */
GRAZE_API graze_status graze_world_add_material(graze_world *world, const char *name, const graze_material *material,
                                                uint32_t *number);

/* Says instead what holds between the two. Errors: ARGUMENT. */
GRAZE_API graze_status graze_world_set_pair(graze_world *world, uint32_t first, uint32_t second,
                                            const graze_material *material);

/* ---- what is in a world ------------------------------------------------------------------------------------------ */

/* Materials, balls and walls are added before the first step: later it is an ARGUMENT error. */

/* Particles: solid balls, all dynamic. */
typedef struct graze_particle_def {
  const char *name; /* copied; must not be NULL */
  uint32_t count;
  /* Three numbers each, at any stride in bytes (0: side by side). Only `positions` are needed. Copied. */
  const double *positions, *velocities, *spins;
  size_t position_stride, velocity_stride, spin_stride;
  const double *radii; /* or NULL: all have `radius` */
  size_t radius_stride;
  double radius;
  double mass, density; /* one of the two; the other is NaN, as both by default */
  uint32_t material;    /* number */
  double drag[2];       /* force -(drag[0] + drag[1] |v|) v; default 0 */
  uint32_t cookie;
} graze_particle_def;

GRAZE_API graze_particle_def graze_default_particle_def(void);

/* `set` gets the number of the set. Errors: ARGUMENT and NOT_FINITE (the message has set, particle and field), LIMIT,
 * MEMORY. O(count). */
GRAZE_API graze_status graze_world_add_particles(graze_world *world, const graze_particle_def *def, uint32_t *set);

/* STATIC ones never move; KINEMATIC ones move with the velocity and spin that they are given. */
typedef enum graze_body_type { GRAZE_BODY_DYNAMIC, GRAZE_BODY_STATIC, GRAZE_BODY_KINEMATIC } graze_body_type;

typedef struct graze_body_id { /* generation 0 never names a body */
  uint32_t index;
  uint32_t generation;
} graze_body_id;

/* A ball of its own, or a mesh, with a name and an orientation. A mesh is a surface with two sides that balls roll on
 * and bounce off; it is static or kinematic. A ball touches it wherever the distance of its centre to the surface is
 * least among all places near by, in the middle of a triangle, on an edge, or at a corner, each once. A ball whose
 * centre has come to the other side is pushed out there. Along periodic axes a mesh is repeated, and it and its images
 * are one surface: a floor as wide as the period has no seam. It may be 64 periods long; but one that turns about
 * another axis than that must not reach half a period. */
typedef struct graze_body_def {
  const char *name; /* copied; NULL = "" */
  graze_body_type type;
  double radius;               /* of a ball */
  const graze_mesh *mesh;      /* or NULL: a ball. It must outlive the world */
  double position[3];          /* of the ball's centre, of the mesh's origin */
  double orientation[4];       /* quaternion w x y z; default 1 0 0 0; made a unit one */
  double velocity[3], spin[3]; /* of the center: the mesh turns about it */
  double center[3];     /* found by graze_world_get_body: the centre of the ball, or of the volume of a closed mesh
                           whose triangles face one way; of any other mesh its origin */
  double mass, density; /* DYNAMIC: one of the two; the other is NaN, as both by default */
  uint32_t material;
  uint64_t user_id;
  uint32_t cookie;
} graze_body_def;

GRAZE_API graze_body_def graze_default_body_def(void);

/* Errors: ARGUMENT, NOT_FINITE, LIMIT, MEMORY. */
GRAZE_API graze_status graze_world_add_body(graze_world *world, const graze_body_def *def, graze_body_id *body);

/* The body as it is now; the name belongs to the world. Errors: HANDLE. */
GRAZE_API graze_status graze_world_get_body(const graze_world *world, graze_body_id body, graze_body_def *def);

/* How many bodies there are; and they, in the order in which they were added, into the caller's array. Errors:
 * ARGUMENT.
 */
GRAZE_API uint32_t graze_world_get_body_count(const graze_world *world);
GRAZE_API graze_status graze_world_list_bodies(const graze_world *world, graze_body_id *bodies);

/* Moves a kinematic body from now on. Errors: HANDLE, ARGUMENT (it is not kinematic), NOT_FINITE. */
GRAZE_API graze_status graze_world_set_velocity(graze_world *world, graze_body_id body, const double velocity[3],
                                                const double spin[3]);

/* A wall: all that is behind the plane. `normal` points to the free side and need not have length 1. Walls are numbered
 * in order. Errors: ARGUMENT, NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_world_add_wall(graze_world *world, const double point[3], const double normal[3],
                                            uint32_t material);
GRAZE_API uint32_t graze_world_get_wall_count(const graze_world *world);

/* A wall as it was added. Errors: ARGUMENT. */
GRAZE_API graze_status graze_world_get_wall(const graze_world *world, uint32_t wall, double point[3], double normal[3]);

/* ---- motion ------------------------------------------------------------------------------------------------------ */

typedef struct graze_step_limits {
  double longest;  /* 2 / omega of the stiffest contact that the world can have: a longer step is refused. Infinity when
                    * nothing can touch */
  double damped;   /* beyond it that contact's dashpot shakes instead of damping */
  double duration; /* of the shortest contact, without dashpot: pi / omega. Accuracy asks for a twentieth or less */
} graze_step_limits;

/* Of a Hertz contact at an overlap of a hundredth of the reduced radius, between a ball and what is as large or larger.
 * Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_world_get_limits(graze_world *world, graze_step_limits *limits);

/* Runs `count` steps of `dt`. `progress` may be NULL; a run that it cancels stops after a whole step. Runs may be split
 * in any way: the state depends on the sum of the steps alone. Nothing is allocated once the neighbour list has found
 * its size. Errors: ARGUMENT (dt not above 0, longer than the limit, a period too short, a mesh that turns and
 * reaches its images, materials that do not go together, or an earlier run has failed), NOT_FINITE (a number of a ball:
 * the message has ball and step; the world can then only be restored or destroyed), MEMORY, CANCELLED. */
GRAZE_API graze_status graze_world_step(graze_world *world, double dt, uint64_t count, graze_progress_function progress,
                                        void *user);

/* Steps and time since the world was made. */
GRAZE_API uint64_t graze_world_get_step(const graze_world *world);
GRAZE_API double graze_world_get_time(const graze_world *world);

/* How many steps the context's engine (graze/engine.h) has made of those that were run since the world was created: the
 * processor made the others, and the bytes are the same. */
GRAZE_API uint64_t graze_world_get_engine_steps(const graze_world *world);

/* ---- state ------------------------------------------------------------------------------------------------------- */

/* Arrays of three numbers for each particle of a set, side by side, in its order; each may be NULL. */
typedef struct graze_particle_state {
  double *positions, *velocities, *spins;
} graze_particle_state;

GRAZE_API uint32_t graze_world_get_set_count(const graze_world *world);
GRAZE_API const char *graze_world_get_set_name(const graze_world *world, uint32_t set); /* the world's; NULL: none */
GRAZE_API uint32_t graze_world_get_particle_count(const graze_world *world, uint32_t set);

/* Radii of a set: the caller's array of as many numbers is filled. Errors: ARGUMENT. */
GRAZE_API graze_status graze_world_get_radii(const graze_world *world, uint32_t set, double *radii);

/* The same for masses. */
GRAZE_API graze_status graze_world_get_masses(const graze_world *world, uint32_t set, double *masses);

/* Fills the arrays. Errors: ARGUMENT. O(particles of the set). */
GRAZE_API graze_status graze_world_get_particles(const graze_world *world, uint32_t set,
                                                 const graze_particle_state *state);

/* Sets what is not NULL. Errors: ARGUMENT, NOT_FINITE, and the world is as before. */
GRAZE_API graze_status graze_world_set_particles(graze_world *world, uint32_t set, const graze_particle_state *state);

/* What an explosion does to particles. */
typedef struct graze_blast {
  double center[3];
  double speed[2]; /* least and most; both at least 0 */
  double spin;     /* most; at least 0, the default */
  uint64_t seed;   /* default 1 */
  uint32_t cookie;
} graze_blast;

GRAZE_API graze_blast graze_default_blast(void);

/* Gives each particle of the set, in place of what it has, a velocity straight away from the center with a speed
 * between the two, and a spin in any direction: evenly spread, and depending on the seed and on its number among the
 * particles of all sets alone. One that is at the center flies anywhere. Errors: ARGUMENT, NOT_FINITE, MEMORY. */
GRAZE_API graze_status graze_world_blast(graze_world *world, uint32_t set, const graze_blast *blast);

/* Sums over dynamic balls. */
typedef struct graze_world_sums {
  double kinetic, rotational;
  double potential;  /* -m g.x */
  double elastic;    /* springs, those across the contact too */
  double dissipated; /* since the world was made: by dashpots, friction and drag */
  double energy;     /* kinetic + rotational + potential + elastic */
  double momentum[3];
  double angular_momentum[3]; /* about the origin, spins included */
  double center[3];           /* of mass */
  uint64_t contacts;          /* with closed balls, which is decided exactly, walls and meshes */
  double max_overlap;
  uint64_t left; /* balls whose centre is outside `bounds`, or was after a step */
} graze_world_sums;

/* Errors: MEMORY. O(balls + contacts). */
GRAZE_API graze_status graze_world_get_sums(graze_world *world, graze_world_sums *sums);

/* A ball, or a wall. */
typedef enum graze_member_kind { GRAZE_MEMBER_BODY, GRAZE_MEMBER_PARTICLE, GRAZE_MEMBER_WALL } graze_member_kind;

typedef struct graze_member {
  graze_member_kind kind;
  uint32_t set;   /* PARTICLE */
  uint32_t index; /* of the body, of the particle in its set, of the wall */
} graze_member;

/* The balls that `left` counts, by number. The list belongs to the world and is valid until the next call that is not
 * const. Errors: MEMORY. */
GRAZE_API graze_status graze_world_find_left(graze_world *world, const graze_member **balls, uint64_t *count);

typedef struct graze_contact {
  graze_member a, b; /* b of the higher number, a wall, or a mesh */
  double point[3];
  double normal[3]; /* from b to a */
  double overlap;   /* >= 0; 0 and above by exact decision */
} graze_contact;

/* Every contact of a dynamic ball in the present state, sorted by numbers. Touching counts. The list belongs to the
 * world and is valid until the next call that is not const. Errors: MEMORY. */
GRAZE_API graze_status graze_world_find_contacts(graze_world *world, const graze_contact **contacts, uint64_t *count);

typedef enum graze_contact_event_kind {
  GRAZE_CONTACT_BEGAN, /* speed: of approach */
  GRAZE_CONTACT_HIT,   /* the two were nearest; speed: of approach when it began; impulse: until now */
  GRAZE_CONTACT_ENDED  /* speed: of parting; impulse: that of f_n over the whole contact */
} graze_contact_event_kind;

typedef struct graze_contact_event {
  uint64_t step;
  graze_contact_event_kind kind;
  graze_member a, b;
  double point[3], normal[3];
  double speed, impulse;
  double overlap;     /* when it has ended less than 0, or 0 with a mesh */
  double velocity[3]; /* of a's centre relative to b's, to the wall, or to the mesh where it is touched. A contact began
                       * about overlap / speed before the end of its step */
} graze_contact_event;

/* Events of the last call of graze_world_step, by step, then by numbers. They belong to the world and are valid until
 * its next step. Errors: ARGUMENT (the world collects none). */
GRAZE_API graze_status graze_world_get_events(const graze_world *world, const graze_contact_event **events,
                                              uint64_t *count);

/* Hash of the state: the sum over the dynamic balls, by number, of splitmix64 chained over the number and the bits of x
 * y z qw qx qy qz vx vy vz wx wy wz, -0 as 0; a particle's quaternion is 1 0 0 0. */
GRAZE_API uint64_t graze_world_get_hash(const graze_world *world);

/* Saves all that the next steps depend on, and what `dissipated` has come to. Errors: MEMORY, FILE. */
GRAZE_API graze_status graze_world_save(graze_world *world, const char *path);

/* Puts the world into a state that was saved from one with the same definition, materials, sets, bodies and walls.
 * Errors: MEMORY, FILE, FORMAT (damaged, or of another world). After an error the world can only be
 * restored from another file or destroyed. */
GRAZE_API graze_status graze_world_restore(graze_world *world, const char *path);

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Starts a record: a file with all that the world is made of and its present state, to which calls that move it are
 * appended as they succeed: steps, each with the hash of the state after it, velocities and particles that were set,
 * states that were restored. Nothing can be added to the world meanwhile. A step takes longer while it is recorded: the
 * state after it is completed and hashed, which is O(balls) and makes it about half as long again. An
 * error of the record (a full disk, no memory) does not disturb the world: it is returned by graze_world_record_end,
 * and the part written before it can be read. Errors: ARGUMENT (the world is being recorded already), MEMORY, FILE. */
GRAZE_API graze_status graze_world_record(graze_world *world, const char *path);

/* Ends the record. graze_world_destroy does the same but returns no error. */
GRAZE_API graze_status graze_world_record_end(graze_world *world);

typedef struct graze_world_replay graze_world_replay;

typedef struct graze_world_replay_step {
  uint64_t number; /* of the world; 0 at the end of the record */
  double dt;
  bool same;     /* the hash is as recorded */
  uint64_t hash; /* as recorded; that of this run is graze_world_get_hash */
} graze_world_replay_step;

/* Opens a record and makes its world, as it was when the record was started. Errors: FILE, FORMAT
 * (damaged, or no record), MEMORY, and those of the calls that fill a world. */
GRAZE_API graze_status graze_world_replay_open(graze_context *context, const char *path, graze_world_replay **replay);
GRAZE_API void graze_world_replay_close(graze_world_replay *replay);

/* The world after the last step; owned by the replay, which alone may move it. */
GRAZE_API graze_world *graze_world_replay_get_world(graze_world_replay *replay);

/* Runs the calls up to the end of the next step. Errors: FILE, FORMAT (damaged, or cut off: the message has the byte),
 * and those of the calls. */
GRAZE_API graze_status graze_world_replay_next(graze_world_replay *replay, graze_world_replay_step *step);

#ifdef __cplusplus
}
#endif
#endif
