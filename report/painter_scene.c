/* What is drawn: each distinct mesh is sent to the device once, when it is first needed, and objects are instances of
 * it. A picture is a list of indirect draws that is made on the CPU, where chunks of triangles outside of the view are
 * left out: a clash in a large plant costs what is near it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "painter.h"
#include "simplify.h"

enum { COUNT_PLANES = 6, OVERVIEW_TRIANGLES = 4000000 };

/* ---- meshes ---- */

typedef struct mesh_user {
  const graze_mesh *mesh;
  uint32_t object;
} mesh_user;

static int by_mesh(const void *x, const void *y) {
  const mesh_user *a = x, *b = y;
  if (a->mesh != b->mesh) return (uintptr_t)a->mesh < (uintptr_t)b->mesh ? -1 : 1;
  return (a->object > b->object) - (a->object < b->object);
}

typedef struct numbered_object {
  uint32_t mesh, object;
} numbered_object;

static int by_number(const void *x, const void *y) {
  const numbered_object *a = x, *b = y;
  if (a->mesh != b->mesh) return a->mesh < b->mesh ? -1 : 1;
  return (a->object > b->object) - (a->object < b->object);
}

/* Meshes are numbered by the first object that has them, so that nothing depends on where they lie in memory. */
static void number_meshes(graze_painter *p, mesh_user *users, uint32_t *firsts) {
  const graze_report *report = p->report;
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->object_count; i++) {
    p->object_meshes[i] = NO_MESH;
    if (!gz_camera_box_empty(&p->boxes[i])) users[count++] = (mesh_user){report->objects[i].mesh, i};
  }
  qsort(users, count, sizeof *users, by_mesh);
  for (uint32_t i = 0; i < count; i++) {
    firsts[users[i].object] =
        i > 0 && users[i].mesh == users[i - 1].mesh ? firsts[users[i - 1].object] : users[i].object;
  }
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (gz_camera_box_empty(&p->boxes[i])) continue;
    if (firsts[i] == i) p->meshes[p->mesh_count++].mesh = report->objects[i].mesh;
    p->object_meshes[i] = firsts[i] == i ? p->mesh_count - 1 : p->object_meshes[firsts[i]];
  }
}

static void sort_objects(graze_painter *p, numbered_object *sorted) {
  for (uint32_t i = 0; i < p->report->object_count; i++) {
    if (p->object_meshes[i] != NO_MESH) sorted[p->order_count++] = (numbered_object){p->object_meshes[i], i};
  }
  qsort(sorted, p->order_count, sizeof *sorted, by_number);
  for (uint32_t i = 0; i < p->order_count; i++) p->order[i] = sorted[i].object;
}

bool gz_painter_scene_create(graze_painter *painter) {
  size_t count = painter->report->object_count + (size_t)1;
  painter->boxes = gz_new(painter->owner, count, sizeof *painter->boxes);
  painter->object_meshes = gz_new(painter->owner, count, sizeof *painter->object_meshes);
  painter->order = gz_new(painter->owner, count, sizeof *painter->order);
  painter->near = gz_new(painter->owner, count, sizeof *painter->near);
  painter->meshes = gz_new_zeroed(painter->owner, 2 * count, sizeof *painter->meshes);
  mesh_user *users = gz_new(painter->owner, count, sizeof *users);
  uint32_t *firsts = gz_new(painter->owner, count, sizeof *firsts);
  numbered_object *sorted = gz_new(painter->owner, count, sizeof *sorted);
  bool good = painter->boxes && painter->object_meshes && painter->order && painter->near && painter->meshes && users &&
              firsts && sorted;
  if (good) {
    for (uint32_t i = 0; i < painter->report->object_count; i++) {
      painter->boxes[i] = gz_camera_object_box(&painter->report->objects[i]);
    }
    number_meshes(painter, users, firsts);
    sort_objects(painter, sorted);
  }
  gz_free(users);
  gz_free(firsts);
  gz_free(sorted);
  return good || gz_painter_fail_memory(painter);
}

void gz_painter_mesh_destroy(graze_painter *painter, painter_mesh *m) {
  painter->gl->DeleteBuffers(1, &m->vertices);
  painter->gl->DeleteBuffers(1, &m->indices);
  gz_free(m->chunks);
}

