// SPDX-License-Identifier: BSD-3-Clause
// Two engines and the network between them, in virtual time: real frames through the product's parser, a
// rate, a delay, a queue and a loss rule for each direction. A run is exact: same calls, same packets.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "endpoints/engine/engine.h"
#include "router/pipeline/wire/headers.h"

namespace surety::endpoints {

struct WirePacket {
  std::vector<std::uint8_t> frame;  // 14 bytes of Ethernet, then the IP packet
  std::uint64_t number = 0;         // of its direction, from 0
  Time sent{};
  std::span<const std::uint8_t> ip() const { return std::span(frame).subspan(14); }
};

inline IpPacket parsed(std::span<const std::uint8_t> frame) {
  ParsedPacket p;
  const auto outcome = parse(frame, ParseContext{.mac = {2, 0, 0, 0, 0, 1}}, p);
  EXPECT_EQ(outcome.drop, DropReason::none)
      << "an engine built a packet that the router would drop: " << info(outcome.drop).name;
  return ip_packet(frame, p);
}

// One direction. rate zero: infinitely fast; queue: packets that may wait; drop: true loses the packet.
struct Pipe {
  Rate rate;
  Duration delay = std::chrono::milliseconds(10);
  std::size_t queue = 1'000'000;
  std::function<bool(const WirePacket&)> drop;
  std::function<void(WirePacket&)> alter;  // e.g. flips a bit

  std::uint64_t sent = 0, dropped = 0, overflowed = 0;
  std::vector<WirePacket> log;  // everything that was sent, lost or not, when `keep` is set
  bool keep = false;

  // Time of arrival; kNever: lost.
  Time offer(WirePacket& p, Time now) {
    p.number = sent++;
    p.sent = now;
    if (keep) log.push_back(p);
    if (drop && drop(p)) return ++dropped, kNever;
    if (alter) alter(p);
    if (rate == Rate{}) return now + delay;
    while (!departures_.empty() && departures_.front() <= now) departures_.pop_front();
    if (departures_.size() > queue) return ++overflowed, kNever;
    const Time start = departures_.empty() ? now : departures_.back();
    departures_.push_back(start + transmission_time(Bytes(p.frame.size() - 14), rate));
    return departures_.back() + delay;
  }

 private:
  std::deque<Time> departures_;
};

class Wire {
 public:
  // `make_right` makes the receiving engine at the first packet (null: that packet is ignored).
  using Accept = std::function<Engine*(const IpPacket&, Time)>;
  Wire(Engine& left, Accept make_right) : left_(&left), accept_(std::move(make_right)) {}

  Pipe there, back;  // left to right, right to left
  Time now() const { return now_; }
  std::vector<Refusal> refused_left, refused_right;  // in order
  std::function<void(Time)> each_event;              // called after each event, e.g. to look at a window

  void run_until(Time end) {
    while (true) {
      pump();
      const Time next = std::min({left_->next_wakeup(), right_ ? right_->next_wakeup() : kNever,
                                  air_.empty() ? kNever : air_.begin()->first});
      if (next > end) break;
      now_ = std::max(now_, next);
      deliver();
    }
    now_ = std::max(now_, end);
  }
  // Until nothing is left to do, at most to `limit`.
  void run(Time limit) { run_until(limit); }

 private:
  struct Flight {
    WirePacket packet;
    bool to_right;
  };

  void deliver() {
    while (!air_.empty() && air_.begin()->first <= now_) {
      const Flight f = std::move(air_.begin()->second);
      air_.erase(air_.begin());
      const IpPacket p = parsed(f.packet.frame);
      if (f.to_right && !right_) {
        right_ = accept_(p, now_);
        if (!right_) continue;
      }
      const Refusal r = (f.to_right ? right_ : left_)->receive(p, now_);
      if (r != Refusal::none) (f.to_right ? refused_right : refused_left).push_back(r);
      pump();
    }
  }

  void pump() {
    for (int turn = 0; turn < 1000; ++turn) {
      bool any = flush(*left_, there, true);
      if (right_ && flush(*right_, back, false)) any = true;
      if (each_event) each_event(now_);
      if (!any) return;
    }
    FAIL() << "an engine sends without end at one moment";
  }

  bool flush(Engine& e, Pipe& pipe, bool to_right) {
    if (e.next_wakeup() > now_) return false;
    std::vector<std::vector<std::uint8_t>> frames(8);
    std::vector<Slot> room(8);
    for (std::size_t i = 0; i < 8; ++i) {
      frames[i] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
      frames[i].resize(14 + 9216, 0xcc);
      room[i] = {frames[i].data() + 14, 9216, 0};
    }
    const std::size_t n = e.poll(room, now_);
    for (std::size_t i = 0; i < n; ++i) {
      const bool v6 = frames[i][14] >> 4 == 6;
      frames[i][12] = v6 ? 0x86 : 0x08;
      frames[i][13] = v6 ? 0xdd : 0x00;
      frames[i].resize(14 + room[i].length);
      WirePacket p{std::move(frames[i]), 0, {}};
      const Time arrival = pipe.offer(p, now_);
      if (arrival != kNever) air_.emplace(arrival, Flight{std::move(p), to_right});
    }
    return n > 0;
  }

  Engine* left_;
  Engine* right_ = nullptr;
  Accept accept_;
  std::multimap<Time, Flight> air_;
  Time now_{};
};

}  // namespace surety::endpoints
