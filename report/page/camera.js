/* camera.js: a turntable: the camera looks at a target from a distance, turned by yaw about the up axis and tilted by
 * pitch. The horizon stays level, which engineers expect of a building or a machine. */
const camera = {target: [0, 0, 0], distance: 2.6, yaw: -0.9, pitch: 0.5, upAxis: 2};
const fieldOfView = 36 * Math.PI / 180; /* as in the pictures of clashes */
const steepest = Math.PI / 2 - 1e-3;
let flight = null; /* an animation under way */

/* A direction of the turntable (third number up) in view coordinates. */
function turned(x, y, z) {
  return camera.upAxis === 2 ? [x, y, z] : [x, z, -y];
}

function cameraFrame() {
  const cp = Math.cos(camera.pitch), sp = Math.sin(camera.pitch), cy = Math.cos(camera.yaw), sy = Math.sin(camera.yaw);
  const back = turned(cp * cy, cp * sy, sp), right = turned(-sy, cy, 0), up = turned(-sp * cy, -sp * sy, cp);
  return {back, right, up, eye: add(camera.target, scaled(back, camera.distance))};
}

/* Everything that drawing needs. Near and far planes hug the assembly, so that depth keeps its digits. */
function cameraMatrices(aspect) {
  const frame = cameraFrame(), middle = size(frame.eye);
  const far = middle + 1.05, near = Math.max(middle - 1.05, camera.distance * 0.02, far * 2e-5);
  const projection = perspective(fieldOfView, aspect, near, far);
  return {...frame, near, far, aspect,
    toClip: multiply(projection, viewMatrix([0, 0, 0], frame.right, frame.up, frame.back)),
    whole: multiply(projection, viewMatrix(frame.eye, frame.right, frame.up, frame.back))};
}

/* Turns about `pivot`, which stays where it is on the screen. */
function orbit(yaw, pitch, pivot) {
  const before = cameraFrame(), arm = subtract(camera.target, pivot);
  const seen = [dot(arm, before.right), dot(arm, before.up), dot(arm, before.back)];
  camera.yaw += yaw;
  camera.pitch = clamp(camera.pitch + pitch, -steepest, steepest);
  const after = cameraFrame();
  camera.target = add(pivot, add(add(scaled(after.right, seen[0]), scaled(after.up, seen[1])), scaled(after.back, seen[2])));
}

/* Moves the assembly by pixels, `depth` from the eye along the line of sight. */
function pan(dx, dy, depth, height) {
  const frame = cameraFrame(), step = 2 * depth * Math.tan(fieldOfView / 2) / height;
  camera.target = add(camera.target, add(scaled(frame.right, -dx * step), scaled(frame.up, dy * step)));
}

/* Comes closer (factor < 1) to a point, which stays where it is on the screen. */
function zoom(factor, point) {
  const distance = clamp(camera.distance * factor, 1e-6, 40);
  camera.target = mix(point, camera.target, distance / camera.distance);
  camera.distance = distance;
}

function stopFlight() {
  flight = null;
}

/* Glides to another view; at once for those who want less motion. */
function flyTo(goal) {
  const turn = Math.round((camera.yaw - goal.yaw) / (2 * Math.PI)) * 2 * Math.PI; /* the short way round */
  const to = {...goal, yaw: goal.yaw + turn};
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
    Object.assign(camera, to);
    flight = null;
  } else {
    flight = {from: {...camera, target: camera.target.slice()}, to, began: performance.now()};
  }
  requestDraw();
}

/* Distances change by factors rather than by steps. Returns whether the flight goes on. */
function advanceFlight(now) {
  if (!flight) return false;
  const late = flight.last && now - flight.last > 200; /* too slow to be a movement: arrive */
  const part = late ? 1 : clamp((now - flight.began) / 420, 0, 1), t = part * part * (3 - 2 * part);
  const {from, to} = flight;
  flight.last = now;
  camera.target = mix(from.target, to.target, t);
  camera.distance = from.distance ** (1 - t) * to.distance ** t;
  camera.yaw = from.yaw + (to.yaw - from.yaw) * t;
  camera.pitch = from.pitch + (to.pitch - from.pitch) * t;
  if (part === 1) flight = null;
  return flight !== null;
}

