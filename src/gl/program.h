/* gl/program.h: shader programs. */
#ifndef GRAZE_SRC_GL_PROGRAM_H
#define GRAZE_SRC_GL_PROGRAM_H

#include "gl/context.h"

/* Compiles and links; 0 with the compiler's first lines in the message when that fails. `name` goes into it. */
GLuint gz_gl_program(const gl_functions *gl, const char *name, const char *vertex, const char *fragment,
                     gl_message *message);

/* The same of any stages, each from texts that are read one after the other. */
typedef struct gl_stage {
  GLenum kind; /* GL_COMPUTE_SHADER ... */
  const char *const *texts;
  GLsizei count;
} gl_stage;

GLuint gz_gl_program_of(const gl_functions *gl, const char *name, const gl_stage *stages, int count,
                        gl_message *message);

#endif
