/* The inside of a world of balls.
 *
 * A ball has a number (graze/dynamics.h) and a place: where it stands in the arrays, which are sorted along a curve now
 * and then so that neighbours are near in memory. Nothing that is told depends on places.
 */
#ifndef GRAZE_SRC_DYNAMICS_WORLD_H
#define GRAZE_SRC_DYNAMICS_WORLD_H

#include <math.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "dynamics/law.h"
#include "graze/broadphase.h"
#include "graze/dynamics.h"

typedef double row[4];

/* What no force moves has 0 for 1 / mass and 1 / moment of inertia. */
typedef graze_ball_rows ball_rows;

/* What the balls of a set have in common; a body has one of its own. */
typedef struct ball_kind {
  uint32_t material;
  double drag[2];
} ball_kind;

typedef struct particle_set {
  char *name;
  uint32_t count;
  double mass, density; /* as given: one of them NaN */
  uint32_t number;      /* of the first */
  uint32_t kind;
  uint64_t added; /* until it has a number: its first in world->added */
  bool is_added;
} particle_set;

typedef struct dem_body {
  char *name;
  graze_body_type type;
  uint64_t user_id;
  double orientation[4], mass;
  uint32_t number, kind; /* number: of a ball */
  uint32_t surface;      /* number of the surface, or NO_SURFACE: it is a ball */
  uint64_t added;
  bool is_added;
} dem_body;

#define NO_SURFACE UINT32_MAX

/* A body that is a mesh, and that no force moves. Points of the mesh have coordinates relative to its center, about
 * which it turns. */
typedef struct dem_surface {
  const graze_mesh *mesh;
  uint32_t body, material;
  double center[3]; /* in the mesh's own coordinates */
  double reach;     /* of its farthest point from there */
  double position[3], velocity[3], spin[3],
      rotation[9];  /* position: of the center; rotation: row-major, to the world */
  double period[3]; /* along each axis of the world, or 0: it is repeated there */
} dem_surface;

typedef struct dem_wall {
  double point[3], normal[3]; /* a unit vector */
  double given[3];            /* the normal, before it was made one */
  uint32_t material;
} dem_wall;

typedef struct dem_material {
  char *name;
  graze_material m;
} dem_material;

typedef struct material_pair { /* said by the caller; the later one counts */
  uint32_t first, second;
  graze_material m;
} material_pair;

/* A ball that may touch a wall before the list is made anew. */
typedef struct wall_entry {
  uint32_t place, wall;
} wall_entry;

/* A ball that may touch triangles of a surface before the list is made anew: list->facets[first] on. Its contacts with
 * the surface are remembered in the first slots of the same range, as many as there are. */
typedef struct surface_entry {
  uint32_t place, surface;
  uint32_t first, count;
} surface_entry;

typedef double spring[3];

/* With what a ball is in contact: graze_partner. */
typedef enum partner_kind { PARTNER_BALL, PARTNER_WALL, PARTNER_SURFACE } partner_kind;

/* What contacts remember: entry by entry whether there was one at the last look, with springs their strain, and with
 * events speed and impulse. */
typedef struct contact_memory {
  uint8_t *touching;
  spring *springs;
  double (*hits)[2]; /* speed of approach, impulse so far; negative speed: the hit was told */
  buffer buffers[3];
} contact_memory;

/* Contacts of balls, each by its lower number, then those of walls; without places, while a list is made. */
typedef struct kept_contacts {
  uint64_t balls, count;
  uint32_t (*pairs)[2]; /* numbers, or the number of a ball and of a wall */
  spring *springs;      /* NULL: they have none */
  double (*hits)[2];    /* likewise */
} kept_contacts;

/* Balls whose places follow each other are treated together, by one thread and in its cache. */
enum { BLOCK_PLACES = 512 };

/* Rows of a block begin at `row`, a multiple of ROWS_TOGETHER, so that kernels may go on to the next one and blocks
 * share no bytes of bits. */
enum { ROWS_TOGETHER = 16 };
typedef struct list_block {
  uint32_t row, rows;
} list_block;

static inline uint32_t rows_together(uint32_t rows) {
  return (rows + ROWS_TOGETHER - 1) / ROWS_TOGETHER * ROWS_TOGETHER;
}

/* Who may touch whom before somebody has moved half the skin. A pair of balls is a row of the block that one of them is
 * of, and is computed there, once for both if both are of it; else both blocks have it.
 *
 * The rows of a block are in the order of the lower numbers of their balls, then of the higher ones. So whoever goes
 * through them meets the partners of each ball in the order of their numbers: first those below it, in whose groups it
 * is, then those above it, in its own. */
