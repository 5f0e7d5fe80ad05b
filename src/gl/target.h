/* gl/target.h: framebuffers to draw into: one colour texture, and one of depth that shaders can read. */
#ifndef GRAZE_SRC_GL_TARGET_H
#define GRAZE_SRC_GL_TARGET_H

#include "gl/context.h"

typedef struct gl_target {
  GLuint framebuffer;
  GLuint colour; /* RGBA8 */
  GLuint depth;  /* 32-bit float; 0 = none */
  uint32_t width, height;
} gl_target;

/* `samples` 1: plain textures, else multisampled ones. False: the device refused; the message says what. Start from
 * {0}; destroy also after a failure. */
bool gz_gl_target_create(const gl_functions *gl, uint32_t width, uint32_t height, uint32_t samples, bool depth,
                         gl_target *target, gl_message *message);
void gz_gl_target_destroy(const gl_functions *gl, gl_target *target);

/* Draws go to the target, to all of it. */
void gz_gl_target_use(const gl_functions *gl, const gl_target *target);
void gz_gl_target_clear(const gl_functions *gl, const gl_target *target, const float colour[4], float depth);

/* RGBA bytes, rows in the order of the window coordinates; waits for the device. `pixels`: 4 * width * height. */
void gz_gl_target_read(const gl_functions *gl, const gl_target *target, uint8_t *pixels);

#endif
