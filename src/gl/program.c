/* Shader programs from source text. */
#include "gl/program.h"

#include <stdio.h>

static const char *name_of(GLenum kind) {
  return kind == GL_VERTEX_SHADER ? "vertex" : kind == GL_FRAGMENT_SHADER ? "fragment" : "compute";
}

static GLuint compile(const gl_functions *gl, const char *name, const gl_stage *stage, gl_message *message) {
  GLuint shader = gl->CreateShader(stage->kind);
  GLint good = GL_FALSE;
  gl->ShaderSource(shader, stage->count, stage->texts, NULL);
  gl->CompileShader(shader);
  gl->GetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good) return shader;
  int used =
      snprintf(message->text, sizeof message->text, "%s shader \"%s\" does not compile: ", name_of(stage->kind), name);
  if (used >= 0 && (size_t)used < sizeof message->text) {
    gl->GetShaderInfoLog(shader, (GLsizei)(sizeof message->text - (size_t)used), NULL, message->text + used);
  }
  gl->DeleteShader(shader);
  return 0;
}

static GLuint link(const gl_functions *gl, const char *name, GLuint program, gl_message *message) {
  GLint good = GL_FALSE;
  gl->LinkProgram(program);
  gl->GetProgramiv(program, GL_LINK_STATUS, &good);
  if (good) return program;
  int used = snprintf(message->text, sizeof message->text, "shaders \"%s\" do not link: ", name);
  if (used >= 0 && (size_t)used < sizeof message->text) {
    gl->GetProgramInfoLog(program, (GLsizei)(sizeof message->text - (size_t)used), NULL, message->text + used);
  }
  gl->DeleteProgram(program);
  return 0;
}

GLuint gz_gl_program_of(const gl_functions *gl, const char *name, const gl_stage *stages, int count,
                        gl_message *message) {
  GLuint program = gl->CreateProgram();
  message->text[0] = 0;
  for (int i = 0; i < count; i++) {
    GLuint shader = compile(gl, name, &stages[i], message);
    if (shader == 0) {
      gl->DeleteProgram(program);
      return 0;
    }
    gl->AttachShader(program, shader);
    gl->DeleteShader(shader); /* kept by the program as long as that lives */
  }
  return link(gl, name, program, message);
}

GLuint gz_gl_program(const gl_functions *gl, const char *name, const char *vertex, const char *fragment,
                     gl_message *message) {
  const gl_stage stages[] = {{GL_VERTEX_SHADER, &vertex, 1}, {GL_FRAGMENT_SHADER, &fragment, 1}};
  return gz_gl_program_of(gl, name, stages, 2, message);
}
