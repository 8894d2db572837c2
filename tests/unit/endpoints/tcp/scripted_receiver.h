// SPDX-License-Identifier: BSD-3-Clause
// The other end of a TcpSender, by hand: ACKs are given as they are written down,
// and what is sent is decoded from real packets. Segments of kSegment bytes, and no
// timestamps, SACK or ECN unless asked for, so that traces are lists of segment numbers.
#pragma once

#include <initializer_list>
#include <string>

#include "endpoints/tcp/tcp_sender.h"
#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {

inline constexpr std::uint32_t kSegment = 1000;
inline constexpr std::uint32_t kPeerIsn = 0xffff'fff0;  // wraps soon
inline constexpr Time kStart{std::chrono::seconds(100)};
using Trace = std::vector<std::uint32_t>;

inline Trace range(std::uint32_t from, std::uint32_t to) {  // [from, to)
  Trace t;
  for (; from < to; ++from) t.push_back(from);
  return t;
}

inline TcpParams plain(TcpFlavour flavour) {
  TcpParams p;
  p.common.packet = Bytes(kSegment + 40);
  p.flavour = flavour;
  p.timestamps = p.sack = p.ecn = false;
  return p;
}
// GTCP with `segments` of cwnd_G at a round-trip time of 100 ms.
inline TcpParams reserved(std::uint32_t segments) {
  TcpParams p = plain(TcpFlavour::gtcp);
  p.reserved = Rate::bits_per_second(std::uint64_t{segments} * (kSegment + 40) * 8 * 10);
  return p;
}

class ScriptedReceiver {
 public:
  explicit ScriptedReceiver(const TcpParams& p, Time stop = kNever)
      : params(p), sender(params, reversed(sink_tuple()), Schedule{kStart, stop}, 7) {}

  TcpParams params;
  TcpSender sender;
  Time now = kStart;
  std::uint32_t isn = 0;         // the sender's, once syn() was heard
  std::uint16_t window = 65535;  // of the next segments, as in the field
  std::uint8_t scale = 4;        // of the window; offered by the SYN-ACK
  std::uint32_t sequence = kPeerIsn + 1;
  std::optional<tcp::Timestamps> timestamps;

  tcp::Segment segment(std::uint64_t ack_offset, std::uint8_t flags = tcp::kAck) const {
    tcp::Segment s;
    s.source_port = kHere;
    s.destination_port = kThere;
    s.sequence = sequence;
    s.ack = isn + 1 + static_cast<std::uint32_t>(ack_offset);
    s.flags = flags;
    s.window = window;
    s.timestamps = timestamps;
    return s;
  }
  tcp::Segment syn_ack() const {
    tcp::Segment s = segment(0, tcp::kSyn | tcp::kAck);
    s.sequence = kPeerIsn;
    s.mss = std::uint16_t{1460};
    if (scale != 0) s.window_scale = scale;
    return s;
  }
  Refusal give(const tcp::Segment& s) { return sender.receive(crafted(s, sink_tuple()).packet, now); }
  Refusal ack_bytes(std::uint64_t offset) { return give(segment(offset)); }
  Refusal ack(std::uint64_t segments) { return ack_bytes(segments * kSegment); }

  std::vector<Heard> heard() { return polled(sender, now); }
  std::uint32_t offset(const Heard& h) const { return h.sequence - isn - 1; }

  // What is sent now, all of it full segments of the pattern, as segment numbers.
  Trace sent() {
    Trace out;
    for (const Heard& h : heard()) {
      EXPECT_EQ(h.flags & ~tcp::kPsh, tcp::kAck);
      EXPECT_EQ(h.bytes.size(), kSegment);
      EXPECT_EQ(offset(h) % kSegment, 0u);
      EXPECT_TRUE(StreamPattern::matches(h.bytes, offset(h)));
      out.push_back(offset(h) / kSegment);
    }
    return out;
  }
  // What an ACK of the first `segments` segments makes it send.
  Trace on_ack(std::uint64_t segments) {
    EXPECT_EQ(name(ack(segments)), "none");
    return sent();
  }
  // n times the same ACK, with what each made it send in one list.
  Trace on_acks(int n, std::uint64_t segments) {
    Trace all;
    for (int i = 0; i < n; ++i)
      for (const std::uint32_t s : on_ack(segments)) all.push_back(s);
    return all;
  }

  Heard syn() {
    const auto h = heard();
    EXPECT_EQ(h.size(), 1u);
    if (h.size() != 1) return {};
    isn = h[0].sequence;
    return h[0];
  }
  // Handshake with a round-trip time of 100 ms; then the ACK of the SYN-ACK has been sent, and no data.
  void connect(const tcp::Segment* answer = nullptr) {
    syn();
    pass(std::chrono::milliseconds(100));
    const tcp::Segment a = answer ? *answer : syn_ack();
    EXPECT_EQ(name(give(a)), "none");
    EXPECT_EQ(sender.state(), FlowState::open);
    Octets frame(1514);
    Slot slot{frame.data() + 14, 1500, 0};
    EXPECT_EQ(sender.poll({&slot, 1}, now), 1u);
    EXPECT_EQ(slot.length, timestamps ? 52u : 40u) << "a pure ACK";
  }
  // Slow start without losses until `segments` are in flight and nothing else was lost; SND.UNA is then
  // behind the segments acknowledged. Returns the number of segments acknowledged.
  std::uint32_t open_window(std::uint32_t segments) {
    connect();
    std::uint32_t next = static_cast<std::uint32_t>(sent().size()), acked = 0;
    while (next - acked < segments) next += static_cast<std::uint32_t>(on_ack(++acked).size());
    EXPECT_EQ(next - acked, segments);
    return acked;
  }
  void pass(Duration d) { now += d; }
  void pass_to_wakeup() {
    EXPECT_NE(sender.next_wakeup(), kNever);
    now = std::max(now, sender.next_wakeup());
  }
  FlowReading reading() const {
    FlowReading r;
    sender.read(r);
    return r;
  }
  std::uint64_t cwnd() const { return reading().cwnd; }
};

}  // namespace surety::endpoints