void gz_painter_scene_destroy(graze_painter *painter) {
  for (size_t i = 0; i < 2 * (size_t)painter->mesh_count; i++) gz_painter_mesh_destroy(painter, &painter->meshes[i]);
  gz_free(painter->meshes);
  gz_free(painter->boxes);
  gz_free(painter->object_meshes);
  gz_free(painter->order);
  gz_free(painter->near);
  gz_free(painter->list.instances);
  gz_free(painter->list.commands);
  gz_free(painter->list.batches);
}

/* Middle and half sides of the box of a chunk's triangles, rounded outward a little: they only decide what to draw. */
static void measure_chunk(const float *vertices, const uint32_t *indices, uint32_t corners, float box[6]) {
  for (int k = 0; k < 3; k++) {
    float low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < corners; i++) {
      float x = vertices[3 * (size_t)indices[i] + (size_t)k];
      low = fminf(low, x);
      high = fmaxf(high, x);
    }
    box[k] = low / 2 + high / 2;
    box[3 + k] = (high / 2 - low / 2) * 1.0001f;
  }
}

/* The volume that the triangles enclose tells which way round they are; of an open mesh it is a guess. */
static double signed_volume(const double c[9], const double middle[3]) {
  double e[3][3];
  for (int i = 0; i < 9; i++) e[i / 3][i % 3] = c[i] - middle[i % 3];
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static void copy_mesh(painter_mesh *m, float *vertices, uint32_t *indices) {
  double volume = 0;
  for (uint32_t i = 0; i < m->triangles; i++) {
    double corners[9];
    uint32_t *t = indices + 3 * (size_t)i;
    graze_mesh_get_indices(m->mesh, i, t);
    graze_mesh_get_triangle(m->mesh, i, corners);
    volume += signed_volume(corners, m->middle);
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) vertices[3 * (size_t)t[c] + (size_t)k] = (float)(corners[3 * c + k] - m->middle[k]);
    }
  }
  m->inside_out = volume < 0;
}

static bool send_mesh(graze_painter *p, painter_mesh *m) {
  graze_mesh_facts facts;
  if (m->vertices != 0) return true;
  graze_mesh_get_facts(m->mesh, &facts);
  for (int k = 0; k < 3; k++) m->middle[k] = facts.box.min[k] / 2 + facts.box.max[k] / 2;
  m->triangles = (uint32_t)facts.triangles;
  size_t chunks = ((size_t)m->triangles + CHUNK_TRIANGLES - 1) / CHUNK_TRIANGLES;
  size_t corners = 3 * (size_t)m->triangles;
  float *vertices = gz_new_zeroed(p->owner, 3 * (facts.vertices + 1), sizeof *vertices);
  uint32_t *indices = gz_new(p->owner, corners + 1, sizeof *indices);
  if (m->chunks == NULL) m->chunks = gz_new(p->owner, chunks + 1, sizeof *m->chunks);
  bool good = vertices != NULL && indices != NULL && m->chunks != NULL;
  if (good) {
    copy_mesh(m, vertices, indices);
    for (size_t i = 0; i < chunks; i++) {
      size_t first = 3 * i * CHUNK_TRIANGLES;
      size_t count = corners - first < 3 * CHUNK_TRIANGLES ? corners - first : 3 * CHUNK_TRIANGLES;
      measure_chunk(vertices, indices + first, (uint32_t)count, m->chunks[i]);
    }
    m->vertices = gz_gl_buffer(p->gl, vertices, 3 * (size_t)facts.vertices * sizeof *vertices);
    m->indices = gz_gl_buffer(p->gl, indices, corners * sizeof *indices);
  }
  gz_free(vertices);
  gz_free(indices);
  return good || gz_painter_fail_memory(p);
}

/* ---- views ---- */

painter_view gz_painter_view_of(const graze_camera *camera, double aspect) {
  painter_view view;
  memcpy(view.eye, camera->eye, sizeof view.eye);
  gz_camera_axes(camera, view.axes);
  view.tan_y = tan(camera->field_of_view / 360 * 3.14159265358979323846);
  view.tan_x = view.tan_y * aspect;
  view.nearest = 0;
  view.farthest = INFINITY;
  return view;
}

