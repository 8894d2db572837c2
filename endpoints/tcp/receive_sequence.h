// SPDX-License-Identifier: BSD-3-Clause
// The receive sequence space of a connection (RFC 9293 3.3.1): what has arrived in order, what beyond, and
// what of a segment is acceptable.
//
// RCV.NXT only grows, by bytes that have all arrived; nothing is taken beyond the right edge of the window or
// behind the peer's FIN. Ranges without bytes: the owner has the bytes while it holds their segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "endpoints/tcp/range_set.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

// The parts of a TCP stream beyond RCV.NXT that have arrived: ranges without bytes. All data within the
// offered window has room here, however many holes there are (range_set.h).
class TcpReassembly {
 public:
  // Effect of a segment: some of it is new; nothing is new; or nothing was noted, since it needs one range
  // more than there may be.
  enum class Added : std::uint8_t { fresh, duplicate, full };

  // Notes [begin, end), begin before end, that lies beyond RCV.NXT.
  Added add(std::uint32_t begin, std::uint32_t end) {
    if (ranges_.overlap(begin, end) == RangeSet::Range{begin, end}) return Added::duplicate;
    return ranges_.add(begin, end) ? Added::fresh : Added::full;
  }

  // RCV.NXT, when everything before `next` has arrived in order: the end of what is contiguous then. Forgets
  // everything before that.
  std::uint32_t advance(std::uint32_t next) {
    const std::size_t i = ranges_.behind(next);
    const bool joins = i < ranges_.size() && static_cast<std::int32_t>(ranges_[i].begin - next) <= 0;
    if (joins) next = ranges_[i].end;
    ranges_.pop_front(i + (joins ? 1 : 0));
    return next;
  }

  bool empty() const { return ranges_.empty(); }
  const RangeSet& ranges() const { return ranges_; }

 private:
  RangeSet ranges_;
};

class ReceiveSequence {
 public:
  // `next`: the position behind the peer's SYN; `window`: RCV.WND, bytes, for good.
  ReceiveSequence(std::uint32_t next, std::uint32_t window) : next_(next), window_(window) {}

  std::uint32_t next() const { return next_; }            // RCV.NXT
  std::uint64_t delivered() const { return delivered_; }  // stream offset of RCV.NXT
  std::uint64_t gaps() const { return gaps_; }            // holes that came to be
  const RangeSet& beyond() const { return beyond_.ranges(); }
  bool at_fin() const { return fin_ && next_ == *fin_; }  // only the peer's FIN is left

  // Stream offset of a position.
  std::uint64_t offset_of(std::uint32_t sequence) const {
    return delivered_ +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(sequence - next_)));
  }
  bool in_window(std::uint32_t sequence) const { return sequence - next_ < window_; }
  // RFC 9293 3.4, table 6.
  bool acceptable(const tcp::Segment& s) const {
    const std::uint32_t length = s.length();
    if (length == 0) return window_ == 0 ? s.sequence == next_ : in_window(s.sequence);
    return in_window(s.sequence) || in_window(s.sequence + length - 1);
  }

  // The part of an acceptable segment that is to be taken.
  struct Text {
    std::uint32_t begin = 0;
    std::span<const std::uint8_t> bytes;
    bool fin = false;  // the peer's FIN follows
    std::uint32_t end() const { return begin + static_cast<std::uint32_t>(bytes.size()); }
  };
  Text text_of(const tcp::Segment& s) const {
    Text t{s.sequence, s.payload, false};
    if (tcp::before(t.begin, next_)) {
      t.bytes = t.bytes.subspan(next_ - t.begin);  // acceptable(): its end is in the window
      t.begin = next_;
    }
    std::size_t room = window_ - (t.begin - next_);
    t.fin = s.has(tcp::kFin) && t.bytes.size() < room && !fin_;
    if (fin_) room = std::min<std::size_t>(room, tcp::before(t.begin, *fin_) ? *fin_ - t.begin : 0);
    t.bytes = t.bytes.first(std::min(t.bytes.size(), room));
    return t;
  }

  // Text at RCV.NXT: is delivered, and with it perhaps more that was there already. True: there was a hole.
  bool take(const Text& t) {
    if (t.fin) fin_ = t.end();
    std::uint32_t to = t.end();
    const bool hole = !beyond_.empty();
    if (hole) {
      to = beyond_.advance(to);
      if (fin_ && tcp::before(*fin_, to)) to = *fin_;
    }
    delivered_ += to - next_;
    next_ = to;
    return hole;
  }
  void take_fin() { ++next_; }  // at_fin() holds

  // Text beyond RCV.NXT.
  TcpReassembly::Added keep(const Text& t) {
    TcpReassembly::Added added = TcpReassembly::Added::fresh;
    if (!t.bytes.empty()) {
      const std::size_t before = beyond().size();
      added = beyond_.add(t.begin, t.end());
      if (added == TcpReassembly::Added::full) return added;
      gaps_ += beyond().size() > before ? 1 : 0;
    }
    if (t.fin) fin_ = t.end();
    return added;
  }

 private:
  std::uint32_t next_, window_;
  std::uint64_t delivered_ = 0;
  std::optional<std::uint32_t> fin_;  // sequence number of the peer's FIN, once known
  TcpReassembly beyond_;
  std::uint64_t gaps_ = 0;
};

}  // namespace surety::endpoints
