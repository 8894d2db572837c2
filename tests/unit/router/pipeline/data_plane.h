// SPDX-License-Identifier: BSD-3-Clause
// A router in a test's hands: real stages, FIB and packet buffers,
// ports that are the test itself, virtual time.
//
// Whatever a test does, at its end every packet buffer must be back in the pool: the destructor checks it.
#pragma once

#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/address.h"
#include "config/parse.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/egress_tags.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/routes/paths.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::test {

// Code points (RFC 4594).
inline constexpr std::uint8_t kBe = 0, kAf11 = 10, kAf12 = 12, kAf13 = 14, kAf21 = 18, kEf = 46, kCs6 = 48;

using namespace literals;
using frames::Octets;

// A multiple of the release wheel's slot (2^14 ns) and of the flow table's tick (2^20 ns).
inline constexpr Time kStart{Duration(std::int64_t{1} << 40)};
// When the release wheel lets go what may leave at `t`.
inline Time slot_end(Time t) {
  constexpr std::int64_t slot = 1 << 14;
  return Time(Duration((t.time_since_epoch().count() + slot - 1) / slot * slot));
}

inline rte_mempool* packet_pool() {
  static rte_mempool* const pool =
      rte_pktmbuf_pool_create("unit", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  return pool;
}
// One for all tests: it takes 64 MB and a while to make. Each test takes its routes out again.
inline Fib& shared_fib() {
  static auto* const fib = new Fib("dataplane", 64);
  return *fib;
}

inline rte_mbuf* to_mbuf(const Octets& frame) {
  rte_mbuf* m = rte_pktmbuf_alloc(packet_pool());
  std::memcpy(rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size())), frame.data(), frame.size());
  return m;
}
// Copies the frame and frees the buffer.
inline Octets take(rte_mbuf* m) {
  const auto* p = rte_pktmbuf_mtod(m, const std::uint8_t*);
  Octets frame(p, p + m->data_len);
  rte_pktmbuf_free(m);
  return frame;
}

// Beds have routes to where they send, not back to who sends: sources are checked where the text says so.
inline config::Config configured(std::string_view yaml) {
  auto result = config::parse(yaml, "test.yaml");
  std::string problems;
  for (const auto& d : result.diagnostics)
    if (d.severity == config::Diagnostic::Severity::error) problems += d.format();
  if (!result.ok()) throw std::runtime_error(problems);
  if (yaml.find("source_check") == yaml.npos)
    for (config::Port& port : result.config->ports) port.source_check = config::Port::SourceCheck::off;
  return std::move(*result.config);
}

inline MacAddress port_mac(std::size_t port) {
  return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(1 + port)};
}
inline MacAddress neighbor_mac(std::uint8_t last) {
  return {{2, 0, 0, 0, 9, last}};
}
inline NextHopEntry ready(std::uint8_t port, std::uint8_t last = 1) {
  return {neighbor_mac(last), port, NextHopEntry::State::ready};
}
// By an interface with tags.
inline NextHopEntry ready_by(std::uint8_t port, const Interfaces& interfaces, InterfaceIndex interface,
                             std::uint8_t last = 1) {
  return {neighbor_mac(last), port, NextHopEntry::State::ready, interface, interfaces[interface].tags};
}
inline NextHopEntry not_ready(NextHopEntry::State state, std::uint8_t port = 0) {
  return {{}, port, state};
}

// A UDP packet of a flow: IPv4, 10.1.0.1:1000 -> 10.2.0.1:5001, on port 0, unless said otherwise.
struct Udp {
  std::uint32_t source = 0x0a010001, destination = 0x0a020001;
  std::uint16_t from = 1000, to = 5001;
  std::uint8_t tos = 0, ttl = 64;
  PortIndex port = 0;
  std::uint16_t vlan = 0;
};
inline Octets udp_frame(const Udp& u = {}, std::size_t ip_length = 100) {
  using namespace frames;
  const Octets ip =
      ip4(17, udp(u.from, u.to, ip_length - 28), {u.source, u.destination, 0, u.tos, u.ttl, {}});
  if (u.vlan == 0) return ethernet(kIpv4, port_mac(u.port)) + ip;
  return ethernet(0x8100, port_mac(u.port)) + vlan(u.vlan, kIpv4) + ip;
}
inline std::vector<Octets> copies(std::size_t n, const Octets& frame) {
  return std::vector<Octets>(n, frame);
}
// The traffic class of an untagged frame.
inline std::uint8_t traffic_class_of(const Octets& frame) {
  return frame[14] >> 4 == 6 ? static_cast<std::uint8_t>(frame[14] << 4 | frame[15] >> 4) : frame[15];
}
inline std::uint8_t dscp_of(const Octets& frame) {
  return traffic_class_of(frame) >> 2;
}
inline bool checksum_right(const Octets& frame) {
  return frames::checksum(frame.data() + 14, (frame[14] & 0xfu) * std::size_t{4}) == 0;
}