/* The matrix from the mesh's numbers on the device to view space. The eye is subtracted in double. */
static void object_rows(const painter_view *view, const graze_pose *pose, const double middle[3], double rows[3][4]) {
  double origin[3];
  graze_pose_apply(pose, middle, origin);
  for (int k = 0; k < 3; k++) origin[k] -= view->eye[k];
  for (int r = 0; r < 3; r++) {
    const double *axis = view->axes[r];
    for (int c = 0; c < 3; c++) {
      rows[r][c] = axis[0] * pose->m[c] + axis[1] * pose->m[4 + c] + axis[2] * pose->m[8 + c];
    }
    rows[r][3] = axis[0] * origin[0] + axis[1] * origin[1] + axis[2] * origin[2];
  }
}

/* Planes of the view: inside is n . p + n[3] >= 0. */
static void view_planes(const painter_view *view, double planes[COUNT_PLANES][4]) {
  const double all[COUNT_PLANES][4] = {{1, 0, view->tan_x, 0},    {-1, 0, view->tan_x, 0},
                                       {0, 1, view->tan_y, 0},    {0, -1, view->tan_y, 0},
                                       {0, 0, 1, -view->nearest}, {0, 0, -1, fmin(view->farthest, 1e300)}};
  memcpy(planes, all, sizeof all);
}

/* The same planes in the numbers of the mesh on the device, and their absolute values for the boxes. */
static void mesh_planes(const painter_view *view, double rows[3][4], float planes[COUNT_PLANES][4]) {
  double world[COUNT_PLANES][4];
  view_planes(view, world);
  for (int i = 0; i < COUNT_PLANES; i++) {
    for (int c = 0; c < 4; c++) {
      double sum = c == 3 ? world[i][3] : 0;
      for (int r = 0; r < 3; r++) sum += world[i][r] * rows[r][c];
      planes[i][c] = (float)fmin(sum, 1e37);
    }
  }
}

static bool box_in_view(const float box[6], float planes[COUNT_PLANES][4]) {
  for (int i = 0; i < COUNT_PLANES; i++) {
    const float *n = planes[i];
    float middle = n[0] * box[0] + n[1] * box[1] + n[2] * box[2] + n[3];
    float reach = fabsf(n[0]) * box[3] + fabsf(n[1]) * box[4] + fabsf(n[2]) * box[5];
    if (middle + reach < 0) return false;
  }
  return true;
}

/* ---- lists ---- */

void gz_painter_list_clear(graze_painter *painter) {
  painter_list *list = &painter->list;
  list->instance_count = list->command_count = list->batch_count = 0;
  list->triangles = 0;
}

/* Adds an instance and room for `commands`, and the batch that they go to. */
static painter_batch *add_instance(graze_painter *p, const painter_mesh *mesh, double rows[3][4], const float colour[4],
                                   size_t commands) {
  painter_list *list = &p->list;
  if (!gz_painter_grow(p, (void **)&list->instances, &list->instance_capacity, list->instance_count, 1,
                       sizeof *list->instances) ||
      !gz_painter_grow(p, (void **)&list->commands, &list->command_capacity, list->command_count, commands,
                       sizeof *list->commands) ||
      !gz_painter_grow(p, (void **)&list->batches, &list->batch_capacity, list->batch_count, 1,
                       sizeof *list->batches)) {
    return NULL;
  }
  painter_instance *instance = &list->instances[list->instance_count++];
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 4; c++) instance->rows[r][c] = (float)rows[r][c];
  }
  memcpy(instance->colour, colour, sizeof instance->colour);
  if (list->batch_count > 0 && list->batches[list->batch_count - 1].mesh == mesh) {
    return &list->batches[list->batch_count - 1];
  }
  painter_batch *batch = &list->batches[list->batch_count++];
  *batch = (painter_batch){mesh, (uint32_t)list->command_count, 0};
  return batch;
}

