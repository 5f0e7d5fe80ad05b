#include "loaded.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

loaded_driver cu;
const stand_in *control;
void (*control_nvrtc)(const char *function, uint64_t call, int newest);

/* The address of a function, which ISO C does not let a void pointer be. */
static bool find(void *library, const char *name, void *to) {
  void *found = library != NULL ? dlsym(library, name) : NULL;
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

bool load_stand_in(void) {
  const stand_in *(*get)(void);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const char *why = driver == NULL ? dlerror() : "another driver";
  if (!find(driver, "stand_in_control", &get)) {
    printf("SKIPPED: libcuda.so.1 is not the stand-in of the tests: %s\n", why);
    return false;
  }
  bool whole = true;
#define FIND(name, function, parameters) whole = find(driver, #function, &cu.name) && whole;
  CU_FUNCTIONS(FIND)
#undef FIND
  find(dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL), "stand_in_nvrtc", &control_nvrtc);
  control = get();
  return whole;
}
