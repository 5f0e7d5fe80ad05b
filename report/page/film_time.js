/* film_time.js: the time line: slider, marks, playing. A step is shown as it was decided; nothing is made up between
 * two steps. The page's own showStep brings everything in line with film.step. */
const slider = byId('slider'), marks = byId('marks');
const speeds = [1, 2, 5, 10, 25, 50, 100, 250];
const thumb = 8; /* half the width of the slider's thumb: where its way begins and ends */
const playing = {on: false, last: 0, part: 0};

function goTo(step) {
  film.step = clamp(Math.round(step), 0, film.last);
  if (chosenEvent !== null && events[chosenEvent].step !== film.step) {
    chosenEvent = null;
    film.pair = null;
  }
  setLink();
  showStep();
}

/* The address names the step, so that it can be sent on. */
function setLink() {
  if (playing.on) return; /* when it rests */
  try {
    history.replaceState(null, '', '#step=' + film.step);
  } catch {
    location.hash = '#step=' + film.step; /* some browsers refuse the above to pages from disk */
  }
}

function followLink() {
  const match = /^#step=(\d+)$/.exec(location.hash);
  if (match && Number(match[1]) !== film.step) goTo(Number(match[1]));
}

/* ---- marks ---- */

const placeOfStep = (step, width) => thumb + (width - 2 * thumb) * (film.last > 0 ? step / film.last : 0.5);

/* The marks without the cursor are drawn anew only when size or theme change. */
const marksBase = {canvas: document.createElement('canvas'), key: ''};

function drawMarksBase(width, height, ratio) {
  const base = marksBase.canvas, key = [width, height, ratio, document.documentElement.dataset.theme].join(' ');
  if (marksBase.key === key) return;
  marksBase.key = key;
  Object.assign(base, {width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio))});
  const pen = base.getContext('2d'), lanes = {began: 3, changed: height / 2 - 3.5, hit: height / 2 - 3.5, ended: height - 10,
    passed: height / 2 - 3.5};
  const drawn = new Set();
  pen.scale(ratio, ratio);
  pen.fillStyle = markColour('line');
  pen.fillRect(thumb, height - 1, width - 2 * thumb, 1);
  pen.fillStyle = markColour('band');
  for (const [from, to] of busySpans()) {
    const left = placeOfStep(from - 0.5, width), right = placeOfStep(to - 0.5, width);
    pen.fillRect(left, 2, Math.max(right - left, 1.5), height - 4);
  }
  for (const event of events) { /* of many in one pixel one is enough */
    const when = event.event === 'passed' ? event.step - 1 + event.time : event.step;
    const x = Math.round(placeOfStep(when, width) * 2) / 2, place = event.event + x;
    if (drawn.has(place)) continue;
    drawn.add(place);
    pen.fillStyle = markColour(event.event);
    pen.fillRect(x - 1.5, lanes[event.event], 3, 7);
  }
}

const markColour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

function drawMarks() {
  const ratio = window.devicePixelRatio || 1, width = marks.clientWidth, height = marks.clientHeight;
  drawMarksBase(width, height, ratio);
  Object.assign(marks, {width: marksBase.canvas.width, height: marksBase.canvas.height});
  const pen = marks.getContext('2d');
  pen.drawImage(marksBase.canvas, 0, 0);
  pen.scale(ratio, ratio);
  pen.fillStyle = markColour('accent');
  pen.fillRect(placeOfStep(film.step, width) - 0.75, 0, 1.5, height);
}

function stepAt(event) {
  const box = marks.getBoundingClientRect();
  return (event.clientX - box.left - thumb) / Math.max(box.width - 2 * thumb, 1) * film.last;
}

/* ---- playing ---- */

function play() {
  if (film.step === film.last) goTo(0);
  Object.assign(playing, {on: true, last: performance.now(), part: 0});
  byId('play').textContent = 'Pause';
  requestAnimationFrame(playOn);
}

function pause() {
  if (!playing.on) return;
  playing.on = false;
  byId('play').textContent = 'Play';
  setLink();
}

function playOn(now) {
  if (!playing.on) return;
  playing.part += Math.min(Math.max(now - playing.last, 0), 500) / 1000 * Number(byId('speed').value);
  playing.last = now;
  const whole = Math.floor(playing.part);
  playing.part -= whole;
  if (whole > 0) goTo(film.step + whole);
  if (film.step === film.last) pause();
  else requestAnimationFrame(playOn);
}

function stepBy(by) {
  pause();
  goTo(film.step + by);
}

/* `words`: of the marks, by their class. */
function buildTime(words) {
  slider.max = film.last;
  slider.oninput = () => {
    pause();
    goTo(Number(slider.value));
  };
  marks.onpointerdown = (event) => {
    marks.setPointerCapture(event.pointerId);
    pause();
    goTo(stepAt(event));
  };
  marks.onpointermove = (event) => {
    if (marks.hasPointerCapture(event.pointerId)) goTo(stepAt(event));
  };
  byId('play').onclick = () => (playing.on ? pause() : play());
  byId('step-back').onclick = () => stepBy(-1);
  byId('step-on').onclick = () => stepBy(1);
  byId('event-before').onclick = () => stepEvent(-1);
  byId('event-after').onclick = () => stepEvent(1);
  for (const speed of speeds) byId('speed').append(element('option', {value: speed}, `${speed} ${stepWord}s/s`));
  byId('speed').value = settings.read('speed') || '25';
  byId('speed').onchange = () => settings.write('speed', byId('speed').value);
  for (const [kind, word] of Object.entries(words)) {
    byId('marks-legend').append(element('span', {}, element('span', {className: 'mark ' + kind}), word));
  }
  new ResizeObserver(drawMarks).observe(marks);
  new MutationObserver(drawMarks).observe(document.documentElement, {attributeFilter: ['data-theme']});
}
