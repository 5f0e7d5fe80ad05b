/* From geometry to meshes and facts.
 *
 * The cache holds blocks by the hash of their geometry and the version of the library. A block that is damaged or not
 * what its name says is made again. Blocks are checksummed when they are loaded, so nothing is synced to the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "crew.h"

enum { LARGE_TRIANGLES = 1 << 15 };

/* ---- the cache ---- */

/* A mesh in the cache that is what `def` would become; NULL: none. */
static graze_mesh *find_cached(graze_check *c, const graze_mesh_def *def, const char *path, uint64_t hash) {
  graze_mesh *mesh = NULL;
  graze_mesh_facts facts;
  if (access(path, F_OK) != 0) return NULL;
  if (graze_mesh_load(c->context, path, &mesh) != GRAZE_OK) {
    gz_check_note(c, GRAZE_LOG_WARNING, "%s; it is made again", graze_last_error(c->context)->message);
    return NULL;
  }
  graze_mesh_get_facts(mesh, &facts);
  if (facts.hash == hash && facts.triangles == def->triangle_count && facts.vertices == def->vertex_count &&
      facts.precision == def->precision && facts.volumes == def->volumes && facts.adjacency == !def->no_adjacency)
    return mesh;
  gz_check_note(c, GRAZE_LOG_WARNING, "%s: another mesh than its name says; it is made again", path);
  graze_mesh_destroy(mesh);
  return NULL;
}

/* Complete or not at all. Unlike graze_mesh_save it does not wait for the disk: a block that a power cut spoils has a
 * wrong checksum. */
static bool save_block(const char *path, const graze_mesh *mesh) {
  size_t size;
  const void *bytes = graze_mesh_block(mesh, &size);
  new_file file;
  if (!gz_new_file_create(&file, path)) return false;
  bool written = gz_file_write(file.descriptor, bytes, size);
  int reason = errno;
  bool good = gz_new_file_finish(&file, written) && written;
  if (!written) errno = reason;
  return good;
}

static graze_status make_kept(graze_check *c, const graze_mesh_def *def, uint64_t hash, char *path, size_t room,
                              graze_mesh **mesh) {
  snprintf(path, room, "%s/%016" PRIx64 "-%s.graze", c->def.cache, hash, graze_version());
  *mesh = find_cached(c, def, path, hash);
  if (*mesh != NULL) return GRAZE_OK;
  graze_status status = graze_mesh_create(c->context, def, mesh);
  if (status != GRAZE_OK || save_block(path, *mesh) || atomic_exchange(&c->told, true)) return status;
  gz_check_note(c, GRAZE_LOG_WARNING, "%s: not kept: %s", path, strerror(errno));
  return GRAZE_OK;
}

static graze_status make_mesh(graze_check *c, const graze_mesh_def *def, graze_mesh **mesh) {
  uint64_t hash = 0;
  if (c->def.cache == NULL) return graze_mesh_create(c->context, def, mesh);
  graze_status status = graze_mesh_hash(c->context, def, &hash);
  if (status != GRAZE_OK) return status;
  size_t room = strlen(c->def.cache) + 128;
  char *path = gz_memory_alloc(c->context, room);
  if (path == NULL) return gz_fail_memory(c->context, room);
  status = make_kept(c, def, hash, path, room, mesh);
  gz_memory_release(c->context, path, room);
  return status;
}

/* ---- baking ---- */

static bool is_large_geometry(const void *item) {
  const check_mesh *m = item;
  const graze_geometry *geometry = m->assembly != NULL ? &m->assembly->meshes[m->number].geometry : &m->geometry;
  return geometry->triangle_count >= LARGE_TRIANGLES;
}

graze_status gz_check_know(check_mesh *m, const graze_mesh *mesh, graze_mesh_facts *facts) {
  graze_mesh_get_facts(mesh, facts);
  m->solid_known = m->check->def.facts;
  return m->solid_known ? graze_mesh_get_solid(m->check->context, mesh, &m->solid) : GRAZE_OK;
}

/* Facts alone; all of them come from the cache where there is one. */
static graze_status measure(check_mesh *m, graze_mesh_def *def, graze_mesh_facts *facts) {
  graze_context *context = m->check->context;
  graze_mesh *mesh = NULL;
  def->no_adjacency = m->next == BAKE_MEASURED;
  if (def->no_adjacency) return graze_mesh_measure(context, def, facts);
  m->solid_known = m->check->def.cache == NULL;
  if (m->solid_known) return graze_mesh_measure_solid(context, def, facts, &m->solid);
  graze_status status = make_mesh(m->check, def, &mesh);
  if (status == GRAZE_OK) status = gz_check_know(m, mesh, facts);
  graze_mesh_destroy(mesh);
  return status;
}

