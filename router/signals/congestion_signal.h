// SPDX-License-Identifier: BSD-3-Clause
// A congestion signal of CSA's remote part (router/signals/README.md): an OUT packet was the 8th to arrive at
// a congested queue of this router, and the border that its source lies behind is to know.
//
// Only what the event is; how it travels is the driver's business: in the lab as an event,
// between routers in a packet.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "config/config.h"
#include "router/signals/unix_time.h"
#include "router/wire/ip_bytes.h"

namespace surety {

// A sample is of the packet that was the 8th to arrive; a reminder says that the queue is congested to one
// whose packets have come before (contributors.h).
enum class SignalKind : std::uint8_t { sample, reminder };

// Which one it is, of those that were received: each is believed once.
struct SignalNumber {
  std::uint32_t router = 0;
  std::uint8_t port = 0, queue = 0;
  std::uint64_t sequence = 0;
  UnixTime sent{};
  friend bool operator==(const SignalNumber&, const SignalNumber&) = default;
};

struct CongestionSignal {
  IpAddress source, destination;  // of that packet; the signal goes towards its source
  std::uint8_t port = 0;          // the congested queue, at the router that it belongs to
  std::uint8_t class_index = 0;
  std::uint8_t dscp = 0;  // of that packet: of the CSA domains on its path, those of its class are concerned
  Time time{};            // of the arrival
  // The packet's first bytes as an ICMP message quotes them: its IP header with all options and 20 bytes of
  // what follows (a TCP header; RFC 792 asks for 8), zeros behind. All zeros in a reminder.
  static constexpr std::size_t kQuote = 80, kQuotedPayload = 20;
  std::array<std::uint8_t, kQuote> quote{};
  SignalKind kind = SignalKind::sample;
  SignalNumber number{};  // of one that was received
  friend bool operator==(const CongestionSignal&, const CongestionSignal&) = default;
};

// What a signal tells of the congested packet `ip` (that parse() has passed, from its IP header on): its
// addresses, its DSCP and its quote. Queue and time are the caller's to fill in.
inline CongestionSignal signal_about(std::span<const std::uint8_t> ip) {
  CongestionSignal s;
  const bool v6 = is_v6(ip.data());
  s.source = source_of(ip.data());
  s.destination = destination_of(ip.data());
  s.dscp = static_cast<std::uint8_t>(traffic_class(ip.data()) >> 2);
  const std::size_t header = v6 ? 40 : (ip[0] & 15u) * 4;
  std::memcpy(s.quote.data(), ip.data(),
              std::min({header + CongestionSignal::kQuotedPayload, ip.size(), s.quote.size()}));
  return s;
}

// What became of a signal at a router; the name is the metric label.
// clang-format off
#define SURETY_SIGNAL_RESULTS(X)                                                             \
  X(applied,      "alpha of its path follows it")                                            \
  X(observed,     "alpha of its path would follow it: mode observe")                         \
  X(not_border,   "this router has the role core: flows are conditioned elsewhere")          \
  X(not_customer, "its source does not lie behind a customer port: another border's")        \
  X(no_path,      "no route to its destination, or one that leads nowhere")                  \
  X(no_domain,    "no CSA service's flows leave by its path")                                \
  X(off,          "signalling is off here, and it must not go on to a customer")             \
  X(from_customer, "came by a customer port: only routers signal")                           \
  X(malformed,    "truncated, oversized, or its parts contradict one another")               \
  X(checksum,     "wrong ICMP checksum")                                                     \
  X(version,      "of a version of the format that is not known here")                       \
  X(unknown_key,  "signed with a key that is not that router's in the key file")             \
  X(forged,       "its MAC is not what the key gives")                                       \
  X(reflected,    "this router's own, come back")                                            \
  X(stale,        "older, or newer, than max_age: the routers' clocks must agree to it")     \
  X(replayed,     "its sequence number was seen, or is too old to tell")                     \
  X(limited,      "more of that queue a second than the limit")                             \
  X(senders,      "more congested queues signal than there is room for")
// clang-format on
enum class SignalResult : std::uint8_t {
#define X(name, help) name,
  SURETY_SIGNAL_RESULTS(X)
#undef X
};
// It was not to be believed, or not to be here at all: dropped as `signal`. The others are believed, whether
// they concern this router or not.
constexpr bool is_refusal(SignalResult r) {
  return r >= SignalResult::off;
}
struct SignalResultInfo {
  std::string_view name, help;
};
inline constexpr std::array kSignalResultInfo{
#define X(name, help) SignalResultInfo{#name, help},
    SURETY_SIGNAL_RESULTS(X)
#undef X
};
inline constexpr std::size_t kSignalResults = kSignalResultInfo.size();
using SignalCounters = std::array<std::uint64_t, kSignalResults>;  // by SignalResult

// Signals that wait to be sent: bounded, first in, first out. The driver empties it once per turn; what comes
// while it is full is counted and gone, since the next one says the same.
class SignalOutbox {
 public:
  static constexpr std::uint32_t kCapacity = 64;

  void push(const CongestionSignal& signal) {
    if (tail_ - head_ == kCapacity) {
      ++overflowed_;
      return;
    }
    ring_[tail_++ % kCapacity] = signal;
    ++noted_;
  }
  // The oldest ones; they are gone from here.
  std::size_t take(std::span<CongestionSignal> out) {
    std::size_t n = 0;
    for (; n < out.size() && head_ != tail_; ++n) out[n] = ring_[head_++ % kCapacity];
    return n;
  }
  bool empty() const { return head_ == tail_; }
  std::uint64_t noted() const { return noted_; }            // put in since the start
  std::uint64_t overflowed() const { return overflowed_; }  // refused since the start

 private:
  std::uint32_t head_ = 0, tail_ = 0;  // run on and wrap at 2^32
  std::uint64_t noted_ = 0, overflowed_ = 0;
  std::array<CongestionSignal, kCapacity> ring_;
};

}  // namespace surety
