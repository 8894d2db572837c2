// SPDX-License-Identifier: BSD-3-Clause
// The law of counters.h under any traffic: every packet is somewhere, and is counted there once.
#include "router/pipeline/counters.h"

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::not_ready;
using test::port_mac;
using test::ready;
using State = NextHopEntry::State;
using namespace literals;

// A bit of everything, small enough that ceilings are met: flows, buffers, queues, rates.
constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/24]}
  lan1: {addresses: [10.4.0.254/24], mtu: 600}
  wan0: {addresses: [10.2.0.254/24], trust: core, shape: 20 Mbit/s, queues: uplink}
  wan1: {addresses: [10.3.0.254/24], trust: core}
queues:
  uplink:
    - {name: voice, dscp: [EF], priority: strict, rate: 2 Mbit/s, limit: 10 packets}
    - name: assured
      weight: 3
      dscp: {in: [AF11], out: [AF12]}
      limit: 30 packets
      count: packets
      rio: {average: 0.2, in: {min: 10, max: 25, pmax: 0.1}, out: {min: 2, max: 15, pmax: 0.3}, ecn: on}
    - {name: rest, dscp: [BE], limit: 20 packets}
services:
  silver: {conditioner: csa, rate: 200 kbit/s, in_bucket: 1500 B, out_bucket: 1500 B, buffer: 5 packets,
           alpha: {min: 0.1, max: 0.4, step: 0.1, t1: 3 ms, t2: 9 ms}, mark: {in: AF11, out: AF12}}
  marked: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 3 kB, mark: {in: AF11, out: AF12}}
  capped: {conditioner: police, rate: 1 Mbit/s, bucket: 3 kB, mark: {in: EF}}
  colours: {conditioner: trtcm, rate: 1 Mbit/s, peak: 2 Mbit/s, committed_burst: 3 kB, peak_burst: 3 kB,
            mark: {in: AF11, out: AF12, red: drop}}
classify:
  - {match: {destination_port: 0-5000}, service: silver, per: flow}
  - {match: {destination_port: 5001-15000}, service: silver, per: source}
  - {match: {destination_port: 15001-25000}, service: marked, per: prefix}
  - {match: {destination_port: 25001-35000}, service: capped, per: flow}
  - {match: {vlan: 1, inner_vlan: 1, destination_port: 35001-45000}, service: colours, per: vlan}
  - {match: {destination_port: 35001-45000}, service: colours, per: vlan}
aggregates:
  uplink: {port: wan0, queue: assured, rate: 5 Mbit/s, bucket: 10 packets, threshold: 5 packets, drop: 0.3, interval: 20 ms}
flow_table: {capacity: 200, creation_rate: 100000, idle_timeout: 10 ms, held: 8 packets}
)";

