/* film_moves.js: the poses of objects, which are stored where they change. */
const moveBytes = 56;
const tracks = new Map(); /* of each object that moves: the steps at which it does, and where its moves lie */
let moveData = null;

function readMoves() {
  const bytes = bytesOfBase64(byId('moves').textContent);
  moveData = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.byteLength; at += moveBytes) {
    const number = moveData.getUint32(at + 4, true);
    if (!tracks.has(number)) tracks.set(number, {steps: [], places: [], shown: -1, rest: objects[number].pose});
    const track = tracks.get(number);
    track.steps.push(moveData.getUint32(at, true));
    track.places.push(at);
  }
}

/* A move tells where the middle of the mesh's box is; a pose wants to know where its origin is. */
function poseOfMove(number, at) {
  const mesh = meshes[objects[number].mesh], pose = new Array(12);
  for (let row = 0; row < 3; row++) {
    let place = moveData.getFloat32(at + 8 + 4 * (9 + row), true) + record.origin[row];
    for (let k = 0; k < 3; k++) {
      pose[4 * row + k] = moveData.getFloat32(at + 8 + 4 * (3 * row + k), true);
      place -= pose[4 * row + k] * (mesh.min[k] + mesh.max[k]) / 2;
    }
    pose[4 * row + 3] = place;
  }
  return pose;
}

function placeObjects(step) {
  for (const [number, track] of tracks) {
    const shown = lastNotAbove(track.steps, step);
    if (shown === track.shown || !isDrawable(number)) continue;
    track.shown = shown;
    objects[number].pose = shown < 0 ? track.rest : poseOfMove(number, track.places[shown]);
    placeBox(number);
    if (view.gl) placeTexels(view.texels.texels, number);
  }
  sendTexels();
}

function sendTexels() {
  const gl = view.gl;
  if (!gl || gl.isContextLost()) return;
  gl.bindTexture(gl.TEXTURE_2D, view.texture);
  gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, objectsPerRow * 4, view.texels.rows, gl.RGBA, gl.FLOAT, view.texels.texels);
}
