// SPDX-License-Identifier: BSD-3-Clause
// Any datagrams at all, in any order, to both ends of our UDP: counters stay consistent, the sink never sends
// more than it got, the sender believes nothing that cannot be, and nothing is sent without end.
//
// Input: a byte that chooses the engine and the family, then records of {pause, length, that many bytes of
// datagram}. Length field and checksum are made good in half of the records: a fuzzer guesses neither.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "endpoints/udp/udp_sender.h"
#include "endpoints/udp/udp_sink.h"

namespace {

using namespace surety;
using namespace surety::endpoints;
using namespace std::chrono_literals;

void require(bool holds) {
  if (!holds) std::abort();
}

Tuple tuple(bool v6) {
  const std::uint8_t a[16] = {0x20, 1, 0x0d, 0xb8, 1}, b[16] = {0x20, 1, 0x0d, 0xb8, 2};
  if (v6) return {IpAddress::v6(a), IpAddress::v6(b), 5001, 40000};
  return {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 5001, 40000};
}

// A datagram for the engine, on the heap to its exact length.
struct Input {
  std::unique_ptr<std::uint8_t[]> bytes;
  IpPacket ip;
  Input(std::span<const std::uint8_t> datagram, const Tuple& t, std::uint8_t dscp)
      : bytes(std::make_unique<std::uint8_t[]>(datagram.size())) {
    std::copy(datagram.begin(), datagram.end(), bytes.get());
    ip.source = t.remote;
    ip.destination = t.local;
    ip.protocol = udp::kProtocol;
    ip.traffic_class = static_cast<std::uint8_t>(dscp << 2);
    ip.payload = {bytes.get(), datagram.size()};
    ip.length = static_cast<std::uint16_t>((t.local.is_v6() ? 40 : 20) + datagram.size());
  }
  void make_good() {
    if (ip.payload.size() < 8) return;
    store(bytes.get() + 4, swap16(static_cast<std::uint16_t>(ip.payload.size())));
    store(bytes.get() + 6, std::uint16_t{0});
    Sum sum = pseudo_header(ip);
    sum.add(ip.payload);
    store(bytes.get() + 6, sum.checksum_field());
  }
};

// Bytes that the engine sends at `now`.
std::uint64_t drain(Engine& e, Time now) {
  std::uint8_t buffer[2][1500];
  std::uint64_t sent = 0;
  for (int turn = 0; e.next_wakeup() <= now; ++turn) {
    require(turn < 1000);
    Slot room[2] = {{buffer[0], sizeof buffer[0], 0}, {buffer[1], sizeof buffer[1], 0}};
    const std::size_t n = e.poll(room, now);
    require(n <= 2);
    for (std::size_t i = 0; i < n; ++i) {
      require(room[i].length >= 20 + 8 + 16 && room[i].length <= sizeof buffer[0]);
      sent += room[i].length;
    }
  }
  return sent;
}

void check(const FlowReading& r, const FlowReading& before) {
  require(r.duplicate_packets <= r.received_packets && r.received_in_packets <= r.received_packets);
  require(r.payload_bytes <= r.received_bytes && r.received_in_bytes <= r.received_bytes);
  require(r.received_packets >= before.received_packets && r.received_bytes >= before.received_bytes);
  require(r.payload_bytes >= before.payload_bytes && r.duplicate_packets >= before.duplicate_packets);
  require(r.lost_packets < std::uint64_t{1} << 40);  // a difference that has not gone below zero
}

void feed(Engine& e, const Tuple& t, std::span<const std::uint8_t> data, bool sink) {
  Time now = Time(1s);
  std::uint64_t sent = drain(e, now);
  FlowReading before;
  while (data.size() >= 3) {
    now += data[0] * 1ms;
    const std::size_t length = std::min<std::size_t>(data[1], data.size() - 3);
    Input p(data.subspan(3, length), t, data[2] & 63);
    if (data[2] & 64) p.make_good();
    if (data[2] & 128) now += 100s;
    data = data.subspan(3 + length);
    e.receive(p.ip, now);
    sent += drain(e, now);
    FlowReading r;
    e.read(r);
    check(r, before);
    require(!sink || sent <= r.received_bytes);
    require(sink || r.received_packets - r.duplicate_packets <= r.sent_packets);
    before = r;
  }
  e.close(now);
  drain(e, now + 1h);
  require(e.state() == FlowState::closed && e.next_wakeup() == kNever);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::span rest(data + 1, size - 1);
  const Tuple t = tuple((data[0] & 1) != 0);
  const SinkParams sink;
  UdpParams params;
  params.common.packet = Bytes(100);
  params.rate = Rate::bits_per_second(80'000);
  if (data[0] & 2) {
    UdpSender sender(params, t, Schedule{Time(1s), data[0] & 4 ? Time(2s) : kNever});
    feed(sender, t, rest, false);
  } else {
    UdpSink engine(sink, t, Input({}, t, 0).ip, Time(1s));
    feed(engine, t, rest, true);
  }
  return 0;
}
