// SPDX-License-Identifier: BSD-3-Clause
// The sections of the page: a table each, below cards that plot its first rows over time.
'use strict';

const CARDS = 6, RECORDED_CARDS = 60, LINES = 12; // at most
const first = (source, rows) => rows.slice(0, source.recorded ? RECORDED_CARDS : CARDS);

const ownRates = (source, name, row) => [
  {name: 'at the receiver', points: source.points(name, row, 'throughput_bytes_per_second'), colour: styled('--delivered')},
  {name: 'delivered', points: source.points(name, row, 'delivered_bytes_per_second'), colour: styled('--delivered')},
  {name: 'offered', points: source.points(name, row, 'offered_bytes_per_second'), colour: styled('--offered')},
  {name: 'delivered', points: source.points(name, row, 'achieved_bytes_per_second'), colour: styled('--delivered')},
].filter(({points}) => points.length);

function rateCards(source, name, rows) {
  return rows.filter((row) => row.committed_bytes_per_second > 0).slice(0, CARDS).map((row) => ({
    title: [...new Set([row.customer, row.service ?? row.name, row.contract])].filter(Boolean).join(' · '),
    unit: '_bytes_per_second', lines: ownRates(source, name, row),
    levels: [{name: 'committed', y: row.committed_bytes_per_second}],
  }));
}

function queueCards(source, name, rows) {
  return first(source, rows.filter((row) => (row.rio || source.recorded) && !row.members)).map((row) => ({
    title: [row.port, row.interface, row.name].filter(Boolean).join(' / '),
    lines: [
      {name: 'average IN', points: source.points(name, row, 'average_in'), colour: styled('--delivered')},
      {name: row.rio ? 'average of all' : 'depth', points: source.points(name, row, 'average_total'), colour: styled('--offered')},
    ].filter(({points}) => points.length || !source.recorded),
    levels: Object.keys(PRECEDENCES).filter((p) => row[p]?.min !== undefined).flatMap((p) => ['min', 'max'].map((end) => ({
      name: `${PRECEDENCES[p]} ${end}`, y: row[p][end], colour: styled({in: '--delivered', out: '--offered', red: '--bad'}[p])}))),
  }));
}

// All rows in one card.
const together = (title, member, unit, label = (row) => row.name) => (source, name, rows) => {
  const lines = rows.slice(0, LINES).map((row) => ({name: label(row), points: source.points(name, row, member)}));
  return lines.some(({points}) => points.length) ? [{title, unit, lines, wide: true}] : [];
};

function portCards(source, name, rows) {
  return first(source, rows).map((row) => ({title: row.name, unit: '_bytes_per_second', lines: [
    {name: 'received', points: source.points(name, row, 'rx_bytes_per_second')},
    {name: 'sent', points: source.points(name, row, 'tx_bytes_per_second')}],
  levels: row.shape_bytes_per_second ? [{name: 'shaper', y: row.shape_bytes_per_second}] : []}));
}

const most = (rows) => [...rows].sort((a, b) => b.packets - a.packets);
const dropCards = (source, name, rows) =>
  together('packets dropped per second', 'packets_per_second', '_packets_per_second', (row) => `${row.port}: ${row.reason}`)(source, name, most(rows));

