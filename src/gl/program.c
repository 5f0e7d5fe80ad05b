/* Shader programs: a vertex and a fragment stage from source text. */
#include "gl/program.h"

#include <stdio.h>

static GLuint compile(const gl_functions *gl, GLenum stage, const char *name, const char *source, gl_message *message) {
  GLuint shader = gl->CreateShader(stage);
  GLint good = GL_FALSE;
  gl->ShaderSource(shader, 1, &source, NULL);
  gl->CompileShader(shader);
  gl->GetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good) return shader;
  int used = snprintf(message->text, sizeof message->text,
                      "%s shader \"%s\" does not compile: ", stage == GL_VERTEX_SHADER ? "vertex" : "fragment", name);
  if (used >= 0 && (size_t)used < sizeof message->text) {
    gl->GetShaderInfoLog(shader, (GLsizei)(sizeof message->text - (size_t)used), NULL, message->text + used);
  }
  gl->DeleteShader(shader);
  return 0;
}

static GLuint link(const gl_functions *gl, const char *name, GLuint vertex, GLuint fragment, gl_message *message) {
  GLuint program = gl->CreateProgram();
  GLint good = GL_FALSE;
  gl->AttachShader(program, vertex);
  gl->AttachShader(program, fragment);
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

GLuint gz_gl_program(const gl_functions *gl, const char *name, const char *vertex, const char *fragment,
                     gl_message *message) {
  message->text[0] = 0;
  GLuint first = compile(gl, GL_VERTEX_SHADER, name, vertex, message);
  if (first == 0) return 0;
  GLuint second = compile(gl, GL_FRAGMENT_SHADER, name, fragment, message);
  GLuint program = second != 0 ? link(gl, name, first, second, message) : 0;
  gl->DeleteShader(first); /* kept by the program as long as that lives; 0 is ignored */
  gl->DeleteShader(second);
  return program;
}
