/* bench/work_read.c: mesh files of a million triangles in every format, written here, read through graze_io. A row is
 * right when what was read is what was written: the stored floats, or the doubles nearest to the digits, bit by bit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "graze/io.h"
#include "models.h"

typedef void (*writer)(FILE *f, const model *m);

static void write_obj(FILE *f, const model *m) {
  for (size_t i = 0; i < m->vertex_count; i++) {
    const float *p = m->vertices + 3 * i;
    fprintf(f, "v %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
  }
  for (size_t i = 0; i < m->triangle_count; i++) {
    const uint32_t *t = m->indices + 3 * i;
    fprintf(f, "f %u %u %u\n", t[0] + 1, t[1] + 1, t[2] + 1);
  }
}

static void write_off(FILE *f, const model *m) {
  fprintf(f, "OFF\n%u %u 0\n", m->vertex_count, m->triangle_count);
  for (size_t i = 0; i < m->vertex_count; i++) {
    const float *p = m->vertices + 3 * i;
    fprintf(f, "%.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
  }
  for (size_t i = 0; i < m->triangle_count; i++) {
    const uint32_t *t = m->indices + 3 * i;
    fprintf(f, "3 %u %u %u\n", t[0], t[1], t[2]);
  }
}

static void write_ply_head(FILE *f, const model *m, const char *format) {
  fprintf(f, "ply\nformat %s 1.0\nelement vertex %u\nproperty float x\nproperty float y\nproperty float z\n", format,
          m->vertex_count);
  fprintf(f, "element face %u\nproperty list uchar int vertex_indices\nend_header\n", m->triangle_count);
}

static void write_ply_ascii(FILE *f, const model *m) {
  write_ply_head(f, m, "ascii");
  for (size_t i = 0; i < m->vertex_count; i++) {
    const float *p = m->vertices + 3 * i;
    fprintf(f, "%.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
  }
  for (size_t i = 0; i < m->triangle_count; i++) {
    const uint32_t *t = m->indices + 3 * i;
    fprintf(f, "3 %u %u %u\n", t[0], t[1], t[2]);
  }
}

static void write_ply_binary(FILE *f, const model *m) {
  write_ply_head(f, m, "binary_little_endian");
  fwrite(m->vertices, 12, m->vertex_count, f);
  for (size_t i = 0; i < m->triangle_count; i++) {
    fputc(3, f);
    fwrite(m->indices + 3 * i, 4, 3, f);
  }
}

static void write_stl_binary(FILE *f, const model *m) {
  char head[80] = "binary";
  const float normal[3] = {0, 0, 0};
  const uint16_t attribute = 0;
  fwrite(head, 1, sizeof head, f);
  fwrite(&m->triangle_count, 4, 1, f);
  for (size_t i = 0; i < m->triangle_count; i++) {
    fwrite(normal, 4, 3, f);
    for (int k = 0; k < 3; k++) fwrite(m->vertices + 3 * (size_t)m->indices[3 * i + (size_t)k], 4, 3, f);
    fwrite(&attribute, 2, 1, f);
  }
}

static void write_stl_ascii(FILE *f, const model *m) {
  fprintf(f, "solid bench\n");
  for (size_t i = 0; i < m->triangle_count; i++) {
    fprintf(f, "facet normal 0 0 0\nouter loop\n");
    for (int k = 0; k < 3; k++) {
      const float *p = m->vertices + 3 * (size_t)m->indices[3 * i + (size_t)k];
      fprintf(f, "vertex %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
    }
    fprintf(f, "endloop\nendfacet\n");
  }
  fprintf(f, "endsolid bench\n");
}

static uint64_t bits(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

typedef struct read_job {
  const char *path;
  uint64_t bytes;
  graze_context *context;
} read_job;

/* The hash is over corners in order, so that indexed files and soups agree. */
static void run_read(void *argument, bool check, sample *out) {
  read_job *j = argument;
  graze_geometry g;
  double start = seconds_now();
  if (graze_read_geometry(j->context, j->path, GRAZE_FORMAT_AUTO, 0, &g) != GRAZE_OK)
    fail("%s", graze_last_error(j->context)->message);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = g.triangle_count;
  out->bytes = j->bytes;
  for (size_t i = 0; check && i < 3 * g.triangle_count; i++)
    for (size_t k = 0; k < 3; k++) out->hash += splitmix64(9 * i + k + bits(g.vertices[3 * (size_t)g.indices[i] + k]));
  graze_geometry_free(&g);
}

/* Text holds nine digits: the value that must be read is the double nearest to them, here by the C library. */
static double written_value(float x, bool text) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.9g", (double)x);
  return text ? strtod(digits, NULL) : (double)x;
}

static uint64_t expected_hash(const model *m, bool text) {
  size_t n = 3 * (size_t)m->vertex_count;
  double *values = must_alloc(n, sizeof *values);
  uint64_t hash = 0;
  for (size_t i = 0; i < n; i++) values[i] = written_value(m->vertices[i], text);
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++)
    for (size_t k = 0; k < 3; k++) hash += splitmix64(9 * i + k + bits(values[3 * (size_t)m->indices[i] + k]));
  free(values);
  return hash;
}

static void judge_read(contest *c, entry *e) {
  e->right = e->checked.count == c->expected_count && e->checked.hash == c->expected_hash;
  snprintf(e->note, sizeof e->note, "file of %.1f MB", 1e-6 * (double)e->checked.bytes);
}

static void one_read(bench *b, const model *m, const char *name, const char *ending, writer write, bool text) {
  if (!bench_wants(b, "read/%s", name)) return;
  char *path = text_of("%s/read.%s", b->work_folder, ending);
  FILE *f = fopen(path, "wb");
  if (!f) fail("%s: %s", path, strerror(errno));
  write(f, m);
  uint64_t bytes = (uint64_t)ftell(f);
  if (ferror(f) || fclose(f)) fail("%s: could not be written", path);
  read_job j = {path, bytes, b->context};
  contest c;
  contest_begin(&c, b, "byte", m->triangle_count, bytes, "read/%s", name);
  contest_expect(&c, m->triangle_count, expected_hash(m, text));
  c.judge = judge_read;
  contest_ours(&c, "cpu", run_read, &j);
  contest_end(&c);
  remove(path);
  free(path);
}

void work_read(bench *b) {
  static const struct format {
    const char *name, *ending;
    writer write;
    bool text;
  } formats[] = {{"obj", "obj", write_obj, true},
                 {"off", "off", write_off, true},
                 {"ply_ascii", "ply", write_ply_ascii, true},
                 {"ply_binary", "ply", write_ply_binary, false},
                 {"stl_ascii", "stl", write_stl_ascii, true},
                 {"stl_binary", "stl", write_stl_binary, false}};
  model m = shape_plane(b->list ? 1 : b->quick ? 100 : 708);
  for (size_t i = 0; i < COUNT_OF(formats); i++)
    one_read(b, &m, formats[i].name, formats[i].ending, formats[i].write, formats[i].text);
  model_free(&m);
}
