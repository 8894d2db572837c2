// SPDX-License-Identifier: BSD-3-Clause
// Several workers of one router, turned by hand on one thread: what they hand to each other arrives, once and
// in order, and everything is counted once.
#include <map>

#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;
using frames::operator+;

constexpr const char* kYaml = R"(
version: 1
router: {name: several, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: customer, receive: {dispatch: on}}
  up: {device: null, addresses: [10.2.0.254/16], trust: core}
  down: {device: null, addresses: [10.3.0.254/16], trust: core}
services:
  silver: {conditioner: token-bucket, rate: 1 Gbit/s, bucket: 10 MB, mark: {in: AF11, out: AF12}}
classify:
  - {match: {port: lan}, service: silver, per: flow}
flow_table: {capacity: 4096}
)";

class Workers : public WorkersBed {
 protected:
  explicit Workers(std::size_t workers = 2, const char* yaml = kYaml) : WorkersBed(workers, yaml) {}
};

TEST_F(Workers, EveryPacketArrivesOnceAndInOrder) {
  constexpr std::uint16_t kFlows = 37;
  constexpr std::uint32_t kPackets = 200;
  for (std::uint32_t n = 0; n < kPackets; ++n)
    for (std::uint16_t f = 0; f < kFlows; ++f) taps_[0]->in.push_back(numbered(f, n));
  run();
  std::map<std::uint16_t, std::uint32_t> next;
  for (const std::size_t p : {std::size_t{1}, std::size_t{2}})
    for (const Octets& frame : taps_[p]->out) {
      const auto flow = static_cast<std::uint16_t>(frame[14 + 20] << 8 | frame[14 + 21]);
      std::uint32_t number = 0;
      std::memcpy(&number, frame.data() + 14 + 28, 4);
      EXPECT_EQ(flow % 2, p - 1);
      EXPECT_EQ(number, next[flow]++) << "flow " << flow;
    }
  EXPECT_EQ(next.size(), kFlows);
  for (const auto& [flow, n] : next) EXPECT_EQ(n, kPackets) << flow;
  expect_law();
}

TEST_F(Workers, BothHaveFlows) {
  for (std::uint16_t f = 0; f < 64; ++f) taps_[0]->in.push_back(numbered(f, 0));
  run();
  const auto first = workers_[0]->ingress().flows().size(), second = workers_[1]->ingress().flows().size();
  EXPECT_EQ(first + second, 64u);
  EXPECT_GT(first, 16u);
  EXPECT_GT(second, 16u);
}

// Nothing else decides: who does not know the seed cannot aim flows at a worker.
TEST_F(Workers, TheSeedDecidesWhoHasAFlow) {
  const Dispatch dispatch(Spread::flow, 2, kDispatchSeed);
  std::size_t first = 0;
  for (std::uint16_t f = 0; f < 64; ++f) {
    first += dispatch(numbered(f, 0)) == 0;
    taps_[0]->in.push_back(numbered(f, 0));
  }
  run();
  EXPECT_EQ(workers_[0]->ingress().flows().size(), first);
}

TEST_F(Workers, AFlowHasOneContract) {
  for (std::uint32_t n = 0; n < 100; ++n) taps_[0]->in.push_back(numbered(4, n));
  run();
  const Reading all = reading();
  EXPECT_EQ(all.services[0].counters.contracts, 1u);
  EXPECT_EQ(all.services[0].counters.packets[index(Precedence::in)], 100u);
}

// A worker that does not come round: what the other one dispatches to it is dropped by name, not waited for.
TEST_F(Workers, AFullRingDropsByName) {
  for (std::uint32_t n = 0; n < 200; ++n)
    for (std::uint16_t f = 0; f < 64; ++f) taps_[0]->in.push_back(numbered(f, n));
  while (!taps_[0]->in.empty()) workers_[0]->turn(now_ += std::chrono::microseconds(10));
  EXPECT_GT(drops(DropReason::dispatch_full), 0u);
  EXPECT_GT(drops(DropReason::handover_full), 0u) << "port `up` belongs to the other one";
  expect_law();
  run();
  expect_law();
  EXPECT_EQ(taps_[1]->out.size() + taps_[2]->out.size() + drops(DropReason::dispatch_full) +
                drops(DropReason::handover_full) + drops(DropReason::overflow),
            200u * 64u);
}

TEST_F(Workers, WhatTheKernelSendsLeavesByItsPort) {
  const Octets arp = frames::ethernet(frames::kArp, frames::kBroadcast) + frames::zeros(46);
  const std::array<rte_mbuf*, 2> own{to_mbuf(arp), to_mbuf(udp_frame())};
  ASSERT_EQ(fabric_->injected(1)->enqueue(own), 2u);
  run();
  ASSERT_EQ(taps_[1]->out.size(), 2u);
  EXPECT_EQ(taps_[1]->out[0], arp) << "as it is";
  EXPECT_EQ(taps_[1]->out[1], udp_frame());
  expect_law();
}

// Two customer ports; contracts of sources, or of all of them.
constexpr const char* kTwoPorts = R"(
version: 1
router: {name: joint, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: customer}
  up: {device: null, addresses: [10.2.0.254/16], trust: core}
  down: {device: null, addresses: [10.3.0.254/16], trust: core}
  lan2: {device: null, addresses: [10.4.0.254/16], trust: customer}
services:
  silver: {conditioner: token-bucket, rate: 1 Gbit/s, bucket: 10 MB, mark: {in: AF11, out: AF12}}
classify:
  - {match: {destination_port: 5001}, service: silver, per: source}
)";
constexpr const char* kOneContract = "  - {match: {destination_port: 5002}, service: silver, per: rule}\n";

struct JointContracts : Workers {
  explicit JointContracts(const std::string& yaml = kTwoPorts) : Workers(2, yaml.c_str()) {}
  // From eight sources, each through both ports.
  std::uint64_t contracts(std::uint16_t to) {
    for (std::uint32_t n = 0; n < 16; ++n) {
      Udp u;
      u.port = n % 2 == 0 ? 0 : 3;
      u.source += n / 2;
      u.to = to;
      taps_[u.port]->in.push_back(udp_frame(u));
    }
    run();
    const Reading all = reading();
    EXPECT_EQ(all.services[0].counters.packets[index(Precedence::in)], 16u);
    return all.services[0].counters.contracts;
  }
};
TEST_F(JointContracts, OfASourceIsOneThroughBothPorts) {
  EXPECT_EQ(contracts(5001), 8u);
  for (const auto& w : workers_) EXPECT_GT(w->ingress().flows().size(), 0u) << "the work is shared";
  expect_law();
}

struct OneJointContract : JointContracts {
  OneJointContract() : JointContracts(std::string(kTwoPorts) + kOneContract) {}
};
TEST_F(OneJointContract, OfARuleIsOneThroughBothPorts) {
  EXPECT_EQ(contracts(5002), 1u);
  expect_law();
}

struct ThreeWorkers : Workers {
  ThreeWorkers() : Workers(3) {}
};
TEST_F(ThreeWorkers, TheSame) {
  for (std::uint32_t n = 0; n < 100; ++n)
    for (std::uint16_t f = 0; f < 64; ++f) taps_[0]->in.push_back(numbered(f, n));
  run();
  EXPECT_EQ(taps_[1]->out.size() + taps_[2]->out.size(), 6400u);
  for (const auto& w : workers_) EXPECT_GT(w->ingress().flows().size(), 8u);
  expect_law();
}

}  // namespace
}  // namespace surety
