/* A model of which two crossing meshes may be the rounding, and in which they do not cross.
 *
 * A bolt that fits its bore is, corner by corner, rounded into the wall on all sides: no translation frees it. But each
 * corner may have been anywhere within half a unit of its last place. The triangles that meet are pushed apart
 * (corners_push.c), the moved meshes are related like any others, and what still meets is pushed on, a few times. What
 * is found is proved: corners at one place move together and none farther than its rounding, the moved surfaces have
 * the holes that they had, no triangle is turned over, none runs through another that it did not run through before,
 * and the exact relation of both is touch or separate.
 */
#include "narrow/corners.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "narrow/locate.h"

enum { ROUNDS = 8, PUSHES_MOST = 1 << 20 };

typedef struct corners {
  graze_query *query; /* another one than the caller's, whose pairs stay */
  const graze_context *context;
  corner_side of[2];
  const graze_relate_options *options;
  double slack; /* what rounding may take away from a distance */
  graze_mesh *moved[2];
  buffer pushes;
  uint64_t count;
} corners;

/* ---- vertices ---- */

static bool same_place(const double p[3], const double q[3]) {
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* Finds the first vertex at each position, in a table of numbers and one with room for twice as many. */
static void find_first(const graze_mesh *mesh, uint32_t *table, uint64_t mask, uint32_t *first) {
  memset(table, 0, (mask + 1) * sizeof *table);
  for (uint32_t v = 0; v < mesh->header->vertex_count; v++) {
    double p[3], q[3];
    mesh_vertex(mesh, v, p);
    for (uint64_t slot = hash_doubles(0, p, 3) & mask;; slot = (slot + 1) & mask) {
      if (table[slot] == 0) table[slot] = v + 1;
      mesh_vertex(mesh, table[slot] - 1, q);
      if (!same_place(p, q)) continue;
      first[v] = table[slot] - 1;
      break;
    }
  }
}

/* Which way triangles face: that of a shell by the sign of the volume in it. Where ends are flush, what is inside one
 * of the planes must not take the way through that plane. */
static int8_t find_facing(const corner_side *s) {
  const graze_mesh *mesh = s->place->mesh;
  double volume = 0;
  if (!mesh->header->closed || !mesh->header->oriented) return 0;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    const uint32_t *v = mesh->triangles + 3 * (size_t)t;
    double d[3][3], n[3];
    for (int c = 0; c < 3; c++) sub3(s->at[v[c]], s->at[mesh->triangles[0]], d[c]);
    cross3(d[0], d[1], n);
    volume += dot3(n, d[2]);
  }
  return (int8_t)((volume > 0) - (volume < 0));
}

/* `at` is kept for the caller of the query, the rest only while this lasts. */
static graze_status open_side(corners *c, graze_query *owner, int k) {
  corner_side *s = &c->of[k];
  const uint64_t count = s->place->mesh->header->vertex_count;
  uint64_t mask = 1;
  while (mask < 2 * count) mask = 2 * mask + 1;
  uint32_t *table = gz_memory_alloc(c->context, (mask + 1) * sizeof *table);
  s->move = gz_memory_alloc(c->context, count * sizeof *s->move);
  s->first = gz_memory_alloc(c->context, count * sizeof *s->first);
  if (table != NULL && s->move != NULL && s->first != NULL &&
      gz_buffer_reserve(c->context, &owner->corners[k], count * sizeof *s->at, 0)) {
    s->at = owner->corners[k].data;
    memset(s->move, 0, count * sizeof *s->move);
    find_first(s->place->mesh, table, mask, s->first);
    for (uint32_t v = 0; v < count; v++) gz_corner_place(s, v);
    s->facing = find_facing(s);
  }
  gz_memory_release(c->context, table, (mask + 1) * sizeof *table);
  return s->at != NULL ? GRAZE_OK : gz_fail_memory(c->context, count * sizeof *s->at);
}

/* Vertices go with the first one at their position. */
static void place_all(const corner_side *s) {
  for (uint32_t v = 0; v < s->place->mesh->header->vertex_count; v++) {
    if (s->first[v] != v) memcpy(s->at[v], s->at[s->first[v]], sizeof s->at[v]);
  }
}

