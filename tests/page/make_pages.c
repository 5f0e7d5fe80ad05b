/* make_pages: report pages for the browser test and for the eye: `make_pages KIND FILE`.
 *
 *   sample      pipes that really clash, with real curves, and by hand every relation, state and mark
 *   empty       nothing found
 *   upright     the sample, with y up
 *   gaps        the sample, with objects that are nearer than they may be
 *   names       the sample, with names that differ at their ends alone, or before a GlobalId, no states, and a proof by
 *               corners
 *   incomplete  a check that stopped
 *   thinned     the sample with a budget far too small for it
 *   timing      2,000 objects, 500 meshes of 2 million triangles, 1,000 clashes
 *   many        1.2 million triangles in 300 meshes, 10,000 clashes
 *   big         5 million triangles in 1,200 meshes, 10,000 clashes
 *
 * Prints the seconds that writing took and the page's size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graze/graze.h"
#include "graze/report.h"
#include "scenes.h"

typedef struct model {
  graze_context *context;
  scenes_scene scene;
  graze_mesh **meshes;
  graze_report_object *objects;
  uint32_t object_count;
  graze_report_clash *clashes;
  uint32_t clash_count;
  char (*texts)[64];          /* names of objects */
  void *kept[2 * 10000 + 16]; /* points and starts of curves */
  uint32_t kept_count;
} model;

static void *must(void *memory) {
  if (memory == NULL) {
    fprintf(stderr, "make_pages: out of memory\n");
    exit(3);
  }
  return memory;
}

static void must_work(graze_status status) {
  if (status == GRAZE_OK) return;
  fprintf(stderr, "make_pages: %s\n", graze_status_string(status));
  exit(3);
}

