/* gl/target.h: framebuffers to draw into: a colour texture, one of depth that shaders can read, both, or nothing. */
#ifndef GRAZE_SRC_GL_TARGET_H
#define GRAZE_SRC_GL_TARGET_H

#include "gl/context.h"

typedef struct gl_target {
  GLuint framebuffer;
  GLuint colour; /* RGBA8; 0 = none */
  GLuint depth;  /* 32-bit float; 0 = none */
  uint32_t width, height;
} gl_target;

/* `samples` 1: plain textures, else multisampled ones. False: the device refused; the message says what. Start from
 * {0}; destroy also after a failure. */
bool gz_gl_target_create(const gl_functions *gl, uint32_t width, uint32_t height, uint32_t samples, bool depth,
                         gl_target *target, gl_message *message);

/* One without colour, for shaders that write elsewhere. Without depth it has no attachments at all. */
bool gz_gl_target_create_bare(const gl_functions *gl, uint32_t width, uint32_t height, bool depth, gl_target *target,
                              gl_message *message);

void gz_gl_target_destroy(const gl_functions *gl, gl_target *target);

/* Draws go to the target, to all of it. */
void gz_gl_target_use(const gl_functions *gl, const gl_target *target);

/* Clears what is there, as far as the masks let it be written. `colour` may be NULL where there is none. */
void gz_gl_target_clear(const gl_functions *gl, const gl_target *target, const float colour[4], float depth);

/* RGBA bytes, rows in the order of the window coordinates; waits for the device. `pixels`: 4 * width * height. */
void gz_gl_target_read(const gl_functions *gl, const gl_target *target, uint8_t *pixels);

/* The same of depth, a float a pixel. */
void gz_gl_target_read_depth(const gl_functions *gl, const gl_target *target, float *depth);

#endif
