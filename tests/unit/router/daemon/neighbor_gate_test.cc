// SPDX-License-Identifier: BSD-3-Clause
// Packets that come while their next hop's MAC address is not known, and those behind them, leave in the
// order they came in: workers and the control thread of one router, turned by hand on one thread.
#include "router/daemon/control.h"

#include <gmock/gmock.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <deque>
#include <map>

#include "router/pipeline/wire/host_messages.h"
#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr PortIndex kLan = 0, kWan = 1;
constexpr std::uint32_t kStation = 0x0a020001;
constexpr MacAddress kStationMac{2, 0, 0, 0, 9, 1};

// The devices are the test's; nobody but the built-in responder stands behind the ports.
constexpr const char* kYaml = R"(
version: 1
router: {name: order, id: 192.0.2.1}
ports:
  lan: {device: memif /lan server, twin: off, addresses: [10.1.0.254/16], trust: core, receive: {dispatch: on}}
  wan: {device: memif /wan server, twin: off, addresses: [10.2.0.254/16], trust: core}
)";

// What a device receives and has sent.
struct Wire {
  std::deque<Octets> in;
  std::vector<Octets> out;

  static std::uint16_t on_receive(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t,
                                  std::uint16_t room, void* user) {
    auto& in = static_cast<Wire*>(user)->in;
    std::uint16_t n = 0;
    for (; n < room && !in.empty(); in.pop_front()) packets[n++] = to_mbuf(in.front());
    return n;
  }
  static std::uint16_t on_transmit(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                   void* user) {
    for (const rte_mbuf* m : std::span(packets, n)) {
      const auto* p = rte_pktmbuf_mtod(m, const std::uint8_t*);
      static_cast<Wire*>(user)->out.emplace_back(p, p + m->data_len);
    }
    return n;
  }
};

class WiredPort {
 public:
  WiredPort(DpdkPort& port, Wire& wire)
      : id_(port.id()),
        receive_(rte_eth_add_rx_callback(id_, 0, Wire::on_receive, &wire)),
        transmit_(rte_eth_add_tx_callback(id_, 0, Wire::on_transmit, &wire)) {}
  ~WiredPort() {
    rte_eth_remove_rx_callback(id_, 0, receive_);
    rte_eth_remove_tx_callback(id_, 0, transmit_);
  }
  WiredPort(const WiredPort&) = delete;
  WiredPort& operator=(const WiredPort&) = delete;

 private:
  std::uint16_t id_;
  const rte_eth_rxtx_callback *receive_, *transmit_;
};

struct FreeRing {
  void operator()(rte_ring* r) const {
    for (void* m = nullptr; rte_ring_sc_dequeue(r, &m) == 0;) rte_pktmbuf_free(static_cast<rte_mbuf*>(m));
    rte_ring_free(r);
  }
};

class OrderBed {
 public:
  explicit OrderBed(std::size_t workers) : snapshot_(configured(kYaml)), forwarding_(64, 2) {
    for (std::size_t p = 0; p < wires.size(); ++p) open(p);
    std::vector<unsigned> cores;
    for (unsigned w = 0; w < workers; ++w) cores.push_back(w);
    plan_ = plan_work(snapshot_.config, cores, std::vector<PortAbility>(ports_.size()));
    fabric_ = std::make_unique<Fabric>("order", plan_);
    const WorkerEnvironment environment{
        snapshot_, ports_, forwarding_.fib(), forwarding_.next_hops(), punts_.get(), packet_pool()};
    for (std::size_t w = 0; w < workers; ++w)
      workers_.push_back(std::make_unique<Worker>(environment, plan_, w, fabric_.get(), WorkerOptions{}));
    for (auto& w : workers_) w->connect(workers_);
    for (auto& w : workers_) w->report_to(forwarding_.rcu());
    control_.emplace(
        snapshot_.config, ports_, forwarding_, events_, punts_.get(), packet_pool(),
        [this](PortIndex p, rte_mbuf* m) {
          return fabric_->injected(p)->enqueue({&m, 1}) == 1;
        },
        [this](PortIndex p) { return fabric_->injected(p)->size(); });
    control();  // the links are up
    turn();
    wires[kWan].out.clear();
  }

