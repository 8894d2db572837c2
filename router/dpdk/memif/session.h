// SPDX-License-Identifier: BSD-3-Clause
// The conversation by which two ends agree on memory and rings: no socket and no clock in it.
//
// The server greets; the client answers who it is, gives regions and rings, and asks to be connected; the
// server acknowledges each and says when it is. Whatever is not as it must be is a Refusal (memory.h), and
// the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router/dpdk/memif/channel.h"
#include "router/dpdk/memif/memory.h"
#include "router/dpdk/memif/queues.h"

namespace surety::memif {

// What is agreed on.
struct Link {
  Memory memory;
  std::vector<Lane> receive;  // by queue; a lane may have no ring
  Lane transmit;
  std::vector<Fd> receive_events;  // eventfds, of the rings with the same places
  Fd transmit_event;
};

// What this end has to offer.
struct Terms {
  std::string interface {};  // our name for it
  std::uint16_t receive_queues = 1;
  std::uint8_t log2_ring_size = 11;  // of a client
  std::uint32_t buffer_size = 2048;  // likewise
};

class Session {
 public:
  virtual ~Session() = default;
  virtual void hear(Letter letter) = 0;
  // A server's: somebody has said who it is; there can be one.
  virtual bool claims() const { return true; }

  // To be sent, in order. The descriptors stay the session's.
  struct Saying {
    Message message;
    int fd = -1;
  };
  std::vector<Saying> take_sayings() { return std::exchange(sayings_, {}); }
  // Both agree, from now on.
  bool agreed() const { return agreed_; }
  Link take_link() { return std::move(link_); }

 protected:
  template <class Body>
  void say(const Body& body, int fd = -1) {
    sayings_.push_back({Message::of(body), fd});
  }
  void say_yes() { sayings_.push_back({Message{.type = Type::ack}, -1}); }

  Link link_;
  bool agreed_ = false;

 private:
  std::vector<Saying> sayings_;
};

std::unique_ptr<Session> serve(const Terms& terms);
std::unique_ptr<Session> request(const Terms& terms);

}  // namespace surety::memif
