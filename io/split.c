/* split.c: objects out of meshes: the whole of a plain mesh file, one for each group that it names, or one for each
 * connected part.
 *
 * Two triangles are connected if they share an edge by the positions of its ends, so that the triangle soup of an STL
 * file, and vertices doubled for their normals, hold together; a common corner alone does not connect. Positions are
 * numbered with a map, and a union-find joins the triangles of each edge. Linear time.
 */
#include <stdio.h>
#include <string.h>

#include "assembly.h"
#include "base/hash.h"
#include "base/map.h"

/* The file's name without folders and ending. */
static size_t find_stem(const char *path, const char **stem) {
  const char *slash = strrchr(path, '/');
  *stem = slash != NULL ? slash + 1 : path;
  const char *dot = strrchr(*stem, '.');
  return dot != NULL && dot > *stem ? (size_t)(dot - *stem) : strlen(*stem);
}

/* ---- a mesh dealt out ---- */

/* Which piece each triangle goes to. */
typedef struct deal {
  const graze_geometry *whole;
  uint32_t *pieces;  /* per triangle */
  uint32_t count;    /* of pieces, numbered by their first triangle */
  uint64_t *ends;    /* per piece: where its triangles end in `order` */
  uint32_t *order;   /* triangles by piece, in file order */
  uint32_t *numbers; /* per vertex: its number in the piece at hand, or UINT32_MAX */
} deal;

static bool deal_open(deal *d, const graze_geometry *whole, io_fault *fault) {
  const graze_context *context = fault->context;
  *d = (deal){.whole = whole, .pieces = gz_new(context, whole->triangle_count, sizeof *d->pieces)};
  d->order = gz_new(context, whole->triangle_count, sizeof *d->order);
  d->numbers = gz_new(context, whole->vertex_count, sizeof *d->numbers);
  if (d->pieces == NULL || d->order == NULL || d->numbers == NULL) return gz_io_fail_memory(fault);
  memset(d->numbers, 0xff, whole->vertex_count * sizeof *d->numbers);
  return true;
}

static void deal_close(deal *d) {
  gz_free(d->pieces);
  gz_free(d->ends);
  gz_free(d->order);
  gz_free(d->numbers);
}

/* Once every triangle has its piece: sorts them by it. */
static bool deal_sort(deal *d, io_fault *fault) {
  d->ends = gz_new_zeroed(fault->context, (size_t)d->count + 1, sizeof *d->ends);
  if (d->ends == NULL) return gz_io_fail_memory(fault);
  for (uint64_t i = 0; i < d->whole->triangle_count; i++) d->ends[d->pieces[i] + 1]++;
  for (uint32_t p = 0; p < d->count; p++) d->ends[p + 1] += d->ends[p];
  for (uint64_t i = 0; i < d->whole->triangle_count; i++) d->order[d->ends[d->pieces[i]]++] = (uint32_t)i;
  return true;
}

/* The vertex of corner `i` in the order of the pieces. */
static inline uint32_t vertex_at(const deal *d, uint64_t i) {
  return d->whole->indices[3 * (uint64_t)d->order[i / 3] + i % 3];
}

/* The triangles of a piece, with only the vertices that they use. */
static bool take_piece(const deal *d, uint32_t piece, graze_geometry *part, io_fault *fault) {
  uint64_t begin = piece > 0 ? 3 * d->ends[piece - 1] : 0, end = 3 * d->ends[piece], used = 0;
  if (!gz_io_geometry_set_triangles(part, (end - begin) / 3, fault)) return false;
  for (uint64_t i = begin; i < end; i++) {
    uint32_t *number = &d->numbers[vertex_at(d, i)];
    if (*number == UINT32_MAX) *number = (uint32_t)used++;
    part->indices[i - begin] = *number;
  }
  bool good = gz_io_geometry_set_vertices(part, used, fault);
  for (uint64_t i = begin; i < end; i++) {
    const uint32_t vertex = vertex_at(d, i);
    const double *from = d->whole->vertices + 3 * (uint64_t)vertex;
    if (good) memcpy(part->vertices + 3 * (uint64_t)part->indices[i - begin], from, 3 * sizeof *from);
    d->numbers[vertex] = UINT32_MAX;
  }
  part->all_float = d->whole->all_float;
  part->stored_floats = d->whole->stored_floats;
  part->rounding = d->whole->rounding;
  return good;
}

