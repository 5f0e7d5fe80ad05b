/* balls_data.js: frames of balls as track_pack.c packed them. Groups of frames are unpacked when one of them is shown,
 * and the last few are kept. */
const film = {step: 0, last: record.frames.length - 1, pair: null}; /* a step of the film is a frame */
const {balls, sets} = record;
const changeWords = {began: 'began', hit: 'hit', ended: 'ended'};
const frameSteps = record.frames.map((frame) => frame[0]), frameTimes = record.frames.map((frame) => frame[1]);

/* Numbers of what comes first in each of some pieces. */
function startsOf(counts) {
  let sum = 0;
  return counts.map((number) => (sum += number) - number);
}
const setStarts = startsOf(sets.map((set) => set.count)), groupStarts = startsOf(record.groups);
const filledSets = setStarts.map((start, number) => ({start, number})).filter(({number}) => sets[number].count > 0);
const filledStarts = filledSets.map(({start}) => start);
const setOf = (ball) => filledSets[lastNotAbove(filledStarts, ball)].number;

function ballName(ball) {
  const wall = ball - balls, object = wall - record.walls.length;
  if (object >= 0) return objects[object].name;
  if (wall >= 0) return `wall ${wall}`;
  const set = setOf(ball);
  return sets[set].alone ? sets[set].name : `${sets[set].name}/${ball - setStarts[set]}`;
}

/* Sets for whose balls a mesh is drawn, and how many balls that are. */
const shapes = filledSets.filter(({number}) => sets[number].mesh !== undefined);
const turning = shapes.reduce((sum, {number}) => sum + sets[number].count, 0);

/* Each belongs to the first frame at which it has happened. */
const events = record.events.map(([step, time, event, a, b, speed, impulse]) =>
  ({time, event, a, b, speed, impulse, step: clamp(lastNotAbove(frameSteps, step - 1) + 1, 0, film.last)}));

/* Frames at which something touches, as [from, to). */
function busySpans() {
  const at = record.curves.findIndex((curve) => curve.name === 'contacts'), spans = [];
  if (at < 0) return spans;
  record.frames.forEach((frame, number) => {
    if (!(frame[2 + at] > 0)) return;
    const last = spans[spans.length - 1];
    if (last && last[1] === number) last[1]++;
    else spans.push([number, number + 1]);
  });
  return spans;
}

/* ---- speeds ---- */

const speedOfLevel = (level) => (level === 0 ? 0 : record.slowest * 2 ** ((level - 0.5) / 8));

/* ---- frames ---- */

async function inflate(text) {
  const packed = new Blob([bytesOfBase64(text)]).stream();
  return new Uint8Array(await new Response(packed.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer());
}

/* Three numbers for each of some balls, axis by axis. */
function unpackNumbers(bytes, from, numbers, before, earlier) {
  const length = numbers.length / 3;
  let at = from;
  for (const axis of [0, 1, 2]) {
    const planes = bytes[at++];
    for (let i = 0, k = axis; i < length; i++, k += 3) {
      let word = 0;
      for (let plane = 0; plane < planes; plane++) word |= bytes[at + plane * length + i] << 8 * plane;
      const foretold = earlier ? 2 * before[k] - earlier[k] : before ? before[k] : i > 0 ? numbers[k - 3] : 0;
      numbers[k] = foretold + (word >>> 1 ^ -(word & 1));
    }
    at += planes * length;
  }
  return at;
}

function unpackFrames(bytes, number) {
  const made = [], bits = Math.ceil(balls / 8);
  for (let at = 0, f = 0; f < number; f++) {
    const places = new Int32Array(3 * balls), turns = new Int32Array(3 * turning);
    const [before, earlier] = [made[f - 1], made[f - 2]];
    at = unpackNumbers(bytes, at, places, before && before.places, earlier && earlier.places);
    const levels = bytes.slice(at, at + balls), touching = bytes.slice(at + balls, at + balls + bits);
    for (let i = 0; before && i < balls; i++) levels[i] += before.levels[i];
    for (let i = 0; before && i < bits; i++) touching[i] ^= before.touching[i];
    at += balls + bits;
    if (turning > 0) at = unpackNumbers(bytes, at, turns, before && before.turns, earlier && earlier.turns);
    made.push({places, levels, touching, turns});
  }
  return made;
}

const groupElements = document.getElementsByClassName('frames');
const kept = new Map(); /* promises of groups, the one asked for last at the end */

function loadGroup(number) {
  const group = kept.get(number) || inflate(groupElements[number].textContent)
    .then((bytes) => unpackFrames(bytes, record.groups[number]));
  kept.delete(number);
  kept.set(number, group);
  if (kept.size > 3) kept.delete(kept.keys().next().value);
  return group;
}

async function loadFrame(number) {
  const group = lastNotAbove(groupStarts, number), frames = await loadGroup(group);
  return frames[number - groupStarts[group]];
}

const touches = (frame, ball) => (frame.touching[ball >> 3] >> (ball & 7) & 1) === 1;
