/* gl/program.h: shader programs. */
#ifndef GRAZE_SRC_GL_PROGRAM_H
#define GRAZE_SRC_GL_PROGRAM_H

#include "gl/context.h"

/* Compiles and links; 0 with the compiler's first lines in the message when that fails. `name` goes into it. */
GLuint gz_gl_program(const gl_functions *gl, const char *name, const char *vertex, const char *fragment,
                     gl_message *message);

#endif