/* ---- a plain mesh file ---- */

static bool add_named(io_assembly *assembly, const char *name, size_t length, uint32_t mesh, io_fault *fault) {
  const graze_pose identity = graze_pose_identity();
  const char *unique = gz_io_names_make_unique(&assembly->names, name, length);
  if (unique == NULL) return gz_io_fail_memory(fault);
  assembly->result.meshes[mesh].name = unique;
  return gz_io_assembly_add_object(assembly, unique, "", mesh, &identity, fault);
}

/* The piece of a group that has triangles: a new one, or that of the groups of its name before. */
static bool find_piece(deal *d, gz_text_map *labels, const char *name, uint32_t *piece, io_fault *fault) {
  *piece = d->count++;
  if (name == NULL || !d->whole->labels) return true;
  gz_text_entry *entry = gz_text_map_add(fault->context, labels, name, strlen(name), *piece);
  if (entry == NULL) return gz_io_fail_memory(fault);
  if (entry->value != *piece) d->count--;
  *piece = entry->value;
  return true;
}

/* Gives every triangle its group, and each piece its name; NULL: what stands before the first group. */
static bool deal_groups(deal *d, const char **names, io_fault *fault) {
  const graze_geometry *whole = d->whole;
  gz_text_map labels = {0};
  uint64_t first = 0;
  bool good = true;
  for (uint32_t g = 0; g <= whole->group_count && good; g++) {
    uint64_t end = g < whole->group_count ? whole->groups[g].first_triangle : whole->triangle_count;
    const char *name = g > 0 ? whole->groups[g - 1].name : NULL;
    uint32_t piece;
    if (end == first) continue;
    good = find_piece(d, &labels, name, &piece, fault);
    if (good) names[piece] = name;
    for (; good && first < end; first++) d->pieces[first] = piece;
  }
  gz_text_map_close(&labels);
  return good;
}

static bool add_groups(io_assembly *assembly, deal *d, const char **names, const char *file_name, io_fault *fault) {
  if (!deal_groups(d, names, fault) || !deal_sort(d, fault)) return false;
  for (uint32_t p = 0; p < d->count; p++) {
    const char *name = names[p];
    size_t length = name != NULL ? strlen(name) : find_stem(file_name, &name);
    if (!take_piece(d, p, &assembly->result.meshes[p].geometry, fault)) return false;
    if (!add_named(assembly, name, length, p, fault)) return false;
  }
  assembly->result.mesh_count = d->count;
  return true;
}

/* An object that the file names and that is none; groups of OBJ's `g` are labels, of which many files have empty ones.
 */
static void warn_of_empty(const graze_geometry *whole, const char *file_name, const io_fault *fault) {
  const char *first = NULL;
  uint32_t count = 0;
  for (uint32_t g = 0; g < whole->group_count && !whole->labels; g++) {
    if (whole->groups[g].triangle_count > 0) continue;
    if (count++ == 0) first = whole->groups[g].name;
  }
  if (count == 0) return;
  char more[48] = "";
  if (count > 1) snprintf(more, sizeof more, " (%lu such objects)", (unsigned long)count);
  gz_warn_named(fault->context, file_name, "", "object \"%s\" is left out: it has no triangles%s",
                gz_io_quote(first, first + strlen(first)).text, more);
}

static bool split_groups(io_assembly *assembly, const graze_geometry *whole, const char *file_name, io_fault *fault) {
  deal d;
  const char **names = gz_new(fault->context, (size_t)whole->group_count + 1, sizeof *names);
  bool good = deal_open(&d, whole, fault);
  if (good && names == NULL) good = gz_io_fail_memory(fault);
  good = good && add_groups(assembly, &d, names, file_name, fault);
  if (good) warn_of_empty(whole, file_name, fault);
  deal_close(&d);
  gz_free(names);
  return good;
}

