/* table.js: the list. Only the rows in sight are in the document, with padding above and below, so that ten thousand
 * clashes scroll like ten. */
const rowHeight = 26;
const rowsAround = 12; /* above and below what is in sight */
const rows = byId('rows');
let firstRow = -1, lastRow = -1;

const hasStates = clashes.some((clash) => clash.state);
const hasDepths = clashes.some((clash) => clash.depth !== null);
const hasGaps = clashes.some((clash) => clash.gap !== undefined);
const hasLayers = layerNames.some((name) => name);

/* ", nm - m": the units that occur, from the smallest; nothing if none is known. */
function unitRange() {
  const known = clashes.filter((clash) => clash.depth > 0).sort((x, y) => x.depth - y.depth);
  const [least, most] = [known[0], known[known.length - 1]].map((clash) => (clash ? depthParts(clash.depth)[1] : record.units));
  return !most ? '' : least === most ? `, ${most}` : `, ${least}\u2013${most}`;
}

/* Room for the head with the mark of the order. */
const depthWidth = () => (unitRange().length > 4 ? 'clamp(98px, 26cqi, 130px)' : record.units ? '98px' : '80px');

const columns = [
  {key: 'number', title: '#', width: `${24 + 9 * count(clashes.length).length}px`, number: true,
    text: (clash) => count(clash.number + 1)},
  hasStates && {key: 'state', title: 'State', width: '74px', text: (clash) => clash.state},
  {key: 'relation', title: 'Relation', width: '96px', text: (clash) => relationWords[clash.relation], dot: true},
  {key: 'a', title: 'Object A', text: (clash) => objects[clash.a].name, path: true},
  {key: 'b', title: 'Object B', text: (clash) => objects[clash.b].name, path: true},
  hasLayers && {key: 'layers', title: 'Layers', width: '21%', text: (clash) => clash.layers},
  {key: 'pairs', title: 'Pairs', hint: 'Pairs of triangles that meet', width: '62px', number: true,
    text: (clash) => (clash.state === 'resolved' ? '' : count(clash.counts.triangle_pairs))},
  hasDepths && {key: 'depth', title: 'Depth' + unitRange(), hint: 'Upper bound on how deep they overlap', width: depthWidth(), number: true,
    text: (clash) => depthText(clash.depth)},
  hasGaps && {key: 'gap', title: 'Gap', hint: 'How far apart objects are that are nearer than they may be', width: '80px', number: true,
    text: (clash) => (clash.gap === undefined ? '' : depthText(clash.gap))},
  {key: 'mark', title: 'Mark', width: '84px', text: (clash) => clash.mark},
].filter(Boolean);

function buildTable() {
  byId('columns').append(...columns.map((column) => {
    const col = element('col', {className: 'column-' + column.key});
    if (column.width) col.style.width = column.width;
    return col;
  }));
  const head = element('tr', {'aria-rowindex': 1});
  for (const column of columns) {
    const button = element('button', {type: 'button', title: column.hint || 'Sort by ' + column.title.toLowerCase(),
      onclick: () => sortBy(column.key)});
    column.cell = element('th', {scope: 'col', role: 'columnheader',
      className: `column-${column.key} ${column.number ? 'number' : ''}`}, button);
    column.button = button;
    head.append(column.cell);
  }
  byId('head').append(head);
  rows.addEventListener('scroll', () => showRows(false), {passive: true});
  new ResizeObserver(() => showRows(false)).observe(rows);
  byId('body').addEventListener('click', (event) => {
    const row = event.target.closest('tr.row');
    if (row) selectClash(clashes[Number(row.dataset.number)], {frame: true});
  });
  rows.addEventListener('keydown', tableKey);
  addEventListener('beforeprint', () => showRows(true, true));
  addEventListener('afterprint', () => showRows(true));
  showOrder();
}

function showOrder() {
  for (const column of columns) {
    const here = column.key === order.column;
    column.cell.setAttribute('aria-sort', here ? (order.down ? 'descending' : 'ascending') : 'none');
    column.button.textContent = column.title + (here ? (order.down ? ' \u25BE' : ' \u25B4') : '');
  }
}

/* By depth the deepest come first, by everything else the lowest. */
function sortBy(key) {
  order.down = order.column === key ? !order.down : key === 'depth' || key === 'worst';
  order.column = key;
  sortListed();
  showOrder();
  byId('worst').hidden = order.column === 'worst';
  showRows(true);
  scrollToSelected();
}

function makeRow(clash, place) {
  const row = element('tr', {className: 'row', id: 'row-' + place, 'aria-rowindex': place + 2});
  row.dataset.number = clash.number;
  if (clash.state === 'resolved') row.classList.add('resolved');
  const chosen = clash === view.selected;
  if (chosen) row.classList.add('chosen');
  row.setAttribute('aria-selected', chosen);
  for (const column of columns) {
    const text = column.text(clash);
    const cell = element('td', {title: text,
      className: `column-${column.key} ${column.number ? 'number' : column.path ? 'name cut' : 'name'}`});
    if (column.dot) cell.append(relationDot(clash.relation));
    if (column.path) cell.append(element('div', {}, ...pathParts(objects[clash[column.key]])));
    else cell.append(text);
    row.append(cell);
  }
  return row;
}

