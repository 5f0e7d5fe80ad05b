/* A solid in convex parts.
 *
 * The piece that sticks out most is cut in two, until none sticks out by more than is allowed or there are enough.
 * Then parts are joined again where the hull of both is no worse than is allowed and its box has no inside in common
 * with another part's: a cut goes through all of a piece, also where only one end of it needed that.
 */
#include "narrow/decompose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "graze/mass.h"
#include "mesh/mesh.h"

enum { OPTIONS_COOKIE = 0x6772DEC0, RIGID_MOST = 256, RIGID_FACE_MOST = 32 };

typedef struct decomposing {
  solid_source source;
  graze_decompose_options options;
  gz_array pieces; /* piece */
} decomposing;

/* The parts and what they belong to, in one piece of memory for the caller. */
typedef struct owned_decomposition {
  graze_decomposition front;
  graze_hull *parts[];
} owned_decomposition;

graze_decompose_options graze_default_decompose_options(void) {
  return (graze_decompose_options){.most_parts = 64, .cookie = OPTIONS_COOKIE};
}

static double diagonal(const double low[3], const double high[3]) {
  double d[3];
  sub3(high, low, d);
  return length3(d);
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static piece *piece_of(const decomposing *d, size_t i) {
  return (piece *)d->pieces.data + i;
}

/* Whether the hull may be a rigid body's part. */
static bool is_small(const graze_hull *hull) {
  if (hull->vertex_count > RIGID_MOST || hull->face_count > RIGID_MOST) return false;
  for (uint32_t f = 0; f < hull->face_count; f++) {
    if (hull->face_first[f + 1] - hull->face_first[f] > RIGID_FACE_MOST) return false;
  }
  return true;
}

/* One that is too large is as urgent as if it stuck out by its whole size. */
static graze_status judge(const decomposing *d, bool to_cut, piece *p) {
  p->large = d->options.rigid && !is_small(p->hull);
  p->found = (hull_error){.out = diagonal(p->hull->low, p->hull->high)};
  return p->large ? GRAZE_OK : gz_hull_find_error(&d->source, p->hull, d->options.error, to_cut, &p->found);
}

/* Gives the piece its hull and takes it, if it has one. It is the array's or released. */
static graze_status take_piece(decomposing *d, piece *p) {
  graze_status status = gz_piece_find_hull(d->source.context, p);
  if (status == GRAZE_OK && p->hull != NULL) status = judge(d, true, p);
  if (status == GRAZE_OK && p->hull != NULL && !array_reserve(d->source.context, &d->pieces, 1, sizeof *p))
    status = gz_fail_memory(d->source.context, sizeof *p);
  if (status != GRAZE_OK || p->hull == NULL) {
    gz_piece_release(p);
    return status;
  }
  *piece_of(d, d->pieces.count++) = *p;
  return GRAZE_OK;
}

/* The piece that most needs a cut; the number of pieces: none does. */
static size_t find_worst(const decomposing *d) {
  size_t worst = d->pieces.count;
  for (size_t i = 0; i < d->pieces.count; i++) {
    const piece *p = piece_of(d, i);
    if (!p->found.within && (worst == d->pieces.count || p->found.out > piece_of(d, worst)->found.out)) worst = i;
  }
  return worst;
}

static graze_status split(decomposing *d, size_t i) {
  piece halves[2], whole = *piece_of(d, i);
  graze_status status = gz_piece_split(&d->source, &whole, halves);
  if (status != GRAZE_OK) return status;
  *piece_of(d, i) = *piece_of(d, --d->pieces.count);
  gz_piece_release(&whole);
  status = take_piece(d, &halves[0]);
  if (status == GRAZE_OK) return take_piece(d, &halves[1]);
  gz_piece_release(&halves[1]);
  return status;
}

/* What is left to be cut gets the error that it has, at most twice as large as need be. */
static graze_status settle(decomposing *d, piece *p) {
  hull_error found = {.within = false};
  graze_status status = GRAZE_OK;
  double allowed = d->options.error;
  while (status == GRAZE_OK && !found.within) {
    status = gz_hull_find_error(&d->source, p->hull, allowed, false, &found);
    allowed *= 2;
  }
  p->found.bound = found.bound;
  return status;
}

static graze_status cut_all(decomposing *d, bool *reached) {
  graze_status status = GRAZE_OK;
  size_t worst = find_worst(d);
  while (status == GRAZE_OK && worst < d->pieces.count && d->pieces.count < d->options.most_parts) {
    status = split(d, worst);
    worst = find_worst(d);
  }
  *reached = worst == d->pieces.count;
  for (size_t i = 0; i < d->pieces.count && status == GRAZE_OK; i++) {
    if (!piece_of(d, i)->found.within) status = settle(d, piece_of(d, i));
  }
  return status;
}

/* ---- joining ---------------------------------------------------------------------------------------------------- */

/* Two parts whose boxes meet. A part that has been joined to another has no hull any more. */
typedef struct union_of_two {
  size_t first, second;
  piece whole;   /* a hull without a cell */
  double excess; /* its volume that neither of the two has */
  bool refused;  /* it sticks out too far */
} union_of_two;

static bool do_boxes_meet(const graze_hull *a, const graze_hull *b) {
  for (int k = 0; k < 3; k++) {
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  }
  return true;
}

static bool do_boxes_overlap(const graze_hull *a, const graze_hull *b) {
  for (int k = 0; k < 3; k++) {
    if (a->low[k] >= b->high[k] || b->low[k] >= a->high[k]) return false;
  }
  return true;
}

static bool is_alone(const decomposing *d, const union_of_two *u) {
  for (size_t i = 0; i < d->pieces.count; i++) {
    const graze_hull *other = piece_of(d, i)->hull;
    if (i != u->first && i != u->second && other != NULL && do_boxes_overlap(u->whole.hull, other)) return false;
  }
  return true;
}

static graze_status find_union(const decomposing *d, union_of_two *u) {
  const piece *a = piece_of(d, u->first), *b = piece_of(d, u->second);
  const size_t na = a->hull->vertex_count, count = na + b->hull->vertex_count;
  double(*points)[3] = gz_new(d->source.context, count, sizeof *points);
  if (points == NULL) return gz_fail_memory(d->source.context, count * sizeof *points);
  memcpy(points, a->hull->points, na * sizeof *points);
  memcpy(points + na, b->hull->points, (count - na) * sizeof *points);
  graze_status status = graze_hull_create(d->source.context, count, points[0], &u->whole.hull);
  gz_free(points);
  if (status != GRAZE_OK) return status;
  u->whole.volume = gz_hull_volume(u->whole.hull);
  u->excess = u->whole.volume - a->volume - b->volume;
  return GRAZE_OK;
}

/* Those of a part with all before `end`. */
static graze_status add_unions(const decomposing *d, size_t i, size_t end, gz_array *unions) {
  const piece *p = piece_of(d, i);
  for (size_t j = 0; j < end && p->found.within; j++) {
    const piece *other = piece_of(d, j);
    if (j == i || other->hull == NULL || !other->found.within || !do_boxes_meet(p->hull, other->hull)) continue;
    if (!array_reserve(d->source.context, unions, 1, sizeof(union_of_two)))
      return gz_fail_memory(d->source.context, sizeof(union_of_two));
    union_of_two *u = (union_of_two *)unions->data + unions->count;
    *u = (union_of_two){.first = i < j ? i : j, .second = i < j ? j : i};
    graze_status status = find_union(d, u);
    if (status != GRAZE_OK) return status;
    unions->count++;
  }
  return GRAZE_OK;
}

/* The one with the least excess that may be made; NULL: none. */
static union_of_two *find_best(const decomposing *d, const gz_array *unions) {
  union_of_two *best = NULL, *all = unions->data;
  for (size_t i = 0; i < unions->count; i++) {
    if (all[i].refused || (best != NULL && all[i].excess >= best->excess)) continue;
    if (is_alone(d, &all[i])) best = &all[i];
  }
  return best;
}

/* The union is the first of the two from now on; all others of either go. */
static graze_status take_union(decomposing *d, union_of_two *u, gz_array *unions) {
  const size_t first = u->first, second = u->second;
  union_of_two *all = unions->data;
  size_t kept = 0;
  gz_piece_release(piece_of(d, first));
  gz_piece_release(piece_of(d, second));
  *piece_of(d, first) = u->whole;
  u->whole.hull = NULL;
  for (size_t i = 0; i < unions->count; i++) {
    const bool goes =
        all[i].first == first || all[i].first == second || all[i].second == first || all[i].second == second;
    if (goes) graze_hull_destroy(all[i].whole.hull);
    if (!goes) all[kept++] = all[i];
  }
  unions->count = kept;
  return add_unions(d, first, d->pieces.count, unions);
}

static graze_status join_all(decomposing *d) {
  gz_array unions = {NULL, 0, 0};
  union_of_two *best;
  graze_status status = GRAZE_OK;
  for (size_t i = 0; i < d->pieces.count && status == GRAZE_OK; i++) status = add_unions(d, i, i, &unions);
  while (status == GRAZE_OK && (best = find_best(d, &unions)) != NULL) {
    status = judge(d, false, &best->whole);
    best->refused = true;
    if (status == GRAZE_OK && best->whole.found.within) status = take_union(d, best, &unions);
  }
  for (size_t i = 0; i < unions.count; i++) graze_hull_destroy(((union_of_two *)unions.data)[i].whole.hull);
  gz_free(unions.data);
  return status;
}

/* What is left of the pieces. */
static void close_ranks(decomposing *d) {
  size_t kept = 0;
  for (size_t i = 0; i < d->pieces.count; i++) {
    if (piece_of(d, i)->hull != NULL) *piece_of(d, kept++) = *piece_of(d, i);
  }
  d->pieces.count = kept;
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

static int compare_pieces(const void *a, const void *b) {
  const graze_hull *x = ((const piece *)a)->hull, *y = ((const piece *)b)->hull;
  for (int k = 0; k < 3; k++) {
    if (x->low[k] != y->low[k]) return x->low[k] < y->low[k] ? -1 : 1;
  }
  return 0;
}

/* Takes the hulls. */
static graze_status give(decomposing *d, bool reached, graze_decomposition **decomposition) {
  const size_t count = d->pieces.count, bytes = count * (sizeof(graze_hull *) + 2 * sizeof(double));
  owned_decomposition *o = gz_new(d->source.context, sizeof *o + bytes, 1);
  if (o == NULL) return gz_fail_memory(d->source.context, sizeof *o + bytes);
  double *errors = (double *)(void *)(o->parts + count), *volumes = errors + count;
  qsort(d->pieces.data, count, sizeof(piece), compare_pieces);
  o->front = (graze_decomposition){(uint32_t)count, (const graze_hull *const *)o->parts, errors, volumes, 0, reached};
  for (size_t i = 0; i < count; i++) {
    piece *p = piece_of(d, i);
    o->parts[i] = p->hull;
    p->hull = NULL;
    errors[i] = p->found.bound;
    volumes[i] = p->volume;
    o->front.error = larger(o->front.error, errors[i]);
  }
  *decomposition = &o->front;
  return GRAZE_OK;
}

void graze_decomposition_destroy(graze_decomposition *decomposition) {
  if (decomposition == NULL) return;
  owned_decomposition *o = (owned_decomposition *)(void *)decomposition;
  for (uint32_t i = 0; i < decomposition->count; i++) graze_hull_destroy(o->parts[i]);
  gz_free(o);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

static graze_status decompose(decomposing *d, graze_decomposition **decomposition) {
  piece whole;
  bool reached = false;
  graze_status status = gz_piece_whole(&d->source, &whole);
  if (status == GRAZE_OK) {
    status = take_piece(d, &whole);
  } else {
    gz_piece_release(&whole);
  }
  if (status == GRAZE_OK) status = cut_all(d, &reached);
  if (status == GRAZE_OK) status = join_all(d);
  close_ranks(d);
  return status == GRAZE_OK ? give(d, reached, decomposition) : status;
}

static graze_status check_options(graze_context *context, const graze_decompose_options *options) {
  if (options->cookie != OPTIONS_COOKIE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "decompose options: not initialised");
  if (!isfinite(options->error)) return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "the error of parts is not finite");
  if (options->error < 0) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the error of parts is below 0");
  if (options->most_parts == 0)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "there have to be parts: most_parts is 0");
  return GRAZE_OK;
}

graze_status graze_mesh_decompose(graze_context *context, const graze_mesh *mesh,
                                  const graze_decompose_options *options, graze_decomposition **decomposition) {
  if (context == NULL || mesh == NULL || decomposition == NULL) return gz_fail_null(context);
  decomposing d = {.source = {.context = context, .mesh = mesh},
                   .options = options != NULL ? *options : graze_default_decompose_options()};
  graze_mesh_facts facts;
  graze_mass mass;
  *decomposition = NULL;
  graze_status status = check_options(context, &d.options);
  if (status == GRAZE_OK) status = graze_mesh_get_mass(context, mesh, 1, &mass);
  if (status != GRAZE_OK) return status;
  graze_mesh_get_facts(mesh, &facts);
  d.source.box = facts.box;
  if (d.options.error == 0) d.options.error = 0.01 * diagonal(facts.box.min, facts.box.max);
  status = graze_query_create(context, &d.source.query);
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = decompose(&d, decomposition);
  gz_fp_leave(saved);
  for (size_t i = 0; i < d.pieces.count; i++) gz_piece_release(piece_of(&d, i));
  gz_free(d.pieces.data);
  graze_query_destroy(d.source.query);
  return status;
}
