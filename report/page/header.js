/* header.js: what was checked and how it ended, and the controls that narrow the list down. */
function tally(key) {
  const numbers = new Map();
  for (const clash of clashes) numbers.set(key(clash), (numbers.get(key(clash)) || 0) + 1);
  return numbers;
}

const isApart = (clash) => clash.state === 'resolved' || clash.state === 'forgiven';

function clashesText() {
  const [resolved, forgiven] = ['resolved', 'forgiven'].map((state) => clashes.filter((clash) => clash.state === state).length);
  return plural(clashes.filter((clash) => !isApart(clash)).length, 'clash', 'clashes') +
    (forgiven > 0 ? `, ${count(forgiven)} forgiven` : '') + (resolved > 0 ? ` and ${count(resolved)} resolved` : '');
}

function showFacts() {
  const shownObjects = objects.filter((object) => object.mesh !== null).length;
  byId('title').textContent = byId('title').title = record.title || 'Collision check';
  const total = record.seconds.load + record.seconds.build + record.seconds.query;
  byId('facts').textContent = [
    clashesText(),
    plural(shownObjects, 'object', 'objects'), record.object_pairs > 0 ? plural(record.object_pairs, 'pair', 'pairs') + ' to check' : '',
    record.units ? 'units ' + record.units : 'units not known', 'engine ' + record.engine,
    'exactness ' + record.exactness, record.created, seconds(total)].filter(Boolean).join(' \u00B7 ');
  if (!record.complete) {
    byId('incomplete').hidden = false;
    byId('incomplete').textContent = 'INCOMPLETE: the check stopped before every pair of objects was checked. ' +
      'What is missing here may still clash.';
  }
  const {all, shown} = record.triangles;
  if (shown < all) {
    byId('thinned').hidden = false;
    byId('thinned').textContent = `${count(shown)} of ${count(all)} triangles shown: meshes are thinned for view only. ` +
      'The check used every triangle.';
  }
}

function factTable(caption, lines) {
  return element('table', {}, element('caption', {}, caption), ...lines.map(([name, value]) =>
    element('tr', {}, element('th', {scope: 'row'}, name), element('td', {className: 'number'}, value))));
}

function showAbout() {
  const rules = element('table', {id: 'rules'}, element('caption', {}, 'Rules'));
  for (const rule of record.rules) {
    rules.append(element('tr', {}, element('td', {className: 'number'}, plural(rule.pairs, 'pair', 'pairs')),
      element('td', {className: 'name'}, rule.text)));
  }
  if (record.rules.length === 0) rules.append(element('tr', {}, element('td', {}, 'None: every pair was to be checked')));
  byId('about-body').append(rules, factTable('Times', [['Load', seconds(record.seconds.load)],
    ['Build', seconds(record.seconds.build)], ['Check', seconds(record.seconds.query)]]),
  factTable('Check', [['Created', record.created], ['Units', record.units || 'not known'], ['Engine', record.engine],
    ['Exactness', record.exactness], ['Pairs of objects to check', count(record.object_pairs)],
    ['Objects', count(objects.length)], ['Triangles', count(record.triangles.all)],
    ['Triangles shown', count(record.triangles.shown)]]));
}

/* A chip for each relation that occurs; pressed ones narrow the list. What is forgiven or resolved is counted apart. */
function buildChips() {
  const numbers = tally((clash) => clash.relation);
  const apart = tally((clash) => isApart(clash) && clash.relation);
  for (const relation of Object.keys(relationWords)) {
    if (!numbers.has(relation)) continue;
    const chip = element('button', {type: 'button', 'aria-pressed': 'false'}, relationDot(relation),
      relationWords[relation] + ' ', element('b', {}, count(numbers.get(relation) - (apart.get(relation) || 0))));
    if (apart.has(relation)) {
      chip.title = `and ${count(apart.get(relation))} forgiven or resolved`;
      chip.append(element('span', {className: 'muted'}, ` +${count(apart.get(relation))}`));
    }
    chip.dataset.relation = relation;
    chip.onclick = () => {
      if (!filter.relations.delete(relation)) filter.relations.add(relation);
      refresh();
    };
    byId('chips').append(chip);
  }
}

function addSelect(id, label, options) {
  const select = element('select', {id, 'aria-label': label, onchange: () => {
    filter[id] = select.value;
    refresh();
  }}, element('option', {value: ''}, label));
  for (const [value, text] of options) select.append(element('option', {value}, text));
  byId('filters').append(select);
  return select;
}

