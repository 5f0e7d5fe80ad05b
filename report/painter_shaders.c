/* The shaders of the pictures.
 *
 * solid    colour and depth, no more: small triangles cost what is done for each of them.
 * partial  the same with stripes or a hole. Apart, because a shader that discards pixels makes depth be tested late:
 * the subject took 9.5 ms with it and 5.8 ms without on llvmpipe. compose  puts the layers together: background,
 * ghosts, subject, and lights them. Over a flat face depth (near / z) is linear in the picture: its slope gives the
 * face's normal, so that meshes need none, and its second difference is 0 there and not at edges and silhouettes, which
 * get a line. Two lights that travel with the eye, darker rims. marks    lines with round ends and dots, their edges
 * smoothed by distance. plain    one colour, and which side of the surface is seen, for the trial pictures; dots:
 * single points, which an occlusion query counts. */
#include "gl/program.h"
#include "painter.h"

static const char solid_vertex[] =
    "#version 450 core\n"
    "layout(location = 0) in vec3 position;\n"
    "layout(location = 1) in vec4 row_x;\n"
    "layout(location = 2) in vec4 row_y;\n"
    "layout(location = 3) in vec4 row_z;\n"
    "layout(location = 4) in vec4 colour;\n"
    "layout(location = 0) uniform vec3 projection;\n" /* 1 / tan_x, 1 / tan_y, near */
    "layout(location = 3) uniform float cut;\n"       /* nothing nearer than this is drawn, when clipping is on */
    "out vec3 place;\n"
    "flat out vec4 tint;\n"
    "out float gl_ClipDistance[1];\n"
    "void main() {\n"
    "  vec4 p = vec4(position, 1.0);\n"
    "  place = vec3(dot(row_x, p), dot(row_y, p), dot(row_z, p));\n"
    "  tint = colour;\n"
    "  gl_ClipDistance[0] = place.z - cut;\n"
    "  gl_Position = vec4(place.xy * projection.xy, projection.z, place.z);\n"
    "}\n";

static const char solid_fragment[] =
    "#version 450 core\n"
    "flat in vec4 tint;\n"
    "out vec4 result;\n"
    "void main() { result = vec4(tint.rgb * tint.a, tint.a); }\n";

static const char partial_fragment[] =
    "#version 450 core\n"
    "layout(location = 1) uniform float stripes;\n" /* pixels from stripe to stripe; 0: whole */
    "layout(location = 2) uniform vec4 hole;\n"     /* centre in view space and radius; 0: none */
    "in vec3 place;\n"
    "flat in vec4 tint;\n"
    "out vec4 result;\n"
    "void main() {\n"
    "  if (stripes > 0.0 && mod(gl_FragCoord.x + gl_FragCoord.y, stripes) < 0.5 * stripes) discard;\n"
    /* ghosts before the clash, in the cone from the eye to it */
    "  if (hole.w > 0.0 && place.z < hole.z && length(place.xy / place.z * hole.z - hole.xy) < hole.w) discard;\n"
    "  result = vec4(tint.rgb * tint.a, tint.a);\n"
    "}\n";

static const char plain_fragment[] =
    "#version 450 core\n"
    "in vec3 place;\n"
    "flat in vec4 tint;\n"
    "out vec4 result;\n"
    /* alpha: 1 where the inside of a surface is seen; tint.a: 1 where triangles run the wrong way round */
    "void main() { result = vec4(tint.rgb, gl_FrontFacing == (tint.a < 0.5) ? 0.0 : 1.0); }\n";

static const char screen_vertex[] =
    "#version 450 core\n"
    "void main() {\n"
    "  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
    "  gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);\n"
    "}\n";

