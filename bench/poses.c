/* bench/poses.c: pose lists: read, cached, or found by bisection with the library itself. */
#include "poses.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSE_SEED  20240607u
#define DIRECTIONS 8
#define STEPS      64

static void matrix_of(const double q[4], const double t[3], double m[12]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m[4 * i + j] = r[3 * i + j];
    m[4 * i + 3] = t[i];
  }
}

pose_list poses_read(const char *path, const char *mesh, const char *kind, uint32_t most) {
  pose_list p = {.given = true};
  char line[1024], name[64], what[64];
  FILE *f = path ? fopen(path, "r") : NULL;
  while (f && p.count < most && p.count < BENCH_ITEMS_MAX && fgets(line, sizeof line, f)) {
    double q[4], t[3];
    int index, hit;
    if (sscanf(line, "%63[^,],%63[^,],%d,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%d", name, what, &index, &q[0], &q[1], &q[2],
               &q[3], &t[0], &t[1], &t[2], &hit) != 11)
      continue;
    if (strcmp(name, mesh) || strcmp(what, kind)) continue;
    matrix_of(q, t, p.matrices[p.count]);
    p.hits[p.count++] = hit != 0;
  }
  if (f) fclose(f);
  return p;
}

void poses_write(const pose_list *p, const char *path) {
  FILE *f = fopen(path, "wb");
  if (!f) fail("%s: %s", path, strerror(errno));
  uint32_t counts[2] = {p->count, 0};
  bool good = fwrite(BENCH_POSE_MAGIC, 1, 8, f) == 8 && fwrite(counts, 4, 2, f) == 2 &&
              fwrite(p->matrices, sizeof p->matrices[0], p->count, f) == p->count;
  if (fclose(f) || !good) fail("%s: could not be written", path);
}

/* ---- finding ---- */

static double uniform(uint64_t *state) {
  *state += 1;
  return (double)(splitmix64(*state) >> 11) * 0x1p-53;
}

static void random_rotation(uint64_t *state, double q[4]) {
  double u = uniform(state), a = 6.283185307179586 * uniform(state), b = 6.283185307179586 * uniform(state);
  q[0] = sqrt(u) * cos(b);
  q[1] = sqrt(1 - u) * sin(a);
  q[2] = sqrt(1 - u) * cos(a);
  q[3] = sqrt(u) * sin(b);
}

static void random_direction(uint64_t *state, double d[3]) {
  double z = 2 * uniform(state) - 1, a = 6.283185307179586 * uniform(state), r = sqrt(1 - z * z);
  d[0] = r * cos(a);
  d[1] = r * sin(a);
  d[2] = z;
}

pose_list poses_concentric(uint32_t count, uint64_t seed) {
  pose_list p = {.count = count};
  uint64_t state = splitmix64(seed);
  for (uint32_t i = 0; i < count; i++) {
    double q[4];
    random_rotation(&state, q);
    matrix_of(q, (const double[3]){0, 0, 0}, p.matrices[i]);
  }
  return p;
}

typedef struct finder {
  graze_mesh *mesh;
  graze_query *query;
  const model *model;
  double rotation[4];
} finder;

static void place(const finder *f, const double d[3], double s, double m[12]) {
  matrix_of(f->rotation, (const double[3]){s * d[0], s * d[1], s * d[2]}, m);
}

static bool hits(const finder *f, const double d[3], double s) {
  graze_pose pose;
  graze_collide_result result;
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_ANY;
  place(f, d, s, pose.m);
  must(graze_collide_meshes(f->query, f->mesh, NULL, f->mesh, &pose, &options, &result), "pose finder");
  return result.hit;
}

static double bisect(const finder *f, const double d[3], double hit, double clear, double width) {
  while (fabs(clear - hit) > width) {
    double middle = 0.5 * (hit + clear);
    if (hits(f, d, middle))
      hit = middle;
    else
      clear = middle;
  }
  return clear;
}

/* Outward from the centre along each direction: the first free place after a contact, nearest of all directions. */
static bool find_near(const finder *f, uint64_t *state, double m[12]) {
  double best = 1;
  for (int k = 0; k < DIRECTIONS; k++) {
    double d[3];
    random_direction(state, d);
    bool before = false;
    for (int j = 0; j <= STEPS && (double)j / STEPS < best; j++) {
      bool now = hits(f, d, (double)j / STEPS);
      if (before && !now) {
        double s = bisect(f, d, (double)(j - 1) / STEPS, (double)j / STEPS, 1e-5);
        if (s < best) {
          best = s;
          place(f, d, s, m);
        }
        break;
      }
      before = now;
    }
  }
  return best < 1;
}

