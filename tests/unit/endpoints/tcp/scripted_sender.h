// SPDX-License-Identifier: BSD-3-Clause
// The other end of a TcpReceiver, by hand: segments are sent as they are written down, and what comes back is
// decoded from real packets.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "endpoints/tcp/tcp_receiver.h"
#include "endpoints/tcp/wire_tcp.h"
#include "tests/unit/endpoints/endpoint_wire.h"

namespace surety::endpoints {

inline constexpr std::uint32_t kIsn = 0xffff'ff00;  // the peer's: wraps soon
inline constexpr std::uint16_t kHere = 5001, kThere = 40000;

using Octets = std::vector<std::uint8_t>;

inline Tuple sink_tuple(bool v6 = false) {
  const std::uint8_t a[16] = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::uint8_t b[16] = {0x20, 1, 0xd, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (v6) return {IpAddress::v6(a), IpAddress::v6(b), kHere, kThere};
  return {IpAddress::v4(10, 1, 0, 1), IpAddress::v4(10, 2, 0, 1), kHere, kThere};
}
inline Tuple reversed(const Tuple& t) {
  return {t.remote, t.local, t.remote_port, t.local_port};
}

// A packet of our own making: the frame that holds it, and the view.
struct Crafted {
  Octets frame;
  IpPacket packet;
};
inline Crafted crafted(const tcp::Segment& s, const Tuple& from, std::uint8_t dscp = 0) {
  Crafted c;
  c.frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
  c.frame.push_back(from.local.is_v6() ? 0x86 : 0x08);
  c.frame.push_back(from.local.is_v6() ? 0xdd : 0x00);
  c.frame.resize(14 + 60 + 60 + s.payload.size());
  Slot slot{c.frame.data() + 14, static_cast<std::uint32_t>(c.frame.size() - 14), 0};
  c.frame.resize(14 + tcp::write(s, IpWriter(from, 6), dscp, slot));
  c.packet = parsed(c.frame);
  return c;
}

// A decoded segment that owns its payload.
struct Heard : tcp::Segment {
  Octets bytes;
  std::uint32_t ip_length = 0;
};

inline Octets pattern(std::uint64_t offset, std::size_t length) {
  Octets b(length);
  StreamPattern::write(b, offset);
  return b;
}

// What an engine sends at `now`, checked as a router and a receiver would.
inline std::vector<Heard> polled(Engine& e, Time now) {
  std::vector<Heard> out;
  for (bool more = true; more;) {
    Octets frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    frame.resize(14 + 1500);
    Slot slot{frame.data() + 14, 1500, 0};
    more = e.poll({&slot, 1}, now) == 1;
    if (!more) break;
    if (frame[14] >> 4 == 6) frame[12] = 0x86, frame[13] = 0xdd;
    frame.resize(14 + slot.length);
    const IpPacket p = parsed(frame);
    Heard h;
    EXPECT_EQ(name(tcp::read(p, h)), "none");
    h.bytes.assign(h.payload.begin(), h.payload.end());
    h.payload = {};
    h.ip_length = p.length;
    out.push_back(std::move(h));
  }
  return out;
}

class ScriptedSender {
 public:
  explicit ScriptedSender(SinkParams p = {.ack = AckPolicy::every}, bool v6 = false)
      : params(p), tuple(sink_tuple(v6)) {}

  SinkParams params;
  Tuple tuple;
  Time now{std::chrono::seconds(100)};
  std::optional<TcpReceiver> sink;
  std::uint32_t their_isn = 0;             // once open() has heard the SYN-ACK
  std::optional<std::uint32_t> timestamp;  // sent with every segment when set
  std::uint32_t echo = 0;

  // A segment of the peer at stream offset `at` (byte 0 is behind the SYN), with everything acknowledged.
  tcp::Segment segment(std::uint32_t at, std::uint8_t flags = tcp::kAck) const {
    tcp::Segment s;
    s.source_port = kThere;
    s.destination_port = kHere;
    s.sequence = kIsn + 1 + at;
    s.ack = their_isn + 1;
    s.flags = flags;
    s.window = 65000;
    if (timestamp) s.timestamps = tcp::Timestamps{*timestamp, echo};
    return s;
  }
  tcp::Segment syn() const {
    tcp::Segment s = segment(0, tcp::kSyn);
    s.sequence = kIsn;
    s.ack = 0;
    return s;
  }

  Refusal give(const tcp::Segment& s, std::uint8_t dscp = 0) {
    return sink->receive(crafted(s, reversed(tuple), dscp).packet, now);
  }
  // Bytes [from, to) of the pattern.
  Refusal data(std::uint32_t from, std::uint32_t to, std::uint8_t more_flags = 0) {
    return bytes(from, pattern(from, to - from), more_flags);
  }
  Refusal bytes(std::uint32_t at, const Octets& b, std::uint8_t more_flags = 0) {
    tcp::Segment s = segment(at, static_cast<std::uint8_t>(tcp::kAck | more_flags));
    s.payload = b;
    return give(s);
  }

  std::vector<Heard> answers() { return polled(*sink, now); }
  // The stream offsets that pure ACKs acknowledge.
  std::vector<std::uint32_t> acks() {
    std::vector<std::uint32_t> out;
    for (const Heard& h : answers()) {
      EXPECT_EQ(h.flags, tcp::kAck);
      EXPECT_TRUE(h.bytes.empty());
      out.push_back(h.ack - kIsn - 1);
    }
    return out;
  }

  // The sink hears `s`; its SYN-ACK.
  Heard connect(const tcp::Segment& s) {
    const Crafted c = crafted(s, reversed(tuple));
    EXPECT_EQ(name(TcpAcceptor::check_syn(c.packet)), "none");
    sink.emplace(params, tuple, c.packet, now, 7);
    const auto heard = answers();
    EXPECT_EQ(heard.size(), 1u);
    if (heard.size() != 1) return {};
    their_isn = heard[0].sequence;
    return heard[0];
  }
  void open() { open(syn()); }
  void open(const tcp::Segment& s) {
    connect(s);
    EXPECT_EQ(give(segment(0)), Refusal::none);
    EXPECT_EQ(sink->state(), FlowState::open);
    EXPECT_TRUE(answers().empty());
  }
  void pass(Duration d) { now += d; }
  FlowReading reading() const {
    FlowReading r;
    sink->read(r);
    return r;
  }
};

}  // namespace surety::endpoints
