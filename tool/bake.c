/* Baking on all threads. The library shares large work out itself but not small meshes, of which an assembly has
 * thousands: each thread takes one after another, in a context of its own, since a context is used by one at a time.
 * What is made does not depend on who makes it.
 *
 * The cache holds blocks by the hash of their geometry and the version of the program. A block that is damaged or not
 * what its name says is made again. Blocks are checksummed when they are mapped, so nothing waits for the disk.
 */
#include "bake.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "diagnostics.h"
#include "graze/engine.h"
#include "progress.h"

enum { LARGE_TRIANGLES = 1 << 15, LARGE_FILE = 8 << 20 };

typedef struct bake_worker {
  graze_context *context;
  char message[512]; /* of its last failed call */
} bake_worker;

/* ---- contexts ---- */

static void keep_message(void *user, graze_log_level level, const char *message) {
  bake_worker *worker = user;
  if (level == GRAZE_LOG_ERROR) snprintf(worker->message, sizeof worker->message, "%s", message);
}

static void make_worker(session *run, bake_worker *worker, int threads) {
  graze_context_def def = graze_default_context_def();
  def.log = keep_message;
  def.log_user = worker;
  def.threads = threads;
  graze_status status = graze_context_create(&def, &worker->context);
  if (status == GRAZE_OK) status = graze_context_share_engine(worker->context, run->context);
  if (status != GRAZE_OK) session_fail(run, NULL, status);
}

static uint32_t thread_count(const session *run) {
#ifdef _OPENMP
  return (uint32_t)(run->threads > 0 ? run->threads : omp_get_num_procs());
#else
  (void)run;
  return 1;
#endif
}

static uint32_t thread_number(void) {
#ifdef _OPENMP
  return (uint32_t)omp_get_thread_num();
#else
  return 0;
#endif
}

/* One for each thread, and one with all threads behind them. */
static void make_workers(session *run) {
  if (run->makers) return;
  run->maker_count = thread_count(run);
  run->makers = calloc(run->maker_count + 1, sizeof *run->makers);
  if (!run->makers) fail_out_of_memory();
  for (uint32_t i = 0; i < run->maker_count; i++) make_worker(run, &run->makers[i], 1);
  make_worker(run, &run->makers[run->maker_count], run->threads);
}

void bake_end(session *run) {
  for (uint32_t i = 0; run->makers && i <= run->maker_count; i++) graze_context_destroy(run->makers[i].context);
  free(run->makers);
}

/* ---- jobs on all threads ---- */

typedef struct bake_work {
  session *run;
  void *jobs; /* each `size` bytes, with a job_head first */
  size_t size;
  uint32_t count;
  bool (*is_large)(const void *job);
  void (*body)(const session *run, bake_worker *worker, int threads, void *job);
  progress_line line;
  _Atomic uint32_t done;
} bake_work;

static job_head *job_of(const bake_work *work, uint32_t i) {
  return (job_head *)((char *)work->jobs + i * work->size);
}

static void note_fault(job_head *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note_fault(job_head *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&job->fault, format, arguments) < 0) fail_out_of_memory();
  va_end(arguments);
}

static void run_job(bake_work *work, bake_worker *worker, int threads, job_head *job) {
  work->body(work->run, worker, threads, job);
  uint32_t done = ++work->done;
  if (thread_number() == 0) progress_show(&work->line, done, work->count);
}

static void run_jobs(bake_work *work) {
  session *run = work->run;
  make_workers(run);
  work->line.shown = work->line.shown && work->count > 1;
  for (uint32_t i = 0; i < work->count; i++) job_of(work, i)->large = work->is_large(job_of(work, i));
  for (uint32_t i = 0; i < work->count; i++) {
    if (job_of(work, i)->large) run_job(work, &run->makers[run->maker_count], run->threads, job_of(work, i));
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)run->maker_count) if (work->count > 1)
#endif
  for (uint32_t i = 0; i < work->count; i++) {
    if (!job_of(work, i)->large) run_job(work, &run->makers[thread_number()], 1, job_of(work, i));
  }
  progress_end(&work->line);
  for (uint32_t i = 0; i < work->count; i++) {
    if (job_of(work, i)->fault) fail("%s", job_of(work, i)->fault);
  }
}