typedef struct neighbour_list {
  list_block *blocks; /* and the end: how many rows there are */
  uint16_t *first;    /* of a row: the ball of it that is of the block and moves (first_place), */
  uint32_t *second;   /* and the other (row_place) */
  wall_entry *walls;  /* by place, then wall */
  uint64_t wall_count;
  surface_entry *surfaces; /* by place, then surface */
  uint32_t *facets;        /* triangles */
  uint64_t surface_count, facet_count;
  uint32_t most_facets;  /* of an entry */
  spring *facet_normals; /* of the contacts in the slots */
  contact_memory of_walls, of_facets;
  buffer buffers[7], row_buffers[3];
} neighbour_list;

/* Where the close pairs of a block are, and for how many there is room. */
typedef struct close_block {
  uint32_t row, rows, room;
} close_block;

/* The rows of the list whose balls are nearly touching, kept for some passes: looking at all costs as much as the
 * forces of those that touch. They have the order of the list, and room for few more than there were when that was
 * made: what contacts remember is in the rows too, and most rows of the list come never close. */
typedef struct close_pairs {
  close_block *blocks;
  uint16_t *first;
  uint32_t *second;
  uint8_t *touching;  /* bits of rows: the two touched at the last look */
  double *springs[3]; /* the strain, as the first has it */
  double *hits[2];    /* speed of approach, negative once the hit was told; impulse so far */
  buffer memory;      /* of all these; of what a list is made with while there are none */
  buffer block_memory;
  bool is_made; /* of all pairs within `reach` when it was made. It holds until balls may have gone half that far; */
  bool is_full; /* a block has more of them than room: then the list is to be made again */
  double reach, way, most_reach; /* way: how far they may have gone; most_reach: what there is room for */
} close_pairs;

struct graze_world {
  graze_context *context;
  graze_world_def def;
  gz_array materials; /* dem_material */
  gz_array pairs;     /* material_pair */
  gz_array sets;      /* particle_set */
  gz_array bodies;    /* dem_body */
  gz_array walls;     /* dem_wall */
  gz_array surfaces;  /* dem_surface */
  gz_array kinds;     /* ball_kind */
  gz_array added;     /* ball_rows: those without a number yet */

  uint32_t count;          /* of balls with a number */
  uint32_t dynamic;        /* of these, the dynamic ones: the lower numbers */
  uint32_t dynamic_bodies; /* of these, the bodies */
  ball_rows *now, *next;   /* next: of the next state, or accelerations, or scratch of a list (gz_list_scratch) */
  float (*origin)[3];      /* of a place when the list was made: from the first ball of its block, */
  double (*block_origin)[3];
  double (*far_origin)[3]; /* unless that would be too coarse: then it is here, else NULL */
  buffer far_memory;
  double *dissipated;                          /* of a place: energy since the world was made */
  uint32_t *number;                            /* of a place */
  uint32_t *place;                             /* of a number */
  uint16_t *kind;                              /* of a place */
  uint8_t *left;                               /* of a number: 1 once it was outside the bounds at the end of a step */
  buffer ball_memory, now_memory, next_memory; /* the last two change sides as `now` and `next` do */
  gz_array body_order;                         /* uint32_t: bodies by number */

  law *laws; /* of two materials: [first * materials + second] */
  buffer law_memory;
  law simple;     /* what holds between all balls, m written into eta, */
  bool is_simple; /* if one law of Hooke's does, without periods, rolling or running surfaces */
  bool has_laws, has_springs, has_drag, has_limits;
  graze_step_limits limits;
  bool remembers;      /* contacts: for springs or events */
  bool is_accelerated; /* accelerations belong to the state, and are in `next` */
  bool is_broken;      /* a run failed on the way: the state is that of no step */

  graze_broadphase *broadphase;
  neighbour_list list, old_list; /* the old one: for what contacts with surfaces remember */
  bool is_listed, carries;       /* carries: old_list has what `list` is to remember */
  uint32_t builds;               /* of the list */
  close_pairs close;
  double skin;
  double moved, fastest;  /* the longest way since the list was made, and of a step, when close pairs were made last */
  double surface_way;     /* no point of a surface has gone farther since */
  struct worker *workers; /* pass.h: scratch of each thread */
  uint32_t worker_count;
  kept_contacts kept; /* between lists, if `carries`: in `saved`, or in kept_bytes of `next` */
  size_t kept_bytes;
  buffer saved, old_numbers;           /* old_numbers: of the old places */
  buffer met;                          /* facet_contact: of a ball that is asked for its contacts */
  struct surface_lists *surface_lists; /* surfaces.c: what the pieces of a list of triangles are made in, or NULL */

