/* draw.js: frames, drawn on request only. Objects that share a mesh are drawn together; those outside the view, or too
 * small to see, are left out. With a clash selected its two objects are solid and the rest are ghosts: all ghosts have
 * one colour, so that they may be blended in any order. */
const canvas = byId('canvas');
const view = {gl: null, selected: null, picked: null, hiddenLayers: new Set(), ghosts: true, moving: 0, requested: false,
  frames: 0, slow: false, drawMore: null, pickMore: null, colourOf: null,
  sharpness: 0 /* least pixels of the drawing a pixel */, ghostStrength: 1};
/* The last three: an object that has the other one inside it, and the second of two in the same place, in stripes. */
const styles = {layer: 0, first: 1, second: 2, picked: 3, ghost: 4, firstAround: 5, secondAround: 6, striped: 7};
const isClear = (style) => style >= styles.ghost && style !== styles.striped;
const stageAspect = () => Math.max(canvas.clientWidth, 1) / Math.max(canvas.clientHeight, 1);

function requestDraw() {
  if (view.requested || !view.gl) return;
  view.requested = true;
  view.asked = performance.now();
  requestAnimationFrame(drawFrame);
}

/* While something moves, small things may be missing; a last frame brings them back. */
function requestMoving() {
  view.moving = performance.now();
  requestDraw();
}

/* ---- set-up ---- */

function createMeshes(gl) {
  const texts = document.getElementsByClassName('mesh');
  return meshes.map((mesh, number) => {
    if (mesh.shown === 0) return null;
    const data = decodeMesh(number, texts[number].textContent), array = gl.createVertexArray();
    const points = gl.createBuffer(), triangles = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, points);
    gl.bufferData(gl.ARRAY_BUFFER, data.points, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, false, 8, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, triangles);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, data.triangles, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribDivisor(1, 1);
    gl.bindVertexArray(null);
    return {array, points, triangles, corners: data.triangles.length,
      type: data.triangles.BYTES_PER_ELEMENT === 4 ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT};
  });
}

function createObjectTexture(gl) {
  const {texels, rows} = view.texels = objectTexels(), texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, objectsPerRow * 4, rows, 0, gl.RGBA, gl.FLOAT, texels);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return texture;
}

function createGraphics() {
  const gl = canvas.getContext('webgl2', {alpha: true, premultipliedAlpha: true, antialias: true});
  if (!gl) return false;
  Object.assign(view, {
    gl,
    objectProgram: buildProgram(gl, objectVertexShader, objectFragmentShader),
    pickProgram: buildProgram(gl, objectVertexShader, pickFragmentShader),
    lineProgram: buildProgram(gl, lineVertexShader, plainFragmentShader),
    markerProgram: buildProgram(gl, markerVertexShader, markerFragmentShader),
    meshes: createMeshes(gl),
    texture: createObjectTexture(gl),
    instances: gl.createBuffer(),
    lines: gl.createBuffer(), lineArray: gl.createVertexArray(), lineCount: 0,
    markers: gl.createBuffer(), markerArray: gl.createVertexArray(), markerCount: 0,
  });
  describeBuffer(gl, view.lineArray, view.lines, 1);
  describeBuffer(gl, view.markerArray, view.markers, 0);
  createPickTarget(gl);
  return true;
}

/* Two places of three floats a record. */
function describeBuffer(gl, array, buffer, divisor) {
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const place of [0, 1]) {
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, 12 * place);
    gl.vertexAttribDivisor(place, divisor);
  }
  gl.bindVertexArray(null);
}

/* ---- what the view shows ---- */

function setLines(clash) {
  const gl = view.gl;
  if (!gl) return;
  const striped = clash && clash.relation === 'duplicate'; /* its curve would be everywhere, and its stripes suffice */
  let segments = clash && !striped ? curveSegments(clash) : new Float32Array(0);
  view.boxed = Boolean(clash) && segments.length === 0 && !striped; /* no curve: the box stands in */
  view.thicket = curveDensity(segments) > 18;
  if (view.boxed) segments = boxSegments(clash);
  gl.bindBuffer(gl.ARRAY_BUFFER, view.lines);
  gl.bufferData(gl.ARRAY_BUFFER, segments, gl.STATIC_DRAW);
  view.lineCount = segments.length / 6;
}

/* How many times a curve runs through its own extent. Where faces lie in each other it runs along every edge, and thick
 * lines would hide what they are on. */
function curveDensity(segments) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  let total = 0;
  for (let i = 0; i < segments.length; i += 6) {
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], segments[i + k], segments[i + 3 + k]);
      high[k] = Math.max(high[k], segments[i + k], segments[i + 3 + k]);
    }
    total += size([0, 1, 2].map((k) => segments[i + 3 + k] - segments[i + k]));
  }
  return total > 0 ? total / size(subtract(high, low)) : 0;
}

