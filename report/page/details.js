/* details.js: the selected clash in full, and the object that was clicked. */
function fact(title, value, wide) {
  if (value === '' || value === null || value === undefined) return null;
  return element('div', {className: wide ? 'wide' : ''}, element('dt', {}, title), element('dd', {className: 'number'}, value));
}

function copyText(text, button) {
  const done = () => {
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1200);
  };
  const byHand = () => { /* where the clipboard is refused to pages from disk */
    const field = element('textarea', {value: text});
    document.body.append(field);
    field.select();
    if (document.execCommand('copy')) done();
    field.remove();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}

function objectCard(number, className, letter) {
  const object = objects[number];
  const only = element('button', {type: 'button', className: 'plain', onclick: () => showOnly(number)},
    plural(clashCounts()[number], 'clash', 'clashes'));
  return element('div', {className}, element('b', {className: 'name'}, element('span', {className: 'swatch ' + className}),
    `${letter} `, object.label ? `${object.label} (${object.name})` : object.name), element('span', {className: 'muted name'},
    [layerWord(object.layer), object.file].filter(Boolean).join(' \u00B7 ')), only);
}

/* Clashes of each object that are not resolved or listed otherwise: all of the record. */
let clashCountsMade = null;
function clashCounts() {
  if (clashCountsMade) return clashCountsMade;
  clashCountsMade = new Array(objects.length).fill(0);
  for (const clash of clashes) {
    clashCountsMade[clash.a]++;
    clashCountsMade[clash.b]++;
  }
  return clashCountsMade;
}

function detailsHead(clash) {
  const copy = element('button', {type: 'button', id: 'copy', title: 'Copy the id'}, 'Copy');
  copy.onclick = () => copyText(clash.id, copy);
  const button = (text, title, action) => element('button', {type: 'button', title, onclick: action}, text);
  return element('div', {className: 'line'},
    element('h2', {}, relationDot(clash.relation), relationWords[clash.relation]),
    clash.state ? element('span', {className: 'badge'}, clash.state) : null,
    element('a', {className: 'muted number', href: '#clash=' + encodeURIComponent(clash.id), title: 'Link to this clash'},
      clash.id), copy, element('span', {className: 'space'}),
    button('\u2190', 'Previous clash (p)', () => step(-1)), button('\u2192', 'Next clash (n)', () => step(1)),
    button('Frame', 'Look at it closely (f)', () => frameClash(clash)),
    button('Close', 'Select nothing (Escape)', () => selectClash(null)));
}

/* The snapshot beside the page; hidden where there is none. */
function snapshotOf(clash) {
  if (record.snapshots === null) return null;
  const folder = record.snapshots.split('/').map(encodeURIComponent).join('/');
  const image = element('img', {alt: 'Snapshot of the clash', hidden: true,
    src: (folder ? folder.replace(/\/$/, '') + '/' : '') + encodeURIComponent(clash.id) + '.png'});
  image.onload = () => { image.hidden = false; };
  image.onerror = () => { image.remove(); };
  return image;
}

function countsText(counts) {
  const parts = [['areas', 'area', 'areas'], ['segments', 'segment', 'segments'], ['points', 'point', 'points'],
    ['degenerate', 'with a flat triangle', 'with flat triangles']].filter(([key]) => counts[key] > 0)
    .map(([key, one, many]) => plural(counts[key], one, many));
  const of = counts.coplanar > 0 ? `; ${count(counts.coplanar)} of them coplanar` : '';
  return `${count(counts.triangle_pairs)}${parts.length > 0 ? ': ' + parts.join(', ') : ''}${of}`;
}

const forgivenText = (clash) => pointText(clash.translation) +
  (clash.tolerance ? ` (${lengthText(Math.hypot(...clash.translation))} of ${lengthText(clash.tolerance)})` : '');
const forgivenFact = (clash) => (clash.moved_corners ?
  fact('Forgiven, as it ends when corners move within their roundings, by at most', lengthText(clash.moved_corners)) :
  fact('Forgiven, as it ends when B moves by', forgivenText(clash)));
const pointText = (p) => (p.some((x) => x === null) ? '' : p.map(rounded).join('  '));

function boxText(box) {
  if (!box) return '';
  const sides = [0, 1, 2].map((k) => rounded(box.max[k] - box.min[k])).join(' \u00D7 ');
  return `${pointText(box.min)}  to  ${pointText(box.max)}  (${sides}${record.units ? ' ' + record.units : ''})`;
}

/* Three digits, and where these are in other units than the rest of the page, all of them in its own. */
function depthDetail(depth) {
  const [digits, unit] = depthParts(depth);
  return unit === record.units || depth === null ? lengthText(depth) : `${digits} ${unit} (${lengthText(depth)})`;
}

function groupText(clash) {
  return [clash.group_object, clash.group_layers, clash.group_place].filter((number) => number !== undefined)
    .map((number) => groupTitle(record.groups[number])).join(' \u00B7 ');
}

function showDetails() {
  const clash = view.selected, panel = byId('details');
  panel.hidden = !clash;
  panel.replaceChildren();
  if (!clash) return;
  const resolved = clash.state === 'resolved';
  panel.append(...[snapshotOf(clash), detailsHead(clash),
    element('div', {className: 'both'}, objectCard(clash.a, 'first', 'A'), objectCard(clash.b, 'second', 'B')),
    reviewFields(clash),
    element('dl', {className: 'facts'}, ...[
      fact('Why it is not known', clash.reason, true),
      resolved ? fact('Resolved', 'Found by an earlier check and no more by this one', true) : null,
      resolved ? null : fact('Pairs of triangles that meet', countsText(clash.counts)),
      fact('Depth, at most', depthDetail(clash.depth)),
      clash.gap === undefined ? null : fact('Gap', `${depthDetail(clash.gap)}, of a clearance of ${depthDetail(clash.clearance)}`),
      clash.nearest ? fact('Nearest points', clash.nearest.map(pointText).join(' \u00B7 ')) : null,
      clash.state === 'forgiven' && clash.relation === 'cross' ? forgivenFact(clash) : null,
      fact('Point' + (record.units ? ', ' + record.units : ''), pointText(clash.point)),
      fact('Groups', groupText(clash)),
      fact(clash.relation === 'clearance' ? 'Box of the nearest points' : 'Box of what they share', boxText(clash.box), true),
    ].filter(Boolean))].filter(Boolean));
}

/* The card of a clicked object. */
function showPicked() {
  const card = byId('picked'), number = view.picked;
  card.hidden = number === null;
  card.replaceChildren();
  if (number === null) return;
  const object = objects[number], mesh = meshes[object.mesh], found = clashCounts()[number];
  const thinned = mesh.shown < mesh.triangles ? `, ${count(mesh.shown)} shown` : '';
  card.append(element('b', {className: 'name'}, shownName(object)),
    element('div', {className: 'muted name'}, [layerWord(object.layer), object.file].filter(Boolean).join(' \u00B7 ')),
    element('div', {className: 'muted'}, `${plural(mesh.triangles, 'triangle', 'triangles')}${thinned}`),
    element('div', {className: 'line'},
      element('button', {type: 'button', id: 'picked-filter', disabled: found === 0, onclick: () => showOnly(number)},
        found === 0 ? 'No clashes' : 'List its ' + plural(found, 'clash', 'clashes')),
      element('button', {type: 'button', onclick: () => flyToObject(number)}, 'Look'),
      element('button', {type: 'button', onclick: () => pickNothing()}, 'Close')));
}

function pickNothing() {
  view.picked = null;
  showPicked();
  requestDraw();
}
