// SPDX-License-Identifier: BSD-3-Clause
// A table that is searched and sorted. If there are many rows, the first ones are on the page; cells are changed in
// place, so that nothing moves while it is read.
'use strict';

const MOST_ROWS = 200;

// A column: {key, title, number, value(row), text(row), css(row), bar(row), link(row)}; only `key` is needed.
class Table {
  constructor(columns, sort = null) {
    this.columns = columns;
    this.sort = sort;
    this.body = element('tbody');
    this.more = element('p', 'faint');
    this.heads = columns.map((column) => this.head(column));
    const table = element('table', '', element('thead', '', element('tr', '', ...this.heads)), this.body);
    this.element = element('div', '', element('div', 'scroll', table), this.more);
    this.rows = [];
    this.search = '';
  }

  head(column) {
    const button = element('button', '', column.title ?? titled(column.key));
    button.type = 'button';
    if (WORDS[button.textContent]) button.title = WORDS[button.textContent];
    button.addEventListener('click', () => {
      const again = this.sort?.key === column.key;
      this.sort = {key: column.key, down: again ? !this.sort.down : Boolean(column.number)};
      this.draw();
    });
    const head = element('th', column.number ? 'number' : '', button);
    head.scope = 'col';
    return head;
  }

  show(rows, search) {
    this.rows = rows;
    this.search = search;
    this.draw();
  }

  value(column, row) {
    return column.value ? column.value(row) : row[column.key];
  }

  text(column, row) {
    return column.text ? column.text(row) : shown(column.key, this.value(column, row));
  }

  // The rows that match the search, in their order.
  chosen() {
    const words = this.search.toLowerCase();
    const rows = words ? this.rows.filter((row) => this.says(row, words)) : [...this.rows];
    const column = this.sort && this.columns.find(({key}) => key === this.sort.key);
    if (!column) return rows;
    const sign = this.sort.down ? -1 : 1;
    const keyed = rows.map((row) => [this.value(column, row) ?? null, row]);
    keyed.sort(([a], [b]) => {
      if (a === b) return 0;
      if (a === null || b === null) return a === null ? 1 : -1; // rows without a value come last
      return sign * (typeof a === 'string' ? a.localeCompare(b, 'en', {numeric: true}) : a - b);
    });
    return keyed.map(([, row]) => row);
  }

  says(row, words) {
    return Object.values(row).some((value) => typeof value === 'string' && value.toLowerCase().includes(words));
  }

  draw() {
    this.heads.forEach((head, i) => {
      const sorted = this.sort?.key === this.columns[i].key;
      head.setAttribute('aria-sort', sorted ? (this.sort.down ? 'descending' : 'ascending') : 'none');
    });
    const rows = this.chosen();
    const count = Math.min(rows.length, MOST_ROWS);
    while (this.body.rows.length > count) this.body.deleteRow(-1);
    for (let i = 0; i < count; ++i) this.fill(this.body.rows[i] ?? this.add(), rows[i]);
    const left = rows.length - count;
    setText(this.more, left ? `and ${left.toLocaleString('en')} more: search, or sort by another column` :
      rows.length || !this.rows.length ? '' : 'No row matches the search.');
  }

  add() {
    const line = this.body.insertRow();
    for (const column of this.columns) {
      const cell = line.insertCell();
      if (column.bar) cell.append(bar());
      if (column.link) cell.append(element('a'));
    }
    return line;
  }

  fill(line, row) {
    this.columns.forEach((column, i) => {
      const cell = line.cells[i];
      if (column.bar) return fillBar(cell.firstChild, column.bar(row));
      const text = this.text(column, row);
      const link = column.link?.(row);
      setText(column.link ? cell.firstChild : cell, text);
      if (link) cell.firstChild.href = link;
      cell.className = [column.number ? 'number' : '', column.css?.(row) ?? ''].join(' ').trim();
      if (text.length > 30) cell.title = text;
      else cell.removeAttribute('title');
    });
  }
}

function bar() {
  return element('div', 'bar', element('i', 'offered'), element('i', 'delivered'), element('i', 'committed'));
}

// The rates as parts of the largest one.
function fillBar(node, {committed = 0, offered = 0, delivered = 0}) {
  const most = 1.15 * Math.max(committed, delivered, Math.min(offered, 2 * Math.max(committed, delivered))) || 1;
  [offered, delivered, committed].forEach((value, i) => {
    node.children[i].style.width = `${Math.min(100, 100 * value / most)}%`;
    node.children[i].hidden = !value;
  });
  node.title = `offered ${rate(offered)}, delivered ${rate(delivered)}, committed ${rate(committed)}`;
}
