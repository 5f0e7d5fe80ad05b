/* Steps of a world of balls, on a device. kernels/worldlist.cl and worldpass.cl say what is computed. */
#ifndef GRAZE_SRC_GPU_WORLDS_H
#define GRAZE_SRC_GPU_WORLDS_H

#include "gpu/kernels/world.h"
#include "gpu/primitives.h"
#include "graze/engine.h"

/* Which triangles balls may touch, and what contacts with them remember (kernels/world.h). */
typedef struct gpu_facets {
  gpu_buffer start, entries, kept; /* start: of each ball */
  uint32_t count;
} gpu_facets;

/* What is kept from question to question; zero-initialised. */
typedef struct gpu_worlds {
  gpu_scratch scratch;
  /* Of balls in the order of the list. A pass goes from one side to the other, and so does a new list. Between answers
   * the other side has accelerations; while a list is made, contacts that wait. */
  gpu_buffer rows[2];
  gpu_buffer facts, dissipated;
  gpu_buffer start, partners, kept; /* the list, and what its contacts remember */
  gpu_buffer origin;                /* marks; while a list is made, where cells begin */
  gpu_buffer places, waits;         /* for a list: places to be; where the contacts that wait at a ball begin */
  gpu_buffer left, orientations;
  gpu_buffer frame, levels, laws, kinds, walls;
  gpu_buffer found, flags, events, event_count;
  gpu_buffer large; /* places of balls with more partners than an item adds up */
  gpu_buffer surfaces, triangles, tree;
  gpu_facets facets[2];     /* those of the list, and where contacts remember of the one before */
  gpu_buffer met;           /* of facets: what was found in a pass */
  gpu_buffer near, near_at; /* balls that have facets, and where they were when the list was made */
  uint32_t side;
  uint64_t run, begun; /* whose state it is, and after how many steps; run 0: nobody's */

  uint32_t count, wall_count, materials, features;
  uint32_t level_count, cells; /* cells: of all levels */
  uint32_t entries;            /* of the list */
  uint32_t large_count;        /* of balls with many partners */
  bool is_single;              /* rows are of floats */
  bool is_listed;              /* the list holds for the present places */
  uint32_t age, lasted;        /* steps with this list; with the one before */
  uint32_t event_room;         /* at a time */
  uint32_t most_steps;         /* of an answer; 0: as many as there is time for */
  const char *said;            /* why the last question was not answered: the same is told once; NULL: it was */
  uint64_t told_count;
  double pace;     /* seconds of a step in the last batch; 0: not known */
  double transfer; /* seconds that the last download took */
  uint32_t surface_count, facet_side, near_count;
  bool is_driven;                       /* some surface moves: */
  double surface_pace;                  /* so far in a step, at most */
  double surface_way, most_surface_way; /* since the list was made; how far it bears */
  buffer staging, memory, told;         /* rows on their way; graze_kept_contact; graze_told_event */
} gpu_worlds;

/* Answers the question. With UNSUPPORTED it is the processor's: returns what there is to say, or "" where that tells.
 */
const char *gz_gpu_worlds_step(graze_gpu *gpu, gpu_worlds *w, graze_world_question *q, graze_status *status);

void gz_gpu_worlds_release(graze_gpu *gpu, gpu_worlds *w);

/* The modules for its rows. */
static inline const char *gpu_world_pass(const gpu_worlds *w) {
  return w->is_single ? "worldpass32" : "worldpass64";
}

static inline const char *gpu_world_list(const gpu_worlds *w) {
  return w->is_single ? "worldlist32" : "worldlist64";
}

/* How many partners of a ball an item adds up. Of those with more a group does, else all would wait for the largest
 * ball; where there is one grid nobody has so many, but for walls. */
static inline uint32_t gpu_world_most(const gpu_worlds *w) {
  return w->level_count > 1 ? 64 : UINT32_MAX;
}

/* What so many entries remember; never nothing. */
static inline size_t gpu_world_kept_bytes(const gpu_worlds *w, uint64_t entries) {
  return (entries * KEPT_FIELDS(w->features) + 1) * sizeof(double);
}

/* world_list.c: makes the list for the present places, with what contacts remember, and puts balls into its order.
 * UNSUPPORTED: a ball is too far away for cells. */
graze_status gz_gpu_world_list(graze_gpu *gpu, gpu_worlds *w);

/* worlds.c: what a contact remembers, as kernels have it, and the other way. */
void gz_gpu_world_pack_kept(const gpu_worlds *w, const graze_kept_contact *c, double *to);
void gz_gpu_world_unpack_kept(const gpu_worlds *w, const double *from, graze_kept_contact *c);

/* Contacts with surfaces come last. */
static inline uint64_t gpu_world_first_of_surfaces(const graze_world_question *q) {
  uint64_t first = q->kept_count;
  while (first > 0 && q->kept[first - 1].with == GRAZE_PARTNER_SURFACE) first--;
  return first;
}

/* world_surfaces.c: meshes and what contacts with them remember go up; then, with each question, where surfaces are and
 * how they move. UNSUPPORTED: too many triangles. */
graze_status gz_gpu_world_upload_surfaces(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q);
graze_status gz_gpu_world_put_surfaces(graze_gpu *gpu, gpu_worlds *w, const graze_world_question *q);

/* A part of gz_gpu_world_list: `places` are those of balls in the list before. UNSUPPORTED: a ball is too many periods
 * away, or there are too many triangles near balls. */
graze_status gz_gpu_world_list_surfaces(graze_gpu *gpu, gpu_worlds *w);

/* What goes before a pass from side `from`; and behind it, where surfaces go on if it was made, or `always`. */
graze_status gz_gpu_world_touch(graze_gpu *gpu, gpu_worlds *w, uint32_t from, uint32_t mode, uint32_t slot);
graze_status gz_gpu_world_drive(graze_gpu *gpu, gpu_worlds *w, uint32_t slot, bool always);

/* How many bytes rows of surfaces take on the host; puts where they are into the question. What contacts with them
 * remember, to w->memory behind the `count` that are there. */
size_t gz_gpu_world_surface_bytes(const graze_world_question *q);
void gz_gpu_world_take_surfaces(const double *rows, graze_world_question *q);
graze_status gz_gpu_world_read_surfaces(graze_gpu *gpu, gpu_worlds *w, uint64_t *count);
void gz_gpu_world_release_surfaces(graze_gpu *gpu, gpu_worlds *w);

enum { GPU_MOST_LEVELS = 24 }; /* of grids, each for radii of half the next one's; smaller balls are in the finest */

/* Chooses the grids for balls in the box: w->level_count rows of `levels`, which has room for as many as there may be.
 */
void gz_gpu_world_levels(gpu_worlds *w, const graze_world_question *q, const graze_box *box, double *levels);

#endif
