/* graze make boxes: writes boxes for `graze pairs`, as text or binary. */
#include "make_boxes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/base.h"
#include "output.h"
#include "table.h"

enum { MOST_BOXES = 100000000, DEFAULT_BOXES = 1000 };

static bool ends_in(const char *path, const char *ending) {
  size_t length = strlen(path), wanted = strlen(ending);
  return length > wanted && strcasecmp(path + length - wanted, ending) == 0;
}

void box_request_finish(box_request *request, const char *size, const char *seed, const char *path,
                        struct argp_state *state) {
  if (request->kind_text && !scenes_box_kind_named(request->kind_text, &request->kind))
    argp_error(state, "--kind: no boxes of the kind '%s'", request->kind_text);
  request->size = size ? (uint32_t)options_number(state, "size", size, 1, MOST_BOXES) : DEFAULT_BOXES;
  request->seed = seed ? options_number(state, "seed", seed, 0, UINT64_MAX) : 1;
  request->step = request->step_text ? (uint32_t)options_number(state, "step", request->step_text, 0, UINT32_MAX) : 0;
  request->speed = request->speed_text ? options_decimal(state, "speed", request->speed_text) : 0.01;
  if (!(fabs(request->speed) <= 1e6)) argp_error(state, "--speed: %s is out of range", request->speed_text);
  if (!path || (!ends_in(path, ".csv") && !ends_in(path, ".gzb")))
    argp_error(state, "-o is needed: a file that ends in .csv or .gzb");
}

void box_request_help(FILE *stream) {
  fprintf(stream, "  boxes: a file of moving boxes, of the kind given by --kind\n");
  fprintf(stream, "    size: number of boxes (default %d)\n", DEFAULT_BOXES);
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++)
    fprintf(stream, "    kind %s%s: %s\n", scenes_box_kind_name((scenes_box_kind)kind), kind ? "" : " (default)",
            scenes_box_kind_summary((scenes_box_kind)kind));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void write_word(output *out, uint64_t word) {
  unsigned char bytes[8];
  for (int k = 0; k < 8; k++) bytes[k] = (unsigned char)(word >> (8 * k));
  gz_put_bytes(out, bytes, sizeof bytes);
}

static void write_binary(output *out, const float *boxes, uint32_t count) {
  gz_put_bytes(out, "GRZBOX1", 8);
  write_word(out, count);
  for (uint32_t i = 0; i < count; i++) {
    write_word(out, i);
    for (size_t k = 0; k < 6; k++) {
      double number = boxes[6 * (size_t)i + k];
      uint64_t bits;
      memcpy(&bits, &number, sizeof bits);
      write_word(out, bits);
    }
  }
}

static void write_text(output *out, const float *boxes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    gz_put_integer(out, i);
    for (size_t k = 0; k < 6; k++) {
      gz_put_text(out, ",");
      gz_put_double(out, boxes[6 * (size_t)i + k]);
    }
    gz_put_text(out, "\n");
  }
}

static void write_file(const char *path, const float *boxes, uint32_t count) {
  output *out = output_open(path);
  if (ends_in(path, ".gzb"))
    write_binary(out, boxes, count);
  else
    write_text(out, boxes, count);
  output_close(out);
}

/* ---- what was written -------------------------------------------------------------------------------------------- */

static void tell_json(output *out, const box_request *request, const char *path, uint32_t count) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "kind", "boxes");
  gz_json_text(&writer, "boxes_kind", scenes_box_kind_name(request->kind));
  gz_json_integer(&writer, "size", request->size);
  gz_json_integer(&writer, "seed", request->seed);
  gz_json_integer(&writer, "step", request->step);
  gz_json_double(&writer, "speed", request->speed);
  gz_json_open(&writer, "files", '[');
  gz_json_text(&writer, NULL, path);
  gz_json_close(&writer);
  gz_json_integer(&writer, "boxes", count);
  gz_json_end(&writer);
}

static void tell(const box_request *request, const common_options *common, uint32_t count) {
  static const table_column columns[] = {{"file", true}, {"boxes", false}};
  output *out = output_open(NULL);
  table rows = table_begin(columns, 2);
  table_text(&rows, common->output);
  table_integer(&rows, count);
  switch (common->format) {
    case format_text:
      table_write_text(&rows, out);
      break;
    case format_json:
      tell_json(out, request, common->output, count);
      break;
    case format_csv:
      table_write_csv(&rows, out);
      break;
  }
  table_free(&rows);
  output_close(out);
}

int make_boxes(const box_request *request, const common_options *common) {
  scenes_boxes made;
  if (!scenes_boxes_make(request->kind, request->size, request->seed, &made)) fail_out_of_memory();
  float *boxes = malloc(6 * (size_t)made.count * sizeof *boxes);
  if (!boxes) fail_out_of_memory();
  scenes_boxes_at(&made, request->speed, request->step, boxes);
  write_file(common->output, boxes, made.count);
  tell(request, common, made.count);
  free(boxes);
  scenes_boxes_free(&made);
  return exit_clear;
}
