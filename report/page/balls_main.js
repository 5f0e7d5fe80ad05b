/* balls_main.js: the head, the lists, clicks and keys of a film of balls, and the start. */
const stepWord = 'frame';
const keyLines = [['Left drag', 'turn'], ['Right or Shift drag', 'move'], ['Wheel', 'zoom to the pointer'],
  ['One, two fingers', 'turn; move and zoom'], ['Click', 'choose a ball'], ['Space', 'play, pause'],
  [', and .', 'a frame back, on'], ['n, p', 'next, previous event'], ['f', 'look at the chosen balls'],
  ['Arrow keys', 'turn; with Shift move'], ['+, -', 'zoom'], ['Home', 'fit all'], ['/', 'filter'],
  ['Escape', 'choose nothing']];
const speedText = (speed) => `${shortNumber(speed)} ${record.units ? record.units + '/s' : ''}`.trim();
const timeText = (time) => `${shortNumber(time)} s`;
/* Of objects, such as the drum in which balls tumble. */
const styleOf = (number) => (view.picked === memberOfObject(number) ? styles.picked : view.ghosts ? styles.ghost : styles.layer);

/* ---- the head ---- */

function showFacts() {
  const total = record.seconds.load + record.seconds.build + record.seconds.query;
  byId('title').textContent = byId('title').title = record.title || 'Film';
  byId('facts').textContent = [plural(balls, 'ball', 'balls'),
    objects.length > 0 ? plural(objects.length, 'object', 'objects') : '', plural(film.last + 1, 'frame', 'frames'),
    `${timeText(frameTimes[0])} to ${timeText(frameTimes[film.last])}`, plural(record.all_events, 'event', 'events'),
    record.units ? 'units ' + record.units : 'units not known', 'engine ' + record.engine, record.created,
    seconds(total)].filter(Boolean).join(' \u00B7 ');
  if (record.complete) return;
  byId('incomplete').hidden = false;
  byId('incomplete').textContent = record.chances ? 'INCOMPLETE: not every run was made.'
    : 'INCOMPLETE: the run stopped after the last frame shown here.';
}

function showAbout() {
  const note = element('p', {className: 'muted', id: 'view-note'}, `Places are rounded to ${lengthText(record.resolution)} ` +
    'and speeds to a twentieth, for view only: balls that touch may look a hair apart. Between two frames nothing is ' +
    'shown; the times of events are exact. Curves join the values at the frames.' + (turning === 0 ? '' :
    ' Meshes stand for balls and fill them: it is the balls that touch. Particles turn by the mean of the spins at two ' +
    'frames, which is how they turned if nothing touched them in between.'));
  note.style.maxWidth = '70ch';
  byId('about-body').append(note);
}

function showLegend() {
  const legend = byId('legend'), entry = (className, name) => element('span', {},
    element('span', {className: 'swatch ' + className}), element('span', {className: 'name'}, name));
  legend.hidden = false;
  if (film.pair) legend.replaceChildren(entry('first', ballName(film.pair[0])), entry('second', ballName(film.pair[1])));
  else if (scenery.paint === 'contact') legend.replaceChildren(entry('first', 'touches something'));
  else if (scenery.paint === 'chance') showChanceLegend(legend);
  else if (scenery.paint === 'set') showSetLegend(legend);
  else showSpeedLegend(legend);
}

function showSpeedLegend(legend) {
  const bar = element('span', {className: 'ramp'});
  bar.style.background = `linear-gradient(90deg, ${ramp.join(', ')})`;
  legend.replaceChildren('0 ', bar, ' ' + speedText(speedOfLevel(record.top)));
}

function showSetLegend(legend) {
  legend.replaceChildren(...sets.slice(0, 8).map((set, number) => {
    const swatch = element('span', {className: 'swatch'});
    swatch.style.background = setPalette[number % setPalette.length];
    return element('span', {}, swatch, element('span', {className: 'name'}, set.name));
  }));
  if (sets.length > 8) legend.append(` and ${count(sets.length - 8)} more`);
}

/* ---- events, and the ball that was clicked ---- */

const twoNames = (event) => `${ballName(event.a)} / ${ballName(event.b)}`;
const allEventsText = () => (events.length < record.all_events
  ? `the ${count(events.length)} fastest of ${count(record.all_events)} events` : plural(events.length, 'event', 'events'));
const eventText = (event) => `${event.event} ${twoNames(event)}`;

function eventCells(event) {
  return [element('span', {className: 'when number'}, shortNumber(event.time)),
    element('span', {className: 'what'}, element('span', {className: 'mark ' + event.event}), changeWords[event.event]),
    element('span', {className: 'how number'}, shortNumber(event.speed)),
    element('span', {className: 'two name'}, twoNames(event))];
}

