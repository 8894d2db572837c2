// SPDX-License-Identifier: BSD-3-Clause
// The kernel's next hop objects by id: next hops that routes refer to instead of having their own.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "router/pipeline/routes/route_events.h"

namespace surety {

class NextHopObjects {
 public:
  // The resolved content of an object, with groups expanded.
  struct Meaning {
    bool blackhole = false;
    std::vector<RouteNextHop> hops;  // with their weights in a group
  };

  // `generation`: see stale().
  void set(const NextHopEvent& event, std::uint32_t generation);
  void remove(std::uint32_t id) { objects_.erase(id); }

  bool knows(std::uint32_t id) const { return objects_.contains(id); }
  // Empty for unknown ids; unknown members of a group are left out.
  Meaning meaning(std::uint32_t id) const;
  // The object itself and the groups it is in.
  std::vector<std::uint32_t> affected(std::uint32_t id) const;
  // The objects last set in another generation.
  std::vector<std::uint32_t> stale(std::uint32_t generation) const;

 private:
  struct Object {
    NextHopEvent what;
    std::uint32_t generation = 0;
  };
  std::map<std::uint32_t, Object> objects_;
};

}  // namespace surety
