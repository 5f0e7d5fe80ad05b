/* math.js: vectors of three numbers as arrays, and 4x4 matrices, column by column as WebGL wants them. */
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scaled(a, 1 / (size(a) || 1));
const mix = (a, b, t) => add(scaled(a, 1 - t), scaled(b, t));
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function multiply(a, b) {
  const product = new Float64Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      product[4 * column + row] = sum;
    }
  }
  return product;
}

function perspective(fieldOfView, aspect, near, far) {
  const f = 1 / Math.tan(fieldOfView / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
}

/* `right`, `up`, `back`: unit vectors of the camera. */
function viewMatrix(eye, right, up, back) {
  return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

/* Clip coordinates of a point. */
function project(matrix, p) {
  const clip = [0, 0, 0, 0];
  for (let row = 0; row < 4; row++) {
    clip[row] = matrix[row] * p[0] + matrix[4 + row] * p[1] + matrix[8 + row] * p[2] + matrix[12 + row];
  }
  return clip;
}

/* The six planes of the frustum, as [x, y, z, d] with positive values inside. */
function frustumPlanes(m) {
  const planes = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const sign of [1, -1]) planes.push([0, 1, 2, 3].map((k) => m[4 * k + 3] + sign * m[4 * k + axis]));
  }
  return planes;
}

function boxOutside(planes, centre, half, at) {
  for (const p of planes) {
    const reach = Math.abs(p[0]) * half[at] + Math.abs(p[1]) * half[at + 1] + Math.abs(p[2]) * half[at + 2];
    if (p[0] * centre[at] + p[1] * centre[at + 1] + p[2] * centre[at + 2] + p[3] + reach < 0) return true;
  }
  return false;
}
