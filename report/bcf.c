/* bcf.c: BCF 2.1, the issue files of building information modelling (buildingSMART, BCF-XML release 2.1: markup.xsd,
 * visinfo.xsd, version.xsd and the file structure of its documentation). A zip with bcf.version and a folder a clash,
 * named by the topic's GUID: markup.bcf, viewpoint.bcfv, snapshot.png. Elements stand in the order of the schemas.
 *
 * Lengths are in metres there and z is up, whatever the scene has. Field of view is horizontal and from 45 to 60
 * degrees: another one is brought into that range and the eye moved along the view, so that the clash fills as much of
 * the picture.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uuid.h"
#include "zip.h"

typedef struct bcf {
  const graze_report *report;
  const char *path, *snapshots;
  const graze_camera *cameras;
  double metres; /* a unit of the scene; 0 = not known */
  report_zip *zip;
  gz_text text;     /* the XML file in work */
  gz_whole picture; /* of the clash in work; bytes NULL = none */
  double aspect;    /* of the picture, width / height; 1 when there is none */
  graze_context *context;
} bcf;

static const double pi = 3.14159265358979323846;

/* ---- dates and units ---- */

static bool two_digits(const char *text, int low, int high, int *value) {
  if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9') return false;
  *value = 10 * (text[0] - '0') + text[1] - '0';
  return *value >= low && *value <= high;
}

/* "2025-01-31T12:00:00Z" */
static bool read_time(const char *text, report_time *time) {
  static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
  int century, year;
  if (text == NULL || strlen(text) != sizeof shape - 1) return false;
  for (size_t i = 0; i < sizeof shape - 1; i++) {
    if (shape[i] != 'd' && text[i] != shape[i]) return false;
  }
  bool good = two_digits(text, 0, 99, &century) && two_digits(text + 2, 0, 99, &year) &&
              two_digits(text + 5, 1, 12, &time->month) && two_digits(text + 8, 1, 31, &time->day) &&
              two_digits(text + 11, 0, 23, &time->hour) && two_digits(text + 14, 0, 59, &time->minute) &&
              two_digits(text + 17, 0, 59, &time->second);
  if (good) time->year = 100 * century + year;
  return good;
}

static double metres_of(const char *units) {
  static const struct {
    const char *name;
    double metres;
  } known[] = {{"m", 1}, {"mm", 0.001}, {"cm", 0.01}, {"in", 0.0254}, {"ft", 0.3048}};
  for (size_t i = 0; units != NULL && i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(units, known[i].name) == 0) return known[i].metres;
  }
  return 0;
}

/* ---- pictures ---- */

