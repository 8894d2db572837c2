// SPDX-License-Identifier: BSD-3-Clause
// Values of rows over the last minutes: the first thousand rows of each table, 300 values each.
'use strict';

const HISTORY_VALUES = 300, HISTORY_ROWS = 1000;

class RowHistory {
  constructor() {
    this.rows = new Map();
  }

  // Adds all values of one moment: [[key, {member: value}]]. Removes rows that are missing.
  add(time, rows) {
    const kept = new Map();
    for (const [key, values] of rows) {
      const row = this.rows.get(key) ?? (kept.size < HISTORY_ROWS ? {} : null);
      if (row === null) continue;
      for (const [member, value] of Object.entries(values)) {
        const points = row[member] ??= [];
        points.push({x: time, y: value ?? null});
        if (points.length > HISTORY_VALUES) points.shift();
      }
      kept.set(key, row);
    }
    this.rows = kept;
  }

  points(key, member) {
    return this.rows.get(key)?.[member] ?? [];
  }
}

// Counters as rates: growth per second since the previous reading.
class Rates {
  constructor() {
    this.before = new Map();
    this.time = NaN;
  }

  // rows: [[key, row]]; adds to each row `members[counter]` for each of its counters; none in the first reading
  // and after a counter was reset.
  add(time, rows, members) {
    const passed = time - this.time;
    const now = new Map();
    for (const [key, row] of rows) {
      const before = this.before.get(key);
      const counts = {};
      for (const [counter, rateName] of Object.entries(members)) {
        counts[counter] = row[counter];
        if (before && passed > 0 && row[counter] >= before[counter]) row[rateName] = (row[counter] - before[counter]) / passed;
      }
      now.set(key, counts);
    }
    if (passed === 0) return;
    this.before = now;
    this.time = time;
  }
}
