/* scenes.h: seeded models, made in memory, for tests, benchmarks and `graze make`. Private to the project.
 *
 * A scene is a list of meshes and a list of objects that put meshes at poses. The same request gives the same bytes
 * on every machine with IEEE doubles: only + - * / and sqrt are used, each rounded once, and sines come from
 * circle.c rather than from libm. Lengths are metres, z is up.
 *
 * Sizes, gaps and what is known about the answer:
 *   forklifts   size = tessellation level: 7,332 triangles a forklift at 1, 20,652 at 2, about 4,200 size^2 far up.
 *               Two forklifts face each other with their forks interlaced; the distance between them is `gap`; 0
 *               touches, less than 0 crosses. A forklift is one mesh of closed parts that do not touch each other.
 *   wave        size = squares along a side, 2 size^2 triangles. The wavy plane of the voxel paper (Lawlor and Kale
 *               2002), coordinates rounded to float; two of them, one lifted by `gap`, which do not meet for gap > 0.
 *   explosion   size as for forklifts, whose triangles are the fragments. A forklift blown to pieces above a floor:
 *               every triangle flies and tumbles on its own, so fragments share no vertices. No gap.
 *   nested      size = edges that a side of the icosahedron is cut into, 20 size^2 triangles a shell. Three spheres in
 *               each other, `gap` apart at the corners; surfaces do not meet for gap > 0.
 *   walls       size = squares along a side of a face, 12 size^2 triangles a wall. Pairs of walls in the positions
 *               that CAD models are full of: walls.c lists them; `gap` is for the pair that is apart.
 *   pipes       size = number of seeded pipe runs, about 4,000 triangles each, next to six fixed pairs (pipes.c lists
 *               them). Hollow pipes of 32-gon rings. `gap` is for the parallel pair and the sleeve.
 *   plant       size = number of objects. A process plant whose objects are all separate, and next to it `clashes`
 *               pairs of each construction in planted.c, whose relations are known, and `gaps` of each in
 *               planted_gaps.c, whose distances are. Every coordinate is a multiple of 2^-18 m below 64 m and so a
 *               float's value. Rings have 32 `detail` corners. No gap.
 *   peg         size = corners around, 3 at least; 30 triangles a corner. A round peg in the hole of a tube, `gap`
 * apart along the radius. gears       size = edges along a flank; 160 size + 320 triangles a gear. Two equal gears in
 * mesh, `gap` apart across the flanks on either side of a tooth. bolt        size = corners around, 3 at least; 520
 * triangles a corner. A nut on a threaded rod, `gap` apart along the radius. robot       size = parts that a robot
 * takes from a table to a conveyor, 128 steps each. A scene that moves; what meets at which step is known from the plan
 * (robot_truth.c). No gap.
 */
#ifndef SCENES_H
#define SCENES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct scenes_part { /* a named run of triangles */
  char name[32];
  uint64_t first_triangle;
  uint64_t triangle_count;
} scenes_part;

typedef struct scenes_mesh {
  char name[32];
  double *vertices; /* 3 per vertex */
  uint64_t vertex_count;
  uint32_t *indices; /* 3 per triangle */
  uint64_t triangle_count;
  scenes_part *parts;
  uint32_t part_count;
} scenes_mesh;

typedef struct scenes_object {
  char name[48];
  char layer[32];
  uint32_t mesh;
  double pose[12]; /* 3x4, row-major, rigid */
} scenes_object;

typedef struct scenes_pair { /* two objects whose relation is known by construction; a < b */
  uint32_t a, b;
  const char *relation;     /* in the words of graze_relation_string */
  const char *construction; /* what was built */
  bool surfaces_meet;
  double gap; /* the distance of the two; 0: they meet, or it is not known */
} scenes_pair;

typedef struct scenes_move { /* an object's pose from a step on */
  uint32_t step, object;
  double pose[12];
} scenes_move;

typedef struct scenes_meeting { /* two objects that meet at a step; a < b */
  uint32_t step, a, b;
  const char *relation; /* in the words of graze_relation_string */
} scenes_meeting;

typedef enum scenes_start_type { SCENES_START_DYNAMIC, SCENES_START_STATIC, SCENES_START_KINEMATIC } scenes_start_type;

