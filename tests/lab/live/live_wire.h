// SPDX-License-Identifier: BSD-3-Clause
// All links of a live scenario: one thread that carries Ethernet frames between interfaces, each direction
// through a delay line. Linux packet sockets; works between the wire's ends of veth pairs. Needs CAP_NET_RAW.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "config/address.h"
#include "router/process/fd.h"
#include "tests/lab/live/delay_line.h"

namespace surety::lab {

// A packet socket on one interface, promiscuous. Stays in the network namespace of the thread that made it.
// Throws std::system_error.
class PacketInterface {
 public:
  explicit PacketInterface(const std::string& name);
  int fd() const { return fd_.get(); }
  // Length of the frame; 0: none waits.
  std::size_t receive(std::span<std::uint8_t> room) const;
  // Whether it went out, or is lost for good (an interface that is down); false: try again.
  bool send(std::span<const std::uint8_t> frame) const;
  std::uint64_t missed() const;  // frames for which the kernel had no room, since the last call

 private:
  Fd fd_;
};

class Wire {
 public:
  // In the namespace of the calling thread. Returns its index.
  std::size_t add(const std::string& interface);
  // One direction. `only_to`: takes just the frames for this station, and those for all: of an interface with
  // several stations behind it. Returns its index, for line().
  std::size_t connect(std::size_t from, std::size_t to, const Impairment& impairment, std::uint64_t seed,
                      std::optional<MacAddress> only_to = std::nullopt);
  // Carries frames until `stop`; a frame leaves within some 50 us of its time while the machine
  // has a core for this thread.
  void run(const std::atomic<bool>& stop);

  struct Counters {
    std::uint64_t carried = 0;
    std::uint64_t late = 0;    // of these more than 5 ms after their time
    std::uint64_t missed = 0;  // the kernel had no room for them
  };
  Counters counters() const;
  const DelayLine& line(std::size_t direction) const { return directions_[direction].line; }

 private:
  struct Direction {
    std::size_t from, to;
    std::optional<MacAddress> only_to;
    DelayLine line;
  };
  void take_in(std::size_t interface);
  void offer(std::size_t from, std::span<const std::uint8_t> frame);
  Time release();  // when the next one is due
  void wait(Time until);

  std::deque<PacketInterface> interfaces_;
  std::vector<pollfd> polled_;
  std::vector<Direction> directions_;
  std::uint64_t carried_ = 0, late_ = 0;
};

}  // namespace surety::lab
