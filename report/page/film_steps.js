/* film_steps.js: what the scene is at a step: the poses, which are stored where they change, and the pairs that take
 * part. */
const film = {step: 0, last: record.steps - 1, pair: null, lit: new Set(), pairs: []};
const {events} = record;
const changeWords = {began: 'began', changed: 'changed', ended: 'ended'};

/* ---- poses ---- */

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

/* ---- pairs ---- */

/* From when to when two objects had a relation, in the order of their beginning. */
const stays = [];
const eventSteps = events.map((event) => event.step);

function findStays() {
  const open = new Map();
  for (const event of events) {
    const key = `${event.a} ${event.b}`, before = open.get(key);
    if (before) before.to = event.step;
    open.delete(key);
    if (event.event === 'ended') continue;
    const stay = {a: event.a, b: event.b, relation: event.relation, from: event.step, to: Infinity};
    stays.push(stay);
    open.set(key, stay);
  }
}

/* Steps at which something takes part, as [from, to) without overlaps. */
function busySpans() {
  const spans = [];
  for (const stay of stays) {
    const last = spans[spans.length - 1], to = Math.min(stay.to, film.last + 1);
    if (last && stay.from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([stay.from, to]);
  }
  return spans;
}

function findPairs(step) {
  film.pairs = stays.filter((stay) => stay.from <= step && step < stay.to);
  film.lit = new Set(film.pairs.flatMap((pair) => [pair.a, pair.b]));
}

/* ---- how objects look ---- */

/* A chosen pair that is apart at this step is shown, but not as colliding. */
function styleOf(number) {
  const chosen = film.pair ? film.pair.indexOf(number) : -1, meets = chosenMeets();
  if (chosen >= 0) return !meets ? styles.picked : chosen === 0 ? styles.first : styles.second;
  if (film.lit.has(number)) return styles.first;
  if (view.hiddenLayers.has(objects[number].layer)) return -1;
  if (view.picked === number) return styles.picked;
  return view.ghosts || film.pair ? styles.ghost : styles.layer;
}

const isChosen = (pair) => film.pair && film.pair[0] === pair.a && film.pair[1] === pair.b;
const chosenMeets = () => film.pairs.some(isChosen);

/* Looks at two objects from where the reader looks: at where their boxes overlap, as near as to know them again. */
function framePair(a, b) {
  const low = [], high = [], inner = [];
  for (let k = 0; k < 3; k++) {
    const ends = [a, b].map((n) => [boxCentre[3 * n + k] - boxHalf[3 * n + k], boxCentre[3 * n + k] + boxHalf[3 * n + k]]);
    low.push(Math.max(ends[0][0], ends[1][0]));
    high.push(Math.min(ends[0][1], ends[1][1]));
    inner.push(Math.abs(high[k] - low[k]) / 2);
  }
  const halves = [a, b].map((n) => size(Array.from(boxHalf.subarray(3 * n, 3 * n + 3))));
  const radius = clamp(Math.max(2.5 * size(inner), 3.5 * Math.min(...halves)), 2e-5, 1);
  flyTo({target: mix(low, high, 0.5), distance: distanceFor(radius), yaw: camera.yaw, pitch: Math.max(camera.pitch, 0.3)});
}
