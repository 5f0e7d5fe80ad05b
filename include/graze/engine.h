/* graze/engine.h: how an engine takes work over from the CPU. For those who write or choose engines; graze/gpu.h has
 * one.
 *
 * The CPU defines every answer, and an engine returns the same bytes. Work that an engine has no stage for, and queries
 * that it declines, the CPU does as if there were no engine. If an engine fails, the CPU does the work as well, and the
 * logger gets a warning.
 */
#ifndef GRAZE_ENGINE_H
#define GRAZE_ENGINE_H

#include "graze/broadphase.h"
#include "graze/collide.h"
#include "graze/dynamics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Later versions append stages; the number of a stage never changes. */
typedef enum graze_stage {
  GRAZE_STAGE_TRITRI,  /* graze_tritri_batch */
  GRAZE_STAGE_COLLIDE, /* graze_collide_meshes, tiers T0 and T1; also for graze_relate_meshes and scenes */
  GRAZE_STAGE_SELF,    /* graze_collide_self */
  GRAZE_STAGE_POSES,   /* graze_collide_poses, tier T1 */
  GRAZE_STAGE_BOXES,   /* graze_broadphase_find */
  GRAZE_STAGE_SPHERES, /* graze_broadphase_find_spheres and graze_broadphase_count_spheres */
  GRAZE_STAGE_WORLD,   /* graze_world_step */
  GRAZE_STAGE_CULL,    /* graze_scene_check and graze_scene_update: before pairs of objects are decided */
  GRAZE_STAGES
} graze_stage;

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* The arguments of a stage, followed by its results. They mean what they mean in the calls that the stage is named for.
 * Pointers are not NULL and enumerators are valid, but these numbers have not been checked: coordinates of
 * GRAZE_STAGE_TRITRI, poses_b of GRAZE_STAGE_POSES, boxes and spheres. An engine declines if it finds an invalid one,
 * and the CPU reports it. Lists belong to the engine and are copied before `give`. `find` is ALL or COUNT: ANY is left
 * to the CPU, so that the same pair is found everywhere. */

typedef struct graze_tritri_question { /* GRAZE_STAGE_TRITRI */
  uint64_t count;
  const double *const *a, *const *b; /* nine arrays each, as in graze_tritri_batch */
  graze_tritri *results;
} graze_tritri_question;

typedef struct graze_mesh_question { /* GRAZE_STAGE_COLLIDE, with one pose of b, and GRAZE_STAGE_POSES */
  const graze_mesh *a, *b;
  const graze_pose *pose_a, *poses_b;
  uint32_t count; /* of poses_b, at least 1 */
  graze_find find;
  graze_collide_result *results; /* zero on entry; for COLLIDE with ALL they include the list */
} graze_mesh_question;

typedef struct graze_self_question { /* GRAZE_STAGE_SELF */
  const graze_mesh *mesh;
  graze_find find;
  graze_self_result result; /* zero on entry */
} graze_self_question;

typedef struct graze_broad_question { /* GRAZE_STAGE_BOXES, GRAZE_STAGE_SPHERES */
  graze_broad_method method;          /* AUTO: the engine chooses; it declines methods that it lacks */
  const graze_box_array *boxes;       /* or */
  const graze_sphere_array *spheres;
  uint32_t count;
  bool unsorted;
  bool only_count; /* spheres: number and hash, no list */
  const graze_box_pair *pairs;
  uint64_t pair_count, hash;
  graze_broad_method used; /* never AUTO */
  char reason[128];        /* why it is not the requested method; else "" */
} graze_broad_question;

/* A mesh at a pose; NULL if the object is in no pair. */
typedef struct graze_cull_object {
  const graze_mesh *mesh;
  const graze_pose *pose;
} graze_cull_object;

/* Of a pair that is not apart, its triangles that may have a point in common with the other object, by their numbers in
 * the first object's mesh and in the second's, each once, ascending. */
typedef struct graze_cull_triangles {
  const uint32_t *list[2]; /* NULL: nothing is known of the pair, or of this object of it */
  uint32_t count[2];
} graze_cull_triangles;

/* GRAZE_STAGE_CULL: many objects, and pairs of them whose boxes meet. The engine marks those whose surfaces it has
 * proved to have no common point; of these the processor finds out whether one object contains the other, and all
 * others it decides as ever. Wherever there is no proof the mark stays 0.
 *
 * Where `triangles` is not NULL, the engine may also say which triangles of a pair are left: all others of the two
 * objects it has proved to have no point in common with the other object. Of such a pair the processor decides these
 * alone where that takes less time than asking both hierarchies. Lists are copied before `give`. */
