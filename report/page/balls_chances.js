/* balls_chances.js: how probably what is hit, over many runs of which the film shows the first: colours, a table, and
 * what is known of one. */
const chances = new Map((record.chances ? record.chances.of : []).map(([member, runs, low, high, energy]) =>
  [member, {runs, low, high, energy}]));
const mostRuns = Math.max(0, ...[...chances.values()].map((chance) => chance.runs));
const neverColour = layerPalette[0];
const percent = (part) => `${shortNumber(100 * part)} %`;
const hitWords = (runs) => `${count(runs)} of ${plural(record.chances.runs, 'run', 'runs')}`;

/* Numbers from 0 to 1; grey where it was never hit. */
function chanceColour(member) {
  const chance = chances.get(member);
  if (!chance || chance.runs === 0) return hexColour(neverColour);
  const at = chance.runs / mostRuns * (ramp.length - 1), first = Math.min(Math.floor(at), ramp.length - 2);
  return mix(hexColour(ramp[first]), hexColour(ramp[first + 1]), at - first);
}

const cssColour = (colour) => `rgb(${colour.map((part) => Math.round(255 * part)).join(', ')})`;
const memberOfObject = (number) => balls + record.walls.length + number;

function showChanceLegend(legend) {
  const bar = element('span', {className: 'ramp'}), never = element('span', {className: 'swatch'});
  bar.style.background = `linear-gradient(90deg, ${ramp.join(', ')})`;
  never.style.background = neverColour;
  legend.replaceChildren(element('span', {}, never, 'never hit'),
    element('span', {}, '0 ', bar, ` ${percent(mostRuns / record.chances.runs)} of the runs`));
}

/* "65 %, 55.3 to 73.6 %", and how hard. */
function chanceText(member) {
  const {runs, low, high, energy} = chances.get(member);
  return `hit in ${hitWords(runs)}: ${percent(runs / record.chances.runs)}, ${shortNumber(100 * low)} to ${percent(high)}` +
    (runs > 0 ? ` \u00B7 with ${shortNumber(energy)} J at most` : '');
}

function chanceRow(member) {
  const {runs, low, high, energy} = chances.get(member), swatch = element('span', {className: 'swatch'});
  swatch.style.background = cssColour(chanceColour(member));
  const row = element('tr', {onclick: () => pick(member)}, element('td', {}, swatch),
    element('td', {className: 'name'}, element('button', {type: 'button', className: 'plain'}, ballName(member))),
    element('td', {className: 'number'}, percent(runs / record.chances.runs)),
    element('td', {className: 'number'}, `${shortNumber(100 * low)} to ${percent(high)}`),
    element('td', {className: 'number'}, shortNumber(energy)));
  row.dataset.member = member;
  return row;
}

/* What was hit, the most often first; of the others how many, and the bound that they share. */
function buildChances() {
  if (!record.chances) return;
  const {runs, asked, seed} = record.chances, table = byId('chance-rows');
  const hit = [...chances.keys()].filter((member) => chances.get(member).runs > 0)
    .sort((a, b) => chances.get(b).runs - chances.get(a).runs || a - b);
  const never = [...chances.values()].filter((chance) => chance.runs === 0);
  byId('chances').hidden = false;
  byId('chance-title').textContent = `Hit in ${plural(runs, 'run', 'runs')}` +
    (runs < asked ? ` of the ${count(asked)} that were asked for` : '');
  byId('chance-note').textContent = `The film shows the run of seed ${seed}; the others have the next seeds. Bounds are Wilson's, of 95 %.`;
  table.append(...hit.map(chanceRow));
  byId('chance-never').textContent = never.length === 0 ? '' : hit.length === 0 ? 'Nothing was hit.' :
    `${plural(never.length, 'other was', 'others were')} never hit: at most ${percent(never[0].high)}`;
  byId('paint').prepend(element('option', {value: 'chance'}, 'chance of a hit'));
  byId('paint').value = scenery.paint = 'chance';
  byId('ghosts').checked = view.ghosts = false;
  view.colourOf = (number) => (scenery.paint === 'chance' ? chanceColour(memberOfObject(number)) : null);
}

/* After `paint` has changed. */
function sendPaint() {
  const gl = view.gl;
  if (!record.chances || !gl || gl.isContextLost()) return;
  fillBuffer(gl, view.tints, scenery.paint === 'chance' ? tintsBy(chanceColour) : tintsOfSets(), gl.STATIC_DRAW);
  for (const number of drawable) placeTexels(view.texels.texels, number);
  sendTexels();
}
