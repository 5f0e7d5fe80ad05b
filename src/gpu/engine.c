/* What is asked of a device from outside: the device first, and the processor for whatever it cannot do, with a
 * warning. Answers are the same bytes either way. */
#include <stdio.h>
#include <string.h>

#include "gpu/boxes.h"

static void warn(const graze_gpu *gpu, const char *reason) {
  char line[256];
  if (gpu->context->log == NULL) return;
  snprintf(line, sizeof line, "%s: %s; the processor does it", gpu->info.id, reason);
  gpu->context->log(gpu->context->log_user, GRAZE_LOG_WARNING, line);
}

void gpu_release_engines(graze_gpu *gpu) {
  if (gpu->boxes != NULL && gpu->state != NULL) gpu_boxes_release(gpu, gpu->boxes);
  memory_release(gpu->context, gpu->boxes, sizeof *gpu->boxes);
  graze_broadphase_destroy(gpu->broad);
  gpu->boxes = NULL;
  gpu->broad = NULL;
}

/* Errors of the driver are reported where they happen; here they are no more than a reason. */
static const char *reason_for(graze_status status) {
  return status == GRAZE_ERROR_MEMORY ? "no memory on the device" : "the device failed";
}

static graze_status find_on_processor(graze_gpu *gpu, const graze_box_array *boxes, uint32_t count, bool unsorted,
                                      const graze_box_pair **pairs, uint64_t *pair_count) {
  graze_status status = GRAZE_OK;
  if (gpu->broad == NULL) status = graze_broadphase_create(gpu->context, NULL, &gpu->broad);
  return status != GRAZE_OK ? status : graze_broadphase_find(gpu->broad, boxes, count, unsorted, pairs, pair_count);
}

/* Why the device is not asked at all; NULL: it is. */
static const char *reason_against(const graze_gpu *gpu, const graze_box_array *boxes, uint32_t count) {
  if (gpu->lost) return "the device was lost";
  if (boxes->precision == GRAZE_DOUBLE && !gpu->info.doubles) return "the device has no doubles";
  if (count > (uint32_t)1 << 31) return "more than 2^31 boxes";
  return NULL;
}

graze_status graze_gpu_find(graze_gpu *gpu, const graze_box_array *boxes, uint32_t count, bool unsorted,
                            const graze_box_pair **pairs, uint64_t *pair_count) {
  if (gpu == NULL || boxes == NULL || pairs == NULL || pair_count == NULL || (boxes->data == NULL && count > 0)) {
    return GRAZE_ERROR_ARGUMENT;
  }
  if (boxes->precision != GRAZE_FLOAT && boxes->precision != GRAZE_DOUBLE) return GRAZE_ERROR_ARGUMENT;
  if (gpu->boxes == NULL) {
    gpu->boxes = memory_alloc(gpu->context, sizeof *gpu->boxes);
    if (gpu->boxes == NULL) return report_memory(gpu->context, sizeof *gpu->boxes);
    memset(gpu->boxes, 0, sizeof *gpu->boxes);
  }
  const char *reason = reason_against(gpu, boxes, count);
  graze_status status = GRAZE_OK;
  if (reason == NULL) {
    status = gpu_boxes_find(gpu, gpu->boxes, boxes, count, unsorted);
    if (status == GRAZE_OK) {
      const gpu_boxes *b = gpu->boxes;
      gpu->report = (graze_gpu_report){
          .on_device = true, .upload = b->upload, .compute = b->compute, .download = b->download, .bytes = gpu->bytes};
      *pairs = b->result.data;
      *pair_count = b->found;
      return GRAZE_OK;
    }
    reason = status == GRAZE_ERROR_ARGUMENT ? "" : reason_for(status); /* of bad boxes the processor tells */
  }
  if (reason[0] != 0) warn(gpu, reason);
  gpu->report = (graze_gpu_report){.bytes = gpu->bytes};
  snprintf(gpu->report.reason, sizeof gpu->report.reason, "%s", reason);
  return find_on_processor(gpu, boxes, count, unsorted, pairs, pair_count);
}

const graze_gpu_report *graze_gpu_get_report(const graze_gpu *gpu) {
  return &gpu->report;
}
