#include "tests/lab/contract_book.h"

#include <algorithm>

namespace surety::lab {

void ContractBook::learn(std::uint32_t flow, std::size_t router, std::size_t port,
                         std::span<const std::uint8_t> frame) {
  Entry& e = entries_[flow];
  e.known = true;
  e.router = router;
  const PlannedRouter& r = plan_.routers()[router];
  const ParseContext context{r.macs[port], static_cast<std::uint8_t>(port),
                             r.snapshot->classifier.uses_dscp(), false};
  ParsedPacket p;
  if (parse(frame, context, p).forwards()) e.key = p.key;
}

void ContractBook::update(std::span<const std::unique_ptr<RouterDriver>> routers, Time now) {
  for (Entry& e : entries_) {
    if (!e.known) continue;
    const FlowTable& table = routers[e.router]->ingress().flows();
    FlowId id = table.find(e.key, table.hash(e.key), now);
    if (id == kNoFlow) continue;
    if ((table[id].flags & FlowRecord::redirect) != 0) id = table[id].state.shared;
    const std::uint64_t in_bytes = table.counters(id).in_bytes;
    if (id != e.id || in_bytes < e.last) e.last = 0;  // another record than before: it began at nothing
    e.id = id;
    e.committed = plan_.routers()[e.router].snapshot->services[table[id].service].committed;
    e.in_bytes += in_bytes - e.last;
    e.last = in_bytes;
  }
}

std::optional<ContractBook::Contract> ContractBook::contract(std::uint32_t flow) const {
  const Entry& e = entries_[flow];
  if (e.id == kNoFlow || e.committed == Rate{}) return std::nullopt;
  const auto shares = [&](const Entry& o) { return o.id == e.id && o.router == e.router; };
  return Contract{e.committed,
                  static_cast<std::uint32_t>(std::count_if(entries_.begin(), entries_.end(), shares)),
                  e.in_bytes};
}

}  // namespace surety::lab
