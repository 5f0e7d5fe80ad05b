/* The relation of two meshes, in steps from evidence to evidence (steps.h).
 *
 * Meetings are looked at until all three sets have evidence: of objects that truly cross, one pair of triangles is
 * enough. What they leave open is settled cell by cell.
 *
 * The evidence is that of solids and surfaces as they are. That open parts may be more is a doubt of its own.
 */
#include <math.h>

#include "base/context.h"
#include "base/parallel.h"
#include "narrow/query.h"
#include "narrow/relate/steps.h"

enum { OPTIONS_COOKIE = 0x67727234, SAMPLES = 8 };

graze_relate_options graze_default_relate_options(void) {
  return (graze_relate_options){.exactness = GRAZE_T1, .cookie = OPTIONS_COOKIE};
}

/* ---- two cases that need no steps ---- */

/* Nothing meets and each is one piece of which a sample lies outside the other's box: no more need be known. */
static bool plainly_separate(const operands *o, const relate_side *const s[2]) {
  for (int which = 0; which < 2; which++) {
    const graze_mesh *mesh = s[which]->place.mesh;
    bool out = false;
    if (!mesh->header->adjacency || mesh->header->parts != 1) return false;
    uint32_t step = mesh->triangle_count / SAMPLES + 1;
    for (uint32_t t = 0; t < mesh->triangle_count && !out; t += step) {
      double corners[9];
      gz_side_corners(&s[which]->place, t, corners);
      out = !in_box(&o->of[1 - which].box, corners);
    }
    if (!out) return false;
  }
  return true;
}

static bool same_numbers(const graze_pose *p, const graze_pose *q) {
  for (int k = 0; k < 12; k++) {
    if (p->m[k] != q->m[k]) return false;
  }
  return true;
}

/* The same mesh at the same place, closed or not. */
static bool same_everything(const side *a, const side *b) {
  if (!same_numbers(&a->pose, &b->pose)) return false;
  const mesh_header *h = a->mesh->header, *g = b->mesh->header;
  if (a->mesh == b->mesh) return true;
  if (h->geometry_hash != g->geometry_hash || h->vertex_count != g->vertex_count ||
      h->triangle_count != g->triangle_count || h->precision != g->precision) {
    return false;
  }
  size_t size = h->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float);
  const char *base_a = (const char *)h, *base_b = (const char *)g;
  return memcmp(base_a + h->vertices, base_b + g->vertices, 3 * size * h->vertex_count) == 0 &&
         memcmp(base_a + h->triangles, base_b + g->triangles, 3 * sizeof(uint32_t) * h->triangle_count) == 0;
}

/* ---- the steps ---- */

static graze_status relate(graze_query *rays, const relate_side *const s[2], const graze_relate_options *options,
                           const graze_triangle_pair *pairs, const uint8_t *codes, uint64_t count, graze_verdict *out) {
  operands o;
  findings f = {0};
  graze_status status = GRAZE_OK;
  *out = (graze_verdict){.relation = GRAZE_SEPARATE};
  if (s[0]->place.mesh->triangle_count == 0 || s[1]->place.mesh->triangle_count == 0) return GRAZE_OK;
  if (count > 0 && same_everything(&s[0]->place, &s[1]->place)) {
    out->relation = GRAZE_DUPLICATE;
    return GRAZE_OK;
  }
  o.rays = rays;
  o.exactness = options->exactness;
  for (int k = 0; k < 2; k++) o.of[k].box = gz_side_box(&s[k]->place);
  if (count == 0 && plainly_separate(&o, s)) return GRAZE_OK;
  for (int k = 0; k < 2 && status == GRAZE_OK; k++) {
    status = gz_operand_make(&o.of[k], rays, k, s[k], options->open, count);
  }
  if (status != GRAZE_OK) return status;
  gz_relate_meetings(&o, pairs, codes, count, &f);
  if ((status = gz_relate_parts(&o, &f)) != GRAZE_OK) return status;
  if ((status = gz_relate_proof(&o, pairs, count, &f)) != GRAZE_OK) return status;
  gz_relate_open_parts(&o, &f);
  *out = gz_relate_verdict(&o, &f, count > 0);
  return GRAZE_OK;
}

/* ---- the public call ---- */

static graze_status check_options(const graze_query *q, const graze_relate_options *o) {
  if (o->cookie != OPTIONS_COOKIE || (unsigned)o->exactness > GRAZE_T2 || (unsigned)o->open > GRAZE_OPEN_SURFACE) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "relate options: not initialised, or a value is unknown");
  }
  return GRAZE_OK;
}

static graze_status relate_by(graze_query *q, const relate_side *a, const relate_side *b, const graze_relate_options *o,
                              const graze_collide_result *hits, graze_relate_result *result) {
  graze_verdict v;
  graze_status status = q->rays == NULL ? graze_query_create(q->context, &q->rays) : GRAZE_OK;
  const uint8_t *codes = hits->pairs != NULL ? gz_query_codes(q) : NULL;
  if (status == GRAZE_OK)
    status =
        relate(q->rays, (const relate_side *const[]){a, b}, o, hits->pairs, codes, hits->counts.triangle_pairs, &v);
  if (status != GRAZE_OK) return status;
  *result = (graze_relate_result){.verdict = v, .counts = hits->counts, .pairs = hits->pairs, .work = hits->work};
  return GRAZE_OK;
}

graze_status gz_query_relate(graze_query *q, const relate_side *a, const relate_side *b, const graze_relate_options *o,
                             graze_relate_result *result) {
  graze_collide_options collide = graze_default_collide_options();
  graze_collide_result hits;
  collide.exactness = o->exactness;
  graze_status status =
      graze_collide_meshes(q, a->place.mesh, &a->place.pose, b->place.mesh, &b->place.pose, &collide, &hits);
  return status == GRAZE_OK ? relate_by(q, a, b, o, &hits, result) : status;
}

graze_status gz_query_relate_listed(graze_query *q, const relate_side *a, const relate_side *b,
                                    const graze_cull_triangles *triangles, const graze_relate_options *o,
                                    graze_relate_result *result) {
  graze_collide_result hits;
  graze_status status = gz_query_collide_listed(q, &a->place, &b->place, triangles, o->exactness, &hits);
  return status == GRAZE_OK ? relate_by(q, a, b, o, &hits, result) : status;
}

graze_status gz_query_relate_apart(graze_query *q, const relate_side *a, const relate_side *b,
                                   const graze_relate_options *o, graze_relate_result *result) {
  const graze_collide_result none = {0};
  return relate_by(q, a, b, o, &none, result);
}

graze_status graze_relate_meshes(graze_query *query, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                                 const graze_pose *pose_b, const graze_relate_options *options,
                                 graze_relate_result *result) {
  if (query == NULL || a == NULL || b == NULL || result == NULL)
    return gz_fail_null(query != NULL ? query->context : NULL);
  graze_relate_options o = options != NULL ? *options : graze_default_relate_options();
  _Atomic(solid *) made[2] = {gz_solid_kept(a), gz_solid_kept(b)};
  relate_side sides[2] = {{.slot = &made[0]}, {.slot = &made[a != b]}};
  unsigned saved = gz_fp_enter();
  graze_status status = check_options(query, &o);
  if (status == GRAZE_OK) status = gz_query_side(query, a, pose_a, o.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = gz_query_side(query, b, pose_b, o.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK) status = gz_query_relate(query, &sides[0], &sides[1], &o, result);
  gz_solid_keep(query->context, a, atomic_load(&made[0]));
  if (a != b) gz_solid_keep(query->context, b, atomic_load(&made[1]));
  gz_fp_leave(saved);
  return status;
}
