// SPDX-License-Identifier: BSD-3-Clause
// What flows remember of their routes: that no packet goes where the FIB would not have it go.
#include <algorithm>
#include <atomic>
#include <thread>

#include "conditioners/rng.h"
#include "router/pipeline/route_stage.h"
#include "tests/unit/any_cpu.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::not_ready;
using test::ready;
using State = NextHopEntry::State;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  wan1: {addresses: [10.3.0.254/16], trust: core}
  wan2: {addresses: [10.4.0.254/16], trust: core}
services:
  metered: {conditioner: token-bucket, rate: 100 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF12}}
classify:
  - {match: {protocol: udp}, service: metered}
)";

Octets to6(const std::string& destination, std::uint16_t from = 1) {
  using namespace frames;
  Address6 address;
  std::memcpy(address.data(), parse_address(destination).value().data(), 16);
  return ethernet(kIpv6) + ip6(17, udp(from, 2, 10), {kSource6, address, 0, 64});
}

class KnownFlow : public testing::Test {
 protected:
  KnownFlow() { d.route("2001:db8::/32", {ready(1)}); }
  std::string fate() { return d.fate(to6("2001:db8:1:2::3")); }
  Prefix prefix(const char* text) { return parse_prefix(text).value(); }
  DataPlane d{kRouter};
};

// Each change holds from the next packet on.
TEST(RouteStageFlows, ARouteThatChanges) {
  for (const char* text :
       {"2001:db8:1:2::3/128", "2001:db8:1:2::/64", "2001:db8:1::/49", "2001:db8:1::/48", "2001:db8:1::/47",
        "2001:db8::/40", "2001:db8::/39", "2001:db8::/32", "2001::/17", "2001::/16", "2000::/3", "::/0"}) {
    DataPlane own(kRouter);
    const auto packet = [&] { return own.fate(to6("2001:db8:1:2::3")); };
    EXPECT_EQ(packet(), "drop no_route") << text;
    EXPECT_EQ(packet(), "drop no_route") << text;
    own.route(text, {ready(1)});
    EXPECT_EQ(packet(), "to 1") << text;
    EXPECT_EQ(packet(), "to 1") << text;
    own.route(text, {ready(2)});
    EXPECT_EQ(packet(), "to 2") << text;
    own.route_to(text, {kNextHopBlackhole, 1});
    EXPECT_EQ(packet(), "drop blackhole") << text;
    own.fib.remove(parse_prefix(text).value());
    EXPECT_EQ(packet(), "drop no_route") << text;
    own.expect_law();
  }
}

TEST_F(KnownFlow, FollowsMoreAndLessSpecificRoutes) {
  EXPECT_EQ(fate(), "to 1");
  d.route("2001:db8:1::/48", {ready(2)});
  EXPECT_EQ(fate(), "to 2");
  d.route("2001:db8:1:2::3/128", {ready(3)});
  EXPECT_EQ(fate(), "to 3");
  d.route("2001:db8::/32", {ready(2)});
  d.route("2001:db8:1:2::/64", {ready(1)});
  EXPECT_EQ(fate(), "to 3") << "those are shorter";
  d.fib.remove(prefix("2001:db8:1:2::3/128"));
  EXPECT_EQ(fate(), "to 1");
  d.fib.remove(prefix("2001:db8:1:2::/64"));
  EXPECT_EQ(fate(), "to 2");
  d.fib.remove(prefix("2001:db8:1::/48"));
  EXPECT_EQ(fate(), "to 2");
  d.route("::/0", {ready(3)});
  d.fib.remove(prefix("2001:db8::/32"));
  EXPECT_EQ(fate(), "to 3");
  d.expect_law();
}

TEST_F(KnownFlow, FollowsItsNextHop) {
  const std::uint32_t hop = d.route("2001:db8:1::/48", {ready(2)});
  EXPECT_EQ(fate(), "to 2");
  d.next_hops.set(hop, not_ready(State::unresolved, 2));
  EXPECT_EQ(fate(), "drop neighbor_unresolved");
  d.next_hops.set(hop, ready(3));
  EXPECT_EQ(fate(), "to 3");
}

// Equal-cost routes: each flow stays where its hash puts it, and moves with the members that there are.
TEST_F(KnownFlow, FollowsItsPlaceInAGroup) {
  const auto fates = [&] {
    std::vector<std::string> all;
    for (std::uint16_t from = 0; from < 100; ++from) all.push_back(d.fate(to6("2001:db8:1:2::3", from)));
    return all;
  };
  d.route("2001:db8:1::/48", {ready(1), ready(2)});
  const auto two = fates();
  EXPECT_EQ(fates(), two);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(two, "to 1")), 50, 25);
  d.route("2001:db8:1::/48", {ready(1), ready(2), ready(3)});
  const auto three = fates();
  EXPECT_EQ(fates(), three);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(three, "to 3")), 33, 20);
  d.route("2001:db8:1::/48", {ready(3)});
  EXPECT_EQ(fates(), std::vector<std::string>(100, "to 3"));
  d.route("2001:db8:1::/48", {ready(1), ready(2)});
  EXPECT_EQ(fates(), two);
}