/* One for each listed clash; with one selected only for that, and only when it has no curve to show. */
function setMarkers() {
  const gl = view.gl;
  if (!gl) return;
  const from = view.selected ? (view.boxed ? [view.selected] : []) : listed;
  view.marked = from.filter((clash) => clash.point.every((x) => x !== null));
  const numbers = new Float32Array(6 * view.marked.length);
  view.marked.forEach((clash, i) => {
    numbers.set(toView(clash.point), 6 * i);
    numbers.set(hexColour(relationColours[clash.relation]), 6 * i + 3);
  });
  gl.bindBuffer(gl.ARRAY_BUFFER, view.markers);
  gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
  view.markerCount = view.marked.length;
}

/* Half the size on screen, in pixels, below which an object is left out. */
function leastPixels(moving) {
  return moving ? (view.slow ? 8 : 2) : 0.35;
}

/* Batches of the objects in the view: solid ones, near meshes first, and ghosts. */
function collectBatches(matrices, height, moving, planes) {
  const solid = [], ghosts = [], numbers = new Uint32Array(drawable.length);
  const least = leastPixels(moving) * Math.tan(fieldOfView / 2) / (height / 2);
  const [ex, ey, ez] = matrices.eye;
  let used = 0;
  for (const wanted of ['solid', 'clear']) {
    let batch = null;
    for (const number of drawable) {
      const style = styleOf(number), at = 3 * number;
      if (style < 0 || isClear(style) !== (wanted === 'clear')) continue;
      const far = Math.hypot(boxCentre[at] - ex, boxCentre[at + 1] - ey, boxCentre[at + 2] - ez);
      if (Math.hypot(boxHalf[at], boxHalf[at + 1], boxHalf[at + 2]) < least * far) continue;
      if (boxOutside(planes, boxCentre, boxHalf, at)) continue;
      if (!batch || batch.mesh !== objects[number].mesh) {
        batch = {mesh: objects[number].mesh, first: used, count: 0, far};
        (wanted === 'clear' ? ghosts : solid).push(batch);
      }
      numbers[used++] = (number | style << 28) >>> 0;
      batch.count++;
      batch.far = Math.min(batch.far, far);
    }
  }
  solid.sort((x, y) => x.far - y.far);
  return {solid, ghosts, numbers: numbers.subarray(0, used)};
}

/* ---- drawing ---- */

function themeColours() {
  const dark = document.documentElement.dataset.theme === 'dark';
  return dark
    ? {first: '#ff9440', second: '#5aa2ff', picked: '#e8e27a', ghost: '#b9c4d0', line: '#ff5a8f', halo: '#101215'}
    : {first: '#e8710a', second: '#2a76dc', picked: '#c7b300', ghost: '#64717f', line: '#b0003a', halo: '#ffffff'};
}

function useObjectProgram(gl, program, matrices) {
  gl.useProgram(program.program);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, view.texture);
  gl.uniform1i(program.places.objects, 0);
  gl.uniformMatrix4fv(program.places.to_clip, false, matrices.toClip);
  gl.uniform3fv(program.places.eye, matrices.eye);
  gl.uniform4fv(program.places.section, sectionPlane());
}

function drawBatches(gl, batches) {
  for (const batch of batches) {
    const mesh = view.meshes[batch.mesh];
    gl.bindVertexArray(mesh.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, view.instances);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, 0, 4 * batch.first);
    gl.drawElementsInstanced(gl.TRIANGLES, mesh.corners, mesh.type, 0, batch.count);
  }
  gl.bindVertexArray(null);
}

function drawObjects(gl, matrices, batches, colours) {
  const {places} = view.objectProgram;
  useObjectProgram(gl, view.objectProgram, matrices);
  gl.bindBuffer(gl.ARRAY_BUFFER, view.instances);
  gl.bufferData(gl.ARRAY_BUFFER, batches.numbers, gl.STREAM_DRAW);
  for (const name of ['first', 'second', 'picked', 'ghost']) gl.uniform3fv(places[name], hexColour(colours[name]));
  gl.uniform3fv(places.light, unit(add(add(scaled(matrices.right, -0.45), scaled(matrices.up, 0.6)), matrices.back)));
  gl.uniform3fv(places.up, turned(0, 0, 1));
  const clash = view.selected, near = clash && clash.point.every((x) => x !== null);
  const focus = near ? subtract(toView(clash.point), matrices.eye) : [0, 0, 0];
  gl.uniform4f(places.focus, ...focus, near ? 1.6 * clashRadius(clash) : 1e6);
  gl.uniform1f(places.strength, view.ghostStrength);
  gl.uniform1f(places.fill, section.axis !== null && section.fill ? 1 : 0);
  gl.disable(gl.BLEND);
  gl.depthMask(true);
  drawBatches(gl, batches.solid);
  if (view.drawMore) { /* ghosts come last */
    view.drawMore(gl, matrices, colours);
    gl.useProgram(view.objectProgram.program);
  }
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.depthMask(false);
  drawBatches(gl, batches.ghosts);
}