typedef struct graze_cull_question {
  const graze_cull_object *objects;
  uint32_t object_count;
  const uint32_t (*pairs)[2]; /* numbers of objects */
  uint64_t pair_count;
  graze_exactness exactness;       /* of the points that may be common: those of tier T0, T1 or T2 */
  uint8_t *apart;                  /* of each pair; all 0 on entry */
  graze_cull_triangles *triangles; /* NULL: not asked for; else of each pair, all NULL and 0 on entry */
} graze_cull_question;

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

/* What holds between a first and a second material, as numbers. Stiffness k is k_n, or with Hertz k_n sqrt(R* o), so
 * that the spring is k o and its energy elastic k o^2; with m and R* of the contact
 *   eta_n total = eta_n + gamma_n m + zeta_n sqrt(k m)
 *   eta_t total = eta_t + gamma_t m + share_t eta_n total
 *   k_t total = k_t + mindlin sqrt(R* o)
 * All doubles, so that a law is a row of a table. */
typedef struct graze_contact_law {
  double k_n, elastic, hertz; /* hertz: 1 or 0 */
  double eta_n, gamma_n, zeta_n;
  double least; /* of f_n: 0 if the contact ends when the force would pull, else -infinity */
  double k_t, mindlin;
  double eta_t, gamma_t, share_t;
  double spring; /* 1: the tangential spring; else 0 */
  double arm;    /* 1; 0: what is at the centres counts, and no torque */
  double friction, rolling, spinning;
  double surface[3]; /* velocity of the second one's surface */
} graze_contact_law;

typedef struct graze_plain_wall {
  double point[3], normal[3]; /* a unit vector */
  uint32_t material;
} graze_plain_wall;

/* What some balls have in common. */
typedef struct graze_ball_kind {
  uint32_t material;
  double drag[2];
} graze_ball_kind;

/* A ball. */
typedef struct graze_ball_rows {
  double position[4]; /* x y z radius */
  double velocity[4]; /* and 1 / mass; 0: no force moves it */
  double spin[4];     /* and 1 / moment of inertia */
} graze_ball_rows;

/* A body that is a mesh, and that no force moves. Points of the mesh are coordinates relative to its center, about
 * which it turns; x of the mesh is rotation (x - center) + position in the world. */
typedef struct graze_plain_surface {
  const graze_mesh *mesh;
  uint32_t material;
  bool moves; /* kinematic: after each step position += dt velocity, and it turns as bodies do; else it stays */
  double center[3];
  double reach; /* of the mesh's farthest point from there */
  double position[3], velocity[3], spin[3], orientation[4];
  double rotation[9]; /* what the orientation makes of it, row-major */
} graze_plain_surface;

/* With what a ball is in contact. */
typedef enum graze_partner { GRAZE_PARTNER_BALL, GRAZE_PARTNER_WALL, GRAZE_PARTNER_SURFACE } graze_partner;

/* What a ball remembers of a contact that it has; a ball that is its partner remembers the same. */
typedef struct graze_kept_contact {
  uint32_t number, partner; /* the ball's, and another ball's, a wall's or a surface's */
  graze_partner with;
  uint32_t order;   /* of a contact with a surface: among those of the two */
  double normal[3]; /* likewise: from there to the ball; it goes on by that */
  double spring[3]; /* its strain, 0 without springs */
  double hit[2];    /* with events: speed of approach, or negative once the hit was told; impulse so far */
} graze_kept_contact;

/* Told by the ball of the lower number. */
typedef struct graze_told_event {
  uint64_t step; /* 0: the first one of the answer */
  graze_contact_event_kind kind;
  uint32_t number, partner;
  graze_partner with;
  uint32_t order; /* with a surface: of the contact among those of the two;
                   * of one that has ended, among those before the step */
  double point[3], normal[3], speed, impulse;
  double overlap, velocity[3]; /* of a relative to b: with what balls drift */
} graze_told_event;