/* A group by object has that object's name. */
const labels = new Map(objects.filter((object) => object.label).map((object) => [object.name, object.label]));
const groupTitle = (group) => (group.kind === 'object' && labels.get(group.title)) || group.title;

function addGroupSelect() {
  const select = addSelect('group', 'Any group', []);
  for (const [kind, label] of [['object', 'By object'], ['layers', 'By layers'], ['place', 'By place']]) {
    const group = element('optgroup', {label});
    record.groups.forEach((g, number) => {
      if (g.kind === kind) group.append(element('option', {value: String(number)}, `${groupTitle(g)} (${count(g.clashes)})`));
    });
    if (group.children.length > 0) select.append(group);
  }
}

function addLength(id, words, example, bareExample) {
  byId(id).placeholder = `${words}, e.g. ${unitMetres[record.units] ? example : bareExample}`;
  byId(id).addEventListener('input', () => {
    filter[id] = byId(id).value;
    refresh();
  });
}

/* Only what can make a difference is offered. */
function buildFilters() {
  const choices = (key, word) => [...tally(key)].sort((x, y) => collator.compare(x[0], y[0]))
    .map(([value, number]) => [value, `${word(value)} (${count(number)})`]);
  if (hasStates) {
    addSelect('state', 'Any state', choices((clash) => clash.state || 'none', (value) => (value === 'none' ? 'not forgiven' : value)));
  }
  addSelect('mark', 'Any mark', []);
  offerMarks();
  if (hasLayers) addSelect('layers', 'Any layers', choices((clash) => clash.layers, (value) => value));
  if (record.groups.length > 0) addGroupSelect();
  byId('search').addEventListener('input', () => {
    filter.text = byId('search').value;
    refresh();
  });
  addLength('deeper', 'Deeper than', '1 mm', '0.01');
  addLength('nearer', 'Nearer than', '25 mm', '0.025');
  byId('nearer').hidden = !hasGaps;
  byId('worst').onclick = () => sortBy('worst');
  byId('clear').onclick = () => {
    clearFilter();
    refresh();
  };
}

/* The choices of the filter by mark: they change while marks are made. */
function offerMarks() {
  const select = byId('mark'), numbers = tally((clash) => clash.mark || 'none');
  const options = [...numbers].sort((x, y) => collator.compare(x[0], y[0])).map(([value, number]) =>
    element('option', {value}, `${value === 'none' ? 'no mark' : value} (${count(number)})`));
  select.replaceChildren(element('option', {value: ''}, 'Any mark'), ...options);
  select.value = filter.mark;
}

/* Brings list, controls and markers in line with the filter. */
function refresh() {
  applyFilter();
  for (const chip of byId('chips').children) chip.setAttribute('aria-pressed', filter.relations.has(chip.dataset.relation));
  for (const id of ['state', 'mark', 'layers', 'group']) {
    if (byId(id)) byId(id).value = filter[id];
  }
  if (byId('search').value !== filter.text) byId('search').value = filter.text;
  for (const id of ['deeper', 'nearer']) {
    if (byId(id).value !== filter[id]) byId(id).value = filter[id];
    byId(id).setAttribute('aria-invalid', filter[id].trim() !== '' && Number.isNaN(readLength(filter[id])));
  }
  byId('clear').hidden = !filterActive();
  showStatus();
  rows.scrollTop = 0;
  showRows(true);
  scrollToSelected();
  setMarkers();
  requestDraw();
}

function showStatus() {
  const of = filter.object === null ? '' : `, with ${shownName(objects[filter.object])}`;
  byId('shown').textContent = filterActive() ? `${count(listed.length)} of ${count(clashes.length)} listed${of}` : clashesText();
  const nothing = byId('nothing');
  nothing.hidden = listed.length > 0;
  for (const id of ['table', 'filters']) byId(id).hidden = clashes.length === 0;
  byId('shown').parentElement.hidden = clashes.length === 0;
  if (clashes.length > 0) nothing.textContent = 'No clash passes the filters.';
  else if (record.complete && record.object_pairs === 0) nothing.textContent = 'Nothing found.';
  else if (record.complete) nothing.textContent = `Nothing found: all ${plural(record.object_pairs, 'pair', 'pairs')} of objects checked.`;
  else nothing.textContent = 'Nothing found so far, but the check is incomplete.';
}

function showOnly(number) {
  clearFilter();
  filter.object = number;
  refresh();
}