static graze_status bake(const corners *c, int k, graze_mesh **mesh) {
  const corner_side *s = &c->of[k];
  const mesh_header *h = s->place->mesh->header;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = s->at;
  def.vertex_count = h->vertex_count;
  def.indices = s->place->mesh->triangles;
  def.triangle_count = h->triangle_count;
  def.precision = GRAZE_DOUBLE;
  def.volumes = (graze_volumes)h->volumes;
  def.no_adjacency = !h->adjacency;
  return graze_mesh_create(c->query->context, &def, mesh);
}

/* ---- pushing ---- */

static bool keep_pushes(corners *c, const corner_parting *p) {
  const size_t used = c->count * sizeof p->pushes[0], bytes = p->count * sizeof p->pushes[0];
  if (!gz_buffer_reserve(c->context, &c->pushes, used + bytes, used)) return false;
  memcpy((char *)c->pushes.data + used, p->pushes, bytes);
  c->count += p->count;
  return true;
}

/* Adds what these pairs need. *needed: more than nothing; *hopeless: more than there is. Of triangles that only touch
 * in a plane and are not parted by another one, `touching` leaves out those that may go on to touch. */
static graze_status add_pushes(corners *c, const graze_triangle_pair *pairs, uint64_t count, bool touching,
                               bool *needed, bool *hopeless) {
  *needed = *hopeless = false;
  for (uint64_t i = 0; i < count && !*hopeless; i++) {
    const corner_parting p = gz_corners_part(c->of, pairs[i].a, pairs[i].b, touching ? c->slack : -1);
    *hopeless = (!(p.need <= 1) && !touching) || c->count > PUSHES_MOST;
    if (!(p.need <= 1) || p.need == 0) continue;
    *needed = true;
    if (!keep_pushes(c, &p)) return gz_fail_memory(c->context, c->pushes.bytes);
  }
  return GRAZE_OK;
}

/* Pushes what meets in the pairs apart. Triangles that only touch may go on to do so, unless nothing else is left. */
static graze_status push(corners *c, const graze_triangle_pair *pairs, uint64_t count, bool *going) {
  bool needed, hopeless;
  graze_status status = add_pushes(c, pairs, count, false, &needed, &hopeless);
  if (status == GRAZE_OK && !needed && !hopeless) status = add_pushes(c, pairs, count, true, &needed, &hopeless);
  *going = needed && !hopeless;
  if (status != GRAZE_OK || !*going) return status;
  gz_corners_push(c->of, c->pushes.data, c->count, c->slack);
  for (int k = 0; k < 2; k++) place_all(&c->of[k]);
  return GRAZE_OK;
}

static graze_status relate_moved(corners *c, graze_relate_result *result) {
  graze_status status = GRAZE_OK;
  for (int k = 0; k < 2 && status == GRAZE_OK; k++)
    status = c->moved[k] == NULL ? bake(c, k, &c->moved[k]) : graze_mesh_refit(c->moved[k], c->of[k].at, 0);
  if (status != GRAZE_OK) return status;
  graze_relate_options how = graze_default_relate_options();
  how.exactness = c->options->exactness;
  how.open = c->options->open;
  return graze_relate_meshes(c->query, c->moved[0], NULL, c->moved[1], NULL, &how, result);
}

/* ---- what is proved of the moved meshes ---- */

/* The normals of a triangle before and after enclose less than a right angle, whatever rounding does to them. */
static bool keeps_facing(const double p[9], const double q[9]) {
  double u[4][3], n[2][3], size = 64 * DBL_EPSILON;
  for (int i = 0; i < 4; i++) {
    const double *t = i < 2 ? p : q;
    sub3(t + 3 + 3 * (i % 2), t, u[i]);
    size *= length3(u[i]);
  }
  for (int i = 0; i < 2; i++) cross3(u[2 * i], u[2 * i + 1], n[i]);
  return dot3(n[0], n[1]) > size;
}

static bool faces_as_before(const graze_mesh *before, const graze_mesh *after) {
  for (uint32_t t = 0; t < before->triangle_count; t++) {
    double p[9], q[9];
    mesh_corners(before, t, p);
    mesh_corners(after, t, q);
    if (memcmp(p, q, sizeof p) != 0 && !mesh_degenerate(before, t) && !keeps_facing(p, q)) return false;
  }
  return true;
}

