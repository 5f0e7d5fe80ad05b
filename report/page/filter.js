/* filter.js: which clashes are listed, and in which order. */
const filter = {text: '', relations: new Set(), state: '', mark: '', layers: '', group: '', deeper: '', nearer: '', object: null};
const order = {column: 'worst', down: true};
let listed = clashes.slice(); /* what passes, sorted */

function passes(clash, words, deeper, nearer) {
  if (filter.relations.size > 0 && !filter.relations.has(clash.relation)) return false;
  if (filter.state && (clash.state || 'none') !== filter.state) return false;
  if (filter.mark && (clash.mark || 'none') !== filter.mark) return false;
  if (filter.layers && clash.layers !== filter.layers) return false;
  if (filter.object !== null && clash.a !== filter.object && clash.b !== filter.object) return false;
  if (clash.depth !== null && clash.depth <= deeper) return false; /* what has no depth may be deep */
  if (clash.gap >= nearer) return false; /* what has no gap meets, or is inside */
  if (filter.group) {
    const group = Number(filter.group);
    if (clash.group_object !== group && clash.group_layers !== group && clash.group_place !== group) return false;
  }
  return words.every((word) => clash.text.includes(word));
}

/* What people call an object. */
const shownName = (object) => object.label || object.name;

const collator = new Intl.Collator('en', {numeric: true});

/* First what shares space, the deepest first, then what is not known, what touches or is too near, the nearest first,
 * what is forgiven, and what is no more. */
function kindRank(clash) {
  const states = {resolved: 0, forgiven: 1}, relations = {unknown: 3, touch: 2, clearance: 2, separate: 2};
  return states[clash.state] ?? relations[clash.relation] ?? 4;
}

const depthRank = (clash) => (clash.depth === null ? -1 : clash.depth);
const sortKeys = {
  worst: kindRank,
  number: (clash) => clash.number,
  state: (clash) => clash.state,
  relation: (clash) => relationWords[clash.relation],
  a: (clash) => shownName(objects[clash.a]),
  b: (clash) => shownName(objects[clash.b]),
  layers: (clash) => clash.layers,
  pairs: (clash) => clash.counts.triangle_pairs,
  depth: depthRank,
  gap: (clash) => clash.gap ?? Infinity,
  mark: (clash) => clash.mark,
};

/* Equal keys stay in the order of the check. */
function sortListed() {
  const key = sortKeys[order.column], sign = order.down ? -1 : 1;
  const keyed = listed.map((clash) => [key(clash), clash]);
  const compare = keyed.length > 0 && typeof keyed[0][0] === 'string' ? collator.compare : (x, y) => x - y;
  const gapOf = (clash) => clash.gap ?? 0;
  const second = order.column === 'worst' ? (x, y) => depthRank(y) - depthRank(x) || gapOf(x) - gapOf(y) : () => 0;
  keyed.sort((x, y) => sign * compare(x[0], y[0]) || second(x[1], y[1]) || x[1].number - y[1].number);
  listed = keyed.map((pair) => pair[1]);
}

function filterActive() {
  return filter.text.trim() !== '' || filter.deeper.trim() !== '' || filter.nearer.trim() !== '' || filter.relations.size > 0 || filter.object !== null ||
    Boolean(filter.state || filter.mark || filter.layers || filter.group);
}

function clearFilter() {
  Object.assign(filter, {text: '', state: '', mark: '', layers: '', group: '', deeper: '', nearer: '', object: null});
  filter.relations.clear();
}

function applyFilter() {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const deeper = readLength(filter.deeper), nearer = readLength(filter.nearer);
  listed = clashes.filter((clash) => passes(clash, words, deeper, nearer));
  sortListed();
}
