/* balls_shapes.js: meshes that are drawn in place of balls, so large that they fill them, and turned. A set is one draw
 * of many instances; normals come from screen derivatives, as those of objects. */
const turnParts = 512; /* as in track_pack.c */

const shapeVertexShader = `${ballVertexHead}
layout(location = 4) in vec3 turn; /* v / (1 + w) of the quaternion */
layout(location = 5) in vec3 corner;
uniform vec3 scale, shift; /* from a corner's 16 bits to the ball of radius 1 */
void main() {
  if (is_left_out()) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  float square = dot(turn, turn), w = (1.0 - square) / (1.0 + square);
  vec3 v = 2.0 * turn / (1.0 + square), p = corner * scale + shift;
  place = middle - eye + size * (p + 2.0 * cross(v, cross(v, p) + w * p));
  gl_Position = to_clip * vec4(place, 1.0);
  colour = colour_of_ball();
}`;

const shapeFragmentShader = `#version 300 es
precision highp float;
flat in vec3 colour;
in vec3 place;
uniform vec3 eye, light, up;
uniform vec4 section;
uniform float solid; /* which way its triangles face; 0: it is not closed */
out vec4 result;
void main() {
  if (dot(section.xyz, place + eye) > section.w) discard;
  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
  if (dot(normal, place) > 0.0) normal = -normal;
  float shade = 0.54 + 0.13 * dot(normal, up) + 0.42 * max(dot(normal, light), 0.0);
  if (solid != 0.0 && gl_FrontFacing == (solid < 0.0)) { /* the inside of a solid looks like its cut face */
    shade = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 1.5 ? 0.72 : 0.88;
  }
  result = vec4(colour * shade, 1.0);
}`;

function createShapes(gl) {
  if (turning === 0) return;
  let first = 0;
  Object.assign(view, {shapeProgram: buildProgram(gl, shapeVertexShader, shapeFragmentShader), turns: gl.createBuffer()});
  view.shapes = shapes.map(({start, number}) => {
    const set = sets[number], mesh = meshes[set.mesh], sent = view.meshes[set.mesh], array = gl.createVertexArray();
    gl.bindVertexArray(array);
    addBallAttributes(gl, start);
    addAttribute(gl, 4, view.turns, 3, gl.FLOAT, 12, 1, first);
    addAttribute(gl, 5, sent.points, 3, gl.UNSIGNED_SHORT, 8, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, sent.triangles);
    first += set.count;
    return {array, start, number, first: first - set.count, count: set.count, corners: sent.corners, type: sent.type,
      solid: mesh.solid, decoded: null,
      scale: [0, 1, 2].map((k) => (mesh.max[k] - mesh.min[k]) / 65535 / set.reach),
      shift: [0, 1, 2].map((k) => (mesh.min[k] - set.middle[k]) / set.reach)};
  });
}

function sendTurns(gl, frame) {
  if (turning > 0) fillBuffer(gl, view.turns, Float32Array.from(frame.turns, (number) => number / turnParts), gl.STREAM_DRAW);
}

function drawShapes(gl, matrices, colours) {
  const {places} = view.shapeProgram;
  useBallProgram(gl, view.shapeProgram, matrices, colours);
  for (const shape of view.shapes) {
    gl.uniform3fv(places.scale, shape.scale);
    gl.uniform3fv(places.shift, shape.shift);
    gl.uniform1f(places.solid, shape.solid);
    gl.bindVertexArray(shape.array);
    gl.drawElementsInstanced(gl.TRIANGLES, shape.corners, shape.type, 0, shape.count);
  }
}

/* How far the mesh of a ball is along a line of sight, of which it is known that it meets the ball; `middle` is relative
 * to the eye. */
function meetShape(ball, middle, ray) {
  const shape = view.shapes.find(({number}) => number === setOf(ball)), radius = scenery.radii[ball] / world.radius;
  const at = 3 * (shape.first + ball - shape.start), p = [0, 1, 2].map((k) => scenery.frame.turns[at + k] / turnParts);
  const square = dot(p, p), w = (1 - square) / (1 + square), v = scaled(p, -2 / (1 + square));
  const turnBack = (x) => add(x, scaled(cross(v, add(cross(v, x), scaled(x, w))), 2));
  const from = turnBack(scaled(middle, -1 / radius)), along = turnBack(ray), mesh = sets[shape.number].mesh;
  shape.decoded = shape.decoded || decodeMesh(mesh, document.getElementsByClassName('mesh')[mesh].textContent);
  const {points, triangles} = shape.decoded;
  const corner = (i) => [0, 1, 2].map((k) => points[4 * triangles[i] + k] * shape.scale[k] + shape.shift[k]);
  let nearest = Infinity;
  for (let i = 0; i < triangles.length; i += 3) { /* after Moeller and Trumbore 1997 */
    const a = corner(i), u = subtract(corner(i + 1), a), s = subtract(corner(i + 2), a), across = cross(along, s);
    const volume = dot(u, across), away = subtract(from, a), turnedAway = cross(away, u);
    const b = dot(away, across) / volume, c = dot(along, turnedAway) / volume, far = dot(s, turnedAway) / volume;
    if (b >= 0 && c >= 0 && b + c <= 1 && far > 0) nearest = Math.min(nearest, far);
  }
  return nearest * radius;
}
