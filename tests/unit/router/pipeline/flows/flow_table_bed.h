// SPDX-License-Identifier: BSD-3-Clause
// Flow keys and a flow table for tests.
#pragma once

#include <vector>

#include "router/pipeline/flows/flow_table.h"

namespace surety::test {

using namespace literals;

inline constexpr Duration kTick{1 << 20};
constexpr Time at(std::int64_t ticks) {
  return Time(kTick * ticks);
}

inline FlowKey v4(std::uint32_t source, std::uint32_t destination = 1, std::uint32_t ports = 0,
                  std::uint8_t dscp = 0) {
  FlowKey k;
  k.rest = std::uint64_t{2} << 61 | ports;
  k.address[0] = source | std::uint64_t{destination} << 32;
  k.dscp = dscp;
  return k;
}
inline FlowKey v6(std::uint64_t source, std::uint64_t destination = 1, std::uint8_t dscp = 0) {
  FlowKey k;
  k.rest = std::uint64_t{2} << 61;
  k.address = {0xb80d0120, source, 0xb80d0120, destination};
  k.dscp = dscp;
  k.v6 = true;
  return k;
}

struct Table : FlowTable {
  using FlowTable::FlowTable;
  std::vector<FlowId> removed;
  FlowId put(const FlowKey& k, Time now = at(0), bool shared = false) {
    return insert(k, hash(k), shared, now, [this](FlowId id) { removed.push_back(id); });
  }
  FlowId get(const FlowKey& k, Time now = at(0)) const { return find(k, hash(k), now); }
  // As the classify stage looks several up.
  std::vector<FlowId> look(const std::vector<FlowKey>& keys, Time now = at(0)) const {
    std::vector<std::uint64_t> hashes(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) hashes[i] = hash(keys[i]);
    return look(keys, hashes, now);
  }
  std::vector<FlowId> look(const std::vector<FlowKey>& keys, const std::vector<std::uint64_t>& hashes,
                           Time now = at(0)) const {
    std::vector<ParsedPacket> packets(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) packets[i].key = keys[i], packets[i].v6 = keys[i].v6;
    std::vector<FlowId> ids(keys.size(), 12345);
    prefetch_records(packets, hashes.data(), ids.data());
    for (std::size_t i = 0; i < keys.size(); ++i) ids[i] = verify(ids[i], keys[i], hashes[i], tick(now));
    return ids;
  }
  std::uint32_t sweep(Time now, std::uint32_t records) {
    return age(now, records, [this](FlowId id) { removed.push_back(id); });
  }
  void sweep_embryonic(Time now) {
    age_embryonic(now, [this](FlowId id) { removed.push_back(id); });
  }
};

}  // namespace surety::test