function showPicked() {
  const card = byId('picked'), number = view.picked;
  card.hidden = number === null;
  card.replaceChildren();
  if (number === null || !scenery.frame) return;
  const found = events.filter((event) => event.a === number || event.b === number).length, name = ballName(number);
  card.append(element('b', {className: 'name'}, name));
  if (number < balls) {
    card.append(element('div', {className: 'muted'}, `radius ${lengthText(scenery.radii[number])} \u00B7 ` +
      `speed ${speedText(speedOfLevel(scenery.frame.levels[number]))}` +
      (touches(scenery.frame, number) ? ' \u00B7 touches' : '')),
    element('div', {className: 'muted'}, 'at ' + placeOfBall(number).map(shortNumber).join(', ')));
  }
  if (chances.has(number)) card.append(element('div', {className: 'muted'}, chanceText(number)));
  card.append(element('div', {className: 'line'},
      element('button', {type: 'button', disabled: found === 0, onclick: () => {
        byId('search').value = name;
        filterEvents();
      }}, found === 0 ? 'No events listed' : 'List its ' + plural(found, 'event', 'events')),
      element('button', {type: 'button', onclick: () => frameMember(number)}, 'Look'),
      element('button', {type: 'button', onclick: () => pickNothing()}, 'Close')));
}

/* A member: a ball, a wall, an object; null: none. */
function pick(member) {
  view.picked = member;
  showPicked();
  if (scenery.frame) sendFrame();
  requestDraw();
}

const pickNothing = () => pick(null);

function clickAt(x, y) {
  const found = pickObject(x, y);
  pick(!found ? null : found.ball !== undefined ? found.ball : memberOfObject(found.object));
}

/* ---- keys ---- */

/* One thing at a time. */
function escape() {
  byId('keys').open = false;
  if (document.activeElement === byId('search') && byId('search').value) {
    byId('search').value = '';
    filterEvents();
  } else if (view.picked !== null) {
    pickNothing();
  } else {
    film.pair = chosenEvent = null;
    showStep();
  }
}

/* Keys that work wherever nothing is being typed. */
function pageKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    escape();
    return;
  }
  if (event.target.closest('input[type="search"], select, textarea')) return;
  if (event.key === ' ' && event.target.closest('button, summary, input[type="checkbox"]')) return; /* presses it */
  const look = () => (film.pair ? framePair(...film.pair) : view.picked !== null ? frameMember(view.picked) : fitAll());
  const actions = {n: () => stepEvent(1), p: () => stepEvent(-1), ',': () => stepBy(-1), '.': () => stepBy(1),
    ' ': () => byId('play').click(), f: look, '/': () => byId('search').focus(),
    '?': () => { byId('keys').open = !byId('keys').open; }};
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/* ---- the start ---- */

/* Brings everything in line with film.step. */
function showStep() {
  slider.value = film.step;
  slider.setAttribute('aria-valuetext', `frame ${film.step}, ${timeText(frameTimes[film.step])}`);
  byId('step-word').textContent = `frame ${count(film.step)} of ${count(film.last)}`;
  byId('now-title').textContent = `t = ${timeText(frameTimes[film.step])}, step ${count(frameSteps[film.step])}`;
  showCurves();
  showLegend();
  scrollToStep();
  showEvents();
  drawMarks();
  placeBalls(film.step);
}

function buildChoices() {
  byId('ghosts-label').hidden = objects.length === 0;
  byId('show').value = scenery.show;
  byId('paint').value = scenery.paint;
  byId('show').onchange = (event) => {
    scenery.show = event.target.value;
    requestDraw();
  };
  byId('paint').onchange = (event) => {
    scenery.paint = event.target.value;
    sendPaint();
    showLegend();
    requestDraw();
  };
}

async function start() {
  if (typeof DecompressionStream === 'undefined') {
    byId('no-view').hidden = false;
    byId('no-view').textContent = 'This browser cannot unpack the frames: it lacks DecompressionStream.';
    return;
  }
  scenery.radii = new Float32Array((await inflate(byId('radii').textContent)).buffer);
  showFacts();
  showAbout();
  buildTheme();
  buildChances();
  buildCurves();
  buildLists();
  readMoves();
  buildTools(keyLines);
  buildChoices();
  buildSection();
  buildInput();
  buildTime({began: 'begins', hit: 'nearest', ended: 'ends', band: 'something touches'});
  startView(() => {
    createBalls();
    sendTexels();
  });
  createBalls();
  Object.assign(camera, fittingView());
  showStep();
  followLink();
  addEventListener('hashchange', followLink);
  await loadFrame(film.step);
  document.documentElement.dataset.state = 'ready';
}
start();