/* The farthest shift along d at which the world boxes of both still meet. */
static double box_reach(const finder *f, const double d[3]) {
  double low[2][3], high[2][3], m[12], reach = 1e300;
  place(f, d, 0, m);
  for (int k = 0; k < 3; k++) {
    low[0][k] = low[1][k] = 1e300;
    high[0][k] = high[1][k] = -1e300;
  }
  for (size_t i = 0; i < f->model->vertex_count; i++) {
    const float *p = f->model->vertices + 3 * i;
    for (int k = 0; k < 3; k++) {
      double moved = m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2];
      low[0][k] = fmin(low[0][k], p[k]);
      high[0][k] = fmax(high[0][k], p[k]);
      low[1][k] = fmin(low[1][k], moved);
      high[1][k] = fmax(high[1][k], moved);
    }
  }
  for (int k = 0; k < 3; k++) {
    double gap = d[k] > 0 ? high[0][k] - low[1][k] : low[0][k] - high[1][k];
    if (d[k] != 0) reach = fmin(reach, gap / d[k]);
  }
  return reach;
}

/* Half way between contact and the end of the box overlap, where that way is longest. */
static bool find_far(const finder *f, uint64_t *state, double m[12]) {
  double widest = 0;
  for (int k = 0; k < DIRECTIONS; k++) {
    double d[3];
    random_direction(state, d);
    double reach = box_reach(f, d), step = reach / STEPS, s = reach;
    while (s > 0 && !hits(f, d, s)) s -= step;
    if (s == reach || s <= 0) continue;
    double contact = bisect(f, d, s, s + step, 1e-4);
    if (reach - contact <= widest) continue;
    widest = reach - contact;
    place(f, d, 0.5 * (contact + reach), m);
  }
  return widest > 0;
}

static bool find_pose(finder *f, const char *kind, uint64_t *state, double m[12]) {
  double d[3];
  random_rotation(state, f->rotation);
  if (!strcmp(kind, "near")) return find_near(f, state, m);
  if (!strcmp(kind, "far")) return find_far(f, state, m);
  random_direction(state, d);
  place(f, d, 0.05 * uniform(state), m);
  return true;
}

static bool hits_matrix(const finder *f, const double m[12]) {
  graze_pose pose;
  graze_collide_result result;
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_ANY;
  memcpy(pose.m, m, sizeof pose.m);
  must(graze_collide_meshes(f->query, f->mesh, NULL, f->mesh, &pose, &options, &result), "pose finder");
  return result.hit;
}

static pose_list find(const bench *b, const model *m, const char *kind) {
  pose_list p = {0};
  finder f = {.model = m, .mesh = model_bake(b, m, GRAZE_VOLUMES_ORIENTED, true)};
  must(graze_query_create(b->context, &f.query), "query");
  for (uint32_t i = 0; i < 50; i++) {
    uint64_t state = splitmix64(POSE_SEED + 1000 * i + (uint64_t)kind[0]);
    for (const char *c = m->name; *c; c++) state = splitmix64(state ^ (uint64_t)*c);
    if (!find_pose(&f, kind, &state, p.matrices[p.count])) continue;
    p.hits[p.count] = hits_matrix(&f, p.matrices[p.count]);
    p.count++;
  }
  graze_query_destroy(f.query);
  graze_mesh_destroy(f.mesh);
  return p;
}

/* The cache is a pose file followed by one byte a pose. */
static bool read_cache(const char *path, pose_list *p) {
  char magic[8];
  uint32_t counts[2];
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  bool good = fread(magic, 1, 8, f) == 8 && !memcmp(magic, BENCH_POSE_MAGIC, 8) && fread(counts, 4, 2, f) == 2 &&
              counts[0] <= BENCH_ITEMS_MAX && fread(p->matrices, sizeof p->matrices[0], counts[0], f) == counts[0] &&
              fread(p->hits, sizeof p->hits[0], counts[0], f) == counts[0];
  fclose(f);
  if (good) p->count = counts[0];
  return good;
}

static void write_cache(const char *path, const pose_list *p) {
  poses_write(p, path);
  FILE *f = fopen(path, "ab");
  if (!f || fwrite(p->hits, sizeof p->hits[0], p->count, f) != p->count || fclose(f))
    fail("%s: %s", path, strerror(errno));
}

pose_list poses_get(const bench *b, const model *m, const char *kind, uint32_t most) {
  pose_list p = poses_read(b->pose_file, m->name, kind, most);
  if (p.count) return p;
  char *path = text_of("%s/poses-%s-%s.bin", b->work_folder, m->name, kind);
  p = (pose_list){0};
  if (!read_cache(path, &p)) {
    fprintf(stderr, "finding %s poses of %s ...\n", kind, m->name);
    p = find(b, m, kind);
    write_cache(path, &p);
  }
  free(path);
  if (p.count > most) p.count = most;
  return p;
}
