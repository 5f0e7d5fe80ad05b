/* tools.js: the bar over the 3D view, and the view itself. */
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

function buildKeys(lines) {
  byId('keys-body').append(element('dl', {}, ...lines.flatMap(([key, what]) =>
    [element('dt', {}, key), element('dd', {className: 'muted'}, what)])));
}

function buildGhosts() {
  view.ghosts = byId('ghosts').checked;
  byId('ghosts').onchange = (event) => {
    view.ghosts = event.target.checked;
    requestDraw();
  };
}

function buildTools(keyLines) {
  byId('fit').onclick = fitAll;
  if (byId('ghosts')) buildGhosts();
  byId('up').value = record.up === 'y' ? '1' : '2';
  camera.upAxis = Number(byId('up').value);
  byId('up').onchange = (event) => {
    camera.upAxis = Number(event.target.value);
    requestMoving();
  };
  buildLayers();
  buildKeys(keyLines);
}

/* Without WebGL2 the list is all there is; a lost context comes back, and `restored` tells it what it showed. */
function startView(restored) {
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
    restored();
    requestDraw();
  });
  new ResizeObserver(requestDraw).observe(canvas);
}