class Fuzz {
 public:
  Fuzz(const test::Kernel& kernel, std::uint64_t seed) : rng_(seed), d_(kRouter, kernel, seed) {
    d_.route("10.1.0.0/24", {ready(0)});
    d_.route("10.4.0.0/24", {ready(1)});
    uplinks_ = d_.route("10.2.0.0/24", {ready(2), ready(3)});
    d_.route("10.3.0.0/25", {not_ready(State::glean, 3)});
    d_.route("10.3.0.128/25", {not_ready(State::unresolved, 3)});
    d_.route_to("10.3.1.0/24", {kNextHopBlackhole, 1});
    d_.route_to("10.1.0.254/32", {kNextHopLocal, 1});
    d_.route("2001:db8:2::/48", {ready(2)});
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      act();
      d_.expect_law();
      if (testing::Test::HasFailure()) return;
    }
    settle();
  }
  std::uint64_t dropped(DropReason reason) const {
    std::uint64_t n = 0;
    for (PortIndex p = 0; p < d_.ports.size(); ++p) n += d_.drops(p, reason);
    return n;
  }
  std::uint64_t degraded(DegradeReason reason) const {
    std::uint64_t n = 0;
    for (const auto& port : d_.ports) n += port.degraded[static_cast<std::size_t>(reason)];
    return n;
  }
  std::uint64_t fragments() const {
    std::uint64_t n = 0;
    for (const auto& port : d_.ports) n += port.fragments;
    return n;
  }
  std::uint64_t punted(PuntReason reason) const {
    std::uint64_t n = 0;
    for (PortIndex p = 0; p < d_.ports.size(); ++p) n += d_.punted(p, reason);
    return n;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(rng_.uniform() * n); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  void act() {
    switch (below(8)) {
      case 0:
        d_.turn(d_.now + Duration(below(2'000'000)));
        break;
      case 1:
        d_.transmit(static_cast<PortIndex>(below(4)), below(65));
        break;
      case 2:
        if (one_in(4)) d_.take_punts();
        break;
      case 3:
        if (one_in(4)) change_next_hop();
        break;
      case 4:
        if (one_in(8)) d_.turn(d_.now + 20ms + Duration(below(40'000'000)));
        break;
      default:
        receive();
    }
  }
  void receive() {
    const auto port = static_cast<PortIndex>(below(4));
    std::vector<Octets> burst;
    for (std::uint32_t n = below(100); n > 0; --n) burst.push_back(frame(port));
    d_.receive(burst, port);
  }
  void change_next_hop() {
    const NextHopEntry entries[] = {ready(2), ready(3), not_ready(State::unresolved, 2),
                                    not_ready(State::no_route)};
    d_.next_hops.set(uplinks_ + below(2), entries[below(4)]);
  }

  Octets frame(PortIndex port) {
    using namespace frames;
    const MacAddress to = one_in(20) ? kBroadcast : port_mac(one_in(30) ? 9 : port);
    if (one_in(25)) return ethernet(kArp, to) + zeros(28);
    Octets f = tags(to, one_in(4));
    if (one_in(12)) f.resize(below(static_cast<std::uint32_t>(f.size())) + 1);
    for (std::uint32_t n = one_in(8) ? 1 + below(4) : 0; n > 0; --n)
      f[below(static_cast<std::uint32_t>(f.size()))] = static_cast<std::uint8_t>(below(256));
    if (one_in(4)) f = f + zeros(below(60));
    return f;
  }
  Octets tags(const MacAddress& to, bool v6) {
    using namespace frames;
    const std::uint16_t type = v6 ? kIpv6 : kIpv4;
    const Octets ip = v6 ? packet6() : packet4();
    switch (below(4)) {
      case 0:
        return ethernet(0x8100, to) + vlan(below(2), type) + ip;
      case 1:
        return ethernet(0x88a8, to) + vlan(below(2), 0x8100) + vlan(below(2), type) + ip;
      default:
        return ethernet(type, to) + ip;
    }
  }
  std::uint8_t traffic_class() {
    const std::uint8_t dscps[] = {0, 10, 12, 46, 63};
    return static_cast<std::uint8_t>(dscps[below(5)] * 4 + below(4));
  }
  std::uint8_t ttl() { return static_cast<std::uint8_t>(one_in(15) ? below(2) : 64); }
  Octets payload() {
    return frames::udp(static_cast<std::uint16_t>(below(2)), static_cast<std::uint16_t>(below(6) * 10'000),
                       one_in(4) ? below(1000) : 20);
  }
  Octets packet4() {
    const std::uint32_t destinations[] = {0x0a020001, 0x0a020002, 0x0a010001, 0x0a040001, 0x0a030001,
                                          0x0a030081, 0x0a030101, 0x0a0100fe, 0x0b000001, 0xe0000005};
    const Octets udp = payload();
    const std::uint16_t place = udp.size() % 2 == 0 ? 0 : 0x4000;  // DF
    return frames::ip4(17, udp,
                       {0x0a010001 + below(3), destinations[one_in(3) ? below(10) : below(2)], place,
                        traffic_class(), ttl(), one_in(20) ? Octets{0x94, 4, 0, 0} : Octets{}});
  }
  Octets packet6() {
    frames::Address6 source = frames::kSource6;
    source[15] = static_cast<std::uint8_t>(1 + below(3));
    return frames::ip6(17, payload(), {source, frames::kDestination6, traffic_class(), ttl()});
  }

  // No more packets: everything that is still somewhere leaves, and nothing of it remains.
  void settle() {
    for (const auto hop : {0u, 1u}) d_.next_hops.set(uplinks_ + hop, ready(2));
    for (int turns = 0; turns < 100'000 && left(); ++turns) {
      d_.turn(d_.now + 1ms);
      for (PortIndex p = 0; p < 4; ++p) d_.transmit(p);
    }
    d_.take_punts();
    d_.expect_law();
    EXPECT_FALSE(left());
    EXPECT_EQ(d_.in_use(), 0u);
    for (int turns = 0; turns < 100; ++turns) d_.turn(d_.now + 1ms);
    for (const auto& s : d_.services) {
      EXPECT_EQ(s.flows, 0u);
      EXPECT_EQ(s.contracts, 0u);
      EXPECT_EQ(s.held, 0u);
    }
    EXPECT_EQ(d_.ingress->flows().size(), 0u);
  }
  bool left() const {
    std::uint64_t n = d_.ingress->held();
    for (const auto& e : d_.egresses) n += e->depth();
    return n > 0;
  }

  Rng rng_;
  DataPlane d_;
  std::uint32_t uplinks_ = 0;
};

using enum KernelPeer;
constexpr int kSteps = 1000;

TEST(Counters, TheLawHoldsWithoutAKernel) {
  Fuzz fuzz({}, 1);
  fuzz.run(kSteps);
  // The traffic is worth the name: it got everywhere.
  for (const DropReason r :
       {DropReason::truncated, DropReason::foreign_mac, DropReason::ipv4_checksum, DropReason::no_kernel_peer,
        DropReason::no_route, DropReason::blackhole, DropReason::ttl_exceeded, DropReason::mtu_exceeded,
        DropReason::neighbor_unresolved, DropReason::buffer, DropReason::buffer_total, DropReason::police,
        DropReason::ard, DropReason::early, DropReason::forced, DropReason::overflow})
    EXPECT_GT(fuzz.dropped(r), 0u) << info(r).name;
  EXPECT_GT(fuzz.degraded(DegradeReason::flow_share_full), 0u);
  EXPECT_GT(fuzz.fragments(), 0u);
}

TEST(Counters, TheLawHoldsWithKernelsThatSeeEverything) {
  Fuzz fuzz({{sees_all, sees_all, sees_all, sees_all}, 4}, 2);
  fuzz.run(4 * kSteps);
  for (std::size_t r = 0; r < kPuntReasons; ++r) {
    const auto reason = static_cast<PuntReason>(r);
    if (reason == PuntReason::neighbor_discovery || reason == PuntReason::link_local ||
        reason == PuntReason::control || reason == PuntReason::dhcp)
      continue;  // the generator makes none, but by accident
    EXPECT_GT(fuzz.punted(reason), 0u) << kPuntReasonInfo[r].name;
  }
  EXPECT_GT(fuzz.dropped(DropReason::punt_overflow), 0u);
}

TEST(Counters, TheLawHoldsWithAMixtureOfPeers) {
  for (std::uint64_t seed = 3; seed < 7; ++seed) {
    Fuzz fuzz({{steered, sees_all, none, steered}, 16}, seed);
    fuzz.run(kSteps / 2);
  }
}

}  // namespace
}  // namespace surety