static uint32_t big_endian(const char *bytes) {
  const unsigned char *b = (const unsigned char *)bytes;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Reads ID.png when it is there. */
static graze_status load_picture(bcf *work, const graze_report_clash *clash) {
  gz_free(work->picture.bytes);
  work->picture = (gz_whole){0};
  work->aspect = 1;
  if (work->snapshots == NULL) return GRAZE_OK;
  char *path = gz_new_words(work->context, "%s/%s.png", work->snapshots, clash->id);
  if (path == NULL) return gz_report_fail_memory(work->context, work->path);
  bool absent = access(path, F_OK) != 0 && errno == ENOENT;
  graze_status status = absent ? GRAZE_OK : gz_report_read_file(work->context, path, &work->picture);
  if (status == GRAZE_OK && work->picture.bytes != NULL) {
    bool png = work->picture.size > 24 && memcmp(work->picture.bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
    uint32_t width = png ? big_endian(work->picture.bytes + 16) : 0,
             height = png ? big_endian(work->picture.bytes + 20) : 0;
    if (width == 0 || height == 0)
      status = gz_fail_named(work->context, GRAZE_ERROR_FORMAT, path, "", "is not a PNG picture");
    if (status == GRAZE_OK) work->aspect = (double)width / height;
  }
  gz_free(path);
  return status;
}

/* ---- XML ---- */

static void element(gz_text *out, const char *indent, const char *name, const char *text) {
  gz_put_text(out, indent);
  gz_put_text(out, "<");
  gz_put_text(out, name);
  gz_put_text(out, ">");
  gz_put_xml(out, text);
  gz_put_text(out, "</");
  gz_put_text(out, name);
  gz_put_text(out, ">\n");
}

static void put_guid(gz_text *out, const char *kind, const char *name) {
  char text[37];
  gz_report_uuid_text(gz_report_uuid_of(kind, name), text);
  gz_put_text(out, text);
}

static void put_point_and_depth(bcf *work, const graze_report_clash *clash) {
  gz_text *out = &work->text;
  const char *units = work->report->units != NULL ? work->report->units : "";
  if (isfinite(clash->point[0] + clash->point[1] + clash->point[2])) {
    gz_put_text(out, "&#10;At");
    for (int k = 0; k < 3; k++) {
      gz_put_text(out, " ");
      gz_put_finite(out, clash->point[k]);
    }
    gz_put_text(out, " ");
    gz_put_xml(out, units);
  }
  if (clash->depth > 0) {
    gz_put_text(out, "&#10;Depth of the overlap, at most: ");
    gz_put_finite(out, clash->depth);
    gz_put_text(out, " ");
    gz_put_xml(out, units);
  }
  if (clash->gap.found) {
    gz_put_text(out, "&#10;Gap: ");
    gz_put_finite(out, clash->gap.distance);
    gz_put_text(out, ", to be kept: ");
    gz_put_finite(out, clash->gap.clearance);
    gz_put_text(out, " ");
    gz_put_xml(out, units);
  }
}

static void put_count(gz_text *out, const char *before, uint64_t value) {
  gz_put_text(out, before);
  gz_put_integer(out, value);
}

static void put_object_line(gz_text *out, const char *which, const graze_report_object *object) {
  gz_put_text(out, which);
  gz_put_xml(out, object->name);
  if (object->layer != NULL && *object->layer) {
    gz_put_text(out, ", layer ");
    gz_put_xml(out, object->layer);
  }
  if (object->file != NULL && *object->file) {
    gz_put_text(out, ", file ");
    gz_put_xml(out, object->file);
  }
}

static void put_description(bcf *work, const graze_report_clash *clash) {
  gz_text *out = &work->text;
  gz_put_text(out, "    <Description>");
  gz_put_xml(out, graze_relation_string(clash->relation));
  if (clash->reason != NULL) {
    gz_put_text(out, ": ");
    gz_put_xml(out, clash->reason);
  }
  if (clash->state != GRAZE_STATE_RESOLVED) {
    put_count(out, "&#10;Triangle pairs that meet: ", clash->counts.triangle_pairs);
    put_count(out, " (points ", clash->counts.points);
    put_count(out, ", segments ", clash->counts.segments);
    put_count(out, ", areas ", clash->counts.areas);
    put_count(out, ", with a degenerate triangle ", clash->counts.degenerate);
    put_count(out, "; coplanar ", clash->counts.coplanar);
    gz_put_text(out, ")");
  }
  put_point_and_depth(work, clash);
  put_object_line(out, "&#10;A: ", &work->report->objects[clash->a]);
  put_object_line(out, "&#10;B: ", &work->report->objects[clash->b]);
  gz_put_text(out, "&#10;Id: ");
  gz_put_xml(out, clash->id);
  if (work->metres == 0)
    gz_put_text(out, "&#10;The units of the scene are not known: its numbers are taken for metres.");
  if (work->snapshots != NULL && work->picture.bytes == NULL)
    gz_put_text(out, "&#10;There is no picture of this clash.");
  gz_put_text(out, "</Description>\n");
}

static bool has_text(const char *text) {
  return text != NULL && *text;
}

static void put_labels(bcf *work, const graze_report_clash *clash) {
  const uint32_t groups[3] = {clash->group_object, clash->group_layers, clash->group_place};
  element(&work->text, "    ", "Labels", graze_relation_string(clash->relation));
  for (int k = 0; k < 3; k++) {
    if (groups[k] != GRAZE_NO_GROUP) element(&work->text, "    ", "Labels", work->report->groups[groups[k]].title);
  }
  if (clash->forgiven) element(&work->text, "    ", "Labels", "forgiven");
  if (has_text(clash->mark)) element(&work->text, "    ", "Labels", clash->mark);
}

/* Found earlier: created then, modified now. */
static void put_dates(bcf *work, const graze_report_clash *clash) {
  report_time ignored;
  const char *found = read_time(clash->found, &ignored) ? clash->found : work->report->created;
  element(&work->text, "    ", "CreationDate", found);
  element(&work->text, "    ", "CreationAuthor", "Graze");
  if (strcmp(found, work->report->created) == 0) return;
  element(&work->text, "    ", "ModifiedDate", work->report->created);
  element(&work->text, "    ", "ModifiedAuthor", "Graze");
}

static void put_topic(bcf *work, uint32_t index) {
  const graze_report_clash *clash = &work->report->clashes[index];
  gz_text *out = &work->text;
  bool closed = clash->state == GRAZE_STATE_RESOLVED || clash->forgiven ||
                (clash->relation != GRAZE_UNKNOWN && has_text(clash->mark) && strcmp(clash->mark, "approved") == 0);
  gz_put_text(out, "  <Topic Guid=\"");
  put_guid(out, "topic", clash->id);
  gz_put_text(out, "\" TopicType=\"Clash\" TopicStatus=\"");
  gz_put_text(out, closed ? "Closed\">\n    <Title>" : "Open\">\n    <Title>");
  gz_put_xml(out, work->report->objects[clash->a].name);
  gz_put_text(out, " and ");
  gz_put_xml(out, work->report->objects[clash->b].name);
  gz_put_text(out, ": ");
  gz_put_xml(out, graze_relation_string(clash->relation));
  gz_put_text(out, "</Title>\n    <Index>");
  gz_put_integer(out, (uint64_t)index + 1);
  gz_put_text(out, "</Index>\n");
  put_labels(work, clash);
  put_dates(work, clash);
  put_description(work, clash);
  gz_put_text(out, "  </Topic>\n");
}

static void put_comment(bcf *work, const graze_report_clash *clash) {
  gz_text *out = &work->text;
  if (!has_text(clash->comment)) return;
  gz_put_text(out, "  <Comment Guid=\"");
  put_guid(out, "comment", clash->id);
  gz_put_text(out, "\">\n");
  element(out, "    ", "Date", work->report->created);
  element(out, "    ", "Author", "Reviewer");
  element(out, "    ", "Comment", clash->comment);
  gz_put_text(out, "    <Viewpoint Guid=\"");
  put_guid(out, "viewpoint", clash->id);
  gz_put_text(out, "\"/>\n  </Comment>\n");
}

static const char xml_head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

static void put_markup(bcf *work, uint32_t index) {
  const graze_report_clash *clash = &work->report->clashes[index];
  gz_text *out = &work->text;
  gz_put_text(out, xml_head);
  gz_put_text(out, "<Markup>\n");
  put_topic(work, index);
  put_comment(work, clash);
  gz_put_text(out, "  <Viewpoints Guid=\"");
  put_guid(out, "viewpoint", clash->id);
  gz_put_text(out, "\">\n    <Viewpoint>viewpoint.bcfv</Viewpoint>\n");
  if (work->picture.bytes != NULL) gz_put_text(out, "    <Snapshot>snapshot.png</Snapshot>\n");
  gz_put_text(out, "  </Viewpoints>\n</Markup>\n");
}

/* ---- viewpoints ---- */

static void put_selected(gz_text *out, const char *guid, const graze_report_object *object) {
  gz_put_text(out, "      <Component IfcGuid=\"");
  gz_put_text(out, guid);
  gz_put_text(out, "\">\n");
  element(out, "        ", "OriginatingSystem", "Graze");
  element(out, "        ", "AuthoringToolId", object->name);
  gz_put_text(out, "      </Component>\n");
}

static void put_coloured(gz_text *out, const char *guid, const char *colour) {
  gz_put_text(out, "      <Color Color=\"");
  gz_put_text(out, colour);
  gz_put_text(out, "\">\n        <Component IfcGuid=\"");
  gz_put_text(out, guid);
  gz_put_text(out, "\"/>\n      </Color>\n");
}

/* Everything visible, the two selected and coloured. */
static void put_components(gz_text *out, const graze_report_object *a, const graze_report_object *b) {
  char guid_a[23], guid_b[23];
  gz_report_ifc_guid(a->name, guid_a);
  gz_report_ifc_guid(b->name, guid_b);
  gz_put_text(out, "  <Components>\n    <Selection>\n");
  put_selected(out, guid_a, a);
  put_selected(out, guid_b, b);
  gz_put_text(out, "    </Selection>\n    <Visibility DefaultVisibility=\"true\"/>\n    <Coloring>\n");
  put_coloured(out, guid_a, "FF3B30");
  put_coloured(out, guid_b, "0A84FF");
  gz_put_text(out, "    </Coloring>\n  </Components>\n");
}

static void put_vector(gz_text *out, const char *name, const double v[3]) {
  static const char *const axes[] = {"X", "Y", "Z"};
  gz_put_text(out, "    <");
  gz_put_text(out, name);
  gz_put_text(out, ">\n");
  for (int k = 0; k < 3; k++) {
    gz_put_text(out, "      <");
    gz_put_text(out, axes[k]);
    gz_put_text(out, ">");
    gz_put_finite(out, v[k]);
    gz_put_text(out, "</");
    gz_put_text(out, axes[k]);
    gz_put_text(out, ">\n");
  }
  gz_put_text(out, "    </");
  gz_put_text(out, name);
  gz_put_text(out, ">\n");
}

/* Makes the vertical field of view a horizontal one that BCF allows; returns it in degrees. */
static double fit_camera(const bcf *work, const graze_report_clash *clash, graze_camera *camera) {
  double half = atan(tan(camera->field_of_view * pi / 360) * work->aspect);
  double allowed = fmin(fmax(half, 45 * pi / 360), 60 * pi / 360);
  double distance = 0;
  for (int k = 0; k < 3; k++) distance += (clash->point[k] - camera->eye[k]) * camera->forward[k];
  double back = distance > 0 ? distance * (tan(half) / tan(allowed) - 1) : 0;
  for (int k = 0; k < 3; k++) camera->eye[k] -= back * camera->forward[k];
  return fmin(fmax(allowed * 360 / pi, 45), 60);
}

/* Viewers have z up, as IFC has. */
static void turn_upright(graze_up up, double vector[3]) {
  if (up != GRAZE_UP_Y) return;
  double y = vector[1];
  vector[1] = 0 - vector[2]; /* never -0 */
  vector[2] = y;
}

static void put_camera(bcf *work, uint32_t index) {
  const graze_report_clash *clash = &work->report->clashes[index];
  gz_text *out = &work->text;
  graze_camera camera = work->cameras[index];
  double field = fit_camera(work, clash, &camera), sum = field;
  turn_upright(work->report->up, camera.eye);
  turn_upright(work->report->up, camera.forward);
  turn_upright(work->report->up, camera.up);
  for (int k = 0; k < 3; k++) {
    camera.eye[k] *= work->metres > 0 ? work->metres : 1;
    sum += camera.eye[k] + camera.forward[k] + camera.up[k];
  }
  if (!isfinite(sum)) return; /* a clash without a place: the schema lets the camera be absent, not be nonsense */
  gz_put_text(out, "  <PerspectiveCamera>\n");
  put_vector(out, "CameraViewPoint", camera.eye);
  put_vector(out, "CameraDirection", camera.forward);
  put_vector(out, "CameraUpVector", camera.up);
  gz_put_text(out, "    <FieldOfView>");
  gz_put_finite(out, field);
  gz_put_text(out, "</FieldOfView>\n  </PerspectiveCamera>\n");
}

/* Between the nearest points of what is too near, for viewers to draw. */
static void put_gap_line(bcf *work, const graze_report_clash *clash) {
  double ends[2][3], sum = 0;
  if (!clash->gap.found) return;
  memcpy(ends, clash->gap.points, sizeof ends);
  for (int i = 0; i < 2; i++) {
    turn_upright(work->report->up, ends[i]);
    for (int k = 0; k < 3; k++) {
      ends[i][k] *= work->metres > 0 ? work->metres : 1;
      sum += ends[i][k];
    }
  }
  if (!isfinite(sum)) return;
  gz_put_text(&work->text, "  <Lines>\n   <Line>\n");
  put_vector(&work->text, "StartPoint", ends[0]);
  put_vector(&work->text, "EndPoint", ends[1]);
  gz_put_text(&work->text, "   </Line>\n  </Lines>\n");
}

static void put_viewpoint(bcf *work, uint32_t index) {
  const graze_report_clash *clash = &work->report->clashes[index];
  gz_put_text(&work->text, xml_head);
  gz_put_text(&work->text, "<VisualizationInfo Guid=\"");
  put_guid(&work->text, "viewpoint", clash->id);
  gz_put_text(&work->text, "\">\n");
  put_components(&work->text, &work->report->objects[clash->a], &work->report->objects[clash->b]);
  put_camera(work, index);
  put_gap_line(work, clash);
  gz_put_text(&work->text, "</VisualizationInfo>\n");
}

/* ---- the archive ---- */

/* Adds the XML file in work, FOLDER/NAME, and begins the next one. */
static void add_text(bcf *work, const char *folder, const char *name) {
  char path[80];
  snprintf(path, sizeof path, "%s%s", folder, name);
  gz_report_zip_add(work->zip, path, work->text.data, work->text.used, true);
  work->text.used = 0;
}

static graze_status add_clash(bcf *work, uint32_t index) {
  const graze_report_clash *clash = &work->report->clashes[index];
  char folder[40], path[80];
  graze_status status = load_picture(work, clash);
  if (status != GRAZE_OK) return status;
  gz_report_uuid_text(gz_report_uuid_of("topic", clash->id), folder);
  strcat(folder, "/");
  gz_report_zip_add(work->zip, folder, "", 0, false);
  put_markup(work, index);
  add_text(work, folder, "markup.bcf");
  put_viewpoint(work, index);
  add_text(work, folder, "viewpoint.bcfv");
  if (work->picture.bytes != NULL) {
    snprintf(path, sizeof path, "%ssnapshot.png", folder);
    gz_report_zip_add(work->zip, path, work->picture.bytes, work->picture.size, false);
  }
  return GRAZE_OK;
}

/* A topic of its own, so that nobody takes what is there for all there is. */
static void add_incomplete(bcf *work) {
  char folder[40];
  gz_report_uuid_text(gz_report_uuid_of("topic", "incomplete"), folder);
  gz_put_text(&work->text, xml_head);
  gz_put_text(&work->text, "<Markup>\n  <Topic Guid=\"");
  gz_put_text(&work->text, folder);
  gz_put_text(&work->text, "\" TopicType=\"Error\" TopicStatus=\"Open\">\n");
  element(&work->text, "    ", "Title", gz_report_incomplete);
  element(&work->text, "    ", "Index", "0");
  element(&work->text, "    ", "CreationDate", work->report->created);
  element(&work->text, "    ", "CreationAuthor", "Graze");
  gz_put_text(&work->text, "  </Topic>\n</Markup>\n");
  strcat(folder, "/");
  gz_report_zip_add(work->zip, folder, "", 0, false);
  add_text(work, folder, "markup.bcf");
}

/* The caller's cameras, or some of our own; *own is to be freed. */
static graze_status find_cameras(bcf *work, graze_camera **own) {
  *own = NULL;
  if (work->cameras != NULL) return GRAZE_OK;
  *own = gz_new(work->context, (size_t)work->report->clash_count + 1, sizeof **own);
  if (*own == NULL) return gz_report_fail_memory(work->context, work->path);
  work->cameras = *own;
  return graze_report_cameras(work->context, work->report, *own);
}

static graze_status add_all(bcf *work) {
  graze_status status = GRAZE_OK;
  gz_put_text(&work->text, xml_head);
  gz_put_text(&work->text,
              "<Version VersionId=\"2.1\" xsi:noNamespaceSchemaLocation=\"version.xsd\" "
              "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n  <DetailedVersion>2.1</DetailedVersion>\n"
              "</Version>\n");
  add_text(work, "", "bcf.version");
  if (!work->report->complete) add_incomplete(work);
  for (uint32_t i = 0; i < work->report->clash_count && status == GRAZE_OK; i++) status = add_clash(work, i);
  return status;
}

/* Topics are told apart by their ids alone. */
static graze_status check_ids(const graze_context *context, const graze_report *report, const char *path) {
  for (uint32_t i = 0; i < report->clash_count; i++) {
    if (*report->clashes[i].id == 0) {
      return gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "", "clashes[%lu] has no id", (unsigned long)i);
    }
  }
  return GRAZE_OK;
}

graze_status graze_report_write_bcf(graze_context *context, const char *path, const graze_report *report,
                                    const char *snapshots, const graze_camera *cameras) {
  report_file file;
  report_time when = {0};
  graze_status status = gz_report_file_open(context, &file, path, report);
  if (status != GRAZE_OK) return status;
  bcf work = {.report = report, .path = path, .snapshots = snapshots, .cameras = cameras, .context = context};
  work.metres = metres_of(report->units);
  if (!read_time(report->created, &when)) {
    status =
        gz_fail_named(context, GRAZE_ERROR_ARGUMENT, path, "", "\"created\" is not a time like 2025-01-31T12:00:00Z");
  }
  graze_camera *own = NULL;
  if (status == GRAZE_OK) status = check_ids(context, report, path);
  if (status == GRAZE_OK) status = find_cameras(&work, &own);
  if (status == GRAZE_OK && gz_text_begin(context, &work.text, NULL, NULL))
    work.zip = gz_report_zip_begin(&file.out, when);
  if (status == GRAZE_OK && work.zip == NULL) status = gz_report_fail_memory(context, path);
  if (status == GRAZE_OK) status = add_all(&work);
  if (work.zip != NULL && !gz_report_zip_end(work.zip) && status == GRAZE_OK)
    status = gz_report_fail_memory(context, path);
  if (status == GRAZE_OK && work.text.no_memory) status = gz_report_fail_memory(context, path);
  gz_text_end(&work.text);
  gz_free(work.picture.bytes);
  gz_free(own);
  return gz_report_file_close(context, &file, status);
}
