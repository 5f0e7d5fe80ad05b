/* make_samples FOLDER: writes reports for check_report.py to judge: names that break naive writers, states, marks,
 * pictures, units; a clear check, a stopped one, and one of 22,000 clashes, whose BCF has more entries than 16 bits
 * count.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graze/graze.h"
#include "graze/report.h"

enum { object_count = 8, clash_count = 7, many = 22000 };

static const char *const names[object_count] = {"Site/<Pump> & \"Co\" 'x' ]]>",
                                                "Site/Wall:2O2Fr$t4X7Zf8NOew3FLOH#2",
                                                "bad \xff utf, \xed\xa0\x80 \xef\xbf\xbe",
                                                "control \x01\x1f\x7f\ttab\nline\rreturn",
                                                "Duct_0kF45Xs8L9PAM9kmb1lT2Z",
                                                "\xe2\x82\xac r\xc3\xb6hre \xf0\x9f\x94\xa7",
                                                "=SUM(A1:A9)",
                                                "3rd_floor_of_the_plant"}; /* 22 characters, and no GlobalId */

static const char *const layers[object_count] = {"pumps", "walls", "", "a<b", "ducts", "ducts", NULL, "walls"};

static graze_context *context;

static void stop(void) {
  fprintf(stderr, "make_samples: %s\n", graze_last_error(context)->message);
  exit(1);
}

static graze_mesh *make_tetrahedron(void) {
  static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const uint32_t triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  graze_mesh *mesh = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 4;
  def.precision = GRAZE_DOUBLE;
  def.indices = triangles[0];
  def.triangle_count = 4;
  if (graze_mesh_create(context, &def, &mesh) != GRAZE_OK) exit(1);
  return mesh;
}

/* Enough of a PNG for whoever reads its size: 320 x 180. */
static void write_picture(const char *id) {
  static const unsigned char bytes[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,   0, 0, 13, 'I', 'H', 'D',
                                        'R',  0,   0,   1,   64,   0,    0,    0,    180, 8, 2, 0,  0,   0,   0};
  char path[80];
  snprintf(path, sizeof path, "pictures/%s.png", id);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes || fclose(file) != 0) exit(1);
}

static void fill_clash(graze_report_clash *clash, uint32_t a, uint32_t b, graze_relation relation) {
  *clash = (graze_report_clash){.a = a, .b = b, .relation = relation, .point = {1000 + b, 2000, 3000.5}, .depth = 1.5};
  clash->counts = (graze_counts){4, 1, 2, 1, 1, 0, 0xfedcba9876543210 + a};
  clash->box = (graze_box){{999, 1999, 2999}, {1001 + b, 2001, 3002}};
  clash->state = GRAZE_STATE_NEW;
}

static void fill_clashes(graze_report_clash *clashes) {
  fill_clash(&clashes[0], 0, 1, GRAZE_CROSS);
  fill_clash(&clashes[1], 2, 3, GRAZE_TOUCH);
  fill_clash(&clashes[2], 4, 5, GRAZE_CROSS);
  fill_clash(&clashes[3], 1, 7, GRAZE_UNKNOWN);
  fill_clash(&clashes[4], 5, 6, GRAZE_A_IN_B);
  fill_clash(&clashes[5], 0, 7, GRAZE_CROSS);
  fill_clash(&clashes[6], 2, 6, GRAZE_CROSS);
  clashes[3].gap = (graze_gap){
      .found = true, .clearance = 2, .distance = 1.25, .points = {{1000, 2000, 3000}, {1000, 2001, 3000.75}}};
  clashes[1].state = GRAZE_STATE_ACTIVE;
  clashes[1].found = "2024-06-30T23:59:59Z";
  clashes[1].comment = "looks <fine> & \"flush\"\nsee \x02 note";
  clashes[1].mark = "reviewed";
  clashes[2].mark = "approved";
  clashes[2].comment = "as built";
  clashes[3].mark = "approved"; /* what was not decided cannot be approved */
  clashes[3].reason = "the mesh is not closed <here>";
  clashes[4].point[0] = clashes[4].depth = NAN;
  clashes[4].box = (graze_box){{1, 1, 1}, {0, 0, 0}};
  clashes[6].state = GRAZE_STATE_RESOLVED;
  clashes[6].counts = (graze_counts){0};
  clashes[6].reason = "one of the objects is not in the scene any more";
}

