/* main.js: what belongs together is put together here: selecting a clash, the link in the address, the start. */
function selectClash(clash, options) {
  view.selected = clash;
  view.picked = null;
  setLines(clash);
  setMarkers();
  showPicked();
  showDetails();
  showLegend();
  showRows(true);
  scrollToSelected();
  setLink(clash);
  if (clash && options && options.frame) {
    frameClash(clash);
    showOnPhone(byId('details'));
  }
  requestDraw();
}

/* On a narrow screen the details are below the list: brought there, under the picture that stays at the top. */
function showOnPhone(panel) {
  if (!matchMedia('(max-width: 820px)').matches) return;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  panel.scrollIntoView({block: 'nearest', behavior: still ? 'instant' : 'smooth'});
}

/* The address names the clash, so that it can be sent on. */
function setLink(clash) {
  const link = clash ? '#clash=' + encodeURIComponent(clash.id) : '#';
  if (location.hash === (clash ? link : '')) return;
  try {
    history.replaceState(null, '', link);
  } catch {
    location.hash = link; /* some browsers refuse the above to pages from disk */
  }
}

function followLink() {
  const match = /^#clash=(.*)$/.exec(location.hash);
  if (!match) return;
  let id = match[1];
  try { id = decodeURIComponent(id); } catch { /* taken as it stands */ }
  const clash = clashOfId.get(id);
  if (!clash) {
    byId('shown').textContent = `The address names clash ${id}, which is not in this report.`;
    return;
  }
  if (clash === view.selected) return;
  if (!listed.includes(clash)) {
    clearFilter();
    refresh();
  }
  selectClash(clash, {frame: true});
}

function showLegend() {
  const legend = byId('legend'), clash = view.selected;
  legend.hidden = !clash;
  if (!clash) return;
  const entry = (className, name) => element('span', {}, element('span', {className: 'swatch ' + className}),
    element('span', {className: 'name'}, name));
  legend.replaceChildren(entry('first', shownName(objects[clash.a])), entry('second', shownName(objects[clash.b])));
}

const keyLines = [['Left drag', 'turn'], ['Right or Shift drag', 'move'], ['Wheel', 'zoom to the pointer'],
  ['One, two fingers', 'turn; move and zoom'], ['Click', 'choose an object or a marker'],
  ['n, p', 'next, previous clash'], ['f', 'look at the clash'], ['Arrow keys', 'turn; with Shift move'],
  ['+, -', 'zoom'], ['Home', 'fit all'], ['/', 'filter'], ['Escape', 'select nothing']];

function start() {
  buildMarks();
  for (const clash of clashes) clash.text = searchText(clash);
  showFacts();
  showAbout();
  buildChips();
  buildFilters();
  buildTable();
  buildTools(keyLines);
  buildSection();
  buildInput();
  buildTheme();
  refresh();
  startView(() => {
    setLines(view.selected);
    setMarkers();
  });
  Object.assign(camera, fittingView());
  setMarkers();
  followLink();
  addEventListener('hashchange', followLink);
  requestDraw();
  document.documentElement.dataset.state = 'ready';
}
start();
