/* data.js: the record as html.c wrote it, and small helpers for the document. */
const byId = (id) => document.getElementById(id);
const record = JSON.parse(byId('record').textContent);
const {objects, clashes, meshes} = record;

const relationWords = {
  separate: 'separate', clearance: 'clearance', touch: 'touch', cross: 'cross', a_in_b: 'A inside B',
  b_in_a: 'B inside A', duplicate: 'duplicate', unknown: 'unknown',
};
/* Told apart by words first; the colours differ in brightness too. */
const relationColours = {
  separate: '#8a929b', clearance: '#4f9e8f', touch: '#d9b310', cross: '#c2185b', a_in_b: '#7b4fc9', b_in_a: '#a583e0',
  duplicate: '#a0673d', unknown: '#6b7480',
};

/* Calm colours for layers; none is the orange or the blue of a selected pair. */
const layerPalette = ['#9aa7b1', '#9db38c', '#c0ab85', '#a994b8', '#86b3ab', '#bd9797', '#b9b8a0', '#8fa0bd',
  '#c2a3b5', '#8fae9b', '#a89f93', '#b5c2a1'];

/* element('b', {className: 'x'}, child, 'text', ...): text is never parsed. */
function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key.startsWith('aria-') || key === 'role' || key === 'scope') made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const count = (number) => number.toLocaleString('en-US');
const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

/* Six digits for reading; the full number is in the record. */
const rounded = (number) => (number === null ? '' : String(Number(number.toPrecision(6))));
const length = (number) => (number === null ? '' : rounded(number) + (record.units ? ' ' + record.units : ''));
const seconds = (number) => (number === null ? '' : `${Number(number.toPrecision(3))} s`);

function hexColour(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}

const layerNames = [...new Set(objects.map((object) => object.layer))].sort();
const layerNumber = new Map(layerNames.map((name, number) => [name, number]));
const layerWord = (name) => name || '(no layer)';

function layerPair(clash) {
  return [objects[clash.a].layer, objects[clash.b].layer].map(layerWord).sort().join(' / ');
}

clashes.forEach((clash, number) => {
  const a = objects[clash.a], b = objects[clash.b];
  clash.number = number;
  clash.layers = layerPair(clash);
  clash.text = [a.name, b.name, clash.layers, clash.id, clash.comment, clash.reason || '', relationWords[clash.relation]]
    .join('\n').toLowerCase();
});
const clashOfId = new Map(clashes.map((clash) => [clash.id, clash]));

/* Settings that the reader would not want to repeat; a page from disk may be refused the storage. */
const settings = {
  read(key) {
    try { return localStorage.getItem('graze-' + key); } catch { return null; }
  },
  write(key, value) {
    try { localStorage.setItem('graze-' + key, value); } catch { /* then not */ }
  },
};
