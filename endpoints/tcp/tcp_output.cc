// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_output.h"

#include <algorithm>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

std::uint32_t TcpOutput::sendable() const {
  if (acknowledged_ == 0) return 1;
  const auto bytes = static_cast<std::uint32_t>(bytes_.size());
  const std::uint64_t edge = std::uint64_t{acknowledged_} + window_;
  return edge > bytes ? end() : static_cast<std::uint32_t>(edge);
}

TcpOutput::Piece TcpOutput::take(std::size_t segment, Time now) {
  Piece piece{.sequence = initial_ + next_, .flags = 0, .bytes = {}};
  if (next_ == 0) {
    piece.flags = tcp::kSyn;
    next_ = 1;
  } else {
    const std::size_t at = next_ - 1;
    const std::size_t room = std::min<std::size_t>(sendable() - next_, bytes_.size() - at);
    piece.bytes = bytes_.subspan(at, std::min(segment, room));
    next_ += static_cast<std::uint32_t>(piece.bytes.size());
    if (!piece.bytes.empty()) piece.flags = tcp::kPsh;
    if (fin_ && next_ + 1 == end()) {
      piece.flags |= tcp::kFin;
      ++next_;
    }
  }
  highest_ = std::max(highest_, next_);
  if (timer_ == kNever) arm(now);
  return piece;
}

void TcpOutput::acknowledge(std::uint32_t ack, std::uint32_t window, Time now) {
  window_ = window;
  const std::uint32_t position = ack - initial_;
  if (position == acknowledged_) return;
  acknowledged_ = position;
  next_ = std::max(next_, position);
  repetitions_ = 0;
  timer_ = kNever;
  if (acknowledged_ != highest_) arm(now);
}

bool TcpOutput::expire(Time now) {
  if (repetitions_ == kRepetitions) return false;
  ++repetitions_;
  next_ = acknowledged_;
  arm(now);
  return true;
}

}  // namespace surety::endpoints
