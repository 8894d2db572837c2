// SPDX-License-Identifier: BSD-3-Clause
// ordering [PACKETS]: two workers on two cores, one port that one of them reads and dispatches, two ports
// out, one owned by each: does any packet overtake another one of its flow?
//
// Each packet carries its number within its flow; what leaves is checked on the core that sends it. Default:
// 10^8 packets. Exit status 1 where one came out of order. Prints drops (full rings: the feed has no end)
// too.
#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_launch.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/router/daemon/workers/null_router.h"

namespace surety {
namespace {

using test::Octets;

constexpr std::uint32_t kFlows = 1000;
constexpr std::size_t kNumberAt = 14 + 28;  // behind Ethernet, IPv4 and UDP
constexpr const char* kYaml = R"(
version: 1
router: {name: ordering, id: 192.0.2.1}
workers: [0, 1]
ports:
  in: {device: null, addresses: [10.1.0.254/16], trust: customer, receive: {dispatch: on}}
  a: {device: null, addresses: [10.2.0.254/16], trust: core, worker: 0}
  b: {device: null, addresses: [10.3.0.254/16], trust: core, worker: 1}
services:
  marked: {conditioner: token-bucket, rate: 10 Gbit/s, bucket: 10 MB, mark: {in: AF11, out: AF12}}
classify: [{match: {port: in}, service: marked, per: flow}]
flow_table: {capacity: 4096, creation_rate: 0}
)";

struct Feed {
  std::vector<Octets> frames;
  std::vector<std::uint32_t> number;  // the next one, by flow
  std::uint32_t next = 0;
  std::uint64_t left = 0;
};

// Of one port: of the worker that owns it alone.
struct Check {
  std::vector<std::uint32_t> next;
  std::uint64_t packets = 0, wrong = 0;
};

std::uint16_t on_receive(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n, std::uint16_t,
                         void* user) {
  auto& feed = *static_cast<Feed*>(user);
  const auto kept = static_cast<std::uint16_t>(std::min<std::uint64_t>(n, feed.left));
  feed.left -= kept;
  for (std::uint16_t i = 0; i < kept; ++i) {
    const std::uint32_t flow = feed.next;
    feed.next = flow + 1 == kFlows ? 0 : flow + 1;
    const Octets& frame = feed.frames[flow];
    auto* p = rte_pktmbuf_mtod(packets[i], std::uint8_t*);
    std::memcpy(p, frame.data(), frame.size());
    std::memcpy(p + kNumberAt, &flow, 4);
    const std::uint32_t number = feed.number[flow]++;
    std::memcpy(p + kNumberAt + 4, &number, 4);
    packets[i]->data_len = static_cast<std::uint16_t>(frame.size());
    packets[i]->pkt_len = packets[i]->data_len;
  }
  for (std::uint16_t i = kept; i < n; ++i) rte_pktmbuf_free(packets[i]);
  return kept;
}

std::uint16_t on_transmit(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n, void* user) {
  auto& check = *static_cast<Check*>(user);
  for (std::uint16_t i = 0; i < n; ++i) {
    const auto* p = rte_pktmbuf_mtod(packets[i], const std::uint8_t*);
    std::uint32_t flow = 0, number = 0;
    std::memcpy(&flow, p + kNumberAt, 4);
    std::memcpy(&number, p + kNumberAt + 4, 4);
    check.wrong += number < check.next[flow];  // gaps are drops
    check.next[flow] = number + 1;
  }
  check.packets += n;
  return n;
}

Octets frame_of(std::uint32_t flow) {
  test::Udp u;
  u.from = static_cast<std::uint16_t>(1000 + flow);
  u.source += flow % 7;
  u.destination = flow % 2 == 0 ? 0x0a020001 : 0x0a030001;
  return test::udp_frame(u, 50);
}

std::uint64_t sum(const Reading& r, DropReason reason) {
  std::uint64_t n = 0;
  for (const auto& p : r.ports) n += p.counters.drops[static_cast<std::size_t>(reason)];
  return n;
}

int check_order(std::uint64_t packets) {
  Feed feed;
  for (std::uint32_t f = 0; f < kFlows; ++f) feed.frames.push_back(frame_of(f));
  feed.number.resize(kFlows);
  feed.left = packets;
  std::array<Check, 2> checks;
  test::NullRouter bed(kYaml, 2, {.clock = TscClock()}, 1);
  bed.taps[0]->on_receive(on_receive, &feed);
  for (std::size_t c = 0; c < 2; ++c) {
    checks[c].next.resize(kFlows);
    bed.taps[c + 1]->on_transmit(on_transmit, &checks[c]);
  }
  const auto start = std::chrono::steady_clock::now();
  for (unsigned w = 0; w < 2; ++w)
    rte_eal_remote_launch(
        [](void* self) {
          static_cast<Worker*>(self)->run(std::chrono::seconds(2));
          return 0;
        },
        bed.workers[w].get(), w + 1);
  const auto received_so_far = [&] {
    Reading all;
    for (auto& w : bed.workers)
      if (const auto r = w->read()) merge(all, *r);
    return all;
  };
  while (received_so_far().ports[0].counters.rx_packets < packets)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (auto& w : bed.workers) w->stop();
  rte_eal_mp_wait_lcore();
  const Reading all = received_so_far();
  const std::uint64_t out = checks[0].packets + checks[1].packets, wrong = checks[0].wrong + checks[1].wrong;
  fmt::print(
      "{} packets of {} flows in {:.1f} s ({:.2f} Mpps), {} sent, dropped: dispatch_full {}, handover_full "
      "{}, "
      "overflow {}; out of order: {}\n",
      packets, kFlows, took.count(), static_cast<double>(packets) / took.count() / 1e6, out,
      sum(all, DropReason::dispatch_full), sum(all, DropReason::handover_full),
      sum(all, DropReason::overflow), wrong);
  return wrong == 0 && out > 0 ? 0 : 1;
}

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  const char* eal[] = {"ordering", "--lcores", "0@(0,1),1@0,2@1", "--no-huge",   "-m",
                       "512",      "--no-pci", "--no-shconf",     "--log-level", "4"};
  if (rte_eal_init(10, const_cast<char**>(eal)) < 0) return 1;
  const int status = surety::check_order(argc > 1 ? std::stoull(argv[1]) : 100'000'000);
  rte_eal_cleanup();
  return status;
}