  uint64_t step, start_step; /* start: since when steps have been of dt */
  double dt, start_time;
  gz_array contacts;             /* graze_contact */
  gz_array events;               /* graze_contact_event */
  gz_array lost;                 /* pass_event: of contacts that ended between passes */
  gz_array escaped;              /* graze_member */
  struct run_recorder *recorder; /* or NULL */
  bool lost_memory;              /* there was none for `lost` */
  buffer asked[6];               /* engine.c: what an engine is asked with */
  uint64_t engine_steps;
  uint64_t engine_run, engine_begun; /* what it has the state of, unless that has changed since: then 0 */
  double engine_dt;
  uint64_t kept_count; /* of contacts in asked[]: those of its last answer, */
  bool kept_wait;      /* which wait for a list */
};

static inline uint32_t world_blocks(const graze_world *world) {
  return (uint32_t)((world->count + (uint64_t)BLOCK_PLACES - 1) / BLOCK_PLACES);
}

static inline uint32_t block_end(const graze_world *world, uint32_t block) {
  const uint32_t begin = block * BLOCK_PLACES;
  return world->count - begin < BLOCK_PLACES ? world->count : begin + BLOCK_PLACES;
}

/* Less than half the skin, which two share: ways are rounded. */
static inline double longest_way(const graze_world *world) {
  return 0.49 * world->skin;
}

static inline bool is_of_block(uint32_t place, uint32_t block) {
  return place / BLOCK_PLACES == block;
}

/* Rows have balls as where their states begin in an array of doubles: kernels read them often. */
enum { BALL_DOUBLES = sizeof(ball_rows) / sizeof(double) };

static inline uint32_t row_place(uint32_t ball) {
  return ball / BALL_DOUBLES;
}

/* The first of a row is of the block that the row is of. */
static inline uint32_t first_place(uint32_t block, uint16_t ball) {
  return block * BLOCK_PLACES + ball / BALL_DOUBLES;
}

static inline uint16_t first_ball(uint32_t place) {
  return (uint16_t)(place % BLOCK_PLACES * BALL_DOUBLES);
}

