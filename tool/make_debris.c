/* graze make explosion --debris: equipment, fragments that fly at it, and what each of them hits first and when. */
#include "make_debris.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/io.h"
#include "output.h"
#include "scenes.h"
#include "session.h"

static char *join(const char *folder, const char *name) {
  char *path = NULL;
  const size_t length = strlen(folder);
  if (asprintf(&path, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name) < 0)
    fail_out_of_memory();
  return path;
}

static void write_fragments(const session *run, const char *path, const scenes_debris *debris) {
  const graze_particle_list list = {
      .count = debris->count, .positions = debris->start, .ends = debris->end, .radii = debris->radii};
  must(run->context, graze_write_particles(run->context, path, &list));
}

/* A line for each fragment; one that hits nothing has empty fields. */
static uint32_t write_truth(const char *path, const scenes_debris *debris, const scenes_scene *scene) {
  output *out = output_open(path);
  uint32_t hits = 0;
  gz_put_text(out, "object,time\n");
  for (uint32_t i = 0; i < debris->count; i++) {
    const int64_t *time = debris->times + 2 * (size_t)i;
    if (debris->objects[i] == SCENES_DEBRIS_MISSES) {
      gz_put_text(out, ",\n");
      continue;
    }
    hits++;
    write_csv_field(out, scene->objects[debris->objects[i]].name);
    output_print(out, ",%" PRId64 "/%" PRId64 "\n", time[0], time[1]);
  }
  output_close(out);
  return hits;
}

static void tell_json(output *out, const scenes_debris *debris, uint64_t seed, uint32_t hits, const written *done) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "kind", "explosion");
  gz_json_integer(&writer, "debris", debris->count);
  gz_json_integer(&writer, "seed", seed);
  gz_json_integer(&writer, "hits", hits);
  gz_json_integer(&writer, "triangles", done->triangles);
  gz_json_open(&writer, "files", '[');
  const char *cell = done->files.text;
  for (uint64_t i = 0; i < done->files.cell_count; i++, cell += strlen(cell) + 1) {
    if (i % 2 == 0) gz_json_text(&writer, NULL, cell);
  }
  gz_json_close(&writer);
  gz_json_end(&writer);
}

int make_debris(uint32_t count, uint32_t size, uint64_t seed, const common_options *common) {
  static const table_column columns[] = {{"file", true}, {"triangles", false}};
  scenes_scene scene;
  scenes_debris debris;
  session run;
  if (!scenes_debris_make(count, size, seed, &scene, &debris)) fail_out_of_memory();
  session_begin(&run, common);
  written done = {.context = run.context, .files = table_begin(columns, 2)};
  write_scene_files(common->output, &scene, &done);
  char *fragments = join(common->output, "debris.csv"), *truth = join(common->output, "truth.csv");
  write_fragments(&run, fragments, &debris);
  const uint32_t hits = write_truth(truth, &debris, &scene);
  const char *const more[] = {fragments, truth};
  for (int i = 0; i < 2; i++) {
    table_text(&done.files, more[i]);
    table_text(&done.files, "");
  }
  output *out = output_open(NULL);
  if (common->format == format_json)
    tell_json(out, &debris, seed, hits, &done);
  else if (common->format == format_csv)
    table_write_csv(&done.files, out);
  else
    table_write_text(&done.files, out);
  output_close(out);
  free(fragments);
  free(truth);
  table_free(&done.files);
  session_end(&run);
  scenes_free(&scene);
  scenes_debris_free(&debris);
  return exit_clear;
}
