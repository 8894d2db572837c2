// SPDX-License-Identifier: BSD-3-Clause
// The sources of OUT packets in a congested queue, each of which gets signals, however little it sends.
//
// A border's share of the signals at each 8th OUT arrival is its share of the packets: with one packet a
// second it gets a signal every eight seconds. The queue therefore stores the sources of OUT packets, by
// source, destination and DSCP, and sends them reminders each kPace while it is congested: all get the same
// signals at the same time, and silence means that the queue is not congested. A source so fast that it has a
// sample in each kPace gets no reminder, and after a signal a source gets no sample for a kPace: within T1 it
// would have no effect. Sources are removed kMemory after their last packet; the watch ends when congestion
// has been over for that time, and a queue that is not watched costs nothing.
//
// A queue that reports events stores the sources of IN packets instead, which are those with a contract, and
// sends no reminders. Each of them gets onset and end of each congestion period. An 8th arrival is reported
// to the packet's source, or, if that has no contract, to the next one that has: best effort counts as
// congestion for the flows that can react to it.
//
// Bounded: kRoom sources, of which the fastest are displaced, and half of the queue's signals per second. If
// reminders would need more than twice that, none is sent: a border that gets only samples interprets their
// silence accordingly (remote_alpha.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "router/pipeline/signals/congestion_signal.h"

namespace surety {

class Contributors {
 public:
  // The pace of reminders is more than T1, so that each reminder may take a step, and less than half of T2
  // (csa_controller.h).
  static constexpr Duration kPace = std::chrono::milliseconds(32);
  static constexpr Duration kMemory = std::chrono::seconds(8);
  // Time after an OUT packet for which a border may rely on reminders.
  static constexpr Duration kTrusted = kMemory / 2;
  static constexpr std::size_t kRoom = 512;

  // The longest time from the end of a congestion period to its report.
  static constexpr Duration kCheck = std::chrono::milliseconds(1);

  // `limit`: signals per second of the queue; with a small one there are no reminders.
  explicit Contributors(std::uint32_t limit);

  // Starts or extends the watch: the queue is congested, and this was an OUT arrival, the 8th or another one.
  void congested(bool eighth, Time now);
  bool watching() const { return next_ != kNever; }
  // Called while watching(): an OUT packet has arrived.
  void note(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now);
  // True if the source of an 8th packet gets a sample: it has had no signal recently, and enough of the limit
  // is left for reminders. Counts as a signal.
  bool may_sample(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now);
  // Due time of remind(); kNever: not watched.
  Time next() const { return next_; }
  // Called at next(): returns the reminders, without port and queue, if there has been an 8th arrival since
  // the last call, or if the queue is and was congested. At most `out.size()`.
  static constexpr std::size_t kMost = 64;
  std::size_t remind(bool congested, Time now, std::span<CongestionSignal> out);

  // Reports an event of the queue: returns the signals, without port and queue, at most `out.size()`.
  // `arrival`: the OUT packet. The queue calls note() for IN packets, with DSCP 0.
  std::size_t report(SignalKind kind, const CongestionSignal& arrival, std::span<CongestionSignal> out);
  // Called at next() of a queue that reports events: returns the events of the end of a period, for the
  // sources that have had another one; those beyond `out.size()` are due at next().
  std::size_t check(bool congested, Time now, std::span<CongestionSignal> out);

 private:
  static constexpr std::size_t kWays = 4;
  struct Source {
    IpAddress source, destination;
    Time seen = Time::min(), before = Time::min();  // times of its last two packets
    Time told = Time::min();
    std::uint8_t dscp = 0;
  };
  static bool is_told(const Source& s, Time now) { return s.told != Time::min() && now - s.told < kPace; }
  static bool is_live(const Source& s, Time now) { return s.seen != Time::min() && now - s.seen <= kMemory; }
  static Duration interval(const Source& s, Time now);
  static Duration rank(const Source& s, Time now);
  template <class F>
  void each_live(Time now, F&& f);
  Source& place_of(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now);
  static std::size_t set_of(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp);

  std::size_t share_;  // part of the limit in a kPace
  std::vector<Source> sources_;
  std::array<std::uint64_t, kRoom / 64> used_{};  // places that have ever been used: most never are
  Time next_ = kNever, last_{};                   // the next reminders; the last congestion
  bool eighth_ = false, congested_ = false;  // an 8th arrival since the last reminders; congestion at them
  std::size_t reminded_ = 0, samples_ = 0;   // the number of reminders; samples since
  std::size_t cursor_ = 0;
  std::array<std::uint64_t, kRoom / 64> in_period_{};  // places with an event since the last end of a period
  std::uint8_t dscp_ = 0;                              // DSCP of the last onset
};

}  // namespace surety