static void *keep(model *m, void *memory) {
  return m->kept[m->kept_count++] = must(memory);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- models ---- */

static void make_meshes(model *m, uint32_t size) {
  const scenes_kind *kind = scenes_find_kind("pipes");
  scenes_request request = scenes_default_request(kind);
  const char *reason;
  request.size = size;
  if (!scenes_make(kind, &request, &m->scene, &reason)) {
    fprintf(stderr, "make_pages: %s\n", reason);
    exit(3);
  }
  must_work(graze_context_create(NULL, &m->context));
  m->meshes = must(calloc(m->scene.mesh_count, sizeof *m->meshes));
  for (uint32_t i = 0; i < m->scene.mesh_count; i++) {
    graze_mesh_def def = graze_default_mesh_def();
    def.vertices = m->scene.meshes[i].vertices;
    def.vertex_count = m->scene.meshes[i].vertex_count;
    def.precision = GRAZE_DOUBLE;
    def.indices = m->scene.meshes[i].indices;
    def.triangle_count = m->scene.meshes[i].triangle_count;
    must_work(graze_mesh_create(m->context, &def, m->meshes + i));
  }
}

/* `copies` of every object, each set beside the last. */
static void make_objects(model *m, uint32_t copies) {
  static const char *const layers[] = {"cooling water", "steam", "drains", "structure", "instrument air"};
  uint32_t count = m->scene.object_count;
  m->object_count = count * copies;
  m->objects = must(calloc(m->object_count + 1, sizeof *m->objects));
  m->texts = must(calloc(m->object_count + 1, sizeof *m->texts));
  for (uint32_t i = 0; i < m->object_count; i++) {
    const scenes_object *from = m->scene.objects + i % count;
    graze_report_object *object = m->objects + i;
    snprintf(m->texts[i], sizeof m->texts[i], "Unit %u/%s", i / count + 1, from->name);
    *object = (graze_report_object){
        m->texts[i], layers[(i * 7 + i / 3) % 5], "plant.glb", m->meshes[from->mesh], {{0}}, NULL, NULL, NULL, NULL, 0};
    memcpy(object->pose.m, from->pose, sizeof object->pose.m);
    object->pose.m[7] += 40.0 * (i / count);
  }
}

static void free_model(model *m) {
  for (uint32_t i = 0; i < m->kept_count; i++) free(m->kept[i]);
  for (uint32_t i = 0; i < m->scene.mesh_count; i++) graze_mesh_destroy(m->meshes[i]);
  scenes_free(&m->scene);
  graze_context_destroy(m->context);
  free(m->meshes);
  free(m->objects);
  free(m->clashes);
  free(m->texts);
  free(m);
}

/* The segments in which two objects meet, as a curve of as many polylines. */
static void add_curve(graze_report_clash *clash, model *m, const graze_object_pair *pair) {
  const graze_report_object *a = m->objects + clash->a, *b = m->objects + clash->b;
  uint64_t most = pair->counts.triangle_pairs;
  double(*points)[3] = keep(m, malloc((2 * most + 1) * sizeof *points));
  uint32_t *starts = keep(m, malloc((most + 2) * sizeof *starts)), count = 0;
  for (int k = 0; k < 3; k++) {
    clash->box.min[k] = INFINITY;
    clash->box.max[k] = -INFINITY;
  }
  for (uint64_t i = 0; i < most; i++) {
    double p[9], q[9];
    graze_intersection common;
    graze_mesh_get_triangle(a->mesh, pair->pairs[i].a, p);
    graze_mesh_get_triangle(b->mesh, pair->pairs[i].b, q);
    for (int c = 0; c < 3; c++) {
      graze_pose_apply(&a->pose, p + 3 * c, p + 3 * c);
      graze_pose_apply(&b->pose, q + 3 * c, q + 3 * c);
    }
    must_work(graze_tritri_intersection(p, q, &common));
    for (uint32_t c = 0; c < common.count; c++) {
      for (int k = 0; k < 3; k++) {
        clash->box.min[k] = fmin(clash->box.min[k], common.points[c][k]);
        clash->box.max[k] = fmax(clash->box.max[k], common.points[c][k]);
      }
    }
    if (common.count != 2) continue;
    starts[count] = 2 * count;
    memcpy(points + 2 * count, common.points, 2 * sizeof *points);
    count++;
  }
  starts[count] = 2 * count;
  clash->curve_points = (const double(*)[3])points;
  clash->curve_starts = starts;
  clash->curve_count = count;
  if (count > 0) memcpy(clash->point, points[count], sizeof clash->point);
  if (count == 0) memcpy(clash->point, clash->box.min, sizeof clash->point);
}

static void find_clashes(model *m) {
  graze_scene *scene;
  graze_scene_check_result found;
  graze_scene_check_options options = graze_default_scene_check_options();
  options.find = GRAZE_FIND_ALL;
  must_work(graze_scene_create(m->context, &scene));
  for (uint32_t i = 0; i < m->object_count; i++) {
    graze_object_def def = graze_default_object_def();
    graze_object_id id;
    def.mesh = m->objects[i].mesh;
    def.pose = m->objects[i].pose;
    def.user_id = i;
    must_work(graze_scene_add(scene, &def, &id));
  }
  must_work(graze_scene_check(scene, &options, &found));
  m->clashes = must(calloc(found.pair_count + 16, sizeof *m->clashes));
  for (uint64_t i = 0; i < found.pair_count; i++) {
    graze_report_clash *clash = m->clashes + m->clash_count++;
    *clash = (graze_report_clash){.a = (uint32_t)found.pairs[i].user_id_a,
                                  .b = (uint32_t)found.pairs[i].user_id_b,
                                  .relation = GRAZE_CROSS,
                                  .counts = found.pairs[i].counts,
                                  .depth = i > 0 ? 0.0125 * (double)(i + 1) : 2.980232e-9,
                                  .mark = "",
                                  .comment = ""};
    snprintf(clash->id, sizeof clash->id, "c%06x-%u", (unsigned)(clash->counts.hash >> 40), (unsigned)i);
    add_curve(clash, m, found.pairs + i);
  }
  graze_scene_destroy(scene);
}

/* What a check of pipes does not find, set by hand, so that every relation is there. */
static void add_by_hand(model *m) {
  static const struct {
    const char *a, *b;
    graze_relation relation;
    graze_report_state state;
    const char *mark, *comment, *reason;
    double depth;
    bool forgiven; /* as it ends when B moves up by the depth */
  } rows[] = {
      {"parallel_1", "parallel_2", GRAZE_TOUCH, GRAZE_STATE_ACTIVE, "approved", "Insulation goes in between.", NULL, 0,
       false},
      {"sleeve_1", "sleeve_2", GRAZE_B_IN_A, GRAZE_STATE_NEW, "", "", NULL, 0.09, false},
      {"sleeve_2", "coincident_1", GRAZE_CLEARANCE, GRAZE_STATE_NEW, "", "", NULL, NAN, false},
      {"crossing_1", "twice_1", GRAZE_UNKNOWN, GRAZE_STATE_ACTIVE, "reviewed", "",
       "the second mesh is not closed, so that inside and outside are not defined", NAN, false},
      {"run_1", "run_2", GRAZE_A_IN_B, GRAZE_STATE_ACTIVE, "", "", NULL, 0.4, false},
      {"run_3", "run_4", GRAZE_CROSS, GRAZE_STATE_RESOLVED, "", "Moved up by 0.5 m in revision C.", NULL, NAN, false},
      {"run_5", "run_6", GRAZE_CROSS, GRAZE_STATE_ACTIVE, "", "", NULL, 4e-9, true},
  };
  for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    graze_report_clash *clash = m->clashes + m->clash_count++;
    *clash = (graze_report_clash){.relation = rows[i].relation, .state = rows[i].state, .mark = rows[i].mark};
    for (uint32_t k = 0; k < m->scene.object_count; k++) {
      if (strcmp(m->scene.objects[k].name, rows[i].a) == 0) clash->a = k;
      if (strcmp(m->scene.objects[k].name, rows[i].b) == 0) clash->b = k;
    }
    snprintf(clash->id, sizeof clash->id, "hand-%u", i + 1);
    clash->comment = rows[i].comment;
    clash->reason = rows[i].reason;
    clash->depth = rows[i].depth;
    clash->forgiven = rows[i].forgiven;
    if (clash->forgiven) clash->translation[2] = clash->depth;
    if (clash->forgiven) clash->tolerance = 0.001;
    clash->group_object = clash->group_layers = clash->group_place = GRAZE_NO_GROUP;
    for (int k = 0; k < 3; k++) {
      clash->point[k] = m->objects[clash->b].pose.m[4 * k + 3] + (k == 0 ? 1.5 : 0.1);
      clash->box.min[k] = clash->point[k] - 0.2;
      clash->box.max[k] = clash->point[k] + 0.2;
    }
  }
}