// A contract of several flows has a record that is no flow's; where a flow finds no room, its packets go by
// that one alone, whatever their destination.
TEST(RouteStageFlows, AContractRemembersNothing) {
  DataPlane d(R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  wan1: {addresses: [10.3.0.254/16], trust: core}
services:
  metered: {conditioner: token-bucket, rate: 100 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF12}}
flow_table: {capacity: 64}
classify:
  - {match: {protocol: udp}, service: metered, per: source}
)");
  d.route("2001:db8:1:1::/64", {ready(1)});  // in the same part (route_generations.h)
  d.route("2001:db8:1:2::/64", {ready(2)});
  for (std::uint16_t from = 0; from < 200; ++from) {
    EXPECT_EQ(d.fate(to6("2001:db8:1:1::5", from)), "to 1");
    EXPECT_EQ(d.fate(to6("2001:db8:1:2::5", from)), "to 2");
  }
  EXPECT_EQ(d.service("metered").contracts, 1u);
  EXPECT_LE(d.service("metered").flows, 63u) << "the others find none";
  EXPECT_EQ(d.service("metered").packets[index(Precedence::in)], 400u);
}

// Known and unknown flows of both families, in vectors of any size, under changes of all kinds.
TEST(RouteStageFlows, KnownOrNotGoTheSameWay) {
  DataPlane d(kRouter);
  FilterStage filters(d.snapshot, d.next_hops, d.disposal);
  RouteStage stage(d.snapshot, d.fib, d.next_hops, filters, d.disposal, FlowHasher(1), true);
  FlowTable flows(200, std::chrono::seconds(100), 1);
  Rng rng(7);
  const auto random = [&] { return rng.next(); };
  constexpr std::uint32_t kHops = 300;
  for (std::uint32_t id = kNextHopsFixed; id < kNextHopsFixed + kHops + RouteTarget::kMaxCount; ++id)
    d.next_hops.set(id, ready(static_cast<std::uint8_t>(1 + id % 3)));

  std::vector<FlowKey> keys(400);
  std::vector<FlowId> ids(keys.size(), kNoFlow);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    FlowKey& k = keys[i];
    k.rest = random();
    k.dscp = static_cast<std::uint8_t>(random() % 2);
    k.v6 = random() % 8 != 0;
    if (k.v6)
      k.address = {1, 2, __builtin_bswap64(0x2001'0db8ull << 32 | (random() & 0x3'0003'0003)), random() % 4};
    else
      k.address[0] = std::uint64_t{0x0a + random() % 2 * 256} << 32 | 1;
    const auto none = [](FlowId) {};
    if (i % 3 != 0) ids[i] = flows.insert(k, flows.hash(k), i % 7 == 0, test::kStart, none);
  }
  std::vector<Prefix> routes;
  const auto change = [&] {
    if (!routes.empty() && (random() % 3 == 0 || routes.size() == 60)) {
      const std::size_t at = random() % routes.size();
      d.fib.remove(routes[at]);
      routes.erase(routes.begin() + static_cast<long>(at));
      return;
    }
    constexpr std::array<std::uint8_t, 14> kLengths{0, 3, 16, 17, 32, 39, 40, 41, 47, 48, 49, 64, 65, 128};
    const FlowKey& k = keys[random() % keys.size()];
    Prefix p{IpAddress::v6(reinterpret_cast<const std::uint8_t*>(&k.address[2])),
             kLengths[random() % kLengths.size()]};
    if (!k.v6) p = {IpAddress::v4(__builtin_bswap32(static_cast<std::uint32_t>(k.address[0] >> 32))), 24};
    p = p.masked();
    const std::uint32_t count = random() % 3 == 0 ? 1 + random() % RouteTarget::kMaxCount : 1;
    const RouteTarget target{kNextHopsFixed + random() % kHops, count,
                             static_cast<std::uint8_t>(random() % 128)};
    ASSERT_TRUE(d.fib.add(p, target.encode()));
    if (std::ranges::find(routes, p) == routes.end()) routes.push_back(p);
  };
  std::size_t remembered = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (random() % 4 == 0) change();
    Burst known, unknown;
    known.size = random() % (kBurst + 1);
    for (std::size_t i = 0; i < known.size; ++i) {
      const std::size_t flow = random() % keys.size();
      known.mbuf[i] = nullptr;
      known.header[i] = {};
      known.header[i].key = keys[flow];
      known.header[i].v6 = keys[flow].v6;
      known.header[i].ttl = 64;
      known.flow[i] = ids[flow];
      remembered += flows.recall(ids[flow]) != 0;
    }
    unknown = known;
    // What has no route would be dropped: to a vector without such, then.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < known.size; ++i) {
      std::uint64_t value = 0;
      if (known.header[i].v6) {
        d.fib.lookup6(reinterpret_cast<const std::uint8_t(*)[16]>(&known.header[i].key.address[2]), &value,
                      1);
      } else {
        const auto to = __builtin_bswap32(static_cast<std::uint32_t>(known.header[i].key.address[0] >> 32));
        d.fib.lookup4(&to, &value, 1);
      }
      if (value == 0) continue;
      known.keep(i, kept);
      unknown.keep(i, kept++);
    }
    known.size = unknown.size = kept;
    stage.run(known, 0, &flows);
    stage.run(unknown, 0, nullptr);
    ASSERT_EQ(known.size, kept);
    for (std::size_t i = 0; i < kept; ++i) {
      ASSERT_EQ(known.route[i], unknown.route[i]) << round;
      ASSERT_EQ(known.egress[i], unknown.egress[i]) << round;
    }
  }
  EXPECT_GT(remembered, 100'000u);
  for (const Prefix& p : routes) d.fib.remove(p);
}

