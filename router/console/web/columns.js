// SPDX-License-Identifier: BSD-3-Clause
// What of a row is shown, and in which order. A column that no row has a value for is left out.
'use strict';

const text = (key, title) => ({key, title});
const number = (key, title) => ({key, title, number: true});
const verdict = (key, title) => ({key, title, css: (row) => ({true: 'good', false: 'bad'})[row[key]] ?? ''});

// Of both precedences of a queue.
const both = (key, of, title) => ({key, title, number: true, value: (row) => of(row.in ?? {}, row.out ?? {})});
const summed = (counter, title) => both(counter, (i, o) => i[counter] + o[counter], title);
const thresholds = (precedence) => ({
  key: `thresholds_${precedence}`, title: `${precedence.toUpperCase()} min – max`, number: true, value: (row) => row[precedence]?.min,
  text: ({[precedence]: red}) => red?.min === undefined ? '' : `${digits(red.min)} – ${digits(red.max)}`,
});

const sizes = (row) => ({promised: row.committed_bytes_per_second, offered: row.offered_bytes_per_second,
  delivered: row.delivered_bytes_per_second ?? row.achieved_bytes_per_second});
const bars = {
  key: 'bar', title: 'offered, delivered | promised', bar: sizes,
  value(row) {
    const {promised, delivered} = sizes(row);
    return promised ? delivered / promised : undefined;
  },
};
const rates = [
  {...number('committed_bytes_per_second', 'promised'), value: (row) => row.committed_bytes_per_second || undefined},
  number('offered_bytes_per_second'), number('delivered_bytes_per_second'), number('delivered_in_bytes_per_second', 'delivered IN'),
  number('achieved_bytes_per_second', 'let go'), number('achieved_in_bytes_per_second', 'let go IN'), number('respect_ratio', 'respect'),
];

// Conformance: of the seconds that count, those in which all was delivered that is guaranteed.
const share = (row) => row.demanding_seconds ? row.met_seconds / row.demanding_seconds : undefined;
const keeping = {
  key: 'kept', title: 'seconds kept', number: true, value: share,
  text: (row) => share(row) === undefined ? '' : `${digits(100 * share(row))} %`,
  css: (row) => share(row) < row.objective_ratio ? 'bad' : '',
};

const COLUMNS = {
  contracts: [
    text('customer'), text('service'), text('contract'), bars, verdict('met'), ...rates, keeping, number('objective_ratio', 'objective'),
    number('held_back_seconds', 'seconds held back'), number('held'), number('dropped_conditioner', 'dropped by the conditioner'), number('dropped_queue', 'in queues'),
    number('dropped_other', 'elsewhere'),
  ],
  services: [
    text('name', 'service'), text('conditioner'), bars, number('contracts'), number('flows'), ...rates, keeping,
    number('objective_ratio', 'objective'), number('held'), number('dropped'),
  ],
  queues: [
    text('port'), text('interface'), text('name', 'queue'), {key: 'congested', css: ({congested}) => congested ? 'bad' : ''},
    summed('depth'), number('average_in', 'average IN'), number('average_total', 'average of all'), thresholds('in'), thresholds('out'),
    summed('arrivals'), summed('early_drops', 'early'), summed('forced_drops', 'forced'), summed('overflow_drops', 'overflow'),
    both('in_drops', (i) => i.early_drops + i.forced_drops + i.overflow_drops, 'IN dropped'),
    number('sojourn_p50_seconds', 'half waited at most'), number('sojourn_p99_seconds', '99 %'),
  ],
  domains: [text('name', 'congested queue'), number('alpha_ratio', 'alpha')],
  drops: [
    text('port'), text('reason'), number('packets_per_second', 'a second'), number('packets'), text('group'), text('stage'), text('help'),
  ],
  ports: [
    text('name', 'port'), text('device'), verdict('up'), number('rx_bytes_per_second', 'received'), number('tx_bytes_per_second', 'sent'),
    number('shape_bytes_per_second', 'shaper'), number('rx_packets_per_second', 'packets received'),
    number('tx_packets_per_second', 'packets sent'), number('rx_missed', 'missed'), number('dropped'), number('queued'), number('punted'),
  ],
  interfaces: [
    text('name', 'interface'), text('of'), text('port'), text('customer'), text('vlan'), number('rx_bytes_per_second', 'received'),
    number('tx_bytes_per_second', 'sent'), number('rx_packets'), number('tx_packets'), number('members'),
  ],
};

// For a table of which nothing is said above: its members as they come, those of members one level down too.
function columnsOf(rows) {
  const found = new Map();
  for (const row of rows.slice(0, 100))
    for (const [key, value] of Object.entries(row)) {
      if (value === null || typeof value !== 'object' || Array.isArray(value)) {
        if (!found.has(key)) found.set(key, {key, number: typeof value === 'number'});
        continue;
      }
      for (const below of Object.keys(value))
        found.set(`${key}.${below}`, {
          key: `${key}.${below}`, title: titled(`${key} ${below}`), number: true, value: (r) => r[key]?.[below],
          text: (r) => shown(below, r[key]?.[below]),
        });
    }
  return [...found.values()];
}

function usedColumns(name, rows) {
  const value = (column, row) => column.value ? column.value(row) : row[column.key];
  const empty = (v) => v === undefined || v === null || v === '' || Number.isNaN(v);
  return (COLUMNS[name] ?? columnsOf(rows)).filter((column) => rows.some((row) => !empty(value(column, row))));
}