  // The next packet of each flow, to the station behind wan.
  void packets(std::size_t n = 1) {
    for (; n > 0; --n, ++sent)
      for (std::uint16_t flow = 0; flow < kFlows; ++flow) {
        Udp u;
        u.from = flow;
        u.destination = kStation;
        Octets frame = udp_frame(u);
        std::memcpy(frame.data() + 14 + 28, &sent, sizeof sent);
        wires[kLan].in.push_back(std::move(frame));
      }
  }
  // The station says which MAC address it has.
  void answer() {
    Octets frame(arp::kFrame);
    const MacAddress router = port_mac(kWan);
    arp::write(frame.data(), router,
               {arp::Operation::reply, kStationMac, router, station(), router_address()});
    wires[kWan].in.push_back(std::move(frame));
  }
  void turn() {
    for (auto& w : workers_) w->turn();
  }
  // Until everything that came in has been looked at.
  void turns() {
    do turn();
    while (std::ranges::any_of(wires, [](const Wire& w) { return !w.in.empty(); }));
    for (int i = 0; i < 3; ++i) turn();
  }
  void control() { control_->round(0ms); }
  // Both, while packets go on to come, until the station's own packets go straight to it.
  void settle() {
    for (int i = 0; i < 30; ++i) {
      packets();
      turns();
      control();
    }
    turns();
  }
  // The kernel says so, as netlink has it.
  void told_by_kernel() { tell({EventAction::add, -1 - kWan, station(), kStationMac}); }
  void forgotten_by_kernel() { tell({EventAction::remove, -1 - kWan, station(), {}}); }

  // The numbers of the packets of each flow that wan has sent, as it sent them.
  std::map<std::uint16_t, std::vector<std::uint32_t>> arrived() const {
    std::map<std::uint16_t, std::vector<std::uint32_t>> flows;
    for (const Octets& frame : wires[kWan].out) {
      if (frame[12] != 0x08 || frame[13] != 0x00) continue;
      std::uint32_t number = 0;
      std::memcpy(&number, frame.data() + 14 + 28, sizeof number);
      flows[static_cast<std::uint16_t>(frame[14 + 20] << 8 | frame[14 + 21])].push_back(number);
    }
    return flows;
  }
  void expect_order() const {
    const auto flows = arrived();
    EXPECT_EQ(flows.size(), kFlows);
    for (const auto& [flow, numbers] : flows) {
      const auto late = std::ranges::adjacent_find(numbers, std::greater_equal{});
      EXPECT_EQ(late, numbers.end()) << "flow " << flow << ": " << late[1] << " behind " << late[0];
      EXPECT_EQ(numbers.back(), sent - 1) << "flow " << flow;
    }
  }
  void expect_law() { test::expect_law(merged(workers_)); }
  std::uint64_t held() {
    std::uint64_t n = 0;
    for (auto& w : workers_) n += w->read_here().ports[kLan].counters.held;
    return n;
  }
  std::uint64_t dropped(DropReason reason) const {
    std::uint64_t n = 0;
    for (const auto& w : workers_) n += w->drops(reason);
    return n;
  }
  unsigned punts() const { return rte_ring_count(punts_.get()); }

  static constexpr std::uint16_t kFlows = 5;
  std::array<Wire, 2> wires;
  std::uint32_t sent = 0;

 private:
  static IpAddress station() { return *parse_address("10.2.0.1"); }
  static IpAddress router_address() { return *parse_address("10.2.0.254"); }
  // The FIB may wait until the workers look elsewhere: they sleep meanwhile.
  void tell(const NeighborEvent& event) {
    for (unsigned w = 0; w < workers_.size(); ++w) rte_rcu_qsbr_thread_offline(forwarding_.rcu(), w);
    static_cast<NetlinkMonitor::Handler&>(*control_).on(event);
    for (unsigned w = 0; w < workers_.size(); ++w) rte_rcu_qsbr_thread_online(forwarding_.rcu(), w);
  }
  void open(std::size_t p) {
    config::Port config = snapshot_.config.ports[p];
    config.device = {};
    config.device.kind = config::Device::Kind::null;
    config.mac = port_mac(p);
    ports_.push_back(std::make_unique<DpdkPort>(config, p, packet_pool()));
    ports_.back()->start();
    wired_.push_back(std::make_unique<WiredPort>(*ports_.back(), wires[p]));
  }

