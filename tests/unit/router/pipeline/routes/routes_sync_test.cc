// SPDX-License-Identifier: BSD-3-Clause
// Routes of a kernel: read anew, told by next-hop objects, weighted, and in a real FIB.
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/routes/routes_bed.h"

namespace surety {
namespace {

TEST_F(RoutesTest, APortBoundLaterTakesWhatIsThere) {
  routes.configure(config);
  route("192.0.2.0/24", {via("10.0.0.9", 10)});
  neighbor(10, "10.0.0.9", 9);
  own(EventAction::add, 10, "172.16.0.1/16");
  link(10, true);
  EXPECT_EQ(forward("192.0.2.1"), "local");
  EXPECT_EQ(forward("10.0.0.9"), "glean 0");
  EXPECT_EQ(forward("172.16.0.2"), "none");
  routes.bind_port(0, 10);
  EXPECT_EQ(forward("192.0.2.1"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("10.0.0.9"), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(forward("172.16.0.2"), "glean 0");
  routes.bind_port(0, 0);
  EXPECT_EQ(forward("192.0.2.1"), "local");
  EXPECT_EQ(forward("10.0.0.9"), "glean 0");
  EXPECT_EQ(forward("172.16.0.2"), "none");
}

TEST_F(RoutesTest, ASyncRemovesWhatIsNotRepeated) {
  config.routes = {{prefix("198.51.100.0/24"), {{address("10.0.0.9"), {}}}, false}};
  start();
  const Lines first = sink.all();
  const auto hear = [&](bool all) {
    route("192.0.2.0/24", {via("10.0.0.9", 10)});
    neighbor(10, "10.0.0.9", 9);
    own(EventAction::add, 11, "172.16.0.1/16");
    if (!all) return;
    route("192.0.2.0/25", {via("10.0.0.8", 10)});
    neighbor(10, "10.0.0.8", 8);
    own(EventAction::add, 11, "172.17.0.1/16");
  };
  hear(false);
  const Lines some = sink.all();
  hear(true);
  const int before = sink.route_changes;
  routes.begin_kernel_sync();
  hear(true);
  routes.end_kernel_sync();
  EXPECT_EQ(sink.route_changes, before);
  routes.begin_kernel_sync();
  hear(false);
  routes.end_kernel_sync();
  EXPECT_EQ(sink.all(), some);
  routes.begin_kernel_sync();
  routes.end_kernel_sync();
  EXPECT_EQ(sink.all(), first);
}

TEST_F(RoutesTest, RoutesThatNameNextHopObjects) {
  start();
  neighbor(10, "10.0.0.9", 9);
  neighbor(11, "10.0.1.2", 2);
  const auto object = [&](std::uint32_t id, const std::string& gateway, int ifindex) {
    routes.on(NextHopEvent{.id = id, .hop = via(gateway, ifindex)});
  };
  const auto naming = [&](const std::string& to, std::uint32_t id, std::vector<RouteNextHop> repeated) {
    routes.on(
        RouteEvent{.to = prefix(to), .next_hops = std::move(repeated), .protocol = 186, .next_hop_id = id});
  };
  object(1, "10.0.0.9", 10);
  object(2, "10.0.1.2", 11);
  routes.on(NextHopEvent{.id = 3, .group = {{1, 1}, {2, 3}}});
  naming("192.0.2.0/24", 3, {});
  naming("198.51.100.0/24", 1, {via("10.0.0.9", 10)});
  naming("203.0.113.0/24", 44, {via("10.0.0.9", 10)});  // an object we have not heard of
  EXPECT_EQ(forward("192.0.2.1"),
            "ready 0 02:00:00:00:00:09 | ready 1 02:00:00:00:00:02 | ready 1 02:00:00:00:00:02 | "
            "ready 1 02:00:00:00:00:02");
  EXPECT_EQ(forward("203.0.113.1"), "ready 0 02:00:00:00:00:09");
  object(1, "10.0.1.2", 11);
  EXPECT_EQ(forward("198.51.100.1"), "ready 1 02:00:00:00:00:02") << "no route message says so";
  routes.on(NextHopEvent{.action = EventAction::remove, .id = 1});
  EXPECT_EQ(forward("198.51.100.1"), "none");
  routes.begin_kernel_sync();
  object(2, "10.0.1.2", 11);
  naming("192.0.2.0/24", 2, {});
  neighbor(11, "10.0.1.2", 2);
  routes.end_kernel_sync();
  EXPECT_EQ(forward("192.0.2.1"), "ready 1 02:00:00:00:00:02");
  EXPECT_EQ(forward("203.0.113.1"), "none");
  no_route("192.0.2.0/24");
  EXPECT_EQ(forward("192.0.2.1"), "none");
}

// Of a group the route comes first, then the group, then its members.
TEST_F(RoutesTest, ARouteWaitsForItsNextHopObjects) {
  start();
  routes.on(RouteEvent{.to = prefix("192.0.2.0/24"), .protocol = 186, .next_hop_id = 3});
  EXPECT_EQ(forward("192.0.2.1"), "none");
  routes.on(NextHopEvent{.id = 3, .group = {{1, 1}, {2, 1}}});
  EXPECT_EQ(forward("192.0.2.1"), "none");
  routes.on(NextHopEvent{.id = 2, .hop = via("10.0.1.2", 11)});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 1");
  routes.on(NextHopEvent{.id = 1, .hop = via("10.0.0.9", 10)});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0 | unresolved 1");
  routes.on(NextHopEvent{.action = EventAction::remove, .id = 3});
  EXPECT_EQ(forward("192.0.2.1"), "none");
  routes.on(RouteEvent{.to = prefix("192.0.2.0/24"), .protocol = 186, .next_hop_id = 3});
  routes.on(NextHopEvent{.id = 3, .group = {{2, 1}}});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 1") << "a new object of this number";
}

// The object's own message is lost; the route repeats its next hops, and is removed by them.
TEST_F(RoutesTest, ARouteWhoseObjectComesLaterIsRemovedByIt) {
  start();
  RouteEvent naming{
      .to = prefix("192.0.2.0/24"), .next_hops = {via("10.0.0.9", 10)}, .protocol = 186, .next_hop_id = 1};
  routes.on(naming);
  routes.on(NextHopEvent{.id = 1, .hop = via("10.0.0.9", 10)});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0");
  naming.action = EventAction::remove;
  routes.on(naming);
  EXPECT_EQ(forward("192.0.2.1"), "none");
}

TEST_F(RoutesTest, WeightsOfTheKernelAreShares) {
  start();
  route("192.0.2.0/24", {{.via = address("10.0.0.9"), .ifindex = 10, .weight = 2}, via("10.0.1.2", 11)});
  EXPECT_EQ(forward("192.0.2.1"), "unresolved 0 | unresolved 0 | unresolved 1");
  neighbor(11, "10.0.1.2", 2);
  EXPECT_EQ(forward("192.0.2.1"),
            "ready 1 02:00:00:00:00:02 | ready 1 02:00:00:00:00:02 | ready 1 02:00:00:00:00:02");
}

TEST_F(RoutesTest, ASyncMayEndALittleAtATime) {
  start();
  const Lines first = sink.all();
  for (int i = 0; i < 100; ++i) route("192.0." + std::to_string(i) + ".0/24", {via("10.0.0.9", 10)});
  routes.limit_work(100);
  routes.begin_kernel_sync();
  route("192.0.50.0/24", {via("10.0.0.9", 10)});
  routes.end_kernel_sync();
  EXPECT_GT(routes.routes(), 50U) << "not at once";
  while (routes.work()) {
  }
  EXPECT_EQ(routes.routes(), first.size() + 1);
  EXPECT_EQ(forward("192.0.50.1"), "unresolved 0");
}

TEST_F(RoutesTest, InARealFib) {
  struct RealSink : RouteSink {
    bool set_route(const Prefix& p, RouteTarget t) override { return fib.add(p, t.encode()); }
    void remove_route(const Prefix& p) override { fib.remove(p); }
    void set_next_hop(std::uint32_t id, const NextHopEntry& e) override { table.set(id, e); }
    NextHopEntry forward(std::uint32_t a, std::uint32_t hash) const {
      std::uint64_t value = 0;
      fib.lookup4(&a, &value, 1);
      return table.get(NextHopTable::select(RouteTarget::decode(static_cast<std::uint32_t>(value)), hash));
    }
    Fib fib{"fib", 64};
    NextHopTable table{64};
  } real;
  Routes r(real, 64);
  r.configure(config);
  r.bind_port(0, 10);
  r.bind_port(1, 11);
  r.on(RouteEvent{
      EventAction::add, prefix("192.0.2.0/24"), {via("10.0.0.9", 10), via("10.0.1.2", 11)}, 0, 186, false});
  r.on(NeighborEvent{EventAction::add, 10, address("10.0.0.9"), mac(9)});
  r.on(NeighborEvent{EventAction::add, 11, address("10.0.1.2"), mac(2)});
  EXPECT_EQ(describe(real.forward(0xc0000201, 0)), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(describe(real.forward(0xc0000201, 0xffffffff)), "ready 1 02:00:00:00:00:02");
  EXPECT_EQ(describe(real.forward(0x0a000009, 1)), "ready 0 02:00:00:00:00:09");
  EXPECT_EQ(describe(real.forward(0x0a000001, 1)), "local");
  EXPECT_EQ(describe(real.forward(0x0a0000ff, 1)), "blackhole");
  EXPECT_EQ(describe(real.forward(0x0b000001, 1)), "none");
}

TEST_F(RoutesTest, AllThatIsKnownOfNeighboursAndWhoHasSaidSo) {
  config.neighbors = {{address("10.0.0.2"), mac(2), 0}};
  start();
  neighbor(10, "10.0.0.3", 3);
  routes.learn(0, address("10.0.0.3"), mac(9));
  routes.learn(1, address("10.0.1.2"), mac(4));
  Lines all;
  const auto look = [&](const NeighborKey& from, std::size_t count) {
    return routes.look_at_neighbors(
        from, count,
        [&](const IpAddress& a, InterfaceIndex i, const MacAddress& m, Routes::NeighborSource source) {
          all.push_back(to_string(a) + ' ' + std::to_string(i) + ' ' + to_string(m) + ' ' +
                        std::to_string(static_cast<int>(source)));
        });
  };
  const Lines expected{"10.0.0.2 0 " + to_string(mac(2)) + " 0", "10.0.0.3 0 " + to_string(mac(3)) + " 1",
                       "10.0.1.2 1 " + to_string(mac(4)) + " 2"};
  EXPECT_FALSE(look({}, 3));
  EXPECT_EQ(all, expected) << "yaml, kernel, learned";
  all.clear();
  for (std::optional<NeighborKey> next = NeighborKey{}; next;) next = look(*next, 1);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace surety
