/* Framebuffers whose depth is a 32-bit float texture: with depth = near / distance and 0 for "infinitely far" that
 * keeps its precision at every distance, and shaders can compare with it. */
#include "gl/target.h"

#include <stdio.h>

static GLuint make_texture(const gl_functions *gl, GLenum format, uint32_t width, uint32_t height, uint32_t samples) {
  GLuint texture = 0;
  if (samples > 1) {
    gl->CreateTextures(GL_TEXTURE_2D_MULTISAMPLE, 1, &texture);
    gl->TextureStorage2DMultisample(texture, (GLsizei)samples, format, (GLsizei)width, (GLsizei)height, GL_TRUE);
    return texture;
  }
  gl->CreateTextures(GL_TEXTURE_2D, 1, &texture);
  gl->TextureStorage2D(texture, 1, format, (GLsizei)width, (GLsizei)height);
  gl->TextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl->TextureParameteri(texture, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return texture;
}

static void add_depth(const gl_functions *gl, gl_target *target, uint32_t samples) {
  target->depth = make_texture(gl, GL_DEPTH_COMPONENT32F, target->width, target->height, samples);
  gl->NamedFramebufferTexture(target->framebuffer, GL_DEPTH_ATTACHMENT, target->depth, 0);
}

static bool is_complete(const gl_functions *gl, const gl_target *target, uint32_t samples, gl_message *message) {
  if (gl->CheckNamedFramebufferStatus(target->framebuffer, GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) return true;
  snprintf(message->text, sizeof message->text, "the graphics device cannot draw %u x %u pixels of %u samples",
           target->width, target->height, samples);
  return false;
}

bool gz_gl_target_create(const gl_functions *gl, uint32_t width, uint32_t height, uint32_t samples, bool depth,
                         gl_target *target, gl_message *message) {
  target->width = width;
  target->height = height;
  gl->CreateFramebuffers(1, &target->framebuffer);
  target->colour = make_texture(gl, GL_RGBA8, width, height, samples);
  gl->NamedFramebufferTexture(target->framebuffer, GL_COLOR_ATTACHMENT0, target->colour, 0);
  if (depth) add_depth(gl, target, samples);
  return is_complete(gl, target, samples, message);
}

bool gz_gl_target_create_bare(const gl_functions *gl, uint32_t width, uint32_t height, bool depth, gl_target *target,
                              gl_message *message) {
  target->width = width;
  target->height = height;
  gl->CreateFramebuffers(1, &target->framebuffer);
  if (depth) {
    add_depth(gl, target, 1);
  } else {
    gl->NamedFramebufferParameteri(target->framebuffer, GL_FRAMEBUFFER_DEFAULT_WIDTH, (GLint)width);
    gl->NamedFramebufferParameteri(target->framebuffer, GL_FRAMEBUFFER_DEFAULT_HEIGHT, (GLint)height);
  }
  return is_complete(gl, target, 1, message);
}

void gz_gl_target_destroy(const gl_functions *gl, gl_target *target) {
  gl->DeleteFramebuffers(1, &target->framebuffer);
  gl->DeleteTextures(1, &target->colour);
  gl->DeleteTextures(1, &target->depth);
  *target = (gl_target){0};
}

void gz_gl_target_use(const gl_functions *gl, const gl_target *target) {
  gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
  gl->Viewport(0, 0, (GLsizei)target->width, (GLsizei)target->height);
}

void gz_gl_target_clear(const gl_functions *gl, const gl_target *target, const float colour[4], float depth) {
  if (target->colour != 0) gl->ClearNamedFramebufferfv(target->framebuffer, GL_COLOR, 0, colour);
  if (target->depth != 0) gl->ClearNamedFramebufferfv(target->framebuffer, GL_DEPTH, 0, &depth);
}

void gz_gl_target_read(const gl_functions *gl, const gl_target *target, uint8_t *pixels) {
  gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
  gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl->ReadPixels(0, 0, (GLsizei)target->width, (GLsizei)target->height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

void gz_gl_target_read_depth(const gl_functions *gl, const gl_target *target, float *depth) {
  gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
  gl->PixelStorei(GL_PACK_ALIGNMENT, 4);
  gl->ReadPixels(0, 0, (GLsizei)target->width, (GLsizei)target->height, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
}
