/* Checks the objects of one file (glTF, or OBJ with several objects) and writes a report into the current folder: the
 * page index.html, the table clashes.csv and, where there is OpenGL, the picture overview.png. usage: report FILE */
#include <graze/graze.h>
#include <graze/io.h>
#include <graze/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static graze_context *context;

/* Names the file and the line or byte, the mesh, the object ... */
static void must(graze_status status) {
  if (status == GRAZE_OK) return;
  fprintf(stderr, "report: %s\n", context ? graze_last_error(context)->message : graze_status_string(status));
  exit(3);
}

static void *allocate(size_t count, size_t size) {
  void *made = calloc(count + 1, size);
  if (!made) exit(3);
  return made;
}

/* One mesh of the file, which several objects may share. */
static graze_mesh *bake(const graze_geometry *geometry) {
  graze_mesh *mesh = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = geometry->vertices;
  def.vertex_count = geometry->vertex_count;
  def.precision = GRAZE_DOUBLE;
  def.indices = geometry->indices;
  def.triangle_count = geometry->triangle_count;
  must(graze_mesh_create(context, &def, &mesh));
  return mesh;
}

/* What a report holds of a pair. The curve stays the scene's, which must not check again before the report is out. */
static graze_report_clash clash_of(const graze_object_pair *pair) {
  const graze_outline *outline = &pair->outline;
  graze_report_clash clash = {.a = (uint32_t)pair->user_id_a, .b = (uint32_t)pair->user_id_b};
  clash.relation = pair->verdict.relation;
  clash.reason = pair->verdict.relation == GRAZE_UNKNOWN ? graze_doubt_string(pair->verdict.doubt) : NULL;
  clash.counts = pair->counts;
  clash.box = outline->box;
  memcpy(clash.point, outline->point, sizeof clash.point);
  clash.depth = pair->verdict.relation == GRAZE_TOUCH ? 0 : outline->depth;
  clash.curve_points = outline->points;
  clash.curve_starts = outline->starts;
  clash.curve_count = outline->count;
  clash.found = clash.mark = clash.comment = "";
  return clash;
}

static void write_files(const graze_report *report) {
  graze_painter *painter = NULL;
  graze_picture picture;
  must(graze_report_write_html(context, "index.html", report, 0, NULL, NULL));
  must(graze_report_write_csv(context, "clashes.csv", report));
  graze_status status = graze_painter_create(context, report, 1280, 800, &painter);
  if (status == GRAZE_OK) {
    must(graze_painter_overview(painter, &picture));
    status = graze_picture_write_png(context, "overview.png", &picture);
    graze_painter_destroy(painter);
  }
  if (status != GRAZE_ERROR_UNSUPPORTED) must(status);
  printf("overview.png: %s\n", status == GRAZE_OK ? "painted" : graze_last_error(context)->message);
}

/* Adds the objects of the file to the scene and to the report. */
static void add_objects(graze_scene *scene, const graze_assembly *file, graze_mesh *const *meshes, const char *path,
                        graze_report_object *objects) {
  for (uint32_t i = 0; i < file->object_count; i++) {
    graze_object_id id;
    graze_object_def def = graze_default_object_def();
    def.mesh = meshes[file->objects[i].mesh];
    def.pose = file->objects[i].pose;
    def.user_id = i;
    must(graze_scene_add(scene, &def, &id));
    objects[i] = (graze_report_object){
        .name = file->objects[i].name, .layer = "", .file = path, .mesh = def.mesh, .pose = def.pose};
  }
}

/* Checks, and reports what was found. Returns the number of clashes. */
static uint32_t check(graze_scene *scene, graze_report *report) {
  graze_scene_check_result found;
  graze_report_groups groups;
  graze_scene_check_options options = graze_default_scene_check_options();
  options.outlines = true;
  must(graze_scene_check(scene, &options, &found));

  uint32_t count = (uint32_t)found.pair_count;
  graze_report_clash *clashes = allocate(count, sizeof *clashes);
  for (uint32_t i = 0; i < count; i++) clashes[i] = clash_of(&found.pairs[i]);
  must(graze_report_identify(context, report->objects, report->object_count, clashes, count));
  must(graze_report_group_clashes(context, report->objects, report->object_count, clashes, count, &groups));
  report->complete = true;
  report->clashes = clashes;
  report->clash_count = count;
  report->groups = groups.groups;
  report->group_count = groups.group_count;
  report->object_pairs = found.object_pairs;
  write_files(report);
  printf("%u clashes in %u groups\n", count, groups.group_count);
  graze_report_groups_free(&groups);
  free(clashes);
  return count;
}

int main(int argc, char **argv) {
  graze_assembly file;
  graze_scene *scene = NULL;
  char created[32];
  time_t now = time(NULL);
  if (argc != 2) {
    fprintf(stderr, "usage: report FILE\n");
    return 2;
  }
  must(graze_context_create(NULL, &context));
  must(graze_read_assembly(context, argv[1], GRAZE_FORMAT_AUTO, GRAZE_READ_GROUPS, &file));
  must(graze_scene_create(context, &scene));
  graze_mesh **meshes = allocate(file.mesh_count, sizeof *meshes);
  graze_report_object *objects = allocate(file.object_count, sizeof *objects);
  for (uint32_t i = 0; i < file.mesh_count; i++) meshes[i] = bake(&file.meshes[i].geometry);
  add_objects(scene, &file, meshes, argv[1], objects);

  strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  graze_report report = {.title = argv[1], .created = created, .units = file.units, .engine = "cpu", .exactness = "t1"};
  report.objects = objects;
  report.object_count = file.object_count;
  uint32_t clashes = check(scene, &report);

  graze_scene_destroy(scene);
  for (uint32_t i = 0; i < file.mesh_count; i++) graze_mesh_destroy(meshes[i]);
  graze_assembly_free(&file);
  graze_context_destroy(context);
  free(objects);
  free(meshes);
  return clashes > 0;
}
