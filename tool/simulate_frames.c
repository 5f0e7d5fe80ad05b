/* Frames of a simulation for other programs, written as they come: one binary file, or a folder of XML VTK files, which
 * ParaView opens as a series in time. docs/files.md describes both. Processors are taken to be little-endian. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnostics.h"
#include "simulate.h"

enum { BALL_NUMBERS = 9, NAME_UNIT = 8 };

struct simulate_frames {
  const char *path;
  const simulate_balls *balls;
  char *list;   /* path of the list of files; NULL: one file */
  output *file; /* the one file, or the list */
  uint64_t count;
};

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static void put_word(output *out, uint64_t word) {
  gz_put_bytes(out, &word, sizeof word);
}

static void put_head(const simulate_frames *frames) {
  static const char zeros[NAME_UNIT] = {0};
  const simulate_balls *balls = frames->balls;
  gz_put_text(frames->file, "GRZTRACK");
  put_word(frames->file, balls->count);
  put_word(frames->file, balls->set_count);
  for (uint32_t i = 0; i < balls->set_count; i++) {
    const size_t length = strlen(balls->sets[i].name);
    put_word(frames->file, balls->sets[i].count);
    put_word(frames->file, length);
    gz_put_bytes(frames->file, balls->sets[i].name, length);
    gz_put_bytes(frames->file, zeros, (NAME_UNIT - length % NAME_UNIT) % NAME_UNIT);
  }
  gz_put_bytes(frames->file, balls->radii, (size_t)balls->count * sizeof *balls->radii);
}

static void put_frame(const simulate_frames *frames, uint64_t step, double time) {
  const simulate_balls *balls = frames->balls;
  double row[BALL_NUMBERS];
  put_word(frames->file, step);
  gz_put_bytes(frames->file, &time, sizeof time);
  for (uint64_t i = 0; i < balls->count; i++) {
    memcpy(row, balls->positions + 3 * i, 3 * sizeof *row);
    memcpy(row + 3, balls->velocities + 3 * i, 3 * sizeof *row);
    memcpy(row + 6, balls->spins + 3 * i, 3 * sizeof *row);
    gz_put_bytes(frames->file, row, sizeof row);
  }
}

/* ---- VTK --------------------------------------------------------------------------------------------------------- */

/* An array of a file: its bytes lie behind the text, after their number. */
typedef struct vtk_array {
  const char *name, *type;
  int components;
  const void *data;
  size_t bytes;
  void *own; /* to be freed, or NULL */
} vtk_array;

enum { RADIUS, VELOCITY, SPIN, SPEED, SET, POINTS, CONNECTIVITY, OFFSETS, VTK_ARRAYS };

