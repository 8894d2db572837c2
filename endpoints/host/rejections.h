// SPDX-License-Identifier: BSD-3-Clause
// Answers to packets without a flow and a listener: TCP RST, DCCP-Reset. UDP gets no answer.
//
// RFC 9293 3.10.7.1 and 3.10.7.2, RFC 4340 8.1.3 and 8.3.1. Never in answer to a reset, nor to a packet with
// a wrong checksum. At most kAtOnce at once and kPerSecond a second; others go unanswered.
#pragma once

#include <array>
#include <cstdint>

#include "endpoints/engine/engine.h"
#include "endpoints/engine/refusal.h"
#include "router/pipeline/wire/reply_limit.h"

namespace surety::endpoints {

class Rejections {
 public:
  static constexpr std::uint32_t kAtOnce = 32, kPerSecond = 1000;

  explicit Rejections(Time now) : limit_(kPerSecond, kAtOnce, now) {}

  // A packet that was refused for `why`, and the tuple that its flow would have. Keeps the answer, if one is
  // due, until write().
  void consider(const IpPacket& packet, Transport transport, const Tuple& tuple, Refusal why, Time now);

  bool empty() const { return size_ == 0; }
  // The answers as IP packets; returns how many.
  std::size_t write(Room room);

 private:
  struct Answer {
    std::array<std::uint8_t, 80> bytes;
    std::uint32_t length;
  };
  bool answer_tcp(const IpPacket& packet, const Tuple& tuple, Refusal why, Slot& slot) const;
  bool answer_dccp(const IpPacket& packet, const Tuple& tuple, Refusal why, Slot& slot) const;

  ReplyLimit limit_;
  std::uint32_t size_ = 0;
  std::array<Answer, kAtOnce> answers_;
};

}  // namespace surety::endpoints
