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

/* With `bytes` NULL it only makes room for them. */
void gz_gl_stream_fill(const gl_functions *gl, gl_stream *stream, const void *bytes, size_t size);
void gz_gl_stream_destroy(const gl_functions *gl, gl_stream *stream);

/* The same as an array of texels, which shaders read as a buffer texture or change as an image. Start from {0}. */
typedef struct gl_texels {
  gl_stream stream;
  GLuint texture;
} gl_texels;

void gz_gl_texels_fill(const gl_functions *gl, gl_texels *texels, GLenum format, const void *bytes, size_t size);
void gz_gl_texels_destroy(const gl_functions *gl, gl_texels *texels);

#endif