/* How an object starts as a rigid body. */
typedef struct scenes_start {
  scenes_start_type type;
  double spin[3];
} scenes_start;

/* What a kind is as a model of rigid bodies, in metres and kilograms. */
typedef struct scenes_run {
  scenes_start *starts; /* of each object */
  double gravity[3], friction, density;
  bool has_hinge; /* one object turns about an axis */
  uint32_t hinged;
  double point[3], axis[3];
} scenes_run;

typedef struct scenes_scene {
  scenes_mesh *meshes;
  uint32_t mesh_count;
  scenes_object *objects;
  uint32_t object_count;
  scenes_pair *pairs; /* of a kind that plants clashes: with these, all other pairs are separate */
  uint32_t pair_count;
  scenes_move *moves; /* of a kind that moves: by step, then by object; step 0 is the scene as it is */
  uint32_t move_count;
  uint32_t last_step;
  scenes_meeting *meetings; /* by step; all other pairs are separate then */
  uint32_t meeting_count;
  scenes_run run; /* of a kind that has bodies */
} scenes_scene;

typedef struct scenes_request {
  uint32_t size;
  uint32_t detail;  /* of kinds that have it */
  uint32_t clashes; /* of kinds that plant them: so many of each construction; */
  uint32_t gaps;    /* and of pairs whose distance is known; default 0 */
  uint64_t seed;
  double gap; /* 0, or at least 2^-44 in magnitude: smaller ones would drown in the coordinates' rounding */
} scenes_request;

typedef struct scenes_kind {
  const char *name;
  const char *summary;
  const char *size_means;
  uint32_t default_size;
  uint32_t max_size;                     /* so that 32-bit indices suffice */
  uint32_t default_detail, max_detail;   /* 0: the kind has no detail */
  uint32_t default_clashes, max_clashes; /* 0: the kind plants none; as many gaps at most */
  bool uses_seed;
  bool uses_gap;
  bool has_bodies; /* scene.run */
  double default_gap;
  double min_gap;
  double max_gap;
  bool (*make)(const scenes_request *request, scenes_scene *scene);
} scenes_kind;

/* All kinds; `count` gets their number. */
const scenes_kind *scenes_kinds(uint32_t *count);

/* NULL when there is no such kind. */
const scenes_kind *scenes_find_kind(const char *name);

/* The defaults of a kind. */
scenes_request scenes_default_request(const scenes_kind *kind);

/* NULL when the request is in range; else what is wrong with it. */
const char *scenes_fault(const scenes_kind *kind, const scenes_request *request);

/* Makes a scene. False: `*reason` is the fault of the request, or says that memory is short; the scene is then empty.
 */
bool scenes_make(const scenes_kind *kind, const scenes_request *request, scenes_scene *scene, const char **reason);

void scenes_free(scenes_scene *scene);

/* ---- boxes -------------------------------------------------------------------------------------------------------
 *
 * Workloads for broad phases: boxes that meet about five others in the mean (of the wave, six). Unlike the scenes
 * above they use the C library's log, exp, sin and cos, whose last bit may differ from one C library to another. */

typedef enum scenes_box_kind {
  SCENES_BOXES_UNIFORM,  /* unit cubes, evenly in a cube */
  SCENES_BOXES_MIXED,    /* cubes with edges log-uniform from 1 to 1000, evenly in a cube */
  SCENES_BOXES_CLUSTERS, /* unit cubes in 4 to 64 Gaussian heaps far apart */
  SCENES_BOXES_FLAT,     /* unit cubes in a slab four edges thick */
  SCENES_BOXES_WAVE,     /* of the triangles of a wavy plane, a hair smaller than they are */
  SCENES_BOX_KINDS
} scenes_box_kind;

const char *scenes_box_kind_name(scenes_box_kind kind);
const char *scenes_box_kind_summary(scenes_box_kind kind);

/* False when no kind has the name. */
bool scenes_box_kind_named(const char *name, scenes_box_kind *kind);

