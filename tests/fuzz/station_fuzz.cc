// SPDX-License-Identifier: BSD-3-Clause
// Any frames at all, into a station with listeners for everything: nothing crashes, and every frame is
// counted once. The input is a sequence of {16-bit length and shape, bytes}. Of most shapes the harness puts
// right what a fuzzer cannot guess: addresses, IP lengths, checksums.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "endpoints/engine/demux.h"
#include "endpoints/host/station.h"

namespace {

using namespace surety;
using namespace surety::endpoints;

constexpr MacAddress kMac{2, 0, 0, 0, 0, 1};

void require(bool holds) {
  if (!holds) std::abort();
}

// Answers everything; over when a packet ends in a zero.
class Echo final : public Engine {
 public:
  Refusal receive(const IpPacket& p, Time now) override {
    if (p.payload.back() == 0) state_ = FlowState::closed;
    due_ = now;
    return state_ == FlowState::closed ? Refusal::closed : Refusal::none;
  }
  std::size_t poll(Room room, Time now) override {
    if (due_ > now || room.empty()) return 0;
    std::memset(room[0].data, 0, 20);
    room[0].data[0] = 0x45;
    room[0].length = 20;
    due_ = kNever;
    return 1;
  }
  Time next_wakeup() const override { return due_; }
  void close(Time) override { state_ = FlowState::closed; }
  FlowState state() const override { return state_; }
  void read(FlowReading&) const override {}

 private:
  FlowState state_ = FlowState::open;
  Time due_ = kNever;
};

struct Anybody final : Acceptor {
  Engine* accept(void* room, const Tuple&, const IpPacket& first, Time, Refusal& refusal) override {
    refusal = first.payload[0] % 2 == 0 ? Refusal::none : Refusal::state;
    return refusal == Refusal::none ? new (room) Echo : nullptr;
  }
};

constexpr std::uint8_t kOurAddress6[16] = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

enum Shape : std::uint8_t { raw, ipv4, ipv6, arp_frame };

// Makes a frame of that shape for us; the rest is the fuzzer's.
void shape_frame(std::vector<std::uint8_t>& frame, Shape shape) {
  if (shape == raw || frame.size() < 14 + 60) return;
  std::copy(kMac.begin(), kMac.end(), frame.begin());
  store(&frame[12], swap16(shape == ipv4 ? 0x0800 : shape == ipv6 ? 0x86dd : 0x0806));
  std::uint8_t* const ip = &frame[14];
  const auto length = static_cast<std::uint16_t>(frame.size() - 14);
  if (shape == ipv4) {
    ip[0] = static_cast<std::uint8_t>(0x40 | std::max(ip[0] & 7, 5));
    store(ip + 2, swap16(length));
    store(ip + 16, IpAddress::v4(10, 1, 0, 1).v4_as_loaded());
  } else if (shape == ipv6) {
    ip[0] = 0x60;
    store(ip + 4, swap16(static_cast<std::uint16_t>(length - 40)));
    std::copy(std::begin(kOurAddress6), std::end(kOurAddress6), ip + 24);
  } else {
    store(ip, __builtin_bswap64(0x0001'0800'0604'0001));
  }
}

void put_checksum(std::uint8_t* at, Sum s) {
  store(at, s.checksum_field());
}

// Of IP, and of what is in it.
void fix_checksums(std::vector<std::uint8_t>& frame) {
  if (frame.size() < 34) return;
  std::uint8_t* const ip = &frame[14];
  const std::size_t header = (ip[0] & 0xfu) * 4;
  if (load_be16(&frame[12]) == 0x0800 && header >= 20 && 14 + header <= frame.size()) {
    ip[10] = ip[11] = 0;
    Sum s;
    s.add({ip, header});
    put_checksum(ip + 10, s);
  }
  ParsedPacket p;
  const ParseOutcome outcome = parse(frame, {.mac = kMac}, p);
  if (outcome.drop != DropReason::none || p.l4_offset == 0) return;
  const IpPacket packet = ip_packet(frame, p);
  const std::size_t at = p.protocol == 6 || p.protocol == 33 ? (p.protocol == 6 ? 16 : 6)
                         : p.protocol == 17                  ? 6
                                                             : 2;
  if (packet.payload.size() < at + 2) return;
  std::uint8_t* const field = &frame[p.l4_offset + at];
  field[0] = field[1] = 0;
  Sum s = p.protocol == 1 ? Sum{} : pseudo_header(packet);
  s.add(packet.payload);
  put_checksum(field, s);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Anybody anybody;
  StationParams params;
  params.mac = kMac;
  params.addresses = {{IpAddress::v4(10, 1, 0, 1), 24}, {IpAddress::v6(kOurAddress6), 64}};
  params.gateways = {IpAddress::v4(10, 1, 0, 254)};
  Station station(params, {.max_flows = 4}, Time{});
  for (const Transport t : {Transport::tcp, Transport::udp, Transport::dccp})
    station.host().listen(t, 80, anybody);
  station.host().listen(Transport::dccp_udp, 0, anybody);

  std::vector<std::uint8_t> bytes(8 * 2048);
  std::array<FrameSlot, 8> room;
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = {&bytes[i * 2048], 2048, 0};
  Time now{};
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(load<std::uint16_t>(data) % 2048, size - 2);
    std::vector<std::uint8_t> frame(data + 2, data + 2 + length);
    const bool repair = (data[1] & 0x80) == 0;
    const auto shape = static_cast<Shape>(data[1] >> 4 & 3);
    data += 2 + length;
    size -= 2 + length;
    shape_frame(frame, shape);
    if (repair) fix_checksums(frame);
    const std::span<const std::uint8_t> one[] = {frame};
    station.receive(one, now);
    for (std::size_t n; (n = station.poll(room, now)) > 0;)
      for (std::size_t i = 0; i < n; ++i) require(room[i].length >= 34 && room[i].length <= 2048);
    require(station.next_wakeup() > now);
    now += std::chrono::milliseconds(100);
  }
  const StationCounters& c = station.counters();
  const auto& drops = station.drops();
  const std::uint64_t dropped = std::accumulate(drops.begin(), drops.end(), std::uint64_t{0}) -
                                drops[static_cast<std::size_t>(DropReason::neighbor_unresolved)];
  require(c.frames == c.to_host + c.arp + c.neighbor_discovery + c.echoes + c.icmp + dropped);
  require(station.host().flows() <= 4);
  return 0;
}
