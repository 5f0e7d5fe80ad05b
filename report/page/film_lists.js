/* film_lists.js: the pairs of the shown step, what an event says, and the object that was clicked. */
const twoNames = (pair) => `${objects[pair.a].name} / ${objects[pair.b].name}`;

function relationText(event) {
  if (event.event === 'changed') return `${relationWords[event.before]} \u2192 ${relationWords[event.relation]}`;
  if (event.event === 'passed') return 'at ' + (event.step - 1 + event.time).toFixed(3);
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

const allEventsText = () => plural(events.length, 'event', 'events');
const eventText = (event) => `${event.event} ${relationText(event)} ${twoNames(event)}`;

function eventCells(event) {
  return [element('span', {className: 'when number'}, count(event.step)),
    element('span', {className: 'what'}, element('span', {className: 'mark ' + event.event}), changeWords[event.event]),
    element('span', {className: 'how'}, relationText(event)), element('span', {className: 'two name'}, twoNames(event))];
}

function choosePair(a, b) {
  film.pair = [a, b];
  framePair(a, b);
  showStep();
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