/* GRAZE_STAGE_WORLD: steps of a world. The definition of what a step computes is the processor's code: each ball adds
 * up its own side of its contacts in the order of its partners' numbers, then of walls, then of surfaces, then drag and
 * gravity, in doubles, with + - * / and square roots alone, each rounded once. With def->precision FLOAT all numbers of
 * balls that a step writes are rounded as graze_world_def says.
 *
 * Arrays are by place, in no order that means something; `numbers` says which ball is where. An engine that answers
 * changes them into the state after `done` whole steps; otherwise they stay as they were. It declines worlds that it
 * does not know how to move, and those in which a number stops being finite, of which the processor then tells. One
 * that would take longer than a tenth of a second or so makes fewer steps than it is asked for: it is asked again. */
typedef struct graze_world_question {
  uint64_t run;   /* a number that no other run of a world in this process has */
  uint64_t begun; /* steps of the run that the engine has made: then all is as the last answer left it */
  const graze_world_def *def;
  double dt;
  uint64_t count; /* of steps, at least 1 */

  uint32_t balls;
  graze_ball_rows *states;
  /* LEAPFROG: of velocity and spin at the present state, for the first half kick and from the last one; unless
   * `accelerated` they are to be found first. */
  graze_ball_rows *accelerations;
  bool accelerated;
  double *dissipated; /* energy of each ball since the world was made */
  uint8_t *left;      /* by number: 1 once it was outside def->bounds at the end of a step, if these are not empty */
  const uint32_t *numbers;
  const uint16_t *ball_kinds;
  const graze_ball_kind *kinds;
  uint32_t kind_count;

  uint32_t turning_count; /* bodies that turn, of which each has a kind of its own: */
  const uint32_t *turning;
  double (*orientations)[4]; /* of each of them */

  uint32_t material_count;
  const graze_contact_law *laws; /* [first * material_count + second] */
  /* Not NULL: holds between all balls as it is, with m in eta_n and eta_t, share_t in eta_t, without Hertz, rolling,
   * spinning, periods and running surfaces; with walls `laws` do. */
  const graze_contact_law *simple;
  const graze_plain_wall *walls;
  uint32_t wall_count;
  bool springs, drag; /* some law has a spring; some kind has drag */
  double skin;        /* how much farther than touching neighbours may usefully be looked for */

  graze_plain_surface *surfaces; /* whose velocity and spin may be others than the last answer left; */
  uint32_t surface_count;        /* `position` and `orientation` are part of the state */
  /* A ball remembers at most as many contacts with a surface as triangles were within its radius and this when its
   * neighbours were found, which is when it or the surface has moved by half of it, or before. */
  double surface_skin;

  const graze_kept_contact *kept; /* with springs or events; those of a ball by partner, walls behind balls and surfaces
                                   * behind walls; of one surface in their order. On return the engine's, */
  uint64_t kept_count;            /* until the next question */
  const graze_told_event *events; /* with def->events, in any order: the engine's */
  uint64_t event_count;
  uint64_t done; /* steps, at least 1 */
} graze_world_question;

/* ---- engines ----------------------------------------------------------------------------------------------------- */

/* Answers a question, one of the structures above. OK: answered completely. UNSUPPORTED: declined. Any other status:
 * failed; results that were written are ignored. */
typedef graze_status (*graze_stage_function)(void *user, void *question);

/* Calls may come from several threads, but between a `take` that returned true and its `give` only from one. */
typedef struct graze_engine {
  void *user;
  const graze_stage_function *stages; /* by graze_stage; NULL: the CPU does it. Must outlive the engine's use */
  uint32_t stage_count;               /* GRAZE_STAGES when the engine was compiled; the CPU does later stages */
  /* Whether the engine wants work of this size; if so, the calling thread owns the engine until `give`. a, b: number of
   * pairs, 0 (TRITRI); triangles of both meshes (COLLIDE); of the mesh, 0 (SELF); of a, of b times the poses (POSES);
   * number of boxes or spheres, 0; of balls, of steps (WORLD); of objects, of pairs (CULL). */
  bool (*take)(void *user, graze_stage stage, uint64_t a, uint64_t b);
  void (*give)(void *user);
  /* The mesh is about to change or to be destroyed: drop what is kept of it. Not between `take` and `give`. May be
   * NULL. */
  void (*forget)(void *user, const graze_mesh *mesh);
} graze_engine;

/* Gives the context an engine, which is copied; NULL removes it. No call may be running in the context. The engine is
 * asked about meshes of this context. Errors: ARGUMENT. */
GRAZE_API graze_status graze_context_set_engine(graze_context *context, const graze_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