static void write(graze_context *context, const char *path, graze_report *report, uint64_t budget) {
  double began = now();
  if (graze_report_write_html(context, path, report, budget, "snapshots", NULL) != GRAZE_OK) {
    fprintf(stderr, "make_pages: %s\n", graze_last_error(context)->message);
    exit(3);
  }
  double taken = now() - began;
  FILE *file = must(fopen(path, "rb"));
  fseek(file, 0, SEEK_END);
  printf("%.3f s, %.1f MB: %u objects, %u clashes\n", taken, 1e-6 * (double)ftell(file), report->object_count,
         report->clash_count);
  fclose(file);
}

static const graze_report_rule rules[] = {{"ignore within layer \"structure\"", 36},
                                          {"ignore parent and child", 12},
                                          {"select layers \"steam\" against everything", 310}};

static graze_report report_of(const model *m) {
  return (graze_report){.title = "Plant 7, revision C",
                        .created = "2025-01-31T12:00:00Z",
                        .units = "m",
                        .engine = "cpu",
                        .exactness = "t1",
                        .complete = true,
                        .objects = m->objects,
                        .object_count = m->object_count,
                        .clashes = m->clashes,
                        .clash_count = m->clash_count,
                        .rules = rules,
                        .rule_count = 3,
                        .object_pairs = (uint64_t)m->object_count * (m->object_count - 1) / 2,
                        .load_seconds = 0.0312,
                        .build_seconds = 0.21,
                        .query_seconds = 0.0153};
}

/* ---- pages ---- */

/* Turns the first clashes into gaps from the nearest points of the middles of two objects; in no order. */
static void add_gaps(model *m) {
  static const double gaps[5] = {0.03, 0.001, 0.04999, 0.025, 2.5e-9};
  for (int i = 0; i < 5; i++) {
    graze_report_clash *clash = &m->clashes[i];
    double(*points)[3] = clash->gap.points;
    clash->relation = GRAZE_CLEARANCE;
    clash->counts = (graze_counts){0};
    clash->depth = NAN;
    clash->curve_points = NULL;
    clash->curve_starts = NULL;
    clash->curve_count = 0;
    clash->gap = (graze_gap){.found = true, .clearance = 0.05, .distance = gaps[i]};
    for (int k = 0; k < 3; k++) {
      points[0][k] = points[1][k] = clash->point[k];
      if (k == 2) points[1][k] += gaps[i];
      clash->box.min[k] = points[0][k];
      clash->box.max[k] = points[1][k];
    }
  }
}

