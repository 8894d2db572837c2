// SPDX-License-Identifier: BSD-3-Clause
// The other end of a TCP connection as its sender sees it: which segments of it are acceptable (RFC 9293
// 3.10.7.4, RFC 5961 3 and 4, RFC 7323 5), and the window that it offers.
//
// A sender wants no data: what arrives in order is taken and forgotten, anything else is left to be repeated.
// Our own positions are 64-bit (tcp_sender.h), the peer's are sequence numbers.
#pragma once

#include <cstdint>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class TcpPeer {
 public:
  static constexpr std::uint16_t kReceiveWindow = 65535;  // RCV.WND; never scaled
  static constexpr std::uint16_t kLeastMss = 64;          // lower bound: tiny segments would attack both ends

  // From the peer's SYN or SYN-ACK; `timestamps`, `scale` and `sack`: whether our SYN offered them.
  void open(const tcp::Segment& syn, bool timestamps, bool scale, bool sack, std::uint16_t default_mss);

  std::uint16_t mss() const { return mss_; }
  bool timestamps() const { return timestamps_; }
  bool scales() const { return scales_; }
  bool sacks() const { return sacks_; }
  std::uint32_t next() const { return next_; }      // RCV.NXT
  std::uint32_t recent() const { return recent_; }  // TS.Recent

  // Action on a segment of a synchronised connection.
  enum class Verdict : std::uint8_t {
    accept,
    drop,
    answer,  // drop it, and send an ACK
    reset    // believe the reset
  };
  // `refusal` says why, unless it is to be accepted.
  Verdict admit(const tcp::Segment& s, Refusal& refusal) const;

  // Updates TS.Recent, SND.WND, WL1 and WL2 from an admitted segment whose acknowledgement number is at
  // `ack`, between SND.UNA and SND.MAX. True: the window field has changed (so this is no duplicate ACK).
  bool take_window(const tcp::Segment& s, std::uint64_t ack);
  // Text and FIN of an admitted segment: what is in order is taken. True: the FIN was reached.
  bool take_text(const tcp::Segment& s);

  std::uint64_t right_edge() const { return edge_; }         // SND.UNA + SND.WND at the last window update
  std::uint64_t largest_window() const { return largest_; }  // MAX.SND.WND

 private:
  bool in_window(std::uint32_t sequence) const { return sequence - next_ < kReceiveWindow; }
  Verdict admit_unusual(const tcp::Segment& s, Refusal& refusal) const;

  std::uint64_t edge_ = 0;
  std::uint64_t wl2_ = 0;  // SND.WL2, a position of ours
  std::uint64_t largest_ = 0;
  std::uint32_t wl1_ = 0;  // SND.WL1
  std::uint32_t next_ = 0;
  std::uint32_t recent_ = 0;
  std::uint16_t field_ = 0;  // SEG.WND of the last update
  std::uint16_t mss_ = 0;
  std::uint8_t scale_ = 0;
  bool timestamps_ = false, scales_ = false, sacks_ = false;
};

}  // namespace surety::endpoints
