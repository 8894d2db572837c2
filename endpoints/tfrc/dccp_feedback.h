// SPDX-License-Identifier: BSD-3-Clause
// CCID 3's feedback as options of an acknowledgement (RFC 4342 8): what the receiver says, and what the
// sender makes of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "endpoints/tfrc/loss_intervals.h"
#include "endpoints/tfrc/wire_dccp.h"

namespace surety::endpoints::dccp {

struct Feedback {
  std::optional<std::uint32_t> timestamp_echo;  // Timestamp of the newest data packet
  std::uint32_t elapsed = 0;                    // since that packet arrived, in 10 microseconds
  // X_recv, bytes/s. Counts IP packets: RFC 4342 8.3 counts payload, but Surety's contracts police the bytes
  // of IP packets, and the sender's s and g are such bytes. For a peer that counts payload the rate is low by
  // the headers' share, which errs to the safe side.
  std::optional<double> receive_rate;
  std::optional<double> loss_event_rate;
  std::uint8_t skip = 0;  // newest packets that no interval holds
  std::size_t interval_count = 0;
  std::array<LossIntervals::Interval, LossIntervals::kIntervals + 1> intervals{};  // newest first
};

inline constexpr std::size_t kFeedbackBytes = 6 + 6 + 10 + 3 + 9 * (LossIntervals::kIntervals + 1) + 3;

// Options that are not feedback are skipped, intervals beyond nine too.
Feedback read_feedback(std::span<const std::uint8_t> options);
// Rates are rounded so that 1/p is never less than it is (8.5);
// lengths beyond a field's 24 or 23 bits saturate.
void write_feedback(OptionWriter& to, const Feedback& f);

// p: as the receiver says, where it says so, else from its intervals (RFC 5348 5.4, 5.5).
double loss_event_rate(const Feedback& f);

// Counts losses from the Loss Intervals of one report after the other, each once. A lossy part counts as a
// whole: of packets that arrived in the same round-trip time as a loss, or with a mark, some are included.
class LossAccount {
 public:
  // `ack`: extended number that the report acknowledges. True: there is a loss event it did not have before.
  bool on_feedback(std::uint64_t ack, const Feedback& f);
  std::uint64_t lost() const { return lost_; }
  std::uint64_t events() const { return events_; }

 private:
  std::uint64_t edge_ = 0, lost_ = 0, events_ = 0;  // edge: the newest number that is accounted for as lost
};

}  // namespace surety::endpoints::dccp
