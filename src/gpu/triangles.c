/* Triangles of two models, each with each, on a device; kernels/triangles.cl puts aside what surely does not meet, and
 * what is left is decided here, exactly, block by block. Right for models that change shape at every step, and for
 * small ones that are asked about again and again: nothing is built, and a repeated question sends two poses. */
#include "gpu/triangles.h"

#include <math.h>
#include <string.h>

#include "geometry/pose.h"

enum { SIDE = 64, GROUPS_WANTED = 4096, BLOCK = 1 << 15 };

static const uint64_t MOST_TESTS = (uint64_t)1 << 36; /* of a launch: drivers end what seems to hang */
static const uint64_t MOST_LEFT = 1u << 25;           /* pairs that are written together */
static const uint64_t MOST_COUNTS = 1u << 26;

/* ---- models ---------------------------------------------------------------------------------------------------- */

static graze_status upload(graze_gpu_model *m) {
  enum { PART = 4096 };
  graze_gpu *gpu = m->gpu;
  const size_t bytes = 9 * sizeof(double);
  double *part = memory_alloc(gpu->context, PART * bytes);
  if (part == NULL) return report_memory(gpu->context, PART * bytes);
  graze_status status = gpu_reserve(gpu, &m->corners, m->count * bytes);
  for (uint32_t from = 0; from < m->count && status == GRAZE_OK; from += PART) {
    uint32_t some = m->count - from < PART ? m->count - from : PART;
    for (uint32_t i = 0; i < some; i++) graze_mesh_get_triangle(m->mesh, from + i, part + 9 * (size_t)i);
    status = gpu_write(gpu, &m->corners, from * bytes, part, some * bytes);
  }
  memory_release(gpu->context, part, PART * bytes);
  return status;
}

void graze_gpu_model_destroy(graze_gpu_model *m) {
  if (m == NULL) return;
  gpu_release(m->gpu, &m->corners);
  memory_release(m->gpu->context, m, sizeof *m);
}

graze_status graze_gpu_model_create(graze_gpu *gpu, const graze_mesh *mesh, graze_gpu_model **model) {
  if (gpu == NULL || mesh == NULL || model == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_gpu_model *m = memory_alloc(gpu->context, sizeof *m);
  if (m == NULL) return report_memory(gpu->context, sizeof *m);
  *m = (graze_gpu_model){.gpu = gpu, .mesh = mesh, .count = graze_mesh_triangle_count(mesh)};
  /* A device that cannot hold it is no error: the processor has the mesh. */
  if (!gpu->lost && gpu->arithmetic.exact && upload(m) != GRAZE_OK) gpu_release(gpu, &m->corners);
  *model = m;
  return GRAZE_OK;
}

static graze_status pose_model(graze_gpu *gpu, gpu_triangles *t, int side, const graze_gpu_model *m,
                               const graze_pose *pose) {
  for (int k = 0; k < 12; k++) {
    if (!isfinite(pose->m[k])) return GRAZE_ERROR_ARGUMENT;
  }
  graze_status status = gpu_reserve(gpu, &t->posed[side], 9 * sizeof(double) * m->count);
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &t->pose, sizeof pose->m);
  if (status == GRAZE_OK) status = gpu_write(gpu, &t->pose, 0, pose->m, sizeof pose->m);
  const gpu_argument arguments[] = {GPU_BUFFER(&m->corners), GPU_BUFFER(&t->pose), GPU_BUFFER(&t->posed[side]),
                                    GPU_BUFFER(&t->bad), GPU_VALUE(m->count)};
  return status != GRAZE_OK ? status
                            : gpu_run(gpu, "triangles", "pose_corners", gpu_groups(m->count, 256), arguments, 5);
}

/* ARGUMENT: something is not finite. */
static graze_status pose_both(graze_gpu *gpu, gpu_triangles *t, const graze_gpu_model *a, const graze_pose *pose_a,
                              const graze_gpu_model *b, const graze_pose *pose_b) {
  const uint32_t none = UINT32_MAX;
  uint32_t bad;
  graze_status status = gpu_reserve(gpu, &t->bad, sizeof none);
  if (status == GRAZE_OK) status = gpu_write(gpu, &t->bad, 0, &none, sizeof none);
  if (status == GRAZE_OK) status = pose_model(gpu, t, 0, a, pose_a);
  if (status == GRAZE_OK) status = pose_model(gpu, t, 1, b, pose_b);
  if (status == GRAZE_OK) status = gpu_read(gpu, &bad, &t->bad, 0, sizeof bad);
  return status == GRAZE_OK && bad != none ? GRAZE_ERROR_ARGUMENT : status;
}

