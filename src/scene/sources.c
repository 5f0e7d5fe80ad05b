/* Objects whose meshes are loaded when a pair needs them.
 *
 * What is needed is marked on the objects first. Loading then goes over the distinct sources: large meshes one after
 * another, each with all threads, then the small ones side by side. Every object of a source gets its mesh, so that
 * from there on it is an object like any other. Objects that are added later find it with the others.
 */
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"

enum { LARGE_TRIANGLES = 1 << 15 /* the library shares the baking of such a mesh out itself */ };

typedef struct source_row {
  const graze_mesh_source *source;
  const graze_mesh *mesh;
  uint32_t rank; /* of the first object that has the source */
  bool needed;
  graze_status status;
} source_row;

static int by_source(const void *p, const void *q) {
  const source_row *x = p, *y = q;
  uintptr_t a = (uintptr_t)x->source, b = (uintptr_t)y->source;
  if (a != b) return a < b ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank(const void *p, const void *q) {
  const source_row *x = p, *y = q;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/* A row for each source of the scene, by address; what must be loaded is `needed`. */
static uint32_t list_sources(const graze_scene *scene, source_row *rows) {
  uint32_t count = 0, kept = 0;
  for (uint32_t i = 0; i < scene->count; i++) {
    object *o = scene_ranked(scene, i);
    if (o->source != NULL) rows[count++] = (source_row){o->source, o->mesh, i, o->needed, GRAZE_OK};
    o->needed = false;
  }
  qsort(rows, count, sizeof *rows, by_source);
  for (uint32_t i = 0; i < count; i++) {
    const source_row next = rows[i];
    if (kept == 0 || rows[kept - 1].source != next.source) {
      rows[kept++] = next;
      continue;
    }
    if (next.mesh != NULL) rows[kept - 1].mesh = next.mesh;
    rows[kept - 1].needed |= next.needed;
  }
  for (uint32_t i = 0; i < kept; i++) rows[i].needed &= rows[i].mesh == NULL;
  return kept;
}

/* What the scene has gone by so far must hold of the mesh. */
static bool is_told(const graze_mesh_facts *told, const graze_mesh *mesh) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  bool same = facts.triangles == told->triangles && (told->hash == 0 || facts.hash == told->hash);
  for (int k = 0; k < 3 && facts.triangles > 0; k++)
    same &= facts.box.min[k] == told->box.min[k] && facts.box.max[k] == told->box.max[k];
  return same;
}

static void load_row(source_row *row) {
  const graze_mesh *mesh = NULL;
  row->status = row->source->load(row->source->user, &mesh);
  if (row->status != GRAZE_OK) return;
  if (mesh == NULL)
    row->status = GRAZE_ERROR_ARGUMENT;
  else if (!is_told(&row->source->facts, mesh))
    row->status = GRAZE_ERROR_FORMAT;
  else
    row->mesh = mesh;
}

static bool is_large(const source_row *row) {
  return row->source->facts.triangles >= LARGE_TRIANGLES;
}

static void load_small(void *argument, uint32_t index) {
  source_row *row = (source_row *)argument + index;
  if (row->needed && !is_large(row)) load_row(row);
}

/* Large ones first. */
static void load_rows(const graze_scene *scene, source_row *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (rows[i].needed && is_large(&rows[i])) load_row(&rows[i]);
  }
  gz_parallel_each(scene->context, count, load_small, rows);
}

/* Gives the objects their meshes. */
static void hand_out(graze_scene *scene, source_row *rows, uint32_t count) {
  qsort(rows, count, sizeof *rows, by_source);
  for (uint32_t i = 0; i < scene->count; i++) {
    object *o = scene_ranked(scene, i);
    if (o->source == NULL || o->mesh != NULL) continue;
    uint32_t low = 0, high = count;
    while (low + 1 < high) {
      uint32_t middle = low + (high - low) / 2;
      if ((uintptr_t)rows[middle].source <= (uintptr_t)o->source)
        low = middle;
      else
        high = middle;
    }
    o->mesh = rows[low].mesh;
    if (o->mesh != NULL) o->geometry_hash = o->mesh->header->geometry_hash;
  }
  scene->shapes_listed = false;
}

static graze_status first_error(const graze_scene *scene, const source_row *rows, uint32_t count) {
  uint32_t i = 0;
  char label[96];
  while (i < count && rows[i].status == GRAZE_OK) i++;
  if (i == count || rows[i].status == GRAZE_CANCELLED) return i == count ? GRAZE_OK : GRAZE_CANCELLED;
  const char *why = rows[i].status == GRAZE_ERROR_FORMAT ? "what came is not the mesh of its facts"
                                                         : graze_status_string(rows[i].status);
  return gz_fail(scene->context, rows[i].status, "object %s: its mesh was not loaded: %s",
                 gz_scene_object_label(scene, rows[i].rank, label), why);
}

graze_status gz_sources_load(graze_scene *scene) {
  size_t bytes = (scene->count + (size_t)1) * sizeof(source_row);
  source_row *rows = gz_memory_alloc(scene->context, bytes);
  if (rows == NULL) return gz_fail_memory(scene->context, bytes);
  uint32_t count = list_sources(scene, rows);
  qsort(rows, count, sizeof *rows, by_rank); /* files are read from front to back, and the first error is told */
  load_rows(scene, rows, count);
  graze_status status = first_error(scene, rows, count);
  hand_out(scene, rows, count);
  gz_memory_release(scene->context, rows, bytes);
  return status;
}

graze_status gz_sources_load_pairs(graze_scene *scene, const uint64_t *keys, uint64_t count) {
  bool needed = false;
  for (uint64_t i = 0; i < 2 * count; i++) {
    object *o = scene_ranked(scene, (uint32_t)(keys[i / 2] >> (i % 2 == 0 ? 32 : 0)));
    if (o->mesh == NULL) o->needed = needed = true;
  }
  return needed ? gz_sources_load(scene) : GRAZE_OK;
}

graze_status gz_sources_load_all(graze_scene *scene) {
  bool needed = false;
  for (uint32_t place = scene->oldest; place != NO_OBJECT; place = scene_object(scene, place)->next) {
    object *o = scene_object(scene, place);
    if (o->mesh == NULL) o->needed = needed = true;
  }
  graze_status status = needed ? gz_scene_prepare(scene) : GRAZE_OK;
  return needed && status == GRAZE_OK ? gz_sources_load(scene) : status;
}
