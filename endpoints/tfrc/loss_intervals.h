// SPDX-License-Identifier: BSD-3-Clause
// The receiver's half of TFRC (RFC 5348 section 5): which packets are lost, which losses make a loss event,
// and the loss event rate p from the last eight loss intervals, with history discounting (5.5).
//
// A packet is lost when three later ones have arrived (NDUPACK, 5.1). CCID 3's window counter (RFC 4342 10.2)
// assigns packets to loss events: the counter of a lost packet is interpolated between its neighbours, and
// one that is more than 4 (a round-trip time) beyond that of the event's first packet begins a new event; so
// the receiver needs no RTT and no clock. A packet with a congestion mark begins or joins an event as a lost
// one does (5.1), at once, or when a hole below it is decided; it is not counted as lost. The first interval
// is synthesised by the caller from the receive rate through the equation's inverse (6.3.1). Sequence numbers
// are 48-bit, extended to 64 by the caller; memory is fixed. A packet that arrives after it was declared lost
// is no longer counted as lost, but its loss event stays. Where the numbering ends, what is still missing is
// lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conditioners/units.h"

namespace surety::endpoints {

class LossIntervals {
 public:
  static constexpr std::size_t kIntervals = 8;                                               // n
  static constexpr std::array<double, kIntervals> kWeights{1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2};  // RFC 5348 5.4

  static constexpr std::size_t kNdupack = 3;

  struct Arrival {
    bool duplicate = false;        // here before, or too old: 64 numbers and more
    bool new_loss_event = false;   // feedback is due at once (6.2)
    std::uint64_t newly_lost = 0;  // packets declared lost by this arrival
  };
  // Every packet of the numbering, whether it carries data or not (or it
  // would seem lost); first of all the last one of the handshake, so that the
  // loss of the first data packet shows. `window_counter` is CCVal (0..15).
  Arrival on_packet(std::uint64_t sequence, std::uint8_t window_counter, bool marked = false);

  // The numbering ended with `last`: no later packet will come, so what is missing up to it is lost. Changes
  // lost() only; to be called once, and on_packet() never again.
  void end_at(std::uint64_t last);

  // After the first loss event the receiver sets the length of the interval before it (6.3.1), in packets;
  // until then it is as many packets as there were.
  bool wants_first_interval() const { return wants_first_; }
  void set_first_interval(double packets);

  double loss_event_rate() const;               // p; 0: no loss so far
  std::uint64_t lost() const { return lost_; }  // in all
  std::uint64_t loss_events() const { return loss_events_; }

  // Interval lengths in packets, newest first, [0] = I_0, the current one (open);
  // returns how many. For the Loss Intervals option (RFC 4342 8.6): an interval is
  // its lossy part, from the event's first lost or marked packet to its last, and the lossless
  // part that follows. Without a loss so far there is one interval, all lossless.
  struct Interval {
    std::uint64_t lossless = 0, loss = 0;
  };
  std::size_t intervals(std::span<Interval, kIntervals + 1> out) const;

 private:
  struct Received {
    std::uint64_t sequence = 0;
    std::int64_t counter = 0;  // the window counter, extended
    bool marked = false;       // true: marked, and not yet in an event
  };

  Arrival take(Received packet);
  Arrival on_reordered(Received packet);
  Arrival insert(std::size_t place, std::uint64_t sequence, std::int64_t counter, bool marked);
  std::int64_t extend(const Received& before, const Received& packet) const;
  bool lose(const Received& before, const Received& after);
  bool take_marks();
  bool take_mark(const Received& packet);
  void begin_event(std::uint64_t sequence, double counter);
  std::span<const double> history() const { return std::span(length_).first(closed_); }
  std::span<const double> discounts() const { return std::span(discount_).first(closed_); }

  // Fields that every packet touches.
  std::array<Received, kNdupack> top_{};  // the highest three that arrived, highest first: NDUPACK
  std::uint64_t seen_ = 0;                // bit k: top_[0].sequence - k has arrived
  std::uint64_t first_ = 0;               // the lowest that arrived
  std::uint32_t ticks_per_packet_ = 0;    // running mean of the window counter's steps, in 2^-16
  std::uint16_t ticks_samples_ = 0;
  std::uint8_t arrived_ = 0;                  // valid entries of top_
  std::uint8_t closed_ = 0;                   // valid entries of the arrays below
  bool wants_first_ = false, marks_ = false;  // marks_: one of top_ is marked

  // Losses. [i] is I_(i+1).
  std::uint64_t lost_ = 0, loss_events_ = 0;
  std::uint64_t start_ = 0, last_lost_ = 0;  // first number of the current interval; last lost or marked one
  double start_counter_ = 0;
  std::array<double, kIntervals> length_{}, discount_{};
  std::array<std::uint64_t, kIntervals> loss_{};
};

// RFC 5348 5.5, with 5.4's weights: the mean I_mean of I_1 .. I_k (newest first, k <= n) under their discount
// factors DF_i; 0 when there is none.
double mean_closed_interval(std::span<const double> history, std::span<const double> discounts);

// The general discount factor DF of an open interval of `current` packets: 1, or 2 I_mean / I_0 when that
// interval is more than twice the mean, at least 0.25.
double general_discount(double current, double mean);

// The average loss interval, 1 / p, in packets: the larger of the averages over I_0 .. I_(n-1) and I_1 ..
// I_n, so that the open interval counts only where it raises the average.
double average_loss_interval(double current, std::span<const double> history,
                             std::span<const double> discounts, double general_discount);

}  // namespace surety::endpoints