/* ---- reading ---- */

static bool is_large_path(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && about.st_size >= LARGE_FILE;
}

static bool is_large_assembly(const void *job) {
  return is_large_path(((const file_job *)job)->path);
}

static void open_one(const session *run, bake_worker *worker, int threads, void *file) {
  graze_io_error error;
  file_job *job = file;
  (void)run;
  (void)worker;
  if (graze_open_assembly(job->path, GRAZE_FORMAT_AUTO, job->split, threads, &job->assembly, &error) != GRAZE_OK)
    note_fault(&job->head, "%s", error.message);
}

void bake_open(session *run, file_job *jobs, uint32_t count) {
  double start = clock_seconds();
  bake_work work = {run, jobs, sizeof *jobs, count, is_large_assembly, open_one, progress_begin("files", run->quiet),
                    0};
  run_jobs(&work);
  clock_add(&run->load_seconds, start);
}

static bool is_large_file(const void *job) {
  return is_large_path(((const bake_job *)job)->path);
}

static void read_one(const session *run, bake_worker *worker, int threads, void *file) {
  graze_io_error error;
  bake_job *job = file;
  (void)run;
  (void)worker;
  if (graze_read_geometry(job->path, GRAZE_FORMAT_AUTO, threads, &job->geometry, &error) != GRAZE_OK)
    note_fault(&job->head, "%s", error.message);
}

void bake_read(session *run, bake_job *jobs, uint32_t count) {
  double start = clock_seconds();
  bake_work work = {run, jobs, sizeof *jobs, count, is_large_file, read_one, progress_begin("files", run->quiet), 0};
  run_jobs(&work);
  for (uint32_t i = 0; i < count; i++) {
    if (jobs[i].geometry.triangle_count == 0) note("%s: no triangles", jobs[i].path);
  }
  clock_add(&run->load_seconds, start);
}

/* ---- the cache ---- */

/* A mesh in the cache that is what `def` would become; NULL: none. */
static graze_mesh *find_cached(bake_worker *worker, const graze_mesh_def *def, const char *path, uint64_t hash) {
  graze_mesh *mesh = NULL;
  graze_mesh_facts facts;
  if (access(path, F_OK) != 0) return NULL;
  if (graze_mesh_load(worker->context, path, &mesh) != GRAZE_OK) {
    note("%s; it is made again", worker->message);
    return NULL;
  }
  graze_mesh_get_facts(mesh, &facts);
  if (facts.hash == hash && facts.triangles == def->triangle_count && facts.vertices == def->vertex_count &&
      facts.precision == def->precision && facts.volumes == def->volumes && facts.adjacency == !def->no_adjacency)
    return mesh;
  note("%s: another mesh than its name says; it is made again", path);
  graze_mesh_destroy(mesh);
  return NULL;
}

