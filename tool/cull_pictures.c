/* Pictures of a cull. For the scene every object with triangles left becomes two: those triangles, and the rest. */
#include "cull_pictures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "session.h"

enum { SCENE_WIDTH = 1280, SCENE_HEIGHT = 960 };

void cull_pictures_begin(const cull_pictures *pictures) {
  must(pictures->context, graze_report_make_folder(pictures->context, pictures->folder));
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Small pictures are shown larger, a pixel as a square. */
static uint32_t zoom_of(const graze_visibility_image *image) {
  uint32_t longest = image->width > image->height ? image->width : image->height;
  return longest >= 512 ? 1 : 512 / longest;
}

static void depth_colour(const graze_visibility_image *image, uint64_t at, uint8_t colour[3]) {
  float depth = image->depth[at], nearness = 1 - fminf(fmaxf(depth, 0), 1);
  memset(colour, isfinite(depth) ? (int)(60 + 170 * nearness) : 255, 3);
}

/* Hues a golden section apart: neighbouring numbers differ most. */
static void owner_colour(const graze_visibility_image *image, uint64_t at, uint8_t colour[3]) {
  const double golden = 0.6180339887498949;
  const uint32_t owner = image->owner[at];
  for (int k = 0; k < 3; k++) {
    double turn = fmod(owner * golden + k / 3.0, 1), from_middle = fabs(2 * turn - 1);
    colour[k] = owner == UINT32_MAX ? 255 : (uint8_t)(55 + 175 * fmin(fmax(3 * from_middle - 1, 0), 1));
  }
}

static void write_image(const cull_pictures *p, const graze_visibility_image *image, const char *what,
                        void (*paint)(const graze_visibility_image *, uint64_t, uint8_t[3])) {
  const graze_visibility_pass *pass = image->pass;
  const uint32_t zoom = zoom_of(image);
  graze_picture picture = {NULL, image->width * zoom, image->height * zoom};
  char path[4096];
  picture.pixels = malloc(3 * (size_t)picture.width * picture.height);
  if (!picture.pixels) fail_out_of_memory();
  for (uint32_t y = 0; y < picture.height; y++) {
    for (uint32_t x = 0; x < picture.width; x++) {
      uint64_t at = (uint64_t)((picture.height - 1 - y) / zoom) * image->width + x / zoom;
      paint(image, at, picture.pixels + 3 * ((size_t)y * picture.width + x));
    }
  }
  snprintf(path, sizeof path, "%s/%03" PRIu32 "-%s-%c-%s-%" PRIu32 "-%s.png", p->folder, p->count,
           pass->level == GRAZE_VISIBILITY_OBJECTS ? "objects" : "triangles", "xyz"[pass->axis],
           pass -> reverse ? "reverse" : "forward", pass->resolution, what);
  must(p->context, graze_picture_write_png(p->context, path, &picture));
  free(picture.pixels);
}

bool cull_pictures_take(void *user, const graze_visibility_image *image) {
  cull_pictures *p = user;
  p->count++;
  write_image(p, image, "depth", depth_colour);
  write_image(p, image, "owners", owner_colour);
  return true;
}

/* ---- the scene --------------------------------------------------------------------------------------------------- */

/* Some of the triangles of a mesh as one; NULL: there are none of these. */
static graze_mesh *part_of(const cull_pictures *p, const graze_mesh *mesh, const graze_visibility_triangles *left,
                           bool is_left) {
  uint32_t count = graze_mesh_triangle_count(mesh), next = 0, used = 0;
  double *corners = malloc(9 * ((size_t)count + 1) * sizeof *corners);
  graze_mesh *part = NULL;
  if (!corners) fail_out_of_memory();
  for (uint32_t t = 0; t < count; t++) {
    bool listed = next < left->count && left->list[next] == t;
    next += listed;
    if (listed == is_left) graze_mesh_get_triangle(mesh, t, corners + 9 * (size_t)used++);
  }
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 3 * (uint64_t)used;
  def.precision = GRAZE_DOUBLE;
  def.no_adjacency = true;
  if (used > 0) must(p->context, graze_mesh_create(p->context, &def, &part));
  free(corners);
  return part;
}

typedef struct scene_parts {
  graze_report_object *objects;
  graze_mesh_facts *facts;
  graze_mesh **meshes;
  uint32_t *left_number; /* of the part of an object that is left */
  uint32_t count;
} scene_parts;

static void add_part(const cull_pictures *p, scene_parts *s, uint32_t object, const graze_visibility_triangles *left,
                     bool is_left) {
  graze_mesh *mesh = part_of(p, p->all->objects[object].mesh, left, is_left);
  if (!mesh) return;
  if (is_left) s->left_number[object] = s->count;
  graze_mesh_get_facts(mesh, &s->facts[s->count]);
  s->objects[s->count] = p->all->objects[object];
  s->objects[s->count].mesh = mesh;
  s->objects[s->count].facts = &s->facts[s->count];
  s->objects[s->count].layer = "";
  s->meshes[s->count++] = mesh;
}

static void make_parts(const cull_pictures *p, const graze_visibility_result *left, scene_parts *s) {
  const size_t n = p->all->object_count;
  s->objects = calloc(2 * n + 1, sizeof *s->objects);
  s->facts = calloc(2 * n + 1, sizeof *s->facts);
  s->meshes = calloc(2 * n + 1, sizeof(graze_mesh *));
  s->left_number = calloc(n + 1, sizeof *s->left_number);
  if (!s->objects || !s->facts || !s->meshes || !s->left_number) fail_out_of_memory();
  for (uint32_t i = 0; i < n; i++) {
    add_part(p, s, i, &left->objects[i], false);
    add_part(p, s, i, &left->objects[i], true);
  }
}

/* The middle of what the boxes of two parts have in common. */
static void middle_of(const scene_parts *s, uint32_t a, uint32_t b, double point[3]) {
  graze_box x = graze_pose_box(&s->objects[a].pose, &s->facts[a].box);
  graze_box y = graze_pose_box(&s->objects[b].pose, &s->facts[b].box);
  for (int k = 0; k < 3; k++) point[k] = fmax(x.min[k], y.min[k]) / 2 + fmin(x.max[k], y.max[k]) / 2;
}

static graze_report_clash *make_clashes(const graze_visibility_result *left, const scene_parts *s) {
  graze_report_clash *clashes = calloc((size_t)left->pair_count + 1, sizeof *clashes);
  if (!clashes) fail_out_of_memory();
  for (uint64_t i = 0; i < left->pair_count; i++) {
    uint32_t a = s->left_number[left->pairs[i].a], b = s->left_number[left->pairs[i].b];
    clashes[i] = (graze_report_clash){.a = a, .b = b, .relation = GRAZE_TOUCH};
    middle_of(s, a, b, clashes[i].point);
  }
  return clashes;
}

static void paint_scene(const cull_pictures *p, const scene_parts *s, const graze_report_clash *clashes,
                        uint64_t clash_count) {
  graze_report scene = *p->all;
  graze_painter *painter = NULL;
  graze_picture picture;
  char path[4096];
  scene.objects = s->objects;
  scene.object_count = s->count;
  scene.clashes = clashes;
  scene.clash_count = (uint32_t)clash_count;
  graze_status status = graze_painter_create(p->context, &scene, SCENE_WIDTH, SCENE_HEIGHT, &painter);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    note("no picture of the scene: %s", graze_last_error(p->context)->message);
    return;
  }
  must(p->context, status);
  must(p->context, graze_painter_overview(painter, &picture));
  snprintf(path, sizeof path, "%s/scene.png", p->folder);
  must(p->context, graze_picture_write_png(p->context, path, &picture));
  graze_painter_destroy(painter);
}

void cull_pictures_end(const cull_pictures *p, const graze_visibility_result *left) {
  scene_parts s = {0};
  make_parts(p, left, &s);
  graze_report_clash *clashes = make_clashes(left, &s);
  paint_scene(p, &s, clashes, left->pair_count);
  for (uint32_t i = 0; i < s.count; i++) graze_mesh_destroy(s.meshes[i]);
  free(clashes);
  free(s.left_number);
  free(s.meshes);
  free(s.facts);
  free(s.objects);
}