/* ---- what is left ---------------------------------------------------------------------------------------------- */

typedef struct posed_model {
  const graze_gpu_model *model;
  const graze_pose *pose;
} posed_model;

static void put_corners(const posed_model *m, uint32_t triangle, double *const to[9], uint64_t i) {
  double corners[9];
  graze_mesh_get_triangle(m->model->mesh, triangle, corners);
  for (int k = 0; k < 9; k++) to[k][i] = pose_row(m->pose, k % 3, corners + k / 3 * 3);
}

static bool keep_hit(graze_gpu *gpu, gpu_triangles *t, const graze_triangle_pair *pair) {
  size_t used = t->hit_count * sizeof *pair;
  if (!buffer_reserve(gpu->context, &t->hits, used + sizeof *pair, used)) return false;
  ((graze_triangle_pair *)t->hits.data)[t->hit_count++] = *pair;
  return true;
}

static bool count_hit(graze_gpu *gpu, gpu_triangles *t, const graze_triangle_pair *pair, const graze_tritri *r,
                      graze_find find, graze_collision *out) {
  graze_counts *c = &out->counts;
  out->hit = true;
  c->triangle_pairs++;
  c->degenerate += r->degenerate != 0;
  c->points += r->degenerate == 0 && r->kind == GRAZE_KIND_POINT;
  c->segments += r->degenerate == 0 && r->kind == GRAZE_KIND_SEGMENT;
  c->areas += r->degenerate == 0 && r->kind == GRAZE_KIND_AREA;
  c->coplanar += r->coplanar;
  if (find != GRAZE_FIND_ANY) c->hash += graze_pair_hash(pair->a, pair->b);
  return find == GRAZE_FIND_COUNT || keep_hit(gpu, t, pair);
}

/* Decides pairs exactly. */
static graze_status decide(graze_gpu *gpu, gpu_triangles *t, const posed_model *a, const posed_model *b,
                           const graze_triangle_pair *pairs, uint64_t count, graze_find find, graze_collision *out) {
  if (!buffer_reserve(gpu->context, &t->corners, 18 * sizeof(double) * BLOCK, 0) ||
      !buffer_reserve(gpu->context, &t->results, BLOCK * sizeof(graze_tritri), 0)) {
    return report_memory(gpu->context, 18 * sizeof(double) * BLOCK);
  }
  double *first[9], *second[9], *data = t->corners.data;
  graze_tritri *results = t->results.data;
  for (size_t k = 0; k < 9; k++) {
    first[k] = data + k * BLOCK;
    second[k] = data + (9 + k) * BLOCK;
  }
  for (uint64_t from = 0; from < count; from += BLOCK) {
    uint64_t some = count - from < BLOCK ? count - from : BLOCK;
    for (uint64_t i = 0; i < some; i++) {
      put_corners(a, pairs[from + i].a, first, i);
      put_corners(b, pairs[from + i].b, second, i);
    }
    graze_status status =
        graze_tritri_batch(gpu->context, some, (const double *const *)first, (const double *const *)second, results);
    if (status != GRAZE_OK) return status;
    for (uint64_t i = 0; i < some; i++) {
      if (results[i].kind == GRAZE_KIND_NONE) continue;
      if (!count_hit(gpu, t, &pairs[from + i], &results[i], find, out)) {
        return report(gpu->context, GRAZE_ERROR_MEMORY, "out of memory: %llu triangle pairs",
                      (unsigned long long)t->hit_count);
      }
      if (find == GRAZE_FIND_ANY) return GRAZE_OK;
    }
  }
  return GRAZE_OK;
}

/* ---- the comparison -------------------------------------------------------------------------------------------- */

typedef struct comparison {
  posed_model a, b;
  uint32_t chunk, chunks; /* triangles of b that a group looks at, and how many such */
  graze_find find;
} comparison;

