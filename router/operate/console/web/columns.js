// SPDX-License-Identifier: BSD-3-Clause
// The columns of each table, in their order. A column without a value in any row is left out.
'use strict';

const text = (key, title) => ({key, title});
const number = (key, title) => ({key, title, number: true});

// The drop precedences of a queue, by their names in a reading; few queues have red.
const PRECEDENCES = {in: 'IN', out: 'OUT', red: 'red'};
const sum = (values) => values.length ? values.reduce((a, b) => a + b) : undefined;
const summed = (counter, title) => ({
  key: counter, title, number: true, value: (row) => sum(Object.keys(PRECEDENCES).filter((p) => row[p]).map((p) => row[p][counter])),
});
const thresholds = (precedence) => ({
  key: `thresholds_${precedence}`, title: `${PRECEDENCES[precedence]} min – max`, number: true, value: (row) => row[precedence]?.min,
  text: ({[precedence]: curve}) => curve?.min === undefined ? '' : `${digits(curve.min)} – ${digits(curve.max)}`,
});

const delivered = (row) => row.delivered_bytes_per_second ?? row.achieved_bytes_per_second;
const sizes = (row) => ({committed: row.committed_bytes_per_second, offered: row.offered_bytes_per_second, delivered: delivered(row)});
const bars = {
  key: 'bar', title: 'offered, delivered | committed', bar: sizes,
  value: (row) => row.committed_bytes_per_second ? delivered(row) / row.committed_bytes_per_second : undefined,
};
const rates = [
  {...number('committed_bytes_per_second'), value: (row) => row.committed_bytes_per_second || undefined},
  number('offered_bytes_per_second'), {...number('delivered_bytes_per_second'), value: delivered},
  {...number('delivered_in_bytes_per_second', 'delivered IN'), value: (row) => row.delivered_in_bytes_per_second ?? row.achieved_in_bytes_per_second},
];

// Violated contracts and values below their objective are red; good values have no colour.
const now = {
  key: 'met', title: 'now', css: ({met}) => met === false ? 'bad' : '',
  text: ({met, reason}) => met === undefined ? '' : met ? 'conforms' : reason ? `violated: ${reason}` : 'violated',
};
const share = (row) => row?.demanding_seconds ? row.met_seconds / row.demanding_seconds : row?.conformance_ratio;
const percent = (part) => part === undefined ? '' : `${digits(100 * part)} %`;
// Rounded down, as `surety show` and `surety report` do: 100.00 % is all of it.
const percentDown = (part) => part === undefined ? '' : `${(Math.floor(1e4 * part + 1e-6) / 100).toFixed(2)} %`;
const conformance = (title, of) => ({
  key: title, title, number: true, value: (row) => share(of(row)), text: (row) => percentDown(share(of(row))),
  css: (row) => share(of(row)) < (row.objective_ratio ?? of(row)?.objective_ratio) ? 'bad' : '',
});
const sinceStart = conformance('conformance', (row) => row);
const objective = {...number('objective_ratio', 'objective'), text: (row) => percent(row.objective_ratio)};
const heldBack = number('held_back_seconds', 'held back');
const contract = [
  text('direction'), text('service'), text('contract'), bars, now, {...text('end_to_end'), css: (row) => row.end_to_end === 'MISSED' ? 'bad' : ''},
  sinceStart, conformance('conformance, 24 h', ({day}) => day), objective, heldBack, ...rates, number('held'),
  number('dropped_conditioner', 'dropped by the conditioner'), number('dropped_queue', 'dropped in queues'), number('dropped_other', 'dropped elsewhere'),
];

const COLUMNS = {
  contracts: [{...text('customer'), link: ({customer}) => recording ? null : customerLink(customer)}, ...contract],
  plan: contract,
  subscribers: [
    {...text('name', 'subscriber'), link: ({name}) => customerLink(name)}, text('plan'), text('owner'), text('place'),
    {...text('state'), css: ({state}) => state === 'violated' ? 'bad' : ''}, bars, sinceStart, ...rates,
    number('rx_bytes_per_second', 'received'), number('tx_bytes_per_second', 'sent'), number('shape_bytes_per_second', 'shaper'),
  ],
  day: [
    text('hour'), text('service'), text('contract'), sinceStart, number('demanding_seconds'),
    {...number('violated_seconds'), css: (row) => row.violated_seconds ? 'bad' : ''}, heldBack, number('delivered_bytes', 'delivered'),
  ],
  violations: [
    text('began'), number('lasted_seconds'), text('service'), text('contract'), text('reason'), number('committed_bytes_per_second'),
    number('offered_bytes_per_second'), number('delivered_in_bytes_per_second', 'delivered IN'),
  ],
  commitments: [
    text('port'), text('group'), text('interface'), text('queue'), text('direction'), number('sold_bytes_per_second', 'committed'),
    number('capacity_bytes_per_second', 'capacity'), text('oversold', 'oversubscribed'), number('members', 'per member of'),
  ],
  services: [
    text('name', 'service'), text('conditioner'), bars, sinceStart, objective, number('contracts'), number('flows'), ...rates,
    {...number('respect_ratio', 'of guaranteed'), text: (row) => percent(row.respect_ratio)}, number('held'), number('dropped'),
  ],
  queues: [
    text('port'), text('interface'), text('name', 'queue'), text('congested'), summed('depth'),
    number('average_in', 'average IN'), number('average_total', 'average of all'), thresholds('in'), thresholds('out'), thresholds('red'),
    summed('arrivals'), summed('early_drops', 'early'), summed('forced_drops', 'forced'), summed('overflow_drops', 'overflow'),
    {...number('in_drops', 'IN dropped'), value: (row) => row.in && row.in.early_drops + row.in.forced_drops + row.in.overflow_drops},
    number('sojourn_p50_seconds', 'sojourn p50'), number('sojourn_p99_seconds', 'sojourn p99'),
  ],
  domains: [text('name', 'congested queue'), number('alpha_ratio', 'alpha')],
  drops: [
    text('port'), text('reason'), number('packets_per_second', 'per second'), number('packets'), text('group'), text('stage'), text('help'),
  ],
  ports: [
    text('name', 'port'), text('device'), {key: 'up', css: ({up}) => up === false ? 'bad' : ''},
    number('rx_bytes_per_second', 'received'), number('tx_bytes_per_second', 'sent'), number('shape_bytes_per_second', 'shaper'),
    number('rx_packets_per_second', 'packets received'),
    number('tx_packets_per_second', 'packets sent'), number('rx_missed', 'missed'), number('dropped'), number('queued'), number('punted'),
  ],
  interfaces: [
    text('name', 'interface'), text('of'), text('port'), text('customer'), text('vlan'), number('rx_bytes_per_second', 'received'),
    number('tx_bytes_per_second', 'sent'), number('shape_bytes_per_second', 'shaper'), number('rx_packets'), number('tx_packets'), number('members'),
  ],
};

// Columns of a table that COLUMNS does not have: its members in their order, and the members one level down.
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