/* Of "Site/Pump 3/Flange" the end tells most, of an object with a label the label, and of a name that exporters of IFC
 * have added its GlobalId to, what stands before. */
function nameParts({name, label}) {
  if (label) return {end: label, path: name};
  const slash = name.lastIndexOf('/');
  if (slash > 0 && slash < name.length - 1) return {end: name.slice(slash + 1), path: name.slice(0, slash)};
  const [, before, id] = name.match(/^(.*[^_ :])[_ :]([0-3][0-9A-Za-z_$]{21})$/) || [];
  return id ? {end: before, path: id} : {end: name, path: ''};
}

/* Where names differ from those beside them in the alphabet: what comes before may go where there is no room. */
function markDifferences() {
  const ends = objects.map((object) => nameParts(object).end);
  const sorted = objects.map((_, number) => number).sort((x, y) => (ends[x] < ends[y] ? -1 : ends[x] > ends[y] ? 1 : 0));
  const alike = (x, y) => {
    let k = 0;
    while (k < x.length && k < y.length && x[k] === y[k]) k++;
    return k;
  };
  let before = 0;
  sorted.forEach((number, place) => {
    const name = ends[number], next = place + 1 < sorted.length ? alike(name, ends[sorted[place + 1]]) : 0;
    const differs = Math.min(Math.max(before, next), name.length - 6);
    objects[number].cut = differs < 6 ? 0 : Math.max(differs, name.length - 10);
    before = next;
  });
}
markDifferences();

/* The end comes first: "Flange" and, paler, "Site/Pump 3". A long name loses its middle: "IfcWall...Wand-Ext-3". */
function pathParts(object) {
  const {end, path} = nameParts(object);
  return [...cutParts(end, object.cut), ...(path ? [element('span', {className: 'muted path'}, path)] : [])];
}

function cutParts(name, cut) {
  if (!cut) return [element('span', {className: 'start'}, name)];
  return [element('span', {className: 'start'}, name.slice(0, cut)), element('span', {className: 'end'}, element('bdi', {dir: 'ltr'}, name.slice(cut)))];
}

function relationDot(relation) {
  const dot = element('span', {className: 'dot', 'aria-hidden': 'true'});
  dot.style.background = relationColours[relation];
  return dot;
}

function padRow(height) {
  const cell = element('td'), row = element('tr', {className: 'pad', 'aria-hidden': 'true'}, cell);
  cell.style.height = height + 'px';
  return row;
}

/* `again`: the rows themselves have changed; `all`: every row, for paper. */
function showRows(again, all) {
  const top = Math.floor(rows.scrollTop / rowHeight);
  const first = all ? 0 : Math.max(0, top - rowsAround);
  const last = all ? listed.length
    : Math.min(listed.length, top + Math.ceil(rows.clientHeight / rowHeight) + rowsAround);
  if (!again && first === firstRow && last === lastRow) return;
  firstRow = first;
  lastRow = last;
  const made = [];
  if (first > 0) made.push(padRow(first * rowHeight));
  for (let place = first; place < last; place++) made.push(makeRow(listed[place], place));
  if (last < listed.length) made.push(padRow((listed.length - last) * rowHeight));
  byId('body').replaceChildren(...made);
  if (again) byId('table').classList.toggle('unmarked', !clashes.some((clash) => clash.mark));
  byId('table').setAttribute('aria-rowcount', listed.length + 1);
  const place = listed.indexOf(view.selected);
  if (place >= first && place < last) byId('table').setAttribute('aria-activedescendant', 'row-' + place);
  else byId('table').removeAttribute('aria-activedescendant');
}

function scrollToSelected() {
  const place = listed.indexOf(view.selected), head = byId('head').offsetHeight;
  if (place < 0) return;
  const top = place * rowHeight;
  if (top < rows.scrollTop) rows.scrollTop = top;
  if (top + rowHeight + head > rows.scrollTop + rows.clientHeight) {
    rows.scrollTop = top + rowHeight + head - rows.clientHeight;
  }
}

/* Steps through the list from the selected clash; without one from the top. */
function step(by) {
  if (listed.length === 0) return;
  const place = listed.indexOf(view.selected);
  const next = place < 0 ? (by > 0 ? 0 : listed.length - 1) : clamp(place + by, 0, listed.length - 1);
  selectClash(listed[next], {frame: true});
}

function tableKey(event) {
  const page = Math.max(1, Math.floor(rows.clientHeight / rowHeight) - 2);
  const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -listed.length, End: listed.length};
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('button')) return;
  if (event.key in steps) {
    event.preventDefault();
    event.stopPropagation();
    step(steps[event.key]);
  } else if (event.key === 'Enter' && view.selected) {
    frameClash(view.selected);
  }
}