static bool same_edges(const graze_mesh *before, const graze_mesh *after) {
  const mesh_header *p = before->header, *q = after->header;
  return p->positions == q->positions && p->degenerate_count == q->degenerate_count && p->parts == q->parts &&
         p->open_edges == q->open_edges && p->nonmanifold_edges == q->nonmanifold_edges &&
         p->misoriented_edges == q->misoriented_edges;
}

static bool is_before(const graze_triangle_pair *p, const graze_triangle_pair *q) {
  return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static bool is_part_of(const graze_triangle_pair *some, uint64_t count, const graze_triangle_pair *all, uint64_t most) {
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; i++) {
    while (at < most && is_before(&all[at], &some[i])) at++;
    if (at == most || is_before(&some[i], &all[at])) return false;
  }
  return true;
}

/* Every pair of triangles in which the moved mesh meets itself is one in which it did before. */
static graze_status meets_itself_as_before(const corners *c, const graze_mesh *before, const graze_mesh *after,
                                           bool *same) {
  graze_collide_options how = graze_default_collide_options();
  graze_self_result now, then;
  how.find = GRAZE_FIND_ALL;
  graze_status status = graze_collide_self(c->query, after, &how, &now);
  *same = status == GRAZE_OK && now.self_pairs == 0;
  if (status != GRAZE_OK || *same) return status;
  const size_t bytes = now.self_pairs * sizeof *now.pairs;
  graze_triangle_pair *kept = gz_memory_alloc(c->context, bytes);
  if (kept == NULL) return gz_fail_memory(c->context, bytes);
  memcpy(kept, now.pairs, bytes);
  status = graze_collide_self(c->query, before, &how, &then);
  *same = status == GRAZE_OK && is_part_of(kept, now.self_pairs, then.pairs, then.self_pairs);
  gz_memory_release(c->context, kept, bytes);
  return status;
}

/* Leaves the moved vertices as they are. */
static graze_status keeps_its_shape(corners *c, int k, bool *good) {
  corner_side *s = &c->of[k];
  const size_t bytes = s->place->mesh->header->vertex_count * sizeof *s->move;
  double(*kept)[3] = s->at, (*unmoved)[3] = gz_memory_alloc(c->context, bytes);
  graze_mesh *before = NULL;
  if (unmoved == NULL) return gz_fail_memory(c->context, bytes);
  memset(s->move, 0, bytes);
  s->at = unmoved;
  for (uint32_t v = 0; v < s->place->mesh->header->vertex_count; v++) gz_corner_place(s, v);
  graze_status status = bake(c, k, &before);
  s->at = kept;
  *good = status == GRAZE_OK && same_edges(before, c->moved[k]) && faces_as_before(before, c->moved[k]);
  if (*good) status = meets_itself_as_before(c, before, c->moved[k], good);
  graze_mesh_destroy(before);
  gz_memory_release(c->context, unmoved, bytes);
  return status;
}

/* How far the vertices have been moved, at most, and how many. */
static void measure_moves(const corner_side *s, graze_moved_corners *out) {
  for (uint32_t v = 0; v < s->place->mesh->header->vertex_count; v++) {
    double p[3], from[3], d[3];
    mesh_vertex(s->place->mesh, v, p);
    side_point(s->place, p, from);
    for (int i = 0; i < 3; i++) d[i] = fabs(s->at[v][i] - from[i]) * (1 + 2 * DBL_EPSILON);
    const double length = length3(d);
    if (length > 0 && s->first[v] == v) out->corners++;
    if (length > 0) out->length = fmax(out->length, nextafter(length * (1 + 4 * DBL_EPSILON), INFINITY));
  }
}

/* ---- the search ---- */

static graze_status search(corners *c, const graze_triangle_pair *pairs, uint64_t count, graze_moved_corners *out) {
  bool going = true, good[2] = {false, false};
  for (int round = 0; round < ROUNDS; round++) {
    graze_relate_result now;
    graze_status status = push(c, pairs, count, &going);
    if (status != GRAZE_OK || !going) return status;
    status = relate_moved(c, &now);
    if (status != GRAZE_OK) return status;
    out->relation = now.verdict.relation;
    if (out->relation != GRAZE_CROSS) break;
    pairs = now.pairs;
    count = now.counts.triangle_pairs;
  }
  if (!relation_is_out(out->relation)) return GRAZE_OK;
  for (int k = 0; k < 2; k++) measure_moves(&c->of[k], out);
  for (int k = 0; k < 2; k++) {
    graze_status status = keeps_its_shape(c, k, &good[k]);
    if (status != GRAZE_OK || !good[k]) return status;
    out->vertices[k] = (const double(*)[3])c->of[k].at;
  }
  out->found = true;
  return GRAZE_OK;
}

