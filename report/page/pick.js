/* pick.js: what is under the pointer: a frame of one pixel that holds object numbers and distances instead of colours.
 * Only objects whose box the line of sight meets are drawn, so that it costs little. */
function createPickTarget(gl) {
  view.pickFrame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, view.pickFrame);
  for (const [format, place] of [[gl.RGBA32UI, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
    const buffer = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
    gl.renderbufferStorage(gl.RENDERBUFFER, format, 1, 1);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
  }
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
}

/* Blows up the pixel at (x, y) of the canvas to the whole frame. */
function pixelMatrix(x, y) {
  const sx = canvas.clientWidth, sy = canvas.clientHeight;
  return [sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 1, 0, -(2 * x / sx - 1) * sx, (2 * y / sy - 1) * sy, 0, 1];
}

/* Direction from the eye through a pixel. */
function lineOfSight(frame, x, y) {
  const tangent = Math.tan(fieldOfView / 2);
  const u = (2 * x / canvas.clientWidth - 1) * tangent * stageAspect(), v = (1 - 2 * y / canvas.clientHeight) * tangent;
  return unit(add(add(scaled(frame.right, u), scaled(frame.up, v)), scaled(frame.back, -1)));
}

/* {object, point} at a pixel of the canvas, or null where there is nothing solid. A page may know of more than meshes. */
function pickObject(x, y) {
  return view.pickMore ? view.pickMore(x, y, pickMesh(x, y)) : pickMesh(x, y);
}

function pickMesh(x, y) {
  const gl = view.gl;
  if (!gl || gl.isContextLost()) return null;
  const matrices = cameraMatrices(stageAspect()), pixel = pixelMatrix(x, y);
  matrices.toClip = multiply(pixel, matrices.toClip);
  const planes = frustumPlanes(multiply(pixel, matrices.whole));
  const batches = collectBatches(matrices, canvas.clientHeight, false, planes);
  gl.bindFramebuffer(gl.FRAMEBUFFER, view.pickFrame);
  gl.viewport(0, 0, 1, 1);
  gl.disable(gl.BLEND);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  gl.clearBufferuiv(gl.COLOR, 0, [0, 0, 0, 0]);
  gl.clearBufferfv(gl.DEPTH, 0, [1]);
  useObjectProgram(gl, view.pickProgram, matrices);
  gl.bindBuffer(gl.ARRAY_BUFFER, view.instances);
  gl.bufferData(gl.ARRAY_BUFFER, batches.numbers, gl.STREAM_DRAW);
  drawBatches(gl, batches.solid);
  if (batches.solid.length === 0) drawBatches(gl, batches.ghosts);
  const found = new Uint32Array(4);
  gl.readPixels(0, 0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, found);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  if (found[0] === 0) return null;
  const far = new Float32Array(found.buffer, 4, 1)[0];
  return {object: found[0] - 1, point: add(matrices.eye, scaled(lineOfSight(matrices, x, y), far))};
}

/* The marker at a pixel: the one nearest to the eye of those that the pointer touches. */
function pickMarker(x, y) {
  if (!view.gl || view.markerCount === 0) return null;
  const {whole} = cameraMatrices(stageAspect()), reach = markerPixels() / 2 + 2;
  let best = null, nearest = Infinity;
  for (const clash of view.marked) {
    const clip = project(whole, toView(clash.point));
    if (clip[3] <= 0 || clip[3] >= nearest) continue;
    const px = (clip[0] / clip[3] + 1) / 2 * canvas.clientWidth, py = (1 - clip[1] / clip[3]) / 2 * canvas.clientHeight;
    if (Math.hypot(px - x, py - y) > reach) continue;
    best = clash;
    nearest = clip[3];
  }
  return best;
}
