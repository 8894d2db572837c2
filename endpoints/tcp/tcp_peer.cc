// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_peer.h"

#include <algorithm>

namespace surety::endpoints {

using tcp::before;
using tcp::Segment;

void TcpPeer::open(const Segment& syn, bool timestamps, bool scale, bool sack, std::uint16_t default_mss) {
  next_ = syn.sequence + 1;
  timestamps_ = timestamps && syn.timestamps.has_value();
  if (timestamps_) recent_ = syn.timestamps->value;
  mss_ = std::max(syn.mss.value_or(default_mss), kLeastMss);
  field_ = syn.window;  // a SYN's window: never scaled (RFC 7323 2.2)
  wl1_ = syn.sequence;
  wl2_ = 1;
  edge_ = 1 + std::uint64_t{field_};
  largest_ = field_;
  scales_ = scale && syn.window_scale.has_value();
  if (scales_) scale_ = *syn.window_scale;
  sacks_ = sack && syn.sack_permitted;
}

TcpPeer::Verdict TcpPeer::admit(const Segment& s, Refusal& refusal) const {
  const bool usual = s.sequence == next_ && s.flags == tcp::kAck && s.timestamps.has_value() == timestamps_ &&
                     (!timestamps_ || !before(s.timestamps->value, recent_));
  if (usual) [[likely]]
    return Verdict::accept;
  return admit_unusual(s, refusal);
}

TcpPeer::Verdict TcpPeer::admit_unusual(const Segment& s, Refusal& refusal) const {
  if (s.has(tcp::kRst)) {  // RFC 5961 3.2
    refusal = Refusal::tcp_reset;
    if (s.sequence == next_) return Verdict::reset;
    return in_window(s.sequence) ? Verdict::answer : Verdict::drop;
  }
  if (s.has(tcp::kSyn)) {  // RFC 5961 4.2
    refusal = Refusal::tcp_syn;
    return Verdict::answer;
  }
  if (timestamps_) {
    refusal = Refusal::tcp_paws;
    if (!s.timestamps) return Verdict::drop;  // RFC 7323 3.2
    if (before(s.timestamps->value, recent_)) return Verdict::answer;
  }
  const std::uint32_t length = s.length();
  if (!in_window(s.sequence) && (length == 0 || !in_window(s.sequence + length - 1))) {
    refusal = Refusal::tcp_sequence;
    return Verdict::answer;
  }
  return Verdict::accept;
}

bool TcpPeer::take_window(const Segment& s, std::uint64_t ack) {
  // RFC 7323 4.3 (2): everything in order is acknowledged at once, so Last.ACK.sent is RCV.NXT.
  if (timestamps_ && !before(next_, s.sequence)) recent_ = s.timestamps->value;
  const bool later = before(wl1_, s.sequence) || (wl1_ == s.sequence && wl2_ <= ack);
  if (!later) return false;
  wl1_ = s.sequence;
  wl2_ = ack;
  const bool changed = field_ != s.window;
  field_ = s.window;
  const std::uint64_t window = std::uint64_t{field_} << scale_;
  edge_ = ack + window;
  largest_ = std::max(largest_, window);
  return changed;
}

bool TcpPeer::take_text(const Segment& s) {
  const std::uint32_t end = s.sequence + s.length();
  if (before(next_, s.sequence) || !before(next_, end)) return false;
  next_ = end;
  return s.has(tcp::kFin);
}

}  // namespace surety::endpoints
