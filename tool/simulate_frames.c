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
#include "vtk.h"

enum { BALL_NUMBERS = 9, NAME_UNIT = 8 };

struct simulate_frames {
  const char *path;
  const simulate_balls *balls;
  simulate_bodies *bodies; /* NULL: balls */
  char *list;              /* path of the list of files; NULL: one file */
  output *file;            /* the one file, or the list */
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

enum { BALL_ARRAYS = 5 };

/* Arrays of all balls that are made for a frame. */
typedef struct frame_arrays {
  double *speeds;
  int64_t *numbers; /* 0 to n: each point, and where the next begins */
  int32_t *sets;
} frame_arrays;

static double length_of(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static frame_arrays make_arrays(const simulate_balls *balls) {
  const size_t n = (size_t)balls->count;
  const frame_arrays made = {malloc((n + 1) * sizeof *made.speeds), malloc((n + 1) * sizeof *made.numbers),
                             malloc((n + 1) * sizeof *made.sets)};
  if (!made.speeds || !made.numbers || !made.sets) fail_out_of_memory();
  for (size_t i = 0; i <= n; i++) made.numbers[i] = (int64_t)i;
  for (size_t i = 0; i < n; i++) made.speeds[i] = length_of(balls->velocities + 3 * i);
  for (size_t i = 0, set = 0, end = 0; i < n; i++) {
    while (i == end + balls->sets[set].count) end += balls->sets[set++].count;
    made.sets[i] = (int32_t)set;
  }
  return made;
}

static void put_balls_vtk(const simulate_balls *balls, output *out, double time) {
  const frame_arrays made = make_arrays(balls);
  const size_t n = (size_t)balls->count, number = n * sizeof(double);
  const vtk_array arrays[BALL_ARRAYS] = {{"radius", "Float64", 1, balls->radii, number},
                                         {"velocity", "Float64", 3, balls->velocities, 3 * number},
                                         {"spin", "Float64", 3, balls->spins, 3 * number},
                                         {"speed", "Float64", 1, made.speeds, number},
                                         {"set", "Int32", 1, made.sets, n * sizeof *made.sets}};
  vtk_write(out, &(vtk_frame){.time = time,
                              .point_count = balls->count,
                              .vert_count = balls->count,
                              .points = balls->positions,
                              .numbers = made.numbers,
                              .arrays = arrays,
                              .array_count = BALL_ARRAYS});
  free(made.speeds);
  free(made.numbers);
  free(made.sets);
}

static char *file_name(const char *folder, uint64_t number) {
  char *path = NULL;
  if (asprintf(&path, "%s%sframe_%06" PRIu64 ".vtp", folder, *folder ? "/" : "", number) < 0) fail_out_of_memory();
  return path;
}

static void put_vtk_frame(const simulate_frames *frames, double time) {
  char *path = file_name(frames->path, frames->count), *name = file_name("", frames->count);
  output *out = output_open(path);
  if (frames->bodies)
    simulate_bodies_put_vtk(frames->bodies, out, time);
  else
    put_balls_vtk(frames->balls, out, time);
  output_close(out);
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
  if (run->rigid) frames->bodies = simulate_bodies_open(run, !names_file(path));
  if (names_file(path)) {
    frames->file = output_open(path);
    if (frames->bodies)
      simulate_bodies_put_head(frames->bodies, frames->file);
    else
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
  } else if (frames->bodies) {
    simulate_bodies_put_frame(frames->bodies, frames->file, step, time);
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
  simulate_bodies_free(frames->bodies);
  free(frames->list);
  free(frames);
}
