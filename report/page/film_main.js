/* film_main.js: the head, clicks and keys of a film, and the start. */
const stepWord = 'step';
const keyLines = [['Left drag', 'turn'], ['Right or Shift drag', 'move'], ['Wheel', 'zoom to the pointer'],
  ['One, two fingers', 'turn; move and zoom'], ['Click', 'choose an object'], ['Space', 'play, pause'],
  [', and .', 'a step back, on'], ['n, p', 'next, previous event'], ['f', 'look at the chosen pair'],
  ['Arrow keys', 'turn; with Shift move'], ['+, -', 'zoom'], ['Home', 'fit all'], ['/', 'filter'],
  ['Escape', 'choose nothing']];

function showFacts() {
  const total = record.seconds.load + record.seconds.build + record.seconds.query;
  const busy = busySpans().reduce((sum, [from, to]) => sum + to - from, 0);
  byId('title').textContent = byId('title').title = record.title || 'Film';
  byId('facts').textContent = [`collisions in ${count(busy)} of ${plural(record.steps, 'step', 'steps')}`,
    plural(events.length, 'event', 'events'), plural(objects.length, 'object', 'objects'),
    `${count(tracks.size)} of them move`, record.units ? 'units ' + record.units : 'units not known',
    'engine ' + record.engine, 'exactness ' + record.exactness, record.created, seconds(total)]
    .filter(Boolean).join(' \u00B7 ');
  if (!record.complete) {
    byId('incomplete').hidden = false;
    byId('incomplete').textContent = 'INCOMPLETE: the run stopped after the last step shown here. What would have ' +
      'come may still collide.';
  }
  const {all, shown} = record.triangles;
  if (shown < all) {
    byId('thinned').hidden = false;
    byId('thinned').textContent = `${count(shown)} of ${count(all)} triangles shown: meshes are thinned for view only. ` +
      'What is listed was decided with every triangle.';
  }
}

function showAbout() {
  const rules = element('table', {id: 'rules'}, element('caption', {}, 'Rules'));
  for (const rule of record.rules) {
    rules.append(element('tr', {}, element('td', {className: 'number'}, plural(rule.pairs, 'pair', 'pairs')),
      element('td', {className: 'name'}, rule.text)));
  }
  if (record.rules.length === 0) rules.append(element('tr', {}, element('td', {}, 'None: every pair was watched')));
  const note = element('p', {className: 'muted', id: 'view-note'}, 'Poses are kept here as 32-bit floats, for view only: ' +
    'what touches may look a hair apart. The events were decided on the exact poses, at the steps; between two steps ' +
    'nothing is shown.');
  note.style.maxWidth = '70ch';
  byId('about-body').append(note, rules);
}

function showLegend() {
  const legend = byId('legend');
  legend.hidden = film.pairs.length === 0 && !film.pair;
  const entry = (className, name) => element('span', {}, element('span', {className: 'swatch ' + className}),
    element('span', {className: 'name'}, name));
  const names = film.pair ? film.pair.map((number) => objects[number].name) : [];
  if (!film.pair) legend.replaceChildren(entry('first', 'collides at this step'));
  else if (chosenMeets()) legend.replaceChildren(entry('first', names[0]), entry('second', names[1]));
  else legend.replaceChildren(entry('picked', `${names[0]} / ${names[1]}: apart at this step`));
}

function clickAt(x, y) {
  const found = pickObject(x, y);
  view.picked = found ? found.object : null;
  showPicked();
  requestDraw();
}

/* One thing at a time. */
function escape() {
  byId('keys').open = byId('layer-menu').open = false;
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
  const actions = {n: () => stepEvent(1), p: () => stepEvent(-1), ',': () => stepBy(-1), '.': () => stepBy(1),
    ' ': () => byId('play').click(), f: () => (film.pair ? framePair(...film.pair) : fitAll()),
    '/': () => byId('search').focus(), '?': () => { byId('keys').open = !byId('keys').open; }};
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/* Brings everything in line with film.step. */
function showStep() {
  placeObjects(film.step);
  findPairs(film.step);
  slider.value = film.step;
  slider.setAttribute('aria-valuetext', `step ${film.step}, ${plural(film.pairs.length, 'pair', 'pairs')}`);
  byId('step-word').textContent = `step ${count(film.step)} of ${count(film.last)}`;
  showPairs();
  showLegend();
  scrollToStep();
  showEvents();
  drawMarks();
  requestDraw();
}

function start() {
  readMoves();
  findStays();
  showFacts();
  showAbout();
  buildTheme();
  buildLists();
  buildTools(keyLines);
  buildSection();
  buildInput();
  const words = {began: 'begins', changed: 'changes', ended: 'ends', band: 'something collides'};
  buildTime(events.some((event) => event.event === 'passed') ? {...words, passed: 'meets between two steps'} : words);
  startView(sendTexels);
  Object.assign(camera, fittingView());
  showStep();
  followLink();
  addEventListener('hashchange', followLink);
  requestDraw();
  document.documentElement.dataset.state = 'ready';
}
start();
