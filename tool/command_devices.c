/* graze devices: what can compute beside the processor, and what it is trusted with. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "diagnostics.h"
#include "graze/gpu.h"
#include "options.h"
#include "output.h"
#include "session.h"
#include "table.h"
#include "verbs.h"

typedef struct devices_run {
  session run;
  graze_gpu_info *list; /* a device that cannot be made ready has that as its flaw */
  uint32_t count;
  char missing[256]; /* which API has no device, and why */
} devices_run;

static error_t parse_devices(int key, char *argument, struct argp_state *state) {
  common_options *common = state->input;
  (void)argument;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = common;
      return 0;
    case ARGP_KEY_ARG:
      argp_error(state, "too many arguments");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

#ifdef GRAZE_HAVE_GPU
/* Why an API has no device is what comes of asking for one. */
static void explain_missing(devices_run *d) {
  static const char *const first[] = {[GRAZE_GPU_OPENCL] = "opencl:0", [GRAZE_GPU_CUDA] = "cuda:0"};
  for (size_t api = 0; api < sizeof first / sizeof *first; api++) {
    size_t used = strlen(d->missing);
    graze_gpu *gpu = NULL;
    bool listed = false;
    for (uint32_t i = 0; i < d->count; i++) listed |= (size_t)d->list[i].api == api;
    if (listed || graze_gpu_create(d->run.context, first[api], &gpu) == GRAZE_OK) continue;
    snprintf(d->missing + used, sizeof d->missing - used, "%s%s", used > 0 ? "; " : "",
             graze_last_error(d->run.context)->message);
  }
}

static void find_devices(devices_run *d) {
  graze_status status = graze_gpu_list(d->run.context, &d->list, &d->count);
  if (status != GRAZE_OK) session_fail(&d->run, NULL, status);
  for (uint32_t i = 0; i < d->count; i++) {
    graze_gpu *gpu = NULL;
    graze_gpu_info *info = &d->list[i];
    if (graze_gpu_create(d->run.context, info->id, &gpu) == GRAZE_OK)
      *info = *graze_gpu_get_info(gpu);
    else
      snprintf(info->flaw, sizeof info->flaw, "%.*s", (int)sizeof info->flaw - 1,
               graze_last_error(d->run.context)->message);
    graze_gpu_destroy(gpu);
  }
  explain_missing(d);
}

static void free_devices(devices_run *d) {
  graze_gpu_list_free(d->run.context, d->list, d->count);
}
#else
static void find_devices(devices_run *d) {
  snprintf(d->missing, sizeof d->missing, "this build has no engine for devices");
}

static void free_devices(devices_run *d) {
  (void)d;
}
#endif

static void write_json(output *out, const devices_run *d) {
  gz_json writer = gz_json_begin_result(out);
  gz_json_text(&writer, "status", "complete");
  gz_json_open(&writer, "devices", '[');
  for (uint32_t i = 0; i < d->count; i++) {
    const graze_gpu_info *info = &d->list[i];
    gz_json_open(&writer, NULL, '{');
    gz_json_text(&writer, "id", info->id);
    gz_json_text(&writer, "name", info->name);
    gz_json_text(&writer, "driver", info->driver);
    gz_json_integer(&writer, "units", info->units);
    gz_json_integer(&writer, "memory", info->memory);
    gz_json_integer(&writer, "largest_buffer", info->largest);
    gz_json_integer(&writer, "shared_bytes", info->shared_bytes);
    gz_json_bool(&writer, "exact", d->list[i].exact);
    if (!d->list[i].exact) gz_json_text(&writer, "flaw", d->list[i].flaw);
    gz_json_close(&writer);
  }
  gz_json_close(&writer);
  gz_json_text(&writer, "missing", d->missing);
  gz_json_end(&writer);
}

static void write_table(output *out, const devices_run *d, bool csv) {
  static const table_column columns[] = {{"id", true},     {"name", true},    {"driver", true},
                                         {"units", false}, {"memory", false}, {"largest_buffer", false},
                                         {"exact", true}};
  table rows = table_begin(columns, sizeof columns / sizeof columns[0]);
  for (uint32_t i = 0; i < d->count; i++) {
    table_text(&rows, d->list[i].id);
    table_text(&rows, d->list[i].name);
    table_text(&rows, d->list[i].driver);
    table_integer(&rows, d->list[i].units);
    table_integer(&rows, d->list[i].memory);
    table_integer(&rows, d->list[i].largest);
    table_text(&rows, d->list[i].exact ? "yes" : d->list[i].flaw);
  }
  (csv ? table_write_csv : table_write_text)(&rows, out);
  table_free(&rows);
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp devices_argp = {
    .parser = parse_devices,
    .children = children,
    .doc =
        "Lists the devices of OpenCL and CUDA, and whether their arithmetic is exact. Those whose is not are asked "
        "only what whole numbers decide."
        "\vExit: 0 listed, also when there is none; 2 usage error; 3 out of memory."};

int command_devices(int argc, char **argv) {
  common_options common = {0};
  devices_run d = {.count = 0};
  options_parse(&devices_argp, argc, argv, &common, &common);
  output *out = output_open(common.output);
  session_begin(&d.run, &common);
  find_devices(&d);
  if (common.format == format_json)
    write_json(out, &d);
  else if (d.count > 0 || common.format == format_csv)
    write_table(out, &d, common.format == format_csv);
  if (common.format == format_text && d.missing[0]) output_print(out, "%s%s\n", d.count > 0 ? "\n" : "", d.missing);
  output_close(out);
  free_devices(&d);
  session_end(&d.run);
  return exit_clear;
}