/* Faint where something is in front, strong where nothing is; a halo keeps the line apart from what it runs along. */
function drawLines(gl, matrices, colours, ratio) {
  if (view.lineCount === 0) return;
  const {program, places} = view.lineProgram;
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.to_clip, false, matrices.toClip);
  gl.uniform3fv(places.eye, matrices.eye);
  gl.uniform2f(places.screen, canvas.width, canvas.height);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.bindVertexArray(view.lineArray);
  const stroke = (width, colour, alpha, closer) => {
    gl.uniform1f(places.width, width * ratio);
    gl.uniform1f(places.closer, closer);
    gl.uniform4f(places.colour, ...hexColour(colour), alpha);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, view.lineCount);
  };
  const thin = view.boxed || view.thicket;
  gl.disable(gl.DEPTH_TEST);
  stroke(view.thicket ? 1 : 1.5, colours.line, view.thicket ? 0.25 : 0.5, 0);
  gl.enable(gl.DEPTH_TEST);
  if (!thin) stroke(6, colours.halo, 1, 0.006);
  stroke(view.thicket ? 1.2 : thin ? 2 : 3.2, colours.line, 1, 0.0065);
  gl.bindVertexArray(null);
}

function drawMarkers(gl, matrices, colours, ratio) {
  if (view.markerCount === 0) return;
  const {program, places} = view.markerProgram, many = view.markerCount > 2000;
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.to_clip, false, matrices.toClip);
  gl.uniform3fv(places.eye, matrices.eye);
  gl.uniform1f(places.width, markerPixels() * ratio);
  gl.uniform3fv(places.rim, hexColour(colours.halo));
  gl.uniform1f(places.rim_width, many ? 0.8 : 2.2);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.bindVertexArray(view.markerArray);
  for (const hidden of [true, false]) {
    if (hidden) gl.disable(gl.DEPTH_TEST);
    else gl.enable(gl.DEPTH_TEST);
    gl.uniform1f(places.strength, hidden ? (many ? 0.15 : 0.35) : 1);
    gl.drawArrays(gl.POINTS, 0, view.markerCount);
  }
  gl.bindVertexArray(null);
}

/* Fewer clashes have room for larger markers. */
const markerPixels = () => (view.markerCount > 2000 ? 7 : view.markerCount > 200 ? 10 : 13);

function resizeCanvas() {
  const ratio = Math.min(Math.max(window.devicePixelRatio || 1, view.slow ? 0 : view.sharpness), 2);
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  return ratio;
}

function drawFrame(now) {
  view.requested = false;
  if (!view.gl || view.gl.isContextLost()) return;
  const flying = advanceFlight(now), ratio = resizeCanvas(), gl = view.gl;
  const rest = view.moving + 180 - performance.now(), moving = flying || rest > 0;
  const matrices = cameraMatrices(stageAspect()), colours = themeColours();
  const batches = collectBatches(matrices, canvas.height, moving, frustumPlanes(matrices.whole));
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  drawObjects(gl, matrices, batches, colours);
  drawLines(gl, matrices, colours, ratio);
  drawMarkers(gl, matrices, colours, ratio);
  drawAxes(matrices);
  if (moving) view.slow = now - view.asked > 70;
  canvas.dataset.frames = ++view.frames;
  canvas.dataset.still = moving ? '' : 'yes';
  clearTimeout(view.last);
  if (flying) requestDraw();
  else if (moving) view.last = setTimeout(requestDraw, rest);
}

/* The three axes, small, in the corner. */
function drawAxes(matrices) {
  const parts = [0, 1, 2].map((k) => {
    const axis = [0, 0, 0];
    axis[k] = 1;
    return {x: dot(axis, matrices.right), y: -dot(axis, matrices.up), z: dot(axis, matrices.back), name: 'XYZ'[k],
      colour: ['#c0392b', '#3f8f3f', '#3867c8'][k]};
  }).sort((p, q) => p.z - q.z);
  byId('axes').innerHTML = parts.map((p) => `<line x1="0" y1="0" x2="${p.x * 0.62}" y2="${p.y * 0.62}"
    stroke="${p.colour}" stroke-width=".07"/><text x="${p.x * 0.82}" y="${p.y * 0.82}"
    fill="${p.colour}">${p.name}</text>`).join('');
}