static const char compose_fragment[] =
    "#version 450 core\n"
    "layout(binding = 0) uniform sampler2DMS subject_colour;\n"
    "layout(binding = 1) uniform sampler2DMS subject_depth;\n"
    "layout(binding = 2) uniform sampler2D ghost_colour;\n"
    "layout(binding = 3) uniform sampler2D ghost_depth;\n"
    /* 0: none; 1: there are; 2: one of them holds the subject, perhaps so tightly that the layers' different samples
     * would tell its front from the subject's the wrong way */
    "layout(location = 0) uniform int ghosts;\n"
    "layout(location = 1) uniform vec2 size;\n"
    "layout(location = 2) uniform float focus;\n" /* depth of the clash */
    "layout(location = 3) uniform vec2 reach;\n"  /* tan_x, tan_y */
    "out vec4 result;\n"
    "float outline(float d, vec4 n) {\n" /* n: depths to the left, right, above, below */
    "  float most = max(d, max(max(n.x, n.y), max(n.z, n.w)));\n"
    "  float bend = max(abs(n.x + n.y - 2.0 * d), abs(n.z + n.w - 2.0 * d));\n"
    "  return smoothstep(0.0011, 0.0045, bend / most);\n"
    "}\n"
    "float slope(float before, float after) { return abs(before) < abs(after) ? before : after; }\n"
    "float light(float d, vec4 n, vec2 at) {\n"
    "  vec2 step = 2.0 * reach / size;\n"
    "  vec2 p = (vec2(at.x, size.y - at.y) / size * 2.0 - 1.0) * reach;\n"
    "  vec2 g = vec2(slope(d - n.x, n.y - d), slope(n.z - d, d - n.w)) / step;\n"
    "  vec3 normal = -normalize(vec3(g, d - dot(g, p)));\n"
    "  float key = max(dot(normal, vec3(-0.46, 0.72, -0.52)), 0.0);\n"
    "  float fill = max(dot(normal, vec3(0.80, 0.05, -0.60)), 0.0);\n"
    "  float facing = -dot(normal, vec3(p, 1.0)) * inversesqrt(1.0 + dot(p, p));\n"
    "  return d > 0.0 ? (0.60 + 0.42 * key + 0.16 * fill) * min(0.74 + 0.6 * facing, 1.0) : 0.9;\n"
    "}\n"
    "void main() {\n"
    "  ivec2 at = ivec2(gl_FragCoord.xy), last = ivec2(size) - 1;\n"
    "  ivec2 low = max(at - 1, 0), high = min(at + 1, last);\n"
    "  ivec2 left = ivec2(low.x, at.y), right = ivec2(high.x, at.y);\n"
    "  ivec2 above = ivec2(at.x, low.y), below = ivec2(at.x, high.y);\n"
    "  vec4 subject = vec4(0.0);\n"
    "  for (int i = 0; i < 4; i++) subject += texelFetch(subject_colour, at, i);\n"
    "  subject *= 0.25;\n"
    "  float depth = texelFetch(subject_depth, at, 0).r;\n"
    "  float t = gl_FragCoord.y / size.y;\n"
    "  vec3 base = mix(vec3(0.985, 0.988, 0.992), vec3(0.905, 0.915, 0.930), t);\n"
    "  float over = 0.0;\n"
    "  vec3 pale = vec3(0.0);\n"
    "  if (ghosts != 0) {\n"
    "    vec4 ghost = texelFetch(ghost_colour, at, 0);\n"
    "    if (ghost.a > 0.0) {\n"
    "      float far = texelFetch(ghost_depth, at, 0).r;\n"
    "      vec4 near = vec4(texelFetch(ghost_depth, left, 0).r, texelFetch(ghost_depth, right, 0).r,\n"
    "                       texelFetch(ghost_depth, above, 0).r, texelFetch(ghost_depth, below, 0).r);\n"
    "      float edge = outline(far, near);\n"
    "      float fade = clamp(far / focus, 0.25, 1.0);\n"
    "      pale = mix(ghost.rgb / ghost.a * light(far, near, gl_FragCoord.xy), vec3(0.42, 0.45, 0.50), 0.55 * edge);\n"
    "      base = mix(base, pale, min(ghost.a * (1.0 + 0.8 * edge), 1.0) * fade);\n"
    /* before the subject: a breath and its outline */
    "      bool before = far > depth * (ghosts == 2 ? 0.996 : 1.0);\n"
    "      if (before && depth > 0.0) over = ghost.a * ((ghosts == 2 ? 0.5 : 0.3) + 0.9 * edge);\n"
    "    }\n"
    "  }\n"
    "  vec3 colour = base;\n"
    "  if (subject.a > 0.0) {\n"
    "    vec4 near = vec4(texelFetch(subject_depth, left, 0).r, texelFetch(subject_depth, right, 0).r,\n"
    "                     texelFetch(subject_depth, above, 0).r, texelFetch(subject_depth, below, 0).r);\n"
    "    colour = base * (1.0 - subject.a) + subject.rgb * light(depth, near, gl_FragCoord.xy);\n"
    /* in the overview, where much is a pixel wide, lines would be all that is left */
    "    colour *= 1.0 - (ghosts != 0 ? 0.62 : 0.34) * outline(depth, near);\n"
    "    colour = mix(colour, pale, over * subject.a);\n"
    "  }\n"
    "  result = vec4(colour, 1.0);\n"
    "}\n";

