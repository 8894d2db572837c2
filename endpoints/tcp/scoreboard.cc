// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/scoreboard.h"

#include <algorithm>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

using tcp::before;
using tcp::Block;

namespace {
constexpr std::size_t kDupThresh = 3;
}

void Scoreboard::begin(std::uint32_t smss, std::uint64_t una) {
  smss_ = smss;
  una_ = resent_to_ = lost_to_ = una;
}

Scoreboard::Told Scoreboard::on_ack(std::uint64_t ack, std::span<const Block> blocks, std::uint64_t max) {
  Told told;
  if (ack > una_) told.delivered = advance(ack);
  if (take_duplicate(blocks, max)) blocks = blocks.subspan(1);
  for (const Block& b : blocks) told.delivered += take(b, max);
  look(max);
  told.sacked = sacked_;
  told.pipe = pipe_;
  told.lost = lost_to_ > una_;
  return told;
}

// SND.UNA moves; returns what was not known to have arrived.
std::uint64_t Scoreboard::advance(std::uint64_t ack) {
  const std::uint64_t known = arrived_.covered(low(una_), low(ack));
  const std::uint64_t fresh = ack - una_ - known;
  arrived(una_, ack);
  sacked_ -= known;
  const std::size_t behind = arrived_.behind(low(ack));
  const bool reneged = behind < arrived_.size() && !before(low(ack), arrived_[behind].begin);
  arrived_.pop_front(behind);
  una_ = ack;
  resent_to_ = std::max(resent_to_, una_);
  if (reneged) forget();
  return fresh;
}

bool Scoreboard::possible(const Block& b, std::uint64_t max) const {
  return before(low(una_), b.begin) && before(b.begin, b.end) && !before(low(max), b.end);
}

// RFC 2883 4: the first block, below the ACK or within the second one.
bool Scoreboard::take_duplicate(std::span<const Block> blocks, std::uint64_t max) {
  if (blocks.empty()) return false;
  const Block& b = blocks[0];
  const bool below = before(b.begin, low(una_));
  const bool within = blocks.size() > 1 && possible(blocks[1], max) && !before(b.begin, blocks[1].begin) &&
                      !before(blocks[1].end, b.end);
  if (!below && !within) return false;
  if (before(b.begin, b.end) && (within || !before(low(una_), b.end))) ++duplicates_;
  return true;
}

std::uint64_t Scoreboard::take(const Block& b, std::uint64_t max) {
  if (!possible(b, max)) return 0;
  const std::uint32_t fresh = b.end - b.begin - arrived_.covered(b.begin, b.end);
  if (fresh == 0) return 0;
  arrived(wide(b.begin), wide(b.end));
  if (!arrived_.add(b.begin, b.end)) return 0;
  sacked_ += fresh;
  return fresh;
}

// Takes retransmissions in [from, to) out of the flight. Call it before the range is noted.
void Scoreboard::arrived(std::uint64_t from, std::uint64_t to) {
  to = std::min(to, resent_to_);
  if (from >= to) return;
  const std::uint64_t was = to - from - arrived_.covered(low(from), low(to));
  resent_ -= std::min(resent_, was);
}

void Scoreboard::forget() {
  arrived_.clear();
  sacked_ = resent_ = 0;
  resent_to_ = una_;
}

// IsLost: above it three ranges, or more than two segments, have arrived. Computes Pipe, too.
void Scoreboard::look(std::uint64_t max) {
  lost_to_ = std::max(una_, timed_out_);
  std::uint64_t bytes = 0;
  std::size_t i = arrived_.size();
  for (std::size_t n = 1; i > 0; ++n) {
    const Block& b = arrived_[--i];
    bytes += b.end - b.begin;
    if (n < kDupThresh && bytes <= (kDupThresh - 1) * std::uint64_t{smss_}) continue;
    lost_to_ = std::max(lost_to_, wide(b.begin));
    break;
  }
  pipe_ = max - lost_to_ - arrived_.covered(low(lost_to_), low(max)) + resent_;
}

Scoreboard::Hole Scoreboard::next_lost() const {
  std::uint64_t from = std::max(una_, resent_to_);
  if (from >= lost_to_) return {};
  std::size_t i = arrived_.behind(low(from));
  if (i < arrived_.size() && !before(low(from), arrived_[i].begin)) from = wide(arrived_[i++].end);
  if (from >= lost_to_) return {};
  return {from, i < arrived_.size() ? std::min(lost_to_, wide(arrived_[i].begin)) : lost_to_};
}

void Scoreboard::on_sent(std::uint64_t from, std::uint64_t end, std::uint64_t max) {
  pipe_ += end - from;
  if (from >= max) return;
  resent_to_ = std::max(resent_to_, std::min(end, max));
  resent_ += std::min(end, max) - from;
}

void Scoreboard::on_timeout(std::uint64_t max, bool again) {
  if (again) forget();
  timed_out_ = lost_to_ = max;
  resent_to_ = una_;
  resent_ = pipe_ = 0;
}

}  // namespace surety::endpoints