static bool write_block(int file, const graze_mesh *mesh) {
  size_t size;
  const char *bytes = graze_mesh_block(mesh, &size);
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

/* Complete or not at all. Unlike graze_mesh_save it does not wait for the disk: a block that a power cut spoils has a
 * wrong checksum. */
static bool save_block(const char *path, const graze_mesh *mesh) {
  char *temporary = NULL;
  if (asprintf(&temporary, "%s.%ld-%" PRIu32 ".tmp", path, (long)getpid(), thread_number()) < 0) fail_out_of_memory();
  int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = file >= 0 && write_block(file, mesh);
  if (file >= 0 && close(file) != 0) good = false;
  good = good && rename(temporary, path) == 0;
  int reason = errno;
  if (!good && file >= 0) unlink(temporary);
  free(temporary);
  errno = reason;
  return good;
}

static void put_cached(const graze_mesh *mesh, const char *path) {
  static _Atomic bool told;
  if (!save_block(path, mesh) && !atomic_exchange(&told, true)) note("%s: not kept: %s", path, strerror(errno));
}

/* ---- baking ---- */

static bool is_large_geometry(const void *made) {
  const bake_job *job = made;
  const graze_geometry *geometry = job->assembly ? &job->assembly->meshes[job->number].geometry : &job->geometry;
  return geometry->triangle_count >= LARGE_TRIANGLES;
}

static float *to_floats(const double *values, uint64_t count) {
  float *floats = malloc((count ? count : 1) * sizeof *floats);
  if (!floats) fail_out_of_memory();
  for (uint64_t i = 0; i < count; i++) floats[i] = (float)values[i];
  return floats;
}

static graze_status make_mesh(const session *run, bake_worker *worker, const graze_mesh_def *def, graze_mesh **mesh) {
  uint64_t hash = 0;
  char *path = NULL;
  if (!run->cache) return graze_mesh_create(worker->context, def, mesh);
  graze_status status = graze_mesh_hash(worker->context, def, &hash);
  if (status != GRAZE_OK) return status;
  if (asprintf(&path, "%s/%016" PRIx64 "-%s.graze", run->cache, hash, graze_version()) < 0) fail_out_of_memory();
  *mesh = find_cached(worker, def, path, hash);
  if (!*mesh) {
    status = graze_mesh_create(worker->context, def, mesh);
    if (status == GRAZE_OK) put_cached(*mesh, path);
  }
  free(path);
  return status;
}

/* Facts alone; all of them come from the cache where there is one. */
static graze_status measure(const session *run, bake_worker *worker, graze_mesh_def *def, bake_job *job) {
  graze_mesh *mesh = NULL;
  def->no_adjacency = job->stage == bake_measured;
  if (def->no_adjacency || !run->cache) return graze_mesh_measure(worker->context, def, &job->facts);
  graze_status status = make_mesh(run, worker, def, &mesh);
  if (status == GRAZE_OK) graze_mesh_get_facts(mesh, &job->facts);
  graze_mesh_destroy(mesh);
  return status;
}

/* The geometry that stands in an open file. */
static bool read_mesh(bake_job *job) {
  graze_io_error error;
  if (!job->assembly ||
      graze_read_assembly_mesh(job->assembly, job->number, job->path, &job->geometry, &error) == GRAZE_OK)
    return true;
  note_fault(&job->head, "%s", error.message);
  return false;
}

static void bake_one(const session *run, bake_worker *worker, int threads, void *made) {
  bake_job *job = made;
  const graze_geometry *geometry = &job->geometry;
  if (!read_mesh(job)) return;
  float *floats = geometry->all_float ? to_floats(geometry->vertices, 3 * geometry->vertex_count) : NULL;
  graze_mesh_def def = graze_default_mesh_def();
  (void)threads;
  def.vertices = floats ? (const void *)floats : geometry->vertices;
  def.precision = floats ? GRAZE_FLOAT : GRAZE_DOUBLE;
  def.vertex_count = geometry->vertex_count;
  def.indices = geometry->indices;
  def.triangle_count = geometry->triangle_count;
  worker->message[0] = 0;
  graze_status status =
      job->stage == bake_mesh ? make_mesh(run, worker, &def, &job->mesh) : measure(run, worker, &def, job);
  if (status != GRAZE_OK)
    note_fault(&job->head, "%s: %s", job->path, worker->message[0] ? worker->message : graze_status_string(status));
  else if (job->mesh)
    graze_mesh_get_facts(job->mesh, &job->facts);
  free(floats);
  if (job->stage != bake_measured || job->assembly) graze_geometry_free(&job->geometry);
}

static void make_folder(const char *path) {
  struct stat about;
  if (mkdir(path, 0777) != 0 && errno != EEXIST) fail("%s: %s", path, strerror(errno));
  if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) fail("%s: not a folder", path);
}

void bake_meshes(session *run, bake_job *jobs, uint32_t count) {
  double start = clock_seconds();
  if (run->cache) make_folder(run->cache);
  bake_work work = {run, jobs, sizeof *jobs, count, is_large_geometry, bake_one, progress_begin("meshes", run->quiet),
                    0};
  run_jobs(&work);
  clock_add(&run->build_seconds, start);
}
