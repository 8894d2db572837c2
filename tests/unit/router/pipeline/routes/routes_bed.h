// SPDX-License-Identifier: BSD-3-Clause
// Two ports with addresses, and what a kernel may say of routes and neighbours there.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {

using Lines = std::vector<std::string>;

// Port 0 is interface 10 with 10.0.0.1/24, port 1 interface 11 with 10.0.1.1/30 and
// 2001:db8:1::1/64. 99 is not a port.
class RoutesTest : public testing::Test {
 protected:
  RoutesTest() {
    config.ports.resize(2);
    config.ports[0].name = "a", config.ports[1].name = "b";
    config.ports[0].addresses = {prefix("10.0.0.1/24")};
    config.ports[1].addresses = {prefix("10.0.1.1/30"), prefix("2001:db8:1::1/64")};
  }
  void start() {
    routes.configure(config);
    routes.bind_port(0, 10);
    routes.bind_port(1, 11);
  }
  void route(const std::string& to, std::vector<RouteNextHop> hops, std::uint32_t metric = 0) {
    routes.on(RouteEvent{EventAction::add, prefix(to), std::move(hops), metric, 186, false});
  }
  void no_route(const std::string& to, std::vector<RouteNextHop> hops = {}, std::uint32_t metric = 0) {
    routes.on(RouteEvent{EventAction::remove, prefix(to), std::move(hops), metric, 186, false});
  }
  void neighbor(int ifindex, const std::string& a, std::uint8_t m) {
    routes.on(NeighborEvent{EventAction::add, ifindex, address(a), mac(m)});
  }
  void no_neighbor(int ifindex, const std::string& a) {
    routes.on(NeighborEvent{EventAction::remove, ifindex, address(a), {}});
  }
  void own(EventAction action, int ifindex, const std::string& a) {
    routes.on(AddressEvent{action, ifindex, prefix(a)});
  }
  void link(int ifindex, bool up) { routes.on(LinkEvent{ifindex, "eth", up, 1500, {}}); }
  static RouteNextHop via(const std::string& a, int ifindex = 0) { return {address(a), ifindex}; }
  static RouteNextHop on_link(int ifindex) { return {{}, ifindex}; }
  std::string forward(const std::string& a) const { return sink.forward(address(a)); }
  // The kernel has an address of a port, and its subnet's route.
  void subnet(const std::string& to, int ifindex, std::uint32_t metric = 0) {
    routes.on(RouteEvent{.to = prefix(to),
                         .next_hops = {on_link(ifindex)},
                         .metric = metric,
                         .protocol = 2,
                         .connected = true});
  }
  void work() {
    while (routes.work()) {
    }
  }

  config::Config config;
  TableSink sink;
  Routes routes{sink, 4096};
};

}  // namespace surety