// A flow's packets while its route changes: to next hops with ever higher numbers.
class RaceForARoute {
 public:
  RaceForARoute() {
    for (std::uint32_t i = 0; i <= kChanges; ++i) next_hops_.set(kNextHopsFixed + i, ready(1));
    packets_.size = kBurst;
    for (std::size_t i = 0; i < kBurst; ++i) {
      FlowKey key{.rest = i, .address = {1, 2, 0, 3}};
      key.address[2] = __builtin_bswap64(0x2001'0db8'0001'0000);
      key.v6 = true;
      packets_.mbuf[i] = nullptr;
      packets_.header[i] = {};
      packets_.header[i].key = key;
      packets_.header[i].v6 = true;
      packets_.header[i].ttl = 64;
      packets_.flow[i] = flows_.insert(key, flows_.hash(key), false, test::kStart, [](FlowId) {});
    }
    d_.fib.set_quiesce([this] { let_it_turn(); });
  }
  ~RaceForARoute() {
    d_.fib.set_quiesce({});
    d_.fib.remove(kRoute);
  }

  void run() {
    done_ = false;
    made_ = 0;
    change(0);
    std::thread reader([this, cpu = sched_getcpu()] {
      test::run_beside(cpu);
      read();
    });
    for (std::uint32_t i = 1; i <= kChanges; ++i) {
      change(i);
      made_.store(i, std::memory_order_release);
      // Some changes come while what the one before has ended is looked up. If one was met halfway, the turns
      // after it find what should not have been remembered.
      if (i % 4 == 0) let_it_turn();
    }
    done_ = true;
    reader.join();
  }
  // Packets that went where a route had been before they came; vectors that found theirs remembered.
  std::uint64_t older() const { return older_; }
  std::uint64_t remembered() const { return remembered_; }

 private:
  static constexpr std::uint32_t kChanges = 30'000;
  const Prefix kRoute = parse_prefix("2001:db8:1::/48").value();

  void change(std::uint32_t i) {
    EXPECT_TRUE(d_.fib.add(kRoute, RouteTarget{kNextHopsFixed + i, 1}.encode()));
  }
  void let_it_turn() const {
    for (const auto until = turns_ + 4; !done_ && turns_ < until;) std::this_thread::yield();
  }
  void read() {
    while (!done_) {
      const std::uint32_t before = made_.load(std::memory_order_acquire);
      const std::uint64_t first = flows_.recall(packets_.flow[0]);
      Burst v = packets_;
      v.size = turns_ % 3 == 0 ? kBurst : 1;  // a short one is between two looks for a shorter time
      stage_.run(v, 0, &flows_);
      for (std::size_t i = 0; i < v.size; ++i) older_ += v.next_hop(i) < kNextHopsFixed + before;
      remembered_ += flows_.recall(packets_.flow[0]) == first;
      if (++turns_ % 16 == 0) std::this_thread::yield();  // there may be one CPU for both
    }
  }

  DataPlane d_{kRouter};
  NextHopTable next_hops_;
  FilterStage filters_{d_.snapshot, next_hops_, d_.disposal};
  RouteStage stage_{d_.snapshot, d_.fib, next_hops_, filters_, d_.disposal, FlowHasher(1), true};
  FlowTable flows_{200, std::chrono::seconds(100), 1};
  Burst packets_;
  std::atomic<std::uint32_t> made_{0};
  std::atomic<std::uint64_t> turns_{0};
  std::atomic<bool> done_{true};  // no reader yet
  std::uint64_t older_ = 0, remembered_ = 0;
};

// However the two threads meet: for a second, which is some rounds. (It rests on two orders: the table
// changes before its generation, and the generation is asked for before the table. With either turned round
// it finds some, if there are two CPUs.)
TEST(RouteStageFlows, NothingOlderThanTheVectorIsRemembered) {
  using Clock = std::chrono::steady_clock;
  RaceForARoute race;
  const auto end = Clock::now() + std::chrono::seconds(1);
  do race.run();
  while (Clock::now() < end);
  EXPECT_EQ(race.older(), 0u);
  EXPECT_GT(race.remembered(), 0u);
}

}  // namespace
}  // namespace surety
