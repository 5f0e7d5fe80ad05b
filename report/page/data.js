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
const lengthText = (number) => (number === null ? '' : rounded(number) + (record.units ? ' ' + record.units : ''));

/* In metres; a length in other units has none of the prefixes. */
const unitMetres = {m: 1, mm: 1e-3, cm: 1e-2, in: 0.0254, ft: 0.3048};
const metric = [['km', 1e3], ['m', 1], ['mm', 1e-3], ['\u00B5m', 1e-6], ['nm', 1e-9], ['pm', 1e-12]];

/* Three digits that read back to the number: "0.500", "1.23e-9". */
const threeDigits = (number) => {
  const text = number.toPrecision(3);
  return text.includes('e+') ? String(Number(text)) : text;
};

/* [digits, unit] of a depth: in the record's units where these suit it, else in metric ones that do: 3.00 nm beside
 * 0.500 m. So what is a rounding and what is a collision is told apart at a glance. */
function depthParts(depth) {
  if (depth === null) return ['', ''];
  const {units} = record, value = Number(depth.toPrecision(3));
  if (value === 0) return ['0', units];
  if ((Math.abs(value) >= 0.1 && Math.abs(value) < 1000) || !['m', 'mm', 'cm'].includes(units)) {
    return [threeDigits(depth), units];
  }
  const metres = Number((depth * unitMetres[units]).toPrecision(3));
  const [unit, factor] = metric.find(([, size]) => Math.abs(metres) >= size) || metric[metric.length - 1];
  return [threeDigits(metres / factor), unit];
}
const depthText = (depth) => depthParts(depth).filter(Boolean).join(' ');

/* A length that somebody typed, in the record's units: "0.5", "2 mm", "3nm". NaN: it is none. */
function readLength(text) {
  const [, digits, unit] = /^\s*([\d.]+(?:e[-+]?\d+)?)\s*(.*?)\s*$/i.exec(text) || [];
  const known = Object.fromEntries([...metric, ['um', 1e-6], ['\u03BCm', 1e-6], ...Object.entries(unitMetres)]);
  if (digits === undefined) return NaN;
  if (!unit || unit === record.units) return Number(digits);
  return known[unit] && unitMetres[record.units] ? Number(digits) * known[unit] / unitMetres[record.units] : NaN;
}
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
  clash.number = number;
  clash.layers = layerPair(clash);
});
const clashOfId = new Map(clashes.map((clash) => [clash.id, clash]));

/* Settings that the reader would not want to repeat; a page from disk may be refused the storage. */
const settings = {
  read(key) {
    try { return localStorage.getItem('graze-' + key); } catch { return null; }
  },
  write(key, value) { /* whether it is kept */
    try {
      localStorage.setItem('graze-' + key, value);
      return true;
    } catch {
      return false;
    }
  },
};