static graze_status make_of(check_mesh *m, graze_mesh_def *def) {
  graze_mesh *mesh = NULL;
  graze_mesh_facts facts;
  graze_status status = m->next == BAKE_MESH ? make_mesh(m->check, def, &mesh) : measure(m, def, &facts);
  if (status == GRAZE_OK && mesh != NULL) status = gz_check_know(m, mesh, &facts);
  if (status == GRAZE_OK && m->measured && facts.hash != m->facts.hash) {
    graze_mesh_destroy(mesh);
    return gz_fail(m->check->context, GRAZE_ERROR_FILE, "it changed while it was read");
  }
  if (status != GRAZE_OK) {
    graze_mesh_destroy(mesh);
    return status;
  }
  m->mesh = mesh;
  m->facts = facts;
  m->measured = true;
  return GRAZE_OK;
}

/* With float coordinates where they lose nothing. */
static graze_status make_narrow(check_mesh *m) {
  const graze_context *context = m->check->context;
  const graze_geometry *geometry = &m->geometry;
  graze_mesh_def def = graze_default_mesh_def();
  uint64_t count = geometry->all_float ? 3 * geometry->vertex_count : 0;
  float *floats = gz_memory_alloc(context, count * sizeof *floats);
  if (floats == NULL && count > 0) return gz_fail_memory(context, count * sizeof *floats);
  for (uint64_t i = 0; i < count; i++) floats[i] = (float)geometry->vertices[i];
  def.vertices = floats != NULL ? (const void *)floats : geometry->vertices;
  def.precision = geometry->all_float && floats != NULL ? GRAZE_FLOAT : GRAZE_DOUBLE;
  def.vertex_count = geometry->vertex_count;
  def.indices = geometry->indices;
  def.triangle_count = geometry->triangle_count;
  graze_status status = make_of(m, &def);
  gz_memory_release(context, floats, count * sizeof *floats);
  return status;
}

static graze_status read_one(graze_check *c, void *item);

static graze_status bake_one(graze_check *c, void *item) {
  check_mesh *m = item;
  if (m->again && m->geometry.vertices == NULL) {
    graze_status status = read_one(c, m);
    if (status != GRAZE_OK) return status;
  }
  if (m->assembly != NULL) { /* its geometry stands in an open file */
    graze_status status = graze_read_assembly_mesh(c->context, m->assembly, m->number, m->path, &m->geometry);
    if (status != GRAZE_OK) return status;
  }
  m->floats = m->geometry.stored_floats;
  m->rounding = m->geometry.rounding;
  graze_status status = make_narrow(m);
  if (status != GRAZE_OK) gz_fail(c->context, status, "%s: %.400s", m->path, graze_last_error(c->context)->message);
  if (m->next != BAKE_MEASURED || m->assembly != NULL || m->again) graze_geometry_free(&m->geometry);
  m->next = BAKE_NOTHING;
  return status;
}

static graze_status make_cache(const graze_check *c) {
  const char *path = c->def.cache;
  struct stat about;
  if (path == NULL) return GRAZE_OK;
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return gz_fail(c->context, GRAZE_ERROR_FILE, "%s: %s", path, strerror(errno));
  if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
    return gz_fail(c->context, GRAZE_ERROR_FILE, "%s: not a folder", path);
  return GRAZE_OK;
}

/* The number of the mesh that failed first. */
static uint64_t place_of_fault(const graze_check *c, const check_jobs *jobs) {
  if (c->fault.error.status == GRAZE_OK || c->fault.job >= jobs->count) return UINT64_MAX;
  return (uint64_t)((check_mesh *)jobs->items[c->fault.job] - c->meshes);
}

