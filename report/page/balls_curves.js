/* balls_curves.js: the numbers of every frame as curves over time, those of one unit in one plot, and their values at
 * the shown frame. A click in a plot goes there, one on a name leaves its curve out. */
const curveColours = ['#c2410c', '#0f766e', '#1d4ed8', '#a16207', '#7c3aed', '#be185d', '#4d7c0f', '#475569'];
const darkCurveColours = ['#fb923c', '#2dd4bf', '#60a5fa', '#facc15', '#a78bfa', '#f472b6', '#a3e635', '#94a3b8'];
const plots = []; /* {canvas, curves} */
const leftOut = new Set(); /* numbers of curves */

const isDark = () => document.documentElement.dataset.theme === 'dark';
const curveColour = (number) => (isDark() ? darkCurveColours : curveColours)[number % curveColours.length];
const valueAt = (frame, curve) => record.frames[frame][2 + curve];
const shortNumber = (value) => (value === null ? '' : String(Number(value.toPrecision(4))));

function rangeOf(curves) {
  let low = 0, high = 0;
  for (const curve of curves) {
    for (const frame of record.frames) {
      low = Math.min(low, frame[2 + curve]);
      high = Math.max(high, frame[2 + curve]);
    }
  }
  return high > low ? [low, high] : [low, low + 1];
}

function drawPlot({canvas: plot, curves}) {
  const ratio = window.devicePixelRatio || 1, width = plot.clientWidth, height = plot.clientHeight;
  const shown = curves.filter((curve) => !leftOut.has(curve)), [low, high] = rangeOf(shown);
  const x = (frame) => 4 + (width - 8) * placeInTime(frame), y = (value) => height - 4 - (height - 8) * (value - low) / (high - low);
  Object.assign(plot, {width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio))});
  const pen = plot.getContext('2d');
  pen.scale(ratio, ratio);
  pen.fillStyle = markColour('line');
  pen.fillRect(4, Math.round(y(0)), width - 8, 1);
  for (const curve of shown) {
    pen.strokeStyle = curveColour(curve);
    pen.lineWidth = 1.6;
    pen.beginPath();
    record.frames.forEach((_, frame) => pen.lineTo(x(frame), y(valueAt(frame, curve))));
    pen.stroke();
  }
  pen.fillStyle = markColour('muted');
  pen.font = '11px system-ui, sans-serif';
  pen.fillText(shortNumber(high), 6, 12);
  pen.fillStyle = markColour('accent');
  pen.fillRect(x(film.step) - 0.75, 0, 1.5, height);
}

/* From 0 to 1. */
const placeInTime = (frame) => {
  const first = frameTimes[0], last = frameTimes[film.last];
  return last > first ? (frameTimes[frame] - first) / (last - first) : 0.5;
};

function showCurves() {
  plots.forEach(drawPlot);
  for (const entry of document.querySelectorAll('.curve')) {
    const curve = Number(entry.dataset.curve);
    entry.querySelector('.swatch').style.background = curveColour(curve);
    entry.querySelector('.value').textContent = shortNumber(valueAt(film.step, curve));
    entry.setAttribute('aria-pressed', !leftOut.has(curve));
  }
}

function goToPlace(plot, event) {
  const box = plot.getBoundingClientRect(), part = clamp((event.clientX - box.left - 4) / (box.width - 8), 0, 1);
  const time = frameTimes[0] + part * (frameTimes[film.last] - frameTimes[0]);
  const before = clamp(lastNotAbove(frameTimes, time), 0, film.last), after = Math.min(before + 1, film.last);
  pause();
  goTo(frameTimes[after] - time < time - frameTimes[before] ? after : before);
}

function curveEntry(curve) {
  const entry = element('button', {type: 'button', className: 'curve', title: 'Show or leave out', onclick: () => {
    if (!leftOut.delete(curve)) leftOut.add(curve);
    showCurves();
  }}, element('span', {className: 'swatch'}), element('span', {className: 'name'}, record.curves[curve].name),
  element('span', {className: 'value number'}));
  entry.dataset.curve = curve;
  return entry;
}

function buildCurves() {
  for (const unit of new Set(record.curves.map((curve) => curve.unit))) {
    const curves = record.curves.map((_, number) => number).filter((number) => record.curves[number].unit === unit);
    const plot = element('canvas', {className: 'plot', 'aria-hidden': 'true'});
    plot.onpointerdown = (event) => {
      plot.setPointerCapture(event.pointerId);
      goToPlace(plot, event);
    };
    plot.onpointermove = (event) => { if (plot.hasPointerCapture(event.pointerId)) goToPlace(plot, event); };
    byId('curves').append(element('div', {className: 'curve-names'}, ...curves.map(curveEntry),
      unit ? element('span', {className: 'muted unit'}, unit) : null), plot);
    plots.push({canvas: plot, curves});
    new ResizeObserver(showCurves).observe(plot);
  }
  new MutationObserver(showCurves).observe(document.documentElement, {attributeFilter: ['data-theme']});
}
