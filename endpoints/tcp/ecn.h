// SPDX-License-Identifier: BSD-3-Clause
// Explicit congestion notification of a TCP connection (RFC 3168 6.1), both halves: negotiated by flags of
// the SYNs, echoed by the receiver until the sender says that it has reduced its window.
//
// Nothing else depends on it. Where a path bleaches the marks, losses still reduce the window; where it makes
// them up, or an echo never ends, the window is reduced once a round trip and no further than to two
// segments.
#pragma once

#include <cstdint>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class EcnEcho {
 public:
  // The flags of the answer to a SYN with these.
  std::uint8_t on_syn(std::uint8_t flags) {
    capable_ = (flags & kSetup) == kSetup;
    return answer();
  }
  std::uint8_t answer() const { return flag(capable_, tcp::kEce); }

  void on_data(std::uint8_t flags, bool marked) {
    if ((flags & tcp::kCwr) != 0) echoes_ = false;
    if (marked && capable_) echoes_ = true;
  }
  // For the flags of an ACK.
  std::uint8_t flags() const { return flag(echoes_, tcp::kEce); }

  static constexpr std::uint8_t kSetup = tcp::kEce | tcp::kCwr;
  static constexpr std::uint8_t flag(bool set, std::uint8_t which) { return set ? which : std::uint8_t{0}; }

 private:
  bool capable_ = false, echoes_ = false;
};

class EcnSender {
 public:
  // The flags of our SYN. One that had no answer is repeated without them: some networks drop such SYNs
  // (6.1.1.1), and an end that ever sent one without is not capable.
  std::uint8_t on_syn_sent(bool wanted, bool again) {
    offered_ = wanted && !again;
    return EcnEcho::flag(offered_, EcnEcho::kSetup);
  }
  // Takes the SYN-ACK's flags. Both flags come from a peer that reflects unknown ones.
  void on_answer(std::uint8_t flags) { capable_ = offered_ && (flags & EcnEcho::kSetup) == tcp::kEce; }
  bool capable() const { return capable_; }

  // True if an ACK echoes a mark.
  bool echoes(std::uint8_t flags) const { return capable_ && (flags & tcp::kEce) != 0; }
  // True if an ACK up to `ack` requires a smaller window: not if it echoes a mark from before the last
  // reduction.
  bool on_ack(std::uint8_t flags, std::uint64_t ack) const { return echoes(flags) && ack > reduced_; }
  // The window has been reduced, for whatever reason, when SND.MAX was `max`: 6.1.2.
  void on_reduction(std::uint64_t max) {
    reduced_ = max;
    tell_ = capable_;
  }
  // For the flags of a segment of new data.
  std::uint8_t take_flags() {
    const bool tell = tell_;
    tell_ = false;
    return EcnEcho::flag(tell, tcp::kCwr);
  }

 private:
  std::uint64_t reduced_ = 0;
  bool offered_ = false, capable_ = false, tell_ = false;
};

}  // namespace surety::endpoints
