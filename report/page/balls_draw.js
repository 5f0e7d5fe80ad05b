/* balls_draw.js: balls and walls. A ball is a square that faces the eye, on which every pixel finds by itself where its
 * line of sight meets the sphere: round at any size, and as quick as two triangles. */
const scenery = {frame: null, number: -1, show: record.show, paint: record.colour, radii: null, walls: []};
const setPalette = ['#4c78a8', '#e0873a', '#5ba053', '#c45b5b', '#7a68a6', '#b59b3c', '#4ea5a0', '#b46a9b', '#8a6d5a', '#7f8c99'];
const ramp = ['#35629b', '#3f9aa6', '#a9c65f', '#f4b13c', '#d8401f']; /* from still to fast; brightness rises, then hue tells */

/* What is known of a ball, and its colour. */
const ballVertexHead = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec3 middle;
layout(location = 1) in float size;
layout(location = 2) in uvec4 state; /* level of speed, whether it touches, 1 to 3: first, second, picked */
layout(location = 3) in vec4 tint;
uniform mat4 to_clip;
uniform vec3 eye, first, second, picked, calm, ramp[5];
uniform float top, paint, dim;
uniform bool colliding;
flat out vec3 colour;
out vec3 place;
vec3 of_speed() {
  float part = state.x == 0u ? 0.0 : clamp(exp2((float(state.x) - top) / 8.0), 0.0, 1.0) * 4.0;
  int at = min(int(part), 3);
  return mix(ramp[at], ramp[at + 1], part - float(at));
}
vec3 colour_of_ball() {
  if (state.z > 0u) return state.z == 1u ? first : state.z == 2u ? second : picked;
  return mix(paint == 0.0 ? of_speed() : paint == 1.0 || paint == 3.0 ? tint.rgb : state.y == 0u ? calm : first, calm, dim);
}
bool is_left_out() {
  return colliding && state.y == 0u && state.z == 0u;
}`;

const ballVertexShader = `${ballVertexHead}
flat out vec3 centre;
flat out float radius;
void main() {
  centre = middle - eye;
  radius = size;
  float far = length(centre);
  if (far < radius * 1.001 || is_left_out()) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  vec3 ahead = centre / far;
  vec3 side = normalize(cross(abs(ahead.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0), ahead));
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  float reach = radius * far / sqrt((far - radius) * (far + radius));
  place = centre + reach * (corner.x * side + corner.y * cross(ahead, side));
  gl_Position = to_clip * vec4(place, 1.0);
  colour = colour_of_ball();
}`;

const ballFragmentShader = `#version 300 es
precision highp float;
flat in vec3 centre;
flat in float radius;
flat in vec3 colour;
in vec3 place;
uniform mat4 to_clip;
uniform vec3 eye, light, up;
uniform vec4 section; /* what has dot(section.xyz, p) > section.w is cut away */
out vec4 result;
void main() {
  vec3 ray = normalize(place);
  float along = dot(ray, centre);
  vec3 aside = centre - ray * along; /* keeps the digits that a difference of squares would lose */
  float rest = radius * radius - dot(aside, aside);
  if (rest < 0.0) discard;
  float deep = sqrt(rest), at = along - deep;
  vec3 normal = (-aside - ray * deep) / radius;
  float shade = 0.54 + 0.13 * dot(normal, up) + 0.42 * max(dot(normal, light), 0.0);
  if (dot(section.xyz, ray * at + eye) > section.w) {
    float slope = dot(section.xyz, ray);
    at = (section.w - dot(section.xyz, eye)) / slope;
    if (slope >= 0.0 || at > along + deep) discard;
    shade = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 1.5 ? 0.72 : 0.88;
  }
  vec4 clip = to_clip * vec4(ray * at, 1.0);
  gl_FragDepth = clip.z / clip.w * 0.5 + 0.5;
  result = vec4(colour * shade, 1.0);
}`;

const wallVertexShader = `#version 300 es
precision highp float;
layout(location = 0) in vec3 position;
uniform mat4 to_clip;
uniform vec3 eye;
void main() {
  gl_Position = to_clip * vec4(position - eye, 1.0);
}`;

/* ---- set-up ---- */

/* `from`: the record to begin with. */
function addAttribute(gl, place, buffer, size, type, stride, divisor, from = 0) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(place);
  if (type === gl.UNSIGNED_BYTE && place === 2) gl.vertexAttribIPointer(place, size, type, stride, from * stride);
  else gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, stride, from * stride);
  gl.vertexAttribDivisor(place, divisor);
}

/* What is known of each ball, from ball `from` on, as ballVertexHead takes it. */
function addBallAttributes(gl, from) {
  addAttribute(gl, 0, view.places, 3, gl.FLOAT, 12, 1, from);
  addAttribute(gl, 1, view.radii, 1, gl.FLOAT, 4, 1, from);
  addAttribute(gl, 2, view.states, 4, gl.UNSIGNED_BYTE, 4, 1, from);
  addAttribute(gl, 3, view.tints, 4, gl.UNSIGNED_BYTE, 4, 1, from);
}

/* Balls in a row for which no mesh is drawn. */
function plainSpans() {
  const spans = [];
  for (const {start, number} of filledSets) {
    if (sets[number].mesh !== undefined) continue;
    const last = spans[spans.length - 1];
    if (last && last.start + last.count === start) last.count += sets[number].count;
    else spans.push({start, count: sets[number].count});
  }
  return spans;
}

function fillBuffer(gl, buffer, data, usage) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, data, usage);
}

function tintsOfSets() {
  const tints = new Uint8Array(4 * balls);
  sets.forEach((set, number) => {
    const colour = hexColour(setPalette[number % setPalette.length]).map((part) => Math.round(255 * part));
    for (let i = setStarts[number]; i < setStarts[number] + set.count; i++) tints.set(colour, 4 * i);
  });
  return tints;
}

function tintsBy(colourOf) {
  const tints = new Uint8Array(4 * balls);
  for (let i = 0; i < balls; i++) tints.set(colourOf(i).map((part) => Math.round(255 * part)), 4 * i);
  return tints;
}

function createBalls() {
  const gl = view.gl;
  if (!gl) return;
  Object.assign(view, {
    ballProgram: buildProgram(gl, ballVertexShader, ballFragmentShader),
    wallProgram: buildProgram(gl, wallVertexShader, plainFragmentShader),
    places: gl.createBuffer(), states: gl.createBuffer(), radii: gl.createBuffer(), tints: gl.createBuffer(),
    spans: plainSpans().map((span) => ({...span, array: gl.createVertexArray()})),
    wallArray: gl.createVertexArray(), wallCorners: gl.createBuffer(),
    boxArray: gl.createVertexArray(), boxCorners: gl.createBuffer(), drawMore: drawBalls, pickMore: pickBall,
    sharpness: balls > 30000 ? 1.5 : 2, ghostStrength: 3.5,
  });
  fillBuffer(gl, view.radii, scenery.radii.map((radius) => radius / world.radius), gl.STATIC_DRAW);
  fillBuffer(gl, view.tints, tintsOfSets(), gl.STATIC_DRAW);
  for (const span of view.spans) {
    gl.bindVertexArray(span.array);
    addBallAttributes(gl, span.start);
  }
  createShapes(gl);
  gl.bindVertexArray(view.wallArray);
  addAttribute(gl, 0, view.wallCorners, 3, gl.FLOAT, 12, 0);
  if (record.box) { /* such as that of a periodic world: its edges */
    gl.bindVertexArray(view.boxArray);
    addAttribute(gl, 0, view.boxCorners, 3, gl.FLOAT, 12, 0);
    fillBuffer(gl, view.boxCorners, boxSegments({box: {min: record.box[0], max: record.box[1]}}), gl.STATIC_DRAW);
  }
  gl.bindVertexArray(null);
  scenery.walls = record.walls.map((wall, number) => ({number, corners: wallOutline(wall)}))
    .filter(({corners}) => corners.length > 2);
  fillBuffer(gl, view.wallCorners, new Float32Array(scenery.walls.flatMap(({corners}) => corners.flat())), gl.STATIC_DRAW);
  sendPaint();
  if (scenery.frame) sendFrame();
}

/* ---- walls ---- */

/* The part of a convex polygon that is not behind a plane (Sutherland and Hodgman 1974). */
function cutOutline(corners, point, normal) {
  const above = corners.map((p) => dot(normal, subtract(p, point)) + 1e-7), kept = [];
  corners.forEach((p, i) => {
    const j = (i + 1) % corners.length;
    if (above[i] >= 0) kept.push(p);
    if ((above[i] >= 0) !== (above[j] >= 0)) kept.push(mix(p, corners[j], above[i] / (above[i] - above[j])));
  });
  return kept;
}

/* What is seen of a wall: the part in the box of all balls, a little enlarged, and before all other walls. */
function wallOutline(wall) {
  const n = unit(wall.normal), at = toView(wall.point), middle = mix(world.low, world.high, 0.5);
  const half = subtract(world.high, middle).map((length) => length * 1.02 + 1e-6), reach = 2 * size(half);
  const foot = subtract(middle, scaled(n, dot(n, subtract(middle, at))));
  const u = scaled(unit(cross(n, Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), reach), v = cross(n, u);
  let corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => add(foot, add(scaled(u, x), scaled(v, y))));
  for (const k of [0, 1, 2]) {
    for (const sign of [-1, 1]) {
      const inward = [0, 0, 0], side = middle.slice();
      inward[k] = -sign;
      side[k] += sign * half[k];
      corners = cutOutline(corners, side, inward);
    }
  }
  for (const other of record.walls) {
    if (other !== wall) corners = cutOutline(corners, toView(other.point), unit(other.normal));
  }
  return corners;
}

function drawWalls(gl, matrices) {
  const {program, places} = view.wallProgram, dark = document.documentElement.dataset.theme === 'dark';
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.to_clip, false, matrices.toClip);
  gl.uniform3fv(places.eye, matrices.eye);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.depthMask(false);
  gl.bindVertexArray(view.wallArray);
  const plain = hexColour(dark ? '#b9c4d0' : '#4a5866');
  if (record.box) {
    gl.bindVertexArray(view.boxArray);
    gl.uniform4f(places.colour, ...plain, 0.6);
    gl.drawArrays(gl.LINES, 0, 24);
    gl.bindVertexArray(view.wallArray);
  }
  let first = 0;
  for (const {number, corners} of scenery.walls) {
    const chosen = view.picked === balls + number, painted = chosen || scenery.paint === 'chance';
    const colour = chosen ? hexColour(themeColours().picked) : painted ? chanceColour(balls + number) : plain;
    gl.uniform4f(places.colour, ...colour, painted ? 0.3 : 0.09);
    gl.drawArrays(gl.TRIANGLE_FAN, first, corners.length);
    gl.uniform4f(places.colour, ...colour, painted ? 0.9 : 0.45);
    gl.drawArrays(gl.LINE_LOOP, first, corners.length);
    first += corners.length;
  }
  gl.bindVertexArray(null);
  gl.depthMask(true);
}

/* ---- frames ---- */

const viewStep = record.resolution / world.radius;
const viewOrigin = toView(record.origin);

/* The frame's places in view coordinates, and what is known of each ball. */
function sendFrame() {
  const gl = view.gl, {frame} = scenery;
  if (!gl || gl.isContextLost()) return;
  const places = new Float32Array(3 * balls), states = new Uint8Array(4 * balls);
  for (let i = 0; i < 3 * balls; i++) places[i] = viewOrigin[i % 3] + viewStep * frame.places[i];
  for (let i = 0; i < balls; i++) {
    states[4 * i] = frame.levels[i];
    states[4 * i + 1] = touches(frame, i) ? 1 : 0;
  }
  const mark = (ball, number) => { if (ball !== null && ball < balls) states[4 * ball + 2] = number; };
  mark(view.picked, 3);
  if (film.pair) film.pair.forEach((ball, k) => mark(ball, k + 1));
  fillBuffer(gl, view.places, places, gl.STREAM_DRAW);
  fillBuffer(gl, view.states, states, gl.STREAM_DRAW);
  sendTurns(gl, frame);
}

/* Shows the frame at once if it is there, else when it is unpacked, unless another one is wanted by then. */
async function placeBalls(number) {
  const frame = await loadFrame(number);
  if (number !== film.step) return;
  Object.assign(scenery, {frame, number});
  placeObjects(number);
  sendFrame();
  showPicked();
  requestDraw();
  canvas.dataset.frame = number;
  if (number < film.last) loadFrame(Math.min(number + 8, film.last)); /* so that playing need not wait */
}

function useBallProgram(gl, {program, places}, matrices, colours) {
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.to_clip, false, matrices.toClip);
  gl.uniform3fv(places.eye, matrices.eye);
  for (const name of ['first', 'second', 'picked']) gl.uniform3fv(places[name], hexColour(colours[name]));
  gl.uniform3fv(places.calm, hexColour(layerPalette[0]));
  gl.uniform3fv(places['ramp[0]'], ramp.flatMap(hexColour));
  gl.uniform3fv(places.light, unit(add(add(scaled(matrices.right, -0.45), scaled(matrices.up, 0.6)), matrices.back)));
  gl.uniform3fv(places.up, turned(0, 0, 1));
  gl.uniform4fv(places.section, sectionPlane());
  gl.uniform1f(places.top, record.top);
  gl.uniform1f(places.paint, ['speed', 'set', 'contact', 'chance'].indexOf(scenery.paint));
  gl.uniform1f(places.dim, film.pair ? 0.75 : 0);
  gl.uniform1i(places.colliding, scenery.show === 'colliding' ? 1 : 0);
}

function drawBalls(gl, matrices, colours) {
  if (!scenery.frame) return;
  gl.disable(gl.BLEND);
  gl.depthMask(true);
  useBallProgram(gl, view.ballProgram, matrices, colours);
  for (const {array, count} of view.spans) {
    gl.bindVertexArray(array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
  }
  if (turning > 0) drawShapes(gl, matrices, colours);
  gl.bindVertexArray(null);
  drawWalls(gl, matrices);
}

/* ---- what is where ---- */

const placeOfBall = (ball) => [0, 1, 2].map((k) => record.origin[k] + record.resolution * scenery.frame.places[3 * ball + k]);
const isShown = (ball) => scenery.show === 'all' || touches(scenery.frame, ball) ||
  ball === view.picked || (film.pair !== null && film.pair.includes(ball));

/* The first ball on the line of sight through a pixel, if it is before the object that was found there, or that is to be
 * seen through. */
function pickBall(x, y, object) {
  if (!scenery.frame) return object;
  const found = view.ghosts ? null : object;
  const frame = cameraFrame(), ray = lineOfSight(frame, x, y), plane = sectionPlane();
  let nearest = found ? size(subtract(found.point, frame.eye)) : Infinity, best = found;
  for (let i = 0; i < balls; i++) {
    const centre = [0, 1, 2].map((k) => viewOrigin[k] + viewStep * scenery.frame.places[3 * i + k] - frame.eye[k]);
    const along = dot(centre, ray), aside = subtract(centre, scaled(ray, along));
    const rest = (scenery.radii[i] / world.radius) ** 2 - dot(aside, aside);
    if (along <= 0 || rest < 0 || along - Math.sqrt(rest) >= nearest || !isShown(i)) continue;
    const far = sets[setOf(i)].mesh === undefined ? along - Math.sqrt(rest) : meetShape(i, centre, ray);
    const point = add(frame.eye, scaled(ray, far));
    if (far >= nearest || dot(plane, [...point]) > plane[3]) continue;
    nearest = far;
    best = {ball: i, point};
  }
  return best || object;
}

/* Looks at a member from where the reader looks. */
function frameMember(member) {
  const wall = scenery.walls.find(({number}) => balls + number === member), number = member - balls - record.walls.length;
  if (member < balls) framePair(member, member);
  else if (number < 0 && !wall) return;
  else if (number >= 0 && !isDrawable(number)) return;
  else {
    const box = number >= 0 ? worldBox(objects[number]) : null;
    const target = box ? toView(box.centre) : scaled(wall.corners.reduce(add), 1 / wall.corners.length);
    flyTo({target, distance: distanceFor(box ? clamp(3 * size(box.half) / world.radius, 2e-5, 1) : 1), yaw: camera.yaw,
      pitch: Math.max(camera.pitch, 0.3)});
  }
}

/* Looks at two balls from where the reader looks, or at the one of them that is no wall. */
function framePair(a, b) {
  const both = [a, b].filter((ball) => ball < balls);
  if (!scenery.frame || scenery.number !== film.step) {
    const number = film.step;
    loadFrame(number).then((frame) => {
      if (number !== film.step) return;
      Object.assign(scenery, {frame, number});
      framePair(a, b);
    });
    return;
  }
  const middle = scaled(both.map(placeOfBall).reduce(add), 1 / both.length);
  const reach = Math.max(...both.map((ball) => scenery.radii[ball]));
  flyTo({target: toView(middle), distance: distanceFor(clamp(4 * reach / world.radius, 2e-5, 1)), yaw: camera.yaw,
    pitch: Math.max(camera.pitch, 0.3)});
}