/* The order of rows: that of their balls' numbers. */
static inline uint64_t pair_key(uint32_t a, uint32_t b) {
  return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static inline uint64_t row_key(const graze_world *world, uint32_t block, uint16_t first, uint32_t second) {
  return pair_key(world->number[first_place(block, first)], world->number[row_place(second)]);
}

static inline bool close_touches(const close_pairs *c, uint32_t r) {
  return c->touching[r / 8] >> r % 8 & 1;
}

/* A contact of a ball: its row, on which side of it the ball is, and the partner's place. */
typedef struct close_side {
  uint32_t at, side, partner; /* at: the row */
} close_side;

#define WORLD_AT(array, type, i) (&((type *)(array).data)[i])

/* world.c: gives numbers and places to balls that were added. Errors: LIMIT, MEMORY. */
graze_status gz_world_prepare(graze_world *world);

/* Puts a place into the periodic box. */
void gz_world_wrap(const graze_world *world, double position[3]);

/* ARGUMENT once the world has made a step or is being recorded. */
graze_status gz_world_check_not_begun(const graze_world *world);

/* Name of a ball for messages: "bed/17" or a body's. */
typedef struct ball_name {
  char text[96];
} ball_name;
ball_name gz_world_ball_name(const graze_world *world, uint32_t number);
graze_member gz_world_member(const graze_world *world, uint32_t number);
/* Of what a contact is with; a ball goes by its number. */
graze_member gz_partner_member(const graze_world *world, partner_kind kind, uint32_t partner);

/* materials.c: the laws of all pairs of materials, and what they and the balls say of steps. Errors: ARGUMENT (two that
 * do not go together), MEMORY. O(balls). */
graze_status gz_world_make_laws(graze_world *world);
graze_status gz_world_survey(graze_world *world, graze_step_limits *limits);

/* list.c: makes the list if there is none, or if somebody may move by half the skin, and the close pairs likewise;
 * contacts that wait are put into them. Errors: MEMORY, and those of a search for spheres. */
graze_status gz_list_update(graze_world *world);
void gz_list_release(graze_world *world);

/* Memory for what a list is made with, until the close pairs are: that of `next` while nothing is in it, else theirs.
 * NULL: there is none. */
void *gz_list_scratch(graze_world *world, size_t bytes);

/* Whether the list can be made: before a run. Errors: ARGUMENT (a period that is too short). */
graze_status gz_list_check(graze_world *world);

/* The entry of a wall or surface, and of a ball's first one, or where it would be. UINT64_MAX: there is none. */
uint64_t gz_list_find_wall(const neighbour_list *list, uint32_t place, uint32_t wall);
uint64_t gz_list_first_wall(const neighbour_list *list, uint32_t place);
uint64_t gz_list_first_surface(const neighbour_list *list, uint32_t place);
uint64_t gz_list_find_surface(const neighbour_list *list, uint32_t place, uint32_t surface);

/* events.c: what touched a wall or surface by an old list ends with the next pass; `normal`: of the contact with a
 * surface, else NULL. */
void gz_contact_lose(graze_world *world, uint32_t place, partner_kind kind, const graze_kept_contact *contact,
                     const double *normal);

/* rows.c: makes the list's rows of balls. Begin; count the rows of each block in `rows`; lay out, which makes room for
 * them; put the rows of each block from `row` on, in any order, and count them in `rows` again; finish, which sorts
 * them. Who knows where rows of blocks are without that reserves room for all and fills it. Errors: MEMORY. */
graze_status gz_rows_begin(graze_world *world);
graze_status gz_rows_lay_out(graze_world *world);
graze_status gz_rows_reserve(graze_world *world, uint64_t rows);
graze_status gz_rows_finish(graze_world *world);

/* Scratch of all threads (pass.h). */
void gz_workers_release(graze_world *world);

/* close.c: whether the close pairs hold at the present places; how far balls have gone and go, for world->moved and
 * world->fastest; makes the close pairs, unless they are full. Errors: MEMORY. */
bool gz_close_holds(const graze_world *world);
void gz_close_look(graze_world *world);
graze_status gz_close_make(graze_world *world);
void gz_close_release(graze_world *world);

/* The close pairs of which the ball of a number is the lower one, in the order of the others' numbers: the first row
 * that may be one; whether row `at` is one, and then its side of it. */
uint32_t gz_close_first(const graze_world *world, uint32_t number);
bool gz_close_at(const graze_world *world, uint32_t number, uint32_t at, close_side *side);

/* What the row of a contact remembers, as the ball on that side has it. Neither is set if nothing remembers it. */
void gz_close_recall(const graze_world *world, const close_side *side, double strain[3], double hit[2]);

/* What is remembered of contacts of balls and walls: how many there are; the arrays for so many, in `memory`, and the
 * bytes that they take, all that there is with `memory` NULL; all of them; and one of them. */
uint64_t gz_contacts_count(const graze_world *world);
size_t gz_contacts_lay_out(const graze_world *world, uint64_t count, void *memory, kept_contacts *kept);
void gz_contacts_keep(const graze_world *world, kept_contacts *kept);
graze_kept_contact gz_contacts_get(const kept_contacts *kept, uint64_t i);

/* The other way, into the present list; of two balls what the lower number says counts, and with a surface contacts
 * come in their order. Those who are too far apart touch no more. Of the world's `kept`, those that wait. */
void gz_contacts_take(graze_world *world, const graze_kept_contact *kept, uint64_t count);
void gz_contacts_take_kept(graze_world *world);

/* Where a ball touches a surface, and what that contact remembers. */
typedef struct facet_contact {
  double normal[3]; /* from the surface to the centre */
  double distance;
  double velocity[3];       /* of the surface's point where the two touch */
  double strain[3], hit[2]; /* strain: of its spring */
  double at[3];             /* the centre, in the coordinates of the mesh, or of the image of it that is there */
  uint32_t triangle, slot;  /* slot: of the entry, that remembers it; NO_SLOT: it begins */
  bool is_rim, is_least;
} facet_contact;

#define NO_SLOT UINT32_MAX

/* surfaces.c: the contacts of a ball with the surface of an entry: the places where the distance of its centre to the
 * surface is least among those near by, nearest first, each with what it remembers. `closed`: touching counts. `found`
 * has room for all triangles of the entry. */
uint32_t gz_surface_contacts(const graze_world *world, const surface_entry *e, bool closed, facet_contact *found);

/* What is remembered of contacts with surfaces, those of two in their order: as many, written unless `to` is NULL. And
 * the other way: into the first free slot, or it has ended where there is none. */
uint64_t gz_surfaces_keep(const graze_world *world, graze_kept_contact *to);
void gz_surface_take(graze_world *world, const graze_kept_contact *contact);

/* Fills list->surfaces and list->facets. Errors: MEMORY, LIMIT. */
graze_status gz_surfaces_list(graze_world *world);
void gz_surfaces_release(graze_world *world);

/* ARGUMENT where a mesh turns and reaches its own images: before a run. */
graze_status gz_surfaces_check(const graze_world *world);

/* The surfaces go on by a step; their orientations are in the bodies. */
void gz_surfaces_move(graze_world *world, double dt);

/* Takes the next body's mesh in; its orientation has been checked. Errors: MEMORY, NOT_FINITE, LIMIT. */
graze_status gz_surface_add(graze_world *world, const graze_body_def *def, const dem_body *body);
void gz_surface_set_rotation(dem_surface *surface, const double q[4]);
/* Of the point of its nearest image that is there. */
void gz_surface_velocity(const dem_surface *surface, const double at[3], double velocity[3]);

/* Mesh, place and motion, but not the orientation. */
void gz_surface_get(const dem_surface *surface, graze_body_def *def);

/* A ball and another, a wall or a surface, that are in contact: closed sets that meet. */
typedef struct dem_contact {
  uint32_t place, partner; /* place, or number of the wall or surface */
  partner_kind kind;
  double distance, normal[3];
  double overlap;   /* may be less than 0 by rounding */
  double strain[3]; /* of its spring */
} dem_contact;

/* engine.c: has the context's engine make up to `count` steps, as far as it does; `done` gets how many it made. Where
 * the state changes by anything else, world->engine_run becomes 0. Errors: MEMORY, CANCELLED. */
graze_status gz_world_step_engine(graze_world *world, double dt, uint64_t count, graze_progress_function progress,
                                  void *user, uint64_t *done);

/* The contacts that wait become those of the new list. */
void gz_world_take_kept(graze_world *world);

/* contacts.c: visits the contacts of the present state, each once, by numbers; the list is brought up to date first.
 * `visit` gives false when memory is refused. Errors: MEMORY. O(balls + contacts). */
graze_status gz_world_visit_contacts(graze_world *world, bool (*visit)(void *user, const dem_contact *contact),
                                     void *user);

/* ---- small things that many ask for ---- */

/* What a world in single precision keeps of a number. Smaller ones are 0 because not every device has them. */
static inline double single(double x) {
  return fabs(x) < 0x1p-126 ? 0 : (double)(float)x;
}

static inline double stored(const graze_world *world, double x) {
  return world->def.precision == GRAZE_FLOAT ? single(x) : x;
}

/* x, moved by the period so that it is the nearest image; with period 0 it stays. */
static inline double nearest_image(double x, double period) {
  double half = 0.5 * period;
  if (period == 0) return x;
  return x > half ? x - period : x < -half ? x + period : x;
}

/* bounds.c: marks the balls that are outside now. Whether a dynamic ball has left or is outside. */
void gz_bounds_mark(graze_world *world);
bool gz_bounds_has_left(const graze_world *world, uint32_t number);

/* The length of the periodic axis, or 0. */
static inline double world_period(const graze_world *world, int axis) {
  return world->def.periodic[axis] ? world->def.bounds.max[axis] - world->def.bounds.min[axis] : 0;
}

/* Where a place was when the list was made, to a thousandth of the skin. */
static inline double world_origin(const graze_world *world, uint32_t place, int axis) {
  if (world->far_origin != NULL) return world->far_origin[place][axis];
  return world->block_origin[place / BLOCK_PLACES][axis] + (double)world->origin[place][axis];
}

/* Of a ball's centre, above the plane. */
static inline double wall_distance(const dem_wall *wall, const double at[3]) {
  double distance = 0;
  for (int k = 0; k < 3; k++) distance += wall->normal[k] * (at[k] - wall->point[k]);
  return distance;
}

static inline uint32_t material_of(const graze_world *world, uint32_t place) {
  return WORLD_AT(world->kinds, ball_kind, world->kind[place])->material;
}

/* What holds for a ball against another, by its place, or against a wall or surface. */
static inline const law *law_between(const graze_world *world, uint32_t place, partner_kind kind, uint32_t partner) {
  const uint32_t other = kind == PARTNER_BALL   ? material_of(world, partner)
                         : kind == PARTNER_WALL ? WORLD_AT(world->walls, dem_wall, partner)->material
                                                : WORLD_AT(world->surfaces, dem_surface, partner)->material;
  return &world->laws[material_of(world, place) * world->materials.count + other];
}

static inline uint32_t world_sets(const graze_world *world) {
  return (uint32_t)world->sets.count;
}

#endif