struct Kernel {
  std::vector<KernelPeer> peers{};  // none where not given
  unsigned ring = 0;                // slots of the punt ring; 0: there is none
};

class DataPlane {
 public:
  explicit DataPlane(std::string_view yaml, const Kernel& kernel = {}, std::uint64_t seed = 1)
      : snapshot(configured(yaml)),
        ports(snapshot.config.ports.size()),
        services(snapshot.services.size()),
        punts(make_ring(kernel.ring)),
        disposal(ports, peers(kernel), punts),
        free_at_start_(rte_mempool_avail_count(packet_pool())) {
    disposal.losses().make_room(1, snapshot.config.flow_table.capacity);
    for (std::size_t p = 0; p < ports.size(); ++p) {
      macs.push_back(port_mac(p));
      egresses.push_back(
          std::make_unique<Egress>(snapshot, static_cast<PortIndex>(p), ports[p], disposal, now, seed + p));
    }
    for (const auto& e : egresses) port_egresses.push_back({e.get(), nullptr});
    const IngressEnvironment e{snapshot, fib,      next_hops, port_egresses, macs,        ports,
                               services, disposal, meter,     &signal_keys,  &wall_clock, packet_pool()};
    ingress = std::make_unique<Ingress>(e, seed, now);
    timers();
  }
  ~DataPlane() {
    for (auto& e : egresses) e->discard(now);
    ingress->discard();
    disposal.flush();
    take_punts();
    rte_ring_free(punts);
    for (const auto& p : prefixes_) fib.remove(p);
    EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free_at_start_) << "packet buffers lost or freed twice";
  }
  DataPlane(const DataPlane&) = delete;
  DataPlane& operator=(const DataPlane&) = delete;

  // A route by next hops of its own; returns the first one's id.
  std::uint32_t route(const std::string& to, const std::vector<NextHopEntry>& hops) {
    const std::uint32_t first = next_id_;
    for (const auto& hop : hops) next_hops.set(next_id_++, hop);
    route_to(to, {first, static_cast<std::uint32_t>(hops.size())});
    return first;
  }
  void route_to(const std::string& to, RouteTarget target) {
    prefixes_.push_back(parse_prefix(to).value());
    EXPECT_TRUE(fib.add(prefixes_.back(), target_of(prefixes_.back(), target).encode()));
  }

  // A reload between two turns. The snapshot before it goes (but for the first one): nobody may look at it.
  void reload(std::string_view yaml) {
    auto next = std::make_unique<Snapshot>(configured(yaml), *current);
    std::vector<ServiceCounters> counters = services;
    counters.resize(next->services.size());
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const auto update = Egress::prepare(*next, static_cast<PortIndex>(p), now, p);
      egresses[p]->adopt(*update, now);
    }
    std::vector<std::uint64_t> filter_counts(next->filters.counters());
    ingress->adopt(*next, counters, filter_counts, now);
    services.swap(counters);
    reloaded_ = std::move(next);
    current = reloaded_.get();
  }

  // A turn of the driver's loop without packets.
  void turn(Time t) {
    now = t;
    timers();
  }
  // Turns at all the times up to `end` at which a held packet may leave.
  void run_until(Time end) {
    while (ingress->next_event() <= end) turn(ingress->next_event());
    turn(end);
  }
  void receive(const std::vector<Octets>& frames, PortIndex port = 0) {
    std::vector<rte_mbuf*> burst;
    for (const auto& f : frames) burst.push_back(to_mbuf(f));
    ingress->receive(burst, port, now);
  }
  std::vector<Octets> transmit(PortIndex port, std::size_t room = 64) {
    std::vector<rte_mbuf*> burst(room);
    burst.resize(egresses[port]->transmit(burst, now));
    std::vector<Octets> frames;
    for (rte_mbuf* m : burst) {
      if (has_interface(m)) {  // as the transmitter does
        EXPECT_TRUE(write_tags(m, current->config.pcp ? current->config.pcp->of_dscp : Priorities{}));
      }
      EXPECT_EQ(m->nb_segs, 1);
      EXPECT_EQ(m->pkt_len, m->data_len);
      frames.push_back(take(m));
      ++ports[port].tx_packets;
      ports[port].tx_bytes += frames.back().size();
    }
    return frames;
  }
  // What becomes of one packet received now, by the counters: "to 1", "held", "drop no_route", "punt
  // ttl", "to 1, drop early".
  std::string fate(const Octets& frame, PortIndex port = 0) {
    const auto before = ports;
    receive({frame}, port);
    std::string words;
    const auto say = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (ports[p].enqueued > before[p].enqueued) say("to " + std::to_string(p));
      if (ports[p].held > before[p].held) say("held");
      for (std::size_t r = 0; r < kDropReasons; ++r)
        if (ports[p].drops[r] > before[p].drops[r]) say("drop " + std::string(kDropReasonInfo[r].name));
      for (std::size_t r = 0; r < kPuntReasons; ++r)
        if (ports[p].punted[r] > before[p].punted[r]) say("punt " + std::string(kPuntReasonInfo[r].name));
    }
    return words;
  }

  // Frames parsed as Ingress parses them, for a stage that is tested alone; all must be fit to go on.
  Burst parsed(const std::vector<Octets>& frames, PortIndex port = 0) {
    Burst v;
    const ParseContext context{macs[port], port, snapshot.classifier.uses_dscp(), false};
    for (const auto& f : frames) {
      EXPECT_TRUE(parse(f, context, v.header[v.size]).forwards());
      v.mbuf[v.size++] = to_mbuf(f);
    }
    return v;
  }
  static void free(Burst& v) {
    for (std::size_t i = 0; i < v.size; ++i) rte_pktmbuf_free(v.mbuf[i]);
    v.size = 0;
  }
  // What the control thread does with the punt ring, except that it goes nowhere; returns their reasons.
  std::vector<PuntReason> take_punts() {
    std::vector<PuntReason> reasons;
    for (void* m = nullptr; punts != nullptr && rte_ring_sc_dequeue(punts, &m) == 0;) {
      reasons.push_back(punted_reason(static_cast<rte_mbuf*>(m)));
      rte_pktmbuf_free(static_cast<rte_mbuf*>(m));
    }
    return reasons;
  }

  std::uint64_t drops(PortIndex port, DropReason reason) const {
    return ports[port].drops[static_cast<std::size_t>(reason)];
  }
  std::uint64_t punted(PortIndex port, PuntReason reason) const {
    return ports[port].punted[static_cast<std::size_t>(reason)];
  }
  const ServiceCounters& service(std::string_view name) const {
    for (std::size_t s = 0; s < services.size(); ++s)
      if (current->services[s].name == name && !current->services[s].retired) return services[s];
    throw std::out_of_range(std::string(name));
  }

  // The law of counters.h.
  void expect_law() const {
    std::uint64_t forwarded = 0, enqueued = 0, held = 0;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const PortCounters& c = ports[p];
      std::uint64_t in = c.held + c.forwarded + c.signals - c.fragments,
                    out = egresses[p]->depth() + c.tx_packets;
      for (const std::uint64_t n : c.punted) in += n;
      for (std::size_t r = 0; r < kDropReasons; ++r)
        (kDropReasonInfo[r].stage == "aggregate" || kDropReasonInfo[r].stage == "queue" ? out : in) +=
            c.drops[r];
      EXPECT_EQ(c.rx_packets, in) << "ingress of port " << p;
      EXPECT_EQ(c.enqueued, out) << "egress of port " << p;
      forwarded += c.forwarded + c.originated;
      enqueued += c.enqueued + c.handed_over - c.taken_over;
      held += c.held;
    }
    EXPECT_EQ(forwarded, enqueued);
    EXPECT_EQ(held, ingress->held());
    std::uint64_t services_held = 0;
    for (const auto& s : services) services_held += s.held;
    EXPECT_EQ(held, services_held + ingress->pending());
  }
  // Packet buffers in use since the start of the test.
  std::uint32_t in_use() const { return free_at_start_ - rte_mempool_avail_count(packet_pool()); }

  Time now = kStart;
  Snapshot snapshot;  // the first one
  const Snapshot* current = &snapshot;
  Fib& fib = shared_fib();
  NextHopTable next_hops{1024};
  std::vector<PortCounters> ports;
  std::vector<ServiceCounters> services;
  std::vector<MacAddress> macs;
  rte_ring* punts;
  PacketDisposal disposal;
  StageMeter meter;
  std::vector<std::unique_ptr<Egress>> egresses;
  std::vector<PortEgress> port_egresses;
  SignalKeys signal_keys{{{7, HiddenKey({1, 2, 3})}}};
  WallClock wall_clock{UnixTime(std::chrono::hours(490'000)), kStart};
  std::unique_ptr<Ingress> ingress;

 private:
  static rte_ring* make_ring(unsigned slots) {
    static unsigned serial = 0;
    if (slots == 0) return nullptr;
    const std::string name = "unit-" + std::to_string(serial++);
    return rte_ring_create(name.c_str(), slots, SOCKET_ID_ANY,
                           RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
  }
  std::vector<KernelPeer> peers(const Kernel& kernel) const {
    auto all = kernel.peers;
    all.resize(ports.size(), KernelPeer::none);
    return all;
  }
  void timers() {
    ingress->release(now);
    for (auto& e : egresses) e->advance(now);
  }

  std::unique_ptr<Snapshot> reloaded_;
  std::uint32_t next_id_ = kNextHopsFixed;
  std::vector<Prefix> prefixes_;
  unsigned free_at_start_;
};

}  // namespace surety::test