bool gz_io_assembly_of_geometry(graze_geometry *geometry, const char *file_name, bool split, graze_assembly *assembly,
                                io_fault *fault) {
  io_assembly building = {.names.context = fault->context};
  bool good = gz_io_assembly_set_meshes(&building, split ? (uint64_t)geometry->group_count + 1 : 1, fault);
  if (good && split) {
    good = split_groups(&building, geometry, file_name, fault);
    graze_geometry_free(geometry);
  } else if (good) {
    const char *stem;
    size_t length = find_stem(file_name, &stem);
    building.result.meshes[0].geometry = *geometry;
    *geometry = (graze_geometry){0};
    good = add_named(&building, stem, length, 0, fault);
  }
  return gz_io_assembly_finish(&building, good, assembly);
}

/* ---- connected parts ---- */

static uint64_t bits_of(double value) {
  uint64_t bits;
  value += 0.0; /* -0 equals 0 */
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static bool same_place(const graze_geometry *g, uint32_t i, uint32_t k) {
  const double *p = g->vertices + 3 * (uint64_t)i, *q = g->vertices + 3 * (uint64_t)k;
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* Vertices at the same place have the same number, that of the first of them. Two places may have the same key; the
 * second one then takes the next key of a chain. */
static bool number_positions(const graze_geometry *g, uint32_t *numbers, io_fault *fault) {
  gz_map map;
  if (!gz_map_open(fault->context, &map, g->vertex_count)) return gz_io_fail_memory(fault);
  for (uint32_t i = 0; i < g->vertex_count; i++) {
    uint64_t key = 0;
    for (unsigned k = 0; k < 3; k++) key = splitmix64(key ^ bits_of(g->vertices[3 * (uint64_t)i + k]));
    while (!same_place(g, numbers[i] = *gz_map_add(&map, key, i), i)) key = splitmix64(key);
  }
  gz_map_close(&map);
  return true;
}

static uint32_t find_root(uint32_t *parents, uint32_t i) {
  for (; parents[i] != i; i = parents[i]) parents[i] = parents[parents[i]];
  return i;
}

/* Joins the triangles of every edge: the first triangle of a part is its root. */
static bool join_edges(const graze_geometry *g, const uint32_t *positions, uint32_t *parents, io_fault *fault) {
  gz_map edges;
  if (!gz_map_open(fault->context, &edges, 3 * g->triangle_count)) return gz_io_fail_memory(fault);
  for (uint32_t t = 0; t < g->triangle_count; t++) {
    const uint32_t *corners = g->indices + 3 * (uint64_t)t;
    parents[t] = t;
    for (unsigned k = 0; k < 3; k++) {
      uint32_t a = positions[corners[k]], b = positions[corners[(k + 1) % 3]];
      if (a == b) continue;
      uint32_t first = find_root(parents, *gz_map_add(&edges, a < b ? map_pair_key(a, b) : map_pair_key(b, a), t));
      uint32_t root = find_root(parents, t);
      if (first < root) parents[root] = first;
      if (root < first) parents[first] = root;
    }
  }
  gz_map_close(&edges);
  return true;
}

/* Gives every triangle its part. */
static bool deal_parts(deal *d, io_fault *fault) {
  const graze_geometry *g = d->whole;
  uint32_t *positions = gz_new(fault->context, g->vertex_count, sizeof *positions);
  bool good = positions != NULL ? number_positions(g, positions, fault) : gz_io_fail_memory(fault);
  uint32_t *parents = d->order; /* not in use yet */
  good = good && join_edges(g, positions, parents, fault);
  gz_free(positions);
  for (uint32_t t = 0; good && t < g->triangle_count; t++) {
    uint32_t root = find_root(parents, t);
    d->pieces[t] = root == t ? d->count++ : d->pieces[root];
  }
  return good;
}

/* An assembly, and the one that it becomes. */
typedef struct parting {
  const graze_assembly *from;
  io_assembly to;
  uint32_t *first; /* per mesh: its first part; and behind them the number of all */
} parting;

static bool add_parts(parting *p, uint32_t number, const deal *d, io_fault *fault) {
  graze_assembly_mesh *mesh = &p->from->meshes[number];
  const char *name = gz_io_names_keep(&p->to.names, mesh->name, strlen(mesh->name));
  if (name == NULL) return gz_io_fail_memory(fault);
  uint32_t count = d->count > 0 ? d->count : 1; /* a mesh without triangles stays one */
  if (count > IO_MOST_OBJECTS - p->to.result.mesh_count)
    return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "more than %d connected parts", IO_MOST_OBJECTS);
  for (uint32_t k = 0; k < count; k++) {
    if (!gz_io_assembly_add_mesh(&p->to, fault)) return false;
    graze_assembly_mesh *part = &p->to.result.meshes[p->to.result.mesh_count - 1];
    part->name = name;
    if (count > 1 && !take_piece(d, k, &part->geometry, fault)) return false;
    if (count > 1) continue;
    part->geometry = mesh->geometry;
    mesh->geometry = (graze_geometry){0};
  }
  p->first[number + 1] = p->to.result.mesh_count;
  return true;
}

static bool part_mesh(parting *p, uint32_t number, io_fault *fault) {
  deal d;
  bool good = deal_open(&d, &p->from->meshes[number].geometry, fault) && deal_parts(&d, fault) &&
              deal_sort(&d, fault) && add_parts(p, number, &d, fault);
  deal_close(&d);
  return good;
}

/* An object of one part stays what it is; the others become folders of their parts. */
static bool part_object(parting *p, const graze_assembly_object *object, io_fault *fault) {
  uint32_t first = p->first[object->mesh], count = p->first[object->mesh + 1] - first;
  const char *above = count > 1 ? object->name : object->parent;
  const char *parent = gz_io_names_keep(&p->to.names, above, strlen(above)), *label = NULL;
  if (object->label != NULL) label = gz_io_names_keep(&p->to.names, object->label, strlen(object->label));
  if (parent == NULL || (label == NULL && object->label != NULL)) return gz_io_fail_memory(fault);
  for (uint32_t k = 0; k < count; k++) {
    char own[32];
    snprintf(own, sizeof own, "part%lu", (unsigned long)k + 1);
    const char *name = count > 1 ? gz_io_assembly_add_path(&p->to, object->name, own, k, fault)
                                 : gz_io_names_make_unique(&p->to.names, object->name, strlen(object->name));
    if (name == NULL) return fault->status != GRAZE_OK ? false : gz_io_fail_memory(fault);
    if (!gz_io_assembly_add_object(&p->to, name, parent, first + k, &object->pose, fault)) return false;
    graze_assembly_object *added = &p->to.result.objects[p->to.result.object_count - 1];
    added->label = label;
    if (count == 1) added->rounding = object->rounding; /* parts of one object are moved alike */
  }
  return true;
}

bool gz_io_assembly_split_parts(graze_assembly *assembly, io_fault *fault) {
  parting p = {.from = assembly, .to.names.context = fault->context};
  p.first = gz_new_zeroed(fault->context, (size_t)assembly->mesh_count + 1, sizeof *p.first);
  bool good = p.first != NULL || gz_io_fail_memory(fault);
  for (uint32_t i = 0; i < assembly->mesh_count && good; i++) good = part_mesh(&p, i, fault);
  for (uint32_t i = 0; i < assembly->object_count && good; i++) good = part_object(&p, &assembly->objects[i], fault);
  p.to.result.left_out = assembly->left_out;
  p.to.result.up = assembly->up;
  p.to.result.units = good ? gz_io_names_keep(&p.to.names, assembly->units, strlen(assembly->units)) : NULL;
  if (good && p.to.result.units == NULL) good = gz_io_fail_memory(fault);
  if (good && assembly->hollow != NULL) {
    p.to.result.hollow = gz_io_names_keep(&p.to.names, assembly->hollow, strlen(assembly->hollow));
    if (p.to.result.hollow == NULL) good = gz_io_fail_memory(fault);
  }
  gz_free(p.first);
  graze_assembly_free(assembly);
  return gz_io_assembly_finish(&p.to, good, assembly);
}