static double length_of(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void list_arrays(const simulate_balls *balls, vtk_array arrays[VTK_ARRAYS]) {
  const size_t n = (size_t)balls->count, three = 3 * n * sizeof(double);
  double *speeds = malloc((n + 1) * sizeof *speeds);
  int64_t *numbers = malloc((2 * n + 1) * sizeof *numbers); /* 0 to n: each point, and where the next begins */
  int32_t *sets = malloc((n + 1) * sizeof *sets);
  if (!speeds || !numbers || !sets) fail_out_of_memory();
  for (size_t i = 0; i <= n; i++) numbers[i] = (int64_t)i;
  for (size_t i = 0; i < n; i++) speeds[i] = length_of(balls->velocities + 3 * i);
  for (size_t i = 0, set = 0, end = 0; i < n; i++) {
    while (i == end + balls->sets[set].count) end += balls->sets[set++].count;
    sets[i] = (int32_t)set;
  }
  const vtk_array all[VTK_ARRAYS] = {{"radius", "Float64", 1, balls->radii, n * sizeof(double), NULL},
                                     {"velocity", "Float64", 3, balls->velocities, three, NULL},
                                     {"spin", "Float64", 3, balls->spins, three, NULL},
                                     {"speed", "Float64", 1, speeds, n * sizeof(double), speeds},
                                     {"set", "Int32", 1, sets, n * sizeof *sets, sets},
                                     {"position", "Float64", 3, balls->positions, three, NULL},
                                     {"connectivity", "Int64", 1, numbers, n * sizeof *numbers, numbers},
                                     {"offsets", "Int64", 1, numbers + 1, n * sizeof *numbers, NULL}};
  memcpy(arrays, all, sizeof all);
}

static void free_arrays(const vtk_array arrays[VTK_ARRAYS]) {
  for (int i = 0; i < VTK_ARRAYS; i++) free(arrays[i].own);
}

static void put_arrays(output *out, const vtk_array *arrays, int first, int last, size_t *offset) {
  for (int i = first; i <= last; i++) {
    output_print(out,
                 "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n",
                 arrays[i].type, arrays[i].name, arrays[i].components, *offset);
    *offset += sizeof(uint64_t) + arrays[i].bytes;
  }
}

static void put_vtk(output *out, uint64_t count, double time, const vtk_array arrays[VTK_ARRAYS]) {
  size_t offset = 0;
  gz_put_text(out,
              "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
              "header_type=\"UInt64\">\n<PolyData>\n<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" "
              "NumberOfTuples=\"1\" format=\"ascii\">");
  gz_put_double(out, time);
  output_print(out,
               "</DataArray></FieldData>\n<Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfVerts=\"%" PRIu64
               "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n",
               count, count);
  gz_put_text(out, "<PointData Scalars=\"speed\" Vectors=\"velocity\">\n");
  put_arrays(out, arrays, RADIUS, SET, &offset);
  gz_put_text(out, "</PointData>\n<Points>\n");
  put_arrays(out, arrays, POINTS, POINTS, &offset);
  gz_put_text(out, "</Points>\n<Verts>\n");
  put_arrays(out, arrays, CONNECTIVITY, OFFSETS, &offset);
  gz_put_text(out, "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
  for (int i = 0; i < VTK_ARRAYS; i++) {
    put_word(out, arrays[i].bytes);
    gz_put_bytes(out, arrays[i].data, arrays[i].bytes);
  }
  gz_put_text(out, "\n</AppendedData>\n</VTKFile>\n");
}

static char *file_name(const char *folder, uint64_t number) {
  char *path = NULL;
  if (asprintf(&path, "%s%sframe_%06" PRIu64 ".vtp", folder, *folder ? "/" : "", number) < 0) fail_out_of_memory();
  return path;
}

static void put_vtk_frame(const simulate_frames *frames, double time) {
  vtk_array arrays[VTK_ARRAYS];
  char *path = file_name(frames->path, frames->count), *name = file_name("", frames->count);
  output *out = output_open(path);
  list_arrays(frames->balls, arrays);
  put_vtk(out, frames->balls->count, time, arrays);
  output_close(out);
  free_arrays(arrays);
  gz_put_text(frames->file, "<DataSet timestep=\"");
  gz_put_double(frames->file, time);
  output_print(frames->file, "\" file=\"%s\"/>\n", name);
  free(path);
  free(name);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static bool is_empty(const char *folder) {
  DIR *entries = opendir(folder);
  int count = 0;
  if (!entries) fail("%s: cannot be the folder of frames: %s", folder, strerror(errno));
  while (count < 3 && readdir(entries)) count++; /* itself and the one above */
  closedir(entries);
  return count < 3;
}

/* Nobody's own files are to be replaced, nor a series that is not there yet to be taken for a whole one. */
static void take_folder(const char *folder, const char *list) {
  char *first = file_name(folder, 0);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail("%s: cannot make the folder: %s", folder, strerror(errno));
  if (!is_empty(folder) && access(list, F_OK) != 0 && access(first, F_OK) != 0)
    fail("%s: neither an empty folder nor one of earlier frames; its files are left alone", folder);
  if (unlink(list) != 0 && errno != ENOENT) fail("%s: cannot remove: %s", list, strerror(errno));
  free(first);
}

/* Those of an earlier, longer series. */
static void remove_rest(const simulate_frames *frames) {
  for (uint64_t i = frames->count;; i++) {
    char *path = file_name(frames->path, i);
    const bool removed = unlink(path) == 0;
    if (!removed && errno != ENOENT) fail("%s: cannot remove: %s", path, strerror(errno));
    free(path);
    if (!removed) return;
  }
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static bool names_file(const char *path) {
  const size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".gzt") == 0;
}

simulate_frames *simulate_frames_open(const simulate_run *run, const simulate_balls *balls) {
  const char *path = run->asked->frames;
  simulate_frames *frames = calloc(1, sizeof *frames);
  if (!frames) fail_out_of_memory();
  *frames = (simulate_frames){.path = path, .balls = balls};
  if (names_file(path)) {
    frames->file = output_open(path);
    put_head(frames);
    return frames;
  }
  if (asprintf(&frames->list, "%s/frames.pvd", path) < 0) fail_out_of_memory();
  take_folder(path, frames->list);
  frames->file = output_open(frames->list);
  gz_put_text(frames->file,
              "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
              "byte_order=\"LittleEndian\">\n<Collection>\n");
  return frames;
}

void simulate_frames_add(simulate_frames *frames, uint64_t step, double time) {
  if (frames->list) {
    put_vtk_frame(frames, time);
  } else {
    put_frame(frames, step, time);
  }
  frames->count++;
}

void simulate_frames_close(simulate_frames *frames) {
  if (frames->list) {
    gz_put_text(frames->file, "</Collection>\n</VTKFile>\n");
    remove_rest(frames);
  }
  output_close(frames->file);
  free(frames->list);
  free(frames);
}