const SECTIONS = [
  {name: 'contracts', title: 'Customers', sort: recording ? {key: 'end_to_end', down: true} : {key: 'met', down: false},
    rows: (rows, source) => customerRows(source, rows),
    cards: (source, name, rows) => rateCards(source, name, rows.filter(({shaper}) => !shaper)), also: ['interfaces', 'history'], open: true},
  {name: 'subscribers', title: 'Subscribers', sort: {key: 'state', down: true}, open: true, ifAny: true},
  {name: 'services', title: 'Services', cards: (source, ...rest) => source.tables.contracts?.length ? [] : rateCards(source, ...rest), open: true},
  {name: 'queues', title: 'Queues', cards: queueCards, open: true, recordedElsewhere: true},
  {name: 'domains', title: 'Alpha', cards: together('alpha', 'alpha_ratio', '_ratio'), open: true, recordedElsewhere: true},
  {name: 'aggregates', title: 'Aggregates', cards: together('temporary permitted rate', 'tpr_bytes_per_second', '_bytes_per_second'),
    recordedElsewhere: true},
  {name: 'drops', title: 'Drops by reason', sort: {key: 'packets', down: true}, rows: (rows) => rows.filter((row) => row.packets > 0),
    cards: dropCards, open: true},
  {name: 'ports', title: 'Ports', cards: portCards, open: true},
  {name: 'events', title: 'Events', rows: (rows) => [...rows].reverse(), open: true},
  {name: 'routes', title: 'Routes'}, {name: 'neighbors', title: 'Neighbors'}, {name: 'commitments', title: 'Committed capacity'},
  {name: 'interfaces', title: 'Interfaces'}, {name: 'flows', title: 'Largest flows'}, {name: 'filters', title: 'Filters'},
  {name: 'signalling', title: 'Congestion signals'}, {name: 'exceptions', title: 'Exceptions'}, {name: 'workers', title: 'Workers'},
];

// A table with the columns for which its rows have values.
class FittedTable {
  constructor(name, sort = null) {
    this.name = name;
    this.sort = sort;
    this.element = element('div');
  }

  show(rows, search) {
    const columns = usedColumns(this.name, rows);
    const names = columns.map(({key}) => key).join();
    if (names !== this.names) {
      this.made = new Table(columns, this.made?.sort ?? this.sort);
      this.element.replaceChildren(...(rows.length ? [this.made.element] : []));
      this.names = names;
    }
    this.made?.show(rows, search);
  }
}

// Cards with a plot each; plots are updated in place.
class Cards {
  constructor(ago) {
    this.ago = ago;
    this.element = element('div', 'cards');
    this.slots = [];
  }

  show(cards) {
    this.element.classList.toggle('wide', cards.some(({wide}) => wide));
    while (this.slots.length > cards.length) this.slots.pop().remove();
    cards.forEach(({title, lines, levels, unit = ''}, i) => {
      if (this.slots[i]?.unit !== unit) {
        const slot = new Plot({unit, ago: this.ago});
        if (this.slots[i]) this.element.replaceChild(slot.element, this.slots[i].element), this.slots[i].remove();
        else this.element.append(slot.element);
        this.slots[i] = slot;
      }
      this.slots[i].show(title, lines, levels);
    });
  }
}

class Section {
  constructor(what, source) {
    Object.assign(this, what);
    this.source = source;
    this.note = element('p', 'faint');
    this.plots = new Cards(!source.recorded);
    this.table = new FittedTable(this.name, this.sort);
    this.table.element.hidden = Boolean(this.recordedElsewhere && source.recorded);
    this.details = element('details', '', element('summary', '', element('h2', '', this.title)), this.note, this.plots.element, this.table.element);
    this.details.open = Boolean(this.open || source.recorded);
    this.element = element('section', '', this.details);
    this.element.id = this.name;
  }

  get shown() {
    return this.details.open;
  }

  show(search) {
    if (!this.shown) return;
    const rows = this.source.tables[this.name];
    this.element.hidden = Boolean(this.ifAny && !rows?.length);
    setText(this.note, this.about(rows));
    const some = rows && this.rows ? this.rows(rows, this.source) : rows ?? [];
    this.table.show(some, search);
    this.plots.show(rows && this.cards ? this.cards(this.source, this.name, this.table.made?.chosen() ?? some) : []);
  }

  about(rows) {
    if (!this.source.has(this.name)) return `This router has no table of ${this.title.toLowerCase()}.`;
    if (!rows) return 'Not loaded yet.';
    const all = this.source.totals[this.name];
    return all > rows.length ? `The first ${digits(rows.length)} of ${digits(all)}.` : rows.length ? '' : 'There are none.';
  }
}
