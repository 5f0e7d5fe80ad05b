/* gl/functions.h: the OpenGL functions that the project uses, as a table that is filled at run time.
 *
 * One list makes the table and the code that fills it. Adding a function is adding its name here, once in the
 * capitals of its type in glcorearb.h and once as it is called.
 */
#ifndef GRAZE_SRC_GL_FUNCTIONS_H
#define GRAZE_SRC_GL_FUNCTIONS_H

#include <GL/glcorearb.h>

#define GL_FUNCTIONS(X)                                       \
  X(ATTACHSHADER, AttachShader)                               \
  X(BEGINQUERY, BeginQuery)                                   \
  X(BINDBUFFER, BindBuffer)                                   \
  X(BINDBUFFERBASE, BindBufferBase)                           \
  X(BINDFRAMEBUFFER, BindFramebuffer)                         \
  X(BINDIMAGETEXTURE, BindImageTexture)                       \
  X(BINDTEXTUREUNIT, BindTextureUnit)                         \
  X(BINDVERTEXARRAY, BindVertexArray)                         \
  X(BLENDFUNC, BlendFunc)                                     \
  X(CHECKNAMEDFRAMEBUFFERSTATUS, CheckNamedFramebufferStatus) \
  X(CLEARNAMEDBUFFERSUBDATA, ClearNamedBufferSubData)         \
  X(CLEARNAMEDFRAMEBUFFERFV, ClearNamedFramebufferfv)         \
  X(CLIPCONTROL, ClipControl)                                 \
  X(COLORMASK, ColorMask)                                     \
  X(COMPILESHADER, CompileShader)                             \
  X(CREATEBUFFERS, CreateBuffers)                             \
  X(CREATEFRAMEBUFFERS, CreateFramebuffers)                   \
  X(CREATEPROGRAM, CreateProgram)                             \
  X(CREATEQUERIES, CreateQueries)                             \
  X(CREATESHADER, CreateShader)                               \
  X(CREATETEXTURES, CreateTextures)                           \
  X(CREATEVERTEXARRAYS, CreateVertexArrays)                   \
  X(DELETEBUFFERS, DeleteBuffers)                             \
  X(DELETEFRAMEBUFFERS, DeleteFramebuffers)                   \
  X(DELETEPROGRAM, DeleteProgram)                             \
  X(DELETEQUERIES, DeleteQueries)                             \
  X(DELETESHADER, DeleteShader)                               \
  X(DELETETEXTURES, DeleteTextures)                           \
  X(DELETEVERTEXARRAYS, DeleteVertexArrays)                   \
  X(DEPTHFUNC, DepthFunc)                                     \
  X(DEPTHMASK, DepthMask)                                     \
  X(DISABLE, Disable)                                         \
  X(DISPATCHCOMPUTE, DispatchCompute)                         \
  X(DRAWARRAYS, DrawArrays)                                   \
  X(DRAWARRAYSINDIRECT, DrawArraysIndirect)                   \
  X(DRAWARRAYSINSTANCED, DrawArraysInstanced)                 \
  X(ENABLE, Enable)                                           \
  X(ENABLEVERTEXARRAYATTRIB, EnableVertexArrayAttrib)         \
  X(ENDQUERY, EndQuery)                                       \
  X(GETERROR, GetError)                                       \
  X(GETINTEGERV, GetIntegerv)                                 \
  X(GETNAMEDBUFFERSUBDATA, GetNamedBufferSubData)             \
  X(GETPROGRAMINFOLOG, GetProgramInfoLog)                     \
  X(GETPROGRAMIV, GetProgramiv)                               \
  X(GETQUERYOBJECTUI64V, GetQueryObjectui64v)                 \
  X(GETSHADERINFOLOG, GetShaderInfoLog)                       \
  X(GETSHADERIV, GetShaderiv)                                 \
  X(GETSTRING, GetString)                                     \
  X(GETUNIFORMLOCATION, GetUniformLocation)                   \
  X(LINKPROGRAM, LinkProgram)                                 \
  X(MEMORYBARRIER, MemoryBarrier)                             \
  X(MULTIDRAWELEMENTSINDIRECT, MultiDrawElementsIndirect)     \
  X(NAMEDBUFFERDATA, NamedBufferData)                         \
  X(NAMEDBUFFERSUBDATA, NamedBufferSubData)                   \
  X(NAMEDFRAMEBUFFERPARAMETERI, NamedFramebufferParameteri)   \
  X(NAMEDFRAMEBUFFERTEXTURE, NamedFramebufferTexture)         \
  X(PIXELSTOREI, PixelStorei)                                 \
  X(POLYGONOFFSET, PolygonOffset)                             \
  X(PROGRAMUNIFORM1F, ProgramUniform1f)                       \
  X(PROGRAMUNIFORM1I, ProgramUniform1i)                       \
  X(PROGRAMUNIFORM1UI, ProgramUniform1ui)                     \
  X(PROGRAMUNIFORM2F, ProgramUniform2f)                       \
  X(PROGRAMUNIFORM3F, ProgramUniform3f)                       \
  X(PROGRAMUNIFORM4F, ProgramUniform4f)                       \
  X(READPIXELS, ReadPixels)                                   \
  X(SHADERSOURCE, ShaderSource)                               \
  X(TEXTUREBUFFER, TextureBuffer)                             \
  X(TEXTUREPARAMETERI, TextureParameteri)                     \
  X(TEXTURESTORAGE2D, TextureStorage2D)                       \
  X(TEXTURESTORAGE2DMULTISAMPLE, TextureStorage2DMultisample) \
  X(USEPROGRAM, UseProgram)                                   \
  X(VERTEXARRAYATTRIBBINDING, VertexArrayAttribBinding)       \
  X(VERTEXARRAYATTRIBFORMAT, VertexArrayAttribFormat)         \
  X(VERTEXARRAYBINDINGDIVISOR, VertexArrayBindingDivisor)     \
  X(VERTEXARRAYELEMENTBUFFER, VertexArrayElementBuffer)       \
  X(VERTEXARRAYVERTEXBUFFER, VertexArrayVertexBuffer)         \
  X(VIEWPORT, Viewport)

#define GL_FIELD(TYPE, name) PFNGL##TYPE##PROC name;
typedef struct gl_functions {
  GL_FUNCTIONS(GL_FIELD)
} gl_functions;
#undef GL_FIELD

#endif
