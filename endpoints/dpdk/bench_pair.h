// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints and the link between them, in virtual time and plain memory; and the traffic of the
// benchmarks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "endpoints/config/endpoints.h"
#include "endpoints/dpdk/traffic.h"

namespace surety::endpoints {

// Traffic from one port that sends to one that answers, no devices.
struct BenchTraffic {
  std::string protocol = "udp";  // udp, gtfrc, newreno
  std::uint32_t flows = 1000;
  std::uint32_t packet = 1500;  // bytes
  Rate rate;                    // per flow: UDP and gTFRC are paced at it
  std::uint32_t window = 10;    // packets in flight of a NewReno flow
  Duration start_spread{};
};

// Ports `left` (the senders) and `right` (their sinks) on one link. Throws std::invalid_argument for a
// protocol that is none of the three, and for packets that cannot be.
config::Endpoints bench_config(const BenchTraffic& t);

class BenchPair {
 public:
  static constexpr double kPacketsPerSecond = 2e6;  // all flows together
  static constexpr Duration kTurn = std::chrono::microseconds(16);

  // Runs until every flow is open and in its stride. Throws std::runtime_error if one fails.
  BenchPair(const std::string& protocol, std::uint32_t flows, std::uint32_t packet);

  // One turn of kTurn; how many frames the senders sent.
  std::size_t turn();

  std::uint64_t sent() const { return sent_; }
  std::uint64_t answers() const { return answers_; }
  std::size_t memory_per_flow() const;  // at the end that takes more
  // Throws unless all flows are open and nothing was refused or dropped.
  void must_be_clean() const;

 private:
  // Frames lie as far apart as those of a packet pool do: at 2048 bytes the first lines of all would share
  // two sets of the cache.
  static constexpr std::size_t kBurst = 64, kFrame = 2048 + 256, kAnswer = 180;
  // On its way, which should take as little of the caches as a cable does.
  struct alignas(64) Answer {
    Time due;
    std::uint32_t length;
    std::uint8_t bytes[kAnswer];
  };
  static_assert(sizeof(Answer) == 192);
  void deliver_answers();
  void collect_answers();
  Station& left() const { return traffic_->station(0); }
  Station& right() const { return traffic_->station(1); }

  config::Endpoints config_;
  std::unique_ptr<Traffic> traffic_;
  Duration round_trip_;
  Time now_{};
  std::uint64_t sent_ = 0, answers_ = 0;
  std::vector<std::uint8_t> frames_;  // data frames, and then the answers to them
  std::array<FrameSlot, kBurst> slots_;
  // Answers under way: a ring, a power of two.
  std::vector<Answer> ring_;
  std::uint64_t head_ = 0, tail_ = 0;
};

}  // namespace surety::endpoints
