/* Near triangles of two meshes, on one worker of a query: bounds, what is open, and what a search begins with. */
#ifndef GRAZE_SRC_NARROW_GAP_H
#define GRAZE_SRC_NARROW_GAP_H

#include "exact/near.h"
#include "narrow/query.h"

/* gap.c: a lower bound of the distance of two sides at tier T1, which is at most `limit`; 0 where they meet. Below
 * `enough` it is within some units of their size times 2^-47; above, boxes may have told it. What the query did before
 * has no say in it, and no exact distance is computed. */
graze_status gz_query_gap(graze_query *query, const side *a, const side *b, double limit, double enough, double *least,
                          graze_work *work);

/* gap.c: all pairs of triangles nearer than the limit, sorted; the list is the query's. */
graze_status gz_query_near(graze_query *query, const side *a, const side *b, double limit, graze_exactness exactness,
                           graze_triangle_pair **pairs, uint64_t *count, graze_work *work);

/* gap.c: the nearest pair of triangles, if it is nearer than the limit: as graze_mesh_distance. */
graze_status gz_query_nearest(graze_query *query, const side *a, const side *b, double limit, graze_exactness exactness,
                              graze_distance_result *result);

/* gap.c: the query's next distance begins as if it were its first. */
void gz_query_forget_nearest(graze_query *query);

/* ---- gap_search.c ---- */

/* The search's beginning, with the job's limit, and its end. */
void gz_near_start_search(worker *w, const job *j);
void gz_near_release(worker *w);

/* For the nearest pair: all that may be it are open at the end, some perhaps twice, or two that meet were seen. Without
 * hierarchies, also for a list: all pairs of triangles. Memory refused: sink.failed. */
void gz_near_search(worker *w);
void gz_near_all(worker *w);

/* For a list of all that are nearer than the limit: as gz_traverse_open. */
void gz_near_open(worker *w, node_pair pair);
/* Decides candidates that wait. */
void gz_near_flush(worker *w);

/* What is nearer than this matters, if the answer may be off, when something is known to be within `most`. */
double gz_near_least_wanted(const gap_search *g, double most);
void gz_near_set_most(worker *w, double most);

/* Pairs of nodes to open, the nearest last; pairs of triangles that may be the nearest, and only those that still may.
 * Memory refused: sink.failed. */
void gz_near_push(worker *w, const near_nodes *next, int count);

/* Room for so many pairs of nodes more, to be filled; NULL: none. */
near_nodes *gz_near_room(worker *w, int count);
void gz_near_keep(worker *w, const open_pair *o);
void gz_near_sieve(gap_search *g);

/* ---- gap_flush.c ---- */

/* How far the boxes of two triangles are apart on the axis where that is most. */
boxes_gap gz_near_boxes_gap(const double a[9], const double b[9]);

/* An open pair, with its corners, that is not behind the flush one becomes it if it is exactly as far apart as its
 * boxes and as near at least. */
void gz_near_try_flush(gap_search *g, const open_pair *o, const double a[9], const double b[9]);

/* Whether the open pair is the flush one: its distance is its gap. */
static inline bool gz_near_is_flush(const gap_search *g, const open_pair *o) {
  return g->flush.known && o->first == g->flush.first && o->second == g->flush.second;
}

/* Whether the pair is no nearer than the flush one, and comes after it. */
bool gz_near_is_behind_flush(const gap_search *g, const open_pair *o);

/* The pairs of triangles of two bottom nodes of which that is not known. */
uint64_t gz_near_open_to_flush(worker *w, uint32_t a, uint32_t b);

/* Whether that is known of all pairs of triangles below two nodes; a flush pair is known. */
bool gz_near_is_past_flush(worker *w, uint32_t a, uint32_t b);

/* ---- gap_search.c ---- */

/* A pair, ready for exact questions. Corners are stored in `corners`, which must stay valid. */
void gz_near_start_pair(const worker *w, const open_pair *o, double corners[18], near_pair *pair);
bool gz_near_is_nearer(worker *w, const open_pair *o, double limit);

#endif
