// SPDX-License-Identifier: BSD-3-Clause
// Sources of the tables: a router, with a request each second, or a lab's recording. Both have `tables`
// ({name: rows}), has(name), and points(table, row, member): the values of a row over time.
'use strict';

// The members that identify a row.
const KEYS = {contracts: ['customer', 'service', 'contract'], queues: ['port', 'interface', 'name'], drops: ['port', 'reason']};
const keyOf = (table, row) => JSON.stringify((KEYS[table] ?? ['name']).map((member) => row[member]));

// Counters that are also shown as rates.
const RATES = {
  ports: {rx_bytes: 'rx_bytes_per_second', tx_bytes: 'tx_bytes_per_second', rx_packets: 'rx_packets_per_second',
    tx_packets: 'tx_packets_per_second'},
  interfaces: {rx_bytes: 'rx_bytes_per_second', tx_bytes: 'tx_bytes_per_second'},
  subscribers: {rx_bytes: 'rx_bytes_per_second', tx_bytes: 'tx_bytes_per_second'},
  drops: {packets: 'packets_per_second'},
};

// Members of which a history is kept.
const REMEMBERED = {
  contracts: ['offered_bytes_per_second', 'delivered_bytes_per_second'],
  services: ['offered_bytes_per_second', 'delivered_bytes_per_second', 'achieved_bytes_per_second'],
  queues: ['average_in', 'average_total'], domains: ['alpha_ratio'], aggregates: ['tpr_bytes_per_second'],
  ports: ['rx_bytes_per_second', 'tx_bytes_per_second'], interfaces: ['rx_bytes_per_second', 'tx_bytes_per_second'],
  drops: ['packets_per_second'],
};

// Seconds between requests for a table; 1 for the others.
const EVERY_SECONDS = {interfaces: 5, subscribers: 5, history: 60};

class Router {
  constructor() {
    this.patience = 15_000; // ms
    this.forget();
  }

  forget() {
    this.names = null;
    this.tables = {};
    this.totals = {};
    this.moments = {};
    this.histories = {};
    this.rates = {};
    this.asked = {};
  }

  has(name) {
    return this.names === null || this.names.includes(name);
  }

  points(table, row, member) {
    return this.histories[table]?.points(keyOf(table, row), member) ?? [];
  }

  async ask(path) {
    const answer = await fetch(path, {cache: 'no-cache', signal: AbortSignal.timeout(this.patience)});
    if (!answer.ok) throw new Error(`the router answers ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    return answer;
  }

  // Requests one table after the other: on a slow link they are less frequent, and never pile up.
  async refresh(wanted) {
    this.names ??= await (await this.ask('api/')).json();
    for (const name of wanted) {
      if (!this.names.includes(name) || !this.due(name)) continue;
      this.asked[name] = performance.now();
      const answer = await this.ask(`api/${name}`);
      this.take(name, await answer.json(), Number(answer.headers.get('Surety-Uptime')), Number(answer.headers.get('Surety-Rows')));
    }
  }

  // An empty table may have rows soon.
  due(name) {
    const every = this.tables[name]?.length ? EVERY_SECONDS[name] ?? 0 : 0;
    return !(name in this.asked) || performance.now() - this.asked[name] >= 1000 * every;
  }

  take(name, rows, moment, total) {
    if (moment === this.moments[name]) return;
    if (moment < this.moments[name]) this.forget(); // the router has restarted
    this.moments[name] = moment;
    this.totals[name] = total;
    const keyed = rows.map((row) => [keyOf(name, row), row]);
    if (RATES[name]) (this.rates[name] ??= new Rates()).add(moment, keyed, RATES[name]);
    if (REMEMBERED[name]) {
      const values = keyed.filter(([, row]) => name !== 'drops' || row.packets > 0)
        .map(([key, row]) => [key, Object.fromEntries(REMEMBERED[name].filter((m) => row[m] !== undefined).map((m) => [m, row[m]]))]);
      (this.histories[name] ??= new RowHistory()).add(moment, values);
    }
    this.tables[name] = rows;
  }

  get title() {
    return this.tables.router?.[0]?.name ?? 'Surety';
  }

  get about() {
    const router = this.tables.router?.[0];
    if (!router) return '';
    const reload = router.last_reload_successful ? '' : ' · the last reload was refused';
    return `${router.version} · up ${duration(router.uptime_seconds)} · ${digits(router.flows)} flows · ${digits(router.routes)} routes${reload}`;
  }
}

class Recording {
  constructor(recorded) {
    this.recorded = recorded;
    this.tables = recorded.tables;
    this.totals = {};
    this.title = recorded.title;
    this.about = recorded.about.replaceAll('+-', '±');
    this.drawn = new Map();
  }

  has(name) {
    return name in this.tables;
  }

  points(table, row, member) {
    const values = row.over_time?.[member] ?? [];
    if (!this.drawn.has(values)) this.drawn.set(values, values.map((y, i) => ({x: (i + 1) * this.recorded.step_seconds, y})));
    return this.drawn.get(values);
  }
}