bool gz_painter_list_add(graze_painter *painter, const painter_view *view, uint32_t object, const float colour[4],
                         uint64_t budget) {
  uint32_t number = painter->object_meshes[object];
  if (number == NO_MESH) return true;
  painter_mesh *m = &painter->meshes[number];
  if (!send_mesh(painter, m)) return false;
  double rows[3][4];
  float planes[COUNT_PLANES][4];
  object_rows(view, &painter->report->objects[object].pose, m->middle, rows);
  mesh_planes(view, rows, planes);
  uint32_t chunks = (uint32_t)(((uint64_t)m->triangles + CHUNK_TRIANGLES - 1) / CHUNK_TRIANGLES);
  painter_list *list = &painter->list;
  painter_batch *batch = add_instance(painter, m, rows, colour, chunks);
  if (batch == NULL) return false;
  uint32_t instance = (uint32_t)list->instance_count - 1;
  size_t first_command = list->command_count;
  uint64_t triangles = 0;
  bool open = false; /* the chunk before is drawn: this one joins its command */
  for (uint32_t i = 0; i < chunks; i++) {
    uint32_t first = i * CHUNK_TRIANGLES, rest = m->triangles - first;
    uint32_t count = rest < CHUNK_TRIANGLES ? rest : CHUNK_TRIANGLES;
    if (!box_in_view(m->chunks[i], planes)) {
      open = false;
      continue;
    }
    if (!open) list->commands[list->command_count++] = (painter_command){0, 1, 3 * first, 0, instance};
    list->commands[list->command_count - 1].count += 3 * count;
    triangles += count;
    open = true;
  }
  if (triangles > budget) list->command_count = first_command;
  if (triangles <= budget) list->triangles += triangles;
  batch->count += (uint32_t)(list->command_count - first_command);
  return true;
}

bool gz_painter_inside_out(graze_painter *painter, uint32_t object, bool *inside_out) {
  if (painter->object_meshes[object] == NO_MESH) return true;
  painter_mesh *mesh = &painter->meshes[painter->object_meshes[object]];
  if (!send_mesh(painter, mesh)) return false;
  const double *m = painter->report->objects[object].pose.m;
  double turn =
      m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
  *inside_out = mesh->inside_out != (turn < 0);
  return true;
}

/* ---- everything ---- */

/* Triangles of each mesh in the overview. A large plant has far more than the picture has pixels, and a renderer that
 * keeps them all until it draws would take gigabytes. */
static bool share_out(const graze_painter *p, uint32_t *shares) {
  simplify_wish *wishes = gz_new_zeroed(p->owner, (size_t)p->mesh_count + 1, sizeof *wishes);
  if (wishes == NULL) return false;
  for (uint32_t i = 0; i < p->mesh_count; i++)
    wishes[i] = (simplify_wish){graze_mesh_triangle_count(p->meshes[i].mesh), 0, 1};
  for (uint32_t i = 0; i < p->order_count; i++) wishes[p->object_meshes[p->order[i]]].instances++;
  gz_simplify_shares(wishes, p->mesh_count, UINT64_MAX, OVERVIEW_TRIANGLES, shares);
  gz_free(wishes);
  return true;
}

/* Sends what simplification has left of a mesh. */
static bool send_simplified(graze_painter *p, const graze_mesh *mesh, painter_mesh *m, uint32_t share) {
  simplifier work = {.context = p->owner};
  if (m->vertices != 0) return true;
  bool good = gz_simplify(&work, mesh, share);
  const simple_mesh *made = &work.made;
  float(*vertices)[3] = good ? gz_new(p->owner, (size_t)made->point_count + 1, sizeof *vertices) : NULL;
  if (vertices != NULL) {
    m->mesh = mesh;
    m->triangles = made->triangle_count;
    for (int k = 0; k < 3; k++) {
      double half = made->max[k] / 2 - made->min[k] / 2;
      m->middle[k] = made->min[k] / 2 + made->max[k] / 2;
      for (uint32_t i = 0; i < made->point_count; i++)
        vertices[i][k] = (float)(half * (made->points[i][k] / 32767.5 - 1));
    }
    m->vertices = gz_gl_buffer(p->gl, vertices, made->point_count * sizeof *vertices);
    m->indices = gz_gl_buffer(p->gl, made->triangles, made->triangle_count * sizeof *made->triangles);
  }
  good = vertices != NULL;
  gz_free(vertices);
  gz_simplifier_free(&work);
  return good || gz_painter_fail_memory(p);
}

