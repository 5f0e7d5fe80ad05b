/* The programs of the OpenGL device, each from several texts: the bounds that C has too, what all shaders share, and
 * the shader. */
#include "gl/program.h"
#include "visibility/opengl.h"
#include "visibility/texts.h"

static const char version[] = "#version 450 core\n";

static const char *prelude_of(const opengl_device *d) {
  return d->options.prelude != NULL ? d->options.prelude : "";
}

/* What is done at the pixels of small triangles, and the same of large ones. */
static bool build_visit(const opengl_device *d, const char *name, const char *visit, opengl_visit *made,
                        gl_message *message) {
  const char *bounds = gz_visibility_text_bounds, *prelude = prelude_of(d), *entries = gz_visibility_text_entries;
  const char *pixel = gz_visibility_text_pixel;
  const char *compute[] = {version, bounds, prelude, entries, pixel, visit, gz_visibility_text_small_comp};
  const char *vertex[] = {version, bounds, prelude, entries, gz_visibility_text_large_vert};
  const char *fragment[] = {version, bounds, prelude, pixel, visit, gz_visibility_text_large_frag};
  const gl_stage small = {GL_COMPUTE_SHADER, compute, 7};
  const gl_stage large[] = {{GL_VERTEX_SHADER, vertex, 5}, {GL_FRAGMENT_SHADER, fragment, 6}};
  made->small = gz_gl_program_of(d->gl, name, &small, 1, message);
  if (made->small != 0) made->large = gz_gl_program_of(d->gl, name, large, 2, message);
  return made->large != 0;
}

static bool build_centers(const opengl_device *d, const char *name, const char *own, GLuint *made,
                          gl_message *message) {
  const char *vertex[] = {version, gz_visibility_text_bounds, gz_visibility_text_entries,
                          gz_visibility_text_centers_vert};
  const char *fragment[] = {version, own};
  const gl_stage stages[] = {{GL_VERTEX_SHADER, vertex, 4}, {GL_FRAGMENT_SHADER, fragment, 2}};
  *made = gz_gl_program_of(d->gl, name, stages, 2, message);
  return *made != 0;
}

bool gz_opengl_programs_create(opengl_device *d, gl_message *message) {
  opengl_programs *p = &d->programs;
  return build_visit(d, "put", gz_visibility_text_put, &p->put, message) &&
         build_visit(d, "test", gz_visibility_text_test, &p->test, message) &&
         build_visit(d, "behind", gz_visibility_text_behind, &p->behind, message) &&
         build_centers(d, "centers put", gz_visibility_text_nothing_frag, &p->centers_put, message) &&
         build_centers(d, "centers test", gz_visibility_text_centers_test_frag, &p->centers_test, message);
}

void gz_opengl_programs_destroy(opengl_device *d) {
  const opengl_programs *p = &d->programs;
  const GLuint all[] = {p->put.small,    p->put.large,    p->test.small,  p->test.large,
                        p->behind.small, p->behind.large, p->centers_put, p->centers_test};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) d->gl->DeleteProgram(all[i]); /* 0 is ignored */
}
