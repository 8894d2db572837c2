// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/bench/bench_traffic.h"

#include <rte_cycles.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "conditioners/rng.h"
#include "router/wire/bytes.h"

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

std::uint16_t checksum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void put_udp(std::uint8_t* udp, std::uint32_t flow, std::uint16_t length) {
  put16(udp, 1024 + flow % 60000);
  put16(udp + 2, 5001);
  put16(udp + 4, length);
}

// `l3`: where the IP header stands; before it is what is there already.
void make4(std::uint8_t* frame, std::uint16_t l3, std::uint32_t flow, const Prefix& route, config::Dscp dscp,
           Rng& rng) {
  std::uint8_t* ip = frame + l3;
  put16(ip - 2, 0x0800);
  ip[0] = 0x45;
  ip[1] = static_cast<std::uint8_t>(dscp << 2);
  put16(ip + 2, kFrame4 - std::uint32_t{l3});
  ip[8] = 64;
  ip[9] = 17;
  put32(ip + 12, 10u << 24 | (flow & 0xffffff));
  const std::uint64_t hosts = 0xffffffffu >> route.length;
  put32(ip + 16, load_be32(route.address.data()) | static_cast<std::uint32_t>(rng.next() & hosts));
  put16(ip + 10, checksum(ip));
  put_udp(ip + 20, flow, static_cast<std::uint16_t>(kFrame4 - l3 - 20));
}

void put_tags(std::uint8_t* frame, const BenchInterfaces& interfaces, std::uint32_t i) {
  put16(frame + 12, 0x8100);
  put16(frame + 14, interfaces.outer(i));
  put16(frame + 16, 0x8100);
  put16(frame + 18, interfaces.inner(i));
}

// All below `size`, in an order that no cache foresees.
std::uint32_t hop(std::uint32_t i, std::uint32_t size) {
  constexpr std::uint64_t kPrime = 2'654'435'761;
  return static_cast<std::uint32_t>(i * kPrime % size);
}

void make6(std::uint8_t* frame, std::uint32_t flow, const Prefix& route, config::Dscp dscp, Rng& rng) {
  std::uint8_t* ip = frame + 14;
  put16(frame + 12, 0x86dd);
  put16(ip, 0x6000u | static_cast<std::uint32_t>(dscp) << 6);
  put16(ip + 4, 8);
  ip[6] = 17;
  ip[7] = 64;
  put32(ip + 8, 0x20010db8);
  put32(ip + 20, flow);
  std::memcpy(ip + 24, route.address.data(), 16);
  put32(ip + 36, rng.next());
  put_udp(ip + 40, flow, 8);
}

}  // namespace

void BenchFeed::Unmap::operator()(Frame* p) const {
  munmap(p, bytes);
}

std::unique_ptr<BenchFeed::Frame, BenchFeed::Unmap> BenchFeed::map(std::size_t frames) {
  const std::size_t bytes = frames * sizeof(Frame);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  madvise(p, bytes, MADV_HUGEPAGE);
  return {static_cast<Frame*>(p), Unmap{bytes}};
}

BenchFeed::BenchFeed(const BenchTraffic& t)
    : count_(t.flows), frame_length_(t.v6 ? kFrame6 : kFrame4), frames_(map(t.flows)) {
  Rng rng(7);
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::uint8_t* frame = frames_.get()[i].bytes.data();
    std::memcpy(frame, t.destination_mac.data(), 6);
    frame[6] = 2;
    const bool hops = t.spread > 0;
    const Prefix& route = t.routes[hops ? hop(i, t.spread) : rng.next() % t.routes.size()];
    config::Dscp dscp = 0;
    if (!t.dscps.empty()) dscp = t.dscps[(hops ? i / t.spread : rng.next()) % t.dscps.size()];
    const bool tagged = t.interfaces.count > 0;
    const std::uint16_t l3 = tagged ? 22 : 14;
    if (tagged) put_tags(frame, t.interfaces, i % t.interfaces.count);
    t.v6 ? make6(frame, t.first + i, route, dscp, rng) : make4(frame, l3, t.first + i, route, dscp, rng);
  }
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
  return come;
}

void BenchFeed::fill(rte_mbuf** mbufs, std::uint16_t n) {
  for (std::uint16_t i = 0; i < n; ++i) {
    std::memcpy(rte_pktmbuf_mtod(mbufs[i], void*), frames_.get()[next_].bytes.data(), 64);
    mbufs[i]->data_len = frame_length_;
    mbufs[i]->pkt_len = frame_length_;
    if (++next_ == count_) next_ = 0;
  }
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
  const std::size_t at = frame_length_ == kFrame4 ? 34 : 54;
  for (std::uint16_t i = 0; i < n; ++i) store(rte_pktmbuf_mtod_offset(mbufs[i], std::uint8_t*, at), ++ports_);
}

}  // namespace surety
