// SPDX-License-Identifier: BSD-3-Clause
// A card with lines over time, drawn by Chart.js.
'use strict';

const COLOURS = ['#2f7de1', '#e0952f', '#2aa876', '#c94f7c', '#8b6fd6', '#b8862b', '#4fa3b8', '#d1603d', '#6f8f2f', '#7a7f8c', '#b05cc0', '#3f6fb0'];
const dark = matchMedia('(prefers-color-scheme: dark)');
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const plots = new Set();

function followScheme() {
  Chart.defaults.color = styled('--faint');
  Chart.defaults.borderColor = styled('--rule');
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  for (const plot of plots) plot.remake();
}

class Plot {
  // `unit`: the ending of a member's name that gives its unit (shown()); `ago`: times are shown as seconds before the last one.
  constructor({unit = '', ago = false}) {
    this.unit = unit;
    this.ago = ago;
    this.title = element('h3');
    this.canvas = element('canvas');
    this.element = element('div', 'card', this.title, element('div', 'canvas', this.canvas));
    this.data = {datasets: []};
    plots.add(this);
  }

  remove() {
    this.chart?.destroy();
    this.chart = null;
    this.element.remove();
    plots.delete(this);
  }

  remake() {
    this.chart?.destroy();
    this.chart = null;
    this.draw();
  }

  // lines: [{name, points: [{x, y}], colour}]; levels: [{name, y, colour}], from end to end.
  show(title, lines, levels = []) {
    setText(this.title, title);
    this.title.title = title;
    const times = lines.flatMap(({points}) => points.length ? [points[0].x, points[points.length - 1].x] : []);
    this.from = Math.min(...times);
    this.to = Math.max(...times);
    if (this.ago) lines = lines.map((line) => ({...line, points: line.points.map(({x, y}) => ({x: x - this.to, y}))}));
    if (this.ago) [this.from, this.to] = [this.from - this.to, 0];
    const curves = lines.map(({name, points, colour}, i) => this.curve(name, points, colour ?? COLOURS[i % COLOURS.length]));
    const ends = (y) => (lines.length && isFinite(this.to) ? [{x: this.from, y}, {x: this.to, y}] : []);
    const straight = levels.map(({name, y, colour}) => ({...this.curve(name, ends(y), colour ?? styled('--committed')), borderDash: [5, 4]}));
    this.data.datasets = [...curves, ...straight];
    this.draw();
  }

  curve(label, data, colour) {
    return {label: label.length > 40 ? `${label.slice(0, 39)}…` : label, data, borderColor: colour, backgroundColor: colour,
      borderWidth: 1.7, pointRadius: data.length === 1 ? 2 : 0, spanGaps: false};
  }

  draw() {
    if (!this.element.isConnected) return;
    this.chart ??= new Chart(this.canvas, {type: 'line', data: this.data, options: this.options()});
    Object.assign(this.chart.options.scales.x, {min: this.from, max: this.to});
    this.chart.update('none');
  }

  time(value) {
    return `${digits(Math.round(value * 10) / 10)} s`;
  }

  options() {
    return {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      scales: {
        x: {type: 'linear', ticks: {maxTicksLimit: 6, maxRotation: 0, includeBounds: false, callback: (v) => this.time(v)}},
        y: {beginAtZero: true, ticks: {maxTicksLimit: 5, callback: (v) => shown(this.unit, v)}},
      },
      plugins: {
        decimation: {enabled: true, algorithm: 'min-max'},
        legend: {labels: {boxWidth: 14, boxHeight: 2, padding: 8}},
        tooltip: {callbacks: {
          title: (items) => items.length ? this.time(items[0].parsed.x) : '',
          label: (item) => `${item.dataset.label}: ${shown(this.unit, item.parsed.y)}`,
        }},
      },
    };
  }
}

// Mean, minimum and maximum of many lines at each time; all lines have the same times.
function envelope(name, lines) {
  const longest = lines.reduce((a, b) => (b.points.length > a.points.length ? b : a));
  const at = longest.points.map(({x}, i) => {
    const values = lines.map(({points}) => points[i]?.y).filter((y) => y !== null && y !== undefined);
    return {x, values};
  });
  const line = (what, of) => ({name: `${name}: ${what}`, points: at.map(({x, values}) => ({x, y: values.length ? of(values) : null}))});
  return [line('mean', (v) => v.reduce((a, b) => a + b, 0) / v.length), line('least', (v) => v.reduce((a, b) => Math.min(a, b))),
    line('greatest', (v) => v.reduce((a, b) => Math.max(a, b)))];
}
