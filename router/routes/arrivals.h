// SPDX-License-Identifier: BSD-3-Clause
// Neighbours on their way from known to ready: what the data plane is told of them, so that packets which
// came before they were known are not overtaken by those that come after (NeighborGate). By batches: those
// that have become known since the last one go through the same steps together.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "router/interfaces/interface_record.h"
#include "router/routes/route_events.h"

namespace surety {

using NeighborKey =
    std::pair<IpAddress, InterfaceIndex>;  // on an interface; address first: host routes are found by range

class NeighborArrivals {
 public:
  // From now on; before, neighbours are ready as soon as they are known.
  void start() { started_ = true; }

  void add(const NeighborKey& neighbor) {  // has become known
    if (started_) steps_[neighbor] = Step::next;
  }
  void remove(const NeighborKey& neighbor) { steps_.erase(neighbor); }

  NextHopEntry::State state(const NeighborKey& neighbor) const {
    const auto at = steps_.find(neighbor);
    if (at == steps_.end()) return NextHopEntry::State::ready;
    return at->second == Step::opening ? NextHopEntry::State::opening : NextHopEntry::State::waiting;
  }

  // Makes a batch of those that are in none; false: there are none. The batch before is through.
  bool collect() {
    bool any = false;
    for (auto& [neighbor, step] : steps_) {
      step = Step::waiting;
      any = true;
    }
    return any;
  }
  // Takes the batch from waiting to opening, or from opening to ready; returns what is left of it.
  std::vector<NeighborKey> advance() {
    std::vector<NeighborKey> batch;
    for (auto it = steps_.begin(); it != steps_.end();) {
      if (it->second == Step::next) {
        ++it;
        continue;
      }
      batch.push_back(it->first);
      if (it->second == Step::opening)
        it = steps_.erase(it);
      else
        (it++)->second = Step::opening;
    }
    return batch;
  }

 private:
  enum class Step : std::uint8_t { next, waiting, opening };
  std::map<NeighborKey, Step> steps_;
  bool started_ = false;
};

}  // namespace surety
