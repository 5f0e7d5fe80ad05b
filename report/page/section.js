/* section.js: the plane that cuts the model open. */
const section = {axis: null, part: 0.5, flip: false, fill: true};

/* What has dot(n, p) > d is cut away, in view coordinates; far off when there is no section. */
function sectionPlane() {
  if (section.axis === null) return [0, 0, 0, 1];
  const sign = section.flip ? -1 : 1, at = sectionPlace();
  return [0, 1, 2].map((k) => (k === section.axis ? sign : 0)).concat(sign * at);
}

function sectionPlace() {
  const low = world.low[section.axis], high = world.high[section.axis];
  return low + (high - low) * section.part;
}

function showSection() {
  byId('section-more').hidden = section.axis === null;
  if (section.axis !== null) {
    const at = [0, 0, 0];
    at[section.axis] = sectionPlace();
    byId('section-value').textContent = lengthText(toWorld(at)[section.axis]);
  }
  requestMoving();
}

/* A new section starts where the reader looks: at the selected clash, else in the middle. */
function startSection(axis) {
  section.axis = axis;
  section.part = 0.5;
  setFlip(axis !== null && cameraFrame().back[axis] < 0); /* the half that goes is the one in front */
  if (axis !== null && view.selected && view.selected.point.every((x) => x !== null)) {
    const at = toView(view.selected.point)[axis], low = world.low[axis], high = world.high[axis];
    section.part = high > low ? clamp((at - low) / (high - low), 0, 1) : 0.5;
  }
  byId('section-at').value = Math.round(1000 * section.part);
  showSection();
}

function setFlip(on) {
  section.flip = on;
  byId('section-flip').setAttribute('aria-pressed', on);
}

function buildSection() {
  byId('section-axis').onchange = (event) => startSection(event.target.value === '' ? null : Number(event.target.value));
  byId('section-at').oninput = (event) => {
    section.part = Number(event.target.value) / 1000;
    showSection();
  };
  byId('section-flip').onclick = () => {
    setFlip(!section.flip);
    showSection();
  };
  byId('section-fill').onchange = (event) => {
    section.fill = event.target.checked;
    showSection();
  };
}
