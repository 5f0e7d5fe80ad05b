/* Off-screen contexts by EGL. Devices are enumerated (EGL_EXT_device_enumeration, EGL_EXT_platform_device), as that
 * works alike on Mesa and on NVIDIA's driver and needs no display server; Mesa's surfaceless platform is the way out
 * where a driver has no devices. Drawing goes to framebuffer objects only, so contexts have no surface.
 *
 * The EGL display of a device is one for the whole process, whoever asks: it is left initialised, since ending it would
 * end other people's contexts on it. */
#include "gl/context.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/disable.h"
#include "base/owned.h"

enum { MAX_DEVICES = 32 };

#define EGL_FUNCTIONS(X)                  \
  X(BINDAPI, BindAPI)                     \
  X(CHOOSECONFIG, ChooseConfig)           \
  X(CREATECONTEXT, CreateContext)         \
  X(DESTROYCONTEXT, DestroyContext)       \
  X(GETCURRENTCONTEXT, GetCurrentContext) \
  X(GETCURRENTDISPLAY, GetCurrentDisplay) \
  X(GETCURRENTSURFACE, GetCurrentSurface) \
  X(GETERROR, GetError)                   \
  X(GETPROCADDRESS, GetProcAddress)       \
  X(INITIALIZE, Initialize)               \
  X(MAKECURRENT, MakeCurrent)             \
  X(QUERYAPI, QueryAPI)                   \
  X(QUERYSTRING, QueryString)

#define EGL_FIELD(TYPE, name) PFNEGL##TYPE##PROC name;
typedef struct egl_functions {
  EGL_FUNCTIONS(EGL_FIELD)
  PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplay;
  PFNEGLQUERYDEVICESEXTPROC QueryDevices;           /* NULL: no device enumeration */
  PFNEGLQUERYDEVICESTRINGEXTPROC QueryDeviceString; /* NULL likewise */
} egl_functions;
#undef EGL_FIELD

struct gl_context {
  void *library;
  egl_functions egl;
  gl_functions gl;
  EGLDisplay display;
  EGLContext handle;
  char device[128];
  /* what was current on the thread before gz_gl_begin */
  EGLenum other_api;
  EGLDisplay other_display;
  EGLSurface other_draw, other_read;
  EGLContext other_handle;
};

static graze_status refuse(gl_message *message, const char *reason, const char *detail) {
  snprintf(message->text, sizeof message->text, "%s%s%s", reason, detail[0] ? ": " : "", detail);
  return GRAZE_ERROR_UNSUPPORTED;
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises that the bits are the same. */
static void set_function(void *field, void *symbol) {
  memcpy(field, &symbol, sizeof symbol);
}

static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  while (words != NULL && *words) {
    size_t item = strcspn(words, " ");
    if (item == length && strncmp(words, word, length) == 0) return true;
    words += item;
    words += strspn(words, " ");
  }
  return false;
}

