/* Voxels at places that a directory knows: the placement of Lawlor and Kale.
 *
 * A voxel is a cell of a regular grid. The rank that the hash of its cell names is its home, and knows where it is. Who
 * first has a box for a voxel asks the home, which lets one of those who ask have it, the one with most boxes ("create
 * here"), and tells the others. Ranks keep what they have been told for later steps. When work is uneven, voxels move:
 * home and new place are told, and who has not heard of it sends boxes to the old place, which sends them on.
 *
 * A step has these rounds of messages before the pairs are searched:
 *
 *   balance   only when the last step was uneven: every rank learns the work of all, and all find who gives how much
 *   move      then: notes of voxels that move, to their homes and new places
 *   ask       for voxels whose place is not known, with the number of boxes
 *   tell      homes answer, and tell former places of voxels that have moved on
 *   travel    boxes
 *   forward   once some voxel has moved: boxes that came to a former place, and notes to who sent them there
 *
 * Keys are hashes of 64 bits of the cell: two cells with one key are one voxel in two pieces, which is right too.
 *
 * Boxes that meet many voxels go to all ranks instead. A pair of two such is told by the home of the voxel that has the
 * greater of the two lower corners, any other by the rank where that voxel is: the smaller box meets it. */
#ifndef GRAZE_SRC_MPI_DIRECTORY_H
#define GRAZE_SRC_MPI_DIRECTORY_H

#include "graze/base.h"
#include "mpi/places.h"

struct graze_mpi_world;

enum { MOST_CELLS = 64 }; /* of a box that is not large */

/* A record's stripe has a bit for each rank that it was sent to, by the rank's number modulo this. */
enum { RANKS_OF_STRIPE = 16 };

/* What ranks tell each other of voxels. */
typedef struct mpi_note {
  uint64_t key;
  uint32_t rank;   /* where it is, or who asks */
  uint32_t number; /* of boxes; or what the note is */
} mpi_note;

typedef struct mpi_directory {
  mpi_places known;        /* to this rank as a sender; the number is the last step that used it */
  mpi_places home;         /* of the voxels whose home is here */
  mpi_places held;         /* here, with the number of their boxes; or elsewhere by now, where boxes are sent on to */
  mpi_places asking, seen; /* scratch */
  buffer former;           /* mpi_note, at home: ranks that have had the voxel */
  uint64_t former_count;
  buffer moved; /* mpi_note, at home: of this step */
  uint64_t moved_count;
  buffer arrived; /* mpi_note */
  uint64_t arrived_count;
  buffer forwarded; /* mpi_record */
  uint64_t forwarded_count;
  uint64_t question_count;
  buffer order;  /* scratch */
  double *works; /* by rank: in the plan's table */
  bool move_due, ever_moved;
} mpi_directory;

/* The keys of the voxels that a box meets, at most MOST_CELLS; returns their number, 0 for a large box. */
uint32_t gz_mpi_cells_meet(double voxel, const double box[6], uint64_t keys[MOST_CELLS]);

/* The key of the voxel that a point is in. */
uint64_t gz_mpi_cell_of(double voxel, const double point[3]);

void gz_mpi_directory_reset(struct graze_mpi_world *w); /* forgets all places: after a step that has failed */
void gz_mpi_directory_release(struct graze_mpi_world *w);

/* The stages; each begins a round of messages or a collective, and ends what it has brought. */
graze_status gz_mpi_balance_begin(struct graze_mpi_world *w);
graze_status gz_mpi_move_begin(struct graze_mpi_world *w);
void gz_mpi_move_end(struct graze_mpi_world *w);
graze_status gz_mpi_ask_begin(struct graze_mpi_world *w);
graze_status gz_mpi_tell_begin(struct graze_mpi_world *w);
void gz_mpi_tell_end(struct graze_mpi_world *w);
graze_status gz_mpi_forward_begin(struct graze_mpi_world *w);
void gz_mpi_forward_end(struct graze_mpi_world *w);

/* The ranks that a box goes to, each once. False: it is large, and goes to all. */
bool gz_mpi_directory_route(const struct graze_mpi_world *w, const double box[6], uint32_t ranks[MOST_CELLS],
                            uint32_t *count);

/* Whether this rank tells the pair of these boxes, both of which other ranks have too; `corner` is the greater of their
 * lower corners. */
bool gz_mpi_directory_tells(const struct graze_mpi_world *w, const double a[6], const double b[6],
                            const double corner[3]);

/* Counts the boxes that are here by voxel, for the next balance, and the voxels. */
void gz_mpi_directory_count(struct graze_mpi_world *w, const double box[6]);
uint64_t gz_mpi_directory_voxels(const struct graze_mpi_world *w);
void gz_mpi_directory_clear_counts(struct graze_mpi_world *w);

#endif