/* Tiles [first, first + tiles) of a against all of b, halved until what is left has room. */
static graze_status compare_tiles(graze_gpu *gpu, gpu_triangles *t, const comparison *c, uint32_t first, uint32_t tiles,
                                  graze_collision *out) {
  uint32_t groups = tiles * c->chunks, items = groups * SIDE;
  uint64_t total;
  graze_status status = gpu_reserve(gpu, &t->counts, items * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &t->places, (items + (size_t)1) * sizeof(uint32_t));
  const gpu_argument count[] = {
      GPU_BUFFER(&t->posed[0]),     GPU_BUFFER(&t->posed[1]), GPU_BUFFER(&t->counts), GPU_VALUE(c->a.model->count),
      GPU_VALUE(c->b.model->count), GPU_VALUE(c->chunk),      GPU_VALUE(c->chunks),   GPU_VALUE(first)};
  if (status == GRAZE_OK) status = gpu_run(gpu, "triangles", "compare_count", groups, count, 8);
  if (status == GRAZE_OK) status = gpu_scan(gpu, &t->scratch, &t->counts, &t->places, items);
  if (status == GRAZE_OK) status = gpu_scan_total(gpu, &t->scratch, &total);
  if (status != GRAZE_OK) return status;
  out->work.triangle_tests += total;
  if (total == 0) return GRAZE_OK;
  if (total > MOST_LEFT && tiles > 1) {
    out->work.triangle_tests -= total;
    status = compare_tiles(gpu, t, c, first, tiles / 2, out);
    if (status != GRAZE_OK || (out->hit && c->find == GRAZE_FIND_ANY)) return status;
    return compare_tiles(gpu, t, c, first + tiles / 2, tiles - tiles / 2, out);
  }
  size_t bytes = total * sizeof(graze_triangle_pair);
  if (!buffer_reserve(gpu->context, &t->left, bytes, 0)) return report_memory(gpu->context, bytes);
  status = gpu_reserve(gpu, &t->pairs, bytes);
  const gpu_argument write[] = {GPU_BUFFER(&t->posed[0]), GPU_BUFFER(&t->posed[1]),     GPU_BUFFER(&t->places),
                                GPU_BUFFER(&t->pairs),    GPU_VALUE(c->a.model->count), GPU_VALUE(c->b.model->count),
                                GPU_VALUE(c->chunk),      GPU_VALUE(c->chunks),         GPU_VALUE(first)};
  if (status == GRAZE_OK) status = gpu_run(gpu, "triangles", "compare_write", groups, write, 9);
  if (status == GRAZE_OK) status = gpu_read(gpu, t->left.data, &t->pairs, 0, bytes);
  return status != GRAZE_OK ? status : decide(gpu, t, &c->a, &c->b, t->left.data, total, c->find, out);
}

/* As many groups as keep a device busy; chunks of whole tiles. */
static void cut_in_chunks(comparison *c, uint32_t tiles) {
  uint32_t others = gpu_groups(c->b.model->count, SIDE), chunks = gpu_groups(GROUPS_WANTED, tiles);
  if (chunks > others) chunks = others;
  c->chunk = gpu_groups(others, chunks) * SIDE;
  c->chunks = gpu_groups(c->b.model->count, c->chunk);
}

graze_status gpu_triangles_collide(graze_gpu *gpu, gpu_triangles *t, const graze_gpu_model *a, const graze_pose *pose_a,
                                   const graze_gpu_model *b, const graze_pose *pose_b, graze_find find,
                                   graze_collision *result) {
  comparison c = {.a = {a, pose_a}, .b = {b, pose_b}, .find = find};
  t->hit_count = 0;
  *result = (graze_collision){0};
  if (a->count == 0 || b->count == 0) return GRAZE_OK;
  graze_status status = pose_both(gpu, t, a, pose_a, b, pose_b);
  if (status != GRAZE_OK) return status;
  uint32_t tiles = gpu_groups(a->count, SIDE);
  cut_in_chunks(&c, tiles);
  uint64_t most = MOST_TESTS / ((uint64_t)SIDE * b->count), room = MOST_COUNTS / ((uint64_t)SIDE * c.chunks);
  if (most > room) most = room;
  if (most == 0) most = 1;
  for (uint32_t first = 0; first < tiles && status == GRAZE_OK; first += (uint32_t)most) {
    uint32_t some = tiles - first < most ? tiles - first : (uint32_t)most;
    status = compare_tiles(gpu, t, &c, first, some, result);
    if (result->hit && find == GRAZE_FIND_ANY) break;
  }
  result->pairs = find != GRAZE_FIND_COUNT && t->hit_count > 0 ? t->hits.data : NULL;
  return status;
}

void gpu_triangles_release(graze_gpu *gpu, gpu_triangles *t) {
  gpu_buffer *all[] = {&t->pose, &t->bad, &t->posed[0], &t->posed[1], &t->counts, &t->places, &t->pairs};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gpu_release(gpu, all[i]);
  gpu_scratch_release(gpu, &t->scratch);
  buffer *memory[] = {&t->left, &t->corners, &t->results, &t->hits};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) buffer_release(gpu->context, memory[i]);
}
