/* The engine of a session: a device for whatever the context's calls ask of it. */
#include "diagnostics.h"
#include "load.h"
#ifdef GRAZE_HAVE_GPU
#include "graze/gpu.h"

void session_attach(session *run, const common_options *common) {
  bool choosing = common->engine == engine_auto;
  if (common->engine != engine_gpu && !choosing) return;
  graze_status status = graze_gpu_create(run->context, common->device, &run->gpu);
  if (status == GRAZE_OK) status = graze_gpu_attach(run->gpu, choosing ? GRAZE_GPU_WHERE_FASTER : GRAZE_GPU_ALWAYS);
  if (status != GRAZE_OK && !choosing) session_fail(run, NULL, status);
  if (status != GRAZE_OK) {
    note("%s; the processor does it all", run->message[0] ? run->message : graze_status_string(status));
    run->message[0] = 0; /* it is no error */
  }
  run->tells = choosing;
}

void session_detach(session *run) {
  graze_gpu_destroy(run->gpu);
  run->gpu = NULL;
}

const char *session_engine(const session *run) {
  return graze_gpu_answered(run->gpu) > 0 ? "gpu" : "cpu";
}
#else
void session_attach(session *run, const common_options *common) {
  (void)run;
  if (common->engine == engine_auto) note("this build has no engine for devices; the processor does it all");
}

void session_detach(session *run) {
  (void)run;
}

const char *session_engine(const session *run) {
  (void)run;
  return "cpu";
}
#endif