typedef struct scenes_boxes {
  scenes_box_kind kind;
  uint32_t first, count;  /* those that are here, */
  uint32_t total;         /* of all */
  double *centers;        /* 3 a box, at rest */
  double *directions;     /* 3 a box, unit vectors */
  double *edges;          /* of the cubes */
  double *phases;         /* where in its swing a box is at step 0, [0, 1) */
  double low[3], high[3]; /* hold every box at every step */
  double least_edge, greatest_edge;
} scenes_boxes;

/* Makes about `count` boxes, at least 1: WAVE has two triangles for each of 2 k^2 squares, so 4 k^2 for the nearest k;
 * the others have exactly as many. False: no memory. */
bool scenes_boxes_make(scenes_box_kind kind, uint32_t count, uint64_t seed, scenes_boxes *boxes);

/* How many that will be. */
uint32_t scenes_boxes_total(scenes_box_kind kind, uint32_t count);

/* Only the boxes [first, end) of them, for the cost of these; `low`, `high` and the edges are those of the part. */
bool scenes_boxes_make_part(scenes_box_kind kind, uint32_t count, uint64_t seed, uint32_t first, uint32_t end,
                            scenes_boxes *boxes);

/* The wavy plane of about `count` boxes: squares along it and across it. Square (x, y) has the boxes 2 (y along + x)
 * and the next one. */
void scenes_wave_squares(uint32_t count, uint32_t *along, uint32_t *across);

/* The boxes of the squares x to end in the row y, as scenes_boxes_at has them at step 0. */
void scenes_wave_row(uint32_t y, uint32_t x, uint32_t end, float *out);

/* The boxes at a step, six floats each, min x y z and then max x y z. Each box swings on a straight segment of two
 * edges to either side of its place, `speed` edges a step; in WAVE the wave runs on by one unit of time a step instead.
 * The same step gives the same boxes, whatever was asked before. */
void scenes_boxes_at(const scenes_boxes *boxes, double speed, uint32_t step, float *out);

void scenes_boxes_free(scenes_boxes *boxes);

/* ---- balls -------------------------------------------------------------------------------------------------------
 *
 * Balls that move, as `graze simulate` takes them; balls.c says what the kinds are. */

typedef enum scenes_ball_kind {
  SCENES_BALLS_BED,
  SCENES_BALLS_GAS,
  SCENES_BALLS_CRADLE,
  SCENES_BALLS_MIXED,
  SCENES_BALLS_HEAP,
  SCENES_BALLS_HOURGLASS,
  SCENES_BALLS_DRUM,
  SCENES_BALLS_EXPLOSION,
  SCENES_BALL_KINDS
} scenes_ball_kind;

typedef struct scenes_ball_kind_facts {
  const char *name, *summary, *size_means;
  uint32_t default_size, max_size;
  bool uses_gap, uses_seed;
  double default_gap;
  const char *of_scene; /* the kind of scene whose balls they are: `name` is not asked for; NULL: none */
} scenes_ball_kind_facts;

const scenes_ball_kind_facts *scenes_ball_kind_describe(scenes_ball_kind kind);

/* False when no kind has the name. */
bool scenes_ball_kind_named(const char *name, scenes_ball_kind *kind);

typedef struct scenes_wall {
  double point[3], normal[3]; /* to the free side */
} scenes_wall;

/* Balls that follow each other. */
typedef struct scenes_ball_set {
  const char *name;
  uint32_t count;
  double radius; /* 0: each has its own */
} scenes_ball_set;

typedef struct scenes_blast {
  double center[3], speed[2], spin; /* least and most speed; most spin, 0: no blast */
} scenes_blast;

/* What stands in their way, around the origin. */
typedef struct scenes_ball_mesh {
  const char *name; /* NULL: nothing */
  double *vertices; /* 3 each */
  uint32_t *triangles;
  uint32_t vertex_count, triangle_count;
  double spin[3]; /* it turns, if one is not 0 */
} scenes_ball_mesh;

