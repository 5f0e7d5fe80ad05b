/* scene.js: meshes and objects as the graphics processor gets them.
 *
 * The view has coordinates of its own, in which the assembly is a unit ball about the origin, so that 32-bit floats do
 * for a pump in millimetres as well as for a site in national grid coordinates. */
const world = {centre: [0, 0, 0], radius: 1};
const toView = (p) => scaled(subtract(p, world.centre), 1 / world.radius);
const toWorld = (p) => add(scaled(p, world.radius), world.centre);

const drawable = []; /* numbers of the objects that can be seen, mesh by mesh */
const boxCentre = new Float64Array(3 * objects.length); /* in view coordinates, by object */
const boxHalf = new Float64Array(3 * objects.length);
const isDrawable = (number) => objects[number].mesh !== null && meshes[objects[number].mesh].shown > 0;

/* Centre and half sides of an object's box in the world. */
function worldBox(object) {
  const mesh = meshes[object.mesh], m = object.pose, centre = [0, 0, 0], half = [0, 0, 0];
  for (let row = 0; row < 3; row++) {
    centre[row] = m[4 * row + 3];
    for (let k = 0; k < 3; k++) {
      centre[row] += m[4 * row + k] * (mesh.min[k] + mesh.max[k]) / 2;
      half[row] += Math.abs(m[4 * row + k]) * (mesh.max[k] - mesh.min[k]) / 2;
    }
  }
  return {centre, half};
}

function measureWorld() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const include = (p) => {
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], p[k]);
      high[k] = Math.max(high[k], p[k]);
    }
  };
  objects.forEach((object, number) => {
    if (!isDrawable(number)) return;
    const box = worldBox(object);
    drawable.push(number);
    include(subtract(box.centre, box.half));
    include(add(box.centre, box.half));
  });
  for (const corner of record.bounds || []) include(corner); /* of a scene that moves: at all its steps */
  for (const clash of clashes) if (clash.point.every((x) => x !== null)) include(clash.point);
  drawable.sort((x, y) => objects[x].mesh - objects[y].mesh || x - y);
  if (low[0] <= high[0]) {
    world.centre = scaled(add(low, high), 0.5);
    world.radius = size(subtract(high, low)) / 2 || 1;
  }
  world.low = low[0] <= high[0] ? toView(low) : [-1, -1, -1];
  world.high = low[0] <= high[0] ? toView(high) : [1, 1, 1];
  for (const number of drawable) placeBox(number);
}

function placeBox(number) {
  const box = worldBox(objects[number]);
  boxCentre.set(toView(box.centre), 3 * number);
  boxHalf.set(scaled(box.half, 1 / world.radius), 3 * number);
}
measureWorld();

function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/* Points and triangles of mesh `number`, from its script element. */
function decodeMesh(number, text) {
  const {points, shown} = meshes[number];
  const bytes = bytesOfBase64(text), packed = new Uint16Array(bytes.buffer, bytes.byteOffset, 3 * points);
  const padded = new Uint16Array(4 * points); /* some graphics processors want steps of four bytes */
  for (let i = 0; i < points; i++) {
    padded[4 * i] = packed[3 * i];
    padded[4 * i + 1] = packed[3 * i + 1];
    padded[4 * i + 2] = packed[3 * i + 2];
  }
  const start = bytes.byteOffset + 6 * points + 2 * (points % 2);
  const Numbers = points > 65536 ? Uint32Array : Uint16Array;
  return {points: padded, triangles: new Numbers(bytes.buffer, start, 3 * shown)};
}

/* Four texels an object: the rows of the matrix from 16-bit mesh coordinates to the view, then layer colour and which
 * way its triangles face (0: not closed). */
const objectsPerRow = 256;
function objectTexels() {
  const rows = Math.max(1, Math.ceil(objects.length / objectsPerRow));
  const texels = new Float32Array(rows * objectsPerRow * 16);
  for (const number of drawable) placeTexels(texels, number);
  return {texels, rows};
}

function placeTexels(texels, number) {
  const object = objects[number], mesh = meshes[object.mesh], m = object.pose, at = 16 * number;
  const shift = toView([3, 7, 11].map((k, row) =>
    m[k] + m[4 * row] * mesh.min[0] + m[4 * row + 1] * mesh.min[1] + m[4 * row + 2] * mesh.min[2]));
  for (let row = 0; row < 3; row++) {
    for (let k = 0; k < 3; k++) {
      texels[at + 4 * row + k] = m[4 * row + k] * (mesh.max[k] - mesh.min[k]) / 65535 / world.radius;
    }
    texels[at + 4 * row + 3] = shift[row];
  }
  const mirrored = dot(m.slice(0, 3), cross(m.slice(4, 7), m.slice(8, 11))) < 0;
  texels.set((view.colourOf && view.colourOf(number)) ||
    hexColour(layerPalette[layerNumber.get(object.layer) % layerPalette.length]), at + 12);
  texels[at + 15] = mirrored ? -mesh.solid : mesh.solid;
}

/* End points of the curve's segments in view coordinates, six numbers a segment. */
function curveSegments(clash) {
  if (!clash.curve) return new Float32Array(0);
  const {min, max, starts} = clash.curve, bytes = bytesOfBase64(clash.curve.points), segments = [];
  const q = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1);
  const point = (i) => toView([0, 1, 2].map((k) => min[k] + (max[k] - min[k]) * q[3 * i + k] / 65535));
  for (let line = 0; line + 1 < starts.length; line++) {
    for (let i = starts[line]; i + 1 < starts[line + 1]; i++) segments.push(...point(i), ...point(i + 1));
  }
  return new Float32Array(segments);
}

/* The twelve edges of a clash's box, alike. */
function boxSegments(clash) {
  if (!clash.box) return new Float32Array(0);
  const ends = [toView(clash.box.min), toView(clash.box.max)], segments = [];
  for (let corner = 0; corner < 8; corner++) {
    for (let axis = 0; axis < 3; axis++) {
      if (corner >> axis & 1) continue;
      for (const c of [corner, corner | 1 << axis]) segments.push(...[0, 1, 2].map((k) => ends[c >> k & 1][k]));
    }
  }
  return new Float32Array(segments);
}
