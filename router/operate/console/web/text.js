// SPDX-License-Identifier: BSD-3-Clause
// Values for people, in the unit that the name of the member ends in; and elements, whose content is always
// text.
'use strict';

const PREFIXES = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];
const SMALL = [[1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];

function digits(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(size >= 100 ? 3 : 4)));
}

function scaled(value, unit, prefixes) {
  const [size, prefix] = prefixes.find(([least]) => Math.abs(value) >= least) ?? prefixes[prefixes.length - 1];
  return value === 0 ? `0 ${unit}` : `${digits(value / size)} ${prefix}${unit}`;
}

const rate = (bytes) => scaled(bytes * 8, 'bit/s', PREFIXES);

function duration(seconds) {
  if (seconds < 120) return scaled(seconds, 's', SMALL);
  const [size, unit] = [[86400, 'd'], [3600, 'h'], [60, 'min']].find(([least]) => seconds >= 2 * least);
  return `${Math.floor(seconds / size)} ${unit}`;
}

const UNITS = [
  ['_bytes_per_second', rate],
  ['_packets_per_second', (v) => `${digits(v)}/s`],
  ['_bytes', (v) => scaled(v, 'B', PREFIXES)],
  ['_seconds', duration],
  ['_ratio', (v) => digits(Math.round(v * 1000) / 1000)],
];

function shown(key, value) {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
  if (typeof value !== 'number') return String(value);
  const unit = UNITS.find(([suffix]) => key.endsWith(suffix));
  return unit ? unit[1](value) : digits(value);
}

// "committed_bytes_per_second" -> "committed"
const titled = (key) => key.replace(/_(bytes_per_second|packets_per_second|seconds|ratio)$/, '').replaceAll('_', ' ');

// The number of a formatted value, for sorting: "1.03 Mbit/s", "12 ms".
function magnitude(text) {
  const found = /^(-?[\d.]+)(?: ± [\d.]+)? ?([GMkmµn]?)/.exec(text);
  const sizes = {G: 1e9, M: 1e6, k: 1e3, m: 1e-3, µ: 1e-6, n: 1e-9};
  return found ? Number(found[1]) * (sizes[found[2]] ?? 1) : undefined;
}

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
