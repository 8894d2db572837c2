// SPDX-License-Identifier: BSD-3-Clause
// A congestion signal of CSA's remote part (router/pipeline/signals/README.md): an OUT packet was the 8th to
// arrive at a congested queue of this router, reported to the border towards its source.
//
// Describes the event only; the driver transports it: in the lab as an event, between routers in a packet.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "conditioners/counter_table.h"
#include "config/config.h"
#include "router/pipeline/signals/unix_time.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

// A sample reports the 8th packet to arrive; a reminder reports the congested queue to a source of earlier
// packets (contributors.h). The other kinds are the events of a queue that reports them: the first OUT
// arrival of a congestion period, each 8th one, and the end of the period.
enum class SignalKind : std::uint8_t { sample, reminder, onset, eighth, clear };
constexpr bool is_event(SignalKind kind) {
  return kind >= SignalKind::onset;
}

// Identifies a received signal: each is accepted once.
struct SignalNumber {
  std::uint32_t router = 0;
  std::uint8_t port = 0, queue = 0;
  std::uint64_t sequence = 0;
  UnixTime sent{};
  friend bool operator==(const SignalNumber&, const SignalNumber&) = default;
};

struct CongestionSignal {
  IpAddress source, destination;  // the packet's; the signal is sent to its source
  std::uint8_t port = 0;          // the congested queue, at its router
  std::uint8_t class_index = 0;
  std::uint8_t dscp = 0;  // the packet's: selects its class among the CSA domains on its path
  Time time{};            // time of the arrival
  // The packet's first bytes as quoted in an ICMP message: its IP header with all options and 20 bytes of
  // payload (a TCP header; RFC 792 requires 8), then zeros. All zeros in a reminder and an event.
  static constexpr std::size_t kQuote = 80, kQuotedPayload = 20;
  std::array<std::uint8_t, kQuote> quote{};
  SignalKind kind = SignalKind::sample;
  SignalNumber number{};  // set in a received signal
  friend bool operator==(const CongestionSignal&, const CongestionSignal&) = default;
};

// A signal about the congested packet `ip` (which parse() has passed, from its IP header on), with its
// addresses, DSCP and quote. The caller sets queue and time.
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

// Result of a signal at a router; the name is the metric label.
// clang-format off
#define SURETY_SIGNAL_RESULTS(X)                                                             \
  X(applied,      "sets alpha of its path")                                                  \
  X(observed,     "would set alpha of its path, but for mode observe")                       \
  X(not_border,   "this router has the role core: border routers condition flows")           \
  X(not_customer, "its source is not behind a customer port: for another border router")     \
  X(no_path,      "no route to its destination by any port")                                 \
  X(no_domain,    "no CSA service uses its path")                                            \
  X(off,          "signalling is off here: not forwarded to a customer")                     \
  X(from_customer, "arrived by a customer port: only routers may signal")                    \
  X(malformed,    "truncated, oversized or inconsistent")                                    \
  X(checksum,     "wrong ICMP checksum")                                                     \
  X(version,      "unknown version of the format")                                           \
  X(unknown_key,  "signed with a key that the key file does not have for that router")       \
  X(forged,       "its MAC does not match the key")                                          \
  X(reflected,    "sent by this router itself")                                              \
  X(stale,        "its time differs by more than max_age: the routers' clocks must agree")   \
  X(replayed,     "its sequence number was received before, or is too old to check")         \
  X(limited,      "more signals of that queue per second than the limit")                    \
  X(senders,      "more congested queues signal than the router keeps")
// clang-format on
SURETY_RESULTS(SignalResult, SURETY_SIGNAL_RESULTS)
// True if the signal is invalid or misplaced: dropped as `signal`. All others are accepted, whether they
// concern this router or not.
constexpr bool is_refusal(SignalResult r) {
  return r >= SignalResult::off;
}
using SignalCounters = std::array<std::uint64_t, kSignalResults>;  // indexed by SignalResult

// Signals that wait to be sent: bounded, first in, first out. The driver empties it once per turn; signals
// that find it full are counted and lost, since the next one has the same content.
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
  // Removes and returns the oldest signals.
  std::size_t take(std::span<CongestionSignal> out) {
    std::size_t n = 0;
    for (; n < out.size() && head_ != tail_; ++n) out[n] = ring_[head_++ % kCapacity];
    return n;
  }
  bool empty() const { return head_ == tail_; }
  std::uint64_t noted() const { return noted_; }            // added since the start
  std::uint64_t overflowed() const { return overflowed_; }  // lost since the start

 private:
  std::uint32_t head_ = 0, tail_ = 0;  // not wrapped to the capacity; overflow at 2^32
  std::uint64_t noted_ = 0, overflowed_ = 0;
  std::array<CongestionSignal, kCapacity> ring_;
};

}  // namespace surety
