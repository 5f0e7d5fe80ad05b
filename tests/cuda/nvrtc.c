/* The stand-in for NVRTC, a libnvrtc.so. It looks at a text as far as a test can want it to, whether it has kernels and
 * whether the options are there that exactness rests on, and makes "PTX" that says of which module it is: the stand-in
 * for the driver has that module as C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda_driver.h"
#include "stand_in.h"

#define EXPORTED                            __attribute__((visibility("default")))
#define DECLARE(name, function, parameters) EXPORTED cu_result function parameters;
NVRTC_FUNCTIONS(DECLARE)
#undef DECLARE
EXPORTED void stand_in_nvrtc(const char *function, uint64_t call, int newest);

enum { NVRTC_MEMORY = 1, NVRTC_INPUT = 3, NVRTC_PROGRAM = 4, NVRTC_OPTION = 5, NVRTC_COMPILATION = 6 };

struct _nvrtcProgram {
  char *text, *name;
  char ptx[256], log[2048]; /* "": not made */
};

static char fail_function[64];
static uint64_t fail_call;
static int newest_known = 120;

EXPORTED void stand_in_nvrtc(const char *function, uint64_t call, int newest) {
  snprintf(fail_function, sizeof fail_function, "%s", function);
  fail_call = call;
  newest_known = newest;
}

static int fails(const char *function) {
  return fail_call > 0 && strcmp(fail_function, function) == 0 && --fail_call == 0;
}

cu_result nvrtcCreateProgram(nvrtc_program *program, const char *text, const char *name, int headers,
                             const char *const *texts, const char *const *names) {
  if (headers != 0 || texts != NULL || names != NULL || text == NULL || name == NULL) return NVRTC_INPUT;
  nvrtc_program made = fails("nvrtcCreateProgram") ? NULL : calloc(1, sizeof *made);
  if (made == NULL) return NVRTC_MEMORY;
  made->text = strdup(text);
  made->name = strdup(name);
  *program = made;
  return 0;
}

cu_result nvrtcDestroyProgram(nvrtc_program *program) {
  if (program == NULL || *program == NULL) return NVRTC_PROGRAM;
  free((*program)->text);
  free((*program)->name);
  free(*program);
  *program = NULL;
  return fails("nvrtcDestroyProgram") ? NVRTC_PROGRAM : 0;
}

/* What an option is; false: nothing that is known. */
static int take_option(const char *option, int *architecture, int *unfused, int *shuffles) {
  if (strcmp(option, "--fmad=false") == 0) return *unfused = 1;
  if (strcmp(option, "--define-macro=GRAZE_SHUFFLE") == 0) return *shuffles = 1;
  if (strcmp(option, "--std=c++17") == 0) return 1;
  return sscanf(option, "--gpu-architecture=compute_%d", architecture) == 1;
}

/* As long as those of a compiler are, with what is wrong first. */
static cu_result refuse(nvrtc_program program, cu_result code, const char *what) {
  int n = snprintf(program->log, sizeof program->log, "%s(1): error: %s\n", program->name, what);
  memset(program->log + n, '.', sizeof program->log - 1 - (size_t)n);
  return code;
}

cu_result nvrtcCompileProgram(nvrtc_program program, int count, const char *const *options) {
  int architecture = 52, unfused = 0, shuffles = 0;
  for (int i = 0; i < count; i++) {
    if (!take_option(options[i], &architecture, &unfused, &shuffles))
      return refuse(program, NVRTC_OPTION, "unrecognized option");
  }
  if (architecture > newest_known) return refuse(program, NVRTC_OPTION, "invalid value for --gpu-architecture");
  if (!unfused) return refuse(program, NVRTC_COMPILATION, "products and sums would be rounded together");
  if (strstr(program->text, "__global__") == NULL) return refuse(program, NVRTC_COMPILATION, "no kernels");
  if (fails("nvrtcCompileProgram")) return refuse(program, NVRTC_COMPILATION, "made to fail");
  snprintf(program->ptx, sizeof program->ptx,
           "// stand-in: module %s %s\n\n.version 7.0\n.target sm_%d\n.address_size 64\n", program->name,
           shuffles ? "shuffles" : "plain", architecture);
  return 0;
}

cu_result nvrtcGetPTXSize(nvrtc_program program, size_t *size) {
  *size = strlen(program->ptx) + 1;
  return program->ptx[0] == 0 || fails("nvrtcGetPTXSize") ? NVRTC_PROGRAM : 0;
}

cu_result nvrtcGetPTX(nvrtc_program program, char *ptx) {
  if (program->ptx[0] == 0 || fails("nvrtcGetPTX")) return NVRTC_PROGRAM;
  strcpy(ptx, program->ptx);
  return 0;
}

cu_result nvrtcGetProgramLogSize(nvrtc_program program, size_t *size) {
  *size = strlen(program->log) + 1;
  return fails("nvrtcGetProgramLogSize") ? NVRTC_PROGRAM : 0;
}

cu_result nvrtcGetProgramLog(nvrtc_program program, char *log) {
  strcpy(log, program->log);
  return fails("nvrtcGetProgramLog") ? NVRTC_PROGRAM : 0;
}
