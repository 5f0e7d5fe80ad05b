/* keys.js: what clicks and keys do in a report. */
function clickAt(x, y) {
  const clash = view.selected ? null : pickMarker(x, y), found = clash ? null : pickObject(x, y);
  if (clash) {
    selectClash(clash, {frame: true});
    return;
  }
  view.picked = found ? found.object : null;
  showPicked();
  requestDraw();
}

/* Keys that work wherever nothing is being typed. */
function pageKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    escape();
    return;
  }
  if (event.target.closest('input[type="search"], select, textarea')) return;
  const actions = {n: () => step(1), p: () => step(-1), f: () => (view.selected ? frameClash(view.selected) : fitAll()),
    '/': () => byId('search').focus(), '?': () => { byId('keys').open = !byId('keys').open; }};
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/* One thing at a time: the search first, then the clicked object, then the clash. */
function escape() {
  byId('keys').open = byId('layer-menu').open = false;
  if (document.activeElement === byId('search') && filter.text) {
    filter.text = '';
    refresh();
  } else if (view.picked !== null) {
    pickNothing();
  } else {
    selectClash(null);
  }
}