  Snapshot snapshot_;
  Forwarding forwarding_;
  std::unique_ptr<rte_ring, FreeRing> punts_{
      rte_ring_create("order-punts", 1024, SOCKET_ID_ANY, RING_F_SC_DEQ)};
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  std::vector<std::unique_ptr<WiredPort>> wired_;
  WorkPlan plan_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
  EventLog events_{[] { return EventTime{}; }, [](const StampedEvent&) {}};
  std::optional<Control> control_;
};

class NeighborOrder : public testing::TestWithParam<std::size_t> {
 protected:
  OrderBed bed{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Workers, NeighborOrder, testing::Values(1, 2));

// What waits at the control thread is on its way to the port when the next packet comes.
TEST_P(NeighborOrder, WhatWaitsIsNotOvertakenByWhatComesNext) {
  bed.packets();
  bed.turns();
  bed.control();  // asks for the station
  bed.packets(3);
  bed.turns();
  bed.answer();
  bed.turns();
  bed.control();
  bed.settle();
  bed.expect_order();
  bed.expect_law();
}

// The ring to the control thread still holds packets when the answer that stands before them is read.
TEST_P(NeighborOrder, NorIsWhatStandsInTheRingBehindTheAnswer) {
  bed.packets();
  bed.turns();
  bed.control();
  bed.answer();
  bed.turns();
  bed.packets(150);
  bed.turns();
  ASSERT_GT(bed.punts(), 512u) << "more than a round takes";
  bed.control();
  bed.settle();
  bed.expect_order();
  bed.expect_law();
}

// A kernel tells of its neighbours by another way than the one its packets go to it.
TEST_P(NeighborOrder, NorWhatAKernelWasToHaveBeforeItSaidThatItKnowsTheStation) {
  bed.packets(150);
  bed.turns();
  ASSERT_GT(bed.punts(), 512u);
  bed.told_by_kernel();
  while (bed.punts() > 0) {
    bed.packets();
    bed.turns();
    EXPECT_THAT(bed.arrived(), IsEmpty())
        << bed.punts() << " packets before it are on their way to the kernel";
    bed.control();
    bed.expect_law();
  }
  bed.settle();
  bed.expect_order();
  bed.expect_law();
}

// Known, gone and known again, at once: what was handed up in between goes before what comes at last.
TEST_P(NeighborOrder, NorWhatCameWhileANeighborWasGoneForAMoment) {
  bed.told_by_kernel();
  bed.settle();
  bed.expect_order();
  bed.forgotten_by_kernel();
  bed.packets(3);
  bed.turns();
  ASSERT_EQ(bed.punts(), 3u * OrderBed::kFlows);
  bed.told_by_kernel();
  bed.packets();
  bed.turns();
  EXPECT_EQ(bed.held(), std::uint64_t{OrderBed::kFlows});
  bed.expect_law();
  bed.settle();
  EXPECT_EQ(bed.held(), 0u);
  bed.expect_order();
  bed.expect_law();
}

TEST_P(NeighborOrder, WhatFindsNoRoomIsDroppedAndTheRestInOrder) {
  bed.packets();
  bed.turns();
  bed.told_by_kernel();
  bed.packets(PendingPackets::kPerPort);  // of each flow
  bed.turns();
  EXPECT_GT(bed.dropped(DropReason::neighbor_unresolved), 0u);
  EXPECT_GE(bed.held(), PendingPackets::kPerPort);
  bed.expect_law();
  bed.settle();
  bed.expect_order();
  bed.expect_law();
}

}  // namespace
}  // namespace surety
