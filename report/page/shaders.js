/* shaders.js: programs for the graphics processor. Normals come from screen derivatives: flat shading without a byte of
 * normals. */
const objectVertexShader = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec3 position;
layout(location = 1) in uint instance; /* number of the object, and in the top 4 bits how to show it */
uniform highp sampler2D objects;
uniform mat4 to_clip; /* from places relative to the eye */
uniform vec3 eye;
out vec3 place; /* relative to the eye: keeps the digits when one looks closely */
flat out vec4 colour;
flat out uint number;
flat out uint style;
void main() {
  number = instance & 0xfffffffu;
  style = instance >> 28;
  ivec2 at = ivec2(int(number % ${objectsPerRow}u) * 4, int(number / ${objectsPerRow}u));
  vec4 p = vec4(position, 1.0);
  vec4 x = texelFetch(objects, at, 0), y = texelFetch(objects, at + ivec2(1, 0), 0);
  vec4 z = texelFetch(objects, at + ivec2(2, 0), 0);
  x.w -= eye.x;
  y.w -= eye.y;
  z.w -= eye.z;
  place = vec3(dot(x, p), dot(y, p), dot(z, p));
  colour = texelFetch(objects, at + ivec2(3, 0), 0);
  gl_Position = to_clip * vec4(place, 1.0);
}`;

const objectFragmentShader = `#version 300 es
precision highp float;
precision highp int;
in vec3 place;
flat in vec4 colour;
flat in uint number;
flat in uint style; /* as in draw.js */
uniform vec3 eye, light, up, first, second, picked, ghost;
uniform vec4 section; /* what has dot(section.xyz, p) > section.w is cut away */
uniform vec4 focus; /* the selected clash, relative to the eye, and how far around it ghosts are strong */
uniform float fill, strength; /* the second: of ghosts */
out vec4 result;
void main() {
  if (dot(section.xyz, place + eye) > section.w) discard;
  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
  vec3 view = normalize(-place);
  if (dot(normal, view) < 0.0) normal = -normal;
  float edge = 1.0 - abs(dot(normal, view));
  bool around = style == 5u || style == 6u;
  if (style == 4u) {
    vec3 away = (place - focus.xyz) / focus.w;
    result = vec4(ghost, strength * (0.05 + 0.3 * edge * edge) * (0.12 + 0.88 * exp(-dot(away, away))));
    return;
  }
  if (style == 7u && mod(gl_FragCoord.x + gl_FragCoord.y, 16.0) < 8.0) discard;
  vec3 base = style == 0u ? colour.rgb : style == 3u ? picked : style == 1u || style == 5u ? first : second;
  bool inside = colour.a != 0.0 && gl_FrontFacing == (colour.a < 0.0);
  if (fill > 0.0 && inside && !around) { /* seen through the cut: the inside of a solid looks like its cut face */
    float hatch = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 1.5 ? 0.72 : 0.88;
    result = vec4(base * hatch, 1.0);
    return;
  }
  float shade = 0.54 + 0.13 * dot(normal, up) + 0.42 * max(dot(normal, light), 0.0);
  result = vec4(base * shade, around ? 0.1 + 0.4 * edge * edge : 1.0);
}`;

const pickFragmentShader = `#version 300 es
precision highp float;
precision highp int;
in vec3 place;
flat in vec4 colour;
flat in uint number;
flat in uint style;
uniform vec3 eye;
uniform vec4 section;
out uvec4 result;
void main() {
  if (dot(section.xyz, place + eye) > section.w) discard;
  result = uvec4(number + 1u, floatBitsToUint(length(place)), 0u, 1u);
}`;

/* A quad for each segment, as wide in pixels on screen wherever it is. */
const lineVertexShader = `#version 300 es
precision highp float;
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
uniform mat4 to_clip;
uniform vec3 eye;
uniform vec2 screen; /* pixels */
uniform float width;
uniform float closer;
void main() {
  float draw_in = 1.0 - closer; /* towards the eye: the place on the screen stays */
  vec4 a = to_clip * vec4((from - eye) * draw_in, 1.0), b = to_clip * vec4((to - eye) * draw_in, 1.0);
  float near = 1e-7;
  if (a.w < near && b.w < near) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
  if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
  vec2 along = (b.xy / b.w - a.xy / a.w) * screen;
  along = dot(along, along) > 1e-12 ? normalize(along) : vec2(1.0, 0.0);
  bool end = gl_VertexID == 1 || gl_VertexID == 2 || gl_VertexID == 4;
  float side = gl_VertexID == 0 || gl_VertexID == 1 || gl_VertexID == 3 ? -1.0 : 1.0;
  vec4 p = end ? b : a;
  vec2 shift = vec2(-along.y, along.x) * side + along * (end ? 0.5 : -0.5);
  p.xy += shift * width / screen * p.w;
  gl_Position = p;
}`;

const plainFragmentShader = `#version 300 es
precision highp float;
uniform vec4 colour;
out vec4 result;
void main() {
  result = vec4(colour.rgb * colour.a, colour.a);
}`;

const markerVertexShader = `#version 300 es
precision highp float;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 tint;
uniform mat4 to_clip;
uniform vec3 eye;
uniform float width;
flat out vec3 marker_tint;
void main() {
  marker_tint = tint;
  gl_Position = to_clip * vec4(position - eye, 1.0);
  gl_Position.z -= 2e-4 * gl_Position.w;
  gl_PointSize = width;
}`;

const markerFragmentShader = `#version 300 es
precision highp float;
flat in vec3 marker_tint;
uniform float width, strength, rim_width;
uniform vec3 rim;
out vec4 result;
void main() {
  float far = length(gl_PointCoord - 0.5) * width;
  float cover = clamp(0.5 * width - far, 0.0, 1.0) * strength;
  vec3 c = far > 0.5 * width - rim_width ? rim : marker_tint;
  result = vec4(c * cover, cover);
}`;

function buildProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error('shader: ' + gl.getShaderInfoLog(shader));
    }
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error('shaders: ' + gl.getProgramInfoLog(program));
  }
  const places = {};
  for (let i = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) - 1; i >= 0; i--) {
    const name = gl.getActiveUniform(program, i).name;
    places[name] = gl.getUniformLocation(program, name);
  }
  return {program, places};
}
