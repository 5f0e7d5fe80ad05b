/* input.js: mouse, touch and keys. What is grabbed stays under the pointer: turns are about the point that was pressed,
 * and the wheel goes to the point below it. */
const pointers = new Map();
let gesture = null;
const wheelAim = {time: 0, x: 0, y: 0, point: null};

function placeOf(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/* The point under a pixel; where there is nothing, at the distance of the target. */
function aimAt(x, y) {
  const found = pickObject(x, y);
  if (found) return found.point;
  const frame = cameraFrame(), ray = lineOfSight(frame, x, y);
  return add(frame.eye, scaled(ray, camera.distance / Math.max(-dot(ray, frame.back), 0.1)));
}

function depthOf(point) {
  const frame = cameraFrame();
  return Math.max(dot(subtract(frame.eye, point), frame.back), 1e-7);
}

function pointerDown(event) {
  const [x, y] = placeOf(event);
  event.preventDefault();
  canvas.focus({preventScroll: true});
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [x, y]);
  stopFlight();
  const aim = aimAt(x, y);
  gesture = {x, y, moved: false, began: performance.now(), point: aim, depth: depthOf(aim),
    pans: event.button === 1 || event.button === 2 || event.shiftKey, fingers: pointers.size};
}

function pointerMove(event) {
  const before = pointers.get(event.pointerId), now = placeOf(event);
  if (!before || !gesture) return;
  const dx = now[0] - before[0], dy = now[1] - before[1];
  if (!gesture.moved && Math.hypot(now[0] - gesture.x, now[1] - gesture.y) < 4 && pointers.size === 1) return;
  if (!gesture.moved) canvas.classList.add('dragging');
  gesture.moved = true;
  if (pointers.size >= 2) pinch(event.pointerId, before, now);
  else if (gesture.pans) pan(dx, dy, gesture.depth, canvas.clientHeight);
  else orbit(-dx * 0.008, dy * 0.008, gesture.point);
  pointers.set(event.pointerId, now);
  requestMoving();
}

/* Two fingers: half of the finger's way moves, the change of their distance zooms. */
function pinch(id, before, now) {
  const other = [...pointers].find(([key]) => key !== id)[1];
  const apart = Math.hypot(before[0] - other[0], before[1] - other[1]) || 1;
  const factor = apart / (Math.hypot(now[0] - other[0], now[1] - other[1]) || 1);
  pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2, gesture.depth, canvas.clientHeight);
  zoom(factor, gesture.point);
  gesture.depth = depthOf(gesture.point);
}

function pointerUp(event) {
  if (!pointers.delete(event.pointerId) || !gesture) return;
  if (pointers.size > 0) {
    gesture.pans = true; /* the finger that is left must not turn what two have just placed */
    return;
  }
  canvas.classList.remove('dragging');
  const click = event.type === 'pointerup' && !gesture.moved && gesture.fingers === 1 && event.button === 0 &&
    performance.now() - gesture.began < 600;
  if (click) clickAt(gesture.x, gesture.y);
  gesture = null;
  requestDraw();
}

function wheel(event) {
  const [x, y] = placeOf(event), now = performance.now();
  event.preventDefault();
  stopFlight();
  if (now - wheelAim.time > 400 || Math.hypot(x - wheelAim.x, y - wheelAim.y) > 4) {
    Object.assign(wheelAim, {x, y, point: aimAt(x, y)});
  }
  wheelAim.time = now;
  const lines = event.deltaMode === 1 ? event.deltaY * 30 : event.deltaY;
  zoom(Math.exp(clamp(lines, -300, 300) * 0.0014), wheelAim.point);
  requestMoving();
}

function canvasKey(event) {
  const turns = {ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1]};
  const zooms = {'+': 0.8, '=': 0.8, '-': 1.25};
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in turns && event.shiftKey) {
    const [x, y] = turns[event.key];
    pan(-Math.sign(x) * 40, Math.sign(y) * 40, camera.distance, canvas.clientHeight);
  } else if (event.key in turns) {
    orbit(...turns[event.key], camera.target);
  } else if (event.key in zooms) {
    zoom(zooms[event.key], camera.target);
  } else if (event.key === 'Home') {
    fitAll();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  if (event.key !== 'Home') stopFlight();
  requestMoving();
}

function buildDivider() {
  const divider = byId('divider'), main = byId('main');
  const setWidth = (wanted) => {
    const part = clamp(wanted, 0.2, 0.8);
    main.style.setProperty('--list-width', (100 * part).toFixed(2) + '%');
    divider.setAttribute('aria-valuenow', Math.round(100 * part));
    settings.write('list-width', String(part));
  };
  const kept = Number(settings.read('list-width'));
  if (kept) setWidth(kept);
  divider.onpointerdown = (event) => divider.setPointerCapture(event.pointerId);
  divider.onpointermove = (event) => {
    if (divider.hasPointerCapture(event.pointerId)) setWidth(event.clientX / main.clientWidth);
  };
  divider.onkeydown = (event) => {
    const by = {ArrowLeft: -0.03, ArrowRight: 0.03}[event.key];
    if (by) setWidth(byId('list').offsetWidth / main.clientWidth + by);
  };
}

function buildInput() {
  canvas.addEventListener('pointerdown', pointerDown);
  canvas.addEventListener('pointermove', pointerMove);
  canvas.addEventListener('pointerup', pointerUp);
  canvas.addEventListener('pointercancel', pointerUp);
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', wheel, {passive: false});
  canvas.addEventListener('keydown', canvasKey);
  document.addEventListener('keydown', pageKey);
  buildDivider();
}
