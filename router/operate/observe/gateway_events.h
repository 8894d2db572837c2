// SPDX-License-Identifier: BSD-3-Clause
// Events for gateways of routes that do not answer: one after kGrace, one when the gateway answers again.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "router/operate/observe/events.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

class GatewayEvents {
 public:
  // An existing neighbour answers within a second or two.
  static constexpr Duration kGrace = std::chrono::seconds(2);

  using NameOf = std::function<std::string(InterfaceIndex)>;
  using Known = std::function<bool(InterfaceIndex, const IpAddress&)>;
  // `name_of` an interface; `known`: true if its MAC address is known.
  GatewayEvents(EventLog& log, NameOf name_of, Known known)
      : log_(log), name_of_(std::move(name_of)), known_(std::move(known)) {}

  // Called several times a second, with the gateways in use whose MAC address is not known.
  void look(std::span<const Routes::Resolution> unresolved, Time now);

 private:
  struct Silent {
    Time since{};
    bool told = false;
    bool still = true;
  };
  void tell(EventLevel level, const std::pair<InterfaceIndex, IpAddress>& gateway, bool found);

  EventLog& log_;
  NameOf name_of_;
  Known known_;
  std::map<std::pair<InterfaceIndex, IpAddress>, Silent> silent_;
};

}  // namespace surety
