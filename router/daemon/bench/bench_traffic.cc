// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_traffic.h"

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <cstring>

#include "router/pipeline/wire/bytes.h"

namespace surety {

namespace {

// 64 bytes on the wire, of which 4 are the FCS. IPv6 and UDP leave none of payload.
constexpr std::uint16_t kFrame4 = 60, kFrame6 = 62;

void put16(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8);
  p[1] = static_cast<std::uint8_t>(v);
}
void put32(std::uint8_t* p, std::uint32_t v) {
  put16(p, v >> 16);
  put16(p + 2, v);
}

std::uint16_t checksum(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2)
    sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

struct Flow {
  std::uint32_t number;
  const Prefix& route;
  config::Dscp dscp;
  std::uint16_t length;  // bytes of its frames
};

void put_udp(std::uint8_t* udp, const Flow& flow, std::size_t before) {
  put16(udp, 1024 + flow.number % 60000);
  put16(udp + 2, 5001);
  put16(udp + 4, flow.length - static_cast<std::uint32_t>(before));
}

// `l3`: offset of the IP header; the bytes before it stay.
void make4(std::uint8_t* frame, std::uint16_t l3, const Flow& flow, bool options, Rng& rng) {
  constexpr std::uint32_t kRouterAlert = 0x94040000;
  const std::uint16_t header = options ? 24 : 20;
  std::uint8_t* ip = frame + l3;
  put16(ip - 2, 0x0800);
  ip[0] = static_cast<std::uint8_t>(0x40 | header / 4);
  ip[1] = static_cast<std::uint8_t>(flow.dscp << 2);
  put16(ip + 2, flow.length - std::uint32_t{l3});
  ip[8] = 64;
  ip[9] = 17;
  put32(ip + 12, 10u << 24 | (flow.number & 0xffffff));
  const std::uint64_t hosts = 0xffffffffu >> flow.route.length;
  put32(ip + 16, load_be32(flow.route.address.data()) | static_cast<std::uint32_t>(rng.next() & hosts));
  if (options) put32(ip + 20, kRouterAlert);
  put16(ip + 10, checksum({ip, header}));
  put_udp(ip + header, flow, std::size_t{l3} + header);
}

void put_tags(std::uint8_t* frame, const BenchInterfaces& interfaces, std::uint32_t i) {
  put16(frame + 12, 0x8100);
  put16(frame + 14, interfaces.outer(i));
  put16(frame + 16, 0x8100);
  put16(frame + 18, interfaces.inner(i));
}

// Maps i = 0, 1, ... to all numbers below `size`, in an order that no prefetcher predicts.
std::uint32_t hop(std::uint32_t i, std::uint32_t size) {
  constexpr std::uint64_t kPrime = 2'654'435'761;
  return static_cast<std::uint32_t>(i * kPrime % size);
}

void make6(std::uint8_t* frame, const Flow& flow, Rng& rng) {
  std::uint8_t* ip = frame + 14;
  put16(frame + 12, 0x86dd);
  put16(ip, 0x6000u | static_cast<std::uint32_t>(flow.dscp) << 6);
  put16(ip + 4, flow.length - 54u);
  ip[6] = 17;
  ip[7] = 64;
  put32(ip + 8, 0x20010db8);
  put32(ip + 20, flow.number);
  std::memcpy(ip + 24, flow.route.address.data(), 16);
  put32(ip + 36, rng.next());
  put_udp(ip + 40, flow, 54);
}

}  // namespace

BenchFeed::BenchFeed(const BenchTraffic& t)
    : count_(t.flows + t.flows / 2 * (t.in_a_row - 1)),
      ports_at_(t.v6 ? 54 : 34),
      frames_(count_),
      flood_(t.new_flows) {
  Rng rng(7);
  Frame* frame = &frames_[0];
  for (std::uint32_t i = 0; i < t.flows; ++i) {
    make(*frame, t, i, rng);
    const std::uint32_t copies = i % 2 == 1 ? t.in_a_row - 1 : 0;
    std::fill_n(frame + 1, copies, *frame);
    frame += 1 + copies;
  }
}

