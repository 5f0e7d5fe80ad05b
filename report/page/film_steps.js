/* film_steps.js: what the scene is at a step: the pairs that take part, and how objects look. */
const film = {step: 0, last: record.steps - 1, pair: null, lit: new Set(), pairs: []};
const {events} = record;
const changeWords = {began: 'began', changed: 'changed', ended: 'ended', passed: 'passed'};

/* ---- pairs ---- */

/* From when to when two objects had a relation, in the order of their beginning. */
const stays = [];
const eventSteps = events.map((event) => event.step);

function findStays() {
  const open = new Map();
  for (const event of events) {
    if (event.event === 'passed') continue; /* between two steps */
    const key = `${event.a} ${event.b}`, before = open.get(key);
    if (before) before.to = event.step;
    open.delete(key);
    if (event.event === 'ended') continue;
    const stay = {a: event.a, b: event.b, relation: event.relation, from: event.step, to: Infinity};
    stays.push(stay);
    open.set(key, stay);
  }
}

/* Steps at which something takes part, as [from, to) without overlaps. */
function busySpans() {
  const spans = [];
  for (const stay of stays) {
    const last = spans[spans.length - 1], to = Math.min(stay.to, film.last + 1);
    if (last && stay.from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([stay.from, to]);
  }
  return spans;
}

function findPairs(step) {
  film.pairs = stays.filter((stay) => stay.from <= step && step < stay.to);
  film.lit = new Set(film.pairs.flatMap((pair) => [pair.a, pair.b]));
}

/* ---- how objects look ---- */

/* A chosen pair that is apart at this step is shown, but not as colliding. */
function styleOf(number) {
  const chosen = film.pair ? film.pair.indexOf(number) : -1, meets = chosenMeets();
  if (chosen >= 0) return !meets ? styles.picked : chosen === 0 ? styles.first : styles.second;
  if (film.lit.has(number)) return styles.first;
  if (view.hiddenLayers.has(objects[number].layer)) return -1;
  if (view.picked === number) return styles.picked;
  return view.ghosts || film.pair ? styles.ghost : styles.layer;
}

const isChosen = (pair) => film.pair && film.pair[0] === pair.a && film.pair[1] === pair.b;
const chosenMeets = () => film.pairs.some(isChosen);

/* Looks at two objects from where the reader looks: at where their boxes overlap, as near as to know them again. */
function framePair(a, b) {
  const low = [], high = [], inner = [];
  for (let k = 0; k < 3; k++) {
    const ends = [a, b].map((n) => [boxCentre[3 * n + k] - boxHalf[3 * n + k], boxCentre[3 * n + k] + boxHalf[3 * n + k]]);
    low.push(Math.max(ends[0][0], ends[1][0]));
    high.push(Math.min(ends[0][1], ends[1][1]));
    inner.push(Math.abs(high[k] - low[k]) / 2);
  }
  const halves = [a, b].map((n) => size(Array.from(boxHalf.subarray(3 * n, 3 * n + 3))));
  const radius = clamp(Math.max(2.5 * size(inner), 3.5 * Math.min(...halves)), 2e-5, 1);
  flyTo({target: mix(low, high, 0.5), distance: distanceFor(radius), yaw: camera.yaw, pitch: Math.max(camera.pitch, 0.3)});
}