static graze_status load_egl(gl_context *c, const char *name, gl_message *message) {
  c->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (c->library == NULL) return refuse(message, "no EGL library (Debian: libegl1)", dlerror());
#define EGL_LOAD(TYPE, function)                                      \
  set_function(&c->egl.function, dlsym(c->library, "egl" #function)); \
  if (c->egl.function == NULL) return refuse(message, "the EGL library lacks a function", "egl" #function);
  EGL_FUNCTIONS(EGL_LOAD)
#undef EGL_LOAD
  const char *client = c->egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (!has_word(client, "EGL_EXT_platform_base")) {
    return refuse(message, "the EGL library cannot choose platforms", "no EGL_EXT_platform_base");
  }
  c->egl.GetPlatformDisplay = (PFNEGLGETPLATFORMDISPLAYEXTPROC)c->egl.GetProcAddress("eglGetPlatformDisplayEXT");
  bool device = has_word(client, "EGL_EXT_platform_device");
  if (device && (has_word(client, "EGL_EXT_device_base") || has_word(client, "EGL_EXT_device_enumeration"))) {
    c->egl.QueryDevices = (PFNEGLQUERYDEVICESEXTPROC)c->egl.GetProcAddress("eglQueryDevicesEXT");
    c->egl.QueryDeviceString = (PFNEGLQUERYDEVICESTRINGEXTPROC)c->egl.GetProcAddress("eglQueryDeviceStringEXT");
  }
  if (c->egl.GetPlatformDisplay == NULL) {
    return refuse(message, "the EGL library lacks a function", "eglGetPlatformDisplayEXT");
  }
  return GRAZE_OK;
}

static graze_status load_gl(gl_context *c, gl_message *message) {
#define GL_LOAD(TYPE, function)                                              \
  c->gl.function = (PFNGL##TYPE##PROC)c->egl.GetProcAddress("gl" #function); \
  if (c->gl.function == NULL) return refuse(message, "OpenGL lacks a function", "gl" #function);
  GL_FUNCTIONS(GL_LOAD)
#undef GL_LOAD
  const GLubyte *device = c->gl.GetString(GL_RENDERER);
  snprintf(c->device, sizeof c->device, "%s", device != NULL ? (const char *)device : "unnamed device");
  return GRAZE_OK;
}

/* A context of the display, tried out once. On failure nothing of it is left. */
static graze_status open_display(gl_context *c, EGLDisplay display, gl_message *message) {
  const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           4,       EGL_CONTEXT_MINOR_VERSION, 5, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  EGLConfig config;
  EGLint count = 0;
  c->display = display;
  if (display == EGL_NO_DISPLAY || !c->egl.Initialize(display, NULL, NULL)) {
    return refuse(message, "EGL cannot use the device", "");
  }
  if (!has_word(c->egl.QueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context")) {
    return refuse(message, "the device cannot draw without a surface", "no EGL_KHR_surfaceless_context");
  }
  if (!c->egl.BindAPI(EGL_OPENGL_API) || !c->egl.ChooseConfig(display, wanted, &config, 1, &count) || count < 1) {
    return refuse(message, "the device has no desktop OpenGL", "");
  }
  c->handle = c->egl.CreateContext(display, config, EGL_NO_CONTEXT, version);
  if (c->handle == EGL_NO_CONTEXT) return refuse(message, "the device has no OpenGL 4.5", "");
  graze_status status = GRAZE_OK;
  if (!gz_gl_begin(c)) {
    status = refuse(message, "the device's OpenGL context cannot be made current", "");
  } else {
    status = load_gl(c, message);
    gz_gl_end(c);
  }
  if (status != GRAZE_OK) {
    c->egl.DestroyContext(display, c->handle);
    c->handle = EGL_NO_CONTEXT;
  }
  return status;
}

/* Every device of the kind, in the order of the system, until one works. */
static graze_status open_devices(gl_context *c, bool software, gl_message *message) {
  EGLDeviceEXT devices[MAX_DEVICES];
  EGLint count = 0;
  if (c->egl.QueryDevices == NULL || c->egl.QueryDeviceString == NULL) return GRAZE_ERROR_UNSUPPORTED;
  if (!c->egl.QueryDevices(MAX_DEVICES, devices, &count)) return GRAZE_ERROR_UNSUPPORTED;
  for (EGLint i = 0; i < count; i++) {
    const char *words = c->egl.QueryDeviceString(devices[i], EGL_EXTENSIONS);
    if (has_word(words, "EGL_MESA_device_software") != software) continue;
    EGLDisplay display = c->egl.GetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
    if (open_display(c, display, message) == GRAZE_OK) return GRAZE_OK;
  }
  return GRAZE_ERROR_UNSUPPORTED;
}

static graze_status open_surfaceless(gl_context *c, gl_message *message) {
  if (!has_word(c->egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS), "EGL_MESA_platform_surfaceless")) {
    return GRAZE_ERROR_UNSUPPORTED;
  }
  EGLDisplay display = c->egl.GetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  return open_display(c, display, message);
}

graze_status gz_gl_context_create(const graze_context *owner, const gl_request *request, gl_context **context,
                                  gl_message *message) {
  message->text[0] = 0;
  if (is_disabled("opengl")) return refuse(message, "OpenGL is switched off by GRAZE_DISABLE", "");
  gl_context *c = gz_new_zeroed(owner, 1, sizeof *c);
  if (c == NULL) {
    refuse(message, "out of memory", "");
    return GRAZE_ERROR_MEMORY;
  }
  const char *library = request != NULL && request->library != NULL ? request->library : "libEGL.so.1";
  bool software = request != NULL && request->software;
  graze_status status = load_egl(c, library, message);
  if (status == GRAZE_OK) {
    refuse(message, "EGL has no device (Debian: libgl1-mesa-dri has one in software)", "");
    status = software ? GRAZE_ERROR_UNSUPPORTED : open_devices(c, false, message);
    if (status != GRAZE_OK) status = open_devices(c, true, message);
    if (status != GRAZE_OK) status = open_surfaceless(c, message);
  }
  if (status != GRAZE_OK) {
    gz_gl_context_destroy(c);
    return status;
  }
  message->text[0] = 0;
  *context = c;
  return GRAZE_OK;
}

/* The library stays loaded: drivers register work for the end of the process. */
void gz_gl_context_destroy(gl_context *context) {
  if (context == NULL) return;
  if (context->handle != EGL_NO_CONTEXT) context->egl.DestroyContext(context->display, context->handle);
  gz_free(context);
}

const gl_functions *gz_gl_functions_of(const gl_context *context) {
  return &context->gl;
}

const char *gz_gl_device(const gl_context *context) {
  return context->device;
}

bool gz_gl_is_software(const gl_context *context) {
  return strncmp(context->device, "llvmpipe", 8) == 0 || strncmp(context->device, "softpipe", 8) == 0;
}

bool gz_gl_begin(gl_context *context) {
  const egl_functions *egl = &context->egl;
  context->other_api = egl->QueryAPI();
  if (!egl->BindAPI(EGL_OPENGL_API)) return false;
  context->other_display = egl->GetCurrentDisplay();
  context->other_draw = egl->GetCurrentSurface(EGL_DRAW);
  context->other_read = egl->GetCurrentSurface(EGL_READ);
  context->other_handle = egl->GetCurrentContext();
  return egl->MakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, context->handle);
}

void gz_gl_end(gl_context *context) {
  const egl_functions *egl = &context->egl;
  if (context->other_handle != EGL_NO_CONTEXT) {
    egl->MakeCurrent(context->other_display, context->other_draw, context->other_read, context->other_handle);
  } else {
    egl->MakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }
  egl->BindAPI(context->other_api);
}

graze_status gz_gl_check(const gl_context *context, gl_message *message) {
  GLenum first = context->gl.GetError();
  message->text[0] = 0;
  if (first == GL_NO_ERROR) return GRAZE_OK;
  /* A lost context reports the same error for ever. */
  for (int i = 0; i < 16 && context->gl.GetError() != GL_NO_ERROR; i++) continue;
  if (first == GL_OUT_OF_MEMORY) {
    refuse(message, "the graphics device is out of memory", "");
    return GRAZE_ERROR_MEMORY;
  }
  snprintf(message->text, sizeof message->text, "the graphics device failed (OpenGL error 0x%04x)", first);
  return GRAZE_ERROR_UNSUPPORTED;
}
