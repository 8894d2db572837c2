// SPDX-License-Identifier: BSD-3-Clause
// The first line of the page: whether a contract is violated now, how many are, how many are below their
// objective, and which ports are down. Red if there are any; green if nothing on the page of all customers is red.
'use strict';

const NAMED = 5; // customers, at most

// "2 of 12 contracts violated now: acme, globex"; a click on a name opens the customer's page.
function sentence(what, rows, nameOf = ({customer}) => customer, linkOf = customerLink) {
  const names = [...new Set(rows.map(nameOf))];
  const links = names.slice(0, NAMED).flatMap((name, i) => {
    const linked = !recording && linkOf;
    const link = element(linked ? 'a' : 'span', '', name);
    if (linked) link.href = linkOf(name);
    return [i ? ', ' : ': ', link];
  });
  return element('span', 'bad', what, ...links, names.length > NAMED ? ` and ${digits(names.length - NAMED)} more` : '');
}

function headline(source) {
  const rows = (source.tables.contracts ?? []).filter(({met, committed_bytes_per_second: y, demanding_seconds: n}) => met !== undefined || y || n);
  if (!source.tables.contracts) return [];
  const all = source.totals.contracts > source.tables.contracts.length ? `the first ${digits(rows.length)}` : digits(rows.length);
  const when = recording ? 'in this run' : 'now';
  const violated = rows.filter(({met}) => met === false);
  const below = customerRows(source, rows).filter((row) => [row, row.day].some((of) => share(of) < row.objective_ratio));
  const down = (source.tables.ports ?? []).filter(({up}) => up === false);
  const said = [];
  if (!rows.length) said.push(element('span', 'faint', 'No contract is in use.'));
  else if (violated.length) said.push(sentence(`${digits(violated.length)} of ${all} contracts violated ${when}`, violated));
  else said.push(element('span', below.length || down.length || recording || chosenCustomer() !== null ? '' : 'good',
    `None of ${all} contracts is violated ${when}.`));
  if (below.length) said.push(sentence(`${digits(below.length)} below the objective`, below));
  if (down.length) said.push(sentence(`${digits(down.length)} ${down.length > 1 ? 'ports' : 'port'} down`, down, ({name}) => name, null));
  return said;
}

// Replaces the headline only if it has changed.
function showHeadline(node, source) {
  const made = headline(source);
  const text = made.map(({outerHTML}) => outerHTML).join();
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(...made);
}