/* The distance from which a ball fills the view. */
function distanceFor(radius) {
  const narrow = Math.min(1, stageAspect());
  return radius / Math.sin(Math.atan(Math.tan(fieldOfView / 2) * narrow));
}

/* The view from this side in which the corners of the world's box just fit, in its middle: target and distance. Planes
 * at the edges of the view, pushed out until they hold all corners, meet where the eye is to be. */
function fittingView() {
  const {right, up, back} = cameraFrame(), corners = [];
  for (let corner = 0; corner < 8; corner++) {
    const place = [0, 1, 2].map((k) => (corner >> k & 1 ? world.high : world.low)[k]);
    corners.push([dot(place, right), dot(place, up), dot(place, back)]);
  }
  const tangents = [Math.tan(fieldOfView / 2) * stageAspect() * 0.94, Math.tan(fieldOfView / 2) * 0.9];
  const reach = (k, side) => Math.max(...corners.map((c) => side * c[k] + tangents[k] * c[2]));
  const eye = [0, 1].map((k) => (reach(k, 1) - reach(k, -1)) / 2);
  eye.push(Math.max(...[0, 1].map((k) => (reach(k, 1) + reach(k, -1)) / (2 * tangents[k]))));
  for (const k of [0, 1, 0, 1, 0, 1]) { /* aside, until opposite edges of what is seen are equally far */
    const seen = corners.map((c) => ({tangent: (c[k] - eye[k]) / (eye[2] - c[2]), depth: eye[2] - c[2]}));
    seen.sort((a, b) => a.tangent - b.tangent);
    const [low, high] = [seen[0], seen[7]];
    eye[k] += (low.tangent + high.tangent) / (1 / low.depth + 1 / high.depth);
  }
  const depth = (Math.min(...corners.map((c) => c[2])) + Math.max(...corners.map((c) => c[2]))) / 2;
  return {target: add(add(scaled(right, eye[0]), scaled(up, eye[1])), scaled(back, depth)),
    distance: Math.max(eye[2] - depth, 1e-6)};
}

function fitAll() {
  flyTo({...fittingView(), yaw: camera.yaw, pitch: camera.pitch});
}

/* How much around a clash counts as near it: enough of both objects to know them again. */
function clashRadius(clash) {
  const smallest = Math.min(...[clash.a, clash.b].filter(isDrawable)
    .map((number) => size(Array.from(boxHalf.subarray(3 * number, 3 * number + 3)))), 1);
  const overlap = clash.box ? size(subtract(clash.box.max, clash.box.min)) / 2 / world.radius : 0;
  return clamp(Math.max(1.25 * overlap, 0.5 * smallest), 2e-5, 1);
}

/* The view that the report chose for the clash, which its picture and BCF viewpoint share: the same middle, the same
 * side, and as much in height, or in width where the stage is narrow. The horizon is the page's. */
function frameClash(clash) {
  if (!clash.view) return;
  const {target, from, half} = clash.view;
  const [x, y, z] = camera.upAxis === 2 ? from : [from[0], -from[2], from[1]];
  const radius = Math.max(half / world.radius, 2e-5); /* nearer than floats tell points apart nothing is seen */
  flyTo({target: toView(target), distance: radius / Math.tan(fieldOfView / 2) / Math.min(1, stageAspect()),
    yaw: x || y ? Math.atan2(y, x) : -Math.sign(z) * Math.PI / 2, /* straight down: y is up, as in the picture */
    pitch: clamp(Math.asin(clamp(z, -1, 1)), -steepest, steepest)});
}

function flyToObject(number) {
  const at = 3 * number, half = size(Array.from(boxHalf.subarray(at, at + 3)));
  flyTo({target: Array.from(boxCentre.subarray(at, at + 3)), distance: distanceFor(half * 1.1), yaw: camera.yaw,
    pitch: camera.pitch});
}