static void write_all(const char *stem, const graze_report *report, const char *pictures, const graze_camera *cameras) {
  char path[80];
  snprintf(path, sizeof path, "%s.json", stem);
  if (graze_report_write_json(context, path, report, true) != GRAZE_OK) stop();
  snprintf(path, sizeof path, "%s.csv", stem);
  if (graze_report_write_csv(context, path, report) != GRAZE_OK) stop();
  snprintf(path, sizeof path, "%s.xml", stem);
  if (graze_report_write_junit(context, path, report, 1u << GRAZE_CROSS | 1u << GRAZE_DUPLICATE) != GRAZE_OK) stop();
  snprintf(path, sizeof path, "%s.bcf", stem);
  graze_status status = graze_report_write_bcf(context, path, report, pictures, cameras);
  if (status != GRAZE_OK && status != GRAZE_ERROR_UNSUPPORTED) stop();
}

static void write_many(graze_report report) {
  graze_report_clash *clashes = calloc(many, sizeof *clashes);
  if (clashes == NULL) exit(1);
  for (uint32_t i = 0; i < many; i++) {
    fill_clash(&clashes[i], 0, 1, GRAZE_CROSS);
    clashes[i].group_object = clashes[i].group_layers = clashes[i].group_place = GRAZE_NO_GROUP;
    snprintf(clashes[i].id, sizeof clashes[i].id, "c-%u", i);
  }
  report.clashes = clashes;
  report.clash_count = many;
  report.group_count = 0;
  write_all("many", &report, NULL, NULL);
  free(clashes);
}

int main(int argc, char **argv) {
  static graze_report_object objects[object_count];
  static graze_report_clash clashes[clash_count];
  static graze_camera cameras[clash_count];
  static const graze_report_rule rules[] = {{"ignore \"walls\" / <walls>", 12}};
  graze_report_groups groups;
  if (argc != 2 || chdir(argv[1]) != 0 || graze_context_create(NULL, &context) != GRAZE_OK) return 2;
  mkdir("pictures", 0777);
  graze_mesh *mesh = make_tetrahedron();
  graze_solid_facts solid;
  if (graze_mesh_get_solid(context, mesh, &solid) != GRAZE_OK) stop();
  for (uint32_t i = 0; i < object_count; i++) {
    bool gone = i == 6;
    objects[i] = (graze_report_object){
        names[i], layers[i], "plant \"1\".glb", gone ? NULL : mesh, graze_pose_identity(), NULL, NULL, &solid, NULL, 0};
    objects[i].pose.m[3] = 100.0 * i;
  }
  fill_clashes(clashes);
  if (graze_report_identify(context, objects, object_count, clashes, clash_count) != GRAZE_OK) stop();
  if (graze_report_group_clashes(context, objects, object_count, clashes, clash_count, &groups) != GRAZE_OK) stop();
  for (uint32_t i = 0; i < clash_count; i++) {
    cameras[i] = (graze_camera){{0, 0, 0}, {0, 0, -1}, {0, 1, 0}, i % 2 ? 40 : 20};
    for (int k = 0; k < 3; k++) cameras[i].eye[k] = clashes[i].point[k] + (k == 2 ? 500 : 0);
    if (i < 2) write_picture(clashes[i].id);
  }
  graze_report report = {.title = "plant <1> & \"2\"", .created = "2025-01-31T12:34:56Z", .units = "mm"};
  report.engine = "cpu";
  report.exactness = "t1";
  report.complete = true;
  report.objects = objects;
  report.object_count = object_count;
  report.clashes = clashes;
  report.clash_count = clash_count;
  report.groups = groups.groups;
  report.group_count = groups.group_count;
  report.rules = rules;
  report.rule_count = 1;
  report.object_pairs = 28;
  report.query_seconds = 0.125;
  write_all("nasty", &report, "pictures", cameras);
  report.complete = false;
  report.units = "furlong";
  write_all("stopped", &report, NULL, NULL);
  report.complete = true;
  report.up = GRAZE_UP_Y;
  write_all("upright", &report, NULL, NULL);
  report.up = GRAZE_UP_Z;
  report.units = "ft";
  write_many(report);
  report.clash_count = report.group_count = 0;
  write_all("clear", &report, NULL, NULL);
  graze_report_groups_free(&groups);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
  return 0;
}
