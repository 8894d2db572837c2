// A congestion signal of CSA's remote part (DESIGN.md section 4, "Congestion signalling"): an OUT packet was
// the 8th to arrive at a congested queue of this router, and the border that its source lies behind is to
// know.
//
// Only what the event is; how it travels is the driver's business: in the lab as an event, between routers in
// a packet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "config/config.h"

namespace surety {

struct CongestionSignal {
  config::Address source, destination;  // of that packet; the signal goes towards its source
  std::uint8_t port = 0;                // the congested queue, at the router that it belongs to
  std::uint8_t class_index = 0;
  Time time{};  // of the arrival
  friend bool operator==(const CongestionSignal&, const CongestionSignal&) = default;
};

// What became of a signal at a router; the name is the metric label.
// clang-format off
#define SURETY_SIGNAL_RESULTS(X)                                                             \
  X(applied,      "alpha of its path follows it")                                            \
  X(not_border,   "this router has the role core: flows are conditioned elsewhere")          \
  X(not_customer, "its source does not lie behind a customer port: another border's")        \
  X(no_path,      "no route to its destination, or one that leads nowhere")                  \
  X(no_domain,    "no CSA service's flows leave by its path")                                \
  X(full,         "as many paths as there is room for are held back already")
// clang-format on
enum class SignalResult : std::uint8_t {
#define X(name, help) name,
  SURETY_SIGNAL_RESULTS(X)
#undef X
};
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
