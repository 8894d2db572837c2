// SPDX-License-Identifier: BSD-3-Clause
// Whose OUT packets feed a congested queue, so that each of them hears of it, however little it sends.
//
// Of the signals at each 8th OUT arrival a border gets as many as it has of the packets: one that sends one a
// second is told after eight. So the queue keeps in mind who has sent it OUT packets, by source, destination
// and DSCP, and reminds them each kPace while it is congested: all of them hear the same at the same time,
// and one that hears nothing knows that the queue is not congested. A source that sends so fast that it has a
// sample in each kPace anyway is not reminded, and who has been told gets no sample for a kPace: within T1 it
// would do nothing. Sources are forgotten kMemory after their last packet; congestion that is over for so
// long ends the watch, and a queue that is not watched costs nothing.
//
// Bounded: kRoom sources, of which the fastest give way, and half of the queue's signals a second. When there
// are more to remind than that has room for twice over, nobody is: a border that has only samples to go by
// takes their silence for what it is (remote_alpha.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "router/signals/congestion_signal.h"

namespace surety {

class Contributors {
 public:
  // More than T1, so that each reminder may take a step, and less than half of T2 (csa_controller.h).
  static constexpr Duration kPace = std::chrono::milliseconds(32);
  static constexpr Duration kMemory = std::chrono::seconds(8);
  // How long after an OUT packet a border may rely on being remembered.
  static constexpr Duration kTrusted = kMemory / 2;
  static constexpr std::size_t kRoom = 512;

  // `limit`: signals a second of the queue; with a small one nobody is reminded.
  explicit Contributors(std::uint32_t limit);

  // The queue is congested, and this was its 8th OUT arrival or another one: from here on it is watched.
  void congested(bool eighth, Time now);
  bool watching() const { return next_ != kNever; }
  // While it is: an OUT packet has arrived.
  void note(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now);
  // Whether its source is to have a sample of a packet that was the 8th: has not been told of late, and
  // enough of the limit is left to the reminders. If so it counts as told.
  bool may_sample(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now);
  // When remind() has something to do; kNever: not watched.
  Time next() const { return next_; }
  // At next(): the signals for those who are to be reminded, with neither port nor queue, if there has been
  // an 8th arrival since the last time, or the queue is congested now as it was then. At most `out.size()`.
  static constexpr std::size_t kMost = 64;
  std::size_t remind(bool congested, Time now, std::span<CongestionSignal> out);

 private:
  static constexpr std::size_t kWays = 4;
  struct Source {
    IpAddress source, destination;
    Time seen = Time::min(), before = Time::min();  // its last packet, and the one before
    Time told = Time::min();
    std::uint8_t dscp = 0;
  };
  static bool is_told(const Source& s, Time now) { return s.told != Time::min() && now - s.told < kPace; }
  static bool is_live(const Source& s, Time now) { return s.seen != Time::min() && now - s.seen <= kMemory; }
  static Duration interval(const Source& s, Time now);
  static Duration rank(const Source& s, Time now);
  Source& place_of(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now);
  static std::size_t set_of(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp);

  std::size_t share_;  // of the limit, in a kPace
  std::vector<Source> sources_;
  std::array<std::uint64_t, kRoom / 64> used_{};  // which of them have ever been somebody's: most never are
  Time next_ = kNever, last_{};                   // the next reminders; the last congestion
  bool eighth_ = false, congested_ = false;       // since the last reminders; at them
  std::size_t reminded_ = 0, samples_ = 0;        // how many there were; samples since
  std::size_t cursor_ = 0;
};

}  // namespace surety