bool gz_painter_mesh_send(graze_painter *painter, const graze_mesh *mesh, uint32_t share, painter_mesh *m) {
  m->mesh = mesh;
  return share >= graze_mesh_triangle_count(mesh) ? send_mesh(painter, m) : send_simplified(painter, mesh, m, share);
}

/* The mesh with which an object stands in the overview. */
static bool choose_mesh(graze_painter *p, uint32_t *number, uint32_t share) {
  const graze_mesh *mesh = p->meshes[*number].mesh;
  if (share < graze_mesh_triangle_count(mesh)) *number += p->mesh_count;
  return gz_painter_mesh_send(p, mesh, share, &p->meshes[*number]);
}

bool gz_painter_list_add_mesh(graze_painter *painter, const painter_view *view, const painter_mesh *m,
                              const graze_pose *pose, const float colour[4]) {
  painter_list *list = &painter->list;
  double rows[3][4];
  object_rows(view, pose, m->middle, rows);
  painter_batch *batch = add_instance(painter, m, rows, colour, 1);
  if (batch == NULL) return false;
  list->triangles += m->triangles;
  if (batch->count == 0) {
    const uint32_t instance = (uint32_t)list->instance_count - 1;
    list->commands[list->command_count++] = (painter_command){3 * m->triangles, 0, 0, 0, instance};
    batch->count = 1;
  }
  list->commands[list->command_count - 1].instances++;
  return true;
}

static bool add_all(graze_painter *painter, const painter_view *view, const float (*colours)[4],
                    const uint32_t *shares) {
  for (uint32_t i = 0; i < painter->order_count; i++) {
    uint32_t object = painter->order[i], number = painter->object_meshes[object];
    if (!choose_mesh(painter, &number, shares[number])) return false;
    const graze_pose *pose = painter->poses != NULL ? &painter->poses[object] : &painter->report->objects[object].pose;
    if (!gz_painter_list_add_mesh(painter, view, &painter->meshes[number], pose, colours[object])) return false;
  }
  return true;
}

bool gz_painter_list_add_all(graze_painter *painter, const painter_view *view, const float (*colours)[4]) {
  uint32_t *shares = gz_new_zeroed(painter->owner, (size_t)painter->mesh_count + 1, sizeof *shares);
  bool good = shares != NULL && share_out(painter, shares);
  good = good ? add_all(painter, view, colours, shares) : gz_painter_fail_memory(painter);
  gz_free(shares);
  return good;
}

void gz_painter_list_draw(graze_painter *painter, const painter_view *view, GLuint program) {
  const gl_functions *gl = painter->gl;
  painter_list *list = &painter->list;
  if (list->command_count == 0) return;
  gz_gl_stream_fill(gl, &painter->instances, list->instances, list->instance_count * sizeof *list->instances);
  gz_gl_stream_fill(gl, &painter->commands, list->commands, list->command_count * sizeof *list->commands);
  gl->UseProgram(program);
  gl->ProgramUniform3f(program, 0, (float)(1 / view->tan_x), (float)(1 / view->tan_y), (float)view->nearest);
  gl->BindVertexArray(painter->solids);
  gl->BindBuffer(GL_DRAW_INDIRECT_BUFFER, painter->commands.buffer);
  gl->VertexArrayVertexBuffer(painter->solids, 1, painter->instances.buffer, 0, sizeof *list->instances);
  for (size_t i = 0; i < list->batch_count; i++) {
    const painter_batch *batch = &list->batches[i];
    const painter_mesh *m = batch->mesh;
    if (batch->count == 0) continue;
    gl->VertexArrayVertexBuffer(painter->solids, 0, m->vertices, 0, 3 * sizeof(float));
    gl->VertexArrayElementBuffer(painter->solids, m->indices);
    gl->MultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, (const void *)(batch->first * sizeof *list->commands),
                                  (GLsizei)batch->count, sizeof *list->commands);
  }
}