static void make_sample(const char *path, const char *kind) {
  graze_report_group groups[] = {{GRAZE_GROUP_OBJECT, "Unit 1/run_4", 3},
                                 {GRAZE_GROUP_LAYERS, "drains / steam", 4},
                                 {GRAZE_GROUP_PLACE, "near -30 -6 0", 5}};
  model *m = must(calloc(1, sizeof *m));
  make_meshes(m, 14);
  make_objects(m, 1);
  find_clashes(m);
  for (uint32_t i = 0; i < m->clash_count; i++) {
    m->clashes[i].state = i % 3 == 0 ? GRAZE_STATE_NEW : GRAZE_STATE_ACTIVE;
    m->clashes[i].group_object = i >= 4 ? 0 : GRAZE_NO_GROUP;
    m->clashes[i].group_layers = i % 2 == 0 ? 1 : GRAZE_NO_GROUP;
    m->clashes[i].group_place = i < 4 ? 2 : GRAZE_NO_GROUP;
    if (m->clashes[i].counts.triangle_pairs == 3328) m->clashes[i].relation = GRAZE_DUPLICATE;
  }
  if (strcmp(kind, "gaps") == 0) add_gaps(m);
  add_by_hand(m);
  graze_report report = report_of(m);
  report.groups = groups;
  report.group_count = 3;
  if (strcmp(kind, "empty") == 0) report.clash_count = report.rule_count = report.group_count = 0;
  for (uint32_t i = 0; i < m->object_count && strcmp(kind, "names") == 0; i++)
    snprintf(m->texts[i], sizeof m->texts[i], "%sIfcWallStandardCase_Wand-Ext-ERDG-%u%s", i % 2 ? "/" : "", 10 + i,
             i % 4 < 2 ? "" : "_3rPX_Juz59peXXY6wDJl18");
  for (uint32_t i = 0; i < m->clash_count && strcmp(kind, "names") == 0; i++) {
    m->clashes[i].state = GRAZE_STATE_NONE;
    m->clashes[i].moved_corners = m->clashes[i].forgiven ? 3e-9 : 0;
  }
  if (strcmp(kind, "upright") == 0) {
    graze_report_object *pump = &m->objects[m->clashes[0].a];
    pump->label = "Circulation pump";
    groups[0].title = pump->name;
    report.up = GRAZE_UP_Y;
  }
  if (strcmp(kind, "incomplete") == 0) report.complete = false;
  write(m->context, path, &report, strcmp(kind, "thinned") == 0 ? 3000 : 0);
  free_model(m);
}

/* Clashes by hand: a ring about a corner of an object's mesh. */
static void add_rings(model *m, uint32_t count) {
  enum { RING = 64 };
  uint32_t *starts = keep(m, calloc(2, sizeof *starts));
  starts[1] = RING + 1;
  m->clashes = must(calloc(count, sizeof *m->clashes));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t a = (uint32_t)(i * UINT64_C(2654435761) % m->object_count), b = (a + 1 + i % 17) % m->object_count;
    graze_report_clash *clash = m->clashes + m->clash_count++;
    double corner[9], at[3], (*ring)[3] = keep(m, malloc((RING + 1) * sizeof *ring));
    graze_mesh_get_triangle(m->objects[a].mesh, i % graze_mesh_triangle_count(m->objects[a].mesh), corner);
    graze_pose_apply(&m->objects[a].pose, corner, at);
    *clash = (graze_report_clash){.a = a < b ? a : b, .b = a < b ? b : a};
    clash->relation = i % 9 == 0 ? GRAZE_TOUCH : i % 41 == 0 ? GRAZE_UNKNOWN : GRAZE_CROSS;
    clash->state = i % 5 == 0 ? GRAZE_STATE_NEW : GRAZE_STATE_ACTIVE;
    clash->mark = i % 11 == 0 ? "approved" : "";
    clash->counts.triangle_pairs = clash->counts.segments = i % 977 + 1;
    clash->depth = 0.0001 * (double)(i * 7919 % 1000);
    clash->group_object = clash->group_layers = clash->group_place = GRAZE_NO_GROUP;
    snprintf(clash->id, sizeof clash->id, "r%08x", (unsigned)(i * 2654435761U));
    for (int k = 0; k < 3; k++) {
      clash->point[k] = at[k];
      clash->box.min[k] = at[k] - 0.2;
      clash->box.max[k] = at[k] + 0.2;
    }
    for (int k = 0; k <= RING; k++) {
      double angle = 6.283185307179586 * k / RING;
      ring[k][0] = at[0] + 0.2 * cos(angle);
      ring[k][1] = at[1] + 0.2 * sin(angle);
      ring[k][2] = at[2] + 0.05 * sin(3 * angle);
    }
    clash->curve_points = (const double(*)[3])ring;
    clash->curve_starts = starts;
    clash->curve_count = 1;
  }
}

static void make_large(const char *path, uint32_t runs, uint32_t copies, uint32_t clashes) {
  model *m = must(calloc(1, sizeof *m));
  make_meshes(m, runs);
  make_objects(m, copies);
  add_rings(m, clashes);
  graze_report report = report_of(m);
  write(m->context, path, &report, 0);
  free_model(m);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: make_pages sample|empty|upright|gaps|names|incomplete|thinned|timing|many|big FILE\n");
    return 2;
  }
  if (strcmp(argv[1], "timing") == 0) {
    make_large(argv[2], 488, 4, 1000);
  } else if (strcmp(argv[1], "many") == 0) {
    make_large(argv[2], 80, 1, 3000);
  } else if (strcmp(argv[1], "big") == 0) {
    make_large(argv[2], 1240, 1, 10000);
  } else {
    make_sample(argv[2], argv[1]);
  }
  return 0;
}
