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
  if (clash && options && options.frame) frameClash(clash);
  requestDraw();
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
  legend.replaceChildren(entry('first', objects[clash.a].name), entry('second', objects[clash.b].name));
}

function buildLayers() {
  byId('layer-menu').hidden = layerNames.length < 2;
  layerNames.forEach((name, number) => {
    const box = element('input', {type: 'checkbox', checked: true, onchange: () => {
      if (box.checked) view.hiddenLayers.delete(name);
      else view.hiddenLayers.add(name);
      requestDraw();
    }});
    const swatch = element('span', {className: 'swatch'});
    swatch.style.background = layerPalette[number % layerPalette.length];
    byId('layer-list').append(element('label', {}, box, ' ', swatch, element('span', {className: 'name'}, layerWord(name))));
  });
}

function buildKeys() {
  const lines = [['Left drag', 'turn'], ['Right or Shift drag', 'move'], ['Wheel', 'zoom to the pointer'],
    ['One, two fingers', 'turn; move and zoom'], ['Click', 'choose an object or a marker'],
    ['n, p', 'next, previous clash'], ['f', 'look at the clash'], ['Arrow keys', 'turn; with Shift move'],
    ['+, -', 'zoom'], ['Home', 'fit all'], ['/', 'filter'], ['Escape', 'select nothing']];
  byId('keys-body').append(element('dl', {}, ...lines.flatMap(([key, what]) =>
    [element('dt', {}, key), element('dd', {className: 'muted'}, what)])));
}

function buildTools() {
  byId('fit').onclick = fitAll;
  byId('ghosts').onchange = (event) => {
    view.ghosts = event.target.checked;
    requestDraw();
  };
  byId('up').value = settings.read('up') || '2';
  camera.upAxis = Number(byId('up').value);
  byId('up').onchange = (event) => {
    camera.upAxis = Number(event.target.value);
    settings.write('up', event.target.value);
    requestMoving();
  };
  buildLayers();
  buildKeys();
}

/* Without WebGL2 the list is all there is; a lost context comes back. */
function startView() {
  const refuse = (reason) => {
    byId('no-view').hidden = false;
    byId('no-view').textContent = `No 3D view: ${reason}. The list works without it.`;
    byId('tools').hidden = true;
  };
  try {
    if (!createGraphics()) refuse('this browser does not give the page WebGL2');
  } catch (error) {
    view.gl = null;
    refuse(error.message);
  }
  canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
  canvas.addEventListener('webglcontextrestored', () => {
    createGraphics();
    setLines(view.selected);
    setMarkers();
    requestDraw();
  });
  new ResizeObserver(requestDraw).observe(canvas);
}

function start() {
  showFacts();
  showAbout();
  buildChips();
  buildFilters();
  buildTable();
  buildTools();
  buildSection();
  buildInput();
  buildTheme();
  refresh();
  startView();
  Object.assign(camera, {target: mix(world.low, world.high, 0.5),
    distance: distanceFor(size(subtract(world.high, world.low)) * 0.43)});
  setMarkers();
  followLink();
  addEventListener('hashchange', followLink);
  requestDraw();
  document.documentElement.dataset.state = 'ready';
}
start();