/* Whether each pair alone could be parted. */
static bool is_shallow(const corners *c, const graze_triangle_pair *pairs, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    if (!(gz_corners_part(c->of, pairs[i].a, pairs[i].b, -1).need <= 1)) return false;
  }
  return count > 0;
}

static double largest_coordinate(const side *s) {
  const graze_box box = gz_side_box(s);
  double most = 0;
  for (int k = 0; k < 3; k++) most = fmax(most, fmax(fabs(box.min[k]), fabs(box.max[k])));
  return most;
}

static void close_corners(corners *c) {
  for (int k = 0; k < 2; k++) {
    const uint64_t count = c->of[k].place->mesh->header->vertex_count;
    graze_mesh_destroy(c->moved[k]);
    gz_memory_release(c->context, c->of[k].move, count * sizeof *c->of[k].move);
    gz_memory_release(c->context, c->of[k].first, count * sizeof *c->of[k].first);
  }
  gz_buffer_release(c->context, &c->pushes);
}

graze_status gz_query_move_corners(graze_query *q, const side *a, const side *b, const graze_relate_options *options,
                                   const graze_triangle_pair *pairs, uint64_t count, const graze_rounding roundings[2],
                                   graze_moved_corners *out) {
  corners c = {.context = q->context, .options = options};
  c.of[0] = (corner_side){.place = a, .rounding = roundings[0]};
  c.of[1] = (corner_side){.place = b, .rounding = roundings[1]};
  *out = (graze_moved_corners){0};
  if (a->mesh == b->mesh || !is_shallow(&c, pairs, count)) return GRAZE_OK;
  graze_status status = q->moved == NULL ? graze_query_create(q->context, &q->moved) : GRAZE_OK;
  c.query = q->moved;
  c.slack = 32 * DBL_EPSILON * fmax(largest_coordinate(a), largest_coordinate(b));
  for (int k = 0; k < 2 && status == GRAZE_OK; k++) status = open_side(&c, q, k);
  if (status == GRAZE_OK) status = search(&c, pairs, count, out);
  close_corners(&c);
  if (status != GRAZE_OK || !out->found) *out = (graze_moved_corners){0};
  return status;
}

graze_status graze_find_moved_corners(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                      const graze_rounding *rounding_a, const graze_mesh *b, const graze_pose *pose_b,
                                      const graze_rounding *rounding_b, const graze_relate_options *options,
                                      graze_moved_corners *result) {
  if (query == NULL || a == NULL || rounding_a == NULL || b == NULL || rounding_b == NULL || result == NULL)
    return gz_fail_null(query != NULL ? query->context : NULL);
  if (!(rounding_a->decimals >= 0) || !(rounding_b->decimals >= 0))
    return gz_fail(query->context, GRAZE_ERROR_ARGUMENT, "moved corners: a rounding is not a length");
  graze_relate_options o = options != NULL ? *options : graze_default_relate_options();
  graze_relate_result relation;
  graze_status status = graze_relate_meshes(query, a, pose_a, b, pose_b, &o, &relation);
  *result = (graze_moved_corners){0};
  if (status != GRAZE_OK || relation.verdict.relation != GRAZE_CROSS) return status;
  const graze_rounding roundings[2] = {*rounding_a, *rounding_b};
  side sides[2];
  unsigned saved = gz_fp_enter();
  status = gz_query_side(query, a, pose_a, o.exactness, "a", &sides[0]);
  if (status == GRAZE_OK) status = gz_query_side(query, b, pose_b, o.exactness, "b", &sides[1]);
  if (status == GRAZE_OK)
    status = gz_query_move_corners(query, &sides[0], &sides[1], &o, relation.pairs, relation.counts.triangle_pairs,
                                   roundings, result);
  gz_fp_leave(saved);
  return status;
}