void BenchFeed::make(Frame& f, const BenchTraffic& t, std::uint32_t i, Rng& rng) {
  std::uint8_t* frame = f.bytes.data();
  std::memcpy(frame, t.destination_mac.data(), 6);
  frame[6] = 2;
  const bool other = !t.other_family.empty() && i % 2 == 1, v6 = t.v6 != other;
  const std::span<const Prefix> routes = other ? t.other_family : t.routes;
  const bool hops = t.spread > 0;
  const Prefix& route = routes[hops ? hop(i, t.spread) : rng.next() % routes.size()];
  config::Dscp dscp = 0;
  if (!t.dscps.empty()) dscp = t.dscps[(hops ? i / t.spread : rng.next()) % t.dscps.size()];
  f.length = std::max(v6 ? kFrame6 : kFrame4,
                      t.lengths.empty() ? std::uint16_t{0} : t.lengths[i % t.lengths.size()]);
  const bool tagged = t.interfaces.count > 0;
  const std::uint16_t l3 = tagged ? 22 : 14;
  if (tagged) put_tags(frame, t.interfaces, i % t.interfaces.count);
  const Flow flow{t.first + i, route, dscp, f.length};
  v6 ? make6(frame, flow, rng) : make4(frame, l3, flow, t.options, rng);
}

void BenchFeed::pace(double packets_per_cycle) {
  per_cycle_ = packets_per_cycle;
  start_ = rte_rdtsc();
  paced_ = 0;
}

std::uint16_t BenchFeed::receive(rte_mbuf** mbufs, std::uint16_t n) {
  const std::uint16_t come = per_cycle_ > 0 ? due(n) : n;
  fill(mbufs, come);
  if (flood_) make_new(mbufs, come);
  if (per_cycle_ > 0) stamp(mbufs, come);
  if (come < n) rte_pktmbuf_free_bulk(mbufs + come, n - come);
  received_ += come;
  return come;
}

// The table is the bench's: a device would write without the core, so the next frames are prefetched while
// the router works. A burst of frames is a page, where the core's own prefetching ends.
void BenchFeed::fill(rte_mbuf** mbufs, std::uint16_t n) {
  const Frame* const frames = &frames_[0];
  std::uint32_t next = next_;
  for (std::uint16_t i = 0; i < n; ++i) {
    const Frame& frame = frames[next];
    rte_prefetch1(&frame + n);
    std::memcpy(rte_pktmbuf_mtod(mbufs[i], void*), &frame, sizeof frame);
    mbufs[i]->data_len = frame.length;
    mbufs[i]->pkt_len = frame.length;
    if (++next == count_) next = 0;
  }
  next_ = next;
}

std::uint16_t BenchFeed::due(std::uint16_t most) const {
  const double come = static_cast<double>(rte_rdtsc() - start_) * per_cycle_;
  const auto waiting = static_cast<std::uint64_t>(come) - paced_;
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(waiting, most));
}

void BenchFeed::stamp(rte_mbuf** mbufs, std::uint16_t n) {
  for (std::uint16_t i = 0; i < n; ++i) {
    const std::uint64_t came =
        start_ + static_cast<std::uint64_t>(static_cast<double>(++paced_) / per_cycle_);
    std::memcpy(rte_pktmbuf_mtod_offset(mbufs[i], void*, kStamp), &came, sizeof came);
  }
}

// Ports that count: the UDP checksum of IPv4 is 0, for none.
void BenchFeed::make_new(rte_mbuf** mbufs, std::uint16_t n) {
  for (std::uint16_t i = 0; i < n; ++i)
    store(rte_pktmbuf_mtod_offset(mbufs[i], std::uint8_t*, ports_at_), ++ports_);
}

}  // namespace surety
