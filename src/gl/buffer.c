/* Buffers on the device. Failures to allocate show in gz_gl_check. */
#include "gl/buffer.h"

GLuint gz_gl_buffer(const gl_functions *gl, const void *bytes, size_t size) {
  GLuint buffer = 0;
  gl->CreateBuffers(1, &buffer);
  gl->NamedBufferData(buffer, (GLsizeiptr)size, bytes, GL_STATIC_DRAW);
  return buffer;
}

void gz_gl_stream_fill(const gl_functions *gl, gl_stream *stream, const void *bytes, size_t size) {
  if (stream->buffer == 0) gl->CreateBuffers(1, &stream->buffer);
  if (stream->capacity < size || stream->capacity == 0) stream->capacity = size + size / 2 + 16;
  /* New storage each time: the draws before may still read the old one. */
  gl->NamedBufferData(stream->buffer, (GLsizeiptr)stream->capacity, NULL, GL_STREAM_DRAW);
  if (bytes != NULL) gl->NamedBufferSubData(stream->buffer, 0, (GLsizeiptr)size, bytes);
}

void gz_gl_stream_destroy(const gl_functions *gl, gl_stream *stream) {
  gl->DeleteBuffers(1, &stream->buffer);
  *stream = (gl_stream){0};
}

void gz_gl_texels_fill(const gl_functions *gl, gl_texels *texels, GLenum format, const void *bytes, size_t size) {
  if (texels->texture == 0) gl->CreateTextures(GL_TEXTURE_BUFFER, 1, &texels->texture);
  gz_gl_stream_fill(gl, &texels->stream, bytes, size);
  gl->TextureBuffer(texels->texture, format, texels->stream.buffer);
}

void gz_gl_texels_destroy(const gl_functions *gl, gl_texels *texels) {
  gl->DeleteTextures(1, &texels->texture);
  gz_gl_stream_destroy(gl, &texels->stream);
  texels->texture = 0;
}
