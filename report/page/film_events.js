/* film_events.js: the list of events. Only the rows in sight are in the document. What an event says, the page's own
 * eventText and eventCells know, and allEventsText how many there are. */
const rowHeight = 26;
const rows = byId('rows');
let listed = []; /* numbers of the events that pass the filter */
let listedSteps = []; /* their steps */
let chosenEvent = null;

/* Number of the last of ascending numbers that is not above `wanted`; -1: all are. */
function lastNotAbove(numbers, wanted) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function makeEventRow(number) {
  const event = events[number], row = element('button', {type: 'button', title: twoNames(event)}, ...eventCells(event));
  row.dataset.number = number;
  row.onclick = (click) => {
    if (click.detail > 0) row.blur(); /* after a click of the mouse Space plays */
    goToEvent(number);
  };
  return row;
}

const rowsInSight = new Map(); /* by the event's number */

/* Rows stay what they are while they are in sight: one that is replaced between press and release gets no click. */
function showEvents() {
  const all = byId('rows-all'), first = Math.max(0, Math.floor(rows.scrollTop / rowHeight) - 8);
  const last = Math.min(listed.length, Math.ceil((rows.scrollTop + rows.clientHeight) / rowHeight) + 8);
  const wanted = new Set(listed.slice(first, last));
  all.style.height = rowHeight * listed.length + 'px';
  for (const [number, row] of rowsInSight) {
    if (wanted.has(number)) continue;
    row.remove();
    rowsInSight.delete(number);
  }
  for (let place = first; place < last; place++) {
    const number = listed[place], row = rowsInSight.get(number) || makeEventRow(number);
    row.className = 'event' + (number === chosenEvent ? ' chosen' : '') + (events[number].step === film.step ? ' here' : '');
    row.style.top = rowHeight * place + 'px';
    rowsInSight.set(number, row);
    if (all.children[place - first] !== row) all.insertBefore(row, all.children[place - first] || null);
  }
}

function filterEvents() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  listed = [];
  events.forEach((event, number) => {
    if (words.length > 0) {
      const text = eventText(event).toLowerCase();
      if (!words.every((word) => text.includes(word))) return;
    }
    listed.push(number);
  });
  listedSteps = listed.map((number) => events[number].step);
  byId('shown').textContent = words.length > 0 ? `${count(listed.length)} of ${plural(events.length, 'event', 'events')}`
    : events.length > 0 ? allEventsText() : 'No event: nothing ever meets.';
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

function buildLists() {
  byId('search').addEventListener('input', filterEvents);
  rows.addEventListener('scroll', showEvents, {passive: true});
  new ResizeObserver(showEvents).observe(rows);
  filterEvents();
}
