// SPDX-License-Identifier: BSD-3-Clause
// The page: the tables that it requests and how often, and the additional parts of a lab's recording.
'use strict';

const EVERY = 1000, LEAST_PAUSE = 300, AFTER_FAILURE = 2000; // ms
const byId = (id) => document.getElementById(id);

const source = recording ? new Recording(recording) : new Router();
const sections = SECTIONS.filter(({name}) => !recording || source.has(name)).map((what) => new Section(what, source));
const customerPage = recording ? null : new CustomerPage(source);
const tables = [];

function drawAll() {
  setText(byId('title'), source.title);
  setText(byId('about'), source.about);
  document.title = source.title;
  showHeadline(byId('headline'), source);
  const customer = recording ? null : chosenCustomer();
  byId('main').hidden = customer !== null;
  byId('search').hidden = customer !== null;
  if (customerPage) customerPage.element.hidden = customer === null;
  if (customer !== null) return customerPage.show(customer);
  const search = byId('search').value.trim();
  for (const section of sections) section.show(search);
  for (const [table, rows] of tables) table.show(rows, search);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const seen = () => new Promise((resolve) => {
  if (!document.hidden) return resolve();
  document.addEventListener('visibilitychange', resolve, {once: true});
});

// The headline shows contracts.
function wanted() {
  const open = sections.filter(({shown}) => shown).flatMap(({name, also = []}) => [name, ...also]);
  return [...new Set(['router', 'contracts', ...chosenCustomer() === null ? open : CustomerPage.TABLES])];
}

async function follow() {
  for (;;) {
    await seen();
    const begun = performance.now();
    let wait = EVERY;
    try {
      await source.refresh(wanted());
      byId('status').hidden = true;
    } catch (error) {
      setText(byId('status'), `No answer since ${new Date().toLocaleTimeString()}: ${error.message}`);
      byId('status').hidden = false;
      wait = AFTER_FAILURE;
    }
    drawAll();
    await pause(Math.max(LEAST_PAUSE, wait - (performance.now() - begun)));
  }
}

const OVER_TIME = [['throughput_bytes_per_second', 'Throughput at the receiver'], ['rate_bytes_per_second', 'Sending rate X (TFRC, gTFRC)'],
  ['window', 'Congestion window (TCP), packets'], ['delay_seconds', 'One-way delay, mean']];

// Committed rates of `rows`; equal rates are one level.
function committedRates(rows) {
  const names = new Map();
  for (const {committed_bytes_per_second: y, customer} of rows)
    if (y) names.set(y, (names.get(y) ?? new Set()).add(customer));
  return [...names].map(([y, who]) => ({name: `committed: ${[...who].join(', ')}`, y}));
}

// All flows over time; the flows of a sender have lines of their own if there is room for them.
function overTime(rows) {
  const cards = [];
  for (const [member, title] of OVER_TIME) {
    const stems = new Map();
    for (const row of rows) {
      const points = source.points('contracts', row, member);
      if (!points.length) continue;
      if (!stems.has(row.customer)) stems.set(row.customer, []);
      stems.get(row.customer).push({name: row.customer + row.contract, points, row});
    }
    let card = null;
    for (const [name, all] of stems) {
      const lines = all.length > LINES ? envelope(`${name} × ${all.length}`, all) : all;
      if (!card || card.lines.length + lines.length > LINES) cards.push(card = {title, unit: member, lines: [], rows: []});
      card.lines.push(...lines);
      card.rows.push(...all.map(({row}) => row));
    }
  }
  for (const card of cards) card.levels = card.unit === OVER_TIME[0][0] ? committedRates(card.rows) : [];
  return cards;
}

function resultTable({title, columns, rows}) {
  const verdicts = {MISSED: 'bad', never: 'bad'};
  const shownColumns = columns.map((column, i) => ({key: String(i), title: column.title, number: column.number, css: (row) => verdicts[row[i]] ?? '',
    value: (row) => column.number ? magnitude(row[i]) : row[i], text: (row) => row[i]}));
  const table = new Table(shownColumns);
  tables.push([table, rows.map((cells) => ({...cells.map((cell) => cell.replaceAll('+-', '±'))}))]);
  return element('section', 'result', element('h2', '', title), table.element);
}

function showRecording() {
  const grid = element('div', 'cards wide');
  const plotted = overTime(source.tables.contracts ?? []).map(({title, unit, lines, levels}) => {
    const plot = new Plot({unit});
    grid.append(plot.element);
    return () => plot.show(title, lines, levels);
  });
  const over = element('section', '', element('h2', '', 'Over time'), grid);
  over.id = 'over-time';
  byId('main').append(over, ...recording.results.map(resultTable));
  drawAll();
  for (const show of plotted) show();
}

followScheme();
dark.addEventListener('change', () => { followScheme(); drawAll(); });
byId('search').addEventListener('input', drawAll);
byId('main').append(...sections.map(({element: made}) => made));
for (const {details} of sections) details.addEventListener('toggle', drawAll);
if (customerPage) byId('main').after(customerPage.element);
addEventListener('hashchange', drawAll);
if (recording) showRecording();
else follow();