graze_status gz_check_bake(graze_check *c, uint32_t first) {
  double start = clock_now();
  check_jobs jobs = {.check = c, .stage = GRAZE_CHECK_MESHES, .is_large = is_large_geometry, .body = bake_one};
  jobs.items = gz_check_alloc(c, c->mesh_count - first, sizeof *jobs.items);
  graze_status status = jobs.items != NULL ? make_cache(c) : GRAZE_ERROR_MEMORY;
  for (uint32_t i = first; i < c->mesh_count && status == GRAZE_OK; i++) {
    check_mesh *m = &c->meshes[i];
    if (gz_crew_shares(c) && !gz_crew_is_mine(c, i)) m->next = BAKE_NOTHING;
    if (m->next != BAKE_NOTHING) jobs.items[jobs.count++] = m;
  }
  if (status == GRAZE_OK && jobs.count > 0) status = gz_check_run_jobs(&jobs);
  status = gz_crew_agree(c, status, place_of_fault(c, &jobs));
  gz_check_add_time(&c->build_seconds, start);
  return status;
}

/* ---- when a pair needs it ---- */

static void note_times(graze_check *c, double start) {
  double end = clock_now();
  pthread_mutex_lock(&c->fault.mutex);
  if (c->bake_end == 0 || start < c->bake_begin) c->bake_begin = start;
  if (end > c->bake_end) c->bake_end = end;
  uint32_t done = ++c->baked_meshes;
  pthread_mutex_unlock(&c->fault.mutex);
  if (pthread_equal(pthread_self(), c->caller)) gz_check_go_on(c, GRAZE_CHECK_MESHES, done, c->wanted_meshes);
}

graze_status gz_check_load_mesh(void *user, const graze_mesh **mesh) {
  check_mesh *m = user;
  graze_check *c = m->check;
  double start = clock_now();
  if (c->stopped) return GRAZE_CANCELLED;
  m->next = BAKE_MESH;
  graze_status status = gz_check_run_job(c, (uint64_t)(m - c->meshes), bake_one, m);
  note_times(c, start);
  *mesh = m->mesh;
  return status;
}

/* ---- files of one mesh each ---- */

static graze_status read_one(graze_check *c, void *item) {
  check_mesh *m = item;
  graze_status status = GRAZE_OK;
  if (m->shape == NULL || m->shape->shape == GRAZE_SHAPE_HULL) {
    const char *path = m->shape != NULL ? m->shape->mesh : m->path;
    status = graze_read_geometry(c->context, path, GRAZE_FORMAT_AUTO, c->def.reading, &m->geometry);
  }
  if (status == GRAZE_OK && m->shape != NULL) {
    status = gz_check_make_shape(c->context, m->shape, &m->geometry);
    if (status != GRAZE_OK) gz_fail(c->context, status, "%s: %.400s", m->path, graze_last_error(c->context)->message);
  }
  if (status != GRAZE_ERROR_FILE || c->file.object_count == 0) return status;
  return gz_fail(c->context, status, "%.400s; %.100s asks for it", graze_last_error(c->context)->message,
                 c->def.files[0]);
}

static bool is_large_file(const void *item) {
  return gz_check_is_large(((const check_mesh *)item)->path);
}

static void note_empty(const graze_check *c, uint32_t i) {
  if (c->def.allow_empty) gz_check_note(c, GRAZE_LOG_WARNING, "%s: no triangles", c->meshes[i].path);
}

void gz_check_note_measured(const graze_check *c, uint32_t first) {
  for (uint32_t i = first; i < c->mesh_count && gz_crew_shares(c); i++) {
    if (c->meshes[i].facts.triangles == 0) note_empty(c, i);
  }
}

graze_status gz_check_read(graze_check *c, uint32_t first) {
  double start = clock_now();
  check_jobs jobs = {.check = c, .stage = GRAZE_CHECK_FILES, .is_large = is_large_file, .body = read_one};
  jobs.items = gz_check_alloc(c, c->mesh_count - first, sizeof *jobs.items);
  if (jobs.items == NULL) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = first; i < c->mesh_count; i++) {
    c->meshes[i].again = gz_crew_shares(c);
    if (!gz_crew_shares(c) || gz_crew_is_mine(c, i)) jobs.items[jobs.count++] = &c->meshes[i];
  }
  graze_status status = gz_check_run_jobs(&jobs);
  status = gz_crew_agree(c, status, place_of_fault(c, &jobs));
  for (uint32_t i = first; i < c->mesh_count && status == GRAZE_OK && !gz_crew_shares(c); i++) {
    if (c->meshes[i].geometry.triangle_count == 0) note_empty(c, i);
  }
  gz_check_add_time(&c->load_seconds, start);
  return status;
}
