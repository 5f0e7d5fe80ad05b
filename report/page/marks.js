/* marks.js: the reviewer's marks and comments. They are made in the details of a clash and saved as the table that the
 * next check reads (--marks). The browser keeps them too, if it may, so that a reload loses nothing. */
const review = {changed: new Map(), unsaved: new Set(), key: `marks ${location.pathname} ${record.title} ${record.created}`};

function searchText(clash) {
  const a = objects[clash.a], b = objects[clash.b];
  return [a.name, b.name, a.label || '', b.label || '', clash.layers, clash.id, clash.mark, clash.comment, clash.reason || '',
    relationWords[clash.relation]].join('\n').toLowerCase();
}

/* Whether the browser keeps it. */
function keepChanges() {
  return settings.write(review.key, JSON.stringify([...review.changed]));
}

function restoreChanges() {
  let kept = [];
  try { kept = JSON.parse(settings.read(review.key) || '[]'); } catch { /* somebody else's */ }
  for (const [id, change] of kept) {
    const clash = clashOfId.get(id);
    if (!clash) continue;
    Object.assign(clash, change);
    review.changed.set(id, change);
    review.unsaved.add(id);
  }
}

/* What follows from another mark or comment; the details stay as they are, for somebody is typing there. */
function changeReview(clash, change) {
  Object.assign(clash, change);
  clash.text = searchText(clash);
  review.changed.set(clash.id, {mark: clash.mark, comment: clash.comment});
  review.unsaved.add(clash.id);
  if (!keepChanges()) window.onbeforeunload = (event) => event.preventDefault();
  if ('mark' in change) offerMarks();
  showMarksToSave();
  showRows(true);
}

function showMarksToSave() {
  byId('save').hidden = review.unsaved.size === 0;
  byId('save').textContent = `Save ${plural(review.unsaved.size, 'mark', 'marks')}`;
}

/* As RFC 4180 has it: every clash with a mark or a comment, and those that lost theirs. */
function marksTable() {
  const quoted = (text) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = clashes.filter((clash) => clash.mark || clash.comment || review.changed.has(clash.id))
    .map((clash) => [clash.id, clash.mark, clash.comment].map(quoted).join(','));
  return ['id,mark,comment', ...lines, ''].join('\r\n');
}

function saveMarks() {
  const link = element('a', {href: URL.createObjectURL(new Blob([marksTable()], {type: 'text/csv'})), download: 'marks.csv'});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  review.unsaved.clear();
  window.onbeforeunload = null;
  showMarksToSave();
}

/* The fields in the details of a clash. */
function reviewFields(clash) {
  const mark = element('select', {id: 'mark-of', onchange: () => changeReview(clash, {mark: mark.value})});
  for (const value of ['', 'reviewed', 'approved']) mark.append(element('option', {value}, value || 'none'));
  mark.value = clash.mark;
  const comment = element('textarea', {id: 'comment-of', rows: 1, value: clash.comment, placeholder: 'Comment',
    'aria-label': 'Comment', oninput: () => changeReview(clash, {comment: comment.value})});
  return element('div', {className: 'line review'}, element('label', {}, 'Mark ', mark), comment);
}

function buildMarks() {
  restoreChanges();
  byId('save').onclick = saveMarks;
  showMarksToSave();
}
