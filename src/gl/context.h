/* gl/context.h: an OpenGL 4.5 core context without a window, a display server or a link-time dependency. */
#ifndef GRAZE_SRC_GL_CONTEXT_H
#define GRAZE_SRC_GL_CONTEXT_H

#include "gl/functions.h"
#include "graze/base.h"

/* Why something did not work; "" when it did. */
typedef struct gl_message {
  char text[384];
} gl_message;

typedef struct gl_request {
  const char *library; /* NULL: "libEGL.so.1" */
  bool software;       /* software devices only */
} gl_request;

typedef struct gl_context gl_context;

/* Makes a context on the first device that has OpenGL 4.5: hardware first, then software. `request` may be NULL.
 * Errors: UNSUPPORTED (no libEGL, no device, no OpenGL 4.5, or "opengl" stands in GRAZE_DISABLE; the message says
 * which), MEMORY. The context is not current. */
graze_status gz_gl_context_create(const graze_context *owner, const gl_request *request, gl_context **context,
                                  gl_message *message);
void gz_gl_context_destroy(gl_context *context);

/* The table of functions, to be called between gz_gl_begin and gz_gl_end only. */
const gl_functions *gz_gl_functions_of(const gl_context *context);

/* What renders, as the driver names it: "llvmpipe (LLVM 15.0.6, 256 bits)". */
const char *gz_gl_device(const gl_context *context);

/* Whether that is the processor, as far as the name tells. */
bool gz_gl_is_software(const gl_context *context);

/* Makes the context current on the calling thread, and gives the thread back the one it had. False: refused. */
bool gz_gl_begin(gl_context *context);
void gz_gl_end(gl_context *context);

/* OK, MEMORY, or UNSUPPORTED with a message, for all calls since the last time. */
graze_status gz_gl_check(const gl_context *context, gl_message *message);

#endif
