// SPDX-License-Identifier: BSD-3-Clause
// A customer's page, `#customer=NAME`: contracts up, shapers down, conformance, the last 24 hours by the hour,
// and the last violations with their reason.
'use strict';

const customerLink = (name) => `#customer=${encodeURIComponent(name)}`;

// The customer in the page's address; null: the page of all customers.
function chosenCustomer() {
  const found = /^#customer=(.*)$/.exec(location.hash);
  if (!found) return null;
  try {
    return decodeURIComponent(found[1]);
  } catch {
    return found[1];
  }
}

// Shapers of interfaces, as rows beside contracts. A template has no row: each of its members has one.
const shapersOf = (source) => (source.tables.interfaces ?? []).filter((row) => row.shape_bytes_per_second && !row.members).map((row) => ({
  customer: row.customer, direction: 'down', shaper: true, service: 'shaper', contract: row.name, committed_bytes_per_second: row.shape_bytes_per_second,
  delivered_bytes_per_second: row.tx_bytes_per_second,
}));

// Contracts with the records of their last 24 hours, and shapers.
function customerRows(source, contracts) {
  const kept = new Map((source.tables.history ?? []).map((row) => [keyOf('contracts', row), row]));
  return [...contracts.map((row) => ({...row, day: kept.get(keyOf('contracts', row))})), ...shapersOf(source)];
}

// One row for each of the last 24 hours with traffic, the newest first.
function hoursOf(days) {
  const now = new Date();
  const rows = [];
  for (const {service, contract, hours} of days)
    for (let i = hours.met_seconds.length - 1, ago = 0; i >= 0; --i, ++ago) {
      const at = new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() - ago);
      const demanding = hours.demanding_seconds[i];
      if (!demanding && !hours.delivered_bytes[i]) continue;
      rows.push({ago, hour: at.toLocaleString([], {weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}), service, contract,
        demanding_seconds: demanding, met_seconds: hours.met_seconds[i], violated_seconds: demanding - hours.met_seconds[i],
        held_back_seconds: hours.held_back_seconds[i], delivered_bytes: hours.delivered_bytes[i]});
    }
  return rows.sort((a, b) => a.ago - b.ago);
}

// Episodes of violated seconds, the newest first. `events`: oldest first.
function violationsOf(events, customer) {
  const open = new Map();
  const rows = [];
  for (const {kind, time, age_seconds: age, fields} of events) {
    if (fields?.customer !== customer) continue;
    const key = keyOf('contracts', fields);
    if (kind === 'promise_missed') {
      const row = {...fields, began: new Date(time).toLocaleString([], {hourCycle: 'h23'}), age};
      open.set(key, row);
      rows.push(row);
    } else if (kind === 'promise_kept' && open.has(key)) {
      open.get(key).lasted_seconds = open.get(key).age - age;
      open.delete(key);
    }
  }
  return rows.reverse();
}

class CustomerPage {
  static TABLES = ['contracts', 'interfaces', 'subscribers', 'events', 'history'];

  constructor(source) {
    this.source = source;
    this.name = element('h2');
    this.terms = element('p', 'terms');
    this.cards = new Cards(true);
    this.parts = [this.part('plan', 'Up and down'), this.part('violations', 'Last violations'), this.part('day', 'The last 24 hours')];
    const back = element('a', '', '‹ all customers');
    back.href = '#';
    this.element = element('div', '', element('p', '', back), this.name, this.terms, ...this.parts.map(({element: made}) => made));
    this.element.id = 'customer';
    this.parts[0].element.append(this.cards.element);
  }

  // show(rows, none): `none` is shown if there are no rows.
  part(name, title) {
    const table = new FittedTable(name);
    const note = element('p', 'faint');
    const made = element('section', '', element('h2', '', title), note, table.element);
    made.id = name;
    return {element: made, show(rows, none) {
      table.show(rows, '');
      setText(note, rows.length ? '' : none);
    }};
  }

  show(customer) {
    const {source} = this;
    const of = (rows) => (rows ?? []).filter((row) => row.customer === customer);
    const rows = of(customerRows(source, source.tables.contracts ?? []));
    setText(this.name, customer);
    const subscriber = source.tables.subscribers?.find(({name}) => name === customer);
    setText(this.terms, subscriber ? `plan ${subscriber.plan}, ${subscriber.place}, owner ${subscriber.owner}${subscriber.suspended ? ': suspended' : ''}` : '');
    const [plan, violations, day] = this.parts;
    plan.show(rows, 'This customer has no contract in use and no shaper now.');
    violations.show(violationsOf(source.tables.events ?? [], customer), 'None among the events that the router keeps.');
    day.show(hoursOf(of(source.tables.history)), source.has('history') ? 'No records of this customer yet.' :
      'This router keeps no history: `metrics: {report: off}`.');
    this.cards.show([...rateCards(source, 'contracts', rows.filter(({shaper}) => !shaper)), ...this.interfaces(of(source.tables.interfaces))]);
  }

  interfaces(rows) {
    return rows.filter(({members}) => !members).slice(0, CARDS).map((row) => ({title: row.name, unit: '_bytes_per_second', lines: [
      {name: 'received from the customer', points: this.source.points('interfaces', row, 'rx_bytes_per_second'), colour: styled('--offered')},
      {name: 'sent to the customer', points: this.source.points('interfaces', row, 'tx_bytes_per_second'), colour: styled('--delivered')}],
    levels: row.shape_bytes_per_second ? [{name: 'shaper', y: row.shape_bytes_per_second}] : []}));
  }
}