typedef struct scenes_balls {
  scenes_ball_kind kind;
  uint32_t count;
  double *positions, *velocities; /* 3 a ball */
  double *radii;                  /* or NULL */
  double radius, mass, density;   /* mass 0: they have the density */
  scenes_ball_set sets[2];
  uint32_t set_count;
  scenes_ball_mesh mesh;
  bool named; /* each is a body with a name, ball_1 and so on; otherwise they are sets of particles */
  double gravity[3];
  double k_n, gamma_n, gamma_t, friction; /* of what they are made of; 0: none. gamma_t with friction */
  double restitution, rolling;            /* with springs across contacts; 0: none */
  scenes_wall walls[6];
  uint32_t wall_count;
  bool periodic; /* on every axis of the box from 0 to `high` */
  double high[3];
  scenes_blast blast;
} scenes_balls;

/* Makes `count` balls, at least 1; of EXPLOSION those of the scene of that size. `gap` is for the kinds that have one,
 * 0 or more. False: no memory. */
bool scenes_balls_make(scenes_ball_kind kind, uint32_t count, uint64_t seed, double gap, scenes_balls *balls);

void scenes_balls_free(scenes_balls *balls);

/* ---- debris ------------------------------------------------------------------------------------------------------
 *
 * Points and balls that fly straight at boxes along the axes, and what each hits first: debris.c. */

#define SCENES_DEBRIS_MISSES UINT32_MAX

typedef struct scenes_debris {
  uint32_t count;
  double *start, *end, *radii; /* 3 a fragment; a radius of 0 is a point */
  uint32_t *objects;           /* of the scene; or SCENES_DEBRIS_MISSES */
  int64_t *times;              /* 2 a fragment that hits: when, as a quotient without a common divisor */
} scenes_debris;

/* `count` fragments, and what they fly at; faces are grids of `size` squares a side. False: no memory. */
bool scenes_debris_make(uint32_t count, uint32_t size, uint64_t seed, scenes_scene *scene, scenes_debris *debris);
void scenes_debris_free(scenes_debris *debris);

/* ---- rigid bodies ------------------------------------------------------------------------------------------------
 *
 * Bodies that fall, stack and swing, as `graze simulate` takes them; rigid.c says what the kinds are. */

typedef enum scenes_rigid_kind {
  SCENES_RIGID_STACK,
  SCENES_RIGID_PYRAMID,
  SCENES_RIGID_CARDS,
  SCENES_RIGID_DOMINOES,
  SCENES_RIGID_PILE,
  SCENES_RIGID_CHAIN,
  SCENES_RIGID_WRECKING,
  SCENES_RIGID_RUBBLE,
  SCENES_RIGID_KINDS
} scenes_rigid_kind;

typedef struct scenes_rigid_facts {
  const char *name, *summary, *size_means;
  uint32_t default_size, max_size;
  bool uses_seed;
} scenes_rigid_facts;

const scenes_rigid_facts *scenes_rigid_describe(scenes_rigid_kind kind);

/* False when no kind has the name. */
bool scenes_rigid_named(const char *name, scenes_rigid_kind *kind);

typedef enum scenes_body_shape {
  SCENES_BODY_BALL,
  SCENES_BODY_BOX,
  SCENES_BODY_CAPSULE,
  SCENES_BODY_HULL /* of a file with the name of the body */
} scenes_body_shape;

typedef struct scenes_body {
  scenes_body_shape shape;
  double size[3];  /* a radius; edges; a radius and the length between the caps, along z */
  double pose[12]; /* row-major */
  double density;
  double velocity[3], spin[3];
} scenes_body;

#define SCENES_NO_BODY UINT32_MAX

/* A ball joint; b may be SCENES_NO_BODY. */
typedef struct scenes_joint {
  uint32_t a, b;
  double point[3];
} scenes_joint;

typedef struct scenes_rigid {
  scenes_rigid_kind kind;
  scenes_body *bodies;
  uint32_t count;
  scenes_joint *joints;
  uint32_t joint_count;
  scenes_wall walls[5];
  uint32_t wall_count;
  double gravity[3], friction, restitution;
  scenes_blast blast; /* of every body; a most speed of 0: none */
} scenes_rigid;

/* `size` is at least 1. Of RUBBLE without the fragments, which the caller adds. False: no memory. */
bool scenes_rigid_make(scenes_rigid_kind kind, uint32_t size, uint64_t seed, scenes_rigid *rigid);

void scenes_rigid_free(scenes_rigid *rigid);

#endif
