/* gl/buffer.h: buffers on the device. */
#ifndef GRAZE_SRC_GL_BUFFER_H
#define GRAZE_SRC_GL_BUFFER_H

#include "gl/context.h"

/* A buffer that holds a copy of the bytes for good. */
GLuint gz_gl_buffer(const gl_functions *gl, const void *bytes, size_t size);

/* A buffer that is filled anew for every draw, and grows. Start from {0}. */
typedef struct gl_stream {
  GLuint buffer;
  size_t capacity;
} gl_stream;

void gz_gl_stream_fill(const gl_functions *gl, gl_stream *stream, const void *bytes, size_t size);
void gz_gl_stream_destroy(const gl_functions *gl, gl_stream *stream);

#endif