static const char marks_vertex[] =
    "#version 450 core\n"
    "layout(location = 0) in vec3 from;\n"
    "layout(location = 1) in vec3 to;\n"
    "layout(location = 2) in vec2 width;\n"
    "layout(location = 3) in vec4 colour;\n"
    "layout(location = 0) uniform vec2 size;\n"
    "out vec2 place;\n"
    "flat out vec3 first;\n"
    "flat out vec3 second;\n"
    "flat out vec2 half_width;\n"
    "flat out vec4 tint;\n"
    "void main() {\n"
    "  vec2 along = to.xy - from.xy;\n"
    "  float l = length(along);\n"
    "  along = l > 0.0 ? along / l : vec2(1.0, 0.0);\n"
    "  vec2 across = vec2(-along.y, along.x);\n"
    "  float reach = width.x + 1.0;\n"
    "  float side = (gl_VertexID & 1) == 0 ? -reach : reach;\n"
    "  place = (gl_VertexID < 2 ? from.xy - along * reach : to.xy + along * reach) + across * side;\n"
    "  first = from; second = to; half_width = width; tint = colour;\n"
    "  gl_Position = vec4(place.x / size.x * 2.0 - 1.0, 1.0 - place.y / size.y * 2.0, 0.0, 1.0);\n"
    "}\n";

static const char marks_fragment[] =
    "#version 450 core\n"
    "layout(binding = 1) uniform sampler2DMS subject_depth;\n"
    "layout(location = 1) uniform float nearest;\n"
    "in vec2 place;\n"
    "flat in vec3 first;\n"
    "flat in vec3 second;\n"
    "flat in vec2 half_width;\n"
    "flat in vec4 tint;\n"
    "out vec4 result;\n"
    "void main() {\n"
    "  vec2 along = second.xy - first.xy;\n"
    "  float t = dot(along, along) > 0.0 ? clamp(dot(place - first.xy, along) / dot(along, along), 0.0, 1.0) : 0.0;\n"
    "  float depth = mix(first.z, second.z, t) * nearest;\n"
    "  float before = texelFetch(subject_depth, ivec2(gl_FragCoord.xy), 0).r;\n"
    /* a line on a surface is not hidden by it: one part in a hundred of the distance is forgiven */
    "  float wide = half_width.x * (before > depth * 1.01 ? half_width.y : 1.0);\n"
    "  float cover = clamp(wide + 0.5 - distance(place, mix(first.xy, second.xy, t)), 0.0, 1.0);\n"
    "  if (wide <= 0.0 || cover <= 0.0) discard;\n"
    "  result = vec4(tint.rgb, tint.a * cover);\n"
    "}\n";

static const char dots_vertex[] =
    "#version 450 core\n"
    "layout(location = 0) in vec4 position;\n"
    "void main() { gl_Position = position; }\n";

static const char dots_fragment[] =
    "#version 450 core\n"
    "out vec4 result;\n"
    "void main() { result = vec4(0.0); }\n";

static bool make(graze_painter *p, GLuint *program, const char *name, const char *vertex, const char *fragment) {
  gl_message message;
  *program = gz_gl_program(p->gl, name, vertex, fragment, &message);
  return *program != 0 || gz_painter_fail(p, GRAZE_ERROR_UNSUPPORTED, "%s", message.text);
}

bool gz_painter_programs_create(graze_painter *painter) {
  painter_programs *all = &painter->programs;
  return make(painter, &all->solid, "solid", solid_vertex, solid_fragment) &&
         make(painter, &all->partial, "partial", solid_vertex, partial_fragment) &&
         make(painter, &all->compose, "compose", screen_vertex, compose_fragment) &&
         make(painter, &all->marks, "marks", marks_vertex, marks_fragment) &&
         make(painter, &all->plain, "plain", solid_vertex, plain_fragment) &&
         make(painter, &all->dots, "dots", dots_vertex, dots_fragment);
}

void gz_painter_programs_destroy(graze_painter *painter) {
  const GLuint all[] = {painter->programs.solid, painter->programs.partial, painter->programs.compose,
                        painter->programs.marks, painter->programs.plain,   painter->programs.dots};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) painter->gl->DeleteProgram(all[i]);
}
