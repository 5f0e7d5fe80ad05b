/* film_lists.js: the pairs of the shown step, and all events. Of the events only the rows in sight are in the document. */
const rowHeight = 26;
const rows = byId('rows');
let listed = []; /* numbers of the events that pass the filter */
let listedSteps = []; /* their steps */
let chosenEvent = null;

const twoNames = (pair) => `${objects[pair.a].name} / ${objects[pair.b].name}`;

function relationText(event) {
  if (event.event === 'changed') return `${relationWords[event.before]} \u2192 ${relationWords[event.relation]}`;
  return relationWords[event.event === 'ended' ? event.before : event.relation];
}

function showPairs() {
  const {pairs} = film;
  byId('now-title').textContent = `Step ${count(film.step)}: ` +
    (pairs.length === 0 ? 'nothing collides' : plural(pairs.length, 'pair collides', 'pairs collide'));
  byId('now-pairs').replaceChildren(...pairs.slice(0, 200).map((pair) => {
    const dot = element('span', {className: 'dot'});
    dot.style.background = relationColours[pair.relation];
    return element('button', {type: 'button', className: 'pair' + (isChosen(pair) ? ' chosen' : ''),
      title: twoNames(pair), onclick: () => choosePair(pair.a, pair.b)},
    element('span', {className: 'how'}, dot, relationWords[pair.relation]),
    element('span', {className: 'two name'}, twoNames(pair)));
  }));
  if (pairs.length > 200) byId('now-pairs').append(`and ${count(pairs.length - 200)} more`);
}

function eventRow(place) {
  const number = listed[place], event = events[number];
  const row = element('button', {type: 'button', onclick: () => goToEvent(number), title: twoNames(event),
    className: 'event' + (number === chosenEvent ? ' chosen' : '') + (event.step === film.step ? ' here' : '')},
  element('span', {className: 'when number'}, count(event.step)),
  element('span', {className: 'what'}, element('span', {className: 'mark ' + event.event}), changeWords[event.event]),
  element('span', {className: 'how'}, relationText(event)), element('span', {className: 'two name'}, twoNames(event)));
  row.style.top = rowHeight * place + 'px';
  row.dataset.number = number;
  return row;
}

function showEvents() {
  const all = byId('rows-all'), first = Math.max(0, Math.floor(rows.scrollTop / rowHeight) - 8);
  const last = Math.min(listed.length, Math.ceil((rows.scrollTop + rows.clientHeight) / rowHeight) + 8);
  all.style.height = rowHeight * listed.length + 'px';
  const made = [];
  for (let place = first; place < last; place++) made.push(eventRow(place));
  all.replaceChildren(...made);
}

function filterEvents() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  listed = [];
  events.forEach((event, number) => {
    const text = `${event.event} ${relationText(event)} ${twoNames(event)}`.toLowerCase();
    if (words.every((word) => text.includes(word))) listed.push(number);
  });
  listedSteps = listed.map((number) => events[number].step);
  byId('shown').textContent = words.length > 0 ? `${count(listed.length)} of ${plural(events.length, 'event', 'events')}`
    : events.length > 0 ? plural(events.length, 'event', 'events') : 'No event: nothing ever meets.';
  rows.scrollTop = 0;
  showEvents();
}

/* Keeps the list at the time that is shown. */
function scrollToStep() {
  const place = lastNotAbove(listedSteps, film.step);
  const top = rowHeight * Math.max(place, 0);
  if (top < rows.scrollTop || top + rowHeight > rows.scrollTop + rows.clientHeight) {
    rows.scrollTop = Math.max(0, top - rows.clientHeight / 2);
  }
}

function choosePair(a, b) {
  film.pair = [a, b];
  framePair(a, b);
  showStep();
}

function goToEvent(number) {
  const event = events[number];
  pause();
  chosenEvent = number;
  film.pair = [event.a, event.b];
  goTo(event.step);
  framePair(event.a, event.b);
}

/* The next event from the shown step on (by = 1), or the one before it; with one chosen, its neighbour in the list. */
function stepEvent(by) {
  if (listed.length === 0) return;
  const chosen = listed.indexOf(chosenEvent);
  const here = lastNotAbove(listedSteps, film.step);
  const inStep = chosen >= 0 && events[chosenEvent].step === film.step;
  const wanted = inStep ? chosen + by : by > 0 ? here + 1 : here;
  if (wanted >= 0 && wanted < listed.length) goToEvent(listed[wanted]);
}

/* ---- the object that was clicked ---- */

function showPicked() {
  const card = byId('picked'), number = view.picked;
  card.hidden = number === null;
  card.replaceChildren();
  if (number === null) return;
  const object = objects[number], found = events.filter((event) => event.a === number || event.b === number).length;
  card.append(element('b', {className: 'name'}, object.name),
    element('div', {className: 'muted name'}, [layerWord(object.layer), object.file].filter(Boolean).join(' \u00B7 ')),
    element('div', {className: 'muted'}, tracks.has(number) ? 'moves' : 'stands still'),
    element('div', {className: 'line'},
      element('button', {type: 'button', disabled: found === 0, onclick: () => {
        byId('search').value = object.name;
        filterEvents();
      }}, found === 0 ? 'No events' : 'List its ' + plural(found, 'event', 'events')),
      element('button', {type: 'button', onclick: () => flyToObject(number)}, 'Look'),
      element('button', {type: 'button', onclick: () => pickNothing()}, 'Close')));
}

function pickNothing() {
  view.picked = null;
  showPicked();
  requestDraw();
}

function buildLists() {
  byId('search').addEventListener('input', filterEvents);
  rows.addEventListener('scroll', showEvents, {passive: true});
  new ResizeObserver(showEvents).observe(rows);
  filterEvents();
}
