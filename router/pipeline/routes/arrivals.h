// SPDX-License-Identifier: BSD-3-Clause
// States of neighbours between resolved and ready, as programmed into the data plane, so that earlier packets
// are not overtaken by later ones (NeighborGate). Neighbours resolved since the last batch form a batch, and
// go through the same steps together.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

using NeighborKey =
    std::pair<IpAddress, InterfaceIndex>;  // on an interface; address first: host routes are found by range

class NeighborArrivals {
 public:
  // Enables the steps; before, neighbours are ready as soon as they are resolved.
  void start() { started_ = true; }

  void add(const NeighborKey& neighbor) {  // has been resolved
    if (started_) steps_[neighbor] = Step::next;
  }
  void remove(const NeighborKey& neighbor) { steps_.erase(neighbor); }

  NextHopEntry::State state(const NeighborKey& neighbor) const {
    const auto at = steps_.find(neighbor);
    if (at == steps_.end()) return NextHopEntry::State::ready;
    return at->second == Step::opening ? NextHopEntry::State::opening : NextHopEntry::State::waiting;
  }

  // Forms a batch of the neighbours that are in none; false: there are none. The previous batch is complete.
  bool collect() {
    bool any = false;
    for (auto& [neighbor, step] : steps_) {
      step = Step::waiting;
      any = true;
    }
    return any;
  }
  // Moves the batch from waiting to opening, or from opening to ready; returns its neighbours.
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
