/* slice_glb.c: triangles of a GLB file from one number to another, posed. Every part reads what the file says of
 * itself; of the arrays, those of the meshes that its triangles are of, one mesh at a time. A mesh that no object shows
 * is read by one part, since it may be at fault. */
#include <string.h>
#include <unistd.h>

#include "assembly.h"
#include "slice.h"

enum { MESH_UNUSED, MESH_SHOWN, MESH_HIDDEN }; /* by an object of this part; by none, and this part looks at it */

typedef struct glb_slice {
  io_slice *slice;
  io_input input;
  graze_assembly assembly;
  uint64_t first, end;   /* triangles */
  unsigned char *needed; /* by mesh */
  graze_geometry mesh;   /* number `held`, or UINT32_MAX: none */
  uint32_t held;
  double *posed; /* its vertices */
  uint64_t posed_count;
} glb_slice;

static bool hold_mesh(glb_slice *s, uint32_t mesh) {
  if (s->held == mesh) return true;
  graze_geometry_free(&s->mesh);
  s->held = UINT32_MAX;
  if (!gz_io_gltf_read_mesh(s->assembly.source, mesh, &s->mesh, &s->slice->fault)) {
    s->slice->order = 1 + (uint64_t)mesh;
    return false;
  }
  s->held = mesh;
  return true;
}

static uint64_t triangles_of(const glb_slice *s, uint32_t object) {
  return s->assembly.meshes[s->assembly.objects[object].mesh].geometry.triangle_count;
}

/* The part of an object whose triangles begin at `at` that this slice has: from..to, of the object. */
static bool overlaps(const glb_slice *s, uint32_t object, uint64_t at, uint64_t *from, uint64_t *to) {
  const uint64_t end = at + triangles_of(s, object);
  *from = (s->first > at ? s->first : at) - at;
  *to = (s->end < end ? s->end : end);
  *to = *to > at ? *to - at : 0;
  return *from < *to;
}

/* ---- which meshes ---- */

static bool find_needed(glb_slice *s) {
  const graze_assembly *a = &s->assembly;
  uint64_t at = 0, from, to;
  s->needed = gz_new_zeroed(s->slice->fault.context, (size_t)a->mesh_count + 1, 1);
  if (s->needed == NULL) return gz_io_fail_memory(&s->slice->fault);
  for (uint32_t m = s->slice->part; m < a->mesh_count; m += s->slice->parts) s->needed[m] = MESH_HIDDEN;
  for (uint32_t i = 0; i < a->object_count; i++) s->needed[a->objects[i].mesh] = MESH_UNUSED;
  for (uint32_t i = 0; i < a->object_count; at += triangles_of(s, i++)) {
    if (overlaps(s, i, at, &from, &to)) s->needed[a->objects[i].mesh] = MESH_SHOWN;
  }
  return true;
}

static bool check_meshes(glb_slice *s, uint32_t end, unsigned char least) {
  for (uint32_t m = 0; m < end; m++) {
    if (s->needed[m] >= least && !hold_mesh(s, m)) return false;
  }
  return true;
}

/* ---- triangles ---- */

static bool pose_mesh(glb_slice *s, uint32_t object) {
  bool unused = true;
  if (s->mesh.vertex_count > s->posed_count || s->posed == NULL) {
    gz_free(s->posed);
    s->posed_count = s->mesh.vertex_count;
    s->posed = gz_new(s->slice->fault.context, s->posed_count, 3 * sizeof(double));
    if (s->posed == NULL) return gz_io_fail_memory(&s->slice->fault);
  }
  s->slice->order = SLICE_AT_RANGES + object;
  return gz_io_pose_vertices(&s->mesh, &s->assembly.objects[object], s->posed, &unused, &s->slice->fault);
}

static double *put_corners(const glb_slice *s, uint64_t from, uint64_t to, double *out) {
  for (uint64_t k = 3 * from; k < 3 * to; k++, out += 3)
    memcpy(out, s->posed + 3 * (size_t)s->mesh.indices[k], 3 * sizeof *out);
  return out;
}

static bool read_objects(glb_slice *s) {
  double *out = s->slice->out->vertices;
  uint64_t at = 0, from, to;
  for (uint32_t i = 0; i < s->assembly.object_count; at += triangles_of(s, i++)) {
    if (!overlaps(s, i, at, &from, &to)) continue;
    if (!hold_mesh(s, s->assembly.objects[i].mesh) || !pose_mesh(s, i)) return false;
    out = put_corners(s, from, to, out);
  }
  return true;
}

/* The fault of a mesh comes before those of objects in place, and that of an earlier mesh before others. */
static bool read_needed(glb_slice *s) {
  io_slice *slice = s->slice;
  bool good = read_objects(s) && check_meshes(s, s->assembly.mesh_count, MESH_HIDDEN);
  if (good || slice->fault.status == GRAZE_ERROR_MEMORY || slice->fault.status == GRAZE_ERROR_FILE) return good;
  const io_fault fault = slice->fault;
  const uint64_t order = slice->order, end = order < SLICE_AT_RANGES ? order - 1 : s->assembly.mesh_count;
  if (check_meshes(s, (uint32_t)end, MESH_SHOWN)) {
    slice->fault = fault;
    slice->order = order;
  }
  return false;
}

static bool read_share(glb_slice *s) {
  io_slice *slice = s->slice;
  uint64_t triangles = 0, vertices = 0;
  for (uint32_t i = 0; i < s->assembly.object_count; i++) {
    triangles += triangles_of(s, i);
    vertices += s->assembly.meshes[s->assembly.objects[i].mesh].geometry.vertex_count;
  }
  if (vertices > IO_MOST_ELEMENTS || triangles > IO_MOST_ELEMENTS) return slice_refuse(slice);
  s->first = slice_begin(slice, triangles, slice->part);
  s->end = slice_begin(slice, triangles, slice->part + 1);
  slice->out->own.triangles = s->end - s->first;
  return gz_slice_hold_vertices(slice, 3 * (s->end - s->first)) && find_needed(s) && read_needed(s);
}

bool gz_slice_read_glb(io_slice *slice) {
  if (slice->held < 4 || memcmp(slice->head, "glTF", 4) != 0 ||
      gz_io_heads_binary_stl(slice->head, slice->held, slice->size))
    return slice_refuse(slice);
  glb_slice s = {.slice = slice, .held = UINT32_MAX};
  s.input = (io_input){.stored = true,
                       .descriptor = slice->descriptor,
                       .size = slice->size,
                       .parts = 1,
                       .name = slice->name,
                       .from_file = true,
                       .is_repeated = slice->part > 0};
  if (!gz_io_open_gltf(&s.input, &s.assembly, &slice->fault)) {
    slice->order = 0;
    return false;
  }
  slice->descriptor = -1; /* the assembly's */
  const bool good = read_share(&s);
  graze_geometry_free(&s.mesh);
  gz_free(s.posed);
  gz_free(s.needed);
  graze_assembly_free(&s.assembly);
  return good;
}
