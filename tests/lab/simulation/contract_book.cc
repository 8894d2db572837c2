// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/contract_book.h"

#include <algorithm>

namespace surety::lab {

bool ContractBook::enter(std::uint32_t flow, const NodePort& router, std::span<const std::uint8_t> frame) {
  Entry& e = entries_[flow];
  std::size_t i = 0;
  while (i < e.places.size() && e.places[i].router != router.node) ++i;
  if (i == e.places.size()) e.places.push_back(learn(router, frame));
  if (e.places[i].committed == Rate{}) return false;
  e.now = i;
  return true;
}

ContractBook::Place ContractBook::learn(const NodePort& router, std::span<const std::uint8_t> frame) const {
  Place place;
  place.router = router.node;
  const PlannedRouter& r = plan_.routers()[router.node];
  const Snapshot& snapshot = *r.snapshot;
  const auto index = static_cast<std::uint8_t>(router.port);
  ParsedPacket p;
  if (!parse(frame, {r.macs[router.port], index, snapshot.classifier.uses_dscp(), false}, p).forwards())
    return place;
  p.interface = plan_.interface_of(router);
  place.key = p.key;
  if (const auto rule = snapshot.classifier.match(p, index))
    place.committed = snapshot.services[snapshot.service_of_rule(*rule)].committed;
  return place;
}

void ContractBook::update(std::span<const std::unique_ptr<RouterDriver>> routers, Time now) {
  for (Entry& e : entries_)
    for (Place& p : e.places)
      if (p.committed > Rate{}) update(p, routers[p.router]->ingress().flows(), now);
}

void ContractBook::update(Place& p, const FlowTable& table, Time now) {
  FlowId id = table.find(p.key, table.hash(p.key), now);
  if (id == kNoFlow) return;
  if ((table[id].flags & FlowRecord::redirect) != 0) id = table[id].state.shared;
  const std::uint64_t in_bytes = table.counters(id).in_bytes;
  if (id != p.id || in_bytes < p.last) p.last = 0;  // another record than before: it began at nothing
  p.id = id;
  p.in_bytes += in_bytes - p.last;
  p.last = in_bytes;
}

std::optional<ContractBook::Contract> ContractBook::contract(std::uint32_t flow) const {
  const Entry& e = entries_[flow];
  if (e.places.empty() || e.places[e.now].id == kNoFlow) return std::nullopt;
  Contract c{e.places[e.now].committed, 0, e.places[e.now].router, e.places[e.now].id};
  for (const Place& p : e.places) c.in_bytes += p.in_bytes;
  return c;
}

std::uint32_t ContractBook::sharers(std::uint32_t flow) const {
  const Place& here = entries_[flow].places[entries_[flow].now];
  return static_cast<std::uint32_t>(std::count_if(entries_.begin(), entries_.end(), [&](const Entry& o) {
    return !o.places.empty() && o.places[o.now].id == here.id && o.places[o.now].router == here.router;
  }));
}

}  // namespace surety::lab
